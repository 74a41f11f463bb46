"""Shapley values by the definition: all coalitions, one after the other.

L. S. Shapley, "A value for n-person games", Contributions to the Theory of Games II, 1953.
"""

from itertools import combinations
from math import factorial

import numpy as np


def shapley_values(f, x, background, players):
    """Return the values (p[, q]) of players, lists of columns, in a row x, as f has it.

    A coalition is worth the mean of f over the background, with its columns as in x.
    """
    p, worth = len(players), {}
    coalitions = [c for size in range(p + 1) for c in combinations(range(p), size)]
    rows = []
    for coalition in coalitions:
        for b in background:
            row = b.copy()
            for k in coalition:
                for j in players[k]:
                    row[j] = x[j]
            rows.append(row)
    answers = f(np.array(rows))
    for i, coalition in enumerate(coalitions):
        worth[coalition] = answers[i * len(background) : (i + 1) * len(background)].mean(axis=0)
    values = []
    for k in range(p):
        total = 0.0
        for coalition in coalitions:
            if k not in coalition:
                size = len(coalition)
                weight = factorial(size) * factorial(p - size - 1) / factorial(p)
                joined = tuple(sorted((*coalition, k)))
                total = total + weight * (worth[joined] - worth[coalition])
        values.append(total)
    return np.array(values)
