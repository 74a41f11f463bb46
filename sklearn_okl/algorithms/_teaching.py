"""Experts of any kind: what they must be able to do, how they are asked, taught and fail."""

from contextlib import contextmanager
from inspect import signature

import numpy as np
from sklearn.base import is_classifier

from .._documentation import inherit_documentation
from .._validation import check_pairs
from ..aggregators._likelihoods import scaled
from ._fence import sane


class _Way:
    """How experts are asked and taught, and what their forecasts are.

    A subclass says which verbs of theirs it calls, `whole` and `one`; by `initial` what they say
    before they have learnt; and the shape of n forecasts, `_shape`. What they answer it brings into
    that shape, `_placed`, and `sane` marks by NaN.

    Parameters
    ----------
    is_first : bool, default=False
        Whether the rows are the first ones.
    handed : callable, default=None
        Takes rows (n, d) of numbers, returns them as experts get them; None: as they are.
    """

    def __init__(self, is_first=False, handed=None):
        self.is_first, self.handed = is_first, handed or _as_they_are

    def nothing(self, n):
        """Return the forecasts of an expert that sleeps."""
        return np.full(self._shape(n), np.nan)

    def unknown(self, n):
        """Return the forecasts of an expert that has not learnt yet."""
        return np.full(self._shape(n), self.initial)

    def learn(self, expert, X, y):
        """Teach rows at once; return the forecasts made on the way."""
        learn = getattr(expert, self.whole)
        told = self._told(y)
        return self._placed(expert, learn(self.handed(X), told, **self._named(learn)), len(X))

    def ask(self, expert, X):
        """Return the forecasts of rows."""
        return self._placed(expert, getattr(expert, self.one)(self.handed(X)), len(X))

    def teach(self, expert, X, y):
        """Teach one row."""
        expert.partial_fit(self.handed(X), self._told(y), **self._named(expert.partial_fit))
        self.is_first = False

    def _told(self, y):
        """Return targets as experts get them."""
        return y

    def _named(self, learn):
        """Return what a verb is told beside rows and targets."""
        return {}


@inherit_documentation
class Numbers(_Way):
    """How regressors are asked and taught: their forecasts are numbers, sane within reach.

    Parameters
    ----------
    reach : ndarray of shape (n,)
        The largest sane forecast of each row.
    initial : float, default=0.0
        The forecast of those that cannot make one before they have learnt.
    """

    whole, one = "prequential_predict", "predict"

    def __init__(self, reach, initial=0.0, is_first=False, handed=None):
        super().__init__(is_first, handed)
        self.reach, self.initial = reach, float(initial)

    def sane(self, forecasts, rows):
        """Return forecasts of some of the rows, NaN where they are not sane."""
        return sane(forecasts, self.reach[rows])

    def _shape(self, n):
        return n

    def _placed(self, expert, forecasts, n):
        return np.asarray(forecasts, dtype=np.float64).reshape(n)


@inherit_documentation
class Probabilities(_Way):
    """How classifiers are asked and taught: rows (n, C) that are sane where they can be scaled.

    Targets are places among the classes.

    Parameters
    ----------
    classes : ndarray of shape (C,)
        The labels, sorted.
    is_first : bool, default=False
        Whether the rows are the first ones: classes are named there, and who cannot forecast before
        it has learnt gives all of them the same probability.
    """

    whole, one = "prequential_predict_proba", "predict_proba"

    def __init__(self, classes, is_first=False, handed=None):
        super().__init__(is_first, handed)
        self.classes, self.initial = classes, 1.0 / len(classes)

    def sane(self, forecasts, rows):
        """Return forecasts of some of the rows, NaN where they are no probabilities."""
        return scaled(forecasts)

    def _told(self, y):
        return self.classes[y]

    def _named(self, learn):
        parameters = signature(learn).parameters.values()
        takes = any(one.name == "classes" or one.kind is one.VAR_KEYWORD for one in parameters)
        return {"classes": self.classes.copy()} if takes and self.is_first else {}

    def _shape(self, n):
        return n, len(self.classes)

    def _placed(self, expert, probabilities, n):
        """Return probabilities in columns of all classes: an expert may know fewer of them."""
        P = np.zeros((len(probabilities), len(self.classes)))
        known = getattr(expert, "classes_", self.classes)
        P[:, np.searchsorted(self.classes, known)] = probabilities
        return P


def check_experts(experts, of_classes=False):
    """Refuse what is no list of names and regressors, or classifiers, that learn from a stream."""
    check_pairs("experts", experts)
    what = (
        "classifier with probabilities that learns by 'partial_fit', such as "
        "SGDClassifier(loss='log_loss') or OnlineKernelClassifier()"
        if of_classes
        else "regressor that learns by 'partial_fit', such as SGDRegressor() or any regressor of "
        "this package"
    )
    for name, expert in experts:
        fault = _fault(expert, of_classes)
        if fault:
            raise TypeError(f"The expert {name!r} {fault}. Give an instance of a {what}.")


def forecast_expert(name, expert, X, way, rows=slice(None)):
    """Return one expert's forecasts for rows, some of those of a way, NaN where they are insane."""
    with _naming(name, expert, "forecast"):
        return way.sane(way.ask(expert, X), rows)


def teach_expert(name, expert, X, y, way):
    """Teach one expert one row in place."""
    with _naming(name, expert, "learn"):
        way.teach(expert, X, y)


def learn_expert(name, expert, X, y, way):
    """Teach one expert rows in place.

    Parameters
    ----------
    name : str
    expert : estimator
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    way : Numbers or Probabilities
        Not shared with other experts.

    Returns
    -------
    forecasts : ndarray of shape (n,) or (n, C)
        Each made before its target, NaN where it was not sane; fewer where the expert failed.
    error : Exception or None
        What the expert failed with when it had no sane forecast: it has learnt no row since.
    """
    if hasattr(expert, way.whole):
        with _naming(name, expert, "learn"):
            forecasts = way.learn(expert, X, y)
        return way.sane(forecasts, slice(None)), None
    X, y = X.copy(), y.copy()  # the caller's own memory, which an expert might keep or change
    forecasts = way.nothing(len(y))
    with np.errstate(over="ignore", invalid="ignore"):  # threads do not inherit the shell's
        for t in range(len(y)):
            row = slice(t, t + 1)
            if way.is_first:
                forecasts[row] = way.unknown(1)
            else:
                forecasts[row] = forecast_expert(name, expert, X[row], way, row)
            try:
                teach_expert(name, expert, X[row], y[row], way)
            except ValueError as error:
                overflowed = isinstance(error.__cause__, (ValueError, ArithmeticError))
                if overflowed and np.isnan(forecasts[t]).all():
                    return forecasts[:t], error.__cause__
                raise
    return forecasts, None


@contextmanager
def _naming(name, expert, verb):
    """Say which expert failed."""
    try:
        yield
    except Exception as error:
        raise ValueError(
            f"The expert {name!r} ({type(expert).__name__}) failed to {verb}: {error}"
        ) from error


def _as_they_are(X):
    return X


def _fault(expert, of_classes):
    """Say why something cannot be an expert, or return None."""
    if isinstance(expert, type):
        return f"is the class {expert.__name__}, not an instance of it"
    if not all(hasattr(expert, verb) for verb in ("get_params", "predict")):
        return f"is no estimator: {expert!r}"
    kind = type(expert).__name__
    if not hasattr(expert, "partial_fit"):
        return f"cannot learn from a stream: {kind} has no 'partial_fit'"
    forecasts_labels = hasattr(expert, "__sklearn_tags__") and is_classifier(expert)
    if forecasts_labels and not of_classes:
        return f"is a classifier, {kind}, and forecasts labels"
    if of_classes and not hasattr(expert, "predict_proba"):
        return f"forecasts no probabilities: {kind}, as it is, has no 'predict_proba'"
    return None
