"""Targets that are numbers: experts are scored by squared errors, and each target has a mixture.

What is decided once for all targets, such as who has offspring, goes by the mean of what it means
to them, in units of their variances.
"""

from functools import partial

import numpy as np

from ...aggregators import StackedBOARegressor, _limits
from ...aggregators._sides import regression
from ...features._units import deviations, mean_and_variance
from ._banks import inputs_of
from ._boosting import Boosting
from ._cells import SHARE, Cells
from ._logarithms import Logarithms
from ._neighbours import Neighbours
from ._plan import LINK, WALKS
from ._told import ErrorsTold


class NumberTargets:
    """Scores experts on q numbers a row, and mixes and boosts their forecasts.

    Parameters
    ----------
    n_targets : int
    budget, lags, delay, constants : object
        As of `Experts`.
    """

    own_gaps = True  # what missing values say is a number for each target
    first_counts = True  # the very first row is forecast by the origin
    takes_rows = True  # whether `ExpertsRow` knows how they are mixed

    def __init__(self, n_targets, budget, lags, delay, constants):
        self.n_targets, self.n_lags, self.delay = n_targets, lags, delay
        self.budget = budget
        self.n_walks = len(WALKS) * (lags > 0)
        self.shape = (n_targets,)  # of the losses of an expert
        self.mixture = StackedBOARegressor(
            fadings=constants.fadings,
            stacks=constants.stacks[: budget.n_stacks],
            n_direct=self.n_walks,
            margin=constants.margin,
        )
        self.boosting = Boosting(
            LINK, constants.link_stride, constants.link_share, constants.burn_in, delay
        )
        of_near = constants.neighbours, budget.n_near, lags * n_targets
        tell = ErrorsTold(constants.link_share, delay)
        self.neighbours = Neighbours(*of_near, tell, constants.burn_in, delay)
        starts = constants.fence.block, *constants.births
        self.logarithms = Logarithms(n_targets, delay, budget.logarithms, starts)
        self.n_taught = n_targets * (1 + budget.logarithms)
        self.begins_of_logarithms = self.logarithms.begins
        self.cells = Cells(ErrorsTold(SHARE, delay), delay, not budget.compact)

    def start(self, n_experts, n_columns, seed, n_codes, ordered=True):
        """Return the state before the first row; similar rows see lags where these are ordered."""
        return {
            # for each target an expert that sees no lags, by whose forecasts new units are known
            "reference": np.full(self.n_targets, self.n_walks),
            "mixture": self.mixture._start_targets(self.n_targets, n_experts, self.delay),
            "boosting": {},  # nothing before the first birth
            "logarithms": {},  # nor before there is a block of targets
            "cells": self.cells.start(*n_codes[:2], self.n_targets),
            "near": self.neighbours.start(n_columns, self.n_targets, seed, ordered),
        }

    def no_targets(self):
        """Return what is kept of the latest targets, before the first one."""
        Y = np.empty((0, self.n_targets))
        return {"y": Y, "faulty": Y.astype(bool)}

    def targets(self, u):
        """Return what the experts learn: the targets (n, q) themselves."""
        return u

    def taught(self, state, u):
        """Return what banks learn (n, n_taught) of targets u (n, q): logarithms of them as well."""
        return self.logarithms.taught(state["logarithms"], u)

    def begin_logarithms(self, state):
        """Let logarithms begin, once there are targets that tell what they look like."""
        if state["logarithms"]:
            return
        moments, mixture = state["inputs"]["targets"], state["mixture"]
        means = mean_and_variance(**{k: moments[k] for k in ("weights", "sums", "squares")})[0]
        means = np.clip(means, *mixture["limits"].T[:2])
        n_experts = len(state["rounds"])
        state["logarithms"] = self.logarithms.start(n_experts, mixture["limits"], means)
        self.logarithms.begin(state["logarithms"], state["banks"].values(), means)

    def as_targets(self, forecasts):
        """Return forecasts of the whole (n, q) as those of targets."""
        return forecasts

    def limits_of_heard(self, state, u=None, ago=0):
        """Return limits (n, q, 3) of what is heard before rows of targets u, or (1, q, 3) of any.

        Those of the mixture: a line may be far off where a row is.
        """
        if u is None:
            return self.mixture._known_limits(state["mixture"], ago)[None]
        return self.mixture._learn_limits(dict(state["mixture"]), u)

    def squares(self, errors):
        """Return what errors (q, n, K) count in the losses."""
        return np.square(errors)

    def learn(self, state, F, u, seen, heard, weights=None):
        """Learn targets u (n, q), of which forecasts are F (q, n, K); return those of the whole."""
        of_rows = F.transpose(1, 0, 2), u, seen.scale, np.array(heard), weights
        forecasts, limits = self.mixture._learn_rows(state["mixture"], *of_rows)
        sane = partial(_limits.sane, limits=limits)
        if state["boosting"]:
            U = inputs_of(state["boosting"]["bank"], seen)
            forecasts = self.boosting.learn(state["boosting"], U, forecasts, u, sane, weights)
        if state["near"]:
            Z = self.compared(state, seen.inputs)
            forecasts = self.neighbours.learn(state["near"], Z, forecasts, u, sane, weights)
        if state["cells"]:
            of_rows = seen.codes, forecasts, u, sane, weights
            forecasts = self.cells.learn(state["cells"], *of_rows)
        if state["logarithms"]:
            of_rows = forecasts, F, seen.logs, np.array(heard), self.taught(state, u)
            more = seen.scale, sane, weights
            forecasts = self.logarithms.learn(state["logarithms"], *of_rows, *more)
        return forecasts

    def forecast(self, state, F, seen, heard, ago, of_inputs):
        """Return forecasts (n, q) by what was known some rounds ago; learns nothing."""
        return self._forecasts(state, F, seen, heard, ago)[-1]

    def told(self, state, F, seen, heard):
        """Return what the errors of rows that are alike add (n, q) now, and what logarithms do."""
        forecasts, corrected, last = self._forecasts(state, F, seen, heard)
        of_logarithms = [last - corrected] if state["logarithms"] else []
        return [corrected - forecasts, *of_logarithms]

    def _forecasts(self, state, F, seen, heard, ago=0):
        """Return forecasts (n, q), corrected by rows that are alike, and by logarithms."""
        of_rows = F.transpose(1, 0, 2), seen.scale, np.array(heard), ago
        forecasts, limits = self.mixture._forecast_rows(state["mixture"], *of_rows)
        sane = partial(_limits.sane, limits=limits)
        if state["boosting"]:
            U = inputs_of(state["boosting"]["bank"], seen)
            forecasts = self.boosting.forecast(state["boosting"], U, forecasts, sane, ago)
        corrected = forecasts
        if state["near"]:
            of_rows = self.compared(state, seen.inputs), corrected, sane, ago
            corrected = self.neighbours.forecast(state["near"], *of_rows)
        if state["cells"]:
            corrected = self.cells.forecast(state["cells"], seen.codes, corrected, sane, ago)
        last = corrected
        if state["logarithms"]:
            of_rows = corrected, F, seen.logs, np.array(heard), sane, ago
            last = self.logarithms.forecast(state["logarithms"], *of_rows)
        return forecasts, corrected, last

    def compared(self, state, inputs):
        """Return by what rows are near to each other, as kernels see it: ranks, where there are.

        As moments and ranks move, rows of long ago are a little farther off: errors change.
        """
        low = inputs.shape[1] - inputs.shape[1] // (1 + self.budget.ranks)
        return inputs[:, low : low + self.neighbours.width(state["near"])]

    def lines(self, state, F, seen, heard):
        """Return what forecasts (q, n, K) are times to be the whole, but for clips and shrinkage.

        Weights (q, K) of the experts, those (q, L) of the links' kernels, or None where there are
        none, and constants (q,).
        """
        scales = np.broadcast_to(seen.scale, (1, self.n_targets))[0]
        of_experts = np.isnan(F[:, 0]), scales, np.array(heard)
        weights = self.mixture._lines(state["mixture"], *of_experts)
        links = self.boosting.lines(state["boosting"]) if state["boosting"] else None
        return weights, links, np.zeros(len(F))

    def of_each(self, state, F):
        """Return the forecasts (n, K, q) of each expert alone, of F (q, n, K)."""
        return F.transpose(1, 2, 0)

    def weights(self, state):
        """Return the weights (q, K) of the experts in the mixtures."""
        return self.mixture._weights(state["mixture"])

    def level(self, state):
        """Return the medians (q,) of the latest targets."""
        return np.array([guard["level"] for guard in state["targets"]])

    def shares(self, state):
        """Return by how much each target (q,) counts where one thing is done for all, 1 on average.

        A constant target counts for nothing, all others by the inverse of their variances: their
        units say nothing of what they are worth.
        """
        moments = state["inputs"]["targets"]
        sums = {name: moments[name] for name in ("weights", "sums", "squares")}
        scales = deviations(*mean_and_variance(**sums))
        known = scales > 0.0
        if not known.any():
            return np.ones(len(scales))
        least = scales[known].min()
        shares = np.where(known, np.square(least / np.where(known, scales, 1.0)), 0.0)
        return shares / shares.mean()

    def pack(self, state):
        """Let the mixture be as small as it can be from call to call."""
        for stack, one in zip(self.mixture.stacks, state["mixture"]["stacks"], strict=True):
            regression(*stack, self.delay > 0)._open(one)  # rows that wait take more than sums

    def forget_target(self, state, j, latest):
        """Forget all of target j, of which these are the latest."""
        state["losses"][j] = 0.0
        self.mixture._forget_target(state["mixture"], j)
        if state["logarithms"]:
            self.logarithms.forget_target(state["logarithms"], j, latest)
        if state["boosting"]:
            self.boosting.forget_target(state["boosting"], j)
        if state["cells"]:
            self.cells.forget_target(state["cells"], j)
        if state["near"]:
            self.neighbours.forget_target(state["near"], j)
