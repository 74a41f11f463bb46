r"""Losses of a forecast: value, slope and the constants that step sizes and bounds are made of.

Three are for real targets: square, absolute and pinball. Three are for labels -1 and +1 and read
``y_pred`` as a decision value: logistic, squared hinge and hinge. All are convex in ``y_pred``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ._types import Any, ArrayLike


@dataclass(frozen=True)
class SquaredError:
    r"""Square loss :math:`(f - y)^2`, with slope :math:`2 (f - y)`.

    Attributes
    ----------
    smoothness : float
        Lipschitz constant of the slope, 2.

    See Also
    --------
    get_loss : Losses by name.

    Examples
    --------
    >>> from sklearn_okl.losses import SquaredError
    >>> loss = SquaredError()
    >>> loss.value([1.0, 2.0], 3.0), loss.slope([1.0, 2.0], 3.0)
    (array([4., 1.]), array([4., 2.]))
    >>> loss.lipschitz(1.0)
    4.0
    """

    smoothness: ClassVar[float] = 2.0

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each forecast.

        Parameters
        ----------
        y_true : array-like
            Targets.
        y_pred : array-like
            Forecasts; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        return np.square(np.subtract(y_pred, y_true))

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred.

        Parameters
        ----------
        y_true : array-like
            Targets.
        y_pred : array-like
            Forecasts; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        return 2.0 * np.subtract(y_pred, y_true)

    def lipschitz(self, bound: float) -> float:
        """Return the largest abs(slope) where abs(y_true) and abs(y_pred) are at most bound.

        Parameters
        ----------
        bound : float
            Positive.

        Returns
        -------
        float
        """
        return 4.0 * bound


@dataclass(frozen=True)
class AbsoluteError:
    r"""Absolute loss :math:`|f - y|`, with slope :math:`\pm 1`, and 0 at the kink.

    Attributes
    ----------
    smoothness : float
        Infinite: the slope jumps.

    See Also
    --------
    get_loss : Losses by name.

    Examples
    --------
    >>> from sklearn_okl.losses import AbsoluteError
    >>> AbsoluteError().slope(2.0, [1.0, 2.0, 5.0])
    array([-1.,  0.,  1.])
    """

    smoothness: ClassVar[float] = np.inf

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each forecast.

        Parameters
        ----------
        y_true : array-like
            Targets.
        y_pred : array-like
            Forecasts; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        return np.abs(np.subtract(y_pred, y_true, dtype=np.float64))

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred, and 0 where the two are equal.

        Parameters
        ----------
        y_true : array-like
            Targets.
        y_pred : array-like
            Forecasts; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        return np.sign(np.subtract(y_pred, y_true, dtype=np.float64))

    def lipschitz(self, bound: float) -> float:
        """Return the largest abs(slope), 1 whatever the bound.

        Parameters
        ----------
        bound : float
            Positive; not used.

        Returns
        -------
        float
        """
        return 1.0


@dataclass(frozen=True)
class PinballLoss:
    r"""Pinball loss, whose best constant forecast is a quantile of the targets.

    With q the quantile it is :math:`q (y - f)` for forecasts below the target and
    :math:`(1 - q) (f - y)` above, as :func:`sklearn.metrics.mean_pinball_loss` has it: at
    ``quantile=0.5`` it is half the absolute loss. The slope is -q below, 1 - q above, and 0 at
    the kink.

    Parameters
    ----------
    quantile : float, default=0.5
        Between 0 and 1, both excluded.

    Attributes
    ----------
    smoothness : float
        Infinite: the slope jumps.

    Raises
    ------
    ValueError
        If the quantile is not strictly between 0 and 1.

    See Also
    --------
    get_loss : Losses by name.

    Examples
    --------
    >>> from sklearn_okl.losses import PinballLoss
    >>> PinballLoss(0.75).value(2.0, [1.0, 2.0, 3.0])
    array([0.75, 0.  , 0.25])
    """

    quantile: float = 0.5
    smoothness: ClassVar[float] = np.inf

    def __post_init__(self):
        if not 0.0 < self.quantile < 1.0:
            raise ValueError(
                f"quantile={self.quantile!r} is not a level of the pinball loss. Give a number "
                "strictly between 0 and 1, such as 0.5 for the median."
            )

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each forecast.

        Parameters
        ----------
        y_true : array-like
            Targets.
        y_pred : array-like
            Forecasts; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        excess = np.subtract(y_pred, y_true, dtype=np.float64)
        return np.maximum(-self.quantile * excess, (1.0 - self.quantile) * excess)

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred, and 0 where the two are equal.

        Parameters
        ----------
        y_true : array-like
            Targets.
        y_pred : array-like
            Forecasts; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        excess = np.subtract(y_pred, y_true, dtype=np.float64)
        return (1.0 - self.quantile) * (excess > 0) - self.quantile * (excess < 0)

    def lipschitz(self, bound: float) -> float:
        """Return the largest abs(slope), that of the steeper side, whatever the bound.

        Parameters
        ----------
        bound : float
            Positive; not used.

        Returns
        -------
        float
        """
        return max(self.quantile, 1.0 - self.quantile)


@dataclass(frozen=True)
class LogisticLoss:
    r"""Logistic loss :math:`\ln(1 + e^{-y f})` of a decision value f, for labels -1 and +1.

    Its slope is :math:`-y / (1 + e^{y f})`.

    Attributes
    ----------
    smoothness : float
        Lipschitz constant of the slope, 1/4.

    See Also
    --------
    get_loss : Losses by name.

    Examples
    --------
    >>> from sklearn_okl.losses import LogisticLoss
    >>> loss = LogisticLoss()
    >>> loss.value(-1, [-1e8, 1e8])
    array([0.e+00, 1.e+08])
    >>> loss.slope([-1, 1], 0.0)
    array([ 0.5, -0.5])
    """

    smoothness: ClassVar[float] = 0.25

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each decision value.

        Parameters
        ----------
        y_true : array-like
            Labels -1 and +1.
        y_pred : array-like
            Decision values; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        return np.logaddexp(0.0, -np.multiply(y_true, y_pred, dtype=np.float64))

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred.

        Parameters
        ----------
        y_true : array-like
            Labels -1 and +1.
        y_pred : array-like
            Decision values; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        y_true = np.asarray(y_true, dtype=np.float64)
        return -y_true * expit(-y_true * y_pred)

    def lipschitz(self, bound: float) -> float:
        """Return the largest abs(slope) where abs(y_pred) is at most bound; below 1.

        Parameters
        ----------
        bound : float
            Positive.

        Returns
        -------
        float
        """
        return float(expit(bound))


@dataclass(frozen=True)
class SquaredHinge:
    r"""Squared hinge :math:`\max(0, 1 - y f)^2` of a decision value f, for labels -1 and +1.

    Its slope is :math:`-2 y \max(0, 1 - y f)`.

    Attributes
    ----------
    smoothness : float
        Lipschitz constant of the slope, 2.

    See Also
    --------
    get_loss : Losses by name.

    Examples
    --------
    >>> from sklearn_okl.losses import SquaredHinge
    >>> SquaredHinge().value(1, [-1.0, 0.0, 2.0])
    array([4., 1., 0.])
    """

    smoothness: ClassVar[float] = 2.0

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each decision value.

        Parameters
        ----------
        y_true : array-like
            Labels -1 and +1.
        y_pred : array-like
            Decision values; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        return np.square(_shortfall(y_true, y_pred))

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred.

        Parameters
        ----------
        y_true : array-like
            Labels -1 and +1.
        y_pred : array-like
            Decision values; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        return np.multiply(-2.0, y_true) * _shortfall(y_true, y_pred)

    def lipschitz(self, bound: float) -> float:
        """Return the largest abs(slope) where abs(y_pred) is at most bound.

        Parameters
        ----------
        bound : float
            Positive.

        Returns
        -------
        float
        """
        return 2.0 * (1.0 + bound)


@dataclass(frozen=True)
class Hinge:
    r"""Hinge loss :math:`\max(0, 1 - y f)` of a decision value f, for labels -1 and +1.

    Its slope is -y where the margin y f is below 1, and 0 from 1 on, the kink included.

    Attributes
    ----------
    smoothness : float
        Infinite: the slope jumps.

    See Also
    --------
    get_loss : Losses by name.

    Examples
    --------
    >>> from sklearn_okl.losses import Hinge
    >>> Hinge().slope(1, [-1.0, 1.0, 2.0])
    array([-1.,  0.,  0.])
    """

    smoothness: ClassVar[float] = np.inf

    def value(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the loss of each decision value.

        Parameters
        ----------
        y_true : array-like
            Labels -1 and +1.
        y_pred : array-like
            Decision values; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        return _shortfall(y_true, y_pred)

    def slope(self, y_true: ArrayLike, y_pred: ArrayLike) -> Any:
        """Return the derivative in y_pred, and 0 at the kink.

        Parameters
        ----------
        y_true : array-like
            Labels -1 and +1.
        y_pred : array-like
            Decision values; the two broadcast.

        Returns
        -------
        ndarray or float
        """
        return 0.0 - np.multiply(y_true, _shortfall(y_true, y_pred) > 0, dtype=np.float64)

    def lipschitz(self, bound: float) -> float:
        """Return the largest abs(slope), 1 whatever the bound.

        Parameters
        ----------
        bound : float
            Positive; not used.

        Returns
        -------
        float
        """
        return 1.0


_LOSSES = {
    "squared_error": SquaredError,
    "absolute_error": AbsoluteError,
    "pinball": PinballLoss,
    "log_loss": LogisticLoss,
    "squared_hinge": SquaredHinge,
    "hinge": Hinge,
}


def get_loss(name: str, quantile: float = 0.5) -> Any:
    """Return a loss by scikit-learn's name for it.

    Parameters
    ----------
    name : str
        ``"squared_error"``, ``"absolute_error"`` or ``"pinball"`` for real targets;
        ``"log_loss"``, ``"squared_hinge"`` or ``"hinge"`` for labels -1 and +1.
    quantile : float, default=0.5
        Level of the pinball loss, strictly between 0 and 1. Other losses do not read it.

    Returns
    -------
    loss : object
        With ``value(y_true, y_pred)``, ``slope(y_true, y_pred)``, ``smoothness`` and
        ``lipschitz(bound)``; immutable, comparable and picklable.

    Raises
    ------
    ValueError
        If there is no loss of that name, or the quantile is out of range.

    Examples
    --------
    >>> from sklearn_okl.losses import get_loss
    >>> get_loss("pinball", quantile=0.9)
    PinballLoss(quantile=0.9)
    """
    if name not in _LOSSES:
        raise ValueError(f"There is no loss called {name!r}. Choose one of {sorted(_LOSSES)}.")
    return PinballLoss(quantile) if name == "pinball" else _LOSSES[name]()


def _shortfall(y_true, y_pred):
    """Return how far the margin falls short of 1."""
    return np.maximum(1.0 - np.multiply(y_true, y_pred, dtype=np.float64), 0.0)
