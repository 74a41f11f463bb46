"""Batch models that are fitted anew: which one `trees` asks for, and how it is fitted."""

import numpy as np
from sklearn import config_context
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from .._validation import metadata_are_routed
from ._pace import HISTOGRAMS, LIGHTGBM, Paced, round_paid
from ._refit import RefitClassifier, RefitRegressor
from ._refitted import N_FIRST, Refitted


class Fits:
    """How batch models are fitted: where they take no gaps, means of their past fill them.

    Before the first fit they forecast NaN. Those of our choice are fitted as often as is paid for.
    """

    price = None  # of a fit, where it counts

    @classmethod
    def of(cls, trees, delay):
        """Return what fits a batch model anew; if it is fitted anew already, when it is."""
        schedule = {}
        if isinstance(trees, Refitted):
            schedule = {name: getattr(trees, name) for name in ("growth", "window", "fit_delay")}
        # a state brings its own seed
        fits = cls(single_fit(trees), **schedule, label_delay=delay, random_state=0)
        if isinstance(trees, Paced):
            fits.price = trees.price
        return fits

    def start(self, n_features, seed, a_row):
        """Return the state before the first row, each of which may cost so much."""
        state = self._start(n_features) | {"seed": seed, "spent": 0.0, "allowance": a_row}
        return state | {"due": self._paid(state, N_FIRST)}

    def _due_after(self, state):
        if self.price is not None:
            state["spent"] += self._price_of_fit(state, state["t"])
        return self._paid(state, super()._due_after(state))

    def _paid(self, state, due):
        """Return the round of a fit that is not before `due`, and paid for."""
        if self.price is None:
            return due
        d = state["past"].rows[0].shape[1]
        return round_paid(self.price, due, d, self._n_fitted, state["spent"], state["allowance"])

    def _price_of_fit(self, state, n):
        return self.price.of_fit(n, state["past"].rows[0].shape[1], self._n_fitted)

    def _before_fits(self, sums, known):
        return np.full(sums.shape, np.nan)

    def _unfitted(self):
        if get_tags(self.estimator).input_tags.allow_nan:
            return self.estimator
        from sklearn.impute import SimpleImputer  # slow to import, as are all trees
        from sklearn.pipeline import make_pipeline

        return make_pipeline(SimpleImputer(keep_empty_features=True), self.estimator)

    def _fit_model(self, model, X, y, weights):
        X[:, np.isnan(X).all(axis=0)] = 0.0  # columns of gaps only, which not all take
        if self.price is not None:
            last = model.steps[-1][1] if hasattr(model, "steps") else model
            last.set_params(**self.price.sizes(len(y)))
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

    _n_fitted = 1


class ClassFits(Fits, RefitClassifier):
    """A batch model of classes 0, 1, ... fitted anew, once there are rows of two."""

    @property
    def _n_fitted(self):
        n_classes = len(self.classes_)
        return n_classes if n_classes > 2 else 1

    def _fit(self, state):
        weights = state["past"].weights
        y = state["past"].rows[1]
        if weights is None or len(np.unique(y[weights > 0.0])) > 1:
            super()._fit(state)


def batch_model(trees, boosting):
    """Return the estimator that a value of the parameter `trees` asks for, None for none.

    True and the name of a library are what `boosting` makes.
    """
    if isinstance(trees, str):
        return boosting(trees)
    if isinstance(trees, (bool, np.bool_)):
        return boosting() if trees else None
    return trees


def single_fit(trees):
    """Return a batch model or None, that inside where it says when it is fitted."""
    if isinstance(trees, Paced):
        return trees.estimator
    return trees._unfitted() if isinstance(trees, Refitted) else trees


def takes_weights(trees):
    """Tell whether the `fit` of a batch model takes weights of rows, or there is none."""
    model = single_fit(trees)
    return model is None or has_fit_parameter(model, "sample_weight")


def check_takes_weights(trees, kind):
    """Refuse weights of rows if there is a batch model, of some kind, whose `fit` takes none."""
    if not takes_weights(trees):
        name = type(single_fit(trees)).__name__
        raise ValueError(
            f"The rows have weights, but {name} in 'trees' has a 'fit' that takes "
            f"no sample_weight. Give another {kind}, or leave the weights out."
        )


def boosted_regressor(library=None):
    """Return the trees of the regressor, of scikit-learn or of a library that is named."""
    if library is not None:
        return _of_lightgbm("LGBMRegressor")
    from sklearn.ensemble import HistGradientBoostingRegressor  # slow to import

    return Paced(HistGradientBoostingRegressor(early_stopping=False), HISTOGRAMS)


def boosted_classifier(library=None):
    """Return the trees of the classifier, of scikit-learn or of a library that is named."""
    if library is not None:
        return _of_lightgbm("LGBMClassifier")
    from sklearn.ensemble import HistGradientBoostingClassifier  # slow to import

    return Paced(HistGradientBoostingClassifier(early_stopping=False), HISTOGRAMS)


def _of_lightgbm(name):
    try:
        import lightgbm
    except ImportError as error:
        raise ValueError(
            "trees='lightgbm' asks for LightGBM, which is not installed: 'pip install lightgbm', "
            "or give trees=True, which is scikit-learn's boosting."
        ) from error
    model = getattr(lightgbm, name)(n_jobs=1, verbose=-1, deterministic=True, force_row_wise=True)
    return Paced(model, LIGHTGBM)
