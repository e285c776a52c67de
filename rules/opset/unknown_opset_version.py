# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import (
    MAX_OPSET_VERSION,
    ROOT,
    Model,
    OperatorSchemas,
    Place,
    Proto,
    has_unusual_imports,
    release_of_edition,
    release_of_opset,
    shown_domain,
)
from onnx_lint.rule import Finding, Record, rule
from onnx_lint.spec.ir_versions import LATER_FIELDS
from onnx_lint.spec.releases import newest_opset_version
from onnx_lint.wording import quote


@rule(clause=("OPS-3", "OPS-6"), since="0.1.0", about=has_unusual_imports, needs="function")
def unknown_opset_version(model: Model) -> Iterator[Finding]:
    """An import states no version of its operator set, or a version that the edition does not know.

    ### How to fix

    - Import the version that the nodes are written for.
    - If the version is newer than your onnx-lint, update onnx-lint.
    - PyTorch: `torch.onnx.export(..., opset_version=21)`.
    - skl2onnx: `target_opset={"": 21, "ai.onnx.ml": 3}`; onnxmltools, with one number: `target_opset=15`.
    - tf2onnx: `--opset 18`.

    ### Example

    ```
    opset_import { domain: "" version: 999 }
    ```

    Corrected:

    ```
    opset_import { domain: "" version: 21 }
    ```

    ### Why it matters

    The version selects the definition of each operator. Some consumers refuse an unknown version. Others take the
    newest one below it and compute something else.

    ### Details

    - The version must be a number from 1 to 2147483647.
    - For a domain that ONNX publishes, it must be a published version. A version that is newer than this onnx-lint is
      also reported.
    - For other domains, an explicit 0 is accepted, because their publishers may start at 0.
    - In an operator-set document of such a domain, an import of the same domain must be at most the document's own
      version.
    - Imports of the model and of functions are checked, used or not.
    - With `--edition`, a version is reported if the release of that edition did not have it. With `--edition 1.9`
      these are the default operator set from 15 on and `ai.onnx.ml` from 3 on. Nodes are still checked against the
      imported version.
    - `ai.onnx.preview`, which came with ONNX 1.22, is reported under all editions but the newest.
    - `premature-opset-import` reports the imports of a model below IR version 3.
    """
    known = _KnownVersions(model.operators.schemas, model.standard.edition)
    for importer in model.imports.where(lambda entries: any(_judge(ROOT, entry, known) for entry in entries)):
        if (
            importer.function is None
            and model.effective_ir_version < LATER_FIELDS["ModelProto.opset_import"].ir_version
        ):
            continue
        for index, entry in enumerate(importer.entries):
            finding = _judge(importer.place.at("opset_import", index), entry, known)
            if finding is not None:
                yield finding


class _KnownVersions(Record):
    """The versions to compare with."""

    schemas: OperatorSchemas
    edition: str


def _judge(place: Place, entry: Proto, known: _KnownVersions) -> Finding | None:
    domain, version = shown_domain(entry.domain), entry.version
    newest, newest_given = newest_opset_version(entry.domain), known.schemas.newest_declared(entry.domain)
    allowed = f"1 to {MAX_OPSET_VERSION if newest is None else newest}"
    if not entry.HasField("version"):
        message = f"the import of {quote(domain)} states no version"
        return Finding(place, message, clause="OPS-3", allowed=allowed, subject=domain)
    place = place.at("version")
    if version == 0 and newest is None:
        return None
    if not 1 <= version <= MAX_OPSET_VERSION:
        message = f"the import of {quote(domain)} states version {version}"
        return Finding(place, message, clause="OPS-3", allowed=allowed, subject=domain)
    if newest is not None and version > newest:
        message = f"{quote(domain)} {version} is not published; the newest that onnx-lint knows is {newest}"
        return Finding(place, message, clause="OPS-6", allowed=allowed, subject=domain)
    if newest is not None:
        return _newer_than_edition(place, entry, known.edition)
    if newest_given is not None and version > newest_given:
        message = f"{quote(domain)} {version} is newer than the operator set {newest_given}, the newest that is given"
        return Finding(place, message, clause="OPS-6", allowed=f"1 to {newest_given}", subject=domain)
    return None


def _newer_than_edition(place: Place, entry: Proto, edition: str) -> Finding | None:
    domain, version = shown_domain(entry.domain), entry.version
    newest = release_of_edition(edition).opset_version(entry.domain)
    since = release_of_opset(entry.domain, version)
    if version <= newest or since is None:
        return None
    knows = f"knows {newest} at most" if newest else "does not know the operator set"
    message = f"{quote(domain)} {version} came with ONNX {since.onnx}; edition {edition} {knows}"
    allowed = f"1 to {newest}" if newest else f"operator sets that ONNX {edition} has"
    return Finding(place, message, clause="OPS-6", allowed=allowed, subject=domain)
