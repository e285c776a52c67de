# SPDX-License-Identifier: Apache-2.0
"""Walks over function bodies, each once for everything that its values depend on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Final

from onnx_lint import schema
from onnx_lint.common.record import replace
from onnx_lint.inference.flow.frames import Frame, Frames, HeldGraph, Known, Walk
from onnx_lint.inference.flow.function_declarations import FunctionDeclarations
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import Call, CallNeeds, InputUse, OmittedInput, arguments_for, needed_inputs
from onnx_lint.inference.shapes.fact import ABSENT, UNKNOWN, Fact, Facts, fact
from onnx_lint.inference.types.argument import Arguments, Protos, read_arguments
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.graph import Function, Graph, Node
from onnx_lint.ir.operators.control_flow import attribute_name

REPEATED_NODES: Final = 50_000
"""The budget, in nodes of function bodies, for walks with further tuples of argument types, after the first walk over
each body; and once more for walks with further shapes. In a model with more distinct calls, the rest of them have
unknown types, or unknown shapes."""

FEW: Final = 20
"""The number of operands, parameters or declared values that counts as one more node; most nodes have two or three."""

MANY: Final = 200
"""The elements and characters of a call's attributes, which each walk reads anew, that count as one more node."""

PARTS: Final = 50
"""The bytes of types and dimensions of initializers that count as one more declared value; most are smaller."""

_MOST_NEEDS: Final = 8
"""The most omitted inputs to remember for a call: thousands of calls may omit thousands."""

CallAttributes = tuple[tuple[str, bytes | int | None], ...]
"""The serialized attributes of a call, None for an unknown one, the number of a graph: what shapes may depend on."""


class FunctionWalk:
    """The walks over function bodies."""

    def __init__(
        self,
        frames: Frames,
        declarations: FunctionDeclarations,
        walk: Callable[[Graph, Frame, Known, tuple[Fact | None, ...] | None], Walk],
        walk_nested: Callable[[Graph, Frame, Known, tuple[Fact | None, ...] | None], Walk],
        found: ValueFlow,
        crashes: Crashes,
    ) -> None:
        self._found = found
        self._crashes = crashes
        self._frames = frames
        self._walk = walk
        self._walk_nested = walk_nested
        self._walks = found.walks
        self._outputs: dict[tuple[int, Facts, CallAttributes], Facts] = {}
        """The outputs of the calls so far."""
        self._needs: dict[tuple[int, Facts, CallAttributes], Sequence[tuple[int, InputUse]]] = {}
        """Some inputs that these calls omit and their bodies need, by index."""
        self._typed: dict[tuple[int, Facts, Arguments], Facts] = {}
        """The types of the outputs, by the types of the arguments."""
        self._serialized: dict[int, tuple[Any, bytes]] = {}
        """The attributes of calls and their bytes, by identity. Each walk over a body hands on the same attributes."""
        self._deciding: dict[int, frozenset[str]] = {}
        self._entered: set[int] = set()
        self._sizes: dict[int, int] = {}
        self._open: dict[int, None] = {}
        """The functions that are being walked, from the outermost one on."""
        self._run: set[int] = set()
        """The graphs of calls that have been walked."""
        self._type_budget = self._shape_budget = REPEATED_NODES
        self._count = 0
        """The number of graphs that calls have handed over."""
        self._running: set[int] = set()
        """Those that are being walked: a default may refer to itself."""
        self.declarations = declarations
        """Compares the declarations in functions."""

    def call(
        self, function: Function, node: Node, inputs: Facts, held: Sequence[HeldGraph], frame: Frame
    ) -> Generator[Walk, Facts, Facts]:
        """Yield the walk over the body if needed; return the outputs of a call with these arguments."""
        attributes = node.attribute_protos
        arguments = read_arguments(attributes, self._deciding_in(function), frame.bound) if attributes else ()
        bound = _bound(attributes, frame.bound)
        graphs = {each.name: self._handed_over(each) for each in held}
        given: CallAttributes = tuple(
            [
                (name, None if proto is None else graphs[name].number if name in graphs else self._bytes_of(proto))
                for name, proto in bound.items()
            ]
        )
        inputs = arguments_for(function, inputs)
        call = function.index, inputs, given
        if call in self._outputs:
            self._note_needs(node, frame, self._needs.get(call, ()))
            return self._outputs[call]
        types = function.index, _types_only(inputs), arguments
        typed = self._typed.get(types) if not graphs else None
        if not self._may_enter(function, bound, for_types=typed is None):
            self.declarations.doubt(function, types=typed is None)
            return typed or ()
        needs = CallNeeds()
        outputs = yield self._body(function, inputs, bound, Call(node, inputs, frame.call), graphs, needs)
        self._outputs[call] = outputs
        if needs.uses:
            names = enumerate(function.body.input_names)
            uses = [(index, needs.uses[name]) for index, name in names if name in needs.uses]
            uses.sort(key=lambda each: not each[1].is_required)
            self._needs[call] = uses[:_MOST_NEEDS]
            self._note_needs(node, frame, uses[:_MOST_NEEDS])
        self._typed.setdefault(types, _types_only(outputs))
        return outputs

    def _note_needs(self, node: Node, frame: Frame, needs: Sequence[tuple[int, InputUse]]) -> None:
        """Record the first needed input that a call leaves out, and those that a call around it leaves out."""
        is_noted = False
        for index, use in needs:
            given = node.inputs[index] if index < len(node.inputs) else ""
            if given and frame.needs is not None and not self._found.unsure:
                frame.needs.add(given, InputUse(node, index, use.is_required))
            elif not given and not is_noted:
                self._found.omitted_inputs.append(OmittedInput(node, index, use))
                is_noted = True

    def note_uses(self, graph: Graph, frame: Frame, known: Known) -> None:
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
        return function.index in self._entered

    def uncalled(self, function: Function) -> Walk:
        """Infer the body of a function that is never called, with unknown arguments."""
        bound = dict.fromkeys(function.attribute_names)
        self._may_enter(function, bound, for_types=True)
        inputs = (UNKNOWN,) * len(function.body.input_names)
        return (yield from self._body(function, inputs, bound, None, {}, CallNeeds()))

    def _handed_over(self, held: HeldGraph) -> HeldGraph:
        """Return the graph that a call gives to a function; one that the caller was given itself stays the same."""
        if held.number:
            return held
        self._count += 1
        return replace(held, number=self._count, depth=len(self._open))

    def walk_given(self, held: HeldGraph, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Walk a graph that a call gave to a function. It may call the functions that were entered since then."""
        if held.number in self._running or not self._may_run(held.graph):
            self._walks.are_graphs_left_out = True
            return (UNKNOWN,) * len(held.graph.output_names)
        self._running.add(held.number)
        later = list(self._open)[held.depth :]
        for index in later:
            del self._open[index]
        outputs = yield from self._walk_nested(held.graph, held.frame, held.known, supplied)
        self._open.update(dict.fromkeys(later))
        self._running.discard(held.number)
        return outputs

    def _body(
        self,
        function: Function,
        inputs: Facts,
        bound: Protos,
        call: Call | None,
        graphs: dict[str, HeldGraph],
        needs: CallNeeds,
    ) -> Walk:
        """Walk a body; add the inputs that the call omits and the body needs to `needs`."""
        names = function.body.input_names
        known: Known = dict(zip(names, inputs, strict=False))
        known.update(dict.fromkeys(names[len(inputs) :], ABSENT))
        known[""] = ABSENT
        protos = {default.name: default for default in function.attribute_defaults} | dict(bound)
        self._open[function.index] = None
        omits = call is not None and (ABSENT in inputs or len(inputs) < len(names))
        frame = self._frames.of_body(function, protos, call, graphs, needs if omits else None)
        for graph in function.body.nested:
            if graph.position == len(function.body.forms):
                default = HeldGraph(attribute_name(function.attribute_defaults, graph), graph, frame, known)
                if default.name not in bound:
                    graphs[default.name] = self._handed_over(default)
        outside, self._found.unsure = self._found.unsure, 0
        around, self._found.idle_around = self._found.idle_around, len(self._found.idle)
        outputs = yield from self._walk(function.body, frame, known, None)
        self._found.unsure = outside
        self._found.idle_around = around
        self._open.pop(function.index, None)
        with self._crashes.at("comparing declarations with what follows", function.place):
            self.declarations.compare(function, known, frame.memos, call)
        graphs.clear()  # the defaults among them refer to the frame, which would keep the model alive
        return outputs

    def _may_enter(self, function: Function, bound: Protos, *, for_types: bool) -> bool:
        """Return whether the body may be walked: not inside of itself, and within the budget. The first walk is free.

        `for_types`: whether it has not been walked yet for arguments of these types. `bound`: the call's attributes.
        """
        if function.index in self._open:
            return False
        if function.index not in self._entered:
            self._entered.add(function.index)
            return True
        size = 1 + self._size(function) + _listed(filter(None, bound.values()))
        if for_types:
            self._type_budget -= size
            return self._type_budget >= 0
        self._shape_budget -= size
        return self._shape_budget >= 0

    def _may_run(self, graph: Graph) -> bool:
        """Return whether a graph that a call hands over may be walked, within the budget for types."""
        if id(graph) not in self._run:
            self._run.add(id(graph))
            return True
        self._type_budget -= 1 + _size(graph)
        return self._type_budget >= 0

    def _size(self, function: Function) -> int:
        """Return the cost of a walk in nodes: hundreds of operands or parameters cost as much as further nodes."""
        if function.index not in self._sizes:
            parameters = len(function.body.input_names) + len(function.attribute_names)
            parameters += len(function.attribute_defaults) + len(function.body.proto.opset_import)
            listed = _listed(function.attribute_defaults)
            self._sizes[function.index] = parameters // FEW + listed + _size(function.body)
        return self._sizes[function.index]

    def _deciding_in(self, function: Function) -> frozenset[str]:
        """Return the attribute parameters that types in the body, or in bodies that it calls, may depend on."""
        if function.index not in self._deciding:
            self._deciding[function.index] = frozenset(self._references(function.body))
        return self._deciding[function.index]

    def _references(self, graph: Graph) -> list[str]:
        found: list[str] = []
        for form in graph.form_counts:
            references = [(proto.name, proto.ref_attr_name) for proto in form.attributes if proto.ref_attr_name]
            if references:
                operator = self._frames.operator_of(graph, form)
                found += [name for own, name in references if operator is None or own in operator.attributes]
        for nested in graph.nested:
            found += self._references(nested)
        return found


def _bound(attributes: Sequence[Any], around: Protos | None) -> dict[str, Any]:
    """Return the attributes of a call; inside a function, references are replaced by the attributes of its own call."""
    found: dict[str, Any] = {}
    for attribute in attributes:
        if not attribute.ref_attr_name:
            found[attribute.name] = attribute
        elif around is not None and attribute.ref_attr_name in around:
            found[attribute.name] = around[attribute.ref_attr_name]
    return found


def _types_only(facts: Facts) -> Facts:
    """Return the facts reduced to their types."""
    return tuple(map(_type_only, facts))


def _type_only(each: Fact) -> Fact:
    return each if each.shape is None and each.content is None and each.inside is None else fact(each.kind)


def _size(graph: Graph) -> int:
    operands = sum(map(len, graph.node_inputs)) + sum(map(len, graph.node_outputs))
    declared = len(graph.output_names) + len(graph.value_info_names)
    declared += sum(len(each) for columns in graph.value_infos.values() for each in columns.types) // PARTS
    if not graph.is_function:
        declared += sum(map(len, graph.initializers.shapes)) // PARTS
        declared += len(graph.input_names) + len(graph.initializer_names) + len(graph.sparse_initializer_names) + 1
    return len(graph.forms) + (operands + declared) // FEW + sum(map(_size, graph.nested))


def _listed(attributes: Iterable[Any]) -> int:
    return sum(len(each.ints) + len(each.floats) + len(each.strings) + len(each.s) for each in attributes) // MANY
