r"""D. Sahoo, S. C. H. Hoi, B. Li, "Online multiple kernel regression" (OMKR).

First-order multi-kernel learning, exact (2014) and on random features (2019): every expert descends
along its own gradient, and a loss discounts its weight.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval, StrOptions

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, Seed
from ..aggregators import EWARegressor
from ..base import AllRows, FullInformationRegressor, OfExperts, OnFourierFeatures, OnlineRegressor
from ..base._descent import solve_block
from ..kernels import kernel_list, shift_invariant_kernel
from ..learners import OGDRegressor
from ._hedge import DISCOUNT_CONSTRAINTS, STEP_CONSTRAINTS, Hedge, step_sizes

_BLOCK = 64  # rows learnt at once by exact kernels
_TILE = 4096  # stored rows met at once: bounds the memory for kernel values


@explained_by(AllRows, FullInformationRegressor)
class _ExactDescents(OfExperts, OnlineRegressor):
    """Base: gradient descent in the RKHS of every kernel, exact; a loss discounts their weights.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Current weights of the experts, from the simplex.
    dual_coef_ : ndarray of shape (n_kernels, n_samples_seen)
        Coefficient of each row learnt in each expert.
    X_fit_ : ndarray of shape (n_samples_seen, n_features)
    kernels_ : list of dict
    """

    @property
    def weights_(self) -> Array:
        """Current weights of the experts, of shape (n_kernels,)."""
        return Hedge()._weights(self._fitted_state("weights_")["weights"])

    @property
    def dual_coef_(self) -> Array:
        """Coefficient of each row in each expert, of shape (n_kernels, n_samples_seen)."""
        return self._fitted_state("dual_coef_")["coef"].copy()

    @property
    def X_fit_(self) -> Array:
        """The rows learnt, of shape (n_samples_seen, n_features)."""
        return self._fitted_state("X_fit_")["rows"].copy()

    @property
    def kernels_(self) -> Any:
        """Parameters of each expert."""
        self._fitted_state("kernels_")
        return kernel_list(self._as_taught().kernels)

    def _start(self, n_features, n_targets=None):
        kernels = kernel_list(self.kernels)
        if any("alpha" in kernel for kernel in kernels):
            raise ValueError(
                f"The grid of kernels has the key 'alpha', a ridge, which {type(self).__name__} "
                "does not have. Leave it out."
            )
        n_kernels = len(kernels)
        return {
            "t": 0,
            "rows": np.empty((0, n_features)),
            "coef": np.empty((n_kernels, 0)),
            "expert_losses": np.zeros(n_kernels),
            "weights": Hedge()._start(n_kernels),
        }

    def _learn(self, state, X, y):
        kernels = self._made()
        start, n = state["t"], len(y)
        rows = np.concatenate([state["rows"], X])
        coef = np.concatenate([state["coef"], np.zeros((len(kernels), n))], axis=1)
        etas = step_sizes(self.eta0, self.power_t, start, n)
        F = np.empty((n, len(kernels)))
        low = 0
        while low < n:
            # Blocks end where the stream's own count is a multiple of their length, so that most
            # ways of cutting a stream lead through the very same blocks.
            high = min(n, low + _BLOCK - (start + low) % _BLOCK)
            block, past, end = slice(low, high), start + low, start + high
            before = _values(kernels, X[block], rows[:past], coef[:, :past])
            for k, kernel in enumerate(kernels):
                F[block, k], coef[k, past:end] = solve_block(
                    kernel(X[block], X[block]), before[:, k], y[block], etas[block]
                )
            low = high
        losses = np.square(F - y[:, None])
        state.update(t=start + n, rows=rows, coef=coef)
        state["expert_losses"] += losses.sum(axis=0)
        return Hedge()._learn(state["weights"], F, -np.log(self.discount) * losses)

    def _forecast(self, state, X):
        return Hedge()._forecast(state["weights"], self._forecast_experts(state, X))

    def _forecast_experts(self, state, X):
        kernels = self._made()
        F = np.empty((len(X), len(kernels)))
        for block in gen_batches(len(X), _BLOCK):
            F[block] = _values(kernels, X[block], state["rows"], state["coef"])
        return F

    def _made(self):
        return [shift_invariant_kernel(**kernel) for kernel in kernel_list(self.kernels)]


def _values(kernels, X, rows, coef):
    """Return each expert at the rows of X: sum_s coef_ks k(rows_s, x), of shape (n, K)."""
    values = np.zeros((len(X), len(kernels)))
    for low in range(0, len(rows), _TILE):
        tile = slice(low, low + _TILE)
        for k, kernel in enumerate(kernels):
            values[:, k] += kernel(X, rows[tile]) @ coef[k, tile]
    return values


@inherit_documentation
@explained_by(OnFourierFeatures)
class OMKRRegressor(_ExactDescents):
    r"""Online multiple kernel regression, OMKR: kernel gradient descent for every kernel, exact.

    Expert i descends in the RKHS of kernel :math:`k_i`, on half the square loss of its own
    forecast; the forecast is the mean of the experts' with weights that a loss discounts [1]_:

    .. math:: f_{i,t+1} = f_{i,t} - \eta_t (f_{i,t}(x_t) - y_t) k_i(x_t, \cdot) , \qquad
              w_{i,t+1} \propto w_{i,t} \beta^{(f_{i,t}(x_t) - y_t)^2} .

    Parameters
    ----------
    discount : float, default=0.5
        :math:`\beta` in (0, 1) of the weights, what a loss of 1 leaves of a weight.
    eta0 : float, default=0.1
        First step size, > 0, of :math:`\eta_t = \eta_0 / t^p`. As half the loss is descended, it
        acts as half this step does in :class:`KOGDRegressor`. The papers' 0.1 is short for one pass
        over standardised rows: there 2 is far better.
    power_t : float, default=0.5
        Exponent p >= 0 of the decay of steps.

    See Also
    --------
    RFOMKRRegressor : The same on random features, at a cost that does not grow.
    KOGDRegressor : One kernel, any loss.

    Notes
    -----
    *Cost.* O(K d t) in round t for K kernels of d inputs, and O((K + d) t) memory: every row is
    kept. 64 rows meet the rows before them in one product per kernel, and one another in one
    unit-triangular solve, as in :class:`KOGDRegressor`; both are exact.

    *Weights* are kept as logarithms, so that losses of any size cannot drive all of them to 0.

    *Departures.* None from [1]_ in its deterministic form. The published experiments of [2]_ take
    the kernels :math:`\exp(-\|x - x'\|_2^2 / \sigma^2)` and :math:`\exp(-\|x - x'\|_1 / \sigma)`
    with the grid's :math:`\sigma`: give ``gamma`` as :math:`1/\sigma^2` and :math:`1/\sigma` to
    repeat them.

    References
    ----------
    .. [1] D. Sahoo, S. C. H. Hoi, B. Li, "Online multiple kernel regression", ACM SIGKDD
       International Conference on Knowledge Discovery and Data Mining, 2014.
    .. [2] Ghari & Shen 2023, section 5.

    Examples
    --------
    >>> from sklearn_okl import OMKRRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = OMKRRegressor({"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]})
    >>> forecasts = model.prequential_predict(X, y)
    >>> model.dual_coef_.shape
    (3, 300)
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    """

    _test_parameters = (
        {"kernels": OnFourierFeatures._shared_test_parameters["kernels"], "eta0": 2.0},
    )

    _parameter_constraints = {
        "kernels": OnFourierFeatures._parameter_constraints["kernels"],
        **DISCOUNT_CONSTRAINTS,
        **STEP_CONSTRAINTS,
    }
    _poor_score = True  # the default step is short for one pass over a few hundred rows
    _structural = ("kernels",)

    def __init__(
        self, kernels: Any = None, *, discount: float = 0.5, eta0: float = 0.1, power_t: float = 0.5
    ) -> None:
        self.kernels = kernels
        self.discount = discount
        self.eta0 = eta0
        self.power_t = power_t


@inherit_documentation
@explained_by(OMKRRegressor)
class RFOMKRRegressor(FullInformationRegressor):
    r"""Online multiple kernel regression on random features, RFOMKR.

    Each kernel of a dictionary gets random Fourier features and online gradient descent on them.
    Hedge combines the forecasts, with :math:`w_{i,t+1} \propto w_{i,t} \beta^{(f_{i,t} - y_t)^2}`,
    or another gradient descent on the K forecasts does so linearly [1]_.

    Parameters
    ----------
    aggregator : {"hedge", "ogd"}, default="hedge"
        How forecasts are combined: with weights from the simplex, or with any.
    eta0 : float, default=0.1
        First step size of the experts, > 0, of :math:`\eta_t = \eta_0 / t^p`. The papers' 0.1 is
        short for one pass over standardised rows: there 0.9 is far better.
    aggregator_eta0 : float, default=0.1
        The same for ``aggregator="ogd"``. The squared norm of its features, the K forecasts, is
        about :math:`K y^2`: take a smaller step where that is large.

    See Also
    --------
    OMKRRegressor : The same with exact kernels.
    RakerRegressor : Its successor, with shrinkage and steps in the weights.

    Notes
    -----
    *Cost.* O(K D) per round for K kernels with D features, and as much memory.

    *Departures.* The code behind its row in Table 1 of [2]_ never normalises the weights of Hedge,
    so that forecasts fade to 0. The descent on the forecasts starts at 0 and has no constraint.

    *Inputs*: the grid is for rows of norm at most one, the steps for targets in [0, 1].

    References
    ----------
    .. [1] D. Sahoo, S. C. H. Hoi, B. Li, "Large scale online multiple kernel regression with
       application to time-series prediction", ACM Transactions on Knowledge Discovery from Data
       13(1), 2019.
    .. [2] Ghari & Shen 2023, section 5.

    Examples
    --------
    >>> from sklearn_okl import RFOMKRRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = RFOMKRRegressor({"gamma": [0.01, 0.1]}, n_components=20, random_state=0).fit(X, y)
    >>> bool(abs(model.weights_.sum() - 1) < 1e-12)
    True
    """

    _test_parameters = ({"eta0": 0.9}, {"aggregator": "ogd", "eta0": 0.5})

    _parameter_constraints = {
        **FullInformationRegressor._parameter_constraints,
        **(STEP_CONSTRAINTS | DISCOUNT_CONSTRAINTS),
        "aggregator": [StrOptions({"hedge", "ogd"})],
        "aggregator_eta0": [Interval(Real, 0, None, closed="neither")],
    }
    _poor_score = True  # the default step is short for one pass over a few hundred rows
    _structural = ("aggregator",)

    def __init__(
        self,
        kernels: Any = None,
        aggregator: str = "hedge",
        *,
        n_components: int = 100,
        discount: float = 0.5,
        eta0: float = 0.1,
        aggregator_eta0: float = 0.1,
        power_t: float = 0.5,
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
        self.aggregator = aggregator
        self.discount = discount
        self.eta0 = eta0
        self.aggregator_eta0 = aggregator_eta0
        self.power_t = power_t

    def _parts(self):
        expert = OGDRegressor(eta0=self.eta0, power_t=self.power_t)
        if self.aggregator == "hedge":
            return expert, EWARegressor(float(-np.log(self.discount)))
        return expert, OGDRegressor(eta0=self.aggregator_eta0, power_t=self.power_t)
