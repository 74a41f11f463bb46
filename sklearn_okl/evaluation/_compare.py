"""Several models on several streams for several seeds: every run, stored and in parallel."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from itertools import groupby
from numbers import Integral
from pathlib import Path

import joblib
import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from .._documentation import cites
from .._linalg import one_blas_thread
from .._types import Any, ArrayLike, Callable, PathLike
from ._compare_runs import Run, digest_of, do_runs, load_run, rows_of, seeded
from ._comparison import COLUMNS, Comparison
from ._scoring import named_scores

_SEEDS = 2**32  # what NumPy's older generators take


@cites
def compare(
    models: dict[str, Any] | Callable[..., Any],
    streams: Any,
    seeds: Any,
    *,
    delay: int | ArrayLike | None = 0,
    scoring: Any = "squared_error",
    path: str | PathLike | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Comparison:
    r"""Run every model on every stream for every seed, and score the forecasts made on the way.

    Parameters
    ----------
    models : dict of str to estimator or callable
        The models by name. An estimator is cloned and stays as it is; wherever it or a part of it
        has a parameter ``random_state``, that is set from the seed, whatever it was, since
        otherwise all seeds would be one. The outermost is the seed itself; the others, if there are
        several, are numbers drawn from it, so that no two parts make the same draw. A callable
        makes the estimator from the seed, and this is used as it is.
    streams : dict of str to tuple, Bunch or callable
        The streams by name: X array-like of shape (n_samples, n_features) and y of shape
        (n_samples,) or (n_samples, n_targets) as a pair or as a Bunch with ``data`` and ``target``,
        rows in order; or a callable that makes one of these from the seed, such as another noise or
        another order. It is called once for each seed, for all models together.
    seeds : int or sequence of int
        Seeds from 0 to 2³² - 1, each once; a number n stands for 0, ..., n - 1. Generators are
        refused: they give something else each time they are asked.
    delay : int, array-like of int of shape (n_samples,) or None, default=0
        How late the labels come, as :func:`prequential` takes it, the same for all models: another
        delay is another task. With None each model has its own ``label_delay``.
    scoring : str, callable, list of these or dict of str to these, default="squared_error"
        How forecasts are scored. The default is the mean squared error. A string is a loss of
        :func:`prequential`, ``"squared_error"``, ``"absolute_error"`` or ``"zero_one"``, whose mean
        over the rows is the score; or a name of :func:`sklearn.metrics.get_scorer_names` that needs
        forecasts only, of which more is better, errors having the other sign. A
        :class:`~sklearn_okl.losses.Loss` is one, too, called by its ``repr``. A callable gets
        ``(y_true, y_pred)``, as the metrics of :mod:`sklearn.metrics` do, and returns one number,
        or one loss for each row; as with those metrics, more is better if the function's own name
        ends with ``_score``, else less. Rows for which there could be no forecast, or of which a
        target is missing, are left out, as :func:`prequential` does.
    path : str or path-like, default=None
        A folder for a file of each finished run; it is made where it is not there. Runs whose
        files are there are not made again, so that a call that was interrupted goes on with the
        next call. None keeps nothing.
    n_jobs : int, default=None
        Jobs that share the runs, under the backend of joblib that is in force: processes by
        default, threads or a cluster of Dask by :func:`joblib.parallel_config`, but not
        ``"multiprocessing"``, which keeps all results to the end. None is 1 outside of that. The
        scores are the same, to the last bit, whatever `n_jobs`. A stream that a callable makes is
        the job of one worker for each seed, models in turn.
    verbose : bool, default=False
        Whether to show progress in runs: a bar if ``tqdm`` is installed, else a line on stderr.

    Returns
    -------
    comparison : Comparison
        Its ``results`` are arrays with a row for each run: scores, seconds, rows. ``to_frame``
        gives means and standard deviations over the seeds, ``ranks`` a test of the differences,
        ``sequential`` one against a champion within each stream, ``to_latex`` a table, ``plot``
        curves with bands.

    Raises
    ------
    TypeError
        If a name is not a string, a model not an online estimator, or a seed not an integer.
    ValueError
        If there is nothing to compare, a seed is out of range or there twice, a score is unknown
        or needs probabilities, or `path` is a file; if with `path` a model holds a lambda.

    See Also
    --------
    prequential : One run.
    PrequentialSearch : Candidates of one model in one pass, the best ready to use.

    Notes
    -----
    *Cost.* That of all runs, each of which is :func:`prequential` on one thread of BLAS, and for
    each metric that returns one number a hundred calls of it, which make the curve.

    *Stored runs* are found by a digest of the model's class and parameters, its seed included, of
    the stream's name and its rows, the seed, the delay and the scoring. Whatever of these is
    changed makes another file, and other files stay. Names of models are no part of it, code is
    not, and a function counts by its full name: after a change of code, give another folder. Of a
    stream that a callable makes only the name and the seed are known before it is made. Files are
    JSON, replaced as a whole or not at all; workers on other machines must see the folder.

    A run that fails ends the call, with a note that says which one it was. What is finished by then
    is in the folder.

    References
    ----------
    Dawid 1984. J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
    2006.

    Examples
    --------
    >>> from sklearn_okl import OGDRegressor, VAW2Regressor
    >>> from sklearn_okl.datasets import make_ar4, make_friedman_stream
    >>> from sklearn_okl.evaluation import compare
    >>> kernels = {"kernel": ["rbf"], "gamma": [0.01, 0.1]}
    >>> models = {"VAW²": VAW2Regressor(kernels, n_components=20), "OGD": OGDRegressor(eta0=0.01)}
    >>> streams = {
    ...     "AR(4)": make_ar4(200),
    ...     "Friedman": lambda seed: make_friedman_stream(200, random_state=seed),
    ... }
    >>> comparison = compare(models, streams, seeds=3, scoring=["squared_error", "r2"])
    >>> comparison.results["squared_error"].shape
    (12,)
    >>> comparison.to_frame()["squared_error"].round(1)  # doctest: +SKIP
    >>> comparison.ranks().sentence
    "2 streams cannot tell any two of 2 models apart at the level of 5%, ..."
    """
    seeds = _checked_seeds(seeds)
    scores = named_scores(scoring, taken={*COLUMNS, "rounds"})
    _check_names(models, "models")
    _check_names(streams, "streams")
    streams = {
        name: stream if callable(stream) else rows_of(name, stream)
        for name, stream in streams.items()
    }
    unfitted = {
        (name, seed): seeded(name, model, seed) for name, model in models.items() for seed in seeds
    }
    delay = delay if delay is None or np.ndim(delay) == 0 else np.asarray(delay)
    runs = [
        Run(stream, model, seed, None) for stream in streams for seed in seeds for model in models
    ]
    records = {}
    if path is not None:
        runs = _with_files(runs, unfitted, streams, delay, scores, path)
        records = {run: load_run(run.file) for run in runs}
        records = {run: record for run, record in records.items() if record is not None}

    jobs = list(_jobs([run for run in runs if run not in records], streams))
    # the limit for all jobs that are threads: one of them alone would give it back too early
    with one_blas_thread, _progress(len(runs), verbose) as advance:
        advance(len(records))
        finished = Parallel(n_jobs, return_as="generator")(
            delayed(do_runs)(
                streams[job[0].stream],
                [unfitted[run.model, run.seed] for run in job],
                job,
                delay,
                scores,
            )
            for job in jobs
        )
        for job, found in zip(jobs, finished, strict=True):
            records.update(zip(job, found, strict=True))
            advance(len(job))
    of_models = {name: place for place, name in enumerate(models)}
    of_streams = {name: place for place, name in enumerate(streams)}
    runs.sort(key=lambda run: (of_streams[run.stream], of_models[run.model]))  # seeds stay in order
    return _comparison(runs, [records[run] for run in runs], scores)


def _checked_seeds(seeds):
    if isinstance(seeds, Integral) and not isinstance(seeds, bool):
        if seeds < 1:
            raise ValueError(f"seeds must be at least one seed, got {seeds}.")
        return list(range(seeds))
    if isinstance(seeds, np.ndarray):
        seeds = seeds.tolist()
    if not isinstance(seeds, (list, tuple, range)):
        raise TypeError(
            f"seeds must be a number of seeds or a sequence of integers, got {_kind(seeds)}."
        )
    for seed in seeds:
        if not isinstance(seed, Integral) or isinstance(seed, bool):
            raise TypeError(f"A seed must be an integer, got {_kind(seed)}.")
        if not 0 <= seed < _SEEDS:
            raise ValueError(f"A seed must be from 0 to 2**32 - 1, got {seed}.")
    if not seeds:
        raise ValueError("seeds is empty; give at least one.")
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"A seed is there twice in {list(seeds)}; each run is made once.")
    return [int(seed) for seed in seeds]


def _kind(value):
    """Say what was given in place of a seed."""
    if isinstance(value, (np.random.Generator, np.random.RandomState)) or hasattr(value, "send"):
        return (
            f"a {type(value).__name__}, which gives something else each time it is asked, so that "
            "no run could be made again. Draw integers from it and give these"
        )
    return f"{value!r}"


def _check_names(things, what):
    if not isinstance(things, Mapping):
        raise TypeError(f"{what} must be a dict from names to {what}, got {type(things).__name__}.")
    if not things:
        raise ValueError(f"{what} is empty; there is nothing to compare.")
    for name in things:
        if not isinstance(name, str) or not name:
            raise TypeError(f"The names of {what} must be strings, got {name!r}.")


def _with_files(runs, unfitted, streams, delay, scores, path):
    """Return the runs with their files in a folder, which is there then."""
    folder = Path(os.path.abspath(path))  # workers may stand elsewhere
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"path must be a folder, and {folder} is a file. Give another one.")
    folder.mkdir(parents=True, exist_ok=True)
    rows = {
        name: None if callable(stream) else joblib.hash(stream) for name, stream in streams.items()
    }
    named = []
    for run in runs:
        model = unfitted[run.model, run.seed]
        digest = digest_of(model, run, rows[run.stream], delay, scores)
        named.append(run._replace(file=str(folder / f"{digest}.json")))
    return named


def _jobs(runs, streams):
    """Yield lists of runs: of all models where the stream is made for them, else of one."""
    for (stream, _), group in groupby(runs, key=lambda run: (run.stream, run.seed)):
        if callable(streams[stream]):
            yield list(group)
        else:
            yield from ([run] for run in group)


def _comparison(runs, records, scores):
    results = {name: np.array([getattr(run, name) for run in runs]) for name in COLUMNS[:3]}
    results |= {name: np.array([record[name] for record in records]) for name in COLUMNS[3:]}
    for name in scores:
        results[name] = np.array([record["scores"][name] for record in records])
    curves, blocks = (
        [{name: np.array(values) for name, values in record[part].items()} for record in records]
        for part in ("curve", "block_losses")
    )
    better = {name: score.greater_is_better for name, score in scores.items()}
    return Comparison(results, curves, better, blocks)


@contextmanager
def _progress(total, verbose):
    """Yield a function that is told how many more runs are done."""
    if not verbose:
        yield lambda n_runs: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        done = 0

        def advance(n_runs):
            nonlocal done
            done += n_runs
            sys.stderr.write(f"\r{done}/{total} runs")
            sys.stderr.flush()

        yield advance
        sys.stderr.write("\n")
        return
    with tqdm(total=total, unit="run") as bar:
        yield bar.update
