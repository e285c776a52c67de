# SPDX-License-Identifier: Apache-2.0
"""Finds the values whose floating-point elements decide shapes, such as scales of Resize and bounds of Range."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Final

from onnx_lint.inference.shapes.attribute_values import READ_FLOAT_ELEMENTS
from onnx_lint.inference.shapes.contents import IN_ORDER
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Function, Graph
from onnx_lint.ir.operators.operators import Operators

_ScopedName = tuple[int, str]
"""The index of a function, or -1 outside of functions, and the name of a value in any of its graphs."""

_OUTSIDE: Final = -1


class FloatsRead:
    """The names of the values whose floating-point elements a shape rule reads, also after they have passed through
    nodes that do not change them, calls, or into subgraphs.

    Two values with one name, in different subgraphs, count as one: the elements of the other are read without effect.
    """

    def __init__(self, roots: Iterable[Graph], operators: Operators) -> None:
        self._operators = operators
        sources: dict[_ScopedName, list[_ScopedName]] = defaultdict(list)
        wanted: list[_ScopedName] = []
        constants: list[tuple[_ScopedName, NodeForm]] = []
        graphs = list(roots)
        while graphs:
            graph = graphs.pop()
            graphs += graph.nested
            self._add(graph, sources, wanted, constants)
        found: dict[int, set[str]] = defaultdict(set)
        while wanted:
            scope, name = value = wanted.pop()
            if name not in found[scope]:
                found[scope].add(name)
                wanted += sources.get(value, ())
        self._names: Mapping[int, Set[str]] = found
        self.constants = frozenset([form for (scope, name), form in constants if name in found[scope]])
        """The forms of the Constants among them."""

    def names(self, graph: Graph) -> Set[str]:
        """Return the names for a graph."""
        return self._names.get(_scope(graph.function), frozenset())

    def _add(
        self,
        graph: Graph,
        sources: dict[_ScopedName, list[_ScopedName]],
        wanted: list[_ScopedName],
        constants: list[tuple[_ScopedName, NodeForm]],
    ) -> None:
        scope = _scope(graph.function)
        reads: dict[NodeForm, tuple[int, ...]] = {}
        called: dict[NodeForm, Function] = {}
        for form in graph.form_counts:
            operator = self._operators.operator_in(graph, form)
            if operator.function is not None:
                called[form] = operator.function
            elif form.op_type in READ_FLOAT_ELEMENTS and operator.schema is not None:
                rule = shape_rule(operator.schema)
                reads[form] = rule.reads if rule is not None else ()
        rows = zip(graph.table.forms, graph.table.inputs, graph.table.outputs, strict=True)
        for form, inputs, outputs in rows:
            if form in called:
                body = called[form].body
                for source, value in _passed(called[form].index, body, scope, inputs, outputs):
                    sources[value].append(source)
            elif form.op_type == "Constant" and outputs:
                constants.append(((scope, outputs[0]), form))
            elif form.op_type in IN_ORDER and inputs and outputs:
                sources[scope, outputs[0]].append((scope, inputs[0]))
            elif form in reads:
                wanted += [(scope, inputs[index]) for index in reads[form] if index < len(inputs)]


def _scope(function: Function | None) -> int:
    return _OUTSIDE if function is None else function.index


def _passed(
    index: int, body: Graph, scope: int, inputs: Iterable[str], outputs: Iterable[str]
) -> Iterator[tuple[_ScopedName, _ScopedName]]:
    """Yield each value that a call passes to a function or back, before and after that."""
    for given, name in zip(inputs, body.input_names, strict=False):
        yield (scope, given), (index, name)
    for name, returned in zip(body.output_names, outputs, strict=False):
        yield (index, name), (scope, returned)
