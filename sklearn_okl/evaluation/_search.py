"""A sweep in one pass: all candidates learn the stream, the progressive loss ranks them."""

from __future__ import annotations

import copy
import time
from numbers import Integral, Real

import numpy as np
from numpy.ma import MaskedArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from .._delay import delay_of, late
from .._delegating import DelegatingVerbs
from .._flow import Way, cloned_step, copied_step, through
from .._linalg import one_blas_thread
from .._types import Any, Array, Seed
from .._validation import (
    check_columns,
    container_of,
    metadata_are_routed,
    refuse_second_writer,
    routed,
    targets_of,
    weights_of,
)
from ..base import _copied, _same, described, twin
from ..losses import get_loss
from ..pipeline import StreamingPipeline
from ._prequential import _log_loss, _progress

_PROBA = "prequential_predict_proba"
_CHUNK = 2048  # rows that the race learns together: the step of the progress, and of the memory


class PrequentialSearch(DelegatingVerbs, MetaEstimatorMixin, BaseEstimator):
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
    loss : {"squared_error", "absolute_error", "zero_one", "log_loss"}, default=None
        What ranks the candidates. None is the square loss for regressors and the rate of mistakes,
        ``"zero_one"``, for classifiers; ``"log_loss"`` is for those with probabilities.
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
        The candidate with the smallest loss among those in the race.
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
    n_features_in_ : int
        Number of features.

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

    A tie goes to the earlier candidate.

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
    .. [1] A. P. Dawid, "Present position and potential developments: some personal views:
       statistical theory: the prequential approach", Journal of the Royal Statistical Society A
       147(2), 1984.

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
        "loss": [StrOptions({"squared_error", "absolute_error", "zero_one", "log_loss"}), None],
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
        loss: str | None = None,
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

    def __sklearn_is_fitted__(self):
        return "_race" in vars(self)

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
        return self._running("best_index_").leader()

    @property
    def best_params_(self) -> Any:
        """Parameters of the best candidate."""
        return dict(self._running("best_params_").params[self.best_index_])

    @property
    def best_loss_(self) -> float:
        """Mean progressive loss of the best candidate."""
        return float(self._running("best_loss_").mean_losses()[self.best_index_])

    @property
    def best_estimator_(self) -> Any:
        """A copy of the best candidate."""
        race = self._running("best_estimator_")
        return copy.deepcopy(race.candidate(race.leader()))

    @property
    def results_(self) -> dict[str, Any]:
        """A table for pandas, a row for each candidate."""
        return self._running("results_").table()

    @property
    def classes_(self) -> Array:
        """The classes, for classifiers."""
        return self._running("classes_").candidate(self.best_index_).classes_

    @property
    def n_samples_seen_(self) -> Any:
        """Rows learnt so far."""
        return self._running("n_samples_seen_").t

    def _running(self, name):
        if not self.__sklearn_is_fitted__():
            raise AttributeError(
                f"PrequentialSearch has no attribute {name!r} before it has seen a row. Call "
                "'fit' or 'partial_fit' first."
            )
        return self._race

    def get_metadata_routing(self) -> Any:
        """Say where metadata go: to the candidates, and into the loss that ranks them.

        Returns
        -------
        routing : MetadataRouter
            What scikit-learn's meta-estimators ask for; see its guide on metadata routing.
        """
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
        race = self._race  # read once: another thread may install a new one
        return race.candidate(race.leader()), X

    def _structure(self):
        return described([self.estimator, self.param_grid, self.n_iter, self.loss])

    def _check_structure(self):
        if not _same(self._structure(), self._structure_at_start):
            raise ValueError(
                "estimator, param_grid, n_iter and loss of a PrequentialSearch cannot change in "
                "mid-stream. Call 'fit' to start afresh, or set the old values again."
            )

    def _advance(self, X, y, method, params, restart):
        self._validate_params()
        if self.loss == "log_loss" and not hasattr(self.estimator, "prequential_predict_proba"):
            raise TypeError(
                "loss='log_loss' ranks by probabilities, and the estimator has no "
                "'prequential_predict_proba'. Give one that has it, or loss='zero_one'."
            )
        former = vars(self).get("_race")
        restart = restart or former is None
        X, y = container_of(X), targets_of(self, y)
        check_consistent_length(X, y)
        if is_regressor(self.estimator):
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        learns = "fit" if method == "fit" else "partial_fit"
        weights, params = self._weights(learns, params, len(y))
        model = twin(self)  # the checks write on it; a rejected batch must not
        check_columns(model, X, reset=restart)
        if restart:
            model._structure_at_start = self._structure()
            race = _Race(self.estimator, self._candidates(), self._loss())
            race.check_first_rows(len(y))
            if is_classifier(self.estimator) and "classes" not in params:
                params = params | {"classes": np.unique(y)}  # the first rows may not show them
        else:
            self._check_structure()
            race = former.copied()
        race.columns = {
            name: vars(model)[name]
            for name in ("n_features_in_", "feature_names_in_")
            if name in vars(model)
        }
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
        model._race = race
        refuse_second_writer(self, former is vars(self).get("_race"))
        self.__dict__ = vars(model)  # the one assignment
        return np.concatenate(forecasts)

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


class _Race:
    """The candidates: pipelines that share transformers, their losses, and who is still in."""

    def __init__(self, estimator, params, loss):
        if not params:
            raise ValueError("param_grid holds no candidate: give at least one value a parameter.")
        self.params, self.loss, self.t = params, loss, 0
        self.delay = delay_of(estimator)
        models = [clone(estimator).set_params(**_fresh(point)) for point in params]
        if any(delay_of(model) != self.delay for model in models):
            raise ValueError(
                f"The estimator has label_delay={self.delay}, and candidates have another one. How "
                "late labels come is not to be chosen: losses under different delays say nothing "
                "about the candidates. Set label_delay in the estimator, not in param_grid."
            )
        self.maps = []  # the transformers (name, step) before the last step, shared
        self.pasts = []  # what `through` keeps of them
        self.map_of = []  # which of them a candidate uses
        self.finals = []  # the last step of each candidate
        keys = []
        for model in models:
            if isinstance(model, StreamingPipeline):
                model._validate()
            steps = model.steps if _shares_maps(model) else [("", model)]
            key = described([steps[:-1], getattr(model, "update", "row")])
            places = [i for i, other in enumerate(keys) if _same(key, other)]
            if not places:
                keys.append(key)
                self.maps.append([(name, cloned_step(step)) for name, step in steps[:-1]])
                self.pasts.append({})
            self.map_of.append(places[0] if places else len(keys) - 1)
            self.finals.append(clone(steps[-1][1]))
        self.models = models
        self.columns = {}  # their number and names, as attributes
        self.sums = np.zeros(len(params))
        self.weights = np.zeros(len(params))  # of the losses in the sums
        self.rounds = np.zeros(len(params), dtype=int)
        self.times = np.zeros(len(params))
        self.racing = np.ones(len(params), dtype=bool)
        self.leaders = np.zeros(self.delay, dtype=int)  # who led before each of the latest rows

    def copied(self):
        """Return a race that can go on without changing this one."""
        race = copy.copy(self)
        race.maps = [[(name, copied_step(step)) for name, step in steps] for steps in self.maps]
        race.pasts = [dict(past) for past in self.pasts]
        race.finals = [_copied(final) for final in self.finals]
        for name in ("sums", "weights", "rounds", "times", "racing"):
            setattr(race, name, getattr(self, name).copy())
        return race

    def check_first_rows(self, n_rows):
        """Refuse pipelines that would fit a step on one row."""
        for model in self.models:
            if _shares_maps(model):
                model._check_first_rows(n_rows)

    def run(self, X, y, weights, params, method, n_jobs):
        """Let the candidates in the race learn rows; return the leaders' forecasts.

        They are probabilities where the method is that which gives them.
        """
        inside = np.flatnonzero(self.racing)
        learning = np.union1d(inside, self.leaders)  # one that has left may forecast D more rows
        used = sorted({self.map_of[k] for k in learning})
        starts = self.t == 0
        if weights["learning"] is not None:
            params = params | {"sample_weight": weights["learning"]}
        as_asked = _PROBA if method == _PROBA or self.loss == "log_loss" else "prequential_predict"
        # the limit for all jobs that are threads: one of them alone would give it back too early
        with one_blas_thread, Parallel(n_jobs) as pool:
            mapped = pool(
                delayed(_map_rows)(self.maps[i], self.pasts[i], X, y, self._way(i, starts))
                for i in used
            )
            Z = {}
            for i, (steps, pasts, rows) in zip(used, mapped, strict=True):
                self.maps[i], self.pasts[i], Z[i] = steps, pasts, rows
            learnt = pool(
                delayed(_learn_rows)(self.finals[k], Z[self.map_of[k]], y, params, as_asked)
                for k in learning
            )
        F = np.stack([forecasts for _, forecasts, _ in learnt], axis=1)  # (n, learning[, targets])
        told = F
        if as_asked == _PROBA:  # the labels told are the likeliest
            classes = learnt[0][0].classes_
            told = classes[F.argmax(axis=2)]
        if self.loss == "log_loss":
            places = np.searchsorted(classes, y)
            losses = np.stack([_log_loss(places, P) for P in F.swapaxes(0, 1)], axis=1)
        else:
            losses = _losses(self.loss, np.asarray(y).reshape(len(F), 1, *told.shape[2:]), told)
        losses = losses[:, self.racing[learning]]
        ranking = np.ones(len(F)) if weights["ranking"] is None else weights["ranking"]
        losses *= ranking[:, None]
        sums = np.cumsum(np.vstack([self.sums[inside], losses]), axis=0)
        leaders = inside[np.argmin(sums[:-1], axis=1)]  # before each row
        leaders, self.leaders = late(leaders, self.leaders)
        for k, (final, _, seconds) in zip(learning, learnt, strict=True):
            self.finals[k] = final
            self.times[k] += seconds
        self.sums[inside] = sums[-1]
        self.weights[inside] += ranking.sum()
        self.rounds[inside] += len(F)
        self.t += len(F)
        shown = F if method == _PROBA else told
        return shown[np.arange(len(F)), np.searchsorted(learning, leaders)]

    def depends_on_the_cut(self):
        """Tell whether a candidate is, or holds, a pipeline that learns batch by batch."""
        return any(
            name.rpartition("__")[2] == "update" and value == "batch"
            for model in self.models
            for name, value in model.get_params().items()
            if isinstance(value, str)
        )

    def halve(self, factor):
        """Keep one candidate in `factor`."""
        inside = np.flatnonzero(self.racing)
        kept = inside[np.argsort(self.sums[inside], kind="stable")]
        self.racing[kept[int(np.ceil(len(inside) / factor)) :]] = False

    def leader(self):
        """Return the index of the best candidate in the race."""
        return int(np.argmin(np.where(self.racing, self.sums, np.inf)))

    def candidate(self, k):
        """Return a candidate as one estimator."""
        model = self.models[k]
        if not _shares_maps(model):
            return self.finals[k]
        steps = [*self.maps[self.map_of[k]], (model.steps[-1][0], self.finals[k])]
        pipeline = copy.copy(model)._going_on_from(steps, self.pasts[self.map_of[k]], self.t)
        vars(pipeline).update(self.columns)
        return pipeline

    def mean_losses(self):
        """Return the mean progressive loss of each candidate."""
        return self.sums / np.where(self.weights > 0.0, self.weights, 1.0)

    def table(self):
        """Return the results, a dict that pandas reads."""
        losses = self.mean_losses()
        # those that left rank behind those that stay, by the rows they lasted
        order = np.lexsort((losses, -self.rounds))
        ranks = np.empty(len(order), dtype=int)
        keys = np.stack([-self.rounds, losses], axis=1)[order]
        new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
        ranks[order] = rankdata(np.cumsum(new), method="min")
        results = {"params": list(self.params)}
        for name in sorted({name for point in self.params for name in point}):
            column = MaskedArray(np.empty(len(self.params), dtype=object), mask=True)
            for k, point in enumerate(self.params):
                if name in point:
                    column[k] = point[name]
            results[f"param_{name}"] = column
        return results | {
            "mean_loss": losses,
            "rank_loss": ranks,
            "n_rounds": self.rounds.copy(),
            "learn_time": self.times.copy(),
        }

    def _way(self, i, starts):
        update = getattr(self.models[self.map_of.index(i)], "update", "row")
        return Way(update, self.delay, starts, fits=update == "batch")


def _shares_maps(model):
    """Tell whether a candidate's transformers are shared with others that have the same."""
    return isinstance(model, StreamingPipeline) and not model.warmup


def _fresh(point):
    """Return a point of a grid whose estimators are fresh."""
    return {name: clone(value, safe=False) for name, value in point.items()}


def _map_rows(steps, pasts, X, y, way):
    rows = through(steps, pasts, X, y, way)
    return steps, pasts, rows


def _learn_rows(final, Z, y, params, method):
    start = time.perf_counter()
    forecasts = getattr(final, method)(Z, y, **params)
    return final, forecasts, time.perf_counter() - start


def _losses(name, y, F):
    """Return the losses (n, candidates), of several targets their mean."""
    losses = (y != F).astype(np.float64) if name == "zero_one" else get_loss(name).value(y, F)
    return losses.reshape(*F.shape[:2], -1).mean(axis=-1)
