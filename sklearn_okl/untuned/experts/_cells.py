"""What rows of equal codes were forecast wrongly by: holidays, and what else is rare and returns.

A code is a whole number, or a category. That a Thursday late in November is unlike all others can
be said by two columns in fifty only, and once a year: kernels and trees hardly see it, and rows
that are near by all columns are others. So for each pair of codes, and each code alone, there could
be a table of the errors in each of its cells, with a mean that is drawn towards 0 by one row more,
without an error: an effect of crossed factors, as in S. R. Searle, G. Casella, C. E. McCulloch,
"Variance Components", 1992. Of the second code of a pair, if it is a number, cells beside count,
too, the less the farther they are: as weeks shift, so do holidays.

Which pair tells is tried on the rows that are kept, at times that lie farther and farther apart.
The one whose table would have helped most, if any would have surely, corrects forecasts from then
on: BOA mixes forecasts with and without it. Elsewhere nothing is there, and nothing is said.
"""

import numpy as np

from ...aggregators._limits import sane
from ...meta._past import Past
from . import _corrections as corrections
from ._told import ROWS, blocks_of

TRIALS = tuple(ROWS * n for n in (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024))
N_ROWS = 8192  # rows that are kept for trials
FEW = 32  # distinct values up to which a code is the first one of a pair
_SURELY = 2.0  # standard errors by which a table would have helped
_FINALISTS = 6  # tables that are tried as they would be used, those that would help most if coarse
_COARSE = 4  # values of a number that a coarse cell goes over
_CELLS = 2**14  # of a table: others share them
_REACH = np.arange(-5, 6)
_SHARES = 1.0 / np.square(1.0 + np.abs(_REACH))
_LARGEST = 2.0**40  # of a code
_GAP = -_LARGEST  # in place of a missing one
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)


class Cells:
    """Corrects forecasts by the errors of rows of equal codes.

    Parameters
    ----------
    share, burn_in, delay : float, int, int
        What the correction weighs at first, and how late labels are.
    """

    def __init__(self, share, delay):
        self.share, self.delay = share, delay

    def start(self, n_codes, n_nominal, n_targets):
        """Return the state before the first row; empty where there are no codes.

        The last `n_nominal` codes are categories.
        """
        if not n_codes:
            return {}
        window, no_targets = N_ROWS + self.delay + ROWS, np.empty((0, n_targets))
        return {
            "past": Past(np.empty((0, n_codes)), no_targets, window),
            "n_nominal": n_nominal,
            "t": 0,
            "pair": np.empty(0, dtype=int),  # one code, or two, whose table is used
            "began": 0,  # after which round
            # numbers of rows, and sums of errors, in each cell, as they were, in order, and now
            "tables": self._no_tables(1 + n_targets, 0),
            "mixture": corrections.start(n_targets, 1, self.share, self.delay),
        }

    def learn(self, state, codes, base, u, limits, weights=None):
        """Learn by how much forecasts `base` (n, q) of rows of codes (n, m) miss u; correct them.

        What is mixed stays within limits (n, q, 3).
        """
        codes, forecasts, t = whole(codes), base.copy(), state["t"]
        for part in blocks_of(len(u), t, t - self.delay):
            more = () if weights is None else (weights[part],)
            if self._is_heard(state, self.delay):
                F = sane(self._both(state, codes[part], base[part], self.delay), limits[part])
                forecasts[part] = corrections.learn(state["mixture"], F, u[part], *more)
            state["past"] += codes[part], u[part] - base[part], *more
            self._went_on(state, part.stop - part.start)
        return forecasts

    def forecast(self, state, codes, base, limits, ago=0):
        """Correct forecasts (n, q) by the errors that were known `ago` rounds before."""
        if not self._is_heard(state, ago):
            return base
        F = sane(self._both(state, whole(codes), base, ago), limits)
        return corrections.forecast(state["mixture"], F, ago)

    def ask_row(self, state, codes, base, limits):
        """Correct forecasts (q,) of a row within limits (q, 3); say what it learns from, too."""
        codes = whole(codes[None])
        if not self._is_heard(state, 0):
            return base, (codes, base, None, None)
        F = sane(self._both(state, codes, base[None], 0)[0], limits)
        forecasts, known = corrections.ask_row(state["mixture"], F)
        return forecasts, (codes, base, known, F)

    def teach_row(self, state, asked, u, weight):
        """Learn what a row has been `asked` with, and its targets."""
        codes, base, known, F = asked
        more = () if weight == 1.0 and state["past"].weights is None else (np.array([weight]),)
        state["past"] += codes, (u - base)[None], *more
        self._went_on(state, 1)
        if known is not None:
            corrections.teach_row(state["mixture"], known, F, u, weight)

    def written(self, state):
        """Return the arrays of a state that a row has written."""
        return [state["past"].rows[1][-1], *corrections.written(state["mixture"])]

    def forget_target(self, state, j):
        """Go on as if there had been no errors of target j."""
        past, tables = state["past"], state["tables"].copy()
        (codes, errors), weights = past.rows, past.weights
        errors, tables[:, 1 + j] = errors.copy(), 0.0
        errors[:, j] = 0.0
        state["past"] = Past(codes.copy(), errors, past.window, len(codes), weights)
        state["tables"] = tables
        corrections.forget_target(state["mixture"], j, self.share)

    def _no_tables(self, n, n_cells):
        return np.zeros((1 - (-self.delay // ROWS), n, n_cells))

    def _is_heard(self, state, ago):
        return len(state["pair"]) > 0 and state["t"] - ago >= state["began"]

    def _both(self, state, codes, base, ago):
        """Return forecasts (n, q, 2) without and with what a table said some rounds ago."""
        t = state["t"]
        table = state["tables"][-1 - (t // ROWS - max(t - ago, 0) // ROWS)]
        told = _told(table[None], _cells_near(codes, [state["pair"]], _n_numbers(state)))[0]
        return np.stack([base, base + told], axis=2)

    def _went_on(self, state, n):
        """Count n rows more; where they end a block the table learns, and others may be tried."""
        state["t"] += n
        if state["t"] % ROWS:
            return
        if len(state["pair"]):
            (codes, errors), weights = state["past"].rows, state["past"].weights
            latest = slice(len(errors) - ROWS, None)
            of_rows = codes[latest], errors[latest], None if weights is None else weights[latest]
            table = state["tables"][-1:].copy()
            _add(table, _cells_of(of_rows[0], [state["pair"]]), *of_rows[1:])
            state["tables"] = np.concatenate([state["tables"][1:], table])
        if state["t"] in TRIALS:
            self._try(state)

    def _try(self, state):
        """Let the table be used that would have helped most, if one surely would have."""
        (codes, errors), weights = state["past"].rows, state["past"].weights
        pairs = _finalists(codes, errors, weights, _n_numbers(state))
        best, table = _best(codes, errors, weights, pairs, _n_numbers(state))
        if best is None or np.array_equal(best, state["pair"]):
            return
        n_targets = errors.shape[1]
        tables = self._no_tables(1 + n_targets, _CELLS)
        tables[:] = table
        mixture = corrections.start(n_targets, 1, self.share, self.delay)
        state.update(pair=np.array(best), began=state["t"], tables=tables, mixture=mixture)


def whole(codes):
    """Return codes (n, m) as whole numbers of moderate size, without gaps."""
    codes = np.floor(np.clip(codes, -_LARGEST, _LARGEST))
    return np.where(np.isnan(codes), _GAP, codes)


def _n_numbers(state):
    """Return how many of the codes, the first ones, are numbers."""
    return state["past"].rows[0].shape[1] - state["n_nominal"]


def _finalists(codes, errors, weights, n_numbers):
    """Return the pairs of codes, or single ones, whose tables would have helped most."""
    shares = _shares_of_targets(errors)
    n_values = np.array([len(np.unique(column)) for column in codes.T])
    found = []
    for j in np.flatnonzero(n_values > 1).tolist():
        firsts = np.flatnonzero((n_values > 1) & (n_values <= FEW))
        for first in [None, *firsts.tolist()]:
            if first == j:
                continue
            pair = (j,) if first is None else (first, j)
            gains = []
            for width in (1, _COARSE) if j < n_numbers else (1,):
                keys = [codes[:, k] for k in pair[:-1]] + [codes[:, j] // width]
                told = _progressive(_hash(keys), errors, weights)
                gains.append(_gains(told, errors, weights, shares).sum())
            found.append((max(gains), pair))
    found.sort(reverse=True)
    return [pair for gain, pair in found[:_FINALISTS] if gain > 0.0]


def _best(codes, errors, weights, pairs, n_numbers):
    """Return which of some pairs would have helped most as it is used, and its table.

    None where none has surely.
    """
    if not pairs:
        return None, None
    tables = np.zeros((len(pairs), 1 + errors.shape[1], _CELLS))
    shares, gains = _shares_of_targets(errors), []
    for low in range(0, len(codes), ROWS):
        part = slice(low, low + ROWS)
        more = None if weights is None else weights[part]
        told = _told(tables, _cells_near(codes[part], pairs, n_numbers))
        gains.append([_gains(one, errors[part], more, shares) for one in told])
        _add(tables, _cells_of(codes[part], pairs), errors[part], more)
    gains = np.concatenate(gains, axis=1)  # (n_pairs, n)
    sums = gains.sum(axis=1)
    sums[sums <= _SURELY * np.sqrt(np.square(gains).sum(axis=1))] = 0.0
    k = int(sums.argmax())
    return (pairs[k], tables[k]) if sums[k] > 0.0 else (None, None)


def _shares_of_targets(errors):
    """Return what squared errors of each target (q,) count, so that their units do not."""
    usual = np.square(errors).mean(axis=0)
    return np.where(usual > 0.0, 1.0 / np.where(usual > 0.0, usual, 1.0), 0.0)


def _gains(told, errors, weights, shares):
    """Return by how much squared errors (n, q) would be less if what was told were added, (n,)."""
    gains = ((2.0 * errors - told) * told) @ shares
    return gains if weights is None else gains * weights


def _progressive(keys, errors, weights):
    """Return what the rows before of the same key tell of each row (n, q)."""
    counts = np.ones(len(keys)) if weights is None else weights
    order = keys.argsort(kind="stable")
    known = np.column_stack([counts, counts[:, None] * errors])[order]
    is_first = np.append(True, np.diff(keys[order].astype(int)) != 0)
    firsts = np.maximum.accumulate(np.where(is_first, np.arange(len(keys)), 0))
    path = np.cumsum(known, axis=0) - known
    path -= path[firsts]
    told = np.empty_like(errors)
    told[order] = path[:, 1:] / (1.0 + path[:, :1])
    return told


def _told(tables, cells):
    """Return what tables (g, 1 + q, n_cells) tell of rows (g, n, q), near whose cells these are."""
    near = np.stack([table[:, places] for table, places in zip(tables, cells, strict=True)])
    sums = near @ _SHARES  # (g, 1 + q, n)
    return (sums[:, 1:] / (1.0 + sums[:, :1])).swapaxes(1, 2)


def _add(tables, cells, errors, weights):
    """Add errors (n, q) of rows to their cells (g, n) in tables (g, 1 + q, n_cells), in place."""
    counts = np.ones(len(errors)) if weights is None else weights
    known = np.column_stack([counts, counts[:, None] * errors]).T
    for table, places in zip(tables, cells, strict=True):
        for of_one, numbers in zip(table, known, strict=True):
            of_one += np.bincount(places, numbers, len(of_one))


def _cells_of(codes, pairs):
    """Return the cells (g, n) of rows of codes in tables of pairs."""
    return [_hash([codes[:, j] for j in pair]) % _CELLS for pair in pairs]


def _cells_near(codes, pairs, n_numbers):
    """Return the cells (g, n, n_reach) beside those of rows; a category has none beside it.

    There they are as many times the same, of which one counts: others are the last cell's
    """
    found = []
    for pair in pairs:
        j = pair[-1]
        reach = _REACH if j < n_numbers else _REACH * _LARGEST
        keys = [codes[:, k, None] for k in pair[:-1]] + [codes[:, j, None] + reach]
        found.append(_hash(np.broadcast_arrays(*keys)) % _CELLS)
    return found


def _hash(keys):
    """Return a number of 16 bits of whole numbers, one array for each."""
    total = np.zeros(np.shape(keys[0]), dtype=np.uint64)
    for key, factor in zip(keys, _FACTORS, strict=False):
        total += np.asarray(key).astype(np.int64).astype(np.uint64) * factor
        total ^= total >> np.uint64(29)
        total *= _FACTORS[1]
    return (total >> np.uint64(48)).astype(np.uint16)
