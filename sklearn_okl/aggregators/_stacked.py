"""An aggregation of aggregations: BOA, fading means and regressions, and BOA of these."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._delay import late
from .._documentation import explained_by, inherit_documentation
from .._linalg import row_slices
from .._types import Any, Array
from ..base import ConvexAggregator, OnlineRegressor
from ..base._convex import EXPERT_CONSTRAINTS, TILE_SIZE, learn_awake
from ..base._weights_summary import SummaryOfWeights
from ..features._moments import paths
from ..features._units import deviations, mean_and_variance
from . import _apart as apart
from . import _boas, _limits, _two_boas
from ._fading_means import means_of, start_likelihoods
from ._sides import Asking, AskingLines, Learning, regression

SAME = 1e-9  # in units of the targets' scale: below it forecasts differ by rounding only
FARTHEST = 100.0  # deviation from the mean, in that unit: one faulty expert is no leverage
HOPELESS = 1.2  # recent loss of a direct expert over the least one of the others
KNOWN = 24.0  # faded rounds from which on these losses say something


@inherit_documentation
@explained_by(ConvexAggregator)
class StackedBOARegressor(SummaryOfWeights, OnlineRegressor):
    r"""Mix experts in several ways, and mix these by BOA: seldom worse than any way, often better.

    :class:`BOARegressor` over the experts, the columns of X, for its theorem; their means under
    likelihoods that fade, for quick changes; ridge regressions of the errors of the first of these
    means on the experts' deviations from it, for what no expert knows alone; and BOA over all of
    these, beside one in which no round counts much more than any other.

    Parameters
    ----------
    fadings : sequence of float, default=(0.95, 0.99)
        Factors in (0, 1) by which the likelihoods fade per round, one for each mean: they look back
        about 20 and 100 rounds. Without any, the regressions start from BOA.
    stacks : sequence of (float, float), default=((4.0, 0.998), (4.0, 1.0), (0.4, 0.99))
        Ridge and forgetting of each ridge regression. The deviations are in units of the standard
        deviation of the targets.
    n_direct : int, default=0
        How many experts, the first ones, the last BOA hears directly too, such as naive forecasts
        that are hard to beat. In each round those are left out, at both levels, whose recent loss
        is above 1.2 times that of the best other expert. Where they part with all others, see
        below.
    margin : float, default=0.1
        Share of the range of the past targets by which what is forecast may leave it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights of the experts in the first BOA for the next round if all are awake.
    way_weights_ : ndarray of shape (n_ways,)
        Weights at the last level: of the first BOA, the means, the regressions, the direct experts.

    See Also
    --------
    BOARegressor : The convex aggregator that both levels are.
    VAWRegressor : A regression on the experts alone.
    OnlineKernelRegressor : Mixes its kernels so.

    Notes
    -----
    *Cost.* O(K) per round for K experts, and O(K^2) for each regression.

    This is no convex combination: the regressions may leave the range of the experts' forecasts,
    though not that of the past targets, with a margin, unless the best expert of late does so far
    beyond what its errors usually are, or all do who are awake, and have been right in it. What all
    experts are wrong by is not corrected, as the weights of a whole sum to one: two constant
    columns, 0 and 1, let it have an intercept. Late targets may have left the range that is known:
    there it is wider by as far as they did so of late. The first round is forecast by the mean of
    the experts, and only its target is learnt: it is the origin, from which distances are learnt.

    *The means* [2]_ weigh expert k by the likelihood of Gaussian errors, which fades:

    .. math:: w_{k,t} \propto \exp\Bigl(-\frac{1}{2 \sigma_t^2}
              \sum_{s < t} \lambda^{t-1-s} e_{k,s}^2 \Bigr),

    with the least of the faded mean squares for the variance: dynamic model averaging, with one
    variance for all and static experts.

    *The regressions* are stacking [3]_ in sequence, each a :class:`VAWRegressor` from the
    deviations of the experts to the error of the mean, so that a whole is an affine combination.

    *The last level* is two BOAs of the same ways. One measures squared errors by the usual ones,
    the least of the faded means of its ways, and lets no regret of a round count more than three of
    these: after rounds in which all were far off, first ones or those of a new level, the rates of
    the plain one are too low for thousands of rounds to tell the ways apart. The plain one knows
    better where rare large errors are what counts. What both say is mixed by likelihoods that fade.

    *Where naive forecasts part.* If the direct experts and all others are suddenly far apart, as
    where inputs show that a target will jump, all are asked again without the direct ones, and the
    forecast goes a part of the way: to what these say together, and to what each of them says, by
    how right they were in rows in which both parted by about as far; half of the way at first. So
    jumps are soon believed, though naive forecasts have lost less in between, if somebody foretold
    those before, and up to a range beyond that of the targets so far.

    *Theorem.* That of the first BOA [1]_: with :math:`r_{k,t}` the difference of the losses, its
    regret against expert k, its forecasts clipped as above, is of the order of
    :math:`\sqrt{\ln K \sum_t r_{k,t}^2}`. The plain last one adds as much with the number of ways
    in the place of K. For means under likelihoods, and regressions that forget, no bound is known.

    *Sleeping experts.* NaN in a column of X says that this expert gives no forecast in that round:
    it gets no weight, BOA counts no regret, a mean charges it what BOA loses, and for a regression
    it forecasts the mean. With direct experts each change of who sleeps costs as much as a call.

    References
    ----------
    .. [1] Wintenberger 2017.
    .. [2] Raftery et al. 2010.
    .. [3] L. Breiman, "Stacked regressions", Machine Learning 24(1), 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import BOARegressor, StackedBOARegressor
    >>> rng = np.random.default_rng(0)
    >>> y, fault = rng.normal(size=(2, 500))
    >>> experts = np.c_[y + fault, y + 2 * fault]  # twice the one less the other is right
    >>> for model in BOARegressor(), StackedBOARegressor():
    ...     print(f"{np.mean((model.prequential_predict(experts, y) - y)[100:] ** 2):.1f}")
    0.9
    0.1
    """

    _test_parameters = ({}, {"fadings": (0.9,), "stacks": ((1.0, 1.0),), "n_direct": 1})

    _allow_nan = True
    _parameter_constraints = {
        "fadings": ["array-like"],
        "stacks": ["array-like"],
        "n_direct": [Interval(Integral, 0, None, closed="left")],
        "margin": [Interval(Real, 0, None, closed="left")],
        **{name: EXPERT_CONSTRAINTS[name] for name in ("fallback", "label_delay")},
    }
    _structural = ("fadings", "stacks", "n_direct", "label_delay")

    def __init__(
        self,
        *,
        fadings: Any = (0.95, 0.99),
        stacks: Any = ((4.0, 0.998), (4.0, 1.0), (0.4, 0.99)),
        n_direct: int = 0,
        margin: float = 0.1,
        fallback: float | None = None,
        label_delay: int = 0,
    ) -> None:
        self.fadings = fadings
        self.stacks = stacks
        self.n_direct = n_direct
        self.margin = margin
        self.fallback = fallback
        self.label_delay = label_delay

    @property
    def weights_(self) -> Array:
        """Weights of the experts in the first BOA, of shape (n_experts,)."""
        return self._weights(self._fitted_state("weights_"))[0]

    @property
    def way_weights_(self) -> Array:
        """Weights in the last BOA, of shape (n_ways,)."""
        return _two_boas.weights(self._fitted_state("way_weights_")["last"])[0]

    @property
    def _compares(self):
        """Whether direct experts are compared with all others."""
        return bool(self.n_direct and self.fadings)

    def _weights(self, state):
        """Return the weights (q, K) of the experts in the first BOAs."""
        return _boas.weights(state["experts"])[:, 0]

    def _validate(self):
        super()._validate()
        if not all(isinstance(fading, Real) and 0.0 < fading < 1.0 for fading in self.fadings):
            raise ValueError(f"fadings={self.fadings!r} must be numbers between 0 and 1.")
        for stack in self.stacks:
            if len(stack) != 2 or not (stack[0] > 0.0 and 0.0 < stack[1] <= 1.0):
                raise ValueError(
                    f"stacks={self.stacks!r} must be pairs of a ridge > 0 and a forgetting factor "
                    "in (0, 1]."
                )

    def _start(self, n_features, n_targets=None, late=None):
        """Return the state before the first row.

        With `late` rounds, rows are forecast by what was known so many rounds ago. None are those
        of the parameter.
        """
        late = self.label_delay if late is None else late
        return {
            "t": 0,
            "origin": None,  # the first target: all else is learnt as the distance from it
            "sums": np.zeros((3, 1)),  # of the distances: their number, sum, and sum of squares
            "past sums": np.zeros((late, 3)),
        } | self._start_targets(1, n_features, late)

    def _start_targets(self, n_targets, n_features, late):
        """Return the state of the mixtures of several targets, which come as distances."""
        if self.n_direct and self.n_direct >= n_features:
            raise ValueError(
                f"n_direct={self.n_direct} must be less than the number of experts, the columns "
                f"of X, but there are n_features={n_features}."
            )
        n_ways = 1 + len(self.fadings) + len(self.stacks) + self.n_direct
        regressions = [regression(*stack, late > 0) for stack in self.stacks]
        bank = [{}] * n_targets
        return {
            "experts": _boas.start(n_targets, 1, n_features, late),
            "fading": [start_likelihoods(n_targets, n_features, late) for _ in self.fadings],
            "stacks": [one._start(n_features, bank=bank, late=late) for one in regressions],
            "last": _two_boas.start(n_targets, n_ways, late),
            **({"apart": apart.start(n_targets, n_features, late)} if self._compares else {}),
        } | _limits.start(n_targets, late)

    def _forget_target(self, state, j):
        """Forget what was learnt of target j."""
        n_features, late = state["experts"]["rates"].shape[-1], len(state["past"])
        fresh = self._start_targets(1, n_features, late)
        parts = zip(self.stacks, state["stacks"], fresh.pop("stacks"), strict=True)
        for stack, one, anew in parts:
            regression(*stack, late > 0)._open(one)
            for name in {"A", "b", "P", "theta", "squares", "past"} & one.keys():
                one[name][j] = anew[name][0]
        _boas.put(state, j, fresh)

    def _learn(self, state, X, y):
        forecasts, idle = self._room(X)
        for tile in row_slices(len(X), max(1, TILE_SIZE // X.shape[1])):
            learn, wait = partial(self._learn_awake, state), partial(self._pass, state)
            if idle is None:
                forecasts[tile] = learn(X[tile], y[tile])
                continue
            rows = tile.start + np.flatnonzero(~idle[tile])
            wait = wait if len(state["past"]) else None
            forecasts[rows] = learn_awake(learn, wait, idle[tile], X[rows], y[rows])
        return forecasts

    def _learn_awake(self, state, X, y):
        if state["origin"] is None:
            state["origin"] = float(y[0])
        F, distances = (X - state["origin"])[:, None], y[:, None] - state["origin"]
        n_cold = int((self._n_known(state, len(y)) == 0).sum())
        F[:n_cold] = 0.0  # nobody knew the origin, and nobody is to be judged by that
        scales = _learn_scales(state, distances)
        state["t"] += len(y)
        forecasts = self._learn_rows(state, F, distances, scales)[0][:, 0] + state["origin"]
        forecasts[:n_cold] = np.nanmean(X[:n_cold], axis=1)
        return forecasts

    def _n_known(self, state, n):
        """Return how many rows were learnt when each of the next n was forecast."""
        counts = state["t"] + np.arange(n, dtype=np.float64)
        return late(counts, state["past"][:, 0, 2])[0]

    def _pass(self, state, n):
        """Let rounds pass from which nothing is learnt, where targets are late."""
        parts = [(state, "past", state["limits"]), (state, "past sums", state["sums"][:, 0])]
        parts.append((state["left"], "past", state["left"]["off"]))
        for one in state["stacks"]:  # the time comes second there
            path = np.broadcast_to(one["theta"][:, None], (1, n, *one["theta"].shape[1:]))
            one["past"] = np.concatenate([one["past"], path], axis=1)[:, n:].copy()
        for one in (*state["fading"], state["last"]["likelihoods"]):
            parts += [(one["past"], name, one[name]) for name in one["past"]]
        for part, name, known in parts:
            alike = np.broadcast_to(known, (n, *np.shape(known)))
            part[name] = late(alike, part[name])[1]
        _limits.wait(state, n)
        if "apart" in state:
            apart.wait(state["apart"], n)
        _boas.wait(state["experts"], n)
        _two_boas.wait(state["last"], n)

    def _forecast(self, state, X):
        forecasts, idle = self._room(X)
        scale = _scales(*state["sums"])
        for tile in row_slices(len(X), max(1, TILE_SIZE // X.shape[1])):
            rows = tile if idle is None else tile.start + np.flatnonzero(~idle[tile])
            if state["origin"] is None:  # in no row so far was any expert awake
                forecasts[rows] = np.nanmean(X[rows], axis=1)
                continue
            F = (X[rows] - state["origin"])[:, None]
            forecasts[rows] = self._forecast_rows(state, F, scale)[0][:, 0] + state["origin"]
        return forecasts

    def _room(self, X):
        """Return room for forecasts, and the rows in which nobody is awake, or None for none."""
        idle = np.isnan(X).all(axis=1)
        if not idle.any():
            return np.empty(len(X)), None
        if self.fallback is None:
            raise ValueError(
                f"Row {int(idle.argmax())} of X holds NaN only: every expert is asleep and there "
                "is nothing to forecast from. Drop such rows, or set 'fallback' to the number that "
                "shall be forecast there."
            )
        return np.full(len(X), float(self.fallback)), idle

    def _learn_rows(self, state, F, y, scales, heard=None, weights=None):
        """Learn targets (n, q) from forecasts F (n, q, K) of them, NaN where one is asleep.

        `scales` (n, q) of the targets are those known before each row. Experts (q, K) that are not
        `heard` yet have no say; what they lose is known when they are. The `weights` (n,) are those
        of the rows in all losses. Returns forecasts (n, q), and the limits (n, q, 3) of sane ones.
        """
        limits, forecasts = self._learn_limits(state, y), np.empty_like(y)
        most = n = max(1, TILE_SIZE // F[0].size)
        low = 0
        while low < len(y):
            rows = slice(low, low + n)
            side = Learning(self, state, limits, scales, y, weights, rows)
            n_within, n_alike = self._n_alike(F[rows], heard, side)
            if n_alike < len(side.limits):
                rows = slice(low, low + max(n_alike, 1))
                side = Learning(self, state, limits, scales, y, weights, rows)
            forecasts[rows], limits[rows] = self._round(F[rows], heard, side, n_within == 0)
            low, n = low + len(side.limits), min(2 * len(side.limits), most)
        return forecasts, limits

    def _forecast_rows(self, state, F, scales, heard=None, ago=0):
        """Return forecasts (n, q), each as if the next, by what was known some rounds ago.

        And the limits (n, q, 3) of sane ones.
        """
        limits = self._known_limits(state, ago)
        limits = np.broadcast_to(limits, (len(F), *limits.shape))
        return self._round(F, heard, Asking(self, state, limits, scales, ago))

    def _lines(self, state, asleep, scale, heard):
        """Return by how much each expert's forecast (q, K) is multiplied, now and unclipped.

        Without the clips and VAW's shrinkage a round is linear in the forecasts.
        """
        sizes = 0.5 * FARTHEST * scale  # (q,), far from what differs by rounding only
        F = sizes[:, None] * np.eye(asleep.shape[1])[:, None]
        F[:, asleep] = np.nan
        limits = self._known_limits(state, 0) * [0.0, 0.0, 1.0] + [-np.inf, np.inf, 0.0]
        side = AskingLines(self, state, limits, scale, 0)
        return (self._round(F, heard, side)[0] / sizes).T

    def _learn_limits(self, state, y):
        """Learn targets; return the low, high and number (n, q, 3) of those known before each."""
        return _limits.learn(state, y, self.margin)

    def _known_limits(self, state, ago):
        """Return the low, the high and the number (q, 3) that were known some rounds ago."""
        return _limits.known(state, self.margin, ago)

    def _round(self, F, heard, side, may_lead=True):
        """Return forecasts (n, q), and limits: a forecast is a round whose `side` asks its parts.

        They are of the range, unless the best expert of late may lead beyond it.
        """
        if may_lead:
            side.give_way(_awake(F, heard))
        everybody = _limits.sane(F, side.limits)
        F, others, means = side.heard or self._heard(F, everybody, heard, side)
        shares = side.shares(means, others) if self._compares else None
        if shares is None or not shares.any():
            return self._mixed(everybody, F, side), side.limits
        together = None
        if ((shares > 0.0) & ~np.isnan(means.a)).any():
            without = F.copy()
            without[..., : self.n_direct][shares > 0.0] = np.nan
            together = self._mixed(everybody, without, side.asking())
        forecasts = self._mixed(everybody, F, side)
        together = forecasts if together is None else together
        shares, found = side.others_say(means, others, together)
        forecasts = forecasts + shares * (found - forecasts)
        return forecasts, _limits.reaching(side.limits, forecasts)

    def _heard(self, F, everybody, heard, side):
        """Return forecasts (n, q, K), NaN of who has no say, and what may be far apart, or None.

        That are F (n, q, K), hardly clipped, of all but direct experts, and means of both kinds.
        """
        awake = _awake(everybody, heard)
        if not self._compares:
            return awake, None, None
        known = side.latest_losses(awake)
        own = self._without_hopeless(awake, known[0], side.rounds)
        others = np.where(np.isnan(own), np.nan, _limits.nearly_sane(F, side.limits))
        others[..., : self.n_direct] = np.nan
        shapes = F.shape, (*F.shape[:-1], 1)
        losses, rounds = (np.broadcast_to(*one) for one in zip(known, shapes, strict=True))
        of_rows = own, awake, losses, rounds
        return own, others, apart.parted(*of_rows, self.n_direct, side.lagless)

    def _mixed(self, everybody, F, side):
        """Return forecasts (n, q) of F (n, q, K), NaN of who has no say, and `everybody`."""
        n_means = 1 + len(self.fadings)
        n_ways = n_means + len(self.stacks)
        ways = np.empty((*F.shape[:-1], n_ways + self.n_direct))
        ways[..., 0] = side.first(F)
        for k, known in enumerate(side.likelihoods(everybody, ways[..., 0]), 1):
            ways[..., k] = means_of(F, *known)
        base = ways[..., min(1, len(self.fadings))]
        D = _deviations(F, base, side.scales)
        for k, part in enumerate(side.corrections(D, base), n_means):
            ways[..., k] = base + side.scales * part
        ways[..., n_means:n_ways] = _limits.sane(ways[..., n_means:n_ways], side.limits)
        ways[..., n_ways:] = F[..., : self.n_direct]
        return side.last(_without_rounding(ways, side.scales))

    def _n_alike(self, F, heard, side):
        """Return how many rows come before one in which the limits may give way.

        And before that, or one in which some are far apart, or others sleep than in the first row:
        who sleeps is charged what BOA loses, which is known when it has learnt. Of rows that are
        all alike the side keeps who is heard, as nothing of them gives way.
        """
        F = _awake(F, heard)
        beyond = _limits.are_beyond(F, side.limits)
        is_any_beyond = self.fadings and np.logical_or.reduce(beyond, axis=None)
        if not (is_any_beyond or self._compares):
            return len(F), len(F)
        asleep = np.isnan(F)
        n = n_within = _n_before((asleep != asleep[:1]).any(axis=(1, 2)))
        everybody = _limits.sane(F, side.limits)
        if is_any_beyond:
            losses, _ = side.latest_losses(everybody)
            is_led = _limits.may_give_way(F, beyond, losses, side.rounds).any(axis=-1)
            n_within = min(n, _n_before(is_led))
        if self._compares:
            own, others, means = self._heard(F, everybody, None, side)
            n = min(n, _n_before(side.look(means, others)))
            if min(n, n_within) == len(F):
                side.heard = own, others, means
        return n_within, min(n_within, n)

    def _without_hopeless(self, F, losses, rounds):
        """Let the direct experts sleep in F (n, q, K) while others have lost much less of late.

        BOA drops an expert only as fast as its share of the errors shows, which where others hardly
        err costs more than they do.
        """
        n = self.n_direct
        others = np.where(np.isnan(F), np.inf, losses)[..., n:].min(axis=-1, keepdims=True)
        hopeless = (losses[..., :n] > HOPELESS * others) | (rounds < KNOWN)
        hopeless = hopeless & np.isfinite(others)  # alone, each is better than nobody
        F = F.copy()
        F[..., :n] = np.where(hopeless, np.nan, F[..., :n])
        return F


def _learn_scales(state, y):
    """Learn targets (n, 1), distances from the origin; return the scales known before each."""
    sums = np.array(paths(y, *state["sums"]))[..., 0].T  # (n + 1, 3)
    state["sums"] = sums[-1:].T.copy()
    known, state["past sums"] = late(sums[:-1], state["past sums"])
    return _scales(*known.T)[:, None]


def _scales(weights, sums, squares):
    """Return the standard deviations of the targets, and 1 where they have been equal."""
    scales = deviations(*mean_and_variance(weights, sums, squares))
    return np.where(scales > 0.0, scales, 1.0)


def _awake(F, heard):
    """Return forecasts (n, q, K), NaN of who is not heard yet."""
    return F if heard is None or heard.all() else np.where(heard, F, np.nan)


def _n_before(which):
    """Return how many rows (n,) come before the first of which something is so."""
    return int(which.argmax()) if which.any() else len(which)


def _deviations(F, base, scales):
    """Return deviations (q, n, K), in units of the scales, of F (n, q, K)."""
    D = ((F - base[..., None]) / scales[..., None]).transpose(1, 0, 2)
    D = np.ascontiguousarray(D)
    # a faulty row among those learnt for a trial must not cost the rows before it their digits
    D[np.isnan(D)] = 0.0
    np.maximum(D, -FARTHEST, out=D)
    return np.minimum(D, FARTHEST, out=D)


def _without_rounding(columns, scales):
    """Return columns of forecasts (n, q, C), equal where they differ by rounding only.

    BOA knows no size that is too small: in the first rounds, when all agree, it would weigh them by
    their rounding errors.
    """
    first = columns[..., :1]
    differences = columns - first
    differences[np.abs(differences) <= SAME * scales[..., None]] = 0.0
    return first + differences
