# SPDX-License-Identifier: Apache-2.0
"""What follows from the parts of a model: imports, operators, names, calls, types and shapes of values."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from onnx_lint.common.cached import cached_property
from onnx_lint.ir.documents.kinds import MODEL, OPERATOR_SET
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.names.declarations import RepeatedDeclarations, repeated_declarations
from onnx_lint.ir.names.resolution import Resolution, resolve
from onnx_lint.ir.operators.control_flow import ControlFlow
from onnx_lint.ir.operators.function_calls import Calls
from onnx_lint.ir.operators.imports import Imports, domains_in_use
from onnx_lint.ir.operators.operators import Operators
from onnx_lint.model.file_parts import FileParts
from onnx_lint.schema import Proto
from onnx_lint.spec.operators.declared import declared_set
from onnx_lint.spec.releases import normalized_domain

if TYPE_CHECKING:
    from onnx_lint.inference.flow.dimension_equations import Contradiction
    from onnx_lint.inference.flow.knowledge import Knowledge
    from onnx_lint.inference.flow.provenance import Provenance
    from onnx_lint.inference.flow.value_flow import ValueFlow
    from onnx_lint.inference.shapes.dims import Shape
    from onnx_lint.ir.operators.bound_nodes import BoundNodes
    from onnx_lint.ir.operators.named_element_types import NamedElementType
    from onnx_lint.ir.sharding import NodeDeviceConfiguration, ShardingSpec
    from onnx_lint.model.newer_features import Feature


class Analyses(FileParts):
    """What follows from the parts of a model, each answer worked out once, when first asked for."""

    @cached_property
    def imports(self) -> Imports:
        """The operator sets that the model and its functions import."""
        stated = self.proto.opset_import if self.kind == MODEL else None
        return Imports(stated, self.functions, self._supposed or _supposed_imports(self.kind, self.document))

    @cached_property
    def domains_in_use(self) -> dict[int | None, frozenset[str]]:
        """The domains that the nodes of each function have, by its index, and those outside of functions under None."""
        return domains_in_use(self.graphs)

    @cached_property
    def resolution(self) -> Resolution:
        """The node inputs whose names are defined too late or not at all, and the cycles among the nodes."""
        return resolve(self.graphs)

    @cached_property
    def repeated_declarations(self) -> dict[Graph, RepeatedDeclarations]:
        """For each graph the values that several of its lists declare, not all alike; graphs without any left out."""
        found = ((graph, repeated_declarations(graph)) for graph in self.graphs if not graph.is_function)
        return {graph: repeated for graph, repeated in found if repeated is not None}

    @cached_property
    def calls(self) -> Calls:
        """The nodes that call model-local functions, and which."""
        return Calls(self.functions, self.graphs, self.effective_ir_version)

    @cached_property
    def control_flow(self) -> ControlFlow:
        """The control-flow nodes, and what they supply to their subgraphs."""
        return ControlFlow(self.calls, self.imports, self.effective_ir_version)

    @cached_property
    def operators(self) -> Operators:
        """What the operator of each node stands for: a signature, a function of the model, or nothing known."""
        schemas = self.operator_schemas
        if self.kind == OPERATOR_SET and self.document.opset_version >= 1:
            # The bodies of its functions use the operators of the set itself.
            schemas = schemas.with_declared(declared_set(self.document))
        return Operators(self.graphs, self.imports, self.calls, schemas, self.effective_ir_version)

    @cached_property
    def bound_nodes(self) -> list[BoundNodes]:
        """The nodes of functions whose attributes refer to parameters, with what calls and defaults give for these."""
        if not self.parametric_functions or not any(kind.is_reference for kind in self.attribute_kinds):
            return []
        from onnx_lint.ir.operators.bound_nodes import bound_nodes  # late, as few models have any

        return bound_nodes(self.parametric_functions, self.graphs, self.operators)

    def named_element_types(self, numbers: Set[int]) -> Iterator[NamedElementType]:
        """Yield the attributes that name one of these element types, `to` of Cast for instance."""
        from onnx_lint.ir.operators.named_element_types import named_element_types  # late: for old models only

        return named_element_types(self.operators, self.bound_nodes, numbers)

    @cached_property
    def value_flow(self) -> ValueFlow:
        """What is known of the values, and where types and shapes are at odds with operators and declarations."""
        return self._follow_values(keeps_all=False)

    def _follow_values(self, *, keeps_all: bool) -> ValueFlow:
        # Late: a broken file needs none, nor do rules about other things (docs/performance.md: values-asked).
        from onnx_lint.inference.flow.frames import Ground
        from onnx_lint.inference.flow.walk import follow_values

        main = self.main_graph if self.graphs else None
        training, functions = self.training_graphs, self.functions
        known = self.operators, self.imports, self.control_flow
        ground = Ground(main, training, functions, *known, self._read_outside, self.crashes)
        return follow_values(ground, keeps_all=keeps_all)

    def _read_outside(self, proto: Proto) -> bytes | None:
        """The values of a small tensor in a file beside the model, where that may be looked at and has them."""
        if self.data_folder is None:
            return None
        from onnx_lint.ir.tensors.outside import small_values  # late, as few models have any

        return small_values(proto, self.main_graph, self.data_folder)

    @cached_property
    def dimension_contradictions(self) -> list[Contradiction]:
        """Where no sizes of the dimension variables make true what declarations and nodes say of them."""
        from onnx_lint.inference.flow.dimension_equations import contradictions  # late: only asked for by name

        return contradictions(self.value_flow, self.crashes)

    @cached_property
    def provenance(self) -> Provenance:
        """What is known of the values of every graph and function body, and how it came to be."""
        from onnx_lint.inference.flow.provenance import Provenance  # late: no rule needs it

        return Provenance(self._follow_values(keeps_all=True), self.operators, self.graphs)

    @property
    def shape_knowledge(self) -> Knowledge | None:
        """How many values have a known shape, and where knowledge ended; None where the values were not followed."""
        return self.value_flow.knowledge if "value_flow" in self.__dict__ else None

    def shape_of(self, name: str, graph: Graph | None = None) -> Shape:
        """The shape of a value that a graph sees, the main graph where none is given, as far as it follows.

        Its dimensions are sizes, variables, or None for what is unknown. In a function body those of the first call.
        """
        return self.value_flow.shape_of(name, graph)

    @cached_property
    def node_device_configurations(self) -> list[NodeDeviceConfiguration]:
        """Every device configuration of every node."""
        from onnx_lint.ir.sharding import node_device_configurations  # late, as few models have any

        return node_device_configurations(self.nodes_with("device_configurations"))

    @cached_property
    def sharding_specs(self) -> list[ShardingSpec]:
        """Every sharding of an input or output of a node."""
        from onnx_lint.ir.sharding import sharding_specs  # as above

        return list(sharding_specs(self.node_device_configurations))

    def features_beyond(self, ir_version: int) -> Iterator[Feature]:
        """What the model uses that a consumer which knows `ir_version` and earlier ones has never heard of.

        Fields that no clause judges on their own are left out: they only stand in messages that are told themselves.
        """
        # Late, as few models are that old.
        from onnx_lint.model.newer_features import Content, features_beyond, undated_types

        types = self._type_index if self.has_unusual_types else None
        imported = map(self.imports.domains, [None, *self.functions])
        content = Content(
            self.proto,
            undated_types=undated_types(self.standard, imported) if types is not None else frozenset(),
            graphs=self.graphs,
            functions=self.functions,
            nodes_with=self.nodes_with,
            overloaded_nodes=self.overloaded_nodes,
            metadata_beside_nodes=self.metadata_beside_nodes(),
            attributes=self._attribute_index,
            types=types,
            tensors=self.tensors,
            named_types=self.named_element_types,
        )
        return features_beyond(content, ir_version)


def _supposed_imports(kind: str, document: Proto) -> dict[str, int]:
    """The operator sets that are imported outside of functions where the document itself cannot say so.

    An operator set counts as imported by itself, and the domain of a function as one in which it may stand: its version
    is that of the import of whoever calls it.
    """
    if kind == "FunctionProto":
        return {normalized_domain(document.domain): 1}
    if kind == OPERATOR_SET:
        domains = [document.domain, *(function.domain for function in document.functions)]
        return dict.fromkeys(map(normalized_domain, domains), max(document.opset_version, 1))
    return {}
