"""Errors of rows of equal codes: the literal loop, what is found, and what it must not cost."""

import pickle
from collections import defaultdict
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import BOARegressor, OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.aggregators import _boas
from sklearn_okl.aggregators._limits import sane
from sklearn_okl.inspection import explain
from sklearn_okl.untuned.experts import _cells
from sklearn_okl.untuned.experts._cells import Cells
from sklearn_okl.untuned.experts._classes import _as_probabilities
from sklearn_okl.untuned.experts._told import ClassesTold, ErrorsTold
from sklearn_okl.untuned.rows import _codes

LIMITS = np.array([[[-50.0, 50.0, 0.0]]])


def stream(n=700, q=1, seed=0):
    """Return codes, forecasts and targets: they differ by cells of the first two codes."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, 4, n), rng.integers(10, 16, n), rng.integers(0, 3, n)])
    base = rng.normal(size=(n, q))
    effects = 2.0 * rng.normal(size=(4, 16, q))
    u = base + effects[codes[:, 0], codes[:, 1]] + 0.5 * rng.normal(size=(n, q))
    return codes.astype(float), base, u


def literal(codes, base, u, pair, began, is_smooth, delay, weights):
    """Return corrected forecasts, row by row, with a table that is a dict of the cells."""
    n, q = base.shape
    is_weighted, weights = weights is not None, np.ones(n) if weights is None else weights
    sizes, reach = _cells._SHRUNK, range(-5, 6) if is_smooth else (0,)
    tables = [defaultdict(lambda: np.zeros(1 + q))]  # one after each block
    for low in range(0, n, 64):
        table = defaultdict(lambda: np.zeros(1 + q), {k: v.copy() for k, v in tables[-1].items()})
        for i in range(low, min(low + 64, n)):
            table[tuple(codes[i, pair])] += weights[i] * np.append(1.0, u[i] - base[i])
        for cell in {tuple(codes[i, pair]) for i in range(low, min(low + 64, n))}:
            table[cell] *= min(1.0, 64.0 / max(table[cell][0], 1.0))
        tables.append(table)
    F = np.repeat(base[..., None], 1 + len(sizes), axis=2)
    for i in range(n):
        table = tables[max(i - delay, 0) // 64]
        total = np.zeros(1 + q)
        for step in reach:
            cell = (*codes[i, pair[:-1]], codes[i, pair[-1]] + step)
            if cell in table:
                total += table[cell] / (1.0 + abs(step)) ** 2
        F[i, :, 1:] += total[1:, None] / (sizes + total[0])
    out, heard = base.copy(), slice(began + delay, None)
    n_sums = len(sizes)
    prior = [0.5, *[0.5 / n_sums] * n_sums]
    boas = _boas.start(q, 1, 1 + n_sums, delay, BOARegressor(prior_weights=prior))
    factors = _boas.factors_of(n - began - delay, weights[heard] if is_weighted else None)
    out[heard] = _boas.learn(boas, F[heard], u[heard], factors)[..., 0]
    return out


def learnt(of, codes, base, u, ends, weights=None):
    state, out = of.start(codes.shape[1], 0, base.shape[1]), []
    limits = partial(sane, limits=LIMITS)
    for low, high in pairwise((0, *ends, len(u))):
        more = None if weights is None else weights[low:high]
        part = codes[low:high], base[low:high], u[low:high]
        out.append(of.learn(state, *part, limits, more))
    return np.concatenate(out), state


def cuts(of, n, more=()):
    return sorted({end for end in (*of.begins, *more) if end < n})


def test_who_is_a_code():
    rng, t = np.random.default_rng(0), np.arange(64)
    turn = 2.0 * np.pi * (t % 7) / 7
    day = 2.0 * np.pi * (300 + t) / 365
    columns = [
        rng.integers(0, 5, 64),  # 0
        rng.normal(size=64),
        1000 + 3 * t,  # 2
        np.ones(64),
        np.sin(turn),  # 4
        np.cos(turn),
        np.where(t % 9 == 0, np.nan, np.sin(day)),  # 6
        np.where(t % 9 == 0, np.nan, np.cos(day)),
        np.where(t % 5 == 0, np.nan, t % 3),  # 8
        rng.integers(0, 40, 64),  # 9, a category
        np.full(64, np.nan),
        np.full(64, 0.6),  # no angle that changes
        np.full(64, 0.8),
        rng.integers(0, 2, 64),  # 13, a category
        -0.3 + 0.1 * (t % 5),  # 14
    ]
    X = np.column_stack(columns).astype(float)
    nominal = np.array([9, 13])
    layout = _codes.found(X, nominal) | {"nominal": nominal}
    expected = [[0, 0], [4, 7], [8, 0], [14, 0], [2, 0], [6, 366], [13, 0], [9, 0]]
    assert_array_equal(layout["codes"], expected)
    assert_allclose(layout["code_steps"], [1, 1, 1, 0.1, 1, 1, 1, 1])
    assert _codes.numbers(layout) == (8, 2, 3)
    state = {"cells": {"t": 64}, "columns": {"layout": layout}}
    C = _codes.codes_of(state, X)
    assert _codes.codes_of(state | {"cells": {}, "effects": {}}, X) is None
    assert_array_equal(C[:, 1], t % 7)
    assert_array_equal(C[:, [0, 2, 4, 6, 7]], X[:, [0, 8, 2, 13, 9]])
    assert_array_equal(C[:, 3], -3 + t % 5)
    known = t % 9 != 0
    assert_array_equal(C[known, 5], np.round((300 + t[known]) / 365 % 1 * 366))
    assert np.isnan(C[~known, 5]).all()
    assert len(_codes.found(X[:63], nominal)["codes"]) == 0
    halves = 0.5 * rng.integers(0, 9, (64, 8))
    found = _codes.found(np.hstack([halves, X[:, :1]]), [])["codes"][:, 0]
    assert_array_equal(found, [8, *range(5)])  # whole numbers first
    many = rng.integers(0, 9, (64, 20)), rng.integers(0, 900, (64, 20))
    found = _codes.found(np.hstack(many).astype(float), [])["codes"][:, 0]
    assert_array_equal(found, [*range(6), *range(20, 24)])
    assert len(_codes.found(1e-9 * many[1] + 1.0, [])["codes"]) == 0


@pytest.mark.parametrize("delay", [0, 3, 70])
@pytest.mark.parametrize(("q", "weighted"), [(1, False), (2, True)])
@pytest.mark.parametrize("seed", range(2))
def test_forecasts_are_those_of_a_loop_over_rows(delay, q, weighted, seed):
    codes, base, u = stream(900, q, seed)
    weights = np.random.default_rng(1).integers(0, 3, len(u)).astype(float) if weighted else None
    of = Cells(ErrorsTold(_cells.SHARE, delay), delay, True)
    out, state = learnt(of, codes, base, u, cuts(of, len(u)), weights)
    assert sorted(state["pair"].tolist()) == [0, 1]
    assert state["began"] == 512
    known = state["pair"].tolist(), 512, state["is_smooth"], delay, weights
    assert_allclose(out, literal(codes, base, u, *known), atol=1e-9)
    assert_array_equal(out[: 512 + delay], base[: 512 + delay])
    missed = [np.square(one - u)[600:].mean() for one in (out, base)]
    assert missed[0] < 0.4 * missed[1]
    parts, _ = learnt(of, codes, base, u, cuts(of, len(u), [1, 63, 64, 65, 513, 600, 700]), weights)
    assert_allclose(parts, out, atol=1e-12)


def test_a_row_alone_is_what_a_block_of_one_is():
    codes, base, u = stream(700, 2)
    of = Cells(ErrorsTold(_cells.SHARE, 0), 0, True)
    expected, _ = learnt(of, codes, base, u, cuts(of, len(u)))
    state, limits = of.start(3, 0, 2), np.repeat(LIMITS[0], 2, axis=0)
    for i in range(len(u)):
        found, known = of.ask_row(state, codes[i], base[i], limits)
        assert_allclose(found, expected[i], atol=1e-10)
        of.teach_row(state, known, u[i], 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_said_where_codes_say_nothing(seed):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, high, 2100) for high in (2, 7, 31, 400)]).astype(float)
    base, u = np.zeros((2100, 1)), rng.standard_t(3.0, size=(2100, 1))
    of = Cells(ErrorsTold(_cells.SHARE, 0), 0, True)
    out, _ = learnt(of, codes, base, u, cuts(of, len(u)))
    assert np.square(out - u).mean() < 1.002 * np.square(u).mean()


def test_codes_that_are_missing_or_no_whole_numbers_are_cells_too():
    codes = np.array([[np.nan, 1e300, -0.5, 3.0]])
    assert_array_equal(_cells.whole(codes), [[-(2.0**40), 2.0**40, -1.0, 3.0]])


def test_a_target_that_is_forgotten_has_no_errors():
    codes, base, u = stream(700, 2)
    of = Cells(ErrorsTold(_cells.SHARE, 0), 0, True)
    _, state = learnt(of, codes, base, u, cuts(of, len(u)))
    of.forget_target(state, 1)
    asked = of.forecast(state, codes[:50], base[:50], partial(sane, limits=LIMITS))
    assert_array_equal(asked[:, 1], base[:50, 1])
    assert (asked[:, 0] != base[:50, 0]).any()


def test_a_cell_counts_as_so_many_rows_at_most_and_follows_a_change():
    codes, rng = np.zeros((2000, 1)), np.random.default_rng(0)
    codes[::2] = 1.0
    u = np.where(np.arange(2000) < 1000, 3.0, -3.0)[:, None] * (2.0 * codes - 1.0)
    u += 0.1 * rng.normal(size=u.shape)
    of = Cells(ErrorsTold(_cells.SHARE, 0), 0, True)
    out, state = learnt(of, codes, np.zeros_like(u), u, cuts(of, 2000))
    assert state["table"]["cells"][:, 0].max() <= 64.0
    assert np.square(out - u)[1400:].mean() < 0.4
    assert np.square(out - u)[1900:].mean() < 0.05


def test_probabilities_stay_probabilities_and_learn_cells():
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, 5, 1500), rng.integers(0, 6, 1500)]).astype(float)
    best = rng.integers(0, 3, (5, 6))[tuple(codes.T.astype(int))]
    y = np.where(rng.uniform(size=1500) < 0.8, best, rng.integers(0, 3, 1500))
    of = Cells(ClassesTold(_cells.SHARE, 0), 0, True)
    state, P, out = of.start(2, 0, 3), np.full((1500, 3), 1.0 / 3.0), []
    for low, high in pairwise((0, *cuts(of, 1500), 1500)):
        part = codes[low:high], P[low:high], np.eye(3)[y[low:high]]
        out.append(of.learn(state, *part, _as_probabilities))
    out = np.concatenate(out)
    assert_allclose(out.sum(axis=1), 1.0)
    assert (out > 0.0).all()
    assert -np.log(out[np.arange(1500), y])[700:].mean() < 0.75


def holidays(n, seed):
    """Return days, whose weekday and day of the year are whole numbers, and rides."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    weekday, day = t % 7, t % 365
    x = rng.normal(size=(n, 2))
    late = (weekday == 3) & (day >= 325) & (day < 332)  # a weekday of late November
    y = 10.0 + 3.0 * (weekday < 5) - 8.0 * (np.isin(day, [0, 184, 358]) | late)
    y = y + np.sin(x[:, 0]) + 0.3 * rng.normal(size=n)
    return np.column_stack([x, weekday, day]), y


@pytest.mark.long
@pytest.mark.parametrize("budget", ["fast", "balanced"])
@pytest.mark.parametrize("seed", range(2))
def test_holidays_are_found(budget, seed, monkeypatch):
    X, y = holidays(3500, seed)

    def missed():
        model = OnlineKernelRegressor(budget=budget, random_state=seed)
        return np.square(model.prequential_predict(X, y) - y)[1000:].mean()

    # a line would learn what each day adds
    monkeypatch.setattr("sklearn_okl.untuned.experts._effects.told_of_missed", lambda *parts: 0.0)
    found = missed()
    monkeypatch.setattr("sklearn_okl.untuned.experts._cells.TRIALS", ())
    assert found < 0.9 * missed()


@pytest.mark.long(every=50)
@pytest.mark.parametrize("seed", range(3))
def test_numbers_of_places_are_categories_too(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    places, x = rng.integers(0, 200, 3000), rng.normal(size=3000)
    X = np.column_stack([x, places])
    y = rng.normal(size=200)[places] + np.sin(x) + 0.3 * rng.normal(size=3000)

    def missed():
        model = OnlineKernelRegressor(budget="fast", random_state=seed)
        return np.square(model.prequential_predict(X, y) - y)[1000:].mean()

    # a line would learn what each place adds
    monkeypatch.setattr("sklearn_okl.untuned.experts._effects.told_of_missed", lambda *parts: 0.0)
    found = missed()
    monkeypatch.setattr("sklearn_okl.untuned.experts._cells.TRIALS", ())
    assert found < 0.5 * missed()


def cells_of(n=1100, seed=0):
    rng = np.random.default_rng(seed)
    t, x = np.arange(n), rng.normal(size=n)
    hour, weekday = t % 24, (t // 24) % 7
    effects = rng.normal(size=(24, 7))
    return np.column_stack([x, hour, weekday]), effects[hour, weekday] + np.sin(x)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("kind", ["fast", "balanced", "classes", "two"])
@pytest.mark.parametrize("delay", [0, 5])
def test_cuts_and_copies_do_not_change_forecasts(kind, delay):
    # two ways of using a table that are one must not be told apart by rounding
    X, y = cells_of()
    X[::11, 1] = np.nan
    class_ = OnlineKernelClassifier if kind == "classes" else OnlineKernelRegressor
    budget = "balanced" if kind == "balanced" else "fast"
    targets = {"classes": y > 0.0, "two": np.column_stack([y, y**2])}.get(kind, y)

    def learn(model, rows):
        if kind == "classes":
            return model.prequential_predict_proba(X[rows], targets[rows])
        return model.prequential_predict(X[rows], targets[rows])

    def started():
        model = class_(budget=budget, label_delay=delay, random_state=1)
        more = {"classes": [False, True]} if kind == "classes" else {}
        return model.partial_fit(X[:1], targets[:1], **more)

    whole, model, parts = started(), started(), []
    expected = learn(whole, slice(1, None))
    assert len(whole._state["cells"]["pair"]) == 2
    assert "by the errors of rows of equal x" in " ".join(whole.summary().split())
    ends = [1, 64, 511, 512, 513, 600, *range(700, 705), 1023, 1025, len(y)]
    for low, high in pairwise(ends):
        parts.append(learn(model, slice(low, high)))
        model = pickle.loads(pickle.dumps(model))
    assert_allclose(np.concatenate(parts), expected, atol=1e-8)
    assert_allclose(model.predict(X[:9]), whole.predict(X[:9]), atol=1e-8)


def test_what_equal_codes_tell_is_in_the_explanation():
    X, y = cells_of()
    model = OnlineKernelRegressor(budget="fast", random_state=1).fit(X, y)
    model._state["near"] = {}
    found = explain(model, X[:5], X[-20:])
    assert np.abs(found.values[:, found.names.index("similar rows")]).max() > 0.01
    assert_allclose(found.forecasts, model.predict(X[:5]))


def test_classes_learn_cells():
    X, y = cells_of(2500)
    y = np.where(np.random.default_rng(0).uniform(size=2500) < 0.9, y > 0.0, y <= 0.0)
    model = OnlineKernelClassifier(budget="fast", random_state=1).fit(X, y)
    assert len(model._state["cells"]["pair"]) == 2
    assert_allclose(model.predict_proba(X[:50]).sum(axis=1), 1.0)
