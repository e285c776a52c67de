# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model, has_faults
from onnx_lint.rule import Finding, rule


@rule(clause="FIL-1a", since="0.1.0", about=has_faults, needs="file")
def misnamed_text_form(model: Model) -> Iterator[Finding]:
    """A file in text or JSON form has the name of one in binary form.

    ### How to fix

    Rename the file, or write it in binary form; `onnx.save(onnx.load("model.onnx", format="textproto"), "model.onnx")`
    does, and takes `format="json"` for JSON.

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

    onnx-lint looks at the content; consumers look at the name, if at anything. `onnx.load`, `onnx.checker` and ONNX
    Runtime take `model.onnx` for binary and fail to parse it.

    ### Details

    Under names that end in `.onnx` or `.pb` the binary form. `.textproto`, `.txtpb`, `.pbtxt` and `.prototxt` are for
    the text format, `.json` and `.onnxjson` for JSON. The specification says nothing of names, so this is a warning.
    """
    for fault in model.faults_of(FaultKind.FILE_NAME):
        yield Finding(
            fault.place,
            fault.message,
            allowed="the binary form, or a name that ends in .textproto or .json",
            offset=fault.offset,
        )
