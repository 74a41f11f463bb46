"""What any kernel is: the base of those that have a name here, and of anybody's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from numbers import Real

import numpy as np
from scipy.sparse import issparse

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


def checked_gamma(gamma):
    """Return a gamma as a float, or None; refuse what is no finite number of at least 0."""
    if gamma is None:
        return None
    if not isinstance(gamma, (float, Real)) or not 0 <= gamma < inf:
        raise ValueError(f"gamma must be a finite number of at least 0, or None; got {gamma!r}.")
    return float(gamma)
