"""Random Fourier features: the map, its transformer, and its bank of kernels."""

from math import isfinite
from numbers import Integral

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._tail import Shared
from .._validation import validated
from ..kernels import SAMPLINGS, SHIFT_INVARIANT_CONSTRAINTS, sample_frequencies

_TILE = 32768  # angles at a time: two float64 temporaries of 256 kB stay in the L2 cache


def fourier_map(X, frequencies, n_components, phases=None, out=None):
    """Fourier features of validated rows, for any number of kernels at once.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, d)
        Finite float64 rows.
    frequencies : ndarray of shape (..., d, m)
        Frequencies Ω, for as many kernels as the leading axes hold.
    n_components : int
        Output dimension D: with `phases` D = m, without them 2m or 2m − 1.
    phases : ndarray of shape (..., m), default=None
        Phases b. None gives the paired form.
    out : ndarray of shape (..., n, n_components), default=None
        Where to write them.

    Returns
    -------
    ndarray of shape (..., n, n_components)
        Paired: (1/√m) [sin Ωᵀx, cos Ωᵀx], all sines before all cosines, the last cosine left
        out when D is odd. With phases: √(2/m) cos(Ωᵀx + b).

    Notes
    -----
    Both functions come from one tangent of the half angle, T = tan(θ/2)::

        sin θ = T · 2/(1 + T²),    cos θ = 2/(1 + T²) − 1,

    because numpy has a vectorised float64 tangent and no vectorised sine. The absolute error
    is below 1e-15 for every θ: T is at most about 1e18, so T² does not overflow, and both
    right-hand sides are insensitive to relative errors of T. What remains, as with the sine
    itself, is the rounding of the argument θ = Ωᵀx.
    """
    *lead, d, m = frequencies.shape
    frequencies = frequencies.reshape(-1, d, m)
    n, n_kernels = X.shape[0], len(frequencies)
    paired = phases is None
    n_cosines = n_components - m if paired else m
    scale = 1 / np.sqrt(m) if paired else np.sqrt(2 / m)
    half_phases = None if paired else phases.reshape(-1, 1, m) / 2

    X = X / 2  # exact, so the half angle is rounded as the angle would be
    shape = (*lead, n, n_components)
    out = np.empty(shape) if out is None else out
    places = out.reshape(n_kernels, n, n_components)  # a view: at most one leading axis, or new
    rows = max(1, min(n, _TILE // m))
    kernels = max(1, min(n_kernels, _TILE // (rows * m)))
    tangents = np.empty((kernels, rows, m))
    radii = np.empty((kernels, rows, m))
    for k in range(0, n_kernels, kernels):
        for i in range(0, n, rows):
            tile = places[k : k + kernels, i : i + rows]
            T, R = tangents[: len(tile), : tile.shape[1]], radii[: len(tile), : tile.shape[1]]
            _project(X[i : i + rows], frequencies[k : k + kernels], T)
            if not paired:
                T += half_phases[k : k + kernels]
            np.tan(T, out=T)
            np.multiply(T, T, out=R)
            R += 1
            np.divide(2 * scale, R, out=R)
            if paired:
                np.multiply(T, R, out=tile[..., :m])
                np.subtract(R[..., :n_cosines], scale, out=tile[..., m:])
            else:
                np.subtract(R, scale, out=tile)
    return out


def _project(X, frequencies, out):
    """Write X @ frequencies, (n, d) times (K, d, m), into `out` (K, n, m)."""
    with np.errstate(over="ignore", invalid="ignore"):
        if issparse(X):
            for k, W in enumerate(frequencies):
                out[k] = X @ W
        else:
            np.matmul(X, frequencies, out=out)
        is_finite = isfinite(np.add.reduce(out, axis=None))
    if not is_finite:
        # Long before an angle overflows, its value modulo 2π is lost to rounding. An angle that
        # is infinite or undefined is read as 0, so that features stay finite and bounded.
        np.nan_to_num(out, copy=False, nan=0.0, posinf=0.0, neginf=0.0)


class FourierBank:
    """Fourier features of several kernels, drawn together and computed together.

    A part of the multi-kernel algorithms: it keeps no state of its own, so whoever holds the
    arrays of `_start` holds all there is to copy, pickle or slice.

    Parameters
    ----------
    kernels : list of dict
        K kernels, each with its "kernel" and "gamma"; other keys are not read.
    n_components : int
        Output dimension of a kernel, unless `frequencies` are given.
    form : {"paired", "phase"}
        As in :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}
        As in :class:`FourierFeatures`.
    frequencies : sequence of K arrays of shape (d, m), or None
        Frequencies in place of a draw.
    """

    def __init__(self, kernels, n_components, form, sampling, frequencies):
        self.kernels = kernels
        self.n_components = n_components
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies

    def _start(self, n_features, rng):
        """Draw the map, kernel by kernel, from a RandomState.

        Returns
        -------
        dict of ndarray
            "frequencies" (K, d, m) and, in the phase form, "phases" (K, m). Each kernel's phases
            are drawn right after its frequencies, so that a bank equals its kernels drawn one
            after the other.
        """
        paired = self.form == "paired"
        if self.frequencies is not None:
            given = _check_frequencies(self.frequencies, len(self.kernels), n_features)
        m = (self.n_components + 1) // 2 if paired else self.n_components
        frequencies, phases = [], []
        for k, kernel in enumerate(self.kernels):
            if self.frequencies is not None:
                drawn = given[k]
            else:
                drawn = sample_frequencies(
                    n_features,
                    m,
                    kernel=kernel["kernel"],
                    gamma=kernel["gamma"],
                    sampling=self.sampling,
                    random_state=rng,
                )
            frequencies.append(drawn)
            if not paired:
                phases.append(rng.uniform(0, 2 * np.pi, size=drawn.shape[1]))
        state = Shared(frequencies=np.stack(frequencies))
        if not paired:
            state["phases"] = np.stack(phases)
        return state

    def _n_components(self, state):
        """Output dimension D of each kernel."""
        if self.frequencies is None:
            return self.n_components
        m = state["frequencies"].shape[-1]
        return 2 * m if self.form == "paired" else m

    def _transform(self, state, X):
        """Features (K, n, D) of the kernels in `state`, which may be sliced on its first axis."""
        return fourier_map(X, state["frequencies"], self._n_components(state), state.get("phases"))


def _check_frequencies(frequencies, n_kernels, n_features):
    """Copy the user's frequencies, K arrays (d, m), into one array (K, d, m)."""
    arrays = [np.asarray(W, dtype=np.float64) for W in frequencies]
    if len(arrays) != n_kernels:
        raise ValueError(
            f"frequencies holds arrays for {len(arrays)} kernels, but there are {n_kernels}; "
            "give one array of shape (n_features, m) a kernel."
        )
    for k, W in enumerate(arrays):
        if W.ndim != 2 or W.shape[0] != n_features or W.shape[1] == 0:
            raise ValueError(
                f"The frequencies of kernel {k} have shape {W.shape}; expected "
                f"({n_features}, m), a column for each frequency, as X has {n_features} features."
            )
        if W.shape != arrays[0].shape:
            raise ValueError(
                f"Kernel {k} has {W.shape[1]} frequencies and kernel 0 has "
                f"{arrays[0].shape[1]}; every kernel needs as many."
            )
        if not np.isfinite(W).all():
            raise ValueError(f"The frequencies of kernel {k} contain NaN or infinity.")
    return np.stack(arrays)


class FourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random Fourier features of a shift-invariant kernel.

    Maps a row x to features z(x) with z(x)·z(y) ≈ k(x, y), from m frequencies ω drawn from the
    kernel's spectral measure.

    Parameters
    ----------
    kernel : str or ShiftInvariantKernel, default="rbf"
        The kernel, by its name or as an object, see :mod:`sklearn_okl.kernels`.
    gamma : float, default=None
        Inverse length scale of the kernel, squared for ``"rbf"``. None is ``1 / n_features``, or
        the gamma of an object that has one.
    n_components : int, default=100
        Output dimension D.
    form : {"paired", "phase"}, default="paired"
        ``"paired"``: (1/√m) [sin Ωᵀx, cos Ωᵀx] with m = ⌈D/2⌉ frequencies, all sines first; an
        odd D drops the last cosine. ``"phase"``: √(2/D) cos(Ωᵀx + b) with m = D frequencies
        and b uniform on [0, 2π).
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies depend on each other; see
        :func:`~sklearn_okl.kernels.sample_frequencies`.
    frequencies : array-like of shape (n_features, m), default=None
        Frequencies to use in place of a draw. They set the output dimension, 2m (paired) or m
        (phase); `kernel`, `gamma`, `n_components` and `sampling` are then not used.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features, m)
        Frequencies Ω, one a column.
    phases_ : ndarray of shape (m,)
        Phases b; only with ``form="phase"``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    TaylorFeatures : Deterministic features of the Gaussian kernel, for few inputs.
    sklearn.kernel_approximation.RBFSampler : The phase form for the Gaussian kernel.

    Notes
    -----
    *Cost.* O(d m) per row, and one tangent a frequency.

    z(x)·z(y) is an unbiased estimate of k(x, y), in the paired form with z(x)·z(x) = 1. With
    an odd D the paired form misses one cosine, and its mean is
    ((m − 1) k(x, y) + (k(x, y) − k(x, −y)) / 2) / m: prefer an even D or the phase form when m
    is small. The paired form has the smaller variance for the Gaussian kernel [2]_.

    float32 input gives float32 features, computed in float64. Should an angle ω·x overflow, it
    is read as 0.

    References
    ----------
    .. [1] A. Rahimi and B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007,
       Algorithm 1.
    .. [2] D. J. Sutherland and J. Schneider, "On the Error of Random Fourier Features",
       UAI 2015, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.features import FourierFeatures
    >>> X = np.array([[0.0, 0.0], [1.0, 0.5]])
    >>> Z = FourierFeatures(gamma=0.5, n_components=2000, random_state=0).fit_transform(X)
    >>> Z.shape
    (2, 2000)
    >>> bool(abs(Z[0] @ Z[1] - np.exp(-0.5 * 1.25)) < 0.05)
    True
    """

    learns_from_data = False  # of the rows `fit` reads how many columns they have

    _parameter_constraints = {
        **SHIFT_INVARIANT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "form": [StrOptions({"paired", "phase"})],
        "sampling": [StrOptions(set(SAMPLINGS))],
        "frequencies": ["array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel="rbf",
        gamma=None,
        n_components=100,
        *,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw the frequencies.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; only their number of features is used.
        y : None
            Ignored.

        Returns
        -------
        FourierFeatures
            The fitted transformer.
        """
        self._validate_params()
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        bank = FourierBank(
            [{"kernel": self.kernel, "gamma": self.gamma}],
            self.n_components,
            self.form,
            self.sampling,
            None if self.frequencies is None else [self.frequencies],
        )
        state = bank._start(X.shape[1], check_random_state(self.random_state))
        self.frequencies_ = state["frequencies"][0]
        if self.form == "phase":
            self.phases_ = state["phases"][0]
        elif hasattr(self, "phases_"):
            del self.phases_
        self._n_features_out = bank._n_components(state)
        return self

    def transform(self, X):
        """Compute the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Features, dense, float32 for float32 rows and else float64.
        """
        check_is_fitted(self)
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        Z = fourier_map(
            X.astype(np.float64, copy=False),
            self.frequencies_,
            self._n_features_out,
            getattr(self, "phases_", None),
        )
        return Z.astype(X.dtype, copy=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
