"""The job guards at its smallest size, and its measures on models of which the answer is known."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator

from benchmarks import guards, guards_cases, guards_models
from benchmarks.__main__ import main
from benchmarks.guards_cases import Case, Sizes, cases
from benchmarks.guards_small import small_cases
from sklearn_okl.datasets import make_faulty_stream, make_irregular_stream


class LastValue(BaseEstimator):
    """Forecasts the last target, and doubts none."""

    n_faulty_ = 0

    def prequential_predict(self, X, y):
        return guards_models.last_value(y)


class Constant(LastValue):
    """Forecasts a number that is far from all targets."""

    def prequential_predict(self, X, y):
        return np.full(len(y), -1e3)


@pytest.fixture
def last_value_is_ours(monkeypatch):
    monkeypatch.setattr(guards_models, "guarded", lambda *_, **__: LastValue())


@pytest.fixture
def constant_is_ours(monkeypatch):
    monkeypatch.setattr(guards_models, "guarded", lambda *_, **__: Constant())


@pytest.mark.long
def test_the_job_prints_losing_lines_first(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(guards, "N_ROWS_QUICK", 420)
    monkeypatch.setattr(guards_cases, "AFTER", (20, 60))
    kinds = ["jumps", "everyday", "sentinels", "single faults", "changes", "cells", "heavy tails"]
    options = ["--quick", "--budgets", "fast", "--kinds", *kinds, "--output", str(tmp_path)]
    assert main(["guards", *options]) == 0
    printed = capsys.readouterr().out
    content = json.loads((tmp_path / "guards.json").read_text(encoding="utf-8"))
    lines = content["lines"]
    assert {line["kind"] for line in lines} == set(kinds)
    over = [line["worst"] / line["bar"] for line in lines]
    assert over == sorted(over, reverse=True)
    assert [line["holds"] for line in lines] == [ratio <= 1.0 for ratio in over]
    assert sum(not line["holds"] for line in lines) == printed.count("NO\n")


def test_a_part_of_the_job(tmp_path, capsys):
    options = ["--only", "level + 2 ", "--budgets", "fast", "--seeds", "2", "--rows", "300"]
    assert main(["guards", *options, "--output", str(tmp_path)]) == 0
    content = json.loads((tmp_path / "guards.json").read_text(encoding="utf-8"))
    titles = [case["title"] for case in content["cases"]]
    assert titles == ["level + 2 deviations, table", "level + 2 deviations, series"]
    assert all(len(case["runs"]) == 2 for case in content["cases"])
    assert main(["guards", "--only", "nothing of the kind", "--output", str(tmp_path)]) == 1
    assert "No case" in capsys.readouterr().err


def test_a_kind_that_is_none_is_a_sentence(capsys):
    assert main(["guards", "--kinds", "jumps", "leaps"]) == 1
    assert "There is no kind 'leaps'" in capsys.readouterr().err


def test_the_grid_is_full():
    found = list(cases())
    names = [(case.kind, case.title, case.budget) for case in found]
    assert len(set(names)) == len(names)
    assert {case.kind for case in found} == set(guards_cases.KINDS)
    jumps = [case for case in found if case.kind == "jumps"]
    assert len(jumps) == 2 * (2 * 3 * 4 + 4)
    places = set(range(81)) | {511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049}
    titles = {case.title for case in found if case.kind == "single faults"}
    for place in places:
        for delay in (0, 5):
            assert f"one fault at row {place}, label_delay={delay}" in titles


@pytest.mark.usefixtures("last_value_is_ours")
@pytest.mark.parametrize("kind", ["setpoints", "price", "walk"])
def test_jumps_of_the_last_value_cost_what_its_rival_does(kind):
    found = guards_cases.jumping(1200, {"kind": kind}, "fast", 0)
    assert found["absolute"] >= 1.0
    assert_allclose(found["squared"], 1.0)
    assert found["lost"] == 0


@pytest.mark.usefixtures("constant_is_ours")
def test_rows_are_lost_by_a_model_that_does_not_see_a_change():
    settings = {"kind": "setpoints", "every": 50}
    y = make_irregular_stream(400, random_state=1, **settings).target
    found = guards_cases.jumping(400, settings, "fast", 1)
    assert found["lost"] == 49  # the row of the change itself nobody knew
    rows = slice(200, None)  # from the fourth change on
    theirs = np.mean(np.diff(y)[199:] ** 2)
    assert_allclose(found["squared"], np.mean((y[rows] + 1e3) ** 2) / theirs)


def test_the_told_twin_never_sees_a_fault():
    stream = make_faulty_stream(300, share=0.1, random_state=0)
    other = np.where(stream.faulty, 1e300, stream.target)
    told = [
        guards_models.told("fast", 0, stream.data, y, stream.faulty) for y in (stream.target, other)
    ]
    np.testing.assert_array_equal(*told)
    assert (np.isnan(told[0]) == stream.faulty).all()


@pytest.mark.long
def test_the_trusting_twin_believes_what_ours_does_not():
    stream = make_faulty_stream(300, share=0.02, value=-9999.0, random_state=0)
    ours, twin = (
        make("fast", 0).fit(stream.data, stream.target)
        for make in (guards_models.guarded, guards_models.trusting)
    )
    assert ours.n_faulty_ > 0
    assert twin.n_faulty_ == 0
    clean = [
        make("fast", 0).prequential_predict(stream.data, stream.clean_target)
        for make in (guards_models.guarded, guards_models.trusting)
    ]
    assert_allclose(*clean)


def test_the_ridge_knows_lines_and_steps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = 1e6 + 3.0 * X[:, 0]
    assert np.abs(guards_models.ridge(X, y) - y)[100:].max() < 1e-2
    walk = 1e6 + np.cumsum(1.0 + X[:, 1])
    assert np.abs(guards_models.ridge(X, walk, 4) - walk)[100:].max() < 1e-2


def test_boosting_is_kept(tmp_path):
    first = guards_models.boosting("saw", 200, 0, 5, tmp_path)
    guards_models.boosting.cache_clear()
    (path,) = tmp_path.rglob("*.npz")
    saved = dict(np.load(path))
    np.savez_compressed(path, y=saved["y"], forecasts=saved["forecasts"] + 1.0)
    np.testing.assert_array_equal(guards_models.boosting("saw", 200, 0, 5, tmp_path), first + 1.0)
    guards_models.boosting.cache_clear()


def test_what_fails_has_lost(capsys):
    def fail(budget, seed):
        raise IndexError("no row")

    case = Case("jumps", "a stream", "fast", {"squared": 1.0}, fail)
    assert guards.run_case(case, 3) == {"squared": np.inf}
    assert "a stream, fast, seed 3: IndexError" in capsys.readouterr().err
    record = {**case._asdict(), "runs": [{"squared": np.inf}, {"squared": 0.5}]}
    (line,) = guards.lines_of([record])
    assert not line["holds"]


def test_an_adversary_is_timed():
    found = list(cases(("adversary",), ("fast",), Sizes(attacked=80)))
    assert len(found) == 3
    assert found[1].run(0)["time"] > 0.0


def test_there_are_sixty_small_cases():
    found = small_cases()
    assert len(found) == 60
    assert len({(case.kind, case.title, case.budget) for case in found}) == 60
    assert {case.kind for case in found} == set(guards_cases.KINDS) - {"adversary"}
