"""Comparisons of models against literal loops, and the seeds that they draw from."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score
from sklearn.utils import Bunch

from sklearn_okl import (
    FourierFeatures,
    OnlineKernelRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import compare, prequential
from tests.evaluation.comparing import MODELS, STREAMS, Log, run_lines, stream
from tests.late import LateRidge


def literal(model, X, y, D):
    """Forecast every row when the labels of the rows up to t - 1 - D were learnt one by one."""
    forecasts = np.full(len(y), np.nan)
    for t in range(len(y)):
        if t - 1 - D >= 0:
            model.partial_fit(X[t - 1 - D : t - D], y[t - 1 - D : t - D])
            forecasts[t] = model.predict(X[t : t + 1])[0]
        elif D == 0 and hasattr(model, "prequential_predict"):
            forecasts[t] = 0.0  # these forecast before they have seen anything
    return forecasts


# what is computed


def test_rows_without_a_target_are_left_out():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=150)
    y[rng.random(150) < 0.2] = np.nan
    model = OnlineKernelRegressor(budget="tiny")
    found = compare({"a": model}, {"s": (X, y)}, seeds=2, scoring=["squared_error", "r2"])
    known = ~np.isnan(y)
    for seed in range(2):
        forecasts = clone(model).set_params(random_state=seed).prequential_predict(X, y)
        scores = (
            mean_squared_error(y[known], forecasts[known]),
            r2_score(y[known], forecasts[known]),
        )
        np.testing.assert_allclose(found.results["squared_error"][seed], scores[0])
        np.testing.assert_allclose(found.results["r2"][seed], scores[1])
        np.testing.assert_allclose(found.curves[seed]["squared_error"][-1], scores[0])


@pytest.mark.long
@pytest.mark.parametrize("D", [0, 4])
def test_scores_equal_the_literal_loop(D):
    comparison = compare(MODELS, STREAMS, [3, 5], delay=D, scoring=["squared_error", "r2"])
    results = comparison.results
    assert list(zip(*(results[k].tolist() for k in ("stream", "model", "seed")), strict=True)) == [
        (where, name, seed) for where in STREAMS for name in MODELS for seed in (3, 5)
    ]
    for i, (where, name, seed) in enumerate(
        zip(results["stream"], results["model"], results["seed"].tolist(), strict=True)
    ):
        X, y = stream(seed if where == "made" else 7)
        model = MODELS[name](seed) if name == "made" else clone(MODELS[name])
        model = model if name == "made" else model.set_params(random_state=seed)
        forecasts = literal(model, X, y, D)
        known = np.isfinite(forecasts)
        assert (~known).sum() == (D + 1 if D else int(name == "sgd"))
        errors = (y - forecasts)[known]
        tolerance = 1e-13 if name == "sgd" else 1e-8
        assert results["squared_error"][i] == pytest.approx(np.mean(errors**2), rel=tolerance)
        r2 = r2_score(y[known], forecasts[known])
        assert results["r2"][i] == pytest.approx(r2, rel=tolerance)
        assert results["n_rows"][i] == 150
        assert results["seconds_per_row"][i] > 0


@pytest.mark.long
def test_scores_equal_those_of_prequential_to_the_bit():
    delay = np.arange(150) + 1 + np.random.default_rng(0).integers(2, 9, size=150)
    comparison = compare({"m": MODELS["vaw2"]}, STREAMS, 2, delay=delay)
    for where, seed, score in zip(
        *(comparison.results[name] for name in ("stream", "seed", "squared_error")), strict=True
    ):
        model = clone(MODELS["vaw2"]).set_params(random_state=int(seed))
        X, y = stream(seed if where == "made" else 7)
        losses = prequential(model, X, y, delay=delay).losses
        assert score == np.mean(losses[np.isfinite(losses)])


def test_every_form_of_scoring():
    X, y = stream()

    def largest_error(y_true, y_pred):
        return np.abs(y_true - y_pred).max()

    def pinball(y_true, y_pred):
        return np.maximum(0.9 * (y_true - y_pred), 0.1 * (y_pred - y_true))

    model = VAWRegressor()
    comparison = compare(
        {"vaw": model},
        {"s": (X, y)},
        1,
        scoring={
            "mse": mean_squared_error,
            "mae": "absolute_error",
            "sklearn mae": "neg_mean_absolute_error",
            "r2": r2_score,
            "largest": largest_error,
            "pinball": pinball,
        },
    )
    p = prequential(model, X, y).forecasts
    (curve,) = comparison.curves
    rounds = curve["rounds"]
    assert rounds[0] == 1
    assert rounds[-1] == 150
    assert len(rounds) == 100
    expected = {
        "mse": mean_squared_error,
        "mae": mean_absolute_error,
        "sklearn mae": lambda t, q: -mean_absolute_error(t, q),
        "r2": r2_score,
        "largest": largest_error,
        "pinball": lambda t, q: pinball(t, q).mean(),
    }
    for name, metric in expected.items():
        assert comparison.results[name][0] == pytest.approx(metric(y, p), rel=1e-12)
        values = [metric(y[:n], p[:n]) for n in rounds[1:]]
        np.testing.assert_allclose(curve[name][1:], values, rtol=1e-10)
    assert np.isnan(curve["r2"][0])  # not defined on one row, and no warning
    better = {name for name, larger in comparison.greater_is_better.items() if larger}
    assert better == {"sklearn mae", "r2"}  # the functions' names say it, not those in the dict


@pytest.mark.long
def test_labels():
    X, y = stream()
    labels = np.where(y > 0, "up", "down")
    comparison = compare(
        {"sgd": SGDClassifier()}, {"s": (X, labels)}, 2, scoring=["zero_one", "accuracy"]
    )
    forecasts = prequential(SGDClassifier(random_state=1), X, labels, loss="zero_one").forecasts
    wrong = np.mean(forecasts[1:] != labels[1:])
    assert comparison.results["zero_one"][1] == wrong
    assert comparison.results["accuracy"][1] == pytest.approx(1 - wrong)
    with pytest.raises(ValueError, match="use 'zero_one' for labels"):
        compare({"sgd": SGDClassifier()}, {"s": (X, labels)}, 1)


def test_several_targets_lists_frames_and_bunches():
    pd = pytest.importorskip("pandas")
    X, y = stream()
    two = np.column_stack([y, -3 * y])
    given = {
        "pair": (X, two),
        "bunch": Bunch(data=X, target=two),
        "frame": (pd.DataFrame(X, columns=list("abc")), pd.DataFrame(two)),
        "lists": [X.tolist(), two.tolist()],
    }
    scores = compare({"vaw": VAWRegressor()}, given, 1).results["squared_error"]
    one = compare({"vaw": VAWRegressor()}, {"s": (X, y[:, None])}, 1).results["squared_error"]
    np.testing.assert_allclose(scores, 5 * one[0])


def test_a_delay_of_none_is_each_models_own():
    X, y = stream()
    models = {"prompt": LateRidge(0), "late": LateRidge(6)}
    own = compare(models, {"s": (X, y)}, 1, delay=None).results["squared_error"]
    late = compare(models, {"s": (X, y)}, 1, delay=6).results["squared_error"]
    assert own[0] == pytest.approx(prequential(LateRidge(0), X, y).mean_loss, rel=1e-13)
    assert own[1] == pytest.approx(late[1])
    assert own[0] != late[0]


def test_a_model_that_never_has_a_forecast_scores_nan():
    X, y = stream(n=5)
    comparison = compare({"a": VAWRegressor(), "b": VAWRegressor()}, {"s": (X, y)}, 2, delay=9)
    assert np.isnan(comparison.results["squared_error"]).all()
    assert "--" in comparison.to_latex()
    assert comparison.ranks().average == {"a": 1.5, "b": 1.5}


# seeds


class Drawn(Log):
    """The same with a part that draws, and one that does not."""

    def __init__(self, file, value=0.0, fails=(), random_state=None, one=None, two=None):
        super().__init__(file, value, fails, random_state)
        self.one = one
        self.two = two

    def prequential_predict(self, X, y):
        super().prequential_predict(X, y)
        parts = (self.one.random_state, self.two.random_state)
        Path(self.file).write_text(f"{self.random_state} {parts[0]} {parts[1]}")
        return np.zeros(len(y))


def test_the_seed_is_set_at_any_depth_and_no_two_parts_make_the_same_draw(tmp_path):
    file = tmp_path / "log"
    model = Drawn(file, one=FourierFeatures(random_state=1), two=FourierFeatures(random_state=2))
    compare({"m": model}, {"s": stream()}, [8])
    first = run_lines(file)[0].split()
    assert first[0] == "8"
    assert len(set(first)) == 3
    compare({"m": model}, {"s": stream()}, [8])
    assert run_lines(file)[0].split() == first
    compare({"m": model}, {"s": stream()}, [9])
    assert not set(run_lines(file)[0].split()) & set(first)
    assert model.random_state is None
    assert model.one.random_state == 1

    def nested(seed):
        return make_streaming_pipeline(
            FourierFeatures(n_components=10, random_state=seed), VAWRegressor()
        )

    both = compare({"set": nested(99), "made": nested}, {"s": stream()}, 2)
    scores = both.results["squared_error"].reshape(2, 2)
    np.testing.assert_array_equal(scores[0], scores[1])
    assert scores[0, 0] != scores[0, 1]


def test_a_callable_makes_the_model_and_nobody_sets_its_seed(tmp_path):
    file = tmp_path / "log"
    compare({"m": lambda seed: Log(file, random_state=seed + 10)}, {"s": stream()}, [0, 1])
    assert run_lines(file) == ["0.0 10", "0.0 11"]


def test_a_stream_is_made_once_for_each_seed_for_all_models_together():
    asked = []

    def make(seed):
        asked.append(seed)
        return stream(seed)

    compare(MODELS, {"made": make}, [4, 1])
    assert asked == [4, 1]


@pytest.mark.parametrize(
    ("seeds", "error", "sentence"),
    [
        (np.random.default_rng(0), TypeError, "something else each time"),
        (np.random.RandomState(0), TypeError, "Draw integers from it"),
        ([0, np.random.default_rng(0)], TypeError, "something else each time"),
        ((seed for seed in range(3)), TypeError, "something else each time"),
        ([0, 1.0], TypeError, "must be an integer, got 1.0"),
        (True, TypeError, "got True"),
        ([False], TypeError, "got False"),
        ("12", TypeError, "got '12'"),
        (0, ValueError, "at least one"),
        ([], ValueError, "empty"),
        ([-1], ValueError, "from 0"),
        ([2**32], ValueError, "from 0"),
        ([1, 2, 1], ValueError, "twice"),
    ],
)
def test_seeds_that_are_none(seeds, error, sentence):
    with pytest.raises(error, match=re.escape(sentence)):
        compare({"v": VAWRegressor()}, {"s": stream()}, seeds)


def test_seeds_of_any_kind_of_integer():
    by_array = compare({"v": VAWRegressor()}, {"s": stream()}, np.array([2, 0]))
    assert by_array.seeds == [2, 0]
    assert compare({"v": VAWRegressor()}, {"s": stream()}, np.int64(2)).seeds == [0, 1]


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"models": {}}, ValueError, "nothing to compare"),
        ({"models": [VAWRegressor()]}, TypeError, "models must be a dict"),
        ({"models": {1: VAWRegressor()}}, TypeError, "names of models must be strings, got 1"),
        ({"models": {"": VAWRegressor()}}, TypeError, "must be strings"),
        ({"models": {"v": VAWRegressor}}, TypeError, "is the class VAWRegressor; give an inst"),
        ({"models": {"v": FourierFeatures()}}, TypeError, "'v' is FourierFeatures, which has no"),
        ({"models": {"v": lambda seed: 3}}, TypeError, "'v' is int, which has no partial_fit"),
        ({"models": {"v": "VAW"}}, TypeError, "'v' is str"),
        ({"streams": {}}, ValueError, "streams is empty"),
        ({"streams": {("s",): stream()}}, TypeError, "names of streams must be strings"),
        ({"streams": stream()}, TypeError, "streams must be a dict"),
        ({"streams": {"s": stream()[0]}}, TypeError, "'s' must be a pair"),
        ({"streams": {"s": lambda seed: stream()[0]}}, TypeError, "'s' must be a pair"),
        ({"streams": {"s": (np.ones((3, 1)), np.ones(4))}}, ValueError, "inconsistent"),
        ({"streams": {"s": (np.ones((0, 1)), np.ones(0))}}, ValueError, "no rows"),
        ({"scoring": []}, ValueError, "scoring is empty"),
        ({"scoring": "mse"}, ValueError, "There is no loss and no scorer 'mse'"),
        ({"scoring": "roc_auc"}, ValueError, "may need probabilities"),
        ({"scoring": 3}, TypeError, "got 3"),
        ({"scoring": {"a": 3}}, TypeError, "got 3"),
        ({"scoring": {3: "r2"}}, TypeError, "must be a string, got 3"),
        ({"scoring": {"seed": "r2"}}, ValueError, "'seed' is a column"),
        ({"scoring": ["r2", "r2"]}, ValueError, "same name"),
        ({"scoring": partial(mean_squared_error)}, TypeError, "a dict of them with names"),
        ({"scoring": {"a": lambda t, p: np.ones(3)}}, ValueError, "returned the shape (3,)"),
        ({"delay": -1}, ValueError, "delay"),
        ({"delay": np.arange(3)}, ValueError, "one for each of the 150"),
    ],
)
def test_what_is_refused(change, error, sentence):
    arguments = {"models": {"v": VAWRegressor()}, "streams": {"s": stream()}, "seeds": 1} | change
    with pytest.raises(error, match=re.escape(sentence)):
        compare(**arguments)
