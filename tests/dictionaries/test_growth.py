"""The growth of dictionaries: decided row by row whatever the blocks, coordinates of every row."""

from itertools import pairwise

import numpy as np
import pytest

from sklearn_okl import kernels
from sklearn_okl.dictionaries._growth import Rows, entering, growth
from sklearn_okl.dictionaries._kors import KORS, entry_probabilities, grow_sampler
from sklearn_okl.dictionaries._nested import (
    DEPENDENT,
    coordinates,
    grow_basis,
    span_of,
    start_basis,
)
from sklearn_okl.dictionaries._novelty import ALD, FirstRows

RBF = kernels.RBF(0.7)
RULES = {
    "ald": lambda: ALD(0.05),
    "first": lambda: FirstRows(9),
    "kors": lambda: KORS(0.5, 1.0, 0.5, 3),
    "all": lambda: KORS(1e-8, 1e9, 0.5, 3),
}


def rows(n, seed=0, d=2):
    """Rows, a quarter of which are repeats."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n, d))
    X[::4] = X[0]
    return X


def grown(kernel, rule, X, cuts=()):
    """Return the basis and the stretches as (place, coordinates), in calls cut at `cuts`."""
    basis, state, met = start_basis(X.shape[1]), rule.start(X.shape[1]), []
    for low, high in pairwise([0, *cuts, len(X)]):
        for stretch in growth(kernel, rule, state, basis, X[low:high], low):
            place = slice(low + stretch.rows.start, low + stretch.rows.stop)
            met.append((place, stretch.coordinates.copy(), len(basis["atoms"])))
    return basis, met


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_stretches_cover_the_rows_and_begin_with_the_row_that_entered(rule):
    X = rows(300)
    basis, met = grown(RBF, rule(), X)
    assert [place.start for place, _, _ in met] == [0, *(place.stop for place, _, _ in met[:-1])]
    assert met[-1][0].stop == len(X)
    size = 0
    for place, Phi, atoms in met:
        assert Phi.shape == (place.stop - place.start, atoms)
        assert atoms in (size, size + 1)
        if atoms > size:
            np.testing.assert_array_equal(basis["atoms"][size], X[place.start])
        size = atoms
        np.testing.assert_allclose(
            Phi, coordinates(RBF, basis, X[place])[0][:, :atoms], rtol=1e-6, atol=1e-8
        )
    assert size == len(basis["atoms"]) > 5


@pytest.mark.long(every=3)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_cut_into_calls_does_not_matter(rule):
    X = rows(300)
    one, _ = grown(RBF, rule(), X)
    for cuts in ([1, 2, 3, 130, 131, 290], range(1, 300)):
        other, _ = grown(RBF, rule(), X, cuts)
        np.testing.assert_array_equal(other["atoms"], one["atoms"])
        np.testing.assert_array_equal(other["factor"], one["factor"])


@pytest.mark.parametrize(("mu", "beta"), [(0.5, 1.0), (0.01, 1.0), (1e-8, 1e9)])
def test_kors_decides_as_row_by_row(mu, beta):
    X, rule = rows(200), KORS(mu, beta, 0.5, 3)
    sampler, plain = rule.start(2), rule.start(2)
    block = Rows(RBF, X)  # a rule that asks for no distances needs no basis
    drawn = rule.draw(sampler, len(X))
    found = list(entering(RBF, rule, sampler, block, drawn))
    expected = []
    for i, x in enumerate(X):
        would = rule.would_enter(RBF, plain, x[None])[0]
        assert would == (
            rule.draw(plain, 1)[0] < entry_probabilities(RBF, plain, x[None], mu, beta, 0.5)[0]
        )
        if would:
            grow_sampler(RBF, plain, x, mu, beta, 0.5)
            expected.append(i)
    assert found == expected
    np.testing.assert_array_equal(sampler["factor"], plain["factor"])
    assert sampler["uniform"] == plain["uniform"]


def test_the_first_rows_are_independent_ones_and_no_more_than_there_is_room_for():
    X = rows(60)
    basis, _ = grown(RBF, FirstRows(9), X)
    distinct = [x for i, x in enumerate(X) if i % 4 or i == 0]
    np.testing.assert_array_equal(basis["atoms"], distinct[:9])


@pytest.mark.parametrize("kernel", [RBF, kernels.Polynomial(0.3, degree=2)])
def test_the_span_of_rows_is_that_of_growing_row_by_row(kernel):
    X = rows(40)
    basis, Phi = span_of(kernel, X)
    plain = start_basis(2)
    for x, size in zip(X, kernel.diagonal(X), strict=True):
        if coordinates(kernel, plain, x[None])[1][0] > DEPENDENT * size:
            grow_basis(kernel, plain, x)
    np.testing.assert_array_equal(basis["atoms"], plain["atoms"])
    assert len(basis["atoms"]) < 32
    np.testing.assert_allclose(basis["factor"], plain["factor"], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(Phi @ Phi.T, kernel(X, X), rtol=1e-8, atol=1e-8)
