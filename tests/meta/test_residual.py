"""A correction that learns what a base leaves."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from sklearn_okl import OnlineKernelRegressor, RefitRegressor, ResidualRegressor, VAWRegressor
from tests.oracles.refit import corrected

BASE = VAWRegressor(fit_intercept=True)
TREE = RefitRegressor(DecisionTreeRegressor(max_depth=4, random_state=0), growth=0.3)
# of the base's rounding, which depends on the cut, trees may make another split
REFIT = RefitRegressor(Ridge(), growth=0.3)


def stream(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, 3.0 * X[:, 0] + np.sign(X[:, 1]) + 0.1 * rng.normal(size=n) + 50.0


@pytest.mark.long(every=3)
@pytest.mark.parametrize("passthrough", [True, False])
@pytest.mark.parametrize("warmup", [0, 1, 30])
@pytest.mark.parametrize("correction", [REFIT, VAWRegressor(10.0)])
def test_equal_to_the_oracle_whatever_the_cut(warmup, passthrough, correction):
    X, y = stream()
    options = {"warmup": warmup, "passthrough": passthrough}
    expected = corrected(BASE, correction, X, y, **options)
    model = ResidualRegressor(BASE, correction, **options)
    assert_allclose(model.prequential_predict(X, y), expected, rtol=1e-8)
    model, parts = ResidualRegressor(BASE, correction, **options), []
    cuts = [0, 1, 2, 29, 30, 31, 150, 200]
    for low, high in pairwise(cuts):
        forecast = model.predict(X[low : low + 1]) if low else [0.0]
        parts.append(model.prequential_predict(X[low:high], y[low:high]))
        assert_allclose(parts[-1][0], forecast[0], rtol=1e-8)
    assert_allclose(np.concatenate(parts), expected, rtol=1e-8)


def test_it_finds_what_the_base_cannot_say():
    X, y = stream(1000)
    y -= 50.0
    alone = clone(BASE).prequential_predict(X, y)
    both = ResidualRegressor(BASE, TREE).prequential_predict(X, y)
    late = slice(300, None)
    assert np.square(y - both)[late].mean() < 0.6 * np.square(y - alone)[late].mean()


def test_late_labels_are_the_same_for_both():
    X, y = stream()
    base = OnlineKernelRegressor(budget="fast", label_delay=3, random_state=0)
    with pytest.raises(ValueError, match="Give both the same"):
        ResidualRegressor(base, TREE).fit(X, y)
    late = RefitRegressor(TREE.estimator, growth=0.3, label_delay=3)
    model = ResidualRegressor(base, late)
    assert model.label_delay == 3
    whole = model.fit(X, y).predict(X)
    for rows in (slice(0, 31), slice(31, 36), slice(36, 200)):
        model = (ResidualRegressor(base, late) if rows.start == 0 else model).partial_fit(
            X[rows], y[rows]
        )
    assert_allclose(model.predict(X), whole, rtol=1e-8)


def test_what_is_no_regressor_is_refused():
    with pytest.raises((TypeError, ValueError), match="base"):
        ResidualRegressor(LogisticRegression()).fit(*stream(10))


def test_each_of_several_targets_is_corrected_as_it_alone():
    X, y = stream(120)
    Y = np.column_stack([y, X[:, 1] - 2.0 * y])
    model = ResidualRegressor(BASE, REFIT, passthrough=False)
    expected = [clone(model).prequential_predict(X, target) for target in Y.T]
    assert_allclose(clone(model).prequential_predict(X, Y), np.transpose(expected), rtol=1e-8)
    column = clone(model).fit(X, Y[:, :1]).predict(X)
    assert_allclose(column[:, 0], clone(model).fit(X, Y[:, 0]).predict(X), rtol=1e-8)
    with_both = model.set_params(passthrough=True).fit(X, Y)
    assert with_both.predict(X).shape == (120, 2)
    assert with_both.correction_.n_features_in_ == 4
