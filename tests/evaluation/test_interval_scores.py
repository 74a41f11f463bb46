"""Scores of intervals and quantiles, against closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.metrics import mean_pinball_loss

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.evaluation import (
    crps_from_quantiles,
    interval_coverage,
    interval_score,
    interval_width,
    quantiles_from_intervals,
)

COVERAGE = np.array([0.5, 0.8, 0.95])


def gaussian_intervals(shape, coverage=COVERAGE):
    ends = norm.ppf(0.5 + np.asarray(coverage) / 2.0)
    return np.broadcast_to(np.stack([-ends, ends], axis=-1), (*shape, len(ends), 2))


def test_gaussian_intervals_have_the_scores_that_they_should_have():
    y = norm.ppf((np.arange(4000) + 0.5) / 4000).reshape(50, 80)
    intervals, z = gaussian_intervals(y.shape), norm.ppf(0.5 + COVERAGE / 2.0)
    assert_allclose(interval_coverage(y, intervals), COVERAGE, atol=1e-3)
    assert_allclose(interval_width(intervals), 2.0 * z)
    expected = 4.0 * norm.pdf(z) / (1.0 - COVERAGE)
    assert_allclose(interval_score(y, intervals, COVERAGE), expected, rtol=2e-3)


@pytest.mark.parametrize("coverage", [0.9, [0.9], [0.5, 0.9]])
def test_intervals_are_read_in_the_same_shapes_with_targets_and_without(coverage):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0] + 0.1 * X[:, 1]
    intervals = OnlineKernelRegressor(budget="tiny").fit(X, y).predict_interval(X, coverage)
    assert intervals.ndim == 2 + np.ndim(coverage)
    width, held = interval_width(intervals), interval_coverage(y, intervals)
    assert width.shape == held.shape == (np.size(coverage),)
    expected = (intervals[..., 1] - intervals[..., 0]).mean(axis=0)
    assert_allclose(width, np.atleast_1d(expected))
    with pytest.raises(ValueError, match=r"shape \(60, 3\)"):
        interval_width(np.zeros((60, 3)))


def test_the_score_is_the_pinball_losses_of_both_ends():
    rng = np.random.default_rng(0)
    y, middle = rng.normal(size=(2, 30))
    intervals = middle[:, None, None] + gaussian_intervals((30,))
    quantiles, levels = quantiles_from_intervals(intervals, COVERAGE)
    assert (np.diff(levels) > 0).all()
    assert (np.diff(quantiles, axis=1) > 0).all()
    losses = [mean_pinball_loss(y, quantiles[:, k], alpha=a) for k, a in enumerate(levels)]
    both = np.add(losses[2::-1], losses[3:])
    assert_allclose(interval_score(y, intervals, COVERAGE), 2.0 / (1.0 - COVERAGE) * both)
    nearest = [0.0625, 0.1125, 0.325, 0.325, 0.1125, 0.0625]  # of 0.025, 0.1, 0.25, 0.75, ...
    assert_allclose(crps_from_quantiles(y, quantiles, levels), 2.0 * np.dot(nearest, losses))
    turned = crps_from_quantiles(y, quantiles[:, ::-1], levels[::-1])
    assert_allclose(turned, 2.0 * np.dot(nearest, losses))


@pytest.mark.long(every=3)
@pytest.mark.parametrize("y", [-2.0, 0.0, 0.7])
def test_crps_of_a_gaussian_forecast(y):
    levels = (np.arange(300) + 0.5) / 300
    known = y * (2.0 * norm.cdf(y) - 1.0) + 2.0 * norm.pdf(y) - 1.0 / np.sqrt(np.pi)
    assert_allclose(crps_from_quantiles([y], norm.ppf(levels)[None], levels), known, rtol=1e-2)


def test_ends_belong_to_their_interval():
    # each end by itself, one of no width, and targets next to an end
    y = np.array([-1.5, 2.0, 0.25, np.nextafter(-1.5, -2.0), np.nextafter(2.0, 3.0)])
    intervals = np.array([[-1.5, 2.0], [-1.5, 2.0], [0.25, 0.25], [-1.5, 2.0], [-1.5, 2.0]])
    held = [interval_coverage(y[[t]], intervals[[t], None])[0] for t in range(5)]
    assert held == [1.0, 1.0, 1.0, 0.0, 0.0]
    scores = [interval_score(y[[t]], intervals[[t], None], 0.9)[0] for t in range(3)]
    assert scores == [3.5, 3.5, 0.0]  # a target at an end misses nothing


def test_one_level_needs_no_axis():
    # `predict_interval(X, coverage=0.9)` has none
    y, intervals = np.arange(4.0), gaussian_intervals((4,))[:, 1]
    assert_array_equal(interval_coverage(y, intervals), interval_coverage(y, intervals[:, None]))
    one = interval_score(y, intervals[:, None], COVERAGE[1])
    assert_array_equal(interval_score(y, intervals, COVERAGE[1]), one)
    two = np.stack([y, y], axis=1), np.stack([intervals, intervals], axis=1)
    assert interval_coverage(*two) == interval_coverage(y, intervals)


def test_unknown_targets_are_left_out():
    y = np.array([0.0, np.nan, 3.0])
    intervals = gaussian_intervals((3,))
    assert_array_equal(interval_coverage(y, intervals), [0.5, 0.5, 0.5])
    kept = interval_score(y[[0, 2]], intervals[[0, 2]], COVERAGE)
    assert_array_equal(interval_score(y, intervals, COVERAGE), kept)
    assert crps_from_quantiles(y, np.zeros((3, 1)), [0.5]) == 1.5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: interval_coverage([1.0, 2.0], gaussian_intervals((3,))), "y_true has"),
        (lambda: interval_coverage([1.0], [[1.0, 0.0, 2.0]]), "lower and upper ends"),
        (lambda: interval_coverage([1.0], [[[1.0, 0.0]]]), "a lower end above"),
        (lambda: interval_coverage([np.nan], [[[0.0, 1.0]]]), "No target is known"),
        (lambda: interval_score([1.0], [[[0.0, 1.0]]], 90), "above 0 and below 1"),
        (lambda: interval_score([1.0], [[[0.0, 1.0]]], [0.5, 0.9]), "there are 1 levels"),
        (lambda: quantiles_from_intervals([1.0, 2.0], 0.5), "lower and upper ends"),
        (lambda: crps_from_quantiles([1.0], [1.0], [0.5]), "with the levels last"),
        (lambda: crps_from_quantiles([1.0], [[1.0, 2.0]], [0.5, 0.5]), "each level once"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
