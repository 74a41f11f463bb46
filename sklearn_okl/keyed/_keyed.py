"""What regressors and classifiers of one model a key share."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from numbers import Integral
from operator import itemgetter
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._documentation import explained_by
from .._linalg import one_blas_thread
from .._types import Any, ArrayLike, PathLike, Self
from .._validation import (
    check_columns,
    container_of,
    refuse_arguments,
    rows_of,
    targets_of,
    weights_of,
)
from ..base import OnlineRegressor, SwapMixin, described_structure
from ..base._answers import asked_quietly, told
from ..base._intercept import LAST_JUDGED
from ..untuned.many import whole
from ._bank import bank_of
from ._call import CallByKey
from ._entries import Entries
from ._initial import InitialForecasts
from ._keys import Keys, kinds_of, refuse_other_kinds
from ._lives import is_alive, lives_of, outnumbered, overdue
from ._merged import MergesKeys
from ._one_row import forecast_one, learn_one
from ._record import Record
from ._stored import bring_back, check_records, resolved
from ._teaching import (
    begun,
    check_estimator_of_keys,
    copied,
    fitting,
    labelled,
    taught,
    with_names,
)
from ._together import answer_in_one, learn_in_rounds, may_learn_together
from ._trial import look_over


class Keyed(MergesKeys, MetaEstimatorMixin, SwapMixin, BaseEstimator):
    """Base: one model a key.

    A subclass says which estimator there is by default, `_by_default`, what `y` is, `_targets`,
    and what is forecast where nothing is known, `_nothing`.

    Parameters
    ----------
    estimator : estimator object, default=None
        Whatever learns by `partial_fit`: each key has a clone. None is described above. A
        `label_delay` of its own counts rows of the key: where the labels of each key come D of its
        rows late, give D. The first D + 1 rows of a key are forecast by the prior.
    key : str, int or list of these, default=None
        The column that holds the keys, by name or place, or several columns, whose values together
        are the key. They are no features. None: keys come by ``keys=``, or there is one model for
        all rows.
    max_keys : int, default=None
        How many keys are kept; where one more comes, the one whose latest row is oldest goes. None
        keeps all.
    idle : int, default=None
        Number of rows, of all keys, without a row of its own after which a key goes. Rows are
        counted, no clock is read, so that the cut of the stream changes nothing. None: never.
    prior : {"pooled", "init"}, default="pooled"
        What forecasts a key of which no row has been learnt, in the first round of a key too.
        ``"pooled"``: one more clone of the estimator, which learns the rows of all keys. None: 0,
        or the same probability for each class, which costs nothing. ``"init"``, of regressors: the
        pooled model forecasts first, as `init` of scikit-learn's boosting does, and each key learns
        what is left; of what it says a share is added that all keys of its age have learnt.
    store : str or path-like, default=None
        Path of a :class:`Store`. Keys that go by `max_keys` or `idle` go there with the next
        ``Store(path).commit(model)``, and come back with their next row, or where a forecast of
        theirs is asked for: the forecasts are those of a model with no limit. A relative path
        is looked up from where the first row is learnt. Where the file has been moved, set the new
        path; a file without these keys is refused, and so is None. None from the first: their
        models are lost.

    Attributes
    ----------
    keys_ : list
        The keys that are kept, in the order in which they came, with `max_keys` or `idle` in that
        of their latest rows; those of several columns are tuples.
    n_keys_ : int
        Number of these.
    n_dropped_ : int
        How often a key has gone, by `max_keys` or `idle`, and its model is lost; should it come
        again it begins anew.
    n_stored_ : int
        Number of keys that have gone to `store`, those included that wait for the next commit.

    References
    ----------
    .. [1] Dawid 1984, on forecasts made before their targets.
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["partial_fit", "predict"]), None],
        "key": [str, Integral, list, tuple, None],
        "max_keys": [Interval(Integral, 1, None, closed="left"), None],
        "idle": [Interval(Integral, 1, None, closed="left"), None],
        "prior": [StrOptions({"pooled"}), None],
        "store": [str, Path, None],
    }
    _structural = ("estimator", "key", "max_keys", "idle", "prior")
    _of_classes = False
    __metadata_request__fit = {"sample_weight": None}
    __metadata_request__partial_fit = {"sample_weight": None}

    def __init__(
        self,
        estimator: Any = None,
        *,
        key: Any = None,
        max_keys: int | None = None,
        idle: int | None = None,
        prior: str | None = "pooled",
        store: str | PathLike | None = None,
    ) -> None:
        self.estimator = estimator
        self.key = key
        self.max_keys = max_keys
        self.idle = idle
        self.prior = prior
        self.store = store

    def __getstate__(self):  # a path is of a type of each system
        text = {"store": str(self.store)} if isinstance(self.store, Path) else {}
        return super().__getstate__() | text

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_state" in vars(self):
            self._state.setdefault("home", None)  # which older files do not have
            check_records(self, "The model")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._unfitted())
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.target_tags.multi_output = inner.target_tags.multi_output
        tags.target_tags.single_output = True
        return tags

    @property
    def keys_(self) -> list:
        """The keys that are kept."""
        state = self._fitted_state("keys_")
        idle, max_keys = self._as_built("idle"), self._as_built("max_keys")
        keys, last = state["entries"].lasts()
        alive = [
            (t, key) for key, t in zip(keys, last, strict=True) if is_alive(t, state["t"], idle)
        ]
        if idle is not None or max_keys is not None:  # who came again may be at the old place
            alive.sort(key=itemgetter(0))
        return [key for _, key in alive] if state["kinds"] else []

    @property
    def n_keys_(self) -> int:
        """Number of keys that are kept."""
        return len(self.keys_)

    @property
    def n_dropped_(self) -> int:
        """How often a key has gone."""
        state = self._fitted_state("n_dropped_")
        late = overdue(state["entries"], state["t"], self._as_built("idle"))
        return state["n_dropped"] + (len(late) if self.store is None else 0)

    @property
    def n_stored_(self) -> int:
        """Number of keys that have gone to the store."""
        state = self._fitted_state("n_stored_")
        return state["n_stored"] + len(state["leaving"])

    def model_of(self, key: Any = None) -> Any:
        """Return a copy of the model of one key.

        Parameters
        ----------
        key : str, number or tuple, default=None
            The key, a tuple where it is made of several columns; None where there are no keys.

        Returns
        -------
        model : estimator object
            A clone of the estimator, fitted on the rows of the key.

        Raises
        ------
        KeyError
            If no row of the key has been learnt, or it has gone.
        """
        state = dict(self._fitted_state("model_of"))
        bring_back(self, state, [key])
        entry = state["entries"].get(key)
        if entry is None or not is_alive(entry.last, state["t"], self._limit()):
            raise KeyError(f"{key!r} is no key of this model: no row of it is known.")
        if type(entry.model) is Record:
            self._check_structure()
            model = self._bank().model(entry, state["bank"])
        else:
            model = copied(entry.model)
        return with_names(model, Keys(self.key).names_beside(self))

    def _limit(self):
        """Return after how many rows a key is lost: who goes to a store is not."""
        return self._as_built("idle") if self.store is None else None

    def _as_built(self, name):
        """Return a parameter as it was when the first row came."""
        return self._built_with["structure"][name]

    def _unfitted(self):
        return self._by_default() if self.estimator is None else self.estimator

    def _bank(self):
        return None if self._of_classes else bank_of(self._unfitted())

    def _validate(self):
        self._validate_params()
        check_estimator_of_keys(self._unfitted(), self._of_classes)
        for column in Keys(self.key).columns:
            if isinstance(column, bool) or not isinstance(column, (str, Integral)):
                raise TypeError(f"key={self.key!r}: give names (str) or places (int) of columns.")
        if self.key is not None and not Keys(self.key).columns:
            raise ValueError("key is empty: name a column, or give None.")

    def _look_over(self):
        look_over(self)

    def _values(self):
        return list(self._structure().values())

    def _structure(self):
        return described_structure(self)

    def _is_sound(self, state, answers=None):
        return True  # each model has looked at itself, and the bank at those it has taught

    @explained_by(OnlineRegressor.fit)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        keys: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        keys : array-like of shape (n_samples,) or (n_samples, n_columns), default=None
            The keys, where they are no columns of X.
        **params : dict
            ``sample_weight``, of shape (n_samples,), for estimators that take it; no others.
        """
        self._advance(X, y, "partial_fit", keys, True, **params)
        return self

    def _advance(self, X, y, verb, keys=None, restart=False, classes=None, **params):
        weights = params.pop("sample_weight", None)
        refuse_arguments(self, "fit" if restart else verb, params)
        return self._swap(restart, X, y, verb, keys, classes, weights)

    def _learn_given(self, former, X, y, verb, keys, classes, sample_weight):
        X, y = container_of(X), targets_of(self, y)
        if X.shape[:1] != y.shape[:1]:
            check_consistent_length(X, y)
        if not len(y):
            raise ValueError("There are no rows to learn: found array with 0 sample(s).")
        check_columns(self, X, reset=former is None)
        y = self._targets(y, classes, former is None)
        params = (
            {} if sample_weight is None else {"sample_weight": weights_of(sample_weight, len(y))}
        )
        state = self._started() if former is None else dict(former)
        names, X = self._read_keys(state, X, keys)
        with blas_of(len(y)), np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return state, self._learn_rows(state, names, X, y, params, verb)

    def _read_keys(self, state, X, keys):
        """Return the keys of rows, and the other columns; refuse what is not as it was."""
        names, X = Keys(self.key).split(X, keys)
        kinds = () if names is None else kinds_of(names[0])
        if state["kinds"] is None:
            state["kinds"] = kinds
        elif bool(kinds) != bool(state["kinds"]):
            raise ValueError(
                "keys= is missing: the rows before came with keys."
                if state["kinds"]
                else "keys= came with these rows, and the rows before had none. Call 'fit' to "
                "start afresh."
            )
        if names is None:
            return [None] * X.shape[0], X
        refuse_other_kinds(names, state["kinds"])
        return names, X

    def _started(self):
        return {
            "t": 0,
            "kinds": None,  # of which types keys are; () where there is one model
            "entries": Entries(),
            "prior": None,
            "bank": None,  # what records of the bank share
            "initial": InitialForecasts.start() if self.prior == "init" else None,
            "lookout": None,  # a model of the first rows, where none but a bank learns
            "n_dropped": 0,
            "leaving": Entries(),  # keys on their way to the store
            "n_stored": 0,  # and those that are there
            # `store`, the path that it meant with the first row, and the mark of that file
            "home": None if self.store is None else (str(self.store), resolved(self.store), 0),
        }

    def _learn_rows(self, state, names, X, y, params, verb):
        if self.prior == "init" and state["kinds"]:
            self._refuse_laws(verb)
            return self._learn_left(state, names, X, y, params)
        nothing, prior, bank = self._nothing(y, verb), None, self._bank()
        X = X if bank is None else bank.rows(X)
        if self.prior is not None and state["kinds"]:
            state["prior"], prior = self._taught(state["prior"], X, y, params, verb, nothing)
        elif bank is not None and bank.may_miss_intercept and y.ndim == 1:
            self._look_out(state, X, y, params)
        return self._learn_keys(state, bank, names, X, y, params, verb, nothing, prior)

    def _refuse_laws(self, verb):
        if verb not in ("partial_fit", "prequential_predict", "predict"):
            raise ValueError("With prior='init' there are forecasts only: give prior='pooled'.")

    def _learn_left(self, state, names, X, y, params):
        """Learn rows where keys learn what the pooled model leaves; return the forecasts."""
        verb, nothing, bank = "prequential_predict", self._nothing(y, ""), self._bank()
        X, n_rows = X if bank is None else bank.rows(X), np.empty(len(y), dtype=np.intp)
        state["prior"], first = self._taught(state["prior"], X, y, params, verb, nothing)
        left = y - fitting(first, y.shape, verb)
        given = names, X, left, params, verb, nothing, None
        own = self._learn_keys(state, bank, *given, n_rows)
        of_rows = n_rows, first, own, left, params.get("sample_weight")
        state["initial"], forecasts = InitialForecasts.learn(state["initial"], *of_rows)
        return forecasts

    def _learn_keys(self, state, bank, names, X, y, params, verb, nothing, prior, n_rows=None):
        """Let the models of keys learn rows; return what they answer, of first rows the prior's.

        In `n_rows` (n,), if given, is written how many rows each key had had.
        """
        t = state["t"]
        bring_back(self, state, names)
        if bank is not None and y.shape == (1,):
            found = self._learn_one(state, bank, names[0], X, y, params, n_rows)
            if found is not None:
                return None if verb == "partial_fit" else found
        limits = (self.max_keys, self.idle) if self.store is None else ()
        entries = state["entries"]
        call = CallByKey(lives_of(entries, names, t, *limits), entries, X, y, params)
        if n_rows is not None:
            n_rows[call.order] = call.ages()
        if verb != "partial_fit":
            call.answers = np.repeat(np.asarray(nothing)[None], len(y), 0)
        if bank is not None and y.ndim == 1:
            bank.learn(state, call)
        teach = partial(self._teach, call, names, verb, nothing)
        if may_learn_together(self._unfitted(), call, verb):
            learn_in_rounds(call, teach)
        for life in call.left().tolist():
            teach(life, call.rows(life))
        if call.answers is not None and state["kinds"]:
            first = call.first_rows(getattr(self._unfitted(), "label_delay", 0))
            if prior is not None:
                nothing = fitting(prior[first], call.answers[first].shape, verb)
            call.answers[first] = nothing
        state["n_dropped"] += call.lives.n_dropped
        self._install(state, call.changed(t), len(y))
        return call.answers

    def _teach(self, call, names, verb, nothing, life, rows):
        """Let the model of a key, which begins with a life, learn rows; note what it answers."""
        given = call.X, call.y
        if len(rows) < len(call.y):
            given = [rows_of(part, rows) for part in given]
        weights = {name: value[rows] for name, value in call.params.items()}
        try:
            model, found = self._taught(call.known.other[life], *given, weights, verb, nothing)
        except (ValueError, TypeError) as error:
            raise labelled(error, names[rows[0]]) from error
        call.known.other[life] = model
        call.done[life] += len(rows)
        if call.answers is not None:
            call.answers[rows] = fitting(found, call.answers[rows].shape, verb)

    def _look_out(self, state, X, y, params):
        """Let one model of the first rows of all keys say if a constant is missed: no bank does."""
        n = LAST_JUDGED - state["t"]
        if n <= 0:
            return
        params = {name: value[:n] for name, value in params.items()}
        model, _ = self._taught(state["lookout"], X[:n], y[:n], params, "partial_fit", None)
        state["lookout"] = model if len(y) < n else None

    def _learn_one(self, state, bank, name, X, y, params, n_rows=None):
        """Learn one row of a key in a bank; return its forecast, or None where that is no case."""
        t, entries = state["t"], state["entries"]
        place = entries.place(name)
        known = None if place is None else entries.one(place)
        if known is None or not is_alive(known[1], t, self._limit()):
            return None
        weight = float(params["sample_weight"][0]) if params else 1.0
        found = learn_one(bank, state["bank"], known, X, float(y[0]), weight)
        if found is None:
            return None
        inverse, rest, forecast = found
        if n_rows is not None:
            n_rows[0] = known[0]
        entries = entries.written_one(place, (known[0] + 1, t + 1), (inverse, rest, None))
        self._install(state, entries, 1)
        return np.array([forecast])

    def _taught(self, model, X, y, params, verb, nothing):
        """Return a model, a copy or a fresh one, that has learnt rows, and what it answered."""
        first = {}
        if model is None:
            model, first = begun(self._unfitted(), self._told())
        else:
            model = copied(whole(model))
        return model, taught(model, X, y, params | first | self._beside(verb), verb, nothing)

    def _beside(self, verb):
        """Return what a verb is told besides rows and what belongs to them."""
        return {}

    def _install(self, state, entries, n):
        """Write the entries after n more rows, but for those that have been idle."""
        t, gone = state["t"] + n, []
        if self.idle is not None and t // self.idle > state["t"] // self.idle:
            gone = overdue(entries, t, self.idle)
        if self.store is None:
            state["n_dropped"] += len(gone)
        else:
            gone += outnumbered(entries, self.max_keys)
            leaving = {key: entries.get(key) for key in gone}
            state["leaving"] = state["leaving"].changed(leaving)
        entries = entries.changed({}, gone) if gone else entries
        state.update(entries=entries, t=t)

    def _told(self):
        return None

    def _ask(self, X, verb, keys, nothing=None, *given):
        """Return what a verb answers of each row, by the model of its key or by the prior.

        Beside rows the verb is `given` more; `nothing` is its answer of who knows none.
        """
        check_is_fitted(self)
        self._check_structure()
        state, X = self._state, container_of(X)
        check_columns(self, X, reset=False)
        state, bank = dict(state), self._bank()
        names, X = self._read_keys(state, X, keys)
        bring_back(self, state, names)
        is_initial = state["initial"] is not None and bool(state["kinds"])
        if is_initial:
            self._refuse_laws(verb)
        nothing = self._nothing_known(verb) if nothing is None else nothing
        if not X.shape[0]:
            raise ValueError("There are no rows to forecast: found array with 0 sample(s).")
        X = X if bank is None else bank.rows(X)  # the prior, too, has learnt rows as banks do
        ask = self._ask_left if is_initial else self._ask_keys
        with asked_quietly():
            found = ask(state, bank, names, X, verb, nothing, given)
            return told(found) if bank is not None and verb == "predict" else found

    def _ask_left(self, state, bank, names, X, verb, nothing, given):
        """Return the forecasts of rows of keys that have learnt what the pooled model leaves."""
        n_rows = np.zeros(len(names), dtype=np.intp)
        own = self._ask_keys(state | {"prior": None}, bank, names, X, verb, nothing, given, n_rows)
        first = fitting(state["prior"].predict(X), own.shape, verb)
        return InitialForecasts.forecast(state["initial"], n_rows, first, own)

    def _ask_keys(self, state, bank, names, X, verb, nothing, given, n_rows=None):
        """Return what models of keys answer, or the prior; write how many rows keys have had."""
        limit, entries = self._limit(), state["entries"]
        if bank is not None and len(names) == 1:
            place = entries.place(names[0])
            known = None if place is None else entries.one(place)
            if known and is_alive(known[1], state["t"], limit) and known[2] is not None:
                if n_rows is not None:
                    n_rows[0] = known[0]
                return np.array([forecast_one(bank, state["bank"], known, X)])
        lives = lives_of(entries, names, state["t"])
        order, starts, known = lives.order, lives.starts, entries.taken(lives.at)
        if limit is not None:
            known.n_rows[state["t"] - known.last >= limit] = 0
        if n_rows is not None:
            n_rows[order] = np.repeat(known.n_rows, np.diff(starts))
        answers = np.repeat(np.asarray(nothing)[None], len(order), axis=0)
        asked = known.n_rows == 0
        with one_blas_thread:
            if state["prior"] is not None and asked.any():
                rows = np.sort(order[np.repeat(asked, np.diff(starts))])
                found = self._answer(state["prior"], verb, rows_of(X, rows), given)
                answers[rows] = fitting(found, answers[rows].shape, verb)
            if bank is not None:
                asked |= bank.forecast(state, known, X, order, starts, answers)
            of_call = asked, known.other, X, lives, answers
            asked = answer_in_one(self._unfitted(), verb, given, *of_call)
            for life in np.flatnonzero(~asked).tolist():
                rows = order[starts[life] : starts[life + 1]]
                part = X if len(rows) == len(order) else rows_of(X, rows)
                found = self._answer(whole(known.other[life]), verb, part, given)
                answers[rows] = fitting(found, answers[rows].shape, verb)
        return answers

    def _answer(self, model, verb, X, given):
        """Return what a model answers of rows, as an array."""
        return getattr(model, verb)(X, *given)


def blas_of(n):
    """Return one thread of BLAS for n rows; of one row its products are too small for more."""
    return one_blas_thread if n > 1 else nullcontext()
