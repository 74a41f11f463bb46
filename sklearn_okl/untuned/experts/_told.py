"""What neighbours tell of a forecast, and how forecasts with and without it are mixed.

Of numbers they tell their errors, which are added; of classes their own ones, of which there is one
row more that is what was forecast. `shares` (n_views, n, n_sizes, k) are the weights of neighbours,
and what is `told` (n_views, n, k, q) is theirs, of classes beside what was forecast.
"""

from itertools import pairwise

import numpy as np

from ..._delay import as_it_was, late
from ...aggregators._likelihoods import learn_likelihoods, mean_under
from ...aggregators._limits import sane
from ...meta._past import Past
from . import _corrections as corrections

ROWS = 64  # of a block, at whose end the metric learns, and likelihoods are shared
_FARTHEST = 16.0  # the most that an error tells, in medians of those beside it


def blocks_of(n, *passed):
    """Yield slices of n rows, cut wherever whole blocks of `passed` rows and these end."""
    ends = {n}.union(*[range(ROWS - count % ROWS, n, ROWS) for count in passed])
    return (slice(low, high) for low, high in pairwise((0, *sorted(ends))))


class Corrector:
    """Corrects forecasts by what rows of the past tell: what is done with a row alone.

    A class says what they tell of a row (`_now`), what is kept of it (`_kept`), and counts rows.
    """

    def __init__(self, tell, delay):
        self.tell, self.delay = tell, delay

    def ask_row(self, state, x, base, limits):
        """Correct forecasts (q,) of a row x within limits (q, 3); say what it learns from, too."""
        if not self._is_heard(state, 0):
            return base, (x, base, None, None)
        F = sane(self._now(state, x[None], base[None])[0], limits)
        forecasts, known = corrections.ask_row(state["mixture"], F)
        return forecasts, (x, base, known, F)

    def teach_row(self, state, asked, u, weight):
        """Learn what a row has been `asked` with, and its targets."""
        x, base, known, F = asked
        more = () if weight == 1.0 and state["past"].weights is None else (np.array([weight]),)
        of_row = self._kept(state, x[None], *more), self.tell.of_rows(base[None], u[None])
        state["past"] += *of_row, *more
        self._went_on(state, 1)
        if known is not None:
            corrections.teach_row(state["mixture"], known, F, u, weight)
        self._end(state)

    def written(self, state):
        """Return the arrays of a state that a row has written."""
        rows, told = state["past"].rows
        return [rows[-1], told[-1], *corrections.written(state["mixture"])]

    def forget_target(self, state, j):
        """Go on as if there had been no errors of target j."""
        past = state["past"]
        (rows, told), weights = past.rows, past.weights
        told = self.tell.without(told, state["mixture"], j)
        state["past"] = Past(rows.copy(), told, past.window, len(rows), weights)

    def _end(self, state):
        """Do what is due once a call, or a row alone, has been learnt."""


class ErrorsTold:
    """Errors of q numbers: BOA mixes forecasts that are corrected by them, and those that are not.

    One that is far from all beside it, as where a jump was learnt from, tells of no row but its
    own: it counts as several medians of what the same rows tell, so that half of them set the size.

    Parameters
    ----------
    share, delay : float, int
        What all corrections weigh at first, and how late labels are.
    """

    def __init__(self, share, delay):
        self.share, self.delay = share, delay

    def start(self, n_targets, n_sums):
        return corrections.start(n_targets, n_sums, self.share, self.delay)

    def of_rows(self, base, u):
        """Return what rows will tell, (n, q)."""
        return u - base

    def missed(self, told, of_rows):
        """Return what neighbours tell (n, k, q) of rows, and what of these was missed (n, q)."""
        return told, of_rows

    def corrected(self, base, shares, told):
        """Return forecasts (n, q, 1 + n_sums) alone and corrected."""
        return _with_sums(base, shares, _bounded(told))

    def learn(self, state, F, u, weights):
        """Learn targets (n, q) of forecasts (n, q, 1 + n_sums); return mixed ones (n, q)."""
        return corrections.learn(state, F, u, weights)

    def forecast(self, state, F, ago):
        """Return forecasts as they were mixed some rounds ago."""
        return corrections.forecast(state, F, ago)

    def without(self, told, state, j):
        """Return what rows tell with nothing of target j, of which the mixture forgets all."""
        told = told.copy()
        told[:, j] = 0.0
        corrections.forget_target(state, j, self.share)
        return told


class ClassesTold(ErrorsTold):
    """Classes, as indicators (n, C): probabilities are mixed by their likelihoods.

    After every 64 rows they are mixed with what they were at first, the latter with a share of one
    over how many times 64 rows have come, and one more: who was bad may have become good, as the
    metric learns. See M. Herbster, M. K. Warmuth, "Tracking the best expert", Machine Learning 32,
    1998. Forecasts as they were lose at most -ln(1 - share) (2 + ln(1 + n / 64)) by n rows.
    """

    def start(self, n_targets, n_sums):
        known = self._prior(n_sums)
        return {"known": known, "past": np.repeat(known[None], self.delay, axis=0), "n": 0}

    def _prior(self, n_sums):
        return np.log([1.0 - self.share, *[self.share / n_sums] * n_sums])

    def of_rows(self, base, u):
        return np.concatenate([u, base], axis=1)

    def missed(self, told, of_rows):
        classes, base = np.split(of_rows, 2, axis=1)
        return told[..., : classes.shape[1]] - base[:, None], classes - base

    def corrected(self, base, shares, told):
        classes = told[..., : base.shape[1]]
        return _with_sums(base, shares, classes - base[:, None])

    def learn(self, state, F, u, weights):
        P, y, means = F.swapaxes(1, 2), u.argmax(axis=1), []
        for part in blocks_of(len(y), state["n"]):
            of_rows = {"weights": None if weights is None else weights[part], "past": state["past"]}
            mean, path = learn_likelihoods(state["known"], P[part], y[part], **of_rows)
            means.append(mean)
            state["past"] = late(path[:-1], state["past"])[1]
            state["n"] += len(mean)
            state["known"] = self._shared(path[-1] - path[-1].max(), state["n"])
        return np.concatenate(means)

    def _shared(self, known, n):
        """Return log-likelihoods after n rows, mixed with those at first where a block ends."""
        if n % ROWS:
            return known
        known, times = known - np.log(np.exp(known).sum()), n // ROWS
        first = self._prior(len(known) - 1)
        return np.logaddexp(known + np.log(times), first) - np.log1p(times)

    def forecast(self, state, F, ago):
        known = as_it_was(state["known"], state["past"], ago)
        return mean_under(known, F.swapaxes(1, 2))


def _with_sums(base, shares, told):
    """Return forecasts (n, q, 1 + n_sums) alone, and with means of what rows tell, and of one 0."""
    sums = shares @ told  # (n_views, n, n_sizes, q)
    sums /= 1.0 + np.add.reduce(shares, axis=3, keepdims=True)
    sums = sums.transpose(1, 3, 0, 2).reshape(*base.shape, -1)
    return np.concatenate([base[..., None], sums + base[..., None]], axis=-1)


def _bounded(told):
    """Return errors (n_views, n, k, q), none farther than several medians of those of its row."""
    sizes = np.abs(told)
    middle = sizes.shape[2] // 2
    sizes.partition(middle, axis=2)
    most = _FARTHEST * sizes[:, :, middle : middle + 1]
    return np.maximum(np.minimum(told, most), -most)
