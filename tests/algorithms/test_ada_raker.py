"""AdaRaker: its loop, each class as a pair of its own, and what it gains over Raker under drift."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import AdaRakerClassifier, AdaRakerRegressor, RakerClassifier, RakerRegressor
from sklearn_okl.datasets import load_dataset
from sklearn_okl.losses import get_loss
from tests.oracles import first_order

WIDTHS = {"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0]}


def stream(seed, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) / 2
    return X, np.sin(3 * X[:, 0]) / 2 + 0.5 + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "options",
    [{}, {"restart": "zero", "eta0": 1.0}, {"eta0": 0.3, "shrinkage": 0.1}, {"form": "phase"}],
)
def test_equals_the_literal_loop(options, seed):
    X, y = stream(seed)
    model = AdaRakerRegressor(WIDTHS, n_components=12, random_state=seed, **options)
    cuts = slice(1), slice(1, 40), slice(40, 41), slice(41, None)
    found = np.concatenate([model.prequential_predict(X[rows], y[rows]) for rows in cuts])
    if "form" in options:
        whole = AdaRakerRegressor(WIDTHS, n_components=12, random_state=seed, **options)
        assert_allclose(found, whole.prequential_predict(X, y), rtol=1e-12, atol=1e-13)
        return
    expected, awake = first_order.ada_raker(X, y, model.frequencies_, **options)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    weights = np.array(sorted(one["h"] for one in awake))
    assert len(model.weights_) == 8  # log2(151), and one
    assert_allclose(np.sort(model.weights_), weights / weights.sum(), rtol=1e-9)


@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_two_classes_are_its_recursion_and_more_are_so_many_pairs(loss):
    X, y = stream(3)
    labels = np.digitize(y, [0.35, 0.65])
    options = {"n_components": 12, "random_state": 0, "loss": loss, "loss_bound": 2.0}
    options |= {"restart": "zero", "eta0": 1.0}
    model = AdaRakerClassifier(WIDTHS, **options).fit(X, labels)
    values = model.decision_function(X[:20])
    for k in range(3):
        pair = AdaRakerClassifier(WIDTHS, **options).fit(X, labels == k)
        assert_allclose(values[:, k], pair.decision_function(X[:20]), rtol=1e-9, atol=1e-12)
        assert_allclose(model.weights_[k], pair.weights_, rtol=1e-9)
    assert_array_equal(model.predict(X[:20]), model.classes_[values.argmax(axis=1)])
    assert_allclose(pair.decision_function(X[:20]), literal_pair(X, labels == 2, pair, loss))


def literal_pair(X, y, model, name):
    """Decision values after all rows, by a loop over rows and intervals."""
    loss, signs = get_loss(name), np.where(y, 1.0, -1.0)
    Z = first_order.fourier_features(X, model.frequencies_)
    K, D = Z.shape[1:]
    awake = []
    for t in range(1, len(y) + 2):
        awake = [one for one in awake if t <= one["last"]]
        for j in range(t.bit_length()):
            if t % 2**j == 0:
                eta = min(0.5, model.eta0 / np.sqrt(2**j))
                one = {"last": t + 2**j - 1, "eta": eta, "h": eta}
                awake.append(one | {"theta": np.zeros((K, D)), "w": np.ones(K)})
        if t > len(y):
            break
        z, target = Z[t - 1], signs[t - 1]
        for one in awake:
            one["f"] = (one["theta"] * z).sum(axis=1)
            one["forecast"] = one["w"] @ one["f"] / one["w"].sum()
        h = np.array([one["h"] for one in awake])
        forecast = h @ [one["forecast"] for one in awake] / h.sum()
        for one in awake:
            eta, theta, f = one["eta"], one["theta"], one["f"]
            regret = loss.value(target, forecast) - loss.value(target, one["forecast"])
            one["h"] *= np.exp(eta * regret / model.loss_bound)
            costs = loss.value(target, f) / model.loss_bound
            one["w"] = one["w"] * np.exp(-eta * (costs + model.shrinkage * (theta**2).sum(axis=1)))
            slopes = loss.slope(target, f)[:, None] * z
            one["theta"] = theta - eta * (slopes + 2 * model.shrinkage * theta)
    h = np.array([one["h"] for one in awake])
    values = [
        one["w"] @ np.einsum("kd,nkd->kn", one["theta"], Z[:20]) / one["w"].sum() for one in awake
    ]
    return h @ np.array(values) / h.sum()


def jump(seed, n=2000, at=1600):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) / 2
    sides = np.where(np.arange(n) < at, 1.0, -1.0)
    return X, 0.5 + sides * np.sin(3 * X[:, 0]) / 2 + 0.05 * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(2))
def test_it_loses_less_than_raker_with_a_late_jump(seed):
    X, y = jump(seed)
    options = {"n_components": 20, "random_state": seed}
    models = {f"Raker {step}": RakerRegressor(WIDTHS, eta0=step, **options) for step in (0.1, 0.9)}
    models["AdaRaker"] = AdaRakerRegressor(WIDTHS, **options)
    models["from nothing"] = AdaRakerRegressor(WIDTHS, restart="zero", **options)
    losses = {name: (model.prequential_predict(X, y) - y) ** 2 for name, model in models.items()}
    before, after, all_of_it = (
        {name: float(loss[rows].mean()) for name, loss in losses.items()}
        for rows in (slice(1600), slice(1600, None), slice(None))
    )
    print({name: (round(before[name], 4), round(after[name], 4)) for name in models})
    assert all_of_it["AdaRaker"] < min(all_of_it["Raker 0.1"], all_of_it["Raker 0.9"])
    assert after["AdaRaker"] < 0.6 * min(after["Raker 0.1"], after["Raker 0.9"])
    # steps that do not decay cost something where nothing changes, against the best decaying ones
    assert before["AdaRaker"] < min(before["Raker 0.1"], 1.1 * before["Raker 0.9"])
    assert before["from nothing"] > 3 * before["AdaRaker"]  # Rakers that know nothing weigh most


@pytest.mark.data
@pytest.mark.long
def test_on_tom_s_hardware_it_loses_less_than_raker(data_files):
    X, y = load_dataset("raker_toms", return_X_y=True)
    X, y = X[:2000] / np.linalg.norm(X, axis=1).max(), y[:2000]
    options = {"n_components": 50, "random_state": 0}
    found = ((AdaRakerRegressor(WIDTHS, **options).prequential_predict(X, y) - y) ** 2).mean()
    for step in (0.1, 0.9):
        raker = RakerRegressor(WIDTHS, eta0=step, **options)
        assert found < ((raker.prequential_predict(X, y) - y) ** 2).mean()


@pytest.mark.parametrize("restart", ["last", "zero"])
@pytest.mark.parametrize("kind", ["random", "jump", "greedy"])
def test_within_the_bound_on_every_interval(kind, restart):
    model = AdaRakerRegressor(WIDTHS, n_components=12, restart=restart, random_state=0)
    X, y = jump(0, n=256, at=140)
    y = np.clip(y, 0.0, 1.0)
    if kind == "random":
        y = np.random.default_rng(0).uniform(size=len(y))
    if kind == "greedy":  # on the other side of each forecast
        model.partial_fit(X[:1], [1.0])
        y[0] = 1.0
        for t in range(1, len(y)):
            y[t] = float(model.predict(X[t : t + 1])[0] < 0.5)
            model.partial_fit(X[t : t + 1], y[t : t + 1])
    else:
        model.fit(X, y)
    over, shares = [], []
    options = {"restart": restart}
    forecasts, _ = first_order.ada_raker(X, y, model.frequencies_, over=over, **options)
    Z = first_order.fourier_features(X, model.frequencies_)
    for one in over:
        rows = slice(one["first"] - 1, one["last"])
        own = ((forecasts[rows] - y[rows]) ** 2).sum()
        for k in range(3):
            z, ridge = Z[rows, k], 1e-3 * (rows.stop - rows.start) * np.eye(Z.shape[2])
            theta = np.linalg.solve(z.T @ z + ridge, z.T @ y[rows])
            regret = own - ((z @ theta - y[rows]) ** 2).sum()
            shares.append(regret / first_order.ada_raker_bound(one, k, theta))
    print(f"{kind}, {restart}: largest share of the bound {max(shares):.3f}")
    assert 0.0 < max(shares) <= 1.0
    assert len(over) > 400  # of 511


def test_classes_that_change_places():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1200, 2))
    y = (X[:, 0] * X[:, 1] > 0) ^ (np.arange(1200) >= 600)
    models = (
        AdaRakerClassifier(WIDTHS, eta0=4.0, random_state=0),
        RakerClassifier(WIDTHS, eta0=4.0, random_state=0),
    )
    right = [(model.prequential_predict(X, y) == y)[600:].mean() for model in models]
    assert right[0] > max(right[1], 0.7)


def test_a_bad_row_changes_nothing():
    X, y = stream(4)
    model = AdaRakerRegressor(WIDTHS, n_components=12, random_state=0).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X, np.where(y > 0.5, np.nan, y))
    assert_array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match="cannot change"):
        model.set_params(eta0=0.1).partial_fit(X, y)
