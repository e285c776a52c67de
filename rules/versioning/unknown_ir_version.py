# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.releases import NEWEST_IR_VERSION


@rule(clause=("VER-3", "MOD-2"), since="0.1.0", about=Model.has_unusual_versions, needs="library")
def unknown_ir_version(model: Model) -> Iterator[Finding]:
    """The model states an IR version that was never published.

    ### Why it matters

    The IR version says by which rules the file is to be read. Consumers refuse a version that they do not know.

    ### What is allowed

    The versions that ONNX has published: 1 to 14. Every edition of the specification is held against this list,
    because a model that is newer than the edition can still be judged. With a version that is not in it, onnx-lint
    judges the rest of the model as one of the newest version. A model that states none is for `missing-ir-version`.

    ### Example

    ```
    ir_version: 99
    ```

    ### How to fix

    State a published version; `onnx.helper.make_model(graph, ir_version=10)` sets it. Where the number is newer than
    this onnx-lint knows, update onnx-lint.

    ```
    ir_version: 10
    ```
    """
    version = model.ir_version
    allowed = f"1 to {NEWEST_IR_VERSION}"
    if version > NEWEST_IR_VERSION:
        message = f"IR version {version} is not published; the newest that onnx-lint knows is {NEWEST_IR_VERSION}"
        yield Finding(ROOT.at("ir_version"), message, clause="VER-3", allowed=allowed)
    elif version < 0:
        message = f"IR version {version} is not positive"
        yield Finding(ROOT.at("ir_version"), message, clause="MOD-2", allowed=allowed)
