# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import TRAINING_DOMAIN, Model, Node, normalized_domain
from onnx_lint.rule import Finding, rule

_FLAGS = {1: ("is_test", 0, 0), 6: ("is_test", 0, 0), 14: ("training_mode", 0, 1), 15: ("training_mode", 0, 1)}
"""For versions of BatchNormalization, and 1 and 6 of Dropout: the attribute, its default, and the value for training.

In the versions 7 and 9 of BatchNormalization further outputs mean training.
"""

_TRAINING = {"ai.onnx.preview.training", TRAINING_DOMAIN}


@rule(clause="HYG-9", since="0.2.0", needs="node")
def training_mode(model: Model) -> Iterator[Finding]:
    """A Dropout or BatchNormalization of a model for inference is in training mode.

    ### How to fix

    Export the model for inference.

    - PyTorch: call `model.eval()` before `torch.onnx.export`, and do not pass `training=TrainingMode.TRAINING`.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    initializer { name: "ratio" data_type: 1 float_data: 0.5 }
    initializer { name: "mode" data_type: 9 int32_data: 1 }
    node { op_type: "Dropout" input: "x" input: "ratio" input: "mode" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    initializer { name: "ratio" data_type: 1 float_data: 0.5 }
    node { op_type: "Dropout" input: "x" input: "ratio" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    ```

    ### Why it matters

    Such a Dropout drops values at random: the same input gives another output each time. Such a BatchNormalization uses
    the statistics of the batch: the result for one sample depends on the others.

    ### Details

    - The usual cause is an export before `model.eval()`.
    - A model with training information, operators of the training domains or gradients is not reported.
    - A mode that the model computes, or that the caller of a function decides, is not reported.
    """
    if model.proto.training_info or any(_trains(form.domain, form.op_type) for form in model.forms):
        return
    for alike in model.operators.verified_nodes:
        schema = alike.operator.schema
        if schema is None or schema.domain or schema.name not in {"BatchNormalization", "Dropout"}:
            continue
        for node in alike.nodes:
            how = _training_of(model, node, schema.since_version)
            if how:
                yield Finding(
                    node.place,
                    f"{node.describe()} is in training mode: {how}",
                    allowed="operators that compute for inference",
                    subject=node.name or next(filter(None, node.outputs), None),
                    cause=node.op_type,
                )


def _trains(domain: str, op_type: str) -> bool:
    return normalized_domain(domain) in _TRAINING or (domain == "com.microsoft" and op_type.endswith("Grad"))


def _training_of(model: Model, node: Node, version: int) -> str | None:
    """Return in words by what a node is in training mode; None if it is not known to be."""
    if node.op_type == "Dropout" and version >= 12:
        name = node.inputs[2] if len(node.inputs) > 2 else ""
        is_on = name and model.value_flow.fact_of(name, node.graph).content == (1,)
        return "its input training_mode is true" if is_on and node.graph.function is None else None
    if version in _FLAGS:
        name, default, training = _FLAGS[version]
        given = next((each for each in node.attribute_protos if each.name == name), None)
        if given is not None and given.ref_attr_name:
            return None
        value = default if given is None else given.i
        return f"{name} is {value}" if (value != 0) == (training != 0) else None
    is_batch = node.op_type == "BatchNormalization" and any(node.outputs[1:])
    return "it has the outputs of training" if is_batch else None
