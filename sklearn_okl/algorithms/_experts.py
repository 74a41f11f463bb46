"""Mixing regressors of any kind: prediction with expert advice over estimators of one's own."""

from contextlib import contextmanager
from functools import partial
from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.parallel import Parallel, delayed

from .._linalg import one_blas_thread
from .._online import OnlineRegressor, _copied, described
from ..aggregators import BOARegressor


class ExpertsRegressor(OnlineRegressor, _BaseComposition):
    r"""Any regressors that learn by `partial_fit`, and an aggregator of their forecasts.

    Every round each expert k forecasts :math:`f_{k,t}` from the row, the aggregator makes one
    forecast of the K, the target is seen, and all learn. Nobody needs to know beforehand which
    expert is good: the loss is near that of the best one, or of the best combination, in
    hindsight.

    Parameters
    ----------
    experts : list of tuple of (str, estimator)
        Names and regressors with `partial_fit` and `predict`: this package's, scikit-learn's or
        anybody's. They are cloned when the first row arrives and never changed.
    aggregator : online regressor or None, default=None
        What combines the forecasts: a regressor of :mod:`sklearn_okl.aggregators`,
        :class:`VAWRegressor` or :class:`OGDRegressor`. None is ``BOARegressor()``, which has
        nothing to tune and asks nothing of the range of the forecasts.
    initial_forecast : float, default=0.0
        What an expert without `prequential_predict` forecasts in the first round, in units of y:
        it cannot `predict` before it has learnt. Set it to a typical target where that is not
        near 0.
    n_jobs : int or None, default=None
        Number of threads over the experts. It pays where most of the time goes into code that
        releases the interpreter lock, and not for the single rows that foreign experts learn.

    Attributes
    ----------
    weights_ : ndarray of shape (n_experts,)
        Current weights of the experts in the aggregator.
    expert_losses_ : ndarray of shape (n_experts,)
        Sum of squared errors of each expert's own progressive forecasts.
    named_experts_ : Bunch
        Fitted experts by name, as copies: teaching them changes nothing here.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the inputs, where X had string names.

    Raises
    ------
    TypeError
        If an expert is no regressor with `partial_fit`, or the aggregator has no weights.
    ValueError
        If names repeat, if an expert fails (it is named, and the model stays as it was), or if an
        expert's parameters change in mid-stream.

    See Also
    --------
    MultiKernelRegressor : One expert a kernel, all of a type, learnt side by side.
    BOARegressor : The aggregator alone, for forecasts that you already have.
    sklearn.ensemble.VotingRegressor : Fixed weights, and no stream.

    Notes
    -----
    *Cost.* That of the experts, plus the aggregator's on K forecasts. Experts with
    `prequential_predict`, this package's among them, learn all rows of a call at once. All others
    go row by row, `predict` and then `partial_fit`, so that the cut of the stream into calls stays
    invisible; their own validation then rules the cost, some 0.4 ms a row for scikit-learn's
    `SGDRegressor` and 0.6 ms for a small `MLPRegressor`, against 0.01 ms for a `VAWRegressor` on
    few features. Each call also copies the experts, so hand over rows in pieces.

    *Theorem.* The experts never look at the aggregator, so its theorem holds for their forecasts,
    whatever they are. For the convex rules, the loss is at most that of any expert plus a regret
    of order :math:`\sqrt{T \ln K}`, or :math:`\ln K` for `EWARegressor` and `AARegressor` with the
    square loss, if the forecasts stay in `y_range` [1]_; see each rule for its own. For
    ``VAWRegressor(alpha)``, :math:`|y| \le Y` and :math:`|f_{k,t}| \le B`, against all weights u,

    .. math:: \sum_t (\hat y_t - y_t)^2 \le \sum_t (u^T f_t - y_t)^2 + \alpha \|u\|^2
              + K Y^2 \ln(1 + B^2 T / \alpha) .

    An expert that has a regret bound of its own hands it on: the two regrets add up.

    *The laws* of this package (any cut gives the same model, a copy or a pickle goes on bit for
    bit, memory does not grow) hold as far as the experts keep them, e.g. not the last for
    `MLPRegressor`, which keeps the loss of each call. A call that fails or is interrupted leaves
    the model as it was in any case: experts learn as copies.

    *The first round.* A fixed number rather than a sleeping expert (NaN), since it suits every
    aggregator, and there is always somebody to forecast; 0 is what the linear learners of this
    package forecast before they have learnt. Later on, an expert may sleep by forecasting NaN, if
    the aggregator is one that takes it; such rounds do not count in `expert_losses_`.

    *Names.* Experts get arrays without feature names. Their parameters are set as in
    scikit-learn, ``set_params(sgd__alpha=1e-3)`` for the expert named ``"sgd"``, or
    ``set_params(sgd=other)``. A `Pipeline` cannot be an expert, since it has no `partial_fit`.

    References
    ----------
    .. [1] N. Cesa-Bianchi, G. Lugosi, "Prediction, learning, and games", Cambridge University
       Press, 2006, chapters 2 and 3.
    .. [2] P. Gaillard, Y. Goude, "opera: online prediction by expert aggregation", R package: the
       same for forecasts that were made before.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> from sklearn_okl import ExpertsRegressor, VAW2Regressor, VAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> kernels = {"kernel": ["rbf"], "gamma": [0.01, 0.1]}
    >>> model = ExpertsRegressor([
    ...     ("sgd", SGDRegressor(random_state=0)),
    ...     ("linear", VAWRegressor()),
    ...     ("kernels", VAW2Regressor(kernels, n_components=20, random_state=0)),
    ... ])
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> model.weights_.shape, model.predict_experts(X[:5]).shape
    ((3,), (5, 3))
    >>> model.named_experts_.linear.coef_.shape
    (4,)
    """

    _parameter_constraints = {
        "experts": [list],
        "aggregator": [OnlineRegressor, None],
        "initial_forecast": [Interval(Real, None, None, closed="neither")],
        "n_jobs": [None, Integral],
    }
    _structural = ("experts", "aggregator")

    def __init__(self, experts, aggregator=None, *, initial_forecast=0.0, n_jobs=None):
        self.experts = experts
        self.aggregator = aggregator
        self.initial_forecast = initial_forecast
        self.n_jobs = n_jobs

    def get_params(self, deep=True):
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

    def set_params(self, **params):
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
    def weights_(self):
        """Current weights of the experts in the aggregator, of shape (n_experts,)."""
        state = self._fitted_state("weights_")
        return self._combiner()._weights(state["aggregator"])

    @property
    def expert_losses_(self):
        """Sum of squared errors of each expert's progressive forecasts, of shape (n_experts,)."""
        return self._fitted_state("expert_losses_")["expert_losses"].copy()

    @property
    def named_experts_(self):
        """Copies of the fitted experts, by name."""
        return Bunch(**_copied(self._fitted_state("named_experts_")["experts"]))

    def predict_experts(self, X):
        """Forecast each row by each expert; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.

        Returns
        -------
        F : ndarray of shape (n_samples, n_experts)
            The experts' forecasts.
        """
        state, X = self._asked(X)
        with one_blas_thread:
            return self._forecast_experts(state, X)

    def _combiner(self):
        return BOARegressor() if self.aggregator is None else self.aggregator

    def _structure(self):
        # The fitted copies would not hear of any new parameter, so all of them are structure.
        return super()._structure() | {"experts": described(self.experts)}

    def _validate(self):
        super()._validate()
        if not self.experts:
            raise ValueError("experts is empty: give at least one pair (name, estimator).")
        for item in self.experts:
            if not (
                isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[0], str)
            ):
                raise TypeError(f"experts must be a list of pairs (name, estimator); got {item!r}.")
        self._validate_names([name for name, _ in self.experts])
        for name, expert in self.experts:
            fault = _fault(expert)
            if fault:
                raise TypeError(
                    f"The expert {name!r} {fault}. Give an instance of a regressor that learns by "
                    "'partial_fit', such as SGDRegressor() or any regressor of this package."
                )
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
            "expert_losses": np.zeros(len(self.experts)),
            "aggregator": self._combiner()._start(len(self.experts)),
        }

    def _learn(self, state, X, y):
        experts = state["experts"]
        initial = float(self.initial_forecast) if state["t"] == 0 else None
        learn = partial(_learn_expert, X=X, y=y, initial_forecast=initial)
        n_jobs = min(effective_n_jobs(self.n_jobs), len(experts))
        if n_jobs == 1:
            columns = [learn(*item) for item in experts.items()]
        else:
            # not prefer="threads": under another backend the experts would learn elsewhere
            pool = Parallel(n_jobs, require="sharedmem")
            columns = pool(delayed(learn)(*item) for item in experts.items())
        F = self._sound(np.column_stack(columns), experts)
        state["expert_losses"] += np.nansum(np.square(F - y[:, None]), axis=0)
        state["t"] += len(y)
        return self._combiner()._learn(state["aggregator"], F, y)

    def _forecast(self, state, X):
        F = self._sound(self._forecast_experts(state, X), state["experts"])
        return self._combiner()._forecast(state["aggregator"], F)

    def _forecast_experts(self, state, X):
        columns = []
        for name, expert in state["experts"].items():
            with _naming(name, expert, "forecast"):
                columns.append(_as_column(expert.predict(X), len(X)))
        return np.column_stack(columns)

    def _sound(self, F, experts):
        """Return forecasts F (n, K), all of them such as the aggregator can use."""
        takes_nan = self._combiner()._allow_nan
        bad = np.isinf(F) if takes_nan else ~np.isfinite(F)
        if bad.any():
            row, k = np.argwhere(bad)[0]
            raise ValueError(
                f"The expert {list(experts)[k]!r} forecast {F[row, k]} for row {row} of X. Scale "
                "the features and the targets, tame the expert, or leave it out."
            )
        return F


def _learn_expert(name, expert, X, y, initial_forecast):
    """Teach one expert rows in place; return its forecasts (n,), each made before its target.

    `initial_forecast` is None where the expert has learnt before.
    """
    if hasattr(expert, "prequential_predict"):
        with _naming(name, expert, "learn"):
            return _as_column(expert.prequential_predict(X, y), len(X))
    X, y = X.copy(), y.copy()  # the caller's own memory, which an expert might keep or change
    forecasts = np.empty(len(y))
    with np.errstate(over="ignore", invalid="ignore"):  # threads do not inherit the shell's
        for t in range(len(y)):
            row = slice(t, t + 1)
            if t == 0 and initial_forecast is not None:
                forecasts[0] = initial_forecast
            else:
                with _naming(name, expert, "forecast"):
                    forecasts[row] = _as_column(expert.predict(X[row]), 1)
            with _naming(name, expert, "learn"):
                expert.partial_fit(X[row], y[row])
    return forecasts


@contextmanager
def _naming(name, expert, verb):
    """Say which expert failed."""
    try:
        yield
    except Exception as error:
        raise ValueError(
            f"The expert {name!r} ({type(expert).__name__}) failed to {verb}: {error}"
        ) from error


def _as_column(forecasts, n):
    return np.asarray(forecasts, dtype=np.float64).reshape(n)


def _fault(expert):
    """Say why something cannot be an expert, or return None."""
    if isinstance(expert, type):
        return f"is the class {expert.__name__}, not an instance of it"
    if not all(hasattr(expert, verb) for verb in ("get_params", "predict")):
        return f"is no estimator: {expert!r}"
    if not hasattr(expert, "partial_fit"):
        return f"cannot learn from a stream: {type(expert).__name__} has no 'partial_fit'"
    if hasattr(expert, "__sklearn_tags__") and is_classifier(expert):
        return f"is a classifier, {type(expert).__name__}, and forecasts labels"
    return None
