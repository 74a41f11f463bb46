"""Speed of the rules that combine forecasts, on the 76 experts of the paper's dictionary."""

import numpy as np

from sklearn_okl import (
    AARegressor,
    BOARegressor,
    EWARegressor,
    MLPolyRegressor,
    MLProdRegressor,
)

from .figure import Figure
from .loops import aggregation
from .ratios import N_REPEATS, against, in_turns, later_rounds, races

_N_EXPERTS = 76
_SECOND_ORDER = {
    "BOA": (BOARegressor, aggregation.boa),
    "ML-Poly": (MLPolyRegressor, aggregation.ml_poly),
    "ML-Prod": (MLProdRegressor, aggregation.ml_prod),
}


def second_order_speed(quick=False, advance=None):
    """A round of BOA, ML-Poly and ML-Prod in one long call, against literal loops."""
    n_rows, n_loop = (500, 100) if quick else (5000, 1000)
    F, y = _forecasts(n_rows)
    loops = {
        f"{name}, {_N_EXPERTS} forecasts": (rule(), lambda loop=loop: loop(F[:n_loop], y[:n_loop]))
        for name, (rule, loop) in _SECOND_ORDER.items()
    }
    return races(against(loops, F, y, n_loop, most=22), advance)


def exponential_speed(quick=False, advance=None):
    """EWA and the aggregating algorithm, all rounds together."""
    n_rows = 500 if quick else 5000
    F, y = _forecasts(n_rows)
    rules = {"EWA": EWARegressor(y_range=(0, 1)), "AA": AARegressor(y_range=(0, 1))}
    calls = [lambda rule=rule: rule.fit(F, y) for rule in rules.values()]
    return [
        Figure(f"{name}, {n_rows} × {_N_EXPERTS} forecasts", (1e3 * times).tolist(), "ms", bar=20)
        for name, times in zip(rules, in_turns(calls, N_REPEATS, advance), strict=True)
    ]


def growth(quick=False, advance=None):
    """BOA's last thousand rounds of a long stream against its first thousand."""
    n_rows, n_part = (2000, 500) if quick else (20_000, 1000)
    return later_rounds({"BOA": BOARegressor()}, *_forecasts(n_rows), n_part, advance)


MEASURES = (second_order_speed, exponential_speed, growth)


def _forecasts(n_rows):
    """Return forecasts (n, 76) of very different quality and targets (n,), all in [0, 1]."""
    rng = np.random.default_rng(0)
    y = rng.uniform(size=n_rows)
    noise = rng.standard_normal((n_rows, _N_EXPERTS)) * np.linspace(0.05, 0.5, _N_EXPERTS)
    return np.clip(y[:, None] + noise, 0, 1), y
