"""Published figures, a CSV file for each paper, whose first lines say where they were printed."""

import csv
from pathlib import Path


def figures(name):
    """Return the rows of a file in its order, each a dict by column; None for an empty cell."""
    path = Path(__file__).with_name(f"{name}.csv")
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [{column: _value(cell) for column, cell in row.items()} for row in rows]


def _value(cell):
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell or None
