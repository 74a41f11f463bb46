"""The best fixed combination of experts in hindsight: one of them, a mean, convex or linear."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog, nnls
from scipy.sparse import hstack, identity, vstack
from sklearn.utils import Bunch

from .._documentation import explained_by
from .._types import Any, ArrayLike
from ..losses import PinballLoss
from ._comparators import ridge_comparator, rows_and_targets

COMBINATIONS = ("uniform", "expert", "convex", "linear")
LOSSES = ("squared_error", "absolute_error", "absolute_percentage_error")


@explained_by(ridge_comparator)
def combination_comparator(
    X: ArrayLike, y: ArrayLike, *, combination: str = "convex", loss: Any = "squared_error"
) -> Any:
    r"""Find the best fixed combination of experts in hindsight, an oracle for aggregators.

    It minimises :math:`\sum_t \ell(y_t, \langle w, x_t \rangle)`, for :math:`x_t` the forecasts of
    the K experts in round t, over the weights w of the kind asked for.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_experts)
        Forecasts of the experts, the columns that an aggregator sees, without NaN.
    combination : {"uniform", "expert", "convex", "linear"}, default="convex"
        ``"uniform"``: equal weights, which need no hindsight. ``"expert"``: the best of the
        experts, alone. ``"convex"``: no weight negative, of sum one. ``"linear"``: any weights,
        without an intercept, and those of smallest norm where several are best.
    loss : {"squared_error", "absolute_error", "absolute_percentage_error"} or \
            PinballLoss, default="squared_error"
        What is summed over the rows, and is least in hindsight. The last name is
        \|f - y\| / \|y\|, 0.05 for five percent; experts that say a quantile have a
        :class:`~sklearn_okl.losses.PinballLoss` of it.

    Returns
    -------
    combination : Bunch
        ``coef`` (n_experts,), the weights; ``forecasts`` and ``losses`` (n_samples,);
        ``objective``, the sum of ``losses``; as :func:`ridge_comparator` gives them.

    Raises
    ------
    ValueError
        If X and y are not finite and of the same length, an argument is none of those above, or a
        target is 0 where the loss is a share of it.

    See Also
    --------
    aggregation_report : The losses of an aggregator beside those of all four.
    regret : Takes what is returned here.

    Notes
    -----
    *Cost.* O(n K^2) for the squared error, whose convex minimum is found exactly from the K by K
    triangle of a QR decomposition, by least squares without negative weights. The other losses
    need a linear program of n rows and K + 2n unknowns: seconds for ten thousand rows.

    With :math:`D` the errors :math:`x_t - y_t` of the experts, the convex weights minimise
    :math:`\|D w\|^2`, and :math:`\|D u\|^2 + (\sum_k u_k - 1)^2` is least over :math:`u \ge 0` at a
    multiple of them.

    References
    ----------
    Gaillard & Goude, function ``oracle``. Cesa-Bianchi & Lugosi 2006, sections 2.1 and 11.7.

    Examples
    --------
    >>> from sklearn_okl.evaluation import combination_comparator
    >>> experts, y = [[1.0, 3.0], [2.0, 6.0], [0.0, 4.0]], [1.5, 3.0, 1.0]
    >>> combination_comparator(experts, y).coef.round(2)
    array([0.75, 0.25])
    >>> combination_comparator(experts, y, combination="expert").losses
    array([0.25, 1.  , 1.  ])
    """
    if combination not in COMBINATIONS:
        raise ValueError(f"combination={combination!r} must be one of {list(COMBINATIONS)}.")
    X, y = rows_and_targets(X, y)
    check_loss(loss, y)
    coef = _best(X, y, combination, loss)
    forecasts = X @ coef
    losses = losses_of(loss, y, forecasts)
    return Bunch(coef=coef, forecasts=forecasts, losses=losses, objective=float(losses.sum()))


def losses_of(loss, y, forecasts):
    """Return the losses (n,) or (n, K) of forecasts of those shapes."""
    y = y.reshape(len(y), *[1] * (np.ndim(forecasts) - 1))
    if loss == "squared_error":
        return (forecasts - y) ** 2
    too_low, too_high = _costs(loss, y)
    return np.where(forecasts < y, too_low, too_high) * np.abs(forecasts - y)


def check_loss(loss, y):
    """Refuse a loss that is none of these, and shares of a target that is 0."""
    if isinstance(loss, PinballLoss):
        return
    if loss not in LOSSES:
        raise ValueError(f"loss={loss!r} must be one of {list(LOSSES)}, or a PinballLoss.")
    if loss == "absolute_percentage_error" and (y == 0).any():
        raise ValueError(
            f"Row {int((y == 0).argmax())} has the target 0, of which no error is a share. Leave "
            "such rows out, or take loss='absolute_error'."
        )


def _costs(loss, y):
    """Return what errors of forecasts that are too low, and too high, are multiplied by, as y."""
    if isinstance(loss, PinballLoss):
        return np.full_like(y, loss.quantile), np.full_like(y, 1.0 - loss.quantile)
    return 2 * (np.ones_like(y) if loss == "absolute_error" else 1.0 / np.abs(y),)


def _best(X, y, combination, loss):
    """Return the best weights (K,) of a kind."""
    n_experts = X.shape[1]
    if combination == "uniform":
        return np.full(n_experts, 1.0 / n_experts)
    if combination == "expert":
        best = losses_of(loss, y, X).sum(axis=0).argmin()
        return np.eye(n_experts)[best]
    if loss != "squared_error":
        return _least_absolute(X, y, _costs(loss, y), combination == "convex")
    if combination == "linear":
        return np.linalg.lstsq(X, y, rcond=None)[0]
    return _nearest_convex(X - y[:, None])


def _nearest_convex(errors):
    """Return the convex weights (K,) of least squared error; errors (n, K) are the experts'."""
    root = np.linalg.qr(errors, mode="r")
    sizes = np.linalg.norm(root, axis=0)
    scale = sizes.min()  # of the best expert; the best weights are no worse
    if scale == 0.0:  # it is never wrong
        return np.eye(len(sizes))[sizes.argmin()]
    rows = np.vstack([root / scale, np.ones(len(sizes))])
    multiple, _ = nnls(rows, np.append(np.zeros(len(root)), 1.0))
    return multiple / multiple.sum()


def _least_absolute(X, y, costs, is_convex):
    """Return the weights (K,) of least sum of absolute errors times their costs, two of (n,).

    Unknowns are the weights, how far each forecast is too low, and how far it is too high.
    """
    n, n_experts = X.shape
    unit = np.abs(y).max() or 1.0  # the solver's tolerances are absolute
    rows, targets = hstack([X / unit, identity(n), -identity(n)]), y / unit
    if is_convex:
        total = np.repeat([1.0, 0.0], [n_experts, 2 * n])
        rows, targets = vstack([rows, total[None]]), np.append(targets, 1.0)
    bounds = [(0.0 if is_convex else None, None)] * n_experts + [(0.0, None)] * (2 * n)
    costs = np.concatenate([np.zeros(n_experts), *(one / np.max(costs) for one in costs)])
    found = linprog(costs, A_eq=rows.tocsc(), b_eq=targets, bounds=bounds)
    if found.x is None:
        raise ValueError(f"No best combination was found: {found.message}")
    weights = found.x[:n_experts]
    return np.maximum(weights, 0.0) / np.maximum(weights, 0.0).sum() if is_convex else weights
