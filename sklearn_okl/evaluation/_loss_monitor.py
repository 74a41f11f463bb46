"""How models fare, key by key, and an alarm with a stated rate of false ones."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils._param_validation import Interval

from .._types import Any, ArrayLike, Self
from ..keyed._keys import Keys

_POWERS = np.array([0.1, 0.25, 0.5])  # bets on small p: a few rows far off, or many somewhat
_A_DOUBLING = 8  # bins for losses: two within a twelfth of each other count as one size
_N, _SUM, _RECENT, _WEIGHT, _TOLD, _HELD, _SINCE, _ALARMS, _LAST_ALARM, _LAST, _LOWEST = range(11)
_LAST_HUGE, _N_PARTS = 11, 12  # of which key's row no mean can be taken; numbers of a key
_MOST = 1100 * _A_DOUBLING  # no size of a loss is further from that of 1


class LossMonitor(BaseEstimator):
    r"""Watch the losses of a model, or of one model a key, and sound an alarm where they rise.

    A row's loss has a rank among those of its key since the last alarm: p is the share of losses,
    itself included, that are no smaller. Bets on small p, :math:`f_\epsilon(p) = \epsilon
    p^{\epsilon - 1}` for three :math:`\epsilon`, are collected by

    .. math:: M_t = (M_{t-1} + 1) f_\epsilon(p_t),

    and there is an alarm where their mean reaches `alarm_every`. The key's losses then begin anew.

    Parameters
    ----------
    alarm_every : float, default=10000
        How many rows of a key pass at least, on average, before a false alarm.
    recent : int, default=100
        Over how many rows of a key the recent loss is a mean: the weight of a row fades by
        1 - 1/recent with each that follows. One that is infinite, or too large for sums of so
        many, makes it infinite for as many rows.

    Attributes
    ----------
    n_losses_ : int
        Losses taken, of all keys.
    alarms_ : list
        Keys of which the latest call sounded an alarm, in order.

    See Also
    --------
    SequentialComparison : Whether another model is better.

    Notes
    -----
    *Theorem.* While the losses of a key are exchangeable, as independent ones of one law are, the
    expected number of rows to an alarm is at least `alarm_every`, for :math:`M_t - t` is a
    supermartingale. A model that still learns has losses that fall, which makes alarms rarer.
    Losses that rise and fall slowly, as with the season, are not exchangeable and sound it.

    *Cost.* Some tens of microseconds a row. Losses are kept as counts of their sizes, in steps of a
    twelfth, from the least positive one since the last alarm to the largest: 64 bytes for each
    factor of two between these, some kilobytes a key. They may be in any unit.

    *Files.* :func:`~sklearn_okl.save` and :func:`~sklearn_okl.to_bytes` take a monitor as they take
    a model, so that its alarms outlive the process too.

    References
    ----------
    .. [1] Shin, Ramdas and Rinaldo 2024, E-detectors, New England Journal of Statistics in Data
       Science.
    .. [2] Vovk, Nouretdinov and Gammerman 2003, Testing exchangeability on-line, ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.evaluation import LossMonitor
    >>> pump, monitor = np.arange(2000) % 2, LossMonitor()
    >>> errors = np.random.default_rng(0).normal(size=2000)
    >>> monitor.update(errors[:1000] ** 2, keys=pump[:1000]).alarms_
    []
    >>> errors[pump == 1] *= 5.0
    >>> monitor.update(errors[1000:1100] ** 2, keys=pump[1000:1100]).alarms_
    [1]
    >>> monitor.health()["n_rows"]
    array([550, 550])
    """

    _parameter_constraints = {
        "alarm_every": [Interval(Real, 1, None, closed="left")],
        "recent": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, alarm_every: float = 10_000.0, recent: int = 100) -> None:
        self.alarm_every = alarm_every
        self.recent = recent

    def __sklearn_is_fitted__(self):
        return "_state" in vars(self)

    def __getstate__(self):
        return super().__getstate__() | self._held()

    def _held(self):
        """Return the attributes as files have them: dicts there have no tuples as keys."""
        if "_state" not in vars(self):
            return vars(self)
        of_keys = list(self._state["keys"].values())
        numbers, counts, evidence = zip(*of_keys, strict=True) if of_keys else ((), (), ())
        state = self._state | {
            "keys": list(self._state["keys"]),
            "numbers": np.array(numbers).reshape(-1, _N_PARTS),
            "counts": np.concatenate([np.zeros(0, dtype=np.int64), *counts]),
            "n_counts": np.array([len(some) for some in counts], dtype=np.int64),
            "evidence": np.array(evidence).reshape(-1, len(_POWERS)),
        }
        return vars(self) | {"_state": state}

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_state" not in vars(self):
            return
        state = dict(self._state)
        numbers, counts, n, evidence = (
            state.pop(name) for name in ("numbers", "counts", "n_counts", "evidence")
        )
        is_one_a_key = n.shape == (len(set(state["keys"])),) and (n >= 0).all()
        if not is_one_a_key or n.sum() != len(counts):
            raise ValueError("A monitor in a file counts other losses than it has. Begin anew.")
        counts = np.split(counts, np.cumsum(n)[:-1]) if len(n) else []
        parts = zip(numbers.copy(), map(np.copy, counts), evidence.copy(), strict=True)
        state["keys"] = dict(zip(state["keys"], map(list, parts), strict=True))
        self._state = state

    def _look_over(self):
        """Fail where a monitor, as one from a file, holds what no losses leave behind."""
        self._validate_params()
        if "_state" not in vars(self):
            return
        state, t = self._state, self._state["t"]
        if state.keys() != {"t", "keys", "alarms"} or type(t) is not int or t < 0:
            raise ValueError("it counts no losses")
        if not all(alarm in state["keys"] for alarm in state["alarms"]):
            raise ValueError("its alarms are of keys that it does not know")
        names = [name for name in state["keys"] if name is not None]
        if len(names) < len(state["keys"]) - 1 or (names and _names(names) != names):
            raise ValueError("its keys are none")
        if not all(_is_sound(*one, t) for one in state["keys"].values()):
            raise ValueError("it holds numbers that no losses leave behind")

    def update(
        self, losses: ArrayLike, *, keys: ArrayLike | None = None, held: ArrayLike | None = None
    ) -> Self:
        """Take the losses of the next rows; any cut of the stream gives the same.

        Parameters
        ----------
        losses : array-like of shape (n_samples,)
            At least 0, such as squared errors, in the order in which labels came.
        keys : array-like of shape (n_samples,) or (n_samples, k), default=None
            Whose they are: text, numbers or tuples of these, as ``keys_`` of
            :class:`~sklearn_okl.KeyedRegressor` has them. Several columns make tuples, and missing
            ones are refused.
        held : array-like of shape (n_samples,), default=None
            Whether the interval of a row held its target.

        Returns
        -------
        monitor : LossMonitor
        """
        self._validate_params()
        losses = column_or_1d(losses, dtype=np.float64)
        check_consistent_length(losses, keys, held)
        if not (losses >= 0.0).all():
            raise ValueError("losses are to be numbers of at least 0, such as squared errors.")
        keys = [None] * len(losses) if keys is None else _names(keys)
        held = np.full(len(losses), np.nan) if held is None else np.asarray(held, dtype=float)
        if held.size != len(losses):
            raise ValueError(
                f"held has the shape {held.shape}: give one number a row, whether the interval "
                "held its target. Of several targets or coverages take one, as held[:, 0]."
            )
        state = vars(self).get("_state", {"t": 0, "keys": {}, "alarms": []})
        known, own, alarms = dict(state["keys"]), set(), []
        rows = enumerate(zip(keys, losses, held.ravel(), strict=True), state["t"] + 1)
        with np.errstate(over="ignore"):  # sums of losses may be infinite
            for t, (key, loss, within) in rows:
                if key not in own:
                    own.add(key)
                    known[key] = list(map(np.copy, known[key])) if key in known else _fresh()
                if self._learn(known[key], loss, within, t):
                    alarms.append(key)
        self._state = {"t": state["t"] + len(losses), "keys": known, "alarms": alarms}
        return self

    def health(self) -> dict[str, Any]:
        """Return how each key fares.

        Returns
        -------
        table : dict of ndarray of shape (n_keys,)
            What pandas reads as a table: ``key``, ``n_rows``, ``mean_loss`` of all rows,
            ``recent_loss``, ``coverage`` (NaN where nobody has said), ``n_alarms``, ``last_alarm``,
            the number of the key's row that sounded it, from 1 on, or 0, and ``rows_since``, how
            many rows of other keys came after its latest.
        """
        state = self._told("health")
        names = np.empty(len(state["keys"]), dtype=object)
        for place, name in enumerate(state["keys"]):  # a list of tuples would be a table
            names[place] = name
        numbers = np.array([numbers for numbers, _, _ in state["keys"].values()])
        numbers = numbers.reshape(-1, _N_PARTS).T
        with np.errstate(invalid="ignore"):
            coverage = numbers[_HELD] / numbers[_TOLD]
            recent = numbers[_RECENT] / numbers[_WEIGHT]
        is_huge = numbers[_N] - numbers[_LAST_HUGE] < self.recent
        recent[is_huge & (numbers[_LAST_HUGE] > 0.0)] = np.inf
        return {
            "key": names,
            "n_rows": numbers[_N].astype(int),
            "mean_loss": numbers[_SUM] / numbers[_N],
            "recent_loss": recent,
            "coverage": coverage,
            "n_alarms": numbers[_ALARMS].astype(int),
            "last_alarm": numbers[_LAST_ALARM].astype(int),
            "rows_since": (state["t"] - numbers[_LAST]).astype(int),
        }

    @property
    def n_losses_(self) -> int:
        """How many losses it has taken."""
        return self._told("n_losses_")["t"]

    @property
    def alarms_(self) -> list:
        """Keys of which the latest call sounded an alarm."""
        return self._told("alarms_")["alarms"]

    def _told(self, name):
        if "_state" not in vars(self):
            raise AttributeError(f"There is no {name} before the first loss; call 'update'.")
        return self._state

    def _learn(self, one, loss, within, now):
        """Take one loss of a key; tell whether it sounds the alarm."""
        (numbers, _, evidence), fading = one, 1.0 - 1.0 / self.recent
        numbers[_N] += 1.0
        numbers[_SUM] += loss
        is_huge = loss > 0.9 * np.finfo(float).max / self.recent
        numbers[_RECENT] = fading * numbers[_RECENT] + (0.0 if is_huge else loss)
        numbers[_WEIGHT] = fading * numbers[_WEIGHT] + (not is_huge)
        if is_huge:
            numbers[_LAST_HUGE] = numbers[_N]
        numbers[_LAST] = now
        if within == within:
            numbers[_TOLD] += 1.0
            numbers[_HELD] += bool(within)
        numbers[_SINCE] += 1.0
        p = _no_smaller(one, loss) / numbers[_SINCE]
        evidence += 1.0
        evidence *= _POWERS * p ** (_POWERS - 1.0)
        if evidence.mean() < self.alarm_every:
            return False
        one[1], evidence[...], numbers[_SINCE] = one[1][:0], 0.0, 0.0
        numbers[_ALARMS] += 1.0
        numbers[_LAST_ALARM] = numbers[_N]
        return True


def _names(keys):
    """Return keys as models of keys have them: a list, those of several columns as tuples."""
    names, _ = Keys(None).split(np.empty((len(keys), 0)), keys)
    return names


def _is_sound(numbers, counts, evidence, t):
    """Tell whether what is known of a key can be, after t losses."""
    rows = numbers[[_N, _TOLD, _HELD, _SINCE, _ALARMS, _LAST_ALARM, _LAST, _LAST_HUGE]]
    return (
        numbers.shape == (_N_PARTS,)
        and evidence.shape == _POWERS.shape
        and counts.dtype.kind == "i"
        and len(counts) <= 2 * _MOST
        and abs(numbers[_LOWEST]) <= _MOST
        and (rows >= 0.0).all()
        and (rows <= t).all()
        and (numbers[[_SUM, _RECENT, _WEIGHT]] >= 0.0).all()
        and np.isfinite(numbers[[_RECENT, _WEIGHT]]).all()
        and (counts >= 0).all()
        and counts.sum() <= numbers[_SINCE]
        and (evidence >= 0.0).all()
        and np.isfinite(evidence).all()
    )


def _no_smaller(one, loss):
    """Count a loss of a key; return how many since the last alarm are of no smaller size."""
    numbers, counts, _ = one
    if loss <= 0.0:  # which no loss is below; it need not be counted
        return numbers[_SINCE]
    size = np.floor(min(np.log2(loss), 1024.0) * _A_DOUBLING)
    lowest = numbers[_LOWEST] if len(counts) else size
    numbers[_LOWEST] = min(lowest, size)
    before, place = int(lowest - numbers[_LOWEST]), int(size - numbers[_LOWEST])
    after = max(place + 1 - before - len(counts), 0)
    if before or after:
        one[1] = counts = np.pad(counts, (before, after))
    counts[place] += 1
    return counts[place:].sum()


def _fresh():
    """Return the numbers of a key, the counts of its losses, and the evidence against it."""
    return [np.zeros(_N_PARTS), np.zeros(0, dtype=np.int64), np.zeros(len(_POWERS))]
