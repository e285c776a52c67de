# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial
from typing import Final

from onnx_lint.inference.types.type_string import canonical, from_proto
from onnx_lint.ir.names.meant_values import WantedValue, is_weight
from onnx_lint.ir.names.ordering import fix_of_order
from onnx_lint.ir.names.resolution import Use
from onnx_lint.ir.operators.undefined_names import UndefinedNames
from onnx_lint.model import Fix, Graph, Model, has_undefined_names, nameless_definition
from onnx_lint.rule import Faults, Finding, Related, replace, rule
from onnx_lint.wording import counted, quote


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
    - Suggestions:
        - The message suggests the value of the nearest name, or at most two values that nothing uses.
        - onnx-lint tries each of them on a copy of the model. A value is not suggested if its type or shape does not
          fit, or if it causes a new fault. At most 15 values are tried, and fewer in a large model.
        - A value that another node uses is suggested only if its name differs in case, in separators, or in one letter
          within a word; a weight only if its name differs in case or separators.
        - If more values are unused than names are undefined, a node is probably missing. Then only values whose names
          differ by a typing error are suggested.
        - If no value can be suggested, the message lists the unused values, if they are few. The hint says that a node
          or an initializer is missing.
        - If more than 10,000 names are undefined, nothing is suggested: that would need more memory than the model.
    - One finding for several names:
        - All undefined names differ from unused ones by the same prefix or suffix. If there are only two, the message
          asks whether that is meant.
        - Three or more undefined names differ from unused ones in case or separators only.
        - No value fits names of weights that nodes of one operator lack, and the names differ only before the last dot
          and in numbers.
        - No value fits the undefined names, and as many inputs of the graph are unused.
        - Both branches of an If lack a name for one reason.
    - Reported by other rules: an output of a nested graph that only an outer graph defines (`outer-scope-output`), an
      undefined name if an initializer lost its name (`unnamed-value`).
    """

    def kind_of(name: str, graph: Graph) -> str | None:
        return model.value_flow.fact_of(name, graph).kind

    names = UndefinedNames(model.graphs, model.resolution, model.uses, kind_of)
    yield from _undefined_inputs(model, names)
    yield from _undefined_outputs(model, names)


def _undefined_inputs(model: Model, names: UndefinedNames) -> Iterator[Finding]:
    """One finding for each name that a graph uses and nothing defines, at its first use."""
    nameless = nameless_definition(model)
    undefined_of: dict[Graph, set[str]] = {}
    for each in model.resolution.undefined if names.are_few else ():
        undefined_of.setdefault(each.graph, set()).add(each.name)
    lost_of: dict[tuple[Graph, int], LostWeights] = {}
    for undefined in model.resolution.undefined if nameless is None else ():
        name, graph, (first,) = undefined.name, undefined.graph, undefined.uses(1)
        elsewhere = names.elsewhere(name, graph)
        whole = Finding(
            graph.place,
            elsewhere or "nothing defines",
            clause="FUN-10" if graph.function else "NOD-2",
            allowed="an input, an initializer, or an output of an earlier node",
            subject=name,
            collective=True,
            cause=_cause(graph, name, elsewhere),
            proposals=names.proposals(
                name, graph, _wanted(model, first), _lost_with(first, undefined_of.get(graph, frozenset()), lost_of)
            ),
        )
        yield _finding(whole, undefined.uses(_SHOWN), undefined.count, undefined.uses)


_SHOWN: Final = 4
"""The most uses of an undefined name that a finding shows."""


def _of_uses(whole: Finding, uses: Sequence[Use]) -> Finding:
    return _finding(whole, uses[:_SHOWN], len(uses), uses)


def _finding(
    whole: Finding, shown: Sequence[Use], count: int, uses: Sequence[Use] | Callable[[], Sequence[Use]]
) -> Finding:
    """Return the finding with its place, message, further uses and parts. `whole`: has what is known as its message."""
    first, *following = shown
    more = f" (and {counted(count - 1, 'more time')})" if count > 1 else ""
    return replace(
        whole,
        place=first.place,
        message=f"{first.node.describe()} uses {quote(first.name)}{more}, which {whole.message}",
        related=(*whole.related, *(Related(use.place, f"{use.node.describe()} uses it too") for use in following)),
        parts=Faults(uses, partial(_of_uses, whole), lambda use: (use.place, use.name)),
    )


def _undefined_outputs(model: Model, names: UndefinedNames) -> Iterator[Finding]:
    """One finding for each output of a graph that nothing defines."""
    for graph in model.graphs:
        for index, name in enumerate(graph.output_names):
            if not name or name in graph.positions or graph.sees(name):
                continue
            elsewhere = names.elsewhere(name, graph)
            wanted = WantedValue(_types_of_output(graph, index))
            yield Finding(
                graph.at("output", index),
                f"output {index} of {graph.describe()} is {quote(name)}, which {elsewhere or 'nothing defines'}",
                clause="FUN-8" if graph.is_function else "GRA-8",
                allowed=f"a value that the {'function' if graph.is_function else 'graph'} defines",
                subject=name,
                inner=f"output {index}",  # the name is not that of a value
                cause=_cause(graph, name, elsewhere),
                proposals=names.proposals(name, graph, wanted),
                fix=_fix_of_output(model, graph, name),
            )


def _fix_of_output(model: Model, graph: Graph, name: str) -> Fix | str | None:
    """Return the fix that moves the node that makes an output before the node around the graph; None without one."""
    holder = next((outer for outer, _ in graph.scopes() if name in outer.positions), None)
    return None if holder is None else fix_of_order(holder, model.resolution)


def _cause(graph: Graph, name: str, elsewhere: str | None) -> str:
    """Return the same text for a name that several branches of If, or the graph around them, lack for one reason."""
    for outer, position in graph.scopes():
        holder = outer.forms[position : position + 1]  # none around an algorithm for training
        if not holder or holder[0].op_type != "If":
            break
        graph = outer
    return f"{graph.place} {quote(name)}, which {elsewhere or 'nothing defines'}"


LostWeights = tuple[Set[str], str]
"""The kinds of weights that a node lacks, and one text for all nodes of its operator that lack the same."""


def _lost_with(use: Use, undefined: Set[str], known: dict[tuple[Graph, int], LostWeights]) -> str | None:
    """Return one text for names that were lost together: those of nodes of one operator that lack the same weights.

    The names of one kind of weight differ in what is before their last point, and in numbers. None for other names.
    `known`: what the nodes lack, by their graph and index; this adds to it.
    """
    if "." not in use.name:
        return None
    node = use.node
    key = node.graph, node.index
    if key not in known:
        lost = {_kind_of_weight(each) for each in node.inputs[1:] if each in undefined}
        known[key] = lost, f"{node.graph.place} {node.op_type} without {sorted(lost)}"
    kinds, text = known[key]
    return text if _kind_of_weight(use.name) in kinds else None


def _kind_of_weight(name: str) -> str:
    return _NUMBERS.sub("#", name.rpartition(".")[2])


_NUMBERS: Final = re.compile("[0-9]+")


def _wanted(model: Model, use: Use) -> WantedValue:
    """Return what the node of a use needs. If all of its other inputs are weights, it is a computed value."""
    schema = model.operators.operator(use.node).schema
    if schema is None or not schema.inputs:
        return WantedValue(is_computed=_is_alone(use))
    parameter = schema.inputs[min(use.index, len(schema.inputs) - 1)]
    return WantedValue(canonical(parameter.types), parameter.is_variadic or _is_alone(use))


def _is_alone(use: Use) -> bool:
    """Return whether all other inputs of a node are weights."""
    inputs = enumerate(use.node.inputs)
    return all(is_weight(each, use.node.graph) for index, each in inputs if each and index != use.index)


def _types_of_output(graph: Graph, index: int) -> Set[str]:
    """Return the type that an output is declared with."""
    if graph.is_function:
        return frozenset()
    declared = from_proto(graph.message_at("output", index).type)
    return frozenset() if declared is None else frozenset({declared})
