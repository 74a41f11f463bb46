"""What columns, targets and labels hold: right forecasts or a refusal."""

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from .examples import classification, regression
from .expect import as_with, each, holds, near, refused, right_or_refused
from .frames import classifiers, every_kind, pandas_frame, same_labels
from .report import adding

LINES = []
pandas = adding(LINES, "pandas", "pandas")
numpy = adding(LINES, "numpy")


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


@pandas("nullable columns: the forecasts of plain ones")
def nullable():
    each(NULLABLE, lambda change: each(every_kind(), partial(_as_numbers, change)))


def _with_missing(change, model):
    import pandas as pd

    X, y = regression()
    whole = change(pandas_frame(X))
    broken = whole.copy()
    broken.iloc[5, 1] = pd.NA
    refused(lambda: clone(model).fit(broken, y), "fit", says="NaN")
    learned = clone(model).fit(whole, y)
    refused(lambda: learned.predict(broken), "predict", says="NaN")
    refused(lambda: learned.partial_fit(broken, y), "partial_fit", says="NaN")


@pandas("pd.NA in nullable columns: refused")
def missing():
    each(NULLABLE, lambda change: each(every_kind(), partial(_with_missing, change)))


@pandas("pd.NA in targets and labels: refused")
def missing_targets():
    import pandas as pd

    (X, y), labels = regression(), classification()[1]
    targets = pd.Series(y).astype("Float64")
    targets[5] = pd.NA

    def refuses(given, model):
        refused(lambda: clone(model).fit(X, given), "fit", says="NaN")

    each(every_kind(), partial(refuses, targets))
    booleans = pd.Series(labels == "yes").astype("boolean")
    booleans[5] = pd.NA
    each(classifiers(), partial(refuses, booleans))


@pandas("nullable targets: the forecasts of plain ones")
def nullable_targets():
    import pandas as pd

    X, y = regression()

    def check(model):
        for given in (pd.Series(y).astype("Float64"), pd.Series((9 * y).round()).astype("Int64")):
            plain = given.to_numpy(dtype=float)
            near(clone(model).fit(X, given).predict(X), clone(model).fit(X, plain).predict(X))

    each(every_kind(), check)


@pandas("categories of numbers: right or refused; of words: refused")
def categories():
    def check(model):
        X, y = regression()
        numbers = np.digitize(X, [-0.5, 0.5])
        given = pandas_frame(numbers).astype("category")
        expected = clone(model).fit(pandas_frame(numbers), y).predict(pandas_frame(numbers))
        right_or_refused(lambda: clone(model).fit(given, y).predict(given), expected, "numbers")
        for kind in ("category", object):
            words = pandas_frame(np.array(["low", "middle", "high"])[numbers]).astype(kind)
            refused(partial(clone(model).fit, words, y), f"words, {kind}", says="could not convert")

    each(every_kind(), check)


@pandas("an index of times, with gaps and out of order: the forecasts of arrays")
def times():
    import pandas as pd

    X, y = regression()
    index = pd.date_range("2026-01-01", periods=2 * len(y), freq="h")[::-2]

    def check(model):
        frame, series = pandas_frame(X).set_axis(index), pd.Series(y, index=index)
        got = clone(model).prequential_predict(frame, series)
        holds(type(got) is np.ndarray, f"forecasts are a {type(got).__name__}")
        near(got, clone(model).prequential_predict(X, y), rtol=1e-9)

    each(every_kind(), check)


@pandas("nullable labels and categories of words: the classes and forecasts of plain ones")
def nullable_labels():
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
def boolean_categories():
    import pandas as pd

    X, text = classification()
    given = pd.Series(text == "yes").astype("category")

    def check(model):
        classes = clone(model).fit(X, given).classes_
        holds(np.asarray(classes).dtype.kind == "b", f"classes_ are {classes}")

    theirs = SGDClassifier(random_state=0)
    each(classifiers(), lambda model: as_with(theirs, check, model))


@numpy("masked arrays: refused where the mask hides something, right where not")
def masked():
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
