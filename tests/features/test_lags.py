"""The latest targets as features: by definition, by the cut of the stream, in pipelines, late."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import FeatureUnion

from sklearn_okl import (
    LagFeatures,
    OGDRegressor,
    RunningImputer,
    RunningStandardScaler,
    StreamingPipeline,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.base import OnlineRegressor


def stream(n=40, seed=0, columns=()):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.normal(size=(n, *columns))


def by_definition(X, y, n_lags, delay=0):
    """Return the rows with the targets known before each: y[0] before the stream, 0 before that."""
    rows = []
    for t, x in enumerate(X):
        known = y[: max(t - delay, 0)]
        lags = [known[-1 - j] if j < len(known) else y[0] for j in range(n_lags)]
        rows.append(np.concatenate([x, np.ravel(lags) if len(known) else 0.0 * np.ravel(lags)]))
    return np.array(rows)


@pytest.mark.parametrize("columns", [(), (3,)])
@pytest.mark.parametrize("n_lags", [0, 1, 5])
def test_definition_and_cut(n_lags, columns):
    X, y = stream(columns=columns)
    expected = by_definition(X, y, n_lags)
    assert_array_equal(LagFeatures(n_lags).prequential_transform(X, y), expected)
    lags, parts = LagFeatures(n_lags), []
    for low, high in ((0, 1), (1, 3), (3, 4), (4, 30), (30, 40)):
        parts.append(lags.prequential_transform(X[low:high], y[low:high]))
        lags = pickle.loads(pickle.dumps(lags))
    assert_array_equal(np.vstack(parts), expected)
    assert lags.n_samples_seen_ == 40
    # a loop of transform and partial_fit; the first row by itself
    lags = LagFeatures(n_lags).fit(X[:1], y[:1])
    for t in range(1, 40):
        assert_array_equal(lags.transform(X[t : t + 1]), expected[t : t + 1])
        lags.partial_fit(X[t : t + 1], y[t : t + 1])


@pytest.mark.parametrize("delay", [1, 3, 60])
def test_late_targets(delay):
    X, y = stream()
    expected, lags = by_definition(X, y, 3, delay), LagFeatures(3)
    parts = [
        lags._prequential_transform(X[low:high], y[low:high], delay)
        for low, high in ((0, 2), (2, 3), (3, 40))
    ]
    assert_array_equal(np.vstack(parts), expected)


class Recorder(OnlineRegressor):
    """Forecasts 0, and keeps what it has seen."""

    def __init__(self, label_delay=0):
        self.label_delay = label_delay

    def _start(self, n_features, n_targets=None):
        return {"t": 0, "rows": np.empty((0, n_features))}

    def _learn(self, state, X, y):
        state.update(t=state["t"] + len(y), rows=np.vstack([state["rows"], X]))
        return np.zeros(len(y))

    def _forecast(self, state, X):
        return np.zeros(len(X))


@pytest.mark.parametrize("delay", [0, 2])
@pytest.mark.parametrize("update", ["row", "batch"])
def test_a_pipeline_hands_on_what_each_row_knows(delay, update):
    X, y = stream()
    model = make_streaming_pipeline(LagFeatures(3), Recorder(delay), update=update)
    for low, high in ((0, 1), (1, 9), (9, 40)):
        model.partial_fit(X[low:high], y[low:high])
    assert_array_equal(model[-1]._state["rows"], by_definition(X, y, 3, delay))


def test_side_by_side_with_other_transformers():
    X, y = stream()
    union = FeatureUnion([("lags", LagFeatures(2)), ("scaled", RunningStandardScaler())])
    model = make_streaming_pipeline(union, Recorder())
    for low, high in ((0, 1), (1, 9), (9, 40)):
        model.partial_fit(X[low:high], y[low:high])
    rows = model[-1]._state["rows"]
    assert_array_equal(rows[:, :4], by_definition(X, y, 2))
    assert_array_equal(rows[:, 4:], RunningStandardScaler().prequential_transform(X))


def test_a_memory_is_found():
    rng = np.random.default_rng(0)
    y = np.zeros(600)
    for t in range(2, 600):
        y[t] = 1.2 * y[t - 1] - 0.5 * y[t - 2] + rng.normal()
    X = rng.normal(size=(600, 1))
    with_lags = StreamingPipeline([("lags", LagFeatures(2)), ("vaw", VAWRegressor())])
    losses = [
        np.mean((model.prequential_predict(X, y) - y)[100:] ** 2)
        for model in (with_lags, VAWRegressor())
    ]
    assert losses[0] < 1.1 < 2.0 < losses[1]


def test_names_types_and_gaps():
    pd = pytest.importorskip("pandas")
    X, y = stream()
    lags = LagFeatures(2).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert lags.get_feature_names_out().tolist() == ["a", "b", "lag1", "lag2"]
    lags = LagFeatures(2).fit(X, np.c_[y, y])
    names = ["x0", "x1", "lag1_0", "lag1_1", "lag2_0", "lag2_1"]
    assert lags.get_feature_names_out().tolist() == names
    assert LagFeatures().fit(X.astype(np.float32), y).transform(X[:2]).dtype == np.float64
    assert LagFeatures().fit(X, y).transform(X[:2].astype(np.float32)).dtype == np.float32
    X[3, 0] = np.nan
    Z = LagFeatures(1).prequential_transform(X, y)
    assert np.isnan(Z[3, 0])
    assert np.isnan(Z).sum() == 1


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_columns_that_are_there_already_have_other_names(container):
    pd = pytest.importorskip("pandas")
    pytest.importorskip(container)
    X, y = stream()
    frame = pd.DataFrame(np.c_[X, X[:, :1]], columns=["lag1", "b", "y_lag2"])
    lags = LagFeatures(2).fit(frame, y)
    names = ["lag1", "b", "y_lag2", "y_y_lag1", "y_y_lag2"]
    assert lags.get_feature_names_out().tolist() == names
    gaps = RunningImputer(add_indicator=True)
    twice = frame[["b"]].assign(missingindicator_b=1.0)
    assert len(set(gaps.fit(twice).get_feature_names_out())) == 4
    model = make_streaming_pipeline(gaps, LagFeatures(2), VAWRegressor())
    model.set_output(transform=container).fit(frame.assign(missingindicator_b=1.0), y)


def test_what_is_refused_leaves_it_as_it_was():
    X, y = stream()
    lags = LagFeatures(2).fit(X[:5], y[:5])
    before = pickle.dumps(lags)
    bad_y = y[5:8].copy()
    bad_y[0] = np.nan
    for arguments, message in [
        ((X[5:8], None), "requires y"),
        ((X[5:8], ["a", "b", "c"]), "holds text"),
        ((X[5:8], bad_y), "NaN"),
        ((X[5:8], np.ones((3, 2))), "same columns"),
        ((X[5:8], y[5:7]), "inconsistent numbers"),
    ]:
        with pytest.raises(ValueError, match=message):
            lags.partial_fit(*arguments)
    assert pickle.dumps(lags) == before
    with pytest.raises(ValueError, match=r"\['n_lags'\] .* cannot change in mid-stream"):
        lags.set_params(n_lags=3).transform(X)
    with pytest.raises(ValueError, match="n_lags"):
        LagFeatures(-1).fit(X, y)


def test_the_last_step_may_be_any_learner():
    X, y = stream(300)
    y = y.cumsum()  # a random walk: the last target is all there is to know
    model = make_streaming_pipeline(LagFeatures(1), RunningStandardScaler(), OGDRegressor())
    assert np.isfinite(model.prequential_predict(X, y)).all()
