# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, has_unusual_header, is_reverse_domain_name
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="MOD-9", since="0.1.0", about=has_unusual_header)
def unqualified_model_domain(model: Model) -> Iterator[Finding]:
    """The domain of the model is not a reverse domain name.

    ### How to fix

    Use a domain name that you own, in reverse order, with dots between its labels.

    ### Example

    ```
    domain: "my_models"
    ```

    Corrected:

    ```
    domain: "org.example.models"
    ```

    ### Why it matters

    Reverse domain names separate the models of two organizations without any agreement. Anyone may use a single word.

    ### Details

    - A domain needs two or more labels of letters, digits, underscores and inner hyphens, separated by single dots, for
      example `org.example.vision`.
    - Only the form is checked.
    - Reported by another rule: a model without a domain (`missing-model-domain`).
    """
    domain = model.proto.domain
    if domain and not is_reverse_domain_name(domain):
        yield Finding(
            ROOT.at("domain"),
            f"model domain {quote(domain)} is not a reverse domain name",
            allowed="two or more labels separated by dots, such as 'org.example'",
            subject=domain,
        )
