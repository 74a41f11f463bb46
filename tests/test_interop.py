"""Other people's meta-estimators, searches and evaluations run on our estimators as they are."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingRegressor, StackingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_okl import (
    FOGDClassifier,
    FourierFeatures,
    KOGDRegressor,
    RakerRegressor,
    RunningStandardScaler,
    VAW2Regressor,
    VAWBOARegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PrequentialSearch

KERNELS = {"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1.0]}
BANK = {"kernels": [KERNELS], "n_components": 30, "random_state": 0}
FOURIER = FourierFeatures(n_components=60, gamma=0.3, random_state=0)
PIPELINE = make_streaming_pipeline(RunningStandardScaler(), FOURIER, VAWRegressor(0.1))
CLASSIFIER = FOGDClassifier(gamma=0.3, n_components=100, eta0=1.0, random_state=0)
REGRESSORS = [VAW2Regressor(**BANK), VAWBOARegressor(**BANK), KOGDRegressor("rbf", 1.0), PIPELINE]


def label(estimator):
    return type(estimator).__name__


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 3))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.05 * rng.normal(size=300)


# --- River ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator", [PIPELINE, VAW2Regressor(**BANK), RakerRegressor(**BANK)], ids=label
)
def test_river_evaluates_a_wrapped_estimator(stream, estimator):
    pytest.importorskip("river", reason="River is not installed: the extra [peers] brings it")
    from river import compat, evaluate, metrics
    from river import stream as streams

    X, y = stream
    model = compat.SKL2RiverRegressor(clone(estimator))
    loss = evaluate.progressive_val_score(streams.iter_array(X, y), model, metrics.MSE()).get()
    forecasts = clone(estimator).prequential_predict(X, y)
    forecasts[0] = 0.0  # what River's wrapper says before the first row
    assert loss == pytest.approx(np.mean((forecasts - y) ** 2), rel=1e-6)


def test_river_evaluates_a_wrapped_classifier(stream):
    pytest.importorskip("river", reason="River is not installed: the extra [peers] brings it")
    from river import compat, evaluate, metrics
    from river import stream as streams

    X, y = stream
    labels = y > np.median(y)
    model = compat.convert_sklearn_to_river(CLASSIFIER, classes=[False, True])
    rows = streams.iter_array(X, labels)
    accuracy = evaluate.progressive_val_score(rows, model, metrics.Accuracy()).get()
    forecasts = clone(CLASSIFIER).prequential_predict(X, labels, classes=[False, True])
    assert accuracy == pytest.approx(np.mean(forecasts == labels), abs=1.5 / len(labels))


# --- MAPIE ---------------------------------------------------------------------------------------


def test_mapie_conformalizes_ours(stream):
    regression = pytest.importorskip("mapie.regression", reason="MAPIE is not installed")
    if not hasattr(regression, "SplitConformalRegressor"):
        pytest.skip("MAPIE before 1.0 has other names")
    X, y = stream
    model = VAWBOARegressor(**BANK).fit(X[:150], y[:150])
    conformal = regression.SplitConformalRegressor(model, confidence_level=0.9, prefit=True)
    conformal.conformalize(X[150:250], y[150:250])
    forecasts, intervals = conformal.predict_interval(X[250:])
    np.testing.assert_allclose(forecasts, model.predict(X[250:]))
    low, high = intervals[:, 0, 0], intervals[:, 1, 0]
    assert 0.7 <= np.mean((low <= y[250:]) & (y[250:] <= high)) <= 1.0
    cross = regression.CrossConformalRegressor(VAWRegressor(), confidence_level=0.9, cv=3)
    _, intervals = cross.fit_conformalize(X[:100], y[:100]).predict_interval(X[250:])
    assert (intervals[:, 1, 0] > intervals[:, 0, 0]).all()


# --- scikit-learn's meta-estimators --------------------------------------------------------------


@pytest.mark.parametrize("estimator", REGRESSORS, ids=label)
def test_multi_output_regressor_learns_in_steps(stream, estimator):
    X, y = stream
    Y = np.column_stack([y, -2 * y])
    model = MultiOutputRegressor(estimator)
    for rows in np.split(np.arange(300), [100, 101]):
        model.partial_fit(X[rows], Y[rows])
    for k in range(2):
        np.testing.assert_allclose(
            model.predict(X)[:, k], clone(estimator).fit(X, Y[:, k]).predict(X), rtol=1e-6
        )


@pytest.mark.parametrize("estimator", REGRESSORS, ids=label)
def test_bagging_and_stacking(stream, estimator):
    X, y = stream
    bagged = BaggingRegressor(estimator, n_estimators=3, random_state=0).fit(X, y)
    members = zip(bagged.estimators_, bagged.estimators_samples_, strict=True)
    apart = [clone(member).fit(X[rows], y[rows]).predict(X) for member, rows in members]
    np.testing.assert_allclose(bagged.predict(X), np.mean(apart, axis=0), rtol=1e-6, atol=1e-9)
    stack = StackingRegressor([("ours", estimator), ("ridge", Ridge())], cv=3).fit(X, y)
    assert stack.score(X, y) > Ridge().fit(X, y).score(X, y) + 0.05


def test_one_vs_rest_learns_in_steps():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = StandardScaler().fit_transform(X)[order], y[order]
    model = OneVsRestClassifier(CLASSIFIER)
    for rows in np.split(np.arange(150), [40, 70]):
        model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    whole = OneVsRestClassifier(CLASSIFIER).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    assert model.score(X, y) > 0.8


# --- scikit-learn's searches ---------------------------------------------------------------------

SEARCHES = [
    (KOGDRegressor(), [KERNELS, {"kernel": ["poly"], "degree": [2]}]),
    (VAWRegressor(), {"alpha": [0.1, 10.0], "forgetting": [1.0, 0.99]}),
    (VAW2Regressor(**BANK), {"alpha": [0.1, 10.0], "kernels": [[KERNELS], [{"gamma": [1.0]}]]}),
    (
        make_pipeline(FOURIER, VAWRegressor()),
        {f"fourierfeatures__{k}": v for k, v in KERNELS.items()},
    ),
    (PIPELINE, {"fourierfeatures__gamma": [0.1, 1.0], "vawregressor__alpha": [0.1, 10.0]}),
]


@pytest.mark.parametrize("search", [GridSearchCV, HalvingGridSearchCV])
@pytest.mark.parametrize(("estimator", "grid"), SEARCHES, ids=label)
def test_scikit_learns_searches(stream, estimator, grid, search):
    X, y = stream
    options = {"random_state": 0} if search is HalvingGridSearchCV else {}
    found = search(estimator, grid, cv=TimeSeriesSplit(3), error_score="raise", **options).fit(X, y)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    best = clone(estimator).set_params(**found.best_params_).fit(X, y)
    np.testing.assert_allclose(found.predict(X), best.predict(X))


def test_the_search_in_one_pass_takes_the_same_grids(stream):
    for estimator, grid in (SEARCHES[0], SEARCHES[1], SEARCHES[2], SEARCHES[4]):
        n_candidates = len(GridSearchCV(estimator, grid, cv=2).fit(*stream).cv_results_["params"])
        results = PrequentialSearch(estimator, grid).fit(*stream).results_
        assert len(results["params"]) == n_candidates


# --- scikit-learn's evaluations ------------------------------------------------------------------


@pytest.mark.parametrize("estimator", REGRESSORS, ids=label)
def test_cross_val_predict(stream, estimator):
    X, y = stream
    forecasts = cross_val_predict(estimator, X, y, cv=3)
    expected = clone(estimator).fit(X[100:], y[100:]).predict(X[:100])
    np.testing.assert_allclose(forecasts[:100], expected)


@pytest.mark.parametrize("estimator", REGRESSORS, ids=label)
def test_permutation_importance_finds_the_features_that_matter(stream, estimator):
    X, y = stream
    model = clone(estimator).fit(X, y)
    importance = permutation_importance(model, X, y, n_repeats=3, random_state=0).importances_mean
    assert importance.argsort().tolist() == [2, 1, 0]


def test_set_output_gives_frames(stream):
    pd = pytest.importorskip("pandas")
    X, y = stream
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for pipeline in (make_pipeline(RunningStandardScaler(), FOURIER, VAWRegressor()), PIPELINE):
        model = clone(pipeline).set_output(transform="pandas").fit(frame, y)
        scaled = model[:-1].transform(frame)
        assert list(scaled.columns) == [f"fourierfeatures{k}" for k in range(60)]
        assert scaled.index.equals(frame.index)
        np.testing.assert_allclose(model.predict(frame), clone(pipeline).fit(X, y).predict(X))
