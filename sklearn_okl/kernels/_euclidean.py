"""Kernels of the Euclidean distance: the Gaussian one, and Matérn's of half-integer smoothness.

With r = γ ‖x − y‖₂ and g from N(0, I), χ² of 2ν degrees:

==========  ===============================  ==================
kernel      values                           a frequency ω
==========  ===============================  ==================
Gaussian    exp(−γ ‖x − y‖₂²)                √(2γ) g
Matérn 1/2  exp(−r)                          γ g √(2ν / χ²)
Matérn 3/2  (1 + √3 r) exp(−√3 r)            γ g √(2ν / χ²)
Matérn 5/2  (1 + √5 r + 5r²/3) exp(−√5 r)    γ g √(2ν / χ²)
==========  ===============================  ==================
"""

from __future__ import annotations

import numpy as np

from .._documentation import inherit_documentation
from .._types import Any
from ._distance import DistanceKernel

_SMOOTHNESS = (0.5, 1.5, 2.5)


@inherit_documentation
class RBF(DistanceKernel):
    r"""Gaussian kernel, exp(−γ ‖x − y‖₂²): the string ``"rbf"``.

    Parameters
    ----------
    gamma : float, default=None
        Inverse squared length in the units of X, 1 / (2σ²) for standard deviation σ. None is
        ``1 / n_features``, as in :func:`sklearn.metrics.pairwise.rbf_kernel`.

    See Also
    --------
    Laplacian : The same of absolute differences, with a kink.
    Matern : Between both in smoothness.

    Notes
    -----
    The law of its frequencies is N(0, 2γ I) [1]_.

    References
    ----------
    .. [1] Rahimi & Recht 2007, Figure 1.

    Examples
    --------
    >>> from sklearn_okl.kernels import RBF, kernel_matrix
    >>> RBF(0.5)
    RBF(gamma=0.5)
    >>> kernel_matrix([[2.0]], [[0.0]], kernel=RBF(0.5)).round(4)
    array([[0.1353]])
    """

    name = "rbf"
    metric = "sqeuclidean"
    exponent = 2

    def values_at(self, distances: Any, gamma: Any, out: Any = None) -> Any:
        """Return exp(−γ D) of squared distances D."""
        K = np.multiply(distances, -gamma, out)
        return np.exp(K, K)

    def frequencies_at(self, points: Any, gamma: Any, rng: Any) -> Any:
        """Return √(2γ) g of the points g."""
        return np.sqrt(2 * gamma) * points


@inherit_documentation
class Matern(DistanceKernel):
    r"""Matérn kernel of r = γ ‖x − y‖₂: the strings ``"matern12"``, ``"matern32"``, ``"matern52"``.

    It is exp(−r) for nu = 1/2, (1 + √3 r) exp(−√3 r) for 3/2, and
    (1 + √5 r + 5r²/3) exp(−√5 r) for 5/2 [1]_.

    Parameters
    ----------
    gamma : float, default=None
        Inverse length in the units of X: one over the `length_scale` of scikit-learn's
        :class:`~sklearn.gaussian_process.kernels.Matern`. None is ``1 / n_features``.
    nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness: its functions are nu times differentiable, rounded up less one. The default is
        that of scikit-learn.

    Raises
    ------
    ValueError
        For a `gamma` that is negative, not finite or no number, or another `nu`.

    See Also
    --------
    RBF : The limit of large nu, with γ² / 2 as its gamma.

    Notes
    -----
    A frequency is γ times a multivariate Student t of 2 nu degrees of freedom, which is
    γ g √(2ν / χ²) with g from N(0, I) and an independent χ² of 2ν degrees [2]_.

    References
    ----------
    .. [1] Rasmussen & Williams 2006, equations (4.14), (4.16) and (4.17).
    .. [2] The same, equation (4.15), the spectral density.

    Examples
    --------
    >>> from sklearn_okl.kernels import Matern, kernel_matrix
    >>> Matern(2.0, nu=2.5)
    Matern(gamma=2.0, nu=2.5)
    >>> kernel_matrix([[0.5]], [[0.0]], kernel=Matern(2.0)).round(4)
    array([[0.4834]])
    """

    metric = "euclidean"

    def __init__(self, gamma: float | None = None, nu: Any = 1.5) -> None:
        super().__init__(gamma)
        if nu not in _SMOOTHNESS:
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5; got {nu!r}.")
        self.nu = float(nu)

    @property
    def name(self) -> Any:
        """The string by which the kernel is found."""
        return f"matern{self._degrees}2"

    @property
    def _degrees(self):
        return round(2 * self.nu)

    def values_at(self, distances: Any, gamma: Any, out: Any = None) -> Any:
        """Return the values at Euclidean distances."""
        degrees = self._degrees
        R = np.multiply(distances, gamma * np.sqrt(degrees), out=out)
        K = np.negative(R)
        np.exp(K, out=K)
        if degrees == 3:
            R += 1
            K *= R
        elif degrees == 5:
            K *= 1 + R * (1 + R / 3)
        return K

    def frequencies_at(self, points: Any, gamma: Any, rng: Any) -> Any:
        """Return γ g √(2ν / χ²) of the points g."""
        degrees = self._degrees
        return gamma * points * np.sqrt(degrees / rng.chisquare(degrees, size=(len(points), 1)))
