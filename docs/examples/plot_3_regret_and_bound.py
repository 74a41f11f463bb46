r"""
Regret against its bound
========================

The promise of this field is not a small loss, which no one can promise on an arbitrary sequence,
but a small *regret*: the loss above that of the best comparator in hindsight. For the
Vovk-Azoury-Warmuth forecaster it grows like the logarithm of the number of rounds, whatever the
targets are. See :func:`sklearn_okl.evaluation.vaw_logdet_bound` for the bound.
"""

# %%
# A stream of the friendly kind
# -----------------------------
# Targets are linear in the rows, plus noise. Every learner does well, and the bound, which holds
# for any targets of this size whatever, is far away.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_okl import OGDRegressor, VAWRegressor
from sklearn_okl.datasets import make_adversarial_stream
from sklearn_okl.evaluation import RegretCurveDisplay, ridge_comparator, vaw_logdet_bound

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 5))
y = np.clip(X @ [0.3, -0.2, 0.1, 0.0, 0.2] + 0.2 * rng.normal(size=1500), -1, 1)

best = ridge_comparator(X, y)
bound = vaw_logdet_bound(X, y_bound=1.0, norm_sq=best.norm_sq)
models = {
    "VAW": VAWRegressor(),
    "online ridge": VAWRegressor(forecaster="ridge"),
    "gradient descent": OGDRegressor(eta0=0.05),
}
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
RegretCurveDisplay.from_estimator(models, X, y, bound=bound, ax=ax, start=10, yscale="symlog")
ax.set_title("Linear targets and noise")
plt.show()

# %%
# An adversary
# ------------
# :func:`~sklearn_okl.datasets.make_adversarial_stream` plays against online ridge regression: it
# looks at each forecast and takes the end of [-1, 1] that is farther away. Three small rows, then
# large ones: ridge regression trusts the slope that it has learnt from the small rows, and
# overshoots by far. Both forecasters meet the same targets.

X = np.r_[np.ones((3, 1)), np.full((40, 1), 40.0)]
y = make_adversarial_stream(VAWRegressor(1e-3, forecaster="ridge"), X)

best = ridge_comparator(X, y, alpha=1e-3)
bound = vaw_logdet_bound(X, y_bound=1.0, alpha=1e-3, norm_sq=best.norm_sq)
models = {
    "VAW": VAWRegressor(1e-3),
    "online ridge": VAWRegressor(1e-3, forecaster="ridge"),
}
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
RegretCurveDisplay.from_estimator(
    models, X, y, comparator=lambda X, y: ridge_comparator(X, y, alpha=1e-3), bound=bound, ax=ax
)
ax.set_title("Targets chosen to hurt online ridge regression")
plt.show()

# %%
# Online ridge regression uses the inverse matrix *without* the current row, VAW the one *with* it:
# a row that is unlike all rows before it draws the forecast towards zero. That is all the
# difference there is, and it takes the regret from above the bound to below it.
