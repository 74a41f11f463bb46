"""Rules whose learning rates fit themselves to the regrets: BOA, ML-Poly and ML-Prod."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._delay import late
from .._documentation import explained_by, inherit_documentation
from .._types import Any
from ..base import ConvexAggregator
from ..base._convex import mix

_NOTHING = 2.0**-1000  # stands for 0 where a state is divided by before the first regret
_SURE = 1e-12  # least ln(1/prior): one expert alone has prior 1 and still needs a rate
_HALF = np.array(0.5)  # costs arrays less than a number does
_NEVER = -1024.0  # logarithm of a weight that counts only where there is no other


class _SecondOrder(ConvexAggregator):
    """Base: a rate for each expert, fitted to its regrets.

    Parameters
    ----------
    gradient_trick : bool, default=True
        Whether to replace the loss by its tangent at the forecast. Then the regret is small
        against the best fixed *convex combination* of the experts instead of the best single one;
        False, which the published VAW experiments use, pursues the single one only.

    Notes
    -----
    *Regrets.* :math:`r_{k,t}` is the loss of the forecast less the loss of expert k, in round t.
    Who says the same as the forecast but for rounding has none: in rates that know no unit rounding
    would tell equals apart.

    *Sleeping experts.* NaN in X: no weight and no regret in that round; the others' weights grow.
    """

    _parameter_constraints = {
        **ConvexAggregator._parameter_constraints,
        "initial_rate": [Interval(Real, 0, None, closed="neither"), None],
    }
    _structural = ("initial_rate",)

    def __init__(
        self,
        *,
        loss: Any = "squared_error",
        quantile: Any = 0.5,
        gradient_trick: bool = True,
        initial_rate: Any = None,
        prior_weights: Any = None,
        fallback: Any = None,
        label_delay: int = 0,
    ) -> None:
        super().__init__(
            loss=loss,
            quantile=quantile,
            gradient_trick=gradient_trick,
            prior_weights=prior_weights,
            fallback=fallback,
            label_delay=label_delay,
        )
        self.initial_rate = initial_rate


@inherit_documentation
class BOARegressor(_SecondOrder):
    r"""Bernstein online aggregation: exponential weights that punish variance, a rate an expert.

    With the regrets :math:`r_{k,t}` of an expert k it has the weights

    .. math:: w_{k,t} \propto \pi_k \, \eta_{k,t-1} \exp(\eta_{k,t-1} R_{k,t-1}), \qquad
              R_{k,t} = R_{k,t-1} + \tfrac12 \bigl( r_{k,t} - \eta_{k,t} r_{k,t}^2
              + E_{k,t} 1[\eta_{k,t} r_{k,t} > \tfrac12] \bigr),

    with :math:`E_{k,t}` the smallest power of two that no :math:`|r_{k,s}|` so far exceeds and
    :math:`\eta_{k,t} = \min(1 / E_{k,t}, \sqrt{\ln(1 / \pi_k) / \sum_{s \le t} r_{k,s}^2})`. There
    is nothing to tune, and the weights are fast to drop experts whose regrets are steady.

    Parameters
    ----------
    initial_rate : float, default=None
        Where sums of squared regrets and largest regrets start, > 0. None: at 0, which suits losses
        of any scale. ``2**-20`` is the start of the published package.

    See Also
    --------
    MLPolyRegressor : Polynomial weights; drops experts entirely.
    MLProdRegressor : Products instead of exponentials.
    EWARegressor : One known rate for all.

    Notes
    -----
    *Regrets.*

    *Cost.* O(K) per round for K experts, independent of the number of rounds.

    *Theorem.* Up to a factor that grows with :math:`\ln \ln T`, against every expert (Theorem 3.3
    of [1]_),

    .. math:: \sum_t r_{k,t} \lesssim \sqrt{\ln(1 / \pi_k) \sum_t r_{k,t}^2}
              + \ln(1 / \pi_k) \max_t |r_{k,t}| .

    *Experts that are far off* leave their mark on the last term: with :math:`\max_t |r_{k,t}|` the
    rates of all stay low, and good experts are told apart slowly. :class:`StackedBOARegressor`
    hears them near the range of the targets, :class:`~sklearn_okl.ExpertsRegressor` those that
    were so in the first rounds only.

    *Late targets.* With `label_delay` each :math:`r_{k,t}^2` is :math:`r_{k,t}^2 + 2 |r_{k,t}
    \sum_s r_{k,s}|` in the rates, with the sum over the rounds whose targets were out when round t
    was forecast [3]_: steady regrets are not to be answered as often as they wait.

    *Departures.* As in the package ``opera`` [2]_, whose published figures it reproduces, the
    correction raises the sum of an expert much better than the forecast, where the paper's lowers
    that of one much worse, and the rates already count the round. An expert without any regret so
    far gets the least rate of the others; there it would get nearly all weight.

    *Sleeping experts.*

    References
    ----------
    .. [1] Wintenberger 2017, the algorithm with multiple learning rates.
    .. [2] Gaillard & Goude.
    .. [3] B. McMahan, M. Streeter, "Delay-tolerant algorithms for asynchronous distributed online
       learning", Neural Information Processing Systems (NIPS), 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.aggregators import BOARegressor
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=500)
    >>> experts = y[:, None] + rng.normal(size=(500, 3)) * [0.1, 1.0, 1.0] + [0.0, 0.0, 1.0]
    >>> int(BOARegressor().fit(experts, y).weights_.argmax())
    0
    """

    _test_parameters = ({}, {"gradient_trick": False, "initial_rate": 9.5367431640625e-07})

    def _start_rule(self, log_prior):
        start = _NOTHING if self.initial_rate is None else float(self.initial_rate)
        return {
            "start": start,
            "surprises": np.maximum(-log_prior, _SURE),
            "squares": np.full(len(log_prior), start),
            "caps": 1.0 / _power_of_two(np.full(len(log_prior), start)),  # 1 / E, exact
            "rates": np.ones(len(log_prior)),
            "regrets": np.zeros(len(log_prior)),  # R
            "unheard": True,  # whether some expert has no regret yet
        }

    def _start(self, n_features, n_targets=None, late=None):
        state = super()._start(n_features, n_targets, late)
        if "past" in state:
            state["out"] = np.zeros_like(state["past"])  # regrets of the latest rounds
        return state

    def _pass(self, state, n):
        super()._pass(state, n)
        if "past" in state:
            state["out"] = late(np.zeros((n, state["out"].shape[1])), state["out"])[1]

    def _log_weights(self, state):
        rates = state["rates"]
        log_weights = np.log(rates)
        log_weights += state["log_prior"]
        log_weights += rates * state["regrets"]
        return log_weights

    def _put_rates(self, state, rates):
        """Put rates in place; who is unheard, whose regret is as good as 0, has the least of all.

        Return whether there are some of whom nobody is heard, and who stay as they were.
        """
        is_nobody = False
        if state["unheard"]:
            heard = state["squares"] > state["start"]
            state["unheard"] = not heard.item(heard.argmin())
        if state["unheard"]:
            of_heard = np.where(heard, rates, np.inf)
            least = np.minimum.reduce(of_heard, axis=-1, keepdims=True)
            is_nobody = least.item(least.argmax()) == np.inf
            if is_nobody:
                least = np.where(least == np.inf, state["rates"], least)
            np.copyto(rates, least, where=~heard)
        state["rates"] = rates
        return is_nobody

    def _update(self, state, regrets, y):
        squares, caps = state["squares"], state["caps"]
        products = regrets * regrets
        squares += products
        if "past" in state:
            out = state["out"]
            squares += 2.0 * np.abs(regrets * np.add.reduce(out, axis=0))
            out[:-1], out[-1] = out[1:], regrets
        sizes = np.abs(regrets)
        sizes *= caps
        largest = sizes.item(sizes.argmax())  # a reduction takes three times as long
        if largest > 1.0:
            new = sizes > 1.0
            caps[new] = 1.0 / _power_of_two(np.abs(regrets[new]))
        rates = _root_rates(state)
        np.minimum(rates, caps, out=rates)
        if self._put_rates(state, rates):
            largest = 1.0  # rates are no longer below the caps
        products *= rates
        change = np.subtract(regrets, products, out=products)
        if largest > 0.5:
            change += np.where(rates * regrets > 0.5, 1.0 / caps, 0.0)
        change *= _HALF
        state["regrets"] += change


@inherit_documentation
@explained_by(BOARegressor)
class MLProdRegressor(_SecondOrder):
    r"""ML-Prod: products of one plus rate times regret, a rate an expert.

    The weights are :math:`w_{k,t} \propto \pi_k \eta_{k,t-1} e^{L_{k,t-1}}`, where

    .. math:: L_{k,t} = \frac{\eta_{k,t}}{\eta_{k,t-1}} L_{k,t-1} + \ln(1 + \eta_{k,t} r_{k,t}),
              \qquad \eta_{k,t} = \min\Bigl( \frac{1}{2 B_{k,t}},
              \sqrt{\frac{\ln(1 / \pi_k)}{V_{k,t}}} \Bigr),

    :math:`V_{k,t} = V_0 + \sum_{s \le t} r_{k,s}^2` and :math:`B_{k,t} = \max(B_0, \max_{s \le t}
    |r_{k,s}|)`.

    Parameters
    ----------
    initial_rate : float, default=None
        Start :math:`V_0 = B_0` of the sums of squared regrets and of the largest regrets, > 0.
        None: 1, the theorem's, made for losses between 0 and 1. Regrets above 1 are coped with, but
        where they are of a size r far below 1, the rates are too low until the sums of squares
        have outgrown the start, for :math:`1 / r^2` rounds: one of about :math:`r^2` is better, or
        another unit of the targets. ``2**-20`` is the start of the published package.

    See Also
    --------
    BOARegressor : Exponentials instead of products.
    MLPolyRegressor : Polynomial weights, which may be 0.

    Notes
    -----
    *Regrets.*

    *Cost.*

    *Theorem.* For losses in [0, 1] and equal priors (Corollary 4 of [1]_), with constants of the
    order of :math:`\ln \ln T`, against every expert

    .. math:: \sum_t r_{k,t} \le C_1 \sqrt{\ln K \, (1 + \sum_t r_{k,t}^2)} + C_2 .

    *Adapt-ML-Prod* is this rule, in Corollary 4 of [1]_ with the weights :math:`w_{k,t} =
    (w_{k,t-1} (1 + \eta_{k,t-1} r_{k,t}))^{\eta_{k,t} / \eta_{k,t-1}}`: their logarithms are
    :math:`L` but for the departures, and equal to it once these two are undone. Forecasts differ by
    some 1e-3 of the range. There regrets are from the mean of the experts' losses, which with the
    gradient trick is the loss of the forecast.

    *Departures.* The rates that multiply a regret already count it, and :math:`\ln \pi_k` is not
    raised to the ratio of the rates, as in the package ``opera``, whose figures are reproduced.
    With a small `initial_rate`, an expert that slept from the first round on enters with a large
    rate and nearly all weight.

    *Sleeping experts.*

    References
    ----------
    .. [1] Gaillard et al. 2014, ML-Prod with adaptive rates, Theorem 3 and Corollary 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.aggregators import MLProdRegressor
    >>> rng = np.random.default_rng(0)
    >>> y = rng.uniform(size=500)
    >>> experts = np.c_[y + 0.05, rng.uniform(size=500)]  # one near, one that guesses
    >>> MLProdRegressor().fit(experts, y).weights_.round(1)
    array([1., 0.])
    """

    _test_parameters = ({}, {"loss": "absolute_error"})

    def _start_rule(self, log_prior):
        start = 1.0 if self.initial_rate is None else float(self.initial_rate)
        return {
            "surprises": np.maximum(-log_prior, _SURE),
            "squares": np.full(len(log_prior), start),  # V
            "largest": np.full(len(log_prior), start),  # B
            "rates": np.ones(len(log_prior)),
            "products": np.zeros(len(log_prior)),  # L
        }

    def _log_weights(self, state):
        log_weights = np.log(state["rates"])
        log_weights += state["log_prior"]
        log_weights += state["products"]
        return log_weights

    def _update(self, state, regrets, y):
        state["squares"] += regrets * regrets
        np.maximum(state["largest"], np.abs(regrets), out=state["largest"])
        rates = _root_rates(state)
        np.minimum(rates, 0.5 / state["largest"], out=rates)
        state["products"] *= rates / state["rates"]
        state["products"] += np.log1p(rates * regrets)
        state["rates"] = rates


@inherit_documentation
class MLPolyRegressor(_SecondOrder):
    r"""ML-Poly: weights in proportion to positive regrets, a rate an expert.

    By the sums of the regrets :math:`r_{k,t}` the weights are

    .. math:: w_{k,t} \propto \pi_k \, \eta_{k,t-1} \Bigl( \sum_{s<t} r_{k,s} \Bigr)_+, \qquad
              \frac{1}{\eta_{k,t}} = \frac{1}{\eta_0} + \sum_{s \le t} r_{k,s}^2 + B_t - B_0,

    with :math:`B_t` the largest of :math:`B_0` and all squared regrets so far. Experts that lost
    against the forecast have weight 0; where all have, the weights are the prior's.

    Parameters
    ----------
    initial_rate : float, default=None
        Start :math:`\eta_0 = B_0`, > 0. None: 1, the theorem's, which for regrets within [-1, 1]
        makes :math:`\eta_{k,t} = 1 / (1 + \sum_s r_{k,s}^2)`. ``2**-20`` is the start of the
        published package.

    See Also
    --------
    BOARegressor : Exponential weights, the better bound for many experts.
    MLProdRegressor : Products, with the same bound.

    Notes
    -----
    *Regrets.*

    *Cost.* O(K) per round for K experts, independent of the number of rounds; the cheapest of the
    second-order rules.

    *Theorem.* For regrets within [-1, 1] (Theorem 5 of [1]_), up to a factor that grows with
    :math:`\ln T` inside the root, against every expert

    .. math:: \sum_t r_{k,t} \lesssim \sqrt{K (1 + \sum_t r_{k,t}^2)} .

    *Departures.* :math:`B_t` makes the rates fit for regrets of any size, as in the package
    ``opera``, whose figures are reproduced.

    *Sleeping experts.*

    References
    ----------
    .. [1] Gaillard et al. 2014, ML-Poly, Theorem 5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.aggregators import MLPolyRegressor
    >>> rng = np.random.default_rng(0)
    >>> y = rng.uniform(size=500)
    >>> experts = np.c_[y + 0.05, rng.uniform(size=500), np.full(500, 9.0)]
    >>> MLPolyRegressor(gradient_trick=False).fit(experts, y).weights_
    array([1., 0., 0.])
    """

    _test_parameters = ({}, {"gradient_trick": False})

    def _start_rule(self, log_prior):
        start = 1.0 if self.initial_rate is None else float(self.initial_rate)
        return {
            "inverse_rates": np.full(len(log_prior), 1.0 / start),
            "largest": start,  # B
            "regrets": np.zeros(len(log_prior)),
        }

    def _log_weights(self, state):
        positive = state["regrets"] / state["inverse_rates"]
        log_weights = np.full(len(positive), _NEVER)
        np.log(positive, out=log_weights, where=positive > 0.0)
        log_weights += state["log_prior"]
        return log_weights

    def _update(self, state, regrets, y):
        state["regrets"] += regrets
        squares = regrets * regrets
        largest = max(state["largest"], float(np.maximum.reduce(squares)))
        squares += largest - state["largest"]
        state["inverse_rates"] += squares
        state["largest"] = largest


def mixed(state, F, ago):
    """Return the mean (n,) of forecasts F (n, K) under the weights of BOA some rounds ago."""
    log_weights = state["past"][-ago] if ago else _BOA._log_weights(state)
    asleep = np.isnan(F)
    return mix(log_weights, np.where(asleep, 0.0, F), asleep if asleep.any() else None)


def _root_rates(state):
    """Return sqrt(ln(1 / prior) / sum of squared regrets), (K,)."""
    rates = state["surprises"] / state["squares"]
    return np.sqrt(rates, out=rates)


def _power_of_two(sizes):
    return np.exp2(np.ceil(np.log2(sizes)))


_BOA = BOARegressor()
