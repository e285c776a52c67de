# SPDX-License-Identifier: Apache-2.0
"""Nodes that fit a signature, for the tests that hold onnx-lint against the `onnx` package."""

from __future__ import annotations

import onnx
import onnx.defs
from onnx import AttributeProto, NodeProto, TensorProto, helper


def attribute_of(name: str, kind: int) -> AttributeProto:
    """An attribute of a type, with some value."""
    tensor = helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0])
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0]),
        helper.make_tensor("i", TensorProto.INT64, [1], [0]),
        [2],
    )
    type_proto = helper.make_tensor_type_proto(TensorProto.FLOAT, [1])
    graph = helper.make_graph([], "g", [], [])
    attribute = AttributeProto(name=name, type=kind)
    match AttributeProto.AttributeType.Name(kind):
        case "FLOAT":
            attribute.f = 1.0
        case "INT":
            attribute.i = 1
        case "STRING":
            attribute.s = b"s"
        case "TENSOR":
            attribute.t.CopyFrom(tensor)
        case "GRAPH":
            attribute.g.CopyFrom(graph)
        case "SPARSE_TENSOR":
            attribute.sparse_tensor.CopyFrom(sparse)
        case "TYPE_PROTO":
            attribute.tp.CopyFrom(type_proto)
        case "FLOATS":
            attribute.floats.append(1.0)
        case "INTS":
            attribute.ints.append(1)
        case "STRINGS":
            attribute.strings.append(b"s")
        case "TENSORS":
            attribute.tensors.append(tensor)
        case "GRAPHS":
            attribute.graphs.append(graph)
        case "SPARSE_TENSORS":
            attribute.sparse_tensors.append(sparse)
        case "TYPE_PROTOS":
            attribute.type_protos.append(type_proto)
    return attribute


def names(prefix: str, count: int) -> list[str]:
    """Numbered names."""
    return [f"{prefix}{index}" for index in range(count)]


def least_node(schema: onnx.defs.OpSchema) -> NodeProto:
    """A node with the fewest operands and attributes."""
    node = NodeProto(op_type=schema.name, domain=schema.domain)
    node.input.extend(names("x", schema.min_input))
    node.output.extend(names("y", max(schema.min_output, 1)))
    required = [attribute for attribute in schema.attributes.values() if attribute.required]
    node.attribute.extend(attribute_of(item.name, item.type.value) for item in sorted(required, key=lambda a: a.name))
    return node


def most_node(schema: onnx.defs.OpSchema) -> NodeProto:
    """A node with all operands, three of a variadic kind more, and all attributes."""
    node = least_node(schema)
    node.ClearField("input")
    node.ClearField("output")
    node.input.extend(names("x", min(schema.max_input, len(schema.inputs) + 3)))
    node.output.extend(names("y", max(1, min(schema.max_output, len(schema.outputs) + 3))))
    given = {attribute.name for attribute in node.attribute}
    others = sorted(set(schema.attributes) - given)
    node.attribute.extend(attribute_of(name, schema.attributes[name].type.value) for name in others)
    return node
