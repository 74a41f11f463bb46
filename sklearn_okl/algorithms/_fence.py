"""Which targets are believed, and which forecasts are sane, where models of any kind are mixed.

A forecast is sane, and a target is believed, within 100 times the root mean square of the first
forecast and the targets so far: an expert that does not know their level yet stays within that, and
one that has diverged does not. Other targets are learnt as the running scalers learn faults.

The rates of a rule of weights fall with the largest regrets so far: after an expert that was far
off, all are told apart as slowly as if it still were. Those who were at first, and no longer are,
are forgiven: first rounds are learnt with forecasts of theirs that are no farther beyond the range
of these targets than this is wide. Later ones are heard as they are, for the best combination may
be of experts that are far off to either side, and one may know what is rare.
"""

import numpy as np

from ..features import _moments

N_FIRST = _moments.N_FIRST  # targets that are judged as a whole
_SANE = 100.0  # root mean squares of the targets that a forecast may have
_LAST = N_FIRST // 4  # of first rounds: whoever is far off in them is so still
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


def brought_near(F, y):
    """Return forecasts (n, K), none farther beyond the range of targets than this is wide.

    As they are where all targets are the same, and of who is that far off in the end.
    """
    low, high = y.min(), y.max()
    width = high - low
    if width == 0.0:
        return F
    near = np.clip(F, low - width, high + width)
    return np.where(_moved(near, F)[-_LAST:].any(axis=0), F, near)


def were_far(F, y):
    """Tell whether that moves some of forecasts (n, K), in rows where not all say the same."""
    differ = np.fmax.reduce(F, axis=1) > np.fmin.reduce(F, axis=1)
    return bool(_moved(brought_near(F, y), F)[differ].any())


def _moved(near, F):
    return (near != F) & ~np.isnan(F)
