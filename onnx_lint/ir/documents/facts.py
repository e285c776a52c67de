# SPDX-License-Identifier: Apache-2.0
"""Facts about a document other than a model, in a few words and numbers, which are shown with the findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from onnx_lint.ir.documents.value_types import KINDS, type_of_value
from onnx_lint.ir.in_words import describe_element_type, describe_type
from onnx_lint.ir.places.place import ROOT
from onnx_lint.schema import Proto

DocumentFacts = dict[str, str | int]
"""Names and numbers of fields, and numbers of elements under their name."""


def document_facts(document: Proto) -> DocumentFacts:
    """Return the facts about a document; empty for a model, which has others."""
    describe = _FACTS.get(document.DESCRIPTOR.name)
    return {} if describe is None else describe(document)


def _operator_set(proto: Proto) -> DocumentFacts:
    return {
        "domain": proto.domain,
        "opset_version": proto.opset_version,
        "ir_version": proto.ir_version,
        "operators": len(proto.operator),
        "functions": len(proto.functions),
    }


def _function(proto: Proto) -> DocumentFacts:
    named: DocumentFacts = {"name": proto.name, "domain": proto.domain}
    if proto.overload:
        named["overload"] = proto.overload
    return {**named, "inputs": len(proto.input), "outputs": len(proto.output), "nodes": len(proto.node)}


def _graph(proto: Proto) -> DocumentFacts:
    initializers = len(proto.initializer) + len(proto.sparse_initializer)
    counts: DocumentFacts = {"inputs": len(proto.input), "outputs": len(proto.output), "nodes": len(proto.node)}
    return {"name": proto.name, **counts, "initializers": initializers}


def _node(proto: Proto) -> DocumentFacts:
    counts: DocumentFacts = {
        "inputs": len(proto.input),
        "outputs": len(proto.output),
        "attributes": len(proto.attribute),
    }
    return {"name": proto.name, "op_type": proto.op_type, "domain": proto.domain, **counts}


def _attribute(proto: Proto) -> DocumentFacts:
    types = proto.DESCRIPTOR.enum_types_by_name["AttributeType"].values_by_number
    known = types.get(proto.type)
    return {"name": proto.name, "type": known.name if known is not None else str(proto.type)}


def _tensor(proto: Proto) -> DocumentFacts:
    return {"name": proto.name, "type": _tensor_type(proto.data_type, proto.dims)}


def _sparse_tensor(proto: Proto) -> DocumentFacts:
    stored = _tensor_type(proto.values.data_type, proto.dims)
    return {"name": proto.values.name, "type": f"sparse {stored}"}


def _tensor_type(element_type: int, dims: list[int]) -> str:
    return f"{describe_element_type(element_type)}[{','.join(map(str, dims))}]"


def _value_info(proto: Proto) -> DocumentFacts:
    return {"name": proto.name, "type": describe_type(proto.type)}


def _type(proto: Proto) -> DocumentFacts:
    return {"type": describe_type(proto)}


def _sequence(proto: Proto) -> DocumentFacts:
    return {**_value(proto), "elements": sum(len(getattr(proto, f"{kind}_values")) for kind in KINDS)}


def _map(proto: Proto) -> DocumentFacts:
    return {**_value(proto), "keys": len(proto.keys) + len(proto.string_keys)}


def _value(proto: Proto) -> DocumentFacts:
    return {"name": proto.name, "type": str(type_of_value(proto, ROOT))}


_FACTS: Final[dict[str, Callable[[Proto], DocumentFacts]]] = {
    "OperatorSetProto": _operator_set,
    "FunctionProto": _function,
    "GraphProto": _graph,
    "NodeProto": _node,
    "AttributeProto": _attribute,
    "TensorProto": _tensor,
    "SparseTensorProto": _sparse_tensor,
    "ValueInfoProto": _value_info,
    "TypeProto": _type,
    "SequenceProto": _sequence,
    "MapProto": _map,
    "OptionalProto": _value,
}
