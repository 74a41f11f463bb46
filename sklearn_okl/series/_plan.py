"""What a forecaster is made of: numbers that its parameters and the first call settle for good."""

from functools import cache
from typing import NamedTuple

import numpy as np

from .._types import Any
from ..meta._fits import batch_model, boosted_regressor
from . import _experts, _seasons, _trees
from ._experts import RAW, RESIDUAL
from ._smoothing_rates import N_BANKS

_MANY = 32  # series that have models of their own where nobody says


class Plan(NamedTuple):
    """The shape of a forecaster.

    Attributes
    ----------
    horizon, n_series : int
    is_pooled : bool
        Whether series share models, and the regressions of the mixture.
    experts : list of Ridge
    views : ndarray of int of shape (E,)
        What each expert forecasts, those that learn nothing included.
    trees : NumberFits or None
        What fits trees anew.
    windows : tuple of int
        The short, middle and long one.
    seasons : tuple of int
        Lengths that were given; empty where they are to be found.
    n_calendar, n_ahead, n_now : int
        Features of a row's time; columns known ahead, and only up to now.
    guard : bool
        Whether values and cells are in doubt.
    usual : tuple of int
        Lengths of seasons that are likely.
    """

    horizon: int
    n_series: int
    is_pooled: bool
    experts: list
    views: np.ndarray
    windows: tuple
    seasons: tuple
    n_calendar: int
    n_ahead: int
    n_now: int
    guard: bool
    usual: tuple
    trees: Any = None

    @property
    def of_banks(self):
        """The number of the first expert that is a bank of smoothing."""
        return self.of_votes - N_BANKS

    @property
    def of_votes(self):
        """The number of the expert that seasons vote on, behind all others of the series."""
        return len(self.views) - self.n_views

    @property
    def of_series(self):
        """Numbers of the experts that forecast the series itself, but for the votes."""
        return np.flatnonzero(self.views[: self.of_votes] == RAW)

    @property
    def waiting(self):
        """Numbers of the experts whose forecasts wait for their rows: others' are told again."""
        return _waiting(len(self.experts), self.of_banks, self.of_votes)

    @property
    def n_views(self):
        """The series, and what columns known ahead leave of it, and trees."""
        return 1 + (self.n_ahead > 0) + (self.trees is not None)

    @property
    def of_trees(self):
        """The number of the view of what trees leave."""
        return self.n_views - 1

    @property
    def shares(self):
        """Number of each view but the series -> name of the shares that mixtures have in it."""
        found = {RESIDUAL: "columns_share"} if self.n_ahead else {}
        return found | ({self.of_trees: "trees_share"} if self.trees is not None else {})

    @property
    def knows_rows(self):
        """Whether something is known of a row ahead: columns, or its date."""
        return self.n_ahead > 0 or self.n_calendar > 0

    @property
    def first_slots(self):
        """Seasons in their places before the first row: those given, 0 for those to be found."""
        return self.seasons + (0,) * (_seasons.n_places(self.seasons) - len(self.seasons))

    @property
    def sees_phases(self):
        """Whether it is seen where a row is in its seasons, beside the calendar or without one."""
        return bool(self.seasons) or not self.n_calendar

    @property
    def n_phases(self):
        """Features of all that is known of a row by its time alone."""
        n_slots = len(self.first_slots) if self.sees_phases else 0
        return self.n_calendar + 2 * _seasons.N_HARMONICS * n_slots

    @property
    def n_common(self):
        """Features that all experts see beside their windows."""
        return self.n_phases + self.n_now


@cache
def _waiting(n_ridges, of_banks, of_votes):
    return np.r_[:n_ridges, of_banks : of_votes + 1]


def plan(model, n_series, n_calendar, n_ahead, n_now, cycles=()):
    """Return the plan of an `OnlineForecaster` for some series, columns and calendar features.

    `cycles` are the rows in a day, a week and a year, where an index of dates tells them.
    """
    horizon = int(model.horizon)
    is_pooled = n_series > (_MANY if model.pooled == "auto" else 1) and bool(model.pooled)
    windows, leaving = tuple(model.windows), [RESIDUAL] * (n_ahead > 0)
    trees = batch_model(model.trees, boosted_regressor)
    if trees is not None:
        trees = _trees.fits_of(trees, horizon, n_series, is_pooled)
        leaving.append(1 + len(leaving))
    experts = _experts.ridges(n_series, windows, is_pooled, leaving)
    lengths = () if model.season_lengths is None else model.season_lengths
    seasons = tuple(sorted({int(length) for length in lengths}))  # the first is the shortest
    return Plan(
        horizon=horizon,
        n_series=n_series,
        is_pooled=is_pooled,
        experts=experts,
        views=_experts.views_of(experts, leaving, _seasons.n_places(seasons)),
        windows=windows,
        seasons=seasons,
        n_calendar=n_calendar,
        n_ahead=n_ahead,
        n_now=n_now,
        guard=bool(model.guard),
        usual=cycles or _seasons.USUAL,
        trees=trees,
    )
