r"""The rules of J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection ..." (2022).

By which law kernels are drawn, and how long the steps of those drawn are: a sampler, what it asks
of a loss, and its parameters, the same on exact kernels and on features.
"""

from math import inf
from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from ..base._loss import LossOfLabels, LossOfTargets
from ..feedback._bandits import AdaptiveExp3Sampler, Exp3Sampler, TsallisSampler, stable_step
from ..losses import Loss

_POSITIVE = [Interval(Real, 0, None, closed="neither")]
_STEP_SCALE = 10.0  # in the middle of what the experiments try
HORIZON = {"horizon": [Interval(Integral, 1, None, closed="left"), None]}


class SmoothLossOfTargets(LossOfTargets):
    """A loss of targets for a rule that says what it asks of one: that it is smooth.

    Parameters
    ----------
    loss : {"squared_error"} or Loss, default="squared_error"
        What is descended and what the kernels are judged by, :math:`(f - y)^2` or an object that is
        smooth, see :class:`~sklearn_okl.losses.Loss`. The absolute and the pinball loss are
        refused: they are not.
    """

    _parameter_constraints = {"loss": [StrOptions({"squared_error"}), Loss]}


class SmoothLossOfLabels(LossOfLabels):
    """A loss of labels for a rule that says what it asks of one: that it is smooth.

    Parameters
    ----------
    loss : {"log_loss", "squared_hinge"} or Loss, default="log_loss"
        What is descended and what the kernels are judged by, by its name or as an object that is
        smooth, see :class:`~sklearn_okl.losses.Loss`. The hinge loss is refused: it is not. Only
        the logistic loss gives `predict_proba`.
    """

    _parameter_constraints = {"loss": [StrOptions({"log_loss", "squared_hinge"}), Loss]}


class _Horizon:
    """Rates made for a number of rounds, given or guessed.

    Parameters
    ----------
    horizon : int, default=None
        T, the number of rounds that the rates are made for; 40 if it is less. None guesses it by
        the doubling trick: the rates of 64 rounds to begin with, and after 64, 128, 256, ... rounds
        a fresh start of the law of the draws, not of the functions, with the rates of as many
        rounds as were seen, see Notes.
    """

    _parameter_constraints = HORIZON
    _structural = ("horizon",)


class OKSRule(_Horizon):
    r"""Exponential weights on the losses divided by p; the horizon fixes all rates.

    Parameters
    ----------
    step_scale : float, default=None
        c in the step size :math:`\lambda = c \sqrt{\delta / (K T)}`, > 0. None is 10 and, with a
        smooth loss, less where such a step could overshoot, see Notes. The experiments take the
        best of 1, 5, 10 and 25. With a number and a `horizon`, which are taken at their word, and
        without a box the square loss and the squared hinge may diverge, the others not, once
        :math:`\lambda / p` exceeds 1, as it can at unlikely kernels where c is above :math:`(T /
        K)^{1/3}`.

    References
    ----------
    .. [1] Li & Liao 2022, Algorithm 1, Theorem 2.1, Remark 1, section 6.2, eq. (8).
    .. [2] T. Yang, M. Mahdavi, R. Jin, J. Yi, S. C. H. Hoi, "Online Kernel Selection: Algorithms
       and Evaluations", AAAI Conference on Artificial Intelligence, 2012.
    """

    _parameter_constraints = {**HORIZON, "step_scale": [*_POSITIVE, None]}
    _structural = ("step_scale",)

    def _sampler(self, n_kernels):
        at_their_word = self.horizon is not None and self.step_scale is not None
        longest = inf if at_their_word else stable_step(self._loss())
        scale = _STEP_SCALE if self.step_scale is None else self.step_scale
        return Exp3Sampler(n_kernels, self.horizon, scale, longest_step=longest)


class OKSPlusPlusRule:
    """Exponential weights on the losses divided by p; the losses seen make all rates.

    References
    ----------
    .. [1] Li & Liao 2022, Algorithm 3, eq. (2) and (8), Theorems 3.1 and 5.1.
    """

    _parameter_constraints = {"radius": _POSITIVE}
    _structural = ("radius",)

    def _fault_of_loss(self, loss):
        fault = super()._fault_of_loss(loss)
        if fault is None and not loss.self_bounding < inf:
            fault = (
                "its rates come from the losses seen, and only where a loss is smooth do small "
                f"losses mean small slopes. Take a smooth one, {self._named()} or an object, or "
                "another algorithm: OKS and IOKS take any loss"
            )
        return fault

    def _sampler(self, n_kernels):
        return AdaptiveExp3Sampler(n_kernels, self.radius, self._loss().self_bounding)


class IOKSRule(_Horizon):
    """Mirror descent with the Tsallis regulariser, and rates that grow.

    References
    ----------
    .. [1] Li & Liao 2022, Algorithms 2 and 4, eq. (2) and (4)-(8), Theorems 4.1 and 5.2, Appendix
       B.
    """

    _parameter_constraints = {**HORIZON, "radius": _POSITIVE}
    _structural = ("radius",)

    def _sampler(self, n_kernels):
        slope = self._loss().lipschitz(self.radius, 1.0)  # of targets in [-1, 1]
        return TsallisSampler(n_kernels, self.radius, slope, self.horizon)
