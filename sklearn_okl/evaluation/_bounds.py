r"""Regret and loss bounds of the Vovk-Azoury-Warmuth family (Rokhlin and Gurtovaya).

Units
-----
Every bound here is for **sums of squared errors** :math:`\sum_t (\hat y_t - y_t)^2`, without the
factor one half that the paper puts before its losses: the values are twice its right-hand sides.

Letters
-------
The paper works with the unscaled features :math:`\sqrt 2\cos(\langle\omega,x\rangle+b)`,
:math:`\|\Phi(x)\|^2\le 2m`, and one ridge :math:`\lambda` for both levels. This library divides the
features by :math:`\sqrt m`, and the two levels have ridges of their own. With
:math:`w=\sqrt m\,\hat w` the forecast is the same and :math:`\alpha\|w\|^2=m\alpha\|\hat w\|^2`, so

- in the experts, the paper's :math:`\lambda` is ``n_components * alpha``;
- in the aggregator, whose inputs are forecasts and not features, it is ``aggregator_alpha``.

The proofs use the first level and the second level one after the other and never need the two
ridges equal, so the theorems hold with the two put in.

The same formulas serve both forms of Fourier features. For D = ``n_components`` features of norm at
most :math:`\rho` = ``feature_bound``, :math:`\mathsf E(\langle\hat w,\Phi(x)\rangle-f(x))^2\le
2\|f\|^2/D` holds for the phase form (D = m, :math:`\rho=\sqrt 2`, Lemma 1) and for the paired form
(D = 2m for m frequencies, :math:`\rho=1`, variance at most :math:`\|f\|^2/m`) alike; the mean
penalty is :math:`\alpha\|f\|^2` in both. (An odd D drops one cosine of the paired form and with it
the unbiasedness that Lemma 1 needs.)

All of it is about the Vovk-Azoury-Warmuth forecast without forgetting: online ridge regression,
``forecaster="ridge"``, has no such bound.
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy.linalg import qr, solve_triangular
from sklearn.utils import check_array, check_scalar

from .._documentation import cites, explained_by
from .._types import Any, Array, ArrayLike

_SQRT_2 = float(np.sqrt(2))
_BLOCK = 1024  # rows whose determinant is looked at together, at most


def _check_positive(**values):
    for name, value in values.items():
        check_scalar(value, name, Real, min_val=0, include_boundaries="neither")


def _check_count(**values):
    for name, value in values.items():
        check_scalar(value, name, Integral, min_val=1)


def _check_non_negative(**values):
    """Return the values, numbers or arrays, as float64 arrays."""
    arrays = []
    for name, value in values.items():
        array = np.asarray(value, dtype=np.float64)
        if not np.all(array >= 0):
            raise ValueError(f"{name} must be non-negative, got {value!r}.")
        arrays.append(array)
    return arrays


def _plain(bound):
    """Return a float for a scalar, an array as it is."""
    return float(bound) if np.ndim(bound) == 0 else bound


def _vaw_log_term(horizon, n_features, y_bound, feature_bound, alpha):
    """Return d Y^2 ln(1 + rho^2 T / (alpha d)), twice the last term of (2.5)."""
    growth = feature_bound**2 * horizon / (alpha * n_features)
    return n_features * y_bound**2 * np.log1p(growth)


@cites
def vaw_regret_bound(
    horizon: int | ArrayLike,
    *,
    n_features: int,
    y_bound: float,
    feature_bound: float,
    alpha: float = 1.0,
    norm_sq: float | ArrayLike = 0.0,
) -> Any:
    r"""Bound the regret of the Vovk-Azoury-Warmuth forecaster, equation (2.5).

    For every sequence with :math:`|y_t|\le Y` and :math:`\|z_t\|_2\le\rho`, and every fixed w,

    .. math:: \sum_{t\le T}(\hat y_t-y_t)^2-\sum_{t\le T}(\langle w,z_t\rangle-y_t)^2
        \le \alpha\|w\|^2 + d\,Y^2\ln\Bigl(1+\frac{\rho^2 T}{\alpha d}\Bigr).

    Parameters
    ----------
    horizon : int or array-like
        Number of rounds T; an array gives the bound at each of its entries.
    n_features : int
        Dimension d of the rows that the forecaster sees.
    y_bound : float
        Bound Y of the absolute targets, in the unit of y.
    feature_bound : float
        Bound :math:`\rho` of the rows' Euclidean norms.
    alpha : float, default=1.0
        Ridge of the forecaster, in the unit of the squared norm of a row.
    norm_sq : float or array-like, default=0.0
        Squared norm of the comparator w. The default 0 leaves the comparator's part out.

    Returns
    -------
    bound : float or ndarray
        In the unit of y squared, a sum over rounds, not a mean.

    Raises
    ------
    ValueError, TypeError
        If a scale is not positive, or a horizon or a norm is negative.

    Notes
    -----
    Twice the right-hand side of (2.5), whose losses carry one half. Here ``alpha`` is the
    ridge used on the very rows whose norm is bounded; no rescaling is needed.

    See Also
    --------
    vaw_logdet_bound : The sharper bound that looks at the rows.

    References
    ----------
    Rokhlin & Gurtovaya 2025, equation (2.5); Cesa-Bianchi & Lugosi 2006, Theorem 11.8.

    Examples
    --------
    >>> from sklearn_okl.evaluation import vaw_regret_bound
    >>> round(vaw_regret_bound(100, n_features=2, y_bound=1.0, feature_bound=1.0, norm_sq=3.0), 4)
    10.8637
    """
    _check_count(n_features=n_features)
    _check_positive(y_bound=y_bound, feature_bound=feature_bound, alpha=alpha)
    horizon, norm_sq = _check_non_negative(horizon=horizon, norm_sq=norm_sq)
    bound = alpha * norm_sq + _vaw_log_term(horizon, n_features, y_bound, feature_bound, alpha)
    return _plain(bound)


@explained_by(vaw_regret_bound)
def vaw_logdet_bound(
    X: ArrayLike, *, y_bound: float, alpha: float = 1.0, norm_sq: float = 0.0
) -> Array:
    r"""Bound the regret of the Vovk-Azoury-Warmuth forecaster on given rows, after each of them.

    .. math:: \alpha\|w\|^2+Y^2\ln\det\Bigl(I+\tfrac1\alpha\sum_{s\le t}z_sz_s^\top\Bigr)

    is the step of the proof of (2.5) before the rows are replaced by the bound of their norms. It
    is never larger than ``vaw_regret_bound``, and often several times smaller.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows z_t that the forecaster sees, in order (features, not raw inputs).
    norm_sq : float, default=0.0

    Returns
    -------
    bounds : ndarray of shape (n_samples,)
        The bound of the regret after each row, in the unit of y squared; the last entry is the
        bound at the horizon. It never falls.

    Raises
    ------
    ValueError, TypeError
        If X is not a finite two-dimensional array or a scale is not positive.

    Notes
    -----
    Cost O(n d min(n, d)) and O(d^2) memory: the rows go in blocks, and a block of B rows Z adds the
    logarithms of the squared pivots of chol(I + Z A^{-1} Z^T) to A = alpha I + sum z z^T. Both are
    known by triangular factors of rows, never by products of these, so that rows may be a million
    times as long as :math:`\sqrt\alpha`, and more. For a kernel instead of rows pass a square root
    of its matrix, such as its Cholesky factor: the determinant is that of I + K / alpha.

    References
    ----------
    As ``vaw_regret_bound``; Cesa-Bianchi & Lugosi 2006, proof of Theorem 11.8.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.evaluation import vaw_logdet_bound
    >>> vaw_logdet_bound(np.ones((3, 1)), y_bound=1.0).round(4)
    array([0.6931, 1.0986, 1.3863])
    """
    X = check_array(X, dtype=np.float64)
    _check_positive(y_bound=y_bound, alpha=alpha)
    check_scalar(norm_sq, "norm_sq", Real, min_val=0)
    n, d = X.shape
    growth = np.empty(n)
    root = alpha**0.5 * np.eye(d)  # R of A = R^T R
    start, size, largest = 0, min(d, _BLOCK), min(max(d, 64), _BLOCK)
    while start < n:
        Z = X[start : start + size]
        U = solve_triangular(root, Z.T, trans="T")  # (d, B)
        # products of rows, as U^T U, would lose the I beside them
        pivots = np.diagonal(qr(np.concatenate([U, np.eye(len(Z))]), mode="r")[0])
        growth[start : start + size] = np.maximum(np.abs(pivots), 1.0)
        root = qr(np.concatenate([root, Z]), mode="r")[0][:d]
        diagonal = np.diagonal(root)  # no less than at the start, but for rounding
        np.fill_diagonal(root, np.copysign(np.maximum(np.abs(diagonal), alpha**0.5), diagonal))
        start, size = start + size, min(2 * size, largest)
    log_growth = 2 * np.log(growth)
    return alpha * norm_sq + y_bound**2 * np.cumsum(log_growth)


@explained_by(vaw_regret_bound)
def concatenated_vaw_loss_bound(
    horizon: int | ArrayLike,
    *,
    n_kernels: int,
    n_components: int,
    y_bound: float,
    norm_sq: float | ArrayLike,
    alpha: float = 1.0,
    feature_bound: float = _SQRT_2,
    comparator_loss: float | ArrayLike = 0.0,
) -> Any:
    r"""Bound the expected loss of one VAW on all kernels' random features, Theorem 1, (3.8).

    .. math:: \mathsf E\sum_{t\le T}(\hat y_t-y_t)^2\le\sum_{t\le T}(f(x_t)-y_t)^2
        +\Bigl(\alpha+\frac{2NT}{D}\Bigr)\|f\|_{\mathcal H}^2
        +NDY^2\ln\Bigl(1+\frac{\rho^2T}{\alpha D}\Bigr)

    for every f in the sum of the kernels' spaces, the expectation being over the frequencies.

    Parameters
    ----------
    n_kernels : int
        Number N of kernels.
    n_components : int
        Number D of random features **a kernel**, scaled so that their inner product approximates
        the kernel (as ``FourierFeatures`` does).
    norm_sq : float or array-like
        Squared norm of f in the space of the kernels' sum, in the unit of y squared.
    alpha : float, default=1.0
        Ridge of the forecaster on these scaled features; the paper's lambda is D * alpha.
    feature_bound : float, default=sqrt(2)
        Bound :math:`\rho` of the norm of one kernel's scaled features: sqrt(2) for the phase form,
        the paper's; 1 for the paired sine and cosine. The default is valid for both.
    comparator_loss : float or array-like, default=0.0
        The comparator's sum of squared errors; 0 gives the bound of the expected regret.

    Raises
    ------
    ValueError, TypeError
        If a scale is not positive, or a horizon, norm or loss is negative.

    Notes
    -----
    Twice the paper's right-hand side, rewritten for scaled features. The N in 2NT/D comes from
    (sum a_j)^2 <= N sum a_j^2 in (3.3), and is needed when kernels share frequencies. With
    frequencies independent from kernel to kernel the errors a_j are independent with mean zero, the
    cross terms vanish, and 2T/D would do: then the printed term is N times too large.

    References
    ----------
    Rokhlin & Gurtovaya 2025, Theorem 1, equation (3.8).

    Examples
    --------
    >>> from sklearn_okl.evaluation import concatenated_vaw_loss_bound
    >>> round(concatenated_vaw_loss_bound(
    ...     1000, n_kernels=2, n_components=50, y_bound=1.0, norm_sq=1.0), 3)
    452.357
    """
    _check_count(n_kernels=n_kernels, n_components=n_components)
    _check_positive(y_bound=y_bound, alpha=alpha, feature_bound=feature_bound)
    horizon, norm_sq, comparator_loss = _check_non_negative(
        horizon=horizon, norm_sq=norm_sq, comparator_loss=comparator_loss
    )
    approximation = (alpha + 2 * n_kernels * horizon / n_components) * norm_sq
    # dimension N D and rho^2 N in (2.5): the N cancels inside the logarithm
    log_term = n_kernels * _vaw_log_term(horizon, n_components, y_bound, feature_bound, alpha)
    return _plain(comparator_loss + approximation + log_term)


def _expert_excess(horizon, n_components, y_bound, norm_sq, alpha, feature_bound):
    """Return one expert's excess loss, (3.22) + (3.23), and its VAW logarithm."""
    log_term = _vaw_log_term(horizon, n_components, y_bound, feature_bound, alpha)
    return (alpha + 2 * horizon / n_components) * norm_sq + log_term, log_term


@explained_by(concatenated_vaw_loss_bound)
def vaw2_loss_bound(
    horizon: int | ArrayLike,
    *,
    n_kernels: int,
    n_components: int,
    y_bound: float,
    norm_sq: float | ArrayLike,
    alpha: float = 1.0,
    aggregator_alpha: float = 1.0,
    clipped: bool = False,
    feature_bound: float = _SQRT_2,
    comparator_loss: float | ArrayLike = 0.0,
) -> Any:
    r"""Bound the expected loss of the double VAW, Theorem 2, (3.14), or of its clipped variant.

    .. math:: \mathsf E\sum_{t\le T}(\hat y_t-y_t)^2\le\sum_{t\le T}(f_j(x_t)-y_t)^2+\alpha_2
        +\Bigl(\alpha+\frac{2T}{D}\Bigr)\|f_j\|_{\mathcal H_j}^2+L
        +NY^2\ln\Bigl(1+\frac{1}{\alpha_2}\bigl(2T(T+1)Y^2+2TL\bigr)\Bigr),

    with :math:`L=DY^2\ln(1+\rho^2T/(\alpha D))`, for every kernel j and every f_j in its space.

    Parameters
    ----------
    n_kernels : int
        Number N of kernels (experts).
    n_components : int
        Number D of random features per kernel, scaled as ``FourierFeatures`` does.
    norm_sq : float or array-like
        Squared norm of f_j in the space of kernel j, in the unit of y squared.
    alpha : float, default=1.0
        Ridge of the experts on the scaled features; the paper's lambda there is D * alpha.
    aggregator_alpha : float, default=1.0
        Ridge :math:`\alpha_2` of the second level, in the unit of y squared: the paper's lambda.
    clipped : bool, default=False
        Whether the experts' forecasts are clipped to [-Y, Y], (3.25). The last logarithm is then
        :math:`NY^2\ln(1+Y^2T/\alpha_2)`.

    Notes
    -----
    Twice the paper's right-hand side, with its single lambda told apart into the two ridges.

    (3.20) bounds each round's forecasts by the loss of the *whole* run and then multiplies by T.
    Summing first, :math:`\sum_t z_{t,j}^2\le 2\sum_t(z_{t,j}-y_t)^2+2\sum_t y_t^2\le 4TY^2+2L`,
    which may replace the inner bracket :math:`2T(T+1)Y^2+2TL`; this gains up to
    :math:`NY^2\ln(T/2)`.

    For the clipped variant the text puts Z_T = Y into (3.19), but N clipped forecasts have
    :math:`\|\bar z_t\|^2\le NY^2`; with that value (3.19) gives the display that the paper prints,
    which is the one used here. In the display before it the factors one half are missing.

    References
    ----------
    Rokhlin & Gurtovaya 2025, Theorem 2, equation (3.14), and the display after (3.25).

    Examples
    --------
    >>> from sklearn_okl.evaluation import vaw2_loss_bound
    >>> args = dict(n_kernels=2, n_components=50, y_bound=1.0, norm_sq=1.0)
    >>> round(vaw2_loss_bound(1000, **args), 3)
    257.038
    >>> round(vaw2_loss_bound(1000, clipped=True, **args), 3)
    241.496
    """
    _check_count(n_kernels=n_kernels, n_components=n_components)
    _check_positive(
        y_bound=y_bound,
        alpha=alpha,
        aggregator_alpha=aggregator_alpha,
        feature_bound=feature_bound,
    )
    horizon, norm_sq, comparator_loss = _check_non_negative(
        horizon=horizon, norm_sq=norm_sq, comparator_loss=comparator_loss
    )
    excess, log_term = _expert_excess(horizon, n_components, y_bound, norm_sq, alpha, feature_bound)
    # bound of T Z_T^2 / N, with Z_T^2 = N Y^2 after clipping and (3.20) before
    energy = y_bound**2 * horizon
    if not clipped:
        energy = 2 * (horizon + 1) * energy + 2 * horizon * log_term
    aggregation = aggregator_alpha + n_kernels * y_bound**2 * np.log1p(energy / aggregator_alpha)
    return _plain(comparator_loss + excess + aggregation)


@explained_by(vaw2_loss_bound)
def vaw_ewa_loss_bound(
    horizon: int | ArrayLike,
    *,
    n_kernels: int,
    n_components: int,
    y_bound: float,
    norm_sq: float | ArrayLike,
    alpha: float = 1.0,
    feature_bound: float = _SQRT_2,
    comparator_loss: float | ArrayLike = 0.0,
) -> Any:
    r"""Bound the expected loss of clipped VAW experts under exponential weights, Theorem 3, (3.27).

    .. math:: \mathsf E\sum_{t\le T}(\hat y_t-y_t)^2\le\sum_{t\le T}(f_j(x_t)-y_t)^2+8Y^2\ln N
        +\Bigl(\alpha+\frac{2T}{D}\Bigr)\|f_j\|_{\mathcal H_j}^2
        +DY^2\ln\Bigl(1+\frac{\rho^2T}{\alpha D}\Bigr)

    for every kernel j and every f_j in its space, at the rate :math:`\eta=1/(8Y^2)` for squared
    errors (without one half), uniform first weights and forecasts clipped to [-Y, Y].

    Parameters
    ----------
    y_bound : float
        Bound Y of the absolute targets, in the unit of y; the clip and the rate must use it.

    Notes
    -----
    Twice the paper's right-hand side. (y - z)^2 is eta-exp-concave on [-Y, Y] for
    2 eta (y - z)^2 <= 1, hence eta = 1/(8 Y^2) and the regret ln N / eta = 8 Y^2 ln N for sums
    without one half. In (3.25A) the weights of round t are printed with the losses of round t; the
    round before is meant, or the forecast would use its own target.

    References
    ----------
    Rokhlin & Gurtovaya 2025, Theorem 3, equation (3.27).

    Examples
    --------
    >>> from sklearn_okl.evaluation import vaw_ewa_loss_bound
    >>> round(vaw_ewa_loss_bound(
    ...     1000, n_kernels=2, n_components=50, y_bound=1.0, norm_sq=1.0), 3)
    232.224
    """
    _check_count(n_kernels=n_kernels, n_components=n_components)
    _check_positive(y_bound=y_bound, alpha=alpha, feature_bound=feature_bound)
    horizon, norm_sq, comparator_loss = _check_non_negative(
        horizon=horizon, norm_sq=norm_sq, comparator_loss=comparator_loss
    )
    excess, _ = _expert_excess(horizon, n_components, y_bound, norm_sq, alpha, feature_bound)
    return _plain(comparator_loss + excess + 8 * y_bound**2 * np.log(n_kernels))
