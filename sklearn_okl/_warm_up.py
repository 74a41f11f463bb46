"""What a pipeline does while it is warming up.

It forecasts the mean of the targets, or their classes, and refuses rows that its steps will not
learn. These learn when all rows are there, too late to tell which of them are wrong: so fresh ones
try each batch when it comes, after the latest rows that wait. Where that fails it may be for want
of rows. The batch is to blame if the rows before it can be learnt without it, or it can with other
numbers in place of those that are none.
"""

import warnings

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_array

from ._flow import joined
from .base import twin
from .features._moments import LARGEST

_TRIED = 4, 32  # rows before a batch with which it is tried, and if that fails


def first_targets(pipeline, known, y):
    """Return the targets of the warm-up, those known and the next ones; the others are not its."""
    y = y[: pipeline.warmup - (0 if known is None else len(known))]
    if not is_classifier(pipeline):
        numbers = {"dtype": np.float64, "ensure_2d": False, "ensure_min_samples": 0}
        y = check_array(y, **numbers, ensure_all_finite="allow-nan", input_name="y")
        if np.isnan(y).any():
            raise ValueError(
                f"Input y contains NaN in the first warmup={pipeline.warmup} rows, on which the "
                "steps are fitted and of which the pipeline itself forecasts the mean. Leave such "
                "rows out until the warm-up has ended."
            )
    return y if known is None else np.concatenate([known, y])


def check(pipeline, stream, batch):
    """Refuse a batch that the steps of a pipeline will refuse when its warm-up ends."""
    for n in _TRIED:
        recent = _latest(stream["waiting"], n)
        fault = _fault(pipeline, stream, [*recent, batch])
        if fault is None:
            return
    if recent and _fault(pipeline, stream, recent) is None:
        raise fault
    other = _mended(batch["X"])
    if other is not None and _fault(pipeline, stream, [*recent, batch | {"X": other}]) is None:
        raise fault


def end(pipeline, stream, error):
    """Say that a warm-up ends in an error, unless the last rows alone are to blame."""
    waiting = stream["waiting"]
    if waiting and _fault(pipeline, stream, waiting) is not None:
        raise ValueError(
            f"The warm-up ends here, and its rows are refused, of which "
            f"{sum(len(batch['y']) for batch in waiting)} came in earlier calls; "
            f"call 'fit' to start afresh. {error}"
        ) from error


def _latest(batches, n):
    """Return the latest batches that have so many rows together, or all."""
    low = len(batches)
    while low > 0 and n > 0:
        low -= 1
        n -= len(batches[low]["y"])
    return batches[low:]


def _fault(pipeline, stream, batches):
    """Return why fresh steps cannot learn some batches, or None."""
    rows, model = joined(batches), twin(pipeline)
    vars(model).pop("steps_", None)
    model.warmup = len(rows["y"])
    afresh = model._started() | {"params": stream["params"]}
    drawn = np.random.get_state()  # of steps with random_state=None, which draw again later
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows
        try:
            model._learn(afresh, rows, 0, "partial_fit", {}, {})
        except (ValueError, TypeError, ArithmeticError) as error:
            return error
        finally:
            np.random.set_state(drawn)
    return None


def _mended(X):
    """Return rows with 0 where numbers are none, or too large; None where all of them are some."""
    part = X.select_dtypes("number") if hasattr(X, "select_dtypes") else X
    try:
        numbers = np.array(part, dtype=np.float64)
    except (ValueError, TypeError):  # text, or sparse rows
        return None
    wrong = ~(np.abs(numbers) <= LARGEST)
    if not wrong.any():
        return None
    numbers[wrong] = 0.0
    return X.assign(**dict(zip(part.columns, numbers.T, strict=True))) if part is not X else numbers


def means(targets, n_known):
    """Return the means of the first targets (k,) or (k, q), of so many for each row (n,)."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.concatenate([np.zeros_like(targets[:1]), np.cumsum(targets, axis=0)])
    return (sums[n_known].T / np.maximum(n_known, 1)).T


def labels(targets, n_known, classes):
    """Return the most frequent of the first labels, of so many for each row (n,)."""
    return classes[np.argmax(_counts(targets, classes)[n_known], axis=1)]


def shares(targets, n_known, classes):
    """Return the shares (n, C) of classes among the first labels, of so many for each row (n,)."""
    counts = _counts(targets, classes)
    counts = np.where(counts.any(axis=1, keepdims=True), counts, 1)[n_known]  # at first all alike
    return counts / counts.sum(axis=1, keepdims=True)


def _counts(targets, classes):
    is_class = targets[:, None] == classes
    return np.vstack([np.zeros_like(classes, dtype=int), np.cumsum(is_class, axis=0)])
