"""Multi-kernel regressors whose experts are VAW forecasters: what they are told, and one expert."""

from __future__ import annotations

import numpy as np

from .._documentation import inherit_documentation
from .._types import Any, Seed
from ..aggregators._range import Clip, check_y_range
from ..base import FullInformationRegressor
from ..learners import VAWRegressor
from ..learners._ridge import RidgeRecursion


@inherit_documentation
class VAWExperts(FullInformationRegressor):
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

    def _validate(self):
        super()._validate()
        check_y_range(self.y_range)
