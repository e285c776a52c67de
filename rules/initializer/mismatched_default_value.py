# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from onnx_lint.model import TENSOR_KINDS, Declaration, Model, contradict
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="INI-5", since="0.1.0", about=Model.repeated_declarations, needs="attribute")
def mismatched_default_value(model: Model) -> Iterator[Finding]:
    """The default value of a graph input does not have the type that the input declares.

    ### How to fix

    - Change the declaration of the input or the tensor, whichever is wrong.
    - If no caller sets the input, delete it (from IR version 4 on).

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

    The nodes were checked against the declared type. If the caller omits the input, they get a value of another type.

    ### Details

    - The initializer must have the element type and rank of the input, and the size of each dimension that has one.
    - A variable, an unknown dimension, a missing shape or a missing type contradicts nothing.
    - A sparse initializer may be the default of a dense or a sparse tensor.
    """
    for declarations in chain.from_iterable(model.repeated_declarations.values()):
        declared = declarations[0]
        if declared.field != "input":
            continue
        for default in declarations:
            if default.is_initializer and contradict(default.statements, declared.statements):
                yield _finding(default, declared)


def _finding(default: Declaration, declared: Declaration) -> Finding:
    message = f"{default.describe()} is {default.describe_type()}, but the input declares {declared.describe_type()}"
    if declared.kind not in TENSOR_KINDS:
        message += "; a tensor is not a value of that type"
    return Finding(
        default.place,
        message,
        related=(Related(declared.place, f"input {quote(declared.name)}"),),
        allowed=f"a value of type {declared.describe_type()}",
        subject=default.name,
    )
