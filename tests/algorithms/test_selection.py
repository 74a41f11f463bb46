"""OKS, OKS++, IOKS on exact kernels: oracles, balls, theorems, doubling, refusals."""

import math
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from benchmarks.papers.bandit_lines import LINES, ProgramSampler
from sklearn_okl.algorithms._selection import (
    IOKSClassifier,
    IOKSRegressor,
    OKSClassifier,
    OKSPlusPlusClassifier,
    OKSPlusPlusRegressor,
    OKSRegressor,
)
from sklearn_okl.algorithms._selection_features import (
    RFOKSPlusPlusClassifier,
    RFOKSPlusPlusRegressor,
    RFOKSRegressor,
)
from sklearn_okl.losses import NAMED, AbsoluteError, Hinge, PinballLoss, get_loss
from tests.oracles import bandits as oracle

REGRESSORS = [OKSRegressor, OKSPlusPlusRegressor, IOKSRegressor]
CLASSIFIERS = [OKSClassifier, OKSPlusPlusClassifier, IOKSClassifier]
GAMMAS = [8.0, 2.0, 0.5, 0.125, 0.03125, 0.0078125]
MIXED = {"kernel": ["rbf", "laplacian", "matern32"], "gamma": [0.1, 1.0, None]}
REGRESSION = ["squared_error", "absolute_error", "pinball"]
CLASSIFICATION = ["log_loss", "hinge", "squared_hinge"]
CASES = [
    (class_, loss)
    for classes, losses in ((REGRESSORS, REGRESSION), (CLASSIFIERS, CLASSIFICATION))
    for class_ in classes
    for loss in losses
    if "PlusPlus" not in class_.__name__ or loss in ("squared_error", "log_loss", "squared_hinge")
]


def stream(seed, n=200, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, 0.5 + 0.4 * np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


def generator(seed):
    return np.random.RandomState(np.random.RandomState(seed).randint(2**31 - 1))


def gaussians(gammas):
    return [lambda R, x, g=g: np.exp(-g * ((R - x) ** 2).sum(axis=1)) for g in gammas]


def literal_sampler(model, n_kernels):
    """Return the oracle of a model's sampler, and its radius."""
    smooth = {"squared_error": 2.0, "squared_hinge": 2.0, "log_loss": 0.25}
    if isinstance(model, (OKSRegressor, OKSClassifier)):
        longest = 1 / smooth[model.loss] if model.loss in smooth else math.inf
        if model.horizon is not None and model.step_scale is not None:  # both at their word
            longest = math.inf
        return oracle.OKS(n_kernels, model.horizon, model.step_scale or 10.0, longest), None
    if isinstance(model, (OKSPlusPlusRegressor, OKSPlusPlusClassifier)):
        constant = 1.0 if model.loss == "log_loss" else 4.0
        return oracle.OKSPlusPlus(n_kernels, model.radius, constant), model.radius
    U = model.radius
    bound = {
        "squared_error": 2 * (U + 1),
        "squared_hinge": 2 * (U + 1),
        "pinball": max(0.3, 0.7),
        "log_loss": 1 / (1 + math.exp(-U)),
    }.get(model.loss, 1.0)
    return oracle.IOKS(n_kernels, U, bound, model.horizon), U


def made(class_, loss, **options):
    if loss == "pinball":
        options["quantile"] = 0.3
    return class_(loss=loss, **options)


@pytest.mark.long(every=7)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("class_", "loss"), CASES)
def test_equals_the_oracle(class_, loss, seed):
    X, y = stream(seed, 100)
    model = made(class_, loss, random_state=seed)
    kernels = gaussians(GAMMAS)
    if seed == 1:
        model.set_params(kernels={"kernel": ["rbf", "laplacian"], "gamma": [0.3, 2.0]})
        kernels = [
            lambda R, x, p=p, g=g: np.exp(
                -g * (np.abs(np.reshape(R, (-1, len(x))) - x) ** p).sum(1)
            )
            for g in (0.3, 2.0)
            for p in (2, 1)
        ]
        names = [(p["kernel"], p["gamma"]) for p in model._kernel_list()]
        assert names == [("rbf", 0.3), ("laplacian", 0.3), ("rbf", 2.0), ("laplacian", 2.0)]
    if seed >= 2:
        given = {"horizon": 500, "radius": 0.3, **({"step_scale": 10.0} if seed == 3 else {})}
        model.set_params(**{k: v for k, v in given.items() if k in model.get_params()})
    sampler, radius = literal_sampler(model, len(kernels))
    if is_classifier(model):
        y = np.where(y > np.median(y), 1.0, -1.0)
    expected, arms, laws, coef, _ = oracle.select(
        X, y, kernels, sampler, generator(seed), loss, radius, quantile=0.3
    )
    verb = model.decision_function if is_classifier(model) else model.predict
    classes = {"classes": [-1, 1]} if is_classifier(model) else {}
    model.partial_fit(X[:1], y[:1], **classes)
    found = [expected[0]]
    for t in range(1, 100):
        assert model.kernel_index_ == arms[t]
        assert_allclose(model.probabilities_, laws[t], rtol=1e-9)
        found.append(verb(X[t : t + 1])[0])
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert_allclose(model.probabilities_, sampler.p, rtol=1e-9)
    assert_array_equal(model.n_support_, [len(c) for c in coef])


@pytest.mark.parametrize("class_", REGRESSORS)
def test_norms_are_those_of_the_expansions(class_):
    X, y = stream(0, 600)
    for kernels in (None, MIXED):
        model = class_(kernels, random_state=0).fit(3 * X, 2 * y)
        radius = model.get_params().get("radius", np.inf)
        at_the_border = 0
        for f, kernel in zip(model._state["functions"], model.kernels_, strict=True):
            rows = f["rows"][:, :-2]
            if kernel["kernel"] == "matern32":
                continue
            k = {"rbf": rbf_kernel, "laplacian": laplacian_kernel}[kernel["kernel"]]
            if len(rows):
                norm = math.sqrt(f["coef"] @ k(rows, rows, gamma=kernel["gamma"]) @ f["coef"])
                assert_allclose(math.sqrt(f["norm_sq"]), norm, rtol=1e-9)
                assert norm <= radius * (1 + 1e-9)
                at_the_border += norm > radius * (1 - 1e-9)
        assert at_the_border > 0 or class_ is OKSRegressor


@pytest.mark.parametrize("class_", [*REGRESSORS, *CLASSIFIERS])
def test_an_offset_of_the_features_does_not_matter(class_):
    X, y = stream(0)
    verb = "decision_function" if class_ in CLASSIFIERS else "predict"
    y = (y > y.mean()) if class_ in CLASSIFIERS else y
    one = getattr(class_(random_state=0).fit(X[:150], y[:150]), verb)(X)
    other = getattr(class_(random_state=0).fit(X[:150] + 1e6, y[:150]), verb)(X + 1e6)
    assert_allclose(other, one, atol=1e-6 * np.abs(one).max())


@pytest.mark.long
def test_arms_come_up_as_the_law_says():
    X, y = stream(0, 3000)
    model = OKSPlusPlusRegressor(random_state=0)
    model.partial_fit(X[:1], y[:1])
    excess, variance = np.zeros(6), np.zeros(6)
    for t in range(1, 400):
        law = model.probabilities_
        excess += (np.arange(6) == model.kernel_index_) - law
        variance += law * (1 - law)
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    assert (np.abs(excess) < 5 * np.sqrt(variance)).all()
    first = [OKSRegressor(random_state=s).fit(X[:1], y[:1]).n_support_ for s in range(600)]
    assert np.abs(np.sum(first, axis=0) - 100).max() < 5 * math.sqrt(100)


def test_the_doubling_trick_starts_afresh_and_keeps_the_functions():
    X, y = stream(0, 260)
    for class_ in (OKSRegressor, IOKSRegressor):
        model = class_(random_state=0)
        for start, end in ((0, 64), (64, 128), (128, 256)):
            model.partial_fit(X[start:end], y[start:end])
            assert_allclose(model.probabilities_, 1 / 6)
            assert model.n_support_.sum() == end
            assert any(np.abs(f["coef"]).sum() > 0 for f in model._state["functions"])
    one = IOKSRegressor(random_state=0).prequential_predict(X[:64], y[:64])
    other = IOKSRegressor(random_state=0, horizon=64).prequential_predict(X[:64], y[:64])
    assert_array_equal(one, other)
    # a scale and a horizon that are both given make a smooth loss's step as long as they say
    for loss, same in (("absolute_error", True), ("squared_error", False)):
        one = OKSRegressor(loss=loss, random_state=0).prequential_predict(X[:64], y[:64])
        for scale, held in ((None, True), (10.0, same)):
            other = OKSRegressor(loss=loss, random_state=0, horizon=64, step_scale=scale)
            assert np.array_equal(one, other.prequential_predict(X[:64], y[:64])) == held


@pytest.mark.parametrize("T", [40, 100, 400, 1000])
@pytest.mark.parametrize("class_", [OKSRegressor, partial(RFOKSRegressor, radius=None)])
def test_no_step_of_the_defaults_overshoots_at_a_given_horizon(class_, T):
    for seed in range(3):
        X = np.random.default_rng(seed).uniform(-1, 1, size=(T, 2))
        y = np.sin(2 * X[:, 0])
        known = class_(horizon=T, random_state=seed).prequential_predict(X, y)
        guessed = class_(random_state=seed).prequential_predict(X, y)
        assert np.abs(known).max() < 2.0
        assert ((known - y) ** 2).sum() < 1.5 * ((guessed - y) ** 2).sum()


@pytest.mark.parametrize("class_", REGRESSORS)
def test_learns_from_targets(class_):
    X, y = stream(0, 2000)
    forecasts = class_(random_state=0).prequential_predict(X, y)
    tail = slice(1000, None)
    # better than what knows the mean alone, which IOKS's short steps do not quite reach
    limit = 1.5 if class_ is IOKSRegressor else 0.95
    assert ((forecasts - y)[tail] ** 2).mean() < limit * y[tail].var()


@pytest.mark.long(every=2)
@pytest.mark.parametrize(("class_", "loss"), [case for case in CASES if case[0] in CLASSIFIERS])
def test_learns_labels(class_, loss):
    X, _ = stream(0, 1500)
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.3, "yes", "no")
    model = class_(loss=loss, random_state=0)
    labels = model.prequential_predict(X, y)
    assert (labels == y)[500:].mean() > 0.85
    assert hasattr(model, "predict_proba") == (loss == "log_loss")
    assert_array_equal(
        model.predict(X), model.classes_[(model.decision_function(X) > 0).astype(int)]
    )


def test_refusals():
    X, y = stream(0, 20)
    with pytest.raises(ValueError, match="'alpha', a ridge"):
        OKSRegressor({"gamma": [1.0], "alpha": [1.0]}).fit(X, y)
    model = IOKSRegressor(random_state=0).fit(X, y)
    for change in ({"horizon": 100}, {"radius": 2.0}, {"kernels": MIXED}, {"loss": "pinball"}):
        with pytest.raises(ValueError, match="cannot change in mid-stream"):
            IOKSRegressor(random_state=0).fit(X, y).set_params(**change).partial_fit(X, y)
    assert model.n_samples_seen_ == 20
    with pytest.raises(ValueError, match="overflowed"):
        OKSRegressor(horizon=100, step_scale=1e3, random_state=0).fit(
            np.zeros((3000, 1)), np.ones(3000)
        )


@pytest.mark.parametrize("refused", [Hinge(), AbsoluteError(), PinballLoss(0.3)])
@pytest.mark.parametrize(
    ("class_", "taken"),
    [
        (OKSPlusPlusRegressor, ["squared_error"]),
        (RFOKSPlusPlusRegressor, ["squared_error"]),
        (OKSPlusPlusClassifier, ["log_loss", "squared_hinge"]),
        (RFOKSPlusPlusClassifier, ["log_loss", "squared_hinge"]),
    ],
)
def test_the_losses_that_are_named_are_those_that_are_taken(class_, taken, refused):
    X, y = stream(0, 20)
    target = y > 0.5 if len(taken) == 2 else y
    for loss in (refused, refused.name, "huber"):
        with pytest.raises(ValueError, match="loss") as caught:
            class_(loss=loss).fit(X, target)
        said = str(caught.value).replace(f"Got {loss!r} instead", "")
        assert [kind.name for kind in NAMED if repr(kind.name) in said] == taken
    for name in taken:
        class_(loss=name).fit(X, target)


# --- theorems


def two_points(T, rng):
    """Two rows with opposite targets: wide kernels do not tell them apart, narrow ones do."""
    signs = rng.choice([-1.0, 1.0], size=T)
    return 0.5 * signs[:, None], signs


def one_point(T, rng):
    """One row whose target is mostly 1."""
    return np.zeros((T, 1)), np.where(rng.random_sample(T) < 0.9, 1.0, -1.0)


@pytest.mark.long
@pytest.mark.parametrize("points", [two_points, one_point])
def test_remark_1_holds_in_expectation(points):
    """Theorem 2.1 as corrected in Remark 1, the absolute loss, against the best of some f."""
    T, K, gammas = 1000, 2, [0.01, 4.0]
    X, y = points(T, np.random.RandomState(5))
    grid = {"kernel": ["rbf"], "gamma": gammas}
    losses, largest = [], 0.0
    for seed in range(50):
        model = OKSRegressor(
            grid, loss="absolute_error", horizon=T, step_scale=1.0, random_state=seed
        )
        forecasts = model.prequential_predict(X, y)
        losses.append(np.abs(forecasts - y).sum())
        largest = max(largest, np.abs(forecasts - y).max())
    delta = (K / T) ** (1 / 3)
    lam = math.sqrt(delta / (K * T))
    eta = math.sqrt(2 * (1 - delta) * math.log(K) / (K * T))
    bounds = []
    for gamma in gammas:
        rows = np.array([[-0.5], [0.5]])
        gram = rbf_kernel(rows, rows, gamma=gamma)
        for a in np.linspace(0, 1, 21):  # f = a at one of the rows, -a at the other or 0 or a
            for values in ([-a, a], [a, a]):
                c = np.linalg.solve(gram, values)
                f = rbf_kernel(X, rows, gamma=gamma) @ c
                bounds.append(np.abs(f - y).sum() + c @ gram @ c / (2 * lam))
    bound = min(bounds) + delta * T * largest + lam * K * T / (2 * delta)
    bound += eta * K * T * largest**2 / (2 * (1 - delta)) + math.log(K) / eta
    mean, deviation = np.mean(losses), np.std(losses) / math.sqrt(50)
    trivial = np.abs(y).sum()  # the loss of 0
    print(f"loss {mean:.0f} +- {deviation:.0f}, bound {bound:.0f}, loss of no model {trivial:.0f}")
    assert mean + 5 * deviation < bound
    assert bound < trivial  # it bites


@pytest.mark.long(every=2)
@pytest.mark.parametrize(
    ("class_", "loss"), [(OKSPlusPlusRegressor, "squared_error"), (IOKSRegressor, "absolute_error")]
)
def test_explicit_inequality_of_the_functions(class_, loss):
    """Appendices A.2 and C.2, for every draw: the second part of the proofs.

    sum of slope / p (f_t - f)(x_t) over the rounds of kernel i is at most 2 U^2 / lambda_T
    + 1/2 sum lambda (slope / p)^2 for every f in the ball. The proofs have 3/2 for 2, which leaves
    the norm of the last function out.
    """
    X, y = stream(1, 400)
    y = 2 * y - 1
    model, rule = class_(loss=loss, random_state=0).partial_fit(X[:1], y[:1]), get_loss(loss)
    # lambda of every round, from the sampler: replayed, as the model does not keep it
    sampler, radius = literal_sampler(model, 6)
    arm = int(generator(0).random_sample() * 6)
    sampler.credit(arm, float(rule.value(y[0], 0.0)), float(rule.slope(y[0], 0.0)))
    record = {i: [] for i in range(6)}
    for t in range(1, 400):
        i, p = model.kernel_index_, model.probabilities_[model.kernel_index_]
        f = model.predict(X[t : t + 1])[0]
        g = float(rule.slope(y[t], f))
        step = sampler.credit(i, float(rule.value(y[t], f)), g)
        record[i].append((t, f, g / p, step * p))
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    shares = []
    for i, gamma in enumerate(GAMMAS):
        t, f, g, lam = (np.array(column) for column in zip(*record[i], strict=True))
        t = t.astype(int)
        # the f in the ball for which the left side is largest: along -sum g k(x_t, .)
        gram = rbf_kernel(X[t], X[t], gamma=gamma)
        left = g @ f + radius * math.sqrt(g @ gram @ g)
        right = 2 * radius**2 / lam[-1] + 0.5 * (lam * g**2).sum()
        shares.append(left / right)
    print(f"{class_.__name__}: {min(shares):.2f} to {max(shares):.2f} of the bound")
    assert max(shares) <= 1
    assert max(shares) > 0.1


def pseudo_regret(class_, T, K, seed):
    """Expected regret at one point, against the best constant; all kernels are alike there."""
    X = np.zeros((T, 1))
    y = np.where(np.random.RandomState(100 + seed).random_sample(T) < 0.75, 1.0, -1.0)
    grid = {"kernel": ["rbf"], "gamma": np.linspace(1, 2, K).tolist()}
    if class_ is IOKSRegressor:
        model = class_(grid, loss="absolute_error", horizon=T, random_state=seed)
        f = model.prequential_predict(X, y)
        return (0.5 * (1 - f)).sum()  # E|f - y| = 1 - f / 2 on [-1, 1], least at 1
    f = class_(grid, random_state=seed).prequential_predict(X, y)
    return ((f - 0.5) ** 2).sum()


@pytest.mark.long
@pytest.mark.parametrize(
    ("class_", "in_T", "in_K"),
    [(OKSPlusPlusRegressor, 2 / 3, 1 / 3), (IOKSRegressor, 1 / 2, 1 / 2)],
)
def test_growth_of_the_regret(class_, in_T, in_K):
    """Theorems 3.1 and 4.1 give orders: the fitted growth beside the theorem's."""
    Ts, Ks = [400, 800, 1600], [2, 4, 8, 16]
    over_T = [np.mean([pseudo_regret(class_, T, 4, seed) for seed in range(4)]) for T in Ts]
    over_K = [np.mean([pseudo_regret(class_, 1600, K, seed) for seed in range(4)]) for K in Ks]
    slope_T = np.polyfit(np.log(Ts), np.log(over_T), 1)[0]
    slope_K = np.polyfit(np.log(Ks), np.log(over_K), 1)[0]
    print(f"{class_.__name__}: T^{slope_T:.2f}, theorem {in_T:.2f}; K^{slope_K:.2f}, {in_K:.2f}")
    print(np.round(over_T, 1), np.round(over_K, 1))
    logarithm = 2 / 3 / math.log(1600) if class_ is IOKSRegressor else 0.0  # of ln^(2/3) T
    assert 0 < slope_T < in_T + logarithm + 0.1
    # Here all kernels are alike and each learns by itself, from T / K rows: lower-order terms of
    # the proofs, of K^2 in Lemma 3, rule the growth in K at these T. The regret stays below the
    # theorems' main terms all the same.
    assert slope_K < 1.0
    for T, K, regret in [
        *zip(Ts, [4] * 3, over_T, strict=True),
        *zip([1600] * 4, Ks, over_K, strict=True),
    ]:
        if class_ is IOKSRegressor:
            main = math.sqrt(K * T) * math.log(T) ** (2 / 3)
        else:  # L = 0.75 T for each kernel, C_0 = 4, U = 1
            main = 2 * 4 ** (1 / 3) * K ** (1 / 3) * (0.75 * T) ** (2 / 3)
        assert regret < main


@pytest.mark.parametrize("name", ["OKS++, program", "RF-OKS++, program"])
def test_the_programs_lines_draw_by_the_programs_sampler(name):
    model = LINES[name].model("log_loss", 100, None, 0)
    assert isinstance(model._sampler(3), ProgramSampler)
