# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.inference.types.distinct_types import describe_case
from onnx_lint.model import Model, Proto, has_unusual_types
from onnx_lint.rule import Finding, rule


@rule(clause="TYP-9", since="0.1.0", about=has_unusual_types, needs="type")
def unnamed_opaque_type(model: Model) -> Iterator[Finding]:
    """An opaque type has no name.

    ### How to fix

    Use the name under which your runtime defines the type.

    ### Example

    ```
    input { name: "x" type { opaque_type { domain: "com.example" } } }
    ```

    Corrected:

    ```
    input { name: "x" type { opaque_type { domain: "com.example" name: "Image" } } }
    ```

    ### Why it matters

    Only domain and name distinguish opaque types. Without a name, two unrelated types are the same type.

    ### Details

    - The name must not be empty.
    - The domain may be omitted and is then that of the model.
    - It is a warning, from edition 1.16 on, because the documents contradict each other: the description of the types
      requires the name, the comment in the schema makes it optional, and the specification proper is silent.
    - `onnx.checker` refuses a type that has a domain and no name, and accepts one that has neither.
    """
    for found in model.types(_is_unnamed):
        yield Finding(
            found.place.at("opaque_type"),
            f"{describe_case(found)} has no name",
            allowed="a non-empty name",
            case="domain" if found.proto.opaque_type.domain and found.place.key[0][0] == "graph" else None,
        )


def _is_unnamed(proto: Proto) -> bool:
    return proto.WhichOneof("value") == "opaque_type" and not proto.opaque_type.name
