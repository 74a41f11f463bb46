"""The laws around forecasts of the regressor, by its parameter `spread`."""

import numpy as np

from ..._linalg import one_blas_thread
from ...conformal import QuantileDistribution, _running_errors
from . import _row_laws
from . import _target_units as target_units
from ._scores import ErrorsOfRows, SquaredErrors

RECORDS = {"running": SquaredErrors(), "rows": ErrorsOfRows()}  # what a round is scored by


def start_sizes(model, layout, n_columns, seed):
    """Return the state of what learns the sizes of errors from rows, if anything does."""
    if model.spread == "running":
        return {}
    experts = model._experts()
    encoder = experts.encoder
    return experts.sizes.start(encoder.widths(layout, n_columns)[0], seed)


def law_of(model, X, ahead):
    """Return the distributions of the targets of rows."""
    state, forecasts = model._foreseen(X, ahead)
    state = model.constants.renewal.likelier(state)
    sizes = None
    if model.spread == "rows":
        with one_blas_thread:
            sizes = model._experts().forecast_sizes(state, model._asked(X)[1], ahead=ahead)
    law = laws_of(model, forecasts, _offsets(model, state, sizes))[0]
    if sizes is not None:
        law.__class__, law._density = SmoothDistribution, (model._flat, forecasts, sizes, state)
    return law


class SmoothDistribution(QuantileDistribution):
    """Quantiles that are tracked, and a density of its own, which is smooth."""

    def log_pdf(self, x):
        flat, forecasts, sizes, state = self._density
        plain = super().log_pdf(x)
        x = self._one_each(x)
        units = np.array([target_units.unit(of) for of in state["targets"]])
        errors = (x - forecasts).reshape(sizes.shape) / units
        of_targets = zip(state["errors"], errors.T, sizes.T, strict=True)
        logs = np.stack([_row_laws.log_density(*one) for one in of_targets], axis=1)
        smooth = flat(logs - np.log(units))
        outside = (x < self.support[0]) | (x > self.support[1])
        smooth = np.where(outside, -np.inf, smooth)
        return np.where(np.isnan(smooth) | np.isposinf(plain), plain, smooth)


def laws_of(model, forecasts, offsets):
    """Return distributions so far from forecasts (n, q, 199), and which rows have one."""
    quantiles = forecasts[..., None] + model._flat(offsets, axis=-2)
    law = QuantileDistribution(_running_errors.QUANTILES, quantiles, model._range())
    return law, ~np.isnan(quantiles[..., 0])


def traced(model, state, X):
    """Return the offsets (n, q, 199) of rows that are not learnt, NaN where nothing is known."""
    state, n = model.constants.renewal.likelier(state), len(X)
    if state["t"] <= model.label_delay:
        return np.full((n, model._n_outputs, len(_running_errors.QUANTILES)), np.nan)
    sizes = None if model.spread == "running" else model._experts().forecast_sizes(state, X)
    offsets = _offsets(model, state, sizes)
    return np.broadcast_to(offsets, (n, *offsets.shape[-2:]))


def whole_line(model, offsets, is_first):
    """Return offsets (n, q, 199), those of the whole line where rows have come, and no target yet.

    So has `predict_quantiles`. The very first row has none, nor have those before late labels.
    """
    unknown = np.isnan(offsets[:, 0, 0])
    unknown[0] &= not is_first
    if not model.label_delay and unknown.any():
        nothing = _running_errors.start(targets=(model._n_outputs,))
        offsets[unknown] = _running_errors.quantiles(nothing)
    return offsets


def told(model, state, X, ago):
    """Return the offsets (q, 199) of a row X (1, d), by what was known some rounds ago."""
    former = state["former"]
    if former and ago > state["t"] - former["t"]:
        return told(model, former, X, ago - state["t"] + former["t"])
    sizes = None if model.spread == "running" else model._experts().forecast_sizes(state, X, ago)
    offsets = _offsets(model, state, sizes, ago)
    return offsets.reshape(offsets.shape[-2:])


def _offsets(model, state, sizes, ago=0):
    """Return how far quantiles lie from forecasts of errors of such sizes, as rows tell them."""
    units = target_units.units(state["targets"], ago)
    return units[:, None] * model._record.offsets(state, sizes, ago)
