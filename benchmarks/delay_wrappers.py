"""The estimator without tuning within the forecasting tools of others, where they are installed.

They forecast several rows ahead by feeding forecasts back as inputs, so that the estimator must be
a function of its inputs: ``lags=0``. None of them lets a regressor learn on.
"""

import sys
import warnings
from importlib.util import find_spec

import numpy as np
from sklearn.linear_model import LinearRegression

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.datasets import make_ar4

from ._progress import progress
from ._report import table

BAR_OF_AIRLINE = 0.05
BARS_OF_MAPIE = {"stationary": (0.88, 0.93), "trend": (0.85, 1.0)}  # for 90 %
WINDOW, YEAR = 12, 12  # months
LAST = 36  # months held out of series of differences; of the series as it is, the last year
LEARNT = 500  # rows before MAPIE is asked
_STEP = 0.05  # gamma of adaptive conformal inference


def run(seeds, budget, n_rows):
    """Print what sktime, skforecast and MAPIE make of the estimator; return the numbers."""
    with warnings.catch_warnings(record=True, action="ignore"):  # sktime puts its own filter first
        errors = run_airline(seeds, budget) if find_spec("sktime") else {}
        shares = run_mapie(seeds, budget, n_rows) if find_spec("mapie") else {}
    absent = [name for name in ("sktime", "skforecast", "mapie") if not find_spec(name)]
    if absent:
        print(f"Left out {', '.join(absent)}: not installed.", file=sys.stderr)
    if errors:
        print("\n" + _airline_table(errors))
        print("Mean absolute percentage errors of the last months, forecast at once, as shares:")
        print(f"recursive reduction, window {WINDOW}; bar {BAR_OF_AIRLINE:g}.")
    if shares:
        print("\n" + _mapie_table(shares))
        print(f"MAPIE's adaptive conformal inference around lags=0, 90 %, {n_rows} rows one by one")
        print(f"after {LEARNT}: share held, percent (bar 88 to 93, with a trend at least 85), and")
        print("share of infinite intervals. Frozen: ten resamples, fitted once, as MAPIE does it.")
        print('Learning on: cv="prefit", and the estimator is handed each row when it has come.')
    return {"airline": errors, "mapie": shares}


def missed(wrapped):
    """Yield in words which bars were not reached."""
    for title, found in wrapped["airline"].items():
        error = np.mean(found["default"])
        if error > BAR_OF_AIRLINE:
            yield f"airline, {title}: {error:.3f}"
    for title, ways in wrapped["mapie"].items():
        low, high = BARS_OF_MAPIE[title]
        for way, runs in ways.items():
            held = np.mean([run["held"] for run in runs])
            if not low <= held <= high:
                yield f"MAPIE, {title}, {way}: held {100 * held:.1f} %"


# ---- airline passengers, by recursion ----


def run_airline(seeds, budget):
    """Return percentage errors, ``errors[title][label]`` a list."""
    from sktime.datasets import load_airline

    y = load_airline()
    errors = {}
    tools = [("sktime", with_sktime)]
    tools += [("skforecast", with_skforecast)] if find_spec("skforecast") else []
    ways = {
        f"{YEAR} months": (None, YEAR),
        f"differences, {LAST} months": (1, LAST),
        f"seasonal differences, {LAST} months": (YEAR, LAST),
    }
    with progress(len(tools) * len(ways) * len(seeds), "run") as advance:
        for tool, forecast in tools:
            for way, (lag, horizon) in ways.items():
                found = errors[f"{tool}, {way}"] = {"default": [], "least squares": []}
                for seed in seeds:
                    model = OnlineKernelRegressor(budget=budget, lags=0, random_state=seed)
                    found["default"].append(airline_error(forecast, model, y, lag, horizon))
                    advance(1, f"{tool}, {way}")
                linear = airline_error(forecast, LinearRegression(), y, lag, horizon)
                found["least squares"].append(linear)
    return errors


def airline_error(forecast, model, y, lag, horizon):
    """Return the mean absolute percentage error of the last months, differences taken or not."""
    train, test = y[:-horizon], y.to_numpy(dtype=float)[-horizon:]
    if lag is None:
        forecasts = forecast(model, train, horizon)
    else:
        path = train.tolist()
        for step in forecast(model, train.diff(lag).dropna(), horizon):
            path.append(path[-lag] + step)
        forecasts = np.array(path[-horizon:])
    return float(np.mean(np.abs(forecasts / test - 1.0)))


def with_sktime(model, y, horizon):
    """Return the forecasts (horizon,) of sktime's recursive reduction."""
    from sktime.forecasting.compose import make_reduction

    forecaster = make_reduction(model, window_length=WINDOW, strategy="recursive")
    return forecaster.fit(y).predict(fh=np.arange(1, horizon + 1)).to_numpy().ravel()


def with_skforecast(model, y, horizon):
    """Return the forecasts (horizon,) of skforecast's recursive reduction."""
    from skforecast.recursive import ForecasterRecursive

    forecaster = ForecasterRecursive(estimator=model, lags=WINDOW)
    forecaster.fit(y=y.reset_index(drop=True))
    return forecaster.predict(steps=horizon).to_numpy()


# ---- intervals of MAPIE ----


def run_mapie(seeds, budget, n_rows):
    """Return what intervals held, ``shares[title][way]`` a list of dicts."""
    shares = {title: {"frozen": [], "learning on": []} for title in BARS_OF_MAPIE}
    with progress(4 * len(seeds), "run") as advance:
        for seed in seeds:
            streams = {
                "stationary": make_ar4(LEARNT + n_rows, random_state=seed),
                "trend": with_trend(LEARNT + n_rows, seed),
            }
            for title, (X, y) in streams.items():
                for way, found in shares[title].items():
                    model = OnlineKernelRegressor(budget=budget, lags=0, random_state=seed)
                    found.append(adaptive(model, X, y, n_rows, way == "learning on", seed))
                    advance(1, f"MAPIE, {title}, {way}")
    return shares


def with_trend(n, seed):
    """Return a series with a trend, a season and AR(1) noise, its latest four values as inputs."""
    rng = np.random.RandomState(seed)
    noise, y, t = rng.standard_normal(n + 4), np.zeros(n + 4), np.arange(n + 4)
    for i in range(1, n + 4):
        y[i] = 0.5 * y[i - 1] + noise[i]
    y += 0.02 * t + 3.0 * np.sin(2.0 * np.pi * t / 24.0)
    return np.lib.stride_tricks.sliding_window_view(y[:-1], 4).copy(), y[4:]


def adaptive(model, X, y, n_rows, learning_on, seed):
    """Return the share that the intervals of the last rows hold, and that of infinite ones."""
    from mapie.regression import TimeSeriesRegressor
    from mapie.subsample import BlockBootstrap

    start = len(y) - n_rows
    if learning_on:  # the second half is for the scores
        half = start // 2
        model.fit(X[:half], y[:half])
        mapie = TimeSeriesRegressor(model, method="aci", cv="prefit")
        mapie.fit(X[half:start], y[half:start])
        model.partial_fit(X[half:start], y[half:start])
    else:
        blocks = BlockBootstrap(n_resamplings=10, n_blocks=10, random_state=seed)
        mapie = TimeSeriesRegressor(model, method="aci", cv=blocks, agg_function="mean")
        mapie.fit(X[:start], y[:start])
    intervals = []
    for t in range(start, len(y)):
        row, target = X[t : t + 1], y[t : t + 1]
        _, bounds = mapie.predict(
            row, confidence_level=0.9, ensemble=True, allow_infinite_bounds=True
        )
        intervals.append(bounds[0, :, 0])
        mapie.adapt_conformal_inference(
            row, target, gamma=_STEP, confidence_level=0.9, ensemble=True
        )
        mapie.update(row, target, ensemble=True)
        if learning_on:
            model.partial_fit(row, target)
    low, high = np.transpose(intervals)
    held = (low <= y[start:]) & (y[start:] <= high)
    return {"held": float(held.mean()), "infinite": float(np.isinf(high - low).mean())}


def _airline_table(errors):
    rows = [
        [title, *(f"{value:.3f}" for value in _three(found))] for title, found in errors.items()
    ]
    return table(["airline", "default", "worst", "least squares"], rows)


def _three(found):
    return np.mean(found["default"]), max(found["default"]), found["least squares"][0]


def _mapie_table(shares):
    rows = []
    for title, ways in shares.items():
        for way, runs in ways.items():
            held, infinite = ([run[name] for run in runs] for name in ("held", "infinite"))
            cells = (np.mean(held), min(held), max(held), np.mean(infinite))
            rows.append([title, way, *(f"{100 * cell:.1f}" for cell in cells)])
    return table(["MAPIE", "way", "held", "least", "most", "infinite"], rows)
