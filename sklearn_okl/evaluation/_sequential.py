"""Champion and challenger: evidence that may be looked at after every row."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar
from sklearn.utils._param_validation import Interval

from .._documentation import cites
from .._types import Any, Array, ArrayLike, Self

_BETS = 0.9 * 0.6 ** np.arange(16)  # shares of what one owns: from bold to 4e-4
_STARTS = np.sqrt(_BETS) / np.sqrt(_BETS).sum()  # what each bet starts with
_FIRST = 20  # differences that fix the bound where none is given; with them nobody bets
_WIDE = 6.0  # medians that a difference may be large, before it is clipped
_TILE = 4096  # rows at once


@cites
class SequentialComparison(BaseEstimator):
    r"""Test whether a challenger is better than a champion, looked at as often as one likes.

    Somebody starts with 1, and bets in each row that the champion a loses more than the challenger
    b. What is owned then is the e-value: large only if the champion is not as good as it seems.
    With the differences :math:`d_t = \min(\max(a_t - b_t, -c), c)` of the losses and
    :math:`\lambda_j` from 0.9 down to 0.0004, 16 bets are kept, which start with shares w of the 1,

    .. math:: E_t = \sum_{j=1}^{16} w_j \prod_{s \le t} (1 + \lambda_j d_s / c) , \qquad
              w_j \propto \sqrt{\lambda_j} .

    Parameters
    ----------
    bound : float, default=None
        The c at which differences are clipped, > 0, in the unit of the losses. Where losses are in
        [0, B], B clips nothing. None: the first 20 differences other than 0 fix it, and nobody bets
        before; it is the largest of them, and at most 6 medians of their sizes.
    alpha : float in (0, 1), default=0.05
        Level of the test, the chance that it ever rejects where the champion is as good.

    Attributes
    ----------
    e_value_ : float
        What is owned now. Ten says that the null would give as much with chance 1/10 at most.
    log_e_value_ : float
        Its logarithm, where it is too large, or too small, for a float.
    p_value_ : float
        The inverse of the largest e-value so far, at most 1: valid whenever it is looked at.
    rejected_ : bool
        Whether the e-value has ever reached ``1 / alpha``: the challenger is better.
    bound_ : float
        The c in use, NaN before it is fixed.
    mean_difference_ : float
        Mean of the clipped differences that were bet on, a less b; NaN without any.
    n_rows_ : int
        Number of rows taken.

    See Also
    --------
    Comparison.sequential : The same for all pairs with one champion in a comparison.
    e_benjamini_hochberg : Many such tests at once.

    Notes
    -----
    *Cost.* 16 logarithms a row; the state is of constant size.

    *Theorem.* If the mean of the clipped difference given the past is never above 0, E is a
    supermartingale that is not negative, so that :math:`P(\exists t: E_t \ge 1 / \alpha) \le
    \alpha` by Ville's inequality, whatever the laws of the losses, their tails and dependence
    ([1]_, section 3; [2]_). It holds for looking after every row, and for going on or stopping by
    what is seen. If in the long run the clipped mean is above 0, some bet grows without end.

    *The start* is the prior of universal portfolios, a density like :math:`\lambda^{-1/2}`, on a
    grid of steady ratio ([3]_): bold bets show soon what is large, and who bets timidly
    waits for many rows anyway. No choice of it can raise more false alarms.

    *What the null says.* Of clipped differences: with c far below what losses differ by, rare large
    losses count as c. And of each row given the past: a challenger that is better in summer and
    worse in winter breaks it in summer. Both models must forecast before they see the target.

    *The other way round* is another test: two of them, with the losses swapped, each at
    ``alpha / 2``, hold both.

    References
    ----------
    .. [1] A. Ramdas, P. Grünwald, V. Vovk, G. Shafer, "Game-theoretic statistics and safe
       anytime-valid inference", Statistical Science 38(4), 2023.
    .. [2] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting",
       Journal of the Royal Statistical Society B 86(1), 2024, section 4.
    .. [3] Cover & Ordentlich 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.evaluation import SequentialComparison
    >>> rng = np.random.default_rng(0)
    >>> noise, more = rng.normal(size=(2, 2000))
    >>> test = SequentialComparison()
    >>> test.update((noise + 0.5 * more) ** 2, noise**2).rejected_
    True
    >>> SequentialComparison().update(noise**2, (noise + 0.5 * more) ** 2).rejected_
    False
    """

    _parameter_constraints = {
        "bound": [Interval(Real, 0, None, closed="neither"), None],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(self, bound: float | None = None, alpha: float = 0.05) -> None:
        self.bound = bound
        self.alpha = alpha

    def __sklearn_is_fitted__(self):
        return "_state" in vars(self)

    def update(self, loss_a: ArrayLike | float, loss_b: ArrayLike | float) -> Self:
        """Take the losses of the next row or rows; any cut of the stream gives the same.

        Parameters
        ----------
        loss_a : float or array-like of shape (n_samples,)
            Losses of the champion, in the order of the rows.
        loss_b : float or array-like of shape (n_samples,)
            Losses of the challenger in the same rows.

        Returns
        -------
        test : SequentialComparison
            The same one, so that it can be asked at once.

        Notes
        -----
        A ValueError says if the two are not of one shape, a loss is no finite number, or `bound` is
        not what it was at the first row; the test is then as it was.
        """
        self._validate_params()
        differences = _differences(loss_a, loss_b)
        state = vars(self).get("_state") or _start(self.bound)
        if state["given"] != self.bound:
            raise ValueError(
                f"bound={self.bound} cannot change in mid-stream, it was {state['given']}: a bound "
                "must not know the rows that it clips. Begin a new SequentialComparison."
            )
        state = state | {"n_rows": state["n_rows"] + len(differences)}
        if np.isnan(state["bound"]):
            state, differences = _with_bound(state, differences)
        for low in range(0, len(differences), _TILE):
            state = _after(state, differences[low : low + _TILE])
        self._state = state
        return self

    @property
    def log_e_value_(self) -> float:
        """Logarithm of what is owned now."""
        return float(logsumexp(self._told("log_e_value_")["log_wealth"]))

    @property
    def e_value_(self) -> float:
        """What is owned now, of a start of 1."""
        with np.errstate(over="ignore"):
            return float(np.exp(self.log_e_value_))

    @property
    def p_value_(self) -> float:
        """Inverse of the largest e-value so far, at most 1."""
        return float(np.exp(-self._told("p_value_")["log_peak"]))

    @property
    def rejected_(self) -> bool:
        """Whether the e-value has ever reached 1 / alpha."""
        return bool(self._told("rejected_")["log_peak"] >= -np.log(self.alpha))

    @property
    def bound_(self) -> float:
        """At which size differences are clipped, NaN before it is fixed."""
        return self._told("bound_")["bound"]

    @property
    def mean_difference_(self) -> float:
        """Mean of the clipped differences that were bet on, NaN without any."""
        state = self._told("mean_difference_")
        return state["sum"] / state["n_bets"] if state["n_bets"] else np.nan

    @property
    def n_rows_(self) -> int:
        """Rows taken, those included that fixed the bound."""
        return self._told("n_rows_")["n_rows"]

    def _told(self, name):
        if "_state" not in vars(self):
            raise AttributeError(f"There is no {name} before the first row; call 'update'.")
        return self._state


def e_benjamini_hochberg(e_values: ArrayLike, alpha: float = 0.05) -> Array:
    r"""Tell which of many e-values are large, with few false ones among them.

    With K e-values, the largest first, those down to the last k with :math:`E_{(k)} \ge K / (k
    \alpha)` are rejected.

    Parameters
    ----------
    e_values : array-like of shape (n_tests,)
        Such as `e_value_` of a fleet of :class:`SequentialComparison`, all at one time. It may be
        chosen by what they show; inverses of their p-values, which are of the best time of each,
        are none. A negative one or NaN is a ValueError.
    alpha : float, default=0.05
        Bound of the false discovery rate, in (0, 1).

    Returns
    -------
    rejected : ndarray of bool of shape (n_tests,)

    See Also
    --------
    SequentialComparison : One such test.

    Notes
    -----
    *Theorem.* The expected share of true nulls among the rejected is at most alpha, however the
    e-values depend on each other (Theorem 5.1 of [1]_); the p-values of Benjamini and Hochberg need
    a factor of about :math:`\ln K` for that.

    References
    ----------
    .. [1] R. Wang, A. Ramdas, "False discovery rate control with e-values", Journal of the Royal
       Statistical Society B 84(3), 2022.

    Examples
    --------
    >>> from sklearn_okl.evaluation import e_benjamini_hochberg
    >>> e_benjamini_hochberg([50.0, 1.0, 45.0, 0.2])
    array([ True, False,  True, False])
    """
    check_scalar(alpha, "alpha", Real, min_val=0, max_val=1, include_boundaries="neither")
    e_values = np.asarray(e_values, dtype=np.float64)
    if e_values.ndim != 1 or not np.all(e_values >= 0):
        raise ValueError("e_values must be numbers from 0 on, one for each test; none may be NaN.")
    n_tests = len(e_values)
    ordered = np.sort(e_values)[::-1]
    enough = np.flatnonzero(ordered >= n_tests / (alpha * np.arange(1, n_tests + 1)))
    if not len(enough):
        return np.zeros(n_tests, dtype=bool)
    return e_values >= ordered[enough[-1]]


def _differences(loss_a, loss_b):
    a, b = (np.atleast_1d(np.asarray(losses, dtype=np.float64)) for losses in (loss_a, loss_b))
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(
            f"loss_a and loss_b must be one number a row each, got the shapes {a.shape} and "
            f"{b.shape}. Of several targets give the mean loss of a row."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        differences = a - b
    faulty = np.flatnonzero(~np.isfinite(differences))
    if len(faulty):
        raise ValueError(
            f"Losses must be finite numbers, and row {faulty[0]} has {a[faulty[0]]} and "
            f"{b[faulty[0]]}. Leave out rows for which one of the two had no forecast."
        )
    return differences


def _start(bound) -> dict[str, Any]:
    return {
        "n_rows": 0,
        "n_bets": 0,
        "given": bound,
        "bound": np.nan if bound is None else float(bound),
        "first": np.empty(0),  # sizes of differences before there is a bound
        "log_wealth": np.log(_STARTS),
        "log_peak": 0.0,
        "sum": 0.0,
    }


def _with_bound(state, differences):
    """Fix the bound as soon as the first differences are there; return those that are bet on."""
    places = np.flatnonzero(differences)[: _FIRST - len(state["first"])]
    first = np.append(state["first"], np.abs(differences[places]))
    if len(first) < _FIRST:
        return state | {"first": first}, differences[:0]
    bound = float(min(first.max(), _WIDE * np.median(first)))
    return state | {"first": first[:0], "bound": bound}, differences[places[-1] + 1 :]


def _after(state, differences):
    """Return the state after rows that are bet on."""
    clipped = np.clip(differences / state["bound"], -1.0, 1.0)
    steps = np.log1p(np.multiply.outer(clipped, _BETS))
    path = np.add.accumulate(np.vstack([state["log_wealth"], steps]))[1:]
    sums = np.add.accumulate(np.append(state["sum"], clipped * state["bound"]))
    return state | {
        "n_bets": state["n_bets"] + len(clipped),
        "log_wealth": path[-1],
        "log_peak": max(state["log_peak"], float(logsumexp(path, axis=-1).max())),
        "sum": float(sums[-1]),
    }
