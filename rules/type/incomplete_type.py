# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, Proto, describe_case, has_unusual_types
from onnx_lint.rule import Finding, rule

_PARTS = {
    "tensor_type": (("elem_type", "element type", "TYP-2"),),
    "sparse_tensor_type": (("elem_type", "element type", "TYP-10"),),
    "sequence_type": (("elem_type", "element type", "TYP-3"),),
    "map_type": (("key_type", "key type", "TYP-4"), ("value_type", "value type", "TYP-6")),
    "optional_type": (("elem_type", "element type", "TYP-7"),),
}
"""The required field of each case of TypeProto, with its name in messages and the clause."""

_MESSAGES = frozenset({("sequence_type", "elem_type"), ("map_type", "value_type"), ("optional_type", "elem_type")})
"""The fields that hold a TypeProto, which has to say which type it is."""


@rule(
    clause=("TYP-2", "TYP-3", "TYP-4", "TYP-6", "TYP-7", "TYP-10"),
    since="0.1.0",
    about=has_unusual_types,
    needs="type",
)
def incomplete_type(model: Model) -> Iterator[Finding]:
    """A type does not state its element, key or value type.

    ### How to fix

    State the type to the end; leave `type` out altogether where nothing is known and none is demanded.

    ### Example

    ```
    node { op_type: "SequenceConstruct" input: "x" output: "y" }
    output { name: "y" type { sequence_type { } } }
    ```

    Corrected:

    ```
    node { op_type: "SequenceConstruct" input: "x" output: "y" }
    output { name: "y" type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } } }
    ```

    ### Why it matters

    A sequence or a tensor of nobody knows what can neither be checked against an operator nor be allocated.

    ### Details

    The element type of a dense or sparse tensor, of a sequence and of an optional, and both the key and the value
    type of a map, at every depth. An element type that is there and has no case set counts as left out.

    A value may have no type at all where the specification does not ask for one, as an output of a subgraph does; a
    type that is begun has to be complete. Inputs and outputs of the main graph without a type are reported by
    `untyped-graph-value`, an explicit element type of 0 is reported by `unknown-element-type`.
    """
    for found in model.types(_is_incomplete):
        kind = str(found.kind)
        for field, name, clause in _missing(found.proto):
            yield Finding(
                found.place.at(kind),
                f"{describe_case(found)} states no {name}",
                clause=clause,
                allowed=f"{name} in field {field!r}",
            )


def _is_incomplete(proto: Proto) -> bool:
    return any(_missing(proto))


def _missing(proto: Proto) -> Iterator[tuple[str, str, str]]:
    kind = proto.WhichOneof("value")
    for field, name, clause in _PARTS.get(kind, ()):
        holder = getattr(proto, kind)
        is_there = holder.HasField(field)
        if is_there and (kind, field) in _MESSAGES:
            is_there = getattr(holder, field).WhichOneof("value") is not None
        if not is_there:
            yield field, name, clause
