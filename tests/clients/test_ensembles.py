"""scikit-learn's ensembles and meta-estimators against their members learnt by hand."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import KFold, TunedThresholdClassifierCV, cross_val_predict
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from sklearn_okl import NOGDClassifier, OnlineKernelRegressor
from tests.clients.examples import (
    classification,
    classifier,
    learnt,
    regression,
    regressors,
    three_classes,
)
from tests.clients.expect import client, each, near, refused, same

does = client("scikit-learn")
FOLDS = KFold(3)


@pytest.mark.long
@does("BaggingRegressor: the mean of its members")
def test_bagging():
    def check(model):
        X, y = regression()
        bagged = BaggingRegressor(model, n_estimators=3, random_state=0).fit(X, y)
        members = zip(bagged.estimators_, bagged.estimators_samples_, strict=True)
        if isinstance(model, OnlineKernelRegressor):  # a row drawn twice is one of weight 2 to it
            apart = [
                clone(m).fit(X, y, sample_weight=np.bincount(rows, minlength=len(X))).predict(X)
                for m, rows in members
            ]
        else:
            apart = [learnt(member, X[rows], y[rows]).predict(X) for member, rows in members]
        near(bagged.predict(X), np.mean(apart, axis=0), rtol=1e-6)

    each(regressors(), check)


@does("VotingRegressor and VotingClassifier: the mean of forecasts and of probabilities")
def test_voting():
    X, y = regression()
    models = regressors()
    apart = [learnt(model, X, y).predict(X) for model in models.values()]
    near(VotingRegressor([*models.items()]).fit(X, y).predict(X), np.mean(apart, axis=0))
    X, labels = classification()
    members = [("ours", classifier()), ("theirs", LogisticRegression())]
    apart = [learnt(member, X, labels).predict_proba(X) for _, member in members]
    voters = VotingClassifier(members, voting="soft").fit(X, labels)
    near(voters.predict_proba(X), np.mean(apart, axis=0), "probabilities")
    two = [("ours", classifier()), ("another", NOGDClassifier())]
    same(
        VotingClassifier([*two, ("again", classifier())]).fit(X, labels).predict(X),
        learnt(classifier(), X, labels).predict(X),
        "labels that two of three choose",
    )


@pytest.mark.long
@does("StackingRegressor and StackingClassifier: a model of forecasts across folds")
def test_stacking():
    def check(model):
        X, y = regression()
        stack = StackingRegressor([("ours", model)], Ridge(), cv=FOLDS).fit(X, y)
        above = Ridge().fit(cross_val_predict(model, X, y, cv=FOLDS)[:, None], y)
        below = learnt(model, X, y).predict(X)
        near(stack.predict(X), above.predict(below[:, None]))

    each(regressors(), check)
    X, labels = classification()
    verb = "decision_function"
    stack = StackingClassifier(
        [("ours", classifier())], LogisticRegression(), cv=FOLDS, stack_method=verb
    ).fit(X, labels)
    values = cross_val_predict(classifier(), X, labels, cv=FOLDS, method=verb)
    above = LogisticRegression().fit(values[:, None], labels)
    below = learnt(classifier(), X, labels).decision_function(X)
    near(stack.predict_proba(X), above.predict_proba(below[:, None]), "probabilities")


@does("AdaBoostRegressor: its first member, and the weighted median of all")
def test_boosting():
    def check(model):
        X, y = regression()
        boosted = AdaBoostRegressor(model, n_estimators=4, random_state=0).fit(X, y)
        forecasts = np.array([member.predict(X) for member in boosted.estimators_])
        order = np.argsort(forecasts, axis=0)
        shares = np.cumsum(boosted.estimator_weights_[: len(forecasts)][order], axis=0)
        median = order[(shares >= 0.5 * shares[-1]).argmax(axis=0), np.arange(len(y))]
        same(boosted.predict(X), forecasts[median, np.arange(len(y))])
        draws = np.random.RandomState(0)
        if "random_state" in model.get_params():
            draws.randint(np.iinfo(np.int32).max)  # the seed that the member gets
        rows = draws.choice(len(y), len(y), p=np.full(len(y), 1 / len(y)))
        first = clone(boosted.estimators_[0])
        same(forecasts[0], learnt(first, X[rows], y[rows]).predict(X), "first member")

    models = regressors()
    models.pop("StreamingPipeline")  # gets seeds too, in an order of its own
    each(models, check)


@does("AdaBoostClassifier around a classifier without weights: refused")
def test_boosting_of_classifiers():
    boosted = AdaBoostClassifier(classifier(), n_estimators=2)
    refused(lambda: boosted.fit(*classification()), "AdaBoostClassifier", says="FOGD")


@does("MultiOutputRegressor, by fit and by partial_fit: a model a target")
def test_several_targets():
    def check(model):
        X, y = regression()
        Y = np.column_stack([y, -2.0 * y])
        expected = np.column_stack([learnt(model, X, column).predict(X) for column in Y.T])
        same(MultiOutputRegressor(model).fit(X, Y).predict(X), expected)
        in_steps = MultiOutputRegressor(model)
        for rows in np.split(np.arange(len(y)), [64, 100]):
            in_steps.partial_fit(X[rows], Y[rows])
        near(in_steps.predict(X), expected, rtol=1e-5, atol=1e-7)

    each(regressors(), check)


@does("RegressorChain: a target is an input of the next")
def test_chain():
    def check(model):
        X, y = regression()
        Y = np.column_stack([y, y**2])
        first = learnt(model, X, y)
        second = learnt(model, np.column_stack([X, y]), Y[:, 1])
        forecasts = first.predict(X)
        expected = np.column_stack([forecasts, second.predict(np.column_stack([X, forecasts]))])
        same(RegressorChain(model).fit(X, Y).predict(X), expected)

    each(regressors(), check)


@does("TransformedTargetRegressor: scaled targets, and forecasts scaled back")
def test_transformed_targets():
    from sklearn.compose import TransformedTargetRegressor

    def check(model):
        X, y = regression()
        y = 1000.0 + 50.0 * y
        scaler = StandardScaler().fit(y[:, None])
        forecasts = learnt(model, X, scaler.transform(y[:, None])[:, 0]).predict(X)
        wrapped = TransformedTargetRegressor(model, transformer=StandardScaler()).fit(X, y)
        same(wrapped.predict(X), scaler.inverse_transform(forecasts[:, None])[:, 0])

    each(regressors(), check)


@does("OneVsRestClassifier, by fit and by partial_fit: the largest decision value")
def test_one_vs_rest():
    X, y = three_classes()
    values = [learnt(classifier(), X, (y == k).astype(int)).decision_function(X) for k in range(3)]
    expected = np.argmax(values, axis=0)
    same(OneVsRestClassifier(classifier()).fit(X, y).predict(X), expected, "labels")
    in_steps = OneVsRestClassifier(classifier())
    for rows in np.split(np.arange(len(y)), [64, 100]):
        in_steps.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    same(in_steps.predict(X), expected, "labels after partial_fit")


@does("OneVsOneClassifier, by fit and by partial_fit: the votes of a model a pair")
def test_one_vs_one():
    X, y = three_classes()
    votes = np.zeros((len(y), 3))
    for pair in ((0, 1), (0, 2), (1, 2)):
        rows = np.isin(y, pair)
        chosen = learnt(classifier(), X[rows], (y[rows] == pair[1]).astype(int)).predict(X)
        votes[np.arange(len(y)), np.take(pair, chosen)] += 1
    clear = votes.max(axis=1) == 2  # one of the three has two votes
    in_steps = OneVsOneClassifier(classifier())
    for rows in np.split(np.arange(len(y)), [64, 100]):
        in_steps.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    for model in (OneVsOneClassifier(classifier()).fit(X, y), in_steps):
        same(model.predict(X)[clear], votes.argmax(axis=1)[clear], "labels")


@does("CalibratedClassifierCV, across folds and of a frozen model: isotonic by hand")
def test_calibration():
    from sklearn.frozen import FrozenEstimator

    X, labels = classification()
    positive, probabilities = labels == "yes", []
    for train, test in FOLDS.split(X):
        member = learnt(classifier(), X[train], labels[train])
        curve = _isotonic(member.decision_function(X[test]), positive[test])
        probabilities.append(curve.predict(member.decision_function(X)))
    across = CalibratedClassifierCV(classifier(), method="isotonic", cv=FOLDS).fit(X, labels)
    near(across.predict_proba(X)[:, 1], np.mean(probabilities, axis=0), "probabilities")
    frozen = learnt(classifier(), X, labels)
    values = frozen.decision_function(X)
    after = CalibratedClassifierCV(FrozenEstimator(frozen), method="isotonic", ensemble=False)
    near(
        after.fit(X, labels).predict_proba(X)[:, 1],
        _isotonic(values, positive).predict(values),
        "probabilities of the frozen model",
    )


def _isotonic(values, positive):
    return IsotonicRegression(out_of_bounds="clip").fit(values, positive.astype(float))


@does("TunedThresholdClassifierCV of a learnt model: its probabilities over a threshold")
def test_threshold():
    X, labels = classification()
    model = learnt(classifier(), X, labels)
    tuned = TunedThresholdClassifierCV(model, cv="prefit", refit=False).fit(X, labels)
    probabilities = model.predict_proba(X)[:, 1]
    expected = np.where(probabilities >= tuned.best_threshold_, "yes", "no")
    same(tuned.predict(X), expected, "labels")
    near(tuned.best_score_, balanced_accuracy_score(labels, expected), "balanced accuracy")


@does("SelfTrainingClassifier: the model of the labels that it gave")
def test_self_training():
    X, labels = classification()
    y = np.where(np.arange(len(labels)) % 3 == 0, -1, (labels == "yes").astype(int))
    trained = SelfTrainingClassifier(classifier(), threshold=0.6).fit(X, y)
    rows = trained.transduction_ != -1
    expected = learnt(classifier(), X[rows], trained.transduction_[rows]).predict_proba(X)
    same(trained.predict_proba(X), expected, "probabilities")
