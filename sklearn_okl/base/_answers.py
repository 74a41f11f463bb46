"""What private verbs return: held against what they are to return, before anybody sees it."""

import math

import numpy as np

_UNSAID = "Numbers overflowed while these rows were forecast. Scale the features to moderate size."
_WHAT = {
    "_learn": "the forecast of each row, made before its target was seen",
    "_forecast": "the forecast of each row",
    "_flow": "what each row was by what was known before it",
    "_ask": "what each row is by what is known now",
}


def checked_answers(answers, shape, estimator, verb):
    """Return what a private verb answered for rows, or say what it should have answered.

    Parameters
    ----------
    answers : object
        To be an array.
    shape : tuple of int or None
        Its shape, with None where any length will do.
    estimator : object
        Whose verb it is.
    verb : str
        Its name.
    """
    if type(answers) is np.ndarray and answers.shape == shape:  # a look, as most are right
        return answers
    given = getattr(answers, "shape", None)
    wanted = given is not None and len(given) == len(shape)
    if wanted and all(size in (None, n) for n, size in zip(given, shape, strict=True)):
        return answers
    found = repr(answers)[:60] if given is None else f"an array of shape {given}"
    sizes = tuple("any" if size is None else size for size in shape)
    raise TypeError(
        f"{type(estimator).__name__}.{verb} returned {found}. It is to return an array of shape "
        f"{str(sizes).replace(repr('any'), 'any')}: {_WHAT[verb]}."
    )


class asked_quietly(np.errstate):
    """Let NumPy warn of no overflow, and what fails of it say so: what is none is refused."""

    def __init__(self):
        super().__init__(divide="ignore", over="ignore", invalid="ignore")

    def __exit__(self, kind, error, traceback):
        super().__exit__(kind, error, traceback)
        if kind is not None and issubclass(kind, (np.linalg.LinAlgError, OverflowError)):
            raise ValueError(_UNSAID) from error


def told(forecasts):
    """Return forecasts, or refuse those that are no numbers; some may be infinite."""
    if forecasts.dtype.kind == "f" and math.isnan(np.add.reduce(forecasts, axis=None)):
        with np.errstate(invalid="ignore"):
            if np.isnan(forecasts).any():
                raise ValueError(_UNSAID)
    return forecasts


def checked_state(state, estimator, verb):
    """Return the state that a private verb has started, or say what it is to be."""
    if isinstance(state, dict) and "t" in state:
        return state
    found = f"a dict of {sorted(map(str, state))}" if isinstance(state, dict) else repr(state)[:60]
    raise TypeError(
        f"{type(estimator).__name__}.{verb} returned {found}. It is to return the state, a dict "
        "whose entry 't' counts the rounds learnt, 0 at first."
    )
