"""Ways to damage the file of a model, or to make one up by hand.

Each takes a generator of random numbers and the content of a file, and returns other content.
"""

import io
import json
import re
import zipfile

import numpy as np

LEAVES = (
    *("0", "1", "-1", "2", "5.0", "2.5", "1e-9", "-0.3", "1e9", "1e400", "-1e400", "NaN"),
    *("1000", "1000000", "10000000000", "9" * 30, "null", "true", "[]", "{}", '"x"'),
)


def entries(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts, way=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", way) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return file.getvalue()


def saved_array(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def arrays_of(parts):
    """Return the names of the entries that are arrays."""
    return [name for name, part in parts.items() if part[:6] == b"\x93NUMPY"]


def flipped(rng, content):
    damaged = np.frombuffer(content, dtype=np.uint8).copy()
    places = rng.integers(len(damaged), size=rng.choice([1, 4, 30]))
    damaged[places] ^= np.uint8(1) << rng.integers(8, dtype=np.uint8, size=len(places))
    return damaged.tobytes()


def cut(rng, content):
    return content[: rng.integers(len(content))]


def drawn_array(rng, parts):
    """Return the name of one of the arrays of a file, and itself; None where it holds none."""
    names = arrays_of(parts)
    if not names:
        return None, None
    name = names[rng.integers(len(names))]
    return name, np.load(io.BytesIO(parts[name]))


def other_array(rng, content):
    """Another array in place of one: of another shape or type, or of other numbers."""
    parts = entries(content)
    name, array = drawn_array(rng, parts)
    if array is None:
        return flipped(rng, content)
    ways = [
        lambda a: a[..., None],
        lambda a: a[:0] if a.ndim else a,
        lambda a: np.concatenate([a, a]) if a.ndim else a,
        lambda a: a[..., :-1] if a.ndim else a,
        lambda a: a.ravel(),
        lambda a: a.swapaxes(0, -1) if a.ndim else a,
        lambda a: -a if a.dtype.kind == "f" else a,
        lambda a: a * 1e300 if a.dtype.kind == "f" else a * 0 - 7 if a.dtype.kind == "i" else a,
        lambda a: a * np.nan if a.dtype.kind == "f" else a,
        lambda a: a.astype(np.int64),
        lambda a: a.astype(str),
        lambda a: a.astype(complex),
        lambda a: np.zeros((300, 300)),
        lambda a: a[1:] if a.ndim else a[None],
        lambda a: a * 0,
        lambda a: a * 0 - 1 if a.dtype.kind == "i" else a,
        lambda a: a * 0 + 10**6 if a.dtype.kind in "if" else a[::-1] if a.ndim else a,
    ]
    parts[name] = saved_array(ways[rng.integers(len(ways))](array))
    return packed(parts)


def other_numbers(rng, content):
    """One or all numbers of an array are other ones: absurd, none, or those of other places."""
    parts = entries(content)
    name, array = drawn_array(rng, parts)
    if array is None:
        return other_schema(rng, content)
    if not array.size or array.dtype.kind not in "fi":
        return other_array(rng, content)
    if rng.integers(4) == 0:
        array = rng.permutation(array.ravel()).reshape(array.shape)
    elif array.dtype.kind == "i":
        absurd = np.array((-1, 0, 1, 10**6, 2**40, 2**62, -(2**62))).astype(array.dtype)
        array.flat[rng.integers(array.size)] = absurd[rng.integers(len(absurd))]
    else:
        absurd = (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e150, 1e-300, 1e9, -1.0, 0.0)
        places = slice(None) if rng.integers(2) else rng.integers(array.size)
        array.flat[places] = absurd[rng.integers(len(absurd))]
    parts[name] = saved_array(array)
    return packed(parts)


def swapped(rng, content):
    """Two arrays stand in each other's places, or one in both."""
    parts = entries(content)
    names = arrays_of(parts)
    if len(names) < 2:
        return other_schema(rng, content)
    one, other = rng.choice(names, size=2, replace=False)
    former = parts[one]
    parts[one] = parts[other]
    if rng.integers(2):
        parts[other] = former
    return packed(parts)


def other_entries(rng, content):
    """An entry of the archive is missing, is empty, has another name, or is there twice."""
    parts = entries(content)
    name = str(rng.choice(list(parts)))
    way = rng.integers(4)
    if way == 0:
        del parts[name]
    elif way == 1:
        parts[name] = b""
    elif way == 2:
        parts[f"{name}_"] = parts.pop(name)
    else:
        parts[f"{name}_"] = parts[name]
    return packed(parts)


def false_header(rng, content):
    """An array that says to be larger than it is."""
    parts = entries(content)
    names = arrays_of(parts)
    if not names:
        return cut(rng, content)
    name = names[rng.integers(len(names))]
    header, data = parts[name][:128], parts[name][128:]
    size = str(10 ** rng.integers(4, 18)).encode()
    shape = b"'shape': (" + size + b",), }"
    header = re.sub(rb"'shape': \(.*\), \} *", shape, header)[:127].ljust(127) + b"\n"
    parts[name] = header + data
    return packed(parts)


def bomb(rng, content):
    """A file that unpacks to hundreds of times its size, or asks for one array again and again."""
    parts = entries(content)
    names = arrays_of(parts)
    if names and rng.integers(2):
        parts[names[rng.integers(len(names))]] = saved_array(np.zeros(2_000_000))
    else:
        parts["more.npy"] = saved_array(np.zeros(200_000))
        schema = json.loads(parts["schema.json"])
        array = {
            "__class__": "ndarray",
            "__module__": "numpy",
            "__loader__": "NdArrayNode",
            "type": "numpy",
            "file": "more.npy",
        }
        again = [array | {"__id__": 10**6 + i} for i in range(50)]
        more = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
        schema["content"]["more"] = more | {"content": again, "__id__": 10**7}
        parts["schema.json"] = json.dumps(schema).encode()
    return packed(parts, zipfile.ZIP_DEFLATED)


def nodes_of(schema):
    found, ahead = [], [schema]
    while ahead:
        part = ahead.pop()
        if isinstance(part, dict):
            found.append(part)
            ahead += part.values()
        elif isinstance(part, list):
            ahead += part
    return found


def other_schema(rng, content):
    """A number, a name or a part of the schema is another one."""
    parts = entries(content)
    schema = json.loads(parts["schema.json"])
    nodes = nodes_of(schema)
    for _ in range(rng.choice([1, 1, 3])):
        leaves = [node for node in nodes if node.get("is_json")]
        way = rng.integers(5)
        node = nodes[rng.integers(len(nodes))]
        if way < 3 and leaves:
            leaves[rng.integers(len(leaves))]["content"] = str(rng.choice(LEAVES))
        elif way == 3:
            node.pop(list(node)[rng.integers(len(node))], None) if node else None
        else:
            other = nodes[rng.integers(len(nodes))]
            kept = dict(other)
            node.clear()
            node.update(kept)
    try:
        parts["schema.json"] = json.dumps(schema).encode()
    except (ValueError, RecursionError):  # a part that holds itself
        return cut(rng, content)
    return packed(parts)


def other_lengths(rng, content):
    """A list or a tuple is shorter, longer or in another order; an entry of a dict has moved."""
    parts = entries(content)
    schema = json.loads(parts["schema.json"])
    held = [node["content"] for node in nodes_of(schema) if node.get("content")]
    lists = [part for part in held if isinstance(part, list)]
    dicts = [part for part in held if isinstance(part, dict) and "__class__" not in part]
    way = rng.integers(6)
    if lists and way < 4:
        part = lists[rng.integers(len(lists))]
        place = rng.integers(len(part))
        ways = (part.clear, lambda: part.pop(place), lambda: part.append(part[place]), part.reverse)
        ways[way]()
    elif dicts:
        part = dicts[rng.integers(len(dicts))]
        name, other = rng.choice(list(part), size=2)
        part[f"{other}_" if way == 4 else other] = part[name] if way == 5 else part.pop(name)
    parts["schema.json"] = json.dumps(schema).encode()
    return packed(parts)


WAYS = (
    *(flipped, cut, false_header, bomb, other_entries, swapped, other_array, other_array),
    *(other_numbers, other_numbers, other_schema, other_schema, other_schema, other_schema),
    *(other_lengths, other_lengths),
)
