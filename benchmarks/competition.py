"""The forecaster on the 3003 short series of the M3 competition, beside its published entries.

The series of a frequency stand in one panel, aligned at their ends, which is learnt once; the
forecaster is told the season, as all entries knew it. With `alone` each series has a forecaster of
its own. Scores are those of the competition, on its test parts: sMAPE in percent (S. Makridakis,
M. Hibon, "The M3-Competition: results, conclusions and implications", International Journal of
Forecasting 16, 2000), and MASE. Also how often intervals of 90 % hold, and how many are the whole
line.
"""

import csv
import gzip
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from sklearn_okl import OnlineForecaster

from ._progress import progress
from ._report import RESULTS, data_path, print_environment, print_saved, table

FILE, COVERAGE = "series_m3", 0.9
SEASONS = {"YEARLY": 1, "QUARTERLY": 4, "MONTHLY": 12, "OTHER": 1}
PUBLISHED = {  # sMAPE and MASE of all series, from R. J. Hyndman's page of the package Mcomp
    "Theta": (13.01, 1.39),
    "ForecastPro": (13.19, 1.47),
    "ForecastX": (13.49, 1.42),
    "B-J automatic": (14.01, 1.54),
}
MOST = 13.0, 1.45  # beyond which the exit status is 1


def run(output=RESULTS, *, n_streams=None, alone=False, quick=False):
    """Forecast the series, print scores by frequency, and return the exit status."""
    where, found = print_environment(), {}
    n_streams = 8 if quick else n_streams
    for period, series in read().items():
        used = series[:n_streams]
        found[period] = (_singly if alone else _in_a_panel)(period, used)
    rows = [[period, *_cells(np.array(scores))] for period, scores in found.items()]
    scores = np.concatenate([np.array(scores) for scores in found.values()])
    rows.append(["all", *_cells(scores)])
    rows += [
        [who, "", *(f"{score:.2f}" for score in own), "", ""] for who, own in PUBLISHED.items()
    ]
    header = ["", "series", "sMAPE", "MASE", f"{COVERAGE:.0%} hold", "infinite"]
    print(f"\n{table(header, rows)}")
    print_saved(Path(output) / "competition.json", {"environment": where, "scores": found})
    is_whole = n_streams is None and not alone
    return int(is_whole and bool((scores[:, :2].mean(axis=0) > MOST).any()))


def read():
    """Return the series of each frequency, as pairs of the past and what came."""
    with gzip.open(data_path(FILE), "rt", encoding="utf-8", newline="") as lines:
        _, *rows = csv.reader(lines)
    series = {}
    for name, period, split, value in rows:
        series.setdefault((period, name), {"train": [], "test": []})[split].append(float(value))
    found = {period: [] for period in SEASONS}
    for (period, _), parts in series.items():
        found[period].append((np.array(parts["train"]), np.array(parts["test"])))
    return found


def _forecasts(period, y, horizon):
    season = SEASONS[period]
    model = OnlineForecaster(horizon, season_lengths=(season,) if season > 1 else None).fit(y)
    intervals = model.predict_interval(coverage=[COVERAGE])
    return model.predict().reshape(horizon, -1), intervals.reshape(horizon, -1, 2)


def _in_a_panel(period, series):
    longest, horizon = max(len(past) for past, _ in series), len(series[0][1])
    y = np.full((longest, len(series)), np.nan)
    for column, (past, _) in zip(y.T, series, strict=True):
        column[longest - len(past) :] = past
    said, ends = _forecasts(period, y, horizon)
    return [_scores(period, *pair, said[:, k], ends[:, k]) for k, pair in enumerate(series)]


def _singly(period, series):
    jobs = (delayed(_forecasts)(period, past, len(came)) for past, came in series)
    found, said = [], Parallel(n_jobs=-1, return_as="generator")(jobs)
    with progress(len(series), "series") as advance:
        for pair, (mean, ends) in zip(series, said, strict=True):
            found.append(_scores(period, *pair, mean[:, 0], ends[:, 0]))
            advance(1, period.lower())
    return found


def _scores(period, past, came, said, ends):
    """Return sMAPE in percent, MASE, which share intervals held, and of how many an end is none."""
    season, errors = SEASONS[period], np.abs(came - said)
    smape = 200.0 * np.mean(errors / (np.abs(came) + np.abs(said)))
    mase = errors.mean() / np.mean(np.abs(past[season:] - past[:-season]))
    is_held, is_none = (ends[:, 0] <= came) & (came <= ends[:, 1]), np.isinf(ends[:, 1])
    return smape, mase, np.mean(is_held), np.mean(is_none)


def _cells(scores):
    smape, mase, held, none = scores.mean(axis=0)
    return f"{len(scores)}", f"{smape:.2f}", f"{mase:.3f}", f"{held:.3f}", f"{none:.3f}"
