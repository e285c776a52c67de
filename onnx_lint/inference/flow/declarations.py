# SPDX-License-Identifier: Apache-2.0
"""Compares the declarations of values with the facts that are inferred for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from onnx_lint.inference.flow.faulty_values import FaultyValues
from onnx_lint.inference.flow.joining import joined, joined_shapes
from onnx_lint.inference.flow.outcome_memo import NodeOutcome, OutcomeMemo
from onnx_lint.inference.flow.value_flow import ValueFlow, have_different_types
from onnx_lint.inference.flow.walks import Call
from onnx_lint.inference.shapes.dims import may_count_the_same
from onnx_lint.inference.shapes.fact import Fact, fact
from onnx_lint.inference.shapes.stated import facts_of_types
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Graph


class Declarations:
    """Joins declarations with inferred facts, and records contradictions."""

    def __init__(self, found: ValueFlow, faulty: FaultyValues) -> None:
        self._found = found
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
        for name, (field, index, stated) in _contradicting(graph, declared, contradicted).items():
            self._found.note_declared(graph, (field, index), stated, contradicted[name], call)
            if have_different_types(stated, contradicted[name]):
                differing.add(name)
        return differing

    def compare_counts(self, graph: Graph, name: str, data: Fact, stated: Fact, made: Fact, call: Call | None) -> bool:
        """Record the output of a Reshape that is declared with another number of elements than its input has.

        Return whether only the declared names make it another number: the model may run, whatever they are.
        """
        if data.shape is None or stated.shape is None:
            return False
        known = joined_shapes(made.shape, stated.shape)[0]
        if known is None or may_count_the_same(data.shape, known):
            return False
        if made.shape is not None and not may_count_the_same(data.shape, made.shape):
            return False  # whatever is declared
        sizes = joined_shapes(made.shape, tuple([dim if isinstance(dim, int) else None for dim in stated.shape]))[0]
        if sizes is not None and may_count_the_same(data.shape, sizes):
            return True
        entry = next(((field, index) for field, index, other in declarations_of(graph) if other == name), None)
        if entry is not None:
            self._found.note_declared_count(graph, *entry, stated, data, call)
        return False

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
        fields = {name: (field, index) for field, index, name in reversed(list(declarations_of(graph)))}
        for position, (name, made) in enumerate(zip(outputs, outcome.outputs, strict=False)):
            stated = declared.get(name)
            if stated is None or name not in fields or joined(made, stated)[1]:
                continue
            for branch, facts in zip(("then_branch", "else_branch"), outcome.branches, strict=True):
                if joined(facts[position], stated)[1] == "shape":
                    self._found.note_declared(graph, fields[name], stated, facts[position], call, branch)
                    break

    def is_reported(self, graph: Graph, index: int, name: str, outcome: NodeOutcome, known: Mapping[str, Fact]) -> bool:
        """Return whether to report a declared type that the operator can never produce.

        False if it follows from a fault.
        """
        if outcome.problems or self._faulty.are_affected(graph, index, known):
            return False
        self._faulty.add(graph, [name])
        # A value with two definitions is another finding.
        return graph.positions.get(name) == index

    def note_impossible(
        self, graph: Graph, declared: Mapping[str, Fact], impossible: dict[str, OutcomeMemo], call: Call | None
    ) -> None:
        """Record the values whose declared type their operator can never produce, each once."""
        for field, index, name in declarations_of(graph):
            memo = impossible.pop(name, None)
            if memo is not None and memo.operator is not None:
                stated = declared[name].kind or ""
                self._found.note_impossible(graph, field, index, stated, memo.operator.schema, call)


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


def _contradicting(
    graph: Graph, declared: Mapping[str, Fact], contradicted: Mapping[str, Fact]
) -> dict[str, tuple[str, int, Fact]]:
    """Return the entry of each name in `contradicted` that contradicts the inferred fact, and what it states.

    Of several entries it is the first that contradicts the fact by itself.
    """
    found: dict[str, tuple[str, int, Fact]] = {}
    decided: set[str] = set()
    for field, index, name in declarations_of(graph):
        if name in contradicted and name not in decided:
            stated = facts_of_types(graph.value_infos[field].types[index : index + 1])[0]
            if joined(contradicted[name], stated)[1]:
                decided.add(name)
                found[name] = field, index, stated
            else:
                found.setdefault(name, (field, index, declared[name]))
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


def declarations_of(graph: Graph) -> Iterator[tuple[str, int, str]]:
    """Yield each declaration of an output or in value_info: the list, the index in it, and the name.

    The outputs of a function have no types.
    """
    outputs = () if graph.is_function else graph.output_names
    for field, names in (("output", outputs), ("value_info", graph.value_info_names)):
        for index, name in enumerate(names):
            yield field, index, name


_MAX_JOINED: Final = 50_000
"""The most joined pairs to keep; a full cache is emptied, which costs only time."""
