"""Frames, nullable columns and labels, masked arrays: right forecasts or a refusal."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.utils import get_tags

from sklearn_okl import (
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RunningStandardScaler,
    VAWRegressor,
)
from sklearn_okl import make_streaming_pipeline as make
from sklearn_okl.evaluation import PrequentialSearch
from tests.clients.examples import (
    NAMES,
    classification,
    classifier,
    fourier,
    regression,
    regressors,
    streamed,
)
from tests.clients.expect import as_with, client, each, holds, near, refused, right_or_refused, same

ORDER = [2, 0, 1]  # of columns that were given other places
pandas = client("pandas", "pandas")
numpy = client("numpy")
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


def of_each_library(what, kinds=("",)):
    """Return a decorator that runs a test for frames of each library, and for models of kinds."""
    return pytest.mark.parametrize(
        ("library", "kind"),
        [
            pytest.param(library, kind, marks=client(library, library)(what.format(kind)))
            for library in LIBRARIES
            for kind in kinds
        ],
    )


@pytest.mark.long(every=2)
@of_each_library("named columns to {}: forecasts of arrays, names kept", KINDS)
def test_named_columns(library, kind):
    each(KINDS[kind](), partial(_forecasts_of_frames, LIBRARIES[library][0]))


@of_each_library("columns in another order to {}: refused", KINDS)
def test_other_order(library, kind):
    check = partial(_other_order_is_refused, partial(_reordered, library), LIBRARIES[library][0])
    each(KINDS[kind](), check)


@of_each_library("ColumnTransformer by name as first step: a loop by hand")
def test_columns_by_name(library, kind):
    _columns_by_name(library)


@pytest.mark.long(every=2)
@of_each_library("targets as a series: forecasts of arrays")
def test_targets(library, kind):
    each(every_kind(), partial(_targets, *LIBRARIES[library]))


@pytest.mark.long(every=2)
@of_each_library("labels as a series, text and booleans: forecasts and classes of arrays")
def test_labels(library, kind):
    X, text = classification()
    for given in (text, text == "yes"):
        each(classifiers(), partial(same_labels, X, given, LIBRARIES[library][1](given)))


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


# ---- what columns, targets and labels hold ----


def _as_numbers(change, model):
    X, y = regression()
    given = change(pandas_frame(X))
    expected = clone(model).fit(pandas_frame(given.to_numpy(dtype=float)), y)
    got = clone(model).fit(given, y).predict(given)
    near(got, expected.predict(given.astype(float)), rtol=1e-9)


NULLABLE = {
    "Float64": lambda frame: frame.astype("Float64"),
    "Int64": lambda frame: (10 * frame).round().astype("Int64"),
    "boolean": lambda frame: (frame > 0).astype("boolean"),
    "a mixture": lambda frame: frame.assign(
        b=(10 * frame["b"]).round().astype("Int64"), c=(frame["c"] > 0).astype("boolean")
    ),
}


@pytest.mark.long
@pandas("nullable columns: the forecasts of plain ones")
def test_nullable():
    each(NULLABLE, lambda change: each(every_kind(), partial(_as_numbers, change)))


def _with_missing(change, model):
    import pandas as pd

    X, y = regression()
    whole = change(pandas_frame(X))
    broken = whole.copy()
    broken.iloc[5, 1] = pd.NA
    if get_tags(model).input_tags.allow_nan:
        got = clone(model).fit(broken, y).predict(broken)
        plain = pandas_frame(broken.astype(float).to_numpy())
        near(got, clone(model).fit(plain, y).predict(plain), rtol=1e-9)
        return
    refused(lambda: clone(model).fit(broken, y), "fit", says="NaN")
    learned = clone(model).fit(whole, y)
    refused(lambda: learned.predict(broken), "predict", says="NaN")
    refused(lambda: learned.partial_fit(broken, y), "partial_fit", says="NaN")


@pytest.mark.long
@pandas("pd.NA in nullable columns: refused, or a gap to those who know gaps")
def test_missing():
    each(NULLABLE, lambda change: each(every_kind(), partial(_with_missing, change)))


@pandas("pd.NA in targets and labels: refused")
def test_missing_targets():
    import pandas as pd

    (X, y), labels = regression(), classification()[1]
    targets = pd.Series(y).astype("Float64")
    targets[5] = pd.NA

    def refuses(given, model):
        refused(lambda: clone(model).fit(X, given), "fit", says="NaN")

    forecasts_such_rows = OnlineKernelRegressor  # and learns the others
    strict = {k: v for k, v in every_kind().items() if not isinstance(v, forecasts_such_rows)}
    each(strict, partial(refuses, targets))
    booleans = pd.Series(labels == "yes").astype("boolean")
    booleans[5] = pd.NA
    each(classifiers(), partial(refuses, booleans))


@pandas("nullable targets: the forecasts of plain ones")
def test_nullable_targets():
    import pandas as pd

    X, y = regression()

    def check(model):
        for given in (pd.Series(y).astype("Float64"), pd.Series((9 * y).round()).astype("Int64")):
            plain = given.to_numpy(dtype=float)
            near(clone(model).fit(X, given).predict(X), clone(model).fit(X, plain).predict(X))

    each(every_kind(), check)


@pandas("categories of numbers: right or refused; of words: refused")
def test_categories():
    def check(model):
        X, y = regression()
        numbers = np.digitize(X, [-0.5, 0.5])
        if hasattr(model, "categorical_features"):
            words = pandas_frame(np.array(["low", "middle", "high"])[numbers])
            fits = [clone(model).fit(words.astype(kind), y) for kind in ("category", object)]
            same(fits[0].predict(words), fits[1].predict(words.astype("category")), "forecasts")
            return
        given = pandas_frame(numbers).astype("category")
        expected = clone(model).fit(pandas_frame(numbers), y).predict(pandas_frame(numbers))
        right_or_refused(lambda: clone(model).fit(given, y).predict(given), expected, "numbers")
        for kind in ("category", object):
            words = pandas_frame(np.array(["low", "middle", "high"])[numbers]).astype(kind)
            refused(partial(clone(model).fit, words, y), f"words, {kind}", says="could not convert")

    each(every_kind(), check)


@pandas("an index of times, with gaps and out of order: the forecasts of arrays")
def test_times():
    import pandas as pd

    X, y = regression()
    index = pd.date_range("2026-01-01", periods=2 * len(y), freq="h")[::-2]

    def check(model):
        frame, series = pandas_frame(X).set_axis(index), pd.Series(y, index=index)
        got = clone(model).prequential_predict(frame, series)
        holds(type(got) is np.ndarray, f"forecasts are a {type(got).__name__}")
        near(got, clone(model).prequential_predict(X, y), rtol=1e-9)

    each(every_kind(), check)


@pytest.mark.long
@pandas("nullable labels and categories of words: the classes and forecasts of plain ones")
def test_nullable_labels():
    import pandas as pd

    X, text = classification()
    plain = text == "yes"
    given = {
        "boolean": (plain, pd.Series(plain).astype("boolean")),
        "Int64": (plain.astype(int), pd.Series(plain.astype(int)).astype("Int64")),
        "string": (text, pd.Series(text).astype("string")),
        "categories of words": (text, pd.Series(text).astype("category")),
    }
    each(given, lambda pair: each(classifiers(), partial(same_labels, X, *pair)))


@pandas("categories of booleans as labels: booleans as classes")
def test_boolean_categories():
    import pandas as pd

    X, text = classification()
    given = pd.Series(text == "yes").astype("category")

    def check(model):
        classes = clone(model).fit(X, given).classes_
        holds(np.asarray(classes).dtype.kind == "b", f"classes_ are {classes}")

    theirs = SGDClassifier(random_state=0)
    each(classifiers(), lambda model: as_with(theirs, check, model))


@numpy("masked arrays: refused where the mask hides something, right where not")
def test_masked():
    X, y = regression()
    hidden, targets = np.ma.masked_array(X, mask=X > 0.9), np.ma.masked_array(y, mask=y > 1.2)

    def check(model):
        refused(lambda: clone(model).fit(hidden, y), "fit, rows", says="mask")
        refused(lambda: clone(model).fit(X, targets), "fit, targets", says="mask")
        learned = clone(model).fit(X, y)
        refused(lambda: learned.predict(hidden), "predict", says="mask")
        refused(lambda: learned.partial_fit(hidden, y), "partial_fit", says="mask")
        bare = np.ma.masked_array(X, mask=False)
        right_or_refused(
            lambda: clone(model).fit(bare, y).predict(bare), learned.predict(X), "nothing hidden"
        )

    each(every_kind(), check)
