"""What is looked at on made streams: of the law itself, and of a model of a few rows."""

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.distribution_streams import LEVELS, MADE, calibration, made
from sklearn_okl import OnlineKernelRegressor


class TheLaw:
    """Gaussian errors of size one around 0."""

    def prequential_quantiles(self, X, y, levels):
        return np.tile(norm.ppf(levels), (len(y), 1))


def test_the_law_itself_is_held_and_a_narrow_one_is_not():
    y = np.random.default_rng(0).normal(size=6000)
    decile, ks, held, windows = calibration(TheLaw(), None, y, first=1000)
    assert decile < 0.02
    assert ks < 0.03
    assert held == pytest.approx(0.9, abs=0.02)
    assert windows.shape == (4501,)
    assert windows.mean() == pytest.approx(0.9, abs=0.02)
    decile, ks, held, _ = calibration(TheLaw(), None, 3.0 * y, first=1000)
    assert min(decile, ks) > 0.1
    assert held < 0.6


@pytest.mark.long
@pytest.mark.parametrize("of", MADE, ids=lambda of: of.__name__)
def test_shares_are_about_held(of):
    X, y = made(of, 1500, seed=3)
    model = OnlineKernelRegressor(budget="fast", spread="rows", random_state=0)
    decile, ks, held, _ = calibration(model, X, y, first=500)
    assert LEVELS[5] == 0.05
    assert decile < 0.05
    assert ks < 0.06
    assert held == pytest.approx(0.9, abs=0.03)
