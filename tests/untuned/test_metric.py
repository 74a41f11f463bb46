"""Which columns make rows similar is learnt, and costs little where it is learnt wrongly."""

import numpy as np
import pytest

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.untuned.experts import _metric


def fields(X, seed):
    """Return the levels of fields on a map of two columns."""
    levels = np.random.default_rng(100 + seed).normal(size=(6, 6))
    return levels[tuple((6 * X).astype(int).T)]


def late_loss(X, y, first, **arguments):
    """Return the mean squared error from a row on, and the model."""
    model = OnlineKernelRegressor(budget="fast", random_state=0, **arguments)
    return np.square(model.prequential_predict(X, y) - y)[first:].mean(), model


@pytest.mark.long(every=2)
@pytest.mark.parametrize(("seed", "delay"), [(1, 0), (2, 0), (1, 70)])
def test_columns_that_say_nothing_count_for_less(seed, delay, monkeypatch):
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 60, 2500)
    X = np.hstack([rng.normal(size=(60, 2))[place], rng.normal(size=(len(place), 5))])
    X[:, :2] += 0.02 * rng.normal(size=(len(X), 2))
    y = rng.normal(size=60)[place] + 0.3 * rng.normal(size=len(X))
    loss, model = late_loss(X, y, 1500, lags=0, label_delay=delay)
    scales = model._state["near"]["metric"]["scales"]
    assert len(scales) == 1 + -(-delay // 64)
    assert scales[-1, :2].min() > 3.0 * scales[-1, 2:].max()
    monkeypatch.setattr(_metric, "_RATE", 0.0)
    assert loss < (0.995 if delay else 0.96) * late_loss(X, y, 1500, lags=0, label_delay=delay)[0]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("every", [300, 1500])
def test_where_other_columns_tell_from_then_on_little_is_lost(seed, every, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(3000, 6))
    is_first = np.arange(len(X)) // every % 2 == 0
    y = np.where(is_first, fields(X[:, :2], seed), fields(X[:, 2:4], seed))
    y += 0.1 * rng.normal(size=len(X))
    loss, _ = late_loss(X, y, every)
    monkeypatch.setattr(_metric, "_RATE", 0.0)
    assert loss < 1.02 * late_loss(X, y, every)[0]


@pytest.mark.parametrize("missed", [0.0, 1e-200, 1e9, 1e150])
def test_a_row_counts_for_one_whatever_it_misses(missed):
    rng = np.random.default_rng(0)
    metric, counts = _metric.start(3, 0), (None, None)
    differences, told = rng.uniform(size=(64, 5, 3)), rng.normal(size=(64, 5, 2))
    errors = rng.normal(size=(64, 2))
    errors[7] = told[9, 2] = missed
    of_rows = differences, told, errors, (2, 4), np.zeros((64, 5)), counts
    learnt = _metric.learn(metric, *of_rows)
    assert np.isfinite(learnt["scales"]).all()
    assert np.sqrt(learnt["squares"]).max() <= 1.0
    assert abs(np.log(learnt["scales"]).mean()) < 1e-12
    for _ in range(30):
        learnt = _metric.learn(learnt, *of_rows)
    assert np.isfinite(learnt["scales"]).all()
    assert (np.abs(np.log(learnt["scales"])) <= 7.0 + 1e-12).all()
