r"""Seasons: found in the past, continued as they were, and as phases of a circle.

A season of p rows has its power at the frequencies k / p, as narrow lines over a background that is
smooth: trends and errors that last have theirs in it. So the power of the past is divided by its
running quantile over frequencies, and the sum Q of what is left at the lines of a length p is held
against K = (p - 1) / 2, which it is of noise. Its log likelihood ratio

.. math:: D_p = Q - K - K \log(Q / K)

is no larger for a multiple of p, which has the noise of more lines. The strongest length is taken,
the means of its phases are subtracted, and so on with the rest. A divisor that has most of its
strength comes in its stead; a usual length, or a multiple of one found, if it is about as strong:
of few smooth cycles a row more or less cannot be told.
"""

import numpy as np
from scipy.ndimage import percentile_filter, uniform_filter1d

N_SEASONS = 3  # that are found
N_ROWS = 1024  # rows that are remembered at first
N_HARMONICS = 3
USUAL = (4, 5, 6, 7, 12, 13, 24, 26, 28, 30, 48, 52, 60, 96, 144, 168, 288, 336, 365, 672, 1008)
USUAL += (1440, 2016)
_MOST_ROWS = 8192  # that are remembered in the end, fewer of more than 64 series
_MOST_NUMBERS = 2**19  # of all series
_MOST_SERIES = 32  # whose mean power is looked at
FIRST_LOOK = 32  # rows
_CYCLES, _CYCLES_OF_USUAL = 4.0, 3.0  # that a length must have been seen for
_LEAST = 3.5  # log likelihood ratio that a season has at least, and one more for each e lengths
_SHARE = 0.02  # of the first season's that later ones have
_UNSEEN = 2.5  # times as much for a length seen in fewer than four cycles
_LINES = 20  # lines to either side that the background is taken from
_LEAST_LINES = 8.0  # and fewer than the rows over it
_QUANTILE = 0.4  # which is the background where up to half of them are lines of seasons
_TAPERED = 0.05  # share of the rows at either end that fade
_APART = 1.3  # least ratio of two seasons
_NEAR = 0.08  # share that a usual length may be off
_SLACK, _SLACK_SHARE, _SLACK_LINES = 6.0, 0.3, 1.5  # and be weaker by: more, the more its lines
_OF_DIVISOR = 2.2, 0.2, 0.75  # share that the r-th part of a length has: over r, at least, at most
_LATEST = 500  # rows that past errors are taken from
_TINY = 1e-12


def is_look_due(t, given=()):
    """Tell whether seasons are looked for after t rows: as these double, at the half way, too.

    And where one that is given has been seen twice, from when it is smoothed, or is due again.
    """
    if t in [2 * length for length in given] or is_due_again(t, given):
        return True
    if t < FIRST_LOOK or t % (_MOST_ROWS // 2) == 0:
        return t >= FIRST_LOOK
    odd = t // (t & -t)
    return t < _MOST_ROWS and odd in (1, 3)


def is_early_look_due(t, cycles):
    """Tell whether some cycle of the calendar came again, before seasons are looked for at all."""
    return any(t in (2 * k, 3 * k, 4 * k) or (t < FIRST_LOOK and t % k == 0) for k in cycles)


def is_due_again(t, given):
    """Tell whether some season has been seen in as many cycles as one is found in: it is known."""
    return t in [int(_CYCLES) * length for length in given]


def n_remembered(n_rows, n_series):
    """Return how many rows there is place for once some have come: for twice as many, at most."""
    limit = 2 ** int(np.log2(_MOST_NUMBERS / n_series))
    return max(N_ROWS, min(2 * n_rows, limit, _MOST_ROWS))


def n_places(given):
    """Return how many seasons there are at most, some of which are given."""
    return max(N_SEASONS, len(given))


def found(values, usual=USUAL, given=()):
    """Return the lengths of the seasons (n_places,) of rows of series (n, m), rising; 0 is none.

    Parameters
    ----------
    values : ndarray of shape (n, m)
    usual : sequence of int, default=USUAL
        Lengths that are likely.
    given : sequence of int, default=()
        Lengths of seasons that there are, whatever the rows tell: others are found in what these
        leave.
    """
    n, seasons, first, most = len(values), list(given), None, n_places(given)
    unseen = [length for length in given if _CYCLES * length > n]
    n_apart = -(-max(values.shape[1], 1) // _MOST_SERIES)  # none may have begun
    rest = _levelled(values[:, ::n_apart]) if n >= FIRST_LOOK and len(given) < most else ()
    least = _LEAST + np.log(n / _CYCLES) if len(rest) else 0.0
    if len(given) and len(rest) and rest.shape[1]:
        first = _strengths(rest, [])
        for length in given:
            rest = without(rest, length)[0] if 2 * length <= n else rest
    while len(rest) and rest.shape[1] and len(seasons) < most:
        strength = _strengths(rest, seasons, unseen)
        lengths = np.arange(len(strength))
        is_told = np.isin(lengths, usual) & (strength > _UNSEEN * least)
        strength[(lengths > n / _CYCLES) & ~is_told] = 0.0
        first = strength if first is None else first
        least = max(least, _SHARE * first.max() * len(seasons[:1]))
        if strength.max() < least:
            break
        length = _divisor(strength, strength.argmax(), least)
        likely = {*usual, *(k * season for season in seasons for k in (2, 3, 4, 5, 7))}
        length = _likely(strength, length, likely)
        seasons = [
            d
            for d in seasons
            if d in given or length % d or first[d] >= _wanted(length // d, first, d)
        ]
        seasons.append(length)
        rest = without(rest, length)[0]
    return np.array((sorted(seasons) + [0] * most)[:most], dtype=np.int64)


def without(rows, length):
    """Return rows (n, m) less the means of their phases, and these means (length, m)."""
    n_cycles, n = -(-len(rows) // length), len(rows)
    whole = np.full((n_cycles * length, rows.shape[1]), np.nan)
    whole[:n] = rows
    profile = np.nanmean(whole.reshape(n_cycles, length, -1), axis=0)
    return rows - profile[np.arange(n) % length], profile


def _levelled(values):
    """Return series less their trends, curved ones, too, over how much they move about then."""
    n = len(values)
    basis = np.linalg.qr(np.polynomial.legendre.legvander(np.linspace(-1.0, 1.0, n), 2))[0]
    centred = values - values.mean(axis=0)
    rest = centred - basis @ (basis.T @ centred)
    rest = rest[:, (rest**2).sum(axis=0) > _TINY * (values**2).sum(axis=0)]  # those that move
    size = uniform_filter1d(np.abs(rest), max(n // 3, 16), axis=0, mode="reflect")
    return rest / np.maximum(size, _TINY * size.max(axis=0)) if rest.size else rest


def _strengths(rest, seasons, unseen=()):
    """Return the log likelihood ratio of each length from 0 on, 0 near those of seasons known.

    Those unseen so far have no lines yet that could be told from others.
    """
    n, n_series = rest.shape
    power, n_padded = _whitened(rest)
    frequencies = np.arange(len(power)) / n_padded
    for season in set(seasons).difference(unseen):  # what is left of it: its size changed, say
        off = np.abs(frequencies * season - np.rint(frequencies * season)) / season
        power[off * n < 2.0] = 1.0
    power[frequencies * n < 1.5] = 0.0
    sums = _at_lines(np.fft.irfft(power, n_padded), _longest(n))
    lines = (np.arange(len(sums)) - 1.0) / 2.0
    lines[:2], sums[:2] = 1.0, 0.0
    ratio = np.maximum(sums / lines, 1.0)
    strength = np.sqrt(n_series) * lines * (ratio - 1.0 - np.log(ratio))
    for season in seasons:
        strength[int(season / _APART) + 1 : int(np.ceil(season * _APART))] = 0.0
    return strength


def _longest(n):
    return int(n / _CYCLES_OF_USUAL) if n >= 4 * FIRST_LOOK else int(n / _CYCLES)


def _whitened(rest):
    """Return the mean power over its background at frequencies 0 to 1/2; the padded length."""
    n = len(rest)
    place = np.arange(n) + 0.5
    fade = np.minimum(np.minimum(place, n - place) / (_TAPERED * n), 1.0)
    taper = 0.5 - 0.5 * np.cos(np.pi * fade)
    n_padded = 2 ** int(np.ceil(np.log2(n)) + 1)
    power = np.abs(np.fft.rfft(rest * taper[:, None], n_padded, axis=0)) ** 2
    reach = int(min(_LINES, n / _LEAST_LINES) * n_padded / n)
    background, size = np.empty_like(power), 2 * reach + 1
    for k, column in enumerate(power.T):  # one dimension is ten times as fast
        background[:, k] = percentile_filter(column, 100.0 * _QUANTILE, size, mode="mirror")
    background = uniform_filter1d(background, reach, axis=0, mode="mirror")
    background /= -np.log1p(-_QUANTILE)  # from the quantile to the mean, as of noise
    white = power / np.maximum(background, _TINY * power.max(axis=0))
    return white.mean(axis=1), n_padded


def _at_lines(correlation, longest):
    """Return the sums of power at the lines k / p, k = 1, 2, ..., for p = 0, 1, ..., longest.

    It is a sum of the autocorrelation over all multiples of p.
    """
    half, sums = len(correlation) // 2 + 1, np.zeros(longest + 1)
    for p in range(1, longest + 1):
        sums[p] = p * (correlation[0] / 2.0 + correlation[p:half:p].sum())
    return sums


def _wanted(r, strength, divisor):
    """Return the strength that a divisor, the r-th part of a length, must have beside it."""
    over, least, most = _OF_DIVISOR
    return min(most, max(least, over / r)) * strength[divisor * r]


def _divisor(strength, length, least):
    """Return the divisor that has most of a length's strength, its divisor, and so on."""
    while True:
        parts = [d for d in range(2, length // 2 + 1) if length % d == 0 and strength[d] > least]
        parts = [d for d in parts if strength[d] >= _wanted(length // d, strength, d)]
        if not parts:
            return int(length)
        length = max(parts, key=lambda d: strength[d])


def _likely(strength, length, likely):
    """Return the strongest likely length near another one, if it is about as strong."""
    most = strength[length]
    slack = max(_SLACK, min(_SLACK_LINES * np.sqrt(length), _SLACK_SHARE * most))
    near = [
        int(k)
        for k in sorted(likely)
        if 2 <= k < len(strength)
        and abs(k - length) <= max(1.0, _NEAR * length)
        and strength[k] >= most - slack
    ]
    return max(near, key=lambda k: strength[k], default=int(length))


def settled(slots, seasons):
    """Return where each of some seasons stands (n_places,): those known at their old places.

    One that was not found again stays where no other one needs the place: experts on it are in the
    mixture, which has heard what they are worth.
    """
    slots = slots.copy()
    for season in seasons[seasons > 0]:
        if season not in slots:
            free = np.flatnonzero((slots == 0) | ~np.isin(slots, seasons))
            slots[free[slots[free].argmin()]] = season
    return slots


def errors_again(values, season, horizon):
    """Return mean squared errors (3, H, m) of the season come again in the past (n, m).

    Then those of it at the distance from it that there was, and those of the latest value. NaN
    where fewer than `FIRST_LOOK` rows tell.
    """
    n, errors = len(values), np.full((3, horizon, values.shape[1]), np.nan)
    for h in range(horizon):
        back = season * (1 + h // season)
        origin = np.arange(max(back - h, season + 1, n - _LATEST), n - h)
        if len(origin) >= FIRST_LOOK:
            plain = values[origin + h] - values[origin + h - back]
            errors[0, h] = (plain**2).mean(axis=0)
            distance = values[origin - 1] - values[origin - 1 - season]
            errors[1, h] = ((plain - distance) ** 2).mean(axis=0)
            errors[2, h] = ((values[origin + h] - values[origin - 1]) ** 2).mean(axis=0)
    return errors


def continued(values, season, horizon):
    """Return the next rows (H, m) if the latest season of the rows (n, m) came again."""
    steps = np.arange(horizon)
    if not season:
        return np.broadcast_to(values[-1], (horizon, values.shape[1]))
    return values[len(values) - season + steps % season]


def phases(seasons, t):
    """Return sines and cosines (2 N_HARMONICS k,) of where row t is in k seasons; 0 for none."""
    lengths = np.maximum(seasons, 1)
    turns = np.multiply.outer(t % lengths / lengths, np.arange(1.0, N_HARMONICS + 1.0))
    angles = 2.0 * np.pi * turns
    known = (np.asarray(seasons) > 0)[:, None]
    return np.concatenate([np.sin(angles) * known, np.cos(angles) * known], axis=1).ravel()
