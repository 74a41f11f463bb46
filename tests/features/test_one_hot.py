"""The encoder of categories: by definition, by the cut, by value in any container, in pipelines."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer

from sklearn_okl import (
    RunningImputer,
    RunningOneHotEncoder,
    RunningStandardScaler,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)
from tests.oracles.columns import one_hot

WORDS = np.array(["tau", "mu", "pi", "rho", "eta", "nu", "xi", "phi"], dtype=object)


def stream(n=60, seed=0):
    """Return columns of text, numbers and booleans with gaps, the frequent values first."""
    rng = np.random.default_rng(seed)
    text = WORDS[np.minimum(rng.geometric(0.3, size=n), 8) - 1]
    text[rng.random(n) < 0.1] = None
    counts = rng.poisson(2.0, size=n).astype(float)
    counts[:7] = np.nan  # of unknown kind until the first value
    flags = (rng.random(n) < 0.5).astype(object)
    flags[rng.random(n) < 0.2] = None
    return [list(text), list(counts), list(flags)]


def rows_of(columns):
    return np.array(columns, dtype=object).T


CUTS = ((0, 1), (1, 3), (3, 4), (4, 40), (40, 60))


@pytest.mark.long(every=3)
@pytest.mark.parametrize(("max_categories", "n_hashed"), [(32, 4), (3, 2), (1, 1), (2, 0)])
@pytest.mark.parametrize("seed", range(3))
def test_definition_and_cut(seed, max_categories, n_hashed):
    columns = stream(seed=seed)
    X, expected = rows_of(columns), one_hot(columns, max_categories, n_hashed)
    encoder = RunningOneHotEncoder(max_categories, n_hashed=n_hashed)
    assert_array_equal(clone(encoder).prequential_transform(X), expected)
    model, parts = clone(encoder), []
    for low, high in CUTS:
        parts.append(model.prequential_transform(X[low:high]))
        model = pickle.loads(pickle.dumps(model))
    assert_array_equal(np.vstack(parts), expected)
    assert model.n_samples_seen_ == 60
    model = clone(encoder).fit(X[:1])
    for t in range(1, 60):
        before = pickle.dumps(model)
        assert_array_equal(model.transform(X[t : t + 1]), expected[t : t + 1])
        assert pickle.dumps(model) == before
        model.partial_fit(X[t : t + 1])


@pytest.mark.parametrize("delay", [1, 4, 70])
def test_late_labels(delay):
    columns = stream()
    X, expected, encoder = rows_of(columns), one_hot(columns, 3, 2, delay), RunningOneHotEncoder(3)
    encoder.set_params(n_hashed=2)
    parts = [encoder._prequential_transform(X[low:high], None, delay) for low, high in CUTS]
    assert_array_equal(np.vstack(parts), expected)


def frames(columns):
    """Yield rows in containers that hold the same values as other types."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    text, counts, flags = columns
    named = {"text": text, "counts": counts, "flags": flags}
    yield pd.DataFrame(named)
    yield pd.DataFrame(named, dtype=object)
    types = {"text": "category", "counts": "Int64", "flags": "boolean"}
    yield pd.DataFrame(named).astype(types)
    yield pd.DataFrame(named).astype({"text": "string", "counts": "category", "flags": "category"})
    gaps = {"counts": [None if np.isnan(v) else int(v) for v in counts]}
    yield pl.DataFrame(named | gaps, strict=False)
    yield pl.DataFrame(named | gaps, schema_overrides={"text": pl.Categorical}, strict=False)
    yield pl.DataFrame(named | gaps, strict=False).to_arrow()


def part(frame, low, high):
    return frame.iloc[low:high] if hasattr(frame, "iloc") else frame[low:high]


def test_values_are_matched_whatever_holds_them():
    columns = stream()
    expected = one_hot(columns, 4, 3)
    mixed, cuts = RunningOneHotEncoder(4, n_hashed=3), [*CUTS[:3], (4, 20), (20, 40), (40, 60)]
    containers = list(frames(columns))
    for frame in containers:
        encoder = RunningOneHotEncoder(4, n_hashed=3)
        parts = [encoder.prequential_transform(part(frame, *cut)) for cut in CUTS]
        assert_array_equal(np.vstack(parts), expected)
    # each chunk in another one: codes and types differ, values do not
    chosen = [containers[i % len(containers)] for i in range(len(cuts))]
    parts = [mixed.prequential_transform(part(f, *c)) for f, c in zip(chosen, cuts, strict=True)]
    assert_array_equal(np.vstack(parts), expected)
    # categories of a chunk in another order, some of them unused
    pd = pytest.importorskip("pandas")
    encoder = RunningOneHotEncoder(4).fit(pd.DataFrame({"a": pd.Categorical(["u", "v"])}))
    later = pd.DataFrame({"a": pd.Categorical(["v", "u"], categories=["w", "v", "u"])})
    assert_array_equal(encoder.transform(later)[:, :2], [[0, 1], [1, 0]])
    # text that looks like a number stays text, also beside numbers in a list
    encoder = RunningOneHotEncoder(2).fit([["1", 1]])
    assert [c.tolist() for c in encoder.categories_] == [["1"], [1.0]]


def test_equal_numbers_are_one_category():
    values = [1, True, 1.0, np.float32(1), np.bool_(True), -0.0, 0, 2**70, float(2**70), np.inf]
    encoder = RunningOneHotEncoder(2, n_hashed=50).fit(np.array([values], dtype=object).T)
    assert encoder.categories_[0].tolist() == [1.0, 0.0]
    Z = encoder.transform(np.array([values], dtype=object).T)
    assert (Z[:5, 0] == 1).all()
    assert (Z[5:7, 1] == 1).all()
    assert_array_equal(Z[7], Z[8])  # their hash is one as well
    large = np.array([[2**60], [2**60 + 1]])  # one float for both
    assert len(RunningOneHotEncoder().fit(large).categories_[0]) == 2


def test_attributes_and_names():
    pd = pytest.importorskip("pandas")
    columns = stream()
    frame = pd.DataFrame(dict(zip(["text", "counts", "flags"], columns, strict=True)))
    encoder = RunningOneHotEncoder(2, n_hashed=1).fit(frame)
    known = [values.tolist() for values in encoder.categories_]
    assert known[1] == [None, next(v for v in columns[1] if v == v)]
    assert {len(values) for values in known} == {2}
    names = ["text_0", "text_1", "text_hashed0", "counts_0", "counts_1", "counts_hashed0"]
    assert encoder.get_feature_names_out().tolist()[:6] == names
    Z = clone(encoder).set_output(transform="pandas").prequential_transform(frame)
    assert Z.columns.tolist() == encoder.get_feature_names_out().tolist()
    assert_array_equal(Z, one_hot(columns, 2, 1))
    pl = pytest.importorskip("polars")
    Z = encoder.set_output(transform="polars").transform(pl.DataFrame({"text": WORDS}).select(
        "text", counts=pl.lit(1.0), flags=pl.lit(None)))  # fmt: skip
    assert isinstance(Z, pl.DataFrame)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_what_is_refused_leaves_it_as_it_was():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": ["u", "v", None], "b": [1.0, 2.0, 3.0]})
    encoder = RunningOneHotEncoder(4).fit(frame)
    before = pickle.dumps(encoder)
    dates = pd.date_range("2024", periods=3)
    text, numbers = "was of text, and now it is of numbers", "was of numbers, and now it is of text"
    for bad, error, message in [
        (frame.assign(a=[1, 2, 3]), ValueError, "'a' " + text),
        (frame.assign(b=["1", "2", "3"]), ValueError, "'b' " + numbers),
        (frame.assign(b=[1.0, 2.0, "z"]), ValueError, "'b' " + numbers),
        (frame.assign(a=dates), TypeError, "'a' of X holds values of type"),
        (frame.assign(a=[["u"], ["v"], []]), TypeError, "'a' of X holds values of type list"),
        (frame.assign(a=dates - dates[0]), TypeError, "'a' of X holds values of type timedelta64"),
        (np.array([["u", np.timedelta64(1)]] * 3, object), TypeError, "'b' of X.* timedelta64"),
        (frame.assign(a=pd.cut([1, 2, 3], 2)), TypeError, "'a' of X holds values of type Interval"),
        (frame.assign(a=[b"u", b"v", b"w"]), TypeError, "'a' of X holds values of type bytes"),
        (frame[["b", "a"]], ValueError, "feature names"),
        (frame.assign(c=1), ValueError, "feature names"),
        (frame[:0], ValueError, "0 sample"),
        (frame.to_numpy()[:, :1], ValueError, "1 features"),
        (["u", "v"], ValueError, "Expected 2D array"),
    ]:
        for verb in (encoder.partial_fit, encoder.prequential_transform, encoder.transform):
            with pytest.raises(error, match=message):
                verb(bad)
        assert pickle.dumps(encoder) == before
    for name in ("max_categories", "n_hashed"):
        changed = clone(encoder).fit(frame).set_params(**{name: 3})
        for verb in (changed.partial_fit, changed.transform):
            with pytest.raises(ValueError, match=rf"\['{name}'\] .* cannot change in mid-stream"):
                verb(frame)
        assert len(changed.get_feature_names_out()) == 2 * (4 + 4)
        changed.fit(frame)
    with pytest.raises(ValueError, match="max_categories"):
        RunningOneHotEncoder(0).fit(frame)
    # a first batch that is refused does not start it
    fresh = RunningOneHotEncoder()
    with pytest.raises(ValueError, match="of text"):
        fresh.partial_fit([["a"], [1]])
    assert not hasattr(fresh, "n_features_in_")


def test_files_hold_categories_of_all_kinds(tmp_path):
    pytest.importorskip("skops")
    rows = [["é\ud800", 2**70, None], ["1", np.inf, "x"], [None, 0.1, None]]
    encoder = RunningOneHotEncoder(2).fit(rows[:2])
    save(encoder, tmp_path / "encoder.skops")
    resumed = load(tmp_path / "encoder.skops")
    for model in (encoder, resumed):
        model.partial_fit(rows[2:])
    assert_array_equal(resumed.transform(rows), encoder.transform(rows))
    assert resumed.categories_[1].tolist() == [2**70, np.inf]


def test_the_state_does_not_grow():
    encoder, sizes = RunningOneHotEncoder(8), set()
    for t in range(0, 4000, 100):
        encoder.partial_fit(
            np.char.add("value", np.arange(t + 1000, t + 1100).astype(str))[:, None]
        )
        sizes.add(len(pickle.dumps(encoder)))
    assert max(sizes) - min(sizes) <= 2  # the count of rows takes another byte
    Z = encoder.transform([[f"new{k}"] for k in range(400)])
    assert (Z[:, :8] == 0).all()
    assert_array_equal(Z.sum(axis=1), 1.0)
    assert Z[:, 8:].sum(axis=0).min() > 50  # the hash spreads them


def columns_in(package, n=80):
    rng = np.random.default_rng(3)
    kind, flag, x = rng.choice(WORDS[:4], n), rng.random(n) < 0.5, rng.normal(size=n)
    y = 3.0 * (kind == "mu") - 2.0 * (kind == "pi") + 1.0 * flag + x
    gap = rng.random(n) < 0.2
    data = {"kind": list(kind), "flag": list(flag), "x": np.where(gap, np.nan, x)}
    if package == "pandas":
        frame = pytest.importorskip("pandas").DataFrame(data).astype({"kind": "category"})
    else:
        frame = pytest.importorskip("polars").DataFrame(data)
    return frame, y


@pytest.mark.long(every=2)
@pytest.mark.parametrize("package", ["pandas", "polars"])
@pytest.mark.parametrize("delay", [0, 3])
def test_in_a_column_transformer_row_by_row(package, delay):
    frame, y = columns_in(package)
    fills = make_streaming_pipeline(
        ColumnTransformer(
            [
                ("hot", RunningOneHotEncoder(6), ["kind", "flag"]),
                ("fill", RunningImputer(add_indicator=True), ["x"]),
            ]
        ),
        RunningStandardScaler(),
        VAWRegressor() if delay == 0 else LateVAW(delay),
    )
    whole = clone(fills).prequential_predict(frame, y)
    single = clone(fills)
    rows = [single.prequential_predict(part(frame, t, t + 1), y[t : t + 1]) for t in range(len(y))]
    np.testing.assert_allclose(np.concatenate(rows), whole, rtol=1e-9, atol=1e-9)
    if delay == 0:
        assert np.mean((whole - y)[40:] ** 2) < 0.5 * np.var(y)


class LateVAW(VAWRegressor):
    """Learns as if its labels came late; the rows are what matters."""

    def __init__(self, label_delay=0):
        super().__init__()
        self.label_delay = label_delay


def test_long_text_is_remembered_by_its_hash():
    rng = np.random.default_rng(0)
    short = [f"place {k}" for k in rng.integers(0, 60, 200)]
    long = [10_000 * "x" + text for text in short]
    known, encoder = RunningOneHotEncoder(), RunningOneHotEncoder()
    expected = known.prequential_transform([[text] for text in short])
    Z = encoder.prequential_transform([[text] for text in long])
    assert_array_equal(Z[:, :32], expected[:, :32])  # of those that have slots of their own
    assert_array_equal(encoder.transform([[long[0]]]), known.transform([[short[0]]]))
    assert len(pickle.dumps(encoder)) < 10_000
    assert known.categories_[0][0] == short[0]
    assert len(encoder.categories_[0][0]) == 16


def test_an_encoder_that_remembers_long_text_knows_it_again():
    long = [[100 * text] for text in "abc"]
    encoder = RunningOneHotEncoder().fit(long)
    expected = encoder.transform(long)
    encoder._state["categories"] = [[text for (text,) in long]]  # as earlier revisions kept it
    assert_array_equal(encoder.transform(long), expected)
    assert_array_equal(encoder.partial_fit(long).transform(long), expected)
