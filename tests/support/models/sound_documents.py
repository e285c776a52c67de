# SPDX-License-Identifier: Apache-2.0
"""A sound message of each kind of document."""

from __future__ import annotations

from google.protobuf import text_format

from onnx_lint import lint, schema

SOUND = {
    "OperatorSetProto": 'domain: "com.example" opset_version: 1 operator { op_type: "Blur" since_version: 1 }',
    "FunctionProto": 'name: "F" domain: "d" input: "x" output: "y" node { op_type: "Relu" input: "x" output: "y" }',
    "GraphProto": 'name: "g" node { op_type: "Relu" input: "x" output: "y" }',
    "NodeProto": 'op_type: "Relu" input: "x" output: "y"',
    "AttributeProto": 'name: "alpha" type: FLOAT f: 1',
    "TensorProto": 'name: "x" dims: 2 data_type: 1 float_data: [1, 2]',
    "SparseTensorProto": "values { dims: 1 data_type: 1 float_data: 1 } indices { dims: 1 data_type: 7 int64_data: 0 } "
    "dims: 2",
    "ValueInfoProto": 'name: "x" type { tensor_type { elem_type: 1 shape { } } }',
    "TypeProto": "sequence_type { elem_type { tensor_type { elem_type: 1 } } }",
    "SequenceProto": "elem_type: 1 tensor_values { data_type: 1 float_data: 1 } "
    "tensor_values { data_type: 1 float_data: 1 }",
    "MapProto": "key_type: 7 keys: [1, 2] values { elem_type: 1 tensor_values { data_type: 1 float_data: 1 } }",
}  # fmt: skip


def sound_message(kind: str):
    return text_format.Parse(SOUND[kind], schema.message(kind)(), descriptor_pool=schema.pool())


def only_fault(data: bytes) -> tuple[str, str]:
    ((rule, message),) = [(item.rule, item.message) for item in lint(data).diagnostics]
    return rule, message
