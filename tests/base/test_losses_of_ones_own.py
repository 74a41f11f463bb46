"""Losses from outside: what serves everywhere, and what is refused with which sentence."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from sklearn_okl import (
    BOARegressor,
    CertifiedRegressor,
    EWARegressor,
    ExpertsRegressor,
    FixedShareRegressor,
    FOGDClassifier,
    FOGDRegressor,
    IOKSRegressor,
    KOGDRegressor,
    LKMBooksRegressor,
    MultiKernelRegressor,
    NOGDClassifier,
    NOGDRegressor,
    OGDRegressor,
    OKSPlusPlusClassifier,
    OKSPlusPlusRegressor,
    OKSRegressor,
    RakerClassifier,
    RFIOKSRegressor,
    VAWRegressor,
    load,
    save,
)
from sklearn_okl.evaluation import (
    PrequentialDisplay,
    PrequentialSearch,
    check_online_estimator,
    compare,
    prequential,
)
from sklearn_okl.losses import (
    AbsoluteError,
    Hinge,
    LogisticLoss,
    Loss,
    PinballLoss,
    SquaredError,
    SquaredHinge,
)


@dataclass(frozen=True)
class Huber(Loss):
    """That of docs/extending.md."""

    smoothness = 1.0
    delta: float = 1.0

    def value(self, y_true, y_pred):
        error = np.abs(np.subtract(y_pred, y_true))
        small = np.minimum(error, self.delta)
        return small * (error - small / 2)

    def slope(self, y_true, y_pred):
        return np.clip(np.subtract(y_pred, y_true), -self.delta, self.delta)

    def lipschitz(self, bound, y_bound=None):
        return np.minimum(self.delta, bound + (bound if y_bound is None else y_bound))


class Margin(Loss):
    """Weighted logistic loss of labels, no dataclass."""

    of_labels = True
    smoothness = 1.0

    def __init__(self, weight=2.0):
        self.weight = weight

    def value(self, y_true, y_pred):
        return self.weight * np.logaddexp(0.0, -np.multiply(y_true, y_pred))

    def slope(self, y_true, y_pred):
        return self.weight * LogisticLoss().slope(y_true, y_pred)


class NoConstants(Loss):
    """Log-cosh without what step sizes ask for."""

    def value(self, y_true, y_pred):
        error = np.abs(np.subtract(y_pred, y_true))
        return error + np.log1p(np.exp(-2.0 * error)) - np.log(2.0)

    def slope(self, y_true, y_pred):
        return np.tanh(np.subtract(y_pred, y_true))


class Half(SquaredError):
    """Half the square loss: an heir with another slope."""

    def value(self, y_true, y_pred):
        return super().value(y_true, y_pred) / 2

    def slope(self, y_true, y_pred):
        return super().slope(y_true, y_pred) / 2


def stream(seed, n=120, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)


MODELS = [
    OGDRegressor(loss=Huber(0.5)),
    FOGDRegressor(loss=Huber(0.5), eta0=0.9, random_state=0),
    NOGDRegressor(loss=Huber(0.5), eta0=0.9, budget=40),
    KOGDRegressor(loss=Huber(2.0), eta0=0.9),
    BOARegressor(loss=Huber(0.5)),
    EWARegressor(loss=Huber(0.5), gradient_trick=True),
    FixedShareRegressor(loss=Huber(0.5)),
    OKSRegressor(loss=Huber(0.5), random_state=0),
    OKSPlusPlusRegressor(loss=Huber(0.5), random_state=0),
    RFIOKSRegressor(loss=Huber(0.5), n_components=40, random_state=0),
    LKMBooksRegressor(loss=Huber(0.5), budget=30, random_state=0),
    FOGDClassifier(loss=Margin(), eta0=0.9, random_state=0),
    NOGDClassifier(loss=Margin(), eta0=0.9, budget=40),
    RakerClassifier({"gamma": [0.1, 1.0]}, n_components=40, loss=Margin(), random_state=0),
    OKSPlusPlusClassifier(loss=Margin(), random_state=0),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
GROWING = {"KOGDRegressor", "OKSRegressor", "OKSPlusPlusRegressor", "OKSPlusPlusClassifier"}
GROWING |= {"NOGDRegressor", "NOGDClassifier"}


@pytest.mark.long(every=8)
@each_model
def test_the_laws(model):
    check_online_estimator(model, grows=type(model).__name__ in GROWING)


@pytest.mark.long(every=4)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@each_model
def test_scikit_learn_checks(model):
    check_estimator(model)


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("squared_error", SquaredError()),
        ("absolute_error", AbsoluteError()),
        ("pinball", PinballLoss(0.8)),
    ],
)
@pytest.mark.parametrize(
    "class_", [OGDRegressor, NOGDRegressor, EWARegressor, BOARegressor, IOKSRegressor]
)
def test_an_object_of_ours_does_what_its_name_does(class_, name, loss):
    X, y = stream(1)
    fixed = {"random_state": 0} if "random_state" in class_().get_params() else {}
    named = class_(loss=name, quantile=0.8, **fixed).prequential_predict(X, y)
    assert_array_equal(class_(loss=loss, **fixed).prequential_predict(X, y), named)


@pytest.mark.parametrize(
    ("name", "loss"),
    [("log_loss", LogisticLoss()), ("hinge", Hinge()), ("squared_hinge", SquaredHinge())],
)
@pytest.mark.parametrize("class_", [FOGDClassifier, RakerClassifier])
def test_an_object_of_ours_does_so_for_labels(class_, name, loss):
    X, y = stream(2)
    named, given = (class_(loss=one, random_state=0).fit(X, y > 0) for one in (name, loss))
    assert_array_equal(given.decision_function(X), named.decision_function(X))
    assert hasattr(given, "predict_proba") == (name == "log_loss")


def test_huber_with_a_large_delta_is_half_the_square():
    X, y = stream(3)
    huber, square = KOGDRegressor(loss=Huber(1e6), eta0=0.6), KOGDRegressor(eta0=0.3)
    assert_allclose(huber.prequential_predict(X, y), square.prequential_predict(X, y), rtol=1e-9)


@pytest.mark.parametrize("class_", [OGDRegressor, KOGDRegressor])
def test_an_heir_of_the_square_loss_has_the_slope_that_it_says(class_):
    X, y = stream(4)
    half = class_(loss=Half(), eta0=0.4).prequential_predict(X, y)
    assert_allclose(half, class_(eta0=0.2).prequential_predict(X, y), rtol=1e-9)


def test_an_exp_concave_loss_gives_ewa_its_rate():
    class Scaled(Half):
        def exp_concavity(self, bound):
            return 2.0 * super().exp_concavity(bound)

    X, y = stream(5)
    found = EWARegressor(loss=Scaled(), y_range=(-2, 2)).prequential_predict(X, y)
    # half the losses at twice the rate
    assert_allclose(found, EWARegressor(y_range=(-2, 2)).prequential_predict(X, y), rtol=1e-12)


def test_the_decreasing_rate_is_made_of_the_range_of_the_losses():
    X, y = stream(6)
    given = {"y_range": (-2, 2), "loss": Huber(0.5)}
    decreasing = EWARegressor("decreasing", **given).fit(X[:9], y[:9])
    largest = Huber(0.5).value(-2.0, 2.0)
    same = EWARegressor(np.sqrt(8 * np.log(3) / 10) / largest, **given).fit(X[:9], y[:9])
    assert_allclose(decreasing.weights_, same.weights_, rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "missing"),
    [
        (OKSRegressor(loss=NoConstants()), "'smoothness'"),
        (OKSPlusPlusRegressor(loss=NoConstants()), "'smoothness'"),
        (LKMBooksRegressor(loss=NoConstants()), "'smoothness'"),
        (IOKSRegressor(loss=NoConstants()), "'lipschitz"),
        (EWARegressor(loss=NoConstants(), gradient_trick=True), "'lipschitz"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_constant_that_is_missing_is_named(model, missing):
    X, y = stream(7)
    with pytest.raises(TypeError, match=missing):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")


def test_who_needs_no_constant_takes_a_loss_without():
    X, y = stream(8)
    for model in (
        FOGDRegressor(loss=NoConstants(), eta0=0.9, random_state=0),
        BOARegressor(loss=NoConstants()),
        EWARegressor(loss=NoConstants()),
        OKSRegressor(loss=NoConstants(), horizon=len(y), step_scale=9.0, random_state=0),
    ):
        assert np.isfinite(model.prequential_predict(X, y)).all()


class Wavy(NoConstants):
    is_convex = False


class Secret(Wavy):
    """Not convex, and does not say so."""

    is_convex = True

    def slope(self, y_true, y_pred):
        return np.sin(np.subtract(y_pred, y_true))


class Negative(NoConstants):
    def value(self, y_true, y_pred):
        return super().value(y_true, y_pred) - 1.0


class OneByOne(NoConstants):
    def value(self, y_true, y_pred):
        return 0.0 if y_true == y_pred else 1.0


class Mean(NoConstants):
    def value(self, y_true, y_pred):
        return np.mean(super().value(y_true, y_pred))


class Hidden(NoConstants):
    def __init__(self, delta=1.0):
        self._delta = delta


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (Wavy(), "not convex, and the theorem"),
        (Secret(), "is_convex = False"),
        (Negative(), "below 0"),
        (OneByOne(), "arrays that broadcast"),
        (Mean(), "one number a pair"),
        (Hidden(), "of the same names"),
        (Huber(np.ones(3)), "numbers, strings or tuples"),
        (Huber(np.nan), "not finite"),
        (Hinge(), "one of labels"),
        (Huber, "must be"),
        (lambda y, f: 0.0, "must be"),
    ],
    ids=lambda value: str(value)[:12],
)
@pytest.mark.parametrize("class_", [OGDRegressor, NOGDRegressor, BOARegressor, OKSRegressor])
def test_what_is_no_loss_for_a_regressor_is_refused(class_, loss, sentence):
    X, y = stream(9, n=10)
    with pytest.raises(ValueError, match=sentence):
        class_(loss=loss).fit(X, y)


@pytest.mark.parametrize("class_", [FOGDClassifier, RakerClassifier, OKSPlusPlusClassifier])
def test_a_loss_of_targets_is_none_for_a_classifier(class_):
    X, y = stream(10, n=10)
    with pytest.raises(ValueError, match=r"does not go with .* of_labels = True"):
        class_(loss=Huber()).fit(X, y > 0)


def test_parameters_of_the_loss_are_parameters_of_the_estimator():
    loss = Huber(0.5)
    model = NOGDRegressor(loss=loss)
    assert model.get_params()["loss__delta"] == 0.5
    assert "loss__delta" not in model.get_params(deep=False)
    assert model.set_params(loss__delta=2.0, eta0=0.3) is model
    assert (model.loss, model.eta0, loss) == (
        Huber(2.0),
        0.3,
        Huber(0.5),
    )  # a value does not change
    assert model.set_params(loss=Huber(), loss__delta=3.0).loss == Huber(3.0)
    assert clone(model).loss == model.loss
    assert "loss=Huber(delta=3.0)" in repr(model)
    with pytest.raises(ValueError, match=r"has no parameter for \['loss__detla'\]"):
        model.set_params(loss__detla=1.0)
    with pytest.raises(ValueError, match="has no parameter"):
        NOGDRegressor().set_params(loss__delta=1.0)
    nested = ExpertsRegressor([("vaw", VAWRegressor())], BOARegressor(loss=Huber()))
    nested.set_params(aggregator__loss__delta=0.1)
    assert nested.aggregator.loss == Huber(0.1)


def test_a_search_goes_over_a_parameter_of_the_loss():
    X, y = stream(11)
    model = FOGDRegressor(loss=Huber(), eta0=0.9, random_state=0)
    search = PrequentialSearch(model, {"loss__delta": [1e-3, 1.0]}).fit(X, y)
    assert search.best_params_ == {"loss__delta": 1.0}


def test_losses_are_values():
    assert Margin(2.0) == Margin(2.0) != Margin(3.0)
    assert len({Margin(2.0), Margin(2.0), Huber(), Huber(1.0)}) == 2
    assert repr(Margin()) == "Margin(weight=2.0)"
    for loss in (Margin(3.0), Huber(0.1)):
        assert pickle.loads(pickle.dumps(loss)) == loss


@pytest.mark.parametrize("equal", [True, False])
def test_a_structural_loss_may_be_given_anew_not_changed(equal):
    X, y = stream(12)
    model = BOARegressor(loss=Huber(0.5)).fit(X, y)
    model.set_params(loss=Huber(0.5 if equal else 0.6))
    if equal:
        model.partial_fit(X, y)
        return
    with pytest.raises(ValueError, match=r"\['loss'\] of BOARegressor cannot change"):
        model.partial_fit(X, y)


def test_our_losses_are_saved_and_those_of_ones_own_must_be_trusted(tmp_path):
    pytest.importorskip("skops")
    from skops.io.exceptions import UntrustedTypesFoundException

    X, y = stream(13)
    path = tmp_path / "model.skops"
    ours = MultiKernelRegressor(
        {"gamma": [0.1, 1.0]},
        OGDRegressor(loss=PinballLoss(0.3)),
        BOARegressor(loss=AbsoluteError()),
        n_components=20,
        random_state=0,
    ).fit(X[:60], y[:60])
    save(ours, path)
    assert_array_equal(load(path).fit(X, y).predict(X), ours.fit(X, y).predict(X))
    model, name = (
        FOGDRegressor(loss=Huber(0.3), random_state=0).fit(X[:60], y[:60]),
        Huber.__module__,
    )
    with pytest.raises(ValueError, match=r"Huber'\].*trusted=\["):
        save(model, path)
    save(model, path, trusted=[f"{name}.Huber"])
    with pytest.raises(UntrustedTypesFoundException, match="Huber"):
        load(path)
    again = load(path, trusted=[f"{name}.Huber"])
    assert again.loss == Huber(0.3)
    assert_array_equal(
        again.partial_fit(X[60:], y[60:]).predict(X), model.partial_fit(X[60:], y[60:]).predict(X)
    )


def test_a_loss_that_is_defined_inside_a_function_cannot_be_saved(tmp_path):
    pytest.importorskip("skops")

    class Inner(NoConstants):
        pass

    X, y = stream(14)
    model = OGDRegressor(loss=Inner()).fit(X, y)
    with pytest.raises(ValueError, match="top level of"):
        save(model, tmp_path / "model.skops", trusted=[f"{Inner.__module__}.Inner"])


def test_a_file_with_a_loss_that_is_none_is_refused(tmp_path):
    pytest.importorskip("skops")
    X, y = stream(15)
    loss = PinballLoss(0.3)
    model = OGDRegressor(loss=loss).fit(X, y)
    vars(loss)["quantile"] = 7.0
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        save(model, tmp_path / "model.skops")


# evaluation takes them too


def test_streams_are_scored_by_a_loss_of_ones_own():
    X, y = stream(13)
    loss = Huber(0.3)
    result = prequential(VAWRegressor(), X, y, loss=loss)
    assert_allclose(result.losses, loss.value(y, result.forecasts))
    assert_allclose(prequential(VAWRegressor(), X, y, loss=loss.value).losses, result.losses)
    both = prequential(VAWRegressor(), X, np.column_stack([y, y]), loss=loss)
    assert_allclose(both.losses, result.losses)  # averaged over the targets
    found = compare({"vaw": VAWRegressor()}, {"s": (X, y)}, 1, scoring=[loss, "absolute_error"])
    assert found.results["Huber(delta=0.3)"][0] == pytest.approx(result.mean_loss, rel=1e-12)
    display = PrequentialDisplay.from_predictions(y, {"vaw": result.forecasts}, loss=loss)
    assert_allclose(display.mean_losses["vaw"], result.running_loss)
    assert display.ax_.get_ylabel().startswith("Huber(delta=0.3)")


def test_a_search_ranks_by_a_loss_of_ones_own(tmp_path):
    X, y = stream(14)
    y[::9] += 30.0
    grid, loss = {"alpha": [1.0, 1e3]}, Huber(0.3)
    search = PrequentialSearch(VAWRegressor(), grid, loss=loss).fit(X, y)
    for params, found in zip(search.results_["params"], search.results_["mean_loss"], strict=True):
        result = prequential(VAWRegressor(**params), X, y, loss=loss)
        assert found == pytest.approx(result.mean_loss, rel=1e-12)
    assert_array_equal(clone(search).fit(X, y).predict(X), search.predict(X))
    search.set_params(loss=Huber(0.3)).partial_fit(X, y)  # equal to the old one
    with pytest.raises(ValueError, match=r"\['loss'\] of PrequentialSearch cannot change"):
        search.set_params(loss=Huber(0.4)).partial_fit(X, y)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [(Hinge(), "one of labels -1 and"), (Huber, "an? .*(Loss|losses|function)")],
)
def test_what_is_no_loss_of_forecasts_scores_none(given, sentence):
    X, y = stream(15, n=20)
    for score in (
        lambda: prequential(VAWRegressor(), X, y, loss=given),
        lambda: compare({"vaw": VAWRegressor()}, {"s": (X, y)}, 1, scoring={"it": given}),
        lambda: PrequentialSearch(VAWRegressor(), {"alpha": [1.0]}, loss=given).fit(X, y),
    ):
        with pytest.raises((ValueError, TypeError), match=sentence):
            score()


def test_a_loss_of_targets_scores_no_labels():
    X, y = stream(16, n=40)
    labels = np.where(y > 0.0, "up", "down")
    with pytest.raises(ValueError, match="needs numbers in y"):
        prequential(FOGDClassifier(), X, labels, loss=Huber())
    with pytest.raises(TypeError, match="the candidates are classifiers"):
        PrequentialSearch(FOGDClassifier(), {"eta0": [0.1]}, loss=Huber()).fit(X, labels)


@pytest.mark.parametrize("seed", range(3))
def test_a_certificate_is_in_the_loss_of_ones_own(seed):
    (X, y), loss = stream(20 + seed), Huber(0.3)
    model = CertifiedRegressor(BOARegressor(loss=loss))
    losses = loss.value(y, model.prequential_predict(X, y))
    told = model.regret_certificate()
    assert told.loss == pytest.approx(losses.sum(), rel=1e-12)
    assert_allclose(told.experts, losses.sum() - loss.value(y[:, None], X).sum(axis=0))
    for mixture in np.random.default_rng(seed).dirichlet(np.ones(3), size=50):
        assert losses.sum() - loss.value(y, X @ mixture).sum() <= told.mixtures + 1e-9


def test_no_certificate_is_given_for_a_loss_without_a_theorem():
    X, y = stream(23, n=20)
    with pytest.raises(ValueError, match="not convex, and the theorem"):
        CertifiedRegressor(BOARegressor(loss=Wavy())).fit(X, y)
