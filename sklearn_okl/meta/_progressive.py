"""Forecasts of any estimator with `partial_fit`, each made before its target was learnt."""

from inspect import signature

import numpy as np

from ..aggregators._likelihoods import or_equal


def numbers(estimator, X, y, is_first, handed):
    """Teach a regressor rows, and return its forecasts (n,) on the way; 0 before any row.

    It gets rows as ``handed(X)`` makes them of numbers, so that one alone shows nothing of others.
    """
    if hasattr(estimator, "prequential_predict"):
        forecasts = estimator.prequential_predict(handed(X), y)
        return np.array(forecasts, dtype=np.float64).reshape(y.shape)
    forecasts = np.zeros(len(y))
    for t in range(len(y)):
        row = slice(t, t + 1)
        if t or not is_first:
            forecasts[t] = np.asarray(estimator.predict(handed(X[row])), dtype=np.float64).item()
        estimator.partial_fit(handed(X[row]), y[row])
    return forecasts


def probabilities(estimator, X, labels, classes, is_first, handed):
    """Teach a classifier rows, and return probabilities (n, C) of sorted classes on the way.

    Before any row they are all the same. Rows are `handed` to it as by `numbers`.
    """
    if hasattr(estimator, "prequential_predict_proba"):
        learn = estimator.prequential_predict_proba
        P = learn(handed(X), labels, **_named(learn, classes, is_first))
        return placed(estimator, P, classes)
    P = np.full((len(labels), len(classes)), 1.0 / len(classes))
    for t in range(len(labels)):
        row, begins = slice(t, t + 1), is_first and not t
        if not begins:
            P[t] = placed(estimator, estimator.predict_proba(handed(X[row])), classes)[0]
        learn = estimator.partial_fit
        learn(handed(X[row]), labels[row], **_named(learn, classes, begins))
    return P


def placed(estimator, P, classes):
    """Return probabilities in columns of all sorted classes: an estimator may know fewer.

    What is none, as a naive Bayes classifier says NaN until it knows variances, counts as the same
    for all.
    """
    found = np.zeros((len(P), len(classes)))
    found[:, np.searchsorted(classes, getattr(estimator, "classes_", classes))] = P
    return or_equal(found)


def _named(learn, classes, is_first):
    parameters = signature(learn).parameters.values()
    takes = any(one.name == "classes" or one.kind is one.VAR_KEYWORD for one in parameters)
    return {"classes": classes.copy()} if takes and is_first else {}
