"""Changes of files: flipped bits, cuts, and what editors, networks and attackers do to them."""

import io
import json
from zipfile import ZipFile

import numpy as np

from hedgeclipper.persistence import archive_of


def flipped(content, rng):
    changed = bytearray(content)
    for place in rng.integers(len(changed), size=rng.integers(1, 4)):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut(content, rng):
    return content[: int(rng.integers(len(content)))]


def with_hole(content, rng):
    first, last = sorted(rng.integers(len(content), size=2))
    return content[:first] + content[last:]


def with_zeros(content, rng):
    first = int(rng.integers(len(content)))
    return content[:first] + bytes(int(rng.integers(1, 50))) + content[first:]


def with_line(content, rng):
    lines = [
        b"\r\n",
        b"\r",
        b"\n\n",
        b",,,,,,\n",
        b'"',
        b"x" * 100_000,
        b",1" * 20_000,
        b"\xff\xfe",
    ]
    first = int(rng.integers(len(content)))
    return content[:first] + lines[rng.integers(len(lines))] + content[first:]


def doubled(content, rng):
    return content + content


MUTATIONS = (flipped, cut, with_hole, with_zeros, with_line, doubled)


def mutated(content, rng):
    """Return the content after one or two changes."""
    for _ in range(int(rng.integers(1, 3))):
        content = MUTATIONS[rng.integers(len(MUTATIONS))](content, rng) or b"x"
    return content


def parts_in(content):
    with ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


NUMBERS = [-1, 0, 1, 2, 10**8, 2**31, 2**63 - 1, -(2**63), np.nan, np.inf, -np.inf, 0.5]


def hostile(content, rng):
    """Return a model file with another array, or another value in its description, sealed again."""
    parts = parts_in(content)
    arrays = [name for name in parts if name.endswith(".npy")]
    if arrays and rng.random() < 0.6:
        name = arrays[rng.integers(len(arrays))]
        parts[name] = _as_bytes(_other_array(np.load(io.BytesIO(parts[name])), rng))
    else:
        schema = json.loads(parts["schema.json"])
        _change_description(schema, rng)
        parts["schema.json"] = json.dumps(schema).encode()
    return archive_of(parts)


def _as_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _other_array(array, rng):
    kind = rng.integers(6)
    number = NUMBERS[rng.integers(len(NUMBERS))]
    with np.errstate(all="ignore"):
        if kind == 0:
            return array[:-1] if array.ndim else array.reshape(1)
        if kind == 1:
            return np.concatenate([array, array]) if array.ndim else array
        if kind == 2:
            types = [np.float64, np.int64, np.uint8, np.int8, complex, "U5", bool]
            try:
                return array.astype(types[rng.integers(len(types))])
            except (TypeError, ValueError):
                return np.zeros(array.shape)
        if kind == 3:
            return array[..., None]
        if array.dtype.names and array.size:  # nodes of trees
            changed = array.copy()
            column = changed[array.dtype.names[rng.integers(len(array.dtype.names))]]
            column[rng.integers(array.size)] = np.asarray(number).astype(column.dtype)
            return changed
        if array.dtype.kind not in "iufb" or not array.size:
            return array[:0] if array.ndim else array
        changed = array.astype(np.result_type(array.dtype, np.asarray(number).dtype))
        changed.flat[rng.integers(array.size) if kind == 4 else slice(None)] = number
        return changed


def _change_description(schema, rng):
    """Change one value of a description of skops: remove, replace or rename it."""
    nodes = []

    def collect(node):
        if isinstance(node, dict):
            nodes.append(node)
            for child in node.values():
                collect(child)
        elif isinstance(node, list):
            nodes.append(node)
            for child in node:
                collect(child)

    collect(schema)
    node = nodes[rng.integers(len(nodes))]
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    if not keys:
        return
    key = keys[rng.integers(len(keys))]
    values = [None, "", 0, -1, 10**9, 1e300, [], {}, "null", "NaN", '"x"', nodes[0]]
    if rng.random() < 0.3:
        del node[key]
    else:
        value = values[rng.integers(len(values))]
        node[key] = json.loads(json.dumps(value)) if value is not nodes[0] else "self"
