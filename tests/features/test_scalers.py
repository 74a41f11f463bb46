"""The running scalers: against scikit-learn's on the rows seen, the cut, causality, edge cases."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from sklearn_okl import OGDRegressor, VAWRegressor, make_streaming_pipeline
from sklearn_okl.features import (
    RunningMaxNormScaler,
    RunningMinMaxScaler,
    RunningPowerTransformer,
    RunningQuantileTransformer,
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


@pytest.mark.parametrize(
    "transformer",
    [
        *SCALERS,
        RunningPowerTransformer(),
        RunningPowerTransformer("box-cox"),
        RunningQuantileTransformer(),
        RunningQuantileTransformer(output_distribution="uniform"),
    ],
    ids=str,
)
@pytest.mark.parametrize("level", [0.3, 1e9])
def test_a_column_that_rounding_alone_has_moved_is_constant(transformer, level):
    """Other ranges than deviations were of any size: rows became numbers of order one by chance."""
    moves = np.random.default_rng(0).integers(-1, 2, size=(80, 1))
    X = level * (1.0 + np.finfo(float).eps * moves)
    Z = clone(transformer).fit(X).transform(X)
    expected = clone(transformer).fit(np.full_like(X, level)).transform(X)
    np.testing.assert_allclose(Z, expected, atol=1e-14 * level)


@pytest.mark.long(every=2)
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


@pytest.mark.parametrize("level", [1e13, -1e13])
def test_a_large_mean_takes_no_scale_away_however_long_the_stream(level):
    """From row 4500 on a deviation of 10 was taken for rounding, which grew with the rows."""
    noise = np.random.default_rng(0).normal(size=(10000, 1))
    Z = RunningStandardScaler().prequential_transform(level + 10.0 * noise)
    np.testing.assert_allclose(Z[5000:].std(), 1.0, atol=0.03)
    Z = RunningStandardScaler().prequential_transform(level * (1.0 + 2e-16 * np.sign(noise)))
    assert np.abs(Z[32:]).max() < 0.1  # rounding alone


def test_a_change_of_units_is_forgotten():
    x = np.random.default_rng(1).normal(size=(4000, 1))
    x[2000:] *= 1000
    for scaler in (RunningStandardScaler(0.99), RunningRobustScaler(300)):
        Z = scaler.prequential_transform(x)
        assert 0.5 < Z[3000:].std() < 2.0


FAULTS = {
    "the first row": [0],
    "an early row": [5],
    "a late row": [700],
    "eight rows": [3, 4, 40, 41, 300, 600, 601, 900],
}


@pytest.mark.parametrize("fault", [1e6, -1e12, 1e300])
@pytest.mark.parametrize("at", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize(
    "scaler",
    [RunningStandardScaler(), RunningStandardScaler(0.99), RunningStandardScaler(0.9)],
    ids=str,
)
def test_faulty_values_blind_no_standard_scaler(scaler, at, fault):
    clean = np.random.default_rng(4).normal(size=(1200, 2)) + 3.0
    faulty = clean.copy()
    faulty[at, 0] = fault
    Z = clone(scaler).prequential_transform(faulty)
    expected = clone(scaler).prequential_transform(clean)
    np.testing.assert_array_equal(Z[:, 1], expected[:, 1])
    judged = [t for t in at if t >= 32]
    assert (np.sign(fault) * Z[judged, 0] > 1e3).all()  # what is faulty still looks faulty
    late = np.setdiff1d(np.arange(1000, 1200), at)
    assert 0.5 < Z[late, 0].std() / expected[late, 0].std() <= 1.0 + 1e-9
    if len(at) == 1:
        soon = np.setdiff1d(np.arange(max(at[0], 32), 1200), at)[32:]
        spread = np.abs(Z[soon, 0]).mean() / np.abs(expected[soon, 0]).mean()
        assert 0.7 < spread < 1.05


@pytest.mark.long(every=2)
@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_faults_know_no_cut(scaler):
    X = stream(5)
    X[[0, 20, 31, 32, 63, 150, 151], [0, 1, 2, 0, 1, 2, 0]] = 1e9
    X[180:, 1] *= 1e4
    whole, rows, cut = clone(scaler), clone(scaler), clone(scaler)
    Z = whole.prequential_transform(X)
    singles = [rows.prequential_transform(x[None]) for x in X]
    parts = [cut.prequential_transform(part) for part in np.split(X, [1, 17, 32, 64, 151, 200])]
    for model, other in ((rows, singles), (cut, parts)):
        np.testing.assert_array_equal(np.vstack(other), Z)
        np.testing.assert_array_equal(model.transform(X), whole.transform(X))


@pytest.mark.parametrize("forgetting", [0.95, 0.99, 1.0])
def test_gaussian_columns_have_their_plain_moments(forgetting):
    """Of 1000 columns no value is taken for a fault."""
    X = np.random.default_rng(6).normal(size=(300, 1000)) * np.logspace(-6, 6, 1000) + 1e3
    for n in (2, 20, 40, 300):
        scaler = RunningStandardScaler(forgetting).fit(X[:n])
        weights = forgetting ** np.arange(n)[::-1]
        mean = np.average(X[:n], axis=0, weights=weights)
        variance = np.average((X[:n] - mean) ** 2, axis=0, weights=weights)
        np.testing.assert_allclose(scaler.mean_, mean, rtol=1e-12, atol=1e-12 * X.std())
        np.testing.assert_allclose(scaler.var_, variance, rtol=1e-6)


@pytest.mark.parametrize("forgetting", [0.98, 1.0])
def test_rare_ones_are_no_faults(forgetting):
    x = np.zeros((20_000, 2))
    x[::500, 0] = 1.0
    x[7::2000, 1] = 1.0
    scaler = RunningStandardScaler(forgetting).fit(x)
    weights = forgetting ** np.arange(len(x))[::-1]
    mean = np.average(x, axis=0, weights=weights)
    np.testing.assert_allclose(scaler.mean_, mean, rtol=1e-12, atol=1e-13)
    variance = np.average((x - mean) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(scaler.var_, variance, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("at", [50, 3000])
@pytest.mark.parametrize("change", ["level", "unit", "life", "now and then"])
def test_a_column_that_changes_for_good_is_followed(at, change):
    x = np.random.default_rng(7).normal(size=(2 * at + 400, 1))
    if change == "level":
        x[at:] += 100.0
    elif change == "unit":
        x[at:] *= 1000.0
    elif change == "now and then":
        x[at:] += 1e6 * (np.arange(at + 400) % 4 == 0)[:, None]
    else:
        x[:at] *= 1e-9
    guarded = RunningStandardScaler().fit(x[: at + 150])
    assert guarded.scale_[0] == pytest.approx(x[: at + 150].std(), rel=0.4)
    guarded.partial_fit(x[at + 150 :])
    assert guarded.scale_[0] == pytest.approx(x.std(), rel=0.1)
    assert guarded.mean_[0] == pytest.approx(x.mean(), abs=0.1 * x.std())


@pytest.mark.long(every=3)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_no_call_spoils_the_next_one(scaler, dtype):
    # sums of a few hundred stay finite: scikit-learn's validation takes them
    largest, smallest = np.finfo(dtype).max / 1000, np.finfo(dtype).smallest_subnormal
    ordinary = np.random.default_rng(8).normal(size=(200, 1)).astype(dtype)
    for odd in (
        [0.0, 1e-80, 1.0],
        [0.0, 1e-150, 1.0],
        [0.0, 1e-310, 1e-310],
        [0.0, smallest, 0.0],
        [largest],
        [largest, -largest],
        [1.0, 2.0, 3.0, 4.0, largest, -largest],
        np.tile([largest, -largest], 100),
        np.linspace(smallest, 1e-300, 70),
    ):
        model = clone(scaler)
        for _ in range(2):
            model.partial_fit(np.array(odd, dtype)[:, None])
            Z = model.prequential_transform(ordinary)
            assert Z.dtype == dtype
            assert np.isfinite(Z).all()
            assert np.isfinite(model.transform(ordinary)).all()
            assert np.isfinite(model.transform(np.array(odd, dtype)[:, None])).all()


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


@pytest.mark.parametrize("ends", [(80, 20), ({}, 75), (1,), (1, 2, 3), ("a", "b"), (1, np.nan)])
def test_bad_ranges_are_refused(ends):
    with pytest.raises(ValueError, match="feature_range"):
        RunningMinMaxScaler(ends).fit([[1.0]])
    with pytest.raises(ValueError, match="quantile_range"):
        RunningRobustScaler(quantile_range=ends).fit([[1.0]])


@pytest.mark.long(every=7)
@pytest.mark.parametrize(
    ("estimator", "check"),
    [pair for scaler in SCALERS for pair in estimator_checks_generator(scaler)],
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn(estimator, check):
    check(estimator)


UNITS = (1.0, 2.0**10, 2.0**-20)
BOUNDED = [
    RunningStandardScaler(),
    RunningStandardScaler(0.99),
    RunningMinMaxScaler((-1, 1)),
    RunningRobustScaler(100),
    RunningMaxNormScaler(),
]


def moving(seed, n=400):
    """Make columns that move from the first row on, later, and seldom."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] = np.where(np.arange(n) < 150, 3.0, 5.0 + X[:, 1])
    X[:, 2] = np.where(rng.uniform(size=n) < 0.05, np.exp(X[:, 2]), 0.0)
    X[:, 3] = 0.7
    return X


@pytest.mark.parametrize("scaler", BOUNDED, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_no_row_knows_the_unit_of_its_columns(scaler, seed):
    """The second row left in raw units, and lines behind a scaler learnt nothing for long."""
    X = moving(seed)
    expected = clone(scaler).prequential_transform(X)
    for unit in UNITS:
        model = clone(scaler)
        np.testing.assert_allclose(model.prequential_transform(unit * X), expected, rtol=1e-9)
        one_more = clone(scaler).fit(X).transform(X[:5] + 2.0)
        np.testing.assert_allclose(model.transform(unit * (X[:5] + 2.0)), one_more, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_no_value_is_further_off_than_its_rows_allow(seed):
    X = moving(seed)
    roots = np.sqrt(np.arange(32))[:, None]
    Z = RunningStandardScaler().prequential_transform(X)
    assert (np.abs(Z[:32]) <= roots * (1.0 + 1e-12)).all()
    assert Z[150, 1] == 1.0  # the first value of another kind
    assert not Z[:, 3].any()
    Z = RunningMinMaxScaler().prequential_transform(X)
    assert (np.abs(Z[:32] - 0.5) <= np.maximum(roots, 1.0) / 2 + 1e-12).all()
    norms = np.linalg.norm(RunningMaxNormScaler().prequential_transform(X), axis=1)
    assert (norms[:32] <= np.maximum(roots[:, 0], 1.0) + 1e-12).all()


@pytest.mark.parametrize("scaler", BOUNDED, ids=str)
def test_what_drifts_leaves_as_far_off_as_it_is(scaler):
    """A bound for good held columns at an end that had left what a frozen scaler knew."""
    n = 600
    X = np.c_[np.arange(n), np.random.default_rng(0).normal(size=n)]
    for freeze_after in (5, 100):
        frozen = clone(scaler).set_params(freeze_after=freeze_after)
        z = frozen.prequential_transform(X)[-10:, 0]
        np.testing.assert_allclose(np.diff(z), np.diff(z)[0])
        assert np.diff(z)[0] > 0.0
        np.testing.assert_array_equal(frozen.transform(X[-10:])[:, 0], z)
    one = clone(scaler).fit(X[:40])
    assert np.diff(one.transform(X[-3:])[:, 0]).min() > 0.0


@pytest.mark.parametrize("delay", [7, 100])
@pytest.mark.parametrize(
    "scaler",
    [
        *BOUNDED[:4],
        RunningPowerTransformer(),
        RunningQuantileTransformer(),
        RunningStandardScaler(freeze_after=5),  # later rows are not counted, and were first again
    ],
    ids=str,
)
def test_rows_before_the_first_label_are_scaled_by_those_before_them(scaler, delay):
    """They were all 0, or in raw units: nobody forecasts them, but all are learnt."""
    X = np.random.default_rng(1).normal(size=(130, 2)) * [1.0, 1e4] + [0.0, 1e5]
    late = clone(scaler)._prequential_transform(X, None, delay)
    at_once = clone(scaler).prequential_transform(X)
    np.testing.assert_array_equal(late[: delay + 1], at_once[: delay + 1])
    parts = clone(scaler)
    cut = [parts._prequential_transform(part, None, delay) for part in np.split(X, [1, 5, 64, 101])]
    np.testing.assert_array_equal(np.vstack(cut), late)


def test_a_rare_one_is_the_same_number_in_all_windows():
    x = (np.arange(3000) % 700 == 50).astype(float)[:, None]
    Z = RunningRobustScaler().prequential_transform(x)
    assert set(np.unique(Z)) == {0.0, 1.0}


@pytest.mark.parametrize("unit", [1.0, 1e3, 1e6, 1e-6])
def test_a_line_behind_a_scaler_learns_in_any_unit(unit):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1000, 2))
    y = X @ [1.0, 0.5] + 0.1 * rng.normal(size=1000)
    line = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(fit_intercept=True))
    errors = np.square(line.prequential_predict(unit * X, y) - y)
    assert errors[300:].mean() < 0.03


def late_starters(n=500, seed=0):
    """Make columns that stand still for 200, 31, 0 and all rows."""
    rng = np.random.default_rng(seed)
    X = 5.0 + 100.0 * rng.normal(size=(n, 4))
    X[:200, 0], X[:31, 1], X[:, 3] = 0.1, 3.0, 0.7
    return X


@pytest.mark.parametrize("scaler", [RunningStandardScaler(), RunningStandardScaler(0.99)], ids=str)
def test_a_column_that_stood_still_begins_where_it_moves(scaler):
    """Its deviation was that of 200 rows of nothing: errors behind it were 20 times the noise."""
    X = late_starters()
    Z = clone(scaler).prequential_transform(X)
    one_row_and_more = clone(scaler).prequential_transform(X[199:, :1])
    np.testing.assert_allclose(Z[200:, 0], one_row_and_more[1:, 0], rtol=1e-9)
    assert np.abs(Z[200:232, 0]).max() <= np.sqrt(32.0)
    model, rows = clone(scaler), []
    for part in np.split(X, [1, 40, 199, 200, 201, 202, 230, 300]):
        rows.append(model.prequential_transform(part))
        model = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(np.vstack(rows), Z)
    model = clone(scaler).fit(X[:199])
    for t in range(199, 260):
        np.testing.assert_array_equal(model.transform(X[t : t + 1])[0], Z[t])
        model.partial_fit(X[t : t + 1])
    late = clone(scaler)._prequential_transform(X, None, 30)
    for t in range(225, 300):  # by what was known when the last label came
        known = clone(scaler).fit(X[: t - 30])
        np.testing.assert_array_equal(late[t], known.transform(X[t : t + 1])[0])
    if scaler.forgetting == 1.0:  # all others are those of all rows
        expected = StandardScaler().fit(X[:, 1:])
        np.testing.assert_allclose(clone(scaler).fit(X).mean_[1:], expected.mean_, rtol=1e-9)
        np.testing.assert_allclose(clone(scaler).fit(X).var_[1:], expected.var_, atol=1e-9)


@pytest.mark.parametrize("window", [500, 100])
def test_the_window_of_a_column_that_stood_still_begins_where_it_moves(window):
    """Where half of the window had moved the quartiles were next to nothing: 1e135 behind them."""
    X, scaler = late_starters(), RunningRobustScaler(window)
    Z = scaler.prequential_transform(X)
    np.testing.assert_allclose(Z[200:256, 0], np.sign(X[200:256, 0] - 0.1))
    for t in (256, 300, 320, 384, 450):
        look = t - t % 64
        past = X[max(199, look - window) : look, 0]
        low, middle, high = np.percentile(past, [25, 50, 75])
        np.testing.assert_allclose(Z[t, 0], (X[t, 0] - middle) / (high - low))
    model, parts = RunningRobustScaler(window), []
    for part in np.split(X, [1, 40, 199, 200, 201, 202, 230, 256, 300]):
        parts.append(model.prequential_transform(part))
        model = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(np.vstack(parts), Z)
    others = RunningRobustScaler(window).prequential_transform(X[:, 1:])
    np.testing.assert_array_equal(Z[:, 1:], others)
    # a look at few of its rows knows no unit well
    X[250:253, 0] = [1.0, 1.0 + 1e-9, 1.0]
    X[:250, 0] = 0.1
    assert np.abs(RunningRobustScaler(window).prequential_transform(X)[256:320, 0]).max() <= 3.0


@pytest.mark.parametrize("scaler", [RunningStandardScaler(), RunningRobustScaler()], ids=str)
@pytest.mark.parametrize("learner", [VAWRegressor(), OGDRegressor()], ids=str)
def test_who_learns_behind_a_column_that_stood_still_does_not_run_away(scaler, learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    X[:200, 0] = 0.0
    y = X.sum(axis=1) + 0.1 * rng.normal(size=1000)
    model = make_streaming_pipeline(scaler, learner)
    errors = (y - model.prequential_predict(1e3 * X, y)) ** 2
    assert errors[200:500].mean() < 0.4
    assert errors[500:].mean() < 0.05
