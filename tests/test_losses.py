"""Losses: slopes against finite differences, convexity, tight constants, extreme arguments."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import hinge_loss, log_loss, mean_pinball_loss

from sklearn_okl.losses import get_loss

TARGETS = ["squared_error", "absolute_error", "pinball"]
MARGINS = ["log_loss", "squared_hinge", "hinge"]
ALL = [
    (name, q) for name in TARGETS + MARGINS for q in ([0.5, 0.9] if name == "pinball" else [0.5])
]
every_loss = pytest.mark.parametrize(("name", "quantile"), ALL)


def pairs(name, seed, n=2000, size=3.0):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n) if name in MARGINS else rng.normal(size=n)
    return y, size * rng.normal(size=n)


def away_from_kinks(name, y, f, margin=1e-3):
    kink = 1 - y * f if name in MARGINS else f - y
    return np.abs(kink) > margin


@every_loss
@pytest.mark.parametrize("seed", [0, 1])
def test_slope_is_the_derivative(name, quantile, seed):
    loss = get_loss(name, quantile)
    y, f = pairs(name, seed)
    smooth = away_from_kinks(name, y, f)
    y, f = y[smooth], f[smooth]
    h = 1e-5
    numeric = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    assert_allclose(loss.slope(y, f), numeric, rtol=1e-6, atol=1e-8)


@every_loss
def test_slope_supports_the_loss_everywhere_kinks_included(name, quantile):
    loss = get_loss(name, quantile)
    y, f = pairs(name, 2, n=100)
    f[:50] = y[:50]  # the kink of every loss that has one
    g = np.linspace(-5, 5, 201)
    line = loss.value(y, f)[:, None] + loss.slope(y, f)[:, None] * (g - f[:, None])
    assert np.all(loss.value(y[:, None], g) >= line - 1e-12)  # convexity is the same thing


@every_loss
@pytest.mark.parametrize("bound", [0.5, 1.0, 7.0])
def test_lipschitz_constant_is_tight(name, quantile, bound):
    loss = get_loss(name, quantile)
    grid = np.linspace(-bound, bound, 401)
    y = np.array([-1.0, 1.0]) if name in MARGINS else grid
    steepest = np.abs(loss.slope(y[:, None], grid)).max()
    assert_allclose(steepest, loss.lipschitz(bound), rtol=1e-12)
    assert isinstance(loss.lipschitz(bound), float)


@every_loss
def test_lipschitz_constant_of_targets_and_forecasts_of_unlike_bounds_is_tight(name, quantile):
    loss = get_loss(name, quantile)
    y = np.array([-1.0, 1.0]) if name in MARGINS else np.linspace(-0.5, 0.5, 101)
    steepest = np.abs(loss.slope(y[:, None], np.linspace(-3, 3, 601))).max()
    assert_allclose(loss.lipschitz(3.0, 0.5), steepest, rtol=1e-12)


@every_loss
@pytest.mark.parametrize("bound", [0.5, 2.0])
def test_the_rate_of_exp_concavity_is_tight(name, quantile, bound):
    loss = get_loss(name, quantile)
    y = np.array([[-1.0], [1.0]]) if name in MARGINS else np.linspace(-bound, bound, 21)[:, None]
    f = np.linspace(-bound, bound, 401)

    def bend(rate):  # where the slope of exp(-rate loss) grows, it is not concave
        return np.diff(np.exp(-rate * loss.value(y, f)), 2).max()

    rate = loss.exp_concavity(bound)
    if rate is None:
        assert bend(1e-3) > 0
    else:
        assert bend(rate) < 1e-12
        assert bend(1.1 * rate) > 1e-9


@every_loss
def test_small_losses_have_small_slopes(name, quantile):
    loss = get_loss(name, quantile)
    y, f = pairs(name, 4)
    slopes, values = np.abs(loss.slope(y, f)), loss.value(y, f)
    if loss.self_bounding == np.inf:
        assert (slopes[values < 0.1] ** 2 > 2 * values[values < 0.1]).any()
    else:
        assert np.all(
            slopes ** (1 if name == "log_loss" else 2) <= loss.self_bounding * values + 1e-12
        )


@every_loss
def test_smoothness_is_tight(name, quantile):
    loss = get_loss(name, quantile)
    f = np.linspace(-4, 4, 8001)
    bends = np.abs(np.diff(loss.slope(1.0, f))) / np.diff(f)
    if np.isinf(loss.smoothness):
        assert bends.max() > 400  # a jump, seen at the spacing of the grid
    else:
        assert_allclose(bends.max(), loss.smoothness, rtol=1e-6)


@every_loss
def test_extreme_arguments_stay_finite_and_exact(name, quantile):
    loss = get_loss(name, quantile)
    y = np.array([-1.0, 1.0]) if name in MARGINS else np.array([-1e8, 1e8])
    f = np.array([-1e8, -750.0, 0.0, 750.0, 1e8])[:, None]
    with np.errstate(all="raise", under="ignore"):
        values, slopes = loss.value(y, f), loss.slope(y, f)
    assert np.all(np.isfinite(values))
    assert np.all(np.isfinite(slopes))
    assert values.shape == slopes.shape == (5, 2)
    if name == "log_loss":
        assert_array_equal(values[[0, 4], [1, 0]], 1e8)
        assert_array_equal(values[[0, 4], [0, 1]], 0.0)
        assert_array_equal(slopes[[0, 4], [1, 0]], [-1.0, 1.0])


def test_values_are_scikit_learns():
    y, f = pairs("pinball", 3)
    assert_allclose(
        get_loss("pinball", 0.8).value(y, f).mean(), mean_pinball_loss(y, f, alpha=0.8), rtol=1e-12
    )
    assert_allclose(get_loss("absolute_error").value(y, f), np.abs(f - y))
    labels, f = pairs("hinge", 3)
    assert_allclose(get_loss("hinge").value(labels, f).mean(), hinge_loss(labels, f), rtol=1e-12)
    probabilities = 1 / (1 + np.exp(-f))
    assert_allclose(
        get_loss("log_loss").value(labels, f).mean(), log_loss(labels, probabilities), rtol=1e-10
    )


@every_loss
def test_lists_integers_and_scalars_broadcast(name, quantile):
    loss = get_loss(name, quantile)
    for verb in (loss.value, loss.slope):
        assert_allclose(verb([1, -1], [[2], [0]]), verb(np.array([1.0, -1.0]), [[2.0], [0.0]]))
        assert np.ndim(verb(1, 2)) == 0
        assert_array_equal(verb(np.array([1, -1]), 3), [verb(1, 3), verb(-1, 3)])


@every_loss
def test_losses_are_values(name, quantile):
    loss = get_loss(name, quantile)
    assert pickle.loads(pickle.dumps(loss)) == loss == get_loss(name, quantile)
    with pytest.raises(AttributeError):
        loss.quantile = 0.1
    assert get_loss("pinball", 0.1) != get_loss("pinball", 0.2)


def test_wrong_names_and_levels_are_refused():
    with pytest.raises(ValueError, match="Choose one of"):
        get_loss("squared_eror")
    for quantile in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            get_loss("pinball", quantile)
