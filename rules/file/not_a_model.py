# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model
from onnx_lint.rule import Finding, rule


@rule(clause="FIL-1", since="0.1.0", about=Model.has_faults, needs="file")
def not_a_model(model: Model) -> Iterator[Finding]:
    """The file is not a serialized ONNX model.

    ### Why it matters

    A consumer that expects a model can do nothing with the file. Often the model was never there: a Git LFS pointer
    that was not checked out, an archive that was not unpacked, an error page that was saved under the model's name.

    ### What is allowed

    A ModelProto in the binary form of Protocol Buffers, in protobuf text format, or in protobuf JSON.

    ### Example

    The three lines of a Git LFS pointer under the name `model.onnx`.
    """
    for fault in model.faults_of(FaultKind.NOT_A_MODEL):
        yield Finding(
            fault.place,
            fault.message,
            allowed="the serialized form of a ModelProto, or of another message that ONNX puts into files",
            offset=fault.offset,
            length=fault.length,
        )
