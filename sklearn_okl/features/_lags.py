"""The latest targets as features: what a stream with a memory tells of its next target."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_feature_names_in

from .._delay import late
from .._documentation import explained_by, inherit_documentation
from .._types import Array, ArrayLike
from ..base import OnlineTransformer
from ._calendar import CalendarFeatures
from ._columns import names_beside


@inherit_documentation
class LagFeatures(OnlineTransformer):
    r"""Append the latest targets to each row: :math:`(x_t, y_{t-1}, ..., y_{t-k})`.

    Parameters
    ----------
    n_lags : int, default=4
        Number k of the latest known targets that a row gets, the last one first.

    See Also
    --------
    OnlineKernelRegressor : Has these features, standardised, for half of its experts.
    StreamingPipeline : Where they are computed row by row as the stream flows.

    Notes
    -----
    *Cost.* O(k) per row and as much memory, in whole blocks.

    A row knows the targets before it only. Lags from before the stream count as the first target
    of the stream, and in the first row, before which no target is known, as 0. Of targets with
    several columns, all are appended, the latest row of targets first.

    `transform` gives all rows the same lags, the latest ones known: it is right for the next row
    alone. So is `fit_transform`, and with it scikit-learn's own pipeline, which would hand every
    row of a training set its last targets; for many rows in order take `prequential_transform`,
    as :class:`StreamingPipeline` does.

    *Late targets.* In a :class:`StreamingPipeline` whose last step has a ``label_delay`` D, row t
    gets the targets of t - 1 - D, t - 2 - D and so on, and the first D + 1 rows get 0.

    Columns of X are handed on as they are, NaN included. Targets are to be numbers: give labels
    as -1 and 1, say.

    References
    ----------
    .. [1] G. E. P. Box, G. M. Jenkins, "Time series analysis: forecasting and control",
       Holden-Day, 1970, on autoregression.

    Examples
    --------
    >>> from sklearn_okl import LagFeatures
    >>> lags = LagFeatures(n_lags=2)
    >>> lags.prequential_transform([[0.0], [0.0], [0.0]], [5.0, 6.0, 7.0])
    array([[0., 0., 0.],
           [0., 5., 5.],
           [0., 6., 5.]])
    >>> lags.transform([[1.0]])
    array([[1., 7., 6.]])
    """

    _test_parameters = ({}, {"n_lags": 1})

    _needs_targets = True
    _allow_nan = True
    _structural = ("n_lags",)
    _parameter_constraints = {"n_lags": [Interval(Integral, 0, None, closed="left")]}

    def __init__(self, n_lags: int = 4) -> None:
        self.n_lags = n_lags

    @explained_by(CalendarFeatures.get_feature_names_out)
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Return the names of the columns of a transformed row.

        Returns
        -------
        names : ndarray of str
            Those of the inputs, then ``lag1``, ``lag2`` and so on; of several targets ``lag1_0``,
            ``lag1_1`` and so on. Where an input has such a name they are ``y_lag1`` and so on.
        """
        latest = self._fitted_state("get_feature_names_out")["lags"]
        lags = range(1, len(latest) + 1)
        if latest.ndim == 1:
            names = [f"lag{j}" for j in lags]
        else:
            names = [f"lag{j}_{k}" for j in lags for k in range(latest.shape[1])]
        return names_beside(_check_feature_names_in(self, input_features), names, "y_")

    def _begin(self, X, y):
        return {"t": 0, "lags": np.zeros((self.n_lags, *y.shape[1:]))}

    def _flow(self, state, X, y, delay):
        if y.shape[1:] != state["lags"].shape[1:]:
            raise ValueError(
                f"y has shape {y.shape}, but the targets before had rows of shape "
                f"{state['lags'].shape[1:]}. Give y the same columns in every call, or call 'fit' "
                "to start afresh."
            )
        is_start = state["t"] == 0
        latest = np.repeat(y[:1], self.n_lags, axis=0) if is_start else state["lags"]
        lags, state["lags"] = lagged(latest, y)
        if is_start:
            lags[0] = 0.0  # no target is known
        if delay:
            nothing = np.zeros((delay, *state["lags"].shape))
            lags, state["past"] = late(lags, state.get("past", nothing))
        state["t"] += len(y)
        return _beside(X, lags)

    def _ask(self, state, X):
        latest = state["lags"]
        return _beside(X, np.broadcast_to(latest, (len(X), *latest.shape)))

    def _validated(self, X, y, reset):
        kind = None if y is None else np.asarray(y).dtype.kind
        if kind in ("U", "S"):
            raise ValueError(
                "LagFeatures appends targets to rows of numbers, but y holds text. Give labels as "
                "numbers, such as -1 and 1."
            )
        return super()._validated(X, y, reset)


def lagged(latest, y):
    """Return the lags of rows with targets y (n, ...), and the latest k targets after them.

    Parameters
    ----------
    latest : ndarray of shape (k, ...)
        The targets before the first row, the last one first.
    y : ndarray of shape (n, ...)

    Returns
    -------
    lags : ndarray of shape (n, k, ...)
        Row t holds y[t - 1], y[t - 2] and so on.
    latest : ndarray of shape (k, ...)
    """
    n, k = len(y), len(latest)
    past = np.concatenate([y[::-1], latest])  # the latest first
    lags = np.empty((n, k, *y.shape[1:]))
    for j in range(k):
        lags[:, j] = past[1 + j : 1 + j + n][::-1]
    return lags, past[:k].copy()


def _beside(X, lags):
    return np.hstack([X, lags.reshape(len(X), -1)])
