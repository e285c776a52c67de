# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model
from onnx_lint.rule import Finding, rule


@rule(clause="FIL-7", since="0.1.0", of_file=True)
def unknown_field(model: Model) -> Iterator[Finding]:
    """A message has a field that its definition does not know.

    ### Why it matters

    Consumers skip the field, so whatever it was meant to say is not heard. It comes from a newer version of ONNX,
    from a private extension, or from damage.

    ### What is allowed

    The fields that the schema of ONNX defines, up to IR version 14.

    ### Example

    Field 99 in a NodeProto.
    """
    for fault in model.faults_of(FaultKind.UNKNOWN_FIELD):
        yield Finding(fault.place, fault.message, offset=fault.offset, length=fault.length)
