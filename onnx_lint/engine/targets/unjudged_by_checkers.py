# SPDX-License-Identifier: Apache-2.0
"""The parts of a model for which `onnx.checker` rejects some valid models (docs/faults_of_onnx.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.engine.targets.node_attributes import has_attribute
from onnx_lint.engine.targets.onnx_inference import (
    FORBIDDEN_GATES_WORDS,
    MISTAKEN_SHAPES,
    MVN,
    has_untyped_output,
    may_have_forbidden_gates,
)
from onnx_lint.engine.targets.unjudged_kinds import UnjudgedKind, node_kind, phrase, phrases
from onnx_lint.engine.targets.unjudged_tensors import OVERFLOWING_SIZES, TWO_DOTS
from onnx_lint.ir.operators.operators import OPSET_IMPORTS_SINCE
from onnx_lint.ir.operators.stored_elements import StoredElements
from onnx_lint.model import Function, Model, Node
from onnx_lint.refusals.operands import input_name, kind_of
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import EXTERNAL_LOCATION, DataType
from onnx_lint.spec.products.refusals import LINEAR_ATTENTION, READ_INPUTS
from onnx_lint.spec.releases import DOMAIN_ALIAS, is_onnx_domain, normalized_domain


def unjudged_by_onnx(model: Model) -> Iterator[str]:
    """Yield the parts for which both checks of onnx reject some valid models, as phrases."""
    return phrases(model, _UNJUDGED)


def unjudged_by_full_check(model: Model) -> Iterator[str]:
    """Yield the parts for which only `full_check` rejects some valid models, as phrases."""
    if model.effective_ir_version < OPSET_IMPORTS_SINCE:
        yield f"a model of IR version {model.effective_ir_version}"
    yield from phrases(model, _UNJUDGED_BY_FULL_CHECK)
    for alike in model.operators.alike_nodes:
        name = alike.operator.op_type
        if not alike.operator.domain and name in MISTAKEN_SHAPES:
            mistaken = sum(MISTAKEN_SHAPES[name](model, node) for node in alike.nodes)
            yield from phrase(mistaken, "node", f"of {name} whose shape full_check may mistake")


def _count_functions_of_onnx_domains(model: Model) -> int:
    return sum(is_onnx_domain(normalized_domain(each.domain)) for each in model.functions)


def _count_functions_importing_only_alias(model: Model) -> int:
    imported = [{entry.domain for entry in function.proto.opset_import} for function in model.functions]
    return sum(DOMAIN_ALIAS in domains and "" not in domains for domains in imported)


def _count_miscounted_tensors_in_segments(model: Model) -> int:
    return sum(each.proto.HasField("segment") for each in model.tensors.miscounted)


_UNJUDGED: Final = (
    UnjudgedKind("function", "in a domain of ONNX", _count_functions_of_onnx_domains),
    UnjudgedKind("function", "with no import of '' but 'ai.onnx'", _count_functions_importing_only_alias),
    UnjudgedKind("tensor", "in segments", _count_miscounted_tensors_in_segments),
    TWO_DOTS,
    OVERFLOWING_SIZES,
)


# --- full_check


def _count_integers_in_data_files(model: Model) -> int:
    return sum(each.is_external and each.data_type in _TYPES_OF_SIZES for each in model.external_data)


_TYPES_OF_SIZES: Final = (DataType.INT32, DataType.INT64)
"""The types of tensors that decide shapes."""


def _count_tensors_read_from_data_files(model: Model) -> int:
    """Return the number of tensors of other types in data files whose elements the inference of shapes reads."""
    if not model.external_data:
        return 0
    tensors = (tensor for node, index in _read_inputs(model) for tensor in _tensors_of(model, node, index))
    return sum(
        tensor.data_location == EXTERNAL_LOCATION and tensor.data_type not in _TYPES_OF_SIZES for tensor in tensors
    )


def _read_inputs(model: Model) -> Iterator[tuple[Node, int]]:
    """Yield the inputs, by node and index, whose elements the inference of shapes reads."""
    for alike in model.operators.alike_nodes:
        if not alike.operator.domain:
            rows = READ_INPUTS.get(alike.operator.op_type, ())
            for index in {index for row in rows for index in row.inputs}:
                yield from ((node, index) for node in alike.nodes)


def _tensors_of(model: Model, node: Node, index: int) -> Iterator[Proto]:
    """Yield the tensors that an input may be. onnx takes the default of a graph input for a constant."""
    name = input_name(node, index)
    yield from StoredElements(model.calls, model.main_graph).tensors_of(node.graph, name)
    found = node.graph.definition_of(name) if name else None
    if found is not None and found.field == "input" and name in found.graph.initializer_index:
        yield found.graph.message_at("initializer", found.graph.initializer_index[name])


def _count_calls_omitting_operands(model: Model) -> int:
    return sum(_omits_operands(node, function) for node, function in model.calls.all)


def _omits_operands(node: Node, function: Function) -> bool:
    body = function.body
    return len(node.outputs) < len(body.output_names) or len(node.inputs) < len(body.input_names)


def _count_mistaken_functions_of_mvn(model: Model) -> int:
    """Return the number of nodes whose function mixes float with the type of the input, or lacks the default axes."""
    groups = [each for each in model.operators.alike_nodes if each.operator.op_type == MVN and not each.operator.domain]
    versions = ((each.operator.opset_version or 0, node) for each in groups for node in each.nodes)
    return sum(_has_mistaken_function(model, node, version) for version, node in versions)


def _has_mistaken_function(model: Model, node: Node, version: int) -> bool:
    if not node.inputs:
        return False
    lacks_axes = version >= 13 and not has_attribute(node, "axes")
    return lacks_axes or kind_of(model, node.graph, node.inputs[0]) != "tensor(float)"


def _count_untyped_subgraphs(model: Model) -> int:
    return sum(map(has_untyped_output, model.graphs))


_UNJUDGED_BY_FULL_CHECK: Final = (
    UnjudgedKind("sparse tensor", "", lambda model: len(model.tensors.sparse)),
    UnjudgedKind("tensor", "of integers in data files", _count_integers_in_data_files),
    UnjudgedKind("tensor", "in data files that may decide a shape", _count_tensors_read_from_data_files),
    UnjudgedKind("call", "without all operands of its function", _count_calls_omitting_operands),
    node_kind((LINEAR_ATTENTION,), FORBIDDEN_GATES_WORDS, may_have_forbidden_gates),
    UnjudgedKind("node", f"of {MVN} without axes, or of another type than float", _count_mistaken_functions_of_mvn),
    UnjudgedKind("subgraph", "with outputs of unknown type", _count_untyped_subgraphs),
)
