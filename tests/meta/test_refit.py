"""Batch models on a stream: the schedule, the past they see, what copies share."""

import copy
import pickle
from itertools import pairwise
from threading import Event

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from sklearn_okl import RefitRegressor, load, save
from sklearn_okl.meta._refitted import next_fit
from tests.oracles.refit import refit

TREE = DecisionTreeRegressor(max_depth=5, random_state=0)


def stream(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=n) + 5.0


@pytest.mark.parametrize("growth", [0.05, 0.1, 0.5, 2.0])
def test_the_schedule(growth):
    n, rounds = 0, []
    while n < 5000:
        n = next_fit(n, growth)
        rounds.append(n)
    assert rounds[0] == 30
    for before, after in pairwise(rounds):
        share = growth * before
        assert after == before + max(1, int(share) + (share - int(share) > 1e-6))


@pytest.mark.long(every=5)
@pytest.mark.parametrize("delay", [0, 1, 7, 45])
@pytest.mark.parametrize(("growth", "window"), [(0.05, None), (0.3, None), (0.5, 40)])
def test_equal_to_the_oracle_whatever_the_cut(growth, window, delay):
    X, y = stream()
    options = {"growth": growth, "window": window, "label_delay": delay}
    expected = refit(TREE, X, y, growth, window, delay)
    model = RefitRegressor(TREE, **options)
    assert_allclose(model.prequential_predict(X, y), expected, rtol=1e-12)
    parts, model = [], RefitRegressor(TREE, **options)
    cuts = [0, 1, 2, 29, 30, 31, 32, 100, 101, 333, 400]
    for low, high in pairwise(cuts):
        parts.append(model.prequential_predict(X[low:high], y[low:high]))
        model = pickle.loads(pickle.dumps(model))
    assert_allclose(np.concatenate(parts), expected, rtol=1e-12)


@pytest.mark.long(every=3)
@pytest.mark.parametrize(("delay", "fit_delay"), [(0, 1), (0, 25), (7, 3)])
def test_fits_in_the_background_are_those_of_the_oracle(delay, fit_delay):
    X, y = stream(300)
    options = {"growth": 0.05, "label_delay": delay, "fit_delay": fit_delay}
    expected = refit(TREE, X, y, 0.05, delay=delay, fit_delay=fit_delay)
    assert_allclose(RefitRegressor(TREE, **options).prequential_predict(X, y), expected, rtol=1e-12)
    parts, model = [], RefitRegressor(TREE, **options)
    for low, high in pairwise([0, 1, 29, 30, 31, 55, 56, 120, 300]):
        parts.append(model.prequential_predict(X[low:high], y[low:high]))
        assert model.n_samples_fit_ in (0, *(n for n in range(30, high - fit_delay + 1)))
        model = copy.deepcopy(model) if low % 2 else pickle.loads(pickle.dumps(model))
        if not delay and high < len(y):
            assert_allclose(model.predict(X[high : high + 1]), expected[high : high + 1])
    assert_allclose(np.concatenate(parts), expected, rtol=1e-12)


def test_a_fit_in_the_background_is_waited_for_at_its_row_alone():
    begun, may_end = Event(), Event()

    class Slow(LinearRegression):
        def fit(self, X, y):
            begun.set()
            assert may_end.wait(60)
            if (y > 100).any():
                raise RuntimeError("no")
            return super().fit(X, y)

    X, y = stream(60)
    model = RefitRegressor(Slow(), growth=0.5, fit_delay=10).fit(X[:39], y[:39])
    assert begun.wait(60)  # and yet the calls return
    assert_allclose(model.predict(X[:1]), y[:39].mean())
    may_end.set()
    assert model.partial_fit(X[39:40], y[39:40]).n_samples_fit_ == 30
    assert_allclose(model.predict(X), LinearRegression().fit(X[:30], y[:30]).predict(X))
    failing = RefitRegressor(Slow(), fit_delay=10).fit(X[:35], 1000.0 * y[:35])
    with pytest.raises(RuntimeError, match="no"):
        failing.partial_fit(X[35:], y[35:])
    assert failing.n_samples_seen_ == 35


def test_a_fit_in_the_background_is_saved_once_it_is_made(tmp_path):
    pytest.importorskip("skops")
    X, y = stream(50)
    model = RefitRegressor(LinearRegression(), fit_delay=10).fit(X[:35], y[:35])
    save(model, tmp_path / "model.skops")
    other = load(tmp_path / "model.skops")
    for one in (model, other):
        one.partial_fit(X[35:], y[35:])
    assert_array_equal(other.predict(X), model.predict(X))


@pytest.mark.parametrize("n", [1, 28, 29, 30, 31, 32])
def test_few_rows_and_the_first_fit(n):
    X, y = stream(n)
    model = RefitRegressor(TREE).fit(X, y)
    assert model.n_samples_fit_ == {30: 30, 31: 30, 32: 32}.get(n, 0)
    if n < 30:
        assert_allclose(model.predict(X), y.mean())
        with pytest.raises(AttributeError, match="first fit is after 30 rows"):
            model.estimator_  # noqa: B018
    else:
        assert_array_equal(model.predict(X), model.estimator_.predict(X))


def test_two_copies_that_part_do_not_see_each_other():
    X, y = stream()
    model = RefitRegressor(KNeighborsRegressor(), growth=0.1).fit(X[:100], y[:100])
    other, third = copy.copy(model), copy.deepcopy(model)
    for t in range(100, 160):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        other.partial_fit(X[t : t + 1], -y[t : t + 1])
    third.partial_fit(X[100:160], y[100:160])
    assert_array_equal(model.predict(X), third.predict(X))
    assert not np.allclose(other.predict(X), third.predict(X))


def test_an_unset_random_state_is_drawn_once():
    X, y = stream(120)
    forest = RandomForestRegressor(n_estimators=3)
    models = [RefitRegressor(forest, growth=0.5, random_state=seed) for seed in (0, 0, 1)]
    F = [model.prequential_predict(X, y) for model in models]
    assert_array_equal(F[0], F[1])
    assert not np.array_equal(F[0], F[2])
    assert forest.random_state is None
    fixed = RandomForestRegressor(n_estimators=3, random_state=7)
    assert RefitRegressor(fixed, random_state=0).fit(X, y).estimator_.random_state == 7


def test_gaps_are_for_estimators_that_take_them():
    X, y = stream(60)
    X[3, 1] = np.nan
    gaps = RefitRegressor(HistGradientBoostingRegressor(max_iter=3, early_stopping=False))
    assert np.isfinite(gaps.prequential_predict(X, y)).all()
    with pytest.raises(ValueError, match="NaN"):
        RefitRegressor(LinearRegression()).fit(X, y)


def test_a_window_bounds_the_memory():
    X, y = stream(3000)
    model = RefitRegressor(LinearRegression(), growth=1.0, window=50).fit(X[:1000], y[:1000])
    size = len(pickle.dumps(model))
    model.partial_fit(X[1000:], y[1000:])
    assert len(pickle.dumps(model)) <= size + 200


def test_a_failed_fit_leaves_the_model_as_it_was():
    class Moody(LinearRegression):
        def fit(self, X, y):
            if (y > 100).any():
                raise RuntimeError("no")
            return super().fit(X, y)

    X, y = stream(100)
    model = RefitRegressor(Moody()).fit(X[:40], y[:40])
    before = model.predict(X)
    with pytest.raises(RuntimeError):
        model.partial_fit(X[40:60], 1000.0 * y[40:60])
    assert model.n_samples_seen_ == 40
    assert_array_equal(model.predict(X), before)
    again = RefitRegressor(Moody()).fit(X, y)
    assert_array_equal(model.partial_fit(X[40:], y[40:]).predict(X), again.predict(X))


@pytest.mark.parametrize("estimator", [LogisticRegression(), DecisionTreeRegressor])
def test_what_is_no_regressor_is_refused(estimator):
    with pytest.raises((TypeError, ValueError), match=r"regressor|estimator"):
        RefitRegressor(estimator).fit(*stream(10))


@pytest.mark.parametrize("estimator", [SVR(), LinearRegression()])
def test_each_of_several_targets_is_forecast_as_it_alone(estimator):
    X, y = stream(90)
    Y = np.column_stack([y, X[:, 2] - 3.0 * y])
    model = RefitRegressor(estimator, growth=0.3, label_delay=2)
    alone = [clone(model).fit(X, target) for target in Y.T]
    expected = [clone(model).prequential_predict(X, target) for target in Y.T]
    parts = [model.prequential_predict(X[a:b], Y[a:b]) for a, b in pairwise([0, 1, 31, 33, 90])]
    assert_allclose(np.concatenate(parts), np.transpose(expected), rtol=1e-9)
    expected = np.column_stack([one.predict(X) for one in alone])
    assert_allclose(pickle.loads(pickle.dumps(model)).predict(X), expected, rtol=1e-9)
    assert_allclose(clone(model).fit(X, Y[:, :1]).predict(X), expected[:, :1], rtol=1e-9)
    assert clone(model).fit(X[:9], Y[:9]).predict(X[:1]) == pytest.approx(Y[:9].mean(axis=0)[None])


@pytest.mark.parametrize("value", [1e160, -1e300])
def test_a_fit_that_fails_says_whose_it_is_and_leaves_the_model_as_it_was(value):
    X, y = stream(60)
    model = RefitRegressor(Ridge()).fit(X[:30], y[:30])
    before = model.predict(X)
    X[40, 1] = value  # its squares are too large for the products of the solver
    with pytest.raises(ValueError, match=r"Ridge could not be fitted to the .* rows kept so far: "):
        model.partial_fit(X[30:], y[30:])
    assert_array_equal(model.predict(X[:30]), before[:30])
    assert model.n_samples_seen_ == 30
