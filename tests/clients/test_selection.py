"""scikit-learn's searches, evaluations and curves against the same folds by hand."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    ParameterGrid,
    RandomizedSearchCV,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    validation_curve,
)
from sklearn.utils import resample

from sklearn_okl import KOGDRegressor, VAWRegressor
from sklearn_okl.evaluation import PrequentialSearch
from tests.clients.examples import (
    classification,
    classifier,
    learnt,
    mixture,
    pipeline,
    regression,
    regressors,
)
from tests.clients.expect import client, each, near, same

does = client("scikit-learn")
SPLITS = TimeSeriesSplit(3)
SEARCHED = {
    "VAWRegressor": (VAWRegressor(), {"alpha": [0.1, 10.0], "forgetting": [1.0, 0.98]}),
    "KOGDRegressor": (
        KOGDRegressor(),
        [
            {"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1.0]},
            {"kernel": ["poly"], "degree": [2]},
        ],
    ),
    "VAW2Regressor": (mixture(), {"alpha": [0.1, 10.0]}),
    "StreamingPipeline": (
        pipeline(),
        {"fourierfeatures__gamma": [0.1, 1.0], "vawregressor__alpha": [0.1, 10.0]},
    ),
}


def _score(model, X, y, train, test):
    return learnt(model, X[train], y[train]).score(X[test], y[test])


def _searched(search, searched):
    """Hold the scores of every candidate and the forecasts of the best against those by hand."""
    X, y = regression()
    model, grid = searched
    found = search(model, grid, cv=SPLITS, error_score="raise").fit(X, y)
    for params, score in zip(
        found.cv_results_["params"], found.cv_results_["mean_test_score"], strict=True
    ):
        candidate = clone(model).set_params(**params)
        near(score, np.mean([_score(candidate, X, y, *fold) for fold in SPLITS.split(X)]), "score")
    best = clone(model).set_params(**found.best_params_)
    same(found.predict(X), learnt(best, X, y).predict(X))


@does("GridSearchCV over TimeSeriesSplit: scores by hand")
def test_grid_search():
    each(SEARCHED, partial(_searched, GridSearchCV))


@does("RandomizedSearchCV over TimeSeriesSplit: scores by hand")
def test_randomized_search():
    each(SEARCHED, partial(_searched, partial(RandomizedSearchCV, n_iter=3, random_state=0)))


@does("HalvingGridSearchCV over TimeSeriesSplit: scores by hand")
def test_halving_search():
    def check(searched):
        X, y = regression()
        model, grid = searched
        found = HalvingGridSearchCV(
            model, grid, cv=SPLITS, min_resources=60, random_state=0, error_score="raise"
        ).fit(X, y)
        results = found.cv_results_
        for params, n, score in zip(
            results["params"], results["n_resources"], results["mean_test_score"], strict=True
        ):
            candidate, folds = clone(model).set_params(**params), _subsampled(n / len(y), X)
            near(score, np.mean([_score(candidate, X, y, *fold) for fold in folds]), "score")
        best = clone(model).set_params(**found.best_params_)
        same(found.predict(X), learnt(best, X, y).predict(X))

    each(SEARCHED, check)


def _subsampled(share, X):
    """Return the folds of halving: of each a share, which comes in random order."""

    def part(rows):
        return resample(rows, replace=False, random_state=0, n_samples=int(share * len(rows)))

    return [(part(train), part(test)) for train, test in SPLITS.split(X)]


@does("PrequentialSearch: as many candidates of the same grids as GridSearchCV")
def test_the_same_grids():
    def check(searched):
        model, grid = searched
        results = PrequentialSearch(model, grid).fit(*regression()).results_
        assert len(results["params"]) == len(ParameterGrid(grid))

    each(SEARCHED, check)


@does("cross_val_predict: forecasts of models of the other folds")
def test_predict_across():
    def check(model):
        X, y = regression()
        expected = np.empty_like(y)
        for train, test in KFold(3).split(X):
            expected[test] = learnt(model, X[train], y[train]).predict(X[test])
        same(cross_val_predict(model, X, y, cv=KFold(3)), expected)

    each(regressors(), check)


@does("cross_val_score over TimeSeriesSplit: by hand")
def test_score_across():
    def check(model):
        X, y = regression()
        expected = [_score(model, X, y, *fold) for fold in SPLITS.split(X)]
        same(cross_val_score(model, X, y, cv=SPLITS), expected, "scores")

    each(regressors(), check)
    X, labels = classification()
    expected = [_score(classifier(), X, labels, *fold) for fold in SPLITS.split(X)]
    same(cross_val_score(classifier(), X, labels, cv=SPLITS), expected, "accuracies")


@pytest.mark.long
@does("learning_curve, by fit and by partial_fit: scores of prefixes")
def test_curve_of_learning():
    def check(model):
        X, y = regression()
        for incremental in (False, True):
            sizes, scores_seen, scores = learning_curve(
                model,
                X,
                y,
                cv=SPLITS,
                train_sizes=[0.5, 1.0],
                exploit_incremental_learning=incremental,
            )
            for size, seen, held_out in zip(sizes, scores_seen, scores, strict=True):
                folds = [(train[:size], test) for train, test in SPLITS.split(X)]
                near(held_out, [_score(model, X, y, *fold) for fold in folds], "scores")
                near(seen, [_score(model, X, y, train, train) for train, _ in folds], "scores")

    each(regressors(), check)


@does("validation_curve: by hand")
def test_curve_of_validation():
    X, y = regression()
    alphas = [0.1, 1.0, 10.0]
    _, scores = validation_curve(
        pipeline(), X, y, param_name="vawregressor__alpha", param_range=alphas, cv=SPLITS
    )
    for alpha, row in zip(alphas, scores, strict=True):
        model = pipeline().set_params(vawregressor__alpha=alpha)
        same(row, [_score(model, X, y, *fold) for fold in SPLITS.split(X)], "scores")


@does("SequentialFeatureSelector: the columns that the best scores choose")
def test_select_features():
    X, y = regression()
    model = mixture()
    chosen = []
    for _ in range(2):
        left = [column for column in range(3) if column not in chosen]
        scores = [
            cross_val_score(model, X[:, [*chosen, column]], y, cv=SPLITS).mean() for column in left
        ]
        chosen.append(left[int(np.argmax(scores))])
    found = SequentialFeatureSelector(model, n_features_to_select=2, cv=SPLITS).fit(X, y)
    same(found.get_support(indices=True), sorted(chosen), "columns")
