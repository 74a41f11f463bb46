"""The guard of targets that are numbers: their units, those in doubt, and models that begin beside.

It ends a block of rows before a target in doubt, which is met alone; where one is met a twin of the
model begins that believes it, and where errors grow a model that begins anew. The rules are in
`_targets.py`, `_trust.py` and `_renewal.py`; here is when they are asked, and what follows.
"""

from __future__ import annotations

import numpy as np

from ..._linalg import column
from ...base import _copied
from ...meta._fits import takes_weights
from ..experts._experts import ages_of
from ..rows._codes import codes_of
from ..rows._layout import MAYBE
from . import _blocks, _heard, _nones, _reordering
from . import _row_fence as row_fence
from . import _target_units as target_units
from . import _targets as targets
from ._ahead import n_before_far
from ._looks import nats_of_change
from ._renewal import n_rows
from ._restarts import LAYOUTS, keep_latest, review
from ._rounds import LONGEST, Call, NoGuard
from ._snapshot import go_back, keep
from ._spread import told
from ._trust import is_guarded, successor, unguarded, usual_errors, with_beliefs
from ._waiting import Part, Waiting

_OF_CALLS = "anew", "beside"  # no copy of a state holds them
_DENSE = 16  # rows between doubts, of which fewer are learnt one by one
_SHORTEST = 64  # rows learnt before their targets are looked at, once none is in doubt


def is_sound(state):
    """Tell whether the sizes that are known of a target, as in a file not always, are sizes."""
    return all(state[name] >= 0.0 for name in ("unit", "deviation", "long", "power", "of_levels"))


class Guard(NoGuard):
    """Watches the targets of a model, or of a twin, while it learns the rows of a call.

    The state may be that of a twin, beside which no other one begins.
    """

    def __init__(self, model, state, call):
        super().__init__(model, state, call)
        self.fence, self.trust = self.experts.fence, model.constants.trust
        self.beside = state.pop("beside", {})  # of no copy of the state
        self.snapshot, self.low = {}, 0
        self.row, self.waiting = None, Waiting()
        self.alone = self.fence.disputed(state["targets"])
        self.longest = 1 if self.alone else LONGEST
        self.n_sound, self.apart = 0, _SHORTEST  # rows between doubts, now and before the latest

    @staticmethod
    def start(model):
        """Return the state before the first target."""
        fence, guarded = model._experts().fence, model._guarded
        guards = [fence.start(guarded, model.label_delay) for _ in range(model._n_outputs)]
        return {"targets": guards}

    @staticmethod
    def stops(model, state):
        """Return rounds at which targets are judged, and the kernel of reference is chosen."""
        begun = {guard["since"] for guard in state["targets"]}
        reviews = [since + age for since in begun for age in model._experts().fence.reviews]
        return *reviews, 1 << state["t"].bit_length()

    @staticmethod
    def learn_call(model, state, X, y, weights, run):
        """Learn the rows of a call; return the forecasts made on the way."""
        renewal, Y = model.constants.renewal, y.reshape(len(y), -1)
        n_first = max(1 + model.label_delay - n_rows(state), 0)
        forecasts, doubted, low = np.empty_like(Y), [], 0
        anew, experts = state.pop("anew"), model._experts()  # the former is of no copy of the state
        # a row path has come from another state, of which one that begins anew may have the age
        kept = {} if "_row" in vars(model) else vars(model).get("_state", {})
        of_twin = kept and kept["anew"]["twin"]
        trace, renews = vars(model).get("_trace"), not experts.budget.compact
        while low < len(y):
            n, t = len(y) - low, n_rows(state)
            if renews:
                n = min(n, renewal.rounds_to_stop(anew, t))
            beyond = renewal.beyond(anew, t) if renews else _blocks.NONE
            rows = slice(low, low + n)
            of_rows = X[rows], Y[rows], None if weights is None else weights[rows]
            said = [None, None] if trace is None else [[], []]  # of both models
            found = [] if renews else None
            call = Call(run, kept, beyond, said[0], experts, found)
            part, faulty = model._learn_rounds(state, *of_rows, call)
            if len(part) < n:
                of_rows = [_first(len(part), rows) for rows in of_rows]
            if anew["twin"]:
                beside = Call(run, of_twin, _blocks.NONE, said[1])
                theirs, _ = model._learn_rounds(anew["twin"], *of_rows, beside)
                odds = []
                part = renewal.learn(anew, *of_rows[:2], part, theirs, t, odds)
                if trace is not None:
                    said[0] = [
                        said[int(is_ahead)][i] for i, is_ahead in enumerate(np.array(odds) > 0.0)
                    ]
            _heard.put_former(model, anew, t, of_rows[0], part, said[0])
            if trace is not None:
                trace.extend(said[0])
            forecasts[low : low + len(part)] = part
            doubted += [low + row for row in faulty]
            low += len(part)
            if not renews:
                continue
            renewal.remember(anew, *of_rows, part, [t + row for row in faulty])
            is_other, begins = _decide(model, anew, state, call)
            kept, of_twin = {} if is_other else kept, {} if begins else of_twin  # that of another
        state["anew"], state["doubted"] = anew, np.array(doubted, dtype=int)
        forecasts[:n_first] = 0.0  # nothing was known, not even the origin
        return forecasts.reshape(y.shape)

    @staticmethod
    def forecast(model, state, X, ago, ahead):
        """Forecast by what was known some rounds ago; `ahead`: rows in order."""
        return model._flat(_heard.forecast(model, state, X, ago, ahead))

    @staticmethod
    def shares(model, state):
        return _heard.shares(model, state)

    def n_rounds(self, state, y):
        """Return how many rounds, of targets (n, q), may be learnt together."""
        n, t = min(self.longest, len(y)), state["t"]
        if self.beside["twin"]:
            n = min(n, self.fence.block - t % self.fence.block)
        if _blocks.are_restless(self.fence, state["targets"]):
            n = min(n, self.fence.refresh - t % self.fence.refresh)
        n = min(n, self.trust.rounds_of_rest(self.beside, t) or n)
        return n_before_far(self.fence, state["targets"], y[:n]) if n > 1 else n

    def learn(self, state, X, y, weights):
        """Learn rows up to the first faulty target or new unit; return their forecasts (n, q)."""
        n_faulty, n_runs, was_alone = _n_faulty(state), _n_runs(state), self.alone
        row = self._row_of(state) if len(y) == 1 and state["t"] else None
        part = None if row is None or self.alone else self._learn_row(row, state, X, y, weights)
        if part is not None and len(part):
            self.experts.taught_row = row
        if part is None:
            part = self._learn_block(state, X, y, weights, row)
        if self.alone and len(part) and _n_faulty(state) > n_faulty:
            self.doubted.append(self.low)
            self._note(_blocks.DOUBTED, any(map(_are_twice, n_runs, _n_runs(state))))
        self.low += len(part)
        self.n_sound = 0 if was_alone else self.n_sound + len(part)
        # a faulty target is met alone
        self.alone = len(part) < len(y) or self.fence.disputed(state["targets"])
        if self.alone:
            self.longest = 1
            if not was_alone and not self.experts.delay:  # no row is learnt alone for less if late
                self.apart = self.n_sound
        else:
            self.longest = self._n_ahead()
        return part

    def _note(self, reason, is_there):
        """Note a reason for which a model may begin anew, for who asks for it."""
        if is_there and self.call.found is not None:
            self.call.found.append(reason)

    def _n_ahead(self):
        """Return how many rows to learn before the next doubt: as many as between the latest."""
        if self.apart < _DENSE and self.n_sound < _DENSE:
            return 1
        n = 2 * max(self.longest, self.n_sound)
        return min(max(n, min(self.apart, _SHORTEST)), LONGEST)

    def review(self, state):
        """Judge the latest targets where they are old enough; begin a twin where that is new."""
        reviews = self.fence.reviews
        if not any(age in reviews for age in ages_of(state)) or not is_guarded(state):
            return
        before = dict(state)
        self._note(_blocks.LEARNT, review(self.model, state, self.call.run))
        is_anew = state["banks"] is not before["banks"]
        if is_anew and state["latest"]["faulty"].any() and not self.beside["twin"]:
            twin = unguarded(_copied(before))  # a former state is read on, too
            usual = usual_errors(state, twin)
            # of so few rows nobody knows what a fault is
            self.trust.begin(self.beside, state["t"], twin, usual, np.inf, is_strange=True)

    def ends(self, state, n_learnt):
        """Choose between model and twin at the end of a block; tell whether the call stops here."""
        if n_learnt and self.beside["twin"] and state["t"] % self.fence.block == 0:
            self._choose(state)
        for one in (state, self.beside["twin"]):
            if one:
                self.model._drop_former(one)
        beyond, found = self.call.beyond, self.call.found
        return bool(n_learnt and (found or _blocks.ask_for_another(state["targets"], beyond)))

    def close(self, state):
        """Put back what no copy of the state was to hold; nothing waits any longer."""
        self.waiting.end(self, state)
        state["beside"] = self.beside

    def _row_of(self, state):
        """Return what forecasts a row, and may learn it then; None where a block is to."""
        if self.row is None or not self.row.is_of(state):
            if self.apart < _DENSE:
                self.experts.close(state)
            before = self.call.kept if self.call.stands_at(state["t"]) else None
            self.row = self.model._row_of(state, self.experts, before=before)
        return self.row

    def _learn_block(self, state, X, y, weights, row=None):
        """Learn rows up to the first faulty target or new unit; return their forecasts (n, q).

        A faulty target is left to the next call, to be met alone, and nothing is learnt where it
        comes first: only a row that is alone is forecast before it is learnt.
        """
        fence, call = self.fence, self.call
        guards, t = state["targets"], state["t"]
        n_before = self.experts.n_learnt(state)
        if t == 0:
            for guard, origin in zip(guards, y[0].tolist(), strict=True):
                guard["origin"] = origin
        n = fence.n_alike(guards, t, y)
        X, y, weights = X[:n], y[:n], _first(n, weights)
        u = taught = fence.scaled(guards, y)
        origins, units = target_units.units_read(guards, len(u))
        scales = [target_units.origin_and_unit(guard) for guard in guards]
        moves, least = np.zeros(u.shape[1]), np.zeros(len(guards))
        if self.beside:
            least = self.trust.believed(self.beside, t) / units[0]
        if row is not None and row.ask(X) is None:
            row = None
        if self.alone and t:
            taught, moves = self._meet(state, X, y, u, least, units[0], row)
            weights = self._weights_of_none(guards, u[0], weights)
        elif not self.alone and self.beside and not call.stands_at(t):
            keep(state, self.snapshot)
        forecasts, references, experts = self._learn_rows(state, X, taught, weights, row)
        misses = u - forecasts
        back = {j: self._follow(state, j, by) for j, by in enumerate(moves.tolist()) if by != 0.0}
        u = u - moves
        errors = fence.errors_to_learn(guards, t, u, forecasts, taught)
        n, path = len(u), fence.path(guards, t, u, forecasts)
        if not self.alone:
            n = fence.n_sound(guards, t, y, u, forecasts, experts, least, path)
        rows = slice(0, n)
        distances = targets.distances_from(u[rows], experts[:, rows])
        of_rows = u[rows], forecasts[rows], references[rows], distances, taught[rows]
        known = [guard["origin"] for guard in guards]
        n, moved = fence.learn(guards, t, *of_rows, scales, call.beyond, path)
        if n < len(u):
            self._go_back(state)
            if n == 0:
                return forecasts[:0]
            # a target far off costs the forecasts beside it their last digits
            forecasts = self._learn_rows(state, X[:n], u[:n], _first(n, weights))[0]
        X, y, u, taught, weights = X[:n], y[:n], u[:n], taught[:n], _first(n, weights)
        self._keep_latest(state, X, y, u != taught, weights)
        fence.remember_far(guards, t, y, u - forecasts[:n], path[: n + 1], known, u == taught)
        answer = forecasts[:n] * units[:n] + origins[:n]
        self.model._put_former(state, X, answer)
        state["t"] += n
        n_first = max(1 + self.model.label_delay - n_before, 0)
        of_errors = misses[:n], errors[:n], units[:n], u == taught
        self._hear(state, Part(X, y, weights, answer, *of_errors, n_first))
        if back or moved:
            self.waiting.end(self, state)
        self.trust.hear_of_lines(self.beside, [guards[j] for j in back])
        for j, lags in back.items():
            self._move(state, j, np.concatenate([u[:, j], lags]))
        for j, lags in moved.items():
            self._move(state, j, lags)
        return answer

    def _learn_row(self, row, state, X, y, weights):
        """Do what `_learn_block` does with a row in no doubt, which is forecast first.

        Return None where the row wants a block: nothing but the targets' units are changed.
        """
        fence, guards, t = self.fence, state["targets"], state["t"]
        u = row_fence.scaled_row(fence, guards, t, y[0])
        forecasts = row.ask(X)
        if forecasts is None:
            return None
        units = np.array([target_units.unit(guard) for guard in guards])
        origins = np.array([guard["origin"] for guard in guards])
        least = self.trust.believed(self.beside, t) / units if self.beside else units * 0.0
        experts, misses = row.F.take(row.without_lags, axis=1), (u - forecasts)[None]
        sizes = np.abs(misses[0])
        usual, after = row_fence.deviations_of_row(fence, guards, t, u, sizes)
        if not row_fence.is_sound(fence, guards, t, y[0], u, sizes, experts, least, usual):
            return forecasts[None][:0]
        weight = _weight_of_one(weights)
        row.teach(X, u, forecasts, weight, self.call.run)
        references = row.F.take(row.first + state["reference"])
        distances = np.fmin.reduce(np.abs(column(u) - experts), axis=-1)
        row_fence.remember_far(fence, guards, t, y[0], sizes, usual)
        of_experts = forecasts, references, distances
        moved = row_fence.learn_row(fence, guards, t, u, sizes, of_experts, after)
        self._keep_latest(state, X, y, None, weights)
        answer = (forecasts * units + origins)[None]
        self.model._put_former(state, X, answer)
        state["t"] += 1
        of_errors = misses, misses, units[None], np.ones(y.shape, dtype=bool)
        is_plain = self.call.trace is None
        self._hear(state, Part(X, y, weights, answer, *of_errors, is_plain=is_plain))
        if moved:
            self.waiting.end(self, state)
        for j, lags in moved.items():
            self._move(state, j, lags)
        return answer

    def _hear(self, state, part):
        """Score rows that were learnt, once the twin has learnt them, if there is one.

        Those that come one by one wait, but where it counts at once how large errors were.
        """
        beside, waits = self.beside, self.waiting
        is_heard = beside and beside["twin"]
        may_wait = beside and not beside["won"] and len(part.y) == self.longest == 1
        if not (is_heard or may_wait or waits.parts):
            self.score(state, part)
        elif waits.put(self, state, part):
            waits.end(self, state)

    def score(self, state, part):
        """Learn the errors of rows; trace their laws, of which the first may have none."""
        misses, units, believed = part.misses, part.units, part.believed
        if self.beside:
            sizes = np.abs(misses * units).max(axis=0, where=believed, initial=0)
            self.beside["largest"] = np.maximum(self.beside["largest"], sizes)
        record = self.model._record
        if part.is_plain and record.learn_row(state, misses[0], _weight_of_one(part.weights)):
            return
        scored = slice(part.n_first, None)
        weights = None if part.weights is None else part.weights[scored]
        trace, said = self.call.trace, None if self.call.trace is None else []
        misses = misses[scored]
        record.learn(state, misses, part.errors[scored], weights, said)
        if trace is None:
            return
        trace.extend(np.full((len(units) - len(misses), units.shape[1], 199), np.nan))
        if len(misses):
            trace.extend(units[-len(misses) :, :, None] * np.array(said))
        n, n_first = len(units), 1 + self.model.label_delay - n_rows(state)
        for i, ago in self.model._asked_before(state, state["t"] - n, n):
            if i - n >= n_first:
                trace[i - n] = told(self.model, state["former"], part.X[i : i + 1], ago)

    def _meet(self, state, X, y, u, least, units, row):
        """Meet targets (1, q), y as they came and u in units, alone.

        Return as what they are learnt, and how levels move.
        """
        moves = np.zeros(u.shape[1])
        asked, of_experts, strange = self._asked(state, X, row)
        are_none = _nones.came_as_none(state["targets"], y)
        if not ((np.abs(u[0] - asked[0]) > least) | are_none[0]).any():
            return u, moves
        of_round = state["t"], y[0], u[0], asked[0], of_experts[:, 0]
        self._note(_blocks.LEARNT, self.fence.learn_nones(state["targets"], *of_round))
        of_round = state["t"], u[0], asked[0], of_experts, strange
        taught, moves = self.fence.believed(state["targets"], *of_round)
        wants_twin = self.trust.wants_twin(self.beside, state["t"])
        if ((taught != u[0]).any() or moves.any()) and wants_twin:
            self.waiting.end(self, state)
            twin, usual = unguarded(_copied(state)), usual_errors(state)
            off = (u[0] - asked[0]) * units
            self.trust.begin(self.beside, state["t"], twin, usual, off, bool(strange[0]))
        return taught[None] - moves, moves

    def _weights_of_none(self, guards, u, weights):
        """Return the weights of a row, which is none where all its targets (q,) stand for none."""
        are_none = map(_nones.are_none, guards, u.tolist())
        if not all(one or guard["stuck"] for one, guard in zip(are_none, guards, strict=True)):
            return weights
        return np.zeros(1) if takes_weights(self.model._batch_model()) else weights

    def _asked(self, state, X, row):
        """Return forecasts, those of experts without lags, and whether the row is strange."""
        experts, delay = self.experts, self.model.label_delay
        is_rare = experts.encoder.are_rare(state["columns"], X)
        if row is not None:
            strange = row.inputs.are_strange(row.Z)
            return row.ask(X)[None], row.F[:, None, row.without_lags], strange | is_rare
        Z = experts.encoder.look(state["columns"], X, delay)
        asked = experts.forecast(state, Z, ages_of(state), delay, codes=codes_of(state, X))
        F, strange = experts.that_see_rows(state, Z, delay)
        return asked, F, strange | is_rare

    def _learn_rows(self, state, X, u, weights, row=None):
        """Learn rows; return the forecasts, those of reference, and of experts without lags."""
        experts = self.experts
        if row is None:
            self.row = None  # matrices are opened
            forecasts, F = experts.learn_rows(state, X, u, weights, self.call.run)
        else:
            forecasts, F = row.ask(X)[None], row.F[:, None].copy()
            row.teach(X, u[0], forecasts[0], _weight_of_one(weights), self.call.run)
        return forecasts, experts.references(state, F), F[..., experts.without_lags(state)]

    def _go_back(self, state):
        """Let the model be as it was before these rows, but for what it knows of its targets."""
        if self.call.stands_at(state["t"]):
            kept = self.call.kept.items()
            self.snapshot.update(
                _copied({name: part for name, part in kept if name not in _OF_CALLS})
            )
        go_back(state, self.snapshot)

    def _keep_latest(self, state, X, y, faulty, weights):
        """Keep the latest rows while a target is young; `faulty` (n, q), or None."""
        fence = self.fence
        youngest = state["t"] - max([guard["since"] for guard in state["targets"]])
        if youngest < (fence.reviews[-1] if self.model._guarded else LAYOUTS[-1]):
            of_targets = {"y": y, "faulty": np.zeros(y.shape, bool) if faulty is None else faulty}
            state["latest"] = keep_latest(state["latest"], fence.block, X, weights, **of_targets)

    def _choose(self, state):
        """Go on as the twin if it has won, or without it if it has lost."""
        twin = self.beside["twin"]
        self.trust.rescale(self.beside, usual_errors(state, twin))
        if self.trust.judge(self.beside, state["t"]):
            state |= successor(twin, state)

    def _follow(self, state, j, by):
        """Move the level of target j, and the latest rows with it; return those of the dispute."""
        guard, latest = state["targets"][j], state["latest"]
        in_dispute = self.fence.move(guard, by)
        n = max(len(latest["y"]) - len(in_dispute), 0)
        y, faulty = latest["y"].copy(), latest["faulty"].copy()
        y[:n, j] += by * target_units.unit(guard)
        faulty[n:, j] = False
        latest |= {"y": y, "faulty": faulty}
        return in_dispute

    def _move(self, state, j, lags):
        """Go on in another unit of target j, in which its latest are these, the last one first."""
        known = state["inputs"]["lags"]
        known[: len(lags), j] = lags[: len(known)]
        self.model._record.forgive(state, j)


def _decide(model, anew, state, call):
    """End a trial that is over, or begin one; tell if another model goes on, and if one begins."""
    renewal, begins = model.constants.renewal, True
    before = (dict(state), dict(anew)) if model.label_delay else None
    is_other = bool(anew["twin"]) and renewal.has_won(anew, state)
    if is_other:
        begins = False
    elif _blocks.DOUBTED in call.found and any(which := renewal.are_explained(anew, state)):
        _begin_anew(model, anew, state, call.run, renewal.n_kept(anew), which)
    elif n := _rows_of_change(model, anew, state, call.beyond, call.found):
        _begin_anew(model, anew, state, call.run, n)
    else:
        is_other, begins = _reordering.takes_place(model, anew, state, call.run), False
    if before is not None:
        _heard.keep_former(model, state, anew, before, is_other)
    return is_other, begins


def _rows_of_change(model, anew, state, beyond, found):
    """Return how many rows have come since a change that is suspected, if one is followed up.

    All that are kept where what was learnt is `found` to stand for none.
    """
    renewal, fence = model.constants.renewal, model.constants.fence
    if _blocks.LEARNT in found and not anew["twin"]:
        return renewal.n_kept(anew)
    is_asked = _blocks.ask_for_another(state["targets"], beyond)
    if is_asked and renewal.is_due(anew, state, fence):
        larger, worse = _blocks.suspicion(state["targets"])
        if worse > beyond[1] and not larger > beyond[0]:
            return renewal.n_since_smaller(anew, state, fence.other_unit)
        return renewal.n_since_change(anew, state, fence.suspect)
    if not renewal.looks_back(anew, state):
        return 0
    X, _, weights, errors = renewal.latest(anew, state, renewal.n_seen(state))
    known = model._experts().features_of_kernels(state, X)
    nats = np.max([nats_of_change(Z, errors, weights) for Z in known], axis=0)
    return len(X) >> int(nats.argmax()) if nats.max() >= renewal.settled else 0


def _begin_anew(model, anew, state, run, n, which=()):
    """Let a model begin anew beside that of a state, with the latest n rows.

    Of targets (q,) of which rows explain what was in doubt it believes all.
    """
    renewal = model.constants.renewal
    X, Y, weights, _ = renewal.latest(anew, state, n)
    ordered = max(MAYBE, state["columns"]["layout"]["ordered"])
    fresh = with_beliefs(model._start_rounds(X.shape[1], state["seed"], ordered), state)
    if _blocks.have_moved(state["targets"]):
        fresh = unguarded(fresh)  # it is to find out what the levels follow
    for j in np.flatnonzero(which).tolist():
        fresh["targets"][j] = _nones.forgotten(fresh["targets"][j]) | {"guarded": False}
    model._learn_rounds(fresh, X, Y, weights, Call(run, {}))
    renewal.begin_anew(anew, state, fresh, any(which))


def _are_twice(before, now):
    """Tell whether the second run in doubt begins, or after it one of twice as many."""
    return max(now - 1, 0).bit_length() > max(before - 1, 0).bit_length()


def _n_runs(state):
    return [guard["n_runs"] for guard in state["targets"]]


def _n_faulty(state):
    return sum([guard["n_faulty"] for guard in state["targets"]])


def _first(n, rows):
    return None if rows is None else rows[:n]


def _weight_of_one(weights):
    """Return the weight of a row that is alone."""
    return 1.0 if weights is None else float(weights[0])
