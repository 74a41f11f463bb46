"""Targets learnt as any invertible transformer makes them, and smeared on the way back."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import FunctionTransformer, PowerTransformer, StandardScaler

from sklearn_okl import (
    OnlineKernelRegressor,
    RunningPowerTransformer,
    RunningStandardScaler,
    StreamingTransformedTargetRegressor,
    VAWRegressor,
)
from tests.oracles.targets import smeared

LOGARITHM = FunctionTransformer(np.log, np.exp)
BASE = VAWRegressor(fit_intercept=True)
RUNNING = {method: RunningPowerTransformer(method) for method in ("yeo-johnson", "box-cox")}


def wages(seed, n=500):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.exp(7.0 + 0.5 * X[:, 0] - 0.2 * X[:, 1] + 0.6 * rng.normal(size=n))


@pytest.mark.long(every=24)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    "transformer",
    [
        LOGARITHM,
        FunctionTransformer(np.log1p, np.expm1),
        FunctionTransformer(np.sqrt, np.square),
        *RUNNING.values(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("smearing", [True, False])
def test_equals_the_literal_loop_whatever_the_cut(transformer, smearing, seed):
    X, y = wages(seed)
    expected = smeared(clone(BASE), clone(transformer), X, y, smearing)
    model = StreamingTransformedTargetRegressor(BASE, transformer, smearing=smearing)
    for cuts in ([0, 500], [0, 1, 2, 31, 64, 65, 300, 500]):
        cut = clone(model)
        parts = [cut.prequential_predict(X[low:high], y[low:high]) for low, high in pairwise(cuts)]
        assert_allclose(np.concatenate(parts), expected, rtol=1e-7)
    whole = clone(model).fit(X[:400], y[:400])
    assert_allclose(whole.predict(X[400:401]), expected[400:401], rtol=1e-7)
    assert_allclose(whole.predict(X[400:403])[:1], expected[400:401], rtol=1e-7)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("delay", [1, 5])
@pytest.mark.parametrize("transformer", [LOGARITHM, RUNNING["box-cox"]], ids=repr)
def test_late_targets_are_undone_by_what_is_there(transformer, delay):
    X, y = wages(2, 160)
    base = OnlineKernelRegressor(budget="fast", label_delay=delay, random_state=0)
    model = StreamingTransformedTargetRegressor(base, transformer)
    forecasts = clone(model).prequential_predict(X, y)
    for t in (delay + 2, 40, 90, 150):  # known before row t: rows up to t - 1 - delay
        asked = clone(model).fit(X[: t - delay], y[: t - delay])
        assert_allclose(forecasts[t], asked.predict(X[t : t + 1])[0], rtol=1e-7)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_smearing_forecasts_the_mean_of_wages(seed):
    X, y = wages(seed, 3000)
    late = slice(500, None)
    sums = {}
    for smearing in (True, False):
        model = StreamingTransformedTargetRegressor(BASE, LOGARITHM, smearing=smearing)
        sums[smearing] = model.prequential_predict(X, y)[late].sum() / y[late].sum()
    assert abs(sums[True] - 1.0) < 0.05
    assert abs(sums[False] - np.exp(-(0.6**2) / 2)) < 0.05


def test_a_logarithm_of_which_the_scale_is_learnt():
    X, y = wages(3)
    scaled = StreamingTransformedTargetRegressor(VAWRegressor())
    model = StreamingTransformedTargetRegressor(scaled, LOGARITHM)
    forecasts = model.prequential_predict(X, y)[100:]
    plain = StreamingTransformedTargetRegressor(VAWRegressor()).prequential_predict(X, y)[100:]
    assert (forecasts > 0).all()
    assert (plain < 0).any()
    assert np.mean((forecasts - y[100:]) ** 2) < np.mean((plain - y[100:]) ** 2)


@pytest.mark.parametrize("at", [0, 40, 200])
@pytest.mark.parametrize("fault", [1e9, 1e-9])
def test_a_faulty_target_is_forgotten(at, fault):
    X, y = wages(4, 900)
    faulty = y.copy()
    faulty[at] = fault
    model = StreamingTransformedTargetRegressor(BASE, LOGARITHM)
    clean, spoilt = (clone(model).prequential_predict(X, each)[500:] for each in (y, faulty))
    assert np.mean((spoilt - y[500:]) ** 2) < 1.5 * np.mean((clean - y[500:]) ** 2)


def test_what_makes_no_number_of_a_target_is_an_error_and_leaves_no_trace():
    X, y = wages(5, 100)
    model = StreamingTransformedTargetRegressor(BASE, LOGARITHM).fit(X, y)
    before = model.predict(X)
    for bad in (0.0, -2.0):
        y[7] = bad
        with pytest.raises(ValueError, match=f"no number of the target {bad:.6g}"):
            model.partial_fit(X, y)
    with pytest.raises(ValueError, match="positive numbers only"):
        StreamingTransformedTargetRegressor(BASE, RUNNING["box-cox"]).fit(X, y)
    assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("transformer", [StandardScaler(), PowerTransformer()], ids=repr)
def test_what_learns_from_a_batch_is_refused_until_it_is_fitted(transformer):
    X, y = wages(6, 200)
    with pytest.raises(TypeError, match=r"RunningPowerTransformer\(\).*FrozenEstimator"):
        StreamingTransformedTargetRegressor(BASE, transformer).fit(X, y)
    frozen = FrozenEstimator(transformer.fit(y[:50, None]))
    model = StreamingTransformedTargetRegressor(BASE, frozen).fit(X, y)
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.4


def test_scalers_are_not_smeared():
    X, y = wages(7)
    models = [
        StreamingTransformedTargetRegressor(BASE, RunningStandardScaler(), smearing=smearing)
        for smearing in (True, False)
    ]
    assert_array_equal(*(model.prequential_predict(X, y) for model in models))
