"""scikit-learn's transformers as steps of our StreamingPipeline: they know the past only."""

from functools import partial

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from sklearn_okl import RunningMinMaxScaler, RunningStandardScaler, VAWRegressor
from sklearn_okl import StreamingPipeline as Streaming
from sklearn_okl import make_streaming_pipeline as make
from tests.clients.examples import NAMES, fourier, regression, streamed
from tests.clients.expect import client, each, near, refused, same

does = client("scikit-learn")
WARM = 60


def _holds_stream(model, X, y, Z, asked):
    """Hold a pipeline against VAW on rows as they were transformed on the way."""
    alone = VAWRegressor()
    expected = alone.prequential_predict(Z, y)
    got = [model.prequential_predict(X[rows], y[rows]) for rows in (slice(0, 70), slice(70, None))]
    near(np.concatenate(got), expected, rtol=1e-6)
    near(model.predict(X), alone.predict(asked), "forecasts by predict", rtol=1e-6)


@does("StandardScaler and PolynomialFeatures in StreamingPipeline: row by row by hand")
def test_foreign_steps():
    X, y = regression()
    scaler, powers = StandardScaler(), PolynomialFeatures()
    Z = powers.fit_transform(streamed(scaler, X))
    model = make(StandardScaler(), PolynomialFeatures(), VAWRegressor())
    _holds_stream(model, X, y, Z, powers.transform(scaler.transform(X)))


@does("ColumnTransformer in StreamingPipeline: row by row by hand")
def test_columns():
    X, y = regression()
    ours, scaler, mapped = RunningStandardScaler(), StandardScaler(), fourier()
    Z = np.hstack([streamed(ours, X[:, :1]), streamed(scaler, X[:, 1:2]), mapped.fit_transform(X)])
    parts = [
        ("ours", RunningStandardScaler(), [0]),
        ("theirs", StandardScaler(), [1]),
        ("map", fourier(), [0, 1, 2]),
    ]
    asked = [ours.transform(X[:, :1]), scaler.transform(X[:, 1:2]), mapped.transform(X)]
    _holds_stream(make(ColumnTransformer(parts), VAWRegressor()), X, y, Z, np.hstack(asked))


@does("FeatureUnion in StreamingPipeline: row by row by hand")
def test_union():
    X, y = regression()
    ours, theirs = RunningMinMaxScaler(), StandardScaler()
    Z = np.hstack([streamed(ours, X), streamed(theirs, X)])
    parts = [("ours", RunningMinMaxScaler()), ("theirs", StandardScaler())]
    asked = np.hstack([ours.transform(X), theirs.transform(X)])
    _holds_stream(make(FeatureUnion(parts), VAWRegressor()), X, y, Z, asked)


@does("PCA or OneHotEncoder that one row would teach: refused by the name of the step")
def test_taught_by_one_row():
    X, y = regression()
    encoder = ColumnTransformer([("encode", OneHotEncoder(sparse_output=False), [0])])
    for step in (PCA(2), encoder):
        for verb in ("fit", "partial_fit", "prequential_predict"):
            model = Streaming([("chosen", step), ("vaw", VAWRegressor())])
            refused(partial(getattr(model, verb), X, y), verb, says="chosen")


@does("PCA in StreamingPipeline with update='batch': taught by the first batch, by hand")
def test_taught_by_a_batch():
    X, y = regression()
    pca = PCA(2).fit(X[:70])
    Z = pca.transform(X)
    _holds_stream(make(PCA(2), VAWRegressor(), update="batch"), X, y, Z, Z)


@does("PCA in StreamingPipeline with warmup: taught by the first rows, by hand")
def test_taught_by_a_warm_up():
    X, y = regression()
    model = Streaming([("pca", PCA(2)), ("vaw", VAWRegressor())], warmup=WARM)
    got = model.prequential_predict(X, y)
    means = np.cumsum(y)[: WARM - 1] / np.arange(1, WARM)
    near(got[1:WARM], means, "means on the way")
    pca, alone = PCA(2).fit(X[:WARM]), VAWRegressor()
    expected = alone.prequential_predict(pca.transform(X), y)
    near(got[WARM:], expected[WARM:], rtol=1e-6)
    near(model.predict(X), alone.predict(pca.transform(X)), "forecasts by predict", rtol=1e-6)


@does("FrozenEstimator alone and in StreamingPipeline: never taught", "sklearn.frozen")
def test_frozen():
    from sklearn.frozen import FrozenEstimator

    X, y = regression()
    model = VAWRegressor().fit(X[:90], y[:90])
    expected = model.predict(X)
    same(FrozenEstimator(model).fit(X[90:], y[90:]).predict(X), expected)
    for transformer in (StandardScaler(), RunningStandardScaler(), PCA(2)):
        transformer.fit(5.0 + 3.0 * X[:90])
        Z = transformer.transform(X)
        _holds_stream(make(FrozenEstimator(transformer), VAWRegressor()), X, y, Z, Z)
        same(transformer.transform(X), Z, "rows by the frozen transformer afterwards")


def _with_output(library, frame):
    def check(scaler):
        X, y = regression()
        model = make(scaler, fourier(), VAWRegressor()).set_output(transform=library)
        plain = make(scaler, fourier(), VAWRegressor())
        for rows in (slice(0, 70), slice(70, None)):
            got = model.prequential_predict(frame(X[rows]), y[rows])
            near(got, plain.prequential_predict(X[rows], y[rows]))
        near(model.predict(frame(X)), plain.predict(X), "forecasts by predict")

    each({"ours": RunningStandardScaler(), "theirs": StandardScaler()}, check)


@does("set_output(transform='pandas') of StreamingPipeline: the same forecasts", "pandas")
def test_pandas_inside():
    import pandas as pd

    _with_output("pandas", lambda X: pd.DataFrame(X, columns=NAMES))


@does("set_output(transform='polars') of StreamingPipeline: the same forecasts", "polars")
def test_polars_inside():
    import polars as pl

    _with_output("polars", lambda X: pl.DataFrame(X, schema=NAMES))
