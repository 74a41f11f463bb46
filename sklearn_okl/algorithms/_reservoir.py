"""LKMBooks of J. Li, S. Liao, "Worst-case regret analysis ... online kernel selection" (2022).

All kernels of a dictionary share one small sample of the rows, and its coefficients; exponential
weights mix them. The authors compare their bandit algorithms to it.
"""

from __future__ import annotations

from math import log
from numbers import Integral, Real

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, Seed
from ..base import OnFourierFeatures, OnlineClassifier, OnlineRegressor
from ..base._convex import softmax
from ..base._loss import LABEL_LOSSES, TARGET_LOSSES, LossOfLabels, LossOfTargets, WithLoss
from ..base._random_rounds import RandomRounds
from ..feedback._bandits import stable_step
from ..kernels import shift_invariant_kernel
from ._selection_rules import HORIZON

_ROWS = 64  # rows that meet the reservoir at once
_FIRST_HORIZON = 64  # of the doubling trick


class _LKMBooks(WithLoss, RandomRounds):
    r"""What regressor and classifier share beside a shell.

    A function per kernel, :math:`f_i = \sum_s a_s k_i(x_s, .)`, all with the same rows and
    coefficients, and exponential weights that mix them.

    Parameters
    ----------
    budget : int, default=200
        B, the most rows that are kept.
    horizon : int, default=None
        T, the number of rounds that the rates are made for. None guesses it by the doubling trick:
        64 rounds to begin with, and after 64, 128, 256, ... rounds the rates of as many rounds as
        were seen, see Notes.
    decay : float, default=0.25
        :math:`\nu` in [0, 1): 0 samples all rows alike, larger values the early ones more.
    step_scale : float, default=1.0
        c in the step size :math:`\lambda`, > 0: the norm of the functions that it is made for.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Weights of the kernels, from the simplex.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `weights_`.
    X_fit_ : ndarray of shape (n_kept, n_features)
        The rows kept, at most `budget`.
    dual_coef_ : ndarray of shape (n_kept,)
        Their coefficients, the same for all kernels.

    References
    ----------
    .. [1] J. Li, S. Liao, "Worst-case regret analysis of computationally budgeted online kernel
       selection", Machine Learning 111, 2022, the algorithm LKMBooks.
    .. [2] Li & Liao 2022, section 6.2.
    """

    _shared_test_parameters = {
        "kernels": OnFourierFeatures._shared_test_parameters["kernels"],
        "random_state": 0,
    }

    _parameter_constraints = {
        **RandomRounds._parameter_constraints,
        **HORIZON,
        "budget": [Interval(Integral, 1, None, closed="left")],
        "decay": [Interval(Real, 0, 1, closed="left")],
        "step_scale": [Interval(Real, 0, None, closed="neither")],
    }
    _structural = ("budget", "horizon", "decay", "step_scale")

    def __init__(
        self,
        kernels: Any,
        budget: int,
        loss: Any,
        horizon: int,
        decay: float,
        step_scale: float,
        random_state: Seed,
    ) -> None:
        self.kernels = kernels
        self.budget = budget
        self.loss = loss
        self.horizon = horizon
        self.decay = decay
        self.step_scale = step_scale
        self.random_state = random_state

    @property
    def weights_(self) -> Array:
        """Weights of the kernels, from the simplex, of shape (n_kernels,)."""
        return softmax(self._fitted_state("weights_")["log_weights"])

    @property
    def X_fit_(self) -> Array:
        """Rows in the reservoir, of shape (n_kept, n_features)."""
        state = self._fitted_state("X_fit_")
        return state["rows"][: state["n_kept"]].copy()

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of the rows in the reservoir, of shape (n_kept,)."""
        state = self._fitted_state("dual_coef_")
        return state["coef"][: state["n_kept"]].copy()

    def _made(self, X):
        """Return each kernel and its gamma for rows such as those of X."""
        points, default = self._kernel_list(), 1.0 / X.shape[1]
        kinds = {kind: shift_invariant_kernel(kind) for kind in {p["kernel"] for p in points}}
        return [
            (kinds[point["kernel"]], default if point["gamma"] is None else point["gamma"])
            for point in points
        ]

    def _validate(self):
        super()._validate()
        if self.horizon is None:
            stable_step(self._loss())

    def _start_functions(self, n_features, source):
        return {
            "log_weights": np.zeros(len(self._kernel_list())),
            "spread": 0.0,  # the largest max f - min f of a round
            "rows": np.zeros((self.budget, n_features)),
            "coef": np.zeros(self.budget),
            "n_kept": 0,
            "n_entered": 0,  # since the stretch began
        }

    def _learn(self, state, X, y):
        kernels, loss = self._made(X), self._loss()
        n = len(y)
        lengths, rounds = _stretches(state["t"], n, self.horizon)
        places = np.minimum(self.budget, lengths)
        chances = entry_chances(rounds, lengths, places, self.decay)
        steps = np.sqrt((1 + self.decay) * places / (1 - self.decay)) / lengths
        steps *= self.step_scale / chances  # lambda / p
        if self.horizon is None:
            np.minimum(steps, stable_step(loss), out=steps)
        etas = np.sqrt(8 * log(len(kernels)) / lengths)
        enters = state["rng"].random_sample(n) < chances
        forecasts = np.empty(n)
        low = 0
        while low < n:
            # A block ends with a row that may enter, and with a stretch.
            high = min(n, low + _ROWS)
            if self.horizon is None:
                high = min(high, low + 1 + int(lengths[low] - rounds[low]))
            has_room = state["n_entered"] < places[low]
            if has_room and enters[low:high].any():
                high = low + int(enters[low:high].argmax()) + 1
            block, kept = slice(low, high), state["n_kept"]
            F = _values(kernels, X[block], state["rows"][:kept], state["coef"][:kept])
            slope = self._learn_weights(state, F, y[block], etas[block], loss, forecasts[block])
            last = high - 1
            if has_room and enters[last] and slope != 0.0:
                place = state["n_entered"]
                state["rows"][place] = X[last]
                state["coef"][place] = -steps[last] * slope
                state["n_entered"] = place + 1
                state["n_kept"] = max(kept, place + 1)
            if self.horizon is None and rounds[last] == lengths[last]:  # a new stretch begins
                state["log_weights"][:] = 0.0
                state["n_entered"] = 0
            low = high
        state["t"] += n
        return forecasts

    def _learn_weights(self, state, F, y, etas, loss, out):
        """Mix forecasts F (n, K) into `out`, round by round; return the last slope."""
        least = F.min(axis=1)
        spreads = F.max(axis=1) - least
        spreads[0] = max(spreads[0], state["spread"])
        spreads = np.maximum.accumulate(spreads)
        log_weights, slope = state["log_weights"], 0.0
        # Costs shifted by the same for all kernels make the same weights: f - min f serves both
        # signs of the slope.
        rates = np.divide(etas, spreads, out=np.zeros_like(etas), where=spreads > 0)
        costs = rates[:, None] * (F - least[:, None])
        for t, target in enumerate(y.tolist()):
            forecast = out[t] = float(softmax(log_weights) @ F[t])
            slope = float(loss.slope(target, forecast))
            log_weights -= slope * costs[t]
        state["spread"] = float(spreads[-1])
        return slope

    def _forecast(self, state, X):
        kernels, kept = self._made(X), state["n_kept"]
        rows, coef = state["rows"][:kept], state["coef"][:kept]
        weights = softmax(state["log_weights"])
        forecasts = np.empty(len(X))
        for block in gen_batches(len(X), _ROWS):
            forecasts[block] = _values(kernels, X[block], rows, coef) @ weights
        return forecasts


def entry_chances(rounds, lengths, places, decay):
    r"""Return the probabilities with which rows enter the reservoir.

    :math:`\min\{1, B / ((1 - \nu) T^{1 - \nu} \tau^\nu)\}` for row :math:`\tau` of T; arrays or
    numbers `rounds` :math:`\tau`, `lengths` T, `places` B, and `decay` :math:`\nu`.
    """
    return np.minimum(places / ((1 - decay) * lengths ** (1 - decay) * rounds**decay), 1.0)


def _stretches(t, n, horizon):
    """Return, of the n rounds after t, the lengths T of their stretches and their numbers there.

    Without a horizon stretches begin after 0, 64, 128, 256, ... rounds, and end where the next
    begins.
    """
    rounds = np.arange(t + 1.0, t + n + 1)
    if horizon is not None:
        return np.full(n, float(horizon)), rounds
    lengths = np.maximum(2.0 ** np.floor(np.log2(np.maximum(rounds - 1, 1))), _FIRST_HORIZON)
    return lengths, np.where(rounds > _FIRST_HORIZON, rounds - lengths, rounds)


def _values(kernels, X, rows, coef):
    """Return the function of each (kernel, gamma) at the rows of X, of shape (n, K)."""
    F, distances = np.zeros((len(X), len(kernels))), {}
    if len(rows) == 0:
        return F
    for i, (kernel, gamma) in enumerate(kernels):
        metric = kernel.metric
        if metric is None:
            F[:, i] = kernel.with_gamma(gamma)(X, rows) @ coef
            continue
        if metric not in distances:
            distances[metric] = cdist(X, rows, metric)
        F[:, i] = kernel.values_at(distances[metric], gamma) @ coef
    return F


@inherit_documentation
class LKMBooksRegressor(LossOfTargets, _LKMBooks, OnlineRegressor):
    r"""LKMBooks: kernels that share one small sample of the rows, mixed by exponential weights.

    Kernel i of a dictionary forecasts :math:`f_i(x) = \sum_s a_s k_i(x_s, x)`, and their mean
    :math:`\hat y = \sum_i w_i f_i(x)` is the forecast. With the slope g of the loss there,
    row :math:`\tau` of T enters the sample with probability :math:`p_\tau`, and every row moves
    the weights [1]_:

    .. math:: a_\tau = - \frac{\lambda g}{p_\tau} , \qquad
              p_\tau = \frac{B}{(1 - \nu) T^{1 - \nu} \tau^\nu} , \qquad
              w_i \leftarrow \frac{1}{Z} w_i \exp \left( - \sqrt{\frac{8 \ln K}{T}} \,
              \frac{g \, f_i(x_\tau)}{s_\tau} \right) ,

    :math:`s_\tau` the largest :math:`\max_i f_i - \min_i f_i` seen.

    See Also
    --------
    LKMBooksClassifier : The same for labels.
    RFOKSPlusPlusRegressor : One kernel per round, on random features.
    RakerRegressor : All kernels per round, on random features.

    Notes
    -----
    *Cost.* O((d + K) B) per round for d features and K kernels, and O(d B) memory, whatever the
    round. Which rows may enter is drawn before they are seen, so that all rows up to the next one
    meet the sample together.

    *Rates.* :math:`\lambda = c \sqrt{(1 + \nu) B} / (\sqrt{1 - \nu} \, T)`, which balances the
    two terms of the regret of descent with steps :math:`\lambda g / p_\tau`,
    :math:`\|f\|^2 / (2 \lambda) + \frac{\lambda}{2} \sum_\tau g_\tau^2 / p_\tau`, for
    :math:`\|f\| = c` and abs(g) at most 1. With fewer rounds than places B is T.

    *Theorem.* For convex losses with bounded slopes and any f of the RKHS of any kernel, the
    expected regret is :math:`O(\sqrt{T \ln K} + \|f\|^2 \max\{\sqrt T, T / \sqrt B\})` ([1]_, as
    Table 1 of [2]_ quotes it), as long as no row is turned away.

    *The sample fills up.* The probabilities add up to about :math:`B / (1 - \nu)^2`, 1.8 B by
    default: the places are taken after some :math:`(1 - \nu)^{2 / (1 - \nu)} T` rounds, 0.46 T,
    and later rows only move the weights, as in the published program.

    *Horizon.* Without one, a stretch of as many rounds as were seen before begins after 64, 128,
    256, ... rounds: weights start equal, and the places are given anew, the oldest first. A row of
    the stretch before stays until its place is taken. With a smooth loss, whose slope has the
    Lipschitz constant :math:`\beta`, no step :math:`\lambda / p` of a guessed T exceeds
    :math:`1 / \beta`; a given `horizon` is taken at its word.

    *Departures.* The weights of a round use the largest spread up to and with this round's; the
    published program takes 1 where that is larger, and leaves this round's out. A row where the
    slope is 0 needs no place and takes none. Weights are kept as logarithms.

    Examples
    --------
    >>> from sklearn_okl import LKMBooksRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = LKMBooksRegressor(budget=50, horizon=500, random_state=0)
    >>> forecasts = model.prequential_predict(X / 4, y / 4)  # each made before its target
    >>> model.X_fit_.shape
    (50, 4)
    """

    _test_parameters = ({"budget": 30}, {"budget": 20, "horizon": 200})

    _parameter_constraints = {
        **_LKMBooks._parameter_constraints,
        **TARGET_LOSSES,
    }

    def __init__(
        self,
        kernels: Any = None,
        *,
        budget: int = 200,
        loss: Any = "squared_error",
        quantile: float = 0.5,
        horizon: int | None = None,
        decay: float = 0.25,
        step_scale: float = 1.0,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernels, budget, loss, horizon, decay, step_scale, random_state)
        self.quantile = quantile


@inherit_documentation
@explained_by(LKMBooksRegressor)
class LKMBooksClassifier(LossOfLabels, _LKMBooks, OnlineClassifier):
    r"""LKMBooks for two classes: kernels that share one small sample of the rows, mixed.

    Kernel i of a dictionary forecasts :math:`f_i(x) = \sum_s a_s k_i(x_s, x)`, and their mean, by
    weights that follow their losses, is the decision value. Some rows enter the sample, and every
    row moves the weights, both by the slope of the loss and the formulas of
    :class:`LKMBooksRegressor` [1]_.

    Parameters
    ----------
    step_scale : float, default=15.0
        c in the step size :math:`\lambda`, > 0: the norm of the functions that it is made for. 15
        is the radius that [2]_ gives the logistic loss; the rule of [1]_ has 1, which is far from
        the published figures for this loss.

    See Also
    --------
    LKMBooksRegressor : The same for real targets, with the formulas.
    RFOKSPlusPlusClassifier : One kernel per round, on random features.
    RakerClassifier : All kernels per round, on random features.

    Notes
    -----
    *Cost.*

    *Theorem.*

    *All else.* Rates, horizon, departures and how the sample fills up are those of
    :class:`LKMBooksRegressor`: the places are taken after 0.46 T rounds by default; without a
    horizon they are given anew after 64, 128, 256, ... rounds, and no step exceeds the inverse of
    the Lipschitz constant of the slope; weights are kept as logarithms.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn_okl import LKMBooksClassifier
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> model = LKMBooksClassifier(budget=50, horizon=500, random_state=0)
    >>> labels = model.prequential_predict(X, y)  # each before its own was seen
    >>> model.X_fit_.shape, model.predict_proba(X[:3]).shape
    ((50, 2), (3, 2))
    """

    _test_parameters = ({"budget": 30}, {"budget": 20, "horizon": 200})

    _parameter_constraints = {
        **_LKMBooks._parameter_constraints,
        **LABEL_LOSSES,
    }

    def __init__(
        self,
        kernels: Any = None,
        *,
        budget: int = 200,
        loss: Any = "log_loss",
        horizon: int | None = None,
        decay: float = 0.25,
        step_scale: float = 15.0,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernels, budget, loss, horizon, decay, step_scale, random_state)
