"""Multi-kernel regressors whose experts are VAW forecasters: what they are told, and one expert."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._documentation import explained_by, inherit_documentation
from .._linalg import row_slices
from .._types import Any, ArrayLike, Seed, Self
from ..aggregators._range import Clip, check_y_range
from ..base import FullInformationRegressor, SumsOfRows
from ..base._sums import KeepsRecord
from ..learners import VAWRegressor
from ..learners._ridge import RidgeRecursion
from ..learners._ridge_sums import without_in_bank

_ROWS = 256  # rows whose features are made at once


@inherit_documentation
class VAWExperts(KeepsRecord, FullInformationRegressor):
    """Base of the regressors with one Vovk-Azoury-Warmuth forecaster per kernel.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        A key ``"alpha"`` varies the experts' ridge too. None is the paper's grid of 51 Gaussian and
        25 Laplacian kernels, :func:`sklearn_okl.kernels.paper_kernel_grid`.
    alpha : float, default=1.0
        Ridge penalty of the experts, > 0 (the paper's lambda).
    forecaster : {"vaw", "ridge"}, default="vaw"
        ``"vaw"`` experts have the theorem; ``"ridge"`` is what the published experiments run.
    forgetting : float, default=1.0
        Discount of the experts' past in (0, 1], see :class:`~sklearn_okl.VAWRegressor`. The
        combination forgets nothing.
    y_range : tuple of (float, float), default=None
        Range (lo, hi) of the targets, for clipping. None: the range of the targets seen before
        the round.
    """

    _parameter_constraints = {
        **FullInformationRegressor._parameter_constraints,
        **RidgeRecursion._parameter_constraints,
        "y_range": [None, list, tuple, np.ndarray],
    }
    _structural = ("alpha", "y_range")

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        alpha: float = 1.0,
        forecaster: str = "vaw",
        forgetting: float = 1.0,
        y_range: Any = None,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            kernels,
            n_components=n_components,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.alpha = alpha
        self.forecaster = forecaster
        self.forgetting = forgetting
        self.y_range = y_range

    def _parts(self):
        """Return the experts, clipped, and the `_rule` of a subclass that mixes them."""
        return self._vaw(self.alpha), Clip(self.y_range), self._rule()

    def _vaw(self, alpha):
        """Return a forecaster of the kind of the experts."""
        return VAWRegressor(alpha, forecaster=self.forecaster, forgetting=self.forgetting)

    @explained_by(SumsOfRows.unlearn)
    def unlearn(self, X: ArrayLike, y: ArrayLike, *, sums_only: bool = False) -> Self:
        """Take rows out of the sums of each kernel's forecaster; the weights stay as they are.

        Parameters
        ----------
        sums_only : bool, default=False
            Has to be True, so that nobody takes it for more: the weights of the kernels,
            `expert_losses_` and the range of the targets have seen the rows, and go on knowing of
            them. For a model that knows nothing of them fit a new one on the rows that stay.

        Returns
        -------
        self : VAWExperts
            The forecasters of the kernels are those that have never seen the rows.

        Raises
        ------
        TypeError
            If `sums_only` is not True, or the model forgets.
        """
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)
        name = type(self).__name__
        if not sums_only:
            raise TypeError(
                f"A {name} cannot forget rows as if it had never seen them: its weights are of "
                "forecasts that knew the rows before. With sums_only=True the rows leave the sums "
                "of each kernel's forecaster, and the weights stay; or fit a new model on the rows "
                "that stay."
            )
        if self.forgetting < 1.0:
            raise TypeError(
                f"A {name} cannot be unlearnt from: with forgetting={self.forgetting} what is left "
                "of a row depends on how long ago it came."
            )
        return self._unlearn(X, y)

    def _without(self, state, X, y, sample_weight=None):
        features, expert, _ = self._engine()
        expert._open(state["experts"])
        for rows in row_slices(len(y), _ROWS):
            Z = features.transform(state["features"], X[rows])
            without_in_bank(state["experts"], Z, y[rows], expert._rebuild)
        state["t"] -= len(y)

    def _validate(self):
        super()._validate()
        check_y_range(self.y_range)
