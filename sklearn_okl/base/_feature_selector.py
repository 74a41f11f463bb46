"""Kernel selection on random features: the engine of bandits with functions that do not grow."""

from __future__ import annotations

from math import inf, sqrt
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._documentation import inherit_documentation
from .._types import Any, Array, Seed
from ..kernels import shift_invariant_kernel
from ..kernels._fourier import FourierBank
from ._on_fourier_features import OnFourierFeatures
from ._selector import BanditRounds

_ROWS = 64  # rows projected at once: 200 kB of angles for 400 frequencies
_FAR = 1e300  # no finite angle is beyond this bound


@inherit_documentation
class FeatureSelector(BanditRounds, OnFourierFeatures):
    r"""Base of kernel selection under bandit feedback on random features: a model of fixed size.

    A round draws one kernel of a dictionary, forecasts with the coefficients of its random
    features, and teaches these alone; the loss of the others stays unknown.

    Parameters
    ----------
    n_components : int, default=800
        Number D of random features per kernel; the paper's 400 frequencies in paired form.
    radius : float, default=1.0
        U > 0 of the box :math:`|w_j| \le U / \sqrt m` of a kernel's coefficients, for m
        frequencies; the experiments' choice, in units of y for targets in [0, 1], or for the
        logistic loss. Forecasts and decision values stay within :math:`\sqrt 2 U`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_kernels, n_components)
        Coefficients of each kernel's features.

    See Also
    --------
    Sampler : What `_sampler` returns.
    KernelSelector : The same rounds with exact kernels, at a cost that grows.

    Notes
    -----
    *Cost.* O(d D) in a round for d inputs and D features, and what the sampler costs, whatever the
    round; O((d + K) D) memory for K kernels. Kernels of the same name share one draw of
    frequencies, which each scales to its bandwidth, and so their projections, which are computed 64
    rows at a time; sines, cosines and coefficients are those of the kernel drawn, alone.

    *Draws.*

    *Sampler.*

    *Subclasses.*

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.base import FeatureSelector, OnlineRegressor, Sampler
    >>> from sklearn_okl.datasets import make_ar4
    >>> class EvenSampler(Sampler):
    ...     def __init__(self, n_arms):
    ...         self.n_arms = n_arms
    ...
    ...     def start(self):
    ...         return {"probabilities": np.full(self.n_arms, 1 / self.n_arms)}
    ...
    ...     def credit(self, state, arm, loss, gradient_sq):
    ...         return 0.1
    >>> class EvenRegressor(FeatureSelector, OnlineRegressor):
    ...     def _sampler(self, n_kernels):
    ...         return EvenSampler(n_kernels)
    >>> X, y = make_ar4(300)
    >>> EvenRegressor(n_components=50, random_state=0).fit(X / 4, y / 4).coef_.shape
    (6, 50)
    """

    _parameter_constraints = {
        **OnFourierFeatures._parameter_constraints,
        "radius": [Interval(Real, 0, None, closed="neither")],
    }
    _structural = ("radius",)

    def __init__(
        self,
        kernels: Any = None,
        n_components: int = 800,
        loss: Any = "squared_error",
        radius: float | None = 1.0,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernels,
            n_components=n_components,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
        )
        self.loss = loss
        self.radius = radius

    @property
    def coef_(self) -> Array:
        """Coefficients of each kernel's features, of shape (n_kernels, n_components)."""
        return self._fitted_state("coef_")["coef"].copy()

    @property
    def frequencies_(self) -> Array:
        maps = self._fitted_state("frequencies_")["features"]
        return self._as_taught()._bank.frequencies(maps)

    @property
    def _bank(self):
        return self._built(_shared_bank)

    def _start_functions(self, n_features, source):
        maps = self._bank.start(n_features, source)
        n_components = self._bank.n_features_out(maps)
        return {
            "features": maps,
            "coef": np.zeros((len(self._kernel_list()), n_components)),
        }

    def _functions(self, state):
        maps = state["features"]
        m = maps["frequencies"].shape[-1]
        box = inf if self.radius is None else self.radius / sqrt(m)
        return _Coefficients(self._bank.view(maps), state["coef"], box)


def _shared_bank(estimator):
    return _SharedFourier(
        estimator._kernel_list(),
        estimator.n_components,
        estimator.form,
        estimator.sampling,
        estimator.frequencies,
    )


class _Coefficients:
    """The kernels' functions for the length of a call; see `BanditRounds` for the verbs."""

    n_rows = _ROWS

    def __init__(self, view, coef, box):
        self.view, self.coef, self.box = view, coef, box
        self.look_at = view.look_at
        # paired features have norm one, unless the last cosine is missing
        self.unit = view.paired and coef.shape[1] % 2 == 0

    def ask(self, arm, row):
        z = self.z = self.view.features(arm, row)
        w = self.w = self.coef[arm]  # a view
        return float(w @ z), (1.0 if self.unit else float(z @ z))

    def teach(self, coefficient):
        z, w = self.z, self.w
        z *= coefficient
        w += z
        np.minimum(w, self.box, out=w)  # eq. (8)
        np.maximum(w, -self.box, out=w)

    def values(self, arm):
        return self.view.features(arm, slice(None)) @ self.coef[arm]

    def store(self, state):
        pass  # it was written in place


class _SharedFourier:
    """Fourier features of several kernels from one draw of frequencies for those of one unit.

    The frequencies of a kernel are those drawn for its unit, the kernel of the same kind at a
    frequency scale of one, times its own scale. Given frequencies are one array per kernel, and the
    scales are one.
    """

    def __init__(self, kernels, n_components, form, sampling, frequencies):
        self.kernels, self.given = kernels, frequencies is not None
        if self.given:
            drawn, self.draws = kernels, list(range(len(kernels)))  # which draw a kernel takes
        else:
            named = [kernel["kernel"] for kernel in kernels]
            self.kinds = {kind: shift_invariant_kernel(kind) for kind in dict.fromkeys(named)}
            units = {}  # and the number of the draw of each
            of = {n: units.setdefault(k.unit(), len(units)) for n, k in self.kinds.items()}
            drawn = [{"kernel": unit, "gamma": None} for unit in units]
            self.draws = [of[kind] for kind in named]
        self.bank = FourierBank(drawn, n_components, form, sampling, frequencies)

    def start(self, n_features, rng):
        """Draw the maps: "frequencies" (J, d, m), and "phases" (J, m) in the phase form."""
        return self.bank.start(n_features, rng)

    def n_features_out(self, maps):
        """Return the number D of features of a kernel."""
        return self.bank.n_features_out(maps)

    def scales(self, maps):
        """Return what the frequencies drawn are multiplied by, one number per kernel."""
        if self.given:
            return [1.0] * len(self.kernels)
        scales = []
        for kernel in self.kernels:
            gamma = kernel["gamma"]
            if gamma is None:
                gamma = 1.0 / maps["frequencies"].shape[1]
            scales.append(self.kinds[kernel["kernel"]].frequency_scale(gamma))
        return scales

    def frequencies(self, maps):
        """Return the frequencies (K, d, m) of all kernels."""
        return maps["frequencies"][self.draws] * np.array(self.scales(maps))[:, None, None]

    def view(self, maps):
        """Return what looks at rows and makes the features of any kernel."""
        return _View(maps, self.draws, self.scales(maps), self.n_features_out(maps))


class _View:
    """Features of some rows, made for one kernel at a time from projections the kernels share."""

    def __init__(self, maps, draws, scales, n_components):
        self.maps, self.draws, self.scales, self.n_components = maps, draws, scales, n_components
        self.far = _FAR / max(1.0, *scales)
        m = maps["frequencies"].shape[-1]
        self.paired = "phases" not in maps
        self.amplitude = sqrt((1 if self.paired else 2) / m)

    def look_at(self, X):
        """Turn to other rows."""
        self.X, self.halves = X / 2, {}  # halving is exact

    def features(self, arm, rows):
        """Return the features of one row (D,), or of a slice of the rows (n, D)."""
        draw = self.draws[arm]
        halves = self.halves.get(draw)
        if halves is None:
            halves = self.halves[draw] = self._project(self.maps["frequencies"][draw])
        T = halves[rows] * self.scales[arm]
        if not self.paired:
            T += self.maps["phases"][draw] / 2
        # sine and cosine from the tangent of the half angle, as in `fourier_map`
        np.tan(T, out=T)
        R = T * T
        R += 1.0
        np.divide(2.0 * self.amplitude, R, out=R)
        if not self.paired:
            R -= self.amplitude
            return R
        m = T.shape[-1]
        Z = np.empty((*T.shape[:-1], self.n_components))
        np.multiply(T, R, out=Z[..., :m])
        np.subtract(R[..., : self.n_components - m], self.amplitude, out=Z[..., m:])
        return Z

    def _project(self, frequencies):
        with np.errstate(over="ignore", invalid="ignore"):
            halves = self.X @ frequencies
        # An angle that overflows is read as 0, as in `fourier_map`.
        if not np.abs(halves).max() < self.far:
            halves[~(np.abs(halves) < self.far)] = 0.0
        return halves
