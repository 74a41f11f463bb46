"""The recursion of ridge regression, in blocks and row by row, for one model or a bank."""

from __future__ import annotations

import math
from functools import partial
from numbers import Real
from typing import Literal, NamedTuple, overload

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._delay import forecasts_late
from .._documentation import explained_by, inherit_documentation
from .._linalg import block_innovations, column, inverse_spd
from .._tail import TAIL, SharedInverse
from .._types import Any, Array, ArrayLike
from .._validation import refuse_arguments, weights_of
from ..base import WeightedRegressor
from ..base._answers import told
from ..base._intercept import MissesIntercept
from . import _ridge_root
from ._ridge_rows import RidgeRows
from ._ridge_sums import SumsOfRidge, rounds_until

_BLOCK = 32  # rows a block: 16 to 64 are equally good, below that calls, above that n^2 work rule
_STRETCH = 128  # rounds between two visits to the exact sums: long products are cheaper
_REFRESH = 64  # rounds between two returns of the ridge that forgetting has worn away, at most;
# without forgetting, the round after which the coarse start of P is forgotten by a rebuild
_WORN = 1e-10  # and sooner, before less than this share of it is left
_REBUILD = 4096  # rounds between two rebuilds of P from A, once the stream is long
GAIN_LIMIT = 1e5  # a row that shrinks P more than this costs five digits: rebuild after it


class Met(NamedTuple):
    """What is known of a row before its target: the row z (..., D) itself, and S^-1 z."""

    z: Array
    direction: Array
    leverage: Array
    growth: float
    known: Array  # ridge forecasts (..., q)
    forecast: Array


@inherit_documentation
class RidgeRecursion(SumsOfRidge, MissesIntercept, WeightedRegressor):
    r"""Base: online least squares with a ridge, forecasting before or after the row is counted.

    A subclass has the parameters `alpha`, `forecaster`, `forgetting` and `fit_intercept`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Current ridge solution :math:`S_t^{-1} b_t`.
    """

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "forecaster": [StrOptions({"vaw", "ridge"})],
        "forgetting": [Interval(Real, 0, 1, closed="right")],
    }
    _multi_output = True
    _learns_banks = True
    _tells_shrinkage = False  # whether `_learn` returns 1 / (1 + l) beside the forecasts

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = False, **params: Any) -> Array: ...

    @overload
    def predict(
        self, X: ArrayLike, return_std: Literal[True], **params: Any
    ) -> tuple[Array, Array]: ...

    @explained_by(WeightedRegressor.predict)
    def predict(self, X: ArrayLike, return_std: bool = False, **params: Any) -> Any:
        r"""Forecast each row as if it were the next one; changes nothing.

        Parameters
        ----------
        return_std : bool, default=False
            Whether to return the standard deviation of the target about the forecast too.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_targets)
        y_std : ndarray of the same shape
            Only with ``return_std``: :math:`\hat\sigma \sqrt{1 + z^T S^{-1} z}`, with
            :math:`\hat\sigma^2` the running mean of the squared normalised ridge errors
            :math:`(y_t - \theta_{t-1}^T z_t)^2 / (1 + z_t^T S_{t-1}^{-1} z_t)`, forgotten as the
            rows are. Under Gaussian noise and ``forecaster="ridge"`` it is Bayesian linear
            regression's, with the noise at its most likely value.
        """
        refuse_arguments(self, "predict", params)
        state, X = self._asked(X)
        with np.errstate(over="ignore", invalid="ignore"):
            forecasts, leverages = self._forecast_with_leverages(state, self._design(X))
        return self._told_with_std(state, forecasts, leverages, return_std)

    def _told_with_std(self, state, forecasts, leverages, return_std):
        told(forecasts)
        if not return_std:
            return forecasts
        spread = np.sqrt(1.0 + leverages)
        sigma = np.sqrt(state["squares"] / state["mass"]) if state["mass"] > 0 else 0.0
        return forecasts, spread[:, None] * sigma if forecasts.ndim == 2 else spread * sigma

    @property
    def coef_(self) -> Array:
        """Ridge solution, of shape (n_features,) or (n_targets, n_features)."""
        return self._as_taught()._weights(self._fitted_state("coef_"))

    def _hindsight(self, state):
        """Return what the best linear function lost, ridge included, and the ridge."""
        return {"linear": (state["squares"], float(state["alpha"]))}

    def _weights(self, state):
        return self._slopes(self._coefficients(state))

    def _coefficients(self, state):
        return state["theta"].T

    def _not_explained(self):
        return "shrinkage" if self.forecaster == "vaw" else "rounding"

    def _start(self, n_features, n_targets=None, bank=None, late=0):
        """Return the state of one model, or of a bank with a leading axis.

        `bank` is a list with one dict of parameters a model; the only one that may vary is alpha.
        With `late` rounds the ridge forecasts of `_learn` are those of the model so many rounds
        ago, for labels that come late.
        """
        n_features = self._width(n_features)
        if bank is None:
            alpha = np.array(float(self.alpha))
        else:
            alpha = np.array([float(member.get("alpha", self.alpha)) for member in bank])
        targets = () if n_targets is None else (n_targets,)
        A = alpha[..., None, None] * np.eye(n_features)
        return {
            "t": 0,
            "alpha": alpha,
            "A": A,  # S_t
            "b": np.zeros((*alpha.shape, n_features, *targets)),
            "P": np.eye(n_features) / alpha[..., None, None],  # S_t^-1
            "theta": np.zeros((*alpha.shape, n_features, *targets)),  # P b
            "squares": np.zeros((*alpha.shape, *targets)),  # normalised ridge errors squared
            "mass": 0.0,  # discounted sum of weights
        } | (
            # theta of the latest rounds, the oldest first
            {"past": np.zeros((*alpha.shape, late, n_features, *targets))} if late else {}
        )

    def _learn(self, state, X, y, sample_weight=None):
        Y = _with_axis(y)
        n = Y.shape[-2]
        if sample_weight is not None:
            sample_weight = weights_of(sample_weight, n)
        if not self._takes_rows(n):
            self._open(state)
            return self._learn_blocks(state, X, y, sample_weight)
        X, forecasts, low = self._design(X), self._room(state, Y), 0
        while n - low > (0 if self._tells_shrinkage or "root" in state else 1):
            learn = partial(_ridge_root.learn, self) if "root" in state else self._learn_few
            low += learn(
                state,
                X[..., low:, :],
                Y[..., low:, :],
                None if sample_weight is None else sample_weight[low:],
                forecasts[..., low:, :],
            )
        if low < n:
            weight = 1.0 if sample_weight is None else float(sample_weight[low])
            if self._is_one(state):
                rows = self._rows_of(state)
                forecasts[low] = rows.learn_weighted(X[low], float(Y[low, 0]), weight)
                rows.settle()
            else:
                z, target = X[..., low, :], Y[..., low, :]
                forecasts[..., low, :] = self._learn_row(state, z, target, weight)
        return self._shaped(state, forecasts, y)

    def _learn_blocks(self, state, X, y, sample_weight=None):
        """Learn rows in blocks, writing P and A in place."""
        X, Y = self._design(X), _with_axis(y)
        forecasts = self._room(state, Y)
        low, n = 0, Y.shape[-2]
        while low < n:
            high = min(n, low + self._rounds_to_stop(state["t"]))
            learn = partial(_ridge_root.learn, self) if "root" in state else self._learn_stretch
            low += learn(
                state,
                X[..., low:high, :],
                Y[..., low:high, :],
                None if sample_weight is None else sample_weight[low:high],
                forecasts[..., low:high, :],
            )
        return self._shaped(state, forecasts, y)

    def _room(self, state, Y):
        """Return room for forecasts of targets Y (..., n, q), and where it is told for 1 / (1 + l).

        That is a last column of ones, which is shrunk as the forecasts are.
        """
        n, q = Y.shape[-2:]
        if not self._tells_shrinkage:
            return np.empty((*state["alpha"].shape, n, q))
        return np.ones((*state["alpha"].shape, n, q + 1))

    def _shaped(self, state, forecasts, y):
        if self._tells_shrinkage or y.ndim > 2:
            return forecasts
        return forecasts.reshape(*state["alpha"].shape, *y.shape)

    def _takes_rows(self, n):
        return n <= TAIL

    def _row_engine(self, state):
        is_plain = self._is_one(state) and type(self)._learn is RidgeRecursion._learn
        return self._rows_of(state) if is_plain else super()._row_engine(state)

    def _rows_of(self, state):
        return RidgeRows(self, state, GAIN_LIMIT)

    def _is_one(self, state):
        """Whether vectors will do: there is one model, of one target, that is not late."""
        return state["b"].ndim == 1 and "past" not in state and not self._tells_shrinkage

    def _open(self, state):
        """Let P and A be arrays of this state's own, with all rows in them, to be written."""
        if "inverse" in state:
            state["A"], state["P"] = state.pop("inverse").opened()

    def _sums(self, state, k):
        """Return A (D, D) of one learner of a bank, without opening the state."""
        return state["A"][k] if "A" in state else state["inverse"].sums_of(k)

    def _close(self, state, grows=False):
        """Commit P and A: they are shared from now on, and rows go into a tail."""
        if "inverse" in state and state["inverse"].tail.forgetting != self.forgetting:
            self._open(state)  # the parameter was set in mid-stream
        if "inverse" not in state:
            A, P = state.pop("A"), state.pop("P")
            state["inverse"] = SharedInverse(A, P, state["alpha"], self.forgetting, grows)

    def _learn_row(self, state, z, y, weight):
        """Learn one row z (..., D) of target y (q,), or (..., q); return its forecast (..., q).

        It is the block recursion with a block that grows from call to call, the tail; P is read,
        not written.
        """
        self._close(state, grows=True)
        met = self._meet_row(state, z)
        gain = 1.0 + weight * met.growth * np.maximum.reduce(met.leverage, axis=None)
        _ridge_root.take_if_asked(state, self, gain)
        if "root" in state:
            out = self._room(state, y[None])
            _ridge_root.learn(self, state, z[None], y[None], np.array([weight]), out)
            return out[0]
        forecast = met.forecast
        if "past" in state:
            theta = state["theta"].reshape(*state["alpha"].shape, z.shape[-1], -1)
            past = state["past"].reshape(*theta.shape[:-2], -1, *theta.shape[-2:])
            forecast = (z[..., None, :] @ past[..., 0, :, :])[..., 0, :]
            past[..., :-1, :, :] = past[..., 1:, :, :]
            past[..., -1, :, :] = theta
        self._teach_row(state, met, y, weight)
        return forecast

    def _meet_row(self, state, z):
        """Return what states say of a row z (..., D): nothing is changed yet."""
        before = 1.0
        if "root" in state:
            direction, leverage, known = _ridge_root.met(state["root"], z)
        else:
            theta = state["theta"].reshape(*state["alpha"].shape, z.shape[-1], -1)
            known = (z[..., None, :] @ theta)[..., 0, :]  # (..., q)
            if "P" in state:
                direction = (z[..., None, :] @ state["P"])[..., 0, :]
            else:
                before, direction = state["inverse"].tail.growth, state["inverse"].times(z)
            leverage = np.maximum(np.add.reduce(z * direction, axis=-1), 0.0)
        growth = before / self.forgetting  # of this row, as in `_learn_stretch`
        forecast = known
        if self.forecaster == "vaw":
            forecast = known / column(1.0 + growth * leverage)
        return Met(z, direction, leverage, growth, known, forecast)

    def _teach_row(self, state, met, y, weight):
        """Learn the target of a row that was met, which no other one has followed."""
        z, direction, leverage, growth, known, _ = met
        theta = state["theta"].reshape(*state["alpha"].shape, z.shape[-1], -1)
        root = math.sqrt(weight * growth)
        gain = 1.0 + root * root * leverage
        scale = column(root / np.sqrt(gain))
        direction *= scale
        error = scale * (y - known)  # (..., q)
        theta += direction[..., :, None] * _as_row(error)
        squares, b = state["squares"].reshape(error.shape), state["b"].reshape(theta.shape)
        if self.forgetting < 1.0:  # in the sums it is the past that fades
            squares *= self.forgetting
            b *= self.forgetting
        squares += np.square(error) / growth
        b += z[..., None] * _as_row(weight * y)
        state["mass"] = self.forgetting * state["mass"] + weight
        rows = (root * z)[..., None, :], direction[..., None, :]
        extreme = gain.item(gain.argmax()) > GAIN_LIMIT
        state["t"] += 1
        if "root" in state:
            _ridge_root.add_row(state["root"], z, y, weight, self.forgetting)
        if "P" in state:
            self._write_open(state, *rows)
            self._keep_healthy(state, extreme)
        else:
            state["inverse"] = state["inverse"].and_rows(*rows)
            self._commit(state, extreme)

    def _write_open(self, state, row, direction):
        """Write a row (..., 1, D) and its direction into A and P, and let the past fade."""
        A, P = state["A"], state["P"]
        A += row.swapaxes(-1, -2) * row
        P -= direction.swapaxes(-1, -2) * direction
        if self.forgetting < 1.0:
            A *= self.forgetting
            P /= self.forgetting

    def _learn_few(self, state, Z, Y, weights, out):
        """Learn rows at once, as many as there is room for in the tail; return how many it was.

        It is what `_learn_row` does with each of them: P is read, not written.
        """
        self._close(state, grows=True)
        inverse = state["inverse"]
        n = min(Y.shape[-2], inverse.tail.room, self._rounds_to_stop(state["t"]))
        Z, Y = Z[..., :n, :], Y[..., :n, :]
        given = None if weights is None else weights[:n]
        weights, growth = self._grown(given, n, inverse.tail.growth)
        try:
            block, gain = self._learn_block(state, Z, Y, weights, growth, slice(0, n), out, inverse)
        except np.linalg.LinAlgError:  # P is no longer definite
            self._open(state)
            self._rebuild(state)
            return self._learn_few(state, Z[..., :1, :], Y[..., :1, :], given, out)
        n = block.leverages.shape[-1]
        if n:
            Z, weights = Z[..., :n, :], None if weights is None else weights[:n]
            root = 1.0 if weights is None else np.sqrt(weights)[:, None]
            state["inverse"] = inverse.and_rows(root * Z, block.directions)
            self._add_to_sums(state, Z, Y[..., :n, :], weights, inverse.tail.growth)
            self._commit(state, gain > GAIN_LIMIT, n)
        _ridge_root.take_if_asked(state, self, gain)
        return n

    def _grown(self, weights, n, before=1.0):
        """Return weights of n rows, and their growth, None where nothing is forgotten.

        S_t / gamma^t = S_0 + sum_i gamma^-i z_i z_i': forgetting is growing weights.
        """
        if self.forgetting == 1.0:
            return weights, None
        growth = before * self.forgetting ** -np.arange(1.0, n + 1)
        return growth if weights is None else weights * growth, growth

    def _commit(self, state, extreme, n=1):
        """Bring rows into P and A where it is their turn; rebuild P where that is due.

        The latest n rows have come since the last time.
        """
        inverse, is_stop = state["inverse"], self._rounds_to_stop(state["t"] - 1) == 1
        if extreme or (inverse.is_whole and (is_stop or not inverse.tail.room)):
            self._open(state)
            self._keep_healthy(state, extreme)
            self._close(state, grows=True)
        elif not inverse.is_whole:
            if self._is_rebuild_due(state["t"]):
                state["inverse"] = inverse.and_anew()
            for _ in range(n):  # a group for each row
                state["inverse"], anew = state["inverse"].and_replaced()
                if anew is not None:
                    self._renew_theta(state, anew)

    def _renew_theta(self, state, group):
        """Compute theta of some learners, a slice, from their sums and what is shared."""
        lead = state["alpha"].shape
        shape = (*lead, state["b"].shape[len(lead)], -1)
        theta, b = state["theta"].reshape(shape), state["b"].reshape(shape)
        for j in range(b.shape[-1]):
            theta[group, ..., j] = state["inverse"].times(b[..., j])[group]

    def _learn_stretch(self, state, Z, Y, weights, out):
        """Learn rows in blocks, then bring the sums up to date; return how many rows it was.

        It ends early after a row of extreme gain, so that P is rebuilt before the next row.
        """
        n = Y.shape[-2]
        weights, growth = self._grown(weights, n)
        done, gain = 0, 1.0
        while done < n and not gain > GAIN_LIMIT:
            # Blocks end where the stream's own count is a multiple of their length, so that most
            # ways of cutting a stream lead through the very same blocks.
            rows = slice(done, min(n, done + _BLOCK - (state["t"] + done) % _BLOCK))
            try:
                block, gain = self._learn_block(state, Z, Y, weights, growth, rows, out)
            except np.linalg.LinAlgError:  # P is no longer definite
                if done > 0:
                    self._finish_stretch(state, Z, Y, weights, done, True)
                    return done
                self._rebuild(state)
                rows = slice(0, 1)
                block, gain = self._learn_block(state, Z, Y, weights, growth, rows, out)
            state["P"] -= block.directions.swapaxes(-1, -2) @ block.directions
            done += block.leverages.shape[-1]
        if done:
            self._finish_stretch(state, Z, Y, weights, done, gain > GAIN_LIMIT)
        _ridge_root.take_if_asked(state, self, gain)
        return done

    def _finish_stretch(self, state, Z, Y, weights, n, extreme):
        """Bring the sums up to date with the first n rows of a stretch."""
        weights = None if weights is None else weights[:n]
        self._add_to_sums(state, Z[..., :n, :], Y[..., :n, :], weights)
        self._keep_healthy(state, extreme)

    def _learn_block(self, state, Z, Y, weights, growth, rows, out, inverse=None):
        """Let rows, a slice, teach theta; return their innovations, and the gain that ended them.

        They end at the first row of extreme gain, or before it if the sums should have a root then;
        where there is none it is 1. P is that of the state, or of what is shared.
        """
        lead, before, times = state["alpha"].shape, 1.0, partial(_times, state.get("P"))
        if inverse is not None:
            before, times = inverse.tail.growth, inverse.times_rows
        Z, out = Z[..., rows, :], out[..., rows, :]
        theta = state["theta"].reshape(*lead, Z.shape[-1], -1)
        weights = None if weights is None else weights[rows]
        block = block_innovations(Z, times, theta, Y[..., rows, :], weights)
        gains, gain = block.gains.reshape(-1, Z.shape[-2]).max(axis=0), 1.0
        beyond = np.flatnonzero(gains > GAIN_LIMIT)
        if len(beyond):
            gain = gains[beyond[0]]
            block = block.first(int(beyond[0]) + (not _ridge_root.asks(state, gain)))
        n = block.leverages.shape[-1]
        out[..., :n, : Y.shape[-1]] = block.forecasts
        if self.forecaster == "vaw":
            leverages = block.leverages if growth is None else block.leverages * growth[rows][:n]
            out[..., :n, :] /= 1.0 + leverages[..., None]
        if "past" in state:
            steps = block.directions[..., None] * block.errors[..., None, :]
            past = state["past"].reshape(*lead, -1, *theta.shape[-2:])
            out[..., :n, :] = forecasts_late(past, theta, Z[..., :n, :], steps)
        theta += block.directions.swapaxes(-1, -2) @ block.errors
        squares = state["squares"].reshape(*lead, -1)
        squares += np.square(block.errors).sum(axis=-2) / before
        return block, gain

    def _add_to_sums(self, state, Z, Y, weights, before=1.0):
        """Add rows to the exact sums; discount all but theta, which has no size of its own.

        Of A and P only those of an open state: others wait for the tail to be full. Weights have
        grown, and by so much `before` the first row.
        """
        n = Y.shape[-2]
        ZT = Z.swapaxes(-1, -2) if weights is None else Z.swapaxes(-1, -2) * weights
        if "A" in state:
            state["A"] += ZT @ Z
        state["b"] += (ZT @ Y).reshape(state["b"].shape) / before
        state["mass"] += float(n if weights is None else weights.sum()) / before
        state["t"] += n
        if self.forgetting < 1.0:
            for name in {"A", "b", "squares", "mass"} & state.keys():
                state[name] *= self.forgetting**n
            if "P" in state:
                state["P"] /= self.forgetting**n

    def _keep_healthy(self, state, extreme):
        """Put back the lost ridge and rebuild P where the stream's count or the last row asks."""
        t, refresh = state["t"], self._refresh_interval()
        if self.forgetting < 1.0 and t % refresh == 0:
            lost = (1.0 - self.forgetting**refresh) * state["alpha"]
            state["A"] += lost[..., None, None] * np.eye(state["A"].shape[-1])
            if "root" in state:
                _ridge_root.add_ridge(state["root"], lost)
            self._rebuild(state)
        elif self._is_rebuild_due(t) or (t % _STRETCH == 0 if "root" in state else extreme):
            self._rebuild(state)
        elif t % _STRETCH == 0:
            _ridge_root.take_where_lost(state)

    def _is_rebuild_due(self, t):
        return t == _REFRESH or t % _REBUILD == 0

    def _rounds_to_stop(self, t):
        """Return the number of rounds until the sums must be up to date."""
        if self.forgetting == 1.0:
            return _REFRESH - t if t < _REFRESH else _STRETCH - t % _STRETCH
        # Inside a stretch the past keeps its size and the rows grow instead; the growth is kept
        # below 10, so that it costs at most one digit.
        longest = min(_BLOCK, rounds_until(0.1, self.forgetting, _REFRESH))
        refresh = self._refresh_interval()
        return min(longest - t % longest, refresh - t % refresh)

    def _refresh_interval(self):
        return rounds_until(_WORN, self.forgetting, _REFRESH)

    def _rebuild(self, state):
        """Recompute P and theta from the exact sums."""
        if "root" in state:
            _ridge_root.rebuild(state, self)
            return
        lead, n_features = state["alpha"].shape, state["A"].shape[-1]
        state["P"][...] = inverse_spd(state["A"], state["alpha"])
        b = state["b"].reshape(*lead, n_features, -1)
        state["theta"][...] = (state["P"] @ b).reshape(state["theta"].shape)
        _ridge_root.take_where_lost(state)

    def _forecast(self, state, X):
        X = self._design(X)
        if self.forecaster == "ridge":
            return self._ridge_forecasts(state, X)
        return self._forecast_with_leverages(state, X)[0]

    def _ridge_forecasts(self, state, X):
        lead = state["alpha"].shape
        targets = state["theta"].shape[len(lead) + 1 :]
        if "root" in state:
            forecasts = _ridge_root.seen(state["root"], X)[1]
        else:
            forecasts = X @ state["theta"].reshape(*lead, X.shape[-1], -1)
        return forecasts.reshape(*forecasts.shape[:-1], *targets)

    def _forecast_with_leverages(self, state, X):
        """Return forecasts (..., n[, q]) and leverages z' P z / gamma of shape (..., n).

        The rows are those of `_design`.
        """
        forecasts = self._ridge_forecasts(state, X)
        if "root" in state:
            leverages = np.square(_ridge_root.seen(state["root"], X)[0]).sum(axis=0)
        elif "inverse" in state:
            leverages = state["inverse"].sizes(X)
        else:
            product = X @ state["P"]
            product *= X
            leverages = np.maximum(np.add.reduce(product, axis=-1), 0.0)
        if math.isnan(np.add.reduce(leverages, axis=None)):  # a difference of infinite numbers
            leverages[np.isnan(leverages)] = np.inf
        leverages /= self.forgetting
        if self.forecaster == "vaw":
            shrunk = 1.0 + leverages
            forecasts /= shrunk if forecasts.ndim == shrunk.ndim else shrunk[..., None]
        return forecasts, leverages


def _as_row(values):
    """Return numbers (..., q) as rows (..., 1, q); a single one without axes, as `column` does."""
    return values.reshape(()) if values.size == 1 else values[..., None, :]


def _with_axis(y):
    """Return targets (n,) or (n, q) with an axis of targets; those of each learner have one."""
    return y if y.ndim > 2 else y.reshape(len(y), -1)


def _times(P, Z, out):
    np.matmul(Z, P, out=out)
