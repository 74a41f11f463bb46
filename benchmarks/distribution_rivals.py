"""What laws by rows are held against: intervals by own levels, one Gaussian, boosted laws."""

from importlib.util import find_spec

import numpy as np
from scipy.special import ndtri
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer

from sklearn_okl import LagFeatures, RefitRegressor, StreamingPipeline
from sklearn_okl.conformal import _running_errors

from .tables import N_LAGS, boosting

N_NATURAL = 500  # trees of NGBoost, as many as it has by default
FIRST_NATURAL, GROWTH = 30, 1.2  # rows of its first fit, and how much longer the past of the next
# ensembles of Gaussian processes on random features, hyperparameters learnt on 1 000 rows, targets
# scaled by these: squared error over the variance, and mean log-likelihood
DOEBE = {"elevators": (0.0971, -0.269), "calhousing": (0.1847, -0.846)}


def by_own_levels(errors, forecasts, alpha):
    """Return quantiles (n, q) of intervals whose coverages have levels of their own.

    That is what intervals were before there was one law a row. Also whether they cross (n,): a
    higher coverage has a narrower interval. Targets that were taken for faults count as any other.
    """
    places = np.rint(100.0 * np.abs(2.0 * alpha - 1.0)).astype(int) - 1
    state = _running_errors.start()
    found, crossed = np.tile(forecasts[:, None], (1, len(alpha))), np.zeros(len(errors), dtype=bool)
    which, at = np.unique(places, return_inverse=True)  # the first is the middle
    for t, error in enumerate(errors):
        if len(state["scores"]):
            ordered, step = np.sort(state["scores"]), _running_errors._step(state)
            levels, unit = state["levels"], _running_errors._unit(state)
            reach = [unit * _running_errors._score_at(ordered, levels[k], step) for k in which[1:]]
            crossed[t] = (np.diff(reach) < 0.0).any()
            found[t] += np.sign(alpha - 0.5) * np.array([0.0, *reach])[at]
        if not np.isnan(error):
            _running_errors.learn(state, np.array([error]))
    return found, crossed


def one_gaussian(errors, forecasts, alpha):
    """Return quantiles (n, q) of a Gaussian around forecasts, as wide as all errors so far."""
    squares = np.cumsum(np.square(np.nan_to_num(errors)))
    sizes = np.sqrt(np.append(0.0, squares[:-1]) / np.maximum(np.arange(len(errors)), 1.0))
    return forecasts[:, None] + sizes[:, None] * ndtri(alpha)


def boosted(X, y, alpha, n_trees):
    """Return quantiles (n, q) of boosting in the pinball loss, fitted anew as the past grows.

    It is refitted when the past has grown by a twentieth, and has the latest targets as columns;
    what crosses is put in order.
    """
    found = []
    for level in alpha:
        parts = [("lags", LagFeatures(N_LAGS)), ("trees", RefitRegressor(booster(level, n_trees)))]
        found.append(StreamingPipeline(parts).prequential_predict(X, y))
    return np.sort(np.column_stack(found), axis=1)


def booster(level, n_trees):
    """Return the boosting that point forecasts are held against, in the pinball loss."""
    model = boosting(n_trees)
    if isinstance(model, HistGradientBoostingRegressor):
        return model.set_params(loss="quantile", quantile=level)
    return model.set_params(objective="quantile", alpha=level)


def has_natural():
    """Tell whether NGBoost is installed, which not every version of scikit-learn has room for."""
    return find_spec("ngboost") is not None


def natural(X, y, alpha, n_trees):
    """Return quantiles (n, q) of NGBoost's Normal laws, fitted anew as the past grows.

    It is slow, so it is refitted when the past has grown by a fifth, not by a twentieth as boosted
    quantiles are. It has its own settings but for the number of trees, and the latest targets as
    columns. What is missing counts as the mean of the past. Before its first fit it says nothing,
    NaN.
    """
    from ngboost import NGBRegressor

    rows = LagFeatures(N_LAGS).prequential_transform(X, y)
    found = np.full((len(y), len(alpha)), np.nan)
    n_known = FIRST_NATURAL
    while n_known < len(y):
        come = slice(n_known, int(np.ceil(GROWTH * n_known)))
        filled = SimpleImputer(keep_empty_features=True).fit(rows[:n_known])
        model = NGBRegressor(n_estimators=n_trees, random_state=0, verbose=False)
        model.fit(filled.transform(rows[:n_known]), y[:n_known])
        law = model.pred_dist(filled.transform(rows[come])).params
        found[come] = law["loc"][:, None] + law["scale"][:, None] * ndtri(alpha)
        n_known = come.stop
    return found


def likelihoods(model, X, y, first):
    """Return squared error over the variance, and the mean log-density, from row `first` on.

    Targets are scaled by the first rows. The last figure is that of one Gaussian in place of laws.
    """
    y = (y - y[:first].mean()) / y[:first].std()
    model = model.partial_fit(X[:first], y[:first])
    logs, forecasts = np.empty((2, len(y) - first))
    for i, t in enumerate(range(first, len(y))):
        row = X[t : t + 1]
        forecasts[i] = model.predict(row)[0]
        logs[i] = model.predict_distribution(row).log_pdf(y[t : t + 1])[0]
        model.partial_fit(row, y[t : t + 1])
    squares = np.square(y[first:] - forecasts)
    sizes = np.cumsum(squares)[:-1] / np.arange(1, len(squares))
    gaussian = -0.5 * (np.log(2.0 * np.pi * sizes) + squares[1:] / sizes)
    return float(squares.mean() / y[first:].var()), float(logs.mean()), float(gaussian.mean())
