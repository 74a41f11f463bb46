r"""The mixture of the experts of each step and series, learnt from what has become known.

Three mixtures are mixed. The first weights expert e by :math:`m_e^{-4}`, with :math:`m_e` its
faded mean squared error (J. M. Bates, C. W. J. Granger, "The combination of forecasts", Operational
Research Quarterly 20(4), 1969): experts that are far off, such as persistence beyond its time, are
left out, equals are averaged. The others add to its forecast :math:`\bar f` a ridge regression on
the deviations :math:`f_e - \bar f`, one that remembers all and one that forgets (L. Breiman,
"Stacked regressions", Machine Learning 24(1), 1996): these find what errors have in common. The
three are weighted by the same rule.

All is per step and per series, but for the squared errors, which are shrunk a little to their mean
over all series. A mixture learns the forecasts of an origin h rows old at step h when the target is
known, as they were issued. So a mixture that follows what is already over is seen to be late, and
is left out. The regressions count rows in units of the errors that the first mixture had until
then: at the beginning these are large, and say little of what follows. A row whose error is more
than twice as large counts for less, two over how many times: so a few wild rows, from which errors
of neighbouring steps are all one, do not say how experts go together (P. J. Huber, "Robust
estimation of a location parameter", Annals of Mathematical Statistics 35(1), 1964, of one step,
from what the first mixture had forecast). As long as it knows fewer rows than it has coefficients,
a regression is expected to be no better than chance. Pooled series share them: `_shared_stacks.py`.

Where errors have become much smaller, as those of a series that is in another unit from some row
on, old errors would say for thousands of rows who is good. So there are two means of the least
error of a row, squared: one of the latest five or so, one that fades like all errors. While the
first is below 1/32 of the second, a row counts as many times as it is below that: as if errors were
relative. A row that somebody forecasts without an error says nothing: a sensor stands still, a shop
is closed. Nor does a night of small errors take long enough. On made series of a unit that falls to
a hundredth or a thousandth, squared errors from 64 rows after that on were up to 10 000 times those
of the latest value, and are .6 to 2.5 times these, half of them 64 rows later.

Arrays have the experts first and steps and series last, which are many: NumPy is fast along these.
But inverses and sums, a matrix each step and series, have them last. Reading an inverse is cheap,
writing it is not: it stays as it is for `BLOCK` rounds, and what these have taken from it waits in
a tail V, :math:`P = P_0 - V^T V`. Those under "recent" are written row by row, all others are
replaced.
"""

import numpy as np

from .._linalg import inverse_spd
from . import _powers, _shared_stacks

FORGETTING = np.array([1.0, 0.998])  # of the regressions on the deviations
N_MIXTURES = 2 + len(FORGETTING)  # the one by powers, those with regressions, and the whole
LASTING = np.array([0, N_MIXTURES - 1])  # those that are not told again, see `again`
_ALPHA = 1.0  # their ridge, where errors have variance 1
_FLOOR = 0.02  # of that variance, which is the first mixture's: as if ten rows had been at 1
_WILD = 2.0  # usual errors beyond which a row counts for less: 1 costs means for medians
_EXPECTED = np.array([1.0, 4.0, 4.0])  # squared errors of the three beforehand, over the least
_N_EXPECTED = 16.0  # targets that this counts for, about as many as there are coefficients
_LATELY = 0.8  # fading of the least squared errors that tell whether errors have become smaller
_SMALLER = 32.0  # times that they are to be smaller: as after 15 rows of next to nothing
_MOST = 250.0  # rows that one counts as then at most: half of what is known is from it
_TINY = np.finfo(float).tiny
_FEW = 0.05  # weight below which nobody knows what errors are usually
BLOCK = 8  # rounds between two changes of an inverse
_REFRESH = 64  # rounds between two inversions of their exact sums


def start(n_experts, horizon, n_series, is_shared=False):
    """Return the state of mixtures that know no target yet; series may share the regressions."""
    lead, n_stacks = (horizon, n_series), len(FORGETTING)
    eye = np.broadcast_to(np.eye(n_experts), (n_stacks, *lead, n_experts, n_experts)).copy()
    state = {
        "errors": np.zeros((n_experts, *lead)),  # faded squared errors of the experts
        "mixed": np.zeros((N_MIXTURES - 1, *lead)),  # and of the mixtures
        "weight": np.zeros(lead),  # of the faded squares: 1 in the long run
        "least": np.zeros((2, *lead)),  # mean square of the least error of a row: lately, and faded
    }
    if is_shared:
        return state | _shared_stacks.start(n_stacks, n_experts, horizon)
    return state | {
        # inverse, as if nothing had faded since it was last inverted: later rows are less noisy
        "P": eye / _ALPHA,
        "sums": eye * _ALPHA,
        "theta": np.zeros((n_stacks, n_experts, *lead)),
        "known": np.zeros(lead),  # targets since the inversion
        # deviations that the sums do not know yet, and how many targets were known before each
        "recent": {
            "deviations": np.zeros((_REFRESH, *lead, n_experts)),
            "before": np.zeros((_REFRESH, *lead)),
            "tail": np.zeros((n_stacks, BLOCK, n_experts, *lead)),
        },
    }


def is_sound(state):
    """Tell whether errors, as in a file, are squares, and what is counted is not below 0."""
    known = [state[name] for name in ("errors", "mixed", "least", "known") if name in state]
    numbers = [state[name] for name in ("theta", "P", "sums", "moments") if name in state]
    weight = state["weight"]
    return bool(
        all(((one >= 0.0) & (one < np.inf)).all() for one in known)
        and ((weight >= 0.0) & (weight <= 1.0)).all()
        and all(np.isfinite(one).all() for one in numbers)
    )


def weights_by_powers(state):
    """Return what experts count for (E, H, m) in the first mixture."""
    return _powers.of_series(state["errors"], state["weight"])


def mean_of_heard(weights, F):
    """Return the weighted mean (H, m) of forecasts (E, H, m), NaN of those that are silent."""
    is_silent = np.isnan(F)
    weights = np.where(is_silent, 0.0, weights)
    heard = np.where(is_silent, 0.0, F)
    return np.einsum("ehm,ehm->hm", weights, heard) / weights.sum(axis=0)


def root_mean_square(state):
    """Return the root of the mean squared errors (H, m) of the first mixture; 0 where unknown."""
    weight = state["weight"]
    return np.sqrt(state["mixed"][0] / np.where(weight > 0.0, weight, 1.0))


def forecasts(state, F, weights=None):
    """Return the forecasts (4, H, m) of the mixtures from those of the experts, F (E, H, m).

    Experts of which it is NaN say nothing, and count for nothing. `weights` are those by powers,
    where somebody knows them already.

    The first is the mixture by powers, then come those with regressions, then the whole.
    """
    mixed = np.empty((N_MIXTURES, *F.shape[1:]))
    weights, F = _heard(weights_by_powers(state) if weights is None else weights, F)
    mixed[0] = np.einsum("ehm,ehm->hm", weights, F)
    mixed[1:-1] = _stacked(mixed[0], state["theta"], F)
    mixed[-1] = np.einsum("khm,khm->hm", _shares(state), mixed[:-1])
    return mixed


def again(mixed, theta, F):
    """Return `forecasts` of an origin from those at `LASTING` (2, H, m), its theta, and F.

    Where series share theta it is fewer numbers than what the regressions said.
    """
    first, whole = mixed
    stacked = _stacked(first, theta, np.where(np.isnan(F), first, F))
    return np.concatenate([first[None], stacked, whole[None]])


def _stacked(first, theta, F):
    """Return what the regressions say (2, H, m) of F (E, H, m), by what the first mixture does."""
    return first + np.einsum("sehm,ehm->shm", theta, F - first)


def _shares(state):
    """Return the weights (3, H, m) of the mixtures in the whole."""
    return _powers.of_series(state["mixed"], state["weight"], _EXPECTED, _N_EXPECTED)


def mean_squares(state):
    """Return the mean squared errors (E, H, m) of the experts so far; 0 where none is known."""
    weight = state["weight"]
    return state["errors"] / np.where(weight > 0.0, weight, 1.0)


def _heard(weights, F):
    """Return weights without those that say nothing, NaN, and F where these say what others do."""
    is_silent = np.isnan(F)
    if not is_silent.any():
        return weights, F
    weights = np.where(is_silent, 0.0, weights)
    weights /= weights.sum(axis=0)
    mean = np.einsum("ehm,ehm->hm", weights, np.where(is_silent, 0.0, F))
    return weights, np.where(is_silent, mean, F)


def coefficients(state, F):
    """Return what the experts count for (E, H, m) in the whole mixture of forecasts F (E, H, m)."""
    theta, share = np.where(np.isnan(F), 0.0, state["theta"]), _shares(state)
    plain = _heard(_powers.of_series(state["errors"], state["weight"]), F)[0]
    stacked = theta - plain * theta.sum(axis=1, keepdims=True)
    return plain + (share[1:, None] * stacked).sum(axis=0)


def learn(state, t, F, mixtures, y, trust=1.0):
    """Learn what was forecast of row t, and what came: an origin for each step.

    Parameters
    ----------
    t : int
        Rows learnt so far.
    F : ndarray of shape (E, H, m)
        Forecasts of the experts; NaN of one that said nothing.
    mixtures : ndarray of shape (3, H, m)
        Forecasts of the mixtures, as they were issued: what they know now, they did not know then.
    y : ndarray of shape (H, m)
        What came; NaN is unknown.
    trust : float or ndarray of shape (H, m), default=1.0
        What an error counts for, over what it does in the long run.
    """
    known = np.isfinite(y)
    F = np.where(np.isnan(F), mixtures[0], F)
    if not known.all():
        F, y = np.where(known, F, 0.0), np.where(known, y, 0.0)
        mixtures = np.where(known, mixtures, 0.0)
    unit = np.sqrt((state["mixed"][0] + _FLOOR) / (state["weight"] + _FLOOR))
    missed = F - y
    counts = known * trust
    counts = counts * _times(state, missed, counts)
    state["errors"] = _powers.faded(state["errors"], missed, counts)
    state["mixed"] = _powers.faded(state["mixed"], mixtures - y, counts)
    share = (1.0 - _powers.FADING) * counts
    state["weight"] = state["weight"] + share * (1.0 - state["weight"])

    deviations, errors = _bounded((F - mixtures[0]) / unit, (y - mixtures[0]) / unit)
    if "moments" in state:
        return _shared_stacks.learn(state, deviations, errors, known, FORGETTING)
    theta = state["theta"]
    gains = _gains(state, t, deviations, known)
    errors = errors - np.einsum("ehm,sehm->shm", deviations, theta)
    gains *= errors[:, None]
    state["theta"] = np.add(theta, gains, out=gains)
    if t % _REFRESH == _REFRESH - 1:
        _commit(state)


def _gains(state, t, deviations, known):
    """Return the gains (2, E, H, m) of deviations (E, H, m), and bring these into the inverse."""
    recent, filled = state["recent"], t % BLOCK
    rows, tail = np.ascontiguousarray(deviations.transpose(1, 2, 0)), recent["tail"]
    directions = (state["P"] @ rows[..., None])[..., 0].transpose(0, 3, 1, 2)
    directions = np.ascontiguousarray(directions)
    if filled:
        V = tail[:, :filled]
        along = np.einsum("skehm,ehm->skhm", V, deviations)
        directions -= np.einsum("skehm,skhm->sehm", V, along)
    noise = FORGETTING[:, None, None] ** (state["known"] + 1.0)
    # a round without target is none
    scale = noise + np.einsum("sehm,ehm->shm", directions, deviations)
    np.divide(directions, np.sqrt(scale)[:, None], out=tail[:, filled])
    recent["deviations"][t % _REFRESH] = rows
    recent["before"][t % _REFRESH] = state["known"]
    state["known"] = state["known"] + known
    if filled == BLOCK - 1:
        V = np.ascontiguousarray(tail.transpose(0, 3, 4, 1, 2))
        change = V.swapaxes(-1, -2) @ V
        state["P"] = np.subtract(state["P"], change, out=change)
        recent["tail"] = np.zeros_like(tail)
    return np.divide(directions, scale[:, None], out=directions)


def _times(state, missed, counts):
    """Return how many times a row counts (H, m), by its errors (E, H, m); learns the least."""
    lately, faded = state["least"]
    least = _powers.squares(np.abs(missed).min(axis=0))
    usual = faded / np.where(state["weight"] > 0.0, state["weight"], 1.0)
    heard = (counts > 0.0) & (least > 0.0)
    moved = lately + (1.0 - _LATELY) * heard * (least - lately)
    lately = np.where(state["weight"] < _FEW, usual, np.minimum(moved, usual))
    smaller = usual / np.maximum(_SMALLER * lately, _TINY)
    times = np.minimum(np.maximum(smaller, 1.0), _MOST)
    faded = faded + (1.0 - _powers.FADING) * counts * times * (least - faded)
    state["least"] = np.array([lately, faded])
    return times


def _bounded(deviations, errors):
    """Return deviations (E, H, m) and errors (H, m) times the root of what their rows count for."""
    root = 1.0 / np.sqrt(np.maximum(np.abs(errors) / _WILD, 1.0))
    return deviations * root, errors * root


def clear(state, t):
    """Clear the places of rows from t on, where another state that began from this one wrote."""
    recent = state.get("recent", {})
    for name in ("deviations", "before"):
        if name in recent:
            recent[name][t % _REFRESH :] = 0.0


def begin_anew(state, expert, errors, ridge=_ALPHA):
    """Forget what is known of an expert, which is another one from now on.

    Its mean squared errors (H, m) so far are given; where they are NaN they are those of the worst
    expert. The regressions are as if they had never seen the expert, whose ridge is given: their
    forecasts do not follow what they learnt of the one before.
    """
    if "moments" in state:
        _shared_stacks.forget(state, expert)
        return hear(state, expert, errors)
    _commit(state)
    P, theta, sums = (state[name].copy() for name in ("P", "theta", "sums"))
    beside = P[..., expert] / P[..., expert, expert][..., None]  # (stacks, H, m, E)
    theta -= np.moveaxis(beside, -1, 1) * theta[:, expert][:, None]
    P -= beside[..., None] * P[..., expert, None, :]
    for array, own in ((P, 1.0 / ridge), (sums, ridge)):
        array[..., expert, :], array[..., expert] = 0.0, 0.0
        array[..., expert, expert] = own
    theta[:, expert] = 0.0
    state.update(P=P, theta=theta, sums=sums)
    hear(state, expert, errors)


def hear(state, expert, errors):
    """Believe mean squared errors (H, m) of an expert so far, or where NaN those of the worst."""
    faded_errors = state["errors"].copy()
    known = errors * state["weight"]
    faded_errors[expert] = np.where(np.isnan(known), faded_errors.max(axis=0), known)
    state["errors"] = faded_errors


def exchange(state, experts):
    """Let experts be in another order (E,), with all that is known of them."""
    state["errors"] = state["errors"][experts]
    if "moments" in state:
        return _shared_stacks.exchange(state, experts)
    _commit(state)
    state["theta"] = state["theta"][:, experts]
    for name in ("P", "sums"):
        state[name] = np.ascontiguousarray(state[name][..., experts[:, None], experts])


def _commit(state):
    """Bring the latest deviations into the exact sums, put back the lost ridge, and invert."""
    recent, known, sums = state["recent"], state["known"], state["sums"].copy()
    latest = np.moveaxis(recent["deviations"], 0, -2)  # (H, m, rounds, E)
    age = np.moveaxis(known - 1.0 - recent["before"], 0, -1)[..., None]
    for forgetting, own in zip(FORGETTING, sums, strict=True):
        left = (forgetting**known)[..., None, None]
        own *= left
        own += (latest * forgetting**age).swapaxes(-1, -2) @ latest
        own += (1.0 - left) * _ALPHA * np.eye(sums.shape[-1])
    state["sums"], state["P"] = sums, inverse_spd(sums, _ALPHA)
    state["known"] = np.zeros_like(known)
    state["recent"] = {name: np.zeros_like(value) for name, value in recent.items()}
