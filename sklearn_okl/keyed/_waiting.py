"""Rows that wait for their labels, in a file: each is written once, as text."""

import json

import numpy as np

from ._away import check_sum, summed
from ._row_by_row import RowByRow

_PLAIN = {str, int, float, bool, type(None)}


def rows_of(model):
    """Return the rows of a model that wait, (row, key, number of its `ask`) by id."""
    return model._waiting() if isinstance(model, RowByRow) else {}


def divided(model, written):
    """Return the rows that are or can be text, by number, what is to be written, and the others.

    A row is written once: `written` holds, by number, those that were.
    """
    kept, new, others = {}, [], {}
    for id, row in rows_of(model).items():
        number = row[2]
        if number in kept:  # which `ask` lets no two rows have
            others[id] = row
            continue
        if written.get(number) is not row:
            try:
                new.append(summed(number, _text(id, row).encode()))
            except TypeError:  # dates, and whatever ids are
                others[id] = row
                continue
        kept[number] = row
    return kept, new, others


def with_rows(model, rows):
    """Return a copy of a model in which other rows wait."""
    if not isinstance(model, RowByRow) or rows_of(model) == rows == {}:
        return model
    twin = type(model).__new__(type(model))
    vars(twin).update(vars(model), _pending=rows)  # `copy` would make all rows anew
    return twin


def read_back(model, columns):
    """Let rows that a file holds wait in a model again; return them by number."""
    found = {number: _row(number, *rest) for number, *rest in columns}
    if found:
        if not isinstance(model, RowByRow):
            raise TypeError("rows wait, and the model takes none")
        rows = {**rows_of(model), **dict(found.values())}
        model._pending = dict(sorted(rows.items(), key=lambda item: item[1][2]))
        model._look_over()
    return {number: row for number, (_, row) in found.items()}


def _text(id, row):
    x, key, _ = row
    items = [[_plain(name), _plain(value)] for name, value in x.items()]
    return json.dumps([_plain(id), items, _plain(key)])


def _row(number, content, checksum):
    """Return the id of a row in a file, and the row."""
    check_sum(number, content, checksum)
    id, items, key = json.loads(content)
    x = {_as_it_was(name): _as_it_was(value) for name, value in items}
    return _as_it_was(id), (x, _as_it_was(key), number)


def _plain(value):
    """Return a value as JSON has it: numbers of NumPy are Python's, and tuples are lists."""
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":  # nanoseconds are integers
        value = value.item()
    if type(value) is tuple:
        return [_plain(part) for part in value]
    if type(value) not in _PLAIN:
        raise TypeError(f"{value!r} is no text")
    return value


def _as_it_was(value):
    return tuple(map(_as_it_was, value)) if type(value) is list else value
