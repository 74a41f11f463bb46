r"""J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit Feedback".

RF-OKS, RF-OKS++ and RF-IOKS (ECML-PKDD 2022, section 5 and Algorithms 3 and 4): kernel selection
under a budget of time. A round draws one kernel of a dictionary at random, forecasts by its random
features and teaches these alone; what a round costs does not grow.
"""

from math import inf, sqrt

import numpy as np
from sklearn.utils import check_random_state, gen_batches

from ..base import OnlineClassifier, OnlineRegressor
from ..base._selector import KernelDraws
from ..features._fourier import FourierBank
from ..feedback._bandits import (
    AdaptiveExp3Sampler,
    Exp3Sampler,
    TsallisSampler,
    draw_arm,
    slope_bound,
    smoothness_of,
    stable_step,
)
from ..kernels import shift_invariant_kernel
from ._banks import BANK_CONSTRAINTS, BANK_STRUCTURE
from ._selection import _CLASSIFICATION, _HORIZON, _RADIUS, _REGRESSION, _STEP_SCALE

_ROWS = 64  # rows projected at once: 200 kB of angles for 400 frequencies
_FAR = 1e300  # no finite angle is beyond this bound


class FeatureSelection(KernelDraws):
    r"""What the six estimators share beside a shell: rounds of one kernel's features, at random.

    A subclass has the parameter `radius`, U of the box :math:`|w_j| \le U / \sqrt m` in which the
    coefficients stay, or None. The kernel of the next round is drawn at the end of a round and kept
    in the state, so that forecasts are a function of it.
    """

    @property
    def coef_(self):
        """Coefficients of each kernel's features, of shape (n_kernels, n_components)."""
        return self._fitted_state("coef_")["coef"].copy()

    @property
    def frequencies_(self):
        """Frequencies in use, of shape (n_kernels, n_features, m)."""
        maps = self._fitted_state("frequencies_")["features"]
        return self._as_taught()._map().frequencies(maps)

    def _map(self):
        return _SharedFourier(
            self._kernel_list(), self.n_components, self.form, self.sampling, self.frequencies
        )

    def _start(self, n_features, n_targets=None):
        features, source = self._map(), check_random_state(self.random_state)
        maps = features.start(n_features, source)
        return {
            **self._start_draws(source),
            "features": maps,
            "coef": np.zeros((len(self._kernel_list()), features.n_components(maps))),
        }

    @np.errstate(divide="ignore")  # an infinite loss is refused, by the shell, not warned of
    def _learn(self, state, X, y):
        features, loss = self._map(), self._loss()
        sampler, radius = self._sampler(len(state["coef"])), self.radius
        maps, law, arm = state["features"], state["sampler"], state["arm"]
        view = features.view(maps)
        box = inf if radius is None else radius / sqrt(maps["frequencies"].shape[-1])
        # paired features have norm one, unless the last cosine is missing
        unit = self.form == "paired" and state["coef"].shape[1] % 2 == 0
        forecasts = np.empty(len(y))
        uniforms = state["rng"].random_sample(len(y)).tolist()
        first = end = 0
        for t, target in enumerate(y.tolist()):
            if t == end:
                # Blocks end where the stream's own count is a multiple of their length, so that
                # most ways of cutting a stream lead through the very same blocks.
                first, end = t, min(len(y), t + _ROWS - (state["t"] + t) % _ROWS)
                view.look_at(X[first:end])
            z = view.features(arm, t - first)
            w = state["coef"][arm]  # a view
            forecast = float(w @ z)
            slope = float(loss.slope(target, forecast))
            gradient_sq = slope * slope * (1.0 if unit else float(z @ z))
            step = sampler.credit(law, arm, float(loss.value(target, forecast)), gradient_sq)
            z *= -step * slope
            w += z
            np.minimum(w, box, out=w)  # eq. (8)
            np.maximum(w, -box, out=w)
            forecasts[t] = forecast
            arm = draw_arm(law, uniforms[t])
        state.update(t=state["t"] + len(y), arm=arm)
        return forecasts

    def _forecast(self, state, X):
        arm, view = state["arm"], self._map().view(state["features"])
        forecasts = np.empty(len(X))
        for rows in gen_batches(len(X), _ROWS):
            view.look_at(X[rows])
            forecasts[rows] = view.features(arm, slice(None)) @ state["coef"][arm]
        return forecasts


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
        return self.bank._start(n_features, rng)

    def n_components(self, maps):
        """Return the number D of features of a kernel."""
        return self.bank._n_components(maps)

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
        return _View(maps, self.draws, self.scales(maps), self.n_components(maps))


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


class RFOKSRegressor(FeatureSelection, OnlineRegressor):
    r"""RF-OKS: online kernel selection by exponential weights, on random features.

    Every kernel of a dictionary has coefficients in a box, for random Fourier features
    :math:`z_i` made of one draw. A round draws a kernel i from the law p, forecasts with it and
    steps it, by eq. (8) of [1]_, against its gradient divided by :math:`p_i`:

    .. math:: w_i \leftarrow \Pi \left( w_i - \frac{\lambda}{p_i}
              \ell'(w_i^T z_i(x_t), y_t) z_i(x_t) \right) .

    The law mixes exponential weights on the losses divided by p with a uniform law, at rates that
    the horizon fixes.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    n_components : int, default=800
        Number D of random features per kernel; the paper's 400 frequencies in paired form.
    loss : {"squared_error", "absolute_error", "pinball"}, default="squared_error"
        What is descended and what the kernels are judged by, see
        :func:`sklearn_okl.losses.get_loss`. The square loss has no factor 1/2.
    quantile : float, default=0.5
        Level of the pinball loss, strictly between 0 and 1. Other losses do not read it.
    horizon : int, default=None
        T, the number of rounds that the rates are made for; 40 if it is less. None guesses it by
        the doubling trick: the rates of 64 rounds to begin with, and after 64, 128, 256, ... rounds
        a fresh start of the law of the draws with the rates of as many rounds as were seen.
        Coefficients are kept.
    radius : float or None, default=1.0
        U > 0 of the box :math:`|w_j| \le U / \sqrt m` of a kernel's coefficients, for m
        frequencies, in units of y; the experiments' choice for targets in [0, 1]. None has no
        box, see Notes.
    step_scale : float, default=10.0
        c in the step size :math:`\lambda = c \sqrt{\delta / (K T)}`, > 0. The experiments take the
        best of 1, 5, 10 and 25.
    form : {"paired", "phase"}, default="paired"
        Form of the features, see :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
        A draw is shared by all kernels of the same name, each of which scales it to its bandwidth.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    coef_ : ndarray of shape (n_kernels, n_components)
        Coefficients of each kernel's features.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RFOKSClassifier : The same for labels.
    OKSRegressor : Exact kernels, at a cost that grows.
    RFOKSPlusPlusRegressor : Rates from the losses seen: no horizon, usually more accurate.

    Notes
    -----
    *Cost.* O(d D + K) per round for d inputs, D features and K kernels, and O((d + K) D) memory,
    whatever the round. Kernels of the same name share their projections, which are computed 64 rows
    at a time; sines, cosines and coefficients are those of the kernel drawn, alone.

    *Rates.* Remark 1 of [1]_: :math:`\delta = \min\{(K / T)^{1/3}, 1/2\}`, :math:`\lambda = c
    \sqrt{\delta / (K T)}` and :math:`\eta = \sqrt{2 (1 - \delta) \ln K / (K T)}`.

    *Theorem.* Theorem 2.1 of [1]_ as Remark 1 corrects it, on the features: for losses in [0,
    :math:`\ell_{max}`] and gradients of norm at most G, the expected loss of the forecasts exceeds
    that of any coefficients w in the box, if any, for any kernel's features, by at most

    .. math:: \delta T \ell_{max} + \frac{\|w\|^2}{2 \lambda} + \frac{\lambda K T G^2}{2 \delta}
              + \frac{\eta K T \ell_{max}^2}{2 (1 - \delta)} + \frac{\ln K}{\eta} ,

    as clipping to a convex set that holds w brings no step farther from it. The step sizes take
    :math:`\ell_{max} = G = 1`, as the experiments do.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, with the
    distance from the coefficients at its start in place of the norm, and the stretches' sum is of
    the same order.

    *Departures.* [1]_ makes RF-OKS of OKS and random features and names no box. The default is the
    box of eq. (8), in which nothing diverges whatever the step size; ``radius=None`` is what
    repeats the published figures. :math:`\delta` is bounded by 1/2, T from below by 40. With a
    smooth loss the step size of a guessed T is held to :math:`\delta / (K \beta)`,
    :math:`\beta` the Lipschitz constant of the slope, so that no step overshoots; a given `horizon`
    is taken at its word. Weights are kept as logarithms. The kernel of a round is drawn at the end
    of the round before, by one random number per row, so that :meth:`predict` is what will be
    forecast.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022,
       section 6.2, eq. (8).

    Examples
    --------
    >>> from sklearn_okl import RFOKSRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = RFOKSRegressor(n_components=100, random_state=0)
    >>> forecasts = model.prequential_predict(X / 4, y / 4)  # each made before its target
    >>> model.coef_.shape
    (6, 100)
    >>> bool(abs(model.coef_).max() <= 1 / 50**0.5)
    True
    """

    _parameter_constraints = {
        **BANK_CONSTRAINTS,
        **_REGRESSION,
        **_HORIZON,
        "radius": [*_RADIUS["radius"], None],
        **_STEP_SCALE,
    }
    _structural = (*BANK_STRUCTURE, "loss", "quantile", "horizon", "radius", "step_scale")

    def __init__(
        self,
        kernels=None,
        *,
        n_components=800,
        loss="squared_error",
        quantile=0.5,
        horizon=None,
        radius=1.0,
        step_scale=10.0,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_components = n_components
        self.loss = loss
        self.quantile = quantile
        self.horizon = horizon
        self.radius = radius
        self.step_scale = step_scale
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    def _sampler(self, n_kernels):
        longest = stable_step(self._loss())
        return Exp3Sampler(n_kernels, self.horizon, self.step_scale, longest_step=longest)


class RFOKSClassifier(FeatureSelection, OnlineClassifier):
    r"""RF-OKS for two classes: kernel selection by exponential weights, on random features.

    Every kernel of a dictionary has coefficients in a box, for random Fourier features
    :math:`z_i` made of one draw; the sign of :math:`w_i^T z_i(x)` is a label. A round draws a
    kernel i from the law p, labels with it and steps it, by eq. (8) of [1]_, against its gradient
    divided by :math:`p_i`:

    .. math:: w_i \leftarrow \Pi \left( w_i - \frac{\lambda}{p_i}
              \ell'(w_i^T z_i(x_t), y_t) z_i(x_t) \right) .

    The law mixes exponential weights on the losses divided by p with a uniform law, at rates that
    the horizon fixes.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    n_components : int, default=800
        Number D of random features per kernel; the paper's 400 frequencies in paired form.
    loss : {"log_loss", "hinge", "squared_hinge"}, default="log_loss"
        What is descended and what the kernels are judged by, see
        :func:`sklearn_okl.losses.get_loss`. Only the logistic loss gives probabilities.
    horizon : int, default=None
        T, the number of rounds that the rates are made for; 40 if it is less. None guesses it by
        the doubling trick: the rates of 64 rounds to begin with, and after 64, 128, 256, ... rounds
        a fresh start of the law of the draws with the rates of as many rounds as were seen.
        Coefficients are kept.
    radius : float or None, default=15.0
        U > 0 of the box :math:`|w_j| \le U / \sqrt m` of a kernel's coefficients, for m
        frequencies; the experiments' choice. None has no box, see Notes.
    step_scale : float, default=10.0
        c in the step size :math:`\lambda = c \sqrt{\delta / (K T)}`, > 0. The experiments take the
        best of 1, 5, 10 and 25.
    form : {"paired", "phase"}, default="paired"
        Form of the features, see :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
        A draw is shared by all kernels of the same name, each of which scales it to its bandwidth.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. Positive decision values mean the second.
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    coef_ : ndarray of shape (n_kernels, n_components)
        Coefficients of each kernel's features.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RFOKSRegressor : The same for real targets.
    OKSClassifier : Exact kernels, at a cost that grows.
    RFOKSPlusPlusClassifier : Rates from the losses seen: no horizon, usually more accurate.

    Notes
    -----
    *Cost.* O(d D + K) per round for d inputs, D features and K kernels, and O((d + K) D) memory,
    whatever the round. Kernels of the same name share their projections, which are computed 64 rows
    at a time; sines, cosines and coefficients are those of the kernel drawn, alone.

    *Rates.* Remark 1 of [1]_: :math:`\delta = \min\{(K / T)^{1/3}, 1/2\}`, :math:`\lambda = c
    \sqrt{\delta / (K T)}` and :math:`\eta = \sqrt{2 (1 - \delta) \ln K / (K T)}`.

    *Theorem.* Theorem 2.1 of [1]_ as Remark 1 corrects it, on the features: for losses in [0,
    :math:`\ell_{max}`] and gradients of norm at most G, the expected loss of the forecasts exceeds
    that of any coefficients w in the box, if any, for any kernel's features, by at most

    .. math:: \delta T \ell_{max} + \frac{\|w\|^2}{2 \lambda} + \frac{\lambda K T G^2}{2 \delta}
              + \frac{\eta K T \ell_{max}^2}{2 (1 - \delta)} + \frac{\ln K}{\eta} ,

    as clipping to a convex set that holds w brings no step farther from it. The step sizes take
    :math:`\ell_{max} = G = 1`, as the experiments do.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, with the
    distance from the coefficients at its start in place of the norm, and the stretches' sum is of
    the same order.

    *Departures.* [1]_ makes RF-OKS of OKS and random features and names no box. The default is the
    box of eq. (8), in which nothing diverges whatever the step size; ``radius=None`` is what
    repeats the published figures. :math:`\delta` is bounded by 1/2, T from below by 40. With a
    smooth loss the step size of a guessed T is held to :math:`\delta / (K \beta)`,
    :math:`\beta` the Lipschitz constant of the slope, so that no step overshoots; a given `horizon`
    is taken at its word. Weights are kept as logarithms. The kernel of a round is drawn at the end
    of the round before, by one random number per row, so that :meth:`predict` is what will be
    forecast.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022,
       section 6.2, eq. (8).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn_okl import RFOKSClassifier
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> model = RFOKSClassifier(n_components=100, random_state=0)
    >>> labels = model.prequential_predict(X, y)  # each before its own was seen
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    """

    _parameter_constraints = {
        **BANK_CONSTRAINTS,
        **_CLASSIFICATION,
        **_HORIZON,
        "radius": [*_RADIUS["radius"], None],
        **_STEP_SCALE,
    }
    _structural = (*BANK_STRUCTURE, "loss", "horizon", "radius", "step_scale")

    def __init__(
        self,
        kernels=None,
        *,
        n_components=800,
        loss="log_loss",
        horizon=None,
        radius=15.0,
        step_scale=10.0,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_components = n_components
        self.loss = loss
        self.horizon = horizon
        self.radius = radius
        self.step_scale = step_scale
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    def _sampler(self, n_kernels):
        longest = stable_step(self._loss())
        return Exp3Sampler(n_kernels, self.horizon, self.step_scale, longest_step=longest)


class RFOKSPlusPlusRegressor(FeatureSelection, OnlineRegressor):
    r"""RF-OKS++: online kernel selection on random features, rates from the losses seen.

    Every kernel of a dictionary has coefficients in a box, for random Fourier features
    :math:`z_i` made of one draw. A round draws a kernel i from the law p, forecasts with it and
    steps it, by eq. (8) of [1]_, against its gradient divided by :math:`p_i`:

    .. math:: w_i \leftarrow \Pi \left( w_i - \frac{\lambda}{p_i}
              \ell'(w_i^T z_i(x_t), y_t) z_i(x_t) \right) .

    The law mixes exponential weights on the losses divided by p with a uniform law; all rates are
    made of the losses seen, small ones where the losses are small.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    n_components : int, default=800
        Number D of random features per kernel; the paper's 400 frequencies in paired form.
    loss : {"squared_error"}, default="squared_error"
        What is descended and what the kernels are judged by, :math:`(f - y)^2`. The absolute and
        the pinball loss, which RF-OKS and RF-IOKS take, are refused: they are not smooth.
    radius : float, default=1.0
        U > 0 of the box :math:`|w_j| \le U / \sqrt m` of a kernel's coefficients, for m
        frequencies, in units of y; the experiments' choice for targets in [0, 1]. Forecasts stay
        within :math:`\sqrt 2 U`.
    form : {"paired", "phase"}, default="paired"
        Form of the features, see :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
        A draw is shared by all kernels of the same name, each of which scales it to its bandwidth.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    coef_ : ndarray of shape (n_kernels, n_components)
        Coefficients of each kernel's features.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RFOKSPlusPlusClassifier : The same for labels.
    OKSPlusPlusRegressor : Exact kernels, at a cost that grows.
    RFIOKSRegressor : For losses that are not smooth.

    Notes
    -----
    *Cost.* O(d D + K) per round for d inputs, D features and K kernels, and O((d + K) D) memory,
    whatever the round. Kernels of the same name share their projections, which are computed 64 rows
    at a time; sines, cosines and coefficients are those of the kernel drawn, alone.

    *Rates.* Those of Theorem 3.1 of [1]_, from the estimated losses up to and with this round's,
    with :math:`C_0 = 4` and G = 1.

    *Theorem.* Theorem 5.1 of [1]_: with L the least loss that a kernel i can reach in its class
    and :math:`\bar L` the sum of all kernels' least losses, the expected loss of the forecasts
    exceeds L by :math:`O(U^{2/3} (K^{-1/3} \bar L^{2/3} + K^{1/6} \bar L^{1/6} L^{1/2}))`
    and, with high probability over the frequencies, by what the features cost,
    :math:`\tilde O(U \sqrt{T L / m} + U^2 T / m)` for m frequencies.

    *Departures.* None but the order of the draws: the kernel of a round is drawn at the end of the
    round before, by one random number per row, so that :meth:`predict` is what will be forecast.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022,
       Algorithm 3, eq. (8), Theorems 3.1 and 5.1.

    Examples
    --------
    >>> from sklearn_okl import RFOKSPlusPlusRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = RFOKSPlusPlusRegressor(n_components=100, random_state=0)
    >>> forecasts = model.prequential_predict(X / 4, y / 4)  # each made before its target
    >>> model.coef_.shape
    (6, 100)
    >>> bool(abs(model.coef_).max() <= 1 / 50**0.5)
    True
    """

    _parameter_constraints = {
        **BANK_CONSTRAINTS,
        "loss": _REGRESSION["loss"],
        **_RADIUS,
    }
    _structural = (*BANK_STRUCTURE, "loss", "radius")

    def __init__(
        self,
        kernels=None,
        *,
        n_components=800,
        loss="squared_error",
        radius=1.0,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_components = n_components
        self.loss = loss
        self.radius = radius
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    def _sampler(self, n_kernels):
        smoothness = smoothness_of(self.loss)
        return AdaptiveExp3Sampler(n_kernels, self.radius, smoothness)


class RFOKSPlusPlusClassifier(FeatureSelection, OnlineClassifier):
    r"""RF-OKS++ for two classes: kernel selection on random features, self-tuned rates.

    Every kernel of a dictionary has coefficients in a box, for random Fourier features
    :math:`z_i` made of one draw; the sign of :math:`w_i^T z_i(x)` is a label. A round draws a
    kernel i from the law p, labels with it and steps it, by eq. (8) of [1]_, against its gradient
    divided by :math:`p_i`:

    .. math:: w_i \leftarrow \Pi \left( w_i - \frac{\lambda}{p_i}
              \ell'(w_i^T z_i(x_t), y_t) z_i(x_t) \right) .

    The law mixes exponential weights on the losses divided by p with a uniform law; all rates are
    made of the losses seen, small ones where the losses are small.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    n_components : int, default=800
        Number D of random features per kernel; the paper's 400 frequencies in paired form.
    loss : {"log_loss", "squared_hinge"}, default="log_loss"
        What is descended and what the kernels are judged by, see
        :func:`sklearn_okl.losses.get_loss`. The hinge loss, which RF-OKS and RF-IOKS take,
        is refused: it is not smooth. Only the logistic loss gives probabilities.
    radius : float, default=15.0
        U > 0 of the box :math:`|w_j| \le U / \sqrt m` of a kernel's coefficients, for m
        frequencies; the experiments' choice. Decision values stay within :math:`\sqrt 2 U`.
    form : {"paired", "phase"}, default="paired"
        Form of the features, see :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
        A draw is shared by all kernels of the same name, each of which scales it to its bandwidth.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. Positive decision values mean the second.
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    coef_ : ndarray of shape (n_kernels, n_components)
        Coefficients of each kernel's features.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RFOKSPlusPlusRegressor : The same for real targets.
    OKSPlusPlusClassifier : Exact kernels, at a cost that grows.
    RFIOKSClassifier : For losses that are not smooth.

    Notes
    -----
    *Cost.* O(d D + K) per round for d inputs, D features and K kernels, and O((d + K) D) memory,
    whatever the round. Kernels of the same name share their projections, which are computed 64 rows
    at a time; sines, cosines and coefficients are those of the kernel drawn, alone.

    *Rates.* Those of Theorem 3.1 of [1]_, from the estimated losses up to and with this round's,
    with :math:`C_0 = 1` (4 for the squared hinge) and G = 1.

    *Theorem.* Theorem 5.1 of [1]_: with L the least loss that a kernel i can reach in its class
    and :math:`\bar L` the sum of all kernels' least losses, the expected loss of the forecasts
    exceeds L by :math:`O(U^{2/3} (K^{-1/3} \bar L^{2/3} + K^{1/6} \bar L^{1/6} L^{1/2}))`
    and, with high probability over the frequencies, by what the features cost,
    for the logistic loss :math:`\tilde O(U L / \sqrt m)` for m frequencies,
    for the squared hinge :math:`\tilde O(U \sqrt{T L / m} + U^2 T / m)`.

    *Departures.* None but the order of the draws: the kernel of a round is drawn at the end of the
    round before, by one random number per row, so that :meth:`predict` is what will be forecast.

    *The published figures* for the logistic loss are not those of these rates. The program of the
    exact form [2]_ overwrites :math:`(G C_0)^{1/3} (U K)^{2/3}` by :math:`e^{-y f}` in every round
    before it computes :math:`\delta_t` from it, which leaves next to no exploration. Done here, it
    errs on 17.4 per cent of a9a (17.28 is published); the stated :math:`\delta_t` on 19.1.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022,
       Algorithm 3, eq. (8), Theorems 3.1 and 5.1.
    .. [2] J. Li, program ``OKS++logistic.R`` of the repository OKS-Bandit, 2022.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn_okl import RFOKSPlusPlusClassifier
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> model = RFOKSPlusPlusClassifier(n_components=100, random_state=0)
    >>> labels = model.prequential_predict(X, y)  # each before its own was seen
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    """

    _parameter_constraints = {
        **BANK_CONSTRAINTS,
        **_CLASSIFICATION,
        **_RADIUS,
    }
    _structural = (*BANK_STRUCTURE, "loss", "radius")

    def __init__(
        self,
        kernels=None,
        *,
        n_components=800,
        loss="log_loss",
        radius=15.0,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_components = n_components
        self.loss = loss
        self.radius = radius
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    def _sampler(self, n_kernels):
        smoothness = smoothness_of(self.loss)
        return AdaptiveExp3Sampler(n_kernels, self.radius, smoothness)


class RFIOKSRegressor(FeatureSelection, OnlineRegressor):
    r"""RF-IOKS: online kernel selection on random features by mirror descent, rates growing.

    Every kernel of a dictionary has coefficients in a box, for random Fourier features
    :math:`z_i` made of one draw. A round draws a kernel i from the law p, forecasts with it and
    steps it, by eq. (8) of [1]_, against its gradient divided by :math:`p_i`:

    .. math:: w_i \leftarrow \Pi \left( w_i - \frac{\lambda}{p_i}
              \ell'(w_i^T z_i(x_t), y_t) z_i(x_t) \right) .

    The law takes a step of mirror descent with the Tsallis regulariser of :math:`\alpha = 8` and
    a rate an arm that grows as the arm becomes unlikely (eq. 4 and 5).

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    n_components : int, default=800
        Number D of random features per kernel; the paper's 400 frequencies in paired form.
    loss : {"squared_error", "absolute_error", "pinball"}, default="squared_error"
        What is descended and what the kernels are judged by, see
        :func:`sklearn_okl.losses.get_loss`. The square loss has no factor 1/2.
    quantile : float, default=0.5
        Level of the pinball loss, strictly between 0 and 1. Other losses do not read it.
    horizon : int, default=None
        T, the number of rounds that the rates are made for; 40 if it is less. None guesses it by
        the doubling trick: the rates of 64 rounds to begin with, and after 64, 128, 256, ... rounds
        a fresh start of the law of the draws with the rates of as many rounds as were seen.
        Coefficients are kept.
    radius : float, default=1.0
        U > 0 of the box :math:`|w_j| \le U / \sqrt m` of a kernel's coefficients, for m
        frequencies, in units of y; the experiments' choice for targets in [0, 1]. Forecasts stay
        within :math:`\sqrt 2 U`.
    form : {"paired", "phase"}, default="paired"
        Form of the features, see :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
        A draw is shared by all kernels of the same name, each of which scales it to its bandwidth.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    coef_ : ndarray of shape (n_kernels, n_components)
        Coefficients of each kernel's features.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RFIOKSClassifier : The same for labels.
    IOKSRegressor : Exact kernels, at a cost that grows.
    RFOKSPlusPlusRegressor : For smooth losses: no horizon, usually more accurate.

    Notes
    -----
    *Cost.* O(d D + K) per round for d inputs, D features and K kernels, and O((d + K) D) memory,
    whatever the round. Kernels of the same name share their projections, which are computed 64 rows
    at a time; sines, cosines and coefficients are those of the kernel drawn, alone.

    *Rates.* :math:`\delta = T^{-3/4}`; the arms' rates start at :math:`8 K^{3/8} / (U G_1 \sqrt{T
    \ln T})`, the experiments' choice with :math:`\ell_{max} = 1`, and grow by the factor
    :math:`e^{2 / (3 \ln T)}` whenever 1 / p passes twice its last record; step sizes are
    :math:`\lambda_{t,i} = U / \sqrt{2 (1 + \sum_\tau \|g_{\tau,i}\|^2 / p_{\tau,i}^2)}` over the
    rounds that drew i (eq. 6). :math:`G_1` is the loss's largest slope for targets in [-1, 1] and
    forecasts in [-U, U].

    *Theorem.* Theorem 5.2 of [1]_: for losses with slopes of at most :math:`G_1`, the expected
    regret against any function of any kernel's class is :math:`O(U G_1 \sqrt{K T} \ln^{2/3} T)`
    and, with high probability over the frequencies, what the features cost,
    :math:`\tilde O(G_1 U T / \sqrt m)`.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, with the
    distance from the coefficients at its start in place of the norm, and the stretches' sum is of
    the same order.

    *Departures.* T is bounded from below by 40. The first record of 1 / p is 2K, which the paper
    leaves out. The kernel of a round is drawn at the end of the round before, by one random number
    a row, so that :meth:`predict` is what will be forecast.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022,
       Algorithm 4, eq. (4)-(8), Theorem 5.2.

    Examples
    --------
    >>> from sklearn_okl import RFIOKSRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = RFIOKSRegressor(n_components=100, random_state=0)
    >>> forecasts = model.prequential_predict(X / 4, y / 4)  # each made before its target
    >>> model.coef_.shape
    (6, 100)
    >>> bool(abs(model.coef_).max() <= 1 / 50**0.5)
    True
    """

    _parameter_constraints = {
        **BANK_CONSTRAINTS,
        **_REGRESSION,
        **_HORIZON,
        **_RADIUS,
    }
    _structural = (*BANK_STRUCTURE, "loss", "quantile", "horizon", "radius")

    def __init__(
        self,
        kernels=None,
        *,
        n_components=800,
        loss="squared_error",
        quantile=0.5,
        horizon=None,
        radius=1.0,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_components = n_components
        self.loss = loss
        self.quantile = quantile
        self.horizon = horizon
        self.radius = radius
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    def _sampler(self, n_kernels):
        slope = slope_bound(self._loss(), self.radius)
        return TsallisSampler(n_kernels, self.radius, slope, self.horizon)


class RFIOKSClassifier(FeatureSelection, OnlineClassifier):
    r"""RF-IOKS for two classes: kernel selection on random features by mirror descent.

    Every kernel of a dictionary has coefficients in a box, for random Fourier features
    :math:`z_i` made of one draw; the sign of :math:`w_i^T z_i(x)` is a label. A round draws a
    kernel i from the law p, labels with it and steps it, by eq. (8) of [1]_, against its gradient
    divided by :math:`p_i`:

    .. math:: w_i \leftarrow \Pi \left( w_i - \frac{\lambda}{p_i}
              \ell'(w_i^T z_i(x_t), y_t) z_i(x_t) \right) .

    The law takes a step of mirror descent with the Tsallis regulariser of :math:`\alpha = 8` and
    a rate an arm that grows as the arm becomes unlikely (eq. 4 and 5).

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    n_components : int, default=800
        Number D of random features per kernel; the paper's 400 frequencies in paired form.
    loss : {"log_loss", "hinge", "squared_hinge"}, default="log_loss"
        What is descended and what the kernels are judged by, see
        :func:`sklearn_okl.losses.get_loss`. Only the logistic loss gives probabilities.
    horizon : int, default=None
        T, the number of rounds that the rates are made for; 40 if it is less. None guesses it by
        the doubling trick: the rates of 64 rounds to begin with, and after 64, 128, 256, ... rounds
        a fresh start of the law of the draws with the rates of as many rounds as were seen.
        Coefficients are kept.
    radius : float, default=15.0
        U > 0 of the box :math:`|w_j| \le U / \sqrt m` of a kernel's coefficients, for m
        frequencies; the experiments' choice. Decision values stay within :math:`\sqrt 2 U`.
    form : {"paired", "phase"}, default="paired"
        Form of the features, see :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
        A draw is shared by all kernels of the same name, each of which scales it to its bandwidth.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. Positive decision values mean the second.
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    coef_ : ndarray of shape (n_kernels, n_components)
        Coefficients of each kernel's features.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RFIOKSRegressor : The same for real targets.
    IOKSClassifier : Exact kernels, at a cost that grows.
    RFOKSPlusPlusClassifier : For smooth losses: no horizon, usually more accurate.

    Notes
    -----
    *Cost.* O(d D + K) per round for d inputs, D features and K kernels, and O((d + K) D) memory,
    whatever the round. Kernels of the same name share their projections, which are computed 64 rows
    at a time; sines, cosines and coefficients are those of the kernel drawn, alone.

    *Rates.* :math:`\delta = T^{-3/4}`; the arms' rates start at :math:`8 K^{3/8} / (U G_1 \sqrt{T
    \ln T})`, the experiments' choice with :math:`\ell_{max} = 1`, and grow by the factor
    :math:`e^{2 / (3 \ln T)}` whenever 1 / p passes twice its last record; step sizes are
    :math:`\lambda_{t,i} = U / \sqrt{2 (1 + \sum_\tau \|g_{\tau,i}\|^2 / p_{\tau,i}^2)}` over the
    rounds that drew i (eq. 6). :math:`G_1` is the loss's largest slope for targets in [-1, 1] and
    forecasts in [-U, U].

    *Theorem.* Theorem 5.2 of [1]_: for losses with slopes of at most :math:`G_1`, the expected
    regret against any function of any kernel's class is :math:`O(U G_1 \sqrt{K T} \ln^{2/3} T)`
    and, with high probability over the frequencies, what the features cost,
    :math:`\tilde O(G_1 U T / \sqrt m)`.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, with the
    distance from the coefficients at its start in place of the norm, and the stretches' sum is of
    the same order.

    *Departures.* T is bounded from below by 40. The first record of 1 / p is 2K, which the paper
    leaves out. The kernel of a round is drawn at the end of the round before, by one random number
    a row, so that :meth:`predict` is what will be forecast.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022,
       Algorithm 4, eq. (4)-(8), Theorem 5.2.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn_okl import RFIOKSClassifier
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> model = RFIOKSClassifier(n_components=100, random_state=0)
    >>> labels = model.prequential_predict(X, y)  # each before its own was seen
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    """

    _parameter_constraints = {
        **BANK_CONSTRAINTS,
        **_CLASSIFICATION,
        **_HORIZON,
        **_RADIUS,
    }
    _structural = (*BANK_STRUCTURE, "loss", "horizon", "radius")

    def __init__(
        self,
        kernels=None,
        *,
        n_components=800,
        loss="log_loss",
        horizon=None,
        radius=15.0,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_components = n_components
        self.loss = loss
        self.horizon = horizon
        self.radius = radius
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    def _sampler(self, n_kernels):
        slope = slope_bound(self._loss(), self.radius)
        return TsallisSampler(n_kernels, self.radius, slope, self.horizon)
