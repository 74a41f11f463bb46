"""Mixing regressors of any kind: prediction with expert advice over estimators of one's own."""

import warnings
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
from ..aggregators import BOARegressor
from ..base import OnlineRegressor, _copied, described
from ..features import _moments

_SANE = 100.0  # root mean squares of the targets that a forecast may have
_LARGEST = 1e60  # targets beyond it are learnt as this one: fourth powers stay finite


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
        Sum of squared errors of each expert's own progressive forecasts, as far as it was awake.
    named_experts_ : Bunch
        Fitted experts by name, as copies: teaching them changes nothing here.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    Raises
    ------
    TypeError
        If an expert is no regressor with `partial_fit`, or the aggregator has no weights.
    ValueError
        If names repeat, if an expert fails (it is named, and the model stays as it was), or if an
        expert's parameters change in mid-stream.

    Warns
    -----
    UserWarning
        If an expert without `prequential_predict` diverges until it fails, and sleeps for good.

    See Also
    --------
    MultiKernelRegressor : One expert per kernel, all of a type, learnt side by side.
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
    whatever they are, in the rounds in which nobody sleeps. For the convex rules, the loss is at
    most that of any expert plus a regret of order :math:`\sqrt{T \ln K}`, or :math:`\ln K` for
    `EWARegressor` and `AARegressor` with the
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
    package forecast before they have learnt.

    *Sleeping experts.* An expert sleeps in a round by forecasting NaN, and is put to sleep where
    its forecast is infinite or beyond 100 times the root mean square of `initial_forecast` and the
    targets so far (:math:`\sqrt t` times after round 10000, :math:`3200 / t` times before round
    32). Past targets are within that, and so is what an expert says that does not know their level
    yet. One that is beyond has diverged, as `SGDRegressor` does on large rows, and its size alone
    would ruin forecasts and the rates of the aggregator for good. It learns on, and is awake again
    when its forecasts are sane. Rounds asleep do not count in `expert_losses_`. Where all sleep the
    forecast is the mean of the targets so far, unless the aggregator has a `fallback` of its own.
    For an aggregator that knows no sleep, such as `VAWRegressor`, whoever sleeps forecasts that
    mean. The mixture's own forecast is kept within the same bounds.

    *Experts that fail.* An error names its expert and leaves the model as it was. There is one
    exception: an expert that learns row by row, has no sane forecast for a row and then fails to
    learn it with a ValueError or an ArithmeticError, as `SGDRegressor` when it overflows at last,
    sleeps from then on. A warning says so, and the others go on.

    *Faulty targets.* A target beyond the same bounds is learnt, by experts and aggregator, as one 5
    standard deviations from the mean: a single :math:`10^{12}` neither ruins the experts nor widens
    the bounds. Mean and deviation are those of :class:`RunningStandardScaler`, so a level or unit
    that changes for good is followed within 10 to 30 rows. The first 32 targets are learnt as they
    come and judged together: if there was a fault among them, experts and aggregator begin anew and
    learn these rows without it.

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
        return self._as_taught()._combiner()._weights(state["aggregator"])

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
            The experts' forecasts, NaN for those asleep.
        """
        state, X = self._asked(X)
        with one_blas_thread:
            return self._forecast_experts(state, X, self._known(state)[1])

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
            "gave_up": np.zeros(len(self.experts), dtype=bool),
            "expert_losses": np.zeros(len(self.experts)),
            "aggregator": self._combiner()._start(len(self.experts)),
            "targets": {},  # their moments, from the first one on
            # rounds that are judged as a whole, as long as they are not all there
            "first": {"X": np.empty((0, n_features)), "y": np.empty(0)},
        }

    def _learn(self, state, X, y):
        y = np.clip(y, -_LARGEST, _LARGEST)
        room = _moments.N_FIRST - state["t"]
        if room <= 0:
            return self._learn_rows(state, X, y)
        first = {
            "X": np.concatenate([state["first"]["X"], X[:room]]),
            "y": np.concatenate([state["first"]["y"], y[:room]]),
        }
        if len(y) < room:
            state["first"] = first
            return self._learn_rows(state, X, y)
        state["first"] = {name: part[:0] for name, part in first.items()}
        targets = self._judged(first["y"])
        if (targets == first["y"]).all():
            return self._learn_rows(state, X, y)
        early = self._learn_rows(state, X[:room], y[:room])
        anew = self._start(X.shape[1])
        self._learn_rows(anew, first["X"], targets)
        state.update(anew)
        if len(y) == room:
            return early
        return np.concatenate([early, self._learn_rows(state, X[room:], y[room:])])

    def _judged(self, y):
        """Return first targets (n,), the faulty ones nearer."""
        nearer = _moments.judged(y[:, None])[:, 0]
        return np.where(np.abs(y) > self._reach(len(y), nearer.mean(), nearer.std()), nearer, y)

    def _learn_rows(self, state, X, y):
        experts = state["experts"]
        if state["t"] == 0:
            state["targets"] = _moments.start(y[:1])
        means, deviations, nearer = (
            part[:, 0] for part in _moments.learn(state["targets"], y[:, None])
        )
        if state["t"] == 0:
            means[0] = self.initial_forecast  # the moments of the first target are its own
        reach = self._reach(np.arange(state["t"], state["t"] + len(y)), means, deviations)
        if state["t"] == 0:
            reach[0] = np.inf
        y = np.where(np.abs(y) > reach, nearer, y)
        initial = float(self.initial_forecast) if state["t"] == 0 else None
        learn = partial(_learn_expert, X=X, y=y, reach=reach, initial_forecast=initial)
        jobs = [
            (name, expert)
            for (name, expert), gave_up in zip(experts.items(), state["gave_up"], strict=True)
            if not gave_up
        ]
        n_jobs = min(effective_n_jobs(self.n_jobs), max(len(jobs), 1))
        if n_jobs == 1:
            results = [learn(*job) for job in jobs]
        else:
            # not prefer="threads": under another backend the experts would learn elsewhere
            pool = Parallel(n_jobs, require="sharedmem")
            results = pool(delayed(learn)(*job) for job in jobs)
        F = np.full((len(y), len(experts)), np.nan)
        awake = np.flatnonzero(~state["gave_up"])
        for k, (name, expert), (forecasts, error) in zip(awake, jobs, results, strict=True):
            F[:, k] = forecasts
            if error is not None:
                state["gave_up"][k] = True
                warnings.warn(
                    f"The expert {name!r} ({type(expert).__name__}) had no sane forecast and then "
                    f"failed to learn, so it sleeps from now on: {error}",
                    UserWarning,
                    stacklevel=2,
                )
        state["expert_losses"] += np.nansum(np.square(F - y[:, None]), axis=0)
        state["t"] += len(y)
        learn = partial(self._combiner()._learn, state["aggregator"])
        return self._combined(learn, F, means, reach, y)

    def _forecast(self, state, X):
        mean, reach = self._known(state)
        F = self._forecast_experts(state, X, reach)
        means, reach = np.full(len(X), mean), np.full(len(X), reach)
        forecast = partial(self._combiner()._forecast, state["aggregator"])
        return self._combined(forecast, F, means, reach)

    def _known(self, state):
        """Return the mean of the targets, and the size of the largest sane forecast, known now."""
        mean, deviation = (float(part[0]) for part in _moments.known(state["targets"]))
        return mean, float(self._reach(state["t"], mean, deviation))

    def _reach(self, t, means, deviations):
        """Return the size of the largest sane forecast in round t (n,)."""
        sizes = np.sqrt(means**2 + deviations**2 + float(self.initial_forecast) ** 2)
        factors = np.maximum(_SANE * _moments.caution(t), np.sqrt(t))
        return np.where(sizes > 0.0, factors * sizes, np.inf)

    def _forecast_experts(self, state, X, reach):
        F = np.full((len(X), len(state["experts"])), np.nan)
        for k, (name, expert) in enumerate(state["experts"].items()):
            if not state["gave_up"][k]:
                with _naming(name, expert, "forecast"):
                    F[:, k] = _sane(_as_column(expert.predict(X), len(X)), reach)
        return F

    def _combined(self, combine, F, means, reach, *targets):
        """Return the aggregator's forecasts; the mean of the past where it has nothing to mix."""
        combiner = self._combiner()
        asleep = np.isnan(F)
        if not combiner._allow_nan:
            F = np.where(asleep, means[:, None], F)
            idle = np.zeros(len(F), dtype=bool)
        elif getattr(combiner, "fallback", None) is None:
            idle = asleep.all(axis=1)
        else:
            idle = np.zeros(len(F), dtype=bool)
        forecasts = means.copy()
        if not idle.all():
            forecasts[~idle] = combine(F[~idle], *(part[~idle] for part in targets))
        return np.clip(forecasts, -reach, reach)


def _learn_expert(name, expert, X, y, reach, initial_forecast):
    """Teach one expert rows in place.

    `initial_forecast` is None where the expert has learnt before.

    Returns
    -------
    forecasts : ndarray of shape (n,)
        Each made before its target, NaN where it was not sane.
    error : Exception or None
        What the expert failed with when it had no sane forecast: it has learnt no row since.
    """
    if hasattr(expert, "prequential_predict"):
        with _naming(name, expert, "learn"):
            forecasts = _as_column(expert.prequential_predict(X, y), len(X))
        return _sane(forecasts, reach), None
    X, y = X.copy(), y.copy()  # the caller's own memory, which an expert might keep or change
    forecasts = np.full(len(y), np.nan)
    with np.errstate(over="ignore", invalid="ignore"):  # threads do not inherit the shell's
        for t in range(len(y)):
            row = slice(t, t + 1)
            if t == 0 and initial_forecast is not None:
                forecasts[0] = initial_forecast
            else:
                with _naming(name, expert, "forecast"):
                    forecast = _as_column(expert.predict(X[row]), 1)
                forecasts[row] = _sane(forecast, reach[row])
            try:
                with _naming(name, expert, "learn"):
                    expert.partial_fit(X[row], y[row])
            except ValueError as error:
                overflowed = isinstance(error.__cause__, (ValueError, ArithmeticError))
                if overflowed and np.isnan(forecasts[t]):
                    return forecasts, error.__cause__
                raise
    return forecasts, None


def _sane(forecasts, reach):
    """Return forecasts (n,), and NaN for those that are beyond reach or no numbers."""
    return np.where(np.abs(forecasts) <= np.minimum(reach, np.finfo(float).max), forecasts, np.nan)


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
