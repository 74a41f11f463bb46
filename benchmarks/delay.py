"""The estimator without tuning where labels come late, a day or at random, and on random walks.

Forecasts are strictly causal: a row is forecast by models that know the labels that have arrived by
then, the rivals' too.
"""

from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import PolynomialFeatures

from sklearn_okl import (
    OnlineKernelRegressor,
    RunningStandardScaler,
    StreamingTransformedTargetRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.datasets import make_ar4, make_day_ahead
from sklearn_okl.evaluation import prequential

from . import delay_wrappers
from ._progress import progress
from ._report import RESULTS, print_environment, print_saved
from .delay_tables import (
    BAR,
    BAR_OF_WALKS,
    BAR_OF_WIDTHS,
    COVERAGE,
    arrivals_table,
    days_table,
    missed_bars,
    walks_table,
)

DAY = 24
WARM_UP = 10 * DAY  # first rows, not scored
WALK_FROM = 200  # the same for random walks
CORRELATIONS = (0.0, 0.5, 0.9, 0.95)
EARLIEST, LATEST = 20, 40  # rounds that a label may be late, at random
LATE = {
    "lags=0": {"lags": 0},
    "label_delay=30": {"label_delay": 30},
    "label_delay=40": {"label_delay": 40},
    "the default": {},
}
N_SEEDS = 3


class Sizes(NamedTuple):
    """How much of each stream is run.

    Attributes
    ----------
    days : int
        Days of the hourly series.
    alone : int
        Its last rows, whose intervals are asked for one by one.
    arrivals : int
        Rows of the streams whose labels arrive at random.
    walk : int
        Rows of the random walks.
    wrapped : int
        Rows for which MAPIE is asked.
    """

    days: int = 150
    alone: int = 1000
    arrivals: int = 1500
    walk: int = 3000
    wrapped: int = 300


QUICK = Sizes(days=13, alone=DAY, arrivals=WARM_UP + 60, walk=WALK_FROM + 100, wrapped=20)


def run(output=RESULTS, *, n_seeds=N_SEEDS, budget="balanced", quick=False):
    """Run the default under late labels and on random walks, and in others' tools; print tables."""
    sizes, seeds = (QUICK, (0,)) if quick else (Sizes(), tuple(range(n_seeds)))
    where = print_environment()

    days = run_days(seeds, budget, sizes)
    print("\n" + days_table(days))
    print(f"Root mean squared errors from row {WARM_UP} on, after ten days of warm-up. One by one:")
    print("label_delay=23, each row forecast 24 hours ahead. In days: the 24 rows of a day at its")
    print("midnight, by ahead=True. VAW: linear, on standardised rows and targets. Yesterday: the")
    print(f"same hour of the last day known. Ratio: over the better of the two; bar {BAR:g}.")
    print("Formula: what the formula of the series would forecast. Held: share of targets within")
    print(f"the {100 * COVERAGE:g} % intervals, percent; bar 88 to 92. One by one of the last")
    print(f"{sizes.alone} rows. Width: the median over that of the constant interval which holds")
    print(f"as many of the same rows in hindsight; bar {BAR_OF_WIDTHS:g}.")

    late = run_arrivals(seeds, budget, sizes)
    print("\n" + arrivals_table(late))
    print(f"Mean squared errors from row {WARM_UP} on, labels {EARLIEST} to {LATEST} rows late at")
    print(f"random; in brackets over those of lags=0. Bar {BAR:g} for those with a label_delay.")

    ratios = run_walks(seeds, budget, sizes)
    print("\n" + walks_table(ratios))
    print(f"Mean squared errors from row {WALK_FROM} on over those of the last value, bar")
    print(f"{BAR_OF_WALKS:g}.")

    wrapped = delay_wrappers.run(seeds, budget, sizes.wrapped)
    missed = [*missed_bars(days, late, ratios), *delay_wrappers.missed(wrapped)]
    print(f"\nMeans of {len(seeds)} seeds.")
    print("Missed: " + ("; ".join(missed) or "none."))
    content = {
        "environment": where,
        "settings": {"seeds": len(seeds), "budget": budget, "sizes": sizes._asdict()},
        "days": days,
        "arrivals": late,
        "walks": ratios,
        **wrapped,
    }
    print_saved(output / "delay.json", content)
    return 0


# ---- a day ahead ----


def run_days(seeds, budget, sizes):
    """Return the figures of each seed, ``days[title][way]`` a list of dicts."""
    days = {}
    with progress(len(CORRELATIONS) * len(seeds), "stream") as advance:
        for correlation in CORRELATIONS:
            title = f"correlation {correlation:g}"
            days[title] = {"one by one": [], "in days": []}
            for seed in seeds:
                stream = Stream(correlation, sizes.days, seed)
                model = OnlineKernelRegressor(budget=budget, label_delay=DAY - 1, random_state=seed)
                days[title]["one by one"].append(day_ahead(model, stream, sizes.alone))
                days[title]["in days"].append(whole_days(model, stream))
                advance(1, title)
    return days


class Stream:
    """An hourly series of whole days, and what its rivals forecast 24 hours ahead of it."""

    def __init__(self, correlation, n_days, seed):
        n = DAY * n_days
        self.X, self.y = make_day_ahead(n, correlation=correlation, random_state=seed)
        clean = make_day_ahead(n, noise=0.0, random_state=seed)[1]
        disturbances = self.y - clean
        hours_ahead = np.arange(n) % DAY + 1
        midnight = disturbances[np.maximum(np.arange(n) - hours_ahead, 0)]
        self.yesterday = _shifted(self.y)
        # the best forecast of the disturbance from the last one known
        self.formula = clean + correlation**DAY * _shifted(disturbances)
        self.formula_in_days = clean + correlation**hours_ahead * midnight


def _shifted(y):
    return np.append(np.full(DAY, np.nan), y[:-DAY])


def linear_vaw():
    """Return the linear rival, on standardised rows and targets and with an intercept."""
    return StreamingTransformedTargetRegressor(
        make_streaming_pipeline(RunningStandardScaler(), PolynomialFeatures(1), VAWRegressor())
    )


def day_ahead(model, stream, n_alone):
    """Return the figures of forecasts each 24 hours ahead, made before any newer label is known."""
    X, y = stream.X, stream.y
    forecasts = prequential(model, X, y).forecasts
    rivals = {
        "VAW": prequential(linear_vaw(), X, y, delay=DAY - 1).forecasts,
        "yesterday": stream.yesterday,
        "formula": stream.formula,
    }
    intervals = one_by_one(model, X, y, DAY - 1, n_alone)
    return _losses(y, forecasts, rivals) | covered(y[-n_alone:], forecasts[-n_alone:], intervals)


def whole_days(model, stream):
    """Return the figures of forecasts made at each midnight for the whole day."""
    X, y = stream.X, stream.y
    forecasts, intervals = in_days(model, X, y, ahead=True)
    rivals = {
        "VAW": in_days(linear_vaw(), X, y)[0],
        "yesterday": stream.yesterday,
        "formula": stream.formula_in_days,
    }
    return _losses(y, forecasts, rivals) | covered(
        y[WARM_UP:], forecasts[WARM_UP:], intervals[WARM_UP:]
    )


def one_by_one(model, X, y, delay, n):
    """Return the intervals (n, 2) of the last n rows, asked for row by row under a delay."""
    model, start, intervals = clone(model), len(y) - n, []
    model.partial_fit(X[: start - delay], y[: start - delay])
    for t in range(start, len(y)):
        intervals.append(model.predict_interval(X[t : t + 1], coverage=COVERAGE)[0])
        arrived = slice(t - delay, t - delay + 1)
        model.partial_fit(X[arrived], y[arrived])
    return np.array(intervals)


def in_days(model, X, y, ahead=False):
    """Forecast each day at its midnight, then learn it; the first day is learnt only.

    Parameters
    ----------
    model : estimator
        A clone of it forecasts and learns.
    X : ndarray of shape (n, d)
        Rows of whole days.
    y : ndarray of shape (n,)
        Targets.
    ahead : bool, default=False
        Whether the estimator is told that the rows are the next ones, and asked for intervals.

    Returns
    -------
    forecasts : ndarray of shape (n,)
        NaN for the first day.
    intervals : ndarray of shape (n, 2)
        NaN for the first day, and altogether without `ahead`.
    """
    model, options = clone(model), {"ahead": True} if ahead else {}
    forecasts, intervals = np.full(len(y), np.nan), np.full((len(y), 2), np.nan)
    for start in range(0, len(y), DAY):
        day = slice(start, start + DAY)
        if start:
            forecasts[day] = model.predict(X[day], **options)
        if start and ahead:
            intervals[day] = model.predict_interval(X[day], coverage=COVERAGE, **options)
        model.partial_fit(X[day], y[day])
    return forecasts, intervals


def _losses(y, forecasts, rivals):
    """Return root mean squared errors after the warm-up, and the ratio to the better rival."""
    losses = {
        label: float(np.sqrt(np.mean((F - y)[WARM_UP:] ** 2)))
        for label, F in {"default": forecasts, **rivals}.items()
    }
    return losses | {"ratio": losses["default"] / min(losses["VAW"], losses["yesterday"])}


def covered(y, forecasts, intervals):
    """Return the share of targets held, and the median width over that of a constant interval."""
    held = (intervals[:, 0] <= y) & (y <= intervals[:, 1])
    constant = 2 * np.quantile(np.abs(y - forecasts), COVERAGE)
    return {
        "held": float(held.mean()),
        "width": float(np.median(np.diff(intervals, axis=1)) / constant),
    }


# ---- labels that arrive at random ----


def run_arrivals(seeds, budget, sizes):
    """Return the losses of each line on each stream, ``losses[title][label]`` a list."""
    n = sizes.arrivals
    makers = {"day ahead": make_day_ahead, "AR(4)": make_ar4}
    losses = {title: {label: [] for label in LATE} for title in makers}
    with progress(len(makers) * len(seeds) * len(LATE), "run") as advance:
        for seed in seeds:
            for title, make in makers.items():
                X, y = make(n, random_state=seed)
                for label, arguments in LATE.items():
                    model = OnlineKernelRegressor(budget=budget, random_state=seed, **arguments)
                    losses[title][label].append(loss_under(random_arrivals(n, seed), model, X, y))
                    advance(1, f"{title}, {label}")
    return losses


def random_arrivals(n, seed):
    """Return for each row (n,) the first round that knows its label."""
    rng = np.random.RandomState(seed)
    return np.arange(n) + 1 + rng.randint(EARLIEST, LATEST + 1, size=n)


def loss_under(arrivals, model, X, y):
    """Return the mean squared error after the warm-up, each label being learnt when it arrives."""
    return float(np.mean(prequential(model, X, y, delay=arrivals).losses[WARM_UP:]))


# ---- random walks ----


def run_walks(seeds, budget, sizes):
    """Return the ratios to the last value, a list for each stream."""
    streams = walks(seeds, sizes.walk)
    ratios = {}
    with progress(len(streams), "stream") as advance:
        for (title, seed), (X, y) in streams.items():
            model = OnlineKernelRegressor(budget=budget, random_state=seed)
            ratios.setdefault(title, []).append(over_last_value(model, X, y))
            advance(1, title)
    return ratios


def walks(seeds, n):
    """Return random walks of inputs that say nothing, or the latest values; River's polls too."""
    streams = {}
    for seed in seeds:
        rng = np.random.RandomState(seed)
        y = np.cumsum(rng.standard_normal(n))
        streams["walk, inputs of noise", seed] = rng.standard_normal((n, 2)), y
        latest = [np.append(np.zeros(lag), y[:-lag]) for lag in (1, 2)]
        streams["walk, its latest values", seed] = np.column_stack(latest), y
    try:
        from river.datasets import TrumpApproval
    except ImportError:
        return streams
    rows, targets = zip(*TrumpApproval(), strict=True)
    X, y = np.array([list(row.values()) for row in rows], dtype=float), np.array(targets)
    return streams | {("TrumpApproval", seed): (X[:n], y[:n]) for seed in seeds}


def over_last_value(model, X, y):
    """Return the mean squared error over that of the last value, from row 200 on."""
    errors = (prequential(model, X, y).forecasts - y)[WALK_FROM:]
    return float(np.mean(errors**2) / np.mean(np.diff(y)[WALK_FROM - 1 :] ** 2))
