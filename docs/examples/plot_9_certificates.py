"""
What forecasts have cost, and what moved them
=============================================

A certificate says how far a model is behind the best in hindsight, an explanation which columns its
forecasts hang on. Both are exact, and known after every row: here they are drawn along one stream,
whose cause moves from one column to another.
"""

# %%
# One stream, two models
# ----------------------
# The first remembers all rows, and has a certificate. The second forgets, and has none: nobody who
# forgets is to be compared with one function of all rows.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_okl import CertifiedRegressor, VAWRegressor
from sklearn_okl.evaluation import RegretCurveDisplay, ShapleyDisplay, vaw_logdet_bound
from sklearn_okl.inspection import ShapleyExplanation

rng = np.random.default_rng(0)
n = 1200
X = rng.normal(size=(n, 4))
y = np.where(np.arange(n) < 800, X[:, 0], X[:, 2]) + 0.3 * rng.normal(size=n)

certified = CertifiedRegressor(VAWRegressor(alpha=1.0))
forgetful = VAWRegressor(alpha=1.0, forgetting=0.98)
constants, parts = [], []
for low in range(0, n, 20):
    rows = slice(low, low + 20)
    if low:
        parts.append(forgetful.explain(X[rows], background=X[:20]))
    forgetful.partial_fit(X[rows], y[rows])
    for t in range(low, low + 20):
        certified.partial_fit(X[t : t + 1], y[t : t + 1])
        constants.append(certified.regret_certificate().linear.constant)

# %%
# The certificate
# ---------------
# Against every linear function u the regret is at most C, the curve, and alpha times u'u. The
# theorem's bound holds for all streams with targets of that size. Where the cause moves, C hardly
# grows: the best function of all rows gets worse as the model does.

bound = vaw_logdet_bound(X, y_bound=np.abs(y).max(), norm_sq=0.0)
RegretCurveDisplay({"certificate": np.array(constants)}, bound=bound).plot()
plt.show()

# %%
# The explanation
# ---------------
# Which columns moved the forecasts of the model that forgets.

ShapleyDisplay(ShapleyExplanation.joined(parts)).plot(over_time=True)
plt.show()
