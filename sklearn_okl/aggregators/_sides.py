"""What a round of a stacked mixture asks of its parts, and what it teaches them.

A round is the same whether it learns or asks only: its side knows which.
"""

from functools import cache

import numpy as np

from .._delay import late
from ..learners import VAWRegressor
from . import _apart as apart
from . import _boas, _limits, _two_boas
from ._fading_means import known_likelihoods, learn_likelihoods, likelihood_paths

LARGEST = 4.0  # error, in scales: if the first targets are alike, the next one is far off


class Side:
    """What a round needs, whether it learns or asks only."""

    def __init__(self, mixture, state, limits, scales, ago):
        self.limits, self.scales = limits, scales
        self.heard = None  # in rows that are alike, once that is known
        self._mixture, self._state, self._ago = mixture, state, ago

    @property
    def lagless(self):
        """Who does not see the latest targets (K,), or None where that is not known."""
        return self._state.get("lagless")

    @property
    def rounds(self):
        """The faded count (..., q, 1) of the rounds before each row, whatever their weights."""
        n, fading = self.limits[..., 2:], self._mixture.fadings[-1]
        return (1.0 - fading**n) / (1.0 - fading)

    def give_way(self, F):
        """Let limits give way to experts beyond them; return what that was decided by."""
        beyond = _limits.are_beyond(F, self.limits)
        if not self._mixture.fadings or not np.logical_or.reduce(beyond, axis=None):
            return None
        losses, _ = known_likelihoods(self._state["fading"][-1], self._ago)
        led = _limits.leading(F, beyond, losses, self.rounds)
        self.limits, found = _limits.given_way(self._state, F, self.limits, *led, self._ago)
        return found


class Learning(Side):
    """The side of a round that learns: what each part says of rows, before it is taught them."""

    def __init__(self, mixture, state, limits, scales, y, weights, rows):
        super().__init__(mixture, state, limits[rows], scales[rows], len(state["past"]))
        self._y, self._weights = y[rows], None if weights is None else weights[rows]
        self._found = None

    def give_way(self, F):
        before = self.limits[0]
        found = super().give_way(F)
        if found is not None:
            self._found = before, *(part[0] for part in found)

    def latest_losses(self, F):
        squares = np.square(np.where(np.isnan(F), 0.0, F) - self._y[..., None])
        state, fading = self._state["fading"][-1], self._mixture.fadings[-1]
        paths = likelihood_paths(state, squares, fading, self._weights)
        return [late(path[:-1], state["past"][name])[0] for name, path in paths.items()]

    def look(self, means, F):
        """Tell which rows (n,) are to be asked what others say without the direct experts.

        After others in which some are apart it may be all in which direct ones have a say.
        """
        self._apart = found = self._learn_apart(means, F)
        is_heard = ~np.isnan(means.a)
        is_after = np.logical_or.accumulate((found.shares > 0.0).any(axis=-1))
        is_after = np.append(False, is_after[:-1])[:, None]
        return (is_heard & ((found.shares > 0.0) | (is_after & (found.octaves >= 0)))).any(axis=-1)

    def shares(self, means, F):
        """Return the shares of rows as they are if nobody is asked more in them."""
        self._before_apart = self._state["apart"]
        found = self._apart if self.heard else self._learn_apart(means, F)
        self._state["apart"] = found.state
        return found.shares

    def others_say(self, means, F, together):
        """Return the shares of rows, and what others say, who say such things `together`."""
        self._state["apart"] = self._before_apart
        found = self._learn_apart(means, F, together)
        self._state["apart"] = found.state
        return found.shares, found.found

    def _learn_apart(self, means, F, together=None):
        return apart.learn(self._state["apart"], means, F, self._y, self._weights, together)

    def asking(self):
        """Return the side of the same rows before they are learnt."""
        ago = len(self._state["past"])
        return Asking(self._mixture, self._state, self.limits, self.scales, ago)

    def first(self, F):
        factors = _boas.factors_of(len(F), self._weights)
        return _boas.learn(self._state["experts"], F, self._y, factors)[..., 0]

    def likelihoods(self, F, of_boa):
        # who sleeps is charged what BOA loses, as specialists are
        squares = np.where(np.isnan(F), of_boa[..., None], F) - self._y[..., None]
        np.square(squares, out=squares)
        for fading, state in zip(self._mixture.fadings, self._state["fading"], strict=True):
            yield learn_likelihoods(state, squares, fading, self._weights)

    def corrections(self, D, base):
        errors = np.minimum(np.maximum((self._y - base) / self.scales, -LARGEST), LARGEST)
        errors = errors.T[..., None]
        for stack, state in zip(self._mixture.stacks, self._state["stacks"], strict=True):
            known = regression(*stack, "past" in state)
            yield known._learn(state, D, errors, self._weights)[..., 0].T

    def last(self, columns):
        _limits.wait(self._state, len(self._y))
        if self._found is not None:
            weight = 1.0 if self._weights is None else self._weights[0]
            _limits.learn_beyond(self._state, self._y[0], *self._found, weight)
        return _two_boas.learn(self._state["last"], columns, self._y, self._weights)


class Asking(Side):
    """The side of a round that asks only, by what was known some rounds ago."""

    def latest_losses(self, F):
        return known_likelihoods(self._state["fading"][-1], self._ago)

    def shares(self, means, F):
        return self.others_say(means, F, None)[0]

    def others_say(self, means, F, together):
        known = apart.known_ago(self._state["apart"], self._ago)
        return apart.asked(known, means, F, together)

    def asking(self):
        return self

    def first(self, F):
        return _boas.forecast(self._state["experts"], F, self._ago)[..., 0]

    def likelihoods(self, F, of_boa):
        for state in self._state["fading"]:
            yield known_likelihoods(state, self._ago)

    def corrections(self, D, base):
        for stack, state in zip(self._mixture.stacks, self._state["stacks"], strict=True):
            known = state | {"theta": state["past"][:, -self._ago]} if self._ago else state
            yield regression(*stack, "past" in state)._forecast(known, D).T

    def last(self, columns):
        return _two_boas.forecast(self._state["last"], columns, self._ago)


class AskingLines(Asking):
    """The side of a round whose regressions forecast by the ridge solution, without shrinkage."""

    def shares(self, means, F):
        return np.zeros(means.b.shape)  # experts are asked one by one

    def corrections(self, D, base):
        for stack, state in zip(self._mixture.stacks, self._state["stacks"], strict=True):
            yield regression(*stack, True)._forecast(state, D).T


@cache
def regression(alpha, forgetting, is_late):
    # the leverage of a row in a model some rounds ago would ask for all matrices since then
    forecaster = "ridge" if is_late else "vaw"
    return VAWRegressor(alpha, forecaster=forecaster, forgetting=forgetting)
