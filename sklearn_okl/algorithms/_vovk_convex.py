r"""D. B. Rokhlin, O. V. Gurtovaya, "Random feature-based double Vovk-Azoury-Warmuth algorithm".

The paper's rivals of VAW² (2025, section 4), and VAW-EWA of its Theorem 3: the same experts, their
forecasts clipped to the range of the targets and averaged with weights from the simplex.
"""

from __future__ import annotations

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Seed
from ..aggregators import (
    AARegressor,
    BOARegressor,
    EWARegressor,
    MLPolyRegressor,
    MLProdRegressor,
)
from ._vaw_experts import VAWExperts


class _WithRate(VAWExperts):
    """Base: clipped experts, and a rule with one rate, made from the range of the targets.

    Parameters
    ----------
    y_range : tuple of (float, float), default=None
        Range (lo, hi) of the targets, to which the experts' forecasts are clipped; a rule with one
        rate, `eta`, makes it from this range too. None: the range of the targets seen before the
        round, with which the theorem is lost.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Weights of the experts for the next round: not negative, of sum one.

    Notes
    -----
    *Experts.* Each kernel of a dictionary gets random Fourier features and a :class:`VAWRegressor`
    on them, whose forecasts are clipped to the range of the targets (eq. (3.25) of [1]_).
    """

    _parameter_constraints = {
        **VAWExperts._parameter_constraints,
        "eta": EWARegressor._parameter_constraints["eta"],
    }

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        alpha: float = 1.0,
        forecaster: str = "vaw",
        forgetting: float = 1.0,
        y_range: Any = None,
        eta: float | None = None,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            kernels,
            n_components=n_components,
            alpha=alpha,
            forecaster=forecaster,
            forgetting=forgetting,
            y_range=y_range,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.eta = eta


@inherit_documentation
class VAWEWARegressor(_WithRate):
    r"""VAW-EWA: exponentially weighted average of one clipped VAW forecaster per kernel.

    :class:`~sklearn_okl.EWARegressor` takes the mean of the experts' clipped forecasts, with
    weights that fall exponentially with the losses.

    Parameters
    ----------
    eta : float, "decreasing" or None, default=None
        Learning rate of the weights, in units of one over the squared unit of y. None is theory's
        :math:`1 / (2 (hi - lo)^2)`, the paper's :math:`1 / (8 Y^2)`; ``"decreasing"`` is
        :math:`\sqrt{8 \ln K / t} / (hi - lo)^2`; a number is used as it is.

    See Also
    --------
    VAWAARegressor : The same weights at four times the rate.
    VAW2Regressor : Weights of either sign and any sum.
    sklearn_okl.EWARegressor : The combination alone.

    Notes
    -----
    *Experts.*

    *Cost.* :math:`O(K D^2)` per round for K kernels with D features, all of it the experts'; the
    combination takes O(K).

    *Theorem.* Theorem 3 of [1]_: with phase features, ``y_range=(-Y, Y)`` that holds all targets
    and `eta` None, the expected loss exceeds that of any function f of the RKHS of any kernel by at
    most (eq. (3.27), without its factors 1/2)

    .. math:: 8 Y^2 \ln K + \Bigl( \alpha + \frac{2 T}{D} \Bigr) \|f\|^2
              + D Y^2 \ln\Bigl( 1 + \frac{2 T}{\alpha D} \Bigr) ,

    which is :func:`sklearn_okl.evaluation.vaw_ewa_loss_bound`. For a range that is not symmetric
    about 0 the first term is :math:`2 (hi - lo)^2 \ln K`, and Y in the last one bounds
    :math:`|y|`. It needs ``forecaster="vaw"``, ``forgetting=1`` and frequencies drawn at random.

    *Departures.* In eq. (3.25A) the weights of a round are printed with the losses of that round;
    the round before is meant, and used. The published code combines online ridge regressions,
    ``forecaster="ridge"``, with ``y_range=(0, 1)`` and so with the rate 1/2, and forecasts 0 in the
    first round, where here the mean of the clipped experts is forecast. Features here are divided
    by the root of their number, so that the theorem's lambda is `alpha` times `n_components`.

    References
    ----------
    .. [1] Rokhlin & Gurtovaya 2025, Theorem 3, eq. (3.25), (3.25A), (3.27).
    .. [2] Cesa-Bianchi & Lugosi 2006, Proposition 3.1.

    Examples
    --------
    >>> from sklearn_okl import VAWEWARegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> grid = {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]}
    >>> model = VAWEWARegressor(grid, n_components=20, y_range=(-5, 5), random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    >>> model.weights_.shape, float(model.weights_.sum().round(6))
    ((3,), 1.0)
    """

    _test_parameters = ({}, {"y_range": (-4, 4), "n_jobs": 2})

    def _rule(self):
        return EWARegressor(self.eta, y_range=self.y_range)


@inherit_documentation
@explained_by(VAWEWARegressor)
class VAWAARegressor(_WithRate):
    r"""VAW-Aggr: Vovk's aggregating algorithm over one clipped VAW forecaster per kernel.

    :class:`~sklearn_okl.AARegressor` combines the experts' clipped forecasts at the rate of the
    square loss's mixability, four times what a weighted mean can bear.

    Parameters
    ----------
    eta : float, default=None
        Learning rate of the weights, > 0, in units of one over the squared unit of y. None is
        theory's :math:`2 / (hi - lo)^2`.

    See Also
    --------
    VAWEWARegressor : Weighted means, at a quarter of the rate.
    VAW2Regressor : Weights of either sign and any sum.
    sklearn_okl.AARegressor : The combination alone.

    Notes
    -----
    *Experts.*

    *Cost.*

    *Theorem.* Proposition 3.2 of [2]_ in the proof of Theorem 3 of [1]_: with phase features,
    ``y_range=(-Y, Y)`` that holds all targets and `eta` None, the expected loss exceeds that of any
    function f of the RKHS of any kernel by at most

    .. math:: 2 Y^2 \ln K + \Bigl( \alpha + \frac{2 T}{D} \Bigr) \|f\|^2
              + D Y^2 \ln\Bigl( 1 + \frac{2 T}{\alpha D} \Bigr) ,

    which is :math:`6 Y^2 \ln K` less than :func:`sklearn_okl.evaluation.vaw_ewa_loss_bound`. For a
    range that is not symmetric about 0 the first term is :math:`\tfrac12 (hi - lo)^2 \ln K`. It
    needs ``forecaster="vaw"`` and ``forgetting=1``.

    *Departures.* The published code combines online ridge regressions, ``forecaster="ridge"``, with
    ``y_range=(0, 1)`` and so with the rate 2, and forecasts 0 in the first round, where here the
    substitution value of the clipped experts is forecast.

    References
    ----------
    .. [1] Rokhlin & Gurtovaya 2025, section 4, VAW-Aggr, and the proof of Theorem 3.
    .. [2] Cesa-Bianchi & Lugosi 2006, Proposition 3.2 and section 3.6.

    Examples
    --------
    >>> from sklearn_okl import VAWAARegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> grid = {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]}
    >>> model = VAWAARegressor(grid, n_components=20, y_range=(-5, 5), random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    >>> bool(abs(model.predict(100 * X)).max() <= 5)
    True
    """

    _parameter_constraints = {
        **_WithRate._parameter_constraints,
        "eta": AARegressor._parameter_constraints["eta"],
    }

    def _rule(self):
        return AARegressor(self.eta, y_range=self.y_range)


@explained_by(_WithRate)
class _SecondOrderVAW(VAWExperts):
    """Base: clipped experts, and a rule with a rate for each, fitted to its regrets.

    Parameters
    ----------
    y_range : tuple of (float, float), default=None
    gradient_trick : bool, default=True
        Whether to replace the square loss by its tangent at the forecast. Then the regret is small
        against the best fixed *convex combination* of the experts; False, which the published
        experiments use, pursues the best single one.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)

    Notes
    -----
    *Experts.*
    """

    _parameter_constraints = {
        **VAWExperts._parameter_constraints,
        "gradient_trick": BOARegressor._parameter_constraints["gradient_trick"],
        "initial_rate": BOARegressor._parameter_constraints["initial_rate"],
    }
    _structural = ("gradient_trick", "initial_rate")

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        alpha: float = 1.0,
        forecaster: str = "vaw",
        forgetting: float = 1.0,
        y_range: Any = None,
        gradient_trick: bool = True,
        initial_rate: float | None = None,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            kernels,
            n_components=n_components,
            alpha=alpha,
            forecaster=forecaster,
            forgetting=forgetting,
            y_range=y_range,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.gradient_trick = gradient_trick
        self.initial_rate = initial_rate


@inherit_documentation
@explained_by(VAWEWARegressor)
class VAWBOARegressor(_SecondOrderVAW):
    r"""VAW-BOA: Bernstein online aggregation of one clipped VAW forecaster per kernel.

    :class:`~sklearn_okl.BOARegressor` takes the mean of the experts' clipped forecasts, with
    exponential weights that punish variance, at a rate of its own for each.

    Parameters
    ----------
    initial_rate : float, default=None
        Where the sums of squared regrets and the largest regrets start, > 0. None: at 0, which
        fits the rule to targets of any scale.

    See Also
    --------
    VAWMLPolyRegressor : Polynomial weights; drops experts entirely.
    VAWMLProdRegressor : Products instead of exponentials.
    VAW2Regressor : Weights of either sign and any sum.
    sklearn_okl.BOARegressor : The combination alone.

    Notes
    -----
    *Experts.*

    *Cost.*

    *Theorem.* None in [1]_; two together. While the targets lie in `y_range`, clipping makes no
    expert worse, so that each stays within :func:`sklearn_okl.evaluation.vaw_regret_bound` of the
    best function of its features (``forecaster="vaw"``, ``forgetting=1``). The combination stays
    close to every expert, as is said next, where :math:`r_{k,t}` is its loss less that of expert k
    (of the tangents, with the gradient trick).

    *Distance from the experts.* Up to a factor that grows with :math:`\ln \ln T`
    (Theorem 3.3 of [2]_),

    .. math:: \sum_t r_{k,t} \lesssim \sqrt{\ln K \sum_t r_{k,t}^2} + \ln K \max_t |r_{k,t}| .

    *Departures.* The published tables are those of ``forecaster="ridge"``,
    ``gradient_trick=False``, ``initial_rate=2**-20`` and ``y_range=(0, 1)``, on targets scaled to
    that range. The rule itself is that of the package ``opera`` [3]_, see the page of the
    combination alone.

    References
    ----------
    .. [1] Rokhlin & Gurtovaya 2025, section 4, VAW-BOA.
    .. [2] Wintenberger 2017, Theorem 3.3.
    .. [3] Gaillard & Goude.

    Examples
    --------
    >>> from sklearn_okl import VAWBOARegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> grid = {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]}
    >>> model = VAWBOARegressor(grid, n_components=20, random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    >>> model.weights_.shape, float(model.weights_.sum().round(6))
    ((3,), 1.0)
    """

    _test_parameters = ({}, {"gradient_trick": False, "forecaster": "ridge"})

    def _rule(self):
        return BOARegressor(gradient_trick=self.gradient_trick, initial_rate=self.initial_rate)


@inherit_documentation
@explained_by(VAWBOARegressor)
class VAWMLPolyRegressor(_SecondOrderVAW):
    r"""VAW-ML-Poly: polynomial weights over one clipped VAW forecaster per kernel.

    :class:`~sklearn_okl.MLPolyRegressor` takes the mean of the experts' clipped forecasts, with
    weights in proportion to their positive regrets, at a rate of its own for each.

    Parameters
    ----------
    initial_rate : float, default=None
        Start of the rates and of the largest squared regret, > 0. None: 1, the theorem's, made
        for regrets within [-1, 1].

    See Also
    --------
    VAWBOARegressor : Exponential weights, the better bound for many kernels.
    VAWMLProdRegressor : Products, with the same bound as exponentials.
    VAW2Regressor : Weights of either sign and any sum.
    sklearn_okl.MLPolyRegressor : The combination alone.

    Notes
    -----
    *Experts.*

    *Cost.*

    *Theorem.*

    *Distance from the experts.* For regrets within [-1, 1] and up to a factor that
    grows with :math:`\ln T` inside the root (Theorem 5 of [2]_),

    .. math:: \sum_t r_{k,t} \lesssim \sqrt{K (1 + \sum_t r_{k,t}^2)} .

    *Departures.*

    References
    ----------
    .. [1] Rokhlin & Gurtovaya 2025, section 4, VAW-ML-Poly.
    .. [2] Gaillard et al. 2014, ML-Poly, Theorem 5.
    .. [3] Gaillard & Goude.

    Examples
    --------
    >>> from sklearn_okl import VAWMLPolyRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> grid = {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]}
    >>> model = VAWMLPolyRegressor(grid, n_components=20, random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    >>> model.weights_.shape, float(model.weights_.sum().round(6))
    ((3,), 1.0)
    """

    def _rule(self):
        return MLPolyRegressor(gradient_trick=self.gradient_trick, initial_rate=self.initial_rate)


@inherit_documentation
@explained_by(VAWMLPolyRegressor, VAWBOARegressor)
class VAWMLProdRegressor(_SecondOrderVAW):
    r"""VAW-ML-Prod: product weights over one clipped VAW forecaster per kernel.

    :class:`~sklearn_okl.MLProdRegressor` takes the mean of the experts' clipped forecasts, with
    weights that are products of one plus rate times regret, at a rate of its own for each.

    Parameters
    ----------
    initial_rate : float, default=None
        Start of the sums of squared regrets and of the largest regrets, > 0. None: 1, the
        theorem's, made for losses between 0 and 1. For regrets of a size r far below 1, as those of
        targets of some thousandths, the rates are too low for :math:`1 / r^2` rounds: a start of
        about :math:`r^2` is better, or another unit of the targets.

    See Also
    --------
    VAWBOARegressor : Exponentials instead of products.
    VAWMLPolyRegressor : Polynomial weights; drops experts entirely.
    VAW2Regressor : Weights of either sign and any sum.
    sklearn_okl.MLProdRegressor : The combination alone.

    Notes
    -----
    *Experts.*

    *Cost.*

    *Theorem.*

    *Distance from the experts.* For losses in [0, 1] and with constants of the order
    of :math:`\ln \ln T` (Corollary 4 of [2]_),

    .. math:: \sum_t r_{k,t} \le C_1 \sqrt{\ln K \, (1 + \sum_t r_{k,t}^2)} + C_2 .

    *Departures.*

    References
    ----------
    .. [1] Rokhlin & Gurtovaya 2025, section 4, VAW-ML-Prod.
    .. [2] Gaillard et al. 2014, ML-Prod with adaptive rates, Corollary 4.
    .. [3] Gaillard & Goude.

    Examples
    --------
    >>> from sklearn_okl import VAWMLProdRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> grid = {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]}
    >>> model = VAWMLProdRegressor(grid, n_components=20, random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    >>> model.weights_.shape, float(model.weights_.sum().round(6))
    ((3,), 1.0)
    """

    _test_parameters = ({}, {"forgetting": 0.99})

    def _rule(self):
        return MLProdRegressor(gradient_trick=self.gradient_trick, initial_rate=self.initial_rate)
