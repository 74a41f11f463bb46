"""The job clients: lines that come right, and what it says of those that do not."""

import json

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.clients import report, selection
from benchmarks.clients.expect import (
    FailsWithTheirsToo,
    as_with,
    each,
    near,
    refused,
    right_or_refused,
    same,
)
from benchmarks.clients.report import ABSENT, EXPECTED, THEIRS, WRONG, Line, all_lines, tried

QUICK = [
    "permutation_importance: that of Ridge, whose solution VAW's is",
    "check_estimator on VAWRegressor()",
    "sample_weight: a row of weight k is k rows",
    "weights routed through Pipeline to our learner: by hand",
    "OneVsOneClassifier, by fit and by partial_fit: the votes of a model a pair",
    "CalibratedClassifierCV, across folds and of a frozen model: isotonic by hand",
    "validation_curve: by hand",
    "named columns to estimators: forecasts of arrays, names kept",
]


def right():
    """Nothing goes wrong."""


def wrong():
    same([1.0, 2.0], [1.0, 2.5])


def broken():
    raise KeyError("a column")


def theirs():
    raise FailsWithTheirsToo("fails with scikit-learn's own SGDRegressor too: it is old")


def test_lines_are_told_apart():
    lines = all_lines()
    assert len({(line.program, line.what) for line in lines}) == len(lines)
    assert set(QUICK) <= {line.what for line in lines}


@pytest.mark.parametrize(
    "line", [line for line in all_lines() if line.what in QUICK], ids=lambda line: line.program
)
def test_quick_lines_come_right(line):
    result = tried(line)
    if result.kind == ABSENT:
        pytest.skip(result.says)
    assert result.kind == EXPECTED, result.says


def test_the_job(tmp_path, capsys):
    assert main(["clients", "--only", "CURVE: BY hand", "--output", str(tmp_path)]) == 0
    assert "validation_curve: by hand  as expected" in capsys.readouterr().out
    (line,) = json.loads((tmp_path / "clients.json").read_text(encoding="utf-8"))["lines"]
    assert line["program"] == "scikit-learn"
    assert line["version"].count(".") >= 1
    assert line["kind"] == line["says"] == EXPECTED
    assert main(["clients", "--only", "no such line", "--output", str(tmp_path)]) == 1


@pytest.mark.parametrize(
    ("check", "kind", "says", "status"),
    [
        (right, EXPECTED, "as expected", 0),
        (wrong, WRONG, "forecasts: up to 0.5 apart, such as 2.0 for 2.5", 1),
        (broken, WRONG, "KeyError: 'a column'", 1),
        (theirs, THEIRS, "fails with scikit-learn's own SGDRegressor too: it is old", 0),
    ],
)
def test_what_is_said_of_a_line(check, kind, says, status, tmp_path, capsys, monkeypatch):
    lines = [Line("numpy", "something", check), Line("numpy", "another", right)]
    monkeypatch.setattr(report, "all_lines", lambda: lines)
    assert main(["clients", "--output", str(tmp_path)]) == status
    printed = capsys.readouterr().out
    assert f"numpy {np.__version__}\n  something  {says}\n  another    as expected" in printed
    written = json.loads((tmp_path / "clients.json").read_text(encoding="utf-8"))["lines"]
    assert [line["kind"] for line in written] == [kind, EXPECTED]
    assert written[0]["says"] == says


def test_a_missing_package_is_no_failure(tmp_path, capsys, monkeypatch):
    lines = [Line("nowhere", "something", broken, ("json", "no_such", "no_such.part"))]
    monkeypatch.setattr(report, "all_lines", lambda: lines)
    assert main(["clients", "--output", str(tmp_path)]) == 0
    assert "\nnowhere\n  something  not installed: no_such, no_such.part" in capsys.readouterr().out


def test_a_line_sees_other_numbers(monkeypatch):
    (line,) = (line for line in selection.LINES if line.what.startswith("cross_val_predict"))
    was = selection.cross_val_predict
    monkeypatch.setattr(
        selection, "cross_val_predict", lambda *args, **kwargs: was(*args, **kwargs) + 1e-9
    )
    result = tried(line)
    assert result.kind == WRONG
    assert "VAWRegressor, " in result.says or "VAWRegressor: " in result.says
    assert "up to 1e-09 apart" in result.says


def test_nothing_is_printed_of_what_a_line_says(capsys):
    def talkative():
        import logging
        import sys
        import warnings

        print("out")
        print("err", file=sys.stderr)
        logging.getLogger("talkative").warning("log")
        warnings.warn("warning", stacklevel=1)

    assert tried(Line("numpy", "talks", talkative)).kind == EXPECTED
    assert capsys.readouterr() == ("", "")


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
