"""The experts of the estimators without tuning, and their mixtures, for targets in a unit.

Several targets share the experts, which learn all of them with one inverse, and see the latest
values of all; each has a mixture of its own. What is decided once for all targets, such as who has
offspring, goes by the mean of what it means to them, in units of their variances.

What they see is in `_inputs.py`, which there are in `_plan.py`, how they learn in `_banks.py`; of
faulty targets and of new units nothing is known here.
"""

from functools import partial

import numpy as np

from ..aggregators import StackedBOARegressor
from ..base._bank import forecast_bank, learn_bank
from ..features._units import deviations, mean_and_variance
from ._banks import (
    MaskedFeatures,
    add_members,
    awake,
    forget_target,
    inputs_of,
    learner,
    slopes,
    start_bank,
)
from ._boosting import Boosting
from ._inputs import LaggedInputs
from ._plan import BORN, LINK, MAIN, WALKS, chain, name_of, plan, refined

_TINY = np.finfo(float).tiny


class Experts:
    """Random walks and banks of kernels that learn a stream together, and what mixes them.

    Their state is a part of the estimator's; its ages are rounds since what was learnt of each
    target counts.

    Parameters
    ----------
    n_targets : int
    budget : Budget
    forgetting : float or None
    lags, delay : int
    constants : Constants
    """

    def __init__(self, n_targets, budget, forgetting, lags, delay, constants):
        self.n_targets = n_targets
        self.budget, self.forgetting = budget, forgetting
        self.delay, self.constants = delay, constants
        n_quantiles = constants.n_quantiles if budget.ranks else 0
        self.inputs = LaggedInputs(lags, delay, constants.units, n_quantiles, n_targets)
        self.lags = self.inputs.n_lag_columns
        self.mixture = StackedBOARegressor(
            fadings=constants.fadings,
            stacks=constants.stacks[: budget.n_stacks],
            n_direct=self.inputs.n_walks,
            margin=constants.margin,
        )
        self.boosting = Boosting(
            LINK, constants.link_stride, constants.link_share, constants.apprenticeship, delay
        )

    def plan(self, n_features, n_trees=0):
        """Return the banks by name, see `_plan.py`; trees are not among the features."""
        return plan(n_features, self.lags, self.forgetting, self.budget, self.constants, n_trees)

    def start(self, n_features, seed, n_trees=0):
        """Return the state before the first row; the last features may be forecasts of trees."""
        rng, delay, n_walks = np.random.RandomState(seed), self.delay, self.inputs.n_walks
        plans, q = self.plan(n_features - n_trees, n_trees), self.n_targets
        n_experts = n_walks + sum(bank.room for bank in plans.values())
        return {
            "inputs": self.inputs.start(n_features, n_trees),
            "banks": {name: start_bank(bank, rng, delay, q) for name, bank in plans.items()},
            "rounds": np.zeros(n_experts, dtype=int),
            "losses": np.zeros((q, n_experts)),
            "masses": np.zeros(n_experts),  # sums of the weights of the rows forecast
            # for each target an expert that sees no lags, by whose forecasts new units are known
            "reference": np.full(q, n_walks),
            "mixture": [self.mixture._start(n_experts, late=delay) for _ in range(q)],
            "boosting": {},  # nothing before the first birth
        }

    def learn(self, state, X, u, ages, run, weights=None):
        """Learn rows and targets u (n, q), which have counted for some rounds, `ages` (q,).

        Of weights (n,) know the experts' updates, the mixtures, and the losses.

        Returns
        -------
        forecasts, references : ndarray of shape (n, q)
            Those of the whole, and of the experts of reference.
        experts : ndarray of shape (q, n, K)
            Those of the experts that see rows and no lags, NaN where one is yet to be born.
        """
        n_learnt, heard = self.n_learnt(state), self._heard(state, ages, self.delay)
        yet_to_be_born = ~self._existed(state, self.delay)
        seen = self.inputs.learn(state["inputs"], X, u)
        awake = self._awake(state)
        F = self._forecasts(
            state, awake, seen, len(u), partial(self._teach, u=u, run=run, weights=weights)
        )
        for _, places in awake:
            state["rounds"][places] += len(u)
        F[..., yet_to_be_born] = np.nan
        n_first = max(1 + self.delay - n_learnt, 0)  # whose forecasts are none
        squares = np.square(F - u.T[..., None])[:, n_first:]
        counted = np.ones(len(u)) if weights is None else weights
        if weights is not None:
            squares *= weights[n_first:, None]
        state["losses"] += np.nansum(squares, axis=1)
        # the very first row is forecast by the origin
        mass = counted[max(self.delay - n_learnt, 0) :].sum()
        state["masses"] += np.where(np.isnan(F[0, -1]), 0.0, mass)
        before = [dict(mixture) for mixture in state["mixture"]]
        forecasts = np.empty_like(u)
        for j, mixture in enumerate(state["mixture"]):
            of_target = u[:, j], seen.scale[:, j], heard[j], weights
            forecasts[:, j] = self.mixture._learn_rows(mixture, F[j], *of_target)
        if state["boosting"]:
            limits = [self.mixture._learn_limits(*known) for known in zip(before, u.T, strict=True)]
            sane = [partial(self.mixture._sane, limits=known) for known in limits]
            U = inputs_of(state["boosting"]["bank"], seen)
            forecasts = self.boosting.learn(state["boosting"], U, forecasts, u, sane, weights)
        references = F[np.arange(self.n_targets), :, state["reference"]].T
        return forecasts, references, F[..., self._without_lags(state)]

    def forecast(self, state, X, ages, ago=0, ahead=False):
        """Return forecasts (n, q) by what was known some rounds ago; learns nothing."""
        F, seen = self.ask(state, X, ago, ahead)
        heard = self._heard(state, ages, ago)
        forecasts = np.empty((len(X), self.n_targets))
        for j, mixture in enumerate(state["mixture"]):
            of_target = seen.scale[..., j], heard[j], ago
            forecasts[:, j] = self.mixture._forecast_rows(mixture, F[j], *of_target)
        if not state["boosting"]:
            return forecasts
        limits = [self.mixture._known_limits(mixture, ago) for mixture in state["mixture"]]
        sane = [partial(self.mixture._sane, limits=known) for known in limits]
        U = inputs_of(state["boosting"]["bank"], seen)
        return self.boosting.forecast(state["boosting"], U, forecasts, sane, ago)

    def ask(self, state, X, ago=0, ahead=False):
        """Return the forecasts (q, n, K) of the experts, and what they see of the rows."""
        of_inputs = self.delay - np.arange(len(X)) if ahead else ago
        seen = self.inputs.look(state["inputs"], X, of_inputs)
        awake = self._awake(state)
        return self._forecasts(state, awake, seen, len(X), partial(_asked, ago=ago)), seen

    def that_see_rows(self, state, X, ago=0):
        """Return the forecasts (q, n, K) of the experts that see rows and no lags.

        And which rows (n,) have values that no row before them had led to expect.
        """
        F, seen = self.ask(state, X, ago)
        F = np.where(self._existed(state, ago), F, np.nan)
        return F[..., self._without_lags(state)], seen.strange

    def _without_lags(self, state):
        """Return the places of the experts that see no lags."""
        places = self._places(state)
        return [
            places[name].start + k
            for name, bank in state["banks"].items()
            for k, member in enumerate(bank["members"])
            if not member["lags"]
        ]

    def forecasts(self, state, X, ages):
        """Return the forecasts (n, n_experts, q) of the experts in the table."""
        return self.ask(state, X)[0][..., self.born(state)].transpose(1, 2, 0)

    def losses(self, state):
        """Return the sums of squared errors (q, n_experts) of the experts in the table."""
        return state["losses"][..., self.born(state)]

    def forget_target(self, state, j, latest):
        """Forget what was learnt of target j, of which these are the latest, the last one first."""
        self.inputs.forget_target(state["inputs"], j, latest)
        for bank in state["banks"].values():
            forget_target(bank, j)
        state["losses"][j] = 0.0
        state["mixture"][j] = self.mixture._start(state["losses"].shape[1], late=self.delay)
        if state["boosting"]:
            self.boosting.forget_target(state["boosting"], j)

    def close(self, state, grows=False):
        """Let large arrays be shared by copies of the state."""
        for bank in state["banks"].values():
            learner(bank["forgetting"])._close(bank["experts"], grows)
        if state["boosting"]:
            self.boosting.close(state["boosting"], grows)

    def n_learnt(self, state):
        """Return the number of rows learnt since the start: those of the oldest expert."""
        return int(state["rounds"].max())

    def born(self, state):
        """Return the places of the experts that are there."""
        return np.flatnonzero(state["rounds"] > 0)

    def heard(self, state, age, ago=0):
        """Return which experts (K,) were heard some rounds ago: those born late learn first."""
        old_enough = state["rounds"] - ago >= min(age - ago, self.constants.apprenticeship)
        return old_enough & self._existed(state, ago)

    def _heard(self, state, ages, ago=0):
        known = {age: self.heard(state, age, ago) for age in set(ages)}
        return [known[age] for age in ages]

    def _existed(self, state, ago):
        """Return which experts (K,) existed some rounds ago, or in the first round."""
        return state["rounds"] >= min(ago, self.n_learnt(state))

    def choose_reference(self, state):
        """Take the best kernel so far that sees no lags for the reference, one for each target."""
        places = self._places(state)[MAIN]
        lagged = np.array([member["lags"] for member in state["banks"][MAIN]["members"]])
        losses = np.where(lagged, np.inf, state["losses"][:, places])
        state["reference"] = places.start + losses.argmin(axis=1)

    def refine(self, state, n_features, seed, level):
        """Let new kernels be born: the best ones and their neighbours, with learnt scales.

        With the first of them begins the chain that corrects the mixture.
        """
        young, places = state["banks"][BORN], self._places(state)
        n_features -= state["inputs"]["n_trees"]
        shares, losses = self._shares(state), state["losses"]
        losses = losses if shares is None else shares @ losses
        known_of = losses, state["rounds"], self._mean_weights(state)
        shape, _, room = self.plan(n_features)[BORN]
        known = [
            (loss / rounds / weight if weight > 0.0 else np.inf, name, k)
            for name in (MAIN, BORN)
            for k, (loss, rounds, weight) in enumerate(
                zip(*[part[places[name]] for part in known_of], strict=True)
            )
            if rounds >= self.constants.apprenticeship
        ]
        known = [(name, k) for _, name, k in sorted(known)]
        parents = [state["banks"][name]["members"][k] for name, k in known]
        room //= len(self.constants.births)
        members = [
            {name: value for name, value in child.items() if name != "forgetting"}
            for child in refined(parents, room, self.constants.refinement)
        ]
        scales = [self._scales(state, shape, known, member, shares) for member in members]
        rng = np.random.RandomState(seed)
        add_members(young, members, shape, rng, level, scales)
        links = chain(n_features, self.lags, self.forgetting, self.budget, self.constants)
        if links.room and not state["boosting"]:
            state["boosting"] = self.boosting.start(links, rng, self.n_targets)

    def _shares(self, state):
        """Return by how much each target (q,) counts where one thing is done for all, 1 on average.

        A constant target counts for nothing, all others by the inverse of their variances: their
        units say nothing of what they are worth.
        """
        moments = state["inputs"]["targets"]
        sums = {name: moments[name] for name in ("weights", "sums", "squares")}
        scales = deviations(*mean_and_variance(**sums))
        known = scales > 0.0
        if not known.any():
            return np.ones(len(scales))
        least = scales[known].min()
        shares = np.where(known, np.square(least / np.where(known, scales, 1.0)), 0.0)
        return shares / shares.mean()

    def _scales(self, state, shape, known, member, shares_of_targets):
        """Return by what columns (n_columns,) are to be multiplied for a member yet to be born.

        As far as the best experts that see the same columns depend on them.
        """
        sees = [member["lags"], member["ranks"]]
        columns = shape.columns(*sees)
        best = [
            (state["banks"][name], k)
            for name, k in known
            if [state["banks"][name]["members"][k][part] for part in ("lags", "ranks")] == sees
        ]
        shares = np.zeros(shape.n_columns)
        for bank, k in best[: self.constants.teachers]:
            squares = slopes(bank, k, columns, shares_of_targets)
            shares[columns] += squares / max(squares.sum(), _TINY)
        scales, seen = np.sqrt(shares), np.sqrt(shares[columns])
        scales /= max(np.sqrt(np.square(seen).mean()), _TINY)
        return np.maximum(scales, self.constants.least_scale)

    def table(self, state, ages, squared_units):
        """Return what each expert is and how it fares, for one target after the other."""
        tables = list(self._tables(state, ages, squared_units))
        if self.n_targets == 1:
            return tables[0]
        n, many = len(tables[0]["name"]), {}
        many["target"] = np.repeat(np.arange(self.n_targets), n)
        return many | {
            name: np.concatenate([table[name] for table in tables]) for name in tables[0]
        }

    def _tables(self, state, ages, squared_units):
        of_targets = self._heard(state, ages), state["mixture"], state["losses"], squared_units
        for heard, mixture, losses, squared_unit in zip(*of_targets, strict=True):
            weights = np.where(heard, self.mixture._weights(mixture), 0.0)
            yield self._table(state, weights, losses * squared_unit)

    def _table(self, state, weights, losses):
        """Return what each expert is, its weight, and its mean loss."""
        born = self.born(state)
        members = list(WALKS[: self.inputs.n_walks])
        members += [member for bank in state["banks"].values() for member in bank["members"]]
        del members[len(born) :]  # the last ones, born at this very round, have learnt nothing
        columns = {name: np.array([member[name] for member in members]) for name in members[0]}
        n_forecasts = np.maximum(state["rounds"][born] - self.delay, 1)
        mean_weights = self._mean_weights(state)[born]
        mean_weights[mean_weights == 0.0] = 1.0  # nothing was lost
        return (
            {"name": np.array([name_of(**member) for member in members])}
            | columns
            | {
                "weight": weights[born] / weights[born].sum(),
                "mean_loss": losses[born] / n_forecasts / mean_weights,
                "n_rounds": state["rounds"][born],
            }
        )

    def _mean_weights(self, state):
        """Return the mean weights (K,) of the rows that the experts have forecast, 1 where none."""
        n_forecasts = state["rounds"] - self.delay
        means = state["masses"] / np.maximum(n_forecasts, 1)
        return np.where(n_forecasts > 0, means, 1.0)

    def _forecasts(self, state, awake, seen, n, of_bank):
        """Return the forecasts (q, n, K) of the experts awake; each bank is asked or taught."""
        F = np.full((self.n_targets, n, len(state["rounds"])), np.nan)
        for part, places in awake:
            known = seen.walks if part is None else of_bank(part, inputs_of(part, seen))
            F[:, :, places] = known.transpose(2, 0, 1)
        return F

    def _teach(self, bank, U, u, run, weights):
        """Let a bank learn rows; return the forecasts (n, g, q) of those awake."""
        expert = learner(bank["forgetting"])
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
        low = self.inputs.n_walks
        places = {"walks": slice(0, low)}
        for name, bank in state["banks"].items():
            places[name] = slice(low, low + len(bank["members"]))
            low += len(bank["features"]["masks"])
        return places


def _asked(bank, U, ago):
    """Return the forecasts (n, g, q) of a bank some rounds ago."""
    return forecast_bank(MaskedFeatures, learner(bank["forgetting"]), awake(bank, ago), U)
