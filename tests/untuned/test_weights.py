"""Weights of rows in the estimators without tuning: they enter updates and losses, no counts."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from sklearn_okl import (
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RunningStandardScaler,
    make_streaming_pipeline,
)
from sklearn_okl.untuned import Constants
from sklearn_okl.untuned.rounds import _model
from tests.oracles import default as oracle
from tests.oracles.trees import beside

TREE = DecisionTreeRegressor(max_depth=5, random_state=0)


def fast(**arguments):
    return OnlineKernelRegressor(**{"budget": "fast", "random_state": 0} | arguments)


def stream(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n) + 5.0
    return X, y, rng.choice([0.0, 0.3, 1.0, 4.0], size=n)


def learns(model, X, y, w, ends):
    """Return the progressive forecasts of a stream cut at these rounds."""
    parts = [
        model.prequential_predict(X[a:b], y[a:b], sample_weight=None if w is None else w[a:b])
        for a, b in pairwise(ends)
    ]
    return np.concatenate(parts)


@pytest.mark.long(every=6)
@pytest.mark.parametrize(
    ("arguments", "seed"),
    [
        ({}, 0),
        ({"budget": 6, "forgetting": 0.97}, 1),
        ({"budget": "balanced"}, 2),
        ({"label_delay": 1}, 3),
        ({"label_delay": 23, "lags": 0}, 4),
        ({"label_delay": 40, "lags": 6}, 5),
    ],
)
def test_oracle(arguments, seed):
    X, y, w = stream(127, seed)
    w *= (1.0, 1e-3)[seed % 2]
    model, young = (fast(random_state=seed, **arguments) for _ in range(2))
    forecasts = model.prequential_predict(X, y, sample_weight=w)
    young.fit(X[:63], y[:63], sample_weight=w[:63])  # whose kernels see lags still
    n_first = 64 + model.label_delay
    rest, first = (oracle.of_model(one, X, y, w) for one in (model, young))
    expected = np.concatenate([first[:n_first], rest[n_first:]])
    assert_allclose(forecasts, expected, rtol=1e-8)
    plain = fast(random_state=seed, **arguments).prequential_predict(X, y)
    assert not np.allclose(plain, forecasts, rtol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("arguments", [{}, {"label_delay": 23}, {"trees": TREE}])
def test_none_is_all_ones(arguments):
    X, y, _ = stream(600)  # births among them
    y[[3, 300]] += 1e4  # and a fresh start
    models = fast(**arguments), fast(**arguments)
    forecasts = [
        learns(model, X, y, w, [0, 60, 61, 600])
        for model, w in zip(models, (None, np.ones(600)), strict=True)
    ]
    assert_allclose(*forecasts, rtol=1e-6)
    for name in ("mean_loss", "weight", "n_rounds"):
        assert_allclose(*[model.experts_[name] for model in models], rtol=1e-5, atol=1e-9)
    assert models[0].summary() == models[1].summary()
    assert_allclose(*[model.predict_interval(X[:3]) for model in models], rtol=1e-6)
    assert_allclose(*[model.predict(X[:3], return_std=True)[1] for model in models], rtol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments", [{}, {"label_delay": 23}, {"trees": TREE}, {"trees": Ridge(), "label_delay": 3}]
)
def test_the_cut_is_invisible_and_models_go_on_from_pickles(arguments, monkeypatch):
    constants = Constants(births=(70, 100), burn_in=40)
    monkeypatch.setattr(_model.DefaultModel, "constants", constants)
    X, y, w = stream()
    X[50, 1] = np.nan  # a layout of its own
    y[[20, 150]] = 1e4, -1e5
    whole = fast(**arguments)
    expected = whole.prequential_predict(X, y, sample_weight=w)
    for ends in ([0, 1, 2, 29, 31, 64, 66, 70, 99, 141, 151, 200], [0, 17, *range(62, 106), 200]):
        model, parts = fast(**arguments), []
        for low, high in pairwise(ends):
            parts.append(learns(model, X, y, w, [low, high]))
            model = pickle.loads(pickle.dumps(model))
        assert_allclose(np.concatenate(parts), expected, rtol=1e-6, atol=1e-6)
        assert_allclose(model.predict(X), whole.predict(X), rtol=1e-6)
        for name in ("mean_loss", "weight"):
            assert_allclose(model.experts_[name], whole.experts_[name], rtol=1e-5, atol=1e-9)
        assert_allclose(model.predict_interval(X[:3]), whole.predict_interval(X[:3]), rtol=1e-6)
        assert model.summary() == whole.summary()


@pytest.mark.long(every=2)
@pytest.mark.parametrize("delay", [0, 7])
def test_forecasts_are_those_of_a_queue(delay):
    X, y, w = stream(150)
    expected = fast(label_delay=delay).prequential_predict(X, y, sample_weight=w)
    model, forecasts = fast(label_delay=delay), np.zeros(len(y))
    for t in range(delay + 1, len(y)):
        row = slice(t - 1 - delay, t - delay)
        model.partial_fit(X[row], y[row], sample_weight=w[row])
        forecasts[t] = model.predict(X[t : t + 1])[0]
    assert_allclose(forecasts, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("trees", [False, TREE])
def test_rows_of_weight_0_teach_nothing_but_are_known(trees):
    X, y, _ = stream()
    model = fast(trees=trees, lags=2).fit(X, y)
    mass = model._state["scored"].tolist()
    before = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[:40], y[:40] + 1.0, sample_weight=np.zeros(40))
    assert model.n_samples_seen_ == 240
    for name, bank in model._state["banks"].items():
        if bank["forgetting"] == 1.0:
            theta = before._state["banks"][name]["experts"]["theta"]
            assert_allclose(bank["experts"]["theta"], theta, rtol=1e-7, atol=1e-9)
    for level in ("experts", "last"):
        states = [m._state["mixture"][level] for m in (before, model)]
        for name in ("regrets", "squares", "rates"):
            assert_array_equal(states[1][name], states[0][name])
    for name in ("mean_loss", "weight"):
        assert_allclose(model.experts_[name], before.experts_[name], rtol=1e-12)
    assert model._state["scored"].tolist() == [mass[0] + 40, mass[1]]
    assert_array_equal(model.predict(X[:2], return_std=True)[1], before.predict(X[:2], True)[1])
    scores = [m._state["errors"]["scores"][0] for m in (before, model)]
    assert_array_equal(scores[1], scores[0])
    # the latest targets are those of these rows
    known = model._state["inputs"]["lags"]
    guard = model._state["targets"][0]
    assert_allclose(known[:, 0] * guard["unit"] + guard["origin"], y[[39, 38]] + 1.0)
    assert model._state["inputs"]["targets"]["weights"][0] == 240.0


def test_targets_of_weight_0_do_not_matter():
    X, y, w = stream(300)
    w[100:] = 1.0
    w[50:90] = 0.0
    other = y.copy()
    other[50:90] = np.random.default_rng(1).permutation(y[50:90])
    expected, forecasts = (
        fast(lags=0).prequential_predict(X, z, sample_weight=w) for z in (y, other)
    )
    assert_allclose(forecasts[90:], expected[90:], atol=0.05)  # but for scale and range
    learnt = fast(lags=0).prequential_predict(X, other)
    assert np.abs(learnt - expected)[90:100].max() > 0.2


@pytest.mark.parametrize("trees", [False, TREE])
def test_nothing_is_learnt_before_the_first_weight(trees):
    X, y, _ = stream(130)
    model = fast(trees=trees, lags=0)
    w = np.repeat([0.0, 1.0], 65)
    forecasts = learns(model, X, y, w, [0, 20, 65, 130])
    assert_array_equal(forecasts[1:65], np.full(64, y[0]))  # the origin
    assert np.square(forecasts - y)[90:].mean() < np.square(forecasts - y)[:65].mean() / 2
    assert np.isfinite(model.experts_["mean_loss"]).all()


def test_the_table_and_the_summary_are_of_weighted_losses():
    X, y, w = stream(60)
    y[0] = 5.0
    model = fast()
    losses = np.square(model.prequential_predict(X, y, sample_weight=w) - y)
    mean = np.average(losses[1:], weights=w[1:])
    assert f"progressive forecasts is {mean:.4g}" in " ".join(model.summary().split())
    of_walk = np.square(np.diff(y))
    persistence = np.flatnonzero(model.experts_["name"] == "persistence")[0]
    loss = np.average(np.append(0.0, of_walk), weights=w)
    assert model.experts_["mean_loss"][persistence] == pytest.approx(loss)
    assert model.expert_losses_[persistence] == pytest.approx(w[1:] @ of_walk)


@pytest.mark.long
def test_trees_are_fitted_with_weights():
    X, y, w = stream(200)
    y += 3.0 * np.sin(np.arange(200) / 9.0)  # rows have an order, and kernels go on with their lags
    w[:30] = 0.0  # the first fit knows nothing
    kernels = fast(lags=2).prequential_predict(X, y, sample_weight=w)
    expected = beside(kernels, X, y, TREE, 2, 0, weights=w)
    forecasts = fast(trees=TREE, lags=2).prequential_predict(X, y, sample_weight=w)
    assert_allclose(forecasts, expected, rtol=1e-6)


@pytest.mark.long
def test_trees_take_weights_from_mid_stream_on_and_beside_gaps():
    X, y, w = stream(120)
    X[::9, 0] = np.nan
    model = fast(trees=Ridge())  # it takes no gaps: means fill them
    expected = learns(fast(trees=Ridge()), X, y, np.append(np.ones(50), w[50:]), [0, 50, 120])
    model.partial_fit(X[:50], y[:50])
    with sklearn.config_context(enable_metadata_routing=True):
        forecasts = model.prequential_predict(X[50:], y[50:], sample_weight=w[50:])
    assert_allclose(forecasts, expected[50:], rtol=1e-6)


def test_trees_that_take_no_weights():
    X, y, w = stream(60)
    model = fast(trees=KNeighborsRegressor())
    with pytest.raises(ValueError, match="KNeighborsRegressor in 'trees' has a 'fit' that takes"):
        model.fit(X, y, sample_weight=w)
    assert not hasattr(model, "n_features_in_")
    model.fit(X, y)  # and without any all is well


@pytest.mark.long(every=2)
@pytest.mark.parametrize("classifies", [False, True])
@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(3), "one weight for each"),
        (np.full(5, -1.0), "Negative values"),
        (np.full(5, np.nan), "NaN"),
        (np.full(5, np.inf), "infinity"),
        (np.ones((5, 2)), "one weight for each"),
        (np.full(5, 1e10), "more than 1e.09"),
    ],
)
def test_invalid_weights_are_refused_and_leave_the_model_as_it_was(classifies, weights, sentence):
    X, y, w = stream(60)
    model = fast()
    if classifies:
        model, y = OnlineKernelClassifier(budget="fast", random_state=0), y > 5.0
    for verb in ("fit", "partial_fit", "prequential_predict"):
        with pytest.raises(ValueError, match=sentence):
            getattr(model, verb)(1e3 * X[:5], y[:5], sample_weight=weights)
    assert not hasattr(model, "n_features_in_")
    model.fit(X, y, sample_weight=w)
    before = pickle.dumps(model)
    for verb in ("fit", "partial_fit", "prequential_predict"):
        with pytest.raises(ValueError, match=sentence):
            getattr(model, verb)(1e3 * X[:5], y[:5], sample_weight=weights)
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="All values in sample_weight are zero"):
        model.fit(X, y, sample_weight=np.zeros(60))
    assert pickle.dumps(model) == before


@pytest.mark.long
def test_a_classifier_learns_with_weights():
    X, y, w = stream(400)
    labels = np.where(y > 5.0, "up", "down")
    model = OnlineKernelClassifier(budget="fast", random_state=0)
    whole = model.fit(X, labels, sample_weight=w).decision_function(X)
    cut = OnlineKernelClassifier(budget="fast", random_state=0)
    cut.partial_fit(X[:1], labels[:1], ["down", "up"], w[:1])
    forecasts = cut.prequential_predict(X[1:], labels[1:], sample_weight=w[1:])
    assert set(forecasts) == {"down", "up"}
    assert_allclose(cut.decision_function(X), whole, rtol=1e-6, atol=1e-8)
    rare = np.where(labels == "up", 10.0, 0.1)
    heavy = OnlineKernelClassifier(budget="fast", random_state=0, lags=0)
    heavy.fit(X, labels, sample_weight=rare)
    plain = OnlineKernelClassifier(budget="fast", random_state=0, lags=0).fit(X, labels)
    assert heavy.decision_function(X).mean() > plain.decision_function(X).mean() + 0.05
    right = heavy.predict(X) == labels
    assert heavy.score(X, labels, sample_weight=w) == pytest.approx(np.average(right, weights=w))


@pytest.mark.parametrize("routing", [False, True])
def test_a_pipeline_hands_weights_on(routing):
    X, y, w = stream()
    Z = RunningStandardScaler().prequential_transform(X)
    expected = fast().fit(Z, y, sample_weight=w).predict(Z[:5])
    with sklearn.config_context(enable_metadata_routing=routing):
        model = fast()
        if routing:
            model.set_fit_request(sample_weight=True).set_partial_fit_request(sample_weight=True)
        pipeline = make_streaming_pipeline(RunningStandardScaler(), model)
        pipeline.fit(X, y, sample_weight=w)
        assert_allclose(pipeline[-1].predict(Z[:5]), expected)
        pipeline.fit(X[:70], y[:70], sample_weight=w[:70])
        pipeline.partial_fit(X[70:], y[70:], sample_weight=w[70:])
        assert_allclose(pipeline[-1].predict(Z[:5]), expected, rtol=1e-6)


@pytest.mark.long
def test_long_runs_of_weight_0_and_of_small_weights():
    X, y, _ = stream(2500)
    model = fast(budget=8, lags=0).fit(X[:300], y[:300])
    model.partial_fit(X[300:], y[300:], sample_weight=0.0)
    assert np.isfinite(model.predict_interval(X[:5])).all()
    # what forgets has forgotten, and all count alike in the means that do
    assert np.square(model.predict(X[:50]) - y[:50]).mean() < 0.5 * y.var()
    for size in (1e-100, 1e-3, 1e9):
        fast(budget=8).fit(X[:90], y[:90], sample_weight=size).predict(X)
    small = fast(budget=8).prequential_predict(X[:400], y[:400], sample_weight=np.full(400, 1e-3))
    assert np.square(small - y[:400])[200:].mean() < 0.8 * y[:400].var()
