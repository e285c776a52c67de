# SPDX-License-Identifier: Apache-2.0
"""The Model, which the loader makes and the rules ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from onnx_lint import schema
from onnx_lint.cached import cached_property
from onnx_lint.limits import DEFAULT_LIMITS, Limits
from onnx_lint.model.attributes import AttributeIndex
from onnx_lint.model.columns.attribute_kinds import AttributeKind
from onnx_lint.model.columns.nodes import NodeForm
from onnx_lint.model.documents.kinds import MODEL, OF_MODELS, OPERATOR_SET, describe_kind
from onnx_lint.model.documents.roots import Roots, roots, values
from onnx_lint.model.fault import Fault, FaultKind
from onnx_lint.model.graph import Function, Graph, GraphKind, Node
from onnx_lint.model.names.declarations import Declaration, repeated_declarations
from onnx_lint.model.names.resolution import Resolution, resolve
from onnx_lint.model.nesting import Budget, with_nested
from onnx_lint.model.operators.control_flow import ControlFlow
from onnx_lint.model.operators.function_calls import Calls
from onnx_lint.model.operators.imports import Imports, domains_in_use
from onnx_lint.model.operators.mismatch import has_mismatches
from onnx_lint.model.operators.operators import Operators
from onnx_lint.model.parts import Attribute, Metadata, Type, ValueInfo, metadata_lists
from onnx_lint.model.payload import Payload
from onnx_lint.model.places.byte_ranges import ByteRanges
from onnx_lint.model.places.enclosing_names import EnclosingNames, NamesInDocument
from onnx_lint.model.places.place import ROOT, Key, Place
from onnx_lint.model.tensors.suspects import SuspectTensors, find_suspects
from onnx_lint.model.types.distinct_types import Derived, TypeIndex
from onnx_lint.model.types.usual_types import is_usual
from onnx_lint.record import EMPTY
from onnx_lint.schema import Proto
from onnx_lint.source import BytesSource, Source
from onnx_lint.spec.ir_versions import FIELDS, FREE_INITIALIZERS_SINCE
from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas
from onnx_lint.spec.operators.declared import declared_set
from onnx_lint.spec.releases import NEWEST_IR_VERSION, normalized_domain, release_of_edition
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard
from onnx_lint.spec.target import NO_TARGET, Target

if TYPE_CHECKING:
    from onnx_lint.model.flow.knowledge import Knowledge
    from onnx_lint.model.flow.provenance import Provenance
    from onnx_lint.model.flow.value_flow import ValueFlow
    from onnx_lint.model.newer_features import Feature
    from onnx_lint.model.operators.bound_nodes import BoundNodes
    from onnx_lint.model.shapes.dims import Shape
    from onnx_lint.model.sharding import NodeDeviceConfiguration, ShardingSpec
    from onnx_lint.model.tensors.checksum import Digests
    from onnx_lint.model.tensors.data_folder import DataFolder
    from onnx_lint.model.tensors.external import ExternalData
    from onnx_lint.model.tensors.sparse import StoredSparseTensor
    from onnx_lint.model.tensors.stored_tensor import StoredTensor


class Model:
    """A model file as it is. Everything that is derived from the message is made once, when first asked for."""

    def __init__(
        self,
        proto: Proto | None,
        source: Source,
        *,
        faults: tuple[Fault, ...] = (),
        payloads: Mapping[Key, tuple[Payload, ...]] | None = None,
        form: str = "binary",
        kind: str = MODEL,
        directory: str | None = None,
        trusted_folders: Sequence[str] = (),
        standard: Standard = DEFAULT_STANDARD,
        limits: Limits = DEFAULT_LIMITS,
        schemas: OperatorSchemas = BUILT_IN,
        target: Target = NO_TARGET,
        opset_imports: Mapping[str, int] = EMPTY,
    ) -> None:
        self.loaded = proto is not None
        """Whether there is a message; when not, only `faults` tells anything."""
        self.kind = kind
        """The message that the file holds: `ModelProto`, or one of the other documents of the specification."""
        if proto is None:
            proto = (schema.outline if kind == MODEL else schema.message)(kind)()
        self._values: list[tuple[Proto, Place]] | None = None
        self._holders: dict[str, list[Graph]] = {}
        self.document: Proto = schema.outlined(proto) if kind == MODEL else proto
        """The message that the file holds, whatever it is; a model in outline."""
        self.proto: Proto = self.document if kind == MODEL else schema.outline(MODEL)()
        """The model in outline: nodes, initializers and value_info are bytes, see onnx_lint.model.columns.nodes.

        Empty where the file holds something else.
        """
        self.source = source
        self.faults = faults
        self.payloads: Mapping[Key, tuple[Payload, ...]] = payloads or {}
        self.form = form
        """`binary`, `textproto` or `json`."""
        self.directory = directory
        """The folder of the model file, in which external data is looked for; None when it is not to be looked for."""
        self.trusted_folders = trusted_folders
        """The folders into which links to files of external data are followed."""
        self.standard = standard
        """The edition and variant of the specification that the model is held against."""
        self.limits = limits
        """How much the model may hold before that is a finding."""
        self.operator_schemas = schemas
        """The operators that are known."""
        self.target = target
        """The consumer that the model is meant for."""
        # What a graph or node imports that stands in no model; any other file says itself what it imports.
        self._supposed = opset_imports if kind in OF_MODELS else EMPTY

    def with_faults(self, faults: tuple[Fault, ...]) -> Model:
        """The same model, of which it has turned out that these things are wrong with the bytes."""
        made = Model.__new__(Model)
        made.__dict__.update(self.__dict__, faults=faults)
        return made

    # --- the model as a whole

    @cached_property
    def ir_version(self) -> int:
        """The IR version that the model or operator set states; 0 when it states none, and in another document."""
        return int(self.document.ir_version) if self.kind in {MODEL, OPERATOR_SET} else 0

    @cached_property
    def effective_ir_version(self) -> int:
        """The IR version by which features are judged: the newest where the model states none that is published.

        A missing or unknown version has a finding of its own and must not bring a hundred others with it.
        """
        return self.ir_version if 1 <= self.ir_version <= NEWEST_IR_VERSION else NEWEST_IR_VERSION

    def faults_of(self, kind: FaultKind) -> Iterator[Fault]:
        """The faults of the file of one kind, in file order."""
        return (fault for fault in self.faults if fault.kind is kind)

    def values(self) -> Iterator[tuple[Proto, Place]]:
        """The sequences, maps and optionals of a file that holds a value, each with its place.

        They are kept when somebody went through all of them; whoever wants to know whether there are too many does not.
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
        """The maps among the values."""
        return ((value, place) for value, place in self.values() if value.DESCRIPTOR.name == "MapProto")

    def sequences(self) -> Iterator[tuple[Proto, Place]]:
        """The sequences among the values, those that hold the values of a map too."""
        return ((value, place) for value, place in self.values() if value.DESCRIPTOR.name == "SequenceProto")

    def describe(self) -> str:
        """The model as messages name it, or the other document that the file holds."""
        return describe_kind(self.kind)

    # --- graphs and functions

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
    def annotated_nodes(self) -> list[Node]:
        """The nodes that have documentation, an overload, metadata or a device configuration: in most models none."""
        has_overloads = any(form.overload for form in self.forms)
        graphs = [graph for graph in self.graphs if has_overloads or graph.table.annotated]
        return [node for graph in graphs for node in graph.annotated_nodes]

    @cached_property
    def forms(self) -> set[NodeForm]:
        """What the nodes of all graphs and function bodies look like, apart from names."""
        return set[NodeForm]().union(*[graph.form_counts for graph in self.graphs])

    def graphs_with(self, field: str) -> list[Graph]:
        """The graphs, with function bodies where they have the field too, whose list or text `field` is not empty.

        Most graphs lack most of what they may have, so a rule that asks here first looks at few or none.
        """
        if field not in self._holders:
            of_functions = field in schema.message("FunctionProto").DESCRIPTOR.fields_by_name
            graphs = self.graphs if of_functions else [graph for graph in self.graphs if not graph.is_function]
            self._holders[field] = [graph for graph in graphs if getattr(graph.proto, field)]
        return self._holders[field]

    def nodes(self) -> Iterator[Node]:
        """Every node of every graph and function body."""
        for graph in self.graphs:
            yield from graph.nodes

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
    def repeated_declarations(self) -> dict[Graph, list[list[Declaration]]]:
        """For each graph the values that several of its lists declare, not all alike; graphs without any left out."""
        found = ((graph, repeated_declarations(graph)) for graph in self.graphs if not graph.is_function)
        return {graph: repeated for graph, repeated in found if repeated}

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
        from onnx_lint.model.operators.bound_nodes import bound_nodes  # late, as few models have any

        return bound_nodes(self.parametric_functions, self.graphs, self.operators)

    @cached_property
    def value_flow(self) -> ValueFlow:
        """What is known of the values, and where types and shapes are at odds with operators and declarations."""
        return self._follow_values(keeps_all=False)

    def _follow_values(self, *, keeps_all: bool) -> ValueFlow:
        from onnx_lint.model.flow.walk import Ground, follow_values  # late: a broken file needs none

        main = self.main_graph if self.graphs else None
        training, functions = self.training_graphs, self.functions
        ground = Ground(main, training, functions, self.operators, self.imports, self._type_index, self.control_flow)
        return follow_values(ground, keeps_all=keeps_all)

    @cached_property
    def provenance(self) -> Provenance:
        """What is known of the values of every graph and function body, and how it came to be."""
        from onnx_lint.model.flow.provenance import Provenance  # late: no rule needs it

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
    def control_flow(self) -> ControlFlow:
        """The control-flow nodes, and what they supply to their subgraphs."""
        return ControlFlow(self.calls, self.imports, self.effective_ir_version)

    @cached_property
    def calls(self) -> Calls:
        """The nodes that call model-local functions, and which."""
        return Calls(self.functions, self.graphs, self.effective_ir_version)

    @cached_property
    def node_device_configurations(self) -> list[NodeDeviceConfiguration]:
        """Every device configuration of every node."""
        from onnx_lint.model.sharding import node_device_configurations  # late, as few models have any

        return node_device_configurations(self.annotated_nodes)

    @cached_property
    def sharding_specs(self) -> list[ShardingSpec]:
        """Every sharding of an input or output of a node."""
        from onnx_lint.model.sharding import sharding_specs  # as above

        return list(sharding_specs(self.node_device_configurations))

    # --- what stands in them

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

    def derive_types(self, graph: Graph, role: str, derive: Callable[[Proto], Derived]) -> list[Derived]:
        """What `derive` makes of the TypeProto of each value info of a graph; asked once for each distinct one.

        `role` is the list: input, output or value_info.
        """
        return self._type_index.each(graph, role, derive)

    @cached_property
    def _type_index(self) -> TypeIndex:
        return TypeIndex(self._graphs_of_value_infos, self._attribute_index, self._roots.types)

    @cached_property
    def annotated_value_infos(self) -> list[ValueInfo]:
        """The value infos that have documentation or metadata."""
        return [
            ValueInfo(graph.message_at(role, index), graph.at(role, index), graph, role)
            for graph in self._graphs_of_value_infos
            for role, values in graph.value_infos.items()
            for index in values.annotated
        ]

    @cached_property
    def _graphs_of_value_infos(self) -> list[Graph]:
        """The graphs without the functions that have no value infos, which are most functions."""
        return [graph for graph in self.graphs if not graph.is_function or graph.proto.value_info]

    @cached_property
    def external_data(self) -> list[ExternalData]:
        """The tensors that are marked as stored outside the file, or that say where."""
        annotated = self.tensors.annotated
        found = [tensor for tensor in annotated if tensor.proto.external_data or tensor.proto.data_location]
        if not found:
            return []
        from onnx_lint.model.tensors.external import ExternalData  # late, as most models have none

        return [ExternalData(tensor, self.data_folder, self.digests) for tensor in found]

    @cached_property
    def data_folder(self) -> DataFolder | None:
        """The folder in which files of external data are looked for; None where there is no place to look for them."""
        from onnx_lint.model.tensors.data_folder import DataFolder  # late, as above

        if self.directory is None:
            return None
        return DataFolder(self.directory, self.trusted_folders, self.limits.external_bytes)

    @cached_property
    def digests(self) -> Digests | None:
        """The digests of the files of external data; None where there is no place to look for them."""
        from onnx_lint.model.tensors.checksum import Digests  # late, as above

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
        from onnx_lint.model.tensors import outside  # late, as above

        return self.tensors.unproved.with_others(outside.dense(self.external_data, self.data_folder))

    @cached_property
    def sparse_tensors(self) -> Sequence[StoredSparseTensor]:
        """Every sparse tensor; the parts whose values are in another file as they are there."""
        if not (self.tensors.sparse and self.external_data) or self.data_folder is None:
            return self.tensors.sparse
        from onnx_lint.model.tensors import outside  # late, as above

        return tuple(outside.sparse(self.tensors.sparse, self.external_data, self.data_folder))

    def metadata(self) -> Iterator[Metadata]:
        """Every `metadata_props`: of the model, graphs, functions, nodes, value infos and tensors."""
        yield from self._metadata

    @cached_property
    def _metadata(self) -> list[Metadata]:
        holders = self.graphs_with("metadata_props"), self.annotated_nodes, self.annotated_value_infos
        return list(metadata_lists(self.proto, *holders, self.tensors.annotated))

    def features_beyond(self, ir_version: int) -> Iterator[Feature]:
        """What the model uses that a consumer which knows `ir_version` and earlier ones has never heard of.

        Fields that no clause judges on their own are left out: they only stand in messages that are told themselves.
        """
        # Late, as few models are that old.
        from onnx_lint.model.newer_features import Content, features_beyond, undated_types

        content = Content(
            self.proto,
            undated_types=undated_types(self.standard, map(self.imports.domains, [None, *self.functions])),
            graphs=self.graphs,
            functions=self.functions,
            annotated_nodes=self.annotated_nodes,
            metadata=self._metadata,
            attributes=self._attribute_index,
            types=self._type_index if self.has_unusual_types else None,
            tensors=self.tensors,
        )
        return features_beyond(content, ir_version)

    # --- what a rule may be about: false or empty where there is nothing of the kind

    @cached_property
    def has_faults(self) -> bool:
        """Whether anything is wrong with the bytes of the file."""
        return bool(self.faults)

    @cached_property
    def has_target(self) -> bool:
        """Whether it is known which consumer the model is meant for."""
        return self.target != NO_TARGET

    @cached_property
    def has_unusual_versions(self) -> bool:
        """Whether the version of the IR or of the model is negative, or that of the IR unknown to the edition."""
        newest = release_of_edition(self.standard.edition).ir_version
        return self.proto.model_version < 0 or not 0 <= self.ir_version <= newest

    @cached_property
    def has_unusual_imports(self) -> bool:
        """Whether the model or a function imports other than one published version of ai.onnx, or cannot import any.

        Under an earlier edition than the newest always, since it may know fewer versions.
        """
        if self.standard.edition != DEFAULT_STANDARD.edition or not self.imports.are_usual:
            return True
        return self.effective_ir_version < FIELDS["ModelProto.opset_import"].ir_version

    @cached_property
    def has_metadata(self) -> bool:
        """Whether there is metadata anywhere in the model."""
        return any(True for _ in self.metadata())

    @cached_property
    def is_documented(self) -> bool:
        """Whether anything in the model may have documentation."""
        return bool(
            self.proto.doc_string
            or self.graphs_with("doc_string")
            or self.annotated_nodes
            or self.annotated_value_infos
            or self.tensors.annotated
            or self.count_attributes(lambda kind: kind.is_documented)
        )

    @cached_property
    def has_training_information(self) -> bool:
        """Whether the model tells how it is trained."""
        return bool(self.proto.training_info)

    @cached_property
    def has_device_configurations(self) -> bool:
        """Whether the model or a node is configured for devices."""
        nodes = self.annotated_nodes
        return bool(self.proto.configuration) or any(node.proto.device_configurations for node in nodes)

    @cached_property
    def has_quantization_annotations(self) -> bool:
        """Whether a graph annotates tensors with their quantization."""
        return bool(self.graphs_with("quantization_annotation"))

    @cached_property
    def has_incomplete_nodes(self) -> bool:
        """Whether a node has no operator or no outputs."""
        return not all(form.op_type and form.outputs for form in self.forms)

    @cached_property
    def overloaded_nodes(self) -> list[Node]:
        """The nodes that name an overload of a function."""
        return [node for node in self.annotated_nodes if node.proto.overload]

    @cached_property
    def has_late_uses(self) -> bool:
        """Whether a node uses what only a later one defines."""
        return bool(self.resolution.unordered or self.resolution.cycles)

    @cached_property
    def has_misused_operators(self) -> bool:
        """Whether a node uses an operator that is unknown or deprecated, or otherwise than its signature has it."""
        return has_mismatches(self.operators)

    @cached_property
    def has_unusual_attributes(self) -> bool:
        """Whether an attribute is other than a name and one valid value of the stated type."""
        return self.count_attributes(lambda kind: not kind.is_usual) > 0

    @cached_property
    def has_type_conflicts(self) -> bool:
        """Whether the types of values are at odds with operators or declarations."""
        return any(True for _ in self.value_flow.conflicts())

    @cached_property
    def has_shape_conflicts(self) -> bool:
        """Whether the shapes of values are at odds with operators or declarations."""
        return self.value_flow.has_shape_conflicts

    @cached_property
    def has_unusual_types(self) -> bool:
        """Whether a type is not usual, see onnx_lint.model.types.usual_types: few rules look at usual ones."""
        if self.count_attributes(_holds_types) or self._roots.types:
            return True
        lists = [values.types for graph in self._graphs_of_value_infos for values in graph.value_infos.values()]
        return not all(map(is_usual, set().union(*lists)))

    @cached_property
    def has_denoted_types(self) -> bool:
        """Whether a type has a denotation."""
        return self.has_unusual_types and any(True for _ in self.types(lambda proto: bool(proto.denotation)))

    @cached_property
    def has_value_infos(self) -> bool:
        """Whether a graph or function has a list value_info."""
        return bool(self.graphs_with("value_info"))

    @cached_property
    def has_initializers(self) -> bool:
        """Whether a graph has initializers, sparse ones included."""
        return bool(self.graphs_with("initializer") or self.graphs_with("sparse_initializer"))

    @cached_property
    def initializers_must_be_inputs(self) -> bool:
        """Whether there are initializers in an IR version that wants each of them to be an input too."""
        return self.effective_ir_version < FREE_INITIALIZERS_SINCE and self.has_initializers

    @cached_property
    def has_suspect_tensors(self) -> bool:
        """Whether a tensor is not evidently right as it stands in the file."""
        return bool(self.tensors.unproved)

    @cached_property
    def has_sparse_tensors(self) -> bool:
        """Whether there is a sparse tensor."""
        return bool(self.tensors.sparse)

    # --- places

    def enclosing_names(self, place: Place) -> EnclosingNames:
        """The names of what stands around `place` and at it."""
        return self._names_in_document.of(place)

    @cached_property
    def _names_in_document(self) -> NamesInDocument:
        return NamesInDocument(self.document)

    @cached_property
    def _byte_ranges(self) -> ByteRanges:
        source = self.source if self.form == "binary" else BytesSource(schema.serialized(self.document))
        return ByteRanges(source, self.kind)

    def byte_range(self, place: Place) -> tuple[int, int] | None:
        """The first byte of what stands at `place` and the byte after it; None where it is absent or in text."""
        return self._byte_ranges.byte_range(place) if self.form == "binary" else None

    def extent(self, place: Place) -> tuple[int, int]:
        """The bytes of `place`, or the nearest message around it that is there, in the serialized model."""
        ranges = self._byte_ranges
        return next(found for place in place.ancestors() if (found := ranges.byte_range(place)) is not None)


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


def _is_any(_: object) -> bool:
    return True


def _holds_types(kind: AttributeKind) -> bool:
    return "tp" in kind.fields or "type_protos" in kind.fields
