"""Targets with a range: forecasts and ends of intervals within it, and the same model."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import Ridge

from sklearn_okl import OnlineKernelRegressor, RunningStandardScaler, make_streaming_pipeline

FAST = {"budget": "fast", "random_state": 0}


def amounts(seed, n=400):
    """Amounts, most of them small and none negative, a tenth of them 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.exp(1.5 * X[:, 0] + rng.normal(size=n))
    return X, np.where(rng.uniform(size=n) < 0.1, 0.0, y)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("options", [{}, {"label_delay": 3}, {"trees": Ridge()}], ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_forecasts_of_amounts_are_not_negative_and_the_model_is_the_same(options, seed):
    X, y = amounts(seed)
    free = OnlineKernelRegressor(**FAST, **options)
    model = OnlineKernelRegressor(**FAST, **options, target_range=(0, None))
    known, forecasts = (one.prequential_predict(X, y) for one in (free, model))
    assert (known < 0).mean() > 0.02  # what a stranger meets
    assert_array_equal(forecasts, np.maximum(known, 0.0))
    assert np.mean((forecasts - y) ** 2) < np.mean((known - y) ** 2)
    assert_array_equal(model.predict(X), np.maximum(free.predict(X), 0.0))
    assert_array_equal(model.predict_experts(X), np.maximum(free.predict_experts(X), 0.0))
    for a, b in zip(
        model.predict(X, return_std=True), free.predict(X, return_std=True), strict=True
    ):
        assert_array_equal(a, np.maximum(b, 0.0))
    intervals = model.predict_interval(X, [0.5, 0.9])
    assert_array_equal(intervals, np.maximum(free.predict_interval(X, [0.5, 0.9]), 0.0))
    assert (free.predict_interval(X) < 0).any()
    assert model.summary() == free.summary()
    if model.label_delay:
        ahead = {"ahead": True}
        assert_array_equal(
            model.predict(X[:4], **ahead), np.maximum(free.predict(X[:4], **ahead), 0.0)
        )
        assert (model.predict_interval(X[:4], **ahead) >= 0).all()


@pytest.mark.long
@pytest.mark.parametrize("target_range", [(None, 2.0), [0, 1.5], np.array([-1.0, 0.5])], ids=str)
def test_any_ends_will_do_for_several_targets(target_range):
    X, y = amounts(2)
    low, high = target_range
    Y = np.clip(np.column_stack([y, -y]), low, high)
    free = OnlineKernelRegressor(**FAST).fit(X, Y)
    model = OnlineKernelRegressor(**FAST, target_range=target_range).fit(X, Y)
    assert_array_equal(model.predict(X), np.clip(free.predict(X), low, high))
    assert model.predict_interval(X).shape == (400, 2, 2)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_interval(X), model.predict_interval(X))


def test_the_first_forecast_is_within_too():
    X, y = amounts(3)
    model = OnlineKernelRegressor(**FAST, target_range=(5, None))
    assert model.prequential_predict(X, 6 + y)[0] == 5.0


def test_a_target_outside_is_an_error_and_leaves_no_trace():
    X, y = amounts(4)
    model = OnlineKernelRegressor(**FAST, target_range=(0, 1e3)).fit(X[:100], y[:100])
    before = model.predict(X)
    for fault in (-0.5, 1e6):
        bad = y[100:110].copy()
        bad[4] = fault
        with pytest.raises(ValueError, match=r"outside of target_range=\(0, 1000.0\)"):
            model.partial_fit(X[100:110], bad)
    assert_array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match="outside of target_range"):
        OnlineKernelRegressor(**FAST, target_range=(0, None)).fit(X, y - 1)


@pytest.mark.parametrize(
    ("target_range", "error", "words"),
    [
        ((1, 0), ValueError, "is empty"),
        ((0, 0), ValueError, "is empty"),
        ((0, float("nan")), ValueError, "is empty"),
        ((0,), TypeError, "must be"),
        (("0", None), TypeError, "must be"),
        (0.0, ValueError, "must be"),
    ],
)
def test_what_is_no_range_is_refused(target_range, error, words):
    X, y = amounts(5, 20)
    with pytest.raises(error, match=f"target_range.*{words}|{words}.*target_range"):
        OnlineKernelRegressor(**FAST, target_range=target_range).fit(X, y)


def test_a_pipeline_hands_intervals_on():
    X, y = amounts(6)
    model = make_streaming_pipeline(
        RunningStandardScaler(), OnlineKernelRegressor(**FAST, target_range=(0, None))
    ).fit(X, y)
    assert (model.predict_interval(X) >= 0).all()
