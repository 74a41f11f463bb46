"""mlflow's model folders: what is read again goes on as if never written."""

import tempfile
from functools import partial
from pathlib import Path

import sklearn_okl
from sklearn_okl import VAWRegressor

from .examples import NAMES, learnt, pipeline, regression
from .expect import each, holds, near, same
from .files import goes_on, ours, theirs
from .report import adding

LINES = []
does = adding(LINES, "mlflow", "mlflow")


def _through(model, load=None, **options):
    """Return a model that mlflow has written to a folder and read again."""
    import mlflow.sklearn

    load = mlflow.sklearn.load_model if load is None else load
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        # else mlflow would find them by loading the model in another process
        mlflow.sklearn.save_model(model, path, pip_requirements=["scikit-learn"], **options)
        return load(path)


def _through_skops(model, trusted=sklearn_okl.TRUSTED_TYPES, **options):
    return _through(
        model, serialization_format="skops", skops_trusted_types=list(trusted), **options
    )


def _through_skops_by_name(model):
    """Trust what skops asks about, which is to be scikit-learn's or ours."""
    import skops.io

    names = skops.io.get_untrusted_types(data=skops.io.dumps(model))
    foreign = {name for name in names if not name.startswith("sklearn.")}
    holds(foreign <= set(sklearn_okl.TRUSTED_TYPES), f"not among TRUSTED_TYPES: {foreign}")
    return _through_skops(model, names)


@does("sklearn.save_model of ours as skops, TRUSTED_TYPES given: bit for bit, learns on", "skops")
def skops():
    each(ours(), partial(goes_on, _through_skops))


@does("the same of scikit-learn's around ours, what skops asks about given", "skops")
def skops_theirs():
    each(theirs(), partial(goes_on, _through_skops_by_name))


@does("sklearn.save_model as skops without trusted types: refused by name", "skops")
def untrusted():
    from mlflow.exceptions import MlflowException

    try:
        _through_skops(learnt(VAWRegressor(), *regression()), trusted=())
    except MlflowException as error:
        holds("VAWRegressor" in str(error), f"refused without naming VAWRegressor: {error}")
    else:
        raise AssertionError("not refused")


@does("sklearn.save_model as cloudpickle of both: bit for bit, learns on")
def cloudpickle():
    each(ours() | theirs(), partial(goes_on, partial(_through, serialization_format="cloudpickle")))


@does("pyfunc.load_model with a signature: forecasts of frames, by names", "skops", "pandas")
def pyfunc():
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
