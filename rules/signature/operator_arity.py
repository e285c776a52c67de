# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from onnx_lint.inference.flow.repairs.edits import number_attribute
from onnx_lint.ir.operators.mismatch import (
    GivenOperands,
    describe_schema,
    fits,
    fitting_version,
    given_operands,
    moved_to_inputs,
    version_cause,
    version_hint,
    version_with,
)
from onnx_lint.ir.operators.proposals import Proposal, as_sentences, attribute_edit
from onnx_lint.model import AlikeNodes, Delete, Model, Node, OperatorSchema, Proposals, has_misused_operators, ready
from onnx_lint.model.import_proposals import proposed_import
from onnx_lint.rule import Finding, replace, rule
from onnx_lint.spec.operators.schema import ParameterOption
from onnx_lint.wording import counted, listed, quote

MAX_VALUES: Final = 8
"""The most numbers of an input that are proposed as an attribute."""


@rule(clause=("NOD-6", "VAR-1", "VAR-2"), since="0.1.0", about=has_misused_operators, needs="node")
def operator_arity(model: Model) -> Iterator[Finding]:
    """A node has more or fewer inputs or outputs than its operator allows.

    ### How to fix

    Give the operator the inputs and outputs of the imported version, or import the version for which the node was
    written.

    - PyTorch: `torch.onnx.export(..., opset_version=13)`.
    - `onnx.version_converter.convert_version(model, 13)` converts the nodes and the import of a model whose nodes fit
      its import.

    ### Example

    ```
    opset_import { version: 11 }
    node { op_type: "Squeeze" input: "x" input: "axes" output: "y" }
    ```

    Corrected:

    ```
    opset_import { version: 13 }
    node { op_type: "Squeeze" input: "x" input: "axes" output: "y" }
    ```

    ### Why it matters

    The operator has nothing to compute with for a missing input, and a surplus one has no meaning. The usual cause is a
    node written for another operator set version; if the node fits one, the message names it.

    ### Details

    - If another version of the operator set fits nodes that do not fit the imported one, their faults are one finding,
      which names that version.
    - The signature of the imported version gives the number. Optional operands at the end may be missing.
    - A variadic operand takes any number from its minimum on. Some operators take certain numbers only, for example one
      output or five.
    - Adam, Adagrad and Momentum take groups after the learning rate and the update count: "the tensors to be
      optimized, followed by their respective gradients", followed by one or two states of each. They produce all of
      them except the gradients.
    - QLinearConcat (com.microsoft) has a scale and a zero point after each tensor.
    - An entry with an empty name is an operand, also at the end of the list, but not a value: a variadic operand with
      fewer values than its minimum is reported. The specification says nothing about empty names there. `onnx.checker`
      compares the number of names and accepts it, but not with `full_check`.
    - Consumers refuse such nodes.
    - Reported by other rules: a node without outputs (`node-without-outputs`), an empty name for a required operand
      (`omitted-required-operand`), calls of functions (`function-call-arity`), missing inputs whose names the node has
      as attributes (`unknown-operator-attribute`).
    """
    for alike in model.operators.verified_nodes:
        schema = alike.schema
        for side in given_operands(schema, alike):
            if not side.count_fits or side.short_variadic is not None:
                yield from _findings(model, schema, alike, side)


def _findings(model: Model, schema: OperatorSchema, alike: AlikeNodes, side: GivenOperands) -> Iterator[Finding]:
    if side.word == "output" and not side.given:
        return
    if side.word == "input" and len(side.given) < side.least:
        moved = moved_to_inputs(model.operators.schemas, schema, alike).values()
        if all(index in moved for index in range(len(side.given), side.least)):
            return
    fitting = fitting_version(model.operators.schemas, schema, alike)
    for node in alike.nodes:
        hint = version_hint(fitting, alike, node)
        proposals = None
        if fitting:
            proposals = proposed_import(model, alike, node) or _input_as_attribute(model, alike, node)
        if side.count_fits:
            cause = version_cause(fitting, alike, f"empty {side.word}s")
            found = _short(schema, node, side, hint)
            yield replace(found, cause=cause, is_cause_shared=bool(fitting), proposals=proposals)
            continue
        count = counted(len(side.given), side.word)
        has = f"{node.describe()} has {count}"
        surplus = len(side.given) > side.greatest
        yield Finding(
            node.place.at(side.word, side.greatest) if surplus else node.place,
            f"{has}, but {describe_schema(schema)} {_takes(side)} {side.describe_counts()}{hint}",
            clause=_clause(side),
            allowed=_allowed(side),
            subject=node.op_type,
            cause=version_cause(fitting, alike, count),
            is_cause_shared=bool(fitting),
            proposals=proposals,
        )


def _input_as_attribute(model: Model, alike: AlikeNodes, node: Node) -> Proposals | None:
    """Return the attribute that the last input of a node was up to the imported version; None without such a one."""
    schema, index = alike.schema, len(node.inputs) - 1
    found = version_with(model.operators.schemas, schema, lambda each: fits(each, alike))
    later = None if found is None else model.operators.schemas.find(alike.operator.domain, node.op_type, found[0])
    parameter = None if later is None else later.input_at(index)
    if parameter is None or index != schema.max_input or parameter.name not in schema.attributes:
        return None
    return as_sentences(partial(_with_attribute, model, node, parameter.name))


def _with_attribute(model: Model, node: Node, name: str) -> tuple[Proposal, ...]:
    """Return the change that gives a node the numbers of its last input as an attribute, if these are known."""
    index = len(node.inputs) - 1
    content = model.value_flow.fact_of(node.inputs[index], node.graph).content or ()
    values = tuple([each for each in content if isinstance(each, int)])
    if not values or len(values) != len(content) or len(values) > MAX_VALUES:
        return ()
    text = f"write {name}={[*values]} in place of input {index} {quote(node.inputs[index])}"
    attribute = attribute_edit(node, number_attribute(name, values))
    return (ready(text, attribute, Delete(node.place.at("input", index))),)


def _allowed(side: GivenOperands) -> str:
    """The numbers of operands, and those that are missing."""
    if len(side.given) >= side.least or not side.parameters:
        return side.describe_counts()
    missing = range(len(side.given), min(side.least, len(side.given) + _MAX_NAMED))
    last_parameter = len(side.parameters) - 1
    names = [f"{side.word} {index} ({quote(side.parameters[min(index, last_parameter)].name)})" for index in missing]
    return f"{listed(names)} as well: {side.describe_counts()}"


_MAX_NAMED: Final = 8
"""The most missing operands to name."""


def _short(schema: OperatorSchema, node: Node, side: GivenOperands, hint: str) -> Finding:
    """A variadic operand whose places are there, but empty."""
    parameter = side.parameters[-1]
    values = sum(side.given[len(side.parameters) - 1 :])
    return Finding(
        node.place,
        f"{node.describe()} has {counted(values, 'value')} for variadic {side.word} {quote(parameter.name)}, "
        f"but {describe_schema(schema)} {_takes(side)} at least {parameter.min_arity}{hint}",
        clause=_clause(side),
        allowed=f"at least {counted(parameter.min_arity, 'value')}",
        subject=node.op_type,
    )


def _takes(side: GivenOperands) -> str:
    return "takes" if side.word == "input" else "produces"


def _clause(side: GivenOperands) -> str:
    """Return the clause on variadic operands, if only their number is too small; else the one on all operands."""
    required = sum(parameter.option is ParameterOption.SINGLE for parameter in side.parameters)
    if side.short_variadic is None or len(side.given) < required:
        return "NOD-6"
    return "VAR-1" if side.word == "input" else "VAR-2"
