"""What the estimators without tuning have in common for those who use them.

Their parameters, what can be read from them, and how columns of any kind become rows of numbers.
What they do with rows is in `_rounds.py`.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..._linalg import one_blas_thread
from ..._types import Any, Array, Seed
from ...base import described, twin
from ...base._explainable import Explainable
from ...features._moments import moderate
from ...inspection._steps import Sums
from ...meta._fits import single_fit
from .._constants import BUDGETS, Constants
from ..experts._experts import ages_of
from ..experts._sums import OTHERS, parts_of
from ..rows import _columns as numbers
from ._renewal import n_rows
from ._rounds import Rounds
from ._summary import squared_units


class DefaultModel(Explainable, Rounds):
    """Base of the estimators without tuning: what they share, and how their parts work together.

    A class derived from one of them may set ``constants``, see
    :class:`sklearn_okl.untuned.Constants`.

    Parameters
    ----------
    budget : {"tiny", "fast", "balanced", "accurate"} or int, default="balanced"
        What a row may cost: about 0.1, 0.1, 0.5 or 2 ms in long calls on one core of 2020.
        ``"tiny"`` is for thousands of models, of 20 kB each by :func:`to_bytes` in float32 for 16
        inputs and of 28 kB for 40, where "fast" has some megabytes; see Notes. An integer is
        the number of random features of each kernel, at least 2, with the whole dictionary, at
        whatever cost.
    forgetting : float, default=None
        Factor in (0, 1] by which the weight of a row fades with each row that follows, the same for
        all experts. None, right for nearly everyone, has experts that never forget and experts
        that look back about 500 and 100 rows ("fast": 200), and finds out.
    lags : int, default=4
        Number of the latest targets, or labels, that half of the experts see; with them two experts
        forecast from these alone. `predict` is then right for one row only, which `label_delay`
        says. 0 makes the model a function of X, for which earlier targets matter through learning
        only: choose it where rows have no order, which a regressor also finds out by itself.
    label_delay : int, default=0
        Number D of rounds that labels come late: row t is forecast, scored and taught as by a model
        that knows the rows up to t - 1 - D and no later one. 0 is for targets known before the next
        row is to be forecast; for the 24 hours of the next day it is 23.
    categorical_features : array-like of {bool, int, str}, "from_dtype" or None, \
            default="from_dtype"
        Which columns are categories: a mask, indices, or names of columns of a frame.
        ``"from_dtype"`` takes those of a frame that are categories or text; None none. See Notes.
    missing_values : number, str, array-like of these, or None, default=None
        Values that stand for a missing one, such as -9999 or ``["?", "n/a"]``, beside NaN, None and
        what frames have. Targets of a regressor that are such numbers are missing, too.
    n_jobs : int or None, default=None
        Number of threads over the experts. They pay in calls of some hundred rows or more.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    experts_ : dict of ndarray of shape (n_experts,)
        A table that pandas reads, a row for each expert: ``name``, ``kernel``, ``bandwidth`` (see
        Notes), ``lags``, ``alpha``, ``forgetting``, whether they see ``ranks`` and columns in
        ``pairs``, have ``learnt`` scales, see a tree (``trees``) and all that columns are shown as
        (``whole``), ``weight`` in the first mixture, ``mean_loss``, ``n_rounds``. Experts that are
        born later come behind the others; the first two, where there are `lags`, have no bandwidth
        and no alpha. Of several targets the rows of each follow those of the one before, and
        ``target`` is its number.
    weights_ : ndarray of shape (n_experts,) or (n_targets, n_experts)
        Weights of the first mixture, 0 for kernels that are not heard yet.
    expert_losses_ : ndarray of shape (n_experts,) or (n_targets, n_experts)
        Sums of squared progressive errors, times the weights of the rows if they have any.
    """

    _parameter_constraints = {
        "budget": [
            StrOptions(set(BUDGETS)),
            Interval(Integral, 2, None, closed="left"),
        ],
        "forgetting": [Interval(Real, 0, 1, closed="right"), None],
        "lags": [Interval(Integral, 0, None, closed="left")],
        "label_delay": [Interval(Integral, 0, None, closed="left")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "missing_values": [Real, str, "array-like", None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    _structural = ("budget", "forgetting", "lags", "label_delay", "categorical_features", "trees")
    _allow_nan = True
    _n_targets = None  # that y has, None where it has no axis for them
    constants = Constants()

    def __init__(
        self,
        *,
        budget: str | int = "balanced",
        forgetting: float | None = None,
        lags: int = 4,
        label_delay: int = 0,
        trees: Any = False,
        categorical_features: Any = "from_dtype",
        missing_values: Any = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.budget = budget
        self.forgetting = forgetting
        self.lags = lags
        self.label_delay = label_delay
        self.trees = trees
        self.categorical_features = categorical_features
        self.missing_values = missing_values
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def n_samples_seen_(self) -> int:
        """Rounds learnt so far."""
        return n_rows(self._fitted_state("n_samples_seen_"))

    @property
    def weights_(self) -> Array:
        """Weights in the first mixture, of shape (n_experts,) or (n_targets, n_experts)."""
        self._fitted_state("weights_")
        weights = self.experts_["weight"]
        return weights if self._n_targets is None else weights.reshape(self._n_targets, -1)

    @property
    def expert_losses_(self) -> Array:
        """Sums of squared progressive errors, of shape (n_experts,) or (n_targets, n_experts)."""
        state = self._fitted_state("expert_losses_")
        losses = np.atleast_2d(self._as_taught()._experts().losses(state))
        return self._flat(losses * squared_units(state)[:, None], axis=0)

    @property
    def experts_(self) -> dict[str, Any]:
        """What each expert is and how it fares: a dict of arrays that pandas reads as a table."""
        state = self._fitted_state("experts_")
        return self._as_taught()._experts().table(state, ages_of(state), squared_units(state))

    def _explained(self, X):
        model = self._as_taught()
        state, rows = model._asked(X)
        known = vars(model).get("_columns")
        columns = np.arange(rows.shape[1])
        if known is not None:
            of_columns = numbers.widths(known)
            columns = np.repeat(np.arange(len(of_columns)), of_columns)
        with one_blas_thread:
            parts = [
                part
                for one, share in model._guard.shares(model, state)
                for part in model._sums_of_state(one, rows, columns, share)
            ]
        return Sums(parts, OTHERS, self._not_explained)

    def _sums_of_state(self, state, rows, columns, share):
        """Return lines and waves of one state's forecasts, in units of what is answered."""
        experts = self._experts()
        parts = parts_of(experts, state, rows, columns, ages_of(state))
        factors, origin = self._in_units(state)
        nothing = parts[0].times(np.zeros_like(factors))
        origin = replace(nothing, constant=np.broadcast_to(share * origin, factors.shape[1]))
        return [origin, *(part.times(share * factors) for part in parts)]

    def summary(self) -> str:
        """Say in a paragraph what was learnt.

        Returns
        -------
        text : str
            In lines of at most 88 characters. With lags it says what they earn, and where that is
            nothing, that rows without an order want ``lags=0``.
        """
        return self._record.summary(self, self._fitted_state("summary"))

    def _flat(self, values, axis=-1):
        """Return values without the axis of the targets, where these came without one."""
        return values.squeeze(axis) if self._n_targets is None else values

    def _validated_rows(self, X, y, restart, **validation):
        plain = numbers.is_plain(X, self.categorical_features)
        if restart:
            self._columns = None if plain else numbers.begin(self, X)
        elif self._columns is None and not plain:
            self._columns = numbers.all_numbers(self.n_features_in_)
        if self._columns is None:
            X, y = super()._validated_rows(X, y, restart, **validation)
            return moderate(numbers.marked(X, self.missing_values)), y
        Z, self._columns = numbers.read(self, X, self._columns, restart)
        named = numbers.names_put_aside(self, Z.shape[1])
        X, y = super()._validated_rows(Z, y, restart, **validation)
        numbers.names_put_back(self, named)
        return moderate(X), y

    def _asked(self, X):
        known = vars(self).get("_columns")
        plain = not self.__sklearn_is_fitted__() or numbers.is_plain(X, self.categorical_features)
        if known is None and not plain:
            known = numbers.all_numbers(self.n_features_in_)
        if known is None:
            state, X = super()._asked(X)
            return state, moderate(numbers.marked(X, self.missing_values))
        Z, model = numbers.asked(self, X, known), twin(self)
        numbers.names_put_aside(model, Z.shape[1])
        state, X = super(DefaultModel, model)._asked(Z)
        return state, moderate(X)

    def _takes_plain_rows(self):
        return self._columns is None and self.missing_values is None

    def _row_to_ask(self, x):
        X = super()._row_to_ask(x)
        return moderate(X) if self._takes_plain_rows() else X

    def _row_to_learn(self, x, y):
        X, y = super()._row_to_learn(x, y)
        return (moderate(X), y) if self._takes_plain_rows() else (X, y)

    def _validate(self):
        super()._validate()
        numbers.said_missing(self.missing_values)
        estimator = single_fit(self._batch_model())
        if estimator is not None:
            self._of_trees.check("trees", estimator)

    def _structure(self):
        return super()._structure() | {"trees": described(self.trees)}

    def _close(self, state, grows=False):
        for one in (state, state["anew"]["twin"]):
            for model in (one, one["beside"]["twin"]) if one else ():
                if model:
                    self._experts().close(model, grows)

    def _foreseen(self, X, ahead):
        """Return the state and its forecasts for rows."""
        state, X = self._asked(X)
        if ahead and len(X) > self.label_delay + 1:
            raise ValueError(
                f"With ahead=True at most label_delay + 1 = {self.label_delay + 1} rows can be "
                f"forecast, the next ones in order, but X has {len(X)}."
            )
        if not ahead:
            return state, self._answered(state, X)
        with one_blas_thread:
            return state, self._forecast(state, X, ahead=True)
