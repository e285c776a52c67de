# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, FaultKind, Model
from onnx_lint.rule import Finding, rule


@rule(clause="FIL-9", since="0.1.0", needs="file", kinds={"max_bytes": "whole"})
def oversized_message(model: Model, *, max_bytes: int = 2**31 - 1) -> Iterator[Finding]:
    """The file is larger than Protocol Buffers parsers read.

    ### How to fix

    Store the weights in a file beside the model.

    - The `onnx` package: `onnx.save(..., save_as_external_data=True)`; `convert_attribute=True` also moves weights in
      attributes of Constant nodes.
    - PyTorch: `torch.onnx.export(..., external_data=True)` with `dynamo=True`.
    - tf2onnx: `--large_model` writes an archive of the model and its data, which you unpack.
    - ONNX Runtime: `use_external_data_format=True` for `quantize_static` and `quantize_dynamic`.

    ### Example

    ```
    # option: oversized-message.max_bytes = 150
    initializer { name: "w" data_type: 1 dims: 32
      raw_data: "................................................................"
                "................................................................" }
    ```

    With a `max_bytes` of 150, in place of 2 GiB.

    Corrected:

    ```
    # option: oversized-message.max_bytes = 150
    # beside the model: weights.bin, 128 zero bytes
    initializer { name: "w" data_type: 1 dims: 32 data_location: EXTERNAL
                  external_data { key: "location" value: "weights.bin" } }
    ```

    ### Why it matters

    Parsers store the length of a message in 31 bits and refuse a longer one. No consumer that uses one can load the
    model.

    ### Details

    - The file may have at most 2147483647 bytes, just below 2 GiB.
    - Files of external data are not included.
    - The option `max_bytes` sets a lower limit.
    - Models in text form are not checked.
    - onnx-lint reads the file in pieces and checks the rest of it.
    """
    size = model.source.size
    if size <= max_bytes or model.form != "binary" or any(model.faults_of(FaultKind.NOT_A_MODEL)):
        return
    reader = "protobuf parsers read" if max_bytes == 2**31 - 1 else "the option 'max_bytes' allows"
    yield Finding(
        ROOT,
        f"the file takes up {size:,} bytes, but {reader} at most {max_bytes:,}",
        allowed=f"{max_bytes:,} bytes",
    )
