"""Mutants: small faults put into the package one at a time, and the tests that notice.

``python -m benchmarks.mutants`` draws 24 modules, and in each an operator or a constant that it
changes, always the same ones; those that tests once let live come last, by name. Each runs against
the tests of its folder, those of a first look and then the long ones, in a copy of this checkout. A
mutant lives where no test fails: then a test is missing, or the change makes no difference. One
that goes round for ever fails by the time limit of a test.
"""

import argparse
import ast
import copy
import os
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

_ROOT = Path(__file__).resolve().parents[1]
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "results", "build", "dist", "*.egg-info")
_MODULES = 24
_NO_TESTS = 5  # are left, says pytest
_AROUND = 20  # characters that are printed before and after a change
_OTHER = {  # operators and what stands in their place
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


class Mutant(NamedTuple):
    """A change of one module.

    Attributes
    ----------
    path : str
        The module, from the root of the checkout.
    start, stop : int
        Where in its text the change is made.
    text : str
        What stands there then.
    """

    path: str
    start: int
    stop: int
    text: str

    def of(self, source):
        """Return the text of the module with the change."""
        return source[: self.start] + self.text + source[self.stop :]


SURVIVORS = [  # the module, what stands there, and what nobody noticed in its place
    ("evaluation/_interval_scores.py", "intervals[..., 0] <= y", "intervals[..., 0] < y"),
    ("evaluation/_interval_scores.py", "y <= intervals[..., 1]", "y < intervals[..., 1]"),
    ("learners/_ridge.py", "GAIN_LIMIT = 1e5", "GAIN_LIMIT = 1e7"),
    ("algorithms/_nystroem_descent.py", "len(stored) <= room", "len(stored) < room"),
    ("algorithms/_nystroem_descent.py", "int(stored[room - 1]) + 1", "int(stored[room - 1]) + 2"),
]


def main(arguments=None):
    """Print the table; return how many mutants live."""
    parser = argparse.ArgumentParser("python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    parser.add_argument("--only", default="", help="mutants whose module has this in its path")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds for one mutant")
    parser.add_argument("--list", action="store_true", help="print the mutants, and run nothing")
    options = parser.parse_args(arguments)
    found = [m for m in [*drawn(options.seed), *named()] if options.only in m.path]
    rows = [described(mutant) for mutant in found]  # before anybody edits the files
    print("| module | line | mutation | killed by |\n|---|--:|---|---|", flush=True)
    living = 0
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        shutil.copytree(_ROOT, checkout, ignore=_LEFT_OUT)
        for mutant, row in zip(found, rows, strict=True):
            killer = "" if options.list else killed_by(mutant, checkout, options.limit)
            living += killer is None
            print(f"| {row} | {'**lives**' if killer is None else killer} |", flush=True)
    print(f"\n{len(found)} mutants, {living} live")
    return living


def drawn(seed=0, n=_MODULES):
    """Return a mutant of each of n modules, those of least rank; an edit elsewhere changes none."""
    ranked = []
    for path in sorted((_ROOT / "sklearn_okl").rglob("*.py")):
        name = path.relative_to(_ROOT).as_posix()
        source = path.read_text(encoding="utf-8")
        rng = np.random.default_rng([seed, crc32(name.encode())])
        rank, places = rng.uniform(), places_in(source)
        if places and tests_of(name):
            ranked.append((rank, Mutant(name, *places[rng.integers(len(places))])))
    return [mutant for _, mutant in sorted(ranked)[:n]]


def named():
    """Return the mutants that lived once; an error if what they change is not there any more."""
    found = []
    for name, old, new in SURVIVORS:
        path = f"sklearn_okl/{name}"
        source = (_ROOT / path).read_text(encoding="utf-8")
        if source.count(old) != 1:
            raise ValueError(f"{path} has {old!r} {source.count(old)} times: say another place.")
        start = source.index(old)
        found.append(Mutant(path, start, start + len(old), new))
    return found


def tests_of(path):
    """Return the tests of a module, a list a run: those of its name, then those of its folder."""
    _, *folder, name = Path(path).with_suffix("").parts
    home = _ROOT.joinpath("tests", *folder[:1])
    own = sorted(home.glob(f"test_{name.removeprefix('_')}*.py"))
    runs = [own, [home] if folder and home.exists() else []]
    return [[test.relative_to(_ROOT).as_posix() for test in run] for run in runs if run]


def places_in(source):
    """Return (start, stop, text) of each change to a function that a text admits."""
    lines = [0, *np.cumsum([len(line) + 1 for line in source.split("\n")]).tolist()]
    found = []
    for node in _expressions(ast.parse(source)):
        text = _mutated(node)
        if text is not None:
            ends = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
            start, stop = (_offset(source, lines[line - 1], column) for line, column in ends)
            found.append((start, stop, text))
    return sorted(set(found))


def _offset(source, start, column):
    """Return where a column of the line that begins at start is; columns are counted in bytes."""
    return start + len(source[start : start + column].encode()[:column].decode())


def _expressions(tree):
    """Yield what functions compute: no defaults, hints, decorators, messages or docstrings."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            stack = list(function.body)
            while stack:
                node = stack.pop()
                if isinstance(node, ast.Raise | ast.JoinedStr | ast.FunctionDef | ast.ClassDef):
                    continue  # functions in functions have a turn of their own
                yield node
                stack.extend(ast.iter_child_nodes(node))


def _mutated(node):
    """Return the text of an expression with another operator or number, None where it has none."""
    other = copy.deepcopy(node)
    match other:
        case ast.Compare(ops=[op]) if type(op) in _OTHER:
            other.ops = [_OTHER[type(op)]()]
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in _OTHER:
            other.op = _OTHER[type(op)]()
        case ast.Constant(value=value) if type(value) is int:
            other.value = value + 1
        case ast.Constant(value=value) if type(value) is float and value != 0.0:
            other.value = 2.0 * value
        case ast.Constant(value=value) if type(value) is bool:
            other.value = not value
        case _:
            return None
    text = ast.unparse(other)
    return text if isinstance(node, ast.Constant) else f"({text})"


def described(mutant):
    """Return the first cells of a mutant's row."""
    source = (_ROOT / mutant.path).read_text(encoding="utf-8")
    line = source.count("\n", 0, mutant.start) + 1
    old = " ".join(source[mutant.start : mutant.stop].split())
    before = source[: mutant.start].rpartition("\n")[2].lstrip()[-_AROUND:]
    after = source[mutant.stop :].partition("\n")[0][:_AROUND]
    change = f"`{before}`**`{_short(old)}`**`{after}` to **`{_short(mutant.text)}`**"
    change = change.replace("``", "").replace("|", "\\|")
    return f"{mutant.path.removeprefix('sklearn_okl/')} | {line} | {change}"


def _short(text, n=60):
    return text if len(text) <= n else f"{text[: n - 4]} ..."


def killed_by(mutant, checkout, limit):
    """Return the test that fails with a mutant and passes without it, None where none does."""
    path = checkout / mutant.path
    source = path.read_text(encoding="utf-8")
    left_out = []  # what fails without the mutant too
    for long, tests in product((False, True), tests_of(mutant.path)):
        while True:
            path.write_text(mutant.of(source), encoding="utf-8")
            returncode, said = _pytest(checkout, tests, limit, left_out, long)
            path.write_text(source, encoding="utf-8")
            if returncode is None:
                return "the time limit"
            if returncode in (0, _NO_TESTS):
                break
            failed = _FAILED.findall(said)
            if not failed:
                return f"pytest ends with {returncode}"
            if _pytest(checkout, failed[:1], limit, long=long)[0] == 0:
                return f"`{failed[0].removeprefix('tests/')}`".replace("|", "\\|")
            left_out.append(failed[0])
    return None


def _pytest(checkout, tests, limit, left_out=(), long=False):
    """Return how pytest ended, None if it ran past its limit, and what it said."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    command += [f"--deselect={name}" for name in left_out]
    # the copy's package, and no bytecode, which may be that of a mutant of the same second
    environment = os.environ | {"PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}
    if long:
        command, environment = [*command, "-m", "long"], environment | {"OKL_LONG": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=checkout,
            env=environment,
            timeout=limit,
            capture_output=True,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


if __name__ == "__main__":
    sys.exit(main() > 0)
