"""The product of Cauchy kernels."""

from __future__ import annotations

import numpy as np

from .._types import Any
from ._sampling import two_sided_tails
from ._shift_invariant import ShiftInvariantKernel


class Cauchy(ShiftInvariantKernel):
    r"""Cauchy kernel, ∏ⱼ 1 / (1 + γ² (xⱼ − yⱼ)²): the string ``"cauchy"``.

    Parameters
    ----------
    gamma : float, default=None
        Inverse length in the units of X. None is ``1 / n_features``, as for the other kernels.

    Raises
    ------
    ValueError
        For a `gamma` that is negative, not finite or no number.

    See Also
    --------
    Laplacian : The same with values and law of the frequencies exchanged.

    Notes
    -----
    The coordinates of a frequency are i.i.d. Laplace of scale γ [1]_. They are made from normal
    points coordinate by coordinate, through the distribution functions.

    For a small γ the logarithm of the kernel is −γ² ‖x − y‖₂², so that gamma goes with the root of
    the dimension. :func:`kernel_matrix` makes sparse rows dense.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007,
       Figure 1.

    Examples
    --------
    >>> from sklearn_okl.kernels import Cauchy, kernel_matrix
    >>> kernel_matrix([[1.0, 2.0]], [[0.0, 0.0]], kernel=Cauchy(1.0))
    array([[0.1]])
    """

    name = "cauchy"

    def __call__(self, X, Y):
        """Return the values (n, m) between the rows of X (n, d) and of Y (m, d)."""
        gamma = self.gamma_for(X.shape[1])
        X, Y = gamma * X, gamma * Y
        K = np.ones((len(X), len(Y)))
        for x, y in zip(X.T, Y.T, strict=True):
            K /= 1 + np.subtract.outer(x, y) ** 2
        return K

    def frequencies_at(self, points: Any, gamma: Any, rng: Any) -> Any:
        """Return Laplace numbers of scale γ at the quantiles of the points' coordinates."""
        return -gamma * np.sign(points) * np.log(two_sided_tails(points))

    def width(self, n_features: Any) -> Any:
        """Return the root of the dimension: see :class:`ShiftInvariantKernel`."""
        return np.sqrt(n_features)

    def unit(self) -> Any:
        """Return the kernel of gamma 1, whose frequencies, times γ, are those of this one."""
        return self.with_gamma(1.0)

    def frequency_scale(self, gamma: Any) -> Any:
        """Return γ, by which the frequencies of :meth:`unit` are multiplied."""
        return gamma
