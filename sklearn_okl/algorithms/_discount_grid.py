"""Members of a geometric grid of discounts, which come when the past is as long as their memory."""

import numpy as np

from ..base import _copied
from ..learners import DiscountedVAWRegressor


class DiscountGrid:
    r"""Discounted VAW of discounts 1 and :math:`1 - 2^{-i}`, the latter from round 2^i + 1 on.

    Up to round :math:`2^i` that forecaster has forgotten little, so that it begins as a copy of the
    one that forgets nothing. The states stand in a dict, as "still" and "born".

    Parameters
    ----------
    alpha, fit_intercept : float, bool
        Of the members.
    max_memory : int or None
        Largest memory 2^i; None: there is always one more.
    """

    def __init__(self, alpha, fit_intercept=False, max_memory=None):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_memory = np.inf if max_memory is None else max_memory

    def member(self, i):
        """Return the learner of member i: 0 never forgets, the others have memories 2^i."""
        forgetting = 1.0 - 0.5**i if i else 1.0
        return DiscountedVAWRegressor(
            self.alpha, forgetting=forgetting, fit_intercept=self.fit_intercept
        )

    def start(self, n_features):
        """Return the states before the first round."""
        return {"still": self.member(0)._start(n_features), "born": []}

    @staticmethod
    def members(state):
        """Return the states of all members."""
        return [state["still"], *state["born"]]

    def stretches(self, state, t, Z, y, hints):
        """Learn rows Z after t rounds; yield slices between births and the members' forecasts."""
        low = 0
        while low < len(y):
            birth = 2 ** (len(state["born"]) + 1)  # after so many rounds
            has_birth = birth <= self.max_memory
            high = min(len(y), low + birth - t) if has_birth else len(y)
            rows = slice(low, high)
            yield (
                rows,
                np.column_stack(
                    [
                        self.member(i)._learn(member, Z[rows], y[rows], hint=hints[rows])
                        for i, member in enumerate(self.members(state))
                    ]
                ),
            )
            t += high - low
            if has_birth and t == birth:
                state["born"].append(_copied(state["still"]))
            low = high

    def forecast(self, state, Z, hints):
        """Return the forecasts (n, members) of all of them for rows Z."""
        columns = []
        for i, member in enumerate(self.members(state)):
            learner = self.member(i)
            columns.append(learner._forecast_with_leverages(member, learner._design(Z), hints)[0])
        return np.column_stack(columns)

    def close(self, state, grows=False):
        """Let large arrays be shared by copies."""
        for i, member in enumerate(self.members(state)):
            self.member(i)._close(member, grows)
