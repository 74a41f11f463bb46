import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_okl import (
    BackgroundReservoir,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)


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


@pytest.mark.parametrize("draws", [20, pytest.param(600, marks=pytest.mark.long)])
def test_rows_that_are_unlearnt_leave_the_sample_which_stays_uniform(draws, tmp_path):
    n, k = 30, 6
    X = np.arange(n + 20, dtype=np.float64)[:, None]
    out = np.arange(3, 21, 2)  # nine of them, some kept and some not
    stay = np.r_[np.setdiff1d(np.arange(n), out), n : n + 20]
    sizes, counts = [], np.zeros((2, n + 20))
    for seed in range(draws):
        model = make_streaming_pipeline(BackgroundReservoir(k, random_state=seed), VAWRegressor())
        model.fit(X[:n], X[:n, 0]).unlearn(X[out[:4]], X[out[:4], 0])
        model.unlearn(X[out[4:]], X[out[4:], 0])
        assert not np.isin(model[0].background_, X[out]).any()
        assert model[0].n_samples_seen_ == n - 9
        if seed == 0:
            save(model, tmp_path / "model")
            model = load(tmp_path / "model")
        for last, of_these in ((n + 5, counts[0]), (n + 20, counts[1])):
            rows = slice(n if last == n + 5 else n + 5, last)
            model.partial_fit(X[rows], X[rows, 0])
            kept = model[0].background_[:, 0].astype(int)
            assert len(np.unique(kept)) == len(kept)
            of_these[kept] += 1
        sizes.append(len(kept))
    assert set(sizes) == {k}  # all places are taken again
    for of_these, last in zip(counts, (n + 5, n + 20), strict=True):
        some = stay[stay < last]
        expected = of_these.sum() / len(some)
        assert np.abs(of_these[some] - expected).max() < 4.5 * np.sqrt(expected)
        assert of_these[out].sum() == 0


def test_other_pipelines_still_say_what_hinders_them():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = make_streaming_pipeline(BackgroundReservoir(), VAWRegressor()).fit(X, X[:, 0])
    with pytest.raises(TypeError, match="cannot merge where the step 'backgroundreservoir'"):
        model.merge(model)
