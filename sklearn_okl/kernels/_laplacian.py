"""The Laplacian kernel."""

from __future__ import annotations

import numpy as np

from .._types import Any
from ._distance import DistanceKernel
from ._sampling import two_sided_tails


class Laplacian(DistanceKernel):
    r"""Laplacian kernel, exp(−γ ‖x − y‖₁): the string ``"laplacian"``.

    Parameters
    ----------
    gamma : float, default=None
        Inverse length in the units of X. None is ``1 / n_features``, as in
        :func:`sklearn.metrics.pairwise.laplacian_kernel`.

    Raises
    ------
    ValueError
        For a `gamma` that is negative, not finite or no number.

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
    .. [1] A. Rahimi and B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007,
       Figure 1.

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
