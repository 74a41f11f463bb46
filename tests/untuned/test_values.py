"""Numbers of few values: one line sees which value each is, and finds what is a sum over these."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.preprocessing import OneHotEncoder

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.inspection import explain
from sklearn_okl.untuned._constants import BUDGETS
from sklearn_okl.untuned.experts._plan import WHOLE
from sklearn_okl.untuned.rows._encoding import Encoder
from sklearn_okl.untuned.rows._layout import layout_of, plain_layout, seen_later
from sklearn_okl.untuned.rows._values import room

NOISE = 0.1


def shops(n, seed, n_shops=20, every=1):
    """Return a number, days of the week and shops, and targets that are a sum over them."""
    rng = np.random.default_rng(seed)
    number = np.repeat(rng.uniform(0.0, 100.0, size=n // every + 1), every)[:n]
    codes = rng.integers(0, [7, n_shops], size=(n, 2))
    days, of_shops = 5.0 * rng.normal(size=7), 5.0 * rng.normal(size=n_shops)
    X = np.column_stack([number, codes, rng.normal(size=n)])
    noise = NOISE * rng.normal(size=n)
    return X, number + days[codes[:, 0]] + of_shops[codes[:, 1]] + noise


def whole(model):
    return model._state["banks"][WHOLE]


@pytest.mark.parametrize("kind", ["numbers", "categories"])
@pytest.mark.parametrize(("budget", "seed"), [("fast", 0), ("fast", 3), ("balanced", 2)])
def test_a_sum_of_effects_is_found(budget, seed, kind):
    X, y = shops(1200, seed)
    rows = slice(600, None)
    model = OnlineKernelRegressor(budget=budget, random_state=seed)
    if kind == "categories":
        model.set_params(categorical_features=[1, 2])
    errors = (model.prequential_predict(X, y) - y)[rows]
    Z = np.column_stack([X, OneHotEncoder(sparse_output=False).fit_transform(X[:, 1:3])])
    expected = [
        (Ridge(alpha=0.01).fit(Z[:low], y[:low]).predict(Z[low : low + 100]) - y[low : low + 100])
        for low in range(600, 1200, 100)
    ]
    # 14 to 35 times without the line
    assert np.sqrt(np.mean(np.square(errors)) / np.mean(np.square(expected))) < 2.0


@pytest.mark.parametrize(("seed", "n_shops"), [(0, 20), (1, 60)])
def test_classes_by_a_sum_of_effects_are_found(seed, n_shops):
    rng, n = np.random.default_rng(seed), 1800
    number, codes = rng.normal(size=n), rng.integers(0, [7, n_shops], size=(n, 2))
    effects = rng.normal(size=7)[codes[:, 0]] + rng.normal(size=n_shops)[codes[:, 1]]
    chances = 1.0 / (1.0 + np.exp(-2.0 * (number + 1.5 * effects)))
    labels = (rng.uniform(size=n) < chances).astype(int)
    X, rows = np.column_stack([number, codes, rng.normal(size=n)]), np.arange(900, n)
    model = OnlineKernelClassifier(budget="fast", random_state=seed)
    P = model.prequential_predict_proba(X, labels, classes=[0, 1])
    loss = -np.log(P[rows, labels[rows]]).mean()
    least = -(chances * np.log(chances) + (1.0 - chances) * np.log(1.0 - chances))[rows].mean()
    assert loss < 1.2 * least  # 1.32 and 1.26 without places


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("seed", range(3))
def test_values_have_places_as_a_loop_says(seed, delay):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, [3, 6, 40, 2, 20], size=(300, 5)).astype(float)
    X[:64, 0], X[64:, 3] = X[:64, 0] % 2, X[64:, 0]  # more values come late
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    layout = layout_of(np.array([4]), X[:64], most_values=64)
    assert layout["valued"].tolist() == [0, 1, 2, 3, 4]
    assert layout["are_many"].tolist() == [False] * 4 + [True]
    n_places, n_few = layout["n_places"], layout["n_few"]
    at_first = list(zip(layout["held"].tolist(), layout["values"].tolist(), strict=True))
    known = [[value for k, value in at_first if k == j] for j in range(5)]
    # those of columns of many values come behind all others
    parts = [[pair for pair in at_first if layout["are_many"][pair[0]] == of] for of in (0, 1)]
    rooms, expected = (n_few, n_places - n_few), np.zeros((300, n_places))
    for t in range(300):
        if t > delay:  # the row whose label is known by now
            for j, value in enumerate(X[t - delay - 1].tolist()):
                of = int(layout["are_many"][j])
                if value == value and value not in known[j]:
                    if len(known[j]) >= 2:
                        if len(parts[of]) == rooms[of]:
                            continue
                        parts[of].append((j, value))
                    known[j].append(value)
        for of, low in enumerate((0, n_few)):
            now = list(parts[of])
            for j, value in enumerate(X[t].tolist()):
                is_new = value == value and value not in known[j] and len(known[j]) >= 2
                if is_new and layout["are_many"][j] == of:
                    now.append((j, value))  # it will have the next one
            for place, (j, value) in enumerate(now[: rooms[of]]):
                expected[t, low + place] = 2.0 * (X[t, j] == value)
    encoder, y = Encoder(delay), rng.normal(size=300)
    state = encoder.start(layout, 5)
    cuts = [(0, 1), (1, 70), (70, 71), (71, 300)]
    found = [encoder.learn(state, X[low:high], y[low:high]) for low, high in cuts]
    assert_array_equal(np.concatenate(found)[:, -n_places:], expected)
    assert len(parts[0]) + len(parts[1]) > len(layout["values"])
    assert sum(encoder.widths(layout, 5)) + n_places == encoder.width(layout, 5)


def test_there_is_room_for_the_columns_of_fewest_values():
    rng = np.random.default_rng(0)
    X = rng.integers(0, [30, 3, 25, 9, 60, 1000, 5], size=(64, 7)).astype(float)
    X[:30, 0], X[:25, 2], X[:60, 4] = np.arange(30), np.arange(25), np.arange(60)
    layout = layout_of(np.array([2, 6]), X, most_values=64)
    # five categories have indicators for all, and of many numbers hardly one comes again
    assert layout["valued"].tolist() == [0, 1, 2, 3]
    assert np.unique(layout["held"]).tolist() == [1, 2, 3]
    assert layout["n_places"] == 64
    late, held = seen_later(layout, 7)
    assert late.tolist() == held.tolist() == [7 + k for k in range(6, 32)]
    assert layout_of(np.array([2]), X)["n_places"] == 0
    assert layout_of(np.array([2]), X[:63], most_values=64)["n_places"] == 0
    assert plain_layout(np.array([2]))["n_places"] == 0


@pytest.mark.parametrize("n_categories", [20, 60, 200])
def test_there_is_about_as_much_room_as_there_will_be_values(n_categories):
    found = [
        layout_of(np.array([0]), rng.integers(0, n_categories, size=(64, 1)) * 1.0, most_values=999)
        for rng in map(np.random.default_rng, range(20))
    ]
    usual = np.median([(layout["n_places"] - 16) / 2 for layout in found])
    assert 0.85 * n_categories <= usual <= 1.15 * n_categories


def test_room_is_a_share_of_the_work():
    assert [room(budget.work) for budget in map(BUDGETS.get, ("fast", "balanced"))] == [63, 256]
    assert room(np.inf) == 256


@pytest.mark.parametrize("seed", range(2))
def test_many_categories_are_told_apart_at_a_larger_budget(seed):
    X, y = shops(1500, seed, n_shops=150)
    kind = {"budget": "balanced", "categorical_features": [2], "random_state": seed}
    errors = OnlineKernelRegressor(**kind).prequential_predict(X, y) - y
    assert np.sqrt(np.square(errors)[1000:].mean()) < 0.3  # 1.3 before


@pytest.mark.parametrize("seed", range(2))
def test_what_comes_late_has_an_effect_too(seed):
    # 64 hours hold three days of the week
    rng, hours = np.random.default_rng(seed), np.arange(800)
    X = np.column_stack([rng.uniform(0.0, 100.0, size=800), hours % 24, hours // 24 % 7])
    hour, day = X[:, 1:].T.astype(int)
    y = 0.2 * X[:, 0] + 10.0 * rng.normal(size=24)[hour] + 5.0 * rng.normal(size=7)[day]
    y += rng.normal(size=800)
    forecasts = OnlineKernelRegressor(budget="fast", random_state=seed).prequential_predict(X, y)
    assert np.sqrt(np.square(forecasts - y)[300:].mean()) < 1.3  # 1.6 to 2 with three days


@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("budget", ["fast", 5])
def test_cuts_do_not_change_forecasts(budget, delay, n_targets):
    X, y = shops(400, 3, n_shops=5)
    X[::7, 1] = np.nan
    X[300:, 2] += 3.0  # values that nobody has seen
    if n_targets == 2:
        y = np.column_stack([y, np.cos(y)])
    kind = {"budget": budget, "label_delay": delay, "random_state": 1}
    expected = OnlineKernelRegressor(**kind).prequential_predict(X, y)
    model, cuts = OnlineKernelRegressor(**kind), [0, 1, 2, 63, 64, 65, *range(250, 400, 3), 400]
    parts = [model.prequential_predict(X[slice(*cut)], y[slice(*cut)]) for cut in pairwise(cuts)]
    assert_allclose(np.concatenate(parts), expected, rtol=1e-9, atol=1e-9)
    assert len(whole(model)["members"]) == 1
    asked = model.predict(X[:20])
    alone = np.concatenate([model.predict(x[None]) for x in X[:20]])
    assert_allclose(asked, alone, rtol=1e-9, atol=1e-9)


def test_rows_one_by_one_and_by_a_bound_row():
    X, y = shops(600, 4)
    expected = OnlineKernelRegressor(budget="fast", random_state=0).prequential_predict(X, y)
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X[:300], y[:300])
    found = []
    with model.rows() as row:
        for x, target in zip(X[300:450], y[300:450], strict=True):
            found.append(row.predict(x))
            row.learn(x, target)
    for x, target in zip(X[450:], y[450:], strict=True):
        found.append(model.predict(x[None])[0])
        model.partial_fit(x[None], [target])
    assert_allclose(np.ravel(found), expected[300:], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", [OnlineKernelRegressor, OnlineKernelClassifier])
def test_they_are_explained_as_their_columns(kind):
    X, y = shops(300, 5, n_shops=6)
    y = y if kind is OnlineKernelRegressor else np.digitize(y, [50.0])
    model = kind(budget="fast", random_state=0).fit(X, y)
    assert len(whole(model)["members"]) == 1
    other = X[:1] + np.array([0.0, 0.0, 1.0, 0.0])
    (entries,) = explain(model, X[:1], other).values[:, :4]
    assert_allclose(entries[[0, 1, 3]], 0.0, atol=1e-12)
    assert abs(entries[2]) > 0.0


def test_a_measure_that_is_mostly_nothing_has_none():
    rng = np.random.default_rng(7)
    X = np.where(rng.uniform(size=(64, 2)) < 0.1, rng.uniform(1.0, 1e4, size=(64, 2)), 0.0)
    X[:, 1] = np.round(X[:, 1])
    assert layout_of(np.empty(0, dtype=int), X, most_values=64)["n_places"] == 0


def test_a_small_model_has_none():
    X, y = shops(200, 6)
    model = OnlineKernelRegressor(budget="tiny", random_state=0).fit(X, y)
    assert WHOLE not in model._state["banks"]
    assert model._state["columns"]["layout"]["n_places"] == 0


def test_numbers_without_few_values_have_none():
    X = np.random.default_rng(0).normal(size=(100, 3))
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, X[:, 0])
    assert WHOLE not in model._state["banks"]
