"""Attributions are those of the definition, add up, and change nothing."""

import copy
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

from sklearn_okl import (
    AIOLIClassifier,
    BackgroundReservoir,
    CalendarFeatures,
    ConcatenatedVAWRegressor,
    FOGDClassifier,
    FOGDRegressor,
    FourierFeatures,
    ImproperLogisticClassifier,
    KOGDRegressor,
    LagFeatures,
    OGDRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RunningOneHotEncoder,
    RunningQuantileTransformer,
    RunningStandardScaler,
    TaylorFeatures,
    VAW2Regressor,
    VAWBOARegressor,
    VAWRegressor,
    all_estimators,
    make_streaming_pipeline,
)
from sklearn_okl.inspection import explain
from sklearn_okl.inspection._steps import _owners
from sklearn_okl.untuned.experts._sums import OTHERS
from tests.instances import arguments_of
from tests.oracles.shapley import shapley_values

GRID = {"kernel": ["rbf", "laplacian"], "gamma": [0.02, 0.2]}


def stream(n=400, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(1.0, 5.0, d) + 1.0
    return X, np.sin(X[:, 0] * X[:, 1]) + 0.3 * X[:, -1] + 0.1 * rng.normal(size=n) + 3.0


def alone(d):
    return [[j] for j in range(d)]


def check(model, X, background, f, atol=1e-10, told=None):
    """Hold the values against the definition, and the sums against the forecasts.

    What similar rows have `told` stands behind the columns.
    """
    found, d = explain(model, X, background), X.shape[1]
    expected = [shapley_values(f, x, background, alone(d)) for x in X]
    assert_allclose(found.values[:, :d], expected, rtol=0.0, atol=atol)
    answer = getattr(model, "decision_function", None) or model.predict
    assert_allclose(found.forecasts, answer(X), rtol=1e-12, atol=1e-12)
    mean = f(background).mean(axis=0)
    if told is None:
        assert found.values.shape[1] == d
    else:
        assert found.names[d:] == ["similar rows"]
        usual = told(background).mean(axis=0)
        assert_allclose(found.values[:, d], told(X) - usual, atol=atol)
        mean = mean + usual
    assert_allclose(found.base, np.broadcast_to(mean, found.base.shape), atol=atol)
    return found


def told_by_similar_rows(model, rows):
    """Return what the errors of similar rows add to forecasts, in units of the targets.

    Or their classes, to log-odds.
    """
    of_both = model, without_similar_rows(model)
    answers = [(getattr(one, "decision_function", None) or one.predict)(rows) for one in of_both]
    return answers[0] - answers[1]


def without_similar_rows(model):
    """Return a model of the same state that no errors of rows correct."""
    model = copy.deepcopy(model)
    model._state = model._state | {"near": {}}
    return model


@pytest.mark.parametrize(
    "features",
    [
        FourierFeatures(gamma=0.1, n_components=31, random_state=3),
        FourierFeatures("laplacian", 0.1, 20, form="phase", random_state=4),
        TaylorFeatures(gamma=0.05, degree=3),
        "passthrough",
    ],
    ids=["paired", "phase", "taylor", "linear"],
)
@pytest.mark.parametrize("forecaster", ["ridge", "vaw"])
def test_a_learner_behind_a_map_is_explained_by_the_definition(features, forecaster):
    X, y = stream()
    model = make_streaming_pipeline(
        RunningStandardScaler(), features, VAWRegressor(forecaster=forecaster, fit_intercept=True)
    ).fit(X, y)
    learner, before = model[-1], [step for _, step in model.steps_[:-1] if step != "passthrough"]

    def f(rows):
        for step in before:
            rows = step.transform(rows)
        return rows @ learner.coef_ + learner.intercept_

    found = check(model, X[:2], X[-6:], f)
    if forecaster == "ridge":
        assert np.abs(found.remainder).max() < 1e-12
    else:
        assert found.remainder_name == "shrinkage"
        assert np.abs(found.remainder).max() > 1e-4


@pytest.mark.parametrize("d", [1, 2, 9, 10])
def test_every_number_of_columns_is_exact(d):
    X, y = stream(200, max(d, 2), seed=d)
    X = X[:, :d]
    model = make_pipeline(
        StandardScaler(), FourierFeatures(n_components=24, random_state=d), Ridge()
    ).fit(X, y)
    check(model, X[:1], X[-2:], model.predict)


def test_vaw2_is_the_mixture_with_its_weights_as_they_stand():
    X, y = stream()
    exact = VAW2Regressor(GRID, n_components=15, forecaster="ridge", random_state=0).fit(X, y)
    check(exact, X[:2], X[-5:], exact.predict)
    for class_ in (VAW2Regressor, VAWBOARegressor):
        model = class_(GRID, n_components=15, form="phase", random_state=0).fit(X, y)
        maps, theta = model._state["features"], model._state["experts"]["theta"]

        def f(rows, model=model, maps=maps, theta=theta):
            Z = model._bank.transform(maps, rows)
            return sum(w * z @ t for w, z, t in zip(model.weights_, Z, theta, strict=True))

        check(model, X[:2], X[-5:], f)


def test_other_models_on_fourier_features_are_exact():
    X, y = stream()
    model = ConcatenatedVAWRegressor(GRID, forecaster="ridge", random_state=0).fit(X, y)
    check(model, X[:2], X[-5:], model.predict)
    model = FOGDRegressor(gamma=0.1, n_components=21, random_state=0).fit(X, y)
    check(model, X[:2], X[-5:], model.predict)


@pytest.mark.parametrize(
    "model",
    [
        FOGDClassifier(gamma=0.1, n_components=21, random_state=0),
        make_pipeline(StandardScaler(), FourierFeatures(random_state=0), LogisticRegression()),
    ],
    ids=["fogd", "logistic"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_of_classifiers_are_exact(model, n_classes):
    X, y = stream(300, 4)
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model.fit(X, labels)
    check(model, X[:2], X[-4:], model.decision_function)


def test_a_classifier_that_is_drawn_to_zero_says_so():
    X, y = stream(300, 4)
    model = make_streaming_pipeline(FourierFeatures(gamma=0.1, random_state=0), AIOLIClassifier())
    model.fit(X, y > 3.0)
    coef = model[-1].coef_
    found = check(model, X[:2], X[-4:], lambda rows: model[0].transform(rows) @ coef)
    assert found.remainder_name == "shrinkage"


def linear_mixture(model, rows):
    """Return what experts forecast, mixed as now by the mixture itself, with no clips or shrinkage.

    The mixture asks regressions for plain ridge forecasts, on forecasts and not on weights.
    """
    from sklearn_okl.aggregators._sides import AskingLines
    from sklearn_okl.untuned.experts._experts import ages_of
    from sklearn_okl.untuned.rounds._target_units import unscaled

    state, experts = model._state, model._experts()
    Z = experts.encoder.look(state["columns"], rows)
    F, seen = experts.ask(state, Z)
    heard = experts._heard(state, ages_of(state))
    mixture, known = experts.kind.mixture, state["mixture"]
    limits = np.array([[-np.inf, np.inf, n] for n in known["limits"][:, 2]])
    side = AskingLines(mixture, known, limits, np.ravel(seen.scale), 0)
    forecasts = mixture._round(F.transpose(1, 0, 2), np.array(heard), side)[0]
    return unscaled(state["targets"], forecasts)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_the_fast_regressor_is_its_frozen_mixture(seed):
    X, y = stream(600, 6, seed=seed)
    model = OnlineKernelRegressor(budget="fast", random_state=seed).fit(X, y)
    told = partial(told_by_similar_rows, model)
    found = check(model, X[:2], X[-4:], lambda rows: linear_mixture(model, rows)[:, 0], 3e-10, told)
    assert np.abs(found.remainder).max() < 0.05 * y.std()
    assert found.remainder_name == "shrinkage and clipping"


def test_several_targets_are_explained_side_by_side():
    X, y = stream(300, 4)
    Y = np.column_stack([y, 100.0 * X[:, 1] - y])
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, Y)
    told = partial(told_by_similar_rows, model)
    found = check(model, X[:2], X[-4:], lambda rows: linear_mixture(model, rows), 1e-8, told)
    assert found.values.shape == (2, 5, 2)
    model = make_streaming_pipeline(FourierFeatures(random_state=0), VAWRegressor()).fit(X, Y)
    assert explain(model, X[:3], X[-4:]).importances().shape == (4, 2)


@pytest.mark.long
def test_ranks_and_chains_are_linear_too():
    """Ranks are of one column each, so that the balanced budget is explained as well."""
    X, y = stream(1000, 4, seed=2)
    model = OnlineKernelRegressor(random_state=0, lags=0).fit(X, y)
    assert model._state["boosting"]
    assert model.experts_["ranks"].any()
    found = explain(model, X[::50], X[-16:])
    assert_allclose(found.forecasts, model.predict(X[::50]))
    assert np.sqrt(np.mean(found.remainder**2)) < 0.2 * np.abs(found.values).sum(axis=1).mean()
    x, background = X[:1], X[-3:]
    (row,) = explain(model, x, background).values
    from sklearn_okl.inspection._steps import sums_of

    def f(rows):
        parts = sums_of(model, rows).parts  # some are what similar rows and logarithms tell
        return sum(part.sums() for part in parts if part.owners.max(initial=0) < 4)[:, 0]

    assert_allclose(row[:4], shapley_values(f, x[0], background, alone(4)), atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_classifier_shares_out_the_mean_log_odds_of_its_experts(n_classes):
    X, y = stream(500, 4)
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = OnlineKernelClassifier(budget="fast", random_state=0).fit(X, labels)
    state, experts = model._state, model._experts()
    theta = state["mixture"]["parameters"]["calibrations"]["theta"]
    shares = np.zeros(len(theta))
    shares[experts.born(state)] = model.weights_

    def f(rows):
        F, _ = experts.ask(state, experts.encoder.look(state["columns"], rows))
        S = 2.0 * F.transpose(1, 2, 0) - 1.0
        S = np.stack([-F[0], F[0]], axis=-1) if n_classes == 2 else S
        scores = theta[:, :1] * np.nan_to_num(S) + theta[:, 1:]
        logs = np.einsum("k,nkc->nc", shares, scores)
        return logs[:, 1] - logs[:, 0] if n_classes == 2 else logs

    told = partial(told_by_similar_rows, model)
    found = check(model, X[:2], X[-4:], f, told=told)
    assert found.remainder_name == "mixing of probabilities"


def test_places_of_classes_do_not_matter():
    """With room for classes these are kept in the order in which they came."""
    X, y = stream(300, 3)
    labels = np.where(y > 3.0, "a", "b")
    first = OnlineKernelClassifier(budget="fast", random_state=0).fit(X, labels)
    roomy = OnlineKernelClassifier(budget="fast", max_classes=2, random_state=0).fit(X, labels)
    ours, theirs = (explain(model, X[:5], X[-8:]) for model in (first, roomy))
    assert_allclose(roomy.decision_function(X[:5]), theirs.forecasts)
    assert_allclose(theirs.values, ours.values, atol=1e-6)
    three = OnlineKernelClassifier(budget="fast", max_classes=3, random_state=0).fit(X, labels)
    told = explain(three, X[:5], X[-8:])
    assert_allclose(three.decision_function(X[:5]), told.forecasts)
    assert np.corrcoef(told.values.ravel(), ours.values.ravel())[0, 1] > 0.9


def test_lags_and_late_labels_are_in_the_base():
    X, y = stream(300, 3)
    y = y + np.cumsum(np.random.default_rng(0).normal(size=300))
    model = OnlineKernelRegressor(budget="fast", label_delay=5, random_state=0).fit(X, y)
    told = partial(told_by_similar_rows, model)
    check(model, X[:2], X[-4:], lambda rows: linear_mixture(model, rows)[:, 0], 1e-9, told)
    model = make_streaming_pipeline(
        LagFeatures(2), RunningStandardScaler(), FourierFeatures(random_state=0), VAWRegressor()
    ).fit(X, y)
    found = explain(model, X[:4], X[-4:])
    assert found.names == ["x0", "x1", "x2"]
    assert_allclose(found.forecasts, model.predict(X[:4]))
    assert np.abs(found.values).min() > 0.0


def test_columns_of_all_kinds_own_what_is_made_of_them():
    X, y = stream(400, 2)
    kind = np.where(X[:, 1] > 1.0, "high", "low")
    dates = pd.date_range("2024-01-01", periods=400, freq="h")
    frame = pd.DataFrame({"a": X[:, 0], "kind": pd.Categorical(kind), "when": dates})
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(frame, y)
    found = explain(model, frame[:6], frame[-8:])
    assert found.names[:3] == ["a", "kind", "when"]
    assert_allclose(found.forecasts, model.predict(frame[:6]))
    # one column exchanged is that column's entry, if nothing else differs
    other = frame[:1].assign(kind=pd.Categorical(["low" if kind[0] == "high" else "high"]))
    (entries,) = explain(model, frame[:1], other).values
    assert_allclose(entries[[0, 2]], 0.0, atol=1e-12)
    assert abs(entries[1]) > 0.0


def test_gaps_are_explained_by_what_fills_them():
    X, y = stream(400, 3)
    X[::7, 1] = np.nan
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, y)
    found = explain(model, X[:14], X[-8:])
    assert np.isfinite(found.values).all()
    assert "missing values" in found.names
    assert_allclose(found.forecasts, model.predict(X[:14]))
    assert np.abs(found.remainder).max() < 0.2 * y.std()


@pytest.mark.long
def test_trees_are_the_remainder():
    X, y = stream(200, 3)
    model = OnlineKernelRegressor(budget="fast", trees=Ridge(), random_state=0).fit(X, y)
    found = explain(model, X[:5], X[-8:])
    assert found.remainder_name.startswith("trees")
    assert_allclose(found.forecasts, model.predict(X[:5]))


@pytest.mark.long
def test_a_model_that_begins_anew_beside_counts_by_its_share():
    X, y = stream(900, 2, seed=5)
    y[700:] = -3.0 * y[700:] + 20.0 * np.sin(X[700:, 1])
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X[:700], y[:700])
    heard, sizes = 0, []
    for low in range(700, 900, 20):
        model.partial_fit(X[low : low + 20], y[low : low + 20])
        found = explain(model, X[:10], X[:8])
        assert_allclose(found.forecasts, model.predict(X[:10]))
        shares = model._guard.shares(model, model._state)
        assert_allclose(sum(share for _, share in shares), 1.0)
        heard += len(shares) > 1
        sizes.append(np.abs(found.remainder).mean() / np.abs(found.values).sum(axis=1).mean())
    assert heard > 2
    assert np.median(sizes) < 0.2


def test_a_step_that_mixes_columns_lets_them_play_as_one():
    from sklearn.preprocessing import FunctionTransformer

    X, y = stream(300, 4)
    mixing = FunctionTransformer(lambda X: np.column_stack([X[:, 0] * X[:, 2], X[:, [1, 3]]]))
    model = make_pipeline(mixing, FourierFeatures(gamma=0.05, random_state=0), Ridge()).fit(X, y)
    found = explain(model, X[:2], X[-4:])
    assert found.names == ["x0 + x2", "x1", "x3"]
    players = [[0, 2], [1], [3]]
    expected = [shapley_values(model.predict, x, X[-4:], players) for x in X[:2]]
    assert_allclose(found.values, expected, atol=1e-10)
    assert np.isnan(found.data[:, 0]).all()


@pytest.mark.parametrize("encoder", [RunningQuantileTransformer(), RunningStandardScaler()])
def test_groups_play_as_one(encoder):
    X, y = stream()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = make_streaming_pipeline(
        encoder, FourierFeatures(gamma=0.1, random_state=0), VAWRegressor(forecaster="ridge")
    ).fit(X, y)
    groups = {"pair": [0, 3], "last": [4]}
    found = explain(model, X[:2], X[-5:], groups)
    assert found.names == ["pair", "x1", "x2", "last"]
    expected = [shapley_values(model.predict, x, X[-5:], [[0, 3], [1], [2], [4]]) for x in X[:2]]
    assert_allclose(found.values, expected, atol=1e-10)
    model.fit(frame, y)
    named = explain(model, frame[:2], frame[-5:], {"pair": ["a", "d"], "last": ["e"]})
    assert named.names == ["pair", "b", "c", "last"]
    assert_allclose(named.values, found.values, atol=1e-12)
    (whole,) = explain(model, frame[:1], frame[-5:], {"all": list("abcde")}).values
    assert_allclose(whole.sum(), found.values[0].sum(), atol=1e-12)


def test_lags_that_are_columns_play_as_one():
    y = np.sin(0.3 * np.arange(303)) + 0.1 * np.random.default_rng(0).normal(size=303)
    frame = pd.DataFrame({f"lag{k}": y[3 - k : -k] for k in (1, 2, 3)})
    frame["x"] = np.random.default_rng(1).normal(size=300)
    model = OnlineKernelRegressor(budget="fast", lags=0, random_state=0).fit(frame, y[3:])
    groups = {"lags": ["lag1", "lag2", "lag3"]}
    found = model.explain(frame[:2], frame[-4:], groups)
    assert found.names[:2] == ["lags", "x"]
    rows, background = frame[:2].to_numpy(), frame[-4:].to_numpy()

    def f(rows):
        return linear_mixture(model, rows)[:, 0]

    expected = [shapley_values(f, x, background, [[0, 1, 2], [3]]) for x in rows]
    assert_allclose(found.values[:, :2], expected, atol=1e-9)
    assert_allclose(found.forecasts, model.predict(frame[:2]), atol=1e-12)


def test_indicators_and_parts_of_dates_are_of_their_column():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 300), rng.integers(0, 3, 300)])
    y = (X[:, 0] == 2) * 3.0 + X[:, 1]
    model = make_streaming_pipeline(
        RunningOneHotEncoder(),
        FourierFeatures(gamma=0.1, random_state=0),
        VAWRegressor(forecaster="ridge"),
    ).fit(X, y)
    assert model[0].transform(X[:1]).shape[1] > 2
    check(model, X[:3], X[-6:], model.predict)
    dates = pd.DataFrame({"when": pd.date_range("2024", periods=300, freq="h"), "x": X[:, 1]})
    from sklearn.compose import make_column_transformer

    columns = make_column_transformer((CalendarFeatures(), ["when"]), remainder="passthrough")
    model = make_pipeline(columns, FourierFeatures(random_state=0), Ridge()).fit(dates, y)
    found = explain(model, dates[:4], dates[-8:])
    assert found.names == ["when", "x"]
    assert_allclose(found.forecasts, model.predict(dates[:4]))


COLUMN_BY_COLUMN = [(n, one) for n, one in all_estimators() if getattr(one, "_column_by_column", 0)]


@pytest.mark.parametrize(("name", "class_"), COLUMN_BY_COLUMN)
def test_whose_columns_a_step_makes_is_what_looking_finds(name, class_):
    X, _ = stream(200, 4)
    for arguments in arguments_of(class_):
        step = class_(**arguments).fit(np.abs(X) + 0.1)
        found = _owners(step.transform, np.abs(X[:40]) + 0.1, np.abs(X[-30:]) + 0.1)
        assert found == [{j} for j in range(4)]


def test_that_steps_say_so():
    assert len(COLUMN_BY_COLUMN) >= 7


@pytest.mark.long(every=4)
@pytest.mark.parametrize(
    "model",
    [
        OnlineKernelRegressor(budget="fast", random_state=0),
        OnlineKernelRegressor(random_state=0),
        VAW2Regressor(GRID, n_components=15, random_state=0),
        make_streaming_pipeline(
            BackgroundReservoir(random_state=0),
            RunningStandardScaler(),
            FourierFeatures(random_state=0),
            VAWRegressor(),
        ),
    ],
    ids=["fast", "balanced", "vaw2", "pipeline"],
)
def test_explaining_changes_nothing(model):
    X, y = stream(300, 3)
    model.fit(X, y)
    before = joblib.hash(model)
    model.explain(X[:3], X[-8:])
    model.partial_effects(1, X[-8:])
    assert joblib.hash(model) == before


@pytest.mark.parametrize(
    "model",
    [
        OnlineKernelRegressor(budget="fast", random_state=1),
        make_streaming_pipeline(
            RunningStandardScaler(),
            FourierFeatures(gamma=0.1, random_state=1),
            VAWRegressor(0.1, forgetting=0.98),
        ),
        VAW2Regressor(GRID, n_components=30, forgetting=0.98, random_state=1),
    ],
    ids=["fast", "pipeline", "vaw2"],
)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_attributions_follow_a_cause_that_moves(model, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, 4))
    y = np.where(np.arange(900) < 600, np.sin(2.0 * X[:, 0]), np.sin(2.0 * X[:, 3]))
    y += 0.1 * rng.normal(size=900)
    rows, leaders = rng.normal(size=(20, 4)), []
    model.fit(X[:600], y[:600])
    for low in range(600, 901, 60):
        leaders.append(explain(model, rows, X[low - 16 : low]).importances().argmax())
        if low < 900:
            model.partial_fit(X[low : low + 60], y[low : low + 60])
    assert leaders[0] == 0
    assert leaders[-1] == 3


def test_the_background_is_the_reservoir_of_the_pipeline():
    X, y = stream()
    model = make_streaming_pipeline(
        BackgroundReservoir(8, random_state=0),
        FourierFeatures(gamma=0.05, random_state=0),
        VAWRegressor(forecaster="ridge"),
    ).fit(X, y)
    kept = model[0].background_
    given, own = model.explain(X[:4], kept), model.explain(X[:4])
    assert_array_equal(own.values, given.values)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model.fit(frame, y)
    assert model.explain(frame[:4]).names == list("abcde")
    with pytest.raises(ValueError, match="There is no background"):
        VAWRegressor().fit(X, y).explain(X[:2])


def test_a_reservoir_that_unlearning_has_emptied_says_what_to_do():
    X, y = stream(40, 3)
    model = make_streaming_pipeline(
        BackgroundReservoir(1, random_state=0), VAWRegressor(forecaster="ridge")
    ).fit(X, y)
    kept = (model[0].background_ == X).all(axis=1)
    model.unlearn(X[kept], y[kept])
    assert model[0].background_.shape == (0, 3)
    with pytest.raises(ValueError, match=r"had kept were unlearnt.*background=rows"):
        model.explain(X[:2])
    assert model.explain(X[:2], background=X[-5:]).values.shape == (2, 3)
    assert model.partial_fit(X, y).explain(X[:2]).values.shape == (2, 3)


def test_what_cannot_be_explained_is_said():
    X, y = stream(100, 3)
    with pytest.raises(TypeError, match="KOGDRegressor cannot be explained in closed form"):
        explain(KOGDRegressor().fit(X, y), X, X)
    with pytest.raises(TypeError, match="has probabilities and no margins"):
        explain(ImproperLogisticClassifier().fit(X, y > 3.0), X, X)
    model = make_pipeline(PCA(3), FourierFeatures(random_state=0), Ridge()).fit(X, y)
    with pytest.raises(ValueError, match="no column can be told apart"):
        explain(model, X, X)
    union = make_union(FourierFeatures(n_components=8, random_state=0), TaylorFeatures())
    for model in (
        make_streaming_pipeline(union, VAWRegressor(forecaster="ridge")),
        make_pipeline(StandardScaler(), union, Ridge()),
    ):
        with pytest.raises(ValueError, match="A FeatureUnion of features is not read through"):
            explain(model.fit(X, y), X, X)
    model = OGDRegressor(eta0=0.01).fit(X, y)
    for given, error, words in [
        ({"X": X[0]}, ValueError, "its shape is"),
        ({"X": X[:0]}, ValueError, "holds no rows"),
        ({"background": X[:, :2]}, ValueError, "background has 2 columns"),
        ({"groups": {"a": [0, 1], "b": [1]}}, ValueError, "columns in common"),
        ({"groups": {"a": [7]}}, ValueError, "no column 7"),
        ({"groups": {"a": ["x9"]}}, ValueError, "no column 'x9'"),
        ({"groups": {"a": []}}, ValueError, "has no columns"),
        ({"groups": [0, 1]}, TypeError, "must be a dict"),
    ]:
        with pytest.raises(error, match=words):
            model.explain(**{"X": X, "background": X, **given})
    with pytest.raises(TypeError, match="is a class"):
        explain(VAWRegressor, X, X)


VERBS = [(name, one) for name, one in all_estimators() if hasattr(one, "explain")]


@pytest.mark.parametrize(
    ("name", "class_"), [pair for pair in VERBS if pair[0] != "ImproperLogisticClassifier"]
)
def test_whoever_has_the_verb_adds_up(name, class_):
    X, y = stream(80, 3)
    model = class_(**arguments_of(class_)[0])
    model.fit(X, np.sign(y - 3.0) if is_classifier(model) else y)
    found = model.explain(X[:3], background=X[-5:])
    answer = getattr(model, "decision_function", None) or model.predict
    assert_allclose(found.forecasts, answer(X[:3]), atol=1e-10)
    assert np.abs(found.values).max() > 1e-6
    assert np.isfinite(found.remainder).all()


def test_who_plays_besides_the_columns_is_named_where_one_reads_of_them():
    page = Path(__file__).parents[2] / "docs" / "explaining.md"
    for text in (page.read_text(encoding="utf-8"), explain.__doc__):
        words = " ".join(text.split())
        assert [name for name in OTHERS if f'"{name}"' not in words] == []
