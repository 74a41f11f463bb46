"""Densities of errors: an oracle, cuts, a law, and streams whose law is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import trapezoid
from sklearn.base import clone

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.conformal import QuantileDistribution
from sklearn_okl.evaluation import log_score
from sklearn_okl.untuned.rounds import _densities, _row_laws

from ..oracles.smooth_densities import SmoothDensities

ROWS = OnlineKernelRegressor(budget="fast", spread="rows", random_state=0)
LAWS = {
    "gaussian": lambda rng, X: 0.3 * np.exp(0.7 * X[:, 2]) * rng.normal(size=len(X)),
    "skewed": lambda rng, X: 0.5 * rng.gamma(1.5, size=len(X)) - 0.75,
    "heavy": lambda rng, X: 0.4 * rng.standard_t(3, size=len(X)),
    "bounded": lambda rng, X: rng.uniform(-0.5, 0.5, size=len(X)),
    "bimodal": lambda rng, X: (
        0.6 * rng.choice([-1.0, 1.0], size=len(X)) + 0.15 * rng.normal(size=len(X))
    ),
}


def stream(law, n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] + LAWS[law](rng, X)


@pytest.mark.parametrize("n", [40, pytest.param(510, marks=pytest.mark.long)])
def test_the_mixture_is_its_oracle(n):
    rng = np.random.default_rng(0)
    scores, scales = rng.standard_t(3, size=(n, 2)), rng.gamma(3.0, size=(n, 2))
    windows = [scores[max(end - 500, 0) : end] for end in range(1, n + 1)]
    state, literal = _densities.start(), SmoothDensities()
    found = _densities.learn(state, scores, scales, windows, range(1, n + 1))
    assert_allclose(found, [literal.learn(*pair) for pair in zip(scores, scales, strict=True)])
    assert_allclose(np.exp(state["logs"]), literal.weights)


@pytest.mark.parametrize("delay", [0, 4])
def test_the_cut_of_the_errors_is_invisible(delay):
    rng = np.random.default_rng(1)
    errors, sizes = rng.gamma(2.0, size=200) - 2.0, rng.gamma(3.0, size=200)
    states = []
    for ends in ([200], [1, 2, 8, 60, 61, 190, 200], range(1, 201)):
        state, low = _row_laws.start(delay), 0
        for high in ends:
            _row_laws.learn(state, errors[low:high], sizes[low:high])
            low = high
        states.append(state)
    for other in states[1:]:
        for name, part in states[0]["density"].items():
            assert_allclose(other["density"][name], part, atol=1e-12)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("n_targets", [None, 2])
def test_it_is_a_density_near_the_quantiles(n_targets):
    X, y = stream("skewed", 150)
    Y = y if n_targets is None else np.column_stack([y, 5.0 - 3.0 * y])
    law = clone(ROWS).fit(X, Y).predict_distribution(X[:2])
    grid = np.sinh(np.linspace(-8.0, 8.0, 1001))
    heights = np.array([law.pdf(x) for x in grid])
    assert_allclose(trapezoid(heights, grid, axis=0), 1.0, atol=0.01)  # tails are heavy
    assert_allclose(law.log_pdf(1.0), np.log(law.pdf(1.0)))
    below = trapezoid(
        np.where(grid[:, None] <= 0.3, heights.reshape(len(grid), -1), 0.0), grid, axis=0
    )
    assert_allclose(below, law.cdf(0.3).ravel(), atol=0.15)
    bounded = clone(ROWS).set_params(target_range=(0.0, None)).fit(X, np.abs(Y))
    assert (bounded.predict_distribution(X[:2]).pdf(-0.1) == 0.0).all()
    first = clone(ROWS).fit(X[:1], Y[:1]).predict_distribution(X[:2])
    assert not np.isnan(first.log_pdf(1.0)).any()


@pytest.mark.long
@pytest.mark.parametrize("name", LAWS)
def test_it_is_likelier_than_the_density_of_quantiles(name):
    X, y = stream(name, 1500, seed=2)
    model, logs = clone(ROWS).fit(X[:1200], y[:1200]), []
    for t in range(1200, 1500):
        law = model.predict_distribution(X[t : t + 1])
        plain = QuantileDistribution(law.levels, law.quantiles)
        logs.append([log_score(y[t : t + 1], one) for one in (law, plain)])
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    smooth, plain = np.mean(logs, axis=0)
    assert smooth < plain - 0.05


def test_quartiles_are_those_of_numpy_to_the_last_bit():
    rng = np.random.default_rng(0)
    for m in range(2, 60):
        points = rng.standard_t(2, size=(m, 2)) * rng.choice([0.0, 1.0], size=(m, 1))
        expected = np.percentile(points, [25, 50, 75], axis=0)
        ordered = np.sort(points.T, axis=-1)
        np.testing.assert_array_equal(_densities._quartiles(ordered), expected)
