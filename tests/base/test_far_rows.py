"""Rows of sizes whose squares are no numbers: a forecast, or a sentence, and never a warning."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import is_classifier, is_regressor

from sklearn_okl import DiscountedVAWRegressor, VAWRegressor
from tests.instances import instances, label

MODELS = [one for one in instances() if is_classifier(one) or is_regressor(one)]


def rows(model, n=40):
    rng = np.random.default_rng(len(type(model).__name__))
    X = rng.uniform(-1.0, 1.0, size=(n, 3))
    return X, (X[:, 0] > 0).astype(int) if is_classifier(model) else X[:, 0]


@pytest.mark.long(every=5)
@pytest.mark.parametrize("model", MODELS, ids=label)
def test_rows_far_beyond_all_others_are_forecast_or_refused(model):
    """At f0eb89e some were NaN, or raised 'Singular matrix', and NumPy's warnings were shown."""
    X, y = rows(model)
    model.fit(X, y)
    for size in (1e150, 1e160, 1e300):
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                forecasts = model.predict(size * X[:5])
            except ValueError as error:
                if "overflowed while these rows were forecast" not in str(error):
                    raise
            else:
                assert is_classifier(model) or not np.isnan(forecasts).any()


@pytest.mark.parametrize("n_waiting", [0, 1])
def test_what_nobody_has_seen_the_like_of_is_forecast_by_the_hint(n_waiting):
    X, y = rows(VAWRegressor())
    known, last = VAWRegressor(), DiscountedVAWRegressor(hint="last")
    for model in (known, last):
        model.fit(X, y)
        if n_waiting:
            model.partial_fit(X[:1], y[:1])
    far = 1e160 * np.eye(3)[:1]
    assert_array_equal(known.predict(far), [0.0])
    assert_array_equal(last.predict(far), y[:1] if n_waiting else y[-1:])
    assert np.isposinf(known.predict(far, return_std=True)[1]).all()
