# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from onnx_lint.inference.types.distinct_types import describe_case
from onnx_lint.model import Attribute, Delete, Fix, Graph, Model, Proto, has_incomplete_types
from onnx_lint.model.declared_values import empty_types
from onnx_lint.rule import Finding, folded, replace, rule
from onnx_lint.wording import quote

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
    clause=("TYP-2", "TYP-3", "TYP-4", "TYP-6", "TYP-7", "TYP-10", "ATT-14", "VI-2a"),
    since="0.1.0",
    about=has_incomplete_types,
    needs="type",
)
def incomplete_type(model: Model) -> Iterator[Finding]:
    """A type does not state its element, key or value type.

    ### How to fix

    Complete the type, or omit `type` altogether if nothing is known and no type is required.

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

    A consumer can neither check an incomplete type against an operator nor allocate memory for it.

    ### Details

    - A dense or sparse tensor, a sequence and an optional need an element type, at every depth.
    - A map needs a key type and a value type, at every depth.
    - An element type in which no kind of type is set is missing.
    - A type in an attribute must have a kind of type set.
    - An entry of `value_info` that has a type must set a kind of type; an empty one is a warning. `onnx-lint fix`
      (safe) deletes the entry.
    - A value may have no type where the specification requires none, for example an output of a subgraph.
    - Reported by other rules: inputs and outputs of the main graph without a type (`untyped-graph-value`), an element
      type of 0 (`unknown-element-type`).
    """
    for found in model.types(_is_incomplete):
        if found.kind is None:
            if found.parent is None and isinstance(found.owner, Attribute):
                yield Finding(
                    found.place,
                    f"{found.describe()} is empty",
                    clause="ATT-14",
                    allowed="a tensor, sequence, map, optional, sparse tensor or opaque type",
                )
            continue
        kind = str(found.kind)
        for field, name, clause in _missing(found.proto):
            yield Finding(
                found.place.at(kind),
                f"{describe_case(found)} states no {name}",
                clause=clause,
                allowed=f"{name} in field {field!r}",
            )

    for graph, indices in empty_types(model):
        for finding in folded(indices, partial(_empty, graph), graph.name, _MORE):
            yield replace(finding, fix=_deletion(graph, indices))


def _empty(graph: Graph, index: int) -> Finding:
    name = graph.value_info_names[index]
    entry = graph.at("value_info", index)
    return Finding(
        entry.at("type"),
        f"the type of value info {quote(name)} of {graph.describe()} is empty",
        clause="VI-2a",
        allowed="a type, or no entry",
        subject=name,
    )


def _deletion(graph: Graph, indices: Sequence[int]) -> Fix:
    """Return the fix that deletes these entries of value_info."""
    one = f"value info {quote(graph.value_info_names[indices[0]])} of {graph.describe()}"
    what = one if len(indices) == 1 else f"the entries of value_info in {graph.describe()} whose types are empty"
    return Fix.of_many(
        f"delete {what}", len(indices), lambda: (Delete(graph.at("value_info", index)) for index in indices)
    )


_MORE: Final = ("more entry has an empty type", "more entries have empty types")


def _is_incomplete(proto: Proto) -> bool:
    return proto.WhichOneof("value") is None or any(_missing(proto))


def _missing(proto: Proto) -> Iterator[tuple[str, str, str]]:
    kind = proto.WhichOneof("value")
    for field, name, clause in _PARTS.get(kind, ()):
        holder = getattr(proto, kind)
        is_there = holder.HasField(field)
        if is_there and (kind, field) in _MESSAGES:
            is_there = getattr(holder, field).WhichOneof("value") is not None
        if not is_there:
            yield field, name, clause
