"""Several targets: one model of the rows, and a mixture, a fence and intervals for each."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.multioutput import MultiOutputRegressor
from sklearn.tree import DecisionTreeRegressor

from sklearn_okl import OnlineKernelRegressor, StackedBOARegressor
from sklearn_okl.evaluation import ExpertWeightsDisplay
from sklearn_okl.untuned import Constants, RunningUnits
from sklearn_okl.untuned._constants import BUDGETS
from sklearn_okl.untuned.rows._encoding import Encoder
from sklearn_okl.untuned.rows._inputs import LaggedInputs
from sklearn_okl.untuned.rows._layout import plain_layout

CUTS = (1, 2, 3, 30, 64, 71, 110, 111, 112, 119, 220)


class Early(OnlineKernelRegressor):
    """A small model whose births and chain come within the rows of a test."""

    constants = Constants(
        births=(70, 100),
        burn_in=20,
        budgets={"balanced": BUDGETS["balanced"]._replace(frequencies=6, work=2e4)},
    )


class Mixed(Early):
    """The same, which nothing corrects before the chain begins."""

    constants = replace(Early.constants, neighbours=())


def model_of(kind=Early, **arguments):
    return kind(random_state=0, **arguments)


def stream(n=260):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    signals = [np.sin(2.0 * X[:, 0]), 100.0 + 5.0 * np.abs(X[:, 1]), 1e-3 * X[:, 2]]
    return X, np.column_stack(signals) + rng.normal(size=(n, 3)) * [0.1, 0.5, 1e-4]


def in_parts(model, X, Y):
    rows = [part for part in np.split(np.arange(len(Y)), CUTS) if len(part)]
    return np.concatenate([model.prequential_predict(X[part], Y[part]) for part in rows])


@pytest.mark.long(every=3)
@pytest.mark.parametrize("arguments", [{}, {"label_delay": 3}, {"trees": DecisionTreeRegressor()}])
def test_copies_of_a_target_are_forecast_as_it_alone(arguments):
    """Without lags the rows are seen as they are beside one target, so all is the same."""
    X, Y = stream(90 if "trees" in arguments else 200)
    factor = 2.0 if "trees" in arguments else -2.0  # splits that are equally good have an order
    weights = np.random.default_rng(1).uniform(0.0, 2.0, size=len(X))
    y = Y[:, 1].copy()
    y[[0, 60]], y[128:] = 1e4, y[128:] - 900.0
    alone = model_of(lags=0, **arguments)
    copies = model_of(lags=0, **arguments)
    expected = alone.prequential_predict(X, y, weights)
    forecasts = copies.prequential_predict(X, np.column_stack([y, factor * y, y]), weights)
    assert_allclose(forecasts, expected[:, None] * [1.0, factor, 1.0], rtol=1e-9, atol=1e-7)
    assert_array_equal(copies.n_faulty_, alone.n_faulty_)
    expected = alone.predict_interval(X[:4], [0.5, 0.9])
    intervals = copies.predict_interval(X[:4], [0.5, 0.9])
    assert intervals.shape == (4, 3, 2, 2)
    assert_allclose(intervals[:, 0], expected, rtol=1e-7)
    assert_allclose(intervals[:, 1], np.sort(factor * expected), rtol=1e-7)
    F, table = copies.predict_experts(X[:4]), copies.experts_
    assert_allclose(F[..., 2], alone.predict_experts(X[:4]), rtol=1e-7)
    known = alone.experts_
    assert_array_equal(table["target"], np.repeat([0, 1, 2], len(known["name"])))
    for name, column in known.items():
        if column.dtype.kind == "f":
            assert_allclose(table[name][table["target"] == 0], column, rtol=1e-6, atol=1e-12)
        else:
            assert_array_equal(table[name], np.tile(column, 3))


def test_each_target_has_the_mixture_of_the_experts_that_all_share():
    X, Y = stream(60)
    model, F = model_of(Mixed), []
    for i in range(len(X)):
        if i:
            F.append(model.predict_experts(X[i : i + 1])[0])
        model.partial_fit(X[i : i + 1], Y[i : i + 1])
    F = np.concatenate([np.zeros((1, *F[0].shape)), F])
    # priors are those of all experts, of whom some are yet to be born
    unborn = len(model._state["rounds"]) - F.shape[1]
    F = np.concatenate([F, np.full((len(X), unborn, 3), np.nan)], axis=1)
    forecasts = model_of(Mixed).prequential_predict(X, Y)
    origin, unit = Y[0], np.abs(Y[1] - Y[0])
    F, forecasts, y = (F - origin) / unit, (forecasts - origin) / unit, (Y - origin) / unit
    for j in range(3):
        mixture = StackedBOARegressor(n_direct=2)
        expected = mixture.prequential_predict(F[:, :, j], y[:, j])
        assert_allclose(forecasts[1:, j], expected[1:], rtol=1e-7, atol=1e-7)
        weights = mixture.weights_[:-unborn]
        assert_allclose(model.weights_[j], weights / weights.sum(), atol=1e-6)
    # the inputs end with the latest targets of all, which half of the experts see
    inputs = model._experts().inputs
    seen = inputs.look(model._state["inputs"], X[:1]).inputs
    n = X.shape[1]
    assert seen.shape[1] == 2 * (n + 4 * 3)
    assert np.corrcoef(seen[0, n : n + 3], (Y[-1] - Y.mean(axis=0)) / Y.std(axis=0))[0, 1] > 0.99


@pytest.mark.long
@pytest.mark.parametrize("delay", [0, 5])
def test_what_is_wrong_with_one_target_says_nothing_of_the_others(delay):
    X, Y = stream()
    # births and the metric of similar rows, which are decided for all, are left out
    constants = Constants(births=(), neighbours=(), budgets=Early.constants.budgets)
    plain = model_of(lags=0, label_delay=delay)
    plain.constants = constants
    expected = plain.prequential_predict(X, Y)
    for fault in ("absurd", "first", "level", "begins late"):
        Z = Y.copy()
        if fault == "absurd":
            Z[80, 1] = 1e30
        if fault == "first":
            Z[0, 1] = -1e12
        if fault == "level":
            Z[40:, 1] *= -1e3
        if fault == "begins late":
            Z[:70, 1], Z[75, 1] = 5.0, 1e9
        model = model_of(lags=0, label_delay=delay)
        model.constants = constants
        forecasts = model.prequential_predict(X, Z)
        for j in (0, 2):
            scale = Y[:, j].std()
            assert_allclose(forecasts[:, j], expected[:, j], rtol=0, atol=1e-7 * scale)
        assert_array_equal(model.n_faulty_[[0, 2]], 0)
        if fault in ("absurd", "first", "begins late"):
            errors = np.square(forecasts[160:, 1] - Y[160:, 1]).mean()
            assert errors < 2.5 * np.square(expected[160:, 1] - Y[160:, 1]).mean(), fault


@pytest.mark.long
@pytest.mark.parametrize("arguments", [{}, {"label_delay": 4}])
def test_the_cut_is_invisible(arguments):
    """With faults, a start anew of all, and of one target alone."""
    X, Y = stream()
    Y[2, 0], Y[170, 2] = 1e6, 1e3
    Y[:110, 1], Y[115, 1] = 5.0, -1e5
    whole, cut = model_of(**arguments), model_of(**arguments)
    expected, forecasts = whole.prequential_predict(X, Y), in_parts(cut, X, Y)
    scale = [1e3, 100.0, 1.0]  # what is learnt of the first targets is as large as these
    assert (np.abs(forecasts - expected) <= 1e-7 * (scale + np.abs(expected))).all()
    again = pickle.loads(pickle.dumps(whole))
    assert_array_equal(again.predict(X), whole.predict(X))
    assert_allclose(cut.predict(X), whole.predict(X), rtol=1e-6)
    assert_array_equal(whole.n_faulty_, cut.n_faulty_)
    assert (whole.n_faulty_ > 0).all()
    delay = arguments.get("label_delay", 0)
    queue = model_of(**arguments).fit(X[:100], Y[:100])
    for t in range(101 + delay, 140):
        row = slice(t - 1 - delay, t - delay)
        queue.partial_fit(X[row], Y[row])
        asked = queue.predict(X[t : t + 1])[0]
        assert (np.abs(asked - expected[t]) <= 1e-7 * (scale + np.abs(expected[t]))).all()


@pytest.mark.long
@pytest.mark.parametrize(("seed", "delay"), [(0, 0), (1, 5), (2, 23)])
def test_a_target_that_decays_is_forgotten_where_a_block_ends(seed, delay):
    """The next block is judged though none has ended in its new unit."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(650, 2))
    steps = 5.0 * (X > [0.3, 0.0]).all(axis=1) + 0.1 * rng.normal(size=650)
    charge = 1e6 * np.exp(-np.arange(650) / 18.0) + 1e-3 * steps
    model = OnlineKernelRegressor(budget="fast", lags=0, label_delay=delay, random_state=0)
    model.partial_fit(X, np.column_stack([steps, charge]))
    assert all(guard["usual"] > 0.0 for guard in model._state["targets"])


def test_the_unit_of_a_target_says_nothing_of_what_it_is_worth():
    inputs = LaggedInputs(2, 0, RunningUnits(), n_targets=3)
    experts, rng = model_of(), np.random.default_rng(0)
    experts.fit(*stream(60))
    state = {"inputs": inputs.start(1)}
    Y = np.column_stack([rng.normal(size=(200, 1)) * [1.0, 1e6], np.zeros(200)])
    inputs.learn(state["inputs"], np.zeros((200, 1)), Y[:, [0, 1, 2]])
    shares = experts._experts().kind.shares(state)
    assert shares.mean() == pytest.approx(1.0)
    assert shares[0] * Y[:, 0].var() == pytest.approx(shares[1] * Y[:, 1].var())
    assert shares[2] == 0.0


@pytest.mark.parametrize("delay", [0, 3])
def test_categories_and_gaps_mean_something_else_to_each_target(delay):
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=120), rng.integers(0, 5, size=120)])
    Y = X[:, 1:] * [1.0, -2.0] + rng.normal(size=(120, 2))
    X[rng.uniform(size=120) < 0.3, 0] = np.nan
    Y[np.isnan(X[:, 0])] += [4.0, 0.0]
    layout = plain_layout(np.array([1])) | {
        "indicators": np.array([[1, 0], [1, -2]]),
        "few": np.array([0]),
        "gaps": True,
    }
    encoder, single = Encoder(delay, 2, own_gaps=True), Encoder(delay)
    state, singles = encoder.start(layout, 2), [single.start(layout, 2) for _ in Y.T]
    for rows in (slice(0, 50), slice(50, 51), slice(51, 120)):
        Z = encoder.learn(state, X[rows], Y[rows])
        one, other = (
            single.learn(known, X[rows], y[rows]) for known, y in zip(singles, Y.T, strict=True)
        )
        assert Z.shape[1] == encoder.width(layout, 2) == 9
        others = one[:, :5], other[:, [1, 4]], one[:, 5:], other[:, 5:]
        assert_array_equal(Z, np.hstack(others))
    assert np.abs(Z[:, 4]).max() > 1.0 > np.abs(Z[:, 6]).max()
    assert np.ptp(Z[:, 7]) > 1.0


@pytest.mark.parametrize("delay", [0, 3, 12])
def test_what_columns_say_of_a_forgotten_target_is_in_its_new_unit(delay):
    rng = np.random.default_rng(delay)
    X = rng.integers(0, 4, size=(90, 2)).astype(float)
    y = X.sum(axis=1) + 0.1 * rng.normal(size=90)
    layout = plain_layout(np.array([1])) | {"few": np.array([0])}
    encoder, single = Encoder(delay, 2), Encoder(delay)
    state, fresh = encoder.start(layout, 2), single.start(layout, 2)
    encoder.learn(state, X[:40], np.column_stack([y[:40], 1e9 * y[:40]]))
    encoder.forget_target(state, 1, y[39:31:-1])
    # as one that has seen no row, and for which rows wait that are like the latest ones
    waiting = np.append(np.full(max(delay - 8, 0), y[32:40].mean()), y[40 - min(delay, 8) : 40])
    single.learn(fresh, X[40 - delay : 40], waiting)
    Z = encoder.learn(state, X[40:], np.column_stack([y[40:]] * 2))
    expected = single.learn(fresh, X[40:], y[40:])
    assert_array_equal(Z[:, [-3, -1]], expected[:, [1, -1]])
    assert np.ptp(expected[:, -1]) > 1.0


def test_what_comes_in_and_what_comes_out():
    pd = pytest.importorskip("pandas")
    X, Y = stream(120)
    frame = pd.DataFrame(X, columns=list("abc")).assign(d=pd.Categorical(["u", "v"] * 60))
    frame.loc[::7, "a"] = np.nan
    model = model_of(label_delay=1)
    forecasts = model.prequential_predict(frame, pd.DataFrame(Y, columns=list("xyz")))
    assert forecasts.shape == (120, 3)
    assert model.predict(frame[:2], ahead=True).shape == (2, 3)
    values, std = model.predict(frame[:4], return_std=True)
    assert values.shape == std.shape == (4, 3)
    intervals = model.predict_interval(frame[:4], 0.8)
    assert_allclose(intervals.mean(axis=-1), values)
    n = len(pd.DataFrame(model.experts_).query("target == 1"))
    assert model.weights_.shape == model.expert_losses_.shape == (3, n)
    assert model.predict_experts(frame[:4]).shape == (4, n, 3)
    assert "of 3 targets are" in " ".join(model.summary().split())
    pytest.importorskip("matplotlib")
    (bars,) = ExpertWeightsDisplay.from_estimator(model).bars_
    assert_allclose([bar.get_height() for bar in bars], model.weights_.mean(axis=0))
    for other, sentence in ((Y[:, :2], "started with targets of shape"), (Y[:, 0], "same shape")):
        with pytest.raises(ValueError, match=sentence):
            model.partial_fit(frame, other)
    gap = np.where(np.arange(3) == 1, np.nan, Y)
    with pytest.raises(ValueError, match="has some of its targets"):
        model.partial_fit(frame, gap)
    assert model.n_samples_seen_ == 120


def test_a_column_of_one_target_is_that_target():
    X, Y = stream(120)
    column, flat = model_of(), model_of()
    expected = flat.prequential_predict(X, Y[:, 0])
    assert_array_equal(column.prequential_predict(X, Y[:, :1]), expected[:, None])
    assert_array_equal(column.predict_interval(X)[:, 0], flat.predict_interval(X))
    assert_array_equal(column.weights_, flat.weights_[None])
    apart = MultiOutputRegressor(model_of()).fit(X, Y[:, :2])
    assert_array_equal(apart.predict(X)[:, 0], flat.predict(X))


@pytest.mark.long
def test_intervals_hold_each_target():
    X, Y = stream(900)
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X[:100], Y[:100])
    held = np.zeros(3)
    for low in range(100, 900, 40):
        rows = slice(low, low + 40)
        low_ends, high_ends = np.moveaxis(model.predict_interval(X[rows], 0.8), -1, 0)
        held += ((low_ends <= Y[rows]) & (Y[rows] <= high_ends)).sum(axis=0)
        model.partial_fit(X[rows], Y[rows])
    assert_allclose(held / 800, 0.8, atol=0.06)
