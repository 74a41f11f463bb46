"""A researcher who wants a baseline, a table with seeds, and a bound beside the regret.

From "Choosing", "Getting started: comparing models" and the gallery's comparison. To reach: VAW²
below gradient descent on every stream, with intervals of the paired difference that leave out 0;
the regret of VAW below its bound after every row; the works to cite as BibTeX.
"""

import numpy as np
import pandas as pd

from sklearn_okl import (
    FourierFeatures,
    OGDRegressor,
    RakerRegressor,
    VAW2Regressor,
    VAWRegressor,
    cite,
)
from sklearn_okl.datasets import make_ar4, make_friedman_stream, scale_as_published
from sklearn_okl.evaluation import compare, regret, ridge_comparator, vaw_logdet_bound


def friedman(drift):
    return lambda seed: scale_as_published(
        *make_friedman_stream(500, n_features=5, drift=drift, random_state=seed)
    )


kernels = {"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0]}
models = {
    "VAW²": VAW2Regressor(kernels, n_components=30),
    "Raker": RakerRegressor(kernels),
    "OGD": OGDRegressor(eta0=0.1, fit_intercept=True),
}
streams = {
    "AR(4)": lambda seed: scale_as_published(*make_ar4(500, random_state=seed)),
    "steady": friedman(None),
    "jump": friedman("jump"),
}
comparison = compare(models, streams, seeds=5)
differences = pd.DataFrame(comparison.differences())
print(differences)
print(comparison.ranks().sentence)
print(comparison.to_markdown())
assert "\\begin{tabular}" in comparison.to_latex()
against = differences[(differences["model"] == "VAW²") & (differences["other"] == "OGD")]
assert len(against) == len(streams)
assert (against["upper"] < 0).all()
works = cite(models["VAW²"])
print(works)
assert works.startswith("@")

X, y = friedman(None)(0)
Z = FourierFeatures(gamma=1.0, n_components=40, random_state=0).fit_transform(X)
forecasts = VAWRegressor(alpha=0.1).prequential_predict(Z, y)
best = ridge_comparator(Z, y, alpha=0.1)
lost = regret(forecasts, y, comparator_forecasts=best)
bound = vaw_logdet_bound(Z, y_bound=np.abs(y).max(), alpha=0.1, norm_sq=best.norm_sq)
print(f"regret {lost[-1]:.2f}, bound {bound[-1]:.2f}")
assert (lost <= bound).all()
