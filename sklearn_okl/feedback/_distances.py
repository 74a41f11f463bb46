"""Distances between kernels, of which similarity graphs are made.

The numbers of equations are those of P. M. Ghari, Y. Shen, "Graph-Aided Online Multi-Kernel
Learning", JMLR 24, 2023.
"""

import numpy as np
from scipy.special import erfcx

from ..kernels import shift_invariant_kernel

_COINCIDENT = -1e300  # finite, so that it can be kept in a state; exp of it is 0


def kernel_distances(kernels, *, dim=1, log=False):
    r"""Squared distances between kernels as functions of the difference of two rows.

    Parameters
    ----------
    kernels : list of dict
        K kernels, each with "kernel", of the `exponent` 2 or 1 as ``"rbf"`` and ``"laplacian"``
        have it, and a positive "gamma".
    dim : int, default=1
        Dimension of the differences. One is enough to tell kernels apart; with many, the widest
        kernel outweighs all others.
    log : bool, default=False
        Whether to return natural logarithms, which neither overflow nor vanish for any `dim`.
        Kernels that coincide then get -1e300.

    Returns
    -------
    ndarray of shape (K, K)
        :math:`\int |\kappa_i(\rho) - \kappa_j(\rho)|^2 d\rho` (eq. 27).

    Raises
    ------
    ValueError
        For another kernel, or for a gamma of 0, whose kernel has no integral.

    Notes
    -----
    Both kernels are products over coordinates, so with :math:`s_{ij}` the integral of
    :math:`\kappa_i \kappa_j` over one coordinate the distance is
    :math:`s_{ii}^{dim} + s_{jj}^{dim} - 2 s_{ij}^{dim}`, where

    - two Gaussians have :math:`s = \sqrt{\pi / (\gamma_i + \gamma_j)}`,
    - two Laplacians have :math:`s = 2 / (\gamma_i + \gamma_j)`,
    - a Gaussian a and a Laplacian b have :math:`s = \sqrt{\pi / \gamma_a}\,
      \mathrm{erfcx}(\gamma_b / (2 \sqrt{\gamma_a}))`, by completing the square.

    The integral runs over all differences, not only over those that bounded rows can have, and so
    grows with a kernel's width: the farthest kernels are the widest, and from them the narrowest.
    In many dimensions the widest outweighs the others beyond the precision of a float, which are
    then equally far from it. The published program has other formulas.
    """
    made = [shift_invariant_kernel(kernel["kernel"], kernel["gamma"]) for kernel in kernels]
    for point, kernel in zip(kernels, made, strict=True):
        if kernel.exponent not in (1, 2):
            raise ValueError(
                f"Distances between kernels are known for 'rbf' and 'laplacian', not for "
                f"{point['kernel']!r}. Leave it out of the grid, or give 'distances'."
            )
        if not kernel.gamma > 0:
            raise ValueError(
                "A kernel with gamma=0 is constant and infinitely far from the others. Leave it "
                "out of the grid."
            )
    gammas = np.array([kernel.gamma for kernel in made])
    gaussian = np.array([kernel.exponent == 2 for kernel in made])
    sums = np.add.outer(gammas, gammas)
    a, b = gammas[:, None], gammas[None, :]
    mixed = np.log(erfcx(b / (2 * np.sqrt(a)))) + np.log(np.pi / a) / 2  # (rbf, laplacian)
    overlaps = dim * np.where(
        gaussian[:, None],
        np.where(gaussian, np.log(np.pi / sums) / 2, mixed),
        np.where(gaussian, mixed.T, np.log(2 / sums)),
    )
    norms = np.diag(overlaps)
    together = np.logaddexp(norms[:, None], norms)
    # By Cauchy-Schwarz and the two means the share is at most 1, but for rounding.
    share = np.minimum(np.exp(np.log(2) + overlaps - together), 1.0)
    np.fill_diagonal(share, 1.0)
    with np.errstate(divide="ignore"):
        distances = np.maximum(together + np.log1p(-share), _COINCIDENT)
    return distances if log else np.exp(distances)


def checked_distances(distances, n_kernels):
    """Check distances between kernels that the user computed.

    Parameters
    ----------
    distances : array-like of shape (K, K)
        Finite, not negative, symmetric. The diagonal does not matter.
    n_kernels : int
        The expected K.

    Returns
    -------
    ndarray of shape (K, K)
        Natural logarithms, -1e300 for distances of 0, as :func:`kernel_distances` returns them
        with ``log=True``.

    Raises
    ------
    ValueError
        For another shape, or where one of the above does not hold.
    """
    distances = np.asarray(distances, dtype=np.float64)
    if distances.shape != (n_kernels, n_kernels):
        raise ValueError(
            f"distances has shape {distances.shape}, but there are {n_kernels} kernels. Give one "
            "row and one column a kernel."
        )
    if not (np.isfinite(distances).all() and distances.min() >= 0):
        raise ValueError("distances has entries that are negative, infinite or NaN.")
    if not np.array_equal(distances, distances.T):
        raise ValueError(
            "distances is not symmetric. If rounding is the cause, give (D + D.T) / 2 for D."
        )
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(distances), _COINCIDENT)
