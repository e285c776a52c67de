# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, Proto, describe_case, has_unusual_types
from onnx_lint.rule import Finding, rule


@rule(clause="TYP-9", since="0.1.0", about=has_unusual_types, needs="type")
def unnamed_opaque_type(model: Model) -> Iterator[Finding]:
    """An opaque type has no name.

    ### How to fix

    Name the type, as the program does that knows it.

    ### Example

    ```
    input { name: "x" type { opaque_type { domain: "com.example" } } }
    ```

    Corrected:

    ```
    input { name: "x" type { opaque_type { domain: "com.example" name: "Image" } } }
    ```

    ### Why it matters

    Only domain and name distinguish opaque types. Without a name two unrelated ones are the same type.

    ### Details

    A non-empty name; the domain may be left out and is then that of the model.

    The documents contradict each other: the description of the types calls the name required, the comment in the
    schema optional, and the specification proper is silent. `onnx.checker` refuses a type without a name. onnx-lint
    warns, from edition 1.16 on.
    """
    for found in model.types(_is_unnamed):
        yield Finding(
            found.place.at("opaque_type"),
            f"{describe_case(found)} has no name",
            allowed="a non-empty name",
        )


def _is_unnamed(proto: Proto) -> bool:
    return proto.WhichOneof("value") == "opaque_type" and not proto.opaque_type.name
