"""The job kinds on made-up files."""

import json

import numpy as np
import pytest

from benchmarks import kinds
from benchmarks.__main__ import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write a table and a file of classes with text, gaps and numbers."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    colours = np.array(["red", "blue", None])[rng.integers(3, size=250)]
    X = pd.DataFrame({"a": rng.normal(size=250), "colour": colours})
    y = X["a"] + 3.0 * (X["colour"] == "red")
    X.assign(target=y).to_csv(tmp_path / "table.csv.gz", index=False)
    X.assign(target=np.where(y > 1.5, "high", "low")).to_csv(tmp_path / "class.csv.gz", index=False)
    monkeypatch.setenv("SKLEARN_OKL_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.long
def test_files_are_learnt_and_a_refusal_is_an_error(files, capsys, monkeypatch):
    arguments = ["kinds", "--data", "table", "class", "none", "--output", str(files)]
    assert main(arguments) == 0
    lines = json.loads((files / "kinds.json").read_text(encoding="utf-8"))["lines"]
    assert [line["rows"] for line in lines] == [250] * 4
    assert all(line["whole"] < 0.5 for line in lines)
    assert [line["errors"] is None for line in lines] == [True, True, False, False]
    assert "Left out none." in capsys.readouterr().err

    def broken(name):
        X, y = load(name)
        y = np.where(np.arange(len(y)) == 240, np.inf, y)
        return X, y

    load = kinds.load_frame
    monkeypatch.setattr(kinds, "load_frame", broken)
    assert main(["kinds", "--data", "table", "--output", str(files)]) == 1
    assert "row 1: Input y contains infinity" in capsys.readouterr().out
