# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice

from onnx_lint.inference.flow.walks import InputUse, OmittedInput
from onnx_lint.ir.operators.mismatch import describe_schema
from onnx_lint.model import AlikeNodes, Graph, GraphKind, Model, Node, Operator, Place
from onnx_lint.rule import Finding, Record, Related, on_elements, rule
from onnx_lint.spec.operators.schema import ParameterOption
from onnx_lint.wording import MAX_LISTED_ELEMENTS, counted, quote


@rule(clause=("FUN-20a", "FUN-20b", "FUN-20c"), since="0.2.0", about=Model.functions, needs="node")
def unbound_required_input(model: Model) -> Iterator[Finding]:
    """A call leaves out an input that the function passes to a required or variadic input of an operator.

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

    - A call may omit inputs that the body passes only to optional inputs of operators.
    - An input that the body passes to a variadic input, for example of Sum or Loop, is a warning: the specification
      does not say whether one of the values may be missing. ONNX Runtime crashes or fails there. It is an error if the
      operator then has fewer values than it requires, as a Concat of omitted inputs only.
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
    always, sometimes = _uses(model, with_subgraphs=False), _uses(model, with_subgraphs=True)
    required = _needs(always, only_required=True)
    wanted, perhaps_wanted = _needs(always, only_required=False), _needs(sometimes, only_required=False)
    in_calls: dict[Place, OmittedInput] = {}
    for omitted in sorted(model.value_flow.omitted_inputs, key=lambda each: not each.use.is_required):
        in_calls.setdefault(omitted.call.place, omitted)
    for alike in omitting:
        of_all, of_some, of_few = required.of_call(alike), wanted.of_call(alike), perhaps_wanted.of_call(alike)
        for node in alike.nodes:
            in_call = in_calls.get(node.place)
            if of_all is not None:
                yield on_elements(partial(_finding, model, node, "FUN-20a"), *of_all)
            elif in_call is not None and (in_call.use.is_required or of_some is None):
                clause = "FUN-20a" if in_call.use.is_required else "FUN-20c"
                yield _finding(model, node, clause, (in_call.index, in_call.use), 1)
            elif of_some is not None:
                yield on_elements(partial(_finding, model, node, "FUN-20c"), *of_some)
            elif of_few is not None:
                yield on_elements(partial(_finding, model, node, "FUN-20b"), *of_few)


_Missing = tuple[int, InputUse]
"""The index of an input that a call leaves out, and the use of it."""

_Omitted = tuple[_Missing, int, Callable[[], list[_Missing]]]
"""The first of the inputs that a call leaves out, their number, and what returns the first ones: a function may have
thousands, and many calls.
"""


def _leaves_out(alike: AlikeNodes) -> bool:
    """Return whether the nodes call a function and leave out one of its inputs."""
    function, given = alike.operator.function, alike.inputs
    return function is not None and (len(given) < len(function.body.input_names) or not all(given))


FunctionInput = tuple[int, int]
"""The index of a function and the index of one of its inputs."""


class _Uses(Record):
    """The inputs of functions that their bodies pass to inputs that are not optional."""

    by_operators: list[tuple[FunctionInput, InputUse]]
    """The inputs that go to operators."""
    by_calls: dict[FunctionInput, list[tuple[FunctionInput, InputUse]]]
    """For each input of a function, the inputs of other functions that their bodies pass to it."""


class _NeededInputs(Record):
    """The inputs that functions need."""

    uses: dict[FunctionInput, InputUse]
    """The node that needs each."""
    indices: dict[int, list[int]]
    """The indices of the inputs of each function, in order."""

    def of_call(self, alike: AlikeNodes) -> _Omitted | None:
        """Return the needed inputs that nodes leave out; None if there are none."""
        function, given = alike.operator.function, alike.inputs
        required = self.indices.get(function.index, []) if function is not None else []
        beyond = bisect_left(required, len(given))
        needed = [index for index in required[:beyond] if not given[index]]
        count = len(needed) + len(required) - beyond
        if function is None or not count:
            return None
        first = (needed or required[beyond : beyond + 1])[0]

        def all_of_them() -> list[_Missing]:
            indices = islice(chain(needed, required[beyond:]), MAX_LISTED_ELEMENTS)
            return [(index, self.uses[function.index, index]) for index in indices]

        return (first, self.uses[function.index, first]), count, all_of_them


def _uses(model: Model, *, with_subgraphs: bool) -> _Uses:
    """Return the uses in function bodies, or also those in their subgraphs, which may not run."""
    uses = _Uses([], {})
    for graph in model.graphs:
        function = graph.function
        if function is None or not (with_subgraphs or graph.is_function):
            continue
        parameters = {name: index for index, name in enumerate(function.body.input_names) if name}
        if parameters.keys().isdisjoint(chain(*graph.node_inputs)):
            continue
        for node in graph.nodes:
            operator = model.operators.operator(node)
            for index, name in enumerate(node.inputs):
                if name not in parameters or _is_hidden(name, graph):
                    continue
                given = function.index, parameters[name]
                option = _option(operator, index)
                if operator.function is not None:
                    item = given, InputUse(node, index, is_required=True)
                    uses.by_calls.setdefault((operator.function.index, index), []).append(item)
                elif option is not ParameterOption.OPTIONAL:
                    item = given, InputUse(node, index, option is ParameterOption.SINGLE)
                    uses.by_operators.append(item)
    return uses


def _option(operator: Operator, index: int) -> ParameterOption:
    """Return how often an operator takes an input; an operator without a signature may take it or not."""
    schema = operator.schema
    if schema is None or schema.deprecated or not schema.inputs:
        return ParameterOption.OPTIONAL
    last = schema.inputs[-1].option
    if index < len(schema.inputs):
        return schema.inputs[index].option
    return last if last is ParameterOption.VARIADIC else ParameterOption.OPTIONAL


def _needs(uses: _Uses, *, only_required: bool) -> _NeededInputs:
    """Return the needed inputs; `only_required`: without the values of variadic inputs."""
    needs: dict[FunctionInput, InputUse] = {}
    for is_required in (True,) if only_required else (True, False):
        pending = [item for item in uses.by_operators if item[1].is_required == is_required]
        # Each input is taken up once, however long the chain of calls is.
        for key, use in pending:
            if key not in needs:
                needs[key] = use
                pending += uses.by_calls.get(key, ())
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


def _finding(model: Model, node: Node, clause: str, missing: _Missing, count: int) -> Finding:
    """Return the finding for a call without some inputs; `missing` is the first of those that are needed."""
    index, use = missing
    function = model.operators.operator(node).function
    assert function is not None
    name = function.body.input_names[index]
    schema = model.operators.operator(use.node).schema
    needed_by = f"{use.node.describe()} in the body"
    is_variadic = False
    if schema is not None:
        is_variadic = _option(model.operators.operator(use.node), use.index) is ParameterOption.VARIADIC
        why = "requires it"
        if is_variadic:
            parameter = quote(schema.inputs[-1].name)
            why = f"requires {counted(schema.inputs[-1].min_arity, 'value')} of its variadic input {parameter}"
        if is_variadic and clause != "FUN-20a":
            why = f"takes it as one of the values of its variadic input {parameter}"
        needed_by += f"; {describe_schema(schema)} {why}"
    elif clause == "FUN-20c":
        needed_by += ", and that function to a variadic input of an operator"
    what = f"input {index} ({quote(name)})" if count == 1 else f"{count:,} inputs, first input {index} ({quote(name)})"
    return Finding(
        node.place,
        f"{node.describe()} leaves out {what}, which {quote(function.qualified_name)} passes to {needed_by}",
        clause=clause,
        related=(Related(use.node.place.at("input", use.index), f"uses {quote(name)}"),),
        allowed=f"a value for {quote(name)}",
        subject=name,
        inner=f"input {index}",
        partners=(use.node.place.at("input", use.index),),
        # ONNX Runtime takes a variadic input without one of its values.
        case="variadic" if is_variadic and clause == "FUN-20b" else None,
    )
