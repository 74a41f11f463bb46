"""A data scientist with a table that grows: categories, gaps, dates, a faulty meter.

From "Getting started" and "Questions and answers". To reach: at most eight tenths of the squared
error of boosted trees that are fitted anew as the past grows and are spared the meter's faults, all
five of these found, and intervals of 90 %, for a hundred rows at once, that hold between 82 and
95 % of them. The function jumps half way.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from sklearn_okl import OnlineKernelRegressor, RefitRegressor
from sklearn_okl.datasets import make_friedman_stream
from sklearn_okl.evaluation import interval_coverage

rng = np.random.default_rng(0)
X, y = make_friedman_stream(1500, n_features=6, drift="jump", random_state=0)
table = pd.DataFrame(X, columns=["speed", "load", "heat", "wind", "age", "noise"])
table["kind"] = pd.Categorical(rng.choice(["pump", "fan", "mixer"], size=len(table)))
table["since"] = pd.Timestamp("2025-01-01") + pd.to_timedelta(np.arange(len(table)), unit="h")
table.loc[rng.random(len(table)) < 0.05, "heat"] = np.nan
table["wind"] = table["wind"].mask(rng.random(len(table)) < 0.02, -9999)
y = y + table["kind"].map({"pump": 0.0, "fan": 3.0, "mixer": -3.0}).to_numpy(dtype=float)
y[rng.integers(100, len(y), size=5)] *= 100.0  # a faulty meter
faulty = y > 200.0

model = OnlineKernelRegressor(missing_values=-9999, lags=0, random_state=0)
intervals, forecasts = [], []
for rows in np.array_split(np.arange(len(y)), 15):
    part = table.iloc[rows]
    if rows[0]:
        intervals.append(model.predict_interval(part, coverage=0.9))
    forecasts.append(model.prequential_predict(part, y[rows]))

codes = table.assign(since=table["since"].astype("int64"))
trees = HistGradientBoostingRegressor(early_stopping=False, categorical_features="from_dtype")
rival = RefitRegressor(trees, growth=0.2).prequential_predict(codes[~faulty], y[~faulty])

ours = np.mean((np.concatenate(forecasts) - y)[~faulty][100:] ** 2)
theirs = np.mean((rival - y[~faulty])[100:] ** 2)
held = interval_coverage(y[100:][~faulty[100:]], np.concatenate(intervals)[~faulty[100:]]).item()
print(f"squared error {ours:.2f}, of boosted trees fitted anew {theirs:.2f}, held {held:.1%}")
print("faulty targets:", model.n_faulty_)
print(model.summary())
assert ours <= 0.8 * theirs
assert 0.82 <= held <= 0.95
assert model.n_faulty_ == faulty.sum()
