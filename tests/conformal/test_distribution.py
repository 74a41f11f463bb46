"""Distributions by quantiles: cdf and ppf are inverse, moments and draws are theirs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest, laplace, norm

from sklearn_okl.conformal import QuantileDistribution
from sklearn_okl.evaluation import log_score

LEVELS = np.concatenate([[0.005], np.arange(1, 100) / 100.0, [0.995]])


def laws(seed=0, support=(-np.inf, np.inf)):
    rng = np.random.default_rng(seed)
    quantiles = np.cumsum(rng.exponential(size=(4, len(LEVELS))), axis=1) - 40.0
    return QuantileDistribution(LEVELS, quantiles, support)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("support", [(-np.inf, np.inf), (-30.0, np.inf), (-45.0, 20.0)])
def test_cdf_and_ppf_are_inverse_and_quantiles_rise(support):
    law, p = laws(0, support), np.linspace(0.0005, 0.9995, 1001)
    quantiles = law.ppf(p)
    assert (np.diff(quantiles, axis=1) >= 0.0).all()
    assert quantiles.min() >= support[0]
    assert quantiles.max() <= support[1]
    for level, x in zip(p, quantiles.T, strict=True):
        inside = (x > support[0]) & (x < support[1])
        assert_allclose(law.cdf(x)[inside], level, atol=1e-12)
        assert (law.cdf(x) >= level - 1e-12).all()
    assert_array_equal(law.cdf(-1e9), np.zeros(4))
    assert_array_equal(law.cdf(1e9), np.ones(4))


@pytest.mark.parametrize("support", [(-np.inf, np.inf), (-30.0, 25.0)])
def test_moments_densities_and_draws_agree(support):
    law = laws(1, support)
    p = (np.arange(100_000) + 0.5) / 100_000
    quantiles = law.ppf(p)
    assert_allclose(law.mean(), quantiles.mean(axis=1), rtol=1e-3)
    assert_allclose(law.std(), quantiles.std(axis=1), rtol=1e-3)
    assert_allclose(law.var(), law.std() ** 2)
    for k in range(5, 95, 7):  # between two quantiles
        x = law.quantiles[:, k : k + 2].mean(axis=1)
        inside = (
            (x > support[0]) & (x < support[1]) & (np.diff(law.quantiles[:, k : k + 2])[:, 0] > 0)
        )
        slopes = (law.cdf(x + 1e-7) - law.cdf(x - 1e-7)) / 2e-7
        assert_allclose(law.pdf(x)[inside], slopes[inside], rtol=1e-4)
    assert_allclose(law.log_pdf(0.0), np.log(law.pdf(0.0)))
    draws = law.sample(2000, random_state=3)
    assert draws.shape == (4, 2000)
    uniform = [law.cdf(draw)[0] for draw in draws[0] if support[0] < draw < support[1]]
    between = law.cdf(support[0])[0], law.cdf(np.nextafter(support[1], -np.inf))[0]
    held = kstest(uniform, "uniform", (between[0], between[1] - between[0]))
    assert held.statistic < 0.04
    assert_array_equal(draws, law.sample(2000, random_state=3))


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_logarithm_of_a_tail_is_a_line_where_its_density_is_too_small_for_a_number(side):
    law = laws(2)
    near, far, farther = (law.log_pdf(side * x) for x in (1e3, 1e6, 2e6))
    assert_array_equal(law.pdf(side * 1e6), np.zeros(4))
    assert np.isfinite(farther).all()
    assert_allclose(farther - far, (far - near) * 1e6 / (1e6 - 1e3), rtol=1e-9)


@pytest.mark.parametrize("known", [norm(1.0, 2.0), laplace(1.0, 2.0)])
def test_a_known_law_is_nearly_itself(known):
    law = QuantileDistribution(LEVELS, known.ppf(LEVELS)[None])
    x = known.ppf(np.linspace(0.001, 0.999, 50))
    for value in x:
        assert_allclose(law.cdf(value), known.cdf(value), atol=2e-3)
    assert_allclose(law.mean(), 1.0, atol=1e-9)
    assert_allclose(law.std(), known.std(), rtol=0.02)
    assert_allclose(law.pdf(1.7), known.pdf(1.7), rtol=0.02)
    assert_allclose(
        law.interval([0.5, 0.9])[0], np.transpose(known.interval([0.5, 0.9])), atol=2e-2
    )


def test_atoms_and_the_whole_line():
    law = QuantileDistribution([0.1, 0.4, 0.6, 0.9], [[0.0, 1.0, 1.0, 2.0], [5.0] * 4])
    assert_array_equal(law.ppf(0.5), [1.0, 5.0])
    assert_allclose(law.cdf([1.0, 5.0]), [0.6, 1.0])
    assert_allclose(law.cdf(np.nextafter([1.0, 5.0], 0.0)), [0.4, 0.0])
    assert_array_equal(law.pdf([1.0, 5.0]), [np.inf, np.inf])
    assert_array_equal(law.var()[1:], [0.0])
    line = QuantileDistribution([0.1, 0.5, 0.9], [[-np.inf, 3.0, np.inf]])
    assert_array_equal(line.ppf([0.05, 0.3, 0.5, 0.7]), [[-np.inf, -np.inf, 3.0, np.inf]])
    assert np.isnan(line.mean()).all()
    assert_array_equal(line.interval(0.9), [[-np.inf, np.inf]])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("support", [(-np.inf, np.inf), (-30.0, 25.0)])
def test_what_is_not_known_is_nan(seed, support):
    law = laws(seed, support)
    x = law.ppf([0.001, 0.3, 0.7, 0.999])[np.arange(4), np.arange(4)]
    gap = np.array([False, True, False, True])
    for verb in ("cdf", "pdf", "log_pdf"):  # a number that is NaN
        found = getattr(law, verb)(np.where(gap, np.nan, x))
        assert_array_equal(found, np.where(gap, np.nan, getattr(law, verb)(x)))
    some = QuantileDistribution(LEVELS, np.where(gap[:, None], np.nan, law.quantiles), support)
    asks = {
        "cdf": lambda law: law.cdf(x),
        "pdf": lambda law: law.pdf(x),
        "ppf": lambda law: law.ppf([0.0, 0.3, 1.0]),
        "interval": lambda law: law.interval(0.9),
        "mean": lambda law: law.mean(),
        "std": lambda law: law.std(),
        "sample": lambda law: law.sample(3, random_state=seed),
    }
    for name, ask in asks.items():  # and a row of which nothing is known
        found, whole = ask(some), ask(law)
        assert_array_equal(found[~gap], whole[~gap], err_msg=name)
        assert np.isnan(found[gap]).all(), name


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: QuantileDistribution([0.5, 0.2], [[0.0, 1.0]]), "levels must rise"),
        (lambda: QuantileDistribution([0.0, 0.2], [[0.0, 1.0]]), "above 0"),
        (lambda: QuantileDistribution([0.1, 0.7], [[0.0]]), "give one of each"),
        (lambda: QuantileDistribution([0.1, 0.7], [[1.0, 0.0]]), "quantiles cross"),
        (lambda: QuantileDistribution([0.5], [[1.0]]), "some below 1/2 and some above"),
        (lambda: QuantileDistribution([0.6, 0.7], [[1.0, 2.0]]), "some below 1/2 and some above"),
        (lambda: QuantileDistribution([], np.empty((2, 0))), "some below 1/2 and some above"),
        (lambda: QuantileDistribution([0.1, 0.7], [[0.0, np.nan]]), "NaN, and others are not"),
        (lambda: QuantileDistribution([0.1, 0.7], [[0.0, 1.0]], (3, 0)), "with low < high"),
        (lambda: QuantileDistribution([0.1, 0.7], [[0.0, 1.0]], (np.nan, 1)), "with low < high"),
        (lambda: laws().ppf(1.5), "levels from 0 to 1"),
        (lambda: laws().ppf(np.nan), "levels from 0 to 1"),
        (lambda: laws().sample(0), "n == 0"),
        (lambda: laws().cdf([1.0, 2.0]), "a number for all of them, or one for each"),
        (lambda: laws().pdf([1.0, 2.0]), "a number for all of them, or one for each"),
        (lambda: log_score([1.0, 2.0], laws()), "a number for all of them, or one for each"),
        (lambda: laws().interval(-1.0), "coverage=-1.0: give probabilities from 0 to 1"),
        (lambda: laws().interval([0.5, 1.5]), "coverage=.* give probabilities from 0 to 1"),
        (lambda: laws().interval(np.nan), "give probabilities from 0 to 1"),
    ],
)
def test_what_makes_no_sense_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
