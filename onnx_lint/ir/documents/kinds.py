# SPDX-License-Identifier: Apache-2.0
"""The kinds of file that the specification knows: models, operator sets, single messages, values."""

from __future__ import annotations

from typing import Final, Literal, get_args

from onnx_lint.common.record import Record

MODEL_KIND: Final = "ModelProto"

OPERATOR_SET_KIND: Final = "OperatorSetProto"

MAGIC: Final = "ONNXOPSET"
"""The required value of the field `magic` of an operator set."""

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
"""The parts that a rule may need. A rule checks only documents in which these parts are complete.

An attribute may hold complete graphs, and so nodes; only the names of the graphs around it are unknown. A rule that
needs `graph` needs these too. Only a model shows what it lacks. `file` is the bytes, `metadata` any message with
metadata, `value` a sequence, map or optional, and `library` a list of functions with an IR version, which models and
operator sets have.
"""

NEEDS: Final[tuple[str, ...]] = get_args(Need)

_TENSORS: Final = frozenset({"file", "metadata", "tensor"})
_VALUES: Final = _TENSORS | {"sparse-tensor", "value"}
_ATTRIBUTES: Final = _TENSORS | {"sparse-tensor", "type", "value-info", "attribute", "node"}
_GRAPHS: Final = _ATTRIBUTES | {"graph"}
_FUNCTIONS: Final = _GRAPHS | {"function"}


class DocumentKind(Record):
    """A message that is the root of a file."""

    message: str
    noun: str
    """The name of the root in messages and places."""
    holds: frozenset[str]
    """The parts that are complete in it, see `Need`."""


OF_MODELS: Final = frozenset({"GraphProto", "NodeProto", "AttributeProto"})
"""The kinds that hold nodes but cannot import operator sets: the model that they belong to does that."""

KINDS: Final = {
    kind.message: kind
    for kind in (
        DocumentKind(MODEL_KIND, "model", _FUNCTIONS | {"library", "model"}),
        DocumentKind(OPERATOR_SET_KIND, "operator-set", _FUNCTIONS | {"library", "operator-set"}),
        DocumentKind("FunctionProto", "function", _FUNCTIONS),
        DocumentKind("GraphProto", "graph", _GRAPHS),
        DocumentKind("NodeProto", "node", _ATTRIBUTES),
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


def describe_kind(message: str) -> str:
    """Return the name of a file's root in messages, by the name of its message: `the operator set`."""
    return f"the {KINDS[message].noun.replace('-', ' ')}"


def kind_of(name: str) -> DocumentKind:
    """Return the kind whose message has the name. Raises ValueError if there is none."""
    if name not in KINDS:
        raise ValueError(f"unknown kind of document {name!r}; there are {', '.join(KINDS)}")
    return KINDS[name]
