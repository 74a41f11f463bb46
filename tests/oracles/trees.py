"""Batch models beside the kernels of the regressor without tuning, as one would write them."""

import numpy as np

from .aggregation import boa
from .default import left_by, range_of
from .refit import refit


def beside(b, X, y, estimator, n_lags, delay, weights=None, growth=0.05, fit_delay=0):
    """Return the forecasts from those of the kernels, b, for a stream without surprises."""
    unit = np.abs(y - y[0])[y != y[0]][0]
    u, b = (y - y[0]) / unit, (b - y[0]) / unit
    n = len(y)
    lags = np.array(
        [
            [u[t - delay - j] if t - delay - j >= 0 else 0.0 for j in range(1, n_lags + 1)]
            for t in range(n)
        ]
    ).reshape(n, n_lags)
    rows = np.hstack([X, single(lags)])
    when = growth, None, delay
    trees = refit(estimator, rows, single(u), *when, weights, fit_delay)
    trees[: 30 + delay + fit_delay] = np.nan
    late = slice(30 + delay, None)
    errors = np.full(n, np.nan)
    seen = np.column_stack([rows, single(b)])
    w = None if weights is None else weights[late]
    errors[late] = refit(estimator, seen[late], single(u - b)[late], *when, w, fit_delay)
    errors[: 60 + 2 * delay + fit_delay] = np.nan
    F = np.column_stack([b, trees, b + errors])
    known = [u[: max(t - delay, 0)] for t in range(n)]
    F[:, 1:] = [np.clip(F[t, 1:], *(range_of(y) + left_by(y, delay))) for t, y in enumerate(known)]
    forecasts = boa(F, u, late=delay, weights=weights)[0] * unit + y[0]
    forecasts[: 1 + delay] = 0.0
    return forecasts


def single(values):
    return np.float32(values).astype(float)
