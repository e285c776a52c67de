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

    Write one message into one file. To join two models, take `onnx.compose.merge_models`. A program that writes
    fields by itself has to write each once; reading the file with Protocol Buffers and writing it again keeps what
    readers see. `onnx-lint fix` keeps the last value of a field that holds a number or text (safe) if all are the
    same, and with `--unsafe-fixes` (unsafe: a reader may take the first) otherwise.

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

    Of a value the last one wins, two messages are merged: the model that a consumer sees is not the one that
    anybody wrote. Two models written one after the other into one file look like this.

    ### Details

    At most one occurrence of a field that is not repeated, and at most one member of a oneof. Protocol Buffers defines
    what becomes of more, so it is a warning.
    """
    fixes: dict[Place, Fix | None] = {}
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


_MOST_VALUES: Final = 1_000
"""A field that is given more often was not repeated by accident, and gets no fix."""

_MOST_COMPARED: Final = 1 << 20
"""Longer values are not compared."""


def _fix(model: Model, fault: Fault) -> Fix | None:
    """Return the fix that keeps the last value; safe if all are the same. None if there is one value, or a message."""
    place = fault.place
    values = model.places.values_of(place, fault.message_type)
    if not 2 <= len(values) <= _MOST_VALUES:
        return None
    sizes = {end - start for start, end in values}
    is_safe = len(sizes) == 1 and min(sizes) <= _MOST_COMPARED
    is_safe = is_safe and len({model.source.read_at(start, end - start) for start, end in values}) == 1
    return Fix(f"keep the last of the {len(values):,} values of {place}", (Delete(place, keeps_last=True),), is_safe)
