"""
Explaining forecasts
====================

Which column moves the forecasts of a model that learns on? Attributions are exact here, so that
they can be looked at after every few rows: in the middle of this stream the cause moves from one
column to another.
"""

# %%
# A cause that moves
# ------------------
# Only column ``a`` matters at first, and only ``c`` later; ``b`` bends the effect of both.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sklearn_okl import (
    BackgroundReservoir,
    FourierFeatures,
    RunningStandardScaler,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PartialEffectsDisplay, ShapleyDisplay
from sklearn_okl.inspection import ShapleyExplanation

rng = np.random.default_rng(0)
n = 1600
X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
cause = np.where(np.arange(n) < 800, X["a"], X["c"])
y = np.sin(1.5 * cause) * (1 + 0.5 * np.tanh(X["b"])) + 0.1 * rng.normal(size=n)

model = make_streaming_pipeline(
    BackgroundReservoir(random_state=0),
    RunningStandardScaler(),
    FourierFeatures(gamma=0.15, n_components=100, random_state=0),
    VAWRegressor(0.1, forgetting=0.99),
)

# %%
# Along the stream
# ----------------
# Rows are explained before they are learnt, 20 at a time, by the model as it stands.

parts = []
for low in range(0, n, 20):
    rows = slice(low, low + 20)
    if low:
        parts.append(model.explain(X[rows]))
    model.partial_fit(X[rows], y[rows])

ShapleyDisplay(ShapleyExplanation.joined(parts)).plot(over_time=True)
plt.show()

# %%
# One forecast
# ------------
# Its entries and the base are the forecast. What VAW's shrinkage adds stands by itself.

ShapleyDisplay.from_estimator(model, X[-5:]).plot(row=4)
plt.show()

# %%
# The effect of a column
# ----------------------
# The mean over the background, and a band that holds the curves of most of its rows: the effect of
# ``c`` depends on ``b``, and that of ``a`` is forgotten.

fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained", sharey=True)
for ax, name in zip(axes, "ac", strict=True):
    PartialEffectsDisplay.from_estimator(model, name, ax=ax)
plt.show()
