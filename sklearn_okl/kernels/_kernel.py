"""What any kernel is, the base of anybody's own; and the one that depends on inner products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse

from .._documentation import inherit_documentation
from .._types import Any, ArrayLike
from .._values import ValueObject


class Kernel(ValueObject, ABC):
    r"""Base of kernels: a positive semi-definite function of two rows, with its parameters.

    A subclass keeps its parameters as attributes of the names that its ``__init__`` gives them,
    as estimators do, and writes ``__call__``. Its instances then serve as `kernel` of every
    estimator of one exact kernel and of the Nyström maps. One that depends on the difference of
    the rows alone derives from :class:`ShiftInvariantKernel`, and serves everywhere. One with a
    formula for :meth:`diagonal` may write it, which here calls the kernel for each row.

    A kernel is a value: two are equal, with equal hashes, if their classes and parameters are.
    So parameters are numbers, strings or tuples, and are not changed once the kernel is made.

    Attributes
    ----------
    name : str or None
        The string by which the kernel is found, of this package's own; else None.
    exponent : int or None
        The p of kernels :math:`\exp(-\gamma \sum_j |x_j - y_j|^p)`; None for all others. What has a
        closed form for some p only, such as the distance between two kernels, asks for it.

    See Also
    --------
    ShiftInvariantKernel : Base of kernels with frequencies.
    kernel_matrix : Values at rows of any kind, checked.

    Notes
    -----
    ``kernel(X, Y)`` gets rows X of shape (n, d) and Y of shape (m, d), in float64, finite and
    dense, and returns a new array of shape (n, m). Either may have no rows: a dictionary starts
    empty. It is called in every round, and checks nothing; :func:`kernel_matrix` does.

    Examples
    --------
    >>> from sklearn_okl import KernelVAWRegressor
    >>> from sklearn_okl.kernels import Kernel
    >>> class Linear(Kernel):
    ...     def __call__(self, X, Y):
    ...         return X @ Y.T
    >>> model = KernelVAWRegressor(Linear()).fit([[1.0], [2.0]], [1.0, 2.0])
    >>> model.predict([[3.0]]).round(3)
    array([1.])
    """

    name = None
    exponent = None

    @abstractmethod
    def __call__(self, X, Y):
        """Return the values (n, m) between the rows of X (n, d) and of Y (m, d)."""

    def diagonal(self, X: ArrayLike) -> Any:
        """Compute the values of rows with themselves, by a formula where there is one.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Rows, as for the kernel itself.

        Returns
        -------
        ndarray of shape (n,)
            ``k(X[i], X[i])``.
        """
        return np.array([self(x[None], x[None])[0, 0] for x in X])

    def with_gamma(self, gamma: float | None) -> Any:
        """Make the same kernel of another bandwidth.

        Parameters
        ----------
        gamma : float or None
            The new value, finite and >= 0.

        Returns
        -------
        Kernel
            Of the same class and the same other parameters.

        Raises
        ------
        ValueError
            For a gamma that is no such number, or a kernel that has none.
        """
        if "gamma" not in vars(self):
            raise ValueError(f"{self!r} has no gamma; leave gamma out.")
        other = object.__new__(type(self))
        other.__dict__ = vars(self) | {"gamma": checked_gamma(gamma)}
        return other

    def _with_parameters(self, gamma, degree, coef0):
        """Return what the string of this kernel means beside the parameters of an estimator."""
        return self if gamma is None else self.with_gamma(gamma)

    def _pairwise(self, X, Y):
        """Return the values at validated rows, dense or sparse."""
        return self(X.toarray() if issparse(X) else X, Y.toarray() if issparse(Y) else Y)


@inherit_documentation
class Polynomial(Kernel):
    r"""Polynomial kernel, (γ x·y + coef0)^degree: the string ``"poly"``.

    It is not shift-invariant and so has no frequencies: it serves estimators of one exact kernel
    and Nyström maps, and has no place in grids.

    Parameters
    ----------
    gamma : float, default=None
        Factor of the inner product, in the inverse squared unit of X. None is ``1 / n_features``,
        as in :func:`sklearn.metrics.pairwise.polynomial_kernel`.
    degree : int, default=3
        Degree, >= 1; the default is that of scikit-learn.
    coef0 : float, default=1.0
        Constant, >= 0, which adds the monomials of lower degree; 0 leaves those of the full degree.
        The default is that of scikit-learn.

    Raises
    ------
    ValueError
        For a `gamma` that is negative, not finite or no number, and for a `degree` or `coef0` out
        of range.

    See Also
    --------
    sklearn.metrics.pairwise.polynomial_kernel : The same values.

    Notes
    -----
    An estimator's own `degree` and `coef0` are those of the string ``"poly"``; they do not change
    an object, which has its own.

    References
    ----------
    .. [1] Rasmussen & Williams 2006, section 4.2.2.

    Examples
    --------
    >>> from sklearn_okl.kernels import Polynomial, kernel_matrix
    >>> Polynomial(0.5, degree=2)
    Polynomial(gamma=0.5, degree=2, coef0=1.0)
    >>> kernel_matrix([[2.0]], [[3.0]], kernel=Polynomial(0.5, degree=2))
    array([[16.]])
    """

    name = "poly"

    def __init__(self, gamma: float | None = None, *, degree: int = 3, coef0: float = 1.0) -> None:
        if not isinstance(degree, Integral) or degree < 1:
            raise ValueError(f"degree must be an integer of at least 1, got {degree!r}.")
        if not isinstance(coef0, Real) or not 0 <= coef0 < inf:
            raise ValueError(f"coef0 must be a finite number of at least 0, got {coef0!r}.")
        self.gamma = checked_gamma(gamma)
        self.degree = degree
        self.coef0 = coef0

    def __call__(self, X, Y):
        return self._power(X @ Y.T, X.shape[1])

    def diagonal(self, X: ArrayLike) -> Any:
        """Compute the values (γ ‖x‖² + coef0)^degree of rows with themselves."""
        return self._power(np.einsum("ij,ij->i", X, X), X.shape[1])

    def _power(self, products, n_features):
        gamma = 1.0 / n_features if self.gamma is None else self.gamma
        return (gamma * products + self.coef0) ** self.degree

    def _with_parameters(self, gamma, degree, coef0):
        return Polynomial(gamma, degree=degree, coef0=coef0)


def checked_gamma(gamma):
    """Return a gamma as a float, or None; refuse what is no finite number of at least 0."""
    if gamma is None:
        return None
    if not isinstance(gamma, (float, Real)) or not 0 <= gamma < inf:
        raise ValueError(f"gamma must be a finite number of at least 0, or None; got {gamma!r}.")
    return float(gamma)
