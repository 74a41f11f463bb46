"""Adaptive conformal inference: the inverse of its levels, its bound, and the cut of the stream."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_okl.conformal import _running_errors
from sklearn_okl.conformal._running_errors import LEVELS, STEP, WINDOW

COVERAGES = np.array([0.05, 0.5, 0.8, 0.9, 0.95])
COLUMNS = np.rint(100 * COVERAGES).astype(int) - 1


def radius(state, coverage):
    """Return the half width of the interval that a coverage's own level makes."""
    if not len(state["scores"]):
        return 0.0 if state["weight"] > 0.0 and state["size"] == 0.0 else np.inf
    level = np.interp(coverage, LEVELS, state["levels"])
    ordered = np.sort(state["scores"][-WINDOW:])
    with np.errstate(over="ignore"):
        reach = _running_errors._score_at(ordered, level, _running_errors._step(state))
        return _running_errors._unit(state) * reach


def sequences():
    rng = np.random.default_rng(0)
    n = 3000
    waves = np.sin(np.arange(n) / 40.0)
    return {
        "gaussian": rng.normal(size=n),
        "heavy tails": rng.standard_cauchy(size=n),
        "growing": np.exp(np.arange(n) / 200.0) * rng.normal(size=n),
        "shrinking": np.exp(-np.arange(n) / 200.0) * rng.normal(size=n),
        "bursts": np.where(np.arange(n) % 100 < 10, 50.0, 1.0) * rng.normal(size=n),
        "waves": waves,
        "ties": rng.integers(0, 3, size=n).astype(float),
        "one jump": np.r_[np.full(n // 2, 1e-3), np.full(n - n // 2, 1e3)],
        "zeros first": np.r_[np.zeros(n // 2), rng.normal(size=n - n // 2)],
    }


def hits_and_scores(errors):
    """Return who was held in each round (n, 99), and doublings beyond the largest score (n,)."""
    state, hits, doublings = _running_errors.start(), [], []
    for error in errors:
        unit, scores = _running_errors._unit(state), state["scores"]
        beyond = 0
        if unit > 0.0 and len(scores) and abs(error) / unit > scores.max():
            ratio = abs(error) / unit / scores.max() if scores.max() > 0.0 else np.inf
            beyond = np.ceil(np.log2(ratio))
        counted = unit > 0.0
        held = _running_errors.learn(state, np.array([error]))
        if counted:
            hits.append(held)
            doublings.append(beyond)
    return np.array(hits), np.array(doublings)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("name", sequences())
def test_pathwise_bound(name):
    hits, doublings = hits_and_scores(sequences()[name])
    for n in (100, 500, len(hits)):
        sums = np.vstack([np.zeros(99), np.cumsum(hits, axis=0)])
        gaps = np.abs((sums[n:] - sums[:-n]) / n - LEVELS).max(axis=1)
        # the level before the window has its range from earlier rounds: the largest k so far
        worst = np.maximum.accumulate(doublings)[n - 1 :]
        bound = (1 + (worst + 1) * STEP) / (n * STEP)
        assert (gaps <= bound + 1e-12).all()


def greedy(n, coverage, miss):
    """Errors that are just held or just missed by one coverage, as a rule of the round says."""
    state, errors = _running_errors.start(), [1.0, 1.0]
    _running_errors.learn(state, np.array(errors))
    for t in range(n):
        half = radius(state, coverage)
        if half > 1e100:  # it grows and grows
            break
        error = (half if half > 0.0 else 0.1) * (1.01 if miss(t) else 0.99)
        errors.append(error)
        _running_errors.learn(state, np.array([error]))
    return np.array(errors)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_an_adversary_cannot_break_the_bound(coverage):
    # always just outside: the interval must grow until a miss is a doubling
    errors = greedy(600, coverage, lambda t: t % 2 == 0)
    hits, doublings = hits_and_scores(errors)
    gap = abs(hits[:, round(100 * coverage) - 1].mean() - coverage)
    n = len(hits)
    assert gap <= (1 + (doublings.max() + 1) * STEP) / (n * STEP)
    assert gap > 0.0 or coverage == 0.5


def test_levels_and_scores_are_inverse():
    rng = np.random.default_rng(1)
    for n in (1, 2, 7, 60):
        ordered = np.sort(rng.exponential(size=n).round(1) + 0.1)
        for level in [*rng.uniform(-0.1, 1.3, size=200), 0.0, 1.0, n / (n + 1)]:
            edge = _running_errors._score_at(ordered, level)
            if level < 0.0:
                assert edge == 0.0
                continue
            at_edge, beyond = _running_errors._levels_needed(
                ordered, np.array([n, n]), edge * np.array([1.0, 1.0 + 1e-6])
            )
            assert at_edge <= level + 1e-12
            assert beyond > level - 1e-12


def test_hits_are_those_of_the_radius():
    rng = np.random.default_rng(2)
    errors = rng.standard_t(2, size=900)
    state = _running_errors.start()
    for error in errors:
        radii = np.array([radius(state, c) for c in COVERAGES])
        levels = state["levels"][COLUMNS]
        counted = len(state["scores"]) > 0
        held = _running_errors.learn(state, np.array([error]))[COLUMNS]
        if counted:
            assert_array_equal(held == 1, (abs(error) <= radii) & (levels >= 0.0))


def test_the_cut_is_invisible():
    errors = sequences()["bursts"][:1200]
    whole = _running_errors.start()
    covered = _running_errors.learn(whole, errors)
    for ends in ([1, 2, 1200], [499, 500, 501, 1200], range(1, 1201)):
        state, low, total = _running_errors.start(), 0, 0
        for high in ends:
            total = total + _running_errors.learn(state, errors[low:high])
            low = high
        assert_array_equal(total, covered)
        for name, value in whole.items():
            assert_array_equal(state[name], value)


def test_the_state_is_bounded():
    state = _running_errors.start()
    _running_errors.learn(state, np.random.default_rng(3).normal(size=3 * WINDOW))
    assert len(state["scores"]) == WINDOW
    assert_array_equal(state["levels"].shape, LEVELS.shape)


def test_no_errors_and_zero_errors():
    state = _running_errors.start()
    assert radius(state, 0.9) == np.inf
    assert _running_errors.standard_deviation(state) == 0.0
    _running_errors.learn(state, np.zeros(10))
    assert radius(state, 0.9) == 0.0
    # after a very long run of zeros a jump is still finite
    _running_errors.learn(state, np.ones(3))
    _running_errors.learn(state, np.zeros(50_000))
    _running_errors.learn(state, np.array([1.0, -2.0]))
    assert np.isfinite(state["scores"]).all()
    assert np.isfinite(radius(state, 0.9))


@pytest.mark.long(every=5)
@pytest.mark.parametrize("delay", [1, 7, 60])
@pytest.mark.parametrize("name", ["heavy tails", "bursts", "ties", "one jump"])
def test_late_errors_are_judged_by_the_interval_that_was_issued(name, delay):
    errors = sequences()[name][:900]
    state, issued, n_judged = _running_errors.start(delay), [], 0
    for t, error in enumerate(errors):
        known = _running_errors._unit(state) > 0.0
        radii = [radius(state, c) for c in LEVELS[[9, 49, 89]]]
        issued.append((known, radii, state["levels"][[9, 49, 89]] < 0.0))
        hits = _running_errors.learn(state, np.array([error]))[[9, 49, 89]]
        if t >= delay:
            known, radii, empty = issued[t - delay]
            edge = np.isclose(radii, abs(error), rtol=1e-9)
            expected = known & (abs(error) <= np.array(radii)) & ~empty
            assert ((hits == expected) | edge).all()
            n_judged += known
    assert n_judged > 400
    whole = _running_errors.start(delay)
    _running_errors.learn(whole, errors)
    np.testing.assert_allclose(whole["levels"], state["levels"], atol=1e-12)
    assert whole["levels"].min() >= -STEP


@pytest.mark.long(every=3)
@pytest.mark.parametrize("name", ["gaussian", "heavy tails", "bursts", "ties", "zeros first"])
def test_quantiles_never_cross_and_hold_what_own_levels_hold(name):
    errors, state, held, own = sequences()[name][1000:2000], _running_errors.start(), [], []
    for error in errors:
        reach = _running_errors.quantiles(state)[100:]
        assert (reach[1:] >= reach[:-1]).all()
        held.append(abs(error) <= reach)
        own.append([abs(error) <= radius(state, c) for c in COVERAGES])
        _running_errors.learn(state, np.array([error]))
    shares = np.mean(held[100:], axis=0)[COLUMNS], np.mean(own[100:], axis=0)
    allowed = 0.04 if name in ("ties", "zeros first") else 0.02
    assert (np.abs(shares[0] - shares[1]) < allowed)[1:].all(), shares


@pytest.mark.parametrize("delay", [0, 7])
def test_several_targets_are_each_alone(delay):
    rng = np.random.default_rng(4)
    errors, faulty = rng.standard_t(2, size=(700, 3)), rng.random((700, 3)) < 0.05
    errors[:40, 1] = 0.0
    together, low = _running_errors.start(delay, (3,)), 0
    alone = [_running_errors.start(delay) for _ in range(3)]
    for high in (1, 2, 60, 65, 690, 691, 700):
        rows, trace = slice(low, high), [] if high - low < 10 else None  # quantiles take long
        covered = _running_errors.learn(together, errors[rows], faulty[rows], trace=trace)
        for j, state in enumerate(alone):
            said = None if trace is None else []
            hits = _running_errors.learn(state, errors[rows, j], faulty[rows, j], trace=said)
            assert_array_equal(covered[j], hits)
            if trace is not None:
                assert_array_equal(np.array(trace)[:, j], np.array(said))
            assert_array_equal(together["levels"][j], state["levels"])
            n = len(state["scores"])
            assert_array_equal(together["scores"][j, :n], state["scores"])
            assert (together["scores"][j, n:] == -1.0).all()
        low = high
    quantiles = np.array([_running_errors.quantiles(state) for state in alone])
    assert_array_equal(_running_errors.quantiles(together), quantiles)
