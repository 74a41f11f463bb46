"""Random Fourier features of any number of kernels: the map, and the bank that draws it."""

from math import isfinite

import numpy as np
from scipy.sparse import issparse

from .._tail import Shared
from .._types import Any, Array
from ._named import shift_invariant_kernel

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
    """Random Fourier features of several kernels, drawn together and computed together.

    It holds settings only. The maps that it draws are a dict of arrays whose first axis is that of
    the kernels: whoever keeps them has all there is to copy or pickle, and may slice them on that
    axis for the features of some kernels alone.

    Parameters
    ----------
    kernels : list of dict
        K kernels, each with its "kernel" and "gamma", as
        :func:`sklearn_okl.kernels.kernel_list` returns them; other keys are not read.
    n_components : int, default=100
        Number D of features of a kernel, unless `frequencies` are given.
    form, sampling : str, default="paired" and "iid"
        What features are and how they are drawn, see :class:`~sklearn_okl.FourierFeatures`.
    frequencies : sequence of K ndarray of shape (n_features, m), default=None
        Frequencies in place of a draw.

    See Also
    --------
    sklearn_okl.base.OnFourierFeatures : Parameters of an estimator that make a bank.
    sklearn_okl.FourierFeatures : One kernel, as a transformer.

    Notes
    -----
    *Cost.* O(K d D) for the features of a row of d numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.base import FourierBank
    >>> from sklearn_okl.kernels import kernel_list
    >>> bank = FourierBank(kernel_list({"gamma": [0.1, 1.0, 10.0]}), n_components=20)
    >>> maps = bank.start(n_features=2, rng=np.random.RandomState(0))
    >>> bank.transform(maps, np.zeros((5, 2))).shape
    (3, 5, 20)
    """

    def __init__(
        self,
        kernels: Any,
        n_components: int = 100,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
    ) -> None:
        self.kernels = kernels
        self.n_components = n_components
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies

    def start(self, n_features: int, rng: Any) -> Any:
        """Draw the maps, kernel by kernel.

        Parameters
        ----------
        n_features : int
            Number d of columns of the rows to come.
        rng : numpy.random.RandomState
            What frequencies and phases are drawn from.

        Returns
        -------
        maps : dict of ndarray
            "frequencies" (K, d, m) and, in the phase form, "phases" (K, m). Each kernel's phases
            are drawn right after its frequencies, so that a bank equals its kernels drawn one
            after the other.
        """
        given, paired = self.frequencies, self.form == "paired"
        if given is not None:
            given = _check_frequencies(given, len(self.kernels), n_features)
        m = (self.n_components + 1) // 2 if paired else self.n_components
        frequencies, phases = [], []
        for k, point in enumerate(self.kernels):
            if given is None:
                kernel = shift_invariant_kernel(point["kernel"], point["gamma"])
                options = {"sampling": self.sampling, "random_state": rng}
                drawn = kernel.sample_frequencies(n_features, m, **options)
            else:
                drawn = given[k]
            frequencies.append(drawn)
            if not paired:
                phases.append(rng.uniform(0, 2 * np.pi, size=drawn.shape[1]))
        state = Shared(frequencies=np.stack(frequencies))
        if not paired:
            state["phases"] = np.stack(phases)
        return state

    def n_features_out(self, maps: Any) -> int:
        """Return the number D of features of each kernel."""
        if self.frequencies is None:
            return self.n_components
        m = maps["frequencies"].shape[-1]
        return 2 * m if self.form == "paired" else m

    def transform(self, maps: Any, X: Any) -> Array:
        """Return the features (K, n, D) of validated rows X (n, d) by the kernels of the maps."""
        return fourier_map(X, maps["frequencies"], self.n_features_out(maps), maps.get("phases"))


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
