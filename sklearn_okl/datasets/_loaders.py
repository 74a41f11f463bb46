"""The data sets that papers and a leaderboard report on, read from files or from OpenML."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from .._types import Any, PathLike

_ENVIRONMENT = "SKLEARN_OKL_DATA"
_CLASSES = "classes -1 and +1"
_LIBSVM = "the LIBSVM data page, www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
_TORGO = "Luis Torgo's regression collection, www.dcc.fc.up.pt/~ltorgo/Regression"
_UCI = "the UCI repository, archive.ics.uci.edu"
_BOARD = "the board's repository, github.com/TechyNilesh/StreamArena"
_ARENA = "stream of the StreamArena leaderboard, github.com/TechyNilesh/StreamArena"


class _Known(NamedTuple):
    """What is known of a set before it is read."""

    n_samples: int
    n_features: int
    target: str
    publisher: str


class _OpenML(NamedTuple):
    """Where a set is on OpenML, and how that copy differs from the file."""

    data_id: int
    name: str
    note: str
    labels: dict | None = None  # class name there -> label here


_KNOWN = {
    "airfoil": _Known(1503, 5, "sound pressure level of an airfoil, dB", _UCI),
    "concrete": _Known(1030, 8, "compressive strength of concrete, MPa", _UCI),
    "bias": _Known(
        7750, 21, "next day's lowest temperature in Seoul, °C; gaps filled by column means", _UCI
    ),
    "bias_notebook": _Known(
        7752, 20, "as bias, with the rows and columns that published programs train on", _UCI
    ),
    "naval": _Known(11934, 15, "lever position of a ship with gas turbines", _UCI),
    "naval_notebook": _Known(
        11934, 17, "as naval, with the two decay coefficients among the features", _UCI
    ),
    "elevators": _Known(16599, 18, "action on the elevators of an aircraft", _TORGO),
    "ailerons": _Known(13750, 40, "action on the ailerons of an aircraft", _TORGO),
    "bank32nh": _Known(8192, 32, "share of customers who leave full queues in a bank", _TORGO),
    "calhousing": _Known(20640, 8, "median house value of a Californian block, dollars", _TORGO),
    "calhousing_14000": _Known(
        14000, 8, "as calhousing, the rows and the order of one group of papers", _TORGO
    ),
    "casp": _Known(45730, 9, "error of a predicted protein structure, ångström", _UCI),
    "magic04": _Known(19020, 10, f"{_CLASSES}: hadron or gamma shower; sorted by class", _UCI),
    "a9a": _Known(32561, 123, f"{_CLASSES}: income above 50K, training part", _LIBSVM),
    "a9a_test": _Known(16281, 123, f"{_CLASSES}: as a9a, test part", _LIBSVM),
    "cod_rna": _Known(
        59535, 8, f"{_CLASSES}: non-coding RNA, training part; nearly sorted by class", _LIBSVM
    ),
    "cod_rna_test": _Known(
        271617, 8, f"{_CLASSES}: as cod_rna, test part; nearly sorted by class", _LIBSVM
    ),
    "ijcnn1": _Known(
        49990, 22, f"{_CLASSES}: misfires of an engine, training and validation rows", _LIBSVM
    ),
    "ijcnn1_test": _Known(91701, 22, f"{_CLASSES}: as ijcnn1, test part", _LIBSVM),
    "susy": _Known(
        20000, 18, f"{_CLASSES}: background or signal; a sample, not the first rows", _UCI
    ),
    "raker_toms": _Known(
        9725, 96, "displays of a topic, scaled to [0, 1] by the authors of AdaRaker", "its authors"
    ),
    # Streams of a public leaderboard: the order of the rows is part of the task.
    "arena_bike": _Known(17379, 12, f"bicycles hired in an hour; {_ARENA}", _UCI),
    "arena_metro_traffic": _Known(
        48204, 7, f"vehicles in an hour on a motorway to Minneapolis; {_ARENA}", _UCI
    ),
    "arena_fried": _Known(40768, 10, f"a function of Friedman (1991) with noise; {_ARENA}", _BOARD),
    "arena_elevators": _Known(16599, 18, f"as elevators, in another order; {_ARENA}", _TORGO),
    "arena_ailerons": _Known(
        13750, 40, f"as ailerons, in another order and unit; {_ARENA}", _TORGO
    ),
    "arena_california_housing": _Known(
        20640, 8, f"as calhousing; {_ARENA}", "StatLib, lib.stat.cmu.edu"
    ),
    "arena_electricity": _Known(
        45312, 8, f"classes 0 and 1: whether a price rises (Harries 1999); {_ARENA}", _BOARD
    ),
    "arena_shuttle": _Known(
        58000,
        9,
        f"classes 1 to 7, very unequal: state of a space shuttle's radiators; {_ARENA}",
        _UCI,
    ),
    "arena_nomao": _Known(
        34465, 118, f"classes 0 and 1: whether two entries are one place; {_ARENA}", _UCI
    ),
    "arena_rbf_drift": _Known(
        100000, 4, f"classes 0 to 3 of moving clusters, made by MOA; {_ARENA}", _BOARD
    ),
}

# Only copies with the same rows are listed. OpenML's codrna, a9a and ijcnn join the parts of
# the LIBSVM page, and its naval set is made for another target.
_NOT_COMPARED = "values and order of the rows were not compared with those of the csv file"
_OPENML = {
    "airfoil": _OpenML(44957, "airfoil_self_noise", _NOT_COMPARED),
    "concrete": _OpenML(
        44959, "concrete_compressive_strength", f"{_NOT_COMPARED}, and values may be rounded"
    ),
    "elevators": _OpenML(216, "elevators", _NOT_COMPARED),
    "ailerons": _OpenML(296, "ailerons", _NOT_COMPARED),
    "bank32nh": _OpenML(558, "bank32nh", _NOT_COMPARED),
    "calhousing": _OpenML(537, "houses", f"the columns are in another order; {_NOT_COMPARED}"),
    "casp": _OpenML(44963, "physiochemical_protein", _NOT_COMPARED),
    "magic04": _OpenML(
        1120,
        "MagicTelescope",
        f"classes g and h are coded +1 and -1; {_NOT_COMPARED}",
        {"g": 1.0, "h": -1.0},
    ),
}


def dataset_names() -> dict[str, str]:
    """List the data sets that :func:`load_dataset` knows by name.

    Returns
    -------
    descriptions : dict of str to str
        Name -> one line: rows, features, what the target is, and whether OpenML has it.

    Examples
    --------
    >>> from sklearn_okl.datasets import dataset_names
    >>> dataset_names()["airfoil"]
    '1503 rows, 5 features; target: sound pressure level of an airfoil, dB; on OpenML'
    """
    return {name: _one_line(name) for name in _KNOWN}


def _one_line(name):
    known = _KNOWN[name]
    return (
        f"{known.n_samples} rows, {known.n_features} features; target: {known.target}; "
        f"{'on' if name in _OPENML else 'not on'} OpenML"
    )


def load_dataset(
    name: str,
    *,
    data_home: str | PathLike | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    r"""Load one of the papers' data sets, a leaderboard's stream, or any file of the same layout.

    The file ``NAME.csv.gz`` is looked for in one folder. If it is not there and OpenML has the
    same rows, they are downloaded from OpenML (and kept where scikit-learn keeps its data).

    Parameters
    ----------
    name : str
        A name from :func:`dataset_names`, or that of any other ``NAME.csv.gz`` in the folder.

    data_home : str or path-like, default=None
        Folder of the files. None means the folder named by the environment variable
        ``SKLEARN_OKL_DATA``; if that is not set, no folder is searched.

    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    as_frame : bool, default=False
        Return pandas objects: `data` a DataFrame, `target` a Series, `frame` both. Needs pandas.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the attributes

        - data : ndarray or DataFrame of shape (n_samples, n_features), float64, rows in stream
          order, nothing shuffled or scaled;
        - target : ndarray or Series of shape (n_samples,), float64; classes are -1 and +1, those of
          the streams ``arena_...`` as :func:`dataset_names` says;
        - feature_names : list of str; target_names : list of one str;
        - frame : DataFrame of shape (n_samples, n_features + 1) with ``as_frame=True``, else None;
        - DESCR : str, what it is and where it was read from;
        - filename : str, the file, or None if it came from OpenML.

    (data, target) : tuple if ``return_X_y=True``
        The two attributes of these names.

    Raises
    ------
    FileNotFoundError
        If a known set is found neither in the folder nor on OpenML. The message says where it was
        looked for and where to get it.

    ValueError
        If the name is unknown or is not a plain name, if the file is not of the layout below, or
        if OpenML returns other rows than expected.

    Notes
    -----
    Layout: comma-separated, gzip-compressed, UTF-8, one header row, numeric columns only, the
    target in the last column, named ``target``.

    Some sets are sorted by class (:func:`dataset_names` says which): permute their rows before
    using them as a stream.

    A file is parsed by numpy; the largest known ones take less than a second.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> from sklearn_okl.datasets import load_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = b"speed,angle,target\n1,2,0.5\n3,4,0.7\n"
    ...     _ = pathlib.Path(folder, "toy.csv.gz").write_bytes(gzip.compress(table))
    ...     X, y = load_dataset("toy", data_home=folder, return_X_y=True)
    >>> X.shape, y
    ((2, 2), array([0.5, 0.7]))
    """
    _check_name(name)
    folder = data_home if data_home is not None else os.environ.get(_ENVIRONMENT)
    path = Path(folder).expanduser() / f"{name}.csv.gz" if folder else None

    if path is not None and path.is_file():
        bunch = _read_file(path)
    elif name not in _KNOWN:
        looked = f"There is no file {path}" if path else _no_folder()
        raise ValueError(
            f"{name!r} is not a known data set. {looked}. Known names: {', '.join(_KNOWN)}."
        )
    elif name in _OPENML:
        bunch = _read_openml(name, path)
    else:
        raise FileNotFoundError(_not_found(name, path))

    what = _one_line(name) if name in _KNOWN else "a data set of the user's own"
    n_samples, n_features = bunch.data.shape
    source = bunch.pop("source")
    bunch.DESCR = f"{name}: {what}.\nRead {n_samples} rows, {n_features} features from {source}."
    bunch.frame = None
    if as_frame:
        _to_pandas(bunch)
    return (bunch.data, bunch.target) if return_X_y else bunch


def _check_name(name):
    """Refuse what is not a plain name, so that no name leads out of the folder."""
    if not isinstance(name, str):
        raise TypeError(f"The name of a data set is a str; got {type(name).__name__}.")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name) or ".." in name:
        raise ValueError(
            f"{name!r} is not a plain name: use letters, digits, '_', '-' and '.' only, and give "
            "the folder as data_home."
        )


def _read_file(path):
    """Read a csv.gz file of the layout described above."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        header = [column.strip() for column in file.readline().split(",")]
        if len(header) < 2 or header[-1] != "target":
            raise ValueError(
                f"{path} has the columns {', '.join(header)[:200]!r}; expected a header row of "
                "comma-separated names, the last of them 'target'."
            )
        rows = file.readlines()
    if not rows:
        raise ValueError(f"{path} has a header but no rows.")
    try:
        # comments=None: '#' is no comment in a csv file
        table = np.loadtxt(rows, delimiter=",", dtype=np.float64, ndmin=2, comments=None)
    except ValueError as error:
        raise ValueError(f"{path} is not a table of numbers below its header: {error}") from error
    if table.shape[1] != len(header):
        raise ValueError(f"{path} names {len(header)} columns, but its rows have {table.shape[1]}.")
    return Bunch(
        data=table[:, :-1].copy(),
        target=table[:, -1].copy(),
        feature_names=header[:-1],
        target_names=header[-1:],
        filename=str(path),
        source=str(path),
    )


def _read_openml(name, path):
    """Download a known set from OpenML and bring it to the layout of the files."""
    there, known = _OPENML[name], _KNOWN[name]
    try:
        # liac-arff: the parser that does without pandas
        fetched = fetch_openml(data_id=there.data_id, as_frame=False, parser="liac-arff")
    except (OSError, ValueError) as error:
        raise FileNotFoundError(_not_found(name, path, error)) from error

    shape = tuple(np.shape(fetched.data))
    if shape != (known.n_samples, known.n_features):
        raise ValueError(
            f"OpenML's set {there.data_id} ({there.name}) has the shape {shape}, not "
            f"{(known.n_samples, known.n_features)} as {name!r} should: it has changed there. "
            f"Get {name}.csv.gz from {known.publisher} and pass its folder as data_home."
        )
    target = fetched.target
    if there.labels is not None:
        unknown = set(np.unique(target)) - set(there.labels)
        if unknown:
            raise ValueError(
                f"OpenML's set {there.data_id} ({there.name}) has the classes {sorted(unknown)}; "
                f"expected {sorted(there.labels)} only."
            )
        target = [there.labels[label] for label in target]
    return Bunch(
        data=np.array(fetched.data, dtype=np.float64, order="C"),
        target=np.array(target, dtype=np.float64),
        feature_names=list(fetched.feature_names),
        target_names=["target"],
        filename=None,
        source=f"OpenML, data_id {there.data_id} ({there.name}); {there.note}",
    )


def _no_folder():
    return f"No folder was searched: data_home is None and {_ENVIRONMENT} is not set"


def _not_found(name, path, error=None):
    """Say where a known set was looked for and where to get it."""
    places = f"there is no file {path}" if path else _no_folder()
    if error is not None:
        data_id = _OPENML[name].data_id
        reason = f"{type(error).__name__}: {error}"
        openml = f"OpenML (data_id {data_id}) could not be read ({reason})"
    else:
        openml = "OpenML has no copy with these rows"
    return (
        f"The data set {name!r} was not found: {places}; {openml}. Get it from "
        f"{_KNOWN[name].publisher}, write {name}.csv.gz (one header row, numeric columns, the last "
        f"named 'target') into a folder, and pass that folder as data_home or set {_ENVIRONMENT}."
    )


def _to_pandas(bunch):
    """Turn the arrays of a Bunch into pandas objects, in place."""
    import pandas as pd

    bunch.data = pd.DataFrame(bunch.data, columns=bunch.feature_names)
    bunch.target = pd.Series(bunch.target, name=bunch.target_names[0])
    bunch.frame = pd.concat([bunch.data, bunch.target], axis=1)
