# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.documents.kinds import MAGIC
from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

_BEGINNING = b"\x0a\x09" + MAGIC.encode()
"""The word as the first field of a message: its tag, its length, its letters."""


@rule(clause="OPF-1", since="0.1.0", needs="operator-set")
def missing_magic(model: Model) -> Iterator[Finding]:
    """An operator set does not begin with its magic word.

    ### How to fix

    Write `ONNXOPSET` in capitals, as the first field of the file.

    ### Example

    ```
    # proto: OperatorSetProto
    magic: "onnxopset" ir_version: 10 domain: "com.example" opset_version: 1
    ```

    Corrected:

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 1
    ```

    ### Why it matters

    The word distinguishes an operator set from a model and from other files of Protocol Buffers.

    ### Details

    - `magic` must be `ONNXOPSET`, with the same letters and case.
    - In the binary form it must be the first field. A parser accepts any order, but a program that recognizes a file by
      its first bytes does not find the word elsewhere.
    - In the text form and JSON, the order is free.
    """
    magic = model.document.magic
    if magic != MAGIC:
        found = f"the operator set has the magic word {quote(magic)}" if magic else "the operator set has no magic word"
        yield Finding(ROOT.at("magic"), found, allowed=quote(MAGIC))
    elif model.form == "binary" and not model.source.read_at(0, len(_BEGINNING)).startswith(_BEGINNING):
        found = "the magic word is not the first field of the file"
        yield Finding(ROOT.at("magic"), found, allowed=f"{quote(MAGIC)} before all else")
