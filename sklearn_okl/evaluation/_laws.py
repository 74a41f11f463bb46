"""The laws of an online estimator, as checks for anybody's `partial_fit`.

scikit-learn's `check_estimator` is nearly blind to `partial_fit`: most broken online learners pass
it. These checks are its complement.
"""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import warnings
from contextlib import contextmanager
from functools import partial
from itertools import chain

import numpy as np
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from .._documentation import explained_by
from .._linalg import one_blas_thread, one_thread
from .._types import Any, Seed
from ..base import ConvexAggregator, OnlineEstimator
from ._law_of_structure import asked, check_structural

_RTOL = 1e-8
_CLASSES = np.array([0.0, 1.0])
_PREQUENTIAL = "prequential_predict_proba", "prequential_predict"
_FAR = 1e20  # a target whose rounding would be seen among forecasts that have to do with it
_POOLS = {"joblib", "multiprocessing", "concurrent", "threading", "queue", "weakref"}


def online_checks(estimator: Any, *, random_state: Seed = 0, grows: bool = False) -> None:
    """Yield the laws of an online regressor or classifier as callables, one a law.

    Parameters
    ----------
    estimator : estimator object
        An unfitted regressor, or classifier of two classes, with `partial_fit`, `predict` and, for
        the law of progressive forecasts, `prequential_predict`. It is cloned, never changed. Where
        it has a `random_state`, that should be fixed.
    random_state : int, RandomState instance or None, default=0
        Source of the streams.
    grows : bool, default=False
        Whether the model may grow with the stream, as exact kernel methods do.

    Yields
    ------
    name : str
        The law.
    check : callable
        Takes nothing; raises AssertionError, with a message, where the law is broken, or whatever
        the estimator raised.

    See Also
    --------
    check_online_estimator : Run them all.

    Examples
    --------
    >>> from sklearn_okl import VAWRegressor
    >>> from sklearn_okl.evaluation import online_checks
    >>> [name for name, check in online_checks(VAWRegressor())][0]
    'the same rows, the same forecasts'
    """
    rng = check_random_state(random_state)
    streams = [_stream(rng, n_features) for n_features in (3, 6)]
    if is_classifier(estimator):
        streams = [(X, _CLASSES[(y > np.median(y)).astype(int)]) for X, y in streams]
    laws = {
        "the same rows, the same forecasts": _check_same,
        "cutting the stream changes nothing": _check_cutting,
        "prequential_predict is the loop of predict and partial_fit": _check_prequential,
        "no forecast knows its own target, or a later one": _check_unknown,
        "what is learnt depends on the targets": _check_learns,
        "fit forgets": _check_fit_forgets,
        "predict is pure": _check_purity,
        "a pickle or a copy in mid-stream goes on bit for bit": _check_resume,
        "inputs are neither changed nor kept": _check_inputs,
        "a rejected batch leaves the model as it was": _check_rejected,
        "an interrupted call leaves the model as it was": _check_interrupted,
    }
    if isinstance(estimator, OnlineEstimator):
        laws["a parameter that shapes the state cannot change in mid-stream"] = check_structural
    if isinstance(estimator, ConvexAggregator):
        laws["an expert that is always right gains weight"] = _check_gains
    if hasattr(estimator, "explain"):
        laws["explain is pure, and its entries add up to the forecasts"] = _check_explained
    if hasattr(estimator, "merge"):
        laws["parts merged are one pass"] = _check_merged
    if hasattr(estimator, "unlearn"):
        laws["rows unlearnt have never been there"] = _check_unlearnt
    if not grows:
        laws["the model does not grow"] = _check_growth
    for name, law in laws.items():
        for X, y in streams[:1] if law is check_structural else streams:
            yield name, partial(_checked, law, estimator, X, y)


@explained_by(online_checks)
def check_online_estimator(estimator: Any, *, random_state: Seed = 0, grows: bool = False) -> None:
    """Check that an online regressor or classifier keeps the laws.

    Parameters
    ----------
    estimator : estimator object
        An unfitted regressor, or classifier of two classes, with `partial_fit` and `predict`. It is
        cloned, never changed.

    Raises
    ------
    AssertionError
        With the name of the first law that is broken, whatever error ended its check.

    See Also
    --------
    sklearn.utils.estimator_checks.check_estimator : scikit-learn's own conventions.

    Examples
    --------
    A model that keeps every law passes in silence; scikit-learn's SGD does not forecast what its
    own cut of the stream would:

    >>> from sklearn.linear_model import SGDRegressor
    >>> from sklearn_okl import VAWRegressor
    >>> from sklearn_okl.evaluation import check_online_estimator
    >>> check_online_estimator(VAWRegressor())
    >>> check_online_estimator(SGDRegressor(random_state=0))
    Traceback (most recent call last):
        ...
    AssertionError: SGDRegressor breaks the law 'cutting the stream changes nothing': ...
    """
    for name, check in online_checks(estimator, random_state=random_state, grows=grows):
        try:
            check()
        except Exception as error:
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            raise AssertionError(
                f"{type(estimator).__name__} breaks the law {name!r}: {kind}{error}"
            ) from error


def _checked(law, estimator, X, y):
    with warnings.catch_warnings():  # as the rows are centred and the targets are not
        warnings.filterwarnings("ignore", ".*the features express no constant")
        law(estimator, X, y)


def _stream(rng, n_features, n_samples=150):
    X = rng.uniform(-1, 1, size=(n_samples, n_features)) / np.sqrt(n_features)
    y = 0.5 + 0.3 * np.sin(5 * X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(n_samples)
    return X, np.clip(y, 0, 1)


def _named(estimator):
    """Name the classes, which the first rows may not show."""
    return {"classes": _CLASSES} if is_classifier(estimator) else {}


def _teach(model, X, y):
    return model.partial_fit(X, y, **_named(model))


def _taught(estimator, X, y):
    """Return a model taught by one long call and then row by row, as most are in use."""
    model, n = _teach(clone(estimator), X[:-5], y[:-5]), len(y)
    for t in range(n - 5, n):
        _teach(model, X[t : t + 1], y[t : t + 1])
    return model


def _learn(estimator, X, y, ends):
    """Learn the stream in calls that end at the given rows; return the forecasts, if any."""
    forecasts, low = [], 0
    for high in ends:
        if hasattr(estimator, "prequential_predict"):
            forecasts.append(
                estimator.prequential_predict(X[low:high], y[low:high], **_named(estimator))
            )
        else:
            _teach(estimator, X[low:high], y[low:high])
        low = high
    return np.concatenate(forecasts) if forecasts else asked(estimator, X)


def _check_same(estimator, X, y):
    X, y = X[:40], y[:40]
    forecasts = [_learn(clone(estimator), X, y, [len(y)]) for _ in range(2)]
    if np.allclose(*forecasts, rtol=_RTOL, atol=_RTOL * np.abs(forecasts[0]).max()):
        return
    seeds = [
        name
        for name, value in estimator.get_params().items()
        if value is None and name.rpartition("__")[2] == "random_state"
    ]
    cure = f"Set {' and '.join(seeds)}, which is None" if seeds else "It draws from no random_state"
    raise AssertionError(
        "two clones that learnt the same rows forecast otherwise, so that no other law can be "
        f"checked. {cure}."
    )


def _check_cutting(estimator, X, y):
    n = len(y)
    whole = clone(estimator)
    expected = _learn(whole, X, y, [n])
    scale = np.abs(expected).max()
    for ends in ([1, 2, n], [n // 3, 64, 67, 128, n], [*_looked_at(n), n]):
        model = clone(estimator)
        forecasts = _learn(model, X, y, ends)
        assert_allclose(forecasts, expected, rtol=_RTOL, atol=_RTOL * scale)
        assert_allclose(asked(model, X), asked(whole, X), rtol=_RTOL, atol=_RTOL * scale)


def _looked_at(n):
    """Return rows before which a stream is cut: the first, around ends of blocks, some others.

    A call for each of all rows would take more than twice the time.
    """
    ends = [range(end - 2, end + 4) for end in (32, 64, 128)]
    return [t for t in sorted({*range(25), *range(25, n, 7), *chain(*ends), n - 1}) if 0 < t < n]


def _check_prequential(estimator, X, y):
    if not hasattr(estimator, "prequential_predict"):
        return
    delay = getattr(estimator, "label_delay", 0)
    whole, model = clone(estimator), clone(estimator)
    forecasts = whole.prequential_predict(X, y)
    one_by_one = forecasts.copy()  # before its first row a model cannot be asked to predict
    learnt = 0
    for t in _looked_at(len(y) - delay):
        _teach(model, X[learnt:t], y[learnt:t])
        one_by_one[t + delay] = model.predict(X[t + delay : t + delay + 1])[0]
        learnt = t
    assert_allclose(forecasts, one_by_one, rtol=_RTOL, atol=_RTOL * np.abs(forecasts).max())


def _check_unknown(estimator, X, y):
    verbs = [verb for verb in _PREQUENTIAL if hasattr(estimator, verb)]
    if not verbs:
        return
    delay = getattr(estimator, "label_delay", 0)

    def forecasts(targets):
        return getattr(clone(estimator), verbs[0])(X, targets, **_named(estimator))

    expected = forecasts(y)
    scale = np.abs(expected).max()
    for t in (5, 67):
        others = y.copy()
        if is_classifier(estimator):
            others[t:] = _CLASSES[(y[t:] == _CLASSES[0]).astype(int)]
        else:
            others[t] = _FAR
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = forecasts(others)
        except ValueError:  # a target so far off may be refused, or warned of
            continue
        known = slice(0, t + delay + 1)
        assert_allclose(found[known], expected[known], rtol=_RTOL, atol=_RTOL * scale)


def _experts(X):
    """Return rows whose columns are forecasts of targets in [0, 1]."""
    return 0.5 + X / 2


def _check_learns(estimator, X, y):
    F = _experts(X)
    answers = []
    for right in (0, -1):  # the column that is right all the time, as the others are not
        targets = F[:, right]
        if is_classifier(estimator):
            targets = _CLASSES[(targets > np.median(targets)).astype(int)]
        answers.append(asked(_teach(clone(estimator), F, targets), F))
    assert not np.array_equal(*answers), (
        "a stream whose targets are the first column of X and one whose targets are the last leave "
        "the same forecasts, so nothing is learnt from targets"
    )


def _check_gains(estimator, X, y):
    F = _experts(X)
    model = _teach(clone(estimator), F[:1], F[:1, 0])
    before = model.weights_
    after = _teach(model, F[1:], F[1:, 0]).weights_
    assert after[0] > before[0], (
        f"its weight went from {before[0]:.3g} to {after[0]:.3g} in {len(F) - 1} rounds; _update "
        "gets the loss of the forecast less that of each expert, positive for the better ones"
    )


def _check_fit_forgets(estimator, X, y):
    fresh = clone(estimator).fit(X, y)
    used = clone(estimator).fit(X[::2, :2], y[::2]).fit(X, y)
    assert_array_equal(asked(used, X), asked(fresh, X))
    started = _teach(clone(estimator), X, y)
    assert_array_equal(asked(started, X), asked(fresh, X))


def _check_purity(estimator, X, y):
    model = _taught(estimator, X, y)
    before = pickle.dumps(model)
    first = asked(model, X)
    for method in ("predict_experts", "decision_function"):
        if hasattr(model, method):
            getattr(model, method)(X)
    assert pickle.dumps(model) == before, "predict changed the model"
    assert_array_equal(asked(model, X), first)


def _check_explained(estimator, X, y):
    model = _taught(estimator, X, y)
    before = pickle.dumps(model)
    try:
        forecasts = model.explain(X[:2], background=X[-3:]).forecasts
    except TypeError:  # it says why not
        return
    except ValueError:  # steps before it mix all columns, which are one player then
        together = {"all": list(range(X.shape[1]))}
        forecasts = model.explain(X[:2], background=X[-3:], groups=together).forecasts
    ask = getattr(model, "decision_function", model.predict)
    assert_allclose(forecasts, ask(X[:2]), rtol=_RTOL, atol=_RTOL)
    assert pickle.dumps(model) == before, "explain changed the model"


def _check_merged(estimator, X, y):
    parts = [_teach(clone(estimator), X[i::3], y[i::3]) for i in range(3)]
    try:
        merged = parts[0].merge(parts[1]).merge(parts[2])
    except TypeError:  # it says to what the order matters
        return
    expected = asked(_taught(estimator, X, y), X)
    assert_allclose(asked(merged, X), expected, rtol=_RTOL, atol=_RTOL * np.abs(expected).max())


def _check_unlearnt(estimator, X, y):
    model = _taught(estimator, X, y)
    try:
        model.unlearn(X[20:60], y[20:60]).unlearn(X[-1:], y[-1:])
    except TypeError:  # it says to what the order matters
        return
    stay = np.r_[0:20, 60 : len(y) - 1]
    expected = asked(_taught(estimator, X[stay], y[stay]), X)
    assert_allclose(asked(model, X), expected, rtol=_RTOL, atol=_RTOL * np.abs(expected).max())


def _check_resume(estimator, X, y):
    half = len(y) // 2 + 3  # not at the end of a block
    for passed_on in (lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy):
        model = _taught(estimator, X[:half], y[:half])
        resumed = passed_on(model)
        expected = _learn(model, X[half:], y[half:], [len(y) - half])
        assert_array_equal(_learn(resumed, X[half:], y[half:], [len(y) - half]), expected)
        assert_array_equal(asked(resumed, X), asked(model, X))


def _check_inputs(estimator, X, y):
    X_given, y_given = X.copy(), y.copy()
    model = _teach(clone(estimator), X_given, y_given)
    expected = asked(model, X)
    assert_array_equal(X_given, X)
    assert_array_equal(y_given, y)
    X_given[...], y_given[...] = np.nan, np.nan
    assert_array_equal(asked(model, X), expected)
    forecasts = asked(model, X)
    forecasts[...] = np.nan
    assert_array_equal(asked(model, X), expected)


def _bad_batches(estimator, X, y):
    broken_X, broken_y, missing_y = X.copy(), y.copy(), y.copy()
    broken_X[len(X) // 2, 0] = np.inf
    broken_y[len(X) // 2], missing_y[len(X) // 2] = np.inf, np.nan
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    takes_missing = getattr(last, "_allow_nan_targets", False)
    return ({} if takes_missing else {"a missing target": (X, missing_y)}) | {
        "an infinite feature": (broken_X, y),
        "an infinite target": (X, broken_y),
        "too few targets": (X, y[:-1]),
        "no rows": (X[:0], y[:0]),
        "words": (np.full(X.shape, "word"), y),
        "a flat X": (X[:, 0], y),
    }


def _check_rejected(estimator, X, y):
    unfitted = clone(estimator)
    for what, (bad_X, bad_y) in _bad_batches(estimator, X, y).items():
        before = pickle.dumps(unfitted)
        _assert_rejected(unfitted, bad_X, bad_y, f"{what} in the first batch")
        assert pickle.dumps(unfitted) == before, f"{what} in the first batch left a trace"
    _teach(unfitted, X, y)
    assert_array_equal(asked(unfitted, X), asked(_teach(clone(estimator), X, y), X))
    model = _taught(estimator, X, y)
    batches = _bad_batches(estimator, X, y) | {"a column too many": (np.c_[X, X[:, 0]], y)}
    for what, (bad_X, bad_y) in batches.items():
        before = pickle.dumps(model)
        _assert_rejected(model, bad_X, bad_y, what)
        assert pickle.dumps(model) == before, f"{what} changed the model"


def _assert_rejected(model, X, y, what):
    try:
        _teach(model, X, y)
    except (ValueError, TypeError):
        return
    raise AssertionError(f"{what} was accepted")


class _InterruptAt:
    """Raise KeyboardInterrupt at the k-th call of a Python function; count only, where k is None.

    Python itself lets Ctrl-C through at these places (and at the end of loops), not inside C. The
    insides of thread pools are left in peace: an interrupt there may leave their locks shut.
    """

    def __init__(self, k=None):
        self.k, self.calls = k, 0

    def __call__(self, frame, event, argument):
        # generators may be on their way to be closed, where Python swallows exceptions
        if event != "call" or frame.f_code.co_flags & inspect.CO_GENERATOR:
            return
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _POOLS:
            self.calls += 1
            if self.calls == self.k:
                raise KeyboardInterrupt

    def __enter__(self):
        self._outer = sys.getprofile()
        sys.setprofile(self)
        return self

    def __exit__(self, *_):
        sys.setprofile(self._outer)


@contextmanager
def _mend_surroundings():
    """Mend what interrupts break in other packages, their settings and finalisers."""
    config, errors, hook = sklearn.get_config(), np.geterr(), sys.unraisablehook
    sys.unraisablehook = lambda unraisable: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            yield
            gc.collect()  # thread pools that lost their owner
    finally:
        sys.unraisablehook = hook
        sklearn.set_config(**config)
        np.seterr(**errors)


def _check_interrupted(estimator, X, y):
    known = len(y) * 3 // 4
    for stop in (known + 1, len(y)):  # one row, and many
        model = _taught(estimator, X[:known], y[:known])
        _check_interrupted_call(model, X[:stop], y[:stop], known)


def _check_interrupted_call(model, X, y, known):
    rehearsal = copy.deepcopy(model)
    with _InterruptAt() as counter:
        _teach(rehearsal, X[known:], y[known:])
    before, expected = pickle.dumps(model), asked(rehearsal, X)
    with _mend_surroundings():
        # the last call counted is that of __exit__
        for k in np.unique(np.linspace(1, counter.calls - 1, 20).astype(int)):
            try:
                with _InterruptAt(k):
                    _teach(model, X[known:], y[known:])
            except KeyboardInterrupt:
                # who was leaving may have left one thread, with which sums are rounded otherwise
                one_blas_thread.reset()
                one_thread.reset()
                if pickle.dumps(model) == before:
                    continue
            # it came when all was done, or at a place that swallows it, as some finalisers do
            assert_array_equal(
                asked(model, X), expected, f"half learnt, after call {k} of functions"
            )
            model = pickle.loads(before)
            before = pickle.dumps(model)  # the bytes may differ: fewer things are shared


def _check_growth(estimator, X, y):
    model = _teach(clone(estimator), X, y)
    sizes = []
    for _ in range(3):
        _teach(model, X, y)
        sizes.append(len(pickle.dumps(model)))
    # the digits of counters may add some bytes, a kept row adds hundreds
    assert max(sizes) - min(sizes) < 64, (
        f"the pickle grows: {sizes} bytes. If the model is meant to grow with the stream, say "
        "grows=True"
    )
