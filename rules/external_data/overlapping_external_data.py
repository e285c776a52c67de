# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter

from onnx_lint.model import ExternalData, Model, spelled_plainly
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="EXT-17a", since="0.1.0", about=Model.external_data, needs="tensor")
def overlapping_external_data(model: Model) -> Iterator[Finding]:
    """The external data of two tensors overlap in part.

    ### How to fix

    Write each tensor to bytes of its own: a tensor begins where the one before it ends, or later.

    ### Example

    ```
    # beside the model: weights.bin, 96 zero bytes
    initializer {
      name: "a" data_type: 1 dims: 16 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
    }
    initializer {
      name: "b" data_type: 1 dims: 16 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "offset" value: "32" }
    }
    ```

    Corrected:

    ```
    # beside the model: weights.bin, 4160 zero bytes
    initializer {
      name: "a" data_type: 1 dims: 16 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
    }
    initializer {
      name: "b" data_type: 1 dims: 16 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "offset" value: "4096" }
    }
    ```

    ### Why it matters

    If two tensors share only some of their bytes, an offset is probably wrong.

    ### Details

    - Two ranges of one file should not overlap in part. They may be equal: tensors may share all their data.
    - There is one finding for each file.
    """
    ranges: dict[str, list[tuple[int, int, ExternalData]]] = {}
    for data in model.external_data:
        length = data.needed_bytes if data.length is None else data.length
        if data.is_external and data.location and length:
            start = data.offset or 0
            ranges.setdefault(spelled_plainly(data.location), []).append((start, start + length, data))
    for location, users in ranges.items():
        for (start, end, first), (following, past, second) in pairwise(sorted(users, key=itemgetter(0, 1))):
            if following < end and (start, end) != (following, past):
                yield Finding(
                    second.entry_place("offset"),
                    f"{second.describe()} begins at byte {following:,} of {quote(location)}, inside bytes {start:,} to "
                    f"{end:,} of {first.describe()}",
                    related=(Related(first.tensor.place, first.describe()),),
                    allowed="ranges that do not overlap, or are equal",
                    subject=second.proto.name,
                    partners=(first.tensor.place,),
                )
                break
