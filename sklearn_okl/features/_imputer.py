"""Gaps filled on the way, by what the rows before them have shown."""

from __future__ import annotations

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_feature_names_in

from .._delay import read_late
from .._documentation import explained_by, inherit_documentation
from .._types import Array, ArrayLike
from ..base import OnlineTransformer
from . import _moments
from ._calendar import CalendarFeatures
from ._columns import columns_of, names_beside, names_of, numbers_of


@inherit_documentation
class RunningImputer(OnlineTransformer):
    """Fill gaps by the running mean of their column, or by its last value, and say where they were.

    Parameters
    ----------
    strategy : {"mean", "last"}, default="mean"
        What a gap is filled with: the mean of the values of its column in the rows before, or the
        last of them, as suits series.
    add_indicator : bool, default=False
        Whether to append a column for each input, 1 where it was missing and else 0.

    Attributes
    ----------
    statistics_ : ndarray of shape (n_features,)
        What gaps are filled with now; 0 where no value has been seen.

    See Also
    --------
    RunningOneHotEncoder : Takes a missing value for a category.
    RunningStandardScaler : Wants rows without gaps.
    sklearn.impute.SimpleImputer : The same statistics, but a whole batch at once.

    Notes
    -----
    *Cost.* O(d) per row, in whole blocks, and O(d) memory.

    A gap is filled by the rows before it alone, and with 0 where they show no value of its column.
    Indicators are there for all columns, whether they have had gaps or not, so that the width never
    changes. Whether a value is missing may say as much as the value does: where it may, take them.

    The mean is of the distances from the first value, so large means lose no digits. Numbers beyond
    1e100 are learnt as 1e100. A faulty value moves the mean of n values by an n-th of its size.

    Gaps are NaN, None, or pandas' NA; in frames, columns of booleans and of objects that are
    numbers are fine. Text and dates are an error.

    *Late labels.* In a :class:`StreamingPipeline` whose last step has a ``label_delay`` D, gaps of
    row t are filled by the rows up to t - 1 - D; of rows 0 to D, before the first label, by all
    rows before them.

    References
    ----------
    .. [1] M. Le Morvan, J. Josse, E. Scornet, G. Varoquaux, "What's a good imputation to predict
       with missing values?", Advances in Neural Information Processing Systems, 2021, on why a
       constant will do in front of a flexible learner.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import RunningImputer
    >>> imputer = RunningImputer(add_indicator=True)
    >>> imputer.prequential_transform([[np.nan], [2.0], [4.0], [np.nan]])
    array([[0., 1.],
           [2., 0.],
           [4., 0.],
           [3., 1.]])
    """

    _test_parameters = ({"add_indicator": True}, {"strategy": "last"})

    _allow_nan = True
    _structural = ("strategy", "add_indicator")
    _parameter_constraints = {
        "strategy": [StrOptions({"mean", "last"})],
        "add_indicator": ["boolean"],
    }

    def __init__(self, strategy: str = "mean", *, add_indicator: bool = False) -> None:
        self.strategy = strategy
        self.add_indicator = add_indicator

    @property
    def statistics_(self) -> Array:
        """What gaps are filled with now, of shape (n_features,)."""
        return self._known(self._fitted_state("statistics_")).copy()

    @explained_by(CalendarFeatures.get_feature_names_out)
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Return the names of the columns of a transformed row.

        Returns
        -------
        names : ndarray of str
            Those of the inputs, and then, with `add_indicator`, the same after
            ``missingindicator_``.
        """
        self._fitted_state("get_feature_names_out")
        names = _check_feature_names_in(self, input_features)
        if not self._built_with["structure"]["add_indicator"]:
            return names
        indicators = [f"missingindicator_{name}" for name in names]
        return names_beside(names, indicators, "missingindicator_")

    def _validated(self, X, y, reset):
        kind = getattr(getattr(X, "dtype", None), "kind", None)
        if kind is not None and kind in "biuf":
            return super()._validated(X, y, reset)
        columns = columns_of(self, X, reset)
        rows = [numbers_of(*given) for given in zip(columns, names_of(self), strict=True)]
        X = np.column_stack(rows)
        # infinity is an error here as in arrays of numbers
        assert_all_finite(X, allow_nan=True, estimator_name=type(self).__name__, input_name="X")
        return X, y

    def _begin(self, X, y):
        d = X.shape[1]
        return {"t": 0, "counts": np.zeros(d), "origin": np.zeros(d), "sums": np.zeros(d)}

    def _flow(self, state, X, y, delay):
        is_there = ~np.isnan(X)
        rows = _moments.moderate(X)
        if self.strategy == "mean":
            fills = _learn_means(state, rows, is_there)
        else:
            fills = _learn_last(state, rows, is_there)
        if delay:
            fills = read_late(state, fills, delay)
        state["t"] += len(X)
        return self._filled(X, fills)

    def _ask(self, state, X):
        return self._filled(X, self._known(state))

    def _known(self, state):
        return _means(state["origin"], state["sums"], state["counts"])

    def _filled(self, X, fills):
        gaps = np.isnan(X)
        Z = np.where(gaps, fills, X)
        return np.hstack([Z, gaps]) if self.add_indicator else Z


def _learn_means(state, X, is_there):
    """Learn rows, and return the means before each of them."""
    first = X[np.argmax(is_there, axis=0), np.arange(X.shape[1])]  # of each column, if any
    is_new = (state["counts"] == 0) & is_there.any(axis=0)
    state["origin"] = np.where(is_new, first, state["origin"])
    counts = _moments.faded(is_there.astype(np.float64), state["counts"])
    sums = _moments.faded(np.where(is_there, X - state["origin"], 0.0), state["sums"])
    state.update(counts=counts[-1].copy(), sums=sums[-1].copy())
    return _means(state["origin"], sums[:-1], counts[:-1])


def _learn_last(state, X, is_there):
    """Learn rows, and return the last values before each of them."""
    rows = np.vstack([state["origin"], np.where(is_there, X, 0.0)])  # those before come first
    at = np.where(is_there, np.arange(1, len(X) + 1)[:, None], 0)
    latest = np.maximum.accumulate(np.vstack([np.zeros_like(at[:1]), at]))
    values = np.take_along_axis(rows, latest, axis=0)
    state["origin"] = values[-1].copy()
    state["counts"] = state["counts"] + is_there.sum(axis=0)
    return values[:-1]


def _means(origin, sums, counts):
    return np.where(counts > 0, origin + sums / np.maximum(counts, 1.0), 0.0)
