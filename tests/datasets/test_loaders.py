"""Loading: round trips, published summaries, error texts. No test touches the network."""

import gzip
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from sklearn_okl.datasets import _loaders, dataset_names, load_dataset

NAMES = [
    "airfoil",
    "concrete",
    "bias",
    "bias_notebook",
    "naval",
    "naval_notebook",
    "elevators",
    "ailerons",
    "bank32nh",
    "calhousing",
    "calhousing_14000",
    "casp",
    "magic04",
    "a9a",
    "a9a_test",
    "cod_rna",
    "cod_rna_test",
    "ijcnn1",
    "ijcnn1_test",
    "susy",
    "raker_toms",
    "arena_bike",
    "arena_metro_traffic",
    "arena_fried",
    "arena_elevators",
    "arena_ailerons",
    "arena_california_housing",
    "arena_electricity",
    "arena_shuttle",
    "arena_nomao",
    "arena_rbf_drift",
]


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(**kwargs):
        raise AssertionError(f"the network was used: {kwargs}")

    monkeypatch.setattr(_loaders, "fetch_openml", refuse)


def write(folder, name, text):
    path = Path(folder) / f"{name}.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    return path


# ---- files ----


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_round_trip_is_exact(tmp_path, seed):
    table = np.random.RandomState(seed).standard_normal((40, 4)) * 10.0 ** np.arange(-6, 6, 3)
    lines = [",".join(map(repr, row)) for row in table.tolist()]
    path = write(tmp_path, "own.set-1", "\n".join(["a,b,c,target", *lines]) + "\n")

    bunch = load_dataset("own.set-1", data_home=tmp_path)
    np.testing.assert_array_equal(bunch.data, table[:, :3])
    np.testing.assert_array_equal(bunch.target, table[:, 3])
    assert bunch.data.dtype == bunch.target.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert bunch.data.flags.owndata
    assert bunch.feature_names == ["a", "b", "c"]
    assert bunch.target_names == ["target"]
    assert bunch.frame is None
    assert bunch.filename == str(path)
    assert "40 rows" in bunch.DESCR
    assert str(path) in bunch.DESCR
    assert set(bunch) == {
        *("data", "target", "feature_names", "target_names", "frame", "DESCR", "filename")
    }

    X, y = load_dataset("own.set-1", data_home=str(tmp_path), return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)


def test_as_frame(tmp_path):
    pd = pytest.importorskip("pandas")
    write(tmp_path, "own", "a,b,target\n1,2,3\n4,5,6\n")
    bunch = load_dataset("own", data_home=tmp_path, as_frame=True)
    pd.testing.assert_frame_equal(
        bunch.frame, pd.DataFrame(np.array([[1.0, 2, 3], [4, 5, 6]]), columns=["a", "b", "target"])
    )
    X, y = load_dataset("own", data_home=tmp_path, as_frame=True, return_X_y=True)
    pd.testing.assert_frame_equal(X, bunch.frame[["a", "b"]])
    pd.testing.assert_series_equal(y, bunch.frame["target"])


def test_one_row_one_feature_and_hash_in_header(tmp_path):
    write(tmp_path, "tiny", "a#1,target\r\n1,-1\r\n")
    X, y = load_dataset("tiny", data_home=tmp_path, return_X_y=True)
    np.testing.assert_array_equal(X, [[1.0]])
    np.testing.assert_array_equal(y, [-1.0])


def test_data_home_goes_before_the_environment(tmp_path, monkeypatch):
    there, here = tmp_path / "there", tmp_path / "here"
    for folder, value in ((there, 1), (here, 2)):
        folder.mkdir()
        write(folder, "own", f"a,target\n{value},0\n")
    monkeypatch.setenv("SKLEARN_OKL_DATA", str(there))
    assert load_dataset("own").data[0, 0] == 1
    assert load_dataset("own", data_home=here).data[0, 0] == 2


def test_a_file_goes_before_openml(tmp_path):
    write(tmp_path, "airfoil", "a,target\n1,2\n")
    assert load_dataset("airfoil", data_home=tmp_path).data.shape == (1, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "the last of them 'target'"),
        ("target\n1\n", "the last of them 'target'"),
        ("", "the last of them 'target'"),
        ("a,target\n", "has a header but no rows"),
        ("a,target\n1,x\n", "not a table of numbers"),
        ("a,target\n1,2#x\n", "not a table of numbers"),
        ("a,target\n1,2\n1,2,3\n", "not a table of numbers"),
        ("a,b,target\n1,2\n", "names 3 columns, but its rows have 2"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = write(tmp_path, "bad", text)
    with pytest.raises(ValueError, match=message) as caught:
        load_dataset("bad", data_home=tmp_path)
    assert str(path) in str(caught.value)


# ---- names ----


def test_known_names():
    names = dataset_names()
    assert list(names) == NAMES
    assert all("\n" not in line and "rows" in line for line in names.values())
    names.clear()
    assert dataset_names()  # a copy was given away


@pytest.mark.parametrize("name", ["../own", "sub/own", "a..b", "", ".own", "/etc/x", "a\\b", "a\n"])
def test_no_name_leaves_the_folder(tmp_path, name):
    write(tmp_path, "own", "a,target\n1,2\n")
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", "own", "a,target\n1,2\n")
    with pytest.raises(ValueError, match="is not a plain name"):
        load_dataset(name, data_home=tmp_path / "sub")


def test_name_is_a_string():
    with pytest.raises(TypeError, match="is a str; got int"):
        load_dataset(3)


def test_unknown_name_lists_the_known_ones(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="'airfol' is not a known data set") as caught:
        load_dataset("airfol", data_home=tmp_path)
    assert str(tmp_path / "airfol.csv.gz") in str(caught.value)
    assert all(name in str(caught.value) for name in NAMES)
    monkeypatch.delenv("SKLEARN_OKL_DATA", raising=False)
    with pytest.raises(ValueError, match="data_home is None and SKLEARN_OKL_DATA is not set"):
        load_dataset("airfol")


def test_missing_set_says_where_it_was_looked_for_and_where_to_get_it(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="'susy' was not found") as caught:
        load_dataset("susy", data_home=tmp_path)
    message = str(caught.value)
    assert str(tmp_path / "susy.csv.gz") in message
    assert "OpenML has no copy" in message
    assert "archive.ics.uci.edu" in message
    assert "write susy.csv.gz" in message
    monkeypatch.delenv("SKLEARN_OKL_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="SKLEARN_OKL_DATA is not set"):
        load_dataset("a9a")


# ---- OpenML, monkeypatched ----


def fake_openml(monkeypatch, target, shape):
    calls = []

    def fetch(**kwargs):
        calls.append(kwargs)
        data = np.arange(np.prod(shape), dtype=float).reshape(shape, order="F")
        return Bunch(data=data, target=target, feature_names=[f"x{i}" for i in range(shape[1])])

    monkeypatch.setattr(_loaders, "fetch_openml", fetch)
    return calls


def test_openml_regression(tmp_path, monkeypatch):
    calls = fake_openml(monkeypatch, np.linspace(0, 1, 16599), (16599, 18))
    bunch = load_dataset("elevators", data_home=tmp_path)
    assert calls == [{"data_id": 216, "as_frame": False, "parser": "liac-arff"}]
    assert bunch.data.shape == (16599, 18)
    assert bunch.data.flags.c_contiguous
    np.testing.assert_array_equal(bunch.target, np.linspace(0, 1, 16599))
    assert bunch.filename is None
    assert bunch.feature_names[0] == "x0"
    assert "OpenML, data_id 216" in bunch.DESCR


def test_openml_classes_become_signs(tmp_path, monkeypatch):
    labels = np.array(["g"] * 12332 + ["h"] * 6688, dtype=object)
    fake_openml(monkeypatch, labels, (19020, 10))
    _, y = load_dataset("magic04", data_home=tmp_path, return_X_y=True)
    assert y.dtype == np.float64
    assert set(y) == {-1.0, 1.0}
    assert (y == 1).sum() == 12332
    labels[5] = "z"
    with pytest.raises(ValueError, match=r"has the classes \['z'\]"):
        load_dataset("magic04", data_home=tmp_path)


def test_openml_with_other_rows_is_refused(tmp_path, monkeypatch):
    fake_openml(monkeypatch, np.zeros(1500), (1500, 5))
    with pytest.raises(ValueError, match=r"has the shape \(1500, 5\), not \(1503, 5\)"):
        load_dataset("airfoil", data_home=tmp_path)


@pytest.mark.parametrize("error", [URLError("no route"), ValueError("deactivated")])
def test_openml_out_of_reach(tmp_path, monkeypatch, error):
    def fail(**kwargs):
        raise error

    monkeypatch.setattr(_loaders, "fetch_openml", fail)
    with pytest.raises(FileNotFoundError, match="could not be read") as caught:
        load_dataset("ailerons", data_home=tmp_path)
    assert "data_id 296" in str(caught.value)
    assert str(tmp_path / "ailerons.csv.gz") in str(caught.value)
    assert type(error).__name__ in str(caught.value)
    assert caught.value.__cause__ is error


# ---- the files themselves ----

# mean, smallest, largest target, as recorded where the files were gathered
SUMMARY = {
    "airfoil": (124.8359428, 103.38, 140.987),
    "concrete": (35.81783583, 2.331807832, 82.5992248),
    "bias": (22.93283483, 11.3, 29.8),
    "bias_notebook": (22.93222006, 11.3, 29.8),
    "naval": (5.166666667, 1.138, 9.3),
    "naval_notebook": (5.166666667, 1.138, 9.3),
    "elevators": (0.02162497741, 0.012, 0.078),
    "ailerons": (-0.0008718690909, -0.0036, 0.0),
    "bank32nh": (0.08362133081, 0.0, 0.819665),
    "calhousing": (206855.8169, 14999, 500001),
    "magic04": (0.2967402734, -1, 1),
    "cod_rna": (-0.3333333333, -1, 1),
    "raker_toms": (0.06335675985, 0, 1),
    "arena_bike": (189.4630876, 1, 977),
    "arena_metro_traffic": (3259.818355, 0, 7280),
    "arena_fried": (14.40782857, -1.228, 30.522),
    "arena_elevators": (0.02162497741, 0.012, 0.078),
    "arena_ailerons": (-0.2421858529, -1, 0),
    "arena_california_housing": (206855.8169, 14999, 500001),
    "arena_electricity": (0.4245453743, 0, 1),
    "arena_shuttle": (1.694775862, 1, 7),
    "arena_nomao": (0.7143769041, 0, 1),
    "arena_rbf_drift": (1.22261, 0, 3),
}


@pytest.mark.parametrize("name", SUMMARY)
def test_file_has_the_recorded_target(data_files, name):
    data_files(name)
    bunch = load_dataset(name)
    known = _loaders._KNOWN[name]
    assert bunch.data.shape == (known.n_samples, known.n_features)
    assert np.isfinite(bunch.data).all()
    y = bunch.target
    np.testing.assert_allclose([y.mean(), y.min(), y.max()], SUMMARY[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_file_has_the_known_header_and_length(data_files, name):
    (path,) = data_files(name)
    with gzip.open(path, "rb") as file:
        header = file.readline().strip().split(b",")
        n_samples = sum(1 for _ in file)
    known = _loaders._KNOWN[name]
    assert (n_samples, len(header) - 1) == (known.n_samples, known.n_features)
