"""How a kernel is found: by its name, as an object or as a function, and with which bandwidth."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._documentation import explained_by
from ._euclidean import RBF, Matern
from ._kernel import Kernel
from ._polynomial import Polynomial
from ._products import Cauchy, Laplacian
from ._shift_invariant import ShiftInvariantKernel

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


@explained_by(exact_kernel)
def shift_invariant_kernel(kernel, gamma=None):
    """Return the kernel that a string or a kernel stands for, if it has frequencies.

    Parameters
    ----------
    kernel : str or ShiftInvariantKernel
        One of `KERNELS`, or an object.

    Returns
    -------
    ShiftInvariantKernel

    Raises
    ------
    ValueError
        For an unknown name, a kernel that is not shift-invariant, a negative `gamma`, or one given
        beside a kernel that has its own.
    TypeError
    """
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
