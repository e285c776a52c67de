# SPDX-License-Identifier: Apache-2.0
"""The Model, which the loader builds and the rules use."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Self

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import EMPTY
from onnx_lint.inference.flow.frames import FlowInput
from onnx_lint.inference.flow.walk import follow_values
from onnx_lint.inference.types.declared_types import DeclaredTypes
from onnx_lint.inference.types.usual_types import sight_of
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import Source
from onnx_lint.ir.attributes import AttributeIndex
from onnx_lint.ir.columns.attribute_kinds import AttributeKind
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.documents.kinds import MODEL_KIND, OF_MODELS, OPERATOR_SET_KIND, describe_kind
from onnx_lint.ir.documents.roots import Roots, roots, supposed_imports, values
from onnx_lint.ir.fault import Fault, FaultKind
from onnx_lint.ir.graph import Function, Graph, GraphKind, Node, Nodes, NodesOfGraphs
from onnx_lint.ir.names.declarations import RepeatedDeclarations, repeated_declarations
from onnx_lint.ir.names.plain_names import has_plain_names
from onnx_lint.ir.names.resolution import Resolution, UndefinedName, resolve
from onnx_lint.ir.nesting import with_nested
from onnx_lint.ir.operators.attribute_faults import has_faulty_attributes
from onnx_lint.ir.operators.control_flow import ControlFlow
from onnx_lint.ir.operators.function_calls import Calls
from onnx_lint.ir.operators.imports import Importer, Imports, domains_in_use
from onnx_lint.ir.operators.mismatch import has_mismatches
from onnx_lint.ir.operators.named_element_types import named_element_types
from onnx_lint.ir.operators.operators import Operators
from onnx_lint.ir.parts import METADATA, Attribute, Metadata, Type, ValueInfos, metadata_lists
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.document_places import DocumentPlaces
from onnx_lint.ir.places.place import ROOT, Place, PlaceKey
from onnx_lint.ir.sharding import node_device_configurations, sharding_specs
from onnx_lint.ir.tensors.suspects import SuspectTensors, find_suspects
from onnx_lint.model.indexed_fields import fields_sought_everywhere
from onnx_lint.model.newer_features import SearchedParts, features_beyond, undated_types
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import later_element_types
from onnx_lint.spec.ir_versions import FREE_INITIALIZERS_SINCE, LATER_FIELDS, later_fields
from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas
from onnx_lint.spec.operators.declared import declared_set
from onnx_lint.spec.operators.store import ONNXRUNTIME
from onnx_lint.spec.releases import (
    DOMAIN_ALIAS,
    NEWEST_IR_VERSION,
    OLDEST_LOADED_IR_VERSION,
    normalized_domain,
    release_of_edition,
    release_of_opset,
)
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard
from onnx_lint.spec.target import NO_TARGET, Target

if TYPE_CHECKING:
    from onnx_lint.inference.flow.dimension_equations import Contradiction, FixedSize
    from onnx_lint.inference.flow.knowledge import Knowledge
    from onnx_lint.inference.flow.provenance import Provenance
    from onnx_lint.inference.flow.value_flow import ValueFlow
    from onnx_lint.inference.shapes.dims import Shape
    from onnx_lint.ir.long_lists import LeftInFile
    from onnx_lint.ir.names.uses import ValueUses
    from onnx_lint.ir.operators.bound_nodes import BoundNodes
    from onnx_lint.ir.operators.named_element_types import NamedElementType
    from onnx_lint.ir.places.long_numbers import LongNumber
    from onnx_lint.ir.sharding import NodeDeviceConfiguration, ShardingSpec
    from onnx_lint.ir.tensors.checksum import Digests
    from onnx_lint.ir.tensors.data_folder import DataFolder
    from onnx_lint.ir.tensors.equal import EqualInitializers
    from onnx_lint.ir.tensors.external import ExternalData
    from onnx_lint.ir.tensors.sparse import StoredSparseTensor
    from onnx_lint.ir.tensors.stored_tensor import StoredTensor
    from onnx_lint.model.newer_features import Feature


class Model:
    """A model file, or a file with another kind of document, and everything that follows from it.

    Each part and each result is computed once, at its first use.
    """

    def __init__(
        self,
        proto: Proto | None,
        source: Source,
        *,
        faults: tuple[Fault, ...] = (),
        payloads: Mapping[PlaceKey, tuple[Payload, ...]] | None = None,
        long_lists: Mapping[PlaceKey, tuple[Payload, ...]] = EMPTY,
        form: str = "binary",
        kind: str = MODEL_KIND,
        file_name: str = "",
        directory: str | None = None,
        trusted_folders: Sequence[str] = (),
        given_folder: DataFolder | None = None,
        standard: Standard = DEFAULT_STANDARD,
        limits: Limits = DEFAULT_LIMITS,
        schemas: OperatorSchemas = BUILT_IN,
        target: Target = NO_TARGET,
        opset_imports: Mapping[str, int] = EMPTY,
    ) -> None:
        self.loaded = proto is not None
        """True if there is a message; if not, only `faults` is of use."""
        self.kind = kind
        """The message that the file holds: `ModelProto`, or one of the other documents of the specification."""
        if proto is None:
            proto = (schema.outline if kind == MODEL_KIND else schema.message)(kind)()
        self._values: list[tuple[Proto, Place]] | None = None
        self.document: Proto = schema.outlined(proto) if kind == MODEL_KIND else proto
        """The message that the file holds, of any kind; a model in outline."""
        self.proto: Proto = self.document if kind == MODEL_KIND else schema.outline(MODEL_KIND)()
        """The model in outline: nodes, initializers and value_info are bytes, see onnx_lint.ir.columns.nodes.

        Empty if the file holds something else.
        """
        self.source = source
        self.faults = faults
        self.payloads: Mapping[PlaceKey, tuple[Payload, ...]] = payloads or {}
        self._long_lists = long_lists
        self.form = form
        """`binary`, `textproto` or `json`."""
        self.file_name = file_name
        """The name of the file, without its folder; empty if it has none."""
        self.directory = directory
        """The folder of the model file, in which external data is looked up; None if it must not be looked up."""
        self.trusted_folders = trusted_folders
        """The folders into which links to files of external data are followed."""
        self.given_folder = given_folder
        """The files beside the model, if they are not in a folder of the file system."""
        self.standard = standard
        """The edition and variant of the specification."""
        self.limits = limits
        """The limits on the model; exceeding one of them is a finding."""
        self.operator_schemas = schemas
        """The known operators."""
        self.target = target
        """The intended consumer of the model."""
        self.crashes = Crashes()
        """The bugs in computations on the model."""
        # The imports to assume for a graph or node without a model; any other file states its imports.
        self._supposed = opset_imports if kind in OF_MODELS else EMPTY

    def with_faults(self, faults: tuple[Fault, ...]) -> Self:
        """Return the same file with these faults of its bytes."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, faults=faults)
        return made

    @cached_property
    def ir_version(self) -> int:
        """The IR version that the model or operator set states; 0 if it states none, and for another document."""
        return int(self.document.ir_version) if self.kind in {MODEL_KIND, OPERATOR_SET_KIND} else 0

    @cached_property
    def effective_ir_version(self) -> int:
        """The IR version that decides which features are allowed: the newest if the stated one is missing or unknown.

        A missing or unknown version is one finding and must not lead to a hundred others.
        """
        return self.ir_version if 1 <= self.ir_version <= NEWEST_IR_VERSION else NEWEST_IR_VERSION

    def faults_of(self, kind: FaultKind) -> Iterator[Fault]:
        """Yield the faults of one kind in the file, in file order."""
        return (fault for fault in self.faults if fault.kind is kind)

    def values(self) -> Iterator[tuple[Proto, Place]]:
        """Yield the sequences, maps and optionals of a file that holds a value, each with its place.

        They are kept after a complete iteration. A caller that only checks for too many stops early, and nothing is
        kept.
        """
        if self._values is not None:
            yield from self._values
            return
        found: list[tuple[Proto, Place]] = []
        for item in values(self.document, ROOT):
            found.append(item)
            yield item
        self._values = found

    def maps(self) -> Iterator[tuple[Proto, Place]]:
        """Yield the maps among the values."""
        return ((value, place) for value, place in self.values() if value.DESCRIPTOR.name == "MapProto")

    def sequences(self) -> Iterator[tuple[Proto, Place]]:
        """Yield the sequences among the values, including those with the values of a map."""
        return ((value, place) for value, place in self.values() if value.DESCRIPTOR.name == "SequenceProto")

    def long_numbers(self) -> Iterator[LongNumber]:
        """Yield the numbers of the file that take more bytes than they need; nothing for text or unreadable bytes."""
        from onnx_lint.ir.places.long_numbers import long_numbers

        return long_numbers(self.source, self.kind) if self.loaded and self.form == "binary" else iter(())

    def describe(self) -> str:
        """Return the name of the model, or of another document, for messages."""
        return describe_kind(self.kind)

    @cached_property
    def places(self) -> DocumentPlaces:
        """The bytes of each place of the file, and the names around it."""
        return DocumentPlaces(self.document, self.source, self.form)

    # --- the parts of the file, each computed once, at its first use

    @cached_property
    def left_in_file(self) -> LeftInFile | None:
        """The attribute values of nodes that the loader left in the file; None if there are none."""
        if not (self._long_lists or self.payloads):
            return None
        from onnx_lint.ir.long_lists import LeftInFile

        return LeftInFile(self.source, self._long_lists, self.payloads)

    @cached_property
    def _roots(self) -> Roots:
        return roots(self.kind, self.document, self.left_in_file)

    @cached_property
    def main_graph(self) -> Graph:
        """The inference graph; an empty one if the model has none.

        For a file with a part of a graph, it is a placeholder for the rest.
        """
        return self._roots.graph or Graph(GraphKind.MAIN, self.proto.graph, ROOT.at("graph"))

    @cached_property
    def functions(self) -> list[Function]:
        """The model-local functions, those of an operator set, or the one of the file, in the order of the file."""
        return list(self._roots.functions)

    @cached_property
    def functions_are_bound(self) -> bool:
        """True if functions must state their domain and import operator sets.

        Those of an operator set had neither before the IR version that introduced functions in models.
        """
        return (
            self.kind != OPERATOR_SET_KIND
            or self.effective_ir_version >= LATER_FIELDS["ModelProto.functions"].ir_version
        )

    @cached_property
    def parametric_functions(self) -> list[Function]:
        """The functions that have attribute parameters, with or without a default."""
        return [function for function in self.functions if function.proto.attribute or function.proto.attribute_proto]

    @cached_property
    def training_graphs(self) -> list[Graph]:
        """The initialization graph and the algorithm of each TrainingInfoProto, if present."""
        graphs: list[Graph] = []
        finish = self.left_in_file.finish if self.left_in_file is not None else None
        for index, info in enumerate(self.proto.training_info):
            place = ROOT.at("training_info", index)
            if info.HasField("initialization"):
                where = place.at("initialization")
                graphs.append(Graph(GraphKind.INITIALIZATION, info.initialization, where, finish=finish))
            if info.HasField("algorithm"):
                inference = self.main_graph
                graphs.append(
                    Graph(
                        GraphKind.ALGORITHM,
                        info.algorithm,
                        place.at("algorithm"),
                        parent=inference,
                        position=len(inference.nodes),
                        finish=finish,
                    )
                )
        return graphs

    @cached_property
    def graphs(self) -> list[Graph]:
        """Every graph: main, function bodies, training, each followed by the graphs nested in it.

        Raises TooDeepError. The loader checks this first and then returns an empty model, so that no rule gets the
        exception.
        """
        top = [self._roots.graph] if self._roots.graph is not None else []
        top += [function.body for function in self.functions]
        top += self.training_graphs
        return [graph for outer in top for graph in with_nested(outer, self._attribute_index)]

    @cached_property
    def nested_graphs(self) -> list[Graph]:
        """The graphs in attributes, in the order of `graphs`."""
        return [graph for graph in self.graphs if graph.kind is GraphKind.NESTED]

    @cached_property
    def annotations_of_nodes(self) -> frozenset[str]:
        """The annotations that any node has: fields of NodeProto such as `doc_string` and `metadata_props`."""
        return frozenset().union(*[graph.table.annotated for graph in self.graphs])

    def nodes_with(self, annotation: str) -> NodesOfGraphs:
        """Return the nodes that have an annotation, a field of NodeProto such as `doc_string`."""
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
        """The forms of the nodes of all graphs and function bodies: their contents apart from names."""
        return set[NodeForm]().union(*[graph.form_counts for graph in self.graphs])

    def graphs_with(self, field: str) -> list[Graph]:
        """Return the graphs, and function bodies if they have the field, whose list or text `field` is not empty.

        Most graphs lack most fields, so a rule that begins with this looks at few or none.
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
        """Yield every node of every graph and function body."""
        for graph in self.graphs:
            yield from graph.nodes

    def attributes(self, where: Callable[[AttributeKind], bool] | None = None) -> Iterator[Attribute]:
        """Yield every attribute of every node, every default of a function's attribute parameter, and that of a file.

        With `where` only those for which it returns true; it is called once for each distinct kind.
        """
        if self.graphs:  # accessing it fills the index
            yield from self._attribute_index.where(where or _is_any)

    @property
    def attribute_kinds(self) -> Iterable[AttributeKind]:
        """The distinct kinds of the attributes."""
        return self._attribute_index.kinds if self.graphs else ()

    def count_attributes(self, where: Callable[[AttributeKind], bool]) -> int:
        """Return the number of attributes for which `where` returns true."""
        return self._attribute_index.count(where) if self.graphs else 0

    @cached_property
    def _attribute_index(self) -> AttributeIndex:
        return AttributeIndex()

    def types(self, where: Callable[[Proto], bool] | None = None) -> Iterator[Type]:
        """Yield every TypeProto: of value infos, of attributes, and of a file; element types after their container.

        With `where` only those for which it returns true; it is called once for each distinct TypeProto of the value
        infos.
        """
        return self._declared_types.where(where or _is_any)

    @cached_property
    def _declared_types(self) -> DeclaredTypes:
        return DeclaredTypes(self._graphs_of_value_infos, self._attribute_index, self._roots.types)

    @cached_property
    def has_unusual_types(self) -> bool:
        """True if a type is not usual, see onnx_lint.inference.types.usual_types: few rules check usual ones."""
        return self._declared_types.has_unusual

    @cached_property
    def has_odd_variables(self) -> bool:
        """True if a dimension variable may not be a C90 identifier."""
        return self._declared_types.has_odd_variables

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
        """The graphs, without functions that have no value infos, which are most functions."""
        return [graph for graph in self.graphs if not graph.is_function or graph.proto.value_info]

    @cached_property
    def external_data(self) -> list[ExternalData]:
        """The tensors that are marked as stored outside the file, or that state a location."""
        found = self.tensors.external
        if not found:
            return []
        from onnx_lint.ir.tensors.external import ExternalData

        return [ExternalData(tensor, self.data_folder, self.digests) for tensor in found.origins]

    @cached_property
    def data_folder(self) -> DataFolder | None:
        """The folder in which files of external data are looked up; None if they must not be looked up."""
        from onnx_lint.ir.tensors.data_folder import DataFolder

        if self.given_folder is not None or self.directory is None:
            return self.given_folder
        return DataFolder(self.directory, self.trusted_folders, self.limits.external_bytes)

    @cached_property
    def digests(self) -> Digests | None:
        """The digests of the files of external data; None if they must not be looked up."""
        from onnx_lint.ir.tensors.checksum import Digests

        return Digests(self.data_folder) if self.data_folder is not None else None

    @cached_property
    def tensors(self) -> SuspectTensors:
        """The tensors whose values a rule may report, and all sparse tensors."""
        graphs = self.graphs  # accessing it fills the index
        return find_suspects(graphs, self._attribute_index, self.source, self.payloads)

    @cached_property
    def judged_tensors(self) -> Sequence[StoredTensor]:
        """The tensors whose values are not evidently valid; those in another file with the values there."""
        if not self.external_data or self.data_folder is None:
            return self.tensors.unproved
        from onnx_lint.ir.tensors import outside

        return (*self.tensors.unproved, *outside.dense(self.external_data, self.data_folder))

    @cached_property
    def sparse_tensors(self) -> Sequence[StoredSparseTensor]:
        """Every sparse tensor; parts with values in another file with the values there."""
        if not (self.tensors.sparse and self.external_data) or self.data_folder is None:
            return self.tensors.sparse
        from onnx_lint.ir.tensors import outside

        return tuple(outside.sparse(self.tensors.sparse, self.external_data, self.data_folder))

    def release(self) -> None:
        """Break the reference cycles of a model that is not needed any more, so that its memory is released at once."""
        made = vars(self)
        for part in (*made.get("graphs", ()), *made.get("functions", ())):
            vars(part).clear()
        made.clear()

    def metadata(self) -> Iterator[Metadata]:
        """Yield every `metadata_props`: of the model, graphs, functions, nodes, value infos and tensors."""
        return self._metadata(self.nodes_with(METADATA))

    def metadata_with_suspect_keys(self) -> Iterator[Metadata]:
        """Yield every `metadata_props` that may have a key twice."""
        return self._metadata(NodesOfGraphs(Nodes(graph, graph.table.repeated_keys) for graph in self.graphs))

    def metadata_beside_nodes(self) -> Iterator[Metadata]:
        """Yield every `metadata_props` except those of nodes."""
        return self._metadata(())

    def _metadata(self, nodes: Iterable[Node]) -> Iterator[Metadata]:
        holders = self.graphs_with(METADATA), nodes, self.annotated_value_infos
        return metadata_lists(self.proto, *holders, self.tensors.with_metadata)

    # --- results that follow from the parts

    @cached_property
    def imports(self) -> Imports:
        """The operator sets that the model and its functions import."""
        stated = self.proto.opset_import if self.kind == MODEL_KIND else None
        return Imports(stated, self.functions, self._supposed or supposed_imports(self.kind, self.document))

    @cached_property
    def imports_of_onnxruntime(self) -> list[Importer]:
        """The model and the functions that import a domain of ONNX Runtime."""
        return list(self.imports.where(lambda entries: any(entry.domain in ONNXRUNTIME.domains for entry in entries)))

    def is_reached(self, graph: Graph) -> bool:
        """Return whether inference reaches the graph: it is of no training information, and its function is called."""
        if graph.function is not None:
            return graph.function.index in self.calls.reached
        while graph.parent is not None and graph.kind is GraphKind.NESTED:
            graph = graph.parent
        return graph.kind not in (GraphKind.INITIALIZATION, GraphKind.ALGORITHM)

    @cached_property
    def domains_in_use(self) -> dict[int | None, frozenset[str]]:
        """The domains of the nodes of each function, by its index, and of nodes outside of functions under None."""
        return domains_in_use(self.graphs)

    @cached_property
    def resolution(self) -> Resolution:
        """The node inputs whose names are defined too late or not at all, and the cycles among the nodes."""
        return resolve(self.graphs)

    @cached_property
    def nameless_definition(self) -> tuple[UndefinedName, Place] | None:
        """The only undefined name and the only initializer without a name, if the users of the name see its graph.

        Then the initializer has lost the name: one fault, and not two.
        """
        nameless = [
            graph.at("initializer", index)
            for graph in self.graphs
            if not graph.is_function and "" in graph.initializer_names
            for index, name in enumerate(graph.initializer_names)
            if not name
        ]
        if len(nameless) != 1 or len(list(self.resolution.undefined_names)) != 1:
            return None
        (undefined,) = self.resolution.undefined
        graphs = (undefined.graph, *(outer for outer, _ in undefined.graph.scopes()))
        return (undefined, nameless[0]) if nameless[0].parent in [graph.place for graph in graphs] else None

    @cached_property
    def uses(self) -> ValueUses:
        """The values that something uses, and the nodes that no output needs."""
        from onnx_lint.ir.names.uses import ValueUses

        return ValueUses(self.graphs, self.proto.training_info)

    @cached_property
    def foldable_nodes(self) -> Sequence[Node]:
        """The last nodes of each computation that constants alone decide, see `onnx_lint.inference.flow.folding`."""
        from onnx_lint.inference.flow.folding import foldable_nodes

        training = self.proto.training_info
        return foldable_nodes(self.graphs, self.operators, self.value_flow, self.effective_ir_version, training)

    def equal_initializers(self, least_bytes: int) -> Iterator[EqualInitializers]:
        """Yield the initializers of at least that many bytes that equal an earlier one of their graph."""
        from onnx_lint.ir.tensors.equal import equal_initializers

        return equal_initializers(self.graphs, self.source, self.payloads, self.data_folder, least_bytes)

    @cached_property
    def repeated_declarations(self) -> dict[Graph, RepeatedDeclarations]:
        """The values that several lists of a graph declare differently, by graph; graphs without any are left out."""
        found = ((graph, repeated_declarations(graph)) for graph in self.graphs if not graph.is_function)
        return {graph: repeated for graph, repeated in found if repeated is not None}

    @cached_property
    def calls(self) -> Calls:
        """The nodes that call model-local functions, and the functions."""
        return Calls(self.functions, self.graphs, self.effective_ir_version)

    @cached_property
    def control_flow(self) -> ControlFlow:
        """The control-flow nodes, and the types of the inputs that they supply to their subgraphs."""
        return ControlFlow(self.calls, self.imports, self.effective_ir_version)

    @cached_property
    def operators(self) -> Operators:
        """The operator of each node: a signature, a function of the model, or unknown."""
        schemas = self.operator_schemas
        if self.kind == OPERATOR_SET_KIND and self.document.opset_version >= 1:
            # The bodies of its functions use the operators of the set itself.
            schemas = schemas.with_declared(declared_set(self.document))
        return Operators(self.graphs, self.imports, self.calls, schemas, self.effective_ir_version)

    @cached_property
    def bound_nodes(self) -> list[BoundNodes]:
        """The nodes of functions whose attributes refer to parameters, with the values from calls and defaults."""
        if not self.parametric_functions or not any(kind.is_reference for kind in self.attribute_kinds):
            return []
        from onnx_lint.ir.operators.bound_nodes import bound_nodes

        return bound_nodes(self.parametric_functions, self.graphs, self.operators)

    def named_element_types(self, numbers: Set[int]) -> Iterator[NamedElementType]:
        """Yield the attributes that name one of these element types, such as `to` of Cast."""
        return named_element_types(self.operators, self.bound_nodes, numbers)

    @cached_property
    def value_flow(self) -> ValueFlow:
        """Facts about the values, and contradictions between types, shapes, operators and declarations."""
        return self._follow_values(keeps_all=False)

    def _follow_values(self, *, keeps_all: bool) -> ValueFlow:
        # Late: a broken file and many rules do not need it (docs/performance.md: values-asked).
        main = self.main_graph if self.graphs else None
        training, functions = self.training_graphs, self.functions
        known = self.operators, self.imports, self.control_flow
        flow_input = FlowInput(main, training, functions, *known, self._read_outside, self._misfits, self.crashes)
        return follow_values(flow_input, keeps_all=keeps_all)

    @property
    def _misfits(self) -> Mapping[int, Set[str]]:
        """The initializers whose dimensions do not fit their values, by the identities of their graphs."""
        found: dict[int, set[str]] = {}
        for stored in self.tensors.miscounted:
            graph, name = stored.tensor.graph, stored.proto.name
            if name and name in graph.initializer_names and stored.has_wrong_size:
                place = graph.at("initializer", graph.initializer_names.index(name))
                if stored.place == place:
                    found.setdefault(id(graph), set()).add(name)
        return found

    def _read_outside(self, proto: Proto) -> bytes | None:
        """Return the values of a small tensor in a file beside the model; None if it must not be read or lacks them."""
        if self.data_folder is None:
            return None
        from onnx_lint.ir.tensors.outside import small_values

        return small_values(proto, self.main_graph, self.data_folder)

    @cached_property
    def dimension_contradictions(self) -> list[Contradiction]:
        """The dimension variables for which no sizes satisfy all declarations and nodes."""
        from onnx_lint.inference.flow.dimension_equations import contradictions

        return contradictions(self.value_flow, self.crashes)

    @cached_property
    def fixed_sizes(self) -> list[FixedSize]:
        """The dimensions with a declared size in the main graph that its inputs leave open."""
        from onnx_lint.inference.flow.dimension_equations import fixed_sizes

        return fixed_sizes(self.value_flow, self.crashes)

    @cached_property
    def provenance(self) -> Provenance:
        """The explanation of the facts about the values of every graph and function body."""
        from onnx_lint.inference.flow.provenance import Provenance

        return Provenance(self._follow_values(keeps_all=True), self.operators, self.graphs)

    @property
    def shape_knowledge(self) -> Knowledge | None:
        """The numbers of values with known shapes, and the causes of unknown ones; None if values were not inferred."""
        return self.value_flow.knowledge if "value_flow" in self.__dict__ else None

    def shape_of(self, name: str, graph: Graph | None = None) -> Shape:
        """Return the inferred shape of a value that a graph sees, by default the main graph.

        Its dimensions are sizes, variables, or None for unknown ones. In a function body they are those of the first
        call.
        """
        return self.value_flow.shape_of(name, graph)

    @property
    def node_device_configurations(self) -> Iterator[NodeDeviceConfiguration]:
        """Every device configuration of every node. None is kept: four bytes of a file are a configuration."""
        return node_device_configurations(self.nodes_with("device_configurations"))

    @property
    def sharding_specs(self) -> Iterator[ShardingSpec]:
        """Every sharding of an input or output of a node. None is kept, as above."""
        return sharding_specs(self.node_device_configurations)

    def features_beyond(self, ir_version: int) -> Iterator[Feature]:
        """Yield the features of the model that a consumer of `ir_version` does not support.

        Fields that no clause checks separately are left out: they only occur in messages that are reported themselves.
        """
        # Late, since few models are that old.
        types = self._declared_types.index if self.has_unusual_types else None
        imported = map(self.imports.domains, [None, *self.functions])
        content = SearchedParts(
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

    # --- what rules are about: false or empty if there is nothing of the kind

    @cached_property
    def has_faults(self) -> bool:
        """True if anything is wrong with the bytes of the file."""
        return bool(self.faults)

    @cached_property
    def may_exceed_limits(self) -> bool:
        """True if the model may exceed what consumers can handle, by its numbers and sizes."""
        limits = self.limits
        return (
            self.source.size > limits.name_characters or len(self.graphs) > limits.graph_nesting or bool(self.functions)
        )

    @cached_property
    def has_target(self) -> bool:
        """True if the intended consumer of the model is known."""
        return self.target is not NO_TARGET and self.target != NO_TARGET

    @cached_property
    def has_unusual_header(self) -> bool:
        """True if the model lacks its graph, its IR version or its producer, or has a domain."""
        proto = self.proto
        is_whole = self.ir_version and proto.producer_name and proto.producer_version and proto.HasField("graph")
        return not is_whole or bool(proto.domain)

    @cached_property
    def has_several_graphs(self) -> bool:
        """True if there is a nested graph, or one for training."""
        return sum(not graph.is_function for graph in self.graphs) > 1

    @cached_property
    def has_unnamed_graphs(self) -> bool:
        """True if a graph has no name."""
        return any(not graph.name and not graph.is_function for graph in self.graphs)

    @cached_property
    def has_repeated_outputs(self) -> bool:
        """True if a graph or function lists an output twice."""
        return self.has_unusual_names and any(
            len(set(graph.output_names)) != len(graph.output_names) for graph in self.graphs
        )

    @cached_property
    def has_unusual_names(self) -> bool:
        """True if a graph has names that are not evidently valid, see onnx_lint.ir.names.plain_names."""
        return not all(map(has_plain_names, self.graphs))

    @cached_property
    def has_undefined_names(self) -> bool:
        """True if a node input or a graph output is undefined."""
        return self.resolution.has_undefined_names or any(
            name and name not in graph.positions and not graph.sees(name)
            for graph in self.graphs
            for name in graph.output_names
        )

    @cached_property
    def has_unusual_versions(self) -> bool:
        """True if the model version is negative, or the IR version unknown to the edition or to ONNX Runtime."""
        newest = release_of_edition(self.standard.edition).ir_version
        known = self.ir_version == 0 or OLDEST_LOADED_IR_VERSION <= self.ir_version <= newest
        return self.proto.model_version < 0 or not known

    @cached_property
    def has_outdated_ir_version(self) -> bool:
        """True if an imported operator set was published with a later version of the IR."""
        releases = [release_of_opset(entry.domain, entry.version) for entry in self.proto.opset_import]
        return any(release is not None and release.ir_version > self.ir_version for release in releases)

    @cached_property
    def has_unusual_imports(self) -> bool:
        """True if a list of imports is not evidently valid, or the model cannot have one.

        For an earlier edition than the newest it is always true, since that may have fewer versions. It is also true if
        the operators of further domains are described, which may have fewer versions as well.
        """
        imports = self.imports
        if self.standard.edition != DEFAULT_STANDARD.edition or not imports.are_usual:
            return True
        if self.operators.schemas is not BUILT_IN and not imports.are_of_onnx:
            return True
        return self.effective_ir_version < LATER_FIELDS["ModelProto.opset_import"].ir_version

    @cached_property
    def may_lack_imports(self) -> bool:
        """True if the model or a function imports fewer domains than ai.onnx and those of all nodes and functions."""
        written = {form.domain for form in self.forms}.union([function.domain for function in self.functions])
        return not self.imports.all_have({"", *map(normalized_domain, written)})

    @cached_property
    def may_use_newer_features(self) -> bool:
        """True if the model states an IR version before the newest, and may use features of a later one."""
        known = self.ir_version
        if not 1 <= known < NEWEST_IR_VERSION:
            return False
        return (
            self.has_unusual_types
            or not self.tensors.element_types.isdisjoint(later_element_types(known))
            or any(self._may_have(message, fields) for message, fields in later_fields(known).items())
            or bool(fields_sought_everywhere(later_fields(known)))
            or any(self.named_element_types(later_element_types(known).keys()))
        )

    def _may_have(self, message: str, fields: Sequence[str]) -> bool:
        """Return whether anything in the model may have one of these fields of a message."""
        match message:
            case "ModelProto":
                return any(getattr(self.proto, field) for field in fields)
            case "GraphProto":
                return any(self.graphs_with(field) for field in fields)
            case "FunctionProto":
                return bool(self.functions)
            case "NodeProto":
                return (
                    not self.annotations_of_nodes.isdisjoint(fields)
                    or ("overload" in fields and bool(self.overloaded_nodes))
                    or ("domain" in fields and any(form.domain for form in self.forms))
                )
            case "AttributeProto":
                return any(field in kind.fields for kind in self.attribute_kinds for field in fields)
            case "ValueInfoProto":
                return bool(self.annotated_value_infos)
            case _:
                return bool(self.tensors.external or self.tensors.with_metadata)

    @cached_property
    def has_metadata(self) -> bool:
        """True if there is metadata anywhere in the model; also if value infos have documentation."""
        return bool(
            self.proto.metadata_props
            or self.graphs_with(METADATA)
            or self.nodes_with(METADATA)
            or self.annotated_value_infos
            or self.tensors.with_metadata
        )

    @cached_property
    def is_documented(self) -> bool:
        """True if anything in the model may have documentation."""
        return bool(
            self.proto.doc_string
            or self.graphs_with("doc_string")
            or "doc_string" in self.annotations_of_nodes
            or self.annotated_value_infos
            or self.tensors.documented
            or any(kind.is_documented for kind in self.attribute_kinds)
        )

    @cached_property
    def has_training_information(self) -> bool:
        """True if the model has training information."""
        return bool(self.proto.training_info)

    @cached_property
    def has_device_configurations(self) -> bool:
        """True if the model or a node is configured for devices."""
        return bool(self.proto.configuration or self.nodes_with("device_configurations"))

    @cached_property
    def has_quantization_annotations(self) -> bool:
        """True if a graph annotates tensors with their quantization."""
        return bool(self.graphs_with("quantization_annotation"))

    @cached_property
    def has_incomplete_nodes(self) -> bool:
        """True if a node has no operator or no outputs."""
        return not all(form.op_type and form.outputs for form in self.forms)

    @cached_property
    def has_aliased_domains(self) -> bool:
        """True if a node uses the alias of the default domain."""
        return any(form.domain == DOMAIN_ALIAS for form in self.forms)

    @cached_property
    def has_training_outputs(self) -> bool:
        """True if a BatchNormalization has more than its first output, or the attribute that requests training."""
        return any(
            form.op_type == "BatchNormalization"
            and (any(form.outputs[1:]) or any(name == "training_mode" for name, _ in form.attribute_types))
            for form in self.forms
        )

    @cached_property
    def has_repeated_attributes(self) -> bool:
        """True if a node has two attributes with the same name."""
        return any(len(dict(form.attribute_types)) != len(form.attribute_types) for form in self.forms)

    @cached_property
    def has_attributes_named_as_values(self) -> bool:
        """True if an attribute has the name of a value."""
        names = {name for form in self.forms for name, _ in form.attribute_types} - {""}
        if not names.isdisjoint(self.resolution.undefined_names):
            return True
        return any(not graph.positions.keys().isdisjoint(names) for graph in self.graphs)

    @cached_property
    def has_late_uses(self) -> bool:
        """True if a node uses a value that only a later node defines."""
        return self.resolution.has_late_uses

    @cached_property
    def has_misused_operators(self) -> bool:
        """True if a node uses an operator that is unknown or deprecated, or does not match the signature of its
        operator.
        """
        return has_mismatches(self.operators)

    @cached_property
    def has_faulty_attributes(self) -> bool:
        """True if attributes of a node have values that its operator cannot use or does not list, or stand beside
        others or operands that exclude them; or if this may be so in a call of a function.
        """
        return has_faulty_attributes(self.operators) or bool(self.bound_nodes)

    @cached_property
    def has_unusual_attributes(self) -> bool:
        """True if an attribute is not simply a name and one valid value of the stated type."""
        return not all(kind.is_usual for kind in self.attribute_kinds)

    @cached_property
    def has_type_conflicts(self) -> bool:
        """True if the types of values contradict operators or declarations."""
        return any(True for _ in self.value_flow.conflicts())

    @cached_property
    def has_shape_conflicts(self) -> bool:
        """True if the shapes of values contradict operators or declarations."""
        return self.value_flow.has_shape_conflicts

    @cached_property
    def has_denoted_types(self) -> bool:
        """True if a type has a denotation."""
        return self.has_unusual_types and any(True for _ in self.types(lambda proto: bool(proto.denotation)))

    @cached_property
    def has_bare_graph_values(self) -> bool:
        """True if an input or output of the main graph has no type or no number of dimensions."""
        values = self.main_graph.value_infos
        return not all(sight_of(kind).has_rank for kind in {*values["input"].types, *values["output"].types})

    @cached_property
    def has_value_infos(self) -> bool:
        """True if a graph or function has a list `value_info`."""
        return bool(self.graphs_with("value_info"))

    @cached_property
    def has_initializers(self) -> bool:
        """True if a graph has initializers, sparse or not."""
        return bool(self.graphs_with("initializer") or self.graphs_with("sparse_initializer"))

    @cached_property
    def initializers_must_be_inputs(self) -> bool:
        """True if there are initializers, in an IR version that requires each of them to be an input too."""
        return self.effective_ir_version < FREE_INITIALIZERS_SINCE and self.has_initializers

    @cached_property
    def has_suspect_tensors(self) -> bool:
        """True if a tensor was not proved right by its bytes alone."""
        return bool(self.tensors.unproved)

    @cached_property
    def has_sparse_tensors(self) -> bool:
        """True if there is a sparse tensor."""
        return bool(self.tensors.sparse)


@functools.cache
def _fields_of_functions() -> frozenset[str]:
    return frozenset(field.name for field in schema.message("FunctionProto").DESCRIPTOR.fields)


def _is_any(_: object) -> bool:
    return True
