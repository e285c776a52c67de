# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model, has_faults
from onnx_lint.rule import Finding, findings_of_faults, rule


@rule(clause="FIL-4", since="0.1.0", about=has_faults, needs="file")
def invalid_utf8(model: Model) -> Iterator[Finding]:
    r"""A string field is not valid UTF-8.

    ### How to fix

    Encode names as UTF-8, or use ASCII only. Protocol Buffers encodes them if your program passes text instead of
    bytes.

    ### Example

    ```
    08 0a  42 02 10 15    # ir_version: 10, opset_import { version: 21 }
    3a 2e                 # graph
       12 05 "graph"      # name
       0a 14              # node
          0a 01 "x" 12 01 "y" 22 04 "Relu"
          1a 06 67 6c 61 63 e9 65  # name: "glac\xe9e", which is Latin-1
       5a 0f              # input
          0a 01 "x" 12 0a 0a 08 08 01 12 04 0a 02 08 02
    ```

    Corrected:

    ```
    08 0a  42 02 10 15    # ir_version: 10, opset_import { version: 21 }
    3a 2f                 # graph
       12 05 "graph"      # name
       0a 15              # node
          0a 01 "x" 12 01 "y" 22 04 "Relu"
          1a 07 67 6c 61 63 c3 a9 65  # name: "glacée"
       5a 0f              # input
          0a 01 "x" 12 0a 0a 08 08 01 12 04 0a 02 08 02
    ```

    ### Why it matters

    Protocol Buffers defines strings as UTF-8. Some parsers refuse the file, others return bytes that are not text.

    ### Details

    - Every field of type string must be UTF-8.
    - Other rules see such a name with a `?` for each invalid byte.
    - Other rules check the bytes fields `s`, `strings`, `string_data` and `raw_data`.
    """
    yield from findings_of_faults(model, FaultKind.UTF8, "text in UTF-8", "encode the text as UTF-8, or use ASCII only")
