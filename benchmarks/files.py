"""Files of models that are damaged, or made by hand: what a stranger may send.

Each file is loaded. It is refused in a sentence of the package, or the model in it forecasts,
learns and forecasts again, in numbers or in sentences of the package. Whatever else happens is a
fault, as is memory beyond what `load` was told that it may take.
"""

import linecache
import sys
import time
import tracemalloc
import warnings
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from sklearn_okl import (
    AdaptedForecaster,
    KeyedRegressor,
    OnlineForecaster,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RefitClassifier,
    RefitRegressor,
    ResidualRegressor,
    RowClassifier,
    RowRegressor,
    RunningImputer,
    RunningOneHotEncoder,
    RunningStandardScaler,
    StronglyAdaptiveRegressor,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)
from sklearn_okl.evaluation import PrequentialSearch

from ._progress import progress
from ._report import RESULTS, print_environment, print_saved, table
from .damaged_files import WAYS

N_FILES = 20_000
N_FILES_QUICK = 200
MAX_BYTES = 3 * 10**7
N_ROWS = (
    360  # of a stream: the first are learnt before the file is made, the others by who loads it
)
N_FIRST = 80
_LONG_EVERY = 12  # one model in so many learns all rows: some of what it holds is read late
_WATCHED_EVERY = 4  # of one file in so many the memory is watched, which makes all slower
_SLOW = 5.0  # seconds of processor time that no file of a small model may take to load
_VERBS = ("predict", "predict_proba", "decision_function", "transform")
_KINDS = {"budget": "fast", "random_state": 0}


class Sent(NamedTuple):
    """A model that somebody may send: its name, the estimator, rows to learn, and what it is asked.

    Rows are (X, y), a series (y,), or what else `fit` takes; it is asked the last of them where
    nothing is said, a series nothing.
    """

    name: str
    estimator: object
    rows: tuple
    asked: tuple | None = None


class Outcome(NamedTuple):
    """What came of a file: "refused", "used" or "fault", in what words; what loading it took."""

    kind: str
    says: str
    seconds: float
    peak: int


def run(output=RESULTS, *, n_files=N_FILES, seed=0, only=None, quick=False):
    """Load and use damaged files of all models, print what came of them; 1 if one got through."""
    n_files = min(n_files, N_FILES_QUICK) if quick else n_files
    models = [sent for sent in sent_models() if not only or only.lower() in sent.name.lower()]
    if not models:
        print(f"The name of no model contains {only!r}.", file=sys.stderr)
        return 1
    where, rng, found, faults = print_environment(), np.random.default_rng(seed), [], []
    with TemporaryDirectory() as folder, progress(n_files, "file") as advance:
        path = Path(folder) / "model.skops"
        contents = [written(sent, path) for sent in models]
        for i in range(n_files):
            place, way = i % len(models), WAYS[rng.integers(len(WAYS))]
            sent, content = models[place], way(rng, contents[place])
            path.write_bytes(content)
            outcome = tried(path, sent, watched=not i % _WATCHED_EVERY, long=not i % _LONG_EVERY)
            found.append((sent.name, way.__name__, outcome))
            if outcome.kind == "fault":
                faults.append(
                    {"file": i, "model": sent.name, "way": way.__name__, **outcome._asdict()}
                )
                kept = output / "files" / f"{seed}_{i}.skops"
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(content)
            advance(1, sent.name)
    for fault in faults:
        print(f"{fault['file']:6d}  {fault['model']}, {fault['way']}: {fault['says']}")
    print("\n" + summary(found))
    where_kept = f" Those are in {output / 'files'}." if faults else ""
    print(f"\n{len(faults)} of {n_files} files got through.{where_kept}")
    settings = {"files": n_files, "seed": seed, "max_bytes": MAX_BYTES}
    print_saved(
        output / "files.json", {"environment": where, "settings": settings, "faults": faults}
    )
    return int(bool(faults))


def sent_models():
    """Return models of all kinds, each with rows to learn."""
    import pandas as pd

    from tests.instances import instances, label, rows_for  # of the checkout

    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 4))
    y = X[:, 0] + 0.1 * rng.normal(size=N_ROWS)
    found = [
        Sent(label(one), one, (rows_for(one, X), y > 0 if is_classifier(one) else y))
        for one in instances()
    ]
    gaps = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    three = np.digitize(y, [-0.5, 0.5])
    mixed = np.column_stack([np.array(["a", "b", "c"], dtype=object)[three], X[:, 1:]])
    days = np.datetime64("2024-01-01", "ns") + np.arange(N_ROWS).astype("timedelta64[D]")
    frame = pd.DataFrame({"kind": mixed[:, 0], "a": X[:, 1], "day": days})
    handed = make_pipeline(
        make_column_transformer((OrdinalEncoder(), ["kind"]), remainder="passthrough"), Ridge()
    )
    columns = ColumnTransformer(
        [("text", RunningOneHotEncoder(), [0]), ("rest", RunningStandardScaler(), [1, 2])]
    )
    more = {
        "several targets": (OnlineKernelRegressor(**_KINDS), (X, np.column_stack([y, X[:, 1]]))),
        "several targets of VAW": (VAWRegressor(), (X, np.column_stack([y, X[:, 1]]))),
        "an intercept": (VAWRegressor(fit_intercept=True), (X, y)),
        "three classes": (OnlineKernelClassifier(**_KINDS), (X, three)),
        "three classes refitted": (RefitClassifier(LogisticRegression()), (X, three)),
        "gaps": (OnlineKernelRegressor(**_KINDS), (gaps, y)),
        "gaps filled": (RunningImputer(), (gaps, y)),
        "steps": (OnlineKernelRegressor(**_KINDS), (X.round(), y)),
        "columns of all kinds": (OnlineKernelRegressor(**_KINDS), (frame, y)),
        "columns handed on": (RefitRegressor(handed), (frame.drop(columns="day"), y)),
        "categories": (
            OnlineKernelRegressor(categorical_features=[0], **_KINDS),
            (np.column_stack([three, X[:, 1:]]).astype(float), y),
        ),
        "text": (RunningOneHotEncoder(), (mixed[:, :1], y)),
        "a pipeline": (make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()), (X, y)),
        "a pipeline of columns": (make_streaming_pipeline(columns, VAWRegressor()), (mixed, y)),
        "a warm-up": (
            make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(), warmup=100),
            (X, y),
        ),
        "a search": (PrequentialSearch(VAWRegressor(), {"alpha": [0.1, 1.0]}), (X, y)),
        "a series": (OnlineForecaster(3, random_state=0), (y,)),
        "two series": (OnlineForecaster(2, random_state=0), (X[:, :2] + y[:, None],)),
    }
    framed = frame.drop(columns="day")
    records = framed.to_dict("records")
    more |= {
        "a correction of columns": (
            ResidualRegressor(OnlineKernelRegressor(**_KINDS), RefitRegressor(handed)),
            (framed, y),
        ),
        "copies of columns": (StronglyAdaptiveRegressor(RefitRegressor(handed)), (framed, y)),
        "a pipeline of a model of columns": (
            make_streaming_pipeline(OnlineKernelRegressor(**_KINDS)),
            (framed, y),
        ),
        "late labels": (
            OnlineKernelRegressor(label_delay=3, spread="rows", **_KINDS),
            (X, np.column_stack([y, -y])),
        ),
        "dicts": (RowRegressor(OnlineKernelRegressor(**_KINDS)), (records, y.tolist())),
        "dicts by key": (RowRegressor(KeyedRegressor(key="kind")), (records, y.tolist())),
        "what all keys leave": (
            RowRegressor(KeyedRegressor(key="kind", prior="init")),
            (records, y.tolist()),
        ),
        "dicts of classes": (
            RowClassifier(classes=[False, True]),
            ([{"a": row["a"]} for row in records], (y > 0).tolist()),
        ),
    }
    index = pd.date_range("2024-03-30", periods=N_ROWS, freq="h", tz="Europe/Berlin")
    dated = pd.Series(y, index, name="load"), pd.DataFrame(X[:, :2], index, columns=["a", "b"])
    both, said = X[:, :2] + y[:, None], np.where(rng.random((N_ROWS, 2, 2)) < 0.1, np.nan, 0.1)
    more |= {
        "a series with dates": (OnlineForecaster(3, known_ahead=["a"]), dated, (X[:3, :2],)),
        "a corrected series": (AdaptedForecaster(3), (y, np.zeros((N_ROWS, 3))), (np.zeros(3),)),
        "two corrected series": (AdaptedForecaster(2, window=5), (both, said), (np.zeros((2, 2)),)),
        "seasons given": (OnlineForecaster(2, season_lengths=[12, 24], guard=False), (y,)),
    }
    return found + [Sent(name, *parts) for name, parts in more.items()]


def written(sent, path):
    """Return the content of a file of a model that has learnt some rows, the last ones alone."""
    first = [part[:N_FIRST] for part in sent.rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a warm-up
        model = clone(sent.estimator)
        if hasattr(model, "learn_one"):
            said(model, first)
            model.ask("waits", sent.rows[0][N_FIRST])
        else:
            model.fit(*first)
        if hasattr(model, "partial_fit"):
            for t in range(N_FIRST, N_FIRST + 4):
                model.partial_fit(*[part[t : t + 1] for part in sent.rows])
        save(model, path)
        load(path)  # a sound one is never refused
    return path.read_bytes()


def said(model, rows):
    """Tell a model of single rows, dicts, what their labels are."""
    for t, (row, label) in enumerate(zip(*rows, strict=True)):
        model.ask(t, row)
        model.tell(t, label)


def tried(path, sent, *, watched=True, long=False):
    """Load a file and use the model in it; return what came of that."""
    model, peak, start = None, 0, time.process_time()
    if watched:
        tracemalloc.start()
    try:
        model = load(path, max_bytes=MAX_BYTES)
        says = None
    except (TypeError, ValueError) as error:
        says = None if path.name in str(error) else f"refused in other words: {error!r}"
    except Exception as error:
        says = f"not refused: {error!r}"
    finally:
        if watched:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    seconds = time.process_time() - start
    if says is None and peak > MAX_BYTES:
        says = f"asks for {peak} bytes"
    if says is None and seconds > _SLOW * (1 + watched):
        says = f"takes {seconds:.0f} s to load"
    if says is not None or model is None:
        return Outcome("fault" if says else "refused", says or "", seconds, peak)
    says = misused(model, sent, long) if type(model) is type(sent.estimator) else None
    return Outcome("fault" if says else "used", says or "", seconds, peak)


def misused(model, sent, long=False):
    """Let a model answer, learn and answer; return what it says that no sentence is, or None."""
    X = sent.asked
    if X is None:
        X = () if len(sent.rows) == 1 else (sent.rows[0][-9:],)
    verbs = [verb for verb in _VERBS if hasattr(model, verb)]
    if hasattr(model, "learn_one"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            says = unsaid(said, (model, [part[N_FIRST : N_FIRST + 9] for part in sent.rows]))
            says = says or unsaid(model.tell, ("waits", sent.rows[1][0]))
            says = says or unsaid(model.predict_one, (sent.rows[0][-1],), finite=True)
        return says and f"rows: {says}"
    if isinstance(model, (AdaptedForecaster, OnlineForecaster)):
        verbs.append("predict_interval")
    ends = [N_FIRST + 4, N_FIRST + 5, N_FIRST + 8, N_ROWS if long else N_FIRST + 30]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        # of SciPy, to who fits somebody else's model on what rows a file holds
        warnings.simplefilter("ignore", LinAlgWarning)
        for low, high in zip(ends[:1] + ends, ends, strict=False):
            if low < high and hasattr(model, "partial_fit"):
                rows = [part[low:high] for part in sent.rows]
                says = unsaid(model.partial_fit, rows)
                if says:
                    return f"learning: {says}"
            for verb in verbs:
                says = unsaid(getattr(model, verb), X, finite=verb != "predict_interval")
                if says:
                    return f"{verb}: {says}"
    return None


def unsaid(verb, given, finite=False):
    """Call a verb; return what it raises that is no sentence, or that it gives no numbers."""
    try:
        answer = verb(*given)
    except Exception as error:
        return None if is_a_sentence(error) else repr(error)
    if not finite or np.asarray(answer).dtype.kind != "f" or np.isfinite(answer).all():
        return None
    return "numbers that are none"


def is_a_sentence(error):
    """Tell whether our code, or scikit-learn's, has raised a ValueError or TypeError on purpose."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    package, _, _ = frame.f_globals["__name__"].partition(".")
    line = linecache.getline(frame.f_code.co_filename, trace.tb_lineno).lstrip()
    meant = isinstance(error, (TypeError, ValueError)) and line.startswith("raise")
    return meant and package in ("sklearn", "sklearn_okl")


def summary(found):
    """Return a table of what came of all files, by the ways of damaging them."""
    rows = []
    for way in dict.fromkeys(way.__name__ for way in WAYS):
        outcomes = [outcome for _, name, outcome in found if name == way]
        kinds = Counter(outcome.kind for outcome in outcomes)
        cells = [str(kinds[kind]) for kind in ("fault", "refused", "used")]
        peak = max((outcome.peak for outcome in outcomes), default=0)
        slowest = max((outcome.seconds for outcome in outcomes), default=0.0)
        rows.append([way.replace("_", " "), *cells, f"{peak / 1e6:.1f}", f"{slowest:.2f}"])
    header = ["", "got through", "refused", "used", "most MB", "longest s"]
    return table(header, rows)
