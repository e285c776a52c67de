# SPDX-License-Identifier: Apache-2.0
"""Compares the value_info of functions with the facts that the calls of the model lead to."""

from __future__ import annotations

from collections.abc import Mapping

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.flow.conflict_recorder import ConflictRecorder
from onnx_lint.inference.flow.declared_facts import DeclarationEntry, declared_values
from onnx_lint.inference.flow.faulty_values import FaultyValues
from onnx_lint.inference.flow.joining import ContradictionKind, contradiction_between
from onnx_lint.inference.flow.outcome_memo import OutcomeMemo
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import Call
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact
from onnx_lint.inference.shapes.stated import facts_of_types
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import BEFORE_NODES, Function, Graph
from onnx_lint.spec.operators import OperatorSchema


class _UnmetDeclaration(Record):
    """A declaration that a call contradicts, and the fact from the first such call."""

    contradiction: ContradictionKind
    stated: Fact
    made: Fact
    call: Call | None
    schema: OperatorSchema | None = None
    """The operator that can never produce the declared type, if its inputs are unknown."""
    is_of_all: bool = True
    """True if every call so far contradicts it in the same way: in the type or in the shape."""


class FunctionDeclarations:
    """The declarations in `value_info` of functions that calls contradict.

    A function may be called with several types and shapes, but its `value_info` can describe only one of them. So a
    declaration that only some calls contradict is not wrong for all of them.
    """

    def __init__(self, faulty: FaultyValues) -> None:
        self._faulty = faulty
        self._found: dict[int, dict[int, _UnmetDeclaration]] = {}
        """The declarations by the function's index and their own."""
        self._doubted: dict[int, set[ContradictionKind]] = {}
        self._bodies: dict[int, Graph] = {}
        """The bodies of the functions that were walked."""
        self._stated: dict[int, list[Fact]] = {}
        """The facts that they declare, by entry of value_info."""

    def compare(
        self, function: Function, known: Mapping[str, Fact], memos: Mapping[NodeForm, OutcomeMemo], call: Call | None
    ) -> None:
        """Compare the declarations of a function with the facts from one walk over its body."""
        body = function.body
        if not body.value_info_names:
            return
        is_first = function.index not in self._found
        found = self._found.setdefault(function.index, {})
        if is_first:
            self._bodies[function.index], self._stated[function.index] = body, _stated(body)
        for index, stated in enumerate(self._stated[function.index]):
            name = body.value_info_names[index]
            made = known.get(name, UNKNOWN)
            contradiction = contradiction_between(made, stated) if made is not stated else ""
            schema = self._operator_never_producing(body, name, stated, memos, known) if made.kind is None else None
            if schema is not None:
                contradiction = "type"
            earlier = found.get(index)
            if earlier is not None and contradiction != earlier.contradiction:
                found[index] = replace(earlier, is_of_all=False)
            elif earlier is None and contradiction:
                found[index] = _UnmetDeclaration(
                    contradiction=contradiction, stated=stated, made=made, call=call, schema=schema, is_of_all=is_first
                )

    def _operator_never_producing(
        self, body: Graph, name: str, stated: Fact, memos: Mapping[NodeForm, OutcomeMemo], known: Mapping[str, Fact]
    ) -> OperatorSchema | None:
        """Return the operator of a value if its signature does not allow the declared type, for any inputs."""
        index = body.positions.get(name, BEFORE_NODES)
        if index == BEFORE_NODES or not stated.kind:
            return None
        memo = memos[body.forms[index]]
        if memo.operator is None or memo.may_give(body.node_outputs[index].index(name), stated.kind):
            return None
        return None if self._faulty.are_affected(body, index, known) else memo.operator.schema

    def doubt(self, function: Function, *, types: bool) -> None:
        """Record that a call was not followed, so that its shapes, or also its types, may agree."""
        self._doubted.setdefault(function.index, set()).update(("type", "shape") if types else ("shape",))

    def record(self, flow: ValueFlow, recorder: ConflictRecorder) -> None:
        """Record the contradictions, after all calls."""
        for number, contradictions in self._found.items():
            body, doubted = self._bodies[number], self._doubted.get(number, set())
            for index, each in contradictions.items():
                if not each.is_of_all or each.contradiction in doubted:
                    flow.of_some_calls.add((id(body), index))
                entry = DeclarationEntry(body, "value_info", index)
                if each.schema is not None:
                    recorder.record_impossible(entry, each.stated, each.schema, each.call)
                else:
                    recorder.record_declared(entry, each.stated, each.made, each.call)


def _stated(body: Graph) -> list[Fact]:
    """Return what each entry of value_info declares.

    Of two entries for one name, the first has the common part: the difference is another finding.
    """
    names = body.value_info_names
    if len(set(names)) == len(names):
        return list(facts_of_types(body.value_infos["value_info"].types))
    common = dict(declared_values(body))
    return [common.pop(name, UNKNOWN) for name in names]
