"""RunningPowerTransformer against the loop over SciPy's likelihoods."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import PowerTransformer

from sklearn_okl import RunningPowerTransformer
from tests.oracles.power import power_transform


def shapes(seed, n=300):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=n)
    return {
        "log-normal": np.exp(7.0 + 0.6 * normal),
        "square": (5.0 + normal) ** 2,
        "gaussian": 3.0 + normal,
        "two signs": np.sign(normal) * normal**2,
        "negative": -np.exp(normal),
        "level": 1e6 + normal,
        "counts": rng.poisson(2.0, n).astype(float),
        "constant": np.full(n, 2.5),
    }


@pytest.mark.long(every=2)
@pytest.mark.parametrize("method", ["yeo-johnson", "box-cox"])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("shape", sorted(shapes(0)))
def test_equals_the_literal_loop(shape, seed, method):
    x = shapes(seed, 90)[shape]
    if method == "box-cox" and x.min() <= 0:
        return
    model = RunningPowerTransformer(method)
    images = model.prequential_transform(x[:, None])[:, 0]
    if shape == "level":  # where every exponent is a line, rounding chooses among them
        scores = [(x[t] - x[:t].mean()) / x[:t].std() for t in range(2, len(x))]
        reach = np.where(np.arange(2, len(x)) < 32, np.sqrt(np.arange(2, len(x))), np.inf)
        scores = np.clip(scores, -reach, reach)
        assert_allclose(images[2:], scores, rtol=1e-4, atol=1e-4)
        return
    expected, exponents = power_transform([*x, x[0]], method)
    assert_allclose(images, expected[:-1], rtol=1e-6, atol=1e-7)
    assert model.lambdas_[0] == exponents[-1]


@pytest.mark.parametrize("method", ["yeo-johnson", "box-cox"])
def test_the_cut_changes_nothing_and_columns_are_by_themselves(method):
    columns = [x for x in shapes(2).values() if method != "box-cox" or x.min() > 0]
    X = np.column_stack(columns)
    whole = RunningPowerTransformer(method)
    images = whole.prequential_transform(X)
    for cuts in ([0, 1, 2, 127, 128, 129, 300], [0, 40, 300], range(301)):
        model = RunningPowerTransformer(method)
        parts = [model.prequential_transform(X[low:high]) for low, high in pairwise(cuts)]
        assert_array_equal(np.concatenate(parts), images)
        assert_array_equal(model.transform(X), whole.transform(X))
    for j, x in enumerate(columns):
        alone = RunningPowerTransformer(method).prequential_transform(x[:, None])
        assert_array_equal(alone[:, 0], images[:, j])


@pytest.mark.parametrize("method", ["yeo-johnson", "box-cox"])
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_it_is_undone_whatever_the_unit(method, unit):
    for x in shapes(3).values():
        if method == "box-cox" and x.min() <= 0:
            continue
        X = unit * x[:, None]
        model = RunningPowerTransformer(method).fit(X)
        back = model.inverse_transform(model.transform(X))
        assert_allclose(back, X, rtol=1e-6, atol=1e-9 * np.abs(X).max())


def test_near_the_batch_transformer_of_all_rows():
    x = shapes(4, 3000)["log-normal"][:, None]
    for method in ("yeo-johnson", "box-cox"):
        model, batch = RunningPowerTransformer(method).fit(x), PowerTransformer(method).fit(x)
        assert abs(model.lambdas_[0] - batch.lambdas_[0]) <= 0.0501
        assert np.corrcoef(model.transform(x)[:, 0], batch.transform(x)[:, 0])[0, 1] > 0.999


def test_inverses_stay_near_the_values_seen():
    x = shapes(5)["log-normal"][:, None]
    for method in ("yeo-johnson", "box-cox"):
        model = RunningPowerTransformer(method).fit(x)
        far = model.inverse_transform([[-1e9], [1e9]])[:, 0]
        assert far[1] == pytest.approx(2 * x.max() - x.min())
        assert (far[0] > 0) == (method == "box-cox")
        assert far[0] < x.min()


def test_box_cox_takes_positive_numbers_only():
    model = RunningPowerTransformer("box-cox").fit([[1.0], [2.0]])
    for call in (model.partial_fit, model.transform, RunningPowerTransformer("box-cox").fit):
        with pytest.raises(ValueError, match="positive numbers only, got -3"):
            call([[1.0], [-3.0]])
    assert model.n_samples_seen_ == 2


@pytest.mark.parametrize("method", ["yeo-johnson", "box-cox"])
def test_absurd_numbers_do_not_spoil_it(method):
    x = shapes(6)["log-normal"][:, None]
    x[200] = 1e300
    model = RunningPowerTransformer(method)
    assert np.isfinite(model.prequential_transform(x)).all()
    assert np.isfinite(model.inverse_transform(model.transform(x))).all()
