"""The laws around forecasts of the regressor, by its parameter `spread`."""

import numpy as np

from ..._linalg import one_blas_thread
from ...conformal import QuantileDistribution
from . import _conformal
from . import _targets as targets
from ._scores import ErrorsOfRows, SquaredErrors

RECORDS = {"running": SquaredErrors(), "rows": ErrorsOfRows()}  # what a round is scored by


def start_sizes(model, layout, n_columns, seed):
    """Return the state of what learns the sizes of errors from rows, if anything does."""
    if model.spread == "running":
        return {}
    experts = model._experts()
    encoder = experts.encoder
    return experts.sizes.start(encoder.width(layout, n_columns) - encoder.n_trees(layout), seed)


def law_of(model, X, ahead):
    """Return the distributions of the targets of rows."""
    state, forecasts = model._foreseen(X, ahead)
    state = model.constants.renewal.likelier(state)
    beyond = model._record.offsets(state, _sizes(model, state, X, ahead))
    units = np.array([targets.unit(of) for of in state["targets"]])
    quantiles = forecasts[..., None] + model._flat(units[:, None] * beyond, axis=-2)
    return QuantileDistribution(_conformal.QUANTILES, quantiles, model._range())


def _sizes(model, state, X, ahead):
    """Return the sizes (n, q) of errors as rows tell them, None where they do not."""
    if model.spread == "running":
        return None
    with one_blas_thread:
        return model._experts().forecast_sizes(state, model._asked(X)[1], ahead=ahead)
