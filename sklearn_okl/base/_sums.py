"""Learners that are sums over their rows: two of them are added, rows are taken away again."""

from __future__ import annotations

import hashlib

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from .._documentation import explained_by
from .._linalg import one_blas_thread
from .._types import Any, ArrayLike, Self
from ._state import _copied, _same, twin
from ._weighted import WeightedRegressor

NO_RECORD = {"n_rows": 0, "digest": ""}


class KeepsRecord:
    """Beside the shell of a learner that unlearns rows: it counts them, and writes them down.

    Attributes
    ----------
    unlearnt_ : Bunch
        The record of what was unlearnt: ``n_rows``, and ``digest``, a SHA-256 over these rows in
        the order in which they were named, to be held against a list of one's own.
    """

    @property
    def unlearnt_(self) -> Bunch:
        """Number of rows unlearnt so far, and their digest."""
        return Bunch(**self._fitted_state("unlearnt_").get("unlearnt", NO_RECORD))

    @property
    def n_samples_seen_(self) -> int:
        """Rows learnt so far, and not unlearnt."""
        state = self._fitted_state("n_samples_seen_")
        return state["t"] - state.get("gone", 0)

    def _unlearn(self, X, y, sample_weight=None, age=None):
        given = {"sample_weight": sample_weight, "age": age}
        self._swap(False, X, y, _unlearn_all, {}, given)
        return self


class SumsOfRows(KeepsRecord):
    """Beside the shell of a learner whose state is a sum over its rows, whatever their order.

    A subclass says in private verbs::

        _order_matters(has_age) -> str or None    why, as a sentence, if it does after all
        _unfit(other) -> str or None              in what another model does not fit to this one
        _merged(state, theirs)                    adds another state, editing the first
        _without(state, X, y, sample_weight)      takes rows away again, editing the state
        _without_aged(state, X, y, sample_weight, age)
                                                  the same where the weight of a row has faded
    """

    def merge(self, other: Any) -> Self:
        """Learn what another model has learnt from other rows.

        Parameters
        ----------
        other : estimator object
            Of the same class and fitted on rows of the same features, with the same parameters that
            the state is built with; it is left as it is.

        Returns
        -------
        self : SumsOfRows
            The model that would have learnt the rows of both: the sums of products, which are all
            that a ridge solution needs, are those of both. So parts of a data set can be learnt on
            different machines.

        Raises
        ------
        TypeError
            If `other` is of another class, or the order of rows matters, as where models forget.
        ValueError
            If the two do not fit together.

        Notes
        -----
        Equal to one model on the joined rows up to rounding, the variance behind `predict`'s
        standard deviations included.

        Examples
        --------
        >>> from sklearn_okl import VAWRegressor
        >>> from sklearn_okl.datasets import make_ar4
        >>> X, y = make_ar4(200)
        >>> halves = VAWRegressor().fit(X[:100], y[:100]), VAWRegressor().fit(X[100:], y[100:])
        >>> merged, whole = halves[0].merge(halves[1]), VAWRegressor().fit(X, y)
        >>> bool(abs(merged.coef_ - whole.coef_).max() < 1e-12)
        True
        """
        if not isinstance(other, type(self)):
            raise TypeError(
                f"merge needs another {type(self).__name__}, got {type(other).__name__}."
            )
        for model in (self, other):
            check_is_fitted(model)
            model._validate()
            model._check_structure()
            model._check_order("merged")
        fault = self._unfit(other)
        if fault is None and not _same(self._structure(), other._structure()):
            fault = "The models have other parameters than each other; give both the same."
        if fault is None and not _same(
            getattr(self, "feature_names_in_", None), getattr(other, "feature_names_in_", None)
        ):
            fault = "The models have learnt features of different names."
        if fault is not None:
            raise ValueError(fault)
        former, model = self._state, twin(self)
        state, theirs = _copied(former), _copied(other._state)
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):
            self._merged(state, theirs)
        records = [part.pop("unlearnt") for part in (state, theirs) if "unlearnt" in part]
        if records:
            state["unlearnt"] = _joined(records)
        state.pop("lookout", None)  # which judges rows in their order
        self._take_over(former, model, state)
        return self

    @explained_by(WeightedRegressor.partial_fit)
    def unlearn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        age: ArrayLike | None = None,
    ) -> Self:
        r"""Forget rows that were learnt, in any order: the model is one that has never seen them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that were learnt, with the targets and the weights with which they were.
        age : int or array-like of int of shape (n_samples,), default=None
            How many rounds ago each of the rows came, 0 for the latest: only who forgets,
            ``forgetting < 1``, needs it, as by now a row has so much less weight. Rounds of rows
            that were unlearnt still count. None: all rows have the weight with which they came.

        Returns
        -------
        self : estimator object
            With a lower `n_samples_seen_`, and the rows in the record `unlearnt_`.

        Raises
        ------
        TypeError
            If the model forgets and no `age` is given, or it cannot unlearn by age.
        ValueError
            If more rows are named than were learnt; if no such rows can have been learnt; or if the
            numbers that would be left are no more than rounding, where these rows outweigh the rest
            by more than five digits: fit a new model on the rows that stay then.

        Notes
        -----
        *Cost.* That of learning the rows, a row alone or many at once, and a rebuild of the inverse
        now and then; of a row alone half more where rows are learnt in between.

        *Theorem.* With H the leverages :math:`Z P Z^T` of the rows in the model that has learnt
        them, the inverse without them is :math:`P + P Z^T (I - H)^{-1} Z P` (Sherman, Morrison and
        Woodbury). Where a row's :math:`1 - h` is near 0 the inverse is rebuilt from the sums.

        *Where models forget* the rounds of the rows stay: what came before them has faded all the
        same. So coefficients and forecasts are those of a model to which they came with
        ``sample_weight=0``; standard deviations differ by the ridge that is put back.

        *A row that was never learnt* cannot be told from one that was, unless it is larger than all
        that was. Forecasts made before stay as they were made.

        Examples
        --------
        A window that slides, by learning a row and unlearning the one 50 rows before it:

        >>> from sklearn_okl import VAWRegressor
        >>> from sklearn_okl.datasets import make_ar4
        >>> X, y = make_ar4(200)
        >>> model = VAWRegressor().fit(X[:50], y[:50])
        >>> for t in range(50, 200):
        ...     model = model.partial_fit(X[t : t + 1], y[t : t + 1])
        ...     model = model.unlearn(X[t - 50 : t - 49], y[t - 50 : t - 49])
        >>> bool(abs(model.coef_ - VAWRegressor().fit(X[150:], y[150:]).coef_).max() < 1e-12)
        True
        >>> model.n_samples_seen_, model.unlearnt_.n_rows
        (50, 150)
        """
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)
        self._check_order("unlearnt from", age is not None)
        return self._unlearn(X, y, sample_weight, age)

    def _without_aged(self, state, X, y, sample_weight, age):
        raise TypeError(f"A {type(self).__name__} knows no age of rows: leave 'age' out.")

    def _check_order(self, done, has_age=False):
        why = self._order_matters(has_age)
        if why is not None:
            raise TypeError(f"A {type(self).__name__} cannot be {done}: {why}")


def refuse_weights(model, sample_weight):
    """Refuse weights of rows that cannot have been learnt with any."""
    if sample_weight is not None:
        raise TypeError(f"{type(model).__name__} learns no sample_weight. Leave it out.")


def ages_of(age, n, t):
    """Return ages (n,) of rows, of t rounds; refuse what are none."""
    ages = np.asarray(age)
    if ages.dtype.kind not in "iu" or ages.shape not in ((), (n,)):
        raise ValueError(
            f"age={age!r} must be a whole number, or one for each of the {n} rows: how many rounds "
            "ago it came, 0 for the latest."
        )
    if ages.size and (ages.min() < 0 or ages.max() >= t):
        raise ValueError(f"age must be from 0 to {t - 1}, as the model is {t} rounds old.")
    return np.broadcast_to(ages, n)


def _unlearn_all(model, state, X, y, learn_arguments):
    """Take rows away from a state, and write them down; the answer is that of no rows."""
    weights, age = learn_arguments["sample_weight"], learn_arguments["age"]
    t, gone = state["t"], state.get("gone", 0)
    n_learnt = t - gone
    if len(y) > n_learnt:
        raise ValueError(f"{len(y)} rows cannot be unlearnt by a model that has learnt {n_learnt}.")
    if age is None:
        model._without(state, X, y, weights)
    else:
        model._without_aged(state, X, y, weights, age)
    if state["t"] > t - len(y):  # rounds that stay
        state["gone"] = gone + len(y)
    known = state.get("unlearnt", NO_RECORD)
    given = [X, y.reshape(len(y), -1)]
    if weights is not None:
        weights = np.broadcast_to(np.asarray(weights, dtype=np.float64), len(y))
        given.append(weights[:, None])
    digest = _digest(known["digest"], np.concatenate(given, axis=1, dtype="<f8"))
    state["unlearnt"] = {"n_rows": known["n_rows"] + len(y), "digest": digest}
    state.pop("lookout", None)
    return np.empty((0, *y.shape[1:]))


def _digest(digest, rows):
    """Return the digest after some rows; the cut of the rows into calls changes nothing."""
    numbers, size = rows.tobytes(), rows.itemsize * rows.shape[1]
    for low in range(0, len(numbers), size):
        digest = hashlib.sha256(digest.encode() + numbers[low : low + size]).hexdigest()
    return digest


def _joined(records):
    """Return the record of two models that were merged, from those that have one."""
    digest = records[0]["digest"]
    if len(records) > 1:
        digest = hashlib.sha256((digest + records[1]["digest"]).encode()).hexdigest()
    return {"n_rows": sum(record["n_rows"] for record in records), "digest": digest}
