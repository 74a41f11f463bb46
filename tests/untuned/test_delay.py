"""Late labels: rounds are forecast by what was known before the labels that were out."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor, from_bytes, to_bytes
from sklearn_okl.untuned import Constants
from sklearn_okl.untuned.rounds import _model


def stream(surprise, n=210):
    """Return a stream with something that makes the model start anew, move or be born into."""
    rng = np.random.default_rng(len(surprise))
    X = rng.normal(size=(n, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)
    if surprise == "first targets alike":
        y[:100] = 3.0
    if surprise == "faulty start":
        y[0] = 1e6
    if surprise == "faulty":
        y[[40, 150, 151]] = 1e4, -1e5, 1e3
    if surprise == "new level":
        y[140:] += 1e3
    if surprise == "new unit":
        y[140:] *= 100.0
    if surprise == "walk":
        y = y.cumsum()
    return X, y


def model_of(delay, **arguments):
    return OnlineKernelRegressor(budget="fast", label_delay=delay, random_state=0, **arguments)


def queue(model, X, y):
    """Return the forecasts of a loop in which every label comes `label_delay` rounds late."""
    delay = model.label_delay
    forecasts = np.zeros(len(y))
    for t in range(delay + 1, len(y)):
        row = slice(t - 1 - delay, t - delay)
        model.partial_fit(X[row], y[row])
        forecasts[t] = model.predict(X[t : t + 1])[0]
    return forecasts


CASES = [
    ("births", 1),
    ("faulty", 1),
    ("first targets alike", 23),
    ("faulty start", 23),
    ("new level", 23),
    ("new unit", 23),
    ("walk", 23),
    ("births", 90),
    ("faulty start", 90),
    ("new level", 90),
]


@pytest.mark.long(every=50)
@pytest.mark.parametrize(("surprise", "delay"), CASES)
def test_forecasts_are_those_of_a_queue(surprise, delay, monkeypatch):
    # with a fresh start, a new level or new experts while labels are out
    constants = Constants(births=(70, 100), burn_in=40)
    monkeypatch.setattr(_model.DefaultModel, "constants", constants)
    X, y = stream(surprise)
    whole, cut = model_of(delay), model_of(delay)
    expected = queue(model_of(delay), X, y)
    ends = [0, 1, 2, 30, 31, 64, 66, 99, 100, 128, 141, 195, len(y)]
    parts = [cut.prequential_predict(X[a:b], y[a:b]) for a, b in pairwise(ends)]
    scale = np.abs(expected).max()
    for forecasts in (whole.prequential_predict(X, y), np.concatenate(parts)):
        assert_allclose(forecasts, expected, rtol=1e-8, atol=1e-8 * scale)
    assert_allclose(cut.predict(X), whole.predict(X), rtol=1e-8, atol=1e-8 * scale)


def quantiles_of_queue(model, X, y, levels, first, last):
    """Return those of rows `first`, ..., each said when labels are known up to the delay."""
    delay, said = model.label_delay, []
    model.partial_fit(X[: first - delay], y[: first - delay])
    for t in range(first, last):
        said.append(model.predict_quantiles(X[t : t + 1], levels)[0])
        model.partial_fit(X[t - delay : t - delay + 1], y[t - delay : t - delay + 1])
    return np.array(said)


@pytest.mark.parametrize("budget", ["fast", "balanced"])
@pytest.mark.parametrize("spread", ["running", "rows"])
def test_quantiles_are_those_that_were_said_before_a_start_anew(budget, spread):
    # after row 64 it turns out that rows have no order
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 2] + 0.1 * rng.normal(size=80)
    model = OnlineKernelRegressor(budget=budget, spread=spread, label_delay=6, random_state=0)
    found = clone(model).prequential_quantiles(X, y, [0.1, 0.5, 0.9])
    expected = quantiles_of_queue(clone(model), X, y, [0.1, 0.5, 0.9], 63, 72)
    assert_allclose(found[63:72], expected, rtol=1e-8)


@pytest.mark.long(every=20)
@pytest.mark.parametrize("spread", ["running", "rows"])
@pytest.mark.parametrize(
    ("surprise", "delay"),
    [("first targets alike", 23), ("faulty start", 23), ("births", 90), ("new unit", 23)],
)
def test_quantiles_are_those_of_a_queue(surprise, delay, spread):
    X, y = stream(surprise)
    model = model_of(delay, spread=spread)
    found = clone(model).prequential_quantiles(X, y, [0.1, 0.9])
    expected = quantiles_of_queue(clone(model), X, y, [0.1, 0.9], delay + 1, len(y))
    scale = np.abs(expected[np.isfinite(expected)]).max()
    assert_allclose(found[delay + 1 :], expected, rtol=1e-7, atol=1e-8 * scale)


def test_rows_that_are_out_are_forecast_by_the_trial_before():
    # in row 416 another model begins, in place of one that is heard
    rng, delay = np.random.default_rng(3), 5
    X = rng.normal(size=(470, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 2] + 0.1 * rng.normal(size=470) + 1.0
    y[400:] *= 0.02
    model = model_of(delay).partial_fit(X[:410], y[:410])
    X, y = X[410:430], y[410:430]
    whole = pickle.loads(pickle.dumps(model))
    expected = whole.prequential_predict(X, y)
    for t in range(9):
        row = slice(t + delay, t + delay + 1)
        assert model.predict(X[row])[0] == pytest.approx(expected[row][0], rel=1e-9)
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    assert model._state["anew"]["former"]
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.prequential_predict(X[9:], y[9:]), expected[9:], rtol=1e-9)
    assert not again._state["anew"]["former"]
    assert_allclose(again.predict(X), whole.predict(X), rtol=1e-9)


@pytest.mark.long(every=20)
@pytest.mark.parametrize("spread", ["running", "rows"])
@pytest.mark.parametrize(
    ("case", "delay", "first"),
    [("another trial", 5, 410), ("trial that is lost", 5, 505), ("new order", 40, 185)],
)
def test_trials_that_end_change_nothing_that_was_said(case, delay, first, spread):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 2] + 0.1 * rng.normal(size=600) + 1.0
    if case == "another trial":
        y[300:] *= -1.0
        y[400:] *= 0.02
    if case == "trial that is lost":
        y[300:360] *= -1.0
    last = first + delay + 20
    model = model_of(delay, spread=spread)
    forecasts = clone(model).prequential_predict(X[:last], y[:last])
    found = clone(model).prequential_quantiles(X[:last], y[:last], [0.1, 0.9])
    asked = clone(model).partial_fit(X[: first - delay], y[: first - delay])
    for t in range(first, last):
        if t == first + delay + 8:  # a file of a model that keeps what was heard
            asked = from_bytes(to_bytes(asked))
        assert asked.predict(X[t : t + 1])[0] == pytest.approx(forecasts[t], rel=1e-8)
        asked.partial_fit(X[t - delay : t - delay + 1], y[t - delay : t - delay + 1])
    expected = quantiles_of_queue(clone(model), X, y, [0.1, 0.9], first, last)
    assert_allclose(found[first:], expected, rtol=1e-7, atol=1e-8)


def size_but_for_past(model):
    """Return the bytes of a model, but for the latest rows, of which 2048 are kept at most.

    And but for trees, and the rows that they will be tried on or grown from.
    """
    state = model._state
    past = *state["anew"]["rows"].rows, *state["near"]["past"].rows
    trees = pickle.dumps(state["leaves"])
    return len(pickle.dumps(model)) - sum(part.nbytes for part in past) - len(trees)


@pytest.mark.long(every=3)
@pytest.mark.parametrize(("seed", "delay"), [(0, 33), (1, 20), (3, 19)])
def test_first_rows_may_be_cut_anywhere_where_all_experts_say_the_same(seed, delay):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 2))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.3 * rng.normal(size=90)
    y += 4.0 * (rng.uniform(size=90) < 0.05)
    model = OnlineKernelRegressor(budget="balanced", label_delay=delay, random_state=seed)
    expected = clone(model).prequential_predict(X, y)
    for cut in (5, 9, 17):
        parts = clone(model)
        found = [parts.prequential_predict(X[:cut], y[:cut])]
        found.append(parts.prequential_predict(X[cut:], y[cut:]))
        assert_allclose(np.concatenate(found), expected, rtol=1e-7, atol=1e-7)


def test_the_state_holds_what_the_rows_that_are_out_need():
    X, y = stream("none")
    sizes = {}
    for delay in (0, 20, 40):
        model = model_of(delay).set_params(lags=0).fit(X, y).partial_fit(X, y)
        sizes[delay] = size_but_for_past(model)
        grown = size_but_for_past(model.partial_fit(X, y))
        assert abs(grown - sizes[delay]) < 8000  # blocks of rows are filled, and emptied
    coefficients = sum(
        bank["experts"]["theta"].nbytes for bank in model._state["banks"].values()
    )  # of all experts, once a round
    assert sizes[40] - sizes[20] == pytest.approx(sizes[20] - sizes[0], rel=0.02)
    assert sizes[40] - sizes[20] < 1.27 * 20 * coefficients


def test_rows_ahead_are_seen_as_they_will_be_taught():
    delay = 7
    X, y = stream("walk")
    model = model_of(delay).fit(X[:150], y[:150])
    ahead, taught = X[150 : 151 + delay], []
    expected = model._experts().inputs.look(model._state["inputs"], ahead, np.arange(delay, -1, -1))
    for t in range(150, 151 + delay):
        state = pickle.loads(pickle.dumps(model._state))
        u = model.constants.fence.scaled(state["targets"], y[t : t + 1, None])
        taught.append(model._experts().inputs.learn(state["inputs"], X[t : t + 1], u))
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    for name in ("inputs", "steady", "walks"):
        assert_allclose(
            np.vstack([getattr(seen, name) for seen in taught]), getattr(expected, name)
        )
    model = model_of(delay).fit(X[:150], y[:150])
    forecasts = model.predict(ahead, ahead=True)
    assert_allclose(forecasts[-1], model.predict(ahead[-1:])[0])  # the row that is due
    intervals = model.predict_interval(ahead, ahead=True)
    assert_allclose(intervals.mean(axis=1), forecasts)
    with pytest.raises(ValueError, match="at most label_delay"):
        model.predict(X[:9], ahead=True)


def odd_rows(seed, n=300):
    """Return rows with another unit from the middle on, levels, lonely far cells and gaps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[n // 2 :, 0] *= 1000.0
    X[:, 1] += 200.0 * (np.arange(n) // 70 % 2)
    X[rng.uniform(size=X.shape) < 0.03] = 1e4
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    return X, np.nan_to_num(X[:, 2]).clip(-3.0, 3.0) + 0.1 * rng.normal(size=n)


def rare_classes(seed, n=160):
    """Return codes of many categories, and classes, one of which is rare."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 60, size=(n, 1)).astype(float)
    return codes, np.where(rng.uniform(size=n) < 0.02, 2, rng.integers(0, 2, size=n))


@pytest.mark.long
@pytest.mark.parametrize(
    ("seed", "delay", "budget"), [(0, 1, "fast"), (1, 5, "tiny"), (2, 23, "fast"), (3, 80, "tiny")]
)
def test_cells_that_are_far_off_are_told_by_rows_whose_labels_are_known(seed, delay, budget):
    X, y = odd_rows(seed)
    model = OnlineKernelRegressor(budget=budget, label_delay=delay, random_state=0)
    found = clone(model).prequential_predict(X, y)
    for t in range(len(y) - delay):
        if t:
            ahead = model.predict(X[t : t + delay + 1], ahead=True)[-1]
            asked = model.predict(X[t + delay : t + delay + 1])[0]
            assert_allclose([ahead, asked], found[t + delay], rtol=1e-8, atol=1e-8)
        model.partial_fit(X[t : t + 1], y[t : t + 1])


@pytest.mark.long(every=50)
@pytest.mark.parametrize(("seed", "delay"), [(0, 30), (1, 12)])
def test_rare_classes_of_a_category_are_told_by_rows_whose_labels_are_known(seed, delay):
    X, y = rare_classes(seed)
    model = OnlineKernelClassifier(
        budget="tiny", label_delay=delay, categorical_features=[0], random_state=0
    )
    found = clone(model).prequential_predict_proba(X, y, classes=[0, 1, 2])
    for t in range(len(y) - delay):
        if t:
            ahead = model.predict_proba(X[t : t + delay + 1], ahead=True)[-1]
            assert_allclose(ahead, found[t + delay], rtol=1e-8, atol=1e-9)
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1, 2])


def test_a_classifier_knows_rows_ahead():
    X, y = stream("walk")
    model = OnlineKernelClassifier(budget="fast", label_delay=3, random_state=0)
    model.fit(X[:150], y[:150] > np.median(y))
    values = model.decision_function(X[150:154], ahead=True)
    assert_array_equal(model.predict(X[150:154], ahead=True), values > 0.0)
    probabilities = model.predict_proba(X[150:154], ahead=True)
    assert_allclose(probabilities[:, 1], expit(values))
    with pytest.raises(ValueError, match="at most label_delay"):
        model.predict_proba(X[:5], ahead=True)


@pytest.mark.long
@pytest.mark.parametrize(
    "budget", ["tiny", "fast", pytest.param("balanced", marks=pytest.mark.long)]
)
@pytest.mark.parametrize(
    ("make", "delay"),
    [(OnlineKernelRegressor, 5), pytest.param(OnlineKernelClassifier, 1, marks=pytest.mark.long)],
)
def test_files_while_targets_are_late(make, delay, budget):
    rng = np.random.default_rng(delay)
    X = rng.normal(size=(140, 3))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=140)
    y = y > 0.0 if make is OnlineKernelClassifier else y
    model = make(label_delay=delay, budget=budget, random_state=0)
    for low in range(0, 140, 20):  # over looks at quantiles, which take effect late
        model.partial_fit(X[low : low + 20], y[low : low + 20])
        model = from_bytes(to_bytes(model))
    whole = make(label_delay=delay, budget=budget, random_state=0).partial_fit(X, y)
    assert_allclose(model.predict(X[:9]), whole.predict(X[:9]), rtol=1e-9)


@pytest.mark.long(every=4)
@pytest.mark.parametrize("n", [1, 4, 12, 40])
@pytest.mark.parametrize("budget", ["fast", "tiny"])
def test_files_while_gaps_of_a_text_column_wait(budget, n):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(n)
    texts = rng.choice(np.array(["a", "b", None], dtype=object), size=n + 9)
    texts[0] = None
    X = pd.DataFrame({"text": texts, "number": rng.normal(size=n + 9)})
    y = (X["text"] == "a") + X["number"].to_numpy()
    model = OnlineKernelRegressor(budget=budget, label_delay=20, random_state=0).fit(X[:n], y[:n])
    again = from_bytes(to_bytes(model))
    expected = model.prequential_predict(X[n:], y[n:])
    assert_allclose(again.prequential_predict(X[n:], y[n:]), expected, rtol=1e-9)
