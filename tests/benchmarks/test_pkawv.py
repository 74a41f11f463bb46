"""The job pkawv at its smallest size, and its adversary."""

import importlib.util
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.__main__ import main
from benchmarks.papers import pkawv, pkawv_adversary, pkawv_streams
from benchmarks.papers.pkawv_lines import KERNEL, STYLES, TAYLOR, size, systems
from sklearn_okl.kernels import kernel_matrix


def penalised_loss(X, y):
    """Least loss of a function with its penalty, from its normal equations."""
    K = kernel_matrix(X, gamma=0.5)
    coef = np.linalg.solve(K + np.eye(len(y)), y)
    return ((y - K @ coef) ** 2).sum() + coef @ K @ coef


def test_regret_is_that_of_the_best_function():
    rng = np.random.default_rng(0)
    X, y, forecasts = (
        rng.uniform(-1, 1, size=(9, 3)),
        rng.uniform(-1, 1, size=9),
        rng.uniform(-1, 1, size=9),
    )
    regrets = pkawv_adversary.regret(X, y, forecasts)
    for t in range(1, 10):
        loss = ((y[:t] - forecasts[:t]) ** 2).sum()
        assert regrets[t - 1] == pytest.approx(loss - penalised_loss(X[:t], y[:t]))
    bound = np.linalg.slogdet(kernel_matrix(X, gamma=0.5) + np.eye(9))[1]
    assert pkawv_adversary.bound(X)[-1] == pytest.approx(bound)

    rival, Z = pkawv_adversary.Rival(X, y), rng.uniform(-1, 1, size=(4, 3))
    for target in (-1.0, 0.3, 1.0):
        more = [
            penalised_loss(np.vstack([X, z]), np.append(y, target)) - penalised_loss(X, y)
            for z in Z
        ]
        assert_allclose(rival.added(Z, target), more, rtol=1e-9, atol=1e-12)


@pytest.mark.long(every=4)
@pytest.mark.parametrize("label", [KERNEL, TAYLOR[2], "PKAWV, Nyström", "FOGD", "PROS-N-KONS"])
def test_no_row_is_much_worse_than_the_adversarys(label):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(12, 2))
    y = rng.choice([-1.0, 1.0], size=12)
    model = systems(20, 0.5, 0, "vaw")[label].fit(X, y)
    x, target = pkawv_adversary.worst_row(model.predict, X, y, rng)
    assert np.abs(x).max() <= 1
    assert abs(target) == 1
    rival, axis = pkawv_adversary.Rival(X, y), np.linspace(-1, 1, 41)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)

    def added(Z, v):
        return (v - model.predict(Z)) ** 2 - rival.added(Z, v)

    worst = max(added(grid, v).max() for v in np.linspace(-1, 1, 9))
    assert added(x[None], target)[0] > worst - 0.02


def test_the_adversary_is_worse_than_chance_and_within_proposition_1():
    make = systems(25, 0.5, 0, "vaw")[KERNEL]
    X, y, forecasts = pkawv_adversary.play(make, 25, np.random.default_rng(0), d=2)
    regrets = pkawv_adversary.regret(X, y, forecasts)
    assert (regrets <= pkawv_adversary.bound(X) + 1e-9).all()
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, size=(25, 2)), rng.choice([-1.0, 1.0], size=25)
    by_chance = systems(25, 0.5, 0, "vaw")[KERNEL].prequential_predict(X, y)
    assert regrets[-1] > 1.1 * pkawv_adversary.regret(X, y, by_chance)[-1]


def made_up(file, return_X_y):
    rng = np.random.default_rng(len(file))
    X = 100 * rng.normal(size=(800, 3)) + 5
    return X, np.sign(X[:, 0] * X[:, 1])


def test_job_without_data(tmp_path, capsys):
    arguments = ["--rounds", "2", "--seeds", "1", "--output", str(tmp_path)]
    assert main(["pkawv", "--data", "no_such_set", *arguments]) == 0
    printed = capsys.readouterr()
    assert "Left out no_such_set" in printed.err
    saved = json.loads((tmp_path / "pkawv.json").read_text(encoding="utf-8"))
    assert saved["games"].keys() == STYLES.keys()
    for label, games in saved["games"].items():
        assert f"  {label}  " in printed.out
        assert [len(game["regret"]) for game in games] == [2]
    assert saved["said"]["Kernel-AWV is within Proposition 1 in all rounds"].startswith("yes")
    assert saved["results"] == {}
    if importlib.util.find_spec("matplotlib") is not None:
        assert (tmp_path / "pkawv_regret.png").read_bytes()[1:4] == b"PNG"


@pytest.mark.long
def test_streams_are_run_as_far_as_time_allows(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pkawv_streams, "load_dataset", made_up)
    monkeypatch.setattr(pkawv_streams, "EXACT_ROWS", 600)
    arguments = ["--rounds", "2", "--seeds", "1", "--output", str(tmp_path)]
    assert main(["pkawv", "--data", "ijcnn1", "--rows", "1100", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "ijcnn1, 1100 rows, d = 3, 1 permutation" in printed  # 2 files of 800 rows
    (draw,) = json.loads((tmp_path / "pkawv.json").read_text(encoding="utf-8"))["results"]["ijcnn1"]
    assert draw.keys() == STYLES.keys()
    assert draw[KERNEL]["rows"] == [500, 600]
    assert draw[TAYLOR[2]]["rows"] == [500, 1000, 1100]
    assert draw[TAYLOR[2]]["size"] == 10
    X, y = pkawv_streams.load_stream("ijcnn1", 1100, 0)
    assert_allclose((X.min(), X.max()), (-1, 1), atol=0.3)
    forecasts = systems(1100, 0.5, 0, "ridge")[TAYLOR[2]].prequential_predict(X, y)
    error = np.mean(np.where(forecasts > 0, 1, -1) != y)
    assert draw[TAYLOR[2]]["loss"][-1] == pytest.approx(error)

    minority = min((y > 0).mean(), (y < 0).mean())
    assert pkawv_streams.constant_loss("ijcnn1", y) == pytest.approx(minority)

    records = pkawv_streams.run_systems("casp", X, y, 0, 0.0, lambda n: None)
    assert all(record["rows"] == [500] for record in records.values())
    loss = np.mean((forecasts[:500] - y[:500]) ** 2)
    assert records[TAYLOR[2]]["loss"][-1] == pytest.approx(loss)
    if importlib.util.find_spec("matplotlib") is not None:
        assert (tmp_path / "pkawv_streams.png").read_bytes()[1:4] == b"PNG"


@pytest.mark.parametrize("name", pkawv_streams.DATA)
def test_streams_of_the_figures(data_files, name):
    data_files(*pkawv_streams.DATA[name])
    X, y = pkawv_streams.load_stream(name, 2000)
    assert X.shape == (2000, {"casp": 9, "ijcnn1": 22, "cod_rna": 8, "susy": 18}[name])
    assert np.abs(X).max() <= 1
    if name not in pkawv_streams.REGRESSION:
        assert set(y) == {-1.0, 1.0}
        assert np.std([part.mean() for part in np.split(y, 10)]) < 0.2  # not sorted by class


def test_features_that_are_too_many_are_left_out():
    assert pkawv_streams.left_out(9) == {}
    assert pkawv_streams.left_out(18) == {TAYLOR[4]: 7315}
    assert pkawv_streams.left_out(22) == {TAYLOR[4]: 14950}


def test_what_is_said_is_held_against_the_figures():
    last = dict.fromkeys(STYLES, 60.0) | {KERNEL: 30.0, "FOGD": 33.0, "PROS-N-KONS": 90.0}
    last |= {TAYLOR[2]: 50.0, TAYLOR[3]: 40.0, TAYLOR[4]: 35.0}
    games = {label: [{"regret": [1.0, r], "bound": [2.0, 40.0]}] for label, r in last.items()}
    assert all(verdict.startswith("yes") for verdict in pkawv._said_of_games(games).values())
    games[TAYLOR[2]][0]["regret"][-1] = 20.0
    games["FOGD"][0]["regret"][-1] = 95.0
    games[KERNEL][0]["bound"][-1] = 25.0
    assert all(verdict.startswith("NO") for verdict in pkawv._said_of_games(games).values())


def test_a_share_of_the_gain_is_what_approximates():
    def record(loss):
        return {"rows": [500, 600], "loss": [0.5, loss], "seconds": [1.0, 1.0], "size": 1}

    draw = {KERNEL: record(0.1), TAYLOR[2]: record(0.12), "FOGD": record(0.2)}
    for constant, word in ((0.3, "yes (90%"), (0.13, "NO (33%")):
        result = {"draws": [draw], "constants": [(constant, constant)]}
        said = pkawv._said_of_streams({"susy": result})
        assert said["PKAWV, M = 2, approximates the kernel on SUSY"].startswith(word)


def test_sizes_of_the_systems():
    X, y = made_up("", True)
    for label, model in systems(100, 0.5, 0, "ridge").items():
        n = size(label, model.fit(X[:100] / 300, y[:100]))
        expected = {KERNEL: 100, "KONS": 100, "FOGD": 1000, TAYLOR[3]: 20}
        assert n == expected.get(label, n)
        assert n > 0
