"""What similar rows were forecast wrongly by: the errors of the nearest of the latest rows.

Kernels of few frequencies are smooth. What they leave is often the same for rows that are close to
each other, as those of one place or of one day are: a weighted mean of the errors of the nearest
rows is added to the forecast, and forecasts with and without it are mixed. To smooth what a smooth
fit leaves, and to add it, is "twicing": J. W. Tukey, "Exploratory Data Analysis", 1977. Weights
fall to 0 at the first neighbour that is left out, so that none enters or leaves at a jump, and one
row more, without an error, draws the mean towards 0. What rows tell is in `_told.py`.

Rows are near by their columns, or by these and the latest targets, where they are seen, as far as
each tells who is similar in that view, see `_metric.py`: both make corrections. What tells that is
learnt after every 64 rows. Of rows that are equally near the latest count most.
"""

from functools import lru_cache
from math import log2

import numpy as np

from ...meta._past import Past
from . import _metric as metric
from ._told import ROWS, Corrector, blocks_of

_RECENT = 1e-9  # squared distance that a row counts as more than the one after it
_FAR = 1e12  # squared distance of a row that is no neighbour
_REMEMBERED = 64  # shapes of distances
_NUMBERS = 2**17  # the most that are kept: of wide rows fewer rows are


class Neighbours(Corrector):
    """Corrects forecasts by the errors of the nearest rows.

    Parameters
    ----------
    sizes, n_rows : tuple of int, int
        Numbers of neighbours, the least first, each of which makes a correction, and of how many of
        the latest rows they are sought.
    n_lags, tell : int, ErrorsTold
        How many of the numbers by which rows are compared, the last ones, are latest targets, where
        rows may have an order; and what neighbours tell.
    burn_in, delay : int
        After how many rounds they are heard, or after twice as many as there are neighbours; and
        how late labels are.
    """

    def __init__(self, sizes, n_rows, n_lags, tell, burn_in, delay):
        self.sizes, self.n_rows, self.n_lags = sizes, n_rows, n_lags
        self.n_sums = len(sizes) * metric.N_VIEWS
        super().__init__(tell, delay)
        self.burn_in = max(burn_in, 2 * max(sizes, default=0))
        # rounds that end blocks, as the next one is corrected
        self.begins = (self.burn_in + delay,) if sizes and n_rows else ()

    def start(self, n_columns, n_targets, seed, ordered=True):
        """Return the state before the first row of so many columns, without the latest targets.

        It is empty where there is nobody to ask, or nothing to compare. Rows without an order are
        not compared by the latest targets.
        """
        if not (self.begins and n_columns):
            return {}
        n_lags = self.n_lags if ordered else 0
        width = n_columns + n_lags
        window, no_targets = self._n_rows(width) + self.delay + ROWS, np.empty((2, 0, n_targets))
        return {
            "past": Past(np.empty((0, 2 + width)), self.tell.of_rows(*no_targets), window),
            "metric": metric.start(width, n_lags, -(-self.delay // ROWS), seed),
            "t": 0,
            "mixture": self.tell.start(n_targets, self.n_sums),
        }

    def learn(self, state, Z, base, u, sane, weights=None):
        """Learn by how much forecasts `base` (n, q) of rows Z (n, d + n_lags) miss u; correct them.

        What is mixed (n, q, 1 + n_sums) is made `sane`. Rows end where the first one is heard.
        """
        is_heard, sums, t = self._is_heard(state, self.delay), [], state["t"]
        for part in blocks_of(len(u), t, t - self.delay):
            n, back = part.stop - part.start, self._back(state, self.delay)
            more = () if weights is None else (weights[part],)
            told = self.tell.of_rows(base[part], u[part])
            state["past"] += self._kept(state, Z[part], *more), told, *more
            near = None
            if is_heard:
                ago = self.delay + np.arange(n, 0, -1)
                corrected, near = self._sums(state, Z[part], base[part], ago, back)
                sums.append(corrected)
            self._went_on(state, n, None if self.delay or n < ROWS else near)
        if not is_heard:
            return base
        return self.tell.learn(state["mixture"], sane(np.concatenate(sums)), u, weights)

    def forecast(self, state, Z, base, sane, ago=0):
        """Correct forecasts (n, q) by the errors that were known `ago` rounds before."""
        if not self._is_heard(state, ago):
            return base
        parts = [slice(low, low + ROWS) for low in range(0, len(Z), ROWS)]
        ago_of_rows, back = np.full(len(Z), ago), self._back(state, ago)
        sums = [
            self._sums(state, Z[part], base[part], ago_of_rows[part], back)[0] for part in parts
        ]
        return self.tell.forecast(state["mixture"], sane(np.concatenate(sums)), ago)

    def width(self, state):
        """Return by how many numbers rows are compared."""
        return state["metric"]["scales"].shape[-1]

    def _n_rows(self, width):
        return min(self.n_rows, max(_NUMBERS // width, 4 * self.sizes[-1]))

    def _is_heard(self, state, ago):
        return state["t"] - ago >= self.burn_in

    def _back(self, state, ago):
        """Return how many steps of the metric were not known some rounds ago."""
        return state["t"] // ROWS - max(state["t"] - ago, 0) // ROWS

    def _went_on(self, state, n, near=None):
        """Count n rows more; let the metrics learn from the latest where these end a block.

        The places (n_views, n, k) of rows that are `near` to these are found if they are not known.
        """
        state["t"] += n
        if state["t"] % ROWS:
            return
        (rows, told), weights = state["past"].rows, state["past"].weights
        is_known = len(rows) >= ROWS + 2 * self.sizes[-1]
        if not is_known or (weights is not None and not weights[-ROWS:].any()):
            state["metric"] = metric.as_before(state["metric"])
            return
        state["metric"] = self._metric(state, np.arange(len(rows) - ROWS, len(rows)), near)
        rows = rows.copy()
        rows[:, [0, -1]] = self._lengths(state, rows[:, 1:-1], state["t"] - len(rows), weights).T
        state["past"] = Past(rows, told, state["past"].window, len(rows), weights)

    def _metric(self, state, places, near):
        """Return the metrics after they have learnt from the rows at such places."""
        (rows, told), weights = state["past"].rows, state["past"].weights
        Z, scales = rows[places, 1:-1], metric.of_all(state["metric"])
        found = self._nearest(state, Z, places, scales[0 if near is None else len(near) :])
        near = found if near is None else np.concatenate([near, found])
        differences = _differences(rows, Z, near)
        of_told = self.tell.missed(told.take(near, axis=0), told[places])
        counts = (None, None) if weights is None else (weights.take(near), weights[places])
        recent = _RECENT * (places[:, None] - near)
        return metric.learn(state["metric"], differences, *of_told, self.sizes, recent, counts)

    def _kept(self, state, Z, weights=None):
        """Return rows (n, 1 + d + l + 1) after others, between their lengths in each view."""
        kept = np.empty((len(Z), Z.shape[1] + 2))
        kept[:, 0], kept[:, -1] = self._lengths(state, Z, state["t"], weights)
        kept[:, 1:-1] = Z
        return kept

    def _lengths(self, state, Z, t, weights):
        """Return the squared lengths (2, n) of rows after t others, in each view.

        They are less for the latest, as far as they count as nearer. Rows of no weight are far from
        all.
        """
        lengths = state["metric"]["scales"][-1] @ (Z * Z).T
        lengths -= _RECENT * (t if len(Z) == 1 else np.arange(t, t + len(Z)))
        if weights is not None:
            lengths[:, weights == 0.0] = _FAR
        return lengths

    def _now(self, state, z, base):
        """Return forecasts (1, q, 1 + n_sums) of a row z (1, d + n_lags), alone and corrected."""
        return self._sums(state, z, base, _NOW, 0)[0]

    def _sums(self, state, Z, base, ago, back):
        """Return forecasts (n, q, 1 + n_sums) alone and corrected, by rows known `ago` (n,).

        And the places of the nearest. The metrics are those of as many steps `back`.
        """
        (rows, told), weights = state["past"].rows, state["past"].weights
        known = len(rows) - ago  # how many of them each may know, of which the latest count
        views = state["metric"]["scales"][-1 - back]
        scales = metric.distinct(views)
        places = self._nearest(state, Z, known, scales)
        shares = self._shares(self._apart(rows, Z, places, known, scales))
        if len(scales) < len(views):  # both see the same
            places, shares = np.concatenate([places, places]), np.concatenate([shares, shares])
        if weights is not None:
            shares *= weights.take(places)[:, :, None]
        return self.tell.corrected(base, shares, told.take(places, axis=0)), places

    def _nearest(self, state, Z, known, scales):
        """Return the places (m, n, k) of the nearest of the first rows known, in no order.

        They are those by m metrics in which columns count as `scales` (m, width) say. Each row
        knows at least as many as the one before it.
        """
        (rows, _), n_rows, k = state["past"].rows, self._n_rows(Z.shape[1]), self.sizes[-1] + 1
        low, high = max(int(known[0]) - n_rows, 0), int(known[-1])
        n_groups = _n_groups(high - low, k)
        distances = self._distances(state, rows[low:high], Z, n_groups, scales)
        if len(Z) > 1:
            _bar(distances, np.maximum(known - n_rows, 0) - low, known - low)
        places = _nearest(distances, k, n_groups)
        places += low
        return places

    def _apart(self, rows, Z, places, known, scales):
        """Return the squared distances (n_views, n, k) of rows at these places, exactly."""
        distances = (_differences(rows, Z, places) @ scales[:, None, :, None])[..., 0]
        distances += _RECENT * (known[:, None] - places)
        return distances

    def _distances(self, state, rows, Z, n_groups, scales):
        """Return squared distances (m, n, n_rows) of rows kept, up to one number for each asked.

        Behind them are a few that are infinite, so that all groups of rows are of one size. Rows
        know their lengths as both views are now.
        """
        (n, width), n_rows, known = Z.shape, len(rows), state["metric"]["scales"][-1][: len(scales)]
        asked = np.zeros((len(scales), n, width + 2))
        asked[0, :, 0] = asked[1:, :, -1] = 1.0
        np.multiply(Z, -2.0 * scales[:, None], out=asked[..., 1:-1])
        distances = np.empty((len(asked), n, -(-n_rows // n_groups) * n_groups))
        distances[..., n_rows:] = np.inf
        np.matmul(asked, rows.T, out=distances[..., :n_rows])
        if scales.tobytes() != known.tobytes():
            for k, one in enumerate(scales):
                now = known[min(k, len(known) - 1)]
                if (one != now).any():
                    distances[k, :, :n_rows] += np.square(rows[:, 1:-1]) @ (one - now)
        return distances

    def _shares(self, distances):
        """Return weights (n_views, n, n_sizes, k) of neighbours at distances (n_views, n, k)."""
        ends = distances.copy()
        ends.sort(axis=2)
        shares = distances[:, :, None] / ends.take(self.sizes, axis=2)[..., None]
        np.subtract(1.0, shares, out=shares)
        return np.maximum(shares, 0.0, out=shares)


def _differences(rows, Z, places):
    """Return the squared differences (..., n, k, width) of Z (n, width) and rows at places."""
    found = rows.take(places, axis=0)[..., 1:-1]
    found -= Z[:, None]
    found *= found
    return found


def _bar(distances, first, last):
    """Let rows be infinitely far for who asks but those from a first one to before a last one."""
    places = np.arange(distances.shape[2])
    old, late = slice(0, int(first.max())), slice(int(last.min()), int(last.max()))
    if old.stop:
        distances[..., old][:, places[old] < first[:, None]] = np.inf
    if late.stop > late.start:
        distances[..., late][:, places[late] >= last[:, None]] = np.inf


def _n_groups(m, k):
    """Return in how many groups the k nearest of m rows are sought at least cost."""
    return max(2 ** round(log2(m * k) / 2.0), k)


def _nearest(distances, k, n_groups):
    """Return the places (n_views, n, k) of the nearest of rows at such distances, in no order.

    They are in the k groups of which the nearest rows are the nearest: only in these is it looked
    at every row.
    """
    *lead, m = distances.shape
    flat = distances.reshape(-1, m)
    of_each, of_group, first = _places(len(flat), m, n_groups, k)
    nearest = np.minimum.reduce(flat.reshape(len(flat), -1, n_groups), axis=1)
    chosen = nearest.argpartition(k - 1, axis=1)[:, :k]
    places = (chosen[:, :, None] + of_group).reshape(len(flat), -1)
    nearest = flat.take(places + of_each).argpartition(k - 1, axis=1)[:, :k]
    return places.take(nearest + first).reshape(*lead, k)


@lru_cache(_REMEMBERED)
def _places(n, m, n_groups, k):
    """Return where each of n rows of m distances begins, what is added to a group's first place.

    And where each of n rows of places of k groups begins.
    """
    rows = np.arange(n)[:, None]
    return m * rows, np.arange(0, m, n_groups), k * (m // n_groups) * rows


_NOW = np.zeros(1, dtype=int)
