"""Batch models, such as boosted trees, beside the kernels of the regressor without tuning.

One forecasts the targets, another one the errors of the kernels' forecasts. Both are fitted anew
whenever the past has grown by a share, and mixed with the kernels. Each of several targets has such
a pair for itself, as many estimators learn one target only.
"""

import numpy as np
from sklearn import config_context
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from .._delay import as_it_was, late
from .._linalg import softmax
from .._validation import metadata_are_routed
from ..aggregators import BOARegressor
from ..aggregators._stacked import mixed
from ..features._lags import lagged
from ..meta._refit import RefitRegressor
from ..meta._refitted import Refitted
from ._experts import Experts

NAMES = ("trees", "trees on errors")
_WARMUP = 30  # first rounds, whose errors are large and say nothing of the later ones
_FARTHEST = 1e30  # in units of the targets: estimators may compute in single precision
_BOA = BOARegressor()


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


class Refit(Fits, RefitRegressor):
    """A batch model fitted anew."""


class ExpertsAndTrees(Experts):
    """The experts, two batch models, and BOA over their three forecasts.

    Parameters
    ----------
    estimator : regressor
    n_targets, budget, forgetting, lags, delay, constants
        Those of `Experts`.
    """

    def __init__(self, estimator, *of_experts):
        super().__init__(*of_experts)
        self.refit = Refit.of(estimator, self.delay)

    def start(self, n_features, seed, n_trees=0):
        """Return the state before the first row."""
        n_inputs = n_features + self.lags
        return super().start(n_features, seed, n_trees) | {
            "trees": [self._start_trees(n_inputs, seed) for _ in range(self.n_targets)],
            "lags of trees": np.zeros((self.delay, self.lags)),  # before each of the latest rounds
        }

    def _start_trees(self, n_inputs, seed):
        """Return the state of the two batch models of a target."""
        return {
            "targets": self.refit._start(n_inputs) | {"seed": seed},
            "errors": self.refit._start(n_inputs + 1) | {"seed": seed},
            "mixture": _BOA._start(3, late=self.delay),
            "rounds": np.zeros(2, dtype=int),  # that were forecast
            "losses": np.zeros(2),
            "masses": np.zeros(2),
        }

    def learn(self, state, X, u, ages, run, weights=None):
        """Learn rows and targets; return forecasts, those of reference, and of the experts."""
        before = [dict(mixture) for mixture in state["mixture"]]  # which learns its limits itself
        lags = lagged(state["inputs"]["lags"], u)[0].reshape(len(u), self.lags)
        lags, state["lags of trees"] = late(lags, state["lags of trees"])
        of_kernels, *others = super().learn(state, X, u, ages, run, weights)
        rows, forecasts = _seen(X, lags), np.empty_like(u)
        for j, trees in enumerate(state["trees"]):
            limits = self.mixture._learn_limits(before[j], u[:, j])
            of_target = u[:, j], of_kernels[:, j], limits, weights
            forecasts[:, j] = self._teach_trees(trees, rows, *of_target)
        return forecasts, *others

    def forecast(self, state, X, ages, ago=0, ahead=False):
        """Return forecasts by what was known some rounds ago; learns nothing."""
        parts = zip(state["trees"], self._ask_all(state, X, ages, ago, ahead), strict=True)
        return np.column_stack([mixed(trees["mixture"], F, ago) for trees, F in parts])

    def forecasts(self, state, X, ages):
        """Return the forecasts of all: where trees are silent yet, the mixture of the kernels."""
        F = np.stack([*self._ask_all(state, X, ages)], axis=-1)  # (n, 3, q)
        of_trees = np.where(np.isnan(F), F[:, :1], F)[:, 1:]
        return np.hstack([super().forecasts(state, X, ages), of_trees])

    def losses(self, state):
        """Return the sums of squared errors (q, n_experts), those of the trees once they speak."""
        of_trees = [trees["losses"] for trees in state["trees"]]
        return np.hstack([super().losses(state), of_trees])

    def forget_target(self, state, j, latest):
        """Forget what was learnt of target j, of which these are the latest, the last one first."""
        super().forget_target(state, j, latest)
        known = state["trees"][j]["targets"]
        state["trees"][j] = self._start_trees(known["past"].rows[0].shape[1], known["seed"])

    def _tables(self, state, ages, squared_units):
        """Return what each expert is and how it fares; weights are those in the last mixture."""
        tables = super()._tables(state, ages, squared_units)
        for table, trees, squared_unit in zip(tables, state["trees"], squared_units, strict=True):
            fits = [self.refit._in_force(trees[name]) for name in ("targets", "errors")]
            silent = [False, *(not of_one for of_one in fits)]
            weights = softmax(np.where(silent, -np.inf, _BOA._log_weights(trees["mixture"])))
            yield with_trees(table, NAMES, trees, weights, self.lags > 0, squared_unit)

    def _teach_trees(self, trees, rows, y, of_kernels, limits, weights):
        """Let the trees of a target y (n,) learn rows; return the forecasts (n,) of the whole."""
        errors = np.full(len(y), np.nan)
        late_enough = slice(max(_WARMUP + self.delay - trees["targets"]["t"], 0), None)
        of_trees = self.refit._learn(trees["targets"], rows, _single(y), weights)
        errors[late_enough] = self.refit._learn(
            trees["errors"],
            _seen(rows, of_kernels)[late_enough],
            _single(y - of_kernels)[late_enough],
            None if weights is None else weights[late_enough],
        )
        F = self._side_by_side(of_kernels, of_trees, errors, limits)
        speak, squares = np.isfinite(F[:, 1:]), np.square(F[:, 1:] - y[:, None])
        trees["rounds"] += speak.sum(axis=0)
        if weights is None:
            trees["masses"] += speak.sum(axis=0)
        else:
            squares *= weights[:, None]
            trees["masses"] += weights @ speak
        trees["losses"] += np.nansum(squares, axis=0)
        return _BOA._learn(trees["mixture"], F, y, weights)

    def _ask_all(self, state, X, ages, ago=0, ahead=False):
        """Return the forecasts (n, 3) of kernels and trees for each target, as known then."""
        of_inputs = self.delay - np.arange(len(X)) if ahead else ago
        lags = as_it_was(state["inputs"]["lags"].ravel(), state["lags of trees"], of_inputs)
        rows = _seen(X, np.broadcast_to(lags, (len(X), self.lags)))
        columns = super().forecast(state, X, ages, ago, ahead).T
        for mixture, trees, of_kernels in zip(
            state["mixture"], state["trees"], columns, strict=True
        ):
            of_trees = self._ask_fits(trees["targets"], rows, ago)
            errors = self._ask_fits(trees["errors"], _seen(rows, of_kernels), ago)
            limits = self.mixture._known_limits(mixture, ago)
            yield self._side_by_side(of_kernels, of_trees, errors, limits)

    def _side_by_side(self, of_kernels, of_trees, errors, limits):
        F = np.column_stack([of_kernels, of_trees, of_kernels + errors])
        return self.mixture._sane(F, limits)

    def _ask_fits(self, state, rows, ago):
        """Return a batch model's forecasts (n,) of some rounds ago, NaN where it had no fit."""
        known = np.full(len(rows), state["t"] - ago)
        return self.refit._forecast_known(state, rows, known, np.full(len(rows), np.nan))


def with_trees(table, names, trees, weights, lags, squared_unit=1.0):
    """Return a table of experts with two batch models as its last rows.

    The `weights` (3,) are those of all others together, and of these two.
    """
    masses = trees["masses"]
    rows = {
        "name": names,
        "kernel": names,
        "bandwidth": [np.nan] * 2,
        "lags": [lags] * 2,
        "alpha": [np.nan] * 2,
        "forgetting": [1.0] * 2,
        **{name: [False] * 2 for name in ("ranks", "pairs", "learnt", "trees")},
        "weight": weights[1:],
        "mean_loss": trees["losses"] * squared_unit / np.where(masses > 0.0, masses, 1.0),
        "n_rounds": trees["rounds"],
    }
    others = table | {"weight": table["weight"] * weights[0]}
    return {name: np.concatenate([column, rows[name]]) for name, column in others.items()}


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


def _seen(X, more):
    return np.column_stack([X, _single(more)])


def _single(values):
    """Round numbers to single precision.

    By rounding, which depends on how the stream is cut, trees would choose between splits that are
    equally good.
    """
    return np.clip(values, -_FARTHEST, _FARTHEST).astype(np.float32).astype(np.float64)
