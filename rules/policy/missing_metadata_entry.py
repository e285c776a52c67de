# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote, quote_some


@rule(clause="POL-6", since="0.2.0", kinds={"metadata": "metadata", "producers": "texts"})
def missing_metadata_entry(
    model: Model,
    *,
    metadata: tuple[str, ...] | Mapping[str, tuple[str, ...]] = (),
    producers: tuple[str, ...] = (),
) -> Iterator[Finding]:
    """The metadata of the model lacks a value that the policy requires, or the producer is not one that it allows.

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

    Your configuration lists what each model must say about itself, for example its licence.

    ### Details

    - `metadata`: the keys that the metadata of the model must have, each with a value that is not blank. A table has
      patterns for the value of each key: `{ licence = ["MIT", "Apache-*"] }`.
    - `producers`: patterns for the name of the producer.
    - In a pattern, `*` matches any characters.
    - `policy.metadata` and `policy.producers` of the configuration set the options.
    """
    values = {entry.key: entry.value.strip() for entry in model.proto.metadata_props}
    for key in metadata:
        patterns = metadata[key] if isinstance(metadata, Mapping) else ("*",)
        value = values.get(key, "")
        if value and any(fnmatchcase(value, pattern) for pattern in patterns):
            continue
        wrong = f"the metadata has the value {quote(value)} for {quote(key)}, which the policy does not allow"
        yield Finding(
            ROOT,
            wrong if value else f"the metadata has no value for {quote(key)}, which the policy requires",
            allowed=f"a value that matches {quote_some(patterns, 5)}" if value else f"an entry {quote(key)}",
            subject=key,
            anchor="metadata",
        )
    producer = model.proto.producer_name
    if producers and not any(fnmatchcase(producer, pattern) for pattern in producers):
        yield Finding(
            ROOT.at("producer_name"),
            f"the producer of the model is called {quote(producer)}, which the policy does not allow",
            allowed=f"a producer that matches {quote_some(producers, 5)}",
            anchor="producers",
        )
