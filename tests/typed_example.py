"""A program with types, as its author's checker sees it: `mypy --strict tests/typed_example.py`."""

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sklearn_okl import (
    BOARegressor,
    ExpertsRegressor,
    FourierFeatures,
    LagFeatures,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RakerRegressor,
    RefitRegressor,
    RunningOneHotEncoder,
    RunningStandardScaler,
    StreamingPipeline,
    StreamingTransformedTargetRegressor,
    VAW2Regressor,
    VAWRegressor,
    __version__,
    all_estimators,
    load,
    make_streaming_pipeline,
    save,
)
from sklearn_okl.datasets import dataset_names, make_friedman_stream
from sklearn_okl.evaluation import PrequentialSearch, compare, prequential
from sklearn_okl.kernels import RBF, Matern


def forecasts_of(model: OnlineKernelRegressor) -> NDArray[np.float64]:
    """Return forecasts of the rows of a stream, each before it is learnt."""
    X, y = make_friedman_stream(200, n_features=5, drift="jump", random_state=0)
    forecasts: NDArray[np.float64] = model.fit(X[:50], y[:50]).prequential_predict(X[50:], y[50:])
    seen: int = model.n_samples_seen_
    faulty: int = model.n_faulty_
    print(seen, faulty, model.summary())
    print(model.predict_interval(X[:2], coverage=0.9), model.predict(X[:2]).shape)
    mean, std = model.predict(X[:2], return_std=True)
    of_lines, _ = VAWRegressor().fit(X, y).predict(X[:2], return_std=True)
    print(mean.shape, std.shape, of_lines.shape)
    return forecasts


def pipelines(X: NDArray[np.float64], y: NDArray[np.float64]) -> StreamingPipeline:
    """Return a pipeline that has learnt."""
    pipeline = make_streaming_pipeline(
        RunningStandardScaler(),
        LagFeatures(n_lags=2),
        FourierFeatures(gamma=0.1, n_components=20, random_state=0),
        VAWRegressor(alpha=0.1),
    )
    scaled = StreamingTransformedTargetRegressor(pipeline, RunningStandardScaler())
    print(scaled.partial_fit(X, y).predict(X[:1]))
    search = PrequentialSearch(pipeline, {"vawregressor__alpha": [0.1, 1.0]}, n_jobs=None)
    print(search.fit(X, y).best_params_, search.best_loss_)
    return pipeline.fit(X, y)


def main() -> None:
    """Use what is public, and write and read a file."""
    print(__version__, len(all_estimators()), dataset_names()["airfoil"])
    X, y = make_friedman_stream(120, random_state=np.random.RandomState(0))
    print(forecasts_of(OnlineKernelRegressor(budget="fast", lags=2, random_state=0)).mean())
    classifier = OnlineKernelClassifier(budget="fast", random_state=0).fit(X, y > 14.0)
    print(classifier.predict_proba(X[:2]), classifier.classes_)
    mixture = ExpertsRegressor(
        [("raker", RakerRegressor(n_components=10)), ("vaw2", VAW2Regressor(n_components=10))],
        BOARegressor(),
    )
    print(mixture.partial_fit(X, y).weights_)
    print(RefitRegressor(growth=0.5).prequential_predict(X, y).shape)
    print(
        prequential(
            VAW2Regressor({"kernel": [RBF(), Matern()], "gamma": [0.5]}), X, y, window=50
        ).mean_loss
    )
    models = {"VAW": VAWRegressor(), "VAW²": VAW2Regressor(n_components=10)}
    print(compare(models, {"made": (X, y)}, seeds=2).to_latex(decimals=2))
    print(RunningOneHotEncoder(max_categories=3).fit_transform(X[:, :1].round()).shape)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.skops")
        save(pipelines(X, y), path)
        again: StreamingPipeline = load(path)
    print(again.predict(X[:3]))


if __name__ == "__main__":
    main()
