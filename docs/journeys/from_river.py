"""A user of River who wants to keep loops, dicts and metrics.

From "Coming from River". To reach: in River's own ``progressive_val_score`` at most nine tenths of
the error of its scaled linear regression and of its adaptive random forest, and the same figure
from one call on arrays.
"""

import numpy as np
from river import evaluate, forest, linear_model, metrics, preprocessing, stream

from sklearn_okl import OnlineKernelRegressor, RowRegressor
from sklearn_okl.datasets import make_friedman_stream

X, y = make_friedman_stream(700, n_features=5, drift="jump", random_state=0)
names = [f"x{i}" for i in range(5)]
rivals = {
    "a line": preprocessing.StandardScaler() | linear_model.LinearRegression(),
    "a forest": forest.ARFRegressor(seed=0),
    "no tuning": RowRegressor(OnlineKernelRegressor(budget="fast", random_state=0)),
}
errors = {}
for name, model in rivals.items():
    rows = stream.iter_array(X, y, feature_names=names)
    errors[name] = evaluate.progressive_val_score(rows, model, metrics.MAE()).get()
    print(f"{name}: mean absolute error {errors[name]:.3f}")

forecasts = OnlineKernelRegressor(budget="fast", random_state=0).prequential_predict(X, y)
at_once = np.abs(forecasts - y).mean()
print(f"in one call: {at_once:.3f}")
assert errors["no tuning"] <= 0.9 * min(errors["a line"], errors["a forest"])
np.testing.assert_allclose(at_once, errors["no tuning"], rtol=0.01)
