"""Linear models of all keys at once: a row of each key present is a round of a bank."""

from functools import partial

import numpy as np
from sklearn.base import clone

from .._flow import active, learns_from_data
from .._linalg import ROUNDING, block_innovations, inverse_spd, may_be_inverse
from .._validation import rows_of_numbers
from ..features import RunningStandardScaler
from ..learners import VAWRegressor
from ..pipeline import StreamingPipeline
from . import _scaled
from ._one_row import is_plain
from ._record import TAIL, YOUNG, Young, layout_of

_BLOCK = 32  # rows of one key in a product
_FEW = 8  # rows of a key that are learnt in rounds, however few keys there are
_TOGETHER = 16  # keys that make a round worth its calls, where each has more rows
_OF_BANK = {type(None), Young}  # what `Columns.other` holds of a key that is in one
_FAR_TOO_MUCH = 1e8  # and after this one no sums could be had from it: the key leaves at once


def bank_of(estimator):
    """Return the bank of an estimator, or None where it has none."""
    steps = [(None, estimator)]
    if type(estimator) is StreamingPipeline:
        if estimator.update != "row" or estimator.warmup:
            return None
        steps = active(estimator.steps)
    *maps, (_, final) = steps
    if type(final) is not VAWRegressor or final.forgetting != 1.0:
        return None
    has_scaler = bool(maps) and type(maps[0][1]) is RunningStandardScaler
    if has_scaler:
        if maps[0][1].forgetting != 1.0 or maps[0][1].freeze_after is not None:
            return None
        maps = maps[1:]
    if any(not hasattr(one, "transform") or learns_from_data(one) for _, one in maps):
        return None
    return KeyedBank(estimator, has_scaler, [one for _, one in maps], final)


class KeyedBank:
    """VAWs, or ridge regressions, of all keys, behind a scaler a key and maps that all share.

    Row z of a key with inverse P and coefficients theta has u = P z, forecasts theta'z, divided by
    1 + u'z where the forecaster is "vaw", and with v = u / sqrt(1 + u'z) then P <- P - v v'. The
    v of up to eight rows wait in a tail, so that P is read by each row, and written by each eighth.
    """

    GAIN_LIMIT = 1e5  # as of `VAWRegressor`: after a row that shrinks P more it is computed anew

    def __init__(self, estimator, has_scaler, maps, final):
        self.estimator, self.has_scaler, self.maps, self.final = estimator, has_scaler, maps, final
        self.may_miss_intercept = not final.fit_intercept

    def rows(self, X):
        """Return rows as finite numbers; refuse what the estimator alone would refuse."""
        if is_plain(X, 2):
            return np.ascontiguousarray(X)
        return rows_of_numbers(self.estimator, X)

    def learn(self, state, call):
        """Learn the rows of a call, but for those of keys that have left for good."""
        if state["bank"] is None:
            state["bank"] = self._started(call.X)
        layout, known = self.layout(state["bank"]), call.known
        counts = np.diff(call.starts)
        mine = _in_bank(known)
        left = np.zeros(len(counts), dtype=bool)
        most = max(_FEW, np.sort(counts)[-_TOGETHER] if len(counts) >= _TOGETHER else 0)
        few = np.flatnonzero(mine & (counts <= most))
        few = few[np.argsort(-counts[few], kind="stable")]
        size = layout.at_once
        for low in range(0, len(few), size):
            self._learn_few(state["bank"], layout, call, few[low : low + size], left)
        for life in np.flatnonzero(mine & (counts > most)).tolist():
            left[life] = not self._learn_many(state["bank"], layout, call, life)
        call.done[mine & ~left] = counts[mine & ~left]
        for life in np.flatnonzero(left).tolist():  # its rows of this call are learnt once more
            entry = call.entry(life)
            model = entry and self.model(entry, state["bank"])
            known.inverse[life], known.rest[life], known.other[life] = None, None, model

    def forecast(self, state, known, X, order, starts, answers):
        """Write the forecasts of the rows of keys in the bank; return which these are."""
        mine = _in_bank(known) & (known.n_rows > 0)
        places = np.repeat(np.arange(len(mine)), np.diff(starts))
        rows = np.flatnonzero(mine[places])
        layout = mine.any() and self.layout(state["bank"])
        size = layout.at_once if layout else 1
        for low in range(0, len(rows), size):
            some = rows[low : low + size]
            lives = places[some]
            P, rest = layout.gathered(known.inverse[lives].tolist(), known.rest[lives].tolist())
            part = layout.split(rest)
            Z = X[order[some]]
            if self.has_scaler:
                Z = _scaled.scaled(part.moments, known.n_rows[lives], Z)
            Z = self._design(state["bank"], Z)
            u = _times(P, part.tail, Z)
            leverages = np.maximum(np.einsum("ij,ij->i", Z, u), 0.0)
            answers[order[some]] = self._forecasts(part.theta, Z, leverages)
        return mine

    def model(self, entry, shared):
        """Return an estimator that has learnt what a record has."""
        layout, final = self.layout(shared), clone(self.final)
        P, rest = layout.records([entry.model])
        part = layout.split(rest)
        P = P[0] - part.tail[0].T @ part.tail[0]
        if entry.model.rows is None:
            A = inverse_spd(P, np.finfo(float).eps * P.diagonal().max())
        else:
            A = layout.sums(entry.model.rows)
        theta, alpha = part.theta[0].copy(), float(final.alpha)
        final._built_with = final._checked_parameters(True)
        final.n_features_in_, final._n_targets = shared["width"], None
        final._state = {
            "t": entry.n_rows,
            "alpha": np.array(alpha),
            "A": A,
            "b": A @ theta,
            "P": P,
            "theta": theta,
            "squares": np.array(part.scalars[0, 0]),
            "mass": float(part.scalars[0, 1]),
        }
        final._close(final._state)
        if type(self.estimator) is not StreamingPipeline:
            return final
        fitted = [*shared["maps"], final]
        if self.has_scaler:
            scaler = clone(self.estimator.steps[0][1])
            scaler._built_with = scaler._checked_parameters(True)
            scaler.n_features_in_ = shared["n_features"]
            scaler._state = _scaled.state_of(part.moments[0], entry.n_rows, entry.first)
            fitted.insert(0, scaler)
        pipeline, fitted = clone(self.estimator), iter(fitted)
        names = {name for name, _ in active(pipeline.steps)}
        steps = [(n, next(fitted) if n in names else step) for n, step in pipeline.steps]
        pipeline._going_on_from(steps, dict.fromkeys(names), entry.n_rows)
        pipeline.n_features_in_ = shared["n_features"]
        return pipeline

    def fits(self, entry, shared):
        """Tell whether the numbers of a record from a file are as many as they are to be."""
        layout, (inverse, rest, rows) = self.layout(shared), entry.model
        young = self.has_scaler and entry.n_rows < _scaled.N_FIRST
        return (
            inverse is not None
            and rest is not None
            and inverse.size == layout.width**2
            and rest.size == layout.size
            and 0 <= rest[layout.width + 2] <= TAIL
            and entry.n_rows > 0
            and _size(rows) == (entry.n_rows * layout.width if entry.n_rows < YOUNG else None)
            and _size(entry.first) == (entry.n_rows * layout.n_scaled if young else None)
        )

    def is_sound(self, entries, shared):
        """Tell whether the inverses of records may be some, rows in their tails included."""
        layout = self.layout(shared)
        size = layout.at_once
        for low in range(0, len(entries), size):
            P, rest = layout.records([one.model for one in entries[low : low + size]])
            part = layout.split(rest)
            if (part.scalars < 0.0).any() or not may_be_inverse(P):
                return False
            taken = np.square(part.tail).sum(axis=1)
            if (taken > (1.0 + ROUNDING) * np.diagonal(P, axis1=1, axis2=2)).any():
                return False
        return True

    def shaped(self, entry, shared):
        """Return an entry from a file with its rows as rows."""
        layout, record = self.layout(shared), entry.model
        rows = None if record.rows is None else record.rows.reshape(-1, layout.width)
        first = None if entry.first is None else entry.first.reshape(-1, layout.n_scaled)
        return entry._replace(model=record._replace(rows=rows), first=first)

    def _started(self, X):
        """Return what all records share: maps that know how wide rows are."""
        fitted, rows = [], X[:1]
        for one in self.maps:
            fitted.append(clone(one).fit(rows))
            rows = np.asarray(fitted[-1].transform(rows))
        return {"maps": fitted, "n_features": X.shape[1], "width": rows.shape[1]}

    def layout(self, shared):
        """Return where what stands in a record."""
        n_scaled = shared["n_features"] if self.has_scaler else 0
        width = shared["width"] + bool(self.final.fit_intercept)
        return layout_of(width, n_scaled, float(self.final.alpha))

    def _design(self, shared, Z):
        """Return scaled rows as the last step sees them."""
        for one in shared["maps"]:
            Z = np.asarray(one.transform(Z))
        return self.final._design(Z)

    def _forecasts(self, theta, Z, leverages):
        return self.answer(np.einsum("ij,ij->i", Z, theta), leverages)

    def answer(self, known, leverages):
        """Return the forecasts of rows that theta'z and z'P z are known of."""
        return known / (1.0 + leverages) if self.final.forecaster == "vaw" else known

    def _learn_few(self, shared, layout, call, lives, left):
        """Learn the few rows of each of some keys: the i-th row of all of them is a round."""
        known, n = call.known, call.known.n_rows[lives]
        inverses, rests = (part[lives].tolist() for part in (known.inverse, known.rest))
        P, rest = layout.gathered(inverses, rests)
        part, young = layout.split(rest), np.flatnonzero(n < YOUNG).tolist()
        others = {k: known.other[lives[k]] for k in young}
        kept = {k: layout.rows(other) for k, other in others.items()}
        first = {k: other and other.first for k, other in others.items()}
        starts, counts = call.starts[lives], np.diff(call.starts)[lives]
        extreme, written = np.zeros(len(lives), dtype=bool), set()
        weights = call.params.get("sample_weight")
        rounds = np.searchsorted(-counts, -np.arange(counts[0]), side="left").tolist()  # their keys
        order = call.order[np.concatenate([starts[:m] + i for i, m in enumerate(rounds)])]
        design = self._designs(shared, part.moments, n, call.X[order], first, rounds)
        for m in rounds:
            rows, order = order[:m], order[m:]
            Z, design = design[:m], design[m:]
            full = np.flatnonzero(part.scalars[:m, 2] == TAIL)
            if len(full):
                layout.commit(P, part, full)
                written.update(full.tolist())
            w = None if weights is None else weights[rows]
            forecasts, gains = self._round(P[:m], layout.split(rest[:m]), Z, call.y[rows], w)
            if call.answers is not None:
                call.answers[rows] = forecasts
            n[:m] += 1
            beyond = ~(gains <= self.GAIN_LIMIT)
            for k in young:
                if k >= m or n[k] > YOUNG:
                    continue
                z = Z[k : k + 1] if w is None else np.sqrt(w[k]) * Z[k : k + 1]
                kept[k] = np.concatenate([kept[k], z])
                if n[k] == YOUNG or (beyond[k] and gains[k] <= _FAR_TOO_MUCH):
                    layout.rebuild(P, part, k, kept[k])
                    written.add(k)
                    beyond[k] = False
            extreme[:m] |= beyond
        left[lives] = extreme
        if not np.isfinite((rest[~extreme] if extreme.any() else rest).sum()):
            raise OverflowError
        for k in written:
            inverses[k] = P[k].tobytes()
        for k in young:
            inverses[k] = layout.start[0] if inverses[k] is None else inverses[k]
            known.other[lives[k]] = Young(kept[k], first[k]) if n[k] < YOUNG else None
        known.inverse[lives], known.rest[lives] = inverses, layout.apart(rest)

    def _designs(self, shared, moments, n, X, first, rounds):
        """Return the rows of some rounds as the last step sees them, after the scalers' rounds."""
        if self.has_scaler:
            low = 0
            for i, m in enumerate(rounds):
                some = slice(low, low + m)
                X[some] = _scaled.scale(moments[:m], n[:m] + i, X[some], first)
                low += m
        return self._design(shared, X)

    def _round(self, P, part, Z, y, weights):
        """Learn a row of each key; return their forecasts, and by how much they shrink P."""
        u = _times(P, part.tail, Z)
        leverages = np.maximum(np.einsum("ij,ij->i", Z, u), 0.0)
        ridge = np.einsum("ij,ij->i", Z, part.theta)
        forecasts = self.answer(ridge, leverages)
        gains = 1.0 + (leverages if weights is None else weights * leverages)
        scales = 1.0 / np.sqrt(gains) if weights is None else np.sqrt(weights / gains)
        u *= scales[:, None]
        errors = scales * (y - ridge)
        part.theta[...] += u * errors[:, None]
        scalars = part.scalars
        part.tail[np.arange(len(y)), scalars[:, 2].astype(np.intp)] = u
        scalars[:, 0] += errors * errors
        scalars[:, 1] += 1.0 if weights is None else weights
        scalars[:, 2] += 1.0
        return forecasts, gains

    def _learn_many(self, shared, layout, call, life):
        """Learn the many rows of one key in blocks; tell whether its inverse has stood it."""
        known, rows, n = call.known, call.rows(life), int(call.known.n_rows[life])
        P, rest = layout.gathered([known.inverse[life]], [known.rest[life]])
        young = known.other[life]
        part, Z, first = layout.split(rest), call.X[rows], young and young.first
        if self.has_scaler:
            Z, first = _scaled.scale_all(part.moments[0], n, Z, first)
        Z = self._design(shared, Z)
        layout.commit(P, part, [0])
        theta, Y = part.theta[0][:, None], call.y[rows][:, None]
        weights, low = call.params.get("sample_weight"), 0
        kept = layout.rows(young) if n < YOUNG else None
        while low < len(rows):
            some = slice(low, low + (_BLOCK if kept is None else min(_BLOCK, YOUNG - n)))
            w = None if weights is None else weights[rows[some]]
            try:
                block = block_innovations(Z[some], partial(_into, P[0]), theta, Y[some], w)
            except np.linalg.LinAlgError:
                return False
            beyond = np.flatnonzero(~(block.gains <= self.GAIN_LIMIT))
            if len(beyond):
                if kept is None or not (block.gains <= _FAR_TOO_MUCH).all():
                    return False
                some = slice(low, low + int(beyond[0]) + 1)
                block = block.first(some.stop - low)
                w = None if w is None else w[: some.stop - low]
            if call.answers is not None:
                is_vaw = self.final.forecaster == "vaw"
                forecasts = block.forecasts[:, 0]
                call.answers[rows[some]] = forecasts / (1.0 + block.leverages if is_vaw else 1.0)
            V = block.directions.T
            theta += V @ block.errors
            P[0] -= V @ block.directions
            part.scalars[0, 0] += np.square(block.errors).sum()
            n, low = n + len(Z[some]), min(some.stop, len(rows))
            if kept is not None:
                now = Z[some] if w is None else np.sqrt(w)[:, None] * Z[some]
                kept = np.concatenate([kept, now])
                if len(beyond) or n == YOUNG:
                    layout.rebuild(P, part, 0, kept)
                kept = None if n == YOUNG else kept
        part.scalars[0, 1] += len(rows) if weights is None else weights[rows].sum()
        if not np.isfinite(rest.sum()):
            raise OverflowError
        known.inverse[life], known.rest[life] = P[0].tobytes(), rest[0].tobytes()
        known.other[life] = None if kept is None else Young(kept, first)
        return True


def _in_bank(known):
    """Tell which keys are in the bank, or begin."""
    kinds = list(map(type, known.other.tolist()))
    if set(kinds) <= _OF_BANK:
        return np.ones(len(kinds), dtype=bool)
    return np.array([kind in _OF_BANK for kind in kinds])


def _into(P, Z, out):
    np.matmul(Z, P, out=out)


def _times(P, tail, Z):
    """Return P z of each key, the rows in the tail taken off."""
    u = np.matmul(P, Z[:, :, None])
    u -= np.matmul(tail.swapaxes(1, 2), np.matmul(tail, Z[:, :, None]))
    return u[:, :, 0]


def _size(array):
    return None if array is None else array.size
