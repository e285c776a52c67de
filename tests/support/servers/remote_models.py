# SPDX-License-Identifier: Apache-2.0
"""Models for stores: small ones, and such with weights that are holes in a sparse file."""

from __future__ import annotations

from pathlib import Path

from support.wire.wire_bytes import LEN, length, number, tag, varint

ENVIRONMENT = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "HF_TOKEN",
    "HF_ENDPOINT",
)

MODEL = {"ir_version": 1, "producer_name": 2, "graph": 7, "opset_import": 8}
GRAPH = {"node": 1, "name": 2, "initializer": 5, "input": 11, "output": 12}
FLOAT = 1


def _value(name: str, *dims: int) -> bytes:
    shape = b"".join(length(1, number(1, dim)) for dim in dims)
    tensor = number(1, FLOAT) + length(2, shape)
    return length(1, name) + length(2, length(1, tensor))


def _node(index: int, weight: str) -> bytes:
    inputs = length(1, f"x{index}") + length(1, weight)
    return inputs + length(2, f"x{index + 1}") + length(3, f"n{index}") + length(4, "Add")


def _head(dims: int, name: str) -> bytes:
    """A tensor up to its values."""
    return number(1, dims) + number(2, FLOAT) + length(8, name)


def _around(tensors: int, elements: int, extra_nodes: int = 0) -> tuple[bytes, bytes]:
    """Return the fields of a model, and of its graph, that come before the tensors."""
    model = number(MODEL["ir_version"], 10) + length(MODEL["producer_name"], "test")
    model += length(MODEL["opset_import"], length(1, "") + number(2, 21))
    graph = length(GRAPH["name"], "g")
    total = tensors + extra_nodes
    for index in range(total):
        graph += length(GRAPH["node"], _node(index, f"w{index % tensors}"))
    graph += length(GRAPH["input"], _value("x0", elements))
    graph += length(GRAPH["output"], _value(f"x{total}", elements))
    return model, graph


def small_model(fault: bool = False) -> bytes:
    """A model of an Add; with `fault`, one whose output nothing defines."""
    model, graph = _around(1, 2)
    weight = length(GRAPH["initializer"], _head(2, "w0") + length(9, bytes(8)))
    if fault:
        graph = graph.replace(b"x1", b"xx", 1)
    return model + length(MODEL["graph"], graph + weight)


def write_inlined(path: Path, tensors: int, elements: int, extra_nodes: int = 0, biases: int = 0) -> int:
    """Write a model with its weights inside, all of them zeros that take up no room on the disk; return its size.

    `biases`: the elements of each second tensor, if they are others.
    """
    model, graph = _around(tensors, elements, extra_nodes)
    counts = [biases or elements if index % 2 else elements for index in range(tensors)]
    heads = []
    for index, count in enumerate(counts):
        head = _head(count, f"w{index}") + tag(9, LEN) + varint(4 * count)
        heads.append(tag(GRAPH["initializer"], LEN) + varint(len(head) + 4 * count) + head)
    size = len(graph) + sum(map(len, heads)) + 4 * sum(counts)
    with path.open("wb") as stream:
        stream.write(model + tag(MODEL["graph"], LEN) + varint(size) + graph)
        for head, count in zip(heads, counts, strict=True):
            stream.write(head)
            stream.seek(4 * count, 1)
        stream.truncate()
    return path.stat().st_size


def external_model(tensors: int, elements: int, location: str = "weights.bin", **more: str) -> bytes:
    """A model with its weights in one file, one behind the other; `location` may have the number in it: `{}`.

    `more`: further entries of each tensor.
    """
    model, graph = _around(tensors, elements)
    for index in range(tensors):
        entries = {"location": location.format(index), **more}
        if location == location.format(index):
            entries |= {"offset": str(4 * elements * index), "length": str(4 * elements)}
        stored = b"".join(length(13, length(1, key) + length(2, value)) for key, value in entries.items())
        graph += length(GRAPH["initializer"], _head(elements, f"w{index}") + stored + number(14, 1))
    return model + length(MODEL["graph"], graph)
