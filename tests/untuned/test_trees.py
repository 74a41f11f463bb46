"""Batch models beside the kernels of the regressor without tuning."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor, RefitRegressor
from sklearn_okl.evaluation import ExpertWeightsDisplay
from sklearn_okl.meta._fits import NumberFits
from sklearn_okl.untuned import Constants
from sklearn_okl.untuned.experts._number_trees import NumberTrees
from tests.oracles.trees import beside

TREE = DecisionTreeRegressor(max_depth=5, random_state=0)


def fast(trees=TREE, **arguments):
    return OnlineKernelRegressor(budget="fast", random_state=0, trees=trees, **arguments)


def stream(n=250, seed=0):
    """Return steps, which trees learn sooner than kernels do."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + 2.0 * np.sign(X[:, 1]) + 0.1 * rng.normal(size=n) + 5.0


def ordered(n=250, seed=0):
    """Return the same on a slow wave: rows have an order, and kernels go on with their lags."""
    X, y = stream(n, seed)
    return X, y + 6.0 * np.sin(np.arange(n) / 9.0)


@pytest.fixture(scope="module")
def taught():
    return fast().fit(*stream(600))


@pytest.mark.long(every=2)
@pytest.mark.parametrize(
    ("estimator", "delay", "lags"),
    [(TREE, 0, 4), (TREE, 0, 0), (TREE, 1, 2), (TREE, 40, 0), (Ridge(), 0, 4), (Ridge(), 23, 4)],
)
def test_oracle(estimator, delay, lags):
    X, y = ordered(180)
    options = {"label_delay": delay, "lags": lags}
    kernels = fast(False, **options).prequential_predict(X, y)
    expected = beside(kernels, X, y, estimator, lags, delay)
    model = fast(estimator, **options)
    assert_allclose(model.prequential_predict(X, y), expected, rtol=1e-6)
    assert not np.allclose(expected, kernels)


@pytest.mark.long
@pytest.mark.parametrize("delay", [0, 3])
def test_a_schedule_of_its_own(delay):
    """Of a batch model that is fitted anew already, in the background or not."""
    X, y = ordered()
    kernels = fast(False, label_delay=delay).prequential_predict(X, y)
    given = RefitRegressor(TREE, growth=0.2, fit_delay=25)
    expected = beside(kernels, X, y, TREE, 4, delay, growth=0.2, fit_delay=25)
    model, parts = fast(given, label_delay=delay), []
    for low, high in pairwise([0, 40, 54, 55, 56, 100, 250]):
        parts.append(model.prequential_predict(X[low:high], y[low:high]))
        model = pickle.loads(pickle.dumps(model))
    assert_allclose(np.concatenate(parts), expected, rtol=1e-6)
    windowed = fast(RefitRegressor(TREE, window=50)).fit(X, y)
    assert len(windowed._state["trees"][0]["targets"]["past"].rows[0]) == 50


@pytest.mark.long
@pytest.mark.parametrize(
    ("trees", "delay"), [(TREE, 0), (TREE, 7), (HistGradientBoostingRegressor(max_iter=5), 0)]
)
def test_the_cut_is_invisible_and_models_go_on_from_pickles(trees, delay):
    X, y = stream(110)
    y[[20, 75, 90]] = 1e4, -1e6, 1e3  # what was learnt with them is taken back
    whole = fast(trees, label_delay=delay)
    expected = whole.prequential_predict(X, y)
    singly = [*range(35), *range(58, 63), *range(74, 78), *range(89, 93), *range(107, 111)]
    for ends in ([0, 1, 2, 29, 30, 31, 59, 60, 61, 76, 89, 100, 110], singly):
        parts, model, kept = [], fast(trees, label_delay=delay), fast(trees, label_delay=delay)
        for low, high in pairwise(ends):
            part = model.prequential_predict(X[low:high], y[low:high])
            assert_array_equal(kept.prequential_predict(X[low:high], y[low:high]), part)
            model = pickle.loads(pickle.dumps(model))
            parts.append(part)
        assert_allclose(np.concatenate(parts), expected, rtol=1e-7, atol=1e-7)
        assert_allclose(model.predict(X), whole.predict(X), rtol=1e-7)
        for name in ("weight", "mean_loss"):
            assert_allclose(model.experts_[name], whole.experts_[name], rtol=1e-5, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("delay", [0, 3])
def test_forecasts_before_and_after_a_row_are_the_same(delay):
    X, y = stream(140)
    model, expected = fast(label_delay=delay), fast(label_delay=delay).prequential_predict(X, y)
    for t in range(delay + 1, len(y)):
        row = slice(t - 1 - delay, t - delay)
        model.partial_fit(X[row], y[row])
        before = pickle.dumps(model)
        forecast = model.predict(X[t : t + 1])[0]
        assert pickle.dumps(model) == before
        assert forecast == pytest.approx(expected[t], rel=1e-7)


@pytest.mark.long
@pytest.mark.parametrize("surprise", ["level", "unit", "faulty start"])
def test_late_labels_and_surprises(surprise):
    # with a fresh start, a new level or unit while labels are out
    delay, (X, y) = 23, stream(190)
    if surprise == "level":
        y[140:] += 1e3
    elif surprise == "unit":
        y[140:] *= 100.0
    else:
        y[0] = 1e6
    expected = fast(label_delay=delay).prequential_predict(X, y)
    model, forecasts = fast(label_delay=delay), np.zeros(len(y))
    for t in range(delay + 1, len(y)):
        row = slice(t - 1 - delay, t - delay)
        model.partial_fit(X[row], y[row])
        forecasts[t] = model.predict(X[t : t + 1])[0]
    assert_allclose(forecasts, expected, rtol=1e-7, atol=1e-7 * np.abs(y).max())


class Watched(DecisionTreeRegressor):
    """Remembers what was asked."""

    rows = []

    def predict(self, X):
        Watched.rows.append(X)
        return super().predict(X)

    @classmethod
    def model(cls, delay):
        return fast(cls(max_depth=5, random_state=0), label_delay=delay)


@pytest.mark.long
def test_rows_ahead_are_seen_as_they_will_be_taught():
    delay, (X, y) = 5, stream(200)
    y = np.cumsum(y - y.mean())  # so that the lags matter
    model = fast(label_delay=delay).fit(X[:190], y[:190])
    ahead = model.predict(X[190:196], ahead=True)
    assert ahead[-1] == pytest.approx(model.predict(X[195:196])[0])
    model = Watched.model(delay).fit(X[:190], y[:190])
    model.predict(X[190:196], ahead=True)
    asked = Watched.rows[:]
    model.partial_fit(X[190:196], y[190:196])
    taught = model._state["trees"][0]["targets"]["past"].rows[0][190:196]
    assert any(np.array_equal(rows, taught) for rows in asked)  # some may be of one beside it


@pytest.fixture(scope="module")
def plain():
    return fast().prequential_predict(*stream(1000))


@pytest.mark.long
@pytest.mark.parametrize(
    ("factor", "shift"),
    [
        pytest.param(
            *(1.0, 1e3),
            marks=pytest.mark.xfail(strict=True, reason="1.38 of the plain stream's, 1.2 of fresh"),
        ),
        (100.0, 0.0),
        (1e-3, -50.0),
    ],
)
def test_a_new_level_or_unit_keeps_the_past(factor, shift, plain):
    X, y = stream(1000)
    z = np.where(np.arange(1000) < 500, y, factor * y + shift)
    model = fast()
    forecasts = model.prequential_predict(X, z)
    if factor == 1.0:  # a new unit is doubted, and who has begun with it may go on
        assert model._state["trees"][0]["targets"]["t"] == 1000
    # the level is known as far as the kernels' errors tell, and kernels alone lose ten times more
    fresh = fast().prequential_predict(X[500:], z[500:])
    errors = [(forecasts - z)[700:] / factor, (plain - y)[700:], (fresh - z[500:])[200:] / factor]
    ours, of_plain, of_fresh = (np.square(part).mean() for part in errors)
    assert ours < 1.2 * of_plain
    assert ours < 1.02 * of_fresh  # which knows half as many rows


def test_where_the_first_targets_are_learnt_again_trees_start_anew():
    X, y = stream(100)
    y[0] = 1e9
    model = fast().fit(X, y)
    _, known = model._state["trees"][0]["targets"]["past"].rows
    assert len(known) == 100
    assert np.abs(known).max() < 100.0
    assert model.n_faulty_ == 1


@pytest.mark.long
def test_trees_learn_what_the_fence_makes_of_a_target():
    X, y = stream(300)
    y[[100, 200]] = 1e6, -1e9
    model = fast().fit(X, y)
    assert model.n_faulty_ >= 2
    for part in ("targets", "errors"):
        _, known = model._state["trees"][0][part]["past"].rows
        assert np.abs(known).max() * model._state["targets"][0]["unit"] < 20.0


def test_the_errors_of_the_first_rows_are_left_out():
    X, y = stream(200)
    for delay in (0, 9):
        trees = fast(label_delay=delay).fit(X, y)._state["trees"][0]
        rows, errors = trees["errors"]["past"].rows
        assert len(errors) == 200 - 30 - delay
        assert_array_equal(rows[:, :-1], trees["targets"]["past"].rows[0][30 + delay :])


@pytest.mark.long
def test_steps_are_for_trees():
    X, y = stream(300)
    kernels, trees, both = (fast(value).prequential_predict(X, y) for value in (False, TREE, True))
    losses = [np.square(y - f)[200:].mean() for f in (kernels, trees, both)]
    assert losses[1] < 0.6 * losses[0]
    assert losses[2] < 0.6 * losses[0]


@pytest.mark.long
def test_noise_for_trees_costs_little():
    class Wild(RegressorMixin, BaseEstimator):
        """Forecasts something that has nothing to do with the rows, or nothing at all."""

        def fit(self, X, y):
            self.rng_ = len(y)
            return self

        def predict(self, X):
            return np.where(X[:, 0] > 1.0, np.nan, 1e300 * np.sin(1e6 * X[:, 0]))

    X, y = stream(800)
    losses = [
        np.square(y - fast(value).prequential_predict(X, y))[100:].mean()
        for value in (False, Wild())
    ]
    assert losses[1] < 1.05 * losses[0]


def test_without_trees_nothing_is_another():
    X, y = stream(100)
    model, other = fast(False), OnlineKernelRegressor(budget="fast", random_state=0)
    assert other.trees is False
    assert_array_equal(model.prequential_predict(X, y), other.prequential_predict(X, y))
    assert "trees" not in model._state
    assert_array_equal(
        fast(np.False_).prequential_predict(X, y), fast(False).prequential_predict(X, y)
    )
    assert OnlineKernelClassifier().trees is False


@pytest.mark.long
def test_an_unset_random_state_is_the_models():
    X, y = stream(100)
    forest = RandomForestRegressor(n_estimators=3)
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    F = [fast(forest).set_params(random_state=k).prequential_predict(X, y) for k in (0, 0, 1)]
    assert_array_equal(np.random.get_state()[1], before)
    assert_array_equal(F[0], F[1])
    assert not np.array_equal(F[0], F[2])
    assert forest.random_state is None
    model = fast(forest).fit(X, y)
    for part in ("targets", "errors"):
        assert model._state["trees"][0][part]["fits"][-1][1].random_state == model._state["seed"]


def test_gaps_are_filled_where_the_estimator_takes_none():
    X, y = stream(60)
    X[3, 1], X[:, 2] = np.nan, np.nan
    for estimator in (LinearRegression(), TREE):
        part = NumberFits(estimator, random_state=0)
        state = part._start(3)
        part._learn(state, X, y)
        forecasts = part._forecast(state, X)
        assert np.isfinite(forecasts).all()
        filled = np.where(np.isnan(X), [0.0, np.nanmean(X[:, 1]), 0.0], X)
        if estimator is not TREE:
            expected = LinearRegression().fit(filled[:, :2], y).predict(filled[:, :2])
            assert_allclose(forecasts, expected)


@pytest.mark.long
def test_what_it_says_of_trees(taught):
    table, X = taught.experts_, stream(600)[0]
    assert table["name"][-2:].tolist() == list(NumberTrees.names)
    assert table["n_rounds"][-2:].tolist() == [570, 540]
    assert table["lags"][-2:].all()
    assert_allclose(table["weight"].sum(), 1.0)
    assert table["weight"][-2:].sum() > 0.5
    assert_allclose(taught.expert_losses_, table["mean_loss"] * table["n_rounds"])
    F = taught.predict_experts(X[:5])
    assert F.shape == (5, len(table["name"])) == (5, len(taught.weights_))
    low, high = F.min(axis=1), F.max(axis=1)
    assert ((low <= taught.predict(X[:5])) & (taught.predict(X[:5]) <= high)).all()
    assert "trees" in taught.summary().replace("\n", " ")
    assert not fast(lags=0).fit(X[:40], X[:40, 0]).experts_["lags"].any()


@pytest.mark.long
def test_the_losses_are_those_of_progressive_forecasts():
    X, y = ordered(90)
    model, losses, rounds = fast().fit(X[:1], y[:1]), np.zeros(2), 0
    for t in range(1, 90):
        spoke = np.array([t >= 30, t >= 60])
        F = model.predict_experts(X[t : t + 1])[0, -2:]
        losses, rounds = losses + spoke * (F - y[t]) ** 2, rounds + spoke
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_allclose(model.expert_losses_[-2:], losses, rtol=1e-6)
    assert_array_equal(model.experts_["n_rounds"][-2:], rounds)


def test_before_they_speak_trees_have_no_weight():
    X, y = stream(40)
    model = fast().fit(X[:20], y[:20])
    assert_array_equal(model.experts_["weight"][-2:], 0.0)
    assert_array_equal(model.predict(X), fast(False).fit(X[:20], y[:20]).predict(X))
    assert_array_equal(model.predict_experts(X)[:, -2:], np.repeat(model.predict(X)[:, None], 2, 1))
    assert isinstance(model.summary(), str)
    model = fast().fit(X, y)
    assert (model.experts_["weight"][-2:] > 0.0).tolist() == [True, False]


def test_the_display_knows_them_by_name(monkeypatch):
    pytest.importorskip("matplotlib").use("agg")

    class EarlyBirths(OnlineKernelRegressor):
        constants = Constants(births=(100,), burn_in=20)

    X, y = ordered(200)
    model = EarlyBirths(budget="fast", random_state=0, trees=TREE)
    display = ExpertWeightsDisplay.from_estimator(model, X, y, over_time=True, n_points=4)
    (weights,) = display.weights.values()
    assert display.labels[-2:] == list(NumberTrees.names)
    halfway = model.fit(X[:50], y[:50])
    assert_allclose(weights[0][-2:], halfway.weights_[-2:])
    born = len(display.labels) - len(halfway.weights_)
    assert born > 0
    assert_array_equal(weights[0][-2 - born : -2], 0.0)


def test_a_failed_fit_leaves_the_model_as_it_was():
    class Moody(LinearRegression):
        def fit(self, X, y):
            if (X[:, 0] > 100).any():
                raise RuntimeError("no")
            return super().fit(X, y)

    X, y = stream(100)
    model = fast(Moody()).fit(X[:40], y[:40])
    before = model.predict(X)
    far = X.copy()
    far[45, 0] = 1e3
    with pytest.raises(RuntimeError):
        model.partial_fit(far[40:60], y[40:60])
    assert model.n_samples_seen_ == 40
    assert_array_equal(model.predict(X), before)
    again = fast(Moody()).fit(X, y)
    assert_allclose(model.partial_fit(X[40:], y[40:]).predict(X), again.predict(X))


@pytest.mark.parametrize(
    "trees", [LogisticRegression(), DecisionTreeRegressor, "HistGradientBoosting", 1.5]
)
def test_what_is_no_regressor_is_refused(trees):
    with pytest.raises((TypeError, ValueError), match=r"trees.*(regressor|must be)"):
        fast(trees).fit(*stream(10))


def test_trees_cannot_change_in_mid_stream():
    X, y = stream(40)
    model = fast().fit(X, y)
    for other in (False, True, DecisionTreeRegressor(max_depth=2, random_state=0)):
        with pytest.raises(ValueError, match="cannot change in mid-stream"):
            model.set_params(trees=other).partial_fit(X, y)
    same = DecisionTreeRegressor(max_depth=5, random_state=0)
    assert model.set_params(trees=same).partial_fit(X, y).n_samples_seen_ == 80


@pytest.mark.long(every=4)
@pytest.mark.parametrize(
    "first", [[0.0, 1e-80], [5.0] * 100, [1e300, -1e300], [0.0] * 100 + [1e-80]]
)
def test_no_legal_call_makes_a_later_one_fail(first):
    X, y = stream(300)
    y[: len(first)] = first
    model = fast()
    for low in range(0, 300, 50):
        rows = slice(low, low + 50)
        assert np.isfinite(model.prequential_predict(X[rows], y[rows])).all()
        assert np.isfinite(model.predict(X[:3])).all()
    assert isinstance(model.summary(), str)
