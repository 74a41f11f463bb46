"""Files that are damaged, or made by hand: what a stranger may send. Run as a script for more.

OKL_FULL=1 python -m pytest tests/test_files_of_strangers.py
"""

import io
import json
import linecache
import re
import zipfile

import numpy as np

LEAVES = ("0", "-1", "1e400", "NaN", "null", "true", "[]", "{}", '"x"', "5.0", "9" * 30, "2.5", "1")


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


def flipped(rng, content):
    damaged = np.frombuffer(content, dtype=np.uint8).copy()
    places = rng.integers(len(damaged), size=rng.choice([1, 4, 30]))
    damaged[places] ^= np.uint8(1) << rng.integers(8, dtype=np.uint8, size=len(places))
    return damaged.tobytes()


def cut(rng, content):
    return content[: rng.integers(len(content))]


def other_array(rng, content):
    """Another array in place of one: of another shape or type, or of other numbers."""
    parts = entries(content)
    names = [name for name, part in parts.items() if part[:6] == b"\x93NUMPY"]
    if not names:
        return flipped(rng, content)
    name = names[rng.integers(len(names))]
    array = np.load(io.BytesIO(parts[name]))
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


def false_header(rng, content):
    """An array that says to be larger than it is."""
    parts = entries(content)
    names = [name for name, part in parts.items() if part[:6] == b"\x93NUMPY"]
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
    names = [name for name, part in parts.items() if part[:6] == b"\x93NUMPY"]
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
    *(flipped, cut, false_header, bomb),
    *(other_array, other_array, other_schema, other_schema, other_lengths, other_lengths),
)


def is_a_sentence(error):
    """Tell whether our code, or scikit-learn's, has raised it on purpose."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    path, line = frames[-1]
    is_ours = "sklearn" in path  # sklearn_okl or sklearn
    return is_ours and linecache.getline(path, line).lstrip().startswith("raise")
