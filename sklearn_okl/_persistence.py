"""Files of fitted models that can be loaded without running anybody's code."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from io import BytesIO
from numbers import Integral
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np
from sklearn.base import BaseEstimator

from ._archives import MOST_BYTES, TooLargeError, check_size, narrowed, widened
from ._documentation import explained_by
from ._model_checks import unsound_numbers, unsound_parameters, unsound_state
from ._model_parts import (
    ambiguous,
    have_callbacks,
    nameless,
    parts_of,
    unsound,
    without_callbacks,
)
from ._part_files import replace, target_of
from ._plain_types import PLAIN_TYPES, plain_functions
from ._squeezed import expanded, squeezed
from ._types import Any, PathLike
from .conformal import __all__ as TRACKERS
from .kernels import NAMED
from .losses import NAMED as LOSSES
from .pipeline import StreamingPipeline

_FORMAT = 18  # rises when a state can no longer be read as it was; `_MIGRATIONS` may say how
_MIGRATIONS = {}  # format -> function that turns its dict into that of the next format
_PICKLE = "pickle for files that nobody else can write"


def save(estimator: Any, path: str | PathLike, *, trusted: Any = ()) -> None:
    """Save a model to a file, fitted or not, in the skops format.

    Parameters
    ----------
    estimator : estimator object
        Any of this package, or of scikit-learn with such inside.
    path : str or path-like
        The file. It is replaced as a whole or not at all: the new one is written beside it, brought
        to the disk and put in its place, so that a crash in the middle leaves the old file intact.
        Where several processes save to one path, the last whole file wins. If it is a symbolic
        link, the link stays and the file that it points to is replaced.
    trusted : sequence of str, default=()
        Full names of types and functions of your own that the model holds and that whoever loads
        it will trust, as in :func:`load`.

    Raises
    ------
    ImportError
        If skops is not installed: ``pip install skops``.
    ValueError
        If `load` would refuse the file: because the model holds a type or a function that is
        neither trusted by default nor named in `trusted`, a lambda, a function or a class that was
        defined inside a function, a state with NaN or infinity in it, frames that wait in a
        pipeline that is warming up, or anything else that the format cannot hold. The error names
        it and the ways out. An old file stays as it is. Also if `path` is a device or a pipe.
    TypeError
        If `trusted` is not a sequence of strings.
    FileNotFoundError
        If the folder does not exist. Other errors of the file system, such as a full disk, are
        raised as they come, and leave the old file and no other.
    IsADirectoryError
        If `path` is a folder.

    Warns
    -----
    UserWarning
        If the model, or an estimator inside it, has callbacks of scikit-learn. These are not saved:
        set them again, with ``set_callbacks``, after loading. The model itself keeps them.

    See Also
    --------
    load : The way back.

    Notes
    -----
    A saved model that goes on learning gives the very numbers, to the last bit, of one that was
    never saved, random draws included.

    Kernels, losses and other functions of your own, and the types of your own estimators, are saved
    by name. They must be defined at the top level of a module that can be imported where the file
    is loaded.

    Trusted by default are the estimators of this package and of scikit-learn, scikit-learn's
    splitters, scores and kernels, and the functions that NumPy and SciPy compute element by
    element. Not among them are fitted decision trees, nearest neighbours and splines, for a crafted
    file of these can crash the process, and SciPy's distributions, which compile what they hold.

    A writer that is killed may leave a part file, ``.model.skops.0000002d.part``, beside the file.
    The next `save` to the same path removes it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn_okl import VAWRegressor, load, save
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.skops"
    ...     save(VAWRegressor().fit(X[:50], y[:50]), path)
    ...     model = load(path).partial_fit(X[50:], y[50:])
    >>> model.n_samples_seen_
    100
    """
    target = target_of(path)
    content = _packed(estimator, trusted)
    _warn_of_size(content)
    replace(target, content)


def _packed(estimator, trusted):
    """Return the content of the file of a model."""
    from . import __version__

    skops, trusted = _skops(), _names(trusted)
    parts = parts_of(estimator)
    if have_callbacks(parts):
        warnings.warn(
            "Callbacks are not saved. Set them again, with set_callbacks, after loading.",
            UserWarning,
            stacklevel=3,
        )
        estimator = without_callbacks(estimator, parts)
    _check_keys(parts)
    _check_waiting(parts)
    fault = unsound(parts) or unsound_parameters(parts) or unsound_numbers(parts)
    _check(fault, "The model")
    content, names = _written(
        skops, {"format": _FORMAT, "sklearn_okl": __version__, "estimator": estimator}
    )
    foreign = names - _trusted_by_default()
    _check_foreign(foreign, trusted, parts)
    if foreign:
        _check_return(skops, content, names)
    return _with_versions(skops, content)


@explained_by(save)
def load(path: str | PathLike, *, trusted: Any = (), max_bytes: int = MOST_BYTES) -> BaseEstimator:
    """Load a model that `save` wrote; no code in the file is run.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : sequence of str, default=()
        Full names of types and functions to trust besides those that :func:`save` lists as trusted
        by default, such as a kernel of your own. See :func:`skops.io.get_untrusted_types`.
    max_bytes : int, default=536870912
        How much memory reading the file may take, about: twice what its arrays hold. A small file
        may unpack to a very large one. The default, 512 MiB, is for models of 256 MiB.

    Returns
    -------
    estimator : estimator object
        As it was when saved, without callbacks.

    Raises
    ------
    ImportError
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged or cut off, was not written by `save`, was written by a newer version
        of this package or by one too old, names what cannot be imported here, or asks for more than
        `max_bytes`; if it holds parameters that an estimator does not take, a state with NaN or
        infinity in it, one of another shape than a fresh one, an inverse that can be none, or an
        estimator that fails in a trial; or if `path` is a folder.
    skops.io.exceptions.UntrustedTypesFoundException
        If the file holds types or functions that are not trusted; it names them. It is a TypeError.
    TypeError

    See Also
    --------
    save : The way there.

    Notes
    -----
    *Files of strangers.* No code in a file is run, what it asks for in memory is bounded before
    anything is unpacked, and the models in it are looked at: their parameters, the shapes of their
    states against fresh ones, the symmetry and the diagonal of their inverses. A twin of each then
    forecasts, and learns some rows. What no look can tell is whether the numbers were learnt.

    *Versions.* A file says with which versions it was saved, in the comment of the archive, which
    ``unzip -z`` shows. Its format is a number, which rises when a state can no longer be read as it
    was; :doc:`/files` says which versions read which.

    *Cost.* Reading, and calls of 66 rows; of a forecaster of series of 17.

    Examples
    --------
    >>> from sklearn_okl import TRUSTED_TYPES
    >>> "sklearn_okl.VAWRegressor" in TRUSTED_TYPES
    True
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Give the path of a file in it.")
    _check_max_bytes(max_bytes)
    with open(path, "rb") as file:
        return _unpacked(file, path, trusted, max_bytes)


@explained_by(save)
def to_bytes(estimator: Any, *, dtype: Any = "float64", trusted: Any = ()) -> bytes:
    """Return a model as bytes: what `save` would write to a file, packed.

    Parameters
    ----------
    dtype : {"float64", "float32"}, default="float64"
        ``"float32"`` halves the arrays. The model that comes back computes in float64 as ever, from
        numbers of seven digits: it is near the one given, and not the same.

    Returns
    -------
    content : bytes

    See Also
    --------
    from_bytes : The way back.
    save : The same to a file.

    Examples
    --------
    >>> from sklearn_okl import VAWRegressor, from_bytes, to_bytes
    >>> model = VAWRegressor().fit([[1.0], [2.0]], [1.0, 2.0])
    >>> from_bytes(to_bytes(model)).predict([[3.0]]) == model.predict([[3.0]])
    array([ True])
    """
    if dtype not in ("float64", "float32"):
        raise ValueError(f'dtype={dtype!r} is not known. Give "float64" or "float32".')
    content = _packed(estimator, trusted)
    if dtype == "float64":
        return squeezed(content)
    content = squeezed(narrowed(content))
    try:
        from_bytes(content, trusted=trusted, max_bytes=sys.maxsize)
    except ValueError as error:
        raise ValueError(
            f"Rounded to float32 this model is none: {error} Take dtype='float64'."
        ) from error
    return content


@explained_by(load)
def from_bytes(content: bytes, *, trusted: Any = (), max_bytes: int = MOST_BYTES) -> BaseEstimator:
    """Return the model that `to_bytes` wrote; no code in it is run.

    Parameters
    ----------
    content : bytes
        What `to_bytes` returned, or a file by `save` holds.

    Returns
    -------
    estimator : estimator object
        As it was, without callbacks.

    Raises
    ------
    ImportError
    ValueError
        As `load` does, if the bytes are damaged or cut off, ask for more than `max_bytes`, or hold
        what no learning leaves behind.
    TypeError

    See Also
    --------
    to_bytes : The way there.
    load : The same from a file.
    """
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise TypeError(f"from_bytes wants bytes, got a {type(content).__name__}.")
    _check_max_bytes(max_bytes)
    return _unpacked(BytesIO(content), "The content", trusted, max_bytes)


def _check_max_bytes(max_bytes):
    if not isinstance(max_bytes, Integral) or max_bytes <= 0:
        raise ValueError(f"max_bytes={max_bytes!r} is no number of bytes. Give an integer > 0.")


def _unpacked(file, path, trusted, max_bytes):
    """Return the model in an open file; `path` is what errors call it."""
    from . import __version__

    skops, trusted = _skops(), _names(trusted)
    content = _content(skops, file, path, trusted, max_bytes)
    if not _is_ours(content):
        raise ValueError(
            f"{path} holds no model saved by sklearn_okl.save. Use skops.io.load for other files."
        )
    if content["format"] > _FORMAT:
        raise ValueError(
            f"{path} was saved by sklearn_okl {content['sklearn_okl']}, whose models this version, "
            f"{__version__}, cannot read. Install that version or a newer one."
        )
    while content["format"] < _FORMAT:
        if content["format"] not in _MIGRATIONS:
            raise ValueError(
                f"{path} was saved by sklearn_okl {content['sklearn_okl']} in format "
                f"{content['format']}, which this version, {__version__}, no longer reads: it "
                f"reads format {_FORMAT}. Fit the model again, or load it with the version that "
                "saved it."
            )
        content = _MIGRATIONS[content["format"]](content)
    _check(_fault_of(content["estimator"]), path)
    return content["estimator"]


def trusted_types(classes):
    """Return the full names of classes, and of the parts that their states are made of."""
    parts = [
        "meta._background.BackgroundFit",
        "meta._past.Past",
        "keyed._entries.Entries",
        "_tail.Committed",
        "_tail.Shared",
        "_tail.SharedInverse",
        "_tail.Tail",
        "evaluation.LossMonitor",
        "evaluation.PrequentialSearch",
        "evaluation._race.Race",
        *{f"kernels.{type(kernel).__name__}" for kernel in NAMED},
        *{f"losses.{kind.__name__}" for kind in LOSSES},
        *{f"conformal.{kind}" for kind in TRACKERS},
    ]
    names = [f"{class_.__module__}.{class_.__qualname__}" for class_ in classes]
    return sorted([*names, *(f"sklearn_okl.{part}" for part in parts)])


def _skops():
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise ImportError(
            f'Models are saved in the skops format: pip install "skops>=0.11", or use {_PICKLE}.'
        ) from error


def _names(trusted):
    """Return the names of what is trusted as a list."""
    names = trusted if isinstance(trusted, Iterable) and not isinstance(trusted, str) else [None]
    names = list(names)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"trusted={trusted!r} is no sequence of strings. Give full names of types and "
            "functions, such as ['my_module.my_kernel']."
        )
    return names


def _written(skops, model):
    """Return the content of a file, and the names in it that skops does not trust by itself."""
    try:
        content = skops.dumps(model)
        return content, set(skops.get_untrusted_types(data=content))
    except MemoryError:
        raise
    except RecursionError:
        raise ValueError(
            "The model cannot be saved, for something in it holds itself, as an estimator does on "
            f"which metadata are requested (set_fit_request). Do without, or use {_PICKLE}."
        ) from None
    except Exception as error:  # an object may raise anything when it is asked for its state
        raise ValueError(
            f"The model cannot be saved, for it holds what the skops format does not: {error}. Do "
            f"without, or use {_PICKLE}."
        ) from error


def _ours():
    from . import TRUSTED_TYPES

    return TRUSTED_TYPES


def _trusted_by_default():
    """Return the names that we trust besides skops."""
    return {*_ours(), *PLAIN_TYPES, *plain_functions()}


def _check_keys(parts):
    """Refuse dicts that would come back as other dicts."""
    keys = ambiguous(parts)
    if keys is not None:
        raise ValueError(
            f"The model cannot be saved, for it holds a dict with the keys {list(keys)}. Take "
            "strings or numbers, no booleans, that differ when they are printed."
        )


def _check_waiting(parts):
    """Refuse rows that wait until a pipeline is warm and are no arrays, such as frames."""
    for part in parts:
        if not (isinstance(part, StreamingPipeline) and part._is_warming_up()):
            continue
        kinds = {type(batch["X"]) for batch in part._state["waiting"]} - {np.ndarray}
        if kinds:
            raise ValueError(
                f"The model cannot be saved, for a StreamingPipeline in it is warming up: of the "
                f"{part.n_samples_seen_} rows that wait some came as {kinds.pop().__name__}, which "
                f"the skops format does not hold. Save it after warmup={part.warmup} rows, give "
                f"rows as arrays, or use {_PICKLE}."
            )


def _fault_of(model):
    """Return what makes a model from a file useless, in words, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = parts_of(model)
            return unsound(parts) or unsound_parameters(parts) or unsound_state(parts)
    except MemoryError:
        raise
    except Exception as error:  # what is made up leads anywhere
        return f"what no call leaves behind ({error!r})"


def _check(fault, holder):
    """Refuse a model that somebody has spoilt, or made up."""
    if fault is not None:
        raise ValueError(f"{holder} holds {fault}. Fit the model again, or take an older copy.")


def _with_versions(skops, content):
    """Return the content of a file that says, in the comment of the archive, who wrote it."""
    from . import __version__

    names = ("scikit-learn", "numpy", "scipy", "skops")
    others = ", ".join(f"{name} {version(name)}" for name in names)
    file = BytesIO(content)
    with ZipFile(file, "a") as archive:
        archive.comment = f"sklearn_okl {__version__}, format {_FORMAT}, {others}".encode()
    return file.getvalue()


def _warn_of_size(content):
    """Warn where `load` wants to be told that it may read so much."""
    needed = check_size(BytesIO(content), math.inf)
    if needed > MOST_BYTES:
        warnings.warn(
            f"The model is large: load(path, max_bytes={needed}) reads it.",
            UserWarning,
            stacklevel=3,
        )


def _check_foreign(foreign, trusted, parts):
    """Refuse names that `load` would refuse."""
    local = nameless(parts, foreign)
    if local:
        raise ValueError(
            f"The model cannot be saved, for it holds {local}. Lambdas, and functions and classes "
            "that are defined inside others, can never be loaded: define them at the top level of "
            "a module."
        )
    refused = sorted(foreign - set(trusted))
    if refused:
        raise ValueError(
            f"The model cannot be saved, for it holds {refused}, which load would not trust. Do "
            "without, or, if whoever loads the file will trust them, give their names there and "
            f"here: save(model, path, trusted={sorted({*refused, *trusted})}). Or use {_PICKLE}."
        )


def _check_return(skops, content, names):
    """Refuse what cannot be made again: of foreign types nothing else would tell."""
    try:
        skops.loads(content, trusted=sorted(names))
    except Exception as error:
        raise ValueError(
            f"The model cannot be saved, for it could not be loaded again: {error!r}. Do without "
            f"what `trusted` names, or use {_PICKLE}."
        ) from error


def _content(skops, file, path, trusted, max_bytes):
    """Return what an open file holds."""
    distrust = import_module("skops.io.exceptions").UntrustedTypesFoundException
    try:
        file = expanded(file, max_bytes)
        check_size(file, max_bytes)
        wide = widened(file)
        content, refused = _read(skops, wide, trusted, distrust)
    except (MemoryError, Warning):  # a warning that is made an error is not about the file
        raise
    except TooLargeError as error:
        raise ValueError(
            f"{path} asks for {error} bytes of memory or more, and max_bytes={max_bytes}. If "
            "you know who wrote it, load it with a larger max_bytes."
        ) from None
    except Exception as error:  # flipped bits lead anywhere
        raise _unreadable(path, file, error) from error
    if refused:
        refusal = distrust(refused)
        refusal.args = (
            f"{path} holds types or functions that are not trusted: {refused}. If you know who "
            f"wrote the file and trust these, load it with trusted={sorted({*refused, *trusted})}.",
        )
        raise refusal
    return content


def _read(skops, file, trusted, distrust):
    """Return what a file holds, or nothing and the names in it that are not trusted."""
    try:
        return skops.load(file, trusted=_ours()), []  # most hold no more, and short lists are fast
    except distrust:
        names = set(skops.get_untrusted_types(file=file))
    refused = sorted(names - _trusted_by_default() - set(trusted))
    return (None, refused) if refused else (skops.load(file, trusted=sorted(names)), [])


def _unreadable(path, file, error):
    """Return what to raise for a file that skops could not read."""
    if _is_whole(file) and not isinstance(error, BadZipFile):
        said = _comment(file)
        return ValueError(
            f"{path} cannot be read here: {error!r}. Install the versions of sklearn_okl, "
            f"scikit-learn and skops that it was saved with{said}, and make what `trusted` names "
            "importable."
        )
    return ValueError(
        f"{path} is no skops file, or a damaged one, or a part of one. Save the model again, or "
        "load an older copy."
    )


def _is_whole(file):
    """Tell whether a file is a zip archive with a schema whose checksums are right."""
    try:
        with ZipFile(file) as archive:
            return archive.testzip() is None and "schema.json" in archive.namelist()
    except Exception:
        return False


def _comment(file):
    """Return what a file says of the versions that it was saved with."""
    with ZipFile(file) as archive:
        comment = archive.comment[:200].decode(errors="replace")
    return f" ({comment!r})" if comment else ""


def _is_ours(content):
    """Tell whether `save` wrote it, in this version or another."""
    if not isinstance(content, dict) or not {"format", "sklearn_okl", "estimator"} <= set(content):
        return False
    return isinstance(content["format"], int) and content["format"] >= 1
