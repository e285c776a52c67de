# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain

from onnx_lint.inference.flow.walks import InputUse
from onnx_lint.ir.operators.mismatch import describe_schema
from onnx_lint.model import AlikeNodes, Graph, GraphKind, Model, Node, Operator
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
      OptionalHasElement whether the input is there. A subgraph that surely runs in this call is part of the body: that
      of a Loop, Scan or SequenceMap whose number of runs is known and not 0, by constants or by the shapes of the
      arguments, and a branch whose condition is known.
    - What both branches of an If need is needed whatever the condition is.
    - ONNX Runtime checks every branch and refuses the model: with `--target onnxruntime=VERSION` it is an error.
    """
    omitting = list(filter(_leaves_out, model.operators.alike_nodes))
    if not omitting:
        return
    always, sometimes = _needs(model, with_subgraphs=False), _needs(model, with_subgraphs=True)
    in_calls = {each.call.place: each for each in reversed(model.value_flow.omitted_inputs)}
    for alike in omitting:
        needed, may_be_needed = always.of_call(alike), sometimes.of_call(alike)
        for node in alike.nodes:
            in_call = in_calls.get(node.place)
            if needed is not None:
                yield _finding(model, node, *needed, "FUN-20a")
            elif in_call is not None:
                yield _finding(model, node, in_call.index, in_call.use, 1, "FUN-20a")
            elif may_be_needed is not None:
                yield _finding(model, node, *may_be_needed, "FUN-20b")


def _leaves_out(alike: AlikeNodes) -> bool:
    """Return whether the nodes call a function and leave out one of its inputs."""
    function, given = alike.operator.function, alike.inputs
    return function is not None and (len(given) < len(function.body.input_names) or not all(given))


class _NeededInputs(Record):
    """The inputs that functions need."""

    uses: dict[tuple[int, int], InputUse]
    """The node that needs each, by the indices of the function and of the input."""
    indices: dict[int, list[int]]
    """The indices of the inputs of each function, in order."""

    def of_call(self, alike: AlikeNodes) -> tuple[int, InputUse, int] | None:
        """Return the first needed input that nodes leave out, with its use, and their number; None if there is none."""
        function, given = alike.operator.function, alike.inputs
        required = self.indices.get(function.index, []) if function is not None else []
        beyond = bisect_left(required, len(given))
        needed = [index for index in required[:beyond] if not given[index]]
        count = len(needed) + len(required) - beyond
        if function is None or not count:
            return None
        first = (needed or required[beyond : beyond + 1])[0]
        return first, self.uses[function.index, first], count


def _needs(model: Model, *, with_subgraphs: bool) -> _NeededInputs:
    """Return the needs of function bodies, or also those of their subgraphs, which may not run."""
    needs: dict[tuple[int, int], InputUse] = {}
    passed_on: dict[tuple[int, int], list[tuple[tuple[int, int], InputUse]]] = {}
    """For each input of a function, the inputs of other functions that their bodies pass to it."""
    pending: list[tuple[tuple[int, int], InputUse]] = []
    for graph in model.graphs:
        function = graph.function
        if function is None or not (with_subgraphs or graph.is_function):
            continue
        parameters = {name: index for index, name in enumerate(function.body.input_names) if name}
        for node in graph.nodes if not parameters.keys().isdisjoint(chain(*graph.node_inputs)) else ():
            operator = model.operators.operator(node)
            required = _required(operator)
            for index, name in enumerate(node.inputs):
                if name not in parameters or _is_hidden(name, graph):
                    continue
                item = (function.index, parameters[name]), InputUse(node, index)
                if operator.function is not None:
                    passed_on.setdefault((operator.function.index, index), []).append(item)
                elif index in required:
                    pending.append(item)
    # Each input is taken up once, however long the chain of calls is.
    for key, use in pending:
        if key not in needs:
            needs[key] = use
            pending += passed_on.get(key, ())
    indices: dict[int, list[int]] = {}
    for number, index in sorted(needs):
        indices.setdefault(number, []).append(index)
    return _NeededInputs(needs, indices)


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


def _finding(model: Model, node: Node, index: int, use: InputUse, count: int, clause: str) -> Finding:
    """Return the finding for a call without some inputs; `index` is the first of those that are needed."""
    function = model.operators.operator(node).function
    assert function is not None
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
