# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model
from onnx_lint.rule import Finding, rule


@rule(clause="FIL-2", since="0.1.0", about=Model.has_faults, needs="file")
def truncated_file(model: Model) -> Iterator[Finding]:
    """The file ends in the middle of a message.

    ### Why it matters

    The rest of the model is lost: a download or copy that broke off, or a disk that was full. Protocol Buffers
    refuses the whole file.

    ### What is allowed

    Every field as long as its length says.

    ### Example

    A model of 1,000 bytes of which the first 900 were copied.
    """
    for fault in model.faults_of(FaultKind.TRUNCATED):
        yield Finding(
            fault.place,
            fault.message,
            allowed="as many bytes as the length in front of them says",
            offset=fault.offset,
            length=fault.length,
        )
