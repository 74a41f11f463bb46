"""What every estimator of the package is: four public verbs over three private ones.

A subclass says how a state is made, taught and asked::

    _start(n_features, n_targets) -> state     a dict of arrays and scalars (dicts may nest)
    _learn(state, X, y) -> forecasts           changes its state in place, row by row on paper
    _forecast(state, X) -> forecasts           reads only

The shell hands `_learn` a copy of the state, in which only what is committed is shared (see
`_tail.py`), and installs it when all went well (see `_swap.py`). So `_learn` may be interrupted or
may fail anywhere.
"""

from types import MappingProxyType

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from .._documentation import inherit_documentation
from .._linalg import one_blas_thread
from .._tail import TAIL
from .._validation import plain_row, plain_target, validated, write_target_names
from ..kernels import Kernel
from ._answers import asked_quietly, checked_answers, checked_state, told
from ._row_path import NOT_SAVED, HasRowPath, RowEngine, RowWork
from ._state import (
    _copied,
    _parameters,
    are_unchanged,
    as_they_are,
    parameter_values,
    structural_parameters,
    twin,
)
from ._swap import SwapMixin
from ._transformer import OnlineTransformer

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:
        """Nothing: without `set_callbacks` there are no callbacks."""

    def with_callbacks(method):
        """Return the method as it is."""
        return method


_NOTHING = MappingProxyType({})
_PIECE = 4096  # rows that are forecast at once: so that long calls need no more memory for each
_CHUNK = 1024  # rows that `fit` learns between two calls of callbacks


@inherit_documentation
class OnlineEstimator(CallbackSupportMixin, HasRowPath, SwapMixin, BaseEstimator):
    """What regressors and margin classifiers share: validation, structure, the swap of states.

    Notes
    -----
    *Subclasses.* One with parameters of its own names those it takes in its ``__init__`` and hands
    them to this one; those that it does not name keep their defaults.
    """

    # what parameters may be, in scikit-learn's words; checked whenever one has changed
    _parameter_constraints = {}
    # whether `y` may have columns; `_start` then gets their number in `n_targets`
    _multi_output = False
    # whether `X` may hold NaN
    _allow_nan = False
    # whether rows whose target is NaN are forecast, and not learnt
    _allow_nan_targets = False
    # whether it can be the expert of every kernel: all arrays of the state, nested ones too, then
    # have a leading axis of experts
    _learns_banks = False
    # scikit-learn's tag: whether the defaults may score badly on 200 standardised rows, learnt once
    _poor_score = False
    # constructor arguments of the instances that this package's tests make of a class, and those
    # that a family's base adds to all of its members'
    _test_parameters = ({},)
    _shared_test_parameters = {}
    # whether its weights are of things without names, for displays
    _has_nameless_weights = False
    _swaps_state = True  # its verbs never edit its state, so that copies may share it

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._multi_output
        tags.target_tags.single_output = True
        tags.input_tags.allow_nan = self._allow_nan
        return tags

    def _row_work(self):
        return RowWork(self)

    def _row_engine(self, state):
        """Return how rows of a private copy are forecast and learnt one by one."""
        return RowEngine(self, state)

    def _takes_plain_rows(self):
        """Whether a row of numbers needs no more than a look."""
        return type(self)._asked is OnlineEstimator._asked

    def _row_to_ask(self, x):
        """Return a row (1, d) of a row path, as `_forecast` wants it."""
        if self._takes_plain_rows():
            return plain_row(self, x, self._allow_nan)
        return self._asked(np.asarray(x)[None])[1]

    def _row_to_learn(self, x, y):
        """Return a row (1, d) and its target (1,) or (1, q), as `_learn` wants them."""
        if self._takes_plain_rows():
            return plain_row(self, x, self._allow_nan), self._row_target(y)
        return self._validated_rows(np.asarray(x)[None], np.asarray(y)[None], False)

    def _row_target(self, y):
        return plain_target(y, self._answer_shape(1))

    def _told(self, forecasts):
        """Return what `predict` says of forecasts of the private verb."""
        return self._labels(forecasts)

    def _structure(self):
        """Return the parameters fixed by the state, those of nested estimators included."""
        structure = {}
        for name in structural_parameters(type(self)):
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

    def _look_back(self, state, X, y, forecasts):
        """Look at rows that a public call has taught: some learners have a word to say."""

    def _validate(self):
        """Check all parameters, of parts too; subclasses add what constraints cannot say.

        A part is taught by its private verbs, which check nothing.
        """
        self._validate_params()
        for value in parameter_values(self):
            if isinstance(value, OnlineEstimator):
                value._validate()
            elif isinstance(value, OnlineTransformer):
                value._validate_params()

    def _built(self, make):
        """Return what `make(self)` builds from the parameters: once, while they are the same."""
        known = self._parts_so_far()
        if make not in known:
            known[make] = make(self)
        return known[make]

    def _parts_so_far(self):
        """Return what was built from the parameters as they are, to be filled by `_built`.

        It is there from the first row on, so that readers, who work on twins, build nothing twice.
        """
        known = vars(self).get(NOT_SAVED)
        if known is not None and known[0] is None:  # a twin that a call teaches: it keeps them
            return known[1]
        values = parameter_values(self)
        if known is None or not are_unchanged(values, known[0]):
            known = as_they_are(values), {}
            setattr(self, NOT_SAVED, known)
        return known[1]

    def _parts_of(self, checked):
        """Return what was built from the parameters of a call, those that were checked."""
        known = vars(self).get(NOT_SAVED)
        return known[1] if known is not None and known[0] is checked else {}

    def __getstate__(self):
        state = vars(self).copy()  # at once: readers in other threads write what they build
        state.pop(NOT_SAVED, None)
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if self.__sklearn_is_fitted__():
            self._parts_so_far()

    def _as_of_now(self):
        """Return this estimator for a reader, who looks at it more than once.

        Another thread may teach this one meanwhile: then it has another state, and other labels.
        """
        return twin(self)

    def _as_taught(self):
        """Return this estimator with the parameters of the latest call that taught it.

        It is these that fitted attributes speak of, whatever was set since.
        """
        if "_built_with" not in vars(self) or self._is_as_taught():
            return self
        model, checked = twin(self), self._built_with["checked"]
        model.__dict__.update(zip(_parameters(type(self)), checked, strict=True))
        return model

    def _advance(self, X, y, *, restart, validation=_NOTHING, **learn_arguments):
        """Learn rows and return their forecasts; on any failure leave `self` untouched."""
        learn = self._learn_watched if restart and hasattr(self, "_skl_callbacks") else _learn_all
        return self._swap(restart, X, y, learn, validation, learn_arguments)

    def _learn_given(self, former, X, y, learn, validation, learn_arguments):
        if former is None:
            write_target_names(self, y)
        X, y = self._validated_rows(X, y, former is None, **validation)
        n_targets = None if y.ndim == 1 else y.shape[1]
        if former is None:
            self._n_targets = n_targets
            state = checked_state(self._start(X.shape[1], n_targets), self, "_start")
        elif n_targets == self._n_targets:
            state = _copied(former)
        else:
            before = "(n,)" if self._n_targets is None else f"(n, {self._n_targets})"
            raise ValueError(
                f"y has shape {y.shape}, but this model was started with targets of shape "
                f"{before}. Give y the same shape in every call, or call 'fit' to start afresh."
            )
        checked = self._built_with["checked"]
        parts = self._parts_of(checked)
        setattr(self, NOT_SAVED, (None, parts))
        # Overflow is not warned of but refused, with a sentence.
        with one_blas_thread, np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            forecasts = learn(self, state, X, y, learn_arguments)
            self._look_back(state, X[: len(forecasts)], y[: len(forecasts)], forecasts)
            self._close(state)
        setattr(self, NOT_SAVED, (checked, parts))
        return state, forecasts

    @with_callbacks
    def _learn_watched(self, model, state, X, y, learn_arguments):
        """Learn chunk by chunk, each a task of callbacks, which may stop us after it."""
        size = _CHUNK if all(value is None for value in learn_arguments.values()) else len(X)
        # the last one is long enough to be learnt in blocks, as it would be in one call
        chunks = list(gen_batches(len(X), size, min_batch_size=TAIL + 1))
        root = self._init_callback_context(max_subtasks=len(chunks))
        seen = {
            "estimator": self,
            "metadata": learn_arguments,
            "reconstruction_attributes": lambda: (
                vars(model) | {"_state": _copied(state), NOT_SAVED: None}
            ),
        }
        given = model._labels(y)
        root.call_on_fit_task_begin(X=X, y=given, **seen)
        forecasts = []
        for rows in chunks:
            seen |= {"X": X[rows], "y": given[rows]}
            task = root.subcontext("rows").call_on_fit_task_begin(**seen)
            forecasts.append(_learn_all(model, state, X[rows], y[rows], learn_arguments))
            if task.call_on_fit_task_end(**seen):
                break
        root.call_on_fit_task_end(**seen | {"X": X, "y": given})
        return np.concatenate(forecasts)

    def _labels(self, values):
        """Return what the private verbs' targets and forecasts are to the user."""
        return values

    def _answer_shape(self, n):
        """Return the shape of what the private verbs forecast for n rows: that of their targets."""
        return (n,) if self._n_targets is None else (n, self._n_targets)

    def _answered(self, state, X):
        """Return the forecasts of rows, as the private verb makes them."""
        with one_blas_thread, asked_quietly():
            if len(X) <= _PIECE:
                return told(self._checked_forecasts(state, X))
            pieces = [
                told(self._checked_forecasts(state, X[rows]))
                for rows in gen_batches(len(X), _PIECE)
            ]
        return np.concatenate(pieces)

    def _checked_forecasts(self, state, X, **arguments):
        forecasts = self._forecast(state, X, **arguments)
        return checked_answers(forecasts, self._answer_shape(len(X)), self, "_forecast")

    def _validated_rows(self, X, y, restart):
        """Return rows and targets as the verbs want them; write what they say of the input."""
        y = y.toarray() if sparse.issparse(y) else y
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


def _learn_all(model, state, X, y, learn_arguments):
    forecasts = model._learn(state, X, y, **learn_arguments)
    return checked_answers(forecasts, model._answer_shape(len(X)), model, "_learn")


def _aligned(array):
    """Copy an array that came over a network at an odd address: NumPy would sum it differently."""
    return array if array.flags.aligned else array.copy()
