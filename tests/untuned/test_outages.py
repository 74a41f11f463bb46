"""A number that stands still where values hardly ever repeat: an outage, however long, or off."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.neighbors import KNeighborsRegressor

from sklearn_okl import OnlineForecaster, OnlineKernelRegressor
from sklearn_okl.datasets import make_faulty_stream
from sklearn_okl.features import _faults
from sklearn_okl.features._units import RunningUnits


def model_of(seed, budget="fast", **settings):
    return OnlineKernelRegressor(budget=budget, random_state=seed, **settings)


def told(model, X, y, faulty):
    """Return the forecasts of a twin that is told which targets are faulty."""
    return model.prequential_predict(X, np.where(faulty, np.nan, y))


def clean_stream(seed, n_rows, base="table"):
    return make_faulty_stream(n_rows, base=base, share=0.0, random_state=seed, return_X_y=True)


def with_outage(y, start, length, number=-9999.0):
    """Return targets that stand still for some rows, and which these are."""
    faulty = np.zeros(len(y), dtype=bool)
    faulty[start : start + length] = True
    return np.where(faulty, number, y), faulty


@pytest.mark.parametrize(
    ("base", "start", "length", "settings"),
    [
        ("table", 100, 90, {}),
        ("series", 100, 40, {}),
        ("table", 30, 25, {}),
        ("table", 300, 250, {"label_delay": 3}),
        ("table", 300, 100, {"budget": "tiny"}),
        pytest.param("series", 300, 250, {}, marks=pytest.mark.long),
        pytest.param("table", 500, 450, {"budget": "balanced"}, marks=pytest.mark.long),
        pytest.param("table", 64, 60, {}, marks=pytest.mark.long),
        pytest.param("table", 500, 450, {}, marks=pytest.mark.long),
        ("table", 200, 90, {"trees": KNeighborsRegressor()}),  # whose fit takes no weights
        pytest.param(
            *("table", 200, 90, {"trees": HistGradientBoostingRegressor(max_iter=5)}),
            marks=pytest.mark.long,
        ),
    ],
)
def test_an_outage_teaches_nothing_and_costs_no_row_after_it(base, start, length, settings):
    seed = start + length
    X, y = clean_stream(seed, start + length + 300, base)
    spoilt, faulty = with_outage(y, start, length)
    model = model_of(seed, **settings)
    forecasts = model.prequential_predict(X, spoilt)
    theirs = told(model_of(seed, **settings), X, spoilt, faulty)
    after = slice(start + length, None)
    loss, theirs = (np.mean((said - y)[after] ** 2) for said in (forecasts, theirs))
    assert loss <= 1.5 * theirs
    assert model.n_faulty_ >= length - 1
    # found once, however often it comes
    assert_array_equal(model._state["targets"][0]["nones"], [-9999.0])


@pytest.mark.parametrize("seed", range(2))
def test_the_cut_is_invisible_while_a_number_stands_still(seed):
    X, y = clean_stream(seed, 420)
    spoilt, _ = with_outage(y, 90 + seed, 200, 60.0)
    whole = model_of(seed).prequential_predict(X, spoilt)
    model = model_of(seed)
    cuts = [0, 90, 91, 92, 93, 94, 120, 200, 250, 289, 290, 291, 292, 300, 420]
    parts = [
        model.prequential_predict(X[low:high], spoilt[low:high]) for low, high in pairwise(cuts)
    ]
    assert_allclose(np.concatenate(parts), whole, rtol=1e-9, atol=1e-9)


def test_what_stands_for_none_in_most_rows_is_believed_and_left_at_once():
    X, y = clean_stream(3, 700)
    spoilt, faulty = with_outage(y, 120, 300)
    forecasts = model_of(3).prequential_predict(X, spoilt)
    far = np.abs(forecasts - spoilt) > 100.0
    assert far[120:240].all()
    assert not far[300:420].any()
    # nothing was learnt there: one row is lost where it ends, and no later one is much worse
    assert_array_equal(np.flatnonzero(far[420:]), [0])
    theirs = told(model_of(3), X, spoilt, faulty)
    losses = [np.mean((said - y)[480:] ** 2) for said in (forecasts, theirs)]
    assert losses[0] <= 2.0 * losses[1]


@pytest.mark.parametrize("seed", [13, pytest.param(7, marks=pytest.mark.long)])
def test_an_early_run_of_one_number_is_no_level(seed):
    X, y = clean_stream(seed, 400)
    spoilt, faulty = with_outage(y, 12, 7)
    forecasts = model_of(seed).prequential_predict(X, spoilt)
    theirs = told(model_of(seed), X, spoilt, faulty)
    losses = [np.mean((said - y)[19:] ** 2) for said in (forecasts, theirs)]
    assert losses[0] <= 1.3 * losses[1]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12, 16))
@pytest.mark.parametrize(("share", "length"), [(0.1, 4.0), (0.2, 4.0), (0.1, 16.0)])
def test_long_and_many_runs_of_one_number_are_no_levels(share, length, seed):
    settings = {"share": share, "length": length, "random_state": seed}
    stream = make_faulty_stream(2000, base="table", value=-9999.0, **settings)
    X, y, faulty = stream.data, stream.target, stream.faulty
    forecasts = model_of(seed).prequential_predict(X, y)
    theirs = told(model_of(seed), X, y, faulty)
    good = ~faulty & (np.arange(len(y)) >= 200)
    losses = [np.mean((said - y)[good] ** 2) for said in (forecasts, theirs)]
    assert losses[0] <= 1.3 * losses[1]


@pytest.mark.long
def test_what_stands_for_none_does_so_after_a_twin_has_won():
    settings = {"value": "low", "share": 0.05, "length": 4.0, "random_state": 14}
    stream = make_faulty_stream(3000, base="table", **settings)
    X, y, faulty = stream.data[:1200], stream.target[:1200], stream.faulty[:1200]
    model = model_of(14)
    forecasts = model.prequential_predict(X, y)
    good = ~faulty & (np.arange(len(y)) >= 600)
    assert model._state["beside"]["won"]
    assert np.abs(forecasts - y)[good].max() < 6.0


def test_a_level_with_noise_and_what_is_off_are_believed():
    X, y = clean_stream(5, 500)
    far = np.where(np.arange(500) < 200, y, y - 9999.0)
    forecasts = model_of(5).prequential_predict(X, far)
    assert np.sum(np.abs(forecasts - far)[200:] > 100.0) <= 6
    # 0 is what is off reads
    off = np.where((np.arange(500) >= 200) & (np.arange(500) < 300), 0.0, y + 200.0)
    forecasts = model_of(5).prequential_predict(X, off)
    assert np.sum(np.abs(forecasts - off)[200:300] > 50.0) <= 60


def test_what_lies_beyond_others_and_zero():
    values = np.array([1.0, 4.0, 2.0])
    assert _faults.lies_beyond(-9999.0, values)
    assert _faults.lies_beyond(6.5, values)
    assert not _faults.lies_beyond(5.5, values)
    assert not _faults.lies_beyond(0.0, values)
    assert _faults.lies_beyond(1e308, values)
    assert not _faults.lies_beyond(0.0, np.zeros(3))


@pytest.mark.parametrize(
    ("base", "start", "length"),
    [
        ("table", 100, 200),
        ("table", 20, 10),
        pytest.param("table", 500, 40, marks=pytest.mark.long),
        pytest.param("table", 500, 300, marks=pytest.mark.long),
        pytest.param("series", 500, 300, marks=pytest.mark.long),
    ],
)
def test_an_outage_of_a_column_is_a_gap(base, start, length):
    X, y = clean_stream(1, start + length + 300, base)
    losses = []
    for number in (-9999.0, np.nan):
        spoilt = X.copy()
        spoilt[start : start + length, 0] = number
        forecasts = model_of(1).prequential_predict(spoilt, y)
        losses.append(np.mean((forecasts - y)[start + length :] ** 2))
    assert losses[0] <= 1.5 * losses[1]


def test_an_outage_in_blocks_of_a_column_says_nothing_of_its_unit():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(800, 2))
    spoilt = X.copy()
    spoilt[300:600, 0] = -9999.0
    units = RunningUnits()
    state = units.start(2)
    _, seen, _ = units.learn(state, spoilt)
    assert np.abs(seen[:, 0]).max() < 10.0
    assert state["step"][0] > 0.0
    clean = units.start(2)
    units.learn(clean, X)
    assert_allclose(units.known(state)[0, 1], units.known(clean)[0, 1], rtol=0.2)


@pytest.mark.long
@pytest.mark.parametrize("length", [40, 90])
def test_an_outage_of_a_series_is_a_gap(length):
    X, y = clean_stream(2, 350 + length, "series")
    spoilt, faulty = with_outage(y, 100, length)
    losses = []
    for of in (spoilt, np.where(faulty, np.nan, y)):
        forecasts = OnlineForecaster(24, random_state=0).prequential_predict(of, X)
        errors = forecasts[100 + length : -24, 23] - y[124 + length :]
        losses.append(np.mean(errors**2))
    assert losses[0] <= 1.2 * losses[1]


def test_numbers_that_stand_beyond_others():
    rng = np.random.default_rng(0)
    values = rng.normal(size=40)
    assert _faults.stand_beyond(np.r_[values, [-9999.0] * 20]) == [-9999.0]
    assert _faults.stand_beyond(np.r_[values, [-9999.0] * 50]) == []  # most
    assert _faults.stand_beyond(np.r_[values + 50.0, [0.0] * 9]) == []  # what is off reads
    assert _faults.stand_beyond(np.r_[np.round(values), [9.0] * 9]) == []  # few numbers


@pytest.mark.parametrize(
    ("base", "length", "level", "settings"),
    [
        ("table", 3, 100.0, {}),
        ("series", 7, 100.0, {}),
        ("table", 4, 0.0, {}),  # half of the values are 0
        pytest.param("table", 7, 100.0, {"budget": "balanced"}, marks=pytest.mark.long),
        pytest.param("series", 5, 100.0, {"label_delay": 3}, marks=pytest.mark.long),
        pytest.param("table", 7, 100.0, {"budget": "tiny"}, marks=pytest.mark.long),
        pytest.param("series", 6, 0.0, {"budget": "balanced"}, marks=pytest.mark.long),
    ],
)
def test_an_outage_with_any_last_digits_costs_no_row_after_it(base, length, level, settings):
    X, y = clean_stream(length, 500, base)
    y, rng = np.maximum(10.0 * y + level, 0.0), np.random.RandomState(length)
    spoilt, faulty = with_outage(y, 300, length)
    spoilt[faulty] += rng.uniform(-1.0, 1.0, length)
    model = model_of(1, **settings)
    forecasts = model.prequential_predict(X, spoilt)
    theirs = told(model_of(1, **settings), X, spoilt, faulty)
    after = slice(300 + length, 360)
    assert np.mean((forecasts - y)[after] ** 2) <= 1.3 * np.mean((theirs - y)[after] ** 2)
    assert model.n_faulty_ == length
    learnt, parts = model_of(1, **settings), []
    for low, high in pairwise([0, 300, 302, 305, 306, 500]):
        parts.append(learnt.prequential_predict(X[low:high], spoilt[low:high]))
    assert_allclose(np.concatenate(parts), forecasts, rtol=1e-6)


def test_a_level_of_the_other_sign_is_believed_from_the_eighth_row_on():
    X, y = clean_stream(3, 400)
    y = 10.0 * y + 100.0
    y[300:] -= 5e3
    model = model_of(2)
    forecasts = model.prequential_predict(X, y)
    assert model.n_faulty_ <= 8
    assert np.median(np.abs(forecasts - y)[308:]) < 20.0
