"""
Classification on a stream
==========================

Classifiers have the same verbs. Here the two classes are the fields of a chessboard that turns
slowly: the boundary is far from linear, and what was learnt long ago is no longer true.
"""

# %%
# A chessboard that turns
# -----------------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from sklearn_okl import ExpertsClassifier, FOGDClassifier, NOGDClassifier, OKSPlusPlusClassifier
from sklearn_okl.evaluation import (
    PrequentialCalibrationDisplay,
    PrequentialConfusionDisplay,
    PrequentialDisplay,
    prequential,
)

rng = np.random.default_rng(0)
n = 4000
angle = np.linspace(0, np.pi / 4, n)
X = rng.uniform(-1.5, 1.5, size=(n, 2))


def field(X, angle):
    """Name the fields of a chessboard turned by an angle."""
    a = np.cos(angle) * X[:, 0] - np.sin(angle) * X[:, 1]
    b = np.sin(angle) * X[:, 0] + np.cos(angle) * X[:, 1]
    return np.where((np.floor(a) + np.floor(b)) % 2 == 0, "black", "white")


y = field(X, angle)
noisy = rng.uniform(size=n) < 0.03
y[noisy] = np.where(y[noisy] == "black", "white", "black")

# %%
# Four learners
# -------------
# One kernel by random features, with a constant step for a world that changes; one kernel by the
# first hundred rows; one kernel of six, drawn anew each round and paid for alone; and a linear
# model.

models = {
    "FOGD": FOGDClassifier(
        gamma=4.0, n_components=200, eta0=2.0, power_t=0.0, loss="log_loss", random_state=0
    ),
    "NOGD": NOGDClassifier(gamma=4.0, budget=100, eta0=1.0, power_t=0.0, loss="log_loss"),
    "OKS++": OKSPlusPlusClassifier(
        {"gamma": [0.06, 0.25, 1.0, 4.0, 16.0, 64.0]}, radius=15.0, random_state=0
    ),
    "linear": SGDClassifier(loss="log_loss", random_state=0),
}

fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
PrequentialDisplay.from_estimator(models, X, y, loss="zero_one", window=400, ax=ax, yscale="linear")
ax.set_ylabel("Rate of mistakes, mean of 400 rounds")
plt.show()

# %%
# What the first has learnt
# -------------------------
# With the logistic loss decision values are log-odds, and ``predict_proba`` is there.

model = models["FOGD"].partial_fit(X[:2000], y[:2000], classes=["black", "white"])
side = np.linspace(-1.5, 1.5, 120)
mesh = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)

fig, axes = plt.subplots(1, 2, figsize=(8.6, 4.2), layout="constrained", sharey=True)
for ax, end in zip(axes, (2000, 4000), strict=True):
    if end == 4000:
        model.partial_fit(X[2000:], y[2000:])
    white = model.predict_proba(mesh)[:, 1].reshape(120, 120)
    image = ax.imshow(white, origin="lower", extent=(-1.5, 1.5) * 2, cmap="gray", vmin=0, vmax=1)
    truth = (field(mesh, angle[end - 1]) == "white").reshape(120, 120)
    ax.contour(side, side, truth, levels=[0.5], colors="C1", linewidths=1)
    ax.set_title(f"after {end} rounds")
fig.colorbar(image, ax=axes, label="probability of white")
plt.show()

# %%
# Probabilities, and a mixture of them
# ------------------------------------
# The log loss says how good probabilities are. In it :class:`~sklearn_okl.ExpertsClassifier`, any
# classifiers with `partial_fit` and `predict_proba` mixed by Bayes' rule, loses at most the
# logarithm of their number more than the best of them, and what its doubt costs.

mixed = {name: models[name] for name in ("FOGD", "NOGD")}
mixed["mixture"] = ExpertsClassifier(list(mixed.items()))
P = {name: prequential(model, X, y, loss="log_loss").forecasts for name, model in mixed.items()}

fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
PrequentialDisplay.from_predictions(y, P, loss="log_loss", window=400, ax=axes[0], start=100)
PrequentialCalibrationDisplay.from_predictions(y, P, class_label="white", ax=axes[1])
plt.show()

# %%
# More than two classes
# ---------------------
# Each class has coefficients of its own; the features are computed once for all.

thirds = np.array(["left", "middle", "right"])[np.digitize(X[:, 0], [-0.5, 0.5])]
many = FOGDClassifier(gamma=1.0, n_components=60, random_state=0)
for start in range(0, 2000, 500):
    rows = slice(start, start + 500)
    many.partial_fit(X[rows], thirds[rows], classes=np.unique(thirds))
print(f"accuracy on the next 500 rows: {many.score(X[2000:2500], thirds[2000:2500]):.3f}")

PrequentialConfusionDisplay.from_estimator(many, X, thirds, window=500)
plt.show()
