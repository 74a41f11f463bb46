"""Intervals as frames: the numbers of the arrays, the names and index of what came in."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_okl import (
    AdaptedForecaster,
    OnlineForecaster,
    OnlineKernelRegressor,
    RunningStandardScaler,
    StreamingPipeline,
    from_bytes,
    to_bytes,
)
from sklearn_okl._prediction_frames import level_frame

pd = pytest.importorskip("pandas")
HOURS = pd.date_range("2024-03-30 20:00", periods=40, freq="h", tz="Europe/Paris")  # 23 hours


def rows(seed=0, index=HOURS):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["wind", "sun"], index=index)
    return X, 2 * X["wind"].rename("load") + rng.normal(size=40)


def ends(frame, variable, coverage):
    return frame[variable][coverage][["lower", "upper"]].to_numpy()


@pytest.mark.long(every=4)
@pytest.mark.parametrize("in_pipeline", [False, True])
@pytest.mark.parametrize("index", [HOURS, pd.Index([f"row {k}" for k in range(40)]), None])
def test_rows_keep_their_index(index, in_pipeline):
    X, y = rows(index=index)
    model = OnlineKernelRegressor(budget="fast", random_state=0)
    if in_pipeline:
        model = StreamingPipeline([("scale", RunningStandardScaler()), ("model", model)])
    model.fit(X, y)
    asked, levels = X[-3:], [0.5, 0.29, 0.9]
    arrays = model.predict_interval(asked, levels)
    wide = model.predict_interval(asked, levels, as_frame="wide")
    assert list(wide.columns) == ["lo-50", "hi-50", "lo-29", "hi-29", "lo-90", "hi-90"]
    assert_array_equal(wide.to_numpy(), arrays.reshape(3, -1))
    named = model.predict_interval(asked, levels, as_frame="multiindex")
    for place, level in enumerate(levels):
        assert_array_equal(ends(named, 0, level), arrays[:, place])
    assert wide.index.equals(asked.index)
    assert named.index.equals(asked.index)
    alone = model.predict_interval(asked, as_frame="wide")
    assert list(alone.columns) == ["lo-90", "hi-90"]
    assert_array_equal(alone, model.predict_interval(asked))
    without = model.fit(X.to_numpy(), y).predict_interval(asked.to_numpy(), as_frame="wide")
    assert list(without.index) == [0, 1, 2]


def test_several_targets_are_numbered():
    X, y = rows(1)
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, np.c_[y, -y])
    for coverage in (0.8, [0.8], [0.5, 0.8]):
        arrays = model.predict_interval(X[-2:], coverage)
        wide = model.predict_interval(X[-2:], coverage, as_frame="wide")
        assert wide.columns[0][:5] == "0-lo-"
        assert wide.columns[-1] == "1-hi-80"
        assert_array_equal(wide.to_numpy(), arrays.reshape(2, -1))
        named = model.predict_interval(X[-2:], coverage, as_frame="multiindex")
        assert_array_equal(ends(named, 1, 0.8), arrays.reshape(2, 2, -1, 2)[:, 1, -1])


@pytest.mark.parametrize("n_series", [1, 2])
def test_forecasts_of_series_continue_the_index(n_series):
    _, y = rows(2)
    y = y if n_series == 1 else pd.DataFrame({"load": y, "price": -y})
    model = OnlineForecaster(horizon=3, random_state=0).fit(y)
    arrays = model.predict_interval(coverage=[0.8, 0.9])
    wide = model.predict_interval(coverage=[0.8, 0.9], as_frame="wide")
    names = ["lo-80", "hi-80", "lo-90", "hi-90"]
    if n_series == 2:
        names = [f"{series}-{name}" for series in ("load", "price") for name in names]
    assert list(wide.columns) == names
    assert wide.index.equals(model.predict().index)
    assert wide.index[0] == HOURS[-1] + pd.Timedelta("1h")
    assert_array_equal(wide.to_numpy(), arrays.reshape(3, -1))
    named = model.predict_interval(coverage=[0.8, 0.9], n_steps=2, as_frame="multiindex")
    assert_array_equal(ends(named, "load", 0.9), arrays.reshape(3, n_series, 2, 2)[:2, 0, 1])
    plain = OnlineForecaster(horizon=3, random_state=0).fit(np.asarray(y))
    frame = plain.predict_interval(as_frame="multiindex")
    assert list(frame.index) == [0, 1, 2]
    assert frame.columns[0] == (0, 0.8, "lower")


def test_corrected_forecasts_of_others():
    _, y = rows(3)
    said = np.tile(y.to_numpy()[:, None], (1, 3)) + 0.1
    model = AdaptedForecaster(horizon=3).fit(y, said)
    frame = model.predict_interval(np.zeros(3), as_frame="wide")
    assert_array_equal(frame.to_numpy(), model.predict_interval(np.zeros(3)).reshape(3, -1))
    assert frame.index[0] == HOURS[-1] + pd.Timedelta("1h")


def test_other_levels_than_intervals():
    values = np.arange(6.0).reshape(3, 1, 2)
    levels = [("q-0.1", (0.1,)), ("q-0.9", (0.9,))]
    frame = level_frame(values, levels, "multiindex", is_flat=True, index=HOURS[:3])
    assert list(frame.columns) == [(0, 0.1), (0, 0.9)]
    assert list(level_frame(values, levels, "wide", is_flat=True).columns) == ["q-0.1", "q-0.9"]


def test_other_frames_and_their_lack_are_told(monkeypatch):
    X, y = rows(4)
    models = [
        (OnlineKernelRegressor(budget="fast", random_state=0).fit(X, y), (X[-1:],)),
        (OnlineForecaster(horizon=2, random_state=0).fit(y), ()),
    ]
    for model, given in models:
        with pytest.raises(ValueError, match=r"as_frame=True must be one of \['wide', 'multiind"):
            model.predict_interval(*given, as_frame=True)
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    for model, given in models:
        with pytest.raises(ImportError, match="as_frame='wide' requires pandas"):
            model.predict_interval(*given, as_frame="wide")


@pytest.mark.parametrize("in_pipeline", [False, True])
def test_several_targets_have_the_names_of_their_frame(in_pipeline):
    pytest.importorskip("skops")
    X, load = rows()
    Y = pd.DataFrame({"load": load, "price": -load})
    model = OnlineKernelRegressor(budget="tiny")
    if in_pipeline:
        model = StreamingPipeline([("scale", RunningStandardScaler()), ("model", model)])
    model.fit(X, Y).partial_fit(X, Y.to_numpy())
    for one in (model, from_bytes(to_bytes(model))):
        wide = one.predict_interval(X[:2], as_frame="wide")
        assert list(wide) == ["load-lo-90", "load-hi-90", "price-lo-90", "price-hi-90"]
    numbered = model.fit(X, Y.to_numpy()).predict_interval(X[:2], as_frame="wide")
    assert list(numbered)[:2] == ["0-lo-90", "0-hi-90"]
