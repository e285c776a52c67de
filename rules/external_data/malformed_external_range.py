# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(
    clause="EXT-7",
    since="0.1.0",
    about=Model.external_data,
    needs="tensor",
    security=(
        "CVE-2026-34445",
        "CWE-190",
    ),
)
def malformed_external_range(model: Model) -> Iterator[Finding]:
    """Offset or length of external data is not written in decimal digits, or is too large.

    ### How to fix

    Write offset and length as decimal digits only. You can omit an offset of 0.

    ### Example

    ```
    # beside the model: weights.bin, 16 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "offset" value: "-1" }
    }
    ```

    Corrected:

    ```
    # beside the model: weights.bin, 16 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "offset" value: "0" }
    }
    ```

    ### Why it matters

    Consumers convert the text, and each fails in its own way. A negative offset or a huge length has made loaders
    read outside the file or request all memory.

    ### Details

    - Offset and length must be decimal digits only, from 0 to 9223372036854775807.
    """
    for data in model.external_data:
        if not data.is_external:
            continue
        for key, number in (("offset", data.offset), ("length", data.length)):
            value = data.get(key) if number is None else None
            if value is not None:
                yield Finding(
                    data.entry_place(key),
                    f"the {key} {quote(value)} of {data.describe()} is not a number of decimal digits below 2**63",
                    allowed="decimal digits, at most 9223372036854775807",
                    subject=data.proto.name,
                )
