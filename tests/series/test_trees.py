"""Trees in the forecaster of series: what they are worth, and what they are asked."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_okl import OnlineForecaster, RefitRegressor, load, save
from sklearn_okl.series import _trees

SMALL = {"windows": (3, 4, 6)}


def open_hours(n, seed=0):
    """Make a series that is high by day where a column says so; return it and the column."""
    rng = np.random.default_rng(seed)
    is_open = np.repeat(rng.integers(2, size=n // 24 + 1), 24)[:n]
    is_day = np.arange(n) % 24 >= 8
    return 5.0 * is_open * is_day + 0.3 * rng.normal(size=n), is_open[:, None].astype(float)


def error(model, y, X, first, steps=(0, 5)):
    said, n = model.prequential_predict(y, X), len(y)
    return np.mean([np.mean((said[first : n - h, h] - y[first + h :]) ** 2) for h in steps])


@pytest.mark.long
def test_trees_know_what_counts_at_some_hours():
    y, X = open_hours(600)
    plain, grown = (OnlineForecaster(6, **SMALL, trees=trees) for trees in (False, True))
    assert error(grown, y, X, 400) < 0.5 * error(plain, y, X, 400)


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1])
def test_trees_cost_little_where_they_know_nothing(seed):
    rng = np.random.default_rng(seed)
    y, X = rng.normal(size=500).cumsum(), rng.normal(size=(500, 2))
    plain, grown = (OnlineForecaster(6, **SMALL, trees=trees) for trees in (False, True))
    assert error(grown, y, X, 150) < 1.05 * error(plain, y, X, 150)


def test_values_that_are_seen_are_known_at_all_steps():
    lags = _trees.lags_of(np.array([24, 168, 0]), 30)
    assert_array_equal(lags, [30, 48, 168, 30])


def test_an_origin_asks_the_fit_that_it_knew():
    y, X = open_hours(64)
    model = OnlineForecaster(8, **SMALL, trees=Ridge(), guard=False).fit(y, X)
    (state,) = model._state["trees"]
    starts = [n for n, _ in state["fits"]]
    assert state["t"] == 64 - 16  # rows before there is a unit are not learnt
    assert starts[0] <= state["t"] - 8 < starts[-1]
    assert_array_equal(model._state["recent"]["trees_n_known"].max(), state["t"] - 1)


@pytest.mark.parametrize("pooled", [False, True])
def test_gaps_faults_and_columns_without_a_value(pooled):
    rng = np.random.default_rng(0)
    y = rng.normal(size=(90, 3)).cumsum(axis=0)
    y[:40, 2], y[50:55, 0], y[70] = np.nan, np.nan, 1e9
    X = np.column_stack([np.full(90, np.nan), np.ones(90), rng.normal(size=90)])
    model = OnlineForecaster(2, **SMALL, pooled=pooled, trees=True)
    said = model.prequential_predict(y, X, X[:2])
    assert np.isfinite(said[41:]).all()
    assert model.expert_names_[-2:] == ["columns alone", "trees alone"]
    assert model.expert_weights_.shape[-1] == len(model.expert_names_)


def test_the_schedule_of_who_has_one_is_kept():
    y, X = open_hours(120)
    trees = RefitRegressor(DecisionTreeRegressor(max_depth=2), growth=0.5, window=40)
    model = OnlineForecaster(2, **SMALL, trees=trees, guard=False).fit(y, X)
    (state,) = model._state["trees"]
    assert state["n_fits"] == 4  # at 30, 45, 65, 85 rows of 104
    assert len(state["past"].rows[1]) == 40


@pytest.mark.long
def test_files_hold_trees_of_those_who_are_trusted(tmp_path):
    pytest.importorskip("skops")
    y, X = open_hours(60)
    model = OnlineForecaster(2, **SMALL, trees=KNeighborsRegressor(3)).fit(y, X)
    save(model, tmp_path / "model.skops")
    other = load(tmp_path / "model.skops")
    assert_array_equal(other.predict(X[:2]), model.predict(X[:2]))
    both = (one.partial_fit(y[:9], X[:9]).predict(X[:2]) for one in (model, other))
    assert_array_equal(*both)


def test_who_is_no_regressor_is_refused():
    with pytest.raises(TypeError, match=r"trees=.* is not an instance of a regressor"):
        OnlineForecaster(trees=DecisionTreeClassifier()).fit(np.arange(9.0))
    with pytest.raises(ValueError, match="trees"):
        OnlineForecaster(trees="forest").fit(np.arange(9.0))
    model = OnlineForecaster().fit(np.arange(9.0)).set_params(trees=True)
    with pytest.raises(ValueError, match=r"\['trees'\] .* cannot change in mid-stream"):
        model.partial_fit([9.0])
