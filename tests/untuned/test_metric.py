"""Which columns make rows similar is learnt, and costs little where it is learnt wrongly."""

import numpy as np
import pytest

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.untuned.experts import _metric


@pytest.fixture
def equal_weights(monkeypatch):
    """Return what lets all columns count the same from then on."""

    def begin():
        monkeypatch.setattr(_metric, "_RATE", 0.0)
        monkeypatch.setattr(_metric, "_SURELY", 1e9)

    return begin


def fields(X, seed):
    """Return the levels of fields on a map of two columns."""
    levels = np.random.default_rng(100 + seed).normal(size=(6, 6))
    return levels[tuple((6 * X).astype(int).T)]


def late_loss(X, y, first, **arguments):
    """Return the mean squared error from a row on, and the model."""
    model = OnlineKernelRegressor(budget="fast", random_state=0, **arguments)
    return np.square(model.prequential_predict(X, y) - y)[first:].mean(), model


@pytest.mark.long(every=50)
@pytest.mark.parametrize(("seed", "delay"), [(2, 0), (4, 0), (1, 70)])
def test_columns_that_say_nothing_count_for_less(seed, delay, equal_weights):
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 60, 2500)
    X = np.hstack([rng.normal(size=(60, 2))[place], rng.normal(size=(len(place), 5))])
    X[:, :2] += 0.02 * rng.normal(size=(len(X), 2))
    y = rng.normal(size=60)[place] + 0.3 * rng.normal(size=len(X))
    loss, model = late_loss(X, y, 1500, lags=0, label_delay=delay)
    scales = model._state["near"]["metric"]["scales"]
    assert len(scales) == 1 + -(-delay // 64)
    assert (scales[-1, :, :2].min(axis=1) > 3.0 * scales[-1, :, 2:].max(axis=1)).all()
    equal_weights()
    assert loss < (0.995 if delay else 0.96) * late_loss(X, y, 1500, lags=0, label_delay=delay)[0]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("every", [300, 1500])
def test_where_other_columns_tell_from_then_on_little_is_lost(seed, every, equal_weights):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(3000, 6))
    is_first = np.arange(len(X)) // every % 2 == 0
    y = np.where(is_first, fields(X[:, :2], seed), fields(X[:, 2:4], seed))
    y += 0.1 * rng.normal(size=len(X))
    loss, _ = late_loss(X, y, every)
    equal_weights()
    assert loss < 1.02 * late_loss(X, y, every)[0]


@pytest.mark.parametrize("missed", [0.0, 1e-200, 1e9, 1e150])
def test_a_row_counts_for_one_whatever_it_misses(missed):
    rng = np.random.default_rng(0)
    metric, counts = _metric.start(3, 1, 0, 0), (None, None)
    differences, told = rng.uniform(size=(3, 64, 5, 3)), rng.normal(size=(3, 64, 5, 2))
    errors = rng.normal(size=(64, 2))
    errors[7] = told[:, 9, 2] = missed
    of_rows = differences, told, errors, (2, 4), np.zeros((3, 64, 5)), counts
    learnt = _metric.learn(metric, *of_rows)
    assert np.sqrt(learnt["squares"]).max() <= 1.0
    for _ in range(30):
        by_columns, by_all = learnt["scales"][-1]
        assert by_columns[-1] == 0.0  # the latest target
        for scales in (by_columns[:-1], by_all, learnt["challenger"]):
            assert (np.abs(np.log(scales)) <= 7.0 + 1e-12).all()
        assert abs(np.log(by_columns[:-1]).mean()) < 1e-12
        learnt = _metric.learn(learnt, *of_rows)


def far_apart(n, seed):
    """Return rows and targets of which two columns of eight tell together only."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 8))
    y = np.sin(9.0 * X[:, 0]) * np.cos(9.0 * X[:, 1]) + X[:, 2] + 0.3 * rng.normal(size=n)
    return X, y


@pytest.mark.long(every=50)
@pytest.mark.parametrize("seed", range(6))
def test_a_challenger_finds_what_tells_together_only(seed):
    X, y = far_apart(4500, seed)
    loss, _ = late_loss(X, y, 3000)
    assert loss < 0.17  # of noise .09; where all columns count the same some .33


@pytest.mark.parametrize("better", [-1.0, 0.0, 1.0])
def test_a_challenger_goes_on_where_it_is_surely_better_and_else_another_one_begins(
    better, monkeypatch
):
    monkeypatch.setattr(_metric, "_RATE", 0.0)
    rng = np.random.default_rng(3)
    metric, n_rows = _metric.start(4, 2, 1, 7), 64
    levels = rng.normal(size=n_rows)
    told = np.stack([rng.normal(size=(n_rows, 5)) for _ in range(3)])
    told[2] = better * levels[:, None] + (better == 0.0) * told[1]
    differences = np.tile(rng.uniform(size=(n_rows, 5, 4)), (3, 1, 1, 1))
    of_rows = differences, told[..., None], levels[:, None], (2, 4), np.zeros(told.shape)
    first = metric["challenger"]
    metric = _metric.learn(metric, *of_rows, (None, None))
    assert metric["n_drawn"] == (better < 1.0)  # in one block nothing is sure
    metric = _metric.learn(metric, *of_rows, (None, None))
    is_taken = np.allclose(metric["scales"][-1, 1], first)
    assert is_taken == (better == 1.0)
    assert metric["n_drawn"] == (1 if is_taken else 2)
