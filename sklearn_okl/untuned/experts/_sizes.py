"""The sizes of errors as a function of the row: a bank of its own on what the experts see.

It is taught how far the forecasts of the mixture were off, as the logarithm of an error over the
running size of the errors before it: what is 0 where rows say nothing. A few smooth kernels will
do, as such logarithms are mostly noise. They see what the experts see and besides, of each target,
its forecast and how the errors of the latest ten rows, and of all, compare with those of the latest
fifty. Their means under likelihoods that fade are mixed with 0. Nothing here is read by forecasts.
"""

import numpy as np

from ..._delay import as_it_was, late
from ...aggregators._fading_means import (
    known_likelihoods,
    learn_likelihoods,
    likelihoods_of,
    start_likelihoods,
)
from ...base._bank import forecast_bank, learn_bank
from ...features._moments import faded, paths
from ...features._units import deviations, mean_and_variance
from ._banks import MaskedFeatures, awake, forget_target, learner_of, start_bank
from ._plan import _PLAIN, Bank, shape_of

KERNELS = (("laplacian", 0.15), ("rbf", 0.06), ("laplacian", 0.5), ("rbf", 0.2))
_ALPHA = 3.0  # their ridge
_MEMORIES = 0.98, 0.9, 1.0  # of the running sizes: about the latest fifty errors, ten, and all
_FADED = np.reshape(_MEMORIES, (-1, 1, 1))
_FADING = 0.998  # of the likelihoods by which kernels are mixed
_USUAL = np.log(0.6)  # about the mean logarithm of an error over the mean error: taught as 0
_LEAST, _MOST = np.log(0.1) - _USUAL, np.log(20.0) - _USUAL  # an error of 0 is no small size
_CLIP = 5.0  # deviations at which forecasts count as no farther, as inputs do
_APART = 3.0  # logarithms at which running sizes count as no farther from each other
_SOURCE = 39  # of seeds: its draws are none of those of the experts


class RowSizes:
    """Learns and forecasts the sizes of the errors of q targets.

    Each kernel has `n_frequencies`; the kernels forget as all experts do, or, with None, nothing.
    """

    def __init__(self, n_targets, n_lag_columns, delay, n_frequencies, forgetting):
        self.n_targets, self.n_lag_columns, self.delay = n_targets, n_lag_columns, delay
        self.n_frequencies, self.forgetting = n_frequencies, forgetting

    def start(self, n_features, seed):
        """Return the state before the first row, of so many features besides the lags."""
        q, delay = self.n_targets, self.delay
        n_inputs = n_features + self.n_lag_columns
        shape = shape_of(n_inputs + 3 * q, 0, self.n_frequencies, self.forgetting or 1.0)
        members = [
            {"kernel": kernel, "bandwidth": bandwidth, "lags": True, "alpha": _ALPHA} | _PLAIN
            for kernel, bandwidth in KERNELS
        ]
        rng = np.random.RandomState([seed, _SOURCE])
        return {
            "bank": start_bank(Bank(shape, members, len(members)), rng, delay, q),
            "mixture": start_likelihoods(q, len(members) + 1, delay),
            "moments": {name: np.zeros(q) for name in ("weights", "sums", "squares")},
            "running": np.zeros((len(_MEMORIES), 2, q)),  # faded sums of errors, and of weights
            # centers and scales of forecasts and running sizes before each of the latest rounds
            "known": np.zeros((delay, 2 + len(_MEMORIES), q)),
        }

    def learn(self, state, seen, forecasts, u, n_first, run, weights=None):
        """Learn what forecasts (n, q) have missed; keep the sizes (n, q) issued on the way.

        The first `n_first` of the forecasts are none.
        """
        counted = np.ones(len(u)) if weights is None else weights.copy()
        counted[:n_first] = 0.0
        errors = np.abs(u - forecasts)
        path = self._learn_known(state, forecasts, errors, counted)
        known, state["known"] = late(path, state["known"])
        U, running = self._inputs(state, seen, forecasts, known)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = _between(np.log(errors / running) - _USUAL, _LEAST, _MOST)
        says = (running > 0.0).all(axis=1)  # nothing is said before there is an error
        taught, counted = np.where(says[:, None], logs, 0.0), np.where(says, counted, 0.0)
        bank, of_rows = state["bank"], () if counted.all() and weights is None else (counted,)
        expert = learner_of(bank)
        F = _with_nothing(learn_bank(MaskedFeatures, expert, bank, U, taught, run, *of_rows))
        known = learn_likelihoods(
            state["mixture"], np.square(F - taught[..., None]), _FADING, counted
        )
        state["issued"] = running * np.exp(_heard(F, *known))

    def learn_row(self, state, seen, forecasts, u, run, weight=None):
        """Do what `learn` does with forecasts (q,) of a row, in few calls: no label is late."""
        errors, known = np.abs(u - forecasts), self._known(state)
        counted = 1.0 if weight is None else weight
        self._learn_forecasts(state["moments"], forecasts)
        terms = np.array([counted * errors, np.full(len(u), counted)])
        state["running"] = terms + _FADED * state["running"]
        U, (running,) = self._inputs(state, seen, forecasts[None], known[None])
        says = np.minimum.reduce(running) > 0.0  # nothing is said before there is an error
        taught = np.zeros((1, len(u)))
        if says:
            with np.errstate(divide="ignore"):
                taught[0] = np.log(errors / running) - _USUAL
            taught = _between(taught, _LEAST, _MOST)
        counted = counted if says else 0.0
        bank, of_row = state["bank"], () if says and weight is None else (np.array([counted]),)
        expert = learner_of(bank)
        F = _with_nothing(learn_bank(MaskedFeatures, expert, bank, U, taught, run, *of_row))
        mixture, squares = state["mixture"], np.square(F[0] - taught.T)
        losses, rounds = mixture["losses"], mixture["rounds"]
        mixture["losses"] = counted * squares + _FADING * losses
        mixture["rounds"] = counted + _FADING * rounds
        state["issued"] = running * np.exp(_heard(F, losses, rounds))

    def forecast(self, state, seen, forecasts, ago=0, of_inputs=0):
        """Return the sizes (n, q) of errors of forecasts by what was known some rounds ago."""
        known = as_it_was(self._known(state), state["known"], of_inputs)
        known = np.broadcast_to(known, (len(forecasts), *known.shape[-2:]))
        U, running = self._inputs(state, seen, forecasts, known)
        expert, bank = learner_of(state["bank"]), awake(state["bank"], ago)
        F = _with_nothing(forecast_bank(MaskedFeatures, expert, bank, U))
        return running * np.exp(_heard(F, *known_likelihoods(state["mixture"], ago)))

    def forget_target(self, state, j):
        """Forget what a target has missed."""
        forget_target(state["bank"], j)
        mixture = state["mixture"]
        for part in (mixture["losses"], mixture["rounds"], *mixture["past"].values()):
            part[..., j, :] = 0.0
        for part in (*state["moments"].values(), state["running"], state["known"]):
            part[..., j] = 0.0

    def close(self, state, grows=False):
        """Share large arrays among copies of a state."""
        learner_of(state["bank"])._close(state["bank"]["experts"], grows)

    def _learn_known(self, state, forecasts, errors, counted):
        """Learn moments and running sizes; return what is known (n, 5, q) before each row."""
        moments = state["moments"]
        sums = paths(forecasts, *moments.values())
        moments.update(zip(moments, [part[-1] for part in sums], strict=True))
        terms = np.empty((len(errors), 2, errors.shape[1]))
        terms[:, 1] = counted[:, None]
        terms[:, 0] = terms[:, 1] * errors
        known = np.empty((len(errors), 2 + len(_MEMORIES), errors.shape[1]))
        known[:, 0], known[:, 1] = _centers_and_scales(*[part[:-1] for part in sums])
        running = _running(state["running"], terms)
        known[:, 2:], state["running"] = _means(running[:-1]), running[-1].copy()
        return known

    def _learn_forecasts(self, moments, forecasts):
        """Learn forecasts (q,) of a row: what `paths` does with one, in few calls."""
        weights, sums, squares = moments.values()
        after, total = weights + 1.0, sums + forecasts
        terms = forecasts - sums / np.maximum(weights, 1.0)
        terms *= forecasts - total / np.maximum(after, 1.0)
        moments.update(zip(moments, (after, total, squares + terms), strict=True))

    def _known(self, state):
        """Return what is known now, (5, q)."""
        of_forecasts = _centers_and_scales(*state["moments"].values())
        return np.array([*of_forecasts, *_means(state["running"])])

    def _inputs(self, state, seen, forecasts, known):
        """Return what the kernels see of rows, and the running sizes (n, q) of errors."""
        n_inputs = state["bank"]["features"]["frequencies"].shape[1] - 3 * self.n_targets
        centers, scales, running, brief, long = known.swapaxes(0, 1)
        far = (forecasts - centers) / np.where(scales > 0.0, scales, np.inf)
        parts = [seen.inputs[:, :n_inputs], _between(far, -_CLIP, _CLIP)]  # ranks are behind these
        with np.errstate(divide="ignore", invalid="ignore"):
            for other in (brief, long):
                apart = np.where(running > 0.0, np.log(other / running), 0.0)
                parts.append(_between(apart, -_APART, _APART))
        U = np.concatenate(parts, axis=1)
        if seen.spreads is None:
            return U, running
        spreads = np.zeros_like(U)
        spreads[:, :n_inputs] = seen.spreads[:, :n_inputs]
        return np.hstack([U, spreads]), running


def _running(sums, terms):
    """Return the sums (n + 1, 3, 2, q) of each memory before terms (n, 2, q), and after them."""
    if len(terms) == 1:  # in few calls
        return np.array([sums, terms[0] + _FADED * sums])
    of_memories = zip(sums, _MEMORIES, strict=True)
    return np.stack([faded(terms, own, fading) for own, fading in of_memories], axis=1)


def _centers_and_scales(weights, sums, squares):
    centers, variances = mean_and_variance(weights, sums, squares)
    return centers, deviations(centers, variances)


def _means(sums):
    """Return means (..., q) of sums and their weights (..., 2, q), 0 of nothing."""
    weights = sums[..., 1, :]
    return sums[..., 0, :] / np.where(weights > 0.0, weights, 1.0)


def _between(values, low, high):
    """Return values within bounds: `numpy.clip` takes longer to get ready."""
    return np.minimum(np.maximum(values, low), high)


def _heard(F, losses, rounds):
    """Return the means (n, q) of logarithms (n, q, K) under likelihoods: `means_of` of no gaps."""
    weights = likelihoods_of(losses, rounds)
    return np.add.reduce(weights * F, axis=-1) / np.add.reduce(weights, axis=-1)


def _with_nothing(F):
    """Return logarithms (n, K, q) as (n, q, K + 1), within what they can be, and 0 besides."""
    n, n_kernels, q = F.shape
    logs = np.zeros((n, q, n_kernels + 1))
    logs[..., :-1] = _between(F.swapaxes(1, 2), _LEAST, _MOST)
    return logs
