# SPDX-License-Identifier: Apache-2.0
"""The operators of nodes, resolved to a signature or a model-local function, if one is known.

Nodes that a signature cannot distinguish are one `AlikeNodes`, so that a rule judges them once and only then visits
each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from typing import Final

from onnx_lint.common.cached import Memory, cached_property
from onnx_lint.common.record import EMPTY, Record
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Function, Graph, Node, NodesOfGraphs
from onnx_lint.ir.operators.function_calls import Calls
from onnx_lint.ir.operators.imports import Imports
from onnx_lint.spec.operators import BUILT_IN, OperatorSchema, OperatorSchemas
from onnx_lint.spec.releases import is_onnx_domain, newest_opset_version, normalized_domain

OPSET_IMPORTS_SINCE: Final = 3
"""The IR version that brought operator set imports; models of older ones use version 1 of the default domain."""


class OperatorStatus(Enum):
    """The knowledge about an operator at the imported version."""

    KNOWN = "known"
    """It has a signature."""
    FUNCTION = "function"
    """A function of the model has its domain and name."""
    UNKNOWN = "unknown"
    """The operator set is known and has no such operator."""
    UNVERIFIED = "unverified"
    """Its signature is unknown: the domain, its version or (in ONNX Runtime's domains) the operator is unknown."""
    UNBOUND = "unbound"
    """No valid version of its domain is imported, so there are no operators to search."""
    UNNAMED = "unnamed"
    """The node names no operator."""


_WITHOUT_SIGNATURE: Final = (OperatorStatus.UNVERIFIED, OperatorStatus.UNBOUND)


class Operator(Record):
    """An operator as nodes name it, resolved under one imported version; there is one object for each."""

    domain: str
    """The domain; the default domain is empty."""
    op_type: str
    opset_version: int | None
    """The imported version, None if there is none."""
    status: OperatorStatus
    schema: OperatorSchema | None = None
    function: Function | None = None

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def versioned_name(self) -> str:
        """The domain, name and imported version: the key of a fault that all nodes of the operator may have."""
        return f"{self.domain}::{self.op_type} {self.opset_version}"


_built_in: Final[Memory[tuple[str, str, int | None], Operator]] = Memory(4_000)
"""The operators that earlier models of the run named, by domain, name and version, as BUILT_IN describes them."""


class OtherVersion(Record):
    """The version of an imported domain that is meant in place of the stated one."""

    version: int
    needed_by: int
    """The number of nodes that fit this version and not the imported one."""
    fits_all: bool
    """True if all nodes fit it."""
    is_in_doubt: bool = False
    """True if only the ranks in the model with this version show whether all nodes compute the same."""
    ir_version: int | None = None
    """The IR version that it needs, if that is later than the one of the model."""


class TypesNeed(Record):
    """The version of a domain that the types of operands need."""

    version: int | None
    """None if no version allows them all and fits all nodes."""
    operators: int
    """The number of operators that need a later version."""


class AlikeNodes:
    """The nodes that use one operator with the same operands given and the same names and types of attributes."""

    __slots__ = ("_added", "attributes", "count", "form", "graph", "inputs", "operator", "outputs")

    def __init__(self, operator: Operator, graph: Graph, form: NodeForm) -> None:
        self.operator = operator
        self.form = form
        """The form of the first of the nodes; a signature cannot distinguish the others from it."""
        self.graph = graph
        """The graph of the first node."""
        self.inputs = form.inputs
        """For each input whether it is given; an empty name leaves it out."""
        self.outputs = form.outputs
        self.attributes = form.attribute_types
        """Name and stated type of each attribute, in the order of the nodes."""
        self.count = 0
        """The number of nodes."""
        self._added: list[tuple[Graph, NodeForm]] | None = None
        """The other forms and graphs."""

    def add(self, graph: Graph, form: NodeForm, count: int) -> None:
        """Add that many nodes of a graph, at first those with the form of the constructor."""
        if self.count:
            self._added = self._added or []
            self._added.append((graph, form))
        self.count += count

    @property
    def schema(self) -> OperatorSchema:
        """The signature of the operator, which is known for `Operators.verified_nodes`."""
        assert self.operator.schema is not None
        return self.operator.schema

    @property
    def forms(self) -> dict[Graph, set[NodeForm]]:
        """The forms of the nodes, for each graph that has any."""
        found = {self.graph: {self.form}}
        for graph, form in self._added or ():
            found.setdefault(graph, set()).add(form)
        return found

    @property
    def distinct_forms(self) -> Collection[NodeForm]:
        """The forms, each once."""
        return {form for _, form in self._added} | {self.form} if self._added else (self.form,)

    @property
    def nodes(self) -> NodesOfGraphs:
        """The nodes, each created when it is used."""
        return NodesOfGraphs(graph.nodes_of(forms) for graph, forms in self.forms.items())


class Operators:
    """The operators of a model's nodes."""

    def __init__(
        self,
        graphs: Sequence[Graph],
        imports: Imports,
        calls: Calls,
        schemas: OperatorSchemas,
        ir_version: int,
        assumed: Mapping[int, Mapping[str, int]] = EMPTY,
    ) -> None:
        """`assumed`: versions by which to judge nodes of domains that are not imported, by `number`."""
        self.schemas = schemas
        """The source of signatures: the built-in operators and those of schema files."""
        self.versions_instead: dict[str, OtherVersion | None] = {}
        """For each domain that was looked at, the version that fits all nodes in place of the imported one; or None."""
        self.versions_for_types: dict[str, TypesNeed] = {}
        """For each domain that was looked at, the version that the types of operands need."""
        self._graphs = graphs
        self._imports = imports
        self._calls_of_functions = calls
        self._ir_version = ir_version
        self._assumed = assumed
        self._operators: dict[tuple[str, str, int | None], Operator] = {}
        self._calls: dict[int, Operator] = {}
        self._unmatched: dict[tuple[str, str], Operator] = {}
        self._by_form: dict[tuple[int, NodeForm], Operator] = {}

    def opset_versions(self, graph: Graph) -> Mapping[str, int]:
        """Return the imported version of each domain for the nodes of a graph (the default domain is empty).

        A function body and the graphs in it have the imports of the function, all others those of the model. If a
        domain is imported twice, the highest version counts, as the specification requires. Entries with an impossible
        version are skipped. Below IR version 3, which has no imports, the default domain has version 1.
        """
        return self._versions(graph.function)

    def _versions(self, function: Function | None) -> Mapping[str, int]:
        return self._model_versions if function is None else self._imports.versions(function)

    def _judged_versions(self, function: Function | None) -> Mapping[str, int]:
        """Return the versions by which nodes are judged: also of domains that lack their import."""
        stated = self._versions(function)
        assumed = self._assumed.get(self.number(function)) if self._assumed else None
        return stated if assumed is None else {**assumed, **stated}

    @cached_property
    def _model_versions(self) -> Mapping[str, int]:
        versions = self._imports.versions(None)
        return versions if self._ir_version >= OPSET_IMPORTS_SINCE else {"": 1, **versions}

    def number(self, function: Function | None) -> int:
        """Return a number that functions with the same operator versions share; for None that of the model."""
        return -1 if function is None else self._imports.number_of(function)

    def operator(self, node: Node) -> Operator:
        """Return the operator that the node's domain, op_type and overload name."""
        return self.operator_in(node.graph, node.form)

    def operator_in(self, graph: Graph, form: NodeForm) -> Operator:
        """Return the operator that the domain, op_type and overload of such a node of the graph name."""
        key = (self.number(graph.function), form)
        if key not in self._by_form:
            self._by_form[key] = self._operator_in(graph, form)
        return self._by_form[key]

    def _operator_in(self, graph: Graph, form: NodeForm) -> Operator:
        # Most nodes are operators, which the op_type alone shows.
        if form.op_type in self._function_names:
            function = self._calls_of_functions.function_of(form)
            if function is not None:
                return self._call(function, form)
            if self._calls_of_functions.namesakes(form):
                return self._unmatched_call(form)
        domain = normalized_domain(form.domain)
        return self._declared(domain, form.op_type, self._judged_versions(graph.function).get(domain))

    @cached_property
    def _function_names(self) -> frozenset[str]:
        return self._calls_of_functions.names

    @cached_property
    def alike_nodes(self) -> list[AlikeNodes]:
        """Every node of every graph and function body, those that look alike together."""
        alike_nodes: dict[tuple[object, ...], AlikeNodes] = {}
        # Functions of one model repeat a few forms, and import the same few operator sets.
        known: dict[tuple[int, NodeForm], AlikeNodes] = {}
        for graph in self._graphs:
            scope = self.number(graph.function)
            for form, count in graph.form_counts.items():
                alike = known.get((scope, form))
                if alike is None:
                    operator = self.operator_in(graph, form)
                    key = (operator, form.inputs, form.outputs, form.attribute_types)
                    if key not in alike_nodes:
                        alike_nodes[key] = AlikeNodes(operator, graph, form)
                    alike = known[scope, form] = alike_nodes[key]
                alike.add(graph, form, count)
        return list(alike_nodes.values())

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the operators and functions of all nodes."""
        return frozenset([alike.operator.op_type for alike in self.alike_nodes])

    @cached_property
    def verified_nodes(self) -> list[AlikeNodes]:
        """The nodes of operators with a signature that is known and in force.

        A deprecated operator is no longer part of the operator set, so that its old signature requires nothing.
        """
        known = [alike for alike in self.alike_nodes if alike.operator.schema is not None]
        return [alike for alike in known if not alike.schema.deprecated]

    @cached_property
    def calls_have_attributes(self) -> bool:
        """True if a node that calls a function of the model has attributes."""
        found: set[NodeForm] = set().union(*[graph.form_counts for graph in self._graphs])
        called = (form for form in found if form.attributes and form.op_type in self._function_names)
        return any(self._calls_of_functions.function_of(form) is not None for form in called)

    def not_verified(self) -> dict[str, int]:
        """Return how many nodes of each domain have no known signature and are not reported as unknown by a rule.

        The default domain is called `ai.onnx`.
        """
        unsure = [alike for alike in self.alike_nodes if alike.operator.status in _WITHOUT_SIGNATURE]
        if not unsure:
            return {}  # as for most models
        counts: Counter[str] = Counter()
        # The signatures of a known domain are known; another rule reports that it is not imported.
        known = self.schemas.known_domains() if self._imports.are_stated else ()
        for alike in unsure:
            if alike.operator.status is OperatorStatus.UNVERIFIED or alike.operator.domain not in known:
                counts[alike.operator.domain or "ai.onnx"] += alike.count
        return dict(sorted(counts.items()))

    def not_listed(self) -> dict[tuple[str, str], Collection[str]]:
        """Return the unverified operators of domains whose operators are known, and the names of these operators.

        The keys are domain and name. ONNX Runtime's domain is such a domain: a newer release may have the operator.
        """
        names: dict[str, tuple[str, ...]] = {}
        found: dict[tuple[str, str], Collection[str]] = {}
        for alike in self.alike_nodes:
            operator = alike.operator
            is_call = (operator.domain, operator.op_type) in self._unmatched
            if operator.status is OperatorStatus.UNVERIFIED and not is_call:
                domain = operator.domain
                if domain not in names:
                    names[domain] = self.schemas.operator_names(domain)
                if names[domain] and operator.op_type not in names[domain]:
                    found[domain, operator.op_type] = names[domain]
        return found

    def _call(self, function: Function, node: NodeForm) -> Operator:
        if function.index not in self._calls:
            domain, name = normalized_domain(node.domain), node.op_type
            self._calls[function.index] = Operator(domain, name, None, OperatorStatus.FUNCTION, function=function)
        return self._calls[function.index]

    def _unmatched_call(self, node: NodeForm) -> Operator:
        # Functions of that name have other overloads: the node does not call the operator of the domain.
        key = (normalized_domain(node.domain), node.op_type)
        return self._unmatched.setdefault(key, Operator(*key, None, OperatorStatus.UNVERIFIED))

    def _declared(self, domain: str, op_type: str, version: int | None) -> Operator:
        key = (domain, op_type, version)
        found = self._operators.get(key)
        if found is None:
            shared = _built_in if self.schemas is BUILT_IN else None
            found = shared.get(key) if shared is not None else None
            if found is None:
                found = self._new(domain, op_type, version)
                if shared is not None:
                    shared.keep(key, found)
            self._operators[key] = found
        return found

    def _new(self, domain: str, op_type: str, version: int | None) -> Operator:
        schema = None if version is None or not op_type else self.schemas.find(domain, op_type, version)
        return Operator(domain, op_type, version, self._status(domain, op_type, version, schema), schema)

    def _status(self, domain: str, op_type: str, version: int | None, schema: OperatorSchema | None) -> OperatorStatus:
        if not op_type:
            return OperatorStatus.UNNAMED
        if version is None:
            return OperatorStatus.UNBOUND
        declared = self.schemas.is_declared(domain, op_type, version)
        if declared is False:
            return OperatorStatus.UNKNOWN
        if schema is not None:
            return OperatorStatus.KNOWN
        if declared:
            return OperatorStatus.UNVERIFIED
        if is_onnx_domain(domain):
            from onnx_lint.spec.operators.history import REMOVED_EXPERIMENTAL

            newest = newest_opset_version(domain) or 0
            # A removed experimental operator comes back in no version.
            removed = domain == "" and op_type in REMOVED_EXPERIMENTAL
            return OperatorStatus.UNKNOWN if version <= newest or removed else OperatorStatus.UNVERIFIED
        # A schema file describes its domain completely, unless it only adds to the package's own.
        described = self.schemas.is_described(domain) and domain not in BUILT_IN.known_domains()
        return OperatorStatus.UNKNOWN if described else OperatorStatus.UNVERIFIED
