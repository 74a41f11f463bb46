"""Kernels of a distance between two rows: the base that makes most of them a few lines."""

from __future__ import annotations

from abc import abstractmethod
from math import sqrt

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from .._documentation import inherit_documentation
from .._types import Any, Array
from ._shift_invariant import ShiftInvariantKernel

_METRICS = ("sqeuclidean", "euclidean", "cityblock")
_FEW_FEATURES = 16  # up to here differences cost no more than products


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
    are cut into blocks.

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
        """Return how the kernel's bandwidth scales with the dimension.

        Rows of d standardised features have squared distances of about 2d, absolute ones of about
        d and Euclidean ones of about the root of 2d.

        Returns
        -------
        float
            d, or its root for the metric ``"euclidean"``: see :class:`ShiftInvariantKernel`.
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
        """Return the number by which frequencies of :meth:`unit` are multiplied.

        Returns
        -------
        float
            γ, or the root of 2γ for the metric ``"sqeuclidean"``.
        """
        return sqrt(2.0 * gamma) if self.metric == "sqeuclidean" else gamma

    def __call__(self, X, Y):
        if self.metric == "sqeuclidean" and X.shape[1] > _FEW_FEATURES:
            distances = _squares_of_products(X, Y)
        else:
            distances = cdist(X, Y, self.metric)
        return self.values_at(distances, self.gamma_for(X.shape[1]), out=distances)

    def _pairwise(self, X, Y):
        # From differences where there is a kink at distance 0, which sparse rows do not have; else
        # as in scikit-learn, to the bit.
        if self.metric == "euclidean" and not (issparse(X) or issparse(Y)):
            distances = cdist(X, Y)
        elif self.metric == "cityblock":
            distances = manhattan_distances(X, Y)
        else:
            distances = euclidean_distances(X, Y, squared=self.metric == "sqeuclidean")
        return self.values_at(distances, self.gamma_for(X.shape[1]), out=distances)


def _squares_of_products(X, Y):
    """Squared Euclidean distances by way of inner products."""
    D = X @ Y.T
    D *= -2.0
    D += np.einsum("ij,ij->i", X, X)[:, None]
    D += np.einsum("ij,ij->i", Y, Y)
    return np.maximum(D, 0.0, out=D)
