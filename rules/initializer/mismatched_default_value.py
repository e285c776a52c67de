# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from onnx_lint.ir.names.declarations import defaults_across
from onnx_lint.model import (
    TENSOR_KINDS,
    Declaration,
    Model,
    algorithms,
    contradict,
    has_repeated_declarations,
)
from onnx_lint.rule import Finding, Related, replace, rule
from onnx_lint.wording import quote


@rule(clause=("INI-5", "TRN-9"), since="0.1.0", about=has_repeated_declarations, needs="attribute")
def mismatched_default_value(model: Model) -> Iterator[Finding]:
    """The default value of a graph input does not have the type that the input declares.

    ### How to fix

    - Change the declaration of the input or the tensor, whichever is wrong.
    - If no caller sets the input, delete the entry of `graph.input` and keep the initializer (from IR version 4 on).

    ### Example

    ```
    input { name: "w" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }
    initializer { name: "w" data_type: 7 dims: 3 int64_data: [1, 2, 3] }
    ```

    Corrected:

    ```
    input { name: "w" type { tensor_type { elem_type: 7 shape { dim { dim_value: 3 } } } } }
    initializer { name: "w" data_type: 7 dims: 3 int64_data: [1, 2, 3] }
    ```

    ### Why it matters

    The nodes were checked against the declared type. If a caller omits the input, they compute with another type.

    ### Details

    - The initializer must have the element type and rank of the input, and the size of each dimension that has one.
    - A variable, an unknown dimension, a missing shape or a missing type contradicts nothing.
    - From edition 1.16 on, an initializer of the main graph may be the default of an input of a training algorithm, and
      the reverse.
    - A sparse initializer may be the default of a dense or a sparse tensor.
    """
    for declarations in chain.from_iterable(model.repeated_declarations.values()):
        declared = declarations[0]
        if declared.field != "input":
            continue
        for default in declarations:
            if default.is_initializer and contradict(default.statements, declared.statements):
                yield _finding(default, declared)
    for algorithm in algorithms(model):
        for default, declared in defaults_across(algorithm):
            if contradict(default.statements, declared.statements):
                yield replace(_finding(default, declared), clause="TRN-9")


def _finding(default: Declaration, declared: Declaration) -> Finding:
    whose = "the input" if default.graph is declared.graph else declared.describe()
    message = f"{default.describe()} is {default.describe_type()}, but {whose} declares {declared.describe_type()}"
    if declared.kind not in TENSOR_KINDS:
        message += "; only a tensor type can have an initializer"
    return Finding(
        default.place,
        message,
        clause="INI-5",
        related=(Related(declared.place, f"input {quote(declared.name)}"),),
        allowed=f"a value of type {declared.describe_type()}",
        subject=default.name,
        inner=default.contradiction(declared),
    )
