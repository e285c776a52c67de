# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Function, Model
from onnx_lint.rule import Finding, Related, rule


@rule(clause="FUN-3", since="0.1.0", about=Model.functions, needs="function")
def duplicate_function(model: Model) -> Iterator[Finding]:
    """Two model-local functions have the same identity.

    ### How to fix

    - The functions are equal, for example after a merge: delete one.
    - They differ: rename one. From IR version 10 on you can instead give each an `overload`, and write it in the
      calls.

    ### Example

    ```
    functions { name: "Gelu" domain: "com.example" input: "x" output: "y"
                node { op_type: "Gelu" input: "x" output: "y" } }
    functions { name: "Gelu" domain: "com.example" input: "x" output: "y"
                node { op_type: "Relu" input: "x" output: "y" } }
    ```

    Corrected:

    ```
    functions { name: "Gelu" domain: "com.example" input: "x" output: "y"
                node { op_type: "Gelu" input: "x" output: "y" } }
    functions { name: "Gelu" domain: "com.example" overload: "rough" input: "x" output: "y"
                node { op_type: "Relu" input: "x" output: "y" } }
    ```

    ### Why it matters

    A call names only the domain, name and overload of a function. With two functions of one identity, it is undefined
    which body runs.

    ### Details

    - Functions must differ in domain, name or overload.
    - Up to IR version 9, which has no overloads, they must differ in domain or name.
    - `ai.onnx` and the empty domain are equal.
    """
    if not model.calls.has_namesakes:
        return
    first: dict[tuple[str, str, str], Function] = {}
    for function in model.functions:
        if not function.name:
            continue
        other = first.setdefault(model.calls.key(function.domain, function.name, function.overload), function)
        if other is not function:
            yield _finding(function, other)


def _finding(function: Function, other: Function) -> Finding:
    message = f"{function.body.describe()} is defined twice"
    if function.qualified_name != other.qualified_name:
        message = f"{function.body.describe()} has the same identity as {other.body.describe()}"
    if function.overload != other.overload:
        message += "; overloads distinguish functions from IR version 10 on"
    return Finding(
        function.place,
        message,
        related=(Related(other.place, f"first function of that identity: {other.body.describe()}"),),
        allowed="one function for each domain, name and overload",
        subject=function.qualified_name,
    )
