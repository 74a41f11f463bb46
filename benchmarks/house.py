"""Figures of the house: how long its files and classes are, and what its docstrings repeat.

``python -m benchmarks.house`` prints them for the package in this checkout.
"""

import ast
from collections import Counter
from itertools import chain, zip_longest
from pathlib import Path
from statistics import median

from sklearn_okl import all_estimators

_PACKAGE = Path(__file__).resolve().parents[1] / "sklearn_okl"
_SECTIONS = "Parameters", "Attributes"
_LONGEST = 5  # files and classes that are named
_TWICE = 982  # documentation lines that may stand twice


def main():
    """Print the figures."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(_PACKAGE.rglob("*.py"))}
    trees = {path: ast.parse(source) for path, source in sources.items()}
    files = {str(p.relative_to(_PACKAGE)): len(s.splitlines()) for p, s in sources.items()}
    print(f"{len(files)} files, {sum(files.values())} lines")
    print(f"largest file {max(files.values())} lines (bar 600), median {_middle(files)} (bar 220)")
    _print_longest(files)

    lines = Counter(chain.from_iterable(map(documented_lines, trees.values())))
    twice = sum(n - 1 for n in lines.values())
    print(
        f"lines of parameters and attributes that stand somewhere else too: {twice} (bar {_TWICE})"
    )

    algorithms = (tree for path, tree in trees.items() if path.parent.name == "algorithms")
    classes = named_classes(algorithms)
    longest, middle = max(classes.values()), _middle(classes)
    print(f"{len(classes)} named classes: longest {longest} lines, median {middle} (bar 100)")
    _print_longest(classes)


def documented_lines(tree):
    """Yield the lines of the sections on parameters and attributes of all docstrings of a file."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield from _section_lines(ast.get_docstring(node) or "")


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
    """Return the number of lines of a class, docstring and decorators included."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return node.end_lineno - first + 1


def _section_lines(docstring):
    lines, section = docstring.splitlines(), None
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        if following and set(following) == {"-"}:
            section = line.strip()
        elif section in _SECTIONS and line.strip() and set(line.strip()) != {"-"}:
            yield line.strip()


def _middle(numbers):
    return int(median(numbers.values()))


def _print_longest(numbers):
    longest = sorted(numbers, key=numbers.get, reverse=True)[:_LONGEST]
    print("  " + ", ".join(f"{name} {numbers[name]}" for name in longest))


if __name__ == "__main__":
    main()
