"""Mixing estimators of any kind: what regressors and classifiers share."""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.parallel import Parallel, delayed

from .._types import Any, Array, Self
from ..base import OfExperts, _copied, described
from ._teaching import check_experts, forecast_expert, learn_expert


class Advised(OfExperts, _BaseComposition):
    """Estimators by name, taught round by round or in blocks, and an aggregator of them.

    A family says ``_combiner()``, the aggregator, and whether its experts are ``_of_classes``.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads over the experts. It pays where most of the time goes into code that
        releases the interpreter lock, and not for the single rows that foreign experts learn.

    Attributes
    ----------
    weights_ : ndarray of shape (n_experts,)
        Current weights of the experts in the aggregator.
    named_experts_ : Bunch
        Fitted experts by name, as copies: teaching them changes nothing here.
    """

    _of_classes = False
    _parameter_constraints = {"experts": [list], "n_jobs": [None, Integral]}
    _structural = ("experts", "aggregator")

    def get_params(self, deep: bool = True) -> Any:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the experts by name, and their parameters as ``name__parameter``.

        Returns
        -------
        params : dict
            Parameters by name.
        """
        return self._get_params("experts", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, experts by name and experts' parameters as ``name__parameter`` included.

        Parameters
        ----------
        **params : dict
            Parameters by name, as `get_params` returns them.

        Returns
        -------
        self : object
            This estimator.
        """
        self._set_params("experts", **params)
        return self

    @property
    def weights_(self) -> Array:
        """Current weights of the experts in the aggregator, of shape (n_experts,)."""
        state = self._fitted_state("weights_")
        return self._as_taught()._combiner()._weights(state["aggregator"])

    @property
    def named_experts_(self) -> Any:
        """Copies of the fitted experts, by name."""
        return Bunch(**_copied(self._fitted_state("named_experts_")["experts"]))

    def _structure(self):
        # The fitted copies would not hear of any new parameter, so all of them are structure.
        return super()._structure() | {"experts": described(self.experts)}

    def _validate(self):
        super()._validate()
        check_experts(self.experts, self._of_classes)
        self._validate_names([name for name, _ in self.experts])
        if not hasattr(self._combiner(), "_weights"):
            raise TypeError(
                f"{type(self.aggregator).__name__} cannot be the aggregator of "
                f"{type(self).__name__}: it has no weights over forecasts. Use BOARegressor."
            )
        self._combiner()._validate()

    def _start(self, n_features, n_targets=None):
        return {
            "t": 0,
            "experts": {name: clone(expert) for name, expert in self.experts},
            "gave_up": np.zeros(len(self.experts), dtype=bool),
            "expert_losses": np.zeros(len(self.experts)),
            "aggregator": self._combiner()._start(len(self.experts)),
        }

    def _taught(self, state, X, y, make_way):
        """Let the experts learn rows, each in a way of its own.

        Returns their forecasts (n, n_experts, ...), NaN where asleep.
        """
        names, experts = list(state["experts"]), list(state["experts"].values())
        awake = np.flatnonzero(~state["gave_up"])
        jobs = [(names[k], experts[k], X, y, make_way()) for k in awake]
        n_jobs = min(effective_n_jobs(self.n_jobs), max(len(jobs), 1))
        if n_jobs == 1:
            results = [learn_expert(*job) for job in jobs]
        else:
            # not prefer="threads": under another backend the experts would learn elsewhere
            pool = Parallel(n_jobs, require="sharedmem")
            results = pool(delayed(learn_expert)(*job) for job in jobs)
        F = np.stack([make_way().nothing(len(y))] * len(experts), axis=1)
        for k, (forecasts, error) in zip(awake, results, strict=True):
            F[:, k] = forecasts
            if error is not None:
                state["gave_up"][k] = True
                warnings.warn(
                    f"The expert {names[k]!r} ({type(experts[k]).__name__}) had no sane forecast "
                    f"and then failed to learn, so it sleeps from now on: {error}",
                    UserWarning,
                    stacklevel=2,
                )
        return F

    def _asked_experts(self, state, X, way):
        """Return the experts' forecasts (n, n_experts, ...), NaN where asleep."""
        F = np.stack([way.nothing(len(X))] * len(state["experts"]), axis=1)
        for k, (name, expert) in enumerate(state["experts"].items()):
            if not state["gave_up"][k]:
                F[:, k] = forecast_expert(name, expert, X, way)
        return F
