"""budget="tiny": its experts are those of others in less room, and it is what every budget is."""

import gc
from weakref import ref

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.fleet_tiny import n_bytes
from sklearn_okl import (
    KeyedRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RowRegressor,
    VAWRegressor,
    from_bytes,
    to_bytes,
)
from sklearn_okl._linalg import inverse_spd
from sklearn_okl.datasets import make_friedman_stream, make_timetable
from sklearn_okl.untuned import Constants
from sklearn_okl.untuned.experts._banks import frequencies_of, n_heard
from sklearn_okl.untuned.experts._draws import drawn, drawn_in_halves
from sklearn_okl.untuned.experts._experts import Experts
from sklearn_okl.untuned.experts._packed import PackedRidge


def tiny(**parameters):
    return OnlineKernelRegressor(budget="tiny", random_state=0, **parameters)


def stream(d, n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("late", [0, 3])
@pytest.mark.parametrize("n_targets", [None, 2])
@pytest.mark.parametrize("forgetting", [1.0, 0.97])
def test_packed_regressions_are_those_that_keep_all(forgetting, n_targets, late):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(3, 300, 5))
    Y = rng.normal(size=300 if n_targets is None else (300, n_targets))
    weights = rng.uniform(0.0, 2.0, size=300)
    bank = [{"alpha": alpha} for alpha in (0.1, 1.0, 10.0)]
    found = []
    for kind in (PackedRidge, VAWRegressor):
        learner, forecasts = kind(forecaster="ridge", forgetting=forgetting), []
        state, low = learner._start(5, n_targets, bank, late), 0
        for high in (1, 2, 3, 40, 41, 150, 151, 152, 290, 300):  # as calls that end so
            rows = slice(low, high)
            forecasts.append(learner._learn(state, Z[:, rows], Y[rows], weights[rows]))
            learner._close(state)
            low = high
        if kind is PackedRidge:
            assert not {"A", "P", "inverse"} & state.keys()
            assert state["sums"].shape == (3, 15)
        sums = [learner._sums(state, k) for k in range(3)]
        known = [state[name] for name in ("theta", "b", "squares", "mass", "t")]
        asked = learner._forecast(state, Z[:, :4])
        found.append([np.concatenate(forecasts, axis=1), asked, *sums, *known])
    for mine, other in zip(*found, strict=True):
        assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


def test_a_triangle_that_rounding_has_made_indefinite_has_its_eigenvalues_lifted():
    learner = PackedRidge(forecaster="ridge")
    state = learner._start(4, 1, [{"alpha": 0.1}, {"alpha": 0.1}])
    Z = np.stack([[1e9, 1e9, 1e9, 3e8], [1.0, 2.0, 0.0, 1.0]])  # 0.1 beside 1e18 is lost
    for y in (1.0, 2.0):
        learner._learn(state, Z[:, None], np.full((1, 1), y))
    for k in range(2):
        S = learner._sums(state, k)
        theta = inverse_spd(S, 0.1) @ state["b"][k]
        assert_allclose(state["theta"][k], theta, rtol=1e-9, atol=1e-9 * np.abs(theta).max())
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(learner._sums(state, 0))


def growing(X, y):
    """Yield a tiny model before and after births and reviews."""
    model = tiny()
    for low, high in ((0, 200), (200, 511), (511, 779), (779, 780), (780, 3000)):
        yield model.partial_fit(X[low:high], y[low:high])


@pytest.mark.long
@pytest.mark.parametrize(("n_inputs", "most"), [(16, 20_000), (40, 32_000)])
def test_its_arrays_are_small(n_inputs, most):
    assert max(n_bytes(vars(model)) for model in growing(*stream(n_inputs, 3000))) < 2.2 * most


def test_nobody_holds_what_was_known_before_a_birth_or_a_block():
    X, y = stream(3, 600)
    model = tiny().partial_fit(X[:500], y[:500])
    for i in range(500, 504):  # a row alone is what something is kept for
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    features, rows = model._state["banks"]["born"]["features"], model._state["inputs"]["rows"]
    before = [ref(features["masks"]), ref(features["scales"]), ref(rows["known"])]
    del features, rows
    model.partial_fit(X[504:], y[504:])
    gc.collect()
    assert [one() is None for one in before] == [True] * 3


@pytest.mark.long
@pytest.mark.parametrize(("n_inputs", "most"), [(16, 20_000), (40, 32_000)])
def test_it_is_small(n_inputs, most):
    X, y = stream(n_inputs, 3000)
    for model in growing(X, y):
        assert len(to_bytes(model, dtype="float32")) < most
    assert model.experts_["learnt"].any()
    fast = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, y)
    assert n_bytes(vars(model)) < n_bytes(vars(fast)) / 20


def test_rounding_to_float32_costs_nothing():
    X, y = stream(6, 600)
    model = tiny().fit(X[:400], y[:400])
    packed = from_bytes(to_bytes(model, dtype="float32"))
    losses = [
        np.square(one.prequential_predict(X[400:], y[400:]) - y[400:]).mean()
        for one in (packed, model)
    ]
    assert losses[0] < 1.001 * losses[1]


def test_draws_are_made_again():
    X, y = stream(5, 600)
    model, other = tiny().fit(X, y), tiny().fit(X, y)
    for name, bank in model._state["banks"].items():
        assert "frequencies" not in bank["features"] or "linear" in name
        frequencies = frequencies_of(bank["features"])
        assert_array_equal(frequencies, frequencies_of(other._state["banks"][name]["features"]))
        is_kernel = "linear" not in name
        assert (np.abs(frequencies).max(axis=(1, 2), initial=0.0) > 0.0).all() == is_kernel
    scales = model._state["banks"]["born"]["features"]["scales"][0]
    assert scales[:2].min() > 2.0 * scales[2:5].max()  # the columns that matter


@pytest.mark.long
def test_it_is_little_worse_than_fast_without_similar_rows_for_which_it_has_no_room():
    class Without(OnlineKernelRegressor):
        constants = OnlineKernelRegressor.constants.__class__(neighbours=())

    X, y = make_friedman_stream(1500, random_state=1)
    fast, small = (
        np.square(Without(budget=budget, random_state=0).prequential_predict(X, y) - y)[300:].mean()
        for budget in ("fast", "tiny")
    )
    assert small < 1.6 * fast
    assert small < 0.5 * np.var(y)


def test_kernels_hear_those_before_them():
    X, y = stream(5, 600)
    model = tiny(lags=0).fit(X, y)
    banks, X = model._state["banks"], X[:20]
    heard = [n_heard(bank["features"]) for bank in banks.values()]
    assert heard == [0, 1, 0, 3, 4]
    experts, state = model._experts(), model._state
    F, _ = experts.ask(state, X)
    bank = banks["kernels"]
    before = bank["experts"]["theta"][0, 1, 0]
    assert abs(before) > 1e-3
    bank["experts"]["theta"] = bank["experts"]["theta"].copy()
    bank["experts"]["theta"][0, 1, 0] = 0.0
    without, _ = experts.ask(state, X)
    scale = experts.inputs.look(state["inputs"], X).scale.item()
    assert_allclose(F[0, :, 1] - without[0, :, 1], before * F[0, :, 0] / scale)


def test_forecasts_do_not_depend_on_the_unit_of_targets():
    X, y = stream(4, 500)
    F = tiny().prequential_predict(X, y)
    for unit in (2.0**-20, 2.0**20):
        assert_allclose(tiny().prequential_predict(X, unit * y) / unit, F, atol=1e-2 * np.std(y))


@pytest.mark.parametrize("cut", [1, 80])
def test_a_line_that_is_far_off_is_heard_within_what_targets_can_be(cut):
    X, y = stream(3, 480)
    X[400, 0] = 30.0  # so far that a line is absurd, not so far that the value is
    y[400] = y[399]
    model = tiny(lags=0).fit(X[:400], y[:400])
    experts = model.predict_experts(X[400:401])[0]
    line, kernel = experts[:2]
    assert line > 2.0 * y.max()
    assert kernel < 2.0 * y.max()
    low, F = 400, []
    while low < 480:
        F.append(model.prequential_predict(X[low : low + cut], y[low : low + cut]))
        low += cut
    assert np.abs(np.concatenate(F) - y[400:])[5:].mean() < 0.5


@pytest.mark.parametrize("lags", [0, 4])
def test_what_is_heard_is_explained(lags):
    X, y = stream(4, 700)
    model = tiny(lags=lags).fit(X, y)
    found = model.explain(X[:30], background=X[:100])
    assert np.abs(found.remainder).max() < 0.05 * np.std(y)
    sums = found.base + found.values.sum(axis=1) + found.remainder
    assert_allclose(sums, model.predict(X[:30]), atol=1e-8)
    importances = np.abs(found.values).mean(axis=0)
    assert importances[:2].min() > 5.0 * importances[2:].max()


@pytest.mark.parametrize("forgetting", [None, 0.99])
def test_one_kernel_one_ridge_and_no_births(forgetting):
    class Few(OnlineKernelRegressor):
        constants = Constants(bandwidths=(("rbf", (0.2,)),), alphas=(0.1,), births=())

    X, y = stream(4, 300)
    model = Few(budget="tiny", forgetting=forgetting, random_state=0)
    assert np.square(model.prequential_predict(X, y) - y)[150:].mean() < 0.5 * np.var(y)
    assert "born" not in model._state["banks"]


def test_half_of_the_frequencies_see_no_lags():
    member = {"kernel": "rbf", "bandwidth": 0.2, "pairs": False}
    found = drawn_in_halves(member, np.ones(5), 9, np.random.RandomState(0), 2)
    assert_array_equal((found != 0.0).sum(axis=1), [9, 9, 9, 5, 5])
    rng = np.random.RandomState(0)
    assert_array_equal(found[:3, :4], drawn(member, np.ones(3), 4, rng))
    assert_array_equal(found[:, 4:], drawn(member, np.ones(5), 5, rng))


def test_several_targets_classes_and_late_labels():
    X, y = stream(4, 400)
    model = tiny(label_delay=3).fit(X, np.column_stack([y, -5.0 * y]))
    F = model.predict(X[:50])
    assert_allclose(F[:, 1], -5.0 * F[:, 0], atol=1.0)
    assert model.predict_interval(X[:2]).shape == (2, 2, 2)
    classes = np.digitize(y, [-0.5, 0.5])
    model = OnlineKernelClassifier(budget="tiny", label_delay=2, random_state=0)
    model.partial_fit(X[:1], classes[:1], classes=[0, 1, 2])
    P = model.prequential_predict_proba(X[1:], classes[1:])
    right = (P.argmax(axis=1) == classes[1:])[100:].mean()
    assert right > np.bincount(classes).max() / len(classes) + 0.15


def test_frames_with_text_gaps_and_hours():
    X, y = make_timetable(900, n_columns=2, random_state=0)
    rng = np.random.default_rng(0)
    shops = rng.choice(["a", "b", "c"], size=len(X))
    gap = rng.random(len(X)) < 0.1
    frame = pd.DataFrame(
        {"hour": X[:, 0], "day": X[:, 1], "shop": shops, "x": np.where(gap, np.nan, y - y + gap)}
    )
    y = y + 10.0 * (shops == "b")
    model = tiny()
    errors = model.prequential_predict(frame, y) - y
    assert np.square(errors[600:]).mean() < 0.1 * np.var(y)
    columns = model._state["columns"]
    assert len(columns["steps"]["tree"]["columns"]) > 5
    assert columns["steps"]["past"].length == 0  # a tree stays as it was grown
    grown = columns["steps"]["tree"]["thresholds"].copy()
    model.partial_fit(frame[:300], y[:300])
    assert_array_equal(model._state["columns"]["steps"]["tree"]["thresholds"], grown)


@pytest.mark.parametrize(("n_numbers", "n_texts", "lags"), [(20, 5, 0), (30, 2, 4)])
def test_kernels_are_born_beside_a_tree_whatever_room_it_takes(n_numbers, n_texts, lags):
    rng = np.random.default_rng(n_numbers)
    X = pd.DataFrame(rng.normal(size=(800, n_numbers))).add_prefix("number")
    for k in range(n_texts):
        X[f"text{k}"] = rng.choice(list("uvw")[: 2 + k % 2], 800)
    X[["hour", "day"]] = rng.integers(6, size=(800, 2))
    y = 4.0 * (X["hour"].between(2, 3) & (X["day"] < 3)) + X["number0"]
    y += 0.3 * rng.normal(size=800)
    model = OnlineKernelRegressor(budget="tiny", lags=lags, random_state=0).fit(X, y)
    assert model._state["inputs"]["n_trees"]
    assert len(model._state["banks"]["born"]["members"])


@pytest.mark.long
def test_a_fault_a_level_and_a_model_of_each_key():
    X, y = stream(3, 500)
    y[200] = 1e6
    y[350:] += 30.0
    model = tiny()
    errors = np.abs(model.prequential_predict(X, y) - y)
    assert model.n_faulty_ <= 4
    assert np.median(errors[400:]) < 1.0
    assert np.median(errors[201:240]) < 1.0
    keys = np.arange(500) % 2
    keyed = KeyedRegressor(tiny(), prior=None).fit(X, y, keys=keys)
    alone = tiny().fit(X[keys == 1], y[keys == 1])
    found = keyed.predict(X[:5], keys=np.ones(5, dtype=int))
    assert_allclose(found, alone.predict(X[:5]), rtol=1e-12)
    row = RowRegressor(tiny())
    for x, target in zip(X[:30].tolist(), y[:30].tolist(), strict=True):
        row.learn_one(dict(zip("abc", x, strict=True)), target)
    assert np.isfinite(row.predict_one({"a": 0.0, "b": 1.0}))


def test_a_long_call_learns_as_many_rows_at_once_as_other_budgets(monkeypatch):
    """Nothing is due at the end of each block that a model of this budget looks at."""
    X, y = stream(4, 4096)
    model, lengths = tiny().fit(X[:2048], y[:2048]), []
    learn_rows = Experts.learn_rows

    def counted(experts, state, X, *given):
        lengths.append(len(X))
        return learn_rows(experts, state, X, *given)

    monkeypatch.setattr(Experts, "learn_rows", counted)
    model.partial_fit(X[2048:], y[2048:])
    assert sum(lengths) == 2048
    assert max(lengths) > 512
