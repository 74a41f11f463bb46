"""Kernels of a distance between two rows: the base, Gaussian, Laplacian and Matérn's."""

from __future__ import annotations

from abc import abstractmethod
from math import sqrt

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from .._documentation import inherit_documentation
from .._types import Any, Array
from ._sampling import two_sided_tails
from ._shift_invariant import ShiftInvariantKernel

_METRICS = ("sqeuclidean", "euclidean", "cityblock")
_FEW_FEATURES = 16  # up to here differences cost no more than products
FAR = 1e3  # gamma |x|^2: beyond, rounding of products moves values by more than 1e-12
_SMOOTHNESS = (0.5, 1.5, 2.5)


@inherit_documentation
class DistanceKernel(ShiftInvariantKernel):
    r"""Base of kernels that are functions of gamma times a distance.

    A subclass names its `metric` ρ, and writes :meth:`values_at` and
    :meth:`~ShiftInvariantKernel.frequencies_at`. With other parameters as they are, k(x, y) must
    depend on γ ρ(x, y) alone. All else follows: how the bandwidth and the frequencies scale, and
    that several kernels of one metric can share their distances.

    Parameters
    ----------
    gamma : float, default=None
        Inverse length in the units of X, squared for the metric ``"sqeuclidean"``. None is
        ``1 / n_features``.

    Attributes
    ----------
    metric : {"sqeuclidean", "euclidean", "cityblock"}
        The distance, by its name in SciPy: ‖δ‖₂², ‖δ‖₂ or ‖δ‖₁ with δ = x − y. A subclass of
        another one is refused, with a ValueError.

    See Also
    --------
    ShiftInvariantKernel : Base of the kernels that are no such function.

    Notes
    -----
    *Cost.* O(n m d) for n times m values. With few features the distances come from differences,
    not from inner products: exact for rows that nearly agree, and the same to the bit however rows
    are cut into blocks. With more than 16 features so do squared ones of rows far from the origin,
    :math:`\gamma \|x\|^2 > 1000`, in two to three times the time: standardise these.

    Examples
    --------
    The rational quadratic kernel (1 + γ ‖δ‖₂² / (2α))^(−α) is a mean of Gaussian kernels,
    exp(−γ τ ‖δ‖₂² / 2) with τ from the Gamma law of shape α and mean 1. Its frequencies are hence
    √(γ τ) g with g from N(0, I):

    >>> import numpy as np
    >>> from sklearn_okl.kernels import DistanceKernel, kernel_matrix
    >>> class RationalQuadratic(DistanceKernel):
    ...     metric = "sqeuclidean"
    ...
    ...     def __init__(self, gamma=None, alpha=1.0):
    ...         super().__init__(gamma)
    ...         self.alpha = alpha
    ...
    ...     def values_at(self, distances, gamma, out=None):
    ...         return (1 + gamma / (2 * self.alpha) * distances) ** -self.alpha
    ...
    ...     def frequencies_at(self, points, gamma, rng):
    ...         tau = rng.gamma(self.alpha, 1 / self.alpha, size=(len(points), 1))
    ...         return np.sqrt(gamma * tau) * points
    >>> kernel_matrix([[2.0]], [[0.0]], kernel=RationalQuadratic(1.0))
    array([[0.33333333]])
    """

    def __init__(self, gamma: float | None = None) -> None:
        super().__init__(gamma)
        if self.metric not in _METRICS:
            raise ValueError(
                f"{type(self).__name__} has the metric {self.metric!r}; choose one of "
                f"{', '.join(_METRICS)}, or derive from ShiftInvariantKernel."
            )

    @property
    @abstractmethod
    def metric(self) -> Any:
        """The distance, by its name in SciPy: ‖δ‖₂², ‖δ‖₂ or ‖δ‖₁ with δ = x − y."""

    @abstractmethod
    def values_at(self, distances: Any, gamma: float, out: Any = None) -> Array:
        """Turn distances into values.

        Parameters
        ----------
        distances : ndarray
            Of the kernel's metric, of any shape. Not to be changed, unless it is `out`: other
            kernels may read them next.
        gamma : float
            The bandwidth: never None.
        out : ndarray, default=None
            An array of that shape, often `distances` itself, that may be written on to save memory.
            It need not be used.

        Returns
        -------
        ndarray of the same shape
            Values; where the distance is 0 they are 1.
        """

    def width(self, n_features: int) -> float:
        """Return d, or its root for the metric ``"euclidean"``: see :class:`ShiftInvariantKernel`.

        Rows of d standardised features have squared distances of about 2d, absolute ones of about
        d and Euclidean ones of about the root of 2d.
        """
        return np.sqrt(n_features) if self.metric == "euclidean" else n_features

    def unit(self) -> Any:
        """Return the kernel of the same other parameters whose frequencies have the scale one.

        Returns
        -------
        DistanceKernel
        """
        return self.with_gamma(0.5 if self.metric == "sqeuclidean" else 1.0)

    def frequency_scale(self, gamma: float) -> float:
        """Return γ, or √(2γ) of squared distances, which multiplies frequencies of :meth:`unit`."""
        return sqrt(2.0 * gamma) if self.metric == "sqeuclidean" else gamma

    def __call__(self, X, Y):
        gamma = self.gamma_for(X.shape[1])
        if self.metric == "sqeuclidean" and X.shape[1] > _FEW_FEATURES:
            distances = _squared_distances(X, Y, gamma)
        else:
            distances = cdist(X, Y, self.metric)
        return self.values_at(distances, gamma, out=distances)

    def _pairwise(self, X, Y):
        gamma, are_sparse = self.gamma_for(X.shape[1]), issparse(X) or issparse(Y)
        if self.metric == "cityblock":
            distances = manhattan_distances(X, Y)
        # From differences where there is a kink at distance 0, or rows are far from the origin, but
        # not of sparse rows; else as in scikit-learn, to the bit.
        elif not are_sparse and (self.metric == "euclidean" or _are_far(X, Y, gamma)):
            distances = cdist(X, Y, self.metric)
        else:
            distances = euclidean_distances(X, Y, squared=self.metric == "sqeuclidean")
        return self.values_at(distances, gamma, out=distances)


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
        return _exponential(distances, gamma, out)

    def frequencies_at(self, points: Any, gamma: Any, rng: Any) -> Any:
        """Return √(2γ) g of the points g."""
        return np.sqrt(2 * gamma) * points


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
        return _exponential(distances, gamma, out)

    def frequencies_at(self, points: Any, gamma: Any, rng: Any) -> Any:
        """Return γ s / tan(π u / 2), Cauchy, of coordinates of sign s and two-sided tail u."""
        return gamma * np.sign(points) / np.tan(np.pi / 2 * two_sided_tails(points))


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
        """Return exp(−r), (1 + √3 r) exp(−√3 r) or (1 + √5 r + 5r²/3) exp(−√5 r), r = γ D."""
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


def _exponential(distances, gamma, out):
    """Return exp(−γ D), written to `out` if there is one."""
    K = np.multiply(distances, -gamma, out)
    return np.exp(K, K)


def _squared_distances(X, Y, gamma):
    """Squared Euclidean distances, by way of inner products unless rows are far off."""
    sizes, others = _squared_norms(X), _squared_norms(Y)
    if _exceed(sizes, others, gamma):
        return cdist(X, Y, "sqeuclidean")
    D = X @ Y.T
    D *= -2.0
    D += sizes[:, None]
    D += others
    return np.maximum(D, 0.0, out=D)


def _are_far(X, Y, gamma):
    """Tell whether rows are so far from the origin that inner products lose their distances."""
    return _exceed(_squared_norms(X), _squared_norms(Y), gamma)


def _exceed(sizes, others, gamma):
    # a row that is far from one that is not: its value is 0 in any case
    largest = min(sizes.max(initial=0.0), others.max(initial=0.0))
    return not gamma * largest <= FAR  # nor where they overflow


def _squared_norms(X):
    return np.einsum("ij,ij->i", X, X)
