"""What rows of equal codes were forecast wrongly by: holidays, and what else is rare and returns.

A code is a whole number, or a category. That a Thursday late in November is unlike all others can
be said by two columns in fifty only, and once a year: kernels and trees hardly see it, and rows
that are near by all columns are others. So for each pair of codes, and each code alone, there could
be a table of the errors in each of its cells, with means that are drawn towards 0 by one row more,
or four, without an error: effects of crossed factors, as in S. R. Searle, G. Casella, C. E.
McCulloch, "Variance Components", 1992. Of the last code, if it is a number, cells beside may count,
too, the less the farther they are: as weeks shift, so do holidays, and numbers of places do not.

Which pair tells is tried on the rows that are kept, at times that lie farther and farther apart.
The one whose table would have helped most, if any would have surely, corrects forecasts from then
on: BOA mixes forecasts with and without it. Elsewhere nothing is there, and nothing is said.
"""

from itertools import combinations

import numpy as np

from ..._tail import Shared
from ...meta._past import Past
from ..rows._steps import FEW
from ._told import ROWS, Corrector, blocks_of

TRIALS = tuple(ROWS * n for n in (8, 16, 24, 32, 48, 64, *(2**k for k in range(7, 20))))
N_ROWS = 8192  # rows that are kept for trials
SHARE = 0.5  # of all weights at first, as a table surely would have helped
_SURELY = 2.0  # standard errors by which a table would have helped
_FINALISTS = 3  # pairs that are tried as they would be used, those that would help most if coarse
_COARSE = 4  # values of a number that a coarse cell goes over
_SHRUNK = np.array([1.0, 4.0])  # rows without an error that draw a cell's means towards 0
_MOST = 64.0  # rows that a cell counts as at most: those before fade
_CELLS = 2**15  # of a table: others share them
_REACH = np.arange(-5, 6)
_SHARES = 1.0 / np.square(1.0 + np.abs(_REACH))  # of cells beside
_LARGEST = 2.0**40  # of a code
_GAP = -_LARGEST  # in place of a missing one
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)


class Cells(Corrector):
    """Corrects forecasts by the errors of rows of equal codes.

    Parameters
    ----------
    tell, delay : ErrorsTold, int
        How forecasts with and without what a table tells are mixed, and how late labels are.
    is_wanted : bool
        Whether there is room for tables.
    """

    def __init__(self, tell, delay, is_wanted):
        super().__init__(tell, delay)
        # rounds that end blocks, as another table may begin, and be heard
        rounds = {trial + late for trial in TRIALS for late in (0, delay)}
        self.begins = tuple(sorted(rounds)) if is_wanted else ()

    def start(self, n_codes, n_nominal, n_targets):
        """Return the first state; empty without codes, the last of which may be categories."""
        if not (n_codes and self.begins):
            return {}
        window, no_targets = N_ROWS + self.delay + ROWS, np.empty((0, n_targets))
        return {
            "past": Past(np.empty((0, n_codes)), no_targets, window),
            "n_nominal": n_nominal,
            "t": 0,
            "pair": np.empty(0, dtype=int),  # one code, or two, whose table is used
            "is_smooth": False,  # whether cells beside count
            "began": 0,  # after which round
            # numbers of rows, and sums of errors, in each cell, as they were, in order, and now
            "table": Shared(cells=self._no_tables(1 + n_targets, 0)),
            "mixture": self.tell.start(n_targets, len(_SHRUNK)),
        }

    def learn(self, state, codes, base, u, sane, weights=None):
        """Learn what forecasts `base` (n, q) of rows of codes (n, m) lack of u, and correct them.

        What is mixed (n, q, 3) is made `sane`. Rows end where another table may begin.
        """
        codes, is_heard, sums = whole(codes), self._is_heard(state, self.delay), []
        for part in blocks_of(len(u), state["t"], state["t"] - self.delay):
            more = () if weights is None else (weights[part],)
            if is_heard:
                sums.append(self._both(state, codes[part], base[part], self.delay))
            state["past"] += codes[part], u[part] - base[part], *more
            self._went_on(state, part.stop - part.start)
        if is_heard:
            base = self.tell.learn(state["mixture"], sane(np.concatenate(sums)), u, weights)
        self._end(state)
        return base

    def forecast(self, state, codes, base, sane, ago=0):
        """Correct forecasts (n, q) by a table as it was some rounds ago."""
        if not self._is_heard(state, ago):
            return base
        F = sane(self._both(state, whole(codes), base, ago))
        return self.tell.forecast(state["mixture"], F, ago)

    def forget_target(self, state, j):
        """Go on as if there had been no errors of target j, in the table either."""
        super().forget_target(state, j)
        cells = state["table"]["cells"].copy()
        cells[:, 1 + j] = 0.0
        state["table"] = Shared(cells=cells)

    def _kept(self, state, codes, weights=None):
        return whole(codes)

    def _now(self, state, codes, base):
        return self._both(state, whole(codes), base, 0)

    def _end(self, state):
        if state["t"] in TRIALS:
            self._try(state)

    def _no_tables(self, n, n_cells):
        return np.zeros((1 - (-self.delay // ROWS), n, n_cells))

    def _is_heard(self, state, ago):
        return len(state["pair"]) > 0 and state["t"] - ago >= state["began"]

    def _both(self, state, codes, base, ago):
        """Return forecasts (n, q, 3) without and with what a table said some rounds ago."""
        t = state["t"]
        table = state["table"]["cells"][-1 - (t // ROWS - max(t - ago, 0) // ROWS)]
        told = _told(table, codes, state["pair"], state["is_smooth"])
        return base[..., None] + np.concatenate([np.zeros((*base.shape, 1)), told], axis=2)

    def _went_on(self, state, n):
        """Count n rows more; where they end a block the table learns."""
        state["t"] += n
        if state["t"] % ROWS or not len(state["pair"]):
            return
        (codes, errors), weights = state["past"].rows, state["past"].weights
        latest = slice(len(errors) - ROWS, None)
        of_rows = codes[latest], errors[latest], None if weights is None else weights[latest]
        cells = state["table"]["cells"]
        cells = np.concatenate([cells[1:], cells[-1:]])
        _add(cells[-1], state["pair"], *of_rows)
        state["table"] = Shared(cells=cells)

    def _try(self, state):
        """Let the table be used that would have helped most of those that surely would have.

        What is mixed goes on where another one was used, which is the best so far, too; but not
        where forecasts of before wait for their labels.
        """
        (codes, errors), weights = state["past"].rows, state["past"].weights
        n_targets, n_numbers = errors.shape[1], codes.shape[1] - state["n_nominal"]
        best, most = None, 0.0
        for one in _finalists(codes, errors, weights, n_numbers):
            gain, table = _as_used(codes, errors, weights, *one)
            if gain > most:
                best, most, found = one, gain, table
        used = tuple(state["pair"].tolist()), state["is_smooth"]
        if best in (None, used):
            return
        if self.delay or not used[0]:
            state["mixture"] = self.tell.start(n_targets, len(_SHRUNK))
        state["pair"], state["is_smooth"] = np.array(best[0]), best[1]
        state["table"] = Shared(cells=self._no_tables(1 + n_targets, _CELLS) + found)
        state["began"] = state["t"]


def is_sound(state):
    """Tell whether a state, as from a file, may be one of these: a table is of codes there are."""
    (codes, errors), pair, cells = state["past"].rows, state["pair"], state["table"]["cells"]
    return bool(
        pair.ndim == 1
        and len(pair) <= 2
        and (pair < codes.shape[1]).all()
        and 0 <= state["n_nominal"] <= codes.shape[1]
        and cells.ndim == 3
        and cells.shape[1:] == (1 + errors.shape[1], _CELLS if len(pair) else 0)
        and (cells[:, 0] >= 0.0).all()
        and state["began"] <= state["t"]
    )


def whole(codes):
    """Return codes (n, m) as whole numbers of moderate size, without gaps."""
    codes = np.floor(np.clip(codes, -_LARGEST, _LARGEST))
    return np.where(np.isnan(codes), _GAP, codes)


def _finalists(codes, errors, weights, n_numbers):
    """Return in which ways pairs of codes, or single ones, would be used that would help most.

    Each is a pair and whether it is smooth. As they are, two codes are one pair in either order.
    """
    shares, found = _shares_of_targets(errors), []
    n_values = np.array([len(np.unique(column)) for column in codes.T])
    known = np.flatnonzero(n_values > 1).tolist()
    for pair in (*combinations(known, 1), *combinations(known, 2)):
        if len(pair) == 2 and n_values[list(pair)].min() > FEW:
            continue
        ways = [(pair, False)]
        for one in dict.fromkeys((pair, pair[::-1])):
            is_first_of_few = len(pair) == 1 or n_values[one[0]] <= FEW
            if is_first_of_few and one[-1] < n_numbers:
                ways.append((one, True))
        gains = [_coarse_gain(codes, errors, weights, shares, *way) for way in ways]
        found.append((max(gains), ways))
    found = [(gain, ways) for gain, ways in found if gain > 0.0]
    found.sort(key=lambda one: -one[0])
    return [way for _, ways in found[:_FINALISTS] for way in ways]


def _coarse_gain(codes, errors, weights, shares, pair, is_smooth):
    """Return by how much cells would have helped, smooth ones if some values were one."""
    keys = [codes[:, j] for j in pair]
    keys[-1] = keys[-1] // (_COARSE if is_smooth else 1)
    told = _progressive(_hash(keys), errors, weights)
    return _gains(told, errors, weights, shares).sum(axis=0).max()


def _as_used(codes, errors, weights, pair, is_smooth):
    """Return by how much a table would have helped, 0 if not surely, and the table."""
    table, shares, gains = np.zeros((1 + errors.shape[1], _CELLS)), _shares_of_targets(errors), []
    for low in range(0, len(codes), ROWS):
        part = slice(low, low + ROWS)
        of_rows = codes[part], errors[part], None if weights is None else weights[part]
        told = _told(table, codes[part], pair, is_smooth)
        gains.append(_gains(told, *of_rows[1:], shares))
        _add(table, pair, *of_rows)
    gains = np.concatenate(gains)  # (n, n_sizes)
    sums, usual = gains.sum(axis=0), np.sqrt(np.square(gains).sum(axis=0))
    return sums.max(where=sums > _SURELY * usual, initial=0.0), table


def _shares_of_targets(errors):
    """Return what squared errors of each target (q,) count, so that their units do not."""
    usual = np.square(errors).mean(axis=0)
    return np.where(usual > 0.0, 1.0 / np.where(usual > 0.0, usual, 1.0), 0.0)


def _gains(told, errors, weights, shares):
    """Return by how much squared errors (n, q) were less with what is told added, (n, n_sizes)."""
    gains = shares @ ((2.0 * errors[..., None] - told) * told)
    return gains if weights is None else gains * weights[:, None]


def _progressive(keys, errors, weights):
    """Return what the rows before of the same key tell of each row, (n, q, n_sizes)."""
    counts = np.ones(len(keys)) if weights is None else weights
    order = keys.argsort(kind="stable")
    known = np.column_stack([counts, counts[:, None] * errors])[order]
    is_first = np.append(True, np.diff(keys[order].astype(int)) != 0)
    firsts = np.maximum.accumulate(np.where(is_first, np.arange(len(keys)), 0))
    path = np.cumsum(known, axis=0) - known
    path -= path[firsts]
    told = np.empty((*errors.shape, len(_SHRUNK)))
    told[order] = path[:, 1:, None] / (_SHRUNK + path[:, :1, None])
    return told


def _told(table, codes, pair, is_smooth):
    """Return what a table (1 + q, n_cells) of a pair of codes tells of rows, (n, q, n_sizes)."""
    keys = [codes[:, j] for j in pair]
    if is_smooth:
        beside = keys[-1][:, None] + _REACH
        keys = np.broadcast_arrays(*[key[:, None] for key in keys[:-1]], beside)
        sums = table[:, _hash(keys)] @ _SHARES
    else:
        sums = table[:, _hash(keys)]
    return (sums[1:, :, None] / (_SHRUNK + sums[:1, :, None])).swapaxes(0, 1)


def _add(table, pair, codes, errors, weights):
    """Add errors (n, q) of rows of codes (n, m) to their cells in a table (1 + q, n_cells)."""
    counts = np.ones(len(errors)) if weights is None else weights
    places = _hash([codes[:, j] for j in pair])
    np.add.at(table[0], places, counts)
    for of_one, numbers in zip(table[1:], errors.T, strict=True):
        np.add.at(of_one, places, counts * numbers)
    places = np.unique(places)
    table[:, places] *= np.minimum(1.0, _MOST / np.maximum(table[0, places], 1.0))


def _hash(keys):
    """Return a number of 15 bits of whole numbers, one array for each."""
    total = np.zeros(np.shape(keys[0]), dtype=np.uint64)
    for key, factor in zip(keys, _FACTORS, strict=False):
        total += np.asarray(key).astype(np.int64).astype(np.uint64) * factor
        total ^= total >> np.uint64(29)
        total *= _FACTORS[1]
    return (total >> np.uint64(49)).astype(np.uint16)
