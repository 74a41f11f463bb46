"""The lines of Tables 2 to 10 of J. Li, S. Liao (ECML-PKDD 2022), with the published figures.

Some published figures are not those of the paper's algorithms: lines that say "program" run what
the published programs do, to show where the figures come from. "RF-OKS, boxed" is the class as it
is by default, its coefficients in the box of RF-OKS++ and RF-IOKS.
"""

from collections.abc import Callable
from math import expm1, log, sqrt
from typing import NamedTuple

import numpy as np

from sklearn_okl import (
    IOKSClassifier,
    IOKSRegressor,
    LKMBooksClassifier,
    LKMBooksRegressor,
    OKSClassifier,
    OKSPlusPlusClassifier,
    OKSPlusPlusRegressor,
    OKSRegressor,
    RakerClassifier,
    RakerRegressor,
    RFIOKSClassifier,
    RFIOKSRegressor,
    RFOKSClassifier,
    RFOKSPlusPlusClassifier,
    RFOKSPlusPlusRegressor,
    RFOKSRegressor,
)
from sklearn_okl.feedback._bandits import AdaptiveExp3Sampler

from ..published import figures

ROWS = {  # in the paper
    "magic04": 19020,
    "susy": 20000,
    "a9a": 32561,
    "elevators": 16599,
    "bank32nh": 8192,
    "ailerons": 13750,
    "raker_toms": 28179,
}
TITLES = {
    "magic04": "magic04",
    "susy": "SUSY",
    "a9a": "a9a",
    "elevators": "elevators",
    "bank32nh": "bank",
    "ailerons": "ailerons",
    "raker_toms": "Hardware",
}
OTHER_ROWS = {  # sets that are not the paper's own rows
    "susy": "20 000 rows of SUSY, a sample that need not be the paper's",
    "raker_toms": "9 725 rows of Tom's Hardware, scaled by other authors, for the paper's 28 179",
}
LOSSES = {"log_loss": "mistakes, %", "squared_error": "AL × 10²", "absolute_error": "AL × 10²"}
N_PERMUTATIONS = 10  # behind each published mean
STEPS = {"c": (1.0, 5.0, 10.0, 25.0)}  # of which the paper takes the best in hindsight
PROGRAM, BOX = ", program", ", boxed"  # what the names of lines beside the paper's end with

_SIGMAS = [2.0**j for j in range(-2, 4)]


class Published(NamedTuple):
    """A cell of a table.

    Attributes
    ----------
    mean, sd : float
        Mistakes in %, or average loss × 10².
    microseconds : float
        Time of a round, on another machine.
    size : int or None
        D, the number of frequencies, or B, the number of rows kept.
    """

    mean: float
    sd: float
    microseconds: float
    size: int | None = None


def _tables():
    tables = {}
    for row in figures("bandit"):
        data, size, time = row["data"], row["size"], row["time"]
        cell = Published(
            row["mean"], row["sd"], 1e6 * time / ROWS[data] if size is None else 10 * time, size
        )
        tables.setdefault(row["table"], (row["loss"], {}))[1][data, row["line"]] = cell
    return tables


TABLES = _tables()  # number -> (loss, {(data set, line): cell})


class ProgramSampler(AdaptiveExp3Sampler):
    """OKS++'s sampler where exp(-y f), this round's, is in the place of (G C0)^(1/3) (U K)^(2/3).

    The published program for the logistic loss gives both the same name.
    """

    def credit(self, state, arm, loss, gradient_sq):
        """Learn the loss of the arm drawn; return the arm's step."""
        K, U, chance = self.n_arms, self.radius, float(state["probabilities"][arm])
        estimate = loss / chance
        state["losses"][arm] += estimate
        state["variance"] += float(state["weights"][arm]) * estimate**2
        losses = state["losses"]
        total, floor = float(losses.sum()), expm1(loss)
        delta = 0.5 * floor / max(floor, 2 * total ** (1 / 3))
        weights = np.exp(sqrt(2 * log(K) / (1 + state["variance"])) * (losses.min() - losses))
        state["weights"] = weights / weights.sum()
        state["probabilities"] = (1 - delta) * state["weights"] + delta / K
        size = U ** (4 / 3) * max(floor**3, 8 * total) ** (-1 / 6) / K ** (1 / 6)
        return size / sqrt(4 / 3 * (1 + float(losses[arm]))) / chance


class ProgramOKSPlusPlus(OKSPlusPlusClassifier):
    """OKS++ as the published program for the logistic loss has it."""

    def _sampler(self, n_kernels):
        return ProgramSampler(n_kernels, self.radius, 1.0)


class ProgramRFOKSPlusPlus(RFOKSPlusPlusClassifier):
    """RF-OKS++ by the rule of the published program of OKS++ for the logistic loss."""

    def _sampler(self, n_kernels):
        return ProgramSampler(n_kernels, self.radius, 1.0)


class AbsoluteRaker(RakerRegressor):
    """Raker with the absolute loss, in the steps and in the weights."""

    def _objective(self):
        return "absolute_error", 1.0


class Line(NamedTuple):
    """A line of the tables.

    Attributes
    ----------
    model : callable
        Makes the estimator from the loss, the number of rows, the size and a seed, and from a value
        of what is in `grid`.
    grid : dict of str to tuple
        What the paper tunes in hindsight.
    like : str or None
        The line whose published figures it is to explain.
    losses : tuple of str
        Losses that it is for.
    """

    model: Callable
    grid: dict = {}
    like: str | None = None
    losses: tuple = tuple(LOSSES)


def _selection(regressor, classifier, *, has_horizon=True, **settings):
    def model(loss, n_rows, size, seed, c=None):
        chosen = dict(settings, loss=loss, random_state=seed)
        if has_horizon:
            chosen["horizon"] = n_rows
        if c is not None:
            chosen["step_scale"] = c
        if size is not None:
            chosen["n_components"] = 2 * size
        return (classifier if loss == "log_loss" else regressor)(**chosen)

    return model


def _lkmbooks(loss, n_rows, size, seed):
    learner = LKMBooksClassifier if loss == "log_loss" else LKMBooksRegressor
    return learner(loss=loss, budget=size, horizon=n_rows, random_state=seed)


def _raker(sigmas):
    grid = [{"kernel": ["rbf"], "gamma": [0.5 / sigma**2]} for sigma in sigmas]
    learners = {
        "log_loss": RakerClassifier,
        "squared_error": RakerRegressor,
        "absolute_error": AbsoluteRaker,
    }

    def model(loss, n_rows, size, seed, c):
        eta = c / sqrt(n_rows)
        return learners[loss](grid, n_components=2 * size, eta0=eta, power_t=0.0, random_state=seed)

    return model


def _loss_adaptive(regressor, classifier):
    return _selection(regressor, classifier, has_horizon=False)


_LOGISTIC = ("log_loss",)
LINES = {
    "OKS": Line(_selection(OKSRegressor, OKSClassifier), STEPS),
    "IOKS": Line(_selection(IOKSRegressor, IOKSClassifier)),
    "OKS++": Line(_loss_adaptive(OKSPlusPlusRegressor, OKSPlusPlusClassifier)),
    "OKS++" + PROGRAM: Line(
        _loss_adaptive(None, ProgramOKSPlusPlus), like="OKS++", losses=_LOGISTIC
    ),
    # OKS on features: it has no ball, and so no box
    "RF-OKS": Line(_selection(RFOKSRegressor, RFOKSClassifier, radius=None), STEPS),
    "RF-OKS" + BOX: Line(_selection(RFOKSRegressor, RFOKSClassifier), STEPS, like="RF-OKS"),
    "LKMBooks": Line(_lkmbooks),
    "Raker": Line(_raker(_SIGMAS), STEPS),
    "Raker" + PROGRAM: Line(_raker(np.cumprod(_SIGMAS)), STEPS, like="Raker"),
    "RF-IOKS": Line(_selection(RFIOKSRegressor, RFIOKSClassifier)),
    "RF-OKS++": Line(_loss_adaptive(RFOKSPlusPlusRegressor, RFOKSPlusPlusClassifier)),
    "RF-OKS++" + PROGRAM: Line(
        _loss_adaptive(None, ProgramRFOKSPlusPlus), like="RF-OKS++", losses=_LOGISTIC
    ),
}
