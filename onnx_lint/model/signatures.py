# SPDX-License-Identifier: Apache-2.0
"""What the operator of each node stands for where the node is: a signature, a model-local function, or nothing known.

Nodes are looked at by kind: those that look alike to a signature are one `Usage`, so that a rule judges a usage once
and only then looks for the nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Final

from onnx_lint.cached import cached_property
from onnx_lint.model.graph import Function, Graph, Node, Proto
from onnx_lint.spec.operators import BUILT_IN, REMOVED_EXPERIMENTAL, OperatorSchema, OperatorSchemas
from onnx_lint.spec.releases import is_onnx_domain, newest_opset_version, normalized_domain

if TYPE_CHECKING:
    from onnx_lint.model.model import Model

OPSET_IMPORTS_SINCE: Final = 3
"""The IR version that brought operator set imports; models of older ones use version 1 of the default domain."""


class Standing(Enum):
    """What is known of an operator at the version that is imported."""

    KNOWN = "known"
    """It has a signature."""
    FUNCTION = "function"
    """A function of the model has its domain and name."""
    UNKNOWN = "unknown"
    """The operator set is known and has no such operator."""
    UNVERIFIED = "unverified"
    """Nothing tells its signature: the domain, its version or (in ONNX Runtime's domains) the operator is not known."""
    UNBOUND = "unbound"
    """No valid version of its domain is imported, so that there is no operator set to look into."""
    UNNAMED = "unnamed"
    """The node names no operator."""


class Operator:
    """What a domain, an op_type and an overload stand for under one imported version; there is one object for each."""

    __slots__ = ("domain", "function", "op_type", "opset_version", "schema", "standing")

    def __init__(
        self,
        domain: str,
        op_type: str,
        opset_version: int | None,
        standing: Standing,
        schema: OperatorSchema | None = None,
        function: Function | None = None,
    ) -> None:
        self.domain = domain
        """The domain; the default domain is empty."""
        self.op_type = op_type
        self.opset_version = opset_version
        """The version that is imported, None where there is none."""
        self.standing = standing
        self.schema = schema
        self.function = function


class Usage:
    """The nodes that use one operator with the same operands given and the same names and types of attributes."""

    __slots__ = ("attributes", "inputs", "nodes", "operator", "outputs")

    def __init__(
        self,
        operator: Operator,
        inputs: tuple[bool, ...],
        outputs: tuple[bool, ...],
        attributes: tuple[tuple[str, int], ...],
        nodes: list[Node],
    ) -> None:
        self.operator = operator
        self.inputs = inputs
        """For each input whether it is given; an empty name leaves it out."""
        self.outputs = outputs
        self.attributes = attributes
        """Name and stated type of each attribute, in the order of the nodes."""
        self.nodes = nodes


class Signatures:
    """The operators of a model's nodes."""

    def __init__(self, model: Model, schemas: OperatorSchemas) -> None:
        self.schemas = schemas
        """Where signatures come from: the built-in operators and those of schema files."""
        self._model = model
        self._operators: dict[tuple[str, str, int | None], Operator] = {}
        self._calls: dict[int, Operator] = {}
        self._unmatched: dict[tuple[str, str], Operator] = {}
        self._versions: dict[int, Mapping[str, int]] = {}

    def opset_versions(self, graph: Graph) -> Mapping[str, int]:
        """The operator set version that the nodes of a graph are bound to, for each domain (the default one is empty).

        A function body and the graphs in it have the imports of the function, all others those of the model. Where a
        domain is imported twice the highest version counts, as the specification says. A version that cannot be one is
        no import. Below IR version 3, which has no imports, the default domain is that of version 1.
        """
        function = graph.function
        scope = -1 if function is None else function.index
        if scope not in self._versions:
            proto = self._model.proto if function is None else function.proto
            self._versions[scope] = _highest(proto.opset_import, self._implied_version(function))
        return self._versions[scope]

    def operator(self, node: Node) -> Operator:
        """What the node's domain, op_type and overload stand for."""
        calls = self._model.calls
        if self._model.functions and calls.namesakes(node):
            function = calls.function_of(node)
            if function is not None:
                return self._call(function, node)
            return self._unmatched_call(node)
        domain = normalized_domain(node.domain)
        return self._declared(domain, node.op_type, self.opset_versions(node.graph).get(domain))

    @cached_property
    def usages(self) -> list[Usage]:
        """Every node of every graph and function body, those that look alike together."""
        usages: dict[tuple[object, ...], Usage] = {}
        for graph in self._model.graphs:
            for nodes in self._alike(graph):
                usage = _usage(self.operator(nodes[0]), nodes)
                key = (usage.operator, usage.inputs, usage.outputs, usage.attributes)
                same = usages.setdefault(key, usage)
                if same is not usage:
                    same.nodes.extend(nodes)
        return list(usages.values())

    def _alike(self, graph: Graph) -> Iterable[list[Node]]:
        """The nodes of one graph in groups whose operators and operands are written alike."""
        functions = self._function_names
        groups: dict[tuple[object, ...], list[Node]] = {}
        for node in graph.nodes:
            inputs, outputs, attributes = node.inputs, node.outputs, node.attribute_protos
            key = (
                node.op_type,
                node.domain,
                tuple(map(bool, inputs)) if "" in inputs else len(inputs),
                tuple(map(bool, outputs)) if "" in outputs else len(outputs),
                tuple([(attribute.name, attribute.type) for attribute in attributes]) if attributes else None,
                # The overload is part of what a call means, and nothing to any other node.
                node.proto.overload if node.op_type in functions else None,
            )
            group = groups.get(key)
            if group is None:
                groups[key] = [node]
            else:
                group.append(node)
        return groups.values()

    @cached_property
    def _function_names(self) -> frozenset[str]:
        return frozenset(function.name for function in self._model.functions)

    @cached_property
    def verified_usages(self) -> list[Usage]:
        """The usages of operators whose signature is known and counts.

        A deprecated operator is no longer part of the operator set, so its old signature binds nobody.
        """
        found = (usage for usage in self.usages if usage.operator.schema is not None)
        return [usage for usage in found if usage.operator.schema is not None and not usage.operator.schema.deprecated]

    @cached_property
    def calls_have_attributes(self) -> bool:
        """Whether a node that calls a function of the model gives it attributes."""
        return any(usage.attributes and usage.operator.function is not None for usage in self.usages)

    def not_verified(self) -> dict[str, int]:
        """How many nodes of each domain no signature was found for, without any rule that reports them as unknown.

        The default domain is called `ai.onnx`.
        """
        counts: Counter[str] = Counter()
        for usage in self.usages:
            if usage.operator.standing in (Standing.UNVERIFIED, Standing.UNBOUND):
                counts[usage.operator.domain or "ai.onnx"] += len(usage.nodes)
        return dict(sorted(counts.items()))

    def _implied_version(self, function: Function | None) -> int | None:
        if function is None and self._model.effective_ir_version < OPSET_IMPORTS_SINCE:
            return 1
        return None

    def _call(self, function: Function, node: Node) -> Operator:
        if function.index not in self._calls:
            domain, name = normalized_domain(node.domain), node.op_type
            self._calls[function.index] = Operator(domain, name, None, Standing.FUNCTION, function=function)
        return self._calls[function.index]

    def _unmatched_call(self, node: Node) -> Operator:
        # Functions of that name have other overloads: whatever is meant, it is not the operator of the domain.
        key = (normalized_domain(node.domain), node.op_type)
        return self._unmatched.setdefault(key, Operator(*key, None, Standing.UNVERIFIED))

    def _declared(self, domain: str, op_type: str, version: int | None) -> Operator:
        key = (domain, op_type, version)
        if key not in self._operators:
            schema = None if version is None or not op_type else self.schemas.find(domain, op_type, version)
            standing = self._standing(domain, op_type, version, schema)
            self._operators[key] = Operator(domain, op_type, version, standing, schema)
        return self._operators[key]

    def _standing(self, domain: str, op_type: str, version: int | None, schema: OperatorSchema | None) -> Standing:
        if not op_type:
            return Standing.UNNAMED
        if version is None:
            return Standing.UNBOUND
        declared = self.schemas.is_declared(domain, op_type, version)
        if declared is False:
            return Standing.UNKNOWN
        if schema is not None:
            return Standing.KNOWN
        if declared:
            return Standing.UNVERIFIED
        if is_onnx_domain(domain):
            newest = newest_opset_version(domain) or 0
            # A removed experimental operator comes back in no version.
            removed = domain == "" and op_type in REMOVED_EXPERIMENTAL
            return Standing.UNKNOWN if version <= newest or removed else Standing.UNVERIFIED
        # A schema file describes its domain as a whole, unless it only adds to what the package has.
        described = self.schemas.is_described(domain) and domain not in BUILT_IN.known_domains()
        return Standing.UNKNOWN if described else Standing.UNVERIFIED


def _highest(imports: Iterable[Proto], implied: int | None) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for entry in imports:
        version = int(entry.version)
        if version >= 1:
            domain = normalized_domain(entry.domain)
            found[domain] = max(version, found.get(domain, 0))
    if implied is not None:
        found.setdefault("", implied)
    return found


def _usage(operator: Operator, nodes: list[Node]) -> Usage:
    first = nodes[0]
    return Usage(
        operator,
        tuple(map(bool, first.inputs)),
        tuple(map(bool, first.outputs)),
        tuple((attribute.name, attribute.type) for attribute in first.attribute_protos),
        nodes,
    )
