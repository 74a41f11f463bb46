"""Sets of labels around any classifier that learns from a stream."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils._param_validation import HasMethods

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, ArrayLike
from .._validation import refuse_arguments
from ..base import OnlineMulticlassClassifier, OnlineRegressor
from . import _progressive
from ._conformal import ConformalLayer
from ._conformal_regressor import OnlineConformalRegressor


@inherit_documentation
@explained_by(OnlineConformalRegressor)
class OnlineConformalClassifier(ConformalLayer, OnlineMulticlassClassifier):
    r"""Sets of labels around the probabilities of any classifier that learns from a stream.

    The score of a label is one less its probability; a set holds all labels whose score is at most
    the threshold that the tracker gives. It may hold none: then the row is unlike those before.

    Parameters
    ----------
    estimator : classifier
        It has `partial_fit` and `predict_proba`, and is cloned when the first row arrives.

    See Also
    --------
    OnlineConformalRegressor : Intervals.

    Notes
    -----
    *Cost.*

    *Theorem.* The tracker's, of the rounds after the warm-up; that of a descent for scores up to 1.
    Step sizes are in units of scores: ``SAOCP(eta=0.6)`` and ``SFOGD(eta=0.6)`` are for these, and
    the default of both for errors of regressors.

    *Late labels.*

    *Faults.* Where the estimator's probabilities are NaN, negative or all 0, as those of a naive
    Bayes classifier that knows no variance yet, all classes have the same.

    References
    ----------
    .. [1] M. Sadinle, J. Lei, L. Wasserman, "Least ambiguous set-valued classifiers with bounded
       error levels", Journal of the American Statistical Association 114(525), 2019, on the score.
    .. [2] Weinberger & Ordentlich 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_okl import ImproperLogisticClassifier, OnlineConformalClassifier
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = OnlineConformalClassifier(ImproperLogisticClassifier())
    >>> sets = model.prequential_set(X / 16.0, y)
    >>> sets.shape, float(sets[range(100, 500), y[100:500]].mean().round(2))
    ((537, 3), 0.9)
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["partial_fit", "predict_proba"])],
        **ConformalLayer._parameter_constraints,
    }
    _kind = is_classifier, "classifier with probabilities that learns by 'partial_fit'"

    @explained_by(OnlineMulticlassClassifier.prequential_predict)
    def prequential_set(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, **params: Any
    ) -> Array:
        """Learn as `partial_fit` does, and return the sets issued on the way.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes) or (n_samples, n_levels, n_classes)
            Whether each of ``classes_`` was in the set; of several levels where `coverage` is a
            list.
        """
        refuse_arguments(self, "prequential_set", params)
        issued = []
        validation = {"classes": classes}
        self._advance(X, y, restart=False, validation=validation, issued=issued)
        return self._of_one(issued[0])

    @explained_by(OnlineRegressor.predict, prequential_set)
    def predict_set(self, X: ArrayLike, **params: Any) -> Array:
        """Return the set of labels of each row as if it were the next one due; changes nothing."""
        refuse_arguments(self, "predict_set", params)
        model = self._as_of_now()
        state, X = model._asked(X)
        P = model._answered(state, X)
        held = model._thresholds(state, state["t"] + model.label_delay)
        return model._of_one(1.0 - P[:, None] <= held[:, None])

    def _learn(self, state, X, y, issued=None):
        state["frame"] = self._frame
        handed, is_first = partial(self._handed, state), state["t"] == 0
        asked = self.classes_[y], self.classes_, is_first, handed
        P = _progressive.probabilities(state["estimator"], X, *asked)
        thresholds = []
        for score in (1.0 - P[np.arange(len(y)), y]).tolist():
            thresholds.append(self._thresholds(state, state["t"]))
            self._score(state, state["t"], score)
            state["t"] += 1
        if issued is not None:
            issued.append(1.0 - P[:, None] <= np.array(thresholds)[:, :, None])
        return P

    def _forecast(self, state, X):
        estimator = state["estimator"]
        P = estimator.predict_proba(self._handed(state, X))
        return _progressive.placed(estimator, P, self.classes_)
