"""The experts of the estimators without tuning, for numbers in a unit or for classes.

Several targets share the experts, which learn all of them with one inverse, and see the latest
values of all. What they are scored and mixed by is in `_numbers.py` and `_classes.py`, what they
see in `_inputs.py`, which there are in `_plan.py`, how they learn in `_banks.py`; of faulty targets
and of new units nothing is known here.
"""

from functools import partial
from operator import itemgetter

import numpy as np

from ...aggregators._limits import sane
from ...base._bank import forecast_bank, learn_bank
from ..rows import _values as values
from ..rows._codes import beside_many, codes_of, of_many
from ..rows._encoding import Encoder
from ..rows._inputs import LaggedInputs
from ._banks import (
    MaskedFeatures,
    add_members,
    awake,
    close_bank,
    each_array,
    forget_target,
    inputs_of,
    learner_of,
    slopes,
    start_bank,
)
from ._effects import EFFECTS, Effects
from ._leaves import KINDS, TREES, Leaves
from ._plan import (
    BORN,
    MAIN,
    births_of,
    chain,
    lagless_plan,
    plan,
    refined,
    with_whole_line,
)
from ._renewed_waves import may_be_renewed, renew, renewals_of
from ._scales import balanced, in_shares, shares_of_two
from ._sizes import RowSizes
from ._small import fence_of, units_of
from ._table import table_of

_HELPS = 0.99  # of a line's loss, that of one that sees lags, from which on these help
_SMALL_PAST = 512  # rows that a small model keeps of columns of few values, until there are more


class Experts:
    """Random walks and banks of kernels that learn a stream together.

    Their state is a part of the estimator's; its ages are rounds since what was learnt of each
    target counts.

    Parameters
    ----------
    kind : type
        `NumberTargets` or `ClassTargets`: what they are scored and mixed by.
    n : int
        Number of targets, or of classes.
    budget : Budget
    forgetting : float or None
    lags, delay : int
    constants : Constants
    """

    def __init__(self, kind, n, budget, forgetting, lags, delay, constants):
        self.kind = of = kind(n, budget, lags, delay, constants)
        self.takes_rows = of.takes_rows  # whether `ExpertsRow` knows all that is done with a row
        self.budget, self.forgetting = of.budget, forgetting
        self.delay, self.constants = delay, constants
        self.births, self.fence = births_of(budget, constants), fence_of(budget, constants)
        # rounds at which waves of a small model give way to others
        self.renewals = renewals_of(self.births, constants.burn_in) if budget.compact else ()
        self.makes_kernels = *self.births, *self.renewals
        most_rows = _SMALL_PAST if budget.compact else None
        self.encoder = Encoder(delay, of.n_targets, of.own_gaps, most_rows)
        n_quantiles = constants.n_quantiles if budget.ranks else 0
        self.inputs = LaggedInputs(
            of.n_lags, delay, units_of(budget, constants), n_quantiles, of.n_targets, of.n_walks > 0
        )
        self.most_values = 0 if budget.compact else values.room(budget.work)
        self.lags = self.inputs.n_lag_columns
        self.leaves = Leaves(of.n_targets or 1, delay, bool(of.shape), 1 + (self.lags > 0))
        self.effects = Effects(of.n_targets or 1, delay)
        m = max(int(budget.frequencies * constants.frequencies), 1)
        self.sizes = RowSizes(of.n_targets, self.lags, delay, m, forgetting)
        self.may_do_without_lags = of.n_walks > 0 and not budget.compact  # numbers with lags
        self.begins = *of.neighbours.begins, *of.cells.begins, *of.begins_of_logarithms

    def plan(self, n_features, n_trees=0, ordered=True):
        """Return the banks by name, see `_plan.py`; trees are not among the features."""
        of_all = self.forgetting, self.budget, self.constants
        make = plan if ordered else lagless_plan
        return make(n_features, self.lags, *of_all, n_trees, self.kind.n_targets or 1)

    def start(
        self,
        n_features,
        seed,
        n_own,
        n_trees=0,
        unseen=((), (), ()),
        n_codes=(0, 0, 0),
        ordered=True,
    ):
        """Return the first state; behind its own features come those of trees, and of values.

        Most experts do not see the first of those `unseen`, nor one line the second, nor that of
        effects the last.
        """
        rng, plans = np.random.RandomState(seed), self.plan(n_own, n_trees, ordered)
        n_values = n_features - n_own - n_trees
        if n_values or (len(unseen[0]) and not self.budget.compact):
            plans = with_whole_line(plans, n_values)
        of_banks = rng, self.delay, self.kind.n_taught, unseen
        n_many = n_codes[2] * (not self.budget.compact)
        shown = np.ones(n_features - n_values + self.lags)
        shown[np.array(unseen[2], dtype=int)] = 0.0
        effects = self.effects.start(n_many, shown, n_values)
        n_experts = self.inputs.n_walks + sum(bank.room for bank in plans.values()) + len(KINDS)
        n_experts += bool(effects)
        state = {
            "inputs": self.inputs.start(n_features, n_trees, n_values),
            "banks": {name: start_bank(bank, *of_banks) for name, bank in plans.items()},
            "leaves": self.leaves.start(n_own),
            "effects": effects,
            "rounds": np.zeros(n_experts, dtype=int),
            "losses": np.zeros((*self.kind.shape, n_experts)),
            "masses": np.zeros(n_experts),  # sums of the weights of the rows forecast
        } | self.kind.start(n_experts, n_own, seed, n_codes, ordered)
        return self._knows_lagless(state)

    def _knows_lagless(self, state):
        """Let the mixture know who sees no lags; return the state."""
        if "apart" in state["mixture"]:
            lagless = np.zeros(len(state["rounds"]), dtype=bool)
            lagless[self.without_lags(state)] = True
            state["mixture"]["lagless"] = lagless
        return state

    def learn_rows(self, state, X, y, weights, run):
        """Learn rows as they come, and targets; return what `learn` does."""
        Z = self.encoder.learn(state["columns"], X, self.kind.targets(y))
        return self.learn(state, Z, y, ages_of(state), run, weights, codes_of(state, X))

    def forecast_rows(self, state, X, ago=0, ahead=False):
        """Return forecasts of rows as they come by what was known some rounds ago."""
        of_columns = self.delay - np.arange(len(X)) if ahead else ago
        Z = self.encoder.look(state["columns"], X, of_columns)
        return self.forecast(state, Z, ages_of(state), ago, ahead, codes_of(state, X))

    def learn(self, state, X, y, ages, run, weights=None, codes=None):
        """Learn rows and targets (n, q), or places (n,), that have counted for `ages` rounds.

        Of weights (n,) know the experts' updates, the mixtures, and the losses.

        Returns
        -------
        forecasts : ndarray of shape (n, q) or (n, C)
            Those of the whole.
        F : ndarray of shape (q, n, K)
            Those of the experts, NaN where one is yet to be born; of two classes q is 1.
        """
        n_learnt, heard = self.n_learnt(state), self._heard(state, ages, self.delay)
        yet_to_be_born = state["rounds"] < min(self.delay, n_learnt)
        u = self.kind.targets(y)
        seen, awake = self.inputs.learn(state["inputs"], X, u), self._awake(state)
        teach = partial(self._teach, u=self.kind.taught(state, u), run=run, weights=weights)
        limits = self.kind.limits_of_heard(state, u) if self.budget.compact else None
        F, logs = self._forecasts(state, awake, seen, len(u), teach, limits)
        for _, places in awake:
            state["rounds"][places] += len(u)
        bases = self.leaves.bases(F, self.lines(state))
        there = self.leaves.there(state["leaves"])
        if there.any():
            F[..., TREES] = self.leaves.learn(state["leaves"], X, u, bases).swapaxes(0, 1)
            state["rounds"][TREES] += there * len(u)
        tries_effects = self.effects.is_tried(state["effects"])
        if tries_effects:
            of_rows = of_many(state, codes), beside_many(state, lines_see(seen)), u, F, weights
            of_effects = self.effects.learn(state["effects"], *of_rows)
            state["rounds"][EFFECTS] += self.effects.is_there(state["effects"]) * len(u)
        F[..., yet_to_be_born] = np.nan
        self._lose(state, F, u, weights, n_learnt)
        of_rows = F, y, seen._replace(codes=codes, logs=logs), heard, weights
        forecasts = self.kind.learn(state, *of_rows)
        if not self.budget.compact:
            issued = self.kind.as_targets(forecasts)
            self.leaves.keep(state["leaves"], n_learnt, X, u, issued, bases)
            if tries_effects:
                self.effects.keep(state["effects"], n_learnt, u, issued, of_effects)
        if state.get("sizes"):
            n_first = max(1 + self.delay - n_learnt, 0)
            self.sizes.learn(state["sizes"], seen, forecasts, u, n_first, run, weights)
        return forecasts, F

    def _lose(self, state, F, u, weights, n_learnt):
        """Count what forecasts F (q, n, K) have lost, and of rows of which weights."""
        n_first = max(1 + self.delay - n_learnt, 0)  # whose forecasts are none
        squares = self.kind.squares(F - u.T[..., None])[..., n_first:, :]
        counted = np.ones(len(u)) if weights is None else weights
        if weights is not None:
            squares *= weights[n_first:, None]
        squares[np.isnan(squares)] = 0.0
        state["losses"] += np.add.reduce(squares, axis=-2)
        if self.kind.first_counts:
            n_first = max(self.delay - n_learnt, 0)
        state["masses"] += np.where(np.isnan(F[0, -1]), 0.0, counted[n_first:].sum())

    def forecast(self, state, X, ages, ago=0, ahead=False, codes=None):
        """Return forecasts (n, q) by what was known some rounds ago; learns nothing."""
        of_inputs = self.delay - np.arange(len(X)) if ahead else ago
        F, seen = self.ask(state, X, ago, of_inputs, codes)
        return self.kind.forecast(state, F, seen, self._heard(state, ages, ago), ago, of_inputs)

    def forecast_sizes(self, state, X, ago=0, ahead=False):
        """Return the sizes (n, q) of the errors that forecasts of rows as they come will make."""
        of_inputs = self.delay - np.arange(len(X)) if ahead else ago
        Z = self.encoder.look(state["columns"], X, of_inputs)
        F, seen = self.ask(state, Z, ago, of_inputs, codes_of(state, X))
        heard = self._heard(state, ages_of(state), ago)
        forecasts = self.kind.forecast(state, F, seen, heard, ago, of_inputs)
        return self.sizes.forecast(state["sizes"], seen, forecasts, ago, of_inputs)

    def ask(self, state, X, ago=0, of_inputs=None, codes=None):
        """Return the forecasts (q, n, K) of the experts, and what they see of the rows.

        Inputs may be known of other rounds, one a row, than the experts.
        """
        seen = self.inputs.look(state["inputs"], X, ago if of_inputs is None else of_inputs)
        awake = self._awake(state)
        limits = self.kind.limits_of_heard(state, ago=ago) if self.budget.compact else None
        F, logs = self._forecasts(state, awake, seen, len(X), partial(_asked, ago=ago), limits)
        if self.leaves.there(state["leaves"]).any():
            bases = self.leaves.bases(F, self.lines(state))
            F[..., TREES] = self.leaves.look(state["leaves"], X, bases, ago).swapaxes(0, 1)
        if codes is not None and self.effects.is_there(state["effects"]):
            of_rows = of_many(state, codes), beside_many(state, lines_see(seen)), F, ago
            self.effects.look(state["effects"], *of_rows)
        return F, seen._replace(codes=codes, logs=logs)

    def lines(self, state):
        """Return the places of the linear experts of which a tree may learn what one leaves.

        Of those that forget as they are asked to, with the first ridge: one that sees lags, if
        there are any, and one that does not, or the first one twice where there is room for one.
        None where there is no room for so many inputs.
        """
        name = f"linear, {1.0 if self.forgetting is None else self.forgetting}"
        if name not in state["banks"]:
            return np.empty(0, dtype=int)
        place = self._places(state)[name]
        return np.minimum(place.start + np.arange(self.leaves.n_lines), place.stop - 1)

    def try_leaves(self, state):
        """Let a tree be one more expert from now on if it would have helped so far, or effects."""
        shares, lines = self.kind.shares(state), self.lines(state)
        losses = state["losses"] if shares is None else shares @ state["losses"]
        best = losses[lines].argmin() if len(lines) else None
        found = self.leaves.try_out(state["leaves"], best)
        if found is not None:
            kind, losses = found
            self._put_in(state, np.arange(len(state["rounds"]))[TREES][kind], losses)
        losses = self.effects.try_out(state["effects"])
        if losses is not None:
            self._put_in(state, EFFECTS, losses)

    def _put_in(self, state, place, losses):
        """Let an expert that has such losses (q,) a row be there as if it had always been."""
        n, masses = self.n_learnt(state), state["masses"].max()
        state["rounds"][place], state["masses"][place] = n, masses
        state["losses"][..., place] = masses * (losses if self.kind.shape else losses.sum())

    def that_see_rows(self, state, X, ago=0):
        """Return the forecasts (q, n, K) of the experts that see rows and no lags.

        And which rows (n,) have values that no row before them had led to expect.
        """
        F, seen = self.ask(state, X, ago)
        F = np.where(self._existed(state, ago), F, np.nan)
        return F[..., self.without_lags(state)], seen.strange

    def references(self, state, F):
        """Return the forecasts (n, q), of F (q, n, K), of the experts of reference."""
        return F[np.arange(len(F)), :, state["reference"]].T

    def features_of_kernels(self, state, X):
        """Return features (n, D) that kernels without lags see of rows as they came, two of them.

        The best kernel so far of those that see columns as they are, and of those with learnt
        scales, once there are any: that of most targets, and by the losses of all.
        """
        seen = self.inputs.look(state["inputs"], self.encoder.look(state["columns"], X))
        shares, low = self.kind.shares(state), self._places(state)
        chosen = {MAIN: int(np.bincount(state["reference"]).argmax()) - low[MAIN].start}
        losses = shares @ state["losses"][:, low[BORN]] if BORN in low else []
        rounds = state["rounds"][low[BORN]] if BORN in low else []
        born = [
            (losses[k] / rounds[k], k)
            for k, member in enumerate(state["banks"].get(BORN, {"members": ()})["members"])
            if not member["lags"] and rounds[k] >= 4 * len(X)  # what it knows has been heard
        ]
        if born:
            chosen[BORN] = min(born)[1]
        for name, k in chosen.items():
            bank = state["banks"][name]
            maps = each_array(bank["features"], itemgetter(slice(k, k + 1)))
            yield MaskedFeatures.transform(maps, inputs_of(bank, seen))[0]

    def without_lags(self, state):
        """Return the places of the experts that see no lags."""
        places = self._places(state)
        return [
            places[name].start + k
            for name, bank in state["banks"].items()
            for k, member in enumerate(bank["members"])
            if not member["lags"]
        ]

    def forecasts(self, state, X, ages):
        """Return the forecasts (n, n_experts, q or C) of the experts in the table."""
        return self.kind.of_each(state, self.ask(state, X)[0])[:, self.born(state)]

    def losses(self, state):
        """Return the sums of squared errors (q, n_experts) of the experts in the table."""
        return state["losses"][..., self.born(state)]

    def forget_target(self, state, j, latest):
        """Forget what was learnt of target j, of which these are the latest, the last one first."""
        self.inputs.forget_target(state["inputs"], j, latest)
        for bank in state["banks"].values():
            for place in range(j, self.kind.n_taught, self.kind.n_targets):
                forget_target(bank, place)
        self.leaves.forget_target(state["leaves"], j, latest)
        self.kind.forget_target(state, j, latest)
        if state.get("sizes"):
            self.sizes.forget_target(state["sizes"], j)

    def close(self, state, grows=False):
        """Let large arrays be shared by copies of the state."""
        for bank in state["banks"].values():
            close_bank(bank, grows)
        if self.budget.compact:
            self.kind.pack(state)
        for name in ("boosting", "logarithms"):
            if state[name]:
                getattr(self.kind, name).close(state[name], grows)
        if state.get("sizes"):
            self.sizes.close(state["sizes"], grows)

    def n_learnt(self, state):
        """Return the number of rows learnt since the start: those of the oldest expert."""
        rounds = state["rounds"]
        return rounds.item(rounds.argmax())

    def born(self, state):
        """Return the places of the experts that are there."""
        return np.flatnonzero(state["rounds"] > 0)

    def heard(self, state, age, ago=0):
        """Return which experts (K,) were heard some rounds ago: those born late learn first."""
        old_enough = state["rounds"] - ago >= min(age - ago, self.constants.burn_in)
        return old_enough & self._existed(state, ago)

    def _heard(self, state, ages, ago=0):
        known = {age: self.heard(state, age, ago) for age in set(ages)}
        if state["effects"] and not self.effects.is_there(state["effects"], ago):
            for one in known.values():
                one[EFFECTS] = False
        if not self.leaves.there(state["leaves"]).any():
            return [known[age] for age in ages]
        found = [known[age].copy() for age in ages]
        of_trees = self.leaves.heard(state["leaves"], ago).T[: len(ages)]
        for of_one, of_target in zip(found, of_trees, strict=True):
            of_one[TREES] &= of_target
        return found

    def _existed(self, state, ago):
        """Return which experts (K,) existed some rounds ago, or in the first round."""
        return state["rounds"] >= min(ago, self.n_learnt(state))

    def choose_reference(self, state):
        """Take the best kernel so far that sees no lags for the reference, one for each target."""
        places = self._places(state)[MAIN]
        lagged = np.array([member["lags"] for member in state["banks"][MAIN]["members"]])
        losses = np.where(lagged, np.inf, state["losses"][:, places])
        state["reference"] = places.start + losses.argmin(axis=1)

    def lags_help(self, state):
        """Tell whether a line that sees lags has lost less than its like that does not."""
        losses = self.kind.shares(state) @ state["losses"]
        for name, place in self._places(state).items():
            members = () if name == "walks" else state["banks"][name]["members"]
            first = {}  # of each kind
            for one, loss in zip(members, losses[place], strict=False):
                first.setdefault(one["lags"], loss)
            if len(first) == 2 and first[True] < _HELPS * first[False]:
                return True
        return False

    def refine(self, state, n_features, seed, level):
        """Let new kernels be born: the best ones and their neighbours, with learnt scales.

        With the first of them begins the chain that corrects the mixture.
        """
        young, places = state["banks"][BORN], self._places(state)
        n_trees = state["inputs"]["n_trees"]
        n_features -= n_trees + state["inputs"]["n_values"]
        shares, losses = self.kind.shares(state), state["losses"]
        losses = losses if shares is None else shares @ losses
        known_of = losses, state["rounds"], self._mean_weights(state)
        ordered = state["columns"]["layout"]["ordered"]
        shape = self.plan(n_features, n_trees, ordered)[BORN].shape
        known = [
            (loss / rounds / weight if weight > 0.0 else np.inf, name, k)
            for name in (MAIN, BORN)
            for k, (loss, rounds, weight) in enumerate(
                zip(*[part[places[name]] for part in known_of], strict=True)
            )
            if rounds >= self.constants.burn_in
        ]
        known = [(name, k) for _, name, k in sorted(known)]
        parents = [state["banks"][name]["members"][k] for name, k in known]
        if self.budget.compact:
            parents = [one | {"lags": self.lags > 0} for one in state["banks"][MAIN]["members"]]
        room = len(young["features"]["masks"]) // len(self.births)
        members = [
            {name: value for name, value in child.items() if name != "forgetting"}
            for child in refined(parents, room, self.constants.refinement)
        ]
        scales = [self._scales(state, shape, known, member, shares) for member in members]
        rng = np.random.RandomState(seed)
        add_members(young, members, shape, rng, self.kind.taught(state, level), scales)
        self._knows_lagless(state)
        links = chain(n_features, self.lags, self.forgetting, self.budget, self.constants)
        if not ordered:
            links = links._replace(members=[{**one, "lags": False} for one in links.members])
        if links.room and not state["boosting"]:
            state["boosting"] = self.kind.boosting.start(links, rng, self.kind.n_targets)

    def renew_waves(self, state, seed):
        """Let waves that tell little give way to others, of the kernel born in a small model."""
        bank = state["banks"].get(BORN)
        if bank is None or not may_be_renewed(bank):
            return
        # what late labels have not said yet is not heard
        banks = {name: one | awake(one, self.delay) for name, one in state["banks"].items()}
        shares, columns = self.kind.shares(state), np.flatnonzero(bank["features"]["scales"][0])
        # waves that are drawn anew see nothing of columns that have told nothing yet, others do
        of_both = (
            slopes(banks[BORN], 0, columns, shares),
            shares_of_two(banks, self.lags, shares)[columns],
        )
        scales = np.zeros(bank["features"]["scales"].shape[1])
        scales[columns] = sum(map(in_shares, of_both))
        scales = balanced(np.sqrt(scales), columns, self.constants.least_scale)
        renew(bank, scales, np.random.RandomState(seed), shares)

    def _scales(self, state, shape, known, member, shares_of_targets):
        """Return by what columns (n_columns,) are to be multiplied for a member yet to be born.

        As far as the best experts that see the same columns depend on them.
        """
        sees = [member["lags"], member["ranks"]]
        columns = shape.columns(*sees)
        if self.budget.compact:
            shares = shares_of_two(state["banks"], self.lags, shares_of_targets)
            return balanced(np.sqrt(shares), columns, self.constants.least_scale)
        best = [
            (state["banks"][name], k)
            for name, k in known
            if [state["banks"][name]["members"][k][part] for part in ("lags", "ranks")] == sees
        ]
        shares = np.zeros(shape.n_columns)
        for bank, k in best[: self.constants.teachers]:
            shares[columns] += in_shares(slopes(bank, k, columns, shares_of_targets))
        return balanced(np.sqrt(shares), columns, self.constants.least_scale)

    def table(self, state, ages, squared_units):
        """Return what each expert is and how it fares, for one target after the other."""
        tables = list(self._tables(state, ages, squared_units))
        if len(tables) == 1:
            return tables[0]
        many = {"target": np.repeat(np.arange(len(tables)), len(tables[0]["name"]))}
        return many | {
            name: np.concatenate([table[name] for table in tables]) for name in tables[0]
        }

    def _tables(self, state, ages, squared_units):
        losses = np.atleast_2d(state["losses"])
        of_targets = self._heard(state, ages), self.kind.weights(state), losses, squared_units
        for heard, weights, of_one, squared_unit in zip(*of_targets, strict=True):
            yield table_of(self, state, np.where(heard, weights, 0.0), of_one * squared_unit)

    def _mean_weights(self, state):
        """Return the mean weights (K,) of the rows that the experts have forecast, 1 where none."""
        n_forecasts = state["rounds"] - self.delay
        means = state["masses"] / np.maximum(n_forecasts, 1)
        return np.where(n_forecasts > 0, means, 1.0)

    def _forecasts(self, state, awake, seen, n, of_bank, limits):
        """Return forecasts (q, n, K) of the experts awake, and logarithms, as `of_bank` says them.

        Those of a small model hear each other in the target's units, in limits (n or 1, q, 3).
        """
        q, said = self.kind.n_targets or 1, np.empty((n, 0))
        F = np.full((self.kind.n_taught or 1, n, len(state["rounds"])), np.nan)
        for part, places in awake:
            known = seen.walks if part is None else of_bank(part, inputs_of(part, seen, said))
            # two classes are one target without an axis
            known = known if known.ndim == 2 else known.transpose(2, 0, 1)
            F[: q if part is None else None, :, places] = known
            if limits is not None and part is not None and len(F) == 1:
                now = sane(F[0, :, places], limits[:, 0]) / seen.scale.reshape(-1, 1)
                said = np.hstack([said, now])
        return F[:q], F[q:]

    def _teach(self, bank, U, u, run, weights):
        """Let a bank learn rows; return the forecasts (n, g, q) of those awake."""
        expert = learner_of(bank)
        if expert._takes_rows(len(u)):  # the unborn, whom a birth makes anew, learn for nothing
            F = learn_bank(MaskedFeatures, expert, bank, U, u, run, weights)
            return F[:, : len(bank["members"])]
        expert._open(bank["experts"])
        part = awake(bank)
        F = learn_bank(MaskedFeatures, expert, part, U, u, run, weights)
        bank["experts"].update({name: part["experts"][name] for name in ("t", "mass")})
        return F

    def _awake(self, state):
        """Return None for the walks and each bank with somebody awake, with their places."""
        banks, places = {"walks": None} | state["banks"], self._places(state)
        return [(banks[name], part) for name, part in places.items() if part.stop > part.start]

    def _places(self, state):
        """Return by name the places, among all experts, of the walks and of those in each bank."""
        places = {"walks": slice(0, self.inputs.n_walks)}
        for name, (low, _) in self._rooms(state).items():
            places[name] = slice(low, low + len(state["banks"][name]["members"]))
        return places

    def _rooms(self, state):
        """Return by name where the room of each bank begins and ends, among all experts."""
        low, rooms = self.inputs.n_walks, {}
        for name, bank in state["banks"].items():
            rooms[name] = low, low + len(bank["features"]["masks"])
            low = rooms[name][1]
        return rooms


def ages_of(state):
    """Return for how many rounds what is known of each target, or of all classes, has counted."""
    if "targets" not in state:
        return [state["t"]]
    return [state["t"] - guard["since"] for guard in state["targets"]]


def lines_see(seen):
    """Return all that a line may see of rows, which of their values numbers have included."""
    return seen.steady if seen.values is None else np.hstack([seen.steady, seen.values])


def _asked(bank, U, ago):
    """Return the forecasts (n, g, q) of a bank some rounds ago."""
    return forecast_bank(MaskedFeatures, learner_of(bank), awake(bank, ago), U)
