# SPDX-License-Identifier: Apache-2.0
"""Models as exporters write them, of many small parts: they are to be judged, however many parts there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from support.wire.wire_bytes import BASE, length, number

COUNT = 12_500


def _type(*dims: int) -> bytes:
    shape = b"".join(length(1, number(1, dim)) for dim in dims)
    return length(2, length(1, number(1, 1) + length(2, shape)))


def _value(field: int, name: str) -> bytes:
    return length(field, length(1, name) + _type(1, 3, 224, 224))


def _integers(name: str, *values: int) -> bytes:
    return length(5, length(1, name) + b"".join(number(8, value) for value in values) + number(20, 7))


_CONV = (
    length(4, "Conv")
    + _integers("dilations", 1, 1)
    + length(5, length(1, "group") + number(3, 1) + number(20, 2))
    + _integers("kernel_shape", 3, 3)
    + _integers("pads", 1, 1, 1, 1)
    + _integers("strides", 1, 1)
)


def _graph(nodes: list[bytes], others: bytes = b"", output: str = "x0") -> bytes:
    rows = b"".join(length(1, node) for node in nodes)
    return BASE + length(7, rows + length(2, "g") + others + _value(11, "x") + _value(12, output))


def _initializer(name: str, payload: int) -> bytes:
    return length(5, number(1, payload // 4) + number(2, 1) + length(8, name) + length(9, bytes(payload)))


def convolutions() -> bytes:
    """A chain of Conv, all attributes given."""
    nodes = [
        length(1, f"x{i}") + length(1, "w") + length(2, f"x{i + 1}") + length(3, f"n{i}") + _CONV for i in range(COUNT)
    ]
    return _graph([length(1, "x") + length(2, "x0") + length(4, "Relu"), *nodes], _initializer("w", 36))


def additions() -> bytes:
    """Return a chain of Add nodes. Each adds another initializer."""
    nodes = [
        length(1, f"x{i}") + length(1, f"w{i}") + length(2, f"x{i + 1}") + length(3, f"n{i}") + length(4, "Add")
        for i in range(COUNT)
    ]
    weights = b"".join(_initializer(f"w{i}", 4) for i in range(COUNT))
    return _graph([length(1, "x") + length(2, "x0") + length(4, "Relu"), *nodes], weights)


def concatenation() -> bytes:
    """One Concat of all inputs of the graph."""
    names = [f"x{i}" for i in range(COUNT)]
    concat = b"".join(length(1, name) for name in names) + length(2, "y") + length(4, "Concat")
    axis = length(5, length(1, "axis") + number(3, 0) + number(20, 2))
    return _graph([concat + axis], b"".join(_value(11, name) for name in names), "y")


def annotated_values() -> bytes:
    """A chain of Relu with the type of each value."""
    nodes = [length(1, f"x{i}") + length(2, f"x{i + 1}") + length(3, f"n{i}") + length(4, "Relu") for i in range(COUNT)]
    return _graph(
        [length(1, "x") + length(2, "x0") + length(4, "Relu"), *nodes],
        b"".join(_value(13, f"x{i + 1}") for i in range(COUNT - 1)),
    )


def constants() -> bytes:
    """Constants of a small number, each an input of one Add."""
    value = [length(9, index.to_bytes(4, "little")) for index in range(100)]
    nodes = [
        node
        for i in range(COUNT // 2)
        for node in (
            length(2, f"c{i}")
            + length(4, "Constant")
            + length(5, length(1, "value") + length(5, number(2, 1) + value[i % 100]) + number(20, 4)),
            length(1, f"x{i}") + length(1, f"c{i}") + length(2, f"x{i + 1}") + length(4, "Add"),
        )
    ]
    return _graph([length(1, "x") + length(2, "x0") + length(4, "Relu"), *nodes])


def functions() -> bytes:
    """1,250 functions that differ in their names alone, each called once."""
    names = [f"/layers.{i}/activation_{i}_output_0" for i in range(COUNT // 10 + 1)]
    nodes = [
        length(1, names[i])
        + length(2, names[i + 1])
        + length(3, f"/layers.{i}/activation_{i}")
        + length(4, f"activation_{i}")
        + length(7, "pkg.torch")
        for i in range(COUNT // 10)
    ]
    body = length(7, length(1, "x") + length(2, "gate") + length(3, "n0") + length(4, "Sigmoid"))
    body += length(7, length(1, "x") + length(1, "gate") + length(2, "result") + length(3, "n1") + length(4, "Mul"))
    rest = length(4, "x") + length(5, "result") + body + length(9, number(2, 21)) + length(10, "pkg.torch")
    graph = b"".join(length(1, node) for node in nodes) + length(2, "g") + _value(11, names[0]) + _value(12, names[-1])
    imported = length(8, length(1, "pkg.torch") + number(2, 1))
    called = b"".join(length(25, length(1, f"activation_{i}") + rest) for i in range(COUNT // 10))
    return BASE + length(7, graph) + imported + called


def external_initializers() -> bytes:
    """A MatMul for each of many initializers in another file, as mixtures of experts have them."""
    names = [f"layers.{i}.weight" for i in range(COUNT)]
    nodes = [length(1, "x") + length(1, names[i]) + length(2, f"y{i}") + length(4, "MatMul") for i in range(COUNT)]
    weights = b"".join(
        length(
            5,
            number(1, 224)
            + number(1, 224)
            + number(2, 1)
            + length(8, names[i])
            + length(13, length(1, "location") + length(2, "model.onnx.data"))
            + length(13, length(1, "offset") + length(2, str(i * 200_704)))
            + length(13, length(1, "length") + length(2, "200704"))
            + number(14, 1),
        )
        for i in range(COUNT)
    )
    return _graph(nodes, weights, "y0")


def constants_of_many_values() -> bytes:
    """A chain of Add nodes. Each adds the Constant before it; there are a thousand values."""
    nodes = [length(1, "x") + length(2, "x0") + length(4, "Relu")]
    for i in range(COUNT):
        tensor = number(2, 7) + length(9, (i % 1000).to_bytes(8, "little"))
        value = length(5, length(1, "value") + length(5, tensor) + number(20, 4))
        nodes.append(length(2, f"c{i}") + length(3, f"constant{i}") + length(4, "Constant") + value)
        nodes.append(
            length(1, f"x{i}") + length(1, f"c{i}") + length(2, f"x{i + 1}") + length(3, f"n{i}") + length(4, "Add")
        )
    return _graph(nodes)


DENSE_MODELS: Mapping[str, Callable[[], bytes]] = {
    "convolutions": convolutions,
    "additions": additions,
    "constants of many values": constants_of_many_values,
    "a concatenation": concatenation,
    "annotated values": annotated_values,
    "constants": constants,
    "external initializers": external_initializers,
    "functions": functions,
}
