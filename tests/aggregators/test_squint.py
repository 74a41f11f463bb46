"""Squint against a sum over rates and its theorem; Adapt-ML-Prod is ML-Prod here."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl.aggregators import BOARegressor, MLPolyRegressor, MLProdRegressor, SquintRegressor
from tests.oracles import aggregation


def experts(seed, n=200):
    rng = np.random.default_rng(seed)
    y = rng.uniform(size=n)
    F = np.clip(y[:, None] + rng.normal(size=(n, 4)) * [0.1, 0.3, 0.5, 0.2], 0, 1)
    F[:, 3] = np.where(np.arange(n) < n // 2, F[:, 3], 1 - F[:, 3])  # good in the first half
    return F, y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1.0, 7.0])
def test_equals_the_sum_over_many_rates(seed, scale):
    F, y = experts(seed)
    model = SquintRegressor(scale, gradient_trick=False)
    found = np.r_[
        model.prequential_predict(F[:77], y[:77]), model.prequential_predict(F[77:], y[77:])
    ]
    assert_allclose(found, aggregation.squint(F, y, scale), atol=1e-6)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_without_a_scale_the_unit_does_not_matter_but_for_powers_of_two(unit):
    F, y = experts(3)
    unit = 2.0 ** np.round(np.log2(unit))
    plain = SquintRegressor().prequential_predict(F, y)
    assert_allclose(SquintRegressor().prequential_predict(unit * F, unit * y) / unit, plain)


def greedy(n=300, K=3):
    """Targets at the end that is farther from the forecast, of experts at 0, 1 and one half."""
    model, F = SquintRegressor(1.0, gradient_trick=False), np.array([[0.0, 1.0, 0.5]])
    y, forecasts = np.empty(n), np.empty(n)
    for t in range(n):
        forecasts[t] = model.predict(F)[0] if t else 0.5
        y[t] = 1.0 if forecasts[t] <= 0.5 else 0.0
        model.partial_fit(F, y[t : t + 1])
    return np.repeat(F, n, axis=0), y, forecasts


@pytest.mark.parametrize("kind", ["random", "half", "greedy"])
def test_the_theorem_holds(kind):
    if kind == "greedy":
        F, y, forecasts = greedy()
    else:
        F, y = experts(4, 600)
        y = np.random.default_rng(0).uniform(size=600) if kind == "random" else y
        forecasts = SquintRegressor(1.0, gradient_trick=False).prequential_predict(F, y)
    r = ((forecasts - y) ** 2)[:, None] - (F - y[:, None]) ** 2
    R, V, K = r.sum(axis=0), (r**2).sum(axis=0), F.shape[1]
    late = 0.5 + np.log(len(y) + 1)
    bound = np.sqrt(2 * V) * (1 + np.sqrt(2 * np.log(K * late))) + 5 * np.log(1 + 2 * K * late)
    print(f"{kind}: share used {np.max(R / bound):.3f}")
    assert (bound >= R).all()


@pytest.mark.long(every=3)
@pytest.mark.parametrize("seed", range(3))
def test_ml_prod_is_adapt_ml_prod_but_for_the_rate_that_counts_the_round(seed):
    F, y = experts(seed, 1500)
    paper, regrets = aggregation.adapt_ml_prod(F, y)
    here = MLProdRegressor(gradient_trick=False).prequential_predict(F, y)
    losses = ((paper - y) ** 2).mean(), ((here - y) ** 2).mean()
    print(f"Adapt-ML-Prod {losses[0]:.5f}, MLProd {losses[1]:.5f}")
    assert np.abs(paper - here).mean() < 2e-3
    assert_allclose(*losses, rtol=0.03)
    others = [
        model(gradient_trick=False).prequential_predict(F, y)
        for model in (BOARegressor, MLPolyRegressor, SquintRegressor)
    ]
    for other in others:  # which are other rules
        assert np.abs(paper - other).mean() > 3 * np.abs(paper - here).mean()
    bound = np.log(4 * (1 + 0.5 * np.log(1 + len(y) / 2)))
    V = 1 + (regrets**2).sum(axis=0)
    assert (
        regrets.sum(axis=0)
        <= (bound / np.sqrt(np.log(4)) + 2 * np.sqrt(np.log(4))) * np.sqrt(V) + 2 * bound
    ).all()


class AdaptMLProd(MLProdRegressor):
    """Adapt-ML-Prod by its two lines: the former rate multiplies, and the prior is raised too."""

    def _start_rule(self, log_prior):
        state = super()._start_rule(log_prior)
        surprises = state["surprises"]
        return state | {"rates": np.minimum(0.5, np.sqrt(surprises)), "products": log_prior.copy()}

    def _log_weights(self, state):
        return np.log(state["rates"]) + state["products"]

    def _update(self, state, regrets, y):
        former, products = state["rates"].copy(), state["products"].copy()
        super()._update(state, regrets, y)  # for the rates, which are the same
        products += np.log1p(former * regrets)
        state["products"] = products * state["rates"] / former


@pytest.mark.parametrize("seed", range(3))
def test_with_two_lines_changed_ml_prod_equals_adapt_ml_prod(seed):
    F, y = experts(seed, 400)
    paper, _ = aggregation.adapt_ml_prod(F, y, linear=True)
    model = AdaptMLProd(loss="absolute_error")
    assert_allclose(model.prequential_predict(F, y), paper, rtol=1e-9, atol=1e-12)
