"""The loss of an estimator: by its name or as an object, and which losses a theorem is for."""

from __future__ import annotations

import copy
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._documentation import explained_by
from .._types import Any, Self
from ..losses import NAMED, Loss, get_loss
from ._of_classes import OfClasses

TARGET_LOSSES = {
    "loss": [StrOptions({kind.name for kind in NAMED if not kind.of_labels}), Loss],
    "quantile": [Interval(Real, 0, 1, closed="neither")],
}
LABEL_LOSSES = {"loss": [StrOptions({kind.name for kind in NAMED if kind.of_labels}), Loss]}


class WithLoss:
    """What estimators share that have a parameter `loss`, beside a shell: the object, checked.

    The theorems here are for convex losses, of labels for classifiers and of targets for others.
    An algorithm whose theorem asks for more overrides `_fault_of_loss`.
    """

    def _loss(self):
        return get_loss(self.loss, getattr(self, "quantile", 0.5))  # classifiers have none

    def _named(self):
        """Return the names of losses that this estimator takes."""
        kinds = [k for k in self._parameter_constraints["loss"] if isinstance(k, StrOptions)]
        return sorted(set().union(*(kind.options for kind in kinds)))

    def _fault_of_loss(self, loss):
        """Return why the theorem is not for a loss, as the end of a sentence, or None."""
        if loss.of_labels and not isinstance(self, OfClasses):
            return f"it is one of labels. Give one of targets: {self._named()}, or an object"
        if isinstance(self, OfClasses) and not loss.of_labels:
            said = "an object whose class says of_labels = True"
            return f"it is one of targets. Give one of labels: {self._named()}, or {said}"
        if not loss.is_convex:
            return "it is not convex, and the theorem is for convex losses. Give one of these"
        return None

    def _validate(self):
        super()._validate()
        loss = self._loss()
        if loss is self.loss:
            _check_verbs(loss)
        fault = self._fault_of_loss(loss)
        if fault is not None:
            name = type(self).__name__
            raise ValueError(f"loss={self.loss!r} does not go with {name}: {fault}.")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and with `deep` those of a loss that is an object.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the parameters of parts too, as ``loss__delta`` for those of the loss.

        Returns
        -------
        params : dict
            Parameters by name.
        """
        params = super().get_params(deep)
        if deep and isinstance(params.get("loss"), Loss):
            params |= {f"loss__{name}": value for name, value in vars(params["loss"]).items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; one of the loss, such as ``loss__delta``, gives it another loss.

        Parameters
        ----------
        **params : dict
            Parameters by name, as `get_params` returns them.

        Returns
        -------
        self : object
            This estimator.
        """
        of_loss = {name: params.pop(name) for name in [*params] if name.startswith("loss__")}
        super().set_params(**params)
        if of_loss:
            unknown = sorted(of_loss.keys() - self.get_params().keys())
            if unknown:
                raise ValueError(f"loss={self.loss!r} has no parameter for {unknown}.")
            self.loss = self.loss._with(**{name[6:]: value for name, value in of_loss.items()})
        return self


@explained_by(get_loss)
class LossOfTargets(WithLoss):
    r"""The loss of a regressor; it goes first in a list of bases, to explain it.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "pinball"} or Loss, default="squared_error"
        What is descended, by its name or as an object, see :class:`~sklearn_okl.losses.Loss`. The
        square loss has no factor 1/2: its slope is :math:`2 (\hat y - y)`.
    quantile : float, default=0.5
    """

    _parameter_constraints = TARGET_LOSSES


class LossOfLabels(WithLoss):
    """The loss of a classifier; it goes first in a list of bases, to explain it.

    Parameters
    ----------
    loss : {"log_loss", "hinge", "squared_hinge"} or Loss, default="log_loss"
        What is descended, by its name or as an object, see :class:`~sklearn_okl.losses.Loss`. Only
        the logistic loss, whose decision values are log-odds, gives `predict_proba`.
    """

    _parameter_constraints = LABEL_LOSSES


def _check_verbs(loss):
    """Refuse a loss whose verbs do not do what `Loss` says; ours do."""
    if not _is_value(loss):
        raise ValueError(
            f"{loss!r} is not what its parameters are: keep what __init__ takes, numbers, strings "
            "or tuples, and nothing else, as attributes of the same names."
        )
    signs, grid = np.array([[-1.0], [1.0]]), np.linspace(-3.0, 3.0, 13)
    values, slopes = _answer(loss, "value", signs, grid), _answer(loss, "slope", signs, grid)
    for verb in ("value", "slope"):
        _answer(loss, verb, 1.0, 0.5)  # rounds are learnt one by one
    if (values < 0.0).any():
        raise ValueError(f"{loss!r} has values below 0. Add a constant: losses are at least 0.")
    if loss.is_convex and (np.diff(slopes) < -1e-9).any():
        raise ValueError(
            f"{loss!r} is not convex: its slope falls as y_pred grows. Write is_convex = False in "
            f"the class {type(loss).__name__}, for no theorem here is for such a loss."
        )


def _is_value(loss):
    """Tell whether its parameters make the loss again, and it equals its copies."""
    try:
        made = loss._with()
    except TypeError:  # its attributes are not what __init__ takes
        return False
    try:
        return bool(made == loss == copy.deepcopy(loss))
    except ValueError:  # there are arrays among them
        return False


def _answer(loss, verb, y_true, y_pred):
    """Return what a verb says of arrays or numbers; refuse what is no number for each pair."""
    asked = f"{type(loss).__name__}.{verb}, asked with y_true {np.shape(y_true)} and y_pred "
    asked += f"{np.shape(y_pred)},"
    try:
        found = np.asarray(getattr(loss, verb)(y_true, y_pred), dtype=np.float64)
    except Exception as error:
        raise ValueError(
            f"{asked} fails ({type(error).__name__}: {error}). Both may be arrays that broadcast, "
            "or numbers."
        ) from error
    if found.shape != np.broadcast_shapes(np.shape(y_true), np.shape(y_pred)):
        raise ValueError(f"{asked} returns the shape {found.shape}: return one number a pair.")
    if not np.isfinite(found).all():
        raise ValueError(f"{asked} returns numbers that are not finite.")
    return found
