"""The job delay at its smallest size, and its figures on one seed."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression

from benchmarks import delay, delay_tables, delay_wrappers
from benchmarks.__main__ import main
from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.datasets import make_ar4


@pytest.mark.long
def test_tables(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(delay, "WARM_UP", 48)
    monkeypatch.setattr(delay, "CORRELATIONS", (0.0, 0.9))
    monkeypatch.setattr(delay, "QUICK", delay.Sizes(3, 4, 55, 220, 2))
    arguments = ["--quick", "--budget", "fast", "--output", str(tmp_path)]
    assert main(["delay", *arguments]) == 0
    printed = capsys.readouterr().out
    content = json.loads((tmp_path / "delay.json").read_text(encoding="utf-8"))
    assert content["days"].keys() == {"correlation 0", "correlation 0.9"}
    for title, ways in content["days"].items():
        for way, (run,) in ways.items():
            assert_allclose(run["ratio"], run["default"] / min(run["VAW"], run["yesterday"]))
            assert run["formula"] > 0
            assert (f"{title}, {way}: ratio" in printed) == (run["ratio"] > delay.BAR)
    assert content["arrivals"].keys() == {"day ahead", "AR(4)"}
    assert content["arrivals"]["AR(4)"].keys() == delay.LATE.keys()
    assert {"walk, inputs of noise", "walk, its latest values"} <= content["walks"].keys()
    assert "Missed: " in printed


class Diary(BaseEstimator):
    """Forecasts the number of rows learnt, and notes which rows it is asked for and learns."""

    def __init__(self, diary):
        self.diary = diary

    def __sklearn_clone__(self):
        return self

    def partial_fit(self, X, y):
        self.diary += [("learn", *X[:, 0])]
        return self

    def predict(self, X, ahead=False):
        self.diary += [("ahead" if ahead else "predict", *X[:, 0])]
        return np.full(len(X), 1.0)

    def predict_interval(self, X, coverage, ahead=False):
        assert coverage == 0.9
        return self.predict(X, ahead)[:, None] + [-1.0, 1.0]


def test_days_are_forecast_at_midnight():
    X, y = np.arange(72.0)[:, None], np.zeros(72)
    diary = []
    forecasts, intervals = delay.in_days(Diary(diary), X, y, ahead=True)
    first, second, third = (tuple(day) for day in X[:, 0].reshape(3, 24))
    asked = [("ahead", *second)] * 2 + [("learn", *second)] + [("ahead", *third)] * 2
    assert diary == [("learn", *first), *asked, ("learn", *third)]
    assert_array_equal(np.isnan(forecasts), np.arange(72) < 24)
    assert_array_equal(intervals[24:], [[0.0, 2.0]] * 48)
    diary.clear()
    delay.in_days(Diary(diary), X, y)
    assert [entry[0] for entry in diary] == ["learn", "predict", "learn", "predict", "learn"]


def test_rows_one_by_one_know_the_labels_that_have_arrived():
    X, y = np.arange(10.0)[:, None], np.zeros(10)
    diary = []
    assert delay.one_by_one(Diary(diary), X, y, 3, 2).shape == (2, 2)
    assert diary == [
        ("learn", *range(5)),  # row 8 knows 0 to 4
        ("predict", 8.0),
        ("learn", 5.0),
        ("predict", 9.0),
        ("learn", 6.0),
    ]


def test_one_by_one_is_what_prequential_predict_forecasts():
    X, y = make_ar4(60)
    model = OnlineKernelRegressor(budget="fast", label_delay=5, random_state=0)
    intervals = delay.one_by_one(model, X, y, 5, 8)
    forecasts = model.prequential_predict(X, y)[-8:]
    assert_allclose(intervals.mean(axis=1), forecasts, rtol=1e-7)


def test_shares_and_widths():
    y = np.arange(-10.0, 11.0)
    intervals = np.tile([-5.0, 5.0], (21, 1))
    figures = delay.covered(y, np.zeros(21), intervals)
    assert_allclose(figures["held"], 11 / 21)
    assert_allclose(figures["width"], 10 / 18)  # nine tenths of the sizes are 9 or less


def test_the_formula_is_the_best_forecast():
    stream = delay.Stream(0.9, 200, seed=0)
    for forecasts, expected in (
        (stream.formula, np.sqrt(1 - 0.9**48)),
        (stream.formula_in_days, np.sqrt(np.mean(1 - 0.9 ** (2 * np.arange(1, 25))))),
    ):
        errors = (stream.y - forecasts)[24:]
        assert errors.std() == pytest.approx(4 * expected, rel=0.05)
    first_hours = (stream.y - stream.formula_in_days)[24::24]
    assert first_hours.std() == pytest.approx(4 * np.sqrt(1 - 0.9**2), rel=0.15)
    assert_array_equal(stream.yesterday[24:], stream.y[:-24])


def test_arrivals_and_walks():
    arrivals = delay.random_arrivals(1000, 0)
    assert set(arrivals - np.arange(1000) - 1) == set(range(20, 41))
    streams = delay.walks((0, 1), 300)
    X, y = streams["walk, its latest values", 1]
    assert_array_equal(X[2:], np.column_stack([y[1:-1], y[:-2]]))
    assert len({len(y) for _, y in streams.values()}) == 1

    class LastValue(BaseEstimator):
        def prequential_predict(self, X, y):
            return np.append(0.0, y[:-1])

    assert_allclose(delay.over_last_value(LastValue(), X, y), 1.0)


@pytest.mark.parametrize("lag", [None, 1, 12])
def test_differences_are_taken_back(lag):
    y = pd.Series(np.random.default_rng(0).uniform(1, 2, size=100))
    truth = y if lag is None else y.diff(lag).dropna()

    def oracle(model, train, horizon):
        assert_array_equal(train, truth[:-horizon])
        return truth[-horizon:].to_numpy()

    for horizon in (12, 36):
        assert delay_wrappers.airline_error(oracle, None, y, lag, horizon) < 1e-12


def test_wrappers_that_are_not_installed_are_left_out(capsys, monkeypatch):
    monkeypatch.setattr(delay_wrappers, "find_spec", lambda name: None)
    found = delay_wrappers.run((0,), "fast", 2)
    assert found == {"airline": {}, "mapie": {}}
    assert "Left out sktime, skforecast, mapie" in capsys.readouterr().err
    assert list(delay_wrappers.missed(found)) == []


def test_trend_of_the_intervals():
    X, y = delay_wrappers.with_trend(2400, 0)
    assert X.shape == (2400, 4)
    assert_array_equal(X[1:, -1], y[:-1])
    slope = np.polyfit(np.arange(2400), y, 1)[0]
    assert slope == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize("lag", [None, 12])
def test_reductions_agree_where_they_are_installed(lag):
    for name in ("sktime", "skforecast"):
        pytest.importorskip(name)
    from sktime.datasets import load_airline

    with warnings.catch_warnings(record=True, action="ignore"):
        first, second = (
            delay_wrappers.airline_error(forecast, LinearRegression(), load_airline(), lag, 36)
            for forecast in (delay_wrappers.with_sktime, delay_wrappers.with_skforecast)
        )
    assert_allclose(first, second)
    assert 0.03 < first < 0.12


@pytest.mark.parametrize("learning_on", [False, True])
def test_intervals_of_mapie_where_it_is_installed(learning_on):
    pytest.importorskip("mapie")
    X, y = make_ar4(100)
    model = OnlineKernelRegressor(budget="fast", lags=0, random_state=0)
    with warnings.catch_warnings(record=True, action="ignore"):
        found = delay_wrappers.adaptive(model, X, y, 20, learning_on, 0)
    assert 0.7 <= found["held"] <= 1.0
    assert found["infinite"] <= 0.1


@pytest.mark.long
@pytest.mark.slow
def test_a_day_ahead_at_midnight(full_size):
    for correlation in delay.CORRELATIONS if full_size else (0.9,):
        stream = delay.Stream(correlation, delay.Sizes().days if full_size else 75, seed=0)
        model = OnlineKernelRegressor(label_delay=23, random_state=0)
        found = delay.whole_days(model, stream)
        assert found["ratio"] <= delay.BAR
        assert delay_tables.COVERED[0] <= found["held"] <= delay_tables.COVERED[1]
        assert found["width"] <= delay.BAR_OF_WIDTHS


@pytest.mark.long
@pytest.mark.slow
def test_labels_late_at_random(full_size):
    n, budget = (delay.Sizes().arrivals, "balanced") if full_size else (300, "fast")
    X, y = make_ar4(n)
    arrivals = delay.random_arrivals(n, 0)
    own, late = (
        delay.loss_under(
            arrivals, OnlineKernelRegressor(budget=budget, random_state=0, **lag), X, y
        )
        for lag in ({"lags": 0}, {"label_delay": 30})
    )
    assert late <= delay.BAR * own


@pytest.mark.long
@pytest.mark.slow
def test_random_walks(full_size):
    n = delay.Sizes().walk if full_size else 1000
    for (title, seed), (X, y) in delay.walks((0,), n).items():
        model = OnlineKernelRegressor(random_state=seed)
        assert delay.over_last_value(model, X, y) <= delay.BAR_OF_WALKS, title
