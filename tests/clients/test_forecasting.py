"""sktime, skforecast and MAPIE around our estimators, against loops by hand."""

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import VotingRegressor
from sklearn.linear_model import LogisticRegression

from sklearn_okl import OnlineKernelRegressor
from tests.clients.examples import (
    classification,
    classifier,
    learnt,
    pipeline,
    regression,
    regressors,
)
from tests.clients.expect import client, each, holds, near, same

sktime = client("sktime", "sktime")
skforecast = client("skforecast", "skforecast")
mapie = client("mapie", "mapie.regression")
WINDOW, HORIZON = 6, 8
COVERAGE = 0.9


# ---- recursive forecasts ----


def _series(n=120):
    t, noise = np.arange(n), np.random.default_rng(0).normal(size=n)
    return np.sin(t / 5.0) + 0.05 * noise


def _recursive(model, y, newest_first):
    """Return forecasts of a model of the latest values, each fed back as an input."""
    windows = np.lib.stride_tricks.sliding_window_view(y[:-1], WINDOW)
    order = slice(None, None, -1 if newest_first else 1)
    learned, path = learnt(model, windows[:, order].copy(), y[WINDOW:]), y.tolist()
    for _ in range(HORIZON):
        path.append(learned.predict([path[-WINDOW:][order]])[0])
    return path[-HORIZON:]


def _series_regressors():
    return {name: model for name, model in regressors().items() if name != "VAW2Regressor"}


@sktime("make_reduction, recursive: a loop by hand")
def test_reduction():
    import pandas as pd
    from sktime.forecasting.compose import make_reduction

    def check(model):
        y = _series()
        forecaster = make_reduction(clone(model), window_length=WINDOW, strategy="recursive")
        forecasts = forecaster.fit(pd.Series(y)).predict(fh=np.arange(1, HORIZON + 1))
        near(forecasts.to_numpy().ravel(), _recursive(model, y, False), rtol=1e-5)

    each(_series_regressors(), check)


@sktime("make_reduction, direct: a model a horizon by hand")
def test_direct_reduction():
    import pandas as pd
    from sktime.forecasting.compose import make_reduction

    def check(model):
        y, steps = _series(), [1, 2, 3]
        forecaster = make_reduction(
            clone(model), window_length=WINDOW, strategy="direct", windows_identical=False
        )
        forecasts = forecaster.fit(pd.Series(y), fh=steps).predict()
        windows = np.lib.stride_tricks.sliding_window_view(y, WINDOW)
        expected = [
            learnt(model, windows[:-step], y[WINDOW + step - 1 :]).predict(windows[-1:])[0]
            for step in steps
        ]
        near(forecasts.to_numpy().ravel(), expected, rtol=1e-5)

    each(_series_regressors(), check)


@skforecast("ForecasterRecursive: a loop by hand")
def test_recursive():
    import pandas as pd
    from skforecast.recursive import ForecasterRecursive

    def check(model):
        y = _series()
        forecaster = ForecasterRecursive(estimator=clone(model), lags=WINDOW)
        forecaster.fit(y=pd.Series(y))
        forecasts = forecaster.predict(steps=HORIZON).to_numpy()
        near(forecasts, _recursive(model, y, True), rtol=1e-5)

    each(_series_regressors(), check)


# ---- a trend and a season: the recipe of docs/getting_started.md ----

YEARS = 36  # months held out of twelve years
BAR = 0.045


def _airline_errors(forecast):
    """Return the mean absolute percentage errors over three years that are forecast at once."""
    from sktime.datasets import load_airline

    y = load_airline()
    errors = []
    for seed in range(0, 15, 5):
        draws = [
            (f"draw {k}", OnlineKernelRegressor(budget="fast", lags=0, random_state=k))
            for k in range(seed, seed + 5)
        ]
        forecasts = np.ravel(forecast(VotingRegressor(draws), y[:-YEARS]))
        errors.append(np.mean(np.abs(forecasts / y[-YEARS:].to_numpy() - 1.0)))
    return errors


def _within(errors):
    said = ", ".join(f"{error:.4f}" for error in errors)
    holds(max(errors) <= BAR, f"mean absolute percentage errors of {said}, and not {BAR}")


@sktime("Differencer and make_reduction, three years of airline passengers: 4.5 % off at most")
def test_airline_by_reduction():
    from sktime.forecasting.compose import make_reduction
    from sktime.transformations.series.difference import Differencer

    def forecast(model, y):
        reduction = make_reduction(model, window_length=12, strategy="recursive")
        forecaster = Differencer(na_handling="drop_na") * reduction
        return forecaster.fit(y).predict(fh=np.arange(1, YEARS + 1))

    _within(_airline_errors(forecast))


@skforecast(
    "ForecasterRecursive with differentiation, airline passengers: 4.5 % off at most", "sktime"
)
def test_airline_by_recursion():
    from skforecast.recursive import ForecasterRecursive

    def forecast(model, y):
        forecaster = ForecasterRecursive(estimator=model, lags=12, differentiation=1)
        forecaster.fit(y=y.reset_index(drop=True))
        return forecaster.predict(steps=YEARS)

    _within(_airline_errors(forecast))


# ---- MAPIE ----


@mapie("SplitConformalRegressor of a learnt model: the quantile of residuals by hand")
def test_split_conformal():
    from mapie.regression import SplitConformalRegressor

    def check(model):
        X, y = regression()
        model = learnt(model, X[:80], y[:80])
        conformal = SplitConformalRegressor(model, confidence_level=COVERAGE, prefit=True)
        conformal.conformalize(X[80:140], y[80:140])
        forecasts, intervals = conformal.predict_interval(X[140:])
        same(forecasts, model.predict(X[140:]))
        residuals = np.sort(np.abs(model.predict(X[80:140]) - y[80:140]))
        half = residuals[int(np.ceil(COVERAGE * 61)) - 1]
        expected = forecasts[:, None] + half * np.array([-1.0, 1.0])
        near(intervals[:, :, 0], expected, "intervals")

    each(regressors(), check)


@mapie("CrossConformalRegressor: residuals of models of the other folds by hand")
def test_cross_conformal():
    from mapie.regression import CrossConformalRegressor
    from sklearn.model_selection import KFold

    X, y = regression()
    conformal = CrossConformalRegressor(
        pipeline(), confidence_level=COVERAGE, cv=KFold(3), method="base"
    )
    forecasts, intervals = conformal.fit_conformalize(X[:120], y[:120]).predict_interval(X[120:])
    near(forecasts, learnt(pipeline(), X[:120], y[:120]).predict(X[120:]))
    residuals = []
    for train, test in KFold(3).split(X[:120]):
        residuals.extend(np.abs(learnt(pipeline(), X[train], y[train]).predict(X[test]) - y[test]))
    half = np.sort(residuals)[int(np.ceil(COVERAGE * 121)) - 1]
    expected = forecasts[:, None] + half * np.array([-1.0, 1.0])
    near(intervals[:, :, 0], expected, "intervals")


@mapie("TimeSeriesRegressor, adaptive, around a model that learns on: forecasts, share held")
def test_adaptive():
    from mapie.regression import TimeSeriesRegressor

    X, y = regression(300)
    model, alone = learnt(pipeline(), X[:80], y[:80]), learnt(pipeline(), X[:80], y[:80])
    conformal = TimeSeriesRegressor(model, method="aci", cv="prefit").fit(X[80:160], y[80:160])
    held, options = [], {"confidence_level": COVERAGE, "ensemble": True}
    for t in range(160, 300):
        row, target = X[t : t + 1], y[t : t + 1]
        forecast, bounds = conformal.predict(row, allow_infinite_bounds=True, **options)
        same(forecast, alone.predict(row))
        held.append(bounds[0, 0, 0] <= target[0] <= bounds[0, 1, 0])
        conformal.adapt_conformal_inference(row, target, gamma=0.05, **options)
        conformal.update(row, target, ensemble=True)
        for learner in (model, alone):
            learner.partial_fit(row, target)
    holds(0.84 <= np.mean(held) <= 0.96, f"intervals for 90 % held {100 * np.mean(held):.1f} %")


@mapie("SplitConformalClassifier of a learnt model: sets by hand", "mapie.classification")
def test_conformal_sets():
    from mapie.classification import SplitConformalClassifier

    def check(model):
        X, labels = classification()
        model = learnt(model, X[:80], labels[:80])
        conformal = SplitConformalClassifier(
            model, confidence_level=COVERAGE, prefit=True, conformity_score="lac"
        )
        conformal.conformalize(X[80:140], labels[80:140])
        forecasts, sets = conformal.predict_set(X[140:])
        same(forecasts, model.predict(X[140:]), "labels")
        probabilities = model.predict_proba(X)
        scores = 1 - np.where(labels == "yes", probabilities[:, 1], probabilities[:, 0])
        limit = np.sort(scores[80:140])[int(np.ceil(COVERAGE * 61)) - 1]
        expected = 1 - probabilities[140:] <= limit + 1e-12
        same(sets[:, :, 0], expected, "sets")

    each({"ours": classifier(), "theirs": LogisticRegression()}, check)
