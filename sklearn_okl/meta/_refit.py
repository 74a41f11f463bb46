"""Batch models on a stream: any regressor, any classifier with probabilities."""

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods

from .._documentation import explained_by, inherit_documentation
from ..base import OnlineMulticlassClassifier, OnlineRegressor
from ._progressive import placed
from ._refitted import N_FIRST, Refitted


def check_is_regressor(name, estimator):
    """Refuse what is no instance of a regressor."""
    if isinstance(estimator, type) or is_classifier(estimator) or not is_regressor(estimator):
        raise TypeError(
            f"{name}={estimator!r} is not an instance of a regressor. Give one with 'fit' and "
            "'predict', such as HistGradientBoostingRegressor()."
        )


def check_is_classifier(name, estimator):
    """Refuse what is no instance of a classifier."""
    if isinstance(estimator, type) or not is_classifier(estimator):
        raise TypeError(
            f"{name}={estimator!r} is not an instance of a classifier. Give one with 'fit' and "
            "'predict_proba', such as HistGradientBoostingClassifier()."
        )


@inherit_documentation
class RefitRegressor(Refitted, OnlineRegressor):
    r"""Any regressor of scikit-learn on a stream, fitted anew whenever the past has grown.

    It forecasts as it was fitted last; before the first fit the forecast is the mean of the targets
    so far. This is what a batch model is on a stream: the rival to beat, and an expert to mix.

    Parameters
    ----------
    estimator : regressor, default=None
        It has `fit` and `predict`, and is cloned before each fit. None is
        ``HistGradientBoostingRegressor(early_stopping=False)``.

    Attributes
    ----------
    estimator_ : regressor
        The latest fit; there is none before 30 rows.

    See Also
    --------
    RefitClassifier : The same for classifiers.
    ResidualRegressor : Lets one model learn what another one leaves.
    ExpertsRegressor : Mixes such a model with others.

    Notes
    -----
    *Schedule.*

    *Cost.* That of the fits, :math:`\log(T / 30) / \log(1 + g)` of them in T rounds, 120 for 10 000
    rows with the default; memory for the past or the window. Rounds in between cost a forecast.

    *Theorem.* There is none: what is fitted to a past need not forecast. In
    :class:`ExpertsRegressor` the mixture is guarded by the aggregator's.

    *Several targets.* Where the estimator learns one only, there is one for each, and
    ``estimator_`` is a ``MultiOutputRegressor`` of them.

    *Frames* with categories or text are handed on as they came, gaps too, to any estimator that
    takes these, such as LightGBM's, ``HistGradientBoostingRegressor()`` with categories
    ``"from_dtype"``, or a pipeline that begins with an encoder. Other rows come as arrays.

    *Copies.* Copies and pickles in mid-stream share or hold the past. A model that was fitted is
    never changed, so that copies share it.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn_okl import RefitRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = RefitRegressor(KNeighborsRegressor(), growth=0.2)
    >>> forecasts = model.prequential_predict(X, y)
    >>> model.n_fits_, model.n_samples_fit_
    (13, 281)
    """

    _multi_output = True
    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        **Refitted._parameter_constraints,
    }

    def _validate(self):
        super()._validate()
        check_is_regressor("estimator", self._unfitted())

    def _by_default(self):
        from sklearn.ensemble import HistGradientBoostingRegressor  # slow to import

        return HistGradientBoostingRegressor(early_stopping=False)

    def _added(self, y):
        return y.astype(np.float64)

    def _before_fits(self, sums, known):
        return sums / np.maximum(known, 1).reshape(-1, *[1] * (sums.ndim - 1))

    def _fit_model(self, model, X, y, weights):
        if y.ndim == 2 and not get_tags(model).target_tags.multi_output:
            from sklearn.multioutput import MultiOutputRegressor

            model = MultiOutputRegressor(model)
        return super()._fit_model(model, X, y, weights)

    def _given(self, y):
        return y.copy()

    def _answers(self, model, X):
        return np.asarray(model.predict(X), dtype=np.float64)


@inherit_documentation
@explained_by(RefitRegressor)
class RefitClassifier(Refitted, OnlineMulticlassClassifier):
    r"""Any classifier with probabilities on a stream, fitted anew whenever the past has grown.

    It forecasts as it was fitted last. Before the first fit the forecast after t rounds, of which
    :math:`t_c` had class c of C, is :math:`(t_c + 1) / (t + C)`.

    Parameters
    ----------
    estimator : classifier, default=None
        It has `fit` and `predict_proba`, and is cloned before each fit. None is
        ``HistGradientBoostingClassifier(early_stopping=False)``.

    Attributes
    ----------
    estimator_ : classifier
        The latest fit; there is none before 30 rows of more than one class.

    See Also
    --------
    RefitRegressor : The same for regressors.
    OnlineKernelClassifier : Learns every row at once.

    Notes
    -----
    *Schedule.*

    *Cost.*

    *Theorem.* There is none: what is fitted to a past need not forecast.

    *Classes.* The estimator gets labels, and may know fewer classes than there are: those that its
    past does not show have probability 0. To a past that shows one class only nothing is fitted,
    and the forecasts stay as they are until the next fit is due. The label forecast is the
    likeliest, the first of several. Where probabilities are NaN, negative or all 0, all classes
    have the same.

    *Frames* with categories or text are handed on as they came, gaps too. Other rows come as
    arrays.

    *Copies.*

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.utils import shuffle
    >>> from sklearn_okl import RefitClassifier
    >>> X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    >>> model = RefitClassifier(LogisticRegression(max_iter=1000), growth=0.2)
    >>> forecasts = model.prequential_predict(X, y)
    >>> float((forecasts[30:] == y[30:]).mean().round(2))
    0.95
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        **Refitted._parameter_constraints,
    }
    _first_fit = f"{N_FIRST} rows of more than one class"

    def _validate(self):
        super()._validate()
        check_is_classifier("estimator", self._unfitted())

    def _by_default(self):
        from sklearn.ensemble import HistGradientBoostingClassifier  # slow to import

        return HistGradientBoostingClassifier(early_stopping=False)

    def _added(self, y):
        return (y[:, None] == np.arange(len(self.classes_))).astype(np.float64)

    def _before_fits(self, sums, known):
        return (sums + 1.0) / (known[:, None] + len(self.classes_))

    def _fit(self, state):
        _, y = state["past"].rows
        if (y != y[0]).any():
            super()._fit(state)

    def _given(self, y):
        return self.classes_[y.astype(np.intp)]

    def _answers(self, model, X):
        P = placed(model, model.predict_proba(X), self.classes_)
        return P / P.sum(axis=1, keepdims=True)
