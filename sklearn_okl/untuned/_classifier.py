"""The classifier without tuning: the mixture of experts on targets -1 and +1."""

from __future__ import annotations

import numpy as np

from .._documentation import inherit_documentation
from .._types import Array, ArrayLike
from ..base import WeightedClassifier
from ._model import DefaultModel


@inherit_documentation
class OnlineKernelClassifier(DefaultModel, WeightedClassifier):
    r"""Kernel classification on a stream without tuning, for two classes.

    The mixture of :class:`OnlineKernelRegressor` on the targets -1 and +1: its forecast estimates
    the difference of the two classes' probabilities, and its sign is the label.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. Positive decision values mean the second.

    See Also
    --------
    OnlineKernelRegressor : The same for real targets.
    sklearn.multiclass.OneVsRestClassifier : For more than two classes.

    Notes
    -----
    *Cost.* That of :class:`OnlineKernelRegressor`, O(K D^2) per round for K experts of D features.

    *Inputs, experts, mixture, weights* and *theorem* are those of :class:`OnlineKernelRegressor`,
    with the latest labels, -1 and +1, in place of the latest targets.

    *Probabilities.* The square loss of -1 and +1 is least at the difference of the probabilities,
    so `predict_proba` reads (1 + f) / 2 from a decision value f, between 0 and 1.

    References
    ----------
    .. [1] O. Wintenberger, "Optimal learning with Bernstein online aggregation", Machine Learning
       106(1), 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_okl import OnlineKernelClassifier
    >>> X, y = make_classification(300, random_state=0)
    >>> model = OnlineKernelClassifier(budget="fast", random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> bool((forecasts != y).mean() < 0.25)
    True
    """

    _guarded = False

    def decision_function(self, X: ArrayLike, *, ahead: bool = False) -> Array:
        """Return the decision value of each row, as if it were the next one due; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        ahead : bool, default=False
            Whether the rows are the next ones in order, at most ``label_delay + 1`` of them, each
            with the inputs it will be taught with.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            Positive for ``classes_[1]``.
        """
        return self._foreseen(X, ahead)[1]

    def predict(self, X: ArrayLike, *, ahead: bool = False) -> Array:
        """Forecast the label of each row as if it were the next one due; changes nothing.

        After row s that is row s + 1 + `label_delay`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        ahead : bool, default=False
            Whether the rows are the next ones in order, see `decision_function`.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        return self._labels(self.decision_function(X, ahead=ahead))

    def predict_proba(self, X: ArrayLike, *, ahead: bool = False) -> Array:
        """Return the probabilities of the classes; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        ahead : bool, default=False
            Whether the rows are the next ones in order, see `decision_function`.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        upper = np.clip((1.0 + self.decision_function(X, ahead=ahead)) / 2.0, 0.0, 1.0)
        return np.column_stack([1.0 - upper, upper])
