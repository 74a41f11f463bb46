"""The lines of Table 3 of J. Li, S. Liao (ICML 2023), with the published figures and the settings.

The paper tunes its rivals. Here their parameters are chosen on the first permutation, from the
paper's grids, as each `Line` says.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sklearn_okl import (
    AOGDALDRegressor,
    CONKONSRegressor,
    FOGDRegressor,
    NOGDRegressor,
    NONSALDRegressor,
    PROSNKONSRegressor,
)

from ..published import figures

DATA = {"elevators": 8.0, "bank32nh": 12.0, "ailerons": 8.0, "calhousing_14000": 4.0}  # sigma
TITLES = {
    "elevators": "Elevators",
    "bank32nh": "Bank",
    "ailerons": "Ailerons",
    "calhousing_14000": "Calhousing",
}
N_PERMUTATIONS = 10
_SIZE = 400  # D of FOGD, J of NOGD


class Published(NamedTuple):
    """A cell of the table: MSE and its spread, size of the dictionary or map, seconds of a run."""

    mse: float
    sd: float
    size: int
    seconds: float


@dataclass
class Line:
    """A line of the table.

    Attributes
    ----------
    model : type
        The estimator.
    settings : callable
        Its parameters, from the number of rows and the values of `grid`.
    grid : dict of str to tuple
        Parameters tuned in the paper, and their values.
    sized : str or None
        The one in the grid that sets the size of the dictionary: chosen so that it is nearest to
        the published one. The others are chosen for the smallest MSE.
    bar : bool
        Whether its published figures are to be reached.
    published : dict of str to Published
        By data set.
    """

    model: type
    settings: Callable
    grid: dict = field(default_factory=dict)
    sized: str | None = None
    bar: bool = False
    published: dict = field(default_factory=dict)


def _steps(n_rows, c):
    return {"eta0": c / np.sqrt(n_rows), "power_t": 0.0}


def _fogd(n_rows, c, random_state):
    return {**_steps(n_rows, c), "n_components": 2 * _SIZE, "random_state": random_state}


def _nogd(n_rows, c, random_state):
    return {**_steps(n_rows, c), "budget": _SIZE}


def _sampled(n_rows, mu, kors_mu, random_state):
    return {"mu": mu, "kors_mu": kors_mu, "random_state": random_state}


def _aogd_ald(n_rows, random_state):
    return {"radius": 2.0, "horizon": n_rows}


def _nons_ald(n_rows, random_state):
    return {"mu": 1.0, "radius": 1.0, "horizon": n_rows}


_STEP_GRID = {"c": (1, 10, 100, 1000)}
_KONS_GRID = {"mu": (1.0, 5.0, 15.0), "kors_mu": (0.5, 1.0, 5.0, 10.0)}

LINES = {
    "FOGD": Line(FOGDRegressor, _fogd, _STEP_GRID),
    "NOGD": Line(NOGDRegressor, _nogd, _STEP_GRID),
    "PROS-N-KONS": Line(PROSNKONSRegressor, _sampled, _KONS_GRID, "kors_mu"),
    "CON-KONS": Line(CONKONSRegressor, _sampled, _KONS_GRID, "kors_mu"),
    "AOGD-ALD": Line(AOGDALDRegressor, _aogd_ald, bar=True),
    "NONS-ALD": Line(NONSALDRegressor, _nons_ald, bar=True),
}
for _row in figures("nons_ald"):
    _line, _data = LINES[_row.pop("line")], _row.pop("data")
    _line.published[_data] = Published(**_row)
