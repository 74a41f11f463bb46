"""The forecaster among those of sktime, against itself alone."""

import numpy as np
import pytest

from sklearn_okl import OnlineForecaster
from sklearn_okl.sktime import BaseForecaster, SktimeForecaster
from tests.clients.expect import client, holds, near

sktime = client("sktime", "sktime")
SMALL = {"windows": (3, 4, 6)}


def airline():
    from sktime.datasets import load_airline

    return load_airline()


@pytest.mark.timeout(900)
@pytest.mark.long
@sktime("check_estimator of the forecaster: all of sktime's checks pass")
def test_the_forecaster_passes_the_checks_of_sktime():
    from sktime.utils.estimator_checks import check_estimator

    found = check_estimator(SktimeForecaster, verbose=False)
    holds(set(found.values()) == {"PASSED"}, "a check of sktime failed")
    holds(len(found) > 300, "sktime ran few checks")


@sktime("updates are partial_fit: forecasts and intervals as of OnlineForecaster alone")
def test_updates_are_learnt_as_rows_that_come():
    y, steps = airline(), [1, 3, 12]
    model = SktimeForecaster(**SMALL).fit(y[:100], fh=steps)
    alone = OnlineForecaster(12, **SMALL).fit(y[:100])
    for low, high in ((100, 101), (101, 120)):
        model.update(y[low - 20 : high])  # windows that overlap: what is known is left
        alone.partial_fit(y[low:high])
        wanted = alone.predict().iloc[[0, 2, 11]]
        near(model.predict(), wanted)
        holds(model.predict().index.equals(wanted.index), "the index of forecasts is another")
    ends = model.predict_interval(coverage=[0.8, 0.9])
    near(ends, alone.predict_interval(coverage=[0.8, 0.9])[[0, 2, 11]].reshape(3, 4))
    holds(model.forecaster_.n_samples_seen_ == 120, "rows were learnt twice")


@sktime("evaluate with strategy='update': as prequential_predict")
def test_evaluations_of_sktime_update_it():
    from sktime.forecasting.model_evaluation import evaluate
    from sktime.split import ExpandingWindowSplitter

    y = airline()[:80]
    cv = ExpandingWindowSplitter(fh=[1, 2], initial_window=60, step_length=4)
    found = evaluate(SktimeForecaster(**SMALL), cv, y, strategy="update", return_data=True)
    wanted = OnlineForecaster(2, **SMALL).prequential_predict(y)[60:79:4]
    near(np.array([part.to_numpy().ravel() for part in found["y_pred"]]), wanted)


@sktime("columns known ahead of the steps asked for alone")
def test_columns_of_steps_that_are_not_asked_for_may_be_left_out():
    import pandas as pd

    y = airline()[:60]
    X = pd.DataFrame({"x": np.sin(np.arange(60.0))}, index=y.index)
    model = SktimeForecaster(**SMALL).fit(y[:50], X=X[:50], fh=[2, 4])
    alone = OnlineForecaster(4, **SMALL).fit(y[:50], X[:50])
    wanted = alone.predict(X[50:54]).iloc[[1, 3]]
    near(model.predict(X=X.iloc[[51, 53]]), wanted)


@pytest.mark.skipif(BaseForecaster is not None, reason="sktime is installed")
def test_without_sktime_it_says_what_to_do():
    with pytest.raises(ImportError, match="sktime is not installed"):
        SktimeForecaster()


@sktime("quantiles of any level, the median among them, as of OnlineForecaster alone")
def test_quantiles_are_those_of_the_forecaster():
    from sktime.forecasting.model_evaluation import evaluate
    from sktime.performance_metrics.forecasting.probabilistic import PinballLoss
    from sktime.split import ExpandingWindowSplitter

    y, alpha = airline(), [0.9, 0.5, 0.05]
    model = SktimeForecaster(**SMALL).fit(y[:100], fh=[1, 3])
    alone = OnlineForecaster(3, **SMALL).fit(y[:100])
    found = model.predict_quantiles(alpha=alpha)
    near(found, alone.predict_quantiles(alpha=alpha)[[0, 2]])
    ends = model.predict_interval(coverage=[0.9])
    holds(
        found.columns.get_level_values(0)[0] == ends.columns.get_level_values(0)[0],
        "quantiles have another name than intervals",
    )
    cv = ExpandingWindowSplitter(fh=[1, 2], initial_window=90, step_length=20)
    scores = evaluate(
        SktimeForecaster(**SMALL), cv, y, strategy="update", scoring=PinballLoss(alpha=alpha)
    )
    holds(scores["test_PinballLoss"].notna().all(), "no pinball losses were found")
