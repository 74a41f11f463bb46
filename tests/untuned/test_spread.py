"""Sizes of errors by rows: the same forecasts, an oracle, the bound, cuts, and what they say."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Ridge

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.conformal import _running_errors
from sklearn_okl.conformal._running_errors import LEVELS
from sklearn_okl.evaluation import crps_from_quantiles
from sklearn_okl.features._moments import faded
from sklearn_okl.untuned.rounds import _one_error, _row_laws

from ..oracles.row_laws import COVERAGES, RowLaw

ROWS = OnlineKernelRegressor(budget="fast", spread="rows", random_state=0)
RUNNING = clone(ROWS).set_params(spread="running")
ALPHA = np.arange(1, 20) / 20.0


def stream(n=300, seed=0, n_targets=None):
    """Errors that are large where the second input is."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + 0.4 * np.exp(X[:, 1]) * rng.normal(size=n)
    if n_targets is None:
        return X, y
    return X, np.column_stack([y, *rng.normal(size=(n_targets - 1, n))])


def errors_and_sizes(n=700, seed=0):
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.normal(size=n))
    errors = sizes * (rng.gamma(2.0, size=n) - 2.0)
    errors[rng.random(n) < 0.1] = 0.0
    errors[300:310] *= 100.0
    return errors, np.where(rng.random(n) < 0.1, 0.0, sizes)


OPTIONS = {
    "plain": {},
    "late": {"label_delay": 3},
    "no lags, balanced": {"lags": 0, "budget": "balanced"},
    "trees": {"trees": Ridge()},
    "forgetting": {"forgetting": 0.99},
}


@pytest.mark.long
@pytest.mark.parametrize("n_targets", [None, 2])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_point_forecasts_are_the_same_to_the_last_bit(options, n_targets):
    X, Y = stream(700, n_targets=n_targets)
    X[50:, 2] = np.where(np.arange(650) % 9, X[50:, 2], np.nan)
    Y[200:260] += 30.0  # a level
    Y[400] += 1e4  # a fault
    Y[500:503] = np.nan
    weights = np.random.default_rng(1).integers(0, 3, size=700).astype(float)
    one, other = (clone(model).set_params(**options) for model in (RUNNING, ROWS))
    for rows in (slice(0, 333), slice(333, 700)):
        of_rows = X[rows], Y[rows], weights[rows]
        assert_array_equal(one.prequential_predict(*of_rows), other.prequential_predict(*of_rows))
    assert_array_equal(one.predict(X), other.predict(X))
    assert_array_equal(one.expert_losses_, other.expert_losses_)
    law = other.predict_distribution(X[:20])
    assert law.quantiles.shape == (20, 199) if n_targets is None else (20, 2, 199)
    assert np.isfinite(law.quantiles).all()


def test_sizes_leave_forecasts_as_they_are():
    X, y = stream(150)
    one, other = (clone(model).prequential_predict(X, y) for model in (RUNNING, ROWS))
    assert_array_equal(one, other)


def test_the_law_is_its_oracle():
    errors, sizes = errors_and_sizes()
    faulty = np.random.default_rng(1).random(700) < 0.05
    weights = np.random.default_rng(2).integers(0, 3, size=700).astype(float)
    state, literal, low = _row_laws.start(), RowLaw(), 0
    for high in (1, 2, 3, 17, 40, 300, 301, 700):
        rows = slice(low, high)
        held = _row_laws.learn(state, errors[rows], sizes[rows], faulty[rows], weights[rows])
        of_rows = zip(errors[rows], sizes[rows], faulty[rows], weights[rows], strict=True)
        assert_array_equal(
            held, np.sum([literal.learn(*map(float, row)) for row in of_rows], axis=0)
        )
        assert_allclose(state["levels"], literal.levels)
        assert_allclose(state["shares"], literal.shares)
        low = high
    found = _row_laws.offsets(state, np.array([0.3, 2.0]))
    for size, one in zip((0.3, 2.0), found, strict=True):
        law, levels = literal.law(size), np.clip(_row_laws._rising(np.array(literal.levels)), 0, 1)
        ends = np.array([literal.places(level) for level in np.minimum(levels, COVERAGES[-1])])
        sides = [*[-c for c in COVERAGES[:0:-1]], *COVERAGES]
        quantiles = [*law[0][:0:-1], *law[1]]
        known = levels < 1.0  # above, intervals are of more than was seen
        assert_allclose(one[100:][known], np.interp(ends[known, 1], sides, quantiles))
        assert_allclose(one[98::-1][known], np.interp(ends[known, 0], sides, quantiles))
        assert one[99] == pytest.approx(np.interp(2.0 * literal.center, sides, quantiles))
    assert abs(literal.center) > 0.01


@pytest.mark.parametrize(("delay", "huge"), [(0, 0.0), (4, 0.0), (0, 1e16), (0, -1e30)])
def test_the_cut_of_the_errors_is_invisible(delay, huge):
    errors, sizes = errors_and_sizes()
    if huge:  # what it costs all laws alike has no digit of what differs
        errors[400] = huge
    states = []
    for ends in ([700], [1, 2, 8, 100, 101, 390, 700], range(1, 701)):
        state, low = _row_laws.start(delay), 0
        for high in ends:
            _row_laws.learn(state, errors[low:high], sizes[low:high])
            low = high
        states.append(state)
    for other in states[1:]:
        for name in ("levels", "center", "shares", "tables", "squares", "since"):
            assert_allclose(other[name], states[0][name], atol=1e-12)
        for name, part in states[0]["issued"].items():
            assert_allclose(other["issued"][name], part, atol=1e-12)
    assert (np.diff(_row_laws.offsets(states[0], sizes[:9]), axis=1) >= 0.0).all()


@pytest.mark.parametrize("first", ["zeros", "of no weight", "others"])
def test_one_error_is_learnt_as_a_tile_of_one(first):
    errors, sizes = errors_and_sizes()
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], size=len(errors))
    errors[:5], weights[:5] = errors[:5] * (first != "zeros"), first != "of no weight"
    sizes[:2] = 0.0
    ours, others = _row_laws.start(), _row_laws.start()
    for i in range(len(errors)):
        rows = slice(i, i + 1)
        _row_laws.learn(others, errors[rows], sizes[rows], weights=weights[rows])
        _one_error.learn(ours, *(float(part[i]) for part in (errors, sizes, weights)))
    assert others["levels"].max() > 1.0  # some errors lay beyond all before
    assert _one_error.takes(ours)
    assert not _one_error.takes(_row_laws.start(3))
    assert ours.keys() == others.keys()
    for name in ours.keys() - {"density", "issued"}:
        assert_array_equal(ours[name], others[name], err_msg=name)
    for name, part in others["density"].items():
        assert_array_equal(ours["density"][name], part, err_msg=name)


@pytest.mark.parametrize("name", ["gaussian", "shrinking", "bursts", "signs that change"])
def test_shares_held_are_within_the_bound_whatever_sizes_say(name):
    rng, n, step = np.random.default_rng(3), 900, _row_laws.STEP
    errors = rng.normal(size=n)
    errors *= {"shrinking": np.exp(-np.arange(n) / 200.0)}.get(name, 1.0)
    errors *= np.where(np.arange(n) % 100 < 10, 50.0, 1.0) if name == "bursts" else 1.0
    errors = np.sign(np.sin(np.arange(n) / 60.0)) * np.abs(errors) if "signs" in name else errors
    sizes = np.exp(2.0 * rng.normal(size=n))  # as wrong as can be
    state, hits, doublings = _row_laws.start(), [], [0.0]
    _row_laws.learn(state, errors[:1], sizes[:1])
    for error, size in zip(errors[1:], sizes[1:], strict=True):
        scales = _row_laws._scales(np.array([_row_laws._unit(state)]), np.array([size]))
        law = _row_laws._mixed(state["shares"][None], scales, state["tables"][None])
        need = abs(_row_laws._needed(law, np.array([error]), step)[0])
        doublings.append(max(doublings[-1], np.ceil((need - 1.0) / step)))
        hits.append(_row_laws.learn(state, np.array([error]), np.array([size])))
    sums = np.vstack([np.zeros(99), np.cumsum(hits, axis=0)])
    for t in (200, 700):
        gaps = np.abs((sums[t:] - sums[:-t]) / t - LEVELS).max(axis=1)
        k = np.array(doublings[t:])
        assert (gaps <= (1.0 + (k + 1.0) * step) / (t * step) + 1e-12).all()


def streams_on_which_rows_tell_nothing(n=1500):
    """Errors, and what is said of their sizes: less than running sizes know."""
    rng = np.random.default_rng(8)
    t, z = np.arange(n), rng.normal(size=n)
    leant = np.where(t < 100, 1.0 + 0.3 * z, 0.5 * z)
    falling = np.where(t < 100, 1.0, np.exp((100 - np.minimum(t, 500)) / 100.0))
    return {
        "wrong sizes": (z, np.exp(0.5 * rng.normal(size=n)), 100),
        "sizes jump": (np.where((t // 300) % 2, 10.0, 1.0) * z, np.ones(n), 100),
        "sizes fall": (np.exp(-t / 100.0) * z, np.ones(n), 100),
        "leant once": (leant, np.ones(n), 150),
        "leant once, sizes fall": (leant * falling, np.ones(n), 150),
        "leans and turns": (np.sin(t / 60.0) + 0.4 * z, np.ones(n), 100),
    }


@pytest.mark.long(every=3)
@pytest.mark.parametrize("name", streams_on_which_rows_tell_nothing())
def test_where_rows_tell_nothing_little_is_lost_to_running_sizes(name):
    errors, factors, first = streams_on_which_rows_tell_nothing()[name]
    sizes, weights = faded(np.stack([np.abs(errors), np.ones(1500)]).T, np.zeros(2), 0.98)[:-1].T
    sizes = factors * sizes / np.maximum(weights, 1.0)
    of_rows, running = [], []
    _row_laws.learn(_row_laws.start(), errors, sizes, trace=of_rows)
    _running_errors.learn(_running_errors.start(), errors, trace=running)
    places = np.searchsorted(_running_errors.QUANTILES, ALPHA - 1e-9)
    crps = [
        crps_from_quantiles(errors[first:], np.array(law)[first:, places], ALPHA)
        for law in (of_rows, running)
    ]
    most = {"leant once, sizes fall": 1.05, "leans and turns": 0.9}
    assert crps[0] <= most.get(name, 1.005) * crps[1]


@pytest.mark.long
@pytest.mark.parametrize("delay", [0, 20])
def test_half_of_the_targets_lie_below_the_median(delay, monkeypatch):
    rng = np.random.default_rng(9)
    chances = 1.0 / (1.0 + np.exp(-2.0 * rng.normal(size=4000)))
    errors = (rng.random(4000) < chances) * rng.gamma(2.0, size=4000) - 2.0 * chances  # many zeros
    shares = []
    for calm in (_row_laws._CALM, 0.0):
        monkeypatch.setattr(_row_laws, "_CALM", calm)
        _row_laws.learn(_row_laws.start(delay), errors, np.ones(4000), trace=(said := []))
        shares.append(np.mean(errors[1000:] <= np.array(said)[1000:, 99]))
    assert abs(shares[0] - 0.5) < 0.02 < abs(shares[1] - 0.5)


def test_shared_weights_are_near_the_best_law_of_each_stretch():
    losses = np.abs(np.random.default_rng(0).normal(0.5, 0.1, size=(960, 4)))
    for part in range(4):  # another law is best in each
        losses[240 * part : 240 * (part + 1), part] -= 0.2
    state = _row_laws.start() | {"t": 40}
    shares = [state["shares"]]
    for low in range(0, 960, 8):
        path = _row_laws._learn_shares(state, losses[low : low + 8], np.array([8]))
        shares += [path[0]] * 7 + [path[1]]
        state["t"] += 8
    heard = np.einsum("tk,tk->t", np.array(shares[:960]), losses).sum()
    best = losses.reshape(4, 240, 4).sum(axis=1).min(axis=1).sum()
    assert heard - best < 0.4 * (losses.mean(axis=1).sum() - best)
    assert np.min(shares) > 0.25 * (1.0 - 0.996**8) * 0.99


@pytest.mark.long
def test_rows_of_large_errors_have_wide_intervals():
    X, y = stream(900, seed=4)
    model, other = (clone(one).fit(X, y) for one in (ROWS, RUNNING))
    calm, wild = np.tile([0.0, -1.5, 0.0], (9, 1)), np.tile([0.0, 1.5, 0.0], (9, 1))
    widths = [np.ptp(model.predict_interval(rows, 0.8), axis=1).mean() for rows in (calm, wild)]
    assert widths[1] > 3.0 * widths[0]  # exp(3), shrunk
    X, y = stream(400, seed=5)
    scores = [
        crps_from_quantiles(y, one.predict_quantiles(X, ALPHA), ALPHA) for one in (model, other)
    ]
    assert scores[0] < 0.97 * scores[1]


@pytest.mark.long
def test_skewed_errors_have_skewed_laws():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(900, 3))
    y = X[:, 0] + rng.gamma(1.0, size=900)
    law = clone(ROWS).fit(X, y).predict_distribution(X[:50])
    low, median, high = law.ppf([0.1, 0.5, 0.9]).mean(axis=0)
    assert high - median > 2.0 * (median - low)
    assert (law.ppf(0.5) < law.mean()).all()


@pytest.mark.parametrize("options", [{}, {"label_delay": 5}], ids=str)
def test_cuts_copies_and_late_labels(options):
    X, y = stream(160)
    whole, cut = clone(ROWS).set_params(**options), clone(ROWS).set_params(**options)
    whole.fit(X, y)
    for low, high in ((0, 1), (1, 2), (2, 70), (70, 101), (101, 160)):
        cut.partial_fit(X[low:high], y[low:high])
        cut = pickle.loads(pickle.dumps(cut))
    ahead = {"ahead": True} if options else {}
    rows = X[: 1 + whole.label_delay]
    expected = whole.predict_quantiles(rows, **ahead)
    assert_allclose(cut.predict_quantiles(rows, **ahead), expected, rtol=1e-8)
    assert np.isfinite(expected).all()


def test_the_first_rows_and_a_bad_one():
    X, y = stream(40)
    model = clone(ROWS).fit(X[:1], y[:1])
    assert np.isinf(model.predict_quantiles(X[:2], [0.1, 0.9])).all()
    model.partial_fit(X[1:20], y[1:20])
    before = model.predict_quantiles(X[:30])
    X[33] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(X[20:], y[20:])
    assert_array_equal(model.predict_quantiles(X[:30]), before)
    with pytest.raises(ValueError, match="spread"):
        model.set_params(spread="running").partial_fit(X[:5], y[:5])
    with pytest.raises(ValueError, match="spread"):
        clone(ROWS).set_params(spread="wide").fit(X[:5], y[:5])
    constant = clone(ROWS).fit(X[:30], np.full(30, 2.0))
    assert_array_equal(constant.predict_interval(X[:3]), np.full((3, 2), 2.0))
