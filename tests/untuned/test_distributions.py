"""Intervals, quantiles and distributions of the regressor: of one law, which never crosses."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest
from sklearn.base import clone

from sklearn_okl import (
    ExpertsRegressor,
    OnlineKernelRegressor,
    RunningStandardScaler,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import (
    crps_from_distribution,
    crps_from_quantiles,
    interval_coverage,
    log_score,
    pit_from_quantiles,
)

FAST = OnlineKernelRegressor(budget="fast", random_state=0)
ALPHA = np.arange(1, 20) / 20.0


def stream(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * rng.standard_t(4, size=n)


@pytest.mark.parametrize("n_targets", [None, 2])
def test_one_law_answers_all_and_nothing_crosses(n_targets):
    X, y = stream()
    Y = y if n_targets is None else np.column_stack([y, 5.0 - 3.0 * y])
    model = clone(FAST).fit(X, Y)
    law, lead = model.predict_distribution(X[:7]), (7,) if n_targets is None else (7, 2)
    assert_array_equal(law.ppf(0.5), model.predict(X[:7]))
    quantiles = model.predict_quantiles(X[:7], ALPHA)
    assert quantiles.shape == (*lead, 19)
    assert model.predict_quantiles(X[:7]).shape == (*lead, 9)
    assert model.predict_quantiles(X[:7], 0.3).shape == lead
    assert_array_equal(quantiles, law.ppf(ALPHA))
    assert (np.diff(quantiles, axis=-1) > 0.0).all()
    coverage = np.arange(1, 100) / 100.0
    intervals = model.predict_interval(X[:7], coverage)
    assert_array_equal(intervals, law.interval(coverage))
    assert (np.diff(intervals[..., 1], axis=-1) >= 0.0).all()
    assert (np.diff(intervals[..., 0], axis=-1) <= 0.0).all()
    for k in (4, 49, 89):  # asked for alone it is the same
        assert_array_equal(model.predict_interval(X[:7], coverage[k]), intervals[..., k, :])
    assert_allclose(law.mean(), model.predict(X[:7]), atol=1e-9)
    assert_allclose(law.cdf(law.ppf(0.37)), 0.37)
    assert_allclose(law.cdf(model.predict(X[:7])), 0.5)  # no atom there
    assert law.sample(5, random_state=0).shape == (*lead, 5)
    assert np.isfinite(law.log_pdf(Y[:7])).all()
    assert crps_from_distribution(Y[:7], law) > 0.0
    assert np.isfinite(log_score(Y[:7], law))


def in_a_loop(model, X, y, alpha, weights=None):
    """Return the quantiles of rows one by one, each when it is due, from a new model."""
    model, delay, found = clone(model), model.label_delay, []
    for t in range(1 + delay, len(y)):
        rows = slice(t - 1 - delay, t - delay)
        model.partial_fit(X[rows], y[rows], None if weights is None else weights[rows])
        found.append(model.predict_quantiles(X[t : t + 1], alpha)[0])
    return np.array([np.full_like(found[0], np.nan)] * (1 + delay) + found)


def streams_with_trouble(n=330):
    X, y = stream(n)
    changed, gaps = y.copy(), y.copy()
    changed[100] += 1e4  # a fault, then a level, then another law
    changed[150:200] += 30.0
    changed[200:] = 3.0 * X[200:, 2] - y[200:]
    gaps[[5, 50, 51, 200, 201]] = np.nan
    return {
        "young": (X[:36], y[:36], {}),
        "late": (X[:90], y[:90], {"label_delay": 4}),
        "changes, two targets": (X, np.column_stack([changed, -y]), {}),
        "gaps": (X, gaps, {}),
        "a range": (X, np.abs(y), {"target_range": (0.0, None)}),
        "much later": (X, y, {"label_delay": 7}),
    }


LONG = [pytest.param(name, marks=pytest.mark.long) for name in list(streams_with_trouble())[1:]]


@pytest.mark.parametrize("spread", ["running", pytest.param("rows", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["young", *LONG])
def test_prequential_quantiles_are_those_of_a_loop_and_teach_as_partial_fit_does(name, spread):
    X, y, options = streams_with_trouble()[name]
    model, n = clone(FAST).set_params(spread=spread, **options), len(y)
    weights = np.random.default_rng(1).integers(0, 3, size=n).astype(float)
    expected = in_a_loop(model, X, y, ALPHA, weights)
    found = [
        model.prequential_quantiles(X[rows], y[rows], ALPHA, weights[rows])
        for rows in (slice(7), slice(7, n - 20), slice(n - 20, n))
    ]
    whole = clone(model)
    whole.partial_fit(X, y, weights)
    kept = np.ones(n, dtype=bool)
    if model.label_delay:  # the models that begin anew after 8, 16, 32 and 64 rows go on
        kept[1 + model.label_delay : 66 + model.label_delay] = False
    found = np.concatenate(found)
    assert_allclose(found[kept], expected[kept], rtol=1e-10, atol=1e-10)
    assert_allclose(model.predict(X), whole.predict(X), rtol=1e-9, atol=1e-9)
    assert model.n_samples_seen_ == whole.n_samples_seen_
    assert "_trace" not in vars(model)


@pytest.mark.parametrize("spread", ["running", "rows"])
@pytest.mark.parametrize("delay", [0, 2])
@pytest.mark.parametrize("seed", range(2))
def test_first_rows_of_no_weight_leave_the_whole_line(spread, delay, seed):
    X, y = stream(20, seed)
    weights = np.r_[np.zeros(4 + seed), np.ones(16 - seed)]
    model = OnlineKernelRegressor(
        budget="tiny", random_state=seed, spread=spread, label_delay=delay
    )
    expected = in_a_loop(model, X, y, ALPHA, weights)
    assert np.isinf(expected[4, [0, -1]]).all()
    for cut in (20, 3):
        one = clone(model)
        found = [
            one.prequential_quantiles(X[rows], y[rows], ALPHA, weights[rows])
            for rows in (slice(cut), slice(cut, 20))
            if len(X[rows])
        ]
        assert_allclose(np.concatenate(found), expected, rtol=1e-9, atol=1e-9)


def test_prequential_quantiles_of_frames():
    pd = pytest.importorskip("pandas")
    X, y = stream(30)
    frame, series = pd.DataFrame(X, index=np.arange(5, 35)), pd.Series(y)
    found = clone(FAST).prequential_quantiles(frame, series, 0.5)
    assert_array_equal(found, clone(FAST).prequential_quantiles(X, y, 0.5))


def test_a_bad_row_leaves_the_model_as_it_was():
    X, y = stream(40)
    model = clone(FAST).fit(X[:20], y[:20])
    before = model.predict(X[:30])
    X[33] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.prequential_quantiles(X[20:], y[20:])
    assert model.n_samples_seen_ == 20
    assert_array_equal(model.predict(X[:30]), before)


REFUSED = {
    "fewer targets": (slice(7), slice(5), None),
    "more targets": (slice(5), slice(7), None),
    "more rows than a block": (slice(1030), slice(1100), None),
    "targets of a block": (slice(1100), slice(1030), None),
    "more weights": (slice(5), slice(5), np.ones(7)),
    "fewer weights": (slice(5), slice(5), np.ones(3)),
    "negative weights": (slice(5), slice(5), -np.ones(5)),
    "no rows": (slice(0), slice(0), None),
}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in ("alone", "pipeline", "experts")
        for name in REFUSED
        if kind != "experts" or "weights" not in name
    ],
)
def test_what_does_not_belong_together_is_refused_as_by_prequential_predict(kind, name):
    rows, of_targets, weights = REFUSED[name]
    tiny = OnlineKernelRegressor(budget="tiny", random_state=0)
    model = {
        "alone": tiny,
        "pipeline": make_streaming_pipeline(RunningStandardScaler(), tiny),
        "experts": ExpertsRegressor([("vaw", VAWRegressor())]),
    }[kind]
    X, y = stream(1100, seed=len(name))
    params = {} if weights is None else {"sample_weight": weights}
    model = clone(model).fit(X[:20], y[:20])
    before = model.predict(X[:9])
    with pytest.raises(ValueError, match="sample") as said:
        model.prequential_predict(X[rows], y[of_targets], **params)
    with pytest.raises(ValueError, match=re.escape(str(said.value))):
        model.prequential_quantiles(X[rows], y[of_targets], **params)
    assert_array_equal(model.predict(X[:9]), before)
    with pytest.raises(ValueError, match="target y is None"):
        model.prequential_quantiles(X[rows], None)


def test_one_weight_is_that_of_all_rows():
    X, y = stream(30)
    one, each = (
        clone(FAST).prequential_quantiles(X, y, 0.5, weights) for weights in (2.0, np.full(30, 2.0))
    )
    assert_array_equal(one, each)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_faulty_rows_are_those_of_the_call_whatever_its_length(seed):
    X, y = stream(2100, seed)
    y[[500, 1200, 2080]] += 1e4
    told, learnt = (OnlineKernelRegressor(budget="tiny", random_state=seed) for _ in range(2))
    told.prequential_quantiles(X, y, 0.5)
    assert_array_equal(told.faulty_rows_, learnt.partial_fit(X, y).faulty_rows_)
    assert {500, 1200, 2080} <= set(told.faulty_rows_)
    told.prequential_quantiles(X[:5], y[:5])
    assert not len(told.faulty_rows_)


def test_the_first_rows_a_range_and_late_labels():
    X, y = stream(60)
    model = clone(FAST).fit(X[:1], y[:1])
    assert np.isinf(model.predict_quantiles(X[:2], [0.1, 0.9])).all()
    assert np.isnan(model.predict_distribution(X[:2]).mean()).all()
    model = clone(FAST).set_params(target_range=(0.0, None)).fit(X, np.abs(y))
    law = model.predict_distribution(X)
    assert law.ppf(0.01).min() >= 0.0
    assert_array_equal(law.cdf(-0.1), np.zeros(60))
    assert (law.mean() > model.predict(X) - 1e-12).all()  # what lies below is put at 0
    assert_array_equal(model.predict_interval(X, 0.9), law.interval(0.9))
    late = clone(FAST).set_params(label_delay=3).fit(X, y)
    assert late.predict_quantiles(X[:4], ahead=True).shape == (4, 9)
    assert_array_equal(
        late.predict_quantiles(X[:4], 0.5, ahead=True), late.predict(X[:4], ahead=True)
    )
    with pytest.raises(ValueError, match="at most label_delay"):
        late.predict_distribution(X, ahead=True)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_shares_are_held_at_every_level(seed):
    X, y = stream(1200, seed)
    quantiles = clone(FAST).prequential_quantiles(X, y, ALPHA)[200:]
    intervals = np.stack([quantiles[:, 8::-1], quantiles[:, 10:]], axis=-1)
    held = interval_coverage(y[200:], intervals)
    assert_allclose(held, np.arange(1, 10) / 10.0, atol=0.02)
    values = pit_from_quantiles(y[200:], quantiles, ALPHA, random_state=0)
    assert kstest(values, "uniform").statistic < 0.05
    wide = quantiles[:, [9]] + 3.0 * (quantiles - quantiles[:, [9]])
    scores = [crps_from_quantiles(y[200:], q, ALPHA) for q in (quantiles, wide)]
    assert scores[0] < scores[1]


@pytest.mark.parametrize(
    ("alpha", "error"),
    [("x", TypeError), ([], TypeError), (0.0, ValueError), ([0.5, 1.0], ValueError)],
)
def test_levels_that_make_no_sense_are_refused(alpha, error):
    X, y = stream(20)
    model = clone(FAST).fit(X, y)
    for call in (
        model.predict_quantiles,
        lambda X, alpha: model.prequential_quantiles(X, y, alpha),
    ):
        with pytest.raises(error, match="alpha"):
            call(X, alpha=alpha)
