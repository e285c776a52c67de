# SPDX-License-Identifier: Apache-2.0
"""Values that are declared with another type than their node produces."""

from __future__ import annotations

from onnx_lint.common.record import Record
from onnx_lint.inference.types.conflict import (
    CallSite,
    Note,
    definition_of,
    differ_in_option,
    site_notes,
)
from onnx_lint.inference.types.operand_conflict import gives, version_hint
from onnx_lint.inference.types.type_string import ValueType, describe_types
from onnx_lint.inference.types.typed_operator import allowed_types
from onnx_lint.ir.graph import Definition, Graph
from onnx_lint.ir.operators.mismatch import attributes_with, describe_schema
from onnx_lint.ir.places.place import Place
from onnx_lint.spec.operators import OperatorSchema, OperatorSchemas
from onnx_lint.wording import quote


class DeclaredValue(Record):
    """An output or other value with its declaration in a list of its graph."""

    graph: Graph
    field: str
    """The list with the declaration: `output` or `value_info`."""
    index: int

    @property
    def place(self) -> Place:
        """The declaration."""
        return self.graph.at(self.field, self.index)

    @property
    def subject(self) -> str:
        """The name of the value."""
        return (self.graph.output_names if self.field == "output" else self.graph.value_info_names)[self.index]

    @property
    def definition(self) -> Definition | None:
        """The definition of the value."""
        return definition_of(self.graph, self.subject)

    def stated(self, declared: str) -> str:
        """Return the beginning of a message: the value and its declared type or shape."""
        what = f"{self.field.replace('_', ' ')} {quote(self.subject)} of {self.graph.describe()}"
        return f"{what} is declared as {declared}"


class DeclarationConflict(DeclaredValue):
    """A value whose declared type contradicts the inferred one."""

    declared: ValueType
    inferred: ValueType
    site: CallSite | None

    @property
    def allowed(self) -> str:
        """The inferred type."""
        return self.inferred

    @property
    def lacks_conversion(self) -> bool:
        """True if one of the types is the optional type of the other."""
        return differ_in_option(self.declared, self.inferred)

    def describe(self) -> str:
        """Return the declared type and the inferred one."""
        maker = self.definition.describe() if self.definition is not None else "the node"
        either = "; either of the two is wrong" if self.cast_to is not None else ""
        return f"{self.stated(self.declared)}, but {maker} is {self.inferred}{either}"

    @property
    def cast_to(self) -> Place | None:
        """The attribute of a Cast that decides the type: converters change one and forget the other."""
        node = self.definition.node if self.definition is not None else None
        index = next(attributes_with(node, {"to"}), None) if node is not None and node.op_type == "Cast" else None
        return None if node is None or index is None else node.place.at("attribute", index)

    def notes(self) -> list[Note]:
        """Return the definition of the value, and the call that supplies its type."""
        found: list[Note] = [] if self.definition is None else [(self.definition.place, "defines the value")]
        if self.cast_to is not None:
            found.append((self.cast_to, "the other suspect: what the Cast converts to"))
        return found + site_notes(self.site)


class ImpossibleDeclaration(DeclaredValue):
    """A value whose declared type the operator of its node can never produce."""

    declared: ValueType
    schema: OperatorSchema
    schemas: OperatorSchemas
    """The source of the other versions of the operator."""
    site: CallSite | None

    @property
    def allowed(self) -> str:
        """The types that the signature allows for the output."""
        return describe_types(self._given)

    @property
    def lacks_conversion(self) -> bool:
        """True if the operator produces the type inside the declared one, or the optional type of the declared one."""
        return any(differ_in_option(self.declared, given) for given in self._given)

    @property
    def _given(self) -> frozenset[ValueType]:
        output = self.schema.output_at(self._position)
        return allowed_types(output) if output is not None else frozenset()

    @property
    def _position(self) -> int:
        return self._definition.index

    @property
    def _definition(self) -> Definition:
        definition = self.graph.first_definition(self.subject)
        assert definition is not None, "the value comes from a node of the graph"
        return definition

    def describe(self) -> str:
        """Return the declared type, and the version that would produce it;
        `allowed` lists the types of this version.
        """
        definition = self._definition
        hint = version_hint(self.schema, self.schemas, lambda schema: gives(schema, definition.index, self.declared))
        reason = f"{describe_schema(self.schema)} does not produce it{hint}"
        return f"{self.stated(self.declared)}, which {definition.describe()} cannot be: {reason}"

    def notes(self) -> list[Note]:
        """Return the definition of the value, and the call of the enclosing function."""
        definition = self._definition
        return [(definition.place, "defines the value"), *site_notes(self.site)]
