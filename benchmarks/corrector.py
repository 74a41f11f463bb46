"""Other people's forecasts, corrected online: what bases lose, alone and in `AdaptedForecaster`.

The bases are last season, exponential smoothing and a ridge refitted every day, on series of a file
that are scaled by their first 60 % and scored in their last 30 %. Exponential smoothing stands for
AutoETS: level, damped slope and a season of a day, its rates chosen for each series by the squared
errors of all steps in the first 60 %. It needs no package, and has a forecast at every row.
"""

import sys
import time
from itertools import product
from pathlib import Path

import numpy as np

from sklearn_okl import AdaptedForecaster

from ._report import RESULTS, print_environment, print_saved, table
from .series import DAY, SCALED, SCORED, _ridge, _seasonal, read_series

HORIZON = 48
BASES = ("last season", "exponential smoothing", "ridge refitted daily")
WORST = 0.01  # share of its squared error by which no series of a base may lose
_RATES = np.array(  # of level, slope and season, and what is left of the slope after a step
    list(product((0.1, 0.3, 0.6, 0.9), (0.0, 0.01, 0.1), (0.05, 0.2, 0.5), (0.8, 0.98)))
).T


def run(output=RESULTS, *, data=("ett_h1",), n_rows=None, only="", quick=False):
    """Correct the bases on series of files, print tables, and return the exit status."""
    where, found = print_environment(), {}
    for name in data:
        try:
            times, y = read_series(name)
        except FileNotFoundError as error:
            print(f"Left out {name}. {error}", file=sys.stderr)
            continue
        n_rows = 900 if quick else n_rows
        horizon = 6 if quick else HORIZON
        found[name] = on_series(times[:n_rows], y[:n_rows], horizon, only)
        print(f"\n{name}, squared errors of steps 1 to {horizon}\n{_table(found[name])}")
    print_saved(Path(output) / "corrector.json", {"environment": where, **found})
    losing = [base for result in found.values() for base in result.values() if base["is_losing"]]
    return int(bool(losing))


def on_series(times, y, horizon, only=""):
    """Return what each base loses, by series, alone and corrected; and its bound."""
    n_scaled, first = int(len(y) * SCALED), int(len(y) * SCORED)
    y = (y - y[:n_scaled].mean(axis=0)) / y[:n_scaled].std(axis=0)
    makers = {
        "last season": lambda: _seasonal(y, horizon, DAY),
        "exponential smoothing": lambda: smoothed(y, horizon, DAY, n_scaled),
        "ridge refitted daily": lambda: _ridge_from(times, y, horizon, 60 * DAY),
    }
    found = {}
    for name in (name for name in BASES if only in name):
        base, clock = makers[name](), time.process_time()
        model = AdaptedForecaster(horizon)
        said = model.prequential_predict(y, base)
        alone, corrected = _errors(y, base, first), _errors(y, said, first)
        found[name] = {
            "alone": alone.tolist(),
            "corrected": corrected.tolist(),
            "is_losing": bool((corrected > (1.0 + WORST) * alone).any()),
            "regret": float(model.regret_.mean()),
            "bound": float(model.regret_bound_.mean()),
            "nearest": float((model.regret_ / model.regret_bound_).max()),
            "milliseconds": 1e3 * (time.process_time() - clock) / len(y),
        }
    return found


def smoothed(y, horizon, season, n_fitted):
    """Return forecasts (n, H, m) of exponential smoothing with a damped slope and a season."""
    n, m = y.shape
    squares = np.zeros((_RATES.shape[1], m))
    for t, said in _smooth(y[: n_fitted - horizon], season, horizon, _RATES):
        squares += ((said - y[t : t + horizon]) ** 2).sum(axis=1)
    best = _RATES[:, squares.argmin(axis=0)]  # of each series
    forecasts = np.full((n, horizon, m), np.nan)
    for t, said in _smooth(y, season, horizon, best[:, None]):
        forecasts[t] = said[0]
    return forecasts


def _smooth(y, season, horizon, rates):
    """Yield each row after the first season and what members said before it (J, H, m).

    The rates are (4, J) or, a member of its own for each series, (4, 1, m).
    """
    level_rate, slope_rate, season_rate, damping = rates.reshape(4, rates.shape[1], -1)
    steps = np.arange(horizon)
    damped = np.cumsum(damping[:, None] ** (steps[:, None] + 1.0), axis=1)
    level = np.zeros((rates.shape[1], y.shape[1])) + y[:season].mean(axis=0)
    added = np.repeat((y[:season] - level[0])[:, None], len(level), axis=1)
    slope = np.zeros_like(level)
    for t in range(season, len(y)):
        path = added[(t + steps) % season].swapaxes(0, 1)
        yield t, level[:, None] + damped * slope[:, None] + path
        error = y[t] - level - damping * slope - added[t % season]
        level = level + damping * slope + level_rate * error
        slope = damping * slope + slope_rate * error
        added[t % season] += season_rate * error


def _ridge_from(times, y, horizon, first):
    """Return forecasts of the ridge of the job series, silent before a row."""
    forecasts = _ridge(times, y, horizon, min(first, len(y) // 2))
    forecasts[: min(first, len(y) // 2)] = np.nan
    return forecasts


def _errors(y, forecasts, first):
    """Return the mean squared errors (m,) over all steps, by series."""
    last = len(y) - forecasts.shape[1] + 1
    steps = [
        np.mean((forecasts[first:last, h] - y[first + h : last + h]) ** 2, axis=0)
        for h in range(forecasts.shape[1])
    ]
    return np.mean(steps, axis=0)


def _table(found):
    rows = []
    for name, result in found.items():
        alone, corrected = np.array(result["alone"]), np.array(result["corrected"])
        ratios = corrected / alone
        rows.append(
            [
                name,
                *(f"{figure:.4f}" for figure in (alone.mean(), corrected.mean())),
                *(f"{figure:.3f}" for figure in (corrected.mean() / alone.mean(), ratios.max())),
                f"{result['regret']:.0f}",
                f"{result['bound']:.0f}",
                f"{result['milliseconds']:.1f}",
            ]
        )
    header = ["base", "alone", "corrected", "ratio", "worst series", "regret", "bound", "ms a row"]
    return table(header, rows)
