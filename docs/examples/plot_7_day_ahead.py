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
from sklearn_okl.evaluation import (
    ForecastFanDisplay,
    crps_from_quantiles,
    interval_coverage,
    interval_score,
    interval_width,
    quantiles_from_intervals,
)

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

coverage = [0.5, 0.8, 0.95]
display = ForecastFanDisplay.from_predictions(
    forecasts, fans, coverage, y_true=load[forecasts.index]
)
display.ax_.set(title="Ten days, each forecast on its eve", ylabel="load")
display.figure_.autofmt_xdate()
plt.show()

# %%
# And the next day, which nobody knows yet, as the forecaster sees it now; its weather is taken to
# be that of the day before.

display = ForecastFanDisplay.from_forecaster(
    forecaster, weather[-24:].to_numpy(), y_past=load[-48:]
)
display.ax_.set(title="Tomorrow", ylabel="load")
plt.show()

# %%
# How often did they hold, how wide were they, and what is the score of both? The interval score
# adds to the width what misses cost; the continuous ranked probability score (CRPS) is that of the
# whole fan. Ten days are few, and neighbouring hours are alike.

came = load[forecasts.index]
held, width = interval_coverage(came, fans), interval_width(fans)
score = interval_score(came, fans, coverage)
for level, share in enumerate(coverage):
    print(
        f"{share:.0%} intervals held {held[level]:.0%} of the hours, {width[level]:.1f} wide, "
        f"score {score[level]:.1f}"
    )
crps = crps_from_quantiles(came, *quantiles_from_intervals(fans, coverage))
print(f"CRPS, as far as these six quantiles tell: {crps:.2f}")
