"""The job tables at its smallest size: it runs, ranks, keeps the rival's runs, writes files."""

import json
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor

from benchmarks import tables
from benchmarks.__main__ import main
from benchmarks.tables_board import beside_the_board


def made_up(name, return_X_y):
    rng = np.random.default_rng(0)
    X = 100 * rng.normal(size=(80, 3)) + 5
    y = 50 * np.tanh(X[:, 0] / 100) + X[:, 1] / 10
    return X, np.cumsum(y) if name == "arena_bike" else y


@pytest.fixture
def without_lightgbm(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(tables, "load_dataset", made_up)


@pytest.mark.long
@pytest.mark.usefixtures("without_lightgbm", "small")
def test_tables(tmp_path, capsys):
    arguments = ["--data", "airfoil", "arena_bike", "--quick", "--output", str(tmp_path)]
    assert main(["tables", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "as lightgbm is not installed, 10 trees" in printed
    content = json.loads((tmp_path / "tables.json").read_text(encoding="utf-8"))
    found = {(one["data"], one["order"]): one["lines"] for one in content["tables"]}
    assert found.keys() == {
        ("airfoil", tables.PERMUTED),
        ("airfoil", tables.IN_ORDER),
        ("arena_bike", tables.IN_ORDER),
    }
    _, y = made_up("arena_bike", True)
    bike = found["arena_bike", tables.IN_ORDER]
    assert_allclose(bike[tables.LAST]["rmse"], np.sqrt((y[0] ** 2 + np.sum(np.diff(y) ** 2)) / 80))
    assert bike["FIMT-DD"]["rmse"] == [572.263]
    for lines in found.values():
        rival = lines[tables.RIVAL]["rmse"][0]
        for line in lines.values():
            assert_allclose(line["ratio"], (line["rmse"][0] / rival) ** 2)
    assert "SOKNL" not in found["airfoil", tables.IN_ORDER]
    assert_allclose(
        content["geometric_means"]["fast"], found["airfoil", tables.PERMUTED]["fast"]["ratio"]
    )
    assert "Streams on which all of these are behind balanced: " in printed

    (file,) = (tmp_path / "streamarena" / "OnlineKernelRegressor-balanced-no-lags").iterdir()
    assert file.name == "real__bike__seed1.json"
    sent = json.loads(file.read_text(encoding="utf-8"))
    assert (sent["task"], sent["dataset"], sent["seed"]) == ("regression", "real/bike", 1)
    assert_allclose(sent["metrics"]["rmse"], bike[tables.NO_LAGS]["rmse"][0])
    assert_allclose(sent["metrics"]["r2"], 1 - sent["metrics"]["rmse"] ** 2 / y.var())
    assert sent["hyperparameters"]["lags"] == 0
    assert "constants" in sent["hyperparameters"]
    assert {"author", "contact_or_repo"} <= sent["submission"].keys()


@pytest.mark.usefixtures("without_lightgbm", "small")
def test_seeds(tmp_path):
    stream = tables.load_stream("arena_bike")
    told = []

    def told_of(*what):
        told.append(what)

    own = tables.own_lines(2, ["fast"])
    runs = tables.run_set("arena_bike", stream, tables.IN_ORDER, own, 2, None, 2, tmp_path, told_of)
    assert [one["seed"] for one in runs["fast"]] == [1, 2]
    assert runs["fast"][0]["mse"] != runs["fast"][1]["mse"]
    assert len(runs[tables.RIVAL]) == 1  # it draws nothing
    assert len(told) == 2
    folder = tmp_path / "streamarena" / "OnlineKernelRegressor-fast"
    assert len(list(folder.iterdir())) == 2
    cut = tables.run_set("arena_fried", stream, tables.IN_ORDER, own, 1, 40, 2, tmp_path, told_of)
    assert cut["fast"][0]["mse"] != runs["fast"][0]["mse"]
    assert len(list(folder.iterdir())) == 2  # the board takes whole streams only
    runs = tables.run_set("airfoil", stream, tables.PERMUTED, own, 2, 40, 2, tmp_path, told_of)
    assert [one["seed"] for one in runs[tables.RIVAL]] == [0, 1]
    assert runs[tables.LAST][0]["mse"] != runs[tables.LAST][1]["mse"]


@pytest.mark.long
@pytest.mark.usefixtures("without_lightgbm")
def test_rival_is_kept_by_rows_and_settings(tmp_path):
    X, y = made_up("airfoil", True)
    first = tables.run_line(tables.refitted(2, []), X, y, 0, tmp_path)
    assert tables.run_line(tables.refitted(2, []), X.copy(), y.copy(), 0, tmp_path) == first
    assert len(list(tmp_path.iterdir())) == 1
    tables.run_line(tables.refitted(3, []), X, y, 0, tmp_path)
    tables.run_line(tables.refitted(2, []), X, y + 1.0, 0, tmp_path)
    tables.run_line(tables.refitted(2, [2]), np.round(X, -2), y, 0, tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


def test_nothing_to_run_on(tmp_path, capsys, monkeypatch):
    def missing(name, return_X_y):
        raise FileNotFoundError("no file")

    monkeypatch.setattr(tables, "load_dataset", missing)
    arguments = ["--data", "airfoil", "mixed_diamonds", "--output", str(tmp_path)]
    assert main(["tables", *arguments]) == 1
    said = capsys.readouterr().err
    assert "Left out airfoil. no file" in said
    assert "Left out mixed_diamonds. There is no file" in said


def test_boosting_has_the_same_settings(monkeypatch):
    lightgbm = pytest.importorskip("lightgbm")
    ours = tables.boosting(7)
    assert isinstance(ours, lightgbm.LGBMRegressor)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    instead = tables.boosting(7)
    assert isinstance(instead, HistGradientBoostingRegressor)
    assert ours.n_estimators == instead.max_iter == 7
    assert ours.learning_rate == instead.learning_rate
    assert ours.num_leaves == instead.max_leaf_nodes
    assert ours.min_child_samples == instead.min_samples_leaf


@pytest.mark.long
@pytest.mark.parametrize("has_lightgbm", [True, False])
def test_names_are_categories_of_the_rival(has_lightgbm, monkeypatch):
    pd = pytest.importorskip("pandas")
    if has_lightgbm:
        pytest.importorskip("lightgbm")
    else:
        monkeypatch.setitem(sys.modules, "lightgbm", None)
    rng = np.random.default_rng(0)
    names = rng.choice(["c", "a", "d", "b"], size=400)
    names[-1] = "seen for the first time"
    X = pd.DataFrame({"x": rng.normal(size=400), "name": pd.Categorical(names)})
    y = X["x"].to_numpy() + np.where(np.isin(names, ["a", "d"]), 10.0, 0.0)
    numbers, nominal = tables.coded(X)
    assert nominal == [1]
    assert_array_equal(numbers[:, 0], X["x"])
    assert len(np.unique(numbers[:, 1])) == 5
    frame = tables.framed(numbers, nominal)
    assert [str(kind) for kind in frame.dtypes] == ["float64", "category"]
    late = slice(200, -1)
    forecasts = tables.refitted(40, nominal).prequential_predict(numbers, y)
    assert np.mean((forecasts - y)[late] ** 2) < 8.0  # of 26
    assert np.isfinite(forecasts[-1])
    Z, z = tables.ordered((X, y), tables.PERMUTED, 100, 0)
    assert list(Z.index) == list(range(100))
    assert_allclose(z, y[np.random.RandomState(0).permutation(400)[:100]])


def test_own_lines():
    assert list(tables.own_lines(10, ["fast"])) == ["fast"]
    lines = tables.own_lines(10)
    assert lines["trees"].trees is True
    assert type(lines["trees as the rival's"].trees) is type(tables.boosting(10))
    assert lines[tables.NO_LAGS].lags == 0
    with pytest.raises(SystemExit, match="no line 'slow' of ours"):
        tables.own_lines(10, ["slow"])


def test_ratios_ranks_and_sentences():
    def runs(*figures):
        return [{"mse": figure**2, "ms": 1.0} for figure in figures]

    ours = {"balanced": runs(2.0, 4.0), tables.NO_LAGS: runs(7.0), tables.LAST: runs(5.0)}
    lines = tables.compared({tables.RIVAL: runs(2.0)} | ours, {"SOKNL": 6.0, "FIMT-DD": 6.0})
    ranks = {line: found["rank"] for line, found in lines.items()}
    expected = {"balanced": 1, tables.LAST: 2, "SOKNL": 3, "FIMT-DD": 3, tables.NO_LAGS: 5}
    assert ranks == expected | {tables.RIVAL: None}
    assert_allclose(lines["balanced"]["ratio"], 10 / 4)
    said = list(beside_the_board({"stream": lines, "of no board": {"x": lines["balanced"]}}))
    assert said == [
        "stream: the last target has 5, all that is published more, the least 6 (SOKNL); without "
        "lags we have 7.",
        "Streams on which all of these are behind balanced: 1 of 1.",
        "Streams on which all of these are behind balanced, no lags: 0 of 1.",
    ]
    text = [row[1] for row in tables.rows_of(lines)]
    assert text[1] == "3.000 ± 1.414"
    lines["FIMT-DD"]["ratio"] = 1e9
    assert tables.rows_of(lines)[-1][1] == "diverged"


def test_mixed_set(data_files):
    pytest.importorskip("pandas")
    data_files("mixed_kings_county")
    X, y = tables.load_stream("mixed_kings_county")
    assert X.shape == (21613, 21)
    assert y.dtype == np.float64
    kinds = [column for column in X if X[column].dtype == "category"]
    assert tuple(kinds) == tables.FRAMES["mixed_kings_county"]
