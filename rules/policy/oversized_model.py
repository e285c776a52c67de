# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule


@rule(clause="POL-8", since="0.2.0")
def oversized_model(model: Model, *, max_size: int = 0) -> Iterator[Finding]:
    """The model is larger than the policy allows.

    ### How to fix

    Quantize or prune the model, or change the configuration.

    ### Example

    ```
    # option: oversized-model.max_size = 20
    node { op_type: "Neg" input: "x" output: "y" }
    ```

    Corrected:

    ```
    # option: oversized-model.max_size = 1000
    node { op_type: "Neg" input: "x" output: "y" }
    ```

    ### Why it matters

    The configuration says how large models may be, for example because they are downloaded to phones.

    ### Details

    A file of at most as many bytes as the option `max_size`, counted together with its files of external data; 0 stops
    the check. The key `policy.max-size` of the configuration sets it.
    """
    if not max_size:
        return
    files = {file.path: file.size or 0 for data in model.external_data if (file := data.file) is not None}
    size = model.source.size + sum(files.values())
    if size > max_size:
        with_files = f" with {len(files):,} files of external data" if len(files) > 1 else ""
        with_files = with_files or (" with its file of external data" if files else "")
        yield Finding(
            ROOT,
            f"the model has {size:,} bytes{with_files}, more than the policy allows",
            allowed=f"at most {max_size:,} bytes",
            anchor="max-size",
        )
