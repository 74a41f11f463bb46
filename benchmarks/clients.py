"""The table of client programs: what came of each test in ``tests/clients``.

pytest runs them where they are, so that nothing of the tests is imported here.
"""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import pytest

from ._progress import progress
from ._report import RESULTS, print_environment, print_saved

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests" / "clients"
_WIDTH = 200  # of what is said of a line
_SUMMARY = {  # kind of a line -> what is said of how many
    "as expected": "lines as expected",
    "wrong": "not",
    "theirs": "that fail with scikit-learn's own estimator too",
    "not installed": "of programs that are not installed",
}


class Line(NamedTuple):
    """What a program does with our estimators, what came of it in kind and in words, and seconds.

    The program's name is that of its distribution too.
    """

    program: str
    what: str
    kind: str
    says: str
    seconds: float


class Table:
    """A plugin of pytest that keeps the tests marked as a client's, and a line of each.

    Parameters
    ----------
    only : str or None
        Lines without this text are left out.
    """

    def __init__(self, only):
        self.only, self.lines = only, []

    def pytest_collection_modifyitems(self, config, items):
        """Keep what is asked for."""
        items[:] = [item for item in items if self._is_asked_for(item)]

    def _is_asked_for(self, item):
        mark = item.get_closest_marker("client")
        return mark and (self.only or "").lower() in ", ".join(mark.args[:2]).lower()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session):
        """Show how far it is."""
        with progress(max(1, len(session.items)), "line") as self.advance:
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Note what came of a test: of its call, or of what kept it from that."""
        report = yield
        if report.when == "call" or (report.when == "setup" and not report.passed):
            program, what, _ = item.get_closest_marker("client").args
            self.lines.append(Line(program, what, *_outcome(report, call), round(call.duration, 2)))
            self.advance(1, f"{program}, {what}")
        return report


def _outcome(report, call):
    if report.passed:
        return "as expected", "as expected"
    if hasattr(report, "wasxfail"):
        return "theirs", _reason(call.excinfo)
    return "not installed" if report.skipped else "wrong", _reason(call.excinfo)


def _reason(info):
    """Return what an exception says in its first line, and its type unless a check raised it."""
    said = next((line.strip() for line in str(info.value).splitlines() if line.strip()), "nothing")
    checked = info.errisinstance((AssertionError, pytest.skip.Exception, pytest.xfail.Exception))
    return said if checked else f"{info.typename}: {said}"


def run(output=RESULTS, *, only=None):
    """Try all lines, or those that contain a text; print the table, return the exit status."""
    where = print_environment()
    found = Table(only)
    options = "--rootdir", ROOT, "-c", ROOT / "pyproject.toml", "-o", "addopts="
    plugins = "--import-mode=importlib", "-p", "no:terminal", "-p", "no:cacheprovider"
    status = pytest.main([*map(str, (TESTS, *options)), *plugins], plugins=[found])
    if not found.lines:
        print(f"No line contains {only!r}.")
        return 1
    for program in dict.fromkeys(line.program for line in found.lines):
        lines = [line for line in found.lines if line.program == program]
        width = max(len(line.what) for line in lines)
        print(f"\n{program} {version_of(program)}".rstrip())
        for line in lines:
            print(f"  {line.what.ljust(width)}  {line.says[:_WIDTH]}")
    kinds = [line.kind for line in found.lines]
    print(f"\n{'; '.join(f'{kinds.count(kind)} {words}' for kind, words in _SUMMARY.items())}.")
    lines = [line._asdict() | {"version": version_of(line.program)} for line in found.lines]
    print_saved(output / "clients.json", {"environment": where, "lines": lines})
    return int(status)


def version_of(program):
    """Return the version of an installed program, or nothing."""
    if program == "Python":
        return platform.python_version()
    try:
        return version(program)
    except PackageNotFoundError:
        return ""
