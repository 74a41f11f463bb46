"""How a kernel is found, by its name, as an object or as a function; its values and frequencies."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.metrics.pairwise import check_pairwise_arrays
from sklearn.utils._param_validation import Interval, StrOptions

from .._documentation import explained_by
from .._types import Any, ArrayLike, Seed
from ._distance import RBF, Laplacian, Matern
from ._kernel import Kernel, Polynomial
from ._shift_invariant import Cauchy, ShiftInvariantKernel

# Every kernel that a string finds, as the string means it. A new one is found once it stands here.
NAMED = (RBF(), Laplacian(), Matern(nu=0.5), Matern(nu=1.5), Matern(nu=2.5), Cauchy(), Polynomial())
_BY_NAME = {kernel.name: kernel for kernel in NAMED}

KERNELS = tuple(kernel.name for kernel in NAMED if isinstance(kernel, ShiftInvariantKernel))

# What an estimator of one kernel says of its parameters; `kernel_of` reads them.
KERNEL_CONSTRAINTS = {
    "kernel": [StrOptions(set(_BY_NAME)), Kernel, callable],
    "gamma": [Interval(Real, 0, None, closed="left"), None],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, 0, None, closed="left")],
}
KERNEL_STRUCTURE = tuple(KERNEL_CONSTRAINTS)
# The same of one that needs frequencies.
SHIFT_INVARIANT_CONSTRAINTS = {
    "kernel": [StrOptions(set(KERNELS)), ShiftInvariantKernel],
    "gamma": KERNEL_CONSTRAINTS["gamma"],
}


class FunctionKernel(Kernel):
    """A kernel that is given as a function of two arrays of rows."""

    def __init__(self, function):
        self.function = function

    def __call__(self, X, Y):
        """Return the values (n, m) between the rows of X (n, d) and of Y (m, d), checked."""
        if len(X) == 0 or len(Y) == 0:  # of which the function may not know
            return np.empty((len(X), len(Y)))
        return self._pairwise(X, Y)

    def _pairwise(self, X, Y):
        try:
            K = np.asarray(self.function(X, Y), dtype=np.float64)
        except (TypeError, ValueError) as error:
            fault = f"fails ({type(error).__name__}: {error})"
            raise ValueError(_of_two_arrays(fault, X, Y)) from error
        if K.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(_of_two_arrays(f"returned shape {K.shape}", X, Y))
        return K


def _of_two_arrays(fault, X, Y):
    """Say what is expected of a callable that was given two arrays of rows."""
    return (
        f"The callable kernel {fault}; expected shape {(X.shape[0], Y.shape[0])} of two arrays of "
        f"rows, {X.shape} and {Y.shape}, a value for each pair. If yours takes two single rows, as "
        "KernelRidge calls it, give functools.partial(sklearn.metrics.pairwise.pairwise_kernels, "
        "metric=yours)."
    )


def exact_kernel(kernel, gamma=None, degree=3, coef0=1.0):
    """Return the kernel that a string, a kernel or a function stands for, with its bandwidth.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name of any kernel, ``"poly"`` among them; an object, which is taken as it is; or a
        function.
    gamma : float, default=None
        The bandwidth, where the kernel has none of its own.
    degree, coef0 : int, float
        Parameters of ``"poly"``.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        For an unknown name, a negative `gamma`, or a `gamma` given beside a kernel that has its own
        or takes none.
    TypeError
        For a class in place of a kernel.
    """
    if isinstance(kernel, str):
        if kernel not in _BY_NAME:
            raise _unknown(kernel, _BY_NAME)
        return _BY_NAME[kernel]._with_parameters(gamma, degree, coef0)
    if isinstance(kernel, Kernel):
        return kernel if gamma is None else _with_gamma(kernel, gamma)
    _refuse_classes(kernel)
    if not callable(kernel):
        raise _unknown(kernel, _BY_NAME)
    if gamma is not None:
        raise ValueError("gamma belongs to the named kernels; put it into the callable.")
    return FunctionKernel(kernel)


def shift_invariant_kernel(kernel, gamma=None):
    """Return the kernel that a string or an object stands for; refuse one without frequencies."""
    found = _BY_NAME.get(kernel) if isinstance(kernel, str) else kernel
    if isinstance(found, ShiftInvariantKernel):
        return found if gamma is None else _with_gamma(found, gamma)
    _refuse_classes(kernel)
    if not isinstance(found, Kernel):
        raise _unknown(kernel, KERNELS)
    raise ValueError(
        f"The kernel {kernel!r} is not shift-invariant: it has no frequencies and no place in a "
        f"grid of kernels. Choose one of {', '.join(KERNELS)}, or give an instance of a "
        "ShiftInvariantKernel of sklearn_okl.kernels."
    )


def kernel_of(estimator):
    """Return the kernel that an estimator's kernel, gamma, degree and coef0 describe."""
    return exact_kernel(estimator.kernel, estimator.gamma, estimator.degree, estimator.coef0)


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
    inner products, as a kernel with a kink at δ = 0 needs (sparse input cannot), and so does
    ``"rbf"`` for rows far from the origin. The ``"cauchy"`` kernel, and any that is no function of
    a distance, makes sparse input dense.

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


def checked_values(K, X, Y, source):
    """Return what a kernel returned for rows X and Y as an array; refuse another shape."""
    K = np.asarray(K, dtype=np.float64)
    if K.shape != (X.shape[0], Y.shape[0]):
        raise ValueError(
            f"{source} returned shape {K.shape}; expected {(X.shape[0], Y.shape[0])}, a value for "
            "each pair of rows."
        )
    return K


def _with_gamma(kernel, gamma):
    own = getattr(kernel, "gamma", None)
    if own is not None and own != gamma:
        raise ValueError(
            f"gamma={gamma!r} is given beside {kernel!r}, which has its own. Leave out one of them."
        )
    return kernel.with_gamma(gamma)


def _refuse_classes(kernel):
    if isinstance(kernel, type):
        raise TypeError(
            f"kernel={kernel.__name__} is a class; give an instance of it, such as "
            f"{kernel.__name__}()."
        )


def _unknown(kernel, names):
    return ValueError(
        f"Unknown kernel {kernel!r}; choose one of {', '.join(names)}, or give an instance of a "
        "class of sklearn_okl.kernels."
    )
