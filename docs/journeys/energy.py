"""An analyst of a grid: tomorrow's demand, hour by hour, asked at each local midnight.

From "Day ahead, at every local midnight". There are sensors that fail, a day without records and
the hour that the clock is put back. To reach: at most six tenths of the error of the same hour a
week before, and intervals of 90 % that hold between 82 and 97 % of the hours.
"""

import numpy as np
import pandas as pd

from sklearn_okl import OnlineForecaster
from sklearn_okl.datasets import make_day_ahead

zone = "Europe/Berlin"
hours = pd.date_range("2024-09-01", "2024-11-11", freq="h", tz=zone, inclusive="left")
columns, load = make_day_ahead(len(hours), correlation=0.95, random_state=1)
weather = pd.DataFrame({"temperature": columns[:, -1]}, index=hours)
load = pd.Series(load, index=hours, name="load")
load.iloc[200:204] = np.nan  # nobody knows
weather.iloc[300:310] = np.nan
kept = (hours < pd.Timestamp("2024-09-20", tz=zone)) | (
    hours >= pd.Timestamp("2024-09-21", tz=zone)
)

midnights = pd.date_range("2024-10-21", "2024-11-10", freq="D", tz=zone)
past = kept & (hours < midnights[0])
forecaster = OnlineForecaster(horizon=25, gaps="fill").fit(load[past], weather[past])
days = []
for midnight in midnights:
    tomorrow = (hours >= midnight) & (hours < midnight + pd.DateOffset(days=1))
    forecast = forecaster.predict(weather[tomorrow])
    interval = forecaster.predict_interval(weather[tomorrow], coverage=0.9, as_frame="wide")
    days.append(interval.assign(forecast=forecast))
    assert list(forecast.index) == list(hours[tomorrow])  # 25 of them on 27 October
    forecaster.partial_fit(load[tomorrow], weather[tomorrow])

days = pd.concat(days)
came = load[days.index]
error = np.sqrt(np.mean((days["forecast"] - came) ** 2))
week_before = np.sqrt(np.mean((load.shift(168)[days.index] - came) ** 2))
held = came.between(days["lo-90"], days["hi-90"]).mean()
print(f"error {error:.2f}, of the same hour a week before {week_before:.2f}, held {held:.1%}")
assert error <= 0.6 * week_before
assert 0.82 <= held <= 0.97
