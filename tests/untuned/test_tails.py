"""Columns with long tails, whose logarithms are seen beside them by who is born later."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.inspection import explain
from sklearn_okl.untuned.experts._plan import WHOLE
from sklearn_okl.untuned.rows._encoding import Encoder
from sklearn_okl.untuned.rows._layout import plain_layout
from sklearn_okl.untuned.rows._tails import MOST, logarithms, long_tailed

N = 700


def counts(n=N, seed=0):
    """Return lognormal columns beside a normal one, and targets that tell orders of magnitude."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    X = np.column_stack([np.exp(2.5 * Z[:, :3]), Z[:, 3]])
    X[rng.uniform(size=n) < 0.1, 0] = 0.0
    y = np.sin(1.5 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + Z[:, 3]
    return X, y + 0.2 * rng.normal(size=n)


def tails_of(model):
    return model._state["columns"]["layout"]["tails"]


@pytest.mark.parametrize("seed", range(5))
def test_who_has_long_tails(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(64, 16))
    columns = {
        "lognormal": np.exp(2.0 * Z[:, 0]),
        "with zeros": np.exp(2.0 * Z[:, 1]) * (rng.uniform(size=64) < 0.8),
        "with gaps": np.where(rng.uniform(size=64) < 0.2, np.nan, np.exp(2.0 * Z[:, 2])),
        "in another unit": 1e-12 * np.exp(2.0 * Z[:, 3]),
        "normal": Z[:, 4],
        "far from 0": 100.0 + np.exp(2.0 * Z[:, 5]),
        "uniform": rng.uniform(size=64),
        "one is negative": np.append(np.exp(2.0 * Z[:63, 6]), -1.0),
        "few values": np.exp(rng.integers(0, 8, size=64)),
        "hardly a value": np.where(np.arange(64) < 30, np.exp(2.0 * Z[:, 7]), np.nan),
        "constant": np.ones(64),
        "deciles of a constant": np.r_[np.zeros(4), 1e-9, np.ones(53), 500.0 + np.arange(6)],
        "empty": np.full(64, np.nan),
        "negative": -np.exp(2.0 * Z[:, 8]),
        "mirrored": 1e4 - np.minimum(np.exp(2.0 * Z[:, 9]), 1e4),
        "place": np.exp(2.0 * Z[:, 10]),
    }
    X = np.column_stack(list(columns.values()))
    found, shifts = long_tailed(X, np.array([len(columns) - 1]))
    assert_array_equal(found, range(4))
    positive = X[:, :4][X[:, 0] > 0.0, 0]
    assert_allclose(shifts[0], np.quantile(positive, 0.1))
    assert len(long_tailed(X[:63], [])[0]) == 0
    assert len(long_tailed(np.exp(2.0 * rng.normal(size=(64, 40))), [])[0]) == MOST


def test_logarithms_are_of_the_columns_and_keep_gaps():
    X = np.array([[1.0, -5.0], [np.nan, 0.0], [1e300, 2.0]])
    Z = logarithms(X, np.array([1, 0]), np.array([0.5, 1.0]))
    assert_allclose(Z, np.log([[0.5, 2.0], [0.5, np.nan], [2.5, 1e300]]))


@pytest.mark.parametrize("n_targets", [None, 2])
def test_where_logarithms_are_among_what_is_shown(n_targets):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.exp(rng.normal(size=50)), rng.integers(0, 3, size=50)])
    X[3, 0] = np.nan
    more = {"tails": np.array([0]), "shifts": np.array([0.25])}
    encoder = Encoder(n_targets=n_targets)
    Y = rng.normal(size=50 if n_targets is None else (50, n_targets))
    alone = plain_layout(np.empty(0, dtype=int)) | more
    state = encoder.start(alone, 2)
    Z = encoder.learn(state, X, Y)
    assert_array_equal(Z, np.column_stack([X, np.log(X[:, 0] + 0.25)]))
    assert_array_equal(encoder.look(state, X), Z)
    assert Z.shape[1] == encoder.width(alone, 2)
    of_all = plain_layout(np.array([1])) | more
    of_all |= {"indicators": np.array([[1, 0], [1, -2]]), "gaps": True}
    Z = encoder.learn(encoder.start(of_all, 2), X, Y)
    assert Z.shape[1] == encoder.width(of_all, 2)
    assert_array_equal(Z[:, 4], np.log(X[:, 0] + 0.25))


def test_they_are_seen_by_a_line_and_who_is_born_later():
    X, y = counts()
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, y)
    assert_array_equal(tails_of(model), [0, 1, 2])
    places = X.shape[1] + np.arange(3)
    for name, bank in model._state["banks"].items():
        masks, n = bank["features"]["masks"], len(bank["members"])
        frequencies = bank["features"]["frequencies"][:n, places]
        assert (masks[:n, :4] > 0.0).all()
        assert (masks[:n, places] > 0.0).any() == (name in ("born", WHOLE))
        assert not frequencies.size or (frequencies != 0.0).any() == (name == "born")


@pytest.mark.long(every=3)
@pytest.mark.parametrize("budget", ["fast", "tiny"])
@pytest.mark.parametrize("delay", [0, 5])
def test_cuts_do_not_change_forecasts(budget, delay):
    X, y = counts()
    X[::9, 1] = np.nan
    kind = {"budget": budget, "label_delay": delay, "random_state": 1}
    whole = OnlineKernelRegressor(**kind)
    expected = whole.prequential_predict(X, y)
    assert len(tails_of(whole)) == 3
    parts, model = [], OnlineKernelRegressor(**kind)
    stops = [0, 1, 63, 64, 65, 200, *range(201, 210), 513, N]
    for low, high in pairwise(stops):
        parts.append(model.prequential_predict(X[low:high], y[low:high]))
        model = pickle.loads(pickle.dumps(model))
    assert_allclose(np.concatenate(parts), expected, atol=1e-8)
    assert_allclose(model.predict(X[:9]), whole.predict(X[:9]), atol=1e-8)


@pytest.mark.long
def test_faults_and_other_units_of_a_column_with_a_tail_do_no_lasting_harm():
    X, y = counts(1500)
    clean = OnlineKernelRegressor(budget="fast", random_state=0).prequential_predict(X, y)
    spoilt = X.copy()
    spoilt[300:1000:50, 1] = -9999.0
    spoilt[320:1000:50, 2] = 1e12
    model = OnlineKernelRegressor(budget="fast", random_state=0)
    found = model.prequential_predict(spoilt, y)
    good = (spoilt == X).all(axis=1) & (np.arange(1500) > 300)
    assert np.isfinite(found).all()
    assert np.square(found - y)[good].mean() < 1.2 * np.square(clean - y)[good].mean()


def test_what_logarithms_say_is_their_columns():
    X, y = counts()
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, y)
    asked = np.repeat(X[-1:], 6, axis=0)
    asked[:, 1] *= [1e-3, 0.01, 0.1, 10.0, 100.0, 1e3]
    found = explain(model, asked, X[-1:])
    assert_allclose(found.forecasts, model.predict(asked))
    moved = np.abs(found.values).sum(axis=0)
    assert moved[1] > 0.1
    assert_allclose(moved[[0, 2, 3]], 0.0, atol=1e-9)


def test_classes_see_them_too():
    X, y = counts()
    model = OnlineKernelClassifier(budget="fast", random_state=0).fit(X, y > 0.0)
    assert_array_equal(tails_of(model), [0, 1, 2])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_they_help_where_orders_of_magnitude_tell_and_cost_little_else(seed, monkeypatch):
    def losses():
        X, y = counts(2000, seed)
        for targets in (y, np.random.default_rng(seed).normal(size=2000)):
            model = OnlineKernelRegressor(budget="fast", random_state=seed)
            yield np.square(model.prequential_predict(X, targets) - targets)[100:].mean()

    found = np.array(list(losses()))
    monkeypatch.setattr("sklearn_okl.untuned.rows._tails._RATIO", np.inf)
    ratios = found / list(losses())
    assert ratios[0] < 0.95
    assert ratios[1] < 1.02
