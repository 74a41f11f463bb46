"""What the rules that weight experts share: validation, sleeping experts, the loop over rounds."""

from __future__ import annotations

from collections import deque
from functools import partial
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._delay import late
from .._documentation import inherit_documentation
from .._linalg import row_slices, softmax
from .._types import Any, Array, ArrayLike
from ._loss import TARGET_LOSSES, LossOfTargets
from ._regressor import OnlineRegressor
from ._weights_summary import SummaryOfWeights

TILE_SIZE = 2**18  # numbers of X looked at together: what the cache holds, whatever n and K
ROUNDING = 1e-13  # share of a forecast that an error, or a difference, may be by rounding alone

EXPERT_CONSTRAINTS = {
    "prior_weights": ["array-like", None],
    "fallback": [Interval(Real, None, None, closed="neither"), None],
    "label_delay": [Interval(Integral, 0, None, closed="left")],
}


@inherit_documentation
class ConvexAggregator(SummaryOfWeights, LossOfTargets, OnlineRegressor):
    """Base of the aggregators that give the K experts, the columns of X, weights from the simplex.

    A rule is a state, the weights it stands for and what a round of regrets does to it::

        _start_rule(log_prior) -> dict          its state, beside "t" and "log_prior", of arrays
        _log_weights(state) -> ndarray (K,)     logarithms of the weights, up to a constant
        _update(state, regrets, y)              edits the state after a round with the target y

    `log_prior` (K,) are the logarithms of the prior weights, of sum one. `regrets` (K,) is the loss
    of the forecast less the losses of the experts, so that it is positive for those who were
    better, and 0 for those asleep. `_log_weights` returns a new array, which may be edited. The
    base mixes the forecasts of the experts awake, computes losses, and keeps the forecast in the
    range of the experts'.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "pinball"} or Loss, default="squared_error"
        Loss in which forecasts are compared, by its name or as an object, see
        :class:`~sklearn_okl.losses.Loss`.
    gradient_trick : bool, default=False
        Whether to replace the loss by its tangent at the forecast, so that the rule competes with
        the best fixed convex combination of the experts.
    prior_weights : array-like of shape (n_features,), default=None
        Positive weights of the experts before the first round, of any sum; those of a Series of
        pandas are given to the columns of the names in its index. None: equal weights.
    fallback : float, default=None
        Forecast for rows in which every expert is asleep (NaN); nothing is learnt from them. None:
        such rows are an error.
    label_delay : int, default=0
        Number D of rounds that targets come late: row t is forecast by the weights that the targets
        up to t - 1 - D make, and the regrets are those of the forecasts that were made so. For the
        24 hours of the next day it is 23.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights for the next round if all experts are awake.

    See Also
    --------
    sklearn_okl.MultiKernelRegressor : Takes an aggregator of kernels.
    sklearn_okl.ExpertsRegressor : Takes an aggregator of models of any kind.
    sklearn_okl.ExpertsClassifier : The same for probabilities of classes, compared in the log loss.

    Notes
    -----
    *Cost.* O(K) per round for K experts, and what the rule costs: rounds are learnt one by one, in
    some fifteen calls of NumPy.

    *Subclasses.*

    *Speed.* Where all weights of a call can be had without a loop, a subclass may override
    ``_learn_rows(state, F, asleep, y)``, which learns rows F (n, K) with 0 for experts asleep and
    returns the forecasts (n,); `asleep` (n, K) says who sleeps, and is None where nobody does. With
    late targets, what rows read is then ``self._read(state, known)``, of what was `known` (n, m)
    before each of them.

    Probabilities of classes are mixed by the same rule: the regrets are then those of the log loss,
    and the target that `_update` gets is 0.

    Examples
    --------
    Follow the leader, whose weights are all with those of least loss so far:

    >>> import numpy as np
    >>> from sklearn_okl.base import ConvexAggregator
    >>> class LeaderRegressor(ConvexAggregator):
    ...     def _start_rule(self, log_prior):
    ...         return {"sums": np.zeros(len(log_prior))}
    ...
    ...     def _log_weights(self, state):
    ...         return np.where(state["sums"] == state["sums"].max(), 0.0, -1e9)
    ...
    ...     def _update(self, state, regrets, y):
    ...         state["sums"] = state["sums"] + regrets
    >>> experts = np.array([[1.0, 0.0, 3.0], [1.0, 1.0, 2.0], [1.0, 2.0, 0.0]])
    >>> LeaderRegressor().fit(experts, [1, 1, 1]).weights_
    array([1., 0., 0.])
    """

    _allow_nan = True
    _poor_score = True  # forecasts nothing that its experts do not
    _parameter_constraints = {
        **TARGET_LOSSES,
        **EXPERT_CONSTRAINTS,
        "gradient_trick": ["boolean"],
    }
    _structural = ("loss", "quantile", "gradient_trick", "prior_weights", "label_delay")

    def __init__(
        self,
        *,
        loss: Any = "squared_error",
        quantile: float = 0.5,
        gradient_trick: bool = False,
        prior_weights: ArrayLike | None = None,
        fallback: float | None = None,
        label_delay: int = 0,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.gradient_trick = gradient_trick
        self.prior_weights = prior_weights
        self.fallback = fallback
        self.label_delay = label_delay

    @property
    def weights_(self) -> Array:
        """Weights for the next round if all experts are awake, of shape (n_experts,)."""
        return self._as_taught()._weights(self._fitted_state("weights_"))

    def _weights(self, state):
        return softmax(self._log_weights(state))

    def _validate(self):
        super()._validate()
        if self.prior_weights is not None:
            prior = np.asarray(self.prior_weights, dtype=np.float64)
            if prior.ndim != 1 or not (np.all(prior > 0) and np.isfinite(prior.sum())):
                raise ValueError(
                    "prior_weights must be positive finite numbers, one for each expert; got "
                    f"{self.prior_weights!r}."
                )

    def _start(self, n_features, n_targets=None, late=None):
        """Return the state; with `late` rounds, forecasts mix by weights so many rounds old.

        None are those of the parameter.
        """
        late = self.label_delay if late is None else late
        if self.prior_weights is None:
            prior = np.ones(n_features)
        else:
            prior = np.asarray(self._prior_of_columns(), dtype=np.float64)
            if len(prior) != n_features:
                raise ValueError(
                    f"prior_weights has {len(prior)} entries, but X has {n_features} columns: "
                    "give one weight for each expert."
                )
        log_prior = np.log(prior) - np.log(prior.sum())
        state = {"t": 0, "log_prior": log_prior} | self._start_rule(log_prior)
        if late:  # what was known before each of the latest rounds, the oldest first
            state["past"] = np.tile(self._known(state), (late, 1))
        return state

    def _prior_of_columns(self):
        """Return the prior weights in the order of the columns, where both have names."""
        labels = getattr(self.prior_weights, "index", None)
        names = getattr(self, "feature_names_in_", None)
        have_names = hasattr(labels, "get_indexer") and isinstance(labels[0], str)
        if names is None or not have_names:
            return self.prior_weights
        if sorted(labels) != sorted(names):
            raise ValueError(
                f"prior_weights are of {list(labels)}, but X has the columns {list(names)}: give "
                "one weight for each of them."
            )
        return self.prior_weights[list(names)]

    def _known(self, state):
        """Return what a forecast reads of the state, (m,)."""
        return self._log_weights(state)

    def _read(self, state, known):
        """Return what rows read (n, m), of what was known before each of them."""
        if "past" not in state:
            return known
        read, state["past"] = late(known, state["past"])
        return read

    def _pass(self, state, n):
        """Let rounds pass from which nothing is learnt."""
        if "past" in state:
            self._read(state, np.tile(self._known(state), (n, 1)))

    def _learn(self, state, X, y, weights=None):
        forecasts = np.empty(len(y))
        for rows in _tiles(X):
            F, asleep, idle = self._awake(X[rows], rows.start)
            # not every rule takes weights (n,) of rows
            targets = (y[rows],) if weights is None else (y[rows], weights[rows])
            if idle is None:
                forecasts[rows] = self._learn_rows(state, F, asleep, *targets)
                continue
            tile = np.full(len(idle), float(self.fallback))
            learn, wait = partial(self._learn_rows, state), partial(self._pass, state)
            parts = F, asleep, *(values[~idle] for values in targets)
            tile[~idle] = learn_awake(learn, wait if "past" in state else None, idle, *parts)
            forecasts[rows] = tile
        return forecasts

    def _forecast(self, state, X):
        forecasts = np.empty(len(X))
        for rows in _tiles(X):
            F, asleep, idle = self._awake(X[rows], rows.start)
            if idle is None:
                forecasts[rows] = self._forecast_rows(state, F, asleep)
                continue
            tile = np.full(len(idle), float(self.fallback))
            if len(F):
                tile[~idle] = self._forecast_rows(state, F, asleep)
            forecasts[rows] = tile
        return forecasts

    def _awake(self, X, first):
        """Return rows with somebody awake, 0 for NaN; who sleeps in them; and the other rows.

        The last two are None where they would be all False.
        """
        asleep = np.isnan(X)
        if not asleep.any():
            return X, None, None
        F = np.where(asleep, 0.0, X)
        idle = asleep.all(axis=1)
        if not idle.any():
            return F, asleep, None
        if self.fallback is None:
            raise ValueError(
                f"Row {first + int(idle.argmax())} of X holds NaN only: every expert is asleep and "
                "there is nothing to forecast from. Drop such rows, or set 'fallback' to the "
                "number that shall be forecast there."
            )
        return F[~idle], asleep[~idle], idle

    def _learn_rows(self, state, F, asleep, y, weights_of_rows=None):
        loss = self._loss()
        losses = None if self.gradient_trick else loss.value(y[:, None], F)
        if asleep is not None:
            no_weight, awake = np.where(asleep, -np.inf, 0.0), 1.0 - asleep
        forecasts = np.empty(len(y))
        ones = np.ones(F.shape[1])
        past = deque(state.get("past", ()))
        for i, (f, target) in enumerate(zip(F, y.tolist(), strict=True)):
            past.append(self._log_weights(state))
            weights = past.popleft()
            if asleep is not None:
                weights += no_weight[i]
            weights -= np.maximum.reduce(weights)
            np.exp(weights, out=weights)
            forecasts[i] = forecast = weights.dot(f) / weights.dot(ones)
            off = forecast - f
            rounding = ROUNDING * max(abs(forecast), abs(target))  # which no rule is to learn
            if self.gradient_trick:
                regrets = loss.slope(target, forecast) * off
                if abs(target - forecast) <= rounding:
                    regrets *= 0.0
            else:
                regrets = loss.value(target, forecast) - losses[i]
            regrets *= np.abs(off) > rounding
            if asleep is not None:
                regrets *= awake[i]
            if weights_of_rows is not None:  # those of the losses
                regrets *= weights_of_rows[i]
            self._update(state, regrets, target)
            state["t"] += 1
        if "past" in state:
            state["past"] = np.array(past)
        return within(forecasts, F, asleep)

    def _forecast_rows(self, state, F, asleep):
        return mix(self._log_weights(state), F, asleep)

    def _for_log_loss(self):
        """Return the aggregator as it is to mix probabilities."""
        return self

    def _learn_classes(self, state, P, y):
        """Learn probabilities (n, K, C), none of them 0, and places y (n,) of the classes.

        NaN are those of experts asleep; in each row somebody is awake. Returns the means (n, C).
        """
        asleep = np.isnan(P[..., 0])
        F, no_weight = np.where(asleep[..., None], 0.0, P), np.where(asleep, -np.inf, 0.0)
        means = np.empty((len(y), P.shape[2]))
        for i, place in enumerate(y.tolist()):
            weights = self._read(state, self._log_weights(state)[None])[0]
            means[i] = softmax(weights + no_weight[i]) @ F[i]
            ratios = np.where(asleep[i], 1.0, F[i, :, place] / means[i, place])
            regrets = ratios - 1.0 if self.gradient_trick else np.log(ratios)
            self._update(state, regrets, 0.0)
            state["t"] += 1
        return means

    def _forecast_classes(self, state, P):
        """Return the means (n, C) of probabilities (n, K, C), NaN those of experts asleep."""
        asleep = np.isnan(P[..., 0])
        weights = softmax(np.where(asleep, -np.inf, self._log_weights(state)))
        return np.einsum("nk,nkc->nc", weights, np.where(asleep[..., None], 0.0, P))


def learn_awake(learn, wait, idle, *parts):
    """Learn rows as they come among idle ones, in which nobody is awake; return the forecasts.

    Parameters
    ----------
    learn : callable
        Takes the parts of some rows, one after the other, returns their forecasts.
    wait : callable or None
        Takes a number of rounds from which nothing is learnt. None: nobody needs to know of them.
    idle : ndarray of bool of shape (n,)
    *parts : ndarrays or None
        Of the rows that are not idle.
    """
    if wait is None:
        return learn(*parts) if len(parts[0]) else np.empty(0)
    forecasts, low = [], 0
    ends = np.flatnonzero(np.diff(idle, append=~idle[-1:])) + 1
    for n, is_idle in zip(np.diff(ends, prepend=0).tolist(), idle[ends - 1], strict=True):
        if is_idle:
            wait(n)
            continue
        rows = slice(low, low + n)
        forecasts.append(learn(*(None if part is None else part[rows] for part in parts)))
        low += n
    return np.concatenate(forecasts) if forecasts else np.empty(0)


def mix(log_weights, F, asleep=None):
    """Average forecasts F (n, K) by weights (K,) or (n, K), over those awake; (n,)."""
    if asleep is not None:
        log_weights = np.where(asleep, -np.inf, log_weights)
    weights = log_weights - log_weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    products = F @ weights if weights.ndim == 1 else np.einsum("nk,nk->n", weights, F)
    return within(products / weights.sum(axis=-1), F, asleep)


def within(forecasts, F, asleep=None):
    """Take away what rounding adds beyond the range of the experts awake."""
    lows, highs = (F, F) if asleep is None else (np.where(asleep, x, F) for x in (np.inf, -np.inf))
    low, high = np.minimum.reduce(lows, axis=-1), np.maximum.reduce(highs, axis=-1)
    return np.minimum(np.maximum(forecasts, low), high)


def _tiles(X):
    return row_slices(len(X), max(1, TILE_SIZE // X.shape[1]))
