"""The forecaster of series as one would write it: every origin is kept, and every row looked at.

Rows are rounds. At row t the targets of the rows before t are known; an origin i is what was said
before row i of the rows i, ..., i + H - 1. Step h of it, h = 0, ..., H - 1, is learnt when row
i + h is known. Regressions are solved from their sums in each round.
"""

import copy
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from sklearn_okl.series import _seasons  # which are found: tests/series/test_seasons.py

FENCE, JUDGED, MEMORY, REFRESH, ALPHA = 20.0, 32, 2000, 64, 1.0


class Ridge:
    """Least squares on sums; the ridge that faded comes back, centred, every `REFRESH` rounds."""

    def __init__(self, width, forgetting):
        self.S, self.b = ALPHA * np.eye(width), np.zeros(width)
        self.theta, self.forgetting = np.zeros(width), forgetting

    def learn(self, rows, targets):
        self.S, self.b = self.forgetting * self.S, self.forgetting * self.b
        for z, y in zip(rows, targets, strict=True):
            y = z @ self.theta if np.isnan(y) else y  # as if it had been forecast rightly
            self.S, self.b = self.S + np.outer(z, z), self.b + z * y
        self.theta = np.linalg.solve(self.S, self.b)

    def put_back(self, lost):
        self.S, self.b = self.S + lost * np.eye(len(self.b)), self.b + lost * self.theta


class Static:
    """The regression of one series on columns known ahead, solved anew from all of its rows.

    What is held: the level of targets, and centre and unit of each column. Lines know all rows,
    waves those since the unit of their column is what it is.
    """

    def __init__(self, forecaster, n_columns):
        self.forecaster, self.rows, self.level = forecaster, [], None
        self.centre, self.unit = np.zeros(n_columns), np.zeros(n_columns)
        self.since = np.zeros(n_columns)  # rows whose waves are gone

    def now(self, mean):
        theta = self.theta() if self.rows else None
        level = self.level if self.rows else mean
        usual = [column.mean for column in self.forecaster.ahead]
        return level, theta, usual, self.centre.copy(), self.unit.copy()

    def learn(self, memory, x, t, y):
        columns = self.forecaster.ahead
        for j, column in enumerate(columns):
            deviation, unit = np.sqrt(column.variance), self.unit[j]
            is_off = deviation > 2 * unit or 2 * deviation < unit
            if deviation > 0 and (is_off or abs(column.mean - self.centre[j]) > 2 * unit):
                if unit == 0:
                    for row in self.rows:  # in which it was what it was at first
                        row[0][j] = column.back(len(column.rows))
                self.centre[j], self.unit[j], self.since[j] = column.mean, deviation, len(self.rows)
        if np.isnan(y):
            return
        if self.level is None or abs(memory.mean - self.level) > 2 * np.sqrt(memory.variance):
            self.level = memory.mean
        x = np.where(np.isnan(x), [column.mean for column in columns], x)
        z = standardised(x, self.centre, self.unit)
        at = self.centre + self.unit * z  # within the fence
        seasons = phase_features(self.forecaster.slots, t)
        self.rows.append([at, seasons, y])

    def move(self, by):
        """All that was learnt was as much higher."""
        self.level = None if self.level is None else self.level + by
        for row in self.rows:
            row[2] += by

    def theta(self):
        n, d = len(self.rows), len(self.centre)
        X = np.array([at for at, *_ in self.rows]).reshape(n, d)
        unit = np.where(self.unit > 0, self.unit, 1)
        z = np.where(self.unit > 0, (X - self.centre) / unit, 0)
        waves = [f(k * z) for k in (0.7, 1.4) for f in (np.sin, np.cos)]
        is_gone = np.arange(n)[:, None] < self.since
        waves = [np.where(is_gone, 0, wave) for wave in waves]
        Z = np.hstack([np.ones((n, 1)), z, *waves, [row[1] for row in self.rows]])
        y = np.array([row[2] for row in self.rows]) - self.level
        return np.linalg.solve(ALPHA * np.eye(Z.shape[1]) + Z.T @ Z, Z.T @ y)


class NewLevel(float):
    """A value that the series has moved to."""


class Memory:
    """The rows of one series, filled where they are missing, and its level and scale."""

    def __init__(self):
        self.rows, self.count, self.mean, self.variance, self.beyond = [], 0, 0.0, 0.0, 0
        self.kept = []  # what of each row is gone on from

    def scale(self):
        return np.sqrt(self.variance) if self.variance > 0 else 1.0

    def has_unit(self):
        return self.count >= 16 and self.variance > 0

    def scale_with(self, value):
        """The deviation of the values so far and one more; NaN where they are all the same."""
        if np.isnan(value):
            return np.nan
        share = 1.0 / min(self.count + 1, MEMORY)
        variance = (1 - share) * (self.variance + share * (value - self.mean) ** 2)
        return np.sqrt(variance) if variance > 0 else np.nan

    def last(self):
        return self.kept[-1] if self.count else 0.0

    def back(self, lag, rows=None):
        """The value so many rows ago; before its beginning a series is its first value."""
        known = [value for value in (rows or self.rows) if value is not None]
        return known[max(len(known) - lag, 0)]

    def fenced(self, value, forecast):
        reach = FENCE * np.sqrt(self.variance)
        if self.count < JUDGED or reach == 0:
            self.beyond = self.beyond if np.isnan(value) else 0
            return value
        if np.isnan(value) or abs(value - self.mean) <= reach:
            self.beyond = self.beyond if np.isnan(value) else 0
            return value
        self.beyond += 1
        if self.beyond < 3:
            return np.nan
        is_near = abs(value - self.mean) <= 1e8 * np.sqrt(self.variance)
        if is_near and abs(forecast - self.mean) <= reach:
            self.beyond = 0
            return NewLevel(value)
        return min(max(value, self.mean - reach), self.mean + reach)

    def move(self, by):
        self.rows = [None if row is None else row + by for row in self.rows]
        self.kept = [None if row is None else row + by for row in self.kept]
        self.mean += by

    def push(self, value, filled, kept=None):
        kept = value if kept is None else kept
        if np.isnan(value):
            for rows in (self.rows, self.kept):
                rows.append(filled if self.count else None)
            return
        self.rows.append(value)
        self.kept.append(kept)
        self.count += 1
        share = 1.0 / min(self.count, MEMORY)
        change = kept - self.mean
        self.mean += share * change
        self.variance = (1 - share) * (self.variance + share * change**2)

    def window(self, length):
        if not self.count:
            return np.zeros(length)
        last = self.last()
        lags = [self.back(lag, self.kept) - last for lag in range(2, length + 1)]
        return np.clip(np.array([last - self.mean, *lags]) / self.scale(), -FENCE, FENCE)


class FarValues:
    """How much lasts of the values of one series that are far from their forecasts."""

    def __init__(self):
        self.shares, self.n_told = [0.5, 1.0], [0, 0]  # after one far value, and two that agree
        self.sizes, self.usual = 0, 0.0
        self.age, self.base, self.off = 0, 0.0, 0.0  # of the far values before this one

    def learn(self, y, issued, memory):
        """The value as a target, and as it is gone on from."""
        if np.isnan(y) or np.isnan(issued):
            return y, y
        error, far, age = y - issued, 8.0 * self.usual, self.age
        is_off = self.sizes >= 16 and abs(error) > far
        if age:
            rate = 0.5 if self.n_told[age - 1] else 1.0
            told = self.shares[age - 1] + rate * min(max(error / self.off, -1.0), 1.0)
            self.shares[age - 1] = min(max(told, 0.0), 1.0)
            self.n_told[age - 1] += 1
        self.sizes += 1
        heard = abs(error) if self.sizes <= 16 else min(abs(error), 4.0 * self.usual)
        self.usual += max(1.0 / self.sizes, 0.02) * (heard - self.usual)
        is_back = age > 0 and abs(y - self.base) <= far
        agrees = age > 0 and not is_back and abs(y - self.base - self.off) <= far
        one, two = self.shares
        kept, self.age = y, 0
        if agrees and age == 1:
            memory.kept[-1] = self.base + two * self.off
            self.age, self.off = 2, y - self.base
            kept = self.base + two * self.off
        elif agrees or (is_back and age == 1):
            memory.kept[-1] = memory.rows[-1]
        elif is_off and not is_back:
            self.age, self.base, self.off = 1, issued, error
            kept = issued + one * error
        if not is_off or one == 1.0:
            return y, kept
        return issued + np.sign(error) * max(abs(one * error), far), kept


def standardised(x, means, deviations):
    """What has no deviation yet counts as the mean."""
    z = [
        (value - m) / s if s > 0 else 0.0 for value, m, s in zip(x, means, deviations, strict=True)
    ]
    return np.nan_to_num(np.clip(np.array(z, dtype=float), -FENCE, FENCE), nan=0.0)


def unit_length(features):
    return features / np.sqrt(len(features))


def means_of(lags):
    """The means of the latest rows less the latest one, of which `lags` has all but the first."""
    spans = [max(round(len(lags) / k), 2) for k in (1, 3, 9, 27)]
    return [sum(lags[1:span]) / span for span in spans]


def phase_features(seasons, t):
    features = []
    for s in seasons:
        turns = [2 * np.pi * k * (t % s) / s if s else None for k in (1, 2, 3)]
        features += [np.sin(a) if s else 0.0 for a in turns]
        features += [np.cos(a) if s else 0.0 for a in turns]
    return np.array(features)


def is_look_due(t):
    looks = [2**k for k in range(5, 14)] + [3 * 2**k for k in range(4, 12)]
    return t in looks or (t > 0 and t % 4096 == 0)


def settled(slots, seasons):
    """Where seasons stand: at their old place, or at that of the shortest that was not found."""
    slots = list(slots)
    for season in (s for s in seasons if s and s not in slots):
        free = [s for s in slots if s == 0 or s not in seasons]
        slots[slots.index(min(free))] = season
    return slots


def errors_again(rows, season, h, with_distance):
    """The squared error of the season come again h steps on, in the latest 500 rows.

    As times of that of the latest value.
    """
    back, squares, latest = season * (1 + h // season), [], []
    for i in range(max(back - h, season + 1, len(rows) - 500), len(rows) - h):
        error = rows[i + h] - rows[i + h - back]
        error -= (rows[i - 1] - rows[i - 1 - season]) * with_distance
        squares.append(error**2)
        latest.append((rows[i + h] - rows[i - 1]) ** 2)
    return np.mean(squares) / np.mean(latest) if len(squares) >= 32 else np.nan


def median_of_three(rows, season, h):
    """The middle one of the latest three values at a phase."""
    return sorted(rows[len(rows) - k * season + h % season] for k in (1, 2, 3))[1]


def at_mean_distance(rows, season, h):
    """The season again, as far off as the latest quarter of it was in the mean."""
    n, quarter = len(rows), max(season // 4, 1)
    off = [rows[i] - rows[i - season] for i in range(n - quarter, n)]
    return rows[n - season + h % season] + np.mean(off)


ECHOES = median_of_three, at_mean_distance


def smoothing_rates():
    """The level, season, error that lasts, slope and damping of each member, for each bank."""
    steady = [
        (a, b, c, 0, 0)
        for a in (0.02, 0.1, 0.3, 0.7)
        for b in (0.05, 0.2, 0.5)
        for c in (0, 0.7, 0.95)
    ]
    slopes = [(0.1, 0.9), (0.3, 0.9), (0.1, 0.98)]
    sloped = [
        (a, b, c, *d)
        for a in (0.1, 0.3, 0.7)
        for b in (0.05, 0.2)
        for c in (0, 0.7)
        for d in slopes
    ]
    logs = [(a, b, c, *((0, 0) if c else (0.1, 0.98))) for a, b, c, *_ in steady]
    return {"steady": steady, "sloped": sloped, "logs": logs, "short": steady}


class Smoothing:
    """Exponential smoothing of one series by one member, and how it fared at each step."""

    def __init__(self, kind, rates, horizon, steady=None):
        self.kind, self.rates, self.t, self.lengths, self.H = kind, rates, 0, [], horizon
        self.level, self.slope, self.error, self.seasons = 0.0, 0.0, 0.0, []
        self.losses, self.least, self.has_logs = np.zeros(horizon), np.inf, False
        self.n = 0  # values since it began
        self.steady = steady  # the member whose ways one on logarithms takes when these end

    def seen(self, y):
        return np.log(max(y, self.least)) if self.has_logs and not np.isnan(y) else y

    def forecast(self, h, last):
        seasons = sum(s[(self.t + h) % len(s)] for s in self.seasons)
        slopes = sum(self.rates[4] ** (k + 1) for k in range(h + 1)) * self.slope
        said = self.level + slopes + seasons + self.rates[2] ** (h + 1) * self.error
        if self.has_logs:
            return max(last, self.least) * np.exp(min(max(said - self.seen(last), -5), 5))
        return said

    def learn(self, y):
        self.least = self.least if np.isnan(y) else min(self.least, y)
        if self.has_logs and self.least <= 0:
            self.has_logs, other = False, self.steady
            self.level, self.error, self.losses = other.level, other.error, other.losses.copy()
            self.slope = 0.0
            self.seasons = [s.copy() for s in other.seasons]
        self.follow(self.seen(y))

    def follow(self, y):
        level, season, lasting, slope, damping = self.rates
        n, slope = self.n + 1, level * slope
        if slope:
            level = max(level, 2 * (2 * n + 1) / ((n + 1) * (n + 2)))
            slope = max(slope, 6 / ((n + 1) * (n + 2)))
        else:
            level = max(level, 1 / n)
        self.level, self.slope = self.level + damping * self.slope, damping * self.slope
        if np.isnan(y):
            self.error *= lasting
        else:
            self.error = y - self.level - sum(s[self.t % len(s)] for s in self.seasons)
            self.level += level * self.error
            self.slope += slope * self.error
            self.n += 1
            for s in self.seasons:
                if self.kind != "short" or len(s) < max(self.lengths):
                    s[self.t % len(s)] += season * (1 - level) * self.error
        self.t += 1

    def errors_again(self, lengths, rows, first, steps, scale):
        """Squared errors at some steps of a twin that begins in the first rows.

        As times of those of the latest value.
        """
        twin, squares, latest = copy.copy(self), *({step: [] for step in steps} for _ in range(2))
        twin.begin_anew(lengths, rows[:first])
        for t in range(first, len(rows)):
            for step in steps:
                if t + step < len(rows):
                    error = (twin.forecast(step, rows[t - 1]) - rows[t + step]) / scale
                    squares[step].append(min(max(error, -20), 20) ** 2)
                    error = (rows[t - 1] - rows[t + step]) / scale
                    latest[step].append(min(max(error, -20), 20) ** 2)
            twin.follow(twin.seen(rows[t]))
        return [np.mean(squares[step]) / np.mean(latest[step]) for step in steps]

    def is_out_of_date(self, lengths):
        return lengths != self.lengths or (self.kind == "logs" and not self.has_logs and self.may())

    def may(self):
        return 0 < self.least < np.inf

    def begin_anew(self, lengths, rows):
        self.t, self.lengths, self.seasons = 0, list(lengths), []
        self.slope, self.error, self.n = 0.0, 0.0, 0
        self.has_logs = self.kind == "logs" and self.may()
        rows = [self.seen(y) for y in rows]
        self.level = np.mean(rows)
        rest = np.array(rows) - self.level
        for n in lengths:
            profile = np.array([rest[p::n].mean() for p in range(n)])
            left = np.array([value - profile[i % n] for i, value in enumerate(rest)])
            of_chance = np.mean(left**2) / (len(rows) / n - 1)
            profile *= max(1 - of_chance / np.mean(profile**2), 0) if profile.any() else 0
            if self.kind == "short" and n == max(lengths):
                profile *= 0.0
            rest = [value - profile[i % n] for i, value in enumerate(rest)]
            rest = np.array(rest)
            self.seasons.append(profile)
        for y in rows:
            self.follow(y)


class SharedStack:
    """A ridge regression of one step that all series share; rows without target are left out."""

    def __init__(self, n_experts, forgetting):
        self.S, self.b, self.forgetting = 10.0 * np.eye(n_experts), np.zeros(n_experts), forgetting
        self.theta, self.rows = np.zeros(n_experts), []

    def learn(self, rows, targets):
        self.rows += zip(rows, targets, strict=True)

    def commit(self):
        """Learn the rows of a round."""
        if self.rows:
            eye = 10.0 * np.eye(len(self.b))
            self.S = self.forgetting * (self.S - eye) + eye
            self.b = self.forgetting * self.b
        for z, y in self.rows:
            self.S, self.b = self.S + np.outer(z, z), self.b + z * y
        self.theta, self.rows = np.linalg.solve(self.S, self.b), []


class Mixture:
    """That of one step and one series: of powers of mean squares, and two stacks beside it."""

    def __init__(self, n_experts, shared=None):
        self.errors, self.mixed, self.n = np.zeros(n_experts), np.zeros(3), n_experts
        self.ridge = 10.0 if shared else ALPHA
        self.stacks = shared or [Ridge(n_experts, forgetting) for forgetting in (1.0, 0.998)]
        self.lost, self.weight, self.lately, self.least = [0.0, 0.0], 0.0, 0.0, 0.0

    @staticmethod
    def weights(errors):
        errors = errors + (1e-12 * errors.sum() or 1.0)
        powers = (errors / errors.min()) ** -4.0
        return powers / powers.sum()

    def sums(self, peers, name):
        """Faded squared errors with those of all series, what they count for, what is known."""
        errors, total = getattr(self, name), sum(peer.weight for peer in peers)
        if len(peers) == 1:
            return errors, self.weight, self.weight
        of_all = sum(getattr(peer, name) for peer in peers) / (total or 1.0)
        weight = self.weight + 0.2 * (total > 0)
        return errors + 0.2 * of_all, weight, min(self.weight + 0.2, total)

    @staticmethod
    def now(mixtures, horizon, n_series):
        """What forecasts of each step and series read, as it is now."""
        peers = [[mixtures[h, c] for c in range(n_series)] for h in range(horizon)]
        found = {}
        for c in range(n_series):
            steps = [own[c] for own in peers]
            weights = Mixture.shares(steps, peers, "errors", None, 2.0)
            shares = Mixture.shares(steps, peers, "mixed", [1.0, 4.0, 4.0], 16.0)
            for h, mixture in enumerate(steps):
                thetas = [stack.theta.copy() for stack in mixture.stacks]
                found[h, c] = weights[h], thetas, shares[h]
        return found

    @staticmethod
    def shares(steps, peers, name, expected, lent):
        """The weights at each step, of which few targets are known: with the errors of others."""
        sums = [own.sums(all_series, name) for own, all_series in zip(steps, peers, strict=True)]
        before, shares = sums[0][0] / (sums[0][1] or 1.0), []
        if expected is not None:
            total = sum(weight for _, weight, _ in sums)
            least = min(sum(errors for errors, _, _ in sums)) / (total or 1.0)
            before = (least or 1.0) * np.array(expected)
        for h, (errors, weight, known) in enumerate(sums):
            few = lent * 0.002 * (h + 1) * max(1 - known / (64 * 0.002), 0)
            if few or weight:
                before = (errors + few * before) / (weight + few)
            shares.append(Mixture.weights(before))
        return shares

    @staticmethod
    def forecasts(issued, f):
        weights, thetas, shares = issued
        heard = ~np.isnan(f)
        if not heard.any():
            return f[:3], np.nan
        base = weights[heard] @ f[heard] / weights[heard].sum()
        f = np.where(heard, f, base)
        three = np.array([base, *(base + theta @ (f - base) for theta in thetas)])
        return three, shares @ three

    def learn(self, issued, f, y, trust=1.0):
        three, _ = self.forecasts(issued, f)
        f = np.where(np.isnan(f), three[0], f)  # who says nothing says what the others say
        unit = np.sqrt((self.mixed[0] + 0.02) / (self.weight + 0.02))
        error = (y - three[0]) / unit
        root = 1 / np.sqrt(max(abs(error) / 2, 1))  # a row that is far off counts for less
        counts = trust * self.times(np.clip(f - y, -20, 20) ** 2, trust)
        self.weight += 0.002 * counts * (1 - self.weight)
        for k, stack in enumerate(self.stacks):
            stack.learn([(f - three[0]) / unit * root], [error * root])
            self.lost[k] = stack.forgetting * self.lost[k] + (1 - stack.forgetting) * ALPHA
        for means, errors in ((self.errors, f - y), (self.mixed, three - y)):
            means += 0.002 * counts * (np.clip(errors, -20, 20) ** 2 - means)

    def times(self, squares, trust):
        """How many times a row counts: more where errors have become much smaller."""
        least, usual = min(squares), self.least / (self.weight or 1.0)
        if self.weight < 0.05:
            self.lately = usual
        else:
            heard = 0.2 if least > 0 and trust > 0 else 0.0
            self.lately = min(self.lately + heard * (least - self.lately), usual)
        times = 250.0 if usual > 32 * 250 * self.lately else 1.0
        if times == 1 and usual > 32 * self.lately:
            times = usual / (32 * self.lately)
        self.least += 0.002 * trust * times * (least - self.least)
        return times

    def begin_anew(self, expert, error, ridge=ALPHA):
        """The expert is another one, of which no regression has heard."""
        ridge = ridge if self.ridge == ALPHA else self.ridge
        self.refresh()
        for stack in self.stacks:
            stack.S[expert], stack.S[:, expert] = 0.0, 0.0
            stack.S[expert, expert], stack.b[expert] = ridge, 0.0
            stack.theta = np.linalg.solve(stack.S, stack.b)
        self.hear(expert, error)

    def hear(self, expert, error):
        known = not np.isnan(error)
        self.errors[expert] = error * self.weight if known else max(self.errors)

    def refresh(self):
        for k, stack in enumerate(self.stacks):
            if isinstance(stack, Ridge):
                stack.put_back(self.lost[k])
            self.lost[k] = 0.0


class Refits:
    """A batch model that is fitted to all rows so far, whenever there are a twentieth more."""

    def __init__(self, make):
        self.make, self.rows, self.fits, self.due = make, [], [], 30

    def look(self):
        if len(self.rows) >= self.due:
            Z, y = zip(*self.rows, strict=True)
            self.fits.append((len(y), self.make().fit(np.array(Z), np.array(y))))
            self.due = len(y) + int(np.ceil(round(0.05 * len(y), 9)))

    def forecast(self, z, n_known):
        model = [model for n, model in self.fits if n <= n_known][-1:]
        return model[0].predict([z])[0] if model else 0.0


class Forecaster:
    """`experts` are (view, window, sharing, forgetting, frequencies or None, by_phase)."""

    def __init__(self, horizon, n_series, experts, n_ahead=0, n_now=0, seasons=None, trees=None):
        self.H, self.m, self.t = horizon, n_series, 0
        self.given = list(seasons or ())
        self.seasons = [*self.given, 0, 0, 0][: max(3, len(self.given))]
        self.slots, self.usual = list(self.seasons), _seasons.USUAL
        self.has_trees, explained = trees is not None, (n_ahead > 0) + (trees is not None)
        self.views = [[Memory() for _ in range(n_series)] for _ in range(1 + explained)]
        self.ahead, self.now = ([Memory() for _ in range(n)] for n in (n_ahead, n_now))
        self.experts, self.ridges, self.origins = experts, {}, []
        self.far = [FarValues() for _ in range(n_series)]
        n_simple, self.echoes = len(self.seasons) + 9, [0, 0]
        self.steps = sorted({round(x) - 1 for x in np.geomspace(1, horizon, 8)})
        self.members = [self.bank_members(horizon) for _ in range(n_series)]
        self.view = [e[0] for e in experts] + [0] * n_simple + list(range(1, 1 + explained))
        self.is_pooled = n_series > 1 and all(
            sharing == "pooled" for _, _, sharing, _, _, _ in experts
        )
        forgetting = (1.0, 0.998) * (self.is_pooled and len(experts) > 0)
        shared = [[SharedStack(len(self.view), f) for f in forgetting] for _ in range(horizon)]
        self.mixtures = {
            (h, c): Mixture(len(self.view), shared[h])
            for h in range(horizon)
            for c in range(n_series)
        }
        self.static = [Static(self, len(self.ahead)) for _ in range(n_series)]
        n_fits = 1 if self.is_pooled else n_series
        self.trees = [Refits(trees) for _ in range(n_fits)] * (n_series // n_fits)

    def features(self, expert, c):
        """What an expert sees of series c; of all series where c is None."""
        view, window, sharing, _, waves, by_phase = expert
        latest = [x.last() if x.rows else np.nan for x in self.now]
        moments = [x.mean for x in self.now], np.sqrt([x.variance for x in self.now])
        now = standardised(latest, *moments)
        shared = np.concatenate([[1.0], phase_features(self.slots, self.t), now])
        if sharing == "all":
            lags = [self.views[view][c].window(window) for c in range(self.m)]
            begun = any(memory.count for memory in self.views[0])
            return np.concatenate([unit_length(np.concatenate(lags)), shared * begun])
        lags, turns = self.views[view][c].window(window), []
        if by_phase:
            first = phase_features(self.slots[:1], self.t)
            turns = [lag * turn / np.sqrt(12) for lag in means_of(lags) for turn in first]
        if waves is not None:
            lags = np.concatenate([np.sin(lags @ waves), np.cos(lags @ waves)])
        seen = np.concatenate([unit_length(lags), turns, shared])
        return seen * (self.views[0][c].count > 0)

    def static_features(self, moments, x, t):
        z = standardised(x, *moments)
        waves = [f(k * z) for k in (0.7, 1.4) for f in (np.sin, np.cos)]
        return np.concatenate([[1], z, *waves, phase_features(self.slots, t)])

    def deviation(self, expert, c):
        """The unit that an expert says something in: 0 of a series that has had one value only."""
        return np.sqrt(self.views[expert[0]][c].variance)

    def issue(self):
        """The origin at row t."""
        known = [(v.last(), v.scale(), v.has_unit()) for view in self.views for v in view]
        origin = {
            "t": self.t,
            "begun": [memory.count > 0 for memory in self.views[0]],
            "level": np.array(known).reshape(len(self.views), self.m, 3),
            "features": [
                [self.features(e, None if e[2] == "all" else c) for c in range(self.m)]
                for e in self.experts
            ],
            "forecasts": np.zeros((self.H, self.m, len(self.view))),
            "members": np.zeros((self.H, self.m, len(self.members[0]))),
        }
        for h in range(self.H):
            for c in range(self.m):
                for k, expert in enumerate(self.experts):
                    z = origin["features"][k][c]
                    last, deviation = known[expert[0] * self.m + c][0], self.deviation(expert, c)
                    theta = self.ridge(k, h, c, len(z)).theta
                    origin["forecasts"][h, c, k] = last + deviation * (z @ theta)
                if origin["begun"][c]:
                    memory, first = self.views[0][c], self.slots[0]
                    slots = enumerate(self.slots)
                    again = [memory.last(), *(self.again(memory, s, h, k) for k, s in slots)]
                    before = memory.back(1 + first) if first else (memory.last() + again[1]) / 2
                    drift = memory.last() - before
                    last = memory.last()
                    members = np.array([member.forecast(h, last) for member in self.members[c]])
                    origin["members"][h, c] = members
                    echoes = [
                        way([*memory.rows[:-1], last], length, h) if length else np.nan
                        for way, length in zip(ECHOES, self.echoes, strict=True)
                    ]
                    smoothed = self.smoothed(c, h, members)
                    if not self.members[c][0].lengths:
                        smoothed[3] = np.nan  # without seasons it would say what the first says
                    simple = [*again, again[1] + drift, *echoes, *smoothed]
                    origin["forecasts"][h, c, len(self.experts) :][: len(simple)] = simple
                else:
                    origin["forecasts"][h, c] = 0.0
        if self.ahead:
            of_each = zip(self.views[0], self.static, strict=True)
            origin["static"] = [r.now(v.mean) for v, r in of_each]
        origin["trees"] = [
            (self.tree_lags(), v.mean, v.scale(), len(fits.rows))
            for v, fits in zip(self.views[0], self.trees, strict=True)
        ]
        origin["mixtures"] = Mixture.now(self.mixtures, self.H, self.m)
        for h in range(self.H):
            for c in range(self.m):
                if origin["begun"][c]:
                    issued, f = origin["mixtures"][h, c], origin["forecasts"][h, c]
                    f[self.of_votes()] = self.voted(h, c, issued[0], f)
        return origin

    def of_votes(self):
        """The place of the expert that seasons vote on."""
        return len(self.view) - len(self.views)

    def voted(self, h, c, weights, f):
        """What the others say of the series, moved by the votes of earlier seasons."""
        places = [k for k in range(self.of_votes()) if self.view[k] == 0 and not np.isnan(f[k])]
        middle = sum(weights[k] * f[k] for k in places) / sum(weights[k] for k in places)
        memory, mixture, season = self.views[0][c], self.mixtures[h, c], self.seasons[0]
        n = min(14, min(self.t, 1024) // season - 1) if season else 0
        if n < 2:
            return middle
        most = 0.75 * np.sqrt(mixture.mixed[0] / (mixture.weight or 1.0) * memory.variance)
        lags = range(1, season + 1)
        far = [
            np.mean([abs(memory.back(lag) - memory.back(lag + k * season)) for lag in lags])
            for k in range(1, n + 1)
        ]
        far = [one + 1e-6 * max(far) + 1e-300 for one in far]
        votes = [0.9**k / (one / min(far)) ** 2 for k, one in enumerate(far)]
        at = [memory.back(k * season - h % season) for k in range(1, n + 1)]
        draws = [min(max(value - middle, -most), most) for value in at]
        return middle + 2 * sum(v * d for v, d in zip(votes, draws, strict=True)) / sum(votes)

    def tree_lags(self):
        """How many rows ago values are that trees see."""
        return [self.H] + [s * -(-self.H // s) if s else self.H for s in self.seasons]

    def tree_features(self, origin, c, x, t):
        lags, mean, scale, _ = origin["trees"][c]
        known = [value for value in self.views[0][c].rows if value is not None] or [0.0]
        n_before = len(self.views[0][c].rows) - len(known)
        seen = [known[max(t - lag - n_before, 0)] for lag in lags]
        seen = np.clip((np.array(seen) - mean) / scale, -FENCE, FENCE)
        return np.concatenate([x, phase_features(self.slots, t), seen])

    def from_trees(self, origin, c, x, t):
        _, mean, scale, n_known = origin["trees"][c]
        z = self.tree_features(origin, c, x, t)
        return mean + scale * self.trees[c].forecast(z, n_known)

    def explained(self, origin, c, x, t):
        """What explains a part of row t, by the view of what it leaves."""
        found = [self.from_static(origin, c, x, t)] if self.ahead else []
        found += [self.from_trees(origin, c, x, t)] if self.has_trees else []
        return dict(enumerate(found, start=1))

    @staticmethod
    def bank_members(horizon):
        """The members of all banks for one series; the steady ones first."""
        members = []
        for kind, rates in smoothing_rates().items():
            for k, own in enumerate(rates):
                steady = members[k] if kind == "logs" else None
                members.append(Smoothing(kind, own, horizon, steady))
        return members

    def smoothed(self, c, h, members):
        """The forecast of each bank from those of its members."""
        banks = [slice(k, k + 36) for k in range(0, len(members), 36)]
        said = []
        for bank in banks:
            own = self.members[c][bank]
            shares = [
                share * Mixture.weights(np.array([m.losses[k] for m in own]))
                for k, share in self.nearest(h)
            ]
            said.append(sum(shares) @ members[bank])
        return said

    def nearest(self, h):
        """The judged steps beside step h, and their shares."""
        if h in self.steps:
            return [(h, 1.0)]
        below = max(k for k in self.steps if k < h)
        above = min(k for k in self.steps if k > h)
        share = (h - below) / (above - below)
        return [(below, 1 - share), (above, share)]

    @staticmethod
    def again(memory, season, h, slot):
        if not season:
            return np.mean([memory.back(lag) for lag in range(1, 1 + 8 * 3**slot)])
        lag = season - h % season
        return memory.last() if lag == 1 else memory.back(lag)

    def ridge(self, k, h, c, width):
        """The model of an expert for a step and a series."""
        c = 0 if self.experts[k][2] == "pooled" else c
        if (k, h, c) not in self.ridges:
            self.ridges[k, h, c] = Ridge(width, self.experts[k][3])
        return self.ridges[k, h, c]

    def from_static(self, origin, c, x, t):
        level, theta, usual, *held = origin["static"][c]
        x = np.where(np.isnan(x), usual, x)
        return level if theta is None else level + self.static_features(held, x, t) @ theta

    def forecast(self, origin, h, c, x=None):
        """The forecast of an origin for a step and a series, with the columns known ahead."""
        if not origin["begun"][c]:
            return np.nan
        f = self.experts_forecasts(origin, h, c, x)
        return Mixture.forecasts(origin["mixtures"][h, c], f)[1]

    def experts_forecasts(self, origin, h, c, x):
        f = origin["forecasts"][h, c].copy()
        x = () if x is None else x
        for view, said in self.explained(origin, c, x, origin["t"] + h).items():
            f[np.array(self.view) == view] += said
        return f

    def move(self, c, by):
        """Move all that is remembered of a series, as if it had always been there."""
        self.views[0][c].move(by)
        if self.ahead:
            self.static[c].move(by)
        for member in self.members[c]:
            if not member.has_logs:
                member.level += by
            elif np.exp(member.level) + by > 0:
                member.level = np.log(np.exp(member.level) + by)
        raw = np.array(self.view) == 0
        for origin in self.origins:
            origin["level"][0, c, 0] += by
            origin["forecasts"][:, c, raw] += by
            origin["members"][:, c] += by
            if self.ahead:
                mean, *rest = origin["static"][c]
                origin["static"][c] = (mean + by, *rest)
            lags, mean, *rest = origin["trees"][c]
            origin["trees"][c] = (lags, mean + by, *rest)

    def learn(self, y, x_ahead=(), x_now=()):
        if np.isnan(y).all() and not any(memory.count for memory in self.views[0]):
            return  # nothing has begun
        origin, t = self.issue(), self.t
        self.origins.append(origin)
        first = [self.forecast(origin, 0, c, x_ahead) for c in range(self.m)]
        learnt = [v.fenced(*pair) for v, *pair in zip(self.views[0], y, first, strict=True)]
        came = list(learnt)
        for c in range(self.m):
            if isinstance(learnt[c], NewLevel):
                self.move(c, learnt[c] - first[c])
                self.far[c].base += learnt[c] - first[c]
                learnt[c], first[c] = np.nan, float(learnt[c])
        sound, kept = list(learnt), list(came)
        for c, memory in enumerate(self.views[0]):
            issued = first[c] if origin["begun"][c] else np.nan
            learnt[c], own = self.far[c].learn(sound[c], issued, memory)
            kept[c] = float(came[c]) if isinstance(came[c], NewLevel) else own
        for h in range(min(t + 1, self.H)):
            past = self.origins[t - h]
            for c in range(self.m):
                last, scale, has_unit = past["level"][0, c]
                scale = scale if has_unit else self.views[0][c].scale_with(sound[c])
                if past["begun"][c] and not np.isnan(learnt[c] * scale):
                    seen = max(self.views[0][c].count - h, 0)
                    trust = seen / (seen + 32)
                    f = self.experts_forecasts(past, h, c, x_ahead)
                    issued = past["mixtures"][h, c]
                    for member, said in zip(self.members[c], past["members"][h, c], strict=True):
                        error = np.clip((said - learnt[c]) / scale, -20, 20)
                        member.losses[h] += 0.002 * trust * (error**2 - member.losses[h])
                    most = 10 if self.views[0][c].count < JUDGED else np.inf
                    y_here = np.clip((learnt[c] - last) / scale, -most, most)
                    self.mixtures[h, c].learn(issued, (f - last) / scale, y_here, trust)
            for stack in self.mixtures[h, 0].stacks:
                if isinstance(stack, SharedStack):
                    stack.commit()
            for k, (view, _, sharing, forgetting, *_) in enumerate(self.experts):
                targets = []
                for c in range(self.m):
                    last, scale, has_unit = past["level"][view, c]
                    rest = self.explained(past, c, x_ahead, t)[view] if view else 0.0
                    known = past["begun"][c] and has_unit
                    off = np.clip((learnt[c] - rest - last) / scale, -10, 10)
                    targets.append(off if known else np.nan)
                rows = past["features"][k]
                if sharing == "pooled":
                    self.ridge(k, h, 0, len(rows[0])).learn(rows, targets)
                else:
                    for c in range(self.m):
                        self.ridge(k, h, c, len(rows[c])).learn([rows[c]], [targets[c]])
                if (t - h + 1) % REFRESH == 0 and forgetting < 1:
                    for c in range(1 if sharing == "pooled" else self.m):
                        lost = (1 - forgetting**REFRESH) * ALPHA
                        self.ridge(k, h, c, 0).put_back(lost)
        self.t += 1
        if self.t % REFRESH == 0:
            for mixture in self.mixtures.values():
                mixture.refresh()
        moments = [x.mean for x in self.ahead], np.sqrt([x.variance for x in self.ahead])
        x_rare = self.ahead and np.abs(standardised(x_ahead, *moments)).max() >= 4.0
        for column, value in zip(self.ahead, x_ahead, strict=True):
            column.push(value, column.rows[-1] if column.rows else np.nan)
        for c in range(self.m if self.ahead else 0):
            is_known = origin["begun"][c] and origin["level"][0, c, 2]
            y_static = self.target_of_columns(c, y[c], came[c], learnt[c], x_rare)
            y_static = y_static if is_known else np.nan
            self.static[c].learn(self.views[0][c], x_ahead, t, y_static)
        begun, taught = origin["begun"], []
        before = [self.explained(origin, c, x_ahead, t) for c in range(self.m)]
        for c in range(self.m):
            said = self.experts_forecasts(origin, 0, c, x_ahead)
            filled = np.clip(first[c], np.nanmin(said), np.nanmax(said))
            is_known = begun[c] and origin["level"][0, c, 2]
            for view, rest in before[c].items():
                own = rest if begun[c] else came[c]
                self.views[view][c].push(kept[c] - own, filled - rest)
            if self.has_trees and is_known and not np.isnan(learnt[c]):
                _, mean, scale, _ = origin["trees"][c]
                z = self.tree_features(origin, c, x_ahead, t)
                taught.append((c, z, np.clip((learnt[c] - mean) / scale, -FENCE, FENCE)))
            for member in reversed(self.members[c]):  # logarithms end before the steady ones learn
                if not self.views[0][c].count and not np.isnan(came[c]):
                    member.level = float(came[c])
                member.learn(kept[c])
            self.views[0][c].push(float(came[c]), filled, kept[c])
        for c, z, target in taught:
            self.trees[c].rows.append((z, target))
        for fits in self.trees:
            fits.look()
        for column, value in zip(self.now, x_now, strict=True):
            column.push(value, column.rows[-1] if column.rows else np.nan)
        if is_look_due(self.t) or self.t in [c * k for k in self.given for c in (2, 4)]:
            self.look()

    def target_of_columns(self, c, y, came, learnt, x_rare):
        """What is taught to the regression on columns: what is rare in both is no fault."""
        if not x_rare or isinstance(came, NewLevel):
            return learnt
        memory = self.views[0][c]
        reach = FENCE * np.sqrt(memory.variance) if memory.count >= JUDGED else np.inf
        reach = reach or np.inf
        return np.clip(y, memory.mean - reach, memory.mean + reach)

    def look(self):
        """Look for seasons; what stands on a new one begins anew."""
        rows = np.array(
            [
                [memory.back(self.t - i) if memory.count else 0.0 for memory in self.views[0]]
                for i in range(self.t)
            ]
        )
        begun = [memory.count > 0 for memory in self.views[0]]
        self.seasons = _seasons.found(rows[:, begun], self.usual, self.given).tolist()
        slots = settled(self.slots, self.seasons)
        for k, season in enumerate(slots):
            if season != self.slots[k]:
                self.begin_season(k, season, rows)
        self.slots = slots
        lengths = [k for k in self.seasons if 0 < 2 * k <= self.t]
        again = self.t in [4 * k for k in self.given]
        if again or any(one.is_out_of_date(lengths) for own in self.members for one in own):
            self.begin_smoothing(lengths, rows, again)
        self.look_for_echoes(rows / [memory.scale() for memory in self.views[0]])

    def look_for_echoes(self, rows):
        """The median of the longest season; the best of the usual lengths that were seen seldom."""
        n, longest, first = len(rows), max(self.slots), len(self.experts)
        seldom = [k for k in self.usual if k > longest and 4 * k > n]
        for way, lengths in enumerate(([k for k in self.slots if k], seldom)):
            needed = {k: 3 * k if way == 0 else k + max(k // 4, 1) for k in lengths}
            lengths = [k for k in lengths if needed[k] + self.H + 16 <= n]
            lengths = [max(lengths)] if lengths and way == 0 else lengths
            tried = [(*self.try_echo(rows, ECHOES[way], k, needed[k]), k) for k in lengths]
            ratio, peer, length = min(tried) if tried else (np.inf, 0, 0)
            if length == self.echoes[way]:
                continue
            known = {place: m.errors / (m.weight or 1.0) for place, m in self.mixtures.items()}
            told = {place: ratio * errors[first + peer] for place, errors in known.items()}
            best = min(np.mean(list(known.values()), axis=0))
            is_near = np.mean(list(told.values())) < (1.5 * best if way else np.inf)
            self.echoes[way] = length if is_near else 0
            for place, mixture in self.mixtures.items():
                if self.echoes[way]:
                    mixture.begin_anew(first + len(self.slots) + 2 + way, told[place], length)

    def try_echo(self, rows, way, length, needed):
        """Its squares over those of the best of its peers, a standard error more; and that one."""
        n, begin = len(rows), max(needed, len(rows) - 500)
        peers = [k for k, s in enumerate([0, *self.slots]) if k == 0 or 0 < s <= begin]
        squares = dict.fromkeys(("own", *peers), 0.0)
        for t in sorted({int(t) for t in np.linspace(begin, n - self.H, 64)}):
            for c in range(self.m):
                past = list(rows[:t, c])
                for h in range(self.H):
                    squares["own"] += (way(past, length, h) - rows[t + h, c]) ** 2
                    for k in peers:
                        season = self.slots[k - 1] if k else 0
                        said = past[t - season + h % season] if season else past[-1]
                        squares[k] += (said - rows[t + h, c]) ** 2
        best = min(peers, key=lambda k: squares[k])
        windows = self.m * (n - begin) / self.H
        return squares["own"] / squares[best] * (1 + 1 / np.sqrt(windows)), best

    def begin_smoothing(self, lengths, rows, again):
        """Let members begin on seasons, and mixtures hear what they would have been worth."""
        before = self.members[0][0].lengths
        banks = np.arange(4) + self.of_votes() - 4
        changed = [0, 1, 2, 3]
        if sorted(lengths)[:-1] == sorted(before) != sorted(lengths):  # one more, the longest
            self.exchange(banks[0], banks[3])
            changed = [0, 1, 2]
        elif lengths == before and not again:
            changed = [2]
        first = max(self.t - 500, 2 * max([*lengths, 1]))
        is_told = self.t - first - self.H >= 16
        if again and lengths == before and not is_told:
            return
        for c in range(self.m):
            scale = self.views[0][c].scale()
            told = (
                np.array(
                    [
                        m.errors_again(lengths, rows[:, c], first, self.steps, scale)
                        for m in self.members[c]
                    ]
                )
                if is_told
                else None
            )
            for k, member in enumerate(self.members[c]):
                member.begin_anew(lengths, rows[:, c])
                for h, step in enumerate(self.steps if is_told else []):
                    told[k, h] *= self.record(step, c)[len(self.experts)]
                    member.losses[step] = told[k, h] * self.mixtures[step, c].weight
            for h in range(self.H if is_told else 0):
                for bank in changed:
                    errors = told[36 * bank : 36 * bank + 36].T
                    known = [own @ Mixture.weights(own) for own in errors]
                    error = sum(s * known[self.steps.index(k)] for k, s in self.nearest(h))
                    self.mixtures[h, c].hear(banks[bank], error)
            if not is_told and changed != [2]:
                for bank in changed:
                    own = self.members[c][36 * bank : 36 * bank + 36]
                    best = np.min([member.losses for member in own], axis=0)
                    for member in own:
                        member.losses = best.copy()
                for h in range(self.H):
                    least = min(self.record(h, c))
                    for bank in changed:
                        self.mixtures[h, c].hear(banks[bank], least)

    def record(self, h, c):
        """The mean squared errors of the experts at a step of a series so far."""
        mixture = self.mixtures[h, c]
        return mixture.errors / (mixture.weight or 1.0)

    def exchange(self, a, b):
        """Let two experts change places in all that is known and waits."""
        order = np.arange(len(self.view))
        order[[a, b]] = b, a
        for mixture in self.mixtures.values():
            mixture.refresh()
            mixture.errors = mixture.errors[order]
        stacks = {id(stack): stack for own in self.mixtures.values() for stack in own.stacks}
        for stack in stacks.values():
            stack.S, stack.b = stack.S[order][:, order], stack.b[order]
            stack.theta = stack.theta[order]
        for origin in self.origins:
            origin["forecasts"] = origin["forecasts"][:, :, order]
            for key, (weights, thetas, shares) in origin["mixtures"].items():
                issued = weights[order], [theta[order] for theta in thetas], shares
                origin["mixtures"][key] = issued

    def begin_season(self, k, season, rows):
        assert not self.slots[k], "a season that gives its place to another one has its own test"
        experts = [(1 + k, False)] + [(1 + len(self.slots), True)] * (k == 0)
        for (h, c), mixture in self.mixtures.items():
            latest = self.record(h, c)[len(self.experts)]
            for place, with_distance in experts:
                error = latest * errors_again(rows[:, c], season, h, with_distance)
                mixture.begin_anew(len(self.experts) + place, error)


class Intervals:
    """How far the intervals of each step and series reach; r, sizes and phases as lists of rows."""

    LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)

    def __init__(self, horizon, n_series, season):
        self.H, self.m, self.season, self.t, self.issued = horizon, n_series, season, 0, []
        normal = NormalDist()
        usual = [np.log(normal.inv_cdf(0.5 + c / 2) * np.sqrt(np.pi / 2)) for c in self.LEVELS]
        self.least = [r - 1.0 for r in usual]
        places = [(h, c) for h in range(horizon) for c in range(n_series)]
        self.r = {place: list(usual) for place in places}
        self.lately = {(h, k): 0.0 for h in range(horizon) for k in range(len(usual))}
        self.errors = {place: [] for place in places}  # sizes in order, and what each counts for
        self.phases = {(p, place): [5.0, 5.0] for p in range(24) for place in places}
        self.power = {place: [0.5, 1.0] for place in places}  # and the sum of squared slopes

    def phase(self, row):
        return 24 * (row % self.season) // self.season if self.season else 0

    def factor(self, p, place):
        return max(self.relative(p, place) ** self.power[place][0], 0.03)

    def relative(self, p, place):
        size, number = self.phases[p, place]
        return max(size / number, 1e-3)

    def faded_sums(self, place, fading):
        sizes = [size for size, _ in self.errors[place]]
        weights = [
            fading**age * trust for age, (_, trust) in enumerate(reversed(self.errors[place]))
        ]
        return np.dot(weights[::-1], sizes), sum(weights)

    def usual(self, h, c, fading):
        """The size of errors; of few known ones with three of all series."""
        size, weight = self.faded_sums((h, c), fading)
        lent = 3.0 * self.few(h, c)
        return (size + lent * self.of_all(h, fading)) / (weight + lent)

    def few(self, h, c):
        """How few errors are known: 1 is none, 0 is enough."""
        return max(1.0 - self.faded_sums((h, c), 0.9998)[1] / 64.0, 0.0)

    def of_all(self, h, fading):
        """The mean size of all series; of few errors with one of a random walk."""
        total = share = 0.0
        for c in range(self.m):
            size, weight = self.faded_sums((h, c), fading)
            total += 3.0 / (weight + 3.0) * size
            share += 3.0 / (weight + 3.0) * weight
        mean = total / share if share else 0.0
        weight, known = (
            sum(self.faded_sums((h, c), f)[1] for c in range(self.m)) for f in (fading, 0.9998)
        )
        if known >= 64:
            return mean
        walk = self.of_all(h - 1, fading) * np.sqrt((h + 1) / h) if h else 0.6
        return (weight * mean + walk) / (weight + 1.0)

    def unit(self, h, c):
        """The size of errors, and more where few are known of all series."""
        share = 0.5 * 0.98 ** (h + 1)
        lately, always = (self.usual(h, c, f) for f in (0.98, 0.9998))
        known = 1.0 + sum(self.faded_sums((h, k), 0.9998)[1] for k in range(self.m))
        return lately**share * always ** (1 - share) * np.sqrt(1 + 1 / known)

    def issue(self):
        reach = np.full((len(self.LEVELS), self.H, self.m), -1.0)
        for h, c in self.r:
            unit = self.unit(h, c) * self.factor(self.phase(self.t + h), (h, c))
            r = [own + 2 * self.lately[h, k] for k, own in enumerate(self.r[h, c])]
            for k in range(len(self.LEVELS)):
                reach[k, h, c] = unit * np.exp(max(r[: k + 1]))
        self.issued.append(reach)
        return reach

    def learn(self, errors, trust=1.0):
        p, trust = self.phase(self.t), np.broadcast_to(trust, errors.shape)
        usual = [[self.usual(h, c, 0.98) for c in range(self.m)] for h in range(self.H)]
        for h in range(min(self.t + 1, self.H)):
            reach = self.issued[self.t - h][:, h]
            judged = [c for c in range(self.m) if np.isfinite(errors[h, c]) and reach[0, c] >= 0]
            for k, level in enumerate(self.LEVELS):
                missed = [(abs(errors[h, c]) > reach[k, c]) - (1 - level) for c in judged]
                if not judged:
                    continue
                self.lately[h, k] = 0.98 * self.lately[h, k] + 0.02 * np.mean(missed)
                for c in range(self.m):
                    self.r[h, c][k] += 0.01 * np.mean(missed)
                for c, miss in zip(judged, missed, strict=True):
                    self.r[h, c][k] += 0.002 * miss
                for c in range(self.m):
                    self.r[h, c][k] = max(self.r[h, c][k], self.least[k])
            factors = [self.factor(p, (h, c)) for c in range(self.m)]
            for c in judged if self.season else ():
                self.learn_power(p, (h, c), abs(errors[h, c]), reach[:, c], usual[h][c])
            self.learn_phase(p, h, errors[h], usual[h])
            for c in range(self.m):
                if np.isfinite(errors[h, c]):
                    size = abs(errors[h, c]) / factors[c]
                    self.errors[h, c].append((size, trust[h, c]))
        self.t += 1

    def learn_power(self, p, place, size, reach, usual):
        """A step down the weighted interval score, as it changes with the power."""
        g = 0.0
        for level, r in zip(self.LEVELS, reach, strict=True):
            g -= r * ((size > r) - (1 - level)) / len(reach)
        g *= np.log(self.relative(p, place)) / usual if usual else 0.0
        power, squares = self.power[place][0], self.power[place][1] + g**2
        self.power[place] = [min(max(power - 0.1 * g / np.sqrt(squares), 0.0), 1.0), squares]

    def learn_phase(self, p, h, errors, usual):
        """What size errors have beside the usual one; who knows few hears those of all."""
        known = [c for c in range(self.m) if np.isfinite(errors[c]) and usual[c] > 0]
        sizes = {c: abs(errors[c]) for c in known}
        few = [self.few(h, c) for c in range(self.m)]
        of_all = sum(min(sizes[c], 5 * usual[c]) for c in known)
        of_all /= sum(usual[c] for c in known) or 1.0
        for c in range(self.m):
            own = sizes[c] / usual[c] if c in known else 0.0
            heard = (1 - few[c]) * (c in known) + few[c] * bool(known)
            n = heard if self.season else (1 - few[c]) * (c in known) + few[c] * len(known)
            relative = (1 - few[c]) * own + few[c] * of_all
            size, number = (max(0.95**n, 0.8) * sums for sums in self.phases[p, (h, c)])
            self.phases[p, (h, c)] = [size + relative, number + heard]


class Skew:
    """How errors lie above and below: bins of each group of steps and series as dicts of lists."""

    def __init__(self, horizon, n_series):
        self.H, self.m = horizon, n_series
        self.judged = sorted({round(horizon ** (k / 7)) for k in range(8)})  # 1, ..., H
        self.groups = {k: [] for k in range(len(self.judged))}
        for h in range(horizon):
            self.groups[self.group(h)].append(h)
        self.heard = []  # rows of bins by step and series, None where nobody can tell
        self.prior = 0.1
        self.two = {(g, c): self.prior for g in self.groups for c in range(n_series)}
        z = np.sqrt(2 / np.pi)  # mean size of a standard Gaussian
        edges = [-np.inf, *(0.02 * np.sinh(7 * k / 32) for k in range(-31, 32)), np.inf]
        below = [0.0, *(NormalDist().cdf(e * z) for e in edges[1:-1]), 1.0]
        self.gaussian = [0.98 * (b - a) + 0.02 / 64 for a, b in pairwise(below)]

    def group(self, h):
        return next(k for k, last in enumerate(self.judged) if h < last)

    def bin(self, error, size):
        if np.isnan(error) or abs(error) <= 1e-8 * size:
            return None
        return int(np.clip(np.floor(32 + 32 / 7 * np.arcsinh(error / size / 0.02)), 0, 63))

    def counts(self, g, c, rows_back):
        """Faded counts of the errors of steps h, but for the latest `rows_back` (h) rows."""
        found = np.zeros(64)
        for t in range(len(self.heard)):
            new = np.zeros(64)
            for h in self.groups[g]:
                known = t - rows_back(h)
                if known >= 0 and (b := self.heard[known][h][c]) is not None:
                    new[b] += 1 / len(self.groups[g])
            found = found * (1 - 0.0005 * new.sum()) + new
        return found

    def law(self, g, c, rows_back=lambda h: 0):
        overlap = self.judged[g]
        of_all = sum(self.counts(g, k, rows_back) for k in range(self.m)) / np.sqrt(self.m)
        of_all = of_all + (32 + overlap) * np.array(self.gaussian)
        law = self.counts(g, c, rows_back) + (32 + overlap) * of_all / of_all.sum()
        return law / law.sum()

    def learn(self, errors, sizes):
        """Learn a row's errors (H, m): its forecast of step h knew all but the h rows before it."""
        rows = [[self.bin(errors[h, c], sizes[h, c]) for c in range(self.m)] for h in range(self.H)]
        for g, c in self.two:
            law, said = self.law(g, c, lambda h: h), 0.0
            for h in self.groups[g]:
                if (b := rows[h][c]) is not None:  # four bins are one here
                    counted = law[b // 4 * 4 : b // 4 * 4 + 4].sum()
                    mirrored = law[::-1][b // 4 * 4 : b // 4 * 4 + 4].sum()
                    said += np.log(2 * counted / (counted + mirrored)) / len(self.groups[g])
            ratio = np.exp(said / self.judged[g]) * self.two[g, c]
            two = ratio / (ratio + 1 - self.two[g, c])
            self.two[g, c] = 0.999 * two + 0.001 * self.prior
        self.heard.append(rows)

    def two_sides(self, g, c):
        """The probability of two sides, of few errors with that of all series."""
        n = [self.counts(g, k, lambda h: 0).sum() for k in range(self.m)]
        rows = 32 + self.judged[g]
        of_all = sum(n[k] * self.two[g, k] for k in range(self.m)) + rows * self.prior
        return (n[c] * self.two[g, c] + rows * of_all / (sum(n) + rows)) / (n[c] + rows)

    def quantile(self, law, alpha, edges):
        below = 0.0
        for k, p in enumerate(law):
            if below + p >= alpha:
                place = edges[k] + (alpha - below) / p * (edges[1] - edges[0])
                return 0.02 * np.sinh(place)
            below += p
        return 0.02 * np.sinh(edges[-1])

    def quantiles(self, h, c, alpha, reach):
        """Quantiles of levels that are ends of the coverages at hand; `reach` is of these."""
        law, two = self.law(self.group(h), c), self.two_sides(self.group(h), c)
        law = two * law + (1 - two) * (law + law[::-1]) / 2
        sizes = law[32:] + law[:32][::-1]
        edges, found = np.linspace(-7, 7, 65), []
        for a in alpha:
            coverage = max(abs(2 * a - 1), 0.1)
            over = self.quantile(law, a, edges) / self.quantile(sizes, coverage, edges[32:])
            found.append(reach(coverage) * over)
        middle = len(alpha) // 2
        upper = np.maximum.accumulate(found[middle:])
        lower = np.minimum.accumulate(found[middle::-1])
        return np.concatenate([lower[::-1], upper[1:]])
