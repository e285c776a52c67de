# SPDX-License-Identifier: Apache-2.0
"""The operands and attributes of nodes as the data of releases describe them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.ir.graph import GraphKind
from onnx_lint.model import ROOT, Graph, Model, Node, Place
from onnx_lint.schema import Proto
from onnx_lint.spec.ir_versions import FREE_INITIALIZERS_SINCE
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, OperatorSchema


def operator_name(domain: str, op_type: str) -> str:
    """Return the name of an operator with its domain, such as `com.microsoft::Gelu`."""
    return f"{domain}::{op_type}" if domain else op_type


def is_in_main_graph(place: Place) -> bool:
    """Return whether a place is in the main graph, or in a graph nested in it."""
    return _MAIN_GRAPH in place.ancestors()


_MAIN_GRAPH: Final = ROOT.at("graph")


# --- operands

OperandTypes = Mapping[str, set[str]]
"""The known types of the operands of a node, by type variable and by parameter."""


def input_name(node: Node, index: int) -> str:
    """Return the name of an input; empty if the node omits it."""
    return node.inputs[index] if index < len(node.inputs) else ""


def output_name(node: Node, index: int) -> str:
    """Return the name of an output; empty if the node omits it."""
    return node.outputs[index] if index < len(node.outputs) else ""


def input_shape(model: Model, node: Node, index: int) -> Shape:
    """Return the shape of an input; None if it is unknown, or if the node omits the input."""
    name = input_name(node, index)
    return model.shape_of(name, node.graph) if name else None


def is_given_by_run(model: Model, graph: Graph, name: str) -> bool:
    """Return whether a value that a graph sees is an input of the main graph, whose elements only a run knows.

    Before IR version 4 nothing replaces the initializer of an input: then it is a constant.
    """
    found = graph.definition_of(name) if name else None
    if found is None or found.field != "input" or found.graph.kind is not GraphKind.MAIN:
        return False
    return name not in found.graph.initializer_index or model.effective_ir_version >= FREE_INITIALIZERS_SINCE


def kind_of(model: Model, graph: Graph, name: str) -> str:
    """Return the type of a value that a graph sees, such as `tensor(float)`; empty if it is unknown."""
    fact = model.value_flow.facts_seen(graph)(name) if name else None
    return (fact.kind or "") if fact is not None else ""


def input_kinds(model: Model, node: Node) -> list[str | None]:
    """Return the type of each input of a node; None if it is unknown, or if the node omits the input."""
    return [kind_of(model, node.graph, name) or None for name in node.inputs]


def operand_types(model: Model, node: Node, schema: OperatorSchema) -> OperandTypes:
    """Return the known types of the operands, by type variable and by parameter, as ONNX Runtime writes them.

    An operand that a call of the function omits has the empty type, and none to judge.
    """
    found: dict[str, set[str]] = {}
    for names, parameter_at in ((node.inputs, schema.input_at), (node.outputs, schema.output_at)):
        for index, name in enumerate(names):
            parameter, kind = parameter_at(index), kind_of(model, node.graph, name)
            if parameter is None or not kind:
                continue
            kind = re.sub(r"map\((\w+), (\w+)\)", r"map(\1,tensor(\2))", kind) if "map(" in kind else kind
            for key in filter(None, (parameter.name, parameter.variable)):
                found.setdefault(key, set()).add(kind)
    return found


# --- attributes


def attribute_value(attribute: Proto) -> int | str:
    """Return the integer or text of an attribute: that of its type, or of an attribute without a type the one it has.

    A text that is not UTF-8 is returned with replacement characters.
    """
    if attribute.type == ATTRIBUTE_TYPE_CODES["INT"]:
        return int(attribute.i)
    return attribute.s.decode("utf-8", "replace") or int(attribute.i)


def attribute_values(node: Node, schema: OperatorSchema) -> dict[str, str]:
    """Return the integers and texts of attributes, with the defaults, by name.

    An attribute whose value is a parameter of a function is left out.
    """
    values = {name: str(each.default) for name, each in schema.attributes.items() if each.default is not None}
    for attribute in node.attribute_protos:
        values[attribute.name] = str(attribute_value(attribute))
        if attribute.ref_attr_name:
            del values[attribute.name]
    return values
