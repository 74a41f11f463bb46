"""The engine of full information: every expert learns from every row, and a rule combines them.

The experts never look at the aggregator, so each stage learns whole blocks on its own:
``F = experts(features(X), y)``, then ``aggregator(F, y)``.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from .._delay import delay_of
from .._documentation import inherit_documentation
from .._linalg import row_slices
from .._types import Any, Array, Seed
from ..inspection._parts import Line, waves_of_bank
from ..inspection._steps import Sums
from ._answers import checked_answers
from ._bank import forecast_bank, learn_bank, threads
from ._explainable import Explainable
from ._of_experts import OfExperts
from ._on_fourier_features import OnFourierFeatures
from ._regressor import OnlineRegressor

_CHUNK = 4096  # rows between two visits of the aggregator: bounds the memory for forecasts


@inherit_documentation
class FullInformationRegressor(Explainable, OfExperts, OnFourierFeatures, OnlineRegressor):
    """Base of the multi-kernel regressors whose experts all learn from every row.

    Each kernel of a dictionary gets random Fourier features and an expert on them; the stages after
    the experts make one forecast of theirs. A subclass declares these parts, in the order in which
    a row meets them::

        _parts() -> expert, *stages

    It is asked whenever parameters have changed, so it reads them as they are now. The expert is an
    :class:`OnlineRegressor` that learns banks, such as :class:`~sklearn_okl.VAWRegressor`. The last
    stage is an aggregator: a :class:`ConvexAggregator`, or any other with the three private verbs
    and ``_weights(state)``, as :class:`~sklearn_okl.VAWRegressor` has it. Whatever stands between
    has the verbs and ``_validate()`` too, and takes forecasts (n, K) to forecasts (n, K).

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads over the experts. They pay in calls of some hundred rows or more.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Current weights of the experts in the combination.
    expert_losses_ : ndarray of shape (n_kernels,)
        Sum of squared errors of each expert's own progressive forecasts (unclipped).

    See Also
    --------
    sklearn_okl.MultiKernelRegressor : The parts as parameters, where no class is worth writing.

    Notes
    -----
    *Cost.* That of K experts on D features, plus the aggregator's on K forecasts.

    *Parts.* Those with parameters are validated with the parameters of the class itself.

    *Subclasses.*

    Examples
    --------
    >>> from sklearn_okl import BOARegressor, OGDRegressor
    >>> from sklearn_okl.base import FullInformationRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> class DescentsRegressor(FullInformationRegressor):
    ...     def _parts(self):
    ...         return OGDRegressor(eta0=0.5), BOARegressor()
    >>> X, y = make_ar4(300)
    >>> model = DescentsRegressor({"gamma": [0.01, 0.1, 1.0]}, random_state=0).fit(X, y)
    >>> model.weights_.shape, model.predict_experts(X[:5]).shape
    ((3,), (5, 3))
    """

    _parameter_constraints = {
        **OnFourierFeatures._parameter_constraints,
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            kernels,
            n_components=n_components,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
        )
        self.n_jobs = n_jobs

    @property
    def weights_(self) -> Array:
        """Current weights of the experts in the last stage, of shape (n_kernels,)."""
        state = self._fitted_state("weights_")
        return self._as_taught()._parts()[-1]._weights(state["stages"][-1])

    def _engine(self):
        """Return the bank of features, the expert, and the stages after it."""
        return self._built(_engine)

    def _validate(self):
        super()._validate()
        expert, *_, aggregator = parts = self._parts()
        if not expert._learns_banks:
            raise TypeError(
                f"{type(expert).__name__} cannot be an expert of {type(self).__name__}: "
                "it does not learn one model per kernel side by side. Use VAWRegressor."
            )
        if not hasattr(aggregator, "_weights"):
            raise TypeError(
                f"{type(aggregator).__name__} cannot be the aggregator of "
                f"{type(self).__name__}: it has no weights over forecasts. Use VAWRegressor."
            )
        for part in parts:
            part._validate()
        delay = delay_of(aggregator)
        if delay:
            raise ValueError(
                f"The aggregator of {type(self).__name__} has label_delay={delay}, but its experts "
                "know every target before the next row. Leave it out, and where targets come late, "
                f"let prequential(delay={delay}) make the queue, or predict and partial_fit."
            )

    def _start(self, n_features, n_targets=None):
        features, expert, stages = self._engine()
        maps = features.start(n_features, check_random_state(self.random_state))
        bank = features.kernels
        return {
            "t": 0,
            "features": maps,
            "experts": expert._start(features.n_features_out(maps), bank=bank),
            "expert_losses": np.zeros(len(bank)),
            "stages": [stage._start(len(bank)) for stage in stages],
        }

    def _learn(self, state, X, y):
        features, expert, stages = self._engine()
        forecasts = np.empty(len(y))
        with threads(self.n_jobs) as run:
            for rows in row_slices(len(y), _CHUNK):
                F = learn_bank(features, expert, state, X[rows], y[rows], run)
                state["expert_losses"] += np.square(F - y[rows, None]).sum(axis=0)
                if not np.isfinite(state["expert_losses"]).all():
                    raise OverflowError  # to an aggregator what is none would be asleep
                for stage, stage_state in zip(stages, state["stages"], strict=True):
                    shape = F.shape[: 1 if stage is stages[-1] else 2]
                    F = checked_answers(
                        stage._learn(stage_state, F, y[rows]), shape, stage, "_learn"
                    )
                forecasts[rows] = F
        state["t"] += len(y)
        return forecasts

    def _hindsight(self, state):
        """Return what the best of each kind has lost so far, and the ridge in that, or None."""
        _, expert, stages = self._engine()
        found = {"experts": (state["expert_losses"], None)}
        if hasattr(expert, "_hindsight"):
            experts = state["experts"]
            found["kernels"] = (experts["squares"], experts["alpha"].copy())
        if hasattr(stages[-1], "_hindsight"):
            ((least, alpha),) = stages[-1]._hindsight(state["stages"][-1]).values()
            found["combinations"] = (least, alpha)
        return found

    def _close(self, state, grows=False):
        self._engine()[1]._close(state["experts"], grows)

    def _forecast(self, state, X):
        features, expert, stages = self._engine()
        F = forecast_bank(features, expert, state, X)
        for stage, stage_state in zip(stages, state["stages"], strict=True):
            shape = F.shape[: 1 if stage is stages[-1] else 2]
            F = checked_answers(stage._forecast(stage_state, F), shape, stage, "_forecast")
        return F

    def _explained(self, X):
        (state, X), model = self._asked(X), self._as_taught()
        features, expert, stages = model._engine()
        theta = np.asarray(state["experts"].get("theta", np.nan))
        maps, width = state["features"], features.n_features_out(state["features"])
        if theta.shape[:1] != (len(features.kernels),) or theta.ndim != 2:
            raise TypeError(
                f"{type(expert).__name__}, the expert of {type(self).__name__}, is not linear in "
                "the features, so that it cannot be explained in closed form. Use VAWRegressor."
            )
        theta = theta * stages[-1]._weights(state["stages"][-1])[:, None]
        owners = np.arange(X.shape[1])
        constant = theta[:, width:].sum(axis=0)  # of intercepts, if experts have some
        line = Line(X, np.zeros((len(owners), 1)), np.full(1, constant.sum()), owners)
        known = maps["frequencies"], theta[:, :width, None], owners, maps.get("phases")
        return Sums([line, waves_of_bank(X, *known)], (), "shrinkage and clipping")

    def _forecast_experts(self, state, X):
        features, expert, _ = self._engine()
        return forecast_bank(features, expert, state, X)


def _engine(model):
    expert, *stages = model._parts()
    return model._bank, expert, stages
