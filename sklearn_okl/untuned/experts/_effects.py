"""An expert of effects: a line, and what each value of columns of many values adds to it.

A shop, a device, or a patient may add something of its own to every target, and there may be more
of them than a line has room for indicators. A line that knows nothing of them takes what they add
for errors, and is wrong for long. So this one is learnt from differences: of every row, and of its
target, from the means of the rows before of the same value. That is what a ridge regression on
indicators of all values does, as each of these is one more parameter that is eliminated: the
within estimator of Y. Mundlak, "On the pooling of time series and cross section data",
Econometrica 46, 1978.

What a value adds is the mean of what the line as it is now leaves in its rows, drawn towards 0 as
by some rows more that have left nothing: effects of crossed factors, as in S. R. Searle, G.
Casella, C. E. McCulloch, "Variance Components", 1992. There these are the ratio of the variance of
errors to that of effects; here they are those of some numbers of rows that would have forecast
best. Of several columns the differences are those of the first one, and each learns what the
others leave: backfitting, as in L. Breiman, J. Friedman, "Estimating optimal transformations for
multiple regression and correlation", JASA 80, 1985, with one pass over every row.

All is learnt at the end of every 64 rows. The expert is one from the first trial on, at the times
at which trees are tried, in which it tells of what the mixture has missed, see `_leaves.py`; after
the last one it learns no more where it has told nothing.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..._tail import Shared
from ...meta._past import Past
from ._cells import whole
from ._leaves import TREES, TRIALS, told_of_missed
from ._told import ROWS, blocks_of

EFFECTS = TREES.start - 1  # where it is among all experts, where there are columns of many values
_FIRST = 2 * ROWS  # rows that are no part of one
_LATEST = 512  # rows of a trial
_FADING = 0.9  # of what was lost, per block: about the latest ten
_MOST = 64.0  # rows that a value counts as at most: those before fade
_NUMBERS = 2**20  # that are known of the values of a column at most, of the first ones
_ALPHA = 0.1  # ridge of the line, and rows that draw the means from which rows differ towards 0
_TINY = np.finfo(float).tiny
_SHRUNK = 4.0 ** np.arange(1, -5, -1)  # rows by which effects may be drawn towards 0


class Effects:
    """A line of differences of rows, and means of what it leaves of q targets for some codes.

    Labels are `delay` rows late.
    """

    def __init__(self, n_targets, delay):
        self.n_targets, self.delay = n_targets, delay

    def start(self, n_codes, shown, n_values):
        """Return the state that knows no value yet; empty without codes.

        Inputs are 1 where they are `shown` (d,) and 0 elsewhere, and indicators of values.
        """
        if not n_codes:
            return {}
        n_before, q, p = -(-self.delay // ROWS), self.n_targets, 1 + len(shown) + n_values
        return {
            "t": 0,
            "shown": shown,
            "is_there": False,
            "began": 0,  # after which round
            "waiting": Past(np.empty((0, n_codes + p)), np.empty((0, q)), ROWS),  # for their end
            # targets, what was forecast, and what this has forecast, for trials
            "kept": Past(np.empty((0, 0)), np.empty((0, 3 * q)), _LATEST),
            "squares": Shared(A=np.zeros((p, p)), b=np.zeros((p, q))),
            "theta": np.zeros((1 + n_before, p, q)),  # after each of the latest blocks, too
            "tables": [_no_table(1 + n_before, q, p)] * n_codes,
            # logarithms of what blocks have lost where effects are drawn to 0 so, a faded sum
            "lost": np.zeros((len(_SHRUNK), q)),
        }

    @staticmethod
    def is_there(state, ago=0):
        """Tell whether this was heard some rounds ago; what let it begin was not known before."""
        return bool(state) and state["is_there"] and state["t"] - state["began"] >= ago

    @staticmethod
    def is_tried(state):
        """Tell whether this is heard, or may be one day, so that it learns."""
        return bool(state) and (state["is_there"] or state["t"] < TRIALS[-1])

    def learn(self, state, codes, U, u, F, weights=None):
        """Learn targets u (n, q) or (n,) of rows of codes (n, m) and inputs U; return forecasts.

        Once they are heard they are put in those of all, F (q, n, K).
        """
        codes, Z = whole(codes), _with_one(U)
        u, forecasts = u.reshape(len(Z), -1), np.empty((len(Z), self.n_targets))
        for part in blocks_of(len(u), state["t"], state["t"] - self.delay):
            forecasts[part] = self._asked(state, codes[part], Z[part], self.delay)
            rows = np.hstack([codes[part], Z[part]]), u[part]
            state["waiting"] += rows if weights is None else (*rows, weights[part])
            self._went_on(state, len(rows[1]))
        if state["is_there"]:
            F[..., EFFECTS] = forecasts.T
        return forecasts

    def look(self, state, codes, U, F, ago=0):
        """Put what this forecasts by what it knew some rounds ago in the forecasts of all."""
        F[..., EFFECTS] = self._asked(state, whole(codes), _with_one(U), ago).T

    def ask_row(self, state, codes, inputs):
        """Return forecasts (q,) of a row of codes (1, m) and inputs (p,), and what is learnt."""
        row = np.concatenate([whole(codes)[0], [1.0], inputs])
        tables, n = state["tables"], len(state["tables"])
        forecasts = row[n:] @ state["theta"][-1]
        for table, code in zip(tables, row[:n].tolist(), strict=True):
            values = table["values"]
            place = values.searchsorted(code)
            if place < len(values) and values.item(place) == code:
                forecasts += table["effects"][-1, :, place]
        return forecasts, row

    def teach_row(self, state, t, row, *of_row):
        """Learn a row, the one after round t, of which there is what `keep` takes, and a weight."""
        *of_trial, weight = of_row
        more = () if weight == 1.0 and state["waiting"].weights is None else (np.array([weight]),)
        state["waiting"] += row[None], of_trial[0][None], *more
        self._went_on(state, 1)
        self.keep(state, t, *of_trial)

    def lines(self, state):
        """Return the constants (q,), and the coefficients of inputs (p, q) now."""
        return state["theta"][-1, 0], state["theta"][-1, 1:]

    def told(self, state, codes):
        """Return what each code adds now, (n, m, q)."""
        columns = zip(state["tables"], whole(codes).T, strict=True)
        return np.stack([_effects(table, column, -1) for table, column in columns], axis=1)

    def keep(self, state, t, *of_targets):
        """Keep targets (n, q) after round t, what was forecast, and what this would have said."""
        kept, n = state["kept"], max(TRIALS[-1] - t, 0)
        if n == 0 and kept.length == 0:
            return
        new = np.hstack([part.reshape(-1, self.n_targets) for part in of_targets])
        new = new[max(_FIRST + self.delay - t, 0) : n]  # first it has to learn
        rows = np.empty((len(new), 0)), new
        state["kept"] = kept + rows if n else Past(*rows, kept.window)

    def try_out(self, state):
        """Begin to be heard if that would have helped; return the losses (q,) a row, else None."""
        if not state or state["is_there"]:
            return None
        y, forecasts, F = np.split(state["kept"].rows[1], 3, axis=1)
        if len(y) < ROWS or not told_of_missed(y, forecasts, F):
            if not self.is_tried(state):  # never again
                n, p, q = state["theta"].shape
                state["tables"] = [_no_table(n, q, p)] * len(state["tables"])
            return None
        state["is_there"], state["began"] = True, state["t"]
        return np.square(y - F).mean(axis=0)

    def written(self, state):
        """Return what a row has written."""
        rows, targets = state["waiting"].rows
        return [rows[-1:], targets[-1:]]

    def forget_target(self, state, j):
        """Go on as if all of target j had been 0, and nobody had missed it."""
        q, p = self.n_targets, len(state["squares"]["b"])
        for name, columns in {"waiting": [j], "kept": range(j, 3 * q, q)}.items():
            past = state[name]
            (rows, of_targets), weights = past.rows, past.weights
            of_targets = of_targets.copy()
            of_targets[:, columns] = 0.0
            state[name] = Past(rows.copy(), of_targets, past.window, len(rows), weights)
        kept = np.arange(q) != j
        of_sums = np.concatenate([[True], kept, np.ones(p, dtype=bool)])[:, None]
        state["squares"] = Shared(state["squares"], b=state["squares"]["b"] * kept)
        state["theta"], state["lost"] = state["theta"] * kept, state["lost"] * kept
        state["tables"] = [
            Shared(one, sums=one["sums"] * of_sums, effects=one["effects"] * kept[:, None])
            for one in state["tables"]
        ]

    def _asked(self, state, codes, Z, ago):
        """Return forecasts (n, q) by what was known some rounds ago."""
        t = state["t"]
        version = -1 - (t // ROWS - max(t - ago, 0) // ROWS)
        columns = zip(state["tables"], codes.T, strict=True)
        told = sum(_effects(table, column, version) for table, column in columns)
        return Z @ state["theta"][version] + told

    def _went_on(self, state, n):
        """Count n rows more; where they end a block the line and the tables learn."""
        state["t"] += n
        if state["t"] % ROWS:
            return
        (rows, y), weights = state["waiting"].rows, state["waiting"].weights
        codes, Z = np.split(rows, [len(state["tables"])], axis=1)
        counts = _counted(Z, weights)
        columns, theta = list(zip(state["tables"], codes.T, strict=True)), state["theta"][-1]
        told = [_effects(*one, -1) for one in columns]
        said, of_all = Z @ theta, sum(told)
        known = [_sums(*one) for one in columns]
        left = [_left(sums, theta) for sums in known]
        means = [sum(total / (n + by) for n, total in left) for by in _SHRUNK]
        off = y - said - np.stack(means)
        lost = np.maximum(counts @ np.square(off), _TINY)
        state["lost"] = _FADING * state["lost"] + np.log(lost)
        shrunk = _SHRUNK[state["lost"].argmin(axis=0)]
        squares = _with_differences(state["squares"], known[0], Z, y - of_all + told[0], counts)
        theta = _solved(squares)
        state["squares"], state["theta"] = squares, _after(state["theta"], theta)
        tables = zip(columns, told, strict=True)
        state["tables"] = [
            _learnt(one, Z, y - of_all + own, counts, theta, shrunk) for one, own in tables
        ]


def is_sound(state):
    """Tell whether a state, as from a file, may be one of effects."""
    (rows, y), tables = state["waiting"].rows, state["tables"]
    q, p = y.shape[1], rows.shape[1] - len(tables)
    squares, n = state["squares"], len(state["theta"])
    return bool(
        squares["A"].shape == (p, p)
        and len(state["shown"]) < p
        and squares["b"].shape == (p, q)
        and state["theta"].shape == (n, p, q)
        and state["lost"].shape == (len(_SHRUNK), q)
        and state["kept"].rows[1].shape[1] == 3 * q
        and state["began"] <= state["t"]
        and all(
            table["values"].ndim == 1
            and table["sums"].shape == (1 + q + p, len(table["values"]))
            and table["effects"].shape == (n, q, len(table["values"]))
            and (np.diff(table["values"]) > 0.0).all()
            and (table["sums"][0] >= 0.0).all()
            for table in tables
        )
    )


def _no_table(n, q, p):
    """Return a table of no values, of each of which it would know effects n times."""
    return Shared(
        values=np.empty(0),  # of a code, in order
        # of each how many rows it had, and sums of targets, less what others add, and of rows
        sums=np.zeros((1 + q + p, 0)),
        effects=np.zeros((n, q, 0)),  # after each of the latest blocks
    )


def _with_one(U):
    return np.concatenate([np.ones((len(U), 1)), U], axis=1)


def _counted(Z, weights):
    """Return by how much rows Z (n, 1 + p) count: not at all before any number has a unit."""
    show = Z[:, 1:].any(axis=1)
    counts = np.ones(len(Z)) if weights is None else weights
    return counts * show if show.any() else counts


def _after(path, now):
    """Return the latest of what was known after blocks, and what is known now."""
    return np.concatenate([path[1:], now[None]])


def _places(values, codes):
    """Return where codes (n,) are among values in order, and whether they are."""
    places = np.minimum(values.searchsorted(codes), len(values) - 1)
    return places, values[places] == codes


def _effects(table, codes, version):
    """Return what codes (n,) add, (n, q), as a version of a table knows it."""
    effects = table["effects"][version]
    if not len(table["values"]):
        return np.zeros((len(codes), len(effects)))
    places, known = _places(table["values"], codes)
    return np.where(known, effects[:, places], 0.0).T


def _sums(table, codes):
    """Return the sums (n, 1 + q + p) of the rows of each of the codes (n,)."""
    if not len(table["values"]):
        return np.zeros((len(codes), len(table["sums"])))
    places, known = _places(table["values"], codes)
    return np.where(known, table["sums"][:, places], 0.0).T


def _left(sums, theta):
    """Return how many rows (n, 1) there were, and what a line theta (p, q) leaves of all (n, q)."""
    counts, of_targets, of_rows = np.split(sums, [1, 1 + theta.shape[1]], axis=1)
    return counts, of_targets - of_rows @ theta


def _with_differences(squares, known, Z, y, counts):
    """Return sums A and b with those of rows and targets less the means known of their values.

    The variance of such a difference is larger, the fewer rows there have been.
    """
    n_before, of_targets, of_rows = np.split(known, [1, 1 + y.shape[1]], axis=1)
    n_before = n_before + _ALPHA
    weights = counts[:, None] * n_before / (n_before + 1.0)
    D = Z - of_rows / n_before
    weighted = (weights * D).T
    b = squares["b"] + weighted @ (y - of_targets / n_before)
    return Shared(A=squares["A"] + weighted @ D, b=b)


def _solved(squares):
    """Return the line (p, q) of sums A and b, with the ridge."""
    A = squares["A"] + _ALPHA * np.eye(len(squares["A"]))
    scale = np.sqrt(np.diag(A))
    factor = cho_factor(A / np.multiply.outer(scale, scale), check_finite=False)
    solved = cho_solve(factor, squares["b"] / scale[:, None], check_finite=False)
    return solved / scale[:, None]


def _learnt(column, Z, y, counts, theta, shrunk):
    """Return a table that knows rows Z (n, p) and targets (n, q) of its codes, and the line."""
    table, codes = column
    values, sums, effects = table["values"], table["sums"], table["effects"]
    most = _NUMBERS // len(sums)
    new = np.setdiff1d(codes, values)[: max(most - len(values), 0)]
    at = values.searchsorted(new)
    values, sums = np.insert(values, at, new), np.insert(sums, at, 0.0, axis=1)
    places, known = _places(values, codes)
    rows = counts[:, None] * np.column_stack([np.ones(len(y)), y, Z])
    np.add.at(sums.T, places[known], rows[known])
    sums[:, places] *= np.minimum(1.0, _MOST / np.maximum(sums[0, places], 1.0))
    path = np.insert(effects[1:], at, 0.0, axis=2)
    n, total = _left(sums.T, theta)
    now = (total / (n + shrunk)).T
    return Shared(values=values, sums=sums, effects=np.concatenate([path, now[None]]))
