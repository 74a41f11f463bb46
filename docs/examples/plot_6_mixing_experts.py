"""
Mixing experts of any kind
==========================

:class:`~sklearn_okl.ExpertsRegressor` takes any regressors that learn by ``partial_fit``, this
package's, scikit-learn's or your own, and an aggregator of their forecasts. The loss is near that
of the best of them in hindsight, even if another one is best in another stretch.
"""

# %%
# Four experts, one of them ours to write
# ---------------------------------------
# All an expert needs is ``partial_fit`` and ``predict``. This one forecasts the latest target.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import SGDRegressor

from sklearn_okl import (
    BOARegressor,
    ExpertsRegressor,
    VAW2Regressor,
    VAWRegressor,
)
from sklearn_okl.evaluation import ExpertWeightsDisplay, PrequentialDisplay


class LatestValue(RegressorMixin, BaseEstimator):
    """Forecast the target of the row before."""

    def partial_fit(self, X, y):
        self.latest_ = y[-1]
        return self

    def predict(self, X):
        return [self.latest_] * len(X)


experts = [
    ("latest value", LatestValue()),
    ("SGDRegressor", SGDRegressor(eta0=0.05, random_state=0)),
    ("linear VAW", VAWRegressor()),
    (
        "kernels, VAW²",
        VAW2Regressor({"gamma": [0.5, 2.0]}, n_components=80, forgetting=0.99, random_state=0),
    ),
]

# %%
# A stream in three parts
# -----------------------
# First the targets are linear in the row, then they are not, and in the end they are a random walk
# that has nothing to do with the row. Another expert is best in each part.

rng = np.random.default_rng(0)
n = 900
X = rng.uniform(-1, 1, size=(3 * n, 4))
linear = X @ [1.5, -1.0, 0.5, 0.0]
curved = 1.5 * np.sin(4 * X[:, 0]) * np.cos(3 * X[:, 1])
walk = np.cumsum(0.15 * rng.normal(size=3 * n))
part = np.arange(3 * n) // n
y = np.choose(part, [linear, curved, walk - walk[2 * n]]) + 0.1 * rng.normal(size=3 * n)

mixture = ExpertsRegressor(experts, BOARegressor())
fig, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
PrequentialDisplay.from_estimator(
    {"all, mixed by BOA": mixture, **dict(experts[1:])}, X, y, window=150, ax=ax, start=20
)
for change in (n, 2 * n):
    ax.axvline(change, color="0.5", linestyle=":")
plt.show()

# %%
# Who is believed, and when
# -------------------------
# The mixture follows the best expert from part to part. It was told neither when the parts change
# nor the range of the targets.

rounds, weights = np.arange(25, 3 * n + 1, 25), []
for end in rounds:
    mixture.partial_fit(X[end - 25 : end], y[end - 25 : end])
    weights.append(mixture.weights_)
names = [name for name, _ in experts]
display = ExpertWeightsDisplay({"weights": np.array(weights)}, names, rounds=rounds).plot()
display.figure_.set_size_inches(9, 4)
plt.show()

# %%
# The experts inside can be looked at, as copies.

for (name, _), loss in zip(experts, mixture.expert_losses_, strict=True):
    print(f"{name:14}  mean squared error {loss / len(y):.2f}")
print(mixture.named_experts_["linear VAW"].coef_.round(2))
