"""One model a key: equal to as many separate models, whatever the cut of the stream."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_okl import (
    FOGDClassifier,
    ImproperLogisticClassifier,
    KeyedClassifier,
    KeyedRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RefitRegressor,
    RunningStandardScaler,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)
from sklearn_okl.evaluation import LossMonitor

SCALED = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(fit_intercept=True))


def stream(n=300, n_keys=7, seed=0):
    rng = np.random.default_rng(seed)
    keys = np.array(list("abcdefghij"))[rng.integers(n_keys, size=n) * rng.integers(2, size=n)]
    X = rng.normal(size=(n, 3))
    return keys, X, X @ [1.0, -2.0, 0.5] * (keys == "a") + X[:, 0] + 0.1 * rng.normal(size=n)


def separate(estimator, keys, X, y):
    """The literal thing: a dict of models, a row at a time."""
    models, forecasts = {}, np.zeros(len(y))
    for t, key in enumerate(keys):
        row = slice(t, t + 1)
        if key in models:
            forecasts[t] = models[key].predict(X[row])[0]
        models.setdefault(key, clone(estimator)).partial_fit(X[row], y[row])
    return forecasts, models


def in_calls(model, keys, X, y, size):
    rows = [slice(low, low + size) for low in range(0, len(y), size)]
    return np.concatenate([model.prequential_predict(X[r], y[r], keys=keys[r]) for r in rows])


@pytest.mark.long(every=12)
@pytest.mark.parametrize("size", [1, 13, 150])
@pytest.mark.parametrize(
    "estimator",
    [SGDRegressor(random_state=0), VAWRegressor(forgetting=0.99), VAWRegressor(), SCALED],
    ids=["sgd", "forgetting", "vaw", "scaled"],
)
def test_equal_to_separate_models_whatever_the_cut(estimator, size):
    keys, X, y = stream(150, seed=size)
    expected, models = separate(estimator, keys, X, y)
    model = KeyedRegressor(estimator, prior=None)
    assert np.allclose(in_calls(model, keys, X, y, size), expected, rtol=0, atol=1e-10)
    asked = model.predict(X, keys=keys)
    assert np.allclose(
        asked, [models[k].predict(x[None])[0] for k, x in zip(keys, X, strict=True)], atol=1e-10
    )
    for key, known in models.items():
        assert np.allclose(model.model_of(key).predict(X), known.predict(X), atol=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("size", [1, 40, 200])
@pytest.mark.parametrize(
    "estimator",
    [
        OnlineKernelRegressor(budget="tiny", random_state=0, label_delay=2),
        make_streaming_pipeline(RunningStandardScaler(), RefitRegressor(label_delay=2)),
    ],
    ids=["tiny", "refit"],
)
@pytest.mark.parametrize("prior", [None, "pooled"])
def test_late_labels_of_each_key_are_those_of_separate_models(estimator, size, prior):
    """An estimator with a label_delay was refused, and none could be told that labels are late."""
    keys, X, y = stream(200, seed=1)
    y = y + 10.0
    expected, age, models = np.zeros(len(y)), np.zeros(len(y), dtype=int), {}
    for key in np.unique(keys):
        mine = np.flatnonzero(keys == key)
        models[key], age[mine] = clone(estimator), np.arange(len(mine))
        expected[mine] = models[key].prequential_predict(X[mine], y[mine])
    model = KeyedRegressor(estimator, prior=prior)
    found, is_known = in_calls(model, keys, X, y, size), age > 2
    assert_allclose(found[is_known], expected[is_known], atol=1e-9)
    pooled = clone(estimator).prequential_predict(X, y) if prior else np.zeros(len(y))
    assert_allclose(found[~is_known], pooled[~is_known], atol=1e-9)
    asked = model.predict(X[-20:], keys=keys[-20:])
    alone = [models[k].predict(x[None])[0] for k, x in zip(keys[-20:], X[-20:], strict=True)]
    assert_allclose(asked, alone, atol=1e-9)


@pytest.mark.long
def test_late_labels_of_a_classifier_a_key():
    estimator = OnlineKernelClassifier(budget="tiny", random_state=0, label_delay=2)
    keys, X, y = stream(120, seed=1)
    labels = np.where(y > 0, "up", "down")
    model, classes = KeyedClassifier(estimator), ["down", "up"]
    found = model.prequential_predict_proba(X, labels, classes, keys=keys)
    mine = np.flatnonzero(keys == "a")
    alone = clone(estimator).prequential_predict_proba(X[mine], labels[mine], classes=classes)
    assert_allclose(found[mine[3:]], alone[3:], atol=1e-9)


def test_a_new_key_is_forecast_by_all_rows_before_it():
    keys, X, y = stream()
    pooled = VAWRegressor().prequential_predict(X, y)
    found = in_calls(KeyedRegressor(VAWRegressor()), keys, X, y, 50)
    _, first = np.unique(keys, return_index=True)
    assert np.allclose(found[first], pooled[first], atol=1e-10)
    model = KeyedRegressor(VAWRegressor()).fit(X, y, keys=keys)
    asked = model.predict(X[:4], keys=["a", "new", "other", "b"])
    assert np.allclose(asked[1:3], VAWRegressor().fit(X, y).predict(X[1:3]))
    assert (
        KeyedRegressor(prior=None).fit(X, y, keys=keys).predict(X, keys=["?"] * len(X)) == 0
    ).all()


@pytest.mark.parametrize("prior", ["pooled", None])
def test_progressive_forecasts_are_those_of_predict_and_partial_fit(prior):
    keys, X, y = stream(120)
    model, other = KeyedRegressor(prior=prior, idle=9), KeyedRegressor(prior=prior, idle=9)
    forecasts = model.prequential_predict(X, y, keys=keys)
    other.partial_fit(X[:1], y[:1], keys=keys[:1])
    for t in range(1, len(y)):
        row = slice(t, t + 1)
        assert np.allclose(other.predict(X[row], keys=keys[row]), forecasts[t], atol=1e-8)
        other.partial_fit(X[row], y[row], keys=keys[row])


@pytest.mark.long(every=4)
@pytest.mark.parametrize(
    "limits", [{"max_keys": 3}, {"idle": 5}, {"max_keys": 3, "idle": 8}, {"max_keys": 1}]
)
def test_who_goes_does_not_depend_on_the_cut(limits):
    keys, X, y = stream(120)
    found = []
    for size in (1, 7, 120):
        model = KeyedRegressor(VAWRegressor(), **limits)
        forecasts = in_calls(model, keys, X, y, size)
        found.append((forecasts, model.n_dropped_, set(model.keys_)))
    for forecasts, n_dropped, left in found[1:]:
        assert np.allclose(forecasts, found[0][0], atol=1e-9)
        assert (n_dropped, left) == found[0][1:]
    assert found[0][1] > 0
    assert len(found[0][2]) <= limits.get("max_keys", 8)


@pytest.mark.parametrize("estimator", [None, VAWRegressor(forgetting=0.9)])
@pytest.mark.parametrize("limits", [{"max_keys": 3}, {"idle": 4}])
def test_the_order_of_keys_does_not_depend_on_the_cut(estimator, limits):
    keys, X, y = stream(30)
    found = []
    for size in (1, 7, 30):
        model = KeyedRegressor(estimator, **limits)
        in_calls(model, keys, X, y, size)
        found.append(model.keys_)
    last = {key: t for t, key in enumerate(keys.tolist())}
    assert found[0] == found[1] == found[2] == sorted(found[0], key=last.get)


def test_idle_counts_rows_of_all_keys_literally():
    keys, X, y = stream(200)
    models, last, expected, n_dropped = {}, {}, np.zeros(200), 0
    for t, key in enumerate(keys):
        if key in models and t - last[key] >= 6:
            del models[key]
            n_dropped += 1
        if key in models:
            expected[t] = models[key].predict(X[t : t + 1])[0]
        models.setdefault(key, VAWRegressor()).partial_fit(X[t : t + 1], y[t : t + 1])
        last[key] = t + 1
    model = KeyedRegressor(VAWRegressor(), idle=6, prior=None)
    assert np.allclose(in_calls(model, keys, X, y, 200), expected, atol=1e-10)
    alive = [key for key in models if 200 - last[key] < 6]
    assert set(model.keys_) == set(alive)
    assert model.n_dropped_ == n_dropped + len(models) - len(alive)


def as_polars(frame):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow", reason="polars reads frames of pandas by it")
    return polars.from_pandas(frame)


@pytest.mark.parametrize("kind", ["array", "pandas", "categories", "polars", "several", "object"])
def test_keys_in_columns_are_the_keys_beside_them(kind):
    keys, X, y = stream(120)
    expected = KeyedRegressor().prequential_predict(X, y, keys=keys)
    numbers = np.unique(keys, return_inverse=True)[1]
    frame = pd.DataFrame(X, columns=["u", "v", "w"]).assign(device=keys)[["u", "device", "v", "w"]]
    rows, key = {
        "array": (np.column_stack([X, numbers]), -1),
        "pandas": (frame, "device"),
        "categories": (frame.astype({"device": "category"}), "device"),
        "polars": (as_polars(frame) if kind == "polars" else None, "device"),
        "several": (frame.assign(site=numbers % 2), ["device", "site"]),
        "object": (np.column_stack([X.astype(object), keys]), 3),
    }[kind]
    model = KeyedRegressor(key=key)
    assert np.allclose(model.prequential_predict(rows, y), expected, atol=1e-12)
    assert np.allclose(
        model.predict(rows[:5]), KeyedRegressor(key=key).fit(rows, y).predict(rows[:5])
    )
    assert model.n_keys_ == len(set(keys))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([None, "a"], "missing"),
        ([np.nan, 1.0], "missing"),
        (["a"], "1 keys for 2 rows"),
        ("ab", "one value"),
        ([1, 2], "one type"),
        (None, "keys= is missing"),
        (np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]"), "dates"),
        ([[["x"]], [["y"]]], "holds a list"),
        (np.array(1), "one value"),
        ([(), ()], "no columns"),
        (np.empty((2, 0)), "no columns"),
        ([("a", 1), ("b", 2)], "is 2, and was 1 before"),
        ([("a", 1), ("b",)], "different lengths"),
    ],
)
def test_keys_that_are_none_are_refused_and_leave_the_model(keys, message):
    model = KeyedRegressor().fit([[1.0], [2.0]], [1.0, 2.0], keys=["a", "b"])
    before = pickle.dumps(model)
    for call in (
        lambda: model.partial_fit([[1.0], [2.0]], [1, 2], keys=keys),
        lambda: model.predict([[1.0], [2.0]], keys=keys),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            call()
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    "given",
    [
        lambda keys: [list(key) for key in keys],
        lambda keys: tuple(map(np.array, keys)),
        lambda keys: pd.MultiIndex.from_tuples(keys),
        lambda keys: pd.Series(keys, index=range(4, 4 + len(keys))),
        lambda keys: pd.DataFrame(keys),
        lambda keys: np.array(keys),
        lambda keys: LossMonitor().update(np.ones(len(keys)), keys=keys).health()["key"],
    ],
)
def test_keys_of_several_columns_come_in_any_container(given):
    """Lists, indices and series of tuples were refused, and what `health` says of keys."""
    names, X, y = stream(120)
    keys = [(t % 2, t) for t in np.unique(names, return_inverse=True)[1].tolist()]
    expected = KeyedRegressor().fit(X, y, keys=keys)
    if len(given(keys)) == len(keys):
        model = KeyedRegressor().fit(X, y, keys=given(keys))
        assert model.keys_ == expected.keys_
        assert_allclose(model.predict(X, keys=given(keys)), expected.predict(X, keys=keys))
    few = expected.keys_
    asked = expected.predict(X[: len(few)], keys=given(few))
    assert_allclose(asked, expected.predict(X[: len(few)], keys=few))
    with pytest.raises(ValueError, match="is 3, and was 2 before"):
        expected.predict(X[:1], keys=[(1, 2, 3)])


def test_what_key_names_is_checked():
    X, y = np.ones((2, 2)), [1, 2]
    for key, message in [
        ("a", "no column"),
        (2, "2 columns"),
        ([0, -2], "twice"),
        ([], "empty"),
        ([0, 1], "no columns"),
        ([0.5], "names"),
        (True, "names"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            KeyedRegressor(key=key).fit(X, y)
    with pytest.raises(ValueError, match="one of the two"):
        KeyedRegressor(key=0).fit(X, y, keys=["a", "b"])
    with pytest.raises(ValueError, match=r"label_delay counts rows of a key.*prior='pooled'"):
        KeyedRegressor(RefitRegressor(label_delay=2), prior="init").fit(X, y)
    with pytest.raises(TypeError, match="instance of a regressor"):
        KeyedRegressor(FOGDClassifier()).fit(X, y)
    with pytest.raises(KeyError, match="no key"):
        KeyedRegressor(key=0).fit(X, y).model_of(5)
    with pytest.raises(TypeError, match="is no key: give text"):
        KeyedRegressor(key=0).fit(X, y).model_of([1])


def test_a_bad_row_of_one_key_leaves_all_models_as_they_were():
    keys, X, y = stream(60)
    model = KeyedRegressor().fit(X, y, keys=keys)
    before, bad = pickle.dumps(model), X.copy()
    bad[40] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(bad, y, keys=keys)
    with pytest.raises(ValueError, match="overflowed"):
        model.partial_fit(X, np.where(np.arange(60) == 30, 1e300, y) * 1e5, keys=keys)
    assert pickle.dumps(model) == before
    model.partial_fit(X, y, keys=["new"] * 60)  # a place that the failed calls had not taken
    assert len(model.keys_) == len(set(keys)) + 1


def test_copies_part_and_pickles_go_on():
    import copy

    keys, X, y = stream(100)
    model = KeyedRegressor().fit(X[:50], y[:50], keys=keys[:50])
    one, two, three = copy.copy(model), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
    one.partial_fit(X[:5], y[:5], keys=list("vwxyz"))
    other = model.prequential_predict(X[50:], y[50:], keys=["q"] * 25 + ["r"] * 25)
    for same in (two, three):
        assert (
            same.prequential_predict(X[50:], y[50:], keys=["q"] * 25 + ["r"] * 25) == other
        ).all()
    assert set(one.keys_) == set(keys[:50]) | set("vwxyz")
    assert set(model.keys_) == set(keys[:50]) | set("qr")


def test_weights_and_several_targets_are_those_of_separate_models():
    keys, X, y = stream(90)
    w = np.random.default_rng(1).uniform(0, 2, size=90)
    Y = np.column_stack([y, -y])
    model = KeyedRegressor(VAWRegressor(), prior=None).fit(X, y, keys=keys, sample_weight=w)
    both = KeyedRegressor(VAWRegressor(), prior=None).fit(X, Y, keys=keys)
    for key in set(keys):
        mine = keys == key
        one = VAWRegressor().fit(X[mine], y[mine], sample_weight=w[mine])
        assert np.allclose(model.model_of(key).coef_, one.coef_, atol=1e-10)
        two = VAWRegressor().fit(X[mine], Y[mine])
        assert np.allclose(both.predict(X, keys=[key] * 90), two.predict(X), atol=1e-10)


@pytest.mark.parametrize("estimator", [None, FOGDClassifier(random_state=0, eta0=0.9)])
def test_classifiers_are_separate_too(estimator):
    rng = np.random.default_rng(2)
    X, keys = rng.normal(size=(160, 2)), rng.integers(4, size=160)
    y = np.where(X[:, 0] * (-1) ** keys > 0, "upwards", "down")
    model = KeyedClassifier(estimator)
    labels = np.concatenate(
        [
            model.prequential_predict(X[r], y[r], classes=["upwards", "down"], keys=keys[r])
            for r in (slice(0, 3), slice(3, 100), slice(100, 160))
        ]
    )
    given = ImproperLogisticClassifier(fit_intercept=True) if estimator is None else estimator
    for key in range(4):
        mine = keys == key
        one = clone(given)
        expected = one.partial_fit(X[mine][:1], y[mine][:1], classes=["down", "upwards"])
        expected = one.prequential_predict(X[mine][1:], y[mine][1:])
        assert (labels[mine][1:] == expected).all()
        if hasattr(one, "predict_proba"):
            assert np.allclose(
                model.predict_proba(X[mine], keys=keys[mine]), one.predict_proba(X[mine])
            )
    with pytest.raises(ValueError, match="labels"):
        model.partial_fit(X[:1], ["sideways"], keys=[0])
    with pytest.raises(ValueError, match="two classes"):
        KeyedClassifier().partial_fit(X[:1], ["upwards"], keys=[0])


def test_metadata_routing_hands_keys_on():
    keys, X, y = stream(60)
    with sklearn.config_context(enable_metadata_routing=True):
        model = KeyedRegressor().set_fit_request(keys=True).set_predict_request(keys=True)
        model = make_pipeline(FunctionTransformer(), model).fit(X, y, keys=keys)
        found = model.predict(X, keys=keys)
    assert np.allclose(found, KeyedRegressor().fit(X, y, keys=keys).predict(X, keys=keys))


@pytest.mark.long
def test_a_file_of_many_keys_goes_on_bit_for_bit(tmp_path):
    keys, X, y = stream(100)
    for estimator in (None, VAWRegressor(forgetting=0.99)):
        model = KeyedRegressor(estimator).fit(X[:60], y[:60], keys=keys[:60])
        save(model, tmp_path / "m.skops")
        other = load(tmp_path / "m.skops")
        rest = slice(60, None)
        one, two = (
            m.prequential_predict(X[rest], y[rest], keys=keys[rest]) for m in (model, other)
        )
        assert (one == two).all()
        assert other.keys_ == model.keys_


def test_quantiles_and_intervals_are_those_of_the_models():
    model = OnlineKernelRegressor(budget="fast", random_state=0)
    rng = np.random.default_rng(3)
    X, keys = rng.normal(size=(24, 2)), np.array(["a", "b"] * 12)
    y = X[:, 0] + rng.normal(size=24)
    keyed = KeyedRegressor(model, prior=None).fit(X, y, keys=keys)
    asked = np.array(["a", "b", "c"])
    quantiles = keyed.predict_quantiles(X[:3], [0.1, 0.7], keys=asked)
    intervals = keyed.predict_interval(X[:3], 0.8, keys=asked)
    assert quantiles.shape == (3, 2)
    for row, key in enumerate("ab"):
        alone, rows = clone(model).fit(X[keys == key], y[keys == key]), slice(row, row + 1)
        assert_allclose(quantiles[rows], alone.predict_quantiles(X[rows], [0.1, 0.7]))
        assert_allclose(intervals[rows], alone.predict_interval(X[rows], 0.8))
    assert np.isnan(quantiles[2]).all()
    assert np.isnan(intervals[2]).all()
    assert keyed.predict_quantiles(X[:3], 0.5, keys=asked).shape == (3,)
    assert not hasattr(KeyedRegressor(), "predict_quantiles")


def keyed_laws(prior, n_targets=None, **options):
    """A keyed model of targets from 0 to 1, its rows, and their keys."""
    rng = np.random.default_rng(7)
    X, keys = rng.normal(size=(90, 2)), np.array(["a", "b", "c"] * 30)
    y = np.clip(0.5 + 0.4 * X[:, 0] + 0.2 * rng.normal(size=90), 0.0, 1.0)
    y = y if n_targets is None else np.column_stack([y, 1.0 - y])
    model = OnlineKernelRegressor(budget="tiny", random_state=0, target_range=(0.0, 1.0), **options)
    return KeyedRegressor(model, prior=prior).fit(X, y, keys=keys), model, X, y, keys


@pytest.mark.parametrize(("prior", "n_targets"), [("pooled", None), (None, None), (None, 2)])
def test_distributions_are_those_of_the_models_and_keep_their_range(prior, n_targets):
    keyed, model, X, y, keys = keyed_laws(prior, n_targets)
    law = keyed.predict_distribution(X[:4], keys=["a", "b", "new", "c"])
    assert law.support == (0.0, 1.0)
    for row, key in enumerate(["a", "b", None, "c"]):
        if key is None:
            continue
        own = clone(model).fit(X[keys == key], y[keys == key]).predict_distribution(X[[row]])
        p = [0.0, 1e-4, 0.3, 1.0 - 1e-4, 1.0]
        assert_allclose(law.ppf(p)[row], own.ppf(p)[0], atol=1e-9)
        assert_allclose(law.mean()[row], own.mean()[0], atol=1e-9)
        assert_allclose(law.cdf(0.7)[row], own.cdf(0.7)[0], atol=1e-9)
    unknown = prior is None
    for found in (law.cdf(0.5), law.pdf(0.5), law.mean(), law.sample(1, random_state=0)[..., 0]):
        assert np.isnan(found[2]).all() == unknown
    alone = keyed.predict_distribution(X[:1], keys=["new"])
    assert np.isnan(alone.cdf(0.5)).all() == unknown
    assert alone.support == ((-np.inf, np.inf) if unknown else (0.0, 1.0))


@pytest.mark.parametrize("prior", ["pooled", None])
@pytest.mark.parametrize(
    ("verb", "level", "words"),
    [
        ("predict_quantiles", 2.0, "above 0 and below 1"),
        ("predict_quantiles", [], "a list of such"),
        ("predict_interval", 90, "between 0.01 and 0.99"),
        ("predict_interval", "a", "a list of such"),
        ("prequential_quantiles", [0.5, np.nan], "above 0 and below 1"),
    ],
)
def test_levels_are_checked_whoever_is_asked(prior, verb, level, words):
    keyed, _, X, y, _ = keyed_laws(prior)
    given = (X[:2], y[:2], level) if verb == "prequential_quantiles" else (X[:2], level)
    for keys in (["new", "newer"], ["a", "new"]):
        with pytest.raises((TypeError, ValueError), match=words):
            getattr(keyed, verb)(*given, keys=keys)
    assert keyed.n_keys_ == 3


@pytest.mark.parametrize("prior", [None, "pooled"])
def test_what_is_no_probability_is_the_same_for_all_classes(prior):
    """Naive Bayes knows no variance of one row: its NaN was handed on, as if it were an answer."""
    rng = np.random.default_rng(0)
    keys, y = np.arange(60) % 3, rng.permutation(np.arange(60) // 3 % 2)
    X = np.column_stack([rng.normal(size=60), np.ones(60)])
    X[40:, 1] = rng.normal(size=20)
    whole, cut = (KeyedClassifier(GaussianNB(), prior=prior) for _ in range(2))
    P = whole.prequential_predict_proba(X, y, classes=[0, 1], keys=keys)
    parts = [
        cut.prequential_predict_proba(
            X[i : i + 1], y[i : i + 1], classes=[0, 1], keys=keys[i : i + 1]
        )
        for i in range(60)
    ]
    np.testing.assert_array_equal(np.concatenate(parts), P)
    assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(P[:40], 0.5)  # a column is constant
    assert np.abs(P[50:] - 0.5).max() > 0.1
    young = KeyedClassifier(GaussianNB(), prior=prior).partial_fit(X[:1], y[:1], [0, 1], keys=[0])
    np.testing.assert_array_equal(young.predict_proba(X[:2], keys=[0, 1]), np.full((2, 2), 0.5))


@pytest.mark.parametrize(
    "estimator",
    [VAWRegressor(), SCALED, SGDRegressor(random_state=0)],
    ids=["vaw", "scaled", "sgd"],
)
def test_the_model_of_a_key_knows_its_columns(estimator):
    keys, X, y = stream(100)
    frame = pd.DataFrame(X, columns=list("uvw"))
    by_column = KeyedRegressor(estimator, key="k").fit(
        frame.assign(k=keys)[["u", "k", "v", "w"]], y
    )
    by_place = KeyedRegressor(estimator, key=-1).fit(frame.assign(k=keys), y)
    beside = KeyedRegressor(estimator).fit(frame, y, keys=keys)
    for keyed in (by_column, by_place, beside):
        model = keyed.model_of("a")
        assert model.feature_names_in_.tolist() == list("uvw")
        assert_allclose(model.predict(frame[:5]), beside.model_of("a").predict(frame[:5]))
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[["w", "v", "u"]])
        model.partial_fit(frame, y)
    arrays = KeyedRegressor(estimator).fit(X, y, keys=keys).model_of("a")
    assert not hasattr(arrays, "feature_names_in_")
