"""A sweep in one pass: all candidates learn the stream, the progressive loss ranks them."""

from __future__ import annotations

import copy
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from .._delegating import DelegatingVerbs
from .._documentation import explained_by, inherit_documentation
from .._model_shapes import unlike
from .._types import Any, Array, Seed
from .._validation import (
    NAMES,
    check_columns,
    container_of,
    metadata_are_routed,
    routed,
    targets_of,
    weights_of,
)
from ..base import SwapMixin, _is_finite, _same, described
from ..losses import Loss
from ..pipeline import StreamingPipeline
from ._prequential import _progress, check_loss
from ._race import Race

_OF_LABELS = "zero_one", "log_loss", None
_CHUNK = 2048  # rows that the race learns together: the step of the progress, and of the memory


@inherit_documentation
class PrequentialSearch(DelegatingVerbs, SwapMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Search for parameters in one pass over a stream.

    Every candidate learns the stream, each forecast being made before its target is seen; the mean
    loss of these forecasts ranks the candidates. The best is ready to use, and `partial_fit` keeps
    the race going.

    Parameters
    ----------
    estimator : estimator object
        An online regressor or classifier with `prequential_predict`. It is cloned, never changed.
    param_grid : dict or list of dict
        What to try, as in :class:`sklearn.model_selection.ParameterGrid`; a kernel grid is one.
        With `n_iter`, values may also be distributions with a method `rvs`.
    n_iter : int, default=None
        Number of candidates drawn by :class:`sklearn.model_selection.ParameterSampler`. None tries
        the whole grid.
    loss : {"squared_error", "absolute_error", "zero_one", "log_loss"} or Loss, default=None
        What ranks the candidates: a name, or a loss of targets as an object. None is the square
        loss for regressors and the rate of mistakes, ``"zero_one"``, for classifiers, who have no
        loss of targets; ``"log_loss"`` is for those with probabilities. Rows whose target is
        missing, NaN, are forecast, and rank nobody.
    halving_rounds : sequence of int, default=()
        Counts of rows after which the worst candidates leave the race, e.g. ``[500, 1500]``. The
        default keeps all of them.
    factor : float, default=3
        At such a round one candidate in `factor`, rounded up, stays. As in
        :class:`sklearn.model_selection.HalvingGridSearchCV`.
    n_jobs : int, default=None
        Jobs that share the candidates, under whatever joblib backend is in force.
    random_state : int, RandomState instance or None, default=None
        Source of the candidates, with `n_iter`.
    verbose : int, default=0
        Whether to show progress in rows: a bar if ``tqdm`` is installed, else a line on stderr.

    Attributes
    ----------
    label_delay : int
        How many rounds late the labels come: the estimator's parameter of this name, or 0.
    best_index_ : int
    best_params_ : dict
        Its parameters.
    best_loss_ : float
        Its mean progressive loss.
    best_estimator_ : estimator object
        A copy of it, having learnt all rows.
    results_ : dict of (masked) arrays
        A table for pandas, a row for each candidate: ``params``, ``param_...``, ``mean_loss``,
        ``rank_loss``, ``n_rounds`` (rows that count: fewer for those that left) and ``learn_time``
        in seconds, shared maps not counted.
    classes_ : ndarray of shape (n_classes,)
        The classes, for classifiers.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : Fits each candidate once a fold, and once more.
    StreamingPipeline : Whose transformers this search shares.

    Notes
    -----
    *Cost.* That of all candidates in the race. Candidates that are a :class:`StreamingPipeline`
    with the same transformers before the last step share these: the map is computed once. A call
    of many rows is learnt 2048 rows at a time, so what the maps give never fills the memory. (A
    batch of a pipeline with ``update="batch"`` is never cut: that would change its forecasts.)

    A call that fails or is interrupted, as by Ctrl-C, leaves the search as it was before the call.

    The progressive loss of a learner is the loss of an honest forecaster, every row being a test
    before it is a lesson [1]_; no rows need be held out. The forecasts of
    `prequential_predict` are those of the leader of the moment.

    A tie goes to the earlier candidate, and losses are tied that differ by less than 1e-9 of them:
    rounding, which depends on how rows are cut into calls, tells nobody apart.

    *Overflow.* A candidate whose numbers overflow, as those of a large step size may, leaves the
    race at that row, and a UserWarning names its parameters; the table has the rows before. Where
    all of them do, the call raises the error. Other errors of a candidate bear its parameters as a
    note.

    *Weights.* A ``sample_weight`` is for learning; the losses that rank the candidates count every
    row as one. With scikit-learn's metadata routing `set_fit_request` (`set_partial_fit_request`)
    of the estimator says whether it learns with the weights, and `set_score_request` whether they
    weigh the losses too.

    *Late labels.* Where the estimator has a ``label_delay`` D, the forecast of row t is that of the
    candidate that led when the labels of the rows up to t - 1 - D were known. One that leaves the
    race may therefore have up to D more rows to forecast: it learns on until then, and this counts
    no more. All candidates have the delay of the estimator, for losses under different delays say
    nothing about the candidates.

    References
    ----------
    .. [1] Dawid 1984.

    Examples
    --------
    >>> from sklearn_okl import VAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> from sklearn_okl.evaluation import PrequentialSearch
    >>> X, y = make_ar4(500)
    >>> search = PrequentialSearch(VAWRegressor(), {"alpha": [1.0, 1e3, 1e6]}).fit(X, y)
    >>> search.best_params_
    {'alpha': 1.0}
    >>> search.predict(X[:2]).shape
    (2,)
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["partial_fit", "prequential_predict", "predict"])],
        "param_grid": [dict, list],
        "n_iter": [Interval(Integral, 1, None, closed="left"), None],
        "loss": [
            StrOptions({"squared_error", "absolute_error", "zero_one", "log_loss"}),
            Loss,
            None,
        ],
        "halving_rounds": ["array-like"],
        "factor": [Interval(Real, 1, None, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        n_iter: int | None = None,
        loss: str | Loss | None = None,
        halving_rounds: Any = (),
        factor: float = 3,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.n_iter = n_iter
        self.loss = loss
        self.halving_rounds = halving_rounds
        self.factor = factor
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        for name in ("estimator_type", "target_tags", "classifier_tags", "regressor_tags"):
            setattr(tags, name, copy.deepcopy(getattr(inner, name)))
        return tags

    @property
    def label_delay(self) -> int:
        """How many rounds late the labels of the estimator come."""
        return getattr(self.estimator, "label_delay", 0)

    @property
    def best_index_(self) -> int:
        """The candidate with the smallest loss among those in the race."""
        return self._fitted_state("best_index_").leader()

    @property
    def best_params_(self) -> Any:
        """Parameters of the best candidate."""
        return dict(self._fitted_state("best_params_").params[self.best_index_])

    @property
    def best_loss_(self) -> float:
        """Mean progressive loss of the best candidate."""
        return float(self._fitted_state("best_loss_").mean_losses()[self.best_index_])

    @property
    def best_estimator_(self) -> Any:
        """A copy of the best candidate."""
        race = self._fitted_state("best_estimator_")
        return copy.deepcopy(race.candidate(race.leader()))

    @property
    def results_(self) -> dict[str, Any]:
        """A table for pandas, a row for each candidate."""
        return self._fitted_state("results_").table()

    @property
    def classes_(self) -> Array:
        """The classes, for classifiers."""
        return self._fitted_state("classes_").candidate(self.best_index_).classes_

    @property
    def n_samples_seen_(self) -> Any:
        """Rows learnt so far."""
        return self._fitted_state("n_samples_seen_").t

    @explained_by(StreamingPipeline.get_metadata_routing)
    def get_metadata_routing(self) -> Any:
        """Say where metadata go: to the candidates, and into the loss that ranks them."""
        mapping = MethodMapping()
        asks = ("predict", "predict_proba", "predict_log_proba", "decision_function")
        for method in ("fit", "partial_fit", *asks):
            mapping.add(caller=method, callee=method)
        for method in ("fit", "partial_fit", "score"):
            mapping.add(caller=method, callee="score")
        router = MetadataRouter(owner=type(self).__name__)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def _routed(self, method, params, callee=None):
        """Return the metadata that a method of a candidate gets."""
        params = routed(self, method, params, "estimator", callee)
        if isinstance(self.estimator, StreamingPipeline):  # whose last step is taught directly
            params = self.estimator._routed(callee or method, params)
        return params

    @property
    def _inner(self):
        return self.estimator

    def _asked(self, X):
        """Return the best candidate, and the rows as they are."""
        check_is_fitted(self)
        self._check_structure()
        race = self._state  # read once: another thread may install a new one
        return race.candidate(race.leader()), X

    def _values(self):
        others = (self.halving_rounds, self.factor, self.n_jobs, self.random_state, self.verbose)
        return [*self._structure().values(), *others]

    def _structure(self):
        names = ("estimator", "param_grid", "n_iter", "loss")
        return {name: described(getattr(self, name)) for name in names}

    def _look_over(self):
        """Fail where a search, as one from a file, holds a race that none is."""
        self._validate()
        self._check_structure()
        race = self._state
        if not race.is_sound():
            raise ValueError("its race has not one of everything for each candidate")
        fresh = Race(self.estimator, race.params, race.loss)
        fault = unlike(vars(fresh), vars(race), "race")
        if fault is not None:
            raise ValueError(f"its race {fault}")
        if race.names() != fresh.names():
            raise ValueError("its race is of other steps")
        if not _same(race.columns, self._columns()):
            raise ValueError("its race is of other columns")

    def _validate(self):
        self._validate_params()
        rounds = np.asarray(self.halving_rounds)
        if rounds.ndim != 1 or (rounds.size and rounds.dtype.kind not in "iu"):
            raise ValueError(
                "halving_rounds should be whole numbers, of rows after which the worst candidates "
                f"leave, got {self.halving_rounds!r}."
            )
        if self.loss == "log_loss" and not hasattr(self.estimator, "prequential_predict_proba"):
            raise TypeError(
                "loss='log_loss' ranks by probabilities, and the estimator has no "
                "'prequential_predict_proba'. Give one that has it, or loss='zero_one'."
            )
        if isinstance(self.loss, Loss):
            check_loss(self.loss)
        if is_classifier(self.estimator) and self.loss not in _OF_LABELS:
            raise TypeError(
                f"loss={self.loss!r} is one of targets, and the candidates are classifiers. Give "
                "'zero_one' or 'log_loss'."
            )

    def _advance(self, X, y, method, params, restart):
        return self._swap(restart, X, y, method, params)

    def _learn_given(self, former, X, y, method, params):
        X, y = container_of(X), targets_of(self, y)
        check_consistent_length(X, y)
        if is_regressor(self.estimator):
            numbers = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
            y = check_array(y, ensure_2d=False, input_name="y", **numbers)
        weights, params = self._weights("fit" if method == "fit" else "partial_fit", params, len(y))
        check_columns(self, X, reset=former is None)
        if former is None:
            race = Race(self.estimator, self._candidates(), self._loss())
            race.check_first_rows(len(y))
            if is_classifier(self.estimator) and "classes" not in params:
                params = params | {"classes": np.unique(y)}  # the first rows may not show them
        else:
            race = former.copied()
        race.columns = self._columns()
        low, forecasts = 0, []
        with _progress(len(y), self.verbose) as advance:
            for high in self._ends(race, len(y)):
                rows = slice(low, high)
                part = {name: None if w is None else w[rows] for name, w in weights.items()}
                X_part = _safe_indexing(X, rows)
                forecasts.append(race.run(X_part, y[rows], part, params, method, self.n_jobs))
                if race.t in self.halving_rounds:
                    race.halve(self.factor)
                advance(high - low)
                low = high
        return race, np.concatenate(forecasts)

    def _columns(self):
        names = "n_features_in_", *NAMES
        return {name: vars(self)[name] for name in names if name in vars(self)}

    def _is_sound(self, race, forecasts=None):
        return _is_finite([forecasts, race.sums])

    def _weights(self, method, params, n):
        """Return the weights of n rows, in learning and in the loss, and the other metadata."""
        learning, ranking = self._routed(method, params), {}
        if metadata_are_routed():  # GridSearchCV too scores without them where nothing is routed
            ranking = self._routed(method, params, "score")
        given = {
            "learning": learning.pop("sample_weight", None),
            "ranking": ranking.get("sample_weight"),
        }
        weights = {
            name: None if part is None else weights_of(part, n) for name, part in given.items()
        }
        return weights, learning

    def _ends(self, race, n):
        """Return where to cut the next n rows: where candidates leave, and between chunks."""
        cuts = {stop - race.t for stop in self.halving_rounds}
        if not race.depends_on_the_cut():
            # a leader that has left forecasts no row after these
            cuts.update([cut + race.delay for cut in cuts])
            # in the stream's own count, as the learners' blocks: the last digits stay the same too
            cuts.update(range(-race.t % _CHUNK, n, _CHUNK))
        return [*sorted(cut for cut in cuts if 0 < cut < n), n]

    def _candidates(self):
        if self.n_iter is None:
            return list(ParameterGrid(self.param_grid))
        sampler = ParameterSampler(self.param_grid, self.n_iter, random_state=self.random_state)
        return list(sampler)

    def _loss(self):
        if self.loss is None:
            return "zero_one" if is_classifier(self.estimator) else "squared_error"
        return self.loss
