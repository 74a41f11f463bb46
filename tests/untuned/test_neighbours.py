"""The errors of similar rows: the literal sum, whatever the cut, and only where they tell."""

import copy
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import BOARegressor, OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.aggregators import _boas
from sklearn_okl.aggregators._limits import sane
from sklearn_okl.base import _copied
from sklearn_okl.inspection._steps import sums_of
from sklearn_okl.untuned.experts import _metric
from sklearn_okl.untuned.experts._neighbours import Neighbours
from sklearn_okl.untuned.experts._told import ClassesTold, ErrorsTold

RECENT = 1e-9
SIZES, BURN_IN, SHARE, SEED = (2, 6), 12, 0.1, 5


def neighbours(n_lags=0, n_rows=40, delay=0):
    return Neighbours(SIZES, n_rows, n_lags, ErrorsTold(SHARE, delay), BURN_IN, delay)


def stream(seed, n=150, d=3, n_lags=0, q=1):
    """Return rows of few values, so that many are equally near, and forecasts of their targets."""
    rng = np.random.default_rng(seed)
    Z = np.round(rng.normal(size=(n, d + n_lags)), 1)
    Z[n // 3 : n // 3 + 8] = Z[n // 3]
    base = rng.normal(size=(n, q))
    u = base + np.sin(Z[:, :1]) + 0.1 * rng.normal(size=(n, q))
    u[n // 5 :: n // 4] += 300.0  # errors that tell of no other row
    return Z, base, u


def squared_errors(scales, Z, told, missed, t, known, counts):
    """Return what corrections of row t by rows known miss, in squares (q,), for all sizes."""
    apart = (Z[known] - Z[t]) ** 2 @ scales + RECENT * (t - known)
    order, losses = np.argsort(apart.real), 0.0
    for size in SIZES:
        near = order[:size]
        shares = counts[known[near]] * (1.0 - apart[near] / apart[order[size]])
        losses = losses + (missed - shares @ told[near] / (1.0 + shares.sum())) ** 2
    return losses


def drawn(n_drawn, width):
    """Return the logarithms of the weights with which a challenger begins."""
    logs = 3.0 * np.random.RandomState([SEED, n_drawn]).normal(size=width)
    return np.clip(logs - logs.mean(), -7.0, 7.0)


def literal_metrics(of, Z, errors, told, counts):
    """Return what columns count at each round, by derivatives of the errors, (n, 2, width).

    What is told (n, n, q) is of rows j of their errors i: told[i, j].
    """
    width = Z.shape[1]
    sees = np.ones((3, width))
    sees[0, width - of.n_lags :] = 0.0
    logs, squares, path = np.zeros((3, width)), np.zeros((3, width)), []
    n_drawn, gains = 0, []
    logs[2] = drawn(0, width)
    for n_known in range(len(Z)):
        if n_known % 64 == 0 and n_known >= 64 + 2 * SIZES[-1]:
            rows, losses = np.arange(n_known - 64, n_known), np.zeros((3, 64))
            usual = np.average(errors[rows] ** 2, axis=0, weights=counts[rows])
            for k in range(3):
                slopes = []
                for i in rows:
                    before = np.arange(max(i - of.n_rows, 0), i)
                    of_row = Z, told[i, before], errors[i], i, before, counts
                    steps = logs[k] + 1e-30j * np.eye(width)  # derivatives without differences
                    found = [
                        squared_errors(sees[k] * np.exp(one), *of_row) / usual for one in steps
                    ]
                    losses[k, i - rows[0]] = np.real(found[0]).sum()
                    slope = np.imag(found).mean(axis=1) / 1e-30
                    slopes.append(slope / max(np.abs(slope).max(), 1.0))
                slope = np.average(slopes, axis=0, weights=counts[rows])
                squares[k] += slope**2
                logs[k] -= slope / np.sqrt(np.where(squares[k] > 0.0, squares[k], 1.0))
                logs[k] -= logs[k][sees[k] > 0.0].mean()
            gains.append(counts[rows] * (losses[1] - losses[2]))
            known = np.concatenate(gains)
            is_better = known.sum() > _metric._SURELY * np.sqrt(np.sum(known**2))
            is_better &= len(gains) >= _metric._FEWEST
            if is_better:
                logs[1], squares[1] = logs[2], squares[2]
            if is_better or known.sum() <= 0.0:
                n_drawn, gains = n_drawn + 1, []
                logs[2], squares[2] = drawn(n_drawn, width), 0.0
        path.append(sees[:2] * np.exp(logs[:2]))
    return np.array([path[max(t - of.delay, 0)] for t in range(len(Z))])


def literal(of, Z, base, u, weights=None):
    """Return what is forecast by the sums as they are written, one row after the other."""
    errors, counts = u - base, np.ones(len(u)) if weights is None else weights
    told = np.broadcast_to(errors, (len(u), *errors.shape))
    scales = literal_metrics(of, Z, errors, told, counts)
    burn_in = max(BURN_IN, 2 * SIZES[-1])
    F = np.repeat(base[:, :, None], 1 + of.n_sums, axis=2)
    for t in range(burn_in + of.delay, len(u)):
        known = np.arange(max(t - of.delay - of.n_rows, 0), t - of.delay)
        k = 0
        for of_columns in scales[t]:
            apart = np.square(Z[known] - Z[t]) @ of_columns
            apart += RECENT * (t - of.delay - known)
            order = np.argsort(apart)
            beside = errors[known[order[: SIZES[-1] + 1]]]
            most = 16.0 * np.median(np.abs(beside), axis=0)
            for size in SIZES:
                k += 1
                near, end = known[order[:size]], apart[order[size]]
                shares = counts[near] * (1.0 - apart[order[:size]] / end)
                told = np.clip(errors[near], -most, most)
                F[t, :, k] += shares @ told / (1.0 + shares.sum())
    mixed, first = base.copy(), burn_in + of.delay
    prior = [1.0 - SHARE, *[SHARE / of.n_sums] * of.n_sums]
    boas = _boas.start(u.shape[1], 1, 1 + of.n_sums, of.delay, BOARegressor(prior_weights=prior))
    factors = _boas.factors_of(len(u) - first, None if weights is None else weights[first:])
    mixed[first:] = _boas.learn(boas, F[first:], u[first:], factors)[..., 0]
    return mixed


def learnt(of, Z, base, u, ends, weights=None):
    """Return what is forecast in parts, and the state."""
    state, parts = of.start(Z.shape[1] - of.n_lags, u.shape[1], SEED), []
    limits = np.array([[-np.inf, np.inf, 0.0]])
    for part in np.split(np.arange(len(u)), ends):
        of_rows = Z[part], base[part], u[part], partial(sane, limits=limits)
        parts.append(of.learn(state, *of_rows, None if weights is None else weights[part]))
    return np.concatenate(parts), state


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("n_lags", "delay", "q", "is_weighted"),
    [(0, 0, 1, False), (2, 0, 1, False), (2, 0, 2, True), (0, 0, 1, True)],
)
def test_forecasts_are_those_of_the_sums_whatever_the_cut(
    seed, n_lags, delay, q, is_weighted, monkeypatch
):
    of = neighbours(n_lags, delay=delay)
    if seed == 0:  # each challenger goes on
        monkeypatch.setattr(_metric, "_SURELY", -1e9)
        monkeypatch.setattr(_metric, "_FEWEST", 1)
    Z, base, u = stream(seed, n=150 if seed else 330, n_lags=n_lags, q=q)
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 2.0, size=len(u)) if is_weighted else None
    expected = literal(of, Z, base, u, weights)
    for cut in ([], range(1, len(u)), range(3, len(u), 7), [of.begins[0], 64, 128]):
        ends = sorted({*cut, of.begins[0]})
        forecasts, _ = learnt(of, Z, base, u, ends, weights)
        assert_allclose(forecasts, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("delay", [1, 5])
def test_errors_of_late_labels_are_known_late(delay):
    of = neighbours(delay=delay)
    Z, base, u = stream(4)
    forecasts, _ = learnt(of, Z, base, u, [of.begins[0], 70])
    one_by_one, _ = learnt(of, Z, base, u, range(1, len(u)))
    assert_allclose(one_by_one, forecasts, rtol=1e-10)
    changed = u.copy()
    changed[90] += 100.0
    after, _ = learnt(of, Z, base, changed, [of.begins[0], 70])
    assert_array_equal(after[: 91 + delay], forecasts[: 91 + delay])
    assert not np.allclose(after[91 + delay :], forecasts[91 + delay :])


def test_what_was_known_some_rounds_ago_can_be_asked_for():
    of, (Z, base, u), ago = neighbours(delay=5), stream(4), 5
    same = {"sane": partial(sane, limits=np.array([[-np.inf, np.inf, 0.0]]))}
    _, before = learnt(of, Z[:100], base[:100], u[:100], [of.begins[0]])
    state = _copied(before)
    expected = of.learn(_copied(state), Z[100:101], base[100:101], u[100:101], **same)
    assert_allclose(of.forecast(state, Z[100:101], base[100:101], ago=ago, **same), expected)
    assert not np.allclose(of.forecast(state, Z[100:101], base[100:101], ago=0, **same), expected)


def classes(seed, n=160, n_classes=3):
    """Return rows, probabilities of their classes, and the classes as indicators."""
    rng = np.random.default_rng(seed)
    Z, P = np.round(rng.normal(size=(n, 2)), 1), rng.dirichlet(np.full(n_classes, 2.0), size=n)
    return Z, P, np.eye(n_classes)[np.digitize(Z[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5])]


def literal_classes(of, Z, P, u):
    """Return the probabilities mixed by the rule of Bayes, one row after the other."""
    prior = np.array([1.0 - SHARE, *[SHARE / of.n_sums] * of.n_sums])
    logs, mixed = [np.log(prior)], P.copy()
    scales = literal_metrics(of, Z, u - P, u - P[:, None], np.ones(len(u)))
    for t in range(of.begins[0], len(u)):
        known = np.arange(max(t - of.delay - of.n_rows, 0), t - of.delay)
        ways = [P[t]]
        for of_columns in scales[t]:
            apart = np.square(Z[known] - Z[t]) @ of_columns + RECENT * (t - of.delay - known)
            order = np.argsort(apart)
            for size in SIZES:
                shares = 1.0 - apart[order[:size]] / apart[order[size]]
                ways.append((P[t] + shares @ u[known[order[:size]]]) / (1.0 + shares.sum()))
        likelihoods = np.exp(logs[max(len(logs) - 1 - of.delay, 0)])
        mixed[t] = likelihoods @ ways / likelihoods.sum()
        logs.append(logs[-1] + np.log(ways @ u[t]))
        n_heard = t + 1 - of.begins[0]
        if n_heard % 64 == 0:
            known, share = np.exp(logs[-1]) / np.exp(logs[-1]).sum(), 1.0 / (1.0 + n_heard / 64)
            logs[-1] = np.log((1.0 - share) * known + share * prior)
    return mixed


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("delay", [0, 5])
def test_probabilities_are_those_of_the_rule_of_bayes_whatever_the_cut(seed, delay):
    of = Neighbours(SIZES, 40, 0, ClassesTold(SHARE, delay), BURN_IN, delay)
    Z, P, u = classes(seed)
    expected = literal_classes(of, Z, P, u)
    losses = [-np.log(np.sum(part * u, axis=1)).sum() for part in (expected, P)]
    assert losses[0] < losses[1] - 5.0
    for cut in ([of.begins[0]], range(1, len(u)), [of.begins[0], 64, 128]):
        state, parts = of.start(2, 3, SEED), []
        for part in np.split(np.arange(len(u)), sorted({*cut, of.begins[0]})):
            parts.append(of.learn(state, Z[part], P[part], u[part], lambda known: known))
        assert_allclose(np.concatenate(parts), expected, rtol=1e-9)
    known = of.forecast(state, Z[:7], P[:7], lambda known: known)
    assert_allclose(known.sum(axis=1), 1.0)
    assert (known > 0.0).all()


@pytest.mark.parametrize("seed", range(2))
def test_where_classes_are_noise_no_more_is_lost_than_the_theorem_says(seed):
    of = Neighbours(SIZES, 40, 0, ClassesTold(SHARE, 0), BURN_IN, 0)
    Z, P, _ = classes(seed, 400)
    rng = np.random.default_rng(seed)
    u = np.eye(3)[[rng.choice(3, p=p) for p in P]]
    state = of.start(2, 3, SEED)
    parts = np.split(np.arange(len(u)), [of.begins[0]])
    mixed = [of.learn(state, Z[part], P[part], u[part], lambda known: known) for part in parts]
    lost = np.log(np.sum(P * u, axis=1)) - np.log(np.sum(np.concatenate(mixed) * u, axis=1))
    times = np.arange(len(lost)) // 64  # that likelihoods were mixed with the first ones
    assert (lost.cumsum() <= -np.log(1.0 - SHARE) * (2.0 + np.log1p(times)) + 1e-9).all()


def test_a_row_alone_is_what_a_block_of_one_is():
    of, (Z, base, u) = neighbours(2), stream(5, n_lags=2, q=2)
    limits = np.tile([-1.5, 1.5, 0.0], (2, 1))
    state = of.start(3, 2, SEED)
    for i in range(len(u)):
        other = _copied(state)
        of_row, within = slice(i, i + 1), partial(sane, limits=limits)
        expected = of.learn(other, Z[of_row], base[of_row], u[of_row], within)
        asked = of.forecast(state, Z[of_row], base[of_row], within)
        forecasts, of_row = of.ask_row(state, Z[i], base[i], limits)
        of.teach_row(state, of_row, u[i], 1.0)
        assert_allclose(forecasts, expected[0], rtol=1e-12, atol=1e-12)
        assert_allclose(asked, expected, rtol=1e-12, atol=1e-12)
        for name, part in other["mixture"].items():
            assert_allclose(state["mixture"][name], part, rtol=1e-9, atol=1e-12)


def test_rows_of_no_weight_are_no_neighbours():
    of, (Z, base, u) = neighbours(n_rows=200), stream(7, n=130)
    weights = np.ones(len(u))
    weights[60:90:3] = 0.0
    _, state = learnt(of, Z, base, u, [of.begins[0]], weights)
    changed = u.copy()
    changed[60:90:3] += 50.0
    _, other = learnt(of, Z, base, changed, [of.begins[0]], weights)
    within = partial(sane, limits=np.array([[-np.inf, np.inf, 0.0]]))
    asked = Z[60:90], base[60:90]
    forecasts = of.forecast(other, *asked, within)
    assert_allclose(forecasts, of.forecast(state, *asked, within), rtol=1e-10)
    there = np.flatnonzero(weights)
    alone = of.start(3, 1, SEED) | {"t": len(u), "mixture": state["mixture"]}
    alone["metric"] = other["metric"]
    alone["past"] += of._kept(alone | {"t": 0}, Z[there]), (u - base)[there]
    assert_allclose(forecasts, of.forecast(alone, *asked, within), rtol=1e-5)


def test_of_equal_rows_the_latest_are_the_neighbours():
    of, n = neighbours(), 60
    Z, base = np.zeros((n, 2)), np.zeros((n, 1))
    u = np.where(np.arange(n) < 50, 1.0, -1.0)[:, None]  # what equal rows miss has changed
    forecasts, _ = learnt(of, Z, base, u, [of.begins[0]])
    assert forecasts[40] > 0.2
    assert forecasts[-1] < 0.0


def test_a_target_that_is_forgotten_has_no_errors():
    of, (Z, base, u) = neighbours(), stream(6, q=2)
    _, state = learnt(of, Z, base, u, [of.begins[0]])
    before = _copied(state)
    of.forget_target(state, 0)
    limits = np.array([[-np.inf, np.inf, 0.0]])
    forecasts = of.forecast(state, Z[:9], base[:9], partial(sane, limits=limits))
    known = of.forecast(before, Z[:9], base[:9], partial(sane, limits=limits))
    assert_allclose(forecasts[:, 0], base[:9, 0])
    assert_array_equal(forecasts[:, 1], known[:, 1])


def test_wide_rows_are_kept_in_smaller_numbers():
    of = Neighbours((4, 16), 4096, 4, ErrorsTold(0.05, 0), 256, 0)
    kept = {d: of.start(d, 1, SEED)["past"].window for d in (8, 300, 5000)}
    assert kept[8] == 4096 + 64
    assert kept[300] < 600
    assert kept[5000] == 128


def places(n, seed):
    """Return rows on a map of small fields, each of which has a level of its own, and targets."""
    rng = np.random.default_rng(seed)
    X, levels = rng.uniform(size=(n, 2)), rng.normal(size=(12, 12))
    return X, levels[tuple((12 * X).astype(int).T)] + X[:, 0] + 0.1 * rng.normal(size=n)


@pytest.mark.long(every=50)
@pytest.mark.parametrize(("budget", "share"), [("fast", 0.8), ("balanced", 0.92)])
def test_what_places_have_in_common_is_learnt(budget, share):
    class Without(OnlineKernelRegressor):
        constants = OnlineKernelRegressor.constants.__class__(neighbours=())

    X, y = places(2000, 1)
    losses = [
        np.square(y - kind(budget=budget, random_state=0).prequential_predict(X, y))[1000:].mean()
        for kind in (OnlineKernelRegressor, Without)
    ]
    assert losses[0] < share * losses[1]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("lags", [0, None])
def test_where_similar_rows_tell_nothing_little_is_lost(seed, lags):
    class Without(OnlineKernelRegressor):
        constants = OnlineKernelRegressor.constants.__class__(neighbours=())

    rng, given = np.random.default_rng(seed), {} if lags is None else {"lags": lags}
    X = rng.normal(size=(1500, 5))
    y = X @ [1.0, 0.5, 0.2, 0.0, 0.0] + rng.normal(size=1500)
    losses = [
        np.square(y - kind(budget="fast", random_state=0, **given).prequential_predict(X, y)).mean()
        for kind in (OnlineKernelRegressor, Without)
    ]
    assert losses[0] < 1.003 * losses[1]


@pytest.mark.long(every=50)
@pytest.mark.parametrize("budget", ["fast", "balanced"])
def test_classes_in_rings_are_learnt(budget):
    class Without(OnlineKernelClassifier):
        constants = OnlineKernelClassifier.constants.__class__(neighbours=())

    X = np.random.default_rng(3).normal(size=(1500, 2))
    y = np.digitize(np.hypot(*X.T), [0.6, 1.0, 1.4, 1.9])
    losses = []
    for kind in (OnlineKernelClassifier, Without):
        model = kind(budget=budget, random_state=0)
        P = model.prequential_predict_proba(X, y, classes=range(5))
        losses.append(-np.log(P[np.arange(500, len(y)), y[500:]]).mean())
    assert losses[0] < 0.9 * losses[1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_neighbours_tell_of_a_row_is_what_they_add_to_its_log_odds(n_classes):
    X = np.random.default_rng(3).normal(size=(400, 2))
    y = np.digitize(np.hypot(*X.T), [1.0, 1.6][: n_classes - 1])
    model = OnlineKernelClassifier(budget="fast", random_state=0).fit(X, y)
    without = copy.deepcopy(model)
    without._state = without._state | {"near": {}}
    adds = model.decision_function(X[:5]) - without.decision_function(X[:5])
    assert np.abs(adds).max() > 0.1
    told = sums_of(model, X[:5]).parts[-1].inputs
    assert_allclose(told.reshape(adds.shape), adds, rtol=1e-9, atol=1e-12)
