"""Values and frequencies of a kernel that is given by its name or as an object."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import check_pairwise_arrays

from .._documentation import explained_by
from .._types import Any, ArrayLike, Seed
from ._named import checked_values, exact_kernel, shift_invariant_kernel
from ._shift_invariant import ShiftInvariantKernel


@explained_by(exact_kernel)
def kernel_matrix(
    X: ArrayLike, Y: Any = None, *, kernel: Any = "rbf", gamma: float | None = None
) -> Any:
    """Exact kernel between the rows of two arrays.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
        First rows.
    Y : {array-like, sparse matrix} of shape (m, d), default=None
        Second rows; None takes `X`.
    kernel : {"rbf", "laplacian", "matern12", "matern32", "matern52", "cauchy", "poly"}, Kernel or \
            callable, default="rbf"
        The kernel. ``"poly"`` is :class:`Polynomial` as constructed by default. A callable gets the
        two arrays and returns the (n, m) matrix.
    gamma : float, default=None
        Inverse length scale, squared for ``"rbf"``; None is ``1 / d``, as in
        :mod:`sklearn.metrics.pairwise`, or the gamma of an object that has one. A callable takes
        none.

    Returns
    -------
    ndarray of shape (n, m)
        ``k(X[i], Y[j])``, in float64.

    Raises
    ------
    ValueError
        For an unknown kernel, a negative `gamma`, widths that differ, a `gamma` given with a
        callable or beside an object's own, or a kernel whose matrix has the wrong shape.
    TypeError

    Notes
    -----
    Cost O(n m d). The Matérn kernels take their distances from differences rather than from
    inner products, as a kernel with a kink at δ = 0 needs (sparse input cannot). The ``"cauchy"``
    kernel, and any that is no function of a distance, makes sparse input dense.

    Examples
    --------
    >>> from sklearn_okl.kernels import kernel_matrix
    >>> kernel_matrix([[0.0], [1.0]], [[0.0]], kernel="cauchy", gamma=1.0)
    array([[1. ],
           [0.5]])
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    found = exact_kernel(kernel, gamma)
    return checked_values(found._pairwise(X, Y), X, Y, type(found).__name__)


@explained_by(ShiftInvariantKernel.sample_frequencies, exact_kernel)
def sample_frequencies(
    n_features: int,
    n_frequencies: int,
    *,
    kernel: Any = "rbf",
    gamma: float | None = None,
    sampling: str = "iid",
    random_state: Seed = None,
) -> Any:
    """Draw frequencies from the spectral measure of a kernel.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern12", "matern32", "matern52", "cauchy"} or \
            ShiftInvariantKernel, default="rbf"
        The kernel, as in :func:`kernel_matrix`.
    gamma : float, default=None
        Its bandwidth; None is ``1 / n_features``, or the gamma of an object that has one.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the m standard normal points behind the frequencies depend on each other: not at all; in
        blocks of d orthogonal directions; or as a scrambled Sobol sequence (d ≤ 21201).
    random_state : int, RandomState instance or None, default=None
        Source of the draw. ``"iid"`` takes plain ``standard_normal`` draws from it, one frequency
        after the other.

    Returns
    -------
    ndarray of shape (n_features, n_frequencies)
        One frequency per column, so that ``X @ frequencies`` are the phases.

    Raises
    ------
    ValueError
        For an unknown kernel or sampling, a kernel that is not shift-invariant, a negative `gamma`
        or one given beside an object's own, a size below 1, or too many features for a Sobol
        sequence.
    TypeError

    Notes
    -----
    Every sampling starts from points g that are marginally N(0, I) exactly (``"qmc"``: to the
    2⁻³⁰ of its grid), and the kernel turns each of them, alone, into a frequency: √(2γ) g for
    ``"rbf"``; γ g √(2ν / χ²) with an independent χ² of 2ν degrees for Matérn; and coordinate
    by coordinate through the normal distribution function (a Gaussian copula) for the products
    ``"laplacian"`` and ``"cauchy"``. The marginal law is therefore that of the kernel under any
    sampling, and the kernel's estimate unbiased; for the product kernels the columns of an
    ``"orthogonal"`` draw are coupled but no longer orthogonal.

    Cost O(m d), with ``"orthogonal"`` O(m d²).

    References
    ----------
    .. [1] Rahimi & Recht 2007, Algorithm 1.
    .. [2] F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice and S. Kumar, "Orthogonal
       Random Features", NIPS 2016, section 3.
    .. [3] H. Avron, V. Sindhwani, J. Yang and M. W. Mahoney, "Quasi-Monte Carlo Feature Maps
       for Shift-Invariant Kernels", JMLR 17, 2016, Algorithm 1.

    Examples
    --------
    >>> from sklearn_okl.kernels import sample_frequencies
    >>> sample_frequencies(3, 50, kernel="laplacian", gamma=2.0, random_state=0).shape
    (3, 50)
    """
    return shift_invariant_kernel(kernel, gamma).sample_frequencies(
        n_features, n_frequencies, sampling=sampling, random_state=random_state
    )
