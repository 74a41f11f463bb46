r"""Waves that tell little give way to others: generate and test, in a model without room for many.

A kernel on few random waves is as good as their draws. So, some time after its birth, those of its
waves go that tell least, and new ones come, drawn from the scales that it has learnt meanwhile: A.
R. Mahmood, R. S. Sutton, "Representation search through generate and test", AAAI Workshop on
Learning Rich Representations from Low-Level Sensors, 2013. What a wave tells is by how much the sum
of squares, with the ridge, would be larger without it,

.. math:: \theta_J' (P_{JJ})^{-1} \theta_J,

with J its sine and cosine and P the inverse of the sums: B. Hassibi, D. G. Stork, "Second order
derivatives for network pruning: optimal brain surgeon", NeurIPS 1992, eq. (5). That is compared
among waves over the squares of what they have been, as younger ones have told for fewer rows.

A new wave counts as one that was zero in the rows before it: in the sums its rows and columns are
zero but for the ridge. So coefficients are those of the same ridge regression on what the features
have been, and no row is needed again.
"""

import numpy as np

from ..._linalg import inverse_spd
from ..._tail import Shared
from ._banks import each_array, frequencies_of, learner_of
from ._draws import drawn, keep_waves

_LITTLE = 0.25  # share of what a wave tells in the mean, below which it goes
_MOST = 2  # of a half of them at most, the least telling first
_N_TIMES = 40  # that waves are looked at, each after twice as long as before


def renewals_of(births, burn_in):
    """Return the rounds after which waves are looked at, of kernels of the first birth."""
    return tuple(births[0] + burn_in * 2**k for k in range(_N_TIMES)) if births else ()


def may_be_renewed(bank):
    """Tell whether a bank has kept room for waves of its own, and the first of it sees pairs."""
    has_room = "waves" in bank["features"] and bank["features"]["waves"].size > 0
    return has_room and len(bank["members"]) > 0 and bool(bank["members"][0]["pairs"])


def renew(bank, scales, rng, shares=None):
    """Let waves of the first expert of a bank give way to new ones, of scales (n_columns,).

    Of several targets what waves tell counts by their `shares` (q,). Of late labels nothing is
    heard: what waves tell is what those say that are known.
    """
    experts, learner, maps = bank["experts"], learner_of(bank), bank["features"]
    learner._open(experts)
    width, m = experts["b"].shape[1], int(maps["n_frequencies"])
    A, P = (experts[name][0] for name in ("A", "P"))
    theta = (experts["past"][0, 0] if "past" in experts else experts["theta"][0]).reshape(width, -1)
    waves = width - 2 * m + np.arange(2 * m).reshape(2, m).T  # of each the places of both
    told = _told(P, theta, waves) @ (np.ones(theta.shape[1]) if shares is None else shares)
    told = told / np.diag(A)[waves].sum(axis=1)
    order = np.argsort(told, kind="stable")[: m // _MOST]
    gone = order[told[order] < _LITTLE * told.mean()]
    if not len(gone):
        return
    seen = np.flatnonzero(maps["scales"][0])
    frequencies = frequencies_of(maps)[0]
    frequencies[:, gone] = 0.0
    frequencies[np.ix_(seen, gone)] = drawn(bank["members"][0], scales[seen], len(gone), rng)
    maps = each_array(maps, np.copy)
    keep_waves(maps, 0, frequencies)
    bank["features"] = Shared(maps)
    _forget(experts, waves[gone].ravel())


def _told(P, theta, places):
    """Return by how much sums of squares (n, q) would grow without features, n sets of k places."""
    of_these = P[places[:, :, None], places[:, None, :]]
    return (theta[places] * np.linalg.solve(of_these, theta[places])).sum(axis=1)


def _forget(experts, places):
    """Let features of the first expert in some places be such that have been zero so far."""
    A, P, b, theta = (experts[name][0] for name in ("A", "P", "b", "theta"))
    lost = _told(P, theta.reshape(len(theta), -1), places[None])[0]
    experts["squares"][0] += lost.reshape(theta.shape[1:])
    if "past" in experts:
        past = experts["past"][0].reshape(len(experts["past"][0]), len(b), -1)
        past -= P[:, places] @ np.linalg.solve(P[np.ix_(places, places)], past[:, places])
        past[:, places] = 0.0
    A[places], A[:, places], b[places] = 0.0, 0.0, 0.0
    A[places, places] = experts["alpha"][0]
    P[...] = inverse_spd(A[None], experts["alpha"][:1])[0]
    theta[...] = P @ b
