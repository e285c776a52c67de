# SPDX-License-Identifier: Apache-2.0
"""The text of `onnx-lint shapes`: tables of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.inference.flow.knowledge import Cause
from onnx_lint.inference.flow.provenance import Provenance, Value
from onnx_lint.inference.flow.walks import WalkResult
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.inference.types.type_string import optional_element, sequence_element
from onnx_lint.ir.graph import Node
from onnx_lint.reporters.escape import shortened, visible
from onnx_lint.wording import describe_list, describe_shape, quote, unquoted

_MAX_NAME: Final = 60
_MAX_TYPE: Final = 40
_MAX_SHAPE: Final = 60
"""The greatest width of each column; a wider cell exceeds its column."""

_MAX_CELL: Final = 200
"""The characters of a type, a shape or a list of elements to show; a longer one is cut in the middle."""

_MAX_ARGUMENTS: Final = 20

_HEADER: Final = ("VALUE", "TYPE", "SHAPE")


def graph_title(walked: WalkResult) -> str:
    """Return a graph with its place; a function body with its call and the shapes of the arguments."""
    graph, call = walked.graph, walked.call
    title = f"{graph.describe()} ({graph.place})"
    if call is not None:
        title = f"{title}, called by {call.node.describe()} ({call.node.place})"
        shapes = [shape_cell(each) for each in call.arguments[:_MAX_ARGUMENTS]]
        if len(call.arguments) > len(shapes):
            shapes.append("...")
        title = f"{title} with {', '.join(shapes)}" if graph.is_function else title
    elif graph.function is not None:
        title = f"{title}, which is never called"
    return visible(title)


def table(provenance: Provenance, walked: WalkResult) -> Iterator[str]:
    """Yield the values of a graph, one line each. The lines are created while they are read."""
    names = [quote(name) for name in walked.graph.positions]
    known = set(map(walked.fact, walked.graph.positions))
    widths = (
        min(max(map(len, [_HEADER[0], *names])), _MAX_NAME),
        min(max(map(len, [_HEADER[1], *map(type_cell, known)])), _MAX_TYPE),
        min(max(map(len, [_HEADER[2], *map(shape_cell, known)])), _MAX_SHAPE),
    )
    del names, known
    yield _row(_HEADER, widths, "FROM")
    for value in provenance.values(walked):
        cells = (visible(quote(value.name)), type_cell(value.fact), shape_cell(value.fact))
        yield _row(cells, widths, "; ".join([_origin(value), *_more(value)]))


def _row(cells: Sequence[str], widths: Sequence[int], last: str) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return f"  {'  '.join(padded)}  {last}".rstrip()


def _origin(value: Value) -> str:
    definition = value.definition
    if definition.node is not None:
        return visible(f"output {definition.index} of {_node(definition.node)}")
    return f"{definition.field.replace('_', ' ')} {definition.index}"


def _node(node: Node) -> str:
    """Return the node without its graph, which is in the title."""
    operator = unquoted(f"{node.domain}::{node.op_type}" if node.domain else node.op_type)
    return f"node {quote(node.name)} ({operator})" if node.name else f"node {node.index} ({operator})"


def _more(value: Value) -> Iterator[str]:
    if value.elements is not None:
        shown = describe_list(value.elements) if value.elements else "none"
        yield f"elements {visible(shortened(shown, _MAX_CELL))}"
    if value.cause is not None:
        yield f"unknown: {visible(cause_in_words(value.cause))}"


def cause_in_words(cause: Cause) -> str:
    """Return the reason why a type or shape is unknown."""
    kind, name = cause
    match kind:
        case "operator-without-import":
            return f"no operator set is imported for {quote(name)}"
        case "operator-without-signature":
            return f"the operator {quote(name)} has no known signature"
        case "operator-without-rule":
            return f"the shapes that {quote(name)} produces are unknown"
        case "budget":
            return f"{quote(name)} has more distinct calls than onnx-lint follows"
        case "input":
            return f"input {quote(name)} has no shape"
        case "finding":
            return f"{quote(name)} has a finding of `onnx-lint check`, so its outputs are unknown"
        case "internal-error":
            return f"onnx-lint crashed at {quote(name)}"
        case "undecided":
            what = quote(name) if name else "a cycle of nodes"
            return f"{what} does not determine it before the run"


def type_cell(fact: Fact) -> str:
    """Return the type of a value; `?` if unknown."""
    return visible(shortened(fact.kind or "?", _MAX_CELL))


def shape_cell(fact: Fact) -> str:
    """Return the shape of a tensor, or of the content of a sequence or optional.

    `?` if its type is unknown as well, `-` if values of its type have no shape.
    """
    around = ""
    while sequence_element(fact.kind) or optional_element(fact.kind):
        around += "each " if sequence_element(fact.kind) else "if any "
        if fact.inside is None:
            return f"{around}?"
        fact = fact.inside
    if fact.shape is None and not (fact.kind or "").startswith(("tensor(", "sparse_tensor(")):
        return f"{around}{'-' if fact.kind else '?'}"
    return around + visible(shortened(describe_shape(fact.shape), _MAX_CELL))
