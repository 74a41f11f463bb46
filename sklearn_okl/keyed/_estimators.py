"""One model a key: regressors and classifiers."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_array, column_or_1d
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._delegating import DelegatingVerbs, inner_has
from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, ArrayLike, Self
from .._validation import named_classes, refuse_dates, refuse_other_targets, sorted_together
from ..algorithms import ImproperLogisticClassifier
from ..base import OnlineMulticlassClassifier, OnlineRegressor, twin
from ..base._distributions import (
    DECILES,
    DistributionVerbs,
    asked_coverage,
    checked_alpha,
)
from ..base._weighted import WeightedRegressor
from ..conformal import QuantileDistribution
from ..conformal._running_errors import QUANTILES
from ..learners import VAWRegressor
from ._keyed import Keyed
from ._one_row import is_plain

_WHOLE_LINE = -np.inf, np.inf


@inherit_documentation
class KeyedRegressor(RegressorMixin, Keyed):
    """One regressor a key: a device, a shop, a customer.

    Rows of many keys come in one stream; each key has a model of its own, which learns its rows
    and no others, in order. The forecasts are those of as many separate models, however the stream
    is cut into calls. None as estimator is ``VAWRegressor(forecaster="ridge",
    fit_intercept=True)``, which takes features as they come: scale them to moderate size. Where the
    estimator itself takes targets of NaN, as those without tuning do, such rows are forecast, and
    teach nothing; a pipeline of it does not.

    See Also
    --------
    KeyedClassifier : The same for labels.
    RowRegressor : Rows as dicts, one at a time, and labels that come later.
    Store : A file with the models of all keys, in which only those that changed are written.

    Notes
    -----
    *Cost.* That of the models. A :class:`VAWRegressor` that forgets nothing, alone or behind
    :class:`RunningStandardScaler` and maps that learn nothing from data, such as
    :class:`FourierFeatures` with a `random_state`, is a *bank*: the models of all keys are learnt
    together, a row in some microseconds and :math:`D^2 + 2 D` numbers a key for D features. Of
    :class:`OnlineKernelRegressor` with ``budget="tiny"`` the next rows of many keys are learnt
    together, one of each, in a tenth of the time; with a `random_state` they share their draws. Any
    other estimator is an object a key, and a call of it for each key among the rows. The prior
    learns each row once more. A limit, `max_keys` or `idle`, adds about a microsecond a row; a
    new key that makes another one go, a sort of all keys a call.

    *Theorem.* Each key has that of its model, on its own rows.

    *Default.* A key has few rows. Where targets are not centred the shrinkage of VAW costs more
    than it saves until there are many: in a trial of 500 keys with some 30 rows each, an intercept
    of 10 and noise of 0.1, the squared error was 3.6, that of ridge 0.22, and 0.32 behind a scaler
    for each key, for the scale of two rows is no scale.

    *Strength in numbers.* With ``prior="init"`` a key begins from what all keys have in common, and
    learns its own part. The share of that part is a ridge regression on one number, of all rows of
    keys with as many rows to a power of two: of 1 000 keys, related fully, mostly, half or not at
    all, the mean loss of the first 1, 5, 20 and 100 rows is at most 1.04 of the better of models
    of their own and one for all, and half of it where they are akin. A key unlike all others begins
    from a wrong start. Models are of what is left: forecasts only, no quantiles, and no merging.

    *In a bank* a row that would shrink the inverse of a key by more than 1e5 makes the key leave:
    from then on it has a model of its own, which repairs such inverses. Scale the features, or let
    a scaler do so. Several targets, and other estimators, make no bank.

    *Keys* are text, numbers or tuples of these, and of one type in all calls. Missing ones are
    refused. With scikit-learn's metadata routing ``keys`` is requested by
    ``set_partial_fit_request(keys=True)`` and ``set_predict_request(keys=True)``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import KeyedRegressor
    >>> rng = np.random.default_rng(0)
    >>> shop = rng.integers(3, size=600)
    >>> X = np.column_stack([shop, rng.normal(size=(600, 2))])
    >>> y = shop * X[:, 1] + 10.0
    >>> model = KeyedRegressor(key=0).fit(X, y)
    >>> model.keys_, model.predict([[2, 1.0, 0.0], [0, 1.0, 0.0]]).round()
    ([2.0, 1.0, 0.0], array([12., 10.]))
    >>> model.predict([[7, 1.0, 0.0]]).round()  # a new shop: by what is known of all
    array([11.])
    """

    _parameter_constraints = Keyed._parameter_constraints | {
        "prior": [StrOptions({"pooled", "init"}), None]
    }

    def _by_default(self):
        return VAWRegressor(forecaster="ridge", fit_intercept=True)

    def _validate(self):
        super()._validate()
        if self.prior == "init" and getattr(self.estimator, "label_delay", 0):
            raise ValueError(
                "With prior='init' keys learn what one model of all rows leaves, and label_delay "
                "counts rows of a key, of which that model knows nothing: give prior='pooled'."
            )

    @explained_by(Keyed.fit, OnlineRegressor.partial_fit)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        keys: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        self._advance(X, y, "partial_fit", keys, **params)
        return self

    @explained_by(Keyed.fit, WeightedRegressor.prequential_predict)
    def prequential_predict(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        keys: ArrayLike | None = None,
        **params: Any,
    ) -> Array:
        return self._advance(X, y, "prequential_predict", keys, **params)

    @explained_by(Keyed.fit)
    def predict(self, X: ArrayLike, *, keys: ArrayLike | None = None) -> Array:
        """Forecast each row as if it were the next one of its key; changes nothing.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Forecasts; those of unknown keys are the prior's.
        """
        return self._ask(X, "predict", keys)

    @available_if(inner_has("predict_quantiles"))
    @explained_by(DistributionVerbs.predict_quantiles, predict)
    def predict_quantiles(
        self, X: ArrayLike, alpha: float | ArrayLike = DECILES, *, keys: ArrayLike | None = None
    ) -> Array:
        """Return quantiles of the target of each row, by the model of its key; changes nothing.

        Returns
        -------
        quantiles : ndarray of shape (n_samples[, n_targets], q)
            NaN for unknown keys where there is no prior.
        """
        alpha = checked_alpha(alpha)
        return self._ask_more(X, "predict_quantiles", keys, alpha.shape, alpha)

    @available_if(inner_has("predict_distribution"))
    @explained_by(DistributionVerbs.predict_distribution, predict_quantiles)
    def predict_distribution(self, X: ArrayLike, *, keys: ArrayLike | None = None) -> Any:
        """Return the distribution of the target of each row, by the model of its key.

        It is made of the quantiles and the support of that of the model, its density too.
        """
        told = self._ask_more(X, "predict_distribution", keys, (len(QUANTILES) + 2,))
        ends = told[..., -2:][~np.isnan(told[..., -1])].tolist() or [_WHOLE_LINE]
        support = min(low for low, _ in ends), max(high for _, high in ends)
        return QuantileDistribution(QUANTILES, told[..., :-2], support)

    @available_if(inner_has("prequential_quantiles"))
    @explained_by(predict_quantiles, prequential_predict)
    def prequential_quantiles(
        self,
        X: ArrayLike,
        y: ArrayLike,
        alpha: float | ArrayLike = DECILES,
        *,
        keys: ArrayLike | None = None,
        **params: Any,
    ) -> Array:
        """Learn rows, and return the quantiles that the models of their keys issued on the way.

        Those of the first row of a key are the prior's.
        """
        before, model = vars(self).get("_state"), twin(self)
        model._alpha = checked_alpha(alpha)
        issued = model._advance(X, y, "prequential_quantiles", keys, **params)
        del model._alpha
        self._become(before, model)
        return issued

    @available_if(inner_has("predict_interval"))
    @explained_by(DelegatingVerbs.predict_interval, DistributionVerbs.predict_interval, predict)
    def predict_interval(
        self,
        X: ArrayLike,
        coverage: float | ArrayLike | None = None,
        *,
        keys: ArrayLike | None = None,
    ) -> Array:
        """Return the intervals of each row, by the model of its key; changes nothing.

        Returns
        -------
        intervals : ndarray of shape (n_samples[, n_targets][, n_levels], 2)
            NaN as of quantiles.
        """
        levels = asked_coverage(self, coverage)
        return self._ask_more(X, "predict_interval", keys, (*np.shape(levels), 2), levels)

    @explained_by(Keyed.fit)
    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        keys: ArrayLike | None = None,
    ) -> float:
        """Return R² of the forecasts of rows; changes nothing.

        Returns
        -------
        score : float
        """
        return float(r2_score(y, self.predict(X, keys=keys), sample_weight=sample_weight))

    def _targets(self, y, classes, is_start):
        if not is_plain(y, 1):
            refuse_other_targets(y)
            # of a pipeline transformers would learn rows of keys of whom nothing else is known yet
            takes_missing = getattr(self._unfitted(), "_allow_nan_targets", False)
            y = check_array(
                y,
                dtype=np.float64,
                ensure_2d=False,
                ensure_all_finite="allow-nan" if takes_missing else True,
                input_name="y",
                estimator=self,
            )
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        shape = y.shape[1:]
        if is_start:
            self._shape = shape
        elif shape != self._shape:
            raise ValueError(
                f"y has shape {y.shape}, and the targets of a row before had {self._shape}. Give "
                "as many targets in every call, or call 'fit' to start afresh."
            )
        return y

    def _nothing(self, y, verb):
        if verb == "prequential_quantiles":
            return np.full((*y.shape[1:], *np.shape(self._alpha)), np.nan)
        return np.zeros(y.shape[1:])

    def _beside(self, verb):
        return {"alpha": self._alpha} if verb == "prequential_quantiles" else {}

    @property
    def _inner(self):
        return self._unfitted()

    def _ask_more(self, X, verb, keys, shape, *given):
        check_is_fitted(self)
        return self._ask(X, verb, keys, np.full((*self._shape, *shape), np.nan), *given)

    def _answer(self, model, verb, X, given):
        found = super()._answer(model, verb, X, given)
        return _numbers_of(found) if verb == "predict_distribution" else found

    def _nothing_known(self, verb):
        return np.zeros(self._shape)


def _numbers_of(law):
    """Return the quantiles of a law and the ends of its support (..., 199 + 2)."""
    quantiles = law.ppf(QUANTILES)
    ends = getattr(law, "support", _WHOLE_LINE)
    return np.concatenate([quantiles, np.broadcast_to(ends, (*quantiles.shape[:-1], 2))], axis=-1)


@inherit_documentation
@explained_by(KeyedRegressor)
class KeyedClassifier(ClassifierMixin, Keyed):
    """One classifier a key: a device, a shop, a customer.

    Each key has a model of its own, see :class:`KeyedRegressor`. None as estimator is
    :class:`ImproperLogisticClassifier` with an intercept, which takes features as they come: scale
    them to moderate size.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels of all keys, sorted: each model knows them all from its first row on.

    See Also
    --------
    KeyedRegressor : The same for numbers, and faster: linear models are learnt together.
    RowClassifier : Rows as dicts, one at a time, and labels that come later.

    Notes
    -----
    *Cost.* That of the models: a call for each key among the rows, and one for the prior.

    *Theorem.* That of the model of each key.

    *Faults.* Where the probabilities of a model are NaN, as naive Bayes classifiers that learn row
    by row have no variance yet, or for a column that is constant in a class for good, or negative
    or all 0, all classes have the same.

    *Keys*

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import KeyedClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> device = rng.choice(["a", "b"], size=300)
    >>> y = (X[:, 0] > 0) ^ (device == "a")  # the one does what the other does not
    >>> model = KeyedClassifier().fit(X, y, keys=device)
    >>> model.predict([[2.0, 0.0], [2.0, 0.0]], keys=["a", "b"])
    array([False,  True])
    """

    _of_classes = True

    def _by_default(self):
        return ImproperLogisticClassifier(fit_intercept=True)

    @explained_by(Keyed.fit, OnlineMulticlassClassifier.partial_fit)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        keys: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        self._advance(X, y, "partial_fit", keys, False, classes, **params)
        return self

    @explained_by(partial_fit, OnlineMulticlassClassifier.prequential_predict)
    def prequential_predict(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        keys: ArrayLike | None = None,
        **params: Any,
    ) -> Array:
        return self._advance(X, y, "prequential_predict", keys, False, classes, **params)

    @available_if(inner_has("predict_proba"))
    @explained_by(partial_fit, OnlineMulticlassClassifier.prequential_predict_proba)
    def prequential_predict_proba(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        keys: ArrayLike | None = None,
        **params: Any,
    ) -> Array:
        return self._advance(X, y, "prequential_predict_proba", keys, False, classes, **params)

    @explained_by(KeyedRegressor.predict)
    def predict(self, X: ArrayLike, *, keys: ArrayLike | None = None) -> Array:
        """Forecast the label of each row as if it were the next one of its key; changes nothing.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels; those of unknown keys are the prior's.
        """
        return self._ask(X, "predict", keys)

    @available_if(inner_has("predict_proba"))
    @explained_by(KeyedRegressor.predict, OnlineMulticlassClassifier.predict_proba)
    def predict_proba(self, X: ArrayLike, *, keys: ArrayLike | None = None) -> Array:
        """Return the probabilities of the classes for each row; changes nothing."""
        return self._ask(X, "predict_proba", keys)

    @explained_by(KeyedRegressor.score)
    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        keys: ArrayLike | None = None,
    ) -> float:
        """Return the accuracy of the forecasts of rows; changes nothing."""
        return float(accuracy_score(y, self.predict(X, keys=keys), sample_weight=sample_weight))

    @property
    def _inner(self):
        return self._unfitted()

    def _told(self):
        return self.classes_

    def _targets(self, y, classes, is_start):
        refuse_dates(y)
        y = check_array(y, dtype=None, ensure_2d=False, input_name="y", estimator=self)
        with sorted_together():
            check_classification_targets(y)
            classes = None if classes is None else named_classes(classes)
        y = column_or_1d(y, warn=True)
        if is_start:
            self.classes_ = np.unique(y) if classes is None else classes
            if len(self.classes_) < 2:
                raise ValueError(
                    f"KeyedClassifier needs two classes; only one class, {self.classes_}, is in "
                    "the labels. Name all in 'classes' in the first call of 'partial_fit'."
                )
        elif classes is not None and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"classes={classes} are not the classes of the first call, {self.classes_}. Leave "
                "them out, or call 'fit' to start afresh."
            )
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y holds labels {unknown} besides the classes {self.classes_} of this model. Name "
                "all classes in 'classes' in the first call of 'partial_fit'."
            )
        return y

    def _nothing(self, y, verb):
        return self._nothing_known(verb)

    def _nothing_known(self, verb):
        if verb.endswith("proba"):
            return np.full(len(self.classes_), 1.0 / len(self.classes_))
        return self.classes_[:1].reshape(())  # of the type that holds all labels
