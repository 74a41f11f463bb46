"""What `summary` says of the latest targets: what they earn, and a hint where that is nothing."""

import numpy as np
import pytest

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor

HINT = "they earn nothing so far. If the rows have no order, set lags=0."


def said(model):
    return " ".join(model.summary().split())


@pytest.fixture(scope="module")
def streams():
    """Rows with a target that they explain, and one that wanders as well."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    explained = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=300)
    return X, explained, explained + np.cumsum(rng.normal(size=300))


def test_rows_without_an_order_get_a_hint(streams):
    X, explained, wandering = streams
    order = np.random.default_rng(1).permutation(300)
    model = OnlineKernelRegressor(budget="fast", random_state=0)
    assert HINT in said(model.fit(X, explained))
    assert HINT not in said(model.fit(X, wandering))
    assert HINT in said(model.fit(X[order], wandering[order]))  # shuffled, it is none


def ratio_of_the_best(table, n_targets=1):
    seen, losses = (table[name].reshape(n_targets, -1) for name in ("lags", "mean_loss"))
    losses = np.where(table["n_rounds"].reshape(n_targets, -1) >= 150, losses, np.inf)
    with_lags, without = (np.where(who, losses, np.inf).min(axis=1) for who in (seen, ~seen))
    return np.exp(np.log(with_lags / without).mean())


def test_what_lags_earn_is_the_ratio_of_the_best(streams):
    X, explained, wandering = streams
    model, ratios = OnlineKernelRegressor(budget="fast", random_state=0), []
    for y in explained, wandering, np.column_stack([explained, wandering]):
        n_targets = y.ndim
        ratios.append(ratio_of_the_best(model.fit(X, y).experts_, n_targets))
        sentence = "The best of those that see the latest targets has {:.3g} times the loss of the"
        assert sentence.format(ratios[-1]) in said(model)
    assert ratios[1] < ratios[2] < 1.0 < ratios[0]


def test_without_lags_or_losses_there_is_nothing_to_say(streams):
    X, explained, _ = streams
    without = OnlineKernelRegressor(budget="fast", lags=0, random_state=0).fit(X, explained)
    assert "has" not in said(without).split("of the weight")[1]
    model = OnlineKernelRegressor(budget="fast", random_state=0)
    for y in explained[:1], np.zeros(300):
        text = said(model.fit(X[: len(y)], y))
        assert "times the loss" not in text
        assert "nan" not in text


def test_classes_have_it_too(streams):
    X, explained, _ = streams
    model = OnlineKernelClassifier(budget="fast", random_state=0)
    assert HINT in said(model.fit(X, explained > 0.0))
    blocks = np.arange(300) // 30 % 2  # what came last is what comes next, but for ten rows
    text = said(model.fit(X, blocks))
    assert "those that see the latest labels has 0." in text
    assert HINT not in text


def test_one_row_is_one_row():
    X = np.arange(6.0).reshape(6, 1)
    text = OnlineKernelRegressor(budget="tiny").fit(X[:1], [1.0]).summary()
    assert text.startswith("After 1 row of 1 input the")
    labels = OnlineKernelClassifier(budget="tiny").partial_fit(X[:1], [0], classes=[0, 1])
    assert labels.summary().startswith("After 1 row of 1 input and 2 classes")
    text = OnlineKernelRegressor(budget="tiny").fit(X[:, [0, 0]], X[:, 0]).summary()
    assert text.startswith("After 6 rows of 2 inputs the")
