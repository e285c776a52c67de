# SPDX-License-Identifier: Apache-2.0
"""The change of a node with which its shapes may fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from onnx_lint.common.record import EMPTY, Record
from onnx_lint.inference.flow.repairs.edits import with_attributes
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.inference.shapes.operands import AttributeValue
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.proposals import Proposal
from onnx_lint.wording import describe_list, quote

if TYPE_CHECKING:
    from onnx_lint.ir.operators.proposals import EditsOf

AttributeNumber = int | tuple[int, ...]
"""A number or a list of numbers that is tried for an attribute."""


class Change(Record):
    """Other values of attributes, or another fact of an input."""

    text: str
    edits: EditsOf
    attributes: Mapping[str, AttributeValue] = EMPTY
    inputs: Mapping[int, Fact] = EMPTY
    """The facts of the changed inputs."""
    is_of_several: bool = False
    """True if two changes of its kind may be proposed: the nearest numbers that divide a dimension."""
    must_add_no_finding: bool = False
    """True if it is not proposed if any finding is new, even one that the fixed finding had hidden."""

    @property
    def proposal(self) -> Proposal:
        """The change as a proposal. With another axis a node often runs as well, and computes something else."""
        return Proposal(
            self.text,
            self.edits,
            must_add_no_finding=self.must_add_no_finding,
            must_be_only="axis" in self.attributes,
        )


def change_of_attributes(node: Node, values: Mapping[str, AttributeNumber], *, is_of_several: bool = False) -> Change:
    """Return the change of attributes of a node to other numbers."""
    texts = [f"{name}={describe_list(value) if isinstance(value, tuple) else value}" for name, value in values.items()]
    return Change(
        " and ".join(texts), lambda _: with_attributes(node, values), attributes=values, is_of_several=is_of_several
    )


def describe_input(node: Node, index: int) -> str:
    """Return the number and the name of an input."""
    return f"input {index} {quote(node.inputs[index])}"
