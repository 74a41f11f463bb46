"""Standard normal points, independent or not, from which all frequencies are made."""

import numpy as np
from scipy.special import erfc, ndtri
from scipy.stats.qmc import Sobol

SAMPLINGS = ("iid", "orthogonal", "qmc")

_SOBOL_BITS = 30


def normal_points(n_points, n_features, sampling, rng):
    """Draw points (n_points, n_features) that are N(0, I) each, coupled or not.

    They are independent, or have directions that are orthogonal in blocks of `n_features`, or are a
    scrambled Sobol sequence.
    """
    if sampling not in SAMPLINGS:
        raise ValueError(f"Unknown sampling {sampling!r}; choose one of {', '.join(SAMPLINGS)}.")
    if sampling == "iid":
        return rng.standard_normal((n_points, n_features))
    draw = _orthogonal_normals if sampling == "orthogonal" else _sobol_normals
    return draw(n_points, n_features, rng)


def two_sided_tails(points):
    """Return 2Φ(−|g|), uniform on [0, 1], of standard normal numbers g.

    By erfc: quantiles 1 / tan and −log of it are then exact far into the tails.
    """
    return erfc(np.abs(points) / np.sqrt(2))


def _orthogonal_normals(m, d, rng):
    """Points (m, d), each N(0, I): blocks of d orthogonal directions, χ_d lengths."""
    G = np.empty((m, d))
    for start in range(0, m, d):
        block = G[start : start + d]
        Q, R = np.linalg.qr(rng.standard_normal((d, len(block))))
        # Without the signs of R's diagonal, LAPACK's Q is orthogonal but not Haar distributed.
        block[:] = (Q * np.sign(np.diag(R))).T
        block *= np.sqrt(rng.chisquare(d, size=(len(block), 1)))
    return G


def _sobol_normals(m, d, rng):
    """Points (m, d), each N(0, I): a scrambled Sobol sequence through the normal quantiles."""
    if d > Sobol.MAXDIM:
        raise ValueError(
            f"sampling='qmc' works for up to {Sobol.MAXDIM} features, got {d}; "
            "choose 'iid' or 'orthogonal'."
        )
    seed = rng.randint(2**31 - 1)
    try:
        sobol = Sobol(d, bits=_SOBOL_BITS, rng=seed)
    except TypeError:  # before SciPy 1.15
        sobol = Sobol(d, bits=_SOBOL_BITS, seed=seed)
    # A power of two of points keeps the sequence balanced. The points are cells of a grid;
    # their centres stay clear of 0, whose quantile is infinite.
    U = sobol.random_base2(int(m - 1).bit_length())[:m]
    return ndtri(U + 0.5**_SOBOL_BITS / 2)
