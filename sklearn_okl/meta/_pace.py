"""How often batch models are fitted anew: as a share of the experts' own work pays for.

Work is counted, not timed, so that forecasts are the same on any machine: what a row costs follows
from the plan of the experts, what a fit costs from rows, columns, trees and leaves. Both are in
milliseconds of one core of 2020, as measured once.
"""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

import numpy as np

SHARE = 1.4  # of the experts' work that all fits together may cost
_ROW, _WORK = 0.3, 7e-7  # of the experts: of a row, and of a unit of work
_ASKED = 0.012  # of a row that is forecast by a batch model
_ROWS_OF_LEAF = 25  # about, of a leaf of boosted trees
_MANY = 2000  # rows from which on trees are as large as they may be
_MOST = 2.0  # times the rows of a fit, after which there is another one at whatever cost


class Price(NamedTuple):
    """What a fit of boosted trees costs, in milliseconds.

    Attributes
    ----------
    names : tuple of str
        How the estimator calls the number of trees, their leaves, and the rate.
    tree, leaf, leaf_column, row_column : float
        Of a tree, of each of its leaves, of a leaf's columns, of a row's columns.
    fit : float
        Of a fit and of the first question to it.
    """

    names: tuple
    tree: float
    leaf: float
    leaf_column: float
    row_column: float
    fit: float

    def sizes(self, n):
        """Return the parameters of trees fitted to n rows: few rows make small ones."""
        trees, leaves, rate = (100, 31, 0.1) if n >= _MANY else (60, 16, 0.15)
        return dict(zip(self.names, (trees, leaves, rate), strict=True))

    def of_fit(self, n, d, n_outputs):
        """Return what a fit of several outputs to n rows of d columns costs."""
        trees, leaves, _ = self.sizes(n).values()
        leaves = min(leaves, max(n // _ROWS_OF_LEAF, 1))
        of_tree = self.tree + leaves * (self.leaf + self.leaf_column * d) + self.row_column * n * d
        return self.fit + n_outputs * trees * of_tree


HISTOGRAMS = Price(
    ("max_iter", "max_leaf_nodes", "learning_rate"), 0.38, 0.055, 0.0045, 2.4e-5, 4.0
)
LIGHTGBM = Price(("n_estimators", "num_leaves", "learning_rate"), 0.14, 0.009, 0.0012, 1.5e-5, 5.0)


class Paced(NamedTuple):
    """A batch model that is fitted as often as its share pays for."""

    estimator: Any
    price: Price


def allowance(plans, n_models):
    """Return what a row of planned experts lets each of so many batch models cost."""
    work = sum(bank.shape.work * bank.room for bank in plans.values())
    return max(SHARE * (_ROW + _WORK * work) / n_models - _ASKED, _ASKED)


def round_paid(price, n, d, n_outputs, spent, a_row):
    """Return the first round from n on in which a fit is paid for, after so much was spent."""
    # of several outputs, each of which has its trees, it may wait for longer
    due, latest = n, ceil(_MOST * np.sqrt(n_outputs) * n)
    while due < latest:
        paid = ceil((spent + price.of_fit(due, d, n_outputs)) / a_row)
        if paid <= due:
            return due
        due = paid
    return latest
