"""The cases of the job guards: what is measured of each kind of stream, and its bars."""

import time
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from sklearn_okl.datasets import (
    load_dataset,
    make_faulty_stream,
    make_irregular_stream,
    make_shifted_stream,
)

from . import guards_models as models
from .guards_models import FORECASTER, N_TREES

JUMPS, EVERYDAY, SENTINELS, SINGLE = "jumps", "everyday", "sentinels", "single faults"
CHANGES, CELLS, TAILS, ADVERSARY = "changes", "cells", "heavy tails", "adversary"
KINDS = (JUMPS, EVERYDAY, SENTINELS, SINGLE, CHANGES, CELLS, TAILS, ADVERSARY)
BUDGETS = ("fast", "balanced", FORECASTER)

WARM_UP = 200  # first rows, not scored where a share of the targets is faulty
SETTLED = 3  # changes before the scored rows
RIVALS, LOST = 1.15, 6  # bars of jumps; of those of next to no noise in the line below
RIVALS_WITHOUT_NOISE = 2.0
BEST, TWIN = 1.1, 1.02
TOLD = {"table": 1.3, "series": 1.6}
TOLD_LOW = 2.0  # of mean - 8 deviations in a fifth of the targets
SINGLE_BAR, FRESH, OF_NAN, CLEAN, TIME = 1.1, 1.25, 1.25, 1.01, 4.0
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
RUNS = (0.02, 4.0), (0.05, 4.0), (0.2, 4.0), (0.05, 16.0)  # shares, and lengths of runs
FAULTS = (1e6, 1e9, 1e15, 1e30, 1e100, 1e300)
AFTER = (100, 400)  # rows after a single fault that are scored
PLACES = tuple(
    sorted(
        {*range(81)}
        | {n + d for n in (512, 2048, 128, 192, 256, 320, 640, 1024) for d in (-1, 0, 1)}
    )
)
DELAYS = (0, 5)
LEVELS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 100.0, 1e4, 1e6)
UNITS = (1e-3, 0.1, 10.0, 1e3)


class Sizes(NamedTuple):
    """Rows of the streams.

    Attributes
    ----------
    irregular : int
        Of streams that step by themselves.
    faulty : int
        Of streams of which a share is faulty, and of those with heavy tails.
    shifted : int
        Of streams that change in the middle.
    attacked : int
        Of the adversary's.
    """

    irregular: int = 6000
    faulty: int = 3000
    shifted: int = 2000
    attacked: int = 1000


class Case(NamedTuple):
    """A line of the job: a stream, a budget, and what is measured on it.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    title : str
        The stream and its settings.
    budget : str
        One of `BUDGETS`.
    bars : dict of str to float
        What each ratio may be at most.
    measure : callable
        What takes a budget and a seed, and returns a dict of numbers: the ratios that have bars,
        and others that are of interest.
    """

    kind: str
    title: str
    budget: str
    bars: dict
    measure: Callable

    def run(self, seed):
        """Return the ratios of one draw of the stream."""
        return {name: float(found) for name, found in self.measure(self.budget, seed).items()}


def cases(kinds=KINDS, budgets=BUDGETS, sizes=None, *, n_trees=N_TREES, kept=None):
    """Yield all cases of some kinds, in the order of the tables.

    Parameters
    ----------
    kinds : tuple of str, default=KINDS
        Which kinds.
    budgets : tuple of str, default=BUDGETS
        Which budgets; the forecaster counts as one.
    sizes : Sizes, default=None
        Rows of the streams.
    n_trees : int, default=100
        Trees of boosting, the rival of everyday streams; 0 leaves it and the other rivals out.
    kept : Path, default=None
        Folder that keeps what boosting forecasts.
    """
    sizes = sizes or Sizes()
    makers = {
        JUMPS: partial(_jumps, sizes),
        EVERYDAY: partial(_everyday, sizes, n_trees, kept),
        SENTINELS: partial(_sentinels, sizes),
        SINGLE: _singles,
        CHANGES: partial(_changes, sizes),
        CELLS: partial(_cells, sizes),
        TAILS: partial(_tails, sizes),
        ADVERSARY: partial(_adversary, sizes),
    }
    for kind in kinds:
        for title, bars, measure, takes in makers[kind]():
            for budget in budgets:
                if budget in takes:
                    yield Case(kind, title, budget, bars, measure)


TABLES = BUDGETS[:2]  # who takes part in cases of rows with X


# ---- jumps: last value and ridge on X are the rivals ----


def _jumps(sizes):
    for hidden in (True, False):
        for every in (30, 100, 300):
            for noise in (0.01, 0.1, 1.0, 3.0):
                settings = {"every": every, "noise": noise, "hidden": hidden}
                where = "hidden" if hidden else "a column"
                title = f"setpoints, {where}, every {every}, noise {noise:g}"
                yield jump_line(title, sizes.irregular, kind="setpoints", **settings)
    for kind in ("counter", "walk", "price", "loads"):
        yield jump_line(kind, sizes.irregular, kind=kind)


def jump_line(title, n_rows, **settings):
    """Return title, bars and measure of a stream that jumps."""
    bar = RIVALS_WITHOUT_NOISE if settings.get("noise") == 0.01 else RIVALS
    bars = {"absolute": bar, "squared": bar, "lost": LOST}
    return title, bars, partial(jumping, n_rows, settings), TABLES


def jumping(n_rows, settings, budget, seed):
    """Return the errors from the fourth change on over the better rival's, and rows lost at first.

    A row after the first change is lost where our error is more than a quarter of the change, and
    than eight usual errors of the better rival, which is not so far off itself.
    """
    stream = make_irregular_stream(n_rows, random_state=seed, **settings)
    X, y, changes = stream.data, stream.target, stream.changes
    model = models.guarded(budget, seed)
    errors = np.abs(model.prequential_predict(X, y) - y)
    theirs = [np.abs(forecasts - y) for forecasts in (models.last_value(y), models.ridge(X, y))]
    rows = scored_rows(stream)

    first = slice(*changes[:2]) if len(changes) > 1 else slice(changes[0], None)
    rival = min(theirs, key=lambda e: np.median(e[first]))
    size = abs(y[changes[0]] - y[changes[0] - 1])
    far = max(size / 4.0, 8.0 * np.median(rival[first]))
    return {
        "absolute": np.mean(errors[rows]) / min(np.mean(e[rows]) for e in theirs),
        "squared": np.mean(errors[rows] ** 2) / min(np.mean(e[rows] ** 2) for e in theirs),
        "lost": np.sum((errors[first] > far) & (rival[first] <= far)),
        "doubted": model.n_faulty_,
    }


def scored_rows(stream):
    """Return the rows from the fourth change on; without changes those after the warm-up."""
    changes = stream.changes
    first = changes[min(SETTLED, len(changes) - 1)] if len(changes) else WARM_UP
    return slice(int(first), None)


# ---- everyday streams: the best of last value, ridge with lags, boosting; the trusting twin ----


def _everyday(sizes, n_trees, kept):
    for kind in ("meter", "events", "cycles", "saw", "episodes"):
        yield everyday_line(kind, sizes.irregular, n_trees, kept)


def everyday_line(kind, n_rows, n_trees=0, kept=None):
    """Return title, bars and measure of an everyday stream; no trees, no rivals."""
    bars = {"best rival": BEST, "unguarded twin": TWIN}
    if not n_trees:
        del bars["best rival"]
    return kind, bars, partial(everyday, kind, n_rows, n_trees, kept), TABLES


def everyday(kind, n_rows, n_trees, kept, budget, seed):
    """Return the squared error over the best rival's and over the trusting twin's."""
    stream = make_irregular_stream(n_rows, kind=kind, random_state=seed)
    X, y, rows = stream.data, stream.target, scored_rows(stream)
    model = models.guarded(budget, seed)
    loss = np.mean((model.prequential_predict(X, y) - y)[rows] ** 2)
    twin = np.mean((models.trusting(budget, seed).prequential_predict(X, y) - y)[rows] ** 2)
    found = {"unguarded twin": loss / twin, "doubted": model.n_faulty_}
    if n_trees:
        best = models.best_of_rivals(kind, X, y, seed, rows, n_trees, kept)
        found |= {"best rival": loss / best, "twin over rival": twin / best}
    return found


# ---- a share of the targets is faulty: the twin that is told which ----


def _sentinels(sizes):
    for base in ("table", "series"):
        for value in (-9999.0, "low"):
            for share in SHARES:
                yield sentinel_line(base, value, share, sizes.faulty)
            for share, length in RUNS:
                yield sentinel_line(base, value, share, sizes.faulty, length)


def sentinel_line(base, value, share, n_rows, length=1.0):
    """Return title, bars and measure of a stream of which a share of the targets is faulty."""
    if share >= 0.4:
        bars = {"running median": 1.0}
    else:
        is_lowest = value == "low" and share == 0.2
        bars = {"told twin": TOLD_LOW if is_lowest else TOLD[base]}
    what = "mean - 8 deviations" if value == "low" else f"{value:g}"
    runs = f", in runs of {length:g}" if length > 1.0 else ""
    settings = {"base": base, "value": value, "share": share, "length": length}
    takes = BUDGETS if base == "series" else TABLES
    return f"{what} in {share:.0%}{runs}, {base}", bars, partial(sentinel, n_rows, settings), takes


def sentinel(n_rows, settings, budget, seed):
    """Return the squared error on good rows over the told twin's, and over the median's."""
    stream = make_faulty_stream(n_rows, random_state=seed, **settings)
    X, y, faulty = stream.data, stream.target, stream.faulty
    good = ~faulty & (np.arange(n_rows) >= WARM_UP)
    found = {}
    if budget == FORECASTER:
        known = np.where(faulty, np.nan, y)
        losses = [
            _loss_of_days(models.forecaster(seed).prequential_predict(of, X), known, WARM_UP)
            for of in (y, known)
        ]
    else:
        model = models.guarded(budget, seed)
        forecasts = model.prequential_predict(X, y), models.told(budget, seed, X, y, faulty)
        losses = [np.mean((said - y)[good] ** 2) for said in forecasts]
        found["doubted"] = model.n_faulty_
    median = np.mean((models.running_median(y) - y)[good] ** 2)
    return {
        "told twin": losses[0] / losses[1],
        "running median": losses[0] / median,
        "faulty": faulty.sum(),
        **found,
    }


def _loss_of_days(forecasts, y, first, last=None):
    """Return the mean squared error of forecasts (n, H) from some rows, in rows that are known."""
    last = len(y) if last is None else last
    errors = [
        (forecasts[first - h : last - h, h] - y[first:last]) ** 2 for h in range(forecasts.shape[1])
    ]
    return np.nanmean(errors)


# ---- a single fault: the clean stream ----


def _singles():
    for place in PLACES:
        for delay in DELAYS:
            yield single_line(place, delay)


def single_line(place, delay=0):
    """Return title, bars and measure of a single fault."""
    takes = TABLES if delay or place > 80 else BUDGETS
    title = f"one fault at row {place}, label_delay={delay}"
    return title, {"clean": SINGLE_BAR}, partial(single, place, delay), takes


def single(place, delay, budget, seed):
    """Return the squared error on rows 100 to 400 after a fault over that of the clean stream.

    Each seed has a fault of another size and sign at a place, on a table or on a series.
    """
    base = ("table", "series")[seed % 2]
    low, high = (place + n for n in AFTER)
    clean, y, X = _clean(base, delay, budget, seed, 600 if place <= 80 else max(PLACES) + AFTER[1])
    spoilt = y[:high].copy()
    faults = FAULTS[:-1] if budget == FORECASTER else FAULTS  # it refuses what is beyond 1e100
    spoilt[place] = (-1.0) ** (place + seed // 2) * faults[(place + seed) % len(faults)]
    if budget == FORECASTER:
        forecasts = models.forecaster(seed).prequential_predict(spoilt, X[:high])
        losses = [_loss_of_days(said, y, low, high) for said in (forecasts, clean)]
    else:
        model = models.guarded(budget, seed, label_delay=delay)
        forecasts = model.prequential_predict(X[:high], spoilt)
        losses = [np.mean((said[low:high] - y[low:high]) ** 2) for said in (forecasts, clean)]
    return {"clean": losses[0] / losses[1]}


@cache
def _clean(base, delay, budget, seed, n_rows):
    """Return forecasts, targets and rows of a clean stream."""
    X, y = make_faulty_stream(n_rows, base=base, share=0.0, random_state=seed, return_X_y=True)
    if budget == FORECASTER:
        return models.forecaster(seed).prequential_predict(y, X), y, X
    return models.guarded(budget, seed, label_delay=delay).prequential_predict(X, y), y, X


# ---- a level, a unit, a sign: a model that begins there ----


def _changes(sizes):
    for base in ("table", "series"):
        for size in LEVELS:
            yield change_line(base, "level", size, sizes.shifted)
        for size in UNITS:
            yield change_line(base, "unit", size, sizes.shifted)
        yield change_line(base, "sign", 1.0, sizes.shifted)


def change_line(base, kind, size, n_rows):
    """Return title, bars and measure of a stream that changes in its middle."""
    words = {"level": f"level + {size:g} deviations", "unit": f"unit × {size:g}", "sign": "sign"}
    settings = {"base": base, "kind": kind, "size": size}
    return f"{words[kind]}, {base}", {"fresh": FRESH}, partial(change, n_rows, settings), TABLES


def change(n_rows, settings, budget, seed):
    """Return the squared error from 64 rows after the change on over that of a fresh model."""
    stream = make_shifted_stream(n_rows, random_state=seed, **settings)
    X, y, (start,) = stream.data, stream.target, stream.changes
    scored = slice(start + 64, None)
    forecasts = models.guarded(budget, seed).prequential_predict(X, y)
    fresh = models.guarded(budget, seed).prequential_predict(X[start:], y[start:])
    loss = np.mean((forecasts - y)[scored] ** 2)
    return {"fresh": loss / np.mean((fresh - y[start:])[64:] ** 2)}


# ---- faulty cells of X: the same cells empty ----


def _cells(sizes):
    for base in ("table", "series"):
        for share, length in ((0.005, 1.0), (0.02, 1.0), (0.05, 1.0), (0.05, 40.0)):
            yield cell_line(base, share, sizes.faulty, length)


def cell_line(base, share, n_rows, length=1.0):
    """Return title, bars and measure of a stream of which a share of the cells is faulty."""
    takes = BUDGETS if base == "series" else TABLES
    runs = f", in runs of {length:g}" if length > 1.0 else ""
    title = f"-9999 in {share:.1%} of the cells{runs}, {base}"
    settings = {"base": base, "share": share, "length": length}
    return title, {"NaN": OF_NAN}, partial(cell, n_rows, settings), takes


def cell(n_rows, settings, budget, seed):
    """Return the squared error over that with NaN in the same cells."""
    stream = make_faulty_stream(n_rows, where="data", random_state=seed, **settings)
    y, empty = stream.target, np.where(stream.faulty_data, np.nan, stream.data)
    if budget == FORECASTER:
        losses = [
            _loss_of_days(models.forecaster(seed).prequential_predict(y, X), y, WARM_UP)
            for X in (stream.data, empty)
        ]
    else:
        forecasts = (
            models.guarded(budget, seed).prequential_predict(X, y) for X in (stream.data, empty)
        )
        losses = [np.mean((said - y)[WARM_UP:] ** 2) for said in forecasts]
    return {"NaN": losses[0] / losses[1]}


# ---- clean streams with heavy tails: the trusting twin ----


def _tails(sizes):
    for name in NOISES:
        yield tail_line(name, sizes.faulty)
    try:
        load_dataset("raker_toms")
    except (FileNotFoundError, ValueError):
        return
    yield tail_line("raker_toms", sizes.irregular)


def tail_line(name, n_rows):
    """Return title, bars and measure of a clean stream with heavy tails."""
    bars = {"squared": CLEAN, "absolute": CLEAN}
    return name, bars, partial(tail, name, n_rows), TABLES


def tail(name, n_rows, budget, seed):
    """Return the errors over those of the trusting twin."""
    if name == "raker_toms":
        X, y = load_dataset(name, return_X_y=True)
        rows = np.random.RandomState(seed).permutation(len(y))[:n_rows]
        X, y = X[rows], y[rows]
    else:
        X, y = heavy_tailed(name, n_rows, seed)
    model = models.guarded(budget, seed)
    errors = np.abs(model.prequential_predict(X, y) - y)
    twins = np.abs(models.trusting(budget, seed).prequential_predict(X, y) - y)
    return {
        "squared": np.mean(errors**2) / np.mean(twins**2),
        "absolute": np.mean(errors) / np.mean(twins),
        "doubted": model.n_faulty_,
    }


def _demand(rng, signal):
    """Return demand that is nothing in four of five rows, else lognormal."""
    return np.exp(signal + rng.standard_normal(len(signal))) * (rng.uniform(size=len(signal)) < 0.2)


def _labels(share, rng, signal):
    """Return 1 in a share of the rows, by the signal and by chance."""
    height = signal + rng.logistic(size=len(signal))
    return (height > np.quantile(height, 1.0 - share)).astype(float)


NOISES = {  # generator, and what X says (n,) -> targets (n,)
    "t(1.5)": lambda rng, signal: signal + 0.3 * rng.standard_t(1.5, len(signal)),
    "Cauchy": lambda rng, signal: signal + 0.3 * rng.standard_cauchy(len(signal)),
    "Pareto": lambda rng, signal: signal + rng.pareto(1.5, len(signal)),
    "lognormal": lambda rng, signal: signal + rng.lognormal(sigma=1.5, size=len(signal)),
    "intermittent demand": _demand,
    "0/1, 5 %": partial(_labels, 0.05),
    "0/1, 10 %": partial(_labels, 0.1),
    "0/1, 30 %": partial(_labels, 0.3),
}


def heavy_tailed(name, n_rows, seed):
    """Return rows and targets of a clean stream with heavy tails."""
    X, signal = make_faulty_stream(n_rows, share=0.0, noise=0.0, random_state=seed, return_X_y=True)
    return X, NOISES[name](np.random.RandomState(1000 + seed), signal)


# ---- an adversary: time ----


def _adversary(sizes):
    for name in ATTACKS:
        yield name, {"time": TIME}, partial(attacked, name, sizes.attacked), TABLES


def _faults(rng, y):
    return np.where(np.arange(len(y)) % 2, 1e9, y)


def _units(rng, y):
    return y * 10.0 ** rng.uniform(-6.0, 6.0, size=len(y))


def _levels(rng, y):
    return y + np.repeat(1e4 * rng.standard_normal(-(-len(y) // 64)), 64)[: len(y)]


ATTACKS = {
    "every second target 1e9": _faults,
    "a new unit in every row": _units,
    "a new level every 64 rows": _levels,
}


def attacked(name, n_rows, budget, seed):
    """Return processor time over that of the clean stream, attacked from row 200 on."""
    X, y = make_faulty_stream(n_rows, share=0.0, random_state=seed, return_X_y=True)
    spoilt = ATTACKS[name](np.random.RandomState(1000 + seed), y)
    spoilt[:WARM_UP] = y[:WARM_UP]
    seconds = []
    for targets in (y, spoilt):
        started = time.process_time()
        models.guarded(budget, seed).prequential_predict(X, targets)
        seconds.append(time.process_time() - started)
    return {"time": seconds[1] / seconds[0]}
