"""The imputer: by definition, by the cut, against scikit-learn's, and what it refuses."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.impute import SimpleImputer

from sklearn_okl import RunningImputer
from tests.oracles.columns import imputed

IMPUTERS = [
    RunningImputer(),
    RunningImputer(add_indicator=True),
    RunningImputer("last"),
    RunningImputer("last", add_indicator=True),
]
CUTS = ((0, 1), (1, 3), (3, 4), (4, 40), (40, 60))


def stream(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * 10.0 ** rng.integers(-3, 4, size=4) + [0.0, 1e6, -3.0, 1.0]
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:11, 1] = np.nan  # nothing known for long
    X[:, 3] = np.nan  # nothing known at all
    X[0, 0], X[0, 2] = np.nan, 5.0
    return X


@pytest.mark.long(every=4)
@pytest.mark.parametrize("imputer", IMPUTERS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_definition_and_cut(imputer, seed):
    X = stream(seed=seed)
    expected = imputed(X, imputer.strategy, imputer.add_indicator)
    Z = clone(imputer).prequential_transform(X)
    assert_allclose(Z, expected, rtol=1e-12)
    model, parts = clone(imputer), []
    for low, high in CUTS:
        parts.append(model.prequential_transform(X[low:high]))
        model = pickle.loads(pickle.dumps(model))
    assert_array_equal(np.vstack(parts), Z)  # to the last bit
    assert model.n_samples_seen_ == 60
    model = clone(imputer).fit(X[:1])
    for t in range(1, 60):
        before = pickle.dumps(model)
        assert_array_equal(model.transform(X[t : t + 1]), Z[t : t + 1])
        assert pickle.dumps(model) == before
        model.partial_fit(X[t : t + 1])


@pytest.mark.parametrize("imputer", IMPUTERS, ids=str)
@pytest.mark.parametrize("delay", [1, 4, 70])
def test_late_labels(imputer, delay):
    X, model = stream(), clone(imputer)
    parts = [model._prequential_transform(X[low:high], None, delay) for low, high in CUTS]
    expected = imputed(X, imputer.strategy, imputer.add_indicator, delay)
    assert_allclose(np.vstack(parts), expected, rtol=1e-12)


def test_the_means_are_those_of_scikit_learn():
    X = stream(500)[:, :3]
    mine, theirs = RunningImputer().fit(X), SimpleImputer().fit(X)
    assert_allclose(mine.statistics_, theirs.statistics_, rtol=1e-12)
    assert_allclose(mine.transform(X), theirs.transform(X), rtol=1e-12)
    last = [column[~np.isnan(column)][-1] for column in X.T]
    assert_array_equal(RunningImputer("last").fit(X).statistics_, last)
    large = RunningImputer().fit(np.random.default_rng(0).normal(size=(9999, 1)) + 1e12)
    assert large.statistics_[0] == pytest.approx(1e12, abs=0.1)


def test_absurd_numbers_do_no_harm():
    for imputer in IMPUTERS:
        model = clone(imputer).fit([[1e308], [1e308], [-1e308], [1.7e308], [np.nan]])
        assert np.isfinite(model.statistics_).all()
        assert np.isfinite(model.transform([[np.nan], [1e308]])).all()
        with pytest.raises(ValueError, match="infinity"):
            model.partial_fit([[np.inf]])


def test_gaps_in_any_container():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    data = {"a": [1, None, 3, None], "b": [True, False, None, None], "c": [None] * 4}
    X = np.array(list(data.values()), dtype=float).T
    expected = RunningImputer(add_indicator=True).prequential_transform(X)
    containers = [
        X.astype(object),
        X.tolist(),
        list(map(list, zip(*data.values(), strict=True))),
        pd.DataFrame(data),
        pd.DataFrame(data, dtype=object),
        pd.DataFrame(data).astype({"a": "Int64", "b": "boolean"}),
        pd.DataFrame(data).astype({"a": "Int64", "b": "boolean"}).astype(object),  # of pandas' NA
        pl.DataFrame(data),
        pl.DataFrame(data).to_arrow(),
    ]
    for rows in containers:
        assert_array_equal(RunningImputer(add_indicator=True).prequential_transform(rows), expected)
        singles = RunningImputer(add_indicator=True)
        one = rows.iloc if hasattr(rows, "iloc") else rows
        parts = [singles.prequential_transform(one[t : t + 1]) for t in range(4)]
        assert_array_equal(np.vstack(parts), expected)


def test_names_and_types():
    pd = pytest.importorskip("pandas")
    X = stream()
    frame = pd.DataFrame(X, columns=list("abcd"))
    imputer = RunningImputer().fit(frame)
    assert imputer.get_feature_names_out().tolist() == list("abcd")
    imputer = RunningImputer(add_indicator=True).fit(frame)
    names = [*"abcd", *(f"missingindicator_{name}" for name in "abcd")]
    assert imputer.get_feature_names_out().tolist() == names
    Z = clone(imputer).set_output(transform="pandas").prequential_transform(frame)
    assert Z.columns.tolist() == names
    for rows in (X.astype(np.float32), frame.astype(np.float32)):
        assert np.asarray(clone(imputer).prequential_transform(rows)).dtype == np.float32


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_what_is_refused_leaves_it_as_it_was():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": [2.0, 3.0]})
    imputer = RunningImputer().fit(frame)
    before = pickle.dumps(imputer)
    dates = pd.date_range("2024", periods=2)
    for bad, error, message in [
        (frame.assign(b=["u", "v"]), ValueError, "'b' holds no numbers.*'u'"),
        (frame.assign(b=pd.Categorical(["u", "v"])), ValueError, "'b' holds no numbers.*'u'"),
        (frame.assign(b=dates), TypeError, "'b' holds no numbers.*datetime64"),
        (frame.assign(b=dates - dates[0]), TypeError, r"'b' holds no numbers.*total_seconds\(\)"),
        (
            frame.assign(b=pd.PeriodIndex(dates, freq="D")),
            TypeError,
            r"'b' holds.*to_timestamp\(\)",
        ),
        (frame.assign(b=[{}, {}]), TypeError, "'b' holds no numbers.*dict"),
        (frame.assign(b=np.inf), ValueError, "infinity"),
        (frame.to_numpy().astype(str).astype(object) + "u", ValueError, "holds no numbers"),
        (frame[["b", "a"]], ValueError, "feature names"),
        (frame[:0], ValueError, "0 sample"),
        (frame.to_numpy()[:, :1], ValueError, "1 features"),
        ([1.0, 2.0], ValueError, "Expected 2D array"),
    ]:
        for verb in (imputer.partial_fit, imputer.prequential_transform, imputer.transform):
            with pytest.raises(error, match=message):
                verb(bad)
        assert pickle.dumps(imputer) == before
    for name, value in {"strategy": "last", "add_indicator": True}.items():
        changed = clone(imputer).fit(frame).set_params(**{name: value})
        for verb in (changed.partial_fit, changed.transform):
            with pytest.raises(ValueError, match=rf"\['{name}'\] .* cannot change in mid-stream"):
                verb(frame)
        assert changed.get_feature_names_out().tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="strategy"):
        RunningImputer("median").fit(frame)
