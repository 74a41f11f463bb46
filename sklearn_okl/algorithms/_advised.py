"""Mixing estimators of any kind: what regressors and classifiers share."""

from __future__ import annotations

import copy
import warnings
from functools import partial
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.parallel import Parallel, delayed

from .._delay import delay_of
from .._documentation import explained_by
from .._types import Any, Array, Self
from ..base import OfExperts, _copied, described
from ..base._convex import EXPERT_CONSTRAINTS
from ..base._loss import WithLoss
from ..features import _as_came
from ._late import LateAggregator, learn_late
from ._teaching import check_experts, forecast_expert, learn_expert


class Advised(OfExperts, _BaseComposition):
    """Estimators by name, taught round by round or in blocks, and an aggregator of them.

    A family says ``_combiner()``, the aggregator, and whether its experts are ``_of_classes``.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads over the experts. It pays where most of the time goes into code that
        releases the interpreter lock, and not for the single rows that foreign experts learn.
    label_delay : int, default=0
        Number D of rounds that targets come late: row t is forecast by experts and weights that
        know the targets up to t - 1 - D, and learnt from as it was forecast. An expert with a
        `label_delay` of its own should have the same; one without is kept twice, as it is and as it
        was D rounds ago, and learns row by row.

    Attributes
    ----------
    weights_ : ndarray of shape (n_experts,)
        Current weights of the experts in the aggregator.
    named_experts_ : Bunch
        Fitted experts by name, as copies: teaching them changes nothing here.
    """

    _of_classes = False
    _frame = None  # what is known of columns, where there are categories or text
    _parameter_constraints = {
        "experts": [list],
        "n_jobs": [None, Integral],
        "label_delay": EXPERT_CONSTRAINTS["label_delay"],
    }
    _structural = ("experts", "aggregator", "label_delay")

    @explained_by(WithLoss.get_params)
    def get_params(self, deep: bool = True) -> Any:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the experts by name, and their parameters as ``name__parameter``.
        """
        return self._get_params("experts", deep=deep)

    @explained_by(WithLoss.set_params)
    def set_params(self, **params: Any) -> Self:
        """Set parameters, experts by name and theirs as ``name__parameter`` included."""
        self._set_params("experts", **params)
        return self

    @property
    def _allow_nan(self):
        return self._frame is not None or _as_came.take_gaps([one for _, one in self.experts])

    @property
    def weights_(self) -> Array:
        """Current weights of the experts in the aggregator, of shape (n_experts,)."""
        state = self._fitted_state("weights_")
        return self._as_taught()._combiner()._weights(state["aggregator"])

    @property
    def named_experts_(self) -> Any:
        """Copies of the fitted experts, by name."""
        return Bunch(**_copied(self._fitted_state("named_experts_")["experts"]))

    def _validated_rows(self, X, y, restart, **validation):
        plain = super()._validated_rows
        return _as_came.validated_rows(self, plain, X, y, restart, **validation)

    def _asked(self, X):
        return _as_came.asked(self, super()._asked, X)

    def _handed(self, state, X):
        """Return rows of numbers as they came."""
        return _as_came.given_back(X, state.get("frame"))

    def _rows_kept(self, state):
        return state["waiting"][0]

    def _look_back(self, state, X, y, forecasts):
        super()._look_back(state, X, y, forecasts)
        _as_came.look_back(self, state)

    def _row_work(self):
        _as_came.refuse_row_path(self)
        return super()._row_work()

    def _structure(self):
        # The fitted copies would not hear of any new parameter, so all of them are structure.
        return super()._structure() | {"experts": described(self.experts)}

    def _validate(self):
        super()._validate()
        check_experts(self.experts, self._of_classes)
        self._validate_names([name for name, _ in self.experts])
        if not hasattr(self._combiner(), "_weights"):
            raise TypeError(
                f"{type(self.aggregator).__name__} cannot be the aggregator of "
                f"{type(self).__name__}: it has no weights over forecasts. Use BOARegressor."
            )
        self._combiner()._validate()
        self._check_delays()

    def _check_delays(self):
        """Refuse parts that get their targets at other times."""
        parts = [(f"expert {name!r}", expert) for name, expert in self.experts]
        for name, part in [*parts, ("aggregator", self.aggregator)]:
            own = delay_of(part)
            if own not in (0, self.label_delay):
                raise ValueError(
                    f"The {name} has label_delay={own} and {type(self).__name__} has "
                    f"{self.label_delay}: all get their targets at the same time, so set the same."
                )

    def _aggregator(self, given):
        """Return an aggregator that can be late where it has to."""
        knows_delays = hasattr(given, "label_delay") or not hasattr(given, "_weights")
        return given if knows_delays or not self.label_delay else LateAggregator(given)

    def _start(self, n_features, n_targets=None):
        late = {"late": self.label_delay} if self.label_delay else {}
        targets = np.empty(0, np.intp if self._of_classes else np.float64)
        return {
            "t": 0,
            "experts": {name: clone(expert) for name, expert in self.experts},
            "gave_up": np.zeros(len(self.experts), dtype=bool),
            "expert_losses": np.zeros(len(self.experts)),
            "aggregator": self._combiner()._start(len(self.experts), **late),
            "late": {},  # experts as they were, and the rows that they do not know yet
            "waiting": (np.empty((0, n_features)), targets),  # rows may hold gaps
        }

    def _taught(self, state, X, y, make_way):
        """Let the experts learn rows, each in a way of its own, ``make_way(rows, is_first)``.

        Returns their forecasts (n, n_experts, ...), NaN where asleep.
        """
        if state["t"] > 0 or not self.label_delay:
            is_first = state["t"] == 0
            return self._taught_rows(state, X, y, partial(make_way, slice(None), is_first))
        # those that have learnt one row are copied: random draws were made for it
        first, rest = slice(0, 1), slice(1, None)
        F = [self._taught_rows(state, X[first], y[first], partial(make_way, first, True))]
        state["late"] = {
            name: copy.deepcopy(expert)
            for name, expert in state["experts"].items()
            if not self._is_late(expert, make_way(first, False))
        }
        if len(y) > 1:
            way = partial(make_way, rest, False)
            F.append(self._taught_rows(state, X[rest], y[rest], way, 1))
        return np.concatenate(F)

    def _is_late(self, expert, way):
        """Tell whether an expert forecasts as late as the mixture does when it learns."""
        return hasattr(expert, way.whole) and delay_of(expert) == self.label_delay

    def _taught_rows(self, state, X, y, make_way, n_more=0):
        names, experts = list(state["experts"]), list(state["experts"].values())
        awake, n_before = np.flatnonzero(~state["gave_up"]), state["t"] + n_more

        def learn(name, expert):
            way = make_way()
            forecasts, error = learn_expert(name, expert, X, y, way)
            if self.label_delay and n_before == 0 and not self._is_late(expert, way):
                forecasts = way.unknown(len(forecasts))
            if name in state["late"]:
                rows, late = slice(len(forecasts)), state["late"][name]
                when = state["waiting"], n_before, self.label_delay
                forecasts = learn_late(name, late, X[rows], y[rows], make_way(), *when)
            return forecasts, error

        n_jobs = min(effective_n_jobs(self.n_jobs), max(len(awake), 1))
        if n_jobs == 1:
            results = [learn(names[k], experts[k]) for k in awake]
        else:
            # not prefer="threads": under another backend the experts would learn elsewhere
            pool = Parallel(n_jobs, require="sharedmem")
            results = pool(delayed(learn)(names[k], experts[k]) for k in awake)
        if state["late"]:
            state["waiting"] = tuple(
                np.concatenate([before, now])[-self.label_delay :].copy()
                for before, now in zip(state["waiting"], (X, y), strict=True)
            )
        F = np.stack([make_way().nothing(len(y))] * len(experts), axis=1)
        for k, (forecasts, error) in zip(awake, results, strict=True):
            F[: len(forecasts), k] = forecasts
            if error is not None:
                state["late"].pop(names[k], None)
                state["gave_up"][k] = True
                warnings.warn(
                    f"The expert {names[k]!r} ({type(experts[k]).__name__}) had no sane forecast "
                    f"and then failed to learn, so it sleeps from now on: {error}",
                    UserWarning,
                    stacklevel=2,
                )
        return F

    def _asked_experts(self, state, X, way):
        """Return the experts' forecasts (n, n_experts, ...), NaN where asleep."""
        F = np.stack([way.nothing(len(X))] * len(state["experts"]), axis=1)
        for k, (name, expert) in enumerate(state["experts"].items()):
            if not state["gave_up"][k]:
                F[:, k] = forecast_expert(name, expert, X, way)
        return F
