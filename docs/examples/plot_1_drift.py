r"""
A stream with drift
===================

A sensor is replaced, customers change their minds: the function behind a stream need not stay what
it was. Here Friedman's first function jumps halfway: from then on other inputs matter. A learner
that never forgets averages the two worlds. One that discounts the past by a factor each round
(``forgetting``) knows some :math:`1 / (1 - \text{forgetting})` rounds and follows; while nothing
changes it pays for that with a little more variance.
"""

# %%
# The stream and two learners
# ---------------------------
# The inputs are uniform on the unit cube. Three Gaussian kernels stand for three guesses of the
# right length scale; nobody needs to know which one is right.

import matplotlib.pyplot as plt

from sklearn_okl import VAW2Regressor
from sklearn_okl.datasets import make_friedman_stream
from sklearn_okl.evaluation import PrequentialDisplay

X, y = make_friedman_stream(6000, n_features=10, drift="jump", random_state=0)
kernels = {"kernel": ["rbf"], "gamma": [0.05, 0.2, 0.8]}
models = {
    f"forgetting = {forgetting}": VAW2Regressor(
        kernels, n_components=100, forgetting=forgetting, random_state=0
    )
    for forgetting in (1.0, 0.999, 0.995)
}

# %%
# Loss over time
# --------------
# Every point is the mean loss of the latest 300 forecasts, each of them made before its target was
# seen. The dotted line is where the function jumps. The noise alone costs 1.

fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
display = PrequentialDisplay.from_estimator(models, X, y, window=300, ax=ax, start=100)
ax.axvline(3000, color="0.5", linestyle=":")
ax.set_title("Friedman's function, jumping at round 3000")
plt.show()

# %%
# After the jump the learner that forgets nothing stays worse for as long as it has learnt before.
# The shorter the memory, the faster the recovery, and the higher the level while nothing changes:
# with ``forgetting=0.995`` there are some 200 rounds to learn 100 features per kernel from.
