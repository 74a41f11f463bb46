"""The sweep in one pass: against a loop over candidates, sharing, halving, backends."""

import copy
import itertools
import os
import pickle
import signal
import sys

import numpy as np
import pytest
from joblib import parallel_backend
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid, TimeSeriesSplit
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from sklearn_okl import (
    FOGDClassifier,
    FourierFeatures,
    KOGDRegressor,
    OnlineKernelRegressor,
    RunningStandardScaler,
    StronglyAdaptiveRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PrequentialSearch, _search, check_online_estimator
from sklearn_okl.evaluation._race import Race
from sklearn_okl.losses import get_loss
from tests.late import LateRidge, assert_law

PIPELINE = make_streaming_pipeline(
    RunningStandardScaler(),
    FourierFeatures(n_components=30, gamma=0.02, random_state=0),
    VAWRegressor(),
)
GRID = {"fourierfeatures__gamma": [0.02, 0.2], "vawregressor__alpha": [0.1, 1.0, 100.0]}


def stream(seed=0, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [(PIPELINE, GRID), (KOGDRegressor(), [{"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1.0]}])],
)
def test_the_race_is_a_loop_over_candidates(estimator, grid, seed):
    X, y = stream(seed)
    search = PrequentialSearch(estimator, grid)
    forecasts = search.prequential_predict(X, y)
    F = np.column_stack(
        [
            clone(estimator).set_params(**point).prequential_predict(X, y)
            for point in ParameterGrid(grid)
        ]
    )
    losses = (F - y[:, None]) ** 2
    np.testing.assert_allclose(search.results_["mean_loss"], losses.mean(axis=0))
    assert search.best_index_ == losses.mean(axis=0).argmin()
    before = np.vstack([np.zeros(F.shape[1]), losses.cumsum(axis=0)[:-1]]).argmin(axis=1)
    np.testing.assert_allclose(forecasts, F[np.arange(len(y)), before], rtol=1e-9, atol=1e-12)
    best = clone(estimator).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_allclose(search.predict(X), best.predict(X))
    np.testing.assert_allclose(search.best_estimator_.predict(X), best.predict(X))
    assert search.results_["rank_loss"][search.best_index_] == 1


@pytest.mark.long(every=3)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("D", [0, 2])
def test_rows_without_a_target_rank_nobody(seed, D):
    X, y = stream(seed, 120)
    y[np.random.default_rng(seed).random(120) < 0.2] = np.nan
    estimator = OnlineKernelRegressor(budget="tiny", random_state=seed, label_delay=D)
    search = PrequentialSearch(estimator, {"lags": [0, 3]})
    forecasts = search.prequential_predict(X, y)
    F = np.column_stack(
        [clone(estimator).set_params(lags=k).prequential_predict(X, y) for k in (0, 3)]
    )
    losses = np.where(np.isnan(y)[:, None], 0.0, (F - y[:, None]) ** 2)
    n_known = (~np.isnan(y)).sum()
    np.testing.assert_allclose(search.results_["mean_loss"], losses.sum(axis=0) / n_known)
    assert search.results_["n_rounds"].tolist() == [120, 120]
    before = np.vstack([np.zeros((1 + D, 2)), losses.cumsum(axis=0)])[:120].argmin(axis=1)
    np.testing.assert_allclose(forecasts, F[np.arange(120), before], rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="y contains NaN"):  # who takes none says so
        PrequentialSearch(PIPELINE, GRID).fit(X, y)
    y[:] = np.inf
    with pytest.raises(ValueError, match="y contains infinity"):
        search.partial_fit(X, y)


def test_a_shared_map_is_computed_once(monkeypatch):
    X, y = stream()
    calls = []
    transform = FourierFeatures.transform
    monkeypatch.setattr(
        FourierFeatures, "transform", lambda self, X: calls.append(0) or transform(self, X)
    )
    PrequentialSearch(PIPELINE, GRID).fit(X, y)
    assert len(calls) == 2  # a bandwidth each, for three ridges


def test_halving_drops_the_worst_at_the_stated_rounds():
    X, y = stream()
    search = PrequentialSearch(PIPELINE, GRID, halving_rounds=[50, 120], factor=2)
    for part in np.split(np.arange(300), [10, 49, 60, 200]):
        search.partial_fit(X[part], y[part])
    whole = PrequentialSearch(PIPELINE, GRID, halving_rounds=[50, 120], factor=2).fit(X, y)
    results = search.results_
    assert sorted(results["n_rounds"]) == [50, 50, 50, 120, 300, 300]
    np.testing.assert_array_equal(results["n_rounds"], whole.results_["n_rounds"])
    np.testing.assert_allclose(results["mean_loss"], whole.results_["mean_loss"])
    full = PrequentialSearch(PIPELINE, GRID).fit(X[:50], y[:50]).results_
    left = results["n_rounds"] == 50
    np.testing.assert_allclose(results["mean_loss"][left], full["mean_loss"][left])
    assert min(full["mean_loss"][left]) >= max(full["mean_loss"][~left])
    assert set(results["rank_loss"][left]) == {4, 5, 6}


def test_pandas_reads_the_results():
    pd = pytest.importorskip("pandas")
    grid = [{"alpha": [0.1, 1.0]}, {"forgetting": [0.99]}]
    table = pd.DataFrame(PrequentialSearch(VAWRegressor(), grid).fit(*stream()).results_)
    assert table.shape == (3, 7)
    assert table.sort_values("rank_loss").iloc[0]["mean_loss"] == table["mean_loss"].min()


def test_candidates_can_be_drawn_from_distributions():
    X, y = stream()
    searches = [
        PrequentialSearch(
            VAWRegressor(), {"alpha": loguniform(1e-3, 1e3)}, n_iter=5, random_state=seed
        ).fit(X, y)
        for seed in (0, 0, 1)
    ]
    alphas = [[point["alpha"] for point in search.results_["params"]] for search in searches]
    assert alphas[0] == alphas[1] != alphas[2]


@pytest.mark.long(every=2)
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_every_backend_gives_the_same(backend):
    X, y = stream()
    serial = PrequentialSearch(PIPELINE, GRID).fit(X, y)
    with parallel_backend(backend, n_jobs=2):
        parallel = PrequentialSearch(PIPELINE, GRID, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(parallel.results_["mean_loss"], serial.results_["mean_loss"])
    np.testing.assert_array_equal(parallel.predict(X), serial.predict(X))


def test_the_winner_is_no_worse_than_that_of_a_grid_search():
    X, y = stream(3, n=600)
    search = PrequentialSearch(PIPELINE, GRID).fit(X, y)
    rival = GridSearchCV(
        PIPELINE, GRID, cv=TimeSeriesSplit(5), scoring="neg_mean_squared_error"
    ).fit(X, y)
    chosen = clone(PIPELINE).set_params(**rival.best_params_).prequential_predict(X, y)
    assert search.best_loss_ <= np.mean((chosen - y) ** 2) * (1 + 1e-9)


@pytest.mark.parametrize("halving_rounds", [(), (100, 130, 250)])
def test_a_long_call_is_cut_and_nothing_changes(monkeypatch, halving_rounds):
    X, y = stream()
    race = {"halving_rounds": halving_rounds, "factor": 2}
    whole = PrequentialSearch(PIPELINE, GRID, **race)
    expected = whole.prequential_predict(X, y)
    monkeypatch.setattr(_search, "_CHUNK", 64)
    sizes = []
    run = Race.run
    monkeypatch.setattr(Race, "run", lambda *given: sizes.append(len(given[1])) or run(*given))
    search = PrequentialSearch(PIPELINE, GRID, **race)
    parts = [search.prequential_predict(X[part], y[part]) for part in (slice(10), slice(10, 300))]
    assert max(sizes) <= 64
    # cut where the stream's own count is a multiple of 64, wherever the calls begin
    assert not halving_rounds or np.cumsum(sizes).tolist() == [
        10, 64, 100, 128, 130, 192, 250, 256, 300
    ]  # fmt: skip
    np.testing.assert_allclose(np.concatenate(parts), expected, rtol=1e-9, atol=1e-12)
    for name in ("mean_loss", "n_rounds"):
        np.testing.assert_allclose(search.results_[name], whole.results_[name])


def test_pipelines_that_learn_batch_by_batch_are_not_cut(monkeypatch):
    X, y = stream()
    pipeline = clone(PIPELINE).set_params(runningstandardscaler=StandardScaler(), update="batch")
    expected = PrequentialSearch(pipeline, GRID).fit(X, y).results_["mean_loss"]
    monkeypatch.setattr(_search, "_CHUNK", 64)
    search = PrequentialSearch(pipeline, GRID).fit(X, y)
    np.testing.assert_array_equal(search.results_["mean_loss"], expected)


def test_classes_that_the_first_chunk_does_not_show(monkeypatch):
    monkeypatch.setattr(_search, "_CHUNK", 64)
    X, y = stream()
    order = np.argsort(y)
    X, labels = X[order], np.where(y[order] > np.median(y), "up", "down")
    search = PrequentialSearch(FOGDClassifier(random_state=0), {"eta0": [0.1, 1.0]})
    search.partial_fit(X, labels)
    assert search.classes_.tolist() == ["down", "up"]


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_progress_goes_to_stderr_and_changes_nothing(monkeypatch, capsys, with_tqdm):
    if with_tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(_search, "_CHUNK", 64)
    X, y = stream()
    silent = PrequentialSearch(PIPELINE, GRID).prequential_predict(X, y)
    assert capsys.readouterr() == ("", "")
    shown = PrequentialSearch(PIPELINE, GRID, verbose=1).prequential_predict(X, y)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "300/300" in printed.err
    np.testing.assert_array_equal(shown, silent)


@pytest.mark.long(every=4)
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("verbose", [0, 1])
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_an_interrupted_call_leaves_the_search_as_it_was(monkeypatch, n_jobs, verbose):
    monkeypatch.setattr(_search, "_CHUNK", 64)
    X, y = stream()
    search = PrequentialSearch(PIPELINE, GRID, n_jobs=n_jobs, verbose=verbose, halving_rounds=[100])
    search.fit(X[:50], y[:50])
    before = pickle.dumps(search)
    learn, calls = VAWRegressor.prequential_predict, []

    def interrupted(self, X, y):
        calls.append(0)
        if len(calls) == 14:  # two candidates of the third chunk have learnt
            raise KeyboardInterrupt
        return learn(self, X, y)

    with parallel_backend("threading"):
        for verb in ("partial_fit", "prequential_predict", "fit"):
            calls.clear()
            with monkeypatch.context() as patch:
                patch.setattr(VAWRegressor, "prequential_predict", interrupted)
                with pytest.raises(KeyboardInterrupt):
                    getattr(search, verb)(X[50:], y[50:])
            assert pickle.dumps(search) == before
        search.partial_fit(X[50:], y[50:])
    uninterrupted = clone(search).fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    np.testing.assert_array_equal(search.results_["mean_loss"], uninterrupted.results_["mean_loss"])


@pytest.mark.skipif(os.name != "posix", reason="signals of this kind are those of POSIX")
def test_ctrl_c_stops_a_long_search_and_leaves_it_usable(monkeypatch):
    monkeypatch.setattr(_search, "_CHUNK", 64)
    X, y = stream(n=2000)
    search = PrequentialSearch(PIPELINE, GRID).fit(X[:300], y[:300])
    before = pickle.dumps(search)
    learn, calls = VAWRegressor.prequential_predict, []

    def pressed(self, X, y):
        calls.append(0)
        if len(calls) == 50:
            signal.raise_signal(signal.SIGINT)
        return learn(self, X, y)

    monkeypatch.setattr(VAWRegressor, "prequential_predict", pressed)
    # what a shell starts in the background ignores the signal
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            search.partial_fit(X, y)
    finally:
        signal.signal(signal.SIGINT, former)
    assert len(calls) == 50  # of some two hundred
    assert pickle.dumps(search) == before
    assert search.partial_fit(X[:100], y[:100]).n_samples_seen_ == 400


def test_misuse_is_refused():
    X, y = stream()
    with pytest.raises(ValueError, match="no candidate"):
        PrequentialSearch(VAWRegressor(), []).fit(X, y)
    with pytest.raises(ValueError, match="Invalid parameter"):
        PrequentialSearch(VAWRegressor(), {"gamma": [1.0]}).fit(X, y)
    search = PrequentialSearch(VAWRegressor(), {"alpha": [1.0]})
    assert not hasattr(search, "best_params_")
    search.fit(X, y).set_params(param_grid={"alpha": [2.0]})
    with pytest.raises(ValueError, match="mid-stream"):
        search.partial_fit(X, y)


# labels that come late


def switching_stream(n=80):
    """The level jumps, so that the leader changes, some rows after row 20."""
    X, y = stream(n=n)
    return X, 0.2 * y + np.where(np.arange(n) < 20, 0.0, 2.0)


def late_search(D, estimator=None, **kwargs):
    name = "" if estimator is None else "lateridge__"
    grid = {f"{name}shift": [0.0, 2.0, 5.0], f"{name}alpha": [100.0, 500.0]}
    return PrequentialSearch(estimator or LateRidge(D), grid, **kwargs)


@pytest.mark.long(every=12)
@pytest.mark.parametrize("D", [1, 5, 23])
@pytest.mark.parametrize(
    ("halving_rounds", "mapped"), [((), False), ((20, 44), False), ((30, 33, 55), True)]
)
def test_late_rows_are_forecast_by_the_leader_of_that_round(D, halving_rounds, mapped):
    X, y = switching_stream(n=70)
    pipeline = make_streaming_pipeline(StandardScaler(), LateRidge(D)) if mapped else None
    search = late_search(D, pipeline, halving_rounds=halving_rounds, factor=2)
    assert search.label_delay == D
    forecasts = assert_law(search, X, y)
    F = np.column_stack(
        [
            clone(search.estimator).set_params(**point).prequential_predict(X, y)
            for point in ParameterGrid(search.param_grid)
        ]
    )
    sums = np.vstack([np.zeros(F.shape[1]), ((F - y[:, None]) ** 2).cumsum(axis=0)])
    racing, leaders = np.ones(F.shape[1], dtype=bool), []  # when so many labels were known
    for t in range(len(y)):
        if t in halving_rounds:
            order = sorted(np.flatnonzero(racing), key=lambda k: sums[t, k])
            racing[order[-(-len(order) // 2) :]] = False
        leaders.append(np.where(racing, sums[t], np.inf).argmin())
    literal = [F[t, leaders[max(t - D, 0)]] for t in range(len(y))]
    np.testing.assert_allclose(forecasts, literal, rtol=1e-9)


def test_leaders_that_leave_forecast_the_rows_that_wait_for_their_labels():
    X, y = switching_stream(n=100)
    all_stay = late_search(23).prequential_predict(X, y)
    search = late_search(23, halving_rounds=[42], factor=6)
    parts, learning = [], []
    for rows in np.split(range(100), [43, 66]):
        parts.append(search.prequential_predict(X[rows], y[rows]))
        learning.append(len({search.best_index_, *search._state.leaders}))
    assert learning[0] > 1
    assert learning[1:] == [1, 1]
    assert sorted(search.results_["n_rounds"]) == [42] * 5 + [100]
    np.testing.assert_array_equal(np.concatenate(parts)[: 42 + 23], all_stay[: 42 + 23])
    best = LateRidge(23, **search.best_params_).prequential_predict(X, y)
    np.testing.assert_array_equal(np.concatenate(parts)[42 + 23 :], best[42 + 23 :])
    at_once = clone(search).fit(X, y)
    assert sorted(final.models_[-1][0] for final in at_once._state.finals)[-2:] == [42 + 23, 100]


def test_a_late_search_in_mid_stream_can_be_copied():
    X, y = switching_stream()
    pipeline = make_streaming_pipeline(StandardScaler(), RunningStandardScaler(), LateRidge(5))
    search = late_search(5, pipeline, halving_rounds=[30], factor=2).fit(X[:32], y[:32])
    others = [copy.deepcopy(search), pickle.loads(pickle.dumps(search))]
    best = search.best_estimator_
    before = pickle.dumps(search)
    with pytest.raises(ValueError, match=r"NaN|no number"):
        search.partial_fit(X[32:], np.append(y[32:-1], np.nan))
    assert pickle.dumps(search) == before
    search.partial_fit(X[32:40], y[32:40])
    for other in others:
        other.partial_fit(X[32:40], y[32:40])
        np.testing.assert_array_equal(other.predict(X), search.predict(X))
        np.testing.assert_array_equal(
            other.prequential_predict(X[40:], y[40:]),
            copy.deepcopy(search).prequential_predict(X[40:], y[40:]),
        )
    whole = clone(best).prequential_predict(X, y)
    np.testing.assert_allclose(best.prequential_predict(X[32:], y[32:]), whole[32:], rtol=1e-9)


def test_what_predict_is_given_reaches_the_best():
    X, y = switching_stream()
    search = late_search(3).fit(X[:60], y[:60])
    ahead = search.predict(X[60:64], ahead=True)
    np.testing.assert_array_equal(ahead, search.best_estimator_.predict(X[60:64], ahead=True))
    assert ahead[0] != search.predict(X[60:61])[0]


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (LateRidge(5), {"label_delay": [5, 6]}),
        (LateRidge(0), {"label_delay": [5]}),
        (
            make_streaming_pipeline(StandardScaler(), LateRidge(5)),
            {"lateridge__label_delay": [0, 5]},
        ),
        (
            make_streaming_pipeline(StandardScaler(), LateRidge(5)),
            {"lateridge": [LateRidge(5), LateRidge(4)]},
        ),
    ],
)
def test_a_delay_is_not_searched_for(estimator, grid):
    with pytest.raises(ValueError, match="Set label_delay in the estimator"):
        PrequentialSearch(estimator, grid).fit(*stream())


SEARCHES = [
    PrequentialSearch(VAWRegressor(), {"alpha": [0.1, 1.0]}),
    PrequentialSearch(PIPELINE, GRID, halving_rounds=[60, 100]),
]


@pytest.mark.long
@pytest.mark.parametrize("search", SEARCHES, ids=["plain", "pipeline"])
def test_the_laws(search):
    check_online_estimator(search)


@pytest.mark.long(every=11)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [pair for search in SEARCHES for pair in estimator_checks_generator(search)],
)
def test_scikit_learn(estimator, check):
    check(estimator)


def test_rounding_tells_no_candidates_apart_whatever_the_cut():
    rng = np.random.default_rng(17)
    X, y = np.ones((60, 3)), rng.normal(size=60) + 1
    estimators = [VAWRegressor(), VAWRegressor(2.0)]
    grid = {"min_length": [4, 16], "estimator": estimators}  # say the same until row 4
    search = PrequentialSearch(StronglyAdaptiveRegressor(VAWRegressor()), grid)
    at_once, by_parts = clone(search).prequential_predict(X, y), clone(search)
    cuts = [0, 1, 2, 3, 5, 8, 20, 60]
    parts = [by_parts.prequential_predict(X[i:j], y[i:j]) for i, j in itertools.pairwise(cuts)]
    np.testing.assert_allclose(np.concatenate(parts), at_once, rtol=1e-9)


def test_who_leads_stays_and_ranks_first_but_for_rounding():
    race = Race(VAWRegressor(), [{"alpha": alpha} for alpha in (1.0, 2.0, 3.0, 4.0)], "zero_one")
    tiny = np.finfo(float).eps
    race.sums, race.weights = np.array([3.0 + 2 * tiny, 2.0 + 2 * tiny, 2.0, 3.0]), np.ones(4)
    assert race.leader() == 1
    assert race.table()["rank_loss"].tolist() == [3, 1, 1, 3]
    race.halve(2)
    assert race.racing.tolist() == [False, True, True, False]
    race.halve(2)
    assert race.racing.tolist() == [False, True, False, False]
    race.sums = np.array([0.0, np.inf, np.inf, 1e-300])  # candidates of nothing are no ties
    race.racing[:] = True
    race.halve(2)
    assert race.racing.tolist() == [True, False, False, True]
    assert race.leader() == 0


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", get_loss("pinball")], ids=str)
@pytest.mark.parametrize("labels", [["a", "b"], [False, True], [0, 1]], ids=str)
def test_losses_of_targets_rank_no_classifiers(loss, labels):
    X, y = stream()
    search = PrequentialSearch(FOGDClassifier(random_state=0), {"gamma": [0.1, 1.0]}, loss=loss)
    with pytest.raises(TypeError, match="one of targets, and the candidates are classifiers"):
        search.fit(X, np.take(labels, y > 0))
