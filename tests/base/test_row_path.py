"""Rows by a bound path: the numbers of single calls, and a model that is handed back or left."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDRegressor
from sklearn.preprocessing import StandardScaler

from sklearn_okl import (
    ExpertsRegressor,
    FourierFeatures,
    LagFeatures,
    OnlineConformalRegressor,
    OnlineKernelRegressor,
    RefitRegressor,
    RunningStandardScaler,
    StreamingPipeline,
    StronglyAdaptiveRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.base import OnlineRegressor, RowPath
from tests.instances import instances, label

N_KNOWN, N_MORE, N_FEATURES = 30, 12, 4


def stream(model=None, n=N_KNOWN + N_MORE):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, N_FEATURES))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)
    return X, np.where(y > 0.0, "high", "low") if model is not None and is_classifier(model) else y


def begun(model, n_known=N_KNOWN):
    X, y = stream(model)
    model.fit(X[:n_known], y[:n_known])
    return model, X[n_known:], y[n_known:]


def with_paths():
    return [model for model in instances("online") if hasattr(model, "rows")]


def by_path(model, steps):
    """Let steps, a function, work on a row path of a model."""
    with model.rows() as row:
        steps(row)


def assert_alike(known, found):
    if np.asarray(known).dtype.kind in "fc":
        np.testing.assert_allclose(found, known, rtol=1e-10, atol=1e-12)
    else:
        np.testing.assert_array_equal(found, known)


WRAPPING = [
    ExpertsRegressor([("vaw", VAWRegressor())]),
    OnlineConformalRegressor(VAWRegressor()),
    OnlineKernelRegressor(budget="tiny", categorical_features=["b"]),
    RefitRegressor(VAWRegressor(), window=30),
    StronglyAdaptiveRegressor(VAWRegressor()),
    make_streaming_pipeline(StandardScaler(), SGDRegressor(random_state=0)),
    make_streaming_pipeline(LagFeatures(2), VAWRegressor()),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("model", WRAPPING, ids=lambda model: str(model)[:40])
def test_rows_of_a_path_need_no_names(model):
    pd = pytest.importorskip("pandas")
    X, y = stream()
    X[:, 1] = X[:, 1] > 0.0
    frame = pd.DataFrame(X, columns=list("abcd"))
    single = model.fit(frame[:N_KNOWN], y[:N_KNOWN])
    model = copy.deepcopy(model)
    with model.rows() as row:
        for i in range(N_KNOWN, len(X)):
            row.predict(X[i])
            row.learn(X[i], y[i])
            row.keep()
            single.partial_fit(frame[i : i + 1], y[i : i + 1])
            assert model.feature_names_in_.tolist() == list("abcd")
            assert_alike(single.predict(frame[-1:]), model.predict(frame[-1:]))


@pytest.mark.long(every=4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", with_paths(), ids=label)
def test_a_row_path_is_single_calls(model):
    model, X, y = begun(model)
    single = copy.deepcopy(model)
    with model.rows() as row:
        for i, x in enumerate(X):
            rows = slice(i, i + 1)
            assert_alike(single.predict(X[rows])[0], row.predict(x))
            if hasattr(single, "prequential_predict"):
                assert_alike(single.prequential_predict(X[rows], y[rows])[0], row.learn(x, y[i]))
            else:
                single.partial_fit(X[rows], y[rows])
                row.learn(x, y[i])
            if i == len(X) // 2:
                row.keep()
    assert model.n_samples_seen_ == single.n_samples_seen_ == N_KNOWN + N_MORE
    assert_alike(single.predict(X), model.predict(X))
    for one in (single, model):
        one.partial_fit(X, y)
    assert_alike(single.predict(X), model.predict(X))


class Sums(OnlineRegressor):
    """The sum of the targets so far; it fails halfway, once it has learnt so many."""

    fails_at = error = None

    def _start(self, n_features, n_targets=None):
        return {"t": 0, "sum": np.zeros(1)}

    def _learn(self, state, X, y):
        forecasts = np.repeat(state["sum"], len(y))
        state["sum"] += y.sum()
        if state["t"] == self.fails_at:
            raise self.error
        state["t"] += len(y)
        return forecasts

    def _forecast(self, state, X):
        return np.repeat(state["sum"], len(X))


@pytest.mark.parametrize(
    "model",
    [
        VAWRegressor(),
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
        make_streaming_pipeline(StandardScaler(), SGDRegressor(random_state=0)),
    ],
    ids=lambda model: label(model),
)
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_leaves_the_path_leaves_the_model_as_it_was(model, error):
    model, X, y = begun(copy.deepcopy(model))
    before = pickle.dumps(model)

    def fail(row, keeps=False):
        row.learn(X[0], y[0])
        assert pickle.dumps(model) == before  # readers see nothing of it
        if keeps:
            row.keep()
        row.learn(X[1], y[1])
        raise error

    with pytest.raises(error):
        by_path(model, fail)
    assert pickle.dumps(model) == before
    with pytest.raises(error):
        by_path(model, partial(fail, keeps=True))
    assert model.n_samples_seen_ == N_KNOWN + 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), np.linalg.LinAlgError(), OverflowError()])
def test_a_row_that_fails_halfway_ends_the_path_even_where_it_is_caught(error):
    model, X, y = begun(Sums())
    before = pickle.dumps(model)
    model.fails_at, model.error = N_KNOWN + 1, error

    def go_on(row):
        row.learn(X[0], y[0])
        with pytest.raises((KeyboardInterrupt, ValueError)):
            row.learn(X[1], y[1])
        for verb in (lambda: row.predict(X[2]), lambda: row.learn(X[2], y[2]), row.keep):
            with pytest.raises(ValueError, match="failed while it was learnt"):
                verb()

    with pytest.raises(ValueError, match="failed while it was learnt"):
        by_path(model, go_on)
    del model.fails_at, model.error
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    "model",
    [
        VAWRegressor(),
        OnlineKernelRegressor(budget="fast", random_state=0, target_range=(-50, 50)),
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
    ],
    ids=label,
)
def test_a_row_that_is_refused_teaches_nothing_and_the_path_goes_on(model):
    model, X, y = begun(copy.deepcopy(model))
    single = copy.deepcopy(model)
    bad = [
        (np.append(X[0], 1.0), y[0], "shape"),
        (X[:1], y[0], "shape"),
        (np.where(np.arange(N_FEATURES) == 2, np.inf, X[0]), y[0], "infinity"),
        (np.array(["a"] * N_FEATURES), y[0], "plain numbers"),
        (np.ma.masked_array(X[0], [True] + [False] * 3), y[0], "masked"),
        (X[0], y[:2], "shape"),
        (X[0], np.inf, "infinity"),
    ]
    if isinstance(model, OnlineKernelRegressor):
        bad.append((X[0], 51.0, "target_range"))
    else:
        bad += [(X[0] * np.nan, y[0], "NaN"), (X[0], np.nan, "NaN")]
    with model.rows() as row:
        for x, target, what in bad:
            with pytest.raises(ValueError, match=what):
                row.learn(x, target)
        for x, target in zip(X, y, strict=True):
            row.learn(x, target)
    assert_alike(single.partial_fit(X, y).predict(X), model.predict(X))


def test_rows_that_overflow_are_refused_and_the_model_is_as_it_was():
    model, X, _ = begun(VAWRegressor())
    before = pickle.dumps(model)

    def overflow(row):
        row.learn(X[0], 1e308)
        row.learn(1e200 * X[1], 1.0)
        row.learn(X[2], 1.0)

    with pytest.raises(ValueError, match="overflowed"):
        by_path(model, overflow)
    assert pickle.dumps(model) == before


def test_missing_targets_are_forecast_and_not_learnt():
    model, X, _ = begun(OnlineKernelRegressor(budget="fast", random_state=0))
    with model.rows() as row:
        expected = row.predict(X[0])
        assert row.learn(X[0], np.nan) == expected
    assert model.n_samples_seen_ == N_KNOWN


def test_several_targets_and_lists():
    X, y = stream()
    Y = np.column_stack([y, -y])
    model = VAWRegressor().fit(X[:N_KNOWN], Y[:N_KNOWN])
    single = copy.deepcopy(model)
    with model.rows() as row:
        for x, targets in zip(X[N_KNOWN:].tolist(), Y[N_KNOWN:].tolist(), strict=True):
            assert row.predict(x).shape == row.learn(x, targets).shape == (2,)
    assert_alike(single.partial_fit(X[N_KNOWN:], Y[N_KNOWN:]).coef_, model.coef_)


def test_late_labels_in_a_pipeline():
    final = OnlineKernelRegressor(budget="fast", label_delay=2, random_state=0)
    model, X, y = begun(make_streaming_pipeline(RunningStandardScaler(), StandardScaler(), final))
    single = copy.deepcopy(model)
    with model.rows() as row:
        for i, x in enumerate(X):
            rows = slice(i, i + 1)
            assert_alike(single.predict(X[rows])[0], row.predict(x))
            assert_alike(single.prequential_predict(X[rows], y[rows])[0], row.learn(x, y[i]))


def test_parameters_are_checked_when_a_path_is_opened():
    model, X, y = begun(VAWRegressor())
    for parameters, what in [({"forgetting": 2.0}, "forgetting"), ({"alpha": 3.0}, "mid-stream")]:
        model.set_params(**parameters)
        with pytest.raises(ValueError, match=what), model.rows():
            pass
        model.set_params(forgetting=1.0, alpha=1.0)
    with model.rows() as row:
        row.learn(X[0], y[0])
    assert model.n_samples_seen_ == N_KNOWN + 1


def test_a_path_is_of_fitted_models_is_open_once_and_has_one_writer():
    with pytest.raises(NotFittedError), VAWRegressor().rows():
        pass
    warming_up = StreamingPipeline([("vaw", VAWRegressor())], warmup=100)
    warming_up.partial_fit(*stream())
    with pytest.raises(NotFittedError, match="warming up"), warming_up.rows():
        pass
    model, X, y = begun(VAWRegressor())
    path = model.rows()
    assert isinstance(path, RowPath)
    with pytest.raises(RuntimeError, match="closed"):
        path.predict(X[0])
    with path as row, pytest.raises(RuntimeError, match="open already"):
        row.__enter__()
    single = copy.deepcopy(model).partial_fit(X[:1], y[:1])

    def both(row):
        row.keep()
        model.partial_fit(X[:1], y[:1])
        row.learn(X[1], y[1])  # into a tail that both have

    with pytest.raises(RuntimeError, match="Another thread"):
        by_path(model, both)
    assert_alike(single.predict(X), model.predict(X))


def test_rows_are_not_kept_and_may_be_written_over():
    model, X, y = begun(make_streaming_pipeline(FourierFeatures(random_state=0), VAWRegressor()))
    single, x = copy.deepcopy(model), np.empty(N_FEATURES)
    with model.rows() as row:
        for given, target in zip(X, y, strict=True):
            x[:] = given
            row.predict(x)
            x *= 2.0
            row.learn(x, target)
    assert_alike(single.partial_fit(2.0 * X, y).predict(X), model.predict(X))
