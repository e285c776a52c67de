# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, Node
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

TRAINING_OUTPUTS = {
    1: ("is_test", 0, 0),
    6: ("is_test", 0, 0),
    14: ("training_mode", 0, 1),
    15: ("training_mode", 0, 1),
}
"""For each version of BatchNormalization with such an attribute: its name, its default, and the value for training.

In the versions 7 and 9 nothing but the outputs themselves says whether they are computed.
"""


@rule(clause="OPT-3", since="0.1.0", needs="node")
def uncomputed_output(model: Model) -> Iterator[Finding]:
    """A node names outputs that its attributes turn off.

    ### Why it matters

    The operator does not compute these outputs, so whatever uses them has no value; consumers refuse the model.

    ### What is allowed

    Names for outputs that are computed. BatchNormalization is the one operator whose attributes decide: outside of
    training (`training_mode` 0 from version 14 on, `is_test` 1 up to version 6) it has only its first output. That
    a computed output MUST be named as well is not judged: every consumer lets an unused one go.

    ### Example

    ```
    node { op_type: "BatchNormalization" input: ... output: "y" output: "mean" output: "var" }
    ```
    """
    for alike in model.operators.verified_nodes:
        operator, schema = alike.operator, alike.operator.schema
        if operator.op_type != "BatchNormalization" or operator.domain or schema is None:
            continue
        if schema.since_version in TRAINING_OUTPUTS and any(alike.outputs[1:]):
            for node in alike.nodes:
                yield from _finding(node, *TRAINING_OUTPUTS[schema.since_version])


def _finding(node: Node, name: str, default: int, training: int) -> Iterator[Finding]:
    attribute = next((attribute for attribute in node.attribute_protos if attribute.name == name), None)
    if attribute is not None and attribute.ref_attr_name:
        return
    value = default if attribute is None else attribute.i
    if (value != 0) == (training != 0):
        return
    index = next(index for index, output in enumerate(node.outputs) if index and output)
    stated = f"{name} {value}" if attribute is not None else f"{name} left at {value}"
    yield Finding(
        node.place.at("output", index),
        f"{node.describe()} with {stated} does not compute output {index}, {quote(node.outputs[index])}",
        allowed=f"one output, or {name} {training}",
        subject=node.outputs[index],
    )
