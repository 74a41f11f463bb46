r"""O. V. Gurtovaya, "Triple Vovk-Azoury-Warmuth algorithm as automated machine learning" (2025).

A third level above VAW²: VAW on its forecasts under eight scalings of inputs and targets.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, Seed
from ..base import OnlineRegressor
from ..features import RunningMinMaxScaler, RunningRobustScaler, RunningStandardScaler
from ..features._moments import or_one
from ..learners import VAWRegressor
from ._vovk import VAW2Regressor

_SCALERS = {  # of inputs; what is not here stays as it is
    "standard": RunningStandardScaler(),
    "minmax": RunningMinMaxScaler(),
    "robust": RunningRobustScaler(),
}
_PAIRS = [(inputs, targets) for inputs in (*_SCALERS, "raw") for targets in ("raw", "minmax")]


@explained_by(VAW2Regressor)
class _TripleVAW(OnlineRegressor):
    """The three levels.

    Parameters
    ----------
    final_alpha : float, default=1.0
        Ridge penalty of the third level, > 0, in squared units of y.

    Attributes
    ----------
    scalings_ : list of tuple of (str, str)
        The pairs, of inputs and of targets, in the order of `weights_`.
    weights_ : ndarray of shape (8,)
        Their weights in the next forecast.
    """

    _parameter_constraints = {
        name: VAW2Regressor._parameter_constraints[name]
        for name in (
            "kernels",
            "n_components",
            "alpha",
            "aggregator_alpha",
            "forecaster",
            "random_state",
        )
    } | {"final_alpha": [Interval(Real, 0, None, closed="neither")]}
    _structural = ("kernels", "n_components", "alpha", "aggregator_alpha", "final_alpha")

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        alpha: float = 1.0,
        aggregator_alpha: float = 1.0,
        final_alpha: float = 1.0,
        forecaster: str = "vaw",
        random_state: Seed = None,
    ) -> None:
        self.kernels = kernels
        self.n_components = n_components
        self.alpha = alpha
        self.aggregator_alpha = aggregator_alpha
        self.final_alpha = final_alpha
        self.forecaster = forecaster
        self.random_state = random_state

    @property
    def scalings_(self) -> list[tuple[str, str]]:
        """The scalings of inputs and of targets."""
        self._fitted_state("scalings_")
        return list(_PAIRS)

    @property
    def weights_(self) -> Array:
        """Weights of the models, of shape (8,)."""
        state = self._fitted_state("weights_")
        return self._as_taught()._final()._weights(state["final"])

    def _validate(self):
        super()._validate()
        self._model()._validate()

    def _final(self):
        return VAWRegressor(self.final_alpha, forecaster=self.forecaster)

    def _model(self):
        return self._built(_vaw2)

    def _start(self, n_features, n_targets=None):
        rng = check_random_state(self.random_state)
        return {
            "t": 0,
            "inputs": {},  # of each scaler, from the first row on
            "targets": {},
            "models": [
                _vaw2(self, int(seed))._start(n_features)
                for seed in rng.randint(2**31 - 1, size=len(_PAIRS))
            ],
            "final": self._final()._start(len(_PAIRS)),
        }

    def _learn(self, state, X, y):
        is_first = state["t"] == 0
        if is_first:
            state["inputs"] = {name: one._begin(X, None) for name, one in _SCALERS.items()}
            state["targets"] = _TARGETS.start(y)
        rows = {
            name: one._flow(state["inputs"][name], X, None, 0) for name, one in _SCALERS.items()
        }
        known, scaled = _TARGETS.learn(state["targets"], y)
        columns = []
        for (inputs, targets), model in zip(_PAIRS, state["models"], strict=True):
            learnt = scaled if targets == "minmax" else y
            f = self._model()._learn(model, rows.get(inputs, X), learnt)
            if targets == "minmax":
                f = np.r_[f[:is_first], _TARGETS.undone(f, known)[is_first:]]
            columns.append(f)
        state["t"] += len(y)
        return self._final()._learn(state["final"], np.column_stack(columns), y)

    def _forecast(self, state, X):
        rows = {name: one._ask(state["inputs"][name], X) for name, one in _SCALERS.items()}
        known, columns = _TARGETS.now(state["targets"]), []
        for (inputs, targets), model in zip(_PAIRS, state["models"], strict=True):
            f = self._model()._forecast(model, rows.get(inputs, X))
            columns.append(_TARGETS.undone(f, known) if targets == "minmax" else f)
        return self._final()._forecast(state["final"], np.column_stack(columns))

    def _close(self, state, grows=False):
        for model in state["models"]:
            self._model()._close(model, grows)


@inherit_documentation
class TVAWRegressor(_TripleVAW):
    r"""TVAW: VAW on the forecasts of VAW² under eight scalings of inputs and targets.

    Inputs are standardised, brought to [0, 1], scaled by quartiles, or taken as they are; targets
    are taken as they are or brought to [0, 1]. For each of these eight pairs there is a
    :class:`VAW2Regressor`, and a third VAW combines their forecasts, in units of y.

    See Also
    --------
    VAW2Regressor : One of them.
    ExpertsRegressor : Any models, and any rule over them.

    Notes
    -----
    *Cost.* That of eight :class:`VAW2Regressor`: their 76 kernels by default, each eight times.

    *Theorem.* None is stated. Against each of the eight it is that of VAW on eight features.

    *Departures.* In the author's notebook scalers are fitted to three quarters of the data before
    the first row of it is learnt, errors are taken on rows that were learnt before, and the
    recursion is online ridge regression, ``forecaster="ridge"``. Here all scalers learn on the
    way: a row is scaled by what was known before it, a target is learnt by the range with it.

    References
    ----------
    .. [1] O. V. Gurtovaya, "Triple Vovk-Azoury-Warmuth algorithm as an automated machine learning
       approach", notebook, 2025.

    Examples
    --------
    >>> from sklearn_okl import TVAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = TVAWRegressor({"gamma": [0.01, 0.1]}, n_components=20, random_state=0)
    >>> forecasts = model.prequential_predict(X, 100 * y)
    >>> bool(((100 * y - forecasts) ** 2).mean() < (100 * y).var())
    True
    >>> model.scalings_[-1]
    ('raw', 'minmax')
    """

    _test_parameters = (
        {"kernels": [{"kernel": ["rbf"], "gamma": [0.02]}], "n_components": 8, "random_state": 0},
    )


def _vaw2(estimator, seed=None):
    return VAW2Regressor(
        estimator.kernels,
        n_components=estimator.n_components,
        alpha=estimator.alpha,
        aggregator_alpha=estimator.aggregator_alpha,
        forecaster=estimator.forecaster,
        random_state=seed,
    )


class _RangeOfTargets:
    """Targets by their range so far: learnt by that with them in it, undone by that before them."""

    def __init__(self):
        self._scaler = RunningMinMaxScaler()

    def start(self, y):
        return self._scaler._begin(y[:1, None], None)

    def learn(self, state, y):
        """Return what was known before each target, (n, 2), and the targets (n,) as learnt."""
        centers, scales, learnt = self._scaler._learn_first(state, y[:, None])
        known = np.hstack([centers, or_one(scales)])
        after = np.vstack([known[1:], self.now(state)])
        return known, (learnt[:, 0] - after[:, 0]) / after[:, 1]

    def now(self, state):
        center, scale = self._scaler._known(state)
        return np.hstack([center, or_one(scale)])[None]

    def undone(self, z, known):
        return z * known[:, 1] + known[:, 0]


_TARGETS = _RangeOfTargets()
