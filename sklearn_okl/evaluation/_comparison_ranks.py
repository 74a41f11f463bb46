"""Average ranks of models, and the tests that say which of them may be told apart."""

import warnings
from itertools import combinations

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, wilcoxon
from sklearn.utils import Bunch

_LEVEL = 0.05  # of the tests in the sentence; the p-values are given too


def ranks_of(losses, models, unit, repeats):
    """Rank models in blocks and test whether they differ.

    Parameters
    ----------
    losses : ndarray of shape (n_blocks, n_models)
        Of each model in each block, smaller is better; infinite where a model failed.
    models : list of str
        Their names.
    unit : tuple of (str, str)
        What one block is called in the sentence, and what several are.
    repeats : bool
        Whether equal blocks are one block, seen more than once.

    Returns
    -------
    Bunch
        As :meth:`Comparison.ranks` describes it.
    """
    blocks = np.unique(losses, axis=0) if repeats else losses
    ranks = rankdata(losses, axis=1)
    average = ranks.mean(axis=0)
    order = np.argsort(average, kind="stable")
    pairs = list(combinations(range(len(models)), 2))
    p_values = _holm([_wilcoxon_p(losses[:, list(pair)], repeats) for pair in pairs])
    statistic, p_value = _friedman(blocks)
    named = {(models[a], models[b]): p for (a, b), p in zip(pairs, p_values.tolist(), strict=True)}
    return Bunch(
        average={models[m]: float(average[m]) for m in order},
        ranks=ranks,
        n_blocks=len(blocks),
        statistic=statistic,
        p_value=p_value,
        pairs=named,
        sentence=_sentence(len(models), len(blocks), unit, p_value, named),
    )


def blocks_needed(n_models):
    """Return how many blocks there must be for two models to be told apart at all.

    The smallest p-value of the signed-rank test on n blocks is 2^(1 - n), and Holm's correction
    multiplies the smallest of m by m.
    """
    n_pairs = n_models * (n_models - 1) // 2
    return 1 + int(np.ceil(np.log2(n_pairs / _LEVEL)))


def not_told_apart(models, pairs):
    """Return where groups of models begin and end, of which no two are told apart.

    Parameters
    ----------
    models : list of str, by their average ranks
    pairs : dict of (str, str) to float
        p-values; NaN tells nobody apart.

    Returns
    -------
    list of (int, int)
        Places of the first and the last model of each group of two or more, none within another.
    """
    apart = {frozenset(pair) for pair, p in pairs.items() if p <= _LEVEL}
    groups, end = [], 0
    for first in range(len(models)):
        last = first
        while last + 1 < len(models) and not any(
            frozenset((models[last + 1], other)) in apart for other in models[first : last + 1]
        ):
            last += 1
        if last > max(first, end):
            groups.append((first, last))
            end = last
    return groups


def _friedman(blocks):
    n_blocks, n_models = blocks.shape
    if n_models < 3 or n_blocks < 2:
        return np.nan, np.nan
    if (blocks == blocks[:, :1]).all():
        return 0.0, 1.0  # all tied, where the statistic is 0 / 0
    result = friedmanchisquare(*blocks.T)
    return float(result.statistic), float(result.pvalue)


def _wilcoxon_p(losses, repeats):
    """Return the p-value of the signed-rank test on two columns."""
    losses = np.unique(losses, axis=0) if repeats else losses
    a, b = losses.T
    tied = a == b  # two failures too: their difference would be NaN
    if len(losses) < 2:
        return np.nan
    if tied.all():
        return 1.0
    differences = np.subtract(a, b, out=np.zeros(len(a)), where=~tied)
    with warnings.catch_warnings():
        # where two are tied, SciPy before version 1.13 says that it takes the normal distribution
        warnings.filterwarnings("ignore", "Exact p-value|Sample size too small", UserWarning)
        return float(wilcoxon(differences).pvalue)


def _holm(p_values):
    """Return the p-values as Holm's method corrects them, those that are NaN left aside."""
    p_values = np.array(p_values)
    order = np.argsort(p_values, kind="stable")  # NaN last
    order = order[np.isfinite(p_values[order])]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    p_values[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return p_values


def _sentence(n_models, n_blocks, unit, p_value, pairs):
    many = f"{n_blocks} {unit[n_blocks != 1]}"
    needed = blocks_needed(n_models)
    if n_blocks < needed:
        return (
            f"{many} cannot tell any two of {n_models} models apart at the level of {_LEVEL:.0%}, "
            f"whatever the scores: Wilcoxon's test with Holm's correction needs at least {needed}."
        )
    apart = [f"{a} and {b}" for (a, b), p in pairs.items() if p <= _LEVEL]
    friedman = f"Friedman's test gives p = {p_value:.2g}. " if n_models > 2 else ""
    found = "; ".join(apart) if apart else "none"
    return (
        f"On {many}: {friedman}Told apart at the level of {_LEVEL:.0%} by Wilcoxon's test with "
        f"Holm's correction: {found}."
    )
