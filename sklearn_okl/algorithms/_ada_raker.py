"""Y. Shen, T. Chen, G. B. Giannakis, "Random feature-based online multi-kernel learning".

AdaRaker (2019), section 4: a Raker on every interval, for environments with unknown dynamics.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions

from .._documentation import explained_by, inherit_documentation
from .._linalg import softmax
from .._types import Any, Array, Seed
from ..base import OneAgainstRestClassifier, OnFourierFeatures, OnlineRegressor
from ..base._loss import LABEL_LOSSES, LossOfLabels
from ..losses import get_loss
from ._random_features import RakerClassifier, RakerRegressor

_ROWS = 32  # rows whose random features are held at once


@explained_by(RakerRegressor)
class _AdaRaker(OnFourierFeatures):
    r"""What both forms share, beside a shell: Rakers by the length of their intervals.

    `_objective` is that of Raker.

    Parameters
    ----------
    eta0 : float, default=0.35
        > 0; a Raker on an interval of :math:`2^j` rounds has the constant step
        :math:`\eta_j = \min(1/2, \eta_0 / 2^{j/2})`, for coefficients and weights. The default is
        what the steps of the published program come to on features of norm 1.
    restart : {"last", "zero"}, default="last"
        From what a Raker begins. "last": the coefficients and weights of kernels that the last
        Raker on an interval of its length ended with (of half of it, where there was none), the
        weights mixed with 1/t of equal ones. "zero": coefficients of 0 and equal weights.

    Attributes
    ----------
    weights_ : ndarray of shape (n_intervals,) or (n_classes, n_intervals)
        Weights of the Rakers for the next round, that of the shortest interval first; a row for
        each of more than two classes.

    References
    ----------
    .. [1] Shen et al. 2019, section 4.
    """

    _parameter_constraints = {
        **OnFourierFeatures._parameter_constraints,
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "shrinkage": [Interval(Real, 0, None, closed="left")],
        "restart": [StrOptions({"last", "zero"})],
    }
    _structural = ("eta0", "restart")
    _has_nameless_weights = True  # of copies on intervals
    _poor_score = True  # a Raker of 100 rows is a beginner, and none of 200 rows is older

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        shrinkage: float = 1e-3,
        eta0: float = 0.35,
        restart: str = "last",
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
        self.restart = restart

    @property
    def weights_(self) -> Array:
        """Weights of the Rakers for the next round, that of the shortest interval first."""
        state = self._fitted_state("weights_")
        weights = softmax(state["log_h"].T)  # (q, J)
        return weights if len(weights) > 1 else weights[0]

    def _start(self, n_features, n_targets=None):
        maps = self._bank.start(n_features, check_random_state(self.random_state))
        K, D, q = len(self._bank.kernels), self._bank.n_features_out(maps), n_targets or 1
        return {
            "t": 0,
            "features": maps,
            # of the Rakers on intervals of 1, 2, 4, ... rounds, for each class
            "theta": np.zeros((0, q, K, D)),
            "log_w": np.zeros((0, q, K)),  # of kernels
            "log_h": np.zeros((0, q)),  # of Rakers
        }

    def _begin(self, state):
        """Let the Rakers begin whose intervals do with the next round."""
        t = state["t"] + 1
        n = (t & -t).bit_length()
        J = max(n, len(state["theta"]))
        is_longer = self.restart == "last" and 0 < len(state["theta"]) < J
        for name in ("theta", "log_w", "log_h"):
            old = state[name]
            new = [old[-1:]] if is_longer else np.zeros((1, J - len(old), *old.shape[1:]))
            state[name] = np.concatenate([old, *new])
        if self.restart == "last":
            weights = softmax(state["log_w"][:n])
            K = weights.shape[-1]
            state["log_w"][:n] = np.log((1.0 - 1.0 / t) * weights + 1.0 / (t * K))
        else:
            state["theta"][:n] = 0.0
            state["log_w"][:n] = 0.0
        state["log_h"][:n] = np.log(self._steps(n))[:, None]

    def _steps(self, n):
        return np.minimum(0.5, self.eta0 / 2 ** (np.arange(n) / 2))

    def _learn(self, state, X, y):
        if state["t"] == 0:
            self._begin(state)
        loss, bound = self._objective()
        loss, Y = get_loss(loss), y.reshape(len(y), -1)
        forecasts = np.empty(Y.shape)
        for rows in gen_batches(len(y), _ROWS):
            Z = self._bank.transform(state["features"], X[rows])  # (K, n, D)
            for i, target in enumerate(Y[rows]):
                forecasts[rows.start + i] = self._learn_row(state, Z[:, i], target, loss, bound)
                state["t"] += 1
                self._begin(state)
        return forecasts.reshape(y.shape)

    def _learn_row(self, state, z, y, loss, bound):
        """Learn one row of features z (K, D) with targets y (q,); return the forecasts (q,)."""
        theta = state["theta"]
        F, rakers, forecast = _mixed(state, z[:, None])
        F, rakers, forecast = F[..., 0], rakers[..., 0], forecast[..., 0]
        etas = self._steps(len(theta))
        norms_sq = np.square(theta).sum(axis=-1)
        costs = loss.value(y[:, None], F) / bound + self.shrinkage * norms_sq
        state["log_w"] -= etas[:, None, None] * costs
        regrets = (loss.value(y, forecast) - loss.value(y, rakers)) / bound
        state["log_h"] += etas[:, None] * regrets
        theta *= 1.0 - 2.0 * self.shrinkage * etas[:, None, None, None]
        theta -= (etas[:, None, None] * loss.slope(y[:, None], F))[..., None] * z
        return forecast

    def _forecast(self, state, X):
        q = state["theta"].shape[1]
        forecasts = np.empty((len(X), q))
        for rows in gen_batches(len(X), _ROWS):
            Z = self._bank.transform(state["features"], X[rows])
            forecasts[rows] = _mixed(state, Z)[-1].T
        return forecasts if q > 1 else forecasts[:, 0]


def _mixed(state, Z):
    """Return forecasts for rows Z (K, n, D): of kernels (J, q, K, n), Rakers (J, q, n), all (q, n).

    J are the Rakers awake, q the classes.
    """
    F = np.einsum("jqkd,knd->jqkn", state["theta"], Z)
    rakers = np.einsum("jqk,jqkn->jqn", softmax(state["log_w"]), F)
    return F, rakers, np.einsum("qj,jqn->qn", softmax(state["log_h"].T), rakers)


@inherit_documentation
class AdaRakerRegressor(_AdaRaker, OnlineRegressor):
    r"""AdaRaker: a Raker begun anew on every interval of 1, 2, 4, ... rounds, and their mixture.

    With each round t begin Rakers on the intervals :math:`I = [t, t + 2^j)` for which :math:`2^j`
    divides t, with the constant step :math:`\eta_I`; all see the same random features. Those awake
    are mixed by

    .. math:: h_{I,t+1} = h_{I,t} \exp\bigl( \eta_I (\ell(\hat y_t, y_t) - \ell(\hat y_{I,t}, y_t))
              \bigr), \qquad h_{I,\cdot} = \eta_I \text{ at first,} \qquad
              \hat y_t = \sum_I h_{I,t} \hat y_{I,t} / \sum_I h_{I,t} .

    See Also
    --------
    RakerRegressor : One of them, with steps that decay.
    StronglyAdaptiveRegressor : Any learner on such intervals, with a bound for the square loss.

    Notes
    -----
    *Cost.* :math:`O(K D \log t)` in round t, row by row: at most :math:`\log_2 t + 1` Rakers.

    *Theorem.* For losses that are convex, Lipschitz and at most 1, on every interval I the regret
    against any function of the random features of one of the kernels is :math:`O(\sqrt{|I|} \ln
    T)` (Theorem 3 of [1]_); with m switches that makes :math:`O(\sqrt{m T} \ln T)`. With
    `restart="last"` the distance from where the Raker begins is in the place of the comparator's
    norm, and :math:`\ln (K t)` in that of :math:`\ln K`. The parts add up to what
    `tests/oracles/first_order.py` has as a bound; it is proved with :math:`1 + \eta_I r` for
    :math:`e^{\eta_I r}` in the weights, and held on random, drifting and greedy streams.

    *Inputs* are to be as for :class:`RakerRegressor`.

    *In practice.* Begun from nothing, as in the algorithm of [1]_, it is far behind
    :class:`RakerRegressor`: those on short intervals, who know nothing, have the largest weights.
    Their program begins none anew, and so does `restart="last"`: Raker's loss at its default step
    is then 2 to 9 times as large on drifting streams and Tom's Hardware. At its best step Raker
    can be ahead by a tenth where little changes, as its steps decay.

    *Departures.* Weights are kept as logarithms. `restart="last"` is the program's, but for the
    1/t of equal weights, which the bound needs; the program mixes by other weights than [1]_.

    Examples
    --------
    >>> from sklearn_okl import AdaRakerRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> grid = {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]}
    >>> model = AdaRakerRegressor(grid, n_components=20, random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> len(model.weights_)
    9
    >>> round(float(((y - forecasts) ** 2).mean() / y.var()), 2)
    0.91
    """

    def _objective(self):
        return "squared_error", 1.0


@inherit_documentation
@explained_by(AdaRakerRegressor, RakerClassifier)
class AdaRakerClassifier(LossOfLabels, _AdaRaker, OneAgainstRestClassifier):
    r"""AdaRaker for classes: a Raker begun anew on every interval, by a margin loss.

    As :class:`AdaRakerRegressor`, for labels -1 and +1; losses are divided by `loss_bound` in the
    weights of kernels and of Rakers. Each of C > 2 classes has Rakers and weights of its own, and
    is +1 against all others, -1; features are shared.

    See Also
    --------
    RakerClassifier : One of them, with steps that decay.
    AdaRakerRegressor : The same for real targets and the square loss.

    Notes
    -----
    *Cost.* :math:`O(C K D \log t)` in round t for C classes, row by row; two count as one.

    *Theorem.* That of :class:`AdaRakerRegressor`, for each class.

    *Departures.* [1]_ has two classes. Weights are kept as logarithms.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn_okl import AdaRakerClassifier
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> y[250:] = 1 - y[250:]  # the moons change places
    >>> grid = {"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0]}
    >>> model = AdaRakerClassifier(grid, eta0=4.0, random_state=0)
    >>> labels = model.prequential_predict(X, y)  # each before its own was seen
    >>> bool((labels == y)[-150:].mean() > 0.8)
    True
    """

    _test_parameters = (
        {"eta0": 6.0, "loss": "squared_hinge"},
        {"eta0": 6.0, "loss": "squared_hinge", "form": "phase"},
    )

    _parameter_constraints = {
        **_AdaRaker._parameter_constraints,
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
        eta0: float = 0.35,
        restart: str = "last",
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
            restart=restart,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
        )
        self.loss = loss
        self.loss_bound = loss_bound

    def _objective(self):
        return self.loss, self.loss_bound
