"""Shift-invariant kernels: exact values, spectral samples and grids.

Names and bandwidths are those of :mod:`sklearn.metrics.pairwise`. With δ = x − y:

===============  =====================================  ===================================
``kernel``       k(x, y)                                law of a frequency ω
===============  =====================================  ===================================
``"rbf"``        exp(−γ ‖δ‖₂²)                          N(0, 2γ I)
``"laplacian"``  exp(−γ ‖δ‖₁)                           coordinates i.i.d. Cauchy, scale γ
``"matern12"``   exp(−r), r = γ ‖δ‖₂                    γ times Student t, 1 degree
``"matern32"``   (1 + √3 r) exp(−√3 r)                  γ times Student t, 3 degrees
``"matern52"``   (1 + √5 r + 5r²/3) exp(−√5 r)          γ times Student t, 5 degrees
``"cauchy"``     ∏ⱼ 1 / (1 + γ² δⱼ²)                    coordinates i.i.d. Laplace, scale γ
===============  =====================================  ===================================

By Bochner's theorem k(x, y) = E cos(ω·δ) for every row; Student t is the multivariate one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from scipy.special import erfc, ndtri
from scipy.stats.qmc import Sobol
from sklearn.metrics.pairwise import (
    check_pairwise_arrays,
    euclidean_distances,
    manhattan_distances,
    rbf_kernel,
)
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

__all__ = ["kernel_list", "kernel_matrix", "paper_kernel_grid", "sample_frequencies"]

KERNELS = ("rbf", "laplacian", "matern12", "matern32", "matern52", "cauchy")
SAMPLINGS = ("iid", "orthogonal", "qmc")

_MATERN_DEGREES = {"matern12": 1, "matern32": 3, "matern52": 5}  # 2ν, degrees of freedom
_SOBOL_BITS = 30
_FEW_FEATURES = 16  # up to here differences cost no more than products

# What an estimator of one kernel says of its parameters; `kernel_of` reads them.
KERNEL_CONSTRAINTS = {
    "kernel": [StrOptions({*KERNELS, "poly"}), callable],
    "gamma": [Interval(Real, 0, None, closed="left"), None],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, 0, None, closed="left")],
}
KERNEL_STRUCTURE = tuple(KERNEL_CONSTRAINTS)


def kernel_matrix(X, Y=None, *, kernel="rbf", gamma=None):
    """Exact kernel between the rows of two arrays.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
        First rows.
    Y : {array-like, sparse matrix} of shape (m, d), default=None
        Second rows; None takes `X`.
    kernel : {"rbf", "laplacian", "matern12", "matern32", "matern52", "cauchy"} or callable, \
            default="rbf"
        The kernel. A callable gets the two arrays and returns the (n, m) matrix.
    gamma : float, default=None
        Inverse length scale, squared for ``"rbf"``; None is ``1 / d``, as in
        :mod:`sklearn.metrics.pairwise`. A callable takes none.

    Returns
    -------
    ndarray of shape (n, m)
        ``k(X[i], Y[j])``, in float64.

    Raises
    ------
    ValueError
        For an unknown kernel, a negative `gamma`, widths that differ, a `gamma` given with a
        callable, or a callable whose matrix has the wrong shape.

    Notes
    -----
    Cost O(n m d). The Matérn kernels take their distances from differences rather than from
    inner products, as a kernel with a kink at δ = 0 needs (sparse input cannot). The ``"cauchy"``
    kernel makes sparse input dense.

    Examples
    --------
    >>> from sklearn_okl.kernels import kernel_matrix
    >>> kernel_matrix([[0.0], [1.0]], [[0.0]], kernel="cauchy", gamma=1.0)
    array([[1. ],
           [0.5]])
    """
    X, Y = check_pairwise_arrays(X, Y, dtype=np.float64)
    if callable(kernel):
        if gamma is not None:
            raise ValueError("gamma belongs to the named kernels; put it into the callable.")
        K = np.asarray(kernel(X, Y), dtype=np.float64)
        if K.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"The callable kernel returned shape {K.shape}; "
                f"expected {(X.shape[0], Y.shape[0])}, a value for each pair of rows."
            )
        return K
    gamma = _check_kernel(kernel, gamma, X.shape[1])
    if kernel == "rbf":
        return rbf_kernel(X, Y, gamma=gamma)
    if kernel == "laplacian":
        return np.exp(-gamma * manhattan_distances(X, Y))  # laplacian_kernel refuses gamma=0
    if kernel == "cauchy":
        return _cauchy_kernel(X, Y, gamma)
    return _matern_kernel(X, Y, gamma, _MATERN_DEGREES[kernel])


def sample_frequencies(
    n_features, n_frequencies, *, kernel="rbf", gamma=None, sampling="iid", random_state=None
):
    """Draw frequencies from the spectral measure of a kernel.

    Parameters
    ----------
    n_features : int
        Input dimension d.
    n_frequencies : int
        Number m of frequencies.
    kernel : {"rbf", "laplacian", "matern12", "matern32", "matern52", "cauchy"}, default="rbf"
        The kernel, as in :func:`kernel_matrix`.
    gamma : float, default=None
        Its bandwidth; None is ``1 / n_features``.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the m standard normal points behind the frequencies hang together: not at all; in
        blocks of d orthogonal directions; or as a scrambled Sobol sequence (d ≤ 21201).
    random_state : int, RandomState instance or None, default=None
        Source of the draw. ``"iid"`` takes plain ``standard_normal`` draws from it, a
        frequency after the other.

    Returns
    -------
    ndarray of shape (n_features, n_frequencies)
        One frequency a column, so that ``X @ frequencies`` are the phases.

    Raises
    ------
    ValueError
        For an unknown kernel or sampling, a negative `gamma`, a size below 1, or too many
        features for a Sobol sequence.

    Notes
    -----
    Every sampling starts from points g that are marginally N(0, I) exactly (``"qmc"``: to the
    2⁻³⁰ of its grid), and the kernel turns each of them, alone, into a frequency: √(2γ) g for
    ``"rbf"``; γ g √(2ν / χ²) with an independent χ² of 2ν degrees for Matérn; and coordinate
    by coordinate through the normal distribution function (a Gaussian copula) for the products
    ``"laplacian"`` and ``"cauchy"``. The marginal law is therefore that of the kernel under any
    sampling, and the kernel's estimate unbiased; for the product kernels the columns of an
    ``"orthogonal"`` draw are coupled but no longer orthogonal.

    Cost O(m d), with ``"orthogonal"`` O(m d²).

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007,
       Algorithm 1.
    .. [2] F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice and S. Kumar, "Orthogonal
       Random Features", NIPS 2016, section 3.
    .. [3] H. Avron, V. Sindhwani, J. Yang and M. W. Mahoney, "Quasi-Monte Carlo Feature Maps
       for Shift-Invariant Kernels", JMLR 17, 2016, Algorithm 1.

    Examples
    --------
    >>> from sklearn_okl.kernels import sample_frequencies
    >>> sample_frequencies(3, 50, kernel="laplacian", gamma=2.0, random_state=0).shape
    (3, 50)
    """
    for name, size in (("n_features", n_features), ("n_frequencies", n_frequencies)):
        if not isinstance(size, Integral) or size < 1:
            raise ValueError(f"{name} must be an integer of at least 1, got {size!r}.")
    gamma = _check_kernel(kernel, gamma, n_features)
    if sampling not in SAMPLINGS:
        raise ValueError(f"Unknown sampling {sampling!r}; choose one of {', '.join(SAMPLINGS)}.")
    rng = check_random_state(random_state)

    if sampling == "iid":
        G = rng.standard_normal((n_frequencies, n_features))
    elif sampling == "orthogonal":
        G = _orthogonal_normals(n_frequencies, n_features, rng)
    else:
        G = _sobol_normals(n_frequencies, n_features, rng)
    return np.ascontiguousarray(_frequencies_from_normals(G, kernel, gamma, rng).T)


def paper_kernel_grid():
    """Return the grid of 76 kernels of the multi-kernel papers.

    Gaussian kernels with σ² = 10^(2i/25 − 2), i = 0..50, that is ``gamma = 1 / (2 σ²)``, and
    Laplacian kernels with σ = 10^(i/6 − 2), i = 0..24, that is ``gamma = 1 / σ``.

    Returns
    -------
    list of dict
        As :class:`sklearn.model_selection.ParameterGrid` and `GridSearchCV` read it.

    References
    ----------
    .. [1] P. M. Ghari and Y. Shen, "Graph-Aided Online Multi-Kernel Learning", JMLR 24, 2023,
       section 5.
    .. [2] D. B. Rokhlin and O. V. Gurtovaya, "Random feature-based double Vovk-Azoury-Warmuth
       algorithm for online multi-kernel learning", Siberian Electronic Mathematical Reports
       20(2), 2023, section on computer experiments.

    Examples
    --------
    >>> from sklearn.model_selection import ParameterGrid
    >>> from sklearn_okl.kernels import paper_kernel_grid
    >>> len(ParameterGrid(paper_kernel_grid()))
    76
    """
    rbf = [0.5 / 10 ** (2 * i / 25 - 2) for i in range(51)]
    laplacian = [1 / 10 ** (i / 6 - 2) for i in range(25)]
    return [
        {"kernel": ["rbf"], "gamma": rbf},
        {"kernel": ["laplacian"], "gamma": laplacian},
    ]


def kernel_list(kernels=None):
    """Spell a grid of kernels out, one dictionary a kernel.

    Parameters
    ----------
    kernels : dict or list of dict, default=None
        A parameter grid over "kernel", "gamma" and "alpha", each key with its list of values,
        as :class:`sklearn.model_selection.ParameterGrid` reads it and in its order. None is
        :func:`paper_kernel_grid`.

    Returns
    -------
    list of dict
        Each with "kernel" (``"rbf"`` where the grid is silent), "gamma" (a float, or None for
        ``1 / n_features``) and, if the grid has it, the ridge "alpha".

    Raises
    ------
    ValueError
        For an empty grid, an unknown key or kernel, a negative "gamma" or an "alpha" that is
        not positive.
    TypeError
        If `kernels` is no grid, such as a list of numbers, or a value is not wrapped in a list.

    Examples
    --------
    >>> from sklearn_okl.kernels import kernel_list
    >>> kernel_list({"kernel": ["laplacian"], "gamma": [0.5, 1.0]})
    [{'kernel': 'laplacian', 'gamma': 0.5}, {'kernel': 'laplacian', 'gamma': 1.0}]
    """
    kernels = paper_kernel_grid() if kernels is None else kernels
    parts = [kernels] if isinstance(kernels, Mapping) else kernels
    if not isinstance(parts, (list, tuple)) or not all(isinstance(p, Mapping) for p in parts):
        raise TypeError(
            f"kernels={kernels!r} is no grid of kernels: give a dict of lists, such as "
            "{'kernel': ['rbf'], 'gamma': [0.1, 1.0]}, or a list of such dicts."
        )
    grid = list(ParameterGrid(parts))
    if not grid:
        raise ValueError("The grid of kernels is empty; give at least one kernel.")
    return [_check_grid_point(point) for point in grid]


@dataclass(frozen=True)
class Kernel:
    """One kernel with its parameters, for rows that were validated: no checks, little overhead.

    With few features the distances come from differences, not from inner products: exact for
    rows that nearly agree, and the same to the bit however rows are cut into blocks.
    """

    kernel: str | Callable
    gamma: float | None
    degree: int
    coef0: float

    def __call__(self, X, Y):
        """Return the values (n, m) between the rows of X (n, d) and of Y (m, d)."""
        if callable(self.kernel):
            if len(X) == 0 or len(Y) == 0:  # which validation would refuse
                return np.empty((len(X), len(Y)))
            return kernel_matrix(X, Y, kernel=self.kernel)
        gamma = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        if self.kernel == "rbf":
            if X.shape[1] <= _FEW_FEATURES:
                K = cdist(X, Y, "sqeuclidean")
            else:
                K = X @ Y.T
                K *= -2.0
                K += np.einsum("ij,ij->i", X, X)[:, None]
                K += np.einsum("ij,ij->i", Y, Y)
                np.maximum(K, 0.0, out=K)
            K *= -gamma
            return np.exp(K, out=K)
        if self.kernel == "laplacian":
            K = cdist(X, Y, "cityblock")
            K *= -gamma
            return np.exp(K, out=K)
        if self.kernel == "poly":
            return (gamma * (X @ Y.T) + self.coef0) ** self.degree
        if self.kernel == "cauchy":
            return _cauchy_kernel(X, Y, gamma)
        return _matern_kernel(X, Y, gamma, _MATERN_DEGREES[self.kernel])

    def diagonal(self, X):
        """Return the values (n,) of each row of X (n, d) with itself."""
        if callable(self.kernel):
            return np.array([self(x[None], x[None])[0, 0] for x in X])
        if self.kernel == "poly":
            gamma = 1.0 / X.shape[1] if self.gamma is None else self.gamma
            return (gamma * np.einsum("ij,ij->i", X, X) + self.coef0) ** self.degree
        return np.ones(len(X))


def kernel_of(estimator):
    """Return the kernel that an estimator's kernel, gamma, degree and coef0 describe."""
    if callable(estimator.kernel) and estimator.gamma is not None:
        raise ValueError("gamma belongs to the named kernels; put it into the callable.")
    return Kernel(estimator.kernel, estimator.gamma, estimator.degree, estimator.coef0)


def _check_grid_point(point):
    unknown = sorted(set(point) - {"kernel", "gamma", "alpha"}, key=str)
    if unknown:
        raise ValueError(
            f"A grid of kernels has the keys 'kernel', 'gamma' and 'alpha'; got {unknown}."
        )
    kernel, gamma = point.get("kernel", "rbf"), point.get("gamma")
    _check_kernel(kernel, gamma, 1)
    checked = {"kernel": str(kernel), "gamma": None if gamma is None else float(gamma)}
    if "alpha" in point:
        alpha = point["alpha"]
        if not isinstance(alpha, Real) or not 0 < alpha < np.inf:
            raise ValueError(f"alpha must be a positive finite number, got {alpha!r}.")
        checked["alpha"] = float(alpha)
    return checked


def _check_kernel(kernel, gamma, n_features):
    """Validate a named kernel and return its gamma as a float."""
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ValueError(f"Unknown kernel {kernel!r}; choose one of {', '.join(KERNELS)}.")
    if gamma is None:
        return 1.0 / n_features
    if not isinstance(gamma, Real) or not 0 <= gamma < np.inf:
        raise ValueError(f"gamma must be a finite number of at least 0, or None; got {gamma!r}.")
    return float(gamma)


def _matern_kernel(X, Y, gamma, degrees):
    R = euclidean_distances(X, Y) if issparse(X) or issparse(Y) else cdist(X, Y)
    R *= gamma * np.sqrt(degrees)
    K = np.exp(-R)
    if degrees == 3:
        K *= 1 + R
    elif degrees == 5:
        K *= 1 + R * (1 + R / 3)
    return K


def _cauchy_kernel(X, Y, gamma):
    X = gamma * (X.toarray() if issparse(X) else X)
    Y = gamma * (Y.toarray() if issparse(Y) else Y)
    K = np.ones((X.shape[0], Y.shape[0]))
    for x, y in zip(X.T, Y.T, strict=True):
        K /= 1 + np.subtract.outer(x, y) ** 2
    return K


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
    U = sobol.random_base2((m - 1).bit_length())[:m]
    return ndtri(U + 0.5**_SOBOL_BITS / 2)


def _frequencies_from_normals(G, kernel, gamma, rng):
    """Turn standard normal points (m, d) into frequencies (m, d) of the kernel."""
    if kernel == "rbf":
        return np.sqrt(2 * gamma) * G
    if kernel in _MATERN_DEGREES:
        degrees = _MATERN_DEGREES[kernel]
        return gamma * G * np.sqrt(degrees / rng.chisquare(degrees, size=(len(G), 1)))
    # 2Φ(−|g|), by erfc: the quantiles 1/tan and −log of it are exact far into the tails.
    tail = erfc(np.abs(G) / np.sqrt(2))
    if kernel == "laplacian":
        return gamma * np.sign(G) / np.tan(np.pi / 2 * tail)
    return -gamma * np.sign(G) * np.log(tail)
