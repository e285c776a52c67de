# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Final

from onnx_lint.inference.types.type_string import canonical, from_proto
from onnx_lint.ir.names.ordering import fix_of_order
from onnx_lint.ir.names.resolution import Use
from onnx_lint.model import Fix, Graph, Model, has_undefined_names, nameless_definition
from onnx_lint.rule import Faults, Finding, Related, replace, rule
from onnx_lint.wording import Suggestions, quote

_Hint = tuple[str, tuple[Related, ...]]
"""What is known of an undefined name, and the places that show it."""

_NOTHING: _Hint = ("nothing defines", ())


@rule(clause=("NOD-2", "GRA-8", "FUN-8", "FUN-10"), since="0.1.0", about=has_undefined_names, needs="graph")
def undefined_name(model: Model) -> Iterator[Finding]:
    """A node input or a graph output names a value that nothing defines.

    ### How to fix

    Use the defined name, or define the name that is used. If you took the graph out of another one, declare the values
    that it used from there as inputs or initializers. `onnx.utils.extract_model` cuts at values and includes all needed
    nodes. If a branch returns a value that only a later node around it computes, `onnx-lint fix` (safe) moves that node
    to the front, and then returns the value through an Identity.

    ### Example

    ```
    node { op_type: "Relu" input: "imput" output: "y" }
    input { name: "input" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "input" output: "y" }
    input { name: "input" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    ### Why it matters

    The node has no value to compute with, or the graph no value to return.

    ### Details

    - A node input may name a graph input, an initializer, or an output of an earlier node, in the same graph or in an
      outer graph.
    - In a function body, it may name only the function's own inputs and node outputs.
    - The default graph of a function's attribute parameter may name values before the first node that refers to it.
    - An empty name omits an optional input.
    - A graph output may name a value that the graph itself defines.
    - The nearest name is suggested only for the first 20 wrong names of a kind, because the search takes time.
    - If one name of a graph is undefined and one value is used by nothing, the message names that value too, unless the
      node or the declared output needs another type: the name was probably changed in one place only.
    - A name that both branches of an If lack for one reason is one finding with all these nodes.
    - Reported by other rules: an output of a nested graph that only an outer graph defines (`outer-scope-output`), an
      undefined name if an initializer lost its name (`unnamed-value`).
    """
    with_one = _with_one_undefined(model)
    yield from _undefined_inputs(model, with_one)
    yield from _undefined_outputs(model, with_one)


def _undefined_inputs(model: Model, with_one: Set[Graph]) -> Iterator[Finding]:
    """One finding for each name that a graph uses and nothing defines, at its first use."""
    suggestions = Suggestions()
    holders = _holders(model, model.resolution.undefined_names)
    nameless = nameless_definition(model)
    for undefined in model.resolution.undefined if nameless is None else ():
        graph, (first,) = undefined.graph, undefined.uses(1)
        hint, near = _hint(undefined.name, graph, holders, suggestions) or _unpaired(
            model, graph, _types_of_input(model, first), with_one
        )
        whole = Finding(
            graph.place,
            hint,
            clause="FUN-10" if graph.function else "NOD-2",
            related=near,
            allowed="an input, an initializer, or an output of an earlier node",
            subject=undefined.name,
            collective=True,
            cause=_cause(graph, undefined.name, hint),
        )
        yield _finding(whole, undefined.uses(_SHOWN), undefined.count, undefined.uses)


_SHOWN: Final = 4
"""The most uses of an undefined name that a finding shows."""


def _of_uses(whole: Finding, uses: Sequence[Use]) -> Finding:
    return _finding(whole, uses[:_SHOWN], len(uses), uses)


def _finding(
    whole: Finding, shown: Sequence[Use], count: int, uses: Sequence[Use] | Callable[[], Sequence[Use]]
) -> Finding:
    """Return the finding with its place, message, further uses and parts. `whole`: has the hint as its message."""
    first, *following = shown
    more = f" (and {count - 1:,} more {'time' if count == 2 else 'times'})" if count > 1 else ""
    return replace(
        whole,
        place=first.place,
        message=f"{first.node.describe()} uses {quote(first.name)}{more}, which {whole.message}",
        related=(*whole.related, *(Related(use.place, f"{use.node.describe()} uses it too") for use in following)),
        parts=Faults(uses, partial(_of_uses, whole), lambda use: (use.place, use.name)),
    )


def _undefined_outputs(model: Model, with_one: Set[Graph]) -> Iterator[Finding]:
    """One finding for each output of a graph that nothing defines."""
    suggestions = Suggestions()
    holders: Mapping[str, Graph] | None = None
    fixes: dict[Graph, Fix | str] = {}
    for graph in model.graphs:
        for index, name in enumerate(graph.output_names):
            if not name or name in graph.positions or graph.sees(name):
                continue
            if holders is None:
                holders = _holders(model, _names_of_outputs(model))
            hint, near = _hint(name, graph, holders, suggestions) or _unpaired(
                model, graph, _types_of_output(graph, index), with_one
            )
            yield Finding(
                graph.at("output", index),
                f"output {index} of {graph.describe()} is {quote(name)}, which {hint}",
                related=near,
                clause="FUN-8" if graph.is_function else "GRA-8",
                allowed=f"a value that the {'function' if graph.is_function else 'graph'} defines",
                subject=name,
                cause=_cause(graph, name, hint),
                fix=_fix_of_output(graph, name, fixes),
            )


def _fix_of_output(graph: Graph, name: str, known: dict[Graph, Fix | str]) -> Fix | str | None:
    """Return the fix that moves the node that makes an output before the node around the graph; None if there is none.

    `known`: the fixes so far, by the graph whose nodes move.
    """
    holder = next((outer for outer, _ in graph.scopes() if name in outer.positions), None)
    if holder is not None and holder not in known:
        known[holder] = fix_of_order(holder)
    return None if holder is None else known[holder]


def _cause(graph: Graph, name: str, hint: str) -> str:
    """Return the same text for a name that several branches of If, or the graph around them, lack for one reason."""
    for outer, position in graph.scopes():
        holder = outer.forms[position : position + 1]  # none around an algorithm for training
        if not holder or holder[0].op_type != "If":
            break
        graph = outer
    return f"{graph.place} {quote(name)}, which {hint}"


def _names_of_outputs(model: Model) -> Iterator[str]:
    """The names of graph outputs that the graph does not define."""
    return (name for graph in model.graphs for name in graph.output_names if name not in graph.positions)


def _holders(model: Model, names: Iterable[str]) -> Mapping[str, Graph]:
    """For each of these names that a graph defines the first such graph; they are undefined in another one."""
    found: dict[str, Graph] = {}
    if len(model.graphs) > 1:
        wanted = set(names)
        for graph in model.graphs:
            for name in wanted.intersection(graph.positions):
                found.setdefault(name, graph)
    return found


def _hint(name: str, graph: Graph, holders: Mapping[str, Graph], suggestions: Suggestions) -> _Hint | None:
    """Return the other places that define the name, or the place of the nearest visible name; None if there is none."""
    elsewhere = holders.get(name)
    if elsewhere is None:
        # What was renamed without its users is used by nothing.
        near = suggestions.nearest(name, _unused(graph), _visible(graph))
        return None if near is None else (f"nothing defines; did you mean {quote(near)}?", _named(near, graph))
    if graph.function is not elsewhere.function:
        return f"only {elsewhere.describe()} defines; functions and their callers do not share names", ()
    if any(outer is elsewhere for outer, _ in graph.scopes()):
        return f"{elsewhere.describe()} does not define before the node that runs this graph", ()
    return f"only {elsewhere.describe()} defines; names of that graph are not visible here", ()


def _unpaired(model: Model, graph: Graph, types: Set[str], with_one: Set[Graph]) -> _Hint:
    """Return that nothing defines a name, and the one value that nothing uses, if it may be of one of the types.

    Where one name was changed in one place only, one name is undefined and one value unused. `types`: empty if unknown;
    `with_one`: the graphs with one undefined name.
    """
    if graph not in with_one:
        return _NOTHING
    used = model.uses.used_in(graph)
    unused = [name for name in graph.positions if name and name not in used]
    kind = model.value_flow.fact_of(unused[0], graph).kind if len(unused) == 1 else None
    if len(unused) != 1 or (types and kind is not None and kind not in types):
        return _NOTHING
    return f"nothing defines; {quote(unused[0])} is used by nothing", _named(unused[0], graph)


def _with_one_undefined(model: Model) -> Set[Graph]:
    """Return the graphs that use or return one undefined name."""
    names: dict[Graph, set[str]] = {}
    for each in model.resolution.undefined:
        names.setdefault(each.graph, set()).add(each.name)
    for graph in model.graphs:
        names.setdefault(graph, set()).update(set(graph.output_names).difference(graph.positions, {""}))
    return {graph for graph, found in names.items() if len(found) == 1}


def _types_of_input(model: Model, use: Use) -> Set[str]:
    """Return the types that the operator takes as the input of a node."""
    schema = model.operators.operator(use.node).schema
    if schema is None or not schema.inputs:
        return frozenset()
    return canonical(schema.inputs[min(use.index, len(schema.inputs) - 1)].types)


def _types_of_output(graph: Graph, index: int) -> Set[str]:
    """Return the type that an output is declared with."""
    if graph.is_function:
        return frozenset()
    declared = from_proto(graph.message_at("output", index).type)
    return frozenset() if declared is None else frozenset({declared})


def _named(name: str, graph: Graph) -> tuple[Related, ...]:
    """Return the place that defines a name that the graph sees."""
    definition = graph.definition_of(name)
    return () if definition is None else (Related(definition.place, f"{quote(name)} is {definition.describe()}"),)


def _unused(graph: Graph) -> Iterator[str]:
    used = {name for names in graph.node_inputs for name in names}.union(graph.output_names)
    yield from (name for name in graph.positions if name not in used)


def _visible(graph: Graph) -> Iterator[str]:
    yield from graph.positions
    for outer, position in graph.scopes():
        yield from (other for other, defined in outer.positions.items() if defined < position)
