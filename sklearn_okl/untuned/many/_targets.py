"""The targets of many small models, none of them in doubt: what `_row_fence.py` does with one."""

import numpy as np

from ..rounds import _blocks
from ..rounds._deviations import deviation, deviations
from ..rounds._nones import LARGEST
from ..rounds._target_units import FARTHEST
from ._fields import GUARD, JUDGED
from ._windows import append

_LATEST = "errors", "values"  # windows that say what errors are usual
_READ = "deviation", "unit", "usual", *_blocks.ASKED, *JUDGED  # that a block may change, or asks


class ManyTargets:
    """Targets y (S,) of S models, one of each, that they forecast, and may learn if they are near.

    The models have come to rounds t (S,), their targets to `ages`; what is not in records of these
    is in their `guards`.
    """

    def __init__(self, fence, guards, parts, y, t, ages):
        self.guards, self.guarded = guards, np.array([guard["guarded"] for guard in guards])
        self.fence, self.parts, self.y, self.t, self.ages = fence, parts, y, t, ages
        self.guard = {path[-1]: part for path, part in parts.items() if path[:2] == GUARD}
        self.lengths = {path[-1]: parts[path] for path in parts if path[:3] == ("length", *GUARD)}
        self.units = self.guard["unit"]
        self.u = (y - self.guard["origin"]) / np.where(self.units > 0.0, self.units, 1.0)

    def are_near(self, forecasts):
        """Tell which targets (S,) have a unit and are near their forecasts: in no doubt."""
        self.sizes = np.abs(self.u - forecasts)
        reach = self.fence._factors(self.ages) * self.guard["deviation"]
        found = (self.sizes <= reach) | ~self.guarded
        found &= (self.units > 0.0) & (np.abs(self.u) <= FARTHEST)
        return found & ~self._are_many_doubted()

    def _are_many_doubted(self):
        """Tell in which models (S,) it is asked why so many of the latest were in doubt."""
        found, most = self._is_time(), self.fence.most * self.fence.window
        due = np.flatnonzero(found)
        found[due] = np.add.reduce(self.guard["block"][due, :, 4], axis=1) >= most
        return found

    def _is_time(self):
        """Tell in which models (S,) the robust deviation is due after the row."""
        return (self.t + 1) % self.fence.refresh == 0

    def learn(self, forecasts, references, experts):
        """Learn the targets, of which these are forecasts (S,), and those (S, K) of experts."""
        guard, u = self.guard, self.u
        self._widen()
        guard["moved"][:, 2] += 1.0
        for name in _blocks.ASKED:
            guard[name][:] = 0.0
        distances = np.fmin.reduce(np.abs(u[:, None] - experts), axis=-1)
        of_rows = u, forecasts, references, distances, np.zeros(len(u)), u
        append(guard["block"], self.lengths["block"], np.column_stack(of_rows))
        for name, new in zip(_LATEST, (self.sizes, u), strict=True):
            append(guard[name], self.lengths[name], new)
        self._refresh(np.flatnonzero(self._is_time()))

    def _refresh(self, due):
        """Take the robust deviations of some models anew."""
        now, known = self.guard["deviation"], [self.guard[name] for name in _LATEST]
        lengths = np.column_stack([self.lengths[name] for name in _LATEST]).astype(np.intp)
        full = due[(lengths[due] == self.fence.latest).all(axis=1)]
        now[full] = deviations(*(part[full] for part in known))
        for i in np.setdiff1d(due, full).tolist():
            now[i] = deviation(*(part[i, :n] for part, n in zip(known, lengths[i], strict=True)))

    def _widen(self):
        """Remember the range of the targets as they came."""
        latest, within, known = self.guard["latest"], self.guard["within"], self.lengths["within"]
        are_old = self.guarded & (self.ages >= self.fence.block)
        new = np.flatnonzero(are_old & (self.y != latest))
        y = np.minimum(np.maximum(self.y, -LARGEST), LARGEST)
        seen = np.where(known[new, None] > 0.0, within[new], y[new, None])
        within[new, 0] = np.minimum(seen[:, 0], y[new])
        within[new, 1] = np.maximum(seen[:, 1], y[new])
        known[new], latest[:] = 2.0, y

    def judge(self):
        """Ask what the ends of blocks and quarters say; return where (S,) all is as it was."""
        fence, lengths = self.fence, self.lengths["block"]
        same, ends = np.ones(len(self.u), dtype=bool), (self.t + 1) % fence.block == 0
        quarters = (lengths % (fence.block // 4) == 0.0) & (self.ages >= fence.block)
        for i in np.flatnonzero(ends | quarters).tolist():
            same[i] = self._judge(i, self.guards[i], int(self.t[i]) + 1, bool(ends[i]))
        lengths[ends] = 0.0
        return same

    def _judge(self, i, guard, t, is_end):
        """Judge the latest rows of a model; return whether level and unit are as they were."""
        known, n = self.guard, int(self.lengths["block"][i])
        guard = guard | {name: float(known[name][i]) for name in _READ}
        guard |= {"moved": known["moved"][i], "block": known["block"][i, :n]}
        _blocks.judge_quarter(self.fence, guard, t)
        moved = _blocks.judge_block(self.fence, guard, t) if is_end else None
        for name in _READ:
            known[name][i] = guard[name]
        return moved is None

    def keep_rows(self, X):
        """Keep the latest rows X (S, d) as they came, of models that may yet learn them again."""
        y = self.y[:, None]
        for name, new in (("X", X), ("y", y), ("faulty", np.zeros_like(y))):
            append(self.parts["latest", name], self.parts["length", "latest", name], new)
