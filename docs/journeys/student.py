"""A student who has read the first lecture, does its exercise, and writes an algorithm.

From "A first lecture" and "Extending". To reach: with a hundred times the random features the
kernel is off by a fifth at most, the regret of VAW is within its bound on three streams, one of
them an enemy's, the mixture of the exercise has at most 1.5 times the error of the better one after
the jump, and a learner of one's own keeps the laws.
"""

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from sklearn_okl import BOARegressor, FourierFeatures, VAWRegressor
from sklearn_okl.base import OnlineRegressor
from sklearn_okl.evaluation import (
    check_online_estimator,
    regret,
    ridge_comparator,
    vaw_logdet_bound,
)

rng = np.random.default_rng(0)
x = np.linspace(-3, 3, 301)[:, None]
off = {}
for n_components in 20, 2000:
    Z = FourierFeatures(n_components=n_components, gamma=1.0, random_state=0).fit_transform(x)
    off[n_components] = np.abs(Z @ Z[150] - np.exp(-(x[:, 0] ** 2))).max()
print(*(f"{n} features: off by at most {error:.3f}" for n, error in off.items()), sep="\n")
assert off[2000] <= off[20] / 5

X = rng.uniform(-3, 3, size=(1000, 1))
Z = FourierFeatures(n_components=50, gamma=1.0, random_state=0).fit_transform(X)
still = np.sin(2 * X[:, 0]) + 0.2 * rng.uniform(-1, 1, size=1000)
jump = np.where(np.arange(1000) < 500, still, -still)
greedy, model = np.empty(1000), VAWRegressor(alpha=0.1)
for t in range(1000):  # an enemy, who waits for the forecast
    forecast = model.predict(Z[t : t + 1])[0] if t else 0.0
    greedy[t] = -1.0 if forecast > 0 else 1.0
    model.partial_fit(Z[t : t + 1], greedy[t : t + 1])
for name, y in {"still": still, "jump": jump, "greedy": greedy}.items():
    forecasts = VAWRegressor(alpha=0.1).prequential_predict(Z, y)
    best = ridge_comparator(Z, y, alpha=0.1)
    lost = regret(forecasts, y, comparator_losses=best.losses)[-1]
    size = np.abs(y).max()
    bound = vaw_logdet_bound(Z, y_bound=size, alpha=0.1, norm_sq=best.norm_sq)[-1]
    print(f"{name}: regret {lost:.1f}, bound {bound:.1f}")
    assert lost <= bound

steady = VAWRegressor(alpha=0.1).prequential_predict(Z, jump)
forgetful = VAWRegressor(alpha=0.1, forgetting=0.98).prequential_predict(Z, jump)
mixture = BOARegressor()
mixed = mixture.prequential_predict(np.column_stack([steady, forgetful]), jump)
after = slice(500, 600)
errors = [np.mean((f - jump)[after] ** 2) for f in (steady, forgetful, mixed)]
print("after the jump:", np.round(errors, 2), "weights at the end", mixture.weights_.round(2))
assert errors[2] <= 1.5 * min(errors)


class PassiveAggressive(OnlineRegressor):
    """Go as far as the error asks, and no further than C (Crammer et al. 2006, PA-I)."""

    _parameter_constraints = {"C": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, C=0.1):
        self.C = C

    def _start(self, n_features, n_targets=None, bank=None):
        return {"t": 0, "w": np.zeros(n_features)}

    def _learn(self, state, X, y):
        forecasts = np.empty(len(y))
        for t, (z, target) in enumerate(zip(X, y, strict=True)):
            forecasts[t] = state["w"] @ z
            error = target - forecasts[t]
            step = min(self.C, abs(error) / max(z @ z, 1e-12))
            state["w"] += np.sign(error) * step * z
        state["t"] += len(y)
        return forecasts

    def _forecast(self, state, X):
        return X @ state["w"]


check_online_estimator(PassiveAggressive())
own = np.mean((PassiveAggressive().prequential_predict(Z, still) - still)[500:] ** 2)
nothing = np.mean(still[500:] ** 2)
print(f"one's own: {own:.3f}, forecasting nothing: {nothing:.3f}")
assert own <= 0.3 * nothing
