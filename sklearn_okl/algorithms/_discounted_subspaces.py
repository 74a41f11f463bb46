r"""D. B. Rokhlin: discounted Vovk-Azoury-Warmuth in spans of features, H-VAW-D and DVAW.

Members of all discounts, in subspaces of one or of several numbers of features, and a second VAW on
their forecasts (2025; with G. A. Karapetyants, 2026). Only the abstracts were at hand.
"""

from __future__ import annotations

from math import log2
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import HasMethods, Interval

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, Seed
from ..base import OnlineRegressor
from ..features import FourierFeatures, TaylorFeatures
from ..kernels import SHIFT_INVARIANT_CONSTRAINTS
from ..kernels._fourier import FourierBank
from ..learners import VAWRegressor
from ._discount_grid import DiscountGrid

_ROWS = 512  # rows mapped at once: bounds the memory for features


@explained_by(VAWRegressor)
class _DiscountedSubspaces(OnlineRegressor):
    r"""Grids of discounts in subspaces, and the learner on all of their forecasts.

    A subclass says in `_map` of which features, a list of arrays (n, D), one for each subspace.

    Parameters
    ----------
    aggregator : online regressor, default=None
        What combines the members' forecasts: a :class:`VAWRegressor`, or a regressor of
        :mod:`sklearn_okl.aggregators`. None is ``VAWRegressor()``, the paper's.
    max_memory : int, default=4096
        Largest memory of the grid, >= 2; beside it there is one that forgets nothing. The cost of a
        round is bounded by it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_subspaces, n_discounts)
        Weight of each member in the next forecast. Those that are not born yet forecast as the
        first of their subspace does.
    discounts_ : ndarray of shape (n_discounts,)
        Their discounts: 1, then 1/2, 3/4 and so on.
    """

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "aggregator": [HasMethods(["partial_fit", "predict"]), None],
        "max_memory": [Interval(Integral, 2, None, closed="left")],
    }
    _structural = ("alpha", "aggregator", "max_memory")

    def __init__(self, *, alpha: float = 1.0, aggregator: Any = None, max_memory: int = 4096):
        self.alpha = alpha
        self.aggregator = aggregator
        self.max_memory = max_memory

    @property
    def weights_(self) -> Array:
        """Weights of the members, of shape (n_subspaces, n_discounts)."""
        model, state = self._as_taught(), self._fitted_state("weights_")
        weights = model._combiner()._weights(state["aggregator"])
        return np.array(weights).reshape(len(state["grids"]), -1)

    @property
    def discounts_(self) -> Array:
        """Discounts of the members of a subspace, of shape (n_discounts,)."""
        self._fitted_state("discounts_")
        n_discounts = self._as_taught()._n_discounts()
        return np.array([1.0, *(1.0 - 0.5**i for i in range(1, n_discounts))])

    def _validate(self):
        super()._validate()
        if not hasattr(self._combiner(), "_weights"):
            raise TypeError(
                f"{type(self.aggregator).__name__} cannot be the aggregator of "
                f"{type(self).__name__}: it has no weights over forecasts. Use VAWRegressor."
            )

    def _combiner(self):
        return VAWRegressor() if self.aggregator is None else self.aggregator

    def _n_discounts(self):
        return 1 + int(log2(self.max_memory))

    def _grid(self):
        return DiscountGrid(self.alpha, max_memory=self.max_memory)

    def _started(self, map_state, dimensions):
        n_members = len(dimensions) * self._n_discounts()
        return {
            "t": 0,
            "map": map_state,
            "grids": [self._grid().start(dimension) for dimension in dimensions],
            "aggregator": self._combiner()._start(n_members),
        }

    def _learn(self, state, X, y):
        forecasts = np.empty(len(y))
        for rows in gen_batches(len(y), _ROWS):
            forecasts[rows] = self._learn_batch(state, X[rows], y[rows])
        return forecasts

    def _learn_batch(self, state, X, y):
        grid, hints = self._grid(), np.zeros(len(y))
        F = np.empty((len(y), len(state["grids"]), self._n_discounts()))
        for k, Z in enumerate(self._map(state["map"], X)):
            for rows, part in grid.stretches(state["grids"][k], state["t"], Z, y, hints):
                F[rows, k] = self._filled(part)
        state["t"] += len(y)
        return self._combiner()._learn(state["aggregator"], F.reshape(len(y), -1), y)

    def _filled(self, part):
        """Return forecasts (n, n_discounts), those of who is not born being the first one's."""
        there = part.shape[1]
        filled = np.repeat(part[:, :1], self._n_discounts(), axis=1)
        filled[:, :there] = part
        return filled

    def _forecast(self, state, X):
        forecasts, grid = np.empty(len(X)), self._grid()
        for rows in gen_batches(len(X), _ROWS):
            F = [
                self._filled(grid.forecast(state["grids"][k], Z, np.zeros(len(Z))))
                for k, Z in enumerate(self._map(state["map"], X[rows]))
            ]
            forecasts[rows] = self._combiner()._forecast(state["aggregator"], np.hstack(F))
        return forecasts

    def _close(self, state, grows=False):
        for grid in state["grids"]:
            self._grid().close(grid, grows)
        self._combiner()._close(state["aggregator"], grows)


@explained_by(FourierFeatures)
class _RandomSubspaces(_DiscountedSubspaces):
    """Subspaces of the first of some random features.

    Parameters
    ----------
    n_components : int >= 1, default=100
        Largest number of features, sines and cosines; an odd one is rounded up.
    n_sizes : int, default=4
        How many numbers of features there are, 1 to 4, each half the one before.

    Attributes
    ----------
    sizes_ : ndarray of shape (n_subspaces,)
        Numbers of features, the largest first.
    frequencies_ : ndarray of shape (n_features, n_frequencies)
        Frequencies in use; each subspace has the first of them.
    """

    _shared_test_parameters = {"random_state": 0}

    _parameter_constraints = {
        **_DiscountedSubspaces._parameter_constraints,
        **SHIFT_INVARIANT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_sizes": [Interval(Integral, 1, 4, closed="both")],
        "random_state": ["random_state"],
    }
    _structural = ("kernel", "gamma", "n_components", "n_sizes")

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        n_components: int = 100,
        n_sizes: int = 4,
        alpha: float = 1.0,
        aggregator: Any = None,
        max_memory: int = 4096,
        random_state: Seed = None,
    ) -> None:
        super().__init__(alpha=alpha, aggregator=aggregator, max_memory=max_memory)
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.n_sizes = n_sizes
        self.random_state = random_state

    @property
    def sizes_(self) -> Array:
        """Numbers of features of the subspaces, the largest first."""
        self._fitted_state("sizes_")
        return 2 * np.array(self._as_taught()._counts())

    @property
    def frequencies_(self) -> Array:
        """Frequencies of the largest subspace, the first ones those of the others."""
        return self._fitted_state("frequencies_")["map"]["frequencies"][0].copy()

    def _counts(self):
        """Return the numbers of frequencies, without repetitions."""
        m = -(-self.n_components // 2)
        return list(dict.fromkeys(-(-m // 2**j) for j in range(self.n_sizes)))

    def _bank(self):
        kernels = [{"kernel": self.kernel, "gamma": self.gamma}]
        return FourierBank(kernels, 2 * self._counts()[0])

    def _start(self, n_features, n_targets=None):
        maps = self._bank().start(n_features, check_random_state(self.random_state))
        return self._started(maps, [2 * m for m in self._counts()])

    def _map(self, maps, X):
        Z, counts = self._bank().transform(maps, X)[0], self._counts()
        most = counts[0]
        return [np.sqrt(most / m) * np.hstack([Z[:, :m], Z[:, most : most + m]]) for m in counts]


@inherit_documentation
class HVAWDRegressor(_RandomSubspaces):
    r"""H-VAW-D: VAW on discounted VAWs of all discounts and of several numbers of features.

    Random Fourier features of a kernel are drawn once; of their first 1, 1/2, 1/4, ...  each is a
    subspace, on which discounted VAW learns with the discounts 1 and :math:`1 - 2^{-i}`, as in
    :class:`DiscountedVAWAARegressor`. A second VAW combines all forecasts: neither how fast the
    function changes nor how many features it needs is to be known.

    See Also
    --------
    DVAWRegressor : One subspace, of any map.
    DiscountedVAWAARegressor : The members on given features, mixed by the aggregating algorithm.
    VAW2Regressor : VAW on VAWs of many kernels.

    Notes
    -----
    *Cost.* :math:`O(D^2)` for each member, of which there are at most :math:`\log_2
    \min(t, max\_memory) + 1` in each subspace; halves of D cost a third of it together. And the
    square of the number of members for the second VAW.

    *Theorem* (ours, by adding up its parts). Against every path :math:`u_t` in a subspace and every
    discount, with F the members' forecasts, :math:`\alpha'` the ridge of the second VAW and
    :math:`|y| \le Y`

    .. math:: \sum_t (\hat y_t - y_t)^2 - (u_t^T z_t - y_t)^2 \le B_\gamma(u) + \alpha'
              + Y^2 \ln \det(I + F^T F / \alpha') ,

    with :math:`B_\gamma` the theorem of :class:`DiscountedVAWRegressor`, up to the member's birth
    with :math:`\gamma = 1`: :func:`sklearn_okl.evaluation.discounted_vaw_path_bound` (`birth`) and
    :func:`~sklearn_okl.evaluation.vaw_logdet_bound`. With n members the last term is at most
    :math:`n Y^2 \ln(1 + \sum_t \|F_t\|^2 / (\alpha' n))`; with ``aggregator=AARegressor(y_range=
    ...)`` :math:`\frac12 r^2 \ln n` is in the place of both terms, for clipped members.

    *What the caps cost.* A path that is best followed with a longer memory than `max_memory` pays
    :math:`D Y^2 T / max\_memory` more; a function that the largest subspace misses by
    :math:`\epsilon_t` pays :math:`\sum_t \epsilon_t^2 + 2 \epsilon_t |u_t^T z_t - y_t|`.

    *Departures.* By its abstract the algorithm of [1]_ learns discount and number of features in
    :math:`O(T \ln T)` a round and has the regret :math:`O(T^{2/3} P^{1/3} + \sqrt T \ln T)`; which
    numbers it has, and at what ridge, was not at hand. Here they are powers of a half of one cap.

    *Inputs* should be of moderate size, as for :class:`FourierFeatures`.

    *Targets*, too. The second VAW has a ridge of 1 whatever their unit, so that its weights may
    become as large as they are, where members say nearly the same: those that forget fast, known to
    about 1e-7 of the targets, are then rounding. With inputs of 1e-6 and targets of 1e7 forecasts
    depend on how rows are cut into calls by up to 3e-3 of the targets, with either of unit size by
    some 1e-6 at most.

    References
    ----------
    .. [1] D. B. Rokhlin, "A hierarchical Vovk-Azoury-Warmuth forecaster with discounting for online
       regression in RKHS", arXiv 2506.22631, 2025.

    Examples
    --------
    >>> from sklearn_okl import HVAWDRegressor
    >>> from sklearn_okl.datasets import make_switching_functions
    >>> X, y = make_switching_functions(600, n_switches=2, random_state=0)
    >>> model = HVAWDRegressor(gamma=1.0, n_components=60, random_state=0)
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> bool(((y - forecasts) ** 2).mean() < 0.5 * y.var())
    True
    >>> model.sizes_
    array([60, 30, 16,  8])
    """

    _test_parameters = (
        {"n_components": 24, "gamma": 0.02, "random_state": 0},
        {"n_components": 16, "kernel": "laplacian", "n_sizes": 2, "max_memory": 8},
    )


@inherit_documentation
class DVAWRegressor(_DiscountedSubspaces):
    r"""DVAW: discounted VAW of all discounts in one fixed subspace, and VAW on their forecasts.

    The subspace is the span of the features of a fixed map, such as the first terms of an
    expansion of a kernel: on it discounted VAW learns with the discounts 1 and :math:`1 - 2^{-i}`,
    and a second VAW combines the forecasts.

    Parameters
    ----------
    features : transformer or None, default=None
        The map, one that learns nothing from rows: :class:`TaylorFeatures`, which None is, and
        :class:`MercerFeatures` for the Gaussian kernel, :class:`SectionFeatures` for sections of
        any kernel, such as Matérn's; or any transformer that `fit` on one row of zeros makes ready.

    See Also
    --------
    HVAWDRegressor : Random features, and several numbers of them.
    DiscountedVAWAARegressor : Mixed by the aggregating algorithm, whose bound is smaller.
    PKAWVRegressor : VAW that forgets nothing, in subspaces.

    Notes
    -----
    *Cost.* That of :class:`HVAWDRegressor` for one subspace of D features.

    *Theorem.* That of :class:`HVAWDRegressor`, with one subspace. Against functions :math:`f_t` of
    the whole space of norm at most R whose projections are :math:`u_t`, what the subspace misses
    is at most :math:`R \sup_x \sqrt{k(x, x) - \|z(x)\|^2}` in each round.

    *Departures.* By its abstract [1]_ runs a VAW-based ensemble over a geometric grid of discounts
    in a fixed subspace; which grid and ridge it has was not at hand.

    *Inputs and targets* should be of moderate size, as for :class:`HVAWDRegressor`.

    References
    ----------
    .. [1] D. B. Rokhlin, G. A. Karapetyants, "Dynamic regret for online regression in RKHS via
       discounted VAW and subspace approximation", arXiv 2604.25021, 2026.

    Examples
    --------
    >>> from sklearn_okl import DVAWRegressor, SectionFeatures
    >>> from sklearn_okl.datasets import make_switching_functions
    >>> X, y = make_switching_functions(600, n_features=2, n_switches=2, random_state=0)
    >>> model = DVAWRegressor(SectionFeatures("matern32", 2.0, n_components=40), alpha=0.1)
    >>> forecasts = model.prequential_predict(X, y)
    >>> bool(((y - forecasts) ** 2).mean() < 0.5 * y.var())
    True
    """

    _test_parameters = ({}, {"features": TaylorFeatures(0.1, 1), "max_memory": 8})

    _parameter_constraints = {
        **_DiscountedSubspaces._parameter_constraints,
        "features": [HasMethods(["fit", "transform"]), None],
    }
    _structural = ("features",)

    def __init__(
        self,
        features: Any = None,
        *,
        alpha: float = 1.0,
        aggregator: Any = None,
        max_memory: int = 4096,
    ) -> None:
        super().__init__(alpha=alpha, aggregator=aggregator, max_memory=max_memory)
        self.features = features

    def _validate(self):
        super()._validate()
        if getattr(self.features, "learns_from_data", False) or hasattr(
            self.features, "partial_fit"
        ):
            raise ValueError(
                f"{type(self.features).__name__} learns from rows, so that its features are no "
                "fixed subspace. Put it before the model, in a StreamingPipeline."
            )

    def _start(self, n_features, n_targets=None):
        features = TaylorFeatures() if self.features is None else clone(self.features)
        row = np.zeros((1, n_features))
        features.fit(row)
        return self._started(features, [np.shape(features.transform(row))[1]])

    def _map(self, features, X):
        return [np.asarray(features.transform(X), dtype=np.float64)]
