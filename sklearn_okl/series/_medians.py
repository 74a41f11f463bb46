r"""How far the median is from the forecast, a mean: it is drawn to what seasons had nearby.

Where a row is either as it was yesterday or as in the mean of many days, its median is nearer to
the one it is mostly like. So two amounts are added to a forecast :math:`\hat y` for its median,
each times a coefficient of the series: the votes of earlier seasons as in `_votes.py`, and that of
the latest season alone. Both are heard within a quarter of the size :math:`u` that errors have:

.. math:: \hat y + u \sum_j \beta_j z_j, \qquad
          z_1 = \sum_k w_k \Bigl[\frac{x_k - \hat y}{u}\Bigr]_{-.25}^{.25}, \qquad
          z_2 = \Bigl[\frac{x_1 - \hat y}{u}\Bigr]_{-.25}^{.25},

and the coefficients are those of the least absolute errors: a ridge regression in which a row
counts one over the error that its median had (E. J. Schlossmacher, "An iterative technique for
absolute deviations curve fitting", Journal of the American Statistical Association 68, 1973), here
as it was issued, in place of iterations. All steps of a series share them, for they err together.
Where columns known ahead or trees explain a part of a series the median is the forecast.
"""

import numpy as np

from . import _views
from ._experts import RAW

N_DRAWN = 2
_NEAR = 0.25  # sizes of errors that one draws at most
_FADING = 0.9995  # of the sums, per row
_LEAST = 0.1  # sizes, up to which errors count alike
_COMMON = 0.2  # what the mean of all series counts for, as in the mixture
_RIDGE = 0.03  # about what a row adds to the sums
_FIRST, _OVERLAP = 64.0, 2.0  # rows that it counts for at first, and for each that overlaps


def start(n_series):
    """Return the sums before the first error."""
    return {
        "sums": np.zeros((3, n_series)),  # of squares of the first, products, squares of the second
        "moments": np.zeros((N_DRAWN, n_series)),
    }


def is_sound(state):
    """Tell whether sums, as in a file, are such as rows leave behind."""
    squares, moments = state["sums"], state["moments"]
    is_finite = np.isfinite(squares).all() and np.isfinite(moments).all()
    return bool(
        is_finite
        and (squares[[0, 2]] >= 0.0).all()
        and (squares[1] ** 2 <= squares[0] * squares[2] * (1.0 + 1e-9)).all()
    )


def drawn(state, voters, slot):
    """Return what draws forecasts in sizes, and how far the median is from them, (3, H, m).

    The last is in units of errors. Of the forecaster's state the parts that `sizes` reads are, too.
    `voters` are values of earlier seasons (n, H, m) and what they count for (n, m), None if there
    are none; `slot` is what is said of the next rows.
    """
    middle, usual = slot["mixed"][-1], sizes(state)
    found = np.zeros((N_DRAWN + 1, *middle.shape))
    if voters is None:
        return found
    values, shares = voters
    unit = usual * slot["change"]
    is_known = unit > 0.0
    off = (values - middle) * np.where(is_known, 1.0 / np.where(is_known, unit, 1.0), 0.0)
    np.maximum(off, -_NEAR, out=off)
    np.minimum(off, _NEAR, out=off)
    found[0], found[1] = np.einsum("km,khm->hm", shares, off), off[0]
    first, second = _coefficients(state["medians"], len(middle))
    found[2] = usual * (first * found[0] + second * found[1])
    return found


def sizes(state):
    """Return the size (H, m) that errors have had lately, in their units; 0 where none is known.

    It is the root of the mean square of the best of the mixtures.
    """
    view, mixture = state["views"][RAW], state["mixture"]
    change, least = _views.change(view), mixture["mixed"].min(axis=0)
    units = _views.deviation(view) / np.where(change > 0.0, change, np.inf)
    return units * np.sqrt(least / np.where(mixture["weight"] > 0.0, mixture["weight"], 1.0))


def _coefficients(state, horizon):
    """Return what the two count for (2, m)."""
    sums, moments = state["sums"], state["moments"]
    if sums.shape[1] > 1:
        of_each = np.full((sums.shape[1], 1), _COMMON / sums.shape[1])
        sums, moments = sums + sums @ of_each, moments + moments @ of_each
    ridge = _RIDGE * (_FIRST + _OVERLAP * horizon)
    first, both, second = sums[0] + ridge, sums[1], sums[2] + ridge
    known = second * moments[0] - both * moments[1], first * moments[1] - both * moments[0]
    return np.array(known) / (first * second - both**2)


def learn(state, usual, issued, errors):
    """Learn errors (H, m) of forecasts, NaN unknown, and what drew these (3, H, m).

    `usual` (H, m) are sizes of errors, as `sizes` returns them.
    """
    known = np.isfinite(errors) & (usual > 0.0)
    if not known.any():
        return
    unit = np.where(known, usual, np.inf)
    errors, off = np.where(known, errors, 0.0) / unit, issued[2] / unit
    counts = known / (len(errors) * np.maximum(np.abs(errors - off), _LEAST))
    first, second = counts * issued[0], counts * issued[1]
    new = np.array([first * issued[0], first * issued[1], second * issued[1]]).sum(axis=1)
    left = np.where(known.any(axis=0), _FADING, 1.0)
    state["sums"] = left * state["sums"] + new
    told = np.array([first * errors, second * errors]).sum(axis=1)
    state["moments"] = left * state["moments"] + told
