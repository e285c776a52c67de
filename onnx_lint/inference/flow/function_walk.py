# SPDX-License-Identifier: Apache-2.0
"""Infers function bodies, once for each distinct call.

A call whose function, input facts and attributes are those of an earlier call gets the outputs of that call. Otherwise
the body is walked, if the budget allows it. If not, the outputs have the types that they had for the same input types,
or are unknown.

A call may pass graphs to a function, as attributes. Nodes of the body run these graphs, but the graphs belong to the
caller: they see its values, and they may call functions that are being walked since the call.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from onnx_lint import schema
from onnx_lint.common.record import Record, replace
from onnx_lint.inference.flow.conflict_recorder import ConflictRecorder
from onnx_lint.inference.flow.declared_facts import declared_values
from onnx_lint.inference.flow.frames import Frame, Frames, Known, NestedGraph, Walk
from onnx_lint.inference.flow.function_declarations import FunctionDeclarations
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walk_budget import BudgetKind, WalkBudget
from onnx_lint.inference.flow.walks import (
    MAX_FURTHER,
    Call,
    CallNeeds,
    FurtherCalls,
    InputUse,
    OmittedInput,
    arguments_for,
    needed_inputs,
)
from onnx_lint.inference.shapes.fact import ABSENT, UNKNOWN, Fact, Facts, fact
from onnx_lint.inference.types.argument import Arguments, Protos, read_arguments
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.graph import Function, Graph, Node
from onnx_lint.ir.operators.control_flow import attribute_name

_MAX_NEEDS: Final = 8
"""The most omitted inputs to remember for a call: thousands of calls may omit thousands."""

CallAttributes = tuple[tuple[str, bytes | int | None], ...]
"""The attributes of a call, on which shapes may depend: the serialized attribute, the number of a graph, or None if the
attribute is unknown."""

CallKey = tuple[int, Facts, CallAttributes, bool]
"""Identifies equal calls: the index of the function, the facts of the inputs, the attributes, and whether the call
never runs.
"""


class GraphWalker(Protocol):
    """Walks graphs, with what all walks over a model share."""

    @property
    def found(self) -> ValueFlow:
        """The result of the walks."""

    @property
    def recorder(self) -> ConflictRecorder:
        """Records conflicts."""

    @property
    def frames(self) -> Frames:
        """Finds memos."""

    @property
    def crashes(self) -> Crashes:
        """Records bugs."""

    def walk(self, graph: Graph, frame: Frame, known: Known, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Walk a graph, with the facts that it sees and those of the inputs that its operator supplies."""

    def walk_nested(self, graph: Graph, frame: Frame, known: Known, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Walk a nested graph, and then forget the facts of its values."""


class _Invocation(Record):
    """A function with the arguments for which its body is walked."""

    function: Function
    arguments: Facts
    bound: Protos
    """The attributes of the call; None for an unknown one."""
    call: Call | None
    """The call; None for a function that is never called."""
    graphs: dict[str, NestedGraph]
    """The graphs that the call passes, by attribute."""
    needs: CallNeeds
    """The inputs that the call omits and the body needs, as they are found."""


class _CallResult(Record):
    """What is remembered of a call, for further calls with the same key."""

    outputs: Facts
    needs: Sequence[tuple[int, InputUse]]
    """Some inputs that the call omits and the body needs, by index."""
    further: FurtherCalls | None
    """The further calls, if the body has a finding; None if it has none."""
    sizing: Call | None
    """The call, if nodes of the body may give dimensions sizes."""


class FunctionWalk:
    """The walks over function bodies."""

    def __init__(self, walker: GraphWalker, declarations: FunctionDeclarations) -> None:
        self._walker = walker
        self._flow = walker.found
        self._kept = walker.found.kept
        self._reachability = walker.found.reachability
        self._trials = walker.found.trials
        self._results: dict[CallKey, _CallResult] = {}
        """The results of the calls so far."""
        self._output_types: dict[tuple[int, Facts, Arguments], Facts] = {}
        """The types of the outputs, by the types of the arguments."""
        self._serialized: dict[int, tuple[Any, bytes]] = {}
        """The attributes of calls and their bytes, by identity. Each walk over a body passes the same attributes."""
        self._type_parameters: dict[int, frozenset[str]] = {}
        """The attribute parameters on which types in a function depend, by the index of the function."""
        self._budget = WalkBudget()
        self._open: dict[int, None] = {}
        """The functions that are being walked, from the outermost one on."""
        self._passed_graphs = 0
        """The number of graphs that calls have passed to functions."""
        self._active_graphs: set[int] = set()
        """The numbers of those that are being walked: the default of a parameter may refer to itself."""
        self.declarations = declarations
        """Compares the declarations in functions."""

    def call(
        self, function: Function, node: Node, inputs: Facts, nested: Sequence[NestedGraph], frame: Frame
    ) -> Generator[Walk, Facts, Facts]:
        """Yield the walk over the body if needed; return the outputs of a call with these arguments."""
        attributes = node.attribute_protos
        bound = _bound(attributes, frame.bound)
        graphs = {each.name: self._numbered(each) for each in nested}
        inputs = arguments_for(function, inputs)
        is_idle = bool(self._reachability.idle_parts)
        key = function.index, inputs, self._serialized_attributes(bound, graphs), is_idle
        known = self._results.get(key)
        if known is not None:
            return self._outputs_of_equal_call(known, Call(node, inputs, frame.call), frame)
        arguments = read_arguments(attributes, self._type_parameters_of(function), frame.bound) if attributes else ()
        type_key = function.index, _types_only(inputs), arguments
        known_types = self._output_types.get(type_key) if not graphs else None
        if not self._start_walk(function, bound, "types" if known_types is None else "shapes"):
            self.declarations.doubt(function, types=known_types is None)
            return known_types or ()
        call = Call(node, inputs, frame.call, FurtherCalls())
        invocation = _Invocation(
            function=function, arguments=inputs, bound=bound, call=call, graphs=graphs, needs=CallNeeds()
        )
        result = yield from self._walk_call(invocation, call)
        self._results[key] = result
        self._output_types.setdefault(type_key, _types_only(result.outputs))
        if result.needs:
            self._record_needs(node, frame, result.needs)
        return result.outputs

    def _walk_call(self, invocation: _Invocation, call: Call) -> Generator[Walk, Facts, _CallResult]:
        """Yield the walk over the body for a call; return what to remember of it."""
        recorder = self._walker.recorder
        problem_count, sizing_count = recorder.operand_problem_count, self._kept.sizing_count
        outputs = yield self._body(invocation)
        has_finding = recorder.operand_problem_count > problem_count
        needed = _most_needed(invocation.function, invocation.needs) if invocation.needs.uses else ()
        gives_sizes = self._kept.sizing_count > sizing_count
        return _CallResult(
            outputs=outputs,
            needs=needed,
            further=call.equal if has_finding else None,
            sizing=call if gives_sizes else None,
        )

    def _outputs_of_equal_call(self, result: _CallResult, call: Call, frame: Frame) -> Facts:
        """Return the outputs of an earlier call. Record what this one omits, and that it has the same findings."""
        self._record_needs(call.node, frame, result.needs)
        further = result.further
        if further is not None and len(further.calls) < MAX_FURTHER and not self._trials.is_trial:
            further.calls.append(call)
        if result.sizing is not None:
            self._kept.keep_equal_call(result.sizing, call)
        return result.outputs

    def _start_walk(self, function: Function, bound: Protos, budget: BudgetKind) -> bool:
        """Charge a walk over the body for a call; return False if it must not be made.

        A body is not walked inside of itself, nor beyond the budget.
        """
        return function.index not in self._open and self._budget.try_charge_body(function, bound, budget)

    def _serialized_attributes(self, bound: Protos, graphs: Mapping[str, NestedGraph]) -> CallAttributes:
        found: list[tuple[str, bytes | int | None]] = []
        for name, proto in bound.items():
            if proto is None or name not in graphs:
                found.append((name, None if proto is None else self._bytes_of(proto)))
            else:
                found.append((name, graphs[name].number))
        return tuple(found)

    def _record_needs(self, node: Node, frame: Frame, needs: Sequence[tuple[int, InputUse]]) -> None:
        """Record the first needed input that a call omits.

        If the call passes on a parameter of the function around it, that function needs the parameter.
        """
        is_noted = False
        for index, use in needs:
            given = node.inputs[index] if index < len(node.inputs) else ""
            if given and frame.needs is not None and not self._reachability.uncertain_depth:
                frame.needs.add(given, InputUse(node, index, use.is_required))
            elif not given and not is_noted:
                self._flow.omitted_inputs.append(OmittedInput(node, index, use))
                is_noted = True

    def record_uses(self, graph: Graph, frame: Frame, known: Known) -> None:
        """Record the inputs that the call omits and that nodes of a graph of the body need; the graph surely runs."""
        names = graph.function.body.input_names if graph.function is not None else ()
        omitted = {name for name in names if name and known.get(name) is ABSENT}
        if frame.needs is None or not omitted:
            return
        for node in graph.nodes:
            memo = frame.memos.get(node.form) if not omitted.isdisjoint(node.inputs) else None
            if memo is None or memo.operator is None or memo.operator.schema.deprecated:
                continue
            for index, is_required in needed_inputs(memo.operator.schema, node.inputs, omitted):
                frame.needs.add(node.inputs[index], InputUse(node, index, is_required))

    def _bytes_of(self, attribute: Any) -> bytes:
        if id(attribute) not in self._serialized:
            self._serialized[id(attribute)] = attribute, schema.serialized(attribute)
        return self._serialized[id(attribute)][1]

    def was_entered(self, function: Function) -> bool:
        """Return whether the body has been walked."""
        return self._budget.is_charged(function)

    def uncalled(self, function: Function) -> Walk:
        """Infer the body of a function that is never called, with the arguments that its value_info declares."""
        bound = dict.fromkeys(function.attribute_names)
        self._budget.mark_walked(function)
        body = function.body
        stated = declared_values(body) if body.value_info_names else {}
        inputs = tuple([stated.get(name, UNKNOWN) for name in body.input_names])
        invocation = _Invocation(
            function=function, arguments=inputs, bound=bound, call=None, graphs={}, needs=CallNeeds()
        )
        return (yield from self._body(invocation))

    def _numbered(self, nested: NestedGraph) -> NestedGraph:
        """Return a graph that a call passes to a function with a number; one that is passed on keeps its number."""
        if nested.is_passed_by_call:
            return nested
        self._passed_graphs += 1
        return replace(nested, number=self._passed_graphs, depth=len(self._open))

    def walk_passed(self, nested: NestedGraph, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Walk a graph that a call passed to a function.

        While the graph is walked, functions entered since that call do not count as open: the graph belongs to the
        caller, so a node of it that calls one of them does not call it from inside of its own body.
        """
        if nested.number in self._active_graphs or not self._budget.try_charge_graph(nested.graph):
            self._flow.walks.are_graphs_left_out = True
            return (UNKNOWN,) * len(nested.graph.output_names)
        self._active_graphs.add(nested.number)
        entered_since = list(self._open)[nested.depth :]
        for index in entered_since:
            del self._open[index]
        outputs = yield from self._walker.walk_nested(nested.graph, nested.frame, nested.known, supplied)
        self._open.update(dict.fromkeys(entered_since))
        self._active_graphs.discard(nested.number)
        return outputs

    def _body(self, invocation: _Invocation) -> Walk:
        """Walk a body; add the inputs that the call omits and the body needs to the needs of the call."""
        function, call, inputs = invocation.function, invocation.call, invocation.arguments
        names = function.body.input_names
        known = _facts_of_inputs(names, inputs)
        protos = {default.name: default for default in function.attribute_defaults} | dict(invocation.bound)
        self._open[function.index] = None
        omits = call is not None and (ABSENT in inputs or len(inputs) < len(names))
        graphs = invocation.graphs
        frame = self._walker.frames.of_body(function, protos, call, graphs, invocation.needs if omits else None)
        graphs.update(self._default_graphs(function, invocation.bound, frame, known))
        # Save and reset what belongs to the caller: the depth counts within one body.
        depth_of_caller, self._reachability.uncertain_depth = self._reachability.uncertain_depth, 0
        outputs = yield from self._walker.walk(function.body, frame, known, None)
        self._reachability.uncertain_depth = depth_of_caller
        self._open.pop(function.index, None)
        with self._walker.crashes.at("comparing declarations with what follows", function.place):
            self.declarations.compare(function, known, frame.memos, call)
        graphs.clear()  # the defaults among them refer to the frame, which would keep the model alive
        return outputs

    def _default_graphs(
        self, function: Function, bound: Protos, frame: Frame, known: Known
    ) -> Iterator[tuple[str, NestedGraph]]:
        """Yield the graphs in the defaults of attribute parameters that the call leaves out, by parameter."""
        for graph in function.body.nested:
            if graph.position == len(function.body.forms):  # such graphs have the position after the last node
                name = attribute_name(function.attribute_defaults, graph)
                if name not in bound:
                    yield name, self._numbered(NestedGraph(name, graph, frame, known))

    def _type_parameters_of(self, function: Function) -> frozenset[str]:
        """Return the attribute parameters that types in the body, or in bodies that it calls, may depend on."""
        if function.index not in self._type_parameters:
            self._type_parameters[function.index] = frozenset(self._references(function.body))
        return self._type_parameters[function.index]

    def _references(self, graph: Graph) -> list[str]:
        found: list[str] = []
        for form in graph.form_counts:
            references = [(proto.name, proto.ref_attr_name) for proto in form.attributes if proto.ref_attr_name]
            if references:
                operator = self._walker.frames.operator_of(graph, form)
                found += [name for own, name in references if operator is None or own in operator.attributes]
        for nested in graph.nested:
            found += self._references(nested)
        return found


def _facts_of_inputs(names: Sequence[str], inputs: Facts) -> Known:
    """Return the facts of the inputs of a body by name; those that the call omits are absent."""
    known: Known = dict(zip(names, inputs, strict=False))
    known.update(dict.fromkeys(names[len(inputs) :], ABSENT))
    known[""] = ABSENT
    return known


def _bound(attributes: Sequence[Any], around: Protos | None) -> dict[str, Any]:
    """Return the attributes of a call. `around`: those of the call of the function around it; references name these."""
    found: dict[str, Any] = {}
    for attribute in attributes:
        if not attribute.ref_attr_name:
            found[attribute.name] = attribute
        elif around is not None and attribute.ref_attr_name in around:
            found[attribute.name] = around[attribute.ref_attr_name]
    return found


def _most_needed(function: Function, needs: CallNeeds) -> list[tuple[int, InputUse]]:
    """Return the omitted inputs that a body needs, by index; required ones first."""
    names = enumerate(function.body.input_names)
    uses = [(index, needs.uses[name]) for index, name in names if name in needs.uses]
    uses.sort(key=lambda each: not each[1].is_required)
    return uses[:_MAX_NEEDS]


def _types_only(facts: Facts) -> Facts:
    """Return the facts reduced to their types."""
    return tuple(map(_type_only, facts))


def _type_only(each: Fact) -> Fact:
    return each if each.shape is None and each.content is None and each.inside is None else fact(each.kind)
