"""Sets from OpenML, through scikit-learn's own client, from answers in the form of the wire."""

import numpy as np
import pytest
from sklearn.datasets import _openml, fetch_openml

from sklearn_okl.datasets import _loaders, dataset_names, load_dataset
from tests.datasets.openml_answers import ANSWERS, Server

SOME = 30  # rows; how many there should be is part of what is known, and told accordingly


@pytest.fixture
def serve(monkeypatch, tmp_path):
    """Let OpenML answer, and nothing be kept outside the test's folder."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))
    monkeypatch.delenv("SKLEARN_OKL_DATA", raising=False)

    def start(name, n_rows=SOME, known=True, **options):
        server = Server(ANSWERS[name], n_rows, **options)
        monkeypatch.setattr(_openml, "urlopen", server)
        if known:
            told = _loaders._KNOWN[name]._replace(n_samples=n_rows)
            monkeypatch.setitem(_loaders._KNOWN, name, told)
        return server

    return start


def test_every_set_on_openml_is_answered():
    assert set(ANSWERS) == set(_loaders._OPENML)
    for name, answer in ANSWERS.items():
        assert (answer.data_id, answer.name) == _loaders._OPENML[name][:2]
        assert dataset_names()[name].endswith("; on OpenML")


@pytest.mark.parametrize("name", ANSWERS)
def test_rows_targets_and_names_come_as_they_are_there(name, serve):
    server = serve(name)
    bunch = load_dataset(name)
    answer = server.answer
    target = answer.columns.index(answer.target)
    inputs = [
        j
        for j, column in enumerate(answer.columns)
        if column not in (answer.target, answer.identifier)
    ]
    assert bunch.feature_names == [answer.columns[j] for j in inputs]
    assert bunch.data.dtype == np.float64
    assert bunch.data.shape == (SOME, _loaders._KNOWN[name].n_features)
    np.testing.assert_array_equal(bunch.data, server.rows[:, inputs].astype(float))
    if answer.classes:
        labels = {"g": 1.0, "h": -1.0}
        np.testing.assert_array_equal(bunch.target, [labels[c] for c in server.rows[:, target]])
        assert set(bunch.target) == {-1.0, 1.0}
    else:
        np.testing.assert_array_equal(bunch.target, server.rows[:, target].astype(float))
    assert f"OpenML, data_id {answer.data_id} ({answer.name})" in bunch.DESCR
    assert server.url in server.asked


def test_a_set_of_its_full_size_is_kept_by_scikit_learn(serve):
    server = serve("airfoil", n_rows=1503, known=False)
    X, y = load_dataset("airfoil", return_X_y=True)
    assert (X.shape, y.shape) == ((1503, 5), (1503,))
    n_asked = len(server.asked)
    again, _ = load_dataset("airfoil", return_X_y=True)
    np.testing.assert_array_equal(again, X)
    assert len(server.asked) == n_asked


def test_as_a_frame(serve):
    pytest.importorskip("pandas")
    serve("magic04")
    frame = load_dataset("magic04", as_frame=True).frame
    assert list(frame.columns) == [*ANSWERS["magic04"].columns[1:-1], "target"]


def test_a_set_that_grew_there_is_refused(serve):
    serve("casp", n_rows=SOME, known=False)
    with pytest.raises(ValueError, match=r"has the shape \(30, 9\), not \(45730, 9\)"):
        load_dataset("casp")


def test_rows_that_do_not_fit_their_checksum_are_refused(serve):
    serve("concrete", spoilt=True)
    again = pytest.warns(RuntimeWarning, match="redownloading")  # scikit-learn asks once more
    with again, pytest.raises(FileNotFoundError, match="md5 checksum"):
        load_dataset("concrete")


def test_a_set_that_is_no_longer_there_says_so(serve, monkeypatch):
    serve("elevators")
    gone = _loaders._OPENML["elevators"]._replace(data_id=999999999)
    monkeypatch.setitem(_loaders._OPENML, "elevators", gone)
    with pytest.raises(FileNotFoundError, match=r"OpenML \(data_id 999999999\) could not be read"):
        load_dataset("elevators")


def test_the_answers_are_read_by_scikit_learn_alone(serve):
    server = serve("bank32nh")
    there = fetch_openml(data_id=558, as_frame=False, parser="liac-arff")
    assert there.details["name"] == "bank32nh"
    assert there.details["md5_checksum"]
    assert there.target_names == ["rej"]
    assert there.data.shape == (SOME, 32)
    assert len(server.asked) == 4
