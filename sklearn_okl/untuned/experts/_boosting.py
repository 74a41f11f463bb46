"""Boosting: a chain of kernels, each link of which learns what the links before it leave.

The first link learns the errors of the mixture of the experts, the next one what is left of them,
and so on; the latest of a few partial sums is not always the best, so BOA mixes them, beginning
with the mixture alone. After A. Beygelzimer, E. Hazan, S. Kale, H. Luo, "Online gradient boosting",
NIPS 2015, where a link is any weak learner that is taught what the partial sum before it leaves.
"""

import numpy as np

from ...aggregators._limits import sane
from ...base._bank import counters_of, forecast_bank, learn_group
from . import _corrections as corrections
from ._banks import MaskedFeatures, awake, forget_target, learner_of, start_bank

_FEW = 8  # rows that go through all links one by one: a block would copy and write P and A


class Boosting:
    """Corrects forecasts by a chain of links, each the mean of some kernels of a bank.

    Parameters
    ----------
    width : int
        Kernels of a link, which stand beside each other.
    stride : int
        Links from one partial sum that is mixed to the next.
    share : float
        Prior weight of all sums together, which are to show first that they are better.
    burn_in : int
        Rounds that it learns before it is heard: the first ones say little, at every link.
    delay : int
        Rounds by which labels are late.
    """

    def __init__(self, width, stride, share, burn_in, delay):
        self.width, self.stride, self.share = width, stride, share
        self.burn_in, self.delay = burn_in, delay

    def start(self, plan, rng, n_targets):
        """Return the state of a chain of planned kernels before its first row: it says nothing."""
        n_sums = plan.room // self.width // self.stride
        return {
            "bank": start_bank(plan, rng, self.delay, n_targets),
            "mixture": corrections.start(n_targets, n_sums, self.share, self.delay),
        }

    def learn(self, state, U, base, u, sane, weights=None):
        """Learn what forecasts `base` (n, q) of targets u (n, q) leave; return corrected ones.

        U (n, n_columns) is what the kernels see, and `sane` clips forecasts (n, q, n_sums). Rows
        end where the chain begins to be heard.
        """
        is_heard = self._is_heard(state, self.delay)
        learn = self._learn_rows if len(u) <= _FEW else self._learn_blocks
        sums = learn(state["bank"], U, base, u, weights)
        if not is_heard:
            return base
        return corrections.learn(state["mixture"], sane(self._mixed_sums(sums)), u, weights)

    def forecast(self, state, U, base, sane, ago=0):
        """Return corrected forecasts (n, q) by what was known some rounds ago; learns nothing."""
        if not self._is_heard(state, ago):
            return base
        bank = awake(state["bank"], ago)
        F = forecast_bank(MaskedFeatures, learner_of(state["bank"]), bank, U)
        F = sane(self._mixed_sums(self._sums(base, F)))
        return corrections.forecast(state["mixture"], F, ago)

    def ask_row(self, state, U, base, limits):
        """Return corrected forecasts (q,) of a row U (1, n_columns), and what `teach_row` takes.

        Its base forecasts are (q,), limits of sane ones (q, 3), and labels are not late.
        """
        bank = state["bank"]
        Z = MaskedFeatures.transform(bank["features"], U)[:, 0]  # (K, D)
        F = np.einsum("kd,kdq->kq", Z, bank["experts"]["theta"])
        sums = self._sums(base[None], F[None])[0]  # (1 + n_links, q)
        if not self._is_heard(state, 0):
            return base, (Z, sums, None, None)
        F = sane(sums[:: self.stride].T, limits)
        forecasts, known = corrections.ask_row(state["mixture"], F)
        return forecasts, (Z, sums, known, F)

    def teach_row(self, state, asked, u, weight):
        """Learn targets (q,) of a row that was asked for."""
        (Z, sums, known, F), bank = asked, state["bank"]
        taught = np.repeat(u - sums[:-1], self.width, axis=0)
        learner_of(bank)._learn_row(bank["experts"], Z, taught, weight)
        if known is not None:
            corrections.teach_row(state["mixture"], known, F, u, weight)

    def written(self, state):
        """Return the arrays that a row has written, but for those of the matrices."""
        experts = state["bank"]["experts"]
        parts = [experts[name] for name in ("theta", "b", "squares")]
        return parts + corrections.written(state["mixture"])

    def are_finite(self, state):
        """Tell whether the matrices of the kernels are."""
        return state["bank"]["experts"]["inverse"].is_finite

    def lines(self, state):
        """Return the weights (q, L) that the kernels of the links have in what is answered."""
        room = len(state["bank"]["members"])
        if not self._is_heard(state, 0):
            return None
        of_sums = corrections.weights(state["mixture"])
        # a link is in its own sum and in all later ones
        first = 1 + np.arange(room) // self.width // self.stride
        later = np.cumsum(of_sums[:, ::-1], axis=1)[:, ::-1]
        later = np.column_stack([later, np.zeros(len(later))])
        return later[:, np.minimum(first, later.shape[1] - 1)] / self.width

    def forget_target(self, state, j):
        """Forget what was learnt of target j."""
        forget_target(state["bank"], j)
        corrections.forget_target(state["mixture"], j, self.share)

    def close(self, state, grows=False):
        """Let large arrays be shared by copies of the state."""
        learner_of(state["bank"])._close(state["bank"]["experts"], grows)

    def _mixed_sums(self, sums):
        """Return those of the partial sums (n, 1 + n_links, q) that are mixed, (n, q, n_sums)."""
        return sums[:, :: self.stride].swapaxes(1, 2)

    def _is_heard(self, state, ago):
        return state["bank"]["experts"]["t"] - ago >= self.burn_in

    def _sums(self, base, F):
        """Return the partial sums (n, 1 + n_links, q) of forecasts F (n, n_links * width, q)."""
        steps = F.reshape(len(F), -1, self.width, F.shape[-1]).mean(axis=2)
        return np.cumsum(np.concatenate([base[:, None], steps], axis=1), axis=1)

    def _learn_blocks(self, bank, U, base, u, weights):
        """Learn rows a link at a time: its targets are known once the links before it have."""
        expert, room = learner_of(bank), len(bank["members"])
        expert._open(bank["experts"])
        F = np.empty((len(u), room, u.shape[1]))
        sums = np.empty((len(u), 1 + room // self.width, u.shape[1]))
        sums[:, 0] = base
        more = () if weights is None else (weights,)
        for link in range(sums.shape[1] - 1):
            kernels = slice(link * self.width, (link + 1) * self.width)
            taught = (u - sums[:, link], *more)
            known = learn_group(MaskedFeatures, expert, bank, U, taught, F, kernels)
            sums[:, link + 1] = sums[:, link] + F[:, kernels].mean(axis=1)
        bank["experts"].update(counters_of(known))  # the same for every link
        return sums

    def _learn_rows(self, bank, U, base, u, weights):
        """Learn a few rows, all links of a row at once: forecasts need no target of their round."""
        expert, experts = learner_of(bank), bank["experts"]
        Z = MaskedFeatures.transform(bank["features"], U)  # (K, n, D)
        sums = np.empty((len(u), 1 + len(Z) // self.width, u.shape[1]))
        for t in range(len(u)):
            theta = experts["past"][:, 0] if self.delay else experts["theta"]
            F = np.einsum("kd,kdq->kq", Z[:, t], theta)
            sums[t] = self._sums(base[t : t + 1], F[None])[0]
            taught = np.repeat(u[t] - sums[t, :-1], self.width, axis=0)
            weight = 1.0 if weights is None else float(weights[t])
            expert._learn_row(experts, Z[:, t], taught, weight)
        return sums
