# SPDX-License-Identifier: Apache-2.0
"""Folds the findings of one cause into one, and unfolds them again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record, replace
from onnx_lint.report.findings import MAX_PLACES, Diagnostic, RelatedPlace
from onnx_lint.wording import quote_some, with_more

if TYPE_CHECKING:
    from onnx_lint.ir.places.place import Place

_MAX_NAMES: Final = 3
"""The most nodes that the message of a folded finding names."""

_KINDS: Final = {
    "functions": "function",
    "g": "subgraph",
    "graphs": "subgraph",
    "initializer": "initializer",
    "input": "input",
    "node": "node",
    "opset_import": "import",
    "output": "output",
    "quantization_annotation": "annotation",
    "value_info": "value",
}
"""The words for the elements of a model, by their fields."""


def fold(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of one file, with those of one cause folded into one.

    The diagnostic whose place comes first, whatever the order of fields in the file, represents its group. Findings
    that the change proposed for another one fixes as well come after all others. Its `count` and `members` have all of
    the group, so that a baseline can select the new ones. The next few are related places.
    """
    groups: dict[object, list[_Positioned]] = {}
    for position, item in enumerate(diagnostics):
        cause = _cause_of(item)
        groups.setdefault(_Alone(position) if cause is None else cause, []).append(_Positioned(position, item))
    folded: list[_Positioned] = []
    for group in groups.values():
        group.sort(key=lambda each: (each.item.folding.is_consequence, order_of(each.item.at)))
        members = [each.item for each in group]
        folded.append(_Positioned(group[0].position, _folded(members) if len(members) > 1 else members[0]))
    return tuple([each.item for each in sorted(folded, key=lambda each: each.position)])


class _Positioned(Record):
    """A diagnostic, and its position among those of the file."""

    position: int
    item: Diagnostic


class _Alone(Record):
    """The key of a diagnostic that is never folded."""

    position: int


def unfold(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with the members of each in its place."""
    return tuple([member for item in diagnostics for member in item.folding.members or (item,)])


def by_rule(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield each diagnostic, then one for each other rule and clause whose findings are folded into it."""
    for item in diagnostics:
        yield item
        others: dict[tuple[str, str], list[Diagnostic]] = {}
        for each in item.folding.members:
            if (each.rule, each.clause) != (item.rule, item.clause):
                others.setdefault((each.rule, each.clause), []).append(each)
        for same in others.values():
            yield _folded(same) if len(same) > 1 else same[0]


def members_without_place(item: Diagnostic) -> tuple[Diagnostic, ...]:
    """Return the findings that are folded into a diagnostic and are not among its related places."""
    return item.folding.members[MAX_PLACES:]


def related_place(item: Diagnostic, member: Diagnostic) -> RelatedPlace:
    """Return the place of a finding that is folded into another one. Its message names another rule."""
    message = member.message if member.rule == item.rule else f"{member.rule}: {member.message}"
    return RelatedPlace(member.at, message, member.byte_range, member.position)


def _cause_of(item: Diagnostic) -> object:
    """Return the key of the findings that are folded with this one; None if it is never folded."""
    if item.folding.cause is None:
        return None
    rule = None if item.folding.is_shared else (item.rule, item.clause)
    return rule, item.severity, item.folding.cause


def order_of(place: Place) -> list[tuple[bool, int, str]]:
    """Return a key that sorts places by their indices. Inside a node, inputs come before attributes."""
    return [(field == "attribute", -1 if index is None else index, field) for field, index in place.key]


def _folded(members: Sequence[Diagnostic]) -> Diagnostic:
    first, *others = members
    # `members_without_place` returns the others.
    shown = [related_place(first, each) for each in members[1:MAX_PLACES]]
    return replace(
        first,
        message=with_more(first.message, f"{len(others):,} more {_what_is_alike(members)}"),
        related=(*first.related, *shown),
        count=sum(each.count for each in members),
        folding=replace(first.folding, members=tuple(members)),
    )


def _what_is_alike(members: Sequence[Diagnostic]) -> str:
    """Return what the findings of one cause have in common, for the message `..., and 3 more nodes have this fault`."""
    is_one = len(members) == 2
    shared = members[0].folding.is_shared
    if shared and (members[-1].folding.is_consequence or not _are_alike(members)):
        return "fault has this cause" if is_one else "faults have this cause"
    kind = _kind_of(members)
    what = f"{kind} has this fault" if is_one else f"{kind}s have this fault"
    return f"{what}{_names_of(members)}" if kind == "node" else what


def _names_of(members: Sequence[Diagnostic]) -> str:
    """Return the names of the next few nodes, as `: 'b', 'c', 'd', ...`; empty if they have none."""
    first, *others = (each.node or each.user for each in members)
    names = [name for name in dict.fromkeys(others) if name and name != first]
    more = ", ..." if len(others) > min(len(names), _MAX_NAMES) else ""
    return f": {quote_some(names, _MAX_NAMES)}{more}" if names else ""


def _are_alike(members: Sequence[Diagnostic]) -> bool:
    """Return whether the findings are of one rule, and all about different nodes."""
    nodes = {each.at.node_around() for each in members}
    return len({each.rule for each in members}) == 1 and len(nodes) == len(members)


def _kind_of(members: Sequence[Diagnostic]) -> str:
    """Return the word for the elements that findings are about: `place` if they are of different kinds."""
    if len({each.at for each in members}) < len(members):
        return "node"  # several findings at one place are about the nodes that use the element there
    kinds = {_kind_at(each.at) for each in members}
    return kinds.pop() if len(kinds) == 1 else "place"


def _kind_at(place: Place) -> str:
    """Return the word for the element at a place: the innermost one that has a word."""
    names = [field for field, _ in place.key if field in _KINDS]
    if names[-2:-1] == ["node"] and names[-1] in ("input", "output"):
        names.pop()
    return _KINDS[names[-1]] if names else "place"  # of a file without nodes
