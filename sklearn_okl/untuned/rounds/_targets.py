"""The targets of the estimators without tuning: their unit, faulty ones, levels that change.

Targets are learnt as distances from an origin, in a unit. One is in doubt if it is far from its
forecast, and from that of every expert that sees X, in robust deviations of the latest errors. Such
a target may be a fault or the first one of a new level. Both answers go on beside each other: while
a dispute lasts its targets are fenced, and whether the next ones agree with the new level is
counted. How such disputes have ended before is kept as log odds, so that a stream that has shown
levels is believed after one row, and one that has shown faults only after many. Who is believed
moves the origin: all that the experts know is a distance from it, so it stays as it is.

At the end of a block it is asked whether the unit is another one, see `_blocks.py`.

Each of several targets has a fence of its own: what is wrong with one says nothing of the others.
But rows are learnt with all their targets, so they end where it is a new age for one of them, or a
doubt, or a new unit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._delay import late
from ..._types import Any, ArrayLike
from ...features._faults import runs
from . import _blocks, _lines, _nones
from ._deviations import deviation, deviations, windows_of
from ._nones import are_none, is_explained
from ._target_units import FARTHEST, UNITS, in_units, unit


@dataclass(frozen=True)
class TargetFence:
    """Learns the unit of the targets, and says which of them are not to be believed.

    Parameters
    ----------
    block : int, default=64
        Rounds between two questions whether level or unit have changed.
    window, fewest : int, default=32 and 16
        Latest rows of a block that answer it: had it come later, most would be the old ones. And
        the fewest after a new level.
    reviews : tuple of int, default=(8, 16, 32, 64, 128, 256, 512, 1024)
        Ages at which the latest targets, up to a block of them, are judged as a whole.
    reach : float, default=6.0
        Robust deviations of the latest errors at which the fence stands: clean streams hardly ever
        meet it.
    early_reach : float, default=12.0
        And in the first block, which is judged as a whole when it ends.
    latest : int, default=113
        Errors whose median is the robust deviation: half of them may be faults.
    refresh : int, default=8
        Rounds after which it is taken anew.
    cap : float, default=3.0
        Reaches as how far off a target in doubt is learnt at most, and from which on the less the
        farther off it is.
    odds : tuple of float, default=(-4.0, -36.0, 8.0)
        Log odds of a new level over a fault at the start, and their limits.
    bound : float, default=3.0
        Log odds that a row, or a dispute that has ended, counts at most.
    settled : float, default=2.0
        Log odds from which on a new level is believed.
    most : float, default=0.75
        Share of fenced targets in the window that asks for a new level or unit.
    worse : float, default=4.0
        Errors over those before the block, or those of a constant, that ask for it, too.
    explained : float, default=10.0
        Standard deviations of the errors before that those of the line may have.
    level : float, default=5.0
        And that a new level must be off.
    other_unit : float, default=4.0
        Ratio that makes a slope another unit.
    suspect : float, default=1.3
        Root mean square of a block's errors, over what it has long been, that asks for a model
        that begins anew: of Gaussian errors in one block of a thousand. And ratio of the errors of
        a quarter, while young, to those of a constant from which on slopes are asked for.
    abrupt : float, default=1.65
        And of those of a quarter of a block: of Gaussian errors in one of four thousand.
    restless : int, default=2
        New levels in a block that ask for it, too: columns may say what they follow, and who takes
        them for levels never learns it.
    recall : float, default=0.2
        How much of what it has long been is that of the latest block, in logarithms.
    """

    block: int = 64
    window: int = 32
    fewest: int = 16
    reviews: tuple = (8, 16, 32, 64, 128, 256, 512, 1024)
    reach: float = 6.0
    early_reach: float = 12.0
    latest: int = 113
    refresh: int = 8
    cap: float = 3.0
    odds: tuple = (-4.0, -36.0, 8.0)
    bound: float = 3.0
    settled: float = 2.0
    most: float = 0.75
    worse: float = 4.0
    explained: float = 10.0
    level: float = 5.0
    other_unit: float = 4.0
    suspect: float = 1.3
    abrupt: float = 1.65
    restless: int = 2
    recall: float = 0.2

    def start(self, guarded: Any = True, delay: Any = 0) -> Any:
        """Return the state before the first target; labels need no guard, however rare they are.

        Forecasts know the targets up to `delay` rounds before the last one.
        """
        return {
            "guarded": guarded,
            "delay": delay,
            "past": np.tile([0.0, 1.0], (delay, 1)),  # origins and units before the latest rounds
            # the round from which on ages count: that of the first other target, if late
            "since": 0,
            "origin": 0.0,  # the first target
            "unit": 0.0,  # distance of the first other one, in which everything is measured
            "errors": np.empty(0),  # sizes of the latest errors
            "values": np.empty(0),  # the latest targets, but for those in doubt
            "deviation": np.inf,  # robust, of the errors before the latest refresh
            "odds": self.odds[0],  # log odds that what is in doubt is a new level
            "believed": self.odds[0],  # and those before the first row of the model
            # rows in a row in doubt that agree, how far the last one is off, itself, and whether
            # the row of the first was strange
            "dispute": np.zeros(4),
            # points in a row that are on a line, its last step, and what is said of it
            "line": _lines.start(),
            "of_faults": 0.0,  # points of lines that were some
            "stuck": False,  # whether the latest one is the very one before, in doubt
            # last move of the level: how far, how many rows were needed, how many have come since
            "moved": np.zeros(3),
            "n_faulty": 0,
            "n_runs": 0,  # of targets in doubt, each block of its own
            **_nones.start(),
            "level": 0.0,  # median of the latest block
            "usual": 0.0,  # deviation at its end, 0 where none was known
            "long": 0.0,  # what the root mean square of a block's errors has long been, or 0
            "roughest": 0.0,  # the largest of a quarter of a block over it so far
            "power": 0.0,  # mean square of the latest blocks' errors, or 0
            "of_levels": 0.0,  # and what the rows by which a level was told add to it
            "suspect": 0.0,  # that of the latest rows over it, where it is much larger
            "worse": 0.0,  # and over that of a constant
            "n_moves": 0,  # of the level, in this block
            "missed": 0.0,  # sum of the squares by which these were missed
            "restless": False,  # whether the level moved often in the latest block
            # latest rows: targets, forecasts, references, distances from the nearest expert that
            # sees X, whether fenced, and targets as distances from the origin that is now
            "block": np.empty((0, 6)),
        }

    def n_alike(self, states: Any, t: Any, y: Any) -> Any:
        """Return how many of the rows of targets (n, q) of rounds t, t + 1, ... belong together.

        If all of a target have been equal for more than a block, what was known was next to
        nothing: another age begins with the first one that differs.
        """
        return min(self._n_alike(state, t, y[:, j]) for j, state in enumerate(states))

    def _n_alike(self, state, t, y):
        if not state["guarded"] or state["unit"] or t - state["since"] < self.block:
            return len(y)
        others = y != state["origin"]
        if not others.any():
            return len(y)
        if others[0]:
            fresh = self.start()
            state.update(
                {name: fresh[name] for name in ("errors", "values", "deviation")},
                since=t,
            )
            return 1
        return int(others.argmax())

    def scaled(self, states: Any, y: Any) -> Any:
        """Return targets (n, q) in units; the first that is not the origin gives the unit."""
        with np.errstate(over="ignore"):
            distances = y - [state["origin"] for state in states]
            for j, state in enumerate(states):
                if state["unit"] == 0.0:
                    others = distances[distances[:, j] != 0.0, j]
                    if len(others):
                        state["unit"] = float(np.clip(np.abs(others[0]), *UNITS))
            u = distances / [unit(state) for state in states]
            return np.clip(u, -FARTHEST, FARTHEST)

    def disputed(self, states: Any) -> Any:
        """Return whether the next row may end a dispute."""
        return any(state["dispute"][0] > 0.0 for state in states)

    def say_nothing(self, states: Any) -> Any:
        """Return of which targets (q,) the latest row tells nothing: it was as faults have been."""
        return np.array([state["stuck"] or _lines.are_like_faults(state) for state in states])

    def n_sound(
        self,
        states: Any,
        t: Any,
        y: Any,
        u: Any,
        forecasts: Any,
        experts: Any,
        least: Any,
        path: Any,
    ) -> Any:
        """Return how many of the rows (n, q) of rounds t, t + 1, ... come before one in doubt.

        Targets are y as they came, and u in units. The forecasts of experts that see X are
        (q, n, K), NaN where one has none. Errors of up to `least` (q,) put none in doubt, but
        those of numbers that stand for none, as no expert says. The deviations are on a `path`,
        see there.
        """
        errors = np.abs(u - forecasts)
        reach, is_old, near, far = self._looked_at(states, t, errors, path)
        nones = np.stack([are_none(*one) for one in zip(states, u.T, strict=True)], axis=1)
        still = np.zeros(u.shape, dtype=bool)
        may_be = far & is_old
        for j in np.flatnonzero(may_be.any(axis=0)).tolist():
            of_target = may_be[:, j], y[:, j], u[:, j]
            still[:, j] = _nones.stand_still(self, states[j], *of_target)
        # what is nearer is learnt as it is
        limit, beyond = np.where(is_old, self.cap * reach, reach), errors > least
        counts = (near | far) & (beyond | nones)
        n, asks = len(u), counts & far
        for j in np.flatnonzero(asks.any(axis=0)).tolist():
            of_target = (part[:n, j] for part in (near & is_old, far, asks, y, u, errors))
            n, known = _nones.n_known(self, states[j], *of_target, experts[j], reach[:, j])
            nones[:n, j] = known
        asked = ((errors > limit) | nones | still) & counts
        for i, j in np.argwhere(asked[:n]).tolist():
            is_sure = nones[i, j] and beyond[i, j]
            if is_sure or not is_explained(u[i, j], errors[i, j], experts[j, i], reach[i, j]):
                return i
        return n

    def believed(
        self, states: Any, t: Any, u: Any, forecasts: Any, experts: Any, strange: Any
    ) -> Any:
        """Judge the targets u (q,) of round t, met alone; its row may be strange, (1,).

        A level that begins with a strange row is believed as any other, but it is learnt as it
        comes: what X explains is no new level.

        Returns
        -------
        taught : ndarray of shape (q,)
            As what they are learnt: themselves, or nearer to their forecasts.
        moves : ndarray of shape (q,)
            By how much levels have moved, 0 where they have not.
        """
        rows = zip(states, u.tolist(), forecasts.tolist(), experts[:, 0], strict=True)
        found = [self._believed(state, t, *row, strange[0]) for state, *row in rows]
        return tuple(np.array(part) for part in zip(*found, strict=True))

    def _believed(self, state, t, target, forecast, experts, is_strange):
        """Return as what a target is learnt, and by how much its level has moved."""
        if are_none(state, target):
            state["stuck"] = bool(target == in_units(state, state["latest"]))
            return forecast, 0.0
        reach, error = self._reach(state, t), target - forecast
        n, off, last, began_strangely = state["dispute"].tolist()
        is_near = not abs(error) > reach
        is_known = is_near or is_explained(target, error, experts, reach)
        is_same = n > 0.0 and target == last
        if self._is_old(state, t) and not is_known:
            is_same |= target == in_units(state, state["latest"])
        state["stuck"] = is_same and _nones.is_the_same(self, state, target, n)
        if state["stuck"]:
            return forecast, 0.0
        if is_known:
            if n > 0.0 and is_near:  # an expert that sees why says nothing of other rows
                is_level = abs(target - last) < abs(error)
                self._settle(state, self.bound if is_level else -self.bound)
            state["line"] = _lines.start()
            # while targets are off, the reason may be what began strangely
            state["dispute"] = np.array([0.0, 0.0, 0.0, 0.0 if is_near else began_strangely])
            return target, 0.0
        # the first one may have taught something
        agrees = n > 0.0 and abs(error - off) <= reach * (1.0 + self.cap * (n == 1.0))
        is_far = abs(error) > self.cap * reach  # nearer levels are left to the experts
        was_line = state["line"][2] > 0.0
        is_line = _lines.learn(self, state, error, is_far, reach)
        n = n + 1.0 if agrees else float(is_far)
        began_strangely = began_strangely or float(is_strange)
        state["dispute"] = np.array([n, error, target, began_strangely])
        is_level = is_far and state["odds"] + self.bound * (n - 1.0) >= self.settled
        # what is off may read so, with any last digits: no twin learns that from rows alike
        across = n > 1.0 and _nones.is_across(state, target, self.cap * reach)
        state["stuck"] = across and n < self.block // 8
        is_level = (is_level or is_line) and not state["stuck"]
        if is_level and began_strangely:
            self._settle(state, self.bound)
            return target, 0.0
        # back again within as many rows as it took: those were the faults
        moved, needed, since = state["moved"].tolist()
        limit = reach * (1.0 + self.cap * was_line)
        is_return = moved != 0.0 and since <= needed and abs(error + moved) <= limit
        if is_return or is_level:
            self._move_to(state, error, is_return, across, was_line)
            return target, error
        # of a level, perhaps: the second of a dispute, or the third in a row
        third = len(state["block"]) > 1 and state["block"][-2:, 4].all()
        if not self._is_old(state, t) or (is_far and (n > 1.0 or third)):
            return forecast, 0.0
        if not is_far:
            return target, 0.0
        # the farther off it is beyond the cap, the less it teaches
        return forecast + error * (self.cap * reach / error) ** 2, 0.0

    def _move_to(self, state, error, is_return, across, was_line):
        """Say of a level that it moves by an error, and how the dispute has ended."""
        moved, needed, _ = state["moved"].tolist()
        n, goes_on = state["dispute"][0], state["line"][2] == _lines.GOES_ON and not is_return
        if is_return and needed == FARTHEST:
            state["block"] = state["block"][:0]  # of nothing that counts
        if is_return:
            self._settle(state, -2.0 * self.bound)
            _lines.learn_return(state, was_line)
        elif not goes_on:
            self._settle(state, self.bound)
        needed = float(self.block) if across else n
        if state["line"][2] in (_lines.BELIEVED, _lines.GOES_ON):
            state["dispute"][0], needed = _lines.n_rows(state), state["line"][0]
        error += moved * goes_on
        state["moved"] = np.array([0.0 if is_return else error, needed, 0.0])

    def _is_old(self, state, t):
        """Tell whether forecasts of a block were known before round t."""
        return t - state["since"] - state["delay"] >= self.block

    def odds_after(self, faulty: ArrayLike, before: float) -> Any:
        """Return the log odds after first rows of which some were `faulty` (n,), in how many runs.

        They were those `before`. A run of more than two may be a level.
        """
        first, end = runs(faulty)
        lengths = end - first
        return max(before - self.bound * int((lengths <= 2).sum()), self.odds[1])

    def _settle(self, state, by):
        """Let a dispute that has ended count in the odds."""
        state["odds"] = float(np.clip(state["odds"] + by, *self.odds[1:]))

    def move(self, state: Any, by: Any) -> Any:
        """Move the level of a target: what is remembered of it stays where it is.

        Returns
        -------
        latest : ndarray
            Its latest targets, those of the dispute, the last one first, as from the new level.
        """
        n = int(state["dispute"][0]) - 1  # rows before this one
        if not _lines.moves(state):
            state["n_moves"] += 1
            state["missed"] = min(state["missed"] + (n + 1.0) * by**2, FARTHEST)
        state["origin"] += by * unit(state)
        state["block"] = state["block"].copy()
        state["block"][:, 5] -= by
        if n:  # these were in doubt
            state["errors"] = state["errors"].copy()
            n = min(n, len(state["block"]))
            rows = state["block"][len(state["block"]) - n :]
            rows[:, 0] -= by
            if state["line"][2] != _lines.BELIEVED:  # on a slope they are far from the level
                state["n_faulty"] -= int(rows[:, 4].sum())
                rows[:, 3] = np.abs(rows[:, 0] - rows[:, 1])  # that of no expert is known
                rows[:, 4] = 0.0
                places = slice(max(len(state["errors"]) - n, 0), None)
                state["errors"][places] = rows[-len(state["errors"]) :, 3]
        state["dispute"] = np.zeros(4)
        return state["block"][len(state["block"]) - n :][::-1, 0].copy()

    def learn(
        self,
        states: Any,
        t: Any,
        u: Any,
        forecasts: ArrayLike,
        references: Any,
        distances: Any,
        taught: Any,
        known: Any,
        beyond: Any = _blocks.NONE,
        path: Any = None,
    ) -> Any:
        """Learn q targets u (n, q) of rounds t, t + 1, ... as they were `taught`, a state for each.

        The distances are those from the nearest forecast of an expert that sees X. Of each target
        `known` has origin and unit (2,) as they were before the first of the rounds. They end where
        a change is suspected `beyond` two ratios. The `path` is that of the rounds.

        Returns
        -------
        n_learnt : int
            Less than n where origin and unit of a target are others from that round on, or a change
            is suspected.
        moved : dict
            By the number of each such target, those of the block that changed them, (block,), the
            latest first, in the new unit.
        """
        path = self.path(states, t, u, forecasts) if path is None else path
        low, in_doubt = 0, u != taught
        rows = np.empty((*u.shape, 6))
        for k, part in enumerate((u, forecasts, references, distances, in_doubt, u)):
            rows[..., k] = part
        while low < len(u):
            high = min(len(u), low + self.block - (t + low) % self.block)
            if beyond != _blocks.NONE:
                of_block = (t + low, rows[low:high].swapaxes(0, 1))
                high = low + _blocks.n_until_abrupt(self, states, *of_block, beyond)
            for j, state in enumerate(states):
                if state["delay"]:
                    before = np.tile(known[j], (high - low, 1))
                    _, state["past"] = late(before, state["past"])
                state["deviation"] = float(path[high, j])
                self._learn_rows(state, t + low, rows[low:high, j])
            low = high
            moved = self._judged(states, t + low, len(u) == 1)
            if moved or _blocks.ask_for_another(states, beyond):
                return low, moved
        return low, {}

    def remember_far(
        self,
        states: Any,
        t: Any,
        y: Any,
        errors: ArrayLike,
        path: Any,
        origins: Any,
        learnt: ArrayLike,
    ) -> Any:
        """Remember which targets y (n, q) of rounds t, ..., as they came, are far by their errors.

        The deviations are on a `path`, see there; the origins are those known before. Some were
        `learnt` as they came.
        """
        _, is_old, near, far = self._looked_at(states, t, np.abs(errors), path)
        _nones.remember(states, y, near & is_old, far, origins, learnt)

    def _looked_at(self, states, t, sizes, path):
        """Return where fences stand, which are old, and which errors (n, q) are near, or far."""
        ages = self._ages(states, t, len(sizes))
        reach, is_old = self._factors(ages) * path[:-1], ages >= self.block
        counts = np.array([state["guarded"] for state in states])
        return reach, is_old, counts & (sizes <= reach), counts & (sizes > reach)

    def learn_nones(self, states: Any, t: Any, *of_row: Any) -> Any:
        """Learn which targets of round t, met alone, stand for none; see `learn` in `_nones.py`."""
        return _nones.learn(self, states, *of_row, [self._reach(state, t) for state in states])

    def errors_to_learn(self, states: Any, t: Any, u: Any, forecasts: Any, taught: Any) -> Any:
        """Return the errors of forecasts (n, q), those of targets in doubt as far as the fence."""
        errors = u - forecasts
        for j in np.flatnonzero((u != taught).any(axis=0)).tolist():  # such targets come one by one
            reach = self._reach(states[j], t)
            errors[:, j] = np.clip(errors[:, j], -reach, reach)
        return errors

    def _learn_rows(self, state, t, rows):
        """Remember rows of a block as they are in it, all or none of them in doubt."""
        n, in_doubt = len(rows), rows[0, 4]
        is_none = _lines.just_went_on(state) or (in_doubt and bool(are_none(state, rows[0, 0])))
        state["moved"][2] += n
        state["n_faulty"] += int(in_doubt)
        state["n_runs"] += int(in_doubt and not state["block"][-1:, 4].any())
        state["stuck"] &= bool(in_doubt)
        seen = rows[n if is_none else self._first(state, t) :, :2]
        errors = np.abs(seen[:, 0] - seen[:, 1])
        state["errors"] = np.concatenate([state["errors"], errors])[-self.latest :]
        if not in_doubt:
            state["values"] = np.concatenate([state["values"], seen[:, 0]])[-self.latest :]
        state["block"] = np.concatenate([state["block"], rows])

    def _first(self, state, t):
        """Return the first of rounds t, t + 1, ... whose forecast was one, 0 for t."""
        return max(state["since"] + state["delay"] + 1 - t, 0)

    def path(self, states: Any, t: Any, u: Any, forecasts: Any) -> Any:
        """Return the deviations (n + 1, q) known before rounds t, t + 1, ..., and after them.

        Of no errors, and of targets most of which are equal and say nothing, it is infinite. What
        stands for none, and is met alone, is no error.
        """
        n = len(u)
        path = np.empty((n + 1, len(states)))
        path[:] = [state["deviation"] for state in states]
        first_due = self.refresh - t % self.refresh
        if first_due > n:
            return path
        dues = np.arange(first_due, n + 1, self.refresh)
        full, windows = [], []
        for j, state in enumerate(states):
            is_none = n == 1 and bool(are_none(state, u[0, j]))
            is_none |= _lines.just_went_on(state)
            first = n if is_none else self._first(state, t)
            sizes, n_new = np.abs(u[first:, j] - forecasts[first:, j]), np.maximum(dues - first, 0)
            seen = (state["errors"], sizes), (state["values"], u[first:, j])
            known = [(np.concatenate(parts), len(parts[0]) + n_new) for parts in seen]
            if all(len(before) == self.latest for before, _ in seen):
                full.append(j)
                windows.append([windows_of(*part, self.latest) for part in known])
                continue
            for k, due in enumerate(dues.tolist()):
                path[due:, j] = deviation(
                    *(part[: ends[k]][-self.latest :] for part, ends in known)
                )
        if full:
            found = deviations(*np.array(windows).swapaxes(0, 1))
            path[dues[0] :, full] = np.repeat(found.T, self.refresh, axis=0)[: n + 1 - dues[0]]
        return path

    def _judged(self, states, t, is_row):
        """Judge targets before round t if it is time; return those that have moved, by number."""
        for state in states:
            _blocks.judge_quarter(self, state, t)
        if t % self.block == 0:
            judge = _blocks.judge_block
        elif t % self.refresh == 0 and (is_row or _blocks.are_restless(self, states)):
            judge = _blocks.judge_doubts
        else:
            return {}
        moved = {j: judge(self, state, t) for j, state in enumerate(states)}
        return {j: lags for j, lags in moved.items() if lags is not None}

    def _ages(self, states, t, n):
        """Return for how many rounds (n, q) targets have been forecast in rounds t, t + 1, ..."""
        begun = np.array([state["since"] + state["delay"] for state in states])
        return t + np.arange(n)[:, None] - begun

    def _factors(self, ages):
        """Return the deviations at which the fence stands at some ages."""
        old = np.where(ages < self.block, self.early_reach, self.reach)
        return np.where(ages < self.reviews[0], np.inf, old)

    def _reach(self, state, t):
        """Return how far from its forecast the target of round t may be, in units."""
        if not state["guarded"]:
            return np.inf
        return float(self._factors(self._ages([state], t, 1))[0, 0] * state["deviation"])


def distances_from(u: Any, experts: Any) -> Any:
    """Return how far targets (n, q) are from the nearest of the forecasts (q, n, K) of experts."""
    return np.fmin.reduce(np.abs(u.T[..., None] - experts), axis=-1).T
