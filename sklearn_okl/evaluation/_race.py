"""The race of candidates: pipelines that share transformers, ranked by their progressive losses."""

import copy
import time
import warnings

import numpy as np
from numpy.ma import MaskedArray
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from .._delay import delay_of, late
from .._flow import Way, active, cloned_step, copied_step, through
from .._linalg import one_blas_thread
from ..base import _copied, _same, described
from ..base._swap import _OVERFLOWED
from ..losses import get_loss
from ..pipeline import StreamingPipeline
from ._prequential import _log_loss, have_targets

_PROBA = "prequential_predict_proba"
_SAME = 1e-9  # share of a sum of losses that rounding may tell candidates apart by


class Race:
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
        # one that has left may forecast D more rows
        learning = np.union1d(inside, self.leaders[self.leaders >= 0])
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
                delayed(_learn_rows)(
                    self.finals[k], Z[self.map_of[k]], y, params, as_asked, self.params[k]
                )
                for k in learning
            )
        learnt = [
            self._until_overflow(one, Z[self.map_of[k]], y, params, as_asked)
            for k, one in zip(learning, learnt, strict=True)
        ]
        lasted = np.zeros(len(self.params), dtype=int)  # rows that each has forecast
        lasted[learning] = [len(forecasts) for _, forecasts, *_ in learnt]
        whole = np.flatnonzero(lasted[learning] == len(y))
        if not (self.racing & (lasted == len(y))).any():
            raise next(error for *_, error in learnt if error is not None)
        classes = getattr(learnt[whole[0]][0], "classes_", None)
        F = [_filled(forecasts, learnt[whole[0]][1]) for _, forecasts, *_ in learnt]
        F = np.stack(F, axis=1)  # (n, learning[, targets])
        told = classes[F.argmax(axis=2)] if as_asked == _PROBA else F  # the likeliest labels
        losses = self._losses(F, told, y, classes)
        ranking = np.ones(len(F)) if weights["ranking"] is None else weights["ranking"]
        known = have_targets(np.asarray(y))
        losses, ranking = np.where(known[:, None], losses, 0.0), np.where(known, ranking, 0.0)
        leaders = self._leaders(losses[:, self.racing[learning]], ranking, lasted)
        for k, (final, _, seconds, _) in zip(learning, learnt, strict=True):
            self.finals[k] = final
            self.times[k] += seconds
        self._let_go(learning[lasted[learning] < len(y)])
        shown = F if method == _PROBA else told
        return shown[np.arange(len(F)), np.searchsorted(learning, leaders)]

    def _until_overflow(self, learnt, Z, y, params, method):
        """Return what one has learnt; if its numbers overflowed, of the rows before it happened."""
        final, forecasts, seconds, error = learnt
        if error is None:
            return learnt
        start, low, size, parts = time.perf_counter(), 0, len(y), []
        while size > 1 and not self.depends_on_the_cut():
            rows = slice(low, low + size // 2)
            part = dict(params)
            if "sample_weight" in params:
                part["sample_weight"] = params["sample_weight"][rows]
            final, forecasts, _, failed = _learn_rows(
                final, _safe_indexing(Z, rows), y[rows], part, method, {}
            )
            if failed is None:
                parts.append(forecasts)
                low, size = rows.stop, size - size // 2
            else:
                size //= 2
        seconds += time.perf_counter() - start
        parts = [part for part in parts if len(part)]
        return final, np.concatenate(parts) if parts else forecasts[:0], seconds, error

    def _losses(self, F, told, y, classes):
        """Return the losses (n, learning) of forecasts."""
        if self.loss == "log_loss":
            places = np.searchsorted(classes, y)
            return np.stack([_log_loss(places, P) for P in F.swapaxes(0, 1)], axis=1)
        return _losses(self.loss, np.asarray(y).reshape(len(F), 1, *told.shape[2:]), told)

    def _leaders(self, losses, weights, lasted):
        """Count the losses (n, racing) of some rows; return who led before each of them (n,).

        Of the rows that each has forecast, `lasted`, those stay, in place, whose losses are finite.
        """
        inside, rows = np.flatnonzero(self.racing), np.arange(len(losses))
        losses = np.where(rows[:, None] < lasted[inside], losses, np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            losses *= weights[:, None]
            sums = np.cumsum(np.vstack([self.sums[inside], losses]), axis=0)
            totals = np.cumsum(np.append(0.0, weights))
        sums = np.where(np.isfinite(sums), sums, np.inf)
        lasted[inside] = counts = np.isfinite(sums).sum(axis=0) - 1
        if not (counts == len(losses)).any():
            raise ValueError(_OVERFLOWED)
        leaders, past = late(inside[_ranks(sums[:-1]).argmin(axis=1)], self.leaders)
        gone = (leaders < 0) | (lasted[leaders] <= rows)
        there = np.where(rows[:, None] < counts, sums[:-1], np.inf)
        self.leaders = np.where(lasted[past] < len(losses), -1, past)  # -1: gone
        self.sums[inside] = sums[counts, np.arange(len(inside))]
        self.weights[inside] += totals[counts]
        self.rounds[inside] += counts
        self.t += len(losses)
        return np.where(gone, inside[_ranks(there).argmin(axis=1)], leaders)

    def _let_go(self, who):
        """Take candidates out of the race whose numbers overflowed, and say so."""
        for k in who:
            self.finals[k] = clone(self.finals[k])  # one with such numbers could not be read back
            if self.racing[k]:
                warnings.warn(
                    f"Numbers of the candidate {self.params[k]} overflowed after "
                    f"{self.rounds[k]} rows that it has forecast: it leaves the race. Leave it "
                    "out, or scale the features and the targets.",
                    stacklevel=2,
                )
        self.racing[who] = False

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
        kept = inside[np.argsort(_ranks(self.sums[inside]), kind="stable")]
        self.racing[kept[int(np.ceil(len(inside) / factor)) :]] = False

    def is_sound(self):
        """Tell whether there is one of everything for each candidate, and one that races."""
        n = len(self.models)
        lists = self.params, self.finals, self.map_of
        arrays = self.racing, self.sums, self.weights, self.rounds, self.times
        return bool(
            all(len(part) == n for part in lists)
            and all(map(_is_estimator, [*self.models, *self.finals, *self._steps()]))
            and all(np.shape(part) == (n,) for part in arrays)
            and set(self.map_of) <= set(range(len(self.maps)))
            and len(self.maps) == len(self.pasts)
            and np.isin(self.leaders, np.arange(-1, n)).all()
            and self.racing.dtype == bool
            and self.racing.any()
            and all(part.dtype == np.float64 for part in (self.sums, self.weights, self.times))
            and self.rounds.dtype.kind == "i"
            and np.isfinite([*self.sums, *self.weights]).all()
        )

    def names(self):
        """Return the names of the transformers that candidates share."""
        return [[name for name, _ in steps] for steps in self.maps]

    def _steps(self):
        return [step for steps in self.maps for _, step in active(steps)]

    def leader(self):
        """Return the index of the best candidate in the race."""
        return int(_ranks(np.where(self.racing, self.sums, np.inf)).argmin())

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
        by_loss = _ranks(losses)
        # those that left rank behind those that stay, by the rows they lasted
        order = np.lexsort((by_loss, -self.rounds))
        ranks = np.empty(len(order), dtype=int)
        keys = np.stack([-self.rounds, by_loss], axis=1)[order]
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


def _is_estimator(one):
    return hasattr(one, "get_params") and not isinstance(one, type)


def _shares_maps(model):
    """Tell whether a candidate's transformers are shared with others that have the same."""
    return isinstance(model, StreamingPipeline) and not model.warmup


def _fresh(point):
    """Return a point of a grid whose estimators are fresh."""
    return {name: clone(value, safe=False) for name, value in point.items()}


def _map_rows(steps, pasts, X, y, way):
    rows = through(steps, pasts, X, y, way)
    return steps, pasts, rows


def _learn_rows(final, Z, y, params, method, point):
    """Return a last step that has learnt rows, its forecasts, the seconds, and no error.

    Where its numbers overflow: the step as it was, no forecasts, the seconds, and that error.
    """
    start, error = time.perf_counter(), None
    try:
        forecasts = getattr(final, method)(Z, y, **params)
    except Exception as fault:
        if not (isinstance(fault, ValueError) and _OVERFLOWED in str(fault)):
            fault.add_note(f"The candidate of the search with the parameters {point}.")
            raise
        forecasts, error = np.empty((0, *np.shape(y)[1:])), fault
    return final, forecasts, time.perf_counter() - start, error


def _filled(forecasts, others):
    """Return forecasts, and those of others, which count for nothing, after the last of them."""
    if not len(forecasts):
        return others
    return np.concatenate([forecasts, others[len(forecasts) :]])


def _ranks(sums):
    """Return ranks from 0 on (..., K) of sums, equal where rounding alone tells these apart.

    Rounding depends on how rows are cut into calls, and who leads must not.
    """
    order = np.argsort(sums, axis=-1, kind="stable")
    ordered = np.take_along_axis(sums, order, axis=-1)
    is_next = ordered[..., 1:] > ordered[..., :-1] + _SAME * np.abs(ordered[..., :-1])
    ranks = np.zeros(sums.shape, dtype=int)
    np.put_along_axis(ranks, order[..., 1:], np.cumsum(is_next, axis=-1), axis=-1)
    return ranks


def _losses(name, y, F):
    """Return the losses (n, candidates), of several targets their mean."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused
        losses = (y != F).astype(np.float64) if name == "zero_one" else get_loss(name).value(y, F)
    return losses.reshape(*F.shape[:2], -1).mean(axis=-1)
