"""The mixture of the classifier without tuning, row by row."""

import copy

import numpy as np

# rows a block, up to which row
LENGTHS = (1, 8), (2, 16), (4, 32), (8, 64), (16, 128), (32, np.inf)


class ClassMixture:
    """Calibrated experts, their means and pools, and those of the ways to combine them."""

    def __init__(self, n_experts, n_classes, fadings, pools, delay=0):
        K, C, n_ways = n_experts, n_classes, len(fadings) + len(pools) + 5
        self.K, self.C, self.delay = K, C, delay
        self.fadings, self.pools = (1.0, *fadings), pools
        self.slow = self.fadings[1]
        self.calibrations = [np.r_[2.0, np.zeros(C)] for _ in range(K)]
        self.precisions = [np.eye(1 + C) for _ in range(K)]
        sizes, ridges = [*(K + 4 for _ in pools), n_ways], [*(ridge for ridge, _ in pools), 10.0]
        self.priors = [
            np.r_[np.full(size, ridge), np.full(3 + C, 10.0)]
            for size, ridge in zip(sizes, ridges, strict=True)
        ]
        self.weights_of_pools = [np.zeros(len(prior)) for prior in self.priors]
        self.precisions_of_pools = [np.diag(prior) for prior in self.priors]
        self.logs = [np.zeros(K + 4) for _ in self.fadings]
        self.logs_of_ways, self.logs_of_last = np.zeros(n_ways), np.zeros(n_ways + 1)
        self.counts = {f: np.zeros((3, C)) for f in self.fadings[:2]}
        self.labels, self.block, self.snapshots = [], [], []

    def learn(self, scores, y, heard, weight=1.0):
        """Return the probabilities of a row that was forecast by what was known, then learn it."""
        self.snapshots.append(copy.deepcopy(self._knowledge()))
        t = len(self.labels)
        known, n_known = self.snapshots[max(t - self.delay, 0)], max(t - self.delay, 0)
        last = self.labels[n_known - 1] if n_known else None
        parts = self.forecast(known, scores, last, n_known, heard)
        absent = parts["absent"]
        for logs, fading, mean in zip(self.logs, self.fadings, parts["means"], strict=True):
            gains = [mean[y] if absent[k] else parts["P"][k][y] for k in range(self.K + 4)]
            logs *= fading
            logs += weight * np.log(gains)
        self.logs_of_ways *= self.slow
        self.logs_of_ways += weight * np.log(parts["ways"][1:, y])
        self.logs_of_last += weight * np.log(parts["ways"][:, y])
        for fading, counts in self.counts.items():
            counts *= fading
            counts[0, y] += 1.0
            if last is not None:
                counts[1, last] += 1.0
                counts[2, last] += last == y
        self.labels.append(y)
        self.block.append((scores, parts, y, weight))
        t += 1
        length = next(rows for rows, most in LENGTHS if t <= most)
        if t % length == 0:
            self._end_block()
        return parts["result"]

    def _knowledge(self):
        return {
            "calibrations": self.calibrations,
            "pools": self.weights_of_pools,
            "logs": self.logs,
            "logs of ways": self.logs_of_ways,
            "logs of last": self.logs_of_last,
            "counts": self.counts,
        }

    def forecast(self, known, scores, last, n_known, heard):
        doubt = 1.0 / (n_known + self.C)
        absent = [bool(np.isnan(scores[k, 0]) or not heard[k]) for k in range(self.K)] + [False] * 4
        P = [softmax(w[0] * s + w[1:]) for w, s in zip(known["calibrations"], scores, strict=True)]
        shares = {f: (c[0] + 0.5) / (c[0] + 0.5).sum() for f, c in known["counts"].items()}
        for fading, counts in known["counts"].items():
            stays = shares[fading].copy()
            if last is not None:
                stay = (counts[2, last] + 0.5) / (counts[1, last] + 1.0)
                stays *= (1.0 - stay) / (1.0 - shares[fading][last])
                stays[last] = stay
            P.append(stays)
        P = [(1.0 - doubt) * p + doubt / self.C for p in [*P, *shares.values()]]
        present = [k for k in range(self.K + 4) if not absent[k]]
        means = [mean(logs[present], [P[k] for k in present]) for logs in known["logs"]]
        base = np.log(means[1])
        D = deviations([None if a else p for a, p in zip(absent, P, strict=True)], base)
        ways = means + [self._pooled(w, base, D, doubt) for w in known["pools"][:-1]] + P[-4:]
        last_base = np.log(mean(known["logs of ways"], ways))
        last_D = deviations(ways, last_base)
        ways = np.array([self._pooled(known["pools"][-1], last_base, last_D, doubt), *ways])
        seen = [(base, D)] * len(self.pools) + [(last_base, last_D)]
        result = mean(known["logs of last"], ways)
        return {
            "absent": absent,
            "P": P,
            "means": means,
            "ways": ways,
            "seen": seen,
            "result": result,
        }

    def _pooled(self, w, base, D, doubt):
        return (1.0 - doubt) * softmax(base + w[: len(D)] @ D + w[len(D) :]) + doubt / self.C

    def _end_block(self):
        """Take one Newton step per logistic regression."""
        for k in range(self.K):
            rows = [
                (np.zeros(self.C), np.column_stack([scores[k], np.eye(self.C)]), y, weight)
                for scores, _, y, weight in self.block
                if not np.isnan(scores[k, 0])
            ]
            newton_step(self.calibrations[k], self.precisions[k], rows)
        forgetting = [*(f for _, f in self.pools), 1.0]
        for j, (w, A) in enumerate(
            zip(self.weights_of_pools, self.precisions_of_pools, strict=True)
        ):
            rows = [
                (parts["seen"][j][0], np.hstack([parts["seen"][j][1].T, np.eye(self.C)]), y, weight)
                for _, parts, y, weight in self.block
            ]
            kept = forgetting[j] ** len(rows)
            A *= kept
            A += (1.0 - kept) * np.diag(self.priors[j])
            newton_step(w, A, rows)
        self.block = []


def newton_step(w, A, rows):
    """Step from w with the precision A, to which the rows (offset, features of classes) add."""
    gradient = np.zeros(len(w))
    for offset, Z, y, weight in rows:
        p = softmax(offset + Z @ w)
        gradient += weight * (p @ Z - Z[y])
        A += weight * (Z.T @ np.diag(p) @ Z - np.outer(p @ Z, p @ Z))
    step = np.linalg.solve(A, gradient)
    moves = [abs(Z @ step).max() for _, Z, _, _ in rows]
    w -= step / max([1.0, *moves])


def deviations(forecasts, base):
    """Return the features of a pool, one a row: those of forecasts (absent: None), and three."""
    rows = [np.zeros(len(base)) if p is None else np.log(p) - base for p in forecasts]
    p, others = np.exp(base), np.log(1.0 - np.exp(base))
    rows += [base - base.mean(), 4.0 * (p - 1.0 / len(base)), others.mean() - others]
    return np.clip(rows, -8.0, 8.0)


def mean(logs, forecasts):
    weights = np.exp(logs - logs.max())
    return weights @ np.array(forecasts) / weights.sum()


def softmax(z):
    p = np.exp(z - z.max())
    return p / p.sum()
