"""An intercept is a column of ones; where one is missed, a learner says so, once."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sklearn_okl import (
    AIOLIClassifier,
    DiscountedVAWAARegressor,
    DiscountedVAWRegressor,
    FourierFeatures,
    ImproperLogisticClassifier,
    KeyedRegressor,
    MultiKernelRegressor,
    OGDRegressor,
    ONSRegressor,
    RunningStandardScaler,
    VAW2Regressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.losses import Loss

pytestmark = pytest.mark.filterwarnings("error")

REGRESSORS = [
    VAWRegressor(0.3),
    VAWRegressor(forecaster="ridge", forgetting=0.98),
    OGDRegressor(eta0=0.05),
    OGDRegressor(loss="absolute_error", radius=90.0, eta0=5.0),
    ONSRegressor(radius=100.0),
]
CLASSIFIERS = [AIOLIClassifier(0.1), ImproperLogisticClassifier(0.1)]


def stream(seed, n=600, mean=56.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, mean + X @ [1.0, -2.0, 0.5, 0.0] + 0.28 * rng.normal(size=n)


def pieces(X, seed):
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(X), 5))
    return [slice(*pair) for pair in zip([0, *cuts], [*cuts, len(X)], strict=True) if np.diff(pair)]


def root_mean_square(errors):
    return np.sqrt(np.mean(errors**2))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_pipeline_of_a_scaler_and_a_line_says_that_it_has_no_intercept(seed):
    X, y = stream(seed, 2000)
    X = 5.0 + X * [1.0, 3.0, 0.2, 10.0]
    line = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor())
    with pytest.warns(UserWarning, match=r"too low on average.*fit_intercept=True"):
        forecasts = line.prequential_predict(X, y)
    assert root_mean_square((forecasts - y)[1000:]) > 50
    line = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(fit_intercept=True))
    assert root_mean_square((line.prequential_predict(X, y) - y)[1000:]) < 0.6


@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
@pytest.mark.parametrize("seed", [0, 1])
def test_an_intercept_is_a_column_of_ones(model, seed):
    X, y = stream(seed)
    ones = np.column_stack([X, np.ones(len(X))])
    model, given = (type(model)(**model.get_params()) for _ in range(2))
    model.set_params(fit_intercept=True)
    for rows in pieces(X, seed):
        expected = given.prequential_predict(ones[rows], y[rows])
        # the oldest BLAS that is promised rounds the two otherwise
        assert_allclose(model.prequential_predict(X[rows], y[rows]), expected, rtol=1e-12)
    assert_allclose(model.predict(X[:9]), given.predict(ones[:9]), rtol=1e-12)
    assert_allclose(np.append(model.coef_, model.intercept_), given.coef_, rtol=1e-11, atol=1e-12)
    assert given.intercept_ == 0.0
    assert model.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_an_intercept_is_a_column_of_ones_for_classes(model):
    X, y = stream(2, n=200, mean=1.0)
    ones, labels = np.column_stack([X, np.ones(len(X))]), np.where(y > 0, "b", "a")
    given = type(model)(**model.get_params())
    model = type(model)(**model.get_params() | {"fit_intercept": True})
    assert_array_equal(
        model.prequential_predict_proba(X, labels), given.prequential_predict_proba(ones, labels)
    )
    assert_array_equal(model.predict_proba(X[:5]), given.predict_proba(ones[:5]))
    assert_array_equal(model.coef_, given.coef_[..., :-1])
    assert_array_equal(model.intercept_, given.coef_[..., -1])
    # without one, a row of zeros is of no class
    assert_allclose(given.predict_proba(np.zeros((1, 5))), 0.5, atol=1e-6)
    assert model.predict_proba(np.zeros((1, 4)))[0, 1] > 0.55


def test_several_targets_and_deviations_have_intercepts():
    X, y = stream(3)
    Y, ones = np.column_stack([y, -y]), np.column_stack([X, np.ones(len(X))])
    model = VAWRegressor(fit_intercept=True).fit(X, Y)
    given = VAWRegressor().fit(ones, Y)
    for a, b in zip(
        model.predict(X[:5], return_std=True), given.predict(ones[:5], return_std=True), strict=True
    ):
        assert_array_equal(a, b)
    assert model.coef_.shape == (2, 4)
    assert_array_equal(model.intercept_, given.coef_[:, -1])


def test_experts_of_a_bank_and_what_combines_them_may_have_one():
    X, y = stream(4, n=200)
    grid = [{"kernel": ["rbf"], "gamma": [0.1, 1.0]}]
    shared = {"kernels": grid, "n_components": 20, "random_state": 0}
    plain = MultiKernelRegressor(**shared)
    model = MultiKernelRegressor(
        expert=VAWRegressor(fit_intercept=True),
        aggregator=VAWRegressor(fit_intercept=True),
        **shared,
    )
    errors = [one.prequential_predict(X, y) - y for one in (plain, model)]
    assert root_mean_square(errors[1][100:]) < 0.5 * root_mean_square(errors[0][100:])
    assert model.weights_.shape == plain.weights_.shape == (2,)


def warned_rows(model, X, y, cuts):
    """Return after which rows a stream cut into calls is warned of."""
    rows = []
    for part in cuts:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.partial_fit(X[part], y[part])
        rows += [part.stop] * len(caught)
    return rows


@pytest.mark.long(every=4)
@pytest.mark.parametrize("model", REGRESSORS[:3], ids=repr)
@pytest.mark.parametrize("columns", [False, True])
def test_the_warning_comes_once_whatever_the_cut(model, columns):
    X, y = stream(5, n=300)
    y = np.column_stack([0 * y, y]) if columns else y
    singly = [slice(t, t + 1) for t in range(len(X))]
    assert warned_rows(type(model)(**model.get_params()), X, y, singly) == [128]
    assert warned_rows(type(model)(**model.get_params()), X, y, [slice(0, 300)]) == [300]
    cut = type(model)(**model.get_params())
    assert warned_rows(cut, X, y, [slice(0, 100), slice(100, 129)]) == [129]
    cut = pickle.loads(pickle.dumps(cut))
    assert warned_rows(cut, X, y, [slice(129, 300)]) == []
    with pytest.warns(UserWarning, match="column 1 of y" if columns else "forecasts by"):
        cut.fit(X, y)  # which begins anew


def test_sums_of_errors_are_those_of_any_cut_to_the_last_bit():
    X, y = stream(6, n=500, mean=0.0)
    states = []  # of the errors of a learner whose rows are learnt singly
    for cuts in ([slice(t, t + 5) for t in range(0, 500, 5)], [slice(0, 130), slice(130, 500)]):
        model = OGDRegressor(power_t=0.0, loss="absolute_error")
        assert warned_rows(model, X, y, cuts) == []
        states.append(model._state["lookout"])
    assert_array_equal(states[0]["ones"], states[1]["ones"])
    assert_array_equal(states[0]["sums"], states[1]["sums"])
    assert states[0]["sums"][0] == 500 - 256


def test_a_mean_that_comes_late_is_seen_with_the_next_doubling():
    X, y = stream(7, n=1200, mean=0.0)
    y[270:] += 30
    cuts = [slice(t, t + 64) for t in range(0, 1200, 64)]
    assert warned_rows(VAWRegressor(), X, y, cuts) == [512]
    X, y = stream(7, n=1200)
    y[:1024] -= 56  # what is missing is missing from the first row on
    assert warned_rows(VAWRegressor(), X, y, cuts) == []


@pytest.mark.parametrize(
    ("model", "mean"),
    [
        (VAWRegressor(), 0.0),
        (VAWRegressor(), 0.3),  # small beside what X explains and the noise
        (VAWRegressor(fit_intercept=True), 56.0),
        (OGDRegressor(loss="pinball", quantile=0.9), 56.0),
        (ONSRegressor(fit_intercept=True), 56.0),  # beyond the radius, where no intercept leads
        (DiscountedVAWAARegressor(hint="last"), 56.0),  # which is near enough
    ],
    ids=repr,
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nobody_else_is_warned(model, mean, seed):
    X, y = stream(seed, mean=mean)
    type(model)(**model.get_params()).fit(X, y + (seed - 1) * 0.1)


@pytest.mark.parametrize(
    "line",
    [
        ONSRegressor(),
        ONSRegressor(radius=100.0),
        ONSRegressor(radius=1000.0),
        OGDRegressor(eta0=0.05),
        OGDRegressor(radius=1.0),
        VAWRegressor(),
        VAWRegressor(forecaster="ridge", forgetting=0.98),
        DiscountedVAWRegressor(),
        DiscountedVAWRegressor(hint="last"),
        DiscountedVAWAARegressor(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("scaled", [False, True])
def test_no_linear_learner_is_silent_about_a_mean_far_from_zero(line, scaled):
    """ONS took targets beyond its radius for none, and the grid of discounts did not look."""
    X, y = stream(0, mean=500.0)
    radius, wide = getattr(line, "radius", None), {}
    says = "fit_intercept=True"
    if radius is not None:
        says, wide = says + f", .*radius, now {radius:g}", {"radius": 2000.0}

    def errors_of(line):
        steps = [RunningStandardScaler()] if scaled else []
        return make_streaming_pipeline(*steps, line).prequential_predict(X, y) - y

    with pytest.warns(UserWarning, match=says):
        without = errors_of(clone(line))
    given = errors_of(clone(line).set_params(fit_intercept=True, **wide))  # without a word
    assert root_mean_square(given[400:]) < 0.9 * root_mean_square(without[400:])


@pytest.mark.parametrize("seed", [0, 1])
def test_who_is_slow_but_has_a_constant_is_not_warned(seed):
    X, y = stream(seed)
    codes = np.eye(20)[np.random.default_rng(seed).integers(0, 20, len(X))]  # which add up to 1
    for columns in (np.ones((len(X), 1)), codes):
        OGDRegressor(eta0=1e-3).fit(np.hstack([X, columns]), y)
        VAWRegressor(1e3).fit(np.hstack([X, columns]), y)


def test_targets_whose_squares_overflow_end_the_lookout():
    X, y = stream(1, n=70, mean=0.0)
    model = OGDRegressor(eta0=1e-3).partial_fit(X, 1e200 * y).partial_fit(X, 1e200 * y)
    assert "lookout" not in model._state
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("gamma", [0.01, 0.1])
@pytest.mark.parametrize("mean", [3.0, 10.0])
def test_cosines_express_a_constant(gamma, mean):
    X, y = stream(8, mean=mean)
    cosines = FourierFeatures(n_components=80, gamma=gamma, random_state=0)
    make_streaming_pipeline(RunningStandardScaler(), cosines, VAWRegressor()).fit(X, y)


def test_named_algorithms_hold_nothing_new_and_say_nothing():
    X, y = stream(9)
    model = VAW2Regressor(n_components=5, random_state=0).fit(X, 100 + y)
    assert "lookout" not in model._state
    assert "lookout" not in model._state["experts"]


def test_models_with_and_without_do_not_merge():
    X, y = stream(10, mean=0.0)
    ones = np.column_stack([X, np.ones(len(X))])
    with pytest.raises(ValueError, match="One of the models has an intercept"):
        VAWRegressor().fit(ones, y).merge(VAWRegressor(fit_intercept=True).fit(X, y))


class Tilted(Loss):
    """An error above costs as many times one below as is said; at 1 both sides are alike."""

    def __init__(self, times):
        self.times = times

    def value(self, y_true, y_pred):
        error = np.subtract(y_pred, y_true)
        return np.maximum(self.times * error, -error)

    def slope(self, y_true, y_pred):
        error = np.subtract(y_pred, y_true)
        return np.where(error > 0, self.times, np.where(error < 0, -1.0, 0.0))


@pytest.mark.parametrize("times", [1.0, 3.0])
def test_where_the_best_errors_have_a_mean_nobody_asks_for_an_intercept(times):
    X, y = stream(3)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        OGDRegressor(loss=Tilted(times), radius=90.0, eta0=5.0).fit(X, y)
    assert any("fit_intercept=True" in str(one.message) for one in said) == (times == 1.0)


@pytest.mark.parametrize("n_keys", [0, 3])
@pytest.mark.parametrize("at_once", [1, 7, 2000])
@pytest.mark.parametrize("has_scaler", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_models_by_key_that_a_bank_teaches_say_so_once(n_keys, at_once, has_scaler, fit_intercept):
    X, y = stream(5, 150 if at_once == 1 else 1200)
    line = VAWRegressor(fit_intercept=fit_intercept)
    line = make_streaming_pipeline(RunningStandardScaler(), line) if has_scaler else line
    model, of_rows = KeyedRegressor(line, prior=None), {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for low in range(0, len(y), at_once):
            rows = slice(low, low + at_once)
            if n_keys:
                of_rows["keys"] = np.arange(len(y))[rows] % n_keys
            model.partial_fit(X[rows], y[rows], **of_rows)
    said = [str(one.message) for one in caught]
    assert ["fit_intercept=True" in one for one in said] == [True] * (not fit_intercept)
    assert model._state["lookout"] is None or at_once == 1
