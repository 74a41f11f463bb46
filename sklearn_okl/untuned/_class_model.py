"""The rounds of the classifier without tuning: classes have no unit, so little is to be watched."""

from __future__ import annotations

import textwrap
from functools import cache, partial

import numpy as np

from .._linalg import one_blas_thread
from .._types import Any, Array, ArrayLike
from ..base._bank import threads
from ._classes import Classes
from ._constants import CLASS_BUDGETS, Constants
from ._encoding import Encoder
from ._experts import Experts
from ._layout import mark_units
from ._model import _LONGEST, DefaultModel, checked_weights, experts_of
from ._restarts import LAYOUTS, looked_over, shown_rows

_OF_ROWS = ("X", "gaps", "far", "y", "weights")


class ClassModel(DefaultModel):
    """Rows of places among classes in; probabilities, in the order of the places, out.

    Attributes
    ----------
    experts_ : dict of ndarray of shape (n_experts,)
        A table that pandas reads, a row for each expert: ``name``, ``kernel``, ``bandwidth`` (see
        Notes), ``lags``, ``alpha``, ``forgetting``, whether they see ``ranks`` and columns in
        ``pairs``, have ``learnt`` scales and see a tree (``trees``), ``weight`` in the mixture
        under the likelihoods of all rounds, ``mean_loss``, ``n_rounds``. Experts that are born
        later come behind the others.
    weights_ : ndarray of shape (n_experts,)
        Weights of that mixture, 0 for kernels that are not heard yet.
    expert_losses_ : ndarray of shape (n_experts,)
        Sums of squared errors of the scores, before they are calibrated: of targets -1 and +1, or
        0 and 1 for each class where there are more than two.
    """

    constants = Constants(budgets=CLASS_BUDGETS)

    @property
    def expert_losses_(self) -> Array:
        """Sum of squared errors of each expert's progressive scores, of shape (n_experts,)."""
        state = self._fitted_state("expert_losses_")
        return self._as_taught()._experts().losses(state)

    @property
    def experts_(self) -> dict[str, Any]:
        """What each expert is and how it fares: a dict of arrays that pandas reads as a table."""
        state = self._fitted_state("experts_")
        return self._as_taught()._experts().table(state, [state["t"]], [1.0])

    def summary(self) -> str:
        """Say in a paragraph what was learnt.

        Returns
        -------
        text : str
            In lines of at most 88 characters.
        """
        state = self._fitted_state("summary")
        table, t = self.experts_, state["t"]
        n, loss, n_errors = state["scored"].tolist()
        heavy = np.argsort(-table["weight"])[:3]
        named = "; ".join(f"{table['name'][k]} ({table['weight'][k]:.0%})" for k in heavy)
        lagged = table["weight"][table["lags"].astype(bool)].sum()
        fading = table["weight"][table["forgetting"] < 1.0].sum()
        text = (
            f"After {t} rows of {self.n_features_in_} inputs and {len(self.classes_)} classes the "
            f"mean log loss of the progressive forecasts is {loss / max(n, 1.0):.4g}, and "
            f"{n_errors / max(n, 1.0):.1%} of the labels were forecast wrongly. The largest of "
            f"{len(table['weight'])} experts' weights are those of {named}. Experts that see the "
            f"latest labels hold {lagged:.0%} of the weight, those that forget {fading:.0%}."
        )
        return textwrap.fill(text, width=88)

    def predict_experts(self, X: ArrayLike) -> Array:
        """Forecast each row by each expert, calibrated; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.

        Returns
        -------
        P : ndarray of shape (n_samples, n_experts, n_classes)
            The experts' probabilities, in the order of `experts_` and ``classes_``.
        """
        model = self._as_of_now()
        state, X = model._asked(X)
        with one_blas_thread:
            X = model._encoder().look(state["columns"], X)
            return model._shown(model._experts().forecasts(state, X, [state["t"]]))

    def _experts(self):
        return self._built(_for_classes(self._n_places))

    def _encoder(self):
        return Encoder(self.label_delay, None if self._n_places == 2 else self._n_places)

    def _start_from(self, layout, n_columns, seed):
        n, encoder = self._n_places, self._encoder()
        state = {
            "t": 0,
            "former": {},  # the model before it started anew, while its forecasts have no labels
            "latest": _no_rows(n_columns),  # all rows as they came, while young
            "scored": np.zeros(3),  # weight of the rows scored, their log loss, and of the errors
            "seed": seed,
            "n_classes": n,
            "columns": encoder.start(layout, n_columns),
        } | self._experts().start(encoder.width(layout, n_columns), seed, encoder.n_trees(layout))
        mark_units(state)
        return state

    def _learn(self, state, X, y, sample_weight=None):
        weights = None if sample_weight is None else checked_weights(sample_weight, len(y))
        if self._columns:
            self._encoder().forget_numbers(state, self._nominal())
        P, low = np.empty((len(y), self._n_places)), 0
        with threads(self.n_jobs) as run:
            while low < len(y):
                n = min(len(y) - low, _LONGEST, self._rounds_to_stop(state["t"]))
                rows = slice(low, low + n)
                w = None if weights is None else weights[rows]
                P[rows] = self._learn_part(state, X[rows], y[rows], w, run)
                low += n
                self._stop(state, run)
                former = state["former"]
                if former and former["t"] <= state["t"] - self.label_delay:
                    state["former"] = {}
        return P

    def _forecast(self, state, X, ago=0, ahead=False):
        """Forecast by what was known some rounds ago; `ahead`: rows in order, not each the next."""
        former = state["former"]
        if former and ago > state["t"] - former["t"]:
            return self._forecast(former, X, ago - state["t"] + former["t"])
        of_columns = self.label_delay - np.arange(len(X)) if ahead else ago
        X = self._encoder().look(state["columns"], X, of_columns)
        return self._experts().forecast(state, X, [state["t"]], ago, ahead)

    def _rounds_to_stop(self, t):
        """Return the number of rounds until something else than learning is due."""
        births, delay = self.constants.births, self.label_delay
        waits = 0, delay, delay + self.constants.apprenticeship
        stops = (*LAYOUTS, *(birth + wait for birth in births for wait in waits))
        return min((stop - t for stop in stops if stop > t), default=_LONGEST)

    def _stop(self, state, run):
        """Do what is due at this round, if anything is."""
        t = state["t"]
        if t in LAYOUTS:
            self._lay_out(state, run)
        if t in self.constants.births:
            experts, n_columns = self._experts(), state["latest"]["X"].shape[1]
            width = self._encoder().width(state["columns"]["layout"], n_columns)
            experts.refine(state, width, [state["seed"], t], experts.scores.level(state))

    def _learn_part(self, state, X, y, weights, run):
        """Learn rows that nothing comes between; return the probabilities forecast for them."""
        P = self._learn_rows(state, X, y, weights, run)
        self._put_former(state, X, P)
        if state["t"] < LAYOUTS[-1]:
            gaps = np.isnan(X)
            counted = np.ones(len(y)) if weights is None else weights
            rows = (np.where(gaps, 0.0, X), gaps, np.zeros_like(gaps), y, counted)
            for name, part in zip(_OF_ROWS, rows, strict=True):
                state["latest"][name] = np.concatenate([state["latest"][name], part])
        state["t"] += len(y)
        self._score(state, P, y, weights)
        return P

    def _learn_rows(self, state, X, y, weights, run):
        experts = self._experts()
        Z = self._encoder().learn(state["columns"], X, experts.scores.targets(y))
        return experts.learn(state, Z, y, [state["t"]], run, weights)[0]

    def _score(self, state, P, y, weights):
        losses = -np.log(P[np.arange(len(y)), y])
        scores = np.column_stack([np.ones(len(y)), losses, P.argmax(axis=1) != y])
        state["scored"] += scores.sum(axis=0) if weights is None else weights @ scores

    def _put_former(self, state, X, P):
        """Put in the forecasts of the next rows that were made before a start anew."""
        former = state["former"]
        if former:
            made = state["t"] + np.arange(len(X)) - self.label_delay
            for i, ago in enumerate((former["t"] - made[made < former["t"]]).tolist()):
                P[i] = self._forecast(former, X[i : i + 1], ago)[0]

    def _lay_out(self, state, run):
        """Show columns to the experts as the rows so far ask for; start anew if that is new."""
        latest = state["latest"]
        layout, is_new = looked_over(latest, state["columns"]["layout"])
        if is_new:
            self._start_anew(state, layout, run)
        if state["t"] == LAYOUTS[-1]:
            state["latest"] = _no_rows(latest["X"].shape[1])

    def _start_anew(self, state, layout, run):
        """Start anew from the rows so far."""
        t, latest = state["t"], state["latest"]
        X = shown_rows(latest)
        former = dict(state) if self.label_delay else {}
        state.update(self._start_from(layout, X.shape[1], state["seed"]))
        state.update(former=former, latest=latest)
        weights = None if (latest["weights"] == 1.0).all() else latest["weights"]
        P = self._learn_rows(state, X, latest["y"], weights, run)
        state["t"] = t
        self._score(state, P, latest["y"], weights)


def _no_rows(n_columns):
    rows = np.empty((0, n_columns))
    of_cells = rows.astype(bool)
    parts = rows, of_cells, of_cells, np.empty(0, dtype=np.intp), np.empty(0)
    return dict(zip(_OF_ROWS, parts, strict=True))


@cache
def _for_classes(n_classes):
    """Return what makes the experts of a model for so many classes."""
    return partial(experts_of, kind=partial(Experts, Classes, n_classes))
