r"""R. Jézéquel, P. Gaillard, A. Rudi, "Efficient online learning with kernels" (2019), Algorithm 2.

The Vovk-Azoury-Warmuth forecaster in the span of atoms that are sampled from the stream. All rows
are kept: when an atom enters, the learner is what it would be had the atom been there from the
start. In the nested basis that is one new coordinate of every past row, which borders
:math:`A = \alpha I + \Phi^T \Phi` by a row and a column.
"""

from typing import NamedTuple

import numpy as np

from ._nested import (
    CLOSE,
    DEPENDENT,
    JITTER,
    coordinates,
    entry_probabilities,
    first_entry,
    grow_basis,
    grow_sampler,
    start_basis,
    start_sampler,
    uniforms,
)

_WINDOW = 64  # rows tested at once for the first to enter
_CHUNK = 1024  # past rows that lie together


class Kors(NamedTuple):
    """Parameters of the sampler, as `entry_probabilities` takes them."""

    mu: float
    beta: float
    eps: float


def start(vovk, n_features, n_targets, rng):
    """Return the state before the first row, for a VAWRegressor on the coordinates."""
    return {
        "t": 0,
        "sampler": start_sampler(n_features, rng),
        "basis": start_basis(n_features),
        "model": vovk._start(0, n_targets),
        # Past rows in chunks (rows (r, d), coordinates (r, J), targets (r, q)), and the chunk that
        # still grows. A tuple, because full chunks are replaced, never edited, and need no copy.
        "chunks": (),
        "rows": np.empty((0, n_features)),
        "Phi": np.empty((0, 0)),
        "targets": np.empty((0, n_targets or 1)),
    }


def learn(vovk, kernel, kors, state, X, y):
    """Learn rows: the sampler decides on a row first, then it is forecast and learnt."""
    n, forecasts = len(y), np.empty(y.shape)
    drawn = uniforms(state["sampler"], n)
    low = tested = 0  # rows before these are learnt; are decided on
    while low < n:
        high = min(n, tested + _WINDOW - (state["t"] + tested - low) % _WINDOW)
        found = tested
        if tested < high:
            rows = slice(tested, high)
            p = entry_probabilities(kernel, state["sampler"], X[rows], *kors)
            found += first_entry(kernel, state["sampler"], X[rows], p, drawn[rows], *kors)
        if found > low:
            rows = slice(low, found)
            Phi = coordinates(kernel, state["basis"], X[rows])[0]
            if Phi.shape[1] > 0:
                forecasts[rows] = vovk._learn_blocks(state["model"], Phi, y[rows])
            else:  # nothing but zeros of the kernel so far
                forecasts[rows] = 0.0
                state["model"]["t"] += found - low
            _store(state, X[rows], Phi, y[rows].reshape(found - low, -1))
        if found < high:
            _let_in(kernel, kors, state, X[found])
        low, tested = found, min(found + 1, high)
    return forecasts


def forecast(vovk, kernel, kors, state, X):
    """Forecast each row as the next one, with the dictionary that it would leave."""
    Phi, distances = coordinates(kernel, state["basis"], X)
    if Phi.shape[1] > 0:
        forecasts = vovk._forecast(state["model"], Phi)
    else:
        forecasts = np.zeros((len(X), *state["model"]["b"].shape[1:]))
    enters = _would_enter(kernel, kors, state["sampler"], X)
    new = np.flatnonzero(enters & (distances > DEPENDENT * kernel.diagonal(X)))
    if len(new):
        border = _border(kernel, state, X[new], Phi[new], distances[new])
        own = border.root - np.einsum("ij,ji->i", Phi[new], border.U)
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
    root : ndarray of shape (m,)
        Its new coordinate of itself, the distance to the span.
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

    root: np.ndarray
    columns: list
    cross: np.ndarray
    size: np.ndarray
    moment: np.ndarray
    U: np.ndarray
    pivot: np.ndarray
    weight: np.ndarray


def _border(kernel, state, X, Phi, distances):
    """Compute the borders for rows X (m, d), none of them in the span; O(t J) for each.

    Phi (m, J) and distances (m,) are what `coordinates` says of the rows.
    """
    model = state["model"]
    reach = np.sqrt(distances + JITTER * kernel.diagonal(X))  # as `grow_basis` takes them
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
    return _Border(distances / reach, columns, cross, size, moment, U, pivot, weight)


def _let_in(kernel, kors, state, x):
    """Add the row x to the sampler and, unless the atoms span it, to basis and learner."""
    sampler, basis, model = state["sampler"], state["basis"], state["model"]
    grow_sampler(kernel, sampler, x, *kors)
    Phi, distances = coordinates(kernel, basis, x[None])
    if distances[0] <= DEPENDENT * kernel.diagonal(x[None])[0]:
        return
    new = _border(kernel, state, x[None], Phi, distances)
    grow_basis(kernel, basis, x)
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


def _would_enter(kernel, kors, sampler, X):
    """Tell of each row whether the next uniform number would let it in."""
    drawn = sampler["uniform"]
    p = entry_probabilities(kernel, sampler, X, *kors)
    enters = drawn < p
    for i in np.flatnonzero(np.abs(p - drawn) < CLOSE):
        enters[i] = drawn < entry_probabilities(kernel, sampler, X[i : i + 1], *kors)[0]
    return enters


def _bordered(A, column, corner):
    """Append a row and a column to a symmetric matrix."""
    size = len(A)
    wider = np.empty((size + 1, size + 1))
    wider[:size, :size] = A
    wider[size, :size] = wider[:size, size] = column
    wider[size, size] = corner
    return wider
