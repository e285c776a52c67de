# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model
from onnx_lint.rule import Finding, rule


@rule(clause="FIL-6", since="0.1.0", about=Model.has_faults, needs="file")
def repeated_singular_field(model: Model) -> Iterator[Finding]:
    """A field that can be set once is given twice.

    ### Why it matters

    Of a value the last one wins, two messages are merged: the model that a consumer sees is not the one that
    anybody wrote. Two models written one after the other into one file look like this.

    ### What is allowed

    At most one occurrence of a field that is not repeated, and at most one member of a oneof. Protocol Buffers defines
    what becomes of more, so it is a warning.

    ### Example

    ```
    08 0a  42 02 10 15    # ir_version: 10, opset_import { version: 21 }
    3a 07 12 05 "first"   # graph { name: "first" }
    3a 08 12 06 "second"  # graph { name: "second" }
    ```

    `cat a.onnx b.onnx > c.onnx` makes such a file.

    ### How to fix

    Write one message into one file. To join two models, take `onnx.compose.merge_models`. A program that writes fields
    by itself has to write each once; reading the file with Protocol Buffers and writing it again keeps what readers
    see.

    ```
    08 0a  42 02 10 15    # ir_version: 10, opset_import { version: 21 }
    3a 08 12 06 "second"  # graph { name: "second" }
    ```
    """
    for fault in model.faults_of(FaultKind.REPEATED):
        yield Finding(
            fault.place,
            fault.message,
            allowed="the field once in its message",
            offset=fault.offset,
            length=fault.length,
        )
