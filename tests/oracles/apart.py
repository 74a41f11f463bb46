"""Where naive experts part with all others: who was right in such rows is heard, row by row."""

import numpy as np

BANDS, WIDTH = 3, 4  # of octaves


def where_naive_part(forecasts, means, wide, losses, y, delay, weights, without):
    """The forecasts (n,) of all, mixed with what others say in rows in which naive ones part.

    The means (4, n) are those of the naive experts that have a say, of all others, of all naive
    ones, and of those of the others that see no latest targets, `wide` (n, K) what others say, NaN
    of who has no say, `losses` (n, K) what all have lost before each row, and `without(t)` what all
    say of a row without the naive ones. Returns forecasts, and how far was gone (n,) to what others
    say.
    """
    forecasts, shares = np.array(forecasts), np.zeros(len(y))
    # log-likelihoods, roots of usual errors, whether naive ones were far off, the latest errors
    known = [(np.zeros((BANDS, 2 + wide.shape[1])), [], [], (0.0, 0.0))]
    for t in range(len(y)):
        weight = 1.0 if weights is None else min(weights[t], 1.0)
        together, (a, b, naive, lagless) = np.nan, means[:, t]
        is_awake = ~np.isnan(wide[t])
        likely, *usual = known[max(t - delay, 0)]
        octave, _ = parted(a, (b, lagless), naive, *usual)
        if octave is not None:
            alone = is_awake / losses[t]
            prior = np.concatenate([[1.0, 0.5], 0.5 * alone / alone.sum()])
            w = prior * np.exp(likely[octave // WIDTH])
            w /= w.sum()
            if np.isnan(a):
                w[:2] = w[0] + w[1], 0.0
            least = 1.0 / (1.0 + np.exp(4.0))
            shares[t] = np.clip((1.0 - w[0] - least) / (1.0 - 2.0 * least), 0.0, 1.0)
        if shares[t] > 0.0:
            together = forecasts[t] if np.isnan(a) else without(t)
            found = w[1] * together + w[2:][is_awake] @ wide[t, is_awake]
            forecasts[t] += shares[t] * (found / w[1:].sum() - forecasts[t])
        likely, roots, wrong, off = known[t]
        octave, s = parted(a, (b, lagless), naive, roots, wrong, off)
        if octave is not None:
            likely = moved(likely, (a, b, naive), wide[t], together, y[t], s, weight)
        root = np.sqrt(np.nanmin(np.abs(np.array([a, b]) - y[t])))
        parts = b, b if np.isnan(lagless) else lagless
        off = [np.nanmax(np.abs(np.array([part, naive]) - y[t])) for part in parts]
        known.append((likely, [*roots, root], [*wrong, abs(naive - y[t]) > 8.0 * s], off))
    return forecasts, shares


def parted(a, others, naive, roots, wrong, off):
    """By how many octaves of eight usual errors naive ones and others part, and that error.

    Others are all of them, or those that see no latest targets: who were right, and are farther.
    """
    ages = 0.99 ** np.arange(len(roots) - 1, -1, -1)
    s = (ages @ roots / ages.sum()) ** 2 if roots else 0.0
    both = zip(off, others, strict=True)
    far = [abs(naive - part) for before, part in both if before <= 8.0 * s and not np.isnan(part)]
    if len(roots) < 8 or not s > 0.0 or not max(far, default=0.0) > 8.0 * s:
        return None, s
    if np.isnan(a) and ages @ wrong > 0.1 * ages.sum():
        return None, s
    return min(int(np.log2(max(far) / (8.0 * s))), BANDS * WIDTH - 1), s


def moved(likely, means, wide, together, y, s, weight):
    """The log-likelihoods after such a row, each of which counts in its band and in others less."""
    a, b, naive = means
    whole = b if np.isnan(together) else together
    said = np.array([a, whole, *wide])
    said[np.isnan(said)] = whole
    gains = -np.log(((said - y) / s) ** 2 + 9.0)
    gains = weight * np.maximum(gains - gains.max(), -6.0)
    naive = whole if np.isnan(naive) else naive
    off = max(abs(naive - y), abs(whole - y)) / s
    octave = min(max(int(np.log2(max(off / 8.0, 1.0))), 0), BANDS * WIDTH - 1)
    now = []
    for band, row in enumerate(likely):
        low = WIDTH * band
        away = max(low - octave, octave - (low + WIDTH - 1), 0)
        row = 0.95 ** (0.5**away) * row + 0.5**away * gains
        now.append(np.maximum(row - row.max(), -8.0))
    return np.array(now)
