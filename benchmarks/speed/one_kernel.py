"""Algorithms of one kernel against their literal loops."""

from functools import partial

import numpy as np

from sklearn_okl import (
    ALDNystroem,
    AOGDALDRegressor,
    CONKONSRegressor,
    FOGDRegressor,
    KernelVAWRegressor,
    KOGDRegressor,
    KONSRegressor,
    NOGDRegressor,
    NONSALDRegressor,
    PKAWVRegressor,
    PROSNKONSRegressor,
    SketchedKONSRegressor,
)
from sklearn_okl.dictionaries._nested import coordinates, first_novel, grow_basis, start_basis
from sklearn_okl.kernels import RBF, kernel_matrix

from .loops import ald, budgeted_gradient, dictionaries, first_order, kernel_vovk, newton
from .ratios import Race, against, races

_GAMMA = 0.5  # sigma = 1
_RBF = {"kernel": "rbf", "gamma": _GAMMA}


def vovk_speed(quick=False, advance=None):
    """Kernel-AWV and PKAWV."""
    n, n_taylor, n_loop = (100, 100, 20) if quick else (400, 2000, 100)
    X, y = stream(n, 5)
    K, u = kernel_matrix(X, gamma=_GAMMA), _uniforms(n)
    X8, y8 = stream(n_taylor, 8)
    powers = kernel_vovk.taylor_powers(8, 3)

    def rbf(A, B):
        return kernel_matrix(A, B, gamma=_GAMMA)

    def taylor():
        PKAWVRegressor(**_RBF, projection="taylor", degree=3).prequential_predict(X8, y8)

    def loop_of(embed, dimension):
        return lambda: kernel_vovk.algorithm_1(embed, X8[:n_loop], y8[:n_loop], dimension)

    return races(
        [
            Race(
                "KernelVAW",
                lambda: KernelVAWRegressor(**_RBF).prequential_predict(X, y),
                n,
                lambda: kernel_vovk.kernel_awv(K, y),
                n,
                bar=10,
            ),
            Race(
                "PKAWV, Nyström",
                lambda: PKAWVRegressor(**_RBF, random_state=0).prequential_predict(X, y),
                n,
                lambda: kernel_vovk.algorithm_2(rbf, X, y, u),
                n,
                bar=3,
            ),
            Race(
                "PKAWV, Taylor, the paper's program",
                taylor,
                n_taylor,
                loop_of(lambda x: kernel_vovk.printed_taylor(x, 1.0, 3), 585),
                n_loop,
                bar=10,
            ),
            Race(
                "PKAWV, Taylor, each monomial once",
                taylor,
                n_taylor,
                loop_of(lambda x: kernel_vovk.taylor(x, powers, 1.0), 165),
                n_loop,
                bar=5,
            ),
        ],
        advance,
    )


def newton_speed(quick=False, advance=None):
    """The online Newton steps."""
    n = 60 if quick else 300
    X, y = stream(n, 8)
    K, u = kernel_matrix(X, gamma=_GAMMA), _uniforms(n)
    law = {"kors_mu": 5.0, "random_state": 0}
    entered = newton.kors(K, u, 5.0)
    keep = (u < 0.1) | entered
    pairs = {
        "KONS": (KONSRegressor(**_RBF), lambda: newton.kons_gram(K, y)),
        "SketchedKONS": (
            SketchedKONSRegressor(**_RBF, **law),
            lambda: newton.kons(K, y, keep=keep),
        ),
        "PROSNKONS": (
            PROSNKONSRegressor(**_RBF, **law),
            lambda: newton.nystroem_kons(K, y, entered, carry=False),
        ),
        "CONKONS": (
            CONKONSRegressor(**_RBF, **law),
            lambda: newton.nystroem_kons(K, y, entered, carry=True),
        ),
    }
    return races(against(pairs, X, y), advance)


def ald_speed(quick=False, advance=None):
    """NONS-ALD and AOGD-ALD against the literal loops, and loops over rows in the nested basis."""
    n, n_long = (60, 100) if quick else (300, 3000)
    X, y = stream(n, 5)
    K = kernel_matrix(X, gamma=1.0)
    pairs = against(
        {
            "NONSALD": (NONSALDRegressor("rbf", 1.0), lambda: ald.nons_ald(K, y, 0.01)),
            "AOGDALD": (AOGDALDRegressor("rbf", 1.0), lambda: ald.aogd_ald(K, y, 0.01)),
        },
        X,
        y,
        bar=3,
    )
    X_long, y_long = stream(n_long, 5)
    by_row = {
        "NONSALD": (NONSALDRegressor, ald.nons_ald_by_row),
        "AOGDALD": (AOGDALDRegressor, ald.aogd_ald_by_row),
    }
    pairs += against(
        {
            f"{name}, a loop in the nested basis": (
                class_("rbf", 0.1, novelty=0.01),
                lambda loop=loop: loop(X_long, y_long, 0.1, 0.01),
            )
            for name, (class_, loop) in by_row.items()
        },
        X_long,
        y_long,
        bar=1.3,
    )
    return races(pairs, advance)


def gradient_speed(quick=False, advance=None):
    """The first-order rivals."""
    n = 60 if quick else 300
    X, y = stream(n, 5)
    frequencies = np.random.default_rng(0).standard_normal((5, 50))

    def rbf(a, b):
        return np.exp(-_GAMMA * np.sum((a - b) ** 2))

    pairs = {
        "KOGD": (KOGDRegressor(**_RBF), lambda: first_order.kogd(X, y, rbf)),
        "FOGD": (
            FOGDRegressor(frequencies=frequencies),
            lambda: budgeted_gradient.fogd(X, y, frequencies, eta0=0.1),
        ),
        "NOGD": (
            NOGDRegressor(**_RBF, budget=40),
            lambda: budgeted_gradient.nogd(X, y, rbf, 40),
        ),
    }
    return races(against(pairs, X, y, bar=1.5), advance)


def novelty_speed(quick=False, advance=None):
    """The test whether rows are novel to a dictionary, 64 rows at once against one by one."""
    n_atoms = 30 if quick else 100
    X, _ = stream(n_atoms + 64, 5)
    kernel, basis = RBF(1.0), start_basis(5)
    atoms, rows = X[:n_atoms], X[n_atoms:]
    for x in atoms:
        grow_basis(kernel, basis, x)
    loop = ald.NestedBasis(1.0, 2.0, 5)
    loop.atoms, loop.factor = atoms, np.asfortranarray(basis["factor"])

    def block():
        _, distances = coordinates(kernel, basis, rows)
        first_novel(kernel, basis, rows, distances, 2.0)

    def by_row():
        for x in rows:
            loop.meet(x)

    def often(call):
        return lambda: [call() for _ in range(20)]

    # a dictionary that takes nothing any more: the test alone is timed
    closed = ALDNystroem(gamma=1.0, novelty=1e-9).fit(atoms).set_params(novelty=2.0)
    size = len(closed.components_)
    known, gamma = np.vstack([closed.components_, rows]), {"gamma": 1.0}

    def oracle():
        dictionaries.ald(partial(kernel_matrix, **gamma), known, 2.0, chosen=range(size))

    name = f"test of novelty, {n_atoms} atoms"
    pairs = [
        Race(name, often(block), 20 * 64, often(by_row), 20 * 64, bar=3),
        Race(
            f"ALDNystroem, {size} atoms", lambda: closed.partial_fit(rows), 64, oracle, 64, bar=30
        ),
    ]
    return races(pairs, advance)


MEASURES = (
    vovk_speed,
    newton_speed,
    ald_speed,
    gradient_speed,
    novelty_speed,
)


def stream(n, d):
    """Return rows (n, d) in the box, and targets."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(n)


def _uniforms(n):
    """Return the numbers that estimators with random_state=0 draw."""
    source = np.random.RandomState(0)
    return np.random.RandomState(source.randint(2**31 - 1)).uniform(size=n)
