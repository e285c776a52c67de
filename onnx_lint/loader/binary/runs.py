# SPDX-License-Identifier: Apache-2.0
"""Splits a message into records. Consecutive records of a list that is not packed are joined to a run."""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.input.source import Source
from onnx_lint.schema import wire
from onnx_lint.spec.element_types import TYPED_FIELDS

RUN = -1
"""The wire type that marks a run of records."""

LONG_RUN = 32
"""The number of consecutive records after which the end of the run is searched in bulk."""

_RUN_FIELDS = {
    "TensorProto": frozenset(TYPED_FIELDS),
    "AttributeProto": frozenset({"floats", "ints", "strings"}),
}
"""The lists that may have millions of elements, by message. Those of attributes hold, for example, tree ensembles."""


def records_of(
    source: Source, message: str, start: int, end: int, *, inside_groups: bool = True
) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the records of a message as `wire.records` does, but the records of a run as one, of wire type `RUN`.

    The value of a run begins at its first tag, because it includes all tags.
    """
    if message in _RUN_FIELDS:
        return _with_runs(source, message, start, end, inside_groups)
    return wire.records(source, start, end, inside_groups=inside_groups)


def _with_runs(
    source: Source, message: str, start: int, end: int, inside_groups: bool
) -> Iterator[tuple[int, int, int, int, int]]:
    from onnx_lint.loader.binary.run_ends import run_end

    run_field: int | None = None
    run_start = run_stop = records = 0
    fields, wanted = wire.fields(message), _RUN_FIELDS[message]
    position = start
    while True:
        for record in wire.records(source, position, end, inside_groups=inside_groups):
            number, wire_type, tag, _, position = record
            field = fields.get(number)
            # A packed list is already one record.
            is_element = field is not None and field.name in wanted and wire_type == field.wire_type
            element_field = field if is_element else None
            if run_field is not None and (element_field is None or run_field != number):
                yield run_field, RUN, run_start, run_start, run_stop
                run_field, records = None, 0
            if element_field is None:
                yield record
                continue
            if run_field is None:
                run_field, run_start = number, tag
            records += 1
            run_stop = run_end(source, position, end, element_field) if records % LONG_RUN == 0 else position
            if run_stop != position:
                position = wire.advanced(position, run_stop)
                break  # continue after the values that `run_end` skipped
        else:
            break
    if run_field is not None:
        yield run_field, RUN, run_start, run_start, run_stop
