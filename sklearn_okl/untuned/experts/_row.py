"""One row of experts of numbers: what `Experts` does with a block of one, in few calls.

A row is asked, which changes nothing, and may be taught then, for which nothing is computed again.
So a guard sees the forecast of a row before it is learnt, and who has forecast a row learns it for
less. The parts are rows themselves: inputs, banks, the mixture.
"""

from math import isfinite
from operator import is_

import numpy as np

from ..._linalg import column
from ...aggregators._stacked_row import MixtureRow
from ..rows._codes import beside_many, codes_of, of_many
from ..rows._input_row import InputRow
from ..rows._inputs import Seen
from ._bank_rows import BankRow, PackedBankRow, layout_of
from ._banks import is_closed
from ._effects import EFFECTS
from ._experts import ages_of
from ._leaves import TREES


class ExpertsRow:
    """A row that the experts were asked for, and may learn then.

    Parameters
    ----------
    experts : Experts of numbers
        See `takes`.
    state : dict of the model
    is_own : bool, default=True
        Whether its arrays may be written: else it is only asked.
    """

    def __init__(self, experts, state, is_own=True):
        self.experts, self.state = experts, state
        banks = _awake(state)
        self.parts = [state["inputs"], state["mixture"], *banks]
        self.layout = layout = layout_of(experts, banks, len(state["rounds"]))
        self.there, self.trees = layout.there_of_all, experts.leaves.are_there(state["leaves"])
        self.has_leaves = any(self.trees)
        self.has_effects = experts.effects.is_there(state["effects"])
        if self.has_leaves or self.has_effects:
            self.there = self.there.copy()
            self.there[TREES] = self.trees
        if self.has_effects:
            self.there[EFFECTS] = True
        self.lines = experts.lines(state)
        self.missing = ~self.there
        self.silent = np.tile(self.missing, (experts.kind.n_targets, 1))
        if self.has_leaves:
            self.silent[:, TREES] |= ~experts.leaves.heard(state["leaves"]).T
        self.n_steps, self.steps = self.there.astype(int), self.there.astype(float)
        self.without_lags = layout.without_lags
        self.inputs = InputRow(experts.inputs, state["inputs"])
        of_banks = PackedBankRow if experts.budget.compact else BankRow
        self.of_banks = of_banks(layout, banks, is_own)
        self.mixture = MixtureRow(experts.kind.mixture, state["mixture"], self.missing)
        self.F = np.full((experts.kind.n_targets, len(self.there)), np.nan)
        self.first = np.arange(len(self.F)) * len(self.there)  # of each target, in all of it
        n_logs = experts.kind.n_taught - len(self.F)
        self.logs = np.full((n_logs, len(self.there)), np.nan)
        self.asked = self.found = None
        self.is_own = is_own
        if is_own:
            self._own(is_copy=False)

    def moved(self, state):
        """Go on with a copy of the state, which may be written: the state itself stays as it is."""
        banks = _awake(state)
        self.state, self.parts = state, [state["inputs"], state["mixture"], *banks]
        self.inputs.state = state["inputs"]
        self.of_banks.own(banks, is_copy=self.is_own)
        self._own(is_copy=self.is_own)
        self.is_own = True
        return self

    def _own(self, is_copy):
        """Let what is written be parts of common arrays; the mixture's regressions share theirs.

        A long call has opened them.
        """
        self.mixture.own(self.state["mixture"], is_copy)
        if not self.experts.budget.compact:
            self.mixture.close()

    @staticmethod
    def takes(experts, state):
        """Whether rows of a state are learnt so: it knows its experts, and no label is late."""
        return (
            experts.takes_rows
            and not experts.delay
            and bool(experts.kind.mixture.fadings)
            and InputRow.takes(experts.inputs, state["inputs"])
            and all(is_closed(bank["experts"]) for bank in state["banks"].values())
        )

    def is_of(self, state):
        """Whether this goes on with a state: nothing has come between."""
        parts = [state["inputs"], state["mixture"], *_awake(state)]
        return (
            state is self.state
            and len(parts) == len(self.parts)
            and all(map(is_, parts, self.parts))
            and self.experts.leaves.are_there(state["leaves"]) == self.trees
            and self.experts.effects.is_there(state["effects"]) == self.has_effects
            and self.of_banks.is_current
            and self.mixture.is_current
        )

    @property
    def writes_all(self):
        """Whether nobody but this row has learnt, beside or behind it."""
        state = self.state
        others = state.get("sizes"), state["former"]
        return not any(others) and not (state["anew"]["twin"] or state["beside"]["twin"])

    def is_finite(self, others):
        """Tell whether all that it writes is: of experts, their inputs and mixture, and others."""
        state = self.state
        written, kind = [*others, state["losses"], state["masses"]], self.experts.kind
        are_finite = self.of_banks.is_finite and self.mixture.is_finite
        correctors = {"boosting": kind.boosting, "logarithms": kind.logarithms}
        for name, one in correctors.items():
            if state[name]:
                written += one.written(state[name])
                are_finite = are_finite and one.are_finite(state[name])
        if state["cells"]:
            written += kind.cells.written(state["cells"])
        if state["effects"]:
            written += self.experts.effects.written(state["effects"])
        if state["near"]:
            written += kind.neighbours.written(state["near"])
        written += self.inputs.written + self.mixture.written + self.of_banks.written
        total = np.add.reduce(np.concatenate(written, axis=None)).item()
        return isfinite(total) and are_finite

    def ask(self, X):
        """Return the forecasts (q,) of a row X (1, d); None where it is not plain.

        Of the row that was asked for last they are known.
        """
        n_nominal = len(self.state["columns"]["layout"]["nominal"])  # some turn out to be numbers
        asked = self.state["t"], n_nominal, X.tobytes()
        if asked != self.asked:
            self.asked, self.found = asked, self._ask(X)
        return self.found

    def _ask(self, X):
        experts, state = self.experts, self.state
        self.Z = experts.encoder.look(state["columns"], X)
        seen = self.inputs.ask(self.Z[0], state["t"])
        if seen is None:
            return None
        F = self.F
        walks, scales = self.inputs.walks
        n, layout = len(walks), self.layout
        F[:, :n] = walks.T
        self.seen = seen, walks, scales
        if layout.hears:
            of_target = self.mixture.known_limits()[0], float(scales[0])
            known = self.of_banks.ask_in_turn(*seen, *of_target).T
        else:
            known = self.of_banks.ask(*seen).T
        places, q = slice(n, n + known.shape[1]), len(F)
        np.copyto(F[:, places], known[:q], where=layout.there)
        np.copyto(self.logs[:, places], known[q:], where=layout.there)
        self.bases = experts.leaves.bases(F, self.lines)
        burn_in, rounds = experts.constants.burn_in, state["rounds"]
        asleep = self.silent.copy()
        for of_target, age in zip(asleep, ages_of(state), strict=True):
            of_target |= rounds < min(age, burn_in)
        self.heard = ~asleep
        if self.has_leaves:
            of_row = state["leaves"], self.Z, self.bases
            F[:, TREES], self.in_leaves = experts.leaves.ask_row(*of_row)
        self.codes = codes_of(state, X)
        if experts.effects.is_tried(state["effects"]):
            of_row = of_many(state, self.codes), beside_many(state, self.seen[0][1])
            self.of_effects, self.for_effects = experts.effects.ask_row(state["effects"], *of_row)
            if self.has_effects:
                F[:, EFFECTS] = self.of_effects
        forecasts = self.mixture.ask(F, asleep, scales, state["t"])
        return forecasts if forecasts is None else self._corrected(forecasts, X)

    def _corrected(self, forecasts, X):
        """Return forecasts (q,) corrected by the chain, and by errors of rows that are alike."""
        state, kind, (inputs, _) = self.state, self.experts.kind, self.seen[0]
        limits = self.mixture.before.limits
        if state["boosting"]:
            n_columns = state["boosting"]["bank"]["features"]["frequencies"].shape[1]
            of_row = inputs[None, :n_columns], forecasts, limits
            forecasts, self.of_links = kind.boosting.ask_row(state["boosting"], *of_row)
        if state["near"]:
            of_row = kind.compared(state, inputs[None])[0], forecasts, limits
            forecasts, self.of_near = kind.neighbours.ask_row(state["near"], *of_row)
        if state["cells"]:
            of_row = self.codes[0], forecasts, limits
            forecasts, self.of_cells = kind.cells.ask_row(state["cells"], *of_row)
        if state["logarithms"]:
            of_row = forecasts, self.F, self.logs, self.heard, limits
            forecasts, self.of_logarithms = kind.logarithms.ask_row(state["logarithms"], *of_row)
        return forecasts

    def teach(self, X, u, forecasts, weight, run):
        """Learn targets u (q,) of the row that was asked for last, and was forecast so."""
        state, F, experts = self.state, self.F, self.experts
        t, target = experts.n_learnt(state), column(u)
        experts.encoder.learn(state["columns"], X, u[None])
        self.inputs.teach(u)
        taught = experts.kind.taught(state, u)
        self.of_banks.teach(taught, weight)
        self.mixture.teach(u, weight)
        if state["logarithms"]:
            of_row = self.of_logarithms, taught, self.seen[2], weight
            experts.kind.logarithms.teach_row(state["logarithms"], *of_row)
        if state["boosting"]:
            experts.kind.boosting.teach_row(state["boosting"], self.of_links, u, weight)
        if state["cells"]:
            experts.kind.cells.teach_row(state["cells"], self.of_cells, u, weight)
        if state["near"]:
            experts.kind.neighbours.teach_row(state["near"], self.of_near, u, weight)
        state["rounds"] += self.n_steps
        squares = F - target
        squares *= squares
        np.copyto(squares, 0.0, where=self.missing)
        state["losses"] += squares if weight == 1.0 else weight * squares
        state["masses"] += self.steps if weight == 1.0 else weight * self.steps
        if state.get("sizes"):
            of_row = self._seen_by_sizes(), forecasts, u, run, None if weight == 1.0 else weight
            experts.sizes.learn_row(state["sizes"], *of_row)
        if self.has_leaves:
            experts.leaves.teach_row(state["leaves"], self.in_leaves, u, self.bases)
        if experts.effects.is_tried(state["effects"]):
            of_row = self.for_effects, u, forecasts, self.of_effects, weight
            experts.effects.teach_row(state["effects"], t, *of_row)
        if not experts.budget.compact:
            of_row = u[None], forecasts[None], self.bases[None]
            experts.leaves.keep(state["leaves"], t, self.Z, *of_row)

    def _seen_by_sizes(self):
        """Return what is seen of the row as a block of one."""
        (inputs, steady), walks, scales = self.seen
        return Seen(inputs[None], steady[None], walks[None], scales[None], None, np.zeros(1, bool))


def _awake(state):
    """Return the banks with somebody awake: those of who is to be born are the last."""
    return [bank for bank in state["banks"].values() if bank["members"]]
