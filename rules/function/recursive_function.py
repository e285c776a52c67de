# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.operators.function_calls import Recursion
from onnx_lint.model import Function, Model, Node
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote, unquoted

MAX_SHOWN_FUNCTIONS = 8
"""A longer circle is cut in the middle of the message; the related places hold all of it."""


@rule(
    clause="FUN-4", since="0.1.0", about=Model.functions, needs="function", security=("GHSA-7w46-vvrh-m8q5", "CWE-674")
)
def recursive_function(model: Model) -> Iterator[Finding]:
    """Model-local functions call one another in a circle.

    ### How to fix

    - Write a repetition as a Loop or Scan.
    - Change one of the functions to call something else.
    - If a function uses a standard operator of its own name in its body, rename the function or move it to another
      domain.

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

    Consumers replace each call with the function's body. If functions call each other in a cycle, this never ends.

    ### Details

    - A function may call other functions to any depth, but must not reach itself, directly or through a subgraph in
      its body.
    - A node calls a function if domain, name and overload match; up to IR version 9, if domain and name match.
    - A function with the name of a standard operator that uses this operator in its body calls itself. The
      specification does not say which of the two the node means. `onnx.checker` 1.23 and ONNX Runtime 1.32 refuse
      such a model.
    - If there are several cycles through the same functions, only a shortest one is reported.
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
            Related(node.place, f"{_in_function(node, function)} calls {quote(callee.qualified_name)}")
            for node, function, callee in zip(recursion.nodes, recursion.functions, callees, strict=True)
        ),
        allowed="functions that do not reach themselves",
        subject=first.qualified_name,
        partners=tuple(node.place for node in recursion.nodes),
    )


def _in_function(node: Node, function: Function) -> str:
    what, body = node.describe(), function.body.describe()
    return what if body in what else f"{what} in {body}"


def _way(names: list[str]) -> str:
    shown = [unquoted(name) for name in names[:MAX_SHOWN_FUNCTIONS]]
    hidden = len(names) - MAX_SHOWN_FUNCTIONS - 1
    if hidden > 0:
        shown.append(f"... {hidden:,} more ...")
    shown += [unquoted(name) for name in names[MAX_SHOWN_FUNCTIONS:][-1:]]
    return " -> ".join(shown)
