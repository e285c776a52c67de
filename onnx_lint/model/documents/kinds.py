# SPDX-License-Identifier: Apache-2.0
"""The kinds of file that the specification knows beside models: operator sets, single messages, values.

Such a document is judged in a context: the smallest model in which its parts stand where rules look for them. What a
rule finds there is moved back to where it stands in the document, and what it finds elsewhere in the context is not
the document's, so it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, get_args

from onnx_lint import schema
from onnx_lint.model.places.place import Key, Place
from onnx_lint.record import Record
from onnx_lint.schema import Proto

MODEL: Final = "ModelProto"

OPERATOR_SET: Final = "OperatorSetProto"

MAGIC: Final = "ONNXOPSET"
"""The word with which an operator set begins."""

Need = Literal[
    "file",
    "metadata",
    "tensor",
    "sparse-tensor",
    "value",
    "type",
    "value-info",
    "attribute",
    "node",
    "graph",
    "function",
    "library",
    "operator-set",
    "model",
]
"""What a rule needs to see whole: it judges every document that holds such messages with all that the rule looks at.

An attribute may hold a graph with all its nodes, a node by itself stands in no graph, and only a model tells what it
does not have. `file` is the bytes, `metadata` any message that has some, `value` a sequence, map or optional, and
`library` a list of functions with an IR version, which models and operator sets have.
"""

NEEDS: Final[tuple[str, ...]] = get_args(Need)

_TENSORS: Final = frozenset({"file", "metadata", "tensor"})
_VALUES: Final = _TENSORS | {"sparse-tensor", "value"}
_ATTRIBUTES: Final = _TENSORS | {"sparse-tensor", "type", "value-info", "attribute"}
_GRAPHS: Final = _ATTRIBUTES | {"node", "graph"}
_FUNCTIONS: Final = _GRAPHS | {"function"}


class DocumentKind(Record):
    """A message that is the root of a file."""

    message: str
    noun: str
    """What messages and places call the root."""
    holds: frozenset[str]
    """What rules may need and find whole in it."""


OF_MODELS: Final = frozenset({"GraphProto", "NodeProto", "AttributeProto"})
"""The kinds that hold nodes and leave it to a model to import operator sets."""

KINDS: Final = {
    kind.message: kind
    for kind in (
        DocumentKind(MODEL, "model", _FUNCTIONS | {"library", "model"}),
        DocumentKind(OPERATOR_SET, "operator-set", _FUNCTIONS | {"library", "operator-set"}),
        DocumentKind("FunctionProto", "function", _FUNCTIONS),
        DocumentKind("GraphProto", "graph", _GRAPHS),
        DocumentKind("NodeProto", "node", _ATTRIBUTES | {"node"}),
        DocumentKind("AttributeProto", "attribute", _ATTRIBUTES),
        DocumentKind("TensorProto", "tensor", _TENSORS),
        DocumentKind("SparseTensorProto", "sparse-tensor", _TENSORS | {"sparse-tensor"}),
        DocumentKind("ValueInfoProto", "value-info", frozenset({"file", "metadata", "type", "value-info"})),
        DocumentKind("TypeProto", "type", frozenset({"file", "type"})),
        DocumentKind("SequenceProto", "sequence", _VALUES),
        DocumentKind("MapProto", "map", _VALUES),
        DocumentKind("OptionalProto", "optional", _VALUES),
    )
}
"""Every kind by the name of its message."""


def kind_of(name: str) -> DocumentKind:
    """The kind whose message has the name. Raises ValueError where there is none."""
    if name not in KINDS:
        raise ValueError(f"unknown kind of document {name!r}; there are {', '.join(KINDS)}")
    return KINDS[name]


_ONE: Final[dict[str, Key]] = {
    "FunctionProto": (("functions", 0),),
    "GraphProto": (("graph", None),),
    "NodeProto": (("graph", None), ("node", 0)),
    "AttributeProto": (("graph", None), ("node", 0), ("attribute", 0)),
    "TensorProto": (("graph", None), ("initializer", 0)),
    "SparseTensorProto": (("graph", None), ("sparse_initializer", 0)),
    "ValueInfoProto": (("graph", None), ("input", 0)),
    "TypeProto": (("graph", None), ("input", 0), ("type", None)),
}
"""Where in the context the message of a kind stands."""


class Context(Record):
    """A model around the parts of a document, and where in the document they stand."""

    proto: Proto
    places: dict[Key, Key]
    """For a place in the model the place in the document."""


def context(kind: str, document: Proto) -> Context:
    """The smallest model in which the rules find the parts of the document."""
    model = schema.message(MODEL)()
    if kind == OPERATOR_SET:
        model.ir_version = document.ir_version
        model.functions.extend(document.functions)
        # The functions need an import of their domain; one of another domain has a finding of its own.
        for domain in dict.fromkeys([document.domain, *(function.domain for function in document.functions)]):
            model.opset_import.add(domain=domain, version=max(document.opset_version, 1))
        found: dict[Key, Key] = {
            (("functions", index),): (("functions", index),) for index in range(len(model.functions))
        }
        found[("ir_version", None),] = (("ir_version", None),)
        return Context(model, found)
    if kind in _ONE:
        target = model
        for field, index in _ONE[kind]:
            target = getattr(target, field) if index is None else getattr(target, field).add()
        target.CopyFrom(document)
        if kind == "FunctionProto":
            # The version of the model's import is the version of the function; a lone one has none to contradict.
            model.opset_import.add(domain=document.domain, version=1)
        return Context(model, {_ONE[kind]: ()})
    places: dict[Key, Key] = {}
    for message, field, key in _tensors(document):
        tensors = getattr(model.graph, field)
        places[("graph", None), (field, len(tensors))] = key
        tensors.add().CopyFrom(message)
    return Context(model, places)


def _tensors(document: Proto, key: Key = ()) -> Iterator[tuple[Proto, str, Key]]:
    """The tensors of a value, dense and sparse, the list of graphs that holds such, and where each stands."""
    for message, step in _held(document):
        name = message.DESCRIPTOR.name
        if name == "TensorProto":
            yield message, "initializer", (*key, step)
        elif name == "SparseTensorProto":
            yield message, "sparse_initializer", (*key, step)
        else:
            yield from _tensors(message, (*key, step))


def _held(document: Proto) -> Iterator[tuple[Proto, tuple[str, int | None]]]:
    for field, value in document.ListFields():
        if field.message_type is None:
            continue
        if hasattr(value, "DESCRIPTOR"):
            yield value, (field.name, None)
        else:
            yield from ((message, (field.name, index)) for index, message in enumerate(value))


_VALUES_OF_VALUES: Final = frozenset({"SequenceProto", "MapProto", "OptionalProto"})


def values(document: Proto, place: Place) -> Iterator[tuple[Proto, Place]]:
    """The value and all sequences, maps and optionals in it, each with its place; what holds others before them."""
    if document.DESCRIPTOR.name not in _VALUES_OF_VALUES:
        return
    yield document, place
    open_values = [(_values_in(document), place)]
    while open_values:
        held, around = open_values[-1]
        found = next(held, None)
        if found is None:
            open_values.pop()
            continue
        message, (field, index) = found
        inside = around.at(field, index)
        yield message, inside
        open_values.append((_values_in(message), inside))


def _values_in(value: Proto) -> Iterator[tuple[Proto, tuple[str, int | None]]]:
    """The sequences, maps and optionals that the value holds, and where."""
    for field, held in value.ListFields():
        if field.message_type is None or field.message_type.name not in _VALUES_OF_VALUES:
            continue
        if hasattr(held, "DESCRIPTOR"):
            yield held, (field.name, None)
        else:
            yield from ((message, (field.name, index)) for index, message in enumerate(held))


def moved(place: Place, found: Context, root: Place) -> Place | None:
    """The place in the document for one in its context; None where the document has no part in it."""
    key = place.key
    for length in range(len(key), -1, -1):
        prefix = found.places.get(key[:length])
        if prefix is not None:
            for field, index in (*prefix, *key[length:]):
                root = root.at(field, index)
            return root
    return None
