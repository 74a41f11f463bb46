"""The public leaderboard StreamArena: what is published there, and runs in the form it takes."""

import re
from importlib.metadata import version

import numpy as np

from ._report import save_json
from .published import figures

PUBLISHED, BOARD = {}, {}  # of a set: RMSE by line, and its name on the board
for _row in figures("boards"):
    PUBLISHED.setdefault(_row["data"], {})[_row["line"]] = _row["rmse"]
    BOARD[_row["data"]] = _row["board"]


def save_run(folder, stream, line, model, run, y):
    """Write one run of a stream with targets y: a file for each model, stream and seed."""
    metrics = {
        "rmse": run["mse"] ** 0.5,
        "mae": run["mae"],
        "r2": float(1.0 - run["mse"] / np.var(y)),
    }
    seconds = run["ms"] * len(y) / 1e3
    return save_submission(folder, "regression", model, stream, run["seed"], metrics, seconds, line)


def save_submission(folder, task, model, stream, seed, metrics, seconds, line=""):
    """Write the file of one run.

    Its form is described in submissions/README.md of github.com/TechyNilesh/StreamArena. Who
    submits it says where to reach them.
    """
    path = file_of(folder, model, stream, seed, line)
    given = {**model.get_params(), "constants": model.constants}
    content = {
        "task": task,
        "algorithm": path.parent.name,
        "dataset": stream,
        "seed": seed,
        "status": "ok",
        "metrics": metrics,
        "wallclock_s": seconds,
        "hyperparameters": {
            name: value if isinstance(value, int | float | str | None) else repr(value)
            for name, value in given.items()
            if name != "random_state"  # the seed
        },
        "submission": {
            "author": "The sklearn_okl developers",
            "contact_or_repo": "sklearn_okl",
            "library_versions": {"sklearn_okl": version("sklearn_okl")},
        },
    }
    return save_json(path, content)


def file_of(folder, model, stream, seed, line=""):
    """Return the path of the file of one run; a line is what the model differs by."""
    algorithm = "-".join([type(model).__name__, *([re.sub(r"\W+", "-", line)] if line else [])])
    return folder / algorithm / f"{stream.replace('/', '__')}__seed{seed}.json"


def beside_the_board(tables):
    """Say where the last target beats what is published, and how often each of our lines leads.

    `tables` has the lines of each stream. Lines that see the last targets are no news where the
    last target alone is so good, so the one without stands beside.
    """
    leads, n_streams = {}, 0
    for name, lines in tables.items():
        means = {line: float(np.mean(found["rmse"])) for line, found in lines.items()}
        published = [line for line, found in lines.items() if found["whose"] == "published"]
        if not published:
            continue
        n_streams += 1
        best, last = min(published, key=means.get), means["the last target"]
        if last < means[best]:
            without = means.get("balanced, no lags")
            ours = "" if without is None else f"; without lags we have {without:.4g}"
            yield (
                f"{name}: the last target has {last:.4g}, all that is published more, the least "
                f"{means[best]:.4g} ({best}){ours}."
            )
        for line, found in lines.items():
            if found["whose"] == "ours":
                leads[line] = leads.get(line, 0) + (means[line] < min(last, means[best]))
    for line, n_first in leads.items():
        yield f"Streams on which all of these are behind {line}: {n_first} of {n_streams}."
