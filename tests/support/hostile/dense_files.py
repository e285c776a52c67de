# SPDX-License-Identifier: Apache-2.0
"""Files that hold only the smallest elements of one list, which take most memory for each byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from support.wire.wire_bytes import BASE, length, number, tag, varint

OPERATOR = length(4, "Relu")


def _graph(content: bytes) -> bytes:
    return BASE + length(7, length(2, "g") + content)


def _node(content: bytes) -> bytes:
    return _graph(length(1, length(2, "y") + OPERATOR + content))


def _attribute(content: bytes) -> bytes:
    return _node(length(5, length(1, "a") + content))


def _tensor(content: bytes) -> bytes:
    return _graph(length(5, content + length(8, "t")))


def _shape(content: bytes) -> bytes:
    return _graph(length(11, length(1, "x") + length(2, length(1, number(1, 1) + length(2, content)))))


def _function(content: bytes) -> bytes:
    return BASE + length(25, length(1, "f") + length(10, "d") + content)


def _rows(wrap: Callable[[bytes], bytes], element: bytes) -> Callable[[int], bytes]:
    return lambda size: wrap(element * (size // len(element)))


def _model(content: bytes) -> bytes:
    return _graph(b"") + content


def _nested_type(size: int) -> bytes:
    deep = b""
    for _ in range(40):
        deep = length(4, length(1, deep))
    return _graph(length(11, length(1, "x") + length(2, deep)) * (size // len(deep)))


DENSE: Mapping[str, Callable[[int], bytes]] = {
    "empty attributes": _rows(_node, length(5, b"")),
    "attributes of empty graphs": _rows(_node, length(5, length(6, b""))),
    "empty nodes": _rows(_graph, length(1, b"")),
    "smallest nodes": _rows(_graph, length(1, length(2, "y") + length(4, "X"))),
    "nodes of attributes": _rows(_graph, length(1, length(5, b"") * 30)),
    "equal nodes of a graph": _rows(_graph, length(1, OPERATOR + length(5, length(6, b"")))),
    "equal nodes of a tensor": _rows(_graph, length(1, OPERATOR + length(5, length(5, b"")))),
    "equal nodes of a type": _rows(_graph, length(1, OPERATOR + length(5, length(14, b"")))),
    "equal nodes of numbers": _rows(_graph, length(1, OPERATOR + length(5, number(8, 1) * 100))),
    "nodes with documentation": _rows(_graph, length(1, OPERATOR + length(6, b""))),
    "nodes with metadata": _rows(_graph, length(1, OPERATOR + length(9, b""))),
    "empty inputs of a node": _rows(_node, length(1, b"")),
    "inputs of a node": _rows(_node, length(1, "ab")),
    "metadata of a node": _rows(_node, length(9, b"")),
    "devices of a node": _rows(_node, length(10, b"")),
    "sharding of a node": _rows(lambda content: _node(length(10, content)), length(2, b"")),
    "empty tensors of an attribute": _rows(_attribute, length(10, b"")),
    "empty sparse tensors of an attribute": _rows(_attribute, length(23, b"")),
    "empty graphs of an attribute": _rows(_attribute, length(11, b"")),
    "empty types of an attribute": _rows(_attribute, length(15, b"")),
    "empty strings of an attribute": _rows(_attribute, length(9, b"")),
    "numbers of an attribute": _rows(_attribute, number(8, 1)),
    "floats of an attribute": _rows(_attribute, tag(7, 5) + bytes(4)),
    "packed numbers of an attribute": lambda size: _attribute(length(8, b"\1" * size)),
    "packed numbers of an attribute, three bytes each": lambda size: _attribute(
        length(8, varint(20_000) * (size // 3)) + number(20, 7)
    ),
    "numbers of an attribute behind its type": lambda size: _attribute(number(20, 7) + number(8, 20_000) * (size // 4)),
    "packed floats of an attribute": lambda size: _attribute(length(7, bytes(size // 4 * 4))),
    "empty initializers": _rows(_graph, length(5, b"")),
    "empty sparse initializers": _rows(_graph, length(15, b"")),
    "empty inputs": _rows(_graph, length(11, b"")),
    "empty outputs": _rows(_graph, length(12, b"")),
    "empty value infos": _rows(_graph, length(13, b"")),
    "empty quantization annotations": _rows(_graph, length(14, b"")),
    "empty metadata of a graph": _rows(_graph, length(16, b"")),
    "empty dimensions of a shape": _rows(_shape, length(1, b"")),
    "dimensions of a shape": _rows(_shape, length(1, number(1, 1))),
    "dimensions of a tensor": _rows(_tensor, number(1, 1)),
    "packed dimensions of a tensor": lambda size: _tensor(length(1, b"\1" * size)),
    "strings of a tensor": _rows(_tensor, length(6, b"")),
    "numbers of a tensor": _rows(_tensor, number(5, 1)),
    "packed numbers of a tensor": lambda size: _tensor(length(5, b"\1" * size)),
    "external data of a tensor": _rows(_tensor, length(13, b"")),
    "metadata of a tensor": _rows(_tensor, length(16, b"")),
    "empty metadata": _rows(_model, length(14, b"")),
    "empty imports": _rows(_model, length(8, b"")),
    "empty functions": _rows(_model, length(25, b"")),
    "empty training information": _rows(_model, length(20, b"")),
    "empty configurations": _rows(_model, length(26, b"")),
    "devices of a configuration": _rows(lambda content: _model(length(26, content)), length(3, b"")),
    "inputs of a function": _rows(_function, length(4, b"")),
    "attributes of a function": _rows(_function, length(6, b"")),
    "defaults of a function": _rows(_function, length(11, b"")),
    "nodes of a function": _rows(_function, length(7, b"")),
    "value infos of a function": _rows(_function, length(12, b"")),
    "unknown fields": _rows(_model, varint(999 << 3) + b"\1"),
    "unknown fields of a graph": _rows(_graph, varint(999 << 3) + b"\1"),
    "unknown fields of a node": _rows(_node, varint(999 << 3) + b"\1"),
    "groups": _rows(_model, varint(999 << 3 | 3) + varint(999 << 3 | 4)),
    "a graph in parts": _rows(_model, length(7, b"")),
    "deep types": _nested_type,
    "a doc string": lambda size: _model(length(6, "x" * size)),
    "a name": lambda size: _graph(length(1, length(2, "y" * size) + OPERATOR)),
}
"""By name what makes a file of about so many bytes."""
