"""A base corrected as one would write it: a queue of all origins, and direct solves."""

import numpy as np

from tests.oracles.series import FENCE, JUDGED, REFRESH, Memory, Mixture, Ridge, unit_length

PRIOR = np.array([1 / 2, 1 / 8, 1 / 8, 1 / 8, 1 / 8])  # base, corrected twice, ours, mixture


class FixedShare:
    """That of one step and one series."""

    def __init__(self, prior=PRIOR):
        self.prior, self.w, self.n = prior, prior.copy(), 0
        self.c, self.gaps, self.regret = 0.0, 0.0, 0.0

    def now(self):
        return self.w if self.n else np.eye(len(self.w))[0]

    def learn(self, losses, loss):
        self.c = max(self.c, self.gaps + max(losses) - min(losses))
        spent = (losses - min(losses)) / self.c if self.c else losses - min(losses)
        total = self.w @ np.exp(-spent)
        self.gaps += max(loss - (min(losses) - self.c * np.log(total)), 0)
        self.n += 1
        share = 1 / (self.n + 1)
        self.w = (1 - share) * self.w * np.exp(-spent) / total + share * self.prior
        self.regret += loss - losses[0]

    def bound(self):
        n = max(self.n, 1)
        return self.gaps + self.c * np.log(n / self.prior[0] * (n + 1))


class Corrector:
    """The base's forecasts of a row and those after it come first, then the row."""

    def __init__(self, horizon, n_series, window):
        self.H, self.m, self.window, self.t = horizon, n_series, window, 0
        self.memories = [Memory() for _ in range(n_series)]
        self.errors = [[0.0] * window for _ in range(n_series)]
        self.steps = np.unique(np.rint(np.linspace(0, horizon - 1, min(horizon, 24)))).astype(int)
        width = 1 + 2 * window + len(self.steps)
        places = [(h, c) for h in range(horizon) for c in range(n_series)]
        self.ridges = {(g, *p): Ridge(width, g) for g in (1.0, 0.999) for p in places}
        self.mixtures = {place: Mixture(4) for place in places}
        self.shares = {place: FixedShare() for place in places}
        self.queue = []

    def features(self, base, c):
        memory, path = self.memories[c], base[self.steps, c] - self.memories[c].last()
        if not memory.count or np.isnan(base[:, c]).all():
            return np.zeros(1 + 2 * self.window + len(path))
        path = np.nan_to_num(np.clip(path / memory.scale(), -FENCE, FENCE), nan=0.0)
        parts = memory.window(self.window), np.array(self.errors[c][: self.window]), path
        return np.concatenate([[1.0], *map(unit_length, parts)])

    def issue(self, base, ours):
        """Ours (H, m) is what the forecaster says now; the forecasts (H, m) go into the queue."""
        origin = {"base": base, "ours": ours, "said": np.full(base.shape, np.nan)}
        origin["z"] = [self.features(base, c) for c in range(self.m)]
        origin["units"] = [(v.last(), v.scale() if v.has_unit() else np.nan) for v in self.memories]
        origin["experts"], origin["issued"] = {}, {}
        mixtures = Mixture.now(self.mixtures, self.H, self.m)
        for h, c in self.shares:
            last, unit = origin["units"][c]
            most = FENCE * unit if unit > 0 else np.inf
            own, of_base = ours[h, c], base[h, c]
            own = of_base if np.isnan(own) else own
            scale, z = self.memories[c].scale(), origin["z"][c]
            corrected = [
                np.clip(of_base - last + scale * (z @ self.ridges[g, h, c].theta), -most, most)
                for g in (1.0, 0.999)
            ]
            f = np.array([of_base - last, *corrected, own - last])
            if np.isnan(of_base):
                f[:] = own - last
            now = mixtures[h, c]
            fenced = np.array([np.clip(f[0], -most, most), *f[1:]]) if of_base == of_base else f
            _, mixed = Mixture.forecasts(now, fenced)
            all_five = np.array([*f, mixed])
            origin["said"][h, c] = last + self.shares[h, c].now() @ all_five
            origin["experts"][h, c], origin["issued"][h, c] = (all_five, fenced), now
        self.queue.append(origin)
        return origin["said"]

    def learn(self, y):
        for h in range(min(self.t + 1, self.H)):
            origin = self.queue[self.t - h]
            for c in range(self.m):
                last, unit = origin["units"][c]
                five, fenced = origin["experts"][h, c]
                target, of_base = y[c] - last, origin["base"][h, c] - last
                there = not np.isnan(target) and not np.isnan(five).any()
                if there and self.memories[c].count >= JUDGED:
                    loss = (origin["said"][h, c] - y[c]) ** 2
                    self.shares[h, c].learn((five - target) ** 2, loss)
                if there and not np.isnan(unit):
                    self.mixtures[h, c].learn(origin["issued"][h, c], fenced / unit, target / unit)
                wrong = np.clip((target - of_base) / unit, -10, 10)
                for g in (1.0, 0.999):
                    ridge = self.ridges[g, h, c]
                    ridge.learn([origin["z"][c]], [wrong])
                    if (self.t - h + 1) % REFRESH == 0 and g < 1:
                        ridge.put_back(1 - g**REFRESH)
                if h == 0:
                    self.errors[c].insert(0, np.nan_to_num(wrong, nan=0.0))
        self.t += 1
        if self.t % REFRESH == 0:
            for mixture in self.mixtures.values():
                mixture.refresh()
        said = self.queue[-1]["said"][0]
        for c, memory in enumerate(self.memories):
            memory.push(y[c], memory.last() if np.isnan(said[c]) else said[c])
