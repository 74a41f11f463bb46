"""Small models that learn a row each together are in the very states of models that learn alone."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.untuned.many import Kept, forecast_together, learn_together, whole

N = 12


def models(first, rng, unit=1.0, fault=None, **parameters):
    """Models that have learnt `first` rows or some more, of one of three seeds, and their rows."""
    X = rng.normal(size=(N, first + 60, 5))
    y = unit * (X[..., 0] + np.abs(X[..., 1]) + 0.2 * rng.normal(size=X.shape[:2]))
    if fault is not None:
        y[::3, fault] += 1e4 * unit
    taught = [
        OnlineKernelRegressor(budget="tiny", random_state=i % 3, **parameters).fit(
            x[:n], target[:n]
        )
        for i, (n, x, target) in enumerate(zip(range(first, first + N), X, y, strict=True))
    ]
    return taught, X, y


def are_alike(part, other, path="state"):
    """Look whether two states are the same but for rounding; what is not known yet may be there."""
    if isinstance(part, dict):
        assert part.keys() ^ other.keys() <= {"usual"}, path
        for name in part.keys() & other.keys():
            are_alike(part[name], other[name], f"{path}/{name}")
    elif isinstance(part, (list, tuple)):
        assert len(part) == len(other), path
        for i, both in enumerate(zip(part, other, strict=True)):
            are_alike(*both, f"{path}/{i}")
    elif isinstance(part, (np.ndarray, float)):
        part, other = np.asarray(part), np.asarray(other)
        assert (part.shape, part.dtype) == (other.shape, other.dtype), path
        scale = np.abs(other[np.isfinite(other)]).max(initial=1e-3)
        assert_allclose(part, other, rtol=0, atol=1e-9 * scale, err_msg=path)
    elif isinstance(part, (int, str, bool, type(None))):
        assert (type(part), part) == (type(other), other), path


def in_rounds(taught, X, y, n):
    """Teach rows to all together, and to copies alone; return both, and how many were together."""
    alone, together = copy.deepcopy(taught), 0
    starts = [model.n_samples_seen_ for model in taught]
    for k in range(n):
        rows = np.array([X[i, start + k] for i, start in enumerate(starts)])
        targets = np.array([y[i, start + k] for i, start in enumerate(starts)])
        learnt, forecasts = learn_together(taught, rows, targets)
        for i, one in enumerate(learnt):
            of_row = rows[i : i + 1], targets[i : i + 1]
            expected = alone[i].prequential_predict(*of_row)
            together += one is not None
            if one is None:
                model = copy.copy(whole(taught[i]))
                forecasts[i] = model.prequential_predict(*of_row)[0]
            taught[i] = model if one is None else one
            assert_allclose(forecasts[i], expected[0], rtol=0, atol=1e-10 * np.abs(targets).max())
    return taught, alone, together


@pytest.mark.long(every=50)
@pytest.mark.parametrize("unit", [1.0, 1e-5])
@pytest.mark.parametrize("first", [2, 20, 55, 118, 1030, 500])
def test_states_are_those_of_models_alone(first, unit):
    taught, X, y = models(first, np.random.default_rng(first), unit)
    found, expected, n = in_rounds(taught, X, y, 14 if unit < 1.0 else 26)
    assert n > 0.9 * (14 if unit < 1.0 else 26) * N
    for one, model in zip(found, expected, strict=True):
        are_alike(whole(one)._state, model._state)


def test_a_young_column_that_steps_after_it_has_stood_still_is_left_to_the_model():
    rng, n_rows = np.random.default_rng(3), np.arange(4, 4 + N)
    X, y = rng.normal(size=(N, 16, 3)), rng.normal(size=(N, 16))
    X[:6, :, 0] = 1.0  # in half of the models
    young = [OnlineKernelRegressor(budget="tiny").partial_fit(*of) for of in zip(X, y, strict=True)]
    older = [
        OnlineKernelRegressor(budget="tiny").fit(x[:n], target[:n])
        for x, target, n in zip(X, y, n_rows, strict=True)
    ]
    rows, targets = rng.normal(size=(N, 3)), 0.1 * rng.normal(size=N)
    learnt, forecasts = learn_together(older, rows, targets)
    # who has stood still for seven rows or less is in no doubt; the last one ends a block
    is_step = (np.arange(N) < 6) & (n_rows >= 8)
    assert [one is None for one in learnt] == (is_step | (n_rows == 15)).tolist()
    for k in np.flatnonzero(~is_step & (n_rows < 15)).tolist():
        row = rows[k : k + 1], targets[k : k + 1]
        assert_allclose(forecasts[k], older[k].prequential_predict(*row)[0], atol=1e-10)
        are_alike(whole(learnt[k])._state, older[k]._state)
    learnt, _ = learn_together(young, rows, targets)
    assert sum(one is not None for one in learnt) >= N - 6


@pytest.mark.long
def test_a_model_in_doubt_and_its_twin_learn_with_others():
    rng = np.random.default_rng(0)
    taught, X, y = models(140, rng, fault=130)
    assert sum(bool(model._state["beside"]["twin"]) for model in taught) >= 3
    found, expected, n = in_rounds(taught, X, y, 40)
    assert n > 0.9 * 40 * N
    assert any(type(one) is Kept and one.twin is not None for one in found)
    for one, model in zip(found, expected, strict=True):
        are_alike(whole(one)._state, model._state)
        assert one is not model


@pytest.mark.long
@pytest.mark.parametrize("fault", [None, 130])
def test_models_forecast_with_others_what_they_forecast_alone(fault):
    """Whose record is kept, and who is a model; with a twin that is heard; one of them twice."""
    rng = np.random.default_rng(0)
    taught, X, y = models(140, rng, **({} if fault is None else {"fault": fault}))
    found, *_ = in_rounds(taught, X, y, 5)
    n_twins = 0
    for known in (taught, found):
        rows = rng.normal(size=(N + 2, X.shape[2]))
        rows[0, 0], rows[1, 1] = 1e7, np.nan
        of_rows = [*known, known[3], known[4]]
        there, forecasts = forecast_together(of_rows, rows)
        assert not there[:2].any()
        assert there[2:].mean() > 0.9
        for i in np.flatnonzero(there).tolist():
            model = whole(of_rows[i])
            assert_allclose(forecasts[i], model.predict(rows[i : i + 1])[0], rtol=1e-9, atol=1e-9)
            n_twins += bool(model._state["beside"]["twin"])
    assert (n_twins > 0) == (fault is not None)


@pytest.mark.long
def test_rows_that_are_not_ordinary_are_left_to_the_model():
    taught, X, y = models(70, np.random.default_rng(1))
    rows, targets = X[:, 100].copy(), y[:, 100].copy()
    rows[0, 0], rows[1, 1], targets[2] = 1e5, np.nan, 1e4
    learnt, _ = learn_together(taught, rows, targets)
    assert [one is None for one in learnt] == [True] * 3 + [False] * (N - 3)
    assert all(model.n_samples_seen_ == 70 + i for i, model in enumerate(taught))


@pytest.mark.parametrize(
    "parameters",
    [{"label_delay": 1}, {"missing_values": -1.0}, {"target_range": (0, None)}, {"spread": "rows"}],
    ids=lambda parameters: next(iter(parameters)),
)
def test_others_are_left_alone(parameters):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    model = OnlineKernelRegressor(budget="tiny", **parameters).fit(X, np.abs(X[:, 0]))
    assert learn_together([model], X[:1], np.ones(1))[0] == [None]
