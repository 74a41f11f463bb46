"""Which models of a comparison are better than a champion, by evidence within each stream."""

import numpy as np
from sklearn.utils import Bunch

from ._sequential import SequentialComparison, e_benjamini_hochberg


def evidence_against(comparison, champion, scoring, alpha):
    """Return the e-values of all challengers on all streams, as `Comparison.sequential` says."""
    if champion not in comparison.models:
        raise ValueError(f"There is no model {champion!r}; there are {comparison.models}.")
    challengers = [model for model in comparison.models if model != champion]
    if not challengers:
        raise ValueError("One model has nobody to challenge it; compare two or more.")
    losses = _losses(comparison, scoring)
    e_values = {
        (stream, challenger): float(
            np.mean(
                [
                    _e_value(losses, (stream, champion, seed), (stream, challenger, seed))
                    for seed in comparison.seeds
                ]
            )
        )
        for stream in comparison.streams
        for challenger in challengers
    }
    found = e_benjamini_hochberg(list(e_values.values()), alpha)
    rejected = [pair for pair, is_better in zip(e_values, found, strict=True) if is_better]
    return Bunch(
        e_values=e_values, rejected=rejected, sentence=_sentence(rejected, champion, alpha)
    )


def _losses(comparison, scoring):
    """Return the losses of blocks by stream, model and seed; less where more is better."""
    blocks = comparison.block_losses
    if blocks is None or not all(scoring in of_run for of_run in blocks):
        raise ValueError(
            f"The score {scoring!r} is no mean of losses of rows, so that rows are no evidence. "
            "Take one that is, such as 'squared_error'."
        )
    sign = -1.0 if comparison.greater_is_better[scoring] else 1.0
    columns = (comparison.results[name].tolist() for name in ("stream", "model", "seed"))
    runs = zip(*columns, strict=True)
    return {run: sign * of_run[scoring] for run, of_run in zip(runs, blocks, strict=True)}


def _e_value(losses, champion, challenger):
    a, b = losses[champion], losses[challenger]
    if a.shape != b.shape:
        raise ValueError(
            f"{champion[1]!r} and {challenger[1]!r} were not scored in the same rows of "
            f"{champion[0]!r}: give both as many blocks of rows."
        )
    scored = ~np.isnan(a) & ~np.isnan(b)  # one may begin later than the other
    return SequentialComparison().update(a[scored], b[scored]).e_value_


def _sentence(rejected, champion, alpha):
    if not rejected:
        return f"No model is better than {champion} for sure, at the level of {alpha:.0%}."
    found = "; ".join(f"{model} on {stream}" for stream, model in rejected)
    return f"Better than {champion}, at a false discovery rate of {alpha:.0%}: {found}."
