"""Running quantiles: by definition while they are exact, near it after, whatever the cut."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri

from sklearn_okl import (
    RunningQuantileTransformer,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)


def stream(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    columns = [
        rng.exponential(size=n),
        rng.integers(0, 4, n),
        np.full(n, 3.0),
        np.where(rng.random(n) < 0.3, np.nan, rng.standard_cauchy(n)),
        np.full(n, np.nan),
    ]
    return np.column_stack(columns)


def share(x, past):
    """Return the share of the past below x: half of those equal to it count."""
    past = past[~np.isnan(past)]
    return (np.sum(past < x) + 0.5 * np.sum(past == x)) / len(past) if len(past) else 0.5


def by_definition(X, t):
    """Return the shares of row t by the rows before the latest look."""
    look = t if t < 2 else 1 << (t.bit_length() - 1) if t < 256 else t - t % 256
    return np.array([share(x, past) for x, past in zip(X[t], X[:look].T, strict=True)])


@pytest.mark.parametrize("t", [1, 2, 3, 64, 100, 255, 256, 400, 511, 513, 1400])
def test_near_the_shares_of_the_past(t):
    X = stream()
    shares = RunningQuantileTransformer(output_distribution="uniform").prequential_transform(X)[t]
    assert_array_equal(np.isnan(shares), np.isnan(X[t]))
    known = ~np.isnan(shares)
    error = 0.5 / min(max(t // 2, 1), 128) + 0.01  # one of the quantiles, and the merges
    assert_allclose(shares[known], by_definition(X, t)[known], atol=error)


@pytest.mark.parametrize("delay", [0, 1, 5, 300])
def test_the_cut_changes_nothing_and_late_rows_know_less(delay):
    X = stream()
    whole = RunningQuantileTransformer()._prequential_transform(X, None, delay)
    scaler, parts = RunningQuantileTransformer(), []
    cuts = [0, 1, 2, 5, 31, 255, 256, 257, 700, 1500]
    for low, high in pairwise(cuts):
        parts.append(scaler._prequential_transform(X[low:high], None, delay))
        scaler = pickle.loads(pickle.dumps(scaler))
    assert_array_equal(np.vstack(parts), whole)
    for t in (delay + 1, delay + 40, 1200):
        known = RunningQuantileTransformer().fit(X[: t - delay])
        assert_array_equal(known.transform(X[t : t + 1])[0], whole[t])


def test_scores_are_normal_and_moderate():
    X = stream(5000)
    scaler = RunningQuantileTransformer()
    Z = scaler.prequential_transform(X)
    assert_allclose(Z[256:, 0].mean(), 0.0, atol=0.05)
    assert_allclose(Z[256:, 0].std(), 1.0, atol=0.05)
    assert_array_equal(Z[:, 2], 0.0)
    far = scaler.transform([[1e300, -1e300, 1e9, np.nan, 7.0]])[0]
    assert_allclose(np.abs(far[:2]), ndtri(1 - 0.5 / 128))
    assert far[4] == 0.0  # nothing is known of this column
    uniform = RunningQuantileTransformer(output_distribution="uniform").fit(X)
    assert_allclose(ndtri(uniform.transform(X)), scaler.transform(X))


def test_one_row_and_many_go_the_same_way():
    X = stream()
    scaler = RunningQuantileTransformer().fit(X)
    many = scaler.transform(X[:50])
    assert_array_equal(np.vstack([scaler.transform(X[t : t + 1]) for t in range(50)]), many)


def test_the_number_of_quantiles_is_structure():
    X = stream(300)
    scaler = RunningQuantileTransformer().fit(X)
    assert scaler.quantiles_.shape == (128, 5)
    assert np.isnan(scaler.quantiles_[:, 4]).all()
    size = len(pickle.dumps(scaler.fit(stream(512))))
    assert len(pickle.dumps(scaler.fit(stream(2560)))) == size
    with pytest.raises(ValueError, match="cannot change in mid-stream"):
        scaler.set_params(n_quantiles=7).transform(X)


def test_in_a_pipeline_it_tames_heavy_tails():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(2000, 1))
    X, y = np.exp(3.0 * Z), Z[:, 0]
    ranks = make_streaming_pipeline(RunningQuantileTransformer(), VAWRegressor())
    plain = make_streaming_pipeline(VAWRegressor())
    losses = [np.square(y - m.prequential_predict(X, y))[500:].mean() for m in (ranks, plain)]
    assert losses[0] < 0.1 * losses[1]


def test_one_that_knows_gaps_can_be_saved(tmp_path):
    """At fe656ae "NaN or infinity in its state, which no learning leaves behind"."""
    pytest.importorskip("skops")
    X = np.random.default_rng(9).normal(size=(50, 2))
    X[[3, 30], 0] = np.nan
    model = RunningQuantileTransformer().fit(X)
    save(model, tmp_path / "model.skops")
    other = load(tmp_path / "model.skops")
    assert_array_equal(other.transform(X), model.transform(X))
    model._state["block"][0, 1] = np.inf
    with pytest.raises(ValueError, match="NaN or infinity"):
        save(model, tmp_path / "model.skops")
