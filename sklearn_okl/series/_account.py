"""What a forecaster tells of itself: what its forecasts are made of, and a summary in words."""

from __future__ import annotations

import textwrap

import numpy as np

from .._sentences import counted
from .._types import Any
from ..base import twin
from . import _experts, _frames, _intervals, _rounds, _smoothing, _views
from ._experts import RAW

_NAMED = 3  # experts, for a step
_LINE = 88  # characters


class AccountOfForecasts:
    """Forecasters: parts of forecasts, names of experts, a summary."""

    @property
    def expert_names_(self) -> list[str]:
        """What each expert is, in the order of ``expert_weights_``."""
        state, plan = self._known_state(), self._plan()
        explaining = {view: name.removesuffix("_share") for view, name in plan.shares.items()}
        return _experts.names(plan.experts, state["slots"], state["echoes"], explaining)

    def predict_components(self, X_future: Any = None, n_steps: int | None = None) -> dict:
        """Forecast the next rows in parts that add up: level, seasons, columns, rest.

        Parameters
        ----------
        X_future : {array-like, frame} of shape (n_steps, d), default=None
            Columns known ahead of these rows: all columns of X, or only those known ahead. An index
            is to be that of the rows that follow.
        n_steps : int, default=None
            How many rows are forecast, at most `horizon`. None: as many as X_future has, or
            `horizon`. A forecaster of ``horizon=25`` is so asked for each local day at its
            midnight, of 23, 24 or 25 hours.

        Returns
        -------
        components : dict of str to {ndarray, Series, DataFrame}
            Each as `predict` returns forecasts, to which they sum up: ``"level"``;
            ``"season_24"`` and so on, for each season that has been seen twice; ``"columns"``,
            if some are known ahead; ``"rest"``.

        Notes
        -----
        Level and seasons are those that exponential smoothing follows, whose members are weighted
        by their errors at each step; a season adds nothing in the mean of its rows. Columns are
        what their regression says of a row beyond what it says of one whose columns are at their
        means, as far as the mixture follows it. The rest is what all experts see besides: what
        lasts of the latest errors, mostly. A column that has the same season, as temperature has
        that of a day, shares it with the season, and the rest says what was counted twice.
        """
        model = twin(self)  # another thread may install a new state meanwhile
        parts, forecasts = model._asked(X_future, n_steps, _parts)
        parts["rest"] = forecasts - sum(parts.values())
        layout = model._layout
        how = layout["is_flat"], layout["names"], layout["time"]
        return {name: _frames.framed(part, *how) for name, part in parts.items()}

    def summary(self) -> str:
        """Say in a paragraph what has been learnt: seasons, errors, experts that count, faults.

        Returns
        -------
        paragraph : str
            The size of errors, of the first step and the last, is the mean of all forecasts that
            have been judged, the latest 5000 mostly, in running standard deviations of each series.
            The experts that count most are named with their weights, in the mean of all series.

        Examples
        --------
        >>> from sklearn_okl import OnlineForecaster
        >>> from sklearn_okl.datasets import make_day_ahead
        >>> X, y = make_day_ahead(24 * 15, random_state=0)
        >>> model = OnlineForecaster(horizon=24, windows=(4, 8, 24)).fit(y, X)
        >>> print(model.summary())  # doctest: +ELLIPSIS
        After 360 rows of 1 series, 5 columns. Seasons of 24 rows were found. Forecasts of the
        next row miss by 0.12 standard deviations; what counts most for them: smoothing (2...%);
        ridge on 24 rows (...%); ...
        """
        model = twin(self)  # another thread may install a new state meanwhile
        state, layout, horizon = model._known_state(), model._layout, model._plan().horizon
        t, m, counts = model.n_samples_seen_, layout["n_series"], state["views"][RAW]["count"]
        columns = f", {counted(layout['n_columns'], 'column')}" if layout["n_columns"] else ""
        given = model._plan().seasons
        found = [length for length in state["seasons"].tolist() if length and length not in given]
        seasons = [
            f"Seasons of {_listed([str(k) for k in lengths])} rows were {how}."
            for lengths, how in ((given, "given"), (found, "found"))
            if lengths
        ]
        seasons = " ".join(seasons) or "It has no season."
        steps = sorted({0, horizon - 1})
        known, errors = _intervals.lasting(state["intervals"])
        errors = errors * _views.units_in_deviations(state["views"][RAW])
        sentences = [f"After {counted(t, 'row')} of {m} series{columns}.", seasons]
        for h in steps:
            where = "the next row" if h == 0 else f"the row {h + 1} ahead"
            if not known[h].any():
                sentences.append(f"No forecast of {where} has been judged yet.")
                continue
            size = errors[h, known[h]]
            worst = f" (at most {size.max():.2g})" if m > 1 else ""
            weights = _rounds.coefficients(state)[:, h].mean(axis=-1)
            heavy = np.argsort(-weights, kind="stable")[:_NAMED]
            named = "; ".join(f"{model.expert_names_[k]} ({weights[k]:.0%})" for k in heavy)
            sentences.append(
                f"Forecasts of {where} miss by {size.mean():.2g} standard deviations{worst}; what "
                f"counts most for them: {named}."
            )
        n_missing, n_faulty = int(m * t - counts.sum()), int(state["doubts"]["n_faulty"].sum())
        if n_missing or n_faulty:
            were = f"{counted(n_missing, 'value')} {'was' if n_missing == 1 else 'were'} missing"
            faults = "a fault" if n_faulty == 1 else "faults"
            sentences.append(f"{were}, {n_faulty} taken for {faults}.")
        return textwrap.fill(" ".join(sentences), width=_LINE)


def _parts(plan, state, X_ahead, calendars, forecasts):
    """Return level, seasons and what columns known ahead add, each (k, m), NaN as forecasts are."""
    n, known = len(forecasts), np.where(np.isnan(forecasts), np.nan, 0.0)
    level, seasons = _smoothing.parts(state["smoothing"], plan.horizon)
    parts = {"level": level[:n] + known}
    for length, season in zip(state["smoothing"]["lengths"].tolist(), seasons, strict=True):
        parts[f"season_{length}"] = season[:n] + known
    if plan.n_ahead:
        parts["columns"] = _rounds.of_columns(plan, state, X_ahead[:n], calendars) + known
    return parts


def _listed(words):
    return " and ".join([", ".join(words[:-1])] * bool(words[:-1]) + words[-1:])
