"""What comes in from outside: scikit-learn's validation, and what it lets through in silence."""

import math
from contextlib import contextmanager
from datetime import date, timedelta
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_array, validate_data

from ._linalg import are_all

OF_DURATIONS = "Durations are numbers of seconds by '.dt.total_seconds()'."
NAMES = "feature_names_in_", "_other_names_in"  # of columns, where they are text or not
MISSING = ("NAType", "NaTType")  # of pandas, which need not be there
_FEW = 1024  # numbers that are looked at in two passes sooner than in one and a context


def validated(estimator, X, *y, **options):
    """Return rows, and targets where there are any, as scikit-learn's `validate_data` does.

    scikit-learn reads the numbers below a mask; here they are refused. Rows that need no more than
    a look are not sent through its checks, which take longer than some rows do.
    """
    if y:
        refuse_no_targets(estimator, *y)
    arrays = [_plain(given) for given in (X, *y)]
    if _needs_no_more(estimator, *arrays, **options):
        return tuple(arrays) if y else arrays[0]
    refuse_masks(X, *y)
    refuse_frames(X, takes_sparse=options.get("accept_sparse", False))
    if options.get("y_numeric"):
        refuse_other_targets(*y)
    if y and not options.get("multi_output"):
        _refuse_columns(estimator, arrays[1], options.get("y_numeric"))
    try:
        if options.get("y_numeric"):
            y = [with_nan(targets, as_numbers=True) for targets in y]
        found = checked(estimator, X, *y, **options)
        if options.get("y_numeric") and found[1].dtype.kind == "U":  # digits will do
            return found[0], found[1].astype(np.float64)
        return found
    except (TypeError, ValueError) as error:
        _say_what_is_none(estimator, error, X, *y)
        raise


def checked(estimator, X, *y, reset=True, **options):
    """Do what `validate_data` does; write or compare names of columns that are no text, too.

    scikit-learn knows no others, and takes columns that come in another order by their places.
    """
    found = validate_data(estimator, X, *y, reset=reset, **options)
    names, known = _other_names(X), vars(estimator).get("_other_names_in")
    if reset:
        vars(estimator).pop("_other_names_in", None)
        if names is not None:
            estimator._other_names_in = names
    elif names is not None and known is not None and names != known:
        default = [str(j) for j in range(len(names))]  # of a frame without names
        if default not in (names, known) or set(names) == set(known):
            raise ValueError(
                f"X has the columns [{', '.join(names)}], but the rows learnt had "
                f"[{', '.join(known)}]. Give the same columns in the same order."
            )
    return found


def _other_names(X):
    """Return the names of the columns of a frame as text if they are something else, or None."""
    columns = getattr(X, "columns", ())
    is_index = hasattr(columns, "get_indexer")  # other frames have text only
    if not is_index or len(columns) == 0 or isinstance(columns[0], str):
        return None
    return [repr(name.item() if isinstance(name, np.generic) else name) for name in columns]


def rows_of_numbers(estimator, X):
    """Return rows as finite numbers, or say in the words of `validated` what is none."""
    refuse_masks(X)
    refuse_frames(X)
    try:
        return check_array(X, dtype=np.float64, order="C", estimator=estimator)
    except (TypeError, ValueError) as error:
        _say_what_is_none(estimator, error, X)
        raise


def plain_row(estimator, x, allow_nan=False):
    """Return a row of numbers as (1, d), looked at for its length and for finite numbers."""
    row = x
    if not (type(x) is np.ndarray and x.dtype == np.float64 and x.flags.carray):
        row = _row_of_numbers(x)
    if row.shape != (estimator.n_features_in_,):
        raise ValueError(
            f"x has shape {row.shape}, and a row of this {type(estimator).__name__} has shape "
            f"({estimator.n_features_in_},): give one row, without the axis of the rows."
        )
    if not _are_finite(row):
        _refuse_infinite(row, "x", allow_nan)
    return row[None]


def plain_target(y, shape):
    """Return the target of one row as float64 of a shape (1,) or (1, q), looked at likewise."""
    target = np.array(y, dtype=np.float64)[None]
    if target.shape != shape:
        raise ValueError(
            f"y has shape {target.shape[1:]}, and the target of one row has shape {shape[1:]} here."
        )
    if not _are_finite(target):
        _refuse_infinite(target, "y", False)
    return target


def _row_of_numbers(x):
    refuse_masks(x)
    row = np.asarray(x)
    if row.dtype.kind not in "biuf":
        raise ValueError(
            f"x holds {row.dtype}, and rows of a row path are plain numbers: give an array of them."
        )
    return np.array(row, dtype=np.float64, order="C")


def _refuse_infinite(values, name, allow_nan):
    """Refuse NaN and infinity, one of which is there; NaN may be allowed."""
    if not allow_nan or np.isinf(values).any():
        what = "infinity" if np.isinf(values).any() else "NaN"
        raise ValueError(f"{name} contains {what}: leave the row out. Nothing is learnt of it.")


def is_missing(value):
    """Tell whether a value is None, NaN, or what pandas has for a missing one."""
    if isinstance(value, (float, np.floating, np.datetime64)):
        return bool(value != value)
    return value is None or type(value).__name__ in MISSING


def gaps_of(values):
    """Return which of the values, as an array, are missing, or None where none is."""
    kind = getattr(values, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind not in "fO":
        return None
    try:
        array = np.asarray(values)
    except ValueError:  # of no shape
        return None
    if array.dtype.kind == "O":
        gaps = [is_missing(value) for value in array.ravel().tolist()]
        return np.reshape(gaps, array.shape) if any(gaps) else None
    gaps = np.isnan(array) if array.dtype.kind == "f" else None
    return gaps if gaps is not None and gaps.any() else None


def with_nan(values, as_numbers=False):
    """Return an array with NaN for what is missing, if anything is: pandas' NA compares to none."""
    gaps = gaps_of(values)
    if gaps is None:
        return values
    found = np.where(gaps, np.nan, values)
    return found.astype(np.float64) if as_numbers else found


def is_lazy(given):
    """Tell whether something is a frame of polars that was not computed yet."""
    return type(given).__name__ == "LazyFrame" and hasattr(given, "collect")


def types_of(X):
    """Return names and types of the columns of a frame of pandas or polars, or nothing."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return []
    return list(zip(X.columns, X.dtypes, strict=True))


def holds_dates(kind):
    """Tell whether a type of NumPy, pandas or polars is one of times."""
    temporal = getattr(kind, "is_temporal", None)  # of polars
    return bool(temporal()) if callable(temporal) else getattr(kind, "kind", "") in ("m", "M")


def refuse_times(kind, where, said_of_dates):
    """Refuse what is of a type of times: dates as they are spoken of, durations as they are."""
    if not holds_dates(kind):
        return
    if getattr(kind, "kind", "") == "m" or str(kind).startswith("Duration"):  # of polars
        raise TypeError(f"{where} holds durations, no numbers without a unit. {OF_DURATIONS}")
    raise TypeError(f"{where} holds dates, which {said_of_dates}")


def refuse_containers(X, name="X"):
    """Refuse frames without rows yet, or with names that are no names, with a sentence.

    These are of mixed types, or, of X, those of several columns.
    """
    if is_lazy(X):
        raise TypeError(f"{name} is a LazyFrame, which holds no rows yet: give {name}.collect().")
    labels = [label for label, _ in types_of(X)]
    if name == "X" and len(set(labels)) < len(labels):
        twin = next(label for label in labels if labels.count(label) > 1)
        raise ValueError(
            f"{labels.count(twin)} columns of X have the name {twin!r}: rename them, or leave out "
            "those that stand twice, as X.loc[:, ~X.columns.duplicated()] does."
        )
    kinds = sorted({type(label).__name__ for label in labels})
    if len(kinds) > 1 and "str" in kinds:
        raise TypeError(
            f"The names of the columns of {name} are mixed, of the types {kinds}: rename them, all "
            f"to text, as {name}.columns = {name}.columns.astype(str) does."
        )


def refuse_frames(X, name="X", takes_sparse=False):
    """Refuse frames whose columns cannot be read as numbers, and dates, with a sentence."""
    refuse_containers(X, name)
    if holds_dates(getattr(X, "dtype", None)):
        raise TypeError(
            f"{name} holds dates or durations, which are no numbers: put CalendarFeatures in "
            "front, or give estimators without tuning a frame. Durations are numbers in a unit of "
            "your own, such as X / numpy.timedelta64(1, 'h')."
        )
    for label, kind in types_of(X):
        if type(kind).__name__ == "SparseDtype" and not takes_sparse:
            raise TypeError(
                f"Column {label!r} of {name} is sparse, and these rows are learnt dense: give "
                f"{name}.sparse.to_dense()."
            )
        refuse_times(
            kind,
            f"Column {label!r} of {name}",
            "are no numbers: put CalendarFeatures in front, or leave it out. Estimators without "
            "tuning take dates.",
        )


def _say_what_is_none(estimator, error, X, y=None):
    """Say which values of X, or y, are no numbers, where that is the error."""
    _refuse_text(estimator, error, X, y)
    _refuse_others(error, X)


def _refuse_text(estimator, error, X, y=None):
    """Say where the text is that could not be read as numbers, where that is the error."""
    if not str(error).startswith("could not convert string"):
        return
    advice = (
        "Give a frame, or name such columns in 'categorical_features'."
        if hasattr(estimator, "categorical_features")
        else "Put RunningOneHotEncoder in front, or leave it out. Estimators without tuning take "
        "text."
    )
    places = [(where, values, advice) for where, values in _columns_of(X)]
    places.append(("y", y, "Give y as numbers, or labels to a classifier."))
    for where, values, advice in places:
        if any(map(_is_word, np.asarray(values, dtype=object).ravel().tolist())):
            raise ValueError(f"{where} holds text: {error}. {advice}") from error


def _columns_of(X):
    """Return what each column of a frame is called in a sentence, and its values; of arrays all."""
    return [(f"Column {label!r} of X", X[label]) for label, _ in types_of(X)] or [("X", X)]


def _refuse_others(error, X):
    """Say where the values are that are neither numbers nor text, where that is the error."""
    if not str(error).startswith("float() argument must be"):
        return
    for where, values in _columns_of(X):
        for value in np.asarray(values, dtype=object).ravel().tolist():
            if value is not None and not isinstance(value, (Real, str)):
                raise TypeError(
                    f"{where} holds {value!r}, which is no number: {error}. Leave it out, or put a "
                    "transformer in front that makes numbers of it."
                ) from error


def _is_word(value):
    """Tell whether a value is text that is no number."""
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def refuse_other_targets(y):
    """Refuse targets that are dates or durations, which would be read as numbers."""
    kind = getattr(y, "dtype", None)
    if kind is None and not hasattr(y, "columns"):
        values = np.asarray(y)
        kind = values.dtype
    kinds = [kind] if kind is not None else [one for _, one in types_of(y)]
    first = y.ravel()[:1].tolist() if isinstance(y, np.ndarray) and kind.kind == "O" else []
    if any(map(holds_dates, kinds)) or isinstance(next(iter(first), None), (date, timedelta)):
        raise TypeError(
            "y holds dates or durations, and targets are numbers: give y as numbers, in a unit of "
            "your own, such as (y - y[0]) / numpy.timedelta64(1, 'h')."
        )
    if is_lazy(y):
        refuse_frames(y, "y")


def _refuse_columns(estimator, y, are_numbers):
    """Refuse targets, or labels, of several columns where one is learnt."""
    shape = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        wrapper = "MultiOutputRegressor" if are_numbers else "MultiOutputClassifier"
        name = type(estimator).__name__
        raise ValueError(
            f"y has {shape[1]} columns, and {name} learns one: give one, or wrap the model in "
            f"sklearn.multioutput.{wrapper}, which has a model for each."
        )


def refuse_dates(y):
    """Refuse labels that are dates or durations, which have no names."""
    if holds_dates(getattr(y, "dtype", None)):
        raise TypeError(
            "y holds dates or durations, and labels are text, whole numbers or booleans: give y as "
            "text, say."
        )


def _plain(given):
    """Return a list of numbers, such as River hands over, as an array; all else as it is."""
    if type(given) is not list:
        return given
    try:
        array = np.asarray(given)
    except ValueError:  # of no shape
        return given
    return array.astype(np.float64) if array.dtype.kind in "fiu" else given


def _needs_no_more(
    estimator, X, y=None, *, reset=True, dtype=None, order=None, y_numeric=False, **options
):
    """Tell whether rows, and targets, are finite arrays as they are wanted, as those before."""
    takes_float64 = dtype is np.float64 or (type(dtype) is list and np.float64 in dtype)
    if reset or not takes_float64 or hasattr(estimator, "feature_names_in_"):
        return False
    if not (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and X.flags.c_contiguous
    ):
        return False
    if y is not None and not (
        y_numeric
        and type(y) is np.ndarray
        and y.dtype == np.float64
        and y.shape[:1] == X.shape[:1]
        and (y.ndim == 1 or (y.ndim == 2 and y.size > 0 and options.get("multi_output")))
    ):
        return False
    return _are_finite(X) and (y is None or _are_finite(y))


def _are_finite(values):
    """Tell whether numbers are finite; sums that overflow are no sign of it."""
    if values.size <= _FEW:  # fewer calls
        return are_all(np.isfinite(values))
    with np.errstate(over="ignore", invalid="ignore"):
        if math.isfinite(np.add.reduce(values, axis=None)):  # one pass
            return True
    return bool(np.isfinite(values).all())


def refuse_masks(*arrays):
    """Refuse masked arrays that hide something: the numbers below a mask mean nothing."""
    for array in arrays:
        if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
            raise ValueError(
                "A masked array hides some of its values, and the numbers below its mask mean "
                "nothing. Fill them, as array.filled(numpy.nan) does for estimators that take NaN, "
                "or leave these rows out."
            )


def plain_labels(y):
    """Return labels as what they are, see `_plain_kind`, or say that some are missing."""
    labels = _plain_kind(y)
    if y is not None and gaps_of(labels) is not None:
        raise ValueError(
            "Input y contains NaN: some labels are missing. Leave their rows out, or learn them "
            "when their labels are there."
        )
    return labels


def _plain_kind(y):
    """Return what has a nullable type of pandas, and no gaps, as it is: booleans stay booleans."""
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    return y if kind is None or y.isna().any() else y.to_numpy(dtype=kind)


def named_classes(classes):
    """Return the classes that are named, sorted, or say which of them are none."""
    if isinstance(classes, (set, frozenset)):
        classes = list(classes)
    values = np.asarray(classes, dtype=object).ravel().tolist()
    if len({isinstance(value, (str, bytes)) for value in values}) > 1:  # NumPy makes all of it text
        raise TypeError(f"classes={classes!r}")
    if any(isinstance(value, (float, np.floating)) and not np.isfinite(value) for value in values):
        raise ValueError(
            f"classes={classes!r} holds NaN or infinity, the label of no row: leave it out."
        )
    return np.unique(classes)


@contextmanager
def sorted_together():
    """Say of labels that cannot be sorted what is wrong with them."""
    try:
        yield
    except TypeError as error:
        if str(error).startswith("Support for labels represented as bytes"):
            raise TypeError(
                "The labels are bytes: give them as text, as y.astype(str) does for an array of "
                "them, or as whole numbers."
            ) from error
        raise TypeError(
            "The labels are of kinds that cannot be sorted together, such as numbers beside "
            f"words or None: {error}. Give labels of one kind, and leave out rows without one."
        ) from error


def container_of(X):
    """Return frames as they are, sparse matrices by rows, all else as an array."""
    refuse_masks(X)
    refuse_containers(X)
    if sparse.issparse(X):
        return X.tocsr()
    return X if hasattr(X, "columns") and hasattr(X, "shape") else np.asarray(X)


def rows_of(X, rows):
    """Return some rows of a container; of an array at once, as a few cost less than a look."""
    return X[rows] if type(X) is np.ndarray else _safe_indexing(X, rows)


def refuse_no_targets(estimator, y):
    """Refuse to learn without targets, with a sentence."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None: give the targets of the "
            "rows."
        )


def targets_of(estimator, y, reset=False):
    """Return targets as an array; missing ones are NaN, and labels none of a classifier's."""
    refuse_no_targets(estimator, y)
    if reset:
        write_target_names(estimator, y)
    refuse_masks(y)
    y = _plain_kind(y)
    found = with_nan(y)
    return np.asarray(plain_labels(y) if found is not y and is_classifier(estimator) else found)


def write_target_names(estimator, y):
    """Write the names of several targets, for frames of intervals; an array has none."""
    vars(estimator).pop("_target_names", None)
    names = [str(label) for label, _ in types_of(y)]
    if names:
        estimator._target_names = names


def check_columns(estimator, X, reset):
    """Write or compare number and names of the columns; texts and the like have none."""
    if not reset and type(X) is np.ndarray and X.ndim == 2:
        known = vars(estimator)
        if "feature_names_in_" not in known and known.get("n_features_in_") == X.shape[1]:
            return
    if len(X.shape) == 1 and getattr(X, "dtype", None) is not None and X.dtype.kind in "biufc":
        raise ValueError(
            "Expected 2D array, got 1D array instead. Reshape your data: with reshape(-1, 1) if "
            "they are rows of one feature, with reshape(1, -1) if they are one row."
        )
    if len(X.shape) == 2:
        checked(estimator, X, reset=reset, skip_check_array=True)


def check_pairs(name, items):
    """Refuse what is no list of pairs of a name and an estimator; there is one at least."""
    if not items:
        raise ValueError(f"{name} is empty: give at least one pair (name, estimator).")
    for item in items:
        if not (isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[0], str)):
            raise TypeError(f"{name} must be a list of pairs (name, estimator); got {item!r}.")


def metadata_are_routed():
    """Tell whether scikit-learn's metadata routing is on."""
    return get_config().get("enable_metadata_routing", False)


def routed(router, method, metadata, child, callee=None, refused=()):
    """Return the metadata that a method of one child gets: all of them without routing.

    The method of the child is `callee`, by default that of the router. What those children request
    who are `refused` any is an error.
    """
    metadata = {name: value for name, value in metadata.items() if value is not None}
    if not metadata or not metadata_are_routed():
        return metadata
    found = process_routing(router, method, **metadata)
    for name in refused:
        asked = [wanted for wanted in found.get(name, {}).values() if wanted]
        if asked:
            raise ValueError(
                f"The step {name!r} requests {sorted(asked[0])}, but {type(router).__name__} hands "
                "metadata to its last step only. Set the request of the step to False."
            )
    return dict(found[child][callee or method])


def weights_of(sample_weight, n):
    """Return weights (n,) as float64; unlike scikit-learn's check, a call of zeros only is fine."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    try:
        weights = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
        )
    except (TypeError, ValueError) as error:
        if str(error).startswith("Input sample_weight"):  # scikit-learn says what is in it
            raise
        found = str(error).splitlines()[0].rstrip(".")
        raise type(error)(
            f"sample_weight holds no weights: {found}. Give one number for each of the {n} rows, "
            "or None where all count the same."
        ) from None
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; give one weight for each of the {n} rows."
        )
    if weights.min() < 0:
        raise ValueError("Negative values in sample_weight: give weights >= 0.")
    return weights


def refuse_arguments(estimator, method, arguments):
    """Refuse arguments that a method does not take, `sample_weight` above all, with a sentence."""
    if arguments:
        names = ", ".join(repr(name) for name in arguments)
        hint = (
            "Every row counts as one: leave the weights out, or take an estimator that names them, "
            "such as VAWRegressor."
            if "sample_weight" in arguments
            else "Leave it out."
        )
        raise TypeError(f"{type(estimator).__name__}.{method} takes no argument {names}. {hint}")
