"""The polynomial kernel."""

from __future__ import annotations

from math import inf
from numbers import Integral, Real

import numpy as np

from .._documentation import inherit_documentation
from .._types import Any, ArrayLike
from ._kernel import Kernel, checked_gamma


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
