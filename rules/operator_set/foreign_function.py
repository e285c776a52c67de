# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, normalized_domain, shown_domain
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="OPF-6a", since="0.1.0", needs="operator-set")
def foreign_function(model: Model) -> Iterator[Finding]:
    """A function of an operator set states another domain than the set.

    ### How to fix

    Write the domain of the set, or move the function into the set of its domain.

    ### Example

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 1
    functions { name: "Blur" domain: "com.elsewhere" input: "x" output: "y" opset_import { version: 21 }
                node { op_type: "Relu" input: "x" output: "y" } }
    ```

    Corrected:

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 1
    functions { name: "Blur" domain: "com.example" input: "x" output: "y" opset_import { version: 21 }
                node { op_type: "Relu" input: "x" output: "y" } }
    ```

    ### Why it matters

    A node that imports the set looks for the function in the domain of the set and does not find it.

    ### Details

    - The domain of each function must be that of the set; `ai.onnx` and the empty domain are equal.
    - `unidentified-function` reports a function without a domain.
    """
    domain = normalized_domain(model.document.domain)
    for function in model.functions:
        if function.proto.HasField("domain") and normalized_domain(function.domain) != domain:
            own, whole = quote(shown_domain(function.domain)), quote(shown_domain(domain))
            yield Finding(
                function.place.at("domain"),
                f"function {quote(function.name)} is of domain {own}, but the operator set is of domain {whole}",
                allowed=whole,
                subject=function.qualified_name,
            )
