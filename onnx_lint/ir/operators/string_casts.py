# SPDX-License-Identifier: Apache-2.0
"""Casts of constant strings that are no numbers to a type of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.operators import Operators
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import STRING_TYPE


class StringCast(Record):
    """A Cast whose constant input has a string that is no number."""

    node: Node
    index: int
    """The element of the input."""
    string: bytes


def string_casts(operators: Operators) -> Iterator[StringCast]:
    """Yield the nodes that cast a constant string to a number which it does not state, each once."""
    for alike in operators.verified_nodes:
        schema = alike.operator.schema
        if schema is None or schema.name != "Cast" or schema.domain:
            continue
        for graph, forms in alike.forms.items():
            chosen = {form for form in forms if _is_to_numbers(form)}
            for node in graph.nodes_of(chosen) if chosen else ():
                strings = enumerate(_strings_of(node))
                wrong = next(((index, each) for index, each in strings if not _is_number(each)), None)
                if wrong is not None:
                    yield StringCast(node, *wrong)


def _is_to_numbers(form: NodeForm) -> bool:
    return any(each.name == "to" and not each.ref_attr_name and each.i not in _NO_NUMBERS for each in form.attributes)


_NO_NUMBERS: Final = frozenset({0, STRING_TYPE, 9})
"""The element types that no number has: an unknown one, strings, and Booleans, whose strings no text describes."""


def _strings_of(node: Node) -> Sequence[bytes]:
    """Return the strings of the constant that a node casts; empty for anything else, and for a long list."""
    definition = node.graph.definition_of(node.inputs[0]) if node.inputs else None
    if definition is None:
        return ()
    graph, maker = definition.graph, definition.node
    found: Sequence[bytes] = ()
    if maker is not None:
        attributes = maker.attribute_protos if maker.op_type == "Constant" else ()
        found = next(filter(None, map(_strings_in, attributes)), ())
    elif definition.field == "initializer" and node.inputs[0] not in graph.input_names:
        is_of_strings = graph.initializers.element_types[definition.index] == STRING_TYPE
        found = graph.message_at("initializer", definition.index).string_data if is_of_strings else ()
    return found if len(found) < _MANY else ()


_MANY: Final = 1_000
"""A list of fewer elements is never in the file."""


def _strings_in(attribute: Proto) -> Sequence[bytes]:
    match attribute.name:
        case "value" if attribute.t.data_type == STRING_TYPE:
            strings: Sequence[bytes] = attribute.t.string_data
        case "value_string" if not attribute.ref_attr_name:
            strings = [attribute.s]
        case "value_strings":
            strings = attribute.strings
        case _:
            strings = ()
    return strings


def _is_number(string: bytes) -> bool:
    """Return whether a program may read a string as a number: also one in hexadecimal, and one between blanks."""
    if re.fullmatch(rb"\s*[+-]?0[xX][0-9a-fA-F.pP+-]+\s*|\s*[+-]?nan\(.*\)\s*", string, re.IGNORECASE) is not None:
        return True
    try:
        float(string)
    except ValueError:
        return False
    return True
