"""The runs of a comparison: one model learns one stream for one seed, and a file may keep that."""

import json
import pickle
from collections.abc import Mapping
from numbers import Integral
from typing import NamedTuple

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _num_samples

from .._documentation import explained_by
from .._linalg import one_blas_thread
from .._part_files import replace, target_of
from ._prequential import prequential
from ._scoring import score_forecasts

_POINTS = 100  # of a curve: enough for a figure, whatever the length of the stream
_FORMAT = 3  # of the files; another number and no file is found again


class Run(NamedTuple):
    """A model, a stream and a seed, and the file for what comes out, or None."""

    stream: str
    model: str
    seed: int
    file: str | None


def rows_of(name, stream):
    """Return X and y of a stream given as a pair or a Bunch."""
    if isinstance(stream, Mapping) and {"data", "target"} <= stream.keys():
        X, y = stream["data"], stream["target"]
    elif isinstance(stream, (tuple, list)) and len(stream) == 2:
        X, y = stream
    else:
        raise TypeError(
            f"The stream {name!r} must be a pair (X, y), a Bunch with data and target, or a "
            f"callable that makes one of these from a seed, got {type(stream).__name__}."
        )
    check_consistent_length(X, y)
    if _num_samples(X) == 0:
        raise ValueError(f"The stream {name!r} has no rows; leave it out.")
    return X, y


def seeded(name, model, seed):
    """Return an unfitted model that draws from a seed, from an estimator or a callable."""
    if isinstance(model, type):
        raise TypeError(
            f"The model {name!r} is the class {model.__name__}; give an instance of it, or a "
            "function that makes one from a seed."
        )
    if hasattr(model, "get_params"):
        model = clone(model)
        model.set_params(**_seeds_of_parts(model, seed))
    elif callable(model):
        model = model(seed)
    if not any(hasattr(model, verb) for verb in ("prequential_predict", "partial_fit")):
        raise TypeError(
            f"The model {name!r} is {type(model).__name__}, which has no partial_fit, so it cannot "
            "learn row by row. Give an online estimator, or a callable that makes one from a seed."
        )
    return model


def _seeds_of_parts(model, seed):
    """Return values for all parameters random_state: the outermost is the seed itself."""
    names = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
    names.sort(key=lambda name: (name.count("__"), name))
    # with the same seed two parts would make the same draw: two copies of one feature map
    others = np.random.SeedSequence(seed).generate_state(len(names)).tolist()
    return dict(zip(names, [seed, *others], strict=False))


def digest_of(model, run, rows, delay, scores):
    """Return a name for the file of a run: another one as soon as anything is changed.

    Parameters
    ----------
    model : estimator object
        With its seed.
    run : Run
        What of it is to be run.
    rows : str or None
        A hash of the stream's rows, None if they are yet to be made.
    delay : int, ndarray or None
        How late the labels come.
    scores : dict of str to Score
        The scores.
    """
    delay = int(delay) if isinstance(delay, Integral) else delay
    asked = [(name, score.given) for name, score in scores.items()]
    parts = [_FORMAT, type(model), clone(model), run.stream, rows, run.seed, delay, asked]
    try:
        return joblib.hash(parts)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"With path, runs are found again by what was asked for, and the model {run.model!r} "
            "or a score holds something without a lasting name, such as a lambda. Define it in a "
            "module, or leave path out."
        ) from error


def load_run(file):
    """Return what a file keeps of a run, None if there is no file."""
    try:
        with open(file, encoding="utf-8") as stored:
            return json.load(stored)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{file} is no stored run ({error}). Remove it to run again.") from error


@explained_by(digest_of)
def do_runs(stream, models, runs, delay, scores):
    """Let models learn one stream for one seed, in turn; return and store what comes out.

    Parameters
    ----------
    stream : tuple of (X, y) or callable
        The rows, or what makes them from the seed, once for all models.
    models : list of estimator objects
        One for each run.
    runs : list of Run
        Of the same stream and the same seed.

    Returns
    -------
    records : list of dict
        Of each run what goes into the results and the curves.
    """
    if callable(stream):
        stream = stream(runs[0].seed)
    X, y = rows_of(runs[0].stream, stream)
    records = []
    for model, run in zip(models, runs, strict=True):
        try:
            with one_blas_thread:  # its sums, and its time, are then the same in every job
                record = _record(model, X, y, delay, scores)
        except Exception as error:
            error.add_note(f"Run of {run.model!r} on {run.stream!r} with the seed {run.seed}.")
            raise
        if run.file is not None:
            content = {"stream": run.stream, "model": run.model, "seed": run.seed, **record}
            replace(target_of(run.file), json.dumps(content, ensure_ascii=False).encode())
        records.append(record)
    return records


def _record(model, X, y, delay, scores):
    result = prequential(model, X, y, delay=delay, loss=_nothing)
    y_pred = result.forecasts
    y_true = np.asarray(y).reshape(y_pred.shape)
    scored = ~np.isnan(result.losses)  # NaN where there could be no forecast
    y_true, y_pred = y_true[scored], y_pred[scored]
    if y_pred.dtype == object:
        y_pred = y_pred.astype(y_true.dtype.type)  # labels, as long as they are
    n = len(scored)
    rounds = np.unique(np.linspace(1, n, min(n, _POINTS)).round().astype(int))
    counts = np.cumsum(scored)[rounds - 1]
    values, curve, blocks = {}, {"rounds": rounds.tolist()}, {}
    for name, score in scores.items():
        values[name], points, of_blocks = score_forecasts(score, y_true, y_pred, counts)
        curve[name] = points.tolist()
        if of_blocks is not None:
            of_blocks[np.append(0, rounds[:-1]) < np.argmax(scored)] = np.nan  # not of all rows
            blocks[name] = of_blocks.tolist()
    return {
        "n_rows": n,
        "seconds_per_row": result.seconds / n,
        "scores": values,
        "curve": curve,
        "block_losses": blocks,
    }


def _nothing(y_true, y_pred):
    """Return a loss of 0 for each row: what the forecasts are worth is computed afterwards."""
    return np.zeros(len(y_true))
