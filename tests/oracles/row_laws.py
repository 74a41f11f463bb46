"""The law of errors whose size is told by the row, one row after the other."""

import math

import numpy as np

COVERAGES = [k / 50 for k in range(50)] + [0.99, 0.996]
SCORED = [5 * k for k in range(10)]
LEVELS = [k / 100 for k in range(1, 100)]


def between(x, xs, ys):
    """Return what a line from point to point says at x, the ends' values beyond them."""
    if x <= xs[0]:
        return ys[0]
    for a, b, c, d in zip(xs[:-1], xs[1:], ys[:-1], ys[1:], strict=True):
        if x <= b:
            return c + (x - a) / (b - a) * (d - c)
    return ys[-1]


class RowLaw:
    """Learns errors and the sizes issued for them, one by one; labels are not late."""

    gamma, window = 0.02, 500

    def __init__(self):
        self.t, self.size, self.weight, self.largest = 0, 0.0, 0.0, 0.0
        self.scores = []  # over the running size, over that of the row
        self.tables = [[[0.0] * 52, [0.0] * 52] for _ in range(4)]
        self.shares = [1 / 4] * 4
        self.squares = [0.0] * 4
        self.gains, self.gained = [0.0] * 4, [0.0] * 4
        self.levels = list(LEVELS)
        self.center = 0.0

    def unit(self):
        return max(self.size / (self.weight or 1.0), 1e-6 * self.largest)

    def scales(self, size):
        unit = self.unit()
        size = min(max(size if size > 0 else unit, 1e-4 * unit), 1e4 * unit)
        return [unit, size, size, size]

    def quantile(self, k, scales, side, place):
        return scales[k] * self.tables[k][side][place]

    def law(self, size):
        """Return the quantiles below and above, from the median on."""
        scales = self.scales(size)
        return [
            [
                sum(self.shares[k] * self.quantile(k, scales, side, j) for k in range(4))
                for j in range(52)
            ]
            for side in (0, 1)
        ]

    def crps(self, k, scales, error):
        """Return the mean of twice the pinball losses at 19 levels."""
        total = 0.0
        for place in SCORED:
            for side in (0, 1):
                if place == 0 and side == 1:
                    continue
                alpha = 0.5 + (COVERAGES[place] / 2 if side else -COVERAGES[place] / 2)
                beyond = error - self.quantile(k, scales, side, place)
                total += 2 * (alpha * beyond if beyond > 0 else (alpha - 1) * beyond)
        return total / 19

    def places(self, level):
        """Return where in the law the ends of an interval lie, from -1 to 1."""
        leaned = 2 * self.center * max(1 - 2 * level, 0)
        return leaned - level, leaned + level

    def needed(self, error, size):
        """Return the level whose interval would just hold an error, and whether it is above."""
        law = self.law(size)
        median = law[0][0]
        side = law[1] if error > median else law[0]
        reach = np.maximum.accumulate([abs(q - median) for q in side]).tolist()
        off = abs(error - median)
        if off > reach[-1]:
            place = 1 + self.gamma * math.log2(off / reach[-1]) if reach[-1] else math.inf
        else:
            j = next(j for j in range(52) if reach[j] >= off)
            place = 0.0
            if j:
                share = (off - reach[j - 1]) / (reach[j] - reach[j - 1])
                place = COVERAGES[j - 1] + share * (COVERAGES[j] - COVERAGES[j - 1])
        place = place if error > median else -place
        is_above = place > 2 * self.center
        if abs(place) > 0.6:
            return abs(place), is_above
        low, high = 0.0, 1.0
        for _ in range(60):  # intervals are nested: halve what is between
            level = (low + high) / 2
            first, last = self.places(level)
            low, high = (low, level) if first <= place <= last else (level, high)
        return high, is_above

    def learn(self, error, size, faulty=False, weight=1.0):
        """Learn an error; return which levels held."""
        unit, scales = self.unit(), self.scales(size)
        hits = [False] * 99
        if unit > 0:
            need, is_above = self.needed(error, size)
            self.center += self.gamma / 4 * (0.5 if is_above else -0.5)
            self.center = min(max(self.center, -0.2), 0.2)
            hits = [level >= need for level in self.levels]
            self.levels = [
                level + self.gamma * (c - hit)
                for level, c, hit in zip(self.levels, LEVELS, hits, strict=True)
            ]
            losses = [self.crps(k, scales, error) / unit for k in range(4)]
            mean = sum(w * loss for w, loss in zip(self.shares, losses, strict=True))
            for k in range(4):
                gain = min(max(mean - losses[k], -0.5), 0.5)
                self.gains[k] += gain
                self.gained[k] += gain**2
        if not faulty and weight > 0:
            if unit > 0:
                self.scores.append((error / unit, error / scales[1]))
            elif error:
                self.scores.append((math.copysign(1, error), math.copysign(1, error)))
            self.scores = self.scores[-self.window :]
            self.size = 0.98 * self.size + weight * abs(error)
            self.weight = 0.98 * self.weight + weight
            self.largest = max(self.largest, abs(error))
        self.t += 1
        if self.t <= 32 or self.t % 8 == 0:
            self.renew()
        return hits

    def renew(self):
        """Take tables of the latest scores, and weights of what the laws have lost."""
        m = len(self.scores)
        if m:
            for k in (0, 1):
                sizes = [0.0, *sorted(abs(score[k]) for score in self.scores)]
                above = [between(c * (m + 1), list(range(m + 1)), sizes) for c in COVERAGES]
                self.tables[k] = [[-q for q in above], above]
            for k, few in ((2, 500), (3, 125)):
                signed = sorted(score[1] for score in self.scores[-few:])
                n = len(signed)
                ranks = list(range(1, n + 1)) if n > 1 else [1, 2]
                signed = signed if n > 1 else signed * 2
                self.tables[k] = [
                    [between((n + 1) * (1 + sign * c) / 2, ranks, signed) for c in COVERAGES]
                    for sign in (-1, 1)
                ]
        rounds = 1 if self.t <= 32 else 8
        weights = []
        for k in range(4):
            self.squares[k] = 0.998**rounds * self.squares[k] + self.gained[k]
            rate = min(math.sqrt(math.log(4) / self.squares[k]), 1.0) if self.squares[k] else 1.0
            gain = self.gains[k] - rate * self.gained[k]
            weights.append(self.shares[k] * math.exp(rate * gain))
        kept = 0.996**rounds
        self.shares = [kept * w / sum(weights) + (1 - kept) / 4 for w in weights]
        self.gains, self.gained = [0.0] * 4, [0.0] * 4
