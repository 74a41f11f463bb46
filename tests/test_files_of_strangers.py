"""Files from anyone: what they ask for is bounded, what they hold can be used or is refused."""

import copy
import io
import json
import os
import re
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier

from benchmarks.damaged_files import WAYS, entries, nodes_of, packed, saved_array
from benchmarks.files import Sent, tried, written
from sklearn_okl import (
    AdaptedForecaster,
    BOARegressor,
    CalendarFeatures,
    CONKONSRegressor,
    ExpertsClassifier,
    FOGDRegressor,
    FourierFeatures,
    ImproperLogisticClassifier,
    KernelAIOLIClassifier,
    KernelVAWRegressor,
    KeyedClassifier,
    KeyedRegressor,
    LagFeatures,
    MercerFeatures,
    OKSClassifier,
    OKSPlusPlusRegressor,
    OKSRegressor,
    OMKLGFRegressor,
    OnlineConformalClassifier,
    OnlineConformalRegressor,
    OnlineForecaster,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    OnlineNystroem,
    ONSRegressor,
    PKAWVRegressor,
    RakerClassifier,
    RefitClassifier,
    RefitRegressor,
    RunningImputer,
    RunningOneHotEncoder,
    RunningPowerTransformer,
    RunningQuantileTransformer,
    RunningRobustScaler,
    RunningStandardScaler,
    SectionFeatures,
    SketchedKONSRegressor,
    TaylorFeatures,
    VAW2Regressor,
    VAWRegressor,
    from_bytes,
    load,
    make_streaming_pipeline,
    save,
    to_bytes,
)
from sklearn_okl._model_parts import parts_of
from sklearn_okl._persistence import _FORMAT
from sklearn_okl.evaluation import PrequentialSearch
from sklearn_okl.feedback import BipartiteGraph
from sklearn_okl.untuned.rows import _steps
from tests.instances import label, rows_for

pytest.importorskip("skops")

BANK = {"kernels": {"gamma": [0.1, 1.0]}, "n_components": 10, "random_state": 0}
SEARCH = PrequentialSearch(VAWRegressor(), {"alpha": [0.1, 1.0]})
FAST = OnlineKernelRegressor(budget="fast", random_state=0)
CLASSES = OnlineKernelClassifier(budget="fast", random_state=0)
LATE = OnlineKernelRegressor(budget="fast", label_delay=9, random_state=0)
MODELS = [
    VAWRegressor(forgetting=0.99),
    VAW2Regressor(**BANK),
    ONSRegressor(),
    BOARegressor(),
    FOGDRegressor(random_state=0),
    OKSRegressor(random_state=0),
    KernelVAWRegressor(gamma=0.5),
    RakerClassifier(**BANK),
    OnlineKernelRegressor(budget="fast", random_state=0),
    OnlineKernelClassifier(budget="fast", random_state=0),
    make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
]
OTHERS = [
    OnlineForecaster(3, random_state=0),
    AdaptedForecaster(3),
    RefitRegressor(Ridge()),
    OnlineNystroem(random_state=0),
    SEARCH,
    RunningOneHotEncoder(),
    CalendarFeatures(),
    FourierFeatures(random_state=0),
    MercerFeatures(),
    SectionFeatures(n_components=8),
    TaylorFeatures(),
    make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(), warmup=100),
]


def stream(estimator, n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] + 0.1 * rng.normal(size=n)
    if isinstance(estimator, OnlineForecaster):
        return (y,)
    if isinstance(estimator, AdaptedForecaster):
        return y, np.zeros((n, estimator.horizon))
    return rows_for(estimator, X), y > 0 if is_classifier(estimator) else y


def taught(estimator):
    """Return a model that has learnt 54 rows, the last ones alone if it can."""
    rows = stream(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a warm-up
        model = clone(estimator).fit(*[part[:50] for part in rows])
    if hasattr(model, "partial_fit"):
        for t in range(50, 54):
            model.partial_fit(*[part[t : t + 1] for part in rows])
    return model


def content_of(estimator, path):
    save(taught(estimator), path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


def test_a_small_file_that_unpacks_to_a_large_one(path):
    """At 8264a20 393 kB that unpack to 400 MB are accepted."""
    parts = entries(content_of(VAWRegressor(), path))
    name = next(name for name in parts if name.endswith(".npy"))
    parts[name] = saved_array(np.zeros(5_000_000))
    path.write_bytes(packed(parts, zipfile.ZIP_DEFLATED))
    assert path.stat().st_size < 100_000
    with pytest.raises(ValueError, match=r"model\.skops asks for \d+ bytes .* max_bytes=10000000"):
        load(path, max_bytes=10**7)
    with pytest.raises(ValueError, match="not of its shape"):
        load(path, max_bytes=10**9)


def test_sizes_that_an_archive_says_are_not_believed(path):
    """An entry that says to hold 100 bytes, and unpacks to 30 MB."""
    parts = entries(content_of(VAWRegressor(), path))
    parts["more"] = bytes(30_000_000)
    content = bytearray(packed(parts, zipfile.ZIP_DEFLATED))
    place = content.rindex(b"PK\x01\x02")  # the last entry of the directory
    content[place + 24 : place + 28] = (100).to_bytes(4, "little")
    path.write_bytes(content)
    for max_bytes, words in ((10**7, "asks for"), (10**9, "no skops file")):
        tracemalloc.start()
        with pytest.raises(ValueError, match=words):
            load(path, max_bytes=max_bytes)
        assert tracemalloc.get_traced_memory()[1] < 10**7
        tracemalloc.stop()


@pytest.mark.parametrize("max_bytes", [0, -1, 2.5, "many", None])
def test_max_bytes_is_a_number(max_bytes, path):
    save(VAWRegressor(), path)
    with pytest.raises(ValueError, match=r"max_bytes=.* is no number of bytes"):
        load(path, max_bytes=max_bytes)


def test_who_saves_a_large_model_is_told_how_to_load_it(path, monkeypatch):
    monkeypatch.setattr("sklearn_okl._persistence.MOST_BYTES", 500_000)
    X, y = stream(VAWRegressor())
    model = VAW2Regressor(**BANK | {"n_components": 300}).fit(X, y)
    with pytest.warns(UserWarning, match=r"load\(path, max_bytes=(\d+)\) reads it") as caught:
        save(model, path)
    max_bytes = int(re.search(r"max_bytes=(\d+)", str(caught[0].message)).group(1))
    np.testing.assert_array_equal(load(path, max_bytes=max_bytes).predict(X), model.predict(X))


def spoilt(path, estimator, spoil):
    """Write a file that holds a model somebody has edited."""
    import skops.io

    model = taught(estimator)
    spoil(model)
    skops.io.dump({"format": _FORMAT, "sklearn_okl": "0", "estimator": model}, path)


def set_state(**values):
    return lambda model: model._state.update(values)


A_TIME = {"kind": "numbers", "last": 1, "step": 1, "zone": None, "unit": None}
OF_DATES = A_TIME | {"kind": "dates", "last": "2024-01-01 00:00:00", "step": "h", "unit": "us"}


def first_rows(labels, n):
    """Let a forecaster have n first rows, of labels that are two apart."""

    def spoil(model):
        layout = model._layout
        time = A_TIME | {"last": labels[-1], "step": 2}
        y, X = np.zeros((n, layout["n_series"])), np.zeros((n, layout["n_columns"]))
        layout.update(names=["a"], time=time, first={"labels": labels, "y": y, "X": X})

    return spoil


def negative_inverse(model):
    state = model._state
    (place, A, P), *_ = state["inverse"].groups
    state["inverse"].groups = ((place, A, type(P)(-P.array)),)


def set_groups(group):
    return lambda model: setattr(model._state["inverse"], "groups", (group,))


def crooked_inverse(model):
    (place, A, P), *_ = model._state["inverse"].groups
    other = P.array.copy()
    other[0, 1] += 1.0
    model._state["inverse"].groups = ((place, A, type(P)(other)),)


def negative_bank(model):
    groups = model._state["experts"]["inverse"].groups
    model._state["experts"]["inverse"].groups = tuple(
        (place, A, type(P)(-P.array)) for place, A, P in groups
    )


def set_errors(**values):
    return lambda model: model._state["errors"].update(values)


def set_size(**values):
    def spoil(model):
        model.set_params(**values)
        structure = model._built_with["structure"] | values
        model._built_with = {"checked": model._values(), "structure": structure}

    return spoil


def set_structure(**values):
    def spoil(model):
        model.set_params(**values)
        structure = model._built_with["structure"] | values
        model._built_with = model._built_with | {"structure": structure}

    return spoil


def complex_tail(model):
    tail = model._state["inverse"].tail
    tail.directions = tail.directions + 1j


def large_tail(model):
    tail = model._state["experts"]["inverse"].tail
    tail.directions = np.full_like(tail.directions, 1e6)


def lost_generator(model):
    (generator,) = (p for p in parts_of(model._state) if isinstance(p, np.random.RandomState))
    known = generator.get_state(legacy=False)
    known["state"]["pos"] = 10**6
    generator.set_state(known)


def circular_tree(model):
    tree = {"columns": np.zeros(1, dtype=int), "children": np.zeros((1, 2), dtype=int)}
    state = _steps.start(1) | {"tree": tree | {"thresholds": np.zeros(1)}}
    model._state["columns"]["steps"] = state


def set_past(**values):
    return lambda model: vars(model._state["past"]).update(values)


def set_latest(**values):
    return lambda model: vars(model._state["anew"]["rows"]).update(values)


def block_of(model):
    return model._state["mixture"]["block"]


def first_ridge(model):
    return next(expert for expert in model._state["experts"] if "ridge" in expert)["ridge"]


def in_columns(place, step):
    """Put another step into the transformer of columns that a pipeline begins with."""
    return lambda model: model.steps_[0][1].transformers_.__setitem__(place, step)


def set_record(**values):
    """Put other arrays into what a bank keeps of its one key, made of those that it has."""

    def spoil(model):
        entries = model._state["entries"]
        entry = entries.get(None)
        others = {name: make(getattr(entry.model, name)) for name, make in values.items()}
        entry = entry._replace(model=entry.model._replace(**others))
        model._state["entries"] = entries.changed({None: entry})

    return spoil


def of_columns():
    columns = ColumnTransformer(
        [("a", RunningStandardScaler(), [0]), ("b", RunningStandardScaler(), [1, 2])]
    )
    return make_streaming_pipeline(columns, VAWRegressor())


SPOILT = {
    "a parameter": (VAWRegressor(), lambda m: m.set_params(forgetting=5.0), "'forgetting' param"),
    "a word": (VAWRegressor(), lambda m: m.set_params(forecaster="magic"), "'forecaster' param"),
    "a scaler's": (
        RunningStandardScaler(),
        lambda m: m.set_params(forgetting=-1.0),
        "'forgetting' param",
    ),
    "no parameter": (VAWRegressor(), lambda m: vars(m).pop("alpha"), "alpha"),
    "wide": (VAWRegressor(), set_state(theta=np.zeros(9)), r"\['theta'\] should be \(4,\)"),
    "flat": (VAWRegressor(), set_state(theta=np.zeros(())), r"\['theta'\] should be \(4,\)"),
    "a root": (VAWRegressor(), set_state(root=np.zeros((4, 5))), "a root of sums that is none"),
    "words": (VAWRegressor(), set_state(theta=np.array(["a"] * 4)), "not of its shape"),
    "a key's inverse": (KeyedRegressor(), set_record(inverse=np.negative), "an inverse that is"),
    "a key's theta": (
        KeyedRegressor(),
        set_record(rest=lambda rest: np.where(np.arange(rest.size) < 4, 1e200, rest)),
        "overflow",
    ),
    "rows of a key": (
        KeyedRegressor(),
        lambda m: m._state.update(
            entries=m._state["entries"].changed(
                {7: m._state["entries"].get(None)._replace(last=-1)}
            )
        ),
        "counts no rows",
    ),
    "keys that no number counts": (
        KeyedClassifier(),
        lambda m: m._state.update(n_dropped=[]),
        "no whole number",
    ),
    "classes of keys": (
        KeyedClassifier(),
        lambda m: setattr(m, "classes_", np.arange(4)),
        "learn other classes",
    ),
    "the prior of keys": (KeyedRegressor(), set_state(prior=str), "a model of a key that is none"),
    "products of gaps": (
        OnlineKernelRegressor(budget="fast", random_state=0),
        lambda m: m._state["inputs"]["gaps"].update(
            n=64, folded=64, rows=np.zeros((0, 4)), products=np.full((4, 4), -1e300)
        ),
        "do not go together",
    ),
    "a layer's estimator": (
        OnlineConformalRegressor(VAWRegressor()),
        set_state(estimator=str),
        "should be a VAWRegressor",
    ),
    "losses of arms": (
        OKSPlusPlusRegressor(random_state=0),
        lambda m: m._state["sampler"]["losses"].fill(-1.0),
        "do not go together",
    ),
    "a law of draws": (
        OKSRegressor(random_state=0),
        lambda m: m._state["sampler"]["probabilities"].fill(1.0),
        "do not go together",
    ),
    "the shape of targets": (
        KeyedRegressor(),
        lambda m: setattr(m, "_shape", {}),
        "targets of no shape",
    ),
    "a state that has gone": (VAWRegressor(), lambda m: delattr(m, "_state"), "has gone"),
    "sums of initial forecasts": (
        KeyedRegressor(prior="init"),
        lambda m: m._state["initial"].__isub__(1.0),
        "sums that are none",
    ),
    "initial forecasts that are none": (
        KeyedRegressor(),
        set_state(initial=np.zeros((64, 3))),
        "adds forecasts up",
    ),
    "keys that begin from nothing": (
        KeyedRegressor(key=0, prior="init"),
        set_state(prior=None),
        "begin from a model that has gone",
    ),
    "who looks out for keys": (
        KeyedRegressor(VAWRegressor()),
        set_state(lookout=str),
        "a model of a key that is none",
    ),
    "nothing of keys": (KeyedRegressor(), lambda m: m._state.pop("n_dropped"), "other things"),
    "no model of a key": (
        KeyedClassifier(),
        lambda m: m._state.update(
            entries=m._state["entries"].changed(
                {None: m._state["entries"].get(None)._replace(model=str)}
            )
        ),
        "that is none",
    ),
    "more targets than numbers": (
        RefitRegressor(Ridge()),
        lambda m: setattr(m, "_n_targets", 10**9),
        "targets",
    ),
    "places of classes": (
        OnlineConformalClassifier(SGDClassifier(loss="log_loss", random_state=0)),
        lambda m: setattr(m, "_by_place", 84),
        "places",
    ),
    "a degree of a projection": (
        PKAWVRegressor(projection="taylor"),
        set_size(degree=10**6),
        "sizes",
    ),
    "counts of a series": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["views"][0]["count"].fill(-1.0),
        "do not go together",
    ),
    "what a series remembers": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["recent"].update(n_written=np.zeros((2, 3), dtype=np.int64)),
        r"\['n_written'\] should be",
    ),
    "first rows of a series": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["doubts"].update(calendar=np.zeros((0, 0))),
        r"\['calendar'\] should be|parts of rows",
    ),
    "no classes of keys": (
        KeyedClassifier(),
        lambda m: setattr(m, "classes_", np.zeros(0)),
        "fewer than two classes",
    ),
    "a bank's": (
        VAW2Regressor(**BANK),
        lambda m: m._state["experts"].update(theta=np.zeros((1, 10))),
        "not of its shape",
    ),
    "losses": (
        VAW2Regressor(**BANK),
        set_state(expert_losses=np.zeros(1)),
        r"\['expert_losses'\] should be \(2,\)",
    ),
    "an aggregator's": (BOARegressor(), set_state(regrets=np.zeros(1)), "should be"),
    "an entry": (BOARegressor(), lambda m: m._state.pop("regrets"), "lacks 'regrets'"),
    "no state": (VAWRegressor(), lambda m: setattr(m, "_state", 3), "counts no rounds"),
    "rounds": (VAWRegressor(), set_state(t=-1), "counts no rounds"),
    "many rounds": (VAWRegressor(), set_state(t=10**40), "counts no rounds"),
    "features": (VAWRegressor(), lambda m: setattr(m, "n_features_in_", "4"), "features"),
    "other features": (VAWRegressor(), lambda m: setattr(m, "n_features_in_", 7), "shape"),
    "targets": (VAWRegressor(), lambda m: setattr(m, "_n_targets", 2), "shape"),
    "a negative inverse": (VAWRegressor(), negative_inverse, "an inverse that is none"),
    "a crooked inverse": (VAWRegressor(), crooked_inverse, "an inverse that is none"),
    "of Newton": (ONSRegressor(), negative_inverse, "an inverse that is none"),
    "of a bank": (VAW2Regressor(**BANK), negative_bank, "an inverse that is none"),
    "classes": (
        RakerClassifier(**BANK),
        lambda m: setattr(m, "classes_", np.arange(5)),
        "state",
    ),
    "in a pipeline": (
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
        lambda m: m.steps_[1][1]._state.update(theta=np.zeros(9)),
        "should be|cannot be used",
    ),
    "a class in a pipeline": (
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
        lambda m: m.steps_.__setitem__(0, (m.steps_[0][0], str)),
        "a step is no estimator",
    ),
    "dictionary": (
        KernelVAWRegressor(gamma=0.5),
        lambda m: m._state.update(white=np.zeros(3)),
        "cannot be used|makes no numbers",
    ),
    "sums of what is looked out for": (
        VAWRegressor(),
        set_state(lookout={"ones": np.zeros(4), "sums": np.zeros(12)}),
        r"\['sums'\] should be \(13,\)",
    ),
    "no norm": (
        OKSRegressor(random_state=0),
        lambda m: m._state["functions"][0].update(norm_sq=None),
        "norm_sq",
    ),
    "parts of rows": (
        OnlineKernelRegressor(budget="fast", random_state=0),
        lambda m: m._state["latest"].update(gaps=np.zeros((10, 4), dtype=bool)),
        "parts of rows",
    ),
    "no parts of a group": (VAWRegressor(), set_groups(()), "no call leaves behind"),
    "parts of a group": (VAWRegressor(), set_groups((1, 2, 3, 4)), "no call leaves behind"),
    "a class too few": (
        OKSClassifier(random_state=0),
        lambda m: setattr(m, "classes_", m.classes_[:1]),
        "needs two classes",
    ),
    "a class too many": (
        OKSClassifier(random_state=0),
        lambda m: setattr(m, "classes_", np.arange(3)),
        "Only binary classification",
    ),
    "a past": (
        RefitRegressor(Ridge()),
        lambda m: setattr(m._state["past"], "_X", np.zeros((54, 3))),
        r"\['past'\] should be rows",
    ),
    "how many rows of a past": (
        RefitRegressor(Ridge()),
        set_past(_X=np.zeros((50, 4))),
        r"\['past'\] should be rows",
    ),
    "the window of a past": (
        RefitRegressor(Ridge(), window=30),
        set_past(window=31),
        r"\['past'\] should be rows",
    ),
    "latest rows that are narrow": (FAST, set_latest(_X=np.zeros((54, 3))), "should be rows"),
    "latest rows without forecasts": (FAST, set_latest(_y=np.zeros((54, 1))), "should be rows"),
    "latest rows without axes": (FAST, set_latest(_X=np.zeros(54)), "should be rows"),
    "more of the latest rows": (FAST, set_latest(window=10**6), "should be rows"),
    "latest rows of text": (FAST, set_latest(_X=np.full((54, 4), "a")), "rows that are none"),
    "latest rows with infinity": (FAST, set_latest(_X=np.full((54, 4), np.inf)), "rows that are"),
    "latest targets with NaN": (FAST, set_latest(_y=np.full((54, 2), np.nan)), "rows that are"),
    "weights of the latest rows": (FAST, set_latest(_weights=np.full(54, -1.0)), "rows that are"),
    "no latest rows": (FAST, lambda m: m._state["anew"].update(rows={}), "should be rows"),
    "fits": (
        RefitRegressor(Ridge()),
        lambda m: m._state.update(fits=[(*fit, 0) for fit in m._state["fits"]]),
        "cannot be used",
    ),
    "a fit overdue": (RefitRegressor(Ridge()), set_state(due=3), "a fit is overdue"),
    "categories": (
        RunningOneHotEncoder(),
        lambda m: m._state["categories"].__setitem__(0, [[1.0]]),
        "cannot be used",
    ),
    "of a map without targets": (
        RunningOneHotEncoder(),
        lambda m: m._built_with["structure"].pop("n_hashed"),
        "other parameters",
    ),
    "kinds of keys": (
        KeyedRegressor(),
        lambda m: m._state.update(kinds=(1.0,)),
        "not of the types that it says",
    ),
    "another parameter than the state was built with": (
        KeyedRegressor(),
        lambda m: m._built_with["structure"].update(idle=str),
        "other parameters",
    ),
    "no features": (CalendarFeatures(), lambda m: vars(m).pop("features"), "lacks a parameter"),
    "dates": (CalendarFeatures(), lambda m: setattr(m, "features", [["month"]]), "cannot be used"),
    "frequencies": (
        FourierFeatures(random_state=0),
        lambda m: setattr(m, "frequencies_", m.frequencies_.T),
        "not of its width",
    ),
    "a generator": (OKSRegressor(random_state=0), lost_generator, "that it does not have"),
    "no width of frequencies": (
        FourierFeatures(random_state=0),
        lambda m: vars(m).pop("n_features_in_"),
        "does not say of how many columns",
    ),
    "no width of monomials": (
        TaylorFeatures(),
        lambda m: vars(m).pop("n_features_in_"),
        "does not say of how many columns",
    ),
    "a NaN": (
        FourierFeatures(random_state=0),
        lambda m: setattr(m, "frequencies_", np.nan * m.frequencies_),
        "frequencies_ should be another",
    ),
    "monomials": (
        TaylorFeatures(),
        lambda m: setattr(m, "_ends", m._ends[:-1]),
        "_ends should be another",
    ),
    "powers of a Mercer expansion": (
        MercerFeatures(),
        lambda m: setattr(m, "powers_", m.powers_ + 2**40),
        "powers_ should be another",
    ),
    "a degree of a Mercer expansion": (
        MercerFeatures(),
        lambda m: m.set_params(degree=10**6),
        "not of its width",
    ),
    "points of sections": (
        SectionFeatures(n_components=8),
        lambda m: setattr(m, "components_", m.components_[:, :2]),
        "not of its width",
    ),
    "other points of sections": (
        SectionFeatures(n_components=8),
        lambda m: setattr(m, "components_", m.components_[:3]),
        "other points than it says",
    ),
    "no factor of sections": (
        SectionFeatures(n_components=8),
        lambda m: m._basis.pop("factor"),
        "other points than it says",
    ),
    "a factor of sections": (
        SectionFeatures(n_components=8),
        lambda m: m._basis.update(factor=m._basis["factor"][:3]),
        "not of its width",
    ),
    "numbers of a factor": (
        SectionFeatures(n_components=8),
        lambda m: m._basis.update(factor=m._basis["factor"] * 1.01),
        "a factor of other points",
    ),
    "a pivot of a factor": (
        SectionFeatures(centers=[[0.0] * 4, [1e-3, 0.0, 0.0, 0.0]]),
        lambda m: m._basis.update(factor=m._basis["factor"] * [1.0, 1e-6]),
        "a factor of other points",
    ),
    "a step that is no pair": (
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
        lambda m: m.steps.__setitem__(0, m.steps[0][:1]),
        "cannot be used",
    ),
    "no steps": (
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
        lambda m: vars(m).pop("steps"),
        "lacks a parameter",
    ),
    "a warm-up": (
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(), warmup=100),
        lambda m: m._state.update(targets={}),
        "cannot be used",
    ),
    "targets of a warm-up": (
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(), warmup=100),
        lambda m: m._state.update(targets=np.full(54, np.nan)),
        "makes no numbers",
    ),
    "batches that wait": (
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(), warmup=100),
        lambda m: m._state["waiting"].__setitem__(0, {}),
        "cannot be used",
    ),
    "a view of a series": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["views"].pop(),
        "cannot be used",
    ),
    "origins that wait": (
        AdaptedForecaster(3, forecaster=OnlineForecaster(3, random_state=0)),
        lambda m: m._state["recent"].pop("unit"),
        "lacks 'unit'",
    ),
    "an expert's ridge": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["experts"][0].pop("ridge"),
        "of other sizes",
    ),
    "rows that are remembered": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["recent"].update(members=np.zeros(3)),
        r"\['members'\] should be",
    ),
    "a series of NaN": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["experts"][1]["ridge"].update(
            theta=np.nan * m._state["experts"][1]["ridge"]["theta"]
        ),
        "no numbers",
    ),
    "complex numbers that wait": (VAWRegressor(), complex_tail, "complex numbers"),
    "rows that wait": (VAW2Regressor(**BANK, forgetting=0.99), large_tail, "after the rows that"),
    "quantiles": (
        RunningRobustScaler(),
        lambda m: m.set_params(quantile_range=({}, 75.0)),
        "quantile_range",
    ),
    "a delay": (BOARegressor(), set_size(label_delay=10**10), "of other sizes"),
    "a size": (FOGDRegressor(random_state=0), set_size(n_components=10**9), "of other sizes"),
    "a size of a bank": (VAW2Regressor(**BANK), set_size(n_components=10**7), "of other sizes"),
    "many features": (VAWRegressor(), lambda m: setattr(m, "n_features_in_", 10**9), "other sizes"),
    "many experts": (BOARegressor(), lambda m: setattr(m, "n_features_in_", 10**9), "other sizes"),
    "a horizon": (OnlineForecaster(3), set_size(horizon=10**9), "of other sizes"),
    "windows": (OnlineForecaster(3), set_size(windows=(9, 99, 10**9)), "of other sizes"),
    "components of a map": (
        FourierFeatures(random_state=0),
        lambda m: m.set_params(n_components=10**9),
        "not of its width",
    ),
    "a degree": (TaylorFeatures(), lambda m: m.set_params(degree=10**6), "not of its width"),
    "features of a map": (
        TaylorFeatures(),
        lambda m: setattr(m, "n_features_in_", 10**9),
        "not of its width",
    ),
    "features of a pipeline": (
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
        lambda m: setattr(m, "n_features_in_", 10**9),
        "of 1000000000 features",
    ),
    "a past with NaN": (RefitRegressor(Ridge()), set_past(_X=np.full((54, 4), np.nan)), "NaN"),
    "infinite targets": (RefitRegressor(Ridge()), set_past(_y=np.full(54, np.inf)), "rows that"),
    "no class": (
        RefitClassifier(LogisticRegression()),
        set_past(_y=np.full(54, 7.0)),
        "labels of no class",
    ),
    "a count below 0": (
        ExpertsClassifier([("raker", RakerClassifier(loss="log_loss", **BANK))]),
        set_state(counts=np.full(2, -1.0)),
        "cannot be used",
    ),
    "a tree without an end": (
        OnlineKernelRegressor(budget="fast", random_state=0),
        circular_tree,
        "do not go together",
    ),
    "a logarithm of 0": (
        OnlineKernelRegressor(budget="fast", random_state=0),
        lambda m: m._state["columns"]["layout"].update(tails=np.zeros(1, int), shifts=np.zeros(1)),
        "do not go together",
    ),
    "gaps of rows that never were": (
        OnlineKernelRegressor(budget="fast", random_state=0, lags=0),
        lambda m: m._state["inputs"]["gaps"].update(
            n=2**50, folded=0, products=np.zeros((4, 4)), rows=np.zeros((0, 4))
        ),
        "do not go together",
    ),
    "errors of a series": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["mixture"]["recent"].update(
            deviations=np.nan * m._state["mixture"]["recent"]["deviations"]
        ),
        "no numbers",
    ),
    "another shape in a series": (
        OnlineForecaster(3, random_state=0),
        lambda m: first_ridge(m).update(sums=first_ridge(m)["sums"][:0]),
        "do not go together",
    ),
    "complex numbers in a series": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["views"][0].update(values=m._state["views"][0]["values"] + 0j),
        "complex numbers",
    ),
    "who has begun": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["origin"]["slot"].update(begun=np.zeros(1, dtype=int)),
        r"\['begun'\] should be",
    ),
    "the shape of a warm-up's targets": (
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(), warmup=999),
        lambda m: m._state.update(targets=np.zeros((3, 3))),
        "not those of its rows",
    ),
    "a factor": (
        CONKONSRegressor(gamma=0.5),
        lambda m: m._state["basis"].update(factor=np.eye(1)),
        "parts of rows",
    ),
    "quantiles that fall": (
        RunningQuantileTransformer(),
        lambda m: m._state["looks"][-1][1].__imul__(-1.0),
        "do not rise",
    ),
    "sparse columns": (
        of_columns(),
        lambda m: setattr(m.steps_[0][1], "sparse_output_", True),
        "sparse rows",
    ),
    "panels of a factor": (
        SketchedKONSRegressor(gamma=0.03, random_state=0),
        lambda m: m._state["factor"].update(corner=np.eye(9)[:, :3]),
        "do not go together",
    ),
    "rows of a factor": (
        SketchedKONSRegressor(gamma=0.03, random_state=0),
        lambda m: m._state.update(kept=m._state["kept"][:-1]),
        "parts of rows",
    ),
    "a block without its base": (CLASSES, lambda m: block_of(m).pop("base"), "cannot be used"),
    "a block of no class": (CLASSES, lambda m: block_of(m)["y"].fill(10**6), "do not go together"),
    "the latest class": (
        CLASSES,
        lambda m: m._state["mixture"]["labels"].fill(10**6),
        "do not go together",
    ),
    "a class in a race": (SEARCH, lambda m: m._state.finals.__setitem__(0, str), "each candidate"),
    "a number in a pipeline": (
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
        lambda m: m.steps_.__setitem__(0, (m.steps_[0][0], True)),
        "a step is no estimator",
    ),
    "a size below 0": (
        OnlineKernelRegressor(budget="fast", random_state=0),
        lambda m: m._state["targets"][0].update(long=-1),
        "do not go together",
    ),
    "no candidate": (SEARCH, lambda m: m._state.models.__setitem__(0, {}), "each candidate"),
    "many categories": (
        RunningOneHotEncoder(),
        set_size(n_hashed=10**12),
        "more than a million indicators",
    ),
    "no number of fits": (
        RefitRegressor(Ridge()),
        set_state(n_fits=None),
        "should be a whole number",
    ),
    "pasts of a warm-up": (
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(), warmup=100),
        set_state(pasts=[1, 2]),
        r"\['pasts'\] is no dict",
    ),
    "many classes": (
        ImproperLogisticClassifier(),
        lambda m: setattr(m, "_n_places", 1000),
        "in places that they do not have",
    ),
    "no columns": (of_columns(), in_columns(0, ()), "steps that are none"),
    "a column's step": (of_columns(), in_columns(1, ("b", 1.0, [1, 2])), "transforms nothing"),
    "a column's name": (of_columns(), in_columns(0, ("c", "drop", [0])), "other steps"),
    "an infinite model": (
        RefitClassifier(LogisticRegression()),
        lambda m: m._state["fits"][0][1].coef_.fill(np.inf),
        "coef_",
    ),
    "means of gaps": (RunningImputer(), set_state(sums=np.full(4, np.nan)), "that are none"),
    "large lags": (LagFeatures(), set_state(lags=np.zeros((300, 300))), "should be"),
    "large powers": (RunningPowerTransformer(), set_state(logs=np.zeros((300, 300))), "should be"),
    "a race of whole numbers": (
        SEARCH,
        lambda m: setattr(m._state, "weights", m._state.weights.astype(int)),
        "each candidate",
    ),
    "a race": (SEARCH, lambda m: setattr(m._state, "sums", np.zeros((9, 9))), "each candidate"),
    "what a race keeps": (SEARCH, lambda m: m._state.pasts.__setitem__(0, ["X"]), "no dict"),
    "rows of a race": (SEARCH, lambda m: setattr(m._state, "t", "9"), "a whole number"),
    "names of a race": (SEARCH, lambda m: setattr(m._state, "columns", ["X"]), "no dict"),
    "steps of a race": (
        SEARCH,
        lambda m: m._state.maps[0].append("scaler"),
        "cannot be used|steps",
    ),
    "a structure that was not taught": (
        ImproperLogisticClassifier(),
        lambda m: (
            set_structure(fit_intercept=True)(m),
            m._built_with.update(checked=[1.0, False, 5.0]),
        ),
        "other parameters",
    ),
    "rounds that are a class": (SEARCH, lambda m: setattr(m, "halving_rounds", list), "halving"),
    "columns of a race": (SEARCH, lambda m: m._state.columns.update(n_features_in_=9), "columns"),
    "many numbers of columns": (
        SEARCH,
        lambda m: vars(m).update(n_features_in_=np.ones(3)),
        r"array.* features",
    ),
    "names that are none": (
        VAWRegressor(),
        lambda m: vars(m).update(feature_names_in_=np.ones(m.n_features_in_)),
        "names are none",
    ),
    "names of too many columns": (
        VAWRegressor(),
        lambda m: vars(m).update(_other_names_in=["1"] * (m.n_features_in_ + 1)),
        "names are none",
    ),
    "a race of nobody": (SEARCH, lambda m: m._state.racing.fill(False), "each candidate"),
    "untuned": (
        OnlineKernelRegressor(budget="fast", random_state=0),
        lambda m: m._state.pop("scored"),
        "lacks 'scored'",
    ),
    "whole numbers that are none": (
        OnlineKernelRegressor(budget="fast", random_state=0),
        lambda m: m._state["targets"][0].update(n_moves=2.5),
        "should be a whole number",
    ),
    "a place below 0": (KernelAIOLIClassifier(), lambda m: m._state["kept"].fill(-7), "below 0"),
    "an arm below 0": (OKSRegressor(random_state=0), set_state(arm=-1), "the number -1"),
    "more rows than the whole": (
        OnlineKernelRegressor(budget="fast", random_state=0),
        lambda m: m._state["mixture"]["last"].update(t=55),
        "has seen 55 rows, of 54",
    ),
    "coefficients of rows": (
        KernelAIOLIClassifier(),
        lambda m: m._state.update(coef=m._state["coef"][1:]),
        "parts of rows",
    ),
    "a long tail": (
        VAWRegressor(),
        lambda m: setattr(m._state["inverse"].tail, "length", 33),
        "inverses should be|no call leaves behind",
    ),
    "a tail that grows": (
        VAWRegressor(),
        lambda m: setattr(m._state["inverse"].tail, "forgetting", 0.0),
        "inverses should be",
    ),
    "places of groups": (
        VAW2Regressor(**BANK),
        lambda m: setattr(
            m._state["experts"]["inverse"],
            "groups",
            tuple((slice(0, 1), A, P) for _, A, P in m._state["experts"]["inverse"].groups),
        ),
        "inverses should be",
    ),
    "scores of rounds that wait": (LATE, set_errors(seen=np.array([3])), "do not go together"),
    "a round that knew more": (
        LATE,
        lambda m: m._state["errors"]["issued"].__setitem__((-1, 0, 0), 10**6),
        "do not go together",
    ),
    "a round that knew no number": (
        LATE,
        lambda m: m._state["errors"]["issued"].__setitem__((-1, 0, 0), np.nan),
        "do not go together|NaN",
    ),
    "who has not begun": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["origin"]["slot"].update(begun=np.zeros(1, dtype=bool)),
        "which series have begun",
    ),
    "a radius of a series": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["intervals"]["radius"].fill(1e9),
        "do not go together",
    ),
    "misses of a series": (
        OnlineForecaster(3, random_state=0),
        lambda m: m._state["intervals"]["misses"].fill(1e9),
        "do not go together",
    ),
    "a side of an error of a far step": (
        OnlineForecaster(70, windows=(2, 3, 4)),
        lambda m: m._state["recent"]["side"].__setitem__(-1, 200),
        "on no side that is known",
    ),
    "a side of an error of a correction": (
        AdaptedForecaster(3),
        lambda m: m._state["recent"]["side"].__setitem__(-1, 200),
        "on no side that is known",
    ),
    "weights of a correction": (
        AdaptedForecaster(3),
        lambda m: m._state["shares"]["log_weights"].fill(-1e300),
        "do not go together",
    ),
    "a correction of NaN": (
        AdaptedForecaster(3),
        lambda m: m._state["ridges"][0]["theta"].fill(np.nan),
        "no numbers",
    ),
    "a correction's window": (AdaptedForecaster(3), set_size(window=10**6), "of other sizes"),
    "windows a little longer": (
        OnlineForecaster(3),
        set_size(windows=(24, 48, 169)),
        "of other sizes|should be",
    ),
    "seasons of a series": (
        OnlineForecaster(3),
        lambda m: m._state["slots"].fill(10**6),
        "longer than what is remembered",
    ),
    "seasons behind none": (
        OnlineForecaster(3),
        lambda m: m._state["seasons"].__setitem__(slice(None), (0, 7, 0)),
        "behind one that is none",
    ),
    "rows of a regression": (
        OnlineForecaster(3),
        lambda m: first_ridge(m).update(t=7),
        "have seen other rows",
    ),
    "how many series there are": (
        OnlineForecaster(3),
        lambda m: m._layout.update(n_series=2),
        "how its series came",
    ),
    "columns of a series": (
        OnlineForecaster(3),
        lambda m: m._layout.update(ahead=[5]),
        "not those of X",
    ),
    "a unit of dates": (
        OnlineForecaster(3),
        lambda m: m._layout.update(names=["a"], time=OF_DATES | {"unit": "fortnight"}),
        "a time of no unit",
    ),
    "a unit of numbers": (
        OnlineForecaster(3),
        lambda m: m._layout.update(names=["a"], time=A_TIME | {"unit": "ns"}),
        "a time of no unit",
    ),
    "a unit that is too coarse": (
        OnlineForecaster(3),
        lambda m: m._layout.update(names=["a"], time=OF_DATES | {"unit": "s", "step": "500ms"}),
        "a time that does not go on",
    ),
    "first rows of a series without labels": (
        OnlineForecaster(3),
        lambda m: m._layout.update(first={"labels": [1], "y": np.zeros((1, 1)), "X": None}),
        "first rows that are none",
    ),
    "first rows and their labels": (
        OnlineForecaster(3),
        first_rows([1, 3], n=1),
        "other first rows than labels",
    ),
    "labels of first rows": (
        OnlineForecaster(3),
        first_rows([1, 4, 9], n=3),
        "a step that its labels do not tell",
    ),
    "first forecasts of a base": (
        AdaptedForecaster(3, forecaster=OnlineForecaster(3)),
        lambda m: setattr(m, "_first", np.zeros((1, 3, 1))),
        "other first rows than labels",
    ),
    "parameters of another's model": (
        RefitRegressor(Ridge(), window=50),
        lambda m: m._state["fits"][-1][1].set_params(alpha={}),
        "a dict in place of its alpha",
    ),
    "parameters of another's model that it knows itself": (
        RefitRegressor(Ridge(), window=50),
        lambda m: m._state["fits"][-1][1].set_params(solver="none such"),
        "cannot be used",
    ),
    "names of a series": (
        OnlineForecaster(3),
        lambda m: m._layout.update(names=["a", "b"]),
        "other names",
    ),
}


@pytest.mark.long(every=4)
@pytest.mark.parametrize("what", SPOILT)
def test_spoilt_models_are_refused_in_a_sentence(what, path):
    """At 8264a20 all of them load; most fail later, in NumPy's words, or ask for gigabytes."""
    estimator, spoil, words = SPOILT[what]
    spoilt(path, estimator, spoil)
    how = "" if what == "no parameter" else "holds "
    tracemalloc.start()
    with pytest.raises(ValueError, match=rf"model\.skops {how}.*({words}).*\.$"):
        load(path)
    assert tracemalloc.get_traced_memory()[1] < 5e7
    tracemalloc.stop()


@pytest.mark.parametrize("place", [625, -1, 10**9])
@pytest.mark.parametrize(
    ("kind", "where"),
    [
        (np.random.RandomState, lambda state: (state["state"], "pos")),
        (lambda seed: np.random.Generator(np.random.Philox(seed)), lambda s: (s, "buffer_pos")),
    ],
)
def test_generators_that_would_end_the_process_are_refused(path, kind, where, place):
    """NumPy sets a place beyond its numbers unlooked at, and the next draw is a segfault."""
    model = VAWRegressor().fit(np.ones((3, 2)), np.arange(3.0))
    model.random_state = generator = kind(0)
    save(model, path)
    load(path)
    holder = generator if isinstance(generator, np.random.RandomState) else generator.bit_generator
    known = holder.get_state(legacy=False) if holder is generator else holder.state
    inner, name = where(known)
    inner[name] = place
    if holder is generator:
        generator.set_state(known)
    else:
        holder.state = known
    with pytest.raises(ValueError, match="stands at a place that it does not have"):
        save(model, path)


def test_slots_that_nobody_has_seen_ask_for_no_memory(path):
    """A size that no state can show: nothing is made of it."""
    spoilt(path, RunningOneHotEncoder(), set_structure(n_hashed=10**5, max_categories=10**5))
    tracemalloc.start()
    assert load(path).n_hashed == 10**5
    assert tracemalloc.get_traced_memory()[1] < 1e7
    tracemalloc.stop()


def test_a_large_size_that_no_state_shows_makes_others_no_dearer(path, monkeypatch):
    """Nodes of a graph show in its state, their draws do not: both at once were 10**10 draws."""
    sizes = set_size(n_selective=10**6, n_selected=10**6)
    spoilt(path, OMKLGFRegressor({"kernel": ["rbf"]}, n_components=5, n_selected=1), sizes)
    n_draws, make = [], BipartiteGraph._make

    def counted(graph, *args):
        n_draws.append(graph.n_selective * graph.n_selected)
        make(graph, *args)

    monkeypatch.setattr(BipartiteGraph, "_make", counted)
    with pytest.raises(ValueError, match="sizes"):
        load(path)
    assert 0 < sum(n_draws) < 10**7


@pytest.mark.long(every=4)
@pytest.mark.parametrize("estimator", [*MODELS, OnlineForecaster(3, random_state=0)], ids=label)
def test_a_look_at_a_model_changes_nothing(estimator, path):
    rows = stream(estimator)
    model = clone(estimator).fit(*[part[:50] for part in rows])
    save(model, path)
    again = load(path)
    for m in (model, again):
        m.partial_fit(*[part[50:52] for part in rows]).partial_fit(*[part[52:] for part in rows])
    asked = () if isinstance(estimator, OnlineForecaster) else rows[:1]
    np.testing.assert_array_equal(again.predict(*asked), model.predict(*asked))


def test_a_generator_of_the_user_s_is_not_drawn_from(path):
    X, y = stream(FOGDRegressor())
    model = VAW2Regressor(**BANK | {"random_state": np.random.RandomState(3)}).fit(X, y)
    save(model, path)
    expected = copy.deepcopy(model.random_state).uniform(size=3)
    np.testing.assert_array_equal(load(path).random_state.uniform(size=3), expected)


def test_bad_parameters_are_not_saved(path):
    X, y = stream(VAWRegressor())
    model = VAWRegressor().fit(X, y).set_params(forgetting=5.0)
    with pytest.raises(ValueError, match=r"The model holds a VAWRegressor .*'forgetting' param"):
        save(model, path)
    assert not path.exists()
    save(VAWRegressor(forgetting=5.0), path)  # it says so when it is fitted


def test_a_file_says_who_wrote_it(path):
    import sklearn_okl

    save(VAWRegressor(), path)
    with zipfile.ZipFile(path) as archive:
        comment = archive.comment.decode()
    assert comment.startswith(
        f"sklearn_okl {sklearn_okl.__version__}, format {_FORMAT}, scikit-learn "
    )
    parts = entries(path.read_bytes())
    schema = json.loads(parts["schema.json"])
    nodes_of(schema)[0]["protocol"] = 99
    parts["schema.json"] = json.dumps(schema).replace("DictNode", "FutureNode").encode()
    file = io.BytesIO(packed(parts))
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = comment.encode()
    path.write_bytes(file.getvalue())
    with pytest.raises(ValueError, match=r"cannot be read here.*saved with \('sklearn_okl "):
        load(path)


def test_nobody_looks_through_the_folder_to_save(path, monkeypatch):
    """At 8264a20 saving beside 20 000 files takes as long as reading their names."""

    def refuse(*_, **__):
        raise AssertionError("somebody reads the names of all files")

    for name in ("listdir", "scandir"):
        monkeypatch.setattr(os, name, refuse)
    save(VAWRegressor(), path)
    save(VAWRegressor(2.0), path)
    assert load(path).alpha == 2.0


@pytest.mark.long(every=5)
@pytest.mark.parametrize("estimator", [*MODELS, *OTHERS], ids=label)
def test_files_of_strangers(estimator, path):
    """None asks for more than it may, or fails later unsaid; ``benchmarks files`` tries 20 000."""
    rng = np.random.default_rng(len(label(estimator)))
    sent = Sent(label(estimator), estimator, stream(estimator, 120))
    content, outcomes = written(sent, path), []
    for way in dict.fromkeys(WAYS):  # in one order, as each draws
        path.write_bytes(way(rng, content))
        outcomes.append((way.__name__, tried(path, sent)))
    assert [(name, one.says) for name, one in outcomes if one.kind == "fault"] == []
    assert any(one.kind == "refused" for _, one in outcomes)


@pytest.mark.parametrize("estimator", [OnlineForecaster(2), AdaptedForecaster(2)], ids=label)
def test_what_is_not_known_is_no_number_beyond_float32(estimator):
    """NaN and infinity in a state, which stand for what is not known, are so in float32, too."""
    rows = stream(estimator)
    model = clone(estimator).fit(*rows)
    content = to_bytes(model, dtype="float32")
    assert len(content) < 0.6 * len(to_bytes(model))
    asked = () if isinstance(estimator, OnlineForecaster) else (rows[1][0],)
    np.testing.assert_allclose(
        from_bytes(content).predict(*asked), model.predict(*asked), rtol=1e-4
    )


@pytest.mark.parametrize("name", ["static_unit", "rows_scale"])
def test_columns_of_a_series_have_no_deviations_below_0(path, name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    model = OnlineForecaster(3, known_ahead=[0], random_state=0).fit(y, X)
    model._state["origin"]["slot"][name] *= -1.0
    save(model, path)
    with pytest.raises(ValueError, match="has deviations of columns below 0"):
        load(path)
