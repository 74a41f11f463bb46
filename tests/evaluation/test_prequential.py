"""Prequential evaluation against literal loops."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, SGDClassifier, SGDRegressor
from sklearn.metrics import zero_one_loss

from sklearn_okl.evaluation import prequential


class RunningMean(RegressorMixin, BaseEstimator):
    """A minimal online learner: forecasts the mean of the targets so far, 0 before any."""

    def prequential_predict(self, X, y):
        forecasts = []
        for target in y:
            count = getattr(self, "count_", 0)
            forecasts.append(self.sum_ / count if count else 0.0 * target)
            self.count_ = count + 1
            self.sum_ = getattr(self, "sum_", 0.0) + target
        self.calls_ = getattr(self, "calls_", 0) + 1
        return np.array(forecasts)


class Foreign(RegressorMixin, BaseEstimator):
    """The same without prequential_predict: knows only partial_fit and predict."""

    def partial_fit(self, X, y):
        self.seen_ = [*getattr(self, "seen_", []), *np.asarray(y)]
        self.columns_ = list(getattr(X, "columns", []))
        return self

    def predict(self, X):
        return np.array([np.mean(self.seen_, axis=0)] * X.shape[0])


def stream(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("chunk_size", [1, 50, 70])
def test_a_scikit_learn_estimator_equals_the_literal_loop(chunk_size):
    X, y = stream()
    base = SGDRegressor(random_state=3, eta0=0.05)
    model, forecasts = clone(base), np.full(len(y), np.nan)
    for a in range(0, len(y), chunk_size):
        rows = slice(a, a + chunk_size)
        if a > 0:
            forecasts[rows] = model.predict(X[rows])
        model.partial_fit(X[rows], y[rows])
    result = prequential(base, X, y, chunk_size=chunk_size, window=40)
    np.testing.assert_array_equal(result.forecasts, forecasts)
    np.testing.assert_array_equal(result.estimator.coef_, model.coef_)
    np.testing.assert_allclose(result.losses, (y - forecasts) ** 2)
    for t in range(len(y)):
        losses = result.losses[: t + 1]
        assert result.cumulative_loss[t] == pytest.approx(np.nansum(losses))
        for running, part in ((result.running_loss, losses), (result.windowed_loss, losses[-40:])):
            if np.isnan(part).all():
                assert np.isnan(running[t])
            else:
                assert running[t] == pytest.approx(np.nanmean(part))
    assert result.mean_loss == result.running_loss[-1]
    assert result.seconds > 0


def test_one_row_a_call_is_the_default_for_foreign_estimators():
    X, y = stream(30)
    result = prequential(Foreign(), X, y)
    np.testing.assert_allclose(result.forecasts[1:], np.cumsum(y)[:-1] / np.arange(1, 30))
    assert np.isnan(result.forecasts[0])


def test_forecasts_of_an_online_estimator_do_not_hang_on_the_chunks():
    X, y = stream(101)
    whole = prequential(RunningMean(), X, y)
    assert whole.estimator.calls_ == 1
    assert whole.forecasts[0] == 0.0
    assert whole.losses[0] == y[0] ** 2  # the first forecast counts
    for chunk_size in (1, 7, 100, 101, 500):
        cut = prequential(RunningMean(), X, y, chunk_size=chunk_size)
        np.testing.assert_array_equal(cut.forecasts, whole.forecasts)
        assert cut.estimator.calls_ == -(-101 // chunk_size)


def test_the_argument_is_neither_trained_nor_used_trained():
    X, y = stream(60)
    base = RunningMean()
    base.prequential_predict(X, 100 + y)
    before = pickle.dumps(base)
    X_kept, y_kept = X.copy(), y.copy()
    result = prequential(base, X, y)
    assert pickle.dumps(base) == before
    np.testing.assert_array_equal(result.forecasts, prequential(RunningMean(), X, y).forecasts)
    np.testing.assert_array_equal(X, X_kept)
    np.testing.assert_array_equal(y, y_kept)


def test_initial_forecast_counts_unless_nan():
    X, y = stream(20)
    cold = prequential(Foreign(), X, y, chunk_size=5)
    assert np.isnan(cold.losses[:5]).all()
    assert not cold.cumulative_loss[:5].any()
    assert cold.mean_loss == pytest.approx(np.mean(cold.losses[5:]))
    zero = prequential(Foreign(), X, y, chunk_size=5, initial_forecast=0.0)
    np.testing.assert_allclose(zero.losses[:5], y[:5] ** 2)
    assert zero.mean_loss == pytest.approx(np.mean(zero.losses))
    assert np.isnan(prequential(Foreign(), X, y, chunk_size=20).mean_loss)


def test_a_trained_estimator_that_forecasts_nan_is_not_excused():
    X, y = stream(30)
    y[10] = np.nan  # spoils every later mean
    result = prequential(RunningMean(), X, y, window=4)
    assert np.isfinite(result.running_loss[:10]).all()
    assert np.isnan(result.running_loss[10:]).all()
    assert np.isnan(result.mean_loss)

    class Hiccup(Foreign):
        def predict(self, X):
            return np.full(len(X), np.nan if len(self.seen_) == 10 else 0.0)

    windowed = prequential(Hiccup(), X, np.ones(30), window=4).windowed_loss
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(windowed)), [0, 10, 11, 12, 13])


@pytest.mark.parametrize("window", [1, 2, 7, 100, 999, 1000, 5000])
def test_windowed_means_keep_their_digits_after_huge_losses(window):
    n = 1000
    rng = np.random.default_rng(window)
    losses = np.concatenate([1e8 * rng.random(300), 1e-3 * rng.random(n - 300)])
    result = prequential(
        RunningMean(), np.zeros((n, 1)), losses, loss=lambda t, p: t, window=window
    )
    literal = [np.mean(losses[max(0, t + 1 - window) : t + 1]) for t in range(n)]
    np.testing.assert_allclose(result.windowed_loss, literal, rtol=1e-12)


def test_losses():
    X, y = stream(50)
    p = prequential(RunningMean(), X, y).forecasts
    absolute = prequential(RunningMean(), X, y, loss="absolute_error")
    np.testing.assert_allclose(absolute.losses, np.abs(y - p))
    own = prequential(RunningMean(), X, y, loss=lambda t, f: np.maximum(t - f, 0) ** 2)
    np.testing.assert_allclose(own.losses, np.maximum(y - p, 0) ** 2)
    with pytest.raises(ValueError, match="one number a row"):
        prequential(RunningMean(), X, y, loss=lambda t, f: 0.0)
    with pytest.raises(ValueError, match="absolute_error"):
        prequential(RunningMean(), X, y, loss="mse")


@pytest.mark.parametrize("estimator", [Foreign(), RunningMean()])
def test_several_targets_are_averaged(estimator):
    X, y = stream(40)
    both = prequential(estimator, X, np.column_stack([y, -3 * y]))
    one = prequential(estimator, X, y)
    assert both.forecasts.shape == (40, 2)
    np.testing.assert_allclose(both.losses, 5 * one.losses)
    column = prequential(estimator, X, y[:, None])
    np.testing.assert_array_equal(column.forecasts, one.forecasts)


def test_data_frames_lists_and_sparse_matrices():
    pd = pytest.importorskip("pandas")
    from scipy.sparse import csr_array

    X, y = stream(40)
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=np.arange(40)[::-1])
    base = SGDRegressor(random_state=0, fit_intercept=False)  # sparse rows decay the intercept
    expected = prequential(base, X, y, chunk_size=8)
    named = prequential(base, frame, pd.Series(y, index=frame.index), chunk_size=8)
    np.testing.assert_allclose(named.forecasts, expected.forecasts, rtol=1e-12)
    assert list(named.estimator.feature_names_in_) == ["a", "b", "c"]
    assert prequential(Foreign(), frame, y).estimator.columns_ == ["a", "b", "c"]
    listed = prequential(base, X.tolist(), y.tolist(), chunk_size=8)
    np.testing.assert_array_equal(listed.forecasts, expected.forecasts)
    sparse = prequential(base, csr_array(X), y, chunk_size=8)
    np.testing.assert_allclose(sparse.forecasts, expected.forecasts)


@pytest.mark.parametrize("labels", [np.array([-1, 1]), np.array(["no", "yes"])])
def test_classifiers_know_all_classes_from_the_start(labels):
    X, y = stream(120)
    y = labels[(y > 0).astype(int)]
    order = np.argsort(y, kind="stable")  # one class only in the first chunks
    X, y = X[order], y[order]
    result = prequential(SGDClassifier(random_state=0), X, y, chunk_size=10, loss="zero_one")
    assert set(result.losses[10:]) <= {0.0, 1.0}
    assert result.mean_loss == pytest.approx(zero_one_loss(y[10:], list(result.forecasts[10:])))
    if y.dtype.kind == "U":
        with pytest.raises(ValueError, match="zero_one"):
            prequential(SGDClassifier(), X, y)


def test_what_cannot_be_evaluated_is_refused():
    X, y = stream(10)
    with pytest.raises(TypeError, match="partial_fit"):
        prequential(LinearRegression(), X, y)
    with pytest.raises(ValueError, match="inconsistent"):
        prequential(Foreign(), X, y[:5])
    with pytest.raises(ValueError, match="window"):
        prequential(Foreign(), X, y, window=0)
    with pytest.raises(ValueError, match="chunk_size"):
        prequential(Foreign(), X, y, chunk_size=0)


def test_progress_with_and_without_tqdm(capsys, monkeypatch):
    X, y = stream(30)
    prequential(Foreign(), X, y)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "tqdm", None)  # import tqdm now fails
    quiet = prequential(Foreign(), X, y)
    loud = prequential(Foreign(), X, y, verbose=True)
    assert "30/30 rows\n" in capsys.readouterr().err
    np.testing.assert_array_equal(loud.forecasts, quiet.forecasts)
    monkeypatch.undo()
    pytest.importorskip("tqdm")
    prequential(Foreign(), X, y, verbose=True)
    assert "30/30" in capsys.readouterr().err
