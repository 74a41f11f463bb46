import numpy as np
import pytest

from sklearn_okl import kernels
from sklearn_okl.dictionaries._kors import (
    entry_probabilities,
    first_entry,
    grow_sampler,
    start_sampler,
    uniforms,
)
from sklearn_okl.dictionaries._nested import CLOSE

RBF = kernels.RBF(0.7)
KERNELS = [
    RBF,
    kernels.Laplacian(0.7),
    kernels.Polynomial(0.3, degree=4),
    kernels.exact_kernel(lambda X, Y: np.exp(X @ Y.T)),
]


def rows(n, seed=0, d=3):
    return np.random.default_rng(seed).uniform(-1, 1, (n, d))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("mu", [0.01, 1.0, 100.0])
def test_probabilities_are_those_of_the_bordered_inverse(kernel, mu):
    S, X, beta, eps = rows(8), rows(20, 1), 0.4, 0.5
    sampler = start_sampler(3, np.random.RandomState(0))
    np.testing.assert_array_equal(entry_probabilities(kernel, sampler, X, mu, beta, eps), 1.0)
    for s in S:
        grow_sampler(kernel, sampler, s, mu, beta, eps)
    scales = sampler["scales"]
    assert scales[0] == 1.0
    M = scales[:, None] * kernel(S, S) * scales + mu * np.eye(8)
    np.testing.assert_allclose(sampler["factor"] @ sampler["factor"].T, M, rtol=1e-10, atol=1e-11)
    for x, p in zip(X, entry_probabilities(kernel, sampler, X, mu, beta, eps), strict=True):
        joined, weights = np.vstack([S, x]), np.append(scales, 1.0)
        K = kernel(joined, joined)
        k = weights * K[:, -1]
        bordered = weights[:, None] * K * weights + mu * np.eye(9)
        tau = (1 + eps) / mu * (K[-1, -1] - k @ np.linalg.solve(bordered, k))
        np.testing.assert_allclose(p, min(beta * tau, 1.0), rtol=1e-8)


def test_the_weight_of_an_atom_is_the_root_of_its_inverse_probability():
    X, settings = rows(10), (1.0, 0.4, 0.5)
    sampler = start_sampler(3, np.random.RandomState(0))
    for x in X:
        p = entry_probabilities(RBF, sampler, x[None], *settings)[0]
        grow_sampler(RBF, sampler, x, *settings)
        assert sampler["scales"][-1] == 1 / np.sqrt(p)


def test_uniform_numbers_do_not_depend_on_the_cut():
    whole = uniforms(start_sampler(3, np.random.RandomState(5)), 100)
    sampler = start_sampler(3, np.random.RandomState(5))
    cut = np.concatenate([uniforms(sampler, n) for n in (1, 0, 7, 50, 42)])
    np.testing.assert_array_equal(cut, whole)
    np.testing.assert_array_equal(whole, np.random.RandomState(5).uniform(size=100))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_block_cannot_round_a_probability_over_its_uniform_number(sign):
    X, settings = rows(30, 1), (1.0, 0.4, 0.5)
    sampler = start_sampler(3, np.random.RandomState(0))
    for x in rows(5):
        grow_sampler(RBF, sampler, x, *settings)
    exact = np.array([entry_probabilities(RBF, sampler, x[None], *settings)[0] for x in X])
    for i in range(len(X)):
        drawn = np.ones(len(X))
        drawn[i] = exact[i] - sign * 1e-13  # row i enters for sign 1 only
        rounded = exact - sign * 0.5 * CLOSE
        entry = first_entry(RBF, sampler, X, rounded, drawn, *settings)
        assert entry == (i if sign > 0 else len(X))
