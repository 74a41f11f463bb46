"""Logarithms of targets: the literal loop, whatever the cut, and where they tell."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import BOARegressor, OnlineKernelRegressor, VAWRegressor
from sklearn_okl.aggregators._limits import sane
from sklearn_okl.untuned.experts import _logarithms
from sklearn_okl.untuned.experts._logarithms import Logarithms

LIMITS = np.array([[[-1e3, 1e3, 0.0]]])
SCALES = np.array([[2.0]])
N, K = 200, 5


def wide(F):
    return sane(F, LIMITS)


def parts(seed=0):
    """Return a stage and its state, and forecasts, of targets and of their logarithms."""
    rng = np.random.default_rng(seed)
    u = np.exp(rng.normal(size=(N, 1)))
    base = u * np.exp(0.5 * rng.normal(size=(N, 1)))
    F = u.T[..., None] * np.exp(0.3 * rng.normal(size=(1, N, K)))
    logs = np.log1p(F) + 0.1 * rng.normal(size=F.shape)
    logs[..., [0, -1]] = np.nan  # who learns targets alone
    stage = Logarithms(1, 0, True, (64,))
    state = stage.start(K, np.array([[0.0, 10.0]]), np.array([1.0]))
    heard = np.array([[True] * (K - 1) + [False]])
    return stage, state, base, F, logs, heard, u


def literal(base, F, logs, heard, u):
    """Return corrected forecasts, row by row, of targets whose logarithms are log(1 + u)."""
    base, u, roots = base[:, 0], u[:, 0], np.sqrt(1.0 + base[:, 0])
    level, scale = np.log1p(base), SCALES.item()
    D = np.hstack([(F[0].T - base).T / (1.0 + base)[:, None], logs[0] - level[:, None]])
    D = np.where(np.isnan(D) | ~np.tile(heard[0], 2), 0.0, np.clip(D, -4.0, 4.0))
    D *= roots[:, None]
    errors = np.clip(u - base, -4.0 * scale, 4.0 * scale) / roots
    plain = base + roots * VAWRegressor(4.0).prequential_predict(D, errors)
    errors = np.clip(np.log1p(u) - level, -4.0, 4.0) * roots
    steps = VAWRegressor(4.0).prequential_predict(D, errors) / roots
    ways = np.column_stack([base, plain, np.expm1(level + steps)])[64:]
    boa, usual, found, y = (
        BOARegressor(prior_weights=[0.5, 0.25, 0.25]),
        np.zeros(4),
        base.copy(),
        u,
    )
    state = boa._start(3)
    for way, target, i in zip(ways, y[64:], range(64, N), strict=True):
        weights = np.exp(boa._log_weights(state))
        found[i] = weights @ way / weights.sum()
        regrets = 2.0 * (found[i] - target) * (found[i] - way)
        if i >= 67:  # it is known what is usual
            regrets *= usual[3] / usual[:3].min()
            regrets *= min(1.0, max(usual[3], 1.0) / np.abs(regrets).max())
        else:
            regrets *= 0.0
        boa._update(state, regrets, target)
        most = usual[:3].min() if i >= 67 else np.inf
        squares = np.minimum(np.square(way - target), most)
        usual = 0.99 * usual + np.append(squares, 1.0)
    return found


@pytest.mark.parametrize("size", [1, 8, 64])
def test_it_is_the_literal_loop_however_it_is_cut(size):
    stage, state, base, F, logs, heard, u = parts()
    found = []
    for low in range(0, N, size):
        rows = slice(low, low + size)
        of_rows = base[rows], F[:, rows], logs[:, rows], heard
        known = stage.forecast(state, *(part[..., :1, :] for part in of_rows[:3]), heard, wide)
        found.append(stage.learn(state, *of_rows, stage.taught(state, u[rows]), SCALES, wide))
        assert_allclose(known[0], found[-1][0], rtol=1e-9)
    expected = literal(base, F, logs, heard, u)
    assert_allclose(np.concatenate(found)[:, 0], expected, rtol=1e-8)
    assert np.mean((expected - u[:, 0])[64:] ** 2) < 0.5 * np.mean((base - u)[64:] ** 2)


def test_a_row_is_asked_and_taught_as_a_block_of_one():
    stage, state, base, F, logs, heard, u = parts()
    _, other, *_ = parts()
    for i in range(N):
        of_row = base[i], F[:, i], logs[:, i], heard
        known, asked = stage.ask_row(state, *of_row, LIMITS[0])
        taught = stage.taught(state, u[i])
        stage.teach_row(state, asked, taught, SCALES[0], 1.0)
        rows = slice(i, i + 1)
        of_rows = base[rows], F[:, rows], logs[:, rows], heard, taught[None]
        assert_allclose(known, stage.learn(other, *of_rows, SCALES, wide)[0], rtol=1e-9)


@pytest.mark.parametrize("far", [1e12, 1e200, 1e306])
def test_forecasts_far_off_cost_no_digits(far):
    stage, state, base, F, logs, heard, u = parts()
    _, other, *_ = parts()
    base, logs = base.copy(), logs.copy()
    base[100:110, 0] = [far, -far] * 5
    logs[:, 104:106] = [-1e300], [1e300]
    if far == 1e306:  # beyond all numbers, in units of the first ones
        for one in (state, other):
            one["units"] = np.array([[0.0], [1e-9]])
    with np.errstate(all="raise", under="ignore"):
        of_rows = base, F, logs, heard, stage.taught(state, u)
        whole = stage.learn(state, *of_rows, SCALES, wide)
        for i in range(N):
            _, asked = stage.ask_row(other, base[i], F[:, i], logs[:, i], heard, LIMITS[0])
            stage.teach_row(other, asked, stage.taught(other, u[i]), SCALES[0], 1.0)
    assert np.isfinite(whole[:64]).all()
    found, expected = other["stack"]["theta"], state["stack"]["theta"]
    assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_who_errs_a_little_more_has_no_say_where_hardly_anything_is_left_to_err():
    stage, state, _, F, logs, heard, u = parts()
    rng = np.random.default_rng(1)
    precise = u + 10.0 ** np.linspace(0.0, -9.0, N)[:, None] * rng.normal(size=u.shape)
    taught = stage.taught(state, u)
    found = stage.learn(state, precise, F, logs, heard, taught, SCALES, wide)
    ratio = np.mean((found - u)[150:] ** 2) / np.mean((precise - u)[150:] ** 2)
    assert ratio < 1.5, ratio


def test_logarithms_know_no_unit_and_no_direction():
    u = np.array([[-3.0], [0.0], [0.5], [7.0]])
    units = _logarithms._units_of(*np.array([[0.0], [9.0], [2.0]]))
    expected = _logarithms._log(units, u)
    steps = np.zeros((*u.shape, 2))
    found = _logarithms._corrected(units, u, expected, np.ones(u.shape), steps)
    assert_allclose(found, np.repeat(u[..., None], 3, axis=-1), atol=1e-12)
    for unit, origin in ((1e6, 3.0), (-1e-3, 5.0)):
        ends = np.sort([origin, 9.0 * unit + origin])
        moved = _logarithms._units_of(*np.array([*ends, 2.0 * unit + origin])[:, None])
        assert_allclose(_logarithms._log(moved, unit * u + origin), expected, rtol=1e-9, atol=1e-9)


def stream(n=900, seed=0, q=None):
    """Return rows, and targets in which effects multiply, as errors do."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.exp(X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * X[:, 2] + 0.3 * rng.normal(size=n))
    return X, y if q is None else np.column_stack([y, X[:, 3] - y])


class Without(OnlineKernelRegressor):
    """The model without logarithms."""

    _plain = OnlineKernelRegressor.constants.budgets
    constants = type(OnlineKernelRegressor.constants)(
        budgets=_plain | {"balanced": _plain["balanced"]._replace(logarithms=False)}
    )


@pytest.mark.long
def test_where_effects_multiply_logarithms_tell():
    X, y = stream()
    models = (kind(random_state=0) for kind in (OnlineKernelRegressor, Without))
    ours, others = (np.mean((m.prequential_predict(X, y) - y)[200:] ** 2) for m in models)
    assert ours < 0.95 * others, ours / others


@pytest.mark.long
def test_where_effects_add_they_cost_nothing():
    X, _ = stream()
    y = X @ [1.0, 2.0, -1.0, 0.5] + 0.3 * np.random.default_rng(1).normal(size=len(X))
    models = (kind(random_state=0) for kind in (OnlineKernelRegressor, Without))
    ours, others = (np.mean((m.prequential_predict(X, y) - y)[100:] ** 2) for m in models)
    assert ours < 1.01 * others, ours / others


@pytest.mark.long
@pytest.mark.parametrize("delay", [0, 5])
def test_several_targets_may_be_cut_anywhere(delay):
    X, Y = stream(330, q=2)
    given = {"label_delay": delay, "random_state": 0}
    expected = OnlineKernelRegressor(**given).prequential_predict(X, Y)
    model, found, low = OnlineKernelRegressor(**given), [], 0
    for high in (1, 50, 64, 65, 127, 128, 140, 141, 250, 330):
        found.append(model.prequential_predict(X[low:high], Y[low:high]))
        model, low = pickle.loads(pickle.dumps(model)), high
    assert_allclose(np.concatenate(found), expected, rtol=1e-6, atol=1e-8)
    assert_array_equal(model._state["logarithms"]["units"][1] != 0.0, True)


def test_without_a_guard_one_wild_target_leaves_the_cut_invisible():
    X, y = stream(200)
    y[80] = 1e12
    given = {"guard": False, "random_state": 0}
    expected = OnlineKernelRegressor(**given).prequential_predict(X, y)
    model, found = OnlineKernelRegressor(**given), []
    for low, high in ((0, 64), (64, 127), (127, 129), (129, 160), (160, 200)):
        found.append(model.prequential_predict(X[low:high], y[low:high]))
    typical = np.median(np.abs(expected[81:]))
    assert_allclose(np.concatenate(found), expected, rtol=1e-6, atol=1e-6 * typical)


def test_a_file_whose_targets_have_no_unit_is_refused():
    _, state, *_ = parts()
    assert _logarithms.is_sound(state)
    assert not _logarithms.is_sound(state | {"units": np.zeros((2, 1))})
    assert not _logarithms.is_sound(state | {"units": np.ones((2, 3))})
