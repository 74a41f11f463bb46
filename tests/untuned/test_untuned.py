"""The estimators without tuning: units, drift, memory, intervals, what they say of themselves."""

import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import lfilter
from sklearn.base import clone

from benchmarks.default_streams import halves
from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor, VAWRegressor
from sklearn_okl.conformal import _running_errors
from sklearn_okl.datasets import make_ar4, make_friedman_stream
from sklearn_okl.evaluation import ExpertWeightsDisplay, prequential
from sklearn_okl.untuned import Constants, RunningUnits, TargetFence
from sklearn_okl.untuned._constants import BUDGETS
from sklearn_okl.untuned.rows._inputs import LaggedInputs
from tests.oracles import default as oracle


def fast(**arguments):
    return OnlineKernelRegressor(**{"budget": "fast", "random_state": 0} | arguments)


@pytest.fixture(scope="module")
def friedman():
    return make_friedman_stream(700, n_features=5, random_state=0)


@pytest.fixture(scope="module")
def taught(friedman):
    return fast().fit(*friedman)


@pytest.mark.long(every=2)
@pytest.mark.parametrize(
    ("factors", "factor", "shift"),
    [
        (2.0 ** np.arange(-20, 21, 10), 2.0**-30, 0.0),
        (10.0 ** np.arange(-6, 7, 3), 1e5, 0.0),
        (np.ones(5), 1e150, 0.0),
        (np.ones(5), 1e-150, 0.0),
        (np.ones(5), 1.0, 1e6),
    ],
)
def test_units_do_not_matter(friedman, factors, factor, shift):
    X, y = friedman
    plain, other = fast(), fast()
    expected = plain.prequential_predict(X, y)[1:]
    forecasts = other.prequential_predict(X * factors, factor * y + shift)[1:]
    assert_allclose((forecasts - shift) / factor, expected, rtol=1e-6)
    assert_allclose(other.predict(X * factors), factor * plain.predict(X) + shift, rtol=1e-6)
    _, std = plain.predict(X, return_std=True)
    assert_allclose(other.predict(X * factors, return_std=True)[1], factor * std, rtol=1e-6)
    widths = [np.ptp(m.predict_interval(Z)[0]) for m, Z in ((plain, X), (other, X * factors))]
    assert_allclose(widths[1], factor * widths[0], rtol=1e-6)
    if abs(factor) < 1e100:
        losses = other.expert_losses_ / factor**2
        assert_allclose(losses, plain.expert_losses_, rtol=1e-6)
        assert_allclose(other.weights_, plain.weights_, rtol=1e-4, atol=1e-9)


@pytest.mark.long(every=5)
@pytest.mark.parametrize(
    ("arguments", "seed"),
    [
        ({}, 0),
        ({"budget": 6, "forgetting": 0.97}, 1),
        ({"budget": "balanced"}, 2),
        ({"label_delay": 1}, 3),
        ({"label_delay": 23, "lags": 0}, 4),
        ({"label_delay": 40, "lags": 6}, 5),
        ({"label_delay": 9, "budget": "balanced"}, 3),  # ranks, too
        ({"label_delay": 23, "budget": "balanced"}, 0),  # all say the same until walks wake
    ],
)
def test_oracle(arguments, seed):
    X, y = make_friedman_stream(127, n_features=5, random_state=seed)
    X, y = 100 * X - 7, 50 * y + 1000
    # in the first rows kernels see lags, and then these turn out to have no order
    parts = [fast(random_state=seed, **arguments) for _ in range(2)]
    forecasts = parts[0].prequential_predict(X, y)
    parts[1].fit(X[:63], y[:63])
    n_first = 64 + parts[0].label_delay
    rest, first = (oracle.of_model(model, X, y) for model in parts)
    expected = np.concatenate([first[:n_first], rest[n_first:]])
    assert_allclose(forecasts, expected, rtol=1e-8)
    has_lags = parts[0].lags > 0 and n_first < 100
    assert np.allclose(first[n_first:], rest[n_first:]) != has_lags


@pytest.mark.long(every=3)
@pytest.mark.parametrize("seed", range(6))
def test_the_cut_is_invisible_in_the_first_rows(seed):
    # where all forecasts agree but for rounding, nobody may be weighed by it
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=90)
    whole = fast().prequential_predict(X, y)
    for cut in (1, 2, 3):
        model = fast()
        first = model.prequential_predict(X[:cut], y[:cut])
        rest = model.prequential_predict(X[cut:], y[cut:])
        assert_allclose(np.append(first, rest), whole, rtol=1e-8, atol=1e-8)


@pytest.mark.long
def test_first_targets_that_are_alike_do_no_harm():
    # the scale of the targets is next to nothing then, and the third one is far off in it
    losses = []
    for seed in range(5):  # what trees are there is in part chance
        X, y = make_friedman_stream(1500, n_features=5, random_state=seed)
        alike = y.copy()
        alike[0] = y[1] + 1e-3
        forecasts = [fast().prequential_predict(X, z) for z in (y, alike)]
        losses.append([np.mean((F - y)[500:] ** 2) for F in forecasts])
    of_alike = np.divide(*np.transpose(losses)[::-1])
    assert of_alike.max() < 1.1
    assert np.exp(np.log(of_alike).mean()) < 1.03


@pytest.mark.long
def test_no_look_ahead(friedman):
    X, y = friedman
    forecasts = fast().prequential_predict(X, y)
    for t in (0, 1, 40, 520, 699):
        other_X, other_y = X.copy(), y.copy()
        other_y[t:] = 1e4
        other_X[t + 1 :] = -1e4
        assert_allclose(fast().prequential_predict(other_X, other_y)[: t + 1], forecasts[: t + 1])
    assert forecasts[0] == 0.0  # nothing is known before the first row


def test_the_cut_is_invisible_across_births(friedman):
    X, y = friedman
    expected = fast().prequential_predict(X, y)
    model, low, parts = fast(), 0, []
    for high in (1, 2, 300, 511, 512, 513, 700):
        parts.append(model.prequential_predict(X[low:high], y[low:high]))
        low = high
    assert_allclose(np.concatenate(parts), expected, rtol=1e-8)
    assert len(model.experts_["kernel"]) > len(fast().fit(X[:511], y[:511]).experts_["kernel"])


CHANGES = {
    "x 1000": lambda x: 1e3 * x,
    "/ 1000": lambda x: 1e-3 * x,
    "x 30": lambda x: 30.0 * x,
    "Fahrenheit": lambda x: 1.8 * x + 32.0,
}


def late_loss(X, y):
    return np.mean((fast().prequential_predict(X, y)[3000:] - y[3000:]) ** 2)


@pytest.fixture(scope="module")
def of_one_unit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=4000)
    return X, y, late_loss(X, y)


@pytest.mark.long
@pytest.mark.parametrize("unit", CHANGES)
def test_a_column_that_changes_its_unit(unit, of_one_unit):
    X, y, loss = of_one_unit
    broken = X.copy()
    broken[2500:, 0] = CHANGES[unit](broken[2500:, 0])
    assert late_loss(broken, y) < 1.5 * loss


@pytest.mark.long
def test_lines_through_inputs_that_grow_or_wander():
    # what moving units did: four times the variance of the noise and more
    rng = np.random.default_rng(0)
    noise = rng.normal(size=1200)
    walk, trend = rng.normal(size=1200).cumsum(), 0.05 * np.arange(1200)
    for column in (walk, trend, 1e6 - 3.0 * trend):
        y = 2.0 * column + noise
        forecasts = fast(lags=0).prequential_predict(column[:, None], y)
        assert np.mean((forecasts - y)[300:] ** 2) < 1.15


@pytest.mark.parametrize(("budget", "seed"), [("fast", 0), ("balanced", 1)])
def test_a_line_goes_on_through_an_input_that_grows_faster_and_faster(budget, seed):
    noise = 0.1 * np.random.default_rng(seed).normal(size=1300)
    column = np.exp(np.arange(1300) / 150.0)
    model = OnlineKernelRegressor(budget=budget, lags=0, random_state=seed)
    errors = model.prequential_predict(column[:, None], 2.0 * column + noise) - 2.0 * column - noise
    assert np.abs(errors[100:]).max() < 1.0


@pytest.mark.long(every=4)
@pytest.mark.parametrize("level", [6.0, 12.0, -15.0])
@pytest.mark.parametrize(("budget", "seed"), [("tiny", 0), ("fast", 1), ("fast", 2)])
def test_a_line_goes_on_at_a_new_level(budget, seed, level):
    rng = np.random.default_rng(seed)
    X, noise = rng.normal(size=(1000, 1)), 0.1 * rng.normal(size=1000)
    X[720:] += level
    y = 2.0 * X[:, 0] + noise
    errors = fast(budget=budget).prequential_predict(X, y) - y
    # the whole step, 2 |level|, once the level had told of another unit
    assert np.abs(errors[752:]).max() < 0.16 * abs(level)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("level", [12.0, 20.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_level_that_says_nothing_of_the_target_costs_no_more_than_a_line(seed, level):
    # as of a sensor that was moved: a line is shown the step, and has to unlearn it
    rng = np.random.default_rng(seed)
    X, noise = rng.normal(size=(1000, 3)), 0.1 * rng.normal(size=1000)
    y = X @ [1.0, 0.5, -0.5] + noise
    X[620:, 0] += level
    ours, line = (
        np.square(model.prequential_predict(X, y) - y) for model in (fast(), VAWRegressor())
    )
    assert ours[700:].mean() < 0.1 * line[700:].mean()


@pytest.mark.parametrize("unit", ["x 1000", "/ 1000", "x 30"])
def test_steady_units_are_translated_where_a_column_changes_its_unit(unit):
    X = np.random.default_rng(1).normal(size=(900, 2)) @ [[1.0, 0.5], [0.0, 1.0]] + 3.0
    changed = X.copy()
    changed[640:, 0] = CHANGES[unit](X[640:, 0])
    inputs = LaggedInputs(0)
    expected, steady = (
        inputs.learn(inputs.start(2), Z, np.zeros(900)).steady for Z in (X, changed)
    )
    assert_allclose(steady[:640], expected[:640])
    assert_allclose(steady[:, 1], expected[:, 1])
    # by moments of 32 rows
    assert np.abs(steady - expected)[704:].max() < 0.15 * np.ptp(expected[:, 0])


def test_constant_columns_and_heavy_tails():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 1] = 1e8
    X[:, 3] = 0.1
    y = X[:, 0]
    inputs = LaggedInputs(2)
    U, *_ = inputs.learn(inputs.start(4), X, y - y[0])
    assert_array_equal(U[:, [1, 3]], 0.0)
    without = fast().prequential_predict(X[:, [0, 2]], y)
    assert (
        np.mean((fast().prequential_predict(X, y) - y)[50:] ** 2)
        < 0.05
        > np.mean((without - y)[50:] ** 2)
    )
    X[:, 2] = rng.standard_cauchy(300) ** 3
    forecasts = fast().prequential_predict(X, y)
    assert np.isfinite(forecasts).all()
    assert np.mean((forecasts - y)[50:] ** 2) < 0.1


@pytest.mark.long(every=50)
@pytest.mark.parametrize(("row", "value"), [(5, 1e4), (40, -1e9), (300, 1e4), (600, 1e12)])
def test_a_faulty_value_does_not_blind_a_column(row, value):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=1500)
    faulty = X.copy()
    faulty[row, 0] = value
    losses = [np.mean((fast().prequential_predict(Z, y) - y)[900:] ** 2) for Z in (X, faulty)]
    assert losses[1] < 1.5 * losses[0]
    inputs = LaggedInputs(0)
    spreads = [inputs.learn(inputs.start(2), Z, y).steady[900:].std(axis=0) for Z in (X, faulty)]
    assert_allclose(spreads[1], spreads[0], rtol=0.5)


@pytest.mark.long
def test_births_are_of_new_kernels():
    X, y = make_friedman_stream(2300, n_features=5, random_state=0)
    table = OnlineKernelRegressor(random_state=0).fit(X, y).experts_
    names = ("kernel", "bandwidth", "lags", "alpha", "forgetting", "ranks", "pairs", "learnt")
    kernels = list(zip(*(table[name] for name in (*names, "n_rounds")), strict=True))
    lasting = [k for k in kernels if not np.isnan(k[1]) and k[4] == 1.0]
    assert len(set(lasting)) == len(lasting)
    assert {k[-1] for k in lasting} == {2300, 2300 - 512, 2300 - 2048}
    assert all(k[7] == (k[-1] < 2300) for k in lasting)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("make", [OnlineKernelRegressor, OnlineKernelClassifier])
def test_without_lags_the_model_is_a_function_of_its_rows(make, friedman):
    # what its experts see is the same whatever the targets were: these matter by learning only
    X, y = friedman
    seen = []
    for targets in (y, y[::-1], np.roll(y, 1)):
        model = make(budget="fast", lags=0, random_state=0)
        labels = targets if make is OnlineKernelRegressor else targets > np.median(y)
        model.fit(X, labels)
        assert not model.experts_["lags"].any()
        U, *_ = model._experts().inputs.look(model._state["inputs"], X)
        assert U.shape == X.shape
        seen.append(U)
    assert_array_equal(seen[0], seen[1])
    assert_array_equal(seen[0], seen[2])
    with pytest.raises(ValueError, match="lags"):
        make(lags=-1).fit(X, labels)


@pytest.mark.long(every=2)
@pytest.mark.parametrize(("delay", "least", "most"), [(0, 0.0, 0.7), (30, 1.2, np.inf)])
def test_lags_help_where_labels_come_at_once(delay, least, most):
    # what the guide says: disturbances that last, labels at once or 30 rows late
    rng = np.random.default_rng(0)
    X, shocks = rng.normal(size=(700, 3)), 0.6 * rng.normal(size=700)
    y = 2 * np.sin(2 * X[:, 0]) + X[:, 1] + lfilter([1.0], [1.0, -0.9], shocks)
    losses = [
        prequential(fast(lags=lags), X, y, delay=delay).losses[300:].mean() for lags in (4, 0)
    ]
    assert least * losses[1] < losses[0] < most * losses[1]


def test_lags_are_the_latest_targets():
    y = np.random.default_rng(0).normal(size=30)
    inputs = LaggedInputs(3)
    state = inputs.start(1)
    U, *_ = inputs.learn(state, np.zeros((30, 1)), y - y[0])
    past = y[:20] - y[0]
    expected = (past[[19, 18, 17]] - past.mean()) / past.std()
    assert_allclose(U[20, 1:], expected)
    following, *_ = inputs.look(state, np.zeros((2, 1)))
    past = y - y[0]
    assert_allclose(following[1, 1:], (past[[29, 28, 27]] - past.mean()) / past.std())


@pytest.mark.parametrize("make", [fast, lambda: fast(forgetting=0.99, budget=6)])
def test_few_rows(make):
    model = make().fit([[1.0, 2.0]], [3.0])
    assert_array_equal(model.predict([[1.0, 2.0], [0.0, 0.0]]), [3.0, 3.0])
    assert_array_equal(model.predict_interval([[1.0, 2.0]]), [[-np.inf, np.inf]])
    assert isinstance(model.summary(), str)
    for t in range(3):  # fewer rows than lags
        model.partial_fit([[t, -t]], [t])
        assert np.isfinite(model.predict([[5.0, 5.0]])).all()
    constant = make().fit(np.ones((20, 2)), np.full(20, 7.0))
    assert_array_equal(constant.predict(np.zeros((1, 2))), [7.0])
    assert_array_equal(constant.predict_interval(np.zeros((1, 2))), [[7.0, 7.0]])


def test_forecasts_stay_in_the_range_of_the_past(taught, friedman):
    X, y = friedman
    margin = 0.1 * np.ptp(y)
    forecasts = taught.predict(100 * X - 50)
    assert forecasts.min() >= y.min() - margin - 1e-9
    assert forecasts.max() <= y.max() + margin + 1e-9


@pytest.mark.long
def test_memory_is_constant():
    X, y = make_ar4(8400)
    model, sizes, of_trees = fast(lags=0), [], []  # which no order is asked of
    # 1024 rows are kept; those of trees, and 2112 that may be neighbours, are counted apart
    for low, high in ((0, 1100), (1100, 4000), (4000, 8300), (8300, 8400)):
        model.partial_fit(X[low:high], y[low:high])
        of_trees.append(len(pickle.dumps([model._state[name] for name in ("leaves", "near")])))
        sizes.append(len(pickle.dumps(model)) - of_trees[-1])
    # room for the kernels to be born is there from the start; their names come later
    assert max(sizes) - min(sizes) < 0.01 * sizes[0]
    assert sizes[-1] + of_trees[-1] - sizes[-2] - of_trees[-2] < 64
    assert max(of_trees) < 430_000  # 2048 rows of each kind, for a trial, and as neighbours


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("drift", "n_features"), [("jump", 10), ("rotation", 5)])
def test_drift_and_the_first_rows(drift, n_features, full_size):
    n = 2400 if full_size else 1400
    for d in (10, 5) if full_size else (n_features,):
        X, y = make_friedman_stream(n, n_features=d, drift=drift, random_state=3)
        found = halves(X, y)
        for half in (0, 1):
            assert found["default"][half] <= 1.1 * min(found["fixed"][half], found["VAW²"][half])


def test_intervals(taught, friedman):
    X = friedman[0]
    narrow, wide = (taught.predict_interval(X[:5], c) for c in (0.5, 0.95))
    assert (wide[:, 0] < narrow[:, 0]).all()
    assert_allclose(narrow.mean(axis=1), taught.predict(X[:5]))
    forecasts, std = taught.predict(X[:5], return_std=True)
    assert_array_equal(forecasts, taught.predict(X[:5]))
    assert 0.5 < std[0] < 3.0  # the noise is 1
    assert std.min() == std.max()
    levels = taught.predict_interval(X[:5], [0.5, 0.95])
    assert_array_equal(levels, np.stack([narrow, wide], axis=1))
    for coverage in (0.0, 1.0, 0.995, [0.5, 1.0]):
        with pytest.raises(ValueError, match="coverage"):
            taught.predict_interval(X, coverage)
    for coverage in ("wide", None, [], [[0.5]], ["0.5"]):
        with pytest.raises(TypeError, match="number"):
            taught.predict_interval(X, coverage)


def test_intervals_are_finite_from_the_third_row_on(friedman):
    X, y = friedman
    for n in (2, 3, 10):
        intervals = fast().fit(X[:n], y[:n]).predict_interval(X, [0.01, 0.9, 0.99])
        assert np.isfinite(intervals).all()


@pytest.mark.long
def test_coverage_is_that_of_the_progressive_intervals(friedman):
    X, y = friedman[0][:120], friedman[1][:120]
    model, held = fast().fit(X[:3], y[:3]), 0
    state = _running_errors.start()
    errors = y - fast().prequential_predict(X, y)
    _running_errors.learn(state, errors[1:3])
    expected = _running_errors.learn(state, errors[3:])[79]
    for t in range(3, 120):
        low, high = model.predict_interval(X[t : t + 1], coverage=0.8)[0]
        held += low <= y[t] <= high
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    assert abs(held - expected) <= 2  # issued are levels that rise, judged each coverage's own
    assert abs(held / 117 - 0.8) < 0.1


def test_experts_are_a_table(taught, friedman):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(taught.experts_)
    names = ["kernel", "bandwidth", "lags", "alpha", "forgetting", "ranks", "pairs", "learnt"]
    names += ["trees", "whole"]
    assert set(table.columns) == {"name", *names, "weight", "mean_loss", "n_rounds"}
    assert table["name"].is_unique
    assert_allclose(table["weight"].sum(), 1.0)
    assert (table["n_rounds"] == 700).sum() + (table["n_rounds"] == 700 - 512).sum() == len(table)
    assert set(table["forgetting"]) == {1.0, 0.995}
    F = taught.predict_experts(friedman[0][:4])
    assert F.shape == (4, len(table))
    assert np.isfinite(F).all()
    assert len(taught.weights_) == len(taught.expert_losses_) == len(table)
    assert_allclose(taught.expert_losses_, table["mean_loss"] * table["n_rounds"])
    assert f"that of the best of {len(table)} experts" in taught.summary().replace("\n", " ")


def test_expert_losses_are_those_of_progressive_forecasts(friedman):
    X, y = friedman[0][:40], friedman[1][:40]
    model = fast().fit(X[:1], y[:1])
    losses = 0.0
    for t in range(1, 40):
        losses = losses + (model.predict_experts(X[t : t + 1])[0] - y[t]) ** 2
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_allclose(model.experts_["mean_loss"] * 40, losses, rtol=1e-8)


def test_summary(taught):
    text = taught.summary()
    assert max(map(len, text.splitlines())) <= 88
    text = text.replace("\n", " ")
    assert re.match(r"After 700 rows of 5 inputs the mean squared error of the progressive", text)
    share = taught.experts_["weight"][taught.experts_["lags"]].sum()
    assert f"hold {share:.0%} of the weight" in text
    assert text.count(".") >= 3
    assert "nan" not in text


def test_the_display_names_the_experts(taught, friedman):
    pytest.importorskip("matplotlib").use("agg")
    display = ExpertWeightsDisplay.from_estimator(taught)
    assert display.labels == taught.experts_["name"].tolist()
    assert "laplacian 0.5, alpha 0.1" in display.labels
    X, y = friedman
    # kernels are born on the way: the others keep their places
    display = ExpertWeightsDisplay.from_estimator(fast(), X, y, over_time=True, n_points=5)
    assert display.labels == taught.experts_["name"].tolist()
    (weights,) = display.weights.values()
    assert_allclose(weights[-1], taught.weights_)
    assert_allclose(weights.sum(axis=1), 1.0)


def test_classifier_probabilities_and_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
    model = OnlineKernelClassifier(budget="fast", random_state=0)
    forecasts = model.prequential_predict(X, y)
    assert np.mean(forecasts[300:] != y[300:]) < 0.15
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1.0)
    assert P.min() >= 0.0
    clear = np.abs(P[:, 1] - 0.5) > 1e-9
    assert_array_equal(model.predict(X)[clear], model.classes_[(P[clear, 1] > 0.5).astype(int)])
    assert "After 600 rows" in model.summary()
    assert not hasattr(model, "predict_interval")


def test_budgets_change_the_work():
    X, y = make_ar4(60)
    sizes = [
        len(pickle.dumps(OnlineKernelRegressor(budget=b, random_state=0).fit(X, y)))
        for b in ("fast", "balanced", "accurate")
    ]
    assert 4 * sizes[0] < sizes[1] < sizes[2] / 2
    for budget in ("tiny", "fast", "balanced", "accurate"):
        model = OnlineKernelRegressor(budget=budget, random_state=0)
        for d in (1, 4, 60, 130, 500, 3000):
            work = sum(shape.work * n for shape, _, n in model._experts().plan(d).values())
            assert work < 1.1 * BUDGETS[budget].work
    wide = np.random.default_rng(0).normal(size=(20, 600))
    assert np.isfinite(fast().fit(wide, wide[:, 0]).predict(wide)).all()


@pytest.mark.long
def test_constants_of_ones_own(friedman):
    X, y = friedman

    class Own(OnlineKernelRegressor):
        constants = Constants(
            bandwidths=(("rbf", (0.5,)), ("laplacian", (0.3,))),
            births=(100,),
            burn_in=50,
            units=RunningUnits(clip=1.0),
            fence=TargetFence(reach=1.0, cap=1.0),
        )

    model = Own(budget="fast", random_state=0).fit(X[:300], y[:300])
    table = model.experts_
    widths = table["bandwidth"][~np.isnan(table["bandwidth"])]
    refinement = Own.constants.refinement
    grid = [w * f for w in (0.5, 0.3) for f in (1.0, refinement, 1.0 / refinement)]
    assert np.isin(widths.round(6), np.round(grid, 6)).all()
    assert set(table["n_rounds"]) == {200, 300}
    seen = model._experts().inputs.look(model._state["inputs"], X)
    assert np.abs(seen.inputs).max() == 1.0
    assert model.n_faulty_ > 0 == fast().fit(X[:300], y[:300]).n_faulty_
    assert clone(model).constants is Own.constants
