"""
Time in streams
===============

A forecast is worth what was known when it was made. Targets may be known at once, some rounds
late, or only at midnight, when the whole next day is to be forecast. The parameter ``label_delay``
of :class:`~sklearn_okl.OnlineKernelRegressor` says which it is: with ``label_delay=D`` a row is
forecast, scored and taught as by a model that knows the targets up to D + 1 rounds before it.
"""

# %%
# What is known when
# ------------------
# Each line shows one moment. Of the rows on the left the target has been learnt. Where labels are
# D rounds late, the forecasts of D rows are out and not judged yet. An arrow leads from the latest
# target that a forecast reads to its row. A day ahead there are 24 forecasts at once; the first one
# too reads targets that are 24 hours old, because this is how rows are taught.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_okl import (
    OnlineKernelRegressor,
    RunningStandardScaler,
    StreamingTransformedTargetRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.datasets import make_day_ahead
from sklearn_okl.evaluation import prequential

moments = {  # first row that is not learnt, first and last row to be forecast
    "one step,\nlabel_delay=0": (0, 0, 0),
    "8 rounds late,\nlabel_delay=8": (-8, 0, 0),
    "a day ahead,\nlabel_delay=23": (0, 0, 23),
}
fig, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
for height, (unknown, first, last) in zip((2, 1, 0), moments.values(), strict=True):
    kinds = {
        "learnt": (np.arange(-27, unknown), "C0", "C0"),
        "forecast is out, target unknown": (np.arange(unknown, first), "none", "0.5"),
        "to be forecast now": (np.arange(first, last + 1), "none", "C3"),
    }
    for name, (rounds, face, edge) in kinds.items():
        at = np.full(len(rounds), height)
        label = name if height == 1 else None
        ax.scatter(rounds, at, s=34, marker="s", facecolor=face, edgecolor=edge, label=label)
    distance = last - unknown + 1
    bend = f"arc3,rad={-0.3 if distance > 1 else -1.5}"
    arrow = dict(arrowstyle="->", color="C3", connectionstyle=bend, shrinkA=0, shrinkB=0)
    for row in {first, last}:
        ax.annotate("", (row, height + 0.12), (row - distance, height + 0.12), arrowprops=arrow)
ax.axvline(-0.5, color="0.5", linestyle=":")
ax.set(xlabel="Round, counted from the next one", ylim=(-0.4, 3.1))
ax.set_yticks((2, 1, 0), moments)
ax.legend(ncols=3, loc="upper center")
plt.show()

# %%
# One step
# --------
# A hundred days of an hourly series: a season of the day, the effect of the temperature, which is
# given, and disturbances that last for some hours. If each target is known before the next hour
# begins, nothing needs to be said. The latest targets are seen by half of the experts, and they
# tell most of the disturbance. All errors on this page are root mean squares after ten days.

X, y = make_day_ahead(24 * 100, random_state=0)


def untuned(**parameters):
    """Return the estimator without tuning, at its smallest size."""
    return OnlineKernelRegressor(budget="fast", random_state=0, **parameters)


def error(forecasts):
    """Return the root mean squared error after ten days."""
    return np.sqrt(np.mean((forecasts - y[: len(forecasts)])[240:] ** 2))


at_once = prequential(untuned(), X, y).forecasts
print(f"one step ahead       {error(at_once):.2f}")
print(f"without lags         {error(prequential(untuned(lags=0), X, y).forecasts):.2f}")
print(f"the last target      {error(np.append(0, y[:-1])):.2f}")

# %%
# Labels that come late
# ---------------------
# Now each label is 30 rounds late. :func:`~sklearn_okl.evaluation.prequential` takes the delay from
# the estimator. Given another one, it keeps each label in a queue until it comes, forecasts by
# ``predict`` and learns by ``partial_fit``. That is what happens to someone who ignores the delay:
# each row is taught with the target of the round before as its latest one, and forecast with one
# that is 31 rounds old. The progressive errors of such a model, its own account, do not show it.

n = 24 * 25
ignored = untuned()
late = {
    "ignored, by its own account": prequential(ignored, X[:n], y[:n]),
    "ignored": prequential(ignored, X[:n], y[:n], delay=30),
    "label_delay=30": prequential(untuned(label_delay=30), X[:n], y[:n]),
    "label_delay=30, lags=0": prequential(untuned(label_delay=30, lags=0), X[:n], y[:n]),
}
for name, result in late.items():
    print(f"{name:28} {error(result.forecasts):5.2f}")

# %%
# Labels may also be 20 to 40 rounds late, at random. An array of arrivals says which round is the
# first to know each of them. ``label_delay=30`` is about right then; the labels are learnt when
# they come. Whoever ignores the delay is lucky here: labels that come out of order are no
# neighbours, so that little is to be learnt from the latest ones that is false later.

arrivals = np.arange(n) + 1 + np.random.default_rng(0).integers(20, 41, size=n)
for name, model in {
    "ignored": ignored,
    "label_delay=30": untuned(label_delay=30),
    "lags=0": untuned(lags=0),
}.items():
    result = prequential(model, X[:n], y[:n], delay=arrivals)
    print(f"at random, {name:17} {error(result.forecasts):5.2f}")

# %%
# A day ahead
# -----------
# At midnight the 24 hours of the next day are to be forecast, and with ``ahead=True`` they are
# handed over in order. The mistake is to ask a model for them whose ``predict`` is for the next
# hour only. The rivals are a linear model, which sees no latest targets and so needs no delay, and
# the same hour of the day before.

linear = StreamingTransformedTargetRegressor(
    make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()), RunningStandardScaler()
)
models = {
    "label_delay=23, ahead=True": (untuned(label_delay=23), {"ahead": True}),
    "the mistake, label_delay=0": (untuned(), {}),
    "linear": (linear, {}),
}
forecasts = {name: np.zeros(len(y)) for name in models}
intervals = np.zeros((len(y), 2))
for start in range(0, len(y), 24):
    day = slice(start, start + 24)
    for name, (model, options) in models.items():
        if start:
            forecasts[name][day] = model.predict(X[day], **options)
        if start and options:
            intervals[day] = model.predict_interval(X[day], coverage=0.9, **options)
        model.partial_fit(X[day], y[day])
forecasts["same hour, yesterday"] = np.append(np.zeros(24), y[:-24])

for name, made in forecasts.items():
    print(f"{name:28} {error(made):5.2f}")
inside = (intervals[:, 0] <= y) & (y <= intervals[:, 1])
print(f"share of targets within the 90 % intervals: {inside[240:].mean():.3f}")

# %%
# The linear model is about as good, for the series is nearly linear in its inputs. The last week:

week, hours = slice(-24 * 7, None), np.arange(24 * 7) / 24
fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ahead, mistake = list(forecasts)[:2]
ax.fill_between(hours, *intervals[week].T, color="C0", alpha=0.2, linewidth=0, label="90 %")
ax.plot(hours, forecasts[ahead][week], color="C0", label=ahead)
ax.plot(hours, forecasts[mistake][week], color="C3", linewidth=1, label=mistake)
ax.plot(hours, y[week], "k.", markersize=4, label="series")
ax.set(xlabel="Day", ylim=(y[week].min() - 25, y[week].max() + 25))
ax.legend(ncols=4, loc="upper center")
plt.show()

# %%
# What the mistake costs, hour by hour
# ------------------------------------
# The first hour after midnight is the one that a model without delay is for. The others are
# forecast as if midnight were the hour before them. By its own account, the dotted line, the model
# is good.

fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
for (name, made), color in zip(forecasts.items(), ("C0", "C3", "C2", "0.6"), strict=True):
    by_hour = ((made - y)[240:] ** 2).reshape(-1, 24).mean(axis=0)
    ax.plot(range(1, 25), np.sqrt(by_hour), color=color, label=name)
ax.axhline(error(at_once), color="C3", linestyle=":", label="the mistake, by its own account")
ax.set(xlabel="Hours after midnight", ylabel="Root mean squared error", ylim=0)
ax.legend()
plt.show()

# %%
# A random walk
# -------------
# Where each step is independent of all before, nothing beats the last value that is known. With
# lags the model has it as one of its experts, and is as good; without lags it is lost.

rng = np.random.default_rng(0)
walk, inputs = np.cumsum(rng.normal(size=2000)), rng.normal(size=(2000, 2))
for delay, lags in ((0, 4), (23, 4), (0, 0)):
    made = prequential(untuned(label_delay=delay, lags=lags), inputs, walk).forecasts
    last = walk[200 - delay - 1 : -delay - 1]  # the last value known, from round 200 on
    ratio = np.mean((made - walk)[200:] ** 2) / np.mean((last - walk[200:]) ** 2)
    print(f"label_delay={delay:<2} lags={lags}: {ratio:.3f} of the squared error of the last value")
