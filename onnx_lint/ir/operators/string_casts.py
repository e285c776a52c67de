# SPDX-License-Identifier: Apache-2.0
"""Casts of constant strings that are no numbers to a type of numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.operators.operators import Operators
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import DataType

CASTS: Final = frozenset({"Cast", "CastLike"})
"""The operators that read strings as numbers."""

TypeOf = Callable[[str, Graph], str | None]
"""Returns the type of a value that a graph sees, such as "tensor(string)"; None if unknown."""


class StringCast(Record):
    """A node that casts a constant with a string that is no number."""

    node: Node
    index: int
    """The element of the input."""
    string: bytes
    others: tuple[StringCast, ...] = ()
    """Those of the further elements that are no numbers."""


def string_casts(operators: Operators, type_of: TypeOf) -> Iterator[StringCast]:
    """Yield the nodes that cast a constant string to a number which it does not state, each once."""
    for alike in operators.verified_nodes:
        schema = alike.schema
        if schema.name not in CASTS or schema.domain:
            continue
        for node in alike.nodes:
            strings = _strings_of(node, operators) if _is_to_numbers(node, type_of) else ()
            wrong = [StringCast(node, index, each) for index, each in enumerate(strings) if not _is_number(each)]
            if wrong:
                yield replace(wrong[0], others=tuple(wrong[1:]))


def _is_to_numbers(node: Node, type_of: TypeOf) -> bool:
    if node.op_type == "CastLike":
        kind = type_of(node.inputs[1], node.graph) if len(node.inputs) > 1 else None
        return kind is not None and kind != "tensor(string)"
    chosen = [each for each in node.attribute_protos if each.name == "to"]
    return any(not each.ref_attr_name and each.i not in (0, DataType.STRING) for each in chosen)


_UNCHANGED: Final = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
"""The operators whose output has the elements of their input in the same order."""

_MAX_NODES: Final = 8
"""The most nodes from a constant to the cast; exporters write one or two."""


def _strings_of(node: Node, operators: Operators) -> Sequence[bytes]:
    """Return the strings of the constant that a node casts; empty for anything else."""
    for _ in range(_MAX_NODES):
        definition = node.graph.definition_of(node.inputs[0]) if node.inputs else None
        if definition is None:
            return ()
        graph, producer = definition.graph, definition.node
        if producer is None:
            is_initializer = definition.field == "initializer" and node.inputs[0] not in graph.input_names
            return _strings_in_initializer(graph, definition.index) if is_initializer else ()
        schema = operators.operator(producer).schema
        if schema is None or schema.domain:
            return ()
        if schema.name == "Constant":
            return next(filter(None, map(_strings_in, producer.attribute_protos)), ())
        if schema.name not in _UNCHANGED:
            return ()
        node = producer
    return ()


def _strings_in_initializer(graph: Graph, index: int) -> Sequence[bytes]:
    is_of_strings = graph.initializers.element_types[index] == DataType.STRING
    return _strings_in_tensor(graph.message_at("initializer", index)) if is_of_strings else ()


def _strings_in_tensor(tensor: Proto) -> Sequence[bytes]:
    """Return the strings of a tensor, unless some of them stayed in the file."""
    strings: Sequence[bytes] = tensor.string_data
    return strings if len(strings) == math.prod(tensor.dims) else ()


def _strings_in(attribute: Proto) -> Sequence[bytes]:
    match attribute.name:
        case "value" if attribute.t.data_type == DataType.STRING:
            return _strings_in_tensor(attribute.t)
        case "value_string" if not attribute.ref_attr_name:
            return [attribute.s]
        case "value_strings":
            strings: Sequence[bytes] = attribute.strings
            return strings
    return ()


def _is_number(string: bytes) -> bool:
    """Return whether a program may read a string as a number: also one in hexadecimal, and one between blanks."""
    if re.fullmatch(rb"\s*[+-]?0[xX][0-9a-fA-F.pP+-]+\s*|\s*[+-]?nan\(.*\)\s*", string, re.IGNORECASE) is not None:
        return True
    try:
        float(string)
    except ValueError:
        return False
    return True
