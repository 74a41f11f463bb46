"""What all models that are heard forecast: one, its twin, and those of a model on trial beside it.

Where labels are late a trial may end, or another one begin, while forecasts by the one before are
out, or another model take the place of the one that stands. All that was heard until then is kept
until their labels have come: what rows were told by does not depend on what came later.
"""

from __future__ import annotations

import numpy as np

from ..._delay import rows_out
from ...base import _copied
from ._renewal import n_rows
from ._spread import told


def forecast(model, state, X, ago=0, ahead=False):
    """Return the forecasts (n, q) by what was known some rounds ago; `ahead`: rows in order."""
    anew, renewal = state["anew"], model.constants.renewal
    before = _rounds_before(state, ago)
    if before > 0:
        return forecast(model, anew["former"], X, before)
    forecasts = _forecast_with_twin(model, state, X, ago, ahead)
    if not renewal.is_heard(anew, ago):
        return forecasts
    theirs = _forecast_with_twin(model, anew["twin"], X, ago, ahead)
    return renewal.mixed_of(anew, X, forecasts, theirs, ago)


def shares(model, state):
    """Return the states that have a say now, each with its share (q,)."""
    anew, renewal = state["anew"], model.constants.renewal
    if not renewal.is_heard(anew):
        return _with_twin(model, state)
    share = renewal.share(anew)
    ours = [(one, part * (1.0 - share)) for one, part in _with_twin(model, state)]
    return ours + [(one, part * share) for one, part in _with_twin(model, anew["twin"])]


def keep_former(model, state, anew, before, is_other):
    """Keep a state and its trial as they were `before` what was decided now, if any row needs it.

    That is where labels are late, and another model goes on or the trial was heard that is over.
    """
    past, delay = before[1], model.label_delay
    is_over = past["twin"] and anew["twin"] is not past["twin"]
    if is_over and not is_other:
        is_other = any(model.constants.renewal.is_heard(past, ago) for ago in range(1, delay + 1))
    if is_other:
        anew["former"] = _copied(before[0] | {"anew": past})
        model._close(anew["former"])


def put_former(model, anew, t, X, forecasts, said=None):
    """Put in forecasts (n, q) of rows from round t on by the former, and what laws it `said`."""
    former = anew["former"]
    if not former:
        return
    for i, ago in rows_out(n_rows(former), t, model.label_delay, len(X)):
        row = X[i : i + 1]
        forecasts[i] = forecast(model, former, row, ago)[0]
        if said is not None:
            said[i] = _told(model, former, row, ago)
    if n_rows(former) + model.label_delay <= t + len(X):
        anew["former"] = {}


def _told(model, state, X, ago):
    """Return how far quantiles (q, 199) of a row lay from its forecast some rounds ago."""
    before = _rounds_before(state, ago)
    if before > 0:
        return _told(model, state["anew"]["former"], X, before)
    return told(model, model.constants.renewal.likelier(state, ago), X, ago)


def _rounds_before(state, ago):
    """Return how many rounds ago that was when the former was left, 0 or less if after it."""
    former = state["anew"]["former"]
    return ago - n_rows(state) + n_rows(former) if former and ago else 0


def _forecast_with_twin(model, state, X, ago, ahead):
    """Return the forecasts (n, q) of a model and of its twin, if there is one."""
    forecasts = model._forecast_all(state, X, ago, ahead)
    beside, trust = state["beside"], model.constants.trust
    if trust.is_heard(beside, ago):
        theirs = model._forecast_all(beside["twin"], X, ago, ahead)
        forecasts = trust.mixed(beside, forecasts, theirs, ago)
    return forecasts


def _with_twin(model, state):
    """Return a model and its twin, if it is heard, and their shares (q,)."""
    beside, trust = state["beside"], model.constants.trust
    if not trust.is_heard(beside):
        return [(state, np.ones(1))]
    share = trust.share(beside)
    return [(state, 1.0 - share), (beside["twin"], share)]
