"""One-hot encoding on the way: slots for the categories that come first, hashes for the rest."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_feature_names_in

from .._delay import read_late
from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, ArrayLike
from ..base import OnlineTransformer
from ._calendar import CalendarFeatures
from ._columns import columns_of, distinct, hashed, kind_of, names_of, remembered


@inherit_documentation
class RunningOneHotEncoder(OnlineTransformer):
    """Encode nominal columns as indicators of their categories, in a width that never changes.

    The categories of a column get slots in the order in which they first appear; those that come
    when all slots are taken share a few slots by their hash.

    Parameters
    ----------
    max_categories : int, default=32
        Number of categories of a column that get a slot of their own.
    n_hashed : int, default=4
        Number of slots of a column that all further categories share. With 0 they are zeros.

    Attributes
    ----------
    categories_ : list of ndarray of object
        For each column, the categories that have a slot of their own, in the order of the slots;
        numbers and booleans as float, None for missing values, and text of more than 64 characters
        as its hash, BLAKE2's of 16 bytes.

    See Also
    --------
    RunningImputer : Fills the gaps of columns of numbers.
    CalendarFeatures : Makes numbers of dates.
    sklearn.preprocessing.OneHotEncoder : For categories that are known, or there at once.

    Notes
    -----
    *Cost.* O(d) per row and the width of what it returns, d (`max_categories` + `n_hashed`)
    numbers for d columns. Memory for `max_categories` values a column, however long their text.

    *Causality.* A row is encoded by the categories of the rows before it. A category that appears
    for the first time is zeros in all slots of its column, and gets its slot when the row is
    learnt: so a learner has coefficients for known categories alone, and two new ones are not taken
    for one. Where all slots are taken, nothing is left to learn of a column, and a new category has
    its hashed slot at once.

    *Values.* Columns hold text, or numbers and booleans, or categories of pandas and polars of
    these. They are matched by value, not by code or type, which differ from chunk to chunk: 1, 1.0
    and True are one category. None, NaN and pandas' NA and NaT are one category as well, like any
    other. The first value that is not missing says whether a column is of text or of numbers;
    another kind later is an error, for 1 and "1" are seldom meant to differ.

    Hashes are MurmurHash3's, seeded by the place of the column: the same on all machines.

    *Late labels.* In a :class:`StreamingPipeline` whose last step has a ``label_delay`` D, row t is
    encoded by the categories of the rows up to t - 1 - D; rows 0 to D, before the first label, by
    those of all rows before them.

    References
    ----------
    .. [1] K. Weinberger, A. Dasgupta, J. Langford, A. Smola, J. Attenberg, "Feature hashing for
       large scale multitask learning", International Conference on Machine Learning, 2009.

    Examples
    --------
    >>> from sklearn_okl import RunningOneHotEncoder
    >>> encoder = RunningOneHotEncoder(max_categories=2, n_hashed=1)
    >>> encoder.prequential_transform([["a"], ["a"], ["b"], ["b"], ["c"]])
    array([[0., 0., 0.],
           [1., 0., 0.],
           [0., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    >>> encoder.categories_
    [array(['a', 'b'], dtype=object)]
    """

    _test_parameters = ({}, {"max_categories": 5, "n_hashed": 2})

    _allow_nan = True
    _structural = ("max_categories", "n_hashed")
    _parameter_constraints = {
        "max_categories": [Interval(Integral, 1, None, closed="left")],
        "n_hashed": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(self, max_categories: int = 32, *, n_hashed: int = 4) -> None:
        self.max_categories = max_categories
        self.n_hashed = n_hashed

    @property
    def categories_(self) -> Any:
        """The categories of each column that have a slot, a list of arrays."""
        known = self._fitted_state("categories_")["categories"]
        return [np.array(values, dtype=object) for values in known]

    @explained_by(CalendarFeatures.get_feature_names_out)
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Return the names of the slots, which do not depend on the categories.

        Returns
        -------
        names : ndarray of str
            For each input its name with ``_0``, ``_1`` and so on for the slots of categories, and
            with ``_hashed0`` and so on for those that are shared.
        """
        self._fitted_state("get_feature_names_out")
        n_slots = self._built_with["structure"]
        slots = [f"_{k}" for k in range(n_slots["max_categories"])]
        slots += [f"_hashed{k}" for k in range(n_slots["n_hashed"])]
        names = _check_feature_names_in(self, input_features)
        return np.array([f"{name}{slot}" for name in names for slot in slots], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _validated(self, X, y, reset):
        columns = columns_of(self, X, reset)
        names = names_of(self)
        return [distinct(*given) for given in zip(columns, names, strict=True)], None

    def _read(self, X):
        return X, np.dtype(np.float64)

    def _begin(self, X, y):
        return {"t": 0, "categories": [[] for _ in X], "kinds": [None] * len(X)}

    def _flow(self, state, X, y, delay):
        state["kinds"] = self._kinds(state, X)
        slots, n_known = [], []
        for j, (values, codes) in enumerate(X):
            held = state["categories"][j]
            before, known = len(held), set(map(remembered, held))
            new = [value for value in map(remembered, values) if value not in known]
            held += new[: self.max_categories - before]
            slots.append(self._slots(held, values, j)[codes])
            newest = np.maximum.accumulate(np.append(before - 1, slots[-1]))[:-1]
            n_known.append(np.minimum(newest + 1, len(held)))
        slots, n_known = np.stack(slots, axis=1), np.stack(n_known, axis=1)
        if delay:
            n_known = read_late(state, n_known, delay)
        state["t"] += len(slots)
        return self._indicators(slots, n_known)

    def _ask(self, state, X):
        self._kinds(state, X)
        known = state["categories"]
        slots = [self._slots(known[j], values, j)[codes] for j, (values, codes) in enumerate(X)]
        return self._indicators(np.stack(slots, axis=1), np.array([len(held) for held in known]))

    def _slots(self, held, values, j):
        """Return the slots of values in column j; they may not be known yet."""
        own = {remembered(value): slot for slot, value in enumerate(held)}
        slots = [own.get(remembered(value)) for value in values]
        return np.array(
            [
                self._shared_slot(value, j) if slot is None else slot
                for value, slot in zip(values, slots, strict=True)
            ]
        )

    def _shared_slot(self, value, j):
        return self.max_categories + hashed(value, j, max(self.n_hashed, 1))

    def _indicators(self, slots, n_known):
        """Return rows with a one in each slot (n, d), but those of categories not yet known."""
        width = self.max_categories + self.n_hashed
        is_full = n_known == self.max_categories
        shown = np.where(slots < self.max_categories, slots < n_known, is_full) & (slots < width)
        rows, columns = np.nonzero(shown)
        Z = np.zeros((len(slots), slots.shape[1] * width))
        Z[rows, columns * width + slots[rows, columns]] = 1.0
        return Z

    def _kinds(self, state, X):
        """Return the kinds of columns, those before and those of rows, or refuse another one."""
        kinds = list(state["kinds"])
        for j, (values, _) in enumerate(X):
            for kind in map(kind_of, values):
                kinds[j] = kinds[j] or kind
                if kind not in (None, kinds[j]):
                    raise ValueError(
                        f"Column {names_of(self)[j]!r} was of {kinds[j]}, and now it is of {kind}: "
                        "a column is of one kind throughout. Give all its values as text, say, or "
                        "call 'fit' to start afresh."
                    )
        return kinds
