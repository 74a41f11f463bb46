r"""D. B. Rokhlin, O. V. Gurtovaya, "Random feature-based double Vovk-Azoury-Warmuth algorithm".

The algorithms of that paper (2025): every expert is a Vovk-Azoury-Warmuth forecaster on random
Fourier features of one kernel.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, Seed
from ..aggregators._range import Clip
from ..base import OnFourierFeatures, OnlineRegressor, SumsOfRows, _same
from ..base._explainable import Explainable
from ..base._sums import ages_of, refuse_weights
from ..inspection._parts import waves_of_bank
from ..inspection._steps import Sums
from ..learners import VAWRegressor
from ..learners._ridge import RidgeRecursion
from ._vaw_experts import VAWExperts

_TILE_BYTES = 32_000_000  # concatenated features held at once


@inherit_documentation
class VAW2Regressor(VAWExperts):
    r"""Double Vovk-Azoury-Warmuth forecaster, VAW²: VAW on the forecasts of one VAW per kernel.

    Each kernel of a dictionary gets random Fourier features and a :class:`VAWRegressor` on them; a
    second VAW combines the K forecasts linearly, with weights of either sign. Nobody needs to know
    the right kernel: the loss is near that of the best one in hindsight, and often below it.

    Parameters
    ----------
    aggregator_alpha : float, default=1.0
        Ridge penalty of the combination, > 0, in squared units of y. The paper's 1 is for targets
        in [0, 1]; for standardised ones and some hundred rows 10 is better.
    forecaster : {"vaw", "ridge"}, default="vaw"
        Of both levels: ``"vaw"`` has the theorem, ``"ridge"`` is what published experiments run.
    forgetting : float, default=1.0
        Discount of the past in (0, 1] on both levels, see :class:`VAWRegressor`.
    clip_experts : bool, default=False
        Whether to clip the experts' forecasts to `y_range` first: the paper's VAW²(trunc).

    See Also
    --------
    MultiKernelRegressor : Any expert, any aggregator.
    ConcatenatedVAWRegressor : One VAW on the features of all kernels together.

    Notes
    -----
    *Cost.* :math:`O(K D^2)` per round for K kernels with D features; K D² numbers of memory, twice.

    *Theorem.* Theorem 2 of [1]_: with phase features, :math:`|y| \le Y`, ``forecaster="vaw"`` and
    ``forgetting=1``, in expectation over the frequencies the loss exceeds that of any function of
    norm R of any one of the RKHSs by :math:`O((R^2 + Y^2 \ln T) \sqrt T)` if D grows as
    :math:`\sqrt T`; explicitly :func:`sklearn_okl.evaluation.vaw2_loss_bound`.

    *Departures.* The published code forecasts with the inverse of the round before, that is, by
    online ridge regression: ``forecaster="ridge"`` reproduces its tables. Features here have norm
    one, so that the theorem's lambda is `alpha` times the number of features.

    *Inputs* should be of moderate size: the paper's grid is made for rows of norm at most one.

    References
    ----------
    .. [1] Rokhlin & Gurtovaya 2025, Theorem 2.

    Examples
    --------
    >>> from sklearn_okl import VAW2Regressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = VAW2Regressor({"gamma": [0.01, 0.1]}, n_components=20, random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    """

    _parameter_constraints = {
        **VAWExperts._parameter_constraints,
        "aggregator_alpha": [Interval(Real, 0, None, closed="neither")],
        "clip_experts": ["boolean"],
    }
    _poor_score = True  # 76 kernels for smaller rows, each with a weight, at a ridge for smaller y
    _structural = ("aggregator_alpha", "clip_experts")

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        alpha: float = 1.0,
        aggregator_alpha: float = 1.0,
        forecaster: str = "vaw",
        forgetting: float = 1.0,
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
            alpha=alpha,
            forecaster=forecaster,
            forgetting=forgetting,
            y_range=y_range,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.aggregator_alpha = aggregator_alpha
        self.clip_experts = clip_experts

    def _parts(self):
        clip = [Clip(self.y_range)] if self.clip_experts else []
        return self._vaw(self.alpha), *clip, self._vaw(self.aggregator_alpha)


class _OnAllFeatures(Explainable, SumsOfRows, OnFourierFeatures, OnlineRegressor):
    """Base: one learner on the features of all kernels side by side; a subclass says which.

    Attributes
    ----------
    coef_ : ndarray of shape (n_kernels, D)
        Current coefficients of the features of each kernel.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `coef_`.
    """

    @property
    def coef_(self) -> Array:
        """Coefficients of the features of each kernel, of shape (n_kernels, D)."""
        state = self._fitted_state("coef_")
        return state["learner"]["theta"].reshape(len(self.kernels_), -1).copy()

    def _hindsight(self, state):
        return self._learner()._hindsight(state["learner"])

    def _start(self, n_features, n_targets=None):
        features = self._bank
        maps = features.start(n_features, check_random_state(self.random_state))
        width = len(features.kernels) * features.n_features_out(maps)
        return {"t": 0, "features": maps, "learner": self._learner()._start(width)}

    def _learn(self, state, X, y):
        learner = self._learner()
        forecasts = np.empty(len(y))
        for rows in self._tiles(state, len(y)):
            Z = self._concatenated(state, X[rows])
            forecasts[rows] = learner._learn(state["learner"], Z, y[rows])
        state["t"] += len(y)
        return forecasts

    def _forecast(self, state, X):
        learner = self._learner()
        forecasts = np.empty(len(X))
        for rows in self._tiles(state, len(X)):
            forecasts[rows] = learner._forecast(
                state["learner"], self._concatenated(state, X[rows])
            )
        return forecasts

    def _order_matters(self, has_age=False):
        return self._learner()._order_matters(has_age)

    def _unfit(self, other):
        if not _same(self._state["features"], other._state["features"]):
            return (
                "The models have drawn other features. Give both the same kernels, and the same "
                "whole number as random_state."
            )
        return self._learner()._unfit_sums(self._state["learner"], other._state["learner"])

    def _merged(self, state, theirs):
        self._learner()._merged(state["learner"], theirs["learner"])
        state["t"] += theirs["t"]

    def _without(self, state, X, y, sample_weight=None):
        learner = self._learner()
        refuse_weights(self, sample_weight)
        for rows in self._tiles(state, len(y)):
            learner._without(state["learner"], self._concatenated(state, X[rows]), y[rows])
        state["t"] -= len(y)

    def _without_aged(self, state, X, y, sample_weight, age):
        learner, t = self._learner(), state["learner"]["t"]
        refuse_weights(self, sample_weight)
        ages = ages_of(age, len(y), t)
        for rows in self._tiles(state, len(y)):
            Z = self._concatenated(state, X[rows])
            learner._without_aged(state["learner"], Z, y[rows], None, ages[rows])
        state["t"] -= t - state["learner"]["t"]

    def _explained(self, X):
        state, X = self._asked(X)
        maps = state["features"]
        theta = state["learner"]["theta"].reshape(len(maps["frequencies"]), -1, 1)
        known = maps["frequencies"], theta, np.arange(X.shape[1]), maps.get("phases")
        name = self._as_taught()._learner()._not_explained()
        return Sums([waves_of_bank(X, *known)], (), name)

    def _tiles(self, state, n_rows):
        width = len(state["learner"]["theta"])
        return gen_batches(n_rows, max(32, _TILE_BYTES // (8 * width) // 32 * 32))

    def _concatenated(self, state, X):
        Z = self._bank.transform(state["features"], X)  # (K, n, D)
        return np.ascontiguousarray(Z.swapaxes(0, 1)).reshape(len(X), -1)  # eq. (3.7A)


@inherit_documentation
@explained_by(VAWRegressor)
class ConcatenatedVAWRegressor(_OnAllFeatures):
    r"""One Vovk-Azoury-Warmuth forecaster on the random features of all kernels together.

    It competes with the sums of functions of all the kernels' RKHSs, where VAW² competes with each
    RKHS alone, at K times the cost.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid; None is the paper's grid of 76 kernels,
        :func:`sklearn_okl.kernels.paper_kernel_grid`.
    n_components : int, default=10
        Number of random features per kernel. With the 76 kernels 10 take about the memory of
        :class:`VAW2Regressor` with 100, the paper's number, which here is a state of 0.9 GB.
    alpha : float, default=1.0
        Ridge penalty, > 0 (the paper's lambda). The features of K kernels have squared norm K: for
        the mean of the kernels in place of their sum take K times as much. With the 76 kernels that
        is far better on short streams.

    See Also
    --------
    VAW2Regressor : The two-level algorithm, K times cheaper.

    Notes
    -----
    *Cost.* :math:`O(K^2 D^2)` per round in time and memory for K kernels with D features.

    *Theorem.* Theorem 1 of [1]_, a bound against functions of the RKHS of the kernels' sum;
    explicitly :func:`sklearn_okl.evaluation.concatenated_vaw_loss_bound`.

    References
    ----------
    .. [1] Rokhlin & Gurtovaya 2025, Theorem 1, eq. (3.7A).

    Examples
    --------
    >>> from sklearn_okl import ConcatenatedVAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> grid = {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]}
    >>> model = ConcatenatedVAWRegressor(grid, n_components=20, random_state=0).fit(X, y)
    >>> model.coef_.shape
    (3, 20)
    """

    _test_parameters = ({}, {"form": "phase", "forgetting": 0.99})

    _parameter_constraints = {
        **_OnAllFeatures._parameter_constraints,
        **RidgeRecursion._parameter_constraints,
    }
    _structural = ("alpha",)

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 10,
        alpha: float = 1.0,
        forecaster: str = "vaw",
        forgetting: float = 1.0,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernels,
            n_components=n_components,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
        )
        self.alpha = alpha
        self.forecaster = forecaster
        self.forgetting = forgetting

    def _learner(self):
        return VAWRegressor(self.alpha, forecaster=self.forecaster, forgetting=self.forgetting)
