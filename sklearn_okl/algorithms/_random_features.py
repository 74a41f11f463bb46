r"""Y. Shen, T. Chen, G. B. Giannakis, "Random feature-based online multi-kernel learning" (Raker).

First-order multi-kernel learning: Raker (2019) for regression and for two classes, and before it
OMKR and RFOMKR of D. Sahoo, S. Hoi, B. Li (2014, 2019). Every expert descends along its own
gradient.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions

from .._linalg import one_blas_thread
from ..aggregators import EWARegressor
from ..base import OnlineClassifier, OnlineRegressor
from ..base._convex import mix, softmax
from ..base._descent import solve_block
from ..kernels import kernel_list, kernel_matrix
from ..learners import OGDRegressor
from ..losses import get_loss
from ._banks import BANK_CONSTRAINTS, BANK_STRUCTURE, fourier_bank
from ._engines import FullInformationRegressor

_BLOCK = 64  # rows learnt at once by exact kernels
_TILE = 4096  # stored rows met at once: bounds the memory for kernel values
_ROWS = 32  # rows whose random features are held at once
_STEP_CONSTRAINTS = {
    "eta0": [Interval(Real, 0, None, closed="neither")],
    "power_t": [Interval(Real, 0, None, closed="left")],
}
_DISCOUNT_CONSTRAINTS = {"discount": [Interval(Real, 0, 1, closed="neither")]}


class _Hedge:
    """Weights proportional to exp(-cost), for costs that the algorithm itself accounts."""

    def _start(self, n_experts):
        return {"costs": np.zeros(n_experts)}

    def _weights(self, state):
        return softmax(-state["costs"])

    def _learn(self, state, F, costs):
        """Mix forecasts F (n, K), whose costs (n, K) are seen after each round."""
        # One running sum, so that the cut of the stream cannot change its rounding.
        costs = np.cumsum(np.vstack([state["costs"], costs]), axis=0)
        state["costs"] = costs[-1].copy()
        return mix(-costs[:-1], F)

    def _forecast(self, state, F):
        return mix(-state["costs"], F)


class OMKRRegressor(OnlineRegressor):
    r"""Online multiple kernel regression, OMKR: kernel gradient descent for every kernel, exact.

    Expert i descends in the RKHS of kernel :math:`k_i`, on half the square loss of its own
    forecast; the forecast is the mean of the experts' with weights that a loss discounts [1]_:

    .. math:: f_{i,t+1} = f_{i,t} - \eta_t (f_{i,t}(x_t) - y_t) k_i(x_t, \cdot) , \qquad
              w_{i,t+1} \propto w_{i,t} \beta^{(f_{i,t}(x_t) - y_t)^2} .

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is the papers' grid of 51 Gaussian and 25 Laplacian kernels,
        :func:`sklearn_okl.kernels.paper_kernel_grid`.
    discount : float, default=0.5
        :math:`\beta` in (0, 1), what a loss of 1 leaves of a weight.
    eta0 : float, default=0.1
        First step size, > 0, of :math:`\eta_t = \eta_0 / t^p`. As half the loss is descended, it
        acts as half this step does in :class:`KOGDRegressor`. The papers' 0.1 is short for one pass
        over standardised rows: on the 200 of scikit-learn's check 2 raises R² from 0.12 to 0.78, on
        2000 of :func:`sklearn_okl.datasets.make_friedman_stream`, forecast one by one, from 0.25 to
        0.81.
    power_t : float, default=0.5
        Exponent p >= 0 of the decay.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Current weights of the experts, from the simplex.
    dual_coef_ : ndarray of shape (n_kernels, n_samples_seen)
        Coefficient of each row learnt in each expert.
    X_fit_ : ndarray of shape (n_samples_seen, n_features)
        The rows learnt, in order.
    expert_losses_ : ndarray of shape (n_kernels,)
        Sum of squared errors of each expert's own progressive forecasts.
    kernels_ : list of dict
        Parameters of each expert, in the order of `weights_`.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

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
    .. [2] P. M. Ghari, Y. Shen, "Graph-aided online multi-kernel learning", Journal of Machine
       Learning Research 24, 2023, section 5.

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

    _parameter_constraints = {
        "kernels": BANK_CONSTRAINTS["kernels"],
        **_DISCOUNT_CONSTRAINTS,
        **_STEP_CONSTRAINTS,
    }
    _poor_score = True  # the default step is short for one pass over a few hundred rows
    _structural = ("kernels",)

    def __init__(self, kernels=None, *, discount=0.5, eta0=0.1, power_t=0.5):
        self.kernels = kernels
        self.discount = discount
        self.eta0 = eta0
        self.power_t = power_t

    @property
    def weights_(self):
        """Current weights of the experts, of shape (n_kernels,)."""
        return _Hedge()._weights(self._fitted_state("weights_")["weights"])

    @property
    def dual_coef_(self):
        """Coefficient of each row in each expert, of shape (n_kernels, n_samples_seen)."""
        return self._fitted_state("dual_coef_")["coef"].copy()

    @property
    def X_fit_(self):
        """The rows learnt, of shape (n_samples_seen, n_features)."""
        return self._fitted_state("X_fit_")["rows"].copy()

    @property
    def expert_losses_(self):
        """Sum of squared errors of each expert's progressive forecasts, of shape (n_kernels,)."""
        return self._fitted_state("expert_losses_")["expert_losses"].copy()

    @property
    def kernels_(self):
        """Parameters of each expert."""
        self._fitted_state("kernels_")
        return kernel_list(self._as_taught().kernels)

    def predict_experts(self, X):
        """Forecast each row by each expert; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.

        Returns
        -------
        F : ndarray of shape (n_samples, n_kernels)
            The experts' forecasts.
        """
        state, X = self._asked(X)
        return self._forecast_experts(state, X)

    def _start(self, n_features, n_targets=None):
        kernels = kernel_list(self.kernels)
        if any("alpha" in kernel for kernel in kernels):
            raise ValueError(
                "The grid of kernels has the key 'alpha', a ridge, which OMKRRegressor does not "
                "have. Leave it out."
            )
        n_kernels = len(kernels)
        return {
            "t": 0,
            "rows": np.empty((0, n_features)),
            "coef": np.empty((n_kernels, 0)),
            "expert_losses": np.zeros(n_kernels),
            "weights": _Hedge()._start(n_kernels),
        }

    def _learn(self, state, X, y):
        kernels = kernel_list(self.kernels)
        start, n = state["t"], len(y)
        rows = np.concatenate([state["rows"], X])
        coef = np.concatenate([state["coef"], np.zeros((len(kernels), n))], axis=1)
        etas = self.eta0 / np.arange(start + 1.0, start + n + 1) ** self.power_t
        F = np.empty((n, len(kernels)))
        low = 0
        while low < n:
            # Blocks end where the stream's own count is a multiple of their length, so that most
            # ways of cutting a stream lead through the very same blocks.
            high = min(n, low + _BLOCK - (start + low) % _BLOCK)
            block, past, end = slice(low, high), start + low, start + high
            before = _values(kernels, X[block], rows[:past], coef[:, :past])
            for k, kernel in enumerate(kernels):
                gram = kernel_matrix(X[block], **kernel)
                F[block, k], coef[k, past:end] = solve_block(
                    gram, before[:, k], y[block], etas[block]
                )
            low = high
        losses = np.square(F - y[:, None])
        state.update(t=start + n, rows=rows, coef=coef)
        state["expert_losses"] += losses.sum(axis=0)
        return _Hedge()._learn(state["weights"], F, -np.log(self.discount) * losses)

    def _forecast(self, state, X):
        return _Hedge()._forecast(state["weights"], self._forecast_experts(state, X))

    def _forecast_experts(self, state, X):
        kernels = kernel_list(self.kernels)
        F = np.empty((len(X), len(kernels)))
        for block in gen_batches(len(X), _BLOCK):
            F[block] = _values(kernels, X[block], state["rows"], state["coef"])
        return F


def _values(kernels, X, rows, coef):
    """Return each expert at the rows of X: sum_s coef_ks k(rows_s, x), of shape (n, K)."""
    values = np.zeros((len(X), len(kernels)))
    for low in range(0, len(rows), _TILE):
        tile = slice(low, low + _TILE)
        for k, kernel in enumerate(kernels):
            values[:, k] += kernel_matrix(X, rows[tile], **kernel) @ coef[k, tile]
    return values


class _Raker:
    """What both forms share, beside a shell: descent on random features, weighted by its costs.

    A subclass says in `_objective` the name of the loss, and what it is divided by in the weights.
    """

    _structural = BANK_STRUCTURE

    @property
    def weights_(self):
        """Current weights of the experts, of shape (n_kernels,)."""
        return _Hedge()._weights(self._fitted_state("weights_")["weights"])

    @property
    def expert_losses_(self):
        """Sum of losses of each expert's own progressive forecasts, of shape (n_kernels,)."""
        return self._fitted_state("expert_losses_")["expert_losses"].copy()

    @property
    def kernels_(self):
        """Parameters of each expert."""
        self._fitted_state("kernels_")
        return kernel_list(self._as_taught().kernels)

    @property
    def frequencies_(self):
        """Frequencies in use, of shape (n_kernels, n_features, m)."""
        return self._fitted_state("frequencies_")["features"]["frequencies"].copy()

    def predict_experts(self, X):
        """Forecast each row by each expert; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.

        Returns
        -------
        F : ndarray of shape (n_samples, n_kernels)
            The experts' forecasts; of classifiers their decision values.
        """
        state, X = self._asked(X)
        with one_blas_thread:
            return self._forecast_experts(state, X)

    def _expert(self):
        loss, _ = self._objective()
        return OGDRegressor(self.shrinkage, loss=loss, eta0=self.eta0, power_t=self.power_t)

    def _start(self, n_features, n_targets=None):
        features, expert = fourier_bank(self), self._expert()
        maps = features._start(n_features, check_random_state(self.random_state))
        bank = features.kernels
        return {
            "t": 0,
            "features": maps,
            "experts": expert._start(features._n_components(maps), bank=bank),
            "norms_sq": np.zeros(len(bank)),  # of each expert's theta
            "expert_losses": np.zeros(len(bank)),
            "weights": _Hedge()._start(len(bank)),
        }

    def _learn(self, state, X, y):
        # Not the engine's: the weights need the norms of the coefficients beside the forecasts.
        features, expert, hedge = fourier_bank(self), self._expert(), _Hedge()
        name, bound = self._objective()
        loss = get_loss(name)
        forecasts = np.empty(len(y))
        for rows in gen_batches(len(y), _ROWS):
            Z = features._transform(state["features"], X[rows])  # (K, n, D)
            F = np.ascontiguousarray(expert._learn(state["experts"], Z, y[rows]).T)
            n, Y = len(F), y[rows, None]
            etas = self.eta0 / np.arange(state["t"] + 1.0, state["t"] + n + 1) ** self.power_t
            norms_sq = self._track_norms(state, Z, F, etas[:, None] * loss.slope(Y, F), etas)
            losses = loss.value(Y, F)
            state["expert_losses"] += losses.sum(axis=0)
            costs = etas[:, None] * (losses / bound + self.shrinkage * norms_sq)  # eq. (9a)
            forecasts[rows] = hedge._learn(state["weights"], F, costs)
            state["t"] += n
        return forecasts

    def _track_norms(self, state, Z, F, steps, etas):
        """Return the squared norms (n, K) of the coefficients before each of n steps.

        A step theta <- c theta - s z, where f = theta z, makes of the squared norm q
        c^2 q - 2 c s f + s^2 z z.
        """
        # paired features have norm one, unless the last cosine is missing
        unit = self.form == "paired" and Z.shape[-1] % 2 == 0
        lengths_sq = 1.0 if unit else np.einsum("knd,knd->kn", Z, Z).T
        kept = (1.0 - 2.0 * self.shrinkage * etas)[:, None]
        moves = steps * (steps * lengths_sq - 2.0 * kept * F)
        norms_sq = np.vstack([state["norms_sq"], moves])
        for t, kept_sq in enumerate(np.square(kept[:, 0]).tolist()):
            norms_sq[t + 1] += kept_sq * norms_sq[t]
        np.maximum(norms_sq, 0.0, out=norms_sq)  # rounding
        state["norms_sq"] = norms_sq[-1].copy()
        return norms_sq[:-1]

    def _forecast(self, state, X):
        return _Hedge()._forecast(state["weights"], self._forecast_experts(state, X))

    def _forecast_experts(self, state, X):
        features, expert = fourier_bank(self), self._expert()
        F = np.empty((len(X), len(features.kernels)))
        for rows in gen_batches(len(X), _ROWS):
            Z = features._transform(state["features"], X[rows])
            F[rows] = expert._forecast(state["experts"], Z).T
        return F


class RakerRegressor(_Raker, OnlineRegressor):
    r"""Raker: gradient descent on random features for every kernel, weighted by their losses.

    Each kernel of a dictionary gets random Fourier features :math:`z_i` and online gradient
    descent on them; with :math:`L_{i,t} = (\theta_{i,t}^T z_i(x_t) - y_t)^2
    + \lambda \|\theta_{i,t}\|^2` (eq. (8) and (9) of [2]_)

    .. math:: \theta_{i,t+1} = \theta_{i,t} - \eta_t \nabla L_{i,t} , \qquad
              w_{i,t+1} \propto w_{i,t} \exp(-\eta_t L_{i,t}) , \qquad
              \hat y_t = \sum_i w_{i,t} \theta_{i,t}^T z_i(x_t) .

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is the papers' grid of 51 Gaussian and 25 Laplacian kernels,
        :func:`sklearn_okl.kernels.paper_kernel_grid`.
    n_components : int, default=100
        Number of random features per kernel; the papers' 50 frequencies in paired form.
    shrinkage : float, default=1e-3
        :math:`\lambda \ge 0`, weight of :math:`\|\theta\|^2` beside the loss.
    eta0 : float, default=0.1
        First step size, > 0, of :math:`\eta_t = \eta_0 / t^p`, for coefficients and weights. The
        papers' 0.1 is short for one pass over standardised rows: on the 200 of scikit-learn's check
        0.9 raises R² from 0.10 to 0.75, on 2000 of
        :func:`sklearn_okl.datasets.make_friedman_stream`, forecast one by one, from 0.24 to 0.74
        (means over five draws).
    power_t : float, default=0.5
        Exponent p >= 0 of the decay.
    form : {"paired", "phase"}, default="paired"
        Form of the features, see :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Current weights of the experts, from the simplex.
    expert_losses_ : ndarray of shape (n_kernels,)
        Sum of squared errors of each expert's own progressive forecasts.
    kernels_ : list of dict
        Parameters of each expert, in the order of `weights_`.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RakerClassifier : The same for labels.
    RFOMKRRegressor : Its forerunner, without shrinkage and with other weights.
    VAW2Regressor : Second order: dearer by a factor D, and usually far more accurate.

    Notes
    -----
    *Cost.* O(K D) per round for K kernels with D features, and as much memory. The norms in the
    weights cost O(K): a step moves :math:`\|\theta\|^2` by an amount that the forecast and
    :math:`\|z\|^2` give.

    *Theorem.* For a constant step :math:`\eta` of order :math:`1 / \sqrt T` and losses that are
    convex, bounded by 1 and Lipschitz, the regret against any function of any one of the kernels'
    random feature spaces is :math:`O(\sqrt T)`; against the RKHSs themselves with high probability
    if the number of features grows as T (Lemma 1 and Theorem 2 of [1]_). The decaying steps are
    those of the experiments of [2]_.

    *Departures.* The published code of [2]_ takes the norm in the weights after the step, where
    eq. (9) has it before; the forecasts differ by less than 1e-4 of targets in [0, 1]. Weights are
    kept as logarithms.

    *Inputs* should be of moderate size: the papers' grid is made for rows of norm at most one, and
    the weights' step for targets in [0, 1].

    References
    ----------
    .. [1] Y. Shen, T. Chen, G. B. Giannakis, "Random feature-based online multi-kernel learning in
       environments with unknown dynamics", Journal of Machine Learning Research 20, 2019.
    .. [2] P. M. Ghari, Y. Shen, "Graph-aided online multi-kernel learning", Journal of Machine
       Learning Research 24, 2023, eq. (8), (9).

    Examples
    --------
    >>> from sklearn_okl import RakerRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> grid = {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]}
    >>> model = RakerRegressor(grid, n_components=20, random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> model.predict_experts(X[-1:]).shape
    (1, 3)
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    """

    _poor_score = True  # the default step is short for one pass over a few hundred rows
    _parameter_constraints = {
        **BANK_CONSTRAINTS,
        **_STEP_CONSTRAINTS,
        "shrinkage": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        kernels=None,
        *,
        n_components=100,
        shrinkage=1e-3,
        eta0=0.1,
        power_t=0.5,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.eta0 = eta0
        self.power_t = power_t
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    def _objective(self):
        return "squared_error", 1.0


class RakerClassifier(_Raker, OnlineClassifier):
    r"""Raker for two classes: descent of a margin loss on random features for every kernel.

    Each kernel of a dictionary gets random Fourier features :math:`z_i` and online gradient
    descent on them; labels are -1 and +1, :math:`f_{i,t} = \theta_{i,t}^T z_i(x_t)`, and the
    decision value is the mean of the experts' with weights that their losses make [1]_:

    .. math:: \theta_{i,t+1} = \theta_{i,t} - \eta_t \nabla
              (\ell(f_{i,t}, y_t) + \lambda \|\theta_{i,t}\|^2) , \qquad
              w_{i,t+1} \propto w_{i,t}
              \exp(-\eta_t (\ell(f_{i,t}, y_t) / \ell_{max} + \lambda \|\theta_{i,t}\|^2)) .

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is the papers' grid of 51 Gaussian and 25 Laplacian kernels,
        :func:`sklearn_okl.kernels.paper_kernel_grid`.
    n_components : int, default=100
        Number of random features per kernel; the papers' 50 frequencies in paired form.
    loss : {"log_loss", "squared_hinge", "hinge"}, default="log_loss"
        What is descended, see :func:`sklearn_okl.losses.get_loss`. Only the logistic loss gives
        probabilities.
    loss_bound : float, default=1.0
        :math:`\ell_{max}` > 0, what losses are divided by in the weights, in units of the loss.
        The theorem wants losses of at most 1; the logistic loss passes 1 only where a decision
        value is wrong by more than 0.54.
    shrinkage : float, default=1e-3
        :math:`\lambda \ge 0`, weight of :math:`\|\theta\|^2` beside the loss.
    eta0 : float, default=0.1
        First step size, > 0, of :math:`\eta_t = \eta_0 / t^p`, for coefficients and weights.
        Margin losses bear longer steps: [2]_ takes the best of 1, 5, 10, 25 over
        :math:`\sqrt T`, which is ``power_t=0`` and that `eta0`.
    power_t : float, default=0.5
        Exponent p >= 0 of the decay; 0 keeps the step constant.
    form : {"paired", "phase"}, default="paired"
        Form of the features, see :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. Positive decision values mean the second.
    weights_ : ndarray of shape (n_kernels,)
        Current weights of the experts, from the simplex.
    expert_losses_ : ndarray of shape (n_kernels,)
        Sum of losses of each expert's own progressive decision values.
    kernels_ : list of dict
        Parameters of each expert, in the order of `weights_`.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RakerRegressor : The same for real targets and the square loss.
    RFOKSPlusPlusClassifier : One kernel per round, drawn at random.

    Notes
    -----
    *Cost.* O(K D) per round for K kernels with D features, and as much memory.

    *Theorem.* For a constant step :math:`\eta` of order :math:`1 / \sqrt T` and losses that are
    convex, bounded by 1 and Lipschitz, the regret against any function of any one of the kernels'
    random feature spaces is :math:`O(\sqrt T)`; against the RKHSs themselves with high probability
    if the number of features grows as T (Lemma 1 and Theorem 2 of [1]_).

    *Departures.* The figures of Raker in [2]_ come from a program that divides the projections by
    the kernels' bandwidths one after the other, each time what the last division left, so that its
    kernels are not the stated ones; here every kernel has its own bandwidth. Weights are kept as
    logarithms.

    *Inputs* should be of moderate size: the papers' grid is made for rows of norm at most one.

    References
    ----------
    .. [1] Y. Shen, T. Chen, G. B. Giannakis, "Random feature-based online multi-kernel learning in
       environments with unknown dynamics", Journal of Machine Learning Research 20, 2019.
    .. [2] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", ECML-PKDD 2022, section 6.2.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn_okl import RakerClassifier
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> grid = {"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0]}
    >>> model = RakerClassifier(grid, eta0=2.0, random_state=0)
    >>> labels = model.prequential_predict(X, y)  # each before its own was seen
    >>> bool((labels == y).mean() > 0.9)
    True
    >>> model.predict_proba(X[:2]).shape
    (2, 2)
    """

    _parameter_constraints = {
        **BANK_CONSTRAINTS,
        **_STEP_CONSTRAINTS,
        "loss": [StrOptions({"log_loss", "squared_hinge", "hinge"})],
        "loss_bound": [Interval(Real, 0, None, closed="neither")],
        "shrinkage": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        kernels=None,
        *,
        n_components=100,
        loss="log_loss",
        loss_bound=1.0,
        shrinkage=1e-3,
        eta0=0.1,
        power_t=0.5,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_components = n_components
        self.loss = loss
        self.loss_bound = loss_bound
        self.shrinkage = shrinkage
        self.eta0 = eta0
        self.power_t = power_t
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    def _objective(self):
        return self.loss, self.loss_bound


class RFOMKRRegressor(FullInformationRegressor):
    r"""Online multiple kernel regression on random features, RFOMKR.

    Each kernel of a dictionary gets random Fourier features and online gradient descent on them,
    without shrinkage. The forecasts are combined by Hedge, with weights that a loss discounts,
    :math:`w_{i,t+1} \propto w_{i,t} \beta^{(f_{i,t} - y_t)^2}`, or linearly by another gradient
    descent on the K forecasts [1]_.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is the papers' grid of 51 Gaussian and 25 Laplacian kernels,
        :func:`sklearn_okl.kernels.paper_kernel_grid`.
    aggregator : {"hedge", "ogd"}, default="hedge"
        How the forecasts are combined.
    n_components : int, default=100
        Number of random features per kernel; the papers' 50 frequencies in paired form.
    discount : float, default=0.5
        :math:`\beta` in (0, 1) of Hedge, what a loss of 1 leaves of a weight.
    eta0 : float, default=0.1
        First step size of the experts, > 0, of :math:`\eta_t = \eta_0 / t^p`. The papers' 0.1 is
        short for one pass over standardised rows: on the 200 of scikit-learn's check 0.9 raises R²
        from 0.28 to 0.75, on 2000 of :func:`sklearn_okl.datasets.make_friedman_stream`, forecast
        one by one, from 0.45 to 0.74 (means over five draws).
    aggregator_eta0 : float, default=0.1
        The same for ``aggregator="ogd"``. Its K features are the forecasts, whose squared norm is
        about :math:`K y^2`: take a smaller step where that is large.
    power_t : float, default=0.5
        Exponent p >= 0 of both decays.
    form : {"paired", "phase"}, default="paired"
        Form of the features, see :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.
    n_jobs : int or None, default=None
        Number of threads over the experts. They pay in calls of some hundred rows or more.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Current weights of the experts: from the simplex with Hedge, any with ``"ogd"``.
    expert_losses_ : ndarray of shape (n_kernels,)
        Sum of squared errors of each expert's own progressive forecasts.
    kernels_ : list of dict
        Parameters of each expert, in the order of `weights_`.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    OMKRRegressor : The same with exact kernels.
    RakerRegressor : Its successor, with shrinkage and steps in the weights.

    Notes
    -----
    *Cost.* O(K D) per round for K kernels with D features, and as much memory.

    *Departures.* The code that made the row of this algorithm in Table 1 of [2]_ never normalises
    the weights of Hedge, so that its forecasts fade to 0; here they are normalised. The descent on
    the forecasts starts with weights 0 and has no constraint.

    *Inputs* should be of moderate size: the papers' grid is made for rows of norm at most one, and
    the steps for targets in [0, 1].

    References
    ----------
    .. [1] D. Sahoo, S. C. H. Hoi, B. Li, "Large scale online multiple kernel regression with
       application to time-series prediction", ACM Transactions on Knowledge Discovery from Data
       13(1), 2019.
    .. [2] P. M. Ghari, Y. Shen, "Graph-aided online multi-kernel learning", Journal of Machine
       Learning Research 24, 2023, section 5.

    Examples
    --------
    >>> from sklearn_okl import RFOMKRRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> grid = {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]}
    >>> model = RFOMKRRegressor(grid, n_components=20, random_state=0).fit(X, y)
    >>> bool(abs(model.weights_.sum() - 1) < 1e-12)
    True
    """

    _parameter_constraints = {
        **BANK_CONSTRAINTS,
        **_STEP_CONSTRAINTS,
        **_DISCOUNT_CONSTRAINTS,
        "aggregator": [StrOptions({"hedge", "ogd"})],
        "aggregator_eta0": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [None, Integral],
    }
    _poor_score = True  # the default step is short for one pass over a few hundred rows
    _structural = (*BANK_STRUCTURE, "aggregator")

    def __init__(
        self,
        kernels=None,
        aggregator="hedge",
        *,
        n_components=100,
        discount=0.5,
        eta0=0.1,
        aggregator_eta0=0.1,
        power_t=0.5,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
        n_jobs=None,
    ):
        self.kernels = kernels
        self.aggregator = aggregator
        self.n_components = n_components
        self.discount = discount
        self.eta0 = eta0
        self.aggregator_eta0 = aggregator_eta0
        self.power_t = power_t
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _parts(self):
        expert = OGDRegressor(eta0=self.eta0, power_t=self.power_t)
        if self.aggregator == "hedge":
            return fourier_bank(self), expert, EWARegressor(float(-np.log(self.discount)))
        second = OGDRegressor(eta0=self.aggregator_eta0, power_t=self.power_t)
        return fourier_bank(self), expert, second
