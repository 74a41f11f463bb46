"""Scores of distributions: against loops over pairs, closed forms, and each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest, norm, poisson
from sklearn.metrics import mean_pinball_loss

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.conformal import QuantileDistribution
from sklearn_okl.evaluation import (
    coverage_by_group,
    coverage_by_window,
    crps_from_distribution,
    crps_from_quantiles,
    crps_from_samples,
    interval_coverage,
    interval_score,
    interval_width,
    log_score,
    pit_from_distribution,
    pit_from_quantiles,
    pit_from_samples,
    weighted_interval_score,
)


class Normals:
    """Normal laws, one a row."""

    def __init__(self, mean, scale=1.0):
        self.law = norm(mean, scale)
        self.column = norm(np.asarray(mean)[..., None], np.asarray(scale)[..., None])

    def ppf(self, p):
        return self.column.ppf(p)

    def cdf(self, y):
        return self.law.cdf(y)

    def log_pdf(self, y):
        return self.law.logpdf(y)


@pytest.mark.parametrize("seed", range(3))
def test_crps_of_samples_is_that_of_a_loop_over_pairs(seed):
    rng = np.random.default_rng(seed)
    y, draws = rng.normal(size=(2, 4)), rng.normal(size=(2, 4, 6)).round(1)
    expected = [
        np.mean([abs(x - target) for x in row])
        - np.mean([abs(x - other) for x in row for other in row]) / 2.0
        for target, row in zip(y.ravel(), draws.reshape(8, 6), strict=True)
    ]
    assert_allclose(crps_from_samples(y, draws), np.mean(expected))
    y[0, 1] = np.nan
    assert_allclose(crps_from_samples(y, draws), np.mean(np.delete(expected, 1)))
    assert_allclose(crps_from_samples([2.0], [[0.5]]), 1.5)  # of one, the absolute error


def test_crps_of_quantiles_samples_and_distributions_are_the_same():
    rng = np.random.default_rng(1)
    mean, y = rng.normal(size=(2, 60))
    z = y - mean
    known = (z * (2.0 * norm.cdf(z) - 1.0) + 2.0 * norm.pdf(z) - 1.0 / np.sqrt(np.pi)).mean()
    assert_allclose(crps_from_distribution(y, Normals(mean), n_levels=400), known, rtol=2e-3)
    levels = (np.arange(400) + 0.5) / 400
    assert_allclose(crps_from_samples(y, mean[:, None] + norm.ppf(levels)), known, rtol=5e-3)
    levels = (np.arange(99) + 0.5) / 99
    expected = crps_from_quantiles(y, Normals(mean).ppf(levels), levels)
    assert crps_from_distribution(y, Normals(mean)) == expected


def test_one_target_on_an_atom_has_an_infinite_log_score():
    law = QuantileDistribution([0.1, 0.4, 0.6, 0.9], [[0.0, 1.0, 1.0, 2.0]] * 3)
    assert np.isfinite(log_score([0.5, 1.5, 1.7], law))
    assert log_score([0.5, 1.0, 1.7], law) == -np.inf
    assert np.isfinite(crps_from_distribution([0.5, 1.0, 1.7], law))


def test_the_log_score_is_least_for_the_true_law():
    rng = np.random.default_rng(2)
    y = rng.normal(size=3000)
    y[7] = np.nan
    scores = {scale: log_score(y, Normals(np.zeros(3000), scale)) for scale in (0.8, 1.0, 1.2)}
    assert min(scores, key=scores.get) == 1.0
    assert_allclose(scores[1.0], -norm.logpdf(np.delete(y, 7)).mean())
    assert_allclose(log_score([1.0, np.nan], norm(0.0, 1.0)), -norm.logpdf(1.0))  # SciPy's name


@pytest.mark.parametrize("seed", range(2))
def test_the_weighted_interval_score_is_the_mean_of_pinball_losses(seed):
    rng = np.random.default_rng(seed)
    y, middle = rng.normal(size=(2, 50))
    coverage = np.array([0.8, 0.3, 0.95])
    ends = norm.ppf(0.5 + coverage / 2.0)
    intervals = middle[:, None, None] + np.stack([-ends, 1.1 * ends], axis=-1)
    losses = [mean_pinball_loss(y, middle, alpha=0.5)]
    for k, c in enumerate(coverage):
        losses += [mean_pinball_loss(y, intervals[:, k, 0], alpha=(1 - c) / 2)]
        losses += [mean_pinball_loss(y, intervals[:, k, 1], alpha=(1 + c) / 2)]
    found = weighted_interval_score(y, middle, intervals, coverage)
    assert_allclose(found, 2.0 * np.mean(losses))


def test_coverage_by_window_and_by_group():
    rng = np.random.default_rng(3)
    y = rng.normal(size=1007)
    y[5] = np.nan
    ends = norm.ppf(0.5 + np.array([0.5, 0.9]) / 2.0)
    intervals = np.broadcast_to(np.stack([-ends, ends], axis=-1), (1007, 2, 2))
    known = np.delete(np.arange(1007), 5)
    by_window = coverage_by_window(y, intervals, window=100)
    assert by_window.shape == (10, 2)
    expected = [
        interval_coverage(y[rows], intervals[rows]) for rows in known[:1000].reshape(10, -1)
    ]
    assert_allclose(by_window, expected)
    groups = np.where(np.arange(1007) % 3, "day", "night")
    labels, by_group, counts = coverage_by_group(y, intervals, groups)
    assert_array_equal(labels, ["day", "night"])
    for label, share, n in zip(labels, by_group, counts, strict=True):
        rows = known[groups[known] == label]
        assert n == len(rows)
        assert_allclose(share, interval_coverage(y[rows], intervals[rows]))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_transform_of_the_true_law_is_uniform_and_of_a_wrong_one_is_not(seed):
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=4000)
    y = mean + rng.normal(size=4000)
    right, wrong = Normals(mean), Normals(mean, 0.7 * np.ones(4000))
    levels = np.arange(1, 20) / 20.0
    assert kstest(pit_from_distribution(y, right), "uniform").statistic < 0.03
    assert kstest(pit_from_distribution(y, wrong), "uniform").statistic > 0.06
    values = pit_from_quantiles(y, right.ppf(levels), levels, random_state=seed)
    assert kstest(values, "uniform").statistic < 0.03
    draws = mean[:, None] + rng.normal(size=(4000, 30))
    assert kstest(pit_from_samples(y, draws, random_state=seed), "uniform").statistic < 0.03


@pytest.mark.parametrize("rate", [0.2, 3.0])
def test_atoms_are_broken_by_chance(rate):
    y, law = poisson.rvs(rate, size=4000, random_state=4), poisson(rate)
    values = pit_from_distribution(y, law, random_state=0)
    assert kstest(values, "uniform").statistic < 0.03
    assert kstest(law.cdf(y), "uniform").statistic > 0.05
    levels = np.arange(1, 200) / 200.0
    quantiles = np.tile(law.ppf(levels), (4000, 1))
    values = pit_from_quantiles(y, quantiles, levels, random_state=0)
    assert kstest(values, "uniform").statistic < 0.03
    draws = poisson.rvs(rate, size=(4000, 40), random_state=5)
    assert kstest(pit_from_samples(y, draws, random_state=1), "uniform").statistic < 0.03


def test_a_transform_lies_between_the_levels_of_its_neighbours():
    levels, quantiles = [0.75, 0.25], [[2.0, 0.0]]  # in any order
    for y, low, high in [(-1, 0.0, 0.25), (1, 0.25, 0.75), (3, 0.75, 1.0), (0, 0.0, 0.75)]:
        for seed in range(20):
            (value,) = pit_from_quantiles([float(y)], quantiles, levels, random_state=seed)
            assert low <= value <= high
    assert len(pit_from_quantiles([np.nan, 1.0], quantiles * 2, levels)) == 1


def with_gaps(seed, n=60):
    """Targets, quantiles, intervals and a law, which is not known in some rows, and in which."""
    rng = np.random.default_rng(seed)
    y, coverage = rng.normal(size=n), np.array([0.5, 0.9])
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    quantiles = np.sort(rng.normal(size=(n, 5)))
    there = rng.random(n) < 0.8
    quantiles[~there] = np.nan
    intervals = quantiles[:, [[1, 3], [0, 4]]]
    y[rng.random(n) < 0.2] = np.nan
    return y, quantiles, intervals, levels, coverage, there & ~np.isnan(y)


SCORES = {
    "coverage": lambda y, q, i, levels, c: interval_coverage(y, i),
    "width": lambda y, q, i, levels, c: interval_width(i),
    "interval score": lambda y, q, i, levels, c: interval_score(y, i, c),
    "weighted": lambda y, q, i, levels, c: weighted_interval_score(y, q[:, 2], i, c),
    "a median": lambda y, q, i, levels, c: weighted_interval_score(
        y, q[:, 2], np.where(np.isnan(i), [0.0, 1.0], i), c
    ),
    "crps": lambda y, q, i, levels, c: crps_from_quantiles(y, q, levels),
    "samples": lambda y, q, i, levels, c: crps_from_samples(y, q),
    "distribution": lambda y, q, i, levels, c: crps_from_distribution(
        y, QuantileDistribution(levels, q)
    ),
    "log score": lambda y, q, i, levels, c: log_score(y, QuantileDistribution(levels, q)),
    "windows": lambda y, q, i, levels, c: coverage_by_window(y, i, 7),
    "groups": lambda y, q, i, levels, c: np.column_stack(
        coverage_by_group(y, i, np.arange(len(y)) // 30)[1:]
    ),
    "pit": lambda y, q, i, levels, c: pit_from_quantiles(y, q, levels, random_state=0),
    "pit of samples": lambda y, q, i, levels, c: pit_from_samples(y, q, random_state=0),
    "pit of a law": lambda y, q, i, levels, c: pit_from_distribution(
        y, QuantileDistribution(levels, q), random_state=0
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", list(SCORES))
def test_targets_without_a_forecast_are_left_out(name, seed):
    y, quantiles, intervals, levels, coverage, known = with_gaps(seed)
    found = SCORES[name](y, quantiles, intervals, levels, coverage)
    if name == "width":
        known = ~np.isnan(quantiles[:, 0])
    if name == "groups":  # which count their rows
        first, second = known[:30].sum(), known[30:].sum()
        assert_array_equal(found[:, -1], [first, second])
        y = np.where(known, y, np.nan)
        expected = SCORES[name](y, quantiles, np.nan_to_num(intervals), levels, coverage)
    else:
        rows = y[known], quantiles[known], intervals[known]
        expected = SCORES[name](*rows, levels, coverage)
    assert_array_equal(found, expected)


def test_infinite_ends_make_widths_and_scores_infinite_and_hold_all():
    y, line, levels = (
        [1.0, 2.0],
        np.array([[-np.inf, 1.5, np.inf], [0.0, 2.0, 3.0]]),
        [0.1, 0.5, 0.9],
    )
    intervals = line[:, None, [0, 2]]
    assert_array_equal(interval_coverage(y, intervals), [1.0])
    assert_array_equal(interval_width(intervals), [np.inf])
    assert_array_equal(interval_score(y, intervals, 0.8), [np.inf])
    assert weighted_interval_score(y, line[:, 1], intervals, 0.8) == np.inf
    assert crps_from_quantiles(y, line, levels) == np.inf
    assert crps_from_samples(y, line) == np.inf
    assert crps_from_distribution(y, QuantileDistribution(levels, line)) == np.inf
    values = pit_from_quantiles([1.0] * 50, np.repeat(line[:1], 50, axis=0), levels, random_state=0)
    assert ((values >= 0.1) & (values <= 0.5)).all()
    two = pit_from_quantiles([1.0], [[-np.inf, -np.inf, np.inf, np.inf]], [0.1, 0.3, 0.7, 0.9])
    assert 0.3 <= two[0] <= 0.7


@pytest.mark.parametrize("seed", range(2))
def test_what_is_issued_on_the_way_can_be_scored(seed):
    rng = np.random.default_rng(seed)
    X, levels = rng.normal(size=(80, 2)), np.arange(1, 20) / 20.0
    y = X[:, 0] + rng.normal(size=80)
    model = OnlineKernelRegressor(budget="tiny", random_state=seed)
    issued = model.prequential_quantiles(X, y, levels)
    assert np.isnan(issued[0]).all()
    assert np.isinf(issued[1, 0])
    assert len(pit_from_quantiles(y, issued, levels)) == 79
    assert crps_from_quantiles(y, issued, levels) == np.inf
    finite = np.isfinite(issued).all(axis=1)
    assert 0.0 < crps_from_quantiles(y[finite], issued[finite], levels) < 2.0
    assert_array_equal(
        interval_coverage(y, issued[:, [0, -1]]), interval_coverage(y[1:], issued[1:, [0, -1]])
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: crps_from_samples([1.0, 2.0], [[1.0]]), "along the last axis"),
        (lambda: crps_from_samples([1.0], [[]]), "along the last axis"),
        (lambda: crps_from_samples([1.0], [[np.nan, 1.0]]), "Some samples are NaN"),
        (lambda: crps_from_samples([1.0], [[np.nan]]), "that has a forecast"),
        (lambda: crps_from_quantiles([1.0], [[np.nan]], [0.5]), "that has a forecast"),
        (lambda: interval_coverage([1.0], [[[np.nan, np.nan]]]), "that has a forecast"),
        (lambda: log_score([np.inf], norm(0.0, 1.0)), "y_true holds infinity"),
        (lambda: interval_score([1.0], [[[np.inf, np.inf]]], 0.5), "at the same infinity"),
        (lambda: crps_from_samples([np.nan], [[1.0]]), "No target is known"),
        (lambda: log_score([1.0, 2.0], Normals([[0.0]])), "one row for each target"),
        (lambda: pit_from_distribution([1.0, 2.0], Normals([[0.0]])), "one row for each"),
        (lambda: weighted_interval_score([1.0], [1.0, 2.0], [[[0, 1]]], 0.5), "median has"),
        (lambda: coverage_by_window([1.0], [[[0.0, 1.0]]], 2), "fewer than window=2"),
        (lambda: coverage_by_group([1.0], [[[0.0, 1.0]]], [1, 2]), "groups has shape"),
        (lambda: pit_from_quantiles([1.0], [[2.0, 1.0]], [0.2, 0.8]), "quantiles cross"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_groups_without_an_order_are_refused():
    with pytest.raises(TypeError, match="labels that have no order"):
        coverage_by_group([1.0, 2.0], [[0.0, 1.0]] * 2, [None, "a"])
