"""Speed of descent on many kernels: Raker, graphs of kernels, a reservoir of rows; and of one map.

The bars stand for what the loops of the oracles cost, most of which are far from numpy's best.
"""

import copy

import numpy as np

from sklearn_okl import (
    LKMBooksRegressor,
    OGDRegressor,
    OMKLGFRegressor,
    OMKLSFGRegressor,
    ONSRegressor,
    RakerClassifier,
    RakerRegressor,
    RFOMKRRegressor,
)

from .figure import Figure
from .loops import bandit_features, first_order, gradient, graphs, newton
from .one_kernel import stream
from .ratios import N_REPEATS, against, in_turns, later_rounds, races

_GAMMAS = np.logspace(-2, 2, 20)
_FROZEN = 300  # rounds after which a graph stays as it is


def linear_speed(quick=False, advance=None):
    """Descent and Newton's steps on 100 features."""
    n = 60 if quick else 500
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((n, 100)) / 10, rng.standard_normal(n)
    pairs = against({"OGD": (OGDRegressor(1e-3), lambda: gradient.ogd(Z, y, shrinkage=1e-3))}, Z, y)
    pairs += against({"ONS": (ONSRegressor(), lambda: newton.ons(Z, y))}, Z, y, bar=5)
    return races(pairs, advance)


def raker_speed(quick=False, advance=None):
    """Raker on the paper's 76 kernels, and its classifier on 20."""
    n, n_loop = (200, 20) if quick else (1000, 100)
    X, y = stream(n, 8)
    labels = np.where(y > 0, 1, -1)
    regressor = RakerRegressor(random_state=0)
    frequencies = regressor.fit(X, y).frequencies_
    classifier = RakerClassifier({"gamma": _GAMMAS.tolist()}, random_state=0)
    maps = [bandit_features.paired(omega) for omega in classifier.fit(X, labels).frequencies_]
    few, few_labels = X[:n_loop], labels[:n_loop]
    loops = {
        "Raker, 76 kernels": (
            regressor,
            lambda: first_order.raker(few, y[:n_loop], frequencies),
        )
    }
    pairs = against(loops, X, y, n_loop, bar=8)
    loops = {
        "Raker, 20 kernels, classes": (
            classifier,
            lambda: bandit_features.raker(few, few_labels, maps, "log_loss"),
        )
    }
    return races(pairs + against(loops, X, labels, n_loop, bar=5), advance)


def graph_speed(quick=False, advance=None):
    """Graphs after the freeze: against a loop, and with eight times the kernels."""
    n, n_loop = (50, 20) if quick else (600, 100)
    X, y = stream(_FROZEN + n, 5)
    old, new = slice(_FROZEN), slice(_FROZEN, None)
    few = slice(_FROZEN, _FROZEN + n_loop)
    asked = OMKLGFRegressor(n_selected=5, random_state=0).fit(X[old], y[old])

    def loop():
        draws, frequencies = np.random.RandomState(0), list(asked.frequencies_)
        graphs.omkl_gf(X[few], y[few], frequencies, draws, M=5, freeze_after=1)

    loops = {f"OMKL-GF after {_FROZEN}, M = 5": (asked, loop)}
    figures = races(against(loops, X[new], y[new], n_loop), advance)
    small, large = (
        OMKLSFGRegressor(
            {"kernel": ["rbf"], "gamma": np.logspace(-2, 2, n).tolist()},
            n_selected=5,
            random_state=0,
        ).fit(X[old], y[old])
        for n in (50, 400)
    )
    seconds = in_turns(
        [lambda model=model: model.partial_fit(X[new], y[new]) for model in (small, large)],
        N_REPEATS,
        advance,
    )
    ratio = (seconds[1] / seconds[0]).tolist()  # the same M: all kernels would cost eight times
    name = f"OMKL-SFG after {_FROZEN}, M = 5, 400 kernels of 50"
    return [*figures, Figure(name, ratio, "times", bar=4)]


def reservoir_speed(quick=False, advance=None):
    """LKMBooks, six kernels and 200 rows."""
    n, n_loop = (100, 50) if quick else (2000, 300)
    X, y = stream(n, 20)
    model = LKMBooksRegressor(horizon=n, random_state=0)
    kernels = [
        lambda a, b, g=point["gamma"]: np.exp(-g * np.sum((a - b) ** 2))
        for point in model.fit(X, y).kernels_
    ]

    def loop():
        draws = np.random.RandomState(0)
        few = slice(n_loop)
        bandit_features.lkmbooks(X[few], y[few], kernels, draws, "squared_error", n, 200)

    return races(against({"LKMBooks, 200 rows": (model, loop)}, X, y, n_loop, bar=30), advance)


def growth(quick=False, advance=None):
    """The last rounds of long streams against the first."""
    n, n_part = (600, 100) if quick else (8000, 1000)
    models = {
        "Raker": RakerRegressor(random_state=0),
        "RFOMKR": RFOMKRRegressor(random_state=0),
        "OMKL-GF": OMKLGFRegressor(random_state=0),
    }
    return later_rounds(models, *stream(n, 5), n_part, advance)


def reservoir_growth(quick=False, advance=None):
    """LKMBooks: a round with a full reservoir, late in a long stream, against one soon after."""
    n, n_full, n_part = (600, 300, 100) if quick else (20_000, 2000, 1000)
    X, y = stream(n, 20)
    young = LKMBooksRegressor(horizon=n_full, random_state=0).fit(X[:n_full], y[:n_full])
    old = copy.deepcopy(young).partial_fit(X[n_full:], y[n_full:])
    X, y = X[-n_part:], y[-n_part:]
    early, late = in_turns(
        [lambda m=m: copy.deepcopy(m).partial_fit(X, y) for m in (young, old)], N_REPEATS, advance
    )
    name = f"LKMBooks when full, {n_part} rounds after {n}, of those after {n_full}"
    return [Figure(name, (late / early).tolist(), "times", bar=1.25, aim=1)]


MEASURES = (linear_speed, raker_speed, graph_speed, reservoir_speed, growth, reservoir_growth)
