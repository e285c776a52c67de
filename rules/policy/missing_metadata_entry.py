# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="POL-6", since="0.2.0")
def missing_metadata_entry(model: Model, *, metadata: tuple[str, ...] = ()) -> Iterator[Finding]:
    """The metadata of the model has no value for a key that the policy requires.

    ### How to fix

    Add the entry: `onnx.helper.set_model_props(model, {"com.example.licence": "MIT"})`.

    ### Example

    ```
    # option: missing-metadata-entry.metadata = ["com.example.licence"]
    metadata_props { key: "com.example.author" value: "us" }
    ```

    Corrected:

    ```
    # option: missing-metadata-entry.metadata = ["com.example.licence"]
    metadata_props { key: "com.example.licence" value: "MIT" }
    ```

    ### Why it matters

    The configuration says what each model states about itself, such as its licence.

    ### Details

    Metadata of the model with each key of the option `metadata`, and a value that is not empty. The key
    `policy.metadata` of the configuration sets it.
    """
    present = {entry.key for entry in model.proto.metadata_props if entry.value}
    for key in metadata:
        if key not in present:
            yield Finding(
                ROOT,
                f"the metadata has no value for {quote(key)}, which the policy requires",
                allowed=f"an entry {quote(key)}",
                subject=key,
                anchor="metadata",
            )
