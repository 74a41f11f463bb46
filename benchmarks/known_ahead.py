"""The forecaster where weather and kind of day are known ahead: errors, and where intervals hold.

Bicycles hired an hour, 24 hours ahead, from origins some hours apart. The rival is boosting on the
same columns and the values of 24 and 168 hours ago, fitted anew every week. Intervals are looked at
by group: a share within 3 points of the wanted one, or 2.5 standard errors (bootstrap of days).
"""

from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from sklearn_okl import OnlineForecaster
from sklearn_okl.evaluation import interval_score

from ._report import RESULTS, data_path, print_environment, print_saved, table

FILE, HORIZON, LAGS, WEEK = "arena_bike", 24, (24, 168), 168
COLUMNS = (
    "holiday",
    "weekday",
    "workingday",
    "hr",
    "weathersit",
    "temp",
    "atemp",
    "hum",
    "windspeed",
)
FIRST, APART, COVERAGE = 2000, 6, 0.9  # rows that are not scored; hours between two origins
DRAWS = 200  # of days, for standard errors


def run(output=RESULTS, *, n_rows=None, quick=False):
    """Forecast the file, print errors and shares held, and return the exit status."""
    where = print_environment()
    y, X = read()
    n = 320 if quick else n_rows or len(y)
    found = on_rows(y.iloc[:n], X.iloc[:n], 200 if quick else FIRST)
    rows = [[who, f"{error:.2f}"] for who, error in found["errors"].items()]
    print(f"\n{table(['root of mean squared errors', ''], rows)}")
    print(f"\ninterval score {found['interval score']:.1f}, held {found['held']:.3f}")
    print(f"\n{_groups_table(found['groups'])}")
    print_saved(Path(output) / "known_ahead.json", {"environment": where, **found})
    return 0


def read():
    """Return what was hired in every hour, NaN where none is told, and the columns; with dates."""
    import pandas as pd

    rows = pd.read_csv(data_path(FILE))
    day = ((rows.weekday.diff() != 0) | (rows.hr.diff() <= 0)).cumsum() - 1
    since = pd.to_timedelta(24 * day + rows.hr, unit="h")
    rows.index = pd.DatetimeIndex(pd.Timestamp("2011-01-01") + since)
    rows = rows.asfreq("h")
    return rows.target, rows[list(COLUMNS)]


def on_rows(y, X, first):
    """Return errors of forecasts from origins after the first rows, and shares held by group."""
    origins = np.arange(first, len(y) - HORIZON + 1, APART)
    said, ends = from_origins(OnlineForecaster(HORIZON), y, X, origins)
    with_trees, _ = from_origins(OnlineForecaster(HORIZON, trees=True), y, X, origins)
    rows = origins[:, None] + np.arange(HORIZON)
    came = y.to_numpy()[rows]
    known = ~np.isnan(came)
    rivals = {"OnlineForecaster": said, "with trees": with_trees}
    rivals["boosting"] = boosting(y, X, first)[rows]
    rivals["last day"] = y.ffill().shift(HORIZON).to_numpy()[rows]
    held = (ends[..., 0] <= came) & (came <= ends[..., 1])
    scores = interval_score(came[known], ends[known][:, None], [COVERAGE])
    labels = groups_of(y, X)
    return {
        "errors": {who: _root(of[known] - came[known]) for who, of in rivals.items()},
        "interval score": float(np.mean(scores)),
        "held": float(held[known].mean()),
        "groups": {
            name: by_group(label[rows[known]], held[known], rows[known] // 24)
            for name, label in labels.items()
        },
        "n_origins": len(origins),
    }


def from_origins(model, y, X, origins):
    """Return forecasts (n, H) from some origins, and the ends of their intervals (n, H, 2)."""
    model.fit(y[: origins[0]], X[: origins[0]])
    said, ends = [], []
    for t in origins:
        said.append(np.asarray(model.predict(X[t : t + HORIZON])))
        ends.append(model.predict_interval(X[t : t + HORIZON], coverage=[COVERAGE])[:, 0])
        model.partial_fit(y[t : t + APART], X[t : t + APART])
    return np.array(said), np.array(ends)


def boosting(y, X, first):
    """Return what boosting says of each row (n,), fitted to the rows before, anew every week."""
    seen = X.assign(**{f"lag {lag}": y.shift(lag) for lag in LAGS}).to_numpy()
    target, said = y.to_numpy(), np.full(len(y), np.nan)
    for t in range(first, len(y), WEEK):
        known = np.flatnonzero(~np.isnan(target[:t]))
        model = HistGradientBoostingRegressor(random_state=0).fit(seen[known], target[known])
        said[t : t + WEEK] = model.predict(seen[t : t + WEEK])
    return said


def groups_of(y, X):
    """Return labels (n,) of rows by hour, weekday, kind of day and quarter of temperature."""
    kind = np.where(X.holiday == 1, "holiday", np.where(X.workingday == 1, "workday", "weekend"))
    quarter = np.digitize(X.temp, np.nanquantile(X.temp, [0.25, 0.5, 0.75]))
    return {
        "hour": y.index.hour.to_numpy(),
        "weekday": y.index.day_of_week.to_numpy(),
        "kind of day": np.where(X.holiday.isna(), "unknown", kind),
        "temperature": np.where(X.temp.isna(), -1, quarter),
    }


def by_group(labels, held, days):
    """Return for each label the share held, and its standard error by a bootstrap of days."""
    found, rng = {}, np.random.default_rng(0)
    for label in np.unique(labels):
        here = labels == label
        _, day = np.unique(days[here], return_inverse=True)
        sums = np.array([np.bincount(day, held[here]), np.bincount(day)])
        draws = rng.integers(sums.shape[1], size=(DRAWS, sums.shape[1]))
        hits, n = sums[:, draws].sum(axis=-1)
        found[str(label)] = [float(held[here].mean()), float(np.std(hits / n)), int(here.sum())]
    return found


def _root(errors):
    return float(np.sqrt(np.mean(np.square(errors))))


def _groups_table(groups):
    """Shares held, those farthest beyond what they may be off first."""
    rows = []
    for name, of in groups.items():
        for label, (share, error, n) in of.items():
            beyond = abs(share - COVERAGE) - max(0.03, 2.5 * error)
            figures = f"{share:.3f}", f"{error:.3f}", f"{n}", f"{beyond:+.3f}"
            rows.append([f"{name} {label}", *figures])
    rows.sort(key=lambda row: -float(row[-1]))
    return table(["group", "held", "standard error", "forecasts", "beyond the bar"], rows)
