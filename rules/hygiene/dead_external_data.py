# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.ir.places.edits import DataCopy
from onnx_lint.model import Assign, Delete, Edit, ExternalData, FileState, Fix, Model, spelled_plainly
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

_PADDING: Final = 65_536
"""Writers move a large tensor to a multiple of this number, so that a system can map it into memory."""
_PAGE: Final = 4_096
_NAMED: Final = 3


@rule(clause="HYG-21", since="0.2.0", about=Model.external_data, needs="tensor", kinds={"least_share": "share"})
def dead_external_data(model: Model, *, least_share: float = 0.05) -> Iterator[Finding]:
    """Bytes of a data file belong to no tensor.

    ### How to fix

    Write the data file anew.

    - `onnx-lint fix --unsafe-fixes --select dead-external-data` (unsafe: it writes another file) writes the used bytes
      to a new file, to which the model then refers. Delete the old file if no other model uses it. With `--output DIR`
      the model and its data files are written to DIR, and the data file keeps its name.
    - `onnx.save` appends to a data file that exists. Delete the file before you save the model.

    ### Example

    ```
    # beside the model: weights.bin, 8192 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 1024 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "offset" value: "4096" }
    }
    ```

    Corrected:

    ```
    # beside the model: weights.bin, 4096 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 1024 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "offset" value: "0" }
    }
    ```

    ### Why it matters

    The bytes are stored, published and downloaded in vain. Often they are an older copy of all weights.

    ### Details

    - A file is reported if at least 5 % of it belong to no tensor (option `least_share`).
    - Up to 4,096 bytes between two tensors are padding and not reported; up to 65,536 if the second begins at a
      multiple of 4,096.
    - A file is not reported if another `.onnx` file is in the model's folder, which may use it, or if its name ends in
      `.safetensors`.
    - A tensor of unknown size reaches to the end of the file.
    - Reported by other rules: ranges that overlap in part (`overlapping-external-data`), a file to which no tensor
      refers (`unreferenced-external-file`).
    """
    users: dict[str, list[ExternalData]] = {}
    for data in model.external_data:
        if data.is_external and data.location:
            users.setdefault(spelled_plainly(data.location), []).append(data)
    for location, tensors in users.items():
        file = tensors[0].file
        if file is None or file.state is not FileState.REGULAR or not file.size or location.endswith(".safetensors"):
            continue
        ranges = list(_ranges(tensors, file.size))
        dead = list(_unused(ranges, file.size))
        count = sum(end - start for start, end in dead)
        if count and count >= least_share * file.size and not _may_have_other_users(model):
            yield Finding(
                tensors[0].entry_place("location"),
                f"{count:,} of the {file.size:,} bytes of {quote(location)} ({100 * count / file.size:.0f} %) belong to"
                f" no tensor: bytes {_in_words(dead)}",
                allowed="data files without unused bytes",
                subject=location,
                fix=_without(location, tensors, ranges) if file.link is None else "a link leads to the file",
            )


def _may_have_other_users(model: Model) -> bool:
    """Return whether another model may use the data files."""
    folder = model.data_folder
    return folder is None or not folder.is_local or folder.has_other_models(model.file_name)


def _in_words(ranges: Sequence[tuple[int, int]]) -> str:
    shown = ", ".join(f"{start:,} to {end:,}" for start, end in ranges[:_NAMED])
    return f"{shown} and {len(ranges) - _NAMED:,} more ranges" if len(ranges) > _NAMED else shown


def _ranges(tensors: list[ExternalData], size: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a file that tensors refer to, in order; overlapping and adjacent ones as one."""
    spans = []
    for data in tensors:
        length, start = data.needed_bytes if data.length is None else data.length, min(data.offset or 0, size)
        spans.append((start, size if length is None else min(start + length, size)))
    first, last = 0, 0
    for start, end in sorted(spans):
        if start > last:
            yield from [(first, last)] if last > first else []
            first = start
        last = max(last, end)
    if last > first:
        yield first, last


def _unused(ranges: list[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a file that no tensor refers to, and that are no padding."""
    position = 0
    for start, end in (*ranges, (size, size)):
        padding = _PADDING if start % _PAGE == 0 and start < size else _PAGE
        if start - position > (padding if position else 0):
            yield position, start
        position = end


def _without(location: str, tensors: list[ExternalData], ranges: list[tuple[int, int]]) -> Fix:
    """Return the fix that moves the ranges together; each stays aligned as it is."""
    moved: list[tuple[int, int, int]] = []
    position = 0
    for start, end in ranges:
        step = next(step for step in (_PADDING, _PAGE, 64, 8, 1) if start % step == 0)
        position += -position % step
        moved.append((start, end, position))
        position += end - start
    starts = [start for start, _, _ in moved]
    stem, dot, ending = location.rpartition(".")
    target = f"{stem}.compact.{ending}" if dot and "/" not in ending else f"{location}.compact"

    def edits() -> Iterator[Edit]:
        for data in tensors:
            yield Assign(data.entry_place("location").at("value"), target)
            index = bisect_right(starts, data.offset or 0) - 1
            if data.offset and index >= 0:
                new = data.offset - moved[index][0] + moved[index][2]
                if new != data.offset:
                    yield Assign(data.entry_place("offset").at("value"), str(new))
            if "checksum" in data.keys:
                yield Delete(data.entry_place("checksum"))

    return Fix(
        f"write the other bytes to {quote(target)}, or with --output to a file of the same name",
        (),
        is_safe=False,
        later=edits,
        copies=(DataCopy(location, target, tuple(moved), position),),
    )
