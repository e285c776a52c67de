# SPDX-License-Identifier: Apache-2.0
"""Walks over function bodies, each once for everything that its values depend on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from onnx_lint import schema
from onnx_lint.common.record import replace
from onnx_lint.inference.flow.call_memory import CallAttributes, CallMemory
from onnx_lint.inference.flow.frames import Frame, Frames, HeldGraph, Known, Walk
from onnx_lint.inference.flow.function_declarations import FunctionDeclarations
from onnx_lint.inference.flow.walks import Call, Walks, arguments_for
from onnx_lint.inference.shapes.fact import ABSENT, UNKNOWN, Fact, Facts
from onnx_lint.inference.types.argument import Protos, read_arguments
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.graph import Function, Graph, Node
from onnx_lint.ir.operators.control_flow import attribute_name


class FunctionWalk:
    """The walks over function bodies."""

    def __init__(
        self,
        frames: Frames,
        declarations: FunctionDeclarations,
        walk: Callable[[Graph, Frame, Known, tuple[Fact | None, ...] | None], Walk],
        walk_nested: Callable[[Graph, Frame, Known, tuple[Fact | None, ...] | None], Walk],
        walks: Walks,
        crashes: Crashes,
    ) -> None:
        self._crashes = crashes
        self._frames = frames
        self._walk = walk
        self._walk_nested = walk_nested
        self._walks = walks
        self._calls = CallMemory(frames.operator_of)
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
        arguments = read_arguments(attributes, self._calls.deciding(function), frame.bound) if attributes else ()
        bound = _bound(attributes, frame.bound)
        graphs = {each.name: self._handed_over(each) for each in held}
        given: CallAttributes = tuple(
            [
                (name, None if proto is None else graphs[name].number if name in graphs else schema.serialized(proto))
                for name, proto in bound.items()
            ]
        )
        inputs = arguments_for(function, inputs)
        known = self._calls.outputs(function, inputs, given)
        if known is not None:
            return known
        typed = self._calls.typed_outputs(function, inputs, arguments) if not graphs else None
        if not self._calls.may_enter(function, for_types=typed is None):
            self.declarations.doubt(function, types=typed is None)
            return typed or ()
        outputs = yield self._body(function, inputs, bound, Call(node, inputs, frame.call), graphs)
        self._calls.remember(function, inputs, given, arguments, outputs)
        return outputs

    def was_entered(self, function: Function) -> bool:
        """Return whether the body has been walked."""
        return self._calls.was_entered(function)

    def uncalled(self, function: Function) -> Walk:
        """Infer the body of a function that is never called, with unknown arguments."""
        self._calls.may_enter(function, for_types=True)
        bound = dict.fromkeys(function.attribute_names)
        inputs = (UNKNOWN,) * len(function.body.input_names)
        return (yield from self._body(function, inputs, bound, None, {}))

    def _handed_over(self, held: HeldGraph) -> HeldGraph:
        """Return the graph that a call gives to a function; one that the caller was given itself stays the same."""
        if held.number:
            return held
        self._count += 1
        return replace(held, number=self._count, depth=self._calls.depth)

    def walk_given(self, held: HeldGraph, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Walk a graph that a call gave to a function. It may call the functions that were entered since then."""
        if held.number in self._running or not self._calls.may_run(held.graph):
            self._walks.are_graphs_left_out = True
            return (UNKNOWN,) * len(held.graph.output_names)
        self._running.add(held.number)
        later = self._calls.leave_after(held.depth)
        outputs = yield from self._walk_nested(held.graph, held.frame, held.known, supplied)
        self._calls.enter(*later)
        self._running.discard(held.number)
        return outputs

    def _body(
        self,
        function: Function,
        inputs: Facts,
        bound: Protos,
        call: Call | None,
        graphs: dict[str, HeldGraph],
    ) -> Walk:
        names = function.body.input_names
        known: Known = dict(zip(names, inputs, strict=False))
        known.update(dict.fromkeys(names[len(inputs) :], ABSENT))
        known[""] = ABSENT
        protos = {default.name: default for default in function.attribute_defaults} | dict(bound)
        self._calls.enter(function.index)
        frame = self._frames.of_body(function, protos, call, graphs)
        for graph in function.body.nested:
            if graph.position == len(function.body.forms):
                default = HeldGraph(attribute_name(function.attribute_defaults, graph), graph, frame, known)
                if default.name not in bound:
                    graphs[default.name] = self._handed_over(default)
        outputs = yield from self._walk(function.body, frame, known, None)
        self._calls.leave(function)
        with self._crashes.at("comparing declarations with what follows", function.place):
            self.declarations.compare(function, known, frame.memos, call)
        graphs.clear()  # the defaults among them refer to the frame, which would keep the model alive
        return outputs


def _bound(attributes: Sequence[Any], around: Protos | None) -> dict[str, Any]:
    """Return the attributes of a call; inside a function, references are replaced by the attributes of its own call."""
    found: dict[str, Any] = {}
    for attribute in attributes:
        if not attribute.ref_attr_name:
            found[attribute.name] = attribute
        elif around is not None and attribute.ref_attr_name in around:
            found[attribute.name] = around[attribute.ref_attr_name]
    return found
