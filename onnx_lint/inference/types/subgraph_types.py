# SPDX-License-Identifier: Apache-2.0
"""The types that operators supply to their subgraphs, and their output types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.types.argument import UNKNOWN, Arguments
from onnx_lint.inference.types.type_string import (
    ABSENT,
    BOOL,
    INT64,
    ValueType,
    from_proto,
    optional_element,
    sequence_element,
    sequence_of,
)
from onnx_lint.inference.types.typed_operator import Inputs
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.operators.control_flow import ControlFlow, subgraph_output_count

Types = tuple[ValueType | None, ...]

LOOP_HEAD: Final = 2
"""The inputs of Loop and of its body before the loop-carried values: iterations and condition."""


class SubgraphRole(Enum):
    """The role of a subgraph's input or output: the type that it must agree with."""

    INPUT = "input"
    """The type that the operator supplies."""
    CONDITION = "condition"
    """The type of the condition that the body of a Loop returns, a tensor of bool."""
    BRANCH = "branch"
    """The type of the other branch's output, for an If."""
    CARRIED = "carried"
    """The initial type: values that are carried from one run of the body to the next keep their type."""
    SCAN_OUTPUT = "scan output"
    """A tensor type, for an output of a Loop body that is stacked."""
    MODIFIED = "modified"
    """The type of the scores or probabilities that a subgraph of FlexAttention modifies."""


class Mismatch(Record):
    """An input or output of a subgraph with a wrong type."""

    attribute: str
    """The attribute that holds the subgraph."""
    role: SubgraphRole
    index: int
    """The index of the input or output of the subgraph."""
    found: ValueType
    expected: str
    """A type, or a kind of types."""


class Subgraphs(Record):
    """A control-flow node and the types of its inputs."""

    control_flow: ControlFlow
    node: Node
    inputs: Inputs
    arguments: Arguments
    """The attributes that decide types: for Scan the number of scan inputs."""
    scores: ValueType | None = None
    """The type of the scores and probabilities of a FlexAttention; None for other operators, and if unknown."""

    @property
    def values(self) -> Types:
        """The types of the inputs that correspond to inputs of a Scan or SequenceMap body, ABSENT as unknown."""
        skipped = len(self.inputs) - (self.control_flow.supplied_inputs(self.node) or 0)
        return tuple(kind or None for kind in self.inputs[skipped:])

    def supplied(self, attribute: str, graph: Graph) -> Types | None:
        """Return the types that the operator supplies to the inputs of a subgraph; None if it supplies none.

        If the subgraph has another number of inputs, which is another finding, it is unknown which input gets what.
        """
        if self.scores is not None:
            return (self.scores,) if len(graph.input_names) == 1 else None
        count = self.control_flow.supplied_inputs(self.node)
        if (
            attribute != "body"
            or count is None
            or len(self.control_flow.required_subgraph_inputs(graph, count)) != count
        ):
            return None
        match self.node.op_type:
            case "Loop":
                return (INT64, BOOL, *(kind or None for kind in self.inputs[LOOP_HEAD:]))
            case "SequenceMap":
                return tuple(sequence_element(kind) or kind for kind in self.values)
            case "Scan":
                return self.values
            case _:
                return None

    def mismatched_inputs(self, attribute: str, graph: Graph) -> Iterator[Mismatch]:
        """Yield the inputs of a subgraph whose declared type is not the supplied one."""
        supplied = self.supplied(attribute, graph)
        for index, (value, given) in enumerate(zip(graph.proto.input, supplied or (), strict=False)):
            declared = from_proto(value.type)
            if declared is not None and given is not None and declared != given:
                yield Mismatch(attribute, SubgraphRole.INPUT, index, declared, given)

    @property
    def state_count(self) -> int:
        """The number of values that the body of a Scan carries from one run to the next."""
        count = dict(self.arguments).get("num_scan_inputs", UNKNOWN).integer
        return max(0, len(self.values) - count) if count is not None else 0


def outputs_of(subgraphs: Subgraphs, found: Mapping[str, Types]) -> tuple[Types, list[Mismatch]]:
    """Return the types of the node's outputs, from the output types of its subgraphs, and the mismatches.

    A subgraph with another number of outputs is ignored, since that is another finding.
    """
    count = len(subgraphs.node.outputs)
    expected_count = subgraph_output_count(subgraphs.node)
    found = {attribute: types for attribute, types in found.items() if len(types) == expected_count}
    match subgraphs.node.op_type:
        case "If":
            outputs, mismatches = _branches(found.get("then_branch", ()), found.get("else_branch", ()))
        case "Loop":
            outputs, mismatches = _loop(subgraphs, found.get("body", ()))
        case "Scan":
            body = found.get("body", ())
            outputs, mismatches = _carried(subgraphs.values[: subgraphs.state_count], body, 0)
        case "FlexAttention":
            outputs, mismatches = (), list(_modified(subgraphs.scores, found))
        case _:
            outputs, mismatches = tuple(map(sequence_of, found.get("body", ()))), []
    return (*outputs, *(None,) * (count - len(outputs)))[:count], mismatches


def _branches(then_types: Types, else_types: Types) -> tuple[Types, list[Mismatch]]:
    if not then_types or not else_types:
        # The other branch is missing or is a parameter of a function.
        return then_types or else_types, []
    outputs: list[ValueType | None] = []
    mismatches = []
    for index, (one, other) in enumerate(zip(then_types, else_types, strict=False)):
        outputs.append(one or other if None in (one, other) or one == other else None)
        if one and other and one != other:
            mismatches.append(Mismatch("else_branch", SubgraphRole.BRANCH, index, other, one))
    return tuple(outputs), mismatches


def _modified(scores: ValueType | None, found: Mapping[str, Types]) -> Iterator[Mismatch]:
    for attribute, (kind,) in found.items():
        if kind and scores and kind != scores:
            yield Mismatch(attribute, SubgraphRole.MODIFIED, 0, kind, scores)


def _loop(subgraphs: Subgraphs, body: Types) -> tuple[Types, list[Mismatch]]:
    initial = tuple(kind or None for kind in subgraphs.inputs[LOOP_HEAD:])
    outputs, mismatches = _carried(initial, body[1:], 1)
    condition = body[0] if body else None
    if condition and condition != BOOL:
        mismatches.insert(0, Mismatch("body", SubgraphRole.CONDITION, 0, condition, BOOL))
    stacked = outputs[len(initial) :]
    for index, kind in enumerate(stacked, len(initial) + 1):
        if kind and not kind.startswith("tensor("):
            mismatches.append(Mismatch("body", SubgraphRole.SCAN_OUTPUT, index, kind, "a tensor"))
    known = tuple(kind if kind and kind.startswith("tensor(") else None for kind in stacked)
    return (*outputs[: len(initial)], *known), mismatches


def _carried(initial: Types, body: Types, before: int) -> tuple[Types, list[Mismatch]]:
    """Return the types of carried values: initially `initial`, later the first ones of `body`, after `before` others.

    A value that begins as an optional may continue as its content: a node test case of ONNX does that
    (loop16_seq_none).
    """
    outputs = list(body)
    mismatches = []
    for index, (first, last) in enumerate(zip(initial, body, strict=False)):
        outputs[index] = first or last if None in (first, last) or first == last else None
        if first and last and first != last and optional_element(first) != last:
            mismatches.append(Mismatch("body", SubgraphRole.CARRIED, index + before, last, first))
    return tuple(outputs), mismatches


assert not ABSENT  # an omitted value is false like an unknown one, which the code above relies on
