# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ELEMENT_TYPES, TENSOR_KINDS, Model, Place, Proto, describe_element_type
from onnx_lint.rule import Finding, rule

_EDITION = "1.9"
_UNLISTED = frozenset(code for code, element in ELEMENT_TYPES.items() if element.name in {"uint32", "uint64"})


@rule(clause="TYP-D-uint32", since="0.1.0", needs="type")
def unlisted_element_type(model: Model) -> Iterator[Finding]:
    """A tensor has an element type that the table of edition 1.9 leaves out.

    ### How to fix

    If you must conform to the text of edition 1.9, use INT64, which can represent every UINT32.

    ### Example

    ```
    # edition: 1.9
    ir_version: 7
    opset_import { version: 14 }
    domain: "org.example"
    input { name: "x" type { tensor_type { elem_type: 12 shape { } } } }
    ```

    Under `--edition 1.9`.

    Corrected:

    ```
    # edition: 1.9
    ir_version: 7
    opset_import { version: 14 }
    domain: "org.example"
    input { name: "x" type { tensor_type { elem_type: 7 shape { } } } }
    ```

    ### Why it matters

    A consumer that implements the table of that edition only has unsigned integers of 8 and 16 bits.

    ### Details

    - The table omits `uint32` and `uint64`, in tensor types and in tensors.
    - It is a warning, and only under edition 1.9: the schema of the same release has both types, and later editions
      list them.
    - Keys of maps may have any integer type.
    - There is one finding for each of the two types, at the first place, with the number of places.
    """
    if model.standard.edition != _EDITION:
        return
    places: dict[int, list[Place]] = {}
    for code, place in _uses(model):
        places.setdefault(code, []).append(place)
    for code, found in places.items():
        count = f" ({len(found):,} places)" if len(found) > 1 else ""
        yield Finding(
            found[0],
            f"element type {describe_element_type(code)} is not among those that edition {_EDITION} lists{count}",
            allowed="an element type that the table of edition 1.9 lists",
        )


def _uses(model: Model) -> Iterator[tuple[int, Place]]:
    for found in model.types(_is_unlisted):
        kind = str(found.kind)
        yield getattr(found.proto, kind).elem_type, found.place.at(kind).at("elem_type")
    for tensor in model.tensors.of(_UNLISTED):
        yield tensor.proto.data_type, tensor.place.at("data_type")


def _is_unlisted(proto: Proto) -> bool:
    kind = proto.WhichOneof("value")
    return kind in TENSOR_KINDS and getattr(proto, kind).elem_type in _UNLISTED
