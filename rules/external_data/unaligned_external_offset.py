# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from onnx_lint.model import ExternalData, Model
from onnx_lint.rule import Faults, Finding, rule
from onnx_lint.wording import counted, quote


@rule(clause="EXT-10", since="0.1.0", about=Model.external_data, needs="tensor", kinds={"alignment": "whole"})
def unaligned_external_offset(model: Model, *, alignment: int = 4096) -> Iterator[Finding]:
    """The offset of external data is not a multiple of the page size.

    ### How to fix

    Begin each tensor at a multiple of the page size, with zeros in between. `onnx_ir` 1.1 and later do it:
    `onnx_ir.save(..., external_data="weights.bin", alignment=4096, align_threshold=0)`.

    ### Example

    ```
    # beside the model: weights.bin, 116 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "offset" value: "100" }
    }
    ```

    Corrected:

    ```
    # beside the model: weights.bin, 4112 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "offset" value: "4096" }
    }
    ```

    ### Why it matters

    A consumer cannot map such a tensor into memory and has to copy it.

    ### Details

    - The offset should be a multiple of `alignment` bytes.
    - The default is 4096, the usual page size. Set 65536 for models that will be mapped on Windows.
    - There is one finding for each file.
    """
    found: dict[str, list[ExternalData]] = {}
    for data in model.external_data:
        if data.is_external and (data.offset or 0) % alignment:
            found.setdefault(data.location, []).append(data)
    yield from map(partial(_finding, alignment), found.values())


def _finding(alignment: int, users: Sequence[ExternalData]) -> Finding:
    first = users[0]
    location, others = first.location, len(users) - 1
    more = f" and of {counted(others, 'more tensor')}" if others else ""
    return Finding(
        first.entry_place("offset"),
        f"the offset {first.offset:,} of {first.describe()}{more} in {quote(location)} "
        f"is not a multiple of {alignment:,}",
        allowed=f"a multiple of {alignment:,} bytes",
        subject=location,
        collective=True,
        parts=Faults(users, partial(_finding, alignment), lambda data: (data.entry_place("offset"), location)),
    )
