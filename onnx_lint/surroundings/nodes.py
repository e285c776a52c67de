# SPDX-License-Identifier: Apache-2.0
"""Nodes, attributes, and the headers of graphs and functions in ONNX's textual syntax."""

from __future__ import annotations

from typing import Final

from onnx_lint.ir.columns.attribute_kinds import VALUE_FIELD_OF_TYPE
from onnx_lint.schema import Proto
from onnx_lint.spec.operators.schema import ATTRIBUTE_TYPE_NAMES
from onnx_lint.surroundings.messages import write_beside, write_field, write_message
from onnx_lint.surroundings.sheet import Sheet
from onnx_lint.surroundings.types import write_tensor, write_type, write_value_info
from onnx_lint.surroundings.words import write_domain, write_float, write_name, write_string

_VALUE_FIELDS: Final = frozenset(VALUE_FIELD_OF_TYPE.values())
_IN_LISTS: Final = {"floats", "ints", "strings", "tensors", "graphs", "sparse_tensors", "type_protos"}
_BESIDE: Final = ("doc_string", "metadata_props", "device_configurations")
"""The fields of a node that the syntax cannot express."""


def write_node(sheet: Sheet, node: Proto) -> None:
    """Write a NodeProto, with its name only if that is in focus."""
    if sheet.aims_at("name") and node.name:
        sheet.write("[")
        with sheet.part("name"):
            write_name(sheet, node.name)
        sheet.write("] ")
    sheet.items("output", node.output, lambda name: write_name(sheet, name))
    sheet.write(" = " if node.output else "= ")
    _write_identity(sheet, node, "op_type")
    has_subgraph = any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute[:1000])
    if node.attribute and not has_subgraph:
        _write_attributes(sheet, node)
    sheet.write(" (")
    sheet.items("input", node.input, lambda name: write_name(sheet, name))
    sheet.write(")")
    if node.attribute and has_subgraph:
        _write_attributes(sheet, node)
    write_beside(sheet, node, _BESIDE)


def _write_identity(sheet: Sheet, message: Proto, name: str) -> None:
    """Write the identity of an operator or a function: domain, the field called `name`, and overload."""
    with sheet.subject():
        if message.domain:
            with sheet.part("domain"):
                write_domain(sheet, message.domain)
            sheet.write(".")
        with sheet.part(name):
            write_name(sheet, getattr(message, name))
        if message.overload:
            sheet.write(":")
            with sheet.part("overload"):
                write_name(sheet, message.overload)


def _write_attributes(sheet: Sheet, node: Proto) -> None:
    sheet.write(" <")
    sheet.items("attribute", node.attribute, lambda attribute: write_attribute(sheet, attribute))
    sheet.write(">")


def write_attribute(sheet: Sheet, attribute: Proto) -> None:
    """Write an AttributeProto, with its type if the value does not imply it, or if it is in focus."""
    with sheet.subject(), sheet.part("name"):
        write_name(sheet, attribute.name)
    field = VALUE_FIELD_OF_TYPE.get(attribute.type)
    given = [each.name for each, _ in attribute.ListFields() if each.name in _VALUE_FIELDS]
    is_reference = bool(attribute.ref_attr_name)
    is_regular = field is not None and all(each == field for each in given) and not (is_reference and given)
    if not is_regular:
        _write_irregular(sheet, attribute, given)
        return
    assert field is not None
    value = getattr(attribute, field)
    if is_reference or sheet.aims_at("type") or not _is_implied(field, value):
        _write_attribute_type(sheet, attribute)
        sheet.write(" = ")
    else:
        sheet.write("=")
    if is_reference:
        with sheet.part("ref_attr_name"):
            sheet.write("@")
            write_name(sheet, attribute.ref_attr_name)
        return
    if field in _IN_LISTS:
        sheet.write("[")
        sheet.items(field, value, lambda each: _write_value(sheet, field.removesuffix("s"), each))
        sheet.write("]")
        return
    with sheet.part(field):
        _write_value(sheet, field, value)


def _is_implied(field: str, value: Proto) -> bool:
    """Return whether the written value implies the type."""
    if field in _IN_LISTS:
        return len(value) > 0
    if field == "tp":
        return value.WhichOneof("value") is not None
    return True


def _write_attribute_type(sheet: Sheet, attribute: Proto) -> None:
    sheet.write(": ")
    with sheet.part("type"):
        name = ATTRIBUTE_TYPE_NAMES.get(attribute.type)
        if name is not None:
            sheet.write(name.lower())
        else:
            sheet.write(f"undefined({attribute.type})" if attribute.type else "undefined")


def _write_irregular(sheet: Sheet, attribute: Proto, given: list[str]) -> None:
    """Write an attribute that is not a name with one value of its type: its type and all its fields."""
    _write_attribute_type(sheet, attribute)
    sheet.write(" = {")
    fields = [*(["ref_attr_name"] if attribute.ref_attr_name else []), *given]
    for index, field in enumerate(fields):
        if index:
            sheet.write(", ")
        write_field(sheet, attribute, field)
    sheet.write("}")


def _write_value(sheet: Sheet, field: str, value: Proto) -> None:
    match field:
        case "i" | "int":
            sheet.write(str(value))
        case "f" | "float":
            write_float(sheet, value)
        case "s" | "string":
            write_string(sheet, value)
        case "t" | "tensor":
            write_tensor(sheet, value)
        case "tp" | "type_proto":
            write_type(sheet, value)
        case "g" | "graph":
            write_graph_header(sheet, value)
        case _:
            write_message(sheet, value)


def write_graph_header(sheet: Sheet, graph: Proto) -> None:
    """Write a GraphProto without its nodes: its name, inputs and outputs."""
    with sheet.subject(), sheet.part("name"):
        write_name(sheet, graph.name)
    sheet.write(" (")
    sheet.items("input", graph.input, lambda value: write_value_info(sheet, value))
    sheet.write(") => (")
    sheet.items("output", graph.output, lambda value: write_value_info(sheet, value))
    sheet.write(") {")
    sheet.leave_out()
    sheet.write("}")


def write_function_header(sheet: Sheet, function: Proto) -> None:
    """Write a FunctionProto without its nodes: its identity, attributes, inputs and outputs."""
    _write_identity(sheet, function, "name")
    if function.attribute or function.attribute_proto:
        sheet.write(" <")
        sheet.items("attribute", function.attribute, lambda name: write_name(sheet, name))
        if function.attribute and function.attribute_proto:
            sheet.write(", ")
        sheet.items("attribute_proto", function.attribute_proto, lambda each: write_attribute(sheet, each))
        sheet.write(">")
    sheet.write(" (")
    sheet.items("input", function.input, lambda name: write_name(sheet, name))
    sheet.write(") => (")
    sheet.items("output", function.output, lambda name: write_name(sheet, name))
    sheet.write(") {")
    sheet.leave_out()
    sheet.write("}")


def write_initializer(sheet: Sheet, tensor: Proto) -> None:
    """Write an initializer, the values of a small one after an equals sign."""
    write_tensor(sheet, tensor, between=" = ")
