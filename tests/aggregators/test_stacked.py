"""The mixture of the estimators without tuning, alone: by definition, and what it promises."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import BOARegressor, ExpertsRegressor, StackedBOARegressor, VAWRegressor
from sklearn_okl.evaluation import check_online_estimator
from tests.oracles.default import mixture as by_definition

FADINGS, STACKS = (0.95, 0.99), ((4.0, 0.998), (4.0, 1.0), (0.4, 0.99))


def stream(seed, n=260, n_experts=6):
    rng = np.random.default_rng(seed)
    y = np.sin(np.arange(n) / 7.0) + 0.1 * rng.normal(size=n)
    F = y[:, None] + rng.normal(size=(n, n_experts)) * rng.uniform(0.1, 1.0, n_experts)
    F[0] = y[0] = 0.0  # the origin
    return F, y


@pytest.mark.long(every=3)
@pytest.mark.parametrize("n_direct", [0, 2])
@pytest.mark.parametrize("stacks", [STACKS, ((1.0, 1.0),)])
def test_definition(stacks, n_direct):
    F, y = stream(n_direct)
    scales = np.array([y[:t].std() if t else 0.0 for t in range(len(y))])
    scales[scales == 0.0] = 1.0
    expected = by_definition(F, y, scales, FADINGS, stacks, n_direct, 0)
    model = StackedBOARegressor(fadings=FADINGS, stacks=stacks, n_direct=n_direct)
    assert_allclose(model.prequential_predict(F, y), expected, rtol=1e-8, atol=1e-10)


def steps(wild=(), n=400, step=40):
    """Return forecasts of a target that steps farther and farther, which the first expert knows.

    In the wild rounds it forecasts what never comes.
    """
    rng = np.random.default_rng(7)
    y = 1.7 ** (np.arange(n) // step) * np.where(np.arange(n) // step % 2, 1.0, -1.0)
    y = y - y[0] + 0.01 * rng.normal(size=n)
    F = np.column_stack([y, np.r_[0.0, y[:-1]], y * 0.5]) + 0.01 * rng.normal(size=(n, 3))
    F[list(wild), 0] = 2.5 * np.abs(y).max()
    F[0] = y[0] = 0.0
    return F, y


@pytest.mark.long(every=50)
@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("wild", [(), (90, 130, 170, 210)])
def test_who_leads_beyond_the_range_by_definition(wild, delay):
    F, y = steps(wild)
    scales = np.array([y[: max(t - delay, 0)].std() if t > delay else 0.0 for t in range(len(y))])
    scales[scales == 0.0] = 1.0
    F[: 1 + delay] = 0.0
    expected = by_definition(F, y, scales, FADINGS, ((4.0, 0.998),), 0, delay)
    made = StackedBOARegressor(fadings=FADINGS, stacks=((4.0, 0.998),), label_delay=delay)
    found = made.prequential_predict(F, y)
    assert_allclose(found, expected, rtol=1e-7, atol=1e-8)
    cut = StackedBOARegressor(fadings=FADINGS, stacks=((4.0, 0.998),), label_delay=delay)
    rows = np.split(np.arange(len(y)), [85, 90, 91, 123])
    parts = [cut.prequential_predict(F[some], y[some]) for some in rows]
    assert_allclose(np.concatenate(parts), found, rtol=1e-9, atol=1e-9)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("err_alike", [False, True])
def test_all_who_agree_beyond_the_range_by_definition(err_alike, delay):
    rng = np.random.default_rng(delay)
    y = np.repeat(3.0 * rng.normal(size=12), 15) + 0.3 * rng.normal(size=180)
    F = y[:, None] + 0.3 * rng.normal(size=(180, 3))
    F += 2.0 * err_alike * rng.normal(size=(180, 1))  # what they agree on is seldom so
    F[0] = y[0] = 0.0
    scales = np.array([y[: max(t - delay, 0)].std() if t > delay else 0.0 for t in range(180)])
    scales[scales == 0.0] = 1.0
    F[: 1 + delay] = 0.0
    expected = by_definition(F, y, scales, FADINGS, ((4.0, 0.998),), 0, delay)
    made = StackedBOARegressor(fadings=FADINGS, stacks=((4.0, 0.998),), label_delay=delay)
    found = made.prequential_predict(F, y)
    assert (np.abs(made._state["beyond"]["odds"][:, 1]) > 1.0).all()
    assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.long(every=4)
@pytest.mark.parametrize("delay", [0, 5, 23])
@pytest.mark.parametrize("kind", ["walk", "levels", "trend"])
def test_what_all_expect_is_believed_beyond_the_range_of_the_targets(kind, delay):
    rng, t = np.random.default_rng(delay), np.arange(900)
    y = {
        "walk": 50.0 + np.cumsum(rng.normal(size=900)),
        "levels": np.repeat(20.0 * rng.normal(size=9), 100) + rng.normal(size=900),
        "trend": 0.5 * t + rng.normal(size=900),
    }[kind]
    F = y[:, None] + rng.normal(size=(900, 3))
    model, parts = (StackedBOARegressor(label_delay=delay) for _ in range(2))
    errors = model.prequential_predict(F, y) - y
    assert (errors[200:] ** 2).mean() <= 1.25 * ((F.mean(axis=1) - y)[200:] ** 2).mean()
    cut = [parts.prequential_predict(F[low : low + 7], y[low : low + 7]) for low in t[::7]]
    assert_allclose(np.concatenate(cut) - y, errors, rtol=1e-9, atol=1e-9)


def test_who_knows_why_leads_beyond_the_range_of_the_targets():
    F, y = steps()
    errors = np.abs(StackedBOARegressor().prequential_predict(F, y) - y)
    assert errors[160:].max() < 0.5  # of steps of 10 to 200


def test_who_goes_wild_is_followed_once():
    rng, wild = np.random.default_rng(7), np.arange(150, 500, 50)
    y = np.sin(np.arange(500) / 5.0) + 0.01 * rng.normal(size=500)
    F = np.column_stack([y, np.r_[0.0, y[:-1]], y * 0.5]) + 0.01 * rng.normal(size=(500, 3))
    F[wild, 0] = 5.0
    errors = np.abs(StackedBOARegressor().prequential_predict(F, y) - y)
    assert errors[wild[1:]].max() < 0.4 * errors[wild[0]]
    assert np.delete(errors, wild)[150:].max() < 0.15


@pytest.mark.parametrize("seed", [0, 1])
def test_never_much_worse_than_the_best_part(seed):
    rng = np.random.default_rng(seed)
    n, K = 2000, 12
    y = np.where(rng.uniform(size=n) < 0.5, -1.0, 1.0)
    good = y * 0.8
    F = np.where(rng.uniform(size=(n, K)) < 0.5, -1.0, 1.0)
    F[: n // 2, 3], F[:, 5] = good[: n // 2], y * np.where(np.arange(n) < 1500, 1.0, -0.2)
    F[:200, :2] = np.nan  # asleep
    forecasts = StackedBOARegressor().prequential_predict(F, y)
    losses = np.nanmean((F - y[:, None]) ** 2, axis=0)[2:]
    # losses up to about 4: the bound's shape for two levels of BOA, with room for its constants
    surplus = ((forecasts - y) ** 2).sum() - n * losses.min()
    assert surplus < 4 * 2 * np.sqrt(np.log(K) * n * losses.min() + 16 * np.log(K)) + 40


@pytest.mark.parametrize(
    ("factor", "shift"), [(2.0**-30, 0.0), (2.0**20, -(2.0**25)), (2.0**40, 0.0)]
)
def test_units_and_origin_do_not_matter(factor, shift):
    F, y = stream(3)
    F[0] += np.arange(6)  # the first forecast is their mean
    forecasts = StackedBOARegressor(n_direct=1).prequential_predict(F, y)
    other = StackedBOARegressor(n_direct=1)
    scaled = other.prequential_predict(factor * F + shift, factor * y + shift)
    assert_allclose((scaled - shift) / factor, forecasts, rtol=1e-5, atol=1e-7)
    assert_allclose(forecasts[0], F[0].mean())


def test_forecasts_leave_the_experts_range_but_not_that_of_the_targets():
    rng = np.random.default_rng(0)
    y, fault = rng.normal(size=(2, 600))
    F = np.c_[y + fault, y + 2 * fault]
    F[500] = 1e9
    model = StackedBOARegressor()
    forecasts = model.prequential_predict(F, y)
    outside = (forecasts < F.min(axis=1)) | (forecasts > F.max(axis=1))
    assert outside[100:].mean() > 0.5
    lows, highs = np.minimum.accumulate(y)[:-1], np.maximum.accumulate(y)[:-1]
    margins = 0.1 * (highs - lows) + 1e-12
    lows, highs = lows - margins, highs + margins
    low, high = np.minimum(lows, F.max(axis=1)[1:]), np.maximum(highs, F.min(axis=1)[1:])
    low[499], high[499] = lows[499], highs[499]  # nobody is right there
    assert (forecasts[1:] >= low - 1e-12).all()
    assert (forecasts[1:] <= high + 1e-12).all()
    boa = BOARegressor().prequential_predict(F, y)
    assert np.mean((forecasts - y)[100:500] ** 2) < 0.2 * np.mean((boa - y)[100:500] ** 2)
    assert model.weights_.shape == (2,)
    assert model.way_weights_.shape == (6,)
    assert_allclose(model.way_weights_.sum(), 1.0)
    without = StackedBOARegressor(margin=0.0).prequential_predict(F, y)[1:]
    assert np.abs(without).max() <= np.abs(y).max() * (1.0 + 1e-12)


def test_rows_without_experts():
    F, y = stream(4)
    gaps = F.copy()
    gaps[[0, 20, 21, 200]] = np.nan
    with pytest.raises(ValueError, match="Row 0 of X holds NaN only"):
        StackedBOARegressor().fit(gaps, y)
    model = StackedBOARegressor(fallback=7.0)
    forecasts = model.prequential_predict(gaps, y)
    awake = ~np.isnan(gaps).all(axis=1)
    expected = StackedBOARegressor().prequential_predict(F[awake], y[awake])
    assert_allclose(forecasts[awake], expected)
    assert (forecasts[~awake] == 7.0).all()
    assert model.predict(gaps[19:22])[1:].tolist() == [7.0, 7.0]
    model = StackedBOARegressor(fallback=7.0).fit(gaps[:1], y[:1])
    assert_allclose(model.predict(gaps[:2]), [7.0, F[1].mean()])


def test_bad_parameters():
    F, y = stream(5)
    for arguments, message in [
        ({"fadings": (1.0,)}, "fadings"),
        ({"stacks": ((0.0, 1.0),)}, "stacks"),
        ({"stacks": ((1.0, 1.0, 1.0),)}, "stacks"),
        ({"n_direct": 6}, "n_direct=6 must be less"),
        ({"margin": -1.0}, "margin"),
    ]:
        with pytest.raises(ValueError, match=message):
            StackedBOARegressor(**arguments).fit(F, y)


@pytest.mark.long
def test_it_mixes_models():
    experts = [("weak", VAWRegressor(100.0)), ("strong", VAWRegressor(0.1))]
    model = ExpertsRegressor(experts, StackedBOARegressor())
    check_online_estimator(model, grows=True)  # until the 500 errors that its laws are of are there
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=600)
    assert np.mean((model.prequential_predict(X, y) - y)[100:] ** 2) < 0.03
    size = len(pickle.dumps(model.partial_fit(X, y)))
    assert abs(len(pickle.dumps(model.partial_fit(X, y))) - size) < 64


@pytest.mark.long(every=3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_trend_leaves_the_range_that_late_targets_have_shown(seed, sign):
    """Forecasts stayed in it, 12 below the target, whatever the best expert said."""
    rng = np.random.default_rng(seed)
    n, delay = 500, 60
    y = sign * (0.2 * np.arange(n) + 3.0 * rng.normal(size=n))
    F = np.column_stack([y + rng.normal(size=n), np.zeros(n)])
    model = StackedBOARegressor(label_delay=delay)
    forecasts = StackedBOARegressor(label_delay=delay).prequential_predict(F, y)
    model.partial_fit(F[:317], y[:317])
    parts = np.concatenate(
        [model.prequential_predict(F[i : i + 7], y[i : i + 7]) for i in range(317, n, 7)]
    )
    np.testing.assert_allclose(parts, forecasts[317:], rtol=1e-9)
    assert np.sqrt(np.mean((forecasts - y)[320:] ** 2)) < 2.0  # 2.6 to 3.2


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("n_direct", [0, 1])
@pytest.mark.parametrize("seed", [0, 2, pytest.param(3, marks=pytest.mark.long)])
def test_the_cut_changes_nothing_where_experts_sleep_now_and_then(seed, n_direct, delay):
    rng = np.random.default_rng(seed)  # who sleeps is charged what BOA loses
    y = np.repeat(rng.uniform(-50.0, 50.0, 8), 20) + 0.1 * rng.normal(size=160)
    F = np.c_[np.r_[0.0, y[:-1]], y[:, None] + rng.normal(size=(160, 3)) * [0.3, 0.5, 1.0]]
    F[rng.random(F.shape) < 0.15] = np.nan
    F[np.isnan(F).all(axis=1), 3] = 0.0
    model = StackedBOARegressor(n_direct=n_direct, label_delay=delay)
    whole = model.prequential_predict(F, y)
    rows = model.fit(F[:1], y[:1])
    alone = [rows.prequential_predict(F[[t]], y[[t]])[0] for t in range(1, 160)]
    assert_allclose(alone, whole[1:], rtol=1e-8, atol=1e-8)
