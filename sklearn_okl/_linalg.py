"""The numeric layer: exact blocks of rank-one updates, on one model or a bank of them.

Every function takes any number of leading axes (a bank of experts) in front of the matrix axes and
uses NumPy's stacked products only: they release the interpreter lock, SciPy's wrappers do not, so
threads over experts gain.
"""

from functools import lru_cache
from threading import Lock, get_ident, local
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dtrtri
from threadpoolctl import ThreadpoolController

_WORTH_DIVIDING = 1e-3  # weights from which on dividing by one leaves at least twelve digits
ROUNDING = 1e-6  # relative asymmetry that rounding may leave in an inverse, generously
_SMALLEST_TILE = 8  # narrower tiles of a triangular matrix are not worth their calls


class _OneThread:
    """Limit libraries to one thread while somebody is inside; enter it in any number of threads.

    Small products with several BLAS threads are up to fifty times slower than with one. The limit
    belongs to the process, so callers in several threads share one, taken by the first of them.
    Were each to save and restore the number it finds, the first to leave could restore a 1 that
    another had set. And the taker gives it back when it leaves, even with others inside: newer
    versions of threadpoolctl ignore all threads but one, and the last to leave may be ignored.
    Whoever runs on without the limit is slower, not wrong.

    Parameters
    ----------
    user_api : {"blas", "openmp"} or None
        Which libraries; None is all.
    """

    def __init__(self, user_api):
        self._user_api = user_api
        self._lock = Lock()
        self._mine = local()  # how deep this thread is inside
        self._inside = 0
        self._libraries = None  # found on first use: that takes milliseconds
        self._limited = self._taker = None  # which were limited, with their numbers before

    def look_again(self):
        """Find the libraries anew, those included that were loaded since."""
        with self._lock:
            self._libraries = None

    def __enter__(self):
        with self._lock:
            if self._libraries is None:
                found = ThreadpoolController()
                if self._user_api is not None:
                    found = found.select(user_api=self._user_api)
                self._libraries = found.lib_controllers
            if self._limited is None:
                self._limited, self._taker = [], get_ident()
                # not `ThreadpoolController.limit`, which looks up all there is to say of each
                try:
                    for library in self._libraries:
                        n = library.num_threads
                        if n != 1:
                            self._limited.append((library, n))
                            library.set_num_threads(1)
                except BaseException:  # whoever is interrupted here has not entered
                    self._give_back()
                    raise
            self._inside += 1
            self._mine.depth = getattr(self._mine, "depth", 0) + 1

    def __exit__(self, *_):
        with self._lock:
            # who was inside when it was reset leaves once more
            self._inside = max(self._inside - 1, 0)
            self._mine.depth = max(getattr(self._mine, "depth", 0) - 1, 0)
            taker_leaves = self._taker == get_ident() and self._mine.depth == 0
            if self._limited is not None and (taker_leaves or self._inside == 0):
                self._give_back()

    def reset(self):
        """Give the limit back for who was interrupted while leaving, as if all had left."""
        with self._lock:
            if self._limited is not None:
                self._give_back()
            self._mine, self._inside = local(), 0

    def _give_back(self):
        for library, n in self._limited:
            library.set_num_threads(n)
        self._limited = None


one_blas_thread = _OneThread("blas")
one_thread = _OneThread(None)


def row_slices(n, size):
    """Yield slices of at most `size` rows that cover n.

    scikit-learn's `gen_batches` checks its arguments, which takes longer than some rows do.
    """
    return (slice(low, min(low + size, n)) for low in range(0, n, size))


def aligned_slices(start, n, size):
    """Yield slices that cover n rows, after `start` others, of at most `size` rows.

    They end where the stream's own count is a multiple of their length, so that most ways of
    cutting a stream lead through the very same blocks.
    """
    low = 0
    while low < n:
        high = min(n, low + size - (start + low) % size)
        yield slice(low, high)
        low = high


class Innovations(NamedTuple):
    """What a block of rows says about itself, given the model before it; see `block_innovations`.

    Attributes
    ----------
    forecasts : ndarray of shape (..., n, q)
        Ridge forecasts z_t @ theta_{t-1}.
    leverages : ndarray of shape (..., n)
        z_t @ P_{t-1} @ z_t.
    gains : ndarray of shape (..., n)
        1 + w_t z_t @ P_{t-1} @ z_t, the factor by which a row shrinks P in its own direction.
    errors : ndarray of shape (..., n, q)
        Normalised errors sqrt(w_t) (y_t - forecast_t) / sqrt(gain_t).
    directions : ndarray of shape (..., n, D)
        V with P_n = P_0 - V' V and theta_n = theta_0 + V' errors.
    """

    forecasts: np.ndarray
    leverages: np.ndarray
    gains: np.ndarray
    errors: np.ndarray
    directions: np.ndarray

    def first(self, n):
        """Return the innovations of the first n rows: no row knows of a later one."""
        rows = self.leverages[..., :n], self.gains[..., :n]
        return Innovations(
            self.forecasts[..., :n, :], *rows, self.errors[..., :n, :], self.directions[..., :n, :]
        )


def block_innovations(Z, times, theta, Y, weights=None):
    """Run n rank-one updates of recursive least squares at once, exactly.

    With the rows scaled by sqrt(w), L L' = I + Z P Z' factors the whole recursion: row t of
    L^-1 (Y - Z theta) is the normalised error that the t-th rank-one update would have met, and
    L's strict lower triangle carries what the rows before t in this block teach about row t.

    Parameters
    ----------
    Z : ndarray of shape (..., n, D)
    times : callable
        ``times(Z, out)`` writes Z P into `out`, with P (..., D, D) the inverse of the regularised
        second moment before the block, symmetric.
    theta : ndarray of shape (..., D, q)
    Y : ndarray of shape (n, q) or (..., n, q)
    weights : ndarray of shape (n,), default=None
        Weights >= 0 of the rows in the updates; the forecasts are those of unweighted rows.

    Returns
    -------
    Innovations

    Raises
    ------
    numpy.linalg.LinAlgError
        If P has lost its positive definiteness to rounding.
    """
    n, width = Z.shape[-2:]
    # Z P and, beside it, the residuals: one forward substitution serves both
    joined = np.empty((*Z.shape[:-1], width + Y.shape[-1]))
    ZP, residuals = joined[..., :width], joined[..., width:]
    times(Z, ZP)
    gram = ZP @ Z.swapaxes(-1, -2)  # (..., n, n)
    start = Z @ theta  # (..., n, q), forecasts without what the block itself teaches
    np.subtract(Y, start, out=residuals)
    leverages = _diagonal(gram).copy()
    if weights is not None:
        root = np.sqrt(weights)
        gram *= root
        gram *= root[:, None]
        joined *= root[:, None]
    _diagonal(gram)[...] += 1.0
    # a single row cannot fail: its gain is at least 1
    factor = np.sqrt(np.maximum(gram, 1.0)) if n == 1 else np.linalg.cholesky(gram)
    solve_lower(factor, joined)
    directions, errors = ZP, residuals
    diagonal = _diagonal(factor)
    gains = diagonal**2
    diagonal[...] = 0.0  # factor now holds the strict lower triangle only
    if weights is None or weights.min() > _WORTH_DIVIDING:
        # Not y - sqrt(gain) * error, its equal on paper: a target of 1e8 would wipe out its own
        # forecast by cancellation, and a forecast must not depend on the target of its round.
        leverages = gains - 1.0
        if weights is not None:  # row t of factor has the factor sqrt(w_t)
            factor /= root[:, None]
            leverages /= weights
        forecasts = start + factor @ errors
    else:  # a weight of 0 hides what is taught
        taught = np.tril(Z @ directions.swapaxes(-1, -2), -1)
        forecasts = start + taught @ errors
        leverages -= np.einsum("...ts,...ts->...t", taught, taught)
        np.maximum(leverages, 0.0, out=leverages)
    return Innovations(forecasts, leverages, gains, errors, directions)


def solve_lower(L, B):
    """Overwrite B with L^-1 B by forward substitution, L lower triangular.

    Parameters
    ----------
    L : ndarray of shape (..., n, n)
        Only the lower triangles are read.
    B : ndarray of shape (..., n, k)

    Notes
    -----
    NumPy has no stacked triangular solver, and a stacked general one would cost as much as all the
    rest of a block. So only the four tiles on the diagonal are inverted by LAPACK, all in one
    call, and the rest is products.
    """
    n = L.shape[-1]
    if n == 1:
        B /= L
        return
    tile = max(_SMALLEST_TILE, -(-n // 4))
    n_tiles = -(-n // tile)
    tiles = np.zeros((*L.shape[:-2], n_tiles, tile, tile))
    _diagonal(tiles)[...] = 1.0  # pads the last tile
    places = [slice(low, min(low + tile, n)) for low in range(0, n, tile)]
    for i, place in enumerate(places):
        width = place.stop - place.start
        tiles[..., i, :width, :width] = L[..., place, place]
    lower = _lower(tile)
    tiles *= lower
    inverses = np.linalg.inv(tiles)
    inverses *= lower  # a later row that is huge would show through what rounding leaves above
    for i, place in enumerate(places):
        width = place.stop - place.start
        rows = B[..., place, :]
        if i > 0:
            rows -= L[..., place, : place.start] @ B[..., : place.start, :]
        rows[...] = inverses[..., i, :width, :width] @ rows


@lru_cache(16)
def _lower(n):
    """Return a lower triangle (n, n) of ones: NumPy's own takes longer than the product with it."""
    return np.tri(n)


def inverse_spd(A, floor):
    """Invert symmetric matrices whose eigenvalues are known to be at least `floor`.

    Parameters
    ----------
    A : ndarray of shape (..., D, D)
    floor : float or ndarray of shape (...)
        Used only where rounding has made a matrix indefinite: its eigenvalues are then lifted to
        the floor that they have in exact arithmetic.

    Returns
    -------
    ndarray of shape (..., D, D)
        Exactly symmetric.
    """
    n = A.shape[-1]
    floors = np.broadcast_to(floor, A.shape[:-2]).ravel()
    lower, halves = _lower(n) > 0.0, np.empty((len(floors), n, n))
    # rare, so LAPACK through SciPy, which does not stack
    for k, matrix in enumerate(A.reshape(halves.shape)):
        # the transpose of A is A, in the order that LAPACK takes without a copy of its own
        factor, failed = dpotrf(matrix.T, lower=1, clean=0)
        if not failed:
            halves[k] = dpotri(factor, lower=1, overwrite_c=1)[0]
        else:
            values, vectors = np.linalg.eigh(matrix)
            P = vectors / np.maximum(values, floors[k]) @ vectors.T
            halves[k] = (P + P.T) / 2
    return np.where(lower, halves, halves.swapaxes(-1, -2)).reshape(A.shape)


def inverse_factors(A):
    """Return the inverses of the Cholesky factors of positive definite matrices (G, n, n).

    They are small and few: NumPy's functions take several times as long to call as LAPACK. As there
    a matrix that is not positive definite raises a `numpy.linalg.LinAlgError`.
    """
    found = np.empty_like(A)
    for matrix, inverse in zip(A, found, strict=True):
        factor, failed = dpotrf(matrix.T, lower=1)
        if failed:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        inverse[...] = dtrtri(factor, lower=1)[0]
    return found


def may_be_inverse(P):
    """Tell whether matrices (..., D, D) may be inverses of positive definite ones."""
    if P.ndim < 2 or P.shape[-1] != P.shape[-2]:
        return False
    diagonal = np.diagonal(P, axis1=-2, axis2=-1)
    if not (diagonal > 0.0).all():
        return False
    largest = np.abs(P).max(axis=(-2, -1), initial=0.0)
    # of a positive definite matrix the largest entry is on the diagonal
    if (largest > (1.0 + ROUNDING) * diagonal.max(axis=-1, initial=0.0)).any():
        return False
    asymmetry = np.abs(P - P.swapaxes(-1, -2)).max(axis=(-2, -1), initial=0.0)
    return bool((asymmetry <= ROUNDING * largest).all())


def softmax(log_weights):
    """Return weights (..., K) from the simplex, whose logarithms, up to a constant, are given."""
    weights = np.exp(log_weights - log_weights.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def column(values):
    """Return numbers (..., q) as columns (..., q, 1); one without axes, which costs less."""
    return values.reshape(()) if values.size == 1 else values[..., None]


def least(values):
    """Return the least of each row of numbers (..., K), kept as an axis; of one row a number."""
    if values.size == values.shape[-1]:
        return values.item(values.argmin())  # a reduction takes four times as long
    return np.minimum.reduce(values, axis=-1, keepdims=True)


def largest(values):
    """Return the largest of each row of numbers (..., K), as `least` does."""
    if values.size == values.shape[-1]:
        return values.item(values.argmax())
    return np.maximum.reduce(values, axis=-1, keepdims=True)


def any_of(mask):
    """Tell whether anything is so in a small mask: a reduction takes four times as long."""
    return mask.size > 0 and mask.item(mask.argmax())


def are_all(mask):
    """Tell whether everything is so in a small mask, as `any_of` does."""
    return mask.size == 0 or mask.item(mask.argmin())


def _diagonal(A):
    """Return a writeable view (..., n) of the diagonal of contiguous A (..., n, n)."""
    n = A.shape[-1]
    return A.reshape(*A.shape[:-2], n * n)[..., :: n + 1]
