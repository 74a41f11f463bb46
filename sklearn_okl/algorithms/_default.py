"""One estimator that needs no tuning: kernels, ridges, scales and memories learnt from the stream.

What its experts see is in `_default_inputs.py`, what they are in `_default_parts.py`, how they are
mixed in `_default_mixture.py`, its intervals in `_conformal.py`.
"""

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._linalg import one_blas_thread
from .._online import OnlineClassifier, OnlineRegressor
from . import _conformal
from ._default_inputs import LaggedInputs
from ._default_mixture import Mixture
from ._default_parts import (
    Constants,
    MaskedFeatures,
    add_members,
    awake,
    dictionary,
    learner,
    linear_members,
    refined,
    shape_of,
    start_bank,
)
from ._engines import CHUNK, forecast_bank, learn_bank, threads

_LINEAR_SHARE = 0.2  # of the work, at most, for the linear experts of one forgetting rate
_DRIFT_SHARE = 0.1  # for the kernels of one forgetting rate
_FARTHEST = 1e70  # in units of the first other target: BOA takes fourth powers
_REFINED_SHARE = 0.2  # for the kernels to be born


class _Budget(NamedTuple):
    frequencies: int  # a kernel
    work: float  # sum of D^2 over all experts, those that forget counted three times
    memories: tuple  # forgetting rates of the experts for drift
    n_stacks: int | None  # None: all


_BUDGETS = {
    "fast": _Budget(25, 0.08e6, (0.995,), 1),
    "balanced": _Budget(70, 1.8e6, (0.998, 0.99), None),
    "accurate": _Budget(140, 7e6, (0.998, 0.99), None),
}


class DefaultModel:
    """Base of the estimators without tuning: how the parts work together."""

    _parameter_constraints = {
        "budget": [
            StrOptions(set(_BUDGETS)),
            Interval(Integral, 2, None, closed="left"),
        ],
        "forgetting": [Interval(Real, 0, 1, closed="right"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    _structural = ("budget", "forgetting")
    _constants = Constants()

    def __init__(self, *, budget="balanced", forgetting=None, n_jobs=None, random_state=None):
        self.budget = budget
        self.forgetting = forgetting
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def weights_(self):
        """Weights of the experts in the first mixture, of shape (n_experts,)."""
        return _weights(self._fitted_state("weights_"))

    @property
    def expert_losses_(self):
        """Sum of squared errors of each expert's progressive forecasts, of shape (n_experts,)."""
        state = self._fitted_state("expert_losses_")
        return state["losses"] * _unit(state) ** 2

    @property
    def experts_(self):
        """What each expert is and how it fares: a dict of arrays that pandas reads as a table."""
        return _table(self._fitted_state("experts_"))

    def summary(self):
        """Say in a paragraph what was learnt.

        Returns
        -------
        text : str
        """
        state = self._fitted_state("summary")
        table, t = _table(state), state["t"]
        # an expert born late has met an easier stream
        best = int(np.argmin(np.where(table["n_rounds"] * 2 >= t, table["mean_loss"], np.inf)))
        heavy = np.argsort(-table["weight"])[:3]
        named = ", ".join(f"{_name(table, k)} {table['weight'][k]:.0%}" for k in heavy)
        lagged = table["weight"][table["lags"].astype(bool)].sum()
        fading = table["weight"][table["forgetting"] < 1.0].sum()
        loss = state["loss"] * _unit(state) ** 2 / max(t - 1, 1)  # the first forecast is none
        return (
            f"After {t} rows of {self.n_features_in_} inputs the mean squared error of the "
            f"progressive forecasts is {loss:.4g}; that of the best of {len(table['weight'])} "
            f"experts, {_name(table, best)}, is {table['mean_loss'][best]:.4g}. The largest "
            f"weights are those of {named}. Experts that see the latest targets hold {lagged:.0%} "
            f"of the weight, those that forget {fading:.0%}."
        )

    def predict_experts(self, X):
        """Forecast each row by each expert; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.

        Returns
        -------
        F : ndarray of shape (n_samples, n_experts)
            The experts' forecasts, in the order of `experts_`, not clipped.
        """
        state, X = self._asked(X)
        with one_blas_thread:
            U, _ = self._inputs().look(state["inputs"], X)
            F = self._forecast_experts(state, U)[:, _born(state)]
            return F * _unit(state) + state["origin"]

    def _start(self, n_features, n_targets=None):
        # A seed of our own: the user's generator may be shared, and is not ours to copy.
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        rng = np.random.RandomState(seed)
        plan = self._plan(n_features)
        banks = [start_bank(members, shape, rng, size) for shape, members, size in plan]
        n_experts = sum(len(bank["features"]["masks"]) for bank in banks)
        return {
            "t": 0,
            "origin": 0.0,  # the first target
            "unit": 0.0,  # distance of the first other one, in which everything is measured
            "inputs": self._inputs().start(n_features),
            "banks": banks,
            "rounds": np.zeros(n_experts, dtype=int),
            "losses": np.zeros(n_experts),
            "loss": 0.0,
            "mixture": self._mixture().start(n_experts),
            "seed": seed,
        }

    def _plan(self, n_features):
        """Return the banks as (shape, members, room): kernels, those to be born, linear, drift.

        As many kernels as the work allows, in the dictionary's order; all experts of a bank have
        one shape, so that they are learnt by the same products.
        """
        budget, constants = self._sizes(), self._constants
        members = dictionary(constants.alphas, constants.n_lags > 0)
        always = 1.0 if self.forgetting is None else self.forgetting
        drifting = budget.memories if self.forgetting is None else ()
        m = max(int(budget.frequencies * constants.frequencies), 1)
        main = shape_of(n_features, constants.n_lags, m, always)

        def room(shape, share, most, least=1):
            return int(np.clip(share * budget.work / shape.work, least, most))

        plan = []
        for memory in (always, *drifting):
            shape = main._replace(linear=True, n_frequencies=0, forgetting=memory)
            linear = linear_members(memory, constants.n_lags > 0)
            # D^2 of many inputs may be more than all is to cost
            n = room(shape, _LINEAR_SHARE, len(linear), least=int(shape.work <= budget.work / 4))
            if n:
                plan.append((shape, linear[:n], n))
        for memory in drifting:
            shape = main._replace(n_frequencies=max(m // 2, 1), forgetting=memory)
            n = room(shape, _DRIFT_SHARE, 6)
            plan.append((shape, members[:n], n))
        left = budget.work - sum(shape.work * n for shape, _, n in plan)
        n_births = len(constants.births)
        if n_births:
            n_born = max(room(main, _REFINED_SHARE, _REFINED_SHARE * len(members)) // n_births, 2)
            plan.insert(0, (main, [], n_born * n_births))
            left -= n_born * n_births * main.work
        n_main = int(np.clip(left / main.work, 2, len(members)))
        return [(main, members[:n_main], n_main), *plan]

    def _sizes(self):
        """Return the budget; a number asks for the whole dictionary at whatever work."""
        if isinstance(self.budget, str):
            return _BUDGETS[self.budget]
        return _BUDGETS["balanced"]._replace(frequencies=self.budget // 2, work=np.inf)

    def _inputs(self):
        return LaggedInputs(self._constants.n_lags)

    def _mixture(self):
        return Mixture(self._constants.fadings, self._constants.stacks[: self._sizes().n_stacks])

    def _learn(self, state, X, y):
        if state["t"] == 0:
            state["origin"] = float(y[0])
        y = y - state["origin"]
        if state["unit"] == 0.0 and y.any():
            state["unit"] = float(np.abs(y[y != 0.0][0]))
        y = y / _unit(state)
        if np.abs(y).max() > _FARTHEST:
            raise np.linalg.LinAlgError("overflow")  # which the shell refuses with a sentence
        births = self._constants.births
        forecasts = np.empty(len(y))
        low = 0
        with threads(self.n_jobs) as run:
            while low < len(y):
                due = min((birth for birth in births if birth > state["t"]), default=np.inf)
                high = int(min(len(y), low + CHUNK, low + due - state["t"]))
                rows = slice(low, high)
                forecasts[rows] = self._learn_rows(state, X[rows], y[rows], run)
                if state["t"] == due:
                    self._refine(state)
                low = high
        forecasts = forecasts * _unit(state) + state["origin"]
        if state["t"] == len(y):  # the first row of all: nothing was known, not even the origin
            forecasts[0] = 0.0
        return forecasts

    def _learn_rows(self, state, X, y, run):
        U, scales = self._inputs().learn(state["inputs"], X, y)
        F = np.full((len(y), len(state["rounds"])), np.nan)
        for bank, places in _banks(state):
            part = awake(bank)
            F[:, places] = learn_bank(MaskedFeatures, learner(bank["forgetting"]), part, U, y, run)
            bank["experts"].update({name: part["experts"][name] for name in ("t", "mass")})
            state["rounds"][places] += len(y)
        state["losses"] += np.nansum(np.square(F - y[:, None]), axis=0)
        forecasts = self._mixture().learn(state["mixture"], F, y, scales)
        errors = y - forecasts
        if state["t"] == 0:
            errors = errors[1:]  # the first forecast is none
        state["loss"] += float(errors @ errors)
        self._learn_errors(state, errors)
        state["t"] += len(y)
        return forecasts

    def _learn_errors(self, state, errors):
        """Learn what the progressive forecasts missed: for those that make intervals of it."""

    def _refine(self, state):
        """Let new kernels be born between the best ones and their neighbours."""
        shape, _, room = self._plan(self.n_features_in_)[1]
        main, young = state["banks"][:2]
        losses = state["losses"][: len(main["members"])]
        born = [*main["members"], *young["members"]]
        members = refined(main["members"], losses, room // len(self._constants.births), born)
        rng = np.random.RandomState([state["seed"], state["t"]])
        add_members(young, members, shape, rng)

    def _forecast(self, state, X):
        U, scale = self._inputs().look(state["inputs"], X)
        F = self._forecast_experts(state, U)
        forecasts = self._mixture().forecast(state["mixture"], F, scale)
        return forecasts * _unit(state) + state["origin"]

    def _forecast_experts(self, state, U):
        F = np.full((len(U), len(state["rounds"])), np.nan)
        for bank, places in _banks(state):
            F[:, places] = forecast_bank(
                MaskedFeatures, learner(bank["forgetting"]), awake(bank), U
            )
        return F


class OnlineKernelRegressor(DefaultModel, OnlineRegressor):
    r"""Kernel regression on a stream without tuning: hand it rows, get forecasts and intervals.

    Scales, kernels, ridges, memories and their mixture are learnt on the way, each forecast from
    the rows before it only.

    Parameters
    ----------
    budget : {"fast", "balanced", "accurate"} or int, default="balanced"
        What a row may cost: about 0.1, 0.5 or 2 ms in long calls on one core of 2020. An integer is
        the number of random features of each kernel, at least 2, with the whole dictionary, at
        whatever cost.
    forgetting : float, default=None
        Factor in (0, 1] by which the weight of a row fades with each row that follows, the same for
        all experts. None, right for nearly everyone, has experts that never forget and experts
        that look back about 500 and 100 rows ("fast": 200), and finds out.
    n_jobs : int, default=None
        Number of threads that share the experts.
    random_state : int, RandomState instance or None, default=None
        Source of the random features.

    Attributes
    ----------
    experts_ : dict of ndarray of shape (n_experts,)
        A table that pandas reads, a row for each expert: ``kernel``, ``bandwidth`` (see Notes),
        ``lags``, ``alpha``, ``forgetting``, ``weight`` in the first mixture, ``mean_loss``,
        ``n_rounds``.
    weights_ : ndarray of shape (n_experts_in_all,)
        Weights of the first mixture, those of kernels yet to be born (0) included.
    expert_losses_ : ndarray of shape (n_experts_in_all,)
        Sums of squared progressive errors.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    OnlineKernelClassifier : The same for two classes.
    VAW2Regressor : The published algorithm that is nearest to it.
    MultiKernelRegressor : To put a model together by hand.

    Notes
    -----
    *Cost.* O(K D^2) a round for K experts of D features each, in whole blocks of rows, and as much
    memory, whatever the number of rows. The budget bounds K D^2: with many inputs there are fewer
    kernels, from 2m inputs on kernels of m frequencies do not see the inputs themselves, and there
    are no linear experts where one alone would cost a quarter of all. A call of a single row costs
    milliseconds.

    *Inputs.* Rows are standardised by the running moments of the rows before them, in which faulty
    values count as 10 standard deviations, and clipped at 5, so that neither units nor heavy tails
    matter; a constant column is 0. Every 64 rows each column is asked whether its unit has changed,
    by its median step from row to row (a factor of four, and four times its own spread) and its
    level (5 standard deviations); then its moments start anew from the latest 32 rows. The last
    four targets are appended for half of the experts: where the stream has a memory they help, and
    where it has none the mixture leaves these experts aside.

    *Experts.* Online ridge regression on 1, the inputs, and random Fourier features of a Gaussian,
    a Laplacian or a Matérn kernel. Bandwidths are gamma times the number of inputs (times its root
    for Matérn), half a decade apart, which fits standardised rows of any dimension; after 512, 2048
    and 8192 rows new kernels are born between the best ones and their neighbours. A share of the
    experts forgets.

    *Mixture.* BOA over the experts; their means under likelihoods that fade within about 20 and 100
    rows, for quick changes [3]_; ridge regressions of the errors of the first of these means on the
    experts' deviations from it; and BOA over all of these. Forecasts stay within the range of the
    past targets, widened by a tenth.

    *Theorem.* BOA's: with :math:`r_{k,t}` the difference of the losses, the regret against expert k
    is of the order of :math:`\sqrt{\ln K \sum_t r_{k,t}^2}` [1]_, and twice that for two levels,
    so the whole is never much worse than its best part.

    The benchmark ``python -m benchmarks default`` holds it against every published figure at hand,
    and prints what other choices of the few constants would give.

    *Intervals.* Adaptive conformal inference [2]_ on the progressive errors; see
    `predict_interval`.

    References
    ----------
    .. [1] O. Wintenberger, "Optimal learning with Bernstein online aggregation", Machine Learning
       106(1), 2017.
    .. [2] I. Gibbs, E. Candès, "Adaptive conformal inference under distribution shift", Advances in
       Neural Information Processing Systems 34, 2021, eq. (2), Proposition 4.1.
    .. [3] A. E. Raftery, M. Kárný, P. Ettler, "Online prediction under model uncertainty via
       dynamic model averaging", Technometrics 52(1), 2010.

    Examples
    --------
    >>> from sklearn_okl import OnlineKernelRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = OnlineKernelRegressor(budget="fast", random_state=0)
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> model.predict(X[:2]).shape, model.predict_interval(X[:2], coverage=0.8).shape
    ((2,), (2, 2))
    >>> model.summary()
    'After 300 rows of 4 inputs ...'
    """

    def predict(self, X, return_std=False):
        """Forecast each row as if it were the next one; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        return_std : bool, default=False
            Whether to return the size of the latest errors too.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Forecasts.
        y_std : ndarray of shape (n_samples,)
            Only with ``return_std``: the standard deviation of Gaussian errors whose mean size is
            that of the latest fifty or so progressive errors, the same for every row.
        """
        state, X = self._asked(X)
        with one_blas_thread:
            forecasts = self._forecast(state, X)
        if not return_std:
            return forecasts
        std = _unit(state) * _conformal.standard_deviation(state["errors"])
        return forecasts, np.full(len(forecasts), std)

    def predict_interval(self, X, coverage=0.9):
        r"""Return intervals that hold the next target in a given share of the rounds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, each as if it were the next one.
        coverage : float, default=0.9
            Share of targets to be held, from 0.01 to 0.99.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Low and high ends around the forecasts of `predict`; infinite in the first few rows.

        Raises
        ------
        TypeError
            If `coverage` is no number.
        ValueError
            If it is not from 0.01 to 0.99.

        Notes
        -----
        Adaptive conformal inference on the progressive errors: over T rounds in a row the share
        held is off by at most :math:`(1 + (k + 1) \gamma) / (T \gamma)`, :math:`\gamma = 0.05`, or
        0.042 over 500 rounds with k = 0, if in all rounds so far no error, in units of the latest
        fifty or so, was more than the largest of the 500 before it; k is 1 if one was up to
        twice as large, and one more for each further doubling. An interval of no width counts as
        empty. This holds for the 99 coverages of whole percents; between them levels are
        interpolated. Each level moves by itself, so intervals of two coverages need not be nested.
        """
        if not isinstance(coverage, Real):
            raise TypeError(f"coverage={coverage!r} must be a number between 0.01 and 0.99.")
        if not _conformal.LEVELS[0] <= coverage <= _conformal.LEVELS[-1]:
            raise ValueError(f"coverage={coverage!r} must lie between 0.01 and 0.99.")
        state, X = self._asked(X)
        with one_blas_thread:
            forecasts = self._forecast(state, X)
        half = _unit(state) * _conformal.radius(state["errors"], coverage)
        return np.column_stack([forecasts - half, forecasts + half])

    def _start(self, n_features, n_targets=None):
        return super()._start(n_features, n_targets) | {"errors": _conformal.start()}

    def _learn_errors(self, state, errors):
        _conformal.learn(state["errors"], errors)


class OnlineKernelClassifier(DefaultModel, OnlineClassifier):
    r"""Kernel classification on a stream without tuning, for two classes.

    The mixture of :class:`OnlineKernelRegressor` on the targets -1 and +1: its forecast estimates
    the difference of the two classes' probabilities, and its sign is the label.

    Parameters
    ----------
    budget : {"fast", "balanced", "accurate"} or int, default="balanced"
        What a row may cost: about 0.1, 0.5 or 2 ms in long calls on one core of 2020. An integer is
        the number of random features of each kernel, at least 2, with the whole dictionary, at
        whatever cost.
    forgetting : float, default=None
        Factor in (0, 1] by which the weight of a row fades with each row that follows, the same for
        all experts. None, right for nearly everyone, has experts that never forget and experts
        that look back about 500 and 100 rows ("fast": 200), and finds out.
    n_jobs : int, default=None
        Number of threads that share the experts.
    random_state : int, RandomState instance or None, default=None
        Source of the random features.

    Attributes
    ----------
    experts_ : dict of ndarray of shape (n_experts,)
        A table that pandas reads, a row for each expert: ``kernel``, ``bandwidth`` (see Notes),
        ``lags``, ``alpha``, ``forgetting``, ``weight`` in the first mixture, ``mean_loss``,
        ``n_rounds``.
    weights_ : ndarray of shape (n_experts_in_all,)
        Weights of the first mixture, those of kernels yet to be born (0) included.
    expert_losses_ : ndarray of shape (n_experts_in_all,)
        Sums of squared progressive errors.
    classes_ : ndarray of shape (2,)
        The two classes.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    OnlineKernelRegressor : The same for real targets.
    sklearn.multiclass.OneVsRestClassifier : For more than two classes.

    Notes
    -----
    *Cost.* O(K D^2) a round for K experts of D features each, in whole blocks of rows, and as much
    memory, whatever the number of rows. The budget bounds K D^2: with many inputs there are fewer
    kernels, from 2m inputs on kernels of m frequencies do not see the inputs themselves, and there
    are no linear experts where one alone would cost a quarter of all. A call of a single row costs
    milliseconds.

    *Inputs, experts, mixture* and *theorem* are those of :class:`OnlineKernelRegressor`, with the
    latest labels, -1 and +1, in place of the latest targets.

    *Probabilities.* The square loss of -1 and +1 is least at the difference of the probabilities,
    so `predict_proba` reads (1 + f) / 2 from a decision value f, between 0 and 1.

    References
    ----------
    .. [1] O. Wintenberger, "Optimal learning with Bernstein online aggregation", Machine Learning
       106(1), 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_okl import OnlineKernelClassifier
    >>> X, y = make_classification(300, random_state=0)
    >>> model = OnlineKernelClassifier(budget="fast", random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> bool((forecasts != y).mean() < 0.25)
    True
    """

    def predict_proba(self, X):
        """Return the probabilities of the classes; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        upper = np.clip((1.0 + self.decision_function(X)) / 2.0, 0.0, 1.0)
        return np.column_stack([1.0 - upper, upper])


def _unit(state):
    return state["unit"] or 1.0


def _banks(state):
    """Yield each bank with somebody awake, and their columns of forecasts."""
    low = 0
    for bank in state["banks"]:
        n = len(bank["members"])
        if n:
            yield bank, slice(low, low + n)
        low += len(bank["features"]["masks"])


def _born(state):
    return np.flatnonzero(state["rounds"] > 0)


def _weights(state):
    weights = np.where(state["rounds"] > 0, Mixture.weights(state["mixture"]), 0.0)
    return weights / weights.sum()


def _table(state):
    members = [member for bank in state["banks"] for member in bank["members"]]
    born = _born(state)
    rounds = state["rounds"][born]
    return {name: np.array([member[name] for member in members]) for name in members[0]} | {
        "weight": _weights(state)[born],
        "mean_loss": state["losses"][born] * _unit(state) ** 2 / rounds,
        "n_rounds": rounds,
    }


def _name(table, k):
    kernel, bandwidth = table["kernel"][k], table["bandwidth"][k]
    name = kernel if kernel == "linear" else f"{kernel} of bandwidth {bandwidth:.2g}"
    return name + (" with lags" if table["lags"][k] else "")
