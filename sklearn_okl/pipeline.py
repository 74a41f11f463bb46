"""Pipelines that learn from streams: transformers, a final estimator, and scaled targets."""

from __future__ import annotations

import copy
import warnings
from numbers import Integral

import joblib
import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _warm_up
from ._delay import delay_of
from ._delegating import DelegatingVerbs, inner_has
from ._documentation import explained_by, inherit_documentation
from ._flow import (
    Way,
    active,
    cloned_step,
    copied_step,
    joined,
    learn_once,
    learns_from_data,
    part_of,
    still,
    through,
)
from ._flow_rows import PipelineWork
from ._named_steps import NamedSteps, at_rest
from ._types import Any, Array, ArrayLike, Self
from ._validation import check_columns, check_pairs, container_of, routed, targets_of, weights_of
from .base import SumsOfRows, SwapMixin, _is_finite, described, twin
from .base._distributions import DECILES
from .base._explainable import Explainable
from .base._row_path import HasRowPath
from .features import BackgroundReservoir, CalendarFeatures
from .features._running import RunningScaler
from .inspection._steps import sums_through

__all__ = ["StreamingPipeline", "make_streaming_pipeline"]

# what is known while a pipeline is warming up, and whether it is probabilities
_SIMPLE = {"predict": False, "predict_proba": True, "predict_log_proba": True}
_PROGRESSIVE = {"prequential_predict": False, "prequential_predict_proba": True}


@inherit_documentation
class StreamingPipeline(Explainable, DelegatingVerbs, HasRowPath, SwapMixin, NamedSteps):
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
    warmup : int, default=0
        Number of first rows on which steps are fitted that learn from data but cannot learn on,
        such as :class:`sklearn.preprocessing.OneHotEncoder`. Until they are there the forecast is
        the running mean of y, of labels the most frequent one; then all these rows are learnt, and
        such steps stay as they are. 0 refuses these steps, unless a batch is there to fit them on.

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

    *Transformers without* `partial_fit`. One that learns nothing from data is fitted once, on the
    first rows: it has the tag ``requires_fit=False``, the class attribute
    ``learns_from_data = False``, as :class:`FourierFeatures` has, or is
    :class:`sklearn.preprocessing.PolynomialFeatures`, a random map of
    :mod:`sklearn.kernel_approximation`, or an encoder whose ``categories`` are given. Any other
    would learn from the first row alone and is refused, with three ways out: ``warmup=n``, which
    fits it on the first n rows; ``update="batch"``, which fits it on the first batch; or
    :class:`sklearn.frozen.FrozenEstimator` around a fitted one, which is never changed.
    :class:`sklearn.compose.ColumnTransformer`, :class:`sklearn.pipeline.FeatureUnion` and
    :class:`sklearn.pipeline.Pipeline` learn row by row where their parts do, and for each part the
    same holds. Maps that grow with the stream do not fit in front of learners of fixed width. One
    with `partial_fit` that cannot begin with a row, as IncrementalPCA, begins with the warm-up.

    *Warm-up.* `fit` on fewer rows than `warmup` warns. Rows that the steps cannot learn are refused
    when they come: fresh copies try each batch after some of the rows before it. With a
    ``label_delay`` D the forecasts of the D rows after it are means too, for they were due before
    its last label came. Rows of the warm-up have targets: NaN is refused, and later left to the
    last step.

    *Names.* Frames of pandas and polars keep their columns, by which a
    :class:`sklearn.compose.ColumnTransformer` may choose; later frames are to have the same names
    in the same order. Forecasts are arrays, as everywhere in scikit-learn, without the index.

    *Metadata*, such as ``sample_weight``, are for the last step only. With scikit-learn's metadata
    routing the steps say what they request: `set_fit_request` of the last step counts for `fit`,
    `set_partial_fit_request` for `partial_fit` and `prequential_predict`.

    *Late labels.* Where the last step has a ``label_delay`` D, row t is transformed, to forecast it
    and to teach it, by what the transformers had learnt from the rows up to t - 1 - D (the first D,
    which nobody forecasts, by the very first one, or in running scalers by all rows before them).
    `predict` transforms by all that was learnt, as for the row that comes D rows after the next.
    With ``update="batch"`` a batch is transformed by what was learnt from the batches whose last
    label comes before its first row. For this the scalers of this package keep their latest D
    centres and scales; a transformer of another package is copied before it learns a row or a
    batch, and the copies that the next D rows may need are kept.

    All parameters of the steps are fixed from the first row on; `fit` starts afresh.

    References
    ----------
    .. [1] Dawid 1984.

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

    _parameter_constraints = {
        "steps": [list],
        "update": [StrOptions({"row", "batch"})],
        "warmup": [Interval(Integral, 0, None, closed="left")],
    }
    _structural = ("warmup",)

    def __init__(self, steps: Any, *, update: str = "row", warmup: int = 0) -> None:
        self.steps = steps
        self.update = update
        self.warmup = warmup

    @property
    def n_samples_seen_(self) -> Any:
        """Rounds learnt so far, those of the warm-up included."""
        check_is_fitted(self)
        return self._state["t"]

    @available_if(inner_has("summary"))
    def summary(self) -> str:
        """Say in a paragraph what the last step has learnt.

        Returns
        -------
        text : str
            As the last step says it.
        """
        return self._warm_steps()[-1][1].summary()

    @explained_by(CalendarFeatures.get_feature_names_out)
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Return the names of the features that the last step sees.

        Returns
        -------
        names : ndarray of str
            Names of the transformed features.
        """
        return at_rest(self._warm_steps()[:-1]).get_feature_names_out(input_features)

    @explained_by(SumsOfRows.merge)
    def merge(self, other: Any) -> Self:
        """Learn what another pipeline has learnt from other rows.

        Parameters
        ----------
        other : StreamingPipeline
            Of equal steps; it is left as it is.

        Notes
        -----
        A TypeError says if the order of rows matters to a step: transformers are to learn nothing,
        such as :class:`FourierFeatures` with a whole number as `random_state`, or to be fitted and
        frozen, and the last step has `merge`. A scaler that has frozen, ``freeze_after``, fits to
        a FrozenEstimator of it in the other pipeline, which has then not learnt the rows before.
        """
        if not isinstance(other, StreamingPipeline):
            raise TypeError(f"merge needs another pipeline, got {type(other).__name__}.")
        mine, theirs = self._still_steps("merge"), other._still_steps("merge")
        former, before = self._state, _merged_steps(mine[:-1], theirs[:-1])
        final = copied_step(mine[-1][1]).merge(theirs[-1][1])
        return self._with_final(former, before, final, former["t"] + other._state["t"])

    @explained_by(SumsOfRows.unlearn, DelegatingVerbs.partial_fit)
    def unlearn(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Self:
        """Forget rows that were learnt: the pipeline is one that has never seen them.

        Parameters
        ----------
        **params : dict

        Notes
        -----
        A TypeError says if the order of rows matters to a step, as :meth:`merge` does.
        """
        steps, X = self._still_steps("unlearn"), self._checked(X)
        former, before = self._state, dict(steps[:-1])
        for name, transformer in active(steps[:-1]):
            if isinstance(transformer, RunningScaler):
                transformer._refuse_learnt(X)
            if isinstance(transformer, BackgroundReservoir):
                before[name] = transformer._without(X)
            X = transformer.transform(X)
        final = copied_step(steps[-1][1]).unlearn(X, y, **params)
        return self._with_final(former, list(before.items()), final, former["t"] - len(y))

    def _row_work(self):
        return PipelineWork(self)

    def _still_steps(self, verb):
        """Return the fitted steps, if the order of rows matters to none of them."""
        steps = self._warm_steps()
        for name, step in active(steps[:-1]):
            forgets = verb == "unlearn" and isinstance(step, BackgroundReservoir)
            if learns_from_data(step) and not forgets:
                raise TypeError(
                    f"A pipeline cannot {verb} where the step {name!r} ({type(step).__name__}) "
                    "learns: rows went in as it made them then, so that their order matters. Fit "
                    "it on first rows and freeze it, sklearn.frozen.FrozenEstimator(step); scalers "
                    "of this package freeze by themselves, freeze_after=n."
                )
        name, final = steps[-1]
        if not hasattr(final, verb):
            raise TypeError(
                f"A pipeline cannot {verb} where the last step {name!r} "
                f"({type(final).__name__}) cannot: what it has learnt depends on the order of the "
                "rows. Sums of rows are those of VAWRegressor and ConcatenatedVAWRegressor."
            )
        return steps

    def _with_final(self, former, steps, final, n_rows):
        """Put another last step in place, after so many rows, in one assignment; return self."""
        model = twin(self)
        model.steps_ = [*steps, (self.steps_[-1][0], final)]
        model._state = former | {"t": n_rows}
        self._become(former, model)
        return self

    def _explained(self, X):
        return sums_through(self._warm_steps(), X)

    def _explained_steps(self):
        return self._warm_steps()

    def get_metadata_routing(self) -> Any:
        """Say where metadata go: to the method of the last step that is called.

        Returns
        -------
        routing : MetadataRouter
            What scikit-learn's meta-estimators ask for; see its guide on metadata routing.
        """
        methods = ("fit", "partial_fit", *_SIMPLE, "decision_function", "score")
        router = MetadataRouter(owner=type(self).__name__)
        for name, transformer in active(self.steps[:-1]):
            mapping = MethodMapping().add(caller="fit", callee="fit")
            mapping.add(caller="partial_fit", callee="partial_fit")
            router.add(**{name: transformer}, method_mapping=mapping)
        mapping = MethodMapping()
        for method in methods:
            mapping.add(caller=method, callee=method)
        return router.add(**{self.steps[-1][0]: self.steps[-1][1]}, method_mapping=mapping)

    @available_if(inner_has("prequential_quantiles"))
    @explained_by(DelegatingVerbs.prequential_predict, DelegatingVerbs.predict_quantiles)
    def prequential_quantiles(
        self, X: ArrayLike, y: ArrayLike, alpha: float | ArrayLike = DECILES, **params: Any
    ) -> Array:
        """Learn as `partial_fit` does, and return the quantiles issued on the way.

        Returns
        -------
        issued : ndarray of shape (n_samples[, n_targets], q)
            Each from what was known when the row was due; NaN for the first rows, those of a
            warm-up included.
        """
        return self._advance(X, y, "prequential_quantiles", params | {"alpha": alpha}, False)

    def _routed(self, method, params):
        """Return the metadata that a method of the last step gets; transformers get none."""
        transformers = [name for name, _ in active(self.steps[:-1])]
        return routed(self, method, params, self.steps[-1][0], refused=transformers)

    def _ask(self, method, X, params):
        if self._is_warming_up() and method in _SIMPLE:
            simple = self._simple(X, self._routed(method, params), _SIMPLE[method])
            if method == "predict_log_proba":
                with np.errstate(divide="ignore"):  # of classes that have not come yet
                    return np.log(simple)
            return simple
        return super()._ask(method, X, params)

    def _asked(self, X):
        """Return the last step, and rows as they reach it now."""
        steps, X = self._warm_steps(), self._checked(X)
        for _, transformer in active(steps[:-1]):
            X = transformer.transform(X)
        return steps[-1][1], X

    def _checked(self, X):
        self._check_structure()
        X = container_of(X)
        check_columns(self, X, reset=False)
        return X

    def _is_warming_up(self):
        return self.__sklearn_is_fitted__() and "steps_" not in vars(self)

    def _warm_steps(self):
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # which looks at all tags first
        if self._is_warming_up():
            raise NotFittedError(
                f"This StreamingPipeline is warming up: it has {self._state['t']} of the "
                f"warmup={self.warmup} rows on which its steps are fitted. Until then it forecasts "
                "by the mean of the targets, or the share of each class, and knows nothing else."
            )
        return self.steps_

    def _values(self):
        return [*self._structure().values(), self.update]

    def _structure(self):
        return {"steps": described(self.steps), "warmup": self.warmup}

    def _validate(self):
        self._validate_params()
        check_pairs("steps", self.steps)
        at_rest(self.steps)._validate_steps()
        name, final = self.steps[-1]
        if isinstance(final, type) or not hasattr(final, "partial_fit"):
            raise TypeError(
                f"The last step {name!r} ({final!r}) cannot learn from a stream: it is a class or "
                "has no 'partial_fit'."
            )

    def _check_first_rows(self, n_rows):
        """Refuse to fit what learns once, and never more, on one row; n are there at once."""
        together = self.warmup or self.update == "batch"
        if together and n_rows > 1:
            return
        for name, step in learn_once(self.steps[:-1]):
            kind = type(step).__name__
            raise ValueError(
                f"The step {name!r} ({kind}) learns from data and has no 'partial_fit': it would "
                f"be fitted on {'n_samples=1' if together else 'the first row alone'}. Give "
                "StreamingPipeline(..., warmup=n), to fit it on the first n rows; or "
                "update='batch', to fit it on the first batch, of more than one row; or a step "
                f"that is fitted, sklearn.frozen.FrozenEstimator({kind}(...).fit(rows))."
            )

    def _going_on_from(self, steps, pasts, t):
        """Turn this pipeline, without a warm-up, into one with fitted steps; return it."""
        self._built_with = {"checked": self._values(), "structure": self._structure()}
        self.steps_, self._state = steps, self._started() | {"t": t, "pasts": pasts}
        return self

    def _started(self):
        """Return what is kept of a stream beside the steps, before its first row."""
        return {
            "t": 0,
            "pasts": {},  # what transformers keep for late labels
            "waiting": [],  # batches of the warm-up
            "params": {},  # that came with the first of them
            "targets": None,  # of the warm-up
        }

    def _advance(self, X, y, method, params, restart):
        result = self._swap(restart, X, y, method, params)
        if method == "fit" and self._is_warming_up():
            warnings.warn(
                f"Of warmup={self.warmup} rows 'fit' was given {self.n_samples_seen_}: only the "
                "mean of the targets is known. Give more rows, or a smaller warmup.",
                stacklevel=3,
            )
        return result

    def _learn_given(self, former, X, y, method, params):
        X, y = container_of(X), targets_of(self, y, former is None)
        check_consistent_length(X, y)
        if not len(y):
            raise ValueError("There are no rows to learn: found array with 0 sample(s).")
        check_columns(self, X, reset=former is None)
        asked = {"alpha": params["alpha"]} if method == "prequential_quantiles" else {}
        params = {name: value for name, value in params.items() if name not in asked}
        params = self._routed("fit" if method == "fit" else "partial_fit", params)
        weights = params.pop("sample_weight", None)
        weights = None if weights is None else weights_of(weights, len(y))
        batch = {"X": X, "y": y, "sample_weight": weights}
        if former is None:
            vars(self).pop("steps_", None)
            stream = self._started() | {"params": params}
        else:
            stream = dict(former)
        t, n, delay = stream["t"], len(y), delay_of(self.steps[-1][1])
        stream["t"] += n
        n_simple = max(self.warmup + delay - t, 0) if self.warmup else 0
        if n_simple:
            stream["targets"] = _warm_up.first_targets(self, stream["targets"], y)
        result = None
        if stream["t"] >= self.warmup:
            result = self._learn(stream, batch, t, method, params, asked)
        else:
            _warm_up.check(self, stream, batch)
            stream["waiting"] = [*stream["waiting"], copy.deepcopy(batch)]
        if n_simple and method in _PROGRESSIVE:
            known = np.maximum(np.arange(t, t + n)[:n_simple] - delay, 0)
            classes = None if stream["t"] < self.warmup else getattr(self, "classes_", None)
            simple = self._simple_forecasts(stream, known, _PROGRESSIVE[method], classes)
            later = [] if len(simple) == n else [result[len(simple) - n :]]
            result = np.concatenate([simple, *later])
        elif n_simple and asked:  # nothing is known of the first rows
            nothing = np.full((n, *np.shape(y)[1:], *np.shape(asked["alpha"])), np.nan)
            if result is not None:
                nothing[n_simple:] = result[n_simple - n :] if n_simple < n else []
            result = nothing
        return stream, result

    def _is_sound(self, stream, result=None):
        """Look at what the pipeline itself forecasts by; its steps look at themselves."""
        targets = stream["targets"]
        return targets is None or is_classifier(self) or _is_finite(np.cumsum(targets, axis=0))

    def _learn(self, stream, batch, t, method, params, asked):
        """Let rows flow, from row t on, to the last step; return what its method returns.

        What is `asked` of the method besides is no metadata of its rows.
        """
        starts = "steps_" not in vars(self)
        pieces = [batch]
        if starts:
            n_first = self.warmup - t if self.warmup else len(batch["y"])
            first, rest = part_of(batch, slice(n_first)), part_of(batch, slice(n_first, None))
            pieces = [joined([*stream["waiting"], first]), *([rest] if len(rest["y"]) else [])]
            self._check_first_rows(len(pieces[0]["y"]))
            self.steps_ = [(name, cloned_step(step)) for name, step in self.steps]
            params = stream["params"] | params
        else:
            self.steps_ = [(name, copied_step(step)) for name, step in self.steps_]
        final, stream["pasts"] = self.steps_[-1][1], dict(stream["pasts"])
        fits = self.update == "batch" or self.warmup > 0
        try:
            for piece in pieces:
                way = Way(self.update, delay_of(final), starts and piece is pieces[0], fits)
                piece["X"] = through(self.steps_[:-1], stream["pasts"], piece["X"], piece["y"], way)
            piece = joined(pieces)
            weights = piece["sample_weight"]
            params = params if weights is None else params | {"sample_weight": weights}
            if method == "fit":
                method = "fit" if _is_watched(final) else "partial_fit"
            if starts and is_classifier(final) and method == "partial_fit":
                params = {"classes": np.unique(piece["y"])} | params
            result = getattr(final, method)(piece["X"], piece["y"], **asked, **params)
        except ValueError as error:
            _warm_up.end(self, stream, error)
            raise
        stream["waiting"] = []
        return result

    def _simple(self, X, params, proba=False):
        """Return what is forecast for rows while the pipeline is warming up."""
        if params.keys() - {"ahead"}:
            self._warm_steps()  # says that nothing else is known
        stream, X = self._state, self._checked(X)
        known = np.full(X.shape[0], len(stream["targets"]))
        return self._simple_forecasts(stream, known, proba)

    def _simple_forecasts(self, stream, n_known, proba=False, classes=None):
        """Return means of the first targets, or their most frequent label or its share.

        The classes are by default those named, or those that have come.
        """
        targets = stream["targets"]
        if not is_classifier(self):
            return _warm_up.means(targets, n_known)
        if classes is None:
            classes = np.unique(stream["params"].get("classes", targets))
        return (_warm_up.shares if proba else _warm_up.labels)(targets, n_known, classes)


@explained_by(StreamingPipeline)
def make_streaming_pipeline(*steps: Any, update: str = "row", warmup: int = 0) -> StreamingPipeline:
    """Make a :class:`StreamingPipeline`, its steps named after their classes.

    Parameters
    ----------
    *steps : estimators
        Transformers, and an estimator that learns by `partial_fit`.

    Returns
    -------
    pipeline : StreamingPipeline

    Examples
    --------
    >>> from sklearn_okl import RunningStandardScaler, VAWRegressor, make_streaming_pipeline
    >>> list(make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()).named_steps)
    ['runningstandardscaler', 'vawregressor']
    """
    from sklearn.pipeline import _name_estimators

    return StreamingPipeline(_name_estimators(steps), update=update, warmup=warmup)


def _merged_steps(mine, theirs):
    """Return the transformers of two pipelines that are the same, but for what freezes them."""
    pairs = list(zip(active(mine), (step for _, step in active(theirs)), strict=False))
    both = [[still(step) for _, step in active(steps)] for steps in (mine, theirs)]
    if joblib.hash(both[0]) != joblib.hash(both[1]):
        raise ValueError(
            "The transformers of the pipelines differ. Give both the same fitted ones, in "
            "sklearn.frozen.FrozenEstimator, and the same whole numbers as random_state."
        )
    known = dict(mine)
    for (name, step), other in pairs:
        if isinstance(other, RunningScaler):  # it knows which rows came before it froze
            if isinstance(step, RunningScaler):
                raise ValueError(
                    f"Both pipelines have learnt the rows before their step {name!r} froze. Give "
                    "all but one of them the frozen step, in sklearn.frozen.FrozenEstimator."
                )
            known[name] = other
    return list(known.items())


def _is_watched(final):
    """Tell whether callbacks wait for the `fit` of a last step."""
    while isinstance(final, StreamingPipeline):
        final = final.steps[-1][1]
    return hasattr(final, "_skl_callbacks")
