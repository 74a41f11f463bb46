"""Rows as dicts: what is kept of them until their labels come, and how an estimator sees them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import chain, islice, takewhile
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import HasMethods, Interval

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Self
from ..features._columns import is_missing
from ._fields import are_numbers, kept, may_be_text, refuse_others
from ._gaps import Gaps, are_gaps
from ._keyed import Keyed
from ._keys import Keys, values_of
from ._river import KnownToRiver
from ._teaching import copied

_JUDGED = 32  # labels told by which it is judged how late they come
_LATEST = 1000  # rows that wait and are counted then


@inherit_documentation
class RowByRow(KnownToRiver, BaseEstimator):
    """Base: rows come as dicts, one by one.

    Parameters
    ----------
    estimator : estimator object, default=None
        What learns by `partial_fit`; it is cloned with the first row. None is the default of
        :class:`KeyedRegressor`, or :class:`KeyedClassifier`.
    max_pending : int, default=10000
        How many rows wait for their labels at most; where one more comes the oldest is given up.
    max_age : int, default=None
        Number of rows asked after which one that still waits is given up. None: never.

    Attributes
    ----------
    fields_ : list of str
        The names of the fields, in the order of the first row learnt; where the estimator takes
        gaps, those of rows that waited then, too, in the order in which they were asked.
    estimator_ : estimator object
        The fitted estimator, which is not to be taught by anybody else. One of keys gets the keys
        beside the rows: the fields that its `key` names are no features.
    n_samples_seen_ : int
    n_pending_ : int
    n_given_up_ : int
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["partial_fit", "predict"]), None],
        "max_pending": [Interval(Integral, 1, None, closed="left")],
        "max_age": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self, estimator: Any = None, *, max_pending: int = 10_000, max_age: int | None = None
    ) -> None:
        self.estimator = estimator
        self.max_pending = max_pending
        self.max_age = max_age

    def __getstate__(self):
        return super().__getstate__() | self._held()

    def _held(self):
        """Return the attributes as files have them: ids are of any type, keys of dicts are not."""
        waiting = [[name, *row] for name, row in self._waiting().items()]
        return vars(self) | ({"_pending": waiting} if waiting else {})

    def __setstate__(self, state):
        super().__setstate__(state)
        if isinstance(vars(self).get("_pending"), list):
            self._pending = {name: tuple(row) for name, *row in self._pending}

    def __sklearn_is_fitted__(self):
        return hasattr(self, "fields_")

    def _look_over(self):
        """Fail where a model, as one from a file, holds rows or an estimator that are none."""
        self._validate_params()
        counts = [self.n_given_up_, self.n_samples_seen_, vars(self).get("_asked", 0)]
        rows = list(self._waiting().values())
        if not all(len(row) == 3 and isinstance(row[0], Mapping) for row in rows):
            raise ValueError("rows that wait are none")
        counts += [asked for _, _, asked in rows] + list(vars(self).get("_late", []))
        known = vars(self).get("_known_of_fields")
        if known is not None and not are_gaps(known, vars(self).get("fields_", [])):
            raise ValueError("what is known of its fields is no such thing")
        rows += Gaps(known, []).rows() if known else []
        if not all(isinstance(count, Integral) and count >= 0 for count in counts):
            raise ValueError("it counts no rows")
        for x, key, _ in rows:
            self._row(x)
            self._keys(x, key)
        if "estimator_" not in vars(self):
            return
        (_, of_kind), fields = self._kind, vars(self).get("fields_")
        if not (of_kind(self.estimator_) and self.estimator_.n_features_in_ == len(fields)):
            raise ValueError("its estimator is none of rows of its fields")
        self._row(dict.fromkeys(fields))

    @property
    def n_pending_(self) -> int:
        """Rows that wait for their labels."""
        return len(self._waiting())

    @property
    def n_given_up_(self) -> int:
        """Rows whose labels did not come in time."""
        return vars(self).get("_given_up", 0)

    @property
    def n_samples_seen_(self) -> int:
        """Rows learnt so far."""
        return vars(self).get("_learnt", 0)

    def learn_one(self, x: Mapping, y: Any, *, key: Any = None) -> Self:
        """Learn one row; on any failure the model is as it was.

        Parameters
        ----------
        x : dict of str to number, text, date or None
            The row. Fields may come in any order. One that is missing, or
            None, is a gap: it is NaN for the estimator, which may refuse it. A field that the first
            row learnt did not have is an error, but for those of rows that waited then, if the
            estimator takes gaps.
            A field is of the kind of its first value; of dates before which 256 rows had gaps the
            days are taken as a number.
        y : number, or label
            Its target.
        key : str, number or tuple, default=None
            Its key, where the estimator is one of keys and no field holds it.

        Returns
        -------
        self : object
        """
        fields, _ = self._known_fields(x), self._keys(x, key)
        target, everyones = self._label(y), self._fields_of_all(x)
        try:
            news = self._learnt_with(everyones, x, target, key)
        except ValueError:
            if everyones == fields:
                raise
            news = self._learnt_with(fields, x, target, key)  # without what is a gap here
        vars(self).update(news)
        return self

    @explained_by(learn_one)
    def ask(self, id: Any, x: Mapping, *, key: Any = None) -> Any:
        """Forecast a row, and keep it until `tell` says its label.

        Parameters
        ----------
        id : hashable
            What `tell` will call the row.

        Returns
        -------
        forecast : number, or label
            As of `predict_one`.

        Raises
        ------
        ValueError
            If a row of this id is waiting already, or the estimator could not learn the row.
        """
        self._validate_params()
        if self.waits(id):
            raise ValueError(
                f"A row with id={id!r} is waiting for its label already. Give each row its own id."
            )
        forecast, asked = self.predict_one(x, key=key), vars(self).get("_asked", 0) + 1
        self._refuse_never(x, key)
        oldest = 0 if self.max_age is None else asked - self.max_age
        waiting = self._waiting()
        left = waiting.copy()  # far faster than one made row by row
        for name, row in waiting.items():
            if row[2] > oldest and len(left) < self.max_pending:
                break
            del left[name]
        given_up = self.n_given_up_ + len(waiting) - len(left)
        left[id] = (kept(x), key, asked)
        vars(self).update(_pending=left, _asked=asked, _given_up=given_up)
        return forecast

    @explained_by(learn_one)
    def tell(self, id: Any, y: Any) -> Self:
        """Learn a row that `ask` has forecast, now that its label is known.

        Parameters
        ----------
        id : hashable
            What `ask` called it.
        y : number, or label
            Its target. Rows are learnt in the order in which their labels come.

        Raises
        ------
        ValueError
            If no row of this id waits: it was never asked, was told already, or was given up.
        """
        if not self.waits(id):
            raise ValueError(
                f"No row with id={id!r} is waiting: it was never asked, its label has come "
                f"already, or it was given up (max_pending={self.max_pending}, "
                f"max_age={self.max_age}). Nothing is learnt."
            )
        x, key, _ = self._waiting()[id]
        late, before = self._lateness(id), len(vars(self).get("_late", []))
        self.learn_one(x, y, key=key)
        vars(self).update({"_pending": self._without(id)} | ({"_late": late} if late else {}))
        usual = int(np.median(late)) if before < len(late) == _JUDGED else 0
        if usual:
            warnings.warn(
                f"Labels are late, by {usual} in rows of their key, and the estimator has "
                f"label_delay=0: it takes all of them for known. Give it label_delay={usual}.",
                UserWarning,
                stacklevel=2,
            )
        return self

    @explained_by(tell)
    def forget(self, id: Any) -> Self:
        """Give up a row whose label will never come.

        Raises
        ------
        ValueError
            If no row of this id waits.
        """
        if not self.waits(id):
            raise ValueError(f"No row with id={id!r} is waiting.")
        vars(self).update(_pending=self._without(id), _given_up=self.n_given_up_ + 1)
        return self

    @explained_by(tell)
    def waits(self, id: Any) -> bool:
        """Tell whether a row waits for its label.

        Returns
        -------
        waits : bool
            False if it was never asked, was told already, or was given up.

        Raises
        ------
        TypeError
            If the id is not hashable.
        """
        try:
            return id in self._waiting()
        except TypeError as error:
            raise TypeError(f"id={id!r} is {error}: give text, a number or a tuple.") from error

    def _lateness(self, id):
        """Return by how many rows of their keys the first labels were late, this one the last."""
        found, estimator = vars(self).get("_late", []), self._unfitted()
        estimator = estimator._unfitted() if isinstance(estimator, Keyed) else estimator
        is_told = getattr(estimator, "label_delay", None) != 0 or not getattr(estimator, "lags", 1)
        if is_told or len(found) >= _JUDGED:
            return found
        x, key, asked = self._waiting()[id]
        mine, latest = self._keys(x, key), reversed(self._waiting().values())
        later = takewhile(lambda row: row[2] > asked, islice(latest, _LATEST))
        return [*found, sum(self._keys(*row[:2]) == mine for row in later)]

    def _waiting(self):
        return vars(self).get("_pending", {})

    def _without(self, id):
        kept = self._waiting().copy()
        del kept[id]
        return kept

    def _refuse_never(self, x, key):
        """Refuse a row before the first that a fresh estimator would refuse, whatever its label."""
        if "estimator_" in vars(self):
            return
        row = self._row(x)
        if hasattr(row, "columns") or not np.isfinite(row).all():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self._with_row(None, row, x, self._some_label(), key)
            except ValueError as error:
                raise self._naming_gaps(error, x) from error

    def _learnt_with(self, fields, x, target, key):
        """Return the attributes of a model that has learnt a row, with these fields."""
        row, n_learnt = self._row(x, fields), self.n_samples_seen_
        is_framed = hasattr(row, "columns")
        try:
            model, known = self._taught(row, x, target, key, is_framed and self._gaps(fields))
        except ValueError as error:
            raise self._naming_gaps(error, x) from error
        news = {"estimator_": model, "fields_": fields, "_is_framed": is_framed}
        if is_framed:
            news["_known_of_fields"] = known.after(n_learnt, x, key, *target.tolist())
        return news | {"_learnt": n_learnt + 1}

    def _gaps(self, fields):
        return Gaps(vars(self).get("_known_of_fields"), fields)

    def _taught(self, row, x, target, key, gaps):
        """Return a model that has learnt a row, and what was known of gaps before it.

        Where a field that was a gap in each row turns out to hold dates the first rows are learnt
        once more, as rows whose dates are missing. If there are too many its dates are days.
        """
        names, known = gaps.new_dates(x) if gaps else [], vars(self).get("estimator_")
        if not names or known is None:
            return self._with_row(known, row, x, target, key), gaps
        if gaps.may_begin_anew(self.n_samples_seen_) and not vars(known).get("store"):
            model, anew = None, Gaps(gaps.turned(names, "dates"), gaps.fields)
            for one, its_key, y in [*gaps.rows(), [x, key, *target.tolist()]]:
                row = self._row(one, gaps.fields, anew)
                model = self._with_row(model, row, one, self._label(y), its_key)
            return model, anew
        try:
            return self._with_row(known, row, x, target, key), gaps
        except ValueError:
            days = Gaps(gaps.turned(names, "days"), gaps.fields)
            return self._with_row(known, self._row(x, days.fields, days), x, target, key), days

    def _with_row(self, model, row, x, target, key):
        """Return a copy of a model, or a fresh one, that has learnt a row."""
        is_first = model is None
        model = self._begun() if is_first else copied(model)
        classes = self._classes() if is_first else {}
        model.partial_fit(row, target, **self._keys(x, key), **classes)
        return model

    def _answer(self, verb, x, key, *arguments):
        """Return what a verb of the estimator says of one row, or None before there is one."""
        row, keys = self._row(x), self._keys(x, key)
        if "estimator_" not in vars(self):
            return None
        try:
            found = getattr(self.estimator_, verb)(row, *arguments, **keys)[0]
        except ValueError as error:
            raise self._naming_gaps(error, x) from error
        return found.item() if isinstance(found, np.generic) else found

    def _unfitted(self):
        return self._by_default() if self.estimator is None else self.estimator

    def _begun(self):
        self._validate_params()
        estimator = self._unfitted()
        kind, of_kind = self._kind
        if isinstance(estimator, type) or not of_kind(estimator):
            raise TypeError(f"estimator={estimator!r} is not an instance of a {kind}.")
        model = clone(estimator)
        return model.set_params(key=None) if self._key_fields() else model

    def _key_fields(self):
        """Return the fields that the estimator's `key` names."""
        estimator = self._unfitted()
        names = Keys(estimator.key).columns if isinstance(estimator, Keyed) else []
        if not all(isinstance(name, str) for name in names):
            raise TypeError(
                f"key={estimator.key!r} names places of columns, and rows are dicts: give names."
            )
        return names

    def _keys(self, x, key):
        """Return what the estimator is told of the key of a row."""
        names = self._key_fields()
        if key is not None and (names or not isinstance(self._unfitted(), Keyed)):
            raise TypeError(
                "key= is for an estimator of keys whose 'key' names no field, such as "
                "RowRegressor(KeyedRegressor()). Leave it out."
            )
        missing = [name for name in names if x.get(name) is None]
        if missing:
            raise ValueError(f"The row has no field {missing[0]!r}, which is its key.")
        if names:
            parts = [values_of([x[name]], f"The field {name!r}")[0] for name in names]
            key = parts[0] if len(names) == 1 else tuple(parts)
        elif isinstance(key, (tuple, list)):
            key = tuple(values_of([part], "key=")[0] for part in key)
        elif key is not None:
            key = values_of([key], "key=")[0]
        if key is None:
            return {}
        return {"keys": [key]}

    def _fields(self, x):
        """Return the names of the fields: those of the first row learnt, or of this one."""
        known = vars(self).get("fields_")
        return known or [name for name in x if name not in self._key_fields()]

    def _fields_of_all(self, x):
        """Return the same, and before a row is learnt those of all that wait, too."""
        if "estimator_" in vars(self) or not self._waiting():
            return self._fields(x)
        rows = [*(row for row, _, _ in self._waiting().values()), x]
        return list(dict.fromkeys(chain.from_iterable(map(self._fields, rows))))

    def _row(self, x, fields=None, gaps=None):
        """Return a row as the estimator takes it: numbers, or a frame if there may be text."""
        fields = self._known_fields(x) if fields is None else fields
        values = list(map(x.get, fields))
        of_numbers = are_numbers(values)
        if not of_numbers:
            refuse_others(fields, values)
            values = [None if is_missing(value) else value for value in values]
            of_numbers = are_numbers(values)
        if "estimator_" not in vars(self):
            is_framed = not of_numbers or may_be_text(values)
        else:
            is_framed = vars(self).get("_is_framed", False)
        if is_framed:
            import pandas as pd

            values = [None if is_missing(value) else value for value in values]
            values = (gaps or self._gaps(fields)).filled(values)
            return pd.DataFrame([values], columns=list(map(str, fields)))
        if not of_numbers:
            other = [n for n, v in zip(fields, values, strict=True) if not are_numbers([v])]
            raise ValueError(
                f"The fields {other} hold text or dates, and the first row held numbers. Give "
                "numbers, or begin anew with text, dates or gaps in the first row."
            )
        try:
            return np.array([values], dtype=np.float64)  # None is NaN
        except OverflowError as error:
            raise ValueError(f"The row holds a number beyond float64: {error}.") from error
        except ValueError as error:
            raise ValueError(f"The row holds what is no number of float64: {error}.") from error

    def _known_fields(self, x):
        """Return the names of the fields; refuse a row that has others, or none."""
        if not isinstance(x, Mapping):
            raise TypeError(f"A row is a dict of fields, got a {type(x).__name__}.")
        fields = self._fields(x)
        if not fields:
            raise ValueError("The row has no fields, besides its key.")
        new = x.keys() - set(fields) - set(self._key_fields())
        if new:
            raise ValueError(
                f"The row has fields {sorted(map(str, new))} that the first row did not have, "
                f"{fields}. Leave them out, or begin anew with all fields in the first row."
            )
        return fields

    def _naming_gaps(self, error, x):
        """Return an error of the estimator; where it is one of NaN it names the fields."""
        gaps = [name for name in self._fields(x) if is_missing(x.get(name))]
        if not gaps or type(error) is not ValueError or "NaN" not in str(error):
            return error
        return ValueError(f"The fields {gaps} are missing, or None: {error}")
