# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import FaultKind, Model, has_faults
from onnx_lint.rule import Finding, findings_of_faults, rule


@rule(clause="FIL-1", since="0.1.0", about=has_faults, needs="file")
def not_a_model(model: Model) -> Iterator[Finding]:
    r"""The file is not a serialized ONNX model.

    ### How to fix

    - A Git LFS pointer: run `git lfs pull`. In CI, let the checkout fetch Git LFS (`actions/checkout`: `lfs: true`).
    - An empty file: export, copy or download it again.
    - A page of HTML: download the model again.
    - An archive: unpack it. A checkpoint of PyTorch is an archive as well: export the model with `torch.onnx.export`.
    - A file of another framework: export the model with the framework's converter, such as tf2onnx or skl2onnx.
    - A document, an image, a database or another kind of file: check the path.
    - A damaged tensor in a `.pb` file: `--proto TensorProto` reports what is wrong with it.

    ### Example

    ```
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 12345\n"
    ```

    Corrected:

    ```
    08 0a               # ir_version: 10
    42 02 10 15         # opset_import { version: 21 }
    3a 07 12 05 "graph" # graph { name: "graph" }
    ```

    ### Why it matters

    No consumer can load the file. Often the model was never there, and an error page or a pointer was saved under its
    name.

    ### Details

    - The file must be a ModelProto, or another message that ONNX stores in files.
    - It must be in the binary form of Protocol Buffers, in protobuf text format, or in protobuf JSON.
    """
    yield from findings_of_faults(
        model,
        FaultKind.NOT_A_MODEL,
        "the serialized form of a ModelProto, or of another message that ONNX puts into files",
        "if this should be a model, export, copy or download it again",
    )
