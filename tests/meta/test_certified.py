"""Certificates of regret: exact against solutions on all rows, and never below the regret of u."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import (
    BOARegressor,
    CertifiedRegressor,
    ConcatenatedVAWRegressor,
    EWARegressor,
    MLPolyRegressor,
    MLProdRegressor,
    MultiKernelRegressor,
    OGDRegressor,
    RunningStandardScaler,
    VAW2Regressor,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)
from sklearn_okl.evaluation import check_online_estimator, vaw_logdet_bound
from tests.oracles.certificates import regrets_of_experts, ridge

KINDS = ("normal", "adversarial", "collinear")


def stream(kind, seed, n=100, d=4):
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    if kind == "adversarial":  # the target is the sign that hurts most, rows are few directions
        X, model = np.eye(d)[rng.integers(0, d, size=n)] * 3.0, VAWRegressor(0.5)
        for t in range(n):
            at = model.predict(X[t : t + 1])[0] if t else 0.0
            y[t] = -1.0 if at >= 0 else 1.0
            model.partial_fit(X[t : t + 1], y[t : t + 1])
    elif kind == "collinear":
        X[:, 1] = X[:, 0] + 1e-7 * X[:, 1]
        X[:, 2] *= 1e3
        y += 5.0 * X[:, 0]
    return X, y


@pytest.mark.long(every=13)
@pytest.mark.parametrize("forecaster", ["vaw", "ridge"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_in_every_round_no_u_is_further_ahead_and_the_ridge_solution_is_as_far(
    seed, kind, forecaster
):
    X, y = stream(kind, seed)
    rng = np.random.default_rng(seed)
    model, loss = CertifiedRegressor(VAWRegressor(0.5, forecaster=forecaster)), 0.0
    for t in range(len(y)):
        rows = slice(t, t + 1)
        loss += float((model.prequential_predict(X[rows], y[rows])[0] - y[t]) ** 2)
        linear = model.regret_certificate().linear
        best = model.regressor_.coef_
        slack = 1e-9 * (y[: t + 1] ** 2).sum()
        for u in (best, rng.normal(size=4), best + 0.1 * rng.normal(size=4), np.zeros(4)):
            regret = loss - ((y[: t + 1] - X[: t + 1] @ u) ** 2).sum()
            behind = linear.constant + linear.alpha * u @ u
            assert regret <= behind + slack
            if u is best:
                assert abs(regret - behind) <= slack
    assert_allclose(linear.constant, loss - ridge(X, y, 0.5)[1], rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_below_the_bound_of_the_paper(seed):
    X, y = stream("normal", seed)
    model, constants = CertifiedRegressor(), []
    for t in range(len(y)):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        constants.append(model.regret_certificate().linear.constant)
    bound = vaw_logdet_bound(X, y_bound=np.abs(y).max(), norm_sq=0.0)
    assert np.all(constants <= bound)
    assert constants[-1] > 0.02 * bound[-1]


def test_weights_intercept_and_several_targets():
    rng = np.random.default_rng(4)
    X, y, w = rng.normal(size=(150, 3)), rng.normal(size=(150, 2)) + 3.0, rng.integers(0, 4, 150)
    model = CertifiedRegressor(VAWRegressor(2.0, fit_intercept=True))
    forecasts = model.prequential_predict(X, y, sample_weight=w)
    told, Z = model.regret_certificate(), np.column_stack([X, np.ones(150)])
    losses = w @ (forecasts - y) ** 2
    assert_allclose(told.loss, losses)
    for j in range(2):
        least = ridge(Z, y[:, j], 2.0, w)[1]
        assert_allclose(told.linear.constant[j], losses[j] - least, rtol=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_both_levels_of_vaw2(seed):
    X, y = stream("normal", seed)
    grid = {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]}
    inner = VAW2Regressor(grid, n_components=10, alpha=0.3, aggregator_alpha=2.0, random_state=seed)
    model = CertifiedRegressor(inner)
    loss = ((model.prequential_predict(X, y) - y) ** 2).sum()
    told = model.regret_certificate()
    twin = VAW2Regressor(**inner.get_params())
    F = []
    for t in range(len(y)):  # what the experts forecast, a row at a time
        F.append(twin.predict_experts(X[t : t + 1])[0] if t else np.zeros(3))
        twin.partial_fit(X[t : t + 1], y[t : t + 1])
    F = np.array(F)
    assert_allclose(told.combinations.constant, loss - ridge(F, y, 2.0)[1], rtol=1e-8)
    assert_allclose(told.experts, regrets_of_experts(F, y, twin_forecasts(inner, X, y)), rtol=1e-8)
    bank, maps = twin._bank, twin._state["features"]
    for k, Z in enumerate(bank.transform(maps, X)):
        assert_allclose(told.kernels.constant[k], loss - ridge(Z, y, 0.3)[1], rtol=1e-8)
        assert told.kernels.alpha[k] == 0.3
    one = CertifiedRegressor(ConcatenatedVAWRegressor(grid, n_components=10, random_state=0))
    assert one.fit(X, y).regret_certificate().linear.constant > 0


def twin_forecasts(inner, X, y):
    return VAW2Regressor(**inner.get_params()).prequential_predict(X, y)


@pytest.mark.parametrize(
    "inner",
    [
        BOARegressor(),
        MLPolyRegressor(),
        MLProdRegressor(gradient_trick=False),
        EWARegressor(),
        BOARegressor(label_delay=3),
    ],
    ids=lambda inner: type(inner).__name__,
)
def test_experts_exactly_and_mixtures_by_slopes(inner):
    rng = np.random.default_rng(6)
    y = rng.normal(size=300)
    F = y[:, None] + rng.normal(size=(300, 4)) * [0.5, 1.0, 1.0, 2.0]
    asleep = F.copy()
    asleep[rng.random(F.shape) < 0.2] = np.nan
    asleep[:, 0] = F[:, 0]
    for rows in (F, asleep):
        model = CertifiedRegressor(inner)
        forecasts = model.prequential_predict(rows, y)
        told = model.regret_certificate()
        assert_allclose(told.loss, ((y - forecasts) ** 2).sum())
        assert_allclose(told.experts, regrets_of_experts(rows, y, forecasts), atol=1e-9)
    model = CertifiedRegressor(inner).fit(F, y)
    told = model.regret_certificate()
    assert told.mixtures >= told.experts.max() - 1e-9
    for weights in rng.dirichlet(np.ones(4) * 0.5, size=50):
        assert told.loss - ((y - F @ weights) ** 2).sum() <= told.mixtures + 1e-9


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    "inner",
    [
        BOARegressor(),
        VAWRegressor(),
        VAW2Regressor({"gamma": [0.01, 0.1]}, n_components=10, random_state=0),
    ],
    ids=lambda inner: type(inner).__name__,
)
def test_it_does_not_depend_on_the_cut_and_is_saved(inner, tmp_path):
    X, y = stream("normal", 1, n=150)
    whole = CertifiedRegressor(inner).fit(X, y).regret_certificate()
    model = CertifiedRegressor(inner)
    for rows in np.split(np.arange(150), [1, 3, 31, 33, 64, 65, 130]):
        model.partial_fit(X[rows], y[rows])
        save(model, tmp_path / "model")
        model = load(tmp_path / "model")
    told = model.regret_certificate()
    assert told.keys() == whole.keys()
    assert_allclose(told.loss, whole.loss, rtol=1e-12)
    for name in ("linear", "combinations"):
        if name in told:
            assert_allclose(told[name].constant, whole[name].constant, rtol=1e-9)
    if "experts" in told:
        assert_allclose(told.experts, whole.experts, rtol=1e-9)
    assert told.loss == model.regret_certificate().loss


@pytest.mark.long
def test_laws_with_an_aggregator():
    check_online_estimator(CertifiedRegressor(BOARegressor()))


def test_in_a_pipeline_it_speaks_of_rows_as_they_were_scaled():
    X, y = stream("normal", 3)
    model = make_streaming_pipeline(RunningStandardScaler(), CertifiedRegressor())
    forecasts = model.prequential_predict(7.0 + 3.0 * X, y)
    Z = RunningStandardScaler().prequential_transform(7.0 + 3.0 * X)
    told = model[-1].regret_certificate()
    expected = ((y - forecasts) ** 2).sum() - ridge(Z, y, 1.0)[1]
    assert_allclose(told.linear.constant, expected, rtol=1e-9)


def test_who_has_no_certificate_is_told_so():
    X, y = stream("normal", 0, n=20)
    for inner, error, words in (
        (VAWRegressor(forgetting=0.9), ValueError, "who forgets"),
        (
            MultiKernelRegressor({"gamma": [0.1]}, VAWRegressor(forgetting=0.9)),
            ValueError,
            "expert__forgetting",
        ),
        (OGDRegressor(), TypeError, "OGDRegressor"),
        (VAWRegressor, TypeError, "not an instance"),
        (3, ValueError, "regressor"),
    ):
        with pytest.raises(error, match=words):
            CertifiedRegressor(inner).fit(X, y)
    with pytest.raises(TypeError, match="takes no sample_weight"):
        CertifiedRegressor(BOARegressor()).fit(X, y, sample_weight=np.ones(20))
    with pytest.raises(AttributeError, match="before it has seen a row"):
        CertifiedRegressor().regret_certificate()
    model = CertifiedRegressor().fit(X, y)
    before = model.regret_certificate()
    with warnings.catch_warnings(), pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((1, 4), np.nan), [1.0])
    assert model.regret_certificate() == before
