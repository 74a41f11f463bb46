"""The swap of states, for all that learn on the way: a call teaches, or leaves no trace."""

import copy
import pickle
import re
import threading

import numpy as np
import pytest
from sklearn.base import OneToOneFeatureMixin, clone

from sklearn_okl import (
    BOARegressor,
    ExpertsRegressor,
    KeyedRegressor,
    KONSRegressor,
    MLProdRegressor,
    NONSALDRegressor,
    OKSPlusPlusRegressor,
    OMKLGFRegressor,
    OMKLSFGRegressor,
    OnlineForecaster,
    OnlineKernelRegressor,
    ONSRegressor,
    ResidualRegressor,
    RFOMKRRegressor,
    RunningStandardScaler,
    StackedBOARegressor,
    StreamingTransformedTargetRegressor,
    VAW2Regressor,
    VAWBOARegressor,
    VAWMLPolyRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.base import OnlineTransformer, SwapMixin
from sklearn_okl.evaluation import PrequentialSearch
from sklearn_okl.evaluation._laws import _InterruptAt, _mend_surroundings
from tests.instances import label

OVERFLOWED = (
    "Numbers overflowed while these rows were learnt; the model is as it was before the call. "
    "Scale the features and the targets to moderate size."
)
BANK = {"kernels": {"gamma": [0.1, 1.0]}, "n_components": 20, "random_state": 0}


class RunningPower(OneToOneFeatureMixin, OnlineTransformer):
    """Rows over the root of the sum of squares so far, which may overflow."""

    _structural = ("start",)

    def __init__(self, start=1.0):
        self.start = start

    def _begin(self, X, y):
        return {"t": 0, "squares": np.full((1, X.shape[1]), self.start)}

    def _flow(self, state, X, y, delay):
        squares = np.cumsum(np.vstack([state["squares"], X**2]), axis=0)
        state.update(t=state["t"] + len(X), squares=squares[-1:])
        return X / np.sqrt(squares[:-1])

    def _ask(self, state, X):
        return X / np.sqrt(state["squares"])


class Case:
    """A model, another value of a parameter that shapes its state, and rows that overflow."""

    def __init__(self, model, changed, rows=1.0, targets=1.0, n_first=40):
        self.model, self.changed, self.n_first = model, changed, n_first
        rng = np.random.default_rng(len(repr(model)))
        self.X = rng.normal(size=(80, 3))
        self.y = np.sin(self.X[:, 0]) + self.X[:, 1]
        self.bad = rows * self.X[60:], targets * self.y[60:]

    def taught(self):
        model = clone(self.model)
        return self.learn(model, self.X[: self.n_first], self.y[: self.n_first])

    def learn(self, model, X, y, verb="partial_fit"):
        first, *others = (y, X) if isinstance(model, OnlineForecaster) else (X, y)
        return getattr(model, verb)(first, *others)

    def ask(self, model):
        if isinstance(model, OnlineForecaster):
            return model.predict(self.X[:3])
        return (model.transform if hasattr(model, "transform") else model.predict)(self.X[:7])


def scaled(*steps, **arguments):
    return make_streaming_pipeline(RunningStandardScaler(), *steps, **arguments)


CASES = {
    "estimator": Case(VAWRegressor(), {"alpha": 3.0}, rows=1e200),
    "bank": Case(VAW2Regressor(**BANK), {"n_components": 10}, targets=4e307),
    "bandit": Case(  # plain numbers, whose squares fail where those of arrays are infinite
        OKSPlusPlusRegressor(random_state=0), {"kernels": {"gamma": [0.1, 1.0]}}, targets=1e100
    ),
    "default": Case(
        OnlineKernelRegressor(budget="fast", random_state=0, lags=0), {"lags": 2}, targets=4e307
    ),
    "experts": Case(
        ExpertsRegressor([("a", VAWRegressor()), ("b", VAWRegressor(9.0))]),
        {"experts": [("a", VAWRegressor())]},
        rows=1e200,
    ),
    "residual": Case(
        ResidualRegressor(VAWRegressor(), VAWRegressor()), {"passthrough": False}, rows=1e200
    ),
    "transformed target": Case(
        StreamingTransformedTargetRegressor(VAWRegressor()),
        {"regressor": VAWRegressor(3.0)},
        rows=1e200,
    ),
    "transformer": Case(RunningPower(), {"start": 2.0}, rows=1e200),
    "pipeline, its transformer": Case(
        make_streaming_pipeline(RunningPower(), VAWRegressor()), {"vawregressor__alpha": 3.0}, 1e200
    ),
    "pipeline, its last step": Case(scaled(VAWRegressor()), {"warmup": 3}, targets=4e307),
    "pipeline, its warm-up": Case(
        scaled(VAWRegressor(), warmup=70), {"warmup": 3}, targets=4e307, n_first=30
    ),
    "search, its candidates": Case(
        PrequentialSearch(VAWRegressor(), {"alpha": [0.1, 1.0]}), {"loss": "absolute_error"}, 1e200
    ),
    "search, its losses": Case(
        PrequentialSearch(VAWRegressor(), {"alpha": [0.1, 1.0]}), {"n_iter": 1}, targets=1e160
    ),
    "forecaster": Case(
        OnlineForecaster(3, guard=False, windows=(3, 4, 6)), {"horizon": 4}, targets=1e99
    ),
}
CASES["pipeline, its warm-up"].bad = (
    CASES["pipeline, its warm-up"].bad[0],
    np.full(20, 4e307),  # of which no sum is a number
)


BEYOND = "default", "forecaster"  # whom no row overflows that they take


def same_model(case, model, expected):
    """Say that a model answers, and goes on, as another does."""
    np.testing.assert_array_equal(case.ask(model), case.ask(expected))
    later = slice(case.n_first, case.n_first + 9)
    for one in (model, expected):
        case.learn(one, case.X[later], case.y[later])
    np.testing.assert_array_equal(case.ask(model), case.ask(expected))
    assert model.n_samples_seen_ == expected.n_samples_seen_


@pytest.mark.long(every=4)
@pytest.mark.parametrize("kind", [kind for kind in CASES if kind not in BEYOND])
def test_rows_that_overflow_are_refused_in_the_same_sentence(kind):
    """At fe656ae a forecaster forecasts NaN from then on, a search ranks by infinite losses, a
    transformer keeps infinity, a pipeline in its warm-up forecasts it."""
    case = CASES[kind]
    assert isinstance(case.model, SwapMixin)
    model, expected = case.taught(), case.taught()
    before = pickle.dumps(model)
    for verb in ("partial_fit", "fit"):
        if verb == "fit" and kind == "search, its losses":
            continue  # alone these rows are of moderate size to each other
        with pytest.raises(ValueError, match=re.escape(OVERFLOWED)):
            case.learn(model, *case.bad, verb)
        assert pickle.dumps(model) == before
    same_model(case, model, expected)


def test_targets_at_the_end_of_numbers_are_learnt_by_a_forecaster_that_believes_them():
    case = CASES["forecaster"]
    model = case.taught()
    case.learn(model, *case.bad)
    assert np.isfinite(case.ask(model)).all()
    assert model.n_samples_seen_ == case.n_first + len(case.bad[1])


def test_targets_at_the_end_of_numbers_are_faults_to_the_default():
    case = CASES["default"]
    model, expected = case.taught(), case.taught()
    for start in range(0, 20, 7):  # some at once, some behind them
        case.learn(model, *(part[start : start + 7] for part in case.bad))
    later = slice(case.n_first, case.n_first + 20)
    errors = [
        np.abs(one.prequential_predict(case.X[later], case.y[later]) - case.y[later]).mean()
        for one in (model, expected)
    ]
    assert errors[0] < 1.3 * errors[1]


@pytest.mark.parametrize("kind", CASES)
def test_first_rows_that_overflow_leave_no_trace(kind):
    case = CASES[kind]
    if kind.startswith(("forecaster", "default")):
        return  # what is of one size from the start is scaled
    model = clone(case.model)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="Numbers overflowed"):
        case.learn(model, *case.bad)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    "model",
    [
        BOARegressor(),
        MLProdRegressor(),
        StackedBOARegressor(),
        VAWBOARegressor(**BANK),
        VAWMLPolyRegressor(gradient_trick=False, **BANK),
        RFOMKRRegressor(**BANK),
    ],
    ids=label,
)
def test_an_absurd_target_is_an_overflow_and_no_warning(model):
    """Rates fell to 0, and experts that made no numbers any more were said to be asleep."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = np.where(np.arange(20) == 7, 1e308, np.sin(X[:, 0]))
    with pytest.raises(ValueError, match=OVERFLOWED):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KONSRegressor(radius=1e-320), "'radius' parameter"),
        (NONSALDRegressor(radius=1e-320), "'radius' parameter"),
        (ONSRegressor(radius=1e-320), "'radius' parameter"),
        (OMKLGFRegressor(power_t=10**30, random_state=0), OVERFLOWED),
        (OMKLSFGRegressor(power_t=10**30, random_state=0), OVERFLOWED),
    ],
    ids=lambda value: type(value).__name__,
)
def test_parameters_that_overflow_are_no_bare_error(model, words):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match=words):
        model.fit(X, np.sin(X[:, 0]))


@pytest.mark.long(every=3)
@pytest.mark.parametrize("kind", CASES)
def test_no_parameter_of_the_state_changes_in_mid_stream_and_all_say_so_alike(kind):
    case = CASES[kind]
    model, name = case.taught(), type(case.model).__name__
    top = next(iter(case.changed)) if "__" not in next(iter(case.changed)) else "steps"
    old = {key: model.get_params()[key] for key in case.changed}
    before = pickle.dumps(model._state)
    model.set_params(**case.changed)
    sentence = (
        f"The parameters ['{top}'] of {name} cannot change in mid-stream: the state was built with "
        "other values. Call 'fit' to start afresh, or set the old values again."
    )
    for use in (case.ask, lambda m: case.learn(m, case.X, case.y)):
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
            use(model)
    assert pickle.dumps(model._state) == before
    model.set_params(**old)
    same_model(case, model, case.taught())


@pytest.mark.long(every=8)
@pytest.mark.parametrize("n_rows", [1, 9])
@pytest.mark.parametrize("kind", CASES)
def test_an_interrupt_at_any_moment_leaves_the_model_of_before_or_after(kind, n_rows, full_size):
    case = CASES[kind]
    rows = slice(case.n_first, case.n_first + n_rows)
    X, y = case.X[rows], case.y[rows]
    before, after = case.taught(), case.learn(case.taught(), X, y)
    with _InterruptAt() as counter:
        case.learn(case.taught(), X, y)
    with _mend_surroundings():
        rng = np.random.default_rng(n_rows)
        moments = rng.integers(1, counter.calls, 200 if full_size else 25)
        for k in np.append(moments, counter.calls - 1):  # the last moments are those of the swap
            model = case.taught()
            try:
                with _InterruptAt(int(k)):
                    case.learn(model, X, y)
            except KeyboardInterrupt:
                pass
            learnt = model.n_samples_seen_ > case.n_first
            same_model(case, model, copy.deepcopy(after if learnt else before))


def in_a_thread(do):
    """Return what a function says in another thread."""
    said = []
    thread = threading.Thread(target=lambda: said.append(do()))
    thread.start()
    thread.join()
    return said[0]


@pytest.fixture
def before_the_swap(monkeypatch):
    """Let another thread do something once, when all is learnt and nothing installed."""

    def arranged(model, do):
        look, waiting = type(model)._is_sound, [do]

        def looked(self, *given):
            is_sound = look(self, *given)
            if waiting and len(given) == 2 and type(self) is type(model):
                in_a_thread(waiting.pop())
            return is_sound

        monkeypatch.setattr(type(model), "_is_sound", looked)

    return arranged


@pytest.mark.long(every=3)
@pytest.mark.parametrize("kind", CASES)
def test_readers_see_the_model_before_a_call_until_it_is_over(kind, before_the_swap):
    case, seen = CASES[kind], []
    model, expected = case.taught(), case.ask(case.taught())

    def read():
        seen.append((case.ask(model), model.n_samples_seen_))
        other = pickle.loads(pickle.dumps(model))
        seen.append((case.ask(other), other.n_samples_seen_))
        other = copy.deepcopy(model)
        seen.append((case.ask(other), other.n_samples_seen_))

    before_the_swap(model, read)
    later = slice(case.n_first, case.n_first + 5)
    case.learn(model, case.X[later], case.y[later])
    assert len(seen) == 3
    for answer, n in seen:
        # not to the bit: BLAS may have more threads in another thread of ours, and sum otherwise
        np.testing.assert_allclose(answer, expected, rtol=1e-12, atol=1e-12)
        assert n == case.n_first
    assert model.n_samples_seen_ == case.n_first + 5


@pytest.mark.long(every=3)
@pytest.mark.parametrize("kind", CASES)
def test_a_second_writer_is_refused_whatever_is_taught(kind, before_the_swap):
    case = CASES[kind]
    model, expected = case.taught(), case.taught()
    one, other = (slice(low, low + 5) for low in (case.n_first, case.n_first + 5))
    case.learn(expected, case.X[other], case.y[other])
    before_the_swap(model, lambda: case.learn(model, case.X[other], case.y[other]))
    with pytest.raises(RuntimeError, match=rf"taught this {type(model).__name__} while"):
        case.learn(model, case.X[one], case.y[one])
    np.testing.assert_allclose(case.ask(model), case.ask(expected), rtol=1e-12, atol=1e-12)
    assert model.n_samples_seen_ == case.n_first + 5


@pytest.mark.long
def test_warnings_point_at_the_line_that_called():
    X, y = CASES["estimator"].X, 100.0 + CASES["estimator"].y
    with pytest.warns(UserWarning, match="express no constant") as told:
        VAWRegressor().fit(np.tile(X, (4, 1)), np.tile(y, 4))
    series = np.sin(np.arange(300) / 3.0)
    series[40::8] = 1e5 * np.arange(33) ** 2
    with pytest.warns(UserWarning, match="More than one in twenty") as more:
        OnlineForecaster(2, windows=(3, 4, 6)).fit(series)
    assert {one.filename for one in (*told, *more)} == {__file__}


def test_values_that_can_be_edited_are_remembered_as_they_were():
    case = CASES["bank"]
    given = {"gamma": [0.1, 1.0]}
    model = VAW2Regressor(**BANK | {"kernels": given}).fit(case.X, case.y)
    model.fit(case.X, case.y)  # what was checked before is a start again
    given["gamma"][0] = 0.5
    with pytest.raises(ValueError, match=r"\['kernels'\] .* cannot change in mid-stream"):
        model.predict(case.X)


# two models become one, and rows are taken away, by the same swap

LARGE = np.diag([1.1e154, 1.0, 1.0])  # the square is a number, twice that is none
MERGING = {
    "estimator": (VAWRegressor(), {}),
    "pipeline": (make_streaming_pipeline(VAWRegressor()), {}),
    "keys": (KeyedRegressor(VAWRegressor(), prior=None), {"keys": ["a", "a", "a"]}),
}
each_that_merges = pytest.mark.parametrize(("model", "more"), MERGING.values(), ids=[*MERGING])


@each_that_merges
def test_a_merge_that_overflows_is_refused_in_the_same_sentence(model, more):
    one, other = (clone(model).fit(LARGE, np.zeros(3), **more) for _ in range(2))
    before = pickle.dumps(one)
    with pytest.raises(ValueError, match="Numbers overflowed"):
        one.merge(other)
    assert pickle.dumps(one) == before


@each_that_merges
def test_a_merge_beside_a_second_writer_is_refused(model, more, monkeypatch):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(3, 2)), rng.normal(size=3)
    one, other, expected = (clone(model).fit(X, y, **more) for _ in range(3))
    expected.partial_fit(X, y, **more)
    become, waiting = SwapMixin._become, [one]

    def late(self, *given):
        if self is one and waiting:
            waiting.pop()
            in_a_thread(lambda: one.partial_fit(X, y, **more))
        return become(self, *given)

    monkeypatch.setattr(SwapMixin, "_become", late)
    with pytest.raises(RuntimeError, match=rf"taught this {type(model).__name__} while"):
        one.merge(other)
    asked = [m.predict(X, **more) for m in (one, expected)]
    np.testing.assert_allclose(*asked, rtol=1e-12, atol=1e-12)
    assert one.n_samples_seen_ == 6
