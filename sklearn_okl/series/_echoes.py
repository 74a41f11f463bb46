"""Two more ways in which seasons come again, each a column of the mixture that may be silent.

*The median of three seasons.* What was odd once, a holiday a week ago, stands in the season come
again, and in the windows of all regressions. The median of the latest three seasons has none of it;
where it differs from the latest, the mixture hears how far the others follow what was odd.

*A season seen seldom.* A year of weekly sales is no season yet when it has been seen once or twice,
but who knows it forecasts the second Christmas. Of the usual lengths beyond the seasons found, the
one whose latest season, at its mean distance over the last quarter, would have been best so far.

Each begins with the errors that it would have had in the latest rows over those of its peers there,
the latest value and the seasons come again, and with what chance may have taken from them. A season
seen seldom that is far behind the best is not heard. What is not heard says nothing, NaN. In the
regressions of the mixture its ridge is the length of the season: errors of neighbouring rows are
alike, and all rows of a season say no more than one.
"""

import numpy as np

from . import _mixture, _seasons

MEDIAN, SELDOM = range(2)
N_ECHOES = 2
NONE = np.zeros(N_ECHOES, dtype=np.int64)  # seasons: each is silent
_CYCLES = 4  # in which a length is found if it is a season
_LATEST = 500  # rows that past errors are taken from
_FEWEST = 16  # origins that tell what they are
_FEW = 8  # at an early look
_MOST = 64  # origins that are tried
_BEHIND = 1.5  # times the least mean squared error, beyond which what is seldom is not heard


def median_of(one, two, three):
    """Return the median of three numbers, or of arrays entry by entry; NaN where one is."""
    return np.maximum(np.minimum(one, two), np.minimum(np.maximum(one, two), three))


def mean_distance(values, length, last):
    """Return the mean distance (m,) of the last quarter of a season from that of the one before.

    The latest value counts as `last` (m,), which is gone on from.
    """
    n, quarter = len(values), _quarter(length)
    before = values[n - length - quarter : n - length]
    latest = np.concatenate([values[n - quarter : n - 1], last[None]])
    return (latest - before).mean(axis=0)


def _median_of_three(values, length, horizon):
    ends = len(values) - length * np.arange(3)
    return median_of(*(_seasons.continued(values[:end], length, horizon) for end in ends))


def _at_mean_distance(values, length, horizon):
    return _seasons.continued(values, length, horizon) + mean_distance(values, length, values[-1])


def _quarter(length):
    return max(length // 4, 1)


_WAYS = _median_of_three, _at_mean_distance


def is_remembered(lengths, n_rows):
    """Tell whether seasons, as in a file, came again in so many rows."""
    ways = enumerate(lengths.tolist())
    return all(length >= 0 and _least(way, length) <= n_rows for way, length in ways)


def _least(way, length):
    """Return how many rows a way sees."""
    return 3 * length if way == MEDIAN else length + _quarter(length)


def look(state, values, first, usual, is_early=False):
    """Let the ways go on with the seasons that the rows (n, m) so far, in running deviations, show.

    Of the forecaster's state "slots" are read, "echoes" and "mixture" are replaced. `first` is the
    place of the latest value among the experts, `usual` are lengths that may have been seen seldom.
    An early look is before seasons are looked for, or after few cycles: fewer origins tell, and
    what is behind the best is not heard.
    """
    slots, n = state["slots"].tolist(), len(values)
    fewest, behind = (_FEW, 1.0) if is_early else (_FEWEST, _BEHIND)
    room = n - state["mixture"]["weight"].shape[0] - fewest
    of_three = [k for k in sorted(slots) if 0 < _least(MEDIAN, k) <= room]
    unseen = n / _CYCLES if n >= _seasons.FIRST_LOOK else 0
    seldom = [k for k in usual if max(*slots, unseen) < k and _least(SELDOM, k) <= room]
    echoes = state["echoes"].copy()
    for way, lengths in enumerate((of_three[-1:], seldom)):
        tried = [(*_tried(values, way, k, state), k) for k in lengths]
        ratio, peer, length = min(tried, default=(np.inf, 0, 0))
        if length == echoes[way]:
            continue
        known = _mixture.mean_squares(state["mixture"])
        told = ratio * known[first + peer] if ratio < np.inf else np.full_like(known[0], np.inf)
        most = np.inf if way == MEDIAN else behind * known.mean(axis=(1, 2)).min()
        echoes[way] = length if told.mean() < most else 0
        if echoes[way]:
            place = first + len(slots) + 2 + way
            _mixture.begin_anew(state["mixture"], place, told, ridge=float(length))
    state["echoes"] = echoes


def _tried(values, way, length, state):
    """Return squared errors over those of a peer, one standard error more, and which it is.

    Peers are the latest value, and the seasons come again; it is the best of them.
    """
    (n, m), horizon = values.shape, state["mixture"]["weight"].shape[0]
    first, seasons = max(_least(way, length), n - _LATEST), [0, *state["slots"].tolist()]
    peers = [k for k, season in enumerate(seasons) if not k or 0 < season <= first]
    errors = np.zeros(1 + len(peers))
    for t in np.unique(np.linspace(first, n - horizon, _MOST).astype(int)):
        said = [_WAYS[way](values[:t], length, horizon)]
        said += [_seasons.continued(values[:t], seasons[k], horizon) for k in peers]
        errors += np.square(np.array(said) - values[t : t + horizon]).sum(axis=(1, 2))
    best = int(np.argmin(errors[1:]))
    ratio = errors[0] / errors[1 + best] if errors[1 + best] > 0.0 else np.inf
    return ratio * (1.0 + (m * (n - first) / horizon) ** -0.5), peers[best]
