"""The laws around forecasts of the regressor, and what learns the sizes of errors from rows."""

import numpy as np

from ..._linalg import one_blas_thread
from ...base import DistributionVerbs
from ...conformal import QuantileDistribution
from . import _conformal
from . import _targets as targets
from ._scores import ErrorsOfRows, SquaredErrors

_RECORDS = {"running": SquaredErrors(), "rows": ErrorsOfRows()}


class Spread(DistributionVerbs):
    """Laws by the parameter `spread`: of the latest errors, or of what rows tell of their sizes."""

    @property
    def _record(self):
        return _RECORDS[self.spread]

    def _start_from(self, layout, n_columns, seed):
        state = super()._start_from(layout, n_columns, seed)
        return state | {"sizes": self._start_sizes(layout, n_columns, seed)}

    def _start_sizes(self, layout, n_columns, seed):
        """Return the state of what learns the sizes of errors from rows, if anything does."""
        if self.spread == "running":
            return {}
        experts = self._experts()
        encoder = experts.encoder
        return experts.sizes.start(encoder.width(layout, n_columns) - encoder.n_trees(layout), seed)

    def _law(self, X, ahead):
        state, forecasts = self._foreseen(X, ahead)
        state = self.constants.renewal.likelier(state)
        beyond = self._record.offsets(state, self._sizes(state, X, ahead))
        units = np.array([targets.unit(of) for of in state["targets"]])
        quantiles = forecasts[..., None] + self._flat(units[:, None] * beyond, axis=-2)
        return QuantileDistribution(_conformal.QUANTILES, quantiles, self._range())

    def _sizes(self, state, X, ahead):
        """Return the sizes (n, q) of errors as rows tell them, None where they do not."""
        if self.spread == "running":
            return None
        with one_blas_thread:
            return self._experts().forecast_sizes(state, self._asked(X)[1], ahead=ahead)
