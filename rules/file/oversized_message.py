# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, FaultKind, Model
from onnx_lint.rule import Finding, rule


@rule(clause="FIL-9", since="0.1.0", needs="file")
def oversized_message(model: Model, *, max_bytes: int = 2**31 - 1) -> Iterator[Finding]:
    """The file is larger than Protocol Buffers parsers read.

    ### Why it matters

    Parsers keep the length of a message in 31 bits and refuse what is longer, so no consumer that uses one can load
    the model. onnx-lint reads the file piece by piece and judges the rest of it all the same.

    ### What is allowed

    2147483647 bytes, just below 2 GiB. Larger models keep their tensors in files beside the model (external data),
    which are not counted. The option `max_bytes` sets a lower limit. Models in text form are not judged.

    ### Example

    A model of 4 GiB with all weights inside.
    """
    size = model.source.size
    if size <= max_bytes or model.form != "binary" or any(model.faults_of(FaultKind.NOT_A_MODEL)):
        return
    reader = "protobuf parsers read" if max_bytes == 2**31 - 1 else "the option 'max_bytes' allows"
    yield Finding(
        ROOT,
        f"the file takes up {size:,} bytes, {reader} at most {max_bytes:,}",
        allowed=f"{max_bytes:,} bytes",
    )
