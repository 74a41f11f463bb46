r"""S. Liao, J. Li, "High-probability kernel alignment regret bounds for online kernel selection".

B(AO)2KS (ECML 2021), by its authors' program: two kernels of a dictionary are asked in a round, one
that forecasts and one that learns, and a small sample of the rows tells all of them where to go.
"""

from __future__ import annotations

from math import log, sqrt
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._documentation import inherit_documentation
from .._types import Any, Seed
from ..base import OnFourierFeatures, OnlineClassifier
from ..base._random_rounds import OneForecasts
from ..kernels import shift_invariant_kernel

_POSITIVE = [Interval(Real, 0, None, closed="neither")]


def _made(estimator):
    return [shift_invariant_kernel(**point) for point in estimator._kernel_list()]


class GreenIX:
    r"""Exponential weights of losses that are explored implicitly, with unlikely arms left out.

    The losses in [0, 1] of arms drawn by p are counted as :math:`\ell / (\zeta + p)`; arms below
    :math:`\gamma` are not drawn. With :math:`\epsilon = 2^{-\tau}`, :math:`\eta = \zeta = \epsilon
    / 4 K` and :math:`\gamma = \epsilon / 2 K`, and whenever :math:`\epsilon^2` times all losses
    counted passes :math:`K \ln(K / \delta)` the weights begin anew with the next :math:`\tau`.
    """

    def __init__(self, n_arms, failure):
        self.n_arms, self.failure = n_arms, failure

    def start(self):
        """Return a state that counts no loss."""
        return {"losses": np.zeros(self.n_arms), "total": 0.0, "tau": 1}

    def law(self, state):
        """Return the probabilities of the arms."""
        epsilon, K = 0.5 ** state["tau"], self.n_arms
        p = np.exp(epsilon / (4 * K) * (state["losses"].min() - state["losses"]))
        p /= p.sum()
        p[p < epsilon / (2 * K)] = 0.0
        return p / p.sum()

    def learn(self, state, arm, loss):
        """Count the loss of an arm that was drawn by the state's probabilities."""
        chance = float(state["probabilities"][arm])
        estimate = loss / (0.5 ** state["tau"] / (4 * self.n_arms) + chance)
        state["losses"][arm] += estimate
        state["total"] += estimate
        if state["total"] > 4.0 ** state["tau"] * self.n_arms * log(self.n_arms / self.failure):
            state["tau"] += 1
            state["losses"] = np.zeros(self.n_arms)


class _TwoKernels(OneForecasts):
    r"""The rounds of B(AO)2KS, and its parameters.

    All functions are expansions over the same rows, which are those that a kernel stepped on and
    those that were in the sample. With h the mean of :math:`y k(x, \cdot)` over the sample, a state
    has of each kernel :math:`\|f\|^2`, :math:`\langle f, h \rangle` and :math:`\|h\|^2`.

    Parameters
    ----------
    radius : float, default=20.0
        Radius U of the balls that the functions stay in, > 0.
    step_scale : float, default=5.0
        c in the step size :math:`\lambda_t = c / \sqrt t`, > 0; with a `horizon` :math:`c / \sqrt
        T`, the program's.
    horizon : int >= 1, default=None
        T, the number of rounds.
    n_hints : int, default=10
        How many rows the sample holds, the program's :math:`\ln T`.
    failure : float, default=0.01
        Probability :math:`\delta` in (0, 1) with which the theorem may fail.

    Attributes
    ----------
    n_support_ : int
        Number of rows that functions or the sample need.
    """

    _shared_test_parameters = {
        "kernels": OnFourierFeatures._shared_test_parameters["kernels"],
        "random_state": 0,
    }

    _parameter_constraints = {
        **OneForecasts._parameter_constraints,
        "radius": _POSITIVE,
        "step_scale": _POSITIVE,
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
        "n_hints": [Interval(Integral, 1, None, closed="left")],
        "failure": [Interval(Real, 0, 1, closed="neither")],
    }
    _structural = ("radius", "step_scale", "horizon", "n_hints", "failure")

    @property
    def n_support_(self) -> int:
        """How many rows are kept."""
        return len(self._fitted_state("n_support_")["rows"])

    def _selection(self):
        return GreenIX(len(self._kernel_list()), self.failure)

    def _start_functions(self, n_features, source):
        K = len(self._kernel_list())
        return {
            "rows": np.zeros((0, n_features)),
            "coef": np.zeros((K, 0)),
            "norms_sq": np.zeros(K),  # of f
            "products": np.zeros(K),  # of f and h
            "hints_sq": np.zeros(K),  # of h
            "sample": np.zeros(0, dtype=np.int64),  # places in rows
            "signs": np.zeros(0),
            "sampler": self._selection().start(),
        }

    def _start(self, n_features, n_targets=None):
        state = super()._start(n_features, n_targets)
        self._draw(state, state["rng"].random_sample(2))
        return state

    def _draw(self, state, uniforms):
        """Draw who forecasts and who learns in the next round."""
        K = len(state["coef"])
        law = self._selection().law(state["sampler"])
        first = min(int(np.searchsorted(np.cumsum(law), uniforms[0], side="right")), K - 1)
        while law[first] == 0.0:  # rounding of the last sum
            first -= 1
        state["sampler"]["probabilities"] = law
        state.update(arm=first, learner=int(uniforms[1] * K))

    def _at(self, state, k, X):
        """Return f and h (n,) of kernel k at rows."""
        if len(state["rows"]) == 0:
            return np.zeros(len(X)), np.zeros(len(X))
        K = self._built(_made)[k](X, state["rows"])
        if len(state["sample"]) == 0:
            return K @ state["coef"][k], np.zeros(len(X))
        return K @ state["coef"][k], K[:, state["sample"]] @ state["signs"] / len(state["signs"])

    def _step_size(self, t):
        return self.step_scale / sqrt(t if self.horizon is None else self.horizon)

    def _hinted(self, state, k, X, step):
        """Return the forecasts (n,) of kernel k, moved along its hint and back into the ball."""
        f, h = self._at(state, k, X)
        length_sq = (
            state["norms_sq"][k] + 2 * step * state["products"][k] + step**2 * state["hints_sq"][k]
        )
        shrink = self.radius / max(sqrt(max(length_sq, 0.0)), self.radius)
        return shrink * (f + step * h), f, h

    def _forecast(self, state, X):
        step = self._step_size(state["t"] + 1)
        return self._hinted(state, state["arm"], X, step)[0]

    def _learn(self, state, X, y):
        forecasts = np.empty(len(y))
        uniforms = state["rng"].random_sample((len(y), 4))
        for t, (x, sign) in enumerate(zip(X, y.tolist(), strict=True)):
            forecasts[t] = self._learn_row(state, x[None], sign, uniforms[t])
        return forecasts

    def _learn_row(self, state, x, y, uniforms):
        state["t"] += 1
        step = self._step_size(state["t"])
        first, second = state["arm"], state["learner"]
        forecast = float(self._hinted(state, first, x, step)[0][0])
        loss = min(max(0.0, 1.0 - y * forecast) / (1.0 + self.radius), 1.0)
        self._selection().learn(state["sampler"], first, loss)
        own, f, h = (float(part[0]) for part in self._hinted(state, second, x, step))
        place = self._move(state, second, x, y, step, y * own < 1.0, f, h)
        self._let_in(state, x, y, place, uniforms[2:])
        self._draw(state, uniforms[:2])
        return forecast

    def _move(self, state, k, x, y, step, is_wrong, f, h):
        """Step along the hints, kernel k along its gradient too; return the row's place, or None.

        The gradient of k, less its hint, counts as many times as there are kernels.
        """
        K, place = len(state["coef"]), None
        along = np.full(K, step)  # the hint h
        along[k] = step * (1 - K)
        new = step * K * y if is_wrong else 0.0  # k(x, .)
        N, g, q = state["norms_sq"], state["products"], state["hints_sq"]
        N = N + 2 * along * g + along**2 * q
        g = g + along * q
        coef = state["coef"].copy()
        if len(state["sample"]):
            coef[:, state["sample"]] += along[:, None] * state["signs"] / len(state["signs"])
        if is_wrong:
            N[k] += new * new + 2 * new * (f + along[k] * h)
            g[k] += new * h
            place = len(state["rows"])
            state["rows"] = np.concatenate([state["rows"], x])
            coef = np.hstack([coef, np.zeros((K, 1))])
            coef[k, -1] = new
        N = np.maximum(N, 0.0)  # rounding
        shrink = np.minimum(1.0, self.radius / np.sqrt(np.maximum(N, self.radius**2)))
        state.update(coef=shrink[:, None] * coef, norms_sq=shrink**2 * N, products=shrink * g)
        return place

    def _let_in(self, state, x, y, place, uniforms):
        """Let the row into the sample, by chance once that is full."""
        m = len(state["sample"])
        if m == self.n_hints and uniforms[0] >= m / state["t"]:
            return
        if place is None:
            place = len(state["rows"])
            state["rows"] = np.concatenate([state["rows"], x])
            state["coef"] = np.hstack([state["coef"], np.zeros((len(state["coef"]), 1))])
        if m < self.n_hints:
            state["sample"] = np.append(state["sample"], place)
            state["signs"] = np.append(state["signs"], y)
        else:
            state["sample"], state["signs"] = state["sample"].copy(), state["signs"].copy()
            out = int(uniforms[1] * m)
            state["sample"][out], state["signs"][out] = place, y
        rows, signs = state["rows"][state["sample"]], state["signs"] / len(state["signs"])
        products, hints_sq = np.empty((2, len(state["coef"])))
        for k in range(len(products)):
            f, h = self._at(state, k, rows)
            products[k], hints_sq[k] = signs @ f, signs @ h
        state.update(products=products, hints_sq=hints_sq)


@inherit_documentation
class BAO2KSClassifier(_TwoKernels, OnlineClassifier):
    r"""B(AO)2KS: one kernel forecasts and one learns, by the hinge loss and hints from a sample.

    Each kernel r of a dictionary has a function :math:`f_r` of its RKHS, and a hint
    :math:`h_r = \frac1m \sum_j y_j k_r(x_j, \cdot)` from a uniform sample of m rows. A round
    forecasts with :math:`\bar f_I`, which is :math:`f_I + \lambda h_I` brought back to the ball of
    radius U, where I is drawn by exponential weights of the losses of those drawn before. A second
    kernel J is drawn uniformly of K, and all step, and are brought back to the ball:

    .. math:: f_J \leftarrow f_J + \lambda (h_J + K (y [y \bar f_J(x) < 1] k_J(x, \cdot) - h_J)) ,
              \qquad f_r \leftarrow f_r + \lambda h_r , \quad r \ne J .

    See Also
    --------
    IOKSClassifier : One kernel a round, which forecasts and learns.
    LKMBooksClassifier : All kernels, on one small sample of the rows.

    Notes
    -----
    *Cost.* O(d n) in a round with n rows kept for two kernels with d inputs, and O(K n) for the
    coefficients; rows are kept where J was wrong, and those of the sample. When the sample changes,
    in m / t of the rounds, K m times as much.

    *Theorem.* By the abstract of [1]_ the regret against any f of the RKHS of kernel i is, with
    high probability, :math:`O(\|f\|^2 \sqrt{K A_i})`, with :math:`A_i` a variant of kernel
    alignment: small where the kernel's mean gradient tells the gradients.

    *Departures.* The paper was not at hand; this is the authors' program (JunfLi-TJU/KARegret-OKS,
    `BAO2KS.R`). There rounds in which I = J count neither a loss nor a mistake, losses below 0
    count as they are, and T is known. Here all rounds count, the loss is the hinge loss, and steps
    decay where there is no `horizon`. Draws are made a round ahead, so that `predict` is pure.

    References
    ----------
    .. [1] S. Liao, J. Li, "High-probability kernel alignment regret bounds for online kernel
       selection", European Conference on Machine Learning (ECML-PKDD), 2021.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn_okl import BAO2KSClassifier
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> model = BAO2KSClassifier(random_state=0)
    >>> labels = model.prequential_predict(X, y)  # each before its own was seen
    >>> bool((labels == y)[250:].mean() > 0.85)
    True
    """

    _test_parameters = ({}, {"n_hints": 3, "horizon": 200, "radius": 2.0})

    def __init__(
        self,
        kernels: Any = None,
        *,
        radius: float = 20.0,
        step_scale: float = 5.0,
        horizon: int | None = None,
        n_hints: int = 10,
        failure: float = 0.01,
        random_state: Seed = None,
    ) -> None:
        self.kernels = kernels
        self.radius = radius
        self.step_scale = step_scale
        self.horizon = horizon
        self.n_hints = n_hints
        self.failure = failure
        self.random_state = random_state
