"""Forecasts of others, corrected: against the literal loop, its bound, and its laws."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sklearn_okl import AdaptedForecaster, OnlineForecaster, from_bytes, load, save, to_bytes
from sklearn_okl.series import _correction, _experts, _fixed_share
from tests.oracles import adapted as oracle

H = 4


@pytest.fixture(autouse=True)
def few_frequencies(monkeypatch):
    monkeypatch.setattr(_experts, "_N_FREQUENCIES", 8)  # these laws are about the rest


def ours(**arguments):
    return OnlineForecaster(H, windows=(3, 4, 6), **arguments)


def adapted(**arguments):
    return AdaptedForecaster(H, forecaster=ours(**arguments), window=3)


def seasonal(y, season=6):
    """The season come again, as a base: (n, H, m)."""
    rows = np.arange(len(y))[:, None] + np.arange(H)
    return y[np.maximum(rows - season, 0)]


def stream(n_series=1, n=110, seed=0):
    rng = np.random.default_rng(seed)
    y = 0.3 * np.cumsum(rng.normal(size=(n, n_series)), axis=0)
    y += 2.0 * np.sin(np.arange(n) * 2 * np.pi / 6)[:, None] + rng.normal(size=(n, n_series))
    return y, seasonal(y)


@pytest.mark.long
@pytest.mark.parametrize("n_series", [1, 2])
def test_the_correction_is_the_loop_that_keeps_every_origin(n_series):
    y, base = stream(n_series, n=150, seed=n_series)
    y[50:52, 0] = np.nan  # missing
    base[60:64] = np.nan  # the base is silent
    base[70:72, 1:] = np.nan  # and has only its first step
    base[90, :, 0] += 1e6  # a base that errs as no series does
    y[:9, -1], base[:12, :, -1] = np.nan, np.nan  # begins later
    model = adapted()
    found = model.prequential_predict(y, base)
    own = ours().prequential_predict(y)
    loop = oracle.Corrector(H, n_series, 3)
    for t in range(len(y)):
        assert_allclose(found[t], loop.issue(base[t], own[t]), rtol=1e-9, atol=1e-9)
        loop.learn(y[t])
    assert not np.isnan(found[12:]).any()
    for (h, c), shares in loop.shares.items():
        assert_allclose(model.expert_weights_[h, c], shares.now(), rtol=1e-7, atol=1e-12)
        assert_allclose(model.regret_[h, c], shares.regret, rtol=1e-8)
        assert_allclose(model.regret_bound_[h, c], shares.bound(), rtol=1e-8)


def bases(kind, y, rng):
    truth = np.stack([np.roll(y, -h, axis=0) for h in range(H)], axis=1)
    if kind == "random":
        return rng.normal(size=truth.shape) * 3.0
    if kind == "drifting":  # from perfect to worse than nothing, and back
        return truth + 4.0 * np.sin(np.arange(len(y)) / 40.0)[:, None, None] ** 4
    if kind == "perfect":
        return truth.copy()
    blocks = (np.arange(len(y)) // 25 % 2)[:, None, None]  # right until it is no longer believed
    return np.where(blocks == 1, truth, -5.0 * truth)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("kind", ["random", "drifting", "perfect", "adversarial"])
@pytest.mark.parametrize("seed", [0, 1])
def test_on_no_stretch_is_a_base_made_worse_by_more_than_the_bound(kind, seed):
    rng = np.random.default_rng(seed)
    y, _ = stream(n=400, seed=seed + 10)
    base = bases(kind, y, rng)
    model = adapted()
    said = model.prequential_predict(y, base)
    for h in range(H):
        rows = np.arange(32, len(y) - h)  # origins that have been judged
        rows = rows[rows + h >= 32]
        worse = (said[rows, h] - y[rows + h]) ** 2 - (base[rows, h] - y[rows + h]) ** 2
        sums = np.concatenate([[0.0], np.cumsum(worse[:, 0])])
        regret = (sums - np.minimum.accumulate(sums)).max()  # on the worst stretch
        assert regret <= model.regret_bound_[h, 0]
        if kind == "random":
            assert sums[-1] < -0.3 * np.sum((base[rows, h] - y[rows + h]) ** 2)
    assert (model.regret_ <= model.regret_bound_).all()


@pytest.mark.long(every=3)
@pytest.mark.parametrize("delay", [0, 3, 20])
def test_the_bound_of_fixed_share_holds_whatever_experts_say(delay):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        state = _fixed_share.start(np.array([0.5, 0.25, 0.25]), 1, 1)
        waiting, worst = [], np.zeros(400)
        heavy = rng.standard_t(2, size=(400, 3))
        for t in range(400):
            w = _fixed_share.weights(state)[:, 0, 0]
            f = heavy[t] * [0.2, 1.0, 1.0] if seed % 2 else heavy[t]
            y = f[w.argmin()] + rng.normal() if seed % 3 else rng.normal()  # wants the least
            waiting.append((f, w @ f, y))
            if t >= delay:
                f, said, y = waiting[t - delay]
                losses = (f - y)[:, None, None] ** 2
                _fixed_share.learn(state, losses, np.array([[(said - y) ** 2]]))
                worst[t] = (said - y) ** 2 - losses[0, 0, 0]
        sums = np.concatenate([[0.0], np.cumsum(worst)])
        regret = (sums - np.minimum.accumulate(sums)).max()
        assert regret <= _fixed_share.bounds(state)[0, 0, 0]


def test_the_certificate_is_against_each_of_the_five():
    y, base = stream(2, n=110, seed=5)
    models = [adapted().fit(y, base), adapted()]
    for low in range(0, 110, 50):
        models[1].partial_fit(y[low : low + 50], base[low : low + 50])
    told, cut = (model.regret_certificate() for model in models)
    for name in told:
        assert_array_equal(told[name], cut[name])
    assert told.experts.shape == told.bounds.shape == (H, 2, 5)
    assert (told.experts <= told.bounds).all()
    assert_array_equal(told.experts[..., 0], models[0].regret_)
    assert_array_equal(told.bounds[..., 0], models[0].regret_bound_)
    assert_array_equal(told.n_rounds, 110 - 32)
    with pytest.raises(NotFittedError):
        adapted().regret_certificate()


def test_without_delay_the_regret_grows_like_a_logarithm():
    rng, state = np.random.default_rng(0), _fixed_share.start(np.array([0.5, 0.5]), 1, 1)
    for _ in range(3000):
        w = _fixed_share.weights(state)[:, 0, 0]
        f = np.array([-0.5, 0.5])
        y = -np.sign(w @ f) * 0.5 if rng.uniform() < 0.9 else 0.5  # against the forecast
        _fixed_share.learn(state, ((f - y) ** 2)[:, None, None], np.array([[(w @ f - y) ** 2]]))
    assert state["gaps"][0, 0] <= 3.0
    assert state["inverse_rate"][0, 0] <= 4.0


@pytest.mark.long
@pytest.mark.parametrize("n_series", [1, 2])
def test_no_forecast_depends_on_what_is_not_known(n_series):
    y, base = stream(n_series)
    known = adapted().prequential_predict(y, base)
    for k in (40, 80):
        other, others = y.copy(), base.copy()
        other[k:] = 1e2 * np.cos(other[k:])
        others[k + 1 :] = 7.0
        changed = adapted().prequential_predict(other, others)
        assert_array_equal(changed[: k + 1], known[: k + 1])
        assert not np.array_equal(changed[k + 1], known[k + 1])


def columns(n=110):
    return np.random.default_rng(5).normal(size=(n, 2))


@pytest.mark.long(every=50)
@pytest.mark.parametrize("has_columns", [False, True])
def test_the_cut_of_the_stream_changes_nothing(has_columns):
    (y, base), X = stream(2), columns() if has_columns else None
    arguments = {"known_ahead": [0]} if has_columns else {}
    whole, parts, low = adapted(**arguments).fit(y, base, X), adapted(**arguments), 0
    for high in (1, 2, 3, 40, 41, 110):
        where = slice(low, high)
        parts.partial_fit(y[where], base[where], None if X is None else X[where])
        low = high
    assert pickle.dumps(parts._state) == pickle.dumps(whole._state)
    assert pickle.dumps(parts.forecaster_._state) == pickle.dumps(whole.forecaster_._state)


@pytest.mark.long
@pytest.mark.parametrize("has_columns", [False, True])
def test_prequential_forecasts_are_those_of_predict(has_columns):
    (y, base), X = stream(2), columns() if has_columns else None
    model = adapted(**({"known_ahead": [0]} if has_columns else {}))
    future = None if X is None else X[100:104]
    rows = [None if X is None else X[t : t + H] for t in range(100)]
    first = None if X is None else X[:100]
    whole = clone(model).prequential_predict(y[:100], base[:100], first, future)
    model.partial_fit(y[:60], base[:60], None if X is None else X[:60])
    for t in range(60, 100):
        before = pickle.dumps(model)
        assert_array_equal(model.predict(base[t], rows[t]), whole[t])
        assert_array_equal(model.predict(base[t], rows[t], n_steps=H), whole[t])
        assert pickle.dumps(model) == before
        model.partial_fit(y[t : t + 1], base[t : t + 1], None if X is None else X[t : t + 1])
    assert np.isfinite(whole).all()


@pytest.mark.long
@pytest.mark.parametrize("has_columns", [False, True])
def test_the_regret_is_that_of_the_forecasts(has_columns):
    (y, base), X = stream(2, seed=3), columns() if has_columns else None
    arguments = {"known_ahead": [0]} if has_columns else {}
    said = adapted(**arguments).prequential_predict(y, base, X)
    model = adapted(**arguments)
    for t in range(110):  # columns of the rows to come are not given
        rows = slice(t, t + 1)
        model.partial_fit(y[rows], base[rows], None if X is None else X[rows])
    for h in range(H):
        origins = np.arange(max(32 - h, 0), 110 - h)  # from the 33rd row on
        come = y[origins + h]
        worse = (said[origins, h] - come) ** 2 - (base[origins, h] - come) ** 2
        assert_allclose(model.regret_[h], worse.sum(axis=0), rtol=1e-8)


@pytest.mark.long
def test_a_fault_is_judged_as_if_it_were_missing():
    y, base = stream(n=150)
    faulty, missing = y.copy(), y.copy()
    faulty[100], missing[100] = 1e6, np.nan
    models = adapted(), adapted()
    found = [
        model.prequential_predict(z, base)
        for model, z in zip(models, (faulty, missing), strict=True)
    ]
    assert_array_equal(*found)
    assert_array_equal(*(model.regret_bound_ for model in models))


@pytest.mark.long
def test_models_that_were_stored_go_on_as_others(tmp_path):
    pytest.importorskip("skops")
    y, base = stream()
    model = adapted().partial_fit(y[:60], base[:60])
    save(model, tmp_path / "model.skops")
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)]
    copies.append(load(tmp_path / "model.skops"))
    expected = model.prequential_predict(y[60:], base[60:])
    for other in copies:
        assert_array_equal(other.prequential_predict(y[60:], base[60:]), expected)


@pytest.mark.long
def test_units_do_not_matter_and_the_state_does_not_grow():
    y, base = stream(n=300)
    plain = adapted().prequential_predict(y, base)
    model = adapted()
    sizes = []
    for low in range(0, 300, 100):
        rows = slice(low, low + 100)
        scaled = model.prequential_predict(8.0 + 2.0**6 * y[rows], 8.0 + 2.0**6 * base[rows])
        assert_allclose((scaled - 8.0) / 2.0**6, plain[rows], rtol=1e-6, atol=1e-6)
        sizes.append(len(pickle.dumps(model._state)))
    assert max(sizes) - min(sizes) < 100


@pytest.mark.long
def test_before_the_first_judgement_the_base_is_left_alone_and_silence_is_ours():
    y, base = stream()
    base[80:] = np.nan
    found, own = adapted().prequential_predict(y, base), ours().prequential_predict(y)
    assert_allclose(found[:33], base[:33], rtol=1e-12)
    assert np.isfinite(found).all()
    silent = adapted().prequential_predict(y, np.full_like(base, np.nan))
    assert_allclose(silent[1:], own[1:], rtol=1e-9)
    assert np.isnan(silent[0]).all()


@pytest.mark.long
def test_intervals_hold_as_often_as_they_are_asked_to():
    rng = np.random.default_rng(3)
    y = rng.normal(size=(900, 1))
    for t in range(1, 900):
        y[t] += 0.7 * y[t - 1]
    last = y[np.maximum(np.arange(900) - 1, 0)]
    base, held = np.repeat(last[:, None], H, axis=1), []
    model = adapted().fit(y[:100], base[:100])
    for t in range(100, 890):
        ends = model.predict_interval(base[t], coverage=[0.5, 0.9])[:, 0]
        held.append((ends[..., 0] <= y[t : t + H]) & (y[t : t + H] <= ends[..., 1]))
        model.partial_fit(y[t : t + 1], base[t : t + 1])
    assert_allclose(np.mean(held, axis=(0, 1)), [0.5, 0.9], atol=0.04)
    assert ends.shape == (H, 2, 2)
    first = adapted().fit(y[:10], base[:10]).predict_interval(base[10])
    assert_array_equal(first[..., 1], np.inf)


@pytest.mark.long
@pytest.mark.parametrize("absurd", [1e4, -1e90])
def test_one_absurd_forecast_of_a_base_does_not_widen_intervals_for_ever(absurd):
    """With 1e10 at row 200 intervals were 1e12 wide for hundreds of rows."""
    rng = np.random.default_rng(3)
    y = 0.1 * rng.normal(size=260).cumsum()
    base = np.repeat(np.concatenate([[0.0], y[:-1]])[:, None], 2, axis=1)
    usual = AdaptedForecaster(2).fit(y, base).predict_interval(base[-1])
    base[200] = absurd
    wide = AdaptedForecaster(2).fit(y, base).predict_interval(base[-1])
    assert (np.ptp(wide, axis=-1) < 30.0 * np.ptp(usual, axis=-1)).all()


@pytest.mark.long
def test_a_base_with_a_bias_is_corrected():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(600, 1))
    base = np.zeros((600, H, 1)) + 3.0
    said = adapted().prequential_predict(y, base)
    rows = np.arange(300, 590)
    assert np.mean((said[rows, 2] - y[rows + 2]) ** 2) < 1.1
    assert np.mean((base[rows, 2] - y[rows + 2]) ** 2) > 9.0


def test_frames_are_continued_and_gaps_are_silent():
    pandas = pytest.importorskip("pandas")
    y, base = stream(1)
    index = pandas.date_range("2024-01-01", periods=110, freq="h")
    there = np.r_[0:50, 55:110]
    series = pandas.Series(y[:, 0], index=index, name="load")
    frame = pandas.DataFrame(base[:, :, 0], index=index)
    model = AdaptedForecaster(H, forecaster=ours(gaps="fill"), window=3)
    model.fit(series.iloc[there[:100]], frame.iloc[there[:100]])
    assert model.n_samples_seen_ == 105
    said = model.predict(base[105, :, 0])
    assert said.index[0] == index[105]
    assert said.name == "load"
    with pytest.raises(ValueError, match=r"indexes of y and base_forecasts differ"):
        model.partial_fit(series.iloc[105:], frame.iloc[104:109])


@pytest.mark.long(every=3)
@pytest.mark.parametrize("is_stored", [False, True])
@pytest.mark.parametrize("names", [["a", "b", "c", "d"], [1, 2, 3, 4]])
def test_steps_of_a_frame_are_never_taken_in_another_order(names, is_stored):
    pandas = pytest.importorskip("pandas")
    y, base = stream(1)
    series, frame = pandas.Series(y[:, 0]), pandas.DataFrame(base[:, :, 0], columns=names)
    model = AdaptedForecaster(H, forecaster=ours(), window=3).fit(series[:80], frame[:80])
    plain = AdaptedForecaster(H, forecaster=ours(), window=3).fit(y[:80, 0], base[:80, :, 0])
    model = from_bytes(to_bytes(model)) if is_stored else model
    # a row of the frame has the names of its columns, which are no rows that follow
    assert_array_equal(model.predict(frame.iloc[80]), plain.predict(base[80, :, 0]))
    for call in (
        lambda: model.partial_fit(series[80:], frame[80:][names[::-1]]),
        lambda: model.predict(frame.iloc[80][names[::-1]]),
        lambda: model.predict_quantiles(frame.iloc[80][names[::-1]]),
    ):
        with pytest.raises(ValueError, match="same columns in the same order"):
            call()
    model.partial_fit(series[80:], frame[80:])


def test_one_step_may_come_as_numbers():
    y, base = stream(1)
    plain = AdaptedForecaster(1, window=3).fit(y[:80, 0], base[:80, :1, 0])
    model = AdaptedForecaster(1, window=3).fit(y[:80, 0], base[:80, 0, 0])
    assert_array_equal(model.predict(base[80, :1, 0]), plain.predict(base[80, :1]))
    with pytest.raises(ValueError, match="has shape"):
        model.partial_fit(y[80:, 0], base[80:82, 0, 0])


def test_series_of_a_frame_are_never_taken_in_another_order():
    pandas = pytest.importorskip("pandas")
    y, base = stream(2)
    series, asked = pandas.DataFrame(y[:80], columns=["a", "b"]), base[80]
    model = AdaptedForecaster(H, forecaster=ours(), window=3).fit(series, base[:80])
    frame = pandas.DataFrame(asked, columns=["a", "b"], index=range(80, 80 + H))
    assert_array_equal(model.predict(frame), model.predict(asked))
    with pytest.raises(ValueError, match="same series in the same order"):
        model.predict(frame[["b", "a"]])


@pytest.mark.parametrize("n", [8, 20])
def test_labels_tell_the_step_however_rows_are_cut(n):
    pandas = pytest.importorskip("pandas")
    y, base = stream(1)
    index = pandas.DatetimeIndex(list(pandas.date_range("2024-01-04", periods=n, freq="B")))
    series = pandas.Series(y[:n, 0], index=index)
    whole, parts = adapted(), adapted()
    said = whole.prequential_predict(series, base[:n, :, 0])
    told = [parts.prequential_predict(series[t : t + 1], base[t : t + 1]) for t in range(n)]
    assert_array_equal(np.concatenate(told), said)
    for model in (parts, from_bytes(to_bytes(parts)), adapted().fit(series, base[:n])):
        assert_array_equal(model.regret_, whole.regret_)
        assert_array_equal(model.predict(base[n]), whole.predict(base[n]))


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("is missing: give what the base said", lambda m, y, b: m.partial_fit(y, None)),
        ("has shape", lambda m, y, b: m.partial_fit(y, b[:, :2])),
        ("contains infinity", lambda m, y, b: m.partial_fit(y, b / 0.0)),
        ("number of series cannot change", lambda m, y, b: m.partial_fit(y[:, 0], b[..., 0])),
        ("has shape", lambda m, y, b: m.predict(b)),
        ("cannot change in mid-stream", lambda m, y, b: m.set_params(window=5).partial_fit(y, b)),
    ],
)
def test_bad_input_is_refused_with_a_sentence_and_nothing_is_lost(words, call):
    y, base = stream(1)
    model = adapted().fit(y[:50], base[:50])
    before = pickle.dumps([model._state, model.forecaster_._state])
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=words):
        call(model, y[50:], base[50:])
    assert pickle.dumps([model._state, model.forecaster_._state]) == before
    model.set_params(window=3).partial_fit(y[50:], base[50:])
    assert model.n_samples_seen_ == 110


def test_bad_parameters_are_refused():
    y, base = stream(1)
    for model in (AdaptedForecaster(0), AdaptedForecaster(H, window=1)):
        with pytest.raises(ValueError, match="must be"):
            model.fit(y, base)
    with pytest.raises(ValueError, match="as many rows as the base"):
        AdaptedForecaster(H, forecaster=OnlineForecaster(3)).fit(y, base)
    with pytest.raises(NotFittedError):
        AdaptedForecaster(H).predict(base[0])


def test_an_interrupted_call_leaves_the_model_as_it_was(monkeypatch):
    y, base = stream()
    model = adapted().fit(y[:50], base[:50])
    before = pickle.dumps(model)
    calls, absorb = iter(range(9)), _correction.absorb

    def interrupted(*arguments):
        if next(calls) == 7:
            raise KeyboardInterrupt
        absorb(*arguments)

    monkeypatch.setattr(_correction, "absorb", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(y[50:], base[50:])
    assert pickle.dumps(model) == before


def test_a_young_series_has_the_intervals_of_its_panel():
    rng, n = np.random.default_rng(5), 60
    y = 10.0 ** np.arange(3) * rng.normal(size=(n, 3))
    y[: n - 6, 2] = np.nan  # six values are known of it
    base = np.zeros((n, H, 3))
    model = adapted().fit(y, base)
    ends = model.predict_interval(base[-1], coverage=[0.9])[:, :, 0]
    width = ends[..., 1] - ends[..., 0]
    assert ((width[:, 2] > 1e2) & (width[:, 2] < 1e3)).all()
