# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.model import Delete, Fault, FaultKind, Fix, Model, Place, has_faults
from onnx_lint.rule import Finding, rule


@rule(clause="FIL-6", since="0.1.0", about=has_faults, needs="file")
def repeated_singular_field(model: Model) -> Iterator[Finding]:
    """A field that can be set once is set twice.

    ### How to fix

    - Write one message into one file. `onnx.compose.merge_models` joins two models.
    - A program that writes fields itself must write each once. Read the file with Protocol Buffers and write it
      again: readers see the same model.
    - `onnx-lint fix` keeps the last value of a field with a number or text (safe) if all values are equal, and with
      `--unsafe-fixes` (unsafe: a reader may take the first) otherwise.

    ### Example

    ```
    08 0a  42 02 10 15    # ir_version: 10, opset_import { version: 21 }
    3a 07 12 05 "first"   # graph { name: "first" }
    3a 08 12 06 "second"  # graph { name: "second" }
    ```

    `cat a.onnx b.onnx > c.onnx` makes such a file.

    Corrected:

    ```
    08 0a  42 02 10 15    # ir_version: 10, opset_import { version: 21 }
    3a 08 12 06 "second"  # graph { name: "second" }
    ```

    ### Why it matters

    Readers take the last value and merge two messages. They see a model that nobody wrote, for example if two models
    were written into one file.

    ### Details

    - A field that is not repeated should occur at most once in its message.
    - A oneof should have at most one member.
    - The finding is a warning, because Protocol Buffers defines how to read more than one.
    """
    fixes: dict[Place, Fix | str] = {}
    for fault in model.faults_of(FaultKind.REPEATED):
        if fault.place not in fixes:
            fixes[fault.place] = _fix(model, fault)
        yield Finding(
            fault.place,
            fault.message,
            allowed="the field once in its message",
            offset=fault.offset,
            length=fault.length,
            fix=fixes[fault.place],
        )


_MAX_VALUES: Final = 1_000
"""A field that is given more often was not repeated by accident, and gets no fix."""

_MAX_COMPARED: Final = 1 << 20
"""Longer values are not compared."""


def _fix(model: Model, fault: Fault) -> Fix | str:
    """Return the fix that keeps the last value; safe if all are the same. There is none for messages."""
    place = fault.place
    values = model.places.value_ranges(place, fault.message_type)
    if not 2 <= len(values) <= _MAX_VALUES:
        return "readers join the messages of such a field" if len(values) < 2 else "the field has too many values"
    sizes = {end - start for start, end in values}
    is_safe = len(sizes) == 1 and min(sizes) <= _MAX_COMPARED
    is_safe = is_safe and len({model.source.read_at(start, end - start) for start, end in values}) == 1
    return Fix(f"keep the last of the {len(values):,} values of {place}", (Delete(place, keeps_last=True),), is_safe)
