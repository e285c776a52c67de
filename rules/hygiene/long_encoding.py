# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.ir.places.edits import Shorten
from onnx_lint.ir.places.long_numbers import LongNumber, long_numbers
from onnx_lint.model import Fix, Model
from onnx_lint.rule import Finding, folded, replace, rule


@rule(clause="HYG-13", since="0.2.0", needs="file")
def long_encoding(model: Model) -> Iterator[Finding]:
    """A number is encoded in more bytes than it needs.

    ### How to fix

    `onnx-lint fix --select long-encoding` (safe) writes these numbers in fewer bytes. A program that reads and writes
    the file with Protocol Buffers also does it: `onnx.save(onnx.load("model.onnx"), "model.onnx")`.

    ### Example

    ```
    08 8a 00              # ir_version: 10
    42 82 80 00 10 15     # opset_import { version: 21 }
    3a 87 00 12 05 "graph"  # graph { name: "graph" }
    ```

    Corrected:

    ```
    08 0a                 # ir_version: 10
    42 02 10 15           # opset_import { version: 21 }
    3a 07 12 05 "graph"   # graph { name: "graph" }
    ```

    ### Why it matters

    The file is larger than necessary. Its bytes change when another program reads and writes it: signatures and digests
    no longer match.

    ### Details

    - Protocol Buffers stores a number in groups of seven bits, one a byte; further groups of zeros do not change it.
      Writers that reserve room for a length and fill it in later store such numbers.
    - Tags, lengths and integers are checked. A negative integer needs ten bytes.
    - Packed elements of tensors, other packed lists of more than 64 KiB, and unknown fields are not read.
    - All such numbers of a file are one finding.
    - Readers accept them.
    """
    more = ("more number takes more bytes than it needs", "more numbers take more bytes than they need")
    numbers = long_numbers(model.source, model.kind) if model.loaded and model.form == "binary" else ()
    for finding in folded(numbers, _finding, None, more):
        yield replace(finding, fix=_fix(finding.count))


_MAX_SHORTENED: Final = 500_000
"""A fix of more numbers would take much memory."""


def _finding(number: LongNumber) -> Finding:
    size = number.end - number.start
    needed = "1 byte suffices" if len(number.shorter) == 1 else f"{len(number.shorter)} bytes suffice"
    return Finding(
        number.place,
        f"the {number.part} of {number.place} takes {size} bytes, but {needed}",
        allowed="as few bytes as possible",
        offset=number.start,
        length=size,
    )


def _fix(count: int) -> Fix | str:
    if count > _MAX_SHORTENED:
        return f"it writes at most {_MAX_SHORTENED:,} numbers"
    what = "write 1 number in fewer bytes" if count == 1 else f"write {count:,} numbers in fewer bytes"
    return Fix(what, (), later=lambda: (Shorten(),))
