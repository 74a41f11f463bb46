"""One ridge regression, row by row: the recursion of `_ridge.py` on vectors, for row paths."""

import math

import numpy as np

from .._tail import TAIL
from ..base._row_path import RowEngine
from . import _ridge_root


class RidgeRows(RowEngine):
    """A single model of one target, with a tail of its own that rows are written into.

    What is known of the row that was asked for last, its direction and its size, is kept: the row
    that is learnt is the same, as a rule. Sums that are numbers are floats until `settle`.

    Parameters
    ----------
    model : RidgeRecursion
    state : dict
        A private copy.
    gain_limit : float
        How much a row may shrink P before P is rebuilt.
    """

    def __init__(self, model, state, gain_limit):
        super().__init__(model, state)
        self.gain_limit, self.is_vaw = gain_limit, model.forecaster == "vaw"
        self.forgetting, self.adds_one = model.forgetting, model.fit_intercept
        self.theta, self.b = state["theta"], state["b"]
        if "root" not in state:
            self._begin()

    def ask(self, X):
        """Forecast a row by the state and the tail."""
        if "root" in self.state:
            return float(self.model._forecast(self.state, X)[0])
        z = self._designed(X)
        if not self.is_vaw:
            return float(z.dot(self.theta))
        return self._forecast(*self._met(z)[1:])

    def learn(self, X, y):
        """Learn a row; return its forecast."""
        forecast = self.learn_weighted(self._designed(X), float(y[0]), 1.0)
        if "lookout" in self.state:
            self.settle()
            self.model._look_back(self.state, X, y, np.array([forecast]))
        return forecast

    def learn_weighted(self, z, y, weight):
        """Learn a row z (D,) of target y, a float, into the tail; return its forecast."""
        if "root" in self.state:
            return self._learn_rooted(z, y, weight)
        direction, leverage, known = self._met(z)
        forecast, growth = self._forecast(leverage, known), self.growth
        root = math.sqrt(weight * growth)
        gain = 1.0 + root * root * leverage
        if _ridge_root.asks(self.state, gain):
            self.settle()
            _ridge_root.take_if_asked(self.state, self.model, gain)
            return self._learn_rooted(z, y, weight)
        scale = root / math.sqrt(gain)
        direction *= scale
        error = scale * (y - known)
        self.theta += direction * error
        if self.forgetting < 1.0:  # in the sums it is the past that fades
            self.squares *= self.forgetting
            self.mass *= self.forgetting
            self.b *= self.forgetting
        self.squares += error * error / growth
        self.mass += weight
        self.b += z * (weight * y)
        self._write(z if root == 1.0 else root * z, direction)
        if self.t == self.stop or gain > self.gain_limit:
            self._commit(gain > self.gain_limit)
        return forecast

    def _learn_rooted(self, z, y, weight):
        """Learn a row by the root that the state has; where it has none any more, begin anew."""
        model, out = self.model, np.empty((1, 1))
        row = z[None], np.array([[y]]), np.array([weight])
        _ridge_root.learn(model, self.state, *row, out)
        if "root" not in self.state:
            self._begin()
        return float(out[0, 0])

    def unlearn(self, z, y, weight):
        """Take a row z (D,) of target y away, into the tail; return 1 - h, of its leverage h.

        It is not taken where that is not above 0. Nothing is committed: rows are taken from models
        that forget nothing.
        """
        direction, leverage, known = self._met(z)
        left = 1.0 - weight * leverage
        if not left > 0.0:
            return left
        scale = math.sqrt(weight / left)
        direction *= scale
        error = scale * (y - known)
        self.theta -= direction * error
        self.squares -= error * error  # below 0 if the row was never learnt
        self.mass -= weight
        self.b -= z * (weight * y)
        self.t -= 2  # `_write` counts up
        self._write(z if weight == 1.0 else math.sqrt(weight) * z, direction, is_added=False)
        return left

    def total(self):
        """Return the weighted sum of squared targets so far."""
        return self.squares + max(float(self.b.dot(self.theta)), 0.0)

    @property
    def has_room(self):
        """Whether the tail takes another row."""
        return self.n < TAIL

    def reopen(self, anew=False):
        """Bring what waits into the matrices, and invert them `anew` where it is said."""
        self.model._reopen(self.state, anew)

    def settle(self):
        """Bring the state up to date."""
        if "root" in self.state:
            self.model._close(self.state, grows=True)
            return
        self.state["inverse"] = self.inverse.with_filled(self.tail, self.n)
        self.state.update(t=self.t, mass=self.mass, squares=np.array(self.squares))

    def _forecast(self, leverage, known):
        return known / (1.0 + self.growth * leverage) if self.is_vaw else known

    def _begin(self):
        """Take up the state after a commit."""
        model, state = self.model, self.state
        model._close(state, grows=True)
        self.inverse, self.t, self.mass = state["inverse"], state["t"], state["mass"]
        self.squares = float(state["squares"])
        self.tail, self.n = self.inverse.tail, self.inverse.tail.length
        self.P = self.inverse.groups[0][2].array
        self.stop = self.t + min(model._rounds_to_stop(self.t), self.tail.room)
        self._after_row()

    def _after_row(self):
        self.growth = self.forgetting ** -(self.n + 1.0)  # of the next row
        self.asked = self.found = None
        self.taught = self.tail.directions[: self.n]

    def _write(self, row, direction, is_added=True):
        self.tail = self.tail.written(self.n, row, direction, is_added)
        self.n += 1
        self.t += 1
        self._after_row()

    def _commit(self, extreme):
        self.settle()
        self.model._commit(self.state, extreme)
        if "root" not in self.state:
            self._begin()

    def _designed(self, X):
        return np.append(X[0], 1.0) if self.adds_one else X[0]

    def _met(self, z):
        """Return of a row z its direction S^-1 z, its size z' S^-1 z, and what ridge forecasts."""
        asked = z.tobytes()
        if asked != self.asked:
            direction = self.P.dot(z)  # P is symmetric
            if self.n:
                shares = self.taught.dot(z)
                if self.tail.signs is not None:
                    shares *= self.tail.signs[: self.n]
                direction -= shares.dot(self.taught)
            leverage = max(float(z.dot(direction)), 0.0)
            self.asked, self.found = asked, (direction, leverage, float(z.dot(self.theta)))
        return self.found
