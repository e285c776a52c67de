# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.tensors.external import IN_MEMORY_MARK, RUNTIME_ADDRESS, location_problem
from onnx_lint.model import Model
from onnx_lint.rule import Finding, location_beside_model, rule
from onnx_lint.wording import quote


@rule(
    clause=("EXT-2", "EXT-2a"),
    since="0.1.0",
    about=Model.external_data,
    needs="tensor",
    security=(
        "CVE-2022-25882",
        "CVE-2024-27318",
        "CVE-2025-51480",
        "CWE-22",
    ),
)
def non_relative_location(model: Model) -> Iterator[Finding]:
    """The location of external data is not a relative path.

    ### How to fix

    - Store the file in the folder of the model or below it, and write its path from there, with `/` on every system.
    - The `onnx` package: `onnx.save(..., save_as_external_data=True, location="weights.bin")`.
    - `onnx-lint fix --unsafe-fixes` (unsafe: it may be another file) corrects the location if it finds a file with
      enough bytes: at the path with `/` for each backslash, or under the same name beside the model.

    ### Example

    ```
    # beside the model: weights.bin, 16 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "/data/weights.bin" }
    }
    ```

    Corrected:

    ```
    # beside the model: weights.bin, 16 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
    }
    ```

    ### Why it matters

    A consumer that opens an absolute path can read any file of the user, and overwrite it when it saves the model. A
    path with backslashes or a drive letter has another meaning on Windows than elsewhere.

    ### Details

    - The location must be a relative POSIX path of a file, with `/` between the components.
    - It must not have a NUL byte, a backslash or a drive letter.
    - A leading `#` is a warning: the onnx package marks tensors in memory with it. onnx.checker and ONNX Runtime open a
      file of that name, and `missing-external-file` reports if there is none.
    - `*/_ORT_MEM_ADDR_/*` is an error: it marks a tensor in memory, which a file does not have.
    """
    for data in model.external_data:
        if not data.is_external or not data.location:
            continue
        problem = location_problem(data.location)
        clause = "EXT-2"
        if data.location.startswith(RUNTIME_ADDRESS):
            problem = "is an address in the memory of ONNX Runtime, so the model has no data"
        elif data.location.startswith(IN_MEMORY_MARK):
            problem, clause = "begins like the mark of a tensor in memory", "EXT-2a"
        if problem is not None:
            path = f"a POSIX path relative to {model.describe()}'s folder"
            with_slashes = data.with_slashes()
            yield Finding(
                data.entry_place("location"),
                f"the location {quote(data.location)} of {data.describe()} {problem}",
                clause=clause,
                allowed=path if with_slashes is None else f"{quote(with_slashes)}, {path}",
                subject=data.proto.name,
                fix=location_beside_model([data]) if clause == "EXT-2" else None,
            )
