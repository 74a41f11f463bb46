"""The expected calibration error: against a loop over bins, and what it refuses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl.evaluation import calibration_error


def by_loop(places, P, n_bins):
    total = 0.0
    for k in range(n_bins):
        low, high = k / n_bins, (k + 1) / n_bins
        rows = [
            (p.max(), p.argmax() == place)
            for p, place in zip(P, places, strict=True)
            if low <= p.max() < high or (p.max() == 1.0 and k == n_bins - 1)
        ]
        if rows:
            said, came = np.array(rows, dtype=float).T
            total += len(rows) * abs(said.mean() - came.mean())
    return total / len(P)


@pytest.mark.parametrize("n_bins", [1, 4, 15])
def test_it_is_that_of_a_loop_over_the_bins(n_bins):
    rng = np.random.default_rng(n_bins)
    P, places = rng.dirichlet([0.3, 0.3, 0.3], size=500), rng.integers(3, size=500)
    P[0] = [1.0, 0.0, 0.0]
    expected = by_loop(places, P, n_bins)
    labels = np.array(["c", "a", "b"])  # the columns have any order
    assert_allclose(calibration_error(labels[places], P, labels=labels, n_bins=n_bins), expected)
    assert_allclose(calibration_error(places, P, n_bins=n_bins), expected)


def test_true_probabilities_have_little_and_rows_without_any_are_left_out():
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    P, y = np.column_stack([1.0 - p, p]), (rng.random(20_000) < p).astype(int)
    assert calibration_error(y, P) < 0.015
    assert calibration_error(y, P**3 / (P**3).sum(axis=1, keepdims=True)) > 0.08
    gaps = P.copy()
    gaps[::2] = np.nan
    assert calibration_error(y, gaps) == calibration_error(y[1::2], P[1::2])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0, 1], [[0.5, 0.5]]), r"the shape \(2, 2\), got \(1, 2\)"),
        (([0, 1], [[0.5, 0.5]] * 2, [0, 1, 2]), r"the shape \(2, 3\)"),
        (([0, 3], [[0.5, 0.5]] * 2, [0, 1]), "label 3, which is none of"),
        (([0, 1], [[np.nan, np.nan]] * 2), "all of them are NaN"),
        (([0, 1], [[1.5, 0.8], [0.2, 0.1]]), "from 0 to 1, but some go from 0.1 to 1.5"),
        (([0, 1], [[-0.5, -0.8], [0.2, 0.1]]), "some go from -0.8 to 0.2"),
    ],
)
def test_what_does_not_fit_is_said(arguments, sentence):
    y, P, *labels = arguments
    with pytest.raises(ValueError, match=sentence):
        calibration_error(y, P, labels=labels[0] if labels else None)
