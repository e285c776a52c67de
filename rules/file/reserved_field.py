# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FORMER_NAMES, FaultKind, Model, functions_are_bound, has_faults, is_reserved
from onnx_lint.rule import Finding, rule


@rule(clause=("FIL-7a", "ATT-13"), since="0.1.0", about=has_faults, needs="file")
def reserved_field(model: Model) -> Iterator[Finding]:
    """A message has a field whose number the schema reserves.

    ### How to fix

    Write the field that came in its place, or none; a program that was made from an old `onnx.proto` has to be made
    from the present one.

    ### Example

    ```
    08 0a  42 02 10 15    # ir_version: 10, opset_import { version: 21 }
    3a 0a                 # graph
       12 05 "graph"      # name
       1a 01 "x"          # field 3, which held the names of the inputs
    ```

    Corrected:

    ```
    08 0a  42 02 10 15    # ir_version: 10, opset_import { version: 21 }
    3a 18                 # graph
       12 05 "graph"      # name
       5a 0f 0a 01 "x" 12 0a 0a 08 08 01 12 04 0a 02 08 02  # input: "x", two floats
    ```

    ### Why it matters

    The number belonged to another field in an early version of the format. Nobody reads what stands there, so the
    value is lost; it was written with a schema that is many years old, or by a tool that made the number up.

    ### Details

    None of the reserved numbers: 12 and 16 to 19 of AttributeProto, which the schema reserves, 3, 4 and 6 to 9 of
    GraphProto, 2 and 3 of FunctionProto, 3 of TypeProto.Opaque. Numbers that were never used are reported by
    `unknown-field`. Fields 2 and 3 of a function belong to the format in an operator set of IR version 7 or
    earlier. Edition 1.9 has no sentence on those of AttributeProto, so under it they are not reported.

    Each number is reported once for each kind of message, where it occurs first.
    """
    counts: dict[tuple[str, int], int] = {}
    faults = [
        fault
        for fault in model.faults_of(FaultKind.UNKNOWN_FIELD)
        if fault.number is not None
        and is_reserved(fault.message_type, fault.number)
        # since_version and status, which functions of operator sets had before models could have functions
        and (fault.message_type != "FunctionProto" or functions_are_bound(model))
    ]
    for fault in faults:
        key = (fault.message_type, fault.number or 0)
        counts[key] = counts.get(key, 0) + 1
    for fault in faults:
        key = (fault.message_type, fault.number or 0)
        count = counts.pop(key, 0)
        if not count:
            continue
        former = f" (it was '{FORMER_NAMES[key]}')" if key in FORMER_NAMES else ""
        occurrences = f" ({count:,} occurrences)" if count > 1 else ""
        yield Finding(
            fault.place,
            f"field {fault.number} of {fault.message_type} is reserved{former}{occurrences}",
            clause="ATT-13" if fault.message_type == "AttributeProto" else "FIL-7a",
            allowed="no field of this number",
            offset=fault.offset,
            length=fault.length,
            subject=f"{fault.message_type} {fault.number}",
            collective=True,
        )
