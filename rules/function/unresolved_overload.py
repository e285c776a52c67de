# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.model import Function, Model, Node, overloaded_nodes
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import Suggestions, quote, quote_some


@rule(clause=("FUN-25", "NOD-11"), since="0.1.0", about=overloaded_nodes, needs="library")
def unresolved_overload(model: Model) -> Iterator[Finding]:
    """A node names an overload that no function of the model has.

    ### How to fix

    - A call of a function: write an overload that exists.
    - A call of an operator: clear the field.

    ### Example

    ```
    node { op_type: "F" domain: "com.example" overload: "float" input: "x" output: "y" }
    functions { name: "F" domain: "com.example" overload: "int" input: "x" output: "y"
                node { op_type: "Relu" input: "x" output: "y" } }
    ```

    Corrected:

    ```
    node { op_type: "F" domain: "com.example" overload: "int" input: "x" output: "y" }
    functions { name: "F" domain: "com.example" overload: "int" input: "x" output: "y"
                node { op_type: "Relu" input: "x" output: "y" } }
    ```

    ### Why it matters

    The overload is part of the function's identity. If it does not exist, the node calls nothing, and each consumer
    decides what it runs instead.

    ### Details

    - The overload must be that of a model-local function with the node's domain and op_type.
    - A node that calls an operator must not have an overload.
    - Below IR version 10, which introduced the field, `premature-feature` reports it.
    """
    if not model.calls.has_overloads:
        return
    suggestions = Suggestions()
    distinct_overloads: dict[tuple[str, str], tuple[str, ...]] = {}
    for node in overloaded_nodes(model):
        if model.calls.function_of(node) is None:
            namesakes = model.calls.namesakes(node)
            key = (node.domain, node.op_type)
            if key not in distinct_overloads:
                distinct_overloads[key] = tuple(dict.fromkeys(function.overload for function in namesakes))
            yield _finding(node, namesakes, distinct_overloads[key], suggestions, model.describe())


def _finding(
    node: Node, namesakes: list[Function], overloads: Sequence[str], suggestions: Suggestions, holder: str
) -> Finding:
    overload = node.overload
    place = node.place.at("overload")
    if not namesakes:
        return Finding(
            place,
            f"{node.describe()} names overload {quote(overload)}, but calls no function of {holder}",
            clause="NOD-11",
            allowed="no overload on a node that calls an operator",
            subject=overload,
            inner=overload,
        )
    plain = ["no overload"] if "" in overloads else []
    named = quote_some(filter(None, overloads), 10)
    return Finding(
        place,
        f"{node.describe()} names overload {quote(overload)}, which no function of that domain and name has"
        f"{suggestions(overload, filter(None, overloads))}",
        clause="FUN-25",
        related=tuple(Related(function.place, function.body.describe()) for function in namesakes[:3]),
        allowed=" or ".join([*plain, *([named] if named else [])]),
        subject=overload,
        inner=overload,
    )
