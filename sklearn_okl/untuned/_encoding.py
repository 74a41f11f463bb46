"""What the experts see of categories and of gaps: numbers that are learnt from the rows before.

A category is the mean of the targets of its rows, shrunk to that of all rows; columns of few
categories are indicators besides. The mean serves many categories, such as places:
D. Micci-Barreca, "A preprocessing scheme for high-cardinality categorical attributes in
classification and prediction problems", SIGKDD Explorations 3(1), 2001. As it is taken from earlier
rows only, no row sees its own target.
"""

import numpy as np

from ..base import _copied
from ..features._moments import faded
from . import _steps as steps
from ._columns import N_OWN, N_SHARED

FEW = 8  # categories of a column up to which each has an indicator
MOST = 64  # indicators in all
_SHRUNK = 10.0  # rows that the mean of all rows counts as in that of a category
_TELLING = 3.0  # standard errors from which on it counts that a value is missing
_OTHERS = -2  # in place of a category: all those without an indicator
_NOT_BEGUN = -2  # in place of a place, in rows before the first value of a column
_MISSING = N_OWN + N_SHARED  # place of missing values among the sums of a column


def plain_layout(nominal):
    """Return how columns are shown before any row is known, of which some may be nominal."""
    return {
        "nominal": nominal,
        "at_first": nominal,  # and those of which no value was known, which may be numbers
        # column and category of each indicator
        "indicators": np.empty((0, 2), dtype=int),
        "few": np.empty(0, dtype=int),  # columns of few values, which a tree sees
        "gaps": False,  # whether a column says what a missing value says of the target
    }


def layout_of(nominal, X):
    """Return how columns are shown that have these rows in common."""
    found = []
    for j in nominal.tolist():
        codes = X[:, j]
        codes = np.unique(codes[~np.isnan(codes)]).astype(int).tolist()
        if 1 < len(codes) <= FEW:
            found.append([(j, code) for code in [*codes, _OTHERS]])
    indicators, n = [], 0
    for pairs in sorted(found, key=len):
        if n + len(pairs) <= MOST:
            indicators += pairs
            n += len(pairs)
    return {
        "nominal": nominal,
        "at_first": np.union1d(nominal, np.flatnonzero(np.isnan(X).all(axis=0))),
        "indicators": np.array(indicators, dtype=int).reshape(-1, 2),
        "few": steps.columns_of_few(X, nominal),
        "gaps": bool(np.isnan(np.delete(X, nominal, axis=1)).any()),
    }


def is_same(layout, other):
    """Tell whether two layouts show the same."""
    return layout["gaps"] == other["gaps"] and all(
        np.array_equal(layout[name], other[name]) for name in ("indicators", "few")
    )


def width_of(layout, n_columns):
    """Return how many columns the experts see."""
    return n_columns + len(layout["indicators"]) + has_tree(layout) + layout["gaps"]


def has_tree(layout):
    """Tell whether a column is the forecast of a tree on columns of few values."""
    return len(layout["few"]) > 0


def mark_units(state):
    """Say in the state of a model of which columns that the experts see the unit may change.

    Of those that were numbers as they came: codes of categories, and what is made of them and of
    gaps, have none.
    """
    rows, layout = state["inputs"]["rows"], state["columns"]["layout"]
    places = np.arange(len(rows["have_units"]))
    is_number = places < state["latest"]["X"].shape[1]
    rows["have_units"] = is_number & ~np.isin(places, layout["nominal"])


class Encoder:
    """Makes columns of numbers for the experts, whose targets come some rounds late.

    Parameters
    ----------
    delay : int
        What is known of a row are the targets up to `delay` rounds before the last one.
    """

    def __init__(self, delay=0):
        self.delay = delay

    def n_trees(self, layout):
        """Return how many columns are forecasts of trees: the last ones."""
        return int(has_tree(layout))

    def start(self, layout, n_columns):
        """Return the state before the first row: empty where rows are shown as they are."""
        n_nominal = len(layout["nominal"])
        if not n_nominal and not layout["gaps"] and not has_tree(layout):
            return {"layout": layout}
        trees = {"steps": steps.start(len(layout["few"]))} if has_tree(layout) else {}
        return trees | {
            "layout": layout,
            "sums": np.zeros((n_nominal, _MISSING + 1)),
            "counts": np.zeros((n_nominal, _MISSING + 1)),
            "begun": np.zeros(n_nominal, dtype=bool),  # whether a value has been there
            "all": np.zeros(3),  # number, sum, sum of squares of all targets
            "of_gaps": np.zeros((2, n_columns)),  # number and sum of those where one is missing
            # the latest rows, whose targets nobody knows yet
            "places": np.zeros((0, n_nominal), dtype=int),
            "is_gap": np.zeros((0, n_columns), dtype=bool),
            "few": np.zeros((0, len(layout["few"]))),
            "y": np.zeros(0),
        }

    def forget_numbers(self, state, nominal):
        """Leave columns aside of which, at their first value, it has turned out that they are none.

        So in the state of a model, and in those that it keeps for late labels.
        """
        mine = state["columns"]
        kept = np.isin(mine["layout"]["nominal"], nominal)
        if not kept.all():
            mine["layout"] = {**mine["layout"], "nominal": mine["layout"]["nominal"][kept]}
            for name in ("sums", "counts", "begun"):
                mine[name] = mine[name][kept]
            mine["places"] = mine["places"][:, kept]
            if "inputs" in state:
                mark_units(state)
        if state["former"]:
            self.forget_numbers(state["former"], nominal)

    def learn(self, state, X, y):
        """Learn rows (n, d) and targets; return what was to be seen before each of them."""
        if "all" not in state:
            return X
        layout, n_before = state["layout"], len(state["y"])
        places, state["begun"] = self._places(state, X)
        both = {
            "places": np.concatenate([state["places"], places]),
            "is_gap": np.concatenate([state["is_gap"], _gaps_in_numbers(layout, X)]),
            "few": np.concatenate([state["few"], steps.seen(X, layout["few"])]),
            "y": np.concatenate([state["y"], y]),
        }
        n_known = np.maximum(n_before + np.arange(len(X) + 1) - self.delay, 0)
        Z = self._shown(state, X, places, both, n_known)
        state.update({name: rows[n_known[-1] :].copy() for name, rows in both.items()})
        return Z

    def look(self, state, X, ago=0):
        """Return what is seen of rows, each as if the next, from what was known some rounds ago."""
        if "all" not in state:
            return X
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
            Z[:, d + mine[wanted[mine] == _OTHERS]] = other[:, None]
        if layout["gaps"]:
            of_gaps = state["of_gaps"]
            of_gaps = (
                faded(past["is_gap"].astype(float), of_gaps[0]),
                faded(past["is_gap"] * targets[:, None], of_gaps[1]),
            )
            of_gaps = [path[n_known] for path in of_gaps]
            Z[:, -1 - has_tree(layout)] = _what_gaps_say(
                _gaps_in_numbers(layout, X), *of_gaps, known
            )
            state["of_gaps"] = np.stack([path[-1] for path in of_gaps])
        if has_tree(layout):
            of_rows = past["few"], targets, steps.seen(X, layout["few"]), n_known
            Z[:, -1] = steps.forecasts(state["steps"], *of_rows, int(of_all[0, 0]))
        state["all"] = known[-1]
        return Z


def _gaps_in_numbers(layout, X):
    """Return where numbers are missing; a missing category is a category."""
    is_gap = np.isnan(X)
    is_gap[:, layout["nominal"]] = False
    return is_gap


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
            path[i] = (sums[k] - counts[k] * means[i]) / (counts[k] + _SHRUNK)
    return path


def _what_gaps_say(is_gap, counts, sums, known):
    """Return the sum (n,) over missing values of what each says of the target, if it does."""
    n, of_all = len(is_gap), np.maximum(known[:, 0], 1.0)
    means = known[:, 1] / of_all
    variances = np.maximum(known[:, 2] / of_all - means**2, 0.0)
    off = sums - counts * means[:, None]
    telling = np.abs(off) > _TELLING * np.sqrt(counts * variances[:, None])
    effects = np.where(telling, off / (counts + _SHRUNK), 0.0)[:n]
    return (effects * is_gap).sum(axis=1)
