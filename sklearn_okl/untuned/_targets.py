"""The targets of the estimators without tuning: their unit, faulty ones, levels that change.

Targets are learnt as distances from an origin, in a unit. A target far from its forecast, in units
of recent errors, is fenced: it is learnt as the nearest point that is not so far. Where most
targets of a block are fenced, or the forecasts do worse than a constant would, origin and unit are
asked for: if a line through the forecasts of a kernel that never forgets explains the targets,
the level or the unit has changed, and origin and unit are those of the line. All that the experts
know is in these units, so it stays as it is.

Each of several targets has a fence of its own: what is wrong with one says nothing of the others.
But rows are learnt with all their targets, so they end where it is a new age for one of them, or a
fault, or a new unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import theilslopes

from .._delay import as_it_was, late
from .._types import Any, ArrayLike
from ..features._moments import faded

_TINY = 1e-9  # usual distance over the unit, or its inverse, that makes it a wrong unit
_REMOTE = 1e3  # usual distances from the origin that make it a wrong one: ridges draw towards it
_UNITS = 1e-300, 1e300
_FARTHEST = 1e60  # in units: fourth powers stay finite
_MAD = 1.4826  # standard deviations in a median distance of Gaussian numbers


@dataclass(frozen=True)
class TargetFence:
    """Learns the unit of the targets, and says which of them are not to be believed.

    Parameters
    ----------
    block : int, default=64
        Rounds between two questions whether level or unit have changed.
    window : int, default=32
        Latest rows of a block that answer it: had it come later, most would be the old ones.
    reviews : tuple of int, default=(8, 16, 32, 64, 128, 256, 512, 1024)
        Ages at which the latest targets, up to a block of them, are judged as a whole.
    reach : float, default=20.0
        Mean errors at which the fence stands: clean streams hardly ever meet it.
    early_reach : float, default=100.0
        And in the first block, which is judged as a whole when it ends.
    counted : float, default=10.0
        Mean errors as which a larger one counts in their mean, which few shall not move.
    fadings : tuple of float, default=(0.98, 0.999)
        Of the mean errors, of which the larger one counts.
    far : float, default=10.0
        In a review, distances from the median over those of nearly all its targets.
    alarm_fading, alarm : float, default=0.8 and 0.48
        Fading of the share of fenced targets, and the share that raises the alarm: three in a row.
    most : float, default=0.75
        Share of fenced targets in the window that asks for a new level or unit.
    worse : float, default=4.0
        Errors over those before the block, or those of a constant, that ask for it, too.
    explained : float, default=5.0
        Standard deviations of the errors before that those of the line may have.
    level : float, default=5.0
        And that a new level must be off.
    other_unit : float, default=4.0
        Ratio that makes a slope another unit.
    """

    block: int = 64
    window: int = 32
    reviews: tuple = (8, 16, 32, 64, 128, 256, 512, 1024)
    reach: float = 20.0
    early_reach: float = 100.0
    counted: float = 10.0
    fadings: tuple = (0.98, 0.999)
    far: float = 10.0
    alarm_fading: float = 0.8
    alarm: float = 0.48
    most: float = 0.75
    worse: float = 4.0
    explained: float = 5.0
    level: float = 5.0
    other_unit: float = 4.0

    @cached_property
    def _rates(self):
        return np.array(self.fadings)

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
            "sizes": np.zeros(len(self.fadings)),  # faded sums of the sizes of errors, as learnt
            "counts": np.zeros(len(self.fadings)),
            "alarm": 0.0,  # faded share of fenced targets
            "n_faulty": 0,
            "usual": 0.0,  # mean size of the errors before the block
            "level": 0.0,  # median of the latest block
            # latest rows: targets, forecasts, references, whether fenced
            "block": np.empty((0, 4)),
        }

    def n_alike(self, states: Any, t: Any, y: Any) -> Any:
        """Return how many of the rows of targets (n, q) of rounds t, t + 1, ... belong together.

        If all of a target have been equal for more than a block, what was known was next to
        nothing: another age begins with the first one that differs.
        """
        return min(self._n_alike(state, t, y[:, j]) for j, state in enumerate(states))

    def _n_alike(self, state, t, y):
        others = y != state["origin"]
        if (
            not state["guarded"]
            or state["unit"]
            or t - state["since"] < self.block
            or not others.any()
        ):
            return len(y)
        if others[0]:
            fresh = self.start()
            state.update(
                {name: fresh[name] for name in ("sizes", "counts", "usual", "alarm")}, since=t
            )
            return 1
        return int(others.argmax())

    def scaled(self, states: Any, y: Any) -> Any:
        """Return targets (n, q) in units; the first that is not the origin gives the unit."""
        u = np.empty_like(y)
        for j, state in enumerate(states):
            u[:, j] = self._scaled(state, y[:, j])
        return u

    def _scaled(self, state, y):
        with np.errstate(over="ignore"):
            distances = y - state["origin"]
            others = distances[distances != 0.0]
            if state["unit"] == 0.0 and len(others):
                state["unit"] = float(np.clip(np.abs(others[0]), *_UNITS))
            return np.clip(distances / unit(state), -_FARTHEST, _FARTHEST)

    def alarmed(self, states: Any) -> Any:
        """Return whether many of the latest values of a target were fenced."""
        return any(state["alarm"] > self.alarm for state in states)

    def n_sound(self, states: Any, t: Any, u: Any, forecasts: Any) -> Any:
        """Return how many of the rows (n, q) of rounds t, t + 1, ... come before a far target."""
        errors = u - forecasts
        return min(self._n_sound(state, t, errors[:, j]) for j, state in enumerate(states))

    def _n_sound(self, state, t, errors):
        sizes, counts = (path[:, :-1] for path in self._paths(state, np.abs(errors)))
        means = (sizes / np.maximum(counts, 1.0)).max(axis=0)
        far = np.abs(errors) > self._reach(state, means, t + np.arange(len(errors)))
        return int(far.argmax()) if far.any() else len(errors)

    def fenced(self, states: Any, t: Any, u: Any, forecasts: Any) -> Any:
        """Return as what targets u (q,) of round t are learnt: themselves, or those at the fence.

        Under alarm a fenced target is learnt as its own forecast: many in a row are a new level or
        a fault that lasts, and the end of the block will tell.
        """
        rows = zip(states, u.tolist(), forecasts.tolist(), strict=True)
        return np.array([self._fenced(state, t, *row) for state, *row in rows])

    def _fenced(self, state, t, target, forecast):
        size = self._reach_of(state, t)
        if abs(target - forecast) <= size:
            return target
        if self.alarm_fading * state["alarm"] + (1.0 - self.alarm_fading) > self.alarm:
            return forecast
        return float(np.clip(target, forecast - size, forecast + size))

    def learn(
        self, states: Any, t: Any, u: Any, forecasts: ArrayLike, references: Any, taught: Any
    ) -> Any:
        """Learn q targets u (n, q) of rounds t, t + 1, ... as they were `taught`, a state for each.

        Returns
        -------
        n_learnt : int
            Less than n where origin and unit of a target are others from that round on.
        moved : dict
            By the number of each such target, those of the block that changed them, (block,), the
            latest first, in the new unit.
        """
        low = 0
        while low < len(u):
            high = min(len(u), low + self.block - (t + low) % self.block)
            rows = slice(low, high)
            for j, state in enumerate(states):
                known = np.tile(_origin_and_unit(state), (high - low, 1))
                _, state["past"] = late(known, state["past"])
                of_target = (part[rows, j] for part in (u, forecasts, references, taught))
                self._learn_rows(state, t + low, *of_target)
            low = high
            if (t + low) % self.block == 0:
                moved = {j: self._judge_block(state, t + low) for j, state in enumerate(states)}
                moved = {j: lags for j, lags in moved.items() if lags is not None}
                if moved:
                    return low, moved
        return low, {}

    def errors_to_learn(self, states: Any, t: Any, u: Any, forecasts: Any, taught: Any) -> Any:
        """Return the errors of forecasts (n, q), those of fenced targets as far as the fence."""
        errors = np.empty_like(u)
        for j, state in enumerate(states):
            of_target = (part[:, j] for part in (u, forecasts, taught))
            errors[:, j] = self._errors_to_learn(state, t, *of_target)
        return errors

    def _errors_to_learn(self, state, t, u, forecasts, taught):
        fenced = u != taught
        if not fenced.any():
            return u - forecasts
        size = np.where(fenced, self._reach_of(state, t), np.inf)  # fenced targets come one by one
        return np.clip(u - forecasts, -size, size)

    def _learn_rows(self, state, t, u, forecasts, references, taught):
        is_fenced = u != taught  # all or none: fenced targets come one by one
        alarm = state["alarm"] * self.alarm_fading ** len(u)
        if is_fenced[0]:
            alarm += 1.0 - self.alarm_fading
            state["n_faulty"] += 1
        state["alarm"] = alarm
        if not (is_fenced[0] and alarm > self.alarm):
            first = max(state["since"] + state["delay"] + 1 - t, 0)  # whose forecast was one
            sizes = np.abs(self._errors_to_learn(state, t, u, forecasts, taught))[first:]
            state["sizes"], state["counts"] = (
                path[:, -1].copy() for path in self._paths(state, sizes)
            )
        rows = np.column_stack([u, forecasts, references, is_fenced])
        state["block"] = np.concatenate([state["block"], rows])

    def _mean(self, state):
        return float((state["sizes"] / np.maximum(state["counts"], 1.0)).max())

    def _judge_block(self, state, t):
        """End a block before round t; return its targets, the latest first, if these have moved."""
        old_enough = t - state["since"] - state["delay"] > self.block
        is_whole = len(state["block"]) == self.block
        judged = state["guarded"] and old_enough and is_whole
        line = self._end_block(state) if judged else None
        block = state["block"][::-1, 0].copy()
        state["block"] = np.empty((0, 4))
        state["level"] = float(np.median(block))
        state["usual"] = self._mean(state)
        return None if line is None else self._move(state, line, block)

    def _end_block(self, state):
        """Return level and slope of the line if level or unit have changed, else None."""
        u, forecasts, references, is_fenced = state["block"][-self.window :].T
        most = is_fenced.mean() >= self.most
        if most and np.median(np.abs(u)) == _FARTHEST:
            return 0.0, _FARTHEST  # the unit was next to nothing
        deviation = np.sqrt(np.pi / 2.0) * state["usual"]
        errors = np.abs(u - forecasts)
        constant = np.abs(u - np.median(u)).mean()
        if not most and errors.mean() <= self.worse * min(constant, state["usual"]):
            return None
        if most:
            u, references = u[is_fenced > 0.0], references[is_fenced > 0.0]
        line = self._line(u, references, deviation)
        if line is None and most:  # no fault lasts so long: errors are larger now
            state["counts"] = np.minimum(state["counts"], 1.0 / (1.0 - self._rates))
            state["sizes"] = np.median(errors) * state["counts"]
            state["alarm"] = 0.0
        return line

    def _move(self, state, line, block):
        """Let targets on a line through the old ones count as these; return a block of them."""
        level, slope = line
        state["origin"] += level * unit(state)
        state["unit"] = float(np.clip(slope * unit(state), *_UNITS))
        state["level"] = (state["level"] - level) / slope
        state["alarm"] = 0.0
        return (block - level) / slope

    def _line(self, u, references, deviation):
        """Return level and slope of the line that explains the targets; None where none does."""
        slope, _, lowest, highest = theilslopes(u, references, alpha=0.99)
        if not lowest > 0.0 or lowest <= 1.0 <= highest:
            slope = 1.0
        level = np.median(u - slope * references)
        spread = _MAD * np.median(np.abs(u - level - slope * references))
        explained = spread <= self.explained * slope * deviation
        other_unit = max(slope, 1.0 / slope) > self.other_unit
        if explained and (other_unit or abs(level) > self.level * deviation):
            return float(level), float(slope)
        return None

    def _paths(self, state, sizes):
        """Return the faded sums of the sizes of errors, and their counts, (2, n + 1) each."""
        if state["usual"] > 0.0:
            sizes = np.minimum(sizes, self.counted * state["usual"])
        paths = []
        for name, terms in (("sizes", sizes), ("counts", np.ones(len(sizes)))):
            if len(terms) == 1:
                paths.append(
                    faded(np.full((1, len(self._rates)), terms[0]), state[name], self._rates).T
                )
                continue
            columns = [
                faded(terms[:, None], start[None], fading)
                for fading, start in zip(self._rates, state[name], strict=True)
            ]
            paths.append(np.hstack(columns).T)
        return paths

    def _reach_of(self, state, t):
        """Return how far from its forecast the target of round t may be, in units."""
        return self._reach(state, self._mean(state), t)

    def _reach(self, state, mean, t):
        """Return the distance of the fence from mean errors before rounds t, infinite if none."""
        age = t - state["since"] - state["delay"]
        factor = np.where(
            age < self.reviews[0], np.inf, np.where(age < self.block, self.early_reach, self.reach)
        )
        with np.errstate(invalid="ignore"):
            return np.where(state["guarded"] & (mean > 0.0), factor * mean, np.inf)

    def first_faulty(self, y: ArrayLike) -> Any:
        """Judge targets (n,) as a whole.

        Returns
        -------
        faulty : ndarray of shape (n,)
            Which of them lie far beyond nearly all others.
        middle, usual : float
            Their median, and the distance from it of nearly all.
        """
        with np.errstate(over="ignore"):
            middle = np.median(y)
            distances = np.abs(y - middle)
        usual = np.sort(distances)[len(y) - 1 - max(1, len(y) // 10)]
        far = self.far * usual if usual > 0.0 else np.inf
        return distances > far, middle, usual

    def is_sane(self, state: Any, middle: Any, usual: Any) -> Any:
        """Return whether origin and unit fit targets at usual distances around a middle."""
        with np.errstate(over="ignore"):
            near = abs(middle - state["origin"]) <= _REMOTE * usual
            return usual == 0.0 or (near and _TINY < usual / unit(state) < 1.0 / _TINY)


def unit(state):
    """Return the unit of the targets; 1 where all have been equal."""
    return state["unit"] or 1.0


def unscaled(states, u, ago=0):
    """Return forecasts (..., q) in the units that the targets had some rounds ago."""
    known = [as_it_was(_origin_and_unit(state), state["past"], ago) for state in states]
    origins, sizes = np.transpose(known)
    return u * sizes + origins


def units_read(states, n):
    """Return the origins and units (2, n, q) in which forecasts of the next rounds were made."""
    read = [late(np.tile(_origin_and_unit(state), (n, 1)), state["past"])[0] for state in states]
    return np.transpose(read, (2, 1, 0))


def _origin_and_unit(state):
    return np.array([state["origin"], unit(state)])
