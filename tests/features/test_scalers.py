"""The running scalers: against scikit-learn's on the rows seen, the cut, causality, edge cases."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from sklearn_okl.features import (
    RunningMaxNormScaler,
    RunningMinMaxScaler,
    RunningRobustScaler,
    RunningStandardScaler,
)

SCALERS = [
    RunningStandardScaler(),
    RunningStandardScaler(0.97),
    RunningMaxNormScaler(),
    RunningMinMaxScaler(),
    RunningMinMaxScaler((-1, 2), clip=True),
    RunningRobustScaler(),
    RunningRobustScaler(100, quantile_range=(10, 90)),
]


def stream(seed, n=300, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(n, d)) * 10.0 ** rng.uniform(-4, 4, d) + rng.normal(size=d) * 100
    X[:, -1] = 7.0  # a constant column
    return X


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_any_cut_and_the_loop_of_single_rows_scale_the_same(scaler, seed):
    X = stream(seed)
    whole = clone(scaler)
    Z = whole.prequential_transform(X)
    rows = clone(scaler)
    for t in range(len(X)):
        if t > 0:
            np.testing.assert_allclose(rows.transform(X[t : t + 1])[0], Z[t], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(rows.prequential_transform(X[t : t + 1])[0], Z[t], 1e-9, 1e-9)
    cut = clone(scaler)
    parts = [cut.prequential_transform(part) for part in np.split(X, [1, 17, 64, 200])]
    np.testing.assert_allclose(np.vstack(parts), Z, rtol=1e-9, atol=1e-9)
    for model in (rows, cut):
        np.testing.assert_allclose(model.transform(X), whole.transform(X), rtol=1e-9, atol=1e-9)
        assert model.n_samples_seen_ == len(X)


@pytest.mark.parametrize("seed", range(3))
def test_the_statistics_are_those_of_scikit_learn(seed):
    X = stream(seed, n=256)
    mine, theirs = RunningStandardScaler().fit(X), StandardScaler().fit(X)
    np.testing.assert_allclose(mine.mean_, theirs.mean_, rtol=1e-12)
    np.testing.assert_allclose(mine.scale_, theirs.scale_, rtol=1e-12)
    pairs = {
        RunningMinMaxScaler((-1, 2)): MinMaxScaler((-1, 2)),
        RunningRobustScaler(256): RobustScaler(),
    }
    for mine, theirs in pairs.items():
        expected = theirs.fit_transform(X)
        np.testing.assert_allclose(mine.fit(X).transform(X), expected, rtol=1e-10, atol=1e-10)
    norms = np.linalg.norm(X, axis=1)
    assert RunningMaxNormScaler().fit(X).max_norm_ == pytest.approx(norms.max())


@pytest.mark.parametrize("forgetting", [0.9, 0.99, 1.0])
def test_fading_moments_are_weighted_moments(forgetting):
    X = stream(1)[:, :3]
    scaler = RunningStandardScaler(forgetting).fit(X)
    weights = forgetting ** np.arange(len(X))[::-1]
    mean = np.average(X, axis=0, weights=weights)
    np.testing.assert_allclose(scaler.mean_, mean, rtol=1e-10)
    variance = np.average((X - mean) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(scaler.var_, variance, rtol=1e-9)


def test_large_means_do_no_harm():
    x = np.random.default_rng(0).normal(size=(20_000, 1))
    scaler = RunningStandardScaler().fit(x + 1e8)
    assert scaler.scale_[0] == pytest.approx(x.std(), rel=1e-6)


def test_a_change_of_units_is_forgotten():
    x = np.random.default_rng(1).normal(size=(4000, 1))
    x[2000:] *= 1000
    for scaler in (RunningStandardScaler(0.99), RunningRobustScaler(300)):
        Z = scaler.prequential_transform(x)
        assert 0.5 < Z[3000:].std() < 2.0


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_a_rejected_batch_leaves_no_trace(scaler):
    X = stream(2)
    model = clone(scaler)
    bad = X.copy()
    bad[57, 1] = np.nan
    for start in (None, X):
        if start is not None:
            model.fit(start)
        before = pickle.dumps(model)
        for batch in (bad, X[:0], X[:, :2] if start is not None else X[0]):
            with pytest.raises(ValueError, match=r"NaN|minimum|features|1D"):
                model.partial_fit(batch)
        assert pickle.dumps(model) == before
    resumed = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(resumed.prequential_transform(X), model.prequential_transform(X))


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_the_scaling_can_be_undone(scaler):
    X = stream(3)
    if not getattr(scaler, "clip", False):
        model = clone(scaler).fit(X)
        Z = model.transform(X)
        np.testing.assert_allclose(model.inverse_transform(Z), X, rtol=1e-9, atol=1e-9)


def test_bad_ranges_are_refused():
    with pytest.raises(ValueError, match="feature_range"):
        RunningMinMaxScaler((1, 0)).fit([[1.0]])
    with pytest.raises(ValueError, match="quantile_range"):
        RunningRobustScaler(quantile_range=(80, 20)).fit([[1.0]])


@pytest.mark.parametrize(
    ("estimator", "check"),
    [pair for scaler in SCALERS for pair in estimator_checks_generator(scaler)],
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn(estimator, check):
    check(estimator)
