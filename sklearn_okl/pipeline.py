"""Pipelines that learn from streams: transformers, a final estimator, and scaled targets."""

from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline, _name_estimators
from sklearn.utils import Bunch, _safe_indexing, check_scalar
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metaestimators import _BaseComposition, available_if
from sklearn.utils.validation import check_is_fitted

from ._linalg import one_blas_thread
from ._online import OnlineRegressor, _copied, _same, described
from .features._moments import moderate
from .features._scalers import RunningScaler, RunningStandardScaler, known_earlier
from .learners import VAWRegressor

__all__ = ["StreamingPipeline", "StreamingTransformedTargetRegressor", "make_streaming_pipeline"]


def _final_has(method):
    def check(pipeline):
        getattr(pipeline.steps[-1][1], method)  # raises the AttributeError that tells most
        return True

    return check


class StreamingPipeline(_BaseComposition):
    """A pipeline with `partial_fit`: batches of rows flow through transformers to an estimator.

    scikit-learn's own pipeline cannot learn in steps, and were its scaler refitted on all rows it
    would have looked ahead. Here every row is transformed by what the transformers learnt from the
    rows before it (the very first row by itself), then the transformers learn it too.

    Parameters
    ----------
    steps : list of tuple of (str, estimator)
        Names and estimators, in the order in which a row meets them. All but the last transform;
        ``"passthrough"`` may stand for a transformer. The last learns by `partial_fit`. They are
        cloned, never changed: the fitted ones are in `steps_`.
    update : {"row", "batch"}, default="row"
        How transformers of other packages learn. ``"row"``: row by row, at the cost of a call of
        `transform` and one of `partial_fit` a row. ``"batch"``: a batch is transformed by what
        was learnt from the batches before it (the first by itself), which is faster and makes the
        forecasts depend on how the stream is cut. The scalers of this package are exact and
        vectorised under both.

    Attributes
    ----------
    label_delay : int
        How many rounds late the labels come: the parameter of this name of the last step, or 0.
    steps_ : list of tuple of (str, estimator)
        The fitted steps.
    named_steps : Bunch
        The same by name; the given ones before the first row.
    classes_ : ndarray of shape (n_classes,)
        The classes, where the last step is a classifier.
    experts_ : dict of ndarray of shape (n_experts,)
        The experts of the last step, where it has such a table.
    weights_ : ndarray of shape (n_experts,)
        Their weights, where the last step has any.
    n_features_in_ : int
        Number of features that the first step saw.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    make_streaming_pipeline : The same without names.
    RunningStandardScaler : A scaler that knows the past only.
    StreamingTransformedTargetRegressor : Scales targets on the fly.
    sklearn.pipeline.Pipeline : For data that are there at once.

    Notes
    -----
    *Cost.* That of the steps. A call works on copies of the steps and installs them all at its
    end, so that a failed or interrupted call leaves the pipeline as it was.

    A transformer without `partial_fit`, such as :class:`FourierFeatures` or
    :class:`sklearn.preprocessing.PolynomialFeatures`, is fitted once, on the very first row (the
    first batch with ``update="batch"``), and only transforms from then on. Maps that grow with the
    stream do not fit in front of learners of fixed width.

    *Late labels.* Where the last step has a ``label_delay`` D, row t is transformed, to forecast it
    and to teach it, by what the transformers had learnt from the rows up to t - 1 - D (the first
    rows by what the very first one taught). `predict` transforms by all that was learnt, as for the
    row that comes D rows after the next. With ``update="batch"`` a batch is transformed by what was
    learnt from the batches whose last label comes before its first row. For this the scalers of
    this package keep their latest D centres and scales; a transformer of another package is copied
    before it learns a row or a batch, and the copies that the next D rows may need are kept.

    All parameters of the steps are fixed from the first row on; `fit` starts afresh.

    References
    ----------
    .. [1] A. P. Dawid, "Present position and potential developments: some personal views:
       statistical theory: the prequential approach", Journal of the Royal Statistical Society A
       147(2), 1984.

    Examples
    --------
    >>> from sklearn_okl import (
    ...     FourierFeatures, RunningStandardScaler, StreamingPipeline, VAWRegressor)
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = StreamingPipeline([
    ...     ("scale", RunningStandardScaler()),
    ...     ("map", FourierFeatures(n_components=50, random_state=0)),
    ...     ("vaw", VAWRegressor()),
    ... ])
    >>> forecasts = model.prequential_predict(X[:300], y[:300])
    >>> model.partial_fit(X[300:], y[300:]).predict(X[:2]).shape
    (2,)
    >>> model["vaw"].coef_.shape
    (50,)
    """

    _parameter_constraints = {"steps": [list], "update": [StrOptions({"row", "batch"})]}
    _structural = ()

    def __init__(self, steps, *, update="row"):
        self.steps = steps
        self.update = update

    def get_params(self, deep=True):
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the steps by name, and their parameters as ``name__parameter``.

        Returns
        -------
        params : dict
            Parameters by name.
        """
        return self._get_params("steps", deep=deep)

    def set_params(self, **params):
        """Set parameters, steps by name and steps' parameters as ``name__parameter`` included.

        Parameters
        ----------
        **params : dict
            Parameters by name, as `get_params` returns them.

        Returns
        -------
        self : object
            This pipeline.
        """
        self._set_params("steps", **params)
        return self

    def set_output(self, *, transform=None):
        """Choose the container that transformers return, as in scikit-learn's pipeline.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            The container; None changes nothing.

        Returns
        -------
        self : object
            This pipeline.
        """
        for steps in (self.steps, vars(self).get("steps_", [])):
            Pipeline(steps).set_output(transform=transform)
        return self

    def __sklearn_is_fitted__(self):
        return "steps_" in vars(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = Pipeline(self.steps).__sklearn_tags__()
        for name in ("estimator_type", "target_tags", "classifier_tags", "regressor_tags"):
            setattr(tags, name, getattr(inner, name))
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.target_tags.required = True
        return tags

    def _sk_visual_block_(self):
        return Pipeline(self._current())._sk_visual_block_()

    def _current(self):
        return self.steps_ if self.__sklearn_is_fitted__() else self.steps

    @property
    def label_delay(self):
        """Int : how many rounds late the labels of the last step come."""
        return getattr(self.steps[-1][1], "label_delay", 0)

    @property
    def named_steps(self):
        """The steps by name, fitted ones where there are any."""
        return Bunch(**dict(self._current()))

    @property
    def classes_(self):
        """The classes of the last step."""
        return self._current()[-1][1].classes_

    @property
    def experts_(self):
        """The experts of the last step: a dict of arrays that pandas reads as a table."""
        return self._current()[-1][1].experts_

    @property
    def weights_(self):
        """Weights of the experts of the last step, of shape (n_experts,)."""
        return self._current()[-1][1].weights_

    @property
    def n_features_in_(self):
        """Number of features that the first step saw."""
        return self._current()[0][1].n_features_in_

    @property
    def feature_names_in_(self):
        """Names of the features that the first step saw."""
        return self._current()[0][1].feature_names_in_

    @property
    def n_samples_seen_(self):
        """Int : rounds learnt so far, as the last step counts them."""
        return self._current()[-1][1].n_samples_seen_

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, index):
        """Return a step by its name or place, fitted where possible, or a slice as a pipeline."""
        if isinstance(index, slice):
            return Pipeline(self._current()[index])
        if isinstance(index, str):
            return self.named_steps[index]
        return self._current()[index][1]

    def fit(self, X, y, **params):
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order in which they arrived.
        y : array-like of shape (n_samples,)
            Targets.
        **params : dict
            Handed to `partial_fit` of the last step.

        Returns
        -------
        self : object
            The fitted pipeline.
        """
        self._advance(X, y, "partial_fit", params, restart=True)
        return self

    def partial_fit(self, X, y, **params):
        """Learn the next rounds; the first call starts the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : array-like of shape (n_samples,)
            Their targets.
        **params : dict
            Handed to `partial_fit` of the last step, such as ``classes``.

        Returns
        -------
        self : object
            The fitted pipeline.
        """
        self._advance(X, y, "partial_fit", params, restart=False)
        return self

    @available_if(_final_has("prequential_predict"))
    def prequential_predict(self, X, y, **params):
        """Learn as `partial_fit` does, and return the forecasts made on the way.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : array-like of shape (n_samples,)
            Their targets.
        **params : dict
            Handed to `prequential_predict` of the last step, such as ``classes``.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The forecast of each row made before its target was seen.
        """
        return self._advance(X, y, "prequential_predict", params, restart=False)

    @available_if(_final_has("predict"))
    def predict(self, X, **params):
        """Forecast each row as if it were the next one; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            Handed to `predict` of the last step.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Forecasts.
        """
        final, rows = self._asked(X)
        return final.predict(rows, **params)

    @available_if(_final_has("decision_function"))
    def decision_function(self, X, **params):
        """Return the decision values of the last step; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            Handed to `decision_function` of the last step.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            Decision values.
        """
        final, rows = self._asked(X)
        return final.decision_function(rows, **params)

    @available_if(_final_has("predict_proba"))
    def predict_proba(self, X, **params):
        """Return the probabilities of the last step; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            Handed to `predict_proba` of the last step.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        final, rows = self._asked(X)
        return final.predict_proba(rows, **params)

    @available_if(_final_has("predict_interval"))
    def predict_interval(self, X, coverage=0.9, **params):
        """Return the intervals of the last step; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        coverage : float or array-like of shape (n_levels,), default=0.9
            Share of targets to be held, or several of them.
        **params : dict
            Handed to `predict_interval` of the last step, such as ``ahead``.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, n_levels, 2)
            Low and high ends.
        """
        final, rows = self._asked(X)
        return final.predict_interval(rows, coverage, **params)

    @available_if(_final_has("predict_experts"))
    def predict_experts(self, X):
        """Forecast each row by each expert of the last step; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.

        Returns
        -------
        F : ndarray of shape (n_samples, n_experts)
            The experts' forecasts.
        """
        final, rows = self._asked(X)
        return final.predict_experts(rows)

    @available_if(_final_has("summary"))
    def summary(self):
        """Say in a paragraph what the last step has learnt.

        Returns
        -------
        text : str
            As the last step says it.
        """
        check_is_fitted(self)
        return self.steps_[-1][1].summary()

    @available_if(_final_has("score"))
    def score(self, X, y, sample_weight=None):
        """Return the score of the last step on rows; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        score : float
            R² of a regressor, accuracy of a classifier.
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        final, rows = self._asked(X)
        return final.score(rows, y, **weights)

    def get_feature_names_out(self, input_features=None):
        """Return the names of the features that the last step sees.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the inputs; None takes those seen in fitting.

        Returns
        -------
        names : ndarray of str
            Names of the transformed features.
        """
        check_is_fitted(self)
        return Pipeline(self.steps_[:-1]).get_feature_names_out(input_features)

    def _asked(self, X):
        """Return the last step, and rows as they reach it now."""
        check_is_fitted(self)
        self._check_structure()
        for _, transformer in _active(self.steps_[:-1]):
            X = transformer.transform(X)
        return self.steps_[-1][1], X

    def _check_structure(self):
        if not _same(described(self.steps), self._described_at_start):
            raise ValueError(
                "The steps of a StreamingPipeline and their parameters cannot change in "
                "mid-stream. Call 'fit' to start afresh, or set the old values again."
            )

    def _validate(self):
        self._validate_params()
        if not self.steps:
            raise ValueError("The pipeline is empty: give pairs (name, estimator).")
        Pipeline(self.steps)._validate_steps()
        name, final = self.steps[-1]
        if isinstance(final, type) or not hasattr(final, "partial_fit"):
            raise TypeError(
                f"The last step {name!r} ({final!r}) cannot learn from a stream: it is a class or "
                "has no 'partial_fit'."
            )

    def _advance(self, X, y, verb, params, restart):
        self._validate()
        if y is None:
            raise ValueError(
                "StreamingPipeline requires y to be passed, but the target y is None: give the "
                "targets of the rows."
            )
        X, y = _sliceable(X), _sliceable(y)
        restart = restart or not self.__sklearn_is_fitted__()
        if restart:
            steps = [(name, _cloned(step)) for name, step in self.steps]
            pasts, at_start = {}, described(self.steps)
        else:
            self._check_structure()
            steps = [(name, _copied(step)) for name, step in self.steps_]
            pasts, at_start = dict(self._pasts), self._described_at_start
        final = steps[-1][1]
        rows = _through(steps[:-1], pasts, X, y, restart, self.update, delay_of(final))
        if restart and is_classifier(final) and "classes" not in params and verb == "partial_fit":
            params = params | {"classes": np.unique(y)}
        result = getattr(final, verb)(rows, y, **params)
        # the one assignment
        self.__dict__ = vars(self) | {
            "steps_": steps,
            "_pasts": pasts,
            "_described_at_start": at_start,
        }
        return result


def make_streaming_pipeline(*steps, update="row"):
    """Make a :class:`StreamingPipeline`, its steps named after their classes.

    Parameters
    ----------
    *steps : estimators
        Transformers, and an estimator that learns by `partial_fit`.
    update : {"row", "batch"}, default="row"
        As in :class:`StreamingPipeline`.

    Returns
    -------
    pipeline : StreamingPipeline

    Examples
    --------
    >>> from sklearn_okl import RunningStandardScaler, VAWRegressor, make_streaming_pipeline
    >>> list(make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()).named_steps)
    ['runningstandardscaler', 'vawregressor']
    """
    return StreamingPipeline(_name_estimators(steps), update=update)


def _cloned(step):
    return step if isinstance(step, str) or step is None else clone(step)


def _sliceable(rows):
    """Return frames as they are, sparse matrices by rows, all else as an array."""
    if sparse.issparse(rows):
        return rows.tocsr()
    return rows if hasattr(rows, "iloc") else np.asarray(rows)


def delay_of(estimator):
    """Return how many rounds late an estimator gets its labels."""
    delay = getattr(estimator, "label_delay", 0)
    return check_scalar(delay, "label_delay", Integral, min_val=0)


def _active(steps):
    return [(name, step) for name, step in steps if step is not None and step != "passthrough"]


def _through(steps, pasts, X, y, started_now, update, delay):
    """Return rows as they leave the last transformer; all of them learn the rows on the way.

    Pasts are by the name of the transformer, and change too.
    """
    for name, transformer in _active(steps):
        past = pasts.get(name, [])
        X, pasts[name] = _flow(transformer, past, X, y, started_now, update, delay)
    return X


def _flow(transformer, past, X, y, started_now, update, delay):
    """Transform rows by what is known before each of them, and learn them on the way.

    The past are copies of the transformer, one for each of the next `delay` rows: as it was when
    the last label that the row may know came. Return the rows and the new past.
    """
    if isinstance(transformer, RunningScaler):
        return transformer._prequential_transform(X, delay), past
    n_rows = X.shape[0]
    step = n_rows if update == "batch" else 1
    if not hasattr(transformer, "partial_fit"):
        if started_now:
            transformer.fit(_safe_indexing(X, slice(0, step)), _safe_indexing(y, slice(0, step)))
        return transformer.transform(X), past
    parts = []
    for low in range(0, n_rows, max(step, 1)):
        rows = slice(low, low + step)
        batch, targets = _safe_indexing(X, rows), _safe_indexing(y, rows)
        first = started_now and low == 0
        if first:
            transformer.partial_fit(batch, targets)
        if delay:
            # until its last label comes, the rows after a batch know the batches before it
            past = past + [_copied(transformer)] * (delay if first else min(step, delay))
        parts.append((past[0] if delay else transformer).transform(batch))
        past = past[-delay:]
        if not first:
            transformer.partial_fit(batch, targets)
    return (_stacked(parts) if parts else X), past


def _stacked(parts):
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    return np.concatenate(parts)


class StreamingTransformedTargetRegressor(OnlineRegressor):
    """Scale the targets on the fly, learn them scaled, forecast in their own units.

    Parameters
    ----------
    regressor : estimator object, default=None
        An online regressor with `prequential_predict`, such as any of this package or a
        :class:`StreamingPipeline`. None is :class:`VAWRegressor`. It is cloned, never changed.
    transformer : running scaler, default=None
        A scaler of this package. None is :class:`RunningStandardScaler`.

    Attributes
    ----------
    label_delay : int
        How many rounds late the targets come: the regressor's parameter of this name, or 0.
    regressor_ : estimator object
        Copy of the fitted regressor, which knows scaled targets.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    StreamingPipeline : Scales inputs on the fly.
    sklearn.compose.TransformedTargetRegressor : For data that are there at once.

    Notes
    -----
    *Cost.* That of the regressor, and O(1) a round.

    Round t unscales its forecast by what the targets before it have shown; the target, once it is
    known, counts for the scale at which it is learnt, so that no target is far out of range. The
    very first forecast is the regressor's own, not unscaled, for nothing is known of the unit.
    What was learnt under early scales stays as it was learnt. A faulty target, far from all before
    it, is learnt nearer by :class:`RunningStandardScaler` and :class:`RunningRobustScaler`, see
    there, and by the regressor as the scaler learns it; the other scalers take it for what it is.

    *Late targets.* With a regressor whose ``label_delay`` is D, round t unscales its forecast by
    what the targets up to t - 1 - D have shown, and the first D + 1 forecasts are the regressor's
    own. For this the latest D centres and scales are kept.

    References
    ----------
    .. [1] S. Ross, P. Mineiro, J. Langford, "Normalized online learning", Conference on
       Uncertainty in Artificial Intelligence, 2013, on why scales are to be learnt on the fly.

    Examples
    --------
    >>> from sklearn_okl import StreamingTransformedTargetRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = StreamingTransformedTargetRegressor().fit(X, 1e6 + 1e3 * y)
    >>> bool(abs(model.predict(X).mean() - 1e6) < 1e3)
    True
    """

    _parameter_constraints = {
        "regressor": [HasMethods(["partial_fit", "prequential_predict", "predict"]), None],
        "transformer": [RunningScaler, None],
    }
    _structural = ("regressor", "transformer")

    def __init__(self, regressor=None, transformer=None):
        self.regressor = regressor
        self.transformer = transformer

    @property
    def label_delay(self):
        """Int : how many rounds late the targets of the regressor come."""
        return getattr(self.regressor, "label_delay", 0)

    def predict(self, X, **params):
        """Forecast each row as if it were the next one; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            Handed to `predict` of the regressor, which must return forecasts and nothing else.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Forecasts.
        """
        state, X = self._asked(X)
        with one_blas_thread:
            return self._forecast(state, X, **params)

    @property
    def regressor_(self):
        """Copy of the fitted regressor."""
        return _copied(self._fitted_state("regressor_")["regressor"])

    def _structure(self):
        return {name: described(getattr(self, name)) for name in self._structural}

    def _scaler(self):
        return RunningStandardScaler() if self.transformer is None else self.transformer

    def _start(self, n_features, n_targets=None):
        regressor = VAWRegressor() if self.regressor is None else clone(self.regressor)
        return {"t": 0, "regressor": regressor, "scaler": {}}

    def _learn(self, state, X, y):
        scaler, column, delay = self._scaler(), moderate(y)[:, None], delay_of(self.regressor)
        if not state["scaler"]:
            state["scaler"] = scaler._start(column[0])
        centers, scales, nearer = (
            np.broadcast_to(part, column.shape) for part in scaler._learn(state["scaler"], column)
        )
        center, scale = scaler._known(state["scaler"])
        learnt = scaler._scaled(
            nearer, np.vstack([centers[1:], center]), np.vstack([scales[1:], scale])
        )
        forecasts = state["regressor"].prequential_predict(X, learnt[:, 0])
        if delay:
            centers, scales = known_earlier(state["scaler"], centers, scales, delay)
        unscaled = scaler._unscaled(forecasts[:, None], centers, scales)[:, 0]
        n_cold = max(delay + 1 - state["t"], 0)  # rows before which no target was known
        unscaled[:n_cold] = forecasts[:n_cold]
        state["t"] += len(y)
        return unscaled

    def _forecast(self, state, X, **params):
        forecasts = state["regressor"].predict(X, **params)
        center, scale = self._scaler()._known(state["scaler"])
        return self._scaler()._unscaled(forecasts[:, None], center, scale)[:, 0]
