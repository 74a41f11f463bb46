"""What is made of attributions: importances, running ones, shap's object, pictures, effects."""

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import (
    FourierFeatures,
    OnlineKernelRegressor,
    RunningStandardScaler,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PartialEffectsDisplay, ShapleyDisplay
from sklearn_okl.inspection import explain, partial_effects


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(500, 3))
    model = make_streaming_pipeline(
        RunningStandardScaler(), FourierFeatures(gamma=0.3, random_state=0), VAWRegressor(0.05)
    )
    return model.fit(X, X[:, 0] ** 2 + X[:, 1] * X[:, 2]), X


def test_running_importances_are_faded_means(fitted):
    model, X = fitted
    found = explain(model, X[:30], X[-8:])
    path = found.running_importances(0.9)
    for t in (0, 1, 29):
        weights = 0.9 ** np.arange(t, -1, -1.0)
        assert_allclose(path[t], weights @ np.abs(found.values[: t + 1]) / weights.sum())
    assert_allclose(found.running_importances(1.0)[-1], found.importances())
    with pytest.raises(ValueError, match="fading"):
        found.running_importances(0.0)


def test_shap_gets_all_entries(fitted, monkeypatch):
    model, X = fitted
    found = explain(model, X[:5], X[-8:])
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match="needs the package shap"):
        found.to_shap()

    class Explanation:
        def __init__(self, values, base_values, data, feature_names):
            self.values, self.base_values = values, base_values
            self.data, self.feature_names = data, feature_names

    shap = ModuleType("shap")
    shap.Explanation = Explanation
    monkeypatch.setitem(sys.modules, "shap", shap)
    theirs = found.to_shap()
    assert_allclose(theirs.base_values + theirs.values.sum(axis=1), model.predict(X[:5]))
    assert theirs.feature_names == ["x0", "x1", "x2", "shrinkage"]
    assert_allclose(theirs.data[:, :3], X[:5])


def test_effects_are_means_of_forecasts_of_exchanged_columns(fitted):
    model, X = fitted
    learner, background = model[-1], X[-20:]

    def f(rows):
        return model[1].transform(model[0].transform(rows)) @ learner.coef_

    effects = partial_effects(model, 0, background, grid=[-1.5, 0.0, 1.0], coverage=0.5)
    for value, mean, low, high in zip(
        effects.grid, effects.mean, effects.low, effects.high, strict=True
    ):
        rows = background.copy()
        rows[:, 0] = value
        assert_allclose([mean, *np.quantile(f(rows), [0.25, 0.75])], [f(rows).mean(), low, high])
    assert effects.mean[0] > effects.mean[1] + 1.0
    # a product has wide bands, and a sum has the spread of the rest alone
    of_product = partial_effects(model, 1, background, grid=[-2.0, 0.0, 2.0])
    widths = of_product.high - of_product.low
    assert widths[0] > 1.2 * widths[1]


def test_effects_know_frames_categories_and_several_targets():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    kind = np.array(["a", "b", "c"])[rng.integers(0, 3, 300)]
    frame = pd.DataFrame({"x": X[:, 0], "kind": pd.Categorical(kind), "z": X[:, 1]})
    y = X[:, 0] + 3.0 * (kind == "b")
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(frame, np.c_[y, -2.0 * y])
    effects = model.partial_effects("kind", frame[-32:])
    assert effects.name == "kind"
    assert effects.grid.tolist() == ["a", "b", "c"]
    assert effects.mean.shape == (3, 2)
    assert effects.mean[:, 0].argmax() == 1
    assert effects.mean[:, 1].argmin() == 1
    frame["flag"] = X[:, 0] > 0.0
    flagged = OnlineKernelRegressor(budget="fast", random_state=0).fit(frame, y)
    assert flagged.partial_effects("flag", frame[-32:]).grid.tolist() == [False, True]
    frame = frame.drop(columns="flag")
    line = model.partial_effects("x", frame[-32:], grid=5)
    assert len(line.grid) == 5
    assert (np.diff(line.mean[:, 0]) > 0.0).all()


def test_effects_refuse_what_they_cannot_say(fitted):
    model, X = fitted
    for given, words in [
        ({"column": "y"}, "no column 'y'"),
        ({"column": 3}, "no column 3"),
        ({"grid": []}, "grid must be"),
        ({"coverage": 0.0}, "coverage"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.partial_effects(**{"column": 0, "background": X[-4:], **given})
    from sklearn.decomposition import PCA
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    mixed = make_pipeline(PCA(2), FourierFeatures(random_state=0), Ridge()).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="no column can be told apart"):
        partial_effects(mixed, 0, X[-4:])


def test_displays_draw_what_they_are_given(fitted):
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    model, X = fitted
    display = ShapleyDisplay.from_estimator(model, X[:40], background=X[-8:])
    found = display.explanation
    widths = [bar.get_width() for bar in display.bars_]
    assert_allclose(widths, np.sort(found.importances()))
    display.plot(row=3)
    told = {label.get_text() for label in display.ax_.get_yticklabels()}
    assert told == {"x0", "x1", "x2", "shrinkage"}
    display.plot(over_time=True, n_largest=2)
    assert len(display.lines_) == 2
    largest = int(found.importances().argmax())
    assert_allclose(display.lines_[0].get_ydata(), found.running_importances()[:, largest])
    drawn = PartialEffectsDisplay.from_estimator(model, 0, background=X[-8:], grid=7)
    assert_allclose(drawn.line_.get_ydata(), drawn.effects.mean)
    assert drawn.ax_.get_xlabel() == "x0"
    plt.close("all")
    both = make_streaming_pipeline(FourierFeatures(random_state=0), VAWRegressor())
    both.fit(X, X[:, :2])
    with pytest.raises(ValueError, match="2 targets"):
        ShapleyDisplay(explain(both, X[:3], X[-4:])).plot()
    with pytest.raises(ValueError, match="2 targets"):
        PartialEffectsDisplay(partial_effects(both, 0, X[-4:])).plot()
