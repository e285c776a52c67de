# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.documents.kinds import MODEL
from onnx_lint.ir.parts import Metadata
from onnx_lint.model import Model
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote

_CLAUSES = {
    "ModelProto": "META-1",
    "GraphProto": "META-2",
    "FunctionProto": "META-2",
    "NodeProto": "META-2",
    "ValueInfoProto": "META-2a",
    "TensorProto": "META-2a",
}


@rule(clause=("META-1", "META-2", "META-2a", "MP-3"), since="0.1.0", about=Model.has_metadata, needs="metadata")
def duplicate_metadata_key(model: Model) -> Iterator[Finding]:
    """A metadata key stands twice in one list.

    ### Why it matters

    The list is a map. Readers that make a dictionary of it keep one of the two values, and not all the same one.

    ### What is allowed

    Each key once in the `metadata_props` of the model, a graph, a function, a node, a value or a tensor. The keys
    of the model that begin with `Image.` are read without regard to case, so two of them may not differ in case
    alone.

    A note at the head of the schema forbids duplicate keys in every map, but the sentences on these fields say only
    that keys should be distinct; onnx-lint follows those. Edition 1.9 knows metadata of the model alone.

    ### Example

    ```
    metadata_props { key: "author" value: "A" }
    metadata_props { key: "author" value: "B" }
    ```

    ### How to fix

    Keep one entry, or put all that is to be said into one value. `onnx.helper.set_model_props` and, for other
    messages, `onnx.helper.set_metadata_props` write the entries anew from a dictionary.

    ```
    metadata_props { key: "author" value: "A, B" }
    ```
    """
    for metadata in model.metadata_with_suspect_keys():
        keys = [entry.key for entry in metadata.entries]
        distinct = {key.lower() for key in keys} if metadata.message == MODEL else set(keys)
        if len(distinct) != len(keys):
            yield from _duplicates(metadata)


def _duplicates(metadata: Metadata) -> Iterator[Finding]:
    first: dict[str, int] = {}
    any_case: dict[str, int] = {}
    for index, entry in enumerate(metadata.entries):
        key = entry.key
        if key in first:
            message = f"metadata key {quote(key)} of {metadata.owner} stands twice"
            yield _finding(metadata, index, first[key], message, _CLAUSES[metadata.message])
        elif metadata.message == MODEL and key.lower().startswith("image."):
            other = any_case.setdefault(key.lower(), index)
            if other != index:
                earlier = metadata.entries[other].key
                message = f"metadata keys {quote(earlier)} and {quote(key)} of the model differ only by case"
                yield _finding(metadata, index, other, message, "MP-3")
        first.setdefault(key, index)


def _finding(metadata: Metadata, index: int, first: int, message: str, clause: str) -> Finding:
    return Finding(
        metadata.place.at(metadata.field, index).at("key"),
        message,
        clause=clause,
        related=(Related(metadata.place.at(metadata.field, first), "first entry"),),
        allowed="each key once",
        subject=metadata.entries[index].key,
    )
