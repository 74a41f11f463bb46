"""What the experts see of categories and of gaps: numbers that are learnt from the rows before.

A category is the mean of the targets of its rows, shrunk to that of all rows; columns of few
categories are indicators besides, see `_layout.py`. The mean serves many categories, as of places:
D. Micci-Barreca, "A preprocessing scheme for high-cardinality categorical attributes in
classification and prediction problems", SIGKDD Explorations 3(1), 2001. As it is taken from earlier
rows only, no row sees its own target.

Several targets, or one for each class, have means of their own: a category is as many numbers.
"""

import numpy as np

from ..._delay import in_order
from ...base import _copied
from ...features._moments import faded
from . import _steps as steps
from . import _values as values
from ._columns import N_OWN, N_SHARED
from ._layout import OTHERS, gaps_in_numbers, has_tree, mark_units, seen_later, width_of
from ._tails import logarithms

_SHRUNK = 10.0  # rows that the mean of all rows counts as in that of a category
_ROUNDING = 1e-12  # share of the mean of all rows by which that of a category differs at least
_TELLING = 3.0  # standard errors from which on it counts that a value is missing
_RARE = 1.0 / 16.0  # share of all rows up to which categories are rare
_FEWEST = 8  # rows from which on that can be told
_NOT_BEGUN = -2  # in place of a place, in rows before the first value of a column
_MISSING = N_OWN + N_SHARED  # place of missing values among the sums of a column
_OF_A_TARGET = "sums", "counts", "all", "of_gaps"  # what is learnt of it, beside its trees


class Encoder:
    """Makes columns of numbers for the experts, whose targets come some rounds late.

    The state is that of the first target, with those of the others in it.

    Parameters
    ----------
    delay : int
        What is known of a row are the targets up to `delay` rounds before the last one.
    n_targets : int, default=None
        Number q of targets of a row; None is for one, without an axis of its own.
    own_gaps : bool, default=False
        Whether what missing values say is a number for each target. False: it is what they say of
        the first one, as of classes.
    most_rows : int, default=None
        Rows after which trees on columns of few values stay as they were grown, and no rows are
        kept for them; None: they are grown anew for ever.
    """

    def __init__(self, delay=0, n_targets=None, own_gaps=False, most_rows=None):
        self.delay, self.n_targets, self.own_gaps = delay, n_targets, own_gaps
        self.most_rows = most_rows
        self.n_others = (n_targets or 1) - 1

    def width(self, layout, n_columns):
        """Return how many columns the experts see."""
        n_own = len(self._own(layout)) + has_tree(layout)
        return width_of(layout, n_columns) + self.n_others * n_own

    def widths(self, layout, n_columns):
        """Return how many columns all experts see, and how many are forecasts of trees."""
        n_trees = has_tree(layout) * (1 + self.n_others)
        return self.width(layout, n_columns) - n_trees - layout["n_places"], n_trees

    def unseen(self, layout, n_columns):
        """Return, as places, what most experts do not see at first, and two lines do not at all.

        The second, which learns what each of many categories adds, does not see the numbers that
        stand for them either, of any target: these wander.
        """
        of_most, of_line = seen_later(layout, n_columns)
        of_each, many = np.tile(self._own(layout), self.n_others), layout["many"]
        encoded = np.intersect1d(layout["codes"][many, 0], layout["nominal"])
        low = width_of(layout, n_columns) - _n_behind(layout)
        of_others = low + np.flatnonzero(np.isin(of_each, encoded))
        return of_most, of_line, np.concatenate([encoded, of_others, of_line])

    def start(self, layout, n_columns):
        """Return the state before the first row: none where nothing is learnt of a target."""
        asks = layout["gaps"], has_tree(layout), layout["n_places"]
        if not len(layout["nominal"]) and not any(asks):
            return {"layout": layout}
        first = _start(layout, n_columns)
        if self.n_targets is None:
            return first
        layout = layout | values.none()  # which values rows have is the same for all targets
        return first | {"others": [_start(layout, n_columns) for _ in range(self.n_others)]}

    def forget_numbers(self, state, nominal):
        """Leave columns aside of which, at their first value, it has turned out that they are none.

        So in the state of a model, and in those that it keeps for late labels.
        """
        mine = state["columns"]
        kept = np.isin(mine["layout"]["nominal"], nominal)
        if not kept.all():
            for one in (mine, *mine.get("others", ())):
                one["layout"] = {**one["layout"], "nominal": one["layout"]["nominal"][kept]}
                for name in ("sums", "counts", "begun"):
                    one[name] = one[name][kept]
                one["places"] = one["places"][:, kept]
            mark_units(state)
        if state["former"]:
            self.forget_numbers(state["former"], nominal)

    def forget_target(self, state, j, latest):
        """Forget what was learnt of target j, of which these are the latest, the last one first."""
        if "all" in state:
            mine = state["others"][j - 1] if j else state
            for name in _OF_A_TARGET:
                mine[name] = np.zeros_like(mine[name])
            if "steps" in mine:
                mine["steps"] = steps.start(mine["few"].shape[1])
            mine["y"] = in_order(latest, len(mine["y"]))

    def learn(self, state, X, Y):
        """Learn rows (n, d) and targets (n,) or (n, q); return what was to be seen before each."""
        if "all" not in state:
            return _with_logarithms(X, state["layout"])
        if self.n_targets is None:
            return self._learn(state, X, Y)
        Z = self._learn(state, X, Y[:, 0])
        others = zip(state["others"], Y.T[1:], strict=True)
        return self._beside(Z, [self._learn(other, X, y) for other, y in others], state)

    def look(self, state, X, ago=0):
        """Return what is seen of rows, each as if the next, from what was known some rounds ago."""
        if "all" not in state:
            return _with_logarithms(X, state["layout"])
        Z = self._look({name: part for name, part in state.items() if name != "others"}, X, ago)
        others = [self._look(other, X, ago) for other in state.get("others", ())]
        return self._beside(Z, others, state)

    def are_rare(self, state, X):
        """Tell which rows (n,) are of a category that hardly any row before was of.

        So are all that are as rare as it together. Who has never come is as likely to as those are
        that have come once (I. J. Good, "The population frequencies of species and the estimation
        of population parameters", Biometrika 40, 1953).
        """
        rare = np.zeros(len(X), dtype=bool)
        if "all" not in state:
            return rare
        places, _ = self._places(state, X, one_by_one=True)
        for counts, of_rows in zip(state["counts"], places.T, strict=True):
            own = np.where(of_rows >= 0, counts[of_rows], np.inf)
            as_rare = counts[:, None] <= np.maximum(own, 1.0)
            n_rows = counts.sum()
            rare |= (counts @ as_rare <= _RARE * n_rows) & (n_rows >= _FEWEST)
        return rare

    def _own(self, layout):
        """Return the columns that each target has for itself; the last but trees is of gaps."""
        of_gaps = [-1 - has_tree(layout)] * (self.own_gaps and layout["gaps"])
        return np.append(layout["at_first"], of_gaps).astype(int)

    def _beside(self, Z, others, state):
        """Put what the other targets make of rows beside what the first one makes of them."""
        if not others:
            return Z
        layout = state["layout"]
        own = self._own(layout)
        is_nominal = np.isin(own, layout["nominal"]) | (own < 0)
        of_others = (other[:, own] for other in others)
        # what nobody has seen yet, and what has turned out to be a number, says nothing of a target
        of_others = [np.where(is_nominal & ~np.isnan(C), C, 0.0) for C in of_others]
        ends = Z.shape[1] - np.array([_n_behind(layout), layout["n_places"]])
        Z, tree, of_values = np.split(Z, ends, axis=1)
        trees = [other[:, -1:] for other in others] if has_tree(layout) else []
        return np.hstack([Z, *of_others, tree, *trees, of_values])

    def _learn(self, state, X, y):
        """Learn rows and a target (n,); return what was to be seen before each of them."""
        layout, n_before = state["layout"], len(state["y"])
        places, state["begun"] = self._places(state, X)
        both = {
            "places": np.concatenate([state["places"], places]),
            "is_gap": np.concatenate([state["is_gap"], gaps_in_numbers(layout, X)]),
            "few": np.concatenate([state["few"], steps.seen(X, layout["few"])]),
            "valued": np.concatenate([state["valued"], steps.seen(X, layout["valued"])]),
            "y": np.concatenate([state["y"], y]),
        }
        n_known = np.maximum(n_before + np.arange(len(X) + 1) - self.delay, 0)
        Z = self._shown(state, X, places, both, n_known)
        state.update({name: rows[n_known[-1] :].copy() for name, rows in both.items()})
        return Z

    def _look(self, state, X, ago):
        """Return what a target makes of rows, each as if the next, as known some rounds ago."""
        places, _ = self._places(state, X, one_by_one=True)
        # learnt for this look alone
        state = _copied(state)
        n_known = np.maximum(len(state["y"]) - np.broadcast_to(ago, len(X)), 0)
        return self._shown(state, X, places, state, np.append(n_known, n_known[-1:]))

    def _places(self, state, X, one_by_one=False):
        """Return the places (n, c) of rows among the sums, and which columns have begun then.

        No place, and less than 0, is that of unknown categories and of columns not yet begun.
        """
        codes = X[:, state["layout"]["nominal"]]
        is_gap = np.isnan(codes)
        begun = state["begun"] | ~is_gap
        if not one_by_one:
            begun = np.logical_or.accumulate(begun, axis=0)
        places = np.where(begun, np.where(is_gap, _MISSING, codes), _NOT_BEGUN).astype(int)
        return places, begun[-1] if len(X) else state["begun"]

    def _shown(self, state, X, places, past, n_known):
        """Return rows as they are seen by the first n_known (n + 1,) rows of the past.

        The sums of the state are brought up to the last of these numbers.
        """
        layout, d = state["layout"], X.shape[1]
        Z = np.zeros((len(X), width_of(layout, d)))
        Z[:, :d] = X
        targets = past["y"]
        ones = np.ones(len(targets))
        of_all = faded(np.column_stack([ones, targets, targets**2]), state["all"])
        known = of_all[n_known]
        means = known[:, 1] / np.maximum(known[:, 0], 1.0)
        for c, j in enumerate(layout["nominal"].tolist()):
            sums = state["sums"][c], state["counts"][c]
            path = _means_of_categories(
                *sums, past["places"][:, c], targets, places[:, c], means, n_known
            )
            # a column without any value yet may be one of numbers
            Z[:, j] = np.where(places[:, c] == _NOT_BEGUN, X[:, j], path)
        codes, wanted = X[:, layout["indicators"][:, 0]], layout["indicators"][:, 1]
        Z[:, d : d + len(wanted)] = codes == wanted
        for j in np.unique(layout["indicators"][:, 0]).tolist():
            mine = np.flatnonzero(layout["indicators"][:, 0] == j)
            other = ~Z[:, d + mine].any(axis=1) & ~np.isnan(X[:, j])
            Z[:, d + mine[wanted[mine] == OTHERS]] = other[:, None]
        low = d + len(wanted)
        of_tails = layout["tails"], layout["shifts"]
        Z[:, low : low + len(layout["tails"])] = logarithms(X, *of_tails)
        if layout["gaps"]:
            of_gaps = state["of_gaps"]
            of_gaps = (
                faded(past["is_gap"].astype(float), of_gaps[0]),
                faded(past["is_gap"] * targets[:, None], of_gaps[1]),
            )
            of_gaps = [path[n_known] for path in of_gaps]
            Z[:, -1 - _n_behind(layout)] = _what_gaps_say(
                gaps_in_numbers(layout, X), *of_gaps, known
            )
            state["of_gaps"] = np.stack([path[-1] for path in of_gaps])
        if has_tree(layout):
            of_rows = past["few"], targets, steps.seen(X, layout["few"]), n_known
            forecasts = steps.forecasts(state["steps"], *of_rows, most=self.most_rows)
            Z[:, -_n_behind(layout)] = forecasts
        if layout["n_places"]:
            of_rows = past["valued"], steps.seen(X, layout["valued"]), n_known
            Z[:, -layout["n_places"] :] = values.shown(layout, state["values"], *of_rows)
        state["all"] = known[-1]
        return Z


def _with_logarithms(X, layout):
    """Return rows with the logarithms of columns with long tails behind them, if there are any."""
    if not len(layout["tails"]):
        return X
    return np.hstack([X, logarithms(X, layout["tails"], layout["shifts"])])


def _n_behind(layout):
    """Return how many columns of one target come last, for lines alone: a tree, and values."""
    return has_tree(layout) + layout["n_places"]


def _start(layout, n_columns):
    """Return what is known of a target before the first row."""
    n_nominal = len(layout["nominal"])
    trees = {"steps": steps.start(len(layout["few"]))} if has_tree(layout) else {}
    return trees | {
        "layout": layout,
        "values": values.start(layout),
        "sums": np.zeros((n_nominal, _MISSING + 1)),
        "counts": np.zeros((n_nominal, _MISSING + 1)),
        "begun": np.zeros(n_nominal, dtype=bool),  # whether a value has been there
        "all": np.zeros(3),  # number, sum, sum of squares of all targets
        "of_gaps": np.zeros((2, n_columns)),  # number and sum of those where one is missing
        # the latest rows, whose targets nobody knows yet
        "places": np.zeros((0, n_nominal), dtype=int),
        "is_gap": np.zeros((0, n_columns), dtype=bool),
        "few": np.zeros((0, len(layout["few"]))),
        "valued": np.zeros((0, len(layout["valued"]))),
        "y": np.zeros(0),
    }


def _means_of_categories(sums, counts, places, targets, asked, means, n_known):
    """Return the means (n,) of the categories asked for, less that of all; learns on the way."""
    path, low = np.zeros(len(asked)), 0
    for i, high in enumerate(n_known.tolist()):
        for k, y in zip(places[low:high].tolist(), targets[low:high].tolist(), strict=True):
            if k >= 0:
                sums[k] += y
                counts[k] += 1.0
        low = max(low, high)
        if i < len(asked) and asked[i] >= 0:
            k = asked[i]
            off = sums[k] - counts[k] * means[i]
            # that of the only category so far is rounding, and must not become its column's unit
            if abs(off) > _ROUNDING * counts[k] * abs(means[i]):
                path[i] = off / (counts[k] + _SHRUNK)
    return path


def _what_gaps_say(is_gap, counts, sums, known):
    """Return the sum (n,) over missing values of what each says of the target, if it does."""
    n, of_all = len(is_gap), np.maximum(known[:, 0], 1.0)
    means = known[:, 1] / of_all
    variances = np.maximum(known[:, 2] / of_all - means**2, 0.0)
    off = sums - counts * means[:, None]
    usual = np.sqrt(counts * variances[:, None])
    telling = np.abs(off) > _TELLING * usual + _ROUNDING * np.abs(counts * means[:, None])
    effects = np.where(telling, off / (counts + _SHRUNK), 0.0)[:n]
    return (effects * is_gap).sum(axis=1)
