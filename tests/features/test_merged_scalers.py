"""Scalers of parts merged: what one pass over all rows has shown."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import (
    OnlineKernelRegressor,
    RunningMaxNormScaler,
    RunningMinMaxScaler,
    RunningQuantileTransformer,
    RunningRobustScaler,
    RunningStandardScaler,
    make_streaming_pipeline,
)


def learn(X):
    return RunningStandardScaler().fit(X)


SCALERS = (RunningStandardScaler, RunningMinMaxScaler, RunningMaxNormScaler)


def rows(seed, n=640):
    return [1e6, 0.0, -3.0] + [1.0, 1e-3, 50.0] * np.random.default_rng(seed).normal(size=(n, 3))


@pytest.mark.parametrize("n_parts", [1, 2, 7, 64])
@pytest.mark.parametrize("kind", SCALERS, ids=lambda kind: kind.__name__)
def test_parts_are_one_pass(kind, n_parts):
    X = rows(n_parts)
    merged, *parts = (kind().fit(part) for part in np.array_split(X, n_parts))
    for part in parts:
        before = pickle.dumps(part)
        merged = merged.merge(part)
        assert pickle.dumps(part) == before
    whole = kind().fit(X)
    assert merged.n_samples_seen_ == 640
    for name in ("mean_", "var_", "scale_", "data_min_", "data_max_", "max_norm_"):
        if hasattr(whole, name):
            assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-10)
    more = rows(99, n=200)  # both go on alike
    Z = whole.prequential_transform(more)
    assert_allclose(merged.prequential_transform(more), Z, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("n_rows", "error"), [(90, 0.12), (3000, 3.0 / 64)])  # of 90 it knows 64
@pytest.mark.parametrize("n_parts", [1, 2, 7, 64])
def test_quantiles_of_parts_are_those_of_all_rows_within_their_error(n_parts, n_rows, error):
    X = rows(n_parts, n=n_rows)
    X[:, 1] = np.exp(X[:, 1] * 1e3)  # skewed
    X[::5, 2] = np.nan
    make = lambda: RunningQuantileTransformer(64, output_distribution="uniform")  # noqa: E731
    merged, *parts = (make().fit(X[i::n_parts]) for i in range(n_parts))
    for part in parts:
        before = pickle.dumps(part)
        merged = merged.merge(part)
        assert pickle.dumps(part) == before
    assert merged.n_samples_seen_ == n_rows
    for model in (merged, make().fit(X)):
        for j in range(3):
            known = np.sort(X[~np.isnan(X[:, j]), j])
            asked = np.tile(np.quantile(known, np.linspace(0.02, 0.98, 50))[:, None], 3)
            shares = (known.searchsorted(asked[:, j]) + 0.5) / len(known)
            assert np.abs(model.transform(asked)[:, j] - shares).max() < error
    more = rows(98, n=600)
    again = merged.prequential_transform(more)
    assert np.isfinite(again).all()
    assert np.abs(again - make().fit(X).prequential_transform(more)).max() < 0.15


def test_quantiles_that_wait_for_late_labels_are_not_merged():
    X = rows(3)
    model = make_streaming_pipeline(
        RunningQuantileTransformer(), OnlineKernelRegressor(budget="fast", label_delay=300)
    ).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="late labels"):
        model[0].merge(RunningQuantileTransformer().fit(X))


def test_a_merged_scaler_of_few_rows_still_judges_the_first():
    X = rows(5, n=60)
    X[12] *= 1e9  # a fault among the first 32
    parts = [RunningStandardScaler().fit(part) for part in (X[:10], X[10:20])]
    merged = parts[0].merge(parts[1]).partial_fit(X[20:])
    assert_allclose(merged.var_, RunningStandardScaler().fit(X).var_, rtol=1e-9)


def test_order_and_what_does_not_fit():
    X = rows(0)
    for scaler in (RunningRobustScaler(), RunningStandardScaler(forgetting=0.99)):
        scaler.fit(X)
        with pytest.raises(TypeError, match="latest rows"):
            scaler.merge(scaler)
    scaler = RunningStandardScaler().fit(X)
    before = pickle.dumps(scaler)
    with pytest.raises(ValueError, match="other features"):
        scaler.merge(RunningStandardScaler().fit(X[:, :2]))
    with pytest.raises(TypeError, match="another RunningStandardScaler"):
        scaler.merge(RunningMinMaxScaler().fit(X))
    with pytest.raises(ValueError, match="not fitted"):
        scaler.merge(RunningStandardScaler())
    assert pickle.dumps(scaler) == before


@pytest.mark.parametrize(("few", "first"), [(10, 200), (1, 200), (31, 32)])
def test_a_fault_in_a_part_of_few_rows_is_judged_by_the_other(few, first):
    X = rows(6, n=first + few)
    X[first + few // 2] *= 1e6
    merged = learn(X[:first]).merge(learn(X[first:]))
    whole = learn(X[:first]).partial_fit(X[first:])
    assert_allclose(merged.scale_, whole.scale_, rtol=1e-12)
    assert merged.n_samples_seen_ == first + few
    reversed_ = learn(X[first:]).merge(learn(X[:first]))
    assert_allclose(reversed_.scale_, whole.scale_, rtol=1e-12)
    more = rows(7, n=50)
    Z = whole.prequential_transform(more)
    for scaler in (merged, reversed_):
        assert_allclose(scaler.prequential_transform(more), Z, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_parts", [2, 5, 20])
def test_a_fault_among_parts_that_are_all_small_is_judged(n_parts):
    X = rows(8, n=40)
    X[7] *= 1e6
    merged, *parts = (RunningStandardScaler().fit(part) for part in np.array_split(X, n_parts))
    for part in parts:
        merged = merged.merge(part)
    assert_allclose(merged.scale_, RunningStandardScaler().fit(X).scale_, rtol=1e-12)


def test_columns_that_begin_late_begin_late_in_a_merge_too():
    still, moving = np.full((60, 2), 5.0), 5.0 + np.random.default_rng(0).normal(size=(90, 2))
    moving[:, 1] = 7.0  # another number, and still as well
    merged = learn(still).merge(learn(moving))
    whole = learn(still).partial_fit(moving)
    assert_allclose(merged.scale_, whole.scale_, rtol=1e-10)
    assert_allclose(merged.mean_, whole.mean_, rtol=1e-10)
    asked = np.array([[9.0, 9.0], [-1e3, 1e3]])
    assert_allclose(merged.transform(asked), whole.transform(asked), rtol=1e-10)
    # the same number in both: nothing begins
    assert_allclose(learn(still).merge(learn(still[:40])).var_, 0.0)
