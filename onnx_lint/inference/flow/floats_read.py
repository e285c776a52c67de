# SPDX-License-Identifier: Apache-2.0
"""Finds the values whose floating-point elements decide shapes, such as scales of Resize and bounds of Range."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from typing import Final

from onnx_lint.inference.shapes.attribute_values import INTEGER_TYPES, READ_FLOAT_ELEMENTS
from onnx_lint.inference.shapes.contents import FOLLOWED
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.ir.columns.nodes import BEFORE_NODES, NodeForm
from onnx_lint.ir.graph import Function, Graph
from onnx_lint.ir.operators.operators import Operators

_ScopedName = tuple[int, str]
"""The index of a function, or -1 outside of functions, and the name of a value in any of its graphs."""

_OUTSIDE: Final = -1

_SeenName = tuple[Graph, str]
"""A name, and a graph that uses it."""


class FloatsRead:
    """The names of the values whose floating-point elements a shape rule reads, or an operator casts to integers, also
    after they have passed through operators that are followed, calls, or into subgraphs.

    Two values with one name, in different subgraphs, count as one: the elements of the other are read without effect.
    """

    def __init__(self, roots: Iterable[Graph], operators: Operators) -> None:
        self._operators = operators
        self._given: dict[_ScopedName, list[_SeenName]] = defaultdict(list)
        """The arguments of calls, by the parameters."""
        self.constants: set[NodeForm] = set()
        """The forms of the Constants among the values."""
        self._names: dict[int, set[str]] = defaultdict(set)
        wanted: list[_SeenName] = []
        graphs = list(roots)
        while graphs:
            graph = graphs.pop()
            graphs += graph.nested
            wanted += self._read_in(graph)
        while wanted:
            graph, name = wanted.pop()
            found = self._names[_scope(graph.function)]
            if name and name not in found:
                found.add(name)
                wanted += self._before(graph, name)

    def names(self, graph: Graph) -> Set[str]:
        """Return the names for a graph."""
        return self._names.get(_scope(graph.function), frozenset())

    def _read_in(self, graph: Graph) -> Iterator[_SeenName]:
        """Yield the values that nodes of a graph read, and note the arguments of its calls."""
        reads: dict[NodeForm, tuple[int, ...] | Function] = {}
        for form in graph.form_counts:
            operator = self._operators.operator_in(graph, form)
            if operator.function is not None:
                reads[form] = operator.function
            elif operator.schema is not None and (form.op_type in READ_FLOAT_ELEMENTS or _makes_integers(form)):
                rule = shape_rule(operator.schema)
                reads[form] = (0,) if rule is None or _makes_integers(form) else rule.reads
        for form, inputs in zip(graph.forms, graph.node_inputs, strict=True) if reads else ():
            read = reads.get(form, ())
            if isinstance(read, tuple):
                yield from ((graph, inputs[index]) for index in read if index < len(inputs))
            else:
                for name, given in zip(read.body.input_names, inputs, strict=False):
                    self._given[read.index, name].append((graph, given))

    def _before(self, graph: Graph, name: str) -> Iterator[_SeenName]:
        """Yield the values whose elements decide those of a value."""
        while name not in graph.positions:
            if graph.parent is None:
                return
            graph = graph.parent
        position = graph.positions[name]
        if position == BEFORE_NODES:
            yield from self._given.get((_scope(graph.function), name), ()) if graph.is_function else ()
            return
        form, inputs = graph.forms[position], graph.node_inputs[position]
        operator = self._operators.operator_in(graph, form)
        if operator.function is not None:
            body, index = operator.function.body, graph.node_outputs[position].index(name)
            yield from ((body, each) for each in body.output_names[index : index + 1])
        elif form.op_type == "Constant":
            self.constants.add(form)
        elif form.op_type in FOLLOWED:
            yield from ((graph, inputs[index]) for index in FOLLOWED[form.op_type].reads if index < len(inputs))


def _makes_integers(form: NodeForm) -> bool:
    """Return whether nodes of a form cast to integers, or may do so."""
    if form.op_type != "Cast":
        return form.op_type == "CastLike"
    return any(proto.name == "to" and (proto.ref_attr_name or proto.i in INTEGER_TYPES) for proto in form.attributes)


def _scope(function: Function | None) -> int:
    return _OUTSIDE if function is None else function.index
