"""
A day ahead, from a frame
=========================

Tomorrow's demand, hour by hour, is to be known tonight: from the hours so far, and from tomorrow's
weather. There is a day without records, and some sensors failed.
:class:`~sklearn_okl.OnlineForecaster` takes the frame as it is, and says how sure it is.
"""

# %%
# The series
# ----------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sklearn_okl import OnlineForecaster
from sklearn_okl.datasets import make_day_ahead

n_days = 50
columns, load = make_day_ahead(24 * n_days, correlation=0.95, random_state=0)
hours = pd.date_range("2024-01-01", periods=len(load), freq="h", tz="Europe/Berlin")
weather = pd.DataFrame({"temperature": columns[:, -1]}, index=hours)
load = pd.Series(load, index=hours, name="load")

load.iloc[300:306] = np.nan  # nobody knows
weather.iloc[500:510] = np.nan
there = np.r_[0:600, 624:1200]  # a day without records

# %%
# Learning and forecasting
# ------------------------
# The first forty days are learnt at once. Then each midnight the next day is forecast, and learnt
# when it is over. The day without records is learnt as if its values were missing.

past = there[there < 24 * 40]
forecaster = OnlineForecaster(horizon=24, gaps="fill")
forecaster.fit(load.iloc[past], weather.iloc[past])
print(f"seasons found: {forecaster.season_lengths_}")

forecasts, fans = [], []
for day in range(40, n_days):
    today = slice(24 * day, 24 * (day + 1))
    forecasts.append(forecaster.predict(weather[today]))
    fans.append(forecaster.predict_interval(weather[today], coverage=[0.5, 0.8, 0.95]))
    forecaster.partial_fit(load[today], weather[today])
forecasts, fans = pd.concat(forecasts), np.concatenate(fans)

errors = (forecasts - load)[forecasts.index]
print(f"root mean squared error: {np.sqrt(np.mean(errors**2)):.2f}")
print(f"of the same hour a day before: {np.sqrt(np.mean((load.diff(24) ** 2)[errors.index])):.2f}")

# %%
# The fan
# -------
# Intervals of 50, 80 and 95 % are wider where errors were larger, and learn from each hour whether
# they held. Their first hours are narrow: what was above its forecast an hour ago still is.

figure, axes = plt.subplots(figsize=(9, 3.5), layout="constrained")
for level in (2, 1, 0):
    axes.fill_between(forecasts.index, *fans[:, level].T, color="C0", alpha=0.25, linewidth=0)
axes.plot(forecasts, color="C0", label="forecast at midnight")
axes.plot(load[forecasts.index], color="k", linewidth=1, label="load")
axes.set(title="Ten days, each forecast on its eve", ylabel="load")
axes.legend()
figure.autofmt_xdate()
plt.show()

# %%
# How often did they hold?

for level, coverage in enumerate((0.5, 0.8, 0.95)):
    held = (fans[:, level, 0] <= load[forecasts.index]) & (
        load[forecasts.index] <= fans[:, level, 1]
    )
    print(f"{coverage:.0%} intervals held {held.mean():.0%} of the hours")
