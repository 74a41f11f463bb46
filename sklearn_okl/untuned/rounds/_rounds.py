"""The rounds of the estimators without tuning: one loop, for numbers and for classes.

Rows are learnt a block at a time, up to where something else is due: columns that are shown
otherwise, births of experts. What a round is scored by is in `_scores.py`. A guard, which may be
absent, ends a block where a target is in doubt, see `_guard.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from ..._delay import rows_out
from ..._validation import weights_of
from ...base._bank import threads
from ...base._row_path import RowEngine
from ...meta._fits import batch_model, check_takes_weights
from ..experts._experts import Experts
from ..experts._leaves import TRIALS
from ..experts._row import ExpertsRow
from ..experts._trees import ExpertsAndTrees
from ..rows import _codes
from ..rows._columns import after, nominal, stretches
from ..rows._layout import MAYBE, mark_units, plain_layout
from . import _target_units as target_units
from ._restarts import LAYOUTS, keep_latest, lay_out, no_rows

LONGEST = 1024  # rows learnt before anybody looks up
_N_STATES = 3  # others of a model that are asked for a row, too: twins, and who begins anew
_HEAVIEST = 1e9  # weight of a row: rounding of sums of ten thousand of them is below the ridges


class Call(NamedTuple):
    """What a call gives to its rounds: threads, and the state before it.

    Changes are looked for `beyond` two ratios, see `_blocks.py`. A `trace` gets how far quantiles
    (q, 199) of each row lay from its forecast. The experts are looked up where there are none. What
    is `found` ends the rounds: `_blocks.LEARNT` or `_blocks.DOUBTED`.
    """

    run: Callable
    kept: dict
    beyond: tuple = (np.inf, np.inf)
    trace: list | None = None
    experts: object = None
    found: list | None = None

    def stands_at(self, t):
        """Return whether the state that the call does not touch is that of round t."""
        return bool(self.kept) and self.kept["t"] == t


class NoGuard:
    """Rounds in which every target is learnt as it comes, and that go on to the end of the call.

    Parameters
    ----------
    model : Rounds
    state : dict
    call : Call
    """

    def __init__(self, model, state, call):
        self.model, self.call, self.doubted = model, call, []
        self.experts = model._experts() if call.experts is None else call.experts

    @staticmethod
    def learn_call(model, state, X, y, weights, run):
        """Learn the rows of a call; return the forecasts made on the way."""
        return model._learn_rounds(state, X, y, weights, Call(run, {}))[0]

    @staticmethod
    def forecast(model, state, X, ago, ahead):
        """Forecast by what was known some rounds ago; `ahead`: rows in order."""
        return model._forecast_all(state, X, ago, ahead)

    @staticmethod
    def start(model):
        """Return the state before the first target: nothing is watched."""
        return {}

    @staticmethod
    def stops(model, state):
        """Return rounds at which something is due."""
        return ()

    @staticmethod
    def shares(model, state):
        """Return pairs: the states of which forecasts are a mean, and their shares (q,)."""
        return [(state, np.ones(1))]

    def n_rounds(self, state, y):
        """Return how many rounds, of targets (n, q), may be learnt together."""
        return min(LONGEST, len(y))

    def learn(self, state, X, y, weights):
        """Learn rows that nothing comes between; return the forecasts of those that were learnt."""
        model = self.model
        forecasts, _ = self.experts.learn_rows(state, X, y, weights, self.call.run)
        model._put_former(state, X, forecasts)
        if state["t"] < LAYOUTS[-1]:
            state["latest"] = keep_latest(state["latest"], LAYOUTS[-1], X, weights, y=y)
        state["t"] += len(y)
        model._record.learn(state, forecasts, y, weights)
        return forecasts

    def review(self, state):
        """Do what is due of the targets."""

    def ends(self, state, n_learnt):
        """Let go what nobody reads any more; tell whether the call stops here."""
        self.model._drop_former(state)
        return False

    def close(self, state):
        """Put back what no copy of the state was to hold."""


class Rounds:
    """Rows in, forecasts out: what the estimators without tuning do in a call.

    A class says what its experts forecast and trees learn (`_of_trees`), what a round is scored by
    (`_record`), and what watches its targets (`_guard`).
    """

    _of_trees = None  # `NumberTrees` or `ClassTrees`
    _record = None  # `SquaredErrors` or `LogLosses`
    _guard = NoGuard
    _guarded = False  # whether a target can be faulty

    def _batch_model(self):
        """Return the model that is fitted to batches beside the experts, or None."""
        return batch_model(self.trees, self._of_trees.boosted)

    def _experts(self):
        estimator = self._batch_model() if self.trees is not False else None
        if estimator is None:
            return self._built(_without_trees(self._of_trees.kind, self._n_outputs))
        # not kept: an estimator may have been edited in place
        kind = partial(ExpertsAndTrees, self._of_trees, estimator, self._n_outputs)
        return experts_of(self, kind)

    def _nominal(self):
        """Return the columns, as the experts' inputs are made of them, that may be categories."""
        return nominal(self._columns) if self._columns else np.empty(0, dtype=int)

    def _start(self, n_features, n_targets=None):
        # A seed of our own: the user's generator may be shared, and is not ours to copy.
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        n_targets = self._n_targets or 1
        n_rows = _budget(self).sight
        anew = self.constants.renewal.start(n_targets, self.label_delay, n_features, n_rows)
        return self._start_rounds(n_features, seed) | {"anew": anew}

    def _start_rounds(self, n_features, seed, ordered=MAYBE):
        """Return the state before the first round, of the model or of one that begins beside it."""
        state = self._start_from(plain_layout(self._nominal(), ordered), n_features, seed)
        # without a guard, too: files of one format hold the same
        beside = self.constants.trust.start(self._n_targets or 1, self.label_delay)
        of_calls = {"doubted": np.empty(0, dtype=int), "has_warned": False}
        return state | {"beside": beside, "n_before": 0} | of_calls

    def _start_from(self, layout, n_columns, seed):
        experts = self._experts()
        encoder = experts.encoder
        width, of_lines = encoder.width(layout, n_columns), encoder.widths(layout, n_columns)
        state = {
            "t": 0,
            "former": {},  # the model before it started anew, while its forecasts have no labels
            # up to a block of rows as they came, while young
            "latest": no_rows(n_columns, experts.kind.no_targets()),
            "seed": seed,
            "columns": encoder.start(layout, n_columns),
        }
        of_record = self._n_outputs, self.label_delay, experts.budget.compact
        state |= self._record.start(*of_record) | self._guard.start(self)
        of_layout = encoder.unseen(layout, n_columns), _codes.numbers(layout), layout["ordered"]
        state |= experts.start(width, seed, *of_lines, *of_layout)
        mark_units(state)
        return state

    def _learn(self, state, X, y, sample_weight=None):
        weights = None
        if sample_weight is not None:
            check_takes_weights(self._batch_model(), self._of_trees.of)
            weights = checked_weights(sample_weight, len(y))
        with threads(self.n_jobs) as run:
            forecasts = self._learn_stretches(state, X, y, weights, run)
        experts = self._experts()
        vars(experts).pop("asked_rows", None)  # they are of the state before
        row = vars(experts).pop("taught_row", None)
        if row is not None and "_row" not in vars(self) and row.is_of(state):
            _keep_asked(experts, row)  # of a state that nobody writes any more
            if len(y) == 1:
                self._taught = row
        return forecasts

    def _learn_stretches(self, state, X, y, weights, run):
        """Learn the rows of a call, each by what is known of the columns when it comes."""
        known = self._columns
        if not known or not known["empty"]:
            return self._guard.learn_call(self, state, X, y, weights, run)
        forecasts, doubted = [], []
        for rows, self._columns in stretches(known, X):
            of_rows = X[rows], y[rows], None if weights is None else weights[rows]
            forecasts.append(self._guard.learn_call(self, state, *of_rows, run))
            doubted.append(rows.start + state["doubted"])
        self._columns, state["doubted"] = after(known, X), np.concatenate(doubted)
        return np.concatenate(forecasts)

    def _is_sound(self, state, answers=None):
        """Tell whether what was learnt are numbers: of one row, what it has written.

        Once in a block all are looked at.
        """
        row = vars(self).pop("_taught", None)
        if row is None or len(answers) > 1 or row.state is not state or not row.writes_all:
            return super()._is_sound(state, answers)
        if state["t"] % self.constants.fence.block == 0:
            return super()._is_sound(state, answers)
        return row.is_finite([answers, state["loss"], *state["errors"].values()])

    def _learn_rounds(self, state, X, Y, weights, call):
        """Learn rows, up to where a guard stops; return their forecasts, and which are in doubt."""
        if self._columns:
            self._experts().encoder.forget_numbers(state, self._nominal())
        guard, parts, low = self._guard(self, state, call), [], 0
        while low < len(Y):
            n = len(Y) - low
            if n > 1:
                n = guard.n_rounds(state, Y[low:])
            if n > 1:
                n = min(n, self._rounds_to_stop(state))
            rows = slice(low, low + n)
            part = guard.learn(state, X[rows], Y[rows], None if weights is None else weights[rows])
            parts.append(part)
            low += len(part)
            if len(part):  # else what is due at this round was done when it came
                self._stop(state, call.run, guard)
            if guard.ends(state, len(part)):
                break
        guard.close(state)
        return parts[0] if len(parts) == 1 else np.concatenate(parts), guard.doubted

    def _rounds_to_stop(self, state):
        """Return the number of rounds until something else than learning is due."""
        t, delay, experts = state["t"], self.label_delay, self._experts()
        waits = 0, delay, delay + self.constants.burn_in
        births = [birth + wait for birth in experts.births for wait in waits]
        trials = [trial + wait for trial in TRIALS for wait in (0, delay)]
        stops = [*LAYOUTS, *trials, *births, *experts.begins, *experts.makes_kernels]
        stops += self._guard.stops(self, state)
        return min([stop - t for stop in stops if stop > t], default=LONGEST)

    def _stop(self, state, run, guard):
        """Do what is due at this round, if anything is."""
        t, experts = state["t"], guard.experts
        guard.review(state)
        if t in LAYOUTS:
            lay_out(self, state, run)
        if "reference" in state and t >= self.constants.fence.block and t.bit_count() == 1:
            experts.choose_reference(state)
        if "reference" in state and t in experts.kind.logarithms.starts:
            experts.kind.begin_logarithms(state)
        if t in TRIALS:
            experts.try_leaves(state)
        if t in experts.births:
            level = experts.kind.level(state)
            experts.refine(state, _width(experts, state), [state["seed"], t], level)
        if t in experts.renewals:
            experts.renew_waves(state, [state["seed"], t])

    def _forecast(self, state, X, ago=0, ahead=False):
        """Forecast by what was known some rounds ago; `ahead`: rows in order, not each the next."""
        return self._guard.forecast(self, state, X, ago, ahead)

    def _forecast_all(self, state, X, ago=0, ahead=False):
        """Return the forecasts (n, q) of all targets, or the probabilities (n, C)."""
        former = state["former"]
        if former and ago > state["t"] - former["t"]:
            return self._forecast_all(former, X, ago - state["t"] + former["t"])
        forecasts = None if len(X) > 1 or ago or ahead else self._forecast_row(state, X)
        if forecasts is None:
            forecasts = self._experts().forecast_rows(state, X, ago, ahead)
        if "targets" not in state:
            return forecasts
        return target_units.unscaled(state["targets"], forecasts, ago)

    def _row_of(self, state, experts, is_own=True, before=None):
        """Return what forecasts a row and may learn it then, or None where a block is to.

        On a row path it is kept from row to row, as the attribute `_row`. Elsewhere it may be the
        row that was asked for last, of this very state, or of the one `before` it, an equal one.
        """
        known = vars(self).get("_row")
        is_others = known is not None and known.state is not state  # of a twin's model
        if known is not None and not is_others:
            if known.is_of(state):
                return known
            experts.close(state)  # whom a birth has opened
        asked = _asked_row(experts, before if is_own else state)
        if asked is not None:
            return asked.moved(state) if is_own else asked
        if not ExpertsRow.takes(experts, state):
            return None
        if is_others or "_row" not in vars(self):
            return ExpertsRow(experts, state, is_own)
        self._row = ExpertsRow(experts, state)
        return self._row

    def _row_engine(self, state):
        return KeptRows(self, state)

    def _forecast_row(self, state, X):
        """Return the forecasts (1, q) of a row, None where it wants a block."""
        row = self._row_of(state, self._experts(), is_own=False) if state["t"] else None
        if row is None:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            forecasts = row.ask(X)
        if "_row" not in vars(self):
            _keep_asked(row.experts, row)  # for a call that teaches it, see `_row_of`
        return None if forecasts is None else forecasts[None]

    def _put_former(self, state, X, forecasts):
        """Put in the forecasts of the next rows that were made before a start anew."""
        for i, ago in self._asked_before(state, state["t"], len(X)):
            forecasts[i] = self._forecast_all(state["former"], X[i : i + 1], ago)[0]

    def _asked_before(self, state, t, n):
        """Return which of n rows from round t on were asked of a former model, and how long ago."""
        former = state["former"]
        return rows_out(former["t"], t, self.label_delay, n) if former else ()

    def _drop_former(self, state):
        """Let the model before a start anew go, once all its forecasts have labels."""
        former = state["former"]
        if former and former["t"] <= state["t"] - self.label_delay:
            state["former"] = {}


class KeptRows(RowEngine):
    """Rows of a row path: what forecasts and learns them is made once, and kept."""

    def ask(self, X):
        vars(self.model).setdefault("_row", None)
        return super().ask(X)

    def learn(self, X, y):
        vars(self.model).setdefault("_row", None)
        return super().learn(X, y)

    def _close(self):
        if self.model._row is None:  # those of a row are never opened
            super()._close()

    def settle(self):
        if vars(self.model).pop("_row", None) is not None:  # it is of no model
            super()._close()


def _width(experts, state):
    """Return how many columns the experts see, those that are made of trees included."""
    return experts.encoder.width(state["columns"]["layout"], state["latest"]["X"].shape[1])


def _keep_asked(experts, row):
    """Keep a row that was asked for, and few of others."""
    vars(experts).setdefault("asked_rows", deque(maxlen=1 + _N_STATES)).append(row)


def _asked_row(experts, state):
    """Take away the row that was asked for of a state, if it is kept: nobody else has it then.

    Threads may ask, and learn, at once; what a deque gives away it gives to one of them.
    """
    asked, mine, others = vars(experts).get("asked_rows", ()), None, []
    while asked and mine is None:
        try:
            row = asked.pop()
        except IndexError:  # another thread was faster
            break
        if row.state is state:
            mine = row
        else:
            others.append(row)
    if others:
        asked.extend(others[::-1])
    return mine


def experts_of(model, kind):
    """Return the experts that the parameters of a model ask for."""
    return kind(_budget(model), model.forgetting, model.lags, model.label_delay, model.constants)


def _budget(model):
    """Return the budget; a number asks for the whole dictionary at whatever work."""
    budgets = model.constants.budgets
    if isinstance(model.budget, str):
        return budgets[model.budget]
    return budgets["balanced"]._replace(frequencies=model.budget // 2, work=np.inf)


@cache
def _without_trees(kind, n):
    """Return what makes the experts of a model for so many targets or classes."""
    return partial(experts_of, kind=partial(Experts, kind, n))


def checked_weights(sample_weight, n):
    """Return weights (n,) of rows; too large ones are an error."""
    weights = weights_of(sample_weight, n)
    if weights.max() > _HEAVIEST:
        raise ValueError(
            f"Weights of more than {_HEAVIEST:g} in sample_weight: ridges would be lost in the "
            "rounding of sums. Divide all of them by their mean."
        )
    return weights
