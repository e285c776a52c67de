# SPDX-License-Identifier: Apache-2.0
"""Files with only small elements of one list. All names and values are different, so that nothing is shared."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping

from support.wire.wire_bytes import BASE, length, number

_DIGITS = string.ascii_letters + string.digits
RELU = length(4, "Relu")
ONE_DIMENSION = length(2, length(1, number(1, 1) + length(2, length(1, length(2, "N")))))
"""The type of a tensor of floats with one dimension."""


def name(index: int) -> str:
    """The shortest names, each once."""
    index, digit = divmod(index, len(_DIGITS))
    return _DIGITS[digit] + (name(index - 1) if index else "")


def _graph(content: bytes) -> bytes:
    return BASE + length(7, length(2, "g") + content)


def _model(content: bytes) -> bytes:
    return _graph(b"") + content


def _rows(row: Callable[[int], bytes], wrap: Callable[[bytes], bytes] = _graph) -> Callable[[int], bytes]:
    def make(size: int) -> bytes:
        rows: list[bytes] = []
        while size > 0:
            rows.append(row(len(rows)))
            size -= len(rows[-1])
        return wrap(b"".join(rows))

    return make


def _node(*inputs: str, output: str, rest: bytes = RELU) -> bytes:
    return length(1, b"".join(length(1, each) for each in inputs) + length(2, output) + rest)


def _named(index: int) -> bytes:
    """Return the fields of a node other than its inputs and outputs, with a unique name."""
    return length(3, f"node_{name(index)}") + RELU


def _chain(back: int, *, closed: bool, rest: Callable[[int], bytes] = lambda _: RELU) -> Callable[[int], bytes]:
    """Nodes that use the value of the one so many places before them; the last values are inputs, or come last too."""

    def make(size: int) -> bytes:
        count = size // (10 + len(rest(999)))
        used = [(index + back) % count if closed else index + back for index in range(count)]
        nodes = b"".join(
            _node("i" + name(each), output="i" + name(index), rest=rest(index)) for index, each in enumerate(used)
        )
        return _graph(nodes + length(11, length(1, f"i{name(count)}")))

    return make


def _constant(value: int, size: int) -> bytes:
    """The fields of a Constant of an int64 other than its output, with this number of bytes for the value."""
    tensor = number(2, 7) + length(9, value.to_bytes(size, "little"))
    return length(4, "Constant") + length(5, length(1, "value") + length(5, tensor) + number(20, 4))


def _integer(attribute: str, value: int) -> bytes:
    return length(5, length(1, attribute) + number(3, value) + number(20, 2))


def _external(index: int, location: str) -> bytes:
    entry = length(13, length(1, "location") + length(2, location))
    return length(5, number(2, 1) + length(8, name(index)) + entry + number(14, 1))


def _initializer(index: int, rest: bytes) -> bytes:
    return length(5, number(2, 1) + length(8, name(index)) + rest)


def _value(field: int, index: int, rest: bytes) -> bytes:
    return length(field, length(1, name(index)) + rest)


DENSE_ROWS: Mapping[str, Callable[[int], bytes]] = {
    "external tensors": _rows(lambda i: _external(i, "w")),
    "external tensors in files of their own": _rows(lambda i: _external(i, name(i))),
    "external tensors with keys of their own": _rows(lambda i: _initializer(i, length(13, length(1, name(i))) * 2)),
    "tensors with documentation": _rows(lambda i: _initializer(i, length(12, "<b>"))),
    "tensors with metadata": _rows(lambda i: _initializer(i, length(16, length(1, "k")) * 2)),
    "tensors without values": _rows(lambda i: _initializer(i, b"")),
    "one undefined name": _rows(lambda i: _node("q", output=name(i))),
    "an undefined name for each node": _rows(lambda i: _node(name(2 * i), output=name(2 * i + 1))),
    "three undefined names for each node": _rows(
        lambda i: _node(*(name(4 * i + j) for j in range(3)), output=name(4 * i + 3))
    ),
    "an undefined name for each named node": _rows(
        lambda i: _node("from_" + name(i), output="into_" + name(i), rest=_named(i))
    ),
    "nodes in reverse": _chain(1, closed=False),
    "named nodes in reverse": _chain(1, closed=False, rest=_named),
    "nodes of one circle": _chain(1, closed=True),
    "nodes that use their own values": _rows(lambda i: _node(name(i), output=name(i))),
    "operators of their own": _rows(lambda i: _node(output=name(i), rest=length(4, name(i)))),
    "domains of their own": _rows(lambda i: _node(output=name(i), rest=RELU + length(7, name(i)))),
    "overloads of their own": _rows(lambda i: _node(output=name(i), rest=RELU + length(8, name(i)))),
    "attributes of their own": _rows(lambda i: _node(output=name(i), rest=length(4, "C") + _integer("v", i))),
    "names of attributes of their own": _rows(
        lambda i: _node(output=name(i), rest=length(4, "Elu") + _integer(name(i), 1))
    ),
    "numbers of their own": _rows(
        lambda i: _node(output=name(i), rest=length(4, "Constant") + _integer("value_int", i))
    ),
    "lists of numbers of their own": _rows(
        lambda i: _node(
            output=name(i),
            rest=length(4, "Constant") + length(5, length(1, "value_ints") + number(8, i) + number(20, 7)),
        )
    ),
    "Constants of their own": _rows(lambda i: _node(output=name(i), rest=_constant(i, 8))),
    "faulty Constants of their own": _rows(lambda i: _node(output=name(i), rest=_constant(i, 4))),
    "equal faulty Constants": _rows(lambda i: _node(output=name(i), rest=_constant(0, 4))),
    "nodes with metadata of their own": _rows(
        lambda i: _node(output=name(i), rest=RELU + length(9, length(1, "k") + length(2, name(i))))
    ),
    "nodes with markup": _rows(lambda i: _node(output=name(i), rest=RELU + length(6, "<b>"))),
    "nodes with devices": _rows(lambda i: _node(output=name(i), rest=RELU + length(10, length(1, name(i))))),
    "tensors of a negative size": _rows(
        lambda i: length(5, number(1, (1 << 64) - 1) + number(2, 1) + length(8, name(i)))
    ),
    "shapes of their own": _rows(
        lambda i: (
            _node("x", "s" + name(i), output="o" + name(i), rest=length(4, "Reshape"))
            + length(5, number(1, 1) + number(2, 7) + length(8, "s" + name(i)) + length(9, i.to_bytes(8, "little")))
        ),
        lambda content: _graph(content + length(11, length(1, "x") + ONE_DIMENSION)),
    ),
    "inputs without a type": _rows(lambda i: _value(11, i, b"")),
    "inputs of one shape": _rows(lambda i: _value(11, i, ONE_DIMENSION)),
    "inputs of an unknown element type": _rows(lambda i: _value(11, i, length(2, length(1, number(1, 99))))),
    "inputs with denotations of their own": _rows(
        lambda i: _value(11, i, length(2, length(6, name(i)) + length(1, number(1, 1))))
    ),
    "outputs without a type": _rows(lambda i: _value(12, i, b"")),
    "outputs of one shape": _rows(lambda i: _value(12, i, ONE_DIMENSION)),
    "value infos without a type": _rows(lambda i: _value(13, i, b"")),
    "value infos with markup": _rows(lambda i: _value(13, i, length(3, "<b>"))),
    "value infos with metadata": _rows(lambda i: _value(13, i, length(4, length(1, "k")) * 2)),
    "functions": _rows(lambda i: length(25, length(1, name(i)) + length(10, "d")), _model),
    "imports": _rows(lambda i: length(8, length(1, name(i)) + number(2, 1)), _model),
}
"""By name what makes a file of about so many bytes."""
