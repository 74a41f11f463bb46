"""What batch models on a stream share: fits whenever the past has grown by a share."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from math import ceil
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._linalg import one_thread
from .._types import Any, Seed
from ..base import twin
from ..features._as_came import HandsOn
from ._background import BackgroundFit
from ._past import Past

_FEW = 200_000  # numbers on which threads wait for each other longer than they work
N_FIRST = 30  # rows of the first fit: fewer say little to most models


def next_fit(n, growth, window=None):
    """Return the number of rows at which the fit after that at n rows is due.

    Parameters
    ----------
    n : int
        Rows at the latest fit, 0 before the first one.
    growth : float
        Share of the rows that a model is fitted on, > 0, that are to be new.
    window : int, default=None
        The most rows that a model is fitted on.

    Returns
    -------
    n_next : int
    """
    if n < N_FIRST:
        return N_FIRST
    fitted = n if window is None else min(n, window)
    return n + max(1, ceil(round(growth * fitted, 9)))


class Refitted(HandsOn):
    r"""An estimator fitted anew whenever the past has grown, above the shell of its kind.

    A class says what the estimator is by default, `_by_default`; what is added up of the targets,
    `_added`, and forecast from these sums before the first fit, `_before_fits`; which targets a
    fit is `_given`; and its `_answers`.

    Parameters
    ----------
    growth : float, default=0.05
        The share g > 0 of the rows fitted on that are new at the next fit. All fits together cost
        about :math:`1 + 1 / g` times the last one where a fit takes linear time.
    window : int, default=None
        How many of the latest rows the model is fitted on, at least 30; then a fit is due when a
        share g of the window is new. None keeps, and fits on, the whole past: memory grows with
        the stream.
    label_delay : int, default=0
        How many rounds late the labels come: row t is forecast by what was known of the rows up
        to t - 1 - `label_delay`.
    fit_delay : int, default=0
        Number of rows from the one after which a fit is due to the one after which it forecasts.
        Above 0 it is made meanwhile, by a thread in the background, and waited for at its row, so
        that forecasts are the same on any machine; a pickle waits, too. 0 makes it at once, and the
        row has to wait as long as a fit takes.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives. It draws one number, for
        every parameter named ``random_state`` of `estimator` that is None.

    Attributes
    ----------
    n_fits_ : int
        Number of fits so far, those in the background included.
    n_samples_fit_ : int
        Number of rows seen by the latest fit that forecasts, 0 before the first one.

    Notes
    -----
    *Schedule.* The model is fitted after rounds :math:`n_1 = 30` and :math:`n_{k+1} = \max(n_k + 1,
    \lceil (1 + g) n_k \rceil)`, whatever the cut of the stream into calls.

    References
    ----------
    .. [1] A. Bifet, R. Gavalda, G. Holmes, B. Pfahringer, "Machine learning for data streams",
       MIT Press, 2018, chapter 2, on batch models in streams.
    """

    _parameter_constraints = {
        "growth": [Interval(Real, 0, None, closed="neither")],
        "window": [Interval(Integral, N_FIRST, None, closed="left"), None],
        "label_delay": [Interval(Integral, 0, None, closed="left")],
        "fit_delay": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    }
    _structural = ("estimator", "growth", "window", "label_delay", "fit_delay")
    _first_fit = f"{N_FIRST} rows"

    def __init__(
        self,
        estimator: Any = None,
        *,
        growth: float = 0.05,
        window: int | None = None,
        label_delay: int = 0,
        fit_delay: int = 0,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.growth = growth
        self.window = window
        self.label_delay = label_delay
        self.fit_delay = fit_delay
        self.random_state = random_state

    def _handed_to(self):
        return [self._unfitted()]

    @property
    def estimator_(self) -> Any:
        """The latest fit that forecasts."""
        fits = self._in_force(self._fitted_state("estimator_"))
        if not fits:
            raise AttributeError(
                f"{type(self).__name__} has no 'estimator_' yet: the first fit is after "
                f"{self._first_fit}, and it has seen {self.n_samples_seen_}."
            )
        return _ready(fits[-1][1])

    @property
    def n_fits_(self) -> int:
        """Number of fits so far."""
        return self._fitted_state("n_fits_")["n_fits"]

    @property
    def n_samples_fit_(self) -> int:
        """Number of rows seen by the latest fit that forecasts."""
        fits = self._in_force(self._fitted_state("n_samples_fit_"))
        return fits[-1][0] - self._as_taught().fit_delay if fits else 0

    def _unfitted(self):
        return self._by_default() if self.estimator is None else self.estimator

    def _start(self, n_features, n_targets=None):
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        targets = () if n_targets is None else (n_targets,)
        none = np.zeros((self.label_delay + 1, *targets), dtype=int)
        return {
            "t": 0,
            "seed": seed,
            "past": Past.empty(n_features, self.window, n_targets),
            "due": N_FIRST,  # the round of the next fit
            "n_fits": 0,
            # (round from which on it forecasts, model), the oldest that a late forecast needs first
            "fits": (),
            # of the targets before the latest rounds
            "sums": np.zeros_like(self._added(none)),
        }

    def _learn(self, state, X, y, weights=None):
        t, delay, state["frame"] = state["t"], self.label_delay, self._frame
        # before each row, from row t - delay on, and after the last
        sums = np.concatenate([state["sums"], self._added(y)])
        np.add.accumulate(sums[delay:], out=sums[delay:])
        known = np.arange(t, t + len(y)) - delay  # how many rows each row knows
        before_fits = self._before_fits(sums[: len(y)], np.maximum(known, 0))
        forecasts, low = np.empty_like(before_fits), 0
        while low < len(y):
            # a fit takes effect `label_delay + fit_delay` rows after the round it is due in
            high = min(len(y), low + state["due"] - state["t"])
            rows = slice(low, high)
            forecasts[rows] = self._forecast_known(state, X[rows], known[rows], before_fits[rows])
            state["past"] += (X[rows], y[rows], *([] if weights is None else [weights[rows]]))
            state["t"] += high - low
            if state["t"] == state["due"]:
                state["due"] = self._due_after(state)
                self._fit(state)
            low = high
        state["sums"] = sums[len(y) :].copy()
        return forecasts

    def _rows_kept(self, state):
        return state["past"].rows[0]

    def _due_after(self, state):
        """Return the round of the fit after the one that is due now."""
        return next_fit(state["t"], self.growth, self.window)

    def _forecast_known(self, state, X, known, forecasts):
        """Forecast rows (n, d), of which each knows the first so many rows, `known` (n,).

        Where these are too few for a fit it is the one of the `forecasts`, one a row, given.
        """
        forecasts = forecasts.copy()
        starts = [n for n, _ in state["fits"]]
        which = np.searchsorted(starts, known, side="right") - 1
        for k in np.unique(which[which >= 0]):
            asked = self._asked_of(state, state["fits"][k][1], X[which == k])
            forecasts[which == k] = asked.reshape(len(asked), *forecasts.shape[1:])
        return forecasts

    def _in_force(self, state):
        """Return the fits that forecast by now."""
        return [fit for fit in state["fits"] if fit[0] <= state["t"]]

    def _fit(self, state):
        model = clone(self._unfitted())
        unset = {
            name: state["seed"]
            for name, value in model.get_params().items()
            if name.rpartition("__")[2] == "random_state" and value is None
        }
        model.set_params(**unset)
        X, y = state["past"].rows
        weights, small = state["past"].weights, X.size < _FEW
        X = self._handed(state, X.copy())  # it may keep or change what it gets
        one_thread.look_again()  # an estimator may have loaded its library just now
        if self.fit_delay:
            model = BackgroundFit(partial(twin(self)._fit_or_say, model, X, y, weights))
        else:
            with one_thread if small else nullcontext():
                model = self._fit_or_say(model, X, y, weights)
        fits = [*state["fits"], (state["t"] + self.fit_delay, model)]
        # a late forecast reads the latest one that it may know of, and then those after it
        while len(fits) > 1 and fits[1][0] <= state["t"] - self.label_delay:
            del fits[0]
        state["fits"] = tuple(fits)
        state["n_fits"] += 1

    def _fit_or_say(self, model, X, y, weights):
        """Return a model fitted, or say whose fit has failed."""
        try:
            return self._fit_model(model, X, y, weights)
        except ValueError as error:
            raise ValueError(
                f"{type(model).__name__} could not be fitted to the {len(y)} rows kept so far: "
                f"{error}"
            ) from error

    def _fit_model(self, model, X, y, weights):
        model.fit(X, self._given(y))
        return model

    def _forecast(self, state, X):
        fits = self._in_force(state)
        if not fits:
            alike = self._before_fits(state["sums"][-1:], np.array([state["t"]]))
            return np.repeat(alike, len(X), axis=0)
        return self._asked_of(state, fits[-1][1], X).reshape(len(X), *state["sums"].shape[1:])

    def _asked_of(self, state, model, X):
        model, rows = _ready(model), self._handed(state, X)
        with one_thread if X.size < _FEW else nullcontext():
            return self._answers(model, rows)


def _ready(model):
    """Return a model once it is fitted."""
    return model.model() if isinstance(model, BackgroundFit) else model
