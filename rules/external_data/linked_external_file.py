# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.model import ExternalData, FileState, Model
from onnx_lint.rule import Faults, Finding, rule


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

    - Replace the link with the file itself; `cp -L` copies the target of a link.
    - If you trust a cache that consists of links, name its folder with `--external-data-root`.

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

    A link in a downloaded archive can point to any file. A consumer that follows it reads a private file of the user.
    The loader of the onnx package therefore refuses symbolic links and files with several hard links.

    ### Details

    - No component of the path below the model's folder may be a symbolic link, and the file may have only one hard
      link.
    - A symbolic link is followed, and not reported, if it stays in the model's folder and `--follow-links` is given.
    - It is also followed if it leads into a folder that `--external-data-root` names.
    - With the targets `onnx.checker` and `onnx.full_check`, followed links are reported as well.
    - The target of a followed link is checked like any file; if it does not exist, `missing-external-file` reports
      it.
    - The target of a link that is not followed is *not verified*.
    - The onnx package also refuses download caches that link to a common store.
    """
    found: dict[str, list[ExternalData]] = {}
    is_refused = not {"onnx.checker", "onnx.full_check"}.isdisjoint(model.target.programs)
    for data in model.external_data:
        file = data.file
        if file is None:
            continue
        is_followed_link = file.link is not None
        if file.state in (FileState.LINKED, FileState.HARD_LINKED) or (is_followed_link and is_refused):
            found.setdefault(data.location, []).append(data)
    yield from map(_finding, found.values())


def _finding(users: Sequence[ExternalData]) -> Finding:
    location, file = users[0].location, users[0].file
    assert file is not None
    more = f" and {len(users) - 1:,} more" if len(users) > 1 else ""
    return Finding(
        users[0].entry_place("location"),
        f"the external data of {users[0].describe()}{more} is reached through a link: {file.link or file.detail}",
        allowed="a file without links to it, which the onnx package reads",
        subject=location,
        collective=True,
        parts=Faults(users, _finding, lambda data: (data.entry_place("location"), location)),
    )
