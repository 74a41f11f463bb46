"""The job files at its smallest size, and what it takes for a fault."""

import json

import numpy as np
import pytest

from benchmarks import files
from benchmarks.__main__ import main
from sklearn_okl import VAWRegressor

pytest.importorskip("skops")
X = np.random.default_rng(0).normal(size=(files.N_ROWS, 3))
SENT = files.Sent("a line", VAWRegressor(), (X, X[:, 0]))


@pytest.fixture
def only_a_line(monkeypatch):
    monkeypatch.setattr(files, "sent_models", lambda: [SENT])


def test_what_got_through_is_kept_and_an_error(only_a_line, tmp_path, capsys, monkeypatch):
    options = ["files", "--files", "9", "--seed", "2", "--output", str(tmp_path)]
    assert main(options) == 0
    assert "0 of 9 files got through" in capsys.readouterr().out
    monkeypatch.setattr(files, "load", lambda path, max_bytes=0: max_bytes and VAWRegressor()[3])
    assert main(options) == 1
    faults = json.loads((tmp_path / "files.json").read_text(encoding="utf-8"))["faults"]
    assert len(faults) == len(list((tmp_path / "files").iterdir())) == 9
    assert main(["files", "--only", "nothing", "--output", str(tmp_path)]) == 1


class Misused(VAWRegressor):
    """Forecasts what it is told to, or fails as it is told to."""

    answer = None

    def predict(self, X, return_std=False):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (np.zeros(9), None),
        (np.full(9, np.nan), "predict: numbers that are none"),
        (IndexError("list index out of range"), "predict: IndexError('list index out of range')"),
        (ValueError("shapes (3,) and (4,) not aligned"), "predict: ValueError("),
    ],
)
def test_what_a_fault_is(answer, says):
    model = Misused().fit(*SENT.rows)
    model.answer = answer
    said = files.misused(model, SENT)
    assert said is None if says is None else said.startswith(says)


def test_refusals_in_the_package_s_words_are_none():
    model = VAWRegressor().fit(X[:, :2], X[:, 0])  # of two features
    assert files.misused(model, SENT) is None


@pytest.mark.parametrize(("wrong", "words"), [("{}", "refused in other"), (b"", None)])
def test_refusals(wrong, words, tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    path.write_bytes(b"no file")

    def refuse(path, max_bytes):
        raise ValueError(f"holds {wrong}" if words else f"{path} holds nothing")

    monkeypatch.setattr(files, "load", refuse)
    outcome = files.tried(path, SENT)
    assert outcome.kind == ("fault" if words else "refused")
    assert outcome.says.startswith(words or "")
    monkeypatch.setattr(files, "load", lambda path, max_bytes: np.zeros(10**7))
    assert files.tried(path, SENT).says.startswith("asks for 8")
