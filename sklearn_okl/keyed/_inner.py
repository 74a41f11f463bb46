"""The model of keys that a model is, or hands its rows to, at any depth."""

from .._model_parts import parts_of
from ..base import twin
from ._keyed import Keyed
from ._stored import has_limits

_NAMES = "estimator", "base", "regressor"  # of the fitted one in the states of wrappers


def way_to_keys(model):
    """Return names and places that lead from a model to that of keys in it, or None."""
    way = ()
    while not isinstance(model, Keyed):
        step = _step(model)
        if step is None:
            return None
        way, model = way + step, _at(model, step)
    return way if "_state" in vars(model) else None


def keyed_in(model):
    """Return the fitted model of keys that a model is, or hands its rows to, or None."""
    way = way_to_keys(model)
    return None if way is None else _at(model, way)


def changed(model, parts):
    """Return a copy of a model some parts of whose state are others; of keys it has a state."""
    way = way_to_keys(model)
    if way is None:
        return model
    inner = twin(_at(model, way))
    inner._state = inner._state | parts
    return _with(model, way, inner)


def refuse_others(model):
    """Refuse keys that are to go to a store from where nobody looks for them."""
    way = way_to_keys(model)
    if way in ((), ("estimator_",)):
        return
    found = None if way is None else _at(model, way)
    for part in parts_of(model):
        is_other = isinstance(part, Keyed) and "_state" in vars(part) and part is not found
        if is_other and part.store is not None and has_limits(part):
            raise ValueError(
                f"A {type(model).__name__} holds a {type(part).__name__} with store={part.store!r} "
                "whose keys cannot go there: those of one model go, which is the last step, or "
                "the estimator, of what holds it. Give store=None, or commit that model alone."
            )


def _step(model):
    """Return what leads to the fitted estimator that a model hands its rows to, or None."""
    known = getattr(model, "__dict__", {})
    if "estimator_" in known:
        return ("estimator_",)
    if "steps_" in known:
        return "steps_", len(known["steps_"]) - 1, 1
    state = known.get("_state")
    names = _NAMES if isinstance(state, dict) else ()
    return next((("_state", name) for name in names if name in state), None)


def _at(thing, way):
    """Return what stands at the end of a way."""
    for one in way:
        thing = vars(thing)[one] if hasattr(thing, "__dict__") else thing[one]
    return thing


def _with(thing, way, end):
    """Return a copy of a thing at the end of whose way another one stands."""
    if not way:
        return end
    first, *rest = way
    part = _with(_at(thing, (first,)), rest, end)
    if hasattr(thing, "__dict__"):
        other = twin(thing)
        vars(other)[first] = part
    elif isinstance(thing, dict):
        other = thing | {first: part}
    else:
        other = type(thing)([*thing[:first], part, *thing[first + 1 :]])
    return other
