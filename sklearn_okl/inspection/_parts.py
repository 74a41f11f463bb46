"""What a forecast that can be explained is a sum of: lines, waves, monomials, boxes of its inputs.

All are sums of products of one factor a column. Whose column it is, a part says in `owners`: the
number of a player, or `NOBODY` for what is the same in all rows, such as the latest targets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from ._products import product_values, wave_values

NOBODY = -1
_TILE = 2_000_000  # factors held at once


class Part:
    """Base: q sums of terms that are products of a factor of each column.

    Parameters
    ----------
    inputs : ndarray of shape (n, u)
    coef : ndarray of shape (u, q) or (m, q)
    owners : ndarray of int of shape (u,)
    """

    def sums(self):
        """Return the values (n, q) of the part."""
        raise NotImplementedError

    def values(self, others, n_players):
        """Return the Shapley values (n, p, q) in front of the same part of a background."""
        raise NotImplementedError

    def effects(self, others, player):
        """Return what the part is (n, b, q) with a player as in n rows and the rest as in b."""
        raise NotImplementedError

    def times(self, factors):
        """Return the part of other sums, times factors (q, q')."""
        return replace(self, coef=self.coef @ factors)


@dataclass(frozen=True)
class Line(Part):
    """``inputs @ coef + constant``: each column has a term, and no other.

    Parameters
    ----------
    constant : ndarray of shape (q,)
    """

    inputs: np.ndarray
    coef: np.ndarray
    constant: np.ndarray
    owners: np.ndarray

    def sums(self):
        return self.inputs @ self.coef + self.constant

    def times(self, factors):
        return replace(super().times(factors), constant=self.constant @ factors)

    def values(self, others, n_players):
        off = self.inputs - others.inputs.mean(axis=0)
        values = np.zeros((len(off), n_players, self.coef.shape[1]))
        for j, owner in enumerate(self.owners.tolist()):
            if owner != NOBODY:
                values[:, owner] += np.multiply.outer(off[:, j], self.coef[j])
        return values

    def effects(self, others, player):
        mine = self.owners == player
        given, rest = self.inputs[:, mine] @ self.coef[mine], others.inputs[:, ~mine]
        return given[:, None] + (rest @ self.coef[~mine] + self.constant)


class _Products(Part):
    """Base of sums of products; a subclass says `factors(columns)`, (n, m), of some columns."""

    def sums(self):
        everything = np.ones(len(self.owners), dtype=bool)
        tiles = [part.factors(everything) @ self.coef for part in self._tiles(1)]
        return np.concatenate(tiles).real

    def values(self, others, n_players):
        values = np.zeros((len(self.inputs), n_players, self.coef.shape[1]))
        playing = [k for k in range(n_players) if self._uses(self.owners == k)]
        if not playing:
            return values
        coef, low = self._known_coef(), 0
        for part in self._tiles(len(playing)):
            rows = np.arange(low, low + len(part.inputs))
            values[rows[:, None], playing] = part._of_players(others, playing, coef)
            low += len(rows)
        return values

    def _of_players(self, others, playing, coef):
        """Return the Shapley values (n, p, q) of players of whom all have factors."""
        A, C = (
            np.stack([part.factors(self.owners == k) for k in playing]) for part in (self, others)
        )
        return product_values(A, C, coef)

    def _tiles(self, n_factors):
        """Yield the part for a few of the rows at a time, so that memory is bounded."""
        size = max(1, _TILE // (n_factors * len(self.coef)))
        for low in range(0, len(self.inputs), size):
            yield self._of_rows(slice(low, low + size))

    def _of_rows(self, rows):
        return replace(self, inputs=self.inputs[rows])

    def effects(self, others, player):
        mine = self.owners == player
        given, rest = self.factors(mine), others.factors(~mine)
        return np.stack(
            [((rest * coef) @ given.T).real.T for coef in self.coef.T], axis=-1
        )  # (n, b, q)

    def _known_coef(self):
        """Return the coefficients, times the factors that are the same in all rows."""
        nobodys = self.owners == NOBODY
        if not self._uses(nobodys):
            return self.coef
        return self._of_rows(slice(1)).factors(nobodys).T * self.coef


@dataclass(frozen=True)
class Waves(_Products):
    """The real part of a sum of waves, ``exp(1j * inputs @ frequencies) @ coef``.

    Parameters
    ----------
    frequencies : ndarray of shape (u, m)
    spreads : ndarray of shape (n, u), default=None
        Variances of inputs that are not known: the wave of a normal number is that of its mean,
        times ``exp(-spread * frequency**2 / 2)``. None: all are known.
    """

    inputs: np.ndarray
    frequencies: np.ndarray
    coef: np.ndarray
    owners: np.ndarray
    spreads: np.ndarray | None = None

    def factors(self, columns):
        frequencies = self.frequencies[columns]
        waves = _waves_at(self.inputs[:, columns] @ frequencies)
        if self.spreads is not None:
            waves *= np.exp(-0.5 * (self.spreads[:, columns] @ np.square(frequencies)))
        return waves

    def _of_players(self, others, playing, coef):
        if self.spreads is not None or others.spreads is not None:
            return super()._of_players(others, playing, coef)
        A, C = (part._halves(playing) for part in (self, others))
        return wave_values(A, C, coef)

    def _halves(self, playing):
        """Return waves (p, n, m) of half the angles of some players, who own inputs."""
        half = replace(self, frequencies=0.5 * self.frequencies)
        mine = [np.flatnonzero(self.owners == k) for k in playing]
        if any(len(inputs) > 1 for inputs in mine):
            return np.stack([half.factors(inputs) for inputs in mine])
        alone = np.concatenate(mine)
        return _waves_at(self.inputs.T[alone][..., None] * half.frequencies[alone, None])

    def _uses(self, columns):
        return bool(self.frequencies[columns].any())

    def _of_rows(self, rows):
        spreads = None if self.spreads is None else self.spreads[rows]
        return replace(self, inputs=self.inputs[rows], spreads=spreads)


def _waves_at(angles):
    """Return ``exp(1j * angles)``, in half the time."""
    waves = np.empty(angles.shape, dtype=np.complex128)
    np.cos(angles, out=waves.real)
    np.sin(angles, out=waves.imag)
    return waves


def waves_of(inputs, frequencies, theta, owners, phases=None, spreads=None):
    """Return the waves of random Fourier features with coefficients theta (D, q).

    The features are those of `fourier_map`: sines, then cosines, the last of which may be missing,
    or cosines with phases (m,).
    """
    m = frequencies.shape[1]
    if phases is not None:
        coef = np.sqrt(2.0 / m) * np.exp(1j * phases)[:, None] * theta
    else:
        cosines = np.zeros((m, theta.shape[1]))
        cosines[: len(theta) - m] = theta[m:]
        coef = (cosines - 1j * theta[:m]) / np.sqrt(m)
    return Waves(inputs, frequencies, coef, owners, spreads)


def waves_of_bank(inputs, frequencies, theta, owners, phases=None):
    """Return the waves of K banks of features, frequencies (K, u, m), theta (K, D, q)."""
    phases = [None] * len(theta) if phases is None else phases
    each = [
        waves_of(inputs, *known[:2], owners, known[2])
        for known in zip(frequencies, theta, phases, strict=True)
    ]
    return Waves(
        inputs, np.hstack([*frequencies]), np.concatenate([part.coef for part in each]), owners
    )


@dataclass(frozen=True)
class Monomials(_Products):
    r"""A sum of Taylor features, each :math:`\prod_j e^{-u_j^2/2} u_j^{k_j} / \sqrt{k_j!}`.

    Parameters
    ----------
    powers : ndarray of int of shape (m, u)
        Of the inputs, which are the coordinates times the root of two gamma.
    """

    inputs: np.ndarray
    powers: np.ndarray
    coef: np.ndarray
    owners: np.ndarray

    def factors(self, columns):
        U, powers = self.inputs[:, columns], self.powers[:, columns]
        logs = -0.5 * np.einsum("nu,nu->n", U, U)[:, None] - 0.5 * gammaln(powers + 1.0).sum(axis=1)
        # first the exponential, then the powers, so that nothing overflows
        factors = np.exp(logs)
        for u, k in zip(U.T, powers.T, strict=True):
            factors *= u[:, None] ** k
        return factors

    def _uses(self, columns):
        return bool(columns.any())


@dataclass(frozen=True)
class Boxes(_Products):
    """A sum of boxes, such as the leaves of a tree: 1 where ``low < inputs <= high``, else 0.

    Parameters
    ----------
    low, high : ndarray of shape (u, m)
    """

    inputs: np.ndarray
    low: np.ndarray
    high: np.ndarray
    coef: np.ndarray
    owners: np.ndarray

    def factors(self, columns):
        U, low, high = self.inputs[:, columns, None], self.low[columns], self.high[columns]
        return ((low < U) & (high >= U)).all(axis=1).astype(float)

    def _uses(self, columns):
        bounds = self.low[columns], self.high[columns]
        return any(np.isfinite(of_one).any() for of_one in bounds)
