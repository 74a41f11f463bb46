"""
A sweep in one pass
===================

:class:`~sklearn_okl.evaluation.PrequentialSearch` runs a grid of candidates over the stream side by
side. Each is ranked by the loss of its forecasts, every one made before its target was seen: no
rows are held out, nothing is fitted twice, and the best candidate is ready to use at the end.
"""

# %%
# A pipeline and a grid
# ---------------------
# Candidates that differ only after the feature map share the map, so the eight ridges of a
# bandwidth cost little more than one.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_okl import (
    FourierFeatures,
    RunningStandardScaler,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.datasets import make_friedman_stream
from sklearn_okl.evaluation import PrequentialSearch

X, y = make_friedman_stream(3000, n_features=6, random_state=0)
pipeline = make_streaming_pipeline(
    RunningStandardScaler(),
    FourierFeatures(n_components=120, random_state=0),
    VAWRegressor(fit_intercept=True),
)
gammas, alphas = np.logspace(-3, 0.5, 8), np.logspace(-4, 3, 8)
grid = {"fourierfeatures__gamma": gammas, "vawregressor__alpha": alphas}

search = PrequentialSearch(pipeline, grid).fit(X, y)
print("best:", {name: round(float(value), 4) for name, value in search.best_params_.items()})
print(f"mean squared error {search.best_loss_:.2f} (the variance of y is {y.var():.2f})")

# %%
# The table of results
# --------------------
# ``results_`` is what pandas reads, as scikit-learn's ``cv_results_``.

losses = search.results_["mean_loss"].reshape(len(gammas), len(alphas))

fig, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
image = ax.imshow(np.log10(losses), origin="lower", cmap="viridis_r")
ax.set_xticks(range(len(alphas)), [f"{alpha:.0e}" for alpha in alphas], rotation=45)
ax.set_yticks(range(len(gammas)), [f"{gamma:.3f}" for gamma in gammas])
ax.set_xlabel("ridge alpha of the forecaster")
ax.set_ylabel("gamma of the kernel")
row, column = divmod(search.best_index_, len(alphas))
ax.plot(column, row, "w*", markersize=14)
fig.colorbar(image, label="log10 of the mean progressive loss")
ax.set_title("64 candidates, one pass")
plt.show()

# %%
# Successive halving
# ------------------
# With ``halving_rounds`` the worse two thirds leave the race after 300 rows, and again after 900.
# The table says how many rows each candidate has learnt.

halving = PrequentialSearch(pipeline, grid, halving_rounds=[300, 900]).fit(X, y)
rounds, counts = np.unique(halving.results_["n_rounds"], return_counts=True)
for n, count in zip(rounds, counts, strict=True):
    print(f"{count:2d} candidates learnt {n} rows")
print(f"the winner's loss {halving.best_loss_:.2f}, of all candidates {search.best_loss_:.2f}")

# %%
# Halving is cheaper and may drop a candidate that needs more rows to show what it can do: large
# maps with little ridge are slow starters.
