"""What holds of the forecaster of series whatever the series are."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsRegressor

from sklearn_okl import OnlineForecaster, load, save
from sklearn_okl.series import _again, _experts

SMALL = {"windows": (3, 4, 6)}
CASES = {
    "one series": (1, {}),
    "two series": (2, {}),
    "pooled": (2, {"pooled": True}),
    "columns": (2, {"known_ahead": [0]}),
    "trees": (2, {"known_ahead": [0], "trees": KNeighborsRegressor(3)}),
    "trees, pooled": (2, {"pooled": True, "trees": KNeighborsRegressor(3)}),
}


@pytest.fixture(autouse=True)
def few_frequencies(monkeypatch):
    monkeypatch.setattr(_experts, "_N_FREQUENCIES", 8)  # these laws are about the rest


def stream(case, n=90, seed=0):
    n_series, arguments = CASES[case]
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.normal(size=(n, n_series)), axis=0)
    y += 5.0 * np.sin(np.arange(n) / 2.0)[:, None]
    y[20:22, 0] = np.nan
    X = rng.normal(size=(n, 2)) if "known_ahead" in arguments else None
    return y, X, OnlineForecaster(4, **SMALL, **arguments)


def rows(X, where):
    return None if X is None else X[where]


@pytest.mark.long(every=50)
@pytest.mark.parametrize("case", CASES)
def test_no_forecast_depends_on_what_is_not_known(case):
    y, X, model = stream(case)
    known = clone(model).prequential_predict(y, X)
    for k in (30, 70):
        other, columns = y.copy(), copy.copy(X)
        other[k:] = 1e3 * np.cos(other[k:])
        if X is not None:
            columns[k:, 1] += 7.0  # known with the series only
            columns[k + 2 :, 0] -= 3.0  # known ahead
        changed = clone(model).prequential_predict(other, columns)
        for i in range(k + 1):  # before row k, y[k] is not known
            n_known = 4 if X is None else min(4, k + 2 - i)
            assert_array_equal(changed[i, :n_known], known[i, :n_known])
        assert not np.array_equal(changed[k + 5], known[k + 5])


@pytest.mark.long(every=50)
@pytest.mark.parametrize("case", CASES)
def test_the_cut_of_the_stream_changes_nothing(case):
    y, X, model = stream(case)
    whole = clone(model).fit(y, X)
    parts, low = clone(model), 0
    for high in (1, 2, 3, 7, 40, 41, 90):
        parts.partial_fit(y[low:high], rows(X, slice(low, high)))
        low = high
    assert pickle.dumps(parts._state) == pickle.dumps(whole._state)


def test_models_that_share_a_state_do_not_write_into_each_other():
    y, _, model = stream("two series")
    model.fit(y[:40])
    other = copy.copy(model)  # shallow
    for t in range(40, 80):
        model.partial_fit(y[t : t + 1])
        other.partial_fit(-y[t : t + 1])
    assert_array_equal(model.predict(), stream("two series")[2].fit(y[:80]).predict())
    turned = np.concatenate([y[:40], -y[40:80]])
    assert_array_equal(other.predict(), stream("two series")[2].fit(turned).predict())


@pytest.mark.long
@pytest.mark.parametrize("horizon", [1, 3, 20])
def test_a_model_left_behind_is_as_it_was_wherever_blocks_of_rows_end(horizon):
    rng = np.random.default_rng(horizon)
    y, left, t = rng.normal(size=(300, 2)).cumsum(axis=0), [], 5
    model = OnlineForecaster(horizon, windows=(3, 4, 6)).fit(y[:t])
    for n in rng.permutation([1, 1, 1, 2, 3, 14, 15, 16, 17, 18, 33]):
        left.append((t, copy.copy(model), copy.deepcopy(model)))
        model.partial_fit(y[t : t + n])
        t += n
    for t, shared, own in left:
        for n in (1, 2, 16, 17, 40):
            both = (copy.copy(shared), copy.deepcopy(own))
            first, second = (one.partial_fit(y[t : t + n]).predict_interval() for one in both)
            assert_array_equal(first, second)


def test_a_generator_is_read_at_the_start_only():
    y, _, model = stream("one series")
    model.set_params(random_state=np.random.RandomState(0))
    forecast = model.fit(y[:40]).partial_fit(y[40:]).predict()
    model.set_params(random_state=np.random.RandomState(0))
    assert_array_equal(model.fit(y).predict(), forecast)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("case", CASES)
def test_prequential_forecasts_are_those_of_predict(case):
    y, X, model = stream(case)
    future = None if X is None else X[-4:]
    whole = clone(model).prequential_predict(y[:86], rows(X, slice(86)), future)
    model.partial_fit(y[:60], rows(X, slice(60)))
    for t in range(60, 86):
        ahead = None if X is None else X[t : t + 4]
        assert_array_equal(model.predict(ahead), whole[t])
        model.partial_fit(y[t : t + 1], rows(X, slice(t, t + 1)))
    assert np.isfinite(whole[2:]).all()


@pytest.mark.long(every=8)
@pytest.mark.parametrize("case", CASES)
def test_models_that_were_stored_go_on_as_others(case, tmp_path):
    pytest.importorskip("skops")
    y, X, model = stream(case)
    model.partial_fit(y[:50], rows(X, slice(50)))
    before = pickle.dumps(model)
    save(model, tmp_path / "model.skops")
    copies = [pickle.loads(before), copy.deepcopy(model), load(tmp_path / "model.skops")]
    model.predict(rows(X, slice(4)))
    model.predict_interval(rows(X, slice(4)))
    assert pickle.dumps(model) == before  # asking changes nothing
    expected = model.prequential_predict(y[50:], rows(X, slice(50, None)))
    for other in copies:
        assert_array_equal(other.prequential_predict(y[50:], rows(X, slice(50, None))), expected)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("case", CASES)
def test_units_do_not_matter(case):
    y, X, model = stream(case)
    plain = clone(model).prequential_predict(y, X)
    scaled = model.prequential_predict(-300.0 + 2.0**-10 * y, X)
    assert_allclose((scaled + 300.0) * 2.0**10, plain, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("pooled", [True, False])
def test_units_do_not_matter_where_series_begin_late(pooled):
    """One that had one value only was forecast in its unit, and the mixture of all learnt that."""
    y = np.random.default_rng(2).normal(size=(70, 6))
    y[np.arange(70)[:, None] < [0, 0, 0, 9, 20, 40]] = np.nan
    model = OnlineForecaster(2, windows=(2, 6, 12), pooled=pooled, random_state=0)
    plain, scaled = (clone(model).prequential_predict(k * y) / k for k in (1.0, 2.0**10))
    assert_allclose(scaled, plain, rtol=1e-9, atol=1e-9)


@pytest.mark.long
def test_state_does_not_grow():
    y, _, model = stream("two series", n=1500)
    sizes = [
        len(pickle.dumps(model.partial_fit(y[k : k + 100])._state)) for k in range(0, 1500, 100)
    ]
    assert max(sizes[11:]) - min(sizes[11:]) < 100
    assert max(sizes) < 1.1 * sizes[-1]  # the first rows are kept a while


def test_a_series_may_begin_later_and_values_may_be_missing():
    y, _, model = stream("two series")
    y[:30, 1] = np.nan
    forecasts = model.prequential_predict(y)
    assert np.isnan(forecasts[:31, :, 1]).all()
    assert np.isfinite(forecasts[31:, :, 1]).all()
    assert np.isfinite(forecasts[1:, :, 0]).all()
    model.partial_fit(np.full((6, 2), np.nan))
    assert np.isfinite(model.predict()).all()


@pytest.mark.long
def test_a_fault_is_forgotten_and_a_new_level_is_not():
    y, _, model = stream("one series", n=200)
    faulty, missing = y.copy(), y.copy()
    faulty[100], missing[100] = 1e6 * np.nanstd(y), np.nan
    forecasts = clone(model).prequential_predict(faulty)
    assert_array_equal(forecasts, clone(model).prequential_predict(missing))
    usual = np.nanmean(np.abs(y[103:, 0] - clone(model).prequential_predict(y)[103:, 0, 0]))
    for jump in (1e2, 1e6):
        moved = y.copy()
        moved[100:] += jump * np.nanstd(y)
        errors = moved[103:, 0] - clone(model).prequential_predict(moved)[103:, 0, 0]
        assert np.nanmean(np.abs(errors)) < 1.2 * usual


@pytest.mark.long
@pytest.mark.parametrize("n_rows", [3, 40])
def test_a_level_may_come_back(n_rows):
    y, X, model = stream("columns", n=240)
    there = slice(100, 100 + n_rows)
    moved = y.copy()
    moved[there] += 1e3 * np.nanstd(y)
    forecasts, usual = (clone(model).prequential_predict(z, X)[:, 0] for z in (moved, y))
    forecasts, usual = forecasts.reshape(len(y), -1), usual.reshape(len(y), -1)
    rows = slice(there.stop + 3, -3)
    errors, least = np.abs(y[rows] - forecasts[rows]), np.abs(y[rows] - usual[rows])
    assert np.nanmean(errors) < 1.3 * np.nanmean(least)


def test_constant_series_are_forecast_as_they_are():
    model = OnlineForecaster(3, **SMALL).fit(np.full((50, 2), [4.0, -1e9]))
    assert_array_equal(model.predict(), np.full((3, 2), [4.0, -1e9]))
    assert_array_equal(model.predict_interval()[..., 1] - model.predict_interval()[..., 0], 0.0)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("value", [5.0, 0.0, -3e8])
def test_a_constant_series_beside_others_is_forecast_as_it_is(value, pooled):
    """Others moved its forecasts, around which intervals of its unit, 0, never held it."""
    y = np.random.default_rng(1).normal(size=(120, 3))
    y[:80, 0] = value
    y[70, 0] = np.nan
    model = OnlineForecaster(2, pooled=pooled, **SMALL).fit(y[:40])
    for row in y[40:80]:
        assert_array_equal(model.predict()[:, 0], value)
        assert_array_equal(model.predict_interval(coverage=0.99)[:, 0], value)
        model.partial_fit(row[None])
    model.partial_fit(y[80:])
    ends = model.predict_interval(coverage=0.99)[0, 0, 0]
    assert ends[0] < 0.0 < ends[1] or value != 0.0


def test_of_three_values_an_interval_is_the_whole_line():
    model = OnlineForecaster(2, **SMALL).fit(np.arange(3.0) ** 2)
    assert_array_equal(model.predict_interval(), [[[-np.inf, np.inf]] * 2] * 2)
    assert np.isfinite(model.partial_fit([9.0]).predict_interval()).all()
    assert model.predict_interval(coverage=0.9).shape == (2, 1, 2)


def bad_calls():
    frame = pytest.importorskip("pandas")
    index = frame.date_range("2024-01-01", periods=60, freq="h")
    y = frame.DataFrame({"a": np.arange(60.0), "b": 1.0}, index=index)
    X = frame.DataFrame({"price": np.arange(60.0), "wind": 2.0}, index=index)
    first, now, ahead = slice(40), slice(40, 45), slice(40, 43)
    wrong = X.rename(columns={"wind": "sun"})
    infinite = y[now].replace(1.0, np.inf)
    text = y[now].assign(b="much")
    bad = {
        "out of order": lambda m: m.partial_fit(y[30:35], X[30:35]),
        "There is a gap in time: 3 rows": lambda m: m.partial_fit(y[43:45], X[43:45]),
        "not a whole number of steps": lambda m: m.partial_fit(
            y[now].shift(freq="20min"), X[now].shift(freq="20min")
        ),
        "label twice": lambda m: m.partial_fit(y.iloc[[41, 41]], X.iloc[[41, 41]]),
        "number of series cannot change": lambda m: m.partial_fit(y[["a"]][now], X[now]),
        "same series in the same order": lambda m: m.partial_fit(y[["b", "a"]][now], X[now]),
        "X is missing": lambda m: m.partial_fit(y[now]),
        "X has 1 column,": lambda m: m.partial_fit(y[now], X[["price"]][now]),
        "columns in the same order": lambda m: m.partial_fit(y[now], wrong[now]),
        "X has 3 rows, but y has 5": lambda m: m.partial_fit(y[now], X[ahead]),
        "indexes of y and X differ": lambda m: m.partial_fit(y[now], X[41:46]),
        "contains infinity": lambda m: m.partial_fit(infinite, X[now]),
        "values that are no numbers": lambda m: m.partial_fit(text, X[now]),
        "no rows": lambda m: m.partial_fit(y[:0], X[:0]),
        "X_future is missing": lambda m: m.predict(),
        "X_future has 5 rows, but horizon=3": lambda m: m.predict(X[now]),
        "lacks the columns": lambda m: m.predict(X[["wind"]][ahead]),
        "X_future has 3 columns": lambda m: m.predict(np.zeros((3, 3))),
        "numbers above 0 and below 1": lambda m: m.predict_interval(X[ahead], coverage=90),
        "cannot change in mid-stream": lambda m: m.set_params(horizon=5).partial_fit(
            y[now], X[now]
        ),
    }
    return y[first], X[first], y[now], X[now], bad


@pytest.mark.long(every=4)
@pytest.mark.parametrize("words", list(bad_calls()[-1]))
def test_bad_input_is_refused_with_a_sentence_and_nothing_is_lost(words):
    y, X, next_y, next_X, calls = bad_calls()
    model = OnlineForecaster(3, known_ahead=["price"], **SMALL).fit(y, X)
    before, state = pickle.dumps(model._layout), pickle.dumps(model._state)
    with pytest.raises(ValueError, match=words) as error:
        calls[words](model)
    assert str(error.value).rstrip().endswith((".", "2)."))
    assert (pickle.dumps(model._layout), pickle.dumps(model._state)) == (before, state)
    model.set_params(horizon=3).partial_fit(next_y, next_X)
    assert model.n_samples_seen_ == 45


@pytest.mark.parametrize(
    "arguments",
    [
        {"horizon": 0},
        {"windows": (48, 24, 168)},
        {"season_lengths": [1]},
        {"season_lengths": []},
        {"gaps": "ignore"},
        {"known_ahead": ["price"]},
    ],
)
def test_bad_parameters_are_refused(arguments):
    model = OnlineForecaster(**arguments)
    with pytest.raises(ValueError, match=next(iter(arguments))):
        model.fit(np.arange(9.0), np.ones((9, 1)))
    with pytest.raises(NotFittedError):
        model.predict()


def test_an_interrupted_call_leaves_the_model_as_it_was(monkeypatch):
    y, _, model = stream("one series")
    model.fit(y[:50])
    before = pickle.dumps(model)
    calls = iter([0, 0, 0])
    monkeypatch.setattr(_again, "of_next", lambda *_: next(calls) / 0)
    with pytest.raises(ZeroDivisionError):
        model.partial_fit(y[50:])
    assert pickle.dumps(model) == before


def columns_of_kinds(n, rng):
    """Make columns: of normal numbers, flags, codes, one late, one long constant, one seldom."""
    X = rng.normal(size=(n, 6))
    X[:, 1], X[:, 2] = rng.random(n) < 0.15, rng.integers(0, 4, n)
    X[:3, 3], X[:10, 4], X[:, 5] = np.nan, 0.25, rng.random(n) < 0.02
    return X


@pytest.mark.long
@pytest.mark.parametrize("known_ahead", ["all", (), [0, 4]])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_series", [1, 2])
def test_units_and_offsets_of_columns_do_not_matter(known_ahead, seed, n_series):
    """First rows of a column without a deviation counted in its unit: forecasts hung on it."""
    n, rng = 140, np.random.default_rng(seed)
    X = columns_of_kinds(n, rng)
    y = 10.0 + 3.0 * np.sin(2.0 * np.pi * np.arange(n) / 24.0) + np.nan_to_num(X) @ np.ones(6)
    y = y[:, None] + 0.3 * rng.normal(size=(n, n_series))
    model = OnlineForecaster(4, **SMALL, known_ahead=known_ahead)
    plain = clone(model).prequential_predict(y, X)
    for factor, offset, off in ((2.0**20, 0.0, 1e-9), (2.0**-30, 0.0, 1e-9), (1.0, 1e3, 1e-6)):
        said = clone(model).prequential_predict(y, factor * X + offset)
        assert_allclose(said, plain, rtol=0.0, atol=off)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("lead", [1, 31, 64, 300])
@pytest.mark.parametrize("is_dated", [False, True])
def test_rows_before_the_first_value_teach_nothing(lead, is_dated):
    rng, n = np.random.default_rng(lead), 150
    X = rng.normal(size=(lead + n, 2))
    y = np.sin(np.arange(lead + n)[:, None] / 4.0) + 0.1 * rng.normal(size=(lead + n, 2))
    y[:lead], y[: lead + 9, 1] = np.nan, np.nan
    if is_dated:
        pd = pytest.importorskip("pandas")
        dates = pd.date_range("2026-03-01", periods=lead + n, freq="h")
        X, y = pd.DataFrame(X, dates, ["a", "b"]), pd.DataFrame(y, dates, ["one", "two"])
    model = OnlineForecaster(3, windows=(4, 8, 12), known_ahead=(0,))
    expected = clone(model).prequential_predict(y[lead:], X[lead:])
    found = [model.prequential_predict(y[:5], X[:5], X_future=X[5:8])]
    found.append(model.prequential_predict(y[5:], X[5:]))
    found = np.concatenate(found)
    assert np.isnan(found[:lead]).all()
    assert_array_equal(found[lead:], expected)
    assert model.n_samples_seen_ == lead + n
