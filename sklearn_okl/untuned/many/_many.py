"""A row of each of many small models at once: what calls of one row do with one after the other.

Nearly every row is an ordinary one: numbers that are near what came before, of a model in no doubt,
in a round after which nothing is due. What is done with such a row is the same for all models, and
is done for all at once, on arrays with the models first: as a record, see `_fields.py`. Any other
row is left to its model.
"""

from itertools import pairwise

import numpy as np

from ...conformal import QuantileDistribution
from ...conformal import _running_errors as running
from ...features._moments import moderate
from ._banks import ManyBanks
from ._errors import ManyErrors
from ._kept import Kept, kept_of
from ._mixtures import ManyMixtures
from ._rows import ManyRows
from ._targets import ManyTargets

_NO = np.zeros(1, dtype=bool)
_AT_ONCE = 512  # more would leave the caches, and save nothing


def learn_together(known, X, y):
    """Let models learn a row each, of rows X (S, d) and targets y (S,), where that is ordinary.

    Return what is known of each model that has learnt its row, None of each that has not, and the
    forecasts (S,). What is known of a model is itself, or what is `Kept` of it.
    """
    learnt, forecasts = [None] * len(known), np.zeros(len(known))
    like, experts, X = *_shared(known), moderate(X)
    kept = _kept_of_each(known, like, experts, X, y)
    twins = {i: one.twin[0] for i, one in kept.items() if one.twin is not None}
    theirs, beside = {}, {}
    for some, many in _alike(twins, experts):
        for i, record, answer, _ in many.learn(X[some], y[some], some):
            theirs[i], beside[i] = answer, twins[i].moved(record)
    kept = {i: one for i, one in kept.items() if i in theirs or i not in twins}
    for some, many in _alike(kept, experts):
        for i, record, forecasts[i], of_both in many.learn(X[some], y[some], some, theirs):
            twin = (beside[i], of_both) if i in beside else None
            learnt[i] = kept[i].moved(record, twin).settled(experts)
    return learnt, forecasts


def forecast_together(known, X):
    """Forecast a row of X (S, d) by each of some models, of which one may have several.

    Return which rows (S,) were forecast, as all of it is ordinary, and their forecasts (S,). What
    is known of each model is as in `learn_together`.
    """
    return _forecasts_of_rows(known, X)[:2]


def distribute_together(known, X):
    """Return which rows (S,) are ordinary, as above, and the distributions of their targets."""
    there, forecasts, kept = _forecasts_of_rows(known, X)
    of_models, rows = {}, np.flatnonzero(there)
    quantiles = np.empty((len(rows), len(running.QUANTILES)))
    for k, i in enumerate(rows.tolist()):
        if id(known[i]) not in of_models:
            of_models[id(known[i])] = kept[i].offsets()
        quantiles[k] = forecasts[i] + of_models[id(known[i])]
    return there, QuantileDistribution(running.QUANTILES, quantiles)


def _forecasts_of_rows(known, X):
    """Return what `forecast_together` does, and by place what is kept of models."""
    there, forecasts = np.zeros(len(known), dtype=bool), np.zeros(len(known))
    like, experts, X = *_shared(known), moderate(X)
    of_models = {id(one): one for one in known}
    made = {
        key: one if type(one) is Kept else kept_of(one, experts, like)
        for key, one in of_models.items()
    }
    finite = np.isfinite(X).all(axis=1)
    kept = {i: made[id(one)] for i, one in enumerate(known) if finite[i] and made[id(one)]}
    heard = {
        i: one.twin[0]
        for i, one in kept.items()
        if one.twin is not None and experts.constants.trust.is_heard(_with_a_twin(one))
    }
    theirs = {i: said for i, said, is_there in _forecasts_of(heard, experts, X) if is_there}
    for i, said, is_there in _forecasts_of(kept, experts, X):
        there[i], forecasts[i] = is_there and (i in theirs or i not in heard), said
        if i in theirs:
            both = (np.full((1, 1), part) for part in (said, theirs[i]))
            mixed = experts.constants.trust.mixed(kept[i].twin[1], *both)
            forecasts[i] = mixed[0, 0]
    return there, forecasts, kept


def _shared(known):
    """Return one of which a record is kept, or None, and the experts of all."""
    like = next((one for one in known if type(one) is Kept), None)
    return like, (known[0] if like is None else like.model)._experts()


def _with_a_twin(one):
    """Return what is known of a model and its twin, as if this stood there."""
    return one.twin[1] | {"twin": True}


def _forecasts_of(kept, experts, X):
    """Yield places, the forecasts of their rows, and whether all of it is ordinary."""
    for some, many in _alike(kept, experts):
        yield from zip(some, *(part.tolist() for part in many.forecast(X[some])), strict=True)


def _kept_of_each(known, like, experts, X, y):
    """Return by place what is kept of models whose next rows may be ordinary."""
    found, finite = {}, (np.isfinite(X).all(axis=1) & np.isfinite(y)).tolist()
    for i, one in enumerate(known):
        kept = one if type(one) is Kept else kept_of(one, experts, like)
        like = like or kept
        if kept is None or not finite[i]:
            continue
        if kept.twin is None or not kept.is_due(experts, kept.t + 1):
            found[i] = kept
    return found


def _alike(kept, experts):
    """Yield places of models that are alike, and these."""
    groups = {}
    for i, one in kept.items():
        groups.setdefault(one.fields, []).append(i)
    for group in groups.values():
        for some in _pieces(group):
            yield some, ManyModels(experts, [kept[i] for i in some])


def _pieces(group):
    """Yield pieces of a group, none of which is much smaller than others."""
    n = -(-len(group) // _AT_ONCE)
    ends = [len(group) * i // n for i in range(n + 1)]
    yield from (group[low:high] for low, high in pairwise(ends))


class ManyModels:
    """Models that are alike, of each of which something is `kept`, and that learn a row each."""

    def __init__(self, experts, kept):
        self.experts, self.kept, self.first = experts, kept, kept[0].model._state
        self.fields = fields = kept[0].fields
        self.records = np.concatenate([one.record for one in kept]).reshape(-1, fields.size)
        self.parts = fields.views(self.records)
        self.t = np.array([one.t for one in kept])
        self.ages = self.t - [one.since for one in kept]
        self.n_first = np.array([one.n_first(experts.inputs.units) for one in kept])
        self.guards = [one.model._state["targets"][0] for one in kept]
        self.errors = ManyErrors(self.parts)
        self.there = self._are_there()

    def _are_there(self):
        """Return which experts (K,) there are."""
        n_experts, low = self.parts["rounds",].shape[1], self.experts.inputs.n_walks
        there = np.arange(n_experts) < low
        for bank in self.first["banks"].values():
            there[low : low + len(bank["members"])] = True
            low += len(bank["features"]["masks"])
        return there

    def learn(self, X, y, places, theirs=None):
        """Learn a row (S, d) and a target (S,) of each; yield what those know that have learnt it.

        That is, of each, its place, record, and forecast, and what is known of it and its twin, if
        `theirs` has by place what that has forecast.
        """
        F, forecasts, learnt = self._ask(X, y)
        self._teach(F)
        targets = self.targets
        answers = forecasts * targets.units + targets.guard["origin"]
        mixed, of_both = self._mixed(y, answers, places, theirs or {})
        learnt &= self._learn_targets(F, forecasts, (answers - mixed) / targets.units)
        if self.fields.is_young:
            targets.keep_rows(X)
        learnt &= np.isfinite(self.records[:, self.fields.asked].sum(axis=1) + mixed)
        for k in np.flatnonzero(learnt).tolist():
            yield places[k], self.records[k].copy(), float(mixed[k]), of_both.get(k)

    def _ask(self, X, y):
        """Return forecasts of experts (S, K) and of the whole (S,), and who has an ordinary row.

        Others are taught a target of 0: what they say then is of no use.
        """
        F, forecasts, ordinary = self._meet(X, y)
        ordinary &= self.targets.are_near(forecasts) & self.errors.have_units()
        ordinary &= ~self.rows.end_first_blocks()
        self.targets.u = np.where(ordinary, self.targets.u, 0.0)
        return F, forecasts, ordinary

    def forecast(self, X):
        """Return forecasts (S,) of a row of each, and which of these are ordinary."""
        _, forecasts, ordinary = self._meet(X, np.zeros(len(X)))
        targets = self.targets
        answers = forecasts * targets.units + targets.guard["origin"]
        return answers, ordinary & (targets.units > 0.0) & np.isfinite(answers)

    def _meet(self, X, y):
        """Return forecasts of experts (S, K) and of the whole (S,), and which rows are plain."""
        experts, of_records = self.experts, self.parts
        self.rows = ManyRows(experts.inputs, of_records, X, self.n_first)
        self.targets = ManyTargets(experts.fence, self.guards, of_records, y, self.t, self.ages)
        self.banks = ManyBanks(self.kept, of_records)
        of_mixture = self.first["mixture"], of_records, ~self.there
        self.mixtures = ManyMixtures(experts.kind.mixture, *of_mixture)
        F, scales = self._forecasts()
        forecasts = self.mixtures.ask(F, self._asleep(), scales, object())
        return F, forecasts, self.rows.are_plain() & ~self.mixtures.led

    def _teach(self, F):
        """Let inputs, experts and mixtures learn the targets."""
        u, t = self.targets.u, self.t
        self.rows.teach(u)
        self.banks.teach(u, t)
        self.mixtures.teach(u, 1.0)
        self.mixtures.write(t)
        self._learn_losses(F, u)

    def _mixed(self, y, answers, places, theirs):
        """Return forecasts (S,) with those of twins, and what is known of both, by number."""
        mixed, known, trust = answers.copy(), {}, self.experts.constants.trust
        for k, place in enumerate(places):
            if place in theirs:
                known[k] = of_both = self.kept[k].twin[1].copy()
                of_row = (np.full((1, 1), part) for part in (y[k], answers[k], theirs[place]))
                mixed[k] = trust.learn(of_both, *of_row, stuck=_NO, nones=_NO[None])[0, 0]
        return mixed, known

    def _forecasts(self):
        """Return the forecasts (S, K) of all experts, and the scales (S,) of the targets."""
        inputs, steady = self.rows.ask()
        walks, scales = self.rows.walks()
        n = walks.shape[1]
        F = np.full((len(walks), len(self.there)), np.nan)
        F[:, :n] = walks
        said = self.banks.ask(inputs, steady, self.mixtures.known_limits(), scales)
        F[:, np.flatnonzero(self.there)[n:]] = said
        return F, scales

    def _asleep(self):
        """Return who (S, K) has no say yet: those born late learn first."""
        ages = np.minimum(self.ages, self.experts.constants.burn_in)
        return (self.parts["rounds",] < ages[:, None]) | ~self.there

    def _learn_losses(self, F, u):
        parts, there = self.parts, self.there
        parts["losses",][:, 0] += np.where(there, np.square(F - u[:, None]), 0.0)
        for name in ("masses", "rounds"):
            part = parts[name,]
            part += there

    def _learn_targets(self, F, forecasts, moved):
        """Learn targets and by how much they were missed; return where (S,) all is as it was.

        Twins have `moved` forecasts so far.
        """
        parts, targets = self.parts, self.targets
        references = np.array([one.model._state["reference"][0] for one in self.kept])
        of_experts = F[:, self.experts.without_lags(self.first)]
        targets.learn(forecasts, F[np.arange(len(F)), references], of_experts)
        errors = targets.u - forecasts + moved
        if ("beside", "largest") in parts:
            largest = parts["beside", "largest"][:, 0]
            np.maximum(largest, np.abs(errors * targets.units), out=largest)
        self.errors.learn(errors)
        parts["loss",][:, 0] += errors * errors
        parts["scored",][:] += 1.0
        return targets.judge()
