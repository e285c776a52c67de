# SPDX-License-Identifier: Apache-2.0
"""What stands in a file: graphs, functions, nodes, attributes, types, tensors, metadata."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.inference.types.usual_types import is_usual, sight_of
from onnx_lint.ir.attributes import AttributeIndex
from onnx_lint.ir.columns.attribute_kinds import AttributeKind
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.documents.kinds import MODEL, OPERATOR_SET
from onnx_lint.ir.documents.roots import Roots, roots
from onnx_lint.ir.graph import Function, Graph, GraphKind, Node, Nodes, NodesOfGraphs
from onnx_lint.ir.nesting import Budget, with_nested
from onnx_lint.ir.parts import METADATA, Attribute, Metadata, Type, ValueInfos, metadata_lists
from onnx_lint.ir.places.place import ROOT
from onnx_lint.ir.tensors.suspects import SuspectTensors, find_suspects
from onnx_lint.model.loaded_file import LoadedFile
from onnx_lint.schema import Proto
from onnx_lint.spec.ir_versions import FIELDS

if TYPE_CHECKING:
    from onnx_lint.inference.types.distinct_types import TypeIndex
    from onnx_lint.ir.tensors.checksum import Digests
    from onnx_lint.ir.tensors.data_folder import DataFolder
    from onnx_lint.ir.tensors.external import ExternalData
    from onnx_lint.ir.tensors.sparse import StoredSparseTensor
    from onnx_lint.ir.tensors.stored_tensor import StoredTensor


class FileParts(LoadedFile):
    """The parts of a model, or of what else a file holds, each made once, when first asked for."""

    @cached_property
    def _roots(self) -> Roots:
        return roots(self.kind, self.document)

    @cached_property
    def main_graph(self) -> Graph:
        """The inference graph; an empty one when the model has none.

        In a file that holds a part of a graph by itself, what stands for the file around it.
        """
        return self._roots.graph or Graph(GraphKind.MAIN, self.proto.graph, ROOT.at("graph"))

    @cached_property
    def functions(self) -> list[Function]:
        """The model-local functions, those of an operator set, or the one of the file, in the order of the file."""
        return list(self._roots.functions)

    @cached_property
    def functions_are_bound(self) -> bool:
        """Whether functions state their domain and import operator sets.

        Those of an operator set had neither before the IR version that let models have functions.
        """
        return self.kind != OPERATOR_SET or self.effective_ir_version >= FIELDS["ModelProto.functions"].ir_version

    @cached_property
    def parametric_functions(self) -> list[Function]:
        """The functions that have attribute parameters, with or without a default."""
        return [function for function in self.functions if function.proto.attribute or function.proto.attribute_proto]

    @cached_property
    def training_graphs(self) -> list[Graph]:
        """The initialization graph and the algorithm of each TrainingInfoProto that has them."""
        graphs: list[Graph] = []
        for index, info in enumerate(self.proto.training_info):
            place = ROOT.at("training_info", index)
            if info.HasField("initialization"):
                graphs.append(Graph(GraphKind.INITIALIZATION, info.initialization, place.at("initialization")))
            if info.HasField("algorithm"):
                inference = self.main_graph
                graphs.append(
                    Graph(
                        GraphKind.ALGORITHM,
                        info.algorithm,
                        place.at("algorithm"),
                        parent=inference,
                        position=len(inference.nodes),
                    )
                )
        return graphs

    @cached_property
    def graphs(self) -> list[Graph]:
        """Every graph: main, function bodies, training, each followed by the graphs nested in it.

        Raises TooManyPartsError when there are more nodes, or graphs and functions, than `limits` has it. The loader
        asks first and gives a model that holds nothing in that case, so no rule meets the exception. The same goes for
        TooDeepError.
        """
        budget = Budget(self.limits)
        if self.kind in {MODEL, OPERATOR_SET}:
            budget.ask(len(self.document.functions))
        top = [self._roots.graph] if self._roots.graph is not None else []
        top += [function.body for function in self.functions]
        top += self.training_graphs
        return [graph for outer in top for graph in with_nested(outer, self._attribute_index, budget)]

    @cached_property
    def nested_graphs(self) -> list[Graph]:
        """The graphs that stand in attributes, in the order of `graphs`."""
        return [graph for graph in self.graphs if graph.kind is GraphKind.NESTED]

    @cached_property
    def annotations_of_nodes(self) -> frozenset[str]:
        """The annotations that any node has: fields of NodeProto such as `doc_string` and `metadata_props`."""
        return frozenset().union(*[graph.table.annotated for graph in self.graphs])

    def nodes_with(self, annotation: str) -> NodesOfGraphs:
        """The nodes that have an annotation, a field of NodeProto such as `doc_string`."""
        if annotation not in self.annotations_of_nodes:
            return NodesOfGraphs(())
        return NodesOfGraphs(graph.nodes_with(annotation) for graph in self.graphs)

    @cached_property
    def overloaded_nodes(self) -> NodesOfGraphs:
        """The nodes that name an overload of a function."""
        forms = {form for form in self.forms if form.overload}
        return NodesOfGraphs(graph.nodes_of(forms) for graph in self.graphs if forms)

    @cached_property
    def forms(self) -> set[NodeForm]:
        """What the nodes of all graphs and function bodies look like, apart from names."""
        return set[NodeForm]().union(*[graph.form_counts for graph in self.graphs])

    def graphs_with(self, field: str) -> list[Graph]:
        """The graphs, with function bodies where they have the field too, whose list or text `field` is not empty.

        Most graphs lack most of what they may have, so a rule that asks here first looks at few or none.
        """
        if field not in self._graphs_with:
            graphs = (
                self.graphs
                if field in _fields_of_functions()
                else [graph for graph in self.graphs if not graph.is_function]
            )
            self._graphs_with[field] = [graph for graph in graphs if getattr(graph.proto, field)]
        return self._graphs_with[field]

    @cached_property
    def _graphs_with(self) -> dict[str, list[Graph]]:
        return {}

    def nodes(self) -> Iterator[Node]:
        """Every node of every graph and function body."""
        for graph in self.graphs:
            yield from graph.nodes

    def attributes(self, where: Callable[[AttributeKind], bool] | None = None) -> Iterator[Attribute]:
        """Every attribute of every node, every default of a function's attribute parameter, and one by itself.

        With `where` those of which it is true; it is asked once for each distinct kind.
        """
        if self.graphs:  # which fills the index
            yield from self._attribute_index.where(where or _is_any)

    @property
    def attribute_kinds(self) -> Iterable[AttributeKind]:
        """The distinct kinds of the attributes."""
        return self._attribute_index.kinds if self.graphs else ()

    def count_attributes(self, where: Callable[[AttributeKind], bool]) -> int:
        """How many attributes there are of which `where` is true."""
        return self._attribute_index.count(where) if self.graphs else 0

    @cached_property
    def _attribute_index(self) -> AttributeIndex:
        return AttributeIndex()

    def types(self, where: Callable[[Proto], bool] | None = None) -> Iterator[Type]:
        """Every TypeProto: of value infos, of attributes, and one by itself; element types after what holds them.

        With `where` those of which it is true; it is asked once for each distinct TypeProto of the value infos.
        """
        yield from self._type_index.where(where or _is_any)

    @cached_property
    def _type_index(self) -> TypeIndex:
        from onnx_lint.inference.types.distinct_types import TypeIndex  # late, as most types are usual

        return TypeIndex(self._graphs_of_value_infos, self._attribute_index, self._roots.types)

    @cached_property
    def has_unusual_types(self) -> bool:
        """Whether a type is not usual, see onnx_lint.inference.types.usual_types: few rules look at usual ones."""
        return self._has_types_elsewhere or not all(map(is_usual, self._types_of_value_infos))

    @cached_property
    def has_odd_variables(self) -> bool:
        """Whether a dimension variable may be no C90 identifier."""
        return self._has_types_elsewhere or not all(
            sight_of(kind).has_plain_variables for kind in self._types_of_value_infos
        )

    @cached_property
    def _has_types_elsewhere(self) -> bool:
        return bool(self._roots.types) or any(map(_holds_types, self.attribute_kinds))

    @cached_property
    def _types_of_value_infos(self) -> set[bytes]:
        """The distinct serialized TypeProtos of the value infos; empty for an absent one."""
        lists = [values.types for graph in self._graphs_of_value_infos for values in graph.value_infos.values()]
        return set[bytes]().union(*lists)

    @cached_property
    def annotated_value_infos(self) -> ValueInfos:
        """The value infos that have documentation or metadata."""
        return ValueInfos(
            [
                (graph, role, values.annotated)
                for graph in self._graphs_of_value_infos
                for role, values in graph.value_infos.items()
                if values.annotated
            ]
        )

    @cached_property
    def _graphs_of_value_infos(self) -> list[Graph]:
        """The graphs without the functions that have no value infos, which are most functions."""
        return [graph for graph in self.graphs if not graph.is_function or graph.proto.value_info]

    @cached_property
    def external_data(self) -> list[ExternalData]:
        """The tensors that are marked as stored outside the file, or that say where."""
        found = self.tensors.external
        if not found:
            return []
        from onnx_lint.ir.tensors.external import ExternalData  # late, as most models have none

        return [ExternalData(tensor, self.data_folder, self.digests) for tensor in found.origins]

    @cached_property
    def data_folder(self) -> DataFolder | None:
        """The folder in which files of external data are looked for; None where there is no place to look for them."""
        from onnx_lint.ir.tensors.data_folder import DataFolder  # late, as above

        if self.given_folder is not None or self.directory is None:
            return self.given_folder
        return DataFolder(self.directory, self.trusted_folders, self.limits.external_bytes)

    @cached_property
    def digests(self) -> Digests | None:
        """The digests of the files of external data; None where there is no place to look for them."""
        from onnx_lint.ir.tensors.checksum import Digests  # late, as above

        return Digests(self.data_folder) if self.data_folder is not None else None

    @cached_property
    def tensors(self) -> SuspectTensors:
        """The tensors about whose values a rule may have something to say, and all sparse tensors."""
        graphs = self.graphs  # which fills the index
        return find_suspects(graphs, self._attribute_index, self.source, self.payloads)

    @cached_property
    def judged_tensors(self) -> Sequence[StoredTensor]:
        """The tensors whose values are not evidently right, those in another file as they are there."""
        if not self.external_data or self.data_folder is None:
            return self.tensors.unproved
        from onnx_lint.ir.tensors import outside  # late, as above

        return (*self.tensors.unproved, *outside.dense(self.external_data, self.data_folder))

    @cached_property
    def sparse_tensors(self) -> Sequence[StoredSparseTensor]:
        """Every sparse tensor; the parts whose values are in another file as they are there."""
        if not (self.tensors.sparse and self.external_data) or self.data_folder is None:
            return self.tensors.sparse
        from onnx_lint.ir.tensors import outside  # late, as above

        return tuple(outside.sparse(self.tensors.sparse, self.external_data, self.data_folder))

    def release(self) -> None:
        """Take apart what refers to each other, when nobody needs the model any more: its memory is free at once."""
        made = vars(self)
        for part in (*made.get("graphs", ()), *made.get("functions", ())):
            vars(part).clear()
        made.clear()

    def metadata(self) -> Iterator[Metadata]:
        """Every `metadata_props`: of the model, graphs, functions, nodes, value infos and tensors."""
        return self._metadata(self.nodes_with(METADATA))

    def metadata_with_suspect_keys(self) -> Iterator[Metadata]:
        """Every `metadata_props` that may have a key twice."""
        return self._metadata(NodesOfGraphs(Nodes(graph, graph.table.repeated_keys) for graph in self.graphs))

    def metadata_beside_nodes(self) -> Iterator[Metadata]:
        """Every `metadata_props` but those of nodes."""
        return self._metadata(())

    def _metadata(self, nodes: Iterable[Node]) -> Iterator[Metadata]:
        holders = self.graphs_with(METADATA), nodes, self.annotated_value_infos
        return metadata_lists(self.proto, *holders, self.tensors.with_metadata)


@functools.cache
def _fields_of_functions() -> frozenset[str]:
    return frozenset(field.name for field in schema.message("FunctionProto").DESCRIPTOR.fields)


def _is_any(_: object) -> bool:
    return True


def _holds_types(kind: AttributeKind) -> bool:
    return "tp" in kind.fields or "type_protos" in kind.fields
