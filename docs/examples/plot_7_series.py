"""
A series, by hand
=================

A demand of two hundred days, hour by hour: a day's shape, a week's, weather that hangs on, and a
holiday season from day 120 on in which weekdays look like weekends. The rows are what is known
before the hour: the latest loads, those of a day and of a week ago, and the time of day.
:class:`~sklearn_okl.OnlineForecaster` makes such rows by itself; here one sees what is in them.
"""

# %%
# The series
# ----------

import matplotlib.pyplot as plt
import numpy as np

from sklearn_okl import (
    ExpertsRegressor,
    FourierFeatures,
    RunningStandardScaler,
    StreamingTransformedTargetRegressor,
    VAW2Regressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PrequentialDisplay

rng = np.random.default_rng(0)
hours = np.arange(200 * 24)
day, hour = hours // 24, hours % 24
working = (day % 7 < 5) & (day < 120)
shape = np.where(
    working,
    np.exp(-(((hour - 8) / 2.0) ** 2)) + 1.2 * np.exp(-(((hour - 19) / 2.5) ** 2)),
    0.9 * np.exp(-(((hour - 13) / 4.5) ** 2)),
)
weather = np.zeros(len(hours))
for t in range(1, len(hours)):
    weather[t] = 0.98 * weather[t - 1] + 0.04 * rng.normal()
load = 10 * (1 + 0.5 * shape + weather * (1 + shape)) + 0.2 * rng.normal(size=len(hours))

# %%
# Rows of what is known
# ---------------------

lags = [1, 2, 24, 168]
first = max(lags)
X = np.column_stack(
    [load[first - lag : len(load) - lag] for lag in lags]
    + [np.cos(2 * np.pi * hour[first:] / 24), np.sin(2 * np.pi * hour[first:] / 24)]
)
y = load[first:]

# %%
# Four forecasters
# ----------------
# Scalers inside a streaming pipeline know the past only, so that nothing looks ahead. Targets are
# scaled on the fly too, and forecasts come in their own units.


def on_scaled(*steps):
    """Scale rows and targets on the fly, then learn."""
    return StreamingTransformedTargetRegressor(
        make_streaming_pipeline(RunningStandardScaler(), *steps), RunningStandardScaler()
    )


kernels = VAW2Regressor(
    {"gamma": [0.003, 0.01, 0.03, 0.1]},
    n_components=150,
    alpha=0.01,
    forgetting=0.999,
    random_state=0,
)
models = {
    "linear": on_scaled(VAWRegressor(forgetting=0.999)),
    "one kernel": on_scaled(
        FourierFeatures(gamma=0.02, n_components=150, random_state=0),
        VAWRegressor(0.1, forgetting=0.999),
    ),
    "four kernels": on_scaled(kernels),
    "linear and kernels": on_scaled(
        ExpertsRegressor([("linear", VAWRegressor(forgetting=0.999)), ("kernels", kernels)])
    ),
}
forecasts = {name: model.prequential_predict(X, y) for name, model in models.items()}
forecasts["same hour, last week"] = X[:, 3]
for name, made in forecasts.items():
    print(f"{name:22} root mean squared error {np.sqrt(np.mean((made - y) ** 2)):.3f}")

# %%
# Loss over the days
# ------------------

fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
del forecasts["same hour, last week"]  # far above the others
PrequentialDisplay.from_predictions(y, forecasts, window=24 * 7, ax=ax, start=24 * 3)
ax.axvline(120 * 24 - first, color="0.5", linestyle=":")
ax.set_title("Mean over a week; the holidays begin at the dotted line")
plt.show()

# %%
# The last three days
# -------------------

fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.plot(hours[-72:], load[-72:], "k.", label="load")
ax.plot(hours[-72:], forecasts["linear and kernels"][-72:], label="linear and kernels")
ax.set_xlabel("hour")
ax.legend()
plt.show()
