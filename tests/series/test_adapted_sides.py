"""Quantiles of corrected forecasts: they say on which side the errors of these lie."""

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from sklearn_okl import AdaptedForecaster, OnlineForecaster, from_bytes, to_bytes
from sklearn_okl.series import _correction, _intervals
from tests.oracles import series as oracle

H = 3
ALPHA = np.arange(1, 20) / 20.0


def adapted():
    own = OnlineForecaster(H, windows=(2, 4, 6), random_state=0)
    return AdaptedForecaster(H, forecaster=own, window=3)


def stream(n_series=2, n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = 2.0 * np.sin(np.arange(n) * 2 * np.pi / 6)[:, None] + rng.exponential(size=(n, n_series))
    return y, y[np.maximum(np.arange(n)[:, None] + np.arange(H) - 6, 0)]


def test_laws_are_those_of_a_loop_over_the_errors_of_forecasts():
    y, base = stream(n=80)
    y[55, 0], base[60:62] = np.nan, np.nan
    model, loop, issued = adapted(), oracle.Skew(H, 2), []
    intervals, levels = _intervals.start(H, 2), _intervals.LEVELS
    for t in range(len(y)):
        (errors, sizes), reach = np.full((2, H, 2), np.nan), np.full((len(levels), H, 2), -1.0)
        if t:
            slot, _ = _correction.issue(model._state, base[t])
            reaches, _ = _correction.reaches(model._state, slot, H)
            issued.append((model.predict(base[t]), slot["change"], slot["size"], reaches))
            for h in range(min(t, H)):
                said, change, size, reaches = issued[-1 - h]
                sizes[h], reach[:, h] = size[h], reaches[:, h]
                if t >= 32:  # what is judged
                    errors[h] = (y[t] - said[h]) / change
        loop.learn(np.where(sizes > 0.0, errors, np.nan), np.where(sizes > 0.0, sizes, 1.0))
        _intervals.learn(intervals, t, 0, errors, reach)
        model.partial_fit(y[t : t + 1], base[t : t + 1])
    assert_array_equal(model._state["intervals"]["radius"], intervals["radius"])
    found = model.predict_quantiles(base[-1], alpha=ALPHA)
    said, ends = model.predict(base[-1]), model.predict_interval(base[-1], coverage=levels)
    assert not np.allclose(found[..., 9], said)
    for h, c in np.ndindex(H, 2):
        of_levels = partial(np.interp, xp=levels, fp=ends[h, c, :, 1] - said[h, c])
        alpha = np.concatenate([0.5 - levels[::-1] / 2.0, [0.5], 0.5 + levels / 2.0])
        wanted = said[h, c] + loop.quantiles(h, c, alpha, of_levels)
        assert_allclose(model.predict_quantiles(base[-1], alpha=alpha)[h, c], wanted, rtol=1e-7)


@pytest.mark.long
def test_the_cut_of_the_stream_changes_nothing_and_files_hold_all():
    y, base = stream(seed=1)
    y[40:42, 0] = np.nan
    y[:9, 1], base[:12, :, 1] = np.nan, np.nan  # begins later
    base[70:73] = np.nan  # the base is silent
    whole, rows = adapted().fit(y, base), adapted()
    for t in range(len(y)):
        rows.partial_fit(y[t : t + 1], base[t : t + 1])
        if t == 60:
            rows = from_bytes(to_bytes(rows))
        if t == 75:
            rows = pickle.loads(pickle.dumps(rows))
    before = pickle.dumps(rows._state)
    found = rows.predict_quantiles(base[-1])
    assert_array_equal(found, whole.predict_quantiles(base[-1]))
    assert found.shape == (H, 2, 9)
    assert pickle.dumps(rows._state) == before
    for name in ("counts", "odds"):
        assert_array_equal(rows._state["skew"][name], whole._state["skew"][name])


@pytest.mark.parametrize("n_series", [None, 2])
def test_quantiles_rise_and_the_middle_one_is_the_median(n_series):
    y, base = stream(n_series or 1, n=240)
    y, base = (y, base) if n_series else (y[:, 0], base[..., 0])
    model = adapted().fit(y[:10], base[:10])
    young = model.predict_quantiles(base[10], alpha=[0.1, 0.5, 0.9])
    assert_array_equal(young[..., 1], model.predict(base[10]))
    assert_array_equal(np.abs(young[..., ::2]), np.inf)
    model.partial_fit(y[10:], base[10:])
    alpha = np.array([0.001, 0.01, 0.05, 0.1, 0.3, 0.49, 0.5, 0.51, 0.7, 0.9, 0.95, 0.9999])
    found = model.predict_quantiles(base[-1], alpha=alpha)
    assert found.shape == (*np.shape(model.predict(base[-1])), 12)
    assert (np.diff(found, axis=-1) > 0.0).all()
    for k in range(12):  # each is the same alone
        alone = model.predict_quantiles(base[-1], alpha=alpha[k])[..., 0]
        assert_array_equal(alone, found[..., k])
    fewer = model.predict_quantiles(base[-1], alpha=alpha, n_steps=2)
    assert_array_equal(fewer, found[:2])
    high, low = found[..., 10] - found[..., 6], found[..., 6] - found[..., 2]
    assert (high > low).mean() > 0.5  # errors are skewed


def test_where_the_base_is_silent_the_quantiles_are_around_ours():
    y, base = stream(1, n=120)
    model = adapted().fit(y, base)
    silent = np.full((H, 1), np.nan)
    found = model.predict_quantiles(silent)
    own = model.forecaster_.predict()
    assert np.isfinite(found).all()
    assert (np.abs(found[..., 4] - own) < 0.5 * (found[..., -1] - found[..., 0])).all()
    partly = base[-1].copy()
    partly[1:] = np.nan  # it has only its first step
    assert np.isfinite(model.predict_quantiles(partly)).all()


def test_frames_are_looked_at_and_quantiles_are_arrays():
    pandas = pytest.importorskip("pandas")
    y, base = stream(1)
    index = pandas.date_range("2024-01-01", periods=90, freq="h")
    series = pandas.Series(y[:, 0], index=index, name="load")
    frame = pandas.DataFrame(base[:, :, 0], index=index)
    model = adapted().fit(series[:80], frame[:80])
    plain = adapted().fit(y[:80, 0], base[:80, :, 0])
    asked = pandas.Series(base[80, :, 0], index=index[80:83])
    found = model.predict_quantiles(asked)
    assert type(found) is np.ndarray
    assert_array_equal(found, model.predict_quantiles(base[80, :, 0]))
    assert found.shape == plain.predict_quantiles(base[80, :, 0]).shape == (H, 9)
    with pytest.raises(ValueError, match="base_forecasts is of the rows 2024-01-04 09"):
        model.predict_quantiles(asked.set_axis(index[81:84]))


@pytest.mark.long(every=4)
@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("alpha=1", {"alpha": 1.0}),
        (r"alpha=\[\]: give numbers above 0", {"alpha": []}),
        ("alpha=nan", {"alpha": np.nan}),
        ("n_steps=4: give a whole number from 1 to horizon=3", {"n_steps": 4}),
        ("has shape", {"base_forecasts": np.zeros(2)}),
        ("is missing: give what the base said", {"base_forecasts": None}),
        ("X_future is missing", {"X_future": None}),
    ],
)
def test_bad_questions_are_refused_with_a_sentence(words, arguments):
    y, base = stream(1)
    X = np.random.default_rng(0).normal(size=(90, 1))
    model = adapted().fit(y, base, X)
    good = {"base_forecasts": base[-1], "X_future": X[:H]}
    assert np.isfinite(model.predict_quantiles(**good)).all()
    with pytest.raises(ValueError, match=words):
        model.predict_quantiles(**good | arguments)


def test_who_has_learnt_nothing_has_no_quantiles():
    with pytest.raises(NotFittedError):
        adapted().predict_quantiles(np.zeros(H))
