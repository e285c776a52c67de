# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule


@rule(clause="MOD-8", since="0.1.0")
def missing_model_domain(model: Model) -> Iterator[Finding]:
    """The model does not state its domain.

    ### How to fix

    State your own domain, written backwards: `model.domain = "org.example"`. It says whose names the model's are.

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

    A reverse domain name in the field `domain`. The editions up to 1.16 demand it, later ones recommend it. Hardly
    any model has one, so with the later editions the rule is off by default.
    """
    if not model.proto.domain:
        yield Finding(ROOT.at("domain"), "the model states no domain", allowed="a reverse domain name")
