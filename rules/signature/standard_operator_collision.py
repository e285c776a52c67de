# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.releases import is_onnx_domain, normalized_domain
from onnx_lint.wording import quote


@rule(clause="FUN-24", since="0.1.0", about=Model.functions)
def standard_operator_collision(model: Model) -> Iterator[Finding]:
    """A function carries the domain and name of a standard operator.

    ### Why it matters

    Which of the two a node means is left to the consumer: one puts the body of the function in its place, another
    runs its own operator. If the two differ, so do the results.

    ### What is allowed

    Functions in domains of one's own, and in ONNX's domains under names that no version of the operator set has.
    Everywhere else onnx-lint reads such a node as a call of the function.

    ### Example

    ```
    functions { name: "Relu" domain: "ai.onnx" input: "x" output: "y" node { op_type: "Abs" input: "x" output: "y" } }
    ```

    ### How to fix

    Give the function a domain of one's own, and its calls the same.

    ```
    functions { name: "Relu" domain: "com.example" input: "x" output: "y"
                node { op_type: "Abs" input: "x" output: "y" } }
    ```
    """
    published = {domain for domain in {function.domain for function in model.functions} if is_onnx_domain(domain)}
    for function in model.functions if published else ():
        domain = normalized_domain(function.domain)
        versions = model.operators.schemas.versions(domain, function.name) if function.domain in published else ()
        if versions:
            yield Finding(
                function.place.at("name"),
                f"{function.body.describe()} carries the name of an operator that {quote(domain or 'ai.onnx')} has "
                f"since version {versions[0]}",
                allowed="a domain that ONNX does not publish, or another name",
                subject=function.qualified_name,
            )
