"""Batch models that are fitted anew: which one `trees` asks for, and how it is fitted."""

import numpy as np
from sklearn import config_context
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from ..._validation import metadata_are_routed
from ...meta._refit import RefitClassifier, RefitRegressor
from ...meta._refitted import Refitted


class Fits:
    """How batch models are fitted: where they take no gaps, means of their past fill them.

    Before the first fit they forecast NaN.
    """

    @classmethod
    def of(cls, trees, delay):
        """Return what fits a batch model anew; if it is fitted anew already, when it is."""
        schedule = {}
        if isinstance(trees, Refitted):
            schedule = {name: getattr(trees, name) for name in ("growth", "window", "fit_delay")}
        # a state brings its own seed
        return cls(single_fit(trees), **schedule, label_delay=delay, random_state=0)

    def _before_fits(self, sums, known):
        return np.full(sums.shape, np.nan)

    def _unfitted(self):
        if get_tags(self.estimator).input_tags.allow_nan:
            return self.estimator
        from sklearn.impute import SimpleImputer  # slow to import, as are all trees
        from sklearn.pipeline import make_pipeline

        return make_pipeline(SimpleImputer(keep_empty_features=True), self.estimator)

    def _fit_model(self, model, X, y, weights):
        if weights is None:
            return super()._fit_model(model, X, y, weights)
        if weights.any():
            taught = weights > 0.0
            X, y, weights = X[taught], y[taught], weights[taught]
        else:  # nothing is known but the origin, as to experts that were taught nothing
            y, weights = np.zeros(len(y)), np.ones(len(y))
        name, routing = "sample_weight", metadata_are_routed()
        if hasattr(model, "steps"):  # the pipeline above: those of others take no weights
            name, routing = f"{model.steps[-1][0]}__sample_weight", False
        with config_context(enable_metadata_routing=routing):
            model.fit(X.copy(), self._given(y), **{name: weights.copy()})
        return model


class NumberFits(Fits, RefitRegressor):
    """A batch model of numbers fitted anew."""


class ClassFits(Fits, RefitClassifier):
    """A batch model of classes 0, 1, ... fitted anew, once there are rows of two."""

    def _fit(self, state):
        weights = state["past"].weights
        y = state["past"].rows[1]
        if weights is None or len(np.unique(y[weights > 0.0])) > 1:
            super()._fit(state)


def batch_model(trees, boosting):
    """Return the estimator that a value of the parameter `trees` asks for, None for none.

    True is what `boosting` makes.
    """
    if isinstance(trees, (bool, np.bool_)):
        return boosting() if trees else None
    return trees


def single_fit(trees):
    """Return a batch model or None, that inside where it is one that is fitted anew already."""
    return trees._unfitted() if isinstance(trees, Refitted) else trees


def check_takes_weights(trees, kind):
    """Refuse weights of rows if there is a batch model, of some kind, whose `fit` takes none."""
    model = single_fit(trees)
    if model is not None and not has_fit_parameter(model, "sample_weight"):
        raise ValueError(
            f"The rows have weights, but {type(model).__name__} in 'trees' has a 'fit' that takes "
            f"no sample_weight. Give another {kind}, or leave the weights out."
        )


def boosted_regressor():
    """Return the trees of the regressor."""
    from sklearn.ensemble import HistGradientBoostingRegressor  # slow to import

    return HistGradientBoostingRegressor(early_stopping=False)


def boosted_classifier():
    """Return the trees of the classifier."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # slow to import

    return HistGradientBoostingClassifier(early_stopping=False)
