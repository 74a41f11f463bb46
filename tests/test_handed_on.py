"""What hands rows on to other people's estimators: frames arrive as they came."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_okl import (
    ExpertsClassifier,
    ExpertsRegressor,
    KeyedRegressor,
    OnlineConformalClassifier,
    OnlineConformalRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RefitClassifier,
    RefitRegressor,
    ResidualRegressor,
    RowRegressor,
    RunningStandardScaler,
    StreamingTransformedTargetRegressor,
    StronglyAdaptiveRegressor,
    VAWRegressor,
    from_bytes,
    keyed_step,
    make_streaming_pipeline,
    to_bytes,
)
from sklearn_okl.evaluation import PrequentialSearch

CONFORMAL = {
    "one": OnlineConformalRegressor(VAWRegressor(), coverage=0.8),
    "rare": OnlineConformalRegressor(VAWRegressor(), coverage=0.999),
    "list": OnlineConformalRegressor(VAWRegressor(), coverage=[0.5, 0.8]),
}
AROUND = {
    "pipeline": lambda model: make_streaming_pipeline(RunningStandardScaler(), model),
    "search": lambda model: PrequentialSearch(model, {"estimator__alpha": [1.0, 2.0]}),
    "keyed": lambda model: KeyedRegressor(model, key=0),
    "no prior": lambda model: KeyedRegressor(model, key=0, prior=None),
    "pipeline by key": lambda model: KeyedRegressor(AROUND["pipeline"](model), key=0),
    "keyed in a pipeline": lambda model: make_streaming_pipeline(KeyedRegressor(model, key=0)),
}
TYPES = {"number": "float64", "kind": "category", "text": "object"}


def _text(value):
    return value if isinstance(value, str) else "missing"


class Spy(BaseEstimator):
    """Refuse whatever is no frame of these types; forecast by text, learnt as means."""

    def fit(self, X, y):
        vars(self).pop("means_", None)
        return self.partial_fit(X, y)

    def _read(self, X):
        assert {name: str(kind) for name, kind in X.dtypes.items()} == TYPES
        return [(_text(a), _text(b)) for a, b in zip(X["text"], X["kind"], strict=True)]

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.array([0, 1])
        self.means_ = dict(getattr(self, "means_", {}))
        for key, target in zip(self._read(X), y, strict=True):
            total, n = self.means_.get(key, (0.0, 0))
            self.means_[key] = total + target, n + 1
        return self

    def _mean(self, X):
        known = [self.means_.get(key, (0.5, 1)) for key in self._read(X)]
        return np.array([total / n for total, n in known])


class SpyRegressor(RegressorMixin, Spy):
    def predict(self, X):
        return self._mean(X)


class SpyOfLengths(RegressorMixin, BaseEstimator):
    """Refuse text that is not whole; forecast the mean."""

    def fit(self, X, y):
        return self.partial_fit(X, y)

    def partial_fit(self, X, y):
        assert X["text"].str.len().min() > 19_000
        self.mean_, self.n_features_in_ = np.mean(y), X.shape[1]
        return self

    def predict(self, X):
        assert X["text"].str.len().min() > 19_000
        return np.full(len(X), self.mean_)


SPY_OF_LENGTHS = RefitRegressor(SpyOfLengths(), window=30, growth=50.0)


class SpyClassifier(ClassifierMixin, Spy):
    def predict_proba(self, X):
        p = self._mean(X)
        return np.c_[1 - p, p]

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def stream(n=90):
    rng = np.random.default_rng(n)
    words, kinds = rng.integers(3, size=n), rng.integers(2, size=n)
    X = pd.DataFrame(
        {
            "number": np.where(rng.uniform(size=n) < 0.1, np.nan, rng.normal(size=n)),
            "kind": pd.Categorical(np.array(["on", "off" * 30])[kinds]),  # known by its hash
            "text": np.array(["ash", "birch", "cedar" * 20], dtype=object)[words],
        }
    ).astype({"text": object})
    X.loc[40, "text"] = X.loc[41, "kind"] = None
    return X, (words + kinds > 1).astype(float)


REGRESSORS = [
    RefitRegressor(SpyRegressor(), growth=0.5),
    RefitRegressor(SpyRegressor(), growth=0.5, window=40, label_delay=3, fit_delay=2),
    ExpertsRegressor([("spy", SpyRegressor()), ("refit", RefitRegressor(SpyRegressor()))]),
    ExpertsRegressor([("spy", SpyRegressor())], label_delay=3),
    ExpertsRegressor([("kernels", OnlineKernelRegressor(budget="fast", random_state=0))]),
    RefitRegressor(HistGradientBoostingRegressor(categorical_features="from_dtype", max_iter=5)),
]
REGRESSORS[-1].set_params(growth=1.0)
SPY = RefitRegressor(SpyRegressor(), growth=0.5)
KERNELS = OnlineKernelRegressor(budget="fast", random_state=0)
REGRESSORS += [
    StreamingTransformedTargetRegressor(SPY),
    OnlineConformalRegressor(SpyRegressor()),
    ResidualRegressor(SPY, SPY, passthrough=False),
    ResidualRegressor(KERNELS, KERNELS),
    StronglyAdaptiveRegressor(SpyRegressor()),
    StronglyAdaptiveRegressor(SPY),
    ExpertsRegressor([("in two", ResidualRegressor(StronglyAdaptiveRegressor(KERNELS), KERNELS))]),
]
CLASSIFIERS = [
    RefitClassifier(SpyClassifier(), growth=0.5),
    ExpertsClassifier([("spy", SpyClassifier()), ("refit", RefitClassifier(SpyClassifier()))]),
    ExpertsClassifier([("spy", SpyClassifier())], label_delay=3),
    ExpertsClassifier([("kernels", OnlineKernelClassifier(budget="fast", random_state=0))]),
    RefitClassifier(HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=5)),
]
CLASSIFIERS[-1].set_params(growth=1.0)
CLASSIFIERS.append(OnlineConformalClassifier(SpyClassifier()))


@pytest.mark.long(every=50)
@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=lambda one: str(one)[:60])
def test_frames_arrive_as_they_came_however_the_stream_is_cut(model):
    X, y = stream()
    X = X if "Spy" in str(model) else X.drop(columns="text")
    y = y.astype(int) if hasattr(model, "predict_proba") else y
    before = X.copy()
    whole, cut, parts = clone(model), clone(model), []
    named = {"classes": [0, 1]} if hasattr(model, "predict_proba") else {}
    for rows in np.split(np.arange(len(y)), [1, 2, 17, 40, 41, 60]):
        parts.append(cut.prequential_predict(X.iloc[rows], y[rows], **named))
        cut, named = pickle.loads(pickle.dumps(cut)), {}
    assert_allclose(whole.prequential_predict(X, y), np.concatenate(parts), rtol=1e-8)
    ask = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    assert_allclose(getattr(whole, ask)(X), getattr(cut, ask)(X), rtol=1e-8)
    strange = X[:2].assign(kind=pd.Categorical(["never", "seen"]))
    assert np.isfinite(getattr(whole, ask)(strange)).all()
    pd.testing.assert_frame_equal(X, before)
    assert list(whole.feature_names_in_) == list(X.columns)


def _encoder():
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["kind", "text"]), remainder="drop"
    )


def test_a_refit_is_the_fit_of_the_frame():
    X, y = stream()
    batch = make_pipeline(_encoder(), Ridge())
    model = RefitRegressor(batch, growth=100.0).fit(X, y)
    expected = clone(batch).fit(X[:30], y[:30]).predict(X)
    assert_allclose(model.predict(X), expected)


class SpyOfBoth(SpyRegressor):
    """See the frame and, at its end, a column of numbers of another's forecasts."""

    def __init__(self, name="base0"):
        self.name = name

    def _read(self, X):
        assert list(X.columns[-2:]) == ["text", self.name]
        assert X[self.name].dtype == np.float64
        assert np.isfinite(X[self.name]).all()
        return super()._read(X[list(TYPES)])


@pytest.mark.parametrize("name", ["base0", "base1"])
def test_a_correction_sees_the_base_as_one_more_column(name):
    X, y = stream()
    if name == "base1":
        X = X.assign(base0=1.0)[["base0", *TYPES]]
    base = RefitRegressor(make_pipeline(_encoder(), Ridge()), growth=0.5)
    model = ResidualRegressor(base, RefitRegressor(SpyOfBoth(name), growth=0.5))
    forecasts = model.prequential_predict(X, y)
    assert np.isfinite(forecasts).all()
    expected = clone(base).fit(X, y).predict(X)
    rest = model.correction_.predict(X.assign(**{name: expected}))
    assert_allclose(model.predict(X), expected + rest)


@pytest.mark.long
def test_rows_of_a_path_are_no_codes():
    X, y = stream()
    models = [*REGRESSORS[:4], *REGRESSORS[-7:], make_streaming_pipeline(clone(SPY))]
    for model in models:
        model = clone(model).fit(X, y)
        with (
            pytest.raises(TypeError, match="rows of a row path are plain numbers"),
            model.rows() as row,
        ):
            row.predict([0.0, 1.0, 1.0])


@pytest.mark.long(every=50)
@pytest.mark.parametrize(
    "model",
    [
        KERNELS,
        make_streaming_pipeline(KERNELS),
        make_streaming_pipeline("passthrough", KERNELS),
        ResidualRegressor(KERNELS, KERNELS),
        StronglyAdaptiveRegressor(KERNELS),
        make_streaming_pipeline(StronglyAdaptiveRegressor(KERNELS)),
    ],
    ids=lambda one: str(one)[:60],
)
def test_what_has_learnt_text_is_saved_and_goes_on(model):
    X, y = stream()
    model = clone(model).fit(X[:60], y[:60])
    again = from_bytes(to_bytes(model))
    assert_allclose(again.predict(X[60:]), model.predict(X[60:]))
    forecasts = again.prequential_predict(X[60:], y[60:])
    assert_allclose(forecasts, model.prequential_predict(X[60:], y[60:]))


@pytest.mark.long
def test_a_step_of_a_key_and_a_dict_may_hold_text():
    X, y = stream()
    expected = clone(KERNELS).prequential_predict(X, y)
    early, state = keyed_step(None, (X[:50], y[:50]), lambda: clone(KERNELS))
    late, state = keyed_step(state, (X[50:], y[50:]), None)
    assert_allclose(np.concatenate([early, late]), expected)
    for inner in (ResidualRegressor(KERNELS, KERNELS), StronglyAdaptiveRegressor(KERNELS)):
        model = RowRegressor(clone(inner))
        for row, target in zip(X[:35].to_dict("records"), y[:35], strict=True):
            row = {name: value if value == value else None for name, value in row.items()}
            assert np.isfinite(model.predict_one(row))
            model.learn_one(row, target)


@pytest.mark.parametrize(
    ("model", "most"),
    [
        (RefitRegressor(SpyOfLengths(), window=30, growth=1.0), 63),
        (ExpertsRegressor([("spy", SpyOfLengths())]), 2),
        (ExpertsRegressor([("spy", SpyOfLengths())], label_delay=4), 11),
        (StreamingTransformedTargetRegressor(SPY_OF_LENGTHS), 63),
        (OnlineConformalRegressor(SpyOfLengths()), 2),
        (ResidualRegressor(SPY_OF_LENGTHS, SPY_OF_LENGTHS, passthrough=False), 63),
        (StronglyAdaptiveRegressor(SpyOfLengths()), 2),
    ],
    ids=lambda one: str(one)[:60],
)
def test_long_text_goes_when_no_row_that_is_kept_holds_it(model, most):
    """Two hundred rows of 100 kB made 20 MB of a model, whatever it kept of them."""
    rng = np.random.default_rng(most)
    size, n = 20_000, 90
    words = ["".join(rng.choice(list("abc"), 9)) * (size // 9) + str(i) for i in range(n)]
    X = pd.DataFrame({"text": pd.Series(words, dtype=object), "number": rng.normal(size=n)})
    y, model = rng.normal(size=n), clone(model)
    for t in range(0, n, 5):
        model.partial_fit(X[t : t + 5], y[t : t + 5])
    assert len(pickle.dumps(model)) < size * most + 90_000
    assert np.isfinite(model.predict(X)).all()
    again = from_bytes(to_bytes(model)) if "Spy" not in str(model) else model
    assert_allclose(again.predict(X[:9]), model.predict(X[:9]))


def test_polars_comes_as_polars():
    pl = pytest.importorskip("polars")
    X, y = stream()
    seen = []

    class Keeps(SpyRegressor):
        def _read(self, X):
            seen.append(X.schema)
            return [(_text(a), _text(b)) for a, b in zip(X["text"], X["kind"], strict=True)]

    frame = pl.from_pandas(X)
    model = RefitRegressor(Keeps(), growth=0.5).fit(frame, y)
    assert np.isfinite(model.predict(frame)).all()
    assert all(isinstance(one["kind"], pl.Categorical) for one in seen)
    assert all(one["text"] == pl.String for one in seen)


def test_gaps_in_arrays_are_handed_on_where_all_take_them():
    X, y = stream()
    gaps = X[["number"]].to_numpy()
    kernels = OnlineKernelRegressor(budget="fast", random_state=0)
    alone = clone(kernels).prequential_predict(gaps, y)
    mixed = ExpertsRegressor([("kernels", kernels)]).prequential_predict(gaps, y)
    assert_allclose(mixed, alone, rtol=1e-9, atol=1e-12)
    for model in [
        ResidualRegressor(kernels, kernels),
        StronglyAdaptiveRegressor(kernels),
        OnlineConformalRegressor(kernels),
        StreamingTransformedTargetRegressor(kernels),
    ]:
        assert np.isfinite(model.fit(gaps, y).predict(gaps)).all()
    ridge = RefitRegressor(Ridge())
    for model in [
        ExpertsRegressor([("kernels", kernels), ("ridge", ridge)]),
        ResidualRegressor(kernels, ridge),
        StronglyAdaptiveRegressor(ridge),
    ]:
        with pytest.raises(ValueError, match="contains NaN"):
            model.fit(gaps, y)


def test_kinds_of_columns_cannot_change():
    X, y = stream()
    model = RefitRegressor(Ridge()).fit(X[["number"]].fillna(0.0).assign(kind=1.0), y)
    with pytest.raises(ValueError, match="had numbers only before"):
        model.partial_fit(X[["number", "kind"]], y)
    with pytest.raises(ValueError, match="feature names"):
        RefitRegressor(SpyRegressor()).fit(X, y).partial_fit(X[["number", "kind"]], y)
    times = pd.date_range("2024", periods=len(X), freq="h")
    with pytest.raises(TypeError, match="Column 't' of X holds dates"):
        RefitRegressor(SpyRegressor()).fit(X.assign(t=times), y)
    assert_array_equal(y, stream()[1])


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("kind", CONFORMAL)
def test_intervals_that_nobody_asks_for_by_a_number_are_those_that_the_model_follows(kind, around):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(80.0) % 2, rng.normal(size=(80, 2))])
    layer = CONFORMAL[kind]
    model = AROUND[around](layer).fit(X, X[:, 1] + rng.normal(size=80))
    intervals = model.predict_interval(X[:2])
    assert intervals.shape == (2, *np.shape(layer.coverage), 2)
    assert_array_equal(intervals, model.predict_interval(X[:2], layer.coverage))
    assert_array_equal(intervals, model.predict_interval(X[:2], coverage=None))
    with pytest.raises(ValueError, match=r"coverage=0\.7 is asked for, but this model follows"):
        model.predict_interval(X[:2], 0.7)
    if "key" not in around and around != "no prior":
        frame = model.predict_interval(X[:2], as_frame="wide")
        assert_array_equal(frame.to_numpy(), intervals.reshape(2, -1))
        assert len(frame.columns) == 2 * np.size(layer.coverage)
    elif around != "keyed in a pipeline":  # a key that nobody has seen
        unknown = model.predict_interval([[7.0, 0.0, 0.0]])
        assert unknown.shape == intervals[:1].shape
        assert np.isnan(unknown).all() == (around == "no prior")


@pytest.mark.parametrize("kind", CONFORMAL)
def test_intervals_of_one_row_are_those_that_the_model_follows(kind):
    model, layer = RowRegressor(CONFORMAL[kind]), CONFORMAL[kind]
    shape = (*np.shape(layer.coverage), 2)
    assert model.interval_one({"a": 1.0}).shape == shape
    for t in range(60):
        model.learn_one({"a": t % 7}, t % 7 + 0.1 * (t % 3))
    assert model.interval_one({"a": 1.0}).shape == shape
    assert_array_equal(model.interval_one({"a": 1.0}), model.interval_one({"a": 1.0}, None))


def test_intervals_of_models_that_follow_no_coverage_hold_nine_in_ten():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(80.0) % 2, rng.normal(size=(80, 2))])
    inner = OnlineKernelRegressor(budget="tiny", random_state=0)
    for around in AROUND.values():
        model = around(inner) if around is not AROUND["search"] else PrequentialSearch(inner, {})
        model.fit(X, X[:, 1])
        assert_array_equal(model.predict_interval(X[:9]), model.predict_interval(X[:9], 0.9))
        for wrong in (2.0, "much", []):
            with pytest.raises((ValueError, TypeError), match="coverage"):
                model.predict_interval(X[:9], wrong)
