r"""Y. Shen, T. Chen, G. B. Giannakis, "Random feature-based online multi-kernel learning" (Raker).

First-order multi-kernel learning (2019), for regression and for classes: every expert descends
along its own gradient, and its losses make its weight.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, Seed
from ..base import (
    OfExperts,
    OneAgainstRestClassifier,
    OnFourierFeatures,
    OnlineRegressor,
)
from ..base._descent import GradientSteps
from ..base._loss import LABEL_LOSSES, LossOfLabels
from ..learners import OGDRegressor
from ..losses import get_loss
from ._hedge import STEP_CONSTRAINTS, Hedge, step_sizes

_ROWS = 32  # rows whose random features are held at once


@explained_by(GradientSteps)
class _Raker(OfExperts, OnFourierFeatures):
    r"""What both forms share, beside a shell: descent on random features, weighted by its costs.

    A subclass says in `_objective` the loss, or its name, and what it is divided by in the weights.

    Parameters
    ----------
    shrinkage : float, default=1e-3
        :math:`\lambda \ge 0`, weight of :math:`\|\theta\|^2` beside the loss.
    power_t : float, default=0.5

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,) or (n_classes, n_kernels)
        Current weights of the experts, from the simplex; a row for each of more than two classes.
    """

    _parameter_constraints = {
        **OnFourierFeatures._parameter_constraints,
        **STEP_CONSTRAINTS,
        "shrinkage": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        shrinkage: float = 1e-3,
        eta0: float = 0.1,
        power_t: float = 0.5,
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
        self.shrinkage = shrinkage
        self.eta0 = eta0
        self.power_t = power_t

    @property
    def weights_(self) -> Array:
        """Current weights of the experts; a row for each of more than two classes."""
        return Hedge()._weights(self._fitted_state("weights_")["weights"])

    def _expert(self):
        loss, _ = self._objective()
        return OGDRegressor(self.shrinkage, loss=loss, eta0=self.eta0, power_t=self.power_t)

    def _start(self, n_features, n_targets=None):
        features, expert = self._bank, self._expert()
        maps = features.start(n_features, check_random_state(self.random_state))
        bank, shape = features.kernels, () if n_targets is None else (n_targets,)
        shape += (len(bank),)  # (K,), or (C, K) for C classes
        return {
            "t": 0,
            "features": maps,
            "experts": expert._start(features.n_features_out(maps), n_targets, bank=bank),
            "norms_sq": np.zeros(shape),  # of each expert's theta
            "expert_losses": np.zeros(shape),
            "weights": Hedge()._start(*shape),
        }

    def _learn(self, state, X, y):
        # Not the engine's: the weights need the norms of the coefficients beside the forecasts.
        features, expert, hedge = self._bank, self._expert(), Hedge()
        loss, bound = self._objective()
        loss = get_loss(loss)
        forecasts = np.empty(y.shape)
        for rows in gen_batches(len(y), _ROWS):
            Z = features.transform(state["features"], X[rows])  # (K, n, D)
            F = expert._learn(state["experts"], Z, y[rows])  # (K, n) or (K, n, C)
            F = np.ascontiguousarray(np.moveaxis(F, 0, -1))
            n, Y = len(F), y[rows][..., None]
            etas = step_sizes(self.eta0, self.power_t, state["t"], n)
            etas = etas.reshape(n, *(1,) * y.ndim)  # a step for all classes and experts
            norms_sq = self._track_norms(state, Z, F, etas * loss.slope(Y, F), etas)
            losses = loss.value(Y, F)
            state["expert_losses"] += losses.sum(axis=0)
            costs = etas * (losses / bound + self.shrinkage * norms_sq)  # eq. (9a)
            forecasts[rows] = hedge._learn(state["weights"], F, costs)
            state["t"] += n
        return forecasts

    def _track_norms(self, state, Z, F, steps, etas):
        """Return the squared norms, of the shape of F, of the coefficients before each of n steps.

        A step theta <- c theta - s z, where f = theta z, makes of the squared norm q
        c^2 q - 2 c s f + s^2 z z.
        """
        # paired features have norm one, unless the last cosine is missing
        unit = self.form == "paired" and Z.shape[-1] % 2 == 0
        lengths_sq = 1.0
        if not unit:
            lengths_sq = np.einsum("knd,knd->nk", Z, Z).reshape(*etas.shape[:-1], -1)
        kept = 1.0 - 2.0 * self.shrinkage * etas
        moves = steps * (steps * lengths_sq - 2.0 * kept * F)
        norms_sq = np.concatenate([state["norms_sq"][None], moves])
        for t, kept_sq in enumerate(np.square(kept.ravel()).tolist()):
            norms_sq[t + 1] += kept_sq * norms_sq[t]
        np.maximum(norms_sq, 0.0, out=norms_sq)  # rounding
        state["norms_sq"] = norms_sq[-1].copy()
        return norms_sq[:-1]

    def _forecast(self, state, X):
        return Hedge()._forecast(state["weights"], self._forecast_experts(state, X))

    def _forecast_experts(self, state, X):
        features, expert = self._bank, self._expert()
        F = np.empty((len(X), *state["norms_sq"].shape))
        for rows in gen_batches(len(X), _ROWS):
            Z = features.transform(state["features"], X[rows])
            F[rows] = np.moveaxis(expert._forecast(state["experts"], Z), 0, -1)
        return F


@inherit_documentation
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
    eta0 : float, default=0.1
        First step size, > 0, of :math:`\eta_t = \eta_0 / t^p`, for coefficients and weights. The
        papers' 0.1 is short for one pass over standardised rows: there 0.9 is far better.

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
    .. [1] Shen et al. 2019.
    .. [2] Ghari & Shen 2023, eq. (8), (9).

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

    _test_parameters = ({"eta0": 0.9},)

    _poor_score = True  # the default step is short for one pass over a few hundred rows

    def _objective(self):
        return "squared_error", 1.0


@inherit_documentation
class RakerClassifier(LossOfLabels, _Raker, OneAgainstRestClassifier):
    r"""Raker for classes: descent of a margin loss on random features for every kernel.

    As :class:`RakerRegressor`, for labels -1 and +1, :math:`f_{i,t} = \theta_{i,t}^T z_i(x_t)`; the
    decision value is the mean of the experts' with weights that their losses make [1]_:

    .. math:: \theta_{i,t+1} = \theta_{i,t} - \eta_t \nabla
              (\ell(f_{i,t}, y_t) + \lambda \|\theta_{i,t}\|^2) , \ w_{i,t+1} \propto w_{i,t}
              \exp(-\eta_t (\ell(f_{i,t}, y_t) / \ell_{max} + \lambda \|\theta_{i,t}\|^2)) .

    Each of C > 2 classes has coefficients and weights of its own, and is +1 against all others, -1;
    features are shared, and the label forecast is that of the largest decision value.

    Parameters
    ----------
    loss_bound : float, default=1.0
        :math:`\ell_{max}` > 0, what losses are divided by in the weights, in units of the loss.
        The theorem wants losses of at most 1; the logistic loss passes 1 only where a decision
        value is wrong by more than 0.54.
    eta0 : float, default=0.1
        First step size, > 0, of :math:`\eta_t = \eta_0 / t^p`, for coefficients and weights.
        Margin losses bear longer steps: [2]_ takes the best of 1, 5, 10, 25 over :math:`\sqrt T`.

    See Also
    --------
    RakerRegressor : The same for real targets and the square loss.
    RFOKSPlusPlusClassifier : One kernel per round, drawn at random.

    Notes
    -----
    *Cost.* O(K D) per round and class for K kernels with D features, and as much memory.

    *Theorem.* That of :class:`RakerRegressor`, for each class: the sum of the losses of C > 2 keeps
    C times the bound against rivals with a kernel a class; shared weights would, with one for all.

    *Departures.* [1]_ has two classes. The figures of Raker in [2]_ come from a program that
    divides the projections by one bandwidth after the other, each time what the last division left,
    so that its kernels are not the stated ones. Weights are kept as logarithms. The grid is for
    rows of norm at most one.

    References
    ----------
    .. [1] Shen et al. 2019.
    .. [2] Li & Liao 2022, section 6.2.

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
    """

    _test_parameters = ({"eta0": 5.0}, {"eta0": 2.0, "loss": "hinge", "form": "phase"})

    _parameter_constraints = {
        **_Raker._parameter_constraints,
        **LABEL_LOSSES,
        "loss_bound": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        loss: Any = "log_loss",
        loss_bound: float = 1.0,
        shrinkage: float = 1e-3,
        eta0: float = 0.1,
        power_t: float = 0.5,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernels,
            n_components=n_components,
            shrinkage=shrinkage,
            eta0=eta0,
            power_t=power_t,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
        )
        self.loss = loss
        self.loss_bound = loss_bound

    def _objective(self):
        return self.loss, self.loss_bound
