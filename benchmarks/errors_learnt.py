"""What the estimators without tuning of one commit lose on one stream.

``benchmarks.errors`` runs it in a process of its own for each commit. Nothing is imported here but
the package of that commit, by names that its oldest commits have.
"""

import joblib
import numpy as np

STEPS = 48  # of a forecast of series
CALL = 500
FLOOR = 1e-7  # of a probability


def learnt(path, budget):
    """Return the figures of one stream by this process's package: a dict of floats by name."""
    X, y = joblib.load(path)
    if X is None:
        return _forecast(y)
    return _of_classes(X, y, budget) if y.dtype.kind in "UO" else _of_numbers(X, y, budget)


def _of_numbers(X, y, budget):
    from sklearn_okl import OnlineKernelRegressor

    model, said = OnlineKernelRegressor(budget=budget, random_state=0), []
    for start in range(0, len(y), CALL):
        rows = slice(start, start + CALL)
        said.append(model.prequential_predict(X[rows], y[rows]))
    errors = np.concatenate(said) - y
    return {"squared error": float(np.mean(errors**2)), "absolute": float(np.mean(abs(errors)))}


def _of_classes(X, y, budget):
    from sklearn_okl import OnlineKernelClassifier

    labels, places = np.unique(y, return_inverse=True)
    model, said, first = OnlineKernelClassifier(budget=budget, random_state=0), [], labels
    for start in range(0, len(y), CALL):
        rows = slice(start, start + CALL)
        said.append(model.prequential_predict_proba(X[rows], y[rows], classes=first))
        first = None
    P = np.concatenate(said)
    loss = -np.log(np.maximum(P[np.arange(len(y)), places], FLOOR))
    errors = P.argmax(axis=1) != places
    return {"log loss": float(np.mean(loss)), "errors": float(np.mean(errors))}


def _forecast(Y):
    from sklearn_okl import OnlineForecaster

    model, said = OnlineForecaster(STEPS), np.full((len(Y), STEPS, Y.shape[1]), np.nan)
    for t in range(len(Y)):
        if t:
            said[t] = model.predict()
        model.partial_fit(Y[t : t + 1])
    errors = [said[1 : len(Y) - h, h] - Y[1 + h :] for h in range(STEPS)]
    squared = [np.mean(part[len(part) // 2 :] ** 2) for part in errors]
    return {f"to step {h}": float(np.mean(squared[:h])) for h in (1, 24, 48)}
