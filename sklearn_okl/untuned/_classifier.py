"""The classifier without tuning: experts that learn classes, and probabilities of them."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from .._documentation import explained_by, inherit_documentation
from .._linalg import one_blas_thread
from .._types import Any, Array, ArrayLike, Budget, Seed
from ..base import OnlineRegressor, WeightedMulticlassClassifier
from ._constants import CLASS_BUDGETS, Constants
from .experts._class_trees import ClassTrees
from .experts._experts import ages_of
from .rounds._model import DefaultModel
from .rounds._scores import LogLosses


@inherit_documentation
class OnlineKernelClassifier(DefaultModel, WeightedMulticlassClassifier):
    r"""Kernel classification on a stream without tuning: probabilities of any number of classes.

    The experts of :class:`OnlineKernelRegressor` learn the classes, and each has its forecasts
    calibrated on the way. What is mixed are probabilities, in the log loss.

    Parameters
    ----------
    max_classes : int, default=None
        How many classes there may be in all, at least 2: those that were not in the first call may
        come later. None: all are in the first call, or named by its `classes`. The more there may
        be, the fewer `lags` are seen, see Notes.
    trees : bool, "lightgbm" or classifier, default=False
        A batch model beside the kernels, fitted anew on the schedule of :class:`RefitClassifier`,
        or, if it is one, on its own. True is
        ``HistGradientBoostingClassifier(early_stopping=False)``, ``"lightgbm"`` LightGBM's
        boosting, both fitted as often as about the model's own work pays for; any classifier with
        `predict_proba` will do. See Notes for what it costs.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels known so far, sorted.
    experts_ : dict of ndarray of shape (n_experts,)
        A table that pandas reads, a row for each expert: ``name``, ``kernel``, ``bandwidth`` (see
        Notes), ``lags``, ``alpha``, ``forgetting``, whether they see ``ranks`` and columns in
        ``pairs``, have ``learnt`` scales, see ``trees`` and all that columns are shown as
        (``whole``), ``weight`` in the mixture under the likelihoods of all rounds, ``mean_loss``,
        ``n_rounds``. Experts that are born later come behind the others.
    weights_ : ndarray of shape (n_experts,)
        Weights of that mixture, 0 for kernels that are not heard yet.
    expert_losses_ : ndarray of shape (n_experts,)
        Sums of squared errors of the scores, before they are calibrated: of targets -1 and +1, or
        0 and 1 for each class where there are more than two.

    See Also
    --------
    OnlineKernelRegressor : The same for real targets.
    RefitClassifier : Any classifier, fitted anew whenever the past has grown.

    Notes
    -----
    *Cost.* :math:`O(K D^2 + K D C)` per round for K experts of D features and C classes, which
    share the inverse of each expert, and :math:`O(K C^2)` for their probabilities.

    *Inputs, experts, weights* are those of :class:`OnlineKernelRegressor`, with classes in place of
    targets: -1 and +1 for two classes, else one target of 0 and 1 for each. So the latest labels
    are as many columns each; of more than two classes there are so many `lags` that they are no
    more than 8 columns, but one for up to 32 classes. A category is one number for each class, and
    so are the forecasts of the trees on columns of few values and on jumps. A class has no unit,
    and is never taken for a fault.

    *Probabilities.* Forecasts f of an expert become a softmax of :math:`a f_c + b_c` [1]_, whose
    temperature and biases are learnt by Newton's steps in blocks of up to 32 rows. Two more experts
    are how often each class comes, and how often the latest class stays, both by all rows and by
    the latest hundred. These are combined in several ways: means under their likelihoods, of all
    rounds or fading within about 100 and 20; and logarithmic pools, logistic regressions on all
    log-probabilities, with two ridges and two memories. A pool of the ways, and the ways
    themselves, are mixed under the likelihoods of all rounds.

    After t rounds there is a doubt of :math:`1 / (t + C)`, spread over all classes: no probability
    is less than :math:`1 / (C (t + C))`. That holds for classes that are yet to come, too; what is
    shown are the probabilities of ``classes_``, given that it is one of these.

    *Trees.* With `trees`, a batch model fitted to the rows so far and the latest labels, a column
    each, forecasts once there are 30 rows, and a second one, which sees the log-probabilities of
    the kernels' mixture too, 30 rows later. Kernels and trees are then mixed as the kernels are.
    Most calls pay two forecasts more, some the fits, which cost :math:`1 + 1 / 0.05`, or 21, times
    the last two where time is linear in rows; those of True and ``"lightgbm"`` also wait until they
    are paid for, as at :class:`OnlineKernelRegressor`.

    *Similar rows.* From round 257 on the classes of the 4 and of the 16 nearest of the latest rows
    count as rows beside one that is as the mixture says, as errors do at
    :class:`OnlineKernelRegressor`, by learnt metrics, too; that loses at most
    :math:`0.052 (2 + \ln(1 + T / 64))` in T rounds. What probabilities lacked in rows of equal
    codes is added where that has surely helped, for at most :math:`0.70 (2 + \ln(1 + T / 64))`.

    *Theorem.* In the log loss the mean of probabilities under their likelihoods loses over any
    number of rounds at most :math:`\ln K` more than the best of K forecasters [2]_. There are two
    levels, and the doubt, so with K calibrated experts, the four forecasts of how often classes
    come and stay, and W ways, T rounds lose at most what the best expert loses and
    :math:`\ln(K + 4) + \ln(W + 1) + \ln(1 + T / (C - 1))`. Of a calibration nothing is known but
    what it lost; with `trees` there is one more mixture, of three.

    *Departures.* A Newton step moves no forecast of its block by more than one nat, as the loss has
    no curvature where forecasts are sure.

    References
    ----------
    .. [1] J. Platt, "Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods", Advances in Large Margin Classifiers, 1999.
    .. [2] Vovk 1990.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_okl import OnlineKernelClassifier
    >>> X, y = make_classification(300, n_classes=3, n_informative=4, random_state=0)
    >>> model = OnlineKernelClassifier(budget="fast", random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> bool((forecasts[100:] != y[100:]).mean() < 0.4)
    True
    >>> model.predict_proba(X[:2]).shape
    (2, 3)
    """

    _test_parameters = (
        {"budget": "fast", "random_state": 0},
        {"budget": "fast", "random_state": 0, "label_delay": 1, "max_classes": 4},
        {"budget": "tiny", "random_state": 0},
    )

    _parameter_constraints = {
        **DefaultModel._parameter_constraints,
        "trees": ["boolean", StrOptions({"lightgbm"}), HasMethods(["fit", "predict_proba"])],
        "max_classes": [Interval(Integral, 2, None, closed="left"), None],
    }
    _structural = ("max_classes",)
    constants = Constants(budgets=CLASS_BUDGETS)
    _of_trees, _record = ClassTrees, LogLosses()
    _advice = (
        "Name all classes in 'classes' in the first call of 'partial_fit', leave room for them by "
        "'max_classes' from the start, or call 'fit' to start afresh."
    )

    def __init__(
        self,
        *,
        budget: Budget = "balanced",
        forgetting: float | None = None,
        lags: int = 4,
        max_classes: int | None = None,
        trees: Any = False,
        label_delay: int = 0,
        categorical_features: Any = "from_dtype",
        missing_values: Any = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            budget=budget,
            forgetting=forgetting,
            lags=lags,
            label_delay=label_delay,
            trees=trees,
            categorical_features=categorical_features,
            missing_values=missing_values,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.max_classes = max_classes

    @explained_by(OnlineRegressor.predict)
    def decision_function(self, X: ArrayLike, *, ahead: bool = False) -> Array:
        """Return log-odds, or log-probabilities of more than two classes; changes nothing.

        Parameters
        ----------
        ahead : bool, default=False
            Whether the rows are the next ones in order, at most ``label_delay + 1`` of them, each
            with the inputs it will be taught with.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes, positive for ``classes_[1]``; otherwise columns in the order of
            ``classes_``.
        """
        logs = self.predict_log_proba(X, ahead=ahead)
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    @explained_by(decision_function)
    def predict(self, X: ArrayLike, *, ahead: bool = False) -> Array:
        """Forecast the label of each row as if it were the next one due; changes nothing.

        After row s that is row s + 1 + `label_delay`.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The likeliest labels.
        """
        model = self._as_of_now()
        places = model.predict_proba(X, ahead=ahead).argmax(axis=1)
        return model.classes_[places]

    @explained_by(decision_function)
    def predict_proba(self, X: ArrayLike, *, ahead: bool = False) -> Array:
        """Return the probabilities of the classes; changes nothing.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; none is 0 or 1.
        """
        model = self._as_of_now()
        return model._shown(model._foreseen(X, ahead)[1])

    @explained_by(decision_function, WeightedMulticlassClassifier.predict_log_proba)
    def predict_log_proba(self, X: ArrayLike, *, ahead: bool = False) -> Array:
        return np.log(self.predict_proba(X, ahead=ahead))

    @explained_by(decision_function)
    def predict_experts(self, X: ArrayLike) -> Array:
        """Forecast each row by each expert, calibrated; changes nothing.

        Returns
        -------
        P : ndarray of shape (n_samples, n_experts, n_classes)
            The experts' probabilities, in the order of `experts_` and ``classes_``.
        """
        model = self._as_of_now()
        state, X = model._asked(X)
        with one_blas_thread:
            experts = model._experts()
            X = experts.encoder.look(state["columns"], X)
            return model._shown(experts.forecasts(state, X, ages_of(state)))

    @property
    def _not_explained(self):
        return ("trees, " if self.trees else "") + "mixing of probabilities"

    def _in_units(self, state):
        n, by_place = self._n_places, self._by_place
        order = np.arange(n) if by_place is None else np.argsort(by_place)
        # of two places there are log-odds, of which each has a half
        shown = (np.array([[-0.5, 0.5]]) if n == 2 else np.eye(n))[:, order]
        shown = shown[:, 1:] - shown[:, :1] if len(order) == 2 else shown
        return shown, np.zeros(shown.shape[1])

    @property
    def _n_outputs(self):
        return self._n_places
