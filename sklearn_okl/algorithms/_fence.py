"""Which targets are believed, and which forecasts are sane, where models of any kind are mixed.

A forecast is sane, and a target is believed, within 100 times the root mean square of the first
forecast and the targets so far: an expert that does not know their level yet stays within that, and
one that has diverged does not. Other targets are learnt as the running scalers learn faults.
"""

import numpy as np

from ..features import _moments

N_FIRST = _moments.N_FIRST  # targets that are judged as a whole
_SANE = 100.0  # root mean squares of the targets that a forecast may have
FARTHEST = 1e200  # in place of no bound: sums of some stay finite
_LARGEST = 1e60  # targets beyond it are learnt as this one: fourth powers stay finite


class SaneRange:
    """The mean of the targets and the size of the largest sane number, as known before each round.

    Its state are the moments of the targets, none before the first one.

    Parameters
    ----------
    initial_forecast : float
        Forecast of the first round, a typical target.
    """

    def __init__(self, initial_forecast):
        self.initial_forecast = float(initial_forecast)

    def learn(self, moments, t, y):
        """Learn the targets y (n,) of the rounds after round t.

        Returns
        -------
        means, reach : ndarray of shape (n,)
            What was known before each of them.
        believed : ndarray of shape (n,)
            The targets as they are to be learnt.
        """
        if t == 0:
            moments |= _moments.start(y[:1])
        means, deviations, nearer = (part[:, 0] for part in _moments.learn(moments, y[:, None]))
        if t == 0:
            means[0] = self.initial_forecast  # the moments of the first target are its own
        reach = self._reach(np.arange(t, t + len(y)), means, deviations)
        if t == 0:
            reach[0] = np.inf
        return means, reach, np.where(np.abs(y) > reach, nearer, y)

    def known(self, moments, t):
        """Return the mean of the targets, and the size of the largest sane forecast, known now."""
        mean, deviation = (float(part[0]) for part in _moments.known(moments))
        return mean, float(self._reach(t, mean, deviation))

    def judged(self, y):
        """Return first targets (n,), the faulty ones nearer."""
        nearer = _moments.judged(y[:, None])[:, 0]
        return np.where(np.abs(y) > self._reach(len(y), nearer.mean(), nearer.std()), nearer, y)

    def _reach(self, t, means, deviations):
        sizes = np.sqrt(means**2 + deviations**2 + self.initial_forecast**2)
        factors = np.maximum(_SANE * _moments.caution(t), np.sqrt(t))
        return np.where(sizes > 0.0, factors * sizes, np.inf)


def moderate(y):
    """Return targets without those whose fourth powers would overflow."""
    return np.clip(y, -_LARGEST, _LARGEST)


def sane(forecasts, reach):
    """Return forecasts (n,), and NaN for those that are beyond reach or no numbers."""
    return np.where(np.abs(forecasts) <= np.minimum(reach, np.finfo(float).max), forecasts, np.nan)
