# SPDX-License-Identifier: Apache-2.0
"""Where the types of a model are at odds: what the flow of types found, for rules to put into words."""

from __future__ import annotations

from enum import Enum

from onnx_lint.model.graph import Graph, Node
from onnx_lint.model.typing.typed_operator import Disallowed, DisallowedOutput, Inputs, Problem, allowed_types
from onnx_lint.model.typing.value_type import ValueType, is_optional, optional_element, optional_of
from onnx_lint.record import Record
from onnx_lint.spec.operators import OperatorSchema


class CallSite(Record):
    """The call by which the types came into a function body: the first one that led to the finding."""

    node: Node
    inputs: Inputs
    """The types of the arguments."""


class OperandConflict(Record):
    """A node whose operands' types the signature does not allow."""

    node: Node
    schema: OperatorSchema
    problem: Problem
    inputs: Inputs
    site: CallSite | None

    @property
    def is_of_output(self) -> bool:
        """Whether it is about an output of the node, and not about its inputs."""
        return isinstance(self.problem, DisallowedOutput)

    @property
    def lacks_conversion(self) -> bool:
        """Whether the operator would take the input if it were put into an optional type, or taken out of one."""
        kind = self.inputs[self.problem.index] if isinstance(self.problem, Disallowed) else None
        parameter = self.schema.input_at(self.problem.index)
        if not kind or parameter is None:
            return False
        converted = optional_element(kind) if is_optional(kind) else optional_of(kind)
        return converted in allowed_types(parameter)


class DeclarationConflict(Record):
    """A value that is declared as another type than follows from the node that makes it."""

    graph: Graph
    field: str
    """`output` or `value_info`: the list that declares it."""
    index: int
    name: str
    declared: ValueType
    inferred: ValueType
    site: CallSite | None

    @property
    def lacks_conversion(self) -> bool:
        """Whether one of the types is the optional type of the other."""
        return _differ_in_option(self.declared, self.inferred)


class SubgraphRole(Enum):
    """What the type of a subgraph's input or output has to agree with."""

    INPUT = "input"
    """What the operator supplies there."""
    CONDITION = "condition"
    """The condition that the body of a Loop hands on, which is a tensor of bool."""
    BRANCH = "branch"
    """The output of the other branch of an If."""
    CARRIED = "carried"
    """What goes in at the beginning: values carried from one run of the body to the next keep their type."""


class SubgraphConflict(Record):
    """An input or output of a subgraph that is not of the type that its control-flow operator needs there."""

    node: Node
    graph: Graph
    role: SubgraphRole
    index: int
    """Which input or output of the subgraph."""
    found: ValueType
    expected: ValueType
    site: CallSite | None

    @property
    def lacks_conversion(self) -> bool:
        """Whether one of the types is the optional type of the other."""
        return _differ_in_option(self.found, self.expected)


class TypeFlow:
    """What following the types through a model brought."""

    def __init__(self) -> None:
        self.types: dict[str, ValueType | None] = {}
        """The types of the values of the main graph; None, or no entry, where it is not known."""
        self.operands: list[OperandConflict] = []
        self.declarations: list[DeclarationConflict] = []
        self.subgraphs: list[SubgraphConflict] = []


def _differ_in_option(one: ValueType, other: ValueType) -> bool:
    return one == optional_of(other) or other == optional_of(one)
