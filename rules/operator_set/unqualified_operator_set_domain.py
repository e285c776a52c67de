# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, is_reverse_domain_name, normalized_domain
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="OPS-5", since="0.1.0", needs="operator-set")
def unqualified_operator_set_domain(model: Model) -> Iterator[Finding]:
    """The domain of an operator set document is not a reverse domain name.

    ### How to fix

    Put your own domain name, reversed, before the domain. Models that use the set must import it under the new name.

    ### Example

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "custom" opset_version: 1
    ```

    Corrected:

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example.custom" opset_version: 1
    ```

    ### Why it matters

    Reverse domain names keep the operators of two publishers apart, without any agreement between them.

    ### Details

    - The domain should be the default one, or two or more labels with single dots between them, for example
      `com.example.ops`.
    - Only the form is checked.
    """
    domain = model.document.domain
    if normalized_domain(domain) and not is_reverse_domain_name(domain):
        yield Finding(
            ROOT.at("domain"),
            f"operator set domain {quote(domain)} is not a reverse domain name",
            allowed="two or more labels separated by dots, such as 'com.example'",
            subject=domain,
        )
