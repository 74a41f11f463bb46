"""A certificate of regret beside a model's forecasts, exact in every round."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils import Bunch
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import has_fit_parameter

from .._documentation import inherit_documentation
from .._types import Any
from .._validation import weights_of
from ..base import (
    ConvexAggregator,
    WeightedRegressor,
    _copied,
    described_structure,
)
from ..learners import VAWRegressor


@inherit_documentation
class CertifiedRegressor(WeightedRegressor):
    r"""A regressor, and what its forecasts lost to the best in hindsight: known, not bounded.

    Theorems bound the regret of any stream. What it has been on this one can be counted on the way,
    at no cost that grows: :meth:`regret_certificate` says how far the forecasts are behind every
    linear function, every expert, or every mixture of experts.

    Parameters
    ----------
    regressor : online regressor, default=None
        One with a ridge or with experts: :class:`VAWRegressor`, :class:`ConcatenatedVAWRegressor`,
        :class:`VAW2Regressor` and others of many kernels, all with ``forgetting=1``; or an
        aggregator with weights from the simplex, such as :class:`BOARegressor`,
        :class:`MLPolyRegressor` or :class:`MLProdRegressor`. None is :class:`VAWRegressor`.

    Attributes
    ----------
    regressor_ : regressor
        What the regressor has become, a copy.

    See Also
    --------
    sklearn_okl.evaluation.RegretCurveDisplay : Draws certificates over the rounds.
    sklearn_okl.evaluation.vaw_logdet_bound : What a certificate of VAW can be at most.
    sklearn_okl.evaluation.regret : Regret against forecasts that are there.

    Notes
    -----
    *Cost.* That of the regressor, and O(1) a round for a learner on features, O(K) for K experts:
    one sum of losses, or two sums of regrets an expert. It is a wrapper since the sum would cost
    each row of a :class:`VAWRegressor` 2 %, and each of the K learners of a bank would keep one
    that nobody asks for.

    *Theorem.* With the ridge forecast :math:`f_t` and the leverage :math:`g_t = z_t^T S_{t-1}^{-1}
    z_t` the least loss of a linear function, ridge included, grows by (eq. 11.23 and Lemma 11.9 of
    [1]_; [2]_)

    .. math:: \min_u \Bigl( \sum_{s \le t} (y_s - u^T z_s)^2 + \alpha \|u\|^2 \Bigr)
              = \sum_{s \le t} \frac{(y_s - f_s)^2}{1 + g_s} .

    The loss of the forecasts less this is C, and against every u at once the regret is at most
    :math:`C + \alpha \|u\|^2`, with equality at the ridge solution `coef_`. Against experts the sum
    of regrets is what it is; against every mixture of them with fixed weights the sum of
    :math:`\ell'(\hat y_t) (\hat y_t - f_{k,t})`, the largest over k, is a bound, as losses are
    convex.

    *Sample weights* weigh the rounds in both losses. With ``fit_intercept`` u has a coefficient of
    the column of ones, and the ridge counts it.

    *Sleeping experts* are compared in the rounds in which they were awake; mixtures are then those
    of the experts awake with the forecast itself in place of the others.

    References
    ----------
    .. [1] Cesa-Bianchi & Lugosi 2006, sections 11.7 and 11.8.
    .. [2] V. Vovk, "Competitive on-line statistics", International Statistical Review 69(2), 2001.

    Examples
    --------
    >>> from sklearn_okl import CertifiedRegressor, VAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = CertifiedRegressor(VAWRegressor(alpha=2.0)).fit(X, y)
    >>> linear = model.regret_certificate().linear
    >>> linear.alpha
    2.0
    >>> u = [0.1, 0.2, 0.3, 0.4]  # or any other
    >>> forecasts = VAWRegressor(alpha=2.0).prequential_predict(X, y)
    >>> regret = ((y - forecasts) ** 2).sum() - ((y - X @ u) ** 2).sum()
    >>> bool(regret <= linear.constant + linear.alpha * (0.1**2 + 0.2**2 + 0.3**2 + 0.4**2))
    True
    """

    _multi_output = True
    _parameter_constraints = {
        "regressor": [HasMethods(["partial_fit", "prequential_predict", "predict"]), None]
    }
    _structural = ("regressor",)

    def __init__(self, regressor: Any = None) -> None:
        self.regressor = regressor

    def regret_certificate(self) -> Bunch:
        r"""Return how far the forecasts so far are behind the best in hindsight.

        Returns
        -------
        certificate : Bunch
            - ``n_rows`` : int, rounds so far;
            - ``loss`` : float or ndarray of shape (n_targets,), the sum of the losses of the
              forecasts, each made before its target was seen;

            and, of a regressor with a ridge, against every linear function of

            - ``linear`` : its rows; of a forecaster of many kernels,
            - ``kernels`` : the features of each kernel, and ``combinations``: the forecasts of its
              experts, combined with fixed coefficients of any sign;

            each a Bunch of ``constant``, the C, and ``alpha``: the regret against u is at most
            :math:`C + \alpha \|u\|^2`. Of many kernels ``constant`` has an entry for each. And

            - ``experts`` : ndarray of shape (n_experts,), of an aggregator or a forecaster of many
              kernels, the regret against each expert, exactly;
            - ``mixtures`` : float, of an aggregator, a bound of the regret against every mixture of
              its experts with fixed weights.
        """
        state = self._fitted_state("regret_certificate")
        loss = state["loss"].copy() if state["loss"].ndim else float(state["loss"])
        told = Bunch(n_rows=state["t"], loss=loss)
        if "experts" in state:
            told.experts = state["experts"].copy()
            told.mixtures = float(state["mixtures"].max())
            return told
        inner = state["regressor"]
        for name, (least, alpha) in inner._as_taught()._hindsight(inner._state).items():
            behind = state["loss"] - least
            behind = behind if np.ndim(behind) else float(behind)
            if alpha is None:  # experts, which pay no ridge
                told[name] = behind
            else:
                told[name] = Bunch(constant=behind, alpha=alpha)
        return told

    @property
    def label_delay(self) -> int:
        """Rounds that the targets come late, by the regressor's own parameter."""
        return getattr(self.regressor, "label_delay", 0)

    @property
    def regressor_(self) -> Any:
        """What the regressor has become, copied."""
        return _copied(self._fitted_state("regressor_")["regressor"])

    @property
    def _allow_nan(self):
        return getattr(self.regressor, "_allow_nan", False)

    def _inner(self):
        return VAWRegressor() if self.regressor is None else self.regressor

    def _validate(self):
        super()._validate()
        inner = self._inner()
        if isinstance(inner, type) or not is_regressor(inner):
            raise TypeError(
                f"regressor={inner!r} is not an instance of a regressor. Give one, such as "
                "VAWRegressor()."
            )
        if not isinstance(inner, ConvexAggregator) and not hasattr(inner, "_hindsight"):
            raise TypeError(
                f"Nothing is known of the best in hindsight of {type(inner).__name__}: a "
                "certificate needs a ridge or experts. Give VAWRegressor, a forecaster of many "
                "kernels on VAW, or an aggregator such as BOARegressor."
            )
        for name, value in inner.get_params().items():
            if name.rpartition("__")[2] == "forgetting" and value < 1.0:
                raise ValueError(
                    f"{name}={value}: who forgets has no regret against one function of all rows. "
                    "Set it to 1."
                )

    def _structure(self):
        return described_structure(self)

    def _start(self, n_features, n_targets=None):
        state = {
            "t": 0,
            "regressor": clone(self._inner()),
            "loss": np.zeros(() if n_targets is None else n_targets),
        }
        if isinstance(self._inner(), ConvexAggregator):
            state |= {"experts": np.zeros(n_features), "mixtures": np.zeros(n_features)}
        return state

    def _learn(self, state, X, y, sample_weight=None):
        regressor, weights = state["regressor"], np.ones(len(y))
        given = {}
        if sample_weight is not None:
            if not has_fit_parameter(regressor, "sample_weight"):
                raise TypeError(f"{type(regressor).__name__} takes no sample_weight. Leave it out.")
            weights = weights_of(sample_weight, len(y))
            given["sample_weight"] = weights
        forecasts = regressor.prequential_predict(X, y, **given)
        if "experts" in state:
            losses, regrets, slopes = _against_experts(regressor._loss(), X, y, forecasts)
            state["experts"] = _added(state["experts"], regrets)
            state["mixtures"] = _added(state["mixtures"], slopes)
        else:
            losses = np.square(y - forecasts)
        state["loss"] = _added(state["loss"], (weights * losses.T).T)
        state["t"] += len(y)
        return forecasts

    def _forecast(self, state, X):
        return state["regressor"].predict(X)


def _against_experts(loss, X, y, forecasts):
    """Return losses (n,), and regrets (n, K) against each expert, as they are and linearised."""
    losses = loss.value(y, forecasts)
    awake = ~np.isnan(X)
    F = np.where(awake, X, forecasts[:, None])
    regrets = losses[:, None] - loss.value(y[:, None], F)
    slopes = loss.slope(y, forecasts)[:, None] * (forecasts[:, None] - F)
    return losses, np.where(awake, regrets, 0.0), slopes


def _added(total, terms):
    """Return a total and terms (n, ...), added in order: cuts do not change the rounding."""
    return np.add.accumulate(np.concatenate([total[None], terms]))[-1, ...]
