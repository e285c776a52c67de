# SPDX-License-Identifier: Apache-2.0
"""Two weights that were exchanged, found by the numbers in their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from operator import ne
from typing import TYPE_CHECKING, Final

from onnx_lint.inference.flow.repairs.change import Change
from onnx_lint.inference.shapes.fact import fact
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.places.edits import Assign, Edit
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.ir.operators.operators import Operators

_WEIGHTED: Final = frozenset({"Gemm", "MatMul"})
"""The operators whose input 1 may be the weight of another layer."""

_NUMBER: Final = re.compile("[0-9]{1,9}")
"""A number in a name. One with more digits than a model needs is several."""


def exchanged_weights(node: Node, operands: Operands) -> Iterator[Change]:
    """Yield the exchange of input 1 with the weight of a later node that has the wanted shape.

    The names of the two differ in one number, and the earlier node reads the weight with the greater number.
    """
    if operands.operator not in _WEIGHTED:
        return
    graph, name, given = node.graph, node.inputs[1], operands.fact(1)
    index, shape = graph.initializer_index.get(name), given.shape
    if index is None or shape is None or shape == shape[::-1] or name in graph.input_names:
        return
    for other in _read_later(_with_lower_number(name, graph.initializer_names), node):
        other_index = graph.initializer_index[other]
        dims = tuple(graph.message_at("initializer", other_index).dims)
        if dims == shape[::-1] and other not in graph.input_names:
            yield Change(
                f"initializers {quote(name)} and {quote(other)} exchanged",
                partial(_renamed_initializers, graph, {index: other, other_index: name}),
                inputs={1: fact(given.kind, dims)},
                must_add_no_finding=True,
            )


def _renamed_initializers(graph: Graph, names: Mapping[int, str], _: Operators) -> Iterator[Edit]:
    for index, name in names.items():
        yield Assign(graph.at("initializer", index).at("name"), name)


def _with_lower_number(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that differ from this one in one number, which is lower in them."""
    numbers, pattern, begin = _numbers(name), _NUMBER.sub("#", name), _NUMBER.split(name, 1)[0]
    alike = (each for each in names if each.startswith(begin) and _NUMBER.sub("#", each) == pattern)
    return [each for each in alike if _numbers(each) < numbers and sum(map(ne, _numbers(each), numbers)) == 1]


def _numbers(name: str) -> list[int]:
    return [int(each) for each in _NUMBER.findall(name)]


def _read_later(names: Iterable[str], node: Node) -> list[str]:
    """Return the names that later nodes of the graph read, and neither this one nor those before it."""
    left = set(names)
    if not left:
        return []
    nodes = node.graph.node_inputs  # read once: it may be long
    for inputs in islice(nodes, node.index + 1):
        left.difference_update(inputs)
    later = chain.from_iterable(islice(nodes, node.index + 1, None))
    return list(dict.fromkeys(each for each in later if each in left))
