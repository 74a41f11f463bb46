"""A row that experts are asked for and then taught: the numbers of a block of one."""

import copy
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.datasets import make_faulty_stream, make_friedman_stream, make_shifted_stream
from sklearn_okl.untuned import Constants
from sklearn_okl.untuned.experts._experts import Experts
from sklearn_okl.untuned.experts._row import ExpertsRow
from sklearn_okl.untuned.rounds._rounds import _asked_row, _keep_asked
from sklearn_okl.untuned.rounds._scores import SquaredErrors


class EarlyBirths(OnlineKernelRegressor):
    """Who has kernels born among few rows."""

    constants = Constants(births=(68, 100), burn_in=10)


def begun(n_targets=1, n_known=60, **parameters):
    X, y = make_friedman_stream(140, n_features=6, random_state=0)
    if n_targets > 1:
        y = np.column_stack([y, *(y * (-1.0) ** k + X[:, k] for k in range(1, n_targets))])
    parameters = {"budget": "fast", "random_state": 0} | parameters
    model = EarlyBirths(**parameters).fit(X[:n_known], y[:n_known])
    return model, X[n_known:], y[n_known:]


def arrays_of(value, name=""):
    """Yield names and arrays of a state, at any depth."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, (int, float)):
        yield name, np.array(value)
    elif isinstance(value, (dict, list, tuple)):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            yield from arrays_of(part, f"{name}/{key}")
    elif hasattr(value, "opened"):
        yield from arrays_of(value.opened(), name)


def assert_alike(one, other):
    known, found = dict(arrays_of(one)), dict(arrays_of(other))
    assert known.keys() == found.keys()
    for name, value in known.items():
        size = max(np.abs(value[np.isfinite(value)]).max(initial=0.0), 1.0)
        np.testing.assert_allclose(found[name], value, rtol=1e-8, atol=1e-9 * size, err_msg=name)


def one_by_one(model, X, y, weights=None):
    rows = [slice(i, i + 1) for i in range(len(X))]
    weights = [None if weights is None else weights[row] for row in rows]
    told = [
        (model.predict(X[row]), model.prequential_predict(X[row], y[row], sample_weight=weight))
        for row, weight in zip(rows, weights, strict=True)
    ]
    return [np.concatenate(part) for part in zip(*told, strict=True)]


def without_rows(monkeypatch):
    monkeypatch.setattr(ExpertsRow, "takes", staticmethod(lambda experts, state: False))


@pytest.mark.long(every=2)
@pytest.mark.parametrize("budget", ["tiny", "fast"])
@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_row_is_a_block_of_one(budget, n_targets, weighted, monkeypatch):
    model, X, y = begun(n_targets, budget=budget)
    assert ExpertsRow.takes(model._experts(), model._state)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(X)) if weighted else None
    other = copy.deepcopy(model)
    asked, told = one_by_one(model, X, y, weights)
    np.testing.assert_allclose(told, asked, rtol=1e-10)
    without_rows(monkeypatch)
    np.testing.assert_allclose(told, one_by_one(other, X, y, weights)[1], rtol=1e-9)
    assert_alike(model._state, other._state)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("budget", ["tiny", "fast", "balanced"])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_row_without_lags_is_a_block_of_one(budget, n_targets, monkeypatch):
    model, X, y = begun(n_targets, budget=budget, lags=0)
    other, taught = copy.deepcopy(model), []
    monkeypatch.setattr(ExpertsRow, "teach", counted(taught, ExpertsRow.teach))
    asked, told = one_by_one(model, X, y)
    np.testing.assert_allclose(told, asked, rtol=1e-10)
    assert len(taught) > 60
    without_rows(monkeypatch)
    np.testing.assert_allclose(told, one_by_one(other, X, y)[1], rtol=1e-8)
    assert_alike(model._state, other._state)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("budget", ["tiny", "fast"])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_row_that_tells_of_sizes_is_a_block_of_one(budget, n_targets, monkeypatch):
    model, X, y = begun(n_targets, budget=budget, spread="rows")
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(X))
    weights[::3] = 1.0
    other, taught = copy.deepcopy(model), []
    monkeypatch.setattr(ExpertsRow, "teach", counted(taught, ExpertsRow.teach))
    asked, told = one_by_one(model, X, y, weights)
    np.testing.assert_allclose(told, asked, rtol=1e-10)
    assert len(taught) > 60
    without_rows(monkeypatch)
    np.testing.assert_allclose(told, one_by_one(other, X, y, weights)[1], rtol=1e-9)
    assert_alike(model._state, other._state)
    law, of_blocks = (one.predict_interval(X[:3]) for one in (model, other))
    np.testing.assert_allclose(law, of_blocks, rtol=1e-8)


@pytest.mark.long
@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_row_with_ranks_and_links_is_a_block_of_one(n_targets, monkeypatch):
    model, X, y = begun(n_targets, budget="balanced")
    X[30:, 2] *= 100.0  # another unit: ranks forget a column
    other = copy.deepcopy(model)
    asked, told = one_by_one(model, X, y)
    np.testing.assert_allclose(told, asked, rtol=1e-10)
    assert model._state["boosting"]
    without_rows(monkeypatch)
    np.testing.assert_allclose(told, one_by_one(other, X, y)[1], rtol=1e-8)
    assert_alike(model._state, other._state)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("budget", ["tiny", "fast"])
@pytest.mark.parametrize(("length", "n_targets"), [(1, 1), (3, 1), (1, 2), (3, 3)])
def test_rows_of_a_faulty_stream_are_blocks_of_one(length, n_targets, budget, monkeypatch):
    stream = {"share": 0.05, "length": length, "random_state": 3}
    X, y = make_faulty_stream(140, return_X_y=True, **stream)
    y = y if n_targets == 1 else np.column_stack([X[:, :1].repeat(n_targets - 1, axis=1), y])
    model = EarlyBirths(budget=budget, random_state=0).fit(X[:60], y[:60])
    other = copy.deepcopy(model)
    _, told = one_by_one(model, X[60:], y[60:])
    without_rows(monkeypatch)
    np.testing.assert_allclose(told, one_by_one(other, X[60:], y[60:])[1], rtol=1e-9)
    assert_alike(model._state, other._state)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("every", [2, 5])
def test_faults_among_few_rows_of_a_long_call_are_met_one_by_one(every, n_targets, monkeypatch):
    """Else as many rows are learnt in vain as a block has, for each of them."""
    X, y = make_faulty_stream(200, share=0.0, random_state=every, return_X_y=True)
    y[100::every] += 1e5
    y = y if n_targets == 1 else np.column_stack([X[:, 0], y])
    model = EarlyBirths(budget="fast", lags=0, random_state=0).fit(X[:90], y[:90])
    other, taught, blocks = copy.deepcopy(model), [], []
    with monkeypatch.context() as patches:
        patches.setattr(ExpertsRow, "teach", counted(taught, ExpertsRow.teach))
        patches.setattr(Experts, "learn_rows", counted(blocks, Experts.learn_rows))
        told = model.prequential_predict(X[90:], y[90:])
    assert len(taught) > 75  # by the model: its twin learns rows together
    assert len(blocks) < 30
    without_rows(monkeypatch)
    np.testing.assert_allclose(told, other.prequential_predict(X[90:], y[90:]), rtol=1e-7)
    np.testing.assert_array_equal(model.n_faulty_, other.n_faulty_)


def test_who_is_beyond_the_range_and_leads_nobody_leaves_a_row_plain(monkeypatch):
    """Lines are, where inputs are far off and targets have bounds."""
    rng = np.random.default_rng(4)
    X = rng.standard_t(3, size=(160, 3))
    y = np.tanh(4.0 * X[:, 0]) + 0.05 * rng.normal(size=160)
    model = EarlyBirths(budget="fast", random_state=0).fit(X[:90], y[:90])
    other, taught = copy.deepcopy(model), []
    monkeypatch.setattr(ExpertsRow, "teach", counted(taught, ExpertsRow.teach))
    n_beyond = (np.abs(model.predict_experts(X[90:])) > 2.0).any(axis=1).sum()
    asked, told = one_by_one(model, X[90:], y[90:])
    np.testing.assert_allclose(told, asked, rtol=1e-10)
    assert n_beyond > 2
    assert len(taught) > 70 - n_beyond
    without_rows(monkeypatch)
    np.testing.assert_allclose(told, one_by_one(other, X[90:], y[90:])[1], rtol=1e-9)
    assert_alike(model._state, other._state)


@pytest.mark.parametrize("budget", ["tiny", "fast"])
def test_gaps_odd_values_and_constant_columns_take_turns_with_plain_rows(budget, monkeypatch):
    model, X, y = begun(budget=budget)
    X = X.copy()
    X[20:30:3, 1], X[50, 2], X[60:, 3] = np.nan, 1e9, 0.5
    other = copy.deepcopy(model)
    _, told = one_by_one(model, X, y)
    without_rows(monkeypatch)
    np.testing.assert_allclose(told, one_by_one(other, X, y)[1], rtol=1e-9)
    assert_alike(model._state, other._state)


def table(kind, n, n_targets=1):
    """Return rows of which columns have few values, codes, gaps or jumps, and their targets."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 4))
    X[:, 2] = rng.integers(0, 6, n)  # few values
    step = np.where(np.isin(X[:, 2], [1, 4]), 3.0, 0.0)
    y = X[:, 0] + step * (X[:, 1] > 0.0) + 0.1 * rng.normal(size=n)
    if kind == "jumps":
        X[:, 2] += 0.3 * rng.normal(size=n)
        y = np.where((X[:, 0] > 0.3) == (X[:, 1] > -0.2), 4.0, 0.0) + 0.1 * rng.normal(size=n)
    if kind == "gaps":
        X[rng.random(n) < 0.2, 1] = np.nan
        X[rng.random(n) < 0.1, 3] = np.nan
    of_targets = [y, *(np.where(X[:, 2] == k, 1.0, y) for k in range(1, n_targets))]
    return X, y if n_targets == 1 else np.column_stack(of_targets)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("budget", ["tiny", "fast", "balanced"])
@pytest.mark.parametrize("kind", ["few values", "codes", "gaps", "jumps"])
def test_rows_of_tables_are_blocks_of_one(kind, budget, n_targets, monkeypatch):
    if (kind, budget) == ("jumps", "tiny"):
        pytest.skip("a tiny model tries no tree on jumps")
    X, y = table(kind, 330, n_targets)
    categories = [2] if kind == "codes" else "from_dtype"
    parameters = {"budget": budget, "categorical_features": categories, "random_state": 0}
    model = EarlyBirths(**parameters).fit(X[:250], y[:250])
    other, taught = copy.deepcopy(model), []
    monkeypatch.setattr(ExpertsRow, "teach", counted(taught, ExpertsRow.teach))
    asked, told = one_by_one(model, X[250:], y[250:])
    np.testing.assert_allclose(told, asked, rtol=1e-9)
    assert len(taught) > (15 if kind in ("gaps", "jumps") else 60)  # else by blocks
    assert model._state["leaves"]["alone"]["trees"] or kind != "jumps"
    assert bool(model._state["inputs"]["gaps"]) == (kind == "gaps")
    without_rows(monkeypatch)
    np.testing.assert_allclose(told, one_by_one(other, X[250:], y[250:])[1], rtol=1e-8)
    assert_alike(model._state, other._state)


@pytest.mark.parametrize("budget", ["tiny", "fast"])
def test_a_row_path_keeps_what_it_has_asked(budget, monkeypatch):
    model, X, y = begun(budget=budget)
    other, made = copy.deepcopy(model), []
    monkeypatch.setattr(ExpertsRow, "_ask", counted(made, ExpertsRow._ask))
    with model.rows() as row:
        told = []
        for x, target in zip(X, y, strict=True):
            asked = row.predict(x)
            told.append(row.learn(x, target))
            assert told[-1] == pytest.approx(asked, rel=1e-12)
    assert len(made) == len(X)
    assert "_row" not in vars(model)
    np.testing.assert_allclose(told, other.prequential_predict(X, y), rtol=1e-9)
    assert_alike(model._state["targets"], other._state["targets"])


def counted(made, verb):
    def asked(*given):
        made.append(1)
        return verb(*given)

    return asked


def test_the_first_row_after_a_long_call_is_asked_and_taught(monkeypatch):
    model, X, y = begun()
    other, made = copy.deepcopy(model), []
    monkeypatch.setattr(ExpertsRow, "teach", counted(made, ExpertsRow.teach))
    asked, told = one_by_one(model, X[:1], y[:1])
    assert len(made) == 1
    np.testing.assert_allclose(told, asked, rtol=1e-10)
    without_rows(monkeypatch)
    other.partial_fit(X[:1], y[:1])
    assert_alike(model._state, other._state)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("budget", ["tiny", "balanced"])
def test_a_row_that_was_asked_for_is_not_asked_again_when_it_is_learnt(budget, monkeypatch):
    model, X, y = begun(budget=budget, n_known=130)
    other, made = copy.deepcopy(model), []
    monkeypatch.setattr(ExpertsRow, "_ask", counted(made, ExpertsRow._ask))
    for i in range(4):
        row = slice(i, i + 1)
        model.predict(X[row])
        if i % 2:  # another row is asked for in between, and other models learn this one
            twins = copy.copy(model), copy.deepcopy(model)
            twins[0].partial_fit(X[row], y[row])
            twins[1].partial_fit(X[row], y[row])
            model.predict(X[row])
            model.predict(X[4:5])
        before = len(made)
        model.partial_fit(X[row], y[row])
        assert len(made) == before + i % 2
        kept = vars(model._experts()).get("asked_rows", ())
        assert [row.state is model._state for row in kept] in ([], [True])
        other.partial_fit(X[row], y[row])
        assert_alike(model._state, other._state)
        if i % 2:
            assert_alike(model._state, twins[0]._state)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_row_that_was_taught_is_kept_for_the_next_one(n_targets, monkeypatch):
    model, X, y = begun(n_targets, n_known=110)
    before, other, made = copy.copy(model), copy.deepcopy(model), []
    monkeypatch.setattr(ExpertsRow, "__init__", counted(made, ExpertsRow.__init__))
    for i in range(8):
        row = slice(i, i + 1)
        between = copy.copy(model)
        told = copy.deepcopy(between._state)
        model.partial_fit(X[row], y[row])
        assert_alike(between._state, told)  # the row goes on with arrays of its own
        between.partial_fit(X[row], y[row])
        assert_alike(between._state, model._state)
    assert len(made) == 1 + 8  # the others have rows of their own
    without_rows(monkeypatch)
    other.prequential_predict(X[:8], y[:8])
    assert_alike(model._state, other._state)
    assert before.n_samples_seen_ == 110


def test_a_row_that_was_taught_is_not_kept_over_a_birth(monkeypatch):
    model, X, y = begun(n_known=95)
    other = copy.deepcopy(model)
    one_by_one(model, X[:12], y[:12])
    without_rows(monkeypatch)
    one_by_one(other, X[:12], y[:12])
    assert_alike(model._state, other._state)


def spoilt(part, name):
    """Return a verb that teaches a row, and then writes what is no number."""
    teach = ExpertsRow.teach

    def verb(row, *given):
        teach(row, *given)
        part(row.state)[name].flat[0] = np.nan

    return verb


@pytest.mark.parametrize("budget", ["tiny", "fast"])
@pytest.mark.parametrize(
    ("part", "name", "at_once"),
    [
        (lambda state: state, "losses", True),
        (lambda state: state["inputs"], "lags", True),
        (lambda state: state["mixture"]["experts"], "rates", True),
        (lambda state: state["mixture"]["last"], "regrets", True),
        (lambda state: state["mixture"]["fading"][1], "losses", True),
        (lambda state: state["mixture"]["stacks"][0], "theta", True),
        (lambda state: state["banks"]["linear, 1.0"]["experts"], "b", True),
        (lambda state: state["mixture"]["beyond"], "odds", False),  # which no such row writes
    ],
)
def test_what_a_row_has_written_are_numbers(budget, part, name, at_once, monkeypatch):
    model, X, y = begun(budget=budget, n_known=126)
    before = copy.deepcopy(model._state)
    monkeypatch.setattr(ExpertsRow, "teach", spoilt(part, name))
    if not at_once:  # everything is looked at after 128 rows
        model.partial_fit(X[:1], y[:1])
        before = copy.deepcopy(model._state)
        X, y = X[1:], y[1:]
    with pytest.raises(ValueError, match="overflowed"):
        model.partial_fit(X[:1], y[:1])
    assert_alike(before, model._state)


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (lambda state: state["boosting"]["bank"]["experts"], "theta"),
        (lambda state: state["boosting"]["mixture"], "regrets"),
    ],
)
def test_what_a_row_has_written_of_a_chain_are_numbers(part, name, monkeypatch):
    model, X, y = begun(budget="balanced", n_known=130)
    assert model._state["boosting"]
    before = copy.deepcopy(model._state)
    monkeypatch.setattr(ExpertsRow, "teach", spoilt(part, name))
    with pytest.raises(ValueError, match="overflowed"):
        model.partial_fit(X[:1], y[:1])
    assert_alike(before, model._state)


def test_a_row_that_failed_after_it_was_asked_for_leaves_nothing(monkeypatch):
    model, X, y = begun()
    other = copy.deepcopy(model)
    model.predict(X[:1])
    with monkeypatch.context() as patch:
        patch.setattr(SquaredErrors, "learn_row", failing)
        with pytest.raises(ZeroDivisionError):
            model.partial_fit(X[:1], y[:1])
    for one in (model, other):
        one.partial_fit(X[:1], y[:1])
    assert_alike(model._state, other._state)


def failing(*_):
    raise ZeroDivisionError


@pytest.mark.parametrize("budget", ["tiny", "fast"])
def test_asking_writes_nothing(budget):
    model, X, _ = begun(budget=budget)
    before, banks = copy.deepcopy(model._state), model._state["banks"].values()
    held = [bank["experts"]["theta"] for bank in banks]
    model.predict(X[:1])
    assert all(bank["experts"]["theta"] is one for bank, one in zip(banks, held, strict=True))
    assert_alike(before, model._state)


@pytest.mark.long
@pytest.mark.parametrize("asks", [False, True])
def test_a_row_path_goes_on_over_births_and_with_a_model_that_begins_anew(asks):
    stream = make_shifted_stream(1500, base="table", kind="sign", shift_at=0.47, random_state=0)
    X, y = stream.data, stream.target
    model, trials = EarlyBirths(budget="fast", random_state=0).fit(X[:50], y[:50]), set()
    for low, high in ((60, 110), (690, 820)):
        model.partial_fit(X[(n := model.n_samples_seen_) : low], y[n:low])
        expected, told = copy.deepcopy(model).prequential_predict(X[low:high], y[low:high]), []
        with model.rows() as row:
            for x, target in zip(X[low:high], y[low:high], strict=True):
                if asks:
                    row.predict(x)
                told.append(row.learn(x, target))
                trials.add(bool(row._work.state["anew"]["twin"]))
        np.testing.assert_allclose(told, expected, rtol=1e-7, atol=1e-7)
    assert trials == {False, True}


def test_a_row_path_goes_on_where_logarithms_begin():
    """They opened matrices of the row that was in place, and the next one failed."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), np.zeros(80)
    for t in range(1, 80):  # rows have an order: the model goes on as it was
        y[t] = 0.9 * y[t - 1] + X[t, 0] + 0.2 * rng.normal()
    model = OnlineKernelRegressor(budget="balanced", random_state=0).fit(X[:5], y[:5])
    expected = copy.deepcopy(model).prequential_predict(X[5:], y[5:])
    with model.rows() as row:
        told = [row.learn(x, target) for x, target in zip(X[5:], y[5:], strict=True)]
    assert model._state["logarithms"]
    np.testing.assert_allclose(told, expected, rtol=1e-7)


def test_a_row_that_was_asked_for_is_given_to_one_thread():
    """Two that held it would write to the same arrays."""
    experts, states = SimpleNamespace(), [{}, {}]

    def keep_and_take(_):
        taken = []
        for k in range(3000):
            _keep_asked(experts, SimpleNamespace(state=states[k % 2]))
            taken.append(_asked_row(experts, states[0]))
        return taken

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            taken = [row for rows in pool.map(keep_and_take, range(4)) for row in rows if row]
    finally:
        sys.setswitchinterval(interval)
    assert len(taken) > 1000
    assert len({id(row) for row in taken}) == len(taken)
    assert all(row.state is states[0] for row in taken)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("size", [3.0, 8.0, 20.0])
def test_a_doubt_is_one_at_the_age_of_targets_that_began_to_differ_late(size):
    """A hundred equal targets are no age: 40 rows after them a stream is young."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(220, 2))
    y = np.r_[np.full(100, 7.0), X[100:, 0] + 0.1 * rng.normal(size=120)]
    y[140] += size
    one, other = (OnlineKernelRegressor(budget="fast", random_state=0) for _ in range(2))
    told = one_by_one(one.fit(X[:1], y[:1]), X[1:], y[1:])[1]
    expected = other.fit(X[:1], y[:1]).prequential_predict(X[1:], y[1:])
    np.testing.assert_allclose(told, expected, rtol=1e-7, atol=1e-9)
    assert one.n_faulty_ == other.n_faulty_
