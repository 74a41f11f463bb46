"""Which of a few numbers are faults, judged as a whole; none of them is known to be good."""

import numpy as np

_GAP = 2.5  # distances of the farthest sound number that a fault is off at least
ALIKE = 3  # times that a number is there at least that stands for none
APART = 1.5  # and how far off, in distances of the farthest of all others
_ONE_IN = 200  # of which may be farther in a series, as what was filled in for faults may be
_OFF = 5.0  # and in median distances
_FAR_OFF = 30.0  # where it came in one long run, or two, or values take few numbers
_FEWEST = 6  # values of which some are equal, if there are but a few numbers
_REPEATED = 3.0  # log odds that two values differ, up to which they come again and again
_LIKELY = 2.0  # and which will do where values are few, but a number comes thrice
_RIDGE = 0.1  # of the regression that may explain them
_UNEXPLAINED = 0.5  # share of their squares that rows which explain them leave
_EQUAL = 0.5  # and of that where all are one number, as what stands for none is
_OF_MEAN = 0.75  # and of what the mean of all others leaves, which explains half of what is common
_CLIP = 5.0  # standard deviations of a column
_LATEST = 128  # rows taken for faults, and rows, by which it is told whether they are explained
_SHARE = 0.05  # of targets in doubt that is warned of
_ENOUGH = 64  # rows, after which the share can be told


def judged(y, far=8.0):
    """Judge numbers (n,) as a whole.

    Parameters
    ----------
    y : ndarray of shape (n,)
    far : float, default=8.0
        Typical distances from the median that a fault is off at least.

    Returns
    -------
    faulty : ndarray of bool of shape (n,)
        Which of them lie far beyond nearly all others, or stand for none.
    middle, usual : float
        Their median, and the distance from it of nearly all.
    """
    with np.errstate(over="ignore"):
        middle = np.median(y)
        distances = np.abs(y - middle)
    ordered = np.sort(distances)
    nearly_all = len(y) - 1 - max(1, len(y) // 10)
    usual, typical = ordered[nearly_all], np.median(distances)
    limit = far * (typical if typical > 0.0 else usual)
    # heavy tails thin out, and faults stand apart
    below, above = ordered[len(y) // 2 : -1], ordered[len(y) // 2 + 1 :]
    apart = (above > limit) & (above > _GAP * below)
    last = below[int(apart.argmax())] if limit > 0.0 and apart.any() else np.inf
    faulty = (distances > last) | np.isin(y, stand_for_none(y))
    if not faulty.any():
        return faulty, middle, usual
    return faulty, middle, min(usual, np.max(distances, where=~faulty, initial=0.0))


def stand_for_none(y, in_long_runs=False):
    """Return the numbers among some (n,) that stand for none, at most two.

    One comes again and again, in short runs, if not in most rows, and lies apart from all others,
    if not as far as a single fault does. In long runs it may be a state of its own, and so may 0,
    which what is off reads, where it comes often. Where values hardly ever repeat a state would
    have noise: there one that comes seldom is none if it is beyond all others, or if that is
    asked for.
    """
    numbers = []
    for number, count in _ends(y):
        same = y == number
        if count < ALIKE or 2 * count >= len(y) or (number == 0.0 and 4 * count > len(y)):
            continue
        n_runs = len(runs(same)[0])
        # runs are twice as long as by chance at most
        is_short, has_come_again = 2 * n_runs >= count * np.mean(~same), n_runs >= ALIKE
        is_often = 4 * count >= len(y)
        is_beyond = not is_often and lies_beyond(number, y[~same])
        is_state = is_often or not (in_long_runs or is_beyond) or number == 0.0
        is_state = is_state or not seldom_repeat(y, number)
        if not is_short and (is_state or (same[-1] and not has_come_again)):
            continue
        least = _OFF if is_short or has_come_again or is_beyond else _FAR_OFF
        n_farther = np.count_nonzero(~same) // _ONE_IN if in_long_runs else 0
        if _lies_apart(number, y[~same], least, n_farther):
            numbers.append(number)
    return np.array(numbers)


def stand_beyond(values):
    """Return the numbers among values (n,) that come again and again, and lie beyond all others.

    They come in less than half of the rows, and others hardly ever come twice in a row: these are
    outages, however long.
    """
    known = [number for number, count in _ends(values) if ALIKE <= count < 0.5 * len(values)]
    others = values[~np.isin(values, known)]
    return [
        number
        for number in known
        if lies_beyond(number, others) and seldom_repeat(values, number, _LIKELY)
    ]


def stands_beyond(number, values):
    """Tell whether a number lies beyond all other values (n,), which hardly ever repeat.

    Then it is none, though it be foretold, as one that comes in season is; but not most of all.
    """
    others = values[values != number]
    if 2 * len(others) < len(values) or not len(others) or not lies_beyond(number, others):
        return False
    return seldom_repeat(others, number, _LIKELY)


def _ends(values):
    """Return the least and the largest of values (n,), each with how often it comes."""
    numbers, counts = np.unique(values, return_counts=True)
    return zip(numbers[[0, -1]], counts[[0, -1]], strict=True)


def lies_apart(number, values):
    """Tell whether a number that is doubted again and again lies apart from other values (n,)."""
    others = values[values != number]
    return len(others) > 0 and _lies_apart(number, others)


def _lies_apart(number, others, least=_OFF, n_farther=0):
    """Tell whether a number lies apart from others (n,), of which a few may be farther off.

    Of counts, and what else takes few values, the largest one lies apart from the next one, and
    comes again: there, and as long as nobody knows, it is to be far off in the distances of those
    that are not in the middle.
    """
    middle = np.median(others)
    with np.errstate(over="ignore"):
        off, distances = abs(number - middle), np.abs(others - middle)
    place = -1 - n_farther
    farthest = np.partition(distances, place)[place]
    typical = np.median(distances)
    if farthest > 0.0 and _may_be_few(others):
        least, typical = _FAR_OFF, np.median(distances[distances > 0.0])
    return bool(off > max(APART * farthest, least * typical) > 0.0)


def _may_be_few(values):
    """Tell whether values (n,), but for the one that is most frequent, may come again and again."""
    _, counts = np.unique(values, return_counts=True)
    n_others, n_different = len(values) - counts.max(), len(counts) - 1
    if n_others == n_different:
        return n_others < _FEWEST
    return not _are_rare(n_others - n_different, n_others, _REPEATED)


def seldom_repeat(values, but, odds=_REPEATED):
    """Tell whether values (n,), but for such a number, hardly ever equal the one before them.

    Then one in doubt that does is no level, which would have noise, but the mark of a fault: the
    second such says no more than the first. The log odds of that are more than `odds`.
    """
    n_equal = np.count_nonzero((values[1:] == values[:-1]) & (values[1:] != but))
    return _are_rare(n_equal, len(values), odds)


def lies_beyond(number, values):
    """Tell whether a number lies beyond values (n,), and beyond 0, which what is off reads.

    It is as far again from their middle as the farthest of these.
    """
    lowest, highest = min(np.min(values), 0.0), max(np.max(values), 0.0)
    with np.errstate(over="ignore"):
        return bool(abs(number - 0.5 * (lowest + highest)) > highest - lowest)


def lies_across(number, values, near):
    """Tell whether a number lies beyond values (n,) and 0, on a side of 0 where none of them is.

    Few levels do, but what stands for none, whatever its last digits. What is as far from 0 as the
    values are, or `near` to that, has another sign, and is a level as any.
    """
    is_across = values.any() and (np.sign(number) * values).max() <= 0.0
    is_across = is_across and abs(number) > np.abs(values).max() + near
    return bool(is_across and lies_beyond(number, values))


def comes_again(number, n_before, values, odds=_REPEATED):
    """Tell whether a far number, of so many among the latest far ones, stands for none.

    The latest values (n,) hardly ever come twice, so that this says something: the log odds of that
    are more than `odds`. And it lies apart from them, as the largest that is written down, however
    often it comes, does not.
    """
    if n_before < ALIKE - 1:
        return False
    others = values[values != number]
    n_equal = len(others) - len(np.unique(others))
    return _are_rare(n_equal, len(others), odds) and _lies_apart(number, others)


def _are_rare(n_equal, n, odds):
    """Tell whether few of n values are equal: the log odds that two differ are more than `odds`."""
    return bool(np.log((1.0 + n) / (1.0 + n_equal)) > odds)


def explain(X, y, faulty):
    """Tell whether rows (n, d) explain most of what is taken for faults among their targets (n,).

    Each run of these is forecast by a ridge regression on all other rows, with a linear and a
    Gaussian kernel, and by the mean of these: from them both know nothing of the faults. Gaps count
    as the mean of their column; no columns explain nothing. Runs of one number may come in like
    rows by chance, as three runs at one time of the day: they are to be explained better.
    """
    if not X.shape[1]:
        return False
    there = ~np.isnan(X)
    n_there = np.maximum(there.sum(axis=0), 1)
    X = np.where(there, X, np.sum(X, axis=0, where=there) / n_there)
    center, scale = X.mean(axis=0), X.std(axis=0)
    Z = np.clip((X - center) / np.where(scale > 0.0, scale, 1.0), -_CLIP, _CLIP) / np.sqrt(
        max(np.count_nonzero(scale), 1)
    )
    products, far = Z @ Z.T, y - np.median(y[~faulty])
    squares = np.diag(products)
    K = 1.0 + products + np.exp(products - 0.5 * (squares + squares[:, None]))
    inverse = np.linalg.inv(K + _RIDGE * np.eye(len(y)))
    with np.errstate(over="ignore", invalid="ignore"):
        far = far / np.abs(far).max()
    # what a run leaves of its forecast by all others, and of the mean of these
    left, of_mean, total = 0.0, 0.0, far.sum()
    for low, high in zip(*runs(faulty), strict=True):
        run = slice(low, high)
        mean = (total - far[run].sum()) / max(len(far) - (high - low), 1)
        left += np.square(np.linalg.solve(inverse[run, run], (inverse @ far)[run])).sum()
        of_mean += np.square(far[run] - mean).sum()
    share = _UNEXPLAINED * (1.0 if len(np.unique(y[faulty])) > 1 else _EQUAL)
    return bool(left < min(share * np.square(far[faulty]).sum(), _OF_MEAN * of_mean))


def are_explained(X, y, faulty):
    """Tell whether rows (n, d) explain what is taken for faults, by the latest of these and all.

    What is so in most rows is none.
    """
    seen = np.union1d(np.flatnonzero(faulty)[-_LATEST:], np.arange(len(y))[-_LATEST:])
    if 2 * np.count_nonzero(faulty) > len(y) or faulty[seen].all():
        return False
    return explain(X[seen], y[seen], faulty[seen])


def as_far(y, faulty):
    """Return which of numbers (n,) are as far from the middle of all others as the faulty ones."""
    distances = np.abs(y - np.median(y[~faulty]))
    return distances >= distances[faulty].min()


def runs(mask):
    """Return where runs of True in a mask (n,) begin, and where they have ended, (m,) each."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask, [0]]).astype(int)))
    return edges[::2], edges[1::2]


def are_many(n_faulty, n_rows):
    """Tell whether of some target too many were in doubt, once there are enough to tell."""
    return n_rows >= _ENOUGH and max(n_faulty) > _SHARE * n_rows


def will_be_many(n_faulty, n_rows):
    """Tell whether too many were, or will be if no other one is in doubt until there are enough."""
    return are_many(n_faulty, max(n_rows, _ENOUGH))


def many(n_rows, which, cure):
    """Return what is warned of then: where to look, and what to do about a number for missing."""
    return (
        f"More than one in twenty of the targets of {n_rows} rows were in doubt and not learnt as "
        f"they came. {which} If they stand for a missing value, {cure}; if they are true, set "
        "guard=False."
    )
