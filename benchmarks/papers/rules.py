"""The lines of Table 3 of the VAW² paper: what combines the experts' forecasts."""

from collections.abc import Callable
from typing import NamedTuple

from sklearn_okl import (
    AARegressor,
    BOARegressor,
    EWARegressor,
    MLPolyRegressor,
    MLProdRegressor,
    VAW2Regressor,
    VAWAARegressor,
    VAWBOARegressor,
    VAWEWARegressor,
    VAWMLPolyRegressor,
    VAWMLProdRegressor,
    VAWRegressor,
)

TABLE_3_DATA = ("ar4", "airfoil", "bias_notebook", "concrete", "naval_notebook")
RANGE = 0.0, 1.0  # of the scaled targets
_PLAIN = {"gradient_trick": False, "initial_rate": 2.0**-20}  # as in the published program


class Rule(NamedTuple):
    """A line of the table.

    An algorithm is added by one entry in `RULES`.

    Attributes
    ----------
    algorithm : type
        The named algorithm.
    settings : dict
        Its parameters, but for the forecaster and the frequencies.
    aggregator : callable
        Makes the aggregator alone, from the name of the forecaster.
    clipped : bool
        Whether the aggregator is shown clipped forecasts.
    published : dict of str to float
        Published mean MSE × 10³ with ``forecaster="ridge"``, by data set.
    """

    algorithm: type
    settings: dict
    aggregator: Callable
    clipped: bool = True
    published: dict = {}


def _table_3(*figures):
    """Published means of a row of Table 3, from left to right."""
    return dict(zip(TABLE_3_DATA, figures, strict=True))


def _clipped(**settings):
    return {"y_range": RANGE, **settings}


def _stacked(forecaster):
    return VAWRegressor(forecaster=forecaster)


RULES = {
    "VAW²": Rule(VAW2Regressor, {}, _stacked, False, _table_3(16.56, 22.80, 4.09, 10.96, 0.29)),
    "VAW²(trunc)": Rule(
        VAW2Regressor,
        _clipped(clip_experts=True),
        _stacked,
        published=_table_3(16.51, 22.78, 4.09, 10.97, 0.29),
    ),
    "VAW-Aggr": Rule(
        VAWAARegressor,
        _clipped(eta=2.0),
        lambda forecaster: AARegressor(2.0, y_range=RANGE),
        published=_table_3(16.40, 26.74, 5.02, 13.57, 0.45),
    ),
    "VAW-EWA": Rule(
        VAWEWARegressor,
        _clipped(eta=0.5),
        lambda forecaster: EWARegressor(0.5, y_range=RANGE),
        published=_table_3(16.49, 27.61, 5.41, 15.08, 0.62),
    ),
    "VAW-BOA": Rule(
        VAWBOARegressor,
        _clipped(**_PLAIN),
        lambda forecaster: BOARegressor(**_PLAIN),
        published=_table_3(16.34, 26.42, 4.98, 13.88, 0.52),
    ),
    "VAW-BOA, our defaults": Rule(
        VAWBOARegressor, _clipped(), lambda forecaster: BOARegressor(gradient_trick=True)
    ),
    "VAW-ML-Poly": Rule(
        VAWMLPolyRegressor,
        _clipped(**_PLAIN),
        lambda forecaster: MLPolyRegressor(**_PLAIN),
        published=_table_3(16.34, 26.10, 4.96, 13.33, 0.37),
    ),
    "VAW-ML-Prod": Rule(
        VAWMLProdRegressor,
        _clipped(**_PLAIN),
        lambda forecaster: MLProdRegressor(**_PLAIN),
        published=_table_3(16.34, 26.27, 4.97, 13.64, 0.48),
    ),
}
MAIN_RULES = {label: RULES[label] for label in ("VAW²", "VAW²(trunc)")}
