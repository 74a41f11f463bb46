"""What hands rows on to other people's estimators: frames arrive as they came."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_okl import (
    ExpertsClassifier,
    ExpertsRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RefitClassifier,
    RefitRegressor,
    StreamingTransformedTargetRegressor,
)

TYPES = {"number": "float64", "kind": "category", "text": "object"}


def _text(value):
    return value if isinstance(value, str) else "missing"


class Spy(BaseEstimator):
    """Refuse whatever is no frame of these types; forecast by text, learnt as means."""

    def fit(self, X, y):
        vars(self).pop("means_", None)
        return self.partial_fit(X, y)

    def _read(self, X):
        assert {name: str(kind) for name, kind in X.dtypes.items()} == TYPES
        return [(_text(a), _text(b)) for a, b in zip(X["text"], X["kind"], strict=True)]

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.array([0, 1])
        self.means_ = dict(getattr(self, "means_", {}))
        for key, target in zip(self._read(X), y, strict=True):
            total, n = self.means_.get(key, (0.0, 0))
            self.means_[key] = total + target, n + 1
        return self

    def _mean(self, X):
        known = [self.means_.get(key, (0.5, 1)) for key in self._read(X)]
        return np.array([total / n for total, n in known])


class SpyRegressor(RegressorMixin, Spy):
    def predict(self, X):
        return self._mean(X)


class SpyClassifier(ClassifierMixin, Spy):
    def predict_proba(self, X):
        p = self._mean(X)
        return np.c_[1 - p, p]

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def stream(n=90):
    rng = np.random.default_rng(n)
    words, kinds = rng.integers(3, size=n), rng.integers(2, size=n)
    X = pd.DataFrame(
        {
            "number": np.where(rng.uniform(size=n) < 0.1, np.nan, rng.normal(size=n)),
            "kind": pd.Categorical(np.array(["on", "off"])[kinds]),
            "text": np.array(["ash", "birch", "cedar"], dtype=object)[words],
        }
    ).astype({"text": object})
    X.loc[40, "text"] = X.loc[41, "kind"] = None
    return X, (words + kinds > 1).astype(float)


REGRESSORS = [
    RefitRegressor(SpyRegressor(), growth=0.5),
    RefitRegressor(SpyRegressor(), growth=0.5, window=40, label_delay=3, fit_delay=2),
    ExpertsRegressor([("spy", SpyRegressor()), ("refit", RefitRegressor(SpyRegressor()))]),
    ExpertsRegressor([("spy", SpyRegressor())], label_delay=3),
    ExpertsRegressor([("kernels", OnlineKernelRegressor(budget="fast", random_state=0))]),
    RefitRegressor(HistGradientBoostingRegressor(categorical_features="from_dtype", max_iter=5)),
]
REGRESSORS[-1].set_params(growth=1.0)
REGRESSORS.append(StreamingTransformedTargetRegressor(RefitRegressor(SpyRegressor(), growth=0.5)))
CLASSIFIERS = [
    RefitClassifier(SpyClassifier(), growth=0.5),
    ExpertsClassifier([("spy", SpyClassifier()), ("refit", RefitClassifier(SpyClassifier()))]),
    ExpertsClassifier([("spy", SpyClassifier())], label_delay=3),
    ExpertsClassifier([("kernels", OnlineKernelClassifier(budget="fast", random_state=0))]),
    RefitClassifier(HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=5)),
]
CLASSIFIERS[-1].set_params(growth=1.0)


@pytest.mark.long(every=4)
@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=lambda one: str(one)[:60])
def test_frames_arrive_as_they_came_however_the_stream_is_cut(model):
    X, y = stream()
    X = X if "Spy" in str(model) else X.drop(columns="text")
    y = y.astype(int) if hasattr(model, "predict_proba") else y
    before = X.copy()
    whole, cut, parts = clone(model), clone(model), []
    named = {"classes": [0, 1]} if hasattr(model, "predict_proba") else {}
    for rows in np.split(np.arange(len(y)), [1, 2, 17, 40, 41, 60]):
        parts.append(cut.prequential_predict(X.iloc[rows], y[rows], **named))
        cut, named = pickle.loads(pickle.dumps(cut)), {}
    assert_allclose(whole.prequential_predict(X, y), np.concatenate(parts), rtol=1e-8)
    ask = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    assert_allclose(getattr(whole, ask)(X), getattr(cut, ask)(X), rtol=1e-8)
    strange = X[:2].assign(kind=pd.Categorical(["never", "seen"]))
    assert np.isfinite(getattr(whole, ask)(strange)).all()
    pd.testing.assert_frame_equal(X, before)
    assert list(whole.feature_names_in_) == list(X.columns)


def test_a_refit_is_the_fit_of_the_frame():
    X, y = stream()
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["kind", "text"]), remainder="drop"
    )
    batch = make_pipeline(encoder, Ridge())
    model = RefitRegressor(batch, growth=100.0).fit(X, y)
    expected = clone(batch).fit(X[:30], y[:30]).predict(X)
    assert_allclose(model.predict(X), expected)


def test_polars_comes_as_polars():
    pl = pytest.importorskip("polars")
    X, y = stream()
    seen = []

    class Keeps(SpyRegressor):
        def _read(self, X):
            seen.append(X.schema)
            return [(_text(a), _text(b)) for a, b in zip(X["text"], X["kind"], strict=True)]

    frame = pl.from_pandas(X)
    model = RefitRegressor(Keeps(), growth=0.5).fit(frame, y)
    assert np.isfinite(model.predict(frame)).all()
    assert all(isinstance(one["kind"], pl.Categorical) for one in seen)
    assert all(one["text"] == pl.String for one in seen)


def test_gaps_in_arrays_are_handed_on_where_all_take_them():
    X, y = stream()
    gaps = X[["number"]].to_numpy()
    kernels = OnlineKernelRegressor(budget="fast", random_state=0)
    alone = clone(kernels).prequential_predict(gaps, y)
    mixed = ExpertsRegressor([("kernels", kernels)]).prequential_predict(gaps, y)
    assert_allclose(mixed, alone, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="contains NaN"):
        ExpertsRegressor([("kernels", kernels), ("ridge", RefitRegressor(Ridge()))]).fit(gaps, y)


def test_kinds_of_columns_cannot_change():
    X, y = stream()
    model = RefitRegressor(Ridge()).fit(X[["number"]].fillna(0.0).assign(kind=1.0), y)
    with pytest.raises(ValueError, match="had numbers only before"):
        model.partial_fit(X[["number", "kind"]], y)
    with pytest.raises(ValueError, match="feature names"):
        RefitRegressor(SpyRegressor()).fit(X, y).partial_fit(X[["number", "kind"]], y)
    times = pd.date_range("2024", periods=len(X), freq="h")
    with pytest.raises(TypeError, match="Column 't' of X holds dates"):
        RefitRegressor(SpyRegressor()).fit(X.assign(t=times), y)
    assert_array_equal(y, stream()[1])
