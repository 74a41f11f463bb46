"""Backtests against a literal loop over origins, steps and series."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import AdaptedForecaster, OnlineForecaster
from sklearn_okl.evaluation import backtest, crps_from_quantiles, quantiles_from_intervals

H, LEVELS = 3, np.array([0.5, 0.9])


class Mean:
    """The mean of the latest rows, as someone else's forecaster; counts its fits."""

    n_fits = 0

    def __init__(self, horizon=H):
        self.horizon = horizon

    def fit(self, y):
        type(self).n_fits += 1
        self.rows_ = np.asarray(y)[-5:]
        return self

    def predict(self):
        return np.repeat(self.rows_.mean(axis=0)[None], self.horizon, axis=0)

    def predict_interval(self, coverage):
        reach = 2.0 * np.asarray(coverage)[:, None] * [-1.0, 1.0]
        return self.predict()[..., None, None] + reach


class UpdatedMean(Mean):
    """One that can be updated."""

    def partial_fit(self, y):
        self.rows_ = np.concatenate([self.rows_, y])[-5:]
        return self


def stream(m=2, seed=0):
    rng = np.random.default_rng(seed)
    y = 5.0 + np.cumsum(rng.normal(size=(80, m)), axis=0) * [1.0, 10.0][:m]
    y[50, 0] = np.nan
    return y


def last_season(y, horizon, *X):
    return np.asarray(y)[-4:][:horizon]


def literal(y, origins, forecast, season):
    """All measures as their formulas say, with intervals of a given reach."""
    k, m = len(origins), y.shape[1]
    found = {name: [] for name in ("MAE", "RMSE", "MASE", "RMSSE", "sMAPE")}
    for c in range(m):
        parts = {name: [] for name in found}
        for i in range(k):
            past = y[: origins[i], c]
            steps = past[season:] - past[:-season]
            steps = steps[~np.isnan(steps)]
            for h in range(H):
                come, said = y[origins[i] + h, c], forecast(y[: origins[i]])[h, c]
                if np.isnan(come):
                    continue
                error = abs(come - said)
                parts["MAE"].append(error)
                parts["RMSE"].append(error**2)
                parts["MASE"].append(error / np.mean(np.abs(steps)))
                parts["RMSSE"].append(error**2 / np.mean(steps**2))
                parts["sMAPE"].append(200 * error / (abs(come) + abs(said)))
        for name, values in parts.items():
            root = np.sqrt if name in ("RMSE", "RMSSE") else float
            found[name].append(root(np.mean(values)))
    return {name: np.array(values) for name, values in found.items()}


@pytest.mark.parametrize("season", [1, 4])
def test_measures_are_their_formulas(season):
    y, origins = stream(), np.array([20, 21, 30, 49, 77])
    result = backtest(last_season, y, horizon=H, origins=origins, season_length=season)
    expected = literal(y, origins, lambda past: past[-4:][:H], season)
    assert list(result.measures) == list(expected)
    for name, values in expected.items():
        assert_allclose(result.measures_by_series[name], values, err_msg=name)
        assert_allclose(result.measures[name], values.mean(), err_msg=name)
    by_step = result.measures_by_step["RMSE"]
    errors = (result.forecasts - result.y_true) ** 2
    assert_allclose(by_step, np.sqrt(np.nanmean(errors, axis=0)).mean(axis=1))
    assert result.intervals is None
    assert result.held is None


@pytest.mark.parametrize("season", [60, 100])
def test_without_a_season_before_the_origin_nothing_is_scaled(season):
    measures = backtest(last_season, stream(), horizon=H, season_length=season).measures
    assert np.isnan([measures["MASE"], measures["RMSSE"]]).all() == (season == 100)
    assert np.isfinite([measures[name] for name in ("MAE", "RMSE", "sMAPE")]).all()


@pytest.mark.long(every=4)
@pytest.mark.parametrize("kind", [Mean, UpdatedMean])
@pytest.mark.parametrize("m", [1, 2])
def test_intervals_groups_and_records(kind, m):
    y, hours = stream(m), np.arange(80) % 6
    flat = y[:, 0] if m == 1 else y
    kind.n_fits = 0
    result = backtest(kind(), flat, coverage=LEVELS, groups=hours)
    assert kind.n_fits == (1 if kind is UpdatedMean else len(result.origins))
    assert_array_equal(result.origins, np.arange(40, 78, 3))
    held, by_hour, scores = [], {}, [[] for _ in range(m)]
    for i, origin in enumerate(result.origins):
        for h in range(H):
            for c in range(m):
                said, come = np.mean(y[origin - 5 : origin, c]), y[origin + h, c]
                if np.isnan(said) or np.isnan(come):
                    continue
                row = result.forecasts[i, h] if m == 1 else result.forecasts[i, h, c]
                assert_allclose(row, said)
                inside = np.abs(come - said) <= 2.0 * LEVELS
                held.append(inside)
                by_hour.setdefault((origin + h) % 6, []).append(inside)
                ends = said + 2.0 * LEVELS[:, None] * [-1.0, 1.0]
                quantiles, levels = quantiles_from_intervals(ends, LEVELS)
                quantiles, levels = np.insert(quantiles, 2, said), np.insert(levels, 2, 0.5)
                scores[c].append(crps_from_quantiles(come, quantiles, levels))
    assert_allclose(result.held, np.mean(held, axis=0))
    assert set(result.held_by_group) == set(range(6))
    for hour, shares in result.held_by_group.items():
        assert_allclose(shares, np.mean(by_hour[hour], axis=0))
    assert_allclose(result.measures["CRPS"], np.mean([np.mean(part) for part in scores]))
    records = result.records
    assert len(records) == len(result.origins) * H * m
    assert_array_equal(records["step"][::m][:H], np.arange(1, H + 1))
    assert_array_equal(records["forecast"], result.forecasts.ravel())
    assert_array_equal(records["upper_0.9"], result.intervals[..., 1, 1].ravel())


@pytest.mark.long
@pytest.mark.parametrize("refit_every", [None, 1, 4])
def test_a_forecaster_of_ours_is_asked_as_one_would(refit_every):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 1))
    y = X[:, 0] + np.sin(np.arange(90) / 3.0) + 0.1 * rng.normal(size=90)
    model = OnlineForecaster(H, windows=(3, 4, 6))
    result = backtest(model, y, X, refit_every=refit_every, coverage=LEVELS)
    for i, origin in enumerate(result.origins):  # a refit learns the same rows in the same order
        fitted = OnlineForecaster(H, windows=(3, 4, 6)).fit(y[:origin], X[:origin])
        future = X[origin : origin + H]
        assert_array_equal(result.forecasts[i], fitted.predict(future))
        assert_array_equal(result.intervals[i], fitted.predict_interval(future, coverage=LEVELS))
    assert not model.__sklearn_is_fitted__()
    assert result.forecaster.n_samples_seen_ == result.origins[-1]


@pytest.mark.long
def test_one_that_knows_no_columns_ahead_and_one_that_corrects_a_base():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 1)), rng.normal(size=80)
    blind = OnlineForecaster(H, windows=(3, 4, 6), known_ahead=())
    result = backtest(blind, y, X, origins=[60])
    expected = OnlineForecaster(H, windows=(3, 4, 6), known_ahead=()).fit(y[:60], X[:60]).predict()
    assert_array_equal(result.forecasts[0], expected)
    base = np.zeros((80, H))
    model = AdaptedForecaster(H, forecaster=blind, window=3)
    corrected = backtest(model, y, X, base_forecasts=base, origins=[50, 60])
    own = AdaptedForecaster(H, forecaster=blind, window=3).fit(y[:60], base[:60], X[:60])
    assert_array_equal(corrected.forecasts[1], own.predict(base[60]))


def test_functions_see_the_past_and_may_give_intervals():
    y, X, seen = stream(1)[:40], np.arange(40.0)[:, None], []

    def function(past, horizon, X_past, X_future):
        seen.append((len(past), len(X_past), X_future[:, 0].tolist()))
        said = np.repeat(past[-1:], horizon, axis=0)
        return said, said[..., None, None] + LEVELS[:, None] * [-1.0, 1.0]

    result = backtest(function, y, X, horizon=2, origins=[10, 30], coverage=LEVELS)
    assert seen == [(10, 10, [10.0, 11.0]), (30, 30, [30.0, 31.0])]
    assert result.intervals.shape == (2, 2, 1, 2, 2)


def test_frames_give_records_with_their_labels():
    pandas = pytest.importorskip("pandas")
    index = pandas.date_range("2024-01-01", periods=80, freq="h")
    frame = pandas.DataFrame(stream(), columns=["a", "b"], index=index)
    result = backtest(last_season, frame, horizon=H, origins=[40, 70])
    plain = backtest(last_season, stream(), horizon=H, origins=[40, 70])
    assert isinstance(result.records, pandas.DataFrame)
    assert_array_equal(result.records["forecast"], plain.records["forecast"])
    assert result.records["origin"].tolist()[::6] == [index[40], index[70]]
    assert result.records["series"].tolist()[:2] == ["a", "b"]
    one = backtest(last_season, frame["a"], horizon=H, origins=[40])
    assert one.forecasts.shape == (1, H)


@pytest.mark.parametrize("labels", ["text", "numbers with fractions"])
def test_records_have_labels_that_no_forecast_continues(labels):
    pandas = pytest.importorskip("pandas")
    index = [f"day {t}" for t in range(80)] if labels == "text" else np.arange(80) / 4.0
    y = pandas.Series(stream(1)[:, 0], index=index)
    result = backtest(last_season, y, horizon=H, origins=[40, 70])
    assert isinstance(result.records, pandas.DataFrame)
    assert result.records["origin"].tolist()[::H] == [index[40], index[70]]


@pytest.mark.parametrize("seed", range(2))
def test_groups_may_be_text_numbers_and_nan(seed):
    rng = np.random.default_rng(seed)
    groups = rng.choice([1.0, 2.0, np.nan], size=80)
    told = backtest(Mean(), stream(2, seed), groups=groups).held_by_group
    names = np.where(np.isnan(groups), "none", groups.astype(str))
    by_name = backtest(Mean(), stream(2, seed), groups=list(names)).held_by_group
    assert len(told) == 3
    for label, held in told.items():
        assert_array_equal(held, by_name["none" if np.isnan(label) else str(label)])


ADAPTED = {"forecaster": AdaptedForecaster(H)}
SPREAD = {"forecaster": Mean()}


@pytest.mark.parametrize(
    ("error", "words", "arguments"),
    [
        (ValueError, "no 'horizon'", {"forecaster": last_season, "horizon": None}),
        (ValueError, "increasing whole numbers from 1 to 77", {"origins": [78]}),
        (ValueError, "increasing whole numbers", {"origins": [30, 20]}),
        (ValueError, "increasing whole numbers", {"origins": [0.5]}),
        (ValueError, "groups has 3 rows, but y has 80", {"groups": [1, 2, 3]}),
        (ValueError, "X has 77 rows, but y has 80", {"X": np.zeros((77, 1))}),
        (ValueError, "X has 160 rows, but y has 80", {"X": np.zeros((160, 1))}),
        (ValueError, "base_forecasts has 79 rows", {"base_forecasts": np.zeros((79, H))}),
        (
            ValueError,
            r"before each row of y .* \(80, 3\)",
            ADAPTED | {"base_forecasts": [0.0] * 80},
        ),
        (ValueError, "base_forecasts is missing", ADAPTED),
        (ValueError, r"shape \(80, 2\)", ADAPTED | {"base_forecasts": np.zeros((80, 2))}),
        (TypeError, "came with a function", {"base_forecasts": np.zeros((80, H))}),
        (ValueError, "y has 80 rows, which are too few", {"horizon": 80}),
        (ValueError, "y has 80 rows, .*at least 83 rows, or origins from 1 to 38", {"horizon": 42}),
        (TypeError, "labels that have no order", SPREAD | {"groups": [None, "a"] * 40}),
        (ValueError, "above 0 and below 1", {"coverage": [90]}),
        (ValueError, "refit_every", {"refit_every": 0}),
        (ValueError, "have shape", {"forecaster": lambda y, horizon: y[:2]}),
        (ValueError, "but the forecaster has horizon=5", {"forecaster": Mean(5)}),
        (TypeError, "cannot be updated", {"forecaster": Mean(), "refit_every": 2}),
        (TypeError, "has no 'fit' and 'predict'", {"forecaster": 3}),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(error, words, arguments):
    given = {"forecaster": last_season, "horizon": H} | arguments
    with pytest.raises(error, match=words):
        backtest(y=stream(), **given)


def with_gaps(n=200):
    """Days with a week, of which three in a row are left out, and one more."""
    pandas = pytest.importorskip("pandas")
    t, day = np.arange(n), pandas.date_range("2024-01-01", periods=n)
    noise = 0.01 * np.random.default_rng(0).normal(size=n)
    y = pandas.Series(100.0 + 50.0 * (t % 7 == 5) + 30.0 * (t % 7 == 2) + noise, day)
    X = pandas.DataFrame({"promo": (t % 11 == 3) * 40.0}, day)
    return y + X["promo"], X, day[[152, 153, 154, 160]]


@pytest.mark.parametrize("columns", ["none", "frame", "array"])
def test_rows_that_an_index_leaves_out_are_forecast_and_not_scored(columns):
    y, X, left_out = with_gaps()
    y, X = y.drop(left_out), X.drop(left_out)
    y = y if columns != "none" else y - X["promo"]
    X = {"none": None, "frame": X, "array": X.to_numpy()}[columns]
    ours = OnlineForecaster(7, gaps="fill", season_lengths=[7], windows=(4, 8, 24))
    arguments = {"season_length": 7, "groups": y.index.day_of_week}
    result = backtest(ours, y, X, origins=[145, 150, 152, 170], **arguments)
    assert result.measures["MAE"] < (0.05 if columns == "none" else 2.0)
    assert result.origins.tolist() == [145, 150, 152, 170]
    assert result.records["origin"].tolist()[::7] == y.index[[145, 150, 152, 170]].tolist()
    at_once = ours.prequential_predict(y, X)[[145, 150, 152, 170]]
    there = ~np.isnan(at_once)  # columns of rows to come may be left out
    assert_allclose(result.forecasts[there], at_once[there], rtol=1e-9)
    labels = y.index[150] + np.arange(7) * np.timedelta64(1, "D")
    assert_array_equal(result.y_true[1], y.reindex(labels))
    assert set(result.held_by_group) == set(range(7))


def test_a_base_is_corrected_over_rows_that_an_index_leaves_out():
    y, _, left_out = with_gaps()
    y = y[100:]
    base = np.stack([np.roll(y.to_numpy(), 7 - h) for h in range(3)], axis=1)
    there = ~y.index.isin(left_out)
    ours = OnlineForecaster(3, gaps="fill", windows=(4, 8, 24))
    given = y[there], base[there]
    result = backtest(AdaptedForecaster(3, forecaster=ours), given[0], base_forecasts=given[1])
    at_once = AdaptedForecaster(3, forecaster=ours).prequential_predict(*given)[result.origins]
    assert_allclose(result.forecasts, at_once, rtol=1e-9)


def test_rows_left_out_are_refused_where_nobody_fills_them():
    y, _, left_out = with_gaps()
    ours, y = OnlineForecaster(7, gaps="fill", windows=(4, 8, 24)), y.drop(left_out)
    with pytest.raises(ValueError, match=r"gap in time: 3 rows are missing before 2024-06-04"):
        backtest(OnlineForecaster(7, gaps="fill", max_gap=2), y, origins=[40])
    with pytest.raises(ValueError, match=r"of 2024-05-30 .*leaves rows out.*asfreq"):
        backtest(lambda rows, horizon: ours.fit(rows).predict(), y, horizon=7, origins=[150])
    said = backtest(lambda rows, horizon: rows[-7:], y, horizon=7, origins=[150])
    assert said.forecasts.shape == (1, 7)  # of rows that came, which are no forecast's labels


@pytest.mark.parametrize("has_columns", [False, True])
def test_a_function_that_takes_other_arguments_is_told_which_come(has_columns):
    y, X = np.arange(40.0), np.ones((40, 1)) if has_columns else None
    functions = [lambda y, horizon, X, X_future: y[-horizon:], lambda y, horizon: y[-horizon:]]
    wrong, right = functions[:: -1 if has_columns else 1]
    told = r"function\(y, horizon, X, X_future\), as X is given" if has_columns else r"horizon\),"
    with pytest.raises(TypeError, match=told):
        backtest(wrong, y, X, horizon=3)
    assert backtest(right, y, X, horizon=3).measures["MAE"] == 3.0
    inside = [lambda y, horizon, *more: y[-horizon:] + len(None)]
    with pytest.raises(TypeError, match="NoneType"):  # an error of its own
        backtest(inside[0], y, X, horizon=3)
