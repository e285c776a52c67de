# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model, has_faults
from onnx_lint.rule import Finding, findings_of_faults, rule


@rule(clause="FIL-2", since="0.1.0", about=has_faults, needs="file")
def truncated_file(model: Model) -> Iterator[Finding]:
    """The file ends in the middle of a message.

    ### How to fix

    - Copy or download the file again, and compare its size or checksum.
    - A program that writes a model must close the file before anybody reads it.

    ### Example

    ```
    08 0a  42 02 10 15    # ir_version: 10, opset_import { version: 21 }
    3a 18                 # graph, 24 bytes
       12 05 "gra"        # name, 5 bytes; here the file ends
    ```

    Corrected:

    ```
    08 0a  42 02 10 15    # ir_version: 10, opset_import { version: 21 }
    3a 07                 # graph, 7 bytes
       12 05 "graph"      # name, 5 bytes
    ```

    ### Why it matters

    The rest of the model is lost: a download or copy was interrupted, or the disk was full. Protocol Buffers refuses
    the whole file.

    ### Details

    - Every field must have all the bytes that its length announces.
    """
    yield from findings_of_faults(
        model,
        FaultKind.TRUNCATED,
        "as many bytes as the length in front of them says",
        "download or copy the file again, or let the program that writes it close it first",
    )
