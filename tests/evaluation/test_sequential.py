"""Champion and challenger: the bets against a loop, false alarms, power, and what is refused."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import SGDRegressor

from sklearn_okl import ExpertsRegressor, OGDRegressor, VAWRegressor
from sklearn_okl.evaluation import (
    Comparison,
    SequentialComparison,
    compare,
    e_benjamini_hochberg,
    prequential,
)

START = sum((0.9 * 0.6**j) ** 0.5 for j in range(16))


def by_loop(differences, bound):
    """Return the e-value after each row: 16 bettors, a row at a time."""
    owned = [(0.9 * 0.6**j) ** 0.5 / START for j in range(16)]
    path = []
    for d in differences:
        d = min(max(d, -bound), bound)
        owned = [w * (1 + 0.9 * 0.6**j * d / bound) for j, w in enumerate(owned)]
        path.append(sum(owned))
    return path


def losses(seed, n=400, extra=0.3):
    rng = np.random.default_rng(seed)
    error, noise = rng.normal(size=(2, n))
    return (error + extra * noise) ** 2, error**2


@pytest.mark.long(every=3)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_loop_over_bettors(seed):
    a, b = losses(seed)
    test, path = SequentialComparison(bound=1.5), by_loop(a - b, 1.5)
    for t in range(len(a)):
        test.update(a[t], b[t])
        assert_allclose(test.e_value_, path[t], rtol=1e-10)
        assert_allclose(test.p_value_, min(1.0, 1.0 / max(path[: t + 1])), rtol=1e-10)
        assert test.rejected_ == (max(path[: t + 1]) >= 20.0)
    assert_allclose(test.mean_difference_, np.clip(a - b, -1.5, 1.5).mean())


@pytest.mark.parametrize("bound", [None, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_any_cut_gives_the_same(seed, bound):
    a, b = losses(seed, n=9000)
    a[:7] = b[:7]  # no difference says nothing of the bound
    whole = SequentialComparison(bound).update(a, b)
    cut = SequentialComparison(bound)
    cuts = np.sort(np.random.default_rng(seed).integers(0, 60, size=12))
    for rows in np.split(np.arange(9000), [*cuts, 4000, 8193]):
        cut = pickle.loads(pickle.dumps(cut.update(a[rows], b[rows])))
    for name in ("n_rows_", "bound_", "log_e_value_", "p_value_", "mean_difference_"):
        assert_allclose(getattr(cut, name), getattr(whole, name), rtol=1e-12, err_msg=name)


def test_the_first_differences_fix_the_bound_and_are_not_bet_on():
    a, b = losses(1, n=40)
    test = SequentialComparison().update(a[:19], b[:19])
    assert np.isnan(test.bound_)
    assert np.isnan(test.mean_difference_)
    sizes = np.abs(a - b)[:20]
    test.update(a[19:20], b[19:20])
    assert test.bound_ == min(sizes.max(), 6 * np.median(sizes))
    assert_allclose(test.e_value_, 1.0)
    test.update(a[20:], b[20:])
    assert_allclose(test.e_value_, by_loop((a - b)[20:], test.bound_)[-1], rtol=1e-10)
    labels = np.tile([0.0, 1.0, 0.0], 40)
    assert SequentialComparison().update(labels, labels[::-1] * 0).bound_ == 1.0


@pytest.mark.parametrize("law", ["normal", "t"])
def test_few_false_alarms_however_often_it_is_looked_at(law):
    found = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, 7])
        error, *own = rng.normal(size=(3, 300)) if law == "normal" else rng.standard_t(3, (3, 300))
        a, b = ((error - mine) ** 2 for mine in own)  # exchangeable: the null is true
        found += SequentialComparison(alpha=0.2).update(a, b).rejected_
    assert found <= 40 + 3 * 6  # 20 % and three deviations; with a fixed-time test it is 60 %


def test_power_against_a_little_noise_and_none_the_other_way_round():
    found = [
        SequentialComparison().update(*losses(seed, n=2000, extra=np.sqrt(0.05))).rejected_
        for seed in range(40)
    ]
    assert np.mean(found) >= 0.8
    heavy = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        error, noise = rng.standard_t(3, size=2000), np.sqrt(0.05) * rng.normal(size=2000)
        heavy.append(SequentialComparison().update((error - noise) ** 2, error**2).rejected_)
    assert np.mean(heavy) >= 0.8
    for seed in range(40):
        a, b = losses(seed, n=2000, extra=np.sqrt(0.05))
        assert not SequentialComparison().update(b, a).rejected_


def test_far_evidence_is_kept_in_logarithms():
    test = SequentialComparison(bound=1.0).update(np.ones(5000), np.zeros(5000))
    assert test.e_value_ == np.inf
    assert_allclose(test.log_e_value_, 5000 * np.log(1.9) + np.log(0.9**0.5 / START))
    assert test.p_value_ == 0.0
    test.update(np.zeros(20000), np.ones(20000))
    assert test.rejected_
    assert test.e_value_ < 1


def test_what_is_no_loss_is_refused_and_leaves_the_test_as_it_was():
    test = SequentialComparison().update(*losses(0))
    before = pickle.dumps(test)
    for a, b, words in (
        ([1.0, np.nan], [1.0, 1.0], "finite numbers, and row 1"),
        ([1.0, 2.0], [1.0], "one number a row"),
        (np.ones((2, 2)), np.ones((2, 2)), "Of several targets"),
        ([1e308], [-1e308], "finite"),
    ):
        with pytest.raises(ValueError, match=words):
            test.update(a, b)
    assert pickle.dumps(test) == before
    test.bound = 3.0
    with pytest.raises(ValueError, match="cannot change in mid-stream"):
        test.update(1.0, 0.0)
    with pytest.raises(AttributeError, match="before the first row"):
        clone(test).e_value_  # noqa: B018
    with pytest.raises(ValueError, match="bound"):
        SequentialComparison(bound=0.0).update(1.0, 0.0)


def test_e_bh_is_that_of_its_definition():
    rng = np.random.default_rng(3)
    for _ in range(50):
        e, alpha = np.exp(rng.normal(1.0, 2.0, size=12)), rng.uniform(0.05, 0.5)
        k = max(
            (k for k in range(1, 13) if k * np.sort(e)[-k] / 12 >= 1 / alpha),
            default=0,
        )
        assert e_benjamini_hochberg(e, alpha).sum() == k
        assert k in (0, 12) or e[e_benjamini_hochberg(e, alpha)].min() >= np.sort(e)[-k]
    assert e_benjamini_hochberg([np.inf, 0.0], 0.05).tolist() == [True, False]
    assert e_benjamini_hochberg([]).shape == (0,)
    with pytest.raises(ValueError, match="NaN"):
        e_benjamini_hochberg([np.nan])


def _stream(seed=0, n=1500):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=n)


@pytest.mark.long
def test_a_comparison_says_who_beats_the_champion(tmp_path):
    models = {"slow": OGDRegressor(eta0=1e-4), "VAW": VAWRegressor(), "ridge": VAWRegressor(2.0)}
    kwargs = {"seeds": 2, "scoring": ["squared_error", "r2"], "path": tmp_path}
    streams = {"given": _stream(5), "made": _stream}
    comparison = compare(models, streams, **kwargs)
    evidence = comparison.sequential("slow")
    assert set(evidence.rejected) == {(s, m) for s in streams for m in ("VAW", "ridge")}
    assert "VAW on given" in evidence.sentence
    none = comparison.sequential("VAW", "squared_error")
    assert none.rejected == []
    assert none.e_values["given", "slow"] < 0.5
    again = compare(models, streams, **kwargs)  # from the files
    assert again.sequential("slow").e_values == evidence.e_values
    # by hand, from the blocks of rows
    X, y = streams["given"]
    ends = np.unique(np.linspace(1, len(y), 100).round().astype(int))
    blocks = [
        [part.mean() for part in np.split((model.prequential_predict(X, y) - y) ** 2, ends)[:-1]]
        for model in (OGDRegressor(eta0=1e-4), VAWRegressor())
    ]
    by_hand = SequentialComparison().update(*blocks).e_value_
    assert_allclose(evidence.e_values["given", "VAW"], by_hand)
    with pytest.raises(ValueError, match="no mean of losses"):
        comparison.sequential("slow", "r2")
    with pytest.raises(ValueError, match="no model 'fast'"):
        comparison.sequential("fast")
    with pytest.raises(ValueError, match="no mean of losses"):
        Comparison(comparison.results, comparison.curves, comparison.greater_is_better).sequential(
            "slow"
        )


def test_models_that_begin_later_are_compared_where_both_have_begun():
    """SGD has no forecast of the first row; the first labels of another come within a block."""
    X, y = _stream(n=300)
    late = ExpertsRegressor([("vaw", VAWRegressor())], label_delay=50)
    models = {"slow": OGDRegressor(eta0=1e-4), "sgd": SGDRegressor(random_state=0), "late": late}
    evidence = compare(models, {"given": (X, y)}, seeds=1, delay=None).sequential("slow")
    assert set(evidence.rejected) == {("given", "sgd"), ("given", "late")}
    ends = np.unique(np.linspace(1, 300, 100).round().astype(int))
    is_whole = np.append(0, ends[:-1]) >= 51
    assert not is_whole[ends > 51].all()  # one block has rows of both kinds
    blocks = [
        np.array([part.mean() for part in np.split(losses, ends)[:-1]])[is_whole]
        for losses in (prequential(models[name], X, y).losses for name in ("slow", "late"))
    ]
    by_hand = SequentialComparison().update(*blocks).e_value_
    assert_allclose(evidence.e_values["given", "late"], by_hand)
