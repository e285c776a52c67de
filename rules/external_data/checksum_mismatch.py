# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Iterator

from onnx_lint.model import Assign, ExternalData, FileState, Fix, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

_SHA1 = re.compile("[0-9a-fA-F]{40}")


@rule(clause="EXT-11", since="0.1.0", about=Model.external_data, needs="tensor", flag=("--verify-checksums", "verify"))
def checksum_mismatch(model: Model, *, verify: bool = False) -> Iterator[Finding]:
    """The checksum of external data is not that of the file.

    ### How to fix

    - If the file is the right one, write the SHA-1 digest of the whole file (`sha1sum weights.bin`), or delete the
      optional entry.
    - `onnx-lint fix --unsafe-fixes --verify-checksums` writes the digest (unsafe: the file may be the wrong one).

    ### Example

    ```
    # beside the model: weights.bin, 16 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "checksum" value: "abc" }
    }
    ```

    Corrected:

    ```
    # beside the model: weights.bin, 16 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "checksum" value: "e129f27c5103bc5cc44bcdf0a15e160d445066ff" }
    }
    ```

    ### Why it matters

    The file is not the one that the model was saved with.

    ### Details

    - A checksum must be the SHA-1 digest of the whole file, written as 40 hexadecimal digits.
    - The files of a model are compared up to 16 MiB in all. With `verify` (`--verify-checksums`), larger ones are as
      well; onnx-lint must read a whole file for that.
    - The report lists files that were not compared as *not verified*: larger ones, those that cannot be read or exceed
      the limit `external_bytes`, and those in a store, because onnx-lint would have to fetch all of them.
    """
    for data in model.external_data:
        checksum = data.get("checksum") if data.is_external else None
        if checksum is None:
            continue
        is_digest = _SHA1.fullmatch(checksum) is not None
        is_readable = data.file is not None and data.file.state is FileState.REGULAR
        digest = data.sha1(is_asked=verify) if is_readable and (is_digest or verify) else None
        problem = None
        if not is_digest:
            problem = "is not a SHA-1 digest"
        elif digest is not None and digest != checksum.lower():
            problem = f"is not that of the file, {digest}"
        if problem is not None:
            yield Finding(
                data.entry_place("checksum"),
                f"the checksum {quote(checksum)} of {data.describe()} {problem}",
                allowed="the SHA-1 digest of the file, 40 hexadecimal digits",
                subject=data.proto.name,
                fix=_fix(data, digest) if digest is not None else "the file was not read",
            )


def _fix(data: ExternalData, digest: str) -> Fix:
    edit = Assign(data.entry_place("checksum").at("value"), digest)
    return Fix(f"state the checksum of {quote(data.location)} as it is now", (edit,), is_safe=False)
