"""What rows and targets come in: frames and their names, nullable types, masks, strings."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_okl import (
    FOGDClassifier,
    FourierFeatures,
    KeyedRegressor,
    OnlineConformalRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RunningStandardScaler,
    StreamingPipeline,
    StreamingTransformedTargetRegressor,
    TaylorFeatures,
    VAWRegressor,
    from_bytes,
    make_streaming_pipeline,
    to_bytes,
)
from sklearn_okl.aggregators import BOARegressor
from sklearn_okl.evaluation import PrequentialSearch
from tests.instances import instances, label

SEARCH = PrequentialSearch(VAWRegressor(), {"alpha": [0.1, 1.0]})
PIPELINE = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor())
MODELS = [
    VAWRegressor(),
    PIPELINE,
    make_streaming_pipeline("passthrough", StandardScaler(), VAWRegressor()),
    make_streaming_pipeline(FunctionTransformer(np.tanh), VAWRegressor(), warmup=20),
    SEARCH,
    PrequentialSearch(PIPELINE, {"vawregressor__alpha": [0.1, 1.0]}),
]


def stream(n=80):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + 0.1 * rng.normal(size=n)


def frames_of(package, X):
    columns = {name: X[:, k] for k, name in enumerate("abc")}
    if package == "pyarrow":
        return pytest.importorskip("pyarrow").table(columns)
    return pytest.importorskip(package).DataFrame(columns)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("model", MODELS, ids=label)
def test_names_are_kept_and_checked(model, package):
    X, y = stream()
    frame = frames_of(package, X)
    if package == "pyarrow" and isinstance(model, type(PIPELINE)) and model.warmup:
        pytest.skip("NumPy's functions do not take tables of pyarrow")
    named = clone(model)
    forecasts = named.prequential_predict(frame, y)
    assert type(forecasts) is np.ndarray  # without the index, as in scikit-learn
    assert_allclose(forecasts, clone(model).prequential_predict(X, y))
    assert named.n_features_in_ == 3
    assert list(named.feature_names_in_) == ["a", "b", "c"]
    assert_allclose(named.predict(frame), clone(model).fit(X, y).predict(X))
    before = pickle.dumps(named)
    for names in (["b", "a", "c"], ["a", "b"]):
        other = frame.select(names) if package != "pandas" else frame[names]
        for use in (named.partial_fit, named.prequential_predict, lambda X, y: named.predict(X)):
            with pytest.raises(ValueError, match="feature names should match"):
                use(other, y)
        assert pickle.dumps(named) == before
    assert named.fit(X, y).n_features_in_ == 3
    assert not hasattr(named, "feature_names_in_")


@pytest.mark.long(every=5)
@pytest.mark.parametrize("is_stored", [False, True])
@pytest.mark.parametrize("kind", ["numbers", "default", "levels", "dates"])
@pytest.mark.parametrize(
    "model",
    [
        *(MODELS[k] for k in (0, 1, 4)),
        BOARegressor(),
        OnlineConformalRegressor(BOARegressor()),
        OnlineKernelRegressor(budget="tiny", random_state=0),
        KeyedRegressor(VAWRegressor()),
        StreamingPipeline([("none", None), ("mix", BOARegressor())]),
    ],
    ids=label,
)
def test_names_that_are_no_text_are_kept_and_checked(model, kind, is_stored):
    pd = pytest.importorskip("pandas")
    X, y = stream()
    names = {
        "numbers": [103, 101, 102],
        "default": [0, 1, 2],
        "levels": pd.MultiIndex.from_product([["a"], [1, 2, 3]]),
        "dates": pd.date_range("2026-01-01", periods=3),
    }[kind]
    frame = pd.DataFrame(X, columns=names)
    model = clone(model).fit(frame, y)
    said = model.predict(frame)
    model = from_bytes(to_bytes(model)) if is_stored else model
    before = pickle.dumps(model)
    other = frame[frame.columns[[1, 0, 2]]]
    for use in (model.partial_fit, model.prequential_predict, lambda X, y: model.predict(X)):
        with pytest.raises(ValueError, match="same columns in the same order"):
            use(other, y)
    assert pickle.dumps(model) == before
    for same in (frame, X, pd.DataFrame(X)):  # the last two have no names
        assert_array_equal(model.predict(same), said)
    model.partial_fit(frame, y)
    model.fit(X, y).predict(other)


def test_prior_weights_are_of_the_columns_that_they_name():
    pd = pytest.importorskip("pandas")
    X, y = stream()
    frame = pd.DataFrame(X, columns=list("abc"))
    named = pd.Series({"c": 8.0, "a": 1.0, "b": 3.0})
    for given in (named, pd.Series([1.0, 3.0, 8.0]), [1.0, 3.0, 8.0]):
        weights = BOARegressor(prior_weights=given).fit(frame, y).weights_
        assert_allclose(weights, BOARegressor(prior_weights=[1.0, 3.0, 8.0]).fit(X, y).weights_)
    with pytest.raises(ValueError, match="give one weight for each of them"):
        BOARegressor(prior_weights=named.rename({"c": "d"})).fit(frame, y)


def test_forecasts_of_a_frame_have_no_index():
    pd = pytest.importorskip("pandas")
    X, y = stream()
    frame = pd.DataFrame(X, index=pd.date_range("2026-01-01", periods=len(X)))
    for model in MODELS:
        assert type(clone(model).fit(frame, y).predict(frame)) is np.ndarray


def test_the_best_of_a_search_knows_the_names():
    pd = pytest.importorskip("pandas")
    X, y = stream()
    frame = pd.DataFrame(X, columns=list("abc"))
    for search in MODELS[-2:]:
        best = clone(search).fit(frame, y).best_estimator_
        assert best.feature_names_in_.tolist() == ["a", "b", "c"]
        assert_array_equal(best.predict(frame), clone(search).fit(X, y).predict(X))


CLASSIFIERS = [
    FOGDClassifier(random_state=0),
    OnlineKernelClassifier(budget="fast", random_state=0),
    make_streaming_pipeline(RunningStandardScaler(), FOGDClassifier(random_state=0)),
    make_streaming_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
    PrequentialSearch(FOGDClassifier(random_state=0), {"eta0": [0.1, 1.0]}),
]


@pytest.mark.long(every=3)
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=label)
@pytest.mark.parametrize(
    ("kind", "values"),
    [("boolean", [False, True]), ("Int64", [1, 2]), ("Float64", [0.0, 1.0]), ("str", ["n", "y"])],
)
def test_nullable_labels_stay_what_they_are(estimator, kind, values):
    pd = pytest.importorskip("pandas")
    X, y = stream()
    labels = np.array(values)[(y > 0).astype(int)]
    model = clone(estimator).fit(X, pd.Series(labels, dtype=kind))
    assert model.classes_.tolist() == values
    assert [type(value) for value in model.classes_.tolist()] == [type(value) for value in values]
    assert_array_equal(model.predict(X), clone(estimator).fit(X, labels).predict(X))


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=label)
def test_a_missing_label_is_refused(estimator):
    pd = pytest.importorskip("pandas")
    X, y = stream()
    labels = pd.Series(y > 0, dtype="boolean")
    labels[7] = pd.NA
    with pytest.raises(ValueError, match="contains NaN"):
        clone(estimator).fit(X, labels)


def test_nullable_columns():
    pd = pytest.importorskip("pandas")
    X, y = stream()
    plain = pd.DataFrame({"a": X[:, 0], "b": np.round(X[:, 1]), "c": X[:, 2] > 0})
    nullable = plain.astype({"a": "Float64", "b": "Int64", "c": "boolean"})
    for model in MODELS[:3]:
        expected = clone(model).fit(plain.astype(float), y).predict(plain.astype(float))
        assert_allclose(clone(model).fit(nullable, y).predict(nullable), expected)
    broken = nullable.copy()
    broken.loc[5, "b"] = pd.NA
    for model in MODELS[:2]:
        with pytest.raises(ValueError, match="NaN"):
            clone(model).fit(broken, y)


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    "estimator",
    [
        *instances("online")[:3],
        *MODELS,
        *CLASSIFIERS,
        StreamingTransformedTargetRegressor(),
        OnlineKernelRegressor(budget="fast", random_state=0),
    ],
    ids=label,
)
def test_masks_that_hide_something_are_refused(estimator):
    X, y = stream()
    if hasattr(estimator, "predict_proba") or estimator in CLASSIFIERS:
        y = y > 0
    hidden = np.ma.array(X, mask=np.zeros(X.shape, dtype=bool))
    model = clone(estimator).fit(hidden, y)  # it hides nothing
    assert_array_equal(model.predict(hidden), clone(estimator).fit(X, y).predict(X))
    hidden[7, 1] = np.ma.masked
    targets = np.ma.array(y, mask=np.arange(len(y)) == 9)
    for use in (
        lambda: model.fit(hidden, y),
        lambda: model.partial_fit(hidden, y),
        lambda: model.partial_fit(X, targets),
        lambda: model.predict(hidden),
    ):
        with pytest.raises(ValueError, match="masked array"):
            use()


@pytest.mark.parametrize(
    "estimator",
    [
        *instances("online")[:3],
        PIPELINE,
        *CLASSIFIERS[:2],
        StreamingTransformedTargetRegressor(),
        OnlineKernelRegressor(budget="fast", random_state=0),
    ],
    ids=label,
)
@pytest.mark.parametrize("n_rows", [1, 2])
def test_no_targets_are_refused(estimator, n_rows):
    """Of a fitted model they were NaN, of any number of rows."""
    X, y = stream()
    y = y > 0 if is_classifier(estimator) else y
    with pytest.raises(ValueError, match="requires y to be passed"):
        clone(estimator).partial_fit(X, None)
    model = clone(estimator).fit(X, y)
    expected = model.predict(X)
    for learn in (model.partial_fit, model.prequential_predict):
        with pytest.raises(ValueError, match="requires y to be passed"):
            learn(X[:n_rows], None)
    with model.rows() as row, pytest.raises(ValueError, match="requires y to be passed"):
        row.learn(X[0], None)
    assert model.n_samples_seen_ == len(X)
    assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize(
    "transformer", [RunningStandardScaler(), FourierFeatures(), TaylorFeatures()], ids=label
)
def test_transformers_refuse_masks(transformer):
    X, _ = stream()
    hidden = np.ma.masked_greater(X, 1.0)
    for use in (transformer.fit, clone(transformer).fit(X).transform):
        with pytest.raises(ValueError, match="masked array"):
            use(hidden)


@pytest.mark.parametrize("model", MODELS[:2] + MODELS[-2:], ids=label)
def test_strings_of_digits_are_numbers(model):
    X, y = stream()
    expected = clone(model).fit(X, y).predict(X)
    for rows, targets in [
        (X, [str(value) for value in y]),
        (X.astype(str), y),
        (X.astype(object), y.astype(object)),
    ]:
        assert_allclose(clone(model).fit(rows, targets).predict(X), expected)
    with pytest.raises(ValueError, match="could not convert"):
        clone(model).fit(X, ["word"] * len(y))


@pytest.mark.parametrize("estimator", [VAWRegressor(), FOGDClassifier(random_state=0)], ids=label)
def test_containers_may_differ_from_call_to_call(estimator):
    X, y = stream()
    y = (y > 0).astype(float) if isinstance(estimator, FOGDClassifier) else y
    expected = clone(estimator).fit(X, y).predict(X)
    for rows in (X, X.tolist(), np.asfortranarray(X), X.astype(object), X[:, ::-1][:, ::-1]):
        for targets in (
            y,
            y.tolist(),
            y.astype(int if len(set(y)) == 2 else object),
            np.repeat(y, 2)[::2],
        ):
            model = clone(estimator).fit(X[:40], y[:40]).partial_fit(rows[40:], targets[40:])
            assert_allclose(model.predict(rows), expected, rtol=1e-8)
            for bad in (targets[40:-1], targets[39:]):
                with pytest.raises(ValueError, match="inconsistent"):
                    model.partial_fit(rows[40:], bad)
