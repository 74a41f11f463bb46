"""What estimators build from their parameters: once in a call, and not again while these stay."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from sklearn_okl import (
    BOARegressor,
    CONKONSRegressor,
    MultiKernelRegressor,
    NONSALDRegressor,
    VAW2Regressor,
    VAWRegressor,
)

GRID = {"gamma": [0.1, 1.0]}


def stream(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    return X, np.sin(3 * X[:, 0]) * X[:, 1]


def counted(class_, verb):
    """Return a class whose calls of a verb are counted in `asked`, and the list."""
    asked = []

    class Counted(class_):
        __init__ = class_.__init__

    def count(self):
        asked.append(self.get_params(deep=False))
        return getattr(class_, verb)(self)

    setattr(Counted, verb, count)
    return Counted, asked


@pytest.mark.parametrize(
    ("class_", "verb", "arguments"),
    [
        (VAW2Regressor, "_parts", {"kernels": GRID, "n_components": 8}),
        (CONKONSRegressor, "_newton", {"gamma": 0.5, "radius": 2.0}),
    ],
)
def test_parts_are_built_once_while_the_parameters_stay(class_, verb, arguments):
    """At fe656ae VAW² builds its two forecasters twice in every call."""
    Counted, asked = counted(class_, verb)
    model = Counted(**arguments, random_state=0)
    X, y = stream(0)
    model.partial_fit(X[:20], y[:20])
    asked.clear()
    for t in range(20, 30):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    assert asked == []
    copy.deepcopy(model).partial_fit(X[30:31], y[30:31])
    assert len(asked) <= 1


def test_a_parameter_set_in_mid_stream_is_heeded():
    X, y = stream(1)
    model = VAW2Regressor(GRID, n_components=8, random_state=0).fit(X[:30], y[:30])
    other = clone(model).fit(X[:30], y[:30]).set_params(forgetting=0.5)
    for t in range(30, 40):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        other.partial_fit(X[t : t + 1], y[t : t + 1])
    assert np.abs(model.predict(X) - other.predict(X)).max() > 1e-3
    before = model.predict(X)
    model.set_params(forecaster="ridge")
    assert np.abs(model.predict(X) - before).max() > 1e-6
    assert_array_equal(model.set_params(forecaster="vaw").predict(X), before)


def test_parts_given_are_asked_for_once_in_a_call_and_may_be_edited():
    Counted, asked = counted(MultiKernelRegressor, "_parts")
    X, y = stream(2)
    model = Counted(GRID, VAWRegressor(), BOARegressor(), n_components=8, random_state=0)
    model.fit(X[:30], y[:30])
    asked.clear()
    model.partial_fit(X[30:31], y[30:31])
    assert len(asked) == 2  # to check them, and to learn
    twin = copy.deepcopy(model)
    model.expert.forgetting = 0.5
    for estimator in (model, twin):
        estimator.partial_fit(X[31:], y[31:])
    assert np.abs(model.predict(X) - twin.predict(X)).max() > 1e-3


def test_a_call_that_fails_leaves_the_parts_of_its_parameters():
    X, y = stream(3)
    model = VAW2Regressor(GRID, n_components=8, random_state=0).fit(X[:30], y[:30])
    before = model.predict(X)
    model.set_params(forgetting=0.5)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit([[np.nan] * 3], [0.0])
    with pytest.raises(ValueError, match="overflowed"):
        model.partial_fit(X[30:], np.full(30, 1e300))
    assert_array_equal(model.set_params(forgetting=1.0).predict(X), before)
    expected = clone(model).fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    assert_array_equal(model.partial_fit(X[30:], y[30:]).predict(X), expected.predict(X))


@pytest.mark.parametrize(("horizon", "novelty"), [(None, 0.01), (1, 0.5), (50, 0.5), (1000, 0.025)])
def test_how_new_a_row_must_be_follows_from_how_many_will_come(horizon, novelty):
    assert NONSALDRegressor(horizon=horizon)._rule().novelty == novelty
    assert NONSALDRegressor(horizon=horizon, novelty=0.2)._rule().novelty == 0.2
