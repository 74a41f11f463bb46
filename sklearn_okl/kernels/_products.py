"""Kernels that are products over the coordinates: the Laplacian one and Cauchy's.

They are each other's spectral measure. With δ = x − y, and u uniform on [0, 1], from the tails of a
normal number of sign s, coordinate by coordinate:

=========  ==================  =====================
kernel     a factor            a coordinate of ω
=========  ==================  =====================
Laplacian  exp(−γ |δ|)         γ s / tan(π u / 2)
Cauchy     1 / (1 + γ² δ²)     −γ s log(u)
=========  ==================  =====================
"""

from __future__ import annotations

import numpy as np

from .._documentation import inherit_documentation
from .._types import Any
from ._distance import DistanceKernel
from ._sampling import two_sided_tails
from ._shift_invariant import ShiftInvariantKernel


@inherit_documentation
class Laplacian(DistanceKernel):
    r"""Laplacian kernel, exp(−γ ‖x − y‖₁): the string ``"laplacian"``.

    Parameters
    ----------
    gamma : float, default=None
        Inverse length in the units of X. None is ``1 / n_features``, as in
        :func:`sklearn.metrics.pairwise.laplacian_kernel`.

    See Also
    --------
    Matern : With nu = 1/2 the same of the Euclidean distance, which is isotropic.
    Cauchy : The same with values and law of the frequencies exchanged.

    Notes
    -----
    A product over the coordinates, and so is the law of its frequencies, whose coordinates are
    i.i.d. Cauchy of scale γ [1]_. They are made from normal points coordinate by coordinate,
    through the distribution functions.

    References
    ----------
    .. [1] Rahimi & Recht 2007, Figure 1.

    Examples
    --------
    >>> from sklearn_okl.kernels import Laplacian, kernel_matrix
    >>> kernel_matrix([[1.0, 1.0]], [[0.0, 0.0]], kernel=Laplacian(0.5)).round(4)
    array([[0.3679]])
    """

    name = "laplacian"
    metric = "cityblock"
    exponent = 1

    def values_at(self, distances: Any, gamma: Any, out: Any = None) -> Any:
        """Return exp(−γ D) of absolute distances D."""
        K = np.multiply(distances, -gamma, out)
        return np.exp(K, K)

    def frequencies_at(self, points: Any, gamma: Any, rng: Any) -> Any:
        """Return Cauchy numbers of scale γ at the quantiles of the points' coordinates."""
        return gamma * np.sign(points) / np.tan(np.pi / 2 * two_sided_tails(points))


@inherit_documentation
class Cauchy(ShiftInvariantKernel):
    r"""Cauchy kernel, ∏ⱼ 1 / (1 + γ² (xⱼ − yⱼ)²): the string ``"cauchy"``.

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
    .. [1] Rahimi & Recht 2007, Figure 1.

    Examples
    --------
    >>> from sklearn_okl.kernels import Cauchy, kernel_matrix
    >>> kernel_matrix([[1.0, 2.0]], [[0.0, 0.0]], kernel=Cauchy(1.0))
    array([[0.1]])
    """

    name = "cauchy"

    def __call__(self, X, Y):
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
