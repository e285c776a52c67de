# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(
    clause="EXT-8",
    since="0.1.0",
    about=Model.external_data,
    needs="tensor",
    security=(
        "CVE-2026-34445",
        "CWE-125",
    ),
)
def external_range_beyond_file(model: Model) -> Iterator[Finding]:
    """External data reaches beyond the end of its file.

    ### How to fix

    - If the data file was cut short, fetch it again.
    - Otherwise save the model and its data again, both in one run.

    ### Example

    ```
    # beside the model: weights.bin, 6000 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 1024 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "offset" value: "4096" }
      external_data { key: "length" value: "4096" }
    }
    ```

    Corrected:

    ```
    # beside the model: weights.bin, 8192 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 1024 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "offset" value: "4096" }
      external_data { key: "length" value: "4096" }
    }
    ```

    ### Why it matters

    The file is not the one that the model was saved with, or it was cut short. A consumer that maps the file without
    a check reads memory outside it.

    ### Details

    - The bytes from the offset on must lie within the file.
    - Without a length, the shape and the element type decide how many bytes are needed.
    - The range is checked if onnx-lint can look up the file and reaches it without a symbolic link.
    """
    for data in model.external_data:
        if data.file is None or data.file.size is None:
            continue
        offset, length = data.offset or 0, data.length
        needed = length if length is not None else (data.needed_bytes or 0)
        if offset + needed > data.file.size:
            yield Finding(
                data.entry_place("length" if length is not None else "offset"),
                f"{data.describe()} takes bytes {offset:,} to {offset + needed:,} of {quote(data.location)}, "
                f"which has {data.file.size:,} bytes",
                allowed="a range within the file",
                subject=data.proto.name,
            )
