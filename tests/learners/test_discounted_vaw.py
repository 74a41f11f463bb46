"""Discounted VAW and its grid: their loops, their theorems on hostile streams, hints, refusals."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import (
    DiscountedVAWAARegressor,
    DiscountedVAWRegressor,
    RunningStandardScaler,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)
from sklearn_okl.evaluation import (
    discounted_vaw_aa_regret_bound,
    discounted_vaw_path_bound,
    discounted_vaw_regret_bound,
    dynamic_regret,
    fused_ridge_comparator,
    prequential,
)
from tests.oracles import changing, rooted


def stream(seed, n=300, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    path = np.cumsum(rng.normal(size=(n, d)), axis=0) * 0.1
    return X, (X * path).sum(axis=1) + 0.3 * rng.normal(size=n)


def in_pieces(model, X, y, hint=None, cuts=(1, 33, 95, 96, 160)):
    """Learn by pieces and single rows, which all give the same forecasts."""
    ends = [*cuts, *range(cuts[-1] + 1, cuts[-1] + 40), len(y)]
    found, low = [], 0
    for high in ends:
        more = {} if hint is None else {"hint": hint[low:high]}
        found.append(model.prequential_predict(X[low:high], y[low:high], **more))
        low = high
    return np.concatenate(found)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("forgetting", [0.4, 0.75, 0.97, 1.0])
@pytest.mark.parametrize("hint", ["zero", "last", "given"])
def test_equals_the_literal_loop(forgetting, hint):
    X, y = stream(int(100 * forgetting))
    given = y + np.random.default_rng(1).normal(size=len(y))
    hints = {"zero": None, "last": np.r_[0.0, y[:-1]], "given": given}[hint]
    every = 64 if forgetting > 0.7 else int(-10 / np.log10(forgetting))
    expected = changing.discounted_vaw(X, y, 0.5, forgetting, hints, every)
    kind = "zero" if hint == "given" else hint
    model = DiscountedVAWRegressor(0.5, forgetting=forgetting, hint=kind)
    found = in_pieces(model, X, y, given if hint == "given" else None)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.long(every=6)
@pytest.mark.parametrize("hint", ["zero", "last", "given"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_grid_equals_its_literal_loop(hint, seed):
    X, y = stream(seed)
    hints = {"zero": None, "last": np.r_[0.0, y[:-1]], "given": 0.5 * y}[hint]
    expected = changing.discounted_grid(X, y, 0.5, hints)
    model = DiscountedVAWAARegressor(0.5, hint="zero" if hint == "given" else hint)
    found = in_pieces(model, X, y, hints if hint == "given" else None)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
    assert len(model.weights_) == len(model.discounts_) == int(np.log2(len(y))) + 2
    assert len(model.coef_) == len(model.weights_)


@pytest.mark.parametrize("size", [1e6, 1e8])
@pytest.mark.parametrize("forgetting", [0.75, 0.97, 1.0])
def test_hints_on_large_columns_that_are_nearly_collinear(size, forgetting):
    """At f0eb89e a fiftieth of the targets was lost at 1e6; oracles of sums lose as much."""
    rng = np.random.default_rng(int(100 * forgetting))
    own = rng.normal(size=(200, 3))
    X, y, hints = size + own, own[:, 0], rng.normal(size=200)
    zero = rooted.vaw(X, y, 0.5, forgetting=forgetting)
    ridge = rooted.vaw(X, y, 0.5, "ridge", forgetting)
    tolerance = 1e-14 * size * np.abs(ridge).max()
    model = DiscountedVAWRegressor(0.5, forgetting=forgetting)
    assert_allclose(in_pieces(model, X, y), zero, rtol=0.0, atol=tolerance)
    # a mean of the ridge forecast and the hint, by what is left of the first
    found = in_pieces(DiscountedVAWRegressor(0.5, forgetting=forgetting), X, y, hints)
    clear = np.abs(ridge) > 0.1
    expected = zero + (1.0 - zero / np.where(clear, ridge, 1.0)) * hints
    assert_allclose(found[clear], expected[clear], rtol=0.0, atol=100 * tolerance)


def test_without_hints_it_is_vaw_that_forgets():
    X, y = stream(3)
    forecasts = DiscountedVAWRegressor(forgetting=0.9).prequential_predict(X, y)
    assert_array_equal(forecasts, VAWRegressor(forgetting=0.9).prequential_predict(X, y))


def greedy(model, X, width=1.0):
    """Targets at whichever end of [-1, 1] is farther from the forecast."""
    y, forecasts = np.empty(len(X)), np.empty(len(X))
    for t in range(len(X)):
        forecasts[t] = model.predict(X[t : t + 1])[0] if t else 0.0
        y[t] = width if forecasts[t] <= 0 else -width
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    return y, forecasts


def hostile(kind, seed, model, n=200):
    """Return a stream of a kind, and the model's forecasts."""
    rng = np.random.default_rng(seed)
    d = 1 if kind == "greedy" else 3
    X = np.ones((n, 1)) if kind == "greedy" else rng.normal(size=(n, d))
    if kind == "greedy":
        y, forecasts = greedy(model, X)
        return X, y, forecasts
    if kind == "random":
        y = np.clip(rng.normal(size=n), -2, 2)
    elif kind == "drifting":
        angles = np.linspace(0, 3 * np.pi, n)
        y = np.cos(angles) * X[:, 0] + np.sin(angles) * X[:, 1] + 0.1 * rng.normal(size=n)
    else:
        y = X[:, 0] * np.where(np.arange(n) < n // 2, 1.0, -1.0)
    return X, y, model.prequential_predict(X, y)


@pytest.mark.long(every=7)
@pytest.mark.parametrize("kind", ["random", "drifting", "jump", "greedy"])
@pytest.mark.parametrize("forgetting", [0.6, 0.9, 0.99])
def test_the_theorem_holds_against_paths(kind, forgetting, record_property):
    shares = []
    for seed in range(2):
        model = DiscountedVAWRegressor(forgetting=forgetting, hint=["zero", "last"][seed])
        X, y, forecasts = hostile(kind, seed, model)
        hints = np.r_[0.0, y[:-1]] if seed else np.zeros(len(y))
        for fusion in (0.1, 1.0, 10.0, 1e8):
            path = fused_ridge_comparator(X, y, fusion=fusion).path
            bounds = discounted_vaw_path_bound(X, y, path, forgetting=forgetting, hints=hints)
            regrets = dynamic_regret(forecasts, X, y, path)
            assert (regrets <= bounds + 1e-9).all(), (kind, forgetting, fusion)
            shares.append(regrets[-1] / bounds[-1])
    record_property("share", float(max(shares)))
    print(f"{kind}, forgetting {forgetting}: share used {max(shares):.3f}")
    if kind == "greedy":
        assert max(shares) >= 0.1


def test_the_bound_is_its_literal_sum():
    X, y = stream(4, n=140)
    path = fused_ridge_comparator(X, y, fusion=2.0).path
    for n in (1, 64, 140):
        rows = slice(n)
        found = discounted_vaw_path_bound(
            X[rows], y[rows], path[rows], forgetting=0.9, alpha=0.3, hints=0.5 * y[rows]
        )
        expected = changing.path_bound(X[rows], y[rows], path[rows], 0.3, 0.9, 0.5 * y[rows])
        assert_allclose(found[-1], expected, rtol=1e-9)


def test_what_forgets_nothing_exceeds_the_bound_of_what_forgets():
    n = 2000
    X = np.ones((n, 1))
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    path = y[:, None]
    (bound,) = discounted_vaw_path_bound(X, y, path, forgetting=0.9)[-1:]
    regret = dynamic_regret(VAWRegressor().prequential_predict(X, y), X, y, path)[-1]
    held = DiscountedVAWRegressor(forgetting=0.9).prequential_predict(X, y)
    assert dynamic_regret(held, X, y, path)[-1] <= bound < regret / 2


@pytest.mark.parametrize("seed", [0, 1])
def test_the_closed_bound_is_the_larger_one(seed):
    X, y = stream(seed)
    u = np.tile([0.5, -0.2, 0.1], (len(y), 1))
    for forgetting in (0.6, 0.95, 1.0):
        sharp = discounted_vaw_path_bound(X, y, u, forgetting=forgetting, alpha=2.0)
        closed = discounted_vaw_regret_bound(
            np.arange(1, len(y) + 1),
            n_features=3,
            y_bound=np.abs(y).max(),
            feature_bound=np.linalg.norm(X, axis=1).max(),
            forgetting=forgetting,
            alpha=2.0,
            norm_sq=u[0] @ u[0],
        )
        assert (sharp <= closed + 1e-9).all()


@pytest.mark.long
def test_squares_of_targets_in_place_of_their_bound_are_too_little():
    """A finding: rows of 0, whose targets are 0, let the past fade and cost nothing."""
    gap, n_active, forgetting = 100, 150, 0.99
    X = np.zeros(((gap + 1) * n_active, 1))
    X[gap :: gap + 1] = 1.0
    model, y = DiscountedVAWRegressor(forgetting=forgetting), np.zeros(len(X))
    loss = 0.0
    for t in range(len(X)):
        if X[t, 0]:
            forecast = model.predict(X[t : t + 1])[0]
            y[t] = 1.0 if forecast <= 0 else -1.0
            loss += (forecast - y[t]) ** 2
        if X[t, 0] or t % (gap + 1) == 0:
            end = t + 1 if X[t, 0] else t + gap
            model.partial_fit(X[t:end], y[t:end])
    regret = loss - n_active  # against 0
    growth = np.log1p(1 / (1 - forgetting ** (gap + 1)))
    too_little = growth + np.log(1 / forgetting) * np.square(y).sum()
    path = np.zeros_like(X)
    enough = discounted_vaw_path_bound(X, y, path, forgetting=forgetting)[-1]
    print(f"regret {regret:.1f}, with squares of targets {too_little:.1f}, proved {enough:.1f}")
    assert 2 * too_little < regret <= enough


@pytest.mark.long(every=8)
@pytest.mark.parametrize("kind", ["random", "drifting", "jump", "greedy"])
@pytest.mark.parametrize("y_range", [None, (-12.0, 12.0)])
def test_the_grid_keeps_its_bound_against_every_member(kind, y_range):
    model = DiscountedVAWAARegressor(y_range=y_range)
    X, y, forecasts = hostile(kind, 5, model)
    width = np.ptp(y) if y_range is None else 24.0
    shares = []
    for memory in range(int(np.log2(len(y))) + 1):
        rate = 1 - 0.5**memory if memory else 1.0
        member = changing.born_at(X, y, 1.0, rate, np.zeros(len(y)), 2**memory if memory else 0)
        if memory:
            still = changing.discounted_vaw(X, y, 1.0, 1.0)
            member[: 2**memory] = still[: 2**memory]
        bound = discounted_vaw_aa_regret_bound(
            memory, width=width, is_range_known=y_range is not None, first_loss=y[0] ** 2
        )
        regret = ((forecasts - y) ** 2 - (member - y) ** 2).sum()
        shares.append(regret / bound)
        assert regret <= bound
    print(f"grid, {kind}, range {y_range}: share used {max(shares):.3f}")


def test_hints_change_forecasts_and_nothing_else():
    X, y = stream(6)
    plain, hinted = DiscountedVAWRegressor(), DiscountedVAWRegressor()
    plain.partial_fit(X, y)
    hinted.partial_fit(X, y, hint=10 * y)
    assert_array_equal(plain.coef_, hinted.coef_)
    far = hinted.predict(X[:1], hint=[1e6])
    assert far[0] > plain.predict(X[:1])[0] + 1e3
    mean, std = hinted.predict(X[:4], return_std=True, hint=np.zeros(4))
    assert_array_equal(mean, plain.predict(X[:4]))
    assert (std > 0).all()


def test_columns_of_targets_have_hints_of_their_own():
    X, y = stream(7)
    Y = np.column_stack([y, -2 * y + 1])
    model = DiscountedVAWRegressor(hint="last", forgetting=0.9)
    forecasts = model.prequential_predict(X, Y)
    for k in range(2):
        alone = DiscountedVAWRegressor(hint="last", forgetting=0.9)
        assert_allclose(forecasts[:, k], alone.prequential_predict(X, Y[:, k]), atol=1e-10)
        assert_allclose(model.predict(X[:3])[:, k], alone.predict(X[:3]), atol=1e-10)


def test_models_are_merged_and_unlearn_where_there_is_no_order():
    X, y = stream(11)
    halves = [
        DiscountedVAWRegressor(forgetting=1.0).fit(X[rows], y[rows])
        for rows in (slice(150), slice(150, None))
    ]
    whole = DiscountedVAWRegressor(forgetting=1.0).fit(X, y)
    assert_allclose(halves[0].merge(halves[1]).coef_, whole.coef_, rtol=1e-9)
    unlearnt = whole.unlearn(X[150:], y[150:])
    expected = DiscountedVAWRegressor(forgetting=1.0).fit(X[:150], y[:150])
    assert_allclose(unlearnt.coef_, expected.coef_, rtol=1e-9)
    for options in ({"forgetting": 0.9}, {"forgetting": 1.0, "hint": "last"}):
        model = DiscountedVAWRegressor(**options).fit(X, y)
        with pytest.raises(TypeError, match="cannot be"):
            model.unlearn(X[:2], y[:2])
    with pytest.raises(TypeError, match="sample_weight"):
        expected.unlearn(X[:2], y[:2], sample_weight=[1.0, 2.0])


@pytest.mark.parametrize("model", [DiscountedVAWRegressor(), DiscountedVAWAARegressor()])
@pytest.mark.parametrize(
    ("hint", "says"),
    [(np.zeros(9), "shape"), (np.full(10, np.nan), "NaN"), (["a"] * 10, "numbers")],
)
def test_faulty_hints_are_refused_and_nothing_is_learnt(model, hint, says):
    X, y = stream(8)
    model = sklearn.base.clone(model).fit(X[:50], y[:50])
    before = model.predict(X[50:60])
    with pytest.raises(ValueError, match=says):
        model.partial_fit(X[50:60], y[50:60], hint=hint)
    with pytest.raises(ValueError, match=says):
        model.predict(X[50:60], hint=hint)
    assert_array_equal(model.predict(X[50:60]), before)
    assert model.n_samples_seen_ == 50


def test_hints_are_routed_through_a_pipeline():
    X, y = stream(9)
    hint = y + 1.0
    with sklearn.config_context(enable_metadata_routing=True):
        learner = DiscountedVAWRegressor()
        for verb in ("fit", "partial_fit", "predict"):
            getattr(learner, f"set_{verb}_request")(hint=True)
        model = make_streaming_pipeline(RunningStandardScaler(), learner)
        model.partial_fit(X[:100], y[:100], hint=hint[:100])
        routed = model.predict(X[100:110], hint=hint[100:110])
    Z = RunningStandardScaler().fit(X[:100]).transform(X[100:110])
    assert_allclose(routed, model[-1].predict(Z, hint=hint[100:110]))
    assert np.abs(routed - model[-1].predict(Z)).max() > 1e-6


@pytest.mark.long
@pytest.mark.parametrize("model", [DiscountedVAWRegressor(hint="last"), DiscountedVAWAARegressor()])
def test_late_labels_and_constant_columns(model):
    X, y = stream(10)
    X[:, 1] = 0.0
    result = prequential(model, X, y, delay=5)
    assert np.isfinite(result.forecasts[6:]).all()
    assert_allclose(model.fit(X, y).coef_[..., 1], 0.0, atol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("n_members", [3, 6])
def test_the_grid_finds_a_good_discount(n_members):
    rng = np.random.default_rng(n_members)
    n, memory = 4000, 2**n_members
    X = rng.normal(size=(n, 2))
    path = np.cumsum(rng.normal(size=(n, 2)), axis=0) / memory
    y = (X * path).sum(axis=1) + rng.normal(size=n)
    losses = [
        ((DiscountedVAWRegressor(forgetting=1 - 0.5**i).prequential_predict(X, y) - y) ** 2).mean()
        for i in range(1, 11)
    ]
    model = DiscountedVAWAARegressor()
    loss = ((model.prequential_predict(X, y) - y) ** 2).mean()
    still = ((VAWRegressor().prequential_predict(X, y) - y) ** 2).mean()
    assert loss < min(1.1 * min(losses), still)


@pytest.mark.parametrize("kind", [DiscountedVAWRegressor, DiscountedVAWAARegressor])
def test_files_keep_the_last_target(kind, tmp_path):
    pytest.importorskip("skops")
    X, y = stream(12)
    model = kind(hint="last").fit(X[:70], y[:70])
    save(model, tmp_path / "model.skops")
    resumed = load(tmp_path / "model.skops")
    found = resumed.prequential_predict(X[70:], y[70:])
    assert_array_equal(found, model.prequential_predict(X[70:], y[70:]))
