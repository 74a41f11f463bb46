"""Direct experts and all others that are suddenly far apart: `aggregators/_apart.py`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineKernelRegressor, StackedBOARegressor
from sklearn_okl.aggregators import _apart
from sklearn_okl.datasets import make_irregular_stream
from tests.alike import assert_keys_are_as_alone, assert_rows_alone_are_as_blocks
from tests.oracles.apart import where_naive_part
from tests.oracles.default import mixture as by_definition

FADINGS, STACKS = (0.95, 0.99), ((4.0, 0.998), (0.4, 0.99))


def jumps(seed, n=260, every=30, sizes=(0.3, 0.5)):
    """Return forecasts of a target that jumps: the latest values, and two that know it, or err.

    Beside others of small errors the latest values are hopeless.
    """
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.uniform(-50.0, 50.0, n // every + 1), every)[:n] + 0.1 * rng.normal(size=n)
    y -= y[0]
    F = np.zeros((n, 4))
    F[1:, 0], F[2:, 1] = y[:-1], y[:-2]
    F[1:, 2:] = (y[:, None] + rng.normal(size=(n, 2)) * sizes)[1:]
    F[rng.random(n) < 0.02, 3] += 20.0
    return F, y


def by_a_column(seed, n=700, every=40, noise=0.1):
    kind = {"kind": "setpoints", "every": every, "noise": noise, "hidden": False}
    stream = make_irregular_stream(n, random_state=seed, **kind)
    return stream.data, stream.target


def likely(state):
    """Return log-likelihoods (q, bands, 2 + K) of who was right where they part."""
    known = state["apart"]["known"][:, _apart._LIKELY :]
    return known.reshape(len(known), _apart.N_BANDS, -1)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("delay", [0, 4])
@pytest.mark.parametrize("sizes", [(0.3, 0.5), (0.05, 0.1)])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_it_is_by_definition_however_the_stream_is_cut(seed, sizes, delay):
    F, y = jumps(seed, sizes=sizes)
    F[: 1 + delay] = 0.0
    scales = np.array([y[: max(t - delay, 0)].std() if t > delay else 0.0 for t in range(len(y))])
    scales[scales == 0.0] = 1.0
    expected = by_definition(F, y, scales, FADINGS, STACKS, 2, delay)
    model = StackedBOARegressor(fadings=FADINGS, stacks=STACKS, n_direct=2, label_delay=delay)
    found = model.prequential_predict(F, y)
    assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    assert likely(model._state).any(axis=-1).all()  # there were such
    cut = StackedBOARegressor(fadings=FADINGS, stacks=STACKS, n_direct=2, label_delay=delay)
    rows = np.split(np.arange(len(y)), [31, 60, 61, 62, 90, 150, 153])
    parts = [cut.prequential_predict(F[some], y[some]) for some in rows]
    assert_allclose(np.concatenate(parts), found, rtol=1e-9, atol=1e-9)
    if not delay:
        asked = [cut.fit(F[:t], y[:t]).predict(F[t : t + 1])[0] for t in (60, 61, 120, 150)]
        assert_allclose(asked, found[[60, 61, 120, 150]], rtol=1e-9)


@pytest.mark.parametrize("seed", [0, 2])
def test_who_sees_no_lags_tells_that_they_part(seed):
    """One that sees them errs less, but where a target jumps, and hides the one that sees none."""
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.uniform(-1.2, 1.2, 20), 30) + 0.05 * rng.normal(size=600)
    y -= y[0]
    F = np.zeros((600, 4))
    F[1:, 0], F[2:, 1], F[1:, 2] = y[:-1], y[:-2], (y + 0.15 * rng.normal(size=600))[1:]
    F[1:, 3] = y[:-1] + 0.02 * rng.normal(size=599)
    scales = np.array([y[:t].std() if t else 0.0 for t in range(len(y))])
    scales[scales == 0.0] = 1.0
    expected = by_definition(F, y, scales, FADINGS, STACKS, 2, 0, lagless=[2])
    errors = []
    for lagless in (True, False):
        model = StackedBOARegressor(fadings=FADINGS, stacks=STACKS, n_direct=2)
        model.partial_fit(F[:1], y[:1])
        if lagless:
            model._state = model._state | {"lagless": np.arange(4) == 2}
        found = model.prequential_predict(F[1:], y[1:])
        if lagless:
            assert_allclose(found, expected[1:], rtol=1e-8, atol=1e-9)
        errors.append(np.square(found - y[1:])[150:].mean())
    assert errors[0] < 0.9 * errors[1]


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("seed", range(3))
def test_odds_are_those_of_the_loop(seed, delay):
    rng = np.random.default_rng(seed)
    n, K, weights = 150, 5, rng.uniform(0.2, 3.0, 150)
    y = rng.normal(size=(n, 2))
    far = rng.choice([0.1, 30.0], (K + 4, n, 2), p=[0.9, 0.1])
    a, b, naive, lagless, *F = y + far * rng.normal(size=(K + 4, n, 2))
    lagless[40:90] = np.nan
    a[:10, 1], a[100:] = np.nan, np.nan
    F = np.stack(F, axis=-1)
    F[..., 0], F[40:90, 1, 3] = np.nan, np.nan
    losses = rng.uniform(0.1, 3.0, (n, 2, K))
    means = _apart.Parted(a, b, naive, lagless, losses)
    whole, *_, state = _apart.learn(_apart.start(2, K, delay), means, F, y, weights)
    for j in range(2):
        of_target = np.stack([part[:, j] for part in means[:-1]]), F[:, j], losses[:, j], y[:, j]
        ask = {"delay": delay, "weights": weights, "without": lambda t: np.nan}
        assert_allclose(whole[:, j], where_naive_part(b[:, j], *of_target, **ask)[1])
    assert (whole > 0.0).sum() > 10
    rows = _apart.start(2, K, delay)
    for t in range(n):
        row = _apart.Parted(*(part[[t]] for part in means))
        share, *_, one = _apart.learn(rows, row, F[[t]], y[[t]], weights[[t]])
        octaves = _apart.octaves_of_row(rows["known"], means.row(t))
        assert_allclose(octaves[0], _apart.octaves(rows["known"], means.row(t))[0])
        now = _apart.after_row(rows["known"], means.row(t), F[t], y[t], weights[t], *octaves)
        rows = one
        assert_allclose(share[0], whole[t])
        assert_allclose(now, rows["known"])
    assert_allclose(rows["known"], state["known"])


def test_a_fault_says_nothing_and_nothing_is_apart_after_it():
    n = 40
    rng = np.random.default_rng(0)
    y = rng.normal(size=(n, 1))
    a, b = y + 1.0, y - 1.0
    b[30] = a[30] + 40.0  # both part
    y[30] = -9999.0
    F = np.stack([b, b + 1.0], axis=-1)
    means = _apart.Parted(a, b, a, np.nan * a, np.ones_like(F))
    *_, state = _apart.learn(_apart.start(1, 2, 0), means.row(slice(31)), F[:31], y[:31])
    assert (np.abs(likely({"apart": state})) < 0.02).all()
    nobody = np.array([np.nan])
    others = _apart.Parted(a[31], b[31] + 40.0, a[31], nobody, np.ones((1, 2)))
    assert _apart.asked(state["known"], others, F[31])[0] == 0.0  # all is far off there
    nobody = _apart.Parted(nobody, b[31], nobody, nobody, np.ones((1, 2)))
    assert _apart.asked(state["known"], nobody, F[31])[0] == 0.0


@pytest.mark.long(every=50)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.long) for k in (2, 3))])
def test_jumps_that_a_column_shows_are_followed(seed):
    X, y = by_a_column(seed, n=400)
    forecasts = OnlineKernelRegressor(budget="fast", random_state=seed).prequential_predict(X, y)
    jump, missed = np.abs(np.diff(y, prepend=y[0])), np.abs(forecasts - y)
    late = np.flatnonzero(jump > 5.0)[4:]
    assert len(late) >= 3
    assert (missed[late] < 0.1 * jump[late]).all()


@pytest.mark.long
@pytest.mark.parametrize("budget", ["tiny", "fast"])
def test_rows_alone_are_as_blocks_where_they_part(budget):
    model = OnlineKernelRegressor(budget=budget, random_state=0)
    X, y = by_a_column(1, n=260)
    model = assert_rows_alone_are_as_blocks(model, X, y, 70)
    assert likely(model._state["mixture"]).any()


@pytest.mark.long
@pytest.mark.parametrize("label_delay", [2, 9])
def test_with_late_labels_as_well(label_delay):
    X, y = by_a_column(2, n=300)
    model = OnlineKernelRegressor(budget="fast", label_delay=label_delay, random_state=0)
    whole = model.prequential_predict(X, y)
    model.fit(X[:100], y[:100])
    alone = [model.prequential_predict(X[[t]], y[[t]])[0] for t in range(100, 300)]
    assert_allclose(alone, whole[100:], rtol=1e-7, atol=1e-7)


@pytest.mark.long
def test_models_of_keys_are_as_alone_where_they_part():
    streams = [by_a_column(seed, n=240) for seed in (0, 1)]
    assert_keys_are_as_alone(OnlineKernelRegressor(budget="tiny", random_state=0), streams)


@pytest.mark.long
def test_each_target_has_odds_of_its_own():
    X, y = by_a_column(0, n=300)
    still = np.random.default_rng(0).normal(size=300)
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, np.c_[y, still])
    odds = likely(model._state["mixture"])
    assert odds[0].any()
    assert_array_equal(odds[1], 0.0)
