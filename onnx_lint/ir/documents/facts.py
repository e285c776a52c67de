# SPDX-License-Identifier: Apache-2.0
"""Facts about a document other than a model, in a few words and numbers, which are shown with the findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from onnx_lint.ir.documents.value_types import KINDS, type_of_value
from onnx_lint.ir.in_words import describe_tensor_type, describe_type
from onnx_lint.ir.places.place import ROOT
from onnx_lint.schema import Proto

DocumentFacts = dict[str, str | int]
"""Names and numbers of fields, and numbers of elements under their name."""

_FactSource = str | tuple[str, ...] | Callable[[Proto], str | int]
"""A field with the fact, the lists whose elements are counted, or what makes the fact of the document."""


def document_facts(document: Proto) -> DocumentFacts:
    """Return the facts about a document; empty for a model, which has others."""
    facts = {name: _value_of(fact, document) for name, fact in _FACTS.get(document.DESCRIPTOR.name, {}).items()}
    return {name: value for name, value in facts.items() if value or name != "overload"}


def _value_of(fact: _FactSource, document: Proto) -> Any:
    if isinstance(fact, str):
        return getattr(document, fact)
    return sum(len(getattr(document, field)) for field in fact) if isinstance(fact, tuple) else fact(document)


def _attribute_type(proto: Proto) -> str:
    types = proto.DESCRIPTOR.enum_types_by_name["AttributeType"].values_by_number
    return str(types[proto.type].name if proto.type in types else proto.type)


def _value_type(proto: Proto) -> str:
    return str(type_of_value(proto, ROOT))


_OPERANDS: Final[Mapping[str, _FactSource]] = {"inputs": ("input",), "outputs": ("output",)}

_FACTS: Final[Mapping[str, Mapping[str, _FactSource]]] = {
    "OperatorSetProto": {
        "domain": "domain",
        "opset_version": "opset_version",
        "ir_version": "ir_version",
        "operators": ("operator",),
        "functions": ("functions",),
    },
    "FunctionProto": {
        "name": "name",
        "domain": "domain",
        "overload": "overload",
        **_OPERANDS,
        "nodes": ("node",),
    },
    "GraphProto": {
        "name": "name",
        **_OPERANDS,
        "nodes": ("node",),
        "initializers": ("initializer", "sparse_initializer"),
    },
    "NodeProto": {
        "name": "name",
        "op_type": "op_type",
        "domain": "domain",
        **_OPERANDS,
        "attributes": ("attribute",),
    },
    "AttributeProto": {"name": "name", "type": _attribute_type},
    "TensorProto": {"name": "name", "type": lambda proto: describe_tensor_type(proto.data_type, proto.dims)},
    "SparseTensorProto": {
        "name": lambda proto: proto.values.name,
        "type": lambda proto: f"sparse {describe_tensor_type(proto.values.data_type, proto.dims)}",
    },
    "ValueInfoProto": {"name": "name", "type": lambda proto: describe_type(proto.type)},
    "TypeProto": {"type": describe_type},
    "SequenceProto": {"name": "name", "type": _value_type, "elements": tuple(f"{kind}_values" for kind in KINDS)},
    "MapProto": {"name": "name", "type": _value_type, "keys": ("keys", "string_keys")},
    "OptionalProto": {"name": "name", "type": _value_type},
}
"""The facts about each kind of document, by their names. An overload is left out where there is none."""
