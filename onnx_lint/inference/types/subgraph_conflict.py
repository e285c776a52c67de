# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of subgraphs whose types do not agree with the control-flow operator."""

from __future__ import annotations

from onnx_lint.common.record import Record
from onnx_lint.inference.types.conflict import CallSite, Note, differ_in_option, site_notes
from onnx_lint.inference.types.subgraph_types import Mismatch, SubgraphRole
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.places.place import Place
from onnx_lint.wording import quote


class SubgraphConflict(Record):
    """An input or output of a subgraph whose type is not the one that its control-flow operator requires."""

    node: Node
    graph: Graph
    mismatch: Mismatch
    site: CallSite | None

    @property
    def place(self) -> Place:
        """The input or output of the subgraph."""
        return self.graph.at(self._field, self.mismatch.index)

    @property
    def allowed(self) -> str:
        """The type that the operator requires."""
        return self.mismatch.expected

    @property
    def subject(self) -> str | None:
        """The name of the node."""
        return self.node.name or None

    @property
    def lacks_conversion(self) -> bool:
        """True if one of the types is the optional type of the other."""
        return differ_in_option(self.mismatch.found, self.mismatch.expected)

    @property
    def _field(self) -> str:
        return "input" if self.mismatch.role is SubgraphRole.INPUT else "output"

    def describe(self) -> str:
        """Return the type and the one that the operator requires."""
        role, index = self.mismatch.role, self.mismatch.index
        found, expected = self.mismatch.found, self.mismatch.expected
        names = self.graph.input_names if role is SubgraphRole.INPUT else self.graph.output_names
        what = f"{self._field} {index} {quote(names[index])} of {self.graph.describe()}"
        node = self.node.describe()
        match role:
            case SubgraphRole.INPUT:
                return f"{what} is declared as {found}, but {node} supplies {expected}"
            case SubgraphRole.CONDITION:
                return f"{what} is {found}, but the condition of {node} is {expected}"
            case SubgraphRole.BRANCH:
                return f"{what} is {found}, but the other branch of {node} produces {expected}"
            case SubgraphRole.CARRIED:
                return f"{what} is {found}, but the carried value of {node} begins as {expected}"
            case SubgraphRole.SCAN_OUTPUT:
                return f"{what} is {found}, but each scan output of {node} is {expected}"
            case SubgraphRole.MODIFIED:
                return f"{what} is {found}, but {node} requires the type of the input, {expected}"

    def notes(self) -> list[Note]:
        """Return the node, and the call that supplies the types."""
        return [(self.node.place, self.node.describe()), *site_notes(self.site)]
