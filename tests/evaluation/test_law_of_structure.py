"""The laws of the same rows and of parameters that shape the state; what ends a check is named."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import SGDRegressor

from sklearn_okl import (
    ExpertsRegressor,
    OKSRegressor,
    RakerRegressor,
    VAW2Regressor,
    VAWRegressor,
    all_estimators,
)
from sklearn_okl.base import OnlineClassifier, OnlineRegressor, SwapMixin, structural_parameters
from sklearn_okl.evaluation import check_online_estimator, online_checks

SAME = "the same rows, the same forecasts"
SHAPES = "a parameter that shapes the state cannot change in mid-stream"

# What may change in mid-stream, from the next row on: of all estimators that have it,
EVERYWHERE = (
    "adaptive aggregator_eta0 clip curvature discount eta exploration0 fallback feature_range "
    "forecaster hint initial_forecast keep_probability kors_beta kors_eps loss_bound margin "
    "min_node_probability min_probability missing_values n_dominating n_jobs novelty "
    "output_distribution power_t quantile_range random_state share shrinkage smearing steps store "
    "target_range update y_bound"
)
# and of some, where the state of others is built with it.
SOMEWHERE = {
    "budget": "AOGDALDRegressor BudgetNystroem",
    "eta0": "FOGDClassifier FOGDRegressor KOGDRegressor NOGDClassifier NOGDRegressor OGDRegressor "
    "OMKLGFRegressor OMKLSFGRRegressor OMKLSFGRegressor OMKRRegressor RFOMKRRegressor "
    "RakerClassifier RakerRegressor",
    "forgetting": "ConcatenatedVAWRegressor DiscountedVAWRegressor RunningStandardScaler "
    "VAW2Regressor VAWAARegressor VAWBOARegressor VAWEWARegressor VAWMLPolyRegressor "
    "VAWMLProdRegressor VAWRegressor",
    "horizon": "ALDNystroem AOGDALDRegressor NONSALDRegressor",
    "loss": "AdaRakerClassifier FOGDClassifier FOGDRegressor KOGDRegressor NOGDClassifier "
    "NOGDRegressor OGDRegressor RakerClassifier",
    "quantile": "FOGDRegressor KOGDRegressor NOGDRegressor OGDRegressor",
    "radius": "AIOLIClassifier AOGDALDRegressor CONKONSRegressor FOGDClassifier FOGDRegressor "
    "ImproperLogisticClassifier KOGDRegressor KONSRegressor KernelAIOLIClassifier NOGDClassifier "
    "NOGDRegressor NONSALDRegressor OGDRegressor ONSRegressor PROSNKONSRegressor "
    "SketchedKONSRegressor",
    "window": "RunningRobustScaler",
}


class Units(OnlineRegressor):
    """Gradient steps on random features, whose number shapes the state."""

    def __init__(self, n_units=5, step=0.2, signed=False, scale=1.0, spread=None):
        self.n_units = n_units
        self.step = step
        self.signed = signed
        self.scale = scale
        self.spread = spread

    def _start(self, n_features, n_targets=None):
        rng = np.random.RandomState(0)
        W = rng.normal(size=(n_features, self.n_units)) * self.scale * (self.spread or 1.0)
        return {"t": 0, "W": np.abs(W) if self.signed else W, "w": np.zeros(self.n_units)}

    def _learn(self, state, X, y):
        forecasts = np.empty(len(y))
        for t, (x, target) in enumerate(zip(X, y, strict=True)):
            z = np.cos((x[:, None] * state["W"]).sum(axis=0)) / np.sqrt(len(state["w"]))
            forecasts[t] = (z * state["w"]).sum()
            state["w"] -= self.step * (forecasts[t] - target) * z
        state["t"] += len(y)
        return forecasts

    def _forecast(self, state, X):
        Z = np.cos((X[:, :, None] * state["W"]).sum(axis=1)) / np.sqrt(len(state["w"]))
        return (Z * state["w"]).sum(axis=1)


class UnitsClassifier(OnlineClassifier):
    """The same for labels."""

    __init__ = Units.__init__
    _start, _learn, _forecast = Units._start, Units._learn, Units._forecast


class Reshaping(Units):
    """Looks at the number of units while it learns."""

    def _learn(self, state, X, y):
        state["w"].reshape(self.n_units)
        return super()._learn(state, X, y)


ALL = ("n_units", "signed", "scale", "spread")


@pytest.mark.parametrize("base", [Units, UnitsClassifier, Reshaping])
def test_who_names_all_that_shapes_the_state_passes(base):
    class Named(base):
        _structural = ALL

    dict(online_checks(Named()))[SHAPES]()


@pytest.mark.parametrize("missing", ALL)
@pytest.mark.parametrize("base", [Units, UnitsClassifier, Reshaping])
def test_a_parameter_that_is_missing_in_structural_is_found(base, missing):
    """At 8264a20 all laws pass."""

    class Forgetful(base):
        _structural = tuple(name for name in ALL if name != missing)

    with pytest.raises(AssertionError, match=rf"^{missing}=.*name '{missing}' in _structural"):
        dict(online_checks(Forgetful()))[SHAPES]()


def test_parameters_of_nested_parts_are_found_too():
    class Holder(OnlineRegressor):
        def __init__(self, part=None):
            self.part = part

        def _start(self, n_features, n_targets=None):
            return self.part._start(n_features)

        def _learn(self, state, X, y):
            return self.part._learn(state, X, y)

        def _forecast(self, state, X):
            return self.part._forecast(state, X)

    with pytest.raises(AssertionError, match=r"part__alpha=.*name 'part' in _structural"):
        dict(online_checks(Holder(VAWRegressor())))[SHAPES]()

    class Named(Holder):
        _structural = ("part",)

    dict(online_checks(Named(VAWRegressor())))[SHAPES]()


def test_what_a_base_declares_is_not_forgotten():
    """At fe656ae the second declaration takes the place of the first: n_units changes nothing."""

    class Base(Units):
        _structural = ("n_units", "signed")

    class Heir(Base):
        _structural = ("scale", "spread")

    assert set(structural_parameters(Heir)) == set(ALL)
    dict(online_checks(Heir()))[SHAPES]()
    X, y = np.ones((4, 2)), np.ones(4)
    model = Heir().fit(X, y).set_params(n_units=7)
    with pytest.raises(ValueError, match=r"\['n_units'\] of Heir cannot change in mid-stream"):
        model.partial_fit(X, y)


def test_what_a_class_declares_in_vain_is_no_silence():
    class Misspelt(Units):
        _structural = ("n_unit", "scale")

    with pytest.raises(TypeError, match=r"Misspelt\._structural names \['n_unit'\]"):
        Misspelt().fit(np.ones((4, 2)), np.ones(4))

    class Full(Units):
        _structural = ALL

    class Narrower(Full):  # who does not take a parameter of its base needs no word for it
        def __init__(self, n_units=10):
            super().__init__(n_units)

    class Wordy(Narrower):
        _structural = (*Narrower._structural, "n_units")

    assert structural_parameters(Wordy) == structural_parameters(Wordy.__base__) == ("n_units",)


def test_every_parameter_is_said_to_shape_the_state_or_to_be_changeable():
    found = {}  # parameter -> names of the estimators whose state is not built with it
    for name, cls in all_estimators():
        if issubclass(cls, SwapMixin):
            for parameter in set(cls._get_param_names()) - set(structural_parameters(cls)):
                found.setdefault(parameter, set()).add(name)
    said = {parameter: found.get(parameter) for parameter in EVERYWHERE.split()}
    said |= {parameter: set(names.split()) for parameter, names in SOMEWHERE.items()}
    new = {parameter: names for parameter, names in found.items() if names != said.get(parameter)}
    assert not new, (
        f"Are states built with {new}? Name them in _structural; or here, if another value in "
        "mid-stream counts from the next row on."
    )
    assert not said.keys() - found.keys()


def test_estimators_of_other_packages_have_no_such_law():
    assert SHAPES not in {name for name, _ in online_checks(SGDRegressor())}


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (OKSRegressor(), "random_state"),
        (RakerRegressor(), "random_state"),
        (ExpertsRegressor([("vaw2", VAW2Regressor({"gamma": [0.1]}))]), "vaw2__random_state"),
        (
            ExpertsRegressor([("a", RakerRegressor()), ("b", OKSRegressor())]),
            "a__random_state and b__random_state",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_random_states_that_are_none_are_named(estimator, names):
    """At 8264a20 'cutting the stream changes nothing' is said to be broken."""
    with pytest.raises(AssertionError, match=rf"breaks the law '{SAME}'.*Set {names}, which is"):
        check_online_estimator(estimator)


class Dice(RegressorMixin, BaseEstimator):
    """Draws from nobody's generator."""

    def partial_fit(self, X, y):
        return self

    def predict(self, X):
        return np.random.default_rng().normal(size=len(X))


def test_who_draws_from_nowhere_is_told_so():
    with pytest.raises(AssertionError, match=rf"'{SAME}'.*It draws from no random_state"):
        check_online_estimator(Dice())


@pytest.mark.parametrize("error", [KeyError, ZeroDivisionError, RuntimeError, AttributeError])
@pytest.mark.parametrize("when", [0, 30, 60])
def test_the_law_is_named_whatever_ends_its_check(error, when):
    """At 8264a20 the error comes as it is."""

    class Failing(Units):
        _structural = ALL

        def _learn(self, state, X, y):
            if state["t"] >= when and len(X) > 50:
                raise error("inside")
            return super()._learn(state, X, y)

    with pytest.raises(AssertionError, match=rf"Failing breaks the law '.*': {error.__name__}: "):
        check_online_estimator(Failing())
