# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import (
    NEWEST_IR_VERSION,
    OLDEST_LOADED_IR_VERSION,
    ROOT,
    Model,
    has_unusual_versions,
    release_of_edition,
    release_of_ir_version,
)
from onnx_lint.rule import Finding, rule


@rule(clause=("VER-3", "VER-3b", "MOD-2"), since="0.1.0", about=has_unusual_versions, needs="library")
def unknown_ir_version(model: Model) -> Iterator[Finding]:
    """The model states an IR version that was never published, or that is newer than the edition.

    ### How to fix

    Set a published version: `onnx.helper.make_model(graph, ir_version=10)`. If the number is newer than this onnx-lint
    knows, update onnx-lint.

    ### Example

    ```
    ir_version: 99
    ```

    Corrected:

    ```
    ir_version: 10
    ```

    ### Why it matters

    The IR version decides how to read the file. Consumers refuse a version that they do not know.

    ### Details

    - ONNX has published the versions 1 to 14.
    - Under an earlier edition, the versions are those of its ONNX release: 1 to 7 under `--edition 1.9`, to 10 under
      1.16, to 13 under 1.21.
    - The specification refers to the enumeration in the schema. onnx-lint uses that of the edition's release, because
      the text of edition 1.9 prints one that ends at 3.
    - The rest of the model is checked by the rules of the IR version that it states, or of the newest one if that was
      never published.
    - ONNX Runtime loads no model of IR version 1 or 2. That is reported with `--target onnxruntime=VERSION` or
      `--pedantic`.
    - Reported by another rule: a model that states no version (`missing-ir-version`).
    """
    version = model.ir_version
    edition = model.standard.edition
    known = release_of_edition(edition).ir_version
    if version > NEWEST_IR_VERSION:
        message = f"IR version {version} is not published; the newest that onnx-lint knows is {NEWEST_IR_VERSION}"
        yield Finding(ROOT.at("ir_version"), message, clause="VER-3", allowed=f"1 to {known}")
    elif version > known:
        release = release_of_ir_version(version)
        assert release is not None  # IR versions that no release wrote are older than the first edition
        message = f"IR version {version} came with ONNX {release.onnx}; edition {edition} knows {known} at most"
        yield Finding(ROOT.at("ir_version"), message, clause="VER-3", allowed=f"1 to {known}")
    elif version < 0:
        message = f"IR version {version} is not positive"
        yield Finding(ROOT.at("ir_version"), message, clause="MOD-2", allowed=f"1 to {known}")
    elif 1 <= version < OLDEST_LOADED_IR_VERSION:
        message = f"the model states IR version {version}, which has no operator set imports"
        allowed = f"{OLDEST_LOADED_IR_VERSION} to {known}"
        yield Finding(ROOT.at("ir_version"), message, clause="VER-3b", allowed=allowed)
