"""Candidates of a search whose numbers overflow: they leave, and the others go on."""

import pickle

import numpy as np
import pytest

from sklearn_okl import (
    AIOLIClassifier,
    OGDRegressor,
    RunningStandardScaler,
    StreamingPipeline,
    from_bytes,
    to_bytes,
)
from sklearn_okl.evaluation import PrequentialSearch

GRID = {"eta0": [0.01, 100.0, 10.0]}


class Late(OGDRegressor):
    """One whose forecasts are chosen three rows late, though it learns at once."""

    label_delay = 3


def diverging_stream():
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = X[:, 0].copy()
    X[200:] *= 12
    return X, y


@pytest.mark.parametrize("kind", [OGDRegressor, Late])
@pytest.mark.parametrize("cuts", [[], [200], [150, 201, 202, 203, 204, 210, 330]])
def test_a_candidate_that_diverges_leaves_the_race(cuts, kind):
    X, y = diverging_stream()
    search = PrequentialSearch(kind(), GRID, loss="absolute_error")
    parts = zip(np.split(X, cuts), np.split(y, cuts), strict=True)
    with pytest.warns(UserWarning, match="leaves the race") as caught:
        forecasts = np.concatenate([search.prequential_predict(*part) for part in parts])
    told = [str(one.message) for one in caught if "leaves the race" in str(one.message)]
    assert len(told) == 2
    assert all(any(f"{{'eta0': {eta}}}" in text for text in told) for eta in (100.0, 10.0))
    assert search.best_params_ == {"eta0": 0.01}
    assert search.n_samples_seen_ == 400
    results = search.results_
    assert np.isfinite(results["mean_loss"]).all()
    assert results["rank_loss"][0] == 1
    assert results["n_rounds"][0] == 400
    assert (results["n_rounds"][1:] < 400).all()
    for k in (1, 2):  # it lasts until the very row that it cannot learn, however the calls are cut
        n, model = results["n_rounds"][k], kind(eta0=GRID["eta0"][k])
        model.partial_fit(X[:n], y[:n])
        with pytest.raises(ValueError, match="overflowed"):
            model.partial_fit(X[n : n + 1], y[n : n + 1])
    alone = kind(eta0=0.01).prequential_predict(X, y)
    last = results["n_rounds"].tolist()
    np.testing.assert_allclose(forecasts[sorted(last)[1] :], alone[sorted(last)[1] :], rtol=1e-9)
    whole = PrequentialSearch(kind(), GRID, loss="absolute_error")
    with pytest.warns(UserWarning, match="leaves the race"):
        again = whole.prequential_predict(X, y)
    np.testing.assert_allclose(again, forecasts, rtol=1e-12)
    assert whole.results_["n_rounds"].tolist() == last
    np.testing.assert_allclose(whole.results_["mean_loss"], results["mean_loss"], rtol=1e-12)
    search.partial_fit(X[:50], y[:50])  # and goes on
    if kind is OGDRegressor:
        assert from_bytes(to_bytes(search)).best_params_ == {"eta0": 0.01}


def test_who_forecasts_so_far_off_that_the_loss_overflows_leaves_too():
    X, y = diverging_stream()
    with pytest.warns(UserWarning, match="'eta0': 1.0"):
        search = PrequentialSearch(OGDRegressor(), {"eta0": [1.0, 0.01]}).fit(X, y)
    OGDRegressor(eta0=1.0).fit(X, y)  # which learns them all the same
    assert search.best_index_ == 1
    assert search.results_["n_rounds"][0] < 400
    assert np.isfinite(search.results_["mean_loss"]).all()


def test_where_all_candidates_diverge_the_call_is_refused():
    X, y = diverging_stream()
    search = PrequentialSearch(OGDRegressor(), {"eta0": [0.9, 1.0]}).fit(X[:200], y[:200])
    before = pickle.dumps(search)
    with pytest.raises(ValueError, match="overflowed"):
        search.partial_fit(X[200:], y[200:])
    assert pickle.dumps(search) == before


def test_bad_rows_are_refused_and_errors_name_the_candidate():
    X, y = diverging_stream()
    search = PrequentialSearch(OGDRegressor(), {"eta0": [0.01, 0.02]}).fit(X[:200], y[:200])
    before, bad = pickle.dumps(search), X[:5].copy()
    bad[3] = np.nan
    with pytest.raises(ValueError, match="NaN") as caught:
        search.partial_fit(bad, y[:5])
    assert any("{'eta0': 0.01}" in note for note in caught.value.__notes__)
    assert pickle.dumps(search) == before


def test_a_classifier_that_diverges_leaves_the_race_too():
    X, y = diverging_stream()
    y = np.where(y > 0, "yes", "no")
    X = X[:, :1]
    X[300:] *= 1e200
    grid = {"model__alpha": [1.0, 10.0], "scale": [RunningStandardScaler(), "passthrough"]}
    model = StreamingPipeline([("scale", RunningStandardScaler()), ("model", AIOLIClassifier())])
    with pytest.warns(UserWarning, match="passthrough"):
        search = PrequentialSearch(model, grid).fit(X, y)
    assert search.results_["n_rounds"].tolist().count(400) == 2
    assert set(search.predict(X[:9])) <= {"yes", "no"}
