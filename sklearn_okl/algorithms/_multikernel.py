"""Multi-kernel regression with parts of one's own choice."""

from __future__ import annotations

import numpy as np

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Seed
from ..aggregators._range import Clip, check_y_range
from ..base import FullInformationRegressor, OnlineRegressor
from ..learners import VAWRegressor
from ._vaw_experts import VAWExperts


@inherit_documentation
@explained_by(VAWExperts)
class MultiKernelRegressor(FullInformationRegressor):
    """One expert per kernel on random Fourier features, and an aggregator of their forecasts.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid; the key ``"alpha"`` varies the experts' parameter of
        that name too. None is :func:`sklearn_okl.kernels.paper_kernel_grid`.
    expert : online regressor or None, default=None
        The learner that every kernel gets, one that learns banks. None is ``VAWRegressor()``.
    aggregator : online regressor or None, default=None
        What combines the forecasts. None is ``VAWRegressor()``, which makes this VAW².
    clip_experts : bool, default=False
        Whether to clip the experts' forecasts to `y_range` before they are combined.
    y_range : tuple of (float, float), default=None

    Raises
    ------
    TypeError
        If a part is no online regressor of this package, or an expert cannot learn a bank.

    See Also
    --------
    VAW2Regressor : VAW for both parts, with flat parameters.

    Notes
    -----
    *Cost.*

    *Nested parameters.* As in scikit-learn, ``expert__alpha``, once the part was given.

    References
    ----------
    .. [1] Rokhlin & Gurtovaya 2025, section 3.

    Examples
    --------
    >>> from sklearn_okl import MultiKernelRegressor, VAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> grid = {"kernel": ["rbf", "laplacian"], "gamma": [0.01, 0.1], "alpha": [0.1, 10.0]}
    >>> model = MultiKernelRegressor(grid, expert=VAWRegressor(), n_components=20, random_state=0)
    >>> model.fit(X, y).weights_.shape
    (8,)
    """

    _test_parameters = ({}, {"clip_experts": True, "n_jobs": 2, "sampling": "orthogonal"})

    _parameter_constraints = {
        **FullInformationRegressor._parameter_constraints,
        "expert": [OnlineRegressor, None],
        "aggregator": [OnlineRegressor, None],
        "clip_experts": ["boolean"],
        "y_range": [None, list, tuple, np.ndarray],
    }
    _structural = ("expert", "aggregator", "clip_experts", "y_range")

    def __init__(
        self,
        kernels: Any = None,
        expert: Any = None,
        aggregator: Any = None,
        *,
        n_components: int = 100,
        clip_experts: bool = False,
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
        self.expert = expert
        self.aggregator = aggregator
        self.clip_experts = clip_experts
        self.y_range = y_range

    def _parts(self):
        expert = VAWRegressor() if self.expert is None else self.expert
        aggregator = VAWRegressor() if self.aggregator is None else self.aggregator
        clip = [Clip(self.y_range)] if self.clip_experts else []
        return expert, *clip, aggregator

    def _validate(self):
        super()._validate()
        check_y_range(self.y_range)
