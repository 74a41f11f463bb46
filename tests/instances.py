"""Small instances of every public estimator, for the tests that hold for all of them."""

import inspect

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor

from sklearn_okl import (
    FOGDClassifier,
    FourierFeatures,
    RefitRegressor,
    RunningPowerTransformer,
    RunningStandardScaler,
    VAWRegressor,
    all_estimators,
)
from sklearn_okl.conformal import SAOCP

FAST = {"budget": "fast", "random_state": 0}
ONE = {"gamma": 0.02, "n_components": 40, "random_state": 0}

# Constructor arguments of classes that do not say them beside their code, in `_test_parameters`:
# they are made of other estimators, or as long as a class may be. More than one where an option
# has state of its own; a class that says nothing and stands nowhere is tested as it is by default,
# with what its family shares.
ARGUMENTS = {
    "ExpertsClassifier": [
        {
            "experts": [
                ("sgd", SGDClassifier(loss="log_loss", random_state=0)),
                ("fogd", FOGDClassifier(**ONE, eta0=0.9)),
            ]
        }
    ],
    "ExpertsRegressor": [
        {"experts": [("sgd", SGDRegressor(random_state=0)), ("vaw", VAWRegressor())]}
    ],
    "CertifiedRegressor": [
        {},
        {"regressor": VAWRegressor(2.0, forecaster="ridge", fit_intercept=True)},
    ],
    "OnlineConformalClassifier": [
        {"estimator": FOGDClassifier(**ONE, eta0=0.9)},
        {"estimator": SGDClassifier(loss="log_loss", random_state=0), "coverage": [0.5, 0.9]},
    ],
    "OnlineConformalRegressor": [
        {"estimator": VAWRegressor()},
        {
            "estimator": RefitRegressor(Ridge(), growth=0.3, window=60, label_delay=2),
            "tracker": SAOCP(),
            "coverage": [0.9, 0.5],
            "warmup": 5,
        },
    ],
    "OnlineKernelRegressor": [
        FAST,
        FAST | {"forgetting": 0.99, "budget": 10, "lags": 0},
        FAST | {"label_delay": 23, "spread": "rows"},
        FAST | {"trees": Ridge(), "spread": "rows"},
        FAST | {"budget": "tiny", "label_delay": 2},
    ],
    "SketchedKONSRegressor": [
        {"gamma": 0.03, "mu": 5.0, "radius": 3.0, "random_state": 0},
        {
            "kernel": "laplacian",
            "gamma": 0.1,
            "radius": 4.0,
            "keep_probability": 0.5,
            "kors_mu": 5.0,
            "random_state": 0,
        },
    ],
    "StreamingPipeline": [
        {
            "steps": [
                ("scale", RunningStandardScaler()),
                ("map", FourierFeatures(n_components=60, gamma=0.02, random_state=0)),
                ("vaw", VAWRegressor()),
            ]
        }
    ],
    "RefitClassifier": [
        {"estimator": LogisticRegression(C=10.0), "growth": 0.3},
        {
            "estimator": LogisticRegression(C=10.0),
            "growth": 0.3,
            "window": 50,
            "label_delay": 2,
        },
    ],
    "RefitRegressor": [
        {"estimator": Ridge(), "growth": 0.3},
        {"estimator": Ridge(10.0), "growth": 0.2, "window": 50},
    ],
    "ResidualRegressor": [
        {"correction": RefitRegressor(Ridge(), growth=0.3, window=60)},
        {"correction": VAWRegressor(), "passthrough": False, "warmup": 5},
    ],
    "StreamingTransformedTargetRegressor": [{}, {"transformer": RunningPowerTransformer()}],
    "VAW2Regressor": [
        {},
        {"forecaster": "ridge", "clip_experts": True, "y_range": (-4, 4)},
        {"forgetting": 0.99, "n_components": 31},
    ],
}

# exact kernel methods keep every row; the estimators without tuning grow up to row 8192, and what
# scales robustly until its window is full
GROWING = {
    "RefitClassifier",
    "RefitRegressor",
    "AOGDALDRegressor",
    "AdaRakerClassifier",
    "AdaRakerRegressor",
    "BAO2KSClassifier",
    "CONKONSRegressor",
    "DVAWRegressor",
    "DiscountedVAWAARegressor",
    "HVAWDRegressor",
    "IOKSClassifier",
    "IOKSRegressor",
    "KOGDRegressor",
    "KONSRegressor",
    "KernelAIOLIClassifier",
    "KernelVAWRegressor",
    "OKSClassifier",
    "OKSPlusPlusClassifier",
    "OKSPlusPlusRegressor",
    "OKSRegressor",
    "OMKRRegressor",
    "OnlineKernelClassifier",
    "OnlineKernelRegressor",
    "PKAWVClassifier",
    "PKAWVRegressor",
    "PROSNKONSRegressor",
    "SketchedKONSRegressor",
    "StronglyAdaptiveRegressor",
    "TVAWRegressor",
}

# Whose defaults scikit-learn's tag `poor_score` excuses from an R² of 0.5 on 200 standardised rows,
# beside aggregators and learners of random arms; and what reaches it on the same rows. Most of the
# defaults are the papers', for many rows, of norm at most one, and targets in [0, 1].
POOR_SCORE = {
    "AOGDALDRegressor": {"radius": 6.0},  # the steps are proportional to it
    "FOGDRegressor": {"eta0": 0.9},
    "KOGDRegressor": {"eta0": 0.9},
    "NOGDRegressor": {"eta0": 0.9},
    "OMKRRegressor": {"eta0": 2.0},  # half the loss is descended
    # a dictionary that grows to the end makes it begin anew to the end
    "PROSNKONSRegressor": {"kernel": "poly", "degree": 1},
    "RFOMKRRegressor": {"eta0": 0.9},
    "RakerRegressor": {"eta0": 0.9},
    # fails only at the alpha that the check sets: targets of this size want a larger ridge
    "VAW2Regressor": {"aggregator_alpha": 10.0, "alpha": 0.01},
}


def arguments_of(class_):
    """Return the constructor arguments of each instance of a class that the tests make."""
    said = vars(class_).get("_test_parameters")  # not its base's: a signature of its own
    said = ARGUMENTS.get(class_.__name__, [{}]) if said is None else said
    shared = getattr(class_, "_shared_test_parameters", {})
    return [shared | arguments for arguments in said]


def defaults():
    """Return every public estimator with nothing but what it must be given."""
    found = []
    for _, class_ in all_estimators():
        parameters = inspect.signature(class_).parameters.items()
        required = [key for key, parameter in parameters if parameter.default is parameter.empty]
        found.append(class_(**{key: arguments_of(class_)[0][key] for key in required}))
    return found


def instances(kind="all"):
    """Return fresh estimators: "online" ones, "maps", or all."""
    found = []
    for _, class_ in all_estimators():
        is_map = hasattr(class_, "transform")
        if kind == "all" or (kind == "maps") == is_map:
            found += [class_(**arguments) for arguments in arguments_of(class_)]
    return found


def rows_for(estimator, X):
    """Return rows as an estimator takes them: dates in place of numbers where it wants dates."""
    if type(estimator).__name__ != "CalendarFeatures":
        return X
    return np.datetime64("2024-01-01") + (1e6 * X).astype("timedelta64[s]")


def label(estimator):
    """Return a short test id: the class, and the arguments that are not the class's usual ones."""
    usual = {"kernels", "n_components", "random_state", "experts", "steps"}
    defaults = inspect.signature(type(estimator)).parameters
    changed = [
        f"{name}={value}"
        for name, value in estimator.get_params(deep=False).items()
        if name not in usual
        and value is not defaults[name].default
        and value != defaults[name].default
    ]
    return "-".join([type(estimator).__name__, *changed])
