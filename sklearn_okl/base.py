"""The shell that every estimator of the package wears: four public verbs over three private ones.

A subclass says how a state is made, taught and asked::

    _start(n_features, n_targets) -> state     a dict of arrays and scalars (dicts may nest)
    _learn(state, X, y) -> forecasts           changes its state in place, row by row on paper
    _forecast(state, X) -> forecasts           reads only

The shell hands `_learn` a copy of the state, in which only what is committed is shared (see
`_tail.py`), and installs it in one assignment when all went well. So `_learn` may be interrupted or
may fail anywhere, and readers in other threads see the state before the call or the state after it,
nothing between.
"""

import copy
import math
from functools import cache
from types import MappingProxyType

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import gen_batches
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from ._linalg import one_blas_thread
from ._tail import Committed, Shared, SharedInverse
from ._validation import plain_labels, refuse_arguments, refuse_second_writer, validated
from .kernels import Kernel

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:
        """Nothing: without `set_callbacks` there are no callbacks."""

    def with_callbacks(method):
        """Return the method as it is."""
        return method


__all__ = ["OnlineClassifier", "OnlineRegressor"]

_NOTHING = MappingProxyType({})
_SCALARS = {int, float, str, bool, type(None)}
_FIXED = {*_SCALARS, tuple}  # what copies of a state share: nothing can change it
NOT_SAVED = "_parts_built"  # attribute that holds what is built anew from the parameters
_PLAIN = {list, tuple, dict, np.ndarray}
_SMALL = 4096  # numbers of an array that are copied sooner than summed by a call of their own
_CHUNK = 1024  # rows that `fit` learns between two calls of callbacks


class OnlineEstimator(CallbackSupportMixin, BaseEstimator):
    """What regressors and margin classifiers share: validation, structure, the swap of states."""

    _structural = ()  # names of parameters that shape the state: fixed from the first row on
    _multi_output = False
    _allow_nan = False
    _learns_banks = False  # whether the private verbs carry a leading axis of experts
    # scikit-learn's tag: whether the defaults may score badly on 200 standardised rows, learnt once
    _poor_score = False

    def __sklearn_is_fitted__(self):
        return "_state" in vars(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._multi_output
        tags.target_tags.single_output = True
        tags.input_tags.allow_nan = self._allow_nan
        return tags

    @property
    def n_samples_seen_(self):
        """Int : rounds learnt so far."""
        return self._fitted_state("n_samples_seen_")["t"]

    def _fitted_state(self, name):
        """Return the state, or fail as a missing attribute `name` does."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"{type(self).__name__} has no attribute {name!r} before it has seen a row. "
                "Call 'fit' or 'partial_fit' first."
            )
        return self._state

    def _structure(self):
        """Return the parameters fixed by the state, those of nested estimators included."""
        structure = {}
        for name in self._structural:
            value = getattr(self, name)
            if isinstance(value, OnlineEstimator):
                value = (type(value).__name__, value._structure())
            elif callable(value) and not isinstance(value, Kernel):
                # a copy of a callable object does not equal it, its name does
                value = getattr(value, "__qualname__", type(value).__name__)
            structure[name] = value
        return structure

    def _takes_rows(self, n):
        """Whether `_learn` takes n rows of a whole bank one by one, sharing large arrays."""
        return False

    def _open(self, state):
        """Let all arrays of a state be its own, to be written in place."""

    def _close(self, state, grows=False):
        """Let large arrays of a state be shared by its copies, where the learner knows how."""

    def _check_structure(self):
        now = self._structure()
        changed = [name for name in now if not _same(now[name], self._structure_at_start[name])]
        if changed:
            raise ValueError(
                f"The parameters {changed} of {type(self).__name__} cannot change in mid-stream: "
                "the state was built with other values. Call 'fit' to start afresh, or set the "
                "old values again."
            )

    def _validate(self):
        """Check all parameters; subclasses add what constraints cannot say."""
        self._validate_params()

    def _validate_once(self):
        """Check the parameters unless they are those checked before; return them."""
        values = parameter_values(self)
        if self._are_checked(values):
            return self._checked
        self._validate()
        return as_they_are(values)

    def _built(self, make):
        """Return what `make(self)` builds from the parameters: once, while they are the same."""
        known, values = vars(self).get(NOT_SAVED), parameter_values(self)
        if known is None or not are_unchanged(values, known[0]):
            known = as_they_are(values), {}
            setattr(self, NOT_SAVED, known)
        if make not in known[1]:
            known[1][make] = make(self)
        return known[1][make]

    def __getstate__(self):
        state = super().__getstate__()
        state.pop(NOT_SAVED, None)
        return state

    def _as_taught(self):
        """Return this estimator with the parameters of the latest call that taught it.

        It is these that fitted attributes speak of, whatever was set since.
        """
        if "_checked" not in vars(self) or self._are_checked(parameter_values(self)):
            return self
        model = twin(self)
        model.__dict__.update(zip(_parameters(type(self)), self._checked, strict=True))
        return model

    def _are_checked(self, values):
        """Tell whether these are the parameters of the latest call."""
        return are_unchanged(values, vars(self).get("_checked", ()))

    def _advance(self, X, y, *, restart, validation=_NOTHING, **learn_arguments):
        """Learn rows and return their forecasts; on any failure leave `self` untouched."""
        # Checks and parts write on it, as n_features_in_; a rejected first batch must not.
        model = twin(self)
        checked = model._validate_once()
        learn = self._learn_watched if restart and hasattr(self, "_skl_callbacks") else _learn_all
        restart = restart or not self.__sklearn_is_fitted__()
        former = vars(self).get("_state")
        X, y = model._validated_rows(X, y, restart, **validation)
        n_targets = None if y.ndim == 1 else y.shape[1]
        if restart:
            model.__dict__.pop("_state", None)  # so that a learner that has one goes on from it
            model._structure_at_start = copy.deepcopy(self._structure())
            model._n_targets = n_targets
            state = model._start(X.shape[1], n_targets)
        else:
            self._check_structure()
            if n_targets != self._n_targets:
                before = "(n,)" if self._n_targets is None else f"(n, {self._n_targets})"
                raise ValueError(
                    f"y has shape {y.shape}, but this model was started with targets of shape "
                    f"{before}. Give y the same shape in every call, or call 'fit' to start afresh."
                )
            state = _copied(former)
        try:
            # Overflow is not warned of but refused, below, with a sentence.
            with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):
                forecasts = learn(model, state, X, y, learn_arguments)
                model._close(state)
                sound = _is_finite(forecasts) and _is_finite(state)
        except np.linalg.LinAlgError:
            sound = False
        if not sound:
            raise ValueError(
                "Numbers overflowed while these rows were learnt; the model is as it was before "
                "the call. Scale the features and the targets to moderate size."
            )
        model._state, model._checked = state, checked
        refuse_second_writer(self, former is vars(self).get("_state"))
        self.__dict__ = model.__dict__  # the one assignment
        return forecasts

    @with_callbacks
    def _learn_watched(self, model, state, X, y, learn_arguments):
        """Learn chunk by chunk, each a task of callbacks, which may stop us after it."""
        size = _CHUNK if all(value is None for value in learn_arguments.values()) else len(X)
        chunks = list(gen_batches(len(X), size))
        root = self._init_callback_context(max_subtasks=len(chunks))
        seen = {
            "estimator": self,
            "metadata": learn_arguments,
            "reconstruction_attributes": lambda: vars(model) | {"_state": _copied(state)},
        }
        given = model._labels(y)
        root.call_on_fit_task_begin(X=X, y=given, **seen)
        forecasts = []
        for rows in chunks:
            seen |= {"X": X[rows], "y": given[rows]}
            task = root.subcontext("rows").call_on_fit_task_begin(**seen)
            forecasts.append(model._learn(state, X[rows], y[rows], **learn_arguments))
            if task.call_on_fit_task_end(**seen):
                break
        root.call_on_fit_task_end(**seen | {"X": X, "y": given})
        return np.concatenate(forecasts)

    def _labels(self, values):
        """Return what the private verbs' targets and forecasts are to the user."""
        return values

    def _validated_rows(self, X, y, restart):
        """Return rows and targets as the verbs want them; write what they say of the input."""
        X, y = validated(
            self,
            X,
            y,
            reset=restart,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan" if self._allow_nan else True,
            multi_output=self._multi_output,
            y_numeric=True,
        )
        return _aligned(X), _aligned(np.ascontiguousarray(y, dtype=np.float64))

    def _asked(self, X):
        """Return the state and validated rows to forecast for."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # which looks at all tags first
        if not self._are_checked(parameter_values(self)):
            self._check_structure()
        state = self._state  # read once: another thread may install a new one
        X = validated(
            self,
            X,
            reset=False,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan" if self._allow_nan else True,
        )
        return state, _aligned(X)


class OnlineRegressor(RegressorMixin, OnlineEstimator):
    """Base of all regressors: rows are rounds, in order, and the cut into calls is invisible.

    A regressor of your own says in three private verbs how its state is made, taught and asked:
    ``_start(n_features, n_targets)``, ``_learn(state, X, y)`` and ``_forecast(state, X)``. It gets
    validation, safety against bad rows and interrupts, resuming and the public verbs from here.

    See Also
    --------
    OnlineClassifier : The same for two classes.
    sklearn_okl.evaluation.check_online_estimator : The laws that it is to keep.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self._poor_score
        return tags

    def fit(self, X, y, **params):
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order in which they arrived.
        y : array-like of shape (n_samples,)
            Targets.
        **params : dict
            None are taken: any is refused, `sample_weight` too.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        refuse_arguments(self, "fit", params)
        self._advance(X, y, restart=True)
        return self

    def partial_fit(self, X, y, **params):
        """Learn the next rounds; the first call starts the model.

        Any way of cutting a stream into calls gives the same model. A call that fails or is
        interrupted leaves the model as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : array-like of shape (n_samples,)
            Their targets.
        **params : dict
            None are taken: any is refused, `sample_weight` too.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        refuse_arguments(self, "partial_fit", params)
        self._advance(X, y, restart=False)
        return self

    def prequential_predict(self, X, y, **params):
        """Learn as `partial_fit` does, and return the forecasts made on the way.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : array-like of shape (n_samples,)
            Their targets.
        **params : dict
            None are taken: any is refused, `sample_weight` too.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The forecast of each row made before its target was seen: what a loop of `predict`
            and `partial_fit` over single rows would give, much faster.
        """
        refuse_arguments(self, "prequential_predict", params)
        return self._advance(X, y, restart=False)

    def predict(self, X, **params):
        """Forecast each row as if it were the next one; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            None are taken: any is refused.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Forecasts.
        """
        refuse_arguments(self, "predict", params)
        state, X = self._asked(X)
        with one_blas_thread:
            return self._forecast(state, X)


def _has_probabilities(estimator):
    return getattr(estimator, "loss", None) == "log_loss"


class OnlineClassifier(ClassifierMixin, OnlineEstimator):
    """Base of all margin classifiers: two classes, -1 and +1 to the private verbs.

    The private verbs, those of :class:`OnlineRegressor`, forecast decision values; a positive one
    means the second of the sorted classes.

    See Also
    --------
    OnlineRegressor : The same for numbers.
    sklearn_okl.evaluation.check_online_estimator : The laws that it is to keep.
    """

    __metadata_request__partial_fit = {"classes": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = self._poor_score
        return tags

    def fit(self, X, y, **params):
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order in which they arrived.
        y : array-like of shape (n_samples,)
            Labels of two kinds: numbers, strings or booleans.
        **params : dict
            None are taken: any is refused, `sample_weight` too.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        refuse_arguments(self, "fit", params)
        self._advance(X, y, restart=True)
        return self

    def partial_fit(self, X, y, classes=None, **params):
        """Learn the next rounds; the first call starts the model.

        Any way of cutting a stream into calls gives the same model. A call that fails or is
        interrupted leaves the model as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (2,), default=None
            The two labels. Needed in the first call where `y` does not hold both; later it may be
            left out.
        **params : dict
            None are taken: any is refused, `sample_weight` too.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        refuse_arguments(self, "partial_fit", params)
        self._advance(X, y, restart=False, validation={"classes": classes})
        return self

    def prequential_predict(self, X, y, classes=None, **params):
        """Learn as `partial_fit` does, and return the labels forecast on the way.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (2,), default=None
            The two labels, as in `partial_fit`.
        **params : dict
            None are taken: any is refused, `sample_weight` too.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The label forecast for each row before its own was seen: what a loop of `predict` and
            `partial_fit` over single rows would give, much faster.
        """
        refuse_arguments(self, "prequential_predict", params)
        values = self._advance(X, y, restart=False, validation={"classes": classes})
        return self._labels(values)

    def decision_function(self, X, **params):
        """Return the decision value of each row, as if it were the next one; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            None are taken: any is refused.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            Positive for ``classes_[1]``.
        """
        refuse_arguments(self, "decision_function", params)
        state, X = self._asked(X)
        with one_blas_thread:
            return self._forecast(state, X)

    def predict(self, X, **params):
        """Forecast the label of each row as if it were the next one; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            None are taken: any is refused.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        refuse_arguments(self, "predict", params)
        return self._labels(self.decision_function(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """Return the probabilities that the logistic loss reads into the decision values.

        Only there with ``loss="log_loss"``, whose minimiser is the log-odds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        values = self.decision_function(X)
        return np.column_stack([expit(-values), expit(values)])

    def _labels(self, values):
        return self.classes_[(values > 0.0).astype(np.intp)]

    def _validated_rows(self, X, y, restart, classes=None):
        X, y = validated(self, X, plain_labels(y), reset=restart, dtype=np.float64, order="C")
        check_classification_targets(y)
        if restart:
            self.classes_ = self._two_classes(y if classes is None else classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={classes!r} are not the classes of the first call, {self.classes_}. "
                "Leave them out, or call 'fit' to start afresh."
            )
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y holds labels {unknown} besides the classes {self.classes_} of this model. "
                "Only binary classification is supported: wrap the model in "
                "sklearn.multiclass.OneVsRestClassifier for more classes."
            )
        return _aligned(X), np.where(y == self.classes_[1], 1.0, -1.0)

    def _two_classes(self, labels):
        classes = np.unique(labels)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(labels)}. Wrap the model in "
                "sklearn.multiclass.OneVsRestClassifier for more classes."
            )
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes; only one class, {classes}, is in the "
                "labels. Name both in 'classes' in the first call of 'partial_fit'."
            )
        return classes


@cache
def _parameters(kind):
    """Return the names of the parameters of a class; scikit-learn looks at its source each time."""
    return tuple(kind._get_param_names())


def parameter_values(estimator):
    """Return the values of the parameters of an estimator, in their order."""
    return [getattr(estimator, name) for name in _parameters(type(estimator))]


def as_they_are(values):
    """Return parameters to compare others with: those that can be edited in place are copied."""
    return [copy.deepcopy(value) if type(value) in _PLAIN else value for value in values]


def are_unchanged(values, known):
    """Tell whether parameters are those known, as far as a look can tell: estimators may differ."""
    if len(values) != len(known):
        return False
    for value, before in zip(values, known, strict=True):
        kind = type(value)
        if kind in _PLAIN:
            if type(before) is not kind or not _same(value, before):
                return False
        elif value is not before or not (kind in _SCALARS or isinstance(value, Kernel)):
            return False
    return True


def twin(estimator):
    """Return an estimator of the same attributes: what is set on the one is not on the other."""
    other = object.__new__(type(estimator))
    other.__dict__.update(vars(estimator))
    return other


def _learn_all(model, state, X, y, learn_arguments):
    return model._learn(state, X, y, **learn_arguments)


def _aligned(array):
    """Copy an array that came over a network at an odd address: NumPy would sum it differently."""
    return array if array.flags.aligned else array.copy()


def _copied(state):
    """Copy a state: arrays, scalars, generators and estimators in nested dicts and lists."""
    kind = type(state)
    if kind is np.ndarray:
        return state.copy()
    if kind is dict:  # there are hundreds of scalars, and a call takes longer than a look
        return {
            name: value if type(value) in _FIXED else _copied(value)
            for name, value in state.items()
        }
    if kind in _FIXED:
        return state
    if kind is list:
        return [_copied(value) for value in state]
    if kind is Shared:
        return Shared(
            (name, value if isinstance(value, np.ndarray) else _copied(value))
            for name, value in state.items()
        )
    if isinstance(state, np.ndarray):  # such as one mapped from a file
        return state.copy()
    if isinstance(state, OnlineEstimator):
        return twin(state)  # its own state is swapped by its verbs, never edited
    if isinstance(state, np.random.RandomState) or hasattr(state, "partial_fit"):
        return copy.deepcopy(state)
    return state  # a scalar or a string, which nothing can change in place


def _is_finite(state):
    """Tell whether all floating-point numbers in the arrays of a state are finite."""
    small = []
    total = _sum(state, small)
    if small:  # one sum: any nan or inf survives it
        total += float(np.add.reduce(np.concatenate(small)))
    return math.isfinite(total)


def _sum(state, small):
    """Return the sum of the large arrays of a state, and put the small ones into a list."""
    kind = type(state)
    if kind is np.ndarray or isinstance(state, np.ndarray):
        if state.dtype.kind != "f":
            return 0.0
        if state.size <= _SMALL:
            small.append(state.ravel())
            return 0.0
        return float(np.add.reduce(state, axis=None))
    if kind is dict:
        return sum([_sum(v, small) for v in state.values() if type(v) not in _FIXED])
    if kind is list:
        return sum([_sum(value, small) for value in state])
    if kind is Shared:  # its arrays were asked when they were made
        return sum([_sum(v, small) for v in state.values() if not isinstance(v, np.ndarray)])
    if kind is Committed or kind is SharedInverse:
        return 0.0 if state.is_finite else math.nan
    return 0.0


def _same(a, b):
    """Compare parameter values, arrays inside lists and dicts included."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    return (type(a) is type(b) and a == b) or (np.isscalar(a) and np.isscalar(b) and a == b)


def described(value):
    """Replace estimators, at any depth, by their types and parameters, which can be compared."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if hasattr(value, "get_params") and not isinstance(value, type):
        # scikit-learn's own looks at the source of the class each time
        plain = getattr(kind, "get_params", None) is BaseEstimator.get_params
        names = _parameters(kind) if plain else ()
        params = {name: getattr(value, name) for name in names}
        return kind.__name__, described(params if plain else value.get_params(deep=False))
    if isinstance(value, dict):
        return {name: described(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(part) for part in value]
    if kind.__eq__ is object.__eq__ and copy.deepcopy(value) is not value:
        return kind.__name__  # e.g. a random generator: not even equal to its own copy
    return value
