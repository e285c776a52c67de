# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Fault, FaultKind, Model, has_faults
from onnx_lint.rule import Finding, findings_of_fields, rule
from onnx_lint.schema.reserved import is_reserved


@rule(clause="FIL-7", since="0.1.0", about=has_faults, needs="file")
def unknown_field(model: Model) -> Iterator[Finding]:
    """A message has a field that its definition does not have.

    ### How to fix

    - Store your own data in `metadata_props`.
    - If the field is from a newer ONNX than onnx-lint supports, update onnx-lint.

    ### Example

    ```
    08 0a  42 02 10 15    # ir_version: 10, opset_import { version: 21 }
    3a 0f                 # graph
       12 05 "graph"      # name
       9a 06 05 "notes"   # field 99
    ```

    Corrected:

    ```
    08 0d  42 02 10 1a    # ir_version: 13, opset_import { version: 26 }
    3a 25                 # graph
       12 05 "graph"      # name
       82 01 1b           # metadata_props
          0a 11 "com.example.notes" 12 06 "a note"
    ```

    ### Why it matters

    Consumers skip the field. It comes from a newer version of ONNX, from a private extension, or from damage.

    ### Details

    - The defined fields are those of the ONNX schema, up to IR version 14.
    - Each number is reported once for each kind of message, where it first occurs.
    - `reserved-field` reports numbers that the schema reserves.
    """
    faults = model.faults_of(FaultKind.UNKNOWN_FIELD)
    unknown = (fault for fault in faults if not is_reserved(fault.message_type, fault.number))
    yield from findings_of_fields(unknown, _finding)


def _finding(fault: Fault, occurrences: str) -> Finding:
    return Finding(
        fault.place,
        f"{fault.message}{occurrences}",
        allowed="the fields that the message has",
        hint="update onnx-lint if the field is new in ONNX; your own data belongs in metadata_props",
    )
