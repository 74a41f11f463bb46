"""Models as few bytes: one entry for all arrays of an archive, and short names in its schema.

An archive of skops has an entry with two headers for each array, and names parts by addresses; of a
small model that is most of it. Here arrays follow one another, and a table says what they are. What
comes back is an archive that holds the same.
"""

import json
import math
import zipfile
from io import BytesIO

import numpy as np

from ._archives import TooLargeError, check_entries

_TABLE, _NUMBERS, _SCHEMA = "arrays.json", "arrays", "schema.json"
_OF_ENTRY = 512  # bytes that an entry of the table stands for in an archive, besides its numbers
_KINDS = "biufcSU"  # of arrays: numbers and text


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
    table = [[array.dtype.str, array.shape, _is_fortran(array)] for array in arrays.values()]
    numbers = b"".join(array.tobytes("A") for array in arrays.values())
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
            array = np.frombuffer(numbers[low:high], dtype)
            part, low = BytesIO(), high
            np.save(part, array.reshape(shape, order="F" if is_fortran else "C"))
            other.writestr(f"{i}.npy", part.getvalue())
        if low != len(numbers):
            raise zipfile.BadZipFile("arrays of another size than they say")
        for name in archive.namelist():
            if name not in (_TABLE, _NUMBERS):
                other.writestr(name, archive.read(name))
        other.comment = archive.comment
    return found


def _shorten(schema, names):
    """Give the parts of a schema short numbers, and its files other names, in place."""
    numbers, ahead = {}, [schema]
    while ahead:
        part = ahead.pop()
        if isinstance(part, dict):
            if isinstance(part.get("__id__"), int):
                part["__id__"] = numbers.setdefault(part["__id__"], len(numbers))
            if isinstance(part.get("file"), str):
                part["file"] = names.get(part["file"], part["file"])
            ahead += part.values()
        elif isinstance(part, list):
            ahead += part


def _is_fortran(array):
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def _compact(content):
    return json.dumps(content, separators=(",", ":"))
