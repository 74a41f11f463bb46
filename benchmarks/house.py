"""Figures of the house: how long its files and classes are, and what its docstrings repeat.

``python -m benchmarks.house`` prints them for the package in this checkout.
"""

import ast
from collections import Counter
from itertools import chain, zip_longest
from pathlib import Path
from statistics import median

_PACKAGE = Path(__file__).resolve().parents[1] / "sklearn_okl"
_SECTIONS = "Parameters", "Attributes"
_LONGEST = 5  # files and classes that are named


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
    print(f"lines of parameters and attributes that stand somewhere else too: {twice}")

    classes = {}
    for path, tree in trees.items():
        if path.parent.name == "algorithms":
            classes |= {node.name: length(node) for node in public_classes(tree)}
    longest, middle = max(classes.values()), _middle(classes)
    print(f"{len(classes)} named classes: longest {longest} lines, median {middle} (bar 100)")
    _print_longest(classes)


def documented_lines(tree):
    """Yield the lines of the sections on parameters and attributes of all docstrings of a file."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield from _section_lines(ast.get_docstring(node) or "")


def public_classes(tree):
    """Return the classes of a file without a leading underscore that document parameters."""
    return [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and not node.name.startswith("_")
        and "Parameters\n" in (ast.get_docstring(node) or "")
    ]


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
