"""Transformed targets, and N. Duan's smearing (1983), a row at a time by public verbs alone."""

import numpy as np


def smeared(regressor, transformer, X, y, smearing, n_first=32, window=256):
    """Return the forecast of each row, made before its target was seen."""
    running = hasattr(transformer, "partial_fit")
    forecasts, errors = [], []
    for t in range(len(y)):
        row, target = X[t : t + 1], y[t : t + 1, None]
        transformed = regressor.predict(row)[0] if t else 0.0
        of_late = errors[n_first:][-window:]
        if running and t == 0:
            forecasts.append(transformed)
        elif smearing and len(of_late) >= n_first:
            leads_to = transformer.inverse_transform(transformed + np.array(of_late)[:, None])
            forecasts.append(np.mean(leads_to))
        else:
            forecasts.append(transformer.inverse_transform([[transformed]])[0][0])
        if running:
            transformer.partial_fit(target)
        learnt = transformer.transform(target)[0, 0]
        errors.append(learnt - transformed)
        regressor.partial_fit(row, [learnt])
    return np.array(forecasts)
