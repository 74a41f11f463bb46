"""One estimator that needs no tuning: kernels, ridges, scales and memories learnt from the stream.

What its experts see is in `_inputs.py`, what they are in `_banks.py`, how they are mixed in
`_mixture.py`, when a target is not believed in `_targets.py`.
"""

import textwrap
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._linalg import one_blas_thread
from ..aggregators import StackedBOARegressor
from ..algorithms._engines import forecast_bank, learn_bank, threads
from ..base import _copied
from . import _targets as targets
from ._banks import (
    WALKS,
    Constants,
    MaskedFeatures,
    add_members,
    awake,
    dictionary,
    inputs_of,
    learner,
    linear_members,
    refined,
    shape_of,
    start_bank,
)
from ._inputs import LaggedInputs

_LINEAR_SHARE = 0.2  # of the work, at most, for the linear experts of one forgetting rate
_DRIFT_SHARE = 0.1  # for the kernels of one forgetting rate
_SHORTEST, _LONGEST = 64, 1024  # rows learnt before their targets are looked at
_REFINED_SHARE = 0.2  # for the kernels to be born


class _Budget(NamedTuple):
    frequencies: int  # a kernel
    work: float  # sum of D^2 over all experts, those that forget counted three times
    memories: tuple  # forgetting rates of the experts for drift
    n_stacks: int | None  # None: all


_BUDGETS = {
    "fast": _Budget(25, 0.08e6, (0.995,), 1),
    "balanced": _Budget(70, 1.8e6, (0.998, 0.99), None),
    "accurate": _Budget(140, 7e6, (0.998, 0.99), None),
}


class DefaultModel:
    """Base of the estimators without tuning: how the parts work together."""

    _parameter_constraints = {
        "budget": [
            StrOptions(set(_BUDGETS)),
            Interval(Integral, 2, None, closed="left"),
        ],
        "forgetting": [Interval(Real, 0, 1, closed="right"), None],
        "lags": [Interval(Integral, 0, None, closed="left")],
        "label_delay": [Interval(Integral, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    _structural = ("budget", "forgetting", "lags", "label_delay")
    _guarded = True  # whether a target can be faulty
    _constants = Constants()

    def __init__(
        self,
        *,
        budget="balanced",
        forgetting=None,
        lags=4,
        label_delay=0,
        n_jobs=None,
        random_state=None,
    ):
        self.budget = budget
        self.forgetting = forgetting
        self.lags = lags
        self.label_delay = label_delay
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def weights_(self):
        """Weights of the experts in the first mixture, of shape (n_experts,)."""
        return self.experts_["weight"]

    @property
    def expert_losses_(self):
        """Sum of squared errors of each expert's progressive forecasts, of shape (n_experts,)."""
        state = self._fitted_state("expert_losses_")
        return state["losses"][_born(state)] * _squared_unit(state)

    @property
    def experts_(self):
        """What each expert is and how it fares: a dict of arrays that pandas reads as a table."""
        state = self._fitted_state("experts_")
        return self._as_taught()._table(state)

    def summary(self):
        """Say in a paragraph what was learnt.

        Returns
        -------
        text : str
            In lines of at most 88 characters.
        """
        state = self._fitted_state("summary")
        table, t = self.experts_, state["t"]
        # an expert born late has met an easier stream
        best = int(np.argmin(np.where(table["n_rounds"] * 2 >= t, table["mean_loss"], np.inf)))
        heavy = np.argsort(-table["weight"])[:3]
        named = "; ".join(f"{table['name'][k]} ({table['weight'][k]:.0%})" for k in heavy)
        lagged = table["weight"][table["lags"].astype(bool)].sum()
        fading = table["weight"][table["forgetting"] < 1.0].sum()
        n_forecasts = max(t - 1 - self.label_delay, 1)  # the first ones are none
        loss = state["loss"] * _squared_unit(state) / n_forecasts
        n_faulty = state["targets"]["n_faulty"]
        faulty = f" Faulty targets: {n_faulty}." if n_faulty else ""
        text = (
            f"After {t} rows of {self.n_features_in_} inputs the mean squared error of the "
            f"progressive forecasts is {loss:.4g}; that of the best of {len(table['weight'])} "
            f"experts, {table['name'][best]}, is {table['mean_loss'][best]:.4g}. The largest "
            f"weights are those of {named}. Experts that see the latest targets hold {lagged:.0%} "
            f"of the weight, those that forget {fading:.0%}.{faulty}"
        )
        return textwrap.fill(text, width=88)

    def predict_experts(self, X):
        """Forecast each row by each expert; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.

        Returns
        -------
        F : ndarray of shape (n_samples, n_experts)
            The experts' forecasts, in the order of `experts_`, not clipped.
        """
        state, X = self._asked(X)
        with one_blas_thread:
            F, _ = self._forecast_experts(state, X)
            return targets.unscaled(state["targets"], F[:, _born(state)])

    def _foreseen(self, X, ahead):
        """Return the state and its forecasts for rows."""
        state, X = self._asked(X)
        if ahead and len(X) > self.label_delay + 1:
            raise ValueError(
                f"With ahead=True at most label_delay + 1 = {self.label_delay + 1} rows can be "
                f"forecast, the next ones in order, but X has {len(X)}."
            )
        with one_blas_thread:
            return state, self._forecast(state, X, ahead=ahead)

    def _start(self, n_features, n_targets=None):
        # A seed of our own: the user's generator may be shared, and is not ours to copy.
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return self._start_from(n_features, seed)

    def _start_from(self, n_features, seed):
        rng = np.random.RandomState(seed)
        plan = self._plan(n_features)
        delay = self.label_delay
        banks = [start_bank(members, shape, rng, size, delay) for shape, members, size in plan]
        n_experts = self._inputs().n_walks + sum(len(bank["features"]["masks"]) for bank in banks)
        return {
            "t": 0,
            "targets": targets.start(self._guarded, delay),
            "former": {},  # the model before it started anew, while its forecasts have no labels
            "latest": _no_rows(n_features),  # up to a block of rows as they came, while young
            "inputs": self._inputs().start(n_features),
            "banks": banks,
            "rounds": np.zeros(n_experts, dtype=int),
            "losses": np.zeros(n_experts),
            "loss": 0.0,
            # an expert that sees no lags, by whose forecasts new units are known
            "reference": self._inputs().n_walks,
            "mixture": self._mixture()._start(n_experts, late=delay),
            "seed": seed,
        }

    def _plan(self, n_features):
        """Return the banks as (shape, members, room): kernels, those to be born, linear, drift.

        As many kernels as the work allows, in the dictionary's order; all experts of a bank have
        one shape, so that they are learnt by the same products.
        """
        budget, constants = self._sizes(), self._constants
        members = dictionary(constants.alphas, self.lags > 0)
        always = 1.0 if self.forgetting is None else self.forgetting
        drifting = budget.memories if self.forgetting is None else ()
        m = max(int(budget.frequencies * constants.frequencies), 1)
        main = shape_of(n_features, self.lags, m, always)

        def room(shape, share, most, least=1):
            return int(np.clip(share * budget.work / shape.work, least, most))

        plan = []
        for memory in (always, *drifting):
            shape = main._replace(linear=True, n_frequencies=0, forgetting=memory)
            linear = linear_members(memory, self.lags > 0)
            # D^2 of many inputs may be more than all is to cost
            n = room(shape, _LINEAR_SHARE, len(linear), least=int(shape.work <= budget.work / 4))
            if n:
                plan.append((shape, linear[:n], n))
        # the shorter the past, the less of a ridge it can bear: the smaller ones come first
        forgetful = dictionary(constants.alphas[::-1], self.lags > 0)
        for memory in drifting:
            shape = main._replace(n_frequencies=max(m // 2, 1), forgetting=memory)
            n = room(shape, _DRIFT_SHARE, 6)
            plan.append((shape, forgetful[:n], n))
        left = budget.work - sum(shape.work * n for shape, _, n in plan)
        n_births = len(constants.births)
        if n_births:
            n_born = max(room(main, _REFINED_SHARE, _REFINED_SHARE * len(members)) // n_births, 2)
            plan.append((main, [], n_born * n_births))  # the last ones: nobody changes his place
            left -= n_born * n_births * main.work
        n_main = int(np.clip(left / main.work, 2, len(members)))
        return [(main, members[:n_main], n_main), *plan]

    def _sizes(self):
        """Return the budget; a number asks for the whole dictionary at whatever work."""
        if isinstance(self.budget, str):
            return _BUDGETS[self.budget]
        return _BUDGETS["balanced"]._replace(frequencies=self.budget // 2, work=np.inf)

    def _inputs(self):
        return self._built(_inputs)

    def _mixture(self):
        return self._built(_mixture)

    def _learn(self, state, X, y):
        n_first = max(1 + self.label_delay - state["t"], 0)
        forecasts = np.empty(len(y))
        low, room, alone = 0, {}, targets.alarmed(state["targets"])
        longest = 1 if alone else _LONGEST
        with threads(self.n_jobs) as run:
            while low < len(y):
                since = state["targets"]["since"]
                n = min(len(y) - low, longest, self._rounds_to_stop(state["t"], since))
                rows = slice(low, low + n)
                part = self._learn_guarded(state, X[rows], y[rows], room, run, alone)
                forecasts[low : low + len(part)] = part
                low += len(part)
                # a faulty target is met alone
                alone = len(part) < n or targets.alarmed(state["targets"])
                longest = 1 if alone else min(max(2 * longest, _SHORTEST), _LONGEST)
                self._stop(state, run)
                former = state["former"]
                if former and former["t"] <= state["t"] - self.label_delay:
                    state["former"] = {}
        forecasts[:n_first] = 0.0  # nothing was known, not even the origin
        return forecasts

    def _close(self, state, grows=False):
        for bank in state["banks"]:
            learner(bank["forgetting"])._close(bank["experts"], grows)

    def _rounds_to_stop(self, t, since):
        """Return the number of rounds until something else than learning is due."""
        births, delay = self._constants.births, self.label_delay
        heard = delay + self._constants.apprenticeship
        reviews = (since + age for age in targets.REVIEWS)
        stops = (*reviews, *(birth + wait for birth in births for wait in (0, delay, heard)))
        return min(stop - t for stop in (*stops, 1 << t.bit_length()) if stop > t)

    def _stop(self, state, run):
        """Do what is due at this round, if anything is."""
        t = state["t"]
        if self._guarded and t - state["targets"]["since"] in targets.REVIEWS:
            self._review(state, run)
        if t >= targets.BLOCK and t.bit_count() == 1:  # a power of two
            main, places = next(self._banks(state))
            lagged = np.array([member["lags"] for member in main["members"]])
            losses = np.where(lagged, np.inf, state["losses"][places])
            state["reference"] = places.start + int(losses.argmin())
        if t in self._constants.births:
            self._refine(state)

    def _learn_guarded(self, state, X, y, room, run, alone):
        """Learn rows up to the first faulty target or new unit; return their forecasts.

        A faulty target is left to the next call, to be met alone, and nothing is learnt where it
        comes first: only a row that is alone is forecast before it is learnt.
        """
        guard, t = state["targets"], state["t"]
        n_before = self._n_learnt(state)
        if t == 0:
            guard["origin"] = float(y[0])
        n = targets.n_alike(guard, t, y)
        X, y = X[:n], y[:n]
        u = taught = targets.scaled(guard, y)
        if alone:
            forecast = float(self._forecast_scaled(state, X, self.label_delay)[0]) if t else 0.0
            taught = np.array([targets.fenced(guard, t, float(u[0]), forecast)])
        elif not self._stands_at(t):
            _keep(state, room)
        forecasts, references = self._learn_rows(state, X, taught, run)
        units = targets.units_read(guard, len(u))
        misses = u - forecasts
        errors = targets.errors_to_learn(guard, t, u, forecasts, taught)
        n = len(u) if alone else targets.n_sound(guard, t, u, forecasts)
        n, lags = targets.learn(guard, t, u[:n], forecasts[:n], references[:n], taught[:n])
        if n < len(u):
            if self._stands_at(t):
                room.update(_copied(self._state))
            _go_back(state, room)
            if n == 0:
                return forecasts[:0]
            # a target far off costs the forecasts beside it their last digits
            forecasts, _ = self._learn_rows(state, X[:n], u[:n], run)
        if self._guarded and t - guard["since"] < targets.REVIEWS[-1]:
            rows = {"X": X[:n], "y": y[:n], "faulty": (u != taught)[:n]}
            for name, before in state["latest"].items():
                both = np.concatenate([before, rows[name]])
                state["latest"][name] = both[-targets.BLOCK :].copy()
        answer = forecasts[:n] * units[:n, 1] + units[:n, 0]
        self._put_former(state, X[:n], answer)
        state["t"] += n
        scored = slice(max(1 + self.label_delay - n_before, 0), n)  # the first forecasts are none
        self._learn_errors(state, misses[scored], errors[scored])
        if lags is not None:
            self._move(state, lags)
        return answer

    def _stands_at(self, t):
        """Return whether the model's own state, which a call does not touch, is that of round t."""
        return "_state" in vars(self) and self._state["t"] == t

    def _learn_rows(self, state, X, u, run):
        """Learn rows and targets; return the forecasts, and those of the expert of reference."""
        seen = self._inputs().learn(state["inputs"], X, u)
        F = np.full((len(u), len(state["rounds"])), np.nan)
        n_walks = self._inputs().n_walks
        F[:, :n_walks] = seen.walks
        n_learnt, heard = self._n_learnt(state), self._heard(state, self.label_delay)
        yet_to_be_born = ~self._existed(state, self.label_delay)
        state["rounds"][:n_walks] += len(u)
        for bank, places in self._banks(state):
            expert, U = learner(bank["forgetting"]), inputs_of(bank, seen)
            if expert._takes_rows(len(u)):  # the unborn, whom a birth makes anew, learn for nothing
                G = learn_bank(MaskedFeatures, expert, bank, U, u, run)
                F[:, places] = G[:, : places.stop - places.start]
            else:
                expert._open(bank["experts"])
                part = awake(bank)
                F[:, places] = learn_bank(MaskedFeatures, expert, part, U, u, run)
                bank["experts"].update({name: part["experts"][name] for name in ("t", "mass")})
            state["rounds"][places] += len(u)
        F[:, yet_to_be_born] = np.nan
        n_first = max(1 + self.label_delay - n_learnt, 0)  # whose forecasts are none
        state["losses"] += np.nansum(np.square(F - u[:, None])[n_first:], axis=0)
        forecasts = self._mixture()._learn_rows(state["mixture"], F, u, seen.scale, heard)
        return forecasts, F[:, state["reference"]]

    def _put_former(self, state, X, answer):
        """Put in the forecasts (n,) of the next rows that were made before a start anew."""
        former = state["former"]
        if former:
            made = state["t"] + np.arange(len(X)) - self.label_delay
            for i, ago in enumerate((former["t"] - made[made < former["t"]]).tolist()):
                answer[i] = self._forecast(former, X[i : i + 1], ago)[0]

    def _n_learnt(self, state):
        """Return the number of rows learnt since the start: those of the oldest expert."""
        return int(state["rounds"].max())

    def _learn_errors(self, state, misses, errors):
        """Learn by how much forecasts have missed, and the errors that the fence makes of it."""
        state["loss"] += float(errors @ errors)

    def _move(self, state, lags):
        """Go on in another unit, in which the latest targets are these, the last one first."""
        known = state["inputs"]["lags"]
        known[: len(lags)] = lags[: len(known)]

    def _heard(self, state, ago=0):
        """Return which experts (K,) were heard some rounds ago: those born late learn first."""
        age = state["t"] - state["targets"]["since"] - ago
        old_enough = state["rounds"] - ago >= min(age, self._constants.apprenticeship)
        return old_enough & self._existed(state, ago)

    def _existed(self, state, ago):
        """Return which experts (K,) existed some rounds ago, or in the first round."""
        return state["rounds"] >= min(ago, self._n_learnt(state))

    def _review(self, state, run):
        """Judge the latest targets as a whole; start anew with them if they were taken wrongly."""
        t, guard = state["t"], state["targets"]
        age = t - guard["since"]
        n = min(age, targets.BLOCK)
        X, y, known = (state["latest"][name][-n:] for name in ("X", "y", "faulty"))
        faulty, middle, usual = targets.first_faulty(y)
        judged_otherwise = age == n and (faulty != known).any()
        if judged_otherwise or not targets.is_sane(guard, middle, usual):
            n_faulty = guard["n_faulty"] + int(faulty.sum()) - int(known.sum())
            former = dict(state) if self.label_delay else {}
            state.update(self._start_from(X.shape[1], state["seed"]), former=former)
            state["latest"] = {"X": X, "y": y, "faulty": faulty}
            y = np.where(faulty, np.clip(y, middle - usual, middle + usual), y)
            guard = state["targets"]
            guard |= {"since": t - n, "origin": float(y[~faulty][0]), "unit": float(usual)}
            u = targets.scaled(guard, y)
            forecasts, references = self._learn_rows(state, X, u, run)
            targets.learn(guard, t - n, u, forecasts, references, u)
            guard["n_faulty"] = n_faulty
            state["t"] = t
            errors = (u - forecasts)[1 + self.label_delay :]
            self._learn_errors(state, errors, errors)
        if age == targets.REVIEWS[-1]:
            state["latest"] = _no_rows(X.shape[1])

    def _refine(self, state):
        """Let new kernels be born between the best ones and their neighbours."""
        shape, _, room = self._plan(self.n_features_in_)[-1]
        main, young = state["banks"][0], state["banks"][-1]
        losses = state["losses"][next(self._banks(state))[1]]
        born = [*main["members"], *young["members"]]
        members = refined(main["members"], losses, room // len(self._constants.births), born)
        rng = np.random.RandomState([state["seed"], state["t"]])
        add_members(young, members, shape, rng, level=state["targets"]["level"])

    def _forecast(self, state, X, ago=0, ahead=False):
        """Forecast by what was known some rounds ago; `ahead`: rows in order, not each the next."""
        former = state["former"]
        if former and ago > state["t"] - former["t"]:
            return self._forecast(former, X, ago - state["t"] + former["t"])
        forecasts = self._forecast_scaled(state, X, ago, ahead)
        return targets.unscaled(state["targets"], forecasts, ago)

    def _forecast_scaled(self, state, X, ago=0, ahead=False):
        F, scales = self._forecast_experts(state, X, ago, ahead)
        heard = self._heard(state, ago)
        return self._mixture()._forecast_rows(state["mixture"], F, scales, heard, ago)

    def _forecast_experts(self, state, X, ago=0, ahead=False):
        """Return the forecasts (n, K) of the experts, and the scale of the targets."""
        of_inputs = self.label_delay - np.arange(len(X)) if ahead else ago
        seen = self._inputs().look(state["inputs"], X, of_inputs)
        F = np.full((len(X), len(state["rounds"])), np.nan)
        F[:, : self._inputs().n_walks] = seen.walks
        for bank, places in self._banks(state):
            part, expert = awake(bank, ago), learner(bank["forgetting"])
            F[:, places] = forecast_bank(MaskedFeatures, expert, part, inputs_of(bank, seen))
        return F, seen.scale

    def _banks(self, state):
        """Yield each bank with somebody awake, and their columns of forecasts."""
        low = self._inputs().n_walks
        for bank in state["banks"]:
            n = len(bank["members"])
            if n:
                yield bank, slice(low, low + n)
            low += len(bank["features"]["masks"])

    def _table(self, state):
        born = _born(state)
        members = list(WALKS[: self._inputs().n_walks])
        members += [member for bank in state["banks"] for member in bank["members"]]
        columns = {name: np.array([member[name] for member in members]) for name in members[0]}
        weights = np.where(self._heard(state), self._mixture()._weights(state["mixture"]), 0.0)[
            born
        ]
        n_forecasts = np.maximum(state["rounds"][born] - self.label_delay, 1)
        losses = state["losses"][born] * _squared_unit(state)
        return (
            {"name": np.array([_name(**member) for member in members])}
            | columns
            | {
                "weight": weights / weights.sum(),
                "mean_loss": losses / n_forecasts,
                "n_rounds": state["rounds"][born],
            }
        )


def _keep(state, room):
    """Copy a state into the arrays of a room, where they fit."""
    room.update(_kept(state, room))


def _kept(value, room):
    if type(value) is dict:
        room = room if isinstance(room, dict) else {}
        return {name: _kept(part, room.get(name)) for name, part in value.items()}
    if isinstance(value, list):
        rooms = room if isinstance(room, list) else [None] * len(value)
        return [_kept(part, place) for part, place in zip(value, rooms, strict=True)]
    if not isinstance(value, np.ndarray):
        return value
    if not isinstance(room, np.ndarray) or room.shape != value.shape:
        return value.copy()
    np.copyto(room, value)
    return room


def _go_back(state, room):
    """Exchange a state, all but what it knows of its targets, for the one in a room."""
    for name in state.keys() - {"targets"}:
        state[name], room[name] = room[name], state[name]


def _inputs(model):
    return LaggedInputs(model.lags, model.label_delay)


def _mixture(model):
    constants = model._constants
    stacks = constants.stacks[: model._sizes().n_stacks]
    n_walks = model._inputs().n_walks
    return StackedBOARegressor(fadings=constants.fadings, stacks=stacks, n_direct=n_walks)


def _no_rows(n_features):
    return {"X": np.empty((0, n_features)), "y": np.empty(0), "faulty": np.empty(0, dtype=bool)}


def _born(state):
    return np.flatnonzero(state["rounds"] > 0)


def _squared_unit(state):
    unit = targets.unit(state["targets"])
    return unit * unit  # infinite, and no error, beyond 1e154


def _name(kernel, bandwidth, lags, alpha, forgetting):
    """Name an expert by all that makes it another one than its neighbours."""
    if np.isnan(alpha):
        return kernel
    parts = [kernel if kernel == "linear" else f"{kernel} {bandwidth:.2g}", f"alpha {alpha:g}"]
    parts += ["lags"] if lags else []
    parts += [f"forgetting {forgetting:g}"] if forgetting < 1.0 else []
    return ", ".join(parts)
