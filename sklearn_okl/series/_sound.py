"""What the state of a forecaster is held against: all are numbers; of a file, one of its size.

What a small file says of sizes makes nothing large: the numbers that a plan asks for are counted
before anything is made of it.
"""

import numpy as np

from ..base import _is_finite
from . import (
    _correction,
    _echoes,
    _experts,
    _frames,
    _mixture,
    _rounds,
    _row_sizes,
    _season_parts,
    _skew,
    _static,
    _steps,
    _views,
    _waiting,
)
from ._experts import RAW
from ._smoothing_rates import N_BANKS, N_MEMBERS, SHORT

_SCALES = "static_unit", "rows_scale"  # of columns, in the snapshot that forecasts are made from
LATE = 8191  # rows after which one more is a time for all that is done now and then


def n_numbers(plan):
    """Return how many numbers a state of a plan has at least."""
    m, horizon, n_experts = plan.n_series, plan.horizon, len(plan.views)
    ridges = [
        (*shape, horizon, width) for shape, width in _experts.shapes(plan.experts, m, plan.n_common)
    ]
    if plan.n_ahead:
        ridges.append((m, 1, 1, 1, _static.width(plan.n_ahead, plan.n_phases)))
    if plan.knows_rows:
        ridges.append((m, 1, 1, 1, _row_sizes.width(plan.n_ahead, plan.n_phases)))
    latest = _waiting.n_places(horizon) * len(plan.waiting) * m
    longest = max(*plan.windows, *plan.seasons) * m
    mixed = _of_mixture(n_experts, horizon, 1 if plan.is_pooled else m)
    return _of_ridges(ridges) + mixed + latest + longest


def n_corrected(horizon, n_series, window):
    """Return how many numbers the state of a correction has at least."""
    ridges = _correction.N_CORRECTED * [(n_series, 1, 1, horizon, 2 * window + 2)]
    return _of_ridges(ridges) + _of_mixture(_correction.N_EXPERTS - 1, horizon, n_series)


def _of_ridges(ridges):
    return sum(
        groups * width * (2 * width + horizon * (targets + 2 * rows))
        for groups, rows, targets, horizon, width in ridges
    )


def _of_mixture(n_experts, horizon, n_series):
    return 2 * len(_mixture.FORGETTING) * n_experts**2 * horizon * n_series


def is_sound(state, former=None):
    """Tell whether all that forecasts are made from are numbers.

    Elsewhere infinity and NaN have a meaning: what was missing, an interval that is the whole line.
    What is kept of earlier rows, or of a former state, was looked at in its own call.
    """
    slot = heard(state)["slot"]
    said = [slot[name] for name in ("forecasts", "mixed", "last", "scale")]
    if former is None:
        thetas = [own["ridge"]["theta"] for own in state["experts"]]
        return _is_finite([said, thetas, _numbers(state), state["mixture"]])
    known = {id(array) for array in _numbers(former)}  # which lives on: a new one has another id
    return _is_finite([said, [array for array in _numbers(state) if id(array) not in known]])


def _numbers(state):
    """Return arrays that forecasts are made from; what waits in the mixture is in its inverse.

    But for coefficients of the experts, each of which is in what these say.
    """
    learners = [state[name]["ridge"] for name in ("static", "row_sizes") if name in state]
    views = [*state["views"], state["now"]]
    views += [state["static"]["columns"]] if "static" in state else []
    smoothing = state["smoothing"]
    numbers = [own["ridge"]["P"] for own in state["experts"]]
    numbers += [own[name] for own in learners for name in ("theta", "P")]
    numbers += [own[name] for own in views for name in ("mean", "variance", "change")]
    numbers += [smoothing[name] for name in ("level", "slope", "error", "losses")]
    return numbers + [part for name, part in state["mixture"].items() if name != "recent"]


def heard(state):
    """Return the origin without forecasts of what is silent, which are no numbers."""
    origin, slot = state["origin"], state["origin"]["slot"]
    first = len(slot["forecasts"]) - N_BANKS - len(state["views"])
    silent = first - _echoes.N_ECHOES + np.flatnonzero(state["echoes"] == 0)
    if not state["smoothing"]["seasons"]:
        silent = np.append(silent, first + SHORT)
    return origin | {"slot": slot | {"forecasts": np.delete(slot["forecasts"], silent, axis=0)}}


def fresh(plan, known):
    """Return a state before the first row with the room that one has which knows some.

    What that one has more room for is not made: it is numbers without memory.
    """
    waves = _experts.draw_waves(plan.experts, np.random.RandomState(0))
    state = _rounds.start(plan, waves)
    m, lengths = plan.n_series, known["smoothing"]["lengths"]
    n_rows = max(len(state["views"][RAW]["values"]), len(known["views"][RAW]["values"]))
    state["views"][RAW]["values"] = np.broadcast_to(0.0, (n_rows, m))
    state["smoothing"]["seasons"] = [
        [np.broadcast_to(0.0, (n, N_BANKS, N_MEMBERS, m)) for n in _season_parts.sizes(length)]
        for length in lengths.tolist()
    ]
    return state


def fault(plan, state):
    """Return what is wrong with the whole numbers of a state of the right shapes, or None."""
    t, seasons, slots = state["t"], state["seasons"], state["slots"]
    n_rows = len(state["views"][RAW]["values"]) - plan.horizon
    if any(ridge["t"] != t for ridge in _ridges(state)):
        return "has regressions that have seen other rows"
    if (found := fault_of_sides(state)) is not None:
        return found
    if state["n_silent"] < 0:
        return "has seen a number of rows below 0"
    if max(slots) >= n_rows:
        return "has seasons that are longer than what is remembered"
    if not _echoes.is_remembered(state["echoes"], n_rows):
        return "has seasons that come again from before what is remembered"
    if not all(np.isin(plan.seasons, known).all() for known in (seasons, slots)):
        return "has other seasons than its own"
    if (np.diff((seasons > 0).astype(int)) > 0).any():
        return "has a season behind one that is none"
    begun = _views.started(state["views"][RAW])
    if not np.array_equal(state["origin"]["slot"]["begun"], begun):
        return "does not say which series have begun"
    slot = state["origin"]["slot"]
    if any((slot[name] < 0.0).any() for name in _SCALES if name in slot):
        return "has deviations of columns below 0"
    if "static" in state and not _static.is_sound(state["static"]):
        return "has columns of no unit"
    return None if _is_finite(heard(state)) else "forecasts no numbers"


def fault_of_sides(state):
    """Return what is wrong with the sides of errors that wait to be heard, or None.

    Those of far steps wait for longer than any trial.
    """
    is_told = _skew.are_bins(state["recent"]["side"])
    return None if is_told else "has errors that lie on no side that is known"


def late(state):
    """Return a copy of a state at a row where all is done that is done now and then."""
    state = _rounds._copied(state, True)
    horizon = state["origin"]["slot"]["mixed"].shape[-2]
    state["recent"] = _waiting.at_row(state["recent"], state["t"], LATE, horizon)
    state["t"] = LATE
    for ridge in _ridges(state):
        ridge["t"] = LATE
    return state


def _ridges(state):
    found = [own["ridge"] for own in state["experts"]]
    return found + [state[name]["ridge"] for name in ("static", "row_sizes") if name in state]


def fault_of_layout(layout):
    """Return what is wrong with what is known of the series and columns that came, or None."""
    m, n_columns, names = layout["n_series"], layout["n_columns"], layout["names"]
    if not all(type(n) is int for n in (m, n_columns)) or m < 1:
        return "is of no number of series"
    if type(layout["is_flat"]) is not bool or (layout["is_flat"] and m > 1):
        return "does not say how its series came"
    if sorted([*layout["ahead"], *layout["now"]]) != list(range(n_columns)):
        return "has columns that are not those of X"
    for known, n in ((names, m), (layout["columns"], n_columns)):
        if known is not None and (not isinstance(known, list) or len(known) != n):
            return "has other names than series, or columns"
    time = layout["time"]
    if time is not None and time["unit"] not in _frames.UNITS[time["kind"]]:
        return "has a time of no unit"
    if time is not None and time["step"] is not None:
        labels = _frames.continued(time, 2)
        if labels.nunique() != 2 or not labels[0] > _frames.last_of(time):
            return "has a time that does not go on"
        if layout["is_flat"] and not names:
            return "has a series without a name"
    return None if layout["first"] is None else _fault_of_first(layout)


def _fault_of_first(layout):
    """Return what is wrong with the first rows of a layout, whose labels tell the step, or None."""
    labels, parts = layout["first"]["labels"], (layout["first"]["y"], layout["first"]["X"])
    time, widths = layout["time"], (layout["n_series"], layout["n_columns"])
    if time is None or not 0 < len(labels) < _steps.N_TELLING or labels[-1] != time["last"]:
        return "has first rows that are none"
    if any(np.shape(part) != (len(labels), n) for part, n in zip(parts, widths, strict=True)):
        return "has other first rows than labels of these"
    if _steps.step_of(_frames.index_of(time, labels)) != time["step"]:
        return "has a step that its labels do not tell"
    return None
