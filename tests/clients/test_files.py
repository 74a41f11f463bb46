"""Files of pickle, joblib, skops and mlflow: what is read again goes on as if never written."""

import io
import pickle
import tempfile
from functools import partial
from pathlib import Path

import joblib
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline

import sklearn_okl
from sklearn_okl import RunningStandardScaler, VAWRegressor, load, save
from sklearn_okl.evaluation import PrequentialSearch
from tests.clients.examples import (
    NAMES,
    classification,
    classifier,
    fourier,
    learnt,
    pipeline,
    regression,
    regressors,
)
from tests.clients.expect import client, each, holds, near, same

parallel = client("joblib")
python = client("Python")
cloud = client("cloudpickle", "cloudpickle")
skops = client("skops", "skops")
mlflow = client("mlflow", "mlflow")


def ours():
    """Return estimators of ours by name."""
    search = PrequentialSearch(pipeline(), {"vawregressor__alpha": [0.1, 1.0]})
    return regressors() | {"FOGDClassifier": classifier(), "PrequentialSearch": search}


def theirs():
    """Return scikit-learn's estimators around ours by name."""
    members = [("ours", VAWRegressor()), ("pipeline", pipeline()), ("ridge", Ridge())]
    models = (
        make_pipeline(RunningStandardScaler(), fourier(), VAWRegressor()),
        StackingRegressor(members, cv=3),
        VotingRegressor(members),
        BaggingRegressor(pipeline(), n_estimators=3, random_state=0),
        GridSearchCV(VAWRegressor(), {"alpha": [0.1, 10.0]}, cv=TimeSeriesSplit(3)),
        MultiOutputRegressor(VAWRegressor()),
        OneVsRestClassifier(classifier()),
        CalibratedClassifierCV(classifier(), cv=3),
    )
    return {type(model).__name__: model for model in models}


def _stream(model):
    X, y = classification() if is_classifier(model) else regression()
    return X, (y[:, None] if isinstance(model, MultiOutputRegressor) else y)


def goes_on(through, model):
    """Hold a model that went through a file against the one that did not, bit for bit."""
    X, y = _stream(model)
    model = learnt(model, X[:100], y[:100])
    read = through(model)
    same(read.predict(X), model.predict(X))
    if hasattr(model, "partial_fit"):
        for learner in (read, model):
            learner.partial_fit(X[100:], y[100:])
        same(read.predict(X), model.predict(X), "forecasts after learning on")


def _through_file(write, read, model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        write(model, path)
        return read(path)


@pytest.mark.long
@parallel("Parallel in threads and in processes: the forecasts of one after the other")
def test_in_parallel():
    X, y = regression()
    models = [*regressors().values()]
    expected = [learnt(model, X, y).predict(X) for model in models]
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            learnt_there = joblib.Parallel()(
                joblib.delayed(clone(model).fit)(X, y) for model in models
            )
            shared = joblib.Parallel()(joblib.delayed(model.predict)(X) for model in learnt_there)
        # in threads under several BLAS threads the last digits may differ
        holds_as = same if backend == "loky" else near
        for forecasts, model, right in zip(shared, learnt_there, expected, strict=True):
            holds_as(forecasts, right, f"forecasts, {backend}")
            holds_as(model.predict(X), right, f"forecasts of models from {backend}")


@pytest.mark.long
@parallel("GridSearchCV and PrequentialSearch in threads and in processes: as serial")
def test_searches_in_parallel():
    X, y = regression()
    searches = (
        PrequentialSearch(pipeline(), {"fourierfeatures__gamma": [0.1, 1.0]}),
        GridSearchCV(pipeline(), {"fourierfeatures__gamma": [0.1, 1.0]}, cv=TimeSeriesSplit(2)),
    )
    for search in searches:
        expected = learnt(search, X, y).predict(X)
        for backend in ("threading", "loky"):
            with joblib.parallel_config(backend=backend):
                spread = clone(search).set_params(n_jobs=2).fit(X, y)
            near(spread.predict(X), expected, f"{type(search).__name__}, {backend}")


@parallel("dump and load of ours: bit for bit, learns on")
def test_dumped():
    each(ours(), partial(goes_on, partial(_through_file, joblib.dump, joblib.load)))


@parallel("dump and load by memory map of ours: bit for bit, learns on")
def test_mapped():
    read = partial(joblib.load, mmap_mode="r")
    each(ours(), partial(goes_on, partial(_through_file, joblib.dump, read)))


@parallel("dump and load of scikit-learn's around ours: bit for bit")
def test_dumped_theirs():
    each(theirs(), partial(goes_on, partial(_through_file, joblib.dump, joblib.load)))


@python("pickle of ours and of scikit-learn's around ours: bit for bit, learns on")
def test_pickled():
    each(
        ours() | theirs(),
        partial(goes_on, lambda model: pickle.loads(pickle.dumps(model))),
    )


@cloud("cloudpickle of ours and of scikit-learn's around ours: bit for bit, learns on")
def test_cloudpickled():
    import cloudpickle

    each(
        ours() | theirs(),
        partial(goes_on, lambda model: pickle.loads(cloudpickle.dumps(model))),
    )


@skops("sklearn_okl.save and load of ours: bit for bit, learns on")
def test_saved():
    each(ours(), partial(goes_on, partial(_through_file, save, load)))


@pytest.mark.long(every=2)
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(
            model, marks=skops(f"sklearn_okl.save and load of {name} around ours: bit for bit")
        )
        for name, model in theirs().items()
    ],
)
def test_saved_theirs(model):
    goes_on(partial(_through_file, save, load), model)


@skops("skops.io.dump and load of ours, our TRUSTED_TYPES given: bit for bit, learns on")
def test_skops_alone():
    from skops import io as skops_io

    def through(model):
        written = skops_io.dumps(model)
        return skops_io.load(io.BytesIO(written), trusted=sklearn_okl.TRUSTED_TYPES)

    each(ours(), partial(goes_on, through))


# ---- mlflow's folders ----


def _through_mlflow(model, load=None, **options):
    """Return a model that mlflow has written to a folder and read again."""
    import mlflow.sklearn

    load = mlflow.sklearn.load_model if load is None else load
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        # else mlflow would find them by loading the model in another process
        mlflow.sklearn.save_model(model, path, pip_requirements=["scikit-learn"], **options)
        return load(path)


def _through_skops(model, trusted=sklearn_okl.TRUSTED_TYPES, **options):
    return _through_mlflow(
        model, serialization_format="skops", skops_trusted_types=list(trusted), **options
    )


def _through_skops_by_name(model):
    """Trust what skops asks about, which is to be scikit-learn's or ours."""
    import skops.io

    names = skops.io.get_untrusted_types(data=skops.io.dumps(model))
    foreign = {name for name in names if not name.startswith("sklearn.")}
    holds(foreign <= set(sklearn_okl.TRUSTED_TYPES), f"not among TRUSTED_TYPES: {foreign}")
    return _through_skops(model, names)


@mlflow("sklearn.save_model of ours as skops, TRUSTED_TYPES given: bit for bit, learns on", "skops")
def test_mlflow_as_skops():
    each(ours(), partial(goes_on, _through_skops))


@mlflow("the same of scikit-learn's around ours, what skops asks about given", "skops")
def test_mlflow_as_skops_of_theirs():
    each(theirs(), partial(goes_on, _through_skops_by_name))


@mlflow("sklearn.save_model as skops without trusted types: refused by name", "skops")
def test_mlflow_without_trust():
    from mlflow.exceptions import MlflowException

    try:
        _through_skops(learnt(VAWRegressor(), *regression()), trusted=())
    except MlflowException as error:
        holds("VAWRegressor" in str(error), f"refused without naming VAWRegressor: {error}")
    else:
        raise AssertionError("not refused")


@mlflow("sklearn.save_model as cloudpickle of both: bit for bit, learns on")
def test_mlflow_as_cloudpickle():
    each(
        ours() | theirs(),
        partial(goes_on, partial(_through_mlflow, serialization_format="cloudpickle")),
    )


@mlflow("pyfunc.load_model with a signature: forecasts of frames, by names", "skops", "pandas")
def test_mlflow_pyfunc():
    import pandas as pd
    from mlflow.exceptions import MlflowException
    from mlflow.models import infer_signature
    from mlflow.pyfunc import load_model

    X, y = regression()
    frame = pd.DataFrame(X, columns=NAMES)
    model = learnt(pipeline(), frame, y)
    signature = infer_signature(frame, model.predict(frame))
    loaded = _through_skops(model, load=load_model, signature=signature)
    same(loaded.predict(frame), model.predict(frame))
    near(loaded.predict(frame[NAMES[::-1]]), model.predict(frame), "columns in another order")
    try:
        loaded.predict(frame.rename(columns={"a": "other"}))
    except MlflowException as error:
        holds("'a'" in str(error), f"refused without naming the column: {error}")
    else:
        raise AssertionError("a column of another name: not refused")
