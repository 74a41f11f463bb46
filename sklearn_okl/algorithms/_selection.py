r"""J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit Feedback".

OKS, OKS++ and IOKS (ECML-PKDD 2022, Algorithms 1 and 2), exact: a round draws one kernel of a
dictionary at random, forecasts with its function and teaches this alone, at the cost of one kernel.
"""

from math import sqrt
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions

from ..base import OnlineClassifier, OnlineRegressor
from ..feedback._bandits import (
    AdaptiveExp3Sampler,
    Exp3Sampler,
    TsallisSampler,
    draw_arm,
    slope_bound,
    smoothness_of,
    stable_step,
)
from ..kernels import kernel_list, shift_invariant_kernel
from ..losses import get_loss

# The experiments' six Gaussians: gamma = 1 / (2 sigma^2) for sigma = 2^-2, ..., 2^3.
BANDIT_KERNELS = {"kernel": ["rbf"], "gamma": [2.0 ** (-2 * j - 1) for j in range(-2, 4)]}

_TILE = 256  # rows to forecast for that meet the stored ones at once
_FEWEST = 64  # rows that there is room for from the start

_CONSTRAINTS = {"kernels": [None, dict, list, tuple], "random_state": ["random_state"]}
_REGRESSION = {
    **_CONSTRAINTS,
    "loss": [StrOptions({"squared_error", "absolute_error", "pinball"})],
    "quantile": [Interval(Real, 0, 1, closed="neither")],
}
_CLASSIFICATION = {**_CONSTRAINTS, "loss": [StrOptions({"log_loss", "hinge", "squared_hinge"})]}
_HORIZON = {"horizon": [Interval(Integral, 1, None, closed="left"), None]}
_STEP_SCALE = {"step_scale": [Interval(Real, 0, None, closed="neither")]}
_RADIUS = {"radius": [Interval(Real, 0, None, closed="neither")]}


class KernelSelection:
    """What the six estimators share beside a shell: rounds of one kernel drawn at random.

    A subclass says in `_rule(n_kernels)` who draws, a sampler of `feedback._bandits`, and the
    radius of the ball in which its functions stay, or None. The kernel of the next round is drawn
    at the end of a round and kept in the state, so that forecasts are a function of it.
    """

    _poor_score = True  # the kernel is random

    @property
    def probabilities_(self):
        """Law from which `kernel_index_` was drawn, of shape (n_kernels,)."""
        return self._fitted_state("probabilities_")["sampler"]["probabilities"].copy()

    @property
    def kernel_index_(self):
        """Int : index of the kernel that makes the next forecast."""
        return self._fitted_state("kernel_index_")["arm"]

    @property
    def n_support_(self):
        """How many rows each kernel has learnt, of shape (n_kernels,)."""
        return np.array([len(f["coef"]) for f in self._fitted_state("n_support_")["functions"]])

    @property
    def kernels_(self):
        """Parameters of each kernel."""
        self._fitted_state("kernels_")
        return self._as_taught()._kernel_list()

    def _kernel_list(self):
        return kernel_list(BANDIT_KERNELS if self.kernels is None else self.kernels)

    def _loss(self):
        return get_loss(self.loss, getattr(self, "quantile", 0.5))

    def _validate(self):
        super()._validate()
        kernels = self._kernel_list()
        if any("alpha" in kernel for kernel in kernels):
            raise ValueError(
                f"The grid of kernels has the key 'alpha', a ridge, which {type(self).__name__} "
                "does not have. Leave it out."
            )
        self._rule(len(kernels))

    def _start(self, n_features, n_targets=None):
        n_kernels = len(self._kernel_list())
        source = check_random_state(self.random_state)
        # A generator of our own: the user's may be shared, and is not ours to copy.
        rng = np.random.RandomState(source.randint(2**31 - 1))
        sampler, _ = self._rule(n_kernels)
        law = sampler.start()
        return {
            "t": 0,
            "rng": rng,
            "sampler": law,
            "arm": draw_arm(law, rng.random_sample()),
            "origin": np.empty((0, n_features)),  # the first row, once it is there
            "functions": [
                {"rows": np.empty((0, n_features + 2)), "coef": np.empty(0), "norm_sq": 0.0}
                for _ in range(n_kernels)
            ],
        }

    def _learn(self, state, X, y):
        kernels, loss = self._kernel_list(), self._loss()
        sampler, radius = self._rule(len(kernels))
        law, arm = state["sampler"], state["arm"]
        if len(state["origin"]) == 0:
            state["origin"] = X[:1].copy()
        rows = _augmented(X, state["origin"])
        asking = -2.0 * rows
        functions = {}  # of the kernels drawn
        forecasts = np.empty(len(y))
        uniforms = state["rng"].random_sample(len(y)).tolist()
        for t, target in enumerate(y.tolist()):
            f = functions.get(arm)
            if f is None:
                kernel = shift_invariant_kernel(**kernels[arm])
                f = functions[arm] = _Expansion(kernel, state["functions"][arm])
            forecast = f.values(asking[t]).item()
            slope = float(loss.slope(target, forecast))
            # k(x, x) = 1 for all kernels of a grid: the gradient slope * k(x, .) is as long.
            step = sampler.credit(law, arm, float(loss.value(target, forecast)), slope * slope)
            f.add(rows[t], -step * slope, forecast, radius)
            forecasts[t] = forecast
            arm = draw_arm(law, uniforms[t])
        for i, f in functions.items():
            state["functions"][i] = f.stored()
        state.update(t=state["t"] + len(y), arm=arm)
        return forecasts

    def _forecast(self, state, X):
        arm = state["arm"]
        kernel = shift_invariant_kernel(**self._kernel_list()[arm])
        f = _Expansion(kernel, state["functions"][arm])
        forecasts = np.empty(len(X))
        for tile in gen_batches(len(X), _TILE):
            forecasts[tile] = f.values(-2.0 * _augmented(X[tile], state["origin"]))
        return forecasts


def _augmented(X, origin):
    """Return rows [x, 1, -|x|^2 / 2], x relative to the origin, of shape (n, d + 2).

    Their product with [x', -|x'|^2 / 2, 1] is -|x - x'|^2 / 2, and that of the rows times -2, which
    is exact, the squared distance. Kernels of a grid see differences only, and near the origin
    these lose nothing to an offset that the features share.
    """
    n, d = X.shape
    rows = np.ones((n, d + 2))
    np.subtract(X, origin, out=rows[:, :d])
    np.einsum("ij,ij->i", rows[:, :d], rows[:, :d], out=rows[:, -1])
    rows[:, -1] /= -2.0
    return rows


class _Expansion:
    """A function sum_s coef_s k(x_s, .), with room to grow while a call lasts.

    Its rows are kept as [x_s, -|x_s|^2 / 2, 1], see `_augmented`.
    """

    def __init__(self, kernel, stored):
        self.kernel, self.norm_sq = kernel, stored["norm_sq"]
        self.n, width = stored["rows"].shape
        room = max(2 * self.n, _FEWEST)
        self.rows, self.coef = np.empty((room, width)), np.empty(room)
        self.rows[: self.n], self.coef[: self.n] = stored["rows"], stored["coef"]
        self.gamma = kernel.gamma_for(width - 2)
        # whether it is a function of squared distances, which one product gives
        self.of_squares = kernel.metric == "sqeuclidean"

    def values(self, rows):
        """Return f at one augmented row times -2, (d + 2,), or at several (m, d + 2)."""
        stored = self.rows[: self.n]
        if self.of_squares:
            D = rows.dot(stored.T)
            np.maximum(D, 0.0, out=D)  # rounding of a distance
            K = self.kernel.values_at(D, self.gamma, out=D)
        else:
            K = self.kernel(np.atleast_2d(rows)[:, :-2] * -0.5, stored[:, :-2])
        return K.dot(self.coef[: self.n])  # the method: half the overhead of @ for one row

    def add(self, row, coefficient, forecast, radius):
        """Add a term at a row where f is `forecast`; with a radius, project onto the ball."""
        n = self.n
        if n == len(self.coef):
            self.rows = np.concatenate([self.rows, np.empty_like(self.rows)])
            self.coef = np.concatenate([self.coef, np.empty_like(self.coef)])
        self.rows[n] = row
        self.rows[n, -2] = row[-1]
        self.rows[n, -1] = 1.0
        self.coef[n] = coefficient
        self.n = n + 1
        # |f + c k(x, .)|^2 = |f|^2 + 2 c f(x) + c^2
        self.norm_sq = max(self.norm_sq + coefficient * (2.0 * forecast + coefficient), 0.0)
        if radius is not None and self.norm_sq > radius * radius:  # eq. (2)
            self.coef[: n + 1] *= radius / sqrt(self.norm_sq)
            self.norm_sq = radius * radius

    def stored(self):
        """Return what a state keeps."""
        n = self.n
        return {"rows": self.rows[:n].copy(), "coef": self.coef[:n].copy(), "norm_sq": self.norm_sq}


class OKSRegressor(KernelSelection, OnlineRegressor):
    r"""OKS: online kernel selection by exponential weights under bandit feedback.

    Each kernel of a dictionary has a function of its RKHS. A round draws one of them by :math:`p =
    (1 - \delta) q + \delta / K`, forecasts with it, and steps it against its gradient divided by p,
    while q, a softmax, learns its loss divided by p (Algorithm 1 of [1]_, after [2]_):

    .. math:: f_i \leftarrow f_i - \frac{\lambda}{p_i} \ell'(f_i(x_t), y_t) k_i(x_t, \cdot) , \qquad
              \ln q_i \leftarrow \ln q_i - \frac{\eta}{p_i} \ell(f_i(x_t), y_t) + const .

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    loss : {"squared_error", "absolute_error", "pinball"}, default="squared_error"
        What is descended and what the kernels are judged by, see
        :func:`sklearn_okl.losses.get_loss`. The square loss has no factor 1/2.
    quantile : float, default=0.5
        Level in (0, 1) of the pinball loss.
    horizon : int, default=None
        T, the number of rounds that the rates are made for; 40 if it is less. None guesses it by
        the doubling trick: the rates of 64 rounds to begin with, and after 64, 128, 256, ... rounds
        a fresh start with the rates of as many rounds as were seen, see Notes.
    step_scale : float, default=10.0
        c in the step size :math:`\lambda = c \sqrt{\delta / (K T)}`, > 0. The experiments take the
        best of 1, 5, 10 and 25. The square loss may diverge, the others not, once
        :math:`\lambda / p` exceeds 1, as it can at unlikely kernels where c is above
        :math:`(T / K)^{1/3}`.
    random_state : int, RandomState instance or None, default=None
        Source of the seed of all draws, used once when the first row arrives.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    n_support_ : ndarray of int of shape (n_kernels,)
        How many rows each kernel's function has learnt.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    OKSClassifier : The same for labels.
    OKSPlusPlusRegressor : Rates from the losses seen: no horizon, and better where it applies.
    IOKSRegressor : A law whose regret grows with the root of T.

    Notes
    -----
    *Cost.* O(d n_i) in a round that draws kernel i, which has learnt n_i rows, for d features, and
    as much memory over all kernels as the rows themselves: every row is kept, once, by the kernel
    that was drawn.

    *Rates.* Remark 1 of [1]_: :math:`\delta = \min\{(K / T)^{1/3}, 1/2\}`, :math:`\lambda = c
    \sqrt{\delta / (K T)}` and :math:`\eta = \sqrt{2 (1 - \delta) \ln K / (K T)}`. Targets are meant
    to be in [0, 1] or [-1, 1].

    *Theorem.* Theorem 2.1 of [1]_ as Remark 1 corrects it: for losses in [0, :math:`\ell_{max}`]
    and gradients of norm at most G, the expected loss of the forecasts exceeds that of any f in the
    RKHS of any kernel by at most

    .. math:: \delta T \ell_{max} + \frac{\|f\|^2}{2 \lambda} + \frac{\lambda K T G^2}{2 \delta}
              + \frac{\eta K T \ell_{max}^2}{2 (1 - \delta)} + \frac{\ln K}{\eta} ,

    which is :math:`O((\|f\|^2 + 1) K^{1/3} T^{2/3})`. The step sizes take :math:`\ell_{max} = G =
    1`, as the experiments do.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, and the sum
    of the stretches' bounds is of the same order. A fresh start forgets the weights, not the
    functions: what they know of the data does not hang on a guess of T, and to learn it again would
    cost more than the rates. Their distance from the best function then takes the place of its norm
    in the bound. With a smooth loss the step size of a guessed T is held to :math:`\delta / (K
    \beta)`, :math:`\beta` the Lipschitz constant of the slope (2 for the square loss), so that no
    step overshoots: for 64 rounds and c = 10 the square loss would diverge. A given `horizon` is
    taken at its word.

    *Departures.* :math:`\delta` is bounded by 1/2, T from below by 40. Weights are kept as
    logarithms. The kernel of a round is drawn at the end of the round
    before, by one random number a row, so that :meth:`predict` is what will be forecast.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022, Algorithm 1, Theorem
       2.1, Remark 1.
    .. [2] T. Yang, M. Mahdavi, R. Jin, J. Yi, S. C. H. Hoi, "Online Kernel Selection: Algorithms
       and Evaluations", AAAI Conference on Artificial Intelligence, 2012.

    Examples
    --------
    >>> from sklearn_okl import OKSRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = OKSRegressor(random_state=0)
    >>> forecasts = model.prequential_predict(X / 4, y / 4)  # each made before its target
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 500)
    """

    _parameter_constraints = {**_REGRESSION, **_HORIZON, **_STEP_SCALE}
    _structural = ("kernels", "loss", "quantile", "horizon", "step_scale")

    def __init__(
        self,
        kernels=None,
        *,
        loss="squared_error",
        quantile=0.5,
        horizon=None,
        step_scale=10.0,
        random_state=None,
    ):
        self.kernels = kernels
        self.loss = loss
        self.quantile = quantile
        self.horizon = horizon
        self.step_scale = step_scale
        self.random_state = random_state

    def _rule(self, n_kernels):
        longest = stable_step(self._loss())
        return Exp3Sampler(n_kernels, self.horizon, self.step_scale, longest_step=longest), None


class OKSClassifier(KernelSelection, OnlineClassifier):
    r"""OKS for two classes: kernel selection by exponential weights under bandit feedback.

    Each kernel of a dictionary has a function of its RKHS, whose sign is a label. A round draws one
    of them, labels with it and steps it against its gradient divided by the probability of the
    draw; exponential weights learn its loss, divided likewise (Algorithm 1 of [1]_, after [2]_).

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    loss : {"log_loss", "hinge", "squared_hinge"}, default="log_loss"
        What is descended and what the kernels are judged by, see
        :func:`sklearn_okl.losses.get_loss`. `predict_proba` is there for ``"log_loss"``.
    horizon : int, default=None
        T, the number of rounds that the rates are made for; 40 if it is less. None guesses it by
        the doubling trick: the rates of 64 rounds to begin with, and after 64, 128, 256, ... rounds
        a fresh start with the rates of as many rounds as were seen, see Notes.
    step_scale : float, default=10.0
        c in the step size :math:`\lambda = c \sqrt{\delta / (K T)}`, > 0. The experiments take the
        best of 1, 5, 10 and 25. The squared hinge may diverge, the others not, once
        :math:`\lambda / p` exceeds 1, as it can at unlikely kernels where c is above
        :math:`(T / K)^{1/3}`.
    random_state : int, RandomState instance or None, default=None
        Source of the seed of all draws, used once when the first row arrives.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    n_support_ : ndarray of int of shape (n_kernels,)
        How many rows each kernel's function has learnt.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    OKSRegressor : The same for real targets, with the formulas.
    OKSPlusPlusClassifier : Rates from the losses seen: no horizon, and better where it applies.
    IOKSClassifier : A law whose regret grows with the root of T.

    Notes
    -----
    *Cost.* O(d n_i) in a round that draws kernel i, which has learnt n_i rows, for d features, and
    as much memory over all kernels as the rows themselves: every row is kept, once, by the kernel
    that was drawn.

    *Rates.* Remark 1 of [1]_: :math:`\delta = \min\{(K / T)^{1/3}, 1/2\}`, :math:`\lambda = c
    \sqrt{\delta / (K T)}` and :math:`\eta = \sqrt{2 (1 - \delta) \ln K / (K T)}`.

    *Theorem.* Theorem 2.1 of [1]_ as Remark 1 corrects it: for losses in [0, :math:`\ell_{max}`]
    and gradients of norm at most G, the expected loss of the forecasts exceeds that of any f in the
    RKHS of any kernel by at most

    .. math:: \delta T \ell_{max} + \frac{\|f\|^2}{2 \lambda} + \frac{\lambda K T G^2}{2 \delta}
              + \frac{\eta K T \ell_{max}^2}{2 (1 - \delta)} + \frac{\ln K}{\eta} ,

    which is :math:`O((\|f\|^2 + 1) K^{1/3} T^{2/3})`. The step sizes take :math:`\ell_{max} = G =
    1`, as the experiments do.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, and the sum
    of the stretches' bounds is of the same order. A fresh start forgets the weights, not the
    functions: what they know of the data does not hang on a guess of T, and to learn it again would
    cost more than the rates. Their distance from the best function then takes the place of its norm
    in the bound. With a smooth loss the step size of a guessed T is held to :math:`\delta / (K
    \beta)`, :math:`\beta` the Lipschitz constant of the slope (2 for the squared hinge, 1/4 for the
    logistic loss), so that no step overshoots. A given `horizon` is taken at its word.

    *Departures.* :math:`\delta` is bounded by 1/2, T from below by 40. Weights are kept as
    logarithms. The kernel of a round is drawn at the end of the round
    before, by one random number a row, so that :meth:`predict` is what will be forecast.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022, Algorithm 1, Theorem
       2.1, Remark 1.
    .. [2] T. Yang, M. Mahdavi, R. Jin, J. Yi, S. C. H. Hoi, "Online Kernel Selection: Algorithms
       and Evaluations", AAAI Conference on Artificial Intelligence, 2012.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_okl import OKSClassifier
    >>> X, y = make_classification(400, 5, random_state=0)
    >>> model = OKSClassifier(random_state=0)
    >>> labels = model.prequential_predict(X, y, classes=[0, 1])  # each before its own was seen
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 400)
    >>> bool((labels == y).mean() > 0.6)
    True
    """

    _parameter_constraints = {**_CLASSIFICATION, **_HORIZON, **_STEP_SCALE}
    _structural = ("kernels", "loss", "horizon", "step_scale")

    def __init__(
        self,
        kernels=None,
        *,
        loss="log_loss",
        horizon=None,
        step_scale=10.0,
        random_state=None,
    ):
        self.kernels = kernels
        self.loss = loss
        self.horizon = horizon
        self.step_scale = step_scale
        self.random_state = random_state

    def _rule(self, n_kernels):
        longest = stable_step(self._loss())
        return Exp3Sampler(n_kernels, self.horizon, self.step_scale, longest_step=longest), None


class OKSPlusPlusRegressor(KernelSelection, OnlineRegressor):
    r"""OKS++: online kernel selection under bandit feedback, all rates from the losses seen.

    Each kernel of a dictionary has a function in a ball of its RKHS. A round draws one of them by
    :math:`p_t = (1 - \delta_t) q_t + \delta_t / K`, forecasts with it and steps it, by eq. (2) of
    [1]_, against its gradient divided by p; exponential weights q learn its loss, divided by p too.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    loss : {"squared_error"}, default="squared_error"
        What is descended and what the kernels are judged by, :math:`(f - y)^2`. The absolute and
        the pinball loss, which OKS and IOKS take, are refused: they are not smooth.
    radius : float, default=1.0
        U, radius of the ball of its RKHS that each kernel's function is projected onto after a
        step; 1 in the experiments, whose targets are in [0, 1]. It scales the steps too.
    random_state : int, RandomState instance or None, default=None
        Source of the seed of all draws, used once when the first row arrives.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    n_support_ : ndarray of int of shape (n_kernels,)
        How many rows each kernel's function has learnt.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    OKSPlusPlusClassifier : The same for labels.
    OKSRegressor : Fixed rates, no ball, any loss.
    IOKSRegressor : A law for losses that are not smooth.

    Notes
    -----
    *Cost.* O(d n_i) in a round that draws kernel i, which has learnt n_i rows, for d features, and
    as much memory over all kernels as the rows themselves: every row is kept, once, by the kernel
    that was drawn.

    *Rates.* With :math:`\tilde C_t` the sum of all losses seen, each divided by the probability of
    its draw, :math:`\Delta_{t,i}` the part of kernel i, both with this round's, and
    :math:`B = C_0^{1/3} (U K)^{2/3}`:

    .. math:: \delta_t = \frac{B}{2 \max\{B, 2 \tilde C_t^{1/3}\}} , \quad
              \eta_t = \sqrt{\frac{2 \ln K}{1 + \sum q_{\tau,i} \tilde c_{\tau,i}^2}} , \quad
              \lambda_{t,i} = \frac{\sqrt{3/4} \, U^{4/3}}{K^{1/6} C_0^{1/3}
              \max\{B^3, 8 \tilde C_t\}^{1/6} \sqrt{1 + \Delta_{t,i}}} .

    q is the softmax of :math:`-\eta_t \Delta_t`: the current rate times all losses. :math:`C_0` is
    4.

    *Theorem.* Theorem 3.1 of [1]_: for a loss with :math:`|\ell'|^\nu \le C_0 \ell`, the expected
    regret against the best function in any kernel's ball is

    .. math:: O(U^{2/3} C_0^{1/3} (K^{-1/3} \bar L^{2/3} + K^{1/6} \bar L^{1/6} L_i^{1/2})) ,

    :math:`L_i` the loss of kernel i's best function and :math:`\bar L` the sum over all kernels:
    small where most kernels suit the data. There is no horizon
    to be known.

    *Departures.* The theorem's G is 1, as it says for the square loss. The proof treats q as
    updated by the current rate times the current loss, which is Algorithm 3's q only for constant
    rates; Algorithm 3 is what runs here and in the published code. The kernel of a round is drawn
    at the end of the round before, by one random number a row, so that :meth:`predict` is what will
    be forecast.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022, Theorem 3.1, eq. (2)
       and Algorithm 3.

    Examples
    --------
    >>> from sklearn_okl import OKSPlusPlusRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = OKSPlusPlusRegressor(random_state=0)
    >>> forecasts = model.prequential_predict(X / 4, y / 4)  # each made before its target
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 500)
    """

    _parameter_constraints = {**_CONSTRAINTS, "loss": _REGRESSION["loss"], **_RADIUS}
    _structural = ("kernels", "loss", "radius")

    def __init__(
        self,
        kernels=None,
        *,
        loss="squared_error",
        radius=1.0,
        random_state=None,
    ):
        self.kernels = kernels
        self.loss = loss
        self.radius = radius
        self.random_state = random_state

    def _rule(self, n_kernels):
        smoothness = smoothness_of(self.loss)
        return AdaptiveExp3Sampler(n_kernels, self.radius, smoothness), self.radius


class OKSPlusPlusClassifier(KernelSelection, OnlineClassifier):
    r"""OKS++ for two classes: kernel selection under bandit feedback, rates from the losses seen.

    Each kernel of a dictionary has a function in a ball of its RKHS, whose sign is a label. A round
    draws one of them, labels with it and steps it, by eq. (2) of [1]_, against its gradient divided
    by the probability of the draw; exponential weights learn its loss, divided likewise.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    loss : {"log_loss", "squared_hinge"}, default="log_loss"
        What is descended and what the kernels are judged by, see
        :func:`sklearn_okl.losses.get_loss`. The hinge loss, which OKS and IOKS take, is refused: it
        is not smooth. `predict_proba` is there for ``"log_loss"``.
    radius : float, default=15.0
        U, radius of the ball of its RKHS that each kernel's function is projected onto after a
        step; 15 in the experiments with the logistic loss. It scales the steps too.
    random_state : int, RandomState instance or None, default=None
        Source of the seed of all draws, used once when the first row arrives.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    n_support_ : ndarray of int of shape (n_kernels,)
        How many rows each kernel's function has learnt.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    OKSPlusPlusRegressor : The same for real targets.
    OKSClassifier : Fixed rates, no ball, any loss.
    IOKSClassifier : A law for losses that are not smooth.

    Notes
    -----
    *Cost.* O(d n_i) in a round that draws kernel i, which has learnt n_i rows, for d features, and
    as much memory over all kernels as the rows themselves: every row is kept, once, by the kernel
    that was drawn.

    *Rates.* With :math:`\tilde C_t` the sum of all losses seen, each divided by the probability of
    its draw, :math:`\Delta_{t,i}` the part of kernel i, both with this round's, and
    :math:`B = C_0^{1/3} (U K)^{2/3}`:

    .. math:: \delta_t = \frac{B}{2 \max\{B, 2 \tilde C_t^{1/3}\}} , \quad
              \eta_t = \sqrt{\frac{2 \ln K}{1 + \sum q_{\tau,i} \tilde c_{\tau,i}^2}} , \quad
              \lambda_{t,i} = \frac{\sqrt{3/4} \, U^{4/3}}{K^{1/6} C_0^{1/3}
              \max\{B^3, 8 \tilde C_t\}^{1/6} \sqrt{1 + \Delta_{t,i}}} .

    q is the softmax of :math:`-\eta_t \Delta_t`: the current rate times all losses. :math:`C_0` is
    1 for the logistic loss and 4 for the squared hinge.

    *Theorem.* Theorem 3.1 of [1]_: for a loss with :math:`|\ell'|^\nu \le C_0 \ell`, the expected
    regret against the best function in any kernel's ball is

    .. math:: O(U^{2/3} C_0^{1/3} (K^{-1/3} \bar L^{2/3} + K^{1/6} \bar L^{1/6} L_i^{1/2})) ,

    :math:`L_i` the loss of kernel i's best function and :math:`\bar L` the sum over all kernels:
    small where most kernels suit the data. There is no horizon
    to be known.

    *Departures.* The theorem's G is 1, as in the experiments. The proof treats q as updated
    by the current rate times the current loss, which is Algorithm 3's q only for constant rates;
    Algorithm 3 is what runs here and in the published code. The published program for the
    logistic loss has other rates: it overwrites B by :math:`e^{-y f}` in every round, which makes
    :math:`\delta_t` many times smaller and :math:`\lambda` longer at first. Its figures are those
    of that rule. The kernel of a round is drawn at the end of the round
    before, by one random number a row, so that :meth:`predict` is what will be forecast.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022, Theorem 3.1, eq. (2)
       and Algorithm 3.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_okl import OKSPlusPlusClassifier
    >>> X, y = make_classification(400, 5, random_state=0)
    >>> model = OKSPlusPlusClassifier(random_state=0)
    >>> labels = model.prequential_predict(X, y, classes=[0, 1])  # each before its own was seen
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 400)
    >>> bool((labels == y).mean() > 0.6)
    True
    """

    _parameter_constraints = {**_CLASSIFICATION, **_RADIUS}
    _structural = ("kernels", "loss", "radius")

    def __init__(
        self,
        kernels=None,
        *,
        loss="log_loss",
        radius=15.0,
        random_state=None,
    ):
        self.kernels = kernels
        self.loss = loss
        self.radius = radius
        self.random_state = random_state

    def _rule(self, n_kernels):
        smoothness = smoothness_of(self.loss)
        return AdaptiveExp3Sampler(n_kernels, self.radius, smoothness), self.radius


class IOKSRegressor(KernelSelection, OnlineRegressor):
    r"""IOKS: online kernel selection under bandit feedback by mirror descent with growing rates.

    Each kernel of a dictionary has a function in a ball of its RKHS. A round draws one of them by
    :math:`p = (1 - \delta) q + \delta / K`, forecasts with it and steps it, by eq. (2) of [1]_,
    against its gradient divided by p. Then q takes a step of mirror descent with the Tsallis
    regulariser of :math:`\alpha = 8` and a rate an arm (Algorithm 2):

    .. math:: q_i \leftarrow (q_i^{-7/8} + \eta_i (\tilde c_i - \mu))^{-8/7} , \qquad \sum q_i = 1 ,

    where :math:`\tilde c` is the loss over p, or over p + max :math:`\eta` if p is below that.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    loss : {"squared_error", "absolute_error", "pinball"}, default="squared_error"
        What is descended and what the kernels are judged by, see
        :func:`sklearn_okl.losses.get_loss`. The square loss has no factor 1/2.
    quantile : float, default=0.5
        Level in (0, 1) of the pinball loss.
    horizon : int, default=None
        T, the number of rounds that the rates are made for; 40 if it is less. None guesses it by
        the doubling trick: the rates of 64 rounds to begin with, and after 64, 128, 256, ... rounds
        a fresh start with the rates of as many rounds as were seen, see Notes.
    radius : float, default=1.0
        U, radius of the ball of its RKHS that each kernel's function is projected onto after a
        step; 1 in the experiments, whose targets are in [0, 1]. It scales the steps too.
    random_state : int, RandomState instance or None, default=None
        Source of the seed of all draws, used once when the first row arrives.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    n_support_ : ndarray of int of shape (n_kernels,)
        How many rows each kernel's function has learnt.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    IOKSClassifier : The same for labels.
    OKSRegressor : Exponential weights and no ball; often better while T is small.
    OKSPlusPlusRegressor : Rates from the losses seen; better with the square loss.

    Notes
    -----
    *Cost.* O(d n_i) in a round that draws kernel i, which has learnt n_i rows, for d features, and
    as much memory over all kernels as the rows themselves: every row is kept, once, by the kernel
    that was drawn.

    *Rates.* :math:`\delta = T^{-3/4}`; the arms' first :math:`\eta` is the experiments', :math:`8
    K^{3/8} / (U G_1 \sqrt{T \ln T})` (the theorem's has 3/2 for 8), and grows by the factor
    :math:`e^{2 / (3 \ln T)}` when 1 / p first exceeds a threshold, which starts at 2 K and is then
    set to twice 1 / p. Step sizes are :math:`\lambda_{t,i} = U / \sqrt{2 + 2 S_{t,i}}` (eq. 6), S
    the sum of the squared gradients divided by p, this round's included.

    *Theorem.* Theorem 4.1 of [1]_: for convex losses of slope at most :math:`G_1`, divided by
    :math:`\ell_{max}` to be in [0, 1], and T of 40 or more, the expected regret against any
    function in any kernel's ball is :math:`O(U G_1 \sqrt{K T} \ln^{2/3} T)`. Here
    :math:`\ell_{max}` is 1, as in the experiments, and :math:`G_1` the largest slope for targets
    and forecasts in [-1, 1] and [-U, U]: 2 (U + 1) for the square loss, 1 for the absolute. One
    step of the proof is open: it needs :math:`E X^{7/6} \le (E X)^{7/6}`, which Jensen's inequality
    gives the other way round.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, and the sum
    of the stretches' bounds is of the same order. A fresh start forgets the weights, rates and
    thresholds, not the functions: what they know of the data does not hang on a guess of T, nor do
    their step sizes, and a ball that a function starts in anywhere, not in the middle, costs a
    factor of 4 at most in the bound.

    *Departures.* T is bounded from below by 40. The root that puts q on the simplex is found to
    1e-12, not to 1e-5. The first threshold, which no listing gives, is the published program's. The
    kernel of a round is drawn at the end of the round before, by one random number a row, so that
    :meth:`predict` is what will be forecast.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022, Algorithm 2, Theorem
       4.1, Appendix B.

    Examples
    --------
    >>> from sklearn_okl import IOKSRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = IOKSRegressor(random_state=0)
    >>> forecasts = model.prequential_predict(X / 4, y / 4)  # each made before its target
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 500)
    """

    _parameter_constraints = {**_REGRESSION, **_HORIZON, **_RADIUS}
    _structural = ("kernels", "loss", "quantile", "horizon", "radius")

    def __init__(
        self,
        kernels=None,
        *,
        loss="squared_error",
        quantile=0.5,
        horizon=None,
        radius=1.0,
        random_state=None,
    ):
        self.kernels = kernels
        self.loss = loss
        self.quantile = quantile
        self.horizon = horizon
        self.radius = radius
        self.random_state = random_state

    def _rule(self, n_kernels):
        slope = slope_bound(self._loss(), self.radius)
        return TsallisSampler(n_kernels, self.radius, slope, self.horizon), self.radius


class IOKSClassifier(KernelSelection, OnlineClassifier):
    r"""IOKS for two classes: kernel selection under bandit feedback by mirror descent.

    Each kernel of a dictionary has a function in a ball of its RKHS, whose sign is a label. A round
    draws one of them, labels with it and steps it, by eq. (2) of [1]_, against its gradient divided
    by the probability of the draw. The law of the draws takes a step of mirror descent with the
    Tsallis regulariser of :math:`\alpha = 8` and growing rates (Algorithm 2).

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is not the grid of 76 kernels that other multi-kernel estimators take but this
        paper's: six Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128, which are
        :math:`1 / (2 \sigma^2)` for :math:`\sigma = 2^{-2}, ..., 2^3`. Meant for features in
        [-1, 1].
    loss : {"log_loss", "hinge", "squared_hinge"}, default="log_loss"
        What is descended and what the kernels are judged by, see
        :func:`sklearn_okl.losses.get_loss`. `predict_proba` is there for ``"log_loss"``.
    horizon : int, default=None
        T, the number of rounds that the rates are made for; 40 if it is less. None guesses it by
        the doubling trick: the rates of 64 rounds to begin with, and after 64, 128, 256, ... rounds
        a fresh start with the rates of as many rounds as were seen, see Notes.
    radius : float, default=15.0
        U, radius of the ball of its RKHS that each kernel's function is projected onto after a
        step; 15 in the experiments with the logistic loss. It scales the steps too.
    random_state : int, RandomState instance or None, default=None
        Source of the seed of all draws, used once when the first row arrives.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    n_support_ : ndarray of int of shape (n_kernels,)
        How many rows each kernel's function has learnt.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    IOKSRegressor : The same for real targets, with the formulas.
    OKSClassifier : Exponential weights and no ball; often better while T is small.
    OKSPlusPlusClassifier : Rates from the losses seen; better with smooth losses.

    Notes
    -----
    *Cost.* O(d n_i) in a round that draws kernel i, which has learnt n_i rows, for d features, and
    as much memory over all kernels as the rows themselves: every row is kept, once, by the kernel
    that was drawn.

    *Rates.* :math:`\delta = T^{-3/4}`; the arms' first :math:`\eta` is the experiments', :math:`8
    K^{3/8} / (U G_1 \sqrt{T \ln T})` (the theorem's has 3/2 for 8), and grows by the factor
    :math:`e^{2 / (3 \ln T)}` when 1 / p first exceeds a threshold, which starts at 2 K and is then
    set to twice 1 / p. Step sizes are :math:`\lambda_{t,i} = U / \sqrt{2 + 2 S_{t,i}}` (eq. 6), S
    the sum of the squared gradients divided by p, this round's included.

    *Theorem.* Theorem 4.1 of [1]_: for convex losses of slope at most :math:`G_1`, divided by
    :math:`\ell_{max}` to be in [0, 1], and T of 40 or more, the expected regret against any
    function in any kernel's ball is :math:`O(U G_1 \sqrt{K T} \ln^{2/3} T)`. Here
    :math:`\ell_{max}` is 1, as in the experiments, and :math:`G_1` the largest slope for forecasts
    in [-U, U]: 1 for the logistic loss and the hinge, 2 (U + 1) for the squared hinge. One step of
    the proof is open: it needs :math:`E X^{7/6} \le (E X)^{7/6}`, which Jensen's inequality gives
    the other way round.

    *Horizon.* Without one the theorem holds for each stretch between two fresh starts, and the sum
    of the stretches' bounds is of the same order. A fresh start forgets the weights, rates and
    thresholds, not the functions: what they know of the data does not hang on a guess of T, nor do
    their step sizes, and a ball that a function starts in anywhere, not in the middle, costs a
    factor of 4 at most in the bound.

    *Departures.* T is bounded from below by 40. The root that puts q on the simplex is found to
    1e-12, not to 1e-5. The first threshold, which no listing gives, is the published program's. The
    kernel of a round is drawn at the end of the round before, by one random number a row, so that
    :meth:`predict` is what will be forecast.

    References
    ----------
    .. [1] J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit
       Feedback", European Conference on Machine Learning (ECML-PKDD), 2022, Algorithm 2, Theorem
       4.1, Appendix B.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_okl import IOKSClassifier
    >>> X, y = make_classification(400, 5, random_state=0)
    >>> model = IOKSClassifier(random_state=0)
    >>> labels = model.prequential_predict(X, y, classes=[0, 1])  # each before its own was seen
    >>> model.probabilities_.shape, int(model.n_support_.sum())
    ((6,), 400)
    >>> bool((labels == y).mean() > 0.6)
    True
    """

    _parameter_constraints = {**_CLASSIFICATION, **_HORIZON, **_RADIUS}
    _structural = ("kernels", "loss", "horizon", "radius")

    def __init__(
        self,
        kernels=None,
        *,
        loss="log_loss",
        horizon=None,
        radius=15.0,
        random_state=None,
    ):
        self.kernels = kernels
        self.loss = loss
        self.horizon = horizon
        self.radius = radius
        self.random_state = random_state

    def _rule(self, n_kernels):
        slope = slope_bound(self._loss(), self.radius)
        return TsallisSampler(n_kernels, self.radius, slope, self.horizon), self.radius
