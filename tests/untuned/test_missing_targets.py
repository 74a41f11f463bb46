"""Rows without a target, numbers and words that stand for a missing value, and who is warned."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Ridge

from sklearn_okl import (
    KeyedRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RunningStandardScaler,
    VAWRegressor,
)
from sklearn_okl import make_streaming_pipeline as pipeline
from sklearn_okl.evaluation import prequential
from sklearn_okl.untuned.rounds import _trust

# equal but for the last digits, which other cuts of the stream round in other ways
assert_equal = partial(assert_allclose, rtol=1e-8, atol=1e-10)


def fast(**arguments):
    return OnlineKernelRegressor(budget="fast", random_state=0, **arguments)


def tiny(**arguments):
    return OnlineKernelRegressor(budget="tiny", random_state=0, **arguments)


def stream(n=250, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n), rng


@pytest.mark.long(every=4)
@pytest.mark.parametrize("arguments", [{}, {"label_delay": 3}, {"guard": False}, {"lags": 0}])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_a_row_without_a_target_is_forecast_and_not_learnt(share, arguments):
    X, y, rng = stream(seed=int(10 * share))
    known = rng.uniform(size=len(y)) >= share
    known[[0, -1]] = False
    model = fast(**arguments)
    forecasts = model.prequential_predict(X, np.where(known, y, np.nan))
    told = fast(**arguments)
    assert_equal(forecasts[known], told.prequential_predict(X[known], y[known]))
    assert_equal(model.predict(X[:9]), told.predict(X[:9]))
    assert model.n_samples_seen_ == known.sum()
    # the others are forecast as `predict` would have at their place
    loop, start = fast(**arguments), int(known.argmax())
    assert_array_equal(forecasts[:start], 0.0)
    for t in range(start, 60):
        if known[t]:
            loop.partial_fit(X[t : t + 1], y[t : t + 1])
        elif loop.n_samples_seen_ > model.label_delay:
            assert forecasts[t] == pytest.approx(loop.predict(X[t : t + 1])[0], rel=1e-9)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("cut", [1, 7, 64])
def test_the_cut_changes_nothing(cut):
    X, y, rng = stream(130)
    y[rng.uniform(size=130) < 0.3] = np.nan
    whole, parts = fast(), fast()
    expected = whole.prequential_predict(X, y)
    found = [parts.prequential_predict(X[k : k + cut], y[k : k + cut]) for k in range(0, 130, cut)]
    assert_equal(np.concatenate(found), expected)


@pytest.mark.parametrize("seed", range(4))
def test_a_known_target_alone_before_a_missing_one(seed):
    # had been a KeyError where experts changed in the rows after it
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(300)
    y[101] = np.nan
    parts = OnlineKernelRegressor(budget="fast", random_state=seed)
    parts.partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    known = np.isfinite(y)
    whole = OnlineKernelRegressor(budget="fast", random_state=seed).fit(X[known], y[known])
    assert_equal(parts.predict(X[:5]), whole.predict(X[:5]))


def test_all_targets_missing_and_weights():
    X, y, _ = stream(90)
    model = fast().partial_fit(X, np.full(90, np.nan))
    assert model.n_samples_seen_ == 0
    assert_equal(model.partial_fit(X, y).predict(X), fast().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="Input y contains NaN in every row"):
        model.fit(X, np.full(90, np.nan))
    assert_equal(model.predict(X), fast().fit(X, y).predict(X))
    weights, some = np.linspace(0.5, 2.0, 90), np.arange(90) % 3 > 0
    model = fast().fit(X, np.where(some, y, np.nan), weights)
    expected = fast().fit(X[some], y[some], weights[some])
    assert_equal(model.predict(X), expected.predict(X))
    with pytest.raises(ValueError, match="sample_weight"):
        fast().fit(X, np.where(some, y, np.nan), weights[:80])


@pytest.mark.long(every=4)
@pytest.mark.parametrize(
    "options", [{}, {"label_delay": 2}, {"lags": 0, "spread": "rows"}, {"trees": Ridge()}], ids=str
)
@pytest.mark.parametrize("n", [1, 3])
def test_before_the_first_target_there_is_an_answer_to_all_questions(n, options):
    X, y, _ = stream(60)
    for Y in (y, np.column_stack([y, -y])):
        model = fast(**options).partial_fit(X[:n], np.full_like(Y[:n], np.nan))
        assert not model.predict(X).any()
        assert np.isinf(model.predict_interval(X)).all()
        assert model.predict_quantiles(X, [0.1, 0.9]).shape == (60, *Y.shape[1:], 2)
        assert not model.experts_["weight"].any()
        assert model.summary() == "No target has been learnt yet; rows have 3 inputs."
        found = model.prequential_predict(X[n:], Y[n:])
        assert_equal(found, fast(**options).prequential_predict(X[n:], Y[n:]))


@pytest.mark.parametrize("options", [{}, {"spread": "rows"}, {"target_range": (-10.0, None)}])
@pytest.mark.parametrize("n_missing", [1, 3])
def test_quantiles_before_the_first_target_are_those_of_the_loop(n_missing, options):
    """They were NaN up to the first target, and in its row."""
    X, y, _ = stream(6)
    for Y in (y, np.column_stack([y, -y])):
        Y[:n_missing] = np.nan
        found, loop = fast(**options).prequential_quantiles(X, Y, [0.1, 0.5]), fast(**options)
        cut = fast(**options).partial_fit(X[:1], Y[:1])
        assert_equal(cut.prequential_quantiles(X[1:], Y[1:], [0.1, 0.5]), found[1:])
        assert np.isnan(found[0]).all()
        for t in range(1, 6):
            loop.partial_fit(X[t - 1 : t], Y[t - 1 : t])
            assert_equal(found[t], loop.predict_quantiles(X[t : t + 1], [0.1, 0.5])[0])


def test_several_targets():
    X, y, _ = stream(90)
    Y, some = np.column_stack([y, y**2]), np.arange(90) % 3 > 0
    model = fast().fit(X, np.where(some[:, None], Y, np.nan))
    assert_equal(model.predict(X), fast().fit(X[some], Y[some]).predict(X))
    Y[7, 1] = np.nan
    before = model.predict(X)
    with pytest.raises(ValueError, match="Row 7 of y has some of its targets"):
        model.partial_fit(X, Y)
    assert_array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match=r"[Ii]nfinity"):
        model.partial_fit(X, np.full((90, 2), np.inf))


@pytest.mark.parametrize("missing", [{}, set(), {1: 2}, [{}], [object()], frozenset([1])])
def test_what_stands_for_no_value_is_refused(missing):
    X, y, _ = stream(5)
    with pytest.raises(TypeError, match="neither number nor text"):
        fast(missing_values=missing).fit(X, y)
    model = fast().fit(X, y).set_params(missing_values=missing)
    with pytest.raises(TypeError, match="neither number nor text"):
        model.predict(X)


def test_infinity_stands_for_no_value():
    X, y, _ = stream(5)
    X[2, 0] = np.inf
    with pytest.raises(ValueError, match="missing_values=inf holds infinity"):
        fast(missing_values=np.inf).fit(X, y)


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_what_stands_for_no_value_is_known_in_single_precision(container):
    X, y, rng = stream(200)
    X[rng.uniform(size=X.shape) < 0.1] = -999.9
    y[rng.uniform(size=len(y)) < 0.1] = -99.9
    said = fast(missing_values=[-999.9, -99.9])
    given = container(X.astype(np.float32)), y.astype(np.float32)
    gaps = [np.where(np.isin(part, np.float32([-999.9, -99.9])), np.nan, part) for part in given]
    assert all(np.isnan(part).any() for part in gaps)
    assert_array_equal(said.prequential_predict(*given), fast().prequential_predict(*gaps))


@pytest.mark.long
def test_numbers_that_stand_for_a_missing_value():
    X, y, rng = stream()
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    y[rng.uniform(size=len(y)) < 0.1] = np.nan
    said = np.nan_to_num(X, nan=-9999.0), np.nan_to_num(y, nan=-1.0)
    for missing in ([-9999, -1.0], np.array([-9999.0, -1.0])):
        model = fast(missing_values=missing)
        assert_array_equal(model.prequential_predict(*said), fast().prequential_predict(X, y))
        assert_array_equal(model.predict(said[0]), fast().fit(X, y).predict(X))


HOLED = [1.0, 2.0, None, 3.0]
GAPS = {
    "objects": pd.Series([1.0, 2.0, pd.NA, 3.0] * 10, dtype=object),
    "array": np.array([1.0, 2.0, pd.NA, 3.0] * 10, dtype=object),
    "list": [1.0, 2.0, pd.NA, 3.0] * 10,
    "NaT": pd.Series([1.0, 2.0, pd.NaT, 3.0] * 10, dtype=object),
    "Float64": pd.Series(HOLED * 10, dtype="Float64"),
    "Int64": pd.Series(HOLED * 10, dtype="Int64"),
    "frame": pd.DataFrame({"y": [1.0, 2.0, pd.NA, 3.0] * 10}, dtype=object),
    "None": HOLED * 10,
}


@pytest.mark.long(every=4)
@pytest.mark.parametrize("kind", GAPS)
def test_targets_are_missing_in_whatever_holds_them(kind):
    X, expected, _ = stream(40)
    expected[:] = [1.0, 2.0, np.nan, 3.0] * 10
    y = GAPS[kind]
    for missing_values in (None, -1.0):
        model = tiny(missing_values=missing_values)
        right = clone(model).prequential_predict(X, expected)
        assert_array_equal(np.ravel(model.prequential_predict(X, y)), right)
    in_pipeline = pipeline(RunningStandardScaler(), tiny())
    right = clone(in_pipeline).prequential_predict(X, expected)
    assert_array_equal(np.ravel(in_pipeline.prequential_predict(X, y)), right)
    found = prequential(tiny(), X, y)
    assert_array_equal(np.isnan(found.losses), np.isnan(expected))
    for refusing in (VAWRegressor(), KeyedRegressor()):
        with pytest.raises(ValueError, match="Input y contains NaN"):
            refusing.fit(X, y)


def test_words_beside_gaps_are_what_is_wrong():
    X, _, _ = stream(40)
    y = pd.Series(["a", 1.0, pd.NA, 2.0] * 10, dtype=object)
    for model in (tiny(), VAWRegressor()):
        with pytest.raises(ValueError, match=r"y holds text: .*'a'"):
            model.fit(X, y)


def test_in_a_pipeline():
    X, y, rng = stream()
    holed = np.where(rng.uniform(size=len(y)) < 0.1, np.nan, y)
    forecasts = pipeline(RunningStandardScaler(), fast()).prequential_predict(X, holed)
    assert np.mean((forecasts - y)[100:] ** 2) < 0.2 * np.var(y)


@pytest.mark.parametrize("class_", [OnlineKernelRegressor, OnlineKernelClassifier])
def test_words_in_frames(class_):
    X, y, rng = stream(150)
    y = y if class_ is OnlineKernelRegressor else y > 0
    gap = rng.uniform(size=(150, 3)) < 0.1
    codes = np.where(gap[:, 2], -1, rng.integers(2, size=150))
    colours = np.array(["red", "blue", "green"])[rng.integers(3, size=150)]
    told = pd.DataFrame(
        {
            "a": np.where(gap[:, 0], np.nan, X[:, 0]),
            "colour": pd.Series(colours).mask(gap[:, 1]),
            "kind": pd.Categorical.from_codes(codes, [4, 5]),
        }
    )
    said = pd.DataFrame(
        {
            "a": told["a"].fillna(-9999.0),
            "colour": told["colour"].fillna("n/a"),
            "kind": told["kind"].cat.add_categories([-9999]).fillna(-9999),
        }
    )
    model = class_(budget="fast", random_state=0, missing_values=["n/a", -9999])
    expected = class_(budget="fast", random_state=0)
    assert_array_equal(model.prequential_predict(said, y), expected.prequential_predict(told, y))
    assert_array_equal(model.predict(said), expected.predict(told))
    for t in range(140, 150):
        model.partial_fit(said[t : t + 1], y[t : t + 1])
        expected.partial_fit(told[t : t + 1], y[t : t + 1])
    assert_array_equal(model.predict(said), expected.predict(told))


@pytest.mark.long
def test_many_faults_are_warned_of_once_and_named():
    X, y, rng = stream(400)
    faulty = rng.uniform(size=400) < 0.1
    faulty[:70] = False
    spoilt = np.where(faulty, 1e3 * rng.normal(size=400), y)
    model = fast()
    with pytest.warns(UserWarning, match=r"one in twenty.*'missing_values'.*guard=False"):
        model.fit(X[:300], spoilt[:300])
    assert_array_equal(model.faulty_rows_, np.flatnonzero(faulty[:300]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[300:], spoilt[300:])
        assert_array_equal(model.faulty_rows_, np.flatnonzero(faulty[300:]))
        for t in (370, 371):
            model.partial_fit(X[t : t + 1], [1e9 if t == 371 else y[t]])
            assert_array_equal(model.faulty_rows_, [0] * (t == 371))
    assert f"Faulty targets: {model.n_faulty_} (" in model.summary()
    # beside rows without targets their numbers stay
    holed = spoilt.copy()
    holed[~faulty & (rng.uniform(size=400) < 0.1)] = np.nan
    assert_array_equal(fast().fit(X, holed).faulty_rows_, np.flatnonzero(faulty))


def test_clean_streams_and_labels_are_not_warned_of():
    X, y, _ = stream(300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(fast().fit(X, y).faulty_rows_) == 0
        OnlineKernelClassifier(budget="fast", random_state=0).fit(X, y > 0)


def test_a_twin_that_goes_on_for_the_model_does_not_warn_again():
    state = fast().fit(*stream(80)[:2])._state
    assert _trust.successor(state, state | {"has_warned": True})["has_warned"]
