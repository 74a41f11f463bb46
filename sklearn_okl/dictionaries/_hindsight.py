r"""R. Jézéquel, P. Gaillard, A. Rudi, "Efficient online learning with kernels" (2019), Algorithm 2.

The Vovk-Azoury-Warmuth forecaster in the span of a dictionary that grows. All rows are kept: when
an atom enters, the learner is what it would be had the atom been there from the start. In the
nested basis that is one new coordinate of every past row, which borders
:math:`A = \alpha I + \Phi^T \Phi` by a row and a column.
"""

from typing import NamedTuple

import numpy as np

from ._growth import growth
from ._nested import DEPENDENT, JITTER, coordinates, start_basis

_CHUNK = 1024  # past rows that lie together


def start(vovk, rule, n_features, n_targets):
    """Return the state before the first row, for a VAWRegressor on the coordinates."""
    return {
        "t": 0,
        "sampler": rule.start(n_features),
        "basis": start_basis(n_features),
        "model": vovk._start(0, n_targets),
        # Past rows in chunks (rows (r, d), coordinates (r, J), targets (r, q)), and the chunk that
        # still grows. A tuple, because full chunks are replaced, never edited, and need no copy.
        "chunks": (),
        "rows": np.empty((0, n_features)),
        "Phi": np.empty((0, 0)),
        "targets": np.empty((0, n_targets or 1)),
    }


def learn(vovk, kernel, rule, state, X, y):
    """Learn rows: the rule decides on a row first, then it is forecast and learnt."""
    forecasts, model = np.empty(y.shape), state["model"]
    stretches = growth(kernel, rule, state["sampler"], state["basis"], X, state["t"])
    for stretch in stretches:
        rows, Phi = stretch.rows, stretch.coordinates
        if Phi.shape[1] > len(model["b"]):
            _let_in(kernel, state)
        if Phi.shape[1] > 0:
            forecasts[rows] = vovk._learn_blocks(model, Phi, y[rows])
        else:  # nothing but zeros of the kernel so far
            forecasts[rows] = 0.0
            model["t"] += len(Phi)
        _store(state, X[rows], Phi, y[rows].reshape(len(Phi), -1))
    return forecasts


def forecast(vovk, kernel, rule, state, X):
    """Forecast each row as the next one, with the dictionary that it would leave."""
    Phi, distances = coordinates(kernel, state["basis"], X)
    if Phi.shape[1] > 0:
        forecasts = vovk._forecast(state["model"], Phi)
    else:
        forecasts = np.zeros((len(X), *state["model"]["b"].shape[1:]))
    enters = rule.would_enter(kernel, state["sampler"], X)
    new = np.flatnonzero(enters & (distances > DEPENDENT * kernel.diagonal(X)))
    if len(new):
        pivots = distances[new] + JITTER * kernel.diagonal(X[new])  # as `grow_basis` takes them
        border = _border(kernel, state, X[new], Phi[new], np.sqrt(pivots))
        own = distances[new] / np.sqrt(pivots) - np.einsum("ij,ji->i", Phi[new], border.U)
        P, J = state["model"]["P"], len(border.U)
        theta = state["model"]["theta"].reshape(J, border.weight.shape[1])
        grown = Phi[new] @ theta + own[:, None] * border.weight
        if vovk.forecaster == "vaw":
            leverages = np.einsum("ij,ij->i", Phi[new] @ P, Phi[new])
            grown /= (1.0 + leverages + own**2 / border.pivot)[:, None]
        forecasts[new] = grown.reshape(forecasts[new].shape)
    return forecasts


class _Border(NamedTuple):
    """What each of m rows, were it an atom, adds to the learner; see `_border`.

    Attributes
    ----------
    columns : list of ndarray of shape (r, m)
        The new coordinate of the past rows, a chunk each.
    cross : ndarray of shape (J, m)
        New column of A, but for its last entry.
    size : ndarray of shape (m,)
        New last entry of A, without alpha.
    moment : ndarray of shape (m, q)
        New entry of b.
    U : ndarray of shape (J, m)
        P cross.
    pivot : ndarray of shape (m,)
        Schur complement of the border, alpha + size - cross' P cross.
    weight : ndarray of shape (m, q)
        New entry of theta.
    """

    columns: list
    cross: np.ndarray
    size: np.ndarray
    moment: np.ndarray
    U: np.ndarray
    pivot: np.ndarray
    weight: np.ndarray


def _border(kernel, state, X, Phi, reach):
    """Compute the borders for rows X (m, d), none of them in the span; O(t J) for each.

    Phi (m, J) are their coordinates, reach (m,) the last entries of the rows that the basis' factor
    would get.
    """
    model = state["model"]
    m, J = Phi.shape
    q = state["targets"].shape[1]
    cross, size, moment, columns = np.zeros((J, m)), np.zeros(m), np.zeros((m, q)), []
    for rows, past, targets in _chunks(state):
        column = kernel(rows, X)  # (r, m)
        column -= past @ Phi.T
        column /= reach
        cross += past.T @ column
        size += np.einsum("ij,ij->j", column, column)
        moment += column.T @ targets
        columns.append(column)
    A, P, alpha = model["A"], model["P"], float(model["alpha"])
    U = P @ cross
    # The quadratic alpha + size - 2 U'cross + U'AU at its minimum: errors of U count squared only.
    pivot = alpha + size + np.einsum("jm,jm->m", U, A @ U - 2.0 * cross)
    pivot = np.maximum(pivot, alpha)
    weight = (moment - U.T @ model["b"].reshape(J, q)) / pivot[:, None]
    return _Border(columns, cross, size, moment, U, pivot, weight)


def _let_in(kernel, state):
    """Give the learner the coordinate of the latest atom of the basis."""
    basis, model = state["basis"], state["model"]
    model.pop("root", None)  # the new coordinate is that of all rows so far, which it has not met
    row = basis["factor"][-1:]
    new = _border(kernel, state, basis["atoms"][-1:], row[:, :-1], row[:, -1])
    u, pivot, weight = new.U[:, 0], new.pivot[0], new.weight[0]
    a_last = float(model["alpha"]) + new.size[0]
    model["A"] = _bordered(model["A"], new.cross[:, 0], a_last)
    model["P"] = _bordered(model["P"] + np.outer(u, u) / pivot, -u / pivot, 1.0 / pivot)
    targets = model["b"].shape[1:]
    model["b"] = np.concatenate([model["b"], new.moment[0].reshape(1, *targets)])
    shifted = model["theta"] - np.multiply.outer(u, weight.reshape(targets))
    model["theta"] = np.concatenate([shifted, weight.reshape(1, *targets)])
    wider = [
        (rows, np.hstack([past, column]), past_targets)
        for (rows, past, past_targets), column in zip(_chunks(state), new.columns, strict=True)
    ]
    state["chunks"] = tuple(wider[:-1])
    state["Phi"] = wider[-1][1]


def _chunks(state):
    """Return all chunks of past rows, the growing one, which may be empty, last."""
    return (*state["chunks"], (state["rows"], state["Phi"], state["targets"]))


def _store(state, X, Phi, targets):
    """Append rows to the past."""
    parts = [
        np.concatenate([state[name], new])
        for name, new in (("rows", X), ("Phi", Phi), ("targets", targets))
    ]
    full = len(parts[0]) - len(parts[0]) % _CHUNK
    for low in range(0, full, _CHUNK):
        chunk = tuple(part[low : low + _CHUNK].copy() for part in parts)
        state["chunks"] += (chunk,)
    rows, Phi, targets = (part[full:] for part in parts)
    state.update(rows=rows, Phi=Phi, targets=targets, t=state["t"] + len(X))


def _bordered(A, column, corner):
    """Append a row and a column to a symmetric matrix."""
    size = len(A)
    wider = np.empty((size + 1, size + 1))
    wider[:size, :size] = A
    wider[size, :size] = wider[:size, size] = column
    wider[size, size] = corner
    return wider
