"""River around our estimators, against loops by hand."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor

from sklearn_okl import NOGDClassifier, VAWRegressor
from sklearn_okl.evaluation import prequential
from tests.clients.examples import NAMES, classification, classifier, learnt, regression, regressors
from tests.clients.expect import as_with, client, each, near

river = client("river", "river")
N = 100  # rows that River hands over one by one


def _loss_in_river(model, X, y, delay=None):
    from river import compat, evaluate, metrics, stream

    wrapped = compat.SKL2RiverRegressor(clone(model))
    rows = stream.iter_array(X, y, feature_names=NAMES)
    return evaluate.progressive_val_score(rows, wrapped, metrics.MSE(), delay=delay).get()


@river("progressive_val_score of SKL2RiverRegressor: our prequential loss")
def test_river_loss():
    def check(model):
        X, y = regression(N)
        forecasts = clone(model).prequential_predict(X, y)
        forecasts[0] = 0.0  # what the wrapper says before the first row
        near(_loss_in_river(model, X, y), np.mean((forecasts - y) ** 2), "loss", rtol=1e-6)

    each(regressors(), check)


@river("the same with delay=5: our prequential loss with delay=4")
def test_river_delay():
    X, y = regression(N)
    forecasts = np.nan_to_num(prequential(VAWRegressor(), X, y, delay=4).forecasts)
    expected = np.mean((forecasts - y) ** 2)
    near(_loss_in_river(VAWRegressor(), X, y, delay=5), expected, "loss")


@river("progressive_val_score of SKL2RiverClassifier: our accuracy and log loss")
def test_river_accuracy():
    from river import compat, evaluate, metrics, stream

    X, labels = classification(N)
    classes = ["no", "yes"]
    forecasts = classifier().prequential_predict(X, labels, classes=classes)
    forecasts[0] = "no"  # what the wrapper says before the first row
    probabilities, model = [0.5], classifier().partial_fit(X[:1], labels[:1], classes=classes)
    for t in range(1, N):
        probabilities.append(model.predict_proba(X[t : t + 1])[0, 1])
        model.partial_fit(X[t : t + 1], labels[t : t + 1])
    right = np.where(labels == "yes", probabilities, 1 - np.array(probabilities))
    for metric, y, names, expected in (
        (metrics.Accuracy(), labels, classes, np.mean(forecasts == labels)),
        (metrics.LogLoss(), labels == "yes", [False, True], -np.mean(np.log(right))),
    ):
        wrapped = compat.convert_sklearn_to_river(classifier(), classes=names)
        rows = stream.iter_array(X, y.tolist(), feature_names=NAMES)
        near(evaluate.progressive_val_score(rows, wrapped, metric).get(), expected, "metric")


@river("River's own StandardScaler before the wrapped estimator: by hand")
def test_river_pipeline():
    from river import compat, evaluate, metrics, preprocessing, stream

    X, y = regression(N)
    scaler, alone, forecasts = preprocessing.StandardScaler(), VAWRegressor(), []

    def scaled(row):
        return [list(scaler.transform_one(dict(zip(NAMES, row.tolist(), strict=True))).values())]

    for row, target in zip(X, y, strict=True):
        forecasts.append(alone.predict(scaled(row))[0] if forecasts else 0.0)
        scaler.learn_one(dict(zip(NAMES, row.tolist(), strict=True)))
        alone.partial_fit(scaled(row), [target])  # by a scale that knows the row
    model = preprocessing.StandardScaler() | compat.SKL2RiverRegressor(VAWRegressor())
    rows = stream.iter_array(X, y, feature_names=NAMES)
    loss = evaluate.progressive_val_score(rows, model, metrics.MSE()).get()
    near(loss, np.mean((forecasts - y) ** 2), "loss")


@river("learn_many and predict_many on frames: our partial_fit and predict", "pandas")
def test_river_in_batches():
    import pandas as pd
    from river import compat

    def check(model):
        X, y = regression(N)
        frame, wrapped = pd.DataFrame(X, columns=NAMES), compat.SKL2RiverRegressor(clone(model))
        for rows in (slice(0, 60), slice(60, N)):
            wrapped.learn_many(frame[rows], pd.Series(y[rows]))
        near(wrapped.predict_many(frame), learnt(model, X, y).predict(X), rtol=1e-5, atol=1e-7)

    each(regressors(), check)


def _river_checks(ours, theirs, wrap):
    """Run River's checks; those that fail must fail with scikit-learn's own estimator too."""
    from river import checks

    def check(number, model):
        wrapped = wrap(clone(model))
        list(checks.yield_checks(wrapped))[number](wrapped.clone())

    wrapped = wrap(clone(ours))
    found = [(k, one.__name__) for k, one in enumerate(checks.yield_checks(wrapped))]
    skipped = wrapped._unit_test_skips()
    for number, name in found:
        if name not in skipped:
            try:
                as_with(theirs, partial(check, number), ours)
            except Exception as error:
                raise type(error)(f"{name}: {error}") from error


@river("checks.check_estimator of a wrapped regressor")
def test_river_checks():
    from river import compat

    _river_checks(VAWRegressor(), SGDRegressor(random_state=0), compat.SKL2RiverRegressor)


@pytest.mark.long
@river("checks.check_estimator of a wrapped classifier")
def test_river_checks_of_a_classifier():
    from river import compat

    _river_checks(
        NOGDClassifier(loss="log_loss"),
        SGDClassifier(loss="log_loss", random_state=0),
        partial(compat.SKL2RiverClassifier, classes=[False, True]),
    )
