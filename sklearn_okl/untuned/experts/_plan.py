"""Which experts there are: a dictionary of kernels, and as many of it as the work allows."""

from itertools import zip_longest
from typing import NamedTuple

import numpy as np

_PLAIN = {"ranks": False, "pairs": False, "learnt": False, "trees": False, "whole": False}
WALKS = tuple(
    {"kernel": name, "bandwidth": np.nan, "lags": True, "alpha": np.nan, "forgetting": 1.0} | _PLAIN
    for name in ("persistence", "random walk")
)
MAIN, BORN = "kernels", "born"  # names of the banks that births look at
WHOLE = "linear, all columns"  # and of the line that sees all from the start
LAGGED = "kernels, lags"  # and of that which they look at of a small model
_NAMES = {
    "tree": "a tree on its own",
    "tree on a line": "a tree on a line",
    "effects": "a line, effects of values",
}
LINK = 2  # kernels of a link of the chain


class Shape(NamedTuple):
    """What a bank's experts have in common.

    Attributes
    ----------
    n_inputs : int
        Inputs, the latest targets included.
    n_lags : int
        The latest targets, at the end of the inputs.
    n_frequencies : int
        Frequencies per kernel, 0 for linear experts.
    linear : bool
        Whether the inputs are among the features.
    forgetting : float
        Their forgetting rate.
    ranks : bool
        Whether their kernels may see the ranks of the inputs, which come behind these.
    n_trees : int
        Inputs before the lags that are forecasts of trees.
    packed : bool
        Whether they are to be small from call to call, see `_packed.py`.
    lagless : bool
        Whether none of them sees lags, which are not among their features then.
    n_heard : int
        How many experts, the first ones, say what they forecast of a row, which is a feature of it.
    spares_lags : bool
        Whether half of their frequencies see no lags.
    n_values : int
        Inputs behind the lags that say which of its values a number is.
    """

    n_inputs: int
    n_lags: int
    n_frequencies: int
    linear: bool
    forgetting: float
    ranks: bool = False
    n_trees: int = 0
    packed: bool = False
    lagless: bool = False
    n_heard: int = 0
    spares_lags: bool = False
    n_values: int = 0

    @property
    def n_linear(self):
        """Features that are no waves: inputs, or what others forecast."""
        return self.n_heard + self.linear * (self.n_inputs - self.lagless * self.n_lags)

    @property
    def n_columns(self):
        """Inputs and ranks."""
        return self.n_inputs * (1 + self.ranks)

    def columns(self, lags, ranks):
        """Return the columns, of the inputs or of their ranks, that an expert sees."""
        low = self.n_inputs if ranks else 0
        return slice(low, low + self.n_inputs - (0 if lags else self.n_lags))

    def seen(self, lags, trees):
        """Return which inputs (n_inputs,) an expert sees."""
        low = self.n_inputs - self.n_lags - self.n_values
        places = np.arange(self.n_inputs) - low  # from 0 on lags
        are_trees = (places >= -self.n_trees) & (places < 0)
        are_lags = (places >= 0) & (places < self.n_lags)
        return (lags | ~are_lags) & (trees | ~are_trees)

    @property
    def n_features(self):
        """Features per expert."""
        return 1 + self.n_linear + 2 * self.n_frequencies

    def without_trees(self):
        """Return the shape with the inputs alone that are no forecasts of trees."""
        return self._replace(n_inputs=self.n_inputs - self.n_trees, n_trees=0)

    @property
    def work(self):
        """Multiplications of an expert and a row, up to a factor."""
        # a past that fades is summed and inverted more often
        return self.n_features**2 * (1.0 if self.forgetting == 1.0 else 3.0)


class Bank(NamedTuple):
    """The plan of a bank: experts of one shape, so that they are learnt by the same products.

    Attributes
    ----------
    shape : Shape
    members : list of dict
        The experts that are there from the start, those of most use first.
    room : int
        How many there may be.
    """

    shape: Shape
    members: list
    room: int


def plan(n_features, n_lags, forgetting, budget, constants, n_trees=0, n_targets=1):
    """Return the banks by name: kernels, linear experts, kernels for drift, those to be born.

    Linear experts see forecasts of trees, too, which would only be in the way of distances: those
    of the first ridge. As the others do not, a tree that says nothing new is left aside.

    As many kernels as the work allows, in the dictionary's order. The order of the banks is that
    of the columns of the experts' forecasts, so who is born comes last, and nobody changes places.
    """
    if budget.compact:
        hears = n_targets == 1
        return small_plan(n_features, n_lags, forgetting, budget, constants, n_trees, hears)
    always = 1.0 if forgetting is None else forgetting
    drifting = budget.memories if forgetting is None else ()
    m = _frequencies(budget, constants)
    plain = shape_of(n_features, n_lags, m, always)
    main = plain._replace(ranks=budget.ranks)
    kernels = dictionary(constants.bandwidths, constants.alphas, n_lags > 0, budget.ranks)
    forgetful = dictionary(constants.bandwidths, constants.alphas[::-1], n_lags > 0)

    def room(shape, share, most, least=1):
        return int(np.clip(share * budget.work / shape.work, least, most))

    banks = {}
    # without the latest targets, who forgets at once tells where these are
    brief = budget.level_memories if drifting and not n_lags else ()
    for memory in (always, *drifting, *brief):
        shape = plain._replace(linear=True, n_frequencies=0, forgetting=memory)
        shape = shape._replace(n_inputs=shape.n_inputs + n_trees, n_trees=n_trees)
        alphas = constants.linear_alphas if memory == 1.0 else (constants.fading_alpha,)
        members = linear_members(alphas, n_lags > 0, n_trees > 0)
        # D^2 of many inputs may be more than all is to cost
        least = int(shape.work <= budget.work / 4)
        n = room(shape, constants.linear_share, len(members), least)
        if n:
            banks[f"linear, {memory}"] = Bank(shape, members[:n], n)
    for memory in drifting:
        shape = plain._replace(n_frequencies=max(m // 2, 1), forgetting=memory)
        n = room(shape, constants.drift_share, constants.drift_kernels)
        banks[f"kernels, {memory}"] = Bank(shape, forgetful[:n], n)
    if constants.births:
        n = room(main, constants.birth_share, constants.birth_share * len(kernels))
        n = max(n // len(constants.births), 2)
        banks[BORN] = Bank(main, [], n * len(constants.births))
    others = [*banks.values(), chain(n_features, n_lags, forgetting, budget, constants)]
    # a tree takes no kernel's place: its columns are not counted
    left = budget.work - sum(bank.shape.without_trees().work * bank.room for bank in others)
    n = int(np.clip(left / main.work, 2, len(kernels)))
    return {MAIN: Bank(main, kernels[:n], n)} | banks


def with_whole_line(banks, n_values):
    """Return the banks with one line more, which sees all that columns are shown as from the start.

    What a target owes to each of many categories, to each value of a number, or to logarithms, may
    be a sum, which one that is linear in them finds with few rows for each. Where it is none, the
    other lines know it sooner.
    """
    line = next((one for one in banks.values() if not one.shape.n_frequencies), None)
    if line is None or not line.members:
        return banks
    shape = line.shape._replace(n_inputs=line.shape.n_inputs + n_values, n_values=n_values)
    whole = Bank(shape, [line.members[0] | {"whole": True}], 1)
    born = {name: bank for name, bank in banks.items() if name == BORN}
    return {name: bank for name, bank in banks.items() if name != BORN} | {WHOLE: whole} | born


def small_plan(n_features, n_lags, forgetting, budget, constants, n_trees=0, hears=True):
    """Return the banks of a small model: three kernels, one of them yet to be born, and two lines.

    They are a chain: of one target a kernel hears what all before it forecast, which are features
    as its waves are. So it need not learn again what they know, and three regressions on few waves
    are about as good as one on all of them, whose sums would be three times as large. The first
    line and the first kernel see no lags. Inputs are seen as waves alone, for one size whatever
    their number, and the lines are there where what the kernels leave of the work allows it: up to
    some 90 inputs the first.
    """
    always = 1.0 if forgetting is None else forgetting
    memories = budget.memories if forgetting is None else (forgetting,)
    has_lags, n_births = n_lags > 0, len(births_of(budget, constants))
    kernel = shape_of(n_features, n_lags, _frequencies(budget, constants), always)
    kernel = kernel._replace(linear=False, packed=True)
    restless = kernel._replace(forgetting=max(memories), spares_lags=has_lags)
    line = kernel._replace(linear=True, n_frequencies=0, lagless=has_lags)
    line = line._replace(n_inputs=line.n_inputs + n_trees, n_trees=n_trees)
    lagged = line._replace(forgetting=min(memories), lagless=False)
    smooth, rough = (
        dictionary(((name, widths[:1]),), (alpha,), has_lags)
        for (name, widths), alpha in zip(
            (constants.bandwidths * 2)[:2], (constants.alphas * 2)[:2], strict=True
        )
    )
    alpha, fading_alpha = constants.linear_alphas[0], constants.fading_alpha
    alphas = alpha if always == 1.0 else fading_alpha, fading_alpha
    lines = [linear_members((alpha,), has_lags, n_trees > 0) for alpha in alphas]
    chain = (
        Bank(line, lines[0][-1:], 1),
        Bank(kernel, smooth[:1], 1),
        Bank(lagged, lines[1][:1], 1),
        Bank(restless, rough[-1:], 1),
        Bank(kernel, [], n_births),
    )
    names = f"linear, {always}", MAIN, "linear, lags", LAGGED, BORN
    return _heard(dict(zip(names, chain, strict=True)), budget.work, hears)


def _heard(chain, work, hears):
    """Return the banks of a chain, less lines that cost too much; a kernel hears who is before."""
    most = len(chain) * hears
    kernels = [bank for bank in chain.values() if bank.shape.n_frequencies]
    left = work - sum(bank.shape._replace(n_heard=most).work * bank.room for bank in kernels)
    banks = {}
    for name, bank in chain.items():
        shape = bank.shape
        if shape.n_frequencies:
            shape = shape._replace(n_heard=len(banks) * hears)
        elif shape.work > left:
            continue
        else:
            left -= shape.work
        if bank.room:
            banks[name] = bank._replace(shape=shape)
    return banks


def lagless_plan(n_features, n_lags, *of_all):
    """Return the banks of a model without lags, but for two lines: first and last."""
    banks, more = plan(n_features, 0, *of_all), plan(n_features, n_lags, *of_all)
    for name, bank in banks.items():
        n_inputs = bank.shape.n_inputs + n_lags
        shape = bank.shape._replace(n_inputs=n_inputs, n_lags=n_lags, lagless=True)
        banks[name] = bank._replace(shape=shape)
    lines = [name for name, bank in more.items() if not bank.shape.n_frequencies]
    for name in dict.fromkeys(lines[:1] + lines[-1:]):
        shape, members, _ = more[name]
        members = members[:1] + [one for one in members if not one["lags"]]
        banks[name] = Bank(shape, members, len(members))
    return banks


def births_of(budget, constants):
    """Return the rounds at which kernels are born: of a small model one is, at the first."""
    return constants.births[:1] if budget.compact else constants.births


def chain(n_features, n_lags, forgetting, budget, constants):
    """Return the kernels of the chain that learns what the experts leave, see `_boosting.py`.

    Narrower ones than most experts are: what these leave is rougher than the targets. Those of a
    link see the same rows in two ways, as they are and in ranks, all columns and pairs of them; the
    latest targets are seen by every other two links.
    """
    shape = shape_of(n_features, n_lags, _frequencies(budget, constants), forgetting or 1.0)
    shape = shape._replace(linear=False, ranks=budget.ranks)
    members = [
        {"kernel": "laplacian", "bandwidth": constants.link_bandwidths[link // 2 % 2]}
        | {"lags": n_lags > 0 and link // 4 % 2 == 1, "alpha": constants.link_alpha}
        | _PLAIN
        | {"ranks": budget.ranks and (link + k) % 2 == 1, "pairs": k == 0}
        for link in range(budget.n_links)
        for k in range(LINK)
    ]
    return Bank(shape, members, len(members))


def shape_of(n_features, n_lags, n_frequencies, forgetting):
    """Return the shape of kernel experts: without the inputs where they are the larger part.

    D^2 would then pay for them in every expert, and the linear experts have them already.
    """
    n_inputs = n_features + n_lags
    return Shape(n_inputs, n_lags, n_frequencies, n_inputs <= 2 * n_frequencies, forgetting)


def dictionary(bandwidths, alphas, lagged, ranked=False):
    """Return the kernels (kernel, bandwidth, sees lags or ranks, ridge), those of most use first.

    Half of them see the lags, if there are any, and half of them ranks in place of the inputs.
    Every other one of these sees pairs of ranks, as a sum of kernels on two columns: it finds with
    few rows what depends on few columns at a time.
    """
    columns = zip_longest(*[[(name, width) for width in widths] for name, widths in bandwidths])
    kernels = [kernel for column in columns for kernel in column if kernel is not None]
    return [
        {"kernel": kernel, "bandwidth": bandwidth, "lags": lags, "alpha": alpha}
        | _PLAIN
        | {"ranks": ranks, "pairs": ranks and place % 2 == 0}
        for alpha in alphas
        for place, (kernel, bandwidth) in enumerate(kernels)
        for ranks in ((True, False) if ranked else (False,))
        for lags in ((False, True) if lagged else (False,))
    ]


def _frequencies(budget, constants):
    return max(int(budget.frequencies * constants.frequencies), 1)


def linear_members(alphas, lagged, trees=False):
    """Return the linear experts of one forgetting rate, those of most use first."""
    return [
        {"kernel": "linear", "bandwidth": np.nan, "lags": lags, "alpha": alpha}
        | _PLAIN
        | {"trees": trees and alpha == alphas[0]}
        for alpha in alphas
        for lags in ((True, False) if lagged else (False,))
    ]


def refined(parents, size, factor):
    """Return new members: the parents, the best first, and beside them, with scales learnt since.

    Every other one sees columns in pairs, whatever its parent sees. No two of them are the same but
    for a tenth of the factor between bandwidths.
    """
    children = {}
    for parent in parents:
        for step in (1.0, factor, 1.0 / factor):
            child = parent | {"bandwidth": parent["bandwidth"] * step, "learnt": True}
            child["pairs"] = len(children) % 2 == 0
            width = round(10.0 * np.log(child["bandwidth"]) / np.log(factor))
            key = [child[name] for name in ("kernel", "lags", "ranks", "pairs", "alpha")]
            children.setdefault((width, *key), child)
    return list(children.values())[:size]


def name_of(kernel, bandwidth, lags, alpha, forgetting, ranks, pairs, learnt, trees, whole):
    """Name an expert by all that makes it another one than its neighbours."""
    if np.isnan(alpha):
        return _NAMES.get(kernel, kernel)
    parts = [kernel if kernel == "linear" else f"{kernel} {bandwidth:.2g}", f"alpha {alpha:g}"]
    parts += ["lags"] if lags else []
    parts += ["ranks"] if ranks else []
    parts += ["pairs"] if pairs else []
    parts += ["learnt scales"] if learnt else []
    parts += ["a tree"] if trees else []
    parts += ["all columns"] if whole else []
    parts += [f"forgetting {forgetting:g}"] if forgetting < 1.0 else []
    return ", ".join(parts)
