"""The lines of Tables 1 to 5 of P. M. Ghari, Y. Shen (JMLR 2023), with the published figures.

The published figures of OMKL-SFG and OMKL-SFG-R are not those of the paper's algorithms. Lines that
say "program" run what the program does, to show where the figures come from.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from sklearn_okl import (
    KOGDRegressor,
    OMKLGFRegressor,
    OMKLSFGRegressor,
    OMKLSFGRRegressor,
    OMKRRegressor,
    RakerRegressor,
    RFOMKRRegressor,
)
from sklearn_okl.feedback import RefinedSimilarityGraph, SimilarityGraph
from sklearn_okl.feedback._graphs import draw
from sklearn_okl.kernels import kernel_list

from .._plots import BLUE, GREEN, GREY, ORANGE, PINK
from ..published import figures

DATA = ("airfoil", "bias_notebook", "concrete", "naval_notebook")
SAME_FIGURES = {"bias": "bias_notebook", "naval": "naval_notebook"}  # the sets as they are meant
N_SELECTED = (1, 5, 10, 15, 20)
FREEZE_AFTER = 300  # round of the experiments after which graphs are kept
N_DRAWS = 20  # behind each published mean
PROGRAM = " program"  # what the names of its lines end with
GRAPH_STYLES = {
    "OMKL-GF": {"color": ORANGE},
    "OMKL-SFG": {"color": BLUE},
    "OMKL-SFG-R": {"color": GREEN},
}
GRAPH_STYLES |= {
    name + PROGRAM: GRAPH_STYLES[name] | {"linestyle": "--"} for name in ("OMKL-SFG", "OMKL-SFG-R")
}
DEFAULT = ", M = 10"  # what the names of the lines drawn end with
STYLES = {
    "RBF-1": {"color": GREY},
    "Raker": {"color": PINK},
    **{name + DEFAULT: style for name, style in GRAPH_STYLES.items()},
}


class Line(NamedTuple):
    """A line of the tables.

    Attributes
    ----------
    model : callable
        Makes the estimator from a seed.
    published : dict of str to float
        MSE × 10³, by data set.
    seconds : dict of str to float
        Published time of a run, on another machine.
    random : bool
        Whether it draws anything, so that there is more than one run of it.
    n_selected : int or None
        Size M of the set of kernels that are asked.
    """

    model: Callable
    published: dict = {}
    seconds: dict = {}
    random: bool = True
    n_selected: int | None = None


def _omkr_kernels():
    """Return the published exact kernels: Gaussians of exponent 1/σ², twice the dictionary's."""
    return [
        {"kernel": [point["kernel"]], "gamma": [point["gamma"] * factor]}
        for point in kernel_list()
        for factor in [2.0 if point["kernel"] == "rbf" else 1.0]
    ]


TABLE_1 = {  # label -> what makes the estimator from a seed
    "OMKR": lambda seed: OMKRRegressor(_omkr_kernels()),
    # steps of KOGD are half the gradient's
    "RBF-1": lambda seed: KOGDRegressor("rbf", 1.0, eta0=0.05),
    "POLY-2": lambda seed: KOGDRegressor("poly", 1.0, degree=2, coef0=0.0, eta0=0.05),
    "RFOMKR, hedge": lambda seed: RFOMKRRegressor(aggregator="hedge", random_state=seed),
    "RFOMKR, ogd": lambda seed: RFOMKRRegressor(aggregator="ogd", random_state=seed),
    "Raker": lambda seed: RakerRegressor(eta0=0.1, shrinkage=1e-3, random_state=seed),
}
_EXACT = ("OMKR", "RBF-1", "POLY-2")  # they draw nothing


class _OneLate(SimilarityGraph):
    """Draws of the published program: one place late, then the first node."""

    def _node(self, state, t, rng):
        node = super()._node(state, t, rng)
        return _one_late(node, state) if t <= self.freeze_after else 0


class _OneLateRefined(RefinedSimilarityGraph):
    """Draws of the published program: one place late, and in every round.

    As distances are NaN there, the first of the best nodes asks all kernels.
    """

    def _refine(self, state):
        super()._refine(state)
        first = state["dominating"].argmax()
        state["askers"] = np.full(len(state["graph"]), first)
        state["is_new"] = ~state["graph"][:, first]

    def _node(self, state, t, rng):
        return _one_late(int(draw(state["probabilities"], rng.random_sample())), state)

    def pool(self, state, t):
        return state["asked"], False  # another node in every round


def _one_late(node, state):
    return min(node + 1, len(state["graph"]) - 1)


class ProgramSFG(OMKLSFGRegressor):
    """OMKL-SFG with the draws of the published program."""

    def _graph(self):
        return _OneLate(**vars(super()._graph()))


class ProgramSFGR(OMKLSFGRRegressor):
    """OMKL-SFG-R with the draws of the published program."""

    def _graph(self):
        return _OneLateRefined(**vars(super()._graph()))


_EQUAL = np.ones((len(kernel_list()),) * 2)  # the program's distances are NaN: ties, all of them
GRAPHS = {
    "OMKL-GF": OMKLGFRegressor,
    "OMKL-SFG": OMKLSFGRegressor,
    "OMKL-SFG-R": OMKLSFGRRegressor,
    "OMKL-SFG" + PROGRAM: partial(ProgramSFG, distances=_EQUAL),
    "OMKL-SFG-R" + PROGRAM: partial(ProgramSFGR, distances=_EQUAL),
}


def _lines():
    published = {"mse": {}, "seconds": {}}
    for row in figures("graph_aided"):
        published[row.pop("figure")][row.pop("line")] = row

    def printed(label):
        return [figure.get(label.replace(PROGRAM, ""), {}) for figure in published.values()]

    for label, model in TABLE_1.items():
        yield label, Line(model, *printed(label), random=label not in _EXACT)
    for name, algorithm in GRAPHS.items():
        for m in N_SELECTED:
            label = f"{name}, M = {m}"
            model = partial(algorithm, n_selected=m, freeze_after=FREEZE_AFTER)
            yield label, Line(_seeded(model), *printed(label), n_selected=m)


def _seeded(algorithm):
    return lambda seed: algorithm(random_state=seed)


LINES = dict(_lines())


def published_figure(name, label, column="published"):
    """Return a published figure of a line, or None where there is none."""
    line = LINES.get(label)
    return getattr(line, column).get(SAME_FIGURES.get(name, name)) if line else None
