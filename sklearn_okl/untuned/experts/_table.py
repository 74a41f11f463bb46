"""The table of experts: what each of them is, how much it is heard, and how it fares."""

import numpy as np

from ._leaves import MEMBERS
from ._plan import WALKS, name_of


def table_of(experts, state, weights, losses):
    """Return what each expert is, its weight, and its mean loss."""
    born, members = experts.born(state), [*WALKS[: experts.inputs.n_walks]]
    for bank in state["banks"].values():
        members += bank["members"]
    others = _others(experts, state, members)
    # the last ones of the banks, born at this very round, have learnt nothing
    members = members[: len(born) - len(others)] + others
    names = np.array([name_of(**member) for member in members])
    columns = {name: np.array([member[name] for member in members]) for name in MEMBERS[0]}
    n_forecasts = np.maximum(state["rounds"][born] - experts.delay, 1)
    mean_weights = experts._mean_weights(state)[born]
    mean_weights[mean_weights == 0.0] = 1.0  # nothing was lost
    return (
        {"name": names}
        | columns
        | {
            "weight": weights[born] / weights[born].sum(),
            "mean_loss": losses[born] / n_forecasts / mean_weights,
            "n_rounds": state["rounds"][born],
        }
    )


def _others(experts, state, members):
    """Return who comes behind the banks: a line with effects of values, and trees."""
    there = experts.leaves.there(state["leaves"])
    of_line = experts.lines(state)[experts.leaves.line(state["leaves"]) :][:1]
    sees_lags = False, any(members[place]["lags"] for place in of_line)
    trees = [one | {"lags": sees} for one, sees in zip(MEMBERS, sees_lags, strict=True)]
    others = [one for one, is_there in zip(trees, there, strict=True) if is_there]
    if experts.effects.is_there(state["effects"]):
        effects = {"kernel": "effects", "lags": experts.lags > 0, "pairs": False, "trees": True}
        others.insert(0, MEMBERS[0] | effects | {"whole": True})
    return others
