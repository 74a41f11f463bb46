"""Conformal layers: against a literal loop, whatever the cut, and with labels that come late."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.metaestimators import available_if

from sklearn_okl import (
    FOGDClassifier,
    ImproperLogisticClassifier,
    OnlineConformalClassifier,
    OnlineConformalRegressor,
    OnlineKernelRegressor,
    RefitClassifier,
    RefitRegressor,
    RunningStandardScaler,
    StreamingPipeline,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)
from sklearn_okl.conformal import ACI, ConformalTracker
from sklearn_okl.evaluation import interval_coverage
from tests.late import LateRidge, assert_law
from tests.trackers import TRACKERS

VAW = VAWRegressor(fit_intercept=True)


def stream(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, 3.0 * X[:, 0] + 50.0 + (1.0 + 2.0 * (np.arange(n) > n // 2)) * rng.normal(size=n)


def labels(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    scores = X @ [[2.0, 0.0, -1.0], [0.0, 2.0, -1.0]] + rng.gumbel(size=(n, 3))
    return X, np.array(["a", "b", "c"])[scores.argmax(axis=1)]


def literal(forecasts, y, tracker, coverage, warmup, delay=0):
    """Return intervals (n, levels, 2), round by round, from lists of all errors."""
    errors, intervals = np.abs(y - forecasts), []
    states = [[tracker.start(c) for c in coverage] for _ in range(delay + 1)]
    for t, forecast in enumerate(forecasts):
        known = errors[warmup + delay - 1 if warmup + delay else 0 : max(t - delay, 0)]
        fade = 0.98 ** np.arange(len(known))[::-1]
        unit = max(fade @ known / fade.sum(), 1e-6 * known.max()) if len(known) else 0.0
        turn, begun = states[t % (delay + 1)], t >= warmup + delay
        reach = [tracker.threshold(one) if begun else np.inf for one in turn]
        for k in np.argsort(coverage):
            lower = [reach[j] for j in range(len(coverage)) if coverage[j] < coverage[k]]
            reach[k] = max([reach[k], *lower])
        reach = np.maximum(reach, 0.0) * unit if len(known) else np.full(len(coverage), np.inf)
        intervals.append([[forecast - r, forecast + r] for r in reach])
        if begun and unit > 0.0:
            for one in turn:
                tracker.learn(one, errors[t] / unit)
    return np.array(intervals)


@pytest.mark.long(every=8)
@pytest.mark.parametrize("warmup", [0, 1, 30])
@pytest.mark.parametrize("tracker", TRACKERS, ids=lambda one: type(one).__name__)
def test_intervals_are_those_of_a_loop_whatever_the_cut(tracker, warmup):
    X, y = stream()
    coverage = [0.9, 0.5]
    forecasts = clone(VAW).prequential_predict(X, y)
    expected = literal(forecasts, y, tracker, coverage, warmup)
    model = OnlineConformalRegressor(VAW, tracker=tracker, coverage=coverage, warmup=warmup)
    assert_allclose(model.prequential_interval(X, y), expected, rtol=1e-8)
    assert_allclose(model.predict(X), model.estimator_.predict(X))
    model, parts = clone(model), []
    for low, high in pairwise([0, 1, 2, 29, 30, 31, 150, 200]):
        row = model.predict_interval(X[low : low + 1])[0] if low else expected[0]
        parts.append(model.prequential_interval(X[low:high], y[low:high]))
        assert_allclose(parts[-1][0], row, rtol=1e-8)
        if high == 31:
            model = pickle.loads(pickle.dumps(model))
    assert_allclose(np.concatenate(parts), expected, rtol=1e-8)
    nested = expected[:, 0, 0] <= expected[:, 1, 0]
    assert nested.all()


@pytest.mark.parametrize("delay", [1, 5])
def test_late_labels_are_those_of_as_many_trackers_in_turns(delay):
    X, y = stream()
    base = RefitRegressor(Ridge(), growth=0.2, label_delay=delay)
    model = OnlineConformalRegressor(base, tracker=ACI(0.05), coverage=[0.8], warmup=10)
    forecasts = clone(base).prequential_predict(X, y)
    expected = literal(forecasts, y, ACI(0.05), [0.8], 10, delay)
    assert_allclose(clone(model).prequential_interval(X, y), expected, rtol=1e-8)
    assert model.label_delay == delay
    for t in (delay + 1, 40, 41, 120):  # what is said of a row when the labels are known
        asked = clone(model).fit(X[: t - delay], y[: t - delay]).predict_interval(X[t : t + 1])
        assert_allclose(asked[0], expected[t], rtol=1e-8)
    assert_law(OnlineConformalRegressor(LateRidge(delay), warmup=5), X[:60], y[:60])


@pytest.mark.parametrize("seed", range(2))
def test_the_share_is_held_after_a_shift_and_across_coverages(seed):
    X, y = stream(1500, seed)
    model = OnlineConformalRegressor(VAW, coverage=[0.5, 0.9, 0.95])
    intervals = model.prequential_interval(X, y)[30:]
    held = interval_coverage(y[30:], intervals)
    # ACI's theorem, whatever the scores
    n, c = 1470, np.array([0.5, 0.9, 0.95])
    assert (held - c >= -(np.maximum(c, 1.0 - c) + 0.02) / (n * 0.02)).all()
    assert (np.abs(held - c) < 0.02).all()
    assert model.thresholds_.shape == (3,)
    assert (np.diff(model.thresholds_) >= 0.0).all()


def test_anybodys_estimators_go_row_by_row():
    X, y = stream(80)
    base = SGDRegressor(random_state=0)
    model = OnlineConformalRegressor(base, coverage=0.8, warmup=5)
    found = model.prequential_predict(X, y)
    one, expected = clone(base), [0.0]
    for t in range(80):
        if t:
            expected.append(one.predict(X[t : t + 1])[0])
        one.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_allclose(found, expected)
    assert model.predict_interval(X[:3]).shape == (3, 2)
    assert not hasattr(base, "coef_")  # never changed


def test_sets_hold_the_share_of_labels_and_are_nested():
    X, y = labels(900)
    base = ImproperLogisticClassifier()
    model = OnlineConformalClassifier(base, coverage=[0.95, 0.6], warmup=20)
    sets = model.prequential_set(X, y)
    assert sets.shape == (900, 2, 3)
    assert sets[:20].all()
    places = np.searchsorted(model.classes_, y)
    held = sets[np.arange(900), :, places][100:].mean(axis=0)
    assert_allclose(held, [0.95, 0.6], atol=0.03)
    assert (sets[:, 0] >= sets[:, 1]).all()
    assert 1.0 < sets[100:, 0].sum(axis=1).mean() < 2.9
    P = model.predict_proba(X[:5])
    expected = 1.0 - P[:, None] <= model.thresholds_[:, None]
    assert_array_equal(model.predict_set(X[:5]), expected)


@pytest.mark.parametrize("base", [FOGDClassifier(loss="log_loss", random_state=0, gamma=0.5)])
def test_sets_do_not_depend_on_the_cut(base):
    X, y = labels(150)
    two = y != "c"
    X, y = X[two], y[two]
    whole = OnlineConformalClassifier(base, coverage=0.8, warmup=10)
    expected = whole.prequential_set(X, y)
    cut, parts = clone(whole), []
    for low, high in pairwise([0, 1, 9, 10, 11, 60, len(y)]):
        if low:
            assert_array_equal(cut.predict_set(X[low : low + 1])[0], expected[low])
        parts.append(cut.prequential_set(X[low:high], y[low:high], classes=["a", "b"]))
    assert_array_equal(np.concatenate(parts), expected)


def test_errors_of_zero_a_constant_column_and_gaps():
    X, y = np.ones((60, 1)), np.full(60, 7.0)
    model = OnlineConformalRegressor(RefitRegressor(DummyRegressor()), warmup=5)
    intervals = model.prequential_interval(X, y)
    assert np.isinf(intervals[:5]).all()
    assert_array_equal(intervals[6:], np.full((54, 2), 7.0))  # no error was ever seen
    y = np.where(np.arange(60) % 7, 7.0, 9.0)
    intervals = model.fit(X, y).prequential_interval(X, y)
    assert np.isfinite(intervals).all()
    X, y = stream(60)
    X[3::5, 1] = np.nan
    base = OnlineKernelRegressor(budget="fast", random_state=0)
    model = OnlineConformalRegressor(base, warmup=5).fit(X, y)
    assert np.isfinite(model.predict_interval(X)).all()
    with pytest.raises(ValueError, match="NaN"):
        OnlineConformalRegressor(VAW).fit(X, y)


def test_a_pipeline_and_a_frame_inside_and_around(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = stream(90)
    frame = pd.DataFrame(X, columns=["x", "z"])
    steps = [("scale", RunningStandardScaler()), ("vaw", clone(VAW))]
    inside = OnlineConformalRegressor(StreamingPipeline(steps), warmup=5)
    intervals = inside.prequential_interval(frame, y)
    assert_allclose(intervals, clone(inside).prequential_interval(X, y))
    around = StreamingPipeline([steps[0], ("layer", OnlineConformalRegressor(VAW, warmup=5))])
    assert_allclose(around.fit(X, y).predict(X), inside.predict(frame))
    pytest.importorskip("skops")
    save(inside, tmp_path / "layer.skops")
    assert_array_equal(
        load(tmp_path / "layer.skops").predict_interval(frame), inside.predict_interval(frame)
    )


class Stubborn(ConformalTracker):
    """A tracker that fails in its fortieth round."""

    def start(self, coverage):
        return {"n": 0}

    def threshold(self, state):
        return 1.0

    def learn(self, state, score):
        state["n"] += 1
        if state["n"] == 40:
            raise KeyboardInterrupt


def test_a_call_that_fails_leaves_the_layer_as_it_was():
    X, y = stream(120)
    model = OnlineConformalRegressor(SGDRegressor(random_state=0), tracker=Stubborn(), warmup=5)
    before = model.fit(X[:30], y[:30]).predict_interval(X)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[30:], y[30:])
    assert model.n_samples_seen_ == 30
    assert_array_equal(model.predict_interval(X), before)


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        (OnlineConformalRegressor(LogisticRegression()), (TypeError, ValueError), "estimator"),
        (OnlineConformalRegressor(SGDClassifier()), TypeError, "no.* instance of a regressor"),
        (OnlineConformalRegressor(VAW, coverage=90), ValueError, "coverage"),
        (OnlineConformalRegressor(VAW, coverage=[0.5, 1.0]), ValueError, "above 0 and below 1"),
        (OnlineConformalRegressor(VAW, coverage=[]), ValueError, "a list of such"),
        (OnlineConformalRegressor(VAW, tracker="aci"), ValueError, "tracker"),
        (OnlineConformalRegressor(VAW, warmup=-1), ValueError, "warmup"),
        (OnlineConformalClassifier(SGDRegressor()), (TypeError, ValueError), "estimator"),
    ],
)
def test_what_makes_no_sense_is_refused(model, error, words):
    X, y = stream(20)
    y = y > 50.0 if isinstance(model, OnlineConformalClassifier) else y
    with pytest.raises(error, match=words):
        model.fit(X, y)


def test_a_coverage_cannot_change_in_mid_stream():
    X, y = stream(60)
    model = OnlineConformalRegressor(VAW).fit(X, y)
    with pytest.raises(ValueError, match="coverage"):
        model.set_params(coverage=0.5).partial_fit(X, y)
    with pytest.raises(ValueError, match="y"):
        OnlineConformalRegressor(VAW).fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize("coverage", [0.9, [0.9], [0.5, 0.9]])
def test_intervals_are_asked_for_by_their_own_coverage_only(coverage):
    X = np.random.default_rng(2).normal(size=(60, 2))
    model = OnlineConformalRegressor(VAWRegressor(), coverage=coverage).fit(X, X[:, 0])
    own = model.predict_interval(X[:3])
    assert_array_equal(model.predict_interval(X[:3], coverage), own)
    if np.size(coverage) == 1:
        assert_array_equal(model.predict_interval(X[:3], [0.9])[:, 0], own.reshape(3, 2))
        assert_array_equal(model.predict_interval(X[:3], 0.9), own.reshape(3, 2))
    pipeline = make_streaming_pipeline(clone(model)).fit(X, X[:, 0])
    assert_array_equal(pipeline.predict_interval(X[:3], coverage), own)
    for asked in (model, pipeline):
        with pytest.raises(ValueError, match="but this model follows coverage="):
            asked.predict_interval(X[:3], 0.7)


@pytest.mark.long(every=4)
@pytest.mark.parametrize("tracker", TRACKERS, ids=lambda one: type(one).__name__)
def test_probabilities_that_are_none_count_as_equal_ones(tracker):
    X, y = labels(120)
    y[:10] = ["a", "c"] + ["b"] * 8
    model = OnlineConformalClassifier(GaussianNB(), tracker=tracker, warmup=0)
    P = model.prequential_predict_proba(X, y)
    expected = [np.full(3, np.nan)]
    alone = GaussianNB()
    with np.errstate(divide="ignore", invalid="ignore"):
        for t in range(119):
            alone.partial_fit(X[t : t + 1], y[t : t + 1], classes=["a", "b", "c"])
            expected.append(alone.predict_proba(X[t + 1 : t + 2])[0])
    unknown = np.isnan(expected).any(axis=1)
    assert 5 < unknown.sum() < 30  # no variance is known of a class
    assert_array_equal(P[unknown], np.full((unknown.sum(), 3), 1.0 / 3.0))
    assert_array_equal(P[~unknown], np.array(expected)[~unknown])
    assert np.isfinite(model.fit(X, y).thresholds_).all()
    young = clone(model).partial_fit(X[:1], y[:1], classes=["a", "b", "c"])
    assert_array_equal(young.predict_proba(X[:2]), np.full((2, 3), 1.0 / 3.0))


class Saying(ClassifierMixin, BaseEstimator):
    """Says the same of each row, however much it has learnt."""

    def __init__(self, says, whole=False):
        self.says, self.whole = says, whole

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.array(["a", "b", "c"])
        return self

    fit = partial_fit

    def predict_proba(self, X):
        return np.tile(np.asarray(self.says, dtype=float), (len(X), 1))

    @available_if(lambda self: self.whole)
    def prequential_predict_proba(self, X, y, classes=None):
        return self.partial_fit(X, y).predict_proba(X)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    "says", [[np.nan, 0.5, 0.5], [0.0, 0.0, 0.0], [-0.5, 1.0, 0.5], [np.inf, 0.0, 0.0]], ids=str
)
def test_what_is_no_probability_is_put_in_no_set_of_its_own(says, whole):
    X, y = labels(80)
    model = OnlineConformalClassifier(Saying(says, whole), warmup=10)
    sets = model.prequential_set(X, y)
    assert (sets == sets[:, :1]).all()  # all labels are alike
    assert_array_equal(model.predict_proba(X), np.full((80, 3), 1.0 / 3.0))
    refit = RefitClassifier(Saying(says)).fit(X, y)
    assert_array_equal(refit.predict_proba(X), np.full((80, 3), 1.0 / 3.0))


class Late(RegressorMixin, BaseEstimator):
    """The mean of the targets, and no number before it has some."""

    def __init__(self, unknown=np.nan, n_first=5):
        self.unknown, self.n_first = unknown, n_first

    def partial_fit(self, X, y):
        known = vars(self)
        self.n_, self.sum_ = known.get("n_", 0) + len(y), known.get("sum_", 0.0) + np.sum(y)
        return self

    fit = partial_fit

    def predict(self, X):
        return np.full(len(X), self.unknown if self.n_ < self.n_first else self.sum_ / self.n_)


@pytest.mark.parametrize("n_first", [5, 60])
@pytest.mark.parametrize("unknown", [np.nan, np.inf, -np.inf])
def test_forecasts_that_are_no_numbers_count_as_0(unknown, n_first):
    X, y = stream(200)
    model = OnlineConformalRegressor(Late(unknown, n_first))
    intervals = model.prequential_interval(X, y)
    expected = OnlineConformalRegressor(Late(0.0, n_first)).prequential_interval(X, y)
    assert_array_equal(intervals, expected)
    young = clone(model).fit(X[:3], y[:3])
    assert_array_equal(young.predict(X[:2]), [0.0, 0.0])
