"""A tree that is an expert by itself: what jumps, in a column or in a pair of columns."""

import pickle
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.inspection._parts import Boxes
from sklearn_okl.untuned import Constants
from sklearn_okl.untuned.experts._leaves import TRIALS, Leaves, _telling, told_of_missed
from sklearn_okl.untuned.rows import _steps as steps
from sklearn_okl.untuned.rows._pairs import best_pair
from tests.oracles import steps as oracle

N = TRIALS[0] + 60
TREE, ON_A_LINE = "a tree on its own", "a tree on a line"
NOTHING = np.zeros((256, 2))
LINE = NOTHING[..., None]  # that forecasts 0


def signs(n=N, seed=0, noise=0.2):
    """Return rows, and products of the signs of two of their columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sign(X[:, 0] * X[:, 1]) + noise * rng.normal(size=n)


def regressor(**arguments):
    return OnlineKernelRegressor(**{"budget": 6, "random_state": 0} | arguments)


@pytest.mark.parametrize("seed", range(6))
def test_a_pair_of_cuts_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(14, 3)), rng.normal(size=14)
    gain, cuts = best_pair(X, y, least=2, rounding=1e-9)
    expected = oracle.best_pair(X, y, least=2)
    assert_allclose(gain, expected[0])
    parts = [X[:, column] > threshold for column, threshold in cuts]
    assert_array_equal(parts, [X[:, column] > threshold for column, threshold in expected[1]])


def test_cuts_of_many_rows_are_brought_to_their_places():
    X, y = signs(500, noise=0.0)
    gain, cuts = best_pair(X, y, least=3, rounding=1e-9)
    assert [column for column, _ in cuts] == [0, 1]
    assert_allclose(gain, len(y) * y.var())


def test_what_cannot_be_parted_has_no_pair():
    assert best_pair(np.ones((50, 2)), np.arange(50.0), 3, 1e-9) == (0.0, [])
    assert best_pair(np.ones((50, 1)), np.arange(50.0), 3, 1e-9) == (0.0, [])


def test_a_tree_of_pairs_finds_what_one_of_single_columns_does_not():
    X, y = signs(400)
    n_nodes = [len(steps.grown(X, y, pairs=pairs)["columns"]) for pairs in (False, True)]
    assert n_nodes[0] == 1
    assert n_nodes[1] >= 7


def test_noise_grows_no_tree_of_pairs():
    rng = np.random.default_rng(0)
    n_nodes = [
        len(steps.grown(rng.normal(size=(300, 4)), rng.normal(size=300), pairs=True)["columns"])
        for _ in range(40)
    ]
    assert np.mean(np.array(n_nodes) > 1) <= 0.1


def test_products_of_signs_are_learnt_by_a_tree():
    X, y = signs()
    model = regressor()
    errors = model.prequential_predict(X, y) - y
    before, after = errors[TRIALS[0] - 60 : TRIALS[0]], errors[TRIALS[0] + 20 :]
    assert np.square(after).mean() < 0.4 * np.square(before).mean()
    table = model.experts_
    assert table["name"][-1] == TREE
    assert table["weight"][-1] > 0.5
    assert table["mean_loss"][-1] == table["mean_loss"].min()
    assert TREE in model.summary()


def test_where_kernels_are_enough_there_is_no_tree():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 3))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=N)
    model = regressor(budget="fast").fit(X, y)
    assert not {TREE, ON_A_LINE} & set(model.experts_["name"])


@pytest.mark.parametrize("seed", range(3))
def test_a_tree_sees_no_forecasts_of_other_trees(seed):
    rng = np.random.default_rng(seed)
    hours, days, x = rng.integers(24, size=600), rng.integers(7, size=600), rng.normal(size=600)
    y = np.where((hours >= 8) & (hours < 18) & (days < 5), 50.0, 10.0) + 5.0 * np.sin(x)
    model = regressor(budget="fast").fit(np.column_stack([hours, days, x]), y)
    leaves = model._state["leaves"]
    assert {TREE, ON_A_LINE} & set(model.experts_["name"])
    assert model._state["inputs"]["n_trees"] == 1
    for kind in ("alone", "on a line"):
        assert set(leaves[kind]["columns"]) <= {0, 1, 2}


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_cut_among_many_values_is_in_the_middle_of_the_gap_that_it_is_for(seed, pairs):
    rng = np.random.default_rng(seed)
    is_high = rng.random(2000) < 0.4
    X = np.where(is_high, 3.0, 0.0)[:, None] + rng.uniform(-1.0, 1.0, size=(2000, 1))
    tree = steps.grown(X, 40.0 * is_high, pairs)
    assert len(tree["columns"]) == 3
    assert_allclose(tree["thresholds"][0], 1.5, atol=0.05)


def test_one_row_is_learnt_as_in_a_block():
    X, y = signs(700)
    X[5, 1] = np.nan
    leaves = Leaves(2, 0, apart=True, n_lines=1)
    state = leaves.start(3)
    Y, slopes = np.column_stack([y, -y]), np.column_stack([X[:, 2], -X[:, 2]])[..., None]
    Y[:, 1] += slopes[:, 1, 0]
    for low in (0, 256):  # of each kind one begins
        rows = slice(low, low + 256)
        leaves.keep(state, low, X[rows], Y[rows], NOTHING, slopes[rows])
        assert leaves.try_out(state, 0) is not None
    assert leaves.there(state).all()
    of_rows = pickle.loads(pickle.dumps(state))
    for t in range(512, 700):  # trees grow anew on the way
        row = X[t : t + 1]
        expected = leaves.learn(state, row, Y[t][None], slopes[t][None])[0]
        forecasts, met = leaves.ask_row(of_rows, row, slopes[t])
        assert_array_equal(forecasts, expected)
        leaves.teach_row(of_rows, met, Y[t], slopes[t])
    for kind in ("alone", "on a line"):
        ours, others = (part[kind] for part in (of_rows, state))
        assert ours["n_before"] == others["n_before"] > 400
        for tree, other in zip(ours["trees"].values(), others["trees"].values(), strict=True):
            assert tree["next"] == other["next"] > 512
            for name in ("sums", "counts"):
                assert_array_equal(tree[name], other[name])
            for mine, theirs in zip(tree["past"].rows, other["past"].rows, strict=True):
                assert_array_equal(mine, theirs)


@pytest.mark.parametrize(("seed", "delay"), [(0, 0), (1, 0), (2, 5), (3, 23)])
def test_the_tree_of_a_forgotten_target_is_one_that_has_seen_no_row(seed, delay):
    X, y = signs(420, seed)
    leaves, Y = Leaves(2, delay, apart=True, n_lines=1), np.column_stack([y, 1e9 * y])
    state, bases = leaves.start(3), np.zeros((420, 2, 1))
    leaves.keep(state, 0, X[:256], Y[:256], NOTHING, bases[:256])
    assert leaves.try_out(state, 0)[0] == 0
    latest = y[255:247:-1]
    leaves.forget_target(state, 1, latest)
    singly = pickle.loads(pickle.dumps(state))
    Y[256:, 1] = y[256:]
    whole = leaves.learn(state, X[256:], Y[256:], bases[256:])
    parts = [
        leaves.learn(singly, *(part[t : t + 1] for part in (X, Y, bases))) for t in range(256, 420)
    ]
    assert_array_equal(np.concatenate(parts), whole)
    waiting = np.append(np.full(max(delay - 8, 0), latest.mean()), latest[:delay][::-1])
    fresh, of_rows = steps.start(3), (X[256 - delay :], np.append(waiting, y[256:]))
    n_known = np.arange(165)
    expected = steps.forecasts(fresh, *of_rows, X[256:], n_known, alone=True)
    assert_array_equal(whole[:, 1, 0], expected)
    assert fresh["n_rows"] == state["alone"]["trees"]["1"]["n_rows"] == 164
    assert expected[0] == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_steps_on_a_slope_are_learnt_by_a_tree_on_a_line(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(700, 4))
    y = X @ [3.0, -2.0, 1.0, 0.0] + 3.0 * (X[:, 3] > 0.3) * (X[:, 0] > 0.0)
    model = OnlineKernelRegressor(budget="fast", random_state=seed, lags=0)
    errors = model.prequential_predict(X, y + 0.1 * rng.normal(size=700)) - y
    table = model.experts_
    best = table["name"][table["mean_loss"].argmin()]
    assert best == ON_A_LINE
    assert np.square(errors[512:]).mean() < 0.5 * np.square(errors[156:256]).mean()
    found = model.explain(X[:10], background=X[:50])
    assert np.abs(found.remainder).max() < 0.1  # what is clipped: the tree has its columns


@pytest.mark.parametrize("n_columns", [3, 80, 100, 120, 160])
@pytest.mark.parametrize("budget", ["tiny", "fast"])
def test_lines_are_linear_experts_however_few_there_is_room_for(budget, n_columns):
    X = np.random.default_rng(0).normal(size=(30, n_columns))
    model = OnlineKernelRegressor(budget=budget, random_state=0).fit(X, X[:, 0])
    places = model._experts().lines(model._state)
    table = model.experts_
    assert (table["kernel"][places] == "linear").all()
    assert (table["forgetting"][places] == 1.0).all()
    assert (table["alpha"][places] == 0.1).all()
    assert len(places) == (2 if "linear" in table["kernel"] else 0)


@pytest.mark.parametrize("line", [0, 1])
def test_a_tree_on_a_line_sees_lags_if_that_line_does(line):
    X, y = signs()
    model = regressor(budget="fast").fit(X, y + 3.0 * X[:, 2])
    model._state["leaves"]["on a line"] |= {
        "trees": {"0": steps.start(3)},
        "line": line,
        "heard": np.ones(1, dtype=bool),
    }
    model._state["rounds"][-1] = N
    table = model.experts_
    assert table["name"][-1] == ON_A_LINE
    assert bool(table["lags"][-1]) == (line == 0)


def test_without_a_line_there_is_no_tree_on_one():
    X, y = signs(600)
    leaves = Leaves(2, 0, apart=True, n_lines=1)
    state = leaves.start(3)
    for low in (0, 256):
        rows = slice(low, low + 256)
        Y = np.column_stack([y, -y])[rows]
        leaves.keep(state, low, X[rows], Y, NOTHING, LINE)
        leaves.try_out(state)
    assert_array_equal(leaves.there(state), [True, False])


def test_a_tree_is_better_where_it_tells_what_was_missed():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(100, 1))
    assert_allclose(told_of_missed(y, 0.0 * y, 0.5 * y), 0.75)
    assert told_of_missed(y, 0.5 * y, 0.0 * y) == 0.0  # the same, as others forecast it already
    assert told_of_missed(y, 0.0 * y, rng.normal(size=y.shape)) == 0.0
    assert told_of_missed(0.0 * y, 0.0 * y, 0.0 * y) == 0.0


@pytest.mark.long(every=2)
@pytest.mark.parametrize("arguments", [{}, {"label_delay": 5}], ids=["at once", "late"])
def test_the_cut_of_the_stream_does_not_matter(arguments):
    X, y = signs()
    whole = regressor(**arguments)
    expected = whole.prequential_predict(X, y)
    parts, low = regressor(**arguments), 0
    for size in (200, 56, 1, 1, 40, N - 298):
        found = parts.prequential_predict(X[low : low + size], y[low : low + size])
        assert_allclose(found, expected[low : low + size], rtol=1e-7, atol=1e-7)
        low += size
    assert any(name.startswith("a tree on") for name in parts.experts_["name"])
    assert_allclose(parts.predict(X[:5]), whole.predict(X[:5]), rtol=1e-7, atol=1e-7)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("delay", [0, 3])
def test_predict_is_the_forecast_on_the_way(delay):
    X, y = signs(N + 4)
    model = regressor(label_delay=delay).fit(X[:N], y[:N])
    asked = model.predict(X[N + delay : N + delay + 1])
    expected = model.prequential_predict(X[N:], y[N:])[delay : delay + 1]
    assert_allclose(asked, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("budget", ["fast", 6])
def test_a_trial_knows_no_label_that_is_late(budget, seed):
    trial, delay = TRIALS[0], 9
    X, y = signs(trial + 40, seed)
    model = regressor(budget=budget, label_delay=delay, random_state=seed)
    expected = model.prequential_predict(X, y)
    assert {TREE, ON_A_LINE} & set(model.experts_["name"])
    for row in (trial - 1, trial, trial + 4, trial + delay - 1, trial + delay, trial + delay + 1):
        known = clone(model).fit(X[: row - delay], y[: row - delay])
        assert_allclose(known.predict(X[row : row + 1])[0], expected[row], rtol=1e-7, atol=1e-7)


def test_a_copy_goes_on_as_the_model():
    X, y = signs()
    model = regressor().fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    rows = X[:40], y[:40]
    assert_array_equal(copy.prequential_predict(*rows), model.prequential_predict(*rows))


def test_several_targets_have_a_tree_each():
    X, y = signs()
    model = regressor()
    Y = np.column_stack([y, -3.0 * y])
    errors = model.prequential_predict(X, Y) - Y
    assert (np.square(errors[TRIALS[0] + 20 :]).mean(axis=0) < [0.4, 3.6]).all()


def test_a_target_without_jumps_does_not_hear_the_tree_of_another():
    X, y = signs()
    plain = X[:, 2] + 0.1 * np.random.default_rng(1).normal(size=N)
    other = np.random.default_rng(3).normal(size=N)
    together = [regressor(lags=0) for _ in range(2)]
    for model, beside in zip(together, (y, other), strict=True):
        model.constants = Constants(births=(), neighbours=())  # which are decided for all
        model.fit(X, np.column_stack([plain, beside]))
    trees = [TREE in model.experts_["name"] for model in together]
    assert trees == [True, False]
    weights = together[0].experts_["weight"].reshape(2, -1)[:, -1]
    assert weights[0] == 0.0
    assert weights[1] > 0.0
    forecasts = [model.predict(X[:9])[:, 0] for model in together]
    assert_allclose(*forecasts, rtol=1e-7)


def test_classes_are_learnt_by_a_tree():
    X, y = signs()
    model = OnlineKernelClassifier(budget=6, random_state=0).fit(X[:N], y > 0.0)
    assert model.experts_["name"][-1] == TREE
    fresh, target = signs(200, seed=1)
    assert (model.predict(fresh) == (target > 0.0)).mean() > 0.9


@pytest.mark.parametrize("delay", [0, 3])
def test_what_a_tree_forecasts_is_a_sum_of_boxes(delay):
    X, Y = signs(400)[0], np.column_stack([signs(400)[1], signs(400, seed=1)[1]])
    leaves = Leaves(2, delay, apart=True, n_lines=1)
    state = leaves.start(3)
    leaves.keep(state, 0, X[:256], Y[:256], NOTHING, LINE)
    kind, _ = leaves.try_out(state, 0)
    leaves.learn(state, X[256:], Y[256:], LINE[:144])
    expected = leaves.look(state, X[:50], LINE[:50])[..., kind]
    part = state[("alone", "on a line")[kind]]
    for j, (low, high, means) in enumerate(leaves.boxes(part)):
        boxes = Boxes(leaves.seen(part, X[:50]), low, high, means[:, None], np.arange(3))
        assert_allclose(boxes.sums()[:, 0], expected[:, j])


def test_values_of_boxes_are_those_of_all_coalitions():
    rng = np.random.default_rng(0)
    X, others = rng.normal(size=(2, 5, 3))
    tree = steps.grown(*signs(400), pairs=True)
    n_nodes = len(tree["columns"])
    state = {"tree": tree, "sums": rng.normal(size=n_nodes + 1), "counts": np.ones(n_nodes + 1)}
    low, high, means = steps.boxes(state, 3)
    parts = [Boxes(rows, low, high, means[:, None], np.arange(3)) for rows in (X, others)]

    def value(x, background, players):
        mixed = np.where(np.isin(np.arange(3), players), x, background)
        return state["sums"][steps.leaves(tree, mixed[None])[0]]

    expected = np.zeros((5, 3))
    for x, found in zip(X, expected, strict=True):
        for background in others:
            for order in permutations(range(3)):
                for k, player in enumerate(order):
                    with_it, without = (value(x, background, order[:n]) for n in (k + 1, k))
                    found[player] += (with_it - without) / 6.0 / len(others)
    assert_allclose(parts[0].values(parts[1], 3)[..., 0], expected, atol=1e-12)


def test_a_tree_is_explained_by_its_columns():
    X, y = signs()
    found = regressor(lags=0).fit(X, y).explain(X[:10], background=X[:50])
    importances = np.abs(found.values).mean(axis=0)
    assert len(importances) == 5  # of the columns, trees, and logarithms
    assert importances[:2].min() > 4.0 * importances[2]


def among_many(seed, n, n_columns):
    """Return rows, and products of two of their many columns, which tell nothing by themselves."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    return X, X[:, 3] * X[:, 17] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(4))
def test_columns_of_an_interaction_are_among_those_that_a_tree_sees(seed):
    X, y = among_many(seed, 256, 300)
    seen = _telling(X, y[:, None])
    assert {3, 17} <= set(seen.tolist())
    assert len(seen) == 24
    X[:, 250] += np.where(np.arange(256) < 128, y, 0.0)  # what tells by itself is seen, too
    assert 250 in _telling(X, y[:, None])
    X[::7, 250] = np.nan
    assert 250 in _telling(X, y[:, None])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_a_product_of_two_among_many_is_learnt(seed):
    X, y = among_many(100 + seed, 900, 300)
    model = OnlineKernelRegressor(budget="fast", random_state=seed).fit(X[:600], y[:600])
    errors = model.predict(X[600:]) - y[600:]
    assert np.mean(errors**2) <= 0.4 * np.var(y[600:])


@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_rare_is_found_by_a_trial_on_as_many_rows_as_trees_are_grown_from(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2400, 6))
    is_rare = (X[:, 0] > 1.3) & (X[:, 1] > 1.3)  # one row of a hundred
    y = X[:, 2] + 4.0 * is_rare + 0.5 * rng.normal(size=2400)
    model = regressor(budget="fast", lags=0, guard=False)
    errors = model.prequential_predict(X, y) - y
    assert ON_A_LINE in model.experts_["name"]
    assert np.square(errors[2060:]).mean() < 0.33  # noise is .25


@pytest.mark.parametrize("is_late", [True, False])
def test_a_trial_is_on_the_latest_rows_and_on_all(is_late):
    """What jumps since 400 rows is found in the latest 512, what is rare in 2048."""
    rng = np.random.default_rng(int(is_late))
    X, y = rng.uniform(size=(2048, 2)), rng.normal(size=2048)
    if is_late:
        y[1600:] += 6.0 * (X[1600:, 0] > 0.5)
        y[:1600] *= 20.0  # of which a tree explains nothing
    else:
        y += 8.0 * ((X[:, 0] > 0.9) & (X[:, 1] > 0.9))
    leaves = Leaves(1, 0, True, 0)
    state = leaves.start(2)
    leaves.keep(state, 0, X, y, np.zeros(2048), np.empty((2048, 1, 0)))
    assert leaves.try_out(state)[0] == 0
    assert state["alone"]["n_before"] == (512 if is_late else 2048)


@pytest.mark.parametrize(("n_columns", "window"), [(3, 2048), (300, 434), (1000, 256)])
def test_rows_are_kept_for_trials_as_far_as_there_is_room_until_the_last(n_columns, window):
    leaves = Leaves(1, 0, True, 0)
    state = leaves.start(n_columns)
    X, y = np.ones((TRIALS[-1] + 9, 1)) * np.arange(n_columns), np.arange(TRIALS[-1] + 9.0)
    for low in range(0, len(y), 50):
        rows = slice(low, low + 50)
        no_bases = np.empty((len(y[rows]), 1, 0))
        leaves.keep(state, low, X[rows], y[rows], -y[rows], no_bases)
        if low == 2200:
            kept, targets, forecasts, _ = leaves._kept(state)
            assert_array_equal(targets[:, 0], np.arange(2250.0 - window, 2250.0))
            assert_array_equal(forecasts, -targets)
            assert_array_equal(kept, X[:window])
    assert len(state["kept"].rows[0]) == 0
