"""The shell of transformers that learn on the way: the public verbs, and the swap of states."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._documentation import explained_by, inherit_documentation
from .._types import Array, ArrayLike, Self
from .._validation import validated
from ._answers import checked_answers, checked_state
from ._state import _copied, _is_finite
from ._swap import SwapMixin


@inherit_documentation
class OnlineTransformer(TransformerMixin, SwapMixin, BaseEstimator):
    """Base of transformers that see each row by what the rows before it have shown.

    A subclass says in three private verbs how its state, a dict of arrays and scalars, is made,
    taught and asked::

        _begin(X, y) -> state                  from the first rows, not yet learnt
        _flow(state, X, y, delay) -> Z         learns rows, and returns what each of them was
                                               before it, by what was known `delay` rows earlier
        _ask(state, X) -> Z                    what rows are now; reads only

    Rows come as validated float64, targets as float64, or None where `_needs_targets` is False.
    Rows that are no numbers are what `_validated` and `_read` of the subclass make of them.
    `_structural` names its parameters, beside its bases', that cannot change in mid-stream. From
    here it gets the public verbs, a swap of states in one assignment, so that a call that fails
    leaves it as it was, and ``n_samples_seen_``, the state's entry "t". Rows are refused that would
    leave infinity in what is returned, or in an array of the state; so they are that leave NaN, but
    where `_allow_nan` is True. A :class:`~sklearn_okl.StreamingPipeline` hands it whole batches.

    See Also
    --------
    sklearn_okl.StreamingPipeline : Where rows flow through transformers to an estimator.

    Notes
    -----
    `delay` is 0, but in a pipeline whose last step has a `label_delay`: that is it then, in every
    call, and a row is transformed by what was known so many rows before it. Rows 0 to `delay` come
    before the first label, and none of them is forecast: any rows before them will do.

    Examples
    --------
    Columns divided by the largest size so far. The state keeps what is known now, and what was
    known before each of the latest `delay` rows:

    >>> import numpy as np
    >>> from sklearn.base import OneToOneFeatureMixin
    >>> from sklearn_okl.base import OnlineTransformer
    >>> class RunningMaximum(OneToOneFeatureMixin, OnlineTransformer):
    ...     def _begin(self, X, y):
    ...         return {"t": 0, "largest": np.maximum(np.abs(X[:1]), 1e-9)}
    ...
    ...     def _flow(self, state, X, y, delay):
    ...         past = state["largest"] if state["t"] else state["largest"].repeat(delay + 1, 0)
    ...         sizes = np.maximum.accumulate(np.vstack([past, np.abs(X)]))
    ...         state.update(t=state["t"] + len(X), largest=sizes[len(X) :])
    ...         return X / sizes[: len(X)]
    ...
    ...     def _ask(self, state, X):
    ...         return X / state["largest"][-1]
    >>> RunningMaximum().prequential_transform([[2.0], [-4.0], [1.0]])
    array([[ 1.  ],
           [-2.  ],
           [ 0.25]])
    """

    _parameter_constraints = {}
    _needs_targets = False
    _allow_nan = False  # whether X may hold NaN
    _column_by_column = False  # whether each column of `transform` is one of X, by itself

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self._needs_targets
        tags.input_tags.allow_nan = self._allow_nan
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order in which they arrived.
        y : array-like of shape (n_samples,), default=None
            Targets, for transformers that learn them; others ignore them.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._advance(X, y, restart=True)
        return self

    @explained_by(fit)
    def partial_fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn the next rows; the first call starts the transformer.

        Any way of cutting a stream into calls gives the same transformer. A call that fails leaves
        it as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        """
        self._advance(X, y, restart=False)
        return self

    @explained_by(partial_fit)
    def prequential_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Array:
        """Learn as `partial_fit` does, and return each row as it was before it was learnt.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features_new)
            What a loop of `transform` and `partial_fit` over single rows would give, much faster;
            the very first row of the stream, before which nothing is known, by itself.
        """
        return self._prequential_transform(X, y, 0)

    def _prequential_transform(self, X, y, delay):
        """Do so by what was known `delay` rows earlier, the same number in every call."""
        Z = self._advance(X, y, restart=False, delay=delay)
        return _wrap_data_with_container("transform", Z, X, self)

    def transform(self, X: ArrayLike) -> Array:
        """Transform rows by what is known now, each as if it were the next; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features_new)
            Transformed rows.
        """
        rows, dtype = self._asked(X)
        Z = checked_answers(self._ask(self._state, rows), (_num_samples(X), None), self, "_ask")
        return in_type(Z, dtype)

    def _asked(self, X):
        """Return validated rows, and the type that they had."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # which looks at all tags first
        self._check_structure()
        X, _ = self._validated(X, None, reset=False)
        return self._read(X)

    def _read(self, X):
        """Return validated rows as the private verbs take them, and the type of what they give."""
        return X.astype(np.float64, copy=False), X.dtype

    def _validated(self, X, y, reset):
        """Return rows, and targets or None; write what they say of the input."""
        given = () if y is None else (y,)
        options = {"y_numeric": True, "multi_output": True} if given else {}
        found = validated(
            self,
            X,
            *given,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan" if self._allow_nan else True,
            **options,
        )
        return (found[0], found[1].astype(np.float64, copy=False)) if given else (found, None)

    def _advance(self, X, y, restart, delay=0):
        Z, dtype = self._swap(restart, X, y, delay)
        return in_type(Z, dtype)

    def _learn_given(self, former, X, y, delay):
        if self._needs_targets and y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: it "
                "learns the targets."
            )
        found, y = self._validated(X, y if self._needs_targets else None, reset=former is None)
        rows, dtype = self._read(found)
        if former is None:
            state = checked_state(self._begin(rows, y), self, "_begin")
        else:
            state = _copied(former)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = self._flow(state, rows, y, delay)
        return state, (checked_answers(Z, (_num_samples(X), None), self, "_flow"), dtype)

    def _is_sound(self, state, answers=(None, None)):
        Z, _ = answers
        return _is_finite([Z, state], self._allow_nan)


def in_type(Z, dtype):
    """Return rows in the type of those that came, whose largest number may be smaller."""
    if Z.dtype == dtype:
        return Z
    limits = np.finfo(dtype)
    return np.clip(Z, limits.min, limits.max).astype(dtype)
