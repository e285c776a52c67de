# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Final

from onnx_lint.model import (
    Declaration,
    Delete,
    EarlierStatements,
    Fix,
    Graph,
    Model,
    Proto,
    algorithms,
    contradict,
    has_unusual_names,
    message,
    serialized,
)
from onnx_lint.rule import Finding, Record, Related, folded, replace, rule
from onnx_lint.wording import quote


@rule(
    clause=("VI-4", "VI-4a", "FUN-22", "FUN-22a", "TRN-9a"), since="0.1.0", about=has_unusual_names, needs="attribute"
)
def duplicate_value_info(model: Model) -> Iterator[Finding]:
    """A value has two entries in `value_info`.

    ### How to fix

    Keep the correct entry. `onnx-lint fix` (safe) deletes all but one of the entries that are equal, or that differ
    only in the names of variables. If your tool adds entries, look first whether there is one.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "a" }
    value_info { name: "a" type { tensor_type { elem_type: 1 shape { } } } }
    value_info { name: "a" type { tensor_type { elem_type: 7 shape { } } } }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "a" }
    value_info { name: "a" type { tensor_type { elem_type: 1 shape { } } } }
    ```

    ### Why it matters

    If the entries differ, readers that take the first one and readers that take the last one see different types.

    ### Details

    - The text asks for distinct names in graphs and in functions, in the same words. It is an error if the entries
      contradict each other in kind of type, element type, rank or size.
    - It is a warning if they are equal, or if one only declares more or has other dimension variables: onnx.checker and
      ONNX Runtime accept them. Graphs and functions are judged alike.
    - A training algorithm and the main graph are one graph (from edition 1.16 on): an entry in both is a warning.
    - A graph has at most two findings, one for entries that contradict earlier ones and one for the others, each with
      their number.
    """
    for graph in model.graphs_with("value_info"):
        names = graph.value_info_names
        if len(set(names)) != len(names):
            yield from _duplicates(graph)
    for algorithm in algorithms(model):
        yield from _across(algorithm)


def _across(algorithm: Graph) -> Iterator[Finding]:
    """Yield a finding on the entries of an algorithm for values that the main graph has entries for.

    If they contradict each other, `contradictory-declared-type` or `-shape` reports that.
    """
    graph = algorithm.inference_graph
    main = {name: index for index, name in enumerate(graph.value_info_names)}
    found = (
        (_entry(graph, main[name]), _entry(algorithm, index))
        for index, name in enumerate(algorithm.value_info_names)
        if name and name in main
    )
    yield from folded(found, _finding_across, algorithm.name, _REPEATING)


def _finding_across(entries: tuple[Declaration, Declaration]) -> Finding:
    earlier, later = entries
    return Finding(
        later.place,
        f"value info {quote(later.name)} of {later.graph.describe()} is listed in {earlier.graph.describe()} already",
        clause="TRN-9a",
        related=(Related(earlier.place, f"first entry for {quote(later.name)}"),),
        allowed="one entry for each value",
        fix=Fix(f"delete {later.describe()}", (Delete(later.place),)),
    )


class _Repetition(Record):
    """An entry of a value that has a first entry already."""

    first: int
    later: int
    contradicted: int | None
    """The first of the earlier entries that contradict it; None if none does."""

    @property
    def earlier(self) -> int:
        """The entry that the finding compares it with."""
        return self.first if self.contradicted is None else self.contradicted


def _duplicates(graph: Graph) -> Iterator[Finding]:
    """Yield a finding on the entries that contradict earlier ones, and one on the others that name a value again."""
    entries_of_value: dict[str, list[int]] = {}
    for index, name in enumerate(graph.value_info_names):
        if name:
            entries_of_value.setdefault(name, []).append(index)
    repeated = [entries for entries in entries_of_value.values() if len(entries) > 1]
    found = [repetition for entries in repeated for repetition in _repetitions(graph, entries)]
    found.sort(key=lambda repetition: repetition.later)
    contradicting, repeating = ("FUN-22", "FUN-22a") if graph.is_function else ("VI-4", "VI-4a")
    earlier_entry = cache(partial(_entry, graph))  # a thousand findings may need the same one
    finding = partial(_finding, graph, contradicting, earlier_entry)
    for each in folded((each for each in found if each.contradicted is not None), finding, graph.name, _CONTRADICTING):
        yield replace(each, fix=_NO_FIX)
    finding = partial(_finding, graph, repeating, earlier_entry)
    for each in folded((each for each in found if each.contradicted is None), finding, graph.name, _REPEATING):
        yield replace(each, fix=_fix(graph, repeated))


def _repetitions(graph: Graph, entries: Sequence[int]) -> Iterator[_Repetition]:
    """Yield the entries of one value after the first, each compared with all before it."""
    first, *others = entries
    earlier = EarlierStatements()
    earlier.add(first, _entry(graph, first))
    for later in others:
        if _is_equal(graph, first, later):
            yield _Repetition(first, later, contradicted=None)
            continue
        declaration = _entry(graph, later)
        yield _Repetition(first, later, earlier.first_against(declaration))
        earlier.add(later, declaration)


def _fix(graph: Graph, repeated: Iterable[Sequence[int]]) -> Fix | str:
    """Return the fix that deletes all but one of the entries of each value, or why there is none.

    A value keeps entries that differ in more than the names of variables: nobody knows which of them a reader uses.
    """
    groups = [entries for entries in repeated if _are_alike(graph, entries)]
    if not groups:
        return _NO_FIX
    declared = range(0 if graph.is_function else len(graph.input_names))
    inputs = {name for index in declared for name in _variables(graph.message_at("input", index))}
    deleted = []
    for group in groups:
        # An entry with the variables of the inputs says more than one with made up names.
        kept = max(group, key=lambda index: len(inputs & _variables(graph.message_at("value_info", index))))
        deleted += [index for index in group if index != kept]
    return Fix.of_many(
        f"delete the entries of value_info in {graph.describe()} that are like another one",
        len(deleted),
        lambda: (Delete(graph.at("value_info", index)) for index in deleted),
    )


def _variables(value: Proto) -> set[str]:
    return {dim.dim_param for dim in value.type.tensor_type.shape.dim if dim.dim_param}


def _entry(graph: Graph, index: int) -> Declaration:
    return Declaration(graph, "value_info", index)


def _is_equal(graph: Graph, earlier: int, later: int) -> bool:
    """Return whether two entries are equal, byte for byte if they are kept as bytes."""
    entries = graph.proto.value_info
    found: bool = entries[earlier] == entries[later]
    return found


def _are_alike(graph: Graph, entries: Sequence[int]) -> bool:
    """Return whether the entries are equal except for the names of variables."""
    first, *others = entries
    declaration = _entry(graph, first)
    return all(_is_equal(graph, first, other) or _is_alike(declaration, _entry(graph, other)) for other in others)


def _is_alike(earlier: Declaration, later: Declaration) -> bool:
    """Return whether two entries are equal except for the names of variables."""
    dims = [each.proto.type.tensor_type.shape.dim for each in (earlier, later)]
    if len(dims[0]) != len(dims[1]):
        return False
    copy = message("ValueInfoProto")()
    copy.CopyFrom(later.proto)
    for left, right in zip(dims[0], copy.type.tensor_type.shape.dim, strict=True):
        if left.dim_param and right.dim_param:
            right.dim_param = left.dim_param
    return serialized(earlier.proto) == serialized(copy)


_NO_FIX: Final = "the entries differ in more than the names of variables"
_CONTRADICTING: Final = ("more entry contradicts an earlier one", "more entries contradict earlier ones")
_REPEATING: Final = ("more entry repeats an earlier one", "more entries repeat earlier ones")


def _finding(
    graph: Graph, clause: str, earlier_entry: Callable[[int], Declaration], repetition: _Repetition
) -> Finding:
    earlier, later = earlier_entry(repetition.earlier), _entry(graph, repetition.later)
    ordinal = "first" if repetition.earlier == repetition.first else "earlier"
    return Finding(
        later.place,
        f"value info {quote(later.name)} of {graph.describe()} is listed twice{_difference_in_words(earlier, later)}",
        clause=clause,
        related=(Related(earlier.place, f"{ordinal} entry for {quote(later.name)}"),),
        allowed="one entry for each value",
        inner=later.contradiction(earlier),
    )


def _difference_in_words(earlier: Declaration, later: Declaration) -> str:
    """Return the difference of two entries as the end of a sentence; empty if one only declares more."""
    if contradict(earlier.statements, later.statements):
        return f", as {earlier.describe_type()} and as {later.describe_type()}"
    if _differ_in_variables(earlier, later):
        return f", with other dimension variables: {earlier.describe_type()} and {later.describe_type()}"
    return ""


def _differ_in_variables(one: Declaration, other: Declaration) -> bool:
    """Return true if two tensor types differ only in the names of their variables."""
    types = [declaration.proto.type.tensor_type for declaration in (one, other)]
    pairs = list(zip(*[found.shape.dim for found in types], strict=False))
    differing = [(left, right) for left, right in pairs if left.dim_param != right.dim_param]
    return bool(differing) and all(left.dim_param and right.dim_param for left, right in differing)
