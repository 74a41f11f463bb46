"""ExpertsClassifier: the literal loop, the theorem, foreign experts and their faults."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.utils.validation import has_fit_parameter

from sklearn_okl import (
    AARegressor,
    BOARegressor,
    EWARegressor,
    ExpertsClassifier,
    FixedShareRegressor,
    MLPolyRegressor,
    OnlineKernelClassifier,
    RakerClassifier,
    RefitClassifier,
    VAWRegressor,
)
from sklearn_okl.base import ConvexAggregator
from tests.oracles import aggregation

NAMES = np.array(["ash", "birch", "cedar"])
ODDS = SGDClassifier(loss="log_loss", random_state=0)
RAKER = RakerClassifier({"gamma": [0.5]}, n_components=10, random_state=0)


class Says(ClassifierMixin, BaseEstimator):
    """Give the probabilities that a row of numbers says, 9 for NaN; know some of the classes."""

    def __init__(self, columns=(0, 1, 2), known=None):
        self.columns = columns
        self.known = known

    def partial_fit(self, X, y, classes=None):
        if classes is not None:
            self.classes_ = np.asarray(classes if self.known is None else self.known)
        return self

    def predict_proba(self, X):
        return np.where(X == 9.0, np.nan, X)[:, self.columns]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def stream(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, NAMES[(X[:, 0] > 0.3).astype(int) + (X[:, 1] > 0.5)]


def loop(experts, X, y):
    """Ask each expert for probabilities, then teach it, round by round; with doubt."""
    experts = [clone(expert) for _, expert in experts]
    P = np.full((len(y), len(experts), 3), 1.0 / 3.0)
    for t in range(len(y)):
        row = slice(t, t + 1)
        for k, expert in enumerate(experts):
            if t > 0:
                P[t, k] = expert.predict_proba(X[row])[0]
            expert.partial_fit(X[row], y[row], classes=NAMES)
        P[t] = (1.0 - 1.0 / (t + 3)) * P[t] + 1.0 / (t + 3) / 3.0
    return P


AGGREGATORS = {
    "default": (None, {}),
    "fixed share": (FixedShareRegressor(0.05), {"share": 0.05}),
    "tangent": (EWARegressor(eta=0.5, gradient_trick=True), {"rate": 0.5, "gradient": True}),
}


@pytest.mark.long(every=3)
@pytest.mark.parametrize("name", AGGREGATORS)
def test_equals_the_literal_loop(name):
    aggregator, arguments = AGGREGATORS[name]
    X, y = stream()
    experts = [("odds", ODDS), ("raker", RAKER)]
    P = loop(experts, X, y)
    places = np.searchsorted(NAMES, y)
    expected, weights = aggregation.log_loss_mixture(P, places, **arguments)
    model = ExpertsClassifier(experts, aggregator, n_jobs=2 if name == "default" else None)
    parts = [model.prequential_predict_proba(X[:50], y[:50], classes=NAMES)]
    parts.append(model.prequential_predict_proba(X[50:], y[50:]))
    assert_allclose(np.concatenate(parts), expected, rtol=1e-9)
    assert_allclose(model.weights_, weights, rtol=1e-7)
    losses = -np.log(P[np.arange(len(y)), :, places])
    assert_allclose(model.expert_losses_, losses.sum(axis=0), rtol=1e-9)
    rows = np.stack([model.named_experts_[key].predict_proba(X) for key, _ in experts], axis=1)
    rows = (1.0 - 1.0 / 123.0) * rows + 1.0 / 123.0 / 3.0
    assert_allclose(model.predict_experts(X), rows, rtol=1e-12)
    assert_allclose(model.predict_proba(X), np.einsum("k,nkc->nc", model.weights_, rows))
    assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


@pytest.mark.parametrize("sleepy", [False, True])
def test_likelihoods_in_blocks_are_the_rule_row_by_row(sleepy):
    rng = np.random.default_rng(1)
    P, y = rng.dirichlet(np.ones(4), size=(90, 5)), rng.integers(4, size=90)
    if sleepy:
        asleep = np.repeat(rng.random((30, 5)) < 0.3, 3, axis=0)
        asleep[:, 0] &= ~asleep.all(axis=1)
        P[asleep] = np.nan
    rule = EWARegressor(eta=0.7, prior_weights=[1, 2, 3, 4, 5])
    state, other = rule._start(5), rule._start(5)
    parts = [slice(0, 1), slice(1, 40), slice(40, 90)]
    means = np.concatenate([rule._learn_classes(state, P[rows], y[rows]) for rows in parts])
    assert_allclose(means, ConvexAggregator._learn_classes(rule, other, P, y), rtol=1e-9)
    assert_allclose(rule._weights(state), rule._weights(other), rtol=1e-8)
    rule = EWARegressor(eta=0.7)
    expected, weights = aggregation.log_loss_mixture(P, y, 0.7)
    state = rule._start(5)
    assert_allclose(rule._learn_classes(state, P, y), expected, rtol=1e-9)
    assert_allclose(rule._weights(state), weights, rtol=1e-8)


# Theorem


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("kind", ["one is right", "the mixture is wrong", "noise"])
def test_regret_of_the_aggregating_algorithm(kind, n_classes):
    rng, T, K = np.random.default_rng(n_classes), 200, 16
    P = rng.dirichlet(np.ones(n_classes), size=(T, K))
    if kind == "one is right":
        P[:, 1:, 0] = 1e6  # the others are sure of the first class
        P[:, 0, -1] = 1e6
    P /= P.sum(axis=2, keepdims=True)
    rule = EWARegressor()._for_log_loss()
    state, losses, total = rule._start(K), np.zeros(K), 0.0
    for t in range(T):
        mean = rule._forecast_classes(state, P[t : t + 1])[0]
        y = {"one is right": n_classes - 1, "the mixture is wrong": mean.argmin()}.get(
            kind, rng.integers(n_classes)
        )
        total -= np.log(mean[y])
        losses -= np.log(P[t, :, y])
        rule._learn_classes(state, P[t : t + 1], np.array([y]))
    regret = total - losses.min()
    assert regret <= np.log(K) + 1e-9
    if kind == "one is right":
        assert regret > 0.999 * np.log(K)  # the bound is attained
    else:
        equal = -np.log(1.0 / n_classes) * T - losses.min()
        print(f"\n{kind}: regret {regret:.2f} <= ln {K} = {np.log(K):.2f}; of equal {equal:.1f}")


def test_regret_with_doubt():
    """Of experts that are sure and wrong, whose own loss would be infinite."""
    rng, T = np.random.default_rng(0), 300
    right = rng.integers(3, size=T)
    of_one, of_other = np.eye(3)[right], np.eye(3)[(right + 1) % 3]
    model = ExpertsClassifier([("wrong", Says((3, 4, 5))), ("right", Says((0, 1, 2)))])
    P = model.prequential_predict_proba(np.hstack([of_one, of_other]), right, classes=[0, 1, 2])
    loss = -np.log(P[np.arange(T), right]).sum()
    assert P.min() > 0.0
    assert P.max() < 1.0
    assert loss <= np.log(2) + np.log(1.0 + T / 2.0)
    assert loss > 0.5 * (np.log(2) + np.log(1.0 + T / 2.0))


def test_fixed_share_follows_the_best_expert():
    rng, T = np.random.default_rng(0), 600
    y = rng.integers(3, size=T)
    good, bad = 0.8 * np.eye(3)[y] + 0.2 / 3.0, np.full((T, 3), 1.0 / 3.0)
    first = np.arange(T)[:, None] // 100 % 2 == 0
    X = np.hstack([np.where(first, good, bad), np.where(first, bad, good)])
    experts = [("odd", Says((0, 1, 2))), ("even", Says((3, 4, 5)))]
    losses = {}
    for aggregator in (EWARegressor(), FixedShareRegressor(0.01)):
        model = ExpertsClassifier(experts, aggregator)
        P = model.prequential_predict_proba(X, y, classes=[0, 1, 2])
        losses[type(aggregator)] = -np.log(P[np.arange(T), y]).sum()
    best = -np.log(good[np.arange(T), y]).sum() + np.log(1.0 + T / 2.0)
    # m = 5 switches: the tracking bound with equal priors
    bound = 6 * np.log(2) + 5 * np.log(100) + (T - 6) * np.log(1.0 / 0.99)
    assert losses[FixedShareRegressor] <= best + bound
    assert losses[EWARegressor] > best + 2.0 * bound


@pytest.mark.parametrize("rule", [BOARegressor(), MLPolyRegressor()], ids=repr)
def test_other_rules_find_the_better_expert_too(rule):
    X, y = stream(2, 300)
    lie = ("lie", Says((0, 1, 2)))
    X = np.hstack([np.tile([0.8, 0.1, 0.1], (300, 1)), X])
    model = ExpertsClassifier([lie, ("raker", RAKER)], rule)
    P = model.prequential_predict_proba(X, y, classes=NAMES)
    assert_allclose(P.sum(axis=1), 1.0)
    assert model.weights_[1] > 0.7


# Faults


def test_who_gives_no_probabilities_sleeps():
    y = np.tile([0, 1, 2], 30)
    X = np.tile([0.2, 0.3, 0.5, 2.0, 2.0, 6.0], (90, 1))
    X[10:20, 0] = 9.0
    X[20:30, :3] = [[-0.1, 0.6, 0.5]]
    X[30:40, :3] = 0.0
    X[40:50] = 9.0
    model = ExpertsClassifier([("some", Says()), ("all", Says((3, 4, 5)))])
    P = model.prequential_predict_proba(X, y, classes=[0, 1, 2])
    t = np.arange(90)[:, None]
    scaled = (1.0 - 1.0 / (t + 3)) * np.array([0.2, 0.2, 0.6]) + 1.0 / (t + 3) / 3.0
    assert_allclose(P[10:40], scaled[10:40])  # the first sleeps, what the second says is scaled
    counts = np.array([[np.sum(y[:t] == c) for c in range(3)] for t in range(40, 50)]) + 1.0
    assert_allclose(P[40:50], counts / counts.sum(axis=1, keepdims=True))  # nobody is awake
    assert np.isfinite(model.expert_losses_).all()
    assert_allclose(P.sum(axis=1), 1.0)


def test_an_expert_may_know_fewer_classes():
    X, y = np.tile([0.25, 0.75], (30, 1)), NAMES[[0, 2] * 15]
    model = ExpertsClassifier([("two", Says((0, 1), known=["ash", "cedar"]))])
    P = model.partial_fit(X, y, classes=NAMES).predict_proba(X[:1])[0]
    assert_allclose(P, (1.0 - 1.0 / 33.0) * np.array([0.25, 0.0, 0.75]) + 1.0 / 33.0 / 3.0)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_failing_expert_is_named_and_leaves_no_trace():
    class Fails(Says):
        def partial_fit(self, X, y, classes=None):
            if X[0, 0] == 7.0:
                raise RuntimeError("seven")
            return super().partial_fit(X, y, classes)

        def predict_proba(self, X):
            return np.full((len(X), 3), 1.0 / 3.0)

    X, y = stream()
    model = ExpertsClassifier([("odds", ODDS), ("bad", Fails())]).fit(X, y)
    before = [expert.__dict__.copy() for expert in model._state["experts"].values()]
    X[60, 0] = 7.0
    with pytest.raises(ValueError, match=r"expert 'bad' \(Fails\) failed to learn: seven"):
        model.partial_fit(X, y)
    after = [expert.__dict__ for expert in model._state["experts"].values()]
    assert_array_equal(before[0]["coef_"], after[0]["coef_"])


@pytest.mark.parametrize(
    ("experts", "error", "message"),
    [
        ([], ValueError, "experts is empty"),
        ([ODDS], TypeError, "list of pairs"),
        ([("a", SGDClassifier())], TypeError, "'a' forecasts no probabilities: SGDClassifier"),
        ([("a", SGDRegressor())], TypeError, "'a' forecasts no probabilities: SGDRegressor"),
        ([("a", LogisticRegression())], TypeError, "LogisticRegression has no 'partial_fit'"),
        ([("a", SGDClassifier)], TypeError, "'a' is the class SGDClassifier"),
        ([("aggregator", ODDS)], ValueError, "conflict with constructor"),
    ],
)
def test_what_cannot_be_an_expert(experts, error, message):
    X, y = stream()
    with pytest.raises(error, match=message):
        ExpertsClassifier(experts).fit(X, y)


@pytest.mark.parametrize(
    ("aggregator", "message"),
    [
        (VAWRegressor(), "'aggregator' parameter"),
        (AARegressor(), r"aggregating algorithm is EWARegressor\(\)"),
        (EWARegressor("decreasing"), "theory's rate for it is 1"),
        (FixedShareRegressor(eta="decreasing"), "theory's rate for it is 1"),
        (BOARegressor(prior_weights=[1.0]), "one weight for each expert"),
    ],
)
def test_what_cannot_be_an_aggregator(aggregator, message):
    X, y = stream()
    with pytest.raises(ValueError, match=message):
        ExpertsClassifier([("odds", ODDS), ("raker", RAKER)], aggregator).fit(X, y)


# In use


@pytest.mark.long
def test_a_search_and_models_of_all_kinds():
    X, y = stream(n=90)
    search = GridSearchCV(
        ExpertsClassifier([("odds", ODDS)]),
        {"odds__alpha": [0.01, 1e3]},
        cv=TimeSeriesSplit(2),
        scoring="neg_log_loss",
    ).fit(X, y)
    assert search.best_params_ == {"odds__alpha": 0.01}
    experts = [
        ("kernels", OnlineKernelClassifier(budget="fast", random_state=0)),
        ("batch", RefitClassifier(LogisticRegression(), growth=1.0)),
        ("nested", ExpertsClassifier([("odds", ODDS)])),
    ]
    model = ExpertsClassifier(experts).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.prequential_predict_proba(X, y), model.prequential_predict_proba(X, y))
    assert model.weights_.argmin() == 2
    assert not has_fit_parameter(model, "sample_weight")
