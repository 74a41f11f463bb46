"""Errors over commits: what is learnt, and what is printed of it."""

from math import inf

import joblib
import numpy as np
import pytest

from benchmarks import errors, errors_learnt
from sklearn_okl.datasets import make_friedman_stream


def test_losses_come_first_and_refusals_are_the_largest():
    found = {
        ("a", "fast"): {"x": {"squared error": 2.0}, "y": {"squared error": 1.0}},
        ("b", "fast"): {"x": {"squared error": 2.0}, "y": {"refused": "ValueError: no"}},
        ("c", "fast"): {"x": {"refused": "ValueError: no"}, "y": {"squared error": 1.0}},
        ("d", ""): {"x": {"to step 1": 1.0}, "y": {"to step 1": 1.1}},
    }
    rows, worst = errors.compared(found, "x", "y")
    assert [row[0] for row in rows] == ["b", "d", "a", "c"]
    assert [row[-1] for row in rows] == ["inf", "1.1000", "0.5000", "0.0000"]
    assert worst == inf


@pytest.mark.parametrize("kind", ["numbers", "classes", "series"])
def test_a_stream_from_a_file_is_learnt(tmp_path, kind):
    X, y = make_friedman_stream(120, n_features=5, random_state=0)
    if kind == "classes":
        y = np.where(y > y.mean(), "a", "b")
    path = tmp_path / "stream.joblib"
    joblib.dump((None, y[:, None]) if kind == "series" else (X, y), path)
    figures = errors_learnt.learnt(path, "fast")
    names = {
        "numbers": ["squared error", "absolute"],
        "classes": ["log loss", "errors"],
        "series": ["to step 1", "to step 24", "to step 48"],
    }
    assert list(figures) == names[kind]
    assert all(0 < figure < inf for figure in figures.values())


def test_a_set_that_is_not_at_hand_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SKLEARN_OKL_DATA", str(tmp_path))
    assert errors.save_streams(tmp_path, ["class_churn"], None) == []
    assert "class_churn" in capsys.readouterr().err
