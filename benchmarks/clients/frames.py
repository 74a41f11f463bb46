"""Frames, nullable columns and labels, masked arrays: right forecasts or a refusal."""

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer

from sklearn_okl import OnlineKernelClassifier, RunningStandardScaler, VAWRegressor
from sklearn_okl import make_streaming_pipeline as make
from sklearn_okl.evaluation import PrequentialSearch

from .examples import NAMES, classification, classifier, fourier, regression, regressors, streamed
from .expect import each, holds, near, refused, right_or_refused, same
from .report import adding

LINES = []
ORDER = [2, 0, 1]  # of columns that were given other places
CALLS = (slice(0, 110), slice(110, None))


# ---- what frames are made of, and what they are given to ----


def pandas_frame(X):
    import pandas as pd

    return pd.DataFrame(X, columns=NAMES)


def _polars_frame(X):
    import polars as pl

    return pl.DataFrame(X, schema=NAMES)


def _pyarrow_table(X):
    import pyarrow as pa

    return pa.table(dict(zip(NAMES, X.T.copy(), strict=True)))


def _pandas_series(y):
    import pandas as pd

    return pd.Series(y, index=np.arange(len(y))[::-1])  # the order of rows counts, not the index


def _polars_series(y):
    import polars as pl

    return pl.Series(y)


def _pyarrow_array(y):
    import pyarrow as pa

    return pa.chunked_array([y[:50], y[50:]])


LIBRARIES = {
    "pandas": (pandas_frame, _pandas_series),
    "polars": (_polars_frame, _polars_series),
    "pyarrow": (_pyarrow_table, _pyarrow_array),
}


def _pipelines():
    return {
        "a scaler first": make(RunningStandardScaler(), VAWRegressor()),
        "a map first": make(fourier(), VAWRegressor()),
    }


def _searches():
    return {
        "of VAWRegressor": PrequentialSearch(VAWRegressor(), {"alpha": [0.1, 10.0]}),
        "of a pipeline": PrequentialSearch(
            make(RunningStandardScaler(), VAWRegressor()), {"vawregressor__alpha": [0.1, 10.0]}
        ),
    }


def _plain():
    return {name: model for name, model in regressors().items() if name != "StreamingPipeline"}


KINDS = {"estimators": _plain, "StreamingPipeline": _pipelines, "PrequentialSearch": _searches}


def every_kind():
    return {
        name if kind == "estimators" else f"{kind} {name}": model
        for kind, models in KINDS.items()
        for name, model in models().items()
    }


# ---- named columns ----


def _forecasts_of_frames(frame, model):
    """Hold forecasts, names and types against those of arrays, in two calls and asked again."""
    X, y = regression()
    arrays, framed = clone(model), clone(model)
    for rows in CALLS:
        got = framed.prequential_predict(frame(X[rows]), y[rows])
        near(got, arrays.prequential_predict(X[rows], y[rows]), rtol=1e-9)
        holds(type(got) is np.ndarray, f"forecasts are a {type(got).__name__}")
    got = framed.predict(frame(X))
    near(got, arrays.predict(X), "forecasts by predict", rtol=1e-9)
    holds(type(got) is np.ndarray, f"forecasts are a {type(got).__name__}")
    names = getattr(framed, "feature_names_in_", None)
    holds(names is not None, "no feature_names_in_")
    same(names, NAMES, "feature_names_in_")


def _other_order_is_refused(reordered, frame, model):
    X, y = regression()
    model = clone(model).fit(frame(X), y)
    other = reordered(X)
    before = model.predict(frame(X))
    refused(lambda: model.predict(other), "predict", says="names")
    for verb in ("partial_fit", "prequential_predict"):
        refused(partial(getattr(model, verb), other, y), verb, says="names")
    same(model.predict(frame(X)), before, "forecasts after a refusal")


def _reordered(library, X):
    names = [NAMES[place] for place in ORDER]
    frame = LIBRARIES[library][0](X)
    return frame.select(names) if library != "pandas" else frame[names]


def _targets(make_frame, make_series, model):
    X, y = regression()
    expected = clone(model).prequential_predict(X, y)
    near(clone(model).prequential_predict(make_frame(X), make_series(y)), expected, rtol=1e-9)
    near(clone(model).prequential_predict(X, make_series(y)), expected, "with an array", rtol=1e-9)


def _columns_by_name(library):
    """Hold a ColumnTransformer by name, as first step, against rows scaled one by one."""
    X, y = regression()
    frame, scaler = LIBRARIES[library][0], RunningStandardScaler()
    Z = streamed(scaler, X[:, :2])
    alone = VAWRegressor()
    expected = alone.prequential_predict(Z, y)
    model = make(ColumnTransformer([("scale", scaler, NAMES[:2])]), VAWRegressor())
    got = [model.prequential_predict(frame(X[rows]), y[rows]) for rows in CALLS]
    near(np.concatenate(got), expected, rtol=1e-6)
    asked = alone.predict(scaler.transform(X[:, :2]))
    near(model.predict(frame(X)), asked, "forecasts by predict", rtol=1e-6)
    other = partial(model.predict, _reordered(library, X))
    right_or_refused(other, model.predict(frame(X)), "columns in another order")


def _add_lines(library):
    does = adding(LINES, library, library)
    frame, series = LIBRARIES[library]
    for kind, models in KINDS.items():

        @does(f"named columns to {kind}: forecasts of arrays, names kept")
        def forecasts(models=models):
            each(models(), partial(_forecasts_of_frames, frame))

        @does(f"columns in another order to {kind}: refused")
        def other_order(models=models):
            each(models(), partial(_other_order_is_refused, partial(_reordered, library), frame))

    @does("ColumnTransformer by name as first step: a loop by hand")
    def by_name():
        _columns_by_name(library)

    @does("targets as a series: forecasts of arrays")
    def targets():
        each(every_kind(), partial(_targets, frame, series))

    @does("labels as a series, text and booleans: forecasts and classes of arrays")
    def labels():
        X, text = classification()
        for given in (text, text == "yes"):
            each(classifiers(), partial(same_labels, X, given, series(given)))


# ---- labels ----


def classifiers():
    return {
        "FOGDClassifier": classifier(),
        "OnlineKernelClassifier": OnlineKernelClassifier(budget="fast", random_state=0),
        "StreamingPipeline": make(RunningStandardScaler(), classifier()),
        "PrequentialSearch": PrequentialSearch(classifier(), {"eta0": [0.1, 1.0]}),
    }


def same_labels(X, expected, given, model):
    """Hold classes and forecasts of labels in some container against those of an array."""
    arrays = clone(model)
    forecasts = arrays.prequential_predict(X, expected, classes=np.unique(expected))
    for verb in ("fit", "prequential_predict"):
        options = {} if verb == "fit" else {"classes": np.unique(expected)}
        learning = clone(model)
        got = getattr(learning, verb)(X, given, **options)
        classes = np.asarray(learning.classes_)
        same(classes, np.unique(expected), "classes_")
        holds(
            (classes.dtype.kind == "b") == (expected.dtype.kind == "b"),
            f"classes_ of type {classes.dtype} for labels of type {expected.dtype}",
        )
        same(learning.predict(X), arrays.predict(X), "labels by predict")
        if verb == "prequential_predict":
            same(got, forecasts, "labels on the way")


for _library in LIBRARIES:
    _add_lines(_library)
