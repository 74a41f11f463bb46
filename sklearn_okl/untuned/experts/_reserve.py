"""Kernels in reserve: those of a model without lags, for rows of which lags tell nothing.

Half of the kernels see the latest targets, and leave as much less of the work for columns. So in
the first rounds the kernels of a model without lags are experts, too. Then the losses so far of
kernels that differ in nothing but lags say who goes on: those in reserve take the places of all
kernels, or leave. Of the linear experts some go on to see lags.
"""

import numpy as np

from ._banks import start_bank
from ._plan import BORN, IN_RESERVE


def with_reserves(plans, others):
    """Return plans of banks by name, those that stand by before those to be born."""
    standing_by = {name + IN_RESERVE: bank for name, bank in others.items() if name != BORN}
    return (
        {name: bank for name, bank in plans.items() if name != BORN}
        | standing_by
        | {BORN: plans[BORN]}
    )


def stand_by(banks):
    """Whether there are banks in reserve."""
    return any(name.endswith(IN_RESERVE) for name in banks)


def is_better_without(losses, members):
    """Tell whether the best kernel without lags is better than the best with them.

    Only those count that have a counterpart, which differs in nothing but lags.

    Parameters
    ----------
    losses : ndarray of shape (n_members,)
    members : sequence of dict
    """
    named = [{**member, "lags": None} for member in members]
    paired = np.array([named.count(one) == 2 for one in named])
    see = np.array([member["lags"] for member in members])
    if not paired.any():
        return False
    return bool(losses[paired & ~see].min() < losses[paired & see].min())


def without_reserves(banks, places):
    """Return the banks that go on where nobody takes over, and where their experts were."""
    names = [name for name in banks if not name.endswith(IN_RESERVE)]
    return {name: banks[name] for name in names}, np.concatenate(
        [np.arange(*places[name]) for name in names]
    )


def taken_over(banks, places, born, *of_banks):
    """Return the banks that go on where those in reserve take over, and where their experts were.

    Parameters
    ----------
    banks : dict of dict
    places : dict of (int, int)
        Where the room of each bank begins and ends, among the experts of all.
    born : Bank
        The plan of kernels to be born, of whom there is none yet.
    *of_banks : tuple
        What `start_bank` asks for.
    """
    found, order = {}, []
    for name in banks:
        if name.endswith(IN_RESERVE):
            continue
        source = name + IN_RESERVE if name + IN_RESERVE in banks else name
        found[name], (low, high) = banks[source], places[source]
        if name == BORN:
            high = low + min(high - low, born.room)
            found[name] = start_bank(born._replace(room=high - low), *of_banks)
        order.append(np.arange(low, high))
    return found, np.concatenate(order)
