"""Seasons: found in the past, continued as they were, and as phases of a circle."""

import numpy as np

N_SEASONS = 2  # that are found: the strongest, and the strongest of the longer ones
N_ROWS = 1024  # latest rows that they are looked for in
N_HARMONICS = 3
_FIRST_LOOK = 32  # rows, and again whenever the stream has doubled
_LEAST = 0.25  # autocorrelation that a season has at least
_CHANCE = 3.0  # and in standard deviations of that of noise
_AS_LARGE = 0.9  # share of the largest peak that a shorter season has at least: not its double
_APART = 1.5  # least ratio of a season to a shorter one; peaks less far apart are of one hill
_NEAR = 0.05  # share that a season may be off a multiple of the shorter one, to be taken as it


def is_look_due(t, seasons):
    """Tell whether seasons are looked for after t rows: while some may have been missed."""
    return is_power(t) and (t <= N_ROWS or not seasons.all())


def is_power(t):
    """Tell whether a number of rows is a power of two, and seasons may be seen in them."""
    return t >= _FIRST_LOOK and t & (t - 1) == 0


def found(values):
    """Return the lengths of the seasons (N_SEASONS,) of rows of series (n, m); 0 is none.

    A season is the lag where the mean autocorrelation of the series, each less its straight line,
    has its largest peak, or a shorter one nearly as large, beyond chance; the next one is that of
    what the mean of each phase of it leaves, at half as long again at least. Where it is nearly a
    multiple of the first, it is this multiple: a week has whole days, and noise moves a broad peak
    by some rows. Of lags more than a third of the rows nothing is known.
    """
    seasons = np.zeros(N_SEASONS, dtype=np.int64)
    n = len(values)
    if n < _FIRST_LOOK:
        return seasons
    time = np.arange(n) - (n - 1.0) / 2.0
    rest = values - values.mean(axis=0)
    rest = rest - np.outer(time, time @ rest / (time @ time))
    rest = rest[:, (rest**2).sum(axis=0) > 1e-12 * (values**2).sum(axis=0)]  # those that move
    shortest = 2
    for k in range(N_SEASONS):
        seasons[k] = _strongest(rest, shortest)
        if not seasons[k]:
            break
        multiple = np.rint(seasons[k] / seasons[0]) * seasons[0]
        if abs(seasons[k] - multiple) <= _NEAR * multiple:
            seasons[k] = multiple
        phase = np.arange(n) % seasons[k]
        profile = np.stack([rest[phase == p].mean(axis=0) for p in range(seasons[k])])
        rest, shortest = rest - profile[phase], _APART * seasons[k]
    return seasons


def _strongest(rest, shortest):
    """Return the lag, no less than some, of the largest peak of the autocorrelation; 0 for none."""
    n = len(rest)
    power = np.abs(np.fft.rfft(rest, 2 * n, axis=0)) ** 2
    products = np.fft.irfft(power, axis=0)[: n // 3 + 1]
    moving = products[0] > 0.0
    if not moving.any():
        return 0
    correlation = (products[:, moving] / products[0, moving]).mean(axis=1)
    inner = correlation[1:-1]
    least = max(_LEAST, _CHANCE / np.sqrt(n))
    is_peak = (inner > correlation[:-2]) & (inner >= correlation[2:]) & (inner > least)
    lags = 1 + np.flatnonzero(is_peak)
    lags = lags[lags >= shortest]
    if not len(lags):
        return 0
    first = lags[correlation[lags] >= _AS_LARGE * correlation[lags].max()][0]
    hill = lags[(lags >= first) & (lags < _APART * first)]
    return hill[correlation[hill].argmax()]


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
