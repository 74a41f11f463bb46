"""What a forecaster does with faults: it goes on as if it had been told that they are none."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineForecaster
from sklearn_okl.datasets import make_faulty_stream
from sklearn_okl.series import _doubts, _rounds, _views

SMALL = {"windows": (3, 4, 6), "horizon": 3}


def stream(n=130, seed=0, n_columns=2):
    """Make a series with a season of 12 rows that two columns explain in part."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    season = 3.0 * np.sin(2 * np.pi * np.arange(n) / 12)
    return season + X.sum(axis=1) + 0.3 * rng.normal(size=n) + 50.0, X


def next_review(t):
    return min([n for n in (8, 16, 32, 64) if n > t], default=t + 1)


@pytest.mark.long
@pytest.mark.parametrize("place", [0, 1, 7, 15, 31, 32, 33, 63, 64, 100])
def test_a_single_fault_is_a_missing_value_from_the_next_review_on(place):
    size = (1e6, -1e15, 1e80)[place % 3]
    y, X = stream(seed=place)
    told = y.copy()
    y[place], told[place] = size, np.nan
    ours = OnlineForecaster(**SMALL)
    forecasts = ours.prequential_predict(y, X)
    expected = OnlineForecaster(**SMALL).prequential_predict(told, X)
    assert_array_equal(forecasts[next_review(place) :], expected[next_review(place) :])
    assert_array_equal(ours.n_faulty_, [1, 0, 0])


@pytest.mark.long
@pytest.mark.parametrize("known_ahead", ["all", [0], []])
@pytest.mark.parametrize("place", [0, 32, 40, 63])
def test_a_faulty_cell_is_a_missing_cell(place, known_ahead):
    y, X = stream(seed=place)
    told = X.copy()
    X[place, 0], told[place, 0] = -9999.0, np.nan
    ours = OnlineForecaster(known_ahead=known_ahead, **SMALL)
    forecasts = ours.prequential_predict(y, X)
    expected = OnlineForecaster(known_ahead=known_ahead, **SMALL).prequential_predict(y, told)
    assert_array_equal(forecasts[next_review(place) :], expected[next_review(place) :])
    if place >= 36:  # the forecasts that it was known ahead of, too
        assert_array_equal(forecasts, expected)
    assert ours.n_faulty_.sum() == 1


@pytest.mark.long
@pytest.mark.parametrize("share", [0.05, 0.2])
@pytest.mark.parametrize("seed", range(2))
def test_a_number_that_stands_for_none(share, seed):
    y, X = stream(250, seed)
    rng = np.random.default_rng(100 + seed)
    faulty = rng.uniform(size=(250, 3)) < share
    told, rows = np.where(faulty[:, 0], np.nan, y), np.where(faulty[:, 1:], np.nan, X)
    ours = OnlineForecaster(**SMALL)
    forecasts = ours.prequential_predict(
        np.where(faulty[:, 0], -9999.0, y), np.where(faulty[:, 1:], -9999.0, X)
    )
    expected = OnlineForecaster(**SMALL).prequential_predict(told, rows)
    assert_array_equal(forecasts[64:], expected[64:])
    assert_array_equal(ours.n_faulty_, faulty.sum(axis=0))


@pytest.mark.long
@pytest.mark.parametrize("n_columns", [0, 2])
def test_a_number_within_the_fence_that_stands_for_none(n_columns):
    y, X = stream(400, n_columns, n_columns)
    faulty = np.random.default_rng(1).uniform(size=400) < 0.04
    y[faulty] = y.mean() - 8.0 * y.std()
    model = OnlineForecaster(**SMALL).fit(y[:256], X[:256])
    n_before = model.n_faulty_[0]
    model.partial_fit(y[256:], X[256:])
    assert model.n_faulty_[0] - n_before == faulty[256:].sum() > 2


@pytest.mark.long
@pytest.mark.parametrize("cut", [400, pytest.param(7, marks=pytest.mark.long)])
def test_a_number_that_comes_late_is_as_if_it_had_never_been_learnt(cut):
    y, X = stream(400, seed=3)
    faulty = np.arange(400) > 300
    faulty &= np.random.default_rng(1).uniform(size=400) < 0.1
    told = np.where(faulty, np.nan, y)
    y = np.where(faulty, y.mean() - 8.0 * y.std(), y)
    model = OnlineForecaster(**SMALL)
    for first in range(0, 400, cut):
        model.partial_fit(y[first : first + cut], X[first : first + cut])
    expected = OnlineForecaster(**SMALL).fit(told, X).predict(X[:3])
    assert_array_equal(model.predict(X[:3]), expected)
    assert model.n_faulty_[0] == faulty.sum()


@pytest.mark.long
@pytest.mark.parametrize("pair", [65, 119])
@pytest.mark.parametrize("n_columns", [0, 2])
def test_a_number_counts_where_it_was_doubted_too(n_columns, pair):
    """What stood still was filled in, and of three times that it had come two were remembered."""
    y, X = stream(304, seed=pair, n_columns=n_columns)
    faulty = np.isin(np.arange(304), [pair, pair + 1, 303])
    came = np.where(faulty, y.mean() - 8.0 * y.std(), y)
    for place, size in ((70, 1e6), (130, -3e7), (200, 1e9)):  # what comes once is another matter
        came[place], faulty[place] = size, True
    told = np.where(faulty, np.nan, y)
    model = OnlineForecaster(**SMALL).fit(came, X)
    expected = OnlineForecaster(**SMALL).fit(told, X)
    future = X[:3] if n_columns else None
    assert_array_equal(model.predict(future), expected.predict(future))
    assert model.n_faulty_[0] == 6


@pytest.mark.long
@pytest.mark.parametrize("n_series", [1, 12])
def test_many_numbers_that_come_late_cost_four_times_the_rows_at_most(n_series, monkeypatch):
    n_rows, rng = 1024, np.random.default_rng(n_series)
    y = stream(n_rows, seed=5)[0][:, None] + rng.normal(size=(n_rows, n_series))
    late = np.arange(n_rows)[:, None] > 270 + 60 * np.arange(n_series)
    faulty = late & (rng.uniform(size=y.shape) < 0.1)
    faulty[-1] = False  # the last row tells when the last number is found
    told, y = np.where(faulty, np.nan, y), np.where(faulty, y.mean(0) - 8.0 * y.std(0), y)
    n_again, learn = [], _rounds._learn_again
    monkeypatch.setattr(
        _rounds, "_learn_again", lambda *seen: n_again.append(len(seen[2])) or learn(*seen)
    )
    model = OnlineForecaster(1, windows=(3, 4, 6)).fit(y)
    assert 0 < sum(n for n in n_again if n > 256) <= 4 * n_rows
    expected = OnlineForecaster(1, windows=(3, 4, 6)).fit(told)
    assert_array_equal(model.predict(), expected.predict())
    assert_array_equal(model.n_faulty_, faulty.sum(axis=0))


@pytest.mark.long
def test_what_comes_every_week_is_no_fault():
    rng = np.random.default_rng(0)
    y = 100.0 + 3.0 * rng.normal(size=300)
    y[6::7] = 0.0
    model = OnlineForecaster(7)
    forecasts = model.prequential_predict(y)
    assert_array_equal(model.n_faulty_, [0])
    assert np.abs(forecasts[100:-7, 0] - y[100:-7]).mean() < 5.0


def test_what_columns_explain_is_no_fault():
    rng = np.random.default_rng(0)
    is_event = np.isin(np.arange(64), [3, 9, 20, 22, 37, 48, 55])
    X = np.column_stack([is_event, rng.normal(size=64)])
    y = 0.1 * rng.normal(size=64) + 100.0 * is_event
    assert OnlineForecaster(**SMALL).fit(y, X).n_faulty_[0] == 0
    assert OnlineForecaster(**SMALL).fit(y, X[:, 1:]).n_faulty_[0] == 7


@pytest.mark.long
@pytest.mark.parametrize("place", [20, 50, 62, 100])
def test_a_level_is_no_fault(place):
    y, X = stream(200, place)
    y[place:] += 1e3
    model = OnlineForecaster(**SMALL)
    forecasts = model.prequential_predict(y, X)
    later = slice(place + 20, -3)
    # before there is a unit to judge by, it is learnt as it comes, and those before it no more
    assert np.abs(forecasts[later, 0] - y[later]).max() < (8.0 if place >= 32 else 80.0)
    assert model.n_faulty_[0] <= (2 if place >= 32 else place)  # two of three rows in doubt


@pytest.mark.long
def test_three_faults_in_a_row_that_differ_are_no_level():
    y, X = stream(200)
    told = y.copy()
    y[100:105], told[100:105] = [1e6, -3e5, 7e5, 2e6, -1e4], np.nan
    forecasts = [OnlineForecaster(**SMALL).prequential_predict(of, X) for of in (y, told)]
    assert_array_equal(*forecasts)


@pytest.mark.long
@pytest.mark.parametrize("n_out", [2, 3, 8, 20, 31])
def test_the_same_number_again_is_no_level_where_values_never_repeat(n_out):
    y, X = stream(200)
    told = y.copy()
    out = slice(100, 100 + n_out)
    y[out], told[out] = -9999.0, np.nan
    ours = OnlineForecaster(**SMALL)
    forecasts = ours.prequential_predict(y, X)
    assert_array_equal(forecasts, OnlineForecaster(**SMALL).prequential_predict(told, X))
    assert ours.n_faulty_[0] == n_out
    # but it is where they do, after 32 rows as none was below 0, and its end is one
    known = OnlineForecaster(**SMALL).fit(np.where(y < 0.0, y, y.round()), X)
    assert known.n_faulty_[0] <= n_out + 2


@pytest.mark.long
def test_what_has_come_in_most_rows_is_learnt_at_last():
    y, X = stream(300)
    y[100:] = -9999.0
    with pytest.warns(UserWarning, match="in doubt"):
        model = OnlineForecaster(**SMALL).fit(y, X)
    assert 100 <= model.n_faulty_[0] <= 110
    assert model.predict(X[-3:])[0] < -5e3


@pytest.mark.long
def test_another_unit_is_learnt():
    off = []
    for seed in range(5):  # one alone is .25 to .63
        y, X = stream(1200, seed=seed)
        y[400:] *= 1e3
        forecasts = OnlineForecaster(**SMALL).prequential_predict(y, X)
        errors = np.abs(forecasts[900:-3, 0] - y[900:-3])
        off.append(np.median(errors) / np.std(y[900:]))
    assert np.median(off) < 0.6, off


@pytest.mark.long
@pytest.mark.parametrize("factor", [0.001, pytest.param(0.01, marks=pytest.mark.long)])
def test_a_smaller_unit_is_learnt(factor):
    time, at = np.arange(700), 300
    y = 10.0 + 5.0 * np.sin(2 * np.pi * time / 24) + np.random.default_rng(1).normal(size=700)
    y[at:] *= factor
    losses = []
    for first in (0, at):
        forecasts = OnlineForecaster().prequential_predict(y[first:])[:, 0]
        losses.append(np.mean((forecasts[-200:] - y[-200:]) ** 2))
        early = slice(len(forecasts) - 336, len(forecasts) - 272)  # 64 rows after it
        losses.append(np.mean((forecasts[early] - y[at + 64 : at + 128]) ** 2))
    of_latest = np.mean(np.diff(y[at + 63 : at + 128]) ** 2)
    assert losses[1] < 3.0 * of_latest  # thousands of times as much if old errors were believed
    assert losses[0] < 1.5 * losses[2]


@pytest.mark.long(every=50)
@pytest.mark.parametrize("cut", [1, 3, 64])
def test_the_cut_changes_nothing(cut):
    y, X = stream(140)
    rng = np.random.default_rng(0)
    y[rng.uniform(size=140) < 0.1] = -9999.0
    X[rng.uniform(size=140) < 0.1, 1] = 1e6
    model = OnlineForecaster(**SMALL)
    whole = OnlineForecaster(**SMALL).fit(y, X)
    for first in range(0, 140, cut):
        model.partial_fit(y[first : first + cut], X[first : first + cut])
    assert_array_equal(model.predict(X[:3]), whole.predict(X[:3]))
    assert_array_equal(model.n_faulty_, whole.n_faulty_)


@pytest.mark.long
@pytest.mark.parametrize("share", [0.05, 0.2])
def test_faults_cost_little(share):
    stream = make_faulty_stream(600, base="series", share=share, random_state=1)
    told = np.where(stream.faulty, np.nan, stream.target)
    losses = []
    for y in (stream.target, told):
        forecasts = OnlineForecaster(24).prequential_predict(y, stream.data)
        losses.append(np.nanmean((forecasts[200:, 0] - told[200:]) ** 2))
    assert losses[0] <= 1.1 * losses[1]


def test_a_clock_that_is_days_ahead():
    index = pd.date_range("2024-01-01", periods=60, freq="min")
    wrong = index[:50].append(index[50:51] + pd.Timedelta("3D"))
    y = pd.Series(np.random.default_rng(0).normal(size=60), index)
    model = OnlineForecaster(gaps="fill", **SMALL).fit(y[:50])
    before = model.predict()
    with pytest.raises(ValueError, match=r"4320 rows are missing .*At most max_gap=1000"):
        model.partial_fit(pd.Series(y.iloc[50:51].to_numpy(), wrong[50:]))
    far = pd.DatetimeIndex(["2199-01-01"])
    with pytest.raises(ValueError, match="millions of steps"):
        model.partial_fit(pd.Series(0.0, far))
    assert_array_equal(model.predict(), before)
    model.partial_fit(y[55:])
    assert model.n_samples_seen_ == 60
    model.set_params(max_gap=20).partial_fit(pd.Series(0.0, index[-1:] + pd.Timedelta("21min")))
    assert model.n_samples_seen_ == 81
    with pytest.raises(ValueError, match="21 rows are missing"):
        model.partial_fit(pd.Series(0.0, index[-1:] + pd.Timedelta("43min")))


def with_true_zeros(n, seed):
    """Make a series in which a tenth of the rows are zeros that are true, and come at random."""
    rng = np.random.default_rng(seed)
    return np.where(rng.uniform(size=n) < 0.1, 0.0, 50.0 + 5.0 * rng.normal(size=n))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_where_true_values_are_doubted_it_is_said_and_can_be_cured(seed):
    y = with_true_zeros(600, seed)
    with pytest.warns(UserWarning, match=r"More than one in twenty of the targets.*guard=False"):
        OnlineForecaster(**SMALL).fit(y)
    trusting = OnlineForecaster(guard=False, **SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forecasts = trusting.prequential_predict(y)[:, 0]
    assert_array_equal(trusting.n_faulty_, [0])
    assert np.mean((forecasts[200:] - y[200:]) ** 2) < 1.1 * np.var(y[200:])


@pytest.mark.long
@pytest.mark.parametrize("cut", [1, 7, 100])
def test_it_is_said_once(cut):
    y = with_true_zeros(400, cut)
    model, n_warnings = OnlineForecaster(**SMALL), 0
    for first in range(0, 400, cut):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.partial_fit(y[first : first + cut])
        n_warnings += len(caught)
        model = pickle.loads(pickle.dumps(model))
    assert n_warnings == 1


@pytest.mark.long
def test_a_warning_that_is_an_error_leaves_the_model_as_it_was():
    y = with_true_zeros(300, 5)
    model = OnlineForecaster(**SMALL).fit(y[:50])
    before = pickle.dumps(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="one in twenty"):
            model.partial_fit(y[50:])
    assert pickle.dumps(model) == before


@pytest.mark.long
def test_without_a_guard_cells_are_believed_too():
    y, X = stream(200, n_columns=1)
    far, none = np.array([[1e4], [0.0]]), np.array([[np.nan], [0.0]])
    for guard in (True, False):
        model = OnlineForecaster(guard=guard, **SMALL).fit(y[:150], X[:150])
        assert np.array_equal(model.predict(far), model.predict(none)) == guard
        model.partial_fit(y[150:], np.where(np.arange(50) == 9, 1e4, X[150:, 0])[:, None])
        assert model.n_faulty_.sum() == guard
    with pytest.raises(ValueError, match=r"'guard'.*mid-stream"):
        model.set_params(guard=True).partial_fit(y, X)


@pytest.mark.parametrize("known_ahead", ["all", ()])
def test_the_same_far_cell_in_rows_after_one_another(known_ahead):
    """It raised a KeyError from the second row on, for good."""
    rng = np.random.default_rng(0)
    y, X = rng.normal(size=120), rng.normal(size=(120, 2))
    gaps = X.copy()
    X[100:103, 0], gaps[100:103, 0] = -9999.0, np.nan
    model, told = (OnlineForecaster(**SMALL, known_ahead=known_ahead) for _ in range(2))
    model.fit(y, X), told.fit(y, gaps)
    assert model.n_faulty_.tolist() == [0, 3, 0]
    future = X[:3] if known_ahead == "all" else None
    assert_allclose(model.predict(future), told.predict(future), rtol=1e-3, atol=1e-3)


@pytest.mark.long(every=50)
@pytest.mark.parametrize(("number", "first"), [(-9999.0, 17), (-9999.0, 60), (-12.0, 60)])
def test_a_number_that_comes_in_long_runs_stands_for_none(number, first):
    """Of -9999 in runs from row 17 on errors were a thousand times those of who was told."""
    rng = np.random.default_rng(1)
    n = 330
    y = 20.0 + 4.0 * np.sin(np.arange(n) / 4.0) + rng.normal(size=n)
    spoilt, told = y.copy(), y.copy()
    for start, length in ((first, 5), (95, 7), (130, 3), (200, 6), (280, 4)):
        spoilt[start : start + length], told[start : start + length] = number, np.nan
    both = [OnlineForecaster(**SMALL) for _ in range(2)]
    said = [model.prequential_predict(of) for model, of in zip(both, (spoilt, told), strict=True)]
    rows = np.arange(260, n - 3)
    errors = [np.nanmean((of[rows, 0] - told[rows]) ** 2) for of in said]
    assert errors[0] < 1.6 * errors[1]
    assert both[0].n_faulty_[0] >= 20


@pytest.mark.parametrize("low", [0.0, None])
def test_a_state_that_comes_in_long_runs_is_none_that_is_missing(low):
    """What is off reads 0, and levels have noise: both are learnt."""
    rng = np.random.default_rng(2)
    is_off = np.arange(400) // 20 % 2 == 1
    y = np.where(is_off, 5.0 + rng.normal(size=400), 100.0 + rng.normal(size=400))
    if low is not None:
        y[is_off] = low
    model = OnlineForecaster(**SMALL).fit(y[:395])
    assert model.n_faulty_[0] <= 4
    assert abs(model.predict()[0] - y[395]) < 5.0


@pytest.mark.long(every=50)
@pytest.mark.parametrize("n_series", [1, 3])
def test_a_number_that_stands_still_far_off_is_not_learnt(n_series):
    """The first of them may be a level: it is taken back when the second one comes."""
    rng = np.random.default_rng(0)
    y = 20.0 + 4.0 * np.sin(np.arange(300) / 4.0)[:, None] + 0.3 * rng.normal(size=(300, n_series))
    y[281:290, -1] = -15.0
    model = OnlineForecaster(**SMALL).fit(y[:290])
    assert model.n_faulty_.tolist() == [0] * (n_series - 1) + [8]
    assert_allclose(model.predict()[0], y[290], atol=3.0)  # it was -15
    told = y.copy()
    told[281:290, -1] = np.nan
    other = OnlineForecaster(**SMALL).fit(told[:290])
    for now, knew in zip(model._state["views"], other._state["views"], strict=True):
        assert_allclose(now["values"][-9:], knew["values"][-9:], atol=3.0)


def pushed(values, n_rows=12):
    state = _views.start(1, n_rows)
    for value in values:
        _views.push(state, np.array([value]), np.array([value]))
    return state


@pytest.mark.parametrize("n_equal", [7, 8, 40])
def test_what_was_long_the_same_is_a_value_once_it_comes_again_and_none_before(n_equal):
    others = [3.0, 5.0, 4.0, 6.0]
    state = pushed([-9999.0] * n_equal + others)
    counted = others if n_equal >= 8 else [-9999.0] * n_equal + others
    assert_allclose(state["mean"], np.mean(counted))
    assert_allclose(state["variance"], np.var(counted), rtol=1e-9)
    state = pushed([0.0] * n_equal + others + [0.0, 1.0])
    known = np.array([0.0] * n_equal + others + [0.0, 1.0])
    assert_allclose(state["mean"], known.mean())
    assert_allclose(state["variance"], known.var())
    assert state["count"] == len(known)
    assert_array_equal(state["values"][:, 0], known[-12:])
    # a price that stands still later on is no beginning
    state = pushed([1.0, 2.0] + [2.0] * 20 + [4.0])
    assert state["count"] == 23


@pytest.mark.long
@pytest.mark.parametrize("n_equal", [60, pytest.param(300, marks=pytest.mark.long)])
def test_a_series_begins_when_it_is_measured(n_equal):
    """-9999 in the first 300 rows: 600 to 3000 times the error of the last value, hereafter."""
    n = n_equal + 200
    X, y = make_faulty_stream(n, base="series", share=0.0, random_state=2, return_X_y=True)
    y[:n_equal] = -9999.0
    losses = []
    for first in (0, n_equal):
        forecasts = OnlineForecaster(2).prequential_predict(y[first:], X[first:])
        losses.append(np.mean((forecasts[n_equal + 63 - first : -1, 0] - y[n_equal + 64 :]) ** 2))
    assert losses[0] <= 1.5 * losses[1]


COUNTS = {
    "binomial": lambda rng: rng.binomial(2, 0.2, 700),
    "rare": lambda rng: rng.poisson(0.3, 700),
    "few": lambda rng: rng.poisson(2.0, 700),
    "ratings": lambda rng: rng.choice([1, 3, 4, 5], 700, p=[0.1, 0.2, 0.3, 0.4]),
    "boxes": lambda rng: rng.choice([0, 1, 24], 700, p=[0.85, 0.1, 0.05]),
}


@pytest.mark.long(every=50)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", COUNTS)
def test_the_largest_of_few_numbers_is_no_fault(name, seed):
    # all that was not 0 had been taken for missing values, and 0 was forecast
    y = COUNTS[name](np.random.default_rng(seed)).astype(float)
    model = OnlineForecaster(random_state=0, **SMALL)
    forecasts = model.prequential_predict(y)[100:, 0]
    assert model.n_faulty_[0] < 10
    assert np.isnan(model._state["doubts"]["nones"]).all()
    assert abs(forecasts.mean() - y[100:].mean()) < 0.25 * y.std()


@pytest.mark.long(every=50)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", COUNTS)
def test_a_number_that_stands_for_none_is_found_among_counts(name, seed):
    rng = np.random.default_rng(seed)
    y = COUNTS[name](rng).astype(float)
    faulty = rng.uniform(size=len(y)) < 0.05
    y[faulty] = -9999.0
    model = OnlineForecaster(random_state=0, **SMALL)
    forecasts = model.prequential_predict(y)[100:, 0]
    assert faulty.sum() <= model.n_faulty_[0] < faulty.sum() + 10
    assert np.abs(forecasts).max() < 50.0


@pytest.mark.parametrize(
    "pattern",
    [
        "weekends",
        pytest.param("Sundays", marks=pytest.mark.long),
        "and holidays",
        pytest.param("some are open", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize(
    "first_day", [0, 2, 3, *(pytest.param(k, marks=pytest.mark.long) for k in (1, 4, 5, 6))]
)
def test_closed_days_are_values_on_whichever_day_a_series_begins(first_day, pattern):
    # of the two first weekends nobody knew that they were any: 0 stood for none for good
    n, day = 300, (np.arange(300) + first_day) % 7
    rng = np.random.default_rng(first_day)
    y = 20.0 + rng.normal(size=n)
    closed = day == 6 if pattern == "Sundays" else day >= 5
    closed |= (pattern == "and holidays") & (rng.random(n) < 0.03)
    closed &= ~((pattern == "some are open") & (day == 5) & (rng.random(n) < 0.15))
    y[closed] = 0.0
    model = OnlineForecaster(1)
    forecasts = model.prequential_predict(y)[:, 0]
    assert model.n_faulty_[0] == 0
    missed, of_last_week = np.abs(forecasts - y)[150:], np.abs(y[150:] - y[143:-7])
    assert missed.mean() < 1.3 * of_last_week.mean()  # 7 to 9 times


@pytest.mark.parametrize(
    ("first", "season"), [(40, 7), (400, 5), pytest.param(1100, 7, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("n_closed", [1, 2])
def test_closed_days_that_begin_later_are_values_from_the_fourth_on(first, season, n_closed):
    """They stood for none for good: their error was that of who never hears of them.

    In short seasons from the fifth on: so may random faults come.
    """
    n = first + 24 * season
    y = 100.0 + np.random.default_rng(first).normal(size=n)
    day = np.arange(n) - first
    closed = (day >= 0) & (day % season < n_closed)
    y[closed] = 0.0
    model = OnlineForecaster(1)
    forecasts = np.concatenate(
        [model.prequential_predict(y[low : low + 50])[:, 0] for low in range(0, n, 50)]
    )
    assert model.n_faulty_[0] <= (4 + (season < 7)) * n_closed
    late = slice(first + 12 * season, None)
    assert np.median(np.abs(forecasts - y)[late][closed[late]]) < 30.0  # 100


@pytest.mark.long
def test_a_number_that_comes_at_any_time_is_no_closed_day():
    rng = np.random.default_rng(3)
    y = 100.0 + rng.normal(size=700)
    closed = (np.arange(700) > 400) & (rng.random(700) < 0.05)
    y[closed] = 0.0
    model = OnlineForecaster(1).fit(y)
    assert model.n_faulty_[0] == closed.sum() > 8


@pytest.mark.parametrize("apart", [5, 6])
def test_four_faults_of_many_that_are_as_far_apart_by_chance_are_faults(apart):
    rng = np.random.default_rng(apart)
    y = 100.0 + np.sin(np.arange(600) / 4.0) + 0.1 * rng.normal(size=600)
    faulty = rng.random(600) < 0.1
    last = 485 + 3 * apart
    faulty[480 : last + 5] = False
    faulty[[485 + k * apart for k in range(4)]] = faulty[last + 2] = (
        True  # half of streams have such
    )
    model = OnlineForecaster(1)
    forecasts = model.prequential_predict(np.where(faulty, -9999.0, y))[:, 0]
    missed = np.abs(forecasts - y)
    assert missed[~faulty][np.flatnonzero(~faulty) > 300].max() < 5.0
    assert model.n_faulty_[0] == faulty.sum()


@pytest.mark.long(every=50)
@pytest.mark.parametrize("first_hour", [0, 5, 11])
def test_quiet_nights_are_values(first_hour):
    hour = (np.arange(600) + first_hour) % 24
    y = np.where(hour < 8, 0.0, 30.0 + np.random.default_rng(first_hour).normal(size=600))
    model = OnlineForecaster(1)
    for low in range(0, len(y), 31):
        model.partial_fit(y[low : low + 31])
    assert model.n_faulty_[0] == 0


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_comes_at_any_time_is_in_no_season(seed):
    rng = np.random.default_rng(seed)
    mask = rng.random(256) < 0.15
    assert not _doubts._is_seasonal(mask)
    assert _doubts._is_seasonal(np.arange(256) % 7 >= 5)
    assert not _doubts._is_seasonal(mask, (7, 24))


@pytest.mark.parametrize(
    ("closed", "season"),
    [((2, 6), 7), ((3, 4, 9), 14), pytest.param((0, 1, 2, 3, 12), 24, marks=pytest.mark.long)],
)
@pytest.mark.parametrize("is_given", [False, True])
def test_a_season_may_hold_several_runs_of_what_is_a_value(closed, season, is_given):
    # one distance from run to run was looked for: 0 stood for none for good
    n = 20 * season
    y = 20.0 + np.random.default_rng(0).normal(size=n)
    y[np.isin(np.arange(n) % season, closed)] = 0.0
    model = OnlineForecaster(1, season_lengths=(season,) if is_given else None)
    missed = np.abs(model.prequential_predict(y)[:, 0] - y)[n // 2 :]
    assert model.n_faulty_[0] == 0
    assert missed.mean() < 1.3 * np.abs(y[n // 2 :] - y[n // 2 - season : -season]).mean()


def test_of_a_season_that_is_given_two_are_enough():
    mask = np.isin(np.arange(32) % 14, [3, 9])
    assert _doubts._is_seasonal(mask, (14,))
    assert not _doubts._is_seasonal(mask[:30], (14,))  # not two of them since the first mark
    assert not _doubts._is_seasonal(mask)
    y = np.where(mask, 0.0, 20.0 + np.random.default_rng(0).normal(size=32))
    believed = OnlineForecaster(1, season_lengths=(14,)).fit(y).n_faulty_[0]
    assert (believed, OnlineForecaster(1).fit(y).n_faulty_[0]) == (0, mask.sum())
