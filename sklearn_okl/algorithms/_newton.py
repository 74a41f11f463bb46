r"""D. Calandriello, A. Lazaric, M. Valko: the kernel online Newton step, exact and sketched (2017).

"Second-order kernel online convex optimization with adaptive sketching" (KONS, Sketched-KONS) and
"Efficient second-order online kernel learning with adaptive embedding" (PROS-N-KONS, CON-KONS).
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from .._linalg import aligned_slices
from .._types import Any, Array, Seed
from ..base import GrowingBasisRegressor, OnlineRegressor, SampledRows
from ..base._descent import SecondOrderSteps
from ..dictionaries._factor import PANEL
from ..dictionaries._growth import Rows, entering
from ..kernels import kernel_of
from ..learners._newton import ONSRegressor, clipped_round, curvature_or_default
from ._dual_newton import DualNewton


class _DualNewtonRegressor(DualNewton, SecondOrderSteps, OnlineRegressor):
    """Base of the clipped online Newton step in the RKHS itself: every row is kept.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples_seen,)
        Coefficient of each row learnt, before the projection that the next row will ask for.

    References
    ----------
    .. [1] Calandriello et al. 2017a.
    """

    _parameter_constraints = {
        **DualNewton._parameter_constraints,
        **SecondOrderSteps._parameter_constraints,
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        mu: float = 1.0,
        radius: float = 1.0,
    ) -> None:
        super().__init__(kernel, gamma, degree=degree, coef0=coef0)
        self.mu = mu
        self.radius = radius

    def _ridge(self):
        return float(self.mu)

    def _round(self, y, keep):
        curvature = curvature_or_default(None, self.radius)
        return clipped_round(y, np.where(keep, curvature, 0.0), self.radius)

    def _forecast(self, state, X):
        kernel, forecasts = kernel_of(self), np.empty(len(X))
        for block in gen_batches(len(X), PANEL):
            forecasts[block], _ = self._meet(kernel, state, X[block])
        return np.clip(forecasts, -self.radius, self.radius)


@inherit_documentation
@explained_by(ONSRegressor)
class KONSRegressor(_DualNewtonRegressor):
    r"""Kernel online Newton step, exact: second-order descent in the RKHS, clipped forecasts.

    With :math:`\phi_t = k(x_t, \cdot)`, round t forecasts :math:`\hat y_t = w_t(x_t)`, sees the
    target and takes the step of [1]_ (Algorithm 2 of [2]_) with the gradient
    :math:`g_t = 2 (\hat y_t - y_t) \phi_t`; before the next forecast it projects onto the
    functions that forecast within the radius C:

    .. math:: A_0 = \mu I , \qquad A_t = A_{t-1} + \frac{1}{16 C^2} g_t g_t^T , \qquad
              \tilde w_{t+1} = w_t - A_t^{-1} g_t , \qquad
              w_{t+1} = \arg\min_{|w(x_{t+1})| \le C} \|w - \tilde w_{t+1}\|_{A_t} .

    See Also
    --------
    SketchedKONSRegressor : Fewer gradients in A.
    PROSNKONSRegressor : At a cost that grows with a dictionary, not with the rounds.
    KernelVAWRegressor : Exact second-order regression without clipping.

    Notes
    -----
    *Cost.* :math:`O(d t + t^2)` in round t for d features: one forward substitution with a growing
    Cholesky factor of :math:`\mu I + D K D`, D the diagonal of the slopes; :math:`t^2 / 2` numbers
    of memory. 64 rows meet the past at once, and go one by one only through the 64 x 64 matrix of
    their inner products by :math:`A^{-1}`.

    *Theorem.* Let :math:`|y_t| \le C`. Against any f with :math:`|f(x_t)| \le C` in all rounds

    .. math:: \sum_t (\hat y_t - y_t)^2 - \sum_t (f(x_t) - y_t)^2
              \le \frac{\mu}{2} \|f\|^2 + 8 C^2 \ln \det (I + K / \mu) ,

    which is of the order of :math:`C^2 d_\mathrm{eff}(\mu) \ln T`. (The regret of [1]_, with the
    constants that the square loss allows: see :class:`ONSRegressor`, whose bound has nothing to do
    with the dimension.)

    *Departures.*

    *Numerics.* Targets far beyond the radius make A large: where
    :math:`(y / C)^2 k(x, x) / (4 \mu)` comes near 1e16, digits run out, and a call may be refused.

    References
    ----------
    .. [1] Calandriello et al. 2017a.
    .. [2] Li & Liao 2023, Algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import KONSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(1000, 2))
    >>> y = np.sin(3 * X[:, 0]) * X[:, 1]
    >>> model = KONSRegressor("rbf", 1.0)
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> bool(((y - forecasts) ** 2).mean() < 0.2 * y.var())
    True
    """

    _test_parameters = (
        {"gamma": 0.03, "mu": 5.0, "radius": 3.0},
        {"kernel": "poly", "gamma": 0.05, "degree": 2, "mu": 10.0, "radius": 2.0},
    )


@inherit_documentation
class SketchedKONSRegressor(SampledRows, _DualNewtonRegressor):
    r"""Kernel online Newton step whose curvature comes from a random sample of the gradients.

    The steps are those of :class:`KONSRegressor`, but the gradient of round t enters A only with
    probability [1]_

    .. math:: \max(\gamma, \min(\beta \tilde\tau_t, 1)) ,

    where :math:`\tilde\tau_t` estimates the row's ridge leverage score, :math:`\gamma` is given.

    Parameters
    ----------
    keep_probability : float, default=0.1
        :math:`\gamma` in [0, 1], least probability to enter A; 1 is :class:`KONSRegressor`.

    Attributes
    ----------
    kept_ : ndarray of shape (n_kept,)

    See Also
    --------
    KONSRegressor : All gradients in A.
    PROSNKONSRegressor : At a cost that grows with a dictionary, not with the rounds.

    Notes
    -----
    *Cost.* :math:`O(d t + m_t^2)` in round t with :math:`m_t \approx \gamma t` gradients in A; all
    rows are kept.

    *Theorem.* With high probability the regret is at most of the order of :math:`1 / \gamma` times
    that of KONS [1]_, for a share of about :math:`\gamma^2` of its time.

    *Departures.* The scores are those of the rows, not of their gradients, as in PROS-N-KONS; one
    uniform number per row decides both. The projection is put off as in :class:`KONSRegressor`.

    Examples
    --------
    >>> from sklearn_okl import SketchedKONSRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> model = SketchedKONSRegressor("rbf", 0.05, random_state=0).fit(*make_ar4(300))
    >>> len(model.kept_) < 150
    True
    """

    _parameter_constraints = {
        **SampledRows._parameter_constraints,
        **SecondOrderSteps._parameter_constraints,
        "keep_probability": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        mu: float = 1.0,
        radius: float = 1.0,
        keep_probability: float = 0.1,
        kors_mu: float = 1.0,
        kors_beta: float = 1.0,
        kors_eps: float = 0.5,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernel,
            gamma,
            degree=degree,
            coef0=coef0,
            kors_mu=kors_mu,
            kors_beta=kors_beta,
            kors_eps=kors_eps,
            random_state=random_state,
        )
        self.mu = mu
        self.radius = radius
        self.keep_probability = keep_probability

    @property
    def kept_(self) -> Array:
        """Rounds, counted from 0, whose gradients are in A."""
        return self._fitted_state("kept_")["kept"].copy()

    def _start(self, n_features, n_targets=None):
        state = super()._start(n_features, n_targets)
        return state | {"sampler": self._rule().start(n_features)}

    def _keep(self, kernel, state, X):
        rule, sampler = self._rule(), state["sampler"]
        keep = np.empty(len(X), dtype=bool)
        for rows in aligned_slices(state["t"], len(X), PANEL):
            drawn = rule.draw(sampler, rows.stop - rows.start)
            keep[rows] = drawn < self.keep_probability
            for i in entering(kernel, rule, sampler, Rows(kernel, X[rows]), drawn):
                keep[rows.start + i] = True
        return keep


class _SampledNewtonRegressor(SampledRows, SecondOrderSteps, GrowingBasisRegressor):
    r"""Base of the online Newton steps on a dictionary that is sampled by leverage scores.

    Parameters
    ----------
    kors_mu : float, default=1.0
        Ridge > 0 of the leverage scores, in units of the kernel (the paper's gamma); a larger one
        makes a smaller dictionary. 0.5, 1, 5 and 10 are tried in [2]_.
    kors_beta : float, default=1.0
        Factor > 0 from scores to probabilities; the theorem wants it to grow with ln T.

    References
    ----------
    .. [1] Calandriello et al. 2017b.
    .. [2] Li & Liao 2023, section 4 and appendix A.
    """

    _parameter_constraints = {
        **SampledRows._parameter_constraints,
        **SecondOrderSteps._parameter_constraints,
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        mu: float = 1.0,
        radius: float = 1.0,
        kors_mu: float = 1.0,
        kors_beta: float = 1.0,
        kors_eps: float = 0.5,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernel,
            gamma,
            degree=degree,
            coef0=coef0,
            kors_mu=kors_mu,
            kors_beta=kors_beta,
            kors_eps=kors_eps,
            random_state=random_state,
        )
        self.mu = mu
        self.radius = radius

    def _newton(self):
        return ONSRegressor(self.mu, radius=self.radius)


@inherit_documentation
class PROSNKONSRegressor(_SampledNewtonRegressor):
    r"""PROS-N-KONS: online Newton steps on a sampled dictionary, restarted whenever it grows.

    Rows enter a dictionary at random, by estimates of their ridge leverage scores (KORS). In its
    basis, of size J, the online Newton step of :class:`KONSRegressor` costs :math:`O(J^2)`; a row
    that enters is learnt in the old basis first, and in the new one all begins again from
    :math:`A = \mu I` and :math:`w = 0` [1]_.

    See Also
    --------
    CONKONSRegressor : The same without restarts, much better in practice.
    KONSRegressor : Exact.

    Notes
    -----
    *Cost.* :math:`O(d J + J^2)` per round, by matrix products over up to 128 rows at once. The
    coordinates come from a Cholesky factor of the dictionary's kernel matrix, which grows by a row,
    where the paper computes a new singular value decomposition in :math:`O(J^3)`; they are a
    rotation of the paper's, so the forecasts are the same. The dictionary grows without bound, but
    slowly: it stays within :math:`d_\mathrm{eff} \ln^2 T` up to a constant.

    *Theorem.* With high probability the regret is at most of the order of
    :math:`J (\mu \|f\|^2 + d_\mathrm{eff}(\mu) \ln T)` plus the error of the projections,
    :math:`T \gamma / \mu` [1]_, in the form of section 4.5.2 of [2]_.

    *Restarts* forget all that was learnt. Where rows are far apart in units of the kernel, as ten
    standardised features are at the default `gamma`, the dictionary keeps growing, and a stream of
    a few hundred rows is never learnt: on the 200 of scikit-learn's check none of 60 settings of
    `mu`, `radius` and `kors_mu` reaches an R² above 0.31. ``kernel="poly", degree=1``, whose
    dictionary is soon complete, reaches 0.6 there; with the default kernel take
    :class:`CONKONSRegressor`, which restarts nothing.

    *Departures.* A row that enters the sample but lies in the span of the dictionary, up to 1e-10
    of its squared norm, adds no coordinate and causes no restart.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import PROSNKONSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(1000, 2))
    >>> y = np.sin(3 * X[:, 0]) * X[:, 1]
    >>> model = PROSNKONSRegressor("rbf", 1.0, random_state=0).fit(X, y)
    >>> len(model.components_) < 100
    True
    """

    _test_parameters = (
        {
            "kernel": "poly",
            "gamma": 0.1,
            "degree": 1,
            "mu": 10.0,
            "kors_mu": 10.0,
            "radius": 2.0,
            "random_state": 0,
        },
    )

    _poor_score = True  # the last restart may have been a row ago

    def _admit(self, newton, learnt, phi, y):
        forecasts = newton._learn(learnt, phi[:, :-1], y)
        learnt.clear()
        learnt.update(newton._start(phi.shape[1]))
        return forecasts


@inherit_documentation
class CONKONSRegressor(_SampledNewtonRegressor):
    r"""CON-KONS: online Newton steps on a sampled dictionary, carried over whenever it grows.

    The empirical variant of :class:`PROSNKONSRegressor` [1]_: weights and curvature move on into
    the larger basis by the map Q between the two,

    .. math:: w \leftarrow Q w , \qquad A \leftarrow \mu I + Q (A - \mu I) Q^T .

    See Also
    --------
    PROSNKONSRegressor : With restarts, and a theorem.
    KONSRegressor : Exact.

    Notes
    -----
    *Cost.* :math:`O(d J + J^2)` per round for a dictionary of J rows, as
    :class:`PROSNKONSRegressor`. In the basis of the growing Cholesky factor Q only appends a zero.

    *Theorem.* None: the method is an empirical one.

    *Departures.* A row that enters the sample but lies in the span of the dictionary, up to 1e-10
    of its squared norm, adds no coordinate. In appendix A of [2]_ CON-KONS carries A itself,
    :math:`Q A Q^T`, which is singular; here as above, with :math:`\mu` afresh in the new direction.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import CONKONSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(1000, 2))
    >>> y = np.sin(3 * X[:, 0]) * X[:, 1]
    >>> model = CONKONSRegressor("rbf", 1.0, random_state=0)
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> bool(((y - forecasts) ** 2).mean() < 0.2 * y.var())
    True
    """

    _test_parameters = (
        {"gamma": 0.03, "mu": 5.0, "radius": 3.0, "random_state": 0},
        {"kernel": "laplacian", "gamma": 0.05, "kors_mu": 2.0, "radius": 2.0, "random_state": 0},
    )
