# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="MOD-10", since="1.0")
def placeholder_producer(model: Model, *, placeholder: str = "example") -> Iterator[Finding]:
    """The producer name is a placeholder.

    ### How to fix

    Name the program that makes the model.

    ### Example

    ```
    producer_name: "example"
    ```

    Corrected:

    ```
    producer_name: "trainer"
    ```

    ### Why it matters

    Whoever looks for the origin of a model finds the name that a template came with.

    ### Details

    Any name but the one that the option `placeholder` gives.
    """
    if model.proto.producer_name == placeholder:
        yield Finding(ROOT.at("producer_name"), f"the producer is called {quote(placeholder)}", subject=placeholder)
