# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.model.documents import MAGIC
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="OPF-1", since="0.1.0")
def missing_magic(model: Model) -> Iterator[Finding]:
    """An operator set does not begin with its magic word.

    ### Why it matters

    The word tells an operator set from a model and from anything else that Protocol Buffers writes.

    ### What is allowed

    `ONNXOPSET` in `magic`, letter by letter.

    ### Example

    An operator set with `magic: "onnxopset"`.
    """
    magic = model.document.magic
    if magic != MAGIC:
        found = f"the operator set has the magic word {quote(magic)}" if magic else "the operator set has no magic word"
        yield Finding(ROOT.at("magic"), found, allowed=quote(MAGIC))
