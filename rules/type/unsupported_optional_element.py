# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.inference.types.distinct_types import describe_case
from onnx_lint.model import Model, Proto, has_unusual_types
from onnx_lint.rule import Finding, rule

_UNSUPPORTED = {"optional_type": "an optional", "opaque_type": "an opaque type"}


@rule(clause="TYP-8", since="0.1.0", about=has_unusual_types, needs="type")
def unsupported_optional_element(model: Model) -> Iterator[Finding]:
    """An optional type wraps an optional or an opaque type.

    ### How to fix

    Use an optional of the inner type: ONNX has one level of "may be missing".

    ### Example

    ```
    input { name: "x" type { optional_type { elem_type { optional_type {
      elem_type { tensor_type { elem_type: 1 } }
    } } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { optional_type { elem_type { tensor_type { elem_type: 1 } } } } }
    ```

    ### Why it matters

    No operator produces or takes such a value, and ONNX Runtime refuses the model.

    ### Details

    - An optional may wrap a tensor, a sparse tensor, a sequence or a map.
    - The schema's comment refers to a list that includes `OPTIONAL`; the text of the specification does not, and it
      decides.
    """
    for found in model.types(_wraps_unsupported):
        element = found.proto.optional_type.elem_type.WhichOneof("value")
        yield Finding(
            found.place.at("optional_type").at("elem_type"),
            f"{describe_case(found)} wraps {_UNSUPPORTED[element]}",
            allowed="an optional of a tensor, a sparse tensor, a sequence or a map",
        )


def _wraps_unsupported(proto: Proto) -> bool:
    return (
        proto.WhichOneof("value") == "optional_type"
        and proto.optional_type.elem_type.WhichOneof("value") in _UNSUPPORTED
    )
