"""An expert of effects: a line, and what it leaves of each value of columns of many values.

A shop, a device, or a patient may add something of its own to every target, and there may be more
of them than a line has room for indicators. So beside the line there is a table for each such
column: the means of what the line has left in the rows of each value, drawn towards 0 as by some
rows more that have left nothing; effects of crossed factors, as in S. R. Searle, G. Casella, C. E.
McCulloch, "Variance Components", 1992. There these are the ratio of the variance of errors to that
of effects; here they are those of some numbers of rows that would have forecast best. Of several
columns each learns what the line and the others leave: backfitting, as in L. Breiman, J. Friedman,
"Estimating optimal transformations for multiple regression and correlation", JASA 80, 1985, with
one pass over every row.

Tables learn at the end of every 64 rows. The expert is one from the first trial on, at the times
at which trees are tried, in which it tells of what the mixture has missed, see `_leaves.py`; after
the last one it learns no more where it has told nothing.
"""

import numpy as np

from ..._tail import Shared
from ...meta._past import Past
from ._cells import whole
from ._leaves import TREES, TRIALS, told_of_missed
from ._told import ROWS, blocks_of

EFFECTS = TREES.start - 1  # where it is among all experts, where there are columns of many values
_LATEST = 512  # rows of a trial
_MOST = 64.0  # rows that a value counts as at most: those before fade
_VALUES = 2**14  # of a column that are known at most, the first ones
_SHRUNK = 4.0 ** np.arange(1, -5, -1)  # rows by which means may be drawn towards 0
_FARTHEST = 16.0  # the most that an error tells, in medians of those of its block


class Effects:
    """Means of what a line leaves of q targets in the rows of each value of some codes.

    Labels are `delay` rows late.
    """

    def __init__(self, n_targets, delay):
        self.n_targets, self.delay = n_targets, delay

    def start(self, n_codes):
        """Return the state that knows no value yet; empty without codes."""
        if not n_codes:
            return {}
        n_before, q = -(-self.delay // ROWS), self.n_targets
        no_rows = np.empty((0, n_codes)), np.empty((0, q))
        return {
            "t": 0,
            "is_there": False,
            "began": 0,  # after which round
            "waiting": Past(*no_rows, ROWS),  # codes, and what the line left, of this block
            # what was lost (n_shrunk, q) by means that are drawn so, and by how many rows they are,
            # as tables are
            "lost": np.zeros((len(_SHRUNK), q)),
            "shrunk": np.ones((1 + n_before, q)),
            # targets, what was forecast, and what this has forecast, for trials
            "kept": Past(np.empty((0, 0)), np.empty((0, 3 * q)), _LATEST),
            # the values of each code, in order, and of each how many rows it had, and their sums
            # of what was left, as they were after each of the latest blocks, the last one now
            "tables": [
                Shared(values=np.empty(0), sums=np.zeros((1 + n_before, 1 + q, 0)))
                for _ in range(n_codes)
            ],
        }

    @staticmethod
    def is_there(state, ago=0):
        """Tell whether this was heard some rounds ago; what let it begin was not known before."""
        return bool(state) and state["is_there"] and state["t"] - state["began"] >= ago

    @staticmethod
    def is_tried(state):
        """Tell whether this is heard, or may be one day, so that it learns."""
        return bool(state) and (state["is_there"] or state["t"] < TRIALS[-1])

    def learn(self, state, codes, F, place, u, weights=None):
        """Learn what a line leaves of targets u (n, q) or (n,); return what this forecasts (n, q).

        The line's forecasts are F (q, n, K) at its place; once these are heard they are put there.
        """
        codes, base, forecasts = whole(codes), F[..., place].T, F[..., place].T.copy()
        u = u.reshape(base.shape)
        for part in blocks_of(len(u), state["t"], state["t"] - self.delay):
            forecasts[part] += self._told(state, codes[part], self.delay)
            more = () if weights is None else (weights[part],)
            state["waiting"] += codes[part], u[part] - base[part], *more
            self._went_on(state, part.stop - part.start)
        if state["is_there"]:
            F[..., EFFECTS] = forecasts.T
        return forecasts

    def look(self, state, codes, F, place, ago=0):
        """Put in what this forecasts by what it knew some rounds ago."""
        F[..., EFFECTS] = F[..., place] + self._told(state, whole(codes), ago).T

    def ask_row(self, state, codes, base):
        """Return forecasts (q,) of a row of codes (1, n_codes), where a line says `base` (q,)."""
        forecasts = base.copy()
        for table, code in zip(state["tables"], whole(codes)[0].tolist(), strict=True):
            values = table["values"]
            place = values.searchsorted(code)
            if place < len(values) and values.item(place) == code:
                count, *sums = table["sums"][-1, :, place].tolist()
                forecasts += np.array(sums) / (count + state["shrunk"][-1])
        return forecasts

    def teach_row(self, state, t, codes, left, *of_row):
        """Learn what the line left (q,) of the row after round t, with what `keep` takes of it.

        The last is its weight.
        """
        *of_trial, weight = of_row
        more = () if weight == 1.0 and state["waiting"].weights is None else (np.array([weight]),)
        state["waiting"] += whole(codes), left[None], *more
        self._went_on(state, 1)
        self.keep(state, t, *of_trial)

    def told(self, state, codes):
        """Return what is added now for each code, (n, n_codes, q)."""
        columns = zip(state["tables"], whole(codes).T, strict=True)
        of_each = [_sums(table, column, -1) for table, column in columns]
        return np.stack([_means(*one, state["shrunk"][-1]) for one in of_each], axis=1)

    def keep(self, state, t, *of_targets):
        """Keep targets (n, q) after round t, what was forecast, and what this would have said."""
        kept, n = state["kept"], max(TRIALS[-1] - t, 0)
        if n == 0 and kept.length == 0:
            return
        new = np.hstack([part.reshape(-1, self.n_targets) for part in of_targets])[:n]
        rows = np.empty((len(new), 0)), new
        state["kept"] = kept + rows if n else Past(*rows, kept.window)

    def try_out(self, state):
        """Begin to be heard if that would have helped; return the losses (q,) a row, else None."""
        if not state or state["is_there"]:
            return None
        y, forecasts, F = np.split(state["kept"].rows[1], 3, axis=1)
        if not told_of_missed(y, forecasts, F):
            return None
        state["is_there"], state["began"] = True, state["t"]
        return np.square(y - F).mean(axis=0)

    def written(self, state):
        """Return what a row has written: errors of the line."""
        return [state["waiting"].rows[1][-1:]]

    def forget_target(self, state, j):
        """Go on as if the line had left nothing of target j, and nobody had missed it."""
        q = self.n_targets
        for name, columns in {"waiting": [j], "kept": range(j, 3 * q, q)}.items():
            past = state[name]
            (rows, of_targets), weights = past.rows, past.weights
            of_targets = of_targets.copy()
            of_targets[:, columns] = 0.0
            state[name] = Past(rows.copy(), of_targets, past.window, len(rows), weights)
        kept = np.arange(1 + q)[:, None] != 1 + j
        state["tables"] = [
            Shared(table, sums=np.where(kept, table["sums"], 0.0)) for table in state["tables"]
        ]
        state["lost"], state["shrunk"] = state["lost"].copy(), state["shrunk"].copy()
        state["lost"][:, j], state["shrunk"][:, j] = 0.0, 1.0

    def _told(self, state, codes, ago):
        """Return what is added to forecasts by what was known some rounds ago, (n, q)."""
        t = state["t"]
        version = -1 - (t // ROWS - max(t - ago, 0) // ROWS)
        columns = zip(state["tables"], codes.T, strict=True)
        of_each = [_sums(table, column, version) for table, column in columns]
        return sum(_means(*one, state["shrunk"][version]) for one in of_each)

    def _went_on(self, state, n):
        """Count n rows more; where they end a block the tables learn."""
        state["t"] += n
        if state["t"] % ROWS:
            return
        (codes, left), weights = state["waiting"].rows, state["waiting"].weights
        counts = np.ones(len(left)) if weights is None else weights
        most = _FARTHEST * np.median(np.abs(left), axis=0)
        left = np.clip(left, -most, most)
        known = [_sums(*pair, -1) for pair in zip(state["tables"], codes.T, strict=True)]
        told = [_means(*one, state["shrunk"][-1]) for one in known]
        of_all = sum(told)
        for lost, rows in zip(state["lost"], _SHRUNK.tolist(), strict=True):
            lost += counts @ np.square(left - sum(_means(*one, rows) for one in known))
        best = _SHRUNK[state["lost"].argmin(axis=0)]
        state["shrunk"] = np.concatenate([state["shrunk"][1:], best[None]])
        columns = zip(state["tables"], codes.T, told, strict=True)
        state["tables"] = [
            _learnt(table, column, left - of_all + own, counts) for table, column, own in columns
        ]


def is_sound(state):
    """Tell whether a state, as from a file, may be one of effects."""
    (codes, left), tables = state["waiting"].rows, state["tables"]
    return bool(
        codes.shape[1] == len(tables)
        and state["lost"].shape == (len(_SHRUNK), left.shape[1])
        and state["shrunk"].shape == (len(tables[0]["sums"]), left.shape[1])
        and (state["shrunk"] > 0.0).all()
        and state["kept"].rows[1].shape[1] == 3 * left.shape[1]
        and state["began"] <= state["t"]
        and all(
            table["values"].ndim == 1
            and table["sums"].ndim == 3
            and table["sums"].shape[1:] == (1 + left.shape[1], len(table["values"]))
            and (np.diff(table["values"]) > 0.0).all()
            and (table["sums"][:, 0] >= 0.0).all()
            for table in tables
        )
    )


def _sums(table, codes, version):
    """Return how many rows (n, 1) had codes (n,), and their sums (n, q), by a version."""
    values, sums = table["values"], table["sums"][version]
    if not len(values):
        return np.zeros((len(codes), 1)), np.zeros((len(codes), len(sums) - 1))
    places = np.minimum(values.searchsorted(codes), len(values) - 1)
    found = np.where(values[places] == codes, sums[:, places], 0.0).T
    return found[:, :1], found[:, 1:]


def _means(counts, sums, shrunk):
    """Return means (n, q) of rows, drawn towards 0 by some rows more, (q,) or a number."""
    return sums / (counts + shrunk)


def _learnt(table, codes, left, counts):
    """Return a table that knows what was left (n, q) in rows of codes (n,) that count so much."""
    values, sums = table["values"], table["sums"]
    new = np.setdiff1d(codes, values)[: max(_VALUES - len(values), 0)]
    at = values.searchsorted(new)
    values, sums = np.insert(values, at, new), np.insert(sums[1:], at, 0.0, axis=2)
    places = np.minimum(values.searchsorted(codes), len(values) - 1)
    known = values[places] == codes
    now = np.insert(table["sums"][-1], at, 0.0, axis=1)
    np.add.at(now.T, places[known], np.column_stack([counts, counts[:, None] * left])[known])
    now[:, places] *= np.minimum(1.0, _MOST / np.maximum(now[0, places], 1.0))
    return Shared(values=values, sums=np.concatenate([sums, now[None]]))
