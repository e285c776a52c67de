# SPDX-License-Identifier: Apache-2.0
"""The nodes that ONNX Runtime refuses while it infers shapes, before it removes any node."""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.operators.stored_elements import StoredElements
from onnx_lint.model import Model, Node, normalized_domain
from onnx_lint.refusals.causes import Refusal, RefusalCondition, refused_node
from onnx_lint.refusals.operands import attribute_values, input_name, input_shape, is_given_by_run
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import EXTERNAL_LOCATION
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.products import ProductRelease, version_number
from onnx_lint.spec.products.refusals import (
    FORBIDDEN_GATES,
    LINEAR_ATTENTION,
    READ_INPUTS,
    RESIZE_NEGATIVE_AXES_UNTIL,
    ReadInputs,
)
from onnx_lint.wording import listed


def refused_by_inference(
    model: Model, node: Node, schema: OperatorSchema, release: ProductRelease
) -> Iterator[Refusal]:
    """Yield the refusals of a node of the default domain for what the inference of shapes does not accept."""
    if schema.domain:
        return
    if schema.name == "Resize" and _has_negative_axes(model, node, release):
        what = f"negative axes beside constant scales, which {release} refuses"
        yield refused_node(node, schema.name, what, RefusalCondition.BRANCH_IS_KEPT)
    if schema.name == LINEAR_ATTENTION:
        for what in _forbidden_gate(node, schema):
            yield refused_node(node, schema.name, f"{what}, which {release} refuses")
    if model.external_data and schema.name in READ_INPUTS:
        for what in _inputs_in_data_files(model, node, schema, release):
            yield refused_node(node, schema.name, f"{what}, which {release} refuses")


def _has_negative_axes(model: Model, node: Node, release: ProductRelease) -> bool:
    """Return whether a Resize has negative axes, for which its kernel finds no scales among constant ones."""
    if version_number(release.version)[:2] > RESIZE_NEGATIVE_AXES_UNTIL:
        return False
    axes = [axis for each in node.attribute_protos if each.name == "axes" for axis in each.ints]
    if min(axes, default=0) >= 0 or input_shape(model, node, 0) is None:
        return False
    return _is_stored(model, node, 2) and 0 not in (input_shape(model, node, 2) or ())


def _is_stored(model: Model, node: Node, index: int) -> bool:
    """Return whether an input is an initializer that no run replaces, or the output of a Constant."""
    name = input_name(node, index)
    found = node.graph.definition_of(name) if name else None
    if found is None:
        return False
    if found.node is None:
        return name in found.graph.initializer_index and not is_given_by_run(model, node.graph, name)
    return (normalized_domain(found.node.domain), found.node.op_type) == ("", "Constant")


def _forbidden_gate(node: Node, schema: OperatorSchema) -> Iterator[str]:
    """Yield the first input of a LinearAttention that onnx forbids beside the update rule, in words."""
    rule = attribute_values(node, schema).get("update_rule", "")
    forbidden = [index for index in FORBIDDEN_GATES.get(rule, ()) if input_name(node, index)]
    for index in forbidden[:1]:
        yield f"input {index} beside attribute 'update_rule' with the value {rule}"


def _inputs_in_data_files(model: Model, node: Node, schema: OperatorSchema, release: ProductRelease) -> Iterator[str]:
    """Yield the inputs whose elements the inference of shapes needs, and does not read from data files, in words."""
    reading = next((each for each in READ_INPUTS[schema.name] if schema.since_version >= each.since), None)
    if reading is None or not _is_read(model, node, reading, release):
        return
    inside = [f"input {index}" for index in reading.inputs if _is_in_data_file(model, node, index)]
    if inside:
        yield f"{listed(inside)} in a data file, though the inference of shapes reads the elements"


def _is_read(model: Model, node: Node, reading: ReadInputs, release: ProductRelease) -> bool:
    """Return whether the inference of shapes of a release reads the inputs of a node that are constants."""
    if version_number(release.version)[:2] < reading.from_release:
        return False
    if reading.needs_all:
        given = [index for index in reading.inputs if input_name(node, index)]
        if not all(any(True for _ in _tensors_of(model, node, index)) for index in given):
            return False
    return not reading.needs_rank or input_shape(model, node, 0) is not None


def _is_in_data_file(model: Model, node: Node, index: int) -> bool:
    """Return whether an input may be a constant with elements that are in a data file."""
    tensors = _tensors_of(model, node, index)
    return any(tensor.data_location == EXTERNAL_LOCATION and 0 not in tensor.dims for tensor in tensors)


def _tensors_of(model: Model, node: Node, index: int) -> Iterator[Proto]:
    """Yield the tensors that an input may be. Before IR version 4 it may be the initializer of a graph input."""
    name = input_name(node, index)
    yield from StoredElements(model.calls, model.main_graph).tensors_of(node.graph, name)
    found = node.graph.definition_of(name) if name else None
    graph = model.main_graph
    is_graph_input = found is not None and found.graph is graph and found.field == "input"
    if is_graph_input and not is_given_by_run(model, node.graph, name):
        yield graph.message_at("initializer", graph.initializer_index[name])
