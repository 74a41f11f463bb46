"""Saved models: every estimator goes on bit for bit, and a crash leaves the old file."""

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections import defaultdict
from functools import partial

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import (
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    TimeSeriesSplit,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

import sklearn_okl
from sklearn_okl import (
    AARegressor,
    BOARegressor,
    ExpertsClassifier,
    ExpertsRegressor,
    FOGDClassifier,
    FourierFeatures,
    KOGDRegressor,
    MLPolyRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RunningMinMaxScaler,
    RunningRobustScaler,
    RunningStandardScaler,
    StackedBOARegressor,
    StreamingTransformedTargetRegressor,
    VAWRegressor,
    _part_files,
    from_bytes,
    load,
    make_streaming_pipeline,
    save,
    to_bytes,
)
from sklearn_okl._persistence import _FORMAT
from sklearn_okl.evaluation import PrequentialSearch
from tests.instances import instances, label, rows_for

skops_io = pytest.importorskip("skops.io")


def stream(n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    return X, np.clip(np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=n), 0, 1)


SEARCH = PrequentialSearch(VAWRegressor(), {"alpha": [0.1, 1.0]}, halving_rounds=[100])
FOREIGN = make_streaming_pipeline(StandardScaler(), VAWRegressor())


@pytest.mark.long(every=6)
@pytest.mark.parametrize(
    "estimator", [*instances("online"), SEARCH, FOREIGN], ids=lambda estimator: label(estimator)
)
def test_to_resume_is_never_to_have_stopped(estimator, tmp_path):
    X, y = stream()
    if is_classifier(estimator):
        y = np.where(y > np.median(y), "yes", "no")
    model = clone(estimator).fit(X[:70], y[:70])
    save(model, tmp_path / "model.skops")
    resumed = load(tmp_path / "model.skops")
    for verb in ("prequential_predict", "partial_fit"):
        got, expected = (getattr(m, verb)(X[70:], y[70:]) for m in (resumed, model))
        if verb == "prequential_predict":
            np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(resumed.predict(X), model.predict(X))
    assert resumed.n_samples_seen_ == model.n_samples_seen_ == 170


@pytest.mark.long(every=200)
@pytest.mark.parametrize("estimator", instances("online"), ids=label)
def test_to_stop_is_possible_at_any_row(estimator):
    X, y = stream(310)
    if is_classifier(estimator):
        y = np.where(y > np.median(y), "yes", "no")
    for n in (1, 2, 3, 10, 33, 64, 65, 130, 300):
        try:
            model = clone(estimator).fit(X[:n], y[:n])
        except ValueError:
            assert n < 10  # of the first rows some know one class only, or no neighbour
            continue
        again = from_bytes(to_bytes(model))
        np.testing.assert_array_equal(again.predict(X[300:]), model.predict(X[300:]))


@pytest.mark.parametrize("label_delay", [0, 3])
def test_a_classifier_that_has_met_one_class_comes_back(label_delay):
    X, _ = stream(9)
    model = OnlineKernelClassifier(budget="fast", max_classes=4, label_delay=label_delay)
    again = from_bytes(to_bytes(model.fit(X[:5], ["yes"] * 5)))
    again.partial_fit(X[5:], ["yes", "no", "no", "perhaps"])
    assert again.classes_.tolist() == ["no", "perhaps", "yes"]


@pytest.mark.parametrize("n", [1, 100])
@pytest.mark.parametrize("kind", [AARegressor, BOARegressor, MLPolyRegressor, StackedBOARegressor])
def test_an_aggregator_of_one_expert_comes_back(kind, n):
    X, y = stream(n, d=1)
    model = kind().fit(X, y)
    np.testing.assert_array_equal(from_bytes(to_bytes(model)).predict(X), model.predict(X))


@pytest.mark.long(every=3)
@pytest.mark.parametrize("label_delay", [0, 3])
@pytest.mark.parametrize("classes", [["no", "yes"], [2**60, 2**60 + 1], [False, True]])
def test_labels_of_late_experts_come_back(classes, label_delay):
    X, y = stream(50)
    y = np.array(classes)[(y > np.median(y)).astype(int)]
    experts = [("sgd", SGDClassifier(loss="log_loss", random_state=0)), ("fogd", fogd())]
    model = ExpertsClassifier(experts, label_delay=label_delay).partial_fit(X[:2], y[:2], classes)
    again = from_bytes(to_bytes(model))  # two of the labels wait
    P = again.prequential_predict_proba(X[2:], y[2:])
    np.testing.assert_array_equal(P, model.prequential_predict_proba(X[2:], y[2:]))
    codes = clone(model).prequential_predict_proba(X, y == classes[1], classes=[False, True])
    np.testing.assert_allclose(P, codes[2:], rtol=1e-12)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("estimator", instances("maps"), ids=label)
def test_maps(estimator, tmp_path):
    X, y = stream()
    X = rows_for(estimator, X)
    model = clone(estimator).fit(X, y)
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").transform(X), model.transform(X))


def vaw():
    return VAWRegressor(alpha=0.1)


def fogd():
    return FOGDClassifier(n_components=10, loss="log_loss", eta0=0.9, random_state=0)


ENCODED = make_column_transformer(
    (StandardScaler(), make_column_selector(dtype_include=np.number)),
    (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["kind"]),
)
GRID = {"alpha": [0.1, 1.0]}
SCORERS = {"r2": "r2", "pinball": make_scorer(mean_pinball_loss, alpha=0.3)}
ON_NUMBERS = {
    "stacking": StackingRegressor(
        [("vaw", vaw()), ("all", OnlineKernelRegressor(budget="fast", random_state=0))],
        final_estimator=vaw(),
        cv=3,
    ),
    "voting": VotingRegressor([("vaw", vaw()), ("ridge", VAWRegressor(forecaster="ridge"))]),
    "bagging": BaggingRegressor(vaw(), 3, random_state=0),
    "adaboost": AdaBoostRegressor(vaw(), n_estimators=3, random_state=0),
    "target": TransformedTargetRegressor(vaw(), transformer=StandardScaler()),
    "pipeline": make_pipeline(StandardScaler(), PolynomialFeatures(2), vaw()),
    "union": make_pipeline(make_union(StandardScaler(), FunctionTransformer(np.log1p)), vaw()),
    "bins": make_pipeline(SimpleImputer(), KBinsDiscretizer(4), StandardScaler(with_mean=False)),
    "select": make_pipeline(SelectKBest(f_regression, k=2), vaw()),
    "grid": GridSearchCV(vaw(), GRID, cv=KFold(3, shuffle=True, random_state=0)),
    "grid of two": GridSearchCV(
        vaw(), [GRID, {"forecaster": ["ridge"]}], scoring=SCORERS, refit="r2", cv=TimeSeriesSplit(3)
    ),
    "halving": HalvingGridSearchCV(vaw(), GRID, cv=3, random_state=0),
    "frozen": StackingRegressor([("v", FrozenEstimator(vaw().fit(*stream(80, 3))))], cv="prefit"),
    "outputs": MultiOutputRegressor(vaw()),
    "network": ExpertsRegressor(
        [("net", MLPRegressor(hidden_layer_sizes=(5,), random_state=0)), ("vaw", vaw())]
    ),
    "search": PrequentialSearch(
        make_streaming_pipeline(RunningStandardScaler(), FourierFeatures(random_state=0), vaw()),
        {"vawregressor__alpha": [0.1, 1.0], "runningstandardscaler": ["passthrough"]},
    ),
    "kernel": KOGDRegressor(kernel=polynomial_kernel),
}
ON_TABLES = {
    "columns": make_pipeline(ENCODED, vaw()),
    "streaming columns": make_streaming_pipeline(ENCODED, vaw(), update="batch"),
    "ordinal": make_streaming_pipeline(
        make_column_transformer((OrdinalEncoder(), ["kind"]), remainder="passthrough"),
        RunningMinMaxScaler(),
        vaw(),
        update="batch",
    ).set_output(transform="pandas"),
}
ON_CLASSES = {
    "stacking": StackingClassifier([("fogd", fogd())], cv=3),
    "voting": VotingClassifier([("one", fogd()), ("two", fogd())], voting="soft"),
    "sigmoid": CalibratedClassifierCV(fogd(), cv=3),
    "isotonic": CalibratedClassifierCV(fogd(), cv=3, method="isotonic", ensemble=False),
    "each": OneVsRestClassifier(fogd()),
    "codes": OutputCodeClassifier(fogd(), random_state=0),
    "grid": GridSearchCV(fogd(), {"eta0": [0.5, 0.9]}, scoring="roc_auc", cv=3),
    "threshold": TunedThresholdClassifierCV(fogd(), cv=3),
}


def check_that_it_comes_back(model, X, path):
    save(model, path)
    again = load(path)
    assert type(again) is type(model)
    verbs = ("predict", "predict_proba", "decision_function", "transform")
    compared = [verb for verb in verbs if hasattr(model, verb)]
    for verb in compared:
        got, expected = (getattr(m, verb)(X) for m in (again, model))
        if hasattr(got, "toarray"):
            got, expected = got.toarray(), expected.toarray()
        np.testing.assert_array_equal(got, expected)
    assert compared
    for name in vars(model):
        if name.endswith("_"):
            assert type(getattr(again, name)) is type(getattr(model, name)), name


@pytest.mark.long(every=9)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("kind", ON_NUMBERS)
def test_regressors_of_scikit_learn_come_back(kind, tmp_path):
    X, y = stream(80, 3, seed=5)
    model = clone(ON_NUMBERS[kind])
    model.fit(X, np.column_stack([y, -y]) if kind == "outputs" else y)
    check_that_it_comes_back(model, X, tmp_path / "model.skops")


@pytest.mark.long(every=2)
@pytest.mark.parametrize("kind", ON_CLASSES)
def test_classifiers_of_scikit_learn_come_back(kind, tmp_path):
    X, y = stream(80, 3, seed=6)
    model = clone(ON_CLASSES[kind]).fit(X, np.where(y > np.median(y), "yes", "no"))
    check_that_it_comes_back(model, X, tmp_path / "model.skops")


@pytest.mark.parametrize("kind", ON_TABLES)
def test_models_of_tables_come_back(kind, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = stream(80, 3, seed=7)
    table = pandas.DataFrame(X, columns=["u", "v", "w"])
    table["kind"] = np.where(X[:, 1] > 0.5, "p", "q")
    model = clone(ON_TABLES[kind]).fit(table, y)
    check_that_it_comes_back(model, table, tmp_path / "model.skops")


def own_kernel(X, Y):
    return X @ Y.T


def local_kernel():
    def own_kernel(X, Y):
        return 2 * X @ Y.T

    return own_kernel


class Shift(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.shift_ = X.mean(axis=0)
        return self

    def transform(self, X):
        return X - self.shift_


class OnceOnly:
    """It can be written but not made again."""

    def __init__(self):
        self.kept = 1

    def __setstate__(self, state):
        raise RuntimeError("not twice")


def local_class():
    class Shift(BaseEstimator):
        def fit(self, X, y=None):
            return self

    return Shift()


def name_of(thing):
    return f"{thing.__module__}.{thing.__name__}"


SHADOWED = {name_of(own_kernel), name_of(Shift)}
REFUSED = {
    "function": (KOGDRegressor(kernel=own_kernel), (), r"\.own_kernel'\].*trusted=\["),
    "class": (make_pipeline(Shift(), vaw()), (), r"\.Shift'\].*trusted=\["),
    "lambda": (KOGDRegressor(kernel=lambda X, Y: X @ Y.T), (), "<lambda>.*top level of a module"),
    "local": (KOGDRegressor(kernel=local_kernel()), SHADOWED, "<locals>.*top level of a module"),
    "partial": (KOGDRegressor(kernel=partial(local_kernel())), SHADOWED, "<locals>.*top level"),
    "local class": (make_pipeline(local_class(), vaw()), SHADOWED, "<locals>.*top level"),
    "distribution": (PrequentialSearch(vaw(), {"alpha": loguniform(1, 2)}, n_iter=2), (), "scipy"),
    "NumPy's": (make_pipeline(FunctionTransformer(np.nan_to_num)), (), "numpy.nan_to_num"),
    "booleans": (SGDClassifier(class_weight={False: 1, True: 2}), (), "keys .False, True.*boolean"),
    "alike": (PrequentialSearch(vaw(), {1: 2, "1": 3}), (), "keys .1, '1'.*printed"),
    "pairs": (PrequentialSearch(vaw(), {(1, 2): 3}), (), "keys .*printed"),
    "default": (PrequentialSearch(vaw(), defaultdict(list, {1: [2]})), (), "keys .*printed"),
    "complex": (VAWRegressor(alpha=1j), (), "cannot be saved.*pickle"),
    "lock": (VAWRegressor(alpha=threading.Lock()), (), "cannot be saved.*pickle"),
    "once": (VAWRegressor(alpha=OnceOnly()), [name_of(OnceOnly)], "not twice.*trusted.*pickle"),
}


@pytest.mark.parametrize(("model", "trusted", "reason"), REFUSED.values(), ids=REFUSED)
def test_save_refuses_what_load_would_and_leaves_the_old_file(model, trusted, reason, tmp_path):
    path = tmp_path / "model.skops"
    save(VAWRegressor(2.0), path)
    old = path.read_bytes()
    with pytest.raises(ValueError, match=reason):
        save(model, path, trusted=trusted)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["model.skops"]


# compiled code reads what these learn, and takes their indices on trust
UNSAFE = {
    "splines": (make_pipeline(SplineTransformer(), vaw()), "BSpline"),
    "neighbours": (VotingRegressor([("near", KNeighborsRegressor())]), "KDTree"),
}


@pytest.mark.parametrize(("model", "reason"), UNSAFE.values(), ids=UNSAFE)
def test_save_refuses_what_could_crash_the_reader(model, reason, tmp_path):
    path = tmp_path / "model.skops"
    save(model, path)
    fitted = clone(model).fit(*stream())
    with pytest.raises(ValueError, match=f"{reason}.*pickle"):
        save(fitted, path)
    assert load(path).get_params(deep=False).keys() == model.get_params(deep=False).keys()


@pytest.mark.parametrize("package", ["pandas", "polars", None])
def test_a_warm_up_on_frames_is_saved_when_it_has_ended(package):
    X, y = stream(20)
    rows = X if package is None else pytest.importorskip(package).DataFrame(X)
    model = make_streaming_pipeline(StandardScaler(), VAWRegressor(), warmup=10)
    model.partial_fit(rows[:4], y[:4])
    if package is not None:
        with pytest.raises(ValueError, match=r"warming up: of the 4 rows .* after warmup=10 rows"):
            to_bytes(model)
        model.partial_fit(rows[4:10], y[4:10])
    again = from_bytes(to_bytes(model)).partial_fit(rows[10:], y[10:])
    model.partial_fit(rows[10:], y[10:])
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


def test_a_model_that_holds_itself_is_refused(tmp_path):
    grid = {"alpha": [1.0]}
    grid["self"] = grid
    with pytest.raises(ValueError, match="something in it holds itself"):
        save(PrequentialSearch(vaw(), grid), tmp_path / "model.skops")
    assert os.listdir(tmp_path) == []


def test_what_is_ones_own_must_be_trusted_by_writer_and_reader(tmp_path):
    from skops.io.exceptions import UntrustedTypesFoundException

    X, y = stream(seed=1)
    path = tmp_path / "own.skops"
    names = [name_of(own_kernel), name_of(Shift)]
    model = make_pipeline(Shift(), KOGDRegressor(kernel=own_kernel)).fit(X, y)
    with pytest.raises(ValueError, match="own_kernel"):
        save(model, path, trusted=names[1:])
    save(model, path, trusted=names)
    with pytest.raises(
        UntrustedTypesFoundException, match=r"trusted=\['.*own_kernel'\]"
    ) as refusal:
        load(path, trusted=names[1:])
    assert isinstance(refusal.value, TypeError)
    assert str(path) in str(refusal.value)
    # all that the call needs, those given included, so that it can be copied
    assert f"load it with trusted={sorted(names)}." in str(refusal.value)
    np.testing.assert_array_equal(load(path, trusted=names).predict(X), model.predict(X))


@pytest.mark.parametrize("trusted", ["my.kernel", True, [VAWRegressor], 3], ids=str)
def test_trusted_is_a_sequence_of_names(trusted, tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(TypeError, match="sequence of strings"):
        save(VAWRegressor(), path, trusted=trusted)
    save(VAWRegressor(), path)
    with pytest.raises(TypeError, match="sequence of strings"):
        load(path, trusted=trusted)


def test_a_name_that_is_nowhere_to_be_found(tmp_path, monkeypatch):
    path = tmp_path / "own.skops"
    name = name_of(Shift)
    save(make_pipeline(Shift()), path, trusted=[name])
    monkeypatch.delattr(sys.modules[Shift.__module__], "Shift")
    with pytest.raises(ValueError, match=r"own\.skops cannot be read here.*Shift.*importable"):
        load(path, trusted=[name])


def test_a_pickle_is_not_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (os.system, (f"touch {tmp_path}/boom",))

    (tmp_path / "model.skops").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match=r"model\.skops is no skops file"):
        load(tmp_path / "model.skops")
    assert not (tmp_path / "boom").exists()


def zipped(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("letter.txt", "Dear reader")


def cut(path):
    save(VAWRegressor(), path)
    path.write_bytes(path.read_bytes()[:-100])


DAMAGED = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("alpha: 1.0\n" * 100),
    "cut": cut,
    "another archive": zipped,
    "folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("make", DAMAGED.values(), ids=DAMAGED)
def test_damaged_files_are_refused_in_a_sentence(make, tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(FileNotFoundError):
        load(path)
    make(path)
    with pytest.raises(ValueError, match=r"model\.skops is (no skops file|a folder).*\.$"):
        load(path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits_are_found_or_do_no_harm(seed, tmp_path):
    rng = np.random.default_rng(seed)
    X, y = stream(seed=seed)
    path = tmp_path / "model.skops"
    model = make_streaming_pipeline(RunningStandardScaler(), vaw()).fit(X, y)
    save(model, path)
    whole = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    directory = whole.tobytes().index(b"PK\x01\x02")  # here names and checksums are
    outcomes = {"refused": 0, "equal": 0}
    for k in range(250):
        damaged = whole.copy()
        low = directory if k % 2 else 0
        places = rng.integers(low, len(whole), size=rng.choice([1, 1, 9]))
        damaged[places] ^= np.uint8(1) << rng.integers(8, dtype=np.uint8, size=len(places))
        path.write_bytes(damaged[: rng.integers(len(whole)) if k % 10 == 0 else None].tobytes())
        try:
            again = load(path)
        except ValueError as error:
            outcomes["refused"] += bool(
                re.search(r"model\.skops (is no skops file|asks for \d+ bytes)", str(error))
            )
        else:
            np.testing.assert_array_equal(again.predict(X), model.predict(X))
            np.testing.assert_array_equal(
                again.prequential_predict(X, y), clone_of(model).prequential_predict(X, y)
            )
            outcomes["equal"] += 1
    assert sum(outcomes.values()) == 250
    assert min(outcomes.values()) > 10, outcomes


def clone_of(model):
    return pickle.loads(pickle.dumps(model))


def spoil(model, value):
    """Put a number into one array of the state of a model."""
    arrays = [a for a in model._state.values() if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
    next(a for a in arrays if a.size).flat[0] = value


def spoilt_at(depth, value):
    X, y = stream()
    model, scaler = vaw().fit(X, y), RunningRobustScaler().fit(X)
    if depth == "self":
        spoil(model, value)
        return model
    if depth == "voting":
        ensemble = VotingRegressor([("vaw", vaw())]).fit(X, y)
        spoil(ensemble.estimators_[0], value)
        return make_pipeline(FrozenEstimator(ensemble))
    if depth == "scaler":
        spoil(scaler, value)
        return make_pipeline(scaler, model)
    if depth == "past":
        late = make_streaming_pipeline(
            RunningStandardScaler(), OnlineKernelRegressor(budget="fast", label_delay=2)
        ).fit(X, y)
        late.steps_[0][1]._state["past"][0] = value
        return late
    if depth == "search":
        search = clone(SEARCH).fit(X, y)
        spoil(search._state.finals[1], value)
        return search
    if depth == "inside a state":
        scaled = StreamingTransformedTargetRegressor(vaw()).fit(X, y)
        spoil(scaled._state["regressor"], value)
        return scaled
    grid = GridSearchCV(make_pipeline(vaw()), {"vawregressor": [vaw(), model]}, cv=2)
    spoil(model, value)
    return make_pipeline(StandardScaler(), grid)


DEPTHS = ["self", "voting", "scaler", "past", "search", "inside a state", "grid"]


@pytest.mark.long(every=4)
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_a_state_that_is_not_finite_is_refused(depth, value, tmp_path):
    path = tmp_path / "model.skops"
    model = spoilt_at(depth, value)
    with pytest.raises(ValueError, match=r"The model holds a .* with NaN or infinity"):
        save(model, path)
    skops_io.dump({"format": _FORMAT, "sklearn_okl": "0", "estimator": model}, path)
    with pytest.raises(ValueError, match=r"model\.skops holds a .* with NaN or infinity"):
        load(path)


def test_files_of_others_and_of_the_future_are_refused(tmp_path):
    import skops.io

    path = tmp_path / "model.skops"
    others = [StandardScaler(), {"format": 1}]
    others += [
        {"format": n, "sklearn_okl": "0", "estimator": VAWRegressor()} for n in ("1", 0, None)
    ]
    for other in others:
        skops.io.dump(other, path)
        with pytest.raises(ValueError, match=r"model\.skops holds no model saved by"):
            load(path)
    skops.io.dump({"format": 99, "sklearn_okl": "9.9", "estimator": VAWRegressor()}, path)
    with pytest.raises(ValueError, match=r"saved by sklearn_okl 9\.9"):
        load(path)
    skops.io.dump({"format": 1, "sklearn_okl": "0.1.0.dev0", "estimator": VAWRegressor()}, path)
    with pytest.raises(ValueError, match=r"in format 1, which this version, .* no longer reads"):
        load(path)


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    save(VAWRegressor(2.0), path)
    old = path.read_bytes()

    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        save(VAWRegressor(3.0), path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["model.skops"]


KILLED = """
import os, signal, sys
from sklearn_okl import load, save

model, path, share = load(sys.argv[1]), sys.argv[1], float(sys.argv[2])

def calls_of_save(last=None):
    n = 0
    def count(frame, event, argument):
        nonlocal n
        n += event in ("call", "c_call")
        if n == last:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.setprofile(count)
    save(model, path)
    sys.setprofile(None)
    return n

calls_of_save()  # the first call imports and remembers
calls_of_save(1 + int(share * calls_of_save()))
"""


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
@pytest.mark.parametrize("seed", range(2))
def test_killed_in_mid_write_the_old_file_is_intact(tmp_path, seed):
    path = tmp_path / "model.skops"
    X, y = stream(100, 100)
    save(VAWRegressor().fit(X, y), path)
    share = np.random.default_rng(seed).uniform(0.05, 0.95)  # of the calls of functions
    done = subprocess.run([sys.executable, "-c", KILLED, path, str(share)], check=False)
    assert done.returncode == -signal.SIGKILL
    np.testing.assert_array_equal(load(path).predict(X), VAWRegressor().fit(X, y).predict(X))


WRITER = """
import os, sys
from sklearn_okl import VAWRegressor, save

def wait(_):
    print("in mid-write", flush=True)
    sys.stdin.readline()

os.fsync = wait
save(VAWRegressor(alpha=7.0), sys.argv[1])
"""


@pytest.fixture
def writer(tmp_path):
    """Start a process that stops in the middle of writing model.skops."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / "model.skops"], **pipes) as job:
        assert job.stdout.readline() == "in mid-write\n"
        yield job
        job.kill()


def parts(folder):
    return [name for name in os.listdir(folder) if name.endswith(".part")]


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="elsewhere open files cannot be removed anyway")
def test_part_files_of_the_living_stay(writer, tmp_path):
    path = tmp_path / "model.skops"
    begun = parts(tmp_path)
    assert len(begun) == 1
    save(VAWRegressor(alpha=2.0), path)
    assert parts(tmp_path) == begun
    writer.communicate("\n" * 9)
    assert writer.returncode == 0
    assert load(path).alpha == 7.0  # the last whole file
    assert parts(tmp_path) == []


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
def test_part_files_of_the_dead_are_removed(writer, tmp_path):
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert len(parts(tmp_path)) == 1
    save(VAWRegressor(alpha=2.0), tmp_path / "other.skops")
    assert len(parts(tmp_path)) == 1
    save(VAWRegressor(alpha=2.0), tmp_path / "model.skops")
    assert parts(tmp_path) == []


@pytest.mark.parametrize("locks", [True, False])
def test_only_part_files_of_the_same_name_are_removed(locks, tmp_path, monkeypatch):
    if not locks:
        monkeypatch.setattr(_part_files, "fcntl", None)
    name = "model[0-9]*?.skops"
    others = [".model5x.skops.00000007.part", f".{name}.part", f"{name}.00000007.part", ".part"]
    for other in [*others, f".{name}.00000007.part"]:
        (tmp_path / other).write_bytes(b"begun")
    save(VAWRegressor(), tmp_path / name)
    assert set(os.listdir(tmp_path)) == {name, *others}
    assert load(tmp_path / name).alpha == 1.0


def test_a_part_file_that_cannot_be_removed_does_no_harm(tmp_path, monkeypatch):
    (tmp_path / ".model.skops.00000007.part").write_bytes(b"begun")

    def unlink(*_, **__):
        raise PermissionError("in use")

    monkeypatch.setattr("pathlib.Path.unlink", unlink)
    save(VAWRegressor(), tmp_path / "model.skops")
    assert load(tmp_path / "model.skops").alpha == 1.0


@pytest.mark.parametrize("n_times", [1, 3])
def test_a_part_file_that_is_taken_before_its_lock_is_written_again(n_times, tmp_path, monkeypatch):
    lock, taken = _part_files._lock, []

    def late(file):
        if len(taken) < n_times:
            taken.append(file.name)
            os.unlink(file.name)
        lock(file)

    monkeypatch.setattr(_part_files, "_lock", late)
    save(VAWRegressor(), tmp_path / "model.skops")
    assert len(taken) == n_times  # by names that are drawn, and may come again
    assert os.listdir(tmp_path) == ["model.skops"]
    assert load(tmp_path / "model.skops").alpha == 1.0


def test_a_folder_that_vanishes_is_no_endless_loop(tmp_path, monkeypatch):
    monkeypatch.setattr(_part_files, "_lock", lambda file: os.unlink(file.name))
    with pytest.raises(OSError, match=r"model\.skops could not be replaced.*save again"):
        save(VAWRegressor(), tmp_path / "model.skops")


@pytest.mark.long
def test_of_two_processes_the_last_whole_file_wins(tmp_path):
    path = tmp_path / "model.skops"
    program = (
        "import sys; from sklearn_okl import VAWRegressor, save\n"
        "for _ in range(8): save(VAWRegressor(alpha=float(sys.argv[2])), sys.argv[1])"
    )
    jobs = [
        subprocess.Popen([sys.executable, "-c", program, path, alpha], stderr=subprocess.PIPE)
        for alpha in ("2", "3")
    ]
    seen = set()
    while any(job.poll() is None for job in jobs):
        if path.exists():
            seen.add(load(path).alpha)
        else:
            time.sleep(0.01)  # they are importing
    assert [job.communicate()[1] for job in jobs] == [b"", b""]
    assert seen | {load(path).alpha} <= {2.0, 3.0}
    assert os.listdir(tmp_path) == ["model.skops"]


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays(exists, tmp_path):
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "v1.skops", tmp_path / "model.skops"
    link.symlink_to("store/v1.skops")
    if exists:
        save(VAWRegressor(alpha=2.0), target)
    save(VAWRegressor(alpha=3.0), link)
    assert link.is_symlink()
    assert not target.is_symlink()
    assert load(link).alpha == load(target).alpha == 3.0
    assert os.listdir(target.parent) == ["v1.skops"]


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_a_link_to_itself_is_refused(tmp_path):
    (tmp_path / "model.skops").symlink_to("model.skops")
    with pytest.raises(OSError, match="back to itself"):
        save(VAWRegressor(), tmp_path / "model.skops")
    assert (tmp_path / "model.skops").is_symlink()


def test_paths_that_cannot_be_files_are_named(tmp_path):
    model = VAWRegressor()
    with pytest.raises(FileNotFoundError, match=r"The folder .*nowhere does not exist\. Create"):
        save(model, tmp_path / "nowhere" / "model.skops")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        save(model, tmp_path)
    save(model, tmp_path / "file")
    with pytest.raises(NotADirectoryError, match="file is a file, not a folder"):
        save(model, tmp_path / "file" / "model.skops")
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "model.skops")
    with pytest.raises(ValueError, match="a device or a pipe"):
        save(VAWRegressor(), tmp_path / "model.skops")
    assert not (tmp_path / "model.skops").is_file()


class Locked:
    """A callback that nobody can copy, in whose hands a model may be saved."""

    def __init__(self, path=None):
        self.lock, self.path = threading.Lock(), path

    def setup(self, estimator, context):
        self.lock.acquire()

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if self.path is not None:
            save(fitted_estimator, self.path)

    def teardown(self, estimator, context):
        self.lock.release()


def watched(kind, callback):
    if kind == "self":
        return vaw().set_callbacks(callback)
    if kind == "pipeline":
        return make_streaming_pipeline(StandardScaler(), vaw().set_callbacks(callback))
    if kind == "search":
        return PrequentialSearch(vaw().set_callbacks(callback), GRID)
    return VotingRegressor([("vaw", vaw().set_callbacks(callback))])


@pytest.mark.long(every=2)
@pytest.mark.parametrize("kind", ["self", "pipeline", "search", "voting"])
@pytest.mark.parametrize("own", [True, False])
def test_callbacks_stay_behind(kind, own, tmp_path):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")
    X, y = stream(seed=3)
    watcher = Locked() if own else callback.ScoringMonitor(scoring="r2")
    model = watched(kind, watcher).fit(X, y)
    before = dict(vars(model))
    warning = pytest.warns(UserWarning, match="Callbacks are not saved. Set them again")
    with watcher.lock if own else threading.Lock(), warning:
        save(model, tmp_path / "model.skops")
    assert vars(model) == before
    assert all(value is before[name] for name, value in vars(model).items())
    assert b"callback" not in (tmp_path / "model.skops").read_bytes()
    again = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if kind == "self":
        assert model._skl_callbacks == [watcher]
        assert not hasattr(again, "_skl_callbacks")
        again.set_callbacks(Locked()).fit(X, y)
    if kind == "pipeline":
        assert model.steps[1][1]._skl_callbacks == [watcher]
        assert model.steps_[1][1]._state is before["steps_"][1][1]._state
        for m in (again, model):
            m.partial_fit(X, y)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_callback_may_save_the_model_that_is_being_fitted(tmp_path):
    pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brought callbacks")
    X, y = stream(seed=4)
    model = vaw().set_callbacks(Locked(tmp_path / "model.skops"))
    with pytest.warns(UserWarning, match="Callbacks are not saved"):
        model.fit(X, y)
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict(X), model.predict(X))


def test_models_without_callbacks_are_saved_silently_and_as_they_are(tmp_path, recwarn):
    model = clone(FOREIGN).fit(*stream())
    before = pickle.dumps(model)
    save(model, tmp_path / "model.skops")
    assert pickle.dumps(model) == before
    assert len(recwarn) == 0


def test_the_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "model.skops"
    save(VAWRegressor(), path)
    path.chmod(0o640)
    save(VAWRegressor(), path)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    save(VAWRegressor(), tmp_path / "model.skops")
    assert (tmp_path / "model.skops").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_trusted_types_are_ours():
    assert all(name.startswith("sklearn_okl.") for name in sklearn_okl.TRUSTED_TYPES)
    assert len(set(sklearn_okl.TRUSTED_TYPES)) == len(sklearn_okl.all_estimators()) + 35


def test_without_skops_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match="pip install"):
        save(VAWRegressor(), tmp_path / "model.skops")
