"""ExpertsRegressor: the literal loop, the laws, the theorem, foreign experts and their failures."""

import copy
import pickle
import warnings

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_okl import (
    BOARegressor,
    EWARegressor,
    MultiKernelRegressor,
    OGDRegressor,
    VAW2Regressor,
    VAWRegressor,
)
from sklearn_okl.algorithms._experts import ExpertsRegressor
from sklearn_okl.evaluation import online_checks, vaw_regret_bound
from tests.oracles import aggregation, gradient, vovk

GRID = {"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1.0]}


class LastTarget(RegressorMixin, BaseEstimator):
    """Forecast the last target; refuse before `patience` rows; keep each row that it was given."""

    def __init__(self, patience=1, source=None):
        self.patience = patience
        self.source = source  # anything: it is not looked at

    def partial_fit(self, X, y):
        self.rows_ = [*getattr(self, "rows_", []), X]
        self.last_ = y[-1]
        return self

    def predict(self, X):
        if len(self.rows_) < self.patience:
            raise RuntimeError("too early")
        return np.full(len(X), self.last_)


class Fails(LastTarget):
    """Fail to learn a target of exactly 7."""

    def partial_fit(self, X, y):
        super().partial_fit(X, y)
        if y[0] == 7.0:
            raise RuntimeError("seven")
        return self

    def predict(self, X):
        return super().predict(X) if self.source is None else np.full(len(X), self.source)


class Silent(LastTarget):
    """Forecast NaN every other time it was taught, infinity instead if asked so."""

    def predict(self, X):
        return super().predict(X) + (self.source if len(self.rows_) % 2 else 0.0)


def stream(seed=0, n=120, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, 0.5 + 0.4 * np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


def three_experts():
    return [
        ("sgd", SGDRegressor(random_state=0, eta0=0.1)),
        ("vaw", VAWRegressor(alpha=0.5)),
        ("vaw2", VAW2Regressor(GRID, n_components=16, random_state=0)),
    ]


def mixture(**arguments):
    experts = [("sgd", SGDRegressor(random_state=0)), ("vaw", VAWRegressor())]
    return ExpertsRegressor(experts, **arguments)


def loop(experts, X, y, initial=0.0):
    """Round by round: ask each expert, then teach it."""
    experts = [clone(expert) for _, expert in experts]
    F = np.full((len(y), len(experts)), initial)
    for t in range(len(y)):
        for k, expert in enumerate(experts):
            if t > 0:
                F[t, k] = expert.predict(X[t : t + 1])[0]
            elif hasattr(expert, "prequential_predict"):
                F[t, k] = 0.0
            expert.partial_fit(X[t : t + 1], y[t : t + 1])
    return F


AGGREGATORS = {
    "boa": (None, lambda F, y: aggregation.boa(F, y)[0]),
    "ewa": (EWARegressor(y_range=(-1, 2)), lambda F, y: aggregation.ewa(F, y, y_range=(-1, 2))[0]),
    "vaw": (VAWRegressor(alpha=2.0), lambda F, y: vovk.vaw(F, y, 2.0)),
    "ogd": (OGDRegressor(eta0=0.05), lambda F, y: gradient.ogd(F, y, eta0=0.05)[0]),
}


@pytest.mark.long(every=2)
@pytest.mark.parametrize("name", AGGREGATORS)
@pytest.mark.parametrize(("n_jobs", "initial"), [(None, 0.0), (2, 0.7)])
def test_equals_the_literal_loop(name, n_jobs, initial):
    aggregator, oracle = AGGREGATORS[name]
    X, y = stream(n=80)
    F = loop(three_experts(), X, y, initial)
    model = ExpertsRegressor(three_experts(), aggregator, initial_forecast=initial, n_jobs=n_jobs)
    forecasts = np.concatenate(
        [model.prequential_predict(X[:50], y[:50]), model.prequential_predict(X[50:], y[50:])]
    )
    assert_allclose(forecasts, oracle(F, y), rtol=1e-8, atol=1e-9)
    assert_allclose(model.expert_losses_, ((F - y[:, None]) ** 2).sum(axis=0), rtol=1e-8)
    combiner = (BOARegressor() if aggregator is None else clone(aggregator)).fit(F, y)
    weights = combiner.weights_ if hasattr(combiner, "weights_") else combiner.coef_
    assert_allclose(model.weights_, weights, rtol=1e-6)
    rows = np.column_stack([model.named_experts_[key].predict(X) for key, _ in three_experts()])
    assert_array_equal(model.predict_experts(X), rows)
    assert_allclose(model.predict(X), combiner.predict(rows), rtol=1e-7)


def test_equals_a_multi_kernel_regressor_of_the_same_parts():
    X, y = stream(1)
    bank = MultiKernelRegressor(GRID, aggregator=BOARegressor(), n_components=16, random_state=0)
    expected = bank.prequential_predict(X, y)
    model = ExpertsRegressor(
        [
            (f"kernel{k}", MultiKernelRegressor(
                {name: [value] for name, value in kernel.items()},
                aggregator=EWARegressor(),  # of one expert: its forecasts
                n_components=16,
                frequencies=[bank.frequencies_[k]],
            ))
            for k, kernel in enumerate(bank.kernels_)
        ]
    )  # fmt: skip
    assert_allclose(model.prequential_predict(X, y), expected, rtol=1e-9)
    assert_allclose(model.weights_, bank.weights_, rtol=1e-7)


@pytest.mark.long(every=4)
@pytest.mark.parametrize("seed", range(3))
def test_regret_of_vaw_over_any_experts_is_within_its_bound(seed):
    X, y = stream(seed, n=250)
    y = np.where(np.arange(250) % 100 < 50, y, -y)  # nobody is good for long
    experts = [("sgd", SGDRegressor(random_state=0)), ("last", LastTarget()), *three_experts()[1:]]
    model = ExpertsRegressor(experts, VAWRegressor())
    loss = np.sum((model.prequential_predict(X, y) - y) ** 2)
    F = loop(experts, X, y)
    best = np.linalg.solve(F.T @ F + np.eye(4), F.T @ y)
    bound = vaw_regret_bound(
        250,
        n_features=4,
        y_bound=np.abs(y).max(),
        feature_bound=np.linalg.norm(F, axis=1).max(),
        norm_sq=best @ best,
    )
    regret = loss - np.sum((F @ best - y) ** 2)
    assert 0.05 * bound < regret <= bound


@pytest.mark.long(every=18)
@pytest.mark.parametrize(
    "model",
    [
        mixture(aggregator=VAWRegressor(), n_jobs=2),
        ExpertsRegressor([("inner", mixture()), ("ogd", OGDRegressor())]),
        ExpertsRegressor([("mlp", MLPRegressor(hidden_layer_sizes=(4,), random_state=0))]),
    ],
    ids=["threads", "nested", "mlp"],
)
@pytest.mark.parametrize(
    "law",
    [
        "fit forgets",
        "predict is pure",
        "a pickle or a copy in mid-stream goes on bit for bit",
        "inputs are neither changed nor kept",
        "a rejected batch leaves the model as it was",
    ],
)
def test_laws_of_other_mixtures(model, law):
    dict(online_checks(model, grows=True))[law]()


def test_parameters_are_nested_as_in_scikit_learn():
    model = mixture(aggregator=VAWRegressor(alpha=3.0))
    params = model.get_params()
    assert params["sgd"] is model.experts[0][1]
    assert params["vaw__alpha"] == 1.0
    assert params["aggregator__alpha"] == 3.0
    assert set(model.get_params(deep=False)) == {
        "experts", "aggregator", "initial_forecast", "label_delay", "n_jobs"
    }  # fmt: skip
    other = clone(model).set_params(
        vaw__alpha=0.25, sgd=OGDRegressor(), aggregator__alpha=1.0, n_jobs=2
    )
    assert model.get_params()["vaw__alpha"] == 1.0
    assert other.experts[1][1].alpha == 0.25
    assert isinstance(other.experts[0][1], OGDRegressor)
    assert (other.aggregator.alpha, other.n_jobs) == (1.0, 2)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(nobody__alpha=1.0)


def test_the_user_s_own_objects_never_change():
    X, y = stream()
    started = SGDRegressor(random_state=0).partial_fit(X, -y)
    experts = [("sgd", started), ("vaw", VAWRegressor())]
    before = pickle.dumps(experts)
    model = ExpertsRegressor(experts).fit(X, y)
    model.predict(X)
    assert pickle.dumps(experts) == before
    assert model.experts is experts
    assert_array_equal(model.predict(X), mixture().fit(X, y).predict(X))  # a clone knows nothing


def test_named_experts_are_copies():
    X, y = stream()
    model = mixture().fit(X, y)
    before = pickle.dumps(model)
    for expert in model.named_experts_.values():
        expert.partial_fit(X, -y)
    model.named_experts_.sgd.coef_[...] = np.nan
    assert pickle.dumps(model) == before
    alone = VAWRegressor().fit(X, y)
    assert_allclose(model.named_experts_["vaw"].coef_, alone.coef_, rtol=1e-13)  # cut at row 32


def test_foreign_experts_may_keep_and_change_their_rows():
    X, y = stream()
    given = X.copy()
    model = ExpertsRegressor([("last", LastTarget())]).fit(given, y)
    for row in model._state["experts"]["last"].rows_:
        assert not np.shares_memory(row, given)
    assert_array_equal(model.prequential_predict(X, y), np.r_[y[-1], y[:-1]])


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_failing_expert_is_named_and_leaves_no_trace(n_jobs):
    X, y = stream()
    experts = [("vaw", VAWRegressor()), ("bad", Fails()), ("sgd", SGDRegressor(random_state=0))]
    model = ExpertsRegressor(experts, n_jobs=n_jobs)
    bad = y.copy()
    bad[60] = 7.0
    with pytest.raises(ValueError, match=r"expert 'bad' \(Fails\) failed to learn: seven"):
        model.fit(X, bad)
    assert not hasattr(model, "n_features_in_")
    model.fit(X, y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="seven"):
        model.partial_fit(X, bad)
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match=r"expert '(vaw|sgd)' .*overflow"):
        model.partial_fit(1e200 * X, y)
    assert pickle.dumps(model) == before


def test_an_expert_that_cannot_forecast_yet_is_named():
    X, y = stream()
    model = ExpertsRegressor([("slow", LastTarget(patience=3)), ("vaw", VAWRegressor())])
    with pytest.raises(ValueError, match=r"'slow' \(LastTarget\) failed to forecast: too early"):
        model.fit(X, y)
    model.fit(X[:1], y[:1])
    with pytest.raises(ValueError, match=r"'slow' \(LastTarget\) failed to forecast: too early"):
        model.predict(X)


@pytest.mark.long
def test_an_interrupt_among_the_experts_leaves_no_trace():
    X, y = stream()

    class Interrupts(LastTarget):
        def partial_fit(self, X, y):
            if y[0] == 7.0:
                raise KeyboardInterrupt
            return super().partial_fit(X, y)

    experts = [("vaw", VAWRegressor()), ("sgd", SGDRegressor(random_state=0)), ("i", Interrupts())]
    model, twin = ExpertsRegressor(experts).fit(X, y), ExpertsRegressor(experts).fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, np.r_[y[:60], 7.0, y[61:]])
    assert len(model._state["experts"]["i"].rows_) == len(y)
    assert_array_equal(model.prequential_predict(X, y), twin.prequential_predict(X, y))


def test_experts_may_sleep_where_the_aggregator_lets_them():
    X, y = stream()
    experts = [("silent", Silent(source=np.nan)), ("vaw", VAWRegressor())]
    F = loop(experts, X, y)
    assert np.isnan(F).sum() == len(y) // 2
    model = ExpertsRegressor(experts)
    assert_allclose(model.prequential_predict(X, y), aggregation.boa(F, y)[0], rtol=1e-8)
    assert_allclose(model.expert_losses_, np.nansum((F - y[:, None]) ** 2, axis=0))
    F[0] = 0.0
    means = np.r_[0.0, np.cumsum(y)[:-1] / np.arange(1, len(y))]
    F = np.where(np.isnan(F), means[:, None], F)  # VAW knows no sleep
    model = ExpertsRegressor(experts, VAWRegressor())
    assert_allclose(model.prequential_predict(X, y), vovk.vaw(F, y, 1.0), rtol=1e-8, atol=1e-9)


def test_the_fallback_of_the_aggregator_counts():
    X, y = stream()
    model = ExpertsRegressor([("silent", Silent(source=np.inf))], BOARegressor(fallback=0.25))
    assert_array_equal(model.prequential_predict(X, y)[1::2], np.full(len(y) // 2, 0.25))
    assert_array_equal(model.partial_fit(X[:1], y[:1]).predict(X), np.full(len(y), 0.25))


@pytest.mark.long(every=2)
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"sgd__alpha": 0.5}, "experts"),
        ({"vaw__forecaster": "ridge"}, "experts"),
        ({"sgd": OGDRegressor()}, "experts"),
        ({"experts": [("vaw", VAWRegressor())]}, "experts"),
        ({"aggregator": EWARegressor()}, "aggregator"),
        ({"aggregator__alpha": 9.0}, "aggregator"),
    ],
)
def test_parts_cannot_change_in_mid_stream(change, named):
    X, y = stream()
    model = mixture(aggregator=VAWRegressor()).fit(X, y)
    state = pickle.dumps(model._state)
    model.set_params(**change)
    for use in (lambda: model.partial_fit(X, y), lambda: model.predict(X)):
        with pytest.raises(ValueError, match=rf"\['{named}'\] .* mid-stream"):
            use()
    assert pickle.dumps(model._state) == state
    model.fit(X, y)


@pytest.mark.parametrize(
    "source",
    [np.random.RandomState(0), np.ones(3), [VAWRegressor()], {"a": LastTarget()}, np.sum, object()],
    ids=lambda source: type(source).__name__,
)
def test_parameters_of_any_kind_do_not_block_the_stream(source):
    X, y = stream()
    model = ExpertsRegressor([("last", LastTarget(source=source))])
    model.partial_fit(X, y).partial_fit(X, y)
    copied = copy.deepcopy(model)
    assert_array_equal(copied.partial_fit(X, y).predict(X), model.partial_fit(X, y).predict(X))


@pytest.mark.parametrize(
    ("experts", "error", "message"),
    [
        ([], ValueError, "experts is empty"),
        ((("vaw", VAWRegressor()),), ValueError, "'experts' parameter"),
        ([VAWRegressor()], TypeError, "list of pairs"),
        ([(1, VAWRegressor())], TypeError, "list of pairs"),
        ([("a", VAWRegressor()), ("a", OGDRegressor())], ValueError, "not unique"),
        ([("a__b", VAWRegressor())], ValueError, "must not contain __"),
        ([("n_jobs", VAWRegressor())], ValueError, "conflict with constructor"),
        ([("a", VAWRegressor)], TypeError, "'a' is the class VAWRegressor, not an instance"),
        ([("a", "drop")], TypeError, "'a' is no estimator"),
        ([("a", LinearRegression())], TypeError, "LinearRegression has no 'partial_fit'"),
        (
            [("a", make_pipeline(StandardScaler(), SGDRegressor()))],
            TypeError,
            "Pipeline has no 'partial_fit'",
        ),
        ([("a", SGDClassifier())], TypeError, "'a' is a classifier"),
    ],
)
def test_what_cannot_be_an_expert(experts, error, message):
    X, y = stream()
    with pytest.raises(error, match=message):
        ExpertsRegressor(experts).fit(X, y)


def test_what_cannot_be_an_aggregator():
    X, y = stream()
    with pytest.raises(TypeError, match="VAW2Regressor cannot be the aggregator"):
        mixture(aggregator=VAW2Regressor()).fit(X, y)
    with pytest.raises(ValueError, match="'aggregator' parameter"):
        mixture(aggregator=SGDRegressor()).fit(X, y)
    with pytest.raises(ValueError, match="'alpha' parameter of VAWRegressor"):
        mixture(aggregator=VAWRegressor(alpha=-1)).fit(X, y)


def test_bad_parameters_of_an_expert_are_reported_with_its_name():
    X, y = stream()
    with pytest.raises(ValueError, match=r"expert 'sgd' .* 'alpha' parameter of SGDRegressor"):
        mixture().set_params(sgd__alpha=-1.0).fit(X, y)


def test_threads_learn_in_place_under_any_backend():
    X, y = stream()
    expected = mixture().prequential_predict(X, y)
    with joblib.parallel_config("loky"):
        model = mixture(n_jobs=2)
        assert_array_equal(model.prequential_predict(X, y), expected)
    assert model.named_experts_.vaw.n_samples_seen_ == len(y)


@pytest.mark.long
def test_grid_search_over_an_expert_s_parameter():
    X, y = stream()
    search = GridSearchCV(
        mixture(), {"vaw__alpha": [0.01, 1e6], "sgd__eta0": [1e-9]}, cv=TimeSeriesSplit(3)
    )
    search.fit(X, y)
    assert search.best_params_["vaw__alpha"] == 0.01
    assert search.best_estimator_.named_experts_.vaw.alpha == 0.01


def test_experts_get_no_feature_names():
    pd = pytest.importorskip("pandas")
    X, y = stream()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = mixture().fit(frame, y)  # a warning would be an error here
    assert_array_equal(model.predict(frame), mixture().fit(X, y).predict(X))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert not hasattr(model.named_experts_.sgd, "feature_names_in_")


class Diverges(LastTarget):
    """Forecast the last target, but `source` from as many taught rows on as `patience` says.

    What is taught thereafter is refused where `source` is infinite.
    """

    def partial_fit(self, X, y):
        super().partial_fit(X, y)
        if self.source == np.inf and len(self.rows_) > self.patience + 5:
            raise ValueError("Floating-point overflow")
        return self

    def predict(self, X):
        last = np.full(len(X), self.last_)
        return last if len(self.rows_) < self.patience else last + self.source


INSANE = [1e56, -1e4, np.inf, -np.inf, np.nan]


@pytest.mark.long(every=6)
@pytest.mark.parametrize(
    ("aggregator", "insane", "alone"),
    [
        (aggregator, insane, (i + j) % 2 == 1)  # so that each meets both
        for i, aggregator in enumerate([None, EWARegressor(0.5), VAWRegressor(), OGDRegressor()])
        for j, insane in enumerate(INSANE)
    ],
)
def test_insane_forecasts_do_not_count(aggregator, insane, alone):
    X, y = stream(n=70)
    experts = [("wild", Diverges(40, source=insane))]
    if not alone:
        experts.append(("vaw", VAWRegressor()))
    model = ExpertsRegressor(experts, aggregator)
    cut = clone(model)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The expert 'wild'")
        forecasts = model.prequential_predict(X, y)
        parts = [cut.prequential_predict(X[t : t + 1], y[t : t + 1]) for t in range(len(y))]
    assert_allclose(np.concatenate(parts), forecasts, rtol=1e-9)
    assert np.abs(forecasts).max() < 2.0
    assert np.isnan(model.predict_experts(X)[:, 0]).all()
    assert np.isfinite(model.expert_losses_).all()
    own = np.sum((y[:40] - np.r_[0.0, y[:39]]) ** 2)
    assert model.expert_losses_[0] == pytest.approx(own, rel=1e-9)
    before = pickle.dumps(model)
    assert np.abs(model.predict(X)).max() < 2.0
    assert pickle.dumps(model) == before
    if alone:
        if getattr(aggregator, "_allow_nan", True):  # all sleep: the mean of the past
            assert_allclose(forecasts[40:], np.cumsum(y)[39:-1] / np.arange(40, len(y)), rtol=1e-9)
            assert_allclose(model.predict(X), np.full(len(y), y.mean()), rtol=1e-9)
    elif aggregator is None:
        F = loop([("last", LastTarget()), *experts[1:]], X, y)
        F[40:, 0] = np.nan
        assert_allclose(forecasts, aggregation.boa(F, y)[0], rtol=1e-8)


def test_an_expert_wakes_when_its_forecasts_are_sane_again():
    X, y = stream()
    experts = [("silent", Silent(source=1e9)), ("vaw", VAWRegressor())]
    F = loop(experts, X, y)
    F[1::2, 0] = np.nan
    model = ExpertsRegressor(experts)
    assert_allclose(model.prequential_predict(X, y), aggregation.boa(F, y)[0], rtol=1e-8)
    assert_array_equal(model.predict_experts(X)[:, 0], np.full(len(y), y[-1]))
    assert np.isnan(model.partial_fit(X[:1], y[:1]).predict_experts(X)[:, 0]).all()


@pytest.mark.long
def test_a_diverging_sgd_does_not_take_the_mixture_along():
    X, y = stream(n=400)
    X = 30.0 * X  # too large for the default step
    experts = [("sgd", SGDRegressor(random_state=0, penalty=None)), ("vaw", VAWRegressor())]
    assert np.abs(loop(experts[:1], X, y)).max() > 1e6
    for aggregator in (None, VAWRegressor()):
        model = ExpertsRegressor(experts, aggregator)
        forecasts = model.prequential_predict(X, y)
        assert np.abs(forecasts).max() < 100.0
        vaw = VAWRegressor().prequential_predict(X, y)
        assert np.sum((forecasts - y)[8:] ** 2) < 1.1 * np.sum((vaw - y)[8:] ** 2)


def test_an_expert_that_diverged_until_it_fails_sleeps_for_good():
    X, y = stream()
    model = ExpertsRegressor([("wild", Diverges(40, source=np.inf)), ("vaw", VAWRegressor())])
    with pytest.warns(UserWarning, match=r"'wild' \(Diverges\) .* sleeps from now on: .*overflow"):
        forecasts = model.prequential_predict(X, y)
    assert np.isfinite(forecasts).all()
    assert np.isnan(model.predict_experts(X)[:, 0]).all()
    model.partial_fit(X, y)  # not asked again: no warning
    resumed = pickle.loads(pickle.dumps(model))
    assert_array_equal(resumed.prequential_predict(X, y), model.prequential_predict(X, y))


@pytest.mark.long(every=15)
@pytest.mark.parametrize(
    ("at", "fault", "aggregator"),
    [
        (at, fault, aggregator)
        for i, at in enumerate([0, 1, 10, 31, 32, 60])
        for fault, aggregator in zip(
            (-1e6, 1e300), (None, VAWRegressor())[:: (-1) ** i], strict=True
        )
    ],
)
def test_a_faulty_target_is_forgotten(at, fault, aggregator):
    n = 150
    X, y = stream(n=n)
    faulty = y.copy()
    faulty[at] = fault
    experts = [
        ("vaw", VAWRegressor()),
        ("sgd", SGDRegressor(random_state=0)),
        ("wild", Diverges(100, source=1e9)),
    ]
    model = ExpertsRegressor(experts, aggregator)
    clean = clone(model).prequential_predict(X, y)
    forecasts = model.prequential_predict(X, faulty)
    cut = clone(model)
    ends = [at, at + 1, 33, 70] if at else [1, 33, 70]
    parts = [
        cut.prequential_predict(X[part], faulty[part])
        for part in np.split(np.arange(n), sorted(ends))
        if len(part)
    ]
    parts, late = np.concatenate(parts), slice(max(at, 32), None)
    assert_allclose(parts, forecasts, rtol=1e-8, atol=1e-8 * min(abs(fault), 1e60))
    assert_allclose(parts[late], forecasts[late], rtol=1e-8, atol=1e-9)
    assert_allclose(cut.predict(X), model.predict(X), rtol=1e-8)
    soon = np.arange(n) >= max(at + 1, 32)
    losses = [np.mean((part[soon] - y[soon]) ** 2) for part in (forecasts, clean)]
    assert losses[0] < 1.5 * losses[1]
    assert np.abs(forecasts[soon]).max() < 5.0


@pytest.mark.parametrize("change", [lambda y: y + 1e4, lambda y: 1e4 * y])
def test_targets_that_change_for_good_are_followed(change):
    X, y = stream(n=400)
    y = np.r_[y[:200], change(y[200:])]
    model = ExpertsRegressor([("last", LastTarget()), ("vaw", VAWRegressor())])
    forecasts = model.prequential_predict(X, y)
    assert_array_equal(model.predict_experts(X)[:, 0], y[-1])
    last = np.mean(np.diff(y[299:]) ** 2)
    assert np.mean((forecasts[300:] - y[300:]) ** 2) < 2.0 * last + 0.1 * np.var(y[300:])


def test_an_sgd_that_overflows_sleeps_for_good():
    X, y = stream()
    X[40:] *= 1e200
    model = ExpertsRegressor([("sgd", SGDRegressor(random_state=0)), ("last", LastTarget())])
    with pytest.warns(UserWarning, match=r"'sgd' \(SGDRegressor\) .* sleeps from now on: Floating"):
        forecasts = model.prequential_predict(X, y)
    assert np.abs(forecasts).max() < 2.0
    cut = clone(model)
    with pytest.warns(UserWarning, match="sleeps from now on"):
        parts = [cut.prequential_predict(X[t : t + 1], y[t : t + 1]) for t in range(len(y))]
    assert_allclose(np.concatenate(parts), forecasts, rtol=1e-8, atol=1e-9)


def test_errors_of_other_kinds_are_errors_whatever_was_forecast():
    X, y = stream()
    y[60] = 7.0
    model = ExpertsRegressor([("bad", Fails(source=np.nan)), ("vaw", VAWRegressor())])
    with pytest.raises(ValueError, match=r"expert 'bad' \(Fails\) failed to learn: seven"):
        model.fit(X, y)
