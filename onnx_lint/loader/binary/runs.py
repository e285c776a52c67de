# SPDX-License-Identifier: Apache-2.0
"""Splits a message into records; a long unpacked list counts as one."""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.input.source import Source
from onnx_lint.schema import wire
from onnx_lint.spec.element_types import TYPED_FIELDS

RUN = -1
"""The wire type of a run of records."""

LONG_RUN = 32
"""After that many consecutive records the end of the run is searched in bulk."""

_RUN_FIELDS = {
    "TensorProto": frozenset(TYPED_FIELDS),
    "AttributeProto": frozenset({"floats", "ints", "strings"}),
}
"""The lists that may have millions of elements, by message: a tree ensemble is written in the attributes of a node."""


def records_of(
    source: Source, message: str, start: int, end: int, *, inside_groups: bool = True
) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the records of a message as `wire.records` does, with consecutive unpacked values of a long list as one."""
    if message in _RUN_FIELDS:
        return _with_runs(source, message, start, end, inside_groups)
    return wire.records(source, start, end, inside_groups=inside_groups)


def _with_runs(
    source: Source, message: str, start: int, end: int, inside_groups: bool
) -> Iterator[tuple[int, int, int, int, int]]:
    from onnx_lint.loader.binary.run_ends import run_end

    run: tuple[int, int, int] | None = None  # the number of the field, and the first byte and the one after the last
    records = 0
    fields, wanted = wire.fields(message), _RUN_FIELDS[message]
    position = start
    while True:
        for record in wire.records(source, position, end, inside_groups=inside_groups):
            number, wire_type, tag, _, position = record
            field = fields.get(number)
            # A packed list is already one record.
            single = field if field is not None and field.name in wanted and wire_type == field.wire_type else None
            if run is not None and (single is None or run[0] != number):
                yield run[0], RUN, run[1], run[1], run[2]
                run, records = None, 0
            if single is None:
                yield record
                continue
            records += 1
            following = run_end(source, position, end, single) if records % LONG_RUN == 0 else position
            run = (number, tag if run is None else run[1], following)
            if following != position:
                position = wire.advanced(position, following)
                break  # continue after the values that `run_end` skipped
        else:
            break
    if run is not None:
        yield run[0], RUN, run[1], run[1], run[2]
