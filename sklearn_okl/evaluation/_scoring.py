"""What a comparison scores forecasts by: losses of rows, metrics and scorers of scikit-learn."""

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer

from ..losses import Loss
from ._prequential import _LOSSES, _row_losses, check_loss, is_class_of_losses


class Score(NamedTuple):
    """One way to score forecasts.

    Attributes
    ----------
    given : str, Loss or callable
        What the user gave, by which stored runs are found again.
    function : callable
        ``(y_true, y_pred)`` -> a number for all rows together, or a loss for each row.
    greater_is_better : bool
        Whether the better of two models has the larger score.
    """

    given: str | Loss | Callable
    function: Callable
    greater_is_better: bool


def named_scores(scoring, taken):
    """Return a dict of `Score` from a name, a function, a list of these, or a dict.

    Parameters
    ----------
    scoring : str, callable, list, tuple or dict
        As the user gave it.
    taken : collection of str
        Names that columns of the results have already.
    """
    if isinstance(scoring, Mapping):
        named = dict(scoring)
    else:
        parts = list(scoring) if isinstance(scoring, (list, tuple)) else [scoring]
        names = [_name_of(part) for part in parts]
        if len(set(names)) < len(names):
            raise ValueError(
                f"Two scores have the same name, of {names}; give a dict with a name for each."
            )
        named = dict(zip(names, parts, strict=True))
    if not named:
        raise ValueError("scoring is empty; give at least one metric, or leave it out.")
    for name in named:
        if not isinstance(name, str) or not name:
            raise TypeError(f"The name of a score must be a string, got {name!r}.")
        if name in taken:
            raise ValueError(f"{name!r} is a column of the results; give the score another name.")
    return {name: _score(part) for name, part in named.items()}


def score_forecasts(score, y_true, y_pred, counts):
    """Return the score of all rows, and those of the first rows, as many as each count says.

    Parameters
    ----------
    score : Score
        What to compute.
    y_true : ndarray of shape (n,) or (n, n_targets)
        Targets of the rows that had a forecast.
    y_pred : ndarray of the same shape
        Their forecasts.
    counts : ndarray of int of shape (n_points,)
        Numbers of first rows, ascending, from 0 to n.

    Returns
    -------
    value : float
        The score, of losses their mean; NaN without rows.
    values : ndarray of shape (n_points,)
        The score of the first rows, NaN where it is not defined.
    blocks : ndarray of shape (n_points,) or None
        Of losses their mean over the rows since the count before, NaN where there are none. None
        for other scores.
    """
    values = np.full(len(counts), np.nan)
    if len(y_true) == 0:
        return np.nan, values, None
    whole = np.asarray(score.function(y_true, y_pred), dtype=np.float64)
    some = counts > 0
    if whole.ndim == 0:
        values[some] = [_of_first(score, y_true, y_pred, count) for count in counts[some]]
        return float(whole), values, None
    if whole.shape != (len(y_true),):
        raise ValueError(
            f"A metric must return one number, or one loss for each of the {len(y_true)} rows, but "
            f"{score.given!r} returned the shape {whole.shape}."
        )
    values[some] = np.cumsum(whole)[counts[some] - 1] / counts[some]
    parts = np.split(whole, counts)[:-1]
    blocks = np.array([part.mean() if len(part) else np.nan for part in parts])
    return float(whole.mean()), values, blocks


def _name_of(part):
    if isinstance(part, str):
        return part
    if isinstance(part, Loss):
        return repr(part)
    name = getattr(part, "__name__", None)
    if not callable(part) or name is None or is_class_of_losses(part):
        raise TypeError(
            f"scoring must be the name of a loss or scorer, a metric function (y_true, y_pred), a "
            f"list of these or a dict of them with names, got {part!r}."
        )
    return name


def _score(part):
    if isinstance(part, Loss) or (isinstance(part, str) and part in _LOSSES):
        check_loss(part)
        return Score(part, partial(_named_losses, part), False)
    if isinstance(part, str):
        return Score(part, partial(_scored, _checked_scorer(part)), True)
    if not callable(part) or is_class_of_losses(part):
        raise TypeError(f"A score must be a name, a loss or a metric function, got {part!r}.")
    # scikit-learn's rule: what ends with "_score" is to be large, errors and losses small
    return Score(part, part, getattr(part, "__name__", "").endswith("_score"))


def _named_losses(name, y_true, y_pred):
    if name != "zero_one" and y_true.dtype.kind not in "biuf":
        raise ValueError(f"scoring={name!r} needs numbers in y; use 'zero_one' for labels.")
    return _row_losses(name, y_true, y_pred)


class Forecasts(BaseEstimator):
    """An estimator whose forecasts are known: what a scorer of scikit-learn asks for."""

    def __init__(self, y_pred):
        self.y_pred = y_pred

    def predict(self, X):
        """Return the forecasts, whatever the rows."""
        return self.y_pred


def _scored(scorer, y_true, y_pred):
    return scorer(Forecasts(y_pred), np.zeros((len(y_true), 1)), y_true)


def _checked_scorer(name):
    """Return a scorer of scikit-learn that needs no more than forecasts."""
    try:
        scorer = get_scorer(name)
    except ValueError:
        raise ValueError(
            f"There is no loss and no scorer {name!r}. Give one of {sorted(_LOSSES)}, a name of "
            "sklearn.metrics.get_scorer_names(), or a metric function (y_true, y_pred)."
        ) from None
    two = np.array([1, 2])  # two labels, and two positive numbers: no metric of forecasts objects
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of two rows
            _scored(scorer, two, two)
    except (AttributeError, ValueError) as error:
        raise ValueError(
            f"The scorer {name!r} does not score forecasts of one target, and these are what a "
            "comparison has; it may need probabilities. Give a metric of forecasts."
        ) from error
    return scorer


def _of_first(score, y_true, y_pred, count):
    """Return the score of the first rows, NaN where too few of them are there."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as of R² on one row, or of labels not yet seen
            return float(score.function(y_true[:count], y_pred[:count]))
    except ValueError:  # metrics refuse rows of one class; on all rows it would have been raised
        return np.nan
