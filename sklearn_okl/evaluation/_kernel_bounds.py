r"""Regret bounds of the Vovk-Azoury-Warmuth forecaster in the space of a kernel (Jézéquel et al.).

All are for sums of squared errors without a factor one half, against every function f of the
kernel's space H, and for ``forecaster="vaw"``: online ridge regression has no such bound. At the
best f, kernel ridge regression in hindsight, the left-hand side with :math:`\alpha\|f\|^2` taken
over is :math:`\sum_t(\hat y_t-y_t)^2-\alpha\,y^\top(K+\alpha I)^{-1}y`.
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array, check_scalar

from .._documentation import explained_by
from .._types import ArrayLike
from ._bounds import vaw_regret_bound


@explained_by(vaw_regret_bound)
def kernel_vaw_regret_bound(
    K: ArrayLike, *, y_bound: float, alpha: float = 1.0, norm_sq: float = 0.0
) -> float:
    r"""Bound the regret of the forecaster in the whole space of a kernel, Proposition 1.

    For every sequence with :math:`|y_t|\le B` and every f in H,

    .. math:: \sum_{t\le n}(\hat y_t-y_t)^2-\sum_{t\le n}(f(x_t)-y_t)^2
        \le \alpha\|f\|_H^2 + B^2\sum_{k\le n}\ln\Bigl(1+\frac{\lambda_k(K)}{\alpha}\Bigr).

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Kernel matrix of the rows, symmetric.
    y_bound : float
        Bound B of the absolute targets, in the unit of y.
    alpha : float, default=1.0
        Ridge of the forecaster, in the unit of the kernel.
    norm_sq : float, default=0.0
        Squared norm of f in H, in the unit of y squared.

    Returns
    -------
    bound : float
        In the unit of y squared, a sum over rounds.

    Raises
    ------
    ValueError, TypeError
        If K is not a finite square matrix, or a scale is not positive.

    Notes
    -----
    Cost :math:`O(n^3)`, the eigenvalues of K. Those below :math:`n\epsilon\lambda_1(K)`, with the
    precision :math:`\epsilon` of a number, are rounding, and count as 0.

    References
    ----------
    Jézéquel et al. 2019, Proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.evaluation import kernel_vaw_regret_bound
    >>> round(kernel_vaw_regret_bound(np.ones((3, 3)), y_bound=1.0), 4)
    1.3863
    """
    values = _eigenvalues(K)
    _check_scales(y_bound, alpha, norm_sq)
    return float(alpha * norm_sq + y_bound**2 * np.log1p(values / alpha).sum())


@explained_by(kernel_vaw_regret_bound)
def pkawv_regret_bound(
    K: ArrayLike, *, residual: float, y_bound: float, alpha: float = 1.0, norm_sq: float = 0.0
) -> float:
    r"""Bound the regret of the forecaster in a fixed subspace, Theorem 3, equation (5).

    With P the projection onto the subspace and :math:`\mu=\|(I-P)C_n^{1/2}\|^2`,
    :math:`C_n=\sum_t\phi(x_t)\otimes\phi(x_t)`, for every f of the whole space H

    .. math:: \sum_{t\le n}(\hat y_t-y_t)^2-\sum_{t\le n}(f(x_t)-y_t)^2
        \le \alpha\|f\|_H^2 + B^2\sum_{k\le n}\ln\Bigl(1+\frac{\lambda_k(K)}{\alpha}\Bigr)
        + (\mu+\alpha)\frac{n\mu B^2}{\alpha^2}.

    Parameters
    ----------
    residual : float
        :math:`\mu`, the largest eigenvalue of :math:`K-\Phi\Phi^\top` for the coordinates
        :math:`\Phi` of the rows in an orthonormal basis of the subspace.

    Notes
    -----
    The last term may be replaced by :math:`n\mu B^2/\alpha`, which is never larger: it bounds
    :math:`\alpha\,y^\top[(\Phi\Phi^\top+\alpha I)^{-1}-(K+\alpha I)^{-1}]y`, the loss of the best
    function of the subspace beyond that of the best of H, and the difference of the inverses is
    their product about :math:`K-\Phi\Phi^\top`. The value here is the printed one. The first
    logarithm could be that of :math:`\Phi\Phi^\top`, as the proof has it.

    References
    ----------
    Jézéquel et al. 2019, Theorem 3 and its proof, Appendix D.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.evaluation import pkawv_regret_bound
    >>> round(pkawv_regret_bound(np.ones((3, 3)), residual=0.1, y_bound=1.0), 4)
    1.7163
    """
    check_scalar(residual, "residual", Real, min_val=0)
    bound = kernel_vaw_regret_bound(K, y_bound=y_bound, alpha=alpha, norm_sq=norm_sq)
    return float(bound + (residual + alpha) * len(K) * residual * y_bound**2 / alpha**2)


@explained_by(pkawv_regret_bound)
def pkawv_taylor_degree(horizon: int, *, radius: float, gamma: float, alpha: float = 1.0) -> int:
    r"""Return the degree of Taylor features for which the projection costs next to nothing.

    With :math:`\|x_t\|\le R`, :math:`\gamma=1/(2\sigma^2)` and degree at least

    .. math:: M=\Bigl\lceil\max\Bigl(\frac{8R^2}{\sigma^2},\,2\ln\frac{n}{\min(\alpha,1)}\Bigr)
        \Bigr\rceil

    the regret is at most that of Theorem 4: :func:`kernel_vaw_regret_bound` with 3/2 times its
    second term.

    Parameters
    ----------
    horizon : int
        Number of rounds n.
    radius : float
        Bound R of the rows' Euclidean norms, in the unit of X.
    gamma : float
        Inverse squared length scale of the Gaussian kernel.

    Returns
    -------
    degree : int

    Raises
    ------
    ValueError, TypeError
        If an argument is not positive.

    References
    ----------
    Jézéquel et al. 2019, Theorem 4.

    Examples
    --------
    >>> from sklearn_okl.evaluation import pkawv_taylor_degree
    >>> pkawv_taylor_degree(1000, radius=1.0, gamma=0.5)
    14
    """
    check_scalar(horizon, "horizon", Integral, min_val=1)
    for name, value in (("radius", radius), ("gamma", gamma), ("alpha", alpha)):
        check_scalar(value, name, Real, min_val=0, include_boundaries="neither")
    return int(np.ceil(max(16 * gamma * radius**2, 2 * np.log(horizon / min(alpha, 1.0)))))


def _check_scales(y_bound, alpha, norm_sq):
    check_scalar(y_bound, "y_bound", Real, min_val=0, include_boundaries="neither")
    check_scalar(alpha, "alpha", Real, min_val=0, include_boundaries="neither")
    check_scalar(norm_sq, "norm_sq", Real, min_val=0)


def _eigenvalues(K):
    K = check_array(K, dtype=np.float64, input_name="K")
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"K has shape {K.shape}; give the square kernel matrix of the rows.")
    values = np.linalg.eigvalsh(K)
    noise = len(K) * np.finfo(np.float64).eps * values[-1]
    return np.where(values > max(noise, 0.0), values, 0.0)
