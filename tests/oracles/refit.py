"""A batch model refitted now and then, and a correction of forecasts, as one would write them."""

from math import ceil

import numpy as np
from sklearn.base import clone


def refit(estimator, X, y, growth, window=None, delay=0, weights=None, fit_delay=0):
    """Return the forecasts of a model that is fitted whenever the past has grown by a share."""
    forecasts, due, fits = [], 30, [(0, None)]
    for t, x in enumerate(X):
        known = max(t - delay, 0)  # labels
        model = [model for n, model in fits if n <= known][-1]
        mean = np.mean(y[:known]) if known else 0.0
        forecasts.append(mean if model is None else model.predict(x[None])[0])
        n = t + 1  # labels when this row's own has come
        if n == due:
            past = slice(0 if window is None else max(n - window, 0), n)
            weighted = () if weights is None else (weights[past],)
            model = fitted(clone(estimator), X[past], y[past], *weighted)
            fits.append((n + fit_delay, model))
            base = n if window is None else min(n, window)
            due = max(n + 1, n + ceil(growth * base - 1e-9))
    return np.array(forecasts)


def fitted(model, X, y, weights=None):
    if weights is None:
        return model.fit(X, y)
    if weights.max() == 0:  # nothing but 0 is known
        return model.fit(X, 0 * y)
    some = weights > 0
    return model.fit(X[some], y[some], sample_weight=weights[some])


def corrected(base, correction, X, y, warmup, passthrough):
    """Return the forecasts of a base and of what learns its errors."""
    base, correction, forecasts = clone(base), clone(correction), []
    for t in range(len(y)):
        row = slice(t, t + 1)
        b = base.predict(X[row])[0] if t else 0.0
        base.partial_fit(X[row], y[row])
        seen = np.append(X[t], b)[None] if passthrough else X[row]
        c = correction.predict(seen)[0] if t > warmup else 0.0
        if t >= warmup:
            correction.partial_fit(seen, [y[t] - b])
        forecasts.append(b + c)
    return np.array(forecasts)


def refit_classifier(estimator, X, y, classes, growth, window=None, delay=0):
    """Return the probabilities of a classifier that is fitted whenever the past has grown."""
    classes = sorted(classes)
    forecasts, due, fits = [], 30, [(0, None)]
    for t, x in enumerate(X):
        known = max(t - delay, 0)  # labels
        model = [model for n, model in fits if n <= known][-1]
        if model is None:
            counts = [sum(label == c for label in y[:known]) for c in classes]
            forecasts.append([(count + 1) / (known + len(classes)) for count in counts])
        else:
            shown = dict(zip(model.classes_, model.predict_proba(x[None])[0], strict=True))
            forecasts.append([shown.get(c, 0.0) for c in classes])
        n = t + 1  # labels when this row's own has come
        if n == due:
            past = slice(0 if window is None else max(n - window, 0), n)
            if len(set(y[past])) > 1:
                fits.append((n, clone(estimator).fit(X[past], y[past])))
            base = n if window is None else min(n, window)
            due = max(n + 1, n + ceil(growth * base - 1e-9))
    return np.array(forecasts)
