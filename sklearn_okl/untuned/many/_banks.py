"""The banks of many small models: what `PackedBankRow` does with one."""

import numpy as np
from scipy.linalg.blas import dspr
from scipy.linalg.lapack import dppsv

from ..._linalg import inverse_spd
from ..experts._banks import frequencies_of, learner_of, n_heard
from ..experts._packed import _triangle, _unpacked


class ManyBanks:
    """The banks of S models, each of one expert, that have met a row and may learn it.

    They are those of what is `kept`, whose `parts` are the fields of records; all else is the same
    but for what kernels are drawn from.
    """

    def __init__(self, kept, parts):
        first = kept[0].model._state["banks"]
        are_same = all(one.draws is kept[0].draws for one in kept)
        different = kept[:1] if are_same else kept
        self.banks = [
            ManyOfOneBank(name, [one.model._state["banks"][name] for one in different], parts)
            for name, bank in first.items()
            if bank["members"]
        ]

    def ask(self, inputs, steady, limits, scales):
        """Return the forecasts (S, E) of the experts, each of which hears those before it.

        In units of the scales (S,) of the targets, and within limits (S, 3).
        """
        known = np.empty((len(inputs), len(self.banks)))
        said = np.empty_like(known)
        for k, bank in enumerate(self.banks):
            known[:, k] = bank.ask(inputs, steady, said)
            said[:, k] = np.minimum(np.maximum(known[:, k], limits[:, 0]), limits[:, 1]) / scales
        return known

    def teach(self, u, t):
        """Learn targets u (S,) of the rows of rounds t (S,) that were asked for last."""
        for bank in self.banks:
            bank.teach(u, t)


class ManyOfOneBank:
    """One bank of each of S models: its expert's features, coefficients and triangles."""

    def __init__(self, name, banks, parts):
        at = "banks", name, "experts"
        self.theta, self.b = (parts[*at, part][:, 0, :, 0] for part in ("theta", "b"))
        self.sums, self.squares = parts[*at, "sums"][:, 0], parts[*at, "squares"][:, 0, 0]
        self.mass, self.forgetting = parts[*at, "mass"], banks[0]["forgetting"]
        self.alpha, self.learner = banks[0]["experts"]["alpha"][0], learner_of(banks[0])
        maps = banks[0]["features"]
        self.mask, self.n_heard = maps["masks"][0], n_heard(maps)
        self.frequencies = _frequencies([bank["features"] for bank in banks])

    def ask(self, inputs, steady, said):
        """Return the forecasts (S,) for rows, after what others have said (S, K) of them."""
        self.z = self._features(inputs, steady, said)
        self.known = np.einsum("sd,sd->s", self.z, self.theta)
        return self.known

    def _features(self, inputs, steady, said):
        n_lines, m = len(self.mask), self.frequencies.shape[-1]
        Z = np.ones((len(inputs), 1 + n_lines + 2 * m))
        lines = said if self.n_heard else inputs if m else steady
        np.multiply(lines[:, :n_lines], self.mask, out=Z[:, 1 : 1 + n_lines])
        if m:
            tangents = _products(inputs, self.frequencies)
            np.tan(tangents, out=tangents)
            radii = 2.0 / (1.0 + tangents * tangents)
            Z[:, 1 + n_lines : 1 + n_lines + m] = tangents * radii
            Z[:, 1 + n_lines + m :] = radii - 1.0
            Z[:, 1 + n_lines :] *= 1.0 / np.sqrt(m)
        return Z

    def teach(self, u, t):
        """Learn targets u (S,) of rounds t (S,)."""
        z, known = self.z, self.known
        if self.forgetting < 1.0:
            for part in (self.b, self.sums, self.squares, self.mass):
                part *= self.forgetting
            self._put_back(t)
        self.b += z * u[:, None]
        self.mass += 1.0
        width = z.shape[1]
        of_each = zip(z, self.sums, self.b, self.theta, strict=True)
        for row, sums, b, theta in of_each:
            dspr(width, 1.0, row, sums, lower=1, overwrite_ap=1)
            found, failed = dppsv(width, sums.copy(), b, lower=1)  # which overwrites them
            theta[:] = self._anew(sums, b) if failed else found
        self.squares += (u - known) * (u - np.einsum("sd,sd->s", z, self.theta))

    def _put_back(self, t):
        """Put back the ridge that has faded, where it is time."""
        refresh = self.learner._refresh_interval()
        due = np.flatnonzero((t + 1) % refresh == 0)
        if len(due):
            lost = (1.0 - self.forgetting**refresh) * self.alpha
            self.sums[np.ix_(due, _triangle(self.z.shape[1])[2])] += lost

    def _anew(self, sums, b):
        """Return coefficients where rounding has made a triangle indefinite."""
        return inverse_spd(_unpacked(sums[None], len(b)), self.alpha)[0] @ b


def _products(inputs, frequencies):
    """Return products (S, m) of inputs (S, u) and halves of frequencies (1 or S, n, m)."""
    seen = inputs[:, : frequencies.shape[1]]
    if len(frequencies) == 1:
        return seen @ (0.5 * frequencies[0])
    return 0.5 * np.matmul(seen[:, None], frequencies)[:, 0]


def _frequencies(maps):
    """Return frequencies (1 or S, n, m) of one expert each; lines have none."""
    if "draws" not in maps[0]:
        return frequencies_of(maps[0])
    return np.concatenate([frequencies_of(one) for one in maps])
