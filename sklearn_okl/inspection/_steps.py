"""Steps that make other columns of rows, and which of the rows' columns each of these is of.

What a step makes of columns it says, `_column_by_column`, or it is found by looking: a row is given
one column of another row, and what changes is of that column. A scaler's columns are so of one
column each, indicators and parts of a date of the column that they tell of; what several columns
make together, as in a principal component, lets these play as one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from ._parts import NOBODY, Line
from ._rows import column_of, exchanged, stacked, taken

_PROBES = 32  # rows that are looked at
_TILE = 4096  # those of several columns together


class Sums(NamedTuple):
    """What is explained of the forecasts for some rows.

    Attributes
    ----------
    parts : list of Line, Waves, Monomials or Boxes
        Of which all are sums; owners are the numbers of columns, and of `others` behind them.
    others : tuple of str
        Names of players that are no columns.
    remainder : str
        Name of what is in the forecasts and not in the parts.
    """

    parts: list
    others: tuple = ()
    remainder: str = "rounding"


def line_of_linear_model(model, Z):
    """Return the line of scikit-learn's linear models, or None where a model is none."""
    if not (hasattr(model, "coef_") and hasattr(model, "intercept_")):
        return None
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    Z = np.asarray(Z, dtype=np.float64)
    if coef.shape[1] != Z.shape[1]:
        return None
    constant = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), len(coef))
    return Line(Z, coef.T, constant, np.arange(Z.shape[1]))


def sums_of(model, X):
    """Return the `Sums` of a model for rows X."""
    if hasattr(model, "_explained"):
        return model._explained(X)
    if hasattr(model, "steps"):  # scikit-learn's pipeline
        return sums_through(model.steps, X)
    line = line_of_linear_model(model, X)
    if line is not None:
        return Sums([line])
    raise TypeError(
        f"{type(model).__name__} cannot be explained in closed form: its forecast is no sum of "
        "lines and waves of its inputs. Take a model that is linear in Fourier, Taylor or plain "
        "features, such as VAWRegressor behind FourierFeatures, VAW2Regressor or "
        "OnlineKernelRegressor, or shap's KernelExplainer."
    )


def sums_through(steps, X):
    """Return the `Sums` of steps of which the last is the model, for rows X.

    The columns that own the parts are those that the last step sees, or the map before it.
    """
    steps = [step for _, step in steps if step is not None and not isinstance(step, str)]
    *transformers, model = steps
    if not transformers:
        return sums_of(model, X)
    before = [X]
    for transformer in transformers:
        before.append(transformer.transform(before[-1]))
    sums = sums_of(model, before[-1])
    unfolded = getattr(transformers[-1], "_unfolded", None)
    if unfolded is None:
        return sums._replace(parts=[*sums.parts])
    lines = all(type(part) is Line for part in sums.parts)
    if not lines:
        return sums
    parts = [part for line in sums.parts for part in unfolded(line, before[-2])]
    return sums._replace(parts=parts)


def owners_through(model, X, background):
    """Return which columns of X those that own a model's parts are of, as sets of columns.

    They are numbered as the owners are; None where the owners are X's own columns.
    """
    if hasattr(model, "_explained_steps"):
        steps = model._explained_steps()
    elif hasattr(model, "steps"):
        steps = model.steps
    else:
        return None
    steps = [step for _, step in steps if step is not None and not isinstance(step, str)]
    *transformers, last = steps
    if transformers and hasattr(transformers[-1], "_unfolded"):
        transformers = transformers[:-1]
    if not transformers:
        return owners_through(last, X, background)

    def made(rows):
        for transformer in transformers:
            rows = transformer.transform(rows)
        return rows

    if all(getattr(step, "_column_by_column", False) for step in transformers):
        own = [{j} for j in range(X.shape[1])]
    else:
        own = _owners(made, X, background)
    if not (hasattr(last, "_explained_steps") or hasattr(last, "steps")):
        return own
    further = owners_through(last, made(X), made(background))
    if further is None:
        return own
    return [set().union(*(own[j] for j in columns)) for columns in further]


def has_union_of_features(model):
    """Tell whether features of a model stand side by side in one of its steps."""
    steps = getattr(model, "steps", ())
    parts = [part for _, step in steps for part in getattr(step, "transformer_list", ())]
    return any(hasattr(part[1], "_unfolded") for part in parts)


def _owners(made, X, background):
    """Return of each column that is made of rows the columns (a set) that it is of."""
    longest = max(len(X), len(background))
    all_made = np.concatenate([np.asarray(made(rows)) for rows in (X, background)])
    varies = ~_same(all_made, all_made[:1]).all(axis=0)
    for n in {min(longest, _PROBES): 0, longest: 0}:  # all rows, where some do not tell
        rows = taken(X, np.arange(n) % len(X))
        now = np.asarray(made(rows))
        owners = [set() for _ in range(now.shape[1])]
        for columns in gen_batches(rows.shape[1], max(1, _TILE // n)):
            changed = [
                exchanged(rows, j, _other_values(column_of(X, j), column_of(background, j), n))
                for j in range(columns.start, columns.stop)
            ]
            answers = np.asarray(made(stacked(changed))).reshape(len(changed), *now.shape)
            differ = ~_same(answers, now).all(axis=1)
            for j, k in np.argwhere(differ).tolist():
                owners[k].add(columns.start + j)
        if all(found or not moves for found, moves in zip(owners, varies, strict=True)):
            break
    return owners


def _same(values, others):
    return (values == others) | ((values != values) & (others != others))


def _other_values(column, others, n):
    """Return a value for each of n rows that is not its own, if there is another one."""
    first = {}
    for place, value in enumerate([*others.tolist(), *column.tolist()]):
        first.setdefault(value, place)
    places = {value: rank for rank, value in enumerate(first)}
    own = [places[column.tolist()[i % len(column)]] for i in range(n)]
    shifts = 1 + np.arange(n) % max(len(first) - 1, 1)
    chosen = np.array(list(first.values()))[(np.array(own) + shifts) % len(first)]
    of_others = chosen < len(others)
    values = others[np.where(of_others, chosen, 0)]
    mine = column[np.where(of_others, 0, chosen - len(others))]
    return _chosen(of_others, values, mine)


def _chosen(which, values, others):
    """Return values where `which`, else others: arrays of NumPy, or of pandas."""
    values = values.copy()
    values[~which] = others[~which]
    return values


def renamed(part, players):
    """Return a part whose owners are the players of the columns that owned it."""
    known = np.append(players, NOBODY)  # the last one is for NOBODY, which is -1
    return replace(part, owners=known[part.owners])
