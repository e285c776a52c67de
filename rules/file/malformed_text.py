# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model, has_faults
from onnx_lint.rule import Finding, findings_of_faults, rule


@rule(clause="FIL-8", since="0.1.0", about=has_faults, needs="file")
def malformed_text(model: Model) -> Iterator[Finding]:
    """A model in text form does not parse.

    ### How to fix

    Correct the place that the message names. Write the text with `google.protobuf.text_format` or `json_format`, not
    by hand.

    ### Example

    ```
    # proto: ModelProto
    ir_version: eight
    graph { name: "g" }
    ```

    Corrected:

    ```
    # proto: ModelProto
    ir_version: 8
    opset_import { version: 17 }
    graph { name: "g" }
    ```

    ### Why it matters

    No reader can parse the model.

    ### Details

    - The file must be in protobuf text format or protobuf JSON, with the field names of the ONNX schema.
    """
    yield from findings_of_faults(
        model,
        FaultKind.TEXT,
        "the text form or the JSON form of a message, as Protocol Buffers defines it",
        "correct this place, or write the text with google.protobuf.text_format or json_format",
    )
