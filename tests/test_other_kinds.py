"""Rows and targets that are read as numbers though they are none: refused, with a sentence."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor

from sklearn_okl import (
    BOARegressor,
    CalendarFeatures,
    ExpertsRegressor,
    FourierFeatures,
    KernelVAWRegressor,
    KeyedRegressor,
    MultiKernelRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RakerClassifier,
    RefitClassifier,
    RefitRegressor,
    ResidualRegressor,
    RowRegressor,
    RunningOneHotEncoder,
    RunningStandardScaler,
    StackedBOARegressor,
    StreamingTransformedTargetRegressor,
    StronglyAdaptiveRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from tests.instances import label

MODELS = [
    BOARegressor(),
    ExpertsRegressor([("vaw", VAWRegressor())]),
    KernelVAWRegressor(),
    OnlineKernelRegressor(budget="fast"),
    StackedBOARegressor(),
    VAWRegressor(),
    make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
]
SCALED = MODELS[-1]
X = np.random.default_rng(0).normal(size=(12, 2))
TIMES = pd.date_range("2024-01-01", periods=12, freq="h")


@pytest.mark.parametrize("model", MODELS, ids=label)
@pytest.mark.parametrize(
    "y",
    [TIMES, TIMES.tz_localize("UTC"), TIMES.to_numpy(), TIMES - TIMES[0], pd.Series(TIMES)],
    ids=["index", "aware", "array", "durations", "series"],
)
@pytest.mark.parametrize("verb", ["fit", "partial_fit", "prequential_predict"])
def test_dates_are_no_targets(model, y, verb):
    with pytest.raises(TypeError, match="y holds dates or durations"):
        getattr(model, verb)(X, y)


@pytest.mark.parametrize(
    "model",
    [OnlineKernelClassifier(budget="fast"), RakerClassifier({"gamma": [1.0]}), RefitClassifier()],
    ids=label,
)
@pytest.mark.parametrize("y", [TIMES, TIMES.to_numpy(), pd.Series(TIMES - TIMES[0])])
def test_dates_are_no_labels(model, y):
    with pytest.raises(TypeError, match="y holds dates or durations, and labels are text"):
        model.partial_fit(X, y)


def rows(kind):
    if kind == "lazy":
        return pytest.importorskip("polars").DataFrame({"a": X[:, 0]}).lazy()
    if kind == "sparse":
        return pd.DataFrame({"a": pd.arrays.SparseArray(X[:, 0]), "b": 1.0})
    return pd.DataFrame(X, columns=["a", "a"] if kind == "twins" else ["a", 1])


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("lazy", r"X is a LazyFrame.*X\.collect\(\)"),
        ("sparse", "Column 'a' of X is sparse"),
        ("mixed", "The names of the columns of X are mixed"),
        ("twins", "2 columns of X have the name 'a': rename them"),
    ],
)
@pytest.mark.parametrize(
    "model",
    [*MODELS[:-1], RakerClassifier({"gamma": [1.0]}), RunningStandardScaler(), KeyedRegressor()],
    ids=label,
)
def test_frames_that_hold_no_rows_of_numbers(model, kind, named):
    y = np.arange(12) % 2 if isinstance(model, RakerClassifier) else X[:, 0]
    with pytest.raises(ValueError if kind == "twins" else TypeError, match=named):
        model.fit(rows(kind), y)


@pytest.mark.parametrize(("kind", "named"), [("lazy", "X is a LazyFrame"), ("mixed", "are mixed")])
@pytest.mark.parametrize("model", [MODELS[-1], RunningOneHotEncoder()], ids=label)
def test_frames_that_are_handed_on(model, kind, named):
    with pytest.raises(TypeError, match=named):
        model.fit(rows(kind), X[:, 0])


@pytest.mark.parametrize(
    "weights", ["a", "balanced", ["a"] * 12, {"a": 1.0}, pd.Series(["a"] * 12)]
)
@pytest.mark.parametrize("model", [OnlineKernelRegressor(budget="tiny"), VAWRegressor()], ids=label)
def test_words_are_no_weights(model, weights):
    with pytest.raises((TypeError, ValueError), match=r"sample_weight holds no weights: .*12 rows"):
        model.fit(X, X[:, 0], sample_weight=weights)


@pytest.mark.parametrize("kind", ["numbers", "words"])
@pytest.mark.parametrize("model", [MODELS[-1], RunningOneHotEncoder()], ids=label)
def test_a_name_of_two_columns_is_none(model, kind):
    twins = pd.DataFrame(X, columns=["a", "a"])
    twins = twins.astype(str) if kind == "words" else twins
    with pytest.raises(ValueError, match="have the name 'a': rename them"):
        model.fit(twins, X[:, 0])


WORDS = pd.DataFrame({"a": X[:, 0], "kind": ["low", "high"] * 6})


@pytest.mark.parametrize("package", ["pandas", "category", "polars", "array", "list"])
@pytest.mark.parametrize(
    "model",
    [
        *(one for one in MODELS if not isinstance(one, (ExpertsRegressor, OnlineKernelRegressor))),
        RakerClassifier({"gamma": [1.0]}),
        RunningStandardScaler(),
        FourierFeatures(),
        StronglyAdaptiveRegressor(),
        ResidualRegressor(),
        ExpertsRegressor([("vaw", VAWRegressor())]),
        KeyedRegressor(),
        KeyedRegressor(SCALED),
    ],
    ids=label,
)
def test_text_is_no_number_and_the_column_is_named(model, package):
    y = np.arange(12) % 2 if isinstance(model, RakerClassifier) else X[:, 0]
    if package == "polars":
        rows = pytest.importorskip("polars").from_pandas(WORDS)
    elif package == "category":
        rows = WORDS.astype({"kind": "category"})
    else:
        rows = {"pandas": WORDS, "array": WORDS.to_numpy(), "list": WORDS.to_numpy().tolist()}
        rows = rows[package]
    where = "X" if package in ("array", "list") else "Column 'kind' of X"
    with pytest.raises(ValueError, match=f"{where} holds text: could not convert.*OneHotEncoder"):
        model.fit(rows, y)


def test_text_is_no_target():
    with pytest.raises(ValueError, match=r"y holds text: could not convert.*a classifier"):
        VAWRegressor().fit(X, ["low", "high"] * 6)


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, list])
@pytest.mark.parametrize(
    "model",
    [
        BOARegressor(),
        MultiKernelRegressor(),
        ExpertsRegressor([("vaw", VAWRegressor())]),
        StreamingTransformedTargetRegressor(),
        StronglyAdaptiveRegressor(),
        RakerClassifier({"gamma": [1.0]}),
        OnlineKernelClassifier(budget="tiny"),
    ],
    ids=label,
)
def test_several_targets_are_refused_with_what_learns_them(model, container):
    wrapper = MultiOutputClassifier if is_classifier(model) else MultiOutputRegressor
    Y = (X > 0).astype(int) if is_classifier(model) else X
    for verb in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=f"y has 2 columns.*{wrapper.__name__}"):
            getattr(clone(model), verb)(X, container(Y.tolist()))
    assert wrapper(model).fit(X, Y).predict(X).shape == Y.shape  # as is said
    alone = clone(model).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="y has 2 columns"):
        alone.partial_fit(X, Y)


def test_columns_of_dates_are_no_numbers():
    pl = pytest.importorskip("polars")
    for frame in (pd.DataFrame({"t": TIMES}), pl.DataFrame({"t": TIMES.to_numpy()})):
        with pytest.raises(TypeError, match="Column 't' of X holds dates"):
            VAWRegressor().fit(frame, X[:, 0])
        OnlineKernelRegressor(budget="fast").fit(frame, X[:, 0])


@pytest.mark.parametrize("values", [TIMES, TIMES - TIMES[0]], ids=["dates", "durations"])
@pytest.mark.parametrize("kind", ["array", "frame", "beside", "cells"])
@pytest.mark.parametrize(
    "model",
    [VAWRegressor(), KeyedRegressor(), KeyedRegressor(SCALED), RunningStandardScaler()],
    ids=label,
)
def test_dates_are_no_numbers_whoever_is_given_them(model, kind, values):
    """They were learnt as nanoseconds: arrays by all, frames of them alone by banks of keys."""
    rows = {
        "array": values.to_numpy()[:, None],
        "frame": pd.DataFrame({"t": values}),
        "beside": pd.DataFrame({"a": X[:, 0], "t": values}),
        "cells": pd.DataFrame({"t": values}).astype(object),
    }[kind]
    where = "X" if kind == "array" else "Column 't' of X"
    with pytest.raises(TypeError, match=f"{where} holds .*no number"):
        model.fit(rows, X[:, 0])
    model = model.fit(X[:, :1], X[:, 0])
    verb = model.predict if hasattr(model, "predict") else model.transform
    with pytest.raises(TypeError, match="holds dates or durations"):
        verb(values.to_numpy()[:, None])


@pytest.mark.parametrize("container", ["pandas", "polars", "pyarrow"])
def test_columns_of_durations_get_advice_that_works(container):
    frame = pd.DataFrame({"t": TIMES - TIMES[0], "x": X[:, 0]})
    if container != "pandas":
        module = pytest.importorskip(container)
        of_arrow = {"t": "duration[ns][pyarrow]"}
        frame = frame.astype(of_arrow) if container == "pyarrow" else module.from_pandas(frame)
    hint = r"holds (durations|values of type [tT]imedelta|no numbers).*\.dt\.total_seconds\(\)"
    for model in (
        VAWRegressor(),
        RefitRegressor(VAWRegressor()),
        CalendarFeatures(),
        OnlineKernelRegressor(budget="tiny"),
    ):
        with pytest.raises(TypeError, match=hint) as error:
            model.fit(frame[["t"]], X[:, 0])
        assert "front" not in str(error.value)
    with pytest.raises(TypeError, match=hint):
        CalendarFeatures().fit(np.array([[timedelta(hours=1)]]))
    if container == "pyarrow" and pd.__version__.startswith("2.0."):
        return  # which has no .dt for these
    seconds = frame["t"].dt.total_seconds()
    assert len(VAWRegressor().fit(seconds.to_numpy()[:, None], X[:, 0]).coef_) == 1


def test_rows_of_keys_are_refused_by_the_name_of_their_column():
    frame = pd.DataFrame({"key": ["a", "b"] * 6, "t": TIMES, "x": X[:, 0]})
    model = KeyedRegressor(key="key")
    with pytest.raises(TypeError, match="Column 't' of X holds dates"):
        model.fit(frame, X[:, 0])
    model.fit(frame[["key", "x"]], X[:, 0])
    with pytest.raises(ValueError, match="Column 'x' of X holds text"):
        model.predict(frame[["key"]].assign(x="much"))
    rows = RowRegressor().learn_one({"x": 1.0, "hour": 2.0}, 1.0)
    assert rows.predict_one({"x": 1.0, "hour": 2.0}) != 0.0
    with pytest.raises(TypeError, match="Column 't' of X holds"):
        RowRegressor().learn_one({"x": 1.0, "t": TIMES[0].to_pydatetime()}, 1.0)
    with pytest.raises(ValueError, match=r"fields \['t'\] hold Timedelta"):
        RowRegressor().learn_one({"x": 1.0, "t": TIMES[1] - TIMES[0]}, 1.0)
