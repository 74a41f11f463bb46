"""Somebody with a file of other people's forecasts, who wants one.

From "Coming from R's opera" and "Getting started: forecasts to combine". The file has a column for
each supplier, the target becomes known a day later, and one supplier is silent for a week. To
reach: the mixture at most half of the best supplier's squared error and at most 1.2 times that of
the best convex combination in hindsight; intervals of 90 % that hold 87 to 93 % of the hours.
"""

import io

import numpy as np
import pandas as pd

from sklearn_okl import MLPolyRegressor, OnlineConformalRegressor, StackedBOARegressor
from sklearn_okl.evaluation import aggregation_report, interval_coverage

rng = np.random.default_rng(0)
n = 24 * 90
hour = pd.date_range("2025-01-01", periods=n, freq="h", name="hour")
load = 60 + 12 * np.sin(2 * np.pi * np.arange(n) / 24) + np.cumsum(rng.normal(size=n)) / 5
written = pd.DataFrame(
    {
        "load": load,
        "north": load + rng.normal(size=n),
        "south": load + 1.2 * rng.normal(size=n),
        "vendor": load + 0.4 + 1.1 * rng.normal(size=n),
        "yesterday": np.r_[np.full(24, load[0]), load[:-24]],
    },
    index=hour,
)
written.loc["2025-02-10":"2025-02-16", "south"] = np.nan
file = io.StringIO(written.to_csv())

forecasts = pd.read_csv(file, index_col="hour", parse_dates=True)
target = forecasts.pop("load")
mixture = StackedBOARegressor(label_delay=24).prequential_predict(forecasts, target)
judged = np.arange(n) >= 24 * 7
error = np.mean((mixture - target)[judged] ** 2)
alone = (forecasts.sub(target, axis=0)[judged] ** 2).mean()
print(alone.round(2).to_dict(), "mixture", round(error, 2))
assert error <= 0.5 * alone.min()

report = aggregation_report(
    StackedBOARegressor(label_delay=24), forecasts, target, output_dict=True
)
losses = report["losses"]
print(aggregation_report(MLPolyRegressor(), forecasts, target))
print({name: round(loss, 3) for name, loss in losses.items()})
assert losses["StackedBOARegressor"] <= 1.2 * losses["best convex combination"]

layer = OnlineConformalRegressor(StackedBOARegressor(label_delay=24), coverage=0.9)
intervals = layer.prequential_interval(forecasts, target)
judged = np.arange(n) >= 24 * 14  # 25 trackers take turns, and each needs nine errors
held = interval_coverage(target[judged], intervals[judged]).item()
print(f"intervals held {held:.1%}, {np.isinf(intervals[judged]).any(axis=1).mean():.1%} infinite")
assert 0.87 <= held <= 0.93
