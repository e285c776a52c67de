# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cache, partial
from itertools import chain
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

_WHY_NO_FIX: Final = "the entries differ in more than made-up names of variables"
_CONTRADICTING: Final = ("more entry contradicts an earlier one", "more entries contradict earlier ones")
_REPEATING: Final = ("more entry repeats an earlier one", "more entries repeat earlier ones")


@rule(
    clause=("VI-4", "VI-4a", "FUN-22", "FUN-22a", "TRN-9a"), since="0.1.0", about=has_unusual_names, needs="attribute"
)
def duplicate_value_info(model: Model) -> Iterator[Finding]:
    """A value has two entries in `value_info`.

    ### How to fix

    Keep the correct entry. `onnx-lint fix` (safe) deletes all but one of the entries that are equal, or that differ
    only in made-up names of variables. If your tool adds entries, look first whether there is one.

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
    - A training algorithm and the main graph are one graph (from edition 1.16 on): an entry in both is a warning. The
      fix keeps the one of the main graph.
    - The fix keeps all entries of a value if two of them have different variables of inputs.
    - A graph has at most two findings, one for entries that contradict earlier ones and one for the others, each with
      their number.
    """
    for graph in model.graphs_with("value_info"):
        names = graph.value_info_names
        if len(set(names)) != len(names):
            yield from _duplicates(graph)
    for algorithm in algorithms(model):
        yield from _across(algorithm)


def _entries_of_values(graph: Graph) -> dict[str, list[int]]:
    """Return the indices of the entries of each value."""
    found: dict[str, list[int]] = {}
    for index, name in enumerate(graph.value_info_names):
        if name:
            found.setdefault(name, []).append(index)
    return found


def _across(algorithm: Graph) -> Iterator[Finding]:
    """Yield a finding on the entries of an algorithm for values that the main graph has entries for.

    If they contradict each other, `contradictory-declared-type` or `-shape` reports that.
    """
    graph = algorithm.inference_graph
    main, own = _entries_of_values(graph), _entries_of_values(algorithm)
    pairs = (
        (_entry(graph, main[name][0]), _entry(algorithm, index))
        for index, name in enumerate(algorithm.value_info_names)
        if name in main
    )
    for finding in folded(pairs, _finding_across, algorithm.name, _REPEATING):
        inputs = _input_variables(graph) | _input_variables(algorithm)
        deleted = [
            index
            for name, indices in own.items()
            if name in main and _is_one_enough(_entries(graph, main[name]), _entries(algorithm, indices), inputs)
            for index in indices
        ]
        message = f"delete the entries of value_info in {algorithm.describe()} that are like one of {graph.describe()}"
        yield replace(finding, fix=_deletion(algorithm, message, deleted))


def _finding_across(entries: tuple[Declaration, Declaration]) -> Finding:
    earlier, later = entries
    return Finding(
        later.place,
        f"value info {quote(later.name)} of {later.graph.describe()} is listed in {earlier.graph.describe()} already",
        clause="TRN-9a",
        related=(Related(earlier.place, f"first entry for {quote(later.name)}"),),
        allowed="one entry for each value",
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
    repeated = [entries for entries in _entries_of_values(graph).values() if len(entries) > 1]
    found = [repetition for entries in repeated for repetition in _repetitions(graph, entries)]
    found.sort(key=lambda repetition: repetition.later)
    clauses = ("FUN-22", "FUN-22a") if graph.is_function else ("VI-4", "VI-4a")
    contradicting = [repetition for repetition in found if repetition.contradicted is not None]
    for finding in _folded(graph, clauses[0], contradicting, _CONTRADICTING):
        yield replace(finding, fix=_WHY_NO_FIX)
    repeating = [repetition for repetition in found if repetition.contradicted is None]
    for finding in _folded(graph, clauses[1], repeating, _REPEATING):
        yield replace(finding, fix=_fix(graph, repeated))


def _folded(graph: Graph, clause: str, repetitions: Iterable[_Repetition], more: tuple[str, str]) -> Iterator[Finding]:
    earlier_entry = cache(partial(_entry, graph))  # a thousand findings may need the same one
    return folded(repetitions, partial(_finding, graph, clause, earlier_entry), graph.name, more)


def _repetitions(graph: Graph, entries: Sequence[int]) -> Iterator[_Repetition]:
    """Yield the entries of one value after the first, each compared with all before it."""
    declarations = _entries(graph, entries)
    first = next(declarations)
    earlier = EarlierStatements()
    earlier.add(first.index, first)
    for later in declarations:
        if _is_equal(first, later):
            yield _Repetition(first.index, later.index, contradicted=None)
            continue
        yield _Repetition(first.index, later.index, earlier.first_against(later))
        earlier.add(later.index, later)


def _fix(graph: Graph, repeated: Iterable[Sequence[int]]) -> Fix | str:
    """Return the fix that deletes all but one of the entries of each value, or why there is none.

    A value keeps entries that state different things: nobody knows which of them a reader uses.
    """
    inputs = _input_variables(graph)
    deleted: list[int] = []
    for indices in repeated:
        kept = _most_telling(_entries(graph, indices), inputs)
        if _is_one_enough([kept], _entries(graph, indices), inputs):
            deleted += [index for index in indices if index != kept.index]
    message = f"delete the entries of value_info in {graph.describe()} that are like another one"
    return _deletion(graph, message, deleted)


def _deletion(graph: Graph, message: str, deleted: Sequence[int]) -> Fix | str:
    """Return the fix that deletes these entries, or why there is none."""
    if not deleted:
        return _WHY_NO_FIX
    return Fix.of_many(message, len(deleted), lambda: (Delete(graph.at("value_info", index)) for index in deleted))


def _input_variables(graph: Graph) -> set[str]:
    """Return the dimension variables of the inputs; those of a function have none."""
    declared = range(0 if graph.is_function else len(graph.input_names))
    return {name for index in declared for name in _variables(graph.message_at("input", index))}


def _variables(value: Proto) -> set[str]:
    return {dim.dim_param for dim in value.type.tensor_type.shape.dim if dim.dim_param}


def _most_telling(entries: Iterable[Declaration], inputs: Set[str]) -> Declaration:
    """Return the first entry with the most variables of inputs, and the fewest others: they have made-up names."""

    def rank(entry: Declaration) -> tuple[int, int]:
        variables = _variables(entry.proto)
        return len(variables & inputs), -len(variables)

    return max(entries, key=rank)


def _is_one_enough(kept: Iterable[Declaration], others: Iterable[Declaration], inputs: Set[str]) -> bool:
    """Return whether the most telling of `kept` states all that the other entries state."""
    first, *more = kept
    best = _most_telling([first, *more], inputs)
    return all(_is_equal(best, other) or _is_redundant(best, other, inputs) for other in chain([first], more, others))


def _entry(graph: Graph, index: int) -> Declaration:
    return Declaration(graph, "value_info", index)


def _entries(graph: Graph, indices: Iterable[int]) -> Iterator[Declaration]:
    return (_entry(graph, index) for index in indices)


def _is_equal(earlier: Declaration, later: Declaration) -> bool:
    """Return whether two entries are equal, byte for byte if they are kept as bytes."""
    one, other = (each.graph.proto.value_info[each.index] for each in (earlier, later))
    return bool(one == other)


def _is_redundant(kept: Declaration, other: Declaration, inputs: Set[str]) -> bool:
    """Return whether an entry is like another one but for made-up names of variables, one for each variable or more."""
    pairs = _pairs_of_variables(kept, other)
    if pairs is None or len({name for _, name in pairs}) != len(pairs):
        return False  # one name for two variables states that their sizes are equal
    return inputs.isdisjoint(name for variable, name in pairs if name != variable)


def _pairs_of_variables(one: Declaration, other: Declaration) -> set[tuple[str, str]] | None:
    """Return the variables at the same axes of two entries; None if the entries differ in more than their names."""
    dims = [each.proto.type.tensor_type.shape.dim for each in (one, other)]
    if len(dims[0]) != len(dims[1]):
        return None
    copy = message("ValueInfoProto")()
    copy.CopyFrom(other.proto)
    pairs = set()
    for left, right in zip(dims[0], copy.type.tensor_type.shape.dim, strict=True):
        if left.dim_param and right.dim_param:
            pairs.add((left.dim_param, right.dim_param))
            right.dim_param = left.dim_param
    return pairs if serialized(one.proto) == serialized(copy) else None


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
    one, other = earlier.describe_type(), later.describe_type()
    if contradict(earlier.statements, later.statements):
        return f", as {one} and as {other}"
    if one != other and _pairs_of_variables(earlier, later) is not None:
        return f", with other dimension variables: {one} and {other}"
    return ""
