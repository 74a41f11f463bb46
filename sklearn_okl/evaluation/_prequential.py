"""Prequential (test, then train) evaluation of online estimators."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, suppress
from inspect import signature
from numbers import Integral
from typing import NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import Bunch, _safe_indexing, check_consistent_length, check_scalar

from .._delay import delay_of
from .._documentation import cites
from .._types import Any, ArrayLike, Callable
from .._validation import sorted_together, with_nan
from ..losses import Loss

_ONLINE_CHUNK = 4096  # rows a call of prequential_predict: the progress bar's step, nothing else


def _squared_error(y_true, y_pred):
    return (y_true - y_pred) ** 2


def _absolute_error(y_true, y_pred):
    return np.abs(y_true - y_pred)


def _zero_one(y_true, y_pred):
    return (y_true != y_pred).astype(np.float64)


def _log_loss(places, P):
    """Return the log losses of probabilities (n, C), as scikit-learn's metric clips them."""
    told = P[np.arange(len(P)), places]
    return -np.log(np.maximum(told, np.finfo(np.float64).eps))


_LOSSES = {  # of forecasts in the form of targets; the log loss is of probabilities
    "squared_error": _squared_error,
    "absolute_error": _absolute_error,
    "zero_one": _zero_one,
}
_OF_LABELS = ("zero_one", "log_loss")


@cites
def prequential(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    delay: int | ArrayLike | None = None,
    chunk_size: int | None = None,
    loss: str | Loss | Callable[..., Any] = "squared_error",
    window: int = 500,
    initial_forecast: Any = np.nan,
    scoring: Any = None,
    verbose: bool = False,
) -> Bunch:
    """Test an estimator on each row of a stream, then train it on that row.

    Parameters
    ----------
    estimator : estimator object
        Anything with ``partial_fit`` and ``predict``. It is cloned, as in
        :func:`sklearn.model_selection.cross_validate`, and stays as it is: the figures are those of
        a learner that starts from nothing, whatever the argument has seen before. To go on with a
        learnt model call its own ``prequential_predict``.
    X : array-like of shape (n_samples, n_features)
        Rows in the order in which they come: array, sparse matrix or DataFrame.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets. NaN is a missing one, for estimators that learn from others all the same; its row
        is forecast, and not scored.
    delay : int or array-like of int of shape (n_samples,), default=None
        How late the labels come. A number D of rounds: row t is forecast when the labels of the
        rows up to t - 1 - D have been learnt, and no other. An array, the arrivals: ``delay[i]``,
        greater than i, is the first round that knows the label of row i (``n_samples`` or more:
        after the last forecast), so that D is ``np.arange(n_samples) + 1 + D``. Labels are learnt
        in the order in which they arrive, those of one round in the order of their rows; those
        that arrive after the last forecast are learnt in the end. None is the ``label_delay`` of
        the estimator, or 0 where it has none.
    chunk_size : int, default=None
        Rows a call. An estimator with ``prequential_predict`` forecasts every row before it learns
        it however the stream is cut, so the size changes nothing but the steps of the progress bar;
        None means 4096. Any other estimator forecasts a chunk and then learns it; None means 1, the
        true row-by-row evaluation. Larger chunks are faster, and their forecasts are made with a
        model up to ``chunk_size`` rows old. Not to be given with a delay other than that
        of None: there the arrivals cut the stream.
    loss : {"squared_error", "absolute_error", "zero_one", "log_loss"}, Loss or callable, \
            default="squared_error"
        Loss of a row. A callable gets ``(y_true, y_pred)`` and returns one loss per row. Named
        losses and a :class:`~sklearn_okl.losses.Loss` are averaged over several targets.
        ``"zero_one"`` and ``"log_loss"`` are for classifiers, whose first call gets
        ``classes=np.unique(y)`` if it takes ``classes``. The log loss is in nats, of
        ``predict_proba`` and ``prequential_predict_proba``; probabilities below the machine's
        precision count as that.
    window : int, default=500
        Rows over which ``windowed_loss`` is a mean.
    initial_forecast : float or label, default=nan
        Forecast for the first chunk of an estimator without ``prequential_predict``, which cannot
        forecast before it has been trained; with a delay, the forecast of any estimator for all
        rows before the first label arrives, of a row without gaps in its targets. NaN leaves these
        rows out of every mean and sum.
    scoring : str, callable, list, tuple or dict, default=None
        What else the same forecasts are scored by, as :func:`compare` takes it: names of losses or
        scorers, metrics ``(y_true, y_pred)``, a list of these, or a dict with names of their own.
    verbose : bool, default=False
        Whether to show progress: a bar if ``tqdm`` is installed, else a line on stderr.

    Returns
    -------
    result : Bunch
        - ``forecasts``, the shape of y: the forecast made for each row before its target was seen;
          with the log loss probabilities (n_samples, n_classes), whose columns are
          ``np.unique(y)``;
        - ``losses`` (n_samples,): loss of each row, NaN where there was no forecast or no target;
        - ``cumulative_loss`` (n_samples,): running sum of the losses;
        - ``running_loss`` (n_samples,): running mean of the losses;
        - ``windowed_loss`` (n_samples,): mean of the last ``window`` losses;
        - ``mean_loss`` : float, the last running mean (NaN if no row had a forecast);
        - ``scores`` : dict of float, by name, what `scoring` asks for, over the same rows;
        - ``seconds`` : float, wall time of forecasting and learning;
        - ``estimator`` : the trained clone.

    Raises
    ------
    TypeError
        If the estimator has no ``partial_fit`` and no ``prequential_predict``; or, with a delay
        other than that of None, no ``partial_fit`` or no ``predict``; or, with the log loss, no
        ``predict_proba``.
    ValueError
        If the loss is unknown, lengths differ, or a callable returns the wrong shape; if the delay
        is negative, or arrivals are not integers, one per row and greater than the row; if
        ``chunk_size`` is given with a delay other than that of None.

    Notes
    -----
    With a delay other than the ``label_delay`` of the estimator, 0 where it has none, the rows are
    forecast by ``predict`` and learnt by ``partial_fit``, also where there is a
    ``prequential_predict``, which would know other labels. Labels that arrive in one round are
    learnt in one call by an estimator with ``prequential_predict``, to which the cut makes no
    difference, and in one call each by any other. Rows between which no label arrives are forecast
    in one call, as ``predict`` treats rows independently. So a delay costs up to two calls per
    round, of an estimator that without it is called once for thousands of rows.

    An estimator whose ``label_delay`` is the delay does the same in its ``prequential_predict``,
    in calls of thousands of rows, and the figures are the same, those of the rows before the first
    label included. Outside of it, ``label_delay`` only says which row ``predict`` is for and keeps
    no label back. So one of 30 may serve labels that arrive 20 to 40 rounds late, and `delay` says
    that they do.

    Only rows for which there *could* be no forecast, or of which a target is missing, are left out.
    A NaN that a trained estimator forecasts is its failure: it makes the sums from there on, and
    every window that holds it, NaN.

    The windowed mean costs O(n) and is as exact as summing each window by itself: the stream is cut
    into blocks of ``window`` rows, and a window is the end of one block and the beginning of the
    next, so it is the sum of a running sum from the right and one from the left. (Subtracting
    running sums instead would leave the rounding error of large early losses in every later mean.)

    References
    ----------
    Dawid 1984; Gama et al. 2013, section 3. On late labels: M. Grzenda, H. M. Gomes, A. Bifet,
    "Delayed labelling evaluation for data streams", Data Mining and Knowledge Discovery 34, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDRegressor
    >>> from sklearn_okl.evaluation import prequential
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> result = prequential(SGDRegressor(random_state=0, eta0=0.1), X, X @ [1.0, -1.0], window=50)
    >>> bool(np.isnan(result.losses[0]))
    True
    >>> bool(result.windowed_loss[-1] < 0.1 * result.running_loss[49])
    True

    The same when every label arrives 20 rounds late, so that the first 21 rows have no forecast,
    and when each arrives 20 to 40 rounds late, out of order:

    >>> model = SGDRegressor(random_state=0, eta0=0.1)
    >>> late = prequential(model, X, X @ [1.0, -1.0], delay=20)
    >>> int(np.isnan(late.forecasts).sum())
    21
    >>> arrivals = np.arange(300) + 1 + np.random.default_rng(1).integers(20, 41, size=300)
    >>> later = prequential(model, X, X @ [1.0, -1.0], delay=arrivals)
    >>> bool(result.mean_loss < late.mean_loss < later.mean_loss)
    True
    """
    verbs = _LABELS if loss != "log_loss" else _PROBABILITIES
    scores = _checked_scores(scoring, verbs)
    online = hasattr(estimator, verbs.learn)
    _check_estimator(estimator, verbs, online, loss)
    check_scalar(window, "window", Integral, min_val=1)
    chunk_size_given = chunk_size is not None
    if not chunk_size_given:
        chunk_size = _ONLINE_CHUNK if online else 1
    check_scalar(chunk_size, "chunk_size", Integral, min_val=1)
    X, y = _checked_stream(X, y, loss)
    own = delay_of(estimator)
    n_rounds, arrivals = _checked_delay(own if delay is None else delay, len(y))
    queued = n_rounds != own or (own > 0 and not online)
    if queued:
        _check_queue(estimator, verbs, chunk_size_given)

    model = clone(estimator)
    start = time.perf_counter()
    if queued:
        forecasts = _run_queue(model, X, y, arrivals, verbs, online, initial_forecast, verbose)
    else:
        forecasts = _run(model, X, y, verbs, online, chunk_size, initial_forecast, verbose)
    seconds = time.perf_counter() - start

    scored = have_targets(y)
    if queued or own > 0:
        n_cold = arrivals[scored].min(initial=len(y))  # rows before the first label
        forecasts[:n_cold] = initial_forecast  # an estimator may have made some of its own
    else:
        n_cold = 0 if online else chunk_size
    if initial_forecast != initial_forecast:  # NaN
        scored[:n_cold] = False
    if verbs is _PROBABILITIES:
        y = np.unique(y, return_inverse=True)[1]
    losses = _all_losses(y, forecasts, scored, loss, window)
    scored = {name: score(y[scored], forecasts[scored]) for name, score in scores.items()}
    return Bunch(forecasts=forecasts, **losses, scores=scored, seconds=seconds, estimator=model)


def have_targets(y):
    """Return which rows (n,) have all of their targets: NaN is a missing one."""
    if y.dtype.kind != "f":
        return np.ones(len(y), dtype=bool)
    return ~np.isnan(y).any(axis=tuple(range(1, y.ndim)))


def _all_losses(y, forecasts, scored, loss, window):
    """Return the losses of the rows that are scored, NaN of the others, their sums and means."""
    losses = np.full(len(y), np.nan)
    losses[scored] = _row_losses(loss, y[scored], forecasts[scored])
    summands = np.where(scored, losses, 0.0)
    cumulative = np.cumsum(summands)
    running = _mean(cumulative, np.cumsum(scored))
    return {
        "losses": losses,
        "cumulative_loss": cumulative,
        "running_loss": running,
        "windowed_loss": _mean(_window_sums(summands, window), _window_sums(scored, window)),
        "mean_loss": float(running[-1]) if len(y) else np.nan,
    }


def _checked_scores(scoring, verbs):
    """Return functions of targets and forecasts by name."""
    if scoring is None:
        return {}
    if verbs is _PROBABILITIES:
        raise ValueError(
            "With loss='log_loss' forecasts are probabilities, and 'scoring' is for numbers or "
            "labels: leave one of the two out."
        )
    from ._scoring import named_scores, score_forecasts  # which know the losses here

    nothing = np.empty(0, dtype=int)
    return {
        name: lambda *pairs, score=score: score_forecasts(score, *pairs, nothing)[0]
        for name, score in named_scores(scoring, taken=()).items()
    }


def _check_estimator(estimator, verbs, online, loss):
    """Refuse an estimator that cannot learn row by row, and a loss that is none or none of it."""
    if not online and not hasattr(estimator, "partial_fit"):
        raise TypeError(
            f"{type(estimator).__name__} has no partial_fit, so it cannot learn row by row; "
            "use an online estimator."
        )
    check_loss(loss)
    if not hasattr(estimator, verbs.ask) and verbs is _PROBABILITIES:
        raise TypeError(
            f"{type(estimator).__name__}, as it is, has no predict_proba, and loss='log_loss' is "
            "one of probabilities; use loss='zero_one', or a classifier that has them."
        )


def _checked_stream(X, y, loss):
    """Return rows and targets of a stream, or say what is wrong with them."""
    X = np.asarray(X) if isinstance(X, (list, tuple)) else X
    y = np.asarray(y)
    if y.dtype.kind == "O":  # numbers and None, say
        with suppress(TypeError, ValueError):
            y = with_nan(y, as_numbers=True)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, got the shape {y.shape}.")
    check_consistent_length(X, y)
    if not callable(loss) and loss not in _OF_LABELS and y.dtype.kind not in "biuf":
        raise ValueError(f"loss={loss!r} needs numbers in y; use loss='zero_one' for labels.")
    return X, y


def _checked_delay(delay, n):
    """Return the number of rounds that every label is late, or None, and the arrivals (n,)."""
    rows = np.arange(n)
    if np.ndim(delay) == 0:
        check_scalar(delay, "delay", Integral, min_val=0)
        return delay, rows + 1 + min(delay, n)  # n rounds late is after the end, as are more
    arrivals = np.asarray(delay)
    if arrivals.shape != (n,):
        raise ValueError(
            f"delay must be a number of rounds or an array of arrivals, one for each of the {n} "
            f"rows, but has the shape {arrivals.shape}."
        )
    if arrivals.dtype.kind not in "iu":
        raise ValueError(
            f"The arrivals in delay must be integers, numbers of rounds, got {arrivals.dtype}."
        )
    arrivals = arrivals.astype(np.int64)
    too_early = np.flatnonzero(arrivals <= rows)
    if len(too_early):
        row = too_early[0]
        raise ValueError(
            f"Row {row} has a label that arrives in round {arrivals[row]}, before the row has been "
            f"forecast: an arrival must be greater than its row, here {row + 1} or more."
        )
    n_rounds = arrivals - rows - 1
    return (int(n_rounds[0]) if n and np.ptp(n_rounds) == 0 else None), arrivals


def _check_queue(estimator, verbs, chunk_size_given):
    """Refuse what cannot be evaluated in separate calls of predict and partial_fit."""
    missing = [name for name in ("partial_fit", verbs.ask) if not hasattr(estimator, name)]
    if missing:
        raise TypeError(
            f"{type(estimator).__name__} has no {' and no '.join(missing)}, so it cannot be "
            "evaluated with this delay, under which it forecasts and learns in separate calls."
        )
    if chunk_size_given:
        raise ValueError(
            "chunk_size cannot be given with a delay other than the label_delay of the estimator "
            "(0 if it has none): the rounds in which labels arrive say which rows are forecast and "
            "learnt together."
        )


def _run_queue(model, X, y, arrivals, verbs, online, initial_forecast, verbose):
    """Do as `_run` does, each label being learnt when it arrives."""
    n = len(y)
    forecasts = verbs.nothing(y, initial_forecast)
    options = _first_call(model, model.partial_fit, y)
    order = np.argsort(arrivals, kind="stable")  # those of one round in the order of the rows
    rounds, starts = np.unique(arrivals[order], return_index=True)
    together = np.split(order, starts)[1:]
    with _progress(n, verbose) as advance:
        advance(arrivals.min(initial=n))
        for start, stop, arrived in zip(rounds, np.append(rounds, n)[1:], together, strict=True):
            # several rows in a call are one shuffled epoch for scikit-learn's gradient descent
            for rows in [arrived] if online else arrived[:, None]:
                model.partial_fit(_safe_indexing(X, rows), y[rows], **options)
                options = {}
            if start < n:
                rows = slice(start, min(stop, n))
                forecasts[rows] = getattr(model, verbs.ask)(_safe_indexing(X, rows))
                advance(rows.stop - rows.start)
    return forecasts


class _Verbs(NamedTuple):
    """How a model is asked: the method that learns and forecasts, that which forecasts."""

    learn: str
    ask: str
    nothing: Callable  # (y, initial forecast) -> forecasts that are yet to be made


def _no_forecasts(y, initial_forecast):
    dtype = np.float64 if y.dtype.kind in "biuf" else object
    return np.full(y.shape, initial_forecast, dtype=dtype)


def _no_probabilities(y, initial_forecast):
    return np.full((len(y), len(_classes_of(y))), initial_forecast, dtype=np.float64)


_LABELS = _Verbs("prequential_predict", "predict", _no_forecasts)
_PROBABILITIES = _Verbs("prequential_predict_proba", "predict_proba", _no_probabilities)


def _first_call(model, learn, y):
    """Return what a classifier must be told in its first call: the classes."""
    parameters = signature(learn).parameters.values()
    # pipelines hand all they get to their last step
    takes = any(one.name == "classes" or one.kind is one.VAR_KEYWORD for one in parameters)
    return {"classes": _classes_of(y)} if is_classifier(model) and takes else {}


def _classes_of(y):
    with sorted_together():
        return np.unique(y)


def _run(model, X, y, verbs, online, chunk_size, initial_forecast, verbose):
    """Train the model on the stream and return the forecasts, of the shape of y."""
    forecasts = verbs.nothing(y, initial_forecast)
    learn = getattr(model, verbs.learn) if online else model.partial_fit
    first_call = _first_call(model, learn, y)
    with _progress(len(y), verbose) as advance:
        for start in range(0, len(y), chunk_size):
            rows = slice(start, start + chunk_size)
            X_chunk, y_chunk = _safe_indexing(X, rows), y[rows]
            options = first_call if start == 0 else {}
            if online:
                forecasts[rows] = learn(X_chunk, y_chunk, **options)
            else:
                if start > 0:
                    forecasts[rows] = getattr(model, verbs.ask)(X_chunk)
                learn(X_chunk, y_chunk, **options)
            advance(len(y_chunk))
    return forecasts


def is_class_of_losses(loss):
    """Tell whether a class is given for one of its instances."""
    return isinstance(loss, type) and issubclass(loss, Loss)


def check_loss(loss):
    """Refuse what is no loss of a row."""
    names = sorted([*_LOSSES, "log_loss"])
    if isinstance(loss, Loss):
        if loss.of_labels:
            raise ValueError(
                f"loss={loss!r} is one of labels -1 and +1 and decision values. Forecasts are "
                "scored by losses of targets; for labels give 'zero_one' or 'log_loss'."
            )
    elif is_class_of_losses(loss) or (not callable(loss) and loss not in names):
        raise ValueError(f"loss must be one of {names}, a Loss or another callable, got {loss!r}.")


def _row_losses(loss, y_true, y_pred):
    """Return the losses of the rows, averaged over targets, as floats (n,).

    In the log loss `y_true` are places of classes.
    """
    if loss == "log_loss":
        return _log_loss(y_true, y_pred)
    if not callable(loss):
        losses = (loss.value if isinstance(loss, Loss) else _LOSSES[loss])(y_true, y_pred)
        return losses if losses.ndim == 1 else losses.mean(axis=1)
    losses = np.asarray(loss(y_true, y_pred), dtype=np.float64)
    if losses.shape != y_true.shape[:1]:
        raise ValueError(
            f"The loss must return one number per row, shape {y_true.shape[:1]}, "
            f"but returned the shape {losses.shape}."
        )
    return losses


def _mean(sums, counts):
    """Return sums / counts, NaN where the count is 0."""
    return np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)


def _window_sums(values, window):
    """Sum the last ``window`` values at each place, without a subtraction."""
    n = len(values)
    window = min(window, max(n, 1))
    n_blocks = -(-n // window)
    blocks = np.zeros(n_blocks * window)
    blocks[:n] = values
    blocks = blocks.reshape(n_blocks, window)
    from_left = np.cumsum(blocks, axis=1)
    from_right = np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1]
    # a window that ends at place i of a block holds the places after i of the block before
    sums = from_left
    sums[1:, :-1] += from_right[:-1, 1:]
    return sums.ravel()[:n]


@contextmanager
def _progress(total, verbose):
    """Yield a function that is told how many more rows are done."""
    if not verbose:
        yield lambda n_rows: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield from _plain_progress(total)
        return
    with tqdm(total=total, unit="row") as bar:
        yield bar.update


def _plain_progress(total):
    """Write ``rows done/total`` on one line of stderr, at most four times a second."""
    done, shown = 0, 0.0

    def advance(n_rows):
        nonlocal done, shown
        done += n_rows
        now = time.perf_counter()
        if done == total or now - shown > 0.25:
            shown = now
            sys.stderr.write(f"\r{done}/{total} rows")
            sys.stderr.flush()

    yield advance
    sys.stderr.write("\n")
