"""An intercept where one is asked for, and a warning where one is missed."""

from __future__ import annotations

import warnings

import numpy as np

from .._types import Array
from ..inspection._parts import Line
from ..inspection._steps import Sums
from ._explainable import Explainable

_FIRST = 64  # rows before which nothing is judged: a regularised learner starts from 0
LAST_JUDGED = 1024  # and up to which: what is missing is missing from the first row on
_SHARE = 0.75  # of the squared errors that a constant would have saved: half of the root
_EXPRESSED = 0.25  # share of the squares of a number that its mean makes up, if it is one constant


class WithIntercept(Explainable):
    """Beside the shell of a linear learner: a last column of ones, if `fit_intercept` asks for it.

    The private verbs of a subclass call `_design` on their rows, and `_width` on their number of
    columns; all else is as without.

    Parameters
    ----------
    fit_intercept : bool, default=False
        Whether rows get one more column, of ones: the coefficient of it, ``intercept_``, is learnt
        and regularised as all others are, so the theorem holds with the column among the features.
        False is what the papers state, what weights over forecasts need, and what features of a
        kernel can do without. Set it where features are those of the data, centred or not, and the
        targets are not.

    Attributes
    ----------
    intercept_ : float or ndarray of shape (n_targets,) or (n_classes,)
        Coefficient of the column of ones; 0.0 without one.
    """

    _parameter_constraints = {"fit_intercept": ["boolean"]}
    _structural = ("fit_intercept",)

    @property
    def intercept_(self) -> float | Array:
        """Coefficient of the column of ones, a number for each target; 0.0 without one."""
        known = self._coefficients(self._fitted_state("intercept_"))
        if not self._as_taught().fit_intercept:
            return 0.0
        return float(known[-1]) if known.ndim == 1 else known[..., -1].copy()

    def _slopes(self, coefficients):
        """Return coefficients (..., D) without that of the column of ones."""
        return coefficients[..., :-1].copy() if self.fit_intercept else coefficients.copy()

    def _explained(self, X):
        state, X = self._asked(X)
        model = self._as_taught()
        coef = np.atleast_2d(model._coefficients(state)).T  # (D, q)
        d = X.shape[1]
        constant = coef[d] if model.fit_intercept else np.zeros(coef.shape[1])
        return Sums([Line(X, coef[:d], constant, np.arange(d))], (), self._not_explained())

    def _not_explained(self):
        """Return the name of what forecasts are besides lines of the rows."""
        return "rounding"

    def _width(self, n_features):
        return n_features + 1 if self.fit_intercept else n_features

    def _design(self, X):
        """Return rows (..., n, d) with the column of ones, if there is to be one."""
        if not self.fit_intercept:
            return X
        Z = np.ones((*X.shape[:-1], X.shape[-1] + 1))
        Z[..., :-1] = X
        return Z


class MissesIntercept(WithIntercept):
    """The same for regressors, which say so where a constant is missing.

    A mean of the targets that the features do not express is a mean of the errors. Rows 64 to 127
    of the stream are judged together, then 128 to 255, and so on up to row 1024, so that what a
    learner loses while it still starts from 0 is not held against it. Nothing is said of a learner
    that is merely slow. Where a constant can be expressed, the sum over the columns of each row is
    a nearly constant number, if each is multiplied by the coefficient of its regression of 1 in the
    rows before these. How the stream is cut changes nothing; a row costs O(D).
    """

    def _look_back(self, state, X, y, forecasts):
        if state["t"] == len(y) and not self.fit_intercept:  # a stream begins
            state["lookout"] = start_lookout(X.shape[1], forecasts[:1].size)
        if "lookout" not in state:
            return
        errors = self._errors(y, forecasts).reshape(len(y), -1)
        t, end = state["t"] - len(y), state["t"]
        while len(X) and "lookout" in state:
            stop = max(_FIRST, 1 << t.bit_length())  # the next power of two
            _add(state["lookout"], X[: stop - t], errors[: stop - t])
            X, errors = X[stop - t :], errors[stop - t :]
            if not np.isfinite(np.add.reduce(state["lookout"]["sums"])):
                del state["lookout"]  # squares overflow
            elif end >= stop:
                self._judge(state, stop, y.ndim == 2)
            t = stop

    def _judge(self, state, t, has_columns):
        """Warn if a constant is missed, and look no further; else start other sums."""
        lookout = state.pop("lookout")
        sums, d = lookout["sums"], len(lookout["ones"])
        n, product, squared = sums[:3]
        columns, column_squares = sums[3 : 3 + 2 * d].reshape(2, d)
        total, squares = sums[3 + 2 * d :].reshape(2, -1)
        missed = np.flatnonzero(total**2 > _SHARE * n * squares)
        if t > _FIRST and len(missed) and product**2 <= _EXPRESSED * n * squared:
            mean, square = total[missed[0]] / n, squares[missed[0]] / n
            _warn(self, mean, square, n, f" of column {missed[0]} of y" if has_columns else "")
        elif t < LAST_JUDGED:
            ones = np.divide(columns, column_squares, out=np.zeros(d), where=column_squares > 0.0)
            state["lookout"] = {"ones": ones, "sums": np.zeros_like(sums)}

    def _errors(self, y, forecasts):
        """Return the errors, 0 where no intercept could lessen them."""
        return y - forecasts

    def _remedy(self):
        """Return what expresses a constant: an intercept, and room for it."""
        radius = getattr(self, "radius", None)
        room = "" if radius is None else f", with room for it in the radius, now {radius:g}"
        return f"Set fit_intercept=True{room}"


def start_lookout(n_columns, n_errors):
    """Return what is known of rows and errors before the first of them."""
    return {
        "ones": np.zeros(n_columns),  # the coefficients
        # How many rows there were since, and sums over them: of what the coefficients make of rows
        # and its squares, of rows and of errors and theirs.
        "sums": np.zeros(3 + 2 * n_columns + 2 * n_errors),
    }


def _add(lookout, X, errors):
    """Add rows X (n, d) and errors (n, q) in order, so that cuts do not change the rounding."""
    terms = np.empty((len(X) + 1, len(lookout["sums"])))
    terms[0] = lookout["sums"]
    terms[1:, 0] = 1.0
    terms[1:, 1] = product = (X * lookout["ones"]).sum(axis=1)
    terms[1:, 2] = product * product
    low = 3
    for part in (X, X * X, errors, errors * errors):
        terms[1:, low : low + part.shape[1]] = part
        low += part.shape[1]
    lookout["sums"] = np.add.accumulate(terms)[-1]


def _warn(model, mean, square, n, where):
    warnings.warn(
        f"The forecasts{where} by {type(model).__name__} are {abs(mean):.3g} too "
        f"{'low' if mean > 0 else 'high'} on average, over {n:.0f} rows in which the errors "
        f"deviate from that by {np.sqrt(max(square - mean**2, 0.0)):.3g}: the features express no "
        f"constant. {model._remedy()}; or learn centred targets, by "
        "StreamingTransformedTargetRegressor.",
        UserWarning,
        stacklevel=8,
    )
