"""Waves of a small model that tell little give way to others: `experts/_renewed_waves.py`."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_friedman1

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor, from_bytes, to_bytes
from sklearn_okl.untuned import Constants
from sklearn_okl.untuned.experts import _renewed_waves
from sklearn_okl.untuned.experts._banks import MaskedFeatures, frequencies_of, learner_of
from sklearn_okl.untuned.experts._experts import Experts
from tests.alike import assert_keys_are_as_alone, assert_rows_alone_are_as_blocks

FIRST = 768  # the first round at which waves are looked at


def tiny(**parameters):
    return OnlineKernelRegressor(budget="tiny", random_state=0, **parameters)


def product(n, seed=0, d=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n)


def waves_of(model):
    """Return the frequencies (n_columns, m) of the kernel that was born."""
    return frequencies_of(model._state["banks"]["born"]["features"])[0].copy()


def a_bank(seed, late=0, n_targets=None, n=60):
    """Return a bank of one kernel on pairs that has learnt, its inputs, features, and targets."""
    model = tiny(label_delay=late).fit(*product(FIRST - 1, seed))
    bank = model._state["banks"]["born"]
    rng = np.random.default_rng(seed)
    learner, width = learner_of(bank), bank["experts"]["b"].shape[1]
    bank["experts"] = learner._start(width, n_targets, [bank["members"][0]], late)
    U = rng.normal(size=(n, bank["features"]["scales"].shape[1]))
    heard = rng.normal(size=(n, len(bank["features"]["masks"][0])))
    Z = MaskedFeatures.transform(bank["features"], np.hstack([heard, U]))
    Y = rng.normal(size=n if n_targets is None else (n, n_targets))
    learner._learn(bank["experts"], Z, Y)
    return bank, np.hstack([heard, U]), Z[0], Y


def ridge(Z, Y, alpha):
    """Return the coefficients of the ridge regression, and its least loss."""
    theta = np.linalg.solve(Z.T @ Z + alpha * np.eye(Z.shape[1]), Z.T @ Y)
    return theta, np.square(Y - Z @ theta).sum(axis=0) + alpha * np.square(theta).sum(axis=0)


@pytest.mark.parametrize("n_targets", [None, 2])
@pytest.mark.parametrize("late", [0, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_new_wave_is_one_that_has_been_zero(seed, late, n_targets):
    bank, inputs, Z, Y = a_bank(seed, late, n_targets)
    before, alpha = frequencies_of(bank["features"])[0].copy(), bank["experts"]["alpha"][0]
    m, n_known = before.shape[1], len(Y) - late
    # what each wave tells, as known: by what the loss would grow, over its squares so far
    known, told = ridge(Z, np.r_[Y[:n_known], 0.0 * Y[n_known:]], alpha)[0], []
    P = np.linalg.inv(Z.T @ Z + alpha * np.eye(Z.shape[1]))
    if late:  # the coefficients that are known are those of the rows whose labels are
        known = ridge(Z[:n_known], Y[:n_known], alpha)[0]
    for j in range(m):
        J = Z.shape[1] - 2 * m + np.array([j, m + j])
        grown = known[J] * np.linalg.solve(P[np.ix_(J, J)], known[J])
        told.append(grown.sum() / (np.square(Z[:, J]).sum() + 2.0 * alpha))
    least = np.argsort(told)[: m // 2]
    gone = np.sort(least[np.array(told)[least] < 0.25 * np.mean(told)])
    assert 0 < len(gone) <= m // 2
    scales = bank["features"]["scales"][0]
    _renewed_waves.renew(bank, scales, np.random.RandomState(seed))
    learner_of(bank)._close(bank["experts"])
    after = frequencies_of(bank["features"])[0]
    assert_array_equal(np.flatnonzero((before != after).any(axis=0)), gone)
    assert ((after != 0.0).sum(axis=0) == 2).all()
    # and it goes on as the ridge regression on what the features have been
    then = Z.copy()
    then[:, (Z.shape[1] - 2 * m + np.array([gone, m + gone])).ravel()] = 0.0
    theta, loss = ridge(then, Y, alpha)
    assert_allclose(bank["experts"]["theta"][0], theta, rtol=1e-7, atol=1e-9)
    assert_allclose(bank["experts"]["squares"][0] + 0.0 * loss, loss, rtol=1e-7)
    more = MaskedFeatures.transform(bank["features"], inputs[::-1])
    learner_of(bank)._learn(bank["experts"], more, Y)
    theta, _ = ridge(np.r_[then, more[0]], np.concatenate([Y, Y]), alpha)
    assert_allclose(bank["experts"]["theta"][0], theta, rtol=1e-7, atol=1e-9)


def test_what_a_wave_tells_is_what_is_lost_without_it():
    bank, _, Z, Y = a_bank(3)
    learner_of(bank)._open(bank["experts"])
    alpha, P = bank["experts"]["alpha"][0], bank["experts"]["P"][0]
    theta, least = ridge(Z, Y, alpha)
    waves = len(theta) - 36 + np.arange(36).reshape(2, 18).T
    told = _renewed_waves._told(P, theta[:, None], waves)[:, 0]
    for j, J in enumerate(waves):
        assert_allclose(told[j], ridge(np.delete(Z, J, axis=1), Y, alpha)[1] - least, rtol=1e-6)


@pytest.mark.long
def test_few_waves_find_what_tells_among_inputs_that_do_not(monkeypatch):
    renew, ratios = Experts.renew_waves, []
    for seed in (0, 1, 2):
        X, y = make_friedman1(2500, 15, noise=0.5, random_state=seed)
        squares = []
        for take in (renew, lambda *_: None):
            monkeypatch.setattr(Experts, "renew_waves", take)
            squares.append(np.square(tiny().prequential_predict(X, y) - y)[1800:].mean())
        ratios.append(squares[0] / squares[1])
    assert np.exp(np.mean(np.log(ratios))) < 0.85


@pytest.mark.long
def test_rows_alone_are_as_blocks_when_waves_come():
    X, y = product(1060)
    assert (waves_of(tiny().fit(X[:767], y[:767])) != waves_of(tiny().fit(X[:768], y[:768]))).any()
    assert_rows_alone_are_as_blocks(tiny(), X[:800], y[:800], FIRST - 3)
    assert_rows_alone_are_as_blocks(tiny(), X, y, 1020)


@pytest.mark.long
@pytest.mark.parametrize("late", [3, 300])
def test_so_are_they_with_late_labels(late):
    X, y = product(1060)
    whole = tiny(label_delay=late).prequential_predict(X, y)
    model = tiny(label_delay=late).fit(X[:765], y[:765])
    alone = [model.prequential_predict(X[[t]], y[[t]])[0] for t in range(765, 1060)]
    assert_allclose(alone, whole[765:], rtol=1e-8, atol=1e-8)


@pytest.mark.long
def test_models_of_keys_are_as_alone_when_waves_come():
    assert_keys_are_as_alone(tiny(), [product(800, seed) for seed in (0, 1)])


@pytest.mark.long(every=50)
@pytest.mark.parametrize("late", [4, 40])
def test_labels_that_are_not_known_yet_choose_no_wave(late):
    X, y = product(FIRST + late, 5)
    others = y.copy()
    others[FIRST - late :] = -3.0 * y[FIRST - late :] + 1.0
    taught = [tiny(label_delay=late).fit(X[:FIRST], some[:FIRST]) for some in (y, others)]
    assert_array_equal(*map(waves_of, taught))
    found = [tiny(label_delay=late).prequential_predict(X, some) for some in (y, others)]
    assert_array_equal(*(forecasts[: FIRST + 1] for forecasts in found))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_waves_are_kept_in_files(dtype):
    X, y = product(900)
    model = tiny().fit(X[:800], y[:800])
    again, same = from_bytes(to_bytes(model, dtype=dtype)), pickle.loads(pickle.dumps(model))
    assert_allclose(waves_of(again), waves_of(model), rtol=1e-6)
    found, expected = (one.prequential_predict(X[800:], y[800:]) for one in (again, model))
    assert_allclose(found, expected, atol=1e-9 if dtype == "float64" else 0.05)
    assert_array_equal(same.prequential_predict(X[800:], y[800:]), expected)


def test_classes_and_several_targets_have_their_waves_renewed():
    X, y = product(900)
    Y = np.c_[y, 1e3 * np.abs(X[:, 2])]
    for model, targets in (
        (tiny(), Y),
        (OnlineKernelClassifier(budget="tiny", random_state=0), (y > 0.0).astype(int)),
        (OnlineKernelClassifier(budget="tiny", random_state=0), np.digitize(y, [-1.0, 1.0])),
    ):
        before = waves_of(model.fit(X[:767], targets[:767]))
        assert (waves_of(model.partial_fit(X[767:768], targets[767:768])) != before).any()
        assert np.isfinite(model.partial_fit(X[768:], targets[768:])._state["losses"]).all()


def test_of_one_input_waves_are_looked_at_as_well():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 1))
    model = tiny(lags=0).fit(X, np.sin(3.0 * X[:, 0]) + 0.1 * rng.normal(size=800))
    assert np.isfinite(model.predict(X[:5])).all()


def test_nothing_is_born_where_nobody_is_to_be():
    class Unborn(OnlineKernelRegressor):
        constants = Constants(births=())

    X, y = product(800)
    assert "born" not in Unborn(budget="tiny", random_state=0).fit(X, y)._state["banks"]
