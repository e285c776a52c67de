# SPDX-License-Identifier: Apache-2.0
"""The Model, which the loader builds and the rules use."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Self

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import EMPTY
from onnx_lint.inference.flow.frames import FlowInput
from onnx_lint.inference.flow.traversal import follow_values
from onnx_lint.inference.types.distinct_types import TypeIndex
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import Source
from onnx_lint.ir.attributes import AttributeIndex
from onnx_lint.ir.columns.attribute_kinds import AttributeKind
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.documents.kinds import MODEL_KIND, OF_MODELS, OPERATOR_SET_KIND, describe_kind
from onnx_lint.ir.documents.roots import Roots, ValuesOfDocument, implied_imports, roots
from onnx_lint.ir.fault import Fault, FaultKind
from onnx_lint.ir.graph import NO_NODES, Function, Graph, GraphKind, Node, NodesOfGraphs, first_indices
from onnx_lint.ir.names.declarations import RepeatedDeclarations, repeated_declarations
from onnx_lint.ir.names.resolution import Resolution, resolve
from onnx_lint.ir.nesting import with_nested
from onnx_lint.ir.operators.control_flow import ControlFlow
from onnx_lint.ir.operators.function_calls import Calls
from onnx_lint.ir.operators.imports import Imports, domains_in_use
from onnx_lint.ir.operators.operators import Operators
from onnx_lint.ir.parts import METADATA, Attribute, Metadata, Type, ValueInfos, metadata_lists
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import ROOT, PlaceKey
from onnx_lint.ir.tensors.suspects import SuspectTensors, find_suspects
from onnx_lint.schema import Proto
from onnx_lint.spec.ir_versions import FREE_INITIALIZERS_SINCE
from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas
from onnx_lint.spec.releases import (
    NEWEST_IR_VERSION,
)
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard
from onnx_lint.spec.target import NO_TARGET, Target

if TYPE_CHECKING:
    from onnx_lint.inference.flow.provenance import Provenance
    from onnx_lint.inference.flow.value_flow import ValueFlow
    from onnx_lint.inference.shapes.dims import Shape
    from onnx_lint.ir.left_in_file import LeftInFile
    from onnx_lint.ir.names.removal import Removals
    from onnx_lint.ir.names.uses import ValueUses
    from onnx_lint.ir.operators.bound_nodes import BoundNodes
    from onnx_lint.ir.operators.kept_nodes import KeptNodes
    from onnx_lint.ir.places.document_places import DocumentPlaces
    from onnx_lint.ir.tensors.checksum import Digests
    from onnx_lint.ir.tensors.data_folder import DataFolder
    from onnx_lint.ir.tensors.external import ExternalData
    from onnx_lint.ir.tensors.sparse import StoredSparseTensor
    from onnx_lint.ir.tensors.stored_tensor import StoredTensor
    from onnx_lint.schema import ModelOutline


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
        payloads: Mapping[PlaceKey, tuple[Payload, ...]] = EMPTY,
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
        self.document: Proto = schema.outlined(proto) if kind == MODEL_KIND else proto
        """The message that the file holds, of any kind; a model in outline."""
        self.proto: ModelOutline = self.document if kind == MODEL_KIND else schema.outline(MODEL_KIND)()
        """The model in outline: nodes, initializers and value_info are bytes, see onnx_lint.ir.columns.nodes.

        Empty if the file holds something else.
        """
        self.source = source
        self.faults = faults
        self.payloads = payloads
        self._long_lists = long_lists
        self.form = form
        """`binary`, `textproto` or `json`."""
        self.file_name = file_name
        """The name of the file, without its folder; empty if it has none."""
        self.directory = directory
        """The folder of the model file, in which external data is looked up; None if it must not be looked up."""
        self._trusted_folders = trusted_folders
        self._given_folder = given_folder
        self.standard = standard
        """The edition and variant of the specification."""
        self.limits = limits
        """The limits on the model; exceeding one of them is a finding."""
        self._schemas = schemas
        self.target = target
        """The intended consumer of the model."""
        self.crashes = Crashes()
        """The bugs in computations on the model."""
        # Those that the caller gives for a graph or node without a model; any other file states its imports.
        self._given_imports = opset_imports if kind in OF_MODELS else EMPTY

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Say that a former member is now a function of `onnx_lint.model`, for plugins that still use it."""
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # raises again what a property has raised
            is_function = hasattr(sys.modules["onnx_lint.model"], name)
            where = f" is now the function {name} of onnx_lint.model" if is_function else " does not exist"
            raise AttributeError(f"Model.{name}{where}")

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

    @cached_property
    def values(self) -> ValuesOfDocument:
        """The sequences, maps and optionals of a file that holds a value, each with its place."""
        return ValuesOfDocument(self.document)

    def describe(self) -> str:
        """Return the name of the model, or of another document, for messages."""
        return describe_kind(self.kind)

    @cached_property
    def places(self) -> DocumentPlaces:
        """The bytes of each place of the file, and the names around it."""
        from onnx_lint.ir.places.document_places import DocumentPlaces

        return DocumentPlaces(self.document, self.source, self.form)

    # --- the parts of the file, each computed once, at its first use

    @cached_property
    def left_in_file(self) -> LeftInFile | None:
        """The attribute values of nodes that the loader left in the file; None if there are none."""
        if not (self._long_lists or self.payloads):
            return None
        from onnx_lint.ir.left_in_file import LeftInFile

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
    def parametric_functions(self) -> list[Function]:
        """The functions that have attribute parameters, with or without a default."""
        return [function for function in self.functions if function.proto.attribute or function.proto.attribute_proto]

    @cached_property
    def training_graphs(self) -> list[Graph]:
        """The initialization graph and the algorithm of each TrainingInfoProto, if present."""
        graphs: list[Graph] = []
        finish = self.left_in_file.complete_forms if self.left_in_file is not None else None
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
        return self._graphs_and_attributes[0]

    @cached_property
    def attribute_index(self) -> AttributeIndex:
        """The attributes by their kinds, which are few in most models."""
        return self._graphs_and_attributes[1]

    @cached_property
    def _graphs_and_attributes(self) -> tuple[list[Graph], AttributeIndex]:
        """The graphs, and their attributes, in which the walk finds the nested graphs."""
        attributes = AttributeIndex()
        top = [self._roots.graph] if self._roots.graph is not None else []
        top += [function.body for function in self.functions]
        top += self.training_graphs
        return [graph for outer in top for graph in with_nested(outer, attributes)], attributes

    @cached_property
    def nested_graphs(self) -> list[Graph]:
        """The graphs in attributes, in the order of `graphs`."""
        return [graph for graph in self.graphs if graph.kind is GraphKind.NESTED]

    @cached_property
    def _annotations_of_nodes(self) -> frozenset[str]:
        return frozenset().union(*[graph.table.annotated for graph in self.graphs])

    def nodes_with(self, annotation: str) -> NodesOfGraphs:
        """Return the nodes that have an annotation, a field of NodeProto such as `doc_string`."""
        if annotation not in self._annotations_of_nodes:
            return NO_NODES
        return NodesOfGraphs(graph.nodes_with(annotation) for graph in self.graphs)

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
        return self.attribute_index.where(where or _is_any)

    def types(self, where: Callable[[Proto], bool] | None = None) -> Iterator[Type]:
        """Yield every TypeProto: of value infos, of attributes, and of a file; element types after their container.

        With `where` only those for which it returns true; it is called once for each distinct TypeProto of the value
        infos.
        """
        return self.declared_types.where(where or _is_any)

    @cached_property
    def declared_types(self) -> TypeIndex:
        """The distinct types, and whether any of them is unusual."""
        return TypeIndex(self._graphs_of_value_infos, self.attribute_index, self._roots.types)

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

        if self._given_folder is not None or self.directory is None:
            return self._given_folder
        return DataFolder(self.directory, self._trusted_folders, self.limits.external_bytes)

    @cached_property
    def digests(self) -> Digests | None:
        """The digests of the files of external data; None if they must not be looked up."""
        from onnx_lint.ir.tensors.checksum import Digests

        return Digests(self.data_folder) if self.data_folder is not None else None

    @cached_property
    def tensors(self) -> SuspectTensors:
        """The tensors whose values a rule may report, and all sparse tensors."""
        return find_suspects(self.graphs, self.attribute_index, self.source, self.payloads)

    @cached_property
    def judged_tensors(self) -> Sequence[StoredTensor]:
        """The tensors whose values are not evidently valid. External ones have the values of their data file."""
        if not self.external_data or self.data_folder is None:
            return self.tensors.unproved
        from onnx_lint.ir.tensors import outside

        return (*self.tensors.unproved, *outside.dense(self.external_data, self.data_folder))

    @cached_property
    def sparse_tensors(self) -> Sequence[StoredSparseTensor]:
        """Every sparse tensor. External parts have the values of their data file."""
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

    def metadata(self, nodes: Iterable[Node] | None = None) -> Iterator[Metadata]:
        """Yield every `metadata_props`: of the model, graphs, functions, nodes, value infos and tensors.

        With `nodes` only those of these nodes, and all that are not of nodes.
        """
        chosen = self.nodes_with(METADATA) if nodes is None else nodes
        holders = self.graphs_with(METADATA), chosen, self.annotated_value_infos
        return metadata_lists(self.proto, *holders, self.tensors.with_metadata)

    # --- results that follow from the parts

    @cached_property
    def imports(self) -> Imports:
        """The operator sets that the model and its functions import."""
        stated = self.proto.opset_import if self.kind == MODEL_KIND else None
        implied = self._given_imports or implied_imports(self.kind, self.document)
        return Imports(stated, self.functions, implied, self.target.assumed_imports)

    @cached_property
    def domains_in_use(self) -> dict[int | None, frozenset[str]]:
        """The domains of the nodes of each function, by its index, and of nodes outside of functions under None."""
        return domains_in_use(self.graphs)

    @cached_property
    def resolution(self) -> Resolution:
        """The node inputs whose names are defined too late or not at all, and the cycles among the nodes."""
        return resolve(self.graphs)

    @cached_property
    def uses(self) -> ValueUses:
        """The values that something uses, and the nodes that no output needs."""
        from onnx_lint.ir.names.uses import ValueUses

        return ValueUses(self.graphs, self.proto.training_info)

    @cached_property
    def kept_nodes(self) -> KeptNodes:
        """The nodes that surely remain when ONNX Runtime rewrites the model."""
        from onnx_lint.ir.operators.kept_nodes import KeptNodes

        return KeptNodes(self.graphs, self.calls)

    @cached_property
    def removals(self) -> Removals:
        """Fixes that delete nodes and initializers."""
        from onnx_lint.ir.names.removal import Removals

        resolution = self.resolution
        is_unclear = self.proto.training_info or resolution.has_undefined_names or resolution.has_late_uses
        return Removals(self.graphs, self._kind_of, is_possible=not is_unclear)

    def _kind_of(self, name: str, graph: Graph) -> str | None:
        """Return the type of a value; None if it is unknown, or calls of a function may differ."""
        return self.value_flow.fact_of(name, graph).kind if graph.function is None else None

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
        schemas = self._schemas
        if self.kind == OPERATOR_SET_KIND and self.document.opset_version >= 1:
            from onnx_lint.spec.operators.declared import declared_set

            # The bodies of its functions use the operators of the set itself.
            schemas = schemas.with_declared(declared_set(self.document))

        def operators_with(assumed: Mapping[int, Mapping[str, int]]) -> Operators:
            return Operators(self.graphs, self.imports, self.calls, schemas, self.effective_ir_version, assumed)

        operators = operators_with({})
        lacking = []
        for owner, domains in self.domains_in_use.items():
            function = None if owner is None else self.functions[owner]
            lacking.append((function, domains - self.imports.domains(function)))
        if not self.imports.are_stated or not any(domains for _, domains in lacking):
            return operators
        from onnx_lint.ir.operators.import_fixes import ImportFixes

        fixes = ImportFixes(self.graphs, operators, self.imports, self.effective_ir_version)
        # Domains that are not imported are judged by the versions that fixes would import.
        return operators_with(fixes.assumed_versions(lacking))

    @cached_property
    def bound_nodes(self) -> list[BoundNodes]:
        """The nodes of functions whose attributes refer to parameters, with the values from calls and defaults."""
        if not self.parametric_functions or not any(kind.is_reference for kind in self.attribute_index.kinds):
            return []
        from onnx_lint.ir.operators.bound_nodes import bound_nodes

        return bound_nodes(self.parametric_functions, self.graphs, self.operators)

    @cached_property
    def value_flow(self) -> ValueFlow:
        """Facts about the values, and contradictions between types, shapes, operators and declarations."""
        return self._follow_values(keeps_all=False)

    @cached_property
    def proven_flow(self) -> ValueFlow:
        """The facts that hold in every run: without declarations, which runtimes do not enforce, except of inputs."""
        return self._follow_values(keeps_all=False, trusts_declarations=False)

    @cached_property
    def flow_of_any_call(self) -> ValueFlow:
        """The facts that hold whatever callers of the model pass, also for inputs with a default."""
        main = self.main_graph
        is_open = bool(main.initializer_names) and self._has_open_defaults
        has_default = is_open and not set(main.input_names).isdisjoint(main.initializer_names)
        return self._follow_values(keeps_all=False, trusts_defaults=False) if has_default else self.value_flow

    @property
    def _has_open_defaults(self) -> bool:
        """True if callers may pass other values for initializers that are inputs; older versions require all to be."""
        version: int = self.effective_ir_version
        return version >= FREE_INITIALIZERS_SINCE

    def _follow_values(
        self, *, keeps_all: bool, trusts_declarations: bool = True, trusts_defaults: bool = True
    ) -> ValueFlow:
        # Called at first use: a broken file and many rules do not need it (docs/performance.md: values-asked).
        flow_input = FlowInput(
            main=self.main_graph if self.graphs else None,
            training=self.training_graphs,
            functions=self.functions,
            operators=self.operators,
            imports=self.imports,
            control_flow=self.control_flow,
            outside=self._read_outside,
            misfits=self._miscounted_initializers,
            crashes=self.crashes,
            orders=self._topological_orders,
            trusts_declarations=trusts_declarations,
            has_open_defaults=self._has_open_defaults,
            trusts_defaults=trusts_defaults,
        )
        return follow_values(flow_input, keeps_all=keeps_all)

    @property
    def _topological_orders(self) -> Mapping[int, Sequence[int]]:
        """The topological orders of graphs whose nodes have another one, by the identities of the graphs."""
        unordered = list(self.resolution.unordered_graphs)
        if not unordered:
            return EMPTY
        from onnx_lint.ir.names.ordering import topological_order

        found = ((id(graph), topological_order(graph)) for graph in unordered)
        return {identity: order for identity, order in found if order is not None}

    @property
    def _miscounted_initializers(self) -> Mapping[int, Set[str]]:
        """The initializers whose dimensions do not fit their values, by the identities of their graphs."""
        found: dict[int, set[str]] = {}
        indices_of_graphs: dict[int, dict[str, int]] = {}
        for stored in self.tensors.miscounted:
            graph, name = stored.tensor.graph, stored.proto.name
            first = indices_of_graphs.get(id(graph))
            if first is None:
                first = indices_of_graphs[id(graph)] = first_indices(graph.initializer_names)
            index = first.get(name) if name and stored.has_wrong_size else None
            if index is not None and stored.place == graph.at("initializer", index):
                found.setdefault(id(graph), set()).add(name)
        return found

    def _read_outside(self, proto: Proto) -> bytes | None:
        """Return the values of a small tensor in a file beside the model; None if it must not be read or lacks them."""
        if self.data_folder is None:
            return None
        from onnx_lint.ir.tensors.outside import small_values

        return small_values(proto, self.main_graph, self.data_folder)

    def shape_of(self, name: str, graph: Graph | None = None) -> Shape:
        """Return the inferred shape of a value that a graph sees, by default the main graph.

        Its dimensions are sizes, variables, or None for unknown ones. In a function body they are those of the first
        call.
        """
        return self.value_flow.shape_of(name, graph)

    @cached_property
    def provenance(self) -> Provenance:
        """The facts about the values of every graph and function body, with the causes of unknown shapes."""
        from onnx_lint.inference.flow.provenance import Provenance

        return Provenance(self._follow_values(keeps_all=True), self.operators, self.graphs)


@functools.cache
def _fields_of_functions() -> frozenset[str]:
    return frozenset(field.name for field in schema.message("FunctionProto").DESCRIPTOR.fields)


def _is_any(_: object) -> bool:
    return True


def reloaded(model: Model, load: Callable[..., Model], source: Source) -> Model:
    """Load `source`, a changed binary copy of the model's file, with the settings of `model`."""
    return load(
        source,
        model.file_name,
        model.standard,
        model.directory,
        model.limits,
        model.kind,
        schemas=model._schemas,
        target=model.target,
        opset_imports=model._given_imports,
        trusted_folders=model._trusted_folders,
        given_folder=model._given_folder,
    )


def has_inferred_shapes(model: Model) -> bool:
    """Return whether types and shapes have been inferred: only then does `Model.value_flow` cost no time."""
    return "value_flow" in vars(model)
