"""Figures of the house: how long files, classes and functions are, and what docstrings repeat.

``python -m benchmarks.house`` prints them for the package in this checkout, each with its bar and,
where that is not reached yet, what is aimed at. It fails where a bar is passed. A bar above its aim
is the figure of the day it was set: it may fall, not rise.
"""

import ast
import sys
from collections import Counter
from itertools import chain
from pathlib import Path
from statistics import median
from typing import NamedTuple

from sklearn_okl import all_estimators
from sklearn_okl._documentation import HEADED, NAME, sections_of

PACKAGE = Path(__file__).resolve().parents[1] / "sklearn_okl"
_LONGEST = 5  # files, functions and classes that are named


class Figure(NamedTuple):
    """What was counted, how much there is, may be and should be, and what else to tell of it."""

    name: str
    value: int
    bar: int
    aim: int
    told: str = ""

    def __str__(self):
        aim = "" if self.aim == self.bar else f", aim {self.aim}"
        passed = "  <- passed" if self.value > self.bar else ""
        told = f"\n  {self.told}" if self.told else ""
        return f"{self.name}: {self.value} (bar {self.bar}{aim}){passed}{told}"


def main(package=PACKAGE):
    """Print the figures; return 1 if one of them passes its bar, else 0."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    files = {str(p.relative_to(package)): len(s.splitlines()) for p, s in sources.items()}
    trees = {name: ast.parse(s) for name, s in zip(files, sources.values(), strict=True)}
    functions = {
        f"{name}:{node.name}": code_length(node)
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
    classes = named_classes(tree for name, tree in trees.items() if name.startswith("algorithms"))
    twice, said_twice = repeated_lines(trees.values())
    print(f"{len(files)} files, {sum(files.values())} lines")
    return report(
        Figure("lines of documentation that stand twice", twice, 818, 818),
        Figure("those of them below heads of entries", said_twice, 198, 198),
        Figure("median file", int(median(files.values())), 175, 175),
        longest("longest file", files, 582, 500),
        longest("longest function, its docstring left aside", functions, 60, 60),
        longest("longest named class", classes, 100, 100),
    )


def report(*figures):
    """Print figures; return 1 if one of them passes its bar, else 0."""
    for figure in figures:
        print(figure)
    return int(any(figure.value > figure.bar for figure in figures))


def longest(name, lengths, bar, aim):
    """Return the greatest of some lengths, by name, as a figure that tells those next to it."""
    names = sorted(lengths, key=lengths.get, reverse=True)[:_LONGEST]
    told = ", ".join(f"{name} {lengths[name]}" for name in names)
    return Figure(name, max(lengths.values(), default=0), bar, aim, told)


def repeated_lines(trees):
    """Return how many lines of docstrings stand somewhere else too: all of them, and without heads.

    Docstrings of classes, methods and functions count, with all their sections but the examples,
    which are code. A head names and types what the lines below it explain, as a signature does.
    """
    lines = list(chain.from_iterable(map(documented_lines, trees)))
    counts = Counter(line for line, _ in lines), Counter(line for line, head in lines if not head)
    return tuple(count.total() - len(count) for count in counts)


def documented_lines(tree):
    """Yield the lines of all docstrings of a file, and whether each is the head of an entry.

    Lines of examples are left out, and names of paragraphs of which no more is said: these are
    filled in.
    """
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            text, sections = sections_of(ast.get_docstring(node) or "")
            for title, lines in {"": text, **sections}.items():
                for line in lines:
                    said = line.strip()
                    if said and title != "Examples" and not NAME.fullmatch(said):
                        yield said, title in HEADED and not line[0].isspace()


def named_classes(trees):
    """Return how long each public estimator is that stands in one of these files.

    Its name decides, and not what its docstring says: that is completed at import by what its bases
    document.
    """
    public = {name for name, _ in all_estimators()}
    nodes = chain.from_iterable(tree.body for tree in trees)
    return {
        node.name: length(node)
        for node in nodes
        if isinstance(node, ast.ClassDef) and node.name in public
    }


def length(node):
    """Return the number of lines of a class or a function, docstring and decorators included."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return node.end_lineno - first + 1


def code_length(node):
    """Return the number of lines of a function without decorators and docstring."""
    first, lines = node.body[0], node.end_lineno - node.lineno + 1
    if ast.get_docstring(node) is None:
        return lines
    return lines - (first.end_lineno - first.lineno + 1)


if __name__ == "__main__":
    sys.exit(main())
