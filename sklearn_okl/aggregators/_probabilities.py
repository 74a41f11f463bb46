"""Probabilities from scores: calibrated on the way, and pooled.

Two kinds of online multinomial logistic regression, learnt by Newton's steps in blocks of rows. In
`Calibrations` each expert has one of its own, on its scores: J. Platt, "Probabilistic outputs for
support vector machines", Advances in Large Margin Classifiers, 1999, with one temperature and one
bias per class. A `Pool` is one on the logarithms of the probabilities of many: a logarithmic
opinion pool, C. Genest, J. V. Zidek, "Combining probability distributions", Statistical Science
1(1), 1986.

Their parameters stay as they are within a block, so that a block is a few products; blocks end
where the stream's own count says.
"""

import numpy as np

from .._tail import Shared
from ..features._moments import faded

_BLOCK = 32  # rows a block once there are 128: the logistic loss changes little within it
_PRIOR = 1.0  # precision of temperatures and biases before the first row
_SLOPE = 2.0  # the slope of the log-odds at a score of 0, where scores (-f, f) mean (1 + f) / 2
_TEMPERED = (
    10.0  # precision of the biases of pools: they are to weigh, and calibrated is what comes
)
_OF_BASE = 3  # features of its base that a pool sees, beside the deviations from it
_STEEP = 4.0  # their slope by the log-odds at one half is that of the log-odds
_FARTHEST = 8.0  # nats between two forecasts: one that is sure of an error is no leverage
_STEP = 1.0  # nats that a forecast of a block may move: where forecasts are sure, curvature is none
_KT = 0.5  # R. E. Krichevsky, V. K. Trofimov, "The performance of universal encoding", 1981


def rows_to_block_end(t):
    """Return how many rows there are until the parameters change: 1 at first, and later 32."""
    step = min(_BLOCK, max(1, (1 << t.bit_length()) // 8))
    return step - t % step


def probabilities(Z):
    """Return probabilities from log-odds of any level, along the last axis."""
    P = np.exp(Z - np.maximum.reduce(Z, axis=-1, keepdims=True))
    P /= np.add.reduce(P, axis=-1, keepdims=True)
    return P


class Calibrations:
    """Multinomial logistic regressions on scores, one per expert, all learnt at once.

    Parameters
    ----------
    n_classes : int
    """

    def __init__(self, n_classes):
        self.n_classes = n_classes

    def start(self, n_experts):
        """Return the state before the first row: temperatures and biases, and their precisions."""
        theta = np.zeros((n_experts, 1 + self.n_classes))
        theta[:, 0] = _SLOPE
        return Shared(
            theta=theta, A=np.tile(_PRIOR * np.eye(1 + self.n_classes), (n_experts, 1, 1))
        )

    def ask(self, theta, S):
        """Return probabilities (n, K, C) of scores (n, K, C); theta (K, 1 + C), or one a row."""
        return probabilities(theta[..., :1] * S + theta[..., 1:])

    def learn(self, state, S, y, weights):
        """Return the state after a Newton step on rows of places y (n,), and of weights (n,).

        Who has no scores, NaN, learns nothing.
        """
        asleep = np.isnan(S[..., 0])
        weights = np.where(asleep, 0.0, weights[:, None])  # (n, K)
        S = np.where(asleep[..., None], 0.0, S)
        P = self.ask(state["theta"], S)
        W = P * weights[..., None]
        R = W.copy()
        R[np.arange(len(y)), :, y] -= weights
        gradient = np.concatenate([np.einsum("nkc,nkc->k", R, S)[:, None], R.sum(axis=0)], axis=1)
        off = S - np.einsum("nkc,nkc->nk", P, S)[..., None]  # from the means under P
        of_both = np.einsum("nkc,nkc->kc", W, off)
        A = state["A"].copy()
        A[:, 0, 0] += np.einsum("nkc,nkc,nkc->k", W, off, off)
        A[:, 0, 1:] += of_both
        A[:, 1:, 0] += of_both
        A[:, 1:, 1:] -= W.transpose(1, 2, 0) @ P.transpose(1, 0, 2)
        places = np.arange(1, 1 + self.n_classes)
        A[:, places, places] += W.sum(axis=0)
        step = np.linalg.solve(A, gradient[..., None])[..., 0]
        moves = np.abs(step[:, :1] * S + step[:, 1:]).max(axis=2)  # (n, K)
        step /= _excess(np.where(asleep, 0.0, moves).max(axis=0))[:, None]
        return Shared(theta=state["theta"] - step, A=A)


class Pool:
    """A multinomial logistic regression on log-probabilities: their logarithmic pool.

    It starts as a base, such as their mean, and learns what each forecast adds to that.

    Parameters
    ----------
    n_classes : int
    ridge : float
        Precision of the weights before the first row.
    forgetting : float
        Factor by which the past fades per row.
    """

    def __init__(self, n_classes, ridge, forgetting):
        self.n_classes, self.ridge, self.forgetting = n_classes, ridge, forgetting

    def start(self, n_experts):
        """Return the state before the first row: weights and biases, and their precisions."""
        prior = self._prior(n_experts + _OF_BASE)
        return Shared(theta=np.zeros(len(prior)), A=np.diag(prior))

    def ask(self, theta, base, D):
        """Return probabilities (n, C): of others their logarithms, and deviations (n, K, C)."""
        weights, biases = theta[..., : D.shape[1]], theta[..., D.shape[1] :]
        return probabilities(base + (weights[..., None, :] @ D)[..., 0, :] + biases)

    def learn(self, state, base, D, y, weights):
        """Return the state after a Newton step on rows of places y (n,)."""
        n, K, C = D.shape
        P = self.ask(state["theta"], base, D)
        R = P * weights[:, None]
        R[np.arange(n), y] -= weights
        gradient = np.concatenate([np.einsum("nc,nkc->k", R, D), R.sum(axis=0)])
        # the spread of rows (d_c, e_c) under P, summed over the rows
        Z = np.empty((n, C, K + C))
        Z[..., :K], Z[..., K:] = D.swapaxes(1, 2), np.eye(C)
        Z -= P[:, None, :] @ Z
        Z *= np.sqrt(P * weights[:, None])[..., None]
        Z = Z.reshape(n * C, K + C)
        kept = self.forgetting**n
        A = kept * state["A"] + Z.T @ Z
        A[np.diag_indices_from(A)] += (1.0 - kept) * self._prior(K)
        step = np.linalg.solve(A, gradient)
        step /= _excess(np.abs(step[:K] @ D + step[K:]).max())
        return Shared(theta=state["theta"] - step, A=A)

    def _prior(self, n_experts):
        return np.repeat([self.ridge, _TEMPERED], [n_experts - _OF_BASE, _OF_BASE + self.n_classes])


def _excess(moves):
    """Return by how much steps are too long that move forecasts so far."""
    return np.maximum(moves / _STEP, 1.0)


def deviations(L, base):
    """Return the deviations (n, K + 3, C) of log-probabilities from a base, and three of its own.

    Who is asleep does not deviate. The base, centred, makes pools bolder where all agree; with its
    probabilities they may be so only where it is sure; and the logarithms of those of the other
    classes make the three a beta calibration: M. Kull, T. Silva Filho, P. Flach, "Beta
    calibration", AISTATS 2017.
    """
    n, K, C = L.shape
    D = np.empty((n, K + _OF_BASE, C))
    np.subtract(L, base[:, None], out=D[:, :K])
    np.subtract(base, base.mean(axis=1, keepdims=True), out=D[:, K])
    P = np.exp(base)
    D[:, K + 1] = _STEEP * (P - 1.0 / C)
    others = np.log1p(-P)
    np.subtract(others.mean(axis=1, keepdims=True), others, out=D[:, K + 2])
    D[np.isnan(D)] = 0.0
    return np.clip(D, -_FARTHEST, _FARTHEST, out=D)


class Frequencies:
    """How often each class comes, and how often it stays: two forecasts for each fading.

    Parameters
    ----------
    n_classes : int
    fadings : tuple of float
        Factors by which counts fade per row.
    """

    def __init__(self, n_classes, fadings):
        self.n_classes, self.fadings = n_classes, fadings
        self.n_forecasts = 2 * len(fadings)

    def start(self):
        """Return the counts (fadings, 3, C) before the first row: of classes, from each, stays."""
        return np.zeros((len(self.fadings), 3, self.n_classes))

    def path(self, counts, y, last):
        """Return counts (n + 1, fadings, 3, C) before each row and after, of places y (n,).

        `last` (n,) is the latest place known before each row, -1 where there is none.
        """
        classes = np.arange(self.n_classes)
        of_last = last[:, None] == classes
        stays = of_last & (y == last)[:, None]
        terms = np.stack([y[:, None] == classes, of_last, stays], axis=1).astype(float)
        parts = [faded(terms, start, f) for start, f in zip(counts, self.fadings, strict=True)]
        return np.stack(parts, axis=1)

    def ask(self, counts, last):
        """Return probabilities (n, 2 fadings, C) by counts (n, fadings, 3, C)."""
        n_all = counts[:, :, 0].sum(axis=-1, keepdims=True)
        shares = (counts[:, :, 0] + _KT) / (n_all + _KT * self.n_classes)
        stays = (counts[:, :, 2] + _KT) / (counts[:, :, 1] + 2.0 * _KT)
        rows, place = np.arange(len(last)), np.maximum(last, 0)
        stay, share = stays[rows, :, place], shares[rows, :, place]  # (n, fadings)
        persistent = shares * ((1.0 - stay) / (1.0 - share))[..., None]
        persistent[rows, :, place] = stay
        persistent = np.where((last < 0)[:, None, None], shares, persistent)
        return np.concatenate([persistent, shares], axis=1)
