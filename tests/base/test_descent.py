"""Descent on inner products is descent on the features, row by row."""

import numpy as np
import pytest

from sklearn_okl.base._descent import descend, descend_features
from sklearn_okl.losses import get_loss


def plainly(Z, theta, y, loss, etas, radius, gradients_sq=0.0):
    forecasts = np.empty(len(y))
    for t, (z, target) in enumerate(zip(Z, y, strict=True)):
        forecasts[t] = theta @ z
        gradient = loss.slope(target, forecasts[t]) * z
        gradients_sq += gradient @ gradient
        eta = radius / np.sqrt(1.0 + gradients_sq) if etas is None else etas[t]
        theta = theta - eta * gradient
        if radius is not None:
            theta = theta * min(1.0, radius / np.linalg.norm(theta))
    return theta, forecasts, gradients_sq


@pytest.mark.parametrize(
    ("radius", "adaptive"), [(None, False), (0.3, False), (2.0, False), (0.3, True), (2.0, True)]
)
@pytest.mark.parametrize("name", ["squared_error", "absolute_error", "pinball", "hinge"])
def test_steps_are_those_on_the_features(name, radius, adaptive):
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(50, 7)) / 3, np.sign(rng.normal(size=50))
    etas = None if adaptive else 1.5 / np.sqrt(np.arange(1, 51))
    theta = 0.1 * rng.normal(size=7)
    expected, forecasts, gradients_sq = plainly(Z, theta, y, get_loss(name), etas, radius, 0.5)
    found, learnt = descend_features(Z, theta, y, get_loss(name), etas, radius, 0.5)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(learnt.forecasts, forecasts, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(learnt.gradients_sq, gradients_sq, rtol=1e-10)
    np.testing.assert_allclose(learnt.norm_sq, expected @ expected, rtol=1e-9)


def test_steps_far_out_of_the_ball_leave_it_finite():
    Z, y = np.eye(64) + 1.0, np.ones(64)
    etas = np.full(64, 1e12)  # each step leaves next to nothing of what was before
    found, _ = descend_features(Z, np.ones(64), y, get_loss("absolute_error"), etas, 1.0)
    assert np.linalg.norm(found) <= 1.0 + 1e-9


def test_an_overflow_shows_in_the_forecasts():
    loss, gram = get_loss("squared_error"), np.eye(3)
    learnt = descend(gram, np.zeros(3), np.array([1.0, 1e200, 1.0]), loss, None, 1.0, 0.0)
    assert not np.isfinite(learnt.forecasts).all()
