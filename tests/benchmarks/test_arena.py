"""The submission to the leaderboard: files in its form, streams left out by name, runs kept."""

import json

import numpy as np
import pytest

from benchmarks import arena


@pytest.fixture
def two_streams(monkeypatch):
    def load(name):
        if name not in ("real/bike", "real/nomao"):
            raise FileNotFoundError(f"There is no file of {name}.")
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 2))
        y = X[:, 0] + 0.1 * rng.normal(size=40)
        return X, (y if name == "real/bike" else np.where(y > 0, "yes", "no"))

    monkeypatch.setattr(arena, "load_stream", load)


def test_the_whole_list():
    assert len(arena.streams("regression")) == 30
    assert len(arena.streams("classification")) == 43
    everywhere = arena.streams("regression") + arena.streams("classification")
    assert set(arena.KNOWN) <= set(everywhere)
    assert len(set(everywhere)) == 73


@pytest.mark.long
@pytest.mark.usefixtures("two_streams")
def test_files_in_the_form_of_the_board(tmp_path, capsys):
    arguments = ["--output", str(tmp_path), "--seeds", "2"]
    assert arena.main(arguments) == 0
    printed = capsys.readouterr()
    assert "4 runs made on 2 streams" in printed.out
    assert printed.err.count("Left out") == 71 == len(printed.err.splitlines())
    wanted = {
        "regression": {"rmse", "mae", "r2"},
        "classification": {"accuracy", "kappa", "kappa_t", "kappa_m", "log_loss"},
    }
    files = sorted((tmp_path / "streamarena").rglob("*.json"))
    assert len(files) == 4
    for file in files:
        sent = json.loads(file.read_text(encoding="utf-8"))
        assert set(sent["metrics"]) == wanted[sent["task"]]
        assert sent["algorithm"] == file.parent.name
        assert sent["hyperparameters"]["budget"] == "balanced"
        assert sent["seed"] in (1, 2)
        assert {"author", "contact_or_repo"} <= sent["submission"].keys()
    arena.main(arguments)
    assert "0 runs made on 2 streams" in capsys.readouterr().out


def test_nothing_at_hand_is_an_error(tmp_path, monkeypatch):
    monkeypatch.delenv("SKLEARN_OKL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    assert arena.run(tmp_path, data=["real/abalone"]) == 1


def test_measures_of_classes():
    class Model:
        def prequential_predict_proba(self, X, y, classes):
            return np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]])

    metrics, _ = arena.of_classes(Model(), np.zeros((4, 1)), ["a", "b", "b", "a"])
    assert metrics["accuracy"] == 75.0
    assert metrics["kappa"] == pytest.approx(50.0)  # 1 - .25 / .5
    assert metrics["kappa_m"] == pytest.approx(50.0)
    assert metrics["kappa_t"] == pytest.approx(62.5)  # two of three labels change
    assert metrics["log_loss"] == pytest.approx(-np.log([0.9, 0.8, 0.4, 0.7]).mean())
