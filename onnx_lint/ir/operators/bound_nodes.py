# SPDX-License-Identifier: Apache-2.0
"""Nodes of function bodies whose attributes refer to parameters, with the values from calls and defaults.

A function is bound once for each distinct tuple of values that affects it or the functions that it calls, however often
it is called with them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from onnx_lint import schema
from onnx_lint.common.record import Record
from onnx_lint.common.salted import salted_key
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Function, Graph, Node, Nodes
from onnx_lint.ir.operators.operators import Operator, Operators
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import Proto
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.wording import quote

MAX_REPEATED: Final = 50_000
"""The limit on the number of nodes that are bound again with further values, after each function was bound once.
In a model with more distinct calls, the remaining ones are not judged."""

ParameterValues = Mapping[str, Proto | None]
"""The values of the parameters of a function; None for an unknown value, no entry for an omitted parameter."""


class ParameterSource(Record):
    """The attribute of a call, or the default of a parameter, that gives a value."""

    proto: Proto
    holder: Graph | Function
    form: NodeForm | None
    """Nodes with the attribute, in the graph; None for a default."""
    index: int

    @property
    def place(self) -> Place:
        """The attribute."""
        if isinstance(self.holder, Function):
            return self.holder.place.at("attribute_proto", self.index)
        assert self.form is not None
        return self.holder.first_of(self.form).place.at("attribute", self.index)

    def describe(self) -> str:
        """Return the words for the origin of the value."""
        name = quote(self.proto.name)
        if isinstance(self.holder, Function):
            return f"given as the default of parameter {name}"
        assert self.form is not None
        return f"given by {self.holder.first_of(self.form).describe()} as attribute {name}"


ParameterOrigins = Mapping[str, ParameterSource | None]
"""Like `ParameterValues`, with the origin of each value."""


class BoundNodes(Record):
    """The nodes of one form in a function body, for one tuple of the values that they refer to."""

    operator: Operator
    graph: Graph
    form: NodeForm
    """The nodes as they are written."""
    bound: NodeForm
    """The nodes with the values in place of the references; one that is not known is still a reference."""
    sources: Mapping[str, ParameterSource]
    """The origin of the value, for each attribute of a node that refers to a parameter."""
    call: tuple[Graph, NodeForm] | None
    """A call with these values; None for a function that nothing calls."""

    @property
    def nodes(self) -> Nodes:
        """The nodes."""
        return self.graph.nodes_of({self.form})

    @property
    def schema(self) -> OperatorSchema:
        """The signature of the operator, which is known."""
        assert self.operator.schema is not None
        return self.operator.schema

    def notes(self, names: Iterable[str]) -> list[tuple[Place, str]]:
        """Return the origins of the values of attributes, and the call unless one of these is in it."""
        sources = [self.sources[name] for name in names if name in self.sources]
        found = [(source.place, source.describe()) for source in sources]
        if self.call is not None and not any(source.form is not None for source in sources):
            graph, form = self.call
            node = graph.first_of(form)
            found.append((node.place, f"called by {node.describe()}"))
        return found


def with_values(form: NodeForm, values: ParameterValues) -> NodeForm:
    """Return the form with values in place of references to parameters.

    For an omitted parameter the attribute is omitted; a reference to an unknown parameter stays.
    """
    attributes: list[Any] = []
    for attribute in form.attributes:
        if not attribute.ref_attr_name:
            attributes.append(attribute)
        elif attribute.ref_attr_name in values:
            value = values[attribute.ref_attr_name]
            attributes.append(attribute if value is None else _Renamed(value, attribute.name))
    return NodeForm(
        form.op_type, form.domain, form.inputs, form.outputs, overload=form.overload, attributes=tuple(attributes)
    )


class _Renamed:
    """An AttributeProto under the name of the attribute that gets its value: a tensor is not copied for that."""

    __slots__ = ("_proto", "name")

    def __init__(self, proto: Proto, name: str) -> None:
        self._proto = proto
        self.name = name

    def __getattr__(self, field: str) -> Any:
        return getattr(self._proto, field)


def bound_nodes(functions: Sequence[Function], graphs: Sequence[Graph], operators: Operators) -> list[BoundNodes]:
    """Return the nodes of known operators whose attributes refer to parameters of `functions`, for all their calls."""
    referring = _referring_forms(graphs)
    if not referring:
        return []
    binder = _Binder(operators, referring)
    for graph in graphs:
        for form in graph.form_counts:
            callee = operators.operator_in(graph, form).function
            # A call that passes on a parameter is followed when the values of the function around it are known.
            if callee is not None and callee.index in referring and not (graph.function and _parameters(form)):
                binder.call(callee, graph, form, {})
    binder.follow()
    for function in functions:
        if function.index in referring and function.index not in binder.entered:
            binder.enter(function, dict.fromkeys(function.attribute_names), None)
            binder.follow()
    return binder.found


def _referring_forms(graphs: Iterable[Graph]) -> dict[int, list[tuple[Graph, NodeForm]]]:
    """Return the forms of nodes that refer to parameters, with their graphs, by the index of the function."""
    found: dict[int, list[tuple[Graph, NodeForm]]] = {}
    for graph in graphs:
        if graph.function is not None:
            forms = [form for form in graph.form_counts if _parameters(form)]
            if forms:
                found.setdefault(graph.function.index, []).extend((graph, form) for form in forms)
    return found


def graphs_given(found: Iterable[BoundNodes]) -> Iterator[tuple[str, Graph, Node]]:
    """Yield each graph that a call or a default gives to an attribute of a node, with the attribute and the node."""
    known: dict[Graph, dict[Place, Graph]] = {}
    for each in found:
        for name, source in each.sources.items():
            holder = source.holder.body if isinstance(source.holder, Function) else source.holder
            if holder.nested:
                if holder not in known:
                    known[holder] = {graph.place: graph for graph in holder.nested}
                graph = known[holder].get(source.place.at("g"))
                if graph is not None:
                    yield name, graph, each.nodes[0]


def _parameters(form: NodeForm) -> list[str]:
    return [attribute.ref_attr_name for attribute in form.attributes if attribute.ref_attr_name]


class _Binder:
    """Binds the parameters of functions to the values in their calls, and follows the calls in their bodies."""

    def __init__(self, operators: Operators, referring: Mapping[int, list[tuple[Graph, NodeForm]]]) -> None:
        self.found: list[BoundNodes] = []
        self.entered: set[int] = set()
        self._operators = operators
        self._referring = referring
        self._wanted = {
            index: frozenset(name for _, form in forms for name in _parameters(form))
            for index, forms in referring.items()
        }
        self._defaults: dict[int, dict[str, ParameterSource | None]] = {}
        self._pending: deque[tuple[Function, ParameterOrigins, tuple[Graph, NodeForm]]] = deque()
        self._known: set[tuple[int, tuple[tuple[str, int], ...]]] = set()
        self._told: set[tuple[Graph, NodeForm, bytes]] = set()
        self._numbers: dict[bytes, int] = {}
        self._numbered: dict[int, tuple[Proto, int]] = {}
        """The attributes by identity, which are kept so that no other one takes that over."""
        self._budget = MAX_REPEATED

    def call(self, callee: Function, graph: Graph, form: NodeForm, around: ParameterOrigins) -> None:
        """Note that nodes of a graph call a function; `around` binds the parameters of the function around them."""
        wanted = self._wanted[callee.index]
        given: dict[str, ParameterSource | None] = {}
        for index, proto in enumerate(form.attributes):
            if proto.name not in wanted:
                continue
            if not proto.ref_attr_name:
                given[proto.name] = ParameterSource(proto, graph, form, index)
            elif proto.ref_attr_name in around:
                given[proto.name] = around[proto.ref_attr_name]
            elif graph.function is None:
                given[proto.name] = None  # a reference outside of functions with parameters
        self._pending.append((callee, given, (graph, form)))

    def follow(self) -> None:
        """Bind the functions of all calls noted so far, and of the calls in their bodies."""
        while self._pending:
            self.enter(*self._pending.popleft())

    def enter(self, function: Function, given: ParameterOrigins, call: tuple[Graph, NodeForm] | None) -> None:
        """Bind a function to values of some of its parameters, unless it has been bound to the same ones."""
        key = (function.index, tuple(sorted((name, self._number(source)) for name, source in given.items())))
        if key in self._known:
            return
        self._known.add(key)
        defaults = self._defaults_of(function)
        if function.index in self.entered:
            # Many parameters cost as much as a node does.
            self._budget -= 1 + len(self._referring[function.index]) + len(defaults) // 20
            if self._budget < 0:
                return
        self.entered.add(function.index)
        bindings = {**defaults, **given}
        for graph, form in self._referring[function.index]:
            self._bind(graph, form, bindings, call)

    def _defaults_of(self, function: Function) -> Mapping[str, ParameterSource | None]:
        if function.index not in self._defaults:
            self._defaults[function.index] = {
                proto.name: ParameterSource(proto, function, None, index)
                for index, proto in enumerate(function.attribute_defaults)
            }
        return self._defaults[function.index]

    def _bind(
        self, graph: Graph, form: NodeForm, bindings: ParameterOrigins, call: tuple[Graph, NodeForm] | None
    ) -> None:
        names = _parameters(form)
        numbers = tuple([self._number(bindings[name]) if name in bindings else _LEFT_OUT for name in names])
        key = graph, form, salted_key(numbers)
        if key in self._told:
            return
        self._told.add(key)
        operator = self._operators.operator_in(graph, form)
        if operator.function is not None:
            if operator.function.index in self._referring:
                self.call(operator.function, graph, form, bindings)
        elif operator.schema is not None and not operator.schema.deprecated:
            found = {name: bindings[name] for name in names if name in bindings}
            values = {name: None if source is None else source.proto for name, source in found.items()}
            sources = {
                attribute.name: source
                for attribute in form.attributes
                if attribute.ref_attr_name and (source := found.get(attribute.ref_attr_name)) is not None
            }
            self.found.append(BoundNodes(operator, graph, form, with_values(form, values), sources, call))

    def _number(self, source: ParameterSource | None) -> int:
        """Return a number that equal values share. Each attribute is serialized once, however often it is passed on."""
        if source is None:
            return _UNKNOWN
        known = self._numbered.get(id(source.proto))
        if known is None:
            written = schema.serialized(source.proto)
            known = source.proto, self._numbers.setdefault(written, len(self._numbers))
            self._numbered[id(source.proto)] = known
        return known[1]


_UNKNOWN: Final = -1
_LEFT_OUT: Final = -2
