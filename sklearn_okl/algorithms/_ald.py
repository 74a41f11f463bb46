r"""J. Li, S. Liao, "Nearly optimal algorithms ... for online kernel regression" (2023).

Online kernel regression on a dictionary of rows that are not approximately linearly dependent
(ALD): NONS-ALD takes online Newton steps in its span, AOGD-ALD gradient steps.
"""

from math import isqrt, sqrt
from numbers import Integral, Real

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval

from ..base import EntryRule, GrowingBasisRegressor, OnlineRegressor
from ..dictionaries._nested import coordinates, dual, first_novel, grow_basis, start_basis
from ..kernels import KERNEL_CONSTRAINTS, KERNEL_STRUCTURE, kernel_of
from ..learners._newton import ONSRegressor
from ._gradient import KOGDRegressor

_BLOCK = 64  # rows learnt at once
_ALD_CONSTRAINTS = {
    "novelty": [Interval(Real, 0, None, closed="neither"), None],
    "horizon": [Interval(Integral, 1, None, closed="left"), None],
}


class NONSALDRegressor(GrowingBasisRegressor):
    r"""NONS-ALD: online Newton steps on a dictionary of rows that earlier ones do not nearly span.

    Round t measures how far :math:`k(x_t, \cdot)` lies from the span of the dictionary S, and lets
    the row in where that is more than a threshold :math:`\alpha`:

    .. math:: \alpha_t = \min_\beta \Bigl\| \sum_{s \in S} \beta_s k(s, \cdot) - k(x_t, \cdot)
              \Bigr\|_H^2 .

    Then it forecasts :math:`\hat y_t = w_t^T \varphi(x_t)` in orthonormal coordinates
    :math:`\varphi` of the span and takes the online Newton step of :class:`ONSRegressor`, projected
    so that the next forecast stays within U (Algorithm 3 of [1]_). When the dictionary grows,
    weights and second moments are carried over by the map Q between the two bases (Lemma 4.2):
    :math:`w \leftarrow Q w`, :math:`A \leftarrow \mu I + Q (A - \mu I) Q^T`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        The kernel, by its name, as an object or as a callable, which gets two arrays of rows and
        returns their matrix, see :mod:`sklearn_okl.kernels`.
    gamma : float, default=None
        Inverse length scale of the kernel, squared for ``"rbf"``; for ``"poly"`` the factor of the
        inner product. None is ``1 / n_features``, or the gamma of an object that has one. A
        callable takes none.
    degree : int, default=3
        Degree of ``"poly"``, >= 1. Other kernels do not read it.
    coef0 : float, default=1.0
        Constant of ``"poly"``, >= 0. Other kernels do not read it.
    mu : float, default=1.0
        Start :math:`A = \mu I`, > 0; the paper tries 1, 5 and 15.
    radius : float, default=1.0
        U > 0, the bound of the forecasts and of the norm of the rivals, in units of the targets.
        The theorem wants it to be at least `y_bound`.
    y_bound : float, default=None
        Y > 0, the bound of the absolute targets that the steps reckon with. None is `radius`.
    novelty : float, default=None
        Threshold :math:`\alpha` > 0 in units of k(x, x), which is 1 for all kernels but ``"poly"``
        and callables. None takes 25 / `horizon`, the paper's setting, and 0.01 without a horizon. A
        change in mid-stream holds for the next rows.
    horizon : int, default=None
        Number T of rows to come, read only where `novelty` is None. Below 50 rows the threshold
        stays at 1/2, so that a first row of size 1 enters.

    Attributes
    ----------
    components_ : ndarray of shape (J, n_features)
        The dictionary: rows whose kernel functions span the hypotheses.
    dual_coef_ : ndarray of shape (J,)
        Their coefficients, before the projection that the next row will ask for.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    AOGDALDRegressor : First order on the same dictionary.
    CONKONSRegressor : The same steps on a sampled dictionary.
    ALDNystroem : The dictionary alone, as a map.

    Notes
    -----
    *Cost.* :math:`O(d J + J^2)` per round for a dictionary of J rows, by matrix products over up to
    128 rows at once. The coordinates come from a Cholesky factor of the dictionary's kernel matrix,
    which grows by a row, where the paper computes a new singular value decomposition in
    :math:`O(J^3)`. They are a rotation of the paper's, so the forecasts are the same, and Q only
    appends a zero. On bounded rows the dictionary stops growing, as its rows are
    :math:`\sqrt\alpha` apart in H. J is of the order of :math:`\ln(T / \alpha)` where the spectrum
    of the kernel matrix decays exponentially (Lemma 3.1).

    *Theorem.* Let :math:`|y_t| \le Y \le U` and k(x, x) = 1. Against any f with
    :math:`\|f\|_H \le U` the regret after T rounds is at most

    .. math:: \Bigl(\frac{\mu}{2} + T \alpha\Bigr) \|f\|^2
              + 2 (U^2 + Y^2) \Bigl[ d_\mathrm{eff}\Bigl(\frac{\mu}{2}\Bigr)
              \Bigl(1 + \ln \frac{2 T + \mu}{\mu}\Bigr) + \frac{2 T^2 \sqrt\alpha}{\mu} \Bigr]
              + \sqrt{8 (U^2 + Y^2)} \|f\| T \sqrt\alpha .

    This is Theorem 4.6 with the constants that its proof gives. Printed is 1/2 for
    :math:`2 (U^2 + Y^2)`, and one row repeated 100 times with targets 1 and -1 breaks that; the
    third term is printed :math:`T^2 \sqrt{\alpha} / \sqrt{2 \mu}`. With :math:`\alpha` of the order
    of :math:`T^{-4}` the regret is of the order of :math:`\mu \|f\|^2 + d_\mathrm{eff} \ln T`; with
    the 25 / T of the experiments the bound says nothing.

    *Departures.* A row that enters is forecast, with the lifted weights, and learnt in the new
    basis, the first row too; the printed listing does neither. Before it enters, the weights are
    projected for it in the old basis, as eq. (12) has it. The projection of the last update is put
    off until the next row is known; `predict` clips, which gives the same number. Rows that lie in
    the span up to 1e-10 of k(x, x) never enter. The authors' program steps with :math:`A_{t-1}`
    for :math:`A_t` on rows that do not enter, and never learns the first.

    References
    ----------
    .. [1] J. Li, S. Liao, "Nearly optimal algorithms with sublinear computational complexity for
       online kernel regression", International Conference on Machine Learning, 2023, Algorithm 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import NONSALDRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(1000, 2))
    >>> y = np.sin(3 * X[:, 0]) * X[:, 1]
    >>> model = NONSALDRegressor("rbf", 1.0, horizon=1000)
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> bool(((y - forecasts) ** 2).mean() < 0.1 * y.var())
    True
    >>> len(model.components_) < 30
    True
    """

    _parameter_constraints = {
        **KERNEL_CONSTRAINTS,
        "mu": [Interval(Real, 0, None, closed="neither")],
        "radius": [Interval(Real, 0, None, closed="neither")],
        "y_bound": [Interval(Real, 0, None, closed="neither"), None],
        **_ALD_CONSTRAINTS,
    }
    _structural = (*KERNEL_STRUCTURE, "mu")

    def __init__(
        self,
        kernel="rbf",
        gamma=None,
        *,
        degree=3,
        coef0=1.0,
        mu=1.0,
        radius=1.0,
        y_bound=None,
        novelty=None,
        horizon=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.mu = mu
        self.radius = radius
        self.y_bound = y_bound
        self.novelty = novelty
        self.horizon = horizon

    def _rule(self):
        return _ALD(_threshold(self))

    def _newton(self):
        U, Y = self.radius, self.radius if self.y_bound is None else self.y_bound
        return ONSRegressor(self.mu, radius=U, curvature=0.25 / (U * U + Y * Y))

    def _admit(self, rows, i):
        rows.learn(i)
        rows.project(i)  # eq. (12)
        if rows.grow(i):
            rows.carry()


class _ALD(EntryRule):
    """Who enters: rows that are not approximately linearly dependent on the dictionary."""

    def __init__(self, novelty):
        self.novelty = novelty

    def first(self, kernel, state, rows, low, drawn):
        """Return the first of the rows from `low` on that is novel, or their number."""
        X, distances = rows.X[low:], rows.distances[low:]
        return low + first_novel(kernel, rows.basis, X, distances, self.novelty)


class AOGDALDRegressor(OnlineRegressor):
    r"""AOGD-ALD: gradient steps on a dictionary of rows that earlier ones do not nearly span.

    Round t forecasts :math:`\hat y_t = f_t(x_t)` and steps in the RKHS H of the kernel, in a ball
    (eq. (2), (3), (6) of [1]_),

    .. math:: \bar f_{t+1} = f_t - \eta_t \hat\nabla_t , \qquad
              f_{t+1} = \min\{1, U / \|\bar f_{t+1}\|_H\} \bar f_{t+1} , \qquad
              \eta_t = \frac{U}{\sqrt{1 + \sum_{s \le t} \|\hat\nabla_s\|_H^2}} .

    The gradient is :math:`\hat\nabla_t = 2 (\hat y_t - y_t) P k(x_t, \cdot)`, with P the projection
    onto the span of a dictionary. A row whose kernel function is farther from the span than a
    threshold, :math:`\alpha_t > \alpha` in squared distance, joins the dictionary first, so that
    its gradient is exact.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        The kernel, by its name, as an object or as a callable, which gets two arrays of rows and
        returns their matrix, see :mod:`sklearn_okl.kernels`.
    gamma : float, default=None
        Inverse length scale of the kernel, squared for ``"rbf"``; for ``"poly"`` the factor of the
        inner product. None is ``1 / n_features``, or the gamma of an object that has one. A
        callable takes none.
    degree : int, default=3
        Degree of ``"poly"``, >= 1. Other kernels do not read it.
    coef0 : float, default=1.0
        Constant of ``"poly"``, >= 0. Other kernels do not read it.
    radius : float, default=2.0
        U > 0, radius of the ball of H that f stays in, in units of the targets, to which the steps
        are proportional. The default is the paper's for targets in [0, 1] and short for
        standardised ones: on the 200 rows of scikit-learn's check 6 raises R² from 0.47 to 0.84, on
        2000 of :func:`sklearn_okl.datasets.make_friedman_stream`, forecast one by one, from 0.44 to
        0.76.
    novelty : float, default=None
        Threshold :math:`\alpha` > 0 in units of k(x, x), which is 1 for all kernels but ``"poly"``
        and callables. None takes 25 / `horizon`, the paper's setting, and 0.01 without a horizon. A
        change in mid-stream holds for the next rows.
    horizon : int, default=None
        Number T of rows to come, read where `novelty` or `budget` is None. Below 50 rows the
        threshold stays at 1/2, so that a first row of size 1 enters.
    budget : int, default=None
        :math:`B_0` >= 0, size of the dictionary from which on the novelty of rows is no longer
        asked for, see Notes. None is the paper's :math:`\lfloor (\sqrt{d^2 + 4 d T} - d) / 2
        \rfloor` for d features where the `horizon` is given, and no budget without one.

    Attributes
    ----------
    components_ : ndarray of shape (J, n_features)
        The dictionary, and every row met after it had reached its budget.
    dual_coef_ : ndarray of shape (J,)
        Their coefficients.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    NONSALDRegressor : Second order on the same dictionary, better in practice.
    KOGDRegressor : The same steps with exact gradients, and every row kept.

    Notes
    -----
    *Cost.* :math:`O(d J + J^2)` per round for a dictionary of J rows. Up to 64 rows meet it in one
    product; the steps among themselves go row by row on the matrix of their inner products, which
    is exact. The coordinates are those in the growing Cholesky basis of the dictionary, in which a
    gradient is a vector and its norm that of the vector.

    *Budget.* `budget` does not bound the memory, quite the contrary: it ends the dictionary. Once
    that holds :math:`B_0` rows its test, :math:`O(d B_0 + B_0^2)`, costs as much as an exact step
    at the end of T rounds, :math:`O(d T)`, and from then on the algorithm is
    :class:`KOGDRegressor`: every row is kept, with its exact gradient, and costs :math:`O(d t)`.
    So it keeps the regret of exact gradients where the dictionary would not pay. For a model that
    never keeps all rows leave out the `horizon` and give `novelty`: on bounded rows the dictionary
    then stops growing by itself, as its rows are :math:`\sqrt\alpha` apart in H.

    *Theorem.* With :math:`L_T` the model's own cumulative loss and k(x, x) = 1 the regret against
    any f with :math:`\|f\|_H \le U` is at most

    .. math:: 2 U \sqrt{1 + 4 L_T} + 2 U \sqrt{L_T} + 4 U \sqrt{\alpha T L_T} ,

    hence with :math:`\alpha = 1 / T` of the order of :math:`U \sqrt{L(f)} + U + U^2` for the
    rival's loss L(f), Theorem 3.2. Its proof has 3/2 for the first 2; functions of the ball are up
    to 2 U apart, which gives 2.

    *Departures.* Rows are admitted whatever their gradient, as in the listing; the text asks for
    one that is not 0. Rows that lie in the span up to 1e-10 of k(x, x) never enter before the
    budget is reached.

    References
    ----------
    .. [1] J. Li, S. Liao, "Nearly optimal algorithms with sublinear computational complexity for
       online kernel regression", International Conference on Machine Learning, 2023, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import AOGDALDRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(1000, 2))
    >>> y = np.sin(3 * X[:, 0]) * X[:, 1]
    >>> model = AOGDALDRegressor("rbf", 1.0, horizon=1000)
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> bool(((y - forecasts) ** 2).mean() < 0.5 * y.var())
    True
    >>> len(model.components_) < 30
    True
    """

    _parameter_constraints = {
        **KERNEL_CONSTRAINTS,
        "radius": [Interval(Real, 0, None, closed="neither")],
        **_ALD_CONSTRAINTS,
        "budget": [Interval(Integral, 0, None, closed="left"), None],
    }
    _poor_score = True  # the default radius, and with it the steps, are for targets in [0, 1]
    _structural = KERNEL_STRUCTURE

    def __init__(
        self,
        kernel="rbf",
        gamma=None,
        *,
        degree=3,
        coef0=1.0,
        radius=2.0,
        novelty=None,
        horizon=None,
        budget=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.radius = radius
        self.novelty = novelty
        self.horizon = horizon
        self.budget = budget

    @property
    def components_(self):
        """The rows whose kernel functions span the hypotheses, of shape (J, n_features)."""
        state = self._fitted_state("components_")
        return (state["exact"]["rows"] if state["exact"] else state["basis"]["atoms"]).copy()

    @property
    def dual_coef_(self):
        """Coefficient of each kernel function, of shape (J,)."""
        state = self._fitted_state("dual_coef_")
        return (
            state["exact"]["coef"].copy()
            if state["exact"]
            else dual(state["basis"], state["theta"])
        )

    def _validate(self):
        super()._validate()
        kernel_of(self)

    def _start(self, n_features, n_targets=None):
        return {
            "t": 0,
            "basis": start_basis(n_features),
            "theta": np.empty(0),  # f in its coordinates
            "gradients_sq": np.zeros(()),  # sum of the squared norms of all gradients
            "exact": {},  # the state of KOGDRegressor, once the budget is reached
        }

    def _learn(self, state, X, y):
        kernel, novelty, budget = kernel_of(self), _threshold(self), self._budget(X.shape[1])
        forecasts = np.empty(len(y))
        low = 0
        while low < len(y):
            if state["exact"] or len(state["basis"]["atoms"]) >= budget:
                forecasts[low:] = self._learn_exactly(state, X[low:], y[low:])
                break
            # Blocks end where the stream's own count is a multiple of their length, so that most
            # ways of cutting a stream lead through the very same blocks.
            block = slice(low, low + _BLOCK - state["t"] % _BLOCK)
            Phi = _admitted(kernel, state["basis"], X[block], novelty, budget)
            block = slice(low, low + len(Phi))
            forecasts[block] = self._descend(state, Phi, y[block])
            low += len(Phi)
        return forecasts

    def _descend(self, state, Phi, y):
        """Step along rows whose gradients have the directions Phi (n, J); return forecasts."""
        theta = np.zeros(Phi.shape[1])
        theta[: len(state["theta"])] = state["theta"]
        forecasts, coef, left, gradients_sq = descend_in_ball(
            Phi @ Phi.T, Phi @ theta, y, self.radius, theta @ theta, float(state["gradients_sq"])
        )
        state["theta"] = left * theta + coef @ Phi
        state["gradients_sq"] = np.array(gradients_sq)
        state["t"] += len(y)
        return forecasts

    def _learn_exactly(self, state, X, y):
        if not state["exact"]:
            theta, atoms = state["theta"], state["basis"]["atoms"]
            state["exact"] = {
                "t": len(atoms),
                "rows": atoms,
                "coef": dual(state["basis"], state["theta"]),
                "norm_sq": float(theta @ theta),
                "gradients_sq": float(state["gradients_sq"]),
            }
        forecasts = self._kogd()._learn(state["exact"], X, y)
        state["gradients_sq"] = np.array(state["exact"]["gradients_sq"])  # seen to be finite
        state["t"] += len(y)
        return forecasts

    def _forecast(self, state, X):
        if state["exact"]:
            return self._kogd()._forecast(state["exact"], X)
        kernel, forecasts = kernel_of(self), np.empty(len(X))
        for block in gen_batches(len(X), _BLOCK):
            Phi, _ = coordinates(kernel, state["basis"], X[block])
            forecasts[block] = Phi @ state["theta"]
        return forecasts

    def _kogd(self):
        settings = {name: getattr(self, name) for name in KERNEL_STRUCTURE}
        return KOGDRegressor(**settings, radius=self.radius, adaptive=True)

    def _budget(self, d):
        if self.budget is not None:
            return self.budget
        if self.horizon is None:
            return np.inf
        return (isqrt(d * d + 4 * d * int(self.horizon)) - d) // 2


def _threshold(estimator):
    """Return the squared distance from which on a row is novel."""
    if estimator.novelty is not None:
        return estimator.novelty
    return 0.01 if estimator.horizon is None else min(25.0 / estimator.horizon, 0.5)


def _admitted(kernel, basis, X, novelty, budget):
    """Let the novel rows of a block in, until the basis is as large as the budget.

    Returns
    -------
    Phi : ndarray of shape (m, J)
        Coordinates of the rows up to the one that reached the budget, each in the basis as it was
        in its round: later ones are 0.
    """
    n = len(X)
    Phi, distances = coordinates(kernel, basis, X)
    i = 0
    while len(basis["atoms"]) < budget:
        i += first_novel(kernel, basis, X[i:], distances[i:], novelty)
        if i == n:
            return Phi
        row = grow_basis(kernel, basis, X[i])
        added = kernel(X[i:], X[i : i + 1])[:, 0] - Phi[i:] @ row[:-1]
        added /= basis["factor"][-1, -1]
        Phi = np.column_stack([Phi, np.concatenate([np.zeros(i), added])])
        distances[i:] -= added**2
        i += 1
    return Phi[:i]


def descend_in_ball(gram, before, y, radius, norm_sq, gradients_sq):
    """Descend the square loss row by row in a ball, with adaptive steps, on inner products only.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Inner products of the rows' features.
    before : ndarray of shape (n,)
        Forecasts by the function before the block.
    y : ndarray of shape (n,)
    radius : float
    norm_sq, gradients_sq : float
        Squared norm of the function before the block, sum of all squared gradients' norms.

    Returns
    -------
    forecasts : ndarray of shape (n,)
    coef : ndarray of shape (n,)
        What the block adds to the function, in terms of its rows' features.
    left : float
        What is left of the function before the block.
    gradients_sq : float
    """
    forecasts, coef, left = np.empty(len(y)), np.zeros(len(y)), 1.0  # coef before the shrinking
    rounds = zip(y.tolist(), before.tolist(), np.diagonal(gram).tolist(), strict=True)
    for t, (target, start, size) in enumerate(rounds):
        forecasts[t] = forecast = left * (start + float(gram[t, :t].dot(coef[:t])))
        slope = 2.0 * (forecast - target)
        gradients_sq += slope * slope * size
        step = -radius * slope / sqrt(1.0 + gradients_sq)
        coef[t] = step / left
        norm_sq = max(norm_sq + step * (2.0 * forecast + step * size), 0.0)
        if norm_sq > radius * radius:
            # at most halves what is left, as no step is longer than the radius
            left *= radius / sqrt(norm_sq)  # eq. (3)
            norm_sq = radius * radius
    return forecasts, left * coef, left, gradients_sq
