"""How the model of one key is copied, taught and asked."""

from inspect import signature

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from .._flow import active, copied_step
from .._validation import rows_of
from ..aggregators._likelihoods import or_equal
from ..base import SwapMixin, twin

_ASKED = {"prequential_predict": "predict", "prequential_predict_proba": "predict_proba"}


def copied(model):
    """Copy a model so that the copy can learn on."""
    return twin(model) if isinstance(model, SwapMixin) else copied_step(model)


def with_names(model, names):
    """Return a model with the names of its columns, which who learnt in a bank does not know."""
    if names is None or hasattr(model, "feature_names_in_"):
        return model
    model = twin(model)
    if hasattr(model, "steps_") and model.steps_ is not model.steps:
        is_first = dict([active(model.steps_)[0]])
        steps = [(n, with_names(one, names) if n in is_first else one) for n, one in model.steps_]
        model.steps_ = steps
    model.feature_names_in_ = names
    return model


def begun(estimator, classes):
    """Return a fresh model, and what its first call is told."""
    model = clone(estimator)
    return model, told(model, classes)


def told(model, classes):
    """Return what the first call of a model is told of the classes there are."""
    if classes is None:
        return {}
    parameters = signature(model.partial_fit).parameters.values()
    takes = any(one.name == "classes" or one.kind is one.VAR_KEYWORD for one in parameters)
    return {"classes": np.array(classes)} if takes else {}


def taught(model, X, y, params, verb, nothing):
    """Teach rows to a model; return the answers of a verb, or None where it is `partial_fit`.

    Who has no such verb is asked and taught row by row, and answers `nothing` before its first row.
    """
    if verb == "partial_fit":
        model.partial_fit(X, y, **params)
        return None
    if hasattr(model, verb):
        return np.asarray(getattr(model, verb)(X, y, **params))
    answers = np.repeat(np.asarray(nothing)[None], len(y), axis=0)
    is_known, weights = hasattr(model, "n_features_in_"), params.get("sample_weight")
    for i in range(len(y)):
        row = rows_of(X, slice(i, i + 1))
        if is_known:
            answers[i] = getattr(model, _ASKED[verb])(row)[0]
        if weights is not None:
            params = params | {"sample_weight": weights[i : i + 1]}
        model.partial_fit(row, y[i : i + 1], **params)
        params, is_known = {name: params[name] for name in params if name != "classes"}, True
    return answers


def fitting(answers, shape, verb):
    """Return what a model of a key answered, or say that it is of another shape than it should.

    What is to be probabilities and is none, as a naive Bayes classifier says NaN until it knows
    variances, is the same for all classes.
    """
    answers = np.asarray(answers)
    if answers.shape != shape:
        raise ValueError(
            f"The model of a key answers {verb!r} with an array of shape {answers.shape}, and not "
            f"of {shape}. A classifier is to learn all classes by 'partial_fit(classes=)'."
        )
    return or_equal(answers) if verb.endswith("proba") else answers


def labelled(error, key):
    """Say whose rows were refused; errors of a type of their own stay as they are."""
    if key is None or type(error) not in (ValueError, TypeError):
        return error
    return type(error)(f"The rows of the key {key!r} were refused: {error}")


def check_estimator_of_keys(estimator, of_classes):
    """Refuse what is no estimator that learns from a stream."""
    right = is_classifier(estimator) if of_classes else is_regressor(estimator)
    if isinstance(estimator, type) or not right or not hasattr(estimator, "partial_fit"):
        what = "classifier" if of_classes else "regressor"
        raise TypeError(
            f"estimator={estimator!r} is not an instance of a {what} with 'partial_fit'. Give one "
            "that learns from a stream."
        )
