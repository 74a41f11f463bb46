"""Steps of every kind in a streaming pipeline: those that learn once, those that combine others."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from sklearn_okl import (
    ALDNystroem,
    BudgetNystroem,
    FourierFeatures,
    OnlineKernelRegressor,
    OnlineNystroem,
    RunningMinMaxScaler,
    RunningStandardScaler,
    StreamingPipeline,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PrequentialSearch, check_online_estimator, online_checks
from tests.late import LateRidge, assert_law

LETTERS = list("abcd")
ONE_HOT = OneHotEncoder(handle_unknown="ignore", sparse_output=False)


def categories(seed=0, n=600):
    rng = np.random.default_rng(seed)
    codes = rng.integers(4, size=n)
    return np.array(LETTERS)[codes][:, None], codes + 0.05 * rng.normal(size=n)


def stream(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 3, 1, 0.3] + [0, 1, 2, 0]
    return X, np.sin(X[:, 0]) + X[:, 3] + 0.1 * rng.normal(size=n)


# --- steps that learn once -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (ONE_HOT, "onehotencoder"),
        (OrdinalEncoder(), "ordinalencoder"),
        (OneHotEncoder(categories=[LETTERS], min_frequency=2), "onehotencoder"),
        (SimpleImputer(strategy="most_frequent"), "simpleimputer"),
        (PCA(2), "pca"),
        (KBinsDiscretizer(), "kbinsdiscretizer"),
        (RBFSampler(gamma="scale"), "rbfsampler"),
        (ColumnTransformer([("hot", ONE_HOT, [0])]), "columntransformer__hot"),
        (ColumnTransformer([("no", "drop", [0])], remainder=PCA()), "columntransformer__remainder"),
        (make_union(StandardScaler(), PCA(2)), "featureunion__pca"),
        (make_pipeline(StandardScaler(), make_union(PCA(2))), "pipeline__featureunion__pca"),
    ],
)
@pytest.mark.parametrize("use", ["fit", "partial_fit", "prequential_predict", "search"])
def test_what_would_be_fitted_on_the_first_row_is_refused(step, name, use):
    X, y = categories()
    model = make_streaming_pipeline(step, VAWRegressor())
    if use == "search":
        model, use = PrequentialSearch(model, {"vawregressor__alpha": [0.1, 1.0]}), "fit"
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=rf"step '{name}' \(\w+\) learns .*warmup=.*'batch'.*Froz"):
        getattr(model, use)(X, y)
    assert pickle.dumps(model) == before
    for update in ("row", "batch"):  # a batch of one row is one row
        model = make_streaming_pipeline(step, VAWRegressor(), update=update)
        with pytest.raises(ValueError, match=rf"step '{name}' "):
            model.partial_fit(X[:1], y[:1])


def test_each_way_out_is_as_good_as_scikit_learns_pipeline():
    X, y = categories()
    expected = make_pipeline(clone(ONE_HOT), VAWRegressor()).fit(X, y).score(X, y)
    for model in [
        make_streaming_pipeline(ONE_HOT, VAWRegressor(), warmup=50),
        make_streaming_pipeline(ONE_HOT, VAWRegressor(), update="batch"),
        make_streaming_pipeline(FrozenEstimator(clone(ONE_HOT).fit(X[:50])), VAWRegressor()),
        make_streaming_pipeline(clone(ONE_HOT).set_params(categories=[LETTERS]), VAWRegressor()),
    ]:
        assert model.fit(X, y).score(X, y) == pytest.approx(expected, abs=1e-6)
    assert expected > 0.99


class Doubled(TransformerMixin, BaseEstimator):
    """It has no tag to say so, but learns nothing."""

    learns_from_data = False

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return 2.0 * X


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(np.tanh),
        Normalizer(),
        Doubled(),
        PolynomialFeatures(2),
        RBFSampler(random_state=0),
        FourierFeatures(n_components=10, random_state=0),
        FrozenEstimator(PCA(2).fit(stream(1)[0])),
        FrozenEstimator(StandardScaler().fit(stream(1)[0])),
    ],
    ids=lambda step: type(step).__name__,
)
def test_what_learns_nothing_is_let_through(step):
    X, y = stream()
    model = make_streaming_pipeline(step, VAWRegressor())
    expected = VAWRegressor().prequential_predict(clone(step).fit(X[:1], y[:1]).transform(X), y)
    np.testing.assert_allclose(model.prequential_predict(X, y), expected)


def test_a_frozen_step_is_never_changed():
    X, y = stream()
    scaler = StandardScaler().fit(X[:20])
    before = pickle.dumps(scaler)
    make_streaming_pipeline(FrozenEstimator(scaler), VAWRegressor()).fit(X, y).partial_fit(X, y)
    assert pickle.dumps(scaler) == before


def test_texts_are_hashed():
    texts, y = categories()
    learner = SGDRegressor(learning_rate="constant", eta0=0.3)
    model = make_streaming_pipeline(HashingVectorizer(analyzer="char"), learner)
    assert model.fit(texts[:, 0].tolist(), y).score(texts[:, 0].tolist(), y) > 0.9


@pytest.mark.parametrize(
    "growing",
    [ALDNystroem(novelty=0.1), BudgetNystroem(budget=20), OnlineNystroem(random_state=0)],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("update", ["row", "batch"])
def test_maps_that_grow_are_refused_unless_frozen(growing, update):
    X, y = stream()
    model = make_streaming_pipeline(RunningStandardScaler(), growing, VAWRegressor(), update=update)
    model.partial_fit(X[:1], y[:1])
    before = model.predict(X)
    with pytest.raises(ValueError, match=rf"{type(growing).__name__} grows .*Freeze.*PKAWVRegr"):
        model.partial_fit(X[1:], y[1:])
    np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match="grows"), model.rows() as row:
        list(map(row.learn, X[1:], y[1:]))
    frozen = FrozenEstimator(clone(growing).fit(X[:50]))
    forecasts = make_streaming_pipeline(frozen, VAWRegressor()).prequential_predict(X, y)
    assert np.mean((forecasts - y)[50:] ** 2) < np.var(y)


def test_a_map_that_is_full_no_longer_grows():
    X, y = stream()
    full = make_streaming_pipeline(BudgetNystroem(budget=20), VAWRegressor(), update="batch")
    assert full.fit(X[:50], y[:50]).partial_fit(X[50:], y[50:]).steps_[-1][1].n_features_in_ == 20


# --- the warm-up ---------------------------------------------------------------------------------


def literal_warmup(model, X, y, n):
    """Forecast by the mean of the targets before row n, by the pipeline fitted on n rows after."""
    means = [y[:t].mean() if t else 0.0 for t in range(n)]
    model = make_pipeline(*(step for _, step in clone(model).steps))
    *transformers, (_, final) = model.steps
    Z = X
    for _, transformer in transformers:
        Z = transformer.fit(Z[:n]).transform(Z)
    return np.append(means, final.partial_fit(Z[:n], y[:n]).prequential_predict(Z[n:], y[n:]))


@pytest.mark.long(every=3)
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 100])
def test_before_its_end_the_mean_after_it_all_is_learnt(n):
    X, y = stream(n)
    model = StreamingPipeline([("pca", PCA(1)), ("vaw", VAWRegressor())], warmup=n)
    if n == 1:
        with pytest.raises(ValueError, match=r"'pca' \(PCA\).*n_samples=1"):
            model.fit(X, y)
        return
    expected = literal_warmup(model, X, y, n)
    for ends in ([], [1], [n - 1], [n], [n + 1], [n - 1, n, n + 1], range(1, len(y))):
        cut = clone(model)
        parts = [cut.prequential_predict(X[p], y[p]) for p in np.split(range(len(y)), ends)]
        np.testing.assert_allclose(np.concatenate(parts), expected, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(cut.predict(X), clone(model).fit(X, y).predict(X))
        assert cut.n_samples_seen_ == len(y)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("D", [0, 1, 5, 23])
@pytest.mark.parametrize("n", [2, 10, 30])
def test_the_laws_of_late_labels_hold_with_a_warmup(n, D):
    X, y = stream(D, n=70)
    steps = [StandardScaler(), PCA(2), RunningStandardScaler(), LateRidge(D)]
    model = make_streaming_pipeline(*steps, warmup=n)
    forecasts = assert_law(model, X, y)
    means = [y[: max(t - D, 0)].mean() if t > D else 0.0 for t in range(n + D)]
    np.testing.assert_allclose(forecasts[: n + D], means)


@pytest.mark.long
def test_the_laws_hold_with_a_warmup():
    check_online_estimator(make_streaming_pipeline(PCA(2), VAWRegressor(), warmup=40))


def test_while_it_is_warming_up():
    X, y = stream()
    model = make_streaming_pipeline(RunningStandardScaler(), PCA(2), VAWRegressor(), warmup=40)
    with pytest.raises(NotFittedError, match="not fitted"):
        model.predict(X)
    with pytest.warns(UserWarning, match="Of warmup=40 rows 'fit' was given 30"):
        model.fit(X[:30], y[:30])
    assert model.n_samples_seen_ == 30
    assert model.n_features_in_ == 4
    np.testing.assert_allclose(model.predict(X), y[:30].mean())
    before = pickle.dumps(model)
    for ask in (lambda: model.predict(X, return_std=True), lambda: model.score(X, y)):
        with pytest.raises(NotFittedError, match="it has 30 of the warmup=40 rows"):
            ask()
    rows, targets = X[30:35], y[30:35]
    broken = np.append(targets[1:], np.nan)
    for bad_X, bad_y in [
        (rows[:, :2], targets), (rows, targets[1:]), (rows, broken), (rows[:0], targets[:0])
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=r"features|inconsistent|NaN|no rows"):
            model.partial_fit(bad_X, bad_y)
        assert pickle.dumps(model) == before
    resumed = [pickle.loads(before), copy.deepcopy(model)]
    expected = model.prequential_predict(X[30:], y[30:])
    for other in resumed:
        np.testing.assert_array_equal(other.prequential_predict(X[30:], y[30:]), expected)
    model.set_params(warmup=30)
    with pytest.raises(ValueError, match="mid-stream"):
        model.predict(X)


def test_rows_of_the_warmup_are_kept_as_they_were_given():
    X, y = stream()
    model = make_streaming_pipeline(PCA(2), VAWRegressor(), warmup=40)
    given, targets = X[:30].copy(), y[:30].copy()
    model.partial_fit(given, targets)
    given[:], targets[:] = 0.0, 0.0
    np.testing.assert_array_equal(
        model.partial_fit(X[30:], y[30:]).predict(X), clone(model).fit(X, y).predict(X)
    )


def bad_rows(X, kind):
    bad = X[10:15].copy()
    bad[3, 0] = {"nan": np.nan, "inf": np.inf, "huge": 1e300}[kind]
    return bad


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of scikit-learn's scaler
@pytest.mark.parametrize("first", [0, 1, 10])
@pytest.mark.parametrize("kind", ["nan", "inf", "huge"])
@pytest.mark.parametrize("scale", [StandardScaler(), RunningStandardScaler(), PCA(2)])
def test_a_bad_row_of_the_warmup_is_refused_when_it_comes(scale, kind, first):
    X, y = stream()
    model = make_streaming_pipeline(scale, VAWRegressor(), warmup=20)
    if kind == "huge" and isinstance(scale, RunningStandardScaler):
        return  # it takes them
    if first:
        model.partial_fit(X[:first], y[:first])
    for low in (first, 14, 19):  # the last of these ends the warm-up
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match=r"NaN|infinity|overflow|too large|moderate"):
            model.partial_fit(bad_rows(X, kind), y[10:15])
        assert pickle.dumps(model) == before
        if low < 19:
            high = {first: 14, 14: 19}[low]
            model.partial_fit(X[low:high], y[low:high])
    model.partial_fit(X[19:], y[19:])
    np.testing.assert_array_equal(model.predict(X), clone(model).fit(X, y).predict(X))


def test_rows_that_are_too_few_to_try_wait_all_the_same():
    X, y = stream()
    model = make_streaming_pipeline(PCA(4), VAWRegressor(), warmup=40)
    for t in range(40):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    np.testing.assert_allclose(
        model.predict(X), clone(model).partial_fit(X[:40], y[:40]).predict(X)
    )


def test_frames_with_a_bad_value_are_refused_in_the_warmup():
    pandas = pytest.importorskip("pandas")
    X, y = stream()
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(e=["x", "y"] * (len(y) // 2))
    encode = ColumnTransformer([("e", OneHotEncoder(), ["e"])], remainder="passthrough")
    model = make_streaming_pipeline(encode, VAWRegressor(), warmup=20)
    bad = frame[:8].copy()
    bad.loc[3, "b"] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(bad, y[:8])
    model.partial_fit(frame[:8], y[:8]).partial_fit(frame[8:], y[8:])
    assert np.isfinite(model.predict(frame)).all()


@pytest.mark.parametrize("D", [0, 3])
def test_targets_may_be_missing_after_the_warmup_whatever_the_cut(D):
    X, y = stream()
    y[40::4] = np.nan
    final = OnlineKernelRegressor(budget="tiny", label_delay=D, random_state=0)
    model = make_streaming_pipeline(StandardScaler(), final, warmup=20)
    at_once = clone(model).prequential_predict(X, y)
    for cut in (20, 30, 41):
        parts, one = (slice(cut), slice(cut, None)), clone(model)
        forecasts = [one.prequential_predict(X[part], y[part]) for part in parts]
        np.testing.assert_allclose(np.concatenate(forecasts), at_once, rtol=1e-9)
    y[3] = np.nan
    for n in (10, 20, len(y)):  # no more are in the first call
        with pytest.raises(ValueError, match=r"NaN in the first warmup=20 rows.* has ended"):
            clone(model).partial_fit(X[:n], y[:n])


def test_what_only_many_rows_of_the_warmup_show_is_told_when_it_ends():
    def look(rows):
        if len(rows) > 100:
            raise ValueError("These are too many.")
        return rows

    X, y = stream()
    model = make_streaming_pipeline(FunctionTransformer(look), PCA(2), VAWRegressor(), warmup=130)
    for low in range(0, 120, 30):
        model.partial_fit(X[low : low + 30], y[low : low + 30])
    with pytest.raises(ValueError, match=r"120 came in earlier calls; call 'fit'.*too many"):
        model.partial_fit(X[120:], y[120:])
    assert model.n_samples_seen_ == 120


def test_trials_of_the_warmup_draw_nothing():
    X = np.random.default_rng(0).normal(size=(12, 2))
    model = make_streaming_pipeline(FourierFeatures(), VAWRegressor(), warmup=20)
    np.random.seed(3)
    expected = np.random.uniform()
    np.random.seed(3)
    model.partial_fit(X[:6], X[:6, 0]).partial_fit(X[6:], X[6:, 0])
    assert np.random.uniform() == expected


def test_classes_in_the_warmup():
    X, y = stream(2)
    labels = np.where(y > 0, "up", "down")
    model = make_streaming_pipeline(
        PCA(4), SGDClassifier(loss="log_loss", random_state=0), warmup=30
    )
    model.partial_fit(X[:20], labels[:20], classes=["down", "up"])
    share = np.mean(labels[:20] == "up")
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], share)
    assert set(model.predict(X)) == {"up" if share > 0.5 else "down"}
    with pytest.raises(NotFittedError, match="warming up"):
        model.decision_function(X)
    model.partial_fit(X[20:], labels[20:])
    assert model.classes_.tolist() == ["down", "up"]
    assert model.score(X, labels) > 0.7


def test_weights_of_the_warmup():
    X, y = stream()
    weights = np.random.default_rng(0).uniform(size=len(y))
    model = make_streaming_pipeline(FunctionTransformer(), VAWRegressor(), warmup=40)
    for rows in np.split(range(len(y)), [30, 45]):
        model.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    expected = VAWRegressor().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("warmup", [0, 40])
def test_one_weight_for_all_rows_of_a_call(warmup):
    X, y = stream()
    model = make_streaming_pipeline(FunctionTransformer(), VAWRegressor(), warmup=warmup)
    for rows, weight in zip(np.split(range(len(y)), [30, 45]), [2.0, 0.5, 1], strict=True):
        model.partial_fit(X[rows], y[rows], sample_weight=weight)
    weights = np.repeat([2.0, 0.5, 1.0], [30, 15, 105])
    expected = VAWRegressor().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(X), expected.predict(X))


def test_strings_of_digits_in_the_warmup():
    X, y = stream()
    model = make_streaming_pipeline(PCA(2), VAWRegressor(), warmup=40)
    expected = clone(model).prequential_predict(X, y)
    text = y.astype(str).tolist()
    parts = [model.prequential_predict(X[p], text[p.start : p.stop]) for p in
             (slice(0, 20), slice(20, 150))]  # fmt: skip
    np.testing.assert_allclose(np.concatenate(parts), expected)


# --- steps that combine others -------------------------------------------------------------------


def combined(frozen):
    return {
        "columns": ColumnTransformer(
            [("ours", RunningStandardScaler(), [0, 1]), ("theirs", StandardScaler(), [2])],
            remainder="passthrough",
            transformer_weights={"ours": 0.5},
        ),
        "union": FeatureUnion(
            [("ours", RunningMinMaxScaler()), ("theirs", StandardScaler()), ("frozen", frozen)],
            n_jobs=2,
        ),
        "pipeline": make_pipeline(StandardScaler(), PolynomialFeatures(2), RunningMinMaxScaler()),
        "nested": ColumnTransformer(
            [
                ("union", make_union(StandardScaler(), RunningMinMaxScaler()), [0, 2]),
                ("chain", make_pipeline(RunningStandardScaler(), StandardScaler()), slice(1, 4)),
                ("none", StandardScaler(), []),
            ],
        ),
    }


KINDS = sorted(combined(None))


def parts_of(kind, X):
    """Return pairs of columns and the steps on them, and the weights of what they give."""
    frozen = FrozenEstimator(PCA(2).fit(X))
    return {
        "columns": [
            ([0, 1], [RunningStandardScaler()], 0.5),
            ([2], [StandardScaler()], 1.0),
            ([3], [], 1.0),
        ],
        "union": [
            ([0, 1, 2, 3], [RunningMinMaxScaler()], 1.0),
            ([0, 1, 2, 3], [StandardScaler()], 1.0),
            ([0, 1, 2, 3], [frozen], 1.0),
        ],
        "pipeline": [
            ([0, 1, 2, 3], [StandardScaler(), PolynomialFeatures(2), RunningMinMaxScaler()], 1.0)
        ],
        "nested": [
            ([0, 2], [StandardScaler()], 1.0),
            ([0, 2], [RunningMinMaxScaler()], 1.0),
            ([1, 2, 3], [RunningStandardScaler(), StandardScaler()], 1.0),
        ],
    }[kind]


@pytest.mark.long(every=8)
@pytest.mark.parametrize("D", [0, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_transformers_that_combine_others_stream_where_their_parts_do(kind, D):
    X, y = stream(n=70)
    step = combined(FrozenEstimator(PCA(2).fit(X)))[kind]
    model = make_streaming_pipeline(step, LateRidge(D))
    with parallel_config("threading"):
        forecasts = assert_law(model, X, y)
    Z = []
    for columns, steps, weight in parts_of(kind, X):
        part = make_streaming_pipeline(*steps, Kept(D)).fit(X[:, columns], y)
        Z.append(weight * part[-1].rows_)
    expected = LateRidge(D).prequential_predict(np.hstack(Z), y)
    np.testing.assert_allclose(forecasts, expected, rtol=1e-8, atol=1e-8)
    assert not hasattr(step, "transformers_")  # the given one stays as it was


class Kept(BaseEstimator):
    """A last step that keeps the rows as they reach it."""

    def __init__(self, label_delay=0):
        self.label_delay = label_delay

    def fit(self, X, y):
        return self.partial_fit(X, y)

    def partial_fit(self, X, y):
        self.rows_ = np.vstack([*([self.rows_] if hasattr(self, "rows_") else []), X])
        return self


@pytest.mark.long
@pytest.mark.slow
def test_the_laws_hold_with_combined_steps(full_size):
    chain = make_pipeline(RunningMinMaxScaler(), StandardScaler())
    step = ColumnTransformer([("chain", chain, [1])], remainder=RunningStandardScaler())
    checks = online_checks(make_streaming_pipeline(step, VAWRegressor()))
    for _, check in itertools.islice(checks, 0, None, 1 if full_size else 2):  # of two streams, one
        check()


def test_parts_that_learn_once_are_fitted_in_the_warmup():
    X, y = categories()
    X = np.hstack([X.astype(object), np.random.default_rng(0).uniform(size=(len(y), 2))])
    step = ColumnTransformer([("hot", ONE_HOT, [0]), ("scale", RunningStandardScaler(), [1, 2])])
    model = make_streaming_pipeline(step, VAWRegressor(), warmup=50)
    whole = clone(model).prequential_predict(X, y)
    parts = [model.prequential_predict(X[p], y[p]) for p in np.split(range(len(y)), [20, 49, 51])]
    np.testing.assert_allclose(np.concatenate(parts), whole)
    assert np.mean((whole[50:] - y[50:]) ** 2) < 0.05 * np.var(y)


def test_columns_are_chosen_by_name_and_by_type():
    pd = pytest.importorskip("pandas")
    letters, y = categories()
    frame = pd.DataFrame({"letter": letters[:, 0], "x": y**2, "z": np.sin(y)})
    step = ColumnTransformer(
        [
            ("hot", clone(ONE_HOT).set_params(categories=[LETTERS]), ["letter"]),
            ("scale", RunningStandardScaler(), make_column_selector(dtype_include="number")),
        ]
    )
    model = make_streaming_pipeline(step, VAWRegressor())
    forecasts = model.prequential_predict(frame, y)
    assert np.mean((forecasts[100:] - y[100:]) ** 2) < 0.05 * np.var(y)
    names = ["hot__letter_a", "hot__letter_b", "hot__letter_c", "hot__letter_d"]
    assert model.get_feature_names_out().tolist() == [*names, "scale__x", "scale__z"]
    as_frames = clone(model).set_output(transform="pandas")
    np.testing.assert_allclose(as_frames.prequential_predict(frame, y), forecasts)
    assert as_frames["vawregressor"].feature_names_in_.tolist() == [*names, "scale__x", "scale__z"]
    cut, pieces = clone(model), np.split(range(len(y)), [1, 2, 300])
    parts = [cut.prequential_predict(frame.iloc[p], y[p]) for p in pieces]
    np.testing.assert_allclose(np.concatenate(parts), forecasts)
    for bad in (frame[["x", "letter", "z"]], frame.rename(columns={"z": "u"}), frame[["x", "z"]]):
        with pytest.raises(ValueError, match="feature"):
            model.predict(bad)


def test_a_search_shares_combined_steps():
    X, y = stream()
    step = combined(Normalizer())["nested"]
    pipeline = make_streaming_pipeline(step, VAWRegressor())
    search = PrequentialSearch(pipeline, {"vawregressor__alpha": [0.1, 1e6]}).fit(X, y)
    alone = clone(pipeline).set_params(vawregressor__alpha=0.1)
    loss = np.mean((alone.prequential_predict(X, y) - y) ** 2)
    assert search.best_loss_ == pytest.approx(loss)
    np.testing.assert_allclose(search.predict(X), alone.predict(X))


def test_a_search_over_pipelines_with_a_warmup():
    X, y = stream()
    pipeline = make_streaming_pipeline(PCA(2), VAWRegressor(), warmup=30)
    grid = {"pca__n_components": [1, 2], "vawregressor__alpha": [0.1, 1.0], "warmup": [30, 40]}
    search = PrequentialSearch(pipeline, grid).fit(X[:80], y[:80]).partial_fit(X[80:], y[80:])
    for k in (0, 3, 7):
        alone = clone(pipeline).set_params(**search.results_["params"][k])
        loss = np.mean((alone.prequential_predict(X, y) - y) ** 2)
        assert search.results_["mean_loss"][k] == pytest.approx(loss)
