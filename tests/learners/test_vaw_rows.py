"""VAW by single rows: a tail of rows beside matrices that states share."""

import copy
import itertools
import pickle

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import VAW2Regressor, VAWRegressor, _tail
from sklearn_okl.learners import _ridge
from tests.oracles import rooted

BANK = {"kernels": {"gamma": [0.1, 1.0, 3.0]}, "n_components": 30, "random_state": 0}


def stream(seed=0, n=300, d=6, n_targets=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, :1] + rng.normal(size=(n, n_targets or 1))
    return X, y if n_targets else y[:, 0]


def in_pieces(model, X, y, ends, **kwargs):
    parts = []
    for rows in np.split(np.arange(len(y)), ends):
        if len(rows):
            some = {name: value[rows] for name, value in kwargs.items()}
            parts.append(model.prequential_predict(X[rows], y[rows], **some))
    return np.concatenate(parts)


@pytest.mark.long(every=4)
@pytest.mark.parametrize("forgetting", [1.0, 0.99, 0.9, 0.3])
@pytest.mark.parametrize("forecaster", ["vaw", "ridge"])
@pytest.mark.parametrize(("d", "n_targets", "weighted"), [(1, None, True), (6, 2, False)])
def test_single_rows_are_blocks_of_one(forgetting, forecaster, d, n_targets, weighted):
    X, y = stream(d, d=d, n_targets=n_targets)
    rng = np.random.default_rng(1)
    weights = rng.uniform(size=len(y)) * (rng.uniform(size=len(y)) > 0.2)
    kwargs = {"sample_weight": weights} if weighted else {}
    whole = VAWRegressor(0.3, forecaster=forecaster, forgetting=forgetting)
    expected = whole.prequential_predict(X, y, **kwargs)
    for ends in (
        range(1, 300),
        np.sort(rng.choice(300, 60, replace=False)),
        [100, *range(101, 170)],
    ):
        cut = VAWRegressor(0.3, forecaster=forecaster, forgetting=forgetting)
        assert_allclose(in_pieces(cut, X, y, ends, **kwargs), expected, rtol=1e-8, atol=1e-9)
        for one, other in zip(
            cut.predict(X, return_std=True), whole.predict(X, return_std=True), strict=True
        ):
            assert_allclose(one, other, rtol=1e-8, atol=1e-9)


def test_an_extreme_row_is_brought_in_at_once():
    X, y = stream()
    X[150] *= 1e8
    whole, cut = VAWRegressor(), VAWRegressor()
    expected = whole.prequential_predict(X, y)
    assert_allclose(in_pieces(cut, X, y, range(1, 300)), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("size", [1e6, 1e9])
@pytest.mark.parametrize("forgetting", [1.0, 0.95])
@pytest.mark.parametrize("collinear", [slice(0, 0), slice(0, 50), slice(70, 300), slice(0, 300)])
def test_rows_by_a_root_of_their_sums_are_those_of_a_call(size, forgetting, collinear):
    # rows of columns that are nearly the same come, and go
    X, y = stream(int(forgetting * 100))
    X *= size
    X[collinear] = X[collinear][:, :1] + X[collinear] / size
    whole = VAWRegressor(forgetting=forgetting)
    expected = whole.prequential_predict(X, y)
    by_path = VAWRegressor(forgetting=forgetting).fit(X[:1], y[:1])
    forecasts, asked = [], []
    for low in (1, 2, 68, 130):
        with by_path.rows() as row:
            for t in range(low, {1: 2, 2: 68, 68: 130, 130: 300}[low]):
                asked.append(row.predict(X[t]))
                forecasts.append(row.learn(X[t], y[t]))
    exact = rooted.vaw(X, y, forgetting=forgetting)
    tolerance = 1e-14 * size * np.abs(exact).max()
    assert_allclose(expected, exact, rtol=1e-6, atol=tolerance)
    assert_allclose(forecasts, expected[1:], rtol=1e-6, atol=tolerance)
    assert_allclose(asked, forecasts, rtol=1e-9, atol=tolerance)
    assert ("root" in by_path._state) == ("root" in whole._state)
    assert_allclose(by_path.predict(X), whole.predict(X), rtol=1e-6, atol=tolerance)
    assert_allclose(by_path.coef_, whole.coef_, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("ends", [[], range(1, 60)], ids=["a call", "rows"])
@pytest.mark.parametrize("gain", [4e5, 1e6, 1e7])
def test_a_row_of_a_large_gain_costs_no_digits(gain, ends):
    # P shrinks by the gain in the row's column: unless rebuilt it keeps errors of its old size
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    X[:10, 2] = 0.0  # nothing is known of this column
    X[10:13] = [0.0, 0.0, np.sqrt(gain), 0.0]
    y[10:13] = [0.7, -0.4, 1.0]
    expected = [
        X[t] @ np.linalg.solve(np.eye(4) + X[: t + 1].T @ X[: t + 1], X[:t].T @ y[:t])
        for t in range(60)
    ]
    forecasts = in_pieces(VAWRegressor(), X, y, ends)
    assert_allclose(forecasts[11:13], expected[11:13], rtol=1e-12)


def test_forgetting_may_be_set_in_mid_stream():
    X, y = stream()
    long, single = VAWRegressor(forgetting=0.9), VAWRegressor(forgetting=0.9)
    for start, forgetting in [(0, 0.9), (105, 0.99), (150, 1.0), (161, 0.8)]:
        rows = slice(start, start + 45)
        for model in (long, single):
            model.set_params(forgetting=forgetting)
        expected = long.prequential_predict(X[rows], y[rows])
        forecasts = in_pieces(single, X[rows], y[rows], range(1, 45))
        assert_allclose(forecasts, expected, rtol=1e-8, atol=1e-9)
        for one, other in zip(
            single.predict(X, return_std=True), long.predict(X, return_std=True), strict=True
        ):
            assert_allclose(one, other, rtol=1e-8, atol=1e-9)


def test_nothing_large_is_copied_or_written_for_a_row():
    X, y = stream()
    model = VAWRegressor().partial_fit(X[:100], y[:100]).partial_fit(X[100:101], y[100:101])
    P = model._state["inverse"].groups[0][2].array
    before = P.copy()
    assert not P.flags.writeable
    for t in range(101, 110):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        assert model._state["inverse"].groups[0][2].array is P
    assert_array_equal(P, before)
    assert (
        not pickle.loads(pickle.dumps(model))._state["inverse"].groups[0][2].array.flags.writeable
    )


def test_a_call_that_fails_leaves_no_trace_in_shared_buffers(monkeypatch):
    X, y = stream()
    model = VAWRegressor().partial_fit(X[:1], y[:1]).partial_fit(X[1:2], y[1:2])
    before, expected = pickle.dumps(model), copy.deepcopy(model)

    def interrupted(*_):
        raise KeyboardInterrupt

    for t in range(2, 6):
        with monkeypatch.context() as patch:
            patch.setattr(
                _ridge.RidgeRecursion, "_rounds_to_stop", interrupted
            )  # the row is written
            with pytest.raises(KeyboardInterrupt):
                model.partial_fit(-X[t : t + 1], y[t : t + 1])
        assert pickle.dumps(model) == before
    model.partial_fit(X[2:3], y[2:3])
    assert_array_equal(model.predict(X), expected.partial_fit(X[2:3], y[2:3]).predict(X))


@pytest.mark.long(every=3)
@pytest.mark.parametrize("model", [VAWRegressor(), VAW2Regressor(**BANK)])
@pytest.mark.parametrize("n_single", [0, 3])
def test_a_model_mapped_from_a_file_learns_on(model, n_single, tmp_path):
    X, y = stream()
    model.fit(X[:100], y[:100])
    for t in range(100, 100 + n_single):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    joblib.dump(model, tmp_path / "model.joblib")
    content = (tmp_path / "model.joblib").read_bytes()
    for ends in ([150], range(104, 160), [101, 108, 109, 200]):
        mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
        other = copy.deepcopy(model)
        ends = [0, *(end - 103 for end in ends)]
        got, expected = (in_pieces(m, X[103:], y[103:], ends) for m in (mapped, other))
        assert_array_equal(got, expected)
        assert_array_equal(mapped.predict(X), other.predict(X))
    assert (tmp_path / "model.joblib").read_bytes() == content


def test_pickles_of_models_taught_row_by_row_do_not_grow():
    X, y = stream()
    model, sizes = VAW2Regressor(**BANK), set()
    for t in range(150):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        sizes.add(len(pickle.dumps(model)))
    assert max(sizes) - min(sizes) < 64


@pytest.mark.parametrize("n_rows", [1, 4, 5])
def test_merging_counts_the_rows_of_both_tails(n_rows):
    X, y = stream()
    whole = VAWRegressor().fit(X, y)
    left, right = VAWRegressor().fit(X[:100], y[:100]), VAWRegressor().fit(X[120:], y[120:])
    for low in range(100, 120, n_rows):
        (left if low % 2 else right).partial_fit(X[low : low + n_rows], y[low : low + n_rows])
    before = pickle.dumps(right)
    assert_allclose(left.merge(right).coef_, whole.coef_, rtol=1e-9)
    assert pickle.dumps(right) == before
    rows = itertools.islice(zip(X, y, strict=True), 3)
    for x, target in rows:
        left.partial_fit(x[None], [target])
        whole.partial_fit(x[None], [target])
    assert_allclose(left.coef_, whole.coef_, rtol=1e-9)


@pytest.mark.long
def test_large_banks_are_replaced_group_by_group(monkeypatch):
    # groups of one expert, so that a tail waits while the next one fills; rebuilds come soon
    monkeypatch.setattr(_tail, "_GROUP_BYTES", 1)
    monkeypatch.setattr(_ridge, "_REBUILD", 64)
    X, y = stream()
    bank = BANK | {"kernels": {"gamma": [0.1, 0.3, 1.0, 3.0, 10.0]}}
    whole, single = VAW2Regressor(**bank), VAW2Regressor(**bank)
    expected = whole.prequential_predict(X, y)
    assert_allclose(single.prequential_predict(X[:7], y[:7]), expected[:7], rtol=1e-8)
    n_changed = set()
    for t in range(7, 300):
        groups = single._state["experts"]["inverse"].groups if t > 8 else ()
        older = copy.copy(single)
        before = older.predict(X[:5])
        assert_allclose(
            single.prequential_predict(X[t : t + 1], y[t : t + 1]), expected[t : t + 1], rtol=1e-8
        )
        assert_array_equal(older.predict(X[:5]), before)
        if t % 11 == 0:  # a copy in mid-stream, which parts, and a pickle, which goes on
            copy.copy(single).partial_fit(-X[t : t + 3], y[t : t + 3])
            single = pickle.loads(pickle.dumps(single))
        elif t > 8:
            now = single._state["experts"]["inverse"].groups
            n_changed.add(sum(one is not other for one, other in zip(groups, now, strict=True)))
    assert n_changed == {0, 1}
    assert_allclose(single.predict(X), whole.predict(X), rtol=1e-8)
    sizes = {len(pickle.dumps(single.partial_fit(X[t : t + 1], y[t : t + 1]))) for t in range(90)}
    assert max(sizes) - min(sizes) < 200  # a row has 3 000 bytes
    single.partial_fit(X[:9], y[:9])  # a long call with a tail that waits
    assert_allclose(
        single.predict(X),
        whole.partial_fit(X[:90], y[:90]).partial_fit(X[:9], y[:9]).predict(X),
        rtol=1e-8,
    )


@pytest.mark.parametrize("late", [0, 3])
def test_rebuilds_of_a_large_bank_of_several_targets(late, monkeypatch):
    # classifiers of three classes, fed row by row, failed at the rebuild of round 64
    monkeypatch.setattr(_tail, "_GROUP_BYTES", 1)
    rng = np.random.default_rng(late)
    Z, Y = rng.normal(size=(5, 130, 4)), rng.normal(size=(130, 3))
    model = VAWRegressor(forecaster="ridge")
    whole, single = (model._start(4, 3, bank=[{}] * 5, late=late) for _ in range(2))
    expected = model._learn(whole, Z, Y)
    rows = [slice(t, t + 1) for t in range(130)]
    forecasts = [model._learn(single, Z[:, row], Y[row]) for row in rows]
    assert_allclose(np.concatenate(forecasts, axis=1), expected, rtol=1e-8, atol=1e-10)
    assert_allclose(single["theta"], whole["theta"], rtol=1e-8)


@pytest.mark.parametrize("n_targets", [1, 2, 3])
def test_groups_of_several_targets_are_replaced_too(n_targets, monkeypatch):
    """At 8264a20 NumPy says that sizes of operands differ, once a group is inverted anew."""
    monkeypatch.setattr(_tail, "_GROUP_BYTES", 2000)
    rng = np.random.default_rng(n_targets)
    bank, n = [{}] * 4, 150
    Z, y = rng.normal(size=(4, n, 9)), rng.normal(size=(n, n_targets))
    expert = VAWRegressor()
    whole, cut = (expert._start(9, n_targets, bank=bank) for _ in range(2))
    expert._open(whole)
    expected = expert._learn_blocks(whole, Z, y)
    rows = [expert._learn(cut, Z[:, t : t + 1], y[t : t + 1]) for t in range(n)]
    assert len(cut["inverse"].groups) > 1
    assert_allclose(np.concatenate(rows, axis=1), expected, rtol=1e-8, atol=1e-9)
    assert_allclose(cut["theta"], whole["theta"], rtol=1e-8, atol=1e-9)
