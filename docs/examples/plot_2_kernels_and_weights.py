"""
A dictionary of kernels, and their weights
==========================================

Which kernel, and which bandwidth? Online one cannot cross-validate first. The multi-kernel answer
is to run a dictionary of kernels side by side and to let an aggregator weight their forecasts.
"""

# %%
# Nine kernels on the AR(4) series
# --------------------------------
# The rows are scaled to norm at most one, as in the papers (which looks ahead: for a picture only).

import matplotlib.pyplot as plt
import numpy as np

from sklearn_okl import VAW2Regressor, VAWBOARegressor, VAWEWARegressor
from sklearn_okl.datasets import make_ar4, scale_as_published
from sklearn_okl.evaluation import ExpertWeightsDisplay

X, y = scale_as_published(*make_ar4(3000))
kernels = [
    {"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0, 100.0, 1000.0]},
    {"kernel": ["laplacian"], "gamma": [0.1, 1.0, 10.0, 100.0]},
]
settings = dict(kernels=kernels, n_components=60, random_state=0)
models = {
    "VAW-EWA": VAWEWARegressor(y_range=(0, 1), **settings),
    "VAW-BOA": VAWBOARegressor(y_range=(0, 1), **settings),
    "VAW²": VAW2Regressor(**settings),
}
for name, model in models.items():
    forecasts = model.prequential_predict(X, y)
    print(f"{name:8}  mean squared error {1e3 * np.mean((forecasts - y) ** 2):.2f}e-3")

# %%
# Weights at the end
# ------------------
# Exponential weights (EWA) and Bernstein aggregation (BOA) form a mean: weights are positive and
# add up to one. VAW² takes a *linear* combination: an expert with a negative weight corrects
# another that resembles it.

display = ExpertWeightsDisplay.from_estimator(models)
display.figure_.set_size_inches(9, 4.2)
plt.show()

# %%
# Weights over time
# -----------------
# With convex weights the areas add up to one. The narrow kernels, whose experts know nothing about
# rows they have not seen yet, are out before the picture begins; between the two widest it takes
# BOA some hundred rounds to decide.

display = ExpertWeightsDisplay.from_estimator(
    VAWBOARegressor(y_range=(0, 1), **settings), X, y, over_time=True
)
display.figure_.set_size_inches(9, 4.2)
plt.show()
