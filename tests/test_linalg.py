"""The numeric layer against SciPy and against the one-row recursion."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_info

from sklearn_okl._linalg import (
    block_innovations,
    inverse_factors,
    inverse_spd,
    one_blas_thread,
    solve_lower,
)
from sklearn_okl.evaluation._laws import _InterruptAt


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 31, 32, 33, 100, 131])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_solve_lower(n, lead):
    rng = np.random.default_rng(n)
    L = np.tril(rng.normal(size=(*lead, n, n))) / np.sqrt(n) + 2 * np.eye(n)
    B = rng.normal(size=(*lead, n, 5))
    solved = B.copy()
    noisy = L + np.triu(rng.normal(size=L.shape), 1)  # only the lower triangle is read
    solve_lower(noisy if n > 1 else L, solved)
    for k in np.ndindex(lead):
        assert_allclose(solved[k], solve_triangular(L[k], B[k], lower=True), rtol=1e-9, atol=1e-12)


def test_later_rows_do_not_show_in_earlier_ones():
    # a target of 1e30 was seen by the forecasts before it, through rounding in the inverted tiles
    rng = np.random.default_rng(0)
    L = np.tril(rng.normal(size=(3, 40, 40))) + 2 * np.eye(40)
    B = rng.normal(size=(3, 40, 2))
    solved, far = B.copy(), B.copy()
    far[:, 6] = 1e30
    solve_lower(L, solved)
    solve_lower(L, far)
    np.testing.assert_array_equal(far[:, :6], solved[:, :6])


@pytest.mark.parametrize("lead", [(), (4,)])
def test_inverse_spd(lead):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(*lead, 30, 20))
    A = np.eye(20) + Z.swapaxes(-1, -2) @ Z
    P = inverse_spd(A, 1.0)
    assert_allclose(P @ A, np.broadcast_to(np.eye(20), A.shape), atol=1e-12)
    np.testing.assert_array_equal(P, P.swapaxes(-1, -2))


def test_inverse_spd_lifts_eigenvalues_that_rounding_has_sunk():
    vectors = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    broken = vectors * [1e3, 1e2, 1.0, 1e-1, -1e-8] @ vectors.T
    P = inverse_spd(np.stack([np.eye(5), broken]), np.array([1.0, 0.01]))
    np.testing.assert_array_equal(P[0], np.eye(5))  # the sound one is left alone
    values = np.linalg.eigvalsh(P[1])
    assert values.min() > 0
    assert_allclose(P[1] @ vectors[:, 4], 100.0 * vectors[:, 4], rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 5, 32, 50])
def test_a_block_is_so_many_rank_one_updates(n, weighted):
    rng = np.random.default_rng(n)
    Z, Y, theta = rng.normal(size=(n, 6)), rng.normal(size=(n, 2)), rng.normal(size=(6, 2))
    root = rng.normal(size=(6, 6))
    P = root @ root.T
    weights = rng.integers(0, 3, n).astype(float) if weighted else None

    def times(Z, out, P=P):
        np.matmul(Z, P, out=out)

    block = block_innovations(Z, times, theta, Y, weights)
    for t in range(n):
        w = 1.0 if weights is None else weights[t]
        leverage = Z[t] @ P @ Z[t]
        assert_allclose(block.forecasts[t], Z[t] @ theta, rtol=1e-8, atol=1e-10)
        assert_allclose(block.leverages[t], leverage, rtol=1e-8, atol=1e-10)
        assert_allclose(block.gains[t], 1 + w * leverage, rtol=1e-8)
        direction = P @ Z[t]
        theta = theta + w * np.outer(direction, Y[t] - Z[t] @ theta) / (1 + w * leverage)
        P = P - w * np.outer(direction, direction) / (1 + w * leverage)
    V = block.directions
    assert_allclose(root @ root.T - V.T @ V, P, rtol=1e-8, atol=1e-10)
    some = block.first(n // 2 + 1)
    np.testing.assert_array_equal(some.errors, block.errors[: n // 2 + 1])


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def test_the_blas_limit_holds_inside_and_ends_outside():
    before = blas_threads()
    with one_blas_thread, one_blas_thread:
        assert blas_threads() == {1}
        with ThreadPoolExecutor(4) as pool:
            assert all(seen == {1} for seen in pool.map(lambda _: inside(), range(50)))
        assert blas_threads() == {1}
    assert blas_threads() == before


@pytest.mark.long
def test_threads_that_come_and_go_do_not_leave_the_limit_behind():
    before = blas_threads()
    for _ in range(20):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: inside(), range(20)))
        with one_blas_thread:
            pass
        assert blas_threads() == before


def test_whoever_is_interrupted_while_entering_has_not_entered():
    # the next is limited, and gives back what was there before
    before = blas_threads()
    with _InterruptAt() as counter:
        one_blas_thread.__enter__()
    one_blas_thread.__exit__()
    for k in range(1, counter.calls):  # the last one counted is that of the counter's own end
        with pytest.raises(KeyboardInterrupt), _InterruptAt(k):
            one_blas_thread.__enter__()
        assert inside() == {1}, f"not limited after an interrupt at call {k}"
        assert blas_threads() == before, f"limited for ever after an interrupt at call {k}"


def inside():
    with one_blas_thread:
        return blas_threads()


@pytest.mark.parametrize("k", range(1, 6))
def test_who_was_interrupted_while_leaving_can_be_reset(k):
    before = blas_threads()
    one_blas_thread.__enter__()
    with contextlib.suppress(KeyboardInterrupt), _InterruptAt(k):
        one_blas_thread.__exit__()
    one_blas_thread.reset()
    assert blas_threads() == before
    assert inside() == {1}
    assert blas_threads() == before


def test_factors_of_what_is_not_positive_definite_are_refused():
    A = np.array([np.diag([2.0, 3.0]), [[4.0, 1.0], [1.0, 3.0]]])
    expected = np.linalg.inv(np.linalg.cholesky(A))
    assert_allclose(inverse_factors(A), expected, rtol=1e-14, atol=1e-15)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        inverse_factors(np.array([[[1.0, 2.0], [2.0, 1.0]]]))
