# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from onnx_lint.model import (
    Declaration,
    Delete,
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
from onnx_lint.rule import Finding, Related, folded, replace, rule
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
    """Return a finding on the entries of an algorithm for values that the main graph has entries for.

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


def _duplicates(graph: Graph) -> Iterator[Finding]:
    """The findings on the entries of the graph whose name an earlier entry has, folded by their clauses."""
    first: dict[str, int] = {}
    by_clause: dict[str, list[tuple[int, int]]] = {}
    differing: set[int] = set()
    kept: dict[int, Declaration] = {}
    for index, name in enumerate(graph.value_info_names):
        earlier = first.setdefault(name, index) if name else index
        if earlier != index:
            if _is_equal(graph, earlier, index):
                by_clause.setdefault(_clauses(graph)[1], []).append((earlier, index))
                continue
            one, other = kept.get(earlier) or _entry(graph, earlier), _entry(graph, index)
            if len(one.statements) > _FEW:
                kept[earlier] = one
            by_clause.setdefault(_clause(one, other), []).append((earlier, index))
            # Beside a different entry, an equal one decides which of them a reader takes, the first or the last.
            if not _is_alike(one, other):
                differing.add(earlier)
    for clause, pairs in by_clause.items():
        finding = partial(_finding, graph, clause, kept)
        fix = _fix(graph, [(earlier, later) for earlier, later in pairs if earlier not in differing])
        further = _CONTRADICTING if clause == _clauses(graph)[0] else _REPEATING
        for found in folded(pairs, finding, graph.name, further):
            yield replace(found, fix=fix)


def _fix(graph: Graph, pairs: Iterable[tuple[int, int]]) -> Fix | str:
    """The fix that deletes all but one of the entries of each value; these differ in names of variables at most."""
    groups: dict[int, list[int]] = {}
    for earlier, later in pairs:
        groups.setdefault(earlier, [earlier]).append(later)
    if not groups:
        return "the entries differ in more than the names of variables"
    declared = range(0 if graph.is_function else len(graph.input_names))
    inputs = {name for index in declared for name in _variables(graph.message_at("input", index))}
    deleted = []
    for group in groups.values():
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


def _is_alike(earlier: Declaration, later: Declaration) -> bool:
    """Return whether two entries are equal but for the names of variables."""
    dims = [each.proto.type.tensor_type.shape.dim for each in (earlier, later)]
    if len(dims[0]) != len(dims[1]):
        return False
    copy = message("ValueInfoProto")()
    copy.CopyFrom(later.proto)
    for left, right in zip(dims[0], copy.type.tensor_type.shape.dim, strict=True):
        if left.dim_param and right.dim_param:
            right.dim_param = left.dim_param
    return serialized(earlier.proto) == serialized(copy)


def _clauses(graph: Graph) -> tuple[str, str]:
    """The clauses that entries break which contradict earlier ones, and which repeat them."""
    return ("FUN-22", "FUN-22a") if graph.is_function else ("VI-4", "VI-4a")


def _clause(earlier: Declaration, later: Declaration) -> str:
    """The clause that an entry breaks which repeats an earlier one."""
    contradicting, repeating = _clauses(earlier.graph)
    return contradicting if contradict(earlier.statements, later.statements) else repeating


_FEW: Final = 32
"""Types of so few parts are read again for each entry, which takes up no memory."""

_CONTRADICTING: Final = ("more entry contradicts an earlier one", "more entries contradict earlier ones")
_REPEATING: Final = ("more entry repeats an earlier one", "more entries repeat earlier ones")


def _finding(graph: Graph, clause: str, kept: dict[int, Declaration], pair: tuple[int, int]) -> Finding:
    earlier, later = kept.get(pair[0]) or _entry(graph, pair[0]), _entry(graph, pair[1])
    message = f"value info {quote(later.name)} of {graph.describe()} is listed twice"
    if _is_equal(graph, *pair):
        pass
    elif contradict(earlier.statements, later.statements):
        message += f", as {earlier.describe_type()} and as {later.describe_type()}"
    elif _differ_in_variables(earlier, later):
        message += f", with other dimension variables: {earlier.describe_type()} and {later.describe_type()}"
    return Finding(
        later.place,
        message,
        clause=clause,
        related=(Related(earlier.place, f"first entry for {quote(later.name)}"),),
        allowed="one entry for each value",
        inner=later.contradiction(earlier),
    )


def _differ_in_variables(one: Declaration, other: Declaration) -> bool:
    """Return true if two tensor types differ only in the names of their variables."""
    types = [declaration.proto.type.tensor_type for declaration in (one, other)]
    pairs = list(zip(*[found.shape.dim for found in types], strict=False))
    differing = [(left, right) for left, right in pairs if left.dim_param != right.dim_param]
    return bool(differing) and all(left.dim_param and right.dim_param for left, right in differing)
