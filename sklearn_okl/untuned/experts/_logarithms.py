"""Logarithms of targets: experts learn them as well, and what they say is heard.

Where effects multiply and errors grow with the level, as of prices, counts and times, few waves fit
the logarithm of a target, and no rare large one outweighs all others: G. E. P. Box, D. R. Cox, "An
analysis of transformations", Journal of the Royal Statistical Society B 26(2), 1964. Each expert of
a bank learns logarithms with the inverse that it has, as further targets. A ridge regression learns
what the forecast of the whole leaves, from how far from it those of the experts are, in multiples
of its size and in logarithms. It does so twice: of errors in multiples of the size, where means
stay means, and of logarithms, where rare large targets count less. Rows count as if variances grew
with the size, as those of counts do: P. McCullagh, J. A. Nelder, "Generalized Linear Models", 1989.
The largest count as 10 000 at most: one far off, as without a guard, is not all that is learnt.

BOA mixes what comes of both with the forecast as it was: whether logarithms suit is left to it. It
counts errors by what is usual, so that where these fall to nothing, as without noise, who errs more
soon has no say.

Logarithms are of 1 and the distance from the end of the range that is nearer to the mean of the
first 64 targets, in units of its own distance, so that no unit matters; beyond this end they are
mirrored. Until then experts learn targets twice, and lines through the mean go on as logarithms.
"""

import numpy as np

from ...aggregators._limits import sane
from ...aggregators._sides import LARGEST, regression
from . import _corrections as corrections
from ._banks import learner_of

_STACK = 4.0, 1.0  # ridge and forgetting of the regression, as one of the mixture has
_SHARE = 0.5  # of logarithms at first: the ridge holds them back
_STEEPEST = 50.0  # logarithm: larger ones are beyond all limits
_BURN_IN = 64  # rounds until they are heard
_FARTHEST = 4.0  # times as far as large, or the logarithm: farther off is no more leverage
_HEAVIEST = 1e4  # rows that a large one counts as at most: more cost the digits of all others
_LARGEST = 700.0  # logarithm: that of a number that is hardly one


class Logarithms:
    """Corrects forecasts by what experts say of logarithms of the targets.

    Parameters
    ----------
    n_targets, delay : int
        Targets of a row, and rounds by which labels are late.
    is_wanted : bool
        Whether there is room for them.
    starts : tuple of int
        Rounds after which they may begin.
    """

    def __init__(self, n_targets, delay, is_wanted, starts):
        self.n_targets, self.delay = n_targets, delay
        self.is_wanted, self.starts = is_wanted, starts if is_wanted else ()
        # rounds that end blocks, as the next one is corrected
        self.begins = tuple(start + _BURN_IN + delay for start in self.starts)
        self.stack = regression(*_STACK, delay > 0)

    def start(self, n_experts, limits, means):
        """Return the first state, of targets with such limits (q, 2 or more) and means (q,)."""
        bank = [{}] * self.n_targets
        return {
            "units": _units_of(*limits.T[:2], means),
            "stack": self.stack._start(2 * n_experts, 2, bank=bank, late=self.delay),
            "mixture": corrections.start(self.n_targets, 2, _SHARE, self.delay, in_usual=True),
            "t": 0,
        }

    def taught(self, state, u):
        """Return what banks learn (..., 2q) of targets u (..., q): before the first state twice."""
        if not self.is_wanted:
            return u
        return np.concatenate([u, _log(state["units"], u) if state else u], axis=-1)

    def begin(self, state, banks, means):
        """Let experts of banks go on from lines through means (q,) as from logarithms."""
        q, slopes = self.n_targets, 0.5 / state["units"][1]  # where the means are
        constants = _log(state["units"], means) - slopes * means
        for bank in banks:
            experts = bank["experts"]
            learner_of(bank)._open(experts)
            for name in {"theta", "past"} & experts.keys():
                part = experts[name]
                part[..., q:] = slopes * part[..., :q]
                part[..., 0, q:] += constants
            b, of_constant = experts["b"], experts["A"][:, :, 0]
            b[..., q:] = slopes * b[..., :q] + of_constant[..., None] * constants

    def learn(self, state, base, F, logs, heard, taught, scales, sane, weights=None):
        """Learn targets and logarithms, `taught` (n, 2q), of rows forecast as `base` (n, q).

        Experts forecast F (q, n, K) of them, and `logs` (q, n, K), where they learn any; some are
        `heard` (q, K). `scales` are those of the targets; what is mixed is made `sane`. Returns
        corrected forecasts.
        """
        is_heard, units = self._is_heard(state, self.delay), state["units"]
        levels = _log(units, base)
        D, roots = _deviations(units, base, levels, F, logs, heard)
        errors = _errors(units, base, levels, taught, roots, scales).swapaxes(0, 1)
        steps = self.stack._learn(state["stack"], D, errors, weights).swapaxes(0, 1)
        state["t"] += len(base)
        if not is_heard:
            return base
        F = sane(_corrected(units, base, levels, roots, steps))
        return corrections.learn(state["mixture"], F, taught[:, : self.n_targets], weights)

    def forecast(self, state, base, F, logs, heard, sane, ago=0):
        """Return what is mixed (n, q) by what was known some rounds ago; nothing is learnt."""
        if not self._is_heard(state, ago):
            return base
        units, stack = state["units"], state["stack"]
        levels = _log(units, base)
        D, roots = _deviations(units, base, levels, F, logs, heard)
        known = stack | {"theta": stack["past"][:, -ago]} if ago else stack
        steps = self.stack._forecast(known, D).swapaxes(0, 1)
        F = sane(_corrected(units, base, levels, roots, steps))
        return corrections.forecast(state["mixture"], F, ago)

    def ask_row(self, state, base, F, logs, heard, limits):
        """Return what is mixed (q,) of a row, and what `teach_row` takes, where no label is late.

        Its base forecasts are (q,), those of experts (q, K), limits (q, 3).
        """
        units = state["units"]
        levels = _log(units, base)
        of_row = base[None], levels[None], F[:, None], logs[:, None]
        D, roots = _deviations(units, *of_row, heard)
        met, of_row = self.stack._meet_row(state["stack"], D[:, 0]), (base, levels, roots[0])
        if not self._is_heard(state, 0):
            return base, (*of_row, met, None, None)
        F = sane(_corrected(units, *of_row, met.forecast), limits)
        forecasts, known = corrections.ask_row(state["mixture"], F)
        return forecasts, (*of_row, met, known, F)

    def teach_row(self, state, asked, taught, scales, weight):
        """Learn targets and logarithms, `taught` (2q,), of a row that was asked for."""
        base, levels, roots, met, known, F = asked
        errors = _errors(state["units"], base, levels, taught, roots, scales)
        self.stack._close(state["stack"], grows=True)
        self.stack._teach_row(state["stack"], met, errors, weight)
        state["t"] += 1
        if known is not None:
            corrections.teach_row(state["mixture"], known, F, taught[: self.n_targets], weight)

    def written(self, state):
        """Return the arrays, of regression and mixture, that a row alone has written."""
        parts = [state["stack"][name] for name in ("theta", "b", "squares")]
        return parts + corrections.written(state["mixture"])

    def are_finite(self, state):
        """Tell whether the matrices of its regression are."""
        return state["stack"]["inverse"].is_finite

    def forget_target(self, state, j, latest):
        """Begin anew with target j, whose logarithms are of the range of its latest ones."""
        units, stack = state["units"].copy(), state["stack"]
        units[:, [j]] = _units_of(*[np.array([f(latest)]) for f in (np.min, np.max, np.mean)])
        state["units"] = units
        self.stack._open(stack)
        fresh = self.stack._start(stack["theta"].shape[1], 2, bank=[{}], late=self.delay)
        for part in {"A", "b", "P", "theta", "squares", "past"} & stack.keys():
            stack[part][j] = fresh[part][0]
        corrections.forget_target(state["mixture"], j, _SHARE)

    def close(self, state, grows=False):
        """Let the matrices of the regression be shared by copies of the state."""
        self.stack._close(state["stack"], grows)

    def _is_heard(self, state, ago):
        return state["t"] - ago >= _BURN_IN


def is_sound(state):
    """Tell whether a state, as from a file, may be one of these: targets have ends and units."""
    units = state["units"]
    return bool(
        units.ndim == 2
        and len(units) == 2
        and (units[1] != 0.0).all()
        and len(state["stack"]["theta"]) == units.shape[1]
        and state["t"] >= 0
    )


def _deviations(units, base, levels, F, logs, heard):
    """Return what the regression sees (q, n, 2K) of rows, and roots (n, q) of how these count.

    That are how far experts are from `base` (n, q), in multiples of its size and, of logarithms,
    from its `levels`, times the root of this size, by which a row counts.
    """
    (q, n, K), sizes = F.shape, _sizes(levels)
    roots = np.sqrt(np.minimum(sizes, _HEAVIEST))
    D = np.empty((q, n, 2, K))
    np.subtract(F, base.T[..., None], out=D[:, :, 0])
    D[:, :, 0] /= (units[1] * sizes).T[..., None]
    np.subtract(logs, levels.T[..., None], out=D[:, :, 1])
    np.copyto(D, 0.0, where=np.isnan(D) | ~heard[:, None, None])
    np.minimum(np.maximum(D, -_FARTHEST, out=D), _FARTHEST, out=D)
    D *= roots.T[..., None, None]
    return D.reshape(q, n, 2 * K), roots


def _errors(units, base, levels, taught, roots, scales):
    """Return what the regression learns (..., q, 2) of those taught: errors, and of logarithms.

    None of them is larger than several scales of the targets, or several times.
    """
    q, most = base.shape[-1], LARGEST * scales
    u, logs = taught[..., :q], taught[..., q:]
    errors = np.empty((*u.shape, 2))
    errors[..., 0] = np.minimum(np.maximum(u - base, -most), most) / (units[1] * _sizes(levels))
    errors[..., 0] *= roots
    errors[..., 1] = np.minimum(np.maximum(logs - levels, -LARGEST), LARGEST) * roots
    return errors


def _corrected(units, base, levels, roots, steps):
    """Return forecasts (..., q, 3) as they were, and with what the regression says (..., q, 2)."""
    F = np.empty((*base.shape, 3))
    F[..., 0] = base
    F[..., 1] = base + units[1] * _sizes(levels) * steps[..., 0] / roots
    logs = levels + steps[..., 1] / roots
    sizes = np.expm1(np.minimum(np.abs(logs), _STEEPEST))
    F[..., 2] = units[0] + units[1] * np.copysign(sizes, logs)
    return F


def _units_of(low, high, means):
    """Return the ends that distances are from, and their signed units (2, q)."""
    ends = np.where(means - low <= high - means, low, high)
    units = means - ends
    return np.stack([ends, np.where(units == 0.0, 1.0, units)])


def _log(units, u):
    """Return the logarithms of numbers (..., q)."""
    with np.errstate(over="ignore"):
        far = (u - units[0]) / units[1]
    return np.copysign(np.minimum(np.log1p(np.abs(far)), _LARGEST), far)


def _sizes(levels):
    """Return the sizes of which these are the logarithms, 1 and more."""
    return np.exp(np.minimum(np.abs(levels), _STEEPEST))
