# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial
from typing import Final

from onnx_lint.inference.types.type_string import canonical, from_proto
from onnx_lint.ir.names.lost_weights import LostWeights
from onnx_lint.ir.names.meant_values import WantedValue, is_weight
from onnx_lint.ir.names.ordering import fix_of_order
from onnx_lint.ir.names.resolution import Use
from onnx_lint.ir.operators.undefined_names import UndefinedNames
from onnx_lint.model import Fix, Graph, Model, Proposals, has_undefined_names, nameless_definition
from onnx_lint.rule import Faults, Finding, Record, Related, rule
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


class _Undefined(Record):
    """A name that nodes of a graph use and nothing defines."""

    name: str
    graph: Graph
    reason: str
    """Why the name is not defined there, as the end of a sentence: "nothing defines", or what else defines it."""
    proposals: Proposals | None


def _undefined_inputs(model: Model, names: UndefinedNames) -> Iterator[Finding]:
    """Yield a finding for each name that a graph uses and nothing defines, at its first use."""
    if nameless_definition(model) is not None:
        return  # `unnamed-value` reports them
    lost_weights = LostWeights(model.resolution.undefined if names.are_few else ())
    for each in model.resolution.undefined:
        (first,) = each.uses(1)
        reason = names.elsewhere(each.name, each.graph) or _NOTHING
        proposals = names.proposals(each.name, each.graph, _wanted(model, first), lost_weights.group_of(first))
        undefined = _Undefined(each.name, each.graph, reason, proposals)
        yield _finding(undefined, _UsesOfName(each.uses(_SHOWN), each.count, each.uses))


class _UsesOfName(Record):
    """The uses of an undefined name that a finding is about."""

    shown: Sequence[Use]
    """The first ones."""
    count: int
    every: Sequence[Use] | Callable[[], Sequence[Use]]


_NOTHING: Final = "nothing defines"

_SHOWN: Final = 4
"""The most uses of an undefined name that a finding shows."""


def _finding_on_some(undefined: _Undefined, uses: Sequence[Use]) -> Finding:
    return _finding(undefined, _UsesOfName(uses[:_SHOWN], len(uses), uses))


def _finding(undefined: _Undefined, uses: _UsesOfName) -> Finding:
    """Return the finding on uses of a name."""
    first, *following = uses.shown
    more = f" (and {counted(uses.count - 1, 'more time')})" if uses.count > 1 else ""
    return Finding(
        first.place,
        f"{first.node.describe()} uses {quote(first.name)}{more}, which {undefined.reason}",
        clause="FUN-10" if undefined.graph.function else "NOD-2",
        related=tuple(Related(use.place, f"{use.node.describe()} uses it too") for use in following),
        allowed="an input, an initializer, or an output of an earlier node",
        subject=undefined.name,
        collective=True,
        cause=_cause(undefined.graph, undefined.name, undefined.reason),
        proposals=undefined.proposals,
        parts=Faults(uses.every, partial(_finding_on_some, undefined), lambda use: (use.place, use.name)),
    )


def _undefined_outputs(model: Model, names: UndefinedNames) -> Iterator[Finding]:
    """Yield a finding for each output of a graph that nothing defines."""
    for graph in model.graphs:
        for index, name in enumerate(graph.output_names):
            if not name or name in graph.positions or graph.sees(name):
                continue
            reason = names.elsewhere(name, graph) or _NOTHING
            wanted = WantedValue(_types_of_output(graph, index))
            yield Finding(
                graph.at("output", index),
                f"output {index} of {graph.describe()} is {quote(name)}, which {reason}",
                clause="FUN-8" if graph.is_function else "GRA-8",
                allowed=f"a value that the {'function' if graph.is_function else 'graph'} defines",
                subject=name,
                inner=f"output {index}",  # the name is not that of a value
                cause=_cause(graph, name, reason),
                proposals=names.proposals(name, graph, wanted),
                fix=_fix_of_output(model, graph, name),
            )


def _fix_of_output(model: Model, graph: Graph, name: str) -> Fix | str | None:
    """Return the fix that moves the node of an output before the node with the graph, or why there is none.

    Returns None if no graph around defines the output.
    """
    holder = next((outer for outer, _ in graph.scopes() if name in outer.positions), None)
    return None if holder is None else fix_of_order(holder, model.resolution)


def _cause(graph: Graph, name: str, reason: str) -> str:
    """Return the same text for a name that several branches of If, or the graph around them, lack for one reason."""
    for outer, position in graph.scopes():
        holder = outer.forms[position : position + 1]  # none around an algorithm for training
        if not holder or holder[0].op_type != "If":
            break
        graph = outer
    return f"{graph.place} {quote(name)}, which {reason}"


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
    """Return the declared type of an output, as a set; empty if there is none."""
    if graph.is_function:
        return frozenset()
    declared = from_proto(graph.message_at("output", index).type)
    return frozenset() if declared is None else frozenset({declared})
