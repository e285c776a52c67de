# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from onnx_lint.ir.operators.mismatch import describe_schema
from onnx_lint.model import AlikeNodes, Function, Graph, GraphKind, Model, Node, Operator, attribute_name
from onnx_lint.rule import Finding, Record, Related, rule
from onnx_lint.spec.operators.schema import ParameterOption
from onnx_lint.wording import quote


@rule(clause=("FUN-20a", "FUN-20b"), since="0.2.0", about=Model.functions, needs="node")
def unbound_required_input(model: Model) -> Iterator[Finding]:
    """A call leaves out an input that the function passes to an operator that requires it.

    ### How to fix

    Pass the input.

    ### Example

    ```
    node { op_type: "Shift" domain: "com.example" input: "x" output: "y" }
    functions {
      name: "Shift" domain: "com.example" input: "x" input: "by" output: "y"
      node { op_type: "Add" input: "x" input: "by" output: "y" }
    }
    ```

    Corrected:

    ```
    node { op_type: "Shift" domain: "com.example" input: "x" input: "x" output: "y" }
    functions {
      name: "Shift" domain: "com.example" input: "x" input: "by" output: "y"
      node { op_type: "Add" input: "x" input: "by" output: "y" }
    }
    ```

    ### Why it matters

    An input that the call omits is omitted wherever the body names it. An operator of the body then lacks a required
    input, and only this call shows it.

    ### Details

    - A call may omit inputs that the body passes only to optional and variadic inputs of operators.
    - An input that is passed from function to function is followed to the operator.
    - For nodes in subgraphs of the body the finding needs `--pedantic`, because a branch may ask with
      OptionalHasElement whether the input is there. A subgraph that Constants of the body make run is part of the body:
      the body of a Loop with a constant number of runs, that of a Scan over a Constant, that of a SequenceMap over
      a SequenceConstruct, and a branch with a constant condition.
    - What both branches of an If need is needed whatever the condition is.
    - ONNX Runtime checks every branch and refuses the model: with `--target onnxruntime=VERSION` it is an error.
    """
    omitting = list(filter(_leaves_out, model.operators.alike_nodes))
    if not omitting:
        return
    needs = _needs(model, with_subgraphs=True)
    always = _needs(model, with_subgraphs=False)
    by_clause = [("FUN-20a", always, _by_function(always)), ("FUN-20b", needs, _by_function(needs))]
    for alike in omitting:
        function, given = alike.operator.function, alike.inputs
        assert function is not None
        for clause, known, indices in by_clause:
            required = indices.get(function.index, [])
            beyond = bisect_left(required, len(given))
            needed = [index for index in required[:beyond] if not given[index]]
            count = len(needed) + len(required) - beyond
            if count:
                first = (needed or required[beyond : beyond + 1])[0]
                for node in alike.nodes:
                    yield _finding(model, node, function, first, known[function.index, first], count, clause)
                break


def _leaves_out(alike: AlikeNodes) -> bool:
    """Return whether the nodes call a function and leave out one of its inputs."""
    function, given = alike.operator.function, alike.inputs
    return function is not None and (len(given) < len(function.body.input_names) or not all(given))


def _by_function(needs: _RequiredInputs) -> dict[int, list[int]]:
    """Return the indices of the needed inputs of each function, in order."""
    found: dict[int, list[int]] = {}
    for function, index in sorted(needs):
        found.setdefault(function, []).append(index)
    return found


class _InputUse(Record):
    """A node of a function body that needs an input of the function, as its own input of that index."""

    node: Node
    index: int


_Key = tuple[int, int]
"""The indices of a function and of its input."""

_Branches = tuple[tuple[int, int, bool], ...]
"""Branches of If, the outermost first: the graph and the position of the If, and whether it is the first branch."""

_RequiredInputs = dict[tuple[int, int], _InputUse]
"""The inputs that functions need, each by the indices of the function and of the input."""


def _needs(model: Model, *, with_subgraphs: bool) -> _RequiredInputs:
    needs: _RequiredInputs = {}
    passed_on: dict[tuple[int, int], list[tuple[tuple[int, int], _InputUse]]] = {}
    """For each input of a function, the inputs of other functions that their bodies pass to it."""
    pending: list[tuple[tuple[int, int], _InputUse]] = []
    conditional: dict[_Key, dict[_Branches, _InputUse]] = {}
    """The needs in branches of If that may not run."""
    for graph in model.graphs:
        function = graph.function
        branches = () if function is None or with_subgraphs else _branches(model, graph)
        if function is None or branches is None:
            continue
        parameters = {name: index for index, name in enumerate(function.body.input_names) if name}
        for node in graph.nodes if not parameters.keys().isdisjoint(chain(*graph.node_inputs)) else ():
            operator = model.operators.operator(node)
            required = _required(operator)
            for index, name in enumerate(node.inputs):
                if name not in parameters or _is_hidden(name, graph):
                    continue
                item = (function.index, parameters[name]), _InputUse(node, index)
                if branches:
                    if index in required:
                        conditional.setdefault(item[0], {}).setdefault(branches, item[1])
                elif operator.function is not None:
                    passed_on.setdefault((operator.function.index, index), []).append(item)
                elif index in required:
                    pending.append(item)
    pending += _in_both_branches(conditional)
    # Each input is taken up once, however long the chain of calls is.
    for key, use in pending:
        if key not in needs:
            needs[key] = use
            pending += passed_on.get(key, ())
    return needs


def _in_both_branches(conditional: Mapping[_Key, dict[_Branches, _InputUse]]) -> Iterator[tuple[_Key, _InputUse]]:
    """Yield the needs of both branches of an If: one of them runs, whatever the condition is."""
    for key, uses in conditional.items():
        pending = sorted(uses, key=len, reverse=True)
        for branches in pending:  # the innermost ones first
            *outer, (graph, position, is_then) = branches
            around = tuple(outer)
            if (*around, (graph, position, not is_then)) not in uses or around in uses:
                continue
            uses[around] = uses[branches]
            if around:
                pending.append(around)
            else:
                yield key, uses[branches]


def _branches(model: Model, graph: Graph) -> _Branches | None:
    """Return the branches of If that must run so that each call runs a subgraph of the function's body.

    None if that depends on more, such as the number of runs of a Loop.
    """
    found: list[tuple[int, int, bool]] = []
    while graph.kind is GraphKind.NESTED:
        node, outer = model.control_flow.node_of(graph), graph.parent
        if node is None or outer is None or not node.inputs:
            return None
        name = attribute_name(node.attribute_protos, graph)
        if not _surely_runs(model, node, outer, name):
            if node.op_type != "If" or name not in ("then_branch", "else_branch"):
                return None
            found.append((id(outer), graph.position, name == "then_branch"))
        graph = outer
    return tuple(reversed(found))


def _surely_runs(model: Model, node: Node, outer: Graph, name: str) -> bool:
    """Return whether a node of the graph `outer` runs the subgraph in its attribute `name`, by nodes of the body."""
    match node.op_type:
        case "Loop":
            return all(not each or _is_constant(model, outer, each, 1) for each in node.inputs[:_LOOP_HEAD])
        case "If":
            wanted = {"then_branch": 1, "else_branch": 0}.get(name)
            return wanted is not None and _is_constant(model, outer, node.inputs[0], wanted)
        case "Scan":
            schema = model.operators.operator(node).schema
            sizes = model.value_flow.fact_of(node.inputs[-1], outer).shape or ()
            has_elements = bool(sizes) and all(isinstance(size, int) and size > 0 for size in sizes)
            # Before version 9 the lengths of the sequences may be 0.
            is_plain = schema is not None and schema.since_version >= _SCAN_WITHOUT_LENGTHS
            return has_elements and is_plain and _is_made_by("Constant", outer, node.inputs[-1])
        case _:
            return _is_made_by("SequenceConstruct", outer, node.inputs[0])


def _is_made_by(op_type: str, graph: Graph, name: str) -> bool:
    """Return whether a node of an operator makes a value, by numbers of its own."""
    definition = graph.definition_of(name)
    node = definition.node if definition is not None else None
    if node is None or node.op_type != op_type:
        return False
    return not any(each.ref_attr_name for each in node.attribute_protos)


_SCAN_WITHOUT_LENGTHS: Final = 9

_LOOP_HEAD: Final = 2
"""The inputs of Loop that decide whether its body runs: the number of runs, and the condition."""


def _is_constant(model: Model, graph: Graph, name: str, number: int) -> bool:
    """Return whether a Constant makes a value that is 0, or for another number at least that."""
    if not _is_made_by("Constant", graph, name):
        return False
    content = model.value_flow.fact_of(name, graph).content
    first = content[0] if content else None
    return isinstance(first, int) and (first >= number if number else first == 0)


def _is_hidden(name: str, graph: Graph) -> bool:
    """Return whether a subgraph, or one around it, defines the name of the function's input itself."""
    at: Graph | None = graph
    while at is not None and at.kind is GraphKind.NESTED:
        if name in at.positions:
            return True
        at = at.parent
    return False


def _required(operator: Operator) -> frozenset[int]:
    """Return the indices of the inputs without which the operator cannot be computed."""
    schema = operator.schema
    if schema is None or schema.deprecated:
        return frozenset()
    parameters = enumerate(schema.inputs)
    return frozenset(index for index, parameter in parameters if parameter.option is ParameterOption.SINGLE)


def _finding(
    model: Model, node: Node, function: Function, index: int, use: _InputUse, count: int, clause: str
) -> Finding:
    """Return the finding for a call without some inputs; `index` is the first of those that are needed."""
    name = function.body.input_names[index]
    schema = model.operators.operator(use.node).schema
    needed_by = f"{use.node.describe()} in the body"
    if schema is not None:
        needed_by += f"; {describe_schema(schema)} requires it"
    what = f"input {index} ({quote(name)})" if count == 1 else f"{count:,} inputs, first input {index} ({quote(name)})"
    return Finding(
        node.place,
        f"{node.describe()} leaves out {what}, which {quote(function.qualified_name)} passes to {needed_by}",
        clause=clause,
        related=(Related(use.node.place.at("input", use.index), f"uses {quote(name)}"),),
        allowed=f"a value for {quote(name)}",
        subject=name,
    )
