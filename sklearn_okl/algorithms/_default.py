"""One estimator that needs no tuning: kernels, ridges, scales and memories learnt from the stream.

Its parts are in `_default_parts.py`, its intervals in `_conformal.py`.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._linalg import one_blas_thread
from .._online import OnlineClassifier, OnlineRegressor
from ..aggregators import BOARegressor
from . import _conformal
from ._default_parts import (
    N_LAGS,
    STACKS,
    LaggedInputs,
    MaskedFeatures,
    Mixture,
    dictionary,
    learner,
    linear_members,
    refined,
    start_bank,
)
from ._engines import CHUNK, forecast_bank, learn_bank, threads

# frequencies a kernel, and K D^2 of all experts together: the work of a row
_BUDGETS = {"fast": (25, 0.09e6), "balanced": (70, 1.8e6), "accurate": (140, 7e6)}
_MEMORIES = (0.998, 0.99)  # forgetting rates of the experts for drift, besides 1
_BIRTHS = (512, 2048, 8192)  # rounds at which the dictionary is refined
_DRIFT_SHARE = 0.2  # of the work, for the kernels that forget
_REFINED_SHARE = 0.2  # of the work, for the kernels to be born


class DefaultModel:
    """Base of the estimators without tuning: how the parts work together."""

    _parameter_constraints = {
        "budget": [
            StrOptions({"fast", "balanced", "accurate"}),
            Interval(Integral, 2, None, closed="left"),
        ],
        "forgetting": [Interval(Real, 0, 1, closed="right"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    _structural = ("budget", "forgetting")

    def __init__(self, *, budget="balanced", forgetting=None, n_jobs=None, random_state=None):
        self.budget = budget
        self.forgetting = forgetting
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def weights_(self):
        """Weights of the experts in the first mixture, of shape (n_experts,)."""
        state = self._fitted_state("weights_")
        awake = np.array([rounds > 0 for rounds in _rounds(state)])
        weights = np.where(awake, BOARegressor()._weights(state["mixture"]["experts"]), 0.0)
        return weights / weights.sum()

    @property
    def expert_losses_(self):
        """Sum of squared errors of each expert's progressive forecasts, of shape (n_experts,)."""
        return self._fitted_state("expert_losses_")["losses"].copy()

    @property
    def experts_(self):
        """What each expert is and how it fares: a dict of arrays that pandas reads as a table."""
        state = self._fitted_state("experts_")
        members = [
            member | {"forgetting": bank["forgetting"]}
            for bank in state["banks"]
            for member in bank["members"]
        ]
        n = len(members)
        rounds = np.array(_rounds(state)[:n])
        table = {name: np.array([member[name] for member in members]) for name in members[0]}
        weights = self.weights_[_born(state)]
        losses = state["losses"][_born(state)]
        return table | {
            "weight": weights,
            "mean_loss": losses / np.maximum(rounds, 1),
            "n_rounds": rounds,
        }

    def summary(self):
        """Say in a paragraph what was learnt.

        Returns
        -------
        text : str
        """
        table, t = self.experts_, self.n_samples_seen_
        best = int(np.argmin(np.where(table["n_rounds"] * 2 >= t, table["mean_loss"], np.inf)))
        heavy = np.argsort(-table["weight"])[:3]
        named = ", ".join(f"{_name(table, k)} {table['weight'][k]:.0%}" for k in heavy)
        lagged = table["weight"][table["lags"].astype(bool)].sum()
        fading = table["weight"][table["forgetting"] < 1.0].sum()
        loss = self._state["loss"] / t
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
            U, _ = LaggedInputs.look(state["inputs"], X)
            return self._forecast_experts(state, U)[:, _born(state)] + state["origin"]

    def _start(self, n_features, n_targets=None):
        source = check_random_state(self.random_state)
        # A generator of our own: the user's may be shared, and is not ours to copy.
        rng = np.random.RandomState(source.randint(2**31 - 1))
        n_inputs = n_features + N_LAGS
        m, work = self._sizes(n_inputs)
        memories = (1.0, *_MEMORIES) if self.forgetting is None else (self.forgetting,)
        always = memories[0]
        share = work / (1 + n_inputs + 2 * m) ** 2  # experts of full size that the work allows
        drifting = [] if len(memories) == 1 else memories[1:]
        members = dictionary()
        born_later = max(2, int(_REFINED_SHARE * min(share, len(members)) / len(_BIRTHS)))
        n_main = int(share * (1.0 - _REFINED_SHARE - (_DRIFT_SHARE if drifting else 0.0)))
        n_main = min(max(n_main, 2), len(members))
        banks = [start_bank(members[:n_main], n_inputs, m, always, rng)]
        small = max(m // 2, 1)
        for memory in drifting:
            n = _DRIFT_SHARE * work / len(drifting) / (1 + n_inputs + 2 * small) ** 2
            n = min(max(int(n), 1), 6)
            banks.append(start_bank(members[:n], n_inputs, small, memory, rng))
        banks += [
            start_bank(linear_members(memory), n_inputs, 0, memory, rng) for memory in memories
        ]
        n_now = sum(len(bank["members"]) for bank in banks)
        n_experts = n_now + born_later * len(_BIRTHS)
        return {
            "t": 0,
            "origin": 0.0,  # the first target
            "inputs": LaggedInputs.start(),
            "banks": banks,
            "n_experts": n_experts,
            "n_born": born_later,
            "losses": np.zeros(n_experts),
            "loss": 0.0,
            "mixture": self._mixture().start(n_experts),
            "errors": _conformal.start(),
            "rng": rng,
        }

    def _sizes(self, n_inputs):
        """Return a budget as `_BUDGETS` has it."""
        if isinstance(self.budget, str):
            return _BUDGETS[self.budget]
        m = max(self.budget // 2, 1)
        return m, len(dictionary()) * (1 + n_inputs + 2 * m) ** 2

    def _mixture(self):
        return Mixture(1 if self.budget == "fast" else len(STACKS))

    def _learn(self, state, X, y):
        if state["t"] == 0:
            state["origin"] = float(y[0])
        y = y - state["origin"]
        forecasts = np.empty(len(y))
        low = 0
        with threads(self.n_jobs) as run:
            while low < len(y):
                due = min((birth for birth in _BIRTHS if birth > state["t"]), default=np.inf)
                high = int(min(len(y), low + CHUNK, low + due - state["t"]))
                rows = slice(low, high)
                forecasts[rows] = self._learn_rows(state, X[rows], y[rows], run)
                if state["t"] == due:
                    self._refine(state)
                low = high
        if state["t"] == len(y):  # the first row of all: nothing was known, not even the origin
            forecasts[0] = -state["origin"]
        return forecasts + state["origin"]

    def _learn_rows(self, state, X, y, run):
        U, _, scales = LaggedInputs.learn(state["inputs"], X, y)
        F = np.full((len(y), state["n_experts"]), np.nan)
        low = 0
        for bank in state["banks"]:
            high = low + len(bank["members"])
            F[:, low:high] = learn_bank(
                MaskedFeatures, learner(bank["forgetting"]), bank, U, y, run
            )
            low = high
        state["losses"] += np.nansum(np.square(F - y[:, None]), axis=0)
        forecasts = self._mixture().learn(state["mixture"], F, y, scales)
        errors = y - forecasts
        if state["t"] == 0:
            errors = errors[1:]  # the first forecast is none
        state["loss"] += float(errors @ errors)
        _conformal.learn(state["errors"], errors)
        state["t"] += len(y)
        return forecasts

    def _refine(self, state):
        """Let new kernels be born between the best ones and their neighbours."""
        main = state["banks"][0]
        losses = state["losses"][: len(main["members"])]
        n_inputs, m = main["features"]["frequencies"].shape[1:]
        members = refined(main["members"], losses, state["n_born"])
        state["banks"].append(start_bank(members, n_inputs, m, main["forgetting"], state["rng"]))

    def _forecast(self, state, X):
        U, scale = LaggedInputs.look(state["inputs"], X)
        F = self._forecast_experts(state, U)
        return self._mixture().forecast(state["mixture"], F, scale) + state["origin"]

    def _forecast_experts(self, state, U):
        F = np.full((len(U), state["n_experts"]), np.nan)
        low = 0
        for bank in state["banks"]:
            high = low + len(bank["members"])
            F[:, low:high] = forecast_bank(MaskedFeatures, learner(bank["forgetting"]), bank, U)
            low = high
        return F


class OnlineKernelRegressor(DefaultModel, OnlineRegressor):
    r"""Kernel regression on a stream without tuning: hand it rows, get forecasts and intervals.

    Scales, kernels, ridges, memories and their mixture are learnt on the way, each forecast from
    the rows before it only.

    Parameters
    ----------
    budget : {"fast", "balanced", "accurate"} or int, default="balanced"
        What a row may cost: about 0.1, 0.5 or 2 ms in long calls on one core of 2020. An integer is
        the number of random features of each kernel, at least 2, with the whole dictionary.
    forgetting : float, default=None
        Factor in (0, 1] by which the weight of a row fades with each row that follows, the same for
        all experts. None, right for nearly everyone, has experts that never forget and experts
        that look back about 500 and 100 rows, and finds out.
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
    memory, whatever the number of rows. The budget bounds K D^2, so with many inputs there are
    fewer kernels. A call of a single row costs milliseconds.

    *Inputs.* Rows are standardised by the running moments of the rows before them and clipped at 5
    standard deviations, so that neither units nor heavy tails matter; a constant column is 0. The
    last four targets are appended for half of the experts: where the stream has a memory they
    help, and where it has none the mixture leaves these experts aside.

    *Experts.* Online ridge regression on 1, the inputs, and random Fourier features of a Gaussian,
    a Laplacian or a Matérn kernel. Bandwidths are gamma times the number of inputs (times its root
    for Matérn), half a decade apart, which fits standardised rows of any dimension; after 512, 2048
    and 8192 rows new kernels are born between the best ones and their neighbours. A share of the
    experts forgets.

    *Mixture.* BOA over the experts; ridge regression of its errors on the experts' deviations from
    it; and BOA over these. Forecasts stay within the range of the past targets, widened by a tenth.

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
        forecasts = super().predict(X)
        if not return_std:
            return forecasts
        return forecasts, np.full(
            len(forecasts), _conformal.standard_deviation(self._state["errors"])
        )

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
            Low and high ends around the forecasts of `predict`; infinite before two rows.

        Notes
        -----
        Adaptive conformal inference on the progressive errors: whatever the stream, over T rounds
        in a row the share held is off by at most :math:`(1 + \gamma) / (T \gamma)` with
        :math:`\gamma = 0.05`, 0.042 over 500 rounds, if no error is more than twice the largest of
        the 500 before it; each further doubling may cost one more miss.
        """
        if not _conformal.LEVELS[0] <= coverage <= _conformal.LEVELS[-1]:
            raise ValueError(f"coverage={coverage!r} must lie between 0.01 and 0.99.")
        forecasts = self.predict(X)
        half = _conformal.radius(self._state["errors"], coverage)
        return np.column_stack([forecasts - half, forecasts + half])


class OnlineKernelClassifier(DefaultModel, OnlineClassifier):
    r"""Kernel classification on a stream without tuning, for two classes.

    The mixture of :class:`OnlineKernelRegressor` on the targets -1 and +1: its forecast estimates
    the difference of the two classes' probabilities, and its sign is the label.

    Parameters
    ----------
    budget : {"fast", "balanced", "accurate"} or int, default="balanced"
        What a row may cost: about 0.1, 0.5 or 2 ms in long calls on one core of 2020. An integer is
        the number of random features of each kernel, at least 2, with the whole dictionary.
    forgetting : float, default=None
        Factor in (0, 1] by which the weight of a row fades with each row that follows, the same for
        all experts. None, right for nearly everyone, has experts that never forget and experts
        that look back about 500 and 100 rows, and finds out.
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
    memory, whatever the number of rows. The budget bounds K D^2, so with many inputs there are
    fewer kernels. A call of a single row costs milliseconds.

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


def _born(state):
    return slice(0, sum(len(bank["members"]) for bank in state["banks"]))


def _rounds(state):
    """Return how many rounds each expert has learnt, 0 for those not born yet."""
    rounds = [int(bank["experts"]["t"]) for bank in state["banks"] for _ in bank["members"]]
    return rounds + [0] * (state["n_experts"] - len(rounds))


def _name(table, k):
    kernel, bandwidth = table["kernel"][k], table["bandwidth"][k]
    name = kernel if kernel == "linear" else f"{kernel} of bandwidth {bandwidth:.2g}"
    return name + (" with lags" if table["lags"][k] else "")
