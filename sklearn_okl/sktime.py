"""The forecaster of series among those of sktime, which is imported with this module alone."""

from __future__ import annotations

import numpy as np

from ._documentation import explained_by, inherit_documentation
from ._types import Any, ArrayLike, Seed
from .series import OnlineForecaster

try:
    from sktime.forecasting.base import BaseForecaster
except ImportError:
    BaseForecaster = None

__all__ = ["SktimeForecaster"]


@inherit_documentation
@explained_by(OnlineForecaster)
class SktimeForecaster(object if BaseForecaster is None else BaseForecaster):
    """An :class:`~sklearn_okl.OnlineForecaster` as a forecaster of sktime, with a real `update`.

    What sktime makes of forecasters takes it: pipelines, tuning, evaluation, panels and hierarchies
    of series. `update` learns the rows that are new, and costs a row what
    :meth:`OnlineForecaster.partial_fit` does: nothing is fitted anew.

    Attributes
    ----------
    forecaster_ : OnlineForecaster with ``gaps="fill"``
        What has learnt the series.

    See Also
    --------
    sklearn_okl.OnlineForecaster : What it is made of, with its Notes.

    Notes
    -----
    Where sktime is not installed there is an ImportError when one is made; ``pip install
    'sklearn_okl[sktime]'`` brings it. The horizon is that of the `fh` that `fit` is told, up to its
    largest step: steps are forecast from the latest row on, so that rows of the past are not. Rows
    that an index leaves out count as missing, and so do columns of rows before the last step that X
    leaves out. What comes again in `update`, as the windows of `update_predict` that overlap, is
    learnt once; what is new is learnt whatever ``update_params`` says: forecasts need it.

    Examples
    --------
    >>> from sktime.datasets import load_airline  # doctest: +SKIP
    >>> from sklearn_okl.sktime import SktimeForecaster
    >>> y = load_airline()  # doctest: +SKIP
    >>> model = SktimeForecaster().fit(y[:-12], fh=range(1, 13))  # doctest: +SKIP
    >>> model.predict()  # doctest: +SKIP
    >>> model.update(y[-12:]).predict_interval(coverage=0.9)  # doctest: +SKIP
    """

    _tags = {
        "capability:multivariate": True,
        "capability:exogenous": True,
        "capability:insample": False,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "capability:missing_values": True,
        "capability:non_contiguous_X": True,
        "capability:update": True,
        "capability:categorical_in_X": False,
        "capability:random_state": True,
        "y_inner_mtype": "pd.DataFrame",
        "X_inner_mtype": "pd.DataFrame",
        "requires-fh-in-fit": True,
        "X-y-must-have-same-index": True,
    }

    def __init__(
        self,
        season_lengths: ArrayLike | None = None,
        known_ahead: str | ArrayLike | int = "all",
        pooled: bool | str = "auto",
        windows: ArrayLike = (24, 48, 168),
        trees: Any = False,
        guard: bool = True,
        random_state: Seed = 0,
    ) -> None:
        if BaseForecaster is None:
            raise ImportError(
                "sktime is not installed: install it, by pip install 'sklearn_okl[sktime]', or "
                "take OnlineForecaster, which needs no other package."
            )
        self.season_lengths = season_lengths
        self.known_ahead = known_ahead
        self.pooled = pooled
        self.windows = windows
        self.trees = trees
        self.guard = guard
        self.random_state = random_state
        super().__init__()

    def _fit(self, y, X, fh):
        horizon = int(max(fh.to_relative(self.cutoff)))
        given = self.get_params(deep=False)
        self.forecaster_ = OnlineForecaster(horizon, gaps="fill", **given).fit(y, X)
        self._learnt_until = y.index[-1]
        return self

    def _update(self, y, X=None, update_params=True):
        is_new = y.index > self._learnt_until
        if is_new.any():
            self.forecaster_.partial_fit(
                y[is_new], None if X is None else X.reindex(y.index[is_new])
            )
            self._learnt_until = y.index[-1]
        return self

    def _predict(self, fh, X):
        return self._at(fh, self.forecaster_.predict(self._ahead(fh, X)))

    def _predict_interval(self, fh, X, coverage):
        intervals = self.forecaster_.predict_interval(
            self._ahead(fh, X), coverage=coverage, as_frame="multiindex"
        )
        return self._at(fh, intervals)

    def _predict_quantiles(self, fh, X, alpha):
        import pandas as pd

        said = self.forecaster_.predict_quantiles(self._ahead(fh, X), alpha=alpha)
        columns = pd.MultiIndex.from_product([self._get_varnames(), alpha])
        return self._at(fh, pd.DataFrame(said.reshape(len(said), -1), columns=columns))

    def _ahead(self, fh, X):
        """Return the columns of all rows up to the last step; NaN where X leaves them out."""
        if X is None or len(self.known_ahead) == 0:
            return None
        steps = type(fh)(np.arange(1, self.forecaster_.horizon + 1))
        return X.reindex(steps.to_absolute_index(self.cutoff))

    def _at(self, fh, frame):
        steps = np.asarray(fh.to_relative(self.cutoff), dtype=int)
        found = frame.iloc[steps - 1]
        found.index = fh.to_absolute_index(self.cutoff)
        return found

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> Any:
        """Return parameters that sktime's own tests are run with.

        Parameters
        ----------
        parameter_set : str, default="default"
            There is one set.

        Returns
        -------
        params : list of dict
        """
        small = {"windows": (2, 3, 5)}
        return [small, {**small, "pooled": True, "guard": False, "season_lengths": (4,)}]
