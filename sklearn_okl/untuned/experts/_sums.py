"""What the forecasts of experts are sums of, for those who explain them.

Every expert is linear in lines and waves of what it sees, and what it sees of a column, its
standardised value, its rank, its indicators, depends on that column alone. What several columns
make together, the forecast of a tree, the errors of similar rows, logarithms of targets or what
gaps say, plays by itself.
"""

from dataclasses import replace

import numpy as np

from ...inspection._parts import NOBODY, Boxes, Line, waves_of_bank
from ..rows._codes import beside_many, codes_of, of_many
from ..rows._layout import has_tree
from ._banks import awake, frequencies_of, inputs_of, n_heard
from ._effects import EFFECTS
from ._experts import lines_see
from ._leaves import KINDS, TREES

# who play besides the columns
OTHERS = "missing values", "trees of few values", "similar rows", "logarithms"


def parts_of(experts, state, X, columns, ages):
    """Return lines and waves (of q sums) that make the mixture of experts for rows X (n, d).

    Parameters
    ----------
    experts : Experts
    state : dict
    X : ndarray of shape (n, d)
    columns : ndarray of int of shape (d,)
        The columns, as they were handed over, that those of X are of.
    ages : list of int
        As `ages_of` returns them.
    """
    Z = experts.encoder.look(state["columns"], X)
    codes = codes_of(state, X)
    F, seen = experts.ask(state, Z, codes=codes)
    of_mixture = state, F, seen, experts._heard(state, ages)
    weights, links, constant = experts.kind.lines(*of_mixture)
    layout = state["columns"]["layout"]
    steady = _owners(experts.encoder, layout, columns, experts.lags)
    n_trees = state["inputs"]["n_trees"]
    low = len(steady) - experts.lags - n_trees
    inputs = np.delete(steady, np.arange(low, low + n_trees))
    if layout["n_places"]:
        of_values = layout["valued"][state["columns"]["values"]["columns"]]
        steady = np.append(steady, columns[of_values])
    nothing = np.zeros((len(X), 0)), np.zeros((0, len(constant)))
    parts = [Line(*nothing, constant, np.zeros(0, dtype=int))]
    parts += _of_effects(experts, state, weights, lines_see(seen), steady, codes, columns)
    weights, trees = _with_lines(experts, state, weights)
    weights = _with_heard(experts, state, weights, seen.scale)
    for bank, places in experts._awake(state):
        mine = weights[:, places]
        if bank is None:  # the latest targets are the same for all rows
            walks = seen.walks[:1].reshape(1, mine.shape[1], -1)
            constant = np.einsum("gq,qg->q", walks[0], mine)
            parts.append(Line(*nothing, constant, np.zeros(0, dtype=int)))
        else:
            parts += _of_bank(awake(bank), seen, mine, inputs, steady)
    for part, of_trees in trees:
        parts += _of_leaves(experts.leaves, part, Z, of_trees, steady)
    if links is not None:
        bank = awake(state["boosting"]["bank"])
        parts += _of_bank(bank, seen, links, inputs, steady)
    if state["near"] or state["cells"] or state["logarithms"]:
        first = columns.max(initial=-1) + 3
        for k, told in enumerate(experts.kind.told(*of_mixture), first):
            own, nothing = np.eye(told.shape[1]), np.zeros(told.shape[1])
            parts.append(Line(told, own, nothing, np.full(len(own), k)))
    return parts


def _of_bank(bank, seen, weights, inputs, steady):
    """Return the parts of a bank whose experts have weights (q, g)."""
    maps, theta = bank["features"], bank["experts"]["theta"]
    theta = theta.reshape(*theta.shape[:2], -1)[..., : len(weights)]  # without logarithms
    coef = theta * weights.T[:, None]  # (g, D, q)
    masks, frequencies = maps["masks"], frequencies_of(maps)
    u, (n_columns, m) = masks.shape[1], frequencies.shape[1:]
    U, spreads = inputs_of(bank, seen), None
    if m and U.shape[1] > n_columns:
        U, spreads = np.hsplit(U, 2)
    known = steady if not m else np.tile(inputs, 2)[:n_columns]
    parts, width = [], maps.get("width", u)
    for half in range(U.shape[1] // width if u > n_heard(maps) else 0):
        mine, place = maps["halves"] == half, slice(half * width, half * width + u)
        lines = np.einsum("gu,guq->uq", masks[mine], coef[mine, 1 : 1 + u])
        parts.append(Line(U[:, place], lines, np.zeros(lines.shape[1]), known[place]))
    parts.append(Line(U[:, :0], np.zeros((0, coef.shape[2])), coef[:, 0].sum(axis=0), known[:0]))
    if m:
        waves = waves_of_bank(U, frequencies, coef[:, 1 + u :], known)
        parts.append(replace(waves, spreads=spreads))
    return parts


def _with_heard(experts, state, weights, scale):
    """Return the weights (q, K) with those of kernels put on the experts that they hear, as well.

    The last come first: what they hear may hear others.
    """
    low = experts.inputs.n_walks
    for bank, places in reversed(experts._awake(state)):
        n = 0 if bank is None else n_heard(bank["features"])
        if n:
            theta = bank["experts"]["theta"][: len(bank["members"]), 1 : 1 + n]
            theta = theta.reshape(len(theta), n)  # one target: two classes have no axis for it
            masks = bank["features"]["masks"][: len(theta)]
            weights = weights.copy()
            weights[:, low : low + n] += weights[:, places] @ (theta * masks) / np.ravel(scale)[0]
    return weights


def _of_effects(experts, state, weights, U, steady, codes, columns):
    """Return the parts of the line of effects, and of these, which are those of their columns."""
    if not experts.effects.is_there(state["effects"]):
        return []
    own, layout = weights[:, EFFECTS], state["columns"]["layout"]
    constants, coef = experts.effects.lines(state["effects"])
    line = Line(beside_many(state, U), own * coef, own * constants, steady)
    told = experts.effects.told(state["effects"], of_many(state, codes)).swapaxes(0, 1)
    of_codes = zip(told, columns[layout["codes"][layout["many"], 0]], strict=True)
    adds = np.diag(own), np.zeros(len(own))
    return [line, *[Line(one, *adds, np.full(len(own), owner)) for one, owner in of_codes]]


def _with_lines(experts, state, weights):
    """Return the weights (q, K) with those of trees on a line put on it, and trees with theirs."""
    leaves = state["leaves"]
    of_kinds = weights[:, TREES].T
    there = experts.leaves.there(leaves)
    if there[1]:
        weights = weights.copy()
        weights[:, experts.lines(state)[experts.leaves.line(leaves)]] += of_kinds[1]
    kinds = zip(KINDS, of_kinds, there, strict=True)
    return weights, [(leaves[kind], of_trees) for kind, of_trees, is_there in kinds if is_there]


def _of_leaves(leaves, state, Z, weights, steady):
    """Return the boxes of trees, one for each target, of weights (q,) in what is seen, Z (n, d)."""
    rows, owners = leaves.seen(state, Z), steady[state["columns"]]
    own = np.diag(weights)
    return [
        Boxes(rows, low, high, np.multiply.outer(means, of_target), owners)
        for (low, high, means), of_target in zip(leaves.boxes(state), own, strict=True)
    ]


def _owners(encoder, layout, columns, n_lags):
    """Return whose the inputs are, trees and lags included: of a column, or of `OTHERS`.

    Those that say which value a number is come behind.
    """
    of_gaps, of_trees = columns.max(initial=-1) + 1 + np.arange(2)
    own = [*columns, *columns[layout["indicators"][:, 0]], *columns[layout["tails"]]]
    own += [of_gaps] * layout["gaps"]
    of_others = [own[j] for j in encoder._own(layout) if j >= 0]
    of_others += [of_gaps] * int((encoder._own(layout) < 0).sum())
    own += of_others * encoder.n_others
    own += [of_trees] * (has_tree(layout) * (1 + encoder.n_others))
    return np.array([*own, *[NOBODY] * n_lags], dtype=int)
