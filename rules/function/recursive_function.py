# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, Recursion
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote

MAX_SHOWN = 8
"""A longer circle is cut in the middle of the message; the related places hold all of it."""


@rule(
    clause="FUN-4", since="0.1.0", about=Model.functions, needs="function", security=("GHSA-7w46-vvrh-m8q5", "CWE-674")
)
def recursive_function(model: Model) -> Iterator[Finding]:
    """Model-local functions call one another in a circle.

    ### How to fix

    Write what repeats as a Loop or Scan, and let one of the functions call something else. A function that carries the
    name of the operator in its own body needs another name or domain.

    ### Example

    ```
    functions { name: "F" domain: "com.example" input: "x" output: "y"
                node { op_type: "G" domain: "com.example" input: "x" output: "y" } }
    functions { name: "G" domain: "com.example" input: "x" output: "y"
                node { op_type: "F" domain: "com.example" input: "x" output: "y" } }
    ```

    Corrected:

    ```
    functions { name: "F" domain: "com.example" input: "x" output: "y"
                node { op_type: "G" domain: "com.example" input: "x" output: "y" } }
    functions { name: "G" domain: "com.example" input: "x" output: "y"
                node { op_type: "Relu" input: "x" output: "y" } }
    ```

    ### Why it matters

    Consumers run a function by replacing the call by its body. With a circle that never ends.

    ### Details

    Functions may call other functions, to any depth, as long as no function reaches itself, neither directly nor
    through a subgraph in its body. A node calls a function when domain, name and overload agree (domain and name up
    to IR version 9). So a function that carries the name of a standard operator and uses that operator in its body
    calls itself: which of the two is meant there, the specification leaves open, and consumers that prefer the
    function never come to an end.

    Of several circles through the same functions one shortest is reported.
    """
    if model.calls.all:
        for recursion in model.calls.recursions():
            yield _finding(recursion)


def _finding(recursion: Recursion) -> Finding:
    first = recursion.functions[0]
    callees = (*recursion.functions[1:], first)
    return Finding(
        first.place,
        f"{first.body.describe()} calls itself: {_way([function.qualified_name for function in (first, *callees)])}",
        related=tuple(
            Related(node.place, f"{node.describe()} in {function.body.describe()} calls {quote(callee.qualified_name)}")
            for node, function, callee in zip(recursion.nodes, recursion.functions, callees, strict=True)
        ),
        allowed="functions that do not reach themselves",
        subject=first.qualified_name,
    )


def _way(names: list[str]) -> str:
    shown = [quote(name)[1:-1] for name in names[:MAX_SHOWN]]
    hidden = len(names) - MAX_SHOWN - 1
    if hidden > 0:
        shown.append(f"... {hidden:,} more ...")
    shown += [quote(name)[1:-1] for name in names[MAX_SHOWN:][-1:]]
    return " -> ".join(shown)
