# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.model import (
    TRAINING_DOMAIN,
    Assign,
    Delete,
    Edit,
    Fix,
    ModeAttribute,
    Model,
    Node,
    OperatorSchema,
    Proto,
    may_train,
    mode_attribute,
    normalized_domain,
)
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote_some

_OUTPUTS_OF_TRAINING: Final = 5
"""The number of outputs that BatchNormalization has in training in versions 7 and 9, which have no attribute for it."""

_TRAINING = {"ai.onnx.preview.training", TRAINING_DOMAIN}


@rule(clause="HYG-9", since="0.2.0", about=may_train, needs="node")
def training_mode(model: Model) -> Iterator[Finding]:
    """A Dropout or BatchNormalization of a model for inference is in training mode.

    ### How to fix

    Export the model for inference.

    - `onnx-lint fix --unsafe-fixes --select training-mode` turns the mode off (unsafe: the results change).
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
    - A BatchNormalization with only one output is not reported: it cannot be in training (`uncomputed-output`).
    - A node whose mask or statistics the model uses is not reported.
    - A Dropout whose ratio is 0 is not reported: it drops nothing (`ineffective-node`).
    - A mode that the model computes, or that the caller of a function decides, is not reported.
    """
    if model.proto.training_info or any(_trains(form.domain, form.op_type) for form in model.forms):
        return
    for alike in model.operators.verified_nodes:
        schema = alike.schema
        if schema.domain or schema.name not in {"BatchNormalization", "Dropout"}:
            continue
        for node in alike.nodes:
            how = _training_of(model, node, schema)
            if how is None or _has_used_mask_or_statistics(model, node):
                continue
            yield Finding(
                node.place,
                f"{node.describe()}{_outputs(node)} is in training mode: {how}",
                allowed="operators that compute for inference",
                subject=node.name or next(filter(None, node.outputs), None),
                cause=node.op_type,
                fix=_turned_off(node, schema),
            )


def _has_used_mask_or_statistics(model: Model, node: Node) -> bool:
    return not model.uses.used_in(node.graph).isdisjoint(filter(None, node.outputs[1:]))


def _outputs(node: Node) -> str:
    """Return the outputs of a node without a name, by which viewers show it."""
    return "" if node.name else f" with output {quote_some(filter(None, node.outputs), 1)}"


def _trains(domain: str, op_type: str) -> bool:
    return normalized_domain(domain) in _TRAINING or (domain == "com.microsoft" and op_type.endswith("Grad"))


def _training_of(model: Model, node: Node, schema: OperatorSchema) -> str | None:
    """Return in words by what a node is in training mode; None if it is not known to be."""
    if _has_mode_input(schema):
        return "its input training_mode is true" if _is_mode_true(model, node) else None
    attribute = mode_attribute(schema)
    if attribute is not None:
        return _training_attribute(node, attribute)
    if node.op_type == "BatchNormalization" and len(node.outputs) == _OUTPUTS_OF_TRAINING:
        return "it has the outputs of training"
    return None


def _has_mode_input(schema: OperatorSchema) -> bool:
    """Return whether the mode is an input of the operator, not an attribute."""
    return schema.name == "Dropout" and schema.since_version >= 12


def _is_mode_true(model: Model, node: Node) -> bool:
    """Return whether the input training_mode of a Dropout is true in each run, and its ratio is not known to be 0."""
    if len(node.inputs) < 3:
        return False
    ratio, mode = (model.value_flow.fact_of(name, node.graph).content for name in node.inputs[1:3])
    return mode == (1,) and ratio != (0,) and (node.graph.function is None or _is_own(node, 2))


def _training_attribute(node: Node, attribute: ModeAttribute) -> str | None:
    """Return in words the attribute that turns the training mode on; None if it is off, or changes nothing."""
    given, ratio = _attribute(node, attribute.name), _attribute(node, "ratio")
    if given is not None and given.ref_attr_name:
        return None  # the call of the function decides
    if ratio is not None and not (ratio.f or ratio.ref_attr_name):
        return None  # it drops nothing
    value = 0 if given is None else given.i
    has_outputs_of_training = node.op_type == "Dropout" or any(node.outputs[1:])
    return f"{attribute.name} is {value}" if attribute.is_training(value) and has_outputs_of_training else None


def _attribute(node: Node, name: str) -> Proto | None:
    return next((each for each in node.attribute_protos if each.name == name), None)


def _is_own(node: Node, index: int) -> bool:
    """Return whether an input is a Constant of the same graph that no call of a function decides."""
    producer = node.graph.producer_of(node.inputs[index])
    if producer is None or node.graph.nodes[producer].op_type != "Constant":
        return False
    return not any(each.ref_attr_name for each in node.graph.nodes[producer].attribute_protos)


def _turned_off(node: Node, schema: OperatorSchema) -> Fix | None:
    """Return the fix that turns the mode off; None if an attribute that is not there would have to."""
    edits: list[Edit] = []
    attribute = mode_attribute(schema)
    if _has_mode_input(schema):
        edits.append(Delete(node.place.at("input", 2)))
        if not node.inputs[1]:
            edits.append(Delete(node.place.at("input", 1)))  # else an omitted ratio would end the list of inputs
    elif attribute is not None:
        place = next((place for each, place in node.attributes() if each.name == attribute.name), None)
        if place is None:
            return None
        edits.append(Delete(place) if attribute.when_training else Assign(place.at("i"), 1))
    if node.op_type == "BatchNormalization":
        edits += _without_further_outputs(node)
    return Fix(f"turn off the training mode of {node.describe()}", tuple(edits), is_safe=False)


def _without_further_outputs(node: Node) -> Iterator[Edit]:
    """Yield the edits that leave a node only its first output, and delete the declarations of the others."""
    for index in range(1, len(node.outputs)):
        yield Delete(node.place.at("output", index))
    for index, name in enumerate(node.graph.value_info_names):
        if name in node.outputs[1:]:
            yield Delete(node.graph.at("value_info", index))
