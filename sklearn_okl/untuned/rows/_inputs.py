"""What the experts see: rows standardised as they come, and the latest targets, too."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..._delay import as_it_was, late
from ...features import _quantiles as quantiles
from ...features import _slopes
from ...features._lags import lagged
from ...features._moments import moderate, paths
from ...features._units import RunningUnits, deviations, mean_and_variance, pairs, repeated
from . import _far_cells as far_cells
from ._gaps import GapFiller

_UNITS = RunningUnits()


class Seen(NamedTuple):
    """What the experts see of rows: of q targets, each of the lags is q columns.

    Attributes
    ----------
    inputs : ndarray of shape (n, d + q n_lags), or (n, 2 (d + q n_lags)) with ranks
        Standardised by what was known before each row: no number is large. With ranks, the same
        columns come once more, those of the row as normal scores among the rows before.
    steady : ndarray of shape (n, d + n_trees + q n_lags)
        In units that stay as they were first known: a line through them stays a line, even where
        they grow. The forecasts of trees among the columns, the last ones of a row, are here alone.
    walks : ndarray of shape (n, n_walks) or (n, n_walks, q)
        Forecasts of random walks without and with a drift: persistence, and the mean step on top of
        it.
    scale : ndarray of shape (n,) or (n, q), or one for all rows
        The scale of y known before each row.
    spreads : ndarray like inputs, or None
        Variances of the inputs that were filled into gaps, 0 elsewhere; None without gaps.
    strange : ndarray of shape (n,)
        Whether the row, or one of the latest, is far from the row before.
    codes : ndarray of shape (n, n_codes) or None
        Whole numbers and categories as they came, of who wants them.
    logs : ndarray of shape (q, n, K) or None
        What experts forecast of logarithms of the targets, NaN of who learns none.
    values : ndarray of shape (n, n_values) or None
        Which of its few values each number is, for a line that sees the rest, too.
    """

    inputs: np.ndarray
    steady: np.ndarray
    walks: np.ndarray
    scale: np.ndarray
    spreads: np.ndarray | None
    strange: np.ndarray
    codes: np.ndarray | None = None
    logs: np.ndarray | None = None
    values: np.ndarray | None = None


class LaggedInputs:
    """Standardise rows by the rows before them, and append the latest targets, standardised too.

    Of the targets neither faulty values nor new units are looked for: see `_targets.py`.

    Parameters
    ----------
    n_lags : int
    delay : int
        How many rounds late a row's moments and latest targets are, as labels come so late. Cells
        that are absurdly far off are told by what was known so many rounds before, too.
    units : RunningUnits
        How units are learnt.
    n_quantiles : int, default=0
        Quantiles per column by which values get ranks; 0 is for no ranks.
    n_targets : int, default=None
        Number q of targets of a row; None is for one, without an axis of its own.
    walks : bool, default=True
        Whether the latest targets are forecasts, too, where they are seen.
    """

    def __init__(self, n_lags, delay=0, units=_UNITS, n_quantiles=0, n_targets=None, walks=True):
        self.n_lags = n_lags
        self.n_walks = 2 * (walks and n_lags > 0)  # forecasts made of the latest targets alone
        self.of_targets = () if n_targets is None else (n_targets,)  # shape of a row's targets
        self.n_lag_columns = n_lags * (n_targets or 1)
        self.delay = delay
        self.units = units
        self.gaps = GapFiller(delay)
        self.n_quantiles = n_quantiles

    def start(self, n_features, n_trees=0, n_values=0):
        """Return the state before the first row; the last columns may be of trees, and values."""
        d, q = n_features - n_values, self.of_targets
        shapes = {
            "rows": (8, 2, d),
            "lags": (2, self.n_lag_columns),
            "walks": (self.n_walks, *q),
            "count": (),
            "scale": q,
        }
        n_targets = sum(q) or 1
        ranks = (
            {"ranks": quantiles.start(d - n_trees, self.n_quantiles)} if self.n_quantiles else {}
        )
        return ranks | {
            "n_trees": n_trees,
            "n_values": n_values,
            "rows": self.units.start(d, n_targets),
            "gaps": {},  # what fills them: nothing before the first one
            "far": {},  # what is known of cells that are absurdly far off
            "targets": {name: np.zeros(n_targets) for name in ("weights", "sums", "squares")}
            | {"steady": np.zeros((2, n_targets))},
            "lags": np.zeros((self.n_lags, *q)),  # the latest first
            # what was known before each of the latest `delay` rows
            "past": {name: np.zeros((self.delay, *shape)) for name, shape in shapes.items()}
            | {"scale": np.ones((self.delay, *q))},
        }

    def learn(self, state, X, y):
        """Learn rows (n, d), targets (n,) or (n, q); return what was to be seen before each."""
        X, values = _without_values(state, X)
        changes, came = [], X  # (number of these rows, columns whose unit changed after them)
        Y, moments = y.reshape(len(y), -1), state["targets"]
        rows, X, strange = self.units.learn(
            state["rows"], X, lambda *change: changes.append(change), Y
        )
        names = ("weights", "sums", "squares")
        before = [moments[name] for name in names]
        sums = dict(zip(names, paths(Y, *before), strict=True))
        moments.update({name: path[-1] for name, path in sums.items()})
        lags, state["lags"] = lagged(state["lags"], y)
        sums = {name: path[:-1] for name, path in sums.items()}
        known = {"rows": rows} | self._of_targets(lags, moments, sums)
        n_first = int((sums["weights"][:, 0] <= self.delay).sum())  # of which there was no forecast
        for name, path in known.items():
            known[name], state["past"][name] = late(path, state["past"][name])
            if self.delay and name in ("rows", "lags"):
                known[name][:n_first] = path[:n_first]
        if self.delay:
            known["count"][:n_first] = np.inf
        if self.delay:  # as they are forecast
            X = self.units.plausible(came, known["rows"])
        known["rows"] = self.units.by_former(X, known["rows"])
        of_far = came, X, Y, sums, self.delay, changes
        shown = far_cells.learn(state["far"], *of_far)
        X, strange = self._with_far(X, strange, shown, known["rows"])
        n_own = X.shape[1] - state["n_trees"]
        X, trees = X[:, :n_own], X[:, n_own:]
        X, spreads = self.gaps.learn(state["gaps"], X, known["rows"][:, 0, :, : X.shape[1]])
        seen = _with_values(self._seen(X, trees, known, spreads, strange), values, X.shape[1])
        if not self.n_quantiles:
            return seen
        of_ranks = [(n, changed[: X.shape[1]]) for n, changed in changes]
        of_ranks = _as_they_came(came, X), self.delay, of_ranks
        return _with_ranks(seen, quantiles.learn(state["ranks"], *of_ranks))

    def look(self, state, X, ago=0):
        """Return what is seen of rows, each as if the next, from what was known some rounds ago."""
        moments = dict(state["targets"])
        sums = {name: moments[name][None] for name in ("weights", "sums", "squares")}
        of_targets = self._of_targets(state["lags"][None], moments, sums)
        now = {"rows": self.units.known(state["rows"])}
        now |= {name: path[0] for name, path in of_targets.items()}
        known = {name: as_it_was(now[name], past, ago) for name, past in state["past"].items()}
        X, values = _without_values(state, X)
        came = X
        X, strange = self.units.look(state["rows"], X)
        if self.delay:
            X = self.units.plausible(came, known["rows"])
        known["rows"] = self.units.by_former(X, known["rows"])
        shown = far_cells.look(state["far"], came, X, ago)
        X, strange = self._with_far(X, strange, shown, known["rows"])
        n_own = X.shape[1] - state["n_trees"]
        X, trees = X[:, :n_own], X[:, n_own:]
        moments = known["rows"][..., 0, :, : X.shape[1]]
        X, spreads = self.gaps.look(state["gaps"], X, moments, ago)
        seen = _with_values(self._seen(X, trees, known, spreads, strange), values, X.shape[1])
        if not self.n_quantiles:
            return seen
        return _with_ranks(seen, quantiles.ask(state["ranks"], _as_they_came(came, X), ago))

    def _with_far(self, X, strange, shown, known):
        """Show cells that are absurdly far off, and tell of a target, as far as values count.

        That is the reason of what is strange, too.
        """
        if shown is None or not shown.any():
            return X, strange
        centers, scales = known[..., 0, 0, :], known[..., 0, 1, :]
        X = np.where(shown != 0, centers + shown * self.units.clip * scales, X)
        return X, strange | shown.any(axis=1)

    def forget_target(self, state, j, latest):
        """Let target j be as if it had always been like the latest ones, the last one first."""
        far_cells.forget_target(state["far"], j, latest.mean())
        rows, moments, past = state["rows"], state["targets"], state["past"]
        _slopes.forget_target(rows, j, latest.mean())
        moments["sums"][j] = moments["weights"][j] * latest.mean()
        moments["squares"][j] = moments["weights"][j] * latest.var()
        moments["steady"][:, j] = 0.0
        state["lags"][:, j] = latest[: self.n_lags]
        past["walks"][..., j] = past["lags"][..., j :: len(moments["sums"])] = 0.0
        past["scale"][:, j] = latest.std() or 1.0

    def _of_targets(self, lags, moments, sums):
        """Return what rows know of the targets: their lags (n, 2, q k), walks, number, scale."""
        centers, variances = mean_and_variance(**sums)
        scales = deviations(centers, variances)
        steady, moments["steady"] = self.units.steady(
            moments["steady"], sums["weights"], centers, scales
        )
        known = [pairs(centers, scales), steady]
        if sum(self.of_targets) > 1:  # one has the same for all lags
            known = [np.tile(part, self.n_lags) for part in known]  # those of each lag
        last = lags[:, :1]  # none without lags
        count = sums["weights"][:, 0]
        n_steps = np.maximum(count - 1.0, 1.0)  # the first target is the origin
        steps = last / n_steps.reshape(-1, *[1] * (last.ndim - 1))
        columns = lags.reshape(len(lags), self.n_lag_columns)
        scales = scales.reshape(-1, *self.of_targets)
        return {
            "lags": pairs(*self.units.seen(columns, *known)),
            "walks": np.concatenate([last, last + (self.delay + 1.0) * steps], axis=1)[
                :, : self.n_walks
            ],
            "count": count,
            "scale": np.where(scales > 0.0, scales, 1.0),
        }

    def _seen(self, X, trees, known, spreads, strange):
        n_trees = trees.shape[1]
        X = np.hstack([X, trees]) if n_trees else X
        n, d = X.shape
        rows = known["rows"]  # (n, 8, 2, d) or (8, 2, d)
        lags = known["lags"]  # (n, 2, q k) or (2, q k)
        both = np.empty((2, n, d + self.n_lag_columns))
        inputs, steady = both
        of_rows = rows[..., 0, :, :], rows[..., 1, :, :], rows[..., 2, 0, :]
        inputs[:, :d], steady[:, :d] = self.units.seen(X, *of_rows)
        both[..., d:] = lags[:, None] if lags.ndim == 2 else lags.swapaxes(0, 1)
        # fewer rows than are to be forecast hardly tell what is far for these
        few = known["count"] <= min(self.delay, self.units.first - 1)
        if np.logical_or.reduce(few, axis=None):
            inputs[np.broadcast_to(few, n)] = 0.0
        if n_trees:
            inputs = np.hstack([inputs[:, : d - n_trees], inputs[:, d:]])
        walks = known["walks"]
        walks = walks if lags.ndim == 3 else repeated(walks, n)
        if spreads is not None:
            spreads = np.pad(spreads, [(0, 0), (0, self.n_lag_columns)])
        return Seen(inputs, steady, walks, known["scale"], spreads, strange)


def _without_values(state, X):
    """Return rows without what says which values they have, and that, None where there is none."""
    n = X.shape[1] - state["n_values"]
    return (X[:, :n], X[:, n:]) if state["n_values"] else (X, None)


def _with_values(seen, values, n_own):
    """Put in which values rows have, none as long as lines see nothing else of them.

    Of such first rows, whose columns have no unit yet, no value is the reason.
    """
    if values is None:
        return seen
    is_known = (seen.steady[:, :n_own] != 0.0).any(axis=1)
    return seen._replace(values=values * is_known[:, None])


def _as_they_came(came, X):
    """Return rows without gaps X (n, d) with what was taken for absurd: ranks bear with it."""
    came = came[:, : X.shape[1]]
    return np.where(np.isnan(came), X, moderate(came))


def _with_ranks(seen, shares):
    """Put the normal scores of shares (n, d), and the lags, behind the inputs."""
    lags = seen.inputs[:, shares.shape[1] :]
    inputs = np.hstack([seen.inputs, ndtri(shares), lags])
    spreads = None if seen.spreads is None else np.tile(seen.spreads, 2)
    return seen._replace(inputs=inputs, spreads=spreads)
