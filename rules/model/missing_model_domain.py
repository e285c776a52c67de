# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule


@rule(clause="MOD-8", since="0.1.0")
def missing_model_domain(model: Model) -> Iterator[Finding]:
    """The model does not state its domain.

    ### How to fix

    Set your own domain in reverse order, for example `model.domain = "org.example"`. It says who defines the model's
    names.

    ### Example

    ```
    graph { name: "g" }
    ```

    Corrected:

    ```
    domain: "org.example"
    graph { name: "g" }
    ```

    ### Why it matters

    The domain says whose model it is. Together with the model's version and the name of its graph, it identifies the
    model.

    ### Details

    - The field `domain` must be set.
    - The editions up to 1.16 require it, later ones recommend it.
    - With the later editions the rule is off by default, because hardly any model has one.
    """
    if not model.proto.domain:
        yield Finding(ROOT.at("domain"), "the model states no domain", allowed="a reverse domain name")
