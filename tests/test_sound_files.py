"""Sound models come back: whatever the targets, the columns and what was learnt of them are."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

from sklearn_okl import (
    AARegressor,
    ExpertsRegressor,
    OKSRegressor,
    OnlineForecaster,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RefitRegressor,
    RunningPowerTransformer,
    SectionFeatures,
    StreamingTransformedTargetRegressor,
    VAWRegressor,
    _model_checks,
    from_bytes,
    load,
    make_streaming_pipeline,
    save,
    to_bytes,
)
from sklearn_okl.algorithms import _multinomial_logistic
from tests.instances import instances, rows_for

pytest.importorskip("skops")
FAST = {"budget": "fast", "random_state": 0}
LOG = FunctionTransformer(np.log, np.exp)
N = 100
rng = np.random.default_rng(0)
X = rng.uniform(0.5, 3.0, size=(N, 3))
WAGES = np.exp(X[:, 0]) + 500.0


def frame():
    """Return columns of text, long text, dates, numbers with gaps and categories."""
    pd = pytest.importorskip("pandas")
    columns = {
        "text": np.array(["red", "blue", None], dtype=object)[rng.integers(3, size=N)],
        "long": np.array(["a" * 100, "b" * 100])[rng.integers(2, size=N)],
        "number": np.where(rng.random(N) < 0.1, np.nan, X[:, 0]),
        "kind": pd.Categorical(np.array(["u", "v"])[rng.integers(2, size=N)]),
    }
    return pd.DataFrame(columns)


def with_dates():
    return frame().assign(day=np.datetime64("2024-01-01") + np.arange(N).astype("m8[D]"))


FILLED = make_pipeline(make_column_transformer((OrdinalEncoder(), ["kind", "long"])), Ridge())
SOUND = {
    "a range": (OnlineKernelRegressor(target_range=(500, None), **FAST), X, WAGES),
    "a range below 0": (OnlineKernelRegressor(target_range=(-9e9, -1), **FAST), X, -WAGES),
    "a range of experts": (AARegressor(y_range=(400, 700)), 600.0 + X, WAGES),
    "a logarithm": (StreamingTransformedTargetRegressor(VAWRegressor(), LOG), X, WAGES),
    "a power of targets": (
        StreamingTransformedTargetRegressor(
            VAWRegressor(), RunningPowerTransformer(method="box-cox")
        ),
        X,
        WAGES,
    ),
    "a power": (RunningPowerTransformer(method="box-cox"), X, WAGES),
    "a power in a pipeline": (
        make_streaming_pipeline(RunningPowerTransformer(method="box-cox"), VAWRegressor()),
        X,
        WAGES,
    ),
    "a timetable": (OnlineKernelRegressor(**FAST), X.round(), WAGES),
    "a timetable of classes": (OnlineKernelClassifier(**FAST), X.round(), WAGES > 507),
    "all kinds": (OnlineKernelRegressor(**FAST), with_dates, WAGES),
    "all kinds of classes": (OnlineKernelClassifier(**FAST), with_dates, WAGES > 507),
    "a named column": (OnlineKernelRegressor(categorical_features=["text"], **FAST), frame, WAGES),
    "handed on": (RefitRegressor(FILLED), frame, WAGES),
    "handed on to experts": (
        ExpertsRegressor([("refitted", RefitRegressor(FILLED)), ("ours", VAWRegressor())][:1]),
        frame,
        WAGES,
    ),
    "a long horizon": (OKSRegressor(horizon=10**12, random_state=0), X, WAGES - 500.0),
}


@pytest.mark.long(every=4)
@pytest.mark.parametrize("what", SOUND)
def test_sound_models_are_not_refused(what, tmp_path):
    """At fe656ae ranges, logarithms, powers and timetables are: by trials that do not suit them."""
    model, rows, y = SOUND[what]
    rows = rows() if callable(rows) else rows
    model.fit(rows[:80], y[:80])
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    verb = "predict" if hasattr(model, "predict") else "transform"
    assert_array_equal(getattr(again, verb)(rows[80:]), getattr(model, verb)(rows[80:]))


@pytest.mark.parametrize("kernel", ["rbf", "matern32", "laplacian", "poly"])
@pytest.mark.parametrize("n_components", [3, 400])
def test_sections_at_any_points_come_back(kernel, n_components):
    """Of 400 points in a small box most lie in the span of those before, but for rounding."""
    model = SectionFeatures(kernel, 0.3, n_components=n_components, bounds=(0.0, 0.7)).fit(X)
    assert_array_equal(from_bytes(to_bytes(model)).transform(X), model.transform(X))
    from_bytes(to_bytes(model, dtype="float32")).transform(X)


@pytest.mark.long
def test_whatever_is_ours_is_looked_at(monkeypatch):
    """Mercer's expansions and sections were maps that nobody held against anything."""
    looked = []

    def watched(look, part):
        looked.append(part)
        return look(part)

    for name in ("fault_of_map", "_fault_of_kind"):
        monkeypatch.setattr(_model_checks, name, partial(watched, getattr(_model_checks, name)))
    for model in instances():
        rows = rows_for(model, X)
        y = np.median(WAGES) < WAGES if is_classifier(model) else WAGES - WAGES.mean()
        model = model.fit(rows[:40], y[:40])
        looked.clear()
        assert _model_checks.unsound_state([model]) is None
        assert looked, f"Nobody looks at a {type(model).__name__} from a file."


def test_a_forecaster_of_columns_is_not_refused(tmp_path):
    model = OnlineForecaster(5, known_ahead=[0], random_state=0).fit(WAGES[:90], X[:90])
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert_array_equal(again.predict(X[90:95, :1]), model.predict(X[90:95, :1]))


@pytest.mark.long(every=3)
@pytest.mark.parametrize("size", [1e6, 1e60, 1e140])
def test_no_number_makes_the_equation_of_a_forecast_long(size, monkeypatch):
    """At fe656ae a file took 31 s to load: temperatures fell by four, from 1e280 on."""
    calls = []
    minimise = _multinomial_logistic._minimise
    monkeypatch.setattr(
        _multinomial_logistic, "_minimise", lambda *given: calls.append(0) or minimise(*given)
    )
    S = size * np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    _, p = _multinomial_logistic.equalised(size * np.array([1.0, 0.5, 0.0]), S)
    assert np.isfinite(p).all()
    assert len(calls) <= 18
