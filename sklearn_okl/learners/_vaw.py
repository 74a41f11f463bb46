"""The Vovk-Azoury-Warmuth forecaster and online ridge regression."""

from .._documentation import inherit_documentation
from ..base._intercept import WithIntercept
from ._ridge import RidgeRecursion


@inherit_documentation
class VAWRegressor(RidgeRecursion):
    r"""Vovk-Azoury-Warmuth forecaster: online least squares that counts the row it forecasts.

    Before the target of round t is seen, with :math:`S_t = \alpha I + \sum_{i \le t} z_i z_i^T`
    and :math:`b_{t-1} = \sum_{i < t} y_i z_i`, it forecasts [1]_ [2]_

    .. math:: \hat y_t = b_{t-1}^T S_t^{-1} z_t .

    Online ridge regression is the same with :math:`S_{t-1}`; the row's own leverage in
    :math:`S_t` draws forecasts for unusual rows towards zero, and that alone turns a regret that
    grows with the size of the comparator's errors into one that does not.

    Parameters
    ----------
    alpha : float, default=1.0
        Ridge penalty, > 0, in squared units of the features (the papers' lambda).
    forecaster : {"vaw", "ridge"}, default="vaw"
        ``"vaw"`` is the algorithm with the theorem; ``"ridge"`` forecasts with
        :math:`S_{t-1}`, which is what the published VAW² experiments run.
    forgetting : float, default=1.0
        Factor in (0, 1] by which the past is discounted each round:
        :math:`S_t = \gamma S_{t-1} + z_t z_t^T`, :math:`b_t = \gamma b_{t-1} + y_t z_t`. The
        memory is about ``1 / (1 - forgetting)`` rounds; 1 forgets nothing.

    See Also
    --------
    sklearn_okl.VAW2Regressor : VAW on random features of many kernels, and VAW on top.
    sklearn_okl.ConcatenatedVAWRegressor : One VAW on all those features together.

    Notes
    -----
    *Cost.* :math:`O(D^2)` per round for D features. Rows are learnt in blocks of 32 by matrix
    products, which is exact: the numbers are those of the one-row recursion up to rounding.

    *Theorem.* For targets with :math:`|y| \le Y` and :math:`\|z\| \le \rho`, against any w
    (eq. 2.5 of [3]_, here without its factors 1/2),

    .. math:: \sum_t (\hat y_t - y_t)^2 - \sum_t (w^T z_t - y_t)^2
              \le \alpha \|w\|^2 + D Y^2 \ln(1 + \rho^2 T / (\alpha D)) .

    See :func:`sklearn_okl.evaluation.vaw_regret_bound`. It holds for ``forecaster="vaw"`` and
    ``forgetting=1``.

    *Forgetting.* In the forecast both the past's terms are discounted, so that it minimises
    :math:`\gamma \sum_{i<t} \gamma^{t-1-i} (w^T z_i - y_i)^2 + (w^T z_t)^2` plus the ridge. Every
    64 rounds of the stream's own count the ridge lost meanwhile, :math:`(1 - \gamma^{64}) \alpha
    I`, is put back, which bounds the wind-up when the features stop exciting some direction. Below
    ``forgetting=0.7`` less than 1e-10 of the ridge would be left by then, too little to compute
    with, and it is put back after fewer rounds, ``floor(-10 / log10(forgetting))``.

    *Sample weights* enter the update only: the forecast is that of an unweighted row, and a row of
    integer weight k leaves the state of k equal rows. A weight of 0 forecasts without learning.

    *Numerics.* P, the inverse of S, is updated block by block and rebuilt, by Cholesky, from the
    exact sums at round 64 and every 4096 rounds, and after a row that shrinks P by
    more than 1e5. Where rows are so large that their sums would lose the ridge, a row that shrinks
    P by more than 1e9 or columns that are nearly collinear, the model goes by a triangular root of
    the sums, row by row, until these know P again: forecasts are exact to the rounding of the rows
    themselves, and take ten times as long. It can neither be merged nor unlearn meanwhile.

    *Features* are taken as they come: scale them to moderate size. Without ``fit_intercept`` a
    constant is expressed only where the features can: a mean of the errors that outweighs all else,
    within the first 1024 rows, is warned of, once.

    References
    ----------
    .. [1] V. Vovk, "Competitive on-line statistics", International Statistical Review 69(2), 2001.
    .. [2] K. S. Azoury, M. K. Warmuth, "Relative loss bounds for on-line density estimation with
       the exponential family of distributions", Machine Learning 43(3), 2001.
    .. [3] Rokhlin & Gurtovaya 2025, eq. (2.4A), (2.4B), (2.5).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import VAWRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X @ [1.0, -2.0, 0.5]
    >>> model = VAWRegressor()
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> float(forecasts[0])
    0.0
    >>> model.coef_.round(1)
    array([ 1. , -2. ,  0.5])

    Targets that are not centred want an intercept:

    >>> model = VAWRegressor(fit_intercept=True).fit(X, y + 50.0)
    >>> round(model.intercept_)
    50
    """

    _test_parameters = ({}, {"forecaster": "ridge"}, {"forgetting": 0.98})

    _parameter_constraints = {
        **RidgeRecursion._parameter_constraints,
        **WithIntercept._parameter_constraints,
    }
    _structural = ("alpha",)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        forecaster: str = "vaw",
        forgetting: float = 1.0,
        fit_intercept: bool = False,
    ) -> None:
        self.alpha = alpha
        self.forecaster = forecaster
        self.forgetting = forgetting
        self.fit_intercept = fit_intercept
