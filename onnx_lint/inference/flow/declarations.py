# SPDX-License-Identifier: Apache-2.0
"""Compares the declarations of values with the facts that are inferred for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.conflict_recorder import ConflictRecorder
from onnx_lint.inference.flow.declared_facts import DeclarationEntry, declaration_of, declarations_of
from onnx_lint.inference.flow.faulty_values import FaultyValues
from onnx_lint.inference.flow.joining import (
    contradiction_between,
    differ_in_shape,
    have_different_types,
    joined,
    joined_shapes,
)
from onnx_lint.inference.flow.outcome_memo import NodeOutcome, OutcomeMemo
from onnx_lint.inference.flow.walks import Call
from onnx_lint.inference.shapes.dims import Shape, may_count_the_same
from onnx_lint.inference.shapes.fact import Fact, fact
from onnx_lint.inference.shapes.stated import facts_of_types
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Graph


class Declarations:
    """Joins declarations with inferred facts, and records contradictions."""

    def __init__(self, recorder: ConflictRecorder, faulty: FaultyValues) -> None:
        self._recorder = recorder
        self._faulty = faulty
        self.joined: dict[tuple[Fact, Fact], Fact] = {}
        """The joined facts of values whose declaration does not contradict the inferred fact."""

    def join(self, name: str, made: Fact, stated: Fact, contradicted: dict[str, Fact]) -> Fact:
        """Return the joined fact of a pair that is not in `joined`.

        On a contradiction, put the inferred one into `contradicted`.
        """
        both, contradiction = joined(made, stated)
        if contradiction:
            contradicted[name] = made
        else:
            if len(self.joined) >= _MAX_JOINED:
                self.joined.clear()
            self.joined[made, stated] = both
        return both

    def compare(
        self, graph: Graph, declared: Mapping[str, Fact], contradicted: Mapping[str, Fact], call: Call | None
    ) -> set[str]:
        """Record the values whose declaration contradicts the inferred fact; return those with another type."""
        differing: set[str] = set()
        for name, stated in _contradicting(graph, declared, contradicted).items():
            self._recorder.record_declared(stated.entry, stated.fact, contradicted[name], call)
            if have_different_types(stated.fact, contradicted[name]):
                differing.add(name)
        return differing

    def record_count(self, graph: Graph, name: str, data: Fact, stated: Fact, call: Call | None) -> None:
        """Record the output of a Reshape that is declared with another number of elements than its input has."""
        entry = declaration_of(graph, name)
        if entry is not None:
            self._recorder.record_declared_count(entry, stated, data, call)

    def compare_branches(
        self,
        graph: Graph,
        declared: Mapping[str, Fact],
        outputs: Sequence[str],
        outcome: NodeOutcome,
        call: Call | None,
    ) -> None:
        """Record the outputs of an If whose declaration contradicts the output of one of its branches.

        Contradictions with both branches together are recorded with the other declarations.
        """
        for position, (name, made) in enumerate(zip(outputs, outcome.outputs, strict=False)):
            stated = declared.get(name)
            if stated is None or contradiction_between(made, stated):
                continue
            wrong = [
                (branch, facts[position])
                for branch, facts in zip(("then_branch", "else_branch"), outcome.branches, strict=True)
                if differ_in_shape(facts[position], stated)
            ]
            entry = declaration_of(graph, name) if wrong else None
            if entry is not None:
                branch, inferred = wrong[0]
                self._recorder.record_declared(entry, stated, inferred, call, branch)

    def is_reported(self, graph: Graph, index: int, name: str, outcome: NodeOutcome, known: Mapping[str, Fact]) -> bool:
        """Return whether to report a declared type that the operator can never produce.

        False if it follows from a fault.
        """
        if outcome.problems or self._faulty.are_affected(graph, index, known):
            return False
        self._faulty.add(graph, [name])
        # A value with two definitions is another finding.
        return graph.positions.get(name) == index

    def record_impossible(
        self, graph: Graph, declared: Mapping[str, Fact], impossible: dict[str, OutcomeMemo], call: Call | None
    ) -> None:
        """Record the values whose declared type their operator can never produce, each once."""
        for entry in declarations_of(graph):
            memo = impossible.pop(entry.subject, None)
            if memo is not None and memo.operator is not None:
                self._recorder.record_impossible(entry, declared[entry.subject], memo.operator.schema, call)


CountComparison = Literal["same", "other", "other by names"]
"""How the number of elements of a Reshape's declared output compares with that of its input.

`same`: they may be equal, or another finding says why not. `other`: they differ for all sizes of the variables.
`other by names`: only the declared names make them differ; the model may run, whatever they are.
"""


def compare_counts(data: Shape, stated: Shape, made: Shape) -> CountComparison:
    """Return how the number of elements in the declared shape compares with that of the input, `data`.

    `made`: the inferred shape.
    """
    if data is None or stated is None:
        return "same"
    known, _ = joined_shapes(made, stated)
    if known is None or may_count_the_same(data, known):
        return "same"
    if made is not None and not may_count_the_same(data, made):
        return "same"  # the finding on the node says so, whatever is declared
    sizes, _ = joined_shapes(made, tuple([dim if isinstance(dim, int) else None for dim in stated]))
    if sizes is not None and may_count_the_same(data, sizes):
        return "other by names"
    return "other"


def without_expressions(stated: Fact) -> Fact:
    """Return a declaration without dimensions that are written as expressions.

    If the branches of an If have different sizes, such a name is no more than a name: it cannot mean both.
    """
    shape = stated.shape
    if shape is None or all(not isinstance(dim, str) or dim.isidentifier() for dim in shape):
        return stated
    left = tuple([None if isinstance(dim, str) and not dim.isidentifier() else dim for dim in shape])
    return fact(stated.kind, left, stated.content, stated.inside, stated.elements, stated.parts)


def may_be(stated: Fact, graph: Graph, index: int, name: str, memo: OutcomeMemo) -> bool:
    """Return whether the operator of a node may produce the declared type of an output, for any inputs.

    A node with a wrong number of inputs has another finding, and may produce anything.
    """
    if memo.operator is not None and not memo.operator.schema.allows_input_count(len(graph.node_inputs[index])):
        return True
    return not stated.kind or memo.may_give(graph.node_outputs[index].index(name), stated.kind)


class _StatedFact(Record):
    """A declaration with the fact that it states."""

    entry: DeclarationEntry
    fact: Fact


def _contradicting(
    graph: Graph, declared: Mapping[str, Fact], contradicted: Mapping[str, Fact]
) -> dict[str, _StatedFact]:
    """Return the entry of each name in `contradicted` that contradicts the inferred fact, and what it states.

    Of several entries it is the first that contradicts the fact by itself.
    """
    found: dict[str, _StatedFact] = {}
    decided: set[str] = set()
    for entry in declarations_of(graph):
        name = entry.subject
        if name not in contradicted or name in decided:
            continue
        stated = facts_of_types(graph.value_infos[entry.field].types[entry.index : entry.index + 1])[0]
        if contradiction_between(contradicted[name], stated):
            decided.add(name)
            found[name] = _StatedFact(entry, stated)
        else:
            found.setdefault(name, _StatedFact(entry, declared[name]))
    return found


def with_declared_rank(made: Fact, stated: Fact, form: NodeForm) -> Fact:
    """Return what a DictVectorizer makes, if it has the declared rank.

    Its description says one dimension, as long as the vocabulary. ONNX Runtime puts a dimension of 1 in front.
    """
    lists = [each for each in form.attributes if each.name in ("int64_vocabulary", "string_vocabulary")]
    if made.shape is not None or stated.shape is None or any(each.ref_attr_name for each in lists):
        return made
    size = sum([len(each.ints) + len(each.strings) for each in lists])
    if not size:
        return made
    return fact(made.kind, (1, size) if len(stated.shape) == 2 else (size,))


_MAX_JOINED: Final = 50_000
"""The most joined pairs to keep; a full cache is emptied, which costs only time."""
