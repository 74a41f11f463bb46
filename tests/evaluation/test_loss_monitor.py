"""Losses by key, and an alarm that is false no more often than is said."""

import copy
import pickle

import numpy as np
import pytest

from sklearn_okl import KeyedRegressor, Store, from_bytes, load, save, to_bytes
from sklearn_okl.evaluation import LossMonitor


def literal(losses, every):
    """Row by row from the list of all losses since the last alarm; rows from 1 on."""
    seen, M, found = [], [0.0, 0.0, 0.0], []
    for t, loss in enumerate(losses, 1):
        seen.append(np.floor((np.log2(loss) + 60.0) * 8.0))
        p = np.mean([one >= seen[-1] for one in seen])
        M = [(m + 1.0) * e * p ** (e - 1.0) for m, e in zip(M, (0.1, 0.25, 0.5), strict=True)]
        if np.mean(M) >= every:
            found.append(t)
            seen, M = [], [0.0, 0.0, 0.0]
    return found


@pytest.mark.parametrize("size", [1, 7, 400])
def test_alarms_are_the_literal_ones_whatever_the_cut(size):
    rng = np.random.default_rng(size)
    losses, keys = rng.normal(size=400) ** 2, rng.choice(["a", "b"], size=400)
    losses[250:] *= 30.0
    held = rng.random(400) < 0.9
    monitor, found = LossMonitor(alarm_every=50, recent=20), []
    for low in range(0, 400, size):
        rows = slice(low, low + size)
        found += monitor.update(losses[rows], keys=keys[rows], held=held[rows]).alarms_
    health = monitor.health()
    for place, key in enumerate(health["key"]):
        mine = keys == key
        expected = literal(losses[mine], 50)
        assert expected
        assert health["n_alarms"][place] == len(expected) == found.count(key)
        assert health["last_alarm"][place] == expected[-1]
        weights = 0.95 ** np.arange(mine.sum())[::-1]
        recent = np.average(losses[mine], weights=weights)
        assert np.isclose(health["recent_loss"][place], recent)
        assert np.isclose(health["mean_loss"][place], losses[mine].mean())
        assert np.isclose(health["coverage"][place], held[mine].mean())
        assert health["rows_since"][place] == 399 - np.flatnonzero(mine)[-1]
    assert monitor.n_losses_ == 400


@pytest.mark.parametrize("n", [4_000, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("law", ["normal", "heavy", "few"])
def test_false_alarms_are_as_rare_as_is_said(law, n):
    rng = np.random.default_rng(n)
    losses = {
        "normal": rng.normal(size=n) ** 2,
        "heavy": abs(rng.standard_cauchy(size=n)),
        "few": rng.integers(3, size=n).astype(float),
    }[law]
    for every in (100, 1000):
        n_alarms = LossMonitor(every).update(losses, keys=np.arange(n) % 4).health()["n_alarms"]
        assert n_alarms.sum() <= n / every + 3.0 * np.sqrt(n / every)


@pytest.mark.parametrize("factor", [4.0, 25.0])
def test_losses_that_rise_are_told_within_some_rows(factor):
    found = []
    for seed in range(6):
        losses = np.random.default_rng(seed).normal(size=700) ** 2
        losses[400:] *= factor
        health = LossMonitor(1000).update(losses).health()
        assert health["n_alarms"][0] > 0
        found.append(health["last_alarm"][0] - 400)
    assert 0 < np.median(found) < (120 if factor == 4.0 else 25)


@pytest.mark.parametrize("power", [-500, -80, -40, 40, 80, 480])
@pytest.mark.parametrize("seed", range(3))
def test_alarms_do_not_depend_on_the_unit(seed, power):
    """Losses below 1e-18, and above 1e18, were all of one size: nothing sounded the alarm."""
    errors = np.random.default_rng(seed).normal(size=700)
    errors[400:] *= 30.0
    expected = LossMonitor().update(errors**2).health()
    found = LossMonitor().update((2.0**power * errors) ** 2).health()
    assert expected["n_alarms"][0] > 0
    for name in ("n_alarms", "last_alarm"):
        assert found[name] == expected[name]


@pytest.mark.parametrize("first", [0.0, 1e-33, 1e-300, 1e30, 1e300, np.inf])
@pytest.mark.parametrize("size", [1, 700])
def test_a_strange_first_loss_hides_no_rise(first, size):
    for seed in range(3):
        losses = np.random.default_rng(seed).normal(size=700) ** 2
        losses[400:] *= 900.0
        losses[0] = first
        monitor, found = LossMonitor(1000), []
        for low in range(0, 700, size):
            found += monitor.update(losses[low : low + size]).alarms_
        assert found
        assert monitor.health()["last_alarm"][0] in range(400, 450)


def test_losses_of_all_sizes_one_after_another_sound_the_alarm_at_each_step():
    """What came before an alarm says nothing of sizes after it."""
    rng, found = np.random.default_rng(0), LossMonitor(1000)
    for step in range(5):
        found.update(rng.normal(size=300) ** 2 * 1e40**step)
    health = found.health()
    assert health["n_alarms"][0] == 4
    assert 1200 < health["last_alarm"][0] < 1230


def test_a_fleet_of_which_one_device_breaks():
    rng = np.random.default_rng(1)
    keys, X = rng.integers(5, size=1500), rng.normal(size=(1500, 2))
    y = X[:, 0] * (keys + 1.0) + 0.2 * rng.normal(size=1500)
    y[(keys == 3) & (np.arange(1500) > 1000)] *= -1.0
    forecasts = KeyedRegressor().prequential_predict(X, y, keys=keys)
    assert set(LossMonitor().update((forecasts - y) ** 2, keys=keys).alarms_) == {3}


@pytest.mark.parametrize("seed", range(2))
def test_keys_of_several_columns_are_tuples(seed):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"site": rng.integers(2, size=60), "device": rng.choice(["a", "b"], 60)})
    losses = rng.random(60)
    names = list(frame.itertuples(index=False, name=None))
    expected = LossMonitor().update(losses, keys=[f"{site} {name}" for site, name in names])
    for keys in (names, frame, frame.to_numpy()):
        health = LossMonitor().update(losses, keys=keys).health()
        assert [f"{site} {name}" for site, name in health["key"]] == list(expected.health()["key"])
        np.testing.assert_array_equal(health["mean_loss"], expected.health()["mean_loss"])
    fleet = KeyedRegressor(key=["site", "device"]).fit(frame.assign(x=losses), losses)
    told = LossMonitor().update(np.ones(fleet.n_keys_), keys=fleet.keys_).health()["key"]
    assert list(told) == fleet.keys_
    one = LossMonitor().update(losses, keys=frame[["device"]]).health()["key"]
    assert set(one) == {"a", "b"}


def test_what_is_no_loss_is_refused():
    monitor = LossMonitor().update([1.0])
    for losses in ([-1.0], [np.nan]):
        with pytest.raises(ValueError, match="at least 0"):
            monitor.update(losses)
    with pytest.raises(ValueError, match="inconsistent"):
        monitor.update([1.0, 2.0], keys=["a"])
    with pytest.raises(TypeError, match="Keys are text or numbers"):
        monitor.update([1.0, 2.0], keys=[("a", {}), ("b", {})])
    assert monitor.n_losses_ == 1
    with pytest.raises(AttributeError, match="before the first"):
        LossMonitor().health()
    assert monitor.update([np.inf, 0.0]).n_losses_ == 3


@pytest.mark.parametrize("huge", [np.inf, 1.5e308])
@pytest.mark.parametrize("size", [1, 9, 60])
def test_a_loss_beyond_numbers_fades_as_others_do(huge, size):
    rng = np.random.default_rng(size)
    losses = rng.random(60)
    losses[[0, 20, 21]] = huge
    monitor = LossMonitor(recent=10)
    for low in range(0, 60, size):
        recent = monitor.update(losses[low : low + size]).health()["recent_loss"][0]
        n = min(low + size, 60)
        assert np.isfinite(recent) == (n not in {*range(1, 11), *range(21, 32)})
    finite = losses < huge
    weights = 0.9 ** np.arange(60)[::-1]
    assert np.isclose(recent, np.average(losses[finite], weights=weights[finite]))


@pytest.mark.parametrize("missing", [np.nan, np.inf, None])
def test_keys_that_are_missing_are_refused_as_models_of_keys_do(missing):
    monitor = LossMonitor().update([1.0], keys=[2.0])
    for keys in ([missing, 2.0], np.array([2.0, missing], dtype=object), [(1, missing), (1, 2)]):
        with pytest.raises(ValueError, match="a key that is missing"):
            monitor.update([1.0, 2.0], keys=keys)
    assert list(monitor.health()["key"]) == [2.0]


def test_keys_are_one_whatever_they_come_in():
    monitor = LossMonitor().update(np.ones(2), keys=[["a", 1], ["b", 2]])
    monitor.update(np.ones(2), keys=np.array([["a", 1], ["b", 2]], dtype=object))
    monitor.update(np.ones(2), keys=[(np.str_("a"), np.int64(1)), ("b", 2)])
    assert list(monitor.health()["key"]) == [("a", 1), ("b", 2)]
    assert LossMonitor().update([], keys=[]).n_losses_ == 0


NAMES = {
    "none": lambda keys: None,
    "text": lambda keys: [f"k{key}" for key in keys],
    "numbers": lambda keys: keys,
    "tuples": lambda keys: [(f"k{key}", int(key)) for key in keys],
}


def same(one, two):
    for a, b in zip(one.health().values(), two.health().values(), strict=True):
        assert a.tolist() == b.tolist() or np.array_equal(a, b, equal_nan=True)
    assert one.alarms_ == two.alarms_


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_a_monitor_goes_into_a_file_beside_the_model(tmp_path, names):
    rng = np.random.default_rng(0)
    losses, keys = rng.normal(size=900) ** 2, rng.integers(3, size=900)
    losses[400:] *= 50.0
    losses[[3, 500]] = 0.0, np.inf
    monitor = LossMonitor(alarm_every=100)
    assert from_bytes(to_bytes(monitor)).get_params() == monitor.get_params()
    for low, high in [(0, 1), (1, 450), (450, 600)]:
        some = slice(low, high)
        monitor.update(losses[some], keys=names(keys[some]), held=losses[some] < 3.0)
        save(monitor, tmp_path / "monitor.skops")
        others = [load(tmp_path / "monitor.skops"), from_bytes(to_bytes(monitor))]
        with Store(tmp_path / "monitor.db") as store:
            others += [store.commit(monitor).load(), pickle.loads(pickle.dumps(monitor))]
        for other in others:
            same(other, monitor)
            twin = copy.deepcopy(monitor)
            for one in (other, twin):
                one.update(losses[600:], keys=names(keys[600:]))
            same(other, twin)
    assert monitor.health()["n_alarms"].sum() > 0


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("t", -1),
        ("t", 3),
        ("keys", ["a", float("nan")]),
        ("keys", ["a", "a"]),
        ("alarms", ["c"]),
        ("numbers", np.full((2, 12), np.nan)),
        ("numbers", np.full((2, 12), 1e9)),  # sizes at which counts would fill the memory
        ("numbers", np.ones((2, 3))),
        ("counts", -np.ones(9, dtype=np.int64)),
        ("n_counts", np.array([1, 10**6])),
        ("n_counts", np.array([9])),
        ("evidence", np.full((2, 3), np.inf)),
    ],
)
def test_monitors_of_strangers_are_looked_at(monkeypatch, part, value):
    monitor = LossMonitor().update(np.arange(9.0), keys=list("abababaab"))
    spoilt = monitor._held()
    n = len(spoilt["_state"]["counts"])
    value = value[:1].repeat(n) if part == "counts" else value
    spoilt["_state"] = spoilt["_state"] | {part: value}
    monkeypatch.setattr(LossMonitor, "_held", lambda _: spoilt)
    content = to_bytes(monitor)
    with pytest.raises(ValueError, match="The content"):
        from_bytes(content)


def test_of_several_targets_or_coverages_one_is_to_be_held():
    inside = np.array([[True, False], [True, True], [False, True]])
    with pytest.raises(ValueError, match=r"held has the shape \(3, 2\): give one number a row"):
        LossMonitor().update(np.ones(3), held=inside)
    for held in (inside[:, 0], inside[:, :1]):
        health = LossMonitor().update(np.ones(3), held=held).health()
        assert health["coverage"] == pytest.approx([2 / 3])
    assert LossMonitor().update([], held=[]).n_losses_ == 0
