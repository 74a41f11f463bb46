"""The best fixed comparator in hindsight, the regret against it, the effective dimension."""

from __future__ import annotations

from contextlib import contextmanager
from numbers import Real

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, eigvalsh, svdvals
from sklearn.utils import Bunch, check_array, check_consistent_length, check_scalar, check_X_y
from sklearn.utils.validation import check_symmetric

from sklearn_okl.kernels import kernel_matrix

from .._documentation import cites, explained_by
from .._types import Any, Array, ArrayLike, Callable


def _gram(X, kernel, gamma):
    """Return the kernel matrix of the rows of X, or X itself, checked, if precomputed."""
    if kernel == "precomputed":
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel matrix must be square, got the shape {X.shape}; "
                "name a kernel to pass rows instead."
            )
        return check_symmetric(X, raise_warning=False)
    return kernel_matrix(X, kernel=kernel, gamma=gamma)


@contextmanager
def refused_text():
    """Say of text, in rows or targets, that numbers are compared."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith("could not convert string"):
            raise
        raise ValueError(
            f"Numbers are compared here, and there is text: {error}. Give labels as -1 and 1, and "
            "rows as the learner sees them."
        ) from error


def rows_and_targets(X, y):
    """Return rows (n, d) and their targets (n,) as finite numbers."""
    with refused_text():
        X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True)
        return X, y.astype(np.float64)


@cites
def ridge_comparator(X: ArrayLike, y: ArrayLike, *, alpha: float = 0.0) -> Any:
    r"""Fit the best fixed linear forecaster in hindsight.

    The minimiser of :math:`\sum_t(\langle w,x_t\rangle-y_t)^2+\alpha\|w\|^2`, without an intercept;
    for alpha = 0 the least squares solution of smallest norm.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows that the online learner sees (features, not raw inputs).
    y : array-like of shape (n_samples,)
        Targets.
    alpha : float, default=0.0
        Ridge. The default gives the smallest loss of all fixed w. With the ridge of a VAW learner,
        ``objective`` plus ``vaw_logdet_bound(X, ...)`` at ``norm_sq=0`` bounds that learner's loss,
        and no other w makes it smaller.

    Returns
    -------
    result : Bunch
        ``coef`` (n_features,); ``forecasts`` and ``losses`` (n_samples,), the squared errors;
        ``norm_sq``, the squared norm of ``coef``; ``objective``, the sum of ``losses`` plus
        ``alpha * norm_sq``, in the unit of y squared.

    Raises
    ------
    ValueError
        If X and y are not finite and of the same length, or alpha is negative.

    Notes
    -----
    Cost O((n + d) d^2). Solved as least squares of the rows with sqrt(alpha) I appended, through
    the singular values, which keeps the accuracy that normal equations would square away.

    References
    ----------
    Cesa-Bianchi & Lugosi 2006, section 11.7.

    Examples
    --------
    >>> from sklearn_okl.evaluation import ridge_comparator
    >>> best = ridge_comparator([[1.0], [1.0]], [1.0, 3.0])
    >>> best.coef.round(6), best.losses.round(6)
    (array([2.]), array([1., 1.]))
    """
    X, y = rows_and_targets(X, y)
    check_scalar(alpha, "alpha", Real, min_val=0)
    rows, targets = X, y
    if alpha > 0:
        d = X.shape[1]
        rows = np.vstack([X, np.sqrt(alpha) * np.eye(d)])
        targets = np.concatenate([y, np.zeros(d)])
    coef = np.linalg.lstsq(rows, targets, rcond=None)[0]
    forecasts = X @ coef
    losses = (forecasts - y) ** 2
    norm_sq = float(coef @ coef)
    return Bunch(
        coef=coef,
        forecasts=forecasts,
        losses=losses,
        norm_sq=norm_sq,
        objective=float(losses.sum() + alpha * norm_sq),
    )


@explained_by(ridge_comparator)
def kernel_ridge_comparator(
    X: ArrayLike,
    y: ArrayLike,
    *,
    kernel: str | Callable[..., Any] = "rbf",
    gamma: float | None = None,
    alpha: float = 1.0,
) -> Any:
    r"""Fit the best fixed function of a kernel's space in hindsight.

    The minimiser of :math:`\sum_t(f(x_t)-y_t)^2+\alpha\|f\|_{\mathcal H}^2` is
    :math:`f=\sum_tc_tk(x_t,\cdot)` with :math:`c=(K+\alpha I)^{-1}y`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        Inputs, or the kernel matrix if ``kernel="precomputed"``.
    kernel : str or callable, default="rbf"
        A kernel of ``sklearn_okl.kernels.kernel_matrix``, or ``"precomputed"``.
    gamma : float, default=None
        The kernel's gamma; None as in ``kernel_matrix``.
    alpha : float, default=1.0
        Ridge, not multiplied by the number of rows. At 0 the function of smallest norm among those
        with the smallest loss.

    Returns
    -------
    result : Bunch
        ``dual_coef`` c (n_samples,); ``forecasts`` Kc and ``losses`` (n_samples,), the squared
        errors; ``norm_sq``, the squared norm c^T K c of f in the kernel's space; ``objective``, the
        sum of ``losses`` plus ``alpha * norm_sq``, in the unit of y squared.

    Raises
    ------
    ValueError
        If X and y are not finite and of the same length, alpha is negative, or a precomputed kernel
        is not square or not positive semi-definite.

    Notes
    -----
    Exact, cost O(n^3) and n^2 memory: for a few thousand rows. A positive alpha makes K + alpha I
    definite however singular K is, so nothing else is added to the diagonal of its Cholesky factor.
    For an alpha below sqrt(eps) tr K, where y / alpha would drown c^T K c in rounding, and for
    alpha = 0, the eigendecomposition is used (several times slower), with eigenvalues below
    n eps times the largest taken as 0.

    References
    ----------
    V. Vovk, "On-line regression competitive with reproducing kernel Hilbert spaces", TAMC 2006.

    Examples
    --------
    >>> from sklearn_okl.evaluation import kernel_ridge_comparator
    >>> best = kernel_ridge_comparator([[3.0]], [4.0], kernel="precomputed", alpha=1.0)
    >>> best.dual_coef, best.losses, best.norm_sq
    (array([1.]), array([1.]), 3.0)
    """
    X, y = rows_and_targets(X, y)
    check_scalar(alpha, "alpha", Real, min_val=0)
    K = _gram(X, kernel, gamma)
    dual_coef = _solve_shifted(K, y, alpha)
    forecasts = K @ dual_coef
    losses = (forecasts - y) ** 2
    norm_sq = max(float(dual_coef @ forecasts), 0.0)
    return Bunch(
        dual_coef=dual_coef,
        forecasts=forecasts,
        losses=losses,
        norm_sq=norm_sq,
        objective=float(losses.sum() + alpha * norm_sq),
    )


def _solve_shifted(K, y, alpha):
    """Return (K + alpha I)^+ y for a positive semi-definite K."""
    eps = np.finfo(np.float64).eps
    if alpha > np.sqrt(eps) * np.trace(K):
        try:
            return cho_solve(cho_factor(K + alpha * np.eye(len(K)), lower=True), y)
        except LinAlgError:
            pass  # K is far from semi-definite: the eigenvalues say so below
    values, vectors = eigh(K)
    if values[0] < -np.sqrt(eps) * abs(values[-1]):
        raise ValueError(
            "The kernel matrix is not positive semi-definite: its smallest eigenvalue is "
            f"{values[0]:.3g}, its largest {values[-1]:.3g}."
        )
    kept = values > len(K) * eps * values[-1]
    # directions outside the range of K do not change f: leave them out of c
    vectors = vectors[:, kept]
    return vectors @ ((vectors.T @ y) / (values[kept] + alpha))


@explained_by(kernel_ridge_comparator)
def effective_dimension(
    X: ArrayLike,
    alpha: float = 1.0,
    *,
    kernel: str | Callable[..., Any] = "linear",
    gamma: float | None = None,
) -> float:
    r"""Compute the effective dimension of rows or of a kernel.

    It is :math:`\operatorname{tr}K(K+\alpha I)^{-1}`, for K the inner products of the rows: the
    number of directions in which the data outweigh the ridge. The logarithmic term of
    ``vaw_logdet_bound`` lies between Y^2 times it and Y^2 ln(e + e ||K|| / alpha) times it.

    Parameters
    ----------
    alpha : float, default=1.0
        Ridge, positive.
    kernel : str or callable, default="linear"
        ``"linear"`` for the rows' own inner products, ``"precomputed"``, or a kernel of
        ``sklearn_okl.kernels.kernel_matrix``.

    Returns
    -------
    dimension : float
        Between 0 and the rank of K.

    Raises
    ------
    ValueError
        If X is not finite, alpha is not positive, or a precomputed kernel is not square.

    Notes
    -----
    Cost O(n d min(n, d)) for rows, O(n^3) for a kernel.

    References
    ----------
    Calandriello et al. 2017b.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.evaluation import effective_dimension
    >>> effective_dimension(np.eye(3), alpha=1.0)
    1.5
    """
    X = check_array(X, dtype=np.float64)
    check_scalar(alpha, "alpha", Real, min_val=0, include_boundaries="neither")
    if kernel == "linear":
        values = svdvals(X) ** 2
    else:
        values = np.maximum(eigvalsh(_gram(X, kernel, gamma)), 0.0)
    return float(np.sum(values / (values + alpha)))


@explained_by(ridge_comparator)
def regret(
    forecasts: ArrayLike,
    y: ArrayLike,
    *,
    comparator_forecasts: ArrayLike | Bunch | None = None,
    comparator_losses: ArrayLike | None = None,
) -> Array:
    r"""Return the running regret :math:`\sum_{s\le t}(\hat y_s-y_s)^2-\sum_{s\le t}(f_s-y_s)^2`.

    Parameters
    ----------
    forecasts : array-like of shape (n_samples,)
        Online forecasts, each made before its target was seen. A leading run of NaN, the cold start
        of ``prequential``, is left out of both sums.
    comparator_forecasts : array-like of shape (n_samples,) or Bunch, default=None
        Forecasts of the comparator, or what a comparator returned, :func:`ridge_comparator` or any
        other here. Give these or the losses.
    comparator_losses : array-like of shape (n_samples,), default=None
        Squared errors of the comparator, row by row, such as ``ridge_comparator(X, y).losses``.

    Returns
    -------
    regret : ndarray of shape (n_samples,)
        Regret after each row, in the unit of y squared; the last entry is the regret at the
        horizon. Against a comparator fitted on all rows the earlier entries are regret against that
        same fixed comparator, not against the best one of their time.

    Raises
    ------
    ValueError
        If not exactly one of the comparator's arguments is given, or lengths differ.

    Notes
    -----
    A NaN later on makes the rest NaN: a learner that fails in mid-stream is not excused. Cost O(n).

    References
    ----------
    Cesa-Bianchi & Lugosi 2006, section 2.1.

    Examples
    --------
    >>> from sklearn_okl.evaluation import regret
    >>> regret([0.0, 2.0], [1.0, 1.0], comparator_losses=[0.5, 0.0])
    array([0.5, 1.5])
    """
    if (comparator_forecasts is None) == (comparator_losses is None):
        raise ValueError("Give either comparator_forecasts or comparator_losses, and not both.")
    with refused_text():
        forecasts, y = (np.asarray(a, dtype=np.float64) for a in (forecasts, y))
    given = comparator_forecasts if comparator_losses is None else comparator_losses
    given = getattr(given, "forecasts", given)
    others = np.asarray(given, dtype=np.float64)
    for name, array in (("forecasts", forecasts), ("y", y), ("the comparator", others)):
        if array.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got the shape {array.shape}.")
    check_consistent_length(forecasts, y, others)
    if comparator_losses is None:
        others = (others - y) ** 2
    cold = np.logical_and.accumulate(np.isnan(forecasts))
    return np.cumsum(np.where(cold, 0.0, (forecasts - y) ** 2 - others))
