# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import partial

from onnx_lint.model import ExternalData, FileState, Model
from onnx_lint.rule import Faults, Finding, location_beside_model, rule
from onnx_lint.wording import nearest, quote


@rule(clause="EXT-4", since="0.1.0", about=Model.external_data, needs="tensor")
def missing_external_file(model: Model) -> Iterator[Finding]:
    """The file of external data is missing, or is not a regular file.

    ### How to fix

    - Copy the data file together with the model, under the name that the model gives. In a checkout of Git LFS, `git
      lfs pull` fetches it.
    - If the help line names a file, rename that file or correct the location. It is a file of nearly the same name
      beside the model, or the only data file there that no other tensor uses.
    - If a file of the same name with enough bytes lies beside the model, or a single data file of exactly the right
      size that no other tensor uses, `onnx-lint fix --unsafe-fixes` (unsafe: it may be another file) corrects the
      location: `weights/a.bin` becomes `a.bin`.
    - PyTorch: `torch.onnx.export(..., external_data=False)` with `dynamo=True` stores the weights in the model.
    - The `onnx` package: `onnx.save(onnx.load("model.onnx"), "whole.onnx")` does the same where the data still
      exists.

    ### Example

    ```
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
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

    The values are lost. Usually somebody moved or committed the model without its data file.

    ### Details

    - The location must lead to a regular file, and is relative to the folder of the model file.
    - There is one finding for each file.
    - A Git LFS pointer in place of the file is reported as such, with the command that fetches the file.
    - A model from standard input or from memory has no folder, and its files are not looked up.
    - With `--no-external-data` no file is looked up.
    """
    found: dict[str, list[ExternalData]] = {}
    used: set[str] = set()
    for data in model.external_data:
        if data.file is not None and data.file.state in (FileState.MISSING, FileState.OTHER):
            found.setdefault(data.location, []).append(data)
        else:
            used.add(data.location.removeprefix("./"))
    yield from map(partial(_finding, model, used), found.values())


def _finding(model: Model, used: Set[str], users: Sequence[ExternalData]) -> Finding:
    location, file = users[0].location, users[0].file
    assert file is not None
    fix = location_beside_model(users, used) if file.state is FileState.MISSING else None
    # The detail blames a component of the location, which may be a folder.
    where = "" if file.detail.startswith(quote(location)) else f" from {quote(location)}"
    more = f" and {len(users) - 1:,} more" if len(users) > 1 else ""
    return Finding(
        users[0].entry_place("location"),
        f"the external data of {users[0].describe()}{more} cannot be read{where}: {file.detail}",
        allowed=f"a regular file in the folder of {model.describe()}",
        subject=location,
        collective=True,
        hint=_hint(users[0], used) if isinstance(fix, str) else file.hint,
        fix=fix,
        parts=Faults(users, partial(_finding, model, used), lambda data: (data.entry_place("location"), location)),
    )


def _hint(data: ExternalData, used: Set[str]) -> str | None:
    """Return the name of the file that is probably meant; None if there is none, or if there are several."""
    unused = [name for name in data.candidates() if name not in used]
    near = nearest(data.location.rpartition("/")[2], unused)
    if near is not None:
        return f"{quote(near)} lies beside the model"
    return f"{quote(unused[0])} is the only data file beside the model" if len(unused) == 1 else None
