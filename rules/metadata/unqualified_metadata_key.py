# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.documents.kinds import MODEL_KIND
from onnx_lint.model import Model, Place, has_metadata
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

STANDARD_KEYS = {"model_author", "model_license"}
"""The plain keys that the specification defines, for the model."""


@rule(clause="META-4", since="0.1.0", about=has_metadata, needs="metadata")
def unqualified_metadata_key(model: Model) -> Iterator[Finding]:
    """A metadata key does not begin with a reverse domain name.

    ### How to fix

    Put your domain in reverse order before the key, and change the readers of the model with it.

    ### Example

    ```
    metadata_props { key: "stride" value: "32" }
    ```

    Corrected:

    ```
    metadata_props { key: "com.example.stride" value: "32" }
    ```

    ### Why it matters

    Plain keys are reserved for the standard, and a later edition may define the key. Two tools that both write
    `version` overwrite each other's value.

    ### Details

    - A key needs a reverse domain name before it, for example `com.example.stage`. Every key with a dot is accepted,
      also `Image.` keys.
    - For the model, `model_author` and `model_license` are accepted, because the specification defines them.
    - Each key is reported once, at its first place.
    - The rule is off by default, because many exporters write plain keys and their readers look for them.
    """
    first: dict[str, tuple[Place, str]] = {}
    for metadata in model.metadata():
        for index, entry in enumerate(metadata.entries):
            key = entry.key
            if "." in key or key in first or (metadata.message == MODEL_KIND and key in STANDARD_KEYS):
                continue
            first[key] = metadata.place.at(metadata.field, index).at("key"), metadata.owner
    for key, (place, owner) in first.items():
        yield Finding(
            place,
            f"metadata key {quote(key)} of {owner} has no reverse domain name before it",
            allowed="a key such as 'com.example.key'",
            subject=key,
        )
