# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model
from onnx_lint.rule import Finding, rule


@rule(clause="FIL-4", since="0.1.0", about=Model.has_faults, needs="file")
def invalid_utf8(model: Model) -> Iterator[Finding]:
    """A string field is not valid UTF-8.

    ### Why it matters

    Protocol Buffers strings are UTF-8 by definition. Some parsers refuse the file, others hand out bytes that no
    name comparison expects. Other rules see such a name with a `?` for each bad byte.

    ### What is allowed

    UTF-8 in every field of type string; the bytes fields `s`, `strings`, `string_data` and `raw_data` have rules of
    their own.

    ### Example

    A node name in Latin-1.
    """
    for fault in model.faults_of(FaultKind.UTF8):
        yield Finding(
            fault.place,
            fault.message,
            allowed="text in UTF-8",
            offset=fault.offset,
            length=fault.length,
        )
