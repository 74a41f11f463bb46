"""What a forecaster tells of itself: parts that add up, names of experts, a summary."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineForecaster
from sklearn_okl.evaluation import ForecastComponentsDisplay

SMALL = {"windows": (3, 4, 6)}


def stream(n=300, seed=0):
    """Make two series: a season of 12 rows that is known, and what a column adds."""
    rng, t = np.random.default_rng(seed), np.arange(n)
    X = rng.normal(size=(n, 2))
    season = np.sin(2 * np.pi * t / 12)
    y = np.stack([50.0 + 5.0 * season, 10.0 + season], axis=1) + 2.0 * X[:, :1]
    return y + 0.1 * rng.normal(size=y.shape), X, season


@pytest.mark.long
def test_parts_add_up_to_the_forecasts_and_are_what_made_the_series():
    y, X, season = stream()
    model = OnlineForecaster(12, **SMALL).fit(y[:276], X[:276])
    parts, forecasts = model.predict_components(X[276:288]), model.predict(X[276:288])
    assert list(parts) == ["level", "season_12", "columns", "rest"]
    assert_allclose(sum(parts.values()), forecasts, rtol=1e-12)
    assert_allclose(parts["season_12"].sum(axis=0), 0.0, atol=0.4)
    assert_allclose(parts["season_12"][:, 0], 5.0 * season[276:288], atol=1.2)
    assert_allclose(parts["columns"], np.tile(2.0 * X[276:288, :1], (1, 2)), atol=0.7)
    assert_allclose(parts["level"], np.tile([50.0, 10.0], (12, 1)), atol=1.0)
    few = model.predict_components(X[276:279])
    for name, part in few.items():
        assert_array_equal(part, parts[name][:3])


def test_parts_are_of_the_shape_of_forecasts_and_nan_where_these_are():
    pd = pytest.importorskip("pandas")
    y, _, _ = stream(60)
    flat = OnlineForecaster(3, **SMALL).fit(y[:, 0])
    assert {part.shape for part in flat.predict_components().values()} == {(3,)}
    y[:, 1] = np.nan
    index = pd.date_range("2024-01-01", periods=60, freq="h")
    frame = pd.DataFrame(y, index=index, columns=["load", "none"])
    model = OnlineForecaster(3, **SMALL).fit(frame)
    for part in model.predict_components(n_steps=2).values():
        assert part.index.equals(model.predict(n_steps=2).index)
        assert part["load"].notna().all()
        assert part["none"].isna().all()
    assert "60 values were missing" in model.summary().replace("\n", " ")


@pytest.mark.long
def test_experts_are_named():
    y, X, _ = stream(80)
    for arguments in ({}, {"pooled": True}, {"season_lengths": (12, 5)}):
        for columns in (None, X):
            model = OnlineForecaster(2, **SMALL, **arguments).fit(y, columns)
            assert len(set(model.expert_names_)) == model.expert_weights_.shape[-1]
    assert "the season of 5 rows again" in model.expert_names_


@pytest.mark.long
def test_the_summary_says_what_was_learnt():
    y, X, _ = stream()
    y[200, 0] = 1e6
    model = OnlineForecaster(12, **SMALL).fit(y, X)
    text = model.summary().replace("\n", " ")
    assert text.startswith("After 300 rows of 2 series, 2 columns. Seasons of 12 rows were found.")
    assert "Forecasts of the row 12 ahead miss by 0." in text
    assert text.endswith("1 value was missing, 1 taken for a fault.")
    said = OnlineForecaster(2, season_lengths=(4, 7)).fit([1.0]).summary()
    assert "After 1 row of 1 series. Seasons of 4 and 7 rows were given." in said
    assert "No forecast of the next row has been judged yet." in said.replace("\n", " ")


def test_components_are_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    y, X, _ = stream(120)
    model = OnlineForecaster(4, **SMALL).fit(y, X)
    display = ForecastComponentsDisplay.from_forecaster(model, X[:4], series=1)
    parts = model.predict_components(X[:4])
    assert_allclose(display.sum_.get_ydata(), (model.predict(X[:4]) - parts["level"])[:, 1])
    assert [line.get_label() for line in display.lines_] == ["Season of 12", "Columns", "Rest"]
    assert_array_equal(display.lines_[1].get_ydata(), parts["columns"][:, 1])
    with pytest.raises(ValueError, match="none of the series"):
        ForecastComponentsDisplay.from_forecaster(model, X[:4], series=2)
    matplotlib.pyplot.close("all")
