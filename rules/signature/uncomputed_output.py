# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.operators.bound_nodes import BoundNodes
from onnx_lint.model import Model, Node, Place, has_training_outputs
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.spec.operators.schema import ATTRIBUTE_TYPE_CODES
from onnx_lint.wording import quote

TRAINING_OUTPUTS = {
    1: ("is_test", 0, 0),
    6: ("is_test", 0, 0),
    14: ("training_mode", 0, 1),
    15: ("training_mode", 0, 1),
}
"""For each version of BatchNormalization with such an attribute: its name, its default, and the value for training.

In the versions 7 and 9 only the outputs themselves say whether they are computed.
"""


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
        schema = alike.schema
        if schema.name == "BatchNormalization" and not schema.domain and schema.since_version in TRAINING_OUTPUTS:
            for node in alike.nodes:
                yield from _finding(node, node.form, *TRAINING_OUTPUTS[schema.since_version])
    reported: set[Place] = set()
    for bound in model.bound_nodes:
        for found in _of_calls(bound):
            if found.place not in reported:
                reported.add(found.place)
                yield found


def _of_calls(bound: BoundNodes) -> Iterator[Finding]:
    """Report nodes of a function whose mode the calls decide."""
    schema = bound.schema
    if schema.name != "BatchNormalization" or schema.domain or schema.since_version not in TRAINING_OUTPUTS:
        return
    training = TRAINING_OUTPUTS[schema.since_version]
    if any(attribute.name == training[0] and attribute.ref_attr_name for attribute in bound.form.attributes):
        related = tuple(Related(*note) for note in bound.notes([training[0]]))
        for node in bound.nodes:
            yield from _finding(node, bound.bound, *training, related=related)


def _finding(
    node: Node, form: NodeForm, name: str, default: int, training: int, related: tuple[Related, ...] = ()
) -> Iterator[Finding]:
    attribute = next((attribute for attribute in form.attributes if attribute.name == name), None)
    # What is of another type has a finding of its own.
    if attribute is not None and (attribute.ref_attr_name or attribute.type != ATTRIBUTE_TYPE_CODES["INT"]):
        return
    value = default if attribute is None else attribute.i
    stated = f"{name} {value}" if attribute is not None else f"the default {name} {value}"
    if (value != 0) == (training != 0):
        if name == "training_mode":
            yield from _unnamed(node, stated, related)
        return
    index = next((index for index, output in enumerate(node.outputs) if index and output), None)
    if index is None:
        return
    yield Finding(
        node.place.at("output", index),
        f"{node.describe()} with {stated} does not compute output {index}, {quote(node.outputs[index])}",
        related=related,
        allowed=f"one output, or {name} {training}",
        subject=node.outputs[index],
        partners=tuple(each.place for each in related),
    )


def _unnamed(node: Node, stated: str, related: tuple[Related, ...]) -> Iterator[Finding]:
    """The finding for a node that trains without naming what it computes then; two outputs are for `operator-arity`."""
    if len(node.outputs) == _OUTPUTS - 1 or all([*node.outputs[1:], len(node.outputs) >= _OUTPUTS]):
        return
    index = next((index for index, output in enumerate(node.outputs) if index and not output), 1)
    yield Finding(
        node.place,
        f"{node.describe()} with {stated} computes output {index}, but does not name it",
        related=related,
        allowed=f"{_OUTPUTS} outputs, or training_mode 0",
        subject=node.name or None,
        partners=tuple(each.place for each in related),
    )


_OUTPUTS = 3
"""The number of outputs in training: the result, the running mean and the running variance."""
