r"""J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit Feedback".

OKS, OKS++ and IOKS (ECML-PKDD 2022, Algorithms 1 and 2), exact: a round draws one kernel of a
dictionary at random, forecasts with its function and teaches this alone, at the cost of one kernel.
"""

from __future__ import annotations

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Seed
from ..base import KernelSelector, OnFourierFeatures, OnlineClassifier, OnlineRegressor
from ..base._loss import LABEL_LOSSES, TARGET_LOSSES, LossOfLabels, LossOfTargets
from ..base._selector import BanditRounds
from ._selection_rules import (
    IOKSRule,
    OKSPlusPlusRule,
    OKSRule,
    SmoothLossOfLabels,
    SmoothLossOfTargets,
)

_KERNELS = BanditRounds._parameter_constraints
_TEST_GRID = OnFourierFeatures._shared_test_parameters["kernels"]


@inherit_documentation
class OKSRegressor(LossOfTargets, OKSRule, KernelSelector, OnlineRegressor):
    r"""OKS: online kernel selection by exponential weights under bandit feedback.

    Each kernel of a dictionary has a function of its RKHS. A round draws one of them by :math:`p =
    (1 - \delta) q + \delta / K`, forecasts with it, and steps it against its gradient divided by p,
    while q, a softmax, learns its loss divided by p (Algorithm 1 of [1]_, after [2]_):

    .. math:: f_i \leftarrow f_i - \frac{\lambda}{p_i} \ell'(f_i(x_t), y_t) k_i(x_t, \cdot) , \qquad
              \ln q_i \leftarrow \ln q_i - \frac{\eta}{p_i} \ell(f_i(x_t), y_t) + const .

    See Also
    --------
    OKSClassifier : The same for labels.
    OKSPlusPlusRegressor : Rates from the losses seen: no horizon, and better where it applies.
    IOKSRegressor : A law whose regret grows with the root of T.

    Notes
    -----
    *Cost.*

    *Rates.* Remark 1 of [1]_: :math:`\delta = \min\{(K / T)^{1/3}, 1/2\}`, :math:`\lambda = c
    \sqrt{\delta / (K T)}` and :math:`\eta = \sqrt{2 (1 - \delta) \ln K / (K T)}`. Targets are meant
    to be in [0, 1] or [-1, 1].

    *Theorem.* Theorem 2.1 of [1]_ as Remark 1 corrects it: for losses in [0, :math:`\ell_{max}`]
    and gradients of norm at most G, the expected loss of the forecasts exceeds that of any f in the
    RKHS of any kernel by at most

    .. math:: \delta T \ell_{max} + \frac{\|f\|^2}{2 \lambda} + \frac{\lambda K T G^2}{2 \delta}
              + \frac{\eta K T \ell_{max}^2}{2 (1 - \delta)} + \frac{\ln K}{\eta} ,

    which is :math:`O((\|f\|^2 + 1) K^{1/3} T^{2/3})`. The step sizes take :math:`\ell_{max} = G =
    1`, as the experiments do.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, and the sum
    of the stretches' bounds is of the same order. A fresh start forgets the weights, not the
    functions: what they know of the data does not depend on a guess of T, and to learn it again
    would cost more than the rates. Their distance from the best function then takes the place of
    its norm in the bound.

    *Long steps.* With a smooth loss the step size is held to :math:`\delta / (K \beta)`,
    :math:`\beta` the Lipschitz constant of the slope (2 for the square loss), so that no step
    overshoots: up to some thousand rounds the square loss would diverge at c = 10. Only a
    `step_scale` and a `horizon` that are both given are taken at their word.

    *Departures.* :math:`\delta` is bounded by 1/2, T from below by 40. Weights are kept as
    logarithms. The kernel of a round is drawn at the end of the round before, by one random number
    per row, so that :meth:`predict` is what will be forecast.

    Examples
    --------
    >>> from sklearn_okl import OKSRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = OKSRegressor(random_state=0)
    >>> forecasts = model.prequential_predict(X / 4, y / 4)  # each made before its target
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 500)
    """

    _test_parameters = ({}, {"kernels": _TEST_GRID, "horizon": 500, "loss": "absolute_error"})

    _parameter_constraints = {**_KERNELS, **TARGET_LOSSES, **OKSRule._parameter_constraints}

    def __init__(
        self,
        kernels: Any = None,
        *,
        loss: Any = "squared_error",
        quantile: float = 0.5,
        horizon: int | None = None,
        step_scale: float | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernels, loss=loss, random_state=random_state)
        self.quantile = quantile
        self.horizon = horizon
        self.step_scale = step_scale


@inherit_documentation
@explained_by(OKSRegressor)
class OKSClassifier(LossOfLabels, OKSRule, KernelSelector, OnlineClassifier):
    r"""OKS for two classes: kernel selection by exponential weights under bandit feedback.

    Each kernel of a dictionary has a function of its RKHS, whose sign is a label. A round draws one
    of them, labels with it and steps it against its gradient divided by the probability of the
    draw; exponential weights learn its loss, divided likewise (Algorithm 1 of [1]_, after [2]_).

    See Also
    --------
    OKSRegressor : The same for real targets, with the formulas.
    OKSPlusPlusClassifier : Rates from the losses seen: no horizon, and better where it applies.
    IOKSClassifier : A law whose regret grows with the root of T.

    Notes
    -----
    *Cost.*

    *Rates.* Those of :class:`OKSRegressor`, from Remark 1 of [1]_.

    *Theorem.* Theorem 2.1 of [1]_ as Remark 1 corrects it, in the notes of :class:`OKSRegressor`:
    against any f in the RKHS of any kernel the expected regret is :math:`O((\|f\|^2 + 1) K^{1/3}
    T^{2/3})`, for losses and gradients up to 1, which the step sizes take for granted as the
    experiments do.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, which forget
    the weights, not the functions, and the sum of the stretches' bounds is of the same order.

    *Long steps.* Those of smooth losses are held to :math:`\delta / (K \beta)`, :math:`\beta` the
    Lipschitz constant of the slope (2 for the squared hinge, 1/4 for the logistic loss), so that
    none overshoots, unless `step_scale` and `horizon` are both given.

    *Departures.*

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_okl import OKSClassifier
    >>> X, y = make_classification(400, 5, random_state=0)
    >>> model = OKSClassifier(random_state=0)
    >>> labels = model.prequential_predict(X, y, classes=[0, 1])  # each before its own was seen
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 400)
    >>> bool((labels == y).mean() > 0.6)
    True
    """

    _test_parameters = ({}, {"kernels": _TEST_GRID, "horizon": 200, "loss": "hinge"})

    _parameter_constraints = {**_KERNELS, **LABEL_LOSSES, **OKSRule._parameter_constraints}

    def __init__(
        self,
        kernels: Any = None,
        *,
        loss: Any = "log_loss",
        horizon: int | None = None,
        step_scale: float | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernels, loss=loss, random_state=random_state)
        self.horizon = horizon
        self.step_scale = step_scale


@inherit_documentation
@explained_by(OKSRegressor)
class OKSPlusPlusRegressor(SmoothLossOfTargets, OKSPlusPlusRule, KernelSelector, OnlineRegressor):
    r"""OKS++: online kernel selection under bandit feedback, all rates from the losses seen.

    Each kernel of a dictionary has a function in a ball of its RKHS. A round draws one of them by
    :math:`p_t = (1 - \delta_t) q_t + \delta_t / K`, forecasts with it and steps it, by eq. (2) of
    [1]_, against its gradient divided by p; exponential weights q learn its loss, divided by p too.

    Parameters
    ----------
    radius : float, default=1.0
        U, radius of the ball of its RKHS that each kernel's function is projected onto after a
        step, as in the experiments, where targets are in [0, 1] or the loss is the logistic one. It
        scales the steps too.

    See Also
    --------
    OKSPlusPlusClassifier : The same for labels.
    OKSRegressor : Fixed rates, no ball, any loss.
    IOKSRegressor : A law for losses that are not smooth.

    Notes
    -----
    *Cost.*

    *Rates.* With :math:`\tilde C_t` the sum of all losses seen, each divided by the probability of
    its draw, :math:`\Delta_{t,i}` the part of kernel i, both with this round's, and
    :math:`B = C_0^{1/3} (U K)^{2/3}`:

    .. math:: \delta_t = \frac{B}{2 \max\{B, 2 \tilde C_t^{1/3}\}} , \quad
              \eta_t = \sqrt{\frac{2 \ln K}{1 + \sum q_{\tau,i} \tilde c_{\tau,i}^2}} , \quad
              \lambda_{t,i} = \frac{\sqrt{3/4} \, U^{4/3}}{K^{1/6} C_0^{1/3}
              \max\{B^3, 8 \tilde C_t\}^{1/6} \sqrt{1 + \Delta_{t,i}}} .

    q is the softmax of :math:`-\eta_t \Delta_t`: the current rate times all losses. :math:`C_0` is
    4.

    *Theorem.* Theorem 3.1 of [1]_: for a loss with :math:`|\ell'|^\nu \le C_0 \ell`, the expected
    regret against the best function in any kernel's ball is

    .. math:: O(U^{2/3} C_0^{1/3} (K^{-1/3} \bar L^{2/3} + K^{1/6} \bar L^{1/6} L_i^{1/2})) ,

    :math:`L_i` the loss of kernel i's best function and :math:`\bar L` the sum over all kernels:
    small where most kernels suit the data. There is no horizon to be known.

    *Departures.* The theorem's G is 1, as it says for the square loss. The proof treats q as
    updated by the current rate times the current loss, which is Algorithm 3's q only for constant
    rates; Algorithm 3 is what runs here and in the published code. The kernel of a round is drawn
    at the end of the round before, by one random number per row, so that :meth:`predict` is what
    will be forecast.

    Examples
    --------
    >>> from sklearn_okl import OKSPlusPlusRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = OKSPlusPlusRegressor(random_state=0)
    >>> forecasts = model.prequential_predict(X / 4, y / 4)  # each made before its target
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 500)
    """

    _test_parameters = ({}, {"kernels": _TEST_GRID, "radius": 20.0})

    _parameter_constraints = {
        **_KERNELS,
        **SmoothLossOfTargets._parameter_constraints,
        **OKSPlusPlusRule._parameter_constraints,
    }

    def __init__(
        self,
        kernels: Any = None,
        *,
        loss: Any = "squared_error",
        radius: float = 1.0,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernels, loss=loss, radius=radius, random_state=random_state)


@inherit_documentation
@explained_by(OKSPlusPlusRegressor, OKSClassifier)
class OKSPlusPlusClassifier(SmoothLossOfLabels, OKSPlusPlusRule, KernelSelector, OnlineClassifier):
    r"""OKS++ for two classes: kernel selection under bandit feedback, rates from the losses seen.

    Each kernel of a dictionary has a function in a ball of its RKHS, whose sign is a label. A round
    draws one of them, labels with it and steps it, by eq. (2) of [1]_, against its gradient divided
    by the probability of the draw; exponential weights learn its loss, divided likewise.

    Parameters
    ----------
    radius : float, default=15.0

    See Also
    --------
    OKSPlusPlusRegressor : The same for real targets, with the formulas.
    OKSClassifier : Fixed rates, no ball, any loss.
    IOKSClassifier : A law for losses that are not smooth.

    Notes
    -----
    *Cost.*

    *Rates.* Those of :class:`OKSPlusPlusRegressor`, with :math:`C_0 = 1` for the logistic loss and
    4 for the squared hinge.

    *Theorem.* Theorem 3.1 of [1]_, as for :class:`OKSPlusPlusRegressor`: with :math:`L_i` the loss
    of the best function in kernel i's ball and :math:`\bar L` the sum over all kernels, the
    expected regret is

    .. math:: O(U^{2/3} C_0^{1/3} (K^{-1/3} \bar L^{2/3} + K^{1/6} \bar L^{1/6} L_i^{1/2})) .

    *Departures.* The theorem's G is 1, as in the experiments. The proof treats q as updated
    by the current rate times the current loss, which is Algorithm 3's q only for constant rates;
    Algorithm 3 is what runs here and in the published code. The published program for the
    logistic loss has other rates: it overwrites B by :math:`e^{-y f}` in every round, which makes
    :math:`\delta_t` many times smaller and :math:`\lambda` longer at first. Its figures are those
    of that rule. The kernel of a round is drawn at the end of the round before, by one random
    number per row, so that :meth:`predict` is what will be forecast.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_okl import OKSPlusPlusClassifier
    >>> X, y = make_classification(400, 5, random_state=0)
    >>> model = OKSPlusPlusClassifier(random_state=0)
    >>> labels = model.prequential_predict(X, y, classes=[0, 1])  # each before its own was seen
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 400)
    >>> bool((labels == y).mean() > 0.6)
    True
    """

    _test_parameters = ({}, {"kernels": _TEST_GRID, "loss": "squared_hinge", "radius": 2.0})

    _parameter_constraints = {
        **_KERNELS,
        **SmoothLossOfLabels._parameter_constraints,
        **OKSPlusPlusRule._parameter_constraints,
    }

    def __init__(
        self,
        kernels: Any = None,
        *,
        loss: Any = "log_loss",
        radius: float = 15.0,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernels, loss=loss, radius=radius, random_state=random_state)


@inherit_documentation
@explained_by(OKSRegressor, OKSPlusPlusRegressor)
class IOKSRegressor(LossOfTargets, IOKSRule, KernelSelector, OnlineRegressor):
    r"""IOKS: online kernel selection under bandit feedback by mirror descent with growing rates.

    Each kernel of a dictionary has a function in a ball of its RKHS. A round draws one of them by
    :math:`p = (1 - \delta) q + \delta / K`, forecasts with it and steps it, by eq. (2) of [1]_,
    against its gradient divided by p. Then q takes a step of mirror descent with the Tsallis
    regulariser of :math:`\alpha = 8` and a rate an arm (Algorithm 2):

    .. math:: q_i \leftarrow (q_i^{-7/8} + \eta_i (\tilde c_i - \mu))^{-8/7} , \qquad \sum q_i = 1 ,

    where :math:`\tilde c` is the loss over p, or over p + max :math:`\eta` if p is below that.

    Parameters
    ----------
    radius : float, default=1.0

    See Also
    --------
    IOKSClassifier : The same for labels.
    OKSRegressor : Exponential weights and no ball; often better while T is small.
    OKSPlusPlusRegressor : Rates from the losses seen; better with the square loss.

    Notes
    -----
    *Cost.*

    *Rates.* :math:`\delta = T^{-3/4}`; the arms' first :math:`\eta` is the experiments', :math:`8
    K^{3/8} / (U G_1 \sqrt{T \ln T})` (the theorem's has 3/2 for 8), and grows by the factor
    :math:`e^{2 / (3 \ln T)}` when 1 / p first exceeds a threshold, which starts at 2 K and is then
    set to twice 1 / p. Step sizes are :math:`\lambda_{t,i} = U / \sqrt{2 + 2 S_{t,i}}` (eq. 6), S
    the sum of the squared gradients divided by p, this round's included.

    *Theorem.* Theorem 4.1 of [1]_: for convex losses of slope at most :math:`G_1`, divided by
    :math:`\ell_{max}` to be in [0, 1], and T of 40 or more, the expected regret against any
    function in any kernel's ball is :math:`O(U G_1 \sqrt{K T} \ln^{2/3} T)`. Here
    :math:`\ell_{max}` is 1, as in the experiments, and :math:`G_1` the largest slope for targets
    and forecasts in [-1, 1] and [-U, U]: 2 (U + 1) for the square loss, 1 for the absolute. One
    step of the proof is open: it needs :math:`E X^{7/6} \le (E X)^{7/6}`, which Jensen's inequality
    gives the other way round.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, and the sum
    of the stretches' bounds is of the same order. A fresh start forgets the weights, rates and
    thresholds, not the functions: what they know of the data does not depend on a guess of T, nor
    do their step sizes, and a ball that a function starts in anywhere, not in the middle, costs a
    factor of 4 at most in the bound.

    *Departures.* T is bounded from below by 40. The root that puts q on the simplex is found to
    1e-12, not to 1e-5. The first threshold, which no listing gives, is the published program's. The
    kernel of a round is drawn at the end of the round before, by one random number per row, so that
    :meth:`predict` is what will be forecast.

    Examples
    --------
    >>> from sklearn_okl import IOKSRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = IOKSRegressor(random_state=0)
    >>> forecasts = model.prequential_predict(X / 4, y / 4)  # each made before its target
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 500)
    """

    _test_parameters = (
        {},
        {"kernels": _TEST_GRID, "horizon": 300, "loss": "pinball", "quantile": 0.7},
    )

    _parameter_constraints = {**_KERNELS, **TARGET_LOSSES, **IOKSRule._parameter_constraints}

    def __init__(
        self,
        kernels: Any = None,
        *,
        loss: Any = "squared_error",
        quantile: float = 0.5,
        horizon: int | None = None,
        radius: float = 1.0,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernels, loss=loss, radius=radius, random_state=random_state)
        self.quantile = quantile
        self.horizon = horizon


@inherit_documentation
@explained_by(OKSClassifier, OKSPlusPlusClassifier, IOKSRegressor)
class IOKSClassifier(LossOfLabels, IOKSRule, KernelSelector, OnlineClassifier):
    r"""IOKS for two classes: kernel selection under bandit feedback by mirror descent.

    Each kernel of a dictionary has a function in a ball of its RKHS, whose sign is a label. A round
    draws one of them, labels with it and steps it, by eq. (2) of [1]_, against its gradient divided
    by the probability of the draw. The law of the draws takes a step of mirror descent with the
    Tsallis regulariser of :math:`\alpha = 8` and growing rates (Algorithm 2).

    Parameters
    ----------
    radius : float, default=15.0

    See Also
    --------
    IOKSRegressor : The same for real targets, with the formulas.
    OKSClassifier : Exponential weights and no ball; often better while T is small.
    OKSPlusPlusClassifier : Rates from the losses seen; better with smooth losses.

    Notes
    -----
    *Cost.*

    *Rates.* Those of :class:`IOKSRegressor`.

    *Theorem.* Theorem 4.1 of [1]_: for convex losses of slope at most :math:`G_1`, divided by
    :math:`\ell_{max}` to be in [0, 1], and T of 40 or more, the expected regret against any
    function in any kernel's ball is :math:`O(U G_1 \sqrt{K T} \ln^{2/3} T)`, but for the open step
    of the proof that the notes of :class:`IOKSRegressor` name. Here :math:`\ell_{max}` is 1, as in
    the experiments, and :math:`G_1` the largest slope for forecasts in [-U, U]: 1 for the logistic
    loss and the hinge, 2 (U + 1) for the squared hinge.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, which forget
    the weights, rates and thresholds, not the functions, and the sum of the stretches' bounds is of
    the same order.

    *Departures.* Those of :class:`IOKSRegressor`: T is bounded from below by 40, the root is found
    to 1e-12, the first threshold is the published program's, and the kernel of a round is drawn at
    the end of the round before, so that :meth:`predict` is what will be forecast.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_okl import IOKSClassifier
    >>> X, y = make_classification(400, 5, random_state=0)
    >>> model = IOKSClassifier(random_state=0)
    >>> labels = model.prequential_predict(X, y, classes=[0, 1])  # each before its own was seen
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 400)
    >>> bool((labels == y).mean() > 0.6)
    True
    """

    _test_parameters = ({}, {"kernels": _TEST_GRID, "loss": "squared_hinge"})

    _parameter_constraints = {**_KERNELS, **LABEL_LOSSES, **IOKSRule._parameter_constraints}

    def __init__(
        self,
        kernels: Any = None,
        *,
        loss: Any = "log_loss",
        horizon: int | None = None,
        radius: float = 15.0,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernels, loss=loss, radius=radius, random_state=random_state)
        self.horizon = horizon
