"""The checks for anybody's estimator: what breaks a law is found, and the message says the cure."""

import numpy as np
import pytest

from sklearn_okl import KernelVAWRegressor, VAWRegressor
from sklearn_okl.base import ConvexAggregator, OnlineClassifier, OnlineRegressor
from sklearn_okl.evaluation import check_online_estimator, online_checks


class Hedge(ConvexAggregator):
    """Exponential weights."""

    sign = 1.0

    def _start_rule(self, log_prior):
        return {"sums": np.zeros(len(log_prior))}

    def _log_weights(self, state):
        return state["log_prior"] + state["sums"]

    def _update(self, state, regrets, y):
        state["sums"] = state["sums"] + self.sign * regrets


class Idle(Hedge):
    """Never learns."""

    sign = 0.0


class Inverted(Hedge):
    """Takes losses for gains."""

    sign = -1.0


class Drifting(Hedge):
    """Changes its weights, but not by what the experts are worth."""

    def _update(self, state, regrets, y):
        state["sums"] = state["sums"] + np.arange(len(regrets)) / 100


class MeanRow(OnlineRegressor):
    """Forecasts from the rows alone."""

    def _start(self, n_features, n_targets=None):
        return {"t": 0}

    def _learn(self, state, X, y):
        state["t"] += len(y)
        return X.mean(axis=1)

    def _forecast(self, state, X):
        return X.mean(axis=1)


class MeanRowClassifier(OnlineClassifier):
    """Labels from the rows alone."""

    _start, _learn, _forecast = MeanRow._start, MeanRow._learn, MeanRow._forecast


LEARNS = "what is learnt depends on the targets"
GAINS = "an expert that is always right gains weight"


def names(estimator, **options):
    return {name for name, _ in online_checks(estimator, **options)}


def broken(estimator, **options):
    found = set()
    for name, check in online_checks(estimator, **options):
        try:
            check()
        except AssertionError:
            found.add(name)
    return found


def test_an_aggregator_that_learns_passes():
    check_online_estimator(Hedge())


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    ("estimator", "laws"),
    [
        (Idle(), {LEARNS, GAINS}),
        (Inverted(), {GAINS}),
        (Drifting(), {LEARNS, GAINS}),
        (MeanRow(), {LEARNS}),
        (MeanRowClassifier(), {LEARNS}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_who_never_learns_breaks_a_law_and_no_other(estimator, laws):
    assert broken(estimator) == laws


def test_the_message_says_what_was_learnt():
    with pytest.raises(AssertionError, match=rf"Idle breaks the law '{LEARNS}'.*nothing is learnt"):
        check_online_estimator(Idle())
    checks = dict(online_checks(Inverted()))
    with pytest.raises(AssertionError, match=r"weight went from .* positive for the better ones"):
        checks[GAINS]()


def test_only_aggregators_have_experts_that_gain_weight():
    assert GAINS in names(Hedge())
    assert GAINS not in names(VAWRegressor())


def test_a_model_that_is_meant_to_grow_is_told_how_to_say_so():
    model = KernelVAWRegressor(gamma=0.1)
    with pytest.raises(AssertionError, match=r"the pickle grows: .* grows=True"):
        check_online_estimator(model)
    assert names(model) - names(model, grows=True) == {"the model does not grow"}


class Peeping(MeanRow):
    """Centres a block of rows by all of its targets."""

    def _learn(self, state, X, y):
        return super()._learn(state, X, y) + y.mean()


class PeepingClassifier(MeanRowClassifier):
    """Has another answer where most targets of a block are of the first class."""

    def _learn(self, state, X, y):
        return super()._learn(state, X, y) * (1.0 if np.mean(y) < 0 else -1.0)


@pytest.mark.parametrize("peeping", [Peeping(), PeepingClassifier()])
def test_a_forecast_that_knows_later_targets_is_found(peeping):
    check = dict(online_checks(peeping))["no forecast knows its own target, or a later one"]
    with pytest.raises(AssertionError):
        check()
