"""The systems of R. Jézéquel, P. Gaillard, A. Rudi (2019), Section 4, and two more of their family.

Settings are the paper's: lambda = 1, KORS with mu = 1, beta = 1, eps = 0.5, FOGD with 1000 random
features and steps 1 / sqrt(n). What it does not print is each class's own default.
"""

from math import comb

import numpy as np

from sklearn_okl import (
    CONKONSRegressor,
    FOGDRegressor,
    KernelVAWRegressor,
    KONSRegressor,
    PKAWVRegressor,
    PROSNKONSRegressor,
    SketchedKONSRegressor,
)

from .._plots import BLUE, GREEN, GREY, ORANGE, PINK

KERNEL, FOGD, PROS = "Kernel-AWV", "FOGD", "PROS-N-KONS"
TAYLOR = {degree: f"PKAWV, M = {degree}" for degree in (2, 3, 4)}
NYSTROEM = "PKAWV, Nyström"
EXACT = (KERNEL, "KONS")  # of quadratic cost and memory
STYLES = {
    KERNEL: {"color": "black"},
    TAYLOR[2]: {"color": ORANGE},
    TAYLOR[3]: {"color": ORANGE, "linestyle": "--"},
    TAYLOR[4]: {"color": ORANGE, "linestyle": ":"},
    NYSTROEM: {"color": BLUE},
    FOGD: {"color": GREEN},
    PROS: {"color": PINK},
    "CON-KONS": {"color": PINK, "linestyle": "--"},
    "Sketched-KONS": {"color": "#e0a020"},
    "KONS": {"color": GREY},
}
_N_RANDOM = 1000  # FOGD's features


def systems(n_rows, gamma, seed, forecaster):
    """Return the estimator of each label of `STYLES`, not fitted.

    Parameters
    ----------
    n_rows : int
        Length of the stream, for FOGD's steps.
    gamma : float
        1 / (2 sigma^2).
    seed : int
        For the random ones.
    forecaster : {"vaw", "ridge"}
        Of Kernel-AWV and PKAWV.
    """
    vovk = {"alpha": 1.0, "forecaster": forecaster}
    kors = {"kors_mu": 1.0, "kors_beta": 1.0, "kors_eps": 0.5, "random_state": seed}
    newton = {"mu": 1.0, "radius": 1.0}
    steps = {"eta0": 1 / np.sqrt(n_rows), "power_t": 0.0}
    return {
        KERNEL: KernelVAWRegressor("rbf", gamma, **vovk),
        **{
            label: PKAWVRegressor("rbf", gamma, projection="taylor", degree=degree, **vovk)
            for degree, label in TAYLOR.items()
        },
        NYSTROEM: PKAWVRegressor("rbf", gamma, **vovk, **kors),
        FOGD: FOGDRegressor("rbf", gamma, n_components=_N_RANDOM, random_state=seed, **steps),
        PROS: PROSNKONSRegressor("rbf", gamma, **newton, **kors),
        "CON-KONS": CONKONSRegressor("rbf", gamma, **newton, **kors),
        "Sketched-KONS": SketchedKONSRegressor("rbf", gamma, **newton, **kors),
        "KONS": KONSRegressor("rbf", gamma, **newton),
    }


def size(label, model):
    """Return the dimension a fitted model lives in: features, atoms, or rows."""
    if label in TAYLOR.values():
        return comb(model.degree + model.n_features_in_, model.degree)
    if label == FOGD:
        return len(model.coef_)
    if hasattr(model, "kept_"):
        return len(model.kept_)
    return len(model.X_fit_ if label in EXACT else model.components_)
