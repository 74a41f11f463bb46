import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_okl import BackgroundReservoir


def test_every_row_is_as_likely_to_be_kept_as_any_other():
    n, k, draws = 40, 5, 500
    X, counts = np.arange(n, dtype=np.float64)[:, None], np.zeros(n)
    for seed in range(draws):
        kept = BackgroundReservoir(k, random_state=seed).fit(X).background_
        assert len(np.unique(kept)) == k
        counts[kept[:, 0].astype(int)] += 1
    expected = draws * k / n
    deviation = np.sqrt(expected * (1.0 - k / n))
    assert np.abs(counts - expected).max() < 4.0 * deviation


@pytest.mark.parametrize("cut", [1, 2, 31, 33, 64])
def test_cuts_do_not_matter_and_rows_go_on_as_they_are(cut):
    X = np.random.default_rng(0).normal(size=(100, 2))
    X[5, 1] = np.nan
    whole = BackgroundReservoir(random_state=0).fit(X)
    parts = BackgroundReservoir(random_state=0)
    for low in range(0, len(X), cut):
        rows = X[low : low + cut]
        assert_array_equal(parts.prequential_transform(rows), rows)
    assert_array_equal(parts.background_, whole.background_)
    assert_array_equal(whole.transform(X[:3]), X[:3])
    assert whole.background_.shape == (32, 2)
