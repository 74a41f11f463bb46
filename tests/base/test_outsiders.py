"""Classes of others that break the contract of the private verbs, or write it in another way."""

import copy

import numpy as np
import pytest
from sklearn.base import OneToOneFeatureMixin

from sklearn_okl import BOARegressor, MultiKernelRegressor, RunningStandardScaler, VAWRegressor
from sklearn_okl.base import (
    ConvexAggregator,
    FullInformationRegressor,
    OnlineClassifier,
    OnlineMulticlassClassifier,
    OnlineRegressor,
    OnlineTransformer,
    _bank,
)

GRID = {"gamma": [0.1, 0.5, 1.0]}


def stream(n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, np.sin(3 * X[:, 0]) * X[:, 1]


class NLMS(OnlineRegressor):
    """Normalised steps; the weights are edited in place."""

    _learns_banks = True
    dtype = np.float64

    def _start(self, n_features, n_targets=None, bank=None):
        experts = () if bank is None else (len(bank),)
        return {"t": 0, "w": np.zeros((*experts, n_features), dtype=self.dtype)}

    def _learn(self, state, X, y):
        forecasts = np.empty(X.shape[:-1])
        for t, target in enumerate(y):
            z = X[..., t, :]
            forecasts[..., t] = (self.weights(state) * z).sum(axis=-1)
            steps = (forecasts[..., t] - target) / (1 + (z * z).sum(axis=-1))
            self.step(state, steps[..., None] * z)
        state["t"] += len(y)
        return forecasts

    def _forecast(self, state, X):
        return (X @ self.weights(state)[..., None])[..., 0]

    def weights(self, state):
        return state["w"]

    def step(self, state, by):
        state["w"] -= by


class Replacing(NLMS):
    """The same, written in new arrays."""

    def step(self, state, by):
        state["w"] = state["w"] - by


class FromIntegers(Replacing):
    """New arrays, the first of them in place of one of integers."""

    dtype = np.int64


class Nested(Replacing):
    """The same a dict deeper."""

    def _start(self, n_features, n_targets=None, bank=None):
        state = super()._start(n_features, n_targets, bank)
        return {"t": 0, "inner": {"w": state["w"], "steps": 0}}

    def weights(self, state):
        return state["inner"]["w"]

    def step(self, state, by):
        inner = state["inner"]
        state["inner"] = {"w": inner["w"] - by, "steps": inner["steps"] + 1}


class NestedInPlace(Nested):
    """A dict deeper, and in place."""

    def step(self, state, by):
        state["inner"]["w"] -= by
        state["inner"]["steps"] += 1


class Renaming(Replacing):
    """An entry of the state goes and another comes."""

    def weights(self, state):
        return state["w"] if "w" in state else state["v"]

    def step(self, state, by):
        w = self.weights(state) - by
        state.pop("w", None)
        state["v"] = w


def bank_of(expert, n_jobs=None):
    return MultiKernelRegressor(
        GRID, expert, BOARegressor(), n_components=20, random_state=0, n_jobs=n_jobs
    )


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("class_", [Replacing, FromIntegers, Nested, NestedInPlace, Renaming])
def test_what_an_expert_of_a_bank_replaces_is_kept(class_, n_jobs, monkeypatch):
    """At 8264a20 the progressive losses look right, and `predict` is 0."""
    X, y = stream()
    expected = bank_of(NLMS())
    forecasts = expected.prequential_predict(X, y)
    assert np.abs(expected.predict(X)).max() > 0.1
    monkeypatch.setattr(_bank, "_GROUP_BYTES", 200)  # several groups
    model = bank_of(class_(), n_jobs)
    found = [model.prequential_predict(X[rows], y[rows]) for rows in (slice(90), slice(90, None))]
    np.testing.assert_allclose(np.concatenate(found), forecasts)
    np.testing.assert_allclose(model.predict(X), expected.predict(X))


def test_a_failed_call_keeps_nothing_of_what_was_replaced():
    class FailsLater(Replacing):
        def step(self, state, by):
            super().step(state, by)
            if state["t"] and np.abs(by).max() > 100:
                raise RuntimeError("no more")

    X, y = stream()
    model = bank_of(FailsLater()).fit(X, y)
    before = model.predict(X)
    with pytest.raises(RuntimeError, match="no more"):
        model.partial_fit(X[:2], [0.0, 1e5])
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_bank_s_arrays_keep_their_axis_of_experts():
    class Averaging(Replacing):
        def step(self, state, by):
            state["w"] = (state["w"] - by).mean(axis=0)

    with pytest.raises(TypeError, match=r"Averaging\._learn replaced the array 'w'.*keep it"):
        bank_of(Averaging()).fit(*stream())


class Answering(OnlineRegressor):
    """Returns what it is told to."""

    def __init__(self, learn=None, forecast=None):
        self.learn = learn
        self.forecast = forecast

    def _start(self, n_features, n_targets=None):
        return {"t": 0}

    def _learn(self, state, X, y):
        state["t"] += len(y)
        return _answer(self.learn, y)

    def _forecast(self, state, X):
        return _answer(self.forecast, np.zeros(len(X)))


class AnsweringClassifier(OnlineClassifier):
    """The same for labels."""

    __init__ = Answering.__init__
    _start, _learn, _forecast = Answering._start, Answering._learn, Answering._forecast


class AnsweringProbabilities(OnlineMulticlassClassifier):
    """The same for probabilities."""

    __init__ = Answering.__init__
    _start, _learn, _forecast = Answering._start, Answering._learn, Answering._forecast


def _answer(how, zeros):
    return {
        None: lambda: zeros,
        "nothing": lambda: None,
        "a number": lambda: 0.0,
        "a column": lambda: zeros[:, None],
        "one short": lambda: zeros[1:],
        "a list": lambda: list(zeros),
    }[how]()


BAD = ["nothing", "a number", "a column", "one short", "a list"]
ASKED = {
    Answering: ["fit", "partial_fit", "prequential_predict"],
    AnsweringClassifier: ["fit", "partial_fit", "prequential_predict"],
    AnsweringProbabilities: ["fit", "partial_fit", "prequential_predict_proba"],
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("class_", ASKED)
def test_forecasts_of_no_such_shape_are_named(class_, bad):
    X, y = stream(20)
    labels = y > np.median(y)
    y = y if class_ is Answering else labels
    for verb in ASKED[class_]:
        model = class_(learn=bad)
        with pytest.raises(TypeError, match=rf"{class_.__name__}\._learn returned .* shape \(20,"):
            getattr(model, verb)(X, y)
        assert not hasattr(model, "n_features_in_")
    if class_ is AnsweringProbabilities:
        return
    model = class_(forecast=bad).fit(X, y)
    with pytest.raises(TypeError, match=rf"{class_.__name__}\._forecast returned .*\(20,\): the"):
        model.predict(X)


def test_forecasts_of_several_targets_have_their_columns():
    class Two(Answering):
        _multi_output = True

        def _forecast(self, state, X):
            return np.zeros((len(X), 2))

    X, y = stream(20)
    model = Two().fit(X, np.c_[y, y])
    assert model.predict(X).shape == (20, 2)
    with pytest.raises(TypeError, match=r"_forecast returned an array of shape \(20, 2\)"):
        Two().fit(X, y).predict(X)


@pytest.mark.parametrize("bad", ["nothing", "a number", "one short"])
@pytest.mark.parametrize("verb", ["_learn", "_forecast"])
def test_forecasts_of_parts_are_looked_at_too(verb, bad):
    X, y = stream(20)

    class Bad(NLMS):
        pass

    class Leader(ConvexAggregator):
        def _start_rule(self, log_prior):
            return {}

        def _log_weights(self, state):
            return state["log_prior"].copy()

        def _update(self, state, regrets, y):
            pass

    class Made(FullInformationRegressor):
        def _parts(self):
            return VAWRegressor(), Leader()

    def answer(self, state, X, *y):
        return _answer(bad, np.zeros(X.shape[:-1]))

    setattr(Bad, verb, answer)
    setattr(Leader, verb, answer)
    for name, model in (("Bad", bank_of(Bad())), ("Leader", Made(GRID, random_state=0))):
        with pytest.raises(TypeError, match=rf"{name}\.{verb} returned"):
            model.fit(X, y).predict(X)


@pytest.mark.parametrize("state", [None, [], {}, {"rounds": 0}])
def test_a_state_that_is_none_is_named(state):
    class Odd(Answering):
        def _start(self, n_features, n_targets=None):
            return state

    class OddScaler(OnlineTransformer):
        def _begin(self, X, y):
            return state

    for model, verb in ((Odd(), "_start"), (OddScaler(), "_begin")):
        with pytest.raises(TypeError, match=rf"Odd\w*\.{verb} returned .*'t' counts the rounds"):
            model.fit(*stream())
        assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("bad", ["nothing", "a number", "one short"])
def test_rows_of_a_transformer_of_no_such_shape_are_named(bad):
    class Odd(OneToOneFeatureMixin, OnlineTransformer):
        asked = learnt = None

        def _begin(self, X, y):
            return {"t": 0}

        def _flow(self, state, X, y, delay):
            state["t"] += len(X)
            return _answer(self.learnt, X)

        def _ask(self, state, X):
            return _answer(self.asked, X)

    X, _ = stream(20)
    model = Odd().fit(X)
    model.asked = bad
    with pytest.raises(TypeError, match=r"Odd\._ask returned .*\(20, any\): what each row is"):
        model.transform(X)
    model.learnt = bad
    with pytest.raises(TypeError, match=r"Odd\._flow returned .*\(20, any\): what each row was"):
        model.prequential_transform(X)
    assert model.n_samples_seen_ == 20


class Wrapped(OnlineRegressor):
    """Teaches a part by its private verbs, on rows that a transformer of its own has seen."""

    _structural = ("part", "scaler", "others")

    def __init__(self, part=None, scaler=None, others=None, free=None):
        self.part = part
        self.scaler = scaler
        self.others = others
        self.free = free

    def _start(self, n_features, n_targets=None):
        scaler = {"t": 0, **self.scaler._start(np.zeros(n_features))}
        return {"t": 0, "part": self.part._start(n_features), "scaler": scaler}

    def _learn(self, state, X, y):
        state["t"] += len(y)
        return self.part._learn(state["part"], X, y)

    def _forecast(self, state, X):
        return self.part._forecast(state["part"], X)


def wrapped(**parameters):
    return Wrapped(VAWRegressor(), RunningStandardScaler()).set_params(**parameters)


@pytest.mark.parametrize(
    "bad",
    [
        {"part": VAWRegressor(forgetting=5.0)},
        {"part": VAWRegressor("much")},
        {"scaler": RunningStandardScaler(forgetting=-1.0)},
        {"part": Wrapped(VAWRegressor(alpha=-1.0), RunningStandardScaler())},
        {"free": VAWRegressor(alpha=-1.0)},
    ],
    ids=str,
)
def test_parameters_of_nested_parts_are_validated(bad):
    X, y = stream(20)
    with pytest.raises(ValueError, match=r"'(alpha|forgetting)' parameter of"):
        wrapped(**bad).fit(X, y)
    model = wrapped().fit(X, y)
    with pytest.raises(ValueError, match=r"'(alpha|forgetting)' parameter of"):
        model.set_params(**bad).partial_fit(X, y)


def test_parts_that_stay_as_they_are_do_not_change_in_mid_stream():
    X, y = stream(20)
    others = [("a", VAWRegressor()), ("b", {"c": RunningStandardScaler()})]
    model = wrapped(others=others).fit(X, y).partial_fit(X, y)
    again = copy.deepcopy(model).partial_fit(X, y)
    np.testing.assert_array_equal(model.partial_fit(X, y).predict(X), again.predict(X))
    for name, other in (
        ("scaler__forgetting", 0.9),
        ("part__alpha", 2.0),
        ("others", others[:1]),
        ("others", [others[0], ("b", {"c": RunningStandardScaler(forgetting=0.5)})]),
    ):
        with pytest.raises(ValueError, match=rf"\['{name.partition('__')[0]}'\].*mid-stream"):
            copy.deepcopy(model).set_params(**{name: other}).partial_fit(X, y)
