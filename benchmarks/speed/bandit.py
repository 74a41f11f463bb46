"""Speed of kernel selection under bandit feedback: OKS, OKS++ and IOKS, exact and on features."""

import numpy as np

from sklearn_okl import (
    IOKSRegressor,
    OKSPlusPlusRegressor,
    OKSRegressor,
    RFIOKSRegressor,
    RFOKSPlusPlusRegressor,
    RFOKSRegressor,
)
from sklearn_okl.features._fourier import fourier_map

from .loops import bandit_features, bandits
from .ratios import N_REPEATS, against, in_turns, later_rounds, races

_SIGMAS = 2.0 ** np.arange(-2, 4)
_K = len(_SIGMAS)
_RADIUS, _SMOOTHNESS, _SLOPE = 1.0, 4.0, 4.0  # U, C_0 and G_1 of the square loss
_N_FREQUENCIES = 400
_LOSS = "squared_error"
_TILE = 64  # rows whose features are computed together


def exact_speed(quick=False, advance=None):
    """OKS, OKS++ and IOKS on as many inputs as elevators has, and on few, against loops."""
    n_rows = 200 if quick else 5000
    figures = []
    for n_features, bar in ((18, 3), (5, None)):  # the paper's sets have 10 features or more
        X, y = _stream(n_rows, n_features)
        rules = {
            "OKS": (OKSRegressor(horizon=n_rows, random_state=0), None),
            "OKS++": (OKSPlusPlusRegressor(random_state=0), _RADIUS),
            "IOKS": (IOKSRegressor(horizon=n_rows, random_state=0), _RADIUS),
        }
        loops = {}
        for name, (model, radius) in rules.items():

            def loop(name=name, radius=radius, X=X, y=y):
                sampler, rng = _sampler(name, len(y)), np.random.RandomState(0)
                bandits.select(X, y, _exact_kernels(), sampler, rng, _LOSS, radius)

            loops[f"{name}, {n_rows} × {n_features}"] = model, loop
        figures += races(against(loops, X, y, bar=bar), advance)
    return figures


def feature_speed(quick=False, advance=None):
    """The random-feature forms: 40 µs a round beyond the features of its kernel, measured here."""
    n_rows, n_loop = (500, 100) if quick else (5000, 1000)
    X, y = _stream(n_rows, 18)
    frequencies = _frequencies(X.shape[1])

    def features():
        for i in range(0, n_rows, _TILE):
            fourier_map(X[i : i + _TILE], frequencies[0], 2 * _N_FREQUENCIES)

    loops = {}
    for name, model in _feature_models(n_rows).items():

        def loop(name=name):
            maps = [bandit_features.paired(omega) for omega in frequencies]
            sampler, rng = _sampler(name.removeprefix("RF-"), n_loop), np.random.RandomState(0)
            box = _RADIUS / np.sqrt(_N_FREQUENCIES)
            bandit_features.select(X[:n_loop], y[:n_loop], maps, sampler, rng, _LOSS, box)

        loops[name] = model, loop
    (seconds,) = in_turns([features], N_REPEATS)
    share = 1e6 * np.median(seconds) / n_rows
    return races(against(loops, X, y, n_loop, most=40 + share), advance)


def growth(quick=False, advance=None):
    """The last thousand rounds of the random-feature forms in a long stream against the first."""
    n_rows, n_part = (2000, 200) if quick else (20_000, 1000)
    X, y = _stream(n_rows, 18)
    return later_rounds(_feature_models(n_rows), X, y, n_part, advance)


MEASURES = (exact_speed, feature_speed, growth)


def _stream(n_rows, n_features):
    """Return rows in [-1, 1] (n, d) and targets in [0, 1] (n,)."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n_rows, n_features))
    noise = 0.1 * rng.standard_normal(n_rows)
    return X, np.clip(0.5 + 0.4 * np.sin(2 * X[:, 0]) + noise, 0, 1)


def _exact_kernels():
    return [
        lambda rows, x, sigma=sigma: np.exp(-((rows - x) ** 2).sum(axis=1) / (2 * sigma**2))
        for sigma in _SIGMAS
    ]


def _frequencies(n_features):
    """Return the frequencies (d, 400) of each kernel, of one draw."""
    drawn = np.random.default_rng(1).standard_normal((n_features, _N_FREQUENCIES))
    return [drawn / sigma for sigma in _SIGMAS]


def _feature_models(n_rows):
    settings = {"n_components": 2 * _N_FREQUENCIES, "random_state": 0}
    return {
        "RF-OKS": RFOKSRegressor(horizon=n_rows, **settings),
        "RF-OKS++": RFOKSPlusPlusRegressor(**settings),
        "RF-IOKS": RFIOKSRegressor(horizon=n_rows, **settings),
    }


def _sampler(name, horizon):
    if name == "OKS":
        return bandits.OKS(_K, horizon)
    if name == "OKS++":
        return bandits.OKSPlusPlus(_K, _RADIUS, _SMOOTHNESS)
    return bandits.IOKS(_K, _RADIUS, _SLOPE, horizon)
