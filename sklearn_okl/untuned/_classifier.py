"""The classifier without tuning: the mixture of experts on targets -1 and +1."""

import numpy as np

from ..base import OnlineClassifier
from ._model import DefaultModel


class OnlineKernelClassifier(DefaultModel, OnlineClassifier):
    r"""Kernel classification on a stream without tuning, for two classes.

    The mixture of :class:`OnlineKernelRegressor` on the targets -1 and +1: its forecast estimates
    the difference of the two classes' probabilities, and its sign is the label.

    Parameters
    ----------
    budget : {"fast", "balanced", "accurate"} or int, default="balanced"
        What a row may cost: about 0.1, 0.5 or 2 ms in long calls on one core of 2020. An integer is
        the number of random features of each kernel, at least 2, with the whole dictionary, at
        whatever cost.
    forgetting : float, default=None
        Factor in (0, 1] by which the weight of a row fades with each row that follows, the same for
        all experts. None, right for nearly everyone, has experts that never forget and experts
        that look back about 500 and 100 rows ("fast": 200), and finds out.
    lags : int, default=4
        Number of the latest labels that half of the experts see; with them two experts forecast
        from the latest labels alone. `predict` is then right for one row only, which `label_delay`
        says. 0 makes the model a function of X, for which earlier labels matter through learning
        only: choose it where rows have no order.
    label_delay : int, default=0
        Number D of rounds that labels come late: row t is forecast, scored and taught as by a model
        that knows the rows up to t - 1 - D and no later one. 0 is for labels known before the next
        row is to be forecast.
    n_jobs : int or None, default=None
        Number of threads over the experts. They pay in calls of some hundred rows or more.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    experts_ : dict of ndarray of shape (n_experts,)
        A table that pandas reads, a row for each expert: ``name``, ``kernel``, ``bandwidth`` (see
        Notes), ``lags``, ``alpha``, ``forgetting``, ``weight`` in the first mixture,
        ``mean_loss``, ``n_rounds``. Experts that are born later come behind the others; the first
        two, where there are `lags`, have no bandwidth and no alpha.
    weights_ : ndarray of shape (n_experts,)
        Weights of the first mixture, 0 for kernels that are not heard yet.
    expert_losses_ : ndarray of shape (n_experts,)
        Sums of squared progressive errors.
    classes_ : ndarray of shape (2,)
        The labels, sorted. Positive decision values mean the second.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    OnlineKernelRegressor : The same for real targets.
    sklearn.multiclass.OneVsRestClassifier : For more than two classes.

    Notes
    -----
    *Cost.* O(K D^2) per round for K experts of D features each, in whole blocks of rows, and as
    much memory, whatever the number of rows. The budget bounds K D^2: with many inputs there are
    fewer kernels, from 2m inputs on kernels of m frequencies do not see the inputs themselves, and
    there are no linear experts where one alone would cost a quarter of all. A call of a single row
    costs milliseconds.

    *Inputs, experts, mixture* and *theorem* are those of :class:`OnlineKernelRegressor`, with the
    latest labels, -1 and +1, in place of the latest targets.

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

    def decision_function(self, X, *, ahead=False):
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

    def predict(self, X, *, ahead=False):
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

    def predict_proba(self, X, *, ahead=False):
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
