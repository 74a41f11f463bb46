"""budget="tiny": its experts are those of others in less room, and it is what every budget is."""

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
from sklearn_okl.untuned.experts._banks import frequencies_of
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


@pytest.mark.long
@pytest.mark.parametrize(("n_inputs", "most"), [(16, 20_000), (40, 32_000)])
def test_it_is_small(n_inputs, most):
    X, y = stream(n_inputs, 800)
    model = tiny()
    for low, high in ((0, 200), (200, 511), (511, 779), (779, 780), (780, 800)):
        model.partial_fit(X[low:high], y[low:high])
        assert len(to_bytes(model, dtype="float32")) < most
        assert n_bytes(vars(model)) < 2 * most
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


def test_it_is_little_worse_than_fast():
    X, y = make_friedman_stream(1500, random_state=1)
    fast, small = (
        np.square(
            OnlineKernelRegressor(budget=budget, random_state=0).prequential_predict(X, y) - y
        )[300:].mean()
        for budget in ("fast", "tiny")
    )
    assert small < 1.6 * fast
    assert small < 0.5 * np.var(y)


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
    assert_array_equal(keyed.predict(X[:5], keys=np.ones(5, dtype=int)), alone.predict(X[:5]))
    row = RowRegressor(tiny())
    for x, target in zip(X[:30].tolist(), y[:30].tolist(), strict=True):
        row.learn_one(dict(zip("abc", x, strict=True)), target)
    assert np.isfinite(row.predict_one({"a": 0.0, "b": 1.0}))
