"""Quantiles and distributions of pipelines, of models by key, and of mixtures of one's own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import SGDRegressor

from sklearn_okl import (
    ExpertsRegressor,
    KeyedRegressor,
    OnlineKernelRegressor,
    RunningStandardScaler,
    StreamingPipeline,
    VAWRegressor,
)
from sklearn_okl.conformal import QuantileDistribution
from sklearn_okl.evaluation import interval_coverage

ALPHA = np.array([0.1, 0.5, 0.9])


def stream(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    shop = rng.integers(3, size=n)
    return np.column_stack([shop, X]), X[:, 0] + shop + rng.normal(size=n)


def fast(**parameters):
    return OnlineKernelRegressor(budget="fast", random_state=0, **parameters)


def experts(label_delay=0):
    pairs = [("sgd", SGDRegressor(random_state=0)), ("vaw", VAWRegressor())]
    return ExpertsRegressor(pairs, label_delay=label_delay)


def pipeline(warmup=0):
    return StreamingPipeline([("scaler", RunningStandardScaler()), ("m", fast())], warmup=warmup)


MODELS = {
    "pipeline": pipeline,
    "pooled": lambda: KeyedRegressor(fast(), key=0),
    "no prior": lambda: KeyedRegressor(fast(), key=0, prior=None),
    "experts": experts,
    "late experts": lambda: experts(3),
}


def in_a_loop(model, X, y, delay):
    """Return the quantiles of rows one by one, each when it is due."""
    found = []
    for t in range(1 + delay, len(y)):
        rows = slice(t - 1 - delay, t - delay)
        model.partial_fit(X[rows], y[rows])
        found.append(model.predict_quantiles(X[t : t + 1], ALPHA)[0])
    return np.array([np.full_like(found[0], np.nan)] * (1 + delay) + found)


@pytest.mark.long(every=5)
@pytest.mark.parametrize("name", MODELS)
def test_quantiles_on_the_way_are_those_of_a_loop_however_cut(name):
    X, y = stream()
    delay = 3 if name == "late experts" else 0
    expected = in_a_loop(MODELS[name](), X, y, delay)
    model, whole = MODELS[name](), MODELS[name]().partial_fit(X, y)
    found = [
        model.prequential_quantiles(X[rows], y[rows], ALPHA)
        for rows in (slice(7), slice(7, 8), slice(8, 60))
    ]
    assert_allclose(np.concatenate(found), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(model.predict(X), whole.predict(X), rtol=1e-9, atol=1e-9)
    assert vars(model).keys() == vars(whole).keys()
    law = model.predict_distribution(X[:4])
    assert type(law).__name__ == "QuantileDistribution"
    assert_array_equal(law.ppf(ALPHA), model.predict_quantiles(X[:4], ALPHA))
    assert model.predict_quantiles(X[:4], 0.3).shape == (4,)
    for verb in (law.mean, law.std, law.var):
        assert np.isfinite(verb()).all()
    assert np.isfinite(law.log_pdf(y[:4])).all()
    assert (np.diff(law.interval([0.5, 0.9])[..., 1], axis=-1) > 0.0).all()
    assert law.sample(2, random_state=0).shape == (4, 2)


def test_nothing_is_known_in_a_warm_up():
    X, y = stream()
    model = pipeline(warmup=10)
    found = [
        model.prequential_quantiles(X[rows], y[rows], ALPHA)
        for rows in (slice(6), slice(6, 13), slice(13, 60))
    ]
    whole = pipeline(warmup=10).prequential_quantiles(X, y, ALPHA)
    assert_allclose(np.concatenate(found), whole, rtol=1e-9)
    assert np.isnan(whole[:10]).all()
    assert not np.isnan(whole[10:]).any()


@pytest.mark.long
def test_a_mixture_of_ones_own_holds_its_share_and_survives_faults():
    X, y = stream(400, seed=1)
    y = y.copy()
    y[[5, 200]] = 1e9  # one among the first rows, which are judged again; one later
    model = experts()
    issued = model.prequential_quantiles(X, y, [0.05, 0.5, 0.95])
    forecasts = experts().prequential_predict(X, y)
    assert_allclose(issued[1:, 1], forecasts[1:])
    held = interval_coverage(y[100:], issued[100:, None][:, :, [0, 2]])
    assert held == pytest.approx(0.9, abs=0.04)
    assert np.median(issued[-100:, 2] - issued[-100:, 0]) < 10.0
    interval = model.predict_interval(X[:2], 0.9)
    assert_allclose(interval, model.predict_quantiles(X[:2], [0.05, 0.95]), rtol=1e-12)


def test_what_is_refused():
    X, y = stream(20)
    with pytest.raises(TypeError, match="prequential_quantiles takes no argument 'sample_weight'"):
        experts().prequential_quantiles(X, y, sample_weight=np.ones(20))
    with pytest.raises(ValueError, match="label_delay \\+ 1"):
        experts().fit(X, y).predict_distribution(X[:2], ahead=True)
    for outer in (StreamingPipeline([("m", VAWRegressor())]), KeyedRegressor(key=0)):
        for verb in ("predict_quantiles", "predict_distribution", "prequential_quantiles"):
            assert not hasattr(outer, verb)
    model = KeyedRegressor(fast(), key=0).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="alpha"):
        model.prequential_quantiles(X, y, 1.5)
    assert_array_equal(model.predict(X), before)
    assert "_alpha" not in vars(model)


def test_two_targets_and_frames():
    pd = pytest.importorskip("pandas")
    X, y = stream(40)
    Y = np.column_stack([y, -2.0 * y])
    frame = pd.DataFrame(X, columns=list("abcd"))
    for make in (MODELS["pipeline"], lambda: KeyedRegressor(fast(), key="a")):
        found = make().prequential_quantiles(frame, Y, ALPHA)
        assert found.shape == (40, 2, 3)
        law = make().fit(frame, Y).predict_distribution(frame[:5])
        assert isinstance(law, QuantileDistribution)
        assert law.mean().shape == (5, 2)
