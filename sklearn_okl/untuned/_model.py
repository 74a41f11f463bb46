"""One estimator that needs no tuning: kernels, ridges, scales and memories learnt from the stream.

Who forecasts, and how they are mixed, is in `_experts.py`; when a target is not believed in
`_targets.py`; what is done when it turns out that first ones were taken wrongly in `_restarts.py`.
What is left for here: the rounds, in which targets have units.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._linalg import one_blas_thread
from .._types import Any, Array, Seed
from .._validation import weights_of
from ..base import _copied, twin
from ..base._bank import threads
from ..features._moments import moderate
from . import _columns as columns
from . import _targets as targets
from ._constants import BUDGETS, Constants
from ._encoding import Encoder
from ._experts import Experts
from ._layout import mark_units, plain_layout
from ._numbers import Numbers
from ._renewal import is_restless, is_suspect, n_rows
from ._restarts import LAYOUTS, ages_of, forget, lay_out, no_rows, review
from ._room import go_back, keep
from ._summary import squared_units, summary_of
from ._trust import is_guarded, successor, unguarded, usual_errors

_HEAVIEST = 1e30  # weight of a row: squares of losses times weights stay finite
_OF_CALLS = "anew", "beside"  # no copy of a state holds them
_SHORTEST, _LONGEST = 64, 1024  # rows learnt before their targets are looked at


class _Call(NamedTuple):
    """What a call gives to its rounds: threads, the state before it, if changes are looked for."""

    run: Callable
    kept: dict
    watches: bool

    def stands_at(self, t):
        """Return whether the state that the call does not touch is that of round t."""
        return bool(self.kept) and self.kept["t"] == t


class DefaultModel:
    """Base of the estimators without tuning: what they share, and how their parts work together.

    A class derived from one of them may set ``constants``, see
    :class:`sklearn_okl.untuned.Constants`.

    Parameters
    ----------
    budget : {"fast", "balanced", "accurate"} or int, default="balanced"
        What a row may cost: about 0.1, 0.5 or 2 ms in long calls on one core of 2020. An integer is
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
        only: choose it where rows have no order.
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
        ``pairs``, have ``learnt`` scales and see a tree (``trees``), ``weight`` in the first
        mixture, ``mean_loss``, ``n_rounds``. Experts that are born later come behind the others;
        the first two, where there are `lags`, have no bandwidth and no alpha. Of several targets
        the rows of each follow those of the one before, and ``target`` is its number.
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
    _structural = ("budget", "forgetting", "lags", "label_delay", "categorical_features")
    _allow_nan = True
    _guarded = True  # whether a target can be faulty
    _n_targets = None  # that y has, None where it has no axis for them
    constants = Constants()

    def __init__(
        self,
        *,
        budget: str | int = "balanced",
        forgetting: float | None = None,
        lags: int = 4,
        label_delay: int = 0,
        categorical_features: Any = "from_dtype",
        missing_values: Any = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.budget = budget
        self.forgetting = forgetting
        self.lags = lags
        self.label_delay = label_delay
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
        weights = self.experts_["weight"]
        return weights if self._n_targets is None else weights.reshape(self._n_targets, -1)

    @property
    def expert_losses_(self) -> Array:
        """Sums of squared progressive errors, of shape (n_experts,) or (n_targets, n_experts)."""
        state = self._fitted_state("expert_losses_")
        losses = self._as_taught()._experts().losses(state) * squared_units(state)[:, None]
        return self._flat(losses, axis=0)

    @property
    def experts_(self) -> dict[str, Any]:
        """What each expert is and how it fares: a dict of arrays that pandas reads as a table."""
        state = self._fitted_state("experts_")
        return self._as_taught()._experts().table(state, ages_of(state), squared_units(state))

    def summary(self) -> str:
        """Say in a paragraph what was learnt.

        Returns
        -------
        text : str
            In lines of at most 88 characters.
        """
        return summary_of(self, self._fitted_state("summary"))

    def _flat(self, values, axis=-1):
        """Return values without the axis of the targets, where these came without one."""
        return values.squeeze(axis) if self._n_targets is None else values

    def _experts(self):
        return self._built(_for_targets(self._n_targets or 1))

    def _encoder(self):
        return Encoder(self.label_delay, self._n_targets or 1, own_gaps=True)

    def _validated_rows(self, X, y, restart, **validation):
        plain = columns.is_plain(X, self.categorical_features)
        if restart:
            self._columns = None if plain else columns.begin(self, X)
        elif self._columns is None and not plain:
            self._columns = columns.all_numbers(self.n_features_in_)
        if self._columns is None:
            X, y = super()._validated_rows(X, y, restart, **validation)
            return moderate(columns.marked(X, self.missing_values)), y
        Z, self._columns = columns.read(self, X, self._columns, restart)
        named = columns.names_put_aside(self, Z.shape[1])
        X, y = super()._validated_rows(Z, y, restart, **validation)
        columns.names_put_back(self, named)
        return moderate(X), y

    def _asked(self, X):
        known = vars(self).get("_columns")
        plain = not self.__sklearn_is_fitted__() or columns.is_plain(X, self.categorical_features)
        if known is None and not plain:
            known = columns.all_numbers(self.n_features_in_)
        if known is None:
            state, X = super()._asked(X)
            return state, moderate(columns.marked(X, self.missing_values))
        Z, model = columns.asked(self, X, known), twin(self)
        columns.names_put_aside(model, Z.shape[1])
        state, X = super(DefaultModel, model)._asked(Z)
        return state, moderate(X)

    def _start(self, n_features, n_targets=None):
        # A seed of our own: the user's generator may be shared, and is not ours to copy.
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        n_targets = self._n_targets or 1
        anew = self.constants.renewal.start(n_targets, self.label_delay, n_features)
        return self._start_rounds(n_features, seed) | {"anew": anew}

    def _start_rounds(self, n_features, seed):
        """Return the state before the first round, of the model or of one that begins beside it."""
        nominal = self._nominal()
        if self._columns:  # the same columns, however many rows the first call has
            nominal = np.union1d(nominal, np.array(self._columns["began_empty"], dtype=int))
        state = self._start_from(plain_layout(nominal), n_features, seed)
        beside = self.constants.trust.start(self._n_targets or 1, self.label_delay)
        of_calls = {"doubted": np.empty(0, dtype=int), "has_warned": False}
        return state | {"beside": beside, "n_before": 0} | of_calls

    def _nominal(self):
        """Return the columns, as the experts' inputs are made of them, that may be categories."""
        return columns.nominal(self._columns) if self._columns else np.empty(0, dtype=int)

    def _start_from(self, layout, n_columns, seed):
        q, fence, encoder = self._n_targets or 1, self.constants.fence, self._encoder()
        state = {
            "t": 0,
            "targets": [fence.start(self._guarded, self.label_delay) for _ in range(q)],
            "former": {},  # the model before it started anew, while its forecasts have no labels
            "latest": no_rows(n_columns, q),  # up to a block of rows as they came, while young
            "loss": np.zeros(q),
            "scored": np.zeros(2),  # number and weight of the rows in it
            "seed": seed,
            "columns": encoder.start(layout, n_columns),
        } | self._experts().start(encoder.width(layout, n_columns), seed, encoder.n_trees(layout))
        mark_units(state)
        return state

    def _learn(self, state, X, y, sample_weight=None):
        renewal, Y = self.constants.renewal, y.reshape(len(y), -1)
        weights = None if sample_weight is None else checked_weights(sample_weight, len(y))
        n_first = max(1 + self.label_delay - n_rows(state), 0)
        forecasts, doubted, low = np.empty_like(Y), [], 0
        anew, kept = state.pop("anew"), vars(self).get("_state", {})  # of no copy of the state
        with threads(self.n_jobs) as run:
            while low < len(y):
                n = min(len(y) - low, renewal.rounds_to_stop(anew, n_rows(state)))
                watches = renewal.wants_twin(anew, n_rows(state))
                rows = slice(low, low + n)
                of_rows = X[rows], Y[rows], None if weights is None else weights[rows]
                t = n_rows(state)
                part, faulty = self._learn_rounds(state, *of_rows, _Call(run, kept, watches))
                if anew["twin"]:
                    call = _Call(run, kept and kept["anew"]["twin"], False)
                    theirs, _ = self._learn_rounds(anew["twin"], *of_rows, call)
                    part = renewal.learn(anew, of_rows[1], part, theirs, t)
                forecasts[low : low + len(part)] = part
                doubted += [low + row for row in faulty]
                low += len(part)
                renewal.remember(anew, *(_first(len(part), rows) for rows in of_rows), part)
                if anew["twin"]:
                    if renewal.has_won(anew, state):
                        kept = {}
                elif watches and is_suspect(state) and renewal.is_due(anew, state):
                    self._begin_anew(anew, state, run)
        state["anew"], state["doubted"] = anew, np.array(doubted, dtype=int)
        forecasts[:n_first] = 0.0  # nothing was known, not even the origin
        return forecasts.reshape(y.shape)

    def _begin_anew(self, anew, state, run):
        """Let a model begin anew beside that of a state, with the rows since the change."""
        renewal = self.constants.renewal
        X, Y, weights = renewal.since_change(anew, state, self.constants.fence.suspect)
        fresh = self._start_rounds(X.shape[1], state["seed"])
        if is_restless(state):
            fresh = unguarded(fresh)  # it is to find out what the levels follow
        self._learn_rounds(fresh, X, Y, weights, _Call(run, {}, False))
        renewal.begin_anew(anew, state, fresh)

    def _learn_rounds(self, state, X, Y, weights, call):
        """Learn rows up to a suspected change; return their forecasts, and which are in doubt."""
        fence = self.constants.fence
        if self._columns:
            self._encoder().forget_numbers(state, self._nominal())
        forecasts, doubted = np.empty_like(Y), []
        low, room, alone = 0, {}, fence.disputed(state["targets"])
        longest = 1 if alone else _LONGEST
        beside = state.pop("beside")  # of no copy of the state
        while low < len(Y):
            n = min(len(Y) - low, longest, self._rounds_to_stop(state))
            if beside["twin"]:
                n = min(n, fence.block - state["t"] % fence.block)
            n = min(n, self.constants.trust.rounds_of_rest(beside, state["t"]) or n)
            rows, n_faulty = slice(low, low + n), _n_faulty(state)
            w = None if weights is None else weights[rows]
            part = self._learn_guarded(state, X[rows], Y[rows], w, room, call, alone, beside)
            if alone and len(part) and _n_faulty(state) > n_faulty:
                doubted.append(low)
            forecasts[low : low + len(part)] = part
            low += len(part)
            # a faulty target is met alone
            alone = len(part) < n or fence.disputed(state["targets"])
            longest = 1 if alone else min(max(2 * longest, _SHORTEST), _LONGEST)
            if len(part):  # else what is due at this round was done when it came
                self._stop(state, call.run, beside)
                if beside["twin"] and state["t"] % fence.block == 0:
                    self._choose(state, beside)
            for one in (state, beside["twin"]):
                if one and one["former"] and one["former"]["t"] <= one["t"] - self.label_delay:
                    one["former"] = {}
            if call.watches and len(part) and is_suspect(state):
                break
        state["beside"] = beside
        return forecasts[:low], doubted

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

    def _forecast(self, state, X, ago=0, ahead=False):
        """Forecast by what was known some rounds ago; `ahead`: rows in order, not each the next."""
        forecasts = self._forecast_mixed(state, X, ago, ahead)
        anew, renewal = state["anew"], self.constants.renewal
        if renewal.is_heard(anew, ago):
            theirs = self._forecast_mixed(anew["twin"], X, ago, ahead)
            forecasts = renewal.mixed(anew, forecasts, theirs, ago)
        return self._flat(forecasts)

    def _forecast_mixed(self, state, X, ago, ahead):
        """Return the forecasts (n, q) of a model and of its twin, if there is one."""
        forecasts = self._forecast_all(state, X, ago, ahead)
        beside, trust = state["beside"], self.constants.trust
        if trust.is_heard(beside, ago):
            theirs = self._forecast_all(beside["twin"], X, ago, ahead)
            forecasts = trust.mixed(beside, forecasts, theirs, ago)
        return forecasts

    def _forecast_all(self, state, X, ago=0, ahead=False):
        """Return the forecasts (n, q) of all targets."""
        former = state["former"]
        if former and ago > state["t"] - former["t"]:
            return self._forecast_all(former, X, ago - state["t"] + former["t"])
        forecasts = self._forecast_scaled(state, X, ago, ahead)
        return targets.unscaled(state["targets"], forecasts, ago)

    def _forecast_scaled(self, state, X, ago=0, ahead=False, with_experts=False):
        X = self._encoder().look(
            state["columns"], X, self.label_delay - np.arange(len(X)) if ahead else ago
        )
        forecasts = self._experts().forecast(state, X, ages_of(state), ago, ahead)
        if not with_experts:
            return forecasts
        return forecasts, *self._experts().that_see_rows(state, X, ago)

    def _rounds_to_stop(self, state):
        """Return the number of rounds until something else than learning is due."""
        t, births, delay = state["t"], self.constants.births, self.label_delay
        heard = delay + self.constants.apprenticeship
        begun = {guard["since"] for guard in state["targets"]}
        reviews = (since + age for since in begun for age in self.constants.fence.reviews)
        stops = (*reviews, *(birth + wait for birth in births for wait in (0, delay, heard)))
        return min(stop - t for stop in (*stops, *LAYOUTS, 1 << t.bit_length()) if stop > t)

    def _stop(self, state, run, beside):
        """Do what is due at this round, if anything is."""
        fence = self.constants.fence
        t = state["t"]
        if is_guarded(state) and not set(fence.reviews).isdisjoint(ages_of(state)):
            before = dict(state)
            review(self, state, run)
            is_anew = state["banks"] is not before["banks"]
            if is_anew and state["latest"]["faulty"].any() and not beside["twin"]:
                twin = unguarded(_copied(before))  # a former state is read on, too
                usual = usual_errors(state, twin)
                self.constants.trust.begin(beside, t, twin, usual, np.inf)
        if t in LAYOUTS:
            lay_out(self, state, run)
        if t >= fence.block and t.bit_count() == 1:  # a power of two
            self._experts().choose_reference(state)
        if t in self.constants.births:
            level = np.array([guard["level"] for guard in state["targets"]])
            n_columns = state["latest"]["X"].shape[1]
            width = self._encoder().width(state["columns"]["layout"], n_columns)
            self._experts().refine(state, width, [state["seed"], t], level)

    def _learn_guarded(self, state, X, y, weights, room, call, alone, beside):
        """Learn rows up to the first faulty target or new unit; return their forecasts (n, q).

        A faulty target is left to the next call, to be met alone, and nothing is learnt where it
        comes first: only a row that is alone is forecast before it is learnt.
        """
        fence = self.constants.fence
        guards, t = state["targets"], state["t"]
        n_before = self._experts().n_learnt(state)
        if t == 0:
            for guard, origin in zip(guards, y[0].tolist(), strict=True):
                guard["origin"] = origin
        n = fence.n_alike(guards, t, y)
        X, y, weights = X[:n], y[:n], _first(n, weights)
        u = taught = fence.scaled(guards, y)
        origins, units = targets.units_read(guards, len(u))
        scales = [targets.origin_and_unit(guard) for guard in guards]
        moves = np.zeros(u.shape[1])
        least = (
            self.constants.trust.believed(beside, t) / units[0] if beside else np.zeros(len(guards))
        )
        if alone and t:
            asked, *known = self._forecast_scaled(state, X, self.label_delay, with_experts=True)
            if (np.abs(u[0] - asked[0]) > least).any():
                taught, moves = fence.believed(guards, t, u[0], asked[0], *known)
                if (taught != u[0]).any() or moves.any():
                    self._begin_twin(state, beside, (u[0] - asked[0]) * units[0], known[1])
                taught = taught[None] - moves
        elif not alone and beside and not call.stands_at(t):
            keep(state, room)
        forecasts, references, experts = self._learn_rows(state, X, taught, weights, call.run)
        misses = u - forecasts
        back = {j: self._follow(state, j, by) for j, by in enumerate(moves.tolist()) if by != 0.0}
        u = u - moves
        errors = fence.errors_to_learn(guards, t, u, forecasts, taught)
        n = len(u) if alone else fence.n_sound(guards, t, u, forecasts, experts, least)
        rows = slice(0, n)
        distances = targets.distances_from(u[rows], experts[:, rows])
        of_rows = u[rows], forecasts[rows], references[rows], distances, taught[rows]
        n, moved = fence.learn(guards, t, *of_rows, scales, call.watches)
        if n < len(u):
            if call.stands_at(t):
                own = {name: part for name, part in call.kept.items() if name not in _OF_CALLS}
                room.update(_copied(own))
            go_back(state, room)
            if n == 0:
                return forecasts[:0]
            # a target far off costs the forecasts beside it their last digits
            forecasts = self._learn_rows(state, X[:n], u[:n], _first(n, weights), call.run)[0]
        youngest = t - max(guard["since"] for guard in guards)
        if youngest < (fence.reviews[-1] if self._guarded else LAYOUTS[-1]):
            gaps = np.isnan(X[:n])
            rows = {"X": np.where(gaps, 0.0, X[:n]), "gaps": gaps, "far": np.zeros_like(gaps)}
            rows |= {"y": y[:n], "faulty": (u != taught)[:n]}
            rows["weights"] = np.ones(n) if weights is None else weights[:n]
            for name, before in state["latest"].items():
                both = np.concatenate([before, rows[name]])
                state["latest"][name] = both[-fence.block :].copy()
        answer = forecasts[:n] * units[:n] + origins[:n]
        self._put_former(state, X[:n], answer)
        if beside:
            weights_of_rows = _first(n, weights)
            mixed = self._learn_beside(beside, X[:n], y[:n], weights_of_rows, answer, call)
            if mixed is not answer:
                learnt = errors[:n] == misses[:n]
                misses[:n] += (answer - mixed) / units[:n]
                errors[:n] = np.where(learnt, misses[:n], errors[:n])
                answer = mixed
            sizes = np.abs(misses[:n] * units[:n]).max(axis=0, where=u[:n] == taught[:n], initial=0)
            beside["largest"] = np.maximum(beside["largest"], sizes)
        state["t"] += n
        scored = slice(max(1 + self.label_delay - n_before, 0), n)  # the first forecasts are none
        of_errors = None if weights is None else weights[scored]
        self._learn_errors(state, misses[scored], errors[scored], of_errors)
        for j, lags in back.items():
            self._move(state, j, np.concatenate([u[:, j], lags]))
        for j, lags in moved.items():
            self._move(state, j, lags)
        return answer

    def _begin_twin(self, state, beside, errors, strange):
        """Let a twin begin at targets in doubt, if one is wanted."""
        trust = self.constants.trust
        if trust.wants_twin(beside, state["t"]):
            twin, usual = unguarded(_copied(state)), usual_errors(state)
            trust.begin(beside, state["t"], twin, usual, errors, bool(strange[0]))

    def _learn_beside(self, beside, X, y, weights, answer, call):
        """Let the twin learn rows if there is one; return the forecasts of both, mixed."""
        twin = beside["twin"]
        if not twin:
            return answer
        call = call._replace(watches=False)
        theirs = self._learn_guarded(twin, X, y, weights, {}, call, False, {})  # all, unguarded
        self._stop(twin, call.run, {})
        return self.constants.trust.learn(beside, y, answer, theirs)

    def _choose(self, state, beside):
        """Go on as the twin if it has won, or without it if it has lost."""
        twin = beside["twin"]
        trust = self.constants.trust
        trust.rescale(beside, usual_errors(state, twin))
        if trust.judge(beside, state["t"]):
            state |= successor(twin, state)

    def _follow(self, state, j, by):
        """Move the level of target j, and the latest rows with it; return those of the dispute."""
        guard, latest = state["targets"][j], state["latest"]
        in_dispute = self.constants.fence.move(guard, by)
        n = max(len(latest["y"]) - len(in_dispute), 0)
        y, faulty = latest["y"].copy(), latest["faulty"].copy()
        y[:n, j] += by * targets.unit(guard)
        faulty[n:, j] = False
        latest |= {"y": y, "faulty": faulty}
        return in_dispute

    def _learn_rows(self, state, X, u, weights, run):
        """Learn rows and targets; return the forecasts, those of reference, and of the experts.

        These are (q, n, K), of experts that see rows and no lags, NaN where one is yet to be born.
        """
        X, experts = self._encoder().learn(state["columns"], X, u), self._experts()
        forecasts, F = experts.learn(state, X, u, ages_of(state), run, weights)
        references = F[np.arange(len(F)), :, state["reference"]].T
        return forecasts, references, F[..., experts.without_lags(state)]

    def _put_former(self, state, X, answer):
        """Put in the forecasts (n, q) of the next rows that were made before a start anew."""
        former = state["former"]
        if former:
            made = state["t"] + np.arange(len(X)) - self.label_delay
            for i, ago in enumerate((former["t"] - made[made < former["t"]]).tolist()):
                answer[i] = self._forecast_all(former, X[i : i + 1], ago)[0]

    def _learn_errors(self, state, misses, errors, weights):
        """Learn by how much forecasts have missed, and the errors that the fence makes of it."""
        weighted = errors if weights is None else weights[:, None] * errors
        for j in range(errors.shape[1]):
            state["loss"][j] += weighted[:, j] @ errors[:, j]
        state["scored"] += len(errors), len(errors) if weights is None else weights.sum()

    def _move(self, state, j, lags):
        """Go on in another unit of target j, in which its latest are these, the last one first."""
        known = state["inputs"]["lags"]
        known[: len(lags), j] = lags[: len(known)]

    def _forget(self, state, j, units):
        """Forget what was learnt of target j, and go on in other units."""
        forget(self, state, j, units)


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
def _for_targets(n_targets):
    """Return what makes the experts of a model for so many targets."""
    return partial(experts_of, kind=partial(Experts, Numbers, n_targets))


def _n_faulty(state):
    return sum(guard["n_faulty"] for guard in state["targets"])


def checked_weights(sample_weight, n):
    weights = weights_of(sample_weight, n)
    if weights.max() > _HEAVIEST:
        raise ValueError(
            f"Weights of more than {_HEAVIEST:g} in sample_weight: numbers would overflow. Divide "
            "all of them by the largest one."
        )
    return weights


def _first(n, rows):
    return None if rows is None else rows[:n]
