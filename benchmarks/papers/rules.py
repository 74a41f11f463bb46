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

from ..published import figures

_TABLE_3 = {row.pop("line"): row for row in figures("vaw2")}
TABLE_3_DATA = tuple(_TABLE_3["VAW²"])
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


def _clipped(**settings):
    return {"y_range": RANGE, **settings}


def _stacked(forecaster):
    return VAWRegressor(forecaster=forecaster)


RULES = {
    "VAW²": Rule(VAW2Regressor, {}, _stacked, False),
    "VAW²(trunc)": Rule(
        VAW2Regressor,
        _clipped(clip_experts=True),
        _stacked,
    ),
    "VAW-Aggr": Rule(
        VAWAARegressor,
        _clipped(eta=2.0),
        lambda forecaster: AARegressor(2.0, y_range=RANGE),
    ),
    "VAW-EWA": Rule(
        VAWEWARegressor,
        _clipped(eta=0.5),
        lambda forecaster: EWARegressor(0.5, y_range=RANGE),
    ),
    "VAW-BOA": Rule(
        VAWBOARegressor,
        _clipped(**_PLAIN),
        lambda forecaster: BOARegressor(**_PLAIN),
    ),
    "VAW-BOA, our defaults": Rule(
        VAWBOARegressor, _clipped(), lambda forecaster: BOARegressor(gradient_trick=True)
    ),
    "VAW-ML-Poly": Rule(
        VAWMLPolyRegressor,
        _clipped(**_PLAIN),
        lambda forecaster: MLPolyRegressor(**_PLAIN),
    ),
    "VAW-ML-Prod": Rule(
        VAWMLProdRegressor,
        _clipped(**_PLAIN),
        lambda forecaster: MLProdRegressor(**_PLAIN),
    ),
}
RULES = {label: rule._replace(published=_TABLE_3.get(label, {})) for label, rule in RULES.items()}
MAIN_RULES = {label: RULES[label] for label in ("VAW²", "VAW²(trunc)")}
