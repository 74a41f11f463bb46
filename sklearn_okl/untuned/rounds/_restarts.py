"""When the estimators without tuning begin anew: with other units, other columns, other experts.

A model is young while all rows are at hand, or the latest of a new age. Where it turns out that its
first targets were taken wrongly, or that columns ask to be shown otherwise, it learns these rows
again; where others have been learnt from more rows, a target is forgotten alone.
"""

import numpy as np

from ..._tail import Shared
from ...base import _copied
from ...features import _faults
from ...features._moments import lonely, medians
from ..experts._experts import ages_of
from ..rows._layout import MAYBE, UNORDERED, is_same, layout_of
from ..rows._order import has_order
from . import _nones
from . import _target_units as target_units
from . import _targets as targets

_OF_NONES = "nones", "marks", "learnt", "latest", "within"
# of what is known of a target
_KEPT = ("guarded", "origin", "unit", "n_faulty", "believed", "of_faults", *_OF_NONES)
_TINY = 1e-9  # usual distance over the unit, or its inverse, that makes it a wrong unit
_REMOTE = 1e3  # usual distances from the origin that make it a wrong one: ridges draw towards it
LAYOUTS = (8, 16, 32, 64)  # rounds at which columns are shown as the rows so far ask for


def review(model, state, run):
    """Judge the latest targets as a whole; start anew with them if they were taken wrongly.

    Where other targets have been learnt from more rows than are at hand, those that were taken
    wrongly are forgotten alone. Return whether what stands for none was learnt and still is.
    """
    fence, were_learnt = model._experts().fence, False
    t, guards, latest = state["t"], state["targets"], state["latest"]
    units, n_latest, youngest = [{} for _ in guards], 0, min(ages_of(state))
    latest["faulty"] = latest["faulty"].copy()
    for j, guard in enumerate(guards):
        age = t - guard["since"]
        if age not in fence.reviews:
            continue
        n = min(age, fence.block)
        y, known = (latest[name][-n:, j] for name in ("y", "faulty"))
        faulty, middle, usual, nones = _nones.of_reviewed(y, guard["nones"])
        if faulty.any() and _faults.explain(shown_rows(latest)[-n:], y, faulty):
            faulty = np.zeros(n, dtype=bool)
        elif len(nones):
            guard["nones"] = nones
        judged_otherwise = age == n and (faulty != known).any()
        if judged_otherwise or not is_sane(fence, guard, middle, usual, age):
            n_faulty = guard["n_faulty"] + int(faulty.sum()) - int(known.sum())
            known[:] = faulty
            units[j] = {"origin": float(y[~faulty][0]), "unit": float(usual)}
            units[j] |= {"n_faulty": n_faulty} | {name: guard[name] for name in _OF_NONES}
            n_latest = max(n_latest, n)
        else:
            were_learnt |= bool((np.isin(y, guard["nones"]) & ~known).any())
    if n_latest == t or all(units):
        _start_anew(model, state, state["columns"]["layout"], n_latest, run, units)
    elif any(units):
        former = _copied(dict(state)) if model.label_delay else {}
        for j, anew in enumerate(units):
            if anew:
                forget(model, state, j, anew)
        state["former"] = former
    if youngest == fence.reviews[-1]:
        state["latest"] = _emptied(latest)
    return were_learnt


def is_sane(fence, guard, middle, usual, age):
    """Return whether origin and unit fit targets at usual distances around a middle.

    From an age on at which more has been learnt than is at hand, a remote origin fits, too, if
    forecasts know of most of the latest targets: that a setpoint holds still says nothing. Nor do
    targets that came before a new unit.
    """
    unit, far = target_units.unit(guard), fence.cap * fence.reach
    errors = guard["errors"][-fence.block :] if age > fence.block else guard["errors"][:0]
    if age > fence.block > len(errors):
        return True
    with np.errstate(over="ignore"):
        near = abs(middle - guard["origin"]) <= _REMOTE * usual
        near = near or (len(errors) > 0 and np.median(errors) * unit <= far * usual)
        return usual == 0.0 or (near and _TINY < usual / unit < 1.0 / _TINY)


def forget(model, state, j, units):
    """Forget what was learnt of target j, and go on in other units."""
    fence, since = model._experts().fence, state["targets"][j]["since"]
    age = state["t"] - since
    latest = state["latest"]["y"][-min(age, fence.block) :, j]
    _, middle, usual = _faults.judged(latest)
    y = np.clip(latest[::-1], middle - usual, middle + usual)
    units = units | {"origin": float(middle)}  # what is forecast by experts that know nothing
    since = since if age <= fence.block else state["t"]
    guard = fence.start(model._guarded, model.label_delay) | units | {"since": since}
    guard["past"][:] = guard["origin"], target_units.unit(guard)
    guard["errors"] = np.ones(1)  # an error of one unit
    state["targets"][j] = guard
    model._record.forget_target(state, j, model.label_delay)
    experts = model._experts()
    latest = fence.scaled([guard], y[:, None])[:, 0]
    experts.encoder.forget_target(state["columns"], j, latest)
    experts.forget_target(state, j, latest)


def looked_over(latest, Y, former, experts):
    """Judge the columns of all rows so far, and whether these have an order.

    Parameters
    ----------
    latest : dict
        The rows; which of their values are far beyond nearly all others of their column is written.
    Y : ndarray of shape (n_rows, n_targets)
        Their targets, NaN for numbers that are known to stand for none.
    former : dict
        How columns have been shown.
    experts : Experts

    Returns
    -------
    layout : dict
        How they are to be shown.
    is_new : bool
        Whether this, or what is far, is not as it was.
    """
    X = np.where(latest["gaps"], np.nan, latest["X"])
    ordered = former["ordered"]
    if ordered == MAYBE and len(X) == LAYOUTS[-1] and not _may_have_order(X, Y, latest, experts):
        ordered = UNORDERED
    layout = layout_of(former["nominal"], X, ordered, experts.most_values)
    far, _ = lonely(X)
    far[:, former["nominal"]] = False
    is_new = not is_same(layout, former) or not np.array_equal(far, latest["far"])
    latest["far"] = far
    return layout, is_new


def _may_have_order(X, Y, latest, experts):
    if not experts.may_do_without_lags:
        return True
    of_lags = experts.kind.n_lags, experts.delay
    if has_order(X, Y, *of_lags):  # what looks like faults may be jumps in time
        return True
    Y = np.where(latest["faulty"], np.nan, Y)
    return latest["faulty"].any() and has_order(X, Y, *of_lags)


def shown_rows(latest):
    """Return the rows (n, d) to be learnt again: NaN for gaps, medians for what is far."""
    X = np.where(latest["gaps"], np.nan, latest["X"])
    return np.where(latest["far"], medians(X), X)


def lay_out(model, state, run):
    """Show columns to the experts as the rows so far ask for; start anew if that is new."""
    t, latest = state["t"], state["latest"]
    if len(latest["y"]) == t and min(ages_of(state)) == t:
        Y, former = _nones.blanked(state.get("targets"), latest["y"]), state["columns"]["layout"]
        layout, is_new = looked_over(latest, Y, former, model._experts())
        if is_new:
            _start_anew(model, state, layout, t, run)
    if t == LAYOUTS[-1] and not model._guarded:
        state["latest"] = _emptied(latest)


def _start_anew(model, state, layout, n, run, units=None):
    """Start anew from the latest n rows, without faulty targets, some of them in new units."""
    t, latest = state["t"], Shared({name: rows[-n:] for name, rows in state["latest"].items()})
    X, y = shown_rows(latest), latest["y"]
    former, before = dict(state) if model.label_delay else {}, state.get("targets")
    state.update(model._start_from(layout, X.shape[1], state["seed"]), former=former)
    state["latest"] = latest
    weights = None if (latest["weights"] == 1.0).all() else latest["weights"]
    if before is not None:
        y = _in_units(model, state, t - n, before, units or [{} for _ in before])
    experts = model._experts()
    forecasts, F = experts.learn_rows(state, X, y, weights, run)
    if before is None:
        state["t"] = t
        model._record.learn(state, forecasts, y, weights)
        return
    guards, references = state["targets"], experts.references(state, F)
    scales = [target_units.origin_and_unit(guard) for guard in guards]
    distances = targets.distances_from(y, F[..., experts.without_lags(state)])
    of_rows = y, forecasts, references, distances, y
    model._experts().fence.learn(guards, t - n, *of_rows, scales)
    for guard, faulty in zip(guards, latest["faulty"].T, strict=True):
        # what stands in for faulty ones repeats the target before
        guard["values"] = guard["values"][~faulty[n - len(guard["values"]) :]]
    state["t"] = t
    scored = slice(1 + model.label_delay, None)
    errors = (y - forecasts)[scored]
    model._record.learn(state, errors, errors, None if weights is None else weights[scored])


def _in_units(model, state, first, before, units):
    """Return the latest targets, those of rounds `first`, ..., in the units of fresh guards.

    These keep what is known of the targets; some have other units than before.
    """
    fence, latest, guards = model._experts().fence, state["latest"], state["targets"]
    for j, (guard, known, anew) in enumerate(zip(guards, before, units, strict=True)):
        guard["since"] = max(known["since"], first)
        guard |= {name: known[name] for name in _KEPT} | anew
        guard["odds"] = fence.odds_after(latest["faulty"][:, j], known["believed"])
    return fence.scaled(guards, _with_last_sound(latest["y"], latest["faulty"]))


def _with_last_sound(y, faulty):
    """Return targets (n, q), in place of faulty ones the last that was none, or the first."""
    y = y.copy()
    for values, is_fault in zip(y.T, faulty.T, strict=True):
        if is_fault.any() and not is_fault.all():
            sound = np.flatnonzero(~is_fault)
            places = np.searchsorted(sound, np.flatnonzero(is_fault)) - 1
            values[is_fault] = values[sound[np.maximum(places, 0)]]
    return y


def no_rows(n_columns, of_targets):
    """Return what is kept of the latest rows, before the first one."""
    rows = np.empty((0, n_columns))
    known = {"X": rows, "gaps": rows.astype(bool), "far": rows.astype(bool)}
    return Shared(known | of_targets | {"weights": np.empty(0)})


def keep_latest(latest, n, X, weights, **of_targets):
    """Return the n latest rows (n, d), as they came, and what is known of their targets."""
    gaps = np.isnan(X)
    rows = {"X": np.where(gaps, 0.0, X), "gaps": gaps, "far": np.zeros_like(gaps)} | of_targets
    rows["weights"] = np.ones(len(X)) if weights is None else weights
    return Shared(
        {name: np.concatenate([before, rows[name]])[-n:] for name, before in latest.items()}
    )


def _emptied(latest):
    return Shared({name: rows[:0].copy() for name, rows in latest.items()})
