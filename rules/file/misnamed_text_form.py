# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model, has_faults
from onnx_lint.rule import Finding, findings_of_faults, rule


@rule(clause="FIL-1a", since="0.1.0", about=has_faults, needs="file")
def misnamed_text_form(model: Model) -> Iterator[Finding]:
    """A file in text or JSON form has the name of one in binary form.

    ### How to fix

    Rename the file, or write it in binary form: `onnx.save(onnx.load("model.onnx", format="textproto"),
    "model.onnx")`. For JSON, write `format="json"`.

    ### Example

    ```
    # name: model.onnx
    ir_version: 10
    opset_import { version: 21 }
    graph { name: "g" }
    ```

    Corrected:

    ```
    # name: model.textproto
    ir_version: 10
    opset_import { version: 21 }
    graph { name: "g" }
    ```

    ### Why it matters

    onnx-lint looks at the content, consumers at the name. `onnx.load`, `onnx.checker` and ONNX Runtime read
    `model.onnx` as binary and fail to parse it.

    ### Details

    - A file whose name ends in `.onnx` or `.pb` should be in binary form.
    - The names for the text format are `.textproto`, `.txtpb`, `.pbtxt` and `.prototxt`; those for JSON are `.json`
      and `.onnxjson`.
    - The specification does not define names. The finding is therefore a warning.
    """
    yield from findings_of_faults(
        model, FaultKind.FILE_NAME, "the binary form, or a name that ends in .textproto or .json"
    )
