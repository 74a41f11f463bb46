r"""Losses of a forecast: value, slope and the constants that step sizes and bounds are made of.

Three are of real targets y and forecasts f, three of labels y = -1 and +1 and decision values f:

====================  =================  ==================================  ==========  ========
string                class              value                               smoothness  C
====================  =================  ==================================  ==========  ========
``"squared_error"``   `SquaredError`     (f − y)²                            2           4
``"absolute_error"``  `AbsoluteError`    \|f − y\|                           infinite    infinite
``"pinball"``         `PinballLoss`      max(q (y − f), (1 − q) (f − y))     infinite    infinite
``"log_loss"``        `LogisticLoss`     ln(1 + exp(−y f))                   1/4         1
``"squared_hinge"``   `SquaredHinge`     max(0, 1 − y f)²                    2           4
``"hinge"``           `Hinge`            max(0, 1 − y f)                     infinite    infinite
====================  =================  ==================================  ==========  ========

Smoothness is the Lipschitz constant of the slope, C that of `Loss.self_bounding`. Estimators take
the string or an object; losses of anybody's own derive from :class:`Loss`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ._documentation import explained_by, inherit_documentation
from ._types import Any, ArrayLike
from ._values import ValueObject

__all__ = [
    "AbsoluteError",
    "Hinge",
    "LogisticLoss",
    "Loss",
    "PinballLoss",
    "SquaredError",
    "SquaredHinge",
    "get_loss",
]


@inherit_documentation
class Loss(ValueObject, ABC):
    r"""Base of losses: a function of a target and a forecast, nowhere negative, with parameters.

    A subclass writes `value` and `slope`, and keeps its parameters as attributes of the names that
    its ``__init__`` gives them, as estimators do. Its instances serve as `loss` of every estimator
    whose theorem is for such losses. A loss of targets is a function of ``y_pred - y_true`` that is
    0 at 0. One of labels says ``of_labels = True``: its targets are -1 and +1, its forecasts
    decision values.

    What an algorithm's steps or rates are made of, it asks of the loss: `smoothness` and
    `lipschitz`. A loss that does not say them is refused there, with a sentence, and serves
    elsewhere.

    A loss is a value, as a :class:`~sklearn_okl.kernels.Kernel` is: parameters are numbers, strings
    or tuples, and ``set_params(loss__delta=2.0)`` of an estimator gives it another loss.

    Attributes
    ----------
    name : str or None
        The string by which the loss is found, of this package's own; else None.
    of_labels : bool
        Whether it is one of labels -1 and +1.
    is_convex : bool
        Whether it is convex in `y_pred`. For one that says False there is no theorem here, and
        every estimator refuses it.
    smoothness : float
    self_bounding : float
        C such that :math:`|\ell'|^\nu \le C \ell` everywhere, for :math:`\nu` 1 or 2: small losses
        have small slopes. Any loss has twice its smoothness.

    See Also
    --------
    get_loss : Losses by name.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.losses import Loss
    >>> class LogCosh(Loss):
    ...     smoothness = 1.0
    ...
    ...     def value(self, y_true, y_pred):
    ...         error = np.abs(np.subtract(y_pred, y_true))
    ...         return error + np.log1p(np.exp(-2.0 * error)) - np.log(2.0)
    ...
    ...     def slope(self, y_true, y_pred):
    ...         return np.tanh(np.subtract(y_pred, y_true))
    >>> loss = LogCosh()  # as loss=LogCosh() of an estimator
    >>> loss.slope(0.0, [-9.0, 0.0, 9.0]).round(2), loss == LogCosh()
    (array([-1.,  0.,  1.]), True)
    """

    name: ClassVar[str | None] = None
    of_labels: ClassVar[bool] = False
    is_convex: ClassVar[bool] = True

    @abstractmethod
    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each forecast.

        Parameters
        ----------
        y_true : array-like
            Targets, or labels -1 and +1.
        y_pred : array-like
            Forecasts, or decision values; the two broadcast, and may be numbers.

        Returns
        -------
        ndarray or float
        """

    @abstractmethod
    @explained_by(value)
    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred; at a kink a number between those beside it."""

    @property
    def smoothness(self) -> float:
        """Lipschitz constant of the slope; infinite where it jumps."""
        raise self._lacks("an attribute 'smoothness'", "the Lipschitz constant of its slope")

    @property
    def self_bounding(self) -> float:
        """Bound of the slope's square over the loss: twice the smoothness."""
        return 2.0 * self.smoothness

    def lipschitz(self, bound: Any, y_bound: Any = None) -> Any:
        """Return the largest abs(slope) where abs(y_pred) is at most bound, and y_true is bounded.

        Parameters
        ----------
        bound : float or ndarray
            Of abs(y_pred), positive.
        y_bound : float or ndarray, default=None
            Of abs(y_true), positive. None: as that of forecasts. Of labels it is not read.

        Returns
        -------
        float or ndarray
        """
        raise self._lacks("a method 'lipschitz(bound, y_bound=None)'", "its largest slope")

    def exp_concavity(self, bound: Any) -> Any:
        r"""Return the largest rate at which the loss is exp-concave where all is bounded.

        Parameters
        ----------
        bound : float or ndarray
            Of abs(y_pred) and, for targets, of abs(y_true), positive.

        Returns
        -------
        float, ndarray or None
            The largest :math:`\eta` for which :math:`e^{-\eta \ell}` is concave in y_pred; None
            where there is none, which is what `Loss` itself says.
        """
        return None

    def _lacks(self, part, meaning):
        """Return what to raise where a constant is asked for that a loss does not say."""
        return TypeError(
            f"{self!r} does not say {meaning}, which the algorithm asks for: write {part} in the "
            f"class {type(self).__name__}, or take another algorithm, such as FOGD or BOA."
        )

    def _with(self, **changes):
        """Return the same loss with some other parameters."""
        return type(self)(**{**vars(self), **changes})


@inherit_documentation
@dataclass(frozen=True)
class SquaredError(Loss):
    r"""Square loss :math:`(f - y)^2`, with slope :math:`2 (f - y)`.

    Examples
    --------
    >>> from sklearn_okl.losses import SquaredError
    >>> loss = SquaredError()
    >>> loss.value([1.0, 2.0], 3.0), loss.slope([1.0, 2.0], 3.0)
    (array([4., 1.]), array([4., 2.]))
    >>> loss.lipschitz(1.0)
    4.0
    """

    name = "squared_error"
    smoothness = 2.0

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each forecast."""
        return np.square(np.subtract(y_pred, y_true))

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred."""
        return 2.0 * np.subtract(y_pred, y_true)

    def lipschitz(self, bound: Any, y_bound: Any = None) -> Any:
        """Return the largest abs(slope), twice the largest error."""
        return 2.0 * (bound + (bound if y_bound is None else y_bound))

    def exp_concavity(self, bound: Any) -> Any:
        """Return the largest rate at which the loss is exp-concave."""
        return 0.5 * np.square(1.0 / (2.0 * bound))


@inherit_documentation
@dataclass(frozen=True)
class AbsoluteError(Loss):
    r"""Absolute loss :math:`|f - y|`, with slope :math:`\pm 1`, and 0 at the kink.

    Examples
    --------
    >>> from sklearn_okl.losses import AbsoluteError
    >>> AbsoluteError().slope(2.0, [1.0, 2.0, 5.0])
    array([-1.,  0.,  1.])
    """

    name = "absolute_error"
    smoothness = inf

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each forecast."""
        return np.abs(np.subtract(y_pred, y_true, dtype=np.float64))

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred, and 0 where the two are equal."""
        return np.sign(np.subtract(y_pred, y_true, dtype=np.float64))

    def lipschitz(self, bound: Any, y_bound: Any = None) -> Any:
        """Return the largest abs(slope), 1 whatever the bounds."""
        return 1.0


@inherit_documentation
@dataclass(frozen=True)
class PinballLoss(Loss):
    r"""Pinball loss, whose best constant forecast is a quantile of the targets.

    With q the quantile it is :math:`q (y - f)` for forecasts below the target and
    :math:`(1 - q) (f - y)` above, as :func:`sklearn.metrics.mean_pinball_loss` has it: at
    ``quantile=0.5`` it is half the absolute loss. The slope is -q below, 1 - q above, and 0 at
    the kink.

    Parameters
    ----------
    quantile : float, default=0.5
        Between 0 and 1, both excluded.

    Raises
    ------
    ValueError
        If the quantile is not strictly between 0 and 1.

    Examples
    --------
    >>> from sklearn_okl.losses import PinballLoss
    >>> PinballLoss(0.75).value(2.0, [1.0, 2.0, 3.0])
    array([0.75, 0.  , 0.25])
    """

    name = "pinball"
    smoothness = inf
    quantile: float = 0.5

    def __post_init__(self):
        if not 0.0 < self.quantile < 1.0:
            raise ValueError(
                f"quantile={self.quantile!r} is not a level of the pinball loss. Give a number "
                "strictly between 0 and 1, such as 0.5 for the median."
            )

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each forecast."""
        excess = np.subtract(y_pred, y_true, dtype=np.float64)
        return np.maximum(-self.quantile * excess, (1.0 - self.quantile) * excess)

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred, and 0 where the two are equal."""
        excess = np.subtract(y_pred, y_true, dtype=np.float64)
        return (1.0 - self.quantile) * (excess > 0) - self.quantile * (excess < 0)

    def lipschitz(self, bound: Any, y_bound: Any = None) -> Any:
        """Return the largest abs(slope), that of the steeper side, whatever the bounds."""
        return max(self.quantile, 1.0 - self.quantile)


@inherit_documentation
@dataclass(frozen=True)
class LogisticLoss(Loss):
    r"""Logistic loss :math:`\ln(1 + e^{-y f})` of a decision value f, for labels -1 and +1.

    Its slope is :math:`-y / (1 + e^{y f})`.

    Examples
    --------
    >>> from sklearn_okl.losses import LogisticLoss
    >>> loss = LogisticLoss()
    >>> loss.value(-1, [-1e8, 1e8])
    array([0.e+00, 1.e+08])
    >>> loss.slope([-1, 1], 0.0)
    array([ 0.5, -0.5])
    """

    name = "log_loss"
    of_labels = True
    smoothness = 0.25
    self_bounding = 1.0  # the paper's, of the slope itself

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each decision value."""
        return np.logaddexp(0.0, -np.multiply(y_true, y_pred, dtype=np.float64))

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred."""
        y_true = np.asarray(y_true, dtype=np.float64)
        return -y_true * expit(-y_true * y_pred)

    def lipschitz(self, bound: Any, y_bound: Any = None) -> Any:
        """Return the largest abs(slope), below 1."""
        return expit(bound)

    def exp_concavity(self, bound: Any) -> Any:
        """Return the largest rate at which the loss is exp-concave."""
        return np.exp(-bound)


class _OfMargin(Loss):
    """Losses of how far the margin y f falls short of 1."""

    of_labels = True

    def _shortfall(self, y_true, y_pred):
        return np.maximum(1.0 - np.multiply(y_true, y_pred, dtype=np.float64), 0.0)


@inherit_documentation
@dataclass(frozen=True)
class SquaredHinge(_OfMargin):
    r"""Squared hinge :math:`\max(0, 1 - y f)^2` of a decision value f, for labels -1 and +1.

    Its slope is :math:`-2 y \max(0, 1 - y f)`.

    Examples
    --------
    >>> from sklearn_okl.losses import SquaredHinge
    >>> SquaredHinge().value(1, [-1.0, 0.0, 2.0])
    array([4., 1., 0.])
    """

    name = "squared_hinge"
    smoothness = 2.0

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each decision value."""
        return np.square(self._shortfall(y_true, y_pred))

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred."""
        return np.multiply(-2.0, y_true) * self._shortfall(y_true, y_pred)

    def lipschitz(self, bound: Any, y_bound: Any = None) -> Any:
        """Return the largest abs(slope)."""
        return 2.0 * (1.0 + bound)

    def exp_concavity(self, bound: Any) -> Any:
        """Return the largest rate at which the loss is exp-concave."""
        return 0.5 / (1.0 + bound) ** 2


@inherit_documentation
@dataclass(frozen=True)
class Hinge(_OfMargin):
    r"""Hinge loss :math:`\max(0, 1 - y f)` of a decision value f, for labels -1 and +1.

    Its slope is -y where the margin y f is below 1, and 0 from 1 on, the kink included.

    Examples
    --------
    >>> from sklearn_okl.losses import Hinge
    >>> Hinge().slope(1, [-1.0, 1.0, 2.0])
    array([-1.,  0.,  0.])
    """

    name = "hinge"
    smoothness = inf

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each decision value."""
        return self._shortfall(y_true, y_pred)

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred, and 0 at the kink."""
        return 0.0 - np.multiply(y_true, self._shortfall(y_true, y_pred) > 0, dtype=np.float64)

    def lipschitz(self, bound: Any, y_bound: Any = None) -> Any:
        """Return the largest abs(slope), 1 whatever the bounds."""
        return 1.0


# Every loss that a string finds.
NAMED = (SquaredError, AbsoluteError, PinballLoss, LogisticLoss, SquaredHinge, Hinge)
_BY_NAME = {kind.name: kind() for kind in NAMED}


def get_loss(loss: str | Loss, quantile: float = 0.5) -> Any:
    """Return the loss that a string, scikit-learn's name for it, or an object stands for.

    Parameters
    ----------
    loss : str or Loss
        ``"squared_error"``, ``"absolute_error"`` or ``"pinball"`` for real targets;
        ``"log_loss"``, ``"squared_hinge"`` or ``"hinge"`` for labels -1 and +1; or an object, which
        is taken as it is.
    quantile : float, default=0.5
        Level of ``"pinball"``, strictly between 0 and 1. Other losses do not read it.

    Returns
    -------
    loss : Loss

    Raises
    ------
    ValueError
        If there is no loss of that name, or the quantile is out of range.
    TypeError
        If it is neither a name nor a loss, such as a class of losses.

    Examples
    --------
    >>> from sklearn_okl.losses import get_loss
    >>> get_loss("pinball", quantile=0.9)
    PinballLoss(quantile=0.9)
    """
    if not isinstance(loss, str):
        if isinstance(loss, Loss):
            return loss
        raise TypeError(
            f"loss={loss!r} is no loss. Give one of {sorted(_BY_NAME)}, or an instance of a class "
            "that derives from sklearn_okl.losses.Loss."
        )
    if loss not in _BY_NAME:
        raise ValueError(f"There is no loss called {loss!r}. Choose one of {sorted(_BY_NAME)}.")
    return PinballLoss(quantile) if loss == "pinball" else _BY_NAME[loss]
