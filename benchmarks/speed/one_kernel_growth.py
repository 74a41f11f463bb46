"""How the cost of a round grows with the rounds and with the dictionary: fitted exponents."""

import time
from math import comb

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from sklearn_okl import (
    AOGDALDRegressor,
    CONKONSRegressor,
    FOGDRegressor,
    KernelVAWRegressor,
    KOGDRegressor,
    KONSRegressor,
    NOGDRegressor,
    NONSALDRegressor,
    PKAWVRegressor,
    PROSNKONSRegressor,
    SketchedKONSRegressor,
)

from .figure import Figure
from .one_kernel import stream
from .ratios import N_REPEATS, in_turns

_RBF = {"kernel": "rbf", "gamma": 0.5}
_SPIKY = {"kernel": "laplacian", "gamma": 1.0}  # all rows are novel
_NEVER = {"kors_beta": 1e-12}  # no further row enters
_TAYLOR_INPUTS = 8, 11, 14, 18
_SLACK = 0.4  # of a fitted exponent


def growth_in_time(quick=False, advance=None):
    """Fit the exponent of t in the cost of round t, where no row enters a dictionary any more."""
    n_rows, chunk = (512, 64) if quick else (4096, 256)
    X, y = stream(n_rows, 3)
    kors = {"kors_mu": 10.0, "random_state": 0}
    never_novel = {"novelty": 2.0}
    models = {  # model, how its dictionary is closed, the exponent that the papers have
        "KernelVAW": (KernelVAWRegressor(**_RBF), {}, 2),
        "KONS": (KONSRegressor(**_RBF), {}, 2),
        "SketchedKONS": (SketchedKONSRegressor(**_RBF, **kors), {}, 2),
        "KOGD": (KOGDRegressor(**_RBF), {}, 1),
        "PKAWV, Taylor": (PKAWVRegressor(**_RBF, projection="taylor", degree=4), {}, 0),
        "PKAWV, Nyström": (PKAWVRegressor(**_RBF, **kors), _NEVER, 0),
        "PROSNKONS": (PROSNKONSRegressor(**_RBF, **kors), _NEVER, 0),
        "CONKONS": (CONKONSRegressor(**_RBF, **kors), _NEVER, 0),
        "NONSALD": (NONSALDRegressor(**_RBF), never_novel, 0),
        "AOGDALD": (AOGDALDRegressor(**_RBF), never_novel, 0),
        "FOGD": (FOGDRegressor(**_RBF, random_state=0), {}, 0),
        "NOGD": (NOGDRegressor(**_RBF, budget=50), {}, 0),
    }
    exponents = {name: [] for name in models}
    late = np.arange(n_rows // 4, n_rows, chunk)
    with threadpool_limits(1, user_api="blas"):
        for _ in range(N_REPEATS):
            for name, (model, close, _) in models.items():
                learner = clone(model).fit(X[: late[0]], y[: late[0]]).set_params(**close)
                seconds = []
                for low in late:
                    start = time.perf_counter()
                    learner.partial_fit(X[low : low + chunk], y[low : low + chunk])
                    seconds.append(time.perf_counter() - start)
                exponents[name].append(_slope(late + chunk / 2, seconds))
            if advance is not None:
                advance(1)
    return [
        _exponent(f"{name}, cost of round t as t^", exponents[name], expected)
        for name, (_, _, expected) in models.items()
    ]


def growth_in_size(quick=False, advance=None):
    """Fit the exponent of the size of the dictionary, or of the map, in the cost of a round."""
    sizes, n_rows = ((16, 32), 64) if quick else ((100, 200, 400, 800), 256)
    X, y = stream(sizes[-1] + n_rows, _TAYLOR_INPUTS[-1])
    everyone = {"kors_beta": 1e9, "random_state": 0}
    makers = {  # an open model for a size, how it is closed, the exponent that the papers have
        "PKAWV, Nyström": (lambda J: PKAWVRegressor(**_SPIKY, **everyone), _NEVER, 2),
        "PROSNKONS": (lambda J: PROSNKONSRegressor(**_SPIKY, **everyone), _NEVER, 2),
        "CONKONS": (lambda J: CONKONSRegressor(**_SPIKY, **everyone), _NEVER, 2),
        "NONSALD": (lambda J: NONSALDRegressor(**_SPIKY, novelty=1e-6), {"novelty": 2.0}, 2),
        "AOGDALD": (lambda J: AOGDALDRegressor(**_SPIKY, novelty=1e-6), {"novelty": 2.0}, 2),
        "NOGD": (lambda J: NOGDRegressor(**_SPIKY, budget=J), {}, 2),
        "FOGD": (lambda J: FOGDRegressor(**_RBF, n_components=2 * J, random_state=0), {}, 1),
    }
    models = {
        name: [make(J).fit(X[:J], y[:J]).set_params(**close) for J in sizes]
        for name, (make, close, _) in makers.items()
    }
    taylor = [PKAWVRegressor(**_RBF, projection="taylor", degree=3) for _ in _TAYLOR_INPUTS]
    calls = [
        lambda model=model: model.partial_fit(X[-n_rows:], y[-n_rows:])
        for of_name in models.values()
        for model in of_name
    ]
    calls += [
        lambda model=model, d=d: model.partial_fit(X[-n_rows:, :d], y[-n_rows:])
        for model, d in zip(taylor, _TAYLOR_INPUTS, strict=True)
    ]
    seconds = in_turns(calls, N_REPEATS, advance)
    figures = []
    for i, (name, (_, _, expected)) in enumerate(makers.items()):
        own = seconds[i * len(sizes) : (i + 1) * len(sizes)]
        slopes = [_slope(sizes, column) for column in own.T]
        figures.append(_exponent(f"{name}, cost of a round as size^", slopes, expected))
    dimensions = [comb(d + 3, 3) for d in _TAYLOR_INPUTS]
    slopes = [_slope(dimensions, column) for column in seconds[-4:].T]
    figures.append(_exponent("PKAWV, Taylor, cost of a round as size^", slopes, 2))
    return figures


MEASURES = (growth_in_time, growth_in_size)


def _slope(sizes, seconds):
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _exponent(name, values, expected):
    return Figure(name, values, "", bar=expected + _SLACK, note=f"{expected} in the papers")
