"""Columns that say which of many kinds a row is of: whole numbers, angles, and categories.

Rows of equal codes may have something in common that no line and no kernel says, see `_cells.py`.
Which columns are codes is known from the first rows. Numbers of few values that are not whole, as
behind a scaler, are counted in the smallest step between two of them. Two columns beside each other
whose squares add up to 1 are the sine and the cosine of an angle, such as where in the week or in
the year a date is: it is cut into as many parts as make whole numbers of it.
"""

import numpy as np

from ._steps import FEW, N_LOOKED_AT
from ._values import AT_FIRST

MOST = 6, 4  # codes of few values, and of more, the first ones
_PARTS = 7, 12, 24, 366  # of a circle, the last of which needs not fit
_ROUNDING = 1e-6


def none():
    """Return no codes."""
    nothing = np.empty(0, dtype=int)
    return {"codes": np.empty((0, 2), dtype=int), "code_steps": np.empty(0), "many": nothing}


def found(X, nominal):
    """Return which columns of first rows (n, d) are codes that are not all the same.

    They are pairs (n_codes, 2) of a column and the parts of its circle, 0 where it is no sine, and
    the steps (n_codes,) that are counted; the last ones are those of categories. And which of them
    have many values.
    """
    if len(X) != N_LOOKED_AT:
        return none()
    kinds, of_many, last = ([], []), [], -1
    for j, column in enumerate(X.T):
        if j == last:  # the cosine of the column before
            continue
        n_parts = _n_parts(X[:, j : j + 2])
        last = j + 1 if n_parts else -1
        values = _on_circle(X[:, j : j + 2], n_parts) if n_parts else column
        values = np.unique(values[~np.isnan(values)])
        step = _step(values)
        if step == 1.0 or (step and len(values) <= FEW):
            code = j, n_parts, step
            kinds[len(values) > FEW].append(code)
            of_many += [code] * (len(values) > (AT_FIRST if j in nominal else FEW))
    for one in kinds:
        one.sort(key=lambda code: code[2] != 1.0)  # whole numbers before others
    chosen = [code for one, most in zip(kinds, MOST, strict=True) for code in one[:most]]
    chosen.sort(key=lambda code: code[0] in nominal)
    many = [k for k, code in enumerate(chosen) if code in of_many]
    chosen = np.array(chosen).reshape(-1, 3)
    known = {"codes": chosen[:, :2].astype(int), "code_steps": chosen[:, 2]}
    return known | {"many": np.array(many, dtype=int)}


def codes_of(state, X):
    """Return the codes (n, n_codes) of rows (n, d) as they came; None where nobody wants them."""
    if not (state["cells"] or state["effects"]):
        return None
    layout = state["columns"]["layout"]
    columns, n_parts = layout["codes"].T
    C = X[:, columns]
    for k in np.flatnonzero(n_parts).tolist():
        C[:, k] = _on_circle(X[:, columns[k] : columns[k] + 2], n_parts[k])
    with np.errstate(over="ignore"):
        return np.floor(C / layout["code_steps"] + _ROUNDING)


def numbers(layout):
    """Return how many codes there are, of categories, which come last, and of many values."""
    n_nominal = int(np.isin(layout["codes"][:, 0], layout["nominal"]).sum())
    return len(layout["codes"]), n_nominal, len(layout["many"])


def of_many(state, codes):
    """Return those of codes (n, n_codes) that have many values."""
    return codes[:, state["columns"]["layout"]["many"]]


def beside_many(state, U):
    """Return what lines see U (..., p) but for what says which of many values codes have."""
    layout, shown = state["columns"]["layout"], state["effects"]["shown"]
    U = U.copy()
    U[..., : len(shown)] *= shown
    U[..., len(shown) + layout["n_few"] :] = 0.0
    return U


def _step(values):
    """Return what is counted of a column's distinct values: 1 if they are whole; 0 if nothing."""
    if len(values) < 2:
        return 0.0
    if (values == np.floor(values)).all():
        return 1.0
    step = np.diff(values).min()
    return step if step > _ROUNDING * np.abs(values).max() else 0.0


def _n_parts(X):
    """Return into how many parts a circle is cut, 0 if columns (n, 2) are no sine and cosine."""
    X = X[~np.isnan(X).any(axis=1)]
    with np.errstate(over="ignore"):
        is_circle = (np.abs(np.square(X).sum(axis=1) - 1.0) < _ROUNDING).all()
    if X.shape[1] < 2 or not len(X) or not is_circle or (X[0] == X).all():
        return 0
    turns = _turns(X)
    for n in _PARTS:
        if (np.abs(turns * n - np.round(turns * n)) < n * _ROUNDING).all():
            break
    return n


def _turns(X):
    return np.arctan2(X[:, 0], X[:, 1]) / (2.0 * np.pi) % 1.0


def _on_circle(X, n_parts):
    """Return where on a circle of so many parts a sine and a cosine (n, 2) are, NaN for gaps."""
    return np.round(_turns(X) * n_parts) % n_parts
