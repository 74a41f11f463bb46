"""Encoder and imputer of mixed columns, value by value, row by row."""

import math

from sklearn.utils import murmurhash3_32


def same(value):
    """Return what stands for a value: None for a gap, a float for a number."""
    if value is None or value != value:
        return None
    return value if isinstance(value, str) else float(value)


def one_hot(columns, max_categories, n_hashed, delay=0):
    """Rows of indicators, for columns that are lists of values.

    Rows before the first label, which come 0 to `delay`, are seen by all rows before them.
    """
    n = len(columns[0])
    rows = [[] for _ in range(n)]
    for j, column in enumerate(columns):
        for t in range(n):
            known = []
            for value in column[: t - delay if t > delay else t]:
                if same(value) not in known and len(known) < max_categories:
                    known.append(same(value))
            row = [0.0] * (max_categories + n_hashed)
            value = same(column[t])
            if value in known:
                row[known.index(value)] = 1.0
            elif len(known) == max_categories and n_hashed:
                if value is None:
                    text = "None None"
                elif isinstance(value, str):
                    text = f"text {value}"
                else:
                    number = int(value) if math.isfinite(value) and value == int(value) else value
                    text = f"numbers {number}"
                row[max_categories + murmurhash3_32(text, seed=j, positive=True) % n_hashed] = 1.0
            rows[t] += row
    return rows


def imputed(rows, strategy, add_indicator, delay=0):
    """Rows without gaps, and then, if they are wanted, where the gaps were."""
    found = []
    for t, row in enumerate(rows):
        filled = []
        for j, value in enumerate(row):
            past = [r[j] for r in rows[: t - delay if t > delay else t] if not math.isnan(r[j])]
            if math.isnan(value):
                mean = math.fsum(past) / len(past) if past else 0.0
                value = mean if strategy == "mean" or not past else past[-1]
            filled.append(value)
        gaps = [float(math.isnan(value)) for value in row] if add_indicator else []
        found.append(filled + gaps)
    return found
