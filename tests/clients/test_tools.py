"""optuna, shap and dask-ml around our estimators."""

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import SGDRegressor
from sklearn.model_selection import TimeSeriesSplit, cross_val_score

from sklearn_okl import VAWRegressor
from sklearn_okl.evaluation import prequential
from tests.clients.examples import NAMES, learnt, pipeline, regression, regressors
from tests.clients.expect import as_with, client, each, holds, near, same

optuna_does = client("optuna", "optuna")
shap_does = client("shap", "shap")
dask_does = client("dask-ml", "dask_ml")
SPLITS = TimeSeriesSplit(3)


# ---- optuna ----


def _prequential_loss(params):
    X, y = regression()
    return float(np.mean(prequential(pipeline().set_params(**params), X, y).losses))


@optuna_does("a study of prequential losses, serial and in two threads: ours by hand")
def test_study():
    import optuna

    def objective(trial):
        return _prequential_loss(
            {
                "fourierfeatures__gamma": trial.suggest_float("gamma", 0.01, 1.0, log=True),
                "vawregressor__alpha": trial.suggest_float("alpha", 0.01, 10.0, log=True),
            }
        )

    for n_jobs in (1, 2):
        found = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
        found.optimize(objective, n_trials=8, n_jobs=n_jobs)
        expected = [
            _prequential_loss(
                {
                    "fourierfeatures__gamma": trial.params["gamma"],
                    "vawregressor__alpha": trial.params["alpha"],
                }
            )
            for trial in found.trials
        ]
        # under several BLAS threads the last digits in threads of Python may differ
        near([trial.value for trial in found.trials], expected, "losses")
        near(found.best_value, min(expected), "the best loss")


@optuna_does("a study that prunes in mid-stream: losses of the rows learnt so far")
def test_pruning():
    import optuna

    X, y = regression()
    parts = np.split(np.arange(len(y)), [60, 120])

    def objective(trial):
        model = VAWRegressor(trial.suggest_float("alpha", 0.1, 1e4, log=True))
        losses = np.array([])
        for step, rows in enumerate(parts):
            errors = model.prequential_predict(X[rows], y[rows]) - y[rows]
            losses = np.append(losses, errors**2)
            trial.report(losses.mean(), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return losses.mean()

    found = optuna.create_study(
        sampler=optuna.samplers.RandomSampler(seed=0),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=2),
    )
    found.optimize(objective, n_trials=12)
    holds(any(trial.state.name == "PRUNED" for trial in found.trials), "no trial was pruned")
    for trial in found.trials:
        losses = prequential(VAWRegressor(**trial.params), X, y, loss="squared_error").losses
        losses[0] = y[0] ** 2  # `prequential` says nothing of the row before which nothing is known
        for step, value in trial.intermediate_values.items():
            near(value, losses[: parts[step][-1] + 1].mean(), "loss")


@optuna_does("OptunaSearchCV over TimeSeriesSplit: scores by hand", "optuna_integration.sklearn")
def test_optuna_search():
    import optuna
    from optuna_integration import OptunaSearchCV

    X, y = regression()
    space = {"vawregressor__alpha": optuna.distributions.FloatDistribution(0.01, 10.0, log=True)}
    found = OptunaSearchCV(pipeline(), space, cv=SPLITS, n_trials=6, random_state=0).fit(X, y)
    best = pipeline().set_params(**found.best_params_)
    near(found.best_score_, cross_val_score(best, X, y, cv=SPLITS).mean(), "the best score")
    same(found.predict(X), learnt(best, X, y).predict(X))


# ---- shap ----


@shap_does("KernelExplainer: sums are forecasts; of VAW, the exact values")
def test_kernel_explainer():
    import shap

    def check(model):
        X, y = regression()
        model = learnt(model, X, y)
        explainer = shap.KernelExplainer(model.predict, X[:20])
        values = explainer.shap_values(X[100:105], silent=True)
        near(explainer.expected_value, model.predict(X[:20]).mean(), "base")
        sums = values.sum(axis=1) + explainer.expected_value
        near(sums, model.predict(X[100:105]), "sums", rtol=1e-6)

    each(regressors(), check)
    X, y = regression()
    linear = VAWRegressor(forecaster="ridge").fit(X, y)
    values = shap.KernelExplainer(linear.predict, X[:20]).shap_values(X[100:105], silent=True)
    near(values, linear.coef_ * (X[100:105] - X[:20].mean(axis=0)), "values", atol=1e-7)


@shap_does("PermutationExplainer on a frame: sums are forecasts, names are kept", "pandas")
def test_permutation_explainer():
    import pandas as pd
    import shap

    def check(model):
        X, y = regression()
        frame = pd.DataFrame(X, columns=NAMES)
        model = learnt(model, frame, y)
        explainer = shap.PermutationExplainer(model.predict, frame[:20])
        found = explainer(frame[100:105], max_evals=50, silent=True)
        near(found.base_values, np.full(5, model.predict(frame[:20]).mean()), "base")
        near(found.values.sum(axis=1) + found.base_values, model.predict(frame[100:105]), "sums")
        same(found.feature_names, NAMES, "names")

    each(regressors(), check)


# ---- dask-ml ----


def _blocks(X, y):
    import dask.array as da

    return da.from_array(X, chunks=(60, X.shape[1])), da.from_array(y, chunks=60)


@dask_does("Incremental: the blocks learnt in order by our partial_fit")
def test_incremental():
    from dask_ml.wrappers import Incremental

    def check(model):
        X, y = regression()
        expected = clone(model)
        for rows in np.split(np.arange(len(y)), [60, 120]):
            expected.partial_fit(X[rows], y[rows])
        wrapped = Incremental(clone(model), shuffle_blocks=False).fit(*_blocks(X, y))
        near(wrapped.estimator_.predict(X), expected.predict(X))

    each(regressors(), lambda model: as_with(SGDRegressor(random_state=0), check, model))


@dask_does("Incremental and ParallelPostFit: forecasts of Dask arrays")
def test_parallel_forecasts():
    from dask_ml.wrappers import Incremental, ParallelPostFit

    def check(model):
        X, y = regression()
        rows, targets = _blocks(X, y)
        model = learnt(model, X, y)
        near(ParallelPostFit(model).predict(rows).compute(), model.predict(X))
        wrapped = Incremental(clone(model), shuffle_blocks=False).fit(rows, targets)
        near(wrapped.predict(rows).compute(), wrapped.estimator_.predict(X))

    each(regressors(), lambda model: as_with(SGDRegressor(random_state=0), check, model))


@dask_does("Incremental and ParallelPostFit: the score of Dask arrays")
def test_parallel_score():
    from dask_ml.wrappers import Incremental, ParallelPostFit

    def check(model):
        X, y = regression()
        rows, targets = _blocks(X, y)
        model = learnt(model, X, y)
        near(ParallelPostFit(model, scoring="r2").score(rows, targets), model.score(X, y), "score")
        wrapped = Incremental(clone(model), scoring="r2", shuffle_blocks=False).fit(rows, targets)
        near(wrapped.score(rows, targets), wrapped.estimator_.score(X, y), "score")

    each(regressors(), lambda model: as_with(SGDRegressor(random_state=0), check, model))


@dask_does("ParallelPostFit: forecasts of arrays and Dask frames", "dask.dataframe", "pandas")
def test_parallel_frames():
    import dask.dataframe as dd
    import pandas as pd
    from dask_ml.wrappers import ParallelPostFit

    def check(model):
        X, y = regression()
        frame = pd.DataFrame(X, columns=NAMES)
        model = learnt(model, frame, y)
        wrapped = ParallelPostFit(model)
        same(wrapped.predict(frame), model.predict(frame))
        in_parts = wrapped.predict(dd.from_pandas(frame, npartitions=3))
        near(np.asarray(in_parts.compute()), model.predict(frame))

    each(regressors(), lambda model: as_with(SGDRegressor(random_state=0), check, model))


@dask_does("GridSearchCV over TimeSeriesSplit: scores by hand")
def test_dask_search():
    from dask_ml.model_selection import GridSearchCV

    def check(model):
        X, y = regression()
        grid = {"alpha": [0.1, 10.0]}
        found = GridSearchCV(model, grid, cv=SPLITS, scheduler="threading", n_jobs=2).fit(X, y)
        for alpha, score in zip(grid["alpha"], found.cv_results_["mean_test_score"], strict=True):
            candidate = clone(model).set_params(alpha=alpha)
            near(score, cross_val_score(candidate, X, y, cv=SPLITS).mean(), "score")
        best = clone(model).set_params(**found.best_params_)
        same(found.predict(X), learnt(best, X, y).predict(X))

    as_with(SGDRegressor(random_state=0), check, VAWRegressor())
