"""The regressor without tuning: the mixture of experts, and intervals around its forecasts."""

from __future__ import annotations

import warnings
from itertools import pairwise
from numbers import Real
from typing import Literal, overload

import numpy as np
from sklearn.utils._param_validation import HasMethods, StrOptions

from .._documentation import explained_by, inherit_documentation
from .._linalg import one_blas_thread
from .._types import Any, Array, ArrayLike, Budget, Seed
from ..base import DistributionVerbs, WeightedRegressor
from ..features import _faults
from .experts._experts import ages_of
from .experts._number_trees import NumberTrees
from .rounds import _target_units as target_units
from .rounds._guard import Guard
from .rounds._model import DefaultModel
from .rounds._renewal import n_rows
from .rounds._rounds import checked_weights
from .rounds._spread import RECORDS, law_of, laws_of, start_sizes, traced, whole_line
from .rows import _columns as columns


@inherit_documentation
class OnlineKernelRegressor(DistributionVerbs, DefaultModel, WeightedRegressor):
    r"""Kernel regression on a stream without tuning: hand it rows, get forecasts and intervals.

    Scales, kernels, ridges, memories and their mixture are learnt on the way, each forecast from
    the rows before it only.

    Parameters
    ----------
    trees : bool, "lightgbm" or regressor, default=False
        Whether batch models take part, for tables on which boosted trees are ahead of kernels:
        with jumps, columns of codes, or thousands of rows in no order. True is
        ``HistGradientBoostingRegressor(early_stopping=False)``, ``"lightgbm"`` LightGBM's boosting,
        which is to be installed; both are fitted anew as often as about the model's own work pays
        for. Any other regressor with the verbs of scikit-learn may be given, which is fitted anew
        whenever the past has grown by a twentieth. One learns the targets and one the errors of the
        kernels, and both are mixed with the kernels, see Notes. The whole past is kept then: memory
        grows with the stream. A :class:`RefitRegressor` says when its estimator is fitted, on which
        window, and whether in the background.
    guard : bool, default=True
        Whether a target far from all forecasts is in doubt. False: every target is believed, and
        learnt as it comes.
    target_range : tuple of (float or None, float or None), default=None
        Low and high end of what targets can be, such as ``(0, None)`` for amounts. Forecasts and
        the ends of intervals stay within; what is learnt is the same. None: any number will do. A
        target outside is an error.
    spread : {"running", "rows"}, default="running"
        What the size of an error is taken for in intervals, quantiles and distributions: that of
        the latest errors, the same for every row, or also what the row tells of it. Forecasts are
        the same to the last bit. ``"rows"`` is for errors that are larger in some rows than in
        others, or lean to one side, and costs 1.1 to 1.5 times the time of a row, see Notes.

    Attributes
    ----------
    n_faulty_ : int or ndarray of shape (n_targets,)
        Targets in doubt that were not learnt as they came; those that turned out to begin a new
        level are not among them. Above a twentieth of the rows there is a warning, once.
    faulty_rows_ : ndarray of int
        The rows of the latest call, from 0, of which a target was in doubt when it came and was not
        learnt as it was.

    See Also
    --------
    OnlineKernelClassifier : The same for labels, of two classes or more.
    StackedBOARegressor : Its mixture alone, for forecasts that you already have.
    LagFeatures : The latest targets as columns, for models of your own.
    RunningOneHotEncoder : Categories as columns, for models of your own.
    RunningImputer : Gaps filled, for models of your own.
    VAW2Regressor : The published algorithm that is nearest to it.
    MultiKernelRegressor : To put a model together by hand.

    Notes
    -----
    *Cost.* O(K D^2) per round for K experts of D features each, in whole blocks of rows, and as
    much memory, whatever the number of rows. The budget bounds K D^2: with many inputs there are
    fewer kernels, from 2m inputs on kernels of m frequencies do not see the inputs themselves, and
    there are no linear experts where one alone would cost a quarter of all. A call of a single row
    costs milliseconds. With a `label_delay` the state also holds the latest D coefficients of each
    expert, K D m numbers in all, a few weights and the latest D centres and scales: at "balanced"
    about 90 kB for each round of delay.

    *Tiny.* ``budget="tiny"`` has three kernels and two lines, and keeps triangles and seeds of
    draws. Kernels hear, of one target, what experts before them forecast; waves of the last that
    tell little give way to others. No model begins anew beside it, no tree is tried on jumps. On
    twelve sets its squared error was 1.24 times that of "fast" (.87 to 2.1).

    *Late labels.* After row s, `predict` forecasts a row as row s + 1 + D. What row t reads,
    coefficients and weights, moments, latest targets y[t - 1 - D], y[t - 2 - D] and so on, is what
    was known after row t - 1 - D, and the row is taught with the same inputs. The first D + 1 rows,
    of which there is no forecast, are taught with all that is known when their labels come; after
    them, nothing counts as known of scales before there are 4 rows. The ridge regressions of the
    mixture forecast by the plain ridge solution then, not by Vovk's.

    *Persistence.* With `lags`, the last target known, and the same with the mean step so far on top
    for each round since, are two more experts. They are mixed at both levels while their recent
    loss is at most 1.2 times that of the best other expert, so that a random walk is forecast as
    well as by its last value.

    *Inputs.* Rows are standardised by the running moments of the rows before them, in which faulty
    values count as 10 standard deviations, and clipped at 5, so that neither units nor heavy tails
    matter; a constant column is 0. A value more than 50 standard deviations off, with the row
    before nowhere near it, counts as the mean. Every 64 rows each column is asked whether its unit
    has changed, by its median step from row to row (a factor of four, and four times its own
    spread) and its level (5 standard deviations); then its moments start anew from the latest 32
    rows. Linear experts see the same, neither clipped nor in units that move: their centre and
    scale are those first known of 4 rows, so that a line stays a line where an input grows or
    wanders. The latest targets are appended for half of the experts. But for "fast", half of the
    kernels that never forget see, in place of the inputs, the normal scores of their ranks among
    the rows before, as of :class:`RunningQuantileTransformer`, which no tail and no curved unit can
    spoil; every other one of these sees pairs of columns, as a sum of kernels.

    *Order.* Where correlations and a kernel ridge regression find no order in the first 64 rows,
    all but persistence and two linear experts go on without lags. From row 128 on, if errors or
    these show one, a model with lags learns the rows at hand, and takes over if it had lost less.

    *Categories.* Kinds of columns are those of the first call, or of the first value of a column
    that is empty there: numbers and booleans; categories, which are the columns of frames of
    categories or text and those in `categorical_features`; and dates, of which the features are
    those of :class:`CalendarFeatures`. Another kind later is an error. Values count, not codes or
    types, so later frames may have others, and a missing category is one more. A category enters as
    the mean of its targets so far, less that of all and shrunk as if ten rows of no difference had
    been there [5]_. Columns of up to 32 categories in the first 64 rows have an indicator for each,
    and one for all others, 64 in all; those of more than 8, and logarithms of columns over orders
    of magnitude, 16 at most, are seen by kernels born later, by the chain and by similar rows. 1024
    categories are told apart; any more share 64 numbers.

    *Columns of few values.* Up to 16 columns of numbers that have at most 32 distinct values in the
    first 64 rows are also seen by a regression tree [7]_, which finds steps and combinations of
    them. It is grown anew from the latest 2048 rows whenever the past has grown by a quarter, into
    up to 32 leaves, whose means learn every row. Lines see its forecast. One also sees logarithms
    and indicators of up to 256 values, 63 of "fast": of such numbers, whole ones and categories.
    Means of what it leaves of each value, as of 1000 devices, are added if they help.

    *Jumps.* After 256 rows, and whenever there are twice as many up to 4096, two trees on up to 24
    columns are tried on the latest 512 and 2048: grown from half of them they forecast the others.
    One learns the targets, the other what a linear expert leaves of them. The best one, if it tells
    by two standard errors what the mixture has missed, and a hundredth of its squares (a fiftieth
    where it is judged on up to 256 rows), is an expert from then on, grown anew as the past grows
    by half. Rows are parted by pairs of columns, too, where four parts explain more for each of
    their splits than any single one [8]_.

    *Gaps.* A missing number, NaN, enters as the mean of its column or, once there are 64 rows since
    the first gap, as its conditional mean given the other columns of the row, for which
    correlations are learnt (in up to 64 columns); kernels are averaged over what remains unknown.
    Where there is a gap within the first 64 rows, one more input is what it says of the target that
    some numbers are missing, if it says anything beyond chance. Tables without gaps pay nothing for
    it, and no row is refused. After 8, 16, 32 and 64 rows the model may start anew from them with
    more inputs, as gaps, categories and columns of few values ask for.

    *Faulty targets.* A target is in doubt if it is more than 18 robust deviations (1.48 medians of
    the sizes of the latest 113 errors) from its forecast, and no expert without lags accounts for
    three quarters of that; in the first 64 rows more than 12. One that is e > 18 deviations off is
    learnt as one 18² / e off; one in the first 64 rows, the second of a dispute and the third in a
    row teach nothing. It may begin a new level: log odds of that over a fault start at -4, gain 3
    with each further row whose error agrees, and at 2 the level is believed, after three rows at
    first. The very number before is no further row where targets hardly repeat: a sensor that is
    out writes it. How such disputes end moves the odds by 3 for good, so that a stream that has
    shown levels is believed at once, and one that shows faults only after many rows. A new level
    moves the origin, and nothing that was learnt is lost; one that began with a step in a column of
    X out of the usual is learnt as it comes, since X may explain it. Every 64 rows, or sooner if
    most of the latest 32 are in doubt, it is asked whether the unit has changed: a line through the
    forecasts of a kernel that never forgets has to explain them. The first 64 targets are judged as
    a whole, after 8, 16, 32 and 64 rows, and learnt again without those that stand apart from the
    rest, unless the rows foretell them; a number that comes there again and again stands for none.
    The losses in ``experts_`` and `summary` count targets in doubt as far as 6 deviations.

    *A twin.* With the first target in doubt a copy of the model begins that believes every target.
    Both learn on, at twice the cost, and the likelier one is heard, by the odds that Cauchy errors
    of its size are those of the twin; the other moves forecasts by three usual errors at most.
    What rows have told in which both are far apart is kept for the twins that follow.
    After one of them has been far ahead for a block, or after 512 rows, it goes on alone, for
    longer each time that it wins again. ``experts_`` and `predict_experts` are the model's.

    *Changes.* At the end of each block of 64 rows whose errors are 1.3 times as large as they have
    long been, a model begins anew with the rows since the change, as far as errors tell it. So does
    one with the latest rows, up to 2048 ("fast": 1024), where kernels explain their errors, asked
    for every 1024 rows. Both learn on, at twice the cost, and are mixed by odds that squared errors
    move, but for rows of which only the old one knows the like: four block ends far ahead replace
    it, two far behind, or 512 rows, end the trial; the next one is far off. So a sign that flips
    costs little more than starting over. ``experts_`` are those of the older one until then.

    *Several targets.* Of y with shape (n, q) all columns are learnt by the same experts, with one
    inverse, so that ten targets take two to three times as long as one. Half of the experts see the
    latest values of all. Each target has a mixture, a chain, a fence, a unit, intervals and trees
    of its own: what is wrong with one is learnt of that one alone, and reaches the others through
    what they have in common, the latest targets, metrics and the kernels that are born, by means
    over the targets whatever their units. Where these have nothing in common, a model for each
    (``MultiOutputRegressor``) finds kernels for each. A row is learnt with all of its targets.

    *Experts.* Online ridge regression on 1, the inputs, and random Fourier features of a Gaussian,
    a Laplacian or a Matérn kernel. Bandwidths are gamma times the number of inputs (times its root
    for Matérn), half a decade apart, which fits standardised rows of any dimension; after 512, 2048
    and 8192 rows new kernels are born, the best ones so far and their neighbours, and heard after
    256 rows more. They see each column scaled by how much the forecasts of the three best experts
    depend on it, the root of the mean square of their derivative over all rows learnt [4]_, which
    is exact for random features. A share of the experts forgets.

    *Mixture.* That of :class:`StackedBOARegressor`: BOA over the experts; their means under
    likelihoods that fade within about 20 and 100 rows [3]_; ridge regressions of the errors of the
    first of these means; and BOA over all of these, without the latest values where they part with
    all others. Forecasts stay within the range of the past targets, widened by a tenth.

    *Boosting.* But for "fast", a chain of 12 links, which begins to learn with the first birth and
    is heard 256 rows later, corrects the forecasts of the mixture: each link, the mean of two ridge
    regressions on features of narrow Laplacian kernels, learns what the sum of the links before it
    leaves, as in online gradient boosting [6]_, and BOA mixes the mixture alone and the sums after
    2, 4, ..., 12 links. They are not in ``experts_``.

    *Similar rows.* From round 257 on the errors of the 4 and the 16 nearest of the latest 8192 rows
    ("fast": 2048, "tiny": none) correct what is forecast, nearest by columns, and by these and
    lags, in metrics learnt from errors (Weinberger, Tesauro, AISTATS 2007). BOA mixes them and it.

    *Equal codes.* So do those of rows of equal whole numbers, categories or dates, of two at a time
    and by a table, as of holidays, where that has surely helped; `summary` names them. From row 128
    on so does, but for "fast" and "tiny", what a ridge regression makes of the logarithms of
    targets (Box, Cox 1964), which experts learn as well.

    *Trees.* With `trees`, a batch model fitted to the rows so far, the latest targets among their
    columns, forecasts from round 31 on. A second one is fitted to the errors of the progressive
    forecasts :math:`b_t` of the kernels' mixture, which is one of its columns; it leaves out the
    first 30 rows, whose errors are large and say nothing, and corrects :math:`b_t` from round 61
    on. BOA over the three forecasts, those of trees clipped as the mixture is, ends the round;
    until they speak, trees sleep. They come last in ``experts_``, with their weights in this BOA,
    while the others share that of the mixture; ``n_rounds`` counts what they forecast.

    They are fitted on the schedule of :class:`RefitRegressor`, in the call in which a fit is due:
    all fits cost :math:`1 + 1 / 0.05`, or 21, times the last two where time is linear in rows. With
    True and ``"lightgbm"`` a fit also waits until all together cost at most 1.4 times what the
    experts do, but no longer than the past takes to double: counted in rows, columns, trees and
    leaves, by no clock, so that forecasts are the same on any machine. Below 2000 rows they have 60
    trees of 16 leaves, then 100 of 31. A ``RefitRegressor()`` as `trees` waits for nothing. What is
    made of targets is in their unit, as the fence left them, and in single precision, so that
    rounding does not choose between splits that are equally good. After a new level or unit the
    trees' past counts on in the new one, as does what kernels know; where the first targets are
    learnt again, it starts anew with them. A ``random_state`` of None is the model's, drawn once.
    Where the estimator takes no gaps in X, means of its past fill them.

    *Weights.* ``sample_weight`` multiplies a row in the updates of the experts, in the losses of
    the mixture and of ``experts_``, and in the fits of `trees`, whose `fit` must take it. What
    counts rows counts each as one: lags, moments and units, the fence, births and waiting times,
    late labels, the means of categories, and forgetting, as the past fades with every row. So a row
    of weight 0 is forecast, is among the rounds and the latest targets, and teaches nothing else.
    An integer weight is not that many equal rows, which the lags would see. Intervals are to hold
    in a share of all rows: errors weigh in their running size; past scores leave out weights of 0.

    *Targets with a range.* What `target_range` moves is what is answered: to the nearest number in
    the range, so that no round loses more, and no interval holds fewer targets.

    *Missing targets.* A row whose target is NaN, or one of `missing_values`, is forecast and not
    learnt: it is no round, for `label_delay` either.

    *Theorem.* BOA's: with :math:`r_{k,t}` the difference of the losses, the regret against expert k
    is of the order of :math:`\sqrt{\ln K \sum_t r_{k,t}^2}` [1]_, and twice that for two levels,
    so the whole is never much worse than its best part. The chain adds one more of
    :math:`\sqrt{\ln 7 \sum_t r_{k,t}^2}` over its seven sums, similar rows one with :math:`\ln 5`,
    equal codes and `trees` one with :math:`\ln 3`; of refitted models and logarithms none is known.

    *Intervals, quantiles, distributions* are of one law for each row, by adaptive conformal
    inference [2]_ on the progressive errors; see `predict_distribution`.

    *Spread by rows.* With ``spread="rows"`` four kernels of their own, on what the experts see, on
    the forecast and on how the latest errors compare with earlier ones, learn the logarithm of the
    size of an error over the running size; their means under likelihoods that fade, and 0, say what
    a row tells. Four laws make the quantiles: those of the sizes of the latest 500 errors over
    running sizes, those of the errors over the sizes of their rows, to both sides alike and each by
    itself, and the last by the latest 125 alone. They are mixed by weights exponential in the CRPS,
    of rates as BOA has, of which a little goes to all laws evenly, as `FixedShareRegressor` has it;
    so the law may lean to one side, and its median is not the forecast. Conformal tracking goes on
    on top, with a step of 0.02 in place of 0.05: the level of an interval moves, and a fourth as
    fast that of the median it is around.

    *Densities.* With ``spread="rows"`` the density of a target is a mixture of ten: a Gaussian, two
    of Student's laws of 3 and 6 degrees of freedom, and two of kernels around the latest 500
    errors, each in the running size and in that of the row. Soft-Bayes, as `aggregators` have it,
    weighs them by their likelihood, every eighth row, none below a thousandth. What is out of
    `target_range` stands at its ends.

    References
    ----------
    .. [1] Wintenberger 2017.
    .. [2] Gibbs & Candès 2021, eq. (2), Proposition 4.1.
    .. [3] Raftery et al. 2010.
    .. [4] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, "Mechanism for feature learning in
       neural networks and backpropagation-free machine learning models", Science 383, 2024, of
       whose average gradient outer product these are the diagonal.
    .. [5] D. Micci-Barreca, "A preprocessing scheme for high-cardinality categorical attributes in
       classification and prediction problems", SIGKDD Explorations 3(1), 2001.
    .. [6] A. Beygelzimer, E. Hazan, S. Kale, H. Luo, "Online gradient boosting", NIPS 28, 2015.
    .. [7] L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and Regression Trees",
       1984.
    .. [8] Y. Lou, R. Caruana, J. Gehrke, G. Hooker, "Accurate intelligible models with pairwise
       interactions", Knowledge Discovery and Data Mining (KDD), 2013.

    Examples
    --------
    >>> from sklearn_okl import OnlineKernelRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = OnlineKernelRegressor(budget="fast", random_state=0)
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> model.predict(X[:2]).shape, model.predict_interval(X[:2], coverage=0.8).shape
    ((2,), (2, 2))
    >>> model.predict_interval(X[:2], coverage=[0.5, 0.8, 0.95]).shape
    (2, 3, 2)
    >>> print(model.summary())
    After 300 rows of 4 inputs ...

    Two targets at once:

    >>> import numpy as np
    >>> model = OnlineKernelRegressor(budget="fast", random_state=0)
    >>> model.fit(X, np.column_stack([y, X[:, 0] * y])).predict(X[:3]).shape
    (3, 2)

    Tomorrow's 24 hours, which are due at midnight:

    >>> from sklearn_okl.datasets import make_day_ahead
    >>> X, y = make_day_ahead(24 * 11, random_state=0)
    >>> model = OnlineKernelRegressor(budget="fast", label_delay=23, random_state=0)
    >>> model.fit(X[:-24], y[:-24]).predict(X[-24:], ahead=True).shape
    (24,)
    """

    _multi_output = True
    _allow_nan_targets = True
    _parameter_constraints = {
        **DefaultModel._parameter_constraints,
        "trees": ["boolean", StrOptions({"lightgbm"}), HasMethods(["fit", "predict"])],
        "guard": ["boolean"],
        "target_range": [tuple, list, np.ndarray, None],
        "spread": [StrOptions({"running", "rows"})],
    }
    _structural = ("guard", "spread")
    _of_trees, _guard = NumberTrees, Guard

    def __init__(
        self,
        *,
        budget: Budget = "balanced",
        forgetting: float | None = None,
        lags: int = 4,
        trees: Any = False,
        guard: bool = True,
        target_range: Any = None,
        spread: Literal["running", "rows"] = "running",
        label_delay: int = 0,
        categorical_features: Any = "from_dtype",
        missing_values: Any = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            budget=budget,
            forgetting=forgetting,
            lags=lags,
            label_delay=label_delay,
            trees=trees,
            categorical_features=categorical_features,
            missing_values=missing_values,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.guard = guard
        self.target_range = target_range
        self.spread = spread

    @property
    def _guarded(self):
        return self.guard

    @property
    def _record(self):
        return RECORDS[self.spread]

    @property
    def _n_outputs(self):
        return self._n_targets or 1

    @property
    def n_faulty_(self) -> int:
        """Targets that were too far from their forecasts to be learnt as they were."""
        guards = self._fitted_state("n_faulty_")["targets"]
        counts = np.array([guard["n_faulty"] for guard in guards])
        return int(counts[0]) if self._n_targets is None else counts

    @property
    def faulty_rows_(self) -> Array:
        """Rows of the latest call with a target that was not learnt as it came."""
        return self._fitted_state("faulty_rows_")["doubted"].copy()

    @overload
    def predict(
        self, X: ArrayLike, return_std: Literal[False] = False, *, ahead: bool = False
    ) -> Array: ...

    @overload
    def predict(
        self, X: ArrayLike, return_std: Literal[True], *, ahead: bool = False
    ) -> tuple[Array, Array]: ...

    def predict(self, X: ArrayLike, return_std: bool = False, *, ahead: bool = False) -> Any:
        """Forecast each row as if it were the next one due; changes nothing.

        After row s that is row s + 1 + `label_delay`. With `lags` any other row gets the forecast
        of a row whose latest targets are those known now, which is wrong where they matter: days of
        24 hours forecast so with ``label_delay=0``, from a series with disturbances that last, had
        four times the error of a linear model.

        Parameters
        ----------
        return_std : bool, default=False
            Whether to return the size of the latest errors too.
        ahead : bool, default=False
            Whether the rows are s + 1, s + 2, ..., in order, at most ``label_delay + 1`` of them,
            such as the hours of tomorrow. Each is then forecast from the inputs it will be taught
            with, and by all that has been learnt.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_targets)
        y_std : ndarray of the same shape
            Only with ``return_std``: the standard deviation of Gaussian errors whose mean size is
            that of the latest fifty or so progressive errors, the same for every row.

        Raises
        ------
        ValueError
            If there are more than ``label_delay + 1`` rows with ``ahead=True``.
        """
        state, forecasts = self._foreseen(X, ahead)
        forecasts = self._within(forecasts)
        if not return_std:
            return forecasts
        likelier = self.constants.renewal.likelier(state)
        units = [target_units.unit(of) for of in likelier["targets"]]
        std = units * self._record.deviations(likelier)
        return forecasts, self._flat(np.tile(std, (len(forecasts), 1)))

    @explained_by(WeightedRegressor.predict)
    def predict_experts(self, X: ArrayLike) -> Array:
        """Forecast each row by each expert; changes nothing.

        Returns
        -------
        F : ndarray of shape (n_samples, n_experts) or (n_samples, n_experts, n_targets)
            The experts' forecasts, in the order of `experts_`, within `target_range` and not
            clipped in any other way.
        """
        state, X = self._asked(X)
        with one_blas_thread:
            experts = self._experts()
            X = experts.encoder.look(state["columns"], X)
            F = experts.forecasts(state, X, ages_of(state))
        return self._within(self._flat(target_units.unscaled(state["targets"], F)))

    @property
    def _not_explained(self):
        return ("trees, " if self.trees else "") + "shrinkage and clipping"

    def _in_units(self, state):
        known = np.array([target_units.origin_and_unit(guard) for guard in state["targets"]])
        return np.diag(known[:, 1]), known[:, 0]

    def _law(self, X, ahead):
        return law_of(self, X, ahead)

    def _laws_on_the_way(self, X, y, weights):
        is_first, self._trace = "_state" not in vars(self), []
        try:
            forecasts = self.prequential_predict(X, y, weights)
            return laws_of(self, forecasts, whole_line(self, np.array(self._trace), is_first))
        finally:
            del self._trace

    def _start_from(self, layout, n_columns, seed):
        state = super()._start_from(layout, n_columns, seed)
        return state | {"sizes": start_sizes(self, layout, n_columns, seed)}

    def _validate(self):
        super()._validate()
        self._range()

    def _learn(self, state, X, y, sample_weight=None):
        is_known = ~np.isnan(y.reshape(len(y), -1)[:, 0])
        if is_known.all():
            forecasts = super()._learn(state, X, y, sample_weight)
        else:
            forecasts = self._learn_known(state, X, y, sample_weight, is_known)
        n_faulty = [guard["n_faulty"] for guard in state["targets"]]
        if not state["has_warned"] and _faults.are_many(n_faulty, n_rows(state)):
            state["has_warned"] = True
            which = "'faulty_rows_' says which they were in this call."
            cure = "name it in 'missing_values'"
            warnings.warn(_faults.many(n_rows(state), which, cure), UserWarning, stacklevel=2)
        return forecasts if "_trace" in vars(self) else self._within(forecasts)

    def _learn_known(self, state, X, y, sample_weight, is_known):
        """Learn the rows whose targets are known, and forecast the others where they come."""
        weights = None if sample_weight is None else checked_weights(sample_weight, len(y))
        forecasts, doubted = np.zeros_like(y), []  # nothing is known before the first target
        for first, end in pairwise([0, *np.flatnonzero(np.diff(is_known)) + 1, len(y)]):
            rows = slice(first, end)
            if is_known[first]:
                w = None if weights is None else weights[rows]
                forecasts[rows] = super()._learn(state, X[rows], y[rows], w)
                doubted.append(first + state["doubted"])
            elif n_rows(state) > self.label_delay:
                forecasts[rows] = self._forecast(state, X[rows])
            if not is_known[first] and "_trace" in vars(self):
                self._trace.extend(traced(self, state, X[rows]))
        state["doubted"] = np.concatenate([np.empty(0, dtype=int), *doubted])
        return forecasts

    def _within(self, forecasts):
        """Return the nearest numbers in the range of the targets."""
        return forecasts if self.target_range is None else np.clip(forecasts, *self._range())

    def _range(self):
        return _checked_range(self.target_range)

    def _advance(self, X, y, *, restart, **arguments):
        if restart:  # by 'fit', which has nothing else to learn from
            self._validate_params()
            missing = columns.put_aside(columns.marked(y, self.missing_values))[1]
            if missing is not None and missing.all():
                raise ValueError("Input y contains NaN in every row: there is no target to learn.")
        return super()._advance(X, y, restart=restart, **arguments)

    def _validated_rows(self, X, y, restart, **validation):
        y, missing = columns.put_aside(columns.marked(y, self.missing_values))
        X, y = super()._validated_rows(X, y, restart, **validation)
        y = y if missing is None else np.where(missing.reshape(y.shape), np.nan, y)
        self._refuse_outside(y)
        return X, y

    def _row_target(self, y):
        known, missing = columns.put_aside(np.asarray(y)[None])
        y = super()._row_target(known[0])
        self._refuse_outside(y)
        return y if missing is None else np.full_like(y, np.nan)

    def _told(self, forecasts):
        return self._within(forecasts)

    def _refuse_outside(self, y):
        """Refuse targets outside of the range that they can have."""
        if self.target_range is None:
            return
        low, high = self._range()
        outside = (y < low) | (y > high)
        if outside.any():
            raise ValueError(
                f"y holds {y[outside][0]:.6g}, outside of target_range={self.target_range!r}. "
                "Widen the range, or leave such rows out."
            )


def _checked_range(target_range):
    """Return the ends of the range of targets, infinite where there is none."""
    if target_range is None:
        return -np.inf, np.inf
    ends = list(target_range)
    if len(ends) != 2 or not all(end is None or isinstance(end, Real) for end in ends):
        raise TypeError(
            f"target_range={target_range!r} must be (low, high), numbers or None, such as "
            "(0, None)."
        )
    low = -np.inf if ends[0] is None else float(ends[0])
    high = np.inf if ends[1] is None else float(ends[1])
    if not low < high:
        raise ValueError(
            f"target_range={target_range!r} is empty: give (low, high) with low < high."
        )
    return low, high
