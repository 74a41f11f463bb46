"""Models by key from files are tried: a bank of them learns some rows of each key."""

import warnings

import numpy as np

from ._initial import InitialForecasts
from ._keys import are_kinds
from ._record import Record

_N_ROWS = 2  # of each key: there may be thousands of keys
_COUNTS = "t", "n_dropped", "n_stored"


def look_over(model):
    """Look at what is kept of keys, and let a bank of them learn; what it raises is wrong.

    Models of keys in no bank are looked at one by one, as all that a model is made of.
    """
    state, told = model._state, model._told()
    if state.keys() != model._started().keys():
        raise ValueError("it holds other things than models by key do")
    if not all(type(state[name]) is int and state[name] >= 0 for name in _COUNTS):
        raise ValueError("it counts by what is no whole number")
    home = state["home"]
    if home is not None and [type(part) for part in home] != [str, str, int]:
        raise ValueError("its keys have gone to what is no file")
    shape = vars(model).get("_shape", ())
    if not (isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)):
        raise ValueError("it is of targets of no shape")
    if told is not None and (np.ndim(told) != 1 or len(told) < 2):
        raise ValueError("it knows fewer than two classes")
    entries = dict(state["entries"].items()) | dict(state["leaving"].items())
    if not all(0 < one.n_rows <= one.last <= state["t"] for one in entries.values()):
        raise ValueError("it counts no rows of a key")
    if not are_kinds(state["kinds"], entries):
        raise ValueError("its keys are not of the types that it says")
    kind, models = type(model._unfitted()), [one.model for one in entries.values()]
    models += [state[name] for name in ("prior", "lookout") if state[name] is not None]
    if not all(type(one) in (Record, kind) for one in models):
        raise ValueError("it holds a model of a key that is none")
    if told is not None and not all(
        np.array_equal(one.classes_, told) for one in models if hasattr(one, "classes_")
    ):
        raise ValueError("its models learn other classes")
    if model._structure()["prior"] == "init":
        if not InitialForecasts.are_sums(state["initial"]):
            raise ValueError("it holds sums that are none")
        if state["kinds"] and state["prior"] is None:
            raise ValueError("its keys begin from a model that has gone")
    elif state["initial"] is not None:
        raise ValueError("it adds forecasts up that it has not")
    bank = model._bank()
    mine = {key: one for key, one in entries.items() if type(one.model) is Record}
    if not mine:
        return
    if not bank.is_sound(list(mine.values()), state["bank"]):
        raise ValueError("it holds an inverse that is none")
    keys = list(mine) * _N_ROWS
    rows = np.random.default_rng(0).uniform(0.05, 0.2, (len(keys), state["bank"]["n_features"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        given = keys, rows, rows[:, 0], {}, "prequential_predict", model._nothing(rows[:, 0], "")
        answers = model._learn_keys(state | {"prior": None}, bank, *given, None)
    if not np.isfinite(answers).all():
        raise ValueError("it makes no numbers of rows")
