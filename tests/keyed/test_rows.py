"""Rows as dicts, one at a time, and labels that come later."""

import copy
import inspect
import pickle
import warnings
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDRegressor
from sklearn.naive_bayes import GaussianNB

from sklearn_okl import (
    KeyedRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RowClassifier,
    RowRegressor,
    RunningStandardScaler,
    VAWRegressor,
    from_bytes,
    make_streaming_pipeline,
    to_bytes,
)
from sklearn_okl.keyed import _gaps

TINY = OnlineKernelRegressor(budget="tiny", random_state=0)


def hour(t):
    return datetime(2026, 1, 1) + timedelta(hours=t)


def rows(n=80, seed=0):
    rng = np.random.default_rng(seed)
    keys, X = rng.choice(["a", "b", "c"], n), rng.normal(size=(n, 2))
    dicts = [
        {"u": u, "key": k, "v": v} for (u, v), k in zip(X.tolist(), keys.tolist(), strict=True)
    ]
    return dicts, keys, X, X[:, 0] * (keys == "a") - X[:, 1]


def test_rows_one_by_one_are_those_of_a_table():
    dicts, keys, X, y = rows()
    expected = KeyedRegressor().prequential_predict(X, y, keys=keys)
    for name in ("field", "beside"):
        found, model = [], RowRegressor(KeyedRegressor(key="key" if name == "field" else None))
        for x, key, target in zip(dicts, keys, y, strict=True):
            beside = {} if name == "field" else {"key": str(key)}
            x = x if name == "field" else {"v": x["v"], "u": x["u"]}
            found.append(model.predict_one(x, **beside))
            model.learn_one(dict(reversed(x.items())), target, **beside)
        assert np.allclose(found, expected, atol=1e-9)
        assert model.n_samples_seen_ == 80


def test_labels_in_any_order_late_lost_doubled_and_strange():
    dicts, keys, X, y = rows(60)
    model, order = RowRegressor(KeyedRegressor(key="key")), np.random.default_rng(3).permutation(60)
    for i, x in enumerate(dicts):
        model.ask(i, x)
    with pytest.raises(ValueError, match="waiting for its label already"):
        model.ask(5, dicts[5])
    for i in order[:50]:
        model.tell(int(i), y[i])
    before = pickle.dumps(model)
    for strange in (int(order[0]), "nobody"):
        with pytest.raises(ValueError, match="never asked"):
            model.tell(strange, 1.0)
    for bad in (float("nan"), "much", None, True):
        with pytest.raises(ValueError, match="no target"):
            model.tell(int(order[55]), bad)
    assert pickle.dumps(model) == before
    model.forget(int(order[59]))
    assert (model.n_pending_, model.n_given_up_, model.n_samples_seen_) == (9, 1, 50)
    some = order[:50]
    direct = KeyedRegressor().partial_fit(X[some], y[some], keys=keys[some])
    asked = [model.predict_one(x) for x in dicts]
    assert np.allclose(asked, direct.predict(X, keys=keys), atol=1e-9)


def test_the_first_row_may_be_one_that_is_asked():
    """Fields were those of the first row learnt: who had asked more was refused when told."""
    full, gap = {"a": 1.0, "b": 2.0, "kind": "p"}, {"b": 3.0}
    model = RowRegressor(OnlineKernelRegressor(budget="tiny", random_state=0), max_pending=2)
    model.ask(0, full)
    model.ask(1, gap)
    model = from_bytes(to_bytes(model))
    model.ask(2, full | {"a": 4.0})  # row 0 is given up
    model.tell(1, 1.0).tell(2, 2.0)
    assert sorted(model.fields_) == ["a", "b", "kind"]
    from_bytes(to_bytes(model)).learn_one({"kind": "q", "b": 1.0}, 1.0)


@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("first", [{"key": "a", "lod": 1.0}, {"key": "a", "x": 1.0}])
def test_fields_are_free_while_nothing_is_learnt(first, is_read):
    """One row that was asked, mistyped, bound the fields: each right row was refused from then."""
    model = RowRegressor(KeyedRegressor(key="key"))
    model.ask(0, first)
    full = {"x": 1.0, "heat": 20.0, "key": "b"}
    model.ask(1, full)
    model = from_bytes(to_bytes(model)) if is_read else model
    model.tell(1, 1.0)
    assert model.fields_ == ["x", "heat"]
    with pytest.raises(ValueError, match=r"did not have.*begin anew|\['heat'\] are missing"):
        model.tell(0, 1.0)
    with pytest.raises(ValueError, match="begin anew"):
        model.ask(2, full | {"more": 1.0})
    model.forget(0)
    assert model.n_pending_ == 0


@pytest.mark.parametrize("estimator", [None, VAWRegressor(), SGDRegressor()])
@pytest.mark.parametrize("bad", [None, float("nan"), float("inf"), "n/a", hour(1)])
def test_a_row_that_nobody_can_learn_does_not_wait(estimator, bad):
    """Before the first row all was taken that a dict may hold, and failed when its label came."""
    model = RowRegressor(estimator)
    with pytest.raises((ValueError, TypeError), match=r"NaN|infinity|text|date|float|DType"):
        model.ask(0, {"a": 1.0, "b": bad})
    assert model.n_pending_ == 0
    model.ask(0, {"a": 1.0, "b": 2.0})
    model.tell(0, 1.0)


@pytest.mark.parametrize("estimator", [KeyedRegressor(key="key"), KeyedRegressor(VAWRegressor())])
@pytest.mark.parametrize("is_learnt", [False, True])
@pytest.mark.parametrize("bad", [[1, 2], {"lat": 1}, ("a",), 1j, b"a", np.ones(1)])
def test_what_no_estimator_can_use_is_refused_when_asked(bad, is_learnt, estimator):
    """It waited, and failed without the name of the field when its label came."""
    row = {"load": 1.0, "heat": 2.0} | ({"key": "a"} if estimator.key else {})
    model = RowRegressor(estimator)
    if is_learnt:
        model.learn_one(row, 1.0)
    with pytest.raises(ValueError, match=r"The fields \['heat'\] hold "):
        model.ask(0, row | {"heat": bad})
    for key in ([1], None, float("nan")):
        if estimator.key:
            with pytest.raises((TypeError, ValueError), match="key"):
                model.ask(0, row | {"key": key})
    assert model.n_pending_ == 0


@pytest.mark.parametrize("bad", [float("nan"), date(2026, 1, 1), [1], 1j])
@pytest.mark.parametrize("key", ["d", ["d", "site"]])
def test_a_field_that_holds_no_key_is_named(bad, key):
    """The message spoke of keys=, which nobody had given."""
    for model in (RowRegressor(KeyedRegressor(key=key)),) * 2:
        with pytest.raises((ValueError, TypeError), match=r"^The field 'd' holds"):
            model.ask(0, {"x": 1.0, "d": bad, "site": 1})
        model.learn_one({"x": 1.0, "d": 7, "site": 1}, 1.0)


@pytest.mark.parametrize("value", [np.True_, np.float32(1.0), Decimal(1), Fraction(1), np.int64(1)])
def test_numbers_of_all_types_are_numbers(value):
    model = RowRegressor(VAWRegressor()).learn_one({"x": 1.0}, 1.0)
    assert model.predict_one({"x": value}) == model.predict_one({"x": 1.0})
    if not isinstance(value, np.bool_):  # targets, too: a Decimal was none
        other = RowRegressor(VAWRegressor()).learn_one({"x": 1.0}, value)
        assert other.predict_one({"x": value}) == model.predict_one({"x": 1.0})


def test_gaps_and_text_that_an_estimator_refuses_are_named():
    for model in (RowRegressor(), RowRegressor(VAWRegressor())):
        for x in ({"a": 1.0, "b": None}, {"b": float("nan"), "a": 1.0}):
            for call in (model.learn_one, lambda x, _, model=model: model.ask(0, x)):
                with pytest.raises(ValueError, match=r"The fields \['b'\] are missing.*NaN"):
                    call(x, 1.0)
        with pytest.raises(ValueError, match="Column 'b' of X holds text"):
            model.learn_one({"a": 1.0, "b": "n/a"}, 1.0)
        model.learn_one({"a": 1.0}, 1.0)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("gap", [None, float("nan"), "absent"])
@pytest.mark.parametrize("values", ["ab", [0.5, 1.5]])
def test_what_a_field_holds_is_open_while_it_has_been_gaps(gap, values):
    """A first row without the category refused text for ever."""
    pytest.importorskip("pandas")
    estimator = OnlineKernelRegressor(budget="tiny", random_state=0)
    for n_gaps in (1, 3):
        model = RowRegressor(estimator)
        for t in range(n_gaps):
            model.learn_one({"x": float(t), "kind": None if gap == "absent" else gap}, 1.0)
        for t, kind in enumerate(np.random.default_rng(n_gaps).integers(2, size=60).tolist()):
            model.ask(t, {"x": t % 3, "kind": values[kind]})
            model.tell(t, 5.0 * kind)
        model = from_bytes(to_bytes(model))
        low, high = (model.predict_one({"kind": value, "x": 1}) for value in values)
        assert low + 2.0 < high
        other = "c" if values != "ab" else 1.0
        with pytest.raises(ValueError, match="a column is of one kind"):
            model.learn_one({"x": 1.0, "kind": other}, 1.0)


@pytest.mark.long(every=5)
@pytest.mark.parametrize("key", [None, "d"])
@pytest.mark.parametrize(("n_gaps", "is_read"), [(1, False), (3, True)])
def test_a_field_of_gaps_may_turn_out_to_hold_dates(key, n_gaps, is_read):
    """A first row without its date refused dates for ever; a column of NaT took them."""
    pd = pytest.importorskip("pandas")
    estimator = TINY if key is None else KeyedRegressor(TINY, key=key)
    model, x = RowRegressor(estimator), {} if key is None else {"d": "new"}
    if key is not None:
        other = x | {"d": "old", "x": 1.0, "t": hour(0)}
        model.learn_one(other, 1.0)
    given = [hour(t) if t >= n_gaps else None for t in range(40)]
    for t, when in enumerate(given):
        model.learn_one(x | {"x": t % 3, "t": when}, float(t % 24 > 12))
        if is_read and t == n_gaps - 1:
            model = from_bytes(to_bytes(model))
    X = pd.DataFrame({"x": np.arange(40.0) % 3, "t": pd.to_datetime(pd.Series(given))})
    alone = clone(TINY).partial_fit(X, 1.0 * (np.arange(40) % 24 > 12))
    for when in (hour(50), None, pd.NaT, np.datetime64("NaT")):
        asked = pd.DataFrame({"x": [1.0], "t": pd.to_datetime([when])})
        found = model.predict_one(x | {"x": 1.0, "t": when})
        assert found == pytest.approx(alone.predict(asked)[0], abs=1e-9)
    assert model.n_samples_seen_ == 40 + (key is not None)


def test_first_rows_with_dates_are_in_files_as_text():
    """They are kept while another field has been a gap, and files take no dates."""
    pd = pytest.importorskip("pandas")
    model, dates = RowRegressor(TINY), [hour(1).astimezone(UTC), pd.Timestamp(hour(2)), hour(3)]
    for when in dates:
        model.learn_one({"t": when, "gap": None, "day": np.datetime64("2026-01-01")}, 1.0)
    other = from_bytes(to_bytes(model))
    for one in (model, other):
        one.learn_one({"t": None, "gap": date(2026, 1, 1), "day": None}, 2.0)
    assert other.predict_one({"t": hour(4)}) == model.predict_one({"t": hour(4)})
    model._known_of_fields["rows"] = [[{"t": ["no date"]}, None, 1.0]]
    with pytest.raises(ValueError, match="no date"):
        from_bytes(to_bytes(model))


@pytest.mark.long
def test_dates_after_very_many_gaps_are_days(monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.setattr(_gaps, "_MOST", 4)
    estimator = OnlineKernelClassifier(budget="tiny", lags=0, random_state=0)
    model = RowClassifier(estimator, classes=[0, 1])
    for t in range(60):
        day = 7 * t % 40
        model.ask(t, {"t": hour(24 * day) if t > 7 else None})
        model.tell(t, int(day > 19))
        assert len(model._known_of_fields["rows"]) == (t + 1 if t < 4 else 0)
    model = from_bytes(to_bytes(model))
    asked = [model.predict_one({"t": hour(24 * t)}) for t in (3, 37)]
    assert asked == [0, 1]


@pytest.mark.parametrize("gap", [None, float("nan"), "pd.NA", "pd.NaT", np.datetime64("NaT")])
def test_gaps_of_all_kinds_are_gaps_where_the_first_row_held_numbers(gap):
    """pd.NA was said to be text or a date."""
    pd = pytest.importorskip("pandas")
    gap = {"pd.NA": pd.NA, "pd.NaT": pd.NaT}.get(gap, gap) if isinstance(gap, str) else gap
    model = RowRegressor(TINY).learn_one({"a": 1.0, "b": 2.0}, 1.0)
    expected = model.predict_one({"a": 1.0})
    assert model.predict_one({"a": 1.0, "b": gap}) == expected
    model.ask(0, {"a": 1.0, "b": gap})
    model.tell(0, 1.0)
    assert model.n_samples_seen_ == 2


@pytest.mark.parametrize(("limits", "left"), [({"max_pending": 7}, 7), ({"max_age": 5}, 5)])
def test_rows_that_wait_too_long_are_given_up_and_counted(limits, left):
    dicts, _, _, _ = rows(30)
    model = RowRegressor(KeyedRegressor(key="key"), **limits)
    for i, x in enumerate(dicts):
        model.ask(i, x)
    assert (model.n_pending_, model.n_given_up_) == (left, 30 - left)
    model.tell(29, 1.0)
    with pytest.raises(ValueError, match="given up"):
        model.tell(0, 1.0)


@pytest.mark.parametrize("limits", [{"max_pending": 0}, {"max_pending": 1.5}, {"max_age": -1}])
def test_limits_are_looked_at_where_a_row_is_asked(limits):
    """Python said StopIteration, or 1.5 rows waited."""
    for model in (RowRegressor(VAWRegressor(), **limits), RowRegressor(VAWRegressor())):
        if model.max_pending == 10_000 and model.max_age is None:
            model.ask(0, {"x": 1.0})
            model.set_params(**limits)
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match=f"'{next(iter(limits))}' parameter of RowRegressor"):
            model.ask(1, {"x": 1.0})
        assert pickle.dumps(model) == before


def test_its_parameters_are_shown():
    assert list(inspect.signature(RowRegressor).parameters) == [
        "estimator",
        "max_pending",
        "max_age",
    ]
    assert "Parameters\n------" in RowRegressor.__doc__


def test_numbers_beyond_float64_and_ids_that_are_no_names():
    model = RowRegressor(VAWRegressor())
    model.ask("a", {"x": 1.0})
    with pytest.raises(ValueError, match="beyond float64"):
        model.learn_one({"x": 10**400}, 1.0)
    for wrong in (10**400, Decimal("sNaN"), Decimal("NaN"), Decimal("Infinity")):
        with pytest.raises(ValueError, match="is no target"):
            model.learn_one({"x": 1.0}, wrong)
    with pytest.raises(ValueError, match="is no number of float64"):
        model.learn_one({"x": Decimal("sNaN")}, 1.0)
    for call in (model.forget, lambda id: model.ask(id, {"x": 1.0}), lambda id: model.tell(id, 1)):
        with pytest.raises(TypeError, match=r"id=\[1\] is unhashable"):
            call([1])
    assert (model.n_pending_, model.n_samples_seen_) == (1, 0)


def test_fields_that_are_missing_new_or_text():
    model = RowRegressor(VAWRegressor()).learn_one({"a": 1, "b": 2.0}, 3)
    before = pickle.dumps(model)
    for x, message in [
        ({"a": 1, "c": 2}, "did not have"),
        ({"a": 1}, "NaN"),
        ({"a": 1, "b": None}, "NaN"),
        ({"a": "x", "b": 1}, "hold text"),
        ({"a": 1j, "b": 1}, r"The fields \['a'\] hold"),
        ([1, 2], "is a dict"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            model.learn_one(x, 1.0)
        with pytest.raises((ValueError, TypeError), match=message):
            model.predict_one(x)
    assert pickle.dumps(model) == before
    with pytest.raises(TypeError, match="key= is for"):
        model.predict_one({"a": 1, "b": 1}, key="k")
    with pytest.raises(ValueError, match="is its key"):
        RowRegressor(KeyedRegressor(key="k")).learn_one({"a": 1.0}, 1.0)
    with pytest.raises(TypeError, match="names places"):
        RowRegressor(KeyedRegressor(key=0)).learn_one({"a": 1.0}, 1.0)
    with pytest.raises(AttributeError, match="no intervals"):
        model.interval_one({"a": 1, "b": 1})


def test_gaps_text_and_intervals_as_the_estimator_takes_them():
    pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    model = RowRegressor(OnlineKernelRegressor(budget="fast", random_state=0))
    assert np.isinf(model.interval_one({"n": 1.0, "kind": "p"})).all()
    for _ in range(30):
        n, kind = rng.normal(), rng.choice(["p", "q"])
        model.learn_one({"n": None if n > 1.5 else n, "kind": kind}, (kind == "p") + 0.1 * n)
    assert model.predict_one({"kind": "p"}) > model.predict_one({"kind": "q", "n": 0.0})
    low, high = model.interval_one({"n": 0.0, "kind": "p"}, 0.8)
    assert low < high


@pytest.mark.parametrize("is_learnt", [False, True])
def test_levels_and_shapes_of_intervals_are_those_of_a_model_that_has_learnt(is_learnt):
    """Before the first row no level was looked at, and several had one interval."""
    model = RowRegressor(TINY)
    if is_learnt:
        model.learn_one({"a": 1.0}, 1.0).learn_one({"a": 2.0}, 1.5)
    for wrong in (-3, [0.5, 2.0], "much", float("nan"), []):
        with pytest.raises((ValueError, TypeError), match="coverage"):
            model.interval_one({"a": 1.0}, wrong)
    assert model.interval_one({"a": 1.0}).shape == (2,)
    assert model.interval_one({"a": 1.0}, [0.5, 0.9]).shape == (2, 2)
    assert np.isinf(model.interval_one({"a": 1.0}, [0.5, 0.9])).all() == (not is_learnt)


@pytest.mark.long
@pytest.mark.parametrize("key", [None, "d"])
def test_who_is_told_that_labels_are_late_forecasts_so_and_who_is_not_is_warned(key):
    """Targets that alternate, known one row late, were forecast the wrong way round."""
    rng, errors = np.random.default_rng(0), {}
    for delay in (0, 1):
        estimator = clone(TINY).set_params(label_delay=delay)
        model = RowRegressor(KeyedRegressor(estimator, key=key) if key else estimator)
        found, names = [], "ab" if key else "a"
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for t in range(120):
                for name in names:
                    x = {"x": rng.normal()} | ({"d": name} if key else {})
                    low, high = model.interval_one(x) if t > 60 else (0.0, 0.0)
                    error = model.ask((name, t), x) - 10.0 * (t % 2)
                    found.append((error * error, low <= 10.0 * (t % 2) <= high))
                    if t > 0:
                        noise = 0.1 * rng.normal()
                        model.tell((name, t - 1), 10.0 * ((t - 1) % 2) + noise)
                    if t == 10:
                        model = from_bytes(to_bytes(model))
        errors[delay] = np.mean(found[-60:], axis=0)
        words = [str(one.message) for one in said]
        assert len(words) == (not delay)
        assert delay or "Give it label_delay=1" in words[0]
    assert errors[0][0] > 50.0
    assert errors[1][0] < 0.1
    assert errors[1][1] > 0.7 > errors[0][1]


@pytest.mark.parametrize("given", [{"label_delay": 0, "lags": 0}, {"label_delay": 2}])
def test_who_need_not_know_of_late_labels_is_not_warned(given):
    model = RowRegressor(OnlineKernelRegressor(budget="tiny", random_state=0, **given))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t in range(40):
            model.ask(t, {"x": t % 3})
            if t > 1:
                model.tell(t - 2, t % 5)


def test_a_failed_row_and_a_copy_leave_the_model():
    dicts, _, _, y = rows(10)
    model = RowRegressor(KeyedRegressor(key="key"))
    for x, target in zip(dicts, y, strict=True):
        model.learn_one(x, target)
    other = copy.copy(model)
    other.ask("new", dicts[0])
    other.learn_one(dicts[0], 100.0)
    assert (model.n_pending_, model.n_samples_seen_) == (0, 10)
    assert other.predict_one(dicts[0]) != model.predict_one(dicts[0])


def test_classes():
    model = RowClassifier(classes=["no", "yes"])
    assert model.predict_one({"x": 1.0}) is None
    assert model.predict_proba_one({"x": 1.0}) == {}
    for t in range(60):
        model.ask(t, {"x": (t % 7) - 3.0})
        model.tell(t, "yes" if t % 7 > 3 else "no")
    assert model.predict_one({"x": 3.0}) == "yes"
    shares = model.predict_proba_one({"x": 3.0})
    assert list(shares) == ["no", "yes"]
    assert sum(shares.values()) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="labels"):
        model.learn_one({"x": 1.0}, "perhaps")
    naive = RowClassifier(make_streaming_pipeline(GaussianNB()), classes=["no", "yes"])
    naive.learn_one({"x": 1.0}, "no")
    with np.errstate(divide="ignore", invalid="ignore"):  # no variance is known
        assert naive.predict_proba_one({"x": 1.0}) == {"no": 0.5, "yes": 0.5}
    for classes in (["a", "b", None], ["a", 1]):
        with pytest.raises(TypeError, match="cannot be sorted together"):
            RowClassifier(classes=classes).learn_one({"x": 1.0}, "a")


def test_river_takes_it():
    river = pytest.importorskip("river")
    from river import compose, evaluate, metrics, preprocessing

    assert river
    dicts, _, _, y = rows(60)
    data = list(zip([{"u": x["u"], "v": x["v"]} for x in dicts], y.tolist(), strict=True))
    score = evaluate.progressive_val_score(iter(data), RowRegressor(VAWRegressor()), metrics.MSE())
    X = np.array([[x["u"], x["v"]] for x, _ in data])
    expected = np.mean((VAWRegressor().prequential_predict(X, y) - y) ** 2)
    assert score.get() == pytest.approx(expected)
    scaled = compose.Pipeline(preprocessing.StandardScaler(), RowRegressor(VAWRegressor()))
    assert evaluate.progressive_val_score(iter(data), scaled, metrics.MSE()).get() < np.var(y)
    labels = [(x, target > 0) for x, target in data]
    classes = RowClassifier(classes=[False, True])
    assert evaluate.progressive_val_score(iter(labels), classes, metrics.Accuracy()).get() > 0.6


@pytest.mark.long
def test_rivers_own_programs_copy_and_wrap_it():
    """It had no `clone`: ensembles, one-vs-rest, retraining and copies of pipelines failed."""
    pytest.importorskip("river")
    from river import drift, ensemble, evaluate, metrics, multiclass, preprocessing, utils

    dicts, _, _, y = rows(60)
    data = list(zip([{"u": x["u"], "v": x["v"]} for x in dicts], y.tolist(), strict=True))
    line = preprocessing.StandardScaler() | RowRegressor(VAWRegressor())
    line.learn_one(*data[0])
    line.learn_one(*data[1])
    fresh = line.clone({"RowRegressor": {"estimator__alpha": 3.0}})["RowRegressor"]
    assert (fresh.n_samples_seen_, fresh.estimator.alpha, fresh._multiclass) == (0, 3.0, False)
    same = line.clone(include_attributes=True)
    assert same.predict_one(data[2][0]) == line.predict_one(data[2][0]) != 0.0
    same.learn_one(*data[2])
    assert line["RowRegressor"].n_samples_seen_ == 2
    bagging = ensemble.BaggingRegressor(RowRegressor(VAWRegressor()), n_models=3, seed=1)
    for model in (line.clone(), bagging):
        assert evaluate.progressive_val_score(iter(data), model, metrics.MSE()).get() < np.var(y)
    yes = RowClassifier(classes=[False, True])
    labels = [(x, target > 0) for x, target in data]
    for model in (
        ensemble.ADWINBaggingClassifier(yes, n_models=3, seed=1),
        drift.DriftRetrainingClassifier(yes, drift.binary.DDM()),
        multiclass.OneVsRestClassifier(yes),
    ):
        score = evaluate.progressive_val_score(iter(labels), model, metrics.Accuracy())
        assert score.get() > 0.6
    grid = utils.expand_param_grid(RowRegressor(VAWRegressor()), {"max_age": [1, 2]})
    assert [model.max_age for model in grid] == [1, 2]
    states = evaluate.iter_progressive_val_score(
        iter(data), fresh, metrics.MSE(), step=30, measure_memory=True
    )
    assert all(state["Memory"] > 0 for state in states)
    with pytest.raises(ValueError, match="not a mutable attribute"):
        fresh.mutate({"max_age": 3})


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda m: m._pending.update({0: (1.0, None, 1)}), "rows that wait are none"),
        (lambda m: m._pending.update({0: ({"a": 1.0}, None)}), "rows that wait are none"),
        (lambda m: m._pending.update({0: ({"a": 1.0}, None, "1")}), "counts no rows"),
        (lambda m: m._pending.update({0: ({"b": 1.0}, None, 1)}), "has fields"),
        (lambda m: setattr(m, "_known_of_fields", {"rows": []}), "known of its fields"),
        (lambda m: setattr(m, "_learnt", None), "counts no rows"),
        (lambda m: setattr(m, "_given_up", -1), "counts no rows"),
        (lambda m: setattr(m, "max_age", "x"), "max_age"),
        (lambda m: setattr(m, "fields_", ["a", "b"]), "of rows of its fields"),
        (lambda m: setattr(m, "estimator_", RunningStandardScaler()), "of rows of its fields"),
    ],
)
def test_rows_that_wait_in_a_file_are_looked_at(spoil, words):
    """They were believed, and failed in Python's words when their labels came."""
    pytest.importorskip("skops")
    model = RowRegressor(VAWRegressor())
    for t in range(5):
        model.ask(t, {"a": float(t)})
    model.tell(0, 1.0).tell(1, 2.0)
    assert from_bytes(to_bytes(model)).n_pending_ == 3
    spoil(model)
    with pytest.raises(ValueError, match=words):
        from_bytes(to_bytes(model))
