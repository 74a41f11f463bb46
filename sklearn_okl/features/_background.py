"""A few rows of the past, each of which is as likely to be among them as any other."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, Seed
from ..base import OnFourierFeatures, OnlineTransformer, _copied, twin


@inherit_documentation
@explained_by(OnFourierFeatures)
class BackgroundReservoir(OneToOneFeatureMixin, OnlineTransformer):
    """Hand rows on as they are, and keep a uniform sample of them, to explain forecasts by.

    As the first step of a :class:`StreamingPipeline` it gives ``explain`` and ``partial_effects``
    their background: what is usual, as the stream goes on.

    Parameters
    ----------
    n_rows : int, default=32
        Number k of rows that are kept, at least 1. Attributions are means over them; 32 keep their
        cost low.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    background_ : ndarray of shape (n_kept, n_features)
        The rows kept: min(n_rows, n_samples_seen) of them, or fewer after rows had to go.

    See Also
    --------
    sklearn_okl.inspection.explain : Which asks for a background.

    Notes
    -----
    *Cost.* O(d) per row, and k d numbers of memory.

    After t rows each of them has been kept with probability min(1, k / t) [1]_. Forecasts do not
    depend on it. NaN is kept as it is; text is refused.

    *Rows that must go.* Where a pipeline unlearns rows, they leave the sample too. The next rows
    take their places, and those of rows that were not kept, at random, so that the sample stays
    uniform [2]_. Until as many have come as went it is of up to `n_rows` rows, and may be empty.

    *Why a step of its own.* A sample in every model would be in every file and every copy, for all
    who never ask.

    References
    ----------
    .. [1] J. S. Vitter, "Random sampling with a reservoir", ACM Transactions on Mathematical
       Software 11(1), 1985, Algorithm R.
    .. [2] R. Gemulla, W. Lehner, P. J. Haas, "A dip in the reservoir: maintaining sample synopses
       of evolving datasets", Very Large Data Bases (VLDB), 2006, random pairing.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import BackgroundReservoir, VAWRegressor, make_streaming_pipeline
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = make_streaming_pipeline(
    ...     BackgroundReservoir(random_state=0), VAWRegressor(forecaster="ridge")
    ... ).fit(X, X @ [1.0, -2.0])
    >>> model[0].background_.shape
    (32, 2)
    >>> model.explain(X[:3]).values.shape
    (3, 2)
    """

    _test_parameters = ({"random_state": 0}, {"n_rows": 3, "random_state": 1})

    _column_by_column = True
    _allow_nan = True
    _structural = ("n_rows",)
    _parameter_constraints = {
        "n_rows": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_rows: int = 32, *, random_state: Seed = None) -> None:
        self.n_rows = n_rows
        self.random_state = random_state

    @property
    def background_(self) -> Array:
        """The rows kept, of shape (n_kept, n_features): up to `n_rows` of them."""
        return self._fitted_state("background_")["rows"].copy()

    def _begin(self, X: Array, y: Any) -> Any:
        # a generator of our own: the user's may be shared, and is not ours to copy
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        rows = np.empty((0, X.shape[1]))
        return {"t": 0, "rows": rows, "rng": np.random.RandomState(seed)}

    def _flow(self, state: Any, X: Array, y: Any, delay: int) -> Array:
        draws, low = state["rng"].random_sample(len(X)), 0
        while low < len(X) and sum(state.get("gone", ())) > 0:
            self._paired(state, X[low], draws[low])
            low += 1
        self._drawn(state, X[low:], draws[low:])
        return X

    def _paired(self, state, row, draw):
        """Let a row take the place of one that went: of one that was kept, or of another."""
        kept, others = state["gone"]
        enters = int(draw * (kept + others) < kept)
        if enters:
            state["rows"] = np.concatenate([state["rows"], row[None]])[: self.n_rows]
        state.update(t=state["t"] + 1, gone=[kept - enters, others - (1 - enters)])

    def _drawn(self, state, X, draws):
        """Let rows take places of others, as if nothing had ever gone."""
        t, k = state["t"], self.n_rows
        numbers = t + np.arange(len(X))
        places = (draws * (numbers + 1)).astype(np.intp)
        places[numbers < k] = numbers[numbers < k]
        rows = np.concatenate([state["rows"], np.empty((min(len(X), max(k - t, 0)), X.shape[1]))])
        enters = np.flatnonzero(places < k)
        for i in enters.tolist():
            rows[places[i]] = X[i]
        state.update(t=t + len(X), rows=rows)

    def _without(self, X):
        """Return one that knows nothing of rows that it was told."""
        (X, _), other = self._asked(X), twin(self)
        rows, (kept, others) = self._state["rows"], self._state.get("gone", (0, 0))
        for row in X:
            is_it = ((rows == row) | (np.isnan(rows) & np.isnan(row))).all(axis=1)
            rows = np.delete(rows, np.flatnonzero(is_it)[:1], axis=0)
        kept += len(self._state["rows"]) - len(rows)
        others += len(X) - (len(self._state["rows"]) - len(rows))
        left = {"t": self._state["t"] - len(X), "rows": rows, "gone": [kept, others]}
        other._state = _copied(self._state) | left
        return other

    def _ask(self, state: Any, X: Array) -> Array:
        return X
