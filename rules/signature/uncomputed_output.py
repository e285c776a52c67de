# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.operators.bound_nodes import BoundNodes
from onnx_lint.ir.operators.training_attributes import TRAINING_MODE
from onnx_lint.model import ModeAttribute, Model, Node, OperatorSchema, Place, has_training_outputs, mode_attribute
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.spec.operators.schema import ATTRIBUTE_TYPE_CODES
from onnx_lint.wording import quote


@rule(clause="OPT-3", since="0.1.0", about=has_training_outputs, needs="node")
def uncomputed_output(model: Model) -> Iterator[Finding]:
    """The number of outputs of a BatchNormalization does not match its `training_mode` (before version 7: `is_test`).

    ### How to fix

    For inference, export the model in evaluation mode (`model.eval()` in PyTorch): the node then has one output. For
    training, set `training_mode` to 1 and name all three outputs.

    ### Example

    ```
    node { op_type: "BatchNormalization"
           input: "x" input: "scale" input: "bias" input: "mean" input: "var"
           output: "y" output: "new_mean" output: "new_var" }
    ```

    Corrected:

    ```
    node { op_type: "BatchNormalization"
           input: "x" input: "scale" input: "bias" input: "mean" input: "var" output: "y" }
    ```

    ### Why it matters

    The operator does not compute the other outputs: nodes that use them have no input.

    ### Details

    - From version 14 on: `training_mode` 1 has three outputs, 0 has one.
    - Up to version 6: `is_test` 1 has one output. A training node with fewer than five outputs is not reported, because
      old exporters write it and consumers accept it.
    - In a function, if the attribute refers to a parameter, each call is checked with the value that it passes. A call
      that passes none uses the parameter's default, or else the operator's.
    - From version 14 on, `onnx.checker` with `full_check` and ONNX Runtime refuse the model.
    """
    for alike in model.operators.verified_nodes:
        mode = _mode_of(alike.schema)
        if mode is not None:
            for node in alike.nodes:
                yield from _findings(node, node.form, mode)
    reported: set[Place] = set()
    for nodes in model.bound_nodes:
        for found in _findings_of_calls(nodes):
            if found.place not in reported:
                reported.add(found.place)
                yield found


def _mode_of(schema: OperatorSchema) -> ModeAttribute | None:
    """Return the attribute that decides which outputs a BatchNormalization computes; None for other operators."""
    return mode_attribute(schema) if schema.name == "BatchNormalization" else None


def _findings_of_calls(nodes: BoundNodes) -> Iterator[Finding]:
    """Yield the findings on nodes of a function whose mode the calls decide."""
    mode = _mode_of(nodes.schema)
    if mode is None:
        return
    if any(attribute.name == mode.name and attribute.ref_attr_name for attribute in nodes.form.attributes):
        origins = tuple(Related(*note) for note in nodes.notes([mode.name]))
        for node in nodes.nodes:
            yield from _findings(node, nodes.bound, mode, origins)


def _findings(node: Node, form: NodeForm, mode: ModeAttribute, origins: tuple[Related, ...] = ()) -> Iterator[Finding]:
    """Yield the finding on a node if its outputs do not fit its mode. `origins`: what gives it the attribute."""
    attribute = next((attribute for attribute in form.attributes if attribute.name == mode.name), None)
    # What is of another type has a finding of its own.
    if attribute is not None and (attribute.ref_attr_name or attribute.type != ATTRIBUTE_TYPE_CODES["INT"]):
        return
    value = 0 if attribute is None else attribute.i
    stated = f"{mode.name} {value}" if attribute is not None else f"the default {mode.name} {value}"
    if not mode.is_training(value):
        yield from _uncomputed(node, stated, mode, origins)
    elif mode is TRAINING_MODE:
        yield from _unnamed(node, stated, origins)


def _uncomputed(node: Node, stated: str, mode: ModeAttribute, origins: tuple[Related, ...]) -> Iterator[Finding]:
    """Yield the finding on a node that names outputs which it only computes in training."""
    index = next((index for index, output in enumerate(node.outputs) if index and output), None)
    if index is not None:
        yield Finding(
            node.place.at("output", index),
            f"{node.describe()} with {stated} does not compute output {index}, {quote(node.outputs[index])}",
            related=origins,
            allowed=f"one output, or {mode.name} {mode.when_training}",
            subject=node.outputs[index],
            partners=tuple(each.place for each in origins),
        )


def _unnamed(node: Node, stated: str, origins: tuple[Related, ...]) -> Iterator[Finding]:
    """Yield the finding on a node that trains and does not name all outputs; two outputs are for `operator-arity`."""
    if len(node.outputs) == _OUTPUTS - 1 or all([*node.outputs[1:], len(node.outputs) >= _OUTPUTS]):
        return
    index = next((index for index, output in enumerate(node.outputs) if index and not output), 1)
    yield Finding(
        node.place,
        f"{node.describe()} with {stated} computes output {index}, but does not name it",
        related=origins,
        allowed=f"{_OUTPUTS} outputs, or training_mode 0",
        subject=node.name or None,
        partners=tuple(each.place for each in origins),
    )


_OUTPUTS = 3
"""The number of outputs in training: the result, the running mean and the running variance."""
