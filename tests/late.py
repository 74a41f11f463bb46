"""A literal estimator whose labels come late, and the law that such estimators keep."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone


class LateRidge(RegressorMixin, BaseEstimator):
    """Online ridge regression on the row and its number; it keeps the models of late rounds."""

    def __init__(self, label_delay=0, alpha=1.0, shift=0.0):
        self.label_delay = label_delay
        self.alpha = alpha
        self.shift = shift

    def fit(self, X, y):
        vars(self).pop("models_", None)
        return self.partial_fit(X, y)

    def partial_fit(self, X, y):
        self.prequential_predict(X, y)
        return self

    def prequential_predict(self, X, y):
        if not np.isfinite(y).all():
            raise ValueError("a target is no number")
        X, d = np.asarray(X), X.shape[1] + 1
        # (rows learnt, matrix, vector) after each of the latest rows
        models = getattr(self, "models_", [(0, self.alpha * np.eye(d), np.zeros(d))])
        forecasts = []
        for x, target in zip(X, y, strict=True):
            forecasts.append(self._forecast(models[0], x, self.label_delay))
            t, A, b = models[-1]
            z = np.append(x, 0.01 * t)
            models = [*models, (t + 1, A + np.outer(z, z), b + target * z)]
            models = models[-self.label_delay - 1 :]
        self.models_ = models
        return np.array(forecasts)

    def predict(self, X, ahead=False):
        late = range(len(X)) if ahead else [self.label_delay] * len(X)
        rows = zip(np.asarray(X), late, strict=True)
        return np.array([self._forecast(self.models_[-1], *row) for row in rows])

    def _forecast(self, model, x, late):
        t, A, b = model
        return np.append(x, 0.01 * (t + late)) @ np.linalg.solve(A, b) + self.shift


def assert_law(estimator, X, y, ends=(1, 2, 9, 30, 31, 50)):
    """Hold the forecasts, however the stream is cut, against `predict` of models of fewer rows.

    Return the forecasts.
    """
    D = estimator.label_delay
    whole, cut, literal = (clone(estimator) for _ in range(3))
    forecasts = whole.prequential_predict(X, y)
    parts = [cut.prequential_predict(X[rows], y[rows]) for rows in np.split(range(len(y)), ends)]
    np.testing.assert_allclose(np.concatenate(parts), forecasts, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(cut.predict(X), whole.predict(X), rtol=1e-8, atol=1e-8)
    expected = forecasts.copy()
    for t in range(D + 1, len(y)):
        literal.partial_fit(X[t - 1 - D : t - D], y[t - 1 - D : t - D])
        expected[t] = literal.predict(X[t : t + 1])[0]
    np.testing.assert_allclose(forecasts, expected, rtol=1e-8, atol=1e-8)
    return forecasts
