"""A bound row path: rows one by one on one private copy of a model, handed back when it closes."""

from __future__ import annotations

import math
from contextlib import ExitStack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._documentation import explained_by
from .._linalg import one_blas_thread
from .._types import Any, Self
from .._validation import refuse_no_targets
from ._answers import checked_answers
from ._state import _copied, _is_finite, named, nameless, twin
from ._swap import _OVERFLOWED

NOT_SAVED = "_parts_built"  # attribute that holds what is built anew from the parameters


class RowPath:
    """Rows one by one, without the checks of a call; made by the method `rows` of a model.

    Inside of ``with model.rows() as row:`` the work goes on on one private copy of the model, and
    at the end the model takes it over, in one assignment. Until then the model forecasts, and is
    read, as it was when the path was opened.

    Parameters
    ----------
    model : estimator
        A fitted one, which nobody else teaches meanwhile.

    See Also
    --------
    OnlineRegressor : Its `partial_fit` and `predict` do the same for a row in a call of its own.

    Notes
    -----
    *What is skipped.* Parameters are checked, and names of columns known, when the path is opened;
    then a row is looked at for its shape and for finite numbers only. Rows are plain arrays: no
    frames, no ``sample_weight``, no callbacks. The state is neither copied with each row nor looked
    through for finiteness: that is done at the end, and in each row of its forecast. BLAS is
    limited to one thread, and NumPy's warnings of overflow are off, for all that is inside of the
    ``with``, which is to be entered and left by the same thread.

    *Failures.* A row that is refused by the look teaches nothing, and one can go on. An exception
    that leaves the ``with`` leaves the model as it was when the path was opened, or at the last
    :meth:`keep`. So does a row that failed halfway, even where the exception was caught: the copy
    is of no use any more.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import VAWRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = X @ [1.0, -2.0, 0.5]
    >>> model = VAWRegressor().partial_fit(X[:1], y[:1])
    >>> with model.rows() as row:
    ...     for x, target in zip(X[1:], y[1:]):
    ...         forecast = row.predict(x)
    ...         forecast = row.learn(x, target)  # the same, and the row is learnt
    >>> model.n_samples_seen_
    200
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._work = self._limits = None

    def __enter__(self) -> Self:
        if self._work is not None:
            raise RuntimeError("This row path is open already: make another one with 'rows'.")
        model = self._model
        check_is_fitted(model)
        self._former = model._state
        with ExitStack() as limits:
            limits.enter_context(one_blas_thread)
            limits.enter_context(np.errstate(divide="ignore", over="ignore", invalid="ignore"))
            self._work = model._row_work()
            self._limits = limits.pop_all()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            if kind is None:
                self._hand_over(self._work.result(last=True))
        finally:
            self._work = None
            self._limits.close()

    def predict(self, x: Any) -> Any:
        """Forecast a row as if it were the next one; changes nothing.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            The row, of numbers.

        Returns
        -------
        y_pred : float, label, or ndarray of shape (n_targets,)
            What `predict` of the model would say, had it learnt the rows of this path.
        """
        return self._at_work().ask(x)

    @explained_by(predict)
    def learn(self, x: Any, y: Any) -> Any:
        """Learn the next row, and return the forecast that was made of it before.

        After `predict` of the same row, what that has computed is not computed again where the
        model knows how, as :class:`~sklearn_okl.VAWRegressor` does.

        Parameters
        ----------
        y : float, label, or array-like of shape (n_targets,)
            Its target.

        Returns
        -------
        y_pred : float, label, or ndarray of shape (n_targets,)
            What `prequential_predict` of the model would return.
        """
        return self._at_work().learn(x, y)

    def keep(self) -> None:
        """Hand to the model what was learnt so far, and go on.

        This costs a copy of the state. An exception later leaves the model as it is now.
        """
        self._hand_over(self._at_work().result())

    def _at_work(self):
        if self._work is None:
            raise RuntimeError("This row path is closed: rows go in inside of its 'with'.")
        return self._work

    def _hand_over(self, learnt):
        self._model._become(self._former, learnt)
        self._former = learnt._state


class HasRowPath:
    """The verb that opens a path; a subclass says in `_row_work` what works on it, a `Work`."""

    def rows(self) -> RowPath:
        """Open a path for rows that come one by one: ``with model.rows() as row:``.

        What a call checks and copies is checked and copied once, so that a row costs a part of what
        it costs in a call of its own, and the numbers are the same.

        Returns
        -------
        row : RowPath
            Its ``row.predict(x)`` forecasts one row, an array of shape (n_features,), and
            ``row.learn(x, y)`` learns it. What was learnt is handed back when the ``with`` ends; an
            exception inside leaves the model as it was. The model has learnt a row before.
        """
        return RowPath(self)


class Work:
    """A private copy at work: a row that fails halfway ends it.

    A subclass says `_ask(x)`, `_read(x, y)`, which returns what `_learn` takes and changes nothing,
    `_learn(*read)`, and `_result(last)`, a model to take over, which is the copy itself in the end.
    """

    is_whole = True

    def ask(self, x):
        """Return the forecast of a row."""
        self._refuse_pieces()
        return self._ask(x)

    def learn(self, x, y):
        """Learn a row, and return its forecast."""
        self._refuse_pieces()
        read = self._read(x, y)
        self.is_whole = False
        try:
            answer = self._learn(*read)
        except (np.linalg.LinAlgError, OverflowError) as error:
            raise ValueError(_OVERFLOWED) from error
        self.is_whole = True
        return answer

    def result(self, last=False):
        """Return a model of all that was learnt, for another one to become."""
        self._refuse_pieces()
        return self._result(last)

    def _refuse_pieces(self):
        if not self.is_whole:
            raise ValueError(
                "A row of this path failed while it was learnt: nothing is handed back, and the "
                "model is as it was when the path was opened or 'keep' was called. Open another."
            )


class RowWork(Work):
    """The private copy of an estimator of ours: its verbs, on rows that were looked at."""

    def __init__(self, model):
        # one that only looks at plain rows does not miss their names
        self.model, self.names = (
            (twin(model), None) if model._takes_plain_rows() else nameless(model)
        )
        self.model._built_with = self.model._checked_parameters(False)
        self.checked = self.model._built_with["checked"]
        self.parts = self.model._parts_of(self.checked)
        setattr(self.model, NOT_SAVED, (None, self.parts))
        # that of the model, which its guards go back to, stays in `_state` until the end
        self.state = _copied(model._state)
        self.engine = self.model._row_engine(self.state)

    def _ask(self, x):
        return self._said(self.engine.ask(self.model._row_to_ask(x)))

    def _read(self, x, y):
        refuse_no_targets(self.model, y)
        return self.model._row_to_learn(x, y)

    def _learn(self, X, y):
        forecasts = self.engine.learn(X, y)
        if not math.isfinite(forecasts if type(forecasts) is float else forecasts.sum()):
            raise OverflowError
        return self._said(forecasts)

    def _said(self, forecasts):
        return forecasts if type(forecasts) is float else self.model._told(forecasts)[0]

    def _result(self, last):
        self.engine.settle()
        if not _is_finite(self.state):
            raise ValueError(_OVERFLOWED)
        model = named(self.model, self.names)
        model._state = self.state if last else _copied(self.state)
        setattr(model, NOT_SAVED, (self.checked, self.parts))
        return model


class RowEngine:
    """How rows of one are forecast and learnt: by the private verbs of an estimator.

    An estimator that knows a shorter way returns another one from `_row_engine`: its `ask` and
    `learn` may return a float where the target is one number, and `settle` brings the state up to
    date.
    """

    def __init__(self, model, state):
        self.model, self.state = model, state

    def ask(self, X):
        """Forecast a row X (1, d)."""
        return self.model._checked_forecasts(self.state, X)

    def learn(self, X, y):
        """Learn a row X (1, d) of target y (1,) or (1, q), and return its forecast."""
        model, state = self.model, self.state
        forecasts = model._learn(state, X, y)
        checked_answers(forecasts, model._answer_shape(1), model, "_learn")
        model._look_back(state, X, y, forecasts)
        self._close()
        return forecasts

    def _close(self):
        self.model._close(self.state)

    def settle(self):
        """Nothing waits."""
