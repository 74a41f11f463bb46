"""How much memory a file asks for, known before anything in it is unpacked into memory."""

import json
import os
import struct
import zipfile
import zlib
from io import BytesIO

import numpy as np

MOST_BYTES = 2**29
_OF_ARRAYS = 2  # what is read of an array stands beside the array for a moment
_OF_WORDS = 32  # bytes that Python needs for a character of JSON at the worst
_OF_ENTRIES = 16  # bytes that Python needs for a byte of the list of entries
_PIECE = 2**16
_NARROWED = "float32"  # the entry of an archive whose arrays were of float64


class TooLargeError(ValueError):
    """A file asks for more memory than it may."""


def check_size(file, max_bytes):
    """Return how much memory a file asks for, about; refuse one that asks for too much.

    Nothing is believed: entries are unpacked piece by piece, the headers of arrays are held against
    what follows them, and an array counts as often as the file asks for it.

    Parameters
    ----------
    file : binary file
    max_bytes : float

    Returns
    -------
    needed : int

    Raises
    ------
    TooLargeError
        With the number of bytes, at least, that it asks for.
    Exception
        Whatever a damaged file leads to.
    """
    size, sizes = file.seek(0, os.SEEK_END), check_entries(file, max_bytes)
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        for entry in entries:
            sizes[entry.filename] += _inner_size(archive, entry, max_bytes)
        schema = next(entry for entry in entries if entry.filename == "schema.json")
        needed = _OF_WORDS * schema.file_size
        _refuse(needed, max_bytes)
        for name in _asked_for(json.loads(archive.read(schema))):
            needed += _OF_ARRAYS * sizes.get(name, 0)
            _refuse(needed, max_bytes)
        for entry in entries:
            _check_array(archive, entry)
    file.seek(0)
    return max(needed, size)


def check_entries(file, max_bytes):
    """Return to how many bytes each entry unpacks, by its name; refuse what `check_size` does."""
    _refuse(file.seek(0, os.SEEK_END), max_bytes)
    _refuse(_OF_ENTRIES * _length_of_list(file), max_bytes)
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
    for entry in entries:
        _refuse(entry.file_size, max_bytes)
        _check_entry(file, entry, max_bytes)
    sizes = {entry.filename: entry.file_size for entry in entries}
    if len(sizes) < len(entries):
        raise zipfile.BadZipFile("two entries of one name")
    return sizes


def _refuse(needed, max_bytes):
    if needed > max_bytes:
        raise TooLargeError(int(needed))


def _length_of_list(file):
    """Return how many bytes the list of entries has, as `zipfile` will read it."""
    found = zipfile._EndRecData(file) if hasattr(zipfile, "_EndRecData") else None
    return 0 if found is None else found[5]


def _check_entry(file, entry, max_bytes):
    """Refuse an entry that unpacks to another size than it says."""
    if entry.compress_type == zipfile.ZIP_STORED:
        size = entry.compress_size
    elif entry.compress_type == zipfile.ZIP_DEFLATED:
        size = _unpacked_size(file, entry, max_bytes)
    else:
        raise zipfile.BadZipFile("a way of compressing that save does not use")
    if size != entry.file_size:
        raise zipfile.BadZipFile("an entry of another size than it says")


def _unpacked_size(file, entry, max_bytes):
    file.seek(entry.header_offset)
    header = file.read(30)
    file.seek(sum(struct.unpack("<HH", header[26:30])), os.SEEK_CUR)  # its name and more
    unpacker, left, size, data = zlib.decompressobj(-zlib.MAX_WBITS), entry.compress_size, 0, b""
    while not unpacker.eof:
        if not data:
            data = file.read(min(left, _PIECE))
            left -= len(data)
        if not data:
            break
        size += len(unpacker.decompress(data, _PIECE))
        data = unpacker.unconsumed_tail
        _refuse(size, max_bytes)
    return size


def _asked_for(schema):
    """Yield the names of entries that a schema asks for, as often as it does."""
    ahead = [schema]
    while ahead:
        part = ahead.pop()
        if isinstance(part, dict):
            if isinstance(part.get("file"), str):
                yield part["file"]
            ahead += part.values()
        elif isinstance(part, list):
            ahead += part


def _check_array(archive, entry):
    """Refuse an array whose header says more than what follows."""
    with archive.open(entry) as stream:
        if stream.read(6) != np.lib.format.MAGIC_PREFIX:
            return
    with archive.open(entry) as stream:
        version = np.lib.format.read_magic(stream)
        names = {(1, 0): "read_array_header_1_0", (2, 0): "read_array_header_2_0"}
        shape, _, dtype = getattr(np.lib.format, names[version])(stream)
        said = dtype.itemsize
        for length in shape:
            said *= length
        if stream.tell() + said != entry.file_size:
            raise zipfile.BadZipFile("an array of another size than it says")


def _inner_size(archive, entry, max_bytes):
    """Return to what an entry unpacks that is an archive itself, as a sparse matrix is, or 0."""
    with archive.open(entry) as stream:
        if stream.read(2) != b"PK":
            return 0
    content, total = BytesIO(archive.read(entry)), 0
    with zipfile.ZipFile(content) as inner:
        for part in inner.infolist():
            total += part.file_size
            _refuse(total, max_bytes)
            _check_entry(content, part, max_bytes)
            _check_array(inner, part)
    return total


def narrowed(content):
    """Return an archive whose arrays of float64 are rounded to float32, with an entry to say so.

    An array in which powers of two, such as 2^-1000, stand for nothing stays as it is.

    Raises
    ------
    ValueError
        If it holds numbers beyond float32, or arrays of that already.
    """
    return _retyped(BytesIO(content), np.float64, np.float32).getvalue()


def widened(file):
    """Return an archive as it was before `narrowed`, but for the digits; any other as it is."""
    with zipfile.ZipFile(file) as archive:
        if _NARROWED not in archive.namelist():
            return file
    return _retyped(file, np.float32, np.float64)


def _retyped(file, before, after):
    """Return an archive whose arrays of one type are of another."""
    found = BytesIO()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(found, "w") as other:
        for entry in archive.infolist():
            content = archive.read(entry)
            if entry.filename.endswith(".npy"):
                content = _array_retyped(content, before, after)
            if entry.filename != _NARROWED:
                other.writestr(entry.filename, content)
        if after is np.float32:
            other.writestr(_NARROWED, b"")
        other.comment = archive.comment
    return found


def _array_retyped(content, before, after):
    array = np.load(BytesIO(content), allow_pickle=False)
    if array.dtype == np.float32 == after:
        raise ValueError("The model holds float32 already. Take dtype='float64'.")
    if array.dtype != before:
        return content
    with np.errstate(over="ignore", under="ignore"):
        other = array.astype(after)
    known = np.isfinite(array) & (array != 0.0)  # NaN and infinity stand for what is not known
    beyond = array[known & ~(np.isfinite(other) & (other != 0.0))]
    if len(beyond) and (np.abs(np.frexp(beyond)[0]) == 0.5).all():
        return content  # powers of two that stand for nothing, or for no limit
    if (np.abs(beyond) > 1.0).any():
        raise ValueError("The model holds numbers beyond float32. Take dtype='float64'.")
    file = BytesIO()
    np.save(file, other)
    return file.getvalue()
