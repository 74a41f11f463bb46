"""Files of fitted models that can be loaded without running anybody's code."""

import os
import tempfile
from importlib import import_module
from pathlib import Path

_FORMAT = 1  # rises when a state can no longer be read as it was; `_MIGRATIONS` then says how
_MIGRATIONS = {}  # format -> function that turns its dict into that of the next format


def save(estimator, path):
    """Save a model to a file, fitted or not, in the skops format.

    Parameters
    ----------
    estimator : estimator object
        Any of this package, or of scikit-learn with such inside.
    path : str or path-like
        The file. It is replaced as a whole or not at all: the new one is written beside it, brought
        to the disk and put in its place, so that a crash in the middle leaves the old file intact.

    Raises
    ------
    ImportError
        If skops is not installed: ``pip install "sklearn-okl[skops]"``.

    See Also
    --------
    load : The way back.

    Notes
    -----
    A saved model that goes on learning gives the very numbers, to the last bit, of one that was
    never saved, random draws included. Kernels and other functions of your own are saved by name.

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
    from . import __version__

    path = Path(path)
    content = _skops().dumps(
        {"format": _FORMAT, "sklearn_okl": __version__, "estimator": estimator}
    )
    # in the same folder, for a file can be put in place of another on the same disk only
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(path))  # mkstemp's own is for its maker only
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if os.name == "posix":  # the folder's entry too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def load(path, *, trusted=()):
    """Load a model that `save` wrote; no code in the file is run.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : sequence of str, default=()
        Full names of types and functions to trust besides scikit-learn's, NumPy's and those of
        :data:`sklearn_okl.TRUSTED_TYPES`, such as a kernel of your own. See
        :func:`skops.io.get_untrusted_types`.

    Returns
    -------
    estimator : estimator object
        As it was when saved.

    Raises
    ------
    ImportError
        If skops is not installed: ``pip install "sklearn-okl[skops]"``.
    ValueError
        If the file was not written by `save`, or by a newer version of this package.
    skops.io.exceptions.UntrustedTypesFoundException
        If the file holds types that are not trusted; it names them.

    See Also
    --------
    save : The way there.

    Examples
    --------
    >>> from sklearn_okl import TRUSTED_TYPES
    >>> "sklearn_okl.learners._vaw.VAWRegressor" in TRUSTED_TYPES
    True
    """
    from . import TRUSTED_TYPES, __version__

    content = _skops().load(path, trusted=[*TRUSTED_TYPES, *trusted])
    if not isinstance(content, dict) or "estimator" not in content or "format" not in content:
        raise ValueError(
            f"{path} holds no model saved by sklearn_okl.save. Use skops.io.load for other files."
        )
    if content["format"] > _FORMAT:
        raise ValueError(
            f"{path} was saved by sklearn_okl {content['sklearn_okl']}, whose models this version, "
            f"{__version__}, cannot read. Install that version or a newer one."
        )
    while content["format"] < _FORMAT:
        content = _MIGRATIONS[content["format"]](content)
    return content["estimator"]


def trusted_types(classes):
    """Return the full names of classes, and of the parts that their states are made of."""
    parts = ["evaluation._search.PrequentialSearch", "evaluation._search._Race"]
    names = [f"{class_.__module__}.{class_.__qualname__}" for class_ in classes]
    return sorted([*names, *(f"sklearn_okl.{part}" for part in parts)])


def _skops():
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise ImportError(
            'Models are saved in the skops format: pip install "sklearn-okl[skops]", or use '
            "pickle for files that nobody else can write."
        ) from error


def _mode(path):
    """Return the permissions of the file that is replaced, or those of a new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
