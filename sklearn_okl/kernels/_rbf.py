"""The Gaussian kernel."""

from __future__ import annotations

import numpy as np

from .._types import Any
from ._distance import DistanceKernel


class RBF(DistanceKernel):
    r"""Gaussian kernel, exp(−γ ‖x − y‖₂²): the string ``"rbf"``.

    Parameters
    ----------
    gamma : float, default=None
        Inverse squared length in the units of X, 1 / (2σ²) for standard deviation σ. None is
        ``1 / n_features``, as in :func:`sklearn.metrics.pairwise.rbf_kernel`.

    Raises
    ------
    ValueError
        For a `gamma` that is negative, not finite or no number.

    See Also
    --------
    Laplacian : The same of absolute differences, with a kink.
    Matern : Between both in smoothness.

    Notes
    -----
    The law of its frequencies is N(0, 2γ I) [1]_.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007,
       Figure 1.

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
