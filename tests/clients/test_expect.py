"""What the checks of clients say of what is not as expected."""

import numpy as np
import pytest

from tests.clients.expect import (
    FailsWithTheirsToo,
    as_with,
    each,
    near,
    refused,
    right_or_refused,
    same,
)


def refuse(error):
    def call(*_):
        raise error

    return call


def test_equal_arrays():
    same([1.0, 2.0], np.array([1.0, 2.0]))
    near([1.0], [1.0 + 1e-9])
    for check in (same, near):
        with pytest.raises(AssertionError, match=r"rows: shape \(2,\), not \(3,\)"):
            check(np.zeros(2), np.zeros(3), "rows")
        with pytest.raises(AssertionError, match="forecasts: up to 1 apart, such as nan for 3"):
            check([np.nan, 1.0], [3.0, 2.0])
    with pytest.raises(AssertionError, match="1 of 2 differ, such as no for yes"):
        same(["no", "no"], ["no", "yes"], "labels")
    with pytest.raises(AssertionError, match="such as 1 for 2"):
        same(1, 2)


def test_refusals():
    refused(refuse(ValueError("the column b is missing")), "predict", says="b is")
    with pytest.raises(AssertionError, match=r"^predict: not refused$"):
        refused(lambda: None, "predict")
    with pytest.raises(AssertionError, match="refused without a sentence"):
        refused(refuse(TypeError("sample_weight")), "fit")
    with pytest.raises(AssertionError, match="refused without naming VAWRegressor"):
        refused(refuse(TypeError("it takes no such argument")), "fit", says="VAWRegressor")
    with pytest.raises(KeyError):
        refused(refuse(KeyError("a")), "fit")
    right_or_refused(refuse(ValueError("the column b is missing")), [1.0], "rows")
    right_or_refused(lambda: [1.0], [1.0], "rows")
    with pytest.raises(AssertionError, match="rows: up to 1 apart"):
        right_or_refused(lambda: [2.0], [1.0], "rows")


def test_every_item_is_checked():
    def check(value):
        if value == 2:
            raise FailsWithTheirsToo("fails with theirs too")
        assert value < 2, "too large"

    each({"a": 0, "b": 1}, check)
    with pytest.raises(FailsWithTheirsToo, match=r"^b, c: fails with theirs too$"):
        each({"a": 1, "b": 2, "c": 2}, check)
    with pytest.raises(AssertionError, match=r"^d, f: too large"):
        each({"a": 1, "b": 2, "d": 3, "f": 4}, check)


def test_theirs_must_fail_in_the_same_way():
    as_with("theirs", lambda model: model == "ours" or refuse(ValueError("theirs"))(), "ours")
    with pytest.raises(FailsWithTheirsToo, match="scikit-learn's own str too: ValueError: both"):
        as_with("theirs", refuse(ValueError("both of them")), "ours")

    def ours_only(model):
        if model == "ours":
            raise ValueError("ours alone")

    def otherwise(model):
        raise ValueError("ours") if model == "ours" else AttributeError("theirs has no verb")

    for check in (ours_only, otherwise):
        with pytest.raises(ValueError, match="ours"):
            as_with("theirs", check, "ours")
