"""A mixture of experts that forecast classes: calibrated, mixed in the log loss, pooled, and again.

The mean of probabilities under their likelihoods (``aggregators/_likelihoods.py``) loses over any
rounds at most ln K more than the best of K experts. So it stands at both ends here: over the
experts, and over all ways to combine them.
"""

import numpy as np

from .._delay import as_it_was, late
from .._tail import Shared
from ..features._units import repeated
from ._likelihoods import doubts, floored, learn_likelihoods, mean_under, runs_of
from ._probabilities import Calibrations, Frequencies, Pool, deviations, rows_to_block_end

_LAST_POOL = 10.0, 1.0  # ridge and forgetting of the pool of the ways


class ClassMixture:
    """Mixes experts that give scores to classes.

    The ways to do so are means under likelihoods of all rounds and fading ones, and pools of the
    experts that start from the first of the fading means; ways without experts are how often a
    class stays, and how often it comes. A pool of the ways, and the ways themselves, are mixed
    under the likelihoods of all rounds.

    Parameters
    ----------
    n_classes : int
    delay : int
        How many rounds late labels come.
    fadings : tuple of float
        Factors by which likelihoods fade per round, one at least, the slowest first.
    pools : tuple of (float, float)
        Ridge and forgetting of each pool of the experts.
    """

    def __init__(self, n_classes, delay, fadings, pools):
        self.n_classes, self.delay = n_classes, delay
        self.fadings = (1.0, *fadings)
        self.calibrations = Calibrations(n_classes)
        self.frequencies = Frequencies(n_classes, self.fadings[:2])
        self.pools = [Pool(n_classes, *pool) for pool in pools]
        self.last_pool = Pool(n_classes, *_LAST_POOL)
        self.n_ways = len(self.fadings) + len(pools) + self.frequencies.n_forecasts

    def start(self, n_experts):
        """Return the state before the first row."""
        n_all = n_experts + self.frequencies.n_forecasts
        known = {
            "counts": self.frequencies.start(),
            **{f"experts, {fading}": np.zeros(n_all) for fading in self.fadings},
            "ways": np.zeros(self.n_ways),
            "last": np.zeros(1 + self.n_ways),
        }
        parameters = {
            "calibrations": self.calibrations.start(n_experts),
            **{f"pool {j}": pool.start(n_all) for j, pool in enumerate(self.pools)},
            "last pool": self.last_pool.start(self.n_ways),
        }
        read = known | {name: part["theta"] for name, part in parameters.items()}
        late_ones = read.items() if self.delay else ()
        return {
            "t": 0,
            "labels": np.full(self.delay + 1, -1),  # the latest places, the oldest first
            "known": known,
            "parameters": parameters,
            "past": {name: np.repeat(part[None], self.delay, axis=0) for name, part in late_ones},
            "block": Shared(),  # the rows since the parameters changed last
        }

    def learn(self, state, S, y, heard, weights=None):
        """Learn rows; return the probabilities (n, C) forecast on the way.

        Parameters
        ----------
        state : dict
        S : ndarray of shape (n, K, C)
            Scores, each expert's between -1 and 1 where it knows its classes, NaN where it is not
            there.
        y : ndarray of int of shape (n,)
            Places of the classes.
        heard : ndarray of bool of shape (K,)
            Who has a say.
        weights : ndarray of shape (n,), default=None
            Of the rows, in all losses.
        """
        weights = np.ones(len(y)) if weights is None else weights
        P, low = np.empty((len(y), self.n_classes)), 0
        # who comes brings what the others have lost till then
        stops = [rows.stop for rows in runs_of(np.isnan(S[..., 0]))]
        while low < len(y):
            next_stop = next(stop for stop in stops if stop > low)
            rows = slice(low, min(next_stop, low + rows_to_block_end(state["t"])))
            side = _LearningClasses(self, state, y[rows], weights[rows])
            P[rows] = self._round(S[rows], heard, side)
            low = rows.stop
            if rows_to_block_end(state["t"] - 1) == 1:
                self._end_block(state)
        return P

    def forecast(self, state, S, heard, ago=0, last_ago=0):
        """Return probabilities (n, C), each as if of the next row, by what was known rounds ago."""
        return self._round(S, heard, _AskingClasses(self, state, len(S), ago, last_ago))

    def calibrated(self, state, S):
        """Return the probabilities (n, K, C) of each expert alone, by all that is known."""
        theta = state["parameters"]["calibrations"]["theta"]
        return floored(
            self.calibrations.ask(theta, S), doubts(np.full(len(S), state["t"]), self.n_classes)
        )

    def shares(self, state):
        """Return the share (C,) of the rows that each class had so far."""
        counts = state["known"]["counts"][0, 0]
        return counts / max(counts.sum(), 1.0)

    def _weights(self, state):
        """Return the weights (K,) of the experts under the likelihoods of all rounds."""
        known = state["known"]["experts, 1.0"][: -self.frequencies.n_forecasts]
        return np.exp(known - known.max())

    def _round(self, S, heard, side):
        """Return probabilities (n, C): a forecast is a round whose `side` asks its parts only."""
        absent = np.isnan(S[..., 0]) | ~heard  # (n, K)
        P = self.calibrations.ask(side.parameters("calibrations"), S)
        P = np.concatenate([P, self.frequencies.ask(*side.frequencies())], axis=1)
        P = floored(P, side.doubts)
        absent = np.hstack([absent, np.zeros((len(P), self.frequencies.n_forecasts), dtype=bool)])
        P[absent] = np.nan
        L = np.log(P)
        means = [side.mean(f"experts, {fading}", fading, P, absent) for fading in self.fadings]
        base = np.log(means[1])
        D = deviations(L, base)
        pools = [
            floored(pool.ask(side.parameters(f"pool {j}"), base, D), side.doubts)
            for j, pool in enumerate(self.pools)
        ]
        n_naive = self.frequencies.n_forecasts
        ways = np.concatenate([np.stack([*means, *pools], axis=1), P[:, -n_naive:]], axis=1)
        logs = np.log(ways)
        last_base = np.log(side.mean("ways", self.fadings[1], ways))
        last_D = deviations(logs, last_base)
        last = floored(
            self.last_pool.ask(side.parameters("last pool"), last_base, last_D), side.doubts
        )
        ways = np.concatenate([last[:, None], ways], axis=1)
        side.keep(S=S, base=base, D=D, last_base=last_base, last_D=last_D)
        return side.mean("last", 1.0, ways)

    def _end_block(self, state):
        """Let the parameters learn the block."""
        block, parameters = state["block"], state["parameters"]
        learners = {"calibrations": (self.calibrations, ["S"])}
        learners |= {f"pool {j}": (pool, ["base", "D"]) for j, pool in enumerate(self.pools)}
        learners["last pool"] = self.last_pool, ["last_base", "last_D"]
        for name, (learner, seen) in learners.items():
            rows = [block[part] for part in (*seen, "y", "weights")]
            parameters[name] = learner.learn(parameters[name], *rows)
        state["block"] = Shared()


def is_sound(state):
    """Tell whether the rows that wait in a mixture, as of one from a file, are its own."""
    n_classes, block = state["known"]["counts"].shape[-1], state["block"]
    if not _are_places(state["labels"], -1, n_classes):
        return False
    if not block:
        return True
    y, parameters = block["y"], state["parameters"]
    pools = {name: "D" for name in parameters if name.startswith("pool")} | {"last pool": "last_D"}
    n_experts = len(parameters["calibrations"]["theta"])
    return bool(
        _are_places(y, 0, n_classes)
        and np.shape(block["weights"]) == y.shape
        and np.shape(block["S"]) == (len(y), n_experts, n_classes)
        and all(np.shape(block[name]) == (len(y), n_classes) for name in ("base", "last_base"))
        and all(
            np.shape(block[seen]) == (len(y), len(parameters[name]["theta"]) - n_classes, n_classes)
            for name, seen in pools.items()
        )
    )


def _are_places(y, least, n_classes):
    """Tell whether an array (n,) holds places of classes."""
    return y.ndim == 1 and y.dtype.kind == "i" and bool(((least <= y) & (y < n_classes)).all())


class _LearningClasses:
    """The side of a round that learns: what each part knows before each row, which it is taught."""

    def __init__(self, mixture, state, y, weights):
        self._state, self._y, self._weights = state, y, weights
        self._fadings, self._frequencies = mixture.fadings, mixture.frequencies
        n_known = state["t"] + np.arange(len(y)) - mixture.delay
        self.doubts = doubts(n_known, mixture.n_classes)

    def parameters(self, name):
        theta = self._state["parameters"][name]["theta"]
        return self._read(name, repeated(theta, len(self._y))) if self._state["past"] else theta

    def frequencies(self):
        state, y = self._state, self._y
        labels = np.concatenate([state["labels"], y])
        last, state["labels"] = labels[: len(y)], labels[len(y) :]
        counts = self._frequencies.path(state["known"]["counts"], y, last)
        state["known"]["counts"] = counts[-1].copy()
        return self._read("counts", counts[:-1]), last

    def mean(self, name, fading, P, absent=None):
        """Return the mean (n, C) of P (n, K, C) under likelihoods, which learn."""
        known, past = self._state["known"], self._state["past"].get(name, ())
        mean, path = learn_likelihoods(
            known[name],
            P,
            self._y,
            absent=absent,
            fading=fading,
            weights=self._weights,
            past=past,
        )
        known[name] = path[-1] - path[-1].max()
        self._read(name, path[:-1])
        return mean

    def keep(self, **block):
        """Keep rows until the parameters learn them."""
        state = self._state
        rows = block | {"y": self._y, "weights": self._weights}
        if state["block"]:
            both = state["block"].items()
            rows = {name: np.concatenate([part, rows[name]]) for name, part in both}
        state["block"] = Shared(rows)
        state["t"] += len(self._y)

    def _read(self, name, path):
        if not self._state["past"]:
            return path
        read, self._state["past"][name] = late(path, self._state["past"][name])
        return read


class _AskingClasses:
    """The side of a round that asks only, by what was known some rounds ago."""

    def __init__(self, mixture, state, n, ago, last_ago):
        self._state, self._n, self._ago = state, n, ago
        self._frequencies = mixture.frequencies
        self._last = state["labels"][mixture.delay - last_ago]  # one number, or one a row
        self.doubts = doubts(np.full(n, state["t"] - ago), mixture.n_classes)

    def parameters(self, name):
        return self._known(name, self._state["parameters"][name]["theta"])

    def frequencies(self):
        counts = self._known("counts", self._state["known"]["counts"])
        return repeated(counts, self._n), np.broadcast_to(self._last, self._n)

    def mean(self, name, fading, P, absent=None):
        return mean_under(self._known(name, self._state["known"][name]), P, absent)

    def keep(self, **block):
        """Nothing is learnt."""

    def _known(self, name, now):
        return as_it_was(now, self._state["past"].get(name, ()), self._ago)
