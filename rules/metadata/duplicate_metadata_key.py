# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.documents.kinds import MODEL_KIND
from onnx_lint.ir.graph import Nodes, NodesOfGraphs
from onnx_lint.model import Delete, Fix, Metadata, Model, has_metadata, serialized
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


@rule(clause=("META-1", "META-2", "META-2a", "MP-3"), since="0.1.0", about=has_metadata, needs="metadata")
def duplicate_metadata_key(model: Model) -> Iterator[Finding]:
    """A metadata key is listed twice.

    ### How to fix

    Keep one entry, or combine the values in one. `onnx-lint fix` (safe) deletes an entry with the key and value of an
    earlier one. `onnx.helper.set_model_props` and, for other messages, `onnx.helper.set_metadata_props` write the
    entries again from a dictionary.

    ### Example

    ```
    metadata_props { key: "author" value: "A" }
    metadata_props { key: "author" value: "B" }
    ```

    Corrected:

    ```
    metadata_props { key: "author" value: "A, B" }
    ```

    ### Why it matters

    Readers that make a dictionary of the list keep one of the two values. The reader decides which one.

    ### Details

    - Keys must differ within the `metadata_props` of the model, a graph, a function, a node, a value or a tensor.
    - Keys of the model that begin with `Image.` must differ in more than letter case.
    - A note at the head of the schema forbids duplicate keys in every map, but the sentences on these fields only say
      that keys should be distinct. onnx-lint follows those.
    - Edition 1.9 has metadata of the model only.
    """
    suspects = NodesOfGraphs(Nodes(graph, graph.table.repeated_keys) for graph in model.graphs)
    for metadata in model.metadata(suspects):
        keys = [entry.key for entry in metadata.entries]
        distinct = {key.lower() for key in keys} if metadata.message == MODEL_KIND else set(keys)
        if len(distinct) != len(keys):
            yield from _duplicates(metadata)


def _duplicates(metadata: Metadata) -> Iterator[Finding]:
    first: dict[str, int] = {}
    any_case: dict[str, int] = {}
    values: dict[str, set[str]] = {}
    for entry in metadata.entries:
        values.setdefault(entry.key, set()).add(entry.value)
    for index, entry in enumerate(metadata.entries):
        key = entry.key
        if key in first:
            message = f"metadata key {quote(key)} of {metadata.owner} is listed twice"
            # Beside another value it decides which one a reader takes, the first or the last.
            has_fix = len(values[key]) == 1
            yield _finding(metadata, index, first[key], message, _CLAUSES[metadata.message], has_fix=has_fix)
        elif metadata.message == MODEL_KIND and key.lower().startswith("image."):
            other = any_case.setdefault(key.lower(), index)
            if other != index:
                earlier = metadata.entries[other].key
                message = f"metadata keys {quote(earlier)} and {quote(key)} of the model differ only by case"
                yield _finding(metadata, index, other, message, "MP-3", has_fix=False)
        first.setdefault(key, index)


def _finding(metadata: Metadata, index: int, first: int, message: str, clause: str, *, has_fix: bool) -> Finding:
    place = metadata.place.at(metadata.field, index)
    entry = metadata.entries[index]
    is_same = has_fix and serialized(entry) == serialized(metadata.entries[first])
    return Finding(
        place.at("key"),
        message,
        clause=clause,
        related=(Related(metadata.place.at(metadata.field, first), "first entry"),),
        allowed="each key once",
        subject=entry.key,
        fix=Fix(f"delete the second entry {quote(entry.key)} of {metadata.owner}", (Delete(place),))
        if is_same
        else "the entries differ, and readers take the first or the last",
    )
