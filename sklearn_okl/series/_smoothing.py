r"""Exponential smoothing with several seasons: four banks of members, each mixed to one expert.

A member follows a series by its level l, its slope b, what each season k adds at this phase, and
the error e that the latest row left, which lasts:

.. math::
    \hat y_{t + h} = l_t + \sum_{i = 1}^{h + 1} \varphi^i b_t + \sum_k s^k_{t + h}
        + \rho^{h + 1} e_t, \qquad
    e_t = y_t - l_{t - 1} - \varphi b_{t - 1} - \sum_k s^k_t,

    l_t = l_{t - 1} + \varphi b_{t - 1} + \alpha_t e_t, \qquad
    b_t = \varphi b_{t - 1} + \beta_t e_t, \qquad
    s^k_{t + n_k} = s^k_t + \gamma (1 - \alpha_t) e_t

(J. W. Taylor, "Short-term electricity demand forecasting using double seasonal exponential
smoothing", Journal of the Operational Research Society 54, 2003; R. J. Hyndman, A. B. Koehler,
J. K. Ord, R. D. Snyder, "Forecasting with exponential smoothing", 2008; E. S. Gardner, E. McKenzie,
"Forecasting trends in time series", Management Science 31, 1985, for slopes that are damped). What
a season was over many cycles is in it, which no window of the latest rows shows. Of few rows the
rates are larger than they are later: those of the mean of all rows, and of the line through them
(N. Morrison, "Introduction to sequential smoothing and prediction", 1969).

The first bank is steady: it has no slopes. The others doubt something of it, and the mixture hears
what that is worth: one has slopes; one follows the logarithm of a series that has been positive so
far, for growth, seasons and errors that grow with the level; one leaves the longest season out,
which may have been seen too seldom, or be none, and is silent without seasons.

The rates of a bank are a grid. Members are weighted by their faded squared errors as experts are,
at some steps; between these the weights are interpolated. When the seasons change, members begin
anew: with the means of the phases in the rows that are remembered, shrunk by what chance has in
them (W. James, C. Stein, "Estimation with quadratic loss", 1961), through which they go again.
"""

import numpy as np

from . import _powers, _season_parts, _seasons, _smoothing_rates
from ._smoothing_rates import LOGS, N_BANKS, N_MEMBERS, SHORT, SLOPED, STEADY, WITH_SLOPES

_FARTHEST = 5.0  # logarithm of how many times the latest value a forecast is at most
_LATEST = 500  # rows that past errors are taken from
_FEWEST = 16  # origins that tell what they are
_AT_A_TIME = 2**17  # forecasts of members
_TINY, _LEAST = 1e-12, 1e-300


def start(horizon, n_series):
    """Return the state before the first row."""
    members, n_steps = (N_BANKS, N_MEMBERS), len(_smoothing_rates.judged_steps(horizon))
    return {
        "t": 0,  # rows since the members began, where phases are counted from
        "n_learnt": np.zeros(n_series),  # values since then
        "lengths": np.empty(0, dtype=np.int64),  # of the seasons
        "level": np.zeros((*members, n_series)),
        "slope": np.zeros((2, N_MEMBERS, n_series)),  # of the banks that have slopes
        "error": np.zeros((*members, n_series)),
        "seasons": [],  # parts of each: what it adds, (phases, banks, members, series)
        "losses": np.zeros((*members, n_steps, n_series)),  # faded squared errors
        "least": np.full(n_series, np.inf),  # value so far
        "has_logs": np.zeros(n_series, dtype=bool),  # whether the bank of logarithms has them
    }


def is_sound(state):
    """Tell whether what members know, as in a file, are numbers, and their losses squares."""
    known = [state[name] for name in ("level", "slope", "error", "losses")]
    known += [part for of_season in state["seasons"] for part in of_season]
    return bool(
        all(np.isfinite(one).all() for one in known)
        and (state["losses"] >= 0.0).all()
        and ((state["n_learnt"] >= 0.0) & (state["n_learnt"] < np.inf)).all()
        and (state["least"][state["has_logs"]] > 0.0).all()
        and (state["lengths"] > 1).all()
        and len(state["lengths"]) == len(state["seasons"])
    )


def forecasts(state, horizon, last, steps=slice(None)):
    """Return the forecasts (4, J, H, m) of the members for the next rows, after the last (m,).

    `steps` are those that are asked for, of H.
    """
    said = _smoothing_rates.lasting(horizon)[:, :, steps] * state["error"][:, :, None]
    said += state["level"][:, :, None]
    leads = _smoothing_rates.sloping(horizon)[:, :, steps]
    said[WITH_SLOPES] += leads * state["slope"][:, :, None]
    rows = state["t"] + np.arange(horizon)[steps]
    for of_season in state["seasons"]:
        _season_parts.add(np.moveaxis(said, 2, 0), of_season, rows)
    _tell_logs(state, said[LOGS], last)
    return said


def members(state, horizon, last):
    """Return what members say (4, J, steps, m) at the steps that are judged, as `forecasts`."""
    return forecasts(state, horizon, last, _smoothing_rates.judged_steps(horizon))


def _tell_logs(state, said, last):
    """Turn forecasts (J, h, m) of logarithms into those of the series, where it has them."""
    which = np.flatnonzero(state["has_logs"])
    if len(which):
        which = slice(None) if len(which) == len(last) else which  # all at once, without copies
        said[..., which] = _of_logs(said[..., which], _not_below_least(state, last, which))


def _of_logs(said, now):
    """Return the values of logarithms, of a constant exactly what it is now."""
    said = said - np.log(now)
    np.minimum(np.maximum(said, -_FARTHEST, out=said), _FARTHEST, out=said)
    np.exp(said, out=said)
    said *= now
    return said


def _not_below_least(state, last, which):
    """Return the latest values of some series, the least so far of what was filled in below it."""
    return np.maximum(last, state["least"])[which]


def mixed(state, horizon, last):
    """Return the forecasts (4, H, m) of the banks for the next rows, after the last (m,).

    But for logarithms they are sums, the parts of which are weighted one by one: levels, slopes and
    what lasts at the steps that are judged, seasons at each.
    """
    weights = np.ascontiguousarray(_weights(state).transpose(0, 3, 2, 1))  # (4, m, steps, J)
    # weights sum to one: of differences to the latest value nothing is lost in rounding
    said = weights @ _parts_without_seasons(state, last).swapaxes(-1, -2)
    leads = _smoothing_rates.leads(horizon)
    found = (said.reshape(-1, leads.shape[1]) @ leads.T).reshape(N_BANKS, -1, horizon)
    if state["seasons"] or state["has_logs"].any():
        _mix_each_step(state, horizon, last, weights, found)
    return last + found.swapaxes(1, 2)


def _parts_without_seasons(state, last):
    """Return what members begin with (4, m, parts, J): of what lasts a part for each rate."""
    lasting, sloping = _smoothing_rates.lasting_alike(), _smoothing_rates.sloping_alike()
    error, slope = state["error"].swapaxes(1, 2), state["slope"].swapaxes(1, 2)
    n_banks, m, n_members = error.shape
    first = 1 + lasting.shape[2]  # of the slopes
    parts = np.zeros((n_banks, m, first + sloping.shape[2], n_members))
    parts[:, :, 0] = (state["level"] - last).swapaxes(1, 2)
    np.multiply(error[:, :, None], lasting, out=parts[:, :, 1:first])
    np.multiply(slope[:, :, None], sloping, out=parts[WITH_SLOPES, :, first:])
    return parts


def _mix_each_step(state, horizon, last, weights, found):
    """Add to mixed differences to the latest value (4, m, H) what is weighted at each step.

    Some steps at a time: those of all members together would not stay in the cache.
    """
    n_steps = max(_AT_A_TIME // state["level"].size, 1)
    which, shares = np.flatnonzero(state["has_logs"]), _smoothing_rates.shares(horizon)
    for low in range(0, horizon, n_steps):
        steps = slice(low, min(low + n_steps, horizon))
        added = _added_by_seasons(state, steps)
        if added:
            said = sum(np.take(weights @ own, again, axis=-1) for own, again in added)
            found[..., steps] += np.einsum("hs,bmsh->bmh", shares[steps], said)
        if len(which):
            added = sum(np.take(own[LOGS, which], again, axis=-1) for own, again in added)
            said = added + _logs_without_seasons(state, which, steps, horizon)
            now = _not_below_least(state, last, which)[:, None, None]
            said = weights[LOGS, which] @ (_of_logs(said, now) - last[which, None, None])
            found[LOGS, which, steps] = np.einsum("hs,msh->mh", shares[steps], said)


def _added_by_seasons(state, steps):
    """Return what each season adds (4, m, J, n) at some steps, and which n is each of them.

    It is a cycle of the season at most, from the first of the steps on.
    """
    n_steps, added = steps.stop - steps.start, []
    for of_season in state["seasons"]:
        length = _season_parts.length(of_season)
        own = _season_parts.of_next(of_season, state["t"] + steps.start, min(length, n_steps))
        added.append((own, np.arange(n_steps) % length))
    return added


def _logs_without_seasons(state, which, steps, horizon):
    """Return the logarithms (n, J, h) that some series have at some steps but for seasons."""
    lasting = _smoothing_rates.lasting(horizon)[LOGS, :, steps, 0]
    leads = _smoothing_rates.sloping(horizon)[LOGS - SLOPED, :, steps, 0]
    slope, error, level = (
        own[:, which].T[..., None]
        for own in (state["slope"][LOGS - SLOPED], state["error"][LOGS], state["level"][LOGS])
    )
    said = lasting * error
    said += level
    said += leads * slope
    return said


def _weights(state):
    """Return the weights (4, J, steps, m) of the members at the steps that are judged."""
    return _powers.weights(state["losses"].swapaxes(0, 1)).swapaxes(0, 1)


def parts(state, horizon):
    """Return level (H, m) and seasons, each (H, m), of the steady bank, its members weighted.

    A season is nothing in the mean of its rows, which is in the level.
    """
    weights = _smoothing_rates.shares(horizon) @ _powers.weights(state["losses"][STEADY])
    level = state["level"][STEADY][:, None]
    rows, seasons = state["t"] + np.arange(horizon), []
    for of_season in state["seasons"]:
        profile = np.concatenate([part[:, STEADY] for part in of_season]).swapaxes(0, 1)
        mean = profile.mean(axis=1, keepdims=True)
        level = level + mean
        seasons.append((weights * (profile[:, rows % profile.shape[1]] - mean)).sum(axis=0))
    return (weights * level).sum(axis=0), seasons


def judge(state, errors, trust):
    """Learn errors (4, J, steps, m) of what was said of a row, in units; NaN is unknown.

    `trust` (steps, m) is what an error counts for, over what it does in the long run.
    """
    known = np.isfinite(errors)
    if not known.all():
        errors, trust = np.where(known, errors, 0.0), known * trust
    state["losses"] = _powers.faded(state["losses"], errors, trust)


def learn(state, y, is_first):
    """Learn a row (m,), NaN where it is missing; `is_first` (m,) of the series that begin."""
    state["least"] = np.fmin(state["least"], y)
    is_over = state["has_logs"] & (state["least"] <= 0.0)
    if is_over.any():
        _end_logs(state, is_over)
    _follow(state, _seen(state, y), is_first)


def take_back(state, k, values):
    """Forget the latest row of a series, which was none; `values` (n,) are those remembered of it.

    What the row before it left is not known any more, and counts as nothing.
    """
    n_learnt = state["n_learnt"].copy()
    n_learnt[k] -= 1.0
    shape, error = state["error"].shape, state["error"][..., k]
    level, season, slope = (np.broadcast_to(rate, shape)[..., k] for rate in _rates_of(n_learnt))
    for name, places, change in (
        ("level", slice(None), level * error),
        ("slope", WITH_SLOPES, slope * error),
        ("error", slice(None), error),
    ):
        state[name] = state[name].copy()
        state[name][..., k] -= change[places]
    change = np.zeros(shape)
    change[..., k] = season * (level - 1.0) * error
    _change_seasons(state, state["t"] - 1, change)
    least = state["least"].copy()
    least[k] = values.min()
    state.update(n_learnt=n_learnt, least=least)


def is_out_of_date(state, lengths):
    """Tell whether members are to begin anew: with other seasons, or with logarithms."""
    return lengths != state["lengths"].tolist() or (_may_have_logs(state) > state["has_logs"]).any()


def begin_anew(state, lengths, values):
    """Begin with seasons of these lengths, from the rows (n, m) that are remembered."""
    n, m = values.shape
    state["has_logs"] = _may_have_logs(state)
    rows = _seen(state, values)  # (n, banks, m)
    level = rows[0] + (rows - rows[0]).mean(axis=0)  # of a constant exactly that
    rest, seasons = rows - level, []
    for length in lengths:
        left, profile = _seasons.without(rest.reshape(n, -1), length)
        profile *= _trusted(profile, left, n / length)
        profile = profile.reshape(length, N_BANKS, m)
        if length == max(lengths):
            profile[:, SHORT] = 0.0
        rest = rest - profile[np.arange(n) % length]
        parts = _season_parts.split(profile[:, :, None])
        seasons.append([np.repeat(part, N_MEMBERS, axis=2) for part in parts])
    nothing = np.zeros_like(state["error"])
    lengths = np.array(lengths, dtype=np.int64)
    state.update(t=0, lengths=lengths, seasons=seasons, error=nothing)
    state.update(level=nothing + level[:, None], slope=nothing[WITH_SLOPES], n_learnt=np.zeros(m))
    for row in rows:
        _follow(state, row, False)


def errors_again(state, lengths, values, horizon, scale):
    """Return mean squared errors (4, J, steps, m) that members on these seasons would have had.

    They begin in the rows (n, m) before the latest `_LATEST`, and go through these. In units of the
    scale (m,), and followed by those of the latest value (steps, m); None where too few rows tell.
    """
    steps, n = _smoothing_rates.judged_steps(horizon), len(values)
    first = max(n - _LATEST, 2 * max(lengths, default=1))
    if n - first - horizon < _FEWEST:
        return None
    state = dict(state)
    begin_anew(state, lengths, values[:first])
    squares, latest = np.zeros_like(state["losses"]), np.zeros(state["losses"].shape[2:])
    for t in range(first, n):
        known = steps[t + steps < n]
        said = forecasts(state, horizon, values[t - 1], known)
        squares[:, :, : len(known)] += _powers.squares((said - values[t + known]) / scale)
        latest[: len(known)] += _powers.squares((values[t - 1] - values[t + known]) / scale)
        _follow(state, _seen(state, values[t]), False)
    n_judged = (n - first - steps)[:, None]
    return squares / n_judged, latest / n_judged


def move(state, by):
    """Move the levels by some amounts (m,); of logarithms as far as they can be moved."""
    level = state["level"] + by
    before = np.exp(np.where(state["has_logs"], state["level"][LOGS], 0.0))
    moved = np.log(np.where(before + by > 0.0, before + by, before))
    level[LOGS] = np.where(state["has_logs"], moved, level[LOGS])
    state["level"] = level


def _follow(state, row, is_first):
    """Let the members learn a row as the banks see it (4, m)."""
    row, (_, _, lasting, _, damping) = row[:, None], _smoothing_rates.rates()
    level, season, slope = _rates_of(state["n_learnt"])
    before = np.where(is_first, row, state["level"])
    on = damping[WITH_SLOPES] * state["slope"]
    before[WITH_SLOPES] += on
    added = sum(_season_parts.of_row(of_season, state["t"]) for of_season in state["seasons"])
    error = row - before - added
    known = ~np.isnan(error)
    state["error"] = np.where(known, error, lasting * state["error"])
    error = np.where(known, error, 0.0)
    state["slope"] = on + slope[WITH_SLOPES] * error[WITH_SLOPES]
    state["level"] = before + level * error
    _change_seasons(state, state["t"], season * (1.0 - level) * error)
    state["t"] += 1
    state["n_learnt"] = state["n_learnt"] + known[STEADY, 0]


def _change_seasons(state, row, change):
    """Change what seasons add in a row by (4, J, m), but for the longest where it is left out."""
    seasons, lengths = [], state["lengths"].tolist()
    for of_season, length in zip(state["seasons"], lengths, strict=True):
        added = _season_parts.of_row(of_season, row) + change
        if length == max(lengths):
            added[SHORT] = 0.0
        seasons.append(_season_parts.with_row(of_season, row, added))
    state["seasons"] = seasons


def _rates_of(n_learnt):
    """Return the rates of level, season and slope, of series of which so many rows are learnt."""
    level, season, _, slope, _ = _smoothing_rates.rates()
    if n_learnt.min() < _smoothing_rates.FIRST_ROWS:
        least_level, least_slope = _smoothing_rates.first_rates(n_learnt)
        level, slope = np.maximum(level, least_level), np.maximum(slope, least_slope)
    return level, season, slope


def _seen(state, rows):
    """Return rows (..., m) as the banks see them (..., 4, m): one of them may see logarithms."""
    seen = np.repeat(rows[..., None, :], N_BANKS, axis=-2)
    which = np.flatnonzero(state["has_logs"])
    if len(which):
        # what was filled in below all that was seen counts as the least of it
        seen[..., LOGS, which] = np.log(np.maximum(rows, state["least"])[..., which])
    return seen


def _may_have_logs(state):
    return (state["least"] > 0.0) & np.isfinite(state["least"])


def _end_logs(state, which):
    """Let members on logarithms of series (m,) that are not positive go on as the steady ones."""
    arrays = {name: state[name].copy() for name in ("level", "error", "losses")}
    seasons = [[part.copy() for part in of_season] for of_season in state["seasons"]]
    of_phases = (phase for of_season in seasons for part in of_season for phase in part)
    for array in (*arrays.values(), *of_phases):
        array[LOGS][..., which] = array[STEADY][..., which]
    slope = state["slope"].copy()
    slope[LOGS - WITH_SLOPES.start][..., which] = 0.0
    state.update(arrays, slope=slope, seasons=seasons, has_logs=state["has_logs"] & ~which)


def _trusted(profile, left, n_cycles):
    """Return what share of the means of phases (length, m) is no chance, from what they leave."""
    of_chance = (left**2).mean(axis=0) / max(n_cycles - 1.0, _TINY)
    size = (profile**2).mean(axis=0)
    return np.maximum(1.0 - of_chance / np.maximum(size, _TINY * of_chance + _LEAST), 0.0)
