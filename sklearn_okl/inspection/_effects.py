"""How forecasts depend on one column."""

from __future__ import annotations

from dataclasses import dataclass

from .._types import Array


@dataclass(frozen=True, eq=False)
class PartialEffects:
    """Mean forecasts over a background in which one column has given values.

    It is made by :func:`partial_effects`. Of several targets or classes, q of them, `mean`, `low`
    and `high` have them as their last axis.

    Attributes
    ----------
    name : str
        Name of the column.
    grid : ndarray of shape (n_points,)
        Its values.
    mean : ndarray of shape (n_points,) or (n_points, q)
        Mean over the background, in units of the forecasts.
    low, high : ndarray of the same shape
        Between which the curves of a share of the background rows are.
    coverage : float
        That share.

    See Also
    --------
    partial_effects : Which makes them.
    sklearn_okl.evaluation.PartialEffectsDisplay : Which draws them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import VAWRegressor
    >>> from sklearn_okl.inspection import partial_effects
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = VAWRegressor(forecaster="ridge").fit(X, X @ [2.0, -1.0])
    >>> effects = partial_effects(model, 1, background=X[-32:], grid=[0.0, 1.0])
    >>> round(float(effects.mean[1] - effects.mean[0]), 1)
    -1.0
    """

    name: str
    grid: Array
    mean: Array
    low: Array
    high: Array
    coverage: float
