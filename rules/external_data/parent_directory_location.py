# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.tensors.external import goes_up
from onnx_lint.model import Model
from onnx_lint.rule import Finding, location_beside_model, rule
from onnx_lint.wording import quote


@rule(
    clause="EXT-3",
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
def parent_directory_location(model: Model) -> Iterator[Finding]:
    """The location of external data has a component `..`.

    ### How to fix

    - Move the file into the folder of the model or below it, and write its path from there.
    - If a file of the same name with enough bytes lies beside the model, `onnx-lint fix --unsafe-fixes` (unsafe: it
      may be another file) corrects the location.

    ### Example

    ```
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "../weights.bin" }
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

    A path with `..` can leave the model's folder. A consumer that follows it reads or overwrites any file of the
    user. Paths that only seem to stay inside (`sub/../../x`) have deceived the checks of several loaders.

    ### Details

    - No component of the path may be `..`, even if the path does not leave the folder.
    - ExternalData.md forbids `..`, and in the same sentence tells readers to remove it; onnx-lint reports it, because
      readers that obey open another file than those that do not.
    - A backslash separates components as `/` does.
    - Two dots in a longer name (`a..b.bin`) are allowed.
    """
    for data in model.external_data:
        if data.is_external and goes_up(data.location):
            yield Finding(
                data.entry_place("location"),
                f"the location {quote(data.location)} of {data.describe()} has a component '..'",
                allowed=f"a path that stays below {model.describe()}'s folder",
                subject=data.proto.name,
                fix=location_beside_model([data]),
            )
