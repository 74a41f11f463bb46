"""The forecaster of series, without leakage: several steps ahead, with intervals, a day ahead.

A model may learn a target only when it is known, and learning goes on through the rows that are
scored. AutoETS and AutoTheta of statsforecast, where it is installed, are fitted anew to the latest
rows of each series at some origins, and all are compared at these.
"""

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import RidgeCV

from sklearn_okl import CalendarFeatures, OnlineForecaster
from sklearn_okl.datasets import make_day_ahead
from sklearn_okl.evaluation import (
    crps_from_quantiles,
    interval_score,
    quantiles_from_intervals,
)

from ._progress import progress
from ._report import RESULTS, data_path, print_environment, print_saved, table

try:
    from statsforecast import models as statsforecast
except ImportError:
    statsforecast = None

DAY, WEEK = 24, 168
HORIZONS = (1, 24, 48)  # an error is the mean over all steps up to one of these
SCALED, SCORED = 0.6, 0.7  # shares of the rows: whose moments scale, after which errors count
COVERAGES = (0.8, 0.9, 0.95)
FAN = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # whose ends the CRPS is taken from
STRETCH = 500  # origins in a row that intervals are to hold in as well
CORRELATIONS = (0.0, 0.5, 0.9, 0.95)
DAYS, WARM_UP = 150, 30  # of the made series; the first ones are not scored
FITTED, APART = 28 * DAY, WEEK + 5  # rows that statsforecast is fitted to, and between its origins
# mean squared errors, horizons 1, 24 and 48: arXiv 2509.03810, Table 3 (TimeFilter)
PUBLISHED = {
    "ett_h1": {"ADAPT-Z": (0.1107, 0.2942, 0.3431), "Proceed": (0.1199, 0.3118, 0.3506)},
}


def run(output=RESULTS, *, data=("ett_h1",), n_seeds=10, n_rows=None, quick=False):
    """Forecast real series and made ones, print tables, and return the exit status."""
    where, found = print_environment(), {"series": {}}
    for name in data:
        try:
            times, y = read_series(name)
        except FileNotFoundError as error:
            print(f"Left out {name}. {error}", file=sys.stderr)
            continue
        n_rows = 500 if quick else n_rows
        result = on_series(times[:n_rows], y[:n_rows], PUBLISHED.get(name, {}))
        found["series"][name] = result
        print(f"\n{name}\n{_errors_table(result['errors'])}")
        if result["refitted"]:
            print(f"\n{_errors_table(result['refitted'])}")
        else:
            print("\nLeft out AutoETS and AutoTheta: statsforecast is not installed.")
        print(f"\n{_intervals_table(result['intervals'])}")
        print(f"\n{_scores_table(result['intervals'], result['crps'])}")
        print(f"\n{_milliseconds_line(result['milliseconds'])}")
    seeds, days = (1, WARM_UP + 2) if quick else (n_seeds, DAYS)
    found["day ahead"] = {
        f"correlation {c:g}": day_ahead(c, range(seeds), days) for c in CORRELATIONS
    }
    print(f"\n{_days_table(found['day ahead'])}")
    print_saved(Path(output) / "series.json", {"environment": where, **found})
    return 0


def read_series(name):
    """Return the times and rows of a file NAME.csv.gz: a column of dates, and the series."""
    table_ = np.genfromtxt(data_path(name), delimiter=",", dtype=str, skip_header=1)
    return table_[:, 0].astype("datetime64[s]"), table_[:, 1:].astype(float)


def on_series(times, y, published):
    """Return errors, intervals and times of forecasts of the last rows of series."""
    n_scaled = int(len(y) * SCALED)
    y = (y - y[:n_scaled].mean(axis=0)) / y[:n_scaled].std(axis=0)
    horizon, first = max(HORIZONS), int(len(y) * SCORED)
    forecasts, reaches, seconds = _with_intervals(y, horizon)
    rivals = {
        "OnlineForecaster": forecasts,
        "the latest row": _seasonal(y, horizon, 1),
        "the latest day": _seasonal(y, horizon, DAY),
        "the latest week": _seasonal(y, horizon, WEEK),
        "ridge refitted daily": _ridge(times, y, horizon, first),
    }
    errors = {name: _errors(y, said, first) for name, said in rivals.items()}
    return {
        "errors": errors | {f"{name} (published)": list(said) for name, said in published.items()},
        "refitted": _refitted(y, forecasts, first),
        **_intervals(y, forecasts, reaches, first),
        "milliseconds": _milliseconds(seconds),
    }


def _with_intervals(y, horizon):
    """Return forecasts (n, H, m), half widths (n, steps, m, fan) and seconds (n, 2) of each row.

    The seconds are those of forecasting and learning, and of the intervals.
    """
    model, steps = OnlineForecaster(horizon), [h - 1 for h in HORIZONS]
    forecasts = np.full((len(y), horizon, y.shape[1]), np.nan)
    reaches = np.full((len(y), len(steps), y.shape[1], len(FAN)), np.inf)
    seconds = np.zeros((len(y), 2))
    with progress(len(y), "row") as advance:
        for t in range(len(y)):
            clock = [time.process_time()]
            if t:
                forecasts[t] = model.predict()
                clock.append(time.process_time())
                ends = model.predict_interval(coverage=FAN)[steps]
                clock.append(time.process_time())
                reaches[t] = (ends[..., 1] - ends[..., 0]) / 2.0
                seconds[t] = np.diff(clock)
            started = time.process_time()
            model.partial_fit(y[t : t + 1])
            seconds[t, 0] += time.process_time() - started
            advance(1)
    return forecasts, reaches, seconds


def _milliseconds(seconds):
    """Return what a row took on average, and in the fastest thousand rows in a row."""
    rows = {"row": seconds[:, 0], "row and intervals": seconds.sum(axis=1)}
    found = {}
    for name, taken in rows.items():
        n = min(1000, len(taken))
        sums = np.cumsum(np.r_[0.0, taken])
        found |= {name: 1e3 * float(taken.mean())}
        found |= {f"fastest {name}": 1e3 * float((sums[n:] - sums[:-n]).min()) / n}
    return found


def _seasonal(y, horizon, season):
    """Return forecasts that repeat the latest season."""
    rows = np.arange(len(y))[:, None] + np.arange(horizon)
    back = season * (1 + np.arange(horizon) // season)
    return y[np.maximum(rows - back, 0)]


def _ridge(times, y, horizon, first, n_lags=48):
    """Return forecasts of a ridge on the lags of all series and the clock, refitted every day."""
    n, m = y.shape
    clock = CalendarFeatures(("hour_of_day", "day_of_week")).transform(times[:, None])
    lags = [np.roll(y, k, axis=0) for k in range(1, n_lags + 1)]
    Z = np.hstack([*lags, clock, np.ones((n, 1))])
    Z[:n_lags] = 0.0
    targets = np.stack([np.roll(y, -h, axis=0) for h in range(horizon)], axis=1).reshape(n, -1)
    A, b, known = np.eye(Z.shape[1]), 0.0, n_lags
    forecasts = np.zeros((n, horizon, m))
    for low in range(first, n, DAY):
        new = slice(known, low - horizon + 1)  # origins all of whose targets are known
        A, b, known = A + Z[new].T @ Z[new], b + Z[new].T @ targets[new], low - horizon + 1
        day = slice(low, low + DAY)
        forecasts[day] = (Z[day] @ np.linalg.solve(A, b)).reshape(-1, horizon, m)
    return forecasts


def _errors(y, forecasts, first):
    """Return the mean squared errors up to each horizon, over all steps and series."""
    last = len(y) - forecasts.shape[1] + 1
    steps = [
        np.mean((forecasts[first:last, h] - y[first + h : last + h]) ** 2)
        for h in range(forecasts.shape[1])
    ]
    return [float(np.mean(steps[:h])) for h in HORIZONS]


def _refitted(y, forecasts, first):
    """Return errors of statsforecast's models and ours at some origins; none without it."""
    if statsforecast is None:
        return {}
    horizon = forecasts.shape[1]
    origins = range(max(first, FITTED), len(y) - horizon + 1, APART)
    scored = np.array([y[t : t + horizon] for t in origins])
    said = {"OnlineForecaster": forecasts[list(origins)]}
    with progress(2 * len(origins), "origin") as advance:
        for name in ("AutoETS", "AutoTheta"):
            said[name] = np.zeros_like(scored)
            for k, t in enumerate(origins):
                for c in range(y.shape[1]):
                    model = getattr(statsforecast, name)(season_length=DAY)
                    said[name][k, :, c] = model.forecast(y[t - FITTED : t, c], horizon)["mean"]
                advance(1)
    errors = {name: ((f - scored) ** 2).mean(axis=(0, 2)) for name, f in said.items()}
    return {
        f"{name}, {len(origins)} origins": [float(by_step[:h].mean()) for h in HORIZONS]
        for name, by_step in errors.items()
    }


def _intervals(y, forecasts, reaches, first):
    """Return, for each step and coverage, how often intervals held, how wide they were, and scores.

    Beside them stand those of split conformal intervals, whose quantiles are taken anew every day.
    """
    found, crps = {}, {}
    for k, h in enumerate(HORIZONS):
        sizes = np.abs(forecasts[: len(y) - h + 1, h - 1] - y[h - 1 :])
        radii = {"": reaches[first : len(sizes), k], "split_": _split_conformal(sizes, h, first)}
        middle = forecasts[first : len(sizes), h - 1][..., None, None]
        fans = {who: middle + np.stack([-radius, radius], axis=-1) for who, radius in radii.items()}
        came = y[first + h - 1 :]
        for who, fan in fans.items():
            even = [j for j, c in enumerate(FAN) if c < 0.92]
            quantiles, levels = quantiles_from_intervals(fan[:, :, even], np.array(FAN)[even])
            quantiles = np.insert(quantiles, len(even), middle[..., 0, 0], axis=-1)
            levels = np.insert(levels, len(even), 0.5)
            crps[f"{who}step {h}"] = crps_from_quantiles(came, quantiles, levels)
        for c in COVERAGES:
            j, row = FAN.index(c), {}
            for who, radius in radii.items():
                score = interval_score(came, fans[who][:, :, [j]], c)[0]
                row |= {
                    f"{who}held": float((sizes[first:] <= radius[..., j]).mean()),
                    f"{who}width": float(2.0 * radius[..., j].mean()),
                    f"{who}score": float(score),
                }
            held = (sizes[first:] <= radii[""][..., j]).mean(axis=1)
            sums = np.cumsum(np.r_[0.0, held])
            shares = (sums[STRETCH:] - sums[:-STRETCH]) / STRETCH
            if not len(shares):
                shares = held.mean(keepdims=True)
            row |= {"least": float(shares.min()), "most": float(shares.max())}
            found[f"step {h}, {c:g}"] = row
    return {"intervals": found, "crps": crps}


def _split_conformal(sizes, h, first):
    """Return half widths (rows, m, fan): quantiles of all errors known, taken every day."""
    reach = np.empty((len(sizes) - first, sizes.shape[1], len(FAN)))
    for low in range(first, len(sizes), DAY):
        known = sizes[DAY : low - h + 1]
        shares = np.minimum(np.ceil((len(known) + 1) * np.array(FAN)) / len(known), 1.0)
        quantiles = np.quantile(known, shares, axis=0, method="higher")
        reach[low - first : low - first + DAY] = quantiles.T
    return reach


def day_ahead(correlation, seeds, days):
    """Return errors, a day ahead at midnight, beside a ridge refitted daily; and what held."""
    runs, held = [], []
    for seed in seeds:
        X, y = make_day_ahead(DAY * days, correlation=correlation, random_state=seed)
        model, said, rival = OnlineForecaster(DAY), [], []
        for day in range(days):
            rows = slice(day * DAY, (day + 1) * DAY)
            if day >= WARM_UP:
                said.append(model.predict(X[rows]))
                rival.append(_ridge_a_day(X, y, rows))
                ends = model.predict_interval(X[rows], coverage=0.9)[:, 0]
                held.append((ends[:, 0] <= y[rows]) & (y[rows] <= ends[:, 1]))
            model.partial_fit(y[rows], X[rows])
        scored = y.reshape(-1, DAY)[WARM_UP:]
        ours, theirs = (float(np.sqrt(np.mean((f - scored) ** 2))) for f in (said, rival))
        runs.append({"ours": ours, "ridge": theirs, "ratio": ours / theirs})
    return {"runs": runs, "days": days - WARM_UP, "held": np.mean(held, axis=0).tolist()}


def _ridge_a_day(X, y, rows):
    """Return forecasts of the formula with lags of a day and a week, fitted to all before."""

    def seen(t):
        return np.column_stack([X[t], y[t - DAY], y[t - WEEK]])

    past, now = np.arange(WEEK, rows.start), np.arange(rows.start, rows.stop)
    mean, scale = seen(past).mean(axis=0), seen(past).std(axis=0)
    model = RidgeCV(np.logspace(-3, 3, 13)).fit((seen(past) - mean) / scale, y[past])
    return model.predict((seen(now) - mean) / scale)


def _errors_table(errors):
    rows = [[name, *(f"{error:.4f}" for error in found)] for name, found in errors.items()]
    return table(["mean squared error", *(f"1 to {h}" for h in HORIZONS)], rows)


def _intervals_table(intervals):
    columns = ("held", f"in {STRETCH}", "", "width", "split: held", "width")
    rows = [
        [
            name,
            *(f"{100 * found[key]:.1f}" for key in ("held", "least", "most")),
            f"{found['width']:.3f}",
            f"{100 * found['split_held']:.1f}",
            f"{found['split_width']:.3f}",
        ]
        for name, found in intervals.items()
    ]
    return table(["intervals", *columns], rows)


def _scores_table(intervals, crps):
    """Interval scores of each coverage and the CRPS, of ours and of split conformal intervals."""
    rows = []
    for h in HORIZONS:
        for who, title in (("", "ours"), ("split_", "split conformal")):
            scores = (intervals[f"step {h}, {c:g}"][f"{who}score"] for c in COVERAGES)
            figures = [*scores, crps[f"{who}step {h}"]]
            rows.append([f"step {h}, {title}", *(f"{figure:.4f}" for figure in figures)])
    return table(["interval score", *(f"{c:g}" for c in COVERAGES), "CRPS"], rows)


def _milliseconds_line(found):
    return (
        f"OnlineForecaster: {found['row']:.2f} ms a row of processor time to forecast and learn, "
        f"{found['row and intervals']:.2f} with intervals; in the fastest 1000 rows "
        f"{found['fastest row']:.2f} and {found['fastest row and intervals']:.2f}"
    )


def _days_table(days):
    rows = []
    for title, found in days.items():
        means = {key: np.mean([run[key] for run in found["runs"]]) for key in found["runs"][0]}
        worst = max(run["ratio"] for run in found["runs"])
        ratios = (
            f"{ratio:.3f}" for ratio in (means["ours"], means["ridge"], means["ratio"], worst)
        )
        held = [f"{100 * share(found['held']):.1f}" for share in (min, max)]
        n = len(found["runs"]) * found["days"]
        held.append(f"{100 * np.sqrt(0.9 * 0.1 / n):.1f}")
        rows.append([title, *ratios, *held])
    header = ["day ahead", "ours", "ridge", "ratio", "worst", "least held", "most", "chance"]
    return table(header, rows)
