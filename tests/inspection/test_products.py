import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl.inspection._products import product_values, wave_values
from tests.oracles.shapley import shapley_values


def by_definition(A, C, coef):
    """Return the values of rows of factors, each product a game of its own."""

    def f(rows):
        factors = rows.reshape(len(rows), len(A), -1)  # (rows, p, m)
        return (factors.prod(axis=1) @ coef).real

    p, _, m = A.shape
    players = np.arange(p * m).reshape(p, m).tolist()
    rows, background = (part.swapaxes(0, 1).reshape(part.shape[1], -1) for part in (A, C))
    return np.array([shapley_values(f, row, background, players) for row in rows])


@pytest.mark.parametrize("p", [1, 2, 3, 4, 7, 8])
def test_products_and_waves_are_games(p):
    rng = np.random.default_rng(p)
    coef = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2))
    angles, others = rng.normal(size=(p, 2, 3)) * 5.0, rng.normal(size=(p, 4, 3)) * 5.0
    A, C = np.exp(1j * angles), np.exp(1j * others)
    expected = by_definition(A, C, coef)
    assert_allclose(product_values(A, C, coef), expected, atol=1e-13)
    halves = np.exp(0.5j * angles), np.exp(0.5j * others)
    assert_allclose(wave_values(*halves, coef), expected, atol=1e-13)


def test_factors_may_be_zero():
    """Products that leave one out are no quotients."""
    rng = np.random.default_rng(0)
    A, C = rng.normal(size=(5, 2, 3)), rng.normal(size=(5, 3, 3))
    A[1], C[2], A[3, 0], C[3, 1] = 0.0, 0.0, 0.0, 0.0
    coef = rng.normal(size=(3, 1))
    assert_allclose(product_values(A, C, coef), by_definition(A, C, coef), atol=1e-12)


def test_tiles_do_not_matter(monkeypatch):
    from sklearn_okl.inspection import _products

    rng = np.random.default_rng(1)
    A, C = np.exp(1j * rng.normal(size=(3, 9, 11))), np.exp(1j * rng.normal(size=(3, 5, 11)))
    coef = rng.normal(size=(11, 2))
    whole = product_values(A, C, coef), wave_values(A, C, coef)
    monkeypatch.setattr(_products, "_TILE", 1)
    monkeypatch.setattr(_products, "_LEAST", 20)
    assert_allclose(product_values(A, C, coef), whole[0], atol=1e-13)
    assert_allclose(wave_values(A, C, coef), whole[1], atol=1e-13)
