"""scikit-learn's inspection, displays, containers and checks on our estimators."""

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay, calibration_curve
from sklearn.compose import ColumnTransformer
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr
from sklearn.utils.estimator_checks import check_estimator

from sklearn_okl import (
    ALDNystroem,
    RunningStandardScaler,
    TaylorFeatures,
    VAWRegressor,
)
from tests.clients.examples import (
    NAMES,
    classification,
    classifier,
    every_estimator,
    fourier,
    learnt,
    regression,
    regressors,
)
from tests.clients.expect import client, each, holds, near, refused, same

does = client("scikit-learn")
GRID = np.linspace(-0.8, 0.8, 5)
TRANSFORMERS = {
    "RunningStandardScaler": RunningStandardScaler(),
    "FourierFeatures": fourier(),
    "TaylorFeatures": TaylorFeatures(),
    "ALDNystroem": ALDNystroem(),
}


@does("permutation_importance: that of Ridge, whose solution VAW's is")
def test_importances():
    X, y = regression()
    ours, ridge = VAWRegressor(forecaster="ridge"), Ridge(fit_intercept=False)
    found, expected = (
        permutation_importance(model.fit(X, y), X, y, random_state=0).importances
        for model in (ours, ridge)
    )
    near(found, expected, "importances")


@does("partial_dependence and PartialDependenceDisplay: means of forecasts", "matplotlib")
def test_dependence():
    _without_screen()

    def check(model):
        X, y = regression()
        model = learnt(model, X, y)
        expected = _mean_forecasts(model, X)
        found = partial_dependence(model, X, [0], custom_values={0: GRID}, kind="average")
        near(found["average"][0], expected, "averages")
        display = PartialDependenceDisplay.from_estimator(
            model, X, [0], custom_values={0: GRID}, kind="average"
        )
        near(display.lines_.ravel()[0].get_ydata(), expected, "the line drawn")

    each(regressors(), check)


def _mean_forecasts(model, X):
    means = []
    for value in GRID:
        there = X.copy()
        there[:, 0] = value
        means.append(model.predict(there).mean())
    return means


@does("DecisionBoundaryDisplay: decision values of a mesh", "matplotlib")
def test_boundary():
    _without_screen()
    X, labels = classification()
    model = learnt(classifier(), X[:, :2], labels)
    display = DecisionBoundaryDisplay.from_estimator(
        model, X[:, :2], grid_resolution=20, response_method="decision_function"
    )
    mesh = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    same(display.response.ravel(), model.decision_function(mesh), "decision values")


@does("CalibrationDisplay: the curve of our probabilities", "matplotlib")
def test_calibration_display():
    _without_screen()
    X, labels = classification()
    model = learnt(classifier(), X, labels)
    display = CalibrationDisplay.from_estimator(model, X, labels)
    expected = calibration_curve(labels == "yes", model.predict_proba(X)[:, 1])
    same(display.prob_true, expected[0], "shares")
    same(display.prob_pred, expected[1], "probabilities")


def _without_screen():
    import matplotlib

    matplotlib.use("Agg")


def _set_output(library, frame):
    def check(transformer):
        X, _ = regression()
        expected = clone(transformer).fit(X).transform(X)
        shown = clone(transformer).set_output(transform=library)
        model = shown.fit(frame(X))
        got = model.transform(frame(X))
        holds(type(got) is type(frame(X)), f"a {type(got).__name__} in place of a frame")
        near(got.to_numpy(), expected, "columns", rtol=1e-12)
        same(list(got.columns), model.get_feature_names_out(), "names")

    each(TRANSFORMERS, check)


@does("set_output(transform='pandas') of maps and scalers", "pandas")
def test_pandas_output():
    import pandas as pd

    _set_output("pandas", lambda X: pd.DataFrame(X, columns=NAMES))


@does("set_output(transform='polars') of maps and scalers", "polars")
def test_polars_output():
    import polars as pl

    _set_output("polars", lambda X: pl.DataFrame(X, schema=NAMES))


@does("Pipeline and ColumnTransformer around our scaler and map: by hand")
def test_pipelines():
    X, y = regression()
    scaled = RunningStandardScaler().fit(X).transform(X)
    mapped = fourier().fit(scaled).transform(scaled)
    model = make_pipeline(RunningStandardScaler(), fourier(), VAWRegressor()).fit(X, y)
    same(model.predict(X), VAWRegressor().fit(mapped, y).predict(mapped), "forecasts in Pipeline")
    columns = ColumnTransformer(
        [("scale", RunningStandardScaler(), [0, 1]), ("map", fourier(), [1, 2])]
    )
    joined = np.hstack(
        [
            RunningStandardScaler().fit(X[:, :2]).transform(X[:, :2]),
            fourier().fit(X[:, 1:]).transform(X[:, 1:]),
        ]
    )
    same(columns.fit_transform(X), joined, "columns")
    same(
        make_pipeline(columns, VAWRegressor()).fit(X, y).predict(X),
        VAWRegressor().fit(joined, y).predict(joined),
        "forecasts from columns",
    )


@does("check_estimator on VAWRegressor()")
def test_common_checks():
    results = check_estimator(VAWRegressor(), on_skip=None, on_fail=None)
    failed = [result for result in results if result["status"] == "failed"]
    holds(results and not failed, "; ".join(result["check_name"] for result in failed))


@does("clone, get_params, set_params, repr and HTML of every estimator")
def test_parameters():
    def check(model):
        copied, name = clone(model), type(model).__name__
        holds(list(copied.get_params()) == list(model.get_params()), "a clone has others")
        same(repr(copied), repr(model), "repr of a clone")
        holds(copied.set_params(**copied.get_params()) is copied, "set_params returns another")
        holds(name in estimator_html_repr(model), "no name in the HTML")
        refused(lambda: copied.set_params(no_such=1), "a parameter that is not there", "no_such")

    each(every_estimator(), check)
