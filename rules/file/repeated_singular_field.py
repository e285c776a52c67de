# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model
from onnx_lint.rule import Finding, rule


@rule(clause="FIL-6", since="0.1.0", about=Model.has_faults, needs="file")
def repeated_singular_field(model: Model) -> Iterator[Finding]:
    """A field that can be set once is given twice.

    ### Why it matters

    Of a value the last one wins, two messages are merged: the model that a consumer sees is not the one that
    anybody wrote. Two models written one after the other into one file look like this.

    ### What is allowed

    At most one occurrence of a field that is not repeated, and at most one member of a oneof. Protocol Buffers defines
    what becomes of more, so it is a warning.

    ### Example

    `cat a.onnx b.onnx > c.onnx`
    """
    for fault in model.faults_of(FaultKind.REPEATED):
        yield Finding(
            fault.place,
            fault.message,
            allowed="the field once in its message",
            offset=fault.offset,
            length=fault.length,
        )
