"""The mixture of the estimators without tuning: an aggregation of aggregations."""

from functools import cache, partial

import numpy as np

from .._delay import as_it_was, late
from ..aggregators import BOARegressor
from ..base._convex import mix
from ..features._moments import faded
from ..learners import VAWRegressor

_MARGIN = 0.1  # share of the past range by which forecasts may leave it
_SAME = 1e-9  # in units of the targets' scale
_LARGEST = 4.0  # error, in that unit: if the first targets are alike, the next one is far off
_FARTHEST = 100.0  # deviation from the mean, in that unit
_HOPELESS = 1.2  # recent loss of a plain expert over the least one of the others
_KNOWN = 24.0  # faded rounds from which on these losses say something
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
        Factors by which the likelihoods fade per round. Without any, the regressions start from
        BOA.
    stacks : sequence of (float, float)
        Ridge and forgetting of each ridge regression.
    n_plain : int, default=0
        How many experts, the first ones, BOA over all of these hears directly too.
    delay : int, default=0
        How many rounds late the labels come.
    """

    def __init__(self, fadings, stacks, n_plain=0, delay=0):
        self._fadings = fadings
        self._stacks = [_stack(alpha, forgetting, delay > 0) for alpha, forgetting in stacks]
        self._n_plain = n_plain
        self._delay = delay

    def start(self, n_experts):
        """Return the state before the first row."""
        delay, n_ways = self._delay, 1 + len(self._fadings) + len(self._stacks)
        return {
            "low": 0.0,
            "high": 0.0,
            "past": np.zeros((delay, 2)),  # lows and highs before the latest rounds
            "experts": _BOA._start(n_experts, late=delay),
            "fading": [start_likelihoods(n_experts, delay) for _ in self._fadings],
            "stacks": [stack._start(n_experts, late=delay) for stack in self._stacks],
            "last": _BOA._start(n_ways + self._n_plain, late=delay),
        }

    def learn(self, state, F, y, scales, heard=None):
        """Return forecasts (n,) from those of experts F (n, K), NaN where one is not born yet.

        Experts (K,) that are not `heard` yet have no say; what they lose is known when they are.
        """
        limits = np.empty((len(y) + 1, 2))  # lows and highs before each row, and after the last
        limits[0], limits[1:] = (state["low"], state["high"]), y[:, None]
        np.minimum.accumulate(limits[:, 0], out=limits[:, 0])
        np.maximum.accumulate(limits[:, 1], out=limits[:, 1])
        state["low"], state["high"] = limits[-1].tolist()
        limits, state["past"] = late(limits[:-1], state["past"])
        sane = partial(_clipped, limits=limits)
        F = sane(F)
        everybody, F = F, _of_the_heard(F, heard)
        if self._n_plain and self._fadings:
            likelihoods, fading = state["fading"][-1], self._fadings[-1]
            squares = np.square(np.where(np.isnan(F), 0.0, F) - y[:, None])
            F = self._without_hopeless(F, *read_likelihoods(likelihoods, squares, fading))
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
        columns = _apart([*columns, *F[:, : self._n_plain].T], scales)
        return _BOA._learn(state["last"], columns, y)

    def forecast(self, state, F, scale, heard=None, ago=0):
        """Return forecasts (n,), each as if the next, from those of experts F (n, K).

        They are mixed by what was known some rounds ago.
        """
        sane = partial(_clipped, limits=as_it_was(_limits(state), state["past"], ago))
        F = _of_the_heard(sane(F), heard)
        if self._n_plain and self._fadings:
            F = self._without_hopeless(F, *known_likelihoods(state["fading"][-1], ago))
        columns = [_mixed(state["experts"], F, ago)]
        for likelihoods in state["fading"]:
            columns.append(_means(F, *known_likelihoods(likelihoods, ago)))
        base = columns[min(1, len(self._fadings))]
        D = _deviations(F, base, scale)
        for stack, stack_state in zip(self._stacks, state["stacks"], strict=True):
            if ago:
                stack_state = stack_state | {"theta": stack_state["past"][-ago]}
            columns.append(sane(base + scale * stack._forecast(stack_state, D)))
        columns = _apart([*columns, *F[:, : self._n_plain].T], scale)
        return _mixed(state["last"], columns, ago)

    def _without_hopeless(self, F, losses, rounds):
        """Let the plain experts sleep in F (n, K) while others have lost much less of late.

        BOA drops an expert only as fast as its share of the errors shows, which where others hardly
        err costs more than they do.
        """
        n = self._n_plain
        others = np.where(np.isnan(F), np.inf, losses)[:, n:].min(axis=1, keepdims=True)
        hopeless = (losses[..., :n] > _HOPELESS * others) | (rounds < _KNOWN)
        F = F.copy()
        F[:, :n] = np.where(hopeless, np.nan, F[:, :n])
        return F

    @staticmethod
    def weights(state):
        """Return the weights (K,) of the experts in BOA."""
        return _BOA._weights(state["experts"])


def start_likelihoods(n_experts, delay=0):
    """Return the state of likelihoods that fade, before the first row."""
    return {
        "losses": np.zeros(n_experts),
        "rounds": np.zeros(1),
        "past": {"losses": np.zeros((delay, n_experts)), "rounds": np.zeros((delay, 1))},
    }


def learn_likelihoods(state, squares, fading):
    """Learn squared errors (n, K); return the faded sums (n, K) and counts (n, 1) read by each."""
    paths = _likelihood_paths(state, squares, fading)
    known = []
    for name, path in paths.items():
        state[name] = path[-1]
        read, state["past"][name] = late(path[:-1], state["past"][name])
        known.append(read)
    return known


def read_likelihoods(state, squares, fading):
    """Return the same without learning."""
    paths = _likelihood_paths(state, squares, fading)
    return [late(path[:-1], state["past"][name])[0] for name, path in paths.items()]


def known_likelihoods(state, ago=0):
    """Return the faded sums (K,) and counts (1,) known some rounds ago."""
    return [as_it_was(state[name], past, ago) for name, past in state["past"].items()]


def _likelihood_paths(state, squares, fading):
    terms = {"losses": squares, "rounds": np.ones((len(squares), 1))}
    return {name: faded(term, state[name], fading) for name, term in terms.items()}


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


def _limits(state):
    return np.array([state["low"], state["high"]])


def _clipped(F, limits):
    """Clip forecasts (n,) or (n, K) to limits (2,) or (n, 2) of the past and a margin."""
    low, high = limits[..., 0], limits[..., 1]
    margin = _MARGIN * (high - low)
    low, high = low - margin, high + margin
    if low.ndim and F.ndim == 2:
        low, high = low[:, None], high[:, None]
    return np.minimum(np.maximum(F, low), high)


def _mixed(state, F, ago):
    """Return the mean (n,) of forecasts F (n, K) under the weights of BOA some rounds ago."""
    log_weights = state["past"][-ago] if ago else _BOA._log_weights(state)
    asleep = np.isnan(F)
    return mix(log_weights, np.where(asleep, 0.0, F), asleep if asleep.any() else None)


def _deviations(F, base, scales):
    D = (F - base[:, None]) / np.reshape(scales, (-1, 1))
    # a faulty row among those learnt for a trial must not cost the rows before it their digits
    D[np.isnan(D)] = 0.0
    np.maximum(D, -_FARTHEST, out=D)
    return np.minimum(D, _FARTHEST, out=D)


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
def _stack(alpha, forgetting, is_late):
    # the leverage of a row in a model some rounds ago would ask for all matrices since then
    forecaster = "ridge" if is_late else "vaw"
    return VAWRegressor(alpha, forecaster=forecaster, forgetting=forgetting)
