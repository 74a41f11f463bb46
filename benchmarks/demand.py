"""The forecaster of series beside what people use: demand, calls, prices, sales, visits.

Forecasts of a horizon are made from origins half a horizon apart in the last part of each file, and
what is scored is the squared error over the variance of each series. The forecaster learns row by
row; rivals are fitted anew: a ridge and statsforecast's models, where that is installed, at each
origin, boosting whenever the past has grown by a twentieth.
"""

import csv
import gzip
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from sklearn_okl import OnlineForecaster

from ._progress import progress
from ._report import RESULTS, data_path, print_environment, print_saved, streams_at_hand, table

try:
    from statsforecast import models as statsforecast
except ImportError:
    statsforecast = None

OURS = "OnlineForecaster"
SCORED, SCORED_OF_FEW, FEW = 0.6, 0.7, 150  # share of the rows before the first origin
GROWTH = 1.05  # of the past, after which boosting is fitted anew
MOST_LAGS = 48  # of boosting, beside those at the seasons
LATEST = 2500  # rows that statsforecast's models are fitted to


class Stream(NamedTuple):
    """How a file is run.

    Attributes
    ----------
    n_rows : int
        First rows that are used.
    horizon : int
    seasons : tuple of int
        Lengths that rivals are told, in rows.
    columns : tuple of int
        Columns of the file that are series; empty for all that have no gaps.
    apart : int
        Every how manieth of them is used.
    ahead : tuple of int
        Columns known ahead.
    pooled : bool
    is_long : bool
        Whether the series stand below each other: a name, a time, a value.
    """

    n_rows: int
    horizon: int
    seasons: tuple
    columns: tuple = ()
    apart: int = 1
    ahead: tuple = ()
    pooled: bool = False
    is_long: bool = False


STREAMS = {
    "series_taylor": Stream(4032, 48, (48, 336)),
    "series_m4_hourly": Stream(700, 48, (24, 168), is_long=True),
    "series_gasoline": Stream(1355, 13, (52,)),
    "series_aus_retail": Stream(441, 12, (12,), apart=4, pooled=True),
    "series_tourism": Stream(80, 4, (4,), apart=4, pooled=True),
    "series_pedestrian": Stream(5000, 24, (24, 168), columns=(3, 4)),
    "series_bank_calls": Stream(6000, 48, (169,)),
    "series_epf_fr": Stream(7000, 24, (24, 168), columns=(4,), ahead=(1, 2)),
    "series_sunspot": Stream(2820, 12, (128,)),
    "series_walmart": Stream(143, 8, (52,), columns=tuple(range(6, 13)), ahead=(1, 2, 3, 4, 5)),
}


def run(output=RESULTS, *, data=tuple(STREAMS), only="", n_rows=None, quick=False):
    """Forecast the files, print a table with the lost ones first, and return the exit status."""
    where, found = print_environment(), {}
    n_rows = 200 if quick else n_rows
    for name, (y, X) in streams_at_hand(data, read).items():
        found[name] = on_stream(STREAMS[name], y[:n_rows], X[:n_rows], only)
        scores = (f"{who} {score:.4f}" for who, score in found[name]["errors"].items())
        took = found[name]["milliseconds"]
        print(f"{name}: {', '.join(scores)}; {took:.2f} ms a row", flush=True)
    if found and OURS in next(iter(found.values()))["errors"]:
        print(f"\n{_ratios_table(found)}")
    print_saved(Path(output) / "demand.json", {"environment": where, "streams": found})
    return 0 if found else 1


def read(name):
    """Return the series (n, m) of a file, and the columns known ahead (n, d)."""
    if name not in STREAMS:
        raise ValueError(f"How it is run is not known; of these it is: {', '.join(STREAMS)}.")
    stream = STREAMS[name]
    with gzip.open(data_path(name), "rt", encoding="utf-8", newline="") as lines:
        header, *cells = csv.reader(lines)
    cells = np.array(cells)
    if stream.is_long:
        names = dict.fromkeys(cells[:, 0])
        parts = [cells[cells[:, 0] == series, 2][: stream.n_rows] for series in names]
        return np.array(parts).astype(float).T, np.empty((stream.n_rows, 0))
    cells = cells[: stream.n_rows]
    columns = stream.columns or range(1, len(header))
    is_whole = [k for k in columns if (cells[:, k] != "").all()]
    used = cells[:, (stream.columns or is_whole)][:, :: stream.apart]
    used = np.where(used == "", "nan", used)
    return used.astype(float), cells[:, stream.ahead].astype(float)


def on_stream(stream, y, X, only=""):
    """Return squared errors over the variance of each who forecasts, and our milliseconds a row."""
    n, errors, taken = len(y), {}, np.nan
    first = int((SCORED_OF_FEW if n <= FEW else SCORED) * n)
    origins = range(first, n - stream.horizon + 1, max(stream.horizon // 2, 1))
    scored = np.array([y[t : t + stream.horizon] for t in origins])
    variance = np.nanvar(y, axis=0)
    for name, forecast in _forecasters().items():
        if only in name:
            started = time.process_time()
            said = forecast(stream, y, X, origins)
            taken = 1e3 * (time.process_time() - started) / n if name == OURS else taken
            errors[name] = float(np.nanmean(np.square(said - scored) / variance))
    return {"errors": errors, "milliseconds": taken, "n_origins": len(origins)}


def _forecasters():
    """Return all who forecast: functions of a stream, y (n, m), X (n, d) and origins."""
    found = {
        OURS: _ours,
        "last season": _last_season,
        "long season": _long_season,
        "window ridge": _window_ridge,
        "boosting": _boosting,
    }
    if statsforecast is not None:
        for name in ("AutoETS", "AutoTheta", "MSTL"):
            found[name] = _Refitted(name)
    return found


def _ours(stream, y, X, origins):
    model = OnlineForecaster(stream.horizon, pooled=stream.pooled)
    return model.prequential_predict(y, X if X.size else None)[list(origins)]


def _last_season(stream, y, X, origins, which=0):
    season, steps = stream.seasons[which], np.arange(stream.horizon)
    filled = _filled(y)
    back = np.maximum(np.array(origins)[:, None] - season + steps % season, 0)
    return filled[back]


def _long_season(stream, y, X, origins):
    return _last_season(stream, y, X, origins, which=-1)


def _filled(y):
    """Return series (n, m) with gaps filled by the value before."""
    row = np.maximum.accumulate(np.where(np.isnan(y), 0, np.arange(len(y))[:, None]))
    return np.nan_to_num(np.take_along_axis(y, row, axis=0))


def _window_ridge(stream, y, X, origins, alpha=1.0):
    """A direct ridge for all steps and series on two of the longest seasons, at each origin."""
    n_lags = min(2 * stream.seasons[-1], origins[0] // 2)
    filled, horizon, said = _filled(y), stream.horizon, []
    scale = filled[: origins[0]].std(axis=0)
    y = filled / np.where(scale > 0.0, scale, 1.0)
    A, b, known = alpha * np.eye(n_lags + 1), 0.0, n_lags
    for t in origins:
        new = np.arange(known, t - horizon + 1)  # origins whose targets are known
        if len(new):
            Z, targets = _windows(y, new, n_lags), y[new[:, None] + np.arange(horizon)]
            targets = (targets - y[new - 1][:, None]).swapaxes(1, 2).reshape(-1, horizon)
            A, b, known = A + Z.T @ Z, b + Z.T @ targets, t - horizon + 1
        now = _windows(y, np.array([t]), n_lags) @ np.linalg.solve(A, b)
        said.append(scale * (y[t - 1] + now.T))
    return np.array(said)


def _windows(y, rows, n_lags):
    """Return the n_lags values before rows, less the last of them, of all series below another."""
    lags = y[rows[:, None] - np.arange(1, n_lags + 1)].swapaxes(1, 2)
    lags = np.concatenate([lags - lags[..., :1], np.ones((*lags.shape[:2], 1))], axis=-1)
    lags[..., 0] = lags[..., -1]
    return lags.reshape(-1, n_lags + 1)


def _boosting(stream, y, X, origins):
    """Boosting of the change from the last value on lags and columns, step by step."""
    filled, said, model, fitted = _filled(y), [], None, 0
    scale = np.maximum(filled[: origins[0]].std(axis=0), 1e-9)
    y = filled / scale
    lags = {*range(1, min(2 * stream.seasons[0], MOST_LAGS) + 1)}
    lags |= {k * season + d for season in stream.seasons for k in (1, 2) for d in (-1, 0, 1)}
    lags = np.array(sorted(k for k in lags if 0 < k < origins[0] // 2))
    for t in origins:
        if model is None or t > GROWTH * fitted:
            rows = np.arange(lags[-1], t)
            target = (y[rows] - y[rows - 1]).ravel()
            model = HistGradientBoostingRegressor(random_state=0)
            model.fit(_lagged(y, X, rows, lags), target)
            fitted = t
        path = np.concatenate([y[:t], np.zeros((stream.horizon, y.shape[1]))])
        for row in range(t, t + stream.horizon):
            step = model.predict(_lagged(path, X, np.array([row]), lags))
            path[row] = path[row - 1] + step
        said.append(scale * path[t:])
    return np.array(said)


def _lagged(y, X, rows, lags):
    """Return lags of rows less the last one, of all series below another, and columns."""
    seen = (y[rows[:, None] - lags] - y[rows - 1][:, None]).swapaxes(1, 2)  # (rows, m, lags)
    level = y[rows - 1][..., None]
    columns = np.broadcast_to(X[rows][:, None], (*seen.shape[:2], X.shape[1]))
    return np.concatenate([seen, level, columns], axis=-1).reshape(-1, len(lags) + 1 + X.shape[1])


class _Refitted:
    """A model of statsforecast, fitted to the latest rows of each series at each origin."""

    def __init__(self, name):
        self.name = name

    def __call__(self, stream, y, X, origins):
        filled, said = _filled(y), np.zeros((len(origins), stream.horizon, y.shape[1]))
        with progress(len(origins), "origin") as advance:
            for k, t in enumerate(origins):
                for c in range(y.shape[1]):
                    past = filled[max(t - LATEST, 0) : t, c]
                    said[k, :, c] = self._model(stream).forecast(past, stream.horizon)["mean"]
                advance(1, self.name)
        return said

    def _model(self, stream):
        if self.name == "MSTL":
            trend = statsforecast.AutoETS(model="ZZN")
            return statsforecast.MSTL(list(stream.seasons), trend_forecaster=trend)
        return getattr(statsforecast, self.name)(season_length=stream.seasons[0])


def _ratios_table(found):
    """Our squared error over each rival's, the lost files first; geometric means last."""
    rivals = [name for name in next(iter(found.values()))["errors"] if name != OURS]
    ratios = {
        name: [of["errors"][OURS] / of["errors"][rival] for rival in rivals]
        for name, of in found.items()
    }
    rows = []
    for name in sorted(ratios, key=lambda name: -max(ratios[name], default=0.0)):
        figures = [*ratios[name], max(ratios[name], default=np.nan)]
        error = f"{found[name]['errors'][OURS]:.4f}"
        rows.append([name, error, *(f"{ratio:.3f}" for ratio in figures)])
    means = np.exp(np.mean([np.log([*own, max(own, default=1.0)]) for own in ratios.values()], 0))
    rows.append(["geometric mean", "", *(f"{mean:.3f}" for mean in means)])
    return table(["squared error over that of", "ours", *rivals, "the best"], rows)
