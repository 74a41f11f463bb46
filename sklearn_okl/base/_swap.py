"""The swap of states: a call teaches a twin, which takes the model's place if it is sound.

Estimators, transformers, pipelines, searches and forecasters learn so, and no other way. What has
a twin already, as a merge or a row path, installs it by `_take_over`, or `_become` if it was sound.
"""

import copy

import numpy as np
from sklearn.exceptions import NotFittedError

from .._documentation import inherit_documentation
from ._state import (
    _is_finite,
    _same,
    are_unchanged,
    as_they_are,
    parameter_values,
    structural_parameters,
    twin,
)

_OVERFLOWED = (
    "Numbers overflowed while these rows were learnt; the model is as it was before the call. "
    "Scale the features and the targets to moderate size."
)


@inherit_documentation
class SwapMixin:
    """Whatever learns on the way: its state is replaced in one assignment, or stays as it was.

    A subclass has its public verbs call `_swap`, and says in private ones::

        _learn_given(former, *given) -> state, answers    learns rows, and writes on `self`, a twin;
                                                          `former`, the state before them or None at
                                                          a start, is not edited
        _is_sound(state, answers) -> bool                 whether these, or a state, are numbers
        _validate()                                       refuses parameters that mean nothing
        _structure() -> dict                              what is fixed from the first row on

    What was checked, and what the state was built with, are one record, the attribute
    `_built_with`: all parameters of the latest call that taught the model, under "checked", and
    those that are fixed, under "structure".

    Attributes
    ----------
    n_samples_seen_ : int
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.
    """

    _structural = ()  # parameters of this class, beside its bases', that a state is built with

    def __sklearn_is_fitted__(self):
        return "_state" in vars(self)

    @property
    def n_samples_seen_(self) -> int:
        """Rounds learnt so far."""
        return self._fitted_state("n_samples_seen_")["t"]

    def _fitted_state(self, name):
        """Return the state, or fail as a missing attribute `name` does."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"{type(self).__name__} has no attribute {name!r} before it has seen a row. "
                "Call 'fit' or 'partial_fit' first."
            )
        return self._state

    def _swap(self, restart, *given):
        """Learn what is given, and return the answers; on any failure leave the model as it was.

        So readers in other threads see the state before the call or the state after it, nothing
        between, and a second writer is refused.
        """
        former = vars(self).get("_state")
        is_start = restart or former is None
        model = twin(self)  # checks and parts write on it, as n_features_in_
        model._built_with = model._checked_parameters(is_start)
        if is_start:  # so that a learner that has a state goes on from it
            vars(model).pop("_state", None)
        try:
            state, answers = model._learn_given(None if is_start else former, *given)
        except (np.linalg.LinAlgError, OverflowError) as error:  # the latter of plain numbers
            raise ValueError(_OVERFLOWED) from error
        self._take_over(former, model, state, answers)
        return answers

    def _take_over(self, former, model, state, answers=None):
        """Give a twin its new state, if that is sound, and take its place."""
        with np.errstate(over="ignore", invalid="ignore"):
            is_sound = model._is_sound(state, answers)
        if not is_sound:
            raise ValueError(_OVERFLOWED)
        model._state = state
        self._become(former, model)

    def _become(self, former, model):
        """Become what a twin is, unless another thread has replaced `former`, where it began."""
        if self.__dict__.get("_state") is not former:
            raise RuntimeError(
                f"Another thread has taught this {type(self).__name__} while these rows were "
                "learnt; they are not learnt, and the model is as the other thread left it. Let "
                "one thread at a time teach a model."
            )
        self.__dict__ = model.__dict__  # the one assignment

    def _is_sound(self, state, answers=None):
        return _is_finite([answers, state])

    def _validate(self):
        self._validate_params()

    def _structure(self):
        return {name: getattr(self, name) for name in structural_parameters(type(self))}

    def _values(self):
        """Return the parameters, by which a look tells whether any of them was set."""
        return parameter_values(self)

    def _checked_parameters(self, is_start):
        """Check the parameters unless they are those checked before; return the record of them."""
        known, values = vars(self).get("_built_with"), self._values()
        if known is not None and are_unchanged(values, known["checked"]):
            checked = known["checked"]
            if not is_start:
                return known
        else:
            self._validate()
            checked = as_they_are(values)
        if not is_start:
            self._refuse_changes()
            return known | {"checked": checked}
        return {"checked": checked, "structure": copy.deepcopy(self._structure())}

    def _is_as_taught(self):
        """Tell whether the parameters are those of the latest call, as far as a look can tell."""
        return are_unchanged(self._values(), self._built_with["checked"])

    def _check_structure(self):
        """Refuse to go on, or to answer, with parameters that the state was not built with."""
        if not self._is_as_taught():
            self._refuse_changes()

    def _refuse_changes(self):
        before, now = self._built_with["structure"], self._structure()
        changed = [name for name in now if not _same(now[name], before[name])]
        if changed:
            raise ValueError(
                f"The parameters {changed} of {type(self).__name__} cannot change in mid-stream: "
                "the state was built with other values. Call 'fit' to start afresh, or set the "
                "old values again."
            )
