"""One estimator that needs no tuning: kernels, ridges, scales and memories learnt from the stream.

Who forecasts, and how they are mixed, is in `_experts.py`; when a target is not believed in
`_targets.py`. What is left for here: the units of the targets, and what is done when they turn out
to have been taken wrongly.
"""

import textwrap
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._linalg import one_blas_thread
from ..base import _copied
from ..base._bank import threads
from . import _targets as targets
from ._constants import BUDGETS, Constants
from ._experts import Experts

_SHORTEST, _LONGEST = 64, 1024  # rows learnt before their targets are looked at


class DefaultModel:
    """Base of the estimators without tuning: what they share, and how their parts work together.

    A class derived from one of them may set ``constants``, see
    :class:`sklearn_okl.untuned.Constants`.

    Parameters
    ----------
    budget : {"fast", "balanced", "accurate"} or int, default="balanced"
        What a row may cost: about 0.1, 0.5 or 2 ms in long calls on one core of 2020. An integer is
        the number of random features of each kernel, at least 2, with the whole dictionary, at
        whatever cost.
    forgetting : float, default=None
        Factor in (0, 1] by which the weight of a row fades with each row that follows, the same for
        all experts. None, right for nearly everyone, has experts that never forget and experts
        that look back about 500 and 100 rows ("fast": 200), and finds out.
    lags : int, default=4
        Number of the latest targets, or labels, that half of the experts see; with them two experts
        forecast from these alone. `predict` is then right for one row only, which `label_delay`
        says. 0 makes the model a function of X, for which earlier targets matter through learning
        only: choose it where rows have no order.
    label_delay : int, default=0
        Number D of rounds that labels come late: row t is forecast, scored and taught as by a model
        that knows the rows up to t - 1 - D and no later one. 0 is for targets known before the next
        row is to be forecast; for the 24 hours of the next day it is 23.
    n_jobs : int or None, default=None
        Number of threads over the experts. They pay in calls of some hundred rows or more.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    experts_ : dict of ndarray of shape (n_experts,)
        A table that pandas reads, a row for each expert: ``name``, ``kernel``, ``bandwidth`` (see
        Notes), ``lags``, ``alpha``, ``forgetting``, whether they see ``ranks`` and columns in
        ``pairs`` and have ``learnt`` scales, ``weight`` in the first mixture, ``mean_loss``,
        ``n_rounds``. Experts that are born later come behind the others; the first
        two, where there are `lags`, have no bandwidth and no alpha.
    weights_ : ndarray of shape (n_experts,)
        Weights of the first mixture, 0 for kernels that are not heard yet.
    expert_losses_ : ndarray of shape (n_experts,)
        Sums of squared progressive errors.
    """

    _parameter_constraints = {
        "budget": [
            StrOptions(set(BUDGETS)),
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
    constants = Constants()

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
        return self._as_taught()._experts().losses(state) * _squared_unit(state)

    @property
    def experts_(self):
        """What each expert is and how it fares: a dict of arrays that pandas reads as a table."""
        state = self._fitted_state("experts_")
        age = state["t"] - state["targets"]["since"]
        return self._as_taught()._experts().table(state, age, _squared_unit(state))

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
            age = state["t"] - state["targets"]["since"]
            return targets.unscaled(state["targets"], self._experts().forecasts(state, X, age))

    def _experts(self):
        return self._built(experts_of)

    def _start(self, n_features, n_targets=None):
        # A seed of our own: the user's generator may be shared, and is not ours to copy.
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return self._start_from(n_features, seed)

    def _start_from(self, n_features, seed):
        return {
            "t": 0,
            "targets": self.constants.fence.start(self._guarded, self.label_delay),
            "former": {},  # the model before it started anew, while its forecasts have no labels
            "latest": _no_rows(n_features),  # up to a block of rows as they came, while young
            "loss": 0.0,
            "seed": seed,
        } | self._experts().start(n_features, seed)

    def _learn(self, state, X, y):
        fence = self.constants.fence
        n_first = max(1 + self.label_delay - state["t"], 0)
        forecasts = np.empty(len(y))
        low, room, alone = 0, {}, fence.alarmed(state["targets"])
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
                alone = len(part) < n or fence.alarmed(state["targets"])
                longest = 1 if alone else min(max(2 * longest, _SHORTEST), _LONGEST)
                self._stop(state, run)
                former = state["former"]
                if former and former["t"] <= state["t"] - self.label_delay:
                    state["former"] = {}
        forecasts[:n_first] = 0.0  # nothing was known, not even the origin
        return forecasts

    def _close(self, state, grows=False):
        self._experts().close(state, grows)

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

    def _forecast(self, state, X, ago=0, ahead=False):
        """Forecast by what was known some rounds ago; `ahead`: rows in order, not each the next."""
        former = state["former"]
        if former and ago > state["t"] - former["t"]:
            return self._forecast(former, X, ago - state["t"] + former["t"])
        forecasts = self._forecast_scaled(state, X, ago, ahead)
        return targets.unscaled(state["targets"], forecasts, ago)

    def _forecast_scaled(self, state, X, ago=0, ahead=False):
        age = state["t"] - state["targets"]["since"]
        return self._experts().forecast(state, X, age, ago, ahead)

    def _rounds_to_stop(self, t, since):
        """Return the number of rounds until something else than learning is due."""
        births, delay = self.constants.births, self.label_delay
        heard = delay + self.constants.apprenticeship
        reviews = (since + age for age in self.constants.fence.reviews)
        stops = (*reviews, *(birth + wait for birth in births for wait in (0, delay, heard)))
        return min(stop - t for stop in (*stops, 1 << t.bit_length()) if stop > t)

    def _stop(self, state, run):
        """Do what is due at this round, if anything is."""
        fence = self.constants.fence
        t = state["t"]
        if self._guarded and t - state["targets"]["since"] in fence.reviews:
            self._review(state, run)
        if t >= fence.block and t.bit_count() == 1:  # a power of two
            self._experts().choose_reference(state)
        if t in self.constants.births:
            level = state["targets"]["level"]
            self._experts().refine(state, self.n_features_in_, [state["seed"], t], level)

    def _learn_guarded(self, state, X, y, room, run, alone):
        """Learn rows up to the first faulty target or new unit; return their forecasts.

        A faulty target is left to the next call, to be met alone, and nothing is learnt where it
        comes first: only a row that is alone is forecast before it is learnt.
        """
        fence = self.constants.fence
        guard, t = state["targets"], state["t"]
        n_before = self._experts().n_learnt(state)
        if t == 0:
            guard["origin"] = float(y[0])
        n = fence.n_alike(guard, t, y)
        X, y = X[:n], y[:n]
        u = taught = fence.scaled(guard, y)
        if alone:
            forecast = float(self._forecast_scaled(state, X, self.label_delay)[0]) if t else 0.0
            taught = np.array([fence.fenced(guard, t, float(u[0]), forecast)])
        elif not self._stands_at(t):
            _keep(state, room)
        forecasts, references = self._learn_rows(state, X, taught, run)
        units = targets.units_read(guard, len(u))
        misses = u - forecasts
        errors = fence.errors_to_learn(guard, t, u, forecasts, taught)
        n = len(u) if alone else fence.n_sound(guard, t, u, forecasts)
        n, lags = fence.learn(guard, t, u[:n], forecasts[:n], references[:n], taught[:n])
        if n < len(u):
            if self._stands_at(t):
                room.update(_copied(self._state))
            _go_back(state, room)
            if n == 0:
                return forecasts[:0]
            # a target far off costs the forecasts beside it their last digits
            forecasts, _ = self._learn_rows(state, X[:n], u[:n], run)
        if self._guarded and t - guard["since"] < fence.reviews[-1]:
            rows = {"X": X[:n], "y": y[:n], "faulty": (u != taught)[:n]}
            for name, before in state["latest"].items():
                both = np.concatenate([before, rows[name]])
                state["latest"][name] = both[-fence.block :].copy()
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
        age = state["t"] - state["targets"]["since"]
        return self._experts().learn(state, X, u, age, run)

    def _put_former(self, state, X, answer):
        """Put in the forecasts (n,) of the next rows that were made before a start anew."""
        former = state["former"]
        if former:
            made = state["t"] + np.arange(len(X)) - self.label_delay
            for i, ago in enumerate((former["t"] - made[made < former["t"]]).tolist()):
                answer[i] = self._forecast(former, X[i : i + 1], ago)[0]

    def _learn_errors(self, state, misses, errors):
        """Learn by how much forecasts have missed, and the errors that the fence makes of it."""
        state["loss"] += float(errors @ errors)

    def _move(self, state, lags):
        """Go on in another unit, in which the latest targets are these, the last one first."""
        known = state["inputs"]["lags"]
        known[: len(lags)] = lags[: len(known)]

    def _review(self, state, run):
        """Judge the latest targets as a whole; start anew with them if they were taken wrongly."""
        fence = self.constants.fence
        t, guard = state["t"], state["targets"]
        age = t - guard["since"]
        n = min(age, fence.block)
        X, y, known = (state["latest"][name][-n:] for name in ("X", "y", "faulty"))
        faulty, middle, usual = fence.first_faulty(y)
        judged_otherwise = age == n and (faulty != known).any()
        if judged_otherwise or not fence.is_sane(guard, middle, usual):
            n_faulty = guard["n_faulty"] + int(faulty.sum()) - int(known.sum())
            former = dict(state) if self.label_delay else {}
            state.update(self._start_from(X.shape[1], state["seed"]), former=former)
            state["latest"] = {"X": X, "y": y, "faulty": faulty}
            y = np.where(faulty, np.clip(y, middle - usual, middle + usual), y)
            guard = state["targets"]
            guard |= {"since": t - n, "origin": float(y[~faulty][0]), "unit": float(usual)}
            u = fence.scaled(guard, y)
            forecasts, references = self._learn_rows(state, X, u, run)
            fence.learn(guard, t - n, u, forecasts, references, u)
            guard["n_faulty"] = n_faulty
            state["t"] = t
            errors = (u - forecasts)[1 + self.label_delay :]
            self._learn_errors(state, errors, errors)
        if age == fence.reviews[-1]:
            state["latest"] = _no_rows(X.shape[1])


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


def experts_of(model, kind=Experts):
    """Return the experts that the parameters of a model ask for."""
    return kind(_budget(model), model.forgetting, model.lags, model.label_delay, model.constants)


def _budget(model):
    """Return the budget; a number asks for the whole dictionary at whatever work."""
    budgets = model.constants.budgets
    if isinstance(model.budget, str):
        return budgets[model.budget]
    return budgets["balanced"]._replace(frequencies=model.budget // 2, work=np.inf)


def _no_rows(n_features):
    return {"X": np.empty((0, n_features)), "y": np.empty(0), "faulty": np.empty(0, dtype=bool)}


def _squared_unit(state):
    unit = targets.unit(state["targets"])
    return unit * unit  # infinite, and no error, beyond 1e154
