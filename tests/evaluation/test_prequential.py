"""Prequential evaluation against literal loops."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, SGDClassifier, SGDRegressor
from sklearn.metrics import max_error, r2_score, zero_one_loss

from sklearn_okl import (
    ImproperLogisticClassifier,
    OnlineKernelRegressor,
    RakerClassifier,
    RakerRegressor,
    VAWRegressor,
)
from sklearn_okl.evaluation import compare, prequential
from tests.late import LateRidge

GRID = [{"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1.0]}]


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


class Diary(RegressorMixin, BaseEstimator):
    """Writes down which rows it learns, and which it had learnt when it forecast a row."""

    def partial_fit(self, X, y):
        self.learnt_ = [*getattr(self, "learnt_", []), *map(int, y)]
        self.calls_ = [*getattr(self, "calls_", []), len(y)]
        return self

    def predict(self, X):
        known = getattr(self, "known_", {})
        self.known_ = known | {int(i): tuple(self.learnt_) for i in X[:, 0]}
        return np.full(len(X), float(len(self.learnt_)))


class OnlineDiary(Diary):
    """The same for an estimator that could forecast by itself, and must not be asked to."""

    def prequential_predict(self, X, y):
        raise AssertionError("with a delay, the queue is kept outside of the estimator")


def delayed_loop(base, X, y, arrivals, **first_call):
    """The queue, literally: before row t is forecast, all labels that are there are learnt."""
    model = clone(base)
    forecasts = np.full(y.shape, np.nan, dtype=np.float64 if y.dtype.kind in "biuf" else object)
    queue = []  # (arrival, row)
    for t in range(len(y)):
        for arrival, i in sorted(queue):
            if arrival <= t:
                model.partial_fit(X[i : i + 1], y[i : i + 1], **first_call)
                queue.remove((arrival, i))
                first_call = {}
        if t >= min(arrivals):
            forecasts[t] = model.predict(X[t : t + 1])[0]
        queue.append((int(arrivals[t]), t))
    for _, i in sorted(queue):
        model.partial_fit(X[i : i + 1], y[i : i + 1], **first_call)
        first_call = {}
    return forecasts, model


def random_arrivals(n, seed=0):
    """20 to 40 rounds late: out of order, with ties, and some after the end."""
    return np.arange(n) + 1 + np.random.default_rng(seed).integers(20, 41, size=n)


def stream(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=n)


@pytest.mark.long(every=3)
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
    assert np.isfinite(result.running_loss[10])  # which has no target
    assert np.isnan(result.running_loss[11:]).all()
    assert np.isnan(result.mean_loss)

    class Hiccup(Foreign):
        def predict(self, X):
            return np.full(len(X), np.nan if len(self.seen_) == 10 else 0.0)

    windowed = prequential(Hiccup(), X, np.ones(30), window=4).windowed_loss
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(windowed)), [0, 10, 11, 12, 13])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("delay", [None, 3])
def test_rows_without_a_target_are_forecast_and_not_scored(seed, delay):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=120)
    gaps = rng.random(120) < 0.2
    gaps[-1] = True
    y[gaps] = np.nan
    model = OnlineKernelRegressor(budget="tiny", random_state=seed)
    found = prequential(model, X, y, delay=delay, scoring=["r2", "squared_error"], window=30)
    first = np.argmin(gaps) + delay + 1 if delay else 0
    assert np.isfinite(found.forecasts[first:]).all()
    known = ~gaps & (np.arange(120) >= first)
    losses = (y - found.forecasts) ** 2
    np.testing.assert_array_equal(found.losses, np.where(known, losses, np.nan))
    np.testing.assert_allclose(found.mean_loss, losses[known].mean())
    np.testing.assert_allclose(found.cumulative_loss[-1], losses[known].sum())
    np.testing.assert_allclose(found.windowed_loss[-1], losses[-30:][known[-30:]].mean())
    np.testing.assert_allclose(found.scores["r2"], r2_score(y[known], found.forecasts[known]))
    np.testing.assert_allclose(found.scores["squared_error"], found.mean_loss)
    two = prequential(model, X, np.column_stack([y, y]), delay=delay)
    np.testing.assert_array_equal(np.isnan(two.losses), ~known)
    with pytest.raises(ValueError, match="y contains NaN"):  # who takes none says so
        prequential(VAWRegressor(), X, y)


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
    with pytest.raises(ValueError, match="one number per row"):
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


# labels that come late

LATE_LEARNERS = {
    "vaw": VAWRegressor(alpha=0.5),
    "sgd": SGDRegressor(random_state=3, eta0=0.05),
    "raker": RakerRegressor(GRID, n_components=10, eta0=0.5, random_state=0),
}
ARRIVALS = {
    "random": random_arrivals(150),
    "a week at a time": 7 * (np.arange(150) // 7 + 2),  # ties, and runs without an arrival
    "in turn": np.arange(150) + 1 + 9,
    "all after the end": np.full(150, 150),
    "backwards": 300 - np.arange(150),
    "the first comes last": np.r_[1000, np.arange(2, 151)],
}


@pytest.mark.long(every=3)
@pytest.mark.parametrize("arrivals", ARRIVALS.values(), ids=ARRIVALS)
@pytest.mark.parametrize("base", LATE_LEARNERS.values(), ids=LATE_LEARNERS)
def test_late_labels_equal_the_literal_queue(base, arrivals):
    X, y = stream(150)
    expected, model = delayed_loop(base, X, y, arrivals)
    result = prequential(base, X, y, delay=arrivals, window=40)
    np.testing.assert_allclose(result.forecasts, expected, rtol=1e-9, atol=1e-12)
    probe = stream(20, seed=1)[0]
    np.testing.assert_allclose(result.estimator.predict(probe), model.predict(probe), rtol=1e-9)
    cold = min(arrivals.min(), 150)
    assert np.isnan(result.losses[:cold]).all()
    np.testing.assert_array_equal(result.losses[cold:], (y - result.forecasts)[cold:] ** 2)
    assert not result.cumulative_loss[:cold].any()
    if cold < 150:
        assert result.mean_loss == pytest.approx(np.mean(result.losses[cold:]))
    else:
        assert np.isnan(result.mean_loss)


@pytest.mark.long(every=4)
@pytest.mark.parametrize("labels", [np.array([0, 1]), np.array(["no", "yes"])])
@pytest.mark.parametrize(
    "base",
    [
        SGDClassifier(random_state=0),
        RakerClassifier(GRID, n_components=10, eta0=0.5, random_state=0),
    ],
    ids=["sgd", "raker"],
)
def test_late_labels_of_a_classifier_equal_the_literal_queue(base, labels):
    X, y = stream(120)
    y = labels[(y > 0).astype(int)]
    X, y = X[np.argsort(y, kind="stable")], np.sort(y)  # the first to arrive are of one class
    arrivals = random_arrivals(120)
    expected, model = delayed_loop(base, X, y, arrivals, classes=np.unique(y))
    result = prequential(base, X, y, delay=arrivals, loss="zero_one")
    cold = arrivals.min()
    np.testing.assert_array_equal(result.forecasts[cold:], expected[cold:])
    np.testing.assert_array_equal(result.estimator.classes_, labels)
    probe = stream(20, seed=1)[0]
    decisions = result.estimator.decision_function(probe)
    np.testing.assert_allclose(decisions, model.decision_function(probe), rtol=1e-9)
    assert set(result.losses[cold:]) == {0.0, 1.0}
    assert np.isnan(result.losses[:cold]).all()


def test_a_classifier_is_told_all_classes_in_its_first_call_and_only_there():
    class Told(ClassifierMixin, BaseEstimator):
        def partial_fit(self, X, y, classes=None):
            self.told_ = [*getattr(self, "told_", []), classes]
            return self

        def predict(self, X):
            return np.zeros(X.shape[0])

    X, y = stream(30)
    result = prequential(Told(), X, (y > 0).astype(int), delay=12, loss="zero_one")
    first, *others = result.estimator.told_
    np.testing.assert_array_equal(first, [0, 1])
    assert others == [None] * 29


@pytest.mark.parametrize("make", [Diary, OnlineDiary])
@pytest.mark.parametrize("arrivals", ARRIVALS.values(), ids=ARRIVALS)
def test_labels_are_learnt_in_the_order_in_which_they_arrive(make, arrivals):
    rows = np.arange(150)
    result = prequential(make(), rows[:, None], rows, delay=arrivals)
    diary = result.estimator
    assert diary.learnt_ == sorted(rows, key=lambda i: (arrivals[i], i))
    first = min(arrivals.min(), 150)
    known = getattr(diary, "known_", {})
    assert sorted(known) == list(range(first, 150))
    for t, learnt in known.items():  # all that is there, and nothing that is not
        assert sorted(learnt) == [i for i in rows if arrivals[i] <= t]
        assert result.forecasts[t] == len(learnt)


def test_only_online_estimators_get_the_labels_of_a_round_in_one_call():
    # a call of several rows is one shuffled epoch, or one step, of many a foreign estimator
    rows, arrivals = np.arange(40), np.repeat([10, 20, 30, 40], 10)
    by_one = prequential(Diary(), rows[:, None], rows, delay=arrivals).estimator
    together = prequential(OnlineDiary(), rows[:, None], rows, delay=arrivals).estimator
    assert by_one.calls_ == [1] * 40
    assert together.calls_ == [10] * 4


@pytest.mark.long(every=3)
@pytest.mark.parametrize("n_rounds", [1, 3, 25, 59, 60, 10**30])
@pytest.mark.parametrize("base", LATE_LEARNERS.values(), ids=LATE_LEARNERS)
def test_a_number_of_rounds_is_that_many_for_every_label(base, n_rounds):
    X, y = stream(60)
    arrivals = np.arange(60) + 1 + min(n_rounds, 60)
    by_number = prequential(base, X, y, delay=n_rounds)
    by_array = prequential(base, X, y, delay=arrivals.tolist())
    np.testing.assert_array_equal(by_number.forecasts, by_array.forecasts)
    np.testing.assert_array_equal(by_number.windowed_loss, by_array.windowed_loss)
    expected, _ = delayed_loop(base, X, y, arrivals)
    np.testing.assert_allclose(by_number.forecasts, expected, rtol=1e-9, atol=1e-12)
    assert np.isnan(by_number.forecasts).sum() == min(n_rounds + 1, 60)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("base", LATE_LEARNERS.values(), ids=LATE_LEARNERS)
def test_no_delay_is_what_it_was(base):
    X, y = stream(80)
    model, forecasts = clone(base), np.full(80, np.nan)
    if hasattr(model, "prequential_predict"):
        forecasts = model.prequential_predict(X, y)
    else:
        model.partial_fit(X[:1], y[:1])
        for t in range(1, 80):
            forecasts[t] = model.predict(X[t : t + 1])[0]
            model.partial_fit(X[t : t + 1], y[t : t + 1])
    plain = prequential(base, X, y)
    np.testing.assert_array_equal(plain.forecasts, forecasts)
    for delay in (0, np.arange(80) + 1, np.arange(1, 81, dtype=np.uint8)):
        for chunk_size in (None, 9):
            same = prequential(base, X, y, delay=delay, chunk_size=chunk_size)
            today = prequential(base, X, y, chunk_size=chunk_size)
            np.testing.assert_array_equal(same.forecasts, today.forecasts)
            np.testing.assert_array_equal(same.losses, today.losses)
    assert np.isnan(plain.losses[0]) == (not hasattr(base, "prequential_predict"))


def test_the_initial_forecast_is_that_of_all_rows_before_the_first_label():
    X, y = stream(50)
    for base in LATE_LEARNERS.values():
        cold = prequential(base, X, y, delay=6)
        zero = prequential(base, X, y, delay=6, initial_forecast=0.0)
        np.testing.assert_array_equal(np.isnan(cold.losses), np.arange(50) < 7)
        np.testing.assert_allclose(zero.losses[:7], y[:7] ** 2)
        np.testing.assert_array_equal(zero.forecasts[7:], cold.forecasts[7:])
        assert zero.mean_loss == pytest.approx(np.mean(zero.losses))


@pytest.mark.long(every=4)
@pytest.mark.parametrize("initial_forecast", [np.nan, 1000.0])
@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("n_missing", [10, 60])
@pytest.mark.parametrize(
    ("late", "delay"), [(3, None), (0, 3), (3, 0), (0, np.arange(60) + 5 + np.arange(60) % 2)]
)
def test_a_missing_target_that_arrives_is_no_first_label(
    late, delay, n_missing, n_targets, initial_forecast
):
    X, y = stream(60)
    y = 1000.0 + (y if n_targets == 1 else np.column_stack([y, y]))
    y[:n_missing] = np.nan
    model = OnlineKernelRegressor(budget="tiny", label_delay=late, random_state=0)
    found = prequential(model, X, y, delay=delay, initial_forecast=initial_forecast)
    first = n_missing + 1 + (3 if delay is None else delay if np.ndim(delay) == 0 else 4)
    scored = np.arange(60) >= (first if initial_forecast != 1000.0 else n_missing)
    np.testing.assert_array_equal(~np.isnan(found.losses), scored)
    cold = found.forecasts[:first]
    np.testing.assert_array_equal(cold, np.full(cold.shape, initial_forecast))
    assert (np.abs(found.forecasts[first:] - 1000.0) < 10.0).all()
    table = compare({"tiny": model}, {"gap": (X, y)}, seeds=1, delay=delay)
    cold_left_out = found.losses[first:]
    expected = cold_left_out.mean() if len(cold_left_out) else np.nan
    np.testing.assert_allclose(table.results["squared_error"], [expected])


def test_late_labels_leave_the_arguments_as_they_are():
    X, y = stream(60)
    arrivals = random_arrivals(60)
    base = VAWRegressor().fit(X, 100 + y)
    before, kept = pickle.dumps(base), [X.copy(), y.copy(), arrivals.copy()]
    result = prequential(base, X, y, delay=arrivals)
    assert pickle.dumps(base) == before
    fresh = prequential(VAWRegressor(), X, y, delay=arrivals)
    np.testing.assert_array_equal(result.forecasts, fresh.forecasts)
    for value, copy in zip((X, y, arrivals), kept, strict=True):
        np.testing.assert_array_equal(value, copy)


def test_late_labels_of_frames_sparse_rows_lists_and_several_targets():
    pd = pytest.importorskip("pandas")
    from scipy.sparse import csr_array

    X, y = stream(60)
    arrivals, index = random_arrivals(60), np.arange(60)[::-1]  # an index that is not the order
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=index)
    base = SGDRegressor(random_state=0, fit_intercept=False)  # sparse rows decay the intercept
    expected = prequential(base, X, y, delay=arrivals).forecasts
    late = pd.Series(arrivals, index=index)
    named = prequential(base, frame, pd.Series(y, index=index), delay=late)
    np.testing.assert_allclose(named.forecasts, expected, rtol=1e-12)
    assert list(named.estimator.feature_names_in_) == ["a", "b", "c"]
    listed = prequential(base, X.tolist(), y.tolist(), delay=arrivals.tolist())
    np.testing.assert_array_equal(listed.forecasts, expected)
    sparse = prequential(base, csr_array(X), y, delay=arrivals)
    np.testing.assert_allclose(sparse.forecasts, expected)

    one = prequential(VAWRegressor(), X, y, delay=arrivals)
    both = prequential(VAWRegressor(), X, np.column_stack([y, -3 * y]), delay=arrivals)
    assert both.forecasts.shape == (60, 2)
    np.testing.assert_allclose(both.losses, 5 * one.losses)
    by_name = prequential(VAWRegressor(), frame, y, delay=arrivals)
    np.testing.assert_array_equal(by_name.forecasts, one.forecasts)


class Counting(LateRidge):
    """Counts the calls of prequential_predict."""

    def prequential_predict(self, X, y):
        self.calls_ = getattr(self, "calls_", 0) + 1
        return super().prequential_predict(X, y)


class Queued(LateRidge):
    """The same without prequential_predict, so that its labels must be queued."""

    @property
    def prequential_predict(self):
        raise AttributeError("prequential_predict")

    def partial_fit(self, X, y):
        LateRidge.prequential_predict(self, X, y)
        return self


FIGURES = ["forecasts", "losses", "cumulative_loss", "running_loss", "windowed_loss", "mean_loss"]


@pytest.mark.long(every=3)
@pytest.mark.parametrize("initial_forecast", [np.nan, 0.25])
@pytest.mark.parametrize("D", [1, 5, 23, 60, 70])
def test_the_label_delay_of_an_estimator_is_the_queue(D, initial_forecast):
    X, y = stream(60)
    kwargs = {"initial_forecast": initial_forecast, "window": 11}
    queued = prequential(Queued(D, shift=1.0), X, y, **kwargs)
    np.testing.assert_allclose(
        queued.forecasts, prequential(Queued(D, shift=1.0), X, y, delay=D, **kwargs).forecasts
    )
    np.testing.assert_array_equal(queued.forecasts[: D + 1], initial_forecast)
    assert np.isnan(queued.losses).sum() == (min(D + 1, 60) if initial_forecast != 0.25 else 0)
    fast = [
        {},
        {"delay": D},
        {"delay": np.arange(60) + 1 + D},
        {"chunk_size": 7},
        {"delay": D, "chunk_size": 60},
    ]
    for given in fast:
        own = prequential(Counting(D, shift=1.0), X, y, **given, **kwargs)
        assert own.estimator.calls_ == -(-60 // given.get("chunk_size", 60))
        for name in FIGURES:
            np.testing.assert_allclose(own[name], queued[name], rtol=1e-9, err_msg=name)
        np.testing.assert_allclose(own.estimator.predict(X), queued.estimator.predict(X))


@pytest.mark.parametrize("delay", [0, 3, 5, random_arrivals(60)], ids=["0", "3", "5", "random"])
def test_any_other_delay_is_taken_literally(delay):
    X, y = stream(60)
    arrivals = np.arange(60) + 1 + delay if np.ndim(delay) == 0 else delay
    base = LateRidge(label_delay=4, shift=1.0)  # says which row predict is for, and no more
    expected, _ = delayed_loop(base, X, y, arrivals)
    result = prequential(base, X, y, delay=delay)
    np.testing.assert_allclose(result.forecasts, expected, rtol=1e-9)
    cold = arrivals.min()
    assert np.isnan(result.losses).sum() == cold
    other = prequential(LateRidge(shift=1.0), X, y, delay=arrivals).forecasts
    assert (other[-15:] != result.forecasts[-15:]).all()
    with pytest.raises(ValueError, match="chunk_size cannot be given with a delay"):
        prequential(base, X, y, delay=delay, chunk_size=5)


def test_impossible_delays_are_refused():
    X, y = stream(10)
    rows = np.arange(10)
    for delay, message in [
        (rows[:9] + 1, r"one for each of the 10 rows.* \(9,\)"),
        (rows[:, None] + 1, r"one for each of the 10 rows.* \(10, 1\)"),
        (rows + 1.0, "integers.* float64"),
        (rows > 3, "integers.* bool"),
        (rows, "Row 0 .* round 0, before"),
        (np.r_[rows[:4] + 1, 2, rows[5:] + 1], "Row 4 .* round 2, before"),
        (-1, "delay"),
    ]:
        with pytest.raises(ValueError, match=message):
            prequential(VAWRegressor(), X, y, delay=delay)
    for delay in (2.0, "3"):
        with pytest.raises(TypeError, match="delay"):
            prequential(VAWRegressor(), X, y, delay=delay)
    for base in (VAWRegressor(), Foreign()):
        with pytest.raises(ValueError, match="chunk_size cannot be given with a delay"):
            prequential(base, X, y, delay=2, chunk_size=5)
    with pytest.raises(TypeError, match="RunningMean has no partial_fit and no predict, so"):
        prequential(RunningMean(), X, y, delay=2)
    for delay in (None, 2):
        with pytest.raises(ValueError, match="label_delay"):
            prequential(LateRidge(label_delay=-1), X, y, delay=delay)


def test_short_streams_with_late_labels():
    for n in (0, 1, 2):
        X, y = stream(n)
        result = prequential(VAWRegressor(), X, y, delay=5)
        assert np.isnan(result.forecasts).all()
        assert result.forecasts.shape == (n,)
        assert np.isnan(result.mean_loss)
        if n:
            assert result.estimator.n_samples_seen_ == n


def test_progress_with_late_labels(capsys, monkeypatch):
    X, y = stream(30)
    monkeypatch.setitem(sys.modules, "tqdm", None)  # import tqdm now fails
    for delay in (4, 100, ARRIVALS["a week at a time"][:30]):
        quiet = prequential(Foreign(), X, y, delay=delay)
        loud = prequential(Foreign(), X, y, delay=delay, verbose=True)
        assert capsys.readouterr().err.endswith("30/30 rows\n")
        np.testing.assert_array_equal(loud.forecasts, quiet.forecasts)


@pytest.mark.parametrize("delay", [None, 5])
def test_other_scores_of_the_same_forecasts(delay):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model = SGDRegressor(random_state=0)
    scoring = ["absolute_error", "r2", max_error]
    result = prequential(model, X, y, delay=delay, scoring=scoring)
    known = ~np.isnan(result.losses)
    forecasts, y = result.forecasts[known], y[known]
    assert known.sum() == (59 if delay is None else 54)
    assert list(result.scores) == ["absolute_error", "r2", "max_error"]
    assert result.scores["absolute_error"] == pytest.approx(np.abs(y - forecasts).mean())
    assert result.scores["r2"] == pytest.approx(r2_score(y, forecasts))
    assert result.scores["max_error"] == pytest.approx(np.abs(y - forecasts).max())
    assert prequential(model, X, X[:, 0]).scores == {}
    assert list(prequential(model, X, X[:, 0], scoring={"mine": max_error}).scores) == ["mine"]


def test_scores_that_make_no_sense_are_refused_before_anything_is_learnt():
    X, y = np.zeros((4, 1)), np.arange(4) % 2
    with pytest.raises(ValueError, match="nonsense"):
        prequential(RunningMean(), X, y, scoring="nonsense")
    with pytest.raises(ValueError, match="scoring"):
        prequential(SGDClassifier(loss="log_loss"), X, y, loss="log_loss", scoring=["zero_one"])


@pytest.mark.parametrize("loss", ["zero_one", "log_loss"])
def test_a_label_that_is_missing_among_words_is_said_to_be(loss):
    """What Python says of None < "no" was all."""
    X, y = np.ones((20, 1)), np.array(["no", "yes"] * 10, dtype=object)
    y[3] = None
    with pytest.raises(TypeError, match="leave out rows without one"):
        prequential(ImproperLogisticClassifier(), X, y, loss=loss)
