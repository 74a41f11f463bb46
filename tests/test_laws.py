"""The laws, over every public estimator: scikit-learn's checks and ours."""

import copy
import pickle
import warnings
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_regression
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import scale
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

import sklearn_okl
from sklearn_okl import (
    AdaRakerClassifier,
    AdaRakerRegressor,
    FOGDClassifier,
    FourierFeatures,
    MultiKernelRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RefitClassifier,
    RefitRegressor,
    RunningMaxNormScaler,
    StreamingPipeline,
    VAWRegressor,
)
from sklearn_okl.base import ConvexAggregator, described, structural_parameters
from sklearn_okl.base._random_rounds import RandomRounds
from sklearn_okl.conformal import ACI
from sklearn_okl.evaluation import online_checks
from tests.instances import GROWING, POOR_SCORE, arguments_of, defaults, instances, label, rows_for

CHANCE = RandomRounds
BEGINNERS = AdaRakerClassifier, AdaRakerRegressor  # none of its Rakers is older than its interval

# What the checks that shuffle the rows of one side only cannot hold for: learners which know the
# latest rows.
ORDER_DEPENDENT = {
    "check_sample_weight_equivalence_on_dense_data": "the order of rows matters",
}
UNTUNED = OnlineKernelClassifier, OnlineKernelRegressor
# What the defaults themselves decide: how they are set, described and cloned, whether a model fits
# one row, two classes and several columns with them, and whether it is any good.
OF_DEFAULTS = {
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
    "check_fit2d_1sample",
    "check_regressors_train",
    "check_classifiers_train",
}
NOT_YIELDED = [
    "check_param_validation",
    "check_dataframe_column_names_consistency",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]


def expected_failures(estimator):
    return ORDER_DEPENDENT if isinstance(estimator, UNTUNED) else {}


def of_each_class():
    """Return an instance of each class, and of maps all: what these return has other shapes.

    No other parameter changes the shape of what is returned, and none the tags, see
    `test_parameters_change_no_tags`; our own laws run over all instances.
    """
    found = {}
    for estimator in instances("online"):
        found.setdefault(type(estimator), estimator)
    every = [*found.values(), *instances("maps")]
    return [estimator for estimator in every if not get_tags(estimator)._skip_test]


def test_parameters_change_no_tags():
    first = {}
    for estimator in instances():
        tags = get_tags(estimator)
        assert tags == get_tags(first.setdefault(type(estimator), estimator)), label(estimator)


def assert_checked(estimator, names=None):
    """Run scikit-learn's checks, or those of some names; return the names of all.

    An expected failure that passes is news, and fails.
    """
    expected, found, failed = expected_failures(estimator), set(), set()
    for instance, check in estimator_checks_generator(estimator):
        name = getattr(check, "func", check).__name__
        found.add(name)
        if names is not None and name not in names:
            continue
        try:
            check(instance)
        except SkipTest:
            continue
        except Exception:
            if name not in expected:
                raise
            failed.add(name)
    assert failed == {name for name in expected if names is None or name in names}
    return found


@pytest.mark.long(every=7)
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("estimator", of_each_class(), ids=label)
def test_scikit_learn(estimator):
    assert_checked(estimator)


def other_than_the_instances():
    """Return the defaults that `test_scikit_learn` does not run over already."""
    run = [(type(estimator), estimator.get_params(deep=False)) for estimator in instances()]
    return [e for e in defaults() if (type(e), e.get_params(deep=False)) not in run]


def of_few_trees(default):
    """Return what builds the same batch model as a default, of a twentieth of the trees."""
    return lambda self: default(self).set_params(max_iter=3, learning_rate=0.7)


@pytest.mark.long(every=12)
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("estimator", other_than_the_instances(), ids=label)
def test_scikit_learn_as_constructed_by_default(estimator, full_size, monkeypatch):
    if not full_size:  # a check fits some models forty times
        for class_ in (RefitRegressor, RefitClassifier):
            monkeypatch.setattr(class_, "_by_default", of_few_trees(class_._by_default))
    found = assert_checked(estimator, None if full_size else OF_DEFAULTS)
    assert {name for name in OF_DEFAULTS if not name.endswith("_train")} <= found


def test_only_the_listed_defaults_may_score_badly():
    excused = set()
    for estimator in defaults():
        tags = get_tags(estimator)
        kinds = [tags.classifier_tags, tags.regressor_tags]
        if any(kind is not None and kind.poor_score for kind in kinds):
            excused.add(type(estimator).__name__)
    by_nature = {
        type(estimator).__name__
        for estimator in defaults()
        if isinstance(estimator, (ConvexAggregator, CHANCE, *BEGINNERS))
    }
    assert excused == by_nature | set(POOR_SCORE)
    assert not by_nature & set(POOR_SCORE)


def listed():
    return [
        getattr(sklearn_okl, name)(**arguments)
        for name, better in POOR_SCORE.items()
        for arguments in (better, *arguments_of(getattr(sklearn_okl, name)))
    ]


@pytest.mark.long(every=3)
@pytest.mark.parametrize("estimator", listed(), ids=label)
def test_the_listed_score_well_with_other_arguments(estimator):
    """What the tag keeps scikit-learn from checking, on its rows."""
    X, y = make_regression(200, 10, n_informative=1, bias=5.0, noise=20, random_state=42)
    X, y = scale(X), scale(y)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    assert estimator.fit(X, y).score(X, y) > 0.5


# some of these checks mix arrays and frames on purpose, which scikit-learn warns of
@pytest.mark.long(every=8)
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@pytest.mark.parametrize("estimator", of_each_class(), ids=label)
def test_checks_that_scikit_learn_does_not_yield(estimator):
    for name in NOT_YIELDED:
        if "transform" not in name or hasattr(estimator, "transform"):
            getattr(estimator_checks, name)(type(estimator).__name__, estimator)


def our_checks():
    """Return every law over every instance, on one of its two streams in turns."""
    return [
        pytest.param(check, id=f"{label(estimator)}-{name}")
        for k, estimator in enumerate(instances("online"))
        for i, (name, check) in enumerate(
            online_checks(estimator, grows=type(estimator).__name__ in GROWING)
        )
        if i % 2 == (i // 2 + k) % 2
    ]


def test_what_scikit_learn_cannot_check_is_listed():
    """Its rows are numbers; tests/features/test_calendar.py runs what of it knows no rows."""
    skipped = {type(e).__name__ for e in instances() if get_tags(e)._skip_test}
    assert skipped == {"CalendarFeatures"}


@pytest.mark.long(every=18)
@pytest.mark.parametrize("check", our_checks())
def test_online(check):
    check()


def targets(estimator, y):
    """Return the targets, or labels for a classifier."""
    return y > np.median(y) if is_classifier(estimator) else y


def other_loss(estimator):
    now = getattr(estimator, "loss", None)
    if is_classifier(estimator):
        return "log_loss" if now == "squared_hinge" else "squared_hinge"
    return "absolute_error" if now == "pinball" else "pinball"


@pytest.mark.long(every=10)
@pytest.mark.parametrize("estimator", instances("online"), ids=label)
def test_structural_parameters_cannot_change_in_mid_stream(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(40, 4)), targets(estimator, rng.uniform(size=40))
    changes = {
        "kernels": [{"kernel": ["rbf"], "gamma": [0.7]}],
        "key": 0,
        "max_keys": 3,
        "idle": 3,
        "prior": None,
        "n_components": 17,
        "alpha": 0.123,
        "aggregator_alpha": 0.123,
        "frequencies": np.ones((4, 4, 8)),
        "form": "phase" if getattr(estimator, "form", "") == "paired" else "paired",
        "sampling": "qmc",
        "fit_intercept": not getattr(estimator, "fit_intercept", True),
        "clip_experts": not getattr(estimator, "clip_experts", True),
        "y_range": (-7, 7),
        "expert": VAWRegressor(0.123),
        "aggregator": VAWRegressor(0.123),
        "loss": other_loss(estimator),
        "quantile": 0.3,
        "gradient_trick": not getattr(estimator, "gradient_trick", True),
        "initial_rate": 0.123,
        "prior_weights": [1.0, 2.0, 3.0, 4.0],
        "experts": [
            ("fogd", FOGDClassifier()) if is_classifier(estimator) else ("vaw", VAWRegressor(0.123))
        ],
        "min_length": 3,
        "scale": 0.123,
        "eta0": 0.123,
        "restart": "zero",
        "final_alpha": 0.123,
        "max_memory": 5,
        "n_hints": 5,
        "failure": 0.123,
        "n_sizes": 3,
        "features": FourierFeatures(),
        "kernel": "matern32",
        "gamma": 0.123,
        "degree": 5,
        "coef0": 0.123,
        "n_selected": 3,
        "n_selective": 3,
        "freeze_after": 90,
        "dim": 3,
        "decay": 0.5,
        "warmup": 7,
        "mu": 2.5,
        "horizon": 100,
        "label_delay": 3,
        "categorical_features": [0],
        "lags": 2,
        "trees": LinearRegression(),
        "guard": False,
        "spread": "running" if getattr(estimator, "spread", "") == "rows" else "rows",
        "step_scale": 3.0,
        "radius": 2.5,
        "projection": "nystroem" if getattr(estimator, "projection", "") == "taylor" else "taylor",
        "dictionary": np.ones((5, 4)),
        "budget": 7,
        "forgetting": 0.5,
        "distances": np.ones((4, 4)),
        "kors_mu": 0.7,
        "regressor": VAWRegressor(0.123),
        "transformer": RunningMaxNormScaler(),
        "estimator": LinearRegression(),
        "tracker": ACI(0.123),
        "coverage": 0.77,
        "growth": 0.123,
        "window": 33,
        "base": VAWRegressor(0.123),
        "correction": VAWRegressor(0.123),
        "passthrough": not getattr(estimator, "passthrough", True),
        "fadings": (0.5,),
        "stacks": ((2.0, 0.9),),
        "n_direct": 3,
        "max_classes": 5,
        "fit_delay": 4,
    }
    for name in structural_parameters(type(estimator)):
        value = changes[name]
        model = clone(estimator).fit(X[:20], y[:20])
        old, state = getattr(model, name), pickle.dumps(model._state)
        model.set_params(**{name: value})
        for use in (model.partial_fit, lambda X, y, model=model: model.predict(X)):
            with pytest.raises(ValueError, match=name):
                use(X[20:], y[20:])
        assert pickle.dumps(model._state) == state
        model.set_params(**{name: old}).partial_fit(X[20:], y[20:])
        expected = clone(estimator).fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
        np.testing.assert_array_equal(model.predict(X), expected.predict(X))


def test_a_bad_parameter_of_a_part_is_refused_too():
    rng = np.random.default_rng(5)
    X, y = rng.uniform(size=(40, 4)), rng.uniform(size=40)
    model = MultiKernelRegressor({"gamma": [0.1, 1.0]}, VAWRegressor(), VAWRegressor())
    model.fit(X[:20], y[:20])
    model.partial_fit(X[20:21], y[20:21])
    for part in ("expert", "aggregator"):
        model.set_params(**{f"{part}__forgetting": 2.0})
        with pytest.raises(ValueError, match="forgetting"):
            model.partial_fit(X[21:22], y[21:22])
        model.set_params(**{f"{part}__forgetting": 1.0})


def fitted_attributes(model):
    """Return what a model says of itself, by name; an error counts as saying so."""
    said = {}
    for name in dir(type(model)):
        if name.endswith("_") and not name.startswith("_"):
            try:
                said[name] = getattr(model, name)
            except (AttributeError, ValueError) as error:
                said[name] = repr(error)
    return {name: described(value) for name, value in said.items() if not callable(value)}


@pytest.mark.long(every=3)
@pytest.mark.parametrize("estimator", instances("online"), ids=label)
def test_no_fitted_attribute_changes_by_set_params(estimator):
    rng = np.random.default_rng(4)
    X = rng.uniform(size=(40, 4))
    y = targets(estimator, rng.uniform(size=40))
    model = clone(estimator).fit(X[:39], y[:39]).partial_fit(X[39:], y[39:])
    if isinstance(model, StreamingPipeline):
        return  # its parameters are steps, which it clones
    before = fitted_attributes(model)
    for passed_on in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        for name in passed_on.get_params(deep=False):
            value = getattr(passed_on, name)
            setattr(passed_on, name, "another one" if name != "label_delay" else 7)
            np.testing.assert_equal(fitted_attributes(passed_on), before, name)
            setattr(passed_on, name, value)


@pytest.mark.long(every=6)
@pytest.mark.parametrize("estimator", instances("online"), ids=label)
def test_shallow_copies_part(estimator):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(60, 4))
    y = targets(estimator, rng.uniform(size=60))
    alone, parted = (clone(estimator).fit(X[:30], y[:30]) for _ in range(2))
    for t in range(30, 33):
        rows = slice(t, t + 1)
        alone.partial_fit(X[rows], y[rows])
        parted.partial_fit(X[rows], y[rows])
    other = copy.copy(parted)  # they share what they know, and go on apart
    for t in range(33, 40):
        other.partial_fit(X[t - 30 : t - 29], y[t - 30 : t - 29])
        other.partial_fit(X[t - 20 : t - 12], y[t - 20 : t - 12])
        rows = slice(t, t + 1)
        alone.partial_fit(X[rows], y[rows])
        parted.partial_fit(X[rows], y[rows])
        np.testing.assert_array_equal(parted.predict(X), alone.predict(X))


@pytest.mark.long(every=4)
@pytest.mark.parametrize("estimator", instances("online"), ids=label)
def test_a_bad_parameter_in_mid_stream_is_refused(estimator):
    rng = np.random.default_rng(1)
    X, y = rng.uniform(size=(40, 4)), targets(estimator, rng.uniform(size=40))
    for name, value in {"forecaster": "magic", "forgetting": 2.0, "n_jobs": "many"}.items():
        if name in estimator.get_params():
            model = clone(estimator).fit(X[:20], y[:20])
            state = pickle.dumps(model._state)
            model.set_params(**{name: value})
            with pytest.raises(ValueError, match=name):
                model.partial_fit(X[20:], y[20:])
            assert pickle.dumps(model._state) == state


def of_several_classes():
    return [
        e
        for e in instances("online")
        if is_classifier(e) and get_tags(e).classifier_tags.multi_class
    ]


@pytest.mark.long(every=20)
@pytest.mark.parametrize("estimator", of_several_classes(), ids=label)
def test_four_classes(estimator):
    """The laws of `online_checks`, whose streams have two classes, in short."""
    rng = np.random.default_rng(6)
    y = rng.integers(4, size=160)
    X = rng.normal(size=(160, 2)) + 4.0 * np.c_[y % 2, y // 2] - 2.0
    y = np.array(["ash", "birch", "cedar", "oak"])[y]
    classes, delay = np.unique(y), getattr(estimator, "label_delay", 0)
    whole, parted = clone(estimator), clone(estimator)
    values = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    forecasts = whole.prequential_predict(X, y)
    assert (forecasts == y)[80:].mean() > 0.75
    expected = getattr(whole, values)(X)
    if values == "predict_proba":
        P = clone(estimator).prequential_predict_proba(X, y)
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        assert (P >= 0).all()
        np.testing.assert_array_equal(classes[P.argmax(axis=1)], forecasts)
    parts = []
    for low, high in ((0, 1), (1, 33), (33, 34), (34, 160)):
        parts.append(parted.prequential_predict(X[low:high], y[low:high], classes=classes))
        parted = pickle.loads(pickle.dumps(parted))
    np.testing.assert_array_equal(np.concatenate(parts), forecasts)
    np.testing.assert_allclose(getattr(parted, values)(X), expected, rtol=1e-9, atol=1e-12)
    model = clone(estimator).partial_fit(X[:100], y[:100], classes=classes)
    told = getattr(model, values)(X[100 + delay :][:1])[0]
    assert classes[told.argmax()] == forecasts[100 + delay]
    if values == "predict_proba":
        np.testing.assert_allclose(told, P[100 + delay], rtol=1e-9)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"elm.*besides the classes"):
        model.partial_fit(X[:2], ["ash", "elm"])
    assert pickle.dumps(model) == before
    again = model.fit(X, y)
    np.testing.assert_allclose(getattr(again, values)(X), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("estimator", instances("maps"), ids=label)
def test_maps_are_pure_and_do_not_alias(estimator):
    numbers = np.random.default_rng(2).normal(size=(30, 4))
    X = rows_for(estimator, numbers)
    given = X.copy()
    model = clone(estimator).fit(given, numbers[:, 0])
    np.testing.assert_array_equal(given, X)
    given[...] = np.array(np.nan if X.dtype.kind == "f" else "NaT", dtype=X.dtype)
    before = pickle.dumps(model)
    Z = model.transform(X)
    assert pickle.dumps(model) == before
    np.testing.assert_array_equal(pickle.loads(before).transform(X), Z)
    np.testing.assert_allclose(
        np.vstack([model.transform(x[None]) for x in X]), Z, rtol=1e-12, atol=1e-14
    )


@pytest.mark.long(every=3)
@pytest.mark.parametrize("estimator", instances("online"), ids=label)
def test_lists_frames_and_float32_learn_the_same(estimator):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    X, y = rng.uniform(size=(30, 3)).astype(np.float32), targets(estimator, rng.uniform(size=30))
    expected = clone(estimator).fit(X.astype(np.float64), y).predict(X.astype(np.float64))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    np.testing.assert_allclose(clone(estimator).fit(X.tolist(), y.tolist()).predict(X), expected)
    named = clone(estimator).fit(frame, pd.Series(y))
    np.testing.assert_allclose(named.predict(frame), expected)
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]
    before = pickle.dumps(named)
    with pytest.raises(ValueError, match="feature names"):
        named.partial_fit(frame[["b", "a", "c"]], y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named.partial_fit(frame, y)
    assert pickle.dumps(named) != before
