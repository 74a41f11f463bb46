"""Models as few bytes: one entry for all arrays of an archive, and short names in its schema.

An archive of skops has an entry with two headers for each array, and names parts by addresses; of a
small model that is most of it. Here arrays follow one another, the first bytes of the numbers of
one before their second ones, and a table says what they are. The schema says neither which file is
an array's, where it is the next one, nor the number of a part that comes once, nor that the keys of
a dictionary are text. What comes back is an archive that holds the same.
"""

import json
import math
import zipfile
from collections import Counter
from io import BytesIO

import numpy as np

from ._archives import TooLargeError, check_entries

_TABLE, _NUMBERS, _SCHEMA = "arrays.json", "arrays", "schema.json"
_OF_ENTRY = 512  # bytes that an entry of the table stands for in an archive, besides its numbers
_KINDS = "biufcSU"  # of arrays: numbers and text
_PLAIN = "JsonNode", "TypeNode"  # numbers, text and types are the same however often they come
_TEXT = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
_LIST = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}


def squeezed(content):
    """Return an archive of skops as one of few entries, compressed."""
    arrays, others = {}, []
    with zipfile.ZipFile(BytesIO(content)) as archive:
        schema, comment = json.loads(archive.read(_SCHEMA)), archive.comment
        for entry in archive.infolist():
            part = archive.read(entry)
            if entry.filename.endswith(".npy"):
                array = np.load(BytesIO(part), allow_pickle=False)
                if array.dtype.kind in _KINDS:
                    arrays[entry.filename] = array
                    continue
            if entry.filename != _SCHEMA:
                others.append((entry.filename, part))
    _shorten(schema, {name: f"{i}.npy" for i, name in enumerate(arrays)})
    _leave_out(schema)
    table = [[array.dtype.str, array.shape, _is_fortran(array)] for array in arrays.values()]
    numbers = b"".join(_planes(array) for array in arrays.values())
    found = BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_SCHEMA, _compact(schema))
        archive.writestr(_TABLE, _compact(table))
        archive.writestr(_NUMBERS, numbers)
        for name, part in others:
            archive.writestr(name, part)
        archive.comment = comment
    return found.getvalue()


def expanded(file, max_bytes):
    """Return an archive of skops in place of a squeezed one; any other file as it is.

    It raises what `check_size` does.
    """
    if not zipfile.is_zipfile(file):
        return file
    with zipfile.ZipFile(file) as archive:
        if _TABLE not in archive.namelist():
            return file
    check_entries(file, max_bytes)
    found = BytesIO()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(found, "w") as other:
        numbers, table = archive.read(_NUMBERS), json.loads(archive.read(_TABLE))
        if len(numbers) + _OF_ENTRY * len(table) > max_bytes:
            raise TooLargeError(len(numbers) + _OF_ENTRY * len(table))
        low = 0
        for i, (kind, shape, is_fortran) in enumerate(table):
            dtype = np.dtype(kind)
            if dtype.kind not in _KINDS or min(shape, default=0) < 0:
                raise zipfile.BadZipFile("an array of no kind")
            high = low + dtype.itemsize * math.prod(shape)
            array = np.frombuffer(_of_planes(numbers[low:high], dtype), dtype)
            part, low = BytesIO(), high
            np.save(part, array.reshape(shape, order="F" if is_fortran else "C"))
            other.writestr(f"{i}.npy", part.getvalue())
        if low != len(numbers):
            raise zipfile.BadZipFile("arrays of another size than they say")
        for name in archive.namelist():
            if name not in (_TABLE, _NUMBERS, _SCHEMA):
                other.writestr(name, archive.read(name))
        schema = json.loads(archive.read(_SCHEMA))
        _fill_in(schema)
        other.writestr(_SCHEMA, _compact(schema))
        other.comment = archive.comment
    return found


def _parts(schema):
    """Give the dictionaries of a schema in the order in which they stand there."""
    ahead = [schema]
    while ahead:
        part = ahead.pop()
        if isinstance(part, dict):
            yield part
            ahead += list(part.values())[::-1]
        elif isinstance(part, list):
            ahead += part[::-1]


def _shorten(schema, names):
    """Give files other names, and only parts that come again a number, in place."""
    parts = list(_parts(schema))
    counts = Counter(part.get("__id__") for part in parts)
    numbers = {}
    for part in parts:
        number = part.pop("__id__", None)
        if counts[number] > 1 and part.get("__loader__") not in _PLAIN and number is not None:
            part["__id__"] = numbers.setdefault(number, 1 + len(numbers))
        if isinstance(part.get("file"), str):
            part["file"] = names.get(part["file"], part["file"])


def _leave_out(schema):
    """Leave out in place what `_fill_in` puts back: names of files, and that keys are text."""
    n_arrays = 0
    for part in _parts(schema):
        if _is_array(part) and part["file"] == f"{n_arrays}.npy":
            del part["file"]
            n_arrays += 1
        if "key_types" in part and part["key_types"] == _of_text(part["content"]):
            del part["key_types"]


def _fill_in(schema):
    """Put back in place what `_leave_out` has left out."""
    n_arrays = 0
    for part in _parts(schema):
        if _is_array(part) and "file" not in part:
            part["file"] = f"{n_arrays}.npy"
            n_arrays += 1
        if part.get("__loader__") == "DictNode" and "content" in part:
            part.setdefault("key_types", _of_text(part["content"]))


def _is_array(part):
    return part.get("__loader__") == "NdArrayNode" and part.get("type") == "numpy"


def _of_text(keys):
    """Return what a schema says of the types of keys that are text."""
    return {**_LIST, "content": [_TEXT for _ in keys]}


def _planes(array):
    """Return the first bytes of all numbers, then their second ones: like beside like is less."""
    found = np.frombuffer(array.tobytes("A"), np.uint8)
    return found.reshape(-1, max(array.itemsize, 1)).T.tobytes()


def _of_planes(planes, dtype):
    """Return the bytes of an array from what `_planes` made of it."""
    return np.frombuffer(planes, np.uint8).reshape(max(dtype.itemsize, 1), -1).T.tobytes()


def _is_fortran(array):
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def _compact(content):
    return json.dumps(content, separators=(",", ":"))
