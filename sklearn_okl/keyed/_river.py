"""What River's own programs ask of a model: it is one of theirs where River is loaded."""

from __future__ import annotations

import copy
import sys
from inspect import signature

from sklearn.base import clone as fresh

from .._types import Any, Self


class _OfInit:
    """The signature of `__init__`, for a class with a `__new__`, whose own old Pythons show."""

    def __get__(self, instance, owner):
        found = signature(owner.__init__)
        return found.replace(parameters=list(found.parameters.values())[1:])


def _borrowed(name):
    """Return an attribute as River's own base of the model has it."""

    def found(self) -> Any:
        """As River has it; there is none where River is not loaded."""
        base = self._of_river()
        if base is None:
            raise AttributeError(f"{type(self).__name__} has {name!r} where River is loaded.")
        return getattr(base, name).__get__(self)

    return property(found)


class KnownToRiver:
    """What River, where it is loaded, takes for a class of its own."""

    __signature__ = _OfInit()
    _supervised = True
    # what evaluation, grids, ensembles and wrappers of River ask besides
    mutate = _borrowed("mutate")
    _mutable_attributes = _borrowed("_mutable_attributes")
    _is_stochastic = _borrowed("_is_stochastic")
    _raw_memory_usage, _memory_usage = _borrowed("_raw_memory_usage"), _borrowed("_memory_usage")
    _unit_test_skips = _borrowed("_unit_test_skips")

    def __new__(cls, *args, **kwargs):
        base = cls._of_river()
        if base is not None:
            base.register(cls)
        return super().__new__(cls)

    @classmethod
    def _of_river(cls):
        base = sys.modules.get("river.base")
        return base and (base.Classifier if cls._kind[0] == "classifier" else base.Regressor)

    @property
    def _tags(self):
        return set()

    @property
    def _multiclass(self):
        return self._kind[0] == "classifier"

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """Return another model of the same parameters, as River's models do.

        Parameters
        ----------
        new_params : dict of str to object, default=None
            Parameters that are to be others, by names as of `set_params`.
        include_attributes : bool, default=False
            Whether the other one has also learnt what this one has.

        Returns
        -------
        clone : object
        """
        other = copy.deepcopy(self) if include_attributes else fresh(self)
        return other.set_params(**(new_params or {}))

    def _get_params(self):
        return self.get_params(deep=False)
