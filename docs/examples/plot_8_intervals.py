r"""
Prediction intervals
====================

Forecasts with error bars, two ways. :meth:`VAWRegressor.predict(return_std=True)
<sklearn_okl.VAWRegressor.predict>` gives the standard deviation that linear regression with
Gaussian noise would have. Where the noise is something else, the coverage is too. Adaptive
conformal inference (I. Gibbs and E. Candès, NeurIPS 2021, eq. 2) watches how often the intervals
miss and corrects their level :math:`\alpha_t`, whatever the stream does:

.. math:: \alpha_{t+1} = \alpha_t + \gamma (\alpha - \mathrm{miss}_t) .
"""

# %%
# A stream whose noise grows
# --------------------------
# After round 1500 the noise is three times as large, and after 3000 it has heavy tails.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from sklearn_okl import FourierFeatures, VAWRegressor

rng = np.random.default_rng(0)
n = 4500
X = rng.uniform(-3, 3, size=(n, 1))
noise = rng.normal(size=n)
noise[3000:] = rng.standard_t(2, size=n - 3000)
scale = np.where(np.arange(n) < 1500, 0.1, 0.3)
y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 0] + scale * noise
Z = FourierFeatures(gamma=1.0, n_components=60, random_state=0).fit_transform(X)

# %%
# Predict a piece, then learn it
# ------------------------------
# ``predict`` changes nothing, so the intervals of a piece of ten rows are all made before any of
# their targets is seen. The conformal intervals use the quantile of the latest 300 scores
# :math:`|y - \hat y| / \mathrm{std}` at the level :math:`1 - \alpha_t`.

target, gamma = 0.1, 0.02  # 90 % coverage
model = VAWRegressor().partial_fit(Z[:50], y[:50])
middle, gaussian, conformal = np.full((3, n), np.nan)
level, scores = target, list(np.abs(norm.ppf(rng.uniform(size=50))))
for start in range(50, n, 10):
    rows = slice(start, start + 10)
    middle[rows], std = model.predict(Z[rows], return_std=True)
    gaussian[rows] = norm.ppf(1 - target / 2) * std
    conformal[rows] = np.quantile(scores, np.clip(1 - level, 0, 1)) * std
    errors = np.abs(y[rows] - middle[rows])
    level += gamma * np.sum(target - (errors > conformal[rows]))
    scores = (scores + list(errors / std))[-300:]
    model.partial_fit(Z[rows], y[rows])

# %%
# Coverage
# --------
# The standard deviation is an average over the whole past: for a long time after the noise has
# grown its intervals are too narrow. The conformal ones come back to 90 % within some hundred
# rounds.

covered = {
    "Gaussian": np.abs(y - middle) <= gaussian,
    "adaptive conformal": np.abs(y - middle) <= conformal,
}
fig, axes = plt.subplots(2, figsize=(8, 6.5), layout="constrained")
for name, hits in covered.items():
    rate = np.convolve(hits[50:], np.ones(300) / 300, mode="valid")
    axes[0].plot(np.arange(len(rate)) + 350, rate, label=name)
    print(f"{name:18}  covers {hits[50:].mean():.3f}")
axes[0].axhline(1 - target, color="k", linewidth=0.8)
axes[0].set(xlabel="Round", ylabel="Coverage, mean of 300 rounds")
axes[0].legend()

last = np.arange(n - 150, n)
order = last[np.argsort(X[last, 0])]
axes[1].plot(X[order, 0], y[order], "k.", markersize=4)
axes[1].plot(X[order, 0], middle[order], color="C1")
axes[1].fill_between(
    X[order, 0],
    middle[order] - conformal[order],
    middle[order] + conformal[order],
    alpha=0.25,
    color="C1",
    label="90 %, adaptive conformal",
)
axes[1].set(xlabel="x", ylabel="y", title="The last 150 rounds", ylim=(-4, 4))
axes[1].legend()
plt.show()
