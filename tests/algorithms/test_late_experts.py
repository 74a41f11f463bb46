"""Mixtures of anything whose targets come late: each part as in a literal queue."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import SGDClassifier, SGDRegressor

from sklearn_okl import (
    BOARegressor,
    EWARegressor,
    ExpertsClassifier,
    ExpertsRegressor,
    FixedShareRegressor,
    FOGDClassifier,
    FOGDRegressor,
    OGDRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RunningStandardScaler,
    StackedBOARegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import prequential
from tests.oracles import aggregation

ENDS = (0, 1, 2, 12, 13, 35, 48)


def stream(seed=0, n=48):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    return X, 0.5 + 0.4 * np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


class Silent(RegressorMixin, BaseEstimator):
    """Forecast the last target, and NaN after every third one."""

    def partial_fit(self, X, y):
        self.n_ = getattr(self, "n_", 0) + 1
        self.last_ = y[-1]
        return self

    def predict(self, X):
        return np.full(len(X), np.nan if self.n_ % 3 == 0 else self.last_)


class Fails(Silent):
    """Diverge, until learning fails at the 40th row."""

    def partial_fit(self, X, y):
        super().partial_fit(X, y)
        if self.n_ == 40:
            raise FloatingPointError("overflow")
        return self

    def predict(self, X):
        return np.full(len(X), np.inf if self.n_ > 20 else 0.5)


def experts():
    return [
        ("sgd", SGDRegressor(random_state=0, eta0=0.1)),
        ("vaw", make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(0.5))),
        ("fogd", FOGDRegressor(n_components=10)),  # draws from a source without a seed
    ]


def queue(model, X, y, delay, ask="predict"):
    forecasts = []
    for t in range(delay + 1, len(y)):
        row = slice(t - 1 - delay, t - delay)
        named = {} if ask == "predict" or t > delay + 1 else {"classes": np.unique(y)}
        model.partial_fit(X[row], y[row], **named)
        forecasts.append(getattr(model, ask)(X[t : t + 1])[0])
    return np.array(forecasts)


MIXTURES = {
    "default": ExpertsRegressor(experts()),
    "theirs": ExpertsRegressor(experts(), EWARegressor(y_range=(0, 1)), n_jobs=2),
    "stack": ExpertsRegressor(experts(), StackedBOARegressor()),
    "vaw": ExpertsRegressor(experts(), VAWRegressor(), initial_forecast=0.4),
    "ogd": ExpertsRegressor(experts(), OGDRegressor(loss="absolute_error")),
    "alone": ExpertsRegressor([("silent", Silent())]),
    "silent": ExpertsRegressor([("silent", Silent()), ("vaw", VAWRegressor())]),
    "silent vaw": ExpertsRegressor([("silent", Silent()), ("sgd", SGDRegressor())], VAWRegressor()),
}


@pytest.mark.long(every=5)
@pytest.mark.parametrize(("name", "delay"), list(zip(MIXTURES, [8, 1] * 4, strict=True)))
def test_forecasts_are_those_of_a_queue(name, delay):
    X, y = stream(delay)
    model = clone(MIXTURES[name]).set_params(label_delay=delay)
    for one in ("fogd", "sgd"):
        if f"{one}__random_state" in model.get_params():
            model.set_params(**{f"{one}__random_state": 0})
    expected = queue(clone(model), X, y, delay)
    whole, cut = clone(model), clone(model)
    parts = []
    for low, high in pairwise(ENDS):
        parts.append(cut.prequential_predict(X[low:high], y[low:high]))
        cut = pickle.loads(pickle.dumps(cut))
    for forecasts in (whole.prequential_predict(X, y), np.concatenate(parts)):
        assert_allclose(forecasts[delay + 1 :], expected, rtol=1e-12, atol=1e-12)
    assert_allclose(cut.predict(X), whole.predict(X), rtol=1e-12)
    assert_allclose(cut.expert_losses_, whole.expert_losses_, rtol=1e-12)
    late = prequential(model, X, y)
    assert np.isnan(late.forecasts[: delay + 1]).all()
    assert_allclose(late.forecasts[delay + 1 :], expected, rtol=1e-12, atol=1e-12)


def test_equals_the_literal_loop():
    X, y = stream(2)
    delay, pairs = 6, experts()[:2]
    F, learners = np.zeros((len(y), 2)), [clone(one) for _, one in pairs]
    for t in range(delay + 1, len(y)):
        for k, one in enumerate(learners):
            one.partial_fit(X[t - 1 - delay : t - delay], y[t - 1 - delay : t - delay])
            F[t, k] = one.predict(X[t : t + 1])[0]
    model = ExpertsRegressor(pairs, label_delay=delay)
    forecasts = model.prequential_predict(X, y)
    expected, weights = aggregation.boa(F, y, late=delay)
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.weights_, weights, rtol=1e-7)
    assert_allclose(model.expert_losses_, ((F - y[:, None]) ** 2).sum(axis=0), rtol=1e-9)
    # and to be asked, all know all
    rows = np.column_stack([clone(one).fit(X, y).predict(X) for _, one in pairs[1:]])
    assert_allclose(model.predict_experts(X)[:, 1:], rows, rtol=1e-9)


def test_draws_without_a_seed_are_made_once():
    X, y = stream(3)
    model = ExpertsRegressor([("fogd", FOGDRegressor(n_components=10))], label_delay=4).fit(X, y)
    now, then = model.named_experts_.fogd, model._state["late"]["fogd"]
    assert not np.allclose(now.predict(X), then.predict(X))  # it is four rounds behind
    assert_allclose(now.predict(X), then.partial_fit(X[-4:], y[-4:]).predict(X), rtol=1e-10)


def test_experts_that_know_their_delay_are_kept_once():
    X, y = stream(4)
    late = OnlineKernelRegressor(budget="fast", label_delay=5, random_state=0)
    model = ExpertsRegressor([("kernels", late), ("vaw", VAWRegressor())], label_delay=5)
    assert_allclose(
        clone(model).prequential_predict(X, y)[6:], queue(clone(model), X, y, 5), rtol=1e-8
    )
    assert list(model.fit(X, y)._state["late"]) == ["vaw"]


@pytest.mark.long
@pytest.mark.parametrize(("fault", "delay"), [(0, 3), (3, 40), (25, 3)])
def test_a_fault_among_the_first_targets(fault, delay):
    X, y = stream(5, n=80)
    y[fault] = 1e6
    model = ExpertsRegressor(experts()[:2], label_delay=delay)
    expected = queue(clone(model), X, y, delay)
    for ends in ([0, 80], [0, 10, 31, 32, 34, 80]):
        cut = clone(model)
        parts = [cut.prequential_predict(X[a:b], y[a:b]) for a, b in pairwise(ends)]
        forecasts = np.concatenate(parts)[delay + 1 :]
        assert_allclose(forecasts, expected, rtol=1e-10, atol=1e-10)
    assert cut._state["former"] == {}


@pytest.mark.filterwarnings("ignore:The expert 'fails'")
def test_an_expert_that_fails_sleeps_for_good():
    X, y = stream(6, n=70)
    model = ExpertsRegressor([("fails", Fails()), ("vaw", VAWRegressor())], label_delay=5)
    whole, cut = clone(model), clone(model)
    parts = [cut.prequential_predict(X[a:b], y[a:b]) for a, b in pairwise([*ENDS, 70])]
    assert_allclose(whole.prequential_predict(X, y), np.concatenate(parts), rtol=1e-12)
    assert np.isnan(whole.predict_experts(X)[:, 0]).all()
    assert list(whole._state["late"]) == ["vaw"]


RULES = {
    "default": None,
    "fixed share": FixedShareRegressor(0.05),
    "tangent": EWARegressor(0.5, gradient_trick=True),
    "boa": BOARegressor(),
}


@pytest.mark.long(every=3)
@pytest.mark.parametrize("delay", [5])
@pytest.mark.parametrize("name", RULES)
def test_probabilities_are_those_of_a_queue(name, delay):
    X, y = stream(delay)
    y = np.digitize(y, [0.5])
    pairs = [
        ("odds", SGDClassifier(loss="log_loss", random_state=0)),
        ("fogd", FOGDClassifier(n_components=10, random_state=0)),
        ("kernels", OnlineKernelClassifier(budget="fast", label_delay=delay, random_state=0)),
    ]
    model = ExpertsClassifier(pairs[: 2 + (name == "default")], RULES[name], label_delay=delay)
    expected = queue(clone(model), X, y, delay, "predict_proba")
    whole, cut, parts = clone(model), clone(model), []
    for low, high in pairwise(ENDS):
        named = {} if low else {"classes": [0, 1]}
        parts.append(cut.prequential_predict_proba(X[low:high], y[low:high], **named))
    for P in (whole.prequential_predict_proba(X, y), np.concatenate(parts)):
        assert_allclose(P[delay + 1 :], expected, rtol=1e-8)
    assert_allclose(cut.predict_proba(X), whole.predict_proba(X), rtol=1e-8)
    assert_allclose(cut.weights_, whole.weights_, rtol=1e-8)


def test_parts_with_other_delays_are_refused_by_name():
    X, y = stream(7)
    late = OnlineKernelRegressor(budget="fast", label_delay=2)
    for model, named in (
        (ExpertsRegressor([("late", late)]), "expert 'late' has label_delay=2"),
        (ExpertsRegressor([("late", late)], label_delay=3), "expert 'late' has label_delay=2"),
        (
            ExpertsRegressor([("vaw", VAWRegressor())], BOARegressor(label_delay=1)),
            "aggregator has label_delay=1",
        ),
    ):
        with pytest.raises(ValueError, match=named):
            model.fit(X, y)
    same = ExpertsRegressor([("vaw", VAWRegressor())], BOARegressor(label_delay=1), label_delay=1)
    other = ExpertsRegressor([("vaw", VAWRegressor())], label_delay=1)
    assert_allclose(same.fit(X, y).predict(X), other.fit(X, y).predict(X))
