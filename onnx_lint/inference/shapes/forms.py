# SPDX-License-Identifier: Apache-2.0
"""Nodes of operators that take several forms of operands, each of them an equation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.shapes.dims import union
from onnx_lint.inference.shapes.equations import NameBindings, Size
from onnx_lint.inference.shapes.fact import ABSENT, Fact
from onnx_lint.inference.shapes.operands import Inside, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, NotOneElement, ShapeProblem, WrongRank
from onnx_lint.spec.operators.records.grammar import Pattern, ShapeEquation

OMITTED: Final = -1
"""In place of the rank of an input that the node omits."""

InputRanks = tuple[int | None, ...]
"""The rank of each input of a node; None if unknown."""


class FormSolution(Record):
    """The dimensions of a node by a form that it matches."""

    outputs: Outputs
    sizes: Mapping[str, Size]
    """The dimensions of the names, and where the node has them."""
    parts: Mapping[str, Element]
    """The attributes that say how often the size of a name is in a dimension."""


Fit = Callable[[FormSolution], None]
"""Records sizes that break a requirement of the form, besides unequal ones."""


def ranks_of(node: Operands) -> InputRanks:
    """Return the ranks of the inputs of a node."""
    return tuple(map(_rank_of, node.facts))


def _rank_of(fact: Fact) -> int | None:
    if fact is ABSENT:
        return OMITTED
    return None if fact.shape is None else len(fact.shape)


def rank_at(ranks: InputRanks, index: int) -> int | None:
    """Return the rank of an input, also of one beyond the last."""
    return ranks[index] if index < len(ranks) else OMITTED


def may_be(pattern: Pattern, rank: int | None) -> bool:
    """Return whether an operand of this rank fits its pattern in a form."""
    if not _is_there(pattern, rank):
        return False
    if rank is None or rank == OMITTED or pattern.terms is None:
        return True
    least = len(pattern.terms)
    return rank >= least - 1 if pattern.run is not None else rank == least or (not least and rank == 1)


def _is_there(pattern: Pattern, rank: int | None) -> bool:
    return not (pattern.is_required if rank == OMITTED else pattern.is_excluded)


def fits(form: ShapeEquation, ranks: InputRanks) -> bool:
    """Return whether the ranks of all operands of a node fit a form."""
    return all(may_be(each, rank_at(ranks, at)) for at, each in enumerate(form.inputs))


def solve_one(
    forms: Sequence[ShapeEquation], node: Operands, fit: Fit | None = None, *, is_first: bool = False
) -> FormSolution | None:
    """Return the solution of the form that the node matches; else record the problems of the nearest form.

    If the node matches several, the outputs are the common ones, unless the first form suffices. Problems that `fit`
    records replace unequal sizes. The nearest form is the one with the fewest problems.
    """
    problems, warnings, implied = node.problems, node.warnings, node.implied
    fewest: tuple[tuple[bool, int], list[ShapeProblem], list[ShapeProblem]] | None = None
    solution = None
    for form in forms:
        node.problems, node.warnings, node.implied = [], [], dict(implied)
        now = _solution(form, node, fit)
        key = _is_of_rank(node.problems), len(node.problems)
        if fewest is None or key < fewest[0]:
            fewest = key, node.problems, node.warnings
        if not node.problems:
            solution = now if solution is None else replace(solution, outputs=_common(solution.outputs, now.outputs))
            if is_first or not form.outputs:
                break
    # Of several forms only the node's own one implies sizes.
    node.problems, node.warnings, node.implied = problems, warnings, node.implied if len(forms) == 1 else implied
    if fewest is not None:
        node.problems += fewest[1]
        node.warnings += fewest[2]
    return solution


def _solution(form: ShapeEquation, node: Operands, fit: Fit | None) -> FormSolution:
    bindings = NameBindings(node)
    outputs = bindings.outputs(form)
    found = FormSolution(outputs, bindings.dims, bindings.parts)
    if fit is not None and not _is_of_rank(node.problems):
        unequal, node.problems = node.problems, []
        fit(found)
        node.problems = node.problems or unequal
    return found


def _is_of_rank(problems: Sequence[ShapeProblem]) -> bool:
    return bool(problems) and any(isinstance(each, WrongRank | NotOneElement) for each in problems)


def _common(one: Outputs, other: Outputs) -> Outputs:
    """Return the outputs that two forms of a node have in common."""
    return [
        union(first, second) if not isinstance(first, Inside) and not isinstance(second, Inside) else None
        for first, second in zip_longest(one, other)
    ]


def wrong_ranks(forms: Sequence[ShapeEquation], node: Operands, ranks: InputRanks) -> None:
    """Record a rank that no form has, for a node that fits none of them."""
    for index, rank in enumerate(ranks):
        patterns = [form.inputs[index] for form in forms if index < len(form.inputs)]
        is_in_all_forms = len(patterns) == len(forms) and rank is not None and rank != OMITTED
        if (
            is_in_all_forms
            and not any(may_be(each, rank) for each in patterns)
            and _of_other_rank(node, index, patterns)
        ):
            return
    given = [form for form in forms if all(_is_there(each, rank_at(ranks, at)) for at, each in enumerate(form.inputs))]
    if given:
        _record_rank_of_nearest(given, node, ranks)


def _of_other_rank(node: Operands, index: int, patterns: Sequence[Pattern]) -> bool:
    """Record the rank of an operand that no pattern allows, and return True; False if a pattern has no fixed rank.

    If the allowed ranks have gaps, the nearest one is required.
    """
    allowed = {len(each.terms) for each in patterns if each.terms is not None and each.run is None}
    at_least = {len(each.terms) - 1 for each in patterns if each.terms and each.run is not None}
    if at_least and not allowed:
        node.wrong_rank(index, min(at_least))
        return True
    if at_least or not allowed or None in [each.terms for each in patterns]:
        return False
    least, greatest = min(allowed), max(allowed)
    if greatest - least >= len(allowed):
        rank = len(node.fact(index).shape or ())
        least = greatest = min(sorted(allowed), key=lambda each: abs(each - rank))
    node.wrong_rank(index, least, greatest)
    return True


def _record_rank_of_nearest(forms: Sequence[ShapeEquation], node: Operands, ranks: InputRanks) -> None:
    """Find the form that fits the most ranks, and record the first rank that does not fit it."""
    right = [[may_be(each, rank_at(ranks, at)) for at, each in enumerate(form.inputs)] for form in forms]
    best = max(range(len(forms)), key=lambda at: sum(right[at]))
    wrong = [at for at, is_right in enumerate(right[best]) if not is_right]
    other = next((at for at in range(node.count) if at not in wrong and _differs(forms, at) and node.given(at)), None)
    pattern = forms[best].inputs[wrong[0]]
    rank = len(pattern.terms or ())
    like = other if _differs(forms, wrong[0]) else None
    if pattern.run is None:
        node.wrong_rank(wrong[0], rank, rank, like)
    else:
        node.wrong_rank(wrong[0], rank - 1, None, like)


def _differs(forms: Sequence[ShapeEquation], index: int) -> bool:
    """Return whether forms have different ranks of an operand."""
    return len({len(form.inputs[index].terms or ()) for form in forms if index < len(form.inputs)}) > 1
