# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, has_unusual_versions
from onnx_lint.rule import Finding, rule


@rule(clause="VER-1a", since="0.1.0", about=has_unusual_versions)
def negative_model_version(model: Model) -> Iterator[Finding]:
    """The version of the model is a negative number.

    ### How to fix

    Start with 1, or omit the field.

    ### Example

    ```
    model_version: -1
    ```

    Corrected:

    ```
    model_version: 1
    ```

    ### Why it matters

    Tools that compare versions sort it before the first one. Tools that read it as a semantic version see a major
    number above 32767.

    ### Details

    - Allowed are 0 (no version), a number up to 4294967295, and a semantic version in eight bytes with the major number
      in the upper two.
    """
    version = model.proto.model_version
    if version < 0:
        yield Finding(
            ROOT.at("model_version"),
            f"model version {version} is negative, but must be at least 0",
            allowed="0 or more",
        )
