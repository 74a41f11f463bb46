"""What an estimator without tuning has learnt, in a paragraph."""

import textwrap

import numpy as np

from ..._sentences import counted
from ...features._columns import names_of
from ..rows._columns import widths
from . import _target_units as target_units
from ._renewal import n_rows

_SHOWN = 8  # targets whose losses are named


def summary_of_numbers(model, state):
    """Return a paragraph on a regressor in lines of at most 88 characters."""
    table, t, q = model.experts_, n_rows(state), len(state["targets"])
    if not t:  # all targets are missing
        return f"No target has been learnt yet; rows have {model.n_features_in_} inputs."
    columns = {name: part[: len(part) // q] for name, part in table.items()}
    by_target = {name: table[name].reshape(q, -1) for name in ("weight", "mean_loss")}
    weight = by_target["weight"].mean(axis=0)
    heavy = np.argsort(-weight)[:3]
    named = "; ".join(f"{columns['name'][k]} ({weight[k]:.0%})" for k in heavy)
    lagged = weight[columns["lags"].astype(bool)].sum()
    fading = weight[columns["forgetting"] < 1.0].sum()
    n_forecasts = max(t - 1 - model.label_delay, 1)  # the first ones are none
    losses = state["loss"] * squared_units(state) / n_forecasts / _mean_weight(state)
    # an expert born late has met an easier stream
    old_enough = columns["n_rounds"] * 2 >= state["t"]
    compared = np.where(old_enough, by_target["mean_loss"], np.inf)
    best, least = compared.argmin(axis=1), compared.min(axis=1)
    n_faulty = sum(guard["n_faulty"] for guard in state["targets"])
    faulty = f" Faulty targets: {n_faulty} ({n_faulty / (q * t):.1%})." if n_faulty else ""
    if q == 1:
        errors = (
            f"the mean squared error of the progressive forecasts is {losses[0]:.4g}; that of "
            f"the best of {len(weight)} experts, {columns['name'][best[0]]}, is {least[0]:.4g}"
        )
    else:
        errors = (
            f"the mean squared errors of the progressive forecasts of {q} targets are "
            f"{_listed(losses)}; those of the best of {len(weight)} experts are "
            f"{_listed(least)}"
        )
    text = (
        f"After {counted(t, 'row')} of {counted(model.n_features_in_, 'input')} {errors}. The "
        f"largest weights are those of {named}. Experts that see the latest targets hold "
        f"{lagged:.0%} of the weight, those that forget {fading:.0%}."
        f"{_earned_by_lags(compared, columns['lags'], 'targets')}{_who_is_alike(model, state)}"
        f"{faulty}"
    )
    return textwrap.fill(text, width=88)


def summary_of_classes(model, state):
    """Return a paragraph on a classifier in lines of at most 88 characters."""
    table, t = model.experts_, state["t"]
    n, loss, n_errors = state["scored"].tolist()
    heavy = np.argsort(-table["weight"])[:3]
    named = "; ".join(f"{table['name'][k]} ({table['weight'][k]:.0%})" for k in heavy)
    lagged = table["weight"][table["lags"].astype(bool)].sum()
    fading = table["weight"][table["forgetting"] < 1.0].sum()
    losses = np.where(table["n_rounds"] * 2 >= t, table["mean_loss"], np.inf)
    text = (
        f"After {counted(t, 'row')} of {counted(model.n_features_in_, 'input')} and "
        f"{len(model.classes_)} classes the "
        f"mean log loss of the progressive forecasts is {loss / max(n, 1.0):.4g}, and "
        f"{n_errors / max(n, 1.0):.1%} of the labels were forecast wrongly. The largest of "
        f"{len(table['weight'])} experts' weights are those of {named}. Experts that see the "
        f"latest labels hold {lagged:.0%} of the weight, those that forget {fading:.0%}."
        f"{_earned_by_lags(losses[None], table['lags'], 'labels')}{_who_is_alike(model, state)}"
    )
    return textwrap.fill(text, width=88)


def _earned_by_lags(losses, see_lags, latest):
    """Return a sentence on what it is worth to see the latest targets or labels, or none.

    Of the experts' mean losses (q, K) the least of those that see them is held against the least of
    the others; several targets have the geometric mean of their ratios.
    """
    see_lags = see_lags.astype(bool)
    if see_lags.all() or not see_lags.any():
        return ""
    with_lags, without = losses[:, see_lags].min(axis=1), losses[:, ~see_lags].min(axis=1)
    both = np.concatenate([with_lags, without])
    if not np.all((both > 0.0) & np.isfinite(both)):
        return ""
    ratio = np.exp(np.mean(np.log(with_lags) - np.log(without)))
    earned = (
        f" The best of those that see the latest {latest} has {ratio:.3g} times the loss of the "
        "best of those that do not"
    )
    if ratio < 1.0:
        return f"{earned}."
    return f"{earned}: they earn nothing so far. If the rows have no order, set lags=0."


def _who_is_alike(model, state):
    """Return a sentence on the columns whose equal values tell of errors, or none."""
    cells, layout, said = state["cells"], state["columns"]["layout"], ""
    if cells and len(cells["pair"]):
        names = _names_of_codes(model, layout, cells["pair"])
        said += f" Forecasts are corrected by the errors of rows of equal {names}."
    if state["effects"] and state["effects"]["is_there"]:
        names = _names_of_codes(model, layout, layout["many"])
        said += f" A line learns what each value of {names} adds."
    return said


def _names_of_codes(model, layout, places):
    """Return the names of the columns that codes are of, in words."""
    of_each = widths(model._columns) if model._columns else [1] * model.n_features_in_
    owners = np.repeat(names_of(model), of_each)[layout["codes"][places, 0]]
    return " and ".join(dict.fromkeys(owners.tolist()))


def squared_units(state):
    """Return the squares of the units (q,) of the targets; classes, all together, have 1."""
    if "targets" not in state:
        return np.ones(1)
    units = np.array([target_units.unit(guard) for guard in state["targets"]])
    with np.errstate(over="ignore"):  # infinite, and no error, beyond 1e154
        return units * units


def _mean_weight(state):
    """Return the mean weight of the rows whose errors are in the loss, 1 where it is 0."""
    n, weight = state["scored"].tolist()
    return weight / n if weight else 1.0


def _listed(numbers):
    """Return the first numbers of some in words."""
    shown = ", ".join(f"{number:.4g}" for number in numbers[:_SHOWN])
    return shown if len(numbers) <= _SHOWN else f"{shown} and so on"
