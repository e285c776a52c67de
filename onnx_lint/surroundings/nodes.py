# SPDX-License-Identifier: Apache-2.0
"""Nodes, attributes, and the headers of graphs and functions in ONNX's textual syntax."""

from __future__ import annotations

from typing import Any, Final

from onnx_lint.ir.columns.attribute_kinds import VALUE_FIELD_OF_TYPE
from onnx_lint.schema import Proto
from onnx_lint.spec.operators.schema import ATTRIBUTE_TYPE_NAMES
from onnx_lint.surroundings.line_writer import LineWriter
from onnx_lint.surroundings.messages import write_as_comment, write_field, write_message
from onnx_lint.surroundings.types import write_tensor, write_type, write_value_info
from onnx_lint.surroundings.words import write_domain, write_float, write_name, write_string

_VALUE_FIELDS: Final = frozenset(VALUE_FIELD_OF_TYPE.values())
_IN_LISTS: Final = {"floats", "ints", "strings", "tensors", "graphs", "sparse_tensors", "type_protos"}
_BESIDE: Final = ("doc_string", "metadata_props", "device_configurations")
"""The fields of a node that the syntax cannot express."""
_MAX_SEARCHED: Final = 1_000
"""The most attributes in which a graph is looked for; no operator has nearly as many."""


def write_node(line: LineWriter, node: Proto) -> None:
    """Write a NodeProto, with its name only if that is in focus."""
    if line.aims_at("name") and node.name:
        line.write("[")
        with line.part("name"):
            write_name(line, node.name)
        line.write("] ")
    line.items("output", node.output, lambda name: write_name(line, name))
    line.write(" = " if node.output else "= ")
    _write_identity(line, node, "op_type")
    searched = node.attribute[:_MAX_SEARCHED]
    has_subgraph = any(attribute.HasField("g") or attribute.graphs for attribute in searched)
    # As the printer of onnx: attributes with graphs come after the inputs.
    if node.attribute and not has_subgraph:
        _write_attributes(line, node)
    line.write(" (")
    line.items("input", node.input, lambda name: write_name(line, name))
    line.write(")")
    if node.attribute and has_subgraph:
        _write_attributes(line, node)
    write_as_comment(line, node, _BESIDE)


def _write_identity(line: LineWriter, message: Proto, name: str) -> None:
    """Write the identity of an operator or a function: domain, the field called `name`, and overload."""
    with line.subject():
        if message.domain:
            with line.part("domain"):
                write_domain(line, message.domain)
            line.write(".")
        with line.part(name):
            write_name(line, getattr(message, name))
        if message.overload:
            line.write(":")
            with line.part("overload"):
                write_name(line, message.overload)


def _write_attributes(line: LineWriter, node: Proto) -> None:
    line.write(" <")
    line.items("attribute", node.attribute, lambda attribute: write_attribute(line, attribute))
    line.write(">")


def write_attribute(line: LineWriter, attribute: Proto) -> None:
    """Write an AttributeProto, with its type if the value does not imply it, or if it is in focus."""
    with line.subject(), line.part("name"):
        write_name(line, attribute.name)
    field = VALUE_FIELD_OF_TYPE.get(attribute.type)
    given = [each.name for each, _ in attribute.ListFields() if each.name in _VALUE_FIELDS]
    is_reference = bool(attribute.ref_attr_name)
    is_regular = field is not None and all(each == field for each in given) and not (is_reference and given)
    if not is_regular:
        _write_irregular(line, attribute, given)
        return
    assert field is not None
    value = getattr(attribute, field)
    if is_reference or line.aims_at("type") or not _is_implied(field, value):
        _write_attribute_type(line, attribute)
        line.write(" = ")
    else:
        line.write("=")
    if is_reference:
        with line.part("ref_attr_name"):
            line.write("@")
            write_name(line, attribute.ref_attr_name)
        return
    if field in _IN_LISTS:
        line.write("[")
        line.items(field, value, lambda each: _write_value(line, field.removesuffix("s"), each))
        line.write("]")
        return
    with line.part(field):
        _write_value(line, field, value)


def _is_implied(field: str, value: Any) -> bool:
    """Return whether the written value implies the type."""
    if field in _IN_LISTS:
        return len(value) > 0
    if field == "tp":
        return value.WhichOneof("value") is not None
    return True


def _write_attribute_type(line: LineWriter, attribute: Proto) -> None:
    line.write(": ")
    with line.part("type"):
        name = ATTRIBUTE_TYPE_NAMES.get(attribute.type)
        if name is not None:
            line.write(name.lower())
        else:
            line.write(f"undefined({attribute.type})" if attribute.type else "undefined")


def _write_irregular(line: LineWriter, attribute: Proto, given: list[str]) -> None:
    """Write an attribute that is not a name with one value of its type: its type and all its fields."""
    _write_attribute_type(line, attribute)
    line.write(" = {")
    fields = [*(["ref_attr_name"] if attribute.ref_attr_name else []), *given]
    for index, field in enumerate(fields):
        if index:
            line.write(", ")
        write_field(line, attribute, field)
    line.write("}")


def _write_value(line: LineWriter, field: str, value: Any) -> None:
    match field:
        case "i" | "int":
            line.write(str(value))
        case "f" | "float":
            write_float(line, value)
        case "s" | "string":
            write_string(line, value)
        case "t" | "tensor":
            write_tensor(line, value)
        case "tp" | "type_proto":
            write_type(line, value)
        case "g" | "graph":
            write_graph_header(line, value)
        case _:
            write_message(line, value)


def write_graph_header(line: LineWriter, graph: Proto) -> None:
    """Write a GraphProto without its nodes: its name, inputs and outputs."""
    with line.subject(), line.part("name"):
        write_name(line, graph.name)
    line.write(" (")
    line.items("input", graph.input, lambda value: write_value_info(line, value))
    line.write(") => (")
    line.items("output", graph.output, lambda value: write_value_info(line, value))
    line.write(") {")
    line.leave_out()
    line.write("}")


def write_function_header(line: LineWriter, function: Proto) -> None:
    """Write a FunctionProto without its nodes: its identity, attributes, inputs and outputs."""
    _write_identity(line, function, "name")
    if function.attribute or function.attribute_proto:
        line.write(" <")
        line.items("attribute", function.attribute, lambda name: write_name(line, name))
        if function.attribute and function.attribute_proto:
            line.write(", ")
        line.items("attribute_proto", function.attribute_proto, lambda each: write_attribute(line, each))
        line.write(">")
    line.write(" (")
    line.items("input", function.input, lambda name: write_name(line, name))
    line.write(") => (")
    line.items("output", function.output, lambda name: write_name(line, name))
    line.write(") {")
    line.leave_out()
    line.write("}")


def write_initializer(line: LineWriter, tensor: Proto) -> None:
    """Write an initializer, the values of a small one after an equals sign."""
    write_tensor(line, tensor, between=" = ")
