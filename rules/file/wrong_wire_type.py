# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model, has_faults
from onnx_lint.rule import Finding, findings_of_faults, rule


@rule(clause="FIL-3", since="0.1.0", about=has_faults, needs="file")
def wrong_wire_type(model: Model) -> Iterator[Finding]:
    """A field is written with a wire type that its declaration does not have.

    ### How to fix

    Write the type that `onnx.proto` declares. Code that protoc generates always does.

    ### Example

    ```
    0a 02 "10"            # ir_version, as a string
    42 02 10 15           # opset_import { version: 21 }
    3a 07 12 05 "graph"   # graph { name: "graph" }
    ```

    Corrected:

    ```
    08 0a                 # ir_version: 10
    42 02 10 15           # opset_import { version: 21 }
    3a 07 12 05 "graph"   # graph { name: "graph" }
    ```

    ### Why it matters

    Parsers treat such a field as unknown, and its value is silently lost.

    ### Details

    - Integers and enumerations: VARINT.
    - Strings, bytes and messages: LEN.
    - Floats and doubles: FIXED32 and FIXED64.
    - A repeated number may also be packed into one LEN field.
    """
    yield from findings_of_faults(
        model,
        FaultKind.WIRE_TYPE,
        "the wire type of the field's type",
        "write the file with code that protoc generates; if it may be damaged, download or copy it again",
    )
