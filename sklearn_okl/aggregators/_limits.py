"""How far forecasts may leave the range of the targets: by a margin, or as far as who knows why.

If their order says nothing, a target is beyond all n before it with a chance of 2 / (n + 1). That
an expert whose errors are usually s is off by d has, with heavy tails, one of the order of
(s / d)^2. So where the best expert of late forecasts d beyond the range, the odds that it is right
are some 2 d^2 / (n s^2), times what such forecasts have shown before, which persists. Where they
are in its favour the limits give way to it. What is farther off than several ranges is a fault.

Where all experts are beyond the limits, two at least and on one side, these give way to the nearest
one, by odds of their own: what all expect is no whim of one of them, unless they err alike.
"""

import numpy as np
from scipy.special import expit

from .._delay import as_it_was, late
from ..features._moments import faded
from ._fading_means import known_likelihoods

_KNOWN = 60.0  # faded rounds from which on losses say what is usual
_ODDS = -12.0, 3.0  # limits of the log odds that are kept
_BOUND = 3.0  # log odds that a round counts at most
_OF_ALL = 4.0  # log odds of all experts, to which those that are kept come
_MOST = 4.0  # ranges beyond the limits, from which on nobody leads
_MOST_OF_ALL = 16.0  # and from which on all together are wrong, as where no feed works
_TINY = np.finfo(float).tiny


def start(n_targets, delay):
    """Return what is known of the targets' range before the first row."""
    known = {
        "limits": np.zeros((n_targets, 3)),  # lows, highs, numbers of rows learnt
        "past": np.zeros((delay, n_targets, 3)),  # those before the latest rounds
        # log odds that forecasts beyond the range are right: of the best one, and of all of them
        "beyond": {"odds": np.zeros((n_targets, 2)), "past": np.zeros((delay, n_targets, 2))},
    }
    if delay:  # how far targets have been below and above what was known of their range
        off = np.zeros((n_targets, 2))
        known["left"] = {"off": off, "past": np.zeros((delay, *off.shape))}
    return known


def learn(state, y, margin):
    """Learn targets; return the limits known before each: low, high and number (n, q, 3)."""
    limits = np.ones((len(y) + 1, y.shape[1], 3))
    limits[0], limits[1:, :, :2] = state["limits"], y[..., None]
    for k, extend in enumerate((np.minimum, np.maximum, np.add)):
        extend.accumulate(limits[..., k], out=limits[..., k])
    state["limits"] = limits[-1].copy()
    limits, state["past"] = late(limits[:-1], state["past"])
    if "left" not in state:
        return _with_margin(limits, margin)
    left, state["left"] = _learn_left(state["left"], y, limits)
    return _with_margin(limits, margin, left)


def known(state, margin, ago):
    """Return the limits (q, 3) that were known some rounds ago."""
    limits = as_it_was(state["limits"], state["past"], ago)
    if "left" not in state:
        return _with_margin(limits, margin)
    left = state["left"]
    return _with_margin(limits, margin, as_it_was(left["off"], left["past"], ago))


def _learn_left(state, y, limits):
    """Return how far targets (n, q, 2) have left limits (n, q, 3), as known, and the new state."""
    delay = len(state["past"])
    off = np.stack([limits[..., 0] - y, y - limits[..., 1]], axis=-1)
    off = np.maximum(off, 0.0) * (limits[..., 2:] > 0.0) / delay
    path = faded(off, state["off"], 1.0 - 1.0 / delay)
    known, past = late(path[:-1], state["past"])
    return known, {"off": path[-1].copy(), "past": past}


def _with_margin(limits, margin, left=None):
    limits = limits.copy()
    margin = margin * (limits[..., 1] - limits[..., 0])
    limits[..., 0] -= margin
    limits[..., 1] += margin
    if left is not None:
        limits[..., 0] -= left[..., 0]
        limits[..., 1] += left[..., 1]
    return limits


def sane(F, limits):
    """Clip forecasts (..., K) to limits (..., 3)."""
    if limits.size == 3:  # of one target in one row numbers will do
        low, high = limits.item(0), limits.item(1)
    else:
        low, high = limits[..., :1], limits[..., 1:2]
    nearer = np.maximum(F, low)
    return np.minimum(nearer, high, out=nearer)


def nearly_sane(F, limits):
    """Clip forecasts (..., K) to a range beyond limits (..., 3)."""
    return sane(F, _with_margin(limits, 1.0))


def reaching(limits, forecasts):
    """Return limits (..., 3) that hold forecasts (...)."""
    limits = limits.copy()
    np.minimum(limits[..., 0], forecasts, out=limits[..., 0])
    np.maximum(limits[..., 1], forecasts, out=limits[..., 1])
    return limits


def are_beyond(F, limits):
    """Tell which forecasts (..., K) are beyond limits (..., 3); those of who sleeps are not."""
    return (limits[..., :1] > F) | (limits[..., 1:2] < F)


def leading(F, beyond, losses, rounds):
    """Tell where (..., q) the best of the experts F (..., q, K) of late is beyond the limits."""
    best = np.where(np.isnan(F), np.inf, losses).argmin(axis=-1)[..., None]
    best = np.broadcast_to(best, (*F.shape[:-1], 1))
    return (np.take_along_axis(beyond, best, axis=-1) & (rounds >= _KNOWN))[..., 0], best


def _are_agreed(F, beyond):
    """Tell where (..., q) all experts F (..., q, K) that are awake, two at least, are beyond."""
    asleep = np.isnan(F)
    return (beyond | asleep).all(axis=-1) & ((~asleep).sum(axis=-1) > 1)


def may_give_way(F, beyond, losses, rounds):
    """Tell where (..., q) limits may give way: to the best expert of late, or to all of them."""
    return leading(F, beyond, losses, rounds)[0] | _are_agreed(F, beyond)


def _nearest(F, low, high):
    """Return how far (..., q) the nearest one of all who agree is beyond the limits, 0 for none."""
    is_many = (~np.isnan(F)).sum(axis=-1) > 1
    below, above = low - np.fmax.reduce(F, axis=-1), np.fmin.reduce(F, axis=-1) - high
    most = _MOST_OF_ALL * (high - low)
    below, above = (
        np.where(is_many & (off > 0.0) & (off <= most), off, 0.0) for off in (below, above)
    )
    return above - below


def given_way(state, F, limits, is_led, best, ago):
    """Return limits (..., q, 3) that give way to experts, and what that was decided by.

    These are forecasts (..., q, 2) of the best expert and of the nearest one of all, the squares of
    the usual errors of the best (..., q), and where it leads, and all are agreed (..., q, 2).
    """
    asked = np.take_along_axis(F, best, axis=-1)[..., 0]
    of_best = [
        np.take_along_axis(np.broadcast_to(sums, F.shape), best, axis=-1) / np.maximum(n, _TINY)
        for sums, n in (known_likelihoods(one, ago) for one in state["fading"])
    ]
    squares = np.maximum(np.minimum.reduce(of_best)[..., 0], _TINY)
    low, high, n = np.moveaxis(limits, -1, 0)
    off = asked - np.clip(asked, low, high)
    is_led = is_led & (np.abs(off) <= _MOST * (high - low))
    odds = as_it_was(state["beyond"]["odds"], state["beyond"]["past"], ago)
    with np.errstate(divide="ignore"):
        far = 2.0 * np.log(np.abs(off)) - np.log(0.5 * np.maximum(n, 1.0) * squares)
    led, nearest = np.where(is_led, off, 0.0), _nearest(F, low, high)
    of_both = _share(odds[..., 0] + far) * led, _share(odds[..., 1] + _OF_ALL) * nearest
    asked = np.stack([asked, np.where(nearest < 0.0, low, high) + nearest], axis=-1)
    low = low + np.minimum(np.minimum(*of_both), 0.0)
    high = high + np.maximum(np.maximum(*of_both), 0.0)
    limits = np.stack([low, high, np.broadcast_to(n, low.shape)], axis=-1)
    return limits, (asked, squares, np.stack([is_led, nearest != 0.0], axis=-1))


def _share(odds):
    """Return how far to go for log odds, nowhere where they are below 0."""
    return np.maximum(2.0 * expit(odds) - 1.0, 0.0)


def wait(state, n):
    """Let rounds pass in which no odds move."""
    odds = state["beyond"]
    _, odds["past"] = late(np.broadcast_to(odds["odds"], (n, *odds["odds"].shape)), odds["past"])


def learn_beyond(state, y, limits, asked, squares, is_led, weight=1.0):
    """Learn from targets (q,) whether experts were right; the limits are the narrow ones.

    Losses are those of a Cauchy distribution of the usual errors: a round counts little at most.
    """
    clipped = np.clip(asked, limits[:, :1], limits[:, 1:2])
    with np.errstate(over="ignore"):
        near, far = (
            np.log1p(np.square(y[:, None] - of) / squares[:, None]) for of in (clipped, asked)
        )
    gains = np.clip(np.nan_to_num(near - far), -_BOUND, _BOUND) * min(weight, 1.0)
    odds = state["beyond"]["odds"]
    state["beyond"]["odds"] = np.where(is_led, np.clip(odds + gains, *_ODDS), odds)
