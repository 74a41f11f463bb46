"""Streaming pipelines: against the literal loop over rows, with steps of ours and of others."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.cluster import MiniBatchKMeans
from sklearn.decomposition import IncrementalPCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_union
from sklearn.preprocessing import MaxAbsScaler, PolynomialFeatures, StandardScaler

from sklearn_okl import (
    FourierFeatures,
    OnlineKernelRegressor,
    RunningMaxNormScaler,
    RunningMinMaxScaler,
    RunningRobustScaler,
    RunningStandardScaler,
    StreamingPipeline,
    StreamingTransformedTargetRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PrequentialSearch, online_checks
from tests.late import LateRidge, assert_law


def stream(seed=0, n=200, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1, 10, 100] + [0, 5, 1000]
    return X, np.sin(X[:, 0]) + 0.1 * X[:, 1] + 0.1 * rng.normal(size=n)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scaler", [RunningStandardScaler(), StandardScaler()], ids=str)
def test_rows_are_transformed_by_the_rows_before_them(seed, scaler):
    X, y = stream(seed)
    features, learner = FourierFeatures(n_components=20, random_state=seed), VAWRegressor()
    model = make_streaming_pipeline(scaler, features, learner)
    forecasts = model.prequential_predict(X, y)
    mine, fourier, vaw = clone(scaler), clone(features), clone(learner)  # the loop, by hand
    for t, (x, target) in enumerate(zip(X, y, strict=True)):
        if t == 0:
            mine.partial_fit(x[None])
        z = mine.transform(x[None])
        if t == 0:
            fourier.fit(z)
        else:
            mine.partial_fit(x[None])
        z = fourier.transform(z)
        expected = vaw.predict(z)[0] if t else 0.0
        assert forecasts[t] == pytest.approx(expected, rel=1e-8, abs=1e-9)
        vaw.partial_fit(z, [target])
    np.testing.assert_allclose(
        model.predict(X), vaw.predict(fourier.transform(mine.transform(X))), rtol=1e-8
    )


class NoFurther(StandardScaler):
    """scikit-learn's, but that first rows are no further off than ours are."""

    def transform(self, X, copy=None):
        n = int(np.max(self.n_samples_seen_))
        Z = np.where(self.var_ > 0.0, super().transform(X, copy), np.sign(X - self.mean_))
        return np.clip(Z, -np.sqrt(n), np.sqrt(n)) if n < 32 else Z


def test_our_scaler_and_scikit_learns_agree():
    X, y = stream()
    ours, theirs = (
        make_streaming_pipeline(scaler, VAWRegressor()).prequential_predict(X, y)
        for scaler in (RunningStandardScaler(), NoFurther())
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)


def test_batches_are_transformed_by_the_batches_before_them():
    X, y = stream()
    model = make_streaming_pipeline(StandardScaler(), VAWRegressor(), update="batch")
    scaler, vaw = StandardScaler().partial_fit(X[:50]), VAWRegressor()
    for low in range(0, 200, 50):
        part = slice(low, low + 50)
        Z = scaler.transform(X[part])
        if low:
            scaler.partial_fit(X[part])
        np.testing.assert_allclose(
            model.prequential_predict(X[part], y[part]), vaw.prequential_predict(Z, y[part])
        )


@pytest.mark.long
def test_the_laws_hold_with_transformers_of_scikit_learn():
    model = make_streaming_pipeline(StandardScaler(), VAWRegressor())
    for _, check in list(online_checks(model))[::2]:  # a stream for each law
        check()


def test_the_future_does_not_touch_the_past():
    X, y = stream()
    changed = X.copy()
    changed[120:] *= 1e6
    model = make_streaming_pipeline(RunningRobustScaler(), VAWRegressor())
    np.testing.assert_array_equal(
        clone(model).prequential_predict(X, y)[:120],
        clone(model).prequential_predict(changed, y)[:120],
    )


def test_classifiers():
    X, y = stream(1)
    labels = np.where(y > np.median(y), "up", "down")
    model = make_streaming_pipeline(RunningStandardScaler(), SGDClassifier(random_state=0))
    model.partial_fit(X[:3], labels[:3], classes=["down", "up"]).partial_fit(X[3:], labels[3:])
    assert is_classifier(model)
    assert not is_regressor(model)
    assert model.classes_.tolist() == ["down", "up"]
    assert model.score(X, labels) > 0.7
    assert model.decision_function(X).shape == (len(X),)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "prequential_predict")
    assert clone(model).fit(X, labels).score(X, labels) > 0.7


@pytest.mark.long
def test_frames_names_and_containers():
    pd = pytest.importorskip("pandas")
    X, y = stream()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for scaler in (RunningStandardScaler(), StandardScaler()):
        model = make_streaming_pipeline(
            scaler, PolynomialFeatures(2, include_bias=False), VAWRegressor()
        ).set_output(transform="pandas")
        forecasts = model.prequential_predict(frame, pd.Series(y))
        plain = clone(model).set_output(transform="default").prequential_predict(X, y)
        np.testing.assert_allclose(forecasts, plain)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert model["vawregressor"].feature_names_in_[:4].tolist() == ["a", "b", "c", "a^2"]
        assert model.get_feature_names_out()[:4].tolist() == ["a", "b", "c", "a^2"]
        with pytest.raises(ValueError, match="feature names"):
            model.partial_fit(frame[["b", "a", "c"]], y)


def test_parameters_steps_and_views():
    X, y = stream()
    model = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(0.5))
    assert len(model) == 2
    assert model.get_params()["vawregressor__alpha"] == 0.5
    model.fit(X, y)
    assert model["vawregressor"].n_samples_seen_ == model.n_samples_seen_ == len(X)
    assert model[0] is model.named_steps.runningstandardscaler
    assert len(model[:1]) == 1
    assert model.n_features_in_ == 3
    assert not hasattr(model.steps[1][1], "coef_")  # the given steps stay as they were
    assert "VAWRegressor" in model._repr_html_()
    before = pickle.dumps(model.steps_)
    model.set_params(vawregressor__alpha=3.0)
    for use in (model.partial_fit, lambda X, y: model.predict(X)):
        with pytest.raises(ValueError, match="mid-stream"):
            use(X, y)
    assert pickle.dumps(model.steps_) == before
    assert model.fit(X, y)["vawregressor"].alpha == 3.0


def test_passthrough():
    X, y = stream()
    model = StreamingPipeline([("nothing", "passthrough"), ("vaw", VAWRegressor())])
    np.testing.assert_array_equal(
        model.prequential_predict(X, y), VAWRegressor().prequential_predict(X, y)
    )


@pytest.mark.parametrize(
    ("steps", "error", "words"),
    [
        ([], ValueError, "empty"),
        ([1], TypeError, "list of pairs"),
        ([("a",)], TypeError, "list of pairs"),
        ([("a", VAWRegressor()), ("b", VAWRegressor())], TypeError, "transform"),
        ([("a", RunningStandardScaler()), ("b", VAWRegressor)], TypeError, "class"),
        ([("a", FourierFeatures())], TypeError, "partial_fit"),
        ([("a", VAWRegressor()), ("a", VAWRegressor())], ValueError, "unique"),
    ],
)
def test_bad_steps_are_refused(steps, error, words):
    with pytest.raises(error, match=words):
        StreamingPipeline(steps).fit(*stream())
    for bad in ({"update": "column"}, {"warmup": -1}, {"warmup": 1.5}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            make_streaming_pipeline(VAWRegressor(), **bad).fit(*stream())


@pytest.mark.parametrize("transformer", [StandardScaler(), "standard"])
def test_targets_are_scaled_by_a_running_scaler_only(transformer):
    with pytest.raises((TypeError, ValueError)) as caught:
        StreamingTransformedTargetRegressor(transformer=transformer).fit(*stream())
    assert "transformer" in str(caught.value)
    assert "RunningScaler" not in str(caught.value)  # a private class


def test_a_failure_in_a_late_step_leaves_the_early_ones_as_they_were():
    X, y = stream()
    model = make_streaming_pipeline(StandardScaler(), SGDRegressor(random_state=0)).fit(X, y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X, np.append(y[:-1], np.nan))
    assert pickle.dumps(model) == before


def test_a_transformer_that_needs_a_batch_learns_by_batches():
    X, y = stream()
    model = make_streaming_pipeline(IncrementalPCA(2), VAWRegressor(), update="batch")
    for part in np.split(np.arange(200), 4):
        model.partial_fit(X[part], y[part])
    assert model["vawregressor"].n_features_in_ == 2


@pytest.mark.parametrize("cuts", [[], [13, 40, 60], [30]])
def test_a_transformer_that_cannot_begin_with_a_row_begins_with_the_warm_up(cuts):
    X, y = stream()
    pca, learner = IncrementalPCA(2).partial_fit(X[:30]), VAWRegressor()
    learner.partial_fit(pca.transform(X[:30]), y[:30])
    for t in range(30, 90):
        learner.partial_fit(pca.transform(X[t : t + 1]), y[t : t + 1])
        pca.partial_fit(X[t : t + 1])
    model = make_streaming_pipeline(IncrementalPCA(2), VAWRegressor(), warmup=30)
    for part in np.split(np.arange(90), cuts):
        model.partial_fit(X[part], y[part])
    expected = learner.predict(pca.transform(X[90:]))
    np.testing.assert_allclose(model.predict(X[90:]), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of scikit-learn, of one row
@pytest.mark.parametrize(
    ("options", "n"), [({}, 200), ({"update": "batch"}, 1), ({"warmup": 1}, 200)], ids=str
)
def test_a_transformer_that_cannot_begin_with_a_row_is_named(options, n):
    X, y = stream()
    for step in (IncrementalPCA(2), make_union(IncrementalPCA(2)), MiniBatchKMeans(3)):
        model = make_streaming_pipeline(step, VAWRegressor(), **options)
        with pytest.raises(ValueError, match=r"cannot begin with 1 row: .*warmup=n\)"):
            model.fit(X[:n], y[:n])
        with pytest.raises(ValueError, match=r"NaN\.$|NaN\.\n"):
            model.fit(X[:n] * np.nan, y[:n])


def test_grid_search_over_a_pipeline():
    X, y = stream()
    model = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor())
    search = GridSearchCV(model, {"vawregressor__alpha": [0.1, 1e6]}, cv=TimeSeriesSplit(3))
    assert search.fit(X, y).best_params_ == {"vawregressor__alpha": 0.1}


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_unit_of_the_targets_does_not_matter(unit):
    X, y = stream(2, n=400)
    X = RunningStandardScaler().prequential_transform(X)
    model = StreamingTransformedTargetRegressor(VAWRegressor())
    forecasts = model.prequential_predict(X, 1e3 * unit + unit * y)
    again = clone(model).prequential_predict(X, y)
    np.testing.assert_allclose((forecasts / unit - 1e3)[1:], again[1:], atol=1e-6)
    assert model.regressor_.n_samples_seen_ == 400
    assert np.mean((again[200:] - y[200:]) ** 2) < 0.5 * np.var(y)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("fault", [1e6, -1e12, 1e300])
@pytest.mark.parametrize("at", [0, 5, 31, 32, 300])
@pytest.mark.parametrize("scaler", [None, RunningStandardScaler(0.995), RunningRobustScaler()])
def test_a_faulty_target_is_forgotten(scaler, at, fault):
    X, y = stream(3, n=1200)
    X, y = RunningStandardScaler().prequential_transform(X), 100.0 + y
    faulty = y.copy()
    faulty[at] = fault
    model = StreamingTransformedTargetRegressor(VAWRegressor(), scaler)
    clean = clone(model).prequential_predict(X, y)[1000:]
    forecasts = model.prequential_predict(X, faulty)
    cut = clone(model)
    parts = [
        cut.prequential_predict(X[part], faulty[part])
        for part in np.split(range(1200), [5, 6, 33, 301])
    ]
    largest = np.abs(forecasts).max()
    np.testing.assert_allclose(np.concatenate(parts), forecasts, rtol=1e-8, atol=1e-8 * largest)
    np.testing.assert_allclose(cut.predict(X), model.predict(X), rtol=1e-8)
    losses = [np.mean((y_pred - y[1000:]) ** 2) for y_pred in (forecasts[1000:], clean)]
    assert losses[0] < 2.0 * losses[1]


# labels that come late

DELAYS = pytest.mark.parametrize("D", [1, 5, 23])
CHAINS = {
    "ours": [RunningStandardScaler(), RunningMinMaxScaler()],
    "forgetful": [RunningMaxNormScaler(), RunningRobustScaler(window=20)],
    "scikit-learn's": [StandardScaler(), MaxAbsScaler()],
    "mixed": [
        StandardScaler(),
        "passthrough",
        PolynomialFeatures(2, include_bias=False),
        RunningStandardScaler(0.9),
    ],
}


def late_pipeline(D, *transformers, **kwargs):
    return make_streaming_pipeline(*transformers, LateRidge(D), **kwargs)


def literal_rows(transformers, X, D):
    """What the last step gets: of each transformer there is a copy after each row."""
    for base in transformers:
        if base == "passthrough":
            continue
        copies, rows = [], []
        model = clone(base)
        learn = getattr(model, "partial_fit", lambda x: None)
        for t, x in enumerate(X):
            if t == 0:
                getattr(model, "partial_fit", model.fit)(x[None])
                copies.append(copy.deepcopy(model))
            # nobody forecasts the rows before the first label: they know all rows before them
            late = 0 if t <= D else D
            rows.append(copies[max(t - 1 - late, 0)].transform(x[None])[0])
            if t > 0:
                learn(x[None])
                copies.append(copy.deepcopy(model))
        X = np.array(rows)
    return X


@pytest.mark.long(every=3)
@DELAYS
@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_late_rows_are_transformed_by_the_rows_whose_labels_are_there(chain, D):
    X, y = stream(n=60)
    model = late_pipeline(D, *chain)
    assert model.label_delay == D
    forecasts = assert_law(model, X, y)
    expected = LateRidge(D).prequential_predict(literal_rows(chain, X, D), y)
    np.testing.assert_allclose(forecasts, expected, rtol=1e-8, atol=1e-8)


def test_pipelines_of_others_have_no_delay():
    assert make_streaming_pipeline(StandardScaler(), SGDRegressor()).label_delay == 0
    assert StreamingTransformedTargetRegressor().label_delay == 0


@DELAYS
@pytest.mark.parametrize(
    "cuts", [[30, 31, 33, 60, 100, 101, 102, 150], [1, 3, 4, 10, 20, 23, 24, 60]]
)
def test_late_batches_are_transformed_by_the_batches_whose_labels_are_there(D, cuts):
    X, y = stream()
    model = late_pipeline(D, StandardScaler(), update="batch")
    scaler, rows, after = StandardScaler(), [], []  # after each batch: rows learnt, scaler then
    for part in np.split(np.arange(200), cuts):
        low, high = part[0], part[-1] + 1
        if low == 0:
            after.append((high, copy.deepcopy(scaler.partial_fit(X[part]))))
        # before the first label all rows before a batch are known
        some = after if high <= D + 1 else [one for one in after if one[0] <= low - D]
        rows.append((some or after[:1])[-1][1].transform(X[part]))
        if low > 0:
            after.append((high, copy.deepcopy(scaler.partial_fit(X[part]))))
        model.partial_fit(X[part], y[part])
    expected = LateRidge(D).partial_fit(np.concatenate(rows), y)
    np.testing.assert_allclose(model["lateridge"].models_[-1][2], expected.models_[-1][2])
    np.testing.assert_allclose(model.predict(X), expected.predict(scaler.transform(X)))


def test_batches_of_one_row_are_rows():
    X, y = stream(n=60)
    by_row, by_batch = (late_pipeline(5, StandardScaler(), update=by) for by in ("row", "batch"))
    forecasts = [by_batch.prequential_predict(X[t : t + 1], y[t : t + 1])[0] for t in range(60)]
    np.testing.assert_allclose(forecasts, by_row.prequential_predict(X, y))


@pytest.mark.long(every=2)
@DELAYS
@pytest.mark.parametrize("scaler", [None, RunningRobustScaler(30)], ids=str)
def test_late_targets_are_unscaled_by_those_that_are_there(scaler, D):
    X, y = stream(n=80)
    X = RunningStandardScaler().prequential_transform(X)
    model = StreamingTransformedTargetRegressor(LateRidge(D, shift=0.5), scaler)
    assert model.label_delay == D
    forecasts = assert_law(model, X, 1e6 * (100.0 + y))
    np.testing.assert_array_equal(forecasts[: D + 1], 0.5)  # before any target, its own
    assert np.abs(forecasts[50:] / 1e6 - 100.0 - y[50:]).mean() < 2.0


NESTED = {
    "target regressor, then pipeline": lambda D: StreamingTransformedTargetRegressor(
        late_pipeline(D, RunningStandardScaler(), StandardScaler())
    ),
    "pipeline, then target regressor": lambda D: make_streaming_pipeline(
        StandardScaler(), StreamingTransformedTargetRegressor(LateRidge(D))
    ),
    "pipeline, then search": lambda D: make_streaming_pipeline(
        RunningStandardScaler(), PrequentialSearch(LateRidge(D), {"alpha": [0.1, 1.0, 10.0]})
    ),
    "pipeline, then pipeline": lambda D: make_streaming_pipeline(
        StandardScaler(), late_pipeline(D, RunningMinMaxScaler())
    ),
}


@pytest.mark.long(every=3)
@DELAYS
@pytest.mark.parametrize("make", NESTED.values(), ids=NESTED)
def test_late_labels_of_nested_estimators(make, D):
    model = make(D)
    assert model.label_delay == D
    assert_law(model, *stream(n=55))


@pytest.mark.long(every=2)
@pytest.mark.parametrize("make", [*NESTED.values(), lambda D: late_pipeline(D, *CHAINS["mixed"])])
def test_copies_of_late_models_go_on_and_failures_change_nothing(make):
    X, y = stream(n=80)
    model = make(5).fit(X[:30], y[:30])
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"NaN|no number"):
        model.partial_fit(X[30:], np.append(y[30:-1], np.nan))
    assert pickle.dumps(model) == before
    expected = model.prequential_predict(X[30:], y[30:])
    for other in others:
        np.testing.assert_array_equal(other.prequential_predict(X[30:], y[30:]), expected)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert len(pickle.dumps(other)) < 1.1 * len(before)  # no more than the latest rows need


def test_late_frames():
    pd = pytest.importorskip("pandas")
    X, y = stream(n=40)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = late_pipeline(3, StandardScaler(), RunningStandardScaler())
    plain = clone(model).prequential_predict(X, y)
    model.set_output(transform="pandas")
    np.testing.assert_allclose(model.prequential_predict(frame, pd.Series(y)), plain)


def test_what_predict_is_given_reaches_the_last_step():
    X, y = stream(n=60)
    makers = [lambda D: late_pipeline(D, RunningStandardScaler()), *NESTED.values()]
    for model in [make(3) for make in makers]:
        model.fit(X[:50], y[:50])
        ahead = model.predict(X[50:54], ahead=True)  # the last of them is as late as can be
        assert ahead[3] == model.predict(X[53:54])[0]
        assert ahead[0] != model.predict(X[50:51])[0]

    class Shifted(SGDClassifier):
        def decision_function(self, X, shift=0.0):
            return super().decision_function(X) + shift

        def predict_proba(self, X, shift=0.0):
            return np.tile([shift, 1.0 - shift], (len(X), 1))

    model = make_streaming_pipeline(StandardScaler(), Shifted()).fit(X, y > 0)
    np.testing.assert_allclose(
        model.decision_function(X, shift=2.0), model.decision_function(X) + 2.0
    )
    np.testing.assert_array_equal(model.predict_proba(X, shift=0.25)[0], [0.25, 0.75])


@pytest.mark.parametrize(("D", "error"), [(-1, ValueError), (1.5, TypeError), (None, TypeError)])
def test_impossible_delays_are_refused(D, error):
    X, y = stream(n=20)
    for model in [
        late_pipeline(D, StandardScaler()),
        StreamingTransformedTargetRegressor(LateRidge(D)),
        PrequentialSearch(LateRidge(D), {"alpha": [1.0]}),
    ]:
        with pytest.raises(error, match="label_delay"):
            model.fit(X, y)


def test_the_pipeline_has_what_its_last_step_has():
    X, y = stream(n=150)
    model = OnlineKernelRegressor(budget="fast", label_delay=2, random_state=0)
    pipeline = make_streaming_pipeline(RunningStandardScaler(), model)
    pipeline.fit(X[:100], y[:100])
    scaler, alone = pipeline[0], pipeline[-1]
    Z = scaler.transform(X[100:103])
    for arguments in ({}, {"coverage": [0.5, 0.8]}, {"ahead": True}):
        assert_array_equal(
            pipeline.predict_interval(X[100:103], **arguments),
            alone.predict_interval(Z, **arguments),
        )
    for forecasts, expected in zip(
        pipeline.predict(X[100:103], return_std=True, ahead=True),
        alone.predict(Z, return_std=True, ahead=True),
        strict=True,
    ):
        assert_array_equal(forecasts, expected)
    assert_array_equal(pipeline.predict_experts(X[100:103]), alone.predict_experts(Z))
    assert_array_equal(pipeline.weights_, alone.weights_)
    assert list(pipeline.experts_["name"]) == list(alone.experts_["name"])
    assert pipeline.summary() == alone.summary()
    plain = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()).fit(X, y)
    for name in ("predict_interval", "predict_experts", "summary", "experts_", "weights_"):
        assert not hasattr(plain, name)
    with pytest.raises(NotFittedError):
        make_streaming_pipeline(RunningStandardScaler(), model).summary()
