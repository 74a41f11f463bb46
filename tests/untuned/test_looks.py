"""Errors that rows explain ask for a model that begins anew, though they are no larger."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.base import _copied
from sklearn_okl.datasets import make_shifted_stream
from sklearn_okl.untuned import Constants
from sklearn_okl.untuned.rounds import _guard
from sklearn_okl.untuned.rounds._looks import nats_of_change
from sklearn_okl.untuned.rounds._renewal import Renewal, in_place_of
from sklearn_okl.untuned.rounds._trust import unguarded

LOOK = Renewal().look


class NoLooks(Renewal):
    def looks_back(self, anew, state):
        return False


class NeverLooks(OnlineKernelRegressor):
    constants = Constants(renewal=NoLooks())


class LooksSoon(OnlineKernelRegressor):
    """Who looks back for the first time after 256 rows, at 64."""

    constants = Constants(renewal=Renewal(look=128))


def mixed_for_a_while(n_rows=8000, seed=0, noise=0.3):
    """Return a stream of which rows are of an old and a new function, and then of the new one."""
    rng, t = np.random.default_rng(seed), np.arange(n_rows)
    X = rng.uniform(-1, 1, size=(n_rows, 6))
    old, new = (np.sin(3 * X @ np.diag(rng.normal(size=6))) @ rng.normal(size=6) for _ in "ab")
    is_new = (t >= 2000) & ((t >= 3500) | (rng.uniform(size=n_rows) < 0.5))
    return X, np.where(is_new, new, old) + noise * rng.normal(size=n_rows)


def trials(monkeypatch):
    """Return a list to which the rows are added at which a model begins anew, and why."""
    begun, begin = [], _guard._begin_anew

    def told(model, anew, state, run, n):
        begin(model, anew, state, run, n)
        begun.append((_guard.n_rows(state), anew["by_look"]))

    monkeypatch.setattr(_guard, "_begin_anew", told)
    return begun


def literal(Z, errors):
    """Return the Bayes factor in nats, by the covariance of all rows."""
    n, K = len(Z), np.eye(len(Z)) + Z @ Z.T
    share = errors @ np.linalg.solve(K, errors) / (errors @ errors)
    return -0.5 * np.linalg.slogdet(K)[1] - 0.5 * n * np.log(share)


@pytest.mark.parametrize("weighted", [False, True])
def test_nats_are_those_of_covariances(weighted):
    rng = np.random.default_rng(0)
    Z, errors = rng.normal(size=(64, 5)), rng.normal(size=(64, 2))
    errors[40:, 1] += 2.0 * Z[40:, 0]
    weights = rng.uniform(0.5, 2.0, size=64) if weighted else None
    roots = np.sqrt(weights) if weighted else np.ones(64)
    rows = [(roots[-n:, None] * Z[-n:], roots[-n:] * errors[-n:, 1]) for n in (64, 32, 16, 8)]
    found = nats_of_change(Z, errors, weights)
    assert_allclose(found, [literal(*part) for part in rows], rtol=1e-9)
    assert found.argmax() != 0  # not of all rows
    assert_allclose(nats_of_change(Z, 1e150 * errors, weights), found, rtol=1e-9)


@pytest.mark.long
def test_without_a_change_evidence_is_as_rare_as_it_says():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(40, 3)) / 4.0
    nats = np.array([nats_of_change(Z, rng.normal(size=(40, 1))) for _ in range(4000)])
    for a in (0.5, 1.0, 2.0):
        share = np.exp(-a)
        assert ((nats > a).mean(axis=0) <= share + 3.0 * np.sqrt(share / len(nats))).all()
    # the mean of an e-statistic is 1
    assert np.abs(np.exp(nats).mean(axis=0) - 1.0).max() < 0.1


def test_errors_of_nothing_are_no_evidence():
    Z = np.random.default_rng(2).normal(size=(16, 3))
    assert (nats_of_change(Z, np.zeros((16, 1))) < 0.0).all()


@pytest.mark.long
def test_a_change_that_makes_errors_no_larger_is_found(monkeypatch):
    begun, ratios = trials(monkeypatch), []
    for seed in range(4):
        X, y = mixed_for_a_while(seed=seed)
        ours, never = (
            np.square(model(budget="fast", random_state=0).prequential_predict(X, y) - y)
            for model in (OnlineKernelRegressor, NeverLooks)
        )
        ratios.append(ours[6000:].mean() / never[6000:].mean())
        assert ours.mean() <= 1.005 * never.mean()
    assert sum(by_look for _, by_look in begun) >= 3  # in one, who forgets has been as fast
    assert max(ratios) <= 1.01
    assert np.mean(ratios) < 0.97  # .95 where no similar rows correct the one that never looks


@pytest.mark.long
@pytest.mark.parametrize("tails", [np.inf, 2.0])
def test_what_stays_as_it_is_is_seldom_asked_for_and_loses_nothing(tails, monkeypatch):
    begun = trials(monkeypatch)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(4000, 4))
        noise = rng.normal(size=4000) if np.isinf(tails) else rng.standard_t(tails, 4000)
        y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * noise
        ours, never = (
            np.square(model(budget="fast", random_state=0).prequential_predict(X, y) - y).mean()
            for model in (OnlineKernelRegressor, NeverLooks)
        )
        assert ours <= 1.002 * never
    assert sum(by_look for _, by_look in begun) <= 2  # kernels born late are still learning


@pytest.mark.long
def test_trials_take_an_eighth_of_the_time_at_most(monkeypatch):
    monkeypatch.setattr(_guard, "nats_of_change", lambda *rows: np.full(4, 100.0))
    begun = trials(monkeypatch)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10 * LOOK, 2))
    y = X[:, 0] + rng.normal(size=len(X))
    OnlineKernelRegressor(budget="fast", random_state=0).partial_fit(X, y)
    rows = np.array([at for at, _ in begun])
    assert rows[0] == 2 * LOOK  # a younger model is not asked
    assert (np.diff(rows) >= 4 * LOOK).all()
    assert len(rows) >= 2


@pytest.mark.long
@pytest.mark.parametrize("parameters", [{}, {"label_delay": 5}, {"guard": False}])
def test_the_cut_changes_nothing(parameters, monkeypatch):
    X, y = mixed_for_a_while(4800, seed=4)
    y[4400:] = 2.0 - 3.0 * y[4400:]
    y[4110::97] += 1e3  # faults, for which a state is gone back to
    begun = trials(monkeypatch)
    whole = OnlineKernelRegressor(budget="fast", random_state=0, **parameters)
    expected = whole.prequential_predict(X, y)
    assert any(by_look for _, by_look in begun)
    model, ends = OnlineKernelRegressor(budget="fast", random_state=0, **parameters), []
    ends = np.sort(np.random.default_rng(0).choice(np.arange(1, 4800), 12, replace=False))
    parts = np.split(np.arange(4800), ends)
    made = [model.prequential_predict(X[rows], y[rows]) for rows in parts]
    assert_allclose(np.concatenate(made), expected, rtol=1e-7, atol=1e-7)
    assert model.n_samples_seen_ == whole.n_samples_seen_ == 4800


@pytest.mark.long
@pytest.mark.parametrize("has_gaps", [False, True])
@pytest.mark.parametrize("parameters", [{}, {"label_delay": 5}])
def test_a_look_is_the_same_one_row_at_a_time(parameters, has_gaps, monkeypatch):
    monkeypatch.setattr(_guard, "nats_of_change", lambda *rows: np.array([1.0, 9.0, 0.0, 0.0]))
    begun, (X, y), low = trials(monkeypatch), mixed_for_a_while(400), 250
    if has_gaps:
        X[::7, 2] = np.nan
    whole = LooksSoon(budget="fast", random_state=0, **parameters)
    whole.partial_fit(X[:low], y[:low])
    of_calls, of_rows = copy.deepcopy(whole), copy.deepcopy(whole)
    X, y, made = X[low:], y[low:], []
    expected = whole.prequential_predict(X, y)
    of_each = [of_calls.prequential_predict(X[[i]], y[[i]]) for i in range(len(y))]
    with of_rows.rows() as row:
        for x, target in zip(X, y, strict=True):
            row.predict(x)
            made.append(row.learn(x, target))
    assert begun == [(256, True)] * 3
    assert_allclose(np.concatenate(of_each), expected, rtol=1e-7, atol=1e-9)
    assert_allclose(made, expected, rtol=1e-7, atol=1e-9)
    for other in (of_calls, of_rows):
        assert other._state["anew"]["twin"]
        for name in ("rows", "odds", "scales"):
            parts = [model._state["anew"][name] for model in (whole, other)]
            parts = [part.rows if name == "rows" else [part] for part in parts]
            for one, found in zip(*parts, strict=True):
                assert_allclose(found, one, rtol=1e-7, atol=1e-9)


def test_several_targets_share_a_look(monkeypatch):
    found, ask = [], _guard.nats_of_change

    def told(Z, errors, weights):
        found.append((Z.shape, errors.shape, ask(Z, errors, weights)))
        return found[-1][-1]

    monkeypatch.setattr(_guard, "nats_of_change", told)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * LOOK, 3))
    X[::7, 1] = np.nan
    Y = X[:, :1] * [1.0, 2.0, -1.0] + 0.1 * rng.normal(size=(len(X), 3))
    OnlineKernelRegressor(budget="fast", random_state=0).partial_fit(X, Y)
    assert len(found) == 1
    (n, _), shape, nats = found[0]
    assert (n, *shape) == (LOOK // 2, LOOK // 2, 3)  # a quarter of all
    assert np.isfinite(nats).all()


@pytest.mark.long
def test_a_new_model_takes_its_twin_along():
    stream = make_shifted_stream(1500, base="table", kind="sign", shift_at=0.4, random_state=0)
    model = OnlineKernelRegressor(budget="fast", random_state=0)
    model.partial_fit(stream.data[:750], stream.target[:750])
    state = _copied(model._state)
    fresh = state["anew"]["twin"]
    fresh["beside"]["twin"] = unguarded(_copied(fresh))
    gone_on = in_place_of(state, fresh)
    # the twin may win next, and is as old as all rows are
    assert gone_on["n_before"] + gone_on["t"] == 750
    twin = gone_on["beside"]["twin"]
    assert twin["n_before"] + twin["t"] == 750
