# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model, has_faults
from onnx_lint.rule import Finding, findings_of_faults, rule


@rule(
    clause="FIL-5",
    since="0.1.0",
    about=has_faults,
    needs="file",
    security=("CVE-2025-4565", "CVE-2026-0994", "CWE-674"),
)
def excessive_nesting(model: Model) -> Iterator[Finding]:
    """Messages nest deeper than Protocol Buffers parses.

    ### How to fix

    Move inner graphs into functions, which are beside the main graph and not inside it.

    ### Example

    ```
    # proto: ModelProto
    ir_version: 10 graph {
    node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g {
    node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g {
    node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g {
    node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g {
    node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g {
    node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g {
    node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g { node { attribute { g {
    } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } }
    } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } } }
    }
    ```

    Corrected:

    ```
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g { output { name: "then" }
        node { op_type: "Inner" domain: "com.example" input: "x" output: "then" } } }
      attribute { name: "else_branch" type: GRAPH g { output { name: "else" }
        node { op_type: "Identity" input: "x" output: "else" } } }
    }
    functions { name: "Inner" domain: "com.example" input: "x" output: "y"
                node { op_type: "Relu" input: "x" output: "y" } }
    ```

    ### Why it matters

    Parsers stop at 100 nested messages to protect their stack, and no consumer can read the file.

    ### Details

    - Inside the model, messages may nest at most 100 deep.
    - A graph inside a graph needs three messages, and the shape of a value five more. 31 nested graphs whose values
      have shapes are allowed, 32 are not.
    """
    yield from findings_of_faults(
        model,
        FaultKind.NESTING,
        "at most 100 messages within each other, which parsers take",
        "move inner graphs into functions",
    )
