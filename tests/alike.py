"""What a stream is learnt alike by: rows alone and blocks, models of keys and one alone."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.base import clone

from sklearn_okl.keyed import KeyedRegressor


def assert_rows_alone_are_as_blocks(model, X, y, n):
    """Assert that the first n rows at once and then each alone are as one call; return a model."""
    whole = clone(model).prequential_predict(X, y)
    model, alone = clone(model).fit(X[:n], y[:n]), []
    with model.rows() as rows:
        for x, target in zip(X[n:], y[n:], strict=True):
            alone.append(rows.predict(x))
            rows.learn(x, target)
    assert_allclose(np.ravel(alone), whole[n:], rtol=1e-8, atol=1e-8)
    return model


def assert_keys_are_as_alone(model, streams):
    """Assert that models of keys, one row of each at a time, are as a model of each stream."""
    X, y = (np.stack(parts, axis=1) for parts in zip(*streams, strict=True))  # (n, keys, ...)
    keyed, keys = KeyedRegressor(clone(model), prior=None), np.arange(len(streams))
    found = [keyed.prequential_predict(*row, keys=keys) for row in zip(X, y, strict=True)]
    for key, stream in enumerate(streams):
        alone = clone(model).prequential_predict(*stream)
        assert_allclose(np.array(found)[:, key], alone, rtol=1e-7, atol=1e-7)
