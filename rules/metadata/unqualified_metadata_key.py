# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import MODEL_KIND, Model, Place, has_metadata
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

STANDARD_KEYS = {"model_author", "model_license"}
"""The plain keys that the specification defines, for the model."""


@rule(clause="META-4", since="0.1.0", about=has_metadata, needs="metadata")
def unqualified_metadata_key(model: Model) -> Iterator[Finding]:
    """A metadata key does not begin with a reverse domain name.

    ### How to fix

    Put a domain before the key, written backwards, where the readers of the model can be changed along with it.

    ### Example

    ```
    metadata_props { key: "stride" value: "32" }
    ```

    Corrected:

    ```
    metadata_props { key: "com.example.stride" value: "32" }
    ```

    ### Why it matters

    Plain keys are left to the standard. A later edition may give the key a meaning of its own, and two tools that
    both write `version` overwrite each other's.

    ### Details

    Keys with a reverse domain name before them, such as `com.example.stage`, and for the model `model_author` and
    `model_license`, which the specification defines. Every key with a dot is accepted, `Image.` keys included. Each
    key is reported once, where it occurs first. Many exporters write plain keys and their readers look for them, so
    the rule is off by default.
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
