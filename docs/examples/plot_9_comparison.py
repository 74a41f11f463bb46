"""
A paper's comparison
====================

A table in a paper has models, streams, several seeds, means and deviations, and a sentence that
says which differences are more than luck. :func:`~sklearn_okl.evaluation.compare` makes the runs,
and the :class:`~sklearn_okl.evaluation.Comparison` that it returns has the rest.
"""

# %%
# Models, streams, seeds
# ----------------------
# Wherever a model draws at random, it draws from the seed. Streams are given as they are, or made
# from the seed, which is then the noise of the data too. With ``path="runs"`` every finished run is
# kept, and a call that was interrupted goes on; ``n_jobs=`` shares the runs out.

import matplotlib.pyplot as plt

from sklearn_okl import FOGDRegressor, OnlineKernelRegressor, RakerRegressor, VAW2Regressor
from sklearn_okl.datasets import make_ar4, make_friedman_stream, scale_as_published
from sklearn_okl.evaluation import compare


def friedman(drift):
    """Return a maker of streams, whose rows are scaled as the papers scale them."""

    def made(seed):
        X, y = make_friedman_stream(600, n_features=5, drift=drift, random_state=seed)
        return scale_as_published(X, y)

    return made


kernels = {"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0]}
models = {
    "FOGD": FOGDRegressor(gamma=1.0),
    "Raker": RakerRegressor(kernels),
    "VAW²": VAW2Regressor(kernels, n_components=30),
    "no tuning": OnlineKernelRegressor(budget="fast"),
}
streams = {
    "AR(4)": make_ar4(600),
    "steady": friedman(None),
    "jump": friedman("jump"),
    "rotation": friedman("rotation"),
}
comparison = compare(models, streams, seeds=3)
print(comparison.to_frame()["squared_error"].map(lambda loss: f"{loss:.4f}").unstack(level=0))

# %%
# Which differences are more than luck
# ------------------------------------
# Friedman's test over the streams, and Wilcoxon's signed ranks for each pair, corrected by Holm's
# method. Four streams are too few to tell models apart, which is what it says.

print(comparison.ranks().sentence)

# %%
# The table in LaTeX
# ------------------

print(comparison.to_latex(factor=1e3, decimals=2))

# %%
# The curve of one stream
# -----------------------
# Mean losses so far, with bands of one standard deviation over the seeds.

fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
comparison.plot(stream="jump", ax=ax, start=50)
ax.set_yscale("log")
plt.show()
