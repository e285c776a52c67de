# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, FileState, Model, spelled_plainly
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

_ENDINGS = (".data", "_data")
"""The endings that exporters append to the name of a model to name its data file."""


@rule(clause="HYG-10", since="0.2.0")
def unreferenced_external_file(model: Model) -> Iterator[Finding]:
    """A data file has the name of the model, but no tensor refers to it.

    ### How to fix

    Delete the file.

    ### Example

    ```
    # beside the model: model.onnx.data, 16 zero bytes
    # name: model.onnx
    # proto: ModelProto
    ir_version: 10
    producer_name: "example"
    opset_import { version: 21 }
    graph { name: "graph" }
    ```

    Corrected:

    ```
    # name: model.onnx
    # proto: ModelProto
    ir_version: 10
    producer_name: "example"
    opset_import { version: 21 }
    graph { name: "graph" }
    ```

    ### Why it matters

    The file is left from an earlier export. It is copied and published with the model, and wastes space.

    ### Details

    - For a model `model.onnx`, the names `model.onnx.data` and `model.onnx_data` are checked, which exporters choose.
    - Files of other names are not reported.
    """
    folder = model.data_folder
    if folder is None or not model.file_name:
        return
    referenced = {spelled_plainly(data.location) for data in model.external_data}
    for ending in _ENDINGS:
        name = model.file_name + ending
        if name not in referenced and folder.file(name).state is FileState.REGULAR:
            yield Finding(
                ROOT,
                f"file {quote(name)} has the name of the model, but no tensor refers to the file",
                allowed="data files that a tensor refers to",
                subject=name,
            )
