"""Archives as few bytes: they come back as they were, and none asks for more than it may."""

import io
import json
import zipfile

import numpy as np
import pytest

from sklearn_okl import OnlineKernelRegressor, from_bytes, save, to_bytes
from sklearn_okl._archives import TooLargeError
from sklearn_okl._squeezed import expanded, squeezed

ARRAYS = {
    "140.npy": np.arange(6.0).reshape(2, 3),
    "141.npy": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "142.npy": np.array(["a", "bcd"]),
    "143.npy": np.array(3, dtype=np.int64),
    "144.npy": np.empty((0, 4), dtype=bool),
    "145.npy": np.array([np.nan, np.inf, 2.0**-1000]),
}


def archive():
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w") as file:
        schema = {name: {"file": name, "__id__": 10**15 + i % 2} for i, name in enumerate(ARRAYS)}
        file.writestr("schema.json", json.dumps(schema))
        for name, array in ARRAYS.items():
            part = io.BytesIO()
            np.save(part, array)
            file.writestr(name, part.getvalue())
        file.writestr("other.bin", b"other")
        file.comment = b"said"
    return found.getvalue()


def test_all_comes_back():
    small = squeezed(archive())
    assert small == squeezed(archive())
    with zipfile.ZipFile(expanded(io.BytesIO(small), 10**6)) as file:
        schema = json.loads(file.read("schema.json"))
        for i, (name, array) in enumerate(ARRAYS.items()):
            assert schema[name]["__id__"] <= 2
            assert schema[name]["__id__"] != schema["140.npy" if i % 2 else "141.npy"]["__id__"]
            again = np.load(io.BytesIO(file.read(schema[name]["file"])))
            np.testing.assert_array_equal(again, array)
            assert again.dtype == array.dtype
            assert again.flags.f_contiguous == array.flags.f_contiguous
        assert file.read("other.bin") == b"other"
        assert file.comment == b"said"
    plain = io.BytesIO(archive())
    assert expanded(plain, 10**6) is plain


def test_a_small_schema_is_filled_in_again():
    text = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode", "__id__": 7}
    whole = text | {"__class__": "int"}
    types = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
    part = {"__loader__": "NdArrayNode", "type": "numpy", "file": "a.npy", "__id__": 8}
    other = part | {"file": "b.npy", "__id__": 9}
    schema = {"__loader__": "DictNode", "__id__": 1} | {
        "content": {"x": part, "y": {"__loader__": "DictNode", "content": {"3": part}}, "z": other},
        "key_types": types | {"content": [text] * 3},
    }
    schema["content"]["y"]["key_types"] = types | {"content": [whole]}
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w") as file:
        file.writestr("schema.json", json.dumps(schema))
        for name, value in (("a.npy", 1.0), ("b.npy", 2.0)):
            array = io.BytesIO()
            np.save(array, np.array(value))
            file.writestr(name, array.getvalue())
    small = squeezed(found.getvalue())
    with zipfile.ZipFile(io.BytesIO(small)) as file:
        left = json.loads(file.read("schema.json"))
    assert "key_types" not in left
    assert "file" not in left["content"]["z"]
    assert [one.get("__id__") for one in left["content"].values()] == [1, None, None]
    with zipfile.ZipFile(expanded(io.BytesIO(small), 10**6)) as file:
        again = json.loads(file.read("schema.json"))
        values = [np.load(io.BytesIO(file.read(again["content"][k]["file"]))) for k in "xz"]
    assert [float(value) for value in values] == [1.0, 2.0]
    assert again["content"]["x"] == again["content"]["y"]["content"]["3"]
    assert [one["__class__"] for one in again["key_types"]["content"]] == ["str"] * 3
    assert again["content"]["y"]["key_types"]["content"][0]["__class__"] == "int"


def rewritten(**parts):
    found = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(squeezed(archive()))) as file:
        known = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in known.items():
            file.writestr(name, parts.get(name.partition(".")[0], part))
    return found


@pytest.mark.parametrize(
    "table",
    [
        [["<f8", [10**9], False]],
        [["<f8", [-1], False]],
        [["<f8", [2], False]],
        [["|O", [0], False]],
        [["<f8", [-1, -48], False]],
        {"a": 1},
        "text",
    ],
)
def test_tables_that_are_none(table):
    with pytest.raises((ValueError, TypeError, zipfile.BadZipFile)):
        expanded(rewritten(arrays=json.dumps(table)), 10**6)


def test_nothing_unpacks_to_more_than_it_may():
    with pytest.raises(TooLargeError):
        expanded(rewritten(other=bytes(10**6)), 10**5)
    many = json.dumps([["<f8", [0], False]] * 1000)
    with pytest.raises(TooLargeError):
        expanded(rewritten(arrays=many), 10**5)


@pytest.mark.long
def test_models_are_smaller_and_the_same(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, X[:, 0])
    content = to_bytes(model)
    save(model, tmp_path / "m")
    assert len(content) < 0.8 * (tmp_path / "m").stat().st_size
    again = from_bytes(content)
    np.testing.assert_array_equal(
        again.prequential_predict(X, X[:, 0]), model.prequential_predict(X, X[:, 0])
    )
    half = from_bytes(to_bytes(model, dtype="float32"))
    assert np.abs(half.predict(X) - model.predict(X)).max() < 1e-3
