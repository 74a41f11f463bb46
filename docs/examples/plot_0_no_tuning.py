"""
Hand it rows, get forecasts
===========================

:class:`~sklearn_okl.OnlineKernelRegressor` has nothing to tune: a dictionary of kernels, ridges and
memories runs side by side, on rows and targets that are scaled on the fly, and a mixture finds out
which of them suit the stream. It gives intervals too, and says what it has learnt.
"""

# %%
# A stream that jumps
# -------------------
# Inputs of very different size, targets far from 0, and a function that changes halfway.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.datasets import make_friedman_stream

X, y = make_friedman_stream(3000, n_features=6, drift="jump", random_state=0)
X = X * [1, 10, 100, 1, 10, 100] + 50
y = 1000 + 3 * y

model = OnlineKernelRegressor(budget="fast", random_state=0)
forecasts = np.empty(len(y))
intervals = np.empty((len(y), 2))
for start in range(0, len(y), 25):  # pieces of 25 rows, as they come
    rows = slice(start, start + 25)
    if start:
        intervals[rows] = model.predict_interval(X[rows], coverage=0.9)
    forecasts[rows] = model.prequential_predict(X[rows], y[rows])
print(model.summary())

# %%
# Loss and intervals
# ------------------
# Means over 250 rounds, the first piece left out: nobody can know beforehand that targets are near
# 1000.

inside = (intervals[:, 0] <= y) & (y <= intervals[:, 1])
losses = (forecasts - y) ** 2
rounds, window = np.arange(275, len(y) + 1), np.ones(250) / 250
fig, axes = plt.subplots(2, sharex=True, figsize=(8, 5.5), layout="constrained")
axes[0].semilogy(rounds, np.convolve(losses[25:], window, "valid"))
axes[0].set_ylabel("Squared error")
axes[1].plot(rounds, np.convolve(inside[25:], window, "valid"))
axes[1].axhline(0.9, color="k", linewidth=0.8)
axes[1].set(xlabel="Round", ylabel="Coverage of the\n90 % intervals", ylim=(0.7, 1))
for ax in axes:
    ax.axvline(1500, color="0.5", linestyle=":")
plt.show()

# %%
# The experts
# -----------
# ``experts_`` is a table for pandas.

import pandas as pd

table = pd.DataFrame(model.experts_).sort_values("weight", ascending=False)
columns = ["name", "weight", "mean_loss", "lags", "forgetting"]
print(table[columns].head(6).round(3).to_string(index=False))
