"""Running moments that notice when a column changes its unit.

The moments are those of `_moments.py`; when they are given up for those of a block is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._linalg import are_all
from .._tail import Shared
from .._types import Any, ArrayLike
from . import _believed, _former_units, _slopes
from ._moments import brought_near, divided, faded, paths

_ROUNDING = 1e-12  # share of a column's level below which its spread is none
_FARTHEST = 1e6  # in steady units: larger numbers would cost those of other rows their digits
_MAD = 1.4826  # standard deviations in a median distance of Gaussian numbers


@dataclass(frozen=True)
class RunningUnits:
    """Centres and scales of columns, learnt on the way, and given up where a unit changes.

    Parameters
    ----------
    clip : float, default=5.0
        Standard deviations at which a value is clipped: heavy tails carry no kernel far.
    faulty : float, default=10.0
        Standard deviations beyond which a value counts as one so far off, and does not make the
        others small for good.
    first : int, default=4
        Rows after which units are known that stay as they are: of fewer normal numbers the expected
        ridge, which counts by the inverse of their variance, would be infinite.
    block : int, default=64
        Rows after which a column is asked whether its unit has changed.
    patience : int, default=4
        Blocks before the first such question: fewer know nothing of their own spread.
    repeated : float, default=0.2
        Share of steps of 0 from which on a column's steps say nothing of its unit.
    apart : float, default=4.0
        Ratio of roughness that makes a new unit, and standard deviations of the ratios before it.
    lonely : float, default=0.1
        Largest share of the rows after a change of unit that faults, or the old unit, may have: a
        new scale leaves these aside, and no others.
    absurd : float, default=50.0
        Standard deviations up to which a value is believed, and counts in full where lines see it.
        From there on it is none, unless that of the row before is near it and another one, or the
        column often stands still.
    strange : float, default=20.0
        Usual steps from the row before that make a row strange: it may be why its target is.
    aftermath : int, default=3
        Rows for which that counts.
    fewest : int, default=8
        Rows of the first block after which a column that has stood still is seen to step.
    rare : int, default=8
        Such steps in a block up to which they say anything; of a column that stands still but for
        half as many steps, each counts.
    """

    clip: float = 5.0
    faulty: float = 10.0
    first: int = 4
    block: int = 64
    patience: int = 4
    repeated: float = 0.2
    apart: float = 4.0
    lonely: float = 0.1
    absurd: float = 50.0
    strange: float = 20.0
    aftermath: int = 3
    fewest: int = 8
    rare: int = 8

    def start(self, n_columns: Any, n_targets: Any = 0) -> Any:
        """Return what is known of columns before the first row."""
        nothing = np.zeros(n_columns)
        return Shared(
            **_slopes.start(n_columns, n_targets),
            **_former_units.start(n_columns),
            # what is taken from all rows: sums of large numbers would lose small differences
            origin=None,
            weights=nothing,
            sums=nothing,
            squares=nothing,  # of the distances from the mean
            block=np.empty((0, n_columns)),  # the latest rows, origin taken off
            known=np.zeros((2, n_columns)),  # mean and scale before the block
            believed=_believed.start(n_columns),  # the ends of what was, before the block
            # of blocks, its logarithm: number, mean, sum of squares
            roughness=np.zeros((3, n_columns)),
            steady=np.zeros((2, n_columns)),  # centre and scale as they were first known
            last=nothing,  # the row before; of a column with a gap there, the last value
            step=nothing - 1.0,  # usual step in the latest block, less than 0 for none
            n_steps=nothing,  # in the first block, from row to row that are not 0
            n_first=0,  # rows of the first block so far, all of them when it has ended
            n_strange=np.zeros(2, dtype=np.intp),  # far steps in this block and the one before
            quiet=self.aftermath,  # rows since a strange one, at most so many
            have_units=np.ones(n_columns, dtype=bool),  # codes and indicators have none
        )

    def learn(self, state: Any, X: ArrayLike, on_change: Any = None, Y: Any = None) -> Any:
        """Learn rows (n, d) in order; return what is known before each of them, and rows as seen.

        What is known, (n, 8, 2, d), are the centres and scales, those of steady units, as they were
        first known, twice, how many scales from the centre values count in these, the first two of
        the unit that a column had before, and by what absurd values are told: centres and scales
        before the block, the usual step, the row before, and the ends of what was believed. A scale
        is 0 where a column has been constant. Values far beyond what was known before their block
        are moved nearer. After each block of rows a column whose unit or nature has changed gives
        up its past for the block, see `_changed`. All sums are taken row by row, so that a cut of
        the stream leaves them the same to the last bit, and with them that decision. Of one that
        changes anything `on_change` is told the number of rows before it, and the columns. Targets
        Y (n, q) say whether values that vary more or less than before are in another unit, or mean
        what they meant.

        NaN is a gap: it tells nothing of its column, and where blocks are looked at as a whole it
        counts as the mean known before it. So does a lonely absurd value; rows are returned with
        such means in their place, and (n,) whether they are strange.
        """
        gaps, strange = np.isnan(X), np.zeros(len(X), dtype=bool)
        any_gaps = bool(np.logical_or.reduce(gaps, axis=None))
        before = _values_before(state["last"], X, any_gaps)
        state["last"] = before[-1].copy()
        if state["origin"] is None:
            state["origin"] = np.where(gaps[0], 0.0, X[0])
        known = np.empty((len(X), 8, 2, X.shape[1]))
        low = 0
        while low < len(X):
            high = min(low + self.block - len(state["block"]), len(X))
            if any_gaps or 0.0 in state["weights"]:
                high = low + _begin_columns(state, X[low:high])
            of_block = self._of_block(state)
            known[low:high, 3:] = of_block
            known[low:high, 6, 1] = before[low:high]
            as_they_came = X[low:high]
            absurd = apart = self._absurd(as_they_came, of_block, before[low:high])
            if absurd is not None:
                X = X.copy()
                X[low:high] = np.where(absurd, of_block[2, 0], as_they_came)
            former = self._are_of_former(as_they_came, of_block)
            if former is not None:  # nothing that the present unit learns from
                apart = former if absurd is None else former | absurd
            if apart is not None:
                gaps[low:high] |= apart
            strange[low:high] = self._learn_strange(state, X[low:high], before[low:high])
            self._count_steps(state, X[low:high], before[low:high])
            rows = X[low:high] - state["origin"]
            nearer = self._nearer(rows, *state["known"])
            observed = ~gaps[low:high] if any_gaps or apart is not None else None
            weights, sums, squares = _paths(nearer, state, observed)
            means, variances = mean_and_variance(weights[:-1], sums[:-1], squares[:-1])
            centers = means + state["origin"]
            scales = deviations(centers, variances)
            known[low:high, 0, 0], known[low:high, 0, 1] = centers, scales
            known[low:high, 1], state["steady"] = self.steady(
                state["steady"], weights[:-1], centers, scales
            )
            known[low:high, 2] = self._counted(state)
            state.update(weights=weights[-1], sums=sums[-1], squares=squares[-1])
            if observed is not None:
                rows = np.where(observed, rows, means)
            if apart is not None:  # many of them are another unit
                rows = np.where(apart, as_they_came - state["origin"], rows)
            state["block"] = np.concatenate([state["block"], rows])
            if Y is not None:
                state["came"] = np.concatenate([state["came"], Y[low:high]])
            if len(state["block"]) == self.block:
                changed = self._end_block(state)
                if on_change is not None and changed.any():
                    on_change(high, changed)
            low = high
        return known, X, strange

    def look(self, state: Any, X: ArrayLike) -> Any:
        """Return rows (n, d), each as if the next, as seen, and whether they are strange."""
        X = self.plausible(X, self._of_block(state))
        if state["n_strange"][1] > self.rare:
            return X, np.ones(len(X), dtype=bool)  # X may always be the reason
        return X, self._steps_far(state, X, state["last"]) | (state["quiet"] < self.aftermath)

    def plausible(self, X: ArrayLike, known: Any) -> Any:
        """Return rows (n, d) as they are seen by what was known, (..., 2, d), at some time.

        That ends with what absurd values are told by, and these count as the centre known then.
        """
        of_block = known[..., -5:, :, :]
        absurd = self._absurd(X, of_block, of_block[..., 3, 1, :])
        return X if absurd is None else np.where(absurd, of_block[..., 2, 0, :], X)

    def by_former(self, X: ArrayLike, known: Any) -> Any:
        """Return what is known, (..., 8, 2, d), of rows (n, d) that may be in a former unit."""
        former = self._are_of_former(X, known[..., -5:, :, :])
        if former is None or not former.any():
            return known
        known = np.array(np.broadcast_to(known, (len(X), *known.shape[-3:])))
        known[:, :2] = np.where(former[:, None, None], known[:, 3:5], known[:, :2])
        return known

    def oddest(self, former: Any) -> Any:
        """Return how many scales from the centre values (..., d) may be, and are in their unit.

        Those of a column that had a `former` one (..., 6, d) may be in that.
        """
        return np.where(former[..., 1, :] > 0.0, self.faulty, self.absurd)

    def _are_of_former(self, X, of_block):
        """Return which values (n, d) are far in their unit, and usual in the former one, or None.

        What is known of the block is (..., 5, 2, d), the former unit first.
        """
        former, now = of_block[..., :2, :, :], of_block[..., 2, :, :]
        return _former_units.are_of_former(X, former, now, self.clip, self.faulty)

    def _steps_far(self, state, X, before):
        """Return which rows (n,) are many usual steps from those before."""
        step = state["step"]
        far = (np.abs(X - before) > self.strange * step) & (step >= 0.0)
        if state["n_first"] < self.block:  # no step is usual yet, but some columns stand still
            moves, n_before = self._first_steps(state, X, before)
            still = state["n_steps"] + np.cumsum(moves, axis=0) - moves
            far |= self._step_at_last(moves, still, n_before)
        return far.any(axis=1)

    def _step_at_last(self, moves, n_steps, n_before):
        """Tell where columns that move have stood still for nearly all rows of the first block."""
        few = self.rare / 2.0 / self.block * n_before
        return moves & (n_steps <= few) & (n_before >= self.fewest)

    def _first_steps(self, state, X, before):
        """Return where columns that have units step, and the number of rows before each row."""
        n_before = state["n_first"] + np.arange(len(X))[:, None]
        return (before != X) & (n_before > 0) & state["have_units"], n_before

    def _count_steps(self, state, X, before):
        if state["n_first"] < self.block:
            moves, _ = self._first_steps(state, X, before)
            state["n_steps"] = state["n_steps"] + moves.sum(axis=0)
            state["n_first"] += len(X)

    def _learn_strange(self, state, X, before):
        """Return which rows (n,) are strange: those after a far step, and the step itself."""
        far = self._steps_far(state, X, before)
        state["n_strange"] = state["n_strange"] + [int(far.sum()), 0]
        if state["quiet"] >= self.aftermath and not far.any():
            return far
        places = np.arange(len(X))
        latest = np.maximum.accumulate(np.where(far, places, -1 - state["quiet"]))
        state["quiet"] = min(int(len(X) - 1 - latest[-1]), self.aftermath)
        is_rare = state["n_strange"][1] <= self.rare
        return (places - latest <= self.aftermath) & is_rare

    def _of_block(self, state):
        """Return by what absurd values are told now, (5, 2, d), after the former unit.

        Centres and scales, the usual step, and what is believed are those before the block, so that
        no cut of the stream matters; of the latest row are the values beside the steps.
        """
        center, scale = state["known"]
        center = center if state["origin"] is None else center + state["origin"]
        of_rows = [center, scale], [state["step"], state["last"]], _believed.ends(state)
        return np.array([*_former_units.known(state), *of_rows])

    def _absurd(self, X, of_block, before):
        """Return which values (n, d) are absurd, if any; `before` has those of the rows before."""
        center, scale = of_block[..., 2, 0, :], of_block[..., 2, 1, :]
        if not scale.any():
            return None
        distances = np.abs(X - center)
        far = (distances > self.absurd * scale) & (scale > 0.0)
        far &= _believed.are_beyond(X, of_block[..., 4, 0, :], of_block[..., 4, 1, :])
        if not np.logical_or.reduce(far, axis=None):
            return None
        # numbers that hardly ever repeat, and do so far off, stand for a missing value
        is_number = (before == X) & (of_block[..., 3, 0, :] > 0.0)
        far &= ~(np.abs(X - before) <= 0.5 * distances) | is_number
        former = self._are_of_former(X, of_block)
        if former is not None:
            far &= ~former
        return far if far.any() else None

    def _counted(self, state):
        """Return how many scales (d,) from the centre values count in steady units.

        What is not absurd is believed, once a block has told what is. A setpoint that steps after
        it has long stood still says what it says: its scale is small because nothing has happened.
        """
        most = np.where(state["known"][..., 1, :] > 0.0, self.absurd, self.faulty)
        return np.where(state["step"] == 0.0, _FARTHEST, most)

    def known(self, state: Any) -> Any:
        """Return what is known now of the columns, (8, 2, d)."""
        centers, scales = _center_and_scale(state)
        steady, _ = self.steady(
            state["steady"], state["weights"][None], centers[None], scales[None]
        )
        counted = self._counted(state)
        now = [np.stack([centers, scales]), steady[0], np.stack([counted, counted])]
        return np.concatenate([now, self._of_block(state)])

    def steady(self, first: Any, weights: Any, centers: Any, scales: Any) -> Any:
        """Return the centres and scales first known before each row, (n, 2, d), and the last ones.

        That is once there are enough rows, and the column is no longer constant; before that they
        are 0. They only make numbers moderate: for a line the unit does not matter.
        """
        unknown = first[1] == 0.0
        if not np.logical_or.reduce(unknown):
            return repeated(first, len(weights)), first
        now = pairs(centers, scales)
        enough = unknown & (weights >= self.first) & (scales > 0.0)
        at = enough.argmax(axis=0)
        from_then = np.logical_or.accumulate(enough, axis=0)[:, None, :]
        then = now[at, :, np.arange(len(at))].T  # (2, d)
        path = np.where(from_then, then, first)
        return path, path[-1].copy()

    def seen(self, X: ArrayLike, known: Any, first: Any, counted: Any = None) -> Any:
        """Return rows (n, d) standardised, and in steady units; both from (..., 2, d).

        In these, values count up to so many scales from the centre, or `faulty` ones.
        """
        centers, scales = known[..., 0, :], known[..., 1, :]
        standardised = divided(X - centers, scales)
        counted = self.faulty if counted is None else counted
        nearer = centers + scales * brought_near(standardised, counted)
        steady = divided(nearer - first[..., 0, :], first[..., 1, :])
        return brought_near(standardised, self.clip), brought_near(steady, _FARTHEST)

    def _nearer(self, rows, center, scale, most=None):
        """Move values further than `most` scales from the centre, or `faulty` ones, to there."""
        most = self.faulty if most is None else most
        far = np.where(scale > 0.0, most * scale, np.inf)
        return np.minimum(np.maximum(rows, center - far), center + far)

    def _end_block(self, state):
        """Give up the past of the columns that have changed, and start the next block.

        Return these columns (d,).
        """
        block, has_stood = _believed.without_outages(state, self.absurd, self.lonely)
        middle = np.median(block, axis=0)
        spread = _spread(block, middle)
        nearer = self._nearer(block, middle, spread)
        # Steps from row to row, not distances from the middle: a slow column has a small spread in
        # every block, and yet the same unit. Columns of few values have no typical step.
        steps = np.abs(np.diff(block, axis=0))
        telling = state["have_units"] & ((steps == 0.0).mean(axis=0) < self.repeated) & ~has_stood
        usual = np.median(steps, axis=0)
        stands = state["have_units"] & ((steps > 0.0).sum(axis=0) <= self.rare // 2)
        center, scale = state["known"]  # before the block
        before = center + state["origin"], scale
        came = block + state["origin"]
        believed = _believed.after_block(state, nearer, self.absurd)
        back, third = _former_units.take_back(state, usual, before, self)
        step = np.where(telling, usual, np.where(stands, 0.0, -1.0))
        state["step"] = np.where(has_stood, state["step"], step)
        state["n_strange"] = np.array([0, state["n_strange"][0]])
        rough = np.log(usual, out=np.zeros(block.shape[1]), where=telling)
        changed = telling & ~back & (third | self._changed(state, middle, usual))
        doubted, state["doubt"] = np.zeros_like(changed), state["doubt"] * changed
        if changed.any():
            # had the change come later, most steps would be those of the old unit; some may be
            latest = block[self.block // 2 :]
            sums = self._sums(latest)
            changed &= self._is_new(sums, center, scale)
            goes_on = changed & self._goes_on(state, latest)
            doubted = self._learn_doubt(state, changed & ~goes_on, latest, sums)
            changed &= goes_on | ~(doubted | _former_units.are_sure(state["doubt"][1]))
            goes_on &= changed
            _former_units.remember(state, changed & ~goes_on, before)
            self._keep_in_place(state, goes_on, sums[1])
            _start_anew(state, changed, *sums)
            self._translate(state, changed & ~goes_on, before)
            state["roughness"] = np.where(changed, 0.0, state["roughness"])
        elif state["weights"].max() <= self.block and not state["known"].any():
            # nothing was known of what is far: if it is much, and stands still, it is a level
            far = nearer != block
            faulty = ~stands | (far.sum(axis=0) <= max(self.lonely * len(far), 1.0))
            _start_anew(state, faulty & far.any(axis=0), *sums_of(nearer))
            too_wide = faulty & (state["steady"][1] > self.apart * spread) & (spread > 0.0)
            state["steady"] = np.where(too_wide, 0.0, state["steady"])
        now = self._nearer(came[self.block // 2 :], *_center_and_scale(state))
        state["believed"] = _believed.after_change(believed, changed | back, now)
        telling &= ~doubted & ~back
        number, mean, squares = state["roughness"]
        number = number + telling
        distance = np.where(telling, rough - mean, 0.0)
        mean = mean + distance / np.maximum(number, 1.0)
        squares = squares + distance * np.where(telling, rough - mean, 0.0)
        state["roughness"] = np.stack([number, mean, squares])
        means, variances = mean_and_variance(state["weights"], state["sums"], state["squares"])
        state["known"] = np.stack([means, deviations(means + state["origin"], variances)])
        if len(state["came"]):
            begin = changed | back
            state["together"] = _slopes.learned(state["together"], nearer, state["came"], begin)
            state["means"] = _slopes.with_means(state["means"], state["came"])
        state["block"], state["came"] = block[:0], state["came"][:0]
        return changed | back

    def _translate(self, state, columns, before):
        """Let new units of some columns count as those before them also where they are steady.

        A line that goes on through a new level is none of them, see `_goes_on`.
        """
        (old, scale), (first, unit) = before, state["steady"]
        new, new_scale = _center_and_scale(state)
        known = columns & (scale > 0.0) & (new_scale > 0.0)
        ratio = new_scale / np.where(known, scale, 1.0)
        steady = np.stack([new - (old - first) * ratio, unit * ratio])
        state["steady"] = np.where(known, steady, np.where(columns, 0.0, state["steady"]))

    def _sums(self, rows):
        """Return number, mean and squares of the values of rows, but for a few that are far off.

        Those may be faults, or of the old unit. Where many are far from most of their column it has
        two levels, and its scale is that of both. No scale is less than half the usual step.
        """
        middle = np.median(rows, axis=0)
        spread = _spread(rows, middle)
        far = (np.abs(rows - middle) > self.clip * spread) & (spread > 0.0)
        far &= far.sum(axis=0) <= max(self.lonely * len(rows), 1.0)
        number, mean, squares = sums_of(rows, ~far)
        least = 0.5 * np.median(np.abs(np.diff(rows, axis=0)), axis=0)
        return number, mean, np.maximum(squares, number * np.square(least))

    def _is_new(self, sums, center, scale):
        """Tell in which columns the rows that suggest a change do not fit what was known before."""
        number, mean, squares = sums
        ratio = np.sqrt(squares / number) / np.where(scale > 0.0, scale, 1.0)
        other_scale = (ratio > self.apart) | (ratio < 1.0 / self.apart)
        return (scale == 0.0) | other_scale | (np.abs(mean - center) > self.clip * scale)

    def _changed(self, state, middle, usual):
        """Return which columns have changed their unit or their nature within the block.

        Those whose median step is a factor `apart`, and as many standard deviations of the
        logarithms of the blocks before, from what it was; and those whose median lies where all
        values are clipped.
        """
        center, scale = state["known"]
        new_level = np.abs(middle - center) > self.clip * scale
        is_old = state["roughness"][0] >= self.patience
        return is_old & (self._have_other_steps(state, usual) | new_level)

    def _goes_on(self, state, latest):
        """Tell in which columns the latest rows are at a new level alone, which is no new unit.

        They move by steps as large as before.
        """
        usual = np.median(np.abs(np.diff(latest, axis=0)), axis=0)
        return ~self._have_other_steps(state, usual)

    def _learn_doubt(self, state, which, latest, sums):
        """Learn what the targets of the latest rows say of columns whose values vary differently.

        Return which of these are in doubt: those that vary less, and are where they were.
        """
        came, (center, scale) = state["came"][-len(latest) :], state["known"]
        if not len(came):
            return np.zeros_like(which)
        number, mean, squares = sums
        now = np.sqrt(squares / number)
        ratio = np.where((scale > 0.0) & (now > 0.0), now / np.where(scale > 0.0, scale, 1.0), 1.0)
        rows = self._nearer(latest, mean, now)
        nats = _slopes.as_before(state, rows, came, ratio, mean - center)
        state["doubt"], doubted = _former_units.in_doubt(state["doubt"], which, nats, self.block)
        return doubted & (ratio < 1.0) & (np.abs(mean - center) <= self.clip * scale)

    def _keep_in_place(self, state, columns, mean):
        """Let the new mean (d,) of some columns stay where lines have seen it last.

        That is as it is, but for what was beyond all that counts: no forecast is to leap because a
        block has ended.
        """
        center, scale = _center_and_scale(state)
        center = center - state["origin"]
        beyond = np.where(columns, mean - self._nearer(mean, center, scale, self.absurd), 0.0)
        first, unit = state["steady"]
        state["steady"] = np.stack([first + beyond, unit])

    def _have_other_steps(self, state, usual):
        """Return of which columns (d,) the usual step is another one than in blocks before."""
        number, mean, squares = state["roughness"]
        rough = np.log(usual, out=mean.copy(), where=usual > 0.0)
        # few blocks know little of their spread: one more is made up that was off by a factor of e
        deviation = np.sqrt((squares + 1.0) / np.maximum(number, 1.0))
        return np.abs(rough - mean) > np.maximum(np.log(self.apart), self.apart * deviation)


def _values_before(last, X, any_gaps):
    """Return the last value (n + 1, d) of each column before each of n rows, and after them."""
    values = np.concatenate([last[None], X])
    if not any_gaps:
        return values
    places = np.where(np.isnan(values), 0, np.arange(len(values))[:, None])
    return np.take_along_axis(values, np.maximum.accumulate(places, axis=0), axis=0)


def _paths(rows, state, observed=None):
    """Return weights, sums and sums of squares (n + 1, d) on the way; gaps leave them as they are.

    What they are is the same, to the last bit, whether other rows of a call have gaps or not.
    """
    sums = state["weights"], state["sums"], state["squares"]
    if observed is None:
        return paths(rows, *sums)
    weights = faded(observed.astype(float), sums[0])
    sums = faded(np.where(observed, rows, 0.0), sums[1]), sums[2]
    means = sums[0] / np.maximum(weights, 1.0)
    terms = np.where(observed, (rows - means[:-1]) * (rows - means[1:]), 0.0)
    return weights, sums[0], faded(terms, sums[1])


def _begin_columns(state, X):
    """Take a first value for the origin of its column; return the rows until the next such one."""
    begins = ~np.isnan(X) & (state["weights"] == 0.0)
    state["origin"] = np.where(begins[0], X[0], state["origin"])
    later = (begins & ~begins[0]).any(axis=1)
    return int(later.argmax()) if later.any() else len(X)


def pairs(first, second):
    """Return (n, 2, d) of two arrays (n, d)."""
    pairs = np.empty((len(first), 2, first.shape[1]))
    pairs[:, 0], pairs[:, 1] = first, second
    return pairs


def sums_of(rows, kept=True):
    """Return number, mean and sum of squared distances from it (d,) of the values that are kept."""
    kept = np.broadcast_to(kept, rows.shape)
    number = kept.sum(axis=0)
    mean = (rows * kept).sum(axis=0) / number
    return number, mean, (kept * np.square(rows - mean)).sum(axis=0)


def _start_anew(state, columns, number, mean, squares):
    """Take the moments of some columns from some rows alone."""
    if columns.any():
        state["origin"] = np.where(columns, state["origin"] + mean, state["origin"])
        state["weights"] = np.where(columns, number.astype(float), state["weights"])
        state["sums"] = np.where(columns, 0.0, state["sums"])
        state["squares"] = np.where(columns, squares, state["squares"])


def _spread(rows, middle):
    """Return standard deviations (d,) that half of the values say nothing against."""
    return _MAD * np.median(np.abs(rows - middle), axis=0)


def mean_and_variance(weights, sums, squares):
    """Return what sums say of a column; 0 where there is nothing to divide."""
    weights = np.maximum(weights, 1.0)  # below 1 only where there is nothing to divide
    return sums / weights, squares / weights


def _center_and_scale(state):
    """Return the centres and scales (d,) of columns by all that is known of them."""
    means, variances = mean_and_variance(state["weights"], state["sums"], state["squares"])
    centers = means if state["origin"] is None else means + state["origin"]
    return centers, deviations(centers, variances)


def deviations(centers, variances):
    """Return standard deviations, and 0 where rounding alone could have made them."""
    scales = np.sqrt(variances)
    are_scales = scales > _ROUNDING * np.abs(centers)
    return scales if are_all(are_scales) else np.where(are_scales, scales, 0.0)


def repeated(part, n):
    """Return views of an array as n equal ones."""
    return part[None] if n == 1 else np.broadcast_to(part, (n, *part.shape))
