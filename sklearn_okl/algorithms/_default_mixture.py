"""The mixture of the estimators without tuning: an aggregation of aggregations."""

from functools import cache, partial

import numpy as np

from ..aggregators import BOARegressor
from ..features._moments import faded
from ..learners import VAWRegressor

_MARGIN = 0.1  # share of the past range by which forecasts may leave it
_SAME = 1e-9  # in units of the targets' scale
_LARGEST = 4.0  # error, in that unit: if the first targets are alike, the next one is far off
_TINY = np.finfo(float).tiny
_BOA = BOARegressor()


class Mixture:
    """Mix experts four ways, and mix these: never much worse than the best expert, often better.

    BOA over the experts, for its theorem; their means under likelihoods that fade, for quick
    changes; ridge regressions of the errors of the first of these means on the experts' deviations
    from it, for what no expert knows alone; and BOA over all of these. What forecasts is clipped to
    the range of the past targets, widened a little.

    Parameters
    ----------
    fadings : sequence of float
        Factors by which the likelihoods fade a round. Without any, the regressions start from BOA.
    stacks : sequence of (float, float)
        Ridge and forgetting of each ridge regression.
    """

    def __init__(self, fadings, stacks):
        self._fadings = fadings
        self._stacks = [_stack(alpha, forgetting) for alpha, forgetting in stacks]

    def start(self, n_experts):
        """Return the state before the first row."""
        return {
            "low": 0.0,
            "high": 0.0,
            "experts": _BOA._start(n_experts),
            "fading": [start_likelihoods(n_experts) for _ in self._fadings],
            "stacks": [stack._start(n_experts) for stack in self._stacks],
            "last": _BOA._start(1 + len(self._fadings) + len(self._stacks)),
        }

    def learn(self, state, F, y, scales, heard=None):
        """Return forecasts (n,) from those of experts F (n, K), NaN where one is not born yet.

        Experts (K,) that are not `heard` yet have no say; what they lose is known when they are.
        """
        lows = np.minimum.accumulate(np.append(state["low"], y))
        highs = np.maximum.accumulate(np.append(state["high"], y))
        sane = partial(_clipped, low=lows[:-1], high=highs[:-1])
        state["low"], state["high"] = float(lows[-1]), float(highs[-1])
        F = sane(F)
        everybody, F = F, _of_the_heard(F, heard)
        columns = [_BOA._learn(state["experts"], F, y)]
        # who sleeps is charged what BOA loses, as specialists are
        squares = np.where(np.isnan(everybody), columns[0][:, None], everybody) - y[:, None]
        np.square(squares, out=squares)
        for fading, likelihoods in zip(self._fadings, state["fading"], strict=True):
            columns.append(_means(F, *learn_likelihoods(likelihoods, squares, fading)))
        base = columns[min(1, len(self._fadings))]
        if self._stacks:
            D = _deviations(F, base, scales)
            errors = np.clip((y - base) / scales, -_LARGEST, _LARGEST)
        for stack, stack_state in zip(self._stacks, state["stacks"], strict=True):
            columns.append(sane(base + scales * stack._learn(stack_state, D, errors)))
        return _BOA._learn(state["last"], _apart(columns, scales), y)

    def forecast(self, state, F, scale, heard=None):
        """Return forecasts (n,), each as if the next, from those of experts F (n, K)."""
        sane = partial(_clipped, low=state["low"], high=state["high"])
        F = _of_the_heard(sane(F), heard)
        columns = [_BOA._forecast(state["experts"], F)]
        for likelihoods in state["fading"]:
            columns.append(_means(F, likelihoods["losses"], likelihoods["rounds"]))
        base = columns[min(1, len(self._fadings))]
        D = _deviations(F, base, scale)
        for stack, stack_state in zip(self._stacks, state["stacks"], strict=True):
            columns.append(sane(base + scale * stack._forecast(stack_state, D)))
        return _BOA._forecast(state["last"], _apart(columns, scale))

    @staticmethod
    def weights(state):
        """Return the weights (K,) of the experts in BOA."""
        return _BOA._weights(state["experts"])


def start_likelihoods(n_experts):
    """Return the state of likelihoods that fade, before the first row."""
    return {"losses": np.zeros(n_experts), "rounds": np.zeros(1)}


def learn_likelihoods(state, squares, fading):
    """Learn squared errors (n, K); return the faded sums (n, K) and counts (n, 1) before each."""
    sums = []
    for name, terms in (("losses", squares), ("rounds", np.ones((len(squares), 1)))):
        path = faded(terms, state[name], fading)
        state[name] = path[-1]
        sums.append(path[:-1])
    return sums


def _means(F, losses, rounds):
    r"""Return the means (n,) of forecasts F (n, K) under the likelihoods of those who are awake.

    The weights are those of Gaussian errors whose log-likelihoods fade,

    .. math:: w_{k,t} \propto \exp\Bigl(-\frac{1}{2 \sigma_t^2}
              \sum_{s < t} \lambda^{t-1-s} e_{k,s}^2 \Bigr),

    with the least of the faded mean squares for the variance: A. E. Raftery, M. Kárný, P. Ettler,
    "Online prediction under model uncertainty via dynamic model averaging", Technometrics 52(1),
    2010, with one variance for all and static experts.
    """
    asleep = np.isnan(F)
    losses = np.where(asleep, np.inf, losses)
    least = losses.min(axis=1, keepdims=True)
    with np.errstate(over="ignore"):  # beside an expert without fault nobody else counts
        excess = (losses - least) / np.maximum(least, _TINY)
    weights = np.exp(-0.5 * np.maximum(rounds, _TINY) * excess)
    return np.einsum("nk,nk->n", weights, np.where(asleep, 0.0, F)) / weights.sum(axis=1)


def _of_the_heard(F, heard):
    return F if heard is None or heard.all() else np.where(heard, F, np.nan)


def _clipped(F, low, high):
    """Clip forecasts (n,) or (n, K) to the range of the past and a margin."""
    margin = _MARGIN * (high - low)
    low, high = low - margin, high + margin
    if np.ndim(low) and F.ndim == 2:
        low, high = low[:, None], high[:, None]
    return np.clip(F, low, high)


def _deviations(F, base, scales):
    D = (F - base[:, None]) / np.reshape(scales, (-1, 1))
    return np.where(np.isnan(D), 0.0, D)


def _apart(columns, scales):
    """Return columns of forecasts (n, C), equal where they differ by rounding only.

    BOA knows no size that is too small: in the first rounds, when all agree, it would weigh them by
    their rounding errors.
    """
    columns = np.column_stack(columns)
    first = columns[:, :1]
    differences = columns - first
    differences[np.abs(differences) <= _SAME * np.reshape(scales, (-1, 1))] = 0.0
    return first + differences


@cache
def _stack(alpha, forgetting):
    return VAWRegressor(alpha, forgetting=forgetting)
