"""OGDRegressor against its oracle, its theorems, its options one by one, and extreme steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import check_estimator

from sklearn_okl.evaluation import check_online_estimator
from sklearn_okl.learners import OGDRegressor
from sklearn_okl.losses import get_loss
from tests.oracles.gradient import ogd

LOSSES = ["squared_error", "absolute_error", "pinball"]


def stream(seed, n=300, d=6, n_targets=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 1.0, size=d)
    shape = (n,) if n_targets is None else (n, n_targets)
    return X, np.sin(X[:, 0] * 2).reshape(n, *[1] * (len(shape) - 1)) + rng.normal(size=shape)


def assert_equals_oracle(X, y, rtol=1e-10, **params):
    model = OGDRegressor(**params)
    forecasts = model.prequential_predict(X, y)
    expected, theta = ogd(X, y, **params)
    assert_allclose(forecasts, expected, rtol=rtol, atol=rtol * np.abs(expected).max())
    assert_allclose(model.coef_, theta, rtol=rtol, atol=rtol * np.abs(theta).max())


@pytest.mark.long(every=4)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shrinkage", [0.0, 1e-3, 0.7])
@pytest.mark.parametrize("radius", [None, 0.3])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_the_literal_loop(loss, shrinkage, radius, seed):
    X, y = stream(seed)
    assert_equals_oracle(X, y, loss=loss, shrinkage=shrinkage, radius=radius)
    assert_equals_oracle(
        X, y, loss=loss, shrinkage=shrinkage, radius=radius, eta0=0.03, power_t=0, quantile=0.9
    )


@pytest.mark.parametrize("product", [0.49, 0.5, 0.500001, 0.51, 0.9, 1.0, 20.0])
@pytest.mark.parametrize("power_t", [0.0, 0.5, 2.0])
def test_shrinkage_that_wipes_out_or_turns_the_past(product, power_t):
    # 1 - 2 lambda eta crosses 0 at a product of lambda and eta of 1/2; beyond 1, theta explodes
    n = 200 if product <= 1 else 80
    X, y = stream(2, n=n)
    assert_equals_oracle(X, y, shrinkage=product / 0.1, eta0=0.1, power_t=power_t)


@pytest.mark.parametrize("scale", [3.0, 10.0, 30.0])
def test_steps_that_overshoot_first_and_settle_later(scale):
    # errors grow by many orders of magnitude within a block, and shrink again
    X, y = stream(3, n=400)
    assert_equals_oracle(scale * X, y, power_t=1.0, eta0=0.3, rtol=1e-9)


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge", "hinge"])
def test_margin_losses_through_the_private_verbs(loss):
    X, y = stream(4)
    labels = np.where(y > 0, 1.0, -1.0)
    model = OGDRegressor(1e-3, loss=loss, eta0=0.5)
    state = model._start(X.shape[1])
    expected, theta = ogd(X, labels, loss, 1e-3, eta0=0.5)
    assert_allclose(model._learn(state, X, labels), expected, rtol=1e-10, atol=1e-12)
    assert_allclose(model._weights(state), theta, rtol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("radius", [None, 0.5])
def test_several_targets_are_so_many_models(loss, radius):
    X, Y = stream(5, n_targets=3)
    model = OGDRegressor(0.01, loss=loss, radius=radius)
    forecasts = model.prequential_predict(X, Y)
    assert forecasts.shape == Y.shape
    assert model.coef_.shape == (3, X.shape[1])
    for k in range(3):
        alone = OGDRegressor(0.01, loss=loss, radius=radius)
        assert_allclose(forecasts[:, k], alone.prequential_predict(X, Y[:, k]), rtol=1e-10)
        assert_allclose(model.coef_[k], alone.coef_, rtol=1e-10)
        assert_allclose(model.predict(X[:5])[:, k], alone.predict(X[:5]), rtol=1e-10)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("radius", [None, 0.5])
@pytest.mark.parametrize("n_targets", [None, 1, 2])
def test_a_bank_is_its_singles(loss, radius, n_targets):
    X, Y = stream(6, n=200, n_targets=n_targets)
    Z = np.stack([X, 2 * X[:, ::-1], np.cos(X)])
    bank = OGDRegressor(0.02, loss=loss, radius=radius)
    state = bank._start(X.shape[1], n_targets, bank=[{"gamma": g} for g in range(3)])
    half = {name: v[1:] if isinstance(v, np.ndarray) else v for name, v in state.items()}
    bank._learn(half, Z[1:, :70], Y[:70])  # a slice of the state is taught in place
    bank._learn(state | {"theta": state["theta"][:1]}, Z[:1, :70], Y[:70])
    state["t"] = half["t"]
    F = bank._learn(state, Z[:, 70:], Y[70:])
    G = bank._forecast(state, Z)
    for k in range(3):
        single = OGDRegressor(0.02, loss=loss, radius=radius).partial_fit(Z[k, :70], Y[:70])
        assert_allclose(F[k], single.prequential_predict(Z[k, 70:], Y[70:]), rtol=1e-10, atol=1e-12)
        assert_allclose(G[k], single.predict(Z[k]), rtol=1e-10, atol=1e-12)
        assert_allclose(bank._weights(state)[k], single.coef_, rtol=1e-10, atol=1e-12)


def test_a_ridge_in_the_grid_is_refused():
    with pytest.raises(ValueError, match="does not have"):
        OGDRegressor()._start(3, bank=[{"gamma": 1.0, "alpha": 1.0}])


def contrary_targets(model, X):
    """Targets at whichever end of [-1, 1] is farther from the forecast."""
    y, f = np.empty(len(X)), np.zeros(len(X))
    for t in range(len(X)):
        f[t] = model.predict(X[t : t + 1])[0] if t else 0.0
        y[t] = 1.0 if f[t] <= 0 else -1.0
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    return y, f


@pytest.mark.long(every=2)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["random", "contrary"])
def test_zinkevich_regret_with_a_ball_and_decreasing_steps(loss, kind, record_property):
    shares = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n, radius, eta0 = 400, [0.5, 1.0, 2.0][seed], [0.5, 0.2, 1.0][seed]
        X = rng.normal(size=(n, 3))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        if kind == "random":
            model = OGDRegressor(loss=loss, eta0=eta0, radius=radius, quantile=0.8)
            y = np.clip(X @ rng.normal(size=3) * 2 + rng.normal(size=n), -1, 1)
            f = model.prequential_predict(X, y)
        else:  # theta is driven to and fro over 0, half a step away on average
            radius, eta0 = 1.0, [2.0, 3.0, 4.0][seed]
            model = OGDRegressor(loss=loss, eta0=eta0, radius=radius)
            X = np.tile(X[:1], (n, 1))
            y, f = contrary_targets(model, X)
        assert np.linalg.norm(model.coef_) <= radius * (1 + 1e-12)
        rule = get_loss(loss, model.quantile)
        steepest = np.abs(rule.slope(y, f)).max()  # the rows have norm 1
        bound = (2 * radius**2 / eta0 + eta0 * steepest**2) * np.sqrt(n)
        # about the best point in the ball, among many
        rivals = rng.normal(size=(2000, 3))
        rivals *= radius * rng.uniform(size=(2000, 1)) / np.linalg.norm(rivals, axis=1)[:, None]
        rivals = np.vstack([rivals, model.coef_, 0 * model.coef_])
        best = rule.value(y[:, None], X @ rivals.T).sum(axis=0).min()
        regret = rule.value(y, f).sum() - best
        assert regret <= bound
        shares.append(float(regret / bound))
    record_property("share of the bound used", shares)
    assert max(shares) > {"random": 0.02, "contrary": 0.3}[kind]


@pytest.mark.parametrize("loss", LOSSES)
def test_regret_with_a_constant_step(loss):
    tightest = 0.0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        eta = [0.01, 0.05, 0.1, 0.2][seed]
        X = rng.normal(size=(500, 4))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        w = rng.normal(size=4)
        y = X @ w + [0.0, 0.1, 0.0, 1.0][seed] * rng.normal(size=500)
        f = OGDRegressor(loss=loss, eta0=eta, power_t=0, quantile=0.3).prequential_predict(X, y)
        rule = get_loss(loss, 0.3)
        gradients = np.square(rule.slope(y, f)).sum()  # norms of the rows are 1
        regret = rule.value(y, f).sum() - rule.value(y, X @ w).sum()
        bound = w @ w / (2 * eta) + eta / 2 * gradients
        assert regret <= bound * (1 + 1e-12)
        tightest = max(tightest, regret / bound)
        if loss == "squared_error":
            left = (1 - 2 * eta) * rule.value(y, f).sum()
            assert left <= rule.value(y, X @ w).sum() + w @ w / (2 * eta)
    # Seeds 0 and 2 have no noise: the square loss then uses half of the bound, for all the others
    # lose is what convexity gives away, 2 e^2 for e^2.
    assert tightest > 0.4


def test_a_forecast_does_not_depend_on_its_own_target():
    X, y = stream(7, n=40)
    wild = y.copy()
    wild[-1] = 1e12
    a, b = (OGDRegressor(0.01).prequential_predict(X, targets) for targets in (y, wild))
    assert_array_equal(a, b)


def test_numbers_that_overflow_are_refused_with_a_sentence():
    X, y = stream(8, n=400)
    for loss, radius in (("squared_error", None), ("squared_error", 1e300)):
        model = OGDRegressor(loss=loss, radius=radius).fit(X, y)
        before = model.coef_
        with pytest.raises(ValueError, match="Scale the features"):
            model.partial_fit(1e4 * X, y)
        assert_array_equal(model.coef_, before)
        assert model.n_samples_seen_ == 400


def test_parameters_are_checked():
    X, y = stream(9, n=10)
    for bad in ({"shrinkage": -1.0}, {"eta0": 0.0}, {"loss": "hinge"}, {"radius": 0.0}):
        with pytest.raises(ValueError, match="must be"):
            OGDRegressor(**bad).fit(X, y)


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    "model",
    [
        OGDRegressor(),
        OGDRegressor(0.5, eta0=1.5, power_t=0.1),
        OGDRegressor(1e-3, loss="pinball", radius=0.5),
    ],
)
def test_the_laws(model):
    check_online_estimator(model)


@pytest.mark.long(every=3)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("loss", LOSSES)
def test_scikit_learn_checks(loss):
    check_estimator(OGDRegressor(loss=loss))
