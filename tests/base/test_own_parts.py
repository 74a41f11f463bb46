"""Parts of somebody else's, written with public imports alone."""

import re
from numbers import Real
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils._param_validation import Interval

import sklearn_okl.base
from sklearn_okl import (
    CONKONSRegressor,
    KernelVAWRegressor,
    MultiKernelRegressor,
    OKSClassifier,
    OKSRegressor,
    OnlineKernelRegressor,
    ONSRegressor,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)
from sklearn_okl._delay import read_late
from sklearn_okl.base import (
    ConvexAggregator,
    EntryRule,
    FeatureSelector,
    FullInformationRegressor,
    GrowingBasisRegressor,
    KernelSelector,
    OnlineClassifier,
    OnlineRegressor,
    OnlineTransformer,
    Sampler,
)
from sklearn_okl.evaluation import check_online_estimator

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


class Leader(ConvexAggregator):
    """All weight, or nearly, on the expert of least loss so far."""

    def _start_rule(self, log_prior):
        return {"sums": np.zeros(len(log_prior))}

    def _log_weights(self, state):
        return 100.0 * state["sums"]

    def _update(self, state, regrets, y):
        state["sums"] = state["sums"] + regrets


class Halved:
    """A stage between experts and aggregator."""

    def _validate(self):
        pass

    def _start(self, n_experts):
        return {"rounds": 0}

    def _learn(self, state, F, y):
        state["rounds"] += len(y)
        return F / 2

    def _forecast(self, state, F):
        return F / 2


class LedRegressor(FullInformationRegressor):
    """One VAW per kernel, and the leader of them."""

    _structural = ("alpha", "halved")

    def __init__(
        self, kernels=None, alpha=1.0, *, n_components=20, halved=False, random_state=None
    ):
        super().__init__(kernels, n_components=n_components, random_state=random_state)
        self.alpha = alpha
        self.halved = halved

    def _parts(self):
        between = [Halved()] if self.halved else []
        return VAWRegressor(self.alpha), *between, Leader()


class Even(Sampler):
    """All arms are as likely, whatever they lose."""

    def __init__(self, n_arms):
        self.n_arms = n_arms

    def start(self):
        return {"probabilities": np.full(self.n_arms, 1 / self.n_arms)}

    def credit(self, state, arm, loss, gradient_sq):
        return 0.1


class InTurn(Even):
    """Arms one after the other: a sampler that draws by itself."""

    def start(self):
        return super().start() | {"next": 0}

    def draw(self, state, uniform):
        return state["next"]

    def credit(self, state, arm, loss, gradient_sq):
        state["next"] = (arm + 1) % self.n_arms
        return 0.1


class EvenRegressor(KernelSelector, OnlineRegressor):
    """Kernels drawn evenly."""

    def _sampler(self, n_kernels):
        return Even(n_kernels)


class EvenClassifier(KernelSelector, OnlineClassifier):
    """Kernels drawn evenly, for labels."""

    def __init__(self, kernels=None, loss="log_loss", *, random_state=None):
        super().__init__(kernels, loss=loss, random_state=random_state)

    def _sampler(self, n_kernels):
        return Even(n_kernels)


class EvenFeaturesClassifier(FeatureSelector, OnlineClassifier):
    """Kernels drawn evenly, for labels, on random features."""

    def __init__(self, kernels=None, loss="log_loss", radius=15.0, *, random_state=None):
        super().__init__(kernels, 20, loss, radius, random_state=random_state)

    def _sampler(self, n_kernels):
        return Even(n_kernels)


class FirstRows(EntryRule):
    """As many rows as there is room for."""

    def __init__(self, budget):
        self.budget = budget

    def first(self, kernel, state, rows, low, drawn):
        return low if len(rows.atoms) < self.budget else len(rows.X)


class SomeRows(EntryRule):
    """Every row with the same probability: a rule with draws and a state."""

    def start(self, n_features):
        return {"rng": np.random.RandomState(0), "entered": 0}

    def draw(self, state, n):
        return state["rng"].random_sample(n) < 0.1

    def first(self, kernel, state, rows, low, drawn):
        return low + int(drawn[low:].argmax()) if drawn[low:].any() else len(rows.X)

    def enter(self, kernel, state, x):
        state["entered"] += 1


class FirstRowsRegressor(GrowingBasisRegressor):
    """Newton steps in the span of the first rows."""

    def __init__(self, gamma=None, budget=10):
        super().__init__(gamma=gamma)
        self.budget = budget

    def _rule(self):
        return FirstRows(self.budget)

    def _newton(self):
        return ONSRegressor(1.0, radius=2.0)


class SomeRowsRegressor(FirstRowsRegressor):
    """Newton steps in the span of rows drawn at random, that forget when one enters."""

    def _rule(self):
        return SomeRows()

    def _admit(self, newton, learnt, phi, y):
        forecasts = newton._learn(learnt, phi[:, :-1], y)
        learnt.clear()
        learnt.update(newton._start(phi.shape[1]))
        return forecasts


def stream(n=200, d=3):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, np.sin(3 * X[:, 0]) * X[:, 1]


def test_public_bases_name_no_private_module():
    assert "Rows" in sklearn_okl.base.__all__
    for name in sklearn_okl.base.__all__:
        assert getattr(sklearn_okl.base, name).__module__ == "sklearn_okl.base"


@pytest.mark.long(every=6)
@pytest.mark.parametrize(
    ("model", "grows"),
    [
        (Leader(), False),
        (MultiKernelRegressor({"gamma": [0.1, 1.0]}, None, Leader(), random_state=0), False),
        (LedRegressor({"gamma": [0.1, 1.0]}, random_state=0), False),
        (LedRegressor({"gamma": [0.1, 1.0]}, halved=True, random_state=0), False),
        (EvenRegressor(random_state=0), True),
        (EvenRegressor({"gamma": [0.5, 1.0]}, radius=0.5, random_state=0), True),
        (EvenClassifier(random_state=0), True),
        (EvenFeaturesClassifier(random_state=0), False),
        (FirstRowsRegressor(0.5), False),
        (SomeRowsRegressor(0.5), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_laws(model, grows):
    check_online_estimator(model, grows=grows)


def test_parameters_that_a_subclass_does_not_name_have_defaults_and_are_no_parameters():
    assert set(FirstRowsRegressor().get_params()) == {"gamma", "budget"}
    assert clone(FirstRowsRegressor(0.5, 3)).budget == 3
    assert FirstRowsRegressor().degree == GrowingBasisRegressor.__init__.__kwdefaults__["degree"]
    assert set(EvenRegressor().get_params()) == {"kernels", "loss", "radius", "random_state"}
    assert set(EvenFeaturesClassifier().get_params()) == set(EvenRegressor().get_params())
    assert set(Leader().get_params()) >= {"loss", "prior_weights", "fallback"}
    with pytest.raises(ValueError, match="quantile"):
        Leader(quantile=2.0).fit(np.ones((3, 2)), np.ones(3))
    with pytest.raises(ValueError, match="radius"):
        EvenRegressor(radius=-1.0).fit(*stream())


def test_full_information_of_ones_own_is_the_composed_estimator():
    X, y = stream()
    grid = {"gamma": [0.1, 1.0, 10.0]}
    model = LedRegressor(grid, 0.5, random_state=0)
    composed = MultiKernelRegressor(
        grid, VAWRegressor(0.5), Leader(), n_components=20, random_state=0
    )
    forecasts = model.prequential_predict(X, y)
    assert_array_equal(forecasts, composed.prequential_predict(X, y))
    assert_array_equal(model.weights_, composed.weights_)
    assert_array_equal(model.predict_experts(X), composed.predict_experts(X))
    assert model.set_params(alpha=1.0).kernels_ == composed.kernels_
    halved = LedRegressor(grid, 0.5, halved=True, random_state=0).fit(X, y)
    assert_array_equal(halved.expert_losses_, composed.expert_losses_)
    assert np.abs(halved.predict(X)).max() < np.abs(composed.predict(X)).max()


@pytest.mark.parametrize(
    ("parts", "error", "words"),
    [
        ((VAWRegressor(alpha=-1.0), Leader()), ValueError, "'alpha' parameter of VAWRegressor"),
        ((VAWRegressor(), Leader(quantile=2.0)), ValueError, "'quantile' parameter of Leader"),
        ((KernelVAWRegressor(), Leader()), TypeError, "KernelVAWRegressor cannot be an expert"),
        ((VAWRegressor(), ONSRegressor()), TypeError, "ONSRegressor cannot be the aggregator"),
    ],
)
def test_parts_of_full_information_are_validated(parts, error, words):
    class Bad(FullInformationRegressor):
        def _parts(self):
            return parts

    with pytest.raises(error, match=words):
        Bad({"gamma": [0.1]}).fit(*stream())


def test_a_dictionary_of_the_first_rows():
    X, y = stream()
    model = FirstRowsRegressor(0.5, budget=7).fit(X, y)
    assert_array_equal(model.components_, X[:7])
    assert model.dual_coef_.shape == (7,)
    with pytest.raises(ValueError, match=r"\['gamma'\].*mid-stream"):
        model.set_params(gamma=1.0).partial_fit(X, y)


def test_the_rule_is_told_of_every_entry():
    X, y = stream()
    model = SomeRowsRegressor(0.5).fit(X, y)
    assert model._state["rule"]["entered"] >= len(model.components_) > 5


def test_a_sampler_may_draw_by_itself():
    class InTurnRegressor(KernelSelector, OnlineRegressor):
        def _sampler(self, n_kernels):
            return InTurn(n_kernels)

    X, y = stream()
    model = InTurnRegressor({"gamma": [0.1, 1.0, 10.0]}, random_state=0)
    for t in range(7):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        assert model.kernel_index_ == (t + 1) % 3  # drawn ahead
    assert_array_equal(model.n_support_, [3, 2, 2])


def test_functions_stay_in_the_ball():
    X, y = stream()
    model = EvenRegressor(radius=0.1, random_state=0).fit(X, 10 * y)
    assert np.abs(model.predict(X)).max() <= 0.1 + 1e-12
    free = EvenRegressor(random_state=0).fit(X, 10 * y)
    assert np.abs(free.predict(X)).max() > 0.1


@pytest.mark.parametrize("verb", ["first", "start", "credit"])
def test_what_a_part_must_say(verb):
    part, arguments = {
        "first": (EntryRule(), (None, {}, None, 0, None)),
        "start": (Sampler(), ()),
        "credit": (Sampler(), ({}, 0, 1.0, 1.0)),
    }[verb]
    with pytest.raises(NotImplementedError, match=type(part).__name__):
        getattr(part, verb)(*arguments)


def test_named_classes_differ_from_the_bases_in_their_rule_alone():
    for class_ in (OKSRegressor, OKSClassifier):
        own = {name for name in vars(class_) if not name.startswith("__")}
        assert own - {"_doc_link_module"} <= {
            "_parameter_constraints",
            "_sampler",
            "_structural",
            "_test_parameters",
            *(name for name in own if name.startswith(("set_", "_sklearn", "_skl"))),
        }
    assert "_admit" not in vars(CONKONSRegressor)


@pytest.mark.parametrize(
    "model",
    [
        MultiKernelRegressor({"gamma": [0.1, 1.0]}, None, Leader(), random_state=0),
        FirstRowsRegressor(0.5),
        EvenRegressor(random_state=0),
        LedRegressor({"gamma": [0.1, 1.0]}, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_files_of_ones_own_parts_need_their_names(model, tmp_path):
    pytest.importorskip("skops")
    X, y = stream()
    path = tmp_path / "model.skops"
    model.fit(X[:100], y[:100])
    with pytest.raises(ValueError, match=r"save\(model, path, trusted=\[") as refusal:
        save(model, path)
    names = re.findall(r"'([^']+)'", str(refusal.value).split("trusted=")[1])
    save(model, path, trusted=names)
    with pytest.raises(TypeError, match="load it with trusted=") as refusal:
        load(path)
    assert str(names) in str(refusal.value)
    resumed = load(path, trusted=names)
    expected = model.prequential_predict(X[100:], y[100:])
    assert_array_equal(resumed.prequential_predict(X[100:], y[100:]), expected)


@pytest.fixture(scope="module")
def squint():
    """The aggregator of the page about one's own parts."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    (code,) = [block for block in blocks if "class SquintRegressor" in block]
    names = {"np": np, "Real": Real, "Interval": Interval}
    exec(code.partition("check_online_estimator(")[0], names)
    return names["SquintRegressor"]


def integrand(eta, R, V, top):
    return np.exp(eta * R - eta**2 * V - top)


@pytest.mark.parametrize("V", [1e-6, 1e-3, 0.1, 1.0, 30.0, 1e3, 1e5])
def test_squint_s_weights_are_the_integral(squint, V):
    R = np.sqrt(V) * np.array([-30.0, -3.0, -0.1, 0.0, 0.1, 3.0, 30.0])
    state = {"log_prior": np.zeros(len(R)), "R": R, "V": np.full(len(R), V)}
    found = squint()._log_weights(state) + np.log(np.sqrt(np.pi))
    for r, log_weight in zip(R, found, strict=True):
        peak = float(np.clip(r / (2 * V), 0.0, 0.5))
        top = peak * r - peak**2 * V
        width = min(0.5, 40 / max(np.sqrt(V), abs(r - 2 * peak * V)))
        low, high = max(0.0, peak - width), min(0.5, peak + width)
        points = [peak] if low < peak < high else None
        value = quad(integrand, low, high, args=(r, V, top), points=points)[0]
        assert_allclose(log_weight, top + np.log(value), rtol=1e-9, atol=1e-9)


def test_squint_finds_the_right_expert_and_keeps_its_numbers(squint):
    rng = np.random.default_rng(0)
    y = rng.uniform(size=3000)
    experts = np.c_[y, 1 - y, np.full(len(y), 0.5)]
    model = squint().fit(experts, y)
    assert model.weights_[0] > 0.99
    assert np.all(np.isfinite(model.weights_))


class RunningMaximum(OneToOneFeatureMixin, OnlineTransformer):
    """Columns divided by the largest size so far."""

    def _begin(self, X, y):
        return {"t": 0, "largest": np.abs(X[:1])}

    def _flow(self, state, X, y, delay):
        sizes = np.maximum.accumulate(np.vstack([state["largest"], np.abs(X)]))
        state.update(t=state["t"] + len(X), largest=sizes[-1:])
        return X / read_late(state, sizes[:-1], delay)

    def _ask(self, state, X):
        return X / state["largest"][-1]


class PlainMaximum(TransformerMixin, BaseEstimator):
    """The same without the shell: copied and asked row by row."""

    def partial_fit(self, X, y=None):
        self.largest_ = np.maximum(getattr(self, "largest_", 0.0), np.abs(X).max(axis=0))
        return self

    def fit(self, X, y=None):
        del self.largest_
        return self.partial_fit(X)

    def transform(self, X):
        return X / self.largest_


@pytest.mark.parametrize("label_delay", [0, 3])
def test_a_transformer_of_ones_own_flows_as_one_asked_row_by_row(label_delay):
    X, y = stream()
    expected, found = (
        make_streaming_pipeline(
            step, OnlineKernelRegressor(budget="fast", label_delay=label_delay, random_state=0)
        )
        for step in (PlainMaximum(), RunningMaximum())
    )
    for rows in (slice(1), slice(1, 60), slice(60, None)):
        assert_allclose(
            found.prequential_predict(X[rows], y[rows]),
            expected.prequential_predict(X[rows], y[rows]),
        )
    assert_array_equal(found.predict(X[:5]), expected.predict(X[:5]))


@pytest.mark.long
def test_a_transformer_of_ones_own_obeys_the_laws():
    check_online_estimator(make_streaming_pipeline(RunningMaximum(), VAWRegressor()))
    with pytest.raises(ValueError, match="NaN"):
        RunningMaximum().fit([[np.nan]])
