"""The table of client programs: each line is tried, and what came of it is printed."""

import io
import logging
import platform
import time
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, NamedTuple

from .._progress import progress
from .._report import RESULTS, print_environment, save_json
from .expect import FailsWithTheirsToo, reason

EXPECTED, ABSENT, THEIRS, WRONG = "as expected", "not installed", "theirs", "wrong"
_WIDTH = 200  # of what is said of a line


class Line(NamedTuple):
    """One thing that a program does with our estimators.

    Attributes
    ----------
    program : str
        Its name, which is that of its distribution too.
    what : str
        What is done.
    check : callable
        Does it, and fails if what comes of it is not what the estimator gives by itself.
    needs : tuple of str
        Modules that must be there.
    """

    program: str
    what: str
    check: Any
    needs: tuple = ()


class Result(NamedTuple):
    """What came of a line: its kind, the words for it, and the seconds that it took."""

    kind: str
    says: str
    seconds: float = 0.0


def adding(lines, program, *needs):
    """Return a decorator that adds functions to a list of lines of one program."""

    def does(what, *more):
        def add(check):
            lines.append(Line(program, what, check, (*needs, *more)))
            return check

        return add

    return does


def run(output=RESULTS, *, only=None):
    """Try all lines, or those that contain a text; print the table, return the exit status."""
    lines = [line for line in all_lines() if only is None or only.lower() in _label(line).lower()]
    where = print_environment()
    if not lines:
        print(f"No line contains {only!r}.")
        return 1
    results = []
    with progress(len(lines), "line") as advance:
        for line in lines:
            results.append(tried(line))
            advance(1, _label(line))
    _print(lines, results)
    content = {
        "environment": where,
        "lines": [
            {"program": line.program, "version": version_of(line.program), "what": line.what}
            | result._asdict()
            for line, result in zip(lines, results, strict=True)
        ],
    }
    print(f"Numbers: {save_json(output / 'clients.json', content)}")
    return int(any(result.kind == WRONG for result in results))


def _print(lines, results):
    for program in dict.fromkeys(line.program for line in lines):
        print(f"\n{program} {version_of(program)}".rstrip())
        print(_table([pair for pair in zip(lines, results, strict=True) if pair[0][0] == program]))
    print(f"\n{_summary(results)}")


def all_lines():
    """Return the lines of all programs."""
    from . import (
        columns,
        ensembles,
        files,
        forecasting,
        frames,
        inspection,
        mlflow_models,
        routing,
        selection,
        steps,
        streams,
        tools,
    )

    theirs = (selection, ensembles, inspection, routing, steps, streams, forecasting, tools)
    modules = (*theirs, mlflow_models, frames, columns, files)
    return [line for module in modules for line in module.LINES]


def tried(line):
    """Return the result of a line; nothing that it prints or warns of is seen."""
    absent = [name for name in line.needs if not _is_there(name)]
    if absent:
        return Result(ABSENT, f"not installed: {', '.join(absent)}")
    start = time.perf_counter()
    try:
        with _quiet():
            line.check()
    except FailsWithTheirsToo as error:
        kind, says = THEIRS, str(error)
    except Exception as error:  # whatever others raise is the outcome
        kind, says = WRONG, reason(error)
    else:
        kind, says = EXPECTED, EXPECTED
    return Result(kind, says, round(time.perf_counter() - start, 2))


def version_of(program):
    """Return the version of an installed program, or nothing."""
    if program == "Python":
        return platform.python_version()
    try:
        return version(program)
    except PackageNotFoundError:
        return ""


def _is_there(name):
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of its package
        return False


@contextmanager
def _quiet():
    logging_was = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
        ):
            yield
    finally:
        logging.disable(logging_was)


def _label(line):
    return f"{line.program}, {line.what}"


def _table(pairs):
    width = max(len(line.what) for line, _ in pairs)
    return "\n".join(f"  {line.what.ljust(width)}  {_cut(result.says)}" for line, result in pairs)


def _cut(text):
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _summary(results):
    counts = {kind: sum(result.kind == kind for result in results) for kind in _SUMMARY}
    return "; ".join(f"{count} {_SUMMARY[kind]}" for kind, count in counts.items()) + "."


_SUMMARY = {
    EXPECTED: "lines as expected",
    WRONG: "not",
    THEIRS: "that fail with scikit-learn's own estimator too",
    ABSENT: "of programs that are not installed",
}
