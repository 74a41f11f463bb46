"""The mixtures of many small models, which are those of as many targets of one."""

import numpy as np

from ...aggregators import _limits
from ...aggregators._stacked_row import MixtureRow

_OF_BOA = "squares", "caps", "rates", "regrets"
_OF_STACK = "A", "P", "b", "theta", "squares"
_SETTLED = 1  # rounds after which no matrix of a regression is due


class ManyMixtures(MixtureRow):
    """Rows of forecasts of S models, a target each, that mixtures were asked for, and may learn.

    What is not among the `parts` of records is as in the state of the `first` one.
    """

    def __init__(self, mixture, first, parts, missing):
        self.parts = parts
        super().__init__(mixture, _as_one(first, parts), missing)
        self.own(self.state, is_copy=False)

    def known_limits(self):
        return _limits._with_margin(self.state["limits"], self.mixture.margin)

    def _leaves(self, which):
        """Note which are for blocks to see: such rows are left to each model itself."""
        self.led |= which
        return False

    def ask(self, F, asleep, scales, t):
        self.led = np.zeros(len(F), dtype=bool)
        with np.errstate(invalid="ignore"):  # the mean of nobody is none
            return super().ask(F, asleep, scales, t)

    def write(self, t):
        """Write into the records what was learnt of the rows of rounds t (S,)."""
        parts, state = self.parts, self.state
        self._rebuild(t)
        for name in ("experts", "last"):
            for part in _OF_BOA:
                parts["mixture", name, part][:, 0] = state[name][part]
        parts["mixture", "last", "usual"][:, 0] = state["last"]["usual"]
        for part in ("losses", "rounds"):
            known = state["last"]["likelihoods"][part]
            parts["mixture", "last", "likelihoods", part][:, 0] = known
            for i, one in enumerate(state["fading"]):
                parts["mixture", "fading", i, part][:, 0] = one[part]
        parts["mixture", "limits"][:, 0] = state["limits"]
        if "apart" in state:
            parts["mixture", "apart", "known"][:, 0] = state["apart"]["known"]
        stack = state["stacks"][0]
        for part in _OF_STACK:
            known = parts["mixture", "stacks", 0, part]
            known[:] = stack[part].reshape(known.shape)
        parts["mixture", "stacks", 0, "mass"][:] = stack["mass"]

    def _rebuild(self, t):
        """Do what is due of the matrices of regressions: models are not of the same age."""
        (known,), (stack,) = self.regressions, self.state["stacks"]
        refresh = known._refresh_interval()
        due = np.flatnonzero((t + 1) % refresh == 0)
        if len(due):
            some = {name: stack[name][due] for name in (*_OF_STACK, "alpha")} | {"t": refresh}
            known._keep_healthy(some, False)
            for name in ("A", "P", "theta"):
                stack[name][due] = some[name]


def _as_one(first, parts):
    """Return the state of a mixture of S targets."""
    n = len(parts["mixture", "limits"])

    def of(*path):
        return parts["mixture", *path][:, 0]

    boas = {
        name: first[name]
        | {part: of(name, part) for part in _OF_BOA}
        | {part: np.repeat(first[name][part], n, axis=0) for part in ("log_prior", "surprises")}
        | {"unheard": True}
        for name in ("experts", "last")
    }
    names = "losses", "rounds"
    boas["last"] |= {"usual": of("last", "usual")}
    boas["last"]["likelihoods"] = {name: of("last", "likelihoods", name) for name in names}
    stack = {part: of("stacks", 0, part) for part in _OF_STACK if part != "squares"}
    stack |= {"squares": parts["mixture", "stacks", 0, "squares"][:, 0]}
    stack |= {"alpha": np.repeat(first["stacks"][0]["alpha"], n), "t": _SETTLED}
    stack |= {"mass": parts["mixture", "stacks", 0, "mass"]}
    fading = [{name: of("fading", i, name) for name in names} for i in range(len(first["fading"]))]
    if "apart" in first:
        boas |= {"apart": {"known": of("apart", "known")}, "lagless": first["lagless"]}
    return boas | {"fading": fading, "stacks": [stack], "limits": of("limits")}
