# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.operators.mismatch import (
    GivenOperands,
    describe_schema,
    fitting_version,
    given_operands,
    is_of_inputs,
    missing_alternatives,
    moved_to_inputs,
    version_cause,
    version_hint,
)
from onnx_lint.model import AlikeNodes, Model, OperatorSchema, has_misused_operators
from onnx_lint.model.import_proposals import proposed_import
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.operators.combinations import is_gapless
from onnx_lint.spec.operators.schema import ParameterOption
from onnx_lint.wording import quote


@rule(clause=("OPT-2", "OPT-2g"), since="0.1.0", about=has_misused_operators, needs="node")
def omitted_required_operand(model: Model) -> Iterator[Finding]:
    """A required input or output of a node has an empty name.

    ### How to fix

    Name the operand.

    ### Example

    ```
    node { op_type: "Conv" input: "x" input: "" input: "b" output: "y" }
    ```

    Corrected:

    ```
    node { op_type: "Conv" input: "x" input: "w" input: "b" output: "y" }
    ```

    ### Why it matters

    An empty name omits the operand. The operator cannot compute without a required input.

    ### Details

    - Only operands that the signature calls optional may have an empty name.
    - ONNX Runtime refuses QLinearAdd, QLinearMul, QLinearAveragePool and QLinearReduceMean without the zero points of
      their inputs, although its signatures make them optional. Every run needs the zero point of the output of
      QLinearSigmoid and QLinearLeakyRelu, the scales of QMoE, and the weights and the memory of the attention of
      AttnLSTM. The list of inputs may end before them.
    - An empty name among the values of a variadic input or output is a warning: the specification does not mention it.
      onnx.checker and ONNX Runtime accept such a Sum. They load such a Split as well, but ONNX Runtime ends with a
      segmentation fault when it runs it, as with a carried value of a Loop and an output of an If. It refuses a Scan
      and a Loop whose stacked output is left out. It is an error for QLinearConcat, whose runs end the process of ONNX
      Runtime.
    - If all values of a variadic output are left out, there are too few (`operator-arity`, an error).
    - Reported by another rule: too few values of a variadic operand, and a list that ends before a required operand
      (`operator-arity`).
    """
    for alike in model.operators.verified_nodes:
        schema = alike.schema
        yield from _without_inputs(schema, alike)
        # Otherwise only a place that is there and empty can be at fault.
        if all(alike.inputs) and all(alike.outputs):
            continue
        for side in given_operands(schema, alike):
            yield from _findings(model, schema, alike, side)


def _without_inputs(schema: OperatorSchema, alike: AlikeNodes) -> Iterator[Finding]:
    """Report nodes that lack inputs which the signature calls optional, but without which ONNX Runtime runs nothing."""
    for group in missing_alternatives(schema, alike):
        if not is_of_inputs(schema, group):
            continue
        names = [side[0].describe() for side in group.sides]
        lacking, required = f"{names[0]} of {{}} is left out", "it"
        if len(names) > 1:
            lacking, required = f"{' and '.join(names)} of {{}} are both left out", "one of them"
        for node in alike.nodes:
            yield Finding(
                node.place,
                f"{lacking.format(node.describe())}, but {describe_schema(schema)} requires {required}",
                "OPT-2",
                allowed=f"a name for {' or '.join(names)}",
                subject=node.op_type,
                # ONNX Runtime loads some of them, and crashes when it runs them.
                case="alternative",
            )


def _findings(model: Model, schema: OperatorSchema, alike: AlikeNodes, side: GivenOperands) -> Iterator[Finding]:
    omitted = side.omitted
    if omitted and side.word == "input":
        moved = set(moved_to_inputs(model.operators.schemas, schema, alike).values())
        omitted = [index for index in omitted if index not in moved]
    fitting = fitting_version(model.operators.schemas, schema, alike) if omitted else ""
    for index in omitted:
        parameter = side.parameters[min(index, len(side.parameters) - 1)]
        is_variadic = parameter.option is ParameterOption.VARIADIC
        why = f" of a variadic {side.word}"
        is_refused = is_variadic and side.word == "input" and is_gapless(schema)
        if is_refused:
            why += ", and each run of ONNX Runtime fails"
        if not is_variadic:
            why = f", but {describe_schema(schema)} requires it"
        for node in alike.nodes:
            hint = version_hint(fitting, alike, node)
            yield Finding(
                node.place.at(side.word, index),
                f"{side.word} {index} ({quote(parameter.name)}) of {node.describe()} is left out{why}{hint}",
                "OPT-2g" if is_variadic and not is_refused else "OPT-2",
                allowed=f"a name for each required {side.word}",
                subject=node.op_type,
                cause=version_cause(fitting, alike, f"{side.word} {index}"),
                case="alternative" if is_refused else None,
                is_cause_shared=bool(fitting),
                proposals=proposed_import(model, alike, node) if fitting else None,
            )
