"""How rows flow through transformers of any kind: each by what was known before it."""

import copy
import warnings
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures
from sklearn.utils import _safe_indexing, get_tags

from ._sentences import counted
from .base import OnlineTransformer, _copied, twin

_MANY = 1024  # rows with which transformers begin


@cache
def _known():
    """Import the transformers of scikit-learn that are treated in ways of their own.

    Not above: they take longer to import than this package, and few need them.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.frozen import FrozenEstimator
    from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler, SkewedChi2Sampler
    from sklearn.pipeline import FeatureUnion, Pipeline

    return SimpleNamespace(
        frozen=FrozenEstimator,
        pipeline=Pipeline,
        union=FeatureUnion,
        combined=(ColumnTransformer, FeatureUnion, Pipeline),
        # of rows they read the number of columns only, which no tag of theirs says
        read_the_width=(PolynomialCountSketch, PolynomialFeatures, RBFSampler, SkewedChi2Sampler),
    )


class Way(NamedTuple):
    """How rows flow.

    Attributes
    ----------
    update : {"row", "batch"}
        What transformers of other packages learn at a time.
    delay : int
        How many rounds late the labels come.
    starts : bool
        Whether these are the first rows.
    fits : bool
        Whether the first rows are enough to fit what learns once and never more.
    """

    update: str
    delay: int
    starts: bool
    fits: bool


def learns_from_data(transformer):
    """Tell whether `fit` reads more of rows than how many columns they have."""
    if isinstance(transformer, _known().frozen):
        return False
    learns = getattr(transformer, "learns_from_data", None)
    if learns is None and hasattr(transformer, "__sklearn_tags__"):
        learns = get_tags(transformer).requires_fit
    if learns is False:
        return False
    if isinstance(transformer, _known().read_the_width):
        return getattr(transformer, "gamma", None) == "scale"
    if isinstance(transformer, (OneHotEncoder, OrdinalEncoder)):
        told = transformer.min_frequency is None and transformer.max_categories is None
        return isinstance(transformer.categories, str) or not told
    return True


def still(transformer):
    """Return a transformer out of the hull that freezes it."""
    is_frozen = isinstance(transformer, _known().frozen)
    return transformer.estimator if is_frozen else transformer


def learn_once(steps, prefix=""):
    """Yield the names and the transformers, at any depth, that learn but cannot learn on."""
    for name, transformer in active(steps):
        if isinstance(transformer, _known().combined):
            yield from learn_once(_parts(transformer), f"{prefix}{name}__")
        elif learns_from_data(transformer) and not hasattr(transformer, "partial_fit"):
            yield prefix + name, transformer


def active(steps):
    """Return the steps that are estimators."""
    return [step for step in steps if step[1] is not None and not isinstance(step[1], str)]


def _parts(combined):
    """Return the names and the given transformers of one that combines others."""
    if isinstance(combined, _known().pipeline):
        return combined.steps
    if isinstance(combined, _known().union):
        return combined.transformer_list
    parts = [(name, part) for name, part, _ in combined.transformers]
    return [*parts, ("remainder", combined.remainder)]


def cloned_step(step):
    """Return a fresh step; a frozen one stays what it is."""
    return step if isinstance(step, str) or step is None else clone(step)


def copied_step(step):
    """Copy a step so that the copy can learn on."""
    if isinstance(step, _known().frozen):
        return step
    if isinstance(step, OnlineTransformer):  # its state is swapped, never edited
        return twin(step)
    return copy.deepcopy(step) if isinstance(step, _known().combined) else _copied(step)


def through(steps, pasts, X, y, way):
    """Return rows as they leave the last transformer; all of them learn the rows on the way.

    The pasts are what the transformers keep for late labels, by name; they change too.
    """
    for name, transformer in active(steps):
        X, pasts[name] = _flow(transformer, pasts.get(name), X, y, way)
    return X


def _flow(transformer, past, X, y, way):
    """Transform rows by what is known before each of them, and learn them on the way.

    Return the rows, and what the transformer keeps for late labels.
    """
    if isinstance(transformer, OnlineTransformer):
        return transformer._prequential_transform(X, y, way.delay), past
    if isinstance(transformer, _known().pipeline):
        past = dict(past or {})
        return through(transformer.steps, past, X, y, way), past
    if isinstance(transformer, _known().combined):
        return _flow_of_parts(transformer, dict(past or {}), X, y, way)
    if not learns_from_data(transformer) or not hasattr(transformer, "partial_fit"):
        if way.starts:
            transformer.fit(X, y)
        return transformer.transform(X), past
    return _flow_of_batches(transformer, past or [], X, y, way)


def _flow_of_batches(transformer, past, X, y, way):
    """Do so with a transformer that learns by `partial_fit`.

    Its past are copies of it, one for each of the next D rows: as it was when the last label that
    the row may know came; None for those before the first label, which know all rows before them.
    """
    n_rows = X.shape[0]
    step = n_rows if way.update == "batch" else 1
    if way.starts:
        step = _begin(transformer, X, y, way, step)
    parts = []
    for low in range(0, n_rows, max(step, 1)):
        rows = slice(low, low + step)
        batch, targets = _safe_indexing(X, rows), _safe_indexing(y, rows)
        first, known = way.starts and low == 0, transformer
        if way.delay:
            # until its last label comes, the rows after a batch know the batches before it
            past, ahead = ([None] * (way.delay + 1), step - 1) if first else (past, step)
            past = past + [_copied(transformer)] * min(ahead, way.delay)
            known = next((one for one in past[:step] if one is not None), transformer)
        parts.append(known.transform(batch))
        past = past[-way.delay :]
        if not first:
            n_columns = getattr(transformer, "_n_features_out", None)
            transformer.partial_fit(batch, targets)
            _refuse_growth(transformer, n_columns)
    return (stacked(parts) if parts else X), past


def _begin(transformer, X, y, way, n):
    """Teach a transformer the first n rows, or all of a warm-up if it wants more; say how many."""
    fresh = copy.deepcopy(vars(transformer))
    try:
        transformer.partial_fit(_safe_indexing(X, slice(n)), _safe_indexing(y, slice(n)))
    except ValueError as error:
        if way.fits and n < X.shape[0]:
            vars(transformer).clear()
            vars(transformer).update(fresh)
            return _begin(transformer, X, y, way, X.shape[0])
        if _wants_more(transformer, X, y, n):
            raise ValueError(
                f"{type(transformer).__name__} cannot begin with {counted(n, 'row')}: {error} "
                "Give StreamingPipeline(..., warmup=n), for it to begin with the first n rows, as "
                "many as it wants; or update='batch', and a first batch of as many."
            ) from error
        raise
    return n


def _wants_more(transformer, X, y, n):
    """Tell whether a fresh transformer learns rows that it refuses, if only they come often."""
    try:
        _teach_often(clone(transformer).partial_fit, X, y, n)
    except Exception:  # whatever it is, the first error is the one to see
        return False
    return True


def _teach_often(verb, X, y, n):
    """Teach the first n rows again and again, as many as anybody wants who takes them."""
    rows = np.arange(_MANY) % n
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of rows that are alike
        verb(_safe_indexing(X, rows), _safe_indexing(y, rows))


def _refuse_growth(transformer, n_columns):
    """Refuse a transformer that had so many columns before its last rows, and has others now."""
    now = getattr(transformer, "_n_features_out", None)
    if now != n_columns:
        raise ValueError(
            f"{type(transformer).__name__} grows with the stream: it made {n_columns} columns and "
            f"would make {now}, and the steps after it keep their width. Freeze a fitted one, "
            "sklearn.frozen.FrozenEstimator; or take FourierFeatures, or learners whose own basis "
            "grows: PKAWVRegressor, NONSALDRegressor, NOGDRegressor."
        )


def _flow_of_parts(combined, pasts, X, y, way):
    """Do so with a transformer that hands columns, or all of them, to others side by side."""
    if way.starts:
        # only to find which parts there are, and which columns are theirs
        n = X.shape[0] if way.fits else 1
        try:
            combined.fit(_safe_indexing(X, slice(n)), _safe_indexing(y, slice(n)))
        except ValueError:  # a part may want more rows, which says so when its own ones come
            _teach_often(combined.fit, X, y, n)
        _set_fitted(combined, {name: clone(part) for name, part in _fitted(combined)})
    flowing = {name: _Flowing(part, pasts.get(name), y, way) for name, part in _fitted(combined)}
    asked = copy.copy(combined)  # it selects the columns, and puts together what the parts say
    asked.n_jobs = None  # in other processes the parts would learn in vain
    _set_fitted(asked, flowing)
    rows = asked.transform(X)
    return rows, {name: part.past for name, part in flowing.items()}


class _Flowing:
    """A transformer whose `transform` lets rows flow: they are learnt on the way."""

    def __init__(self, part, past, y, way):
        self.part, self.past, self.y, self.way = part, past, y, way

    def transform(self, X):
        rows, self.past = _flow(self.part, self.past, X, self.y, self.way)
        return rows


def _fitted(combined):
    """Return names and fitted transformers of one that combines others."""
    if isinstance(combined, _known().union):
        return active(combined.transformer_list)
    return active([part[:2] for part in combined.transformers_])


def _set_fitted(combined, parts):
    """Put other transformers, by name, in the place of the fitted ones."""
    name = "transformer_list" if isinstance(combined, _known().union) else "transformers_"
    places = getattr(combined, name)
    setattr(combined, name, [(name, parts.get(name, old), *c) for name, old, *c in places])


def stacked(parts):
    """Return the rows of parts of one kind below each other."""
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    if hasattr(parts[0], "combine_chunks"):
        import pyarrow as pa

        return pa.concat_tables(parts)
    import polars as pl

    return pl.concat(parts)


def part_of(batch, rows):
    """Return some rows of a batch."""
    return {
        name: None if part is None else _safe_indexing(part, rows) for name, part in batch.items()
    }


def joined(batches):
    """Return batches as one; where some have weights, rows without one count as 1."""
    weights = [batch["sample_weight"] for batch in batches]
    if any(part is not None for part in weights):
        weights = [
            np.ones(len(batch["y"])) if part is None else part
            for part, batch in zip(weights, batches, strict=True)
        ]
    return {
        "X": stacked([batch["X"] for batch in batches]),
        "y": stacked([batch["y"] for batch in batches]),
        "sample_weight": None if weights[0] is None else np.concatenate(weights),
    }
