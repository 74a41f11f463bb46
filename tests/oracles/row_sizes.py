"""Intervals that know the row, as one would write them: every origin is kept."""

import numpy as np

from tests.oracles.adapted import FixedShare
from tests.oracles.series import FENCE, Intervals, Ridge

PARTS, LEVELS = 24, Intervals.LEVELS


def part_features(t, seasons):
    features = [0.0] * (2 * PARTS)
    lengths = list(seasons[:2])
    for k, season in enumerate(lengths):
        if season:
            n_parts = round(season / lengths[0]) if k else season
            n_parts = min(max(n_parts, 2), PARTS)
            features[k * PARTS + n_parts * (t % season) // season] = 1.0
    return features


def kinds_of(t, seasons, x):
    low = [min(max(-z, 0.0), 1.0) for z in x]
    high = [min(max(z, 0.0), 1.0) for z in x]
    usual = [1.0 - a - b for a, b in zip(low, high, strict=True)]
    return np.array([*part_features(t, seasons), *low, *usual, *high])


def score(size, reach):
    """The weighted interval score of an error, as a multiple of it."""
    own = [(1 - q) * r + max(size - r, 0) for q, r in zip(LEVELS, reach, strict=True)]
    return np.mean(own)


class RowSizes:
    """`units` are the means and scales of columns and series as of an origin."""

    def __init__(self, horizon, n_series, n_columns, n_phases, seasons):
        self.H, self.m, self.seasons, self.t, self.origins = horizon, n_series, seasons, 0, []
        n_kinds = 2 * PARTS + 3 * (n_columns + 1)
        width = 1 + 5 * (n_columns + 1) + n_phases + n_kinds
        self.ridges = [Ridge(width, 1.0) for _ in range(n_series)]
        for ridge in self.ridges:
            ridge.S *= 30.0
        self.slopes, self.seen = np.zeros((len(LEVELS), n_kinds)), np.zeros(n_kinds)
        self.own = Intervals(horizon, n_series, 0)  # whose parts of the season are not asked
        self.shares = {
            (h, c): FixedShare(np.array([0.9, 0.1]))
            for h in range(horizon)
            for c in range(n_series)
        }

    def features(self, units, t, x, phases, said, c):
        mean, scale, level, unit = units
        z = [*((x - mean) / scale), (said - level[c]) / unit[c]]
        z = [0.0 if np.isnan(value) else value for value in z]
        kinds, z = kinds_of(t, self.seasons, z), np.clip(z, -FENCE, FENCE)
        waves = [f(k * z) for k in (0.7, 1.4) for f in (np.sin, np.cos)]
        return np.concatenate([[1.0], z, *waves, phases, kinds]), kinds

    def issue(self, units):
        own = self.own
        self.origins.append(
            {
                "units": units,
                "theta": [ridge.theta.copy() for ridge in self.ridges],
                "slopes": self.slopes.copy(),
                "radii": {
                    (h, c): [r + 2 * own.lately[h, k] for k, r in enumerate(own.r[h, c])]
                    for h, c in own.r
                },
                "size": {place: own.unit(*place) for place in own.r},
                "shares": {place: share.now().copy() for place, share in self.shares.items()},
            }
        )

    def told(self, i, h, c, x, phases, said, base):
        """What origin i says of row i + h; base are the reaches that do not know the row."""
        origin = self.origins[i]
        z, kinds = self.features(origin["units"], i + h, x, phases, said, c)
        logarithm = min(max(z @ origin["theta"][c], -2), 2)
        radii = np.array(origin["radii"][h, c]) + np.clip(origin["slopes"] @ kinds, -2, 2)
        reach = [
            origin["size"][h, c] * np.exp(logarithm + max(radii[: k + 1]))
            for k in range(len(LEVELS))
        ]
        plain, knowing = origin["shares"][h, c]
        mixed = plain * base + knowing * np.array(reach) if base[0] >= 0 else np.full(13, -1.0)
        return z, kinds, logarithm, np.array(reach), mixed

    def learn(self, x, phases, said, base, errors, sizes, trust):
        """The errors (H, m) of what was said (H, m) of row t; sizes are those in the long run."""
        of_rows, targets = [[] for _ in range(self.m)], [[] for _ in range(self.m)]
        missed, kinds_heard = np.zeros(self.slopes.shape), []
        heard, reaches = np.full(errors.shape, np.nan), np.full((13, *errors.shape), -1.0)
        factors = np.ones(errors.shape)
        for h in range(min(self.t + 1, self.H)):
            for c in range(self.m):
                given = base[:, h, c]
                z, kinds, logarithm, reach, mixed = self.told(
                    self.t - h, h, c, x, phases, said[h, c], given
                )
                factors[h, c] = np.exp(logarithm)
                if np.isnan(errors[h, c]) or sizes[h, c] == 0 or given[0] < 0:
                    continue
                size, unit = abs(errors[h, c]), sizes[h, c]
                losses = [score(size, of) / unit for of in (given, reach, mixed)]
                self.shares[h, c].learn(np.array(losses[:2]), losses[2])
                heard[h, c], reaches[:, h, c] = errors[h, c], reach
                for k, q in enumerate(LEVELS):
                    missed[k] += ((size > reach[k]) - (1 - q)) * kinds
                kinds_heard.append(kinds)
                of_rows[c].append(z)
                targets[c].append(np.log(max(size / unit, 0.1)))
        if kinds_heard:
            self.seen = self.seen + np.mean(kinds_heard, axis=0)
            self.slopes = self.slopes + missed / len(kinds_heard) / (20 + self.seen)
        for c in range(self.m):
            if of_rows[c]:
                row, target = np.mean(of_rows[c], axis=0), np.mean(targets[c])
                self.ridges[c].learn([row], [target])
        self.judge(heard, reaches)
        for h in range(self.H):
            for c in range(self.m):
                if not np.isnan(errors[h, c]):
                    size = abs(errors[h, c]) / factors[h, c]
                    self.own.errors[h, c].append((size, trust[h, c]))
        self.t += 1

    def judge(self, errors, reaches):
        """As `Intervals.learn`, which measures in units of its own: of these only the radii."""
        own = Intervals(self.H, self.m, 0)
        own.r, own.lately = self.own.r, self.own.lately
        own.t, own.issued = self.H - 1, [reaches] * self.H
        own.learn(errors)
