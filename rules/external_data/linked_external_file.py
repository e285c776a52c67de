# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ExternalData, FileState, Model
from onnx_lint.rule import Finding, rule


@rule(
    clause="EXT-5",
    since="0.1.0",
    about=Model.external_data,
    needs="tensor",
    security=(
        "CVE-2026-27489",
        "CVE-2026-34447",
        "CVE-2026-34446",
        "CWE-59",
    ),
)
def linked_external_file(model: Model) -> Iterator[Finding]:
    """The file of external data is reached through a link.

    ### How to fix

    Replace the link by the file itself; `cp -L` copies what a link leads to. For a cache that is made of links and
    is to be trusted, name its folder with `--external-data-root`.

    ### Example

    ```
    # beside the model: store.bin, 16 zero bytes
    # beside the model: weights.bin -> store.bin
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

    A link in an archive of a model points wherever its maker liked, so a consumer that follows it reads a private
    file of whoever unpacked it. The loader of the onnx package refuses symbolic links and files with several hard
    links; download caches that link to a common store are refused with them, although ONNX Runtime reads them.

    ### Details

    A path whose components below the model's folder are no symbolic links, to a file with one hard link. What a
    symbolic link points to is not read, and is reported as not verified, unless it stays in the folder of the model and
    `--follow-links` is given, or leads into a folder that `--external-data-root` names. Such a link is not a finding,
    except with `--target onnx.checker`. What it leads to is judged like any file, and if that is nothing, the file is
    missing (`missing-external-file`).
    """
    found: dict[str, list[ExternalData]] = {}
    for data in model.external_data:
        file = data.file
        if file is None:
            continue
        is_followed = file.link is not None and "onnx.checker" not in model.target.programs
        if file.state in (FileState.LINKED, FileState.HARD_LINKED) or (file.link is not None and not is_followed):
            found.setdefault(data.location, []).append(data)
    for location, users in found.items():
        file = users[0].file
        assert file is not None
        more = f" and {len(users) - 1:,} more" if len(users) > 1 else ""
        yield Finding(
            users[0].entry_place("location"),
            f"the external data of {users[0].describe()}{more} is reached through a link: {file.link or file.detail}",
            allowed="a file without links to it, which the onnx package reads",
            subject=location,
            collective=True,
        )
