"""What explains forecasts: a base, an entry for each column, and what is left."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from sklearn.utils import check_scalar

from .._types import Any, Array


@dataclass(frozen=True, eq=False)
class ShapleyExplanation:
    """Forecasts of some rows as sums of a base, an entry for each column, and a remainder.

    It is made by :func:`explain`. Of several targets or classes, q of them, all arrays have them as
    their last axis.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_players) or (n_samples, n_players, q)
        Shapley values, in units of the forecasts.
    base : ndarray of shape (n_samples,) or (n_samples, q)
        Mean over the background of what is explained; the same for all rows of a call.
    remainder : ndarray of shape (n_samples,) or (n_samples, q)
        What is in the forecasts and is not linear in the features.
    names : list of str
        Who plays: columns or groups of them, then what a model makes of several, such as
        ``"similar rows"``, see :func:`explain`.
    remainder_name : str
        What the remainder is, such as ``"shrinkage"``.
    data : ndarray of shape (n_samples, n_players)
        Values of the columns; NaN for those that play together.

    See Also
    --------
    explain : Which makes them.
    sklearn_okl.evaluation.ShapleyDisplay : Which draws them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import VAWRegressor
    >>> from sklearn_okl.inspection import explain
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = VAWRegressor(forecaster="ridge").fit(X, X @ [2.0, -1.0])
    >>> explanation = explain(model, X[:4], background=X[-32:])
    >>> bool(np.allclose(explanation.forecasts, model.predict(X[:4])))
    True
    >>> explanation.names
    ['x0', 'x1']
    """

    values: Array
    base: Array
    remainder: Array
    names: list
    remainder_name: str
    data: Array

    @property
    def forecasts(self) -> Array:
        """The forecasts (n_samples,) or (n_samples, q): all entries together."""
        return self.base + self.values.sum(axis=1) + self.remainder

    @classmethod
    def joined(cls, parts: Any) -> Any:
        """Return explanations of rows in order, made as a stream went on, as one.

        Parameters
        ----------
        parts : list of ShapleyExplanation
            Of the same columns, one or more.

        Returns
        -------
        explanation : ShapleyExplanation
            Of the rows of all of them.

        Raises
        ------
        ValueError
            If there are none, or columns differ.
        """
        parts = list(parts)
        if not parts or any(part.names != parts[0].names for part in parts):
            raise ValueError("Give one explanation at least, and all of the same columns.")
        joined = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("values", "base", "remainder", "data")
        }
        return cls(**joined, names=parts[0].names, remainder_name=parts[0].remainder_name)

    def importances(self) -> Array:
        """Return the mean size of each column's entries.

        Returns
        -------
        importances : ndarray of shape (n_players,) or (n_players, q)
            In units of the forecasts.
        """
        return np.abs(self.values).mean(axis=0)

    def running_importances(self, fading: float = 0.99) -> Array:
        """Return the mean sizes of the entries so far, row by row; the past fades.

        Parameters
        ----------
        fading : float, default=0.99
            Factor in (0, 1] by which a row counts less with each row after it: 0.99 is a memory of
            about a hundred rows.

        Returns
        -------
        importances : ndarray of shape (n_samples, n_players) or (n_samples, n_players, q)
            Those of each row know the rows up to it.
        """
        check_scalar(fading, "fading", Real, min_val=0.0, max_val=1.0, include_boundaries="right")
        sizes, path = np.abs(self.values), np.empty_like(self.values)
        total, count = np.zeros_like(sizes[0]), 0.0
        for t, size in enumerate(sizes):
            total, count = fading * total + size, fading * count + 1.0
            path[t] = total / count
        return path

    def to_shap(self) -> Any:
        """Return the same as an ``Explanation`` of shap, for its plots; shap has to be there.

        Returns
        -------
        explanation : shap.Explanation
            The remainder is its last column, without data, so that all add up there, too.

        Raises
        ------
        ImportError
            If shap is not installed.
        """
        try:
            from shap import Explanation
        except ImportError as error:
            raise ImportError(
                "to_shap() needs the package shap: python -m pip install shap."
            ) from error
        n = len(self.values)
        kind = self.data.dtype
        return Explanation(
            np.concatenate([self.values, self.remainder[:, None]], axis=1),
            self.base,
            np.concatenate([self.data, np.full((n, 1), np.nan, dtype=kind)], axis=1),
            feature_names=[*self.names, self.remainder_name],
        )
