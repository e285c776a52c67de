# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model
from onnx_lint.rule import Finding, rule


@rule(
    clause="FIL-5",
    since="0.1.0",
    about=Model.has_faults,
    needs="file",
    security=("CVE-2025-4565", "CVE-2026-0994", "CWE-674"),
)
def excessive_nesting(model: Model) -> Iterator[Finding]:
    """Messages nest deeper than Protocol Buffers parses.

    ### Why it matters

    Parsers stop at 100 nested messages to protect their stack, so no consumer can read the file. In ONNX a graph
    inside a graph takes three messages, and the shape of a value in the innermost one five more: with 32 nested
    graphs that is too deep.

    ### What is allowed

    At most 100 messages inside the model, one inside the other: 31 nested graphs whose values have shapes.

    ### Example

    An If inside an If inside an If, forty deep.
    """
    for fault in model.faults_of(FaultKind.NESTING):
        yield Finding(
            fault.place,
            fault.message,
            allowed="at most 100 messages within each other, which parsers take",
            offset=fault.offset,
            length=fault.length,
        )
