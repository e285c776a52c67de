# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Fault, FaultKind, Model, functions_are_bound, has_faults
from onnx_lint.rule import Finding, findings_of_fields, rule
from onnx_lint.schema.reserved import FORMER_NAMES, is_reserved


@rule(clause=("FIL-7a", "ATT-13"), since="0.1.0", about=has_faults, needs="file")
def reserved_field(model: Model) -> Iterator[Finding]:
    """A message has a field whose number the schema reserves.

    ### How to fix

    Write the field that replaced it, or delete it. If your program was generated from an old `onnx.proto`, generate
    it again from the current one.

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

    Nobody reads this number, and the value is lost. A schema that is many years old, or a tool that invented the
    number, wrote it.

    ### Details

    - AttributeProto: the schema reserves 12 and 16 to 19. Under edition 1.9, which does not mention them, they are
      not reported.
    - GraphProto: 3, 4 and 6 to 9.
    - FunctionProto: 2 and 3. In an operator set of IR version 7 or earlier, these are fields of the format and are
      not reported.
    - TypeProto.Opaque: 3.
    - Each number is reported once for each kind of message, where it first occurs.
    - `unknown-field` reports numbers that were never used.
    """
    yield from findings_of_fields(
        (
            fault
            for fault in model.faults_of(FaultKind.UNKNOWN_FIELD)
            if fault.number is not None
            and is_reserved(fault.message_type, fault.number)
            # since_version and status, which functions of operator sets had before models could have functions
            and (fault.message_type != "FunctionProto" or functions_are_bound(model))
        ),
        _finding,
    )


def _finding(fault: Fault, occurrences: str) -> Finding:
    key = (fault.message_type, fault.number or 0)
    former = f" (it was '{FORMER_NAMES[key]}')" if key in FORMER_NAMES else ""
    return Finding(
        fault.place,
        f"field {fault.number} of {fault.message_type} is reserved{former}{occurrences}",
        clause="ATT-13" if fault.message_type == "AttributeProto" else "FIL-7a",
        allowed="no field of this number",
        hint="write the field that replaced it, or delete it",
    )
